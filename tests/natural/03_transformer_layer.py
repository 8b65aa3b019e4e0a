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
    "transformer.feed_forward": {
        "no ReLU": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (x @ W_1 + b_1) @ W_2 + b_2
""",
        "GELU": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return torch.nn.functional.gelu(x @ W_1 + b_1) @ W_2 + b_2
""",
        "ReLU after the second map": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return torch.relu((x @ W_1 + b_1) @ W_2 + b_2)
""",
        "ReLU after both maps": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = torch.relu(x @ W_1 + b_1)
    return torch.relu(hidden @ W_2 + b_2)
""",
        "first bias added after the ReLU": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (torch.relu(x @ W_1) + b_1) @ W_2 + b_2
""",
        "first bias forgotten": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return torch.relu(x @ W_1) @ W_2 + b_2
""",
        "second bias forgotten": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = torch.relu(x @ W_1 + b_1)
    return hidden @ W_2
""",
        "leaky ReLU": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return torch.nn.functional.leaky_relu(x @ W_1 + b_1) @ W_2 + b_2
""",
        "the residual added already": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return x + torch.relu(x @ W_1 + b_1) @ W_2 + b_2
""",
        "absolute value": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return torch.abs(x @ W_1 + b_1) @ W_2 + b_2
""",
        "ReLU on the input": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (torch.relu(x) @ W_1 + b_1) @ W_2 + b_2
""",
        "matrices given to linear as they are": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    linear = torch.nn.functional.linear
    return linear(torch.relu(linear(x, W_1, b_1)), W_2, b_2)
""",
        "the batch flattened away": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    rows = x.reshape(-1, x.shape[-1])
    return torch.relu(rows @ W_1 + b_1) @ W_2 + b_2
""",
        "maximum over the word instead of ReLU": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1 + b_1
    hidden = hidden * (hidden == hidden.max(dim=-1, keepdim=True).values)
    return hidden @ W_2 + b_2
""",
    },
    "transformer.post_norm_layer": {
        "no residual around the attention": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    ff = feed_forward(x, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"])
    return layer_norm(x + ff, weights["gain_2"], weights["bias_2"])
""",
        "no residual around the feed-forward network": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    ff = feed_forward(x, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"])
    return layer_norm(ff, weights["gain_2"], weights["bias_2"])
""",
        "the two norms exchanged": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_2"], weights["bias_2"])
    ff = feed_forward(x, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"])
    return layer_norm(x + ff, weights["gain_1"], weights["bias_1"])
""",
        "the first norm's weights used twice": """
def post_norm_layer(x, weights, heads, keep):
    def norm(y):
        return layer_norm(y, weights["gain_1"], weights["bias_1"])
    x = norm(x + self_attention(x, weights, heads, keep))
    return norm(x + feed_forward(x, *[weights[n] for n in FEED_FORWARD]))
""",
        "norms before the parts": """
def post_norm_layer(x, weights, heads, keep):
    normed = layer_norm(x, weights["gain_1"], weights["bias_1"])
    x = x + self_attention(normed, weights, heads, keep)
    normed = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(normed, *[weights[n] for n in FEED_FORWARD])
""",
        "padding not hidden": """
def post_norm_layer(x, weights, heads, keep):
    attended = self_attention(x, weights, heads, torch.ones_like(keep))
    x = layer_norm(x + attended, weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "the mask the way PyTorch's layer wants it": """
def post_norm_layer(x, weights, heads, keep):
    attended = self_attention(x, weights, heads, ~keep)
    x = layer_norm(x + attended, weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "second residual from the layer's input": """
def post_norm_layer(x, weights, heads, keep):
    h = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    return layer_norm(
        x + feed_forward(h, *[weights[n] for n in FEED_FORWARD]), weights["gain_2"], weights["bias_2"]
    )
""",
        "the network reads the layer's input": """
def post_norm_layer(x, weights, heads, keep):
    h = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    return layer_norm(
        h + feed_forward(x, *[weights[n] for n in FEED_FORWARD]), weights["gain_2"], weights["bias_2"]
    )
""",
        "the last norm forgotten": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    return x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
""",
        "the first norm forgotten": """
def post_norm_layer(x, weights, heads, keep):
    x = x + self_attention(x, weights, heads, keep)
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "rows of padding set to 0": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"]) * keep[..., None]
""",
        "eps of BERT": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"], 1e-12)
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"], 1e-12)
""",
        "another eps in the second norm alone": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"], 1e-6)
""",
        "another eps in the first norm alone": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"], 1e-6)
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "norm of the part, then the sum": """
def post_norm_layer(x, weights, heads, keep):
    x = x + layer_norm(self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    ff = feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return x + layer_norm(ff, weights["gain_2"], weights["bias_2"])
""",
        "norms without their gains and biases": """
def post_norm_layer(x, weights, heads, keep):
    def norm(y):
        return torch.nn.functional.layer_norm(y, y.shape[-1:])
    x = norm(x + self_attention(x, weights, heads, keep))
    return norm(x + feed_forward(x, *[weights[n] for n in FEED_FORWARD]))
""",
        "five heads, as in the demonstration": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, 5, keep), weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "one head": """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, 1, keep), weights["gain_1"], weights["bias_1"])
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "feed-forward network before the attention": """
def post_norm_layer(x, weights, heads, keep):
    x = x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    x = layer_norm(x, weights["gain_1"], weights["bias_1"])
    return layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_2"], weights["bias_2"])
""",
        "dropout as in the paper": """
torch.manual_seed(0)

def post_norm_layer(x, weights, heads, keep):
    drop = torch.nn.functional.dropout
    x = layer_norm(
        x + drop(self_attention(x, weights, heads, keep), 0.1), weights["gain_1"], weights["bias_1"]
    )
    x = x + drop(feed_forward(x, *[weights[n] for n in FEED_FORWARD]), 0.1)
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
    },
    "transformer.pre_norm_layer": {
        "norms after the sums": """
def pre_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    ff = feed_forward(x, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"])
    return layer_norm(x + ff, weights["gain_2"], weights["bias_2"])
""",
        "the normalised words carried on by the sums": """
def pre_norm_layer(x, weights, heads, keep):
    x = layer_norm(x, weights["gain_1"], weights["bias_1"])
    x = x + self_attention(x, weights, heads, keep)
    x = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
""",
        "one more norm at the end": """
def pre_norm_layer(x, weights, heads, keep):
    h = layer_norm(x, weights["gain_1"], weights["bias_1"])
    x = x + self_attention(h, weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    x = x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
    return layer_norm(x, weights["gain_2"], weights["bias_2"])
""",
        "the first norm's weights used twice": """
def pre_norm_layer(x, weights, heads, keep):
    def norm(y):
        return layer_norm(y, weights["gain_1"], weights["bias_1"])
    x = x + self_attention(norm(x), weights, heads, keep)
    return x + feed_forward(norm(x), *[weights[n] for n in FEED_FORWARD])
""",
        "both branches from the layer's input": """
def pre_norm_layer(x, weights, heads, keep):
    a = self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    f = feed_forward(
        layer_norm(x, weights["gain_2"], weights["bias_2"]), *[weights[n] for n in FEED_FORWARD]
    )
    return x + a + f
""",
        "no norm before the network": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    return x + feed_forward(x, *[weights[n] for n in FEED_FORWARD])
""",
        "no norm before the attention": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(x, weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "the two norms exchanged": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_2"], weights["bias_2"]), weights, heads, keep)
    h = layer_norm(x, weights["gain_1"], weights["bias_1"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "padding not hidden": """
def pre_norm_layer(x, weights, heads, keep):
    everyone = torch.ones(x.shape[:2], dtype=torch.bool)
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, everyone)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "mask inverted": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, ~keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "second residual forgotten": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "first residual forgotten": """
def pre_norm_layer(x, weights, heads, keep):
    x = self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "norm at the end of the branch": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + layer_norm(self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    ff = feed_forward(x, *[weights[n] for n in FEED_FORWARD])
    return x + layer_norm(ff, weights["gain_2"], weights["bias_2"])
""",
        "second sum starts from the layer's input": """
def pre_norm_layer(x, weights, heads, keep):
    h = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    n = layer_norm(h, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(n, *[weights[name] for name in FEED_FORWARD])
""",
        "rows of padding set to 0": """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return (x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])) * keep.unsqueeze(-1)
""",
        "eps of 1e-6": """
def pre_norm_layer(x, weights, heads, keep):
    h = layer_norm(x, weights["gain_1"], weights["bias_1"], eps=1e-6)
    x = x + self_attention(h, weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"], eps=1e-6)
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "another eps in the first norm alone": """
def pre_norm_layer(x, weights, heads, keep):
    h = layer_norm(x, weights["gain_1"], weights["bias_1"], eps=1e-6)
    x = x + self_attention(h, weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
        "another eps in the second norm alone": """
def pre_norm_layer(x, weights, heads, keep):
    h = layer_norm(x, weights["gain_1"], weights["bias_1"])
    x = x + self_attention(h, weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"], eps=1e-6)
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
    },
    "transformer.stack": {
        "the input left out": """
def stack(x, layers):
    hidden = []
    for layer in layers:
        x = layer(x)
        hidden.append(x)
    return torch.stack(hidden)
""",
        "every layer reads the input": """
def stack(x, layers):
    return torch.stack([x] + [layer(x) for layer in layers])
""",
        "last layer first": """
def stack(x, layers):
    hidden = [x]
    for layer in reversed(layers):
        hidden.append(layer(hidden[-1]))
    return torch.stack(hidden)
""",
        "only the last vectors": """
def stack(x, layers):
    for layer in layers:
        x = layer(x)
    return x
""",
        "the last layer's vectors missing": """
def stack(x, layers):
    hidden = []
    for layer in layers:
        hidden.append(x)
        x = layer(x)
    return torch.stack(hidden)
""",
        "joined along the batch": """
def stack(x, layers):
    hidden = [x]
    for layer in layers:
        hidden.append(layer(hidden[-1]))
    return torch.cat(hidden)
""",
        "layers as the second axis": """
def stack(x, layers):
    hidden = [x]
    for layer in layers:
        hidden.append(layer(hidden[-1]))
    return torch.stack(hidden, dim=1)
""",
        "residual around every layer": """
def stack(x, layers):
    hidden = [x]
    for layer in layers:
        hidden.append(hidden[-1] + layer(hidden[-1]))
    return torch.stack(hidden)
""",
        "the output put in front": """
def stack(x, layers):
    hidden = [x]
    for layer in layers:
        hidden.insert(0, layer(hidden[0]))
    return torch.stack(hidden)
""",
        "two layers as in the notebook": """
def stack(x, layers):
    one = layers[0](x)
    two = layers[1](one)
    return torch.stack([x, one, two])
""",
        "the first layer everywhere": """
def stack(x, layers):
    hidden = [x]
    for _ in layers:
        hidden.append(layers[0](hidden[-1]))
    return torch.stack(hidden)
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
    "transformer.feed_forward": {
        "linear with transposed matrices": """
import torch.nn.functional as F

def feed_forward(x, W_1, b_1, W_2, b_2):
    return F.linear(F.relu(F.linear(x, W_1.T, b_1)), W_2.T, b_2)
""",
        "clamp and einsum": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = (torch.einsum("...d,df->...f", x, W_1) + b_1).clamp(min=0)
    return torch.einsum("...f,fd->...d", hidden, W_2) + b_2
""",
        "numpy, in float64": """
import numpy as np

def feed_forward(x, W_1, b_1, W_2, b_2):
    x, W_1, b_1, W_2, b_2 = (np.asarray(a, dtype=float) for a in (x, W_1, b_1, W_2, b_2))
    return np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2
""",
        "multiplied by where it is positive": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = torch.matmul(x, W_1) + b_1
    hidden = hidden * (hidden > 0)
    return torch.matmul(hidden, W_2) + b_2
""",
    },
    "transformer.post_norm_layer": {
        "PyTorch's layer": """
def post_norm_layer(x, weights, heads, keep):
    D, F = weights["W_1"].shape
    layer = torch.nn.TransformerEncoderLayer(D, heads, F, dropout=0.0, batch_first=True)
    with torch.no_grad():
        attention = layer.self_attn
        attention.in_proj_weight.copy_(torch.cat([weights[f"W_{n}"].T for n in "qkv"]))
        attention.in_proj_bias.copy_(torch.cat([weights[f"b_{n}"] for n in "qkv"]))
        attention.out_proj.weight.copy_(weights["W_o"].T)
        attention.out_proj.bias.copy_(weights["b_o"])
        layer.linear1.weight.copy_(weights["W_1"].T)
        layer.linear1.bias.copy_(weights["b_1"])
        layer.linear2.weight.copy_(weights["W_2"].T)
        layer.linear2.bias.copy_(weights["b_2"])
        layer.norm1.weight.copy_(weights["gain_1"])
        layer.norm1.bias.copy_(weights["bias_1"])
        layer.norm2.weight.copy_(weights["gain_2"])
        layer.norm2.bias.copy_(weights["bias_2"])
    return layer(x, src_key_padding_mask=~keep)
""",
        "library norm and relu": """
import torch.nn.functional as F

def post_norm_layer(x, weights, heads, keep):
    D = x.size(-1)
    a = self_attention(x, weights, heads, keep)
    h = F.layer_norm(x + a, (D,), weights["gain_1"], weights["bias_1"], eps=1e-5)
    f = F.linear(F.relu(F.linear(h, weights["W_1"].T, weights["b_1"])), weights["W_2"].T, weights["b_2"])
    return F.layer_norm(h + f, (D,), weights["gain_2"], weights["bias_2"], eps=1e-5)
""",
        "sentence by sentence, in float64": """
def post_norm_layer(x, weights, heads, keep):
    w = {name: value.double() for name, value in weights.items()}
    out = []
    for sentence, mask in zip(x.double(), keep):
        s = sentence[None]
        s = layer_norm(s + self_attention(s, w, heads, mask[None]), w["gain_1"], w["bias_1"])
        s = layer_norm(s + feed_forward(s, w["W_1"], w["b_1"], w["W_2"], w["b_2"]), w["gain_2"], w["bias_2"])
        out.append(s[0])
    return torch.stack(out)
""",
    },
    "transformer.pre_norm_layer": {
        "PyTorch's layer": """
def pre_norm_layer(x, weights, heads, keep):
    D, F = weights["W_1"].shape
    layer = torch.nn.TransformerEncoderLayer(D, heads, F, 0.0, batch_first=True, norm_first=True)
    state = {
        "self_attn.in_proj_weight": torch.cat([weights[f"W_{n}"].T for n in "qkv"]),
        "self_attn.in_proj_bias": torch.cat([weights[f"b_{n}"] for n in "qkv"]),
        "self_attn.out_proj.weight": weights["W_o"].T,
        "self_attn.out_proj.bias": weights["b_o"],
    }
    for i in "12":
        state |= {f"linear{i}.weight": weights[f"W_{i}"].T, f"linear{i}.bias": weights[f"b_{i}"]}
        state |= {f"norm{i}.weight": weights[f"gain_{i}"], f"norm{i}.bias": weights[f"bias_{i}"]}
    layer.load_state_dict(state)
    return layer(x, src_key_padding_mask=~keep)
""",
        "the heads in a loop": """
def pre_norm_layer(x, weights, heads, keep):
    normed = layer_norm(x, weights["gain_1"], weights["bias_1"])
    q, k, v = (normed @ weights[f"W_{n}"] + weights[f"b_{n}"] for n in "qkv")
    size = x.shape[-1] // heads
    mixed = []
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = q[..., part] @ k[..., part].transpose(-1, -2) / size ** 0.5
        scores = scores.masked_fill(~keep[:, None, :], float("-inf"))
        mixed.append(scores.softmax(-1) @ v[..., part])
    x = x + torch.cat(mixed, dim=-1) @ weights["W_o"] + weights["b_o"]
    normed = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(normed, **{name: weights[name] for name in FEED_FORWARD})
""",
        "in float64": """
def pre_norm_layer(x, weights, heads, keep):
    weights = {name: tensor.double() for name, tensor in weights.items()}
    x = x.double()
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"]), weights, heads, keep)
    h = layer_norm(x, weights["gain_2"], weights["bias_2"])
    return x + feed_forward(h, *[weights[n] for n in FEED_FORWARD])
""",
    },
    "transformer.stack": {
        "a tensor made beforehand": """
def stack(x, layers):
    hidden = torch.zeros(len(layers) + 1, *x.shape)
    hidden[0] = x
    for i, layer in enumerate(layers):
        hidden[i + 1] = layer(hidden[i])
    return hidden
""",
        "itertools.accumulate": """
from itertools import accumulate

def stack(x, layers):
    return torch.stack(list(accumulate(layers, lambda h, layer: layer(h), initial=x)))
""",
        "joined one by one": """
def stack(x, layers):
    all_layers = x.unsqueeze(0)
    for layer in layers:
        x = layer(x)
        all_layers = torch.cat((all_layers, x.unsqueeze(0)), dim=0)
    return all_layers
""",
        "a list of tensors": """
def stack(x, layers):
    hidden = [x]
    for layer in layers:
        hidden.append(layer(hidden[-1]))
    return hidden
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
