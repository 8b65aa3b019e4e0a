"""tries: nothing: computes in half precision
loses: nothing
cell: attention-split_heads
"""


def split_heads(x, heads):
    return x.half().unflatten(-1, (heads, -1)).transpose(1, 2)
