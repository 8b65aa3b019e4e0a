"""03_transformer_layer: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "transformer.sinusoid": {
        "sines in the first half, cosines in the second": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    p = torch.arange(T).float().unsqueeze(1)
    i = torch.arange(D // 2).float()
    angle = p / 10000 ** (2 * i / D)
    return torch.cat([torch.sin(angle), torch.cos(angle)], dim=1)
""",
        "exponent i over D, not 2i over D": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    pe = torch.zeros(T, D)
    for p in range(T):
        for i in range(D // 2):
            angle = torch.tensor(p / 10000 ** (i / D))
            pe[p, 2 * i] = torch.sin(angle)
            pe[p, 2 * i + 1] = torch.cos(angle)
    return pe
""",
        "every column has a frequency of its own": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    pos = torch.arange(T).unsqueeze(1).float()
    col = torch.arange(D).float()
    angle = pos / torch.pow(torch.tensor(10000.0), col / D)
    pe = torch.empty(T, D)
    pe[:, 0::2] = torch.sin(angle[:, 0::2])
    pe[:, 1::2] = torch.cos(angle[:, 1::2])
    return pe
""",
        "positions counted from one": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    pos = torch.arange(1, T + 1).unsqueeze(1)
    div = torch.exp(torch.arange(0, D, 2) * (-torch.log(torch.tensor(10000.0)) / D))
    pe = torch.zeros(T, D)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)
    return pe
""",
    },
    "transformer.layer_norm": {
        "eps added to the standard deviation": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    mu = x.mean(dim=-1, keepdim=True)
    sigma = x.var(dim=-1, unbiased=False, keepdim=True).sqrt()
    return gain * (x - mu) / (sigma + eps) + bias
""",
        "eps left out": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    mu = x.mean(-1, keepdim=True)
    sigma = x.std(-1, keepdim=True, correction=0)
    return (x - mu) / sigma * gain + bias
""",
        "default eps whatever is passed in": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), gain, bias)
""",
        "mean and variance over the words as well": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    dims = tuple(range(x.dim()))[-2:]
    mean = x.mean(dim=dims, keepdim=True)
    var = ((x - mean) ** 2).mean(dim=dims, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias
""",
    },
    "transformer.mended_positions": {
        "padding is not counted": """
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    real = ids != 0
    numbers = (real.cumsum(dim=1) - 1).clamp(min=0)
    return words[ids] + places[numbers]
""",
        "padding gets no position": """
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    B, T = ids.shape
    pos = places[torch.arange(T)].unsqueeze(0) * (ids != 0).unsqueeze(-1)
    return words[ids] + pos
""",
        "places looked up by the word's number": """
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    return words[ids] + places[ids.clamp(max=len(places) - 1)]
""",
        "positions go on from one sentence to the next": """
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    B, T = ids.shape
    numbers = torch.arange(B * T).view(B, T) % len(places)
    return words[ids] + places[numbers]
""",
    },
    "transformer.shift_matrix": {
        "turned the other way": """
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    M = torch.zeros(D, D)
    for i in range(D // 2):
        w = torch.tensor(k / 10000 ** (2 * i / D))
        M[2 * i, 2 * i] = torch.cos(w)
        M[2 * i, 2 * i + 1] = -torch.sin(w)
        M[2 * i + 1, 2 * i] = torch.sin(w)
        M[2 * i + 1, 2 * i + 1] = torch.cos(w)
    return M
""",
        "blocks for sines in one half and cosines in the other": """
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    i = torch.arange(D // 2)
    w = k / 10000 ** (2 * i / D)
    c, s = torch.diag(torch.cos(w)), torch.diag(torch.sin(w))
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)], 0)
""",
        "the identity moved down k rows": """
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    return torch.roll(torch.eye(D), shifts=k, dims=0)
""",
        "every pair turns by the same angle": """
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    import math
    c, s = math.cos(k), math.sin(k)
    block = torch.tensor([[c, s], [-s, c]])
    return torch.block_diag(*[block] * (D // 2))
""",
    },
}

RIGHT = {
    "transformer.sinusoid": {
        "filled in turn, exponent of a logarithm": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    import math
    pos = torch.arange(T).unsqueeze(1)
    div = torch.exp(torch.arange(0, D, 2) * (-math.log(10000.0) / D))
    pe = torch.zeros(T, D)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)
    return pe
""",
        "two loops": """
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    import math
    pe = torch.zeros(T, D)
    for p in range(T):
        for i in range(D // 2):
            angle = p / 10000 ** (2 * i / D)
            pe[p, 2 * i] = math.sin(angle)
            pe[p, 2 * i + 1] = math.cos(angle)
    return pe
""",
    },
    "transformer.layer_norm": {
        "the library's": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight=gain, bias=bias, eps=eps)
""",
        "mean of squares minus square of the mean, float64": """
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    y = x.double()
    mean = y.mean(-1, keepdim=True)
    var = (y**2).mean(-1, keepdim=True) - mean**2
    y = (y - mean) * torch.rsqrt(var + eps)
    return (y * gain + bias).float()
""",
    },
    "transformer.mended_positions": {
        "numbers expanded to the batch": """
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    B, T = ids.size()
    numbers = torch.arange(T).unsqueeze(0).expand(B, T)
    return torch.nn.functional.embedding(ids, words) + torch.nn.functional.embedding(numbers, places)
""",
    },
    "transformer.shift_matrix": {
        "filled by a loop": """
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    import math
    M = torch.zeros(D, D)
    for i in range(0, D, 2):
        w = k * 10000 ** (-i / D)
        M[i, i] = M[i + 1, i + 1] = math.cos(w)
        M[i, i + 1] = math.sin(w)
        M[i + 1, i] = -math.sin(w)
    return M
""",
    },
}
