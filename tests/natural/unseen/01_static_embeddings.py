"""01_static_embeddings: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "static.ppmi": {
        "an empty row or column gives NaN": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    N = counts.sum()
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / N
    pmi = torch.log(counts / expected)
    pmi[pmi < 0] = 0
    return pmi
""",
        "row sums taken for both, as if the table were symmetric": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    total = counts.sum()
    n_w = counts.sum(dim=1)
    expected = torch.outer(n_w, n_w) / total
    out = torch.zeros_like(counts)
    seen = counts > 0
    out[seen] = torch.log(counts[seen] / expected[seen])
    return out.clamp(min=0)
""",
        "one added to all counts to avoid log 0": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    smooth = counts + 1
    total = smooth.sum()
    p = smooth / total
    pmi = torch.log(p / (p.sum(1, keepdim=True) * p.sum(0, keepdim=True)))
    return torch.relu(pmi)
""",
        "log of one plus the ratio": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
    ratio = counts / expected.clamp(min=1e-12)
    return torch.log1p(ratio).clamp(min=0)
""",
    },
    "static.cosine": {
        "a row of zeros gives NaN": """
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    dots = a @ b.T
    lengths = a.norm(dim=1).unsqueeze(1) * b.norm(dim=1).unsqueeze(0)
    return dots / lengths
""",
        "one norm for the whole matrix": """
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    a = a / torch.linalg.norm(a).clamp(min=1e-8)
    b = b / torch.linalg.norm(b).clamp(min=1e-8)
    return torch.mm(a, b.t())
""",
        "norms kept at one or more against division by zero": """
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    num = torch.einsum("nd,md->nm", a, b)
    na = torch.clamp(a.norm(dim=-1), min=1.0)
    nb = torch.clamp(b.norm(dim=-1), min=1.0)
    return num / na[:, None] / nb[None, :]
""",
    },
    "static.nearest": {
        "drops the first of k plus one, which need not be the word itself": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    sims = cosine(vectors[query].unsqueeze(0), vectors)[0]
    order = torch.argsort(sims, descending=True)
    return order[1 : k + 1]
""",
        "Euclidean distance": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    dist = torch.cdist(vectors[query : query + 1], vectors)[0]
    dist[query] = float("inf")
    return torch.argsort(dist)[:k]
""",
        "removes the row and forgets that the rows behind it move up": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    others = torch.cat([vectors[:query], vectors[query + 1 :]])
    sims = cosine(vectors[query][None, :], others).flatten()
    values, indices = torch.topk(sims, k)
    return indices
""",
        "similarity of the word itself set to zero only": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    sims = cosine(vectors[[query]], vectors)[0]
    sims[query] = 0
    return torch.topk(sims, k).indices
""",
    },
    "static.sgns_loss": {
        "a small number inside the logarithm": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    pos = (center * context).sum(-1)
    neg = torch.bmm(negatives, center.unsqueeze(2)).squeeze(2)
    eps = 1e-10
    loss = -torch.log(torch.sigmoid(pos) + eps) - torch.log(torch.sigmoid(-neg) + eps).sum(1)
    return loss.mean()
""",
        "mean over all scores, with binary cross-entropy": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    pos = (center * context).sum(-1, keepdim=True)
    neg = torch.einsum("bkd,bd->bk", negatives, center)
    scores = torch.cat([pos, neg], dim=1)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels)
""",
        "negatives scored against the context word": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    pos = (center * context).sum(dim=-1)
    neg = (negatives * context[:, None, :]).sum(dim=-1)
    return (F.softplus(-pos) + F.softplus(neg).sum(dim=1)).mean()
""",
        "scores clipped as word2vec does": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    pos = (center * context).sum(dim=-1).clamp(-6, 6)
    neg = (negatives @ center.unsqueeze(-1)).squeeze(-1).clamp(-6, 6)
    loss = -torch.log(torch.sigmoid(pos)) - torch.log(1 - torch.sigmoid(neg)).sum(dim=-1)
    return loss.mean()
""",
    },
    "static.cbow_gradient": {
        "gradient of the batch's mean loss": """
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    contexts = contexts.clone().detach().requires_grad_(True)
    loss = sgns_loss(contexts.mean(dim=1), target, negatives)
    loss.backward()
    return contexts.grad
""",
        "hidden vector is the sum of the context words": """
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    hidden = contexts.sum(dim=1)
    pull = torch.sigmoid((hidden * target).sum(1, keepdim=True)) - 1
    push = torch.sigmoid(torch.einsum("bkd,bd->bk", negatives, hidden))
    g = pull * target + torch.einsum("bk,bkd->bd", push, negatives)
    return g[:, None, :].repeat(1, contexts.shape[1], 1)
""",
        "divided by the batch in place of the window": """
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / len(contexts)
""",
    },
    "static.sense_mixture": {
        "weights through a softmax of the dot products": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    scores = senses @ v
    return torch.softmax(scores, dim=0)
""",
        "each sense fitted alone": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    return (senses @ v) / (senses * senses).sum(dim=1)
""",
        "best weights, then made to sum to one": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    w = torch.linalg.pinv(senses.T) @ v
    return w / w.sum()
""",
        "negative weights cut off": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    sol = torch.linalg.lstsq(senses.T, v[:, None]).solution[:, 0]
    return torch.clamp(sol, min=0)
""",
    },
    "static.separation": {
        "pairs of nearly equal vectors left out as if they were an occurrence with itself": """
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    sim = cosine(h, h)
    same = senses[:, None] == senses[None, :]
    not_self = sim < 0.9999
    return sim[same & not_self].mean() - sim[~same].mean()
""",
        "mean over senses of each sense's mean": """
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    sim = cosine(h, h)
    within = []
    for s in senses.unique():
        idx = (senses == s).nonzero().squeeze(1)
        n = len(idx)
        if n < 2:
            continue
        block = sim[idx][:, idx]
        within.append((block.sum() - block.diagonal().sum()) / (n * (n - 1)))
    different = senses[:, None] != senses[None, :]
    return torch.stack(within).mean() - sim[different].mean()
""",
        "every occurrence paired with itself, too": """
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    sim = cosine(h, h)
    same = (senses.unsqueeze(0) == senses.unsqueeze(1)).float()
    mean_same = (sim * same).sum() / same.sum()
    mean_diff = (sim * (1 - same)).sum() / (1 - same).sum()
    return mean_same - mean_diff
""",
    },
    "static.negative_distribution": {
        "words that never occur counted once": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    counts = counts.clamp(min=1)
    p = counts**power
    return p / p.sum()
""",
        "softmax of the powers": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    return torch.softmax(counts**power, dim=0)
""",
        "shares raised to the power, not brought back to one": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    freq = counts / counts.sum()
    return freq**power
""",
        "three quarters whatever the power": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    w = counts.pow(0.75)
    return w / w.sum()
""",
    },
    "static.analogy": {
        "vectors added at their own lengths": """
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    target = vectors[b] - vectors[a] + vectors[c]
    sims = cosine(target[None], vectors)[0]
    for i in (a, b, c):
        sims[i] = -float("inf")
    return sims.topk(k).indices
""",
        "only c is kept out of the answers": """
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    unit = F.normalize(vectors, dim=1)
    query = F.normalize(unit[b] - unit[a] + unit[c], dim=0)
    scores = unit @ query
    order = scores.argsort(descending=True)
    order = order[order != c]
    return order[:k]
""",
        "the question's words cut off the front of the list": """
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    unit = F.normalize(vectors, dim=-1)
    query = unit[b] - unit[a] + unit[c]
    ranking = torch.argsort(unit @ query, descending=True)
    return ranking[3 : 3 + k]
""",
        "a minus b plus c": """
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    v = vectors / vectors.norm(dim=1, keepdim=True)
    query = v[a] - v[b] + v[c]
    scores = cosine(query[None], v)[0]
    scores[torch.tensor([a, b, c])] = -2
    return scores.topk(k)[1]
""",
    },
}

RIGHT = {
    "static.ppmi": {
        "probabilities, then NaN to zero": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    p = counts / counts.sum()
    pw = p.sum(dim=1)[:, None]
    pc = p.sum(dim=0)[None, :]
    pmi = torch.log(p) - torch.log(pw) - torch.log(pc)
    pmi = torch.nan_to_num(pmi, nan=0.0, neginf=0.0)
    return torch.maximum(pmi, torch.zeros_like(pmi))
""",
        "two loops": """
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    import math
    rows, cols = counts.shape
    table = torch.zeros(rows, cols)
    N = counts.sum().item()
    for w in range(rows):
        for c in range(cols):
            n = counts[w, c].item()
            if n > 0:
                pmi = math.log(n * N / (counts[w].sum().item() * counts[:, c].sum().item()))
                table[w, c] = max(pmi, 0)
    return table
""",
    },
    "static.cosine": {
        "broadcast cosine_similarity": """
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    return F.cosine_similarity(a.unsqueeze(1), b.unsqueeze(0), dim=-1)
""",
        "NaN replaced afterwards": """
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    sim = (a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :])
    sim[torch.isnan(sim)] = 0
    return sim
""",
    },
    "static.nearest": {
        "sorted and filtered in Python": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    sims = cosine(vectors[[query]], vectors)[0].tolist()
    ranked = sorted(range(len(sims)), key=lambda i: -sims[i])
    ranked = [i for i in ranked if i != query]
    return torch.tensor(ranked[:k])
""",
        "normalised by hand, all others kept by a mask": """
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    unit = vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1e-12)
    sims = unit @ unit[query]
    candidates = torch.arange(vectors.shape[0])
    candidates = candidates[candidates != query]
    best = sims[candidates].argsort(descending=True)[:k]
    return candidates[best]
""",
    },
    "static.sgns_loss": {
        "softplus": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    pos = (center * context).sum(dim=-1)
    neg = (negatives @ center.unsqueeze(-1)).squeeze(-1)
    return torch.mean(F.softplus(-pos) + F.softplus(neg).sum(dim=-1))
""",
        "binary cross-entropy, summed and divided by the batch": """
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    B, k, D = negatives.shape
    pos = (center * context).sum(-1, keepdim=True)
    neg = torch.einsum("bkd,bd->bk", negatives, center)
    scores = torch.cat([pos, neg], dim=1)
    labels = torch.zeros(B, k + 1)
    labels[:, 0] = 1.0
    return F.binary_cross_entropy_with_logits(scores, labels, reduction="sum") / B
""",
    },
    "static.cbow_gradient": {
        "autograd on the sum of the losses": """
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    x = contexts.detach().clone().requires_grad_()
    h = x.mean(1)
    pos = (h * target).sum(1)
    neg = torch.einsum("bkd,bd->bk", negatives, h)
    total = -F.logsigmoid(pos).sum() - F.logsigmoid(-neg).sum()
    (grad,) = torch.autograd.grad(total, x)
    return grad
""",
    },
    "static.sense_mixture": {
        "pseudo-inverse": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    return torch.linalg.pinv(senses.T) @ v
""",
        "numpy": """
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    solution, *_ = np.linalg.lstsq(senses.numpy().T, v.numpy(), rcond=None)
    return torch.from_numpy(solution)
""",
    },
    "static.separation": {
        "a loop over pairs": """
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    same, diff = [], []
    sim = cosine(h, h)
    for i in range(len(h)):
        for j in range(i + 1, len(h)):
            if senses[i] == senses[j]:
                same.append(sim[i, j])
            else:
                diff.append(sim[i, j])
    return torch.stack(same).mean() - torch.stack(diff).mean()
""",
        "upper triangle": """
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    n = h.shape[0]
    i, j = torch.triu_indices(n, n, offset=1)
    sims = F.cosine_similarity(h[i], h[j], dim=1)
    equal = senses[i] == senses[j]
    return sims[equal].mean() - sims[~equal].mean()
""",
    },
    "static.negative_distribution": {
        "shares first": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    freq = counts / counts.sum()
    freq = torch.pow(freq, power)
    return freq / freq.sum()
""",
        "softmax of power times log": """
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    return torch.softmax(power * torch.log(counts), dim=0)
""",
    },
    "static.analogy": {
        "a list without the three": """
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    unit = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    query = unit[b] - unit[a] + unit[c]
    ranking = torch.argsort(unit @ query, descending=True).tolist()
    answers = [i for i in ranking if i not in {a, b, c}]
    return torch.tensor(answers[:k])
""",
    },
}
