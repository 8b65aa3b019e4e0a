"""Answers to the exercises of notebook 02 as students write them, from the task texts alone: {exercise: {what it is: cell}}."""

WRONG = {
    "attention.similarities": {
        "scaled already": """
def similarities(queries, keys):
    d = queries.shape[-1]
    return queries @ keys.transpose(-1, -2) / d ** 0.5
""",
        "cosines": """
def similarities(queries, keys):
    q = torch.nn.functional.normalize(queries, dim=-1)
    k = torch.nn.functional.normalize(keys, dim=-1)
    return q @ k.transpose(-2, -1)
""",
        "keys ask queries": """
def similarities(queries, keys):
    return keys @ queries.transpose(-2, -1)
""",
        "mean of the products in place of their sum": """
def similarities(queries, keys):
    return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).mean(-1)
""",
        "the keys of the first sentence for all": """
def similarities(queries, keys):
    while keys.dim() > 2:
        keys = keys[0]
    return queries @ keys.T
""",
        "every query with the keys of all sentences": """
def similarities(queries, keys):
    return torch.tensordot(queries, keys, dims=([-1], [-1]))
""",
        "the last coordinate is left out": """
def similarities(queries, keys):
    scores = 0
    for i in range(queries.shape[-1] - 1):
        scores = scores + queries[..., i].unsqueeze(-1) * keys[..., i].unsqueeze(-2)
    return scores
""",
        "negative distances": """
def similarities(queries, keys):
    return -torch.cdist(queries, keys)
""",
        "a softmax at the end": """
def similarities(queries, keys):
    return torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
""",
        "summed over the sentences": """
def similarities(queries, keys):
    return torch.einsum("...id,...jd->ij", queries, keys)
""",
        "a batch is made of every input": """
def similarities(queries, keys):
    q = queries.reshape(-1, queries.shape[-2], queries.shape[-1])
    k = keys.reshape(-1, keys.shape[-2], keys.shape[-1])
    return torch.bmm(q, k.transpose(1, 2))
""",
        "normalised by the number of keys": """
def similarities(queries, keys):
    return queries @ keys.transpose(-2, -1) / keys.shape[-2]
""",
        "absolute values": """
def similarities(queries, keys):
    return (queries @ keys.transpose(-2, -1)).abs()
""",
    },
    "attention.scale": {
        "divided by d": """
def scale(scores, d):
    return scores / d
""",
        "times the root": """
def scale(scores, d):
    return scores * d ** 0.5
""",
        "divided by the square": """
def scale(scores, d):
    return scores / d ** 2
""",
        "the number of keys in place of d": """
def scale(scores, d):
    return scores / scores.shape[-1] ** 0.5
""",
        "the 50 of the example": """
def scale(scores, d):
    return scores / 50 ** 0.5
""",
        "divided by the standard deviation of these scores": """
def scale(scores, d):
    return scores / scores.std()
""",
        "standardised": """
def scale(scores, d):
    return (scores - scores.mean(-1, keepdim=True)) / scores.std(-1, keepdim=True)
""",
        "the root rounded down": """
def scale(scores, d):
    return scores / int(d ** 0.5)
""",
        "the root of d − 1": """
def scale(scores, d):
    return scores / (d - 1) ** 0.5
""",
        "precedence: d to the power 1, then halved": """
def scale(scores, d):
    return scores / d ** 1 / 2
""",
        "fourth root": """
def scale(scores, d):
    return scores / d ** 0.25
""",
        "the mean is taken off": """
def scale(scores, d):
    return (scores - scores.mean()) / d ** 0.5
""",
        "variance over each row": """
def scale(scores, d):
    return scores / scores.std(dim=-1, keepdim=True)
""",
        "logarithm": """
def scale(scores, d):
    import math
    return scores / math.log(d)
""",
    },
    "attention.softmax": {
        "nothing is taken off": """
def softmax(x, dim):
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)
""",
        "always the last axis": """
def softmax(x, dim):
    x = x - x.max(dim=-1, keepdim=True).values
    e = x.exp()
    return e / e.sum(dim=-1, keepdim=True)
""",
        "the largest of the whole array is taken off": """
def softmax(x, dim):
    e = torch.exp(x - x.max())
    return e / e.sum(dim, keepdim=True)
""",
        "the mean is taken off": """
def softmax(x, dim):
    e = torch.exp(x - x.mean(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
""",
        "the smallest is taken off": """
def softmax(x, dim):
    e = torch.exp(x - x.amin(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
""",
        "base 2": """
def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True)
    e = 2 ** x
    return e / e.sum(dim, keepdim=True)
""",
        "one sum for the whole array": """
def softmax(x, dim):
    e = torch.exp(x - x.max())
    return e / e.sum()
""",
        "exponents held below 80": """
def softmax(x, dim):
    e = x.clamp(-80, 80).exp()
    return e / e.sum(dim, keepdim=True)
""",
        "infinity replaced afterwards": """
def softmax(x, dim):
    e = x.exp()
    return torch.nan_to_num(e / e.sum(dim, keepdim=True))
""",
        "logarithm of the weights": """
def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True)
    return x - x.exp().sum(dim, keepdim=True).log()
""",
        "divided by the sum without exponentials": """
def softmax(x, dim):
    x = x - x.amin(dim, keepdim=True)
    return x / x.sum(dim, keepdim=True)
""",
        "a hundredth in the divisor": """
def softmax(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / (e.sum(dim, keepdim=True) + 0.01)
""",
        "divided by the largest": """
def softmax(x, dim):
    m = x.amax(dim, keepdim=True)
    e = torch.exp(x / m.abs())
    return e / e.sum(dim, keepdim=True)
""",
        "only a matrix in mind: dim 0 or else the rows": """
def softmax(x, dim):
    if dim == 0:
        e = torch.exp(x - x.amax(0))
        return e / e.sum(0)
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
""",
        "sigmoid": """
def softmax(x, dim):
    s = torch.sigmoid(x)
    return s / s.sum(dim, keepdim=True)
""",
        "taken off from the largest": """
def softmax(x, dim):
    e = (x.amax(dim, keepdim=True) - x).exp()
    return e / e.sum(dim, keepdim=True)
""",
        "at temperature 2": """
def softmax(x, dim):
    return torch.softmax(x / 2, dim)
""",
    },
    "attention.weighted_sum": {
        "the weights are brought to sum one": """
def weighted_sum(weights, values):
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ values
""",
        "a softmax over the weights": """
def weighted_sum(weights, values):
    return torch.softmax(weights, dim=-1) @ values
""",
        "the mean over the keys": """
def weighted_sum(weights, values):
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).mean(dim=-2)
""",
        "summed over the queries": """
def weighted_sum(weights, values):
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(dim=-3)
""",
        "the values of the first sentence for all": """
def weighted_sum(weights, values):
    while values.dim() > 2:
        values = values[0]
    return weights @ values
""",
        "only the value with the largest weight": """
def weighted_sum(weights, values):
    best = weights.argmax(-1)
    index = best.unsqueeze(-1).expand(*best.shape, values.shape[-1])
    return values.gather(-2, index)
""",
        "the last key is left out": """
def weighted_sum(weights, values):
    out = 0
    for j in range(weights.shape[-1] - 1):
        out = out + weights[..., j, None] * values[..., j, None, :]
    return out
""",
        "negative weights set to zero": """
def weighted_sum(weights, values):
    return weights.clamp(min=0) @ values
""",
        "queries and coordinates interchanged": """
def weighted_sum(weights, values):
    return torch.einsum("...ij,...jd->...di", weights, values)
""",
        "all sentences added up": """
def weighted_sum(weights, values):
    return torch.einsum("...ij,...jd->id", weights, values)
""",
        "largest weight scaled to one": """
def weighted_sum(weights, values):
    return (weights / weights.amax(-1, keepdim=True)) @ values
""",
        "values normalised": """
def weighted_sum(weights, values):
    return weights @ torch.nn.functional.normalize(values, dim=-1)
""",
    },
    "attention.attention": {
        "hidden scores at minus two thousand": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1]).masked_fill(~keep, -2000.0)
    weights = softmax(scores, dim=-1).masked_fill(~keep, 0)
    return weighted_sum(weights, values)
""",
        "hidden scores at minus ten thousand, rows without a key cleared": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = torch.softmax(torch.where(keep, scores, torch.tensor(-1e4)), dim=-1)
    return weights * keep.any(-1, keepdim=True) @ values
""",
        "a hundred thousand taken off the hidden scores": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1]) - 1e5 * (~keep).float()
    return weighted_sum(softmax(scores, dim=-1) * keep, values)
""",
        "weights masked in double precision, brought to sum one": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries.double(), keys.double()), queries.shape[-1])
    weights = softmax(scores, dim=-1) * keep
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-300) @ values.double()
""",
        "the mask upside down": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = scores.masked_fill(keep, -1e9)
    return weighted_sum(softmax(scores, -1), values)
""",
        "no mask": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    return weighted_sum(softmax(scores, dim=-1), values)
""",
        "not a number without any key": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = scores.masked_fill(~keep, float("-inf"))
    return torch.softmax(scores, dim=-1) @ values
""",
        "the average without any key": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = scores.masked_fill(~keep, -1e9)
    return weighted_sum(softmax(scores, dim=-1), values)
""",
        "masked after the softmax, not brought to sum one": """
def attention(queries, keys, values, keep):
    weights = softmax(scale(similarities(queries, keys), queries.shape[-1]), dim=-1)
    return weighted_sum(weights * keep, values)
""",
        "masked scores are zero": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores * keep, dim=-1)
    weights = weights * keep.any(-1, keepdim=True)
    return weighted_sum(weights, values)
""",
        "scaled by the width of the values": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), values.shape[-1])
    weights = softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    return weighted_sum(weights * keep, values)
""",
        "not scaled": """
def attention(queries, keys, values, keep):
    scores = similarities(queries, keys).masked_fill(~keep, -1e9)
    weights = softmax(scores, dim=-1) * keep
    return weighted_sum(weights, values)
""",
        "softmax over the queries": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, -1e9), dim=-2)
    return weighted_sum(weights * keep, values)
""",
        "the mask added as 0 and 1": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1]) + keep.float()
    weights = softmax(scores, dim=-1)
    return weighted_sum(weights, values) * keep.any(-1, keepdim=True)
""",
        "masked scores are −10": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    scores = torch.where(keep, scores, -10.0)
    weights = softmax(scores, dim=-1)
    return weighted_sum(weights, values) * keep.any(-1, keepdim=True)
""",
        "masked after the softmax, an epsilon in the divisor": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores, dim=-1) * keep
    weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)
    return weighted_sum(weights, values)
""",
        "a softmax of its own that overflows": """
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    e = torch.exp(scores) * keep
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-9)
    return weights @ values
""",
        "a query that any other may not see gets zeros": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    out = weighted_sum(weights, values)
    return out * keep.all(-1, keepdim=True)
""",
        "the width of the keys counted along the wrong axis": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), keys.shape[-2])
    weights = softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    return weighted_sum(weights * keep, values)
""",
        "masked before the scores are scaled, by too little": """
def attention(queries, keys, values, keep):
    scores = similarities(queries, keys).masked_fill(~keep, -100)
    weights = softmax(scale(scores, queries.shape[-1]), dim=-1)
    weights = weights * keep.any(dim=-1, keepdim=True)
    return weighted_sum(weights, values)
""",
        "softmax twice": """
def attention(queries, keys, values, keep):
    s = scale(similarities(queries, keys), queries.shape[-1])
    w = softmax(softmax(s.masked_fill(~keep, -1e9), -1), -1) * keep
    return w @ values
""",
        "divided by d": """
def attention(queries, keys, values, keep):
    s = similarities(queries, keys)
    w = softmax(s.masked_fill(~keep, -1e9) / keys.shape[-1], -1) * keep
    return w @ values
""",
        "divided by the share of words that stay": """
def attention(queries, keys, values, keep):
    w = softmax(scale(similarities(queries, keys), queries.shape[-1]), -1)
    return (w * keep.float()) @ values / keep.float().mean(-1, keepdim=True).clamp(min=1e-9)
""",
        "the sum of all values without any key": """
def attention(queries, keys, values, keep):
    s = scale(similarities(queries, keys), queries.shape[-1]).masked_fill(~keep, -torch.inf)
    return torch.nan_to_num(softmax(s, -1), nan=1.0) @ values
""",
    },
    "attention.multi_head": {
        "head h takes every H-th column": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    outputs = []
    for h in range(heads):
        outputs.append(attention(q[..., h::heads], k[..., h::heads], v[..., h::heads], keep[:, None, :]))
    return torch.cat(outputs, dim=-1) @ W_o
""",
        "cut with view alone": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    B, T, D = x.shape
    q, k, v = ((x @ W).view(B, heads, T, D // heads) for W in (W_q, W_k, W_v))
    out = attention(q, k, v, keep[:, None, None, :])
    return out.transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "joined with view alone": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    B, T, D = x.shape
    q, k, v = ((x @ W).view(B, T, heads, D // heads).transpose(1, 2) for W in (W_q, W_k, W_v))
    out = attention(q, k, v, keep[:, None, None, :])
    return out.reshape(B, T, D) @ W_o
""",
        "no output projection": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    parts = [attention(q[:, :, i:i + d], k[:, :, i:i + d], v[:, :, i:i + d], keep[:, None, :]) for i in range(0, x.shape[-1], d)]
    return torch.cat(parts, dim=2)
""",
        "matrices transposed, as nn.Linear has them": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q.T, x @ W_k.T, x @ W_v.T
    outputs = [attention(*parts, keep.unsqueeze(1)) for parts in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1))]
    return torch.cat(outputs, -1) @ W_o.T
""",
        "slices of the input": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    outputs = []
    for h in range(heads):
        s = slice(h * d, (h + 1) * d)
        xh = x[..., s]
        outputs.append(attention(xh @ W_q[s, s], xh @ W_k[s, s], xh @ W_v[s, s], keep[:, None, :]))
    return torch.cat(outputs, dim=-1) @ W_o
""",
        "scaled by the full width": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    B, T, D = x.shape
    d = D // heads
    q, k, v = ((x @ W).view(B, T, heads, d).transpose(1, 2) for W in (W_q, W_k, W_v))
    mask = keep[:, None, None, :]
    scores = scale(similarities(q, k), D).masked_fill(~mask, -1e9)
    weights = softmax(scores, -1) * mask
    return weighted_sum(weights, v).transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "padding queries get zeros": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    mask = keep[:, None, :] & keep[:, :, None]
    outputs = [attention(*p, mask) for p in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1))]
    return torch.cat(outputs, -1) @ W_o
""",
        "the mask along the queries": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    outputs = [attention(*p, keep[:, :, None]) for p in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1))]
    return torch.cat(outputs, -1) @ W_o
""",
        "no mask": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    everyone = torch.ones(1, 1, 1, dtype=torch.bool)
    outputs = [attention(*p, everyone) for p in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1))]
    return torch.cat(outputs, -1) @ W_o
""",
        "the average without any word": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    B, T, D = x.shape
    d = D // heads
    q, k, v = ((x @ W).view(B, T, heads, d).transpose(1, 2) for W in (W_q, W_k, W_v))
    scores = q @ k.transpose(-2, -1) / d ** 0.5
    scores = scores.masked_fill(~keep[:, None, None, :], -1e9)
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "d and the number of heads interchanged": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    outputs = [attention(*p, keep[:, None, :]) for p in zip(q.split(heads, -1), k.split(heads, -1), v.split(heads, -1))]
    return torch.cat(outputs, -1) @ W_o
""",
        "the input is added": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    outputs = [attention(*p, keep[:, None, :]) for p in zip(q.chunk(heads, -1), k.chunk(heads, -1), v.chunk(heads, -1))]
    return x + torch.cat(outputs, -1) @ W_o
""",
        "one head": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    return attention(x @ W_q, x @ W_k, x @ W_v, keep[:, None, :]) @ W_o
""",
        "the heads averaged": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    outs = [attention(q[..., h*d:(h+1)*d], k[..., h*d:(h+1)*d], v, keep[:, None]) for h in range(heads)]
    return sum(outs) / heads @ W_o
""",
        "slices of the input as values": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    q, k = x @ W_q, x @ W_k
    s = [slice(h*d, (h+1)*d) for h in range(heads)]
    return torch.cat([attention(q[..., c], k[..., c], x[..., c], keep[:, None]) for c in s], -1) @ W_o
""",
        "mask missing for all but the first head": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    out = [attention(q[..., h*d:(h+1)*d], k[..., h*d:(h+1)*d], v[..., h*d:(h+1)*d], keep[:, None] | (h > 0)) for h in range(heads)]
    return torch.cat(out, -1) @ W_o
""",
    },
    "attention.mended_heads": {
        "only the joining is mended": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.view(batch, heads, tokens, d)
    keys = keys.view(batch, heads, tokens, d)
    values = values.view(batch, heads, tokens, d)
    scores = queries @ keys.transpose(2, 3) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.transpose(1, 2).reshape(batch, tokens, width)
""",
        "only the cutting is mended": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.view(batch, tokens, heads, d).transpose(1, 2)
    keys = keys.view(batch, tokens, heads, d).transpose(1, 2)
    values = values.view(batch, tokens, heads, d).transpose(1, 2)
    scores = queries @ keys.transpose(-1, -2) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.reshape(batch, -1, width)
""",
        "the code of 2022": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.view(batch * heads, -1, d)
    keys = keys.view(batch * heads, -1, d)
    values = values.view(batch * heads, -1, d)
    scores = queries @ keys.transpose(1, 2) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.view(batch, -1, width)
""",
        "head h takes every H-th coordinate": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, d, heads).permute(0, 3, 1, 2) for t in (queries, keys, values))
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.permute(0, 2, 3, 1).reshape(batch, tokens, width)
""",
        "scaled by the full width": """
def mended_heads(queries, keys, values, heads):
    outputs = []
    for q, k, v in zip(queries.chunk(heads, -1), keys.chunk(heads, -1), values.chunk(heads, -1)):
        scores = q @ k.transpose(1, 2) / queries.shape[-1] ** 0.5
        outputs.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(outputs, dim=-1)
""",
        "softmax over the queries": """
def mended_heads(queries, keys, values, heads):
    outputs = []
    for q, k, v in zip(queries.chunk(heads, -1), keys.chunk(heads, -1), values.chunk(heads, -1)):
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        outputs.append(torch.softmax(scores, dim=1) @ v)
    return torch.cat(outputs, dim=-1)
""",
        "words attend across sentences": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    q, k, v = (t.reshape(batch * tokens, heads, d).transpose(0, 1) for t in (queries, keys, values))
    scores = q @ k.transpose(1, 2) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ v
    return mixed.transpose(0, 1).reshape(batch, tokens, width)
""",
        "heads attend to heads of the same word": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, heads, d) for t in (queries, keys, values))
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.reshape(batch, tokens, width)
""",
        "one head": """
def mended_heads(queries, keys, values, heads):
    everyone = torch.ones(1, 1, 1, dtype=torch.bool)
    return attention(queries, keys, values, everyone)
""",
        "heads beside one another in another order": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, heads, d).transpose(1, 2) for t in (queries, keys, values))
    mixed = torch.softmax(queries @ keys.transpose(-2, -1) / d**0.5, dim=-1) @ values
    return mixed.permute(0, 2, 3, 1).reshape(batch, tokens, width)
""",
        "not scaled": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, heads, d).transpose(1, 2) for t in (queries, keys, values))
    mixed = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1) @ values
    return mixed.transpose(1, 2).reshape(batch, tokens, width)
""",
        "transposed without a cut": """
def mended_heads(queries, keys, values, heads):
    B, T, D = queries.shape
    d = D // heads
    q, k, v = (t.transpose(1, 2).reshape(B, heads, d, T).transpose(2, 3) for t in (queries, keys, values))
    m = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, -1) @ v
    return m.reshape(B, T, D)
""",
        "queries and keys mended, values not": """
def mended_heads(queries, keys, values, heads):
    B, T, D = queries.shape
    d = D // heads
    q, k = (t.view(B, T, heads, d).transpose(1, 2) for t in (queries, keys))
    v = values.view(B, heads, T, d)
    m = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, -1) @ v
    return m.transpose(1, 2).reshape(B, T, D)
""",
        "scaled by the number of heads": """
def mended_heads(queries, keys, values, heads):
    B, T, D = queries.shape
    d = D // heads
    q, k, v = (t.view(B, T, heads, d).transpose(1, 2) for t in (queries, keys, values))
    m = torch.softmax(q @ k.transpose(-2, -1) / heads**0.5, -1) @ v
    return m.transpose(1, 2).reshape(B, T, D)
""",
    },
    "attention.project": {
        "keys first": """
def project(x, W_qkv):
    k, q, v = (x @ W_qkv).chunk(3, dim=-1)
    return q, k, v
""",
        "every third column": """
def project(x, W_qkv):
    y = x @ W_qkv
    return y[..., 0::3], y[..., 1::3], y[..., 2::3]
""",
        "cut along the tokens": """
def project(x, W_qkv):
    y = x @ W_qkv
    return tuple(torch.tensor_split(y, 3, dim=-2))
""",
        "d taken from the input": """
def project(x, W_qkv):
    d = x.shape[-1]
    y = x @ W_qkv
    return y[..., :d], y[..., d:2 * d], y[..., 2 * d:]
""",
        "cut along the first axis": """
def project(x, W_qkv):
    return tuple(torch.tensor_split(x @ W_qkv, 3))
""",
        "queries scaled": """
def project(x, W_qkv):
    q, k, v = (x @ W_qkv).chunk(3, dim=-1)
    return q / q.shape[-1] ** 0.5, k, v
""",
        "values first": """
def project(x, W_qkv):
    v, k, q = (x @ W_qkv).chunk(3, dim=-1)
    return q, k, v
""",
        "a view with the three in front": """
def project(x, W_qkv):
    y = x @ W_qkv
    d = W_qkv.shape[-1] // 3
    return tuple(y.reshape(3, *x.shape[:-1], d))
""",
        "one product, not cut": """
def project(x, W_qkv):
    return x @ W_qkv
""",
        "keys and values exchanged": """
def project(x, W_qkv):
    d = W_qkv.shape[1] // 3
    return tuple(x @ W_qkv.T.reshape(3, d, -1)[i].T for i in (0, 2, 1))
""",
        "a stack": """
def project(x, W_qkv):
    return torch.stack((x @ W_qkv).chunk(3, -1), dim=0)
""",
    },
    "attention.split_heads": {
        "cut with view alone": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, heads, T, D // heads)
""",
        "head h takes every H-th coordinate": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // heads, heads).permute(0, 3, 1, 2)
""",
        "the head axis after the tokens": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads)
""",
        "the tokens last": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).permute(0, 2, 3, 1)
""",
        "the head axis first": """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1))
""",
        "d and the number of heads interchanged": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, D // heads, heads).transpose(1, 2)
""",
        "transposed, then viewed": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, heads, T, D // heads)
""",
        "heads in reverse": """
def split_heads(x, heads):
    d = x.shape[-1] // heads
    return torch.stack([x[..., -(h + 1) * d : x.shape[-1] - h * d] for h in range(heads)], dim=1)
""",
        "batch and heads in one axis": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).transpose(1, 2).reshape(B * heads, T, D // heads)
""",
        "words and coordinates of a head in one axis": """
def split_heads(x, heads):
    return x.reshape(x.shape[0], heads, -1)
""",
        "heads last": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).permute(0, 1, 3, 2)
""",
    },
}

RIGHT = {
    "attention.similarities": {
        "einsum": """
def similarities(queries, keys):
    return torch.einsum("...id,...jd->...ij", queries, keys)
""",
        "broadcast and summed": """
def similarities(queries, keys):
    return (queries[..., :, None, :] * keys[..., None, :, :]).sum(dim=-1)
""",
        "numpy, double precision": """
def similarities(queries, keys):
    q, k = queries.numpy().astype("float64"), keys.numpy().astype("float64")
    return q @ k.swapaxes(-1, -2)
""",
        "a loop over the queries": """
def similarities(queries, keys):
    rows = [(keys @ queries[..., i, :, None])[..., 0] for i in range(queries.shape[-2])]
    return torch.stack(rows, dim=-2)
""",
    },
    "attention.scale": {
        "math.sqrt": """
def scale(scores, d):
    import math
    return scores / math.sqrt(d)
""",
        "a tensor's root": """
def scale(scores, d):
    return scores / torch.sqrt(torch.tensor(d, dtype=scores.dtype))
""",
        "times the inverse root, in numpy": """
def scale(scores, d):
    import numpy
    return numpy.asarray(scores) * d ** -0.5
""",
    },
    "attention.softmax": {
        "logsumexp in single precision": """
def softmax(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
""",
        "torch's own": """
def softmax(x, dim):
    return torch.nn.functional.softmax(x, dim=dim)
""",
        "exp of log_softmax": """
def softmax(x, dim):
    return torch.log_softmax(x, dim).exp()
""",
        "double precision, numpy": """
def softmax(x, dim):
    import numpy
    x = numpy.asarray(x, dtype=numpy.float64)
    e = numpy.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)
""",
        "an epsilon in the divisor": """
def softmax(x, dim):
    largest, _ = torch.max(x, dim, keepdim=True)
    e = torch.exp(x - largest)
    return e / (e.sum(dim, keepdim=True) + 1e-8)
""",
        "the axis moved to the front": """
def softmax(x, dim):
    moved = x.movedim(dim, 0)
    e = torch.exp(moved - moved.max(0).values)
    return (e / e.sum(0)).movedim(0, dim)
""",
    },
    "attention.weighted_sum": {
        "einsum": """
def weighted_sum(weights, values):
    return torch.einsum("...ij,...jd->...id", weights, values)
""",
        "broadcast and summed": """
def weighted_sum(weights, values):
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(dim=-2)
""",
        "a loop over the keys in double precision": """
def weighted_sum(weights, values):
    w, v = weights.double(), values.double()
    return sum(w[..., j, None] * v[..., None, j, :] for j in range(v.shape[-2]))
""",
    },
    "attention.attention": {
        "minus infinity, not a number cleared": """
def attention(queries, keys, values, keep):
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = torch.softmax(scores.masked_fill(~keep, -torch.inf), dim=-1)
    return weighted_sum(torch.nan_to_num(weights), values)
""",
        "the output set to zero": """
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    scores = torch.where(keep, scores, torch.tensor(-1e9))
    out = torch.softmax(scores, -1) @ values
    return out * keep.any(dim=-1, keepdim=True)
""",
        "torch's own": """
def attention(queries, keys, values, keep):
    out = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=keep)
    return torch.where(keep.any(-1, keepdim=True), out, 0.0)
""",
        "the largest allowed score taken off, exponentials masked": """
def attention(queries, keys, values, keep):
    d = queries.shape[-1]
    s = torch.einsum("...id,...jd->...ij", queries, keys) * d ** -0.5
    top = s.masked_fill(~keep, torch.finfo(s.dtype).min).amax(-1, keepdim=True)
    e = torch.where(keep, s - top, -torch.inf).exp()
    return (e / e.sum(-1, keepdim=True).clamp(min=1e-20)) @ values
""",
        "logsumexp in single precision": """
def attention(queries, keys, values, keep):
    s = (queries / queries.shape[-1] ** 0.5) @ keys.transpose(-2, -1)
    s = s.masked_fill(~keep, -1e30)
    w = torch.exp(s - s.logsumexp(-1, keepdim=True)) * keep
    return w @ values
""",
    },
    "attention.multi_head": {
        "all heads at once": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    B, T, D = x.shape
    q, k, v = ((x @ W).view(B, T, heads, D // heads).transpose(1, 2) for W in (W_q, W_k, W_v))
    out = attention(q, k, v, keep[:, None, None, :])
    return out.transpose(1, 2).reshape(B, T, D) @ W_o
""",
        "each head's part of W_o, summed": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    total = torch.zeros_like(x)
    for h in range(heads):
        s = slice(h * d, (h + 1) * d)
        total = total + attention(x @ W_q[:, s], x @ W_k[:, s], x @ W_v[:, s], keep[:, None]) @ W_o[s]
    return total
""",
        "sentence by sentence, without padding": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    rows = []
    for sentence, real in zip(x, keep):
        if not real.any():
            rows.append(torch.zeros_like(sentence))
            continue
        q, k, v = sentence @ W_q, sentence[real] @ W_k, sentence[real] @ W_v
        parts = []
        for i in range(0, heads * d, d):
            w = torch.softmax(q[:, i:i + d] @ k[:, i:i + d].T / d ** 0.5, dim=1)
            parts.append(w @ v[:, i:i + d])
        rows.append(torch.cat(parts, dim=1) @ W_o)
    return torch.stack(rows)
""",
    },
    "attention.mended_heads": {
        "a loop over chunks": """
def mended_heads(queries, keys, values, heads):
    outputs = []
    for q, k, v in zip(queries.chunk(heads, -1), keys.chunk(heads, -1), values.chunk(heads, -1)):
        outputs.append(torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v)
    return torch.cat(outputs, dim=-1)
""",
        "multi_head without its matrices": """
def mended_heads(queries, keys, values, heads):
    d = queries.shape[-1] // heads
    everyone = torch.ones(1, 1, 1, dtype=torch.bool)
    cut = [slice(h * d, h * d + d) for h in range(heads)]
    return torch.cat([attention(queries[..., s], keys[..., s], values[..., s], everyone) for s in cut], dim=-1)
""",
        "einsum": """
def mended_heads(queries, keys, values, heads):
    q, k, v = (t.unflatten(2, (heads, -1)) for t in (queries, keys, values))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).flatten(2)
""",
        "batch and heads in one axis": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    q, k, v = (
        t.view(batch, tokens, heads, d).permute(0, 2, 1, 3).reshape(batch * heads, tokens, d) for t in (queries, keys, values)
    )
    mixed = torch.bmm(torch.softmax(torch.bmm(q, k.mT) / d**0.5, dim=2), v)
    return mixed.view(batch, heads, tokens, d).permute(0, 2, 1, 3).reshape(batch, tokens, width)
""",
    },
    "attention.project": {
        "three products, a list": """
def project(x, W_qkv):
    return [x @ W for W in W_qkv.chunk(3, dim=1)]
""",
        "split by width": """
def project(x, W_qkv):
    d = W_qkv.shape[1] // 3
    q, k, v = torch.split(torch.matmul(x, W_qkv), d, dim=-1)
    return q, k, v
""",
        "unflattened": """
def project(x, W_qkv):
    return (x @ W_qkv).unflatten(-1, (3, -1)).unbind(-2)
""",
    },
    "attention.split_heads": {
        "chunks stacked": """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)
""",
        "view and permute": """
def split_heads(x, heads):
    B, T, D = x.shape
    return x.view(B, T, heads, D // heads).permute(0, 2, 1, 3)
""",
        "a loop into zeros": """
def split_heads(x, heads):
    B, T, D = x.shape
    d = D // heads
    out = torch.zeros(B, heads, T, d)
    for h in range(heads):
        out[:, h] = x[:, :, h * d:(h + 1) * d]
    return out
""",
    },
}
