"""Answers to the exercises of notebook 03 as students write them, each a complete cell.

WRONG holds what the task text rules out, RIGHT what it allows; by exercise, then by a phrase that says what is wrong
or unusual. The cells use what the notebook has defined by then. They were written from the task texts alone.
"""

WRONG = {
    "transformer.sinusoid": {
        "all sines first, then all cosines": """
def sinusoid(T, D):
    p = torch.arange(T).unsqueeze(1)
    i = torch.arange(D // 2)
    angle = p / 10000 ** (2 * i / D)
    return torch.cat([torch.sin(angle), torch.cos(angle)], dim=1)
""",
        "exponent i / D instead of 2i / D": """
def sinusoid(T, D):
    pe = torch.zeros(T, D)
    p = torch.arange(T).unsqueeze(1)
    i = torch.arange(D // 2)
    pe[:, 0::2] = torch.sin(p / 10000 ** (i / D))
    pe[:, 1::2] = torch.cos(p / 10000 ** (i / D))
    return pe
""",
        "the even column numbers doubled once more": """
def sinusoid(T, D):
    pe = torch.zeros(T, D)
    p = torch.arange(T).unsqueeze(1)
    i = torch.arange(0, D, 2)
    angle = p / 10000 ** (2 * i / D)
    pe[:, 0::2] = angle.sin()
    pe[:, 1::2] = angle.cos()
    return pe
""",
        "odd columns use their own column number": """
def sinusoid(T, D):
    out = torch.zeros(T, D)
    p = torch.arange(T)
    for column in range(D):
        angle = p / 10000 ** (column / D)
        out[:, column] = torch.sin(angle) if column % 2 == 0 else torch.cos(angle)
    return out
""",
        "positions count from 1": """
def sinusoid(T, D):
    out = torch.zeros(T, D)
    p = torch.arange(1, T + 1).unsqueeze(1)
    i = torch.arange(0, D, 2)
    angle = p * 10000.0 ** (-i / D)
    out[:, ::2], out[:, 1::2] = angle.sin(), angle.cos()
    return out
""",
        "base 1000": """
def sinusoid(T, D):
    angle = torch.arange(T)[:, None] / 1000 ** (torch.arange(0, D, 2) / D)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(T, D)
""",
        "clocks that get faster": """
def sinusoid(T, D):
    angle = torch.arange(T)[:, None] * 10000 ** (torch.arange(0, D, 2) / D)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(T, D)
""",
        "cosine before sine": """
def sinusoid(T, D):
    pe = torch.zeros(T, D)
    p = torch.arange(T).unsqueeze(1)
    i = torch.arange(D // 2)
    pe[:, 1::2] = torch.sin(p / 10000 ** (2 * i / D))
    pe[:, 0::2] = torch.cos(p / 10000 ** (2 * i / D))
    return pe
""",
        "frequencies from 1 to 1/10000 inclusive, as in tensor2tensor": """
def sinusoid(T, D):
    import math
    n = D // 2
    step = math.log(10000) / max(n - 1, 1)
    angle = torch.arange(T)[:, None] * torch.exp(-step * torch.arange(n))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
""",
        "whole-number division in the exponent": """
def sinusoid(T, D):
    pe = torch.zeros(T, D)
    for p in range(T):
        for i in range(D // 2):
            angle = torch.tensor(p / 10000 ** (2 * i // D))
            pe[p, 2 * i] = torch.sin(angle)
            pe[p, 2 * i + 1] = torch.cos(angle)
    return pe
""",
        "sine in every column": """
def sinusoid(T, D):
    column = torch.arange(D)
    return torch.sin(torch.arange(T)[:, None] / 10000 ** (2 * (column // 2) / D))
""",
        "positions as a share of the length": """
def sinusoid(T, D):
    p = torch.arange(T).unsqueeze(1) / T
    i = torch.arange(D // 2)
    angle = p / 10000 ** (2 * i / D)
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(T, D)
""",
        "one row for each coordinate": """
def sinusoid(T, D):
    pe = torch.zeros(D, T)
    p = torch.arange(T)
    for i in range(D // 2):
        pe[2 * i] = torch.sin(p / 10000 ** (2 * i / D))
        pe[2 * i + 1] = torch.cos(p / 10000 ** (2 * i / D))
    return pe
""",
    },
    "transformer.layer_norm": {
        "variance divided by D - 1": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True)
    return gain * (x - mean) / torch.sqrt(var + eps) + bias
""",
        "eps outside the root": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    std = x.std(dim=-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / (std + eps) + bias
""",
        "the tutorial's norm": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + eps) + bias
""",
        "no eps": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / var.sqrt() * gain + bias
""",
        "eps written as 1e-5, the argument ignored": """
def layer_norm(x, gain, bias, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mu) / torch.sqrt(var + 1e-5) * gain + bias
""",
        "library function with its own eps": """
def layer_norm(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), gain, bias)
""",
        "mean and variance over the words": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-2, keepdim=True)
    var = x.var(-2, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias
""",
        "mean and variance over the batch": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(0, keepdim=True)
    var = x.var(0, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias
""",
        "one mean and variance for everything": """
def layer_norm(x, gain, bias, eps=1e-5):
    return (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + eps) * gain + bias
""",
        "divided by the variance, without the root": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps) * gain + bias
""",
        "bias added before the gain": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return ((x - mean) / torch.sqrt(var + eps) + bias) * gain
""",
        "gain and bias left out": """
def layer_norm(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=eps)
""",
        "not centred": """
def layer_norm(x, gain, bias, eps=1e-5):
    var = x.var(-1, keepdim=True, unbiased=False)
    return x / torch.sqrt(var + eps) * gain + bias
""",
        "root mean square of what is not centred": """
def layer_norm(x, gain, bias, eps=1e-5):
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain + bias
""",
        "eps squared under the root": """
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    var = centred.square().mean(-1, keepdim=True)
    return centred / (var + eps ** 2).sqrt() * gain + bias
""",
        "eps as a lower bound of the variance": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False).clamp(min=eps)
    return (x - mean) / var.sqrt() * gain + bias
""",
        "sum of squares instead of their mean": """
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred ** 2).sum(-1, keepdim=True) + eps) * gain + bias
""",
    },
    "transformer.MultiHeadAttention": {
        "mask forgotten": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, keep):
        B, T, D = x.shape
        d = D // self.heads
        q = self.query(x).view(B, T, self.heads, d).transpose(1, 2)
        k = self.key(x).view(B, T, self.heads, d).transpose(1, 2)
        v = self.value(x).view(B, T, self.heads, d).transpose(1, 2)
        weights = torch.softmax(q @ k.transpose(-1, -2) / d ** 0.5, dim=-1)
        return self.output((weights @ v).transpose(1, 2).reshape(B, T, D))
""",
        "the maps in a list": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.layers = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = [layer(x).view(B, T, self.heads, -1).transpose(1, 2) for layer in self.layers[:3]]
        scores = q @ k.mT / (D // self.heads) ** 0.5
        scores = scores.masked_fill(~keep[:, None], float("-inf"))
        return self.layers[3]((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "the names of PyTorch": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = [W(x).view(B, T, self.heads, -1).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)]
        scores = q @ k.mT / (D // self.heads) ** 0.5
        scores = scores.masked_fill(~keep[:, None], float("-inf"))
        return self.W_o((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "super().__init__() forgotten": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, keep):
        return x
""",
        "view without transpose": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = [f(x).view(B, self.heads, T, -1) for f in (self.query, self.key, self.value)]
        scores = q @ k.mT / (D // self.heads) ** 0.5
        scores = scores.masked_fill(~keep[:, None], float("-inf"))
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
        "scaled by dim, not by the head's size": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.dim = heads, dim
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        q, k, v = [f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value)]
        scores = (q @ k.mT / self.dim ** 0.5).masked_fill(~keep.unsqueeze(1), -1e9)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
""",
        "no heads at all": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = (q @ k.mT / self.d ** 0.5).masked_fill(~keep, -1e9)
        return self.output(scores.softmax(-1) @ v)
""",
        "the output projection forgotten in forward": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        q, k, v = [f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value)]
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~keep[:, None], -1e9)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
""",
        "PyTorch's mask: True hides": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        q, k, v = [f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value)]
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(keep[:, None], -1e9)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
""",
    },
    "transformer.FeedForward": {
        "no activation": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)

    def forward(self, x):
        return self.narrow(self.widen(x))
""",
        "ReLU for all": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)

    def forward(self, x):
        return self.narrow(relu(self.widen(x)))
""",
        "the exact GELU for both": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.f = relu if activation == "relu" else gelu

    def forward(self, x):
        return self.narrow(self.f(self.widen(x)))
""",
        "the formula for both": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.activation = activation

    def forward(self, x):
        z = self.widen(x)
        if self.activation == "relu":
            z = z.clamp(min=0)
        else:
            z = 0.5 * z * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (z + 0.044715 * z ** 3)))
        return self.narrow(z)
""",
        "layers in a list": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.layers = [nn.Linear(dim, inner), nn.Linear(inner, dim)]
        self.activation = activation

    def forward(self, x):
        z = self.layers[0](x)
        z = {"relu": relu, "gelu": gelu, "gelu_tanh": lambda z: gelu(z, approximate="tanh")}[self.activation](z)
        return self.layers[1](z)
""",
        "an nn.Sequential": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        act = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh")}[activation]
        self.net = nn.Sequential(nn.Linear(dim, inner), act, nn.Linear(inner, dim))

    def forward(self, x):
        return self.net(x)
""",
        "the residual inside": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.act = {"relu": relu, "gelu": gelu, "gelu_tanh": lambda z: gelu(z, approximate="tanh")}[activation]

    def forward(self, x):
        return x + self.narrow(self.act(self.widen(x)))
""",
        "a quick sigmoid for GELU": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.act = {"relu": relu, "gelu": lambda z: z * torch.sigmoid(1.702 * z), "gelu_tanh": lambda z: gelu(z, approximate="tanh")}[activation]

    def forward(self, x):
        return self.narrow(self.act(self.widen(x)))
""",
        "sizes the wrong way round": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(inner, dim)
        self.narrow = nn.Linear(dim, inner)
        self.act = {"relu": relu, "gelu": gelu, "gelu_tanh": lambda z: gelu(z, approximate="tanh")}[activation]

    def forward(self, x):
        return self.narrow(self.act(self.widen(x)))
""",
    },
    "transformer.Dropout": {
        "self.training forgotten": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if draws is None:
            draws = torch.rand_like(x)
        return torch.where(draws < self.p, 0.0, x / (1 - self.p))
""",
        "what stays is not scaled": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        return x * (draws > self.p)
""",
        "keeps with probability p": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x
        if draws is None:
            draws = torch.rand_like(x)
        mask = (draws < self.p).float()
        return x * mask / (1 - self.p)
""",
        "the recipe of 2014": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x * (1 - self.p)
        draws = torch.rand_like(x) if draws is None else draws
        return x * (draws >= self.p)
""",
        "draws needed": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training or draws is None:
            return x
        return torch.where(draws < self.p, 0.0, x / (1 - self.p))
""",
        "training and evaluation exchanged": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        return torch.where(draws < self.p, 0.0, x / (1 - self.p))
""",
        "writes into x": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        x[draws < self.p] = 0
        return x / (1 - self.p)
""",
        "divides by p": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training or self.p == 0:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        return x * (draws >= self.p) / self.p
""",
    },
    "transformer.Block": {
        "no residuals": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = self.drop(self.attention(self.norm_attention(x), keep))
            return self.drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(self.drop(self.feed_forward(x)))
""",
        "one norm for both places": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        norm = nn.LayerNorm(dim, eps=eps)
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = norm
        self.norm_feed_forward = norm
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.drop(self.attention(self.norm_attention(x), keep))
            return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
""",
        "dropout in evaluation": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.p = dropout
        self.norm_first = norm_first

    def forward(self, x, keep):
        F = nn.functional
        if self.norm_first:
            x = x + F.dropout(self.attention(self.norm_attention(x), keep), self.p)
            return x + F.dropout(self.feed_forward(self.norm_feed_forward(x)), self.p)
        x = self.norm_attention(x + F.dropout(self.attention(x, keep), self.p))
        return self.norm_feed_forward(x + F.dropout(self.feed_forward(x), self.p))
""",
        "dropout left out": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.attention(self.norm_attention(x), keep)
            return x + self.feed_forward(self.norm_feed_forward(x))
        x = self.norm_attention(x + self.attention(x, keep))
        return self.norm_feed_forward(x + self.feed_forward(x))
""",
        "norm_first ignored": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)

    def forward(self, x, keep):
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
""",
        "pre-norm with the normed x on the road": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = self.norm_attention(x)
            x = x + self.drop(self.attention(x, keep))
            x = self.norm_feed_forward(x)
            return x + self.drop(self.feed_forward(x))
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
""",
        "eps forgotten": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim)
        self.norm_feed_forward = nn.LayerNorm(dim)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.drop(self.attention(self.norm_attention(x), keep))
            return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
""",
        "names norm1 and norm2": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.drop(self.attention(self.norm1(x), keep))
            return x + self.drop(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.drop(self.attention(x, keep)))
        return self.norm2(x + self.drop(self.feed_forward(x)))
""",
        "the sum dropped": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = self.drop(x + self.attention(self.norm_attention(x), keep))
            return self.drop(x + self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(self.drop(x + self.attention(x, keep)))
        return self.norm_feed_forward(self.drop(x + self.feed_forward(x)))
""",
        "the activation left at its default": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.drop(self.attention(self.norm_attention(x), keep))
            return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
""",
        "the last norm missing in post-norm": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.drop = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + self.drop(self.attention(self.norm_attention(x), keep))
            return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return x + self.drop(self.feed_forward(x))
""",
        "added in place, over what the norm still needs for its gradient": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x.clone()
            x += self.dropout(self.attention(self.norm_attention(x), keep))
            x = x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))
            return x
        x = self.norm_attention(x + self.dropout(self.attention(x, keep)))
        x = self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))
        return x
""",
        "the residuals without a gradient": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            residual = x.clone().detach()
            x = residual + self.dropout(self.attention(self.norm_attention(x), keep))
            residual = x.clone().detach()
            return residual + self.dropout(self.feed_forward(self.norm_feed_forward(x)))
        residual = x.clone().detach()
        x = self.norm_attention(residual + self.dropout(self.attention(x, keep)))
        residual = x.clone().detach()
        return self.norm_feed_forward(residual + self.dropout(self.feed_forward(x)))
""",
    },
    "transformer.training_step": {
        "zero_grad forgotten": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "padding in the loss": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    logits = model(ids)
    loss = cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "clipped after the step": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    return loss.item()
""",
        "clipped before backward": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    optimiser.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    loss = cross_entropy(model(ids)[counts], targets[counts])
    loss.backward()
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "step before backward": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    optimiser.zero_grad()
    loss = cross_entropy(model(ids)[counts], targets[counts])
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    return loss.item()
""",
        "the rate not set": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    optimiser.step()
    return loss.item()
""",
        "only the first group's rate": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    optimiser.param_groups[0]["lr"] = rate
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    optimiser.step()
    return loss.item()
""",
        "model.train() forgotten": """
def training_step(model, batch, optimiser, rate, most):
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "no return": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
""",
        "masked, then the mean over all": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids).transpose(1, 2), targets, reduction="none")
    loss = (loss * counts).mean()
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "clip_grad_value_": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
    },
    "transformer.Embeddings": {
        "the table as a plain tensor": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = sinusoid(tokens, dim)

    def forward(self, ids):
        return self.token(ids) + self.position[: ids.shape[1]]
""",
        "the table as a parameter": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = nn.Parameter(sinusoid(tokens, dim))

    def forward(self, ids):
        return self.token(ids) + self.position[: ids.shape[1]]
""",
        "frozen instead of a buffer": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = nn.Parameter(sinusoid(tokens, dim), requires_grad=False)

    def forward(self, ids):
        return self.token(ids) + self.position[: ids.size(1)]
""",
        "the batch instead of the words": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids):
        return self.token(ids) + self.position[torch.arange(ids.size(0)).unsqueeze(1)]
""",
        "the whole table": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids):
        return self.token(ids) + self.position
""",
        "scaled as in the paper": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))
        self.dim = dim

    def forward(self, ids):
        return self.token(ids) * self.dim ** 0.5 + self.position[: ids.shape[1]]
""",
        "no positions": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids):
        return self.token(ids)
""",
    },
    "transformer.collate": {
        "the mask by the zeros": """
def collate(rows):
    T = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (T - len(row)) for row in rows])
    return ids, ids != 0
""",
        "the mask of what is padded": """
def collate(rows):
    T = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (T - len(row)) for row in rows])
    mask = torch.tensor([[False] * len(row) + [True] * (T - len(row)) for row in rows])
    return ids, mask
""",
        "padding on the left": """
def collate(rows):
    T = max(len(row) for row in rows)
    ids = torch.tensor([[0] * (T - len(row)) + row for row in rows])
    mask = torch.tensor([[False] * (T - len(row)) + [True] * len(row) for row in rows])
    return ids, mask
""",
        "pad_sequence as it is": """
def collate(rows):
    rows = [torch.tensor(row, dtype=torch.long) for row in rows]
    ids = nn.utils.rnn.pad_sequence(rows)
    mask = nn.utils.rnn.pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in rows])
    return ids, mask
""",
        "cut to the shortest": """
def collate(rows):
    T = min(len(row) for row in rows)
    ids = torch.tensor([row[:T] for row in rows])
    return ids, torch.ones(ids.shape, dtype=torch.bool)
""",
        "no mask": """
def collate(rows):
    T = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (T - len(row)) for row in rows])
""",
        "lengths instead of a mask": """
def collate(rows):
    T = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (T - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])
""",
    },
    "transformer.mended_positions": {
        "the bug as it was": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(0)).unsqueeze(1)
    return words[ids] + places[numbers]
""",
        "size(1), with the unsqueeze left in": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(1)).unsqueeze(1)
    return words[ids] + places[numbers]
""",
        "positions looked up by word": """
def mended_positions(ids, words, places):
    return words[ids] + places[ids]
""",
        "the first word gets row 1": """
def mended_positions(ids, words, places):
    T = ids.shape[1]
    return words[ids] + places[1 : T + 1]
""",
        "padding not counted": """
def mended_positions(ids, words, places):
    real = ids != 0
    numbers = (real.cumsum(1) - 1).clamp(min=0)
    return words[ids] + places[numbers]
""",
        "padding without a position": """
def mended_positions(ids, words, places):
    T = ids.shape[1]
    return words[ids] + places[:T] * (ids != 0)[..., None]
""",
        "rows from the end of the table": """
def mended_positions(ids, words, places):
    return words[ids] + places[-ids.shape[1]:]
""",
        "counted from the last word": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.shape[1] - 1, -1, -1)
    return words[ids] + places[numbers]
""",
        "the sinusoid instead of the table given": """
def mended_positions(ids, words, places):
    return words[ids] + sinusoid(ids.shape[1], words.shape[1])
""",
        "numbered through the whole batch": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.numel()).reshape(ids.shape)
    return words[ids] + places[numbers % len(places)]
""",
        "no positions": """
def mended_positions(ids, words, places):
    return words[ids]
""",
        "words scaled by the root of D, as in the paper": """
def mended_positions(ids, words, places):
    return words[ids] * words.shape[1] ** 0.5 + places[: ids.shape[1]]
""",
        "the whole table added": """
def mended_positions(ids, words, places):
    return words[ids] + places
""",
        "positions alone": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.shape[1]).expand_as(ids)
    return places[numbers]
""",
    },
    "transformer.shift_matrix": {
        "transposed": """
def shift_matrix(k, D):
    M = torch.zeros(D, D)
    for i in range(D // 2):
        a = torch.tensor(k / 10000 ** (2 * i / D))
        M[2 * i, 2 * i] = M[2 * i + 1, 2 * i + 1] = torch.cos(a)
        M[2 * i, 2 * i + 1] = -torch.sin(a)
        M[2 * i + 1, 2 * i] = torch.sin(a)
    return M
""",
        "the sine positive on both sides": """
def shift_matrix(k, D):
    M = torch.zeros(D, D)
    for i in range(D // 2):
        a = torch.tensor(k / 10000 ** (2 * i / D))
        c, s = torch.cos(a), torch.sin(a)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [s, c]])
    return M
""",
        "first half sines, second half cosines": """
def shift_matrix(k, D):
    angle = k / 10000 ** (torch.arange(0, D, 2) / D)
    C, S = torch.diag(angle.cos()), torch.diag(angle.sin())
    return torch.cat([torch.cat([C, S], 1), torch.cat([-S, C], 1)])
""",
        "one angle for all pairs": """
def shift_matrix(k, D):
    k = torch.tensor(float(k))
    block = torch.stack([torch.stack([k.cos(), k.sin()]), torch.stack([-k.sin(), k.cos()])])
    return torch.block_diag(*[block] * (D // 2))
""",
        "exponent i / D": """
def shift_matrix(k, D):
    import math
    M = torch.zeros(D, D)
    for i in range(D // 2):
        a = k * 10000 ** (-i / D)
        M[2*i, 2*i], M[2*i, 2*i+1] = math.cos(a), math.sin(a)
        M[2*i+1, 2*i], M[2*i+1, 2*i+1] = -math.sin(a), math.cos(a)
    return M
""",
        "the size of k without its sign": """
def shift_matrix(k, D):
    import math
    M = torch.zeros(D, D)
    for i in range(D // 2):
        a = abs(k) * 10000 ** (-2 * i / D)
        M[2*i, 2*i], M[2*i, 2*i+1] = math.cos(a), math.sin(a)
        M[2*i+1, 2*i], M[2*i+1, 2*i+1] = -math.sin(a), math.cos(a)
    return M
""",
        "coordinates moved by k places": """
def shift_matrix(k, D):
    return torch.roll(torch.eye(D), k, dims=0)
""",
        "least squares over some positions": """
def shift_matrix(k, D):
    positions = torch.arange(D)[:, None]
    frequency = 10000 ** (-torch.arange(0, D, 2) / D)
    def pe(p):
        return torch.stack([(p * frequency).sin(), (p * frequency).cos()], -1).flatten(1)
    return torch.linalg.lstsq(pe(positions), pe(positions + k)).solution
""",
        "cosines alone": """
def shift_matrix(k, D):
    angle = k / 10000 ** (torch.arange(0, D, 2) / D)
    return torch.diag(angle.cos().repeat_interleave(2))
""",
        "size 50 written as a number": """
def shift_matrix(k, D):
    import math
    M = torch.zeros(50, 50)
    for i in range(25):
        a = k * 10000 ** (-2 * i / 50)
        M[2*i, 2*i], M[2*i, 2*i+1] = math.cos(a), math.sin(a)
        M[2*i+1, 2*i], M[2*i+1, 2*i+1] = -math.sin(a), math.cos(a)
    return M
""",
        "the product of two position vectors": """
def shift_matrix(k, D):
    table = sinusoid(abs(k) + 1, D)
    return torch.outer(table[k], table[0])
""",
    },
}

RIGHT = {
    "transformer.sinusoid": {
        "one number at a time": """
def sinusoid(T, D):
    import math
    table = torch.zeros(T, D)
    for p in range(T):
        for i in range(D // 2):
            table[p, 2 * i] = math.sin(p / 10000 ** (2 * i / D))
            table[p, 2 * i + 1] = math.cos(p / 10000 ** (2 * i / D))
    return table
""",
        "numpy, in float64": """
import numpy as np

def sinusoid(T, D):
    angle = np.arange(T)[:, None] / 10000 ** (2 * np.arange(D // 2) / D)
    table = np.empty((T, D))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
""",
        "exponential of a logarithm, in float32": """
import math

def sinusoid(T, D):
    pe = torch.zeros(T, D)
    position = torch.arange(0, T).unsqueeze(1).float()
    div_term = torch.exp(torch.arange(0, D, 2).float() * -(math.log(10000.0) / D))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
""",
        "cosine as a shifted sine": """
import math

def sinusoid(T, D):
    column = torch.arange(D)
    angle = torch.arange(T).double()[:, None] * 10000.0 ** (-2 * (column // 2).double() / D)
    return (angle + math.pi / 2 * (column % 2)).sin().float()
""",
        "complex numbers": """
def sinusoid(T, D):
    angle = torch.outer(torch.arange(T).float(), 10000 ** (-2 * torch.arange(D // 2) / D))
    hands = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(hands).flip(-1).reshape(T, D)
""",
    },
    "transformer.layer_norm": {
        "library function": """
def layer_norm(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps)
""",
        "torch.var with correction 0": """
def layer_norm(x, gain, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * gain + bias
""",
        "numpy, in float64": """
import numpy as np

def layer_norm(x, gain, bias, eps=1e-5):
    x, gain, bias = (np.asarray(a, dtype=np.float64) for a in (x, gain, bias))
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * gain + bias
""",
        "word by word": """
def layer_norm(x, gain, bias, eps=1e-5):
    rows = []
    for word in x.reshape(-1, x.shape[-1]):
        mean = sum(word) / len(word)
        variance = sum((v - mean) ** 2 for v in word) / len(word)
        rows.append((word - mean) / (variance + eps) ** 0.5 * gain + bias)
    return torch.stack(rows).reshape(x.shape)
""",
        "mean of the squares less the square of the mean": """
def layer_norm(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return gain * (x - mean) / torch.sqrt(variance + eps) + bias
""",
    },
    "transformer.MultiHeadAttention": {
        "PyTorch's attention with the mask as it comes": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        h, d = self.heads, D // self.heads
        q = self.query(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        k = self.key(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        v = self.value(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        return self.output(nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep.unsqueeze(1)).permute(0, 2, 1, 3).reshape(B, T, D))
""",
        "PyTorch's multi_head_attention_forward": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.dim, self.heads = dim, heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(dim, dim))
    def forward(self, x, keep):
        B, T, D = x.shape
        mask = (~keep).expand(B, T, T).repeat_interleave(self.heads, 0)
        out, _ = nn.functional.multi_head_attention_forward(
            x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), D, self.heads,
            torch.cat([self.query.weight, self.key.weight, self.value.weight]),
            torch.cat([self.query.bias, self.key.bias, self.value.bias]), None, None, False, 0.0,
            self.output.weight, self.output.bias, attn_mask=mask, need_weights=False)
        return out.transpose(0, 1)
""",
        "a loop over slices, -1e9, maps made by a partial": """
from functools import partial
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        make = partial(nn.Linear, dim, dim, bias=True)
        self.query, self.key, self.value, self.output = make(), make(), make(), make()
        self.slices = [slice(h * dim // heads, (h + 1) * dim // heads) for h in range(heads)]
    def forward(self, x, keep):
        outs = []
        for s in self.slices:
            q, k, v = self.query(x)[..., s], self.key(x)[..., s], self.value(x)[..., s]
            scores = torch.bmm(q, k.transpose(1, 2)) * q.size(-1) ** -0.5
            outs.append(torch.softmax(torch.where(keep, scores, torch.tensor(-1e9)), -1) @ v)
        return self.output(torch.cat(outs, -1))
""",
        "the scale as a buffer that is not saved": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.register_buffer('scale', torch.tensor((dim // heads) ** -0.5), persistent=False)
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        h, d = self.heads, D // self.heads
        q = self.query(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        k = self.key(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        v = self.value(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        s = q @ k.mT * self.scale
        s = s.masked_fill(~keep.unsqueeze(1), float("-inf"))
        return self.output((s.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(B, T, D))
""",
        "softmax in float64": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        B, T, D = x.shape
        h, d = self.heads, D // self.heads
        q = self.query(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        k = self.key(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        v = self.value(x).reshape(B, T, h, d).permute(0, 2, 1, 3)
        s = q @ k.mT / d ** 0.5
        s = s.masked_fill(~keep.unsqueeze(1), float("-inf"))
        return self.output((s.double().softmax(-1).float() @ v).permute(0, 2, 1, 3).reshape(B, T, D))
""",
        "PyTorch's attention inside": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.num_heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)

    def forward(self, x, keep):
        B, T, D = x.shape
        split = lambda y: y.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2)
        out = nn.functional.scaled_dot_product_attention(
            split(self.query(x)), split(self.key(x)), split(self.value(x)), attn_mask=keep[:, None]
        )
        return self.output(out.transpose(1, 2).contiguous().view(B, T, D))
""",
        "head by head": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.query, self.key, self.value, self.output = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, x, keep):
        q, k, v = self.query(x), self.key(x), self.value(x)
        out = []
        for h in range(self.heads):
            c = slice(h * self.d, (h + 1) * self.d)
            s = q[..., c] @ k[..., c].transpose(1, 2) / self.d ** 0.5
            s = s.masked_fill(keep.logical_not(), -1e9)
            out.append(torch.softmax(s, 2) @ v[..., c])
        return self.output(torch.cat(out, dim=2))
""",
    },
    "transformer.FeedForward": {
        "modules for the activations": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.act = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh")}[activation]

    def forward(self, x):
        return self.narrow(self.act(self.widen(x)))
""",
        "match": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen, self.narrow, self.name = nn.Linear(dim, inner), nn.Linear(inner, dim), activation

    def forward(self, x):
        h = self.widen(x)
        match self.name:
            case "relu":
                h = torch.maximum(h, torch.zeros_like(h))
            case "gelu":
                h = h * torch.distributions.Normal(0, 1).cdf(h)
            case "gelu_tanh":
                h = gelu(h, approximate="tanh")
        return self.narrow(h)
""",
    },
    "transformer.Dropout": {
        "functional dropout where no draws come": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if self.training:
            if draws is None:
                return nn.functional.dropout(x, self.p, True)
            x = torch.where(draws < self.p, torch.zeros_like(x), x / (1 - self.p))
        return x
""",
        "bernoulli where no draws come": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if self.training:
            if draws is None:
                return x * torch.empty_like(x).bernoulli_(1 - self.p) / (1 - self.p)
            x = torch.where(draws < self.p, torch.zeros_like(x), x / (1 - self.p))
        return x
""",
        "a mask of floats": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if self.training is False:
            return x
        if draws is None:
            draws = torch.rand(*x.shape)
        mask = (draws >= self.p).float()
        return mask * x / (1.0 - self.p)
""",
        "a copy with zeros written into it": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        y = x.clone() / (1 - self.p)
        y[draws < self.p] = 0
        return y
""",
    },
    "transformer.Block": {
        "functional dropout that is told the mode": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.p = dropout
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            x = x + nn.functional.dropout(p=self.p, training=self.training, input=self.attention(self.norm_attention(x), keep))
            x = x + nn.functional.dropout(p=self.p, training=self.training, input=self.feed_forward(self.norm_feed_forward(x)))
            return x
        x = self.norm_attention(x + nn.functional.dropout(p=self.p, training=self.training, input=self.attention(x, keep)))
        x = self.norm_feed_forward(x + nn.functional.dropout(p=self.p, training=self.training, input=self.feed_forward(x)))
        return x
""",
        "two methods for the two orders, parts by add_module": """
from functools import partial
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        nn.Module.__init__(self)
        self.add_module("attention", MultiHeadAttention(dim, heads))
        self.add_module("feed_forward", FeedForward(dim, inner, activation))
        norm = partial(nn.LayerNorm, dim, eps)
        self.norm_attention, self.norm_feed_forward = norm(), norm()
        self.drop = Dropout(dropout)
        self.order = self.pre if norm_first else self.post
    def pre(self, x, part, norm):
        return x + self.drop(part(norm(x)))
    def post(self, x, part, norm):
        return norm(x + self.drop(part(x)))
    def forward(self, x, keep):
        x = self.order(x, lambda z: self.attention(z, keep), self.norm_attention)
        return self.order(x, self.feed_forward, self.norm_feed_forward)
""",
        "added in place to what a part gives": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout = Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, keep):
        if self.norm_first:
            y = self.dropout(self.attention(self.norm_attention(x), keep))
            y += x
            z = self.dropout(self.feed_forward(self.norm_feed_forward(y)))
            z += y
            return z
        x = self.norm_attention(x + self.dropout(self.attention(x, keep)))
        x = self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))
        return x
""",
        "two methods": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)
        self.attention, self.feed_forward = MultiHeadAttention(dim, heads), FeedForward(dim, inner, activation)
        self.drop = nn.Dropout(dropout)
        self.norm_first = norm_first

    def pre(self, x, keep):
        x = x + self.drop(self.attention(self.norm_attention(x), keep))
        return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))

    def post(self, x, keep):
        x = self.norm_attention(x + self.drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))

    def forward(self, x, keep):
        return self.pre(x, keep) if self.norm_first else self.post(x, keep)
""",
        "functional dropout with training": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.p, self.norm_first = dropout, norm_first

    def forward(self, x, keep):
        residual = x
        h = self.norm_attention(x) if self.norm_first else x
        h = nn.functional.dropout(self.attention(h, keep), self.p, self.training)
        x = residual + h
        if not self.norm_first:
            x = self.norm_attention(x)
        residual = x
        h = self.norm_feed_forward(x) if self.norm_first else x
        h = nn.functional.dropout(self.feed_forward(h), self.p, self.training)
        x = residual + h
        return x if self.norm_first else self.norm_feed_forward(x)
""",
    },
    "transformer.training_step": {
        "ignore_index": """
def training_step(model, batch, optimiser, rate, most):
    ids, targets, counts = batch
    model.train()
    optimiser.zero_grad()
    logits = model(ids)
    labels = torch.where(counts, targets, -100)
    loss = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), most)
    for g in optimiser.param_groups:
        g["lr"] = rate
    optimiser.step()
    return loss.item()
""",
        "a mask that multiplies": """
def training_step(model, batch, optimiser, rate, most):
    for g in optimiser.param_groups:
        g["lr"] = rate
    model.train()
    ids, targets, counts = batch
    losses = cross_entropy(model(ids).permute(0, 2, 1), targets, reduction="none")
    loss = (losses * counts).sum() / counts.sum()
    for p in model.parameters():
        p.grad = None
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    optimiser.step()
    return loss
""",
    },
    "transformer.Embeddings": {
        "positions by index": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids):
        B, T = ids.shape
        return self.token(ids) + self.position[torch.arange(T)].expand(B, -1, -1)
""",
        "an unsqueezed slice": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.register_buffer("position", sinusoid(tokens, dim))
        self.token = nn.Embedding(vocabulary, dim)

    def forward(self, ids):
        words = nn.functional.embedding(ids, self.token.weight)
        return words + self.position[: ids.size(1)].unsqueeze(0)
""",
    },
    "transformer.collate": {
        "pad_sequence with the batch first": """
def collate(rows):
    lengths = torch.tensor([len(row) for row in rows])
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True)
    return ids, torch.arange(ids.shape[1])[None] < lengths[:, None]
""",
        "two lists": """
def collate(rows):
    T = max(len(row) for row in rows)
    ids = [row + [0] * (T - len(row)) for row in rows]
    mask = [[True] * len(row) + [False] * (T - len(row)) for row in rows]
    return torch.tensor(ids), torch.tensor(mask)
""",
    },
    "transformer.mended_positions": {
        "size(1), with the axis in front": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(1)).unsqueeze(0)
    return words[ids] + places[numbers]
""",
        "one word at a time": """
def mended_positions(ids, words, places):
    B, T = ids.shape
    out = torch.zeros(B, T, words.shape[1])
    for b in range(B):
        for t in range(T):
            out[b, t] = words[ids[b, t]] + places[t]
    return out
""",
        "library embedding": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.shape[1]).expand_as(ids)
    embedding = torch.nn.functional.embedding
    return embedding(ids, words) + embedding(numbers, places)
""",
        "one-hot products": """
def mended_positions(ids, words, places):
    chosen = torch.nn.functional.one_hot(ids, len(words)).to(words.dtype) @ words
    return chosen + places[: ids.shape[1]][None]
""",
    },
    "transformer.shift_matrix": {
        "one pair at a time": """
def shift_matrix(k, D):
    import math
    M = torch.zeros(D, D)
    for i in range(D // 2):
        angle = k / 10000 ** (2 * i / D)
        M[2 * i, 2 * i] = M[2 * i + 1, 2 * i + 1] = math.cos(angle)
        M[2 * i, 2 * i + 1] = math.sin(angle)
        M[2 * i + 1, 2 * i] = -math.sin(angle)
    return M
""",
        "matrix exponential, in float64": """
def shift_matrix(k, D):
    rate = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    turns = [torch.tensor([[0.0, w], [-w, 0.0]], dtype=torch.float64) for w in rate.tolist()]
    return torch.linalg.matrix_exp(k * torch.block_diag(*turns))
""",
        "numpy": """
import numpy as np

def shift_matrix(k, D):
    angle = k / 10000 ** (np.arange(0, D, 2) / D)
    even, odd = np.arange(0, D, 2), np.arange(1, D, 2)
    M = np.zeros((D, D))
    M[even, even] = M[odd, odd] = np.cos(angle)
    M[even, odd], M[odd, even] = np.sin(angle), -np.sin(angle)
    return M
""",
        "from the table's own rows": """
def shift_matrix(k, D):
    row = sinusoid(abs(k) + 1, D)[abs(k)]
    sine, cosine = row[0::2], row[1::2]
    if k < 0:
        sine = -sine
    M = torch.zeros(D, D)
    even = torch.arange(0, D, 2)
    M[even, even], M[even + 1, even + 1] = cosine, cosine
    M[even, even + 1], M[even + 1, even] = sine, -sine
    return M
""",
    },
}
