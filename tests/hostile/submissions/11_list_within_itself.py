"""tries: a list that contains itself
loses: attention-split_heads
says: cannot be read
cell: attention-split_heads
"""


def split_heads(x, heads):
    endless = []
    endless.append(endless)
    return endless
