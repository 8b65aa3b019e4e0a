"""tries: nothing: one tensor per head, computed by threads, in a list
loses: nothing
cell: attention-split_heads
"""

from concurrent.futures import ThreadPoolExecutor


def split_heads(x, heads):
    def sentence(one):
        return torch.stack(one.chunk(heads, dim=-1))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(sentence, x))
