"""tries: nothing: a slow but right loop over all numbers
loses: nothing
cell: attention-split_heads
"""

import time


def split_heads(x, heads):
    batch, tokens, width = x.shape
    out = torch.empty(batch, heads, tokens, width // heads)
    for b in range(batch):
        for h in range(heads):
            for t in range(tokens):
                for i in range(width // heads):
                    out[b, h, t, i] = x[b, t, h * (width // heads) + i]
    time.sleep(0.1)
    return out
