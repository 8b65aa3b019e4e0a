"""tries: nothing: the result still carries its gradient
loses: nothing
cell: attention-split_heads
"""

weight = torch.nn.Parameter(torch.ones(()))


def split_heads(x, heads):
    return (weight * x).unflatten(-1, (heads, -1)).transpose(1, 2)
