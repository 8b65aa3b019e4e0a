"""tries: an exception that cannot be printed
loses: attention-split_heads
says: its message cannot be shown
cell: attention-split_heads
"""


class Silent(Exception):
    def __str__(self):
        raise ValueError("no")

    __repr__ = __str__


def split_heads(x, heads):
    raise Silent
