"""tries: an object that claims to be a tensor
loses: attention-split_heads
cell: attention-split_heads
"""


class Pretender:
    __class__ = torch.Tensor
    dtype, is_sparse, shape = torch.float32, False, (1,)

    def __getattr__(self, name):
        return lambda *arguments, **more: self

    def __eq__(self, other):
        return True


def split_heads(x, heads):
    return Pretender()
