"""tries: record an easy exercise under the name of a hard one
loses: attention-split_heads
cell: attention-split_heads
"""

from autograder.checks import recording


def split_heads(x, heads):
    recording.active().expecting = "attention.mended_heads"
    recording.active().variant = "other"
    return x
