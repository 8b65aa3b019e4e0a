"""tries: nothing: computes in numpy, and returns an array with its axes swapped in memory
loses: nothing
cell: attention-split_heads
"""

import numpy as np


def split_heads(x, heads):
    x = x.numpy()
    return np.asfortranarray(x.reshape(*x.shape[:2], heads, -1)).swapaxes(1, 2)
