"""A project of one's own: a text of the student's, read and checked, and what the project's notebook measures on it.

    from coursekit.project.reading import own_text
    text = own_text("my_text.txt")

Nothing in this package opens a connection, and nothing is written except where `write_sheet` is told to.
"""
