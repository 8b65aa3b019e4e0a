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
    "transformer.feed_forward": {
        "input added to the result": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    h = torch.relu(x @ W_1 + b_1)
    return x + h @ W_2 + b_2
""",
        "GELU": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    h = torch.nn.functional.gelu(x @ W_1 + b_1)
    return h @ W_2 + b_2
""",
        "first bias added after the ReLU": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    h = torch.relu(x @ W_1) + b_1
    return h @ W_2 + b_2
""",
        "negative numbers made positive": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    h = (x @ W_1 + b_1).abs()
    return h @ W_2 + b_2
""",
    },
    "transformer.post_norm_layer": {
        "only the branch is normalised": """
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    a = layer_norm(self_attention(x, w, heads, keep), w["gain_1"], w["bias_1"])
    x = x + a
    f = layer_norm(feed_forward(x, w["W_1"], w["b_1"], w["W_2"], w["b_2"]), w["gain_2"], w["bias_2"])
    return x + f
""",
        "second residual comes from the layer's input": """
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    y = layer_norm(x + self_attention(x, w, heads, keep), w["gain_1"], w["bias_1"])
    z = feed_forward(y, w["W_1"], w["b_1"], w["W_2"], w["b_2"])
    return layer_norm(x + z, w["gain_2"], w["bias_2"])
""",
        "rows of padding set to zero at the end": """
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    y = layer_norm(x + self_attention(x, w, heads, keep), w["gain_1"], w["bias_1"])
    y = layer_norm(y + feed_forward(y, w["W_1"], w["b_1"], w["W_2"], w["b_2"]), w["gain_2"], w["bias_2"])
    return y * keep.unsqueeze(-1)
""",
        "mask turned round": """
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    y = layer_norm(x + self_attention(x, w, heads, ~keep), w["gain_1"], w["bias_1"])
    return layer_norm(y + feed_forward(y, w["W_1"], w["b_1"], w["W_2"], w["b_2"]), w["gain_2"], w["bias_2"])
""",
    },
    "transformer.pre_norm_layer": {
        "the second norm stands behind the sum, not inside its branch": """
def pre_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    x = x + self_attention(layer_norm(x, w["gain_1"], w["bias_1"]), w, heads, keep)
    x = x + feed_forward(x, w["W_1"], w["b_1"], w["W_2"], w["b_2"])
    return layer_norm(x, w["gain_2"], w["bias_2"])
""",
        "residual starts behind the norm": """
def pre_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    x = layer_norm(x, w["gain_1"], w["bias_1"])
    x = x + self_attention(x, w, heads, keep)
    x = layer_norm(x, w["gain_2"], w["bias_2"])
    return x + feed_forward(x, w["W_1"], w["b_1"], w["W_2"], w["b_2"])
""",
        "both branches read the input, in parallel": """
def pre_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    a = self_attention(layer_norm(x, w["gain_1"], w["bias_1"]), w, heads, keep)
    f = feed_forward(layer_norm(x, w["gain_2"], w["bias_2"]), *(w[n] for n in FEED_FORWARD))
    return x + a + f
""",
    },
    "transformer.stack": {
        "every layer reads the input": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    return torch.stack([x] + [layer(x) for layer in layers])
""",
        "the input itself is left out, and without layers it fails": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    out = []
    for layer in layers:
        x = layer(x)
        out.append(x)
    return torch.stack(out)
""",
        "a residual around every layer": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    states = [x]
    for layer in layers:
        x = x + layer(x)
        states.append(x)
    return torch.stack(states, dim=0)
""",
        "layers on the second axis": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    states = [x]
    for layer in layers:
        states.append(layer(states[-1]))
    return torch.stack(states, dim=1)
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
    "transformer.feed_forward": {
        "two linear calls": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    from torch.nn.functional import linear, relu
    return linear(relu(linear(x, W_1.T, b_1)), W_2.T, b_2)
""",
        "maximum with zero": """
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    hidden = torch.matmul(x, W_1) + b_1
    hidden = torch.maximum(hidden, torch.zeros(()))
    return torch.matmul(hidden, W_2) + b_2
""",
    },
    "transformer.post_norm_layer": {
        "step by step with the library's norm": """
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    import torch.nn.functional as F
    D = x.shape[-1]
    attended = self_attention(x, weights, heads, keep)
    y = F.layer_norm(x + attended, (D,), weights["gain_1"], weights["bias_1"])
    hidden = F.relu(y @ weights["W_1"] + weights["b_1"])
    out = hidden @ weights["W_2"] + weights["b_2"]
    return F.layer_norm(y + out, (D,), weights["gain_2"], weights["bias_2"])
""",
    },
    "transformer.pre_norm_layer": {
        "two named branches": """
def pre_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    w = weights
    normed = layer_norm(x, w["gain_1"], w["bias_1"], 1e-5)
    x_mid = x + self_attention(normed, w, heads, keep)
    normed = layer_norm(x_mid, w["gain_2"], w["bias_2"], 1e-5)
    return x_mid + feed_forward(normed, w["W_1"], w["b_1"], w["W_2"], w["b_2"])
""",
    },
    "transformer.stack": {
        "filled in place": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    out = torch.empty(len(layers) + 1, *x.shape)
    out[0] = x
    for i, layer in enumerate(layers):
        out[i + 1] = layer(out[i].clone())
    return out
""",
        "concatenated": """
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    out = x.unsqueeze(0)
    for layer in layers:
        x = layer(x)
        out = torch.cat([out, x.unsqueeze(0)], dim=0)
    return out
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
