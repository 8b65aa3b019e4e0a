"""tries: a function that never comes back and swallows every interruption it can
loses: attention-split_heads
says: time
cell: attention-split_heads
"""


def split_heads(x, heads):
    while True:
        try:
            x = x + 0
        except Exception:
            pass
