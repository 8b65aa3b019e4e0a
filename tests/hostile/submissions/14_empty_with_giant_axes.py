"""tries: an array of no numbers with an axis of 2**40
loses: attention-split_heads
cell: attention-split_heads
"""


def split_heads(x, heads):
    return torch.empty(0, 2**40)
