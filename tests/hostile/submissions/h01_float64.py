"""tries: nothing: computes in double precision
loses: nothing
cell: attention-split_heads
"""


def split_heads(x, heads):
    return x.double().unflatten(-1, (heads, -1)).transpose(1, 2)
