"""Written answers, read by a person: one question at a time over the whole class, like answers side by side.

    questions         the questions of an assignment with their marking guides, as points that can be ticked
    text_similarity   how alike two texts are: by their words, and by what they say where the course names an encoder
    grouping          groups of answers to begin with; a person splits and joins them
    desk              what people decide: points, comments, groups, undo; two at a time, nothing overwritten in silence
    transaction       a question while nobody else changes it, and how an action is undone
    agreement         how far two readings of the same answers agree
    room              all desks of an assignment, and who is grading at which
    server            the page, as handlers in a jupyter_server on this machine

Nothing here gives or proposes points. They go into nbgrader's gradebook as if typed in formgrader.
"""
