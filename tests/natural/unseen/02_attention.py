"""02_attention: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "attention.similarities": {
        "cosines in place of dot products": """
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    q = queries / queries.norm(dim=-1, keepdim=True)
    k = keys / keys.norm(dim=-1, keepdim=True)
    return q @ k.transpose(-1, -2)
""",
        "every query meets the keys of all sentences": """
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    d = queries.shape[-1]
    return queries.reshape(-1, d) @ keys.reshape(-1, d).T
""",
        "keys in the rows": """
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    return torch.einsum("...qd,...kd->...kq", queries, keys)
""",
    },
    "attention.scale": {
        "divided by the measured spread": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    return scores / scores.std()
""",
        "exponent 1//2 is zero": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    return scores / d ** (1 // 2)
""",
        "root of the number of keys": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    return scores / scores.shape[-1] ** 0.5
""",
        "multiplied by the root": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    import math
    return scores * math.sqrt(d)
""",
    },
    "attention.softmax": {
        "largest of the whole tensor taken off": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    e = torch.exp(x - x.max())
    return e / e.sum(dim=dim, keepdim=True)
""",
        "scores cut at plus and minus fifty": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    x = x.clamp(-50, 50)
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)
""",
        "mean taken off in place of the largest": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    x = x - x.mean(dim=dim, keepdim=True)
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)
""",
        "always the last axis": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    m, _ = x.max(dim=-1, keepdim=True)
    e = torch.exp(x - m)
    return e / e.sum(dim=-1, keepdim=True)
""",
    },
    "attention.weighted_sum": {
        "weights brought to one first": """
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values
""",
        "softmax over the weights": """
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    w = torch.softmax(weights, dim=-1)
    return torch.matmul(w, values)
""",
        "divided by the number of values": """
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    out = torch.einsum("...qk,...kv->...qv", weights, values)
    return out / values.shape[-2]
""",
    },
    "attention.attention": {
        "a query without keys gets the average of all values": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = scores.masked_fill(~keep, -1e9)
    return weighted_sum(softmax(scores, dim=-1), values)
""",
        "weights of hidden keys removed, the rest not brought to one": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1) * keep
    return weights @ values
""",
        "renormalised after hiding, so that a large hidden score wipes out the rest": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    scores = scale(similarities(queries, keys), queries.shape[-1])
    w = softmax(scores, -1) * keep.float()
    w = w / (w.sum(-1, keepdim=True) + 1e-12)
    return weighted_sum(w, values)
""",
        "a query without keys gets NaN": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    d = queries.size(-1)
    scores = torch.matmul(queries, keys.transpose(-1, -2)) / d**0.5
    scores = scores.masked_fill(keep == 0, float("-inf"))
    attn = torch.softmax(scores, dim=-1)
    return torch.matmul(attn, values)
""",
        "hidden scores set to zero before the softmax": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = scores * keep
    weights = softmax(scores, -1)
    return weighted_sum(weights * keep, values)
""",
    },
    "attention.multi_head": {
        "scaled by the root of D": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    q = (x @ W_q).view(B, T, heads, d).transpose(1, 2)
    k = (x @ W_k).view(B, T, heads, d).transpose(1, 2)
    v = (x @ W_v).view(B, T, heads, d).transpose(1, 2)
    scores = q @ k.transpose(-1, -2) / D**0.5
    scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    w = torch.nan_to_num(scores.softmax(-1))
    return (w @ v).transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "rows of padding come out as zeros": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    pair = keep[:, :, None] & keep[:, None, :]
    outs = []
    for h in range(heads):
        c = slice(h * d, (h + 1) * d)
        outs.append(attention((x @ W_q)[..., c], (x @ W_k)[..., c], (x @ W_v)[..., c], pair))
    return torch.cat(outs, dim=-1) @ W_o
""",
        "heads cut from the input, not from the projections": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    d = x.shape[-1] // heads
    outs = []
    for h in range(heads):
        c = slice(h * d, (h + 1) * d)
        piece = x[..., c]
        q, k, v = piece @ W_q[c, c], piece @ W_k[c, c], piece @ W_v[c, c]
        outs.append(attention(q, k, v, keep[:, None, :]))
    return torch.cat(outs, dim=-1) @ W_o
""",
        "heads put together without moving the axis back": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    q, k, v = ((x @ W).view(B, T, heads, d).transpose(1, 2) for W in (W_q, W_k, W_v))
    out = attention(q, k, v, keep[:, None, None, :])
    return out.reshape(B, T, D) @ W_o
""",
        "a sentence of nothing but padding looks at its padding": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    q, k, v = ((x @ W).view(B, T, heads, d).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / d**0.5
    scores = scores + (~keep)[:, None, None, :] * -1e9
    w = torch.softmax(scores, dim=-1)
    out = torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(B, T, D)
    return out @ W_o
""",
    },
    "attention.mended_heads": {
        "right heads, put back together without moving the axis": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    B, T, D = queries.shape
    d = D // heads
    q = queries.view(B, T, heads, d).permute(0, 2, 1, 3)
    k = keys.view(B, T, heads, d).permute(0, 2, 1, 3)
    v = values.view(B, T, heads, d).permute(0, 2, 1, 3)
    w = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, dim=-1)
    return (w @ v).reshape(B, T, D)
""",
        "heads axis made by view alone": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.view(batch, heads, tokens, d)
    keys = keys.view(batch, heads, tokens, d)
    values = values.view(batch, heads, tokens, d)
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.transpose(1, 2).reshape(batch, tokens, width)
""",
        "every heads-th coordinate belongs to one head": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    B, T, D = queries.shape
    outs = torch.empty_like(values)
    for h in range(heads):
        q, k, v = queries[..., h::heads], keys[..., h::heads], values[..., h::heads]
        w = torch.softmax(q @ k.transpose(1, 2) / (D // heads) ** 0.5, dim=-1)
        outs[..., h::heads] = w @ v
    return outs
""",
        "words attend across the heads of one token": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    B, T, D = queries.shape
    d = D // heads
    q, k, v = (t.view(B, T, heads, d) for t in (queries, keys, values))
    w = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, dim=-1)
    return (w @ v).reshape(B, T, D)
""",
    },
    "attention.project": {
        "columns dealt out in turn": """
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    y = x @ W_qkv
    return y[..., 0::3], y[..., 1::3], y[..., 2::3]
""",
        "keys before queries": """
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    d = W_qkv.shape[1] // 3
    y = x @ W_qkv
    return y[..., d : 2 * d], y[..., :d], y[..., 2 * d :]
""",
        "d taken to be D": """
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    D = x.shape[-1]
    y = x @ W_qkv
    return y[..., :D], y[..., D : 2 * D], y[..., 2 * D : 3 * D]
""",
    },
    "attention.split_heads": {
        "view straight to heads and tokens": """
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    B, T, D = x.shape
    return x.view(B, heads, T, D // heads)
""",
        "head axis left behind the tokens": """
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    B, T, D = x.shape
    return x.reshape(B, T, heads, D // heads)
""",
        "coordinates dealt out to the heads in turn": """
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    B, T, D = x.shape
    return x.view(B, T, D // heads, heads).permute(0, 3, 1, 2)
""",
    },
}

RIGHT = {
    "attention.similarities": {
        "broadcast and sum": """
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).sum(dim=-1)
""",
        "einsum": """
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    return torch.einsum("...qd,...kd->...qk", queries, keys)
""",
    },
    "attention.scale": {
        "torch.sqrt": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    return scores / torch.sqrt(torch.tensor(float(d)))
""",
        "times a negative power": """
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    return scores * d**-0.5
""",
    },
    "attention.softmax": {
        "exponent of x minus logsumexp": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    return torch.exp(x - torch.logsumexp(x, dim=dim, keepdim=True))
""",
        "axis moved to the end, float64": """
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    y = x.double().movedim(dim, -1)
    y = y - y.max(dim=-1, keepdim=True).values
    y = torch.exp(y)
    y = y / y.sum(dim=-1, keepdim=True)
    return y.movedim(-1, dim).to(x.dtype)
""",
    },
    "attention.weighted_sum": {
        "a loop over the values": """
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    out = 0
    for j in range(values.shape[-2]):
        out = out + weights[..., j].unsqueeze(-1) * values[..., j, :].unsqueeze(-2)
    return out
""",
        "einsum": """
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    return torch.einsum("...ij,...jd->...id", weights, values)
""",
    },
    "attention.attention": {
        "minus infinity, then NaN to zero": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    d = queries.size(-1)
    scores = torch.matmul(queries, keys.transpose(-1, -2)) / d**0.5
    scores = scores.masked_fill(~keep, float("-inf"))
    attn = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    return torch.matmul(attn, values)
""",
        "torch.where and a row switch": """
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    scores = similarities(queries, keys) / queries.shape[-1] ** 0.5
    scores = torch.where(keep, scores, torch.tensor(-1e30))
    weights = softmax(scores, -1)
    anything = keep.any(dim=-1, keepdim=True)
    return torch.where(anything, weighted_sum(weights, values), torch.tensor(0.0))
""",
    },
    "attention.multi_head": {
        "all heads at once": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    q, k, v = ((x @ W).view(B, T, heads, d).transpose(1, 2) for W in (W_q, W_k, W_v))
    out = attention(q, k, v, keep[:, None, None, :])
    return out.transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "sum over heads of slices of W_o": """
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    B, T, D = x.shape
    d = D // heads
    total = torch.zeros(B, T, D)
    for h in range(heads):
        a, b = h * d, (h + 1) * d
        head = attention(x @ W_q[:, a:b], x @ W_k[:, a:b], x @ W_v[:, a:b], keep.unsqueeze(1))
        total = total + head @ W_o[a:b]
    return total
""",
    },
    "attention.mended_heads": {
        "a loop over chunks": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    d = queries.shape[-1] // heads
    outs = []
    for q, k, v in zip(queries.split(d, -1), keys.split(d, -1), values.split(d, -1)):
        w = softmax(q @ k.transpose(1, 2) / d**0.5, -1)
        outs.append(w @ v)
    return torch.cat(outs, -1)
""",
        "batch and heads folded together in the right order": """
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    B, T, D = queries.shape
    d = D // heads
    def fold(t):
        return t.view(B, T, heads, d).transpose(1, 2).reshape(B * heads, T, d)
    q, k, v = fold(queries), fold(keys), fold(values)
    w = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / d**0.5, dim=2)
    out = torch.bmm(w, v)
    return out.view(B, heads, T, d).transpose(1, 2).reshape(B, T, D)
""",
    },
    "attention.project": {
        "three products": """
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    d = W_qkv.shape[1] // 3
    W_q, W_k, W_v = W_qkv[:, :d], W_qkv[:, d : 2 * d], W_qkv[:, 2 * d :]
    return x @ W_q, x @ W_k, x @ W_v
""",
        "reshaped and unbound": """
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    y = (x @ W_qkv).reshape(*x.shape[:-1], 3, -1)
    q, k, v = y.unbind(-2)
    return q, k, v
""",
    },
    "attention.split_heads": {
        "stacked slices": """
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    d = x.shape[-1] // heads
    return torch.stack([x[:, :, h * d : (h + 1) * d] for h in range(heads)], dim=1)
""",
        "permute": """
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).permute(0, 2, 1, 3).contiguous()
""",
    },
}
