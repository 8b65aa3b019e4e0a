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
    "gpt.causal_attention": {
        "no mask": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ v
""",
        "not scaled": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) + causal_mask(q.shape[-2])
    return scores.softmax(dim=-1) @ v
""",
        "divided by d": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1]
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-1) @ v
""",
        "divided by the root of T": """
def causal_attention(q, k, v):
    T = q.size(2)
    scores = q @ k.transpose(-2, -1) / T ** 0.5
    return torch.softmax(scores + causal_mask(T), dim=-1) @ v
""",
        "softmax over the queries": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-2) @ v
""",
        "future cut out of the weights, which are not made to add up again": """
def causal_attention(q, k, v):
    T = q.shape[-2]
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights.tril() @ v
""",
        "future scores set to 0": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.tril().softmax(dim=-1) @ v
""",
        "mask transposed": """
def causal_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2]).T).softmax(dim=-1) @ v
""",
        "times the root of d": """
def causal_attention(q, k, v):
    scores = q @ k.mT * q.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-1) @ v
""",
        "queries and keys exchanged": """
def causal_attention(q, k, v):
    scores = k @ q.mT / k.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-1) @ v
""",
        "the weights instead of what they mix": """
def causal_attention(q, k, v):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-1)
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
    "gpt.step_with_cache": {
        "positions start again at 0": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, 0)
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "position t - 1": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, max(keys.shape[3] - 1, 0))
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "position t + 1": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3] + 1)
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "looks at the old positions only, if there are any": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        new_k, new_v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        if old_k.shape[2] == 0:
            old_k, old_v = new_k, new_v
        a = (torch.einsum("bhd,bhtd->bht", q, old_k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, old_v))
        new_keys.append(new_k)
        new_values.append(new_v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "an empty cache gives a zero vector": """
def step_with_cache(token, gpt, keys, values):
    t = keys.shape[3]
    x = gpt.embed(token, t)
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        if t == 0:
            mixed = torch.zeros_like(q)
        else:
            a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
            mixed = torch.einsum("bht,bhtd->bhd", a, v)
        x = layer.finish(x, mixed)
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "not scaled": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = torch.einsum("bhd,bhtd->bht", q, k).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "divided by the root of D, not of d": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / x.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "the new position is put in front": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([k[:, :, None], old_k], 2), torch.cat([v[:, :, None], old_v], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "every layer gets the embedding": """
def step_with_cache(token, gpt, keys, values):
    embedded = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(embedded)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(embedded, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "the vector instead of the logits": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return x, torch.stack(new_keys), torch.stack(new_values)
""",
        "probabilities instead of logits": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x).softmax(-1), torch.stack(new_keys), torch.stack(new_values)
""",
        "the cache is not made longer": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
    return gpt.logits(x), keys, values
""",
        "softmax over the heads": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_keys), torch.stack(new_values)
""",
        "caches returned in the other order": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[3])
    new_keys, new_values = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k, v = torch.cat([old_k, k[:, :, None]], 2), torch.cat([old_v, v[:, :, None]], 2)
        a = (torch.einsum("bhd,bhtd->bht", q, k) / q.shape[-1] ** 0.5).softmax(-1)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", a, v))
        new_keys.append(k)
        new_values.append(v)
    return gpt.logits(x), torch.stack(new_values), torch.stack(new_keys)
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
    "gpt.tie": {
        "a name in the function": """
def tie(token, softmax):
    softmax.weights = token.weight
""",
        "the numbers are copied": """
def tie(token, softmax):
    with torch.no_grad():
        softmax.weight.copy_(token.weight)
""",
        "a copy of the parameter": """
import copy

def tie(token, softmax):
    softmax.weight = copy.deepcopy(token.weight)
""",
        "the data": """
def tie(token, softmax):
    softmax.weight.data = token.weight.data
""",
        "a parameter around the parameter": """
def tie(token, softmax):
    softmax.weight = torch.nn.Parameter(token.weight)
""",
        "the other way round": """
def tie(token, softmax):
    token.weight = softmax.weight
""",
        "transposed": """
def tie(token, softmax):
    softmax.weight = torch.nn.Parameter(token.weight.T)
""",
        "only the gradients": """
def tie(token, softmax):
    softmax.weight.grad = token.weight.grad
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
    "gpt.causal_attention": {
        "from torch": """
def causal_attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
        "einsum and a mask of its own": """
def causal_attention(q, k, v):
    T, d = q.shape[-2:]
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / d ** 0.5
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -1e9).softmax(dim=-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, v)
""",
        "position by position, float64": """
def causal_attention(q, k, v):
    q, k, v = q.double(), k.double(), v.double()
    rows = []
    for t in range(q.shape[2]):
        scores = (q[:, :, t, None] * k[:, :, : t + 1]).sum(-1) / q.shape[-1] ** 0.5
        rows.append((scores.softmax(-1)[..., None] * v[:, :, : t + 1]).sum(dim=2))
    return torch.stack(rows, dim=2)
""",
        "weights cut and made to add up again": """
def causal_attention(q, k, v):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1).tril()
    return weights / weights.sum(dim=-1, keepdim=True) @ v
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
    "gpt.step_with_cache": {
        "scaled_dot_product_attention": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.size(3))
    cache_k, cache_v = [], []
    for n, layer in enumerate(gpt.layers):
        q, k, v = layer.project(x)
        k = torch.cat((keys[n], k.unsqueeze(2)), dim=2)
        v = torch.cat((values[n], v.unsqueeze(2)), dim=2)
        mixed = torch.nn.functional.scaled_dot_product_attention(q.unsqueeze(2), k, v)
        x = layer.finish(x, mixed.squeeze(2))
        cache_k.append(k)
        cache_v.append(v)
    return gpt.logits(x), torch.stack(cache_k), torch.stack(cache_v)
""",
        "into new memory": """
def step_with_cache(token, gpt, keys, values):
    L, B, H, t, d = keys.shape
    longer_keys, longer_values = torch.empty(L, B, H, t + 1, d), torch.empty(L, B, H, t + 1, d)
    longer_keys[:, :, :, :t], longer_values[:, :, :, :t] = keys, values
    x = gpt.embed(token, t)
    for n, layer in enumerate(gpt.layers):
        q, longer_keys[n, :, :, t], longer_values[n, :, :, t] = layer.project(x)
        scores = torch.einsum("bhd,bhtd->bht", q, longer_keys[n]) / d**0.5
        weights = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        x = layer.finish(x, torch.einsum("bht,bhtd->bhd", weights, longer_values[n]))
    return gpt.logits(x), longer_keys, longer_values
""",
        "sentence by sentence and head by head, a list": """
def step_with_cache(token, gpt, keys, values):
    x = gpt.embed(token, keys.shape[-2])
    all_k, all_v = [], []
    for layer, old_k, old_v in zip(gpt.layers, keys, values):
        q, k, v = layer.project(x)
        k = torch.cat([old_k, k[:, :, None]], dim=2)
        v = torch.cat([old_v, v[:, :, None]], dim=2)
        mixed = torch.zeros_like(q)
        for b in range(q.shape[0]):
            for h in range(q.shape[1]):
                weights = (k[b, h] @ q[b, h] / q.shape[-1] ** 0.5).softmax(-1)
                mixed[b, h] = weights @ v[b, h]
        x = layer.finish(x, mixed)
        all_k.append(k)
        all_v.append(v)
    return [gpt.logits(x), torch.stack(all_k), torch.stack(all_v)]
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
    "gpt.tie": {
        "as a parameter of that name": """
def tie(token, softmax):
    softmax.register_parameter("weight", token.weight)
""",
        "in the dictionary of parameters": """
def tie(token, softmax):
    softmax._parameters["weight"] = token.weight
""",
        "deleted first": """
def tie(token, softmax):
    del softmax.weight
    softmax.weight = token.weight
    assert softmax.weight is token.weight
""",
    },
}
