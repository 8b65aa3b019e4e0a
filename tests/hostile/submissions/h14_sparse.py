"""tries: nothing: the answer is a sparse tensor
loses: nothing
cell: attention-split_heads
"""


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).to_sparse()
