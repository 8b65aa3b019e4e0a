"""tries: an answer of thirty thousand arrays
loses: attention-split_heads
says: more output than allowed
cell: attention-split_heads
"""


def split_heads(x, heads):
    return dict.fromkeys(range(30_000), 0.0)
