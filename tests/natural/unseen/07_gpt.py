"""Answers to the exercises of notebook 07, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "gpt.causal_mask": {
        "a minus 1e-9 where minus infinity was meant": """
def causal_mask(T):
    mask = torch.triu(torch.ones(T, T), diagonal=1)
    return mask * -1e-9
""",
        "zero times infinity is not a number": """
def causal_mask(T):
    upper = torch.ones(T, T).triu(1)
    return upper * float("-inf")
""",
        "truth values that are added as ones": """
def causal_mask(T):
    i = torch.arange(T).unsqueeze(1)
    j = torch.arange(T).unsqueeze(0)
    return j <= i
""",
    },
    "gpt.shift_loss": {
        "padding adds nothing to the sum and still counts in the mean": """
def shift_loss(logits, ids, pad):
    logp = logits[:, :-1].log_softmax(-1)
    target = ids[:, 1:]
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    nll = nll * (target != pad)
    return nll.mean()
""",
        "a mean of the means of the sentences": """
def shift_loss(logits, ids, pad):
    losses = []
    for row_logits, row in zip(logits[:, :-1], ids[:, 1:]):
        keep = row != pad
        if keep.any():
            losses.append(torch.nn.functional.cross_entropy(row_logits[keep], row[keep]))
    return torch.stack(losses).mean()
""",
        "leaves out where the input is padding instead of the target": """
def shift_loss(logits, ids, pad):
    real = (ids[:, :-1] != pad)
    x = logits[:, :-1][real]
    y = ids[:, 1:][real]
    return torch.nn.functional.cross_entropy(x, y)
""",
    },
    "gpt.mended_labels": {
        "a row without end is taken to end at its first word": """
def mended_labels(ids, end):
    labels = ids.clone()
    first = (ids == end).int().argmax(dim=1)
    for row in range(len(ids)):
        labels[row, first[row] + 1:] = -100
    return labels
""",
        "keeps the last end of the row, not the first": """
def mended_labels(ids, end):
    labels = ids.clone()
    labels[labels == end] = -100
    has_end = (ids == end).any(dim=1)
    labels[has_end, -1] = end
    return labels
""",
        "shifted by one as well": """
def mended_labels(ids, end):
    labels = torch.full_like(ids, -100)
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1] - 1):
            labels[b, t] = ids[b, t + 1]
            if ids[b, t + 1] == end:
                break
    return labels
""",
    },
    "gpt.sample": {
        "top-k after the softmax, without making the rest add up to 1": """
def sample(logits, draws, temperature, k):
    probs = torch.softmax(logits / temperature, dim=-1)
    values, index = torch.topk(probs, k, dim=-1)
    probs = torch.zeros_like(probs).scatter(-1, index, values)
    tokens = (probs.cumsum(-1) > draws.unsqueeze(1)).float().argmax(-1)
    return probs, tokens
""",
        "lays the tokens side by side by size, not in the order of the vocabulary": """
def sample(logits, draws, temperature, k):
    values, index = torch.topk(logits, k, dim=-1)
    p = torch.softmax(values / temperature, dim=-1)
    place = (p.cumsum(-1) > draws[:, None]).int().argmax(-1)
    tokens = index[torch.arange(len(index)), place]
    probabilities = torch.zeros_like(logits).scatter(-1, index, p)
    return probabilities, tokens
""",
        "at least the draw instead of more than it": """
def sample(logits, draws, temperature, k):
    smallest = torch.topk(logits, k, dim=-1).values.min(dim=-1, keepdim=True).values
    logits = torch.where(logits >= smallest, logits, torch.tensor(float("-inf")))
    probs = torch.softmax(logits / temperature, dim=-1)
    tokens = []
    for p, u in zip(probs, draws):
        total = 0.0
        for token, share in enumerate(p):
            total = total + share
            if total >= u:
                break
        tokens.append(token)
    return probs, torch.tensor(tokens)
""",
    },
    "gpt.top_p": {
        "the token that crosses p is left out": """
def top_p(probabilities, p):
    values, index = torch.sort(probabilities, descending=True, dim=-1)
    keep = values.cumsum(-1) <= p
    keep[:, 0] = True
    values = values * keep
    result = torch.zeros_like(probabilities).scatter(1, index, values)
    return result / result.sum(dim=1, keepdim=True)
""",
        "one token more where the sum is exactly p": """
def top_p(probabilities, p):
    sorted_probs, sorted_indices = torch.sort(probabilities, descending=True)
    cumulative = torch.cumsum(sorted_probs, dim=-1)
    remove = cumulative > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    remove = torch.zeros_like(remove).scatter(1, sorted_indices, remove)
    out = probabilities.masked_fill(remove, 0.0)
    return out / out.sum(-1, keepdim=True)
""",
        "the probabilities of the nucleus do not add up to 1": """
def top_p(probabilities, p):
    result = torch.zeros_like(probabilities)
    for b in range(len(probabilities)):
        total = 0.0
        for i in probabilities[b].argsort(descending=True):
            result[b, i] = probabilities[b, i]
            total += probabilities[b, i].item()
            if total >= p:
                break
    return result
""",
    },
    "gpt.few_shot_prompt": {
        "end stands between the examples only, not behind the last": """
def few_shot_prompt(demos, query, mark, end):
    parts = []
    for n, (text, label) in enumerate(demos):
        parts += list(text) + mark.tolist() + list(label)
        if n < len(demos) - 1:
            parts += end.tolist()
    parts += list(query) + mark.tolist()
    return torch.tensor([int(i) for i in parts])
""",
        "only the first id of the label": """
def few_shot_prompt(demos, query, mark, end):
    ids = []
    for text, label in demos:
        ids.extend(int(i) for i in text)
        ids.extend(mark.tolist())
        ids.append(int(label[0]))
        ids.extend(end.tolist())
    ids.extend(int(i) for i in query)
    ids.extend(mark.tolist())
    return torch.tensor(ids)
""",
        "the query without its mark": """
def few_shot_prompt(demos, query, mark, end):
    tokens = []
    for text, label in demos:
        for part in (text, mark, label, end):
            for t in part:
                tokens.append(int(t))
    for t in query:
        tokens.append(int(t))
    return torch.tensor(tokens, dtype=torch.long)
""",
    },
    "gpt.beam_search": {
        "an ended beginning goes on and pays for pad": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0)]
    for _ in range(longest):
        candidates = []
        for ids, score in beams:
            logp = torch.log_softmax(next_logits(torch.tensor([ids]))[0, -1], dim=-1)
            if eos in ids[1:]:
                candidates.append((ids + [pad], score + logp[pad].item()))
                continue
            for token in range(len(logp)):
                candidates.append((ids + [token], score + logp[token].item()))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = candidates[:width]
    best, score = beams[0]
    return torch.tensor(best[1:]), torch.tensor(score)
""",
        "the best is chosen by log-probability per token": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [([bos], 0.0, False)]
    for _ in range(longest):
        candidates = []
        for ids, score, done in beams:
            if done:
                candidates.append((ids + [pad], score, True))
                continue
            logp = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            for token, lp in enumerate(logp):
                candidates.append((ids + [token], score + lp, token == eos))
        beams = sorted(candidates, key=lambda c: -c[1])[:width]

    def per_token(beam):
        ids = beam[0][1:]
        length = ids.index(eos) + 1 if eos in ids else len(ids)
        return beam[1] / length

    ids, score, _ = max(beams, key=per_token)
    return torch.tensor(ids[1:]), torch.tensor(score)
""",
        "adds logits and never normalises them": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids = torch.tensor([[bos]])
    score = torch.zeros(1)
    for step in range(longest):
        step_scores = next_logits(ids)[:, -1]
        V = step_scores.shape[-1]
        for n in range(len(ids)):
            if (ids[n, 1:] == eos).any():
                step_scores[n] = float("-inf")
                step_scores[n, pad] = 0
        total = (score[:, None] + step_scores).view(-1)
        score, index = total.topk(min(width, total.numel()))
        ids = torch.cat([ids[index // V], (index % V)[:, None]], dim=1)
    return ids[0, 1:], score[0]
""",
    },
}

RIGHT = {
    "gpt.causal_mask": {
        "loops": """
def causal_mask(T):
    mask = torch.zeros(T, T)
    for i in range(T):
        for j in range(i + 1, T):
            mask[i, j] = float("-inf")
    return mask
""",
        "masked_fill": """
def causal_mask(T):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    return torch.zeros(T, T).masked_fill(~allowed, float("-inf"))
""",
    },
    "gpt.shift_loss": {
        "token by token": """
def shift_loss(logits, ids, pad):
    total, count = 0.0, 0
    B, T = ids.shape
    logp = torch.log_softmax(logits, dim=-1)
    for b in range(B):
        for t in range(1, T):
            if ids[b, t] != pad:
                total = total - logp[b, t - 1, ids[b, t]]
                count += 1
    return total / count
""",
        "boolean selection": """
def shift_loss(logits, ids, pad):
    keep = ids[:, 1:] != pad
    x = logits[:, :-1][keep]
    y = ids[:, 1:][keep]
    return (x.logsumexp(-1) - x[torch.arange(len(y)), y]).mean()
""",
    },
    "gpt.mended_labels": {
        "an end behind an end is padding": """
def mended_labels(ids, end):
    labels = ids.clone()
    padding = (ids[:, 1:] == end) & (ids[:, :-1] == end)
    labels[:, 1:][padding] = -100
    return labels
""",
        "row by row": """
def mended_labels(ids, end):
    rows = []
    for row in ids.tolist():
        if end in row:
            stop = row.index(end) + 1
            row = row[:stop] + [-100] * (len(row) - stop)
        rows.append(row)
    return torch.tensor(rows)
""",
    },
    "gpt.sample": {
        "searchsorted": """
def sample(logits, draws, temperature, k):
    values, index = logits.topk(k, dim=-1)
    p = torch.zeros_like(logits).scatter(-1, index, torch.softmax(values / temperature, dim=-1))
    tokens = torch.searchsorted(p.cumsum(-1), draws[:, None], right=True).squeeze(1)
    return p, tokens.clamp(max=logits.shape[1] - 1)
""",
        "softmax first, then top-k and renormalised": """
def sample(logits, draws, temperature, k):
    p = torch.softmax(logits / temperature, dim=-1)
    index = torch.topk(logits, k).indices
    keep = torch.zeros_like(p).scatter(1, index, 1.0)
    p = p * keep
    p = p / p.sum(dim=-1, keepdim=True)
    tokens = []
    for row, draw in zip(p, draws):
        total = 0.0
        for token in range(len(row)):
            total = total + row[token]
            if total > draw:
                tokens.append(token)
                break
    return p, torch.tensor(tokens)
""",
    },
    "gpt.top_p": {
        "row by row": """
def top_p(probabilities, p):
    out = torch.zeros_like(probabilities)
    for b, row in enumerate(probabilities):
        order = row.argsort(descending=True)
        total = 0.0
        for i in order:
            out[b, i] = row[i]
            total += float(row[i])
            if total >= p:
                break
        out[b] /= out[b].sum()
    return out
""",
        "removal shifted by one": """
def top_p(probabilities, p):
    s, order = torch.sort(probabilities, dim=-1, descending=True)
    enough = torch.cumsum(s, dim=-1) >= p
    remove = torch.zeros_like(enough)
    remove[:, 1:] = enough[:, :-1]
    s = s.masked_fill(remove, 0.0)
    s = s / s.sum(-1, keepdim=True)
    return s.gather(-1, order.argsort(dim=-1))
""",
    },
    "gpt.few_shot_prompt": {
        "tensors put together": """
def few_shot_prompt(demos, query, mark, end):
    parts = []
    for text, label in demos:
        parts += [text, mark, label, end]
    parts += [query, mark]
    return torch.cat([torch.as_tensor(part, dtype=torch.long) for part in parts])
""",
    },
    "gpt.beam_search": {
        "lists and sorted": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beams = [(torch.tensor(0.0), [bos], False)]
    for _ in range(longest):
        candidates = []
        for score, ids, ended in beams:
            if ended:
                candidates.append((score, ids + [pad], True))
            else:
                log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(dim=-1)
                for token in range(len(log_p)):
                    candidates.append((score + log_p[token], ids + [token], token == eos))
        candidates.sort(key=lambda candidate: candidate[0].item(), reverse=True)
        beams = candidates[:width]
    score, ids, _ = beams[0]
    return torch.tensor(ids[1:]), score
""",
    },
}
