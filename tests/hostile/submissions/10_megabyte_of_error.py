"""tries: a message of a million characters, in lines
loses: attention-split_heads
says: ValueError
cell: attention-split_heads
"""


def split_heads(x, heads):
    raise ValueError("word\n" * 200_000)
