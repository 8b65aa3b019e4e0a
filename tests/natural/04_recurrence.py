"""Answers to the exercises of notebook 04 as students write them, each a complete cell.

WRONG holds what the task text rules out, RIGHT what it allows; by exercise, then by a phrase that says what is wrong
or unusual. The cells use what the notebook has defined by then. They were written from the task texts alone.
"""

WRONG = {
    "recurrence.recurrent_step": {
        "no tanh": """
def recurrent_step(x, h, W_x, W_h, b):
    return x @ W_x + h @ W_h + b
""",
        "sigmoid": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.sigmoid(x @ W_x + h @ W_h + b)
""",
        "bias added after the tanh": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h @ W_h) + b
""",
        "bias forgotten": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h @ W_h)
""",
        "bias added with each product, as PyTorch's two": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh((x @ W_x + b) + (h @ W_h + b))
""",
        "tanh of each part": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x) + torch.tanh(h @ W_h) + b
""",
        "the matrix of the state transposed": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h @ W_h.T + b)
""",
        "both matrices transposed": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)
""",
        "the old state added": """
def recurrent_step(x, h, W_x, W_h, b):
    return h + torch.tanh(x @ W_x + h @ W_h + b)
""",
        "the old state left out": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + b)
""",
        "ReLU": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.relu(x @ W_x + h @ W_h + b)
""",
        "state not multiplied by its matrix": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h + b)
""",
    },
    "recurrence.lstm_step": {
        "output gate before the candidate": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, o, g = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "forget gate before the input gate": """
def lstm_step(x, h, c, W_x, W_h, b):
    f, i, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "forget gate first, candidate last": """
def lstm_step(x, h, c, W_x, W_h, b):
    f, i, o, g = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "candidate before the forget gate": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, g, f, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "returned as (c, h)": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return c, h
""",
        "no tanh of the cell": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c, c
""",
        "the state made of the old cell": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    new_c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    new_h = o.sigmoid() * c.tanh()
    return new_h, new_c
""",
        "candidate through a sigmoid": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = torch.sigmoid(x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = f * c + i * g
    return o * torch.tanh(c), c
""",
        "gates without a sigmoid": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = f * c + i * g.tanh()
    return o * c.tanh(), c
""",
        "only the state returned": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh()
""",
        "the tanh of the cell returned as the cell": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.tanh(f.sigmoid() * c + i.sigmoid() * g.tanh())
    return o.sigmoid() * c, c
""",
        "columns of the four blocks taken by turns": """
def lstm_step(x, h, c, W_x, W_h, b):
    gates = (x @ W_x + h @ W_h + b).reshape(len(x), -1, 4)
    i, f, g, o = gates.unbind(-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
""",
        "input gate as 1 - f": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    f = torch.sigmoid(f)
    c = f * c + (1 - f) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "the old cell not gated": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "bias forgotten": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
""",
        "1 added to the forget gate": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
""",
        "state and cell exchanged in the products": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + c @ W_h + b).chunk(4, dim=1)
    c = f.sigmoid() * h + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
""",
        "blocks cut from the rows": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
""",
    },
    "recurrence.encode_to_vector": {
        "padding ignored altogether": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(words.shape[0], W_h.shape[0])
    for t in range(words.shape[1]):
        h, c = lstm_step(words[:, t], h, c, W_x, W_h, b)
    return h
""",
        "the state times keep": """
def encode_to_vector(words, keep, W_x, W_h, b):
    B, T, D = words.shape
    h = torch.zeros(B, W_h.shape[0])
    c = torch.zeros(B, W_h.shape[0])
    for t in range(T):
        h, c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h = h * keep[:, t].unsqueeze(1)
        c = c * keep[:, t].unsqueeze(1)
    return h
""",
        "the words times keep": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    words = words * keep.unsqueeze(-1)
    for t in range(words.shape[1]):
        h, c = lstm_step(words[:, t], h, c, W_x, W_h, b)
    return h
""",
        "all states, the last one by length": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    states = []
    for t in range(words.shape[1]):
        h, c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        states.append(h)
    states = torch.stack(states, dim=1)
    last = keep.sum(dim=1) - 1
    return states[torch.arange(len(words)), last]
""",
        "state and cell returned": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    for t in range(words.shape[1]):
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        k = keep[:, t].unsqueeze(1)
        h = torch.where(k, new_h, h)
        c = torch.where(k, new_c, c)
    return h, c
""",
        "the cell returned": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    for t in range(words.shape[1]):
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        k = keep[:, t].unsqueeze(1)
        h = torch.where(k, new_h, h)
        c = torch.where(k, new_c, c)
    return c
""",
        "only the state held": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    for t in range(words.shape[1]):
        new_h, c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h = torch.where(keep[:, t, None], new_h, h)
    return h
""",
        "where without the second axis": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    for t in range(words.shape[1]):
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h = torch.where(keep[:, t], new_h, h)
        c = torch.where(keep[:, t], new_c, c)
    return h
""",
        "mean over the states of the words": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    total = 0
    for t in range(words.shape[1]):
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        k = keep[:, t, None]
        h, c = torch.where(k, new_h, h), torch.where(k, new_c, c)
        total = total + h * k
    return total / keep.sum(1)[:, None]
""",
    },
    "recurrence.additive_attention": {
        "no tanh": """
def additive_attention(state, keys, values, W_s, v, keep):
    scores = (state @ W_s).unsqueeze(1) + keys
    scores = scores @ v
    scores = scores.masked_fill(~keep, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
        "divided by the root of the width": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v / keys.shape[-1] ** 0.5
    weights = e.masked_fill(~keep, -1e9).softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
        "no mask": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = torch.softmax(e, dim=-1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "masked where keep is True": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = e.masked_fill(keep, -1e9).softmax(-1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "multiplied by keep after the softmax": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = torch.softmax(e, dim=-1) * keep
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "exp by hand": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.exp(torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v) * keep
    weights = e / e.sum(dim=1, keepdim=True)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "softmax over the sentences": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = torch.softmax(e.masked_fill(~keep, -1e9), dim=0)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "weights first": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = e.masked_fill(~keep, -1e9).softmax(-1)
    context = torch.bmm(weights.unsqueeze(1), values).squeeze(1)
    return weights, context
""",
        "the context keeps its middle axis": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = e.masked_fill(~keep, -1e9).softmax(-1)
    return weights.unsqueeze(1) @ values, weights
""",
        "tanh last": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh(((state @ W_s).unsqueeze(1) + keys) @ v)
    weights = e.masked_fill(~keep, -1e9).softmax(-1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "the state not given an axis": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh(state @ W_s + keys) @ v
    weights = e.masked_fill(~keep, -1e9).softmax(-1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
    },
    "recurrence.dot_attention": {
        "scaled": """
def dot_attention(state, keys, values, keep):
    scores = (keys @ state.unsqueeze(-1)).squeeze(-1) / state.shape[-1] ** 0.5
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
        "no mask": """
def dot_attention(state, keys, values, keep):
    scores = (keys @ state.unsqueeze(-1)).squeeze(-1)
    weights = scores.softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
        "tanh kept from before": """
def dot_attention(state, keys, values, keep):
    scores = torch.tanh((keys @ state.unsqueeze(-1)).squeeze(-1))
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
        "only the context": """
def dot_attention(state, keys, values, keep):
    scores = (keys @ state.unsqueeze(-1)).squeeze(-1)
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1)
""",
        "weights first": """
def dot_attention(state, keys, values, keep):
    scores = (keys @ state.unsqueeze(-1)).squeeze(-1)
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return weights, (weights.unsqueeze(-1) * values).sum(1)
""",
        "state transposed": """
def dot_attention(state, keys, values, keep):
    scores = keys @ state.T
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
    },
    "recurrence.decoder_block": {
        "the first part not added": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = self.own(self.norm_own(x), keep)
        x = x + cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        x = x + self.feed(self.norm_feed(x))
        return x
""",
        "the tuple added": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = x + self.own(self.norm_own(x), keep)
        x = x + cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)
        return x + self.feed(self.norm_feed(x))
""",
        "post-norm, as in the paper": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = self.norm_own(x + self.own(x, keep))
        x = self.norm_cross(x + cross_attention(x, encoded, self.W_q, self.W_k, self.W_v, source_keep)[0])
        return self.norm_feed(x + self.feed(x))
""",
        "x overwritten by its norm": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = self.norm_own(x)
        x = x + self.own(x, keep)
        x = self.norm_cross(x)
        x = x + cross_attention(x, encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        x = self.norm_feed(x)
        return x + self.feed(x)
""",
        "encoded normalised as well": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = x + self.own(self.norm_own(x), keep)
        x = x + cross_attention(self.norm_cross(x), self.norm_cross(encoded), self.W_q, self.W_k, self.W_v, source_keep)[0]
        return x + self.feed(self.norm_feed(x))
""",
        "decoder and encoder swapped": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = x + self.own(self.norm_own(x), keep)
        out, _ = cross_attention(encoded, self.norm_cross(x), self.W_q, self.W_k, self.W_v, source_keep)
        x = x + out
        return x + self.feed(self.norm_feed(x))
""",
        "no residual around the feed-forward network": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = x + self.own(self.norm_own(x), keep)
        x = x + cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        return self.feed(self.norm_feed(x))
""",
        "the source first": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        x = x + cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        x = x + self.own(self.norm_own(x), keep)
        return x + self.feed(self.norm_feed(x))
""",
    },
    "recurrence.cross_attention": {
        "queries from the source, keys from the target": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = enc @ W_q, dec @ W_k, dec @ W_v
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, :, None], float("-inf")).softmax(-1)
    return weights @ v, weights
""",
        "scaled by the size of the words": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(-1, -2) / dec.shape[-1] ** 0.5
    scores = scores.masked_fill(~source_keep[:, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "scaled by the size of the values": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(-1, -2) / v.shape[-1] ** 0.5
    scores = scores.masked_fill(~source_keep[:, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "not scaled": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2)
    scores = scores.masked_fill(~source_keep[:, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "scaled by d without the root": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / W_q.shape[1]
    scores = scores.masked_fill(~source_keep[:, None, :], float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "padding not hidden": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    weights = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights
""",
        "words hidden, padding kept": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(source_keep[:, None, :], -1e9).softmax(dim=-1)
    return weights @ v, weights
""",
        "mask after the softmax, rows not brought back to 1": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    weights = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1)
    weights = weights * source_keep[:, None, :]
    return weights @ v, weights
""",
        "softmax over the target": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -1e9).softmax(dim=1)
    return weights @ v, weights
""",
        "padding's scores set to 0": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    scores = scores * source_keep[:, None, :]
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "1e-9 for -1e9": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], 1e-9).softmax(dim=-1)
    return weights @ v, weights
""",
        "only the output returned": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -1e9).softmax(dim=-1)
    return weights @ v
""",
        "weights first": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -1e9).softmax(dim=-1)
    return weights, weights @ v
""",
        "scores returned for the weights": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(~source_keep[:, None, :], float("-inf"))
    return scores.softmax(dim=-1) @ v, scores
""",
        "a causal mask on top": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    causal = torch.ones_like(scores, dtype=torch.bool).tril()
    scores = scores.masked_fill(~(source_keep[:, None, :] & causal), -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
        "keys also used as values": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k = dec @ W_q, enc @ W_k
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -1e9).softmax(dim=-1)
    return weights @ k, weights
""",
        "values of the words themselves": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k = dec @ W_q, enc @ W_k
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -1e9).softmax(dim=-1)
    return weights @ enc, weights
""",
        "padding's values set to 0, its weights kept": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    enc = enc * source_keep[:, :, None]
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    weights = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights
""",
        "exponentials that overflow": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    e = torch.exp(scores) * source_keep[:, None, :]
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ v, weights
""",
        "a mask of -10, too weak": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    scores = scores - 10.0 * (~source_keep[:, None, :])
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
    },
    "recurrence.decoder_mask": {
        "a position does not see itself": """
def decoder_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)
""",
        "the future instead of the past": """
def decoder_mask(T):
    return torch.triu(torch.ones(T, T)).bool()
""",
        "True where a position is hidden": """
def decoder_mask(T):
    return torch.triu(torch.ones(T, T), diagonal=1).bool()
""",
        "one position ahead": """
def decoder_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=1)
""",
        "numbers to add to the scores": """
def decoder_mask(T):
    return torch.full((T, T), float("-inf")).triu(1)
""",
        "True everywhere": """
def decoder_mask(T):
    return torch.ones(T, T, dtype=torch.bool)
""",
        "itself alone": """
def decoder_mask(T):
    return torch.eye(T, dtype=torch.bool)
""",
        "itself and the one before": """
def decoder_mask(T):
    i = torch.arange(T)
    return (i[:, None] - i == 0) | (i[:, None] - i == 1)
""",
        "an axis for the batch": """
def decoder_mask(T):
    return torch.ones(1, T, T).tril().bool()
""",
        "strict comparison": """
def decoder_mask(T):
    return torch.tensor([[j < i for j in range(T)] for i in range(T)])
""",
    },
    "recurrence.shift_right": {
        "bos appended at the end": """
def shift_right(target, bos):
    last = torch.full((len(target), 1), bos)
    return torch.cat([target[:, 1:], last], dim=1)
""",
        "one column longer": """
def shift_right(target, bos):
    start = torch.full((target.shape[0], 1), bos)
    return torch.cat([start, target], dim=1)
""",
        "rolled round, without bos": """
def shift_right(target, bos):
    return torch.roll(target, 1, dims=1)
""",
        "first token overwritten, nothing moved": """
def shift_right(target, bos):
    out = target.clone()
    out[:, 0] = bos
    return out
""",
        "the target itself changed": """
def shift_right(target, bos):
    rest = target[:, :-1].clone()
    target[:, 1:] = rest
    target[:, 0] = bos
    return target
""",
        "each token copied from the one just written": """
def shift_right(target, bos):
    out = target.clone()
    out[:, 0] = bos
    for t in range(1, out.shape[1]):
        out[:, t] = out[:, t - 1]
    return out
""",
        "moved along the batch": """
def shift_right(target, bos):
    start = torch.full_like(target[:1], bos)
    return torch.cat([start, target[:-1]])
""",
        "the notebook's own start sign": """
def shift_right(target, bos):
    out = torch.ones_like(target)
    out[:, 1:] = target[:, :-1]
    return out
""",
        "the first token cut off instead of the last": """
def shift_right(target, bos):
    start = torch.full((target.shape[0], 1), bos)
    return torch.cat([start, target[:, 1:]], dim=1)
""",
        "moved by two": """
def shift_right(target, bos):
    start = torch.full((target.shape[0], 2), bos)
    return torch.cat([start, target[:, :-2]], dim=1)
""",
        "the column left out, without bos": """
def shift_right(target, bos):
    return target[:, :-1]
""",
        "rolled as one long row": """
def shift_right(target, bos):
    out = torch.roll(target, 1)
    out[0, 0] = bos
    return out
""",
    },
    "recurrence.greedy_translate": {
        "bos returned with the tokens": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        token[ended] = pad
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended |= token == eos
    return ids
""",
        "bos returned and the last token cut": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest - 1):
        token = next_logits(ids)[:, -1].argmax(-1)
        token[ended] = pad
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended |= token == eos
    return ids
""",
        "goes on writing behind eos": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return ids[:, 1:]
""",
        "eos replaced by pad as well": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        ended = ended | (token == eos)
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return ids[:, 1:]
""",
        "stops with fewer columns when all have ended": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        token = torch.where(ended, torch.tensor(pad), token)
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
        ended = ended | (token == eos)
        if ended.all():
            break
    return ids[:, 1:]
""",
        "stops when the first sentence has ended": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    out = torch.full((B, longest), pad)
    ids = torch.full((B, 1), bos)
    for t in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        out[:, t] = token
        ids = torch.cat([ids, token[:, None]], dim=1)
        if (token == eos).any():
            break
    return out
""",
        "only the last token given to the decoder": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    token, out = torch.full((B, 1), bos), []
    ended = torch.zeros(B, 1, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(token)[:, -1:].argmax(-1)
        token = torch.where(ended, pad, token)
        ended = ended | (token == eos)
        out.append(token)
    return torch.cat(out, dim=1)
""",
        "logits of the first position": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, 0].argmax(-1)
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
        "eos repeated to the end": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        token = torch.where(ended, eos, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
        "sampled instead of the best": """
torch.manual_seed(1)

def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        probabilities = next_logits(ids)[:, -1].softmax(-1)
        token = torch.multinomial(probabilities, 1)[:, 0]
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
        "remembers only whether the last token was eos": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        token = torch.where(ids[:, -1] == eos, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return ids[:, 1:]
""",
        "eos written into the last column of a cut sentence": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for t in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        if t == longest - 1:
            token = torch.full_like(token, eos)
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
        "0 for the padding": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    out = torch.zeros(B, longest, dtype=torch.long)
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for t in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        out[~ended, t] = token[~ended]
        ended |= token == eos
        ids = torch.cat([ids, token[:, None]], dim=1)
    return out
""",
        "a pad that was chosen taken for an end": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        done = (ids[:, -1] == eos) | (ids[:, -1] == pad)
        token = torch.where(done, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
    return ids[:, 1:]
""",
        "one token too many": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    while ids.shape[1] <= longest + 1:
        token = next_logits(ids)[:, -1].argmax(-1)
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
        "cut where the last sentence ends, the others never padded": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids)[:, -1].argmax(-1)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended |= token == eos
        if ended.all():
            break
    rest = torch.full((B, longest + 1 - ids.shape[1]), pad)
    return torch.cat([ids, rest], dim=1)[:, 1:]
""",
        "the best position instead of the best token": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        token = next_logits(ids).argmax(dim=1)[:, -1]
        token = torch.where(ended, pad, token)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == eos)
    return ids[:, 1:]
""",
    },
    "recurrence.mended_cross_mask": {
        "the bug as it was": """
def mended_cross_mask(source_keep, target_keep):
    causal = decoder_mask(target_keep.shape[1])
    padding = target_keep[:, None, :]
    return padding & causal
""",
        "source padding, but still causal": """
def mended_cross_mask(source_keep, target_keep):
    Tt, Ts = target_keep.shape[1], source_keep.shape[1]
    causal = torch.ones(Tt, Ts, dtype=torch.bool).tril()
    return source_keep[:, None, :] & causal
""",
        "causal left out, padding of the target": """
def mended_cross_mask(source_keep, target_keep):
    T = target_keep.shape[1]
    return target_keep[:, None, :].expand(-1, T, -1)
""",
        "rows of the target's padding emptied": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep[:, None, :] & target_keep[:, :, None]
""",
        "source down, target across": """
def mended_cross_mask(source_keep, target_keep):
    Tt = target_keep.shape[1]
    return source_keep[:, :, None].expand(-1, -1, Tt)
""",
        "one row for all target positions": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep[:, None, :]
""",
        "True for padding": """
def mended_cross_mask(source_keep, target_keep):
    Tt = target_keep.shape[1]
    return (~source_keep)[:, None, :].repeat(1, Tt, 1)
""",
        "either word is enough": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep[:, None, :] | target_keep[:, :, None]
""",
        "every source position": """
def mended_cross_mask(source_keep, target_keep):
    B, Ts = source_keep.shape
    return torch.ones(B, target_keep.shape[1], Ts, dtype=torch.bool)
""",
        "square, of the source's size": """
def mended_cross_mask(source_keep, target_keep):
    Ts = source_keep.shape[1]
    return source_keep[:, None, :].expand(-1, Ts, -1)
""",
        "the mask of the first sentence for all": """
def mended_cross_mask(source_keep, target_keep):
    B, Tt = target_keep.shape
    return source_keep[0].expand(B, Tt, -1)
""",
        "target words alone see the source, and only backwards": """
def mended_cross_mask(source_keep, target_keep):
    mask = source_keep[:, None, :] & target_keep[:, :, None]
    return mask & torch.ones(mask.shape[1:], dtype=torch.bool).tril()
""",
    },
    "recurrence.flops_attention": {
        "the scores alone": """
def flops_attention(T, D):
    return T * T * D
""",
        "multiplication and addition counted as two": """
def flops_attention(T, D):
    return 4 * T * T * D
""",
        "T and D exchanged": """
def flops_attention(T, D):
    return 2 * T * D * D
""",
        "with the four projections": """
def flops_attention(T, D):
    return 4 * T * D * D + 2 * T * T * D
""",
        "D - 1 additions for each score": """
def flops_attention(T, D):
    return T * T * (2 * D - 1) + T * D * (2 * T - 1)
""",
        "with the scaling of the scores": """
def flops_attention(T, D):
    return 2 * T * T * D + T * T
""",
        "each pair of words once": """
def flops_attention(T, D):
    return 2 * D * T * (T + 1) // 2
""",
        "the order of growth": """
def flops_attention(T, D):
    return T ** 2 + D
""",
        "the sums of the values as one product each": """
def flops_attention(T, D):
    return T * T * D + T * D
""",
    },
    "recurrence.flops_recurrent": {
        "one matrix": """
def flops_recurrent(T, D, gates):
    return T * D * D * gates
""",
        "gates forgotten": """
def flops_recurrent(T, D, gates):
    return 2 * T * D * D
""",
        "multiplication and addition counted as two": """
def flops_recurrent(T, D, gates):
    return 4 * T * D * D * gates
""",
        "one step less than words": """
def flops_recurrent(T, D, gates):
    return 2 * (T - 1) * D * D * gates
""",
        "with the biases": """
def flops_recurrent(T, D, gates):
    return T * gates * (2 * D * D + D)
""",
        "gates in rows and columns": """
def flops_recurrent(T, D, gates):
    return 2 * T * (gates * D) ** 2
""",
        "four gates whatever is asked": """
def flops_recurrent(T, D, gates):
    return 8 * T * D * D
""",
        "the state's matrix without gates": """
def flops_recurrent(T, D, gates):
    return T * (D * D * gates + D * D)
""",
        "one square matrix of word and state": """
def flops_recurrent(T, D, gates):
    return T * (2 * D) ** 2 * gates
""",
        "T and D exchanged": """
def flops_recurrent(T, D, gates):
    return 2 * T * T * D * gates
""",
    },
    "recurrence.path_length": {
        "words instead of steps": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T
    if architecture == "attention":
        return 1
    layers, reach = 0, 0
    while reach < T - 1:
        reach += 3 ** layers
        layers += 1
    return layers
""",
        "attention meets in no layer": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 0
    layers, reach = 0, 0
    while reach < T - 1:
        reach += 3 ** layers
        layers += 1
    return layers
""",
        "both sides of a convolution counted": """
import math

def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    return math.ceil(math.log(T, 3))
""",
        "the last layer's reach alone": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers = 1
    while 3 ** (layers - 1) < T - 1:
        layers += 1
    return layers
""",
        "taps one place apart in every layer": """
def path_length(T, architecture):
    return {"recurrent": T - 1, "attention": 1, "dilated": T - 1}[architecture]
""",
        "distances that double": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers, reach = 0, 0
    while reach < T - 1:
        reach += 2 ** layers
        layers += 1
    return layers
""",
        "T places to bridge instead of T - 1": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers, reach = 0, 0
    while reach < T:
        reach += 3 ** layers
        layers += 1
    return layers
""",
        "whole number below the logarithm": """
import math

def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    return int(math.log(2 * T - 1, 3))
""",
        "three places reached by the first layer": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers, width = 0, 1
    while width < T:
        layers += 1
        width += 3 ** layers
    return layers
""",
        "order of growth for the convolutions": """
import math

def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    return round(math.log(T) / math.log(3))
""",
    },
}

RIGHT = {
    "recurrence.recurrent_step": {
        "one product of the two joined": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(torch.cat([x, h], dim=-1) @ torch.cat([W_x, W_h]) + b)
""",
        "PyTorch's cell": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.rnn_tanh_cell(x, h, W_x.T, W_h.T, b, torch.zeros_like(b))
""",
        "numpy, in float64": """
import numpy as np

def recurrent_step(x, h, W_x, W_h, b):
    x, h, W_x, W_h, b = (np.asarray(a, dtype=float) for a in (x, h, W_x, W_h, b))
    return np.tanh(x.dot(W_x) + h.dot(W_h) + b)
""",
        "tanh from a sigmoid": """
def recurrent_step(x, h, W_x, W_h, b):
    a = torch.einsum("bd,dh->bh", x, W_x) + torch.einsum("bi,ij->bj", h, W_h) + b
    return 2 * torch.sigmoid(2 * a) - 1
""",
    },
    "recurrence.lstm_step": {
        "PyTorch's cell": """
def lstm_step(x, h, c, W_x, W_h, b):
    return torch.lstm_cell(x, (h, c), W_x.T, W_h.T, b, torch.zeros_like(b))
""",
        "gate by gate": """
def lstm_step(x, h, c, W_x, W_h, b):
    H = h.shape[1]

    def part(n):
        columns = slice(n * H, (n + 1) * H)
        return x @ W_x[:, columns] + h @ W_h[:, columns] + b[columns]

    i, f, o = (torch.sigmoid(part(n)) for n in (0, 1, 3))
    g = torch.tanh(part(2))
    new_c = f * c + i * g
    new_h = o * torch.tanh(new_c)
    return new_h, new_c
""",
        "a list, sigmoid by hand": """
def lstm_step(x, h, c, W_x, W_h, b):
    def sigmoid(a):
        return 1 / (1 + torch.exp(-a))
    gates = x @ W_x + h @ W_h + b
    i, f, g, o = torch.split(gates, h.size(1), dim=1)
    c = sigmoid(f) * c + sigmoid(i) * torch.tanh(g)
    return [sigmoid(o) * torch.tanh(c), c]
""",
        "blocks as an axis": """
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).reshape(len(x), 4, -1).unbind(1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
""",
    },
    "recurrence.encode_to_vector": {
        "sentence by sentence": """
def encode_to_vector(words, keep, W_x, W_h, b):
    out = []
    for i in range(len(words)):
        h = torch.zeros(1, W_h.shape[0])
        c = torch.zeros(1, W_h.shape[0])
        for t in range(words.shape[1]):
            if keep[i, t]:
                h, c = lstm_step(words[i, t].unsqueeze(0), h, c, W_x, W_h, b)
        out.append(h.squeeze(0))
    return torch.stack(out)
""",
        "rows that have a word are overwritten": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = torch.zeros(words.shape[0], W_h.shape[0])
    c = torch.zeros(words.shape[0], W_h.shape[0])
    for t in range(words.shape[1]):
        rows = keep[:, t]
        new_h, new_c = lstm_step(words[rows, t], h[rows], c[rows], W_x, W_h, b)
        h[rows], c[rows] = new_h, new_c
    return h
""",
        "difference times keep": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(words.shape[0], W_h.shape[0])
    for t in range(words.shape[1]):
        m = keep[:, t : t + 1].float()
        nh, nc = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h = h + m * (nh - h)
        c = c + m * (nc - c)
    return h
""",
    },
    "recurrence.additive_attention": {
        "-1e9 and bmm": """
def additive_attention(state, keys, values, W_s, v, keep):
    e = torch.tanh((state @ W_s).unsqueeze(1) + keys) @ v
    weights = torch.softmax(e.masked_fill(~keep, -1e9), dim=1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
        "einsum": """
def additive_attention(state, keys, values, W_s, v, keep):
    hidden = torch.tanh(torch.einsum("bh,ha->ba", state, W_s)[:, None, :] + keys)
    e = torch.einsum("bta,a->bt", hidden, v)
    w = torch.where(keep, e, float("-inf")).softmax(dim=-1)
    return torch.einsum("bt,bte->be", w, values), w
""",
        "word by word": """
def additive_attention(state, keys, values, W_s, v, keep):
    columns = [torch.tanh(state @ W_s + keys[:, j]) @ v for j in range(keys.shape[1])]
    e = torch.stack(columns, dim=1)
    e[~keep] = float("-inf")
    w = e.softmax(1)
    return sum(w[:, j : j + 1] * values[:, j] for j in range(keys.shape[1])), w
""",
    },
    "recurrence.dot_attention": {
        "einsum": """
def dot_attention(state, keys, values, keep):
    scores = torch.einsum("bth,bh->bt", keys, state)
    weights = scores.masked_fill(~keep, -1e9).softmax(-1)
    return torch.einsum("bt,bte->be", weights, values), weights
""",
        "matmul": """
def dot_attention(state, keys, values, keep):
    scores = torch.matmul(keys, state.unsqueeze(2)).squeeze(2)
    scores[~keep] = -torch.inf
    weights = torch.softmax(scores, dim=1)
    return torch.matmul(weights.unsqueeze(1), values).squeeze(1), weights
""",
    },
    "recurrence.decoder_block": {
        "step by step": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        normed = self.norm_own(x)
        x = x + self.own(normed, keep)
        normed = self.norm_cross(x)
        out, weights = cross_attention(normed, encoded, self.W_q, self.W_k, self.W_v, source_keep)
        x = x + out
        normed = self.norm_feed(x)
        x = x + self.feed(normed)
        return x
""",
        "the parts of the feed-forward network by hand": """
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
        a = x + self.own(self.norm_own(x), keep)
        b = a + cross_attention(self.norm_cross(a), encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        inner = torch.relu(self.feed.widen(self.norm_feed(b)))
        return b + self.feed.narrow(inner)
""",
    },
    "recurrence.cross_attention": {
        "-1e9 and einsum": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q = torch.einsum("btD,Dd->btd", dec, W_q)
    k = torch.einsum("bsD,Dd->bsd", enc, W_k)
    v = torch.einsum("bsD,Dv->bsv", enc, W_v)
    scores = torch.einsum("btd,bsd->bts", q, k) / q.shape[-1] ** 0.5
    scores = scores + (1.0 - source_keep[:, None, :].float()) * -1e9
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bts,bsv->btv", weights, v), weights
""",
        "padding cut away, sentence by sentence": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    outputs, all_weights = [], []
    for target, source, keep in zip(dec, enc, source_keep):
        words = source[keep]
        part = torch.softmax(target @ W_q @ (words @ W_k).T / W_q.size(1) ** 0.5, dim=1)
        weights = torch.zeros(len(target), len(source))
        weights[:, keep] = part
        outputs.append(part @ (words @ W_v))
        all_weights.append(weights)
    return torch.stack(outputs), torch.stack(all_weights)
""",
        "numpy, the greatest score taken off first": """
import numpy as np

def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    dec, enc, W_q, W_k, W_v = (np.asarray(a, dtype=float) for a in (dec, enc, W_q, W_k, W_v))
    keep = np.asarray(source_keep)[:, None, :]
    scores = (dec @ W_q) @ (enc @ W_k).swapaxes(1, 2) / np.sqrt(W_q.shape[1])
    scores = np.where(keep, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ (enc @ W_v), weights
""",
        "library attention for the output": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = dec @ W_q, enc @ W_k, enc @ W_v
    sdpa = torch.nn.functional.scaled_dot_product_attention
    mask = source_keep[:, None, :]
    one_hot = torch.eye(enc.shape[1]).expand(len(enc), -1, -1)
    return sdpa(q, k, v, attn_mask=mask), sdpa(q, k, one_hot, attn_mask=mask)
""",
        "log-space": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    d = W_k.shape[1]
    scores = torch.bmm(dec @ W_q, (enc @ W_k).permute(0, 2, 1)) * d ** -0.5
    scores[~source_keep[:, None, :].expand_as(scores)] = float("-inf")
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return [torch.bmm(weights, enc @ W_v), weights]
""",
    },
    "recurrence.decoder_mask": {
        "lower triangle": """
def decoder_mask(T):
    return torch.tril(torch.ones(T, T, dtype=torch.bool))
""",
        "a list of lists": """
def decoder_mask(T):
    return [[j <= i for j in range(T)] for i in range(T)]
""",
        "numpy": """
import numpy as np

def decoder_mask(T):
    return ~np.triu(np.ones((T, T), dtype=bool), k=1)
""",
        "row by row": """
def decoder_mask(T):
    mask = torch.zeros(T, T).bool()
    for i in range(T):
        mask[i, : i + 1] = True
    return mask
""",
    },
    "recurrence.shift_right": {
        "rolled, then the first column": """
def shift_right(target, bos):
    out = target.roll(1, dims=1)
    out[:, 0] = bos
    return out
""",
        "padding in front": """
def shift_right(target, bos):
    return torch.nn.functional.pad(target[:, :-1], (1, 0), value=bos)
""",
        "lists": """
def shift_right(target, bos):
    return torch.tensor([[bos] + row[:-1] for row in target.tolist()])
""",
        "numpy": """
import numpy as np

def shift_right(target, bos):
    out = np.full(target.shape, bos)
    out[:, 1:] = target[:, :-1].numpy()
    return out
""",
    },
    "recurrence.greedy_translate": {
        "written into a prepared table, ended early": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, longest + 1), pad)
    ids[:, 0] = bos
    going = torch.ones(B, dtype=torch.bool)
    for t in range(longest):
        if not going.any():
            break
        best = next_logits(ids[:, : t + 1])[:, t].max(dim=-1).indices
        ids[going, t + 1] = best[going]
        going &= best != eos
    return ids[:, 1:]
""",
        "written to the end, padded afterwards": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    while ids.shape[1] < longest + 1:
        token = next_logits(ids)[:, -1, :].argmax(dim=-1, keepdim=True)
        ids = torch.cat((ids, token), dim=1)
    out = ids[:, 1:]
    seen = (out == eos).long().cumsum(dim=1)
    behind = (seen - (out == eos).long()) > 0
    return out.masked_fill(behind, pad)
""",
        "lists of Python numbers": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    sentences = [[bos] for _ in range(B)]
    for _ in range(longest):
        logits = next_logits(torch.tensor(sentences))
        for b, sentence in enumerate(sentences):
            if eos in sentence[1:]:
                sentence.append(pad)
            else:
                sentence.append(int(logits[b, -1].argmax()))
    return torch.tensor(sentences)[:, 1:]
""",
        "the most probable after a softmax": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos, dtype=torch.int64)
    finished = torch.zeros((B, 1), dtype=torch.bool)
    for step in range(longest):
        log_p = torch.log_softmax(next_logits(ids)[:, -1:].double(), dim=-1)
        chosen = log_p.argmax(dim=-1).masked_fill(finished, pad)
        finished = finished | (chosen == eos)
        ids = torch.hstack([ids, chosen])
    return ids[:, -longest:]
""",
    },
    "recurrence.mended_cross_mask": {
        "and with ones": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep[:, None, :] & torch.ones_like(target_keep)[:, :, None]
""",
        "loops": """
def mended_cross_mask(source_keep, target_keep):
    B, Ts = source_keep.shape
    Tt = target_keep.shape[1]
    mask = torch.zeros(B, Tt, Ts, dtype=torch.bool)
    for b in range(B):
        for i in range(Tt):
            for j in range(Ts):
                mask[b, i, j] = source_keep[b, j]
    return mask
""",
        "repeated": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep.unsqueeze(1).repeat(1, target_keep.size(1), 1)
""",
        "numpy": """
import numpy as np

def mended_cross_mask(source_keep, target_keep):
    return np.repeat(np.asarray(source_keep)[:, None, :], target_keep.shape[1], axis=1)
""",
    },
    "recurrence.flops_attention": {
        "summed query by query": """
def flops_attention(T, D):
    total = 0
    for query in range(T):
        total += T * D
        total += D * T
    return total
""",
        "scores and values apart": """
def flops_attention(T, D):
    scores = T * D * T
    values = T * T * D
    return scores + values
""",
        "a float": """
def flops_attention(T, D):
    return 2.0 * T**2 * D
""",
    },
    "recurrence.flops_recurrent": {
        "word by word": """
def flops_recurrent(T, D, gates):
    total = 0
    for word in range(T):
        total += D * (gates * D) + D * (gates * D)
    return total
""",
        "counted on real matrices": """
def flops_recurrent(T, D, gates):
    W_x, W_h = torch.empty(D, gates * D), torch.empty(D, gates * D)
    return T * (W_x.numel() + W_h.numel())
""",
        "a tensor": """
def flops_recurrent(T, D, gates):
    return torch.tensor([T, 2, D, D, gates]).prod()
""",
    },
    "recurrence.path_length": {
        "in closed form, by whole numbers": """
def path_length(T, architecture):
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers = 1
    while 3**layers < 2 * T - 1:
        layers += 1
    return layers
""",
        "the leftmost place that is seen, layer by layer": """
def path_length(T, architecture):
    leftmost, steps = T - 1, 0
    while leftmost > 0:
        if architecture == "recurrent":
            leftmost -= 1
        elif architecture == "attention":
            leftmost = 0
        else:
            leftmost = max(leftmost - 3**steps, 0)
        steps += 1
    return steps
""",
        "match, with a running sum": """
def path_length(T, architecture):
    match architecture:
        case "recurrent":
            return len(range(1, T))
        case "attention":
            return 1
        case _:
            reach, dilation, layers = 0, 1, 0
            while reach < T - 1:
                reach += dilation
                dilation *= 3
                layers += 1
            return layers
""",
    },
}
