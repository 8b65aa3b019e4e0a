"""tries: write the answer into the input, so that answer and input stay equal
loses: attention-split_heads
says: changed its input
cell: attention-split_heads
"""


def split_heads(x, heads):
    answer = x.unflatten(-1, (heads, -1)).transpose(1, 2).clone()
    x.zero_()
    return answer
