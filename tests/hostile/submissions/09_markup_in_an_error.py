"""tries: break the instructor's terminal with markup, colours and a bell in an error's message
loses: attention-split_heads
says: [/b][red]
cell: attention-split_heads
"""


def split_heads(x, heads):
    raise ValueError("[/b][red] \x1b[2J\x1b]0;owned\x07\x9b31m \u202e \ud800 <script>alert(1)</script>")
