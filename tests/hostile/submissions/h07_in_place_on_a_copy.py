"""tries: nothing: writes into a copy of its own
loses: nothing
cell: attention-split_heads
"""


def split_heads(x, heads):
    x = x.clone()
    x += 1
    x -= 1
    x.mul_(2).div_(2)
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
