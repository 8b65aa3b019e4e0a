"""tries: a regular expression that takes for ever
loses: attention-split_heads
says: time
cell: attention-split_heads
"""

import re


def split_heads(x, heads):
    return re.match("(a+)+$", "a" * 60 + "b")
