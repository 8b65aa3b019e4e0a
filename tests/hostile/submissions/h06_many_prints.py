"""tries: nothing: prints far more than is kept
loses: nothing
cell: attention-split_heads
"""


def split_heads(x, heads):
    for row in range(3_000):
        print("debugging, row", row, x.shape)
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
