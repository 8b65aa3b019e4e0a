"""tries: NaN in every place, hoping that no difference is found
loses: attention-split_heads
says: NaN
cell: attention-split_heads
"""


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2) * float("nan")
