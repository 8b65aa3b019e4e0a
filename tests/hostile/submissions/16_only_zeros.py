"""tries: zeros of the right shape
loses: attention-mended_heads
cell: attention-mended_heads
"""


def mended_heads(queries, keys, values, heads):
    return torch.zeros_like(values)
