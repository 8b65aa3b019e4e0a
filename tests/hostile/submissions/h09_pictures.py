"""tries: nothing: draws while it computes
loses: nothing
cell: attention-split_heads
"""

import matplotlib.pyplot as plt


def split_heads(x, heads):
    plt.figure(figsize=(1, 1))
    plt.imshow(x[0])
    plt.show()
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
