"""Natural answers to the exercises of 07, wrong and right, written from the task texts alone.

Each is a complete cell. WRONG and RIGHT map an exercise to {what is wrong or unusual: the cell}.
"""

WRONG = {
    "gpt.causal_mask": {
        "hides the past": """
def causal_mask(T):
    return torch.full((T, T), float("-inf")).tril(-1)
""",
        "hides the diagonal, too": """
def causal_mask(T):
    return torch.full((T, T), float("-inf")).triu()
""",
        "shows one later position": """
def causal_mask(T):
    return torch.full((T, T), float("-inf")).triu(diagonal=2)
""",
        "ones and zeros instead of what is added": """
def causal_mask(T):
    return torch.tril(torch.ones(T, T))
""",
        "true and false": """
def causal_mask(T):
    return torch.ones(T, T).triu(1).bool()
""",
        "zero times infinity": """
def causal_mask(T):
    return torch.triu(torch.ones(T, T), 1) * float("-inf")
""",
        "minus one for minus infinity": """
def causal_mask(T):
    return -torch.ones(T, T).triu(1)
""",
        "plus infinity": """
def causal_mask(T):
    return torch.full((T, T), torch.inf).triu(1)
""",
        "minus ten is not far enough": """
def causal_mask(T):
    mask = torch.zeros(T, T)
    for i in range(T):
        mask[i, i + 1 :] = -10
    return mask
""",
        "the smallest positive float": """
def causal_mask(T):
    return torch.full((T, T), torch.finfo(torch.float32).tiny).triu(1)
""",
    },
    "gpt.attention": {
        "every call counts as the first": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        pass

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q = self.query(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5 + causal_mask(T)
        out = scores.softmax(-1) @ v
        return self.output(out.transpose(1, 2).reshape(B, T, D))
""",
        "the mask of the new tokens alone": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = self.v = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.k is not None:
            k = torch.cat([self.k, k], dim=2)
            v = torch.cat([self.v, v], dim=2)
        if self.cached:
            self.k, self.v = k, v
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + causal_mask(T)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "no mask as soon as there is a cache": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = self.v = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        scores_mask = causal_mask(T)
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], dim=2)
                v = torch.cat([self.v, v], dim=2)
                scores_mask = 0
            self.k, self.v = k, v
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + scores_mask
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "reset only switches the cache": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.cached, self.k, self.v = False, None, None

    def reset(self, cached=False):
        self.cached = cached

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], dim=2)
                v = torch.cat([self.v, v], dim=2)
            self.k, self.v = k, v
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + causal_mask(S)[S - T :]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "keeps the new keys only": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = self.v = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        old_k, old_v = self.k, self.v
        if self.cached:
            self.k, self.v = k, v
        if old_k is not None:
            k = torch.cat([old_k, k], dim=2)
            v = torch.cat([old_v, v], dim=2)
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + causal_mask(S)[S - T :]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "keys kept, values not": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.cached:
            k = k if self.k is None else torch.cat([self.k, k], dim=2)
            self.k = k
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + causal_mask(S)[S - T :]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "sums the heads": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past = cached, None

    def forward(self, x, keep=None):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], 2), torch.cat([self.past[1], v], 2)
        if self.cached:
            self.past = (k, v)
        scores = q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5
        scores = scores + causal_mask(k.shape[2])[-x.shape[1]:]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
""",
        "keys remembered before they are split": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.k, self.v = cached, [], []

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = self.query(x), self.key(x), self.value(x)
        if self.cached:
            self.k.append(k)
            self.v.append(v)
            k, v = torch.cat(self.k, dim=1), torch.cat(self.v, dim=1)
        q, k, v = (t.reshape(B, self.heads, -1, D // self.heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5 + causal_mask(k.shape[2])[-T:]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
    },
    "gpt.gpt": {
        "positions from the ids alone": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "position counted up by one": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + 1
        return self.norm(x) @ self.token.weight.T
""",
        "reset forgets the position": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "reset does not reach the layers": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "a head of its own": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.lm_head(self.norm(x))
""",
        "a head that begins as a copy": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.lm_head.weight.data = self.token.weight.data
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.lm_head(self.norm(x))
""",
        "no last norm": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return x @ self.token.weight.T
""",
        "norm before the layers": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        x = self.norm(x)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return x @ self.token.weight.T
""",
        "layers in a list": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = []
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "block's own attention with a mask": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            pass

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, torch.ones(1, T, T, dtype=torch.bool).tril())
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "post-norm": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "gelu of BERT": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation="gelu")
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "token table detached": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.data.T
""",
        "softmax at the end": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return torch.softmax(self.norm(x) @ self.token.weight.T, dim=-1)
""",
    },
    "gpt.gpt2_names": {
        "no transpose": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=-1)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "transposes where the shapes ask for it": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if place in ("mlp.c_fc", "mlp.c_proj"):
            w = w.T if w.dim() == 2 else w
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=-1)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "value, key, query": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            v, k, q = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "split into heads first": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w[0::3], w[1::3], w[2::3]
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "everything of two dimensions transposed": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if w.dim() == 2:
            w = w.T
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "lm_head kept": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES.get(pieces[0], pieces[0]) + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "masks kept": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight":
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES.get(place, 'attention')}.{part}"] = w
    return ours
""",
        "knows the names of today only": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight":
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "first layer only": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        if pieces[1] != "0":
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "c_attn under one name": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            ours[f"layers.{i}.attention.{part}"] = w
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "c_attn split before it is turned round": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=-1)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w.T if w.dim() == 2 else w
    return ours
""",
    },
    "gpt.shift_loss": {
        "not shifted": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=pad)
""",
        "shifted the other way": """
def shift_loss(logits, ids, pad):
    logits, ids = logits[:, 1:], ids[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=pad)
""",
        "padding counts": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])
""",
        "padding is 0": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=0)
""",
        "mean of the rows' means": """
def shift_loss(logits, ids, pad):
    losses = torch.nn.functional.cross_entropy(
        logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=pad, reduction="none")
    return (losses.sum(dim=1) / (ids[:, 1:] != pad).sum(dim=1)).mean()
""",
        "divided by all positions": """
def shift_loss(logits, ids, pad):
    log_p = logits[:, :-1].log_softmax(dim=-1)
    target = ids[:, 1:]
    losses = -log_p.gather(-1, target[..., None])[..., 0]
    return (losses * (target != pad)).mean()
""",
        "sum": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad, reduction="sum")
""",
        "in bits": """
def shift_loss(logits, ids, pad):
    p = logits[:, :-1].softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -torch.log2(p[ids[:, 1:] != pad]).mean()
""",
        "left out where the input is padding, not the target": """
def shift_loss(logits, ids, pad):
    real = ids[:, :-1] != pad
    return torch.nn.functional.cross_entropy(logits[:, :-1][real], ids[:, 1:][real])
""",
        "left out where input or target is padding": """
def shift_loss(logits, ids, pad):
    real = (ids[:, :-1] != pad) & (ids[:, 1:] != pad)
    return torch.nn.functional.cross_entropy(logits[:, :-1][real], ids[:, 1:][real])
""",
        "rows flattened before the shift, so that a row's end predicts the next row": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1)[:-1], ids.flatten()[1:], ignore_index=pad)
""",
        "minus the logit of the target": """
def shift_loss(logits, ids, pad):
    target = ids[:, 1:]
    picked = logits[:, :-1].gather(-1, target[..., None])[..., 0]
    return -picked[target != pad].mean()
""",
        "plus for minus": """
def shift_loss(logits, ids, pad):
    target = ids[:, 1:]
    log_p = logits[:, :-1].log_softmax(-1).gather(-1, target[..., None])[..., 0]
    return log_p[target != pad].mean()
""",
        "two to the right": """
def shift_loss(logits, ids, pad):
    return torch.nn.functional.cross_entropy(
        logits[:, :-2].flatten(0, 1), ids[:, 2:].flatten(), ignore_index=pad)
""",
    },
    "gpt.mended_labels": {
        "the labels of 2023": """
def mended_labels(ids, end):
    labels = ids.clone()
    labels[labels == end] = -100
    return labels
""",
        "nothing is left out": """
def mended_labels(ids, end):
    return ids.clone()
""",
        "keeps the last end, not the first": """
def mended_labels(ids, end):
    labels = ids.clone()
    labels[:, :-1][ids[:, :-1] == end] = -100
    return labels
""",
        "the first end of the batch, not of each row": """
def mended_labels(ids, end):
    return ids.masked_fill((ids == end).cumsum(dim=0) > 1, -100)
""",
        "a row without end loses everything but its first word": """
def mended_labels(ids, end):
    labels = ids.clone()
    first = (ids == end).int().argmax(dim=1)
    for row, at in enumerate(first.tolist()):
        labels[row, at + 1 :] = -100
    return labels
""",
        "-1 for -100": """
def mended_labels(ids, end):
    return ids.masked_fill((ids == end).cumsum(dim=1) > 1, -1)
""",
        "0 for -100": """
def mended_labels(ids, end):
    return ids * ((ids == end).cumsum(dim=1) <= 1)
""",
        "shifted, too": """
def mended_labels(ids, end):
    labels = ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)
    return torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)
""",
        "one end too many": """
def mended_labels(ids, end):
    return ids.masked_fill((ids == end).cumsum(dim=1) > 2, -100)
""",
        "the last token of every row is kept": """
def mended_labels(ids, end):
    labels = ids.clone()
    labels[labels == end] = -100
    labels[:, -1] = ids[:, -1]
    return labels
""",
        "end put back at the end of every row, also of a cut one": """
def mended_labels(ids, end):
    labels = ids.masked_fill(ids == end, -100)
    for row in labels:
        words = int((row != -100).sum())
        row[min(words, len(row) - 1)] = end
    return labels
""",
    },
    "gpt.sample": {
        "times the temperature": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept * temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "temperature after the softmax": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = kept.softmax(dim=-1) / temperature
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "no temperature": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = kept.softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "softmax before the cut, not made to add up again": """
def sample(logits, draws, temperature, k):
    p = (logits / temperature).softmax(dim=-1)
    p = p * (logits >= logits.topk(k).values[:, -1:])
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "cut at 0 instead of minus infinity": """
def sample(logits, draws, temperature, k):
    kept = torch.where(logits >= logits.topk(k).values[:, -1:], logits, 0.0)
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "place among the kept, not the token's id": """
def sample(logits, draws, temperature, k):
    values, tokens = logits.topk(k)
    few = (values / temperature).softmax(dim=-1)
    p = torch.zeros_like(logits).scatter(-1, tokens, few)
    return p, (few.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "adds up in the order of probability": """
def sample(logits, draws, temperature, k):
    values, tokens = logits.topk(k)
    few = (values / temperature).softmax(dim=-1)
    p = torch.zeros_like(logits).scatter(-1, tokens, few)
    place = (few.cumsum(-1) > draws[:, None]).int().argmax(-1)
    return p, tokens.gather(-1, place[:, None])[:, 0]
""",
        "the sum may equal the draw": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) >= draws[:, None]).int().argmax(-1)
""",
        "searchsorted from the left": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, torch.searchsorted(p.cumsum(-1), draws[:, None])[:, 0]
""",
        "the k-th is dropped": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits <= logits.topk(k + 1).values[:, k - 1 : k], -torch.inf) if k < logits.shape[1] else logits
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "the most probable token": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, p.argmax(dim=-1)
""",
        "torch.multinomial instead of the draws": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, torch.multinomial(p, 1)[:, 0]
""",
        "the first row's draw for all": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[0]).int().argmax(-1)
""",
        "a threshold for the whole batch": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values.min(), -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "one token too far": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, ((p.cumsum(-1) <= draws[:, None]).sum(-1) + 1).clamp(max=logits.shape[1] - 1)
""",
        "no cut": """
def sample(logits, draws, temperature, k):
    p = (logits / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "the k smallest": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits > logits.sort().values[:, k - 1 : k], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return p, (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
""",
        "token first, probabilities second": """
def sample(logits, draws, temperature, k):
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    p = (kept / temperature).softmax(dim=-1)
    return (p.cumsum(-1) > draws[:, None]).int().argmax(-1), p
""",
    },
    "gpt.top_p": {
        "the crossing token is dropped": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) > p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
    return kept / kept.sum(-1, keepdim=True)
""",
        "the crossing token is dropped, but the best is always kept": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    out = ordered.cumsum(-1) > p
    out[:, 0] = False
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered.masked_fill(out, 0))
    return kept / kept.sum(-1, keepdim=True)
""",
        "rows do not add up to 1": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    return torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
""",
        "one more where the sum is exactly p": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered > p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
    return kept / kept.sum(-1, keepdim=True)
""",
        "left in the order of probability": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    kept = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    return kept / kept.sum(-1, keepdim=True)
""",
        "added up in the order of the vocabulary": """
def top_p(probabilities, p):
    before = probabilities.cumsum(-1) - probabilities
    kept = probabilities.masked_fill(before >= p, 0)
    return kept / kept.sum(-1, keepdim=True)
""",
        "from the least probable": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
    return kept / kept.sum(-1, keepdim=True)
""",
        "p as a least probability": """
def top_p(probabilities, p):
    kept = torch.where(probabilities >= p, probabilities, 0.0)
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-9)
""",
        "softmax for making rows add up": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    return torch.zeros_like(probabilities).scatter(-1, tokens, ordered).softmax(-1)
""",
        "scattered with gather": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    kept = ordered.gather(-1, tokens)
    return kept / kept.sum(-1, keepdim=True)
""",
        "the same number of tokens for all rows": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    n = int((ordered.cumsum(-1) - ordered < p).sum(-1).max())
    ordered[:, n:] = 0
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
    return kept / kept.sum(-1, keepdim=True)
""",
        "one token more than needed": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    n = (ordered.cumsum(-1) < p).sum(-1, keepdim=True) + 2
    keep = torch.arange(ordered.shape[-1]) < n
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered * keep)
    return kept / kept.sum(-1, keepdim=True)
""",
        "made to add up over the batch": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    ordered = ordered.masked_fill(ordered.cumsum(-1) - ordered >= p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, ordered)
    return kept / kept.sum()
""",
    },
    "gpt.few_shot_prompt": {
        "no mark behind the query": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, *label, *end]
    return torch.tensor(prompt + list(query))
""",
        "end behind the query, too": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, *label, *end]
    return torch.tensor([*prompt, *query, *mark, *end])
""",
        "no end between the last example and the query": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for i, (text, label) in enumerate(demos):
        if i > 0:
            prompt += [*end]
        prompt += [*text, *mark, *label]
    return torch.tensor([*prompt, *query, *mark])
""",
        "mark behind the label": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, *label, *mark, *end]
    return torch.tensor([*prompt, *query, *mark])
""",
        "no end": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, *label]
    return torch.tensor([*prompt, *query, *mark])
""",
        "the query comes first": """
def few_shot_prompt(demos, query, mark, end):
    prompt = [*query, *mark]
    for text, label in demos:
        prompt += [*text, *mark, *label, *end]
    return torch.tensor(prompt)
""",
        "one id of each label": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, label[0], *end]
    return torch.tensor([*prompt, *query, *mark])
""",
        "one id of mark and of end": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in demos:
        prompt += [*text, mark[0].item(), *label, end[0].item()]
    return torch.tensor([*prompt, *query, mark[0].item()])
""",
        "examples from the last to the first": """
def few_shot_prompt(demos, query, mark, end):
    prompt = []
    for text, label in reversed(demos):
        prompt += [*text, *mark, *label, *end]
    return torch.tensor([*prompt, *query, *mark])
""",
        "fails without examples": """
def few_shot_prompt(demos, query, mark, end):
    shown = torch.cat([torch.cat([torch.tensor(t), mark, torch.tensor(l), end]) for t, l in demos])
    return torch.cat([shown, torch.tensor(query), mark])
""",
        "each part sorted behind its like": """
def few_shot_prompt(demos, query, mark, end):
    texts = [i for text, _ in demos for i in text]
    labels = [i for _, label in demos for i in label]
    return torch.tensor([*texts, *mark, *labels, *end, *query, *mark])
""",
    },
    "gpt.beam_search": {
        "greedy": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total, ended = torch.tensor([[bos]]), torch.zeros(()), False
    for _ in range(longest):
        if ended:
            token = pad
        else:
            log_p = next_logits(ids)[0, -1].log_softmax(-1)
            token = int(log_p.argmax())
            total = total + log_p[token]
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
        ended = ended or token == eos
    return ids[0, 1:], total
""",
        "divided by the length": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            if eos in ids:
                candidates.append((ids + [pad], total))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
    best = max(beams, key=lambda one: one[1] / sum(i != pad for i in one[0][1:]))
    return torch.tensor(best[0][1:]), torch.tensor(best[1])
""",
        "what has ended writes on": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total = torch.tensor([[bos]]), torch.zeros(1)
    for _ in range(longest):
        log_p = next_logits(ids)[:, -1].log_softmax(-1)
        candidates = (total[:, None] + log_p).flatten()
        total, best = candidates.topk(min(width, len(candidates)))
        rows, tokens = best // log_p.shape[1], best % log_p.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
    return ids[0, 1:], total[0]
""",
        "padding costs what the model says": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total, ended = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(longest):
        log_p = next_logits(ids)[:, -1].log_softmax(-1)
        only_pad = torch.full_like(log_p, -torch.inf)
        only_pad[:, pad] = log_p[:, pad]
        candidates = (total[:, None] + torch.where(ended[:, None], only_pad, log_p)).flatten()
        total, best = candidates.topk(min(width, len(candidates)))
        rows, tokens = best // log_p.shape[1], best % log_p.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
        ended = ended[rows] | (tokens == eos)
    return ids[0, 1:], total[0]
""",
        "what has ended competes no more until the end": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams, finished = [([bos], 0.0)], []
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        candidates.sort(key=lambda one: one[1], reverse=True)
        beams = []
        for one in candidates[:width]:
            (finished if one[0][-1] == eos else beams).append(one)
        if not beams:
            break
    ids, total = max(finished or beams, key=lambda one: one[1])
    ids = ids[1:] + [pad] * (longest - len(ids) + 1)
    return torch.tensor(ids), torch.tensor(total)
""",
        "stops when the best has ended and returns a short sentence": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            if ids[-1] == eos:
                candidates.append((ids, total))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
        if beams[0][0][-1] == eos:
            break
    return torch.tensor(beams[0][0][1:]), torch.tensor(beams[0][1])
""",
        "what has ended is set aside, and compared with the others at the end": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams, finished = [([bos], 0.0)], []
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        candidates.sort(key=lambda one: one[1], reverse=True)
        beams = []
        for one in candidates[:width]:
            (finished if one[0][-1] == eos else beams).append(one)
    ids, total = max(finished + beams, key=lambda one: one[1])
    return torch.tensor(ids[1:] + [pad] * (longest - len(ids) + 1)), torch.tensor(total)
""",
        "adds up logits": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total, ended = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(longest):
        logits = next_logits(ids)[:, -1]
        stay = torch.full_like(logits, -torch.inf)
        stay[:, pad] = 0
        candidates = (total[:, None] + torch.where(ended[:, None], stay, logits)).flatten()
        total, best = candidates.topk(min(width, len(candidates)))
        rows, tokens = best // logits.shape[1], best % logits.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
        ended = ended[rows] | (tokens == eos)
    return ids[0, 1:], total[0]
""",
        "bos in front": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total, ended = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(longest):
        log_p = next_logits(ids)[:, -1].log_softmax(-1)
        stay = torch.full_like(log_p, -torch.inf)
        stay[:, pad] = 0
        candidates = (total[:, None] + torch.where(ended[:, None], stay, log_p)).flatten()
        total, best = candidates.topk(min(width, len(candidates)))
        rows, tokens = best // log_p.shape[1], best % log_p.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
        ended = ended[rows] | (tokens == eos)
    return ids[0], total[0]
""",
        "each beginning keeps its own best": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    first = next_logits(torch.tensor([[bos]]))[0, -1].log_softmax(-1)
    total, tokens = first.topk(min(width, len(first)))
    ids = torch.cat([torch.full((len(tokens), 1), bos), tokens[:, None]], dim=1)
    ended = tokens == eos
    for _ in range(longest - 1):
        log_p = next_logits(ids)[:, -1].log_softmax(-1)
        best, tokens = log_p.max(dim=-1)
        tokens = torch.where(ended, pad, tokens)
        total = total + torch.where(ended, 0.0, best)
        ids, ended = torch.cat([ids, tokens[:, None]], dim=1), ended | (tokens == eos)
    best = total.argmax()
    return ids[best, 1:], total[best]
""",
        "the probability instead of its logarithm": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 1.0)]
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            if eos in ids:
                candidates.append((ids + [pad], total))
                continue
            p = next_logits(torch.tensor([ids]))[0, -1].softmax(-1)
            candidates += [(ids + [i], total * one) for i, one in enumerate(p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
    return torch.tensor(beams[0][0][1:]), torch.tensor(beams[0][1])
""",
        "a sentence that has ended is preferred": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            if eos in ids:
                candidates.append((ids + [pad], total))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
    ended = [one for one in beams if eos in one[0]]
    ids, total = (ended or beams)[0]
    return torch.tensor(ids[1:]), torch.tensor(total)
""",
        "one step short": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    while len(beams[0][0]) < longest:
        candidates = []
        for ids, total in beams:
            if eos in ids:
                candidates.append((ids + [pad], total))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
    return torch.tensor(beams[0][0][1:]), torch.tensor(beams[0][1])
""",
    },
}


RIGHT = {
    "gpt.causal_mask": {
        "two loops": """
def causal_mask(T):
    mask = torch.zeros(T, T)
    for i in range(T):
        for j in range(i + 1, T):
            mask[i, j] = float("-inf")
    return mask
""",
        "log of ones and zeros": """
def causal_mask(T):
    return torch.ones(T, T).tril().log()
""",
        "numpy": """
import numpy

def causal_mask(T):
    return numpy.triu(numpy.full((T, T), -numpy.inf), 1)
""",
        "from torch": """
def causal_mask(T):
    return torch.nn.Transformer.generate_square_subsequent_mask(T)
""",
    },
    "gpt.attention": {
        "PyTorch's attention with a mask": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = self.v = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q = self.query(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], 2)
                v = torch.cat([self.v, v], 2)
            self.k, self.v = k, v
        S = k.shape[2]
        mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        return self.output(torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(B, T, D))
""",
        "the inputs remembered, einsum": """
from functools import partial
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        make = partial(torch.nn.Linear, dim, dim)
        self.query, self.key, self.value, self.output = make(), make(), make(), make()
        self.heads = heads
        self.reset()
    def reset(self, cached=False):
        self.pieces = [] if cached else None
    def forward(self, x, keep=None):
        every = x
        if self.pieces is not None:
            self.pieces.append(x)
            every = torch.cat(self.pieces, 1)
        B, T, D = x.shape
        q, k, v = (f(z).reshape(B, -1, self.heads, D // self.heads) for f, z in ((self.query, x), (self.key, every), (self.value, every)))
        s = torch.einsum("bihd,bjhd->bhij", q, k) * (D // self.heads) ** -0.5
        t = every.shape[1]
        later = torch.arange(t)[None] > torch.arange(t - T, t)[:, None]
        w = torch.softmax(s + torch.where(later, -1e9, 0.0), -1)
        return self.output(torch.einsum("bhij,bjhd->bihd", w, v).flatten(2))
""",
        "the mask as a buffer that is not saved": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.register_buffer('mask', torch.ones(64, 64, dtype=torch.bool).tril(), persistent=False)
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.k = self.v = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q = self.query(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], 2)
                v = torch.cat([self.v, v], 2)
            self.k, self.v = k, v
        S = k.shape[2]
        s = q @ k.mT / q.shape[-1] ** 0.5
        mask = self.mask[S - T:S, :S]
        s = s.masked_fill(~mask, -torch.inf)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "the cache in buffers that are not saved": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.register_buffer('k', None, persistent=False)
        self.register_buffer('v', None, persistent=False)

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q = self.query(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, -1).transpose(1, 2)
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], 2)
                v = torch.cat([self.v, v], 2)
            self.k, self.v = k, v
        S = k.shape[2]
        s = q @ k.mT / q.shape[-1] ** 0.5
        mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        s = s.masked_fill(~mask, -torch.inf)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "memory for the cache taken at once": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = torch.nn.Linear(dim, dim)
        self.key = torch.nn.Linear(dim, dim)
        self.value = torch.nn.Linear(dim, dim)
        self.output = torch.nn.Linear(dim, dim)
        self.cached, self.cache, self.n = False, {}, 0
    def reset(self, cached=False):
        self.cached, self.cache, self.n = cached, {}, 0
    def forward(self, x, keep=None):
        B, T, D = x.shape
        def heads(z): return z.view(B, -1, self.heads, D // self.heads).transpose(1, 2)
        q, k, v = heads(self.query(x)), heads(self.key(x)), heads(self.value(x))
        if self.cached:
            for name, new in (("k", k), ("v", v)):
                big = self.cache.setdefault(name, torch.zeros(B, self.heads, 128, D // self.heads))
                big[:, :, self.n:self.n + T] = new
            k, v = (self.cache[name][:, :, :self.n + T] for name in "kv")
            self.n += T
        S = k.shape[2]
        allowed = torch.arange(S) <= torch.arange(S - T, S).unsqueeze(1)
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.output(out.transpose(1, 2).flatten(2))
""",
        "flags and lists, split late": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.k, self.v = cached, [], []

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = self.query(x), self.key(x), self.value(x)
        if self.cached:
            self.k.append(k)
            self.v.append(v)
            k, v = torch.cat(self.k, dim=1), torch.cat(self.v, dim=1)
        q, k, v = (t.reshape(B, -1, self.heads, D // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5 + causal_mask(k.shape[2])[-T:]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "own mask by comparison": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.keys = None
        self.values = None

    def forward(self, x, keep=None):
        B, T, D = x.shape
        d = D // self.heads
        q = self.query(x).view(B, T, self.heads, d).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, d).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, d).transpose(1, 2)
        past = 0
        if self.cached:
            if self.keys is not None:
                past = self.keys.shape[2]
                k = torch.cat([self.keys, k], dim=2)
                v = torch.cat([self.values, v], dim=2)
            self.keys, self.values = k, v
        i = torch.arange(past, past + T).unsqueeze(1)
        j = torch.arange(past + T).unsqueeze(0)
        scores = (q @ k.mT) / d**0.5
        scores = scores.masked_fill(j > i, float("-inf"))
        return self.output((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
    },
    "gpt.gpt": {
        "a Linear that shares the table, positions as a buffer that is not saved": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.register_buffer('places', torch.arange(tokens), persistent=False)
        self.head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.head.weight = self.token.weight
        self.norm = torch.nn.LayerNorm(dim)
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for layer in self.layers:
            layer.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        start = self.seen if self.cached else 0
        x = self.token(ids) + self.position(self.places[start:start + T])
        self.seen += T
        for layer in self.layers:
            x = layer(x, None)
        return self.head(self.norm(x))
""",
        "functional maps, layers by reduce": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for layer in self.layers:
            layer.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        start = self.seen if self.cached else 0
        x = torch.nn.functional.embedding(ids, self.token.weight) + self.position.weight[start:start + T]
        self.seen += T
        import functools
        x = functools.reduce(lambda h, layer: layer(h, None), self.layers, x)
        return torch.nn.functional.linear(self.norm(x), self.token.weight)
""",
        "every attention among the modules is reset": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for m in self.modules():
            if isinstance(m, CausalAttention):
                m.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        start = self.seen if self.cached else 0
        x = self.token(ids) + self.position.weight[start:start + T]
        self.seen += T
        for layer in self.layers:
            x = layer(x, None)
        return self.norm(x) @ self.token.weight.T
""",
        "counts after the layers": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.norm(x) @ self.token.weight.T
""",
        "tied by assignment": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            block = Block(dim, heads, inner, norm_first=True, activation=activation)
            block.attention = CausalAttention(dim, heads)
            self.layers.append(block)
        self.norm = torch.nn.LayerNorm(dim)
        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.lm_head.weight = self.token.weight
        self.cached = False
        self.seen = 0

    def reset(self, cached=False):
        self.cached = cached
        self.seen = 0
        for block in self.layers:
            block.attention.reset(cached)

    def forward(self, ids):
        T = ids.shape[1]
        places = torch.arange(self.seen, self.seen + T)
        x = self.token(ids) + self.position(places)
        for block in self.layers:
            x = block(x, None)
        if self.cached:
            self.seen = self.seen + T
        return self.lm_head(self.norm(x))
""",
    },
    "gpt.gpt2_names": {
        "by pieces": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.T
        if place == "attn.c_attn":
            q, k, v = w.chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
        "with t() and split": """
def gpt2_names(theirs):
    ours = {}
    for name, w in theirs.items():
        name = name.replace("transformer.", "")
        if name == "lm_head.weight" or ".attn.bias" in name or "masked_bias" in name:
            continue
        pieces = name.split(".")
        if pieces[0] != "h":
            ours[PLACES[pieces[0]] + "." + pieces[1]] = w
            continue
        i, part = pieces[1], pieces[-1]
        place = ".".join(pieces[2:-1])
        if w.dim() == 2:
            w = w.t().clone()
        if place == "attn.c_attn":
            q, k, v = w.split(len(w) // 3)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
        else:
            ours[f"layers.{i}.{PLACES[place]}.{part}"] = w
    return ours
""",
    },
    "gpt.shift_loss": {
        "gather and mean": """
def shift_loss(logits, ids, pad):
    target = ids[:, 1:]
    log_p = logits[:, :-1].log_softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    return -log_p[target != pad].mean()
""",
        "loop with logsumexp": """
def shift_loss(logits, ids, pad):
    losses = []
    for row, tokens in zip(logits, ids):
        for t in range(1, len(tokens)):
            if tokens[t] != pad:
                losses.append(row[t - 1].logsumexp(-1) - row[t - 1, tokens[t]])
    return sum(losses) / len(losses)
""",
        "targets padded behind": """
def shift_loss(logits, ids, pad):
    target = torch.roll(ids, -1, dims=1)
    target[:, -1] = pad
    return torch.nn.functional.nll_loss(
        logits.log_softmax(-1).transpose(1, 2), target, ignore_index=pad)
""",
        "numpy, a float": """
import numpy

def shift_loss(logits, ids, pad):
    x, target = logits[:, :-1].numpy().astype("float64"), ids[:, 1:].numpy()
    x = x - x.max(axis=-1, keepdims=True)
    log_p = x - numpy.log(numpy.exp(x).sum(axis=-1, keepdims=True))
    picked = numpy.take_along_axis(log_p, target[..., None], axis=-1)[..., 0]
    return float(-picked[target != pad].mean())
""",
    },
    "gpt.mended_labels": {
        "list.index": """
def mended_labels(ids, end):
    rows = []
    for row in ids.tolist():
        length = row.index(end) + 1 if end in row else len(row)
        rows.append(row[:length] + [-100] * (len(row) - length))
    return torch.tensor(rows)
""",
        "an end before this place": """
def mended_labels(ids, end):
    is_end = ids == end
    before = is_end.int().cumsum(dim=1) - is_end.int()
    return torch.where(before > 0, torch.tensor(-100), ids)
""",
        "numpy": """
import numpy

def mended_labels(ids, end):
    labels = ids.numpy().copy()
    labels[(labels == end).cumsum(axis=1) > 1] = -100
    return labels
""",
        "a list of lists": """
def mended_labels(ids, end):
    labels = []
    for row in ids.tolist():
        out, seen = [], False
        for i in row:
            out.append(-100 if seen else i)
            seen = seen or i == end
        labels.append(out)
    return labels
""",
    },
    "gpt.sample": {
        "row by row": """
def sample(logits, draws, temperature, k):
    probabilities, tokens = torch.zeros_like(logits), []
    for b, (row, draw) in enumerate(zip(logits, draws)):
        kept = row.topk(k).indices
        probabilities[b, kept] = (row[kept] / temperature).softmax(-1)
        total = 0.0
        for i in range(len(row)):
            total += probabilities[b, i].item()
            if total > draw.item():
                break
        tokens.append(i)
    return probabilities, torch.tensor(tokens)
""",
        "searchsorted from the right": """
def sample(logits, draws, temperature, k):
    values, kept = logits.topk(k, dim=-1)
    p = torch.zeros_like(logits).scatter(-1, kept, (values / temperature).softmax(-1))
    return p, torch.searchsorted(p.cumsum(-1), draws[:, None], right=True)[:, 0]
""",
        "temperature first, cut, then divided": """
def sample(logits, draws, temperature, k):
    p = (logits / temperature).softmax(-1)
    p = p * (logits >= logits.topk(k).values[:, -1:])
    p = p / p.sum(-1, keepdim=True)
    return p, (p.cumsum(-1) <= draws[:, None]).sum(-1)
""",
        "numpy, float64": """
import numpy

def sample(logits, draws, temperature, k):
    x = logits.double().numpy()
    threshold = numpy.sort(x, axis=1)[:, -k]
    x = numpy.where(x >= threshold[:, None], x / temperature, -numpy.inf)
    p = numpy.exp(x - x.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1) > draws.numpy()[:, None]).argmax(axis=1)
""",
    },
    "gpt.top_p": {
        "row by row": """
def top_p(probabilities, p):
    rows = torch.zeros_like(probabilities)
    for row, out in zip(probabilities, rows):
        total = 0.0
        for i in row.argsort(descending=True).tolist():
            out[i] = row[i]
            total += row[i].item()
            if total >= p:
                break
        out /= out.sum()
    return rows
""",
        "counted": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    n = (ordered.cumsum(-1) < p).sum(-1, keepdim=True) + 1
    ordered = ordered * (torch.arange(ordered.shape[-1]) < n)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.empty_like(ordered).scatter_(-1, tokens, ordered)
""",
        "numpy": """
import numpy

def top_p(probabilities, p):
    x = probabilities.numpy()
    order = (-x).argsort(axis=1)
    ordered = numpy.take_along_axis(x, order, axis=1)
    out = numpy.roll(ordered.cumsum(axis=1) >= p, 1, axis=1)
    out[:, 0] = False
    kept = numpy.zeros_like(x)
    numpy.put_along_axis(kept, order, numpy.where(out, 0, ordered), axis=1)
    return kept / kept.sum(axis=1, keepdims=True)
""",
    },
    "gpt.few_shot_prompt": {
        "torch.cat": """
def few_shot_prompt(demos, query, mark, end):
    parts = []
    for text, label in demos:
        parts += [torch.as_tensor(text), mark, torch.as_tensor(label), end]
    return torch.cat([*parts, torch.as_tensor(query), mark])
""",
        "a list": """
def few_shot_prompt(demos, query, mark, end):
    mark, end = mark.tolist(), end.tolist()
    return sum([list(t) + mark + list(l) + end for t, l in demos], []) + list(query) + mark
""",
        "numpy": """
import numpy

def few_shot_prompt(demos, query, mark, end):
    parts = [part for text, label in demos for part in (text, mark, label, end)]
    return numpy.concatenate([*parts, query, mark])
""",
    },
    "gpt.beam_search": {
        "lists and sorted": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    for _ in range(longest):
        candidates = []
        for ids, total in beams:
            if eos in ids[1:]:
                candidates.append((ids + [pad], total))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1)
            candidates += [(ids + [i], total + p) for i, p in enumerate(log_p.tolist())]
        beams = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
    ids, total = beams[0]
    return torch.tensor(ids[1:]), torch.tensor(total)
""",
        "stops early and fills up": """
import heapq

def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [(0.0, (bos,), False)]
    for _ in range(longest):
        if all(ended for _, _, ended in beams):
            break
        candidates = []
        for total, ids, ended in beams:
            if ended:
                candidates.append((total, ids, True))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].double().log_softmax(-1)
            for i, p in enumerate(log_p.tolist()):
                candidates.append((total + p, ids + (i,), i == eos))
        beams = heapq.nlargest(width, candidates, key=lambda one: one[0])
    total, ids, _ = beams[0]
    ids = list(ids[1:])
    return torch.tensor(ids + [pad] * (longest - len(ids))), total
""",
    },
}
