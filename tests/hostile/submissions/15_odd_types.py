"""tries: complex numbers, eight-bit floats, text, objects, a quantized tensor
loses: attention-split_heads
cell: attention-split_heads
"""

import numpy as np

calls = iter(range(10**6))


def split_heads(x, heads):
    odd = [
        x.to(torch.complex64),
        x.to(torch.float8_e4m3fn),
        np.array(["a"]),
        np.array([object()]),
        torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
    ]
    return odd[next(calls) % len(odd)]
