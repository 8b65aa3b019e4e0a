"""Answers to the exercises of notebook 01 as students write them, from the task texts alone: {exercise: {what it is: cell}}."""

WRONG = {
    "static.ppmi": {
        "logarithm to base 2": """
def ppmi(counts):
    total = counts.sum()
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / total
    pmi = torch.log2(counts / expected)
    pmi[counts == 0] = 0
    return torch.clamp(pmi, min=0)
""",
        "not a number where a word never occurs": """
def ppmi(counts):
    row = counts.sum(dim=1, keepdim=True)
    col = counts.sum(dim=0, keepdim=True)
    pmi = torch.log(counts * counts.sum() / (row * col))
    return pmi.clamp(min=0)
""",
        "negative values are kept": """
def ppmi(counts):
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    pmi = torch.log(counts / expected)
    return torch.where(counts > 0, pmi, torch.zeros_like(pmi))
""",
        "the size of the table in place of the sum of its counts": """
def ppmi(counts):
    N = counts.numel()
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / N
    ratio = counts / expected
    return torch.where(counts > 0, ratio.log(), 0.0).clamp(min=0)
""",
        "one is added to every count": """
def ppmi(counts):
    counts = counts + 1  # so that log never sees a zero
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
    return torch.log(counts / expected).clamp(min=0)
""",
        "one is added inside the logarithm": """
def ppmi(counts):
    expected = counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True) / counts.sum()
    ratio = torch.nan_to_num(counts / expected)
    return torch.log(ratio + 1).clamp(min=0)
""",
        "the share of the row, not divided by the share of the column": """
def ppmi(counts):
    p_context = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    p_word = counts.sum(dim=1, keepdim=True) / counts.sum()
    pmi = torch.log(p_context / p_word)
    return torch.where(counts > 0, pmi, 0.0).clamp(min=0)
""",
        "weighted by the probability of the pair": """
def ppmi(counts):
    p = counts / counts.sum()
    chance = p.sum(1, keepdim=True) * p.sum(0, keepdim=True)
    return torch.where(p > 0, p * torch.log(p / chance), 0.0).clamp(min=0)
""",
        "absolute value in place of the positive part": """
def ppmi(counts):
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    pmi = torch.where(counts > 0, torch.log(counts / expected), 0.0)
    return pmi.abs()
""",
        "a large epsilon in the ratio": """
def ppmi(counts):
    eps = 0.1
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return torch.log((counts + eps) / (expected + eps)).clamp(min=0)
""",
        "logarithm to base 10": """
def ppmi(counts):
    e = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return torch.where(counts > 0, torch.log10(counts / e), 0.0).clamp(min=0)
""",
        "context counts to the power three quarters": """
def ppmi(counts):
    c = counts.sum(0) ** 0.75
    p = counts / counts.sum()
    e = p.sum(1, keepdim=True) * (c / c.sum())
    return torch.where(counts > 0, torch.log(p / e), 0.0).clamp(min=0)
""",
        "only pairs seen more than once": """
def ppmi(counts):
    e = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return torch.where(counts > 1, torch.log(counts / e), 0.0).clamp(min=0)
""",
        "the chance of a pair from the square of the total": """
def ppmi(counts):
    e = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum() ** 2
    return torch.where(counts > 0, torch.log(counts / e), 0.0).clamp(min=0)
""",
    },
    "static.cosine": {
        "not a number for a row of zeros": """
def cosine(a, b):
    return (a @ b.T) / (a.norm(dim=1, keepdim=True) * b.norm(dim=1))
""",
        "no length below one": """
def cosine(a, b):
    return a @ b.T / (a.norm(dim=1).clamp(min=1)[:, None] * b.norm(dim=1).clamp(min=1))
""",
        "the dot product": """
def cosine(a, b):
    return a @ b.T
""",
        "the length of the whole matrix": """
def cosine(a, b):
    a = a / (torch.norm(a) + 1e-12)
    b = b / (torch.norm(b) + 1e-12)
    return a @ b.T
""",
        "columns brought to length one": """
def cosine(a, b):
    return F.normalize(a, dim=0) @ F.normalize(b, dim=0).T
""",
        "divided by the squared lengths": """
def cosine(a, b):
    na = (a ** 2).sum(1, keepdim=True).clamp(min=1e-12)
    nb = (b ** 2).sum(1, keepdim=True).clamp(min=1e-12)
    return (a @ b.T) / (na * nb.T)
""",
        "only a brought to length one": """
def cosine(a, b):
    a = F.normalize(a, dim=1)
    return a @ b.T
""",
        "every row of b with every row of a": """
def cosine(a, b):
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    return b @ a.T
""",
        "the angle": """
def cosine(a, b):
    c = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T
    return torch.acos(c.clamp(-1, 1))
""",
        "one where a row is zero": """
def cosine(a, b):
    c = (a @ b.T) / (a.norm(dim=1, keepdim=True) * b.norm(dim=1))
    return torch.nan_to_num(c, nan=1.0)
""",
        "the mean of each row is taken off first": """
def cosine(a, b):
    a = a - a.mean(dim=1, keepdim=True)
    b = b - b.mean(dim=1, keepdim=True)
    return F.normalize(a, dim=1) @ F.normalize(b, dim=1).T
""",
        "negative cosines set to zero": """
def cosine(a, b):
    return (F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).clamp(min=0)
""",
        "lengths as sums of absolute values": """
def cosine(a, b):
    return F.normalize(a, p=1, dim=1) @ F.normalize(b, p=1, dim=1).T
""",
        "every row of a with itself": """
def cosine(a, b):
    return F.normalize(a, dim=1) @ F.normalize(a, dim=1).T
""",
        "mapped to 0 to 1": """
def cosine(a, b):
    return (F.normalize(a, dim=1) @ F.normalize(b, dim=1).T + 1) / 2
""",
    },
    "static.nearest": {
        "ranked by the dot product": """
def nearest(vectors, query, k):
    scores = vectors @ vectors[query]
    scores[query] = -float("inf")
    return scores.topk(k).indices
""",
        "the word itself is in the list": """
def nearest(vectors, query, k):
    sim = cosine(vectors[query:query + 1], vectors)[0]
    return torch.topk(sim, k).indices
""",
        "one too few: k asked for and the first dropped": """
def nearest(vectors, query, k):
    sim = cosine(vectors[query].unsqueeze(0), vectors).squeeze()
    return sim.argsort(descending=True)[1:k]
""",
        "the least similar": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    order = sim.argsort()
    order = order[order != query]
    return order[:k]
""",
        "the word itself gets similarity 0": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    sim[query] = 0
    return sim.topk(k).indices
""",
        "every word of cosine 1 is left out": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    order = [i for i in sim.argsort(descending=True).tolist() if sim[i] < 0.9999]
    return order[:k]
""",
        "the similarities, not the rows": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    sim[query] = -2
    return sim.topk(k).values
""",
        "Euclidean distance": """
def nearest(vectors, query, k):
    distance = (vectors - vectors[query]).norm(dim=1)
    distance[query] = float("inf")
    return distance.topk(k, largest=False).indices
""",
        "rows counted after the word was taken out": """
def nearest(vectors, query, k):
    others = torch.cat([vectors[:query], vectors[query + 1:]])
    sim = cosine(vectors[[query]], others)[0]
    return sim.topk(k).indices
""",
        "in the order of the table": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    sim[query] = -torch.inf
    return sim.topk(k).indices.sort().values
""",
        "ranked by the size of the cosine, whatever its sign": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0].abs()
    sim[query] = -1
    return sim.topk(k).indices
""",
        "the first two dropped": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    return sim.argsort(descending=True)[2:k + 2]
""",
        "normalised columns": """
def nearest(vectors, query, k):
    u = F.normalize(vectors, dim=0)
    s = u @ u[query]
    s[query] = -torch.inf
    return s.topk(k).indices
""",
        "only the query normalised": """
def nearest(vectors, query, k):
    s = vectors @ F.normalize(vectors[query], dim=0)
    s[query] = -torch.inf
    return s.topk(k).indices
""",
        "the first of k + 1 dropped": """
def nearest(vectors, query, k):
    sim = cosine(vectors[query][None, :], vectors)[0]
    return sim.topk(k + 1).indices[1:]
""",
        "the first of all dropped": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0]
    return sim.argsort(descending=True)[1:k + 1]
""",
        "not a number for a word of zeros": """
def nearest(vectors, query, k):
    u = vectors / vectors.norm(dim=1, keepdim=True)
    s = u @ u[query]
    s[query] = -torch.inf
    return s.topk(k).indices
""",
        "words of the same vector left out": """
def nearest(vectors, query, k):
    s = cosine(vectors[[query]], vectors)[0]
    s[(vectors == vectors[query]).all(dim=1)] = -torch.inf
    return s.topk(k).indices
""",
    },
    "static.sgns_loss": {
        "averaged over the negatives": """
def sgns_loss(center, context, negatives):
    positive = F.logsigmoid((center * context).sum(-1))
    scores = torch.bmm(negatives, center.unsqueeze(2)).squeeze(2)
    negative = F.logsigmoid(-scores).mean(dim=1)
    return -(positive + negative).mean()
""",
        "summed over the batch": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = torch.einsum("bd,bkd->bk", center, negatives)
    return -F.logsigmoid(pos).sum() - F.logsigmoid(-neg).sum()
""",
        "log of one minus the sigmoid": """
def sgns_loss(center, context, negatives):
    pos = torch.sigmoid((center * context).sum(1))
    neg = torch.sigmoid(torch.einsum("bd,bkd->bk", center, negatives))
    return -(torch.log(pos) + torch.log(1 - neg).sum(1)).mean()
""",
        "finite by an epsilon in the logarithm": """
def sgns_loss(center, context, negatives):
    pos = torch.sigmoid((center * context).sum(1))
    neg = torch.sigmoid(-torch.einsum("bd,bkd->bk", center, negatives))
    return -(torch.log(pos + 1e-10) + torch.log(neg + 1e-10).sum(1)).mean()
""",
        "the negatives scored as if true": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives * center[:, None]).sum(-1)
    return -(F.logsigmoid(pos) + F.logsigmoid(neg).sum(1)).mean()
""",
        "one minus the log in place of the log of one minus": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives * center[:, None]).sum(-1)
    return -(F.logsigmoid(pos) + (1 - F.logsigmoid(neg)).sum(1)).mean()
""",
        "without the minus": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives * center[:, None]).sum(-1)
    return (F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean()
""",
        "averaged over all pairs, true and false": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1, keepdim=True)
    neg = (negatives * center[:, None]).sum(-1)
    scores = torch.cat([pos, neg], dim=1)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels)
""",
        "the negatives meet the context": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives * context[:, None]).sum(-1)
    return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean()
""",
        "softmax over the true one and the negatives": """
def sgns_loss(center, context, negatives):
    words = torch.cat([context[:, None], negatives], dim=1)
    scores = (words * center[:, None]).sum(-1)
    return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))
""",
        "the sum of the negatives scored once": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives.sum(1) * center).sum(1)
    return -(F.logsigmoid(pos) + F.logsigmoid(-neg)).mean()
""",
        "scores held between −30 and 30": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1).clamp(-30, 30)
    neg = (negatives * center[:, None]).sum(-1).clamp(-30, 30)
    return -(torch.sigmoid(pos).log() + torch.sigmoid(-neg).log().sum(1)).mean()
""",
        "in bits": """
def sgns_loss(center, context, negatives):
    pos = (center * context).sum(1)
    neg = (negatives * center[:, None]).sum(-1)
    return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean() / np.log(2)
""",
        "no negatives": """
def sgns_loss(center, context, negatives):
    return F.softplus(-(center * context).sum(1)).mean()
""",
        "negatives averaged over everything": """
def sgns_loss(center, context, negatives):
    t = (center * context).sum(1)
    n = (negatives * center[:, None]).sum(2)
    return -F.logsigmoid(t).mean() - F.logsigmoid(-n).mean()
""",
        "divided by the size of the batch twice": """
def sgns_loss(center, context, negatives):
    t = (center * context).sum(1)
    n = (negatives * center[:, None]).sum(2)
    return -(F.logsigmoid(t) + F.logsigmoid(-n).sum(1)).mean() / len(center)
""",
        "a loss for each example": """
def sgns_loss(center, context, negatives):
    t = (center * context).sum(1)
    n = (negatives * center[:, None]).sum(2)
    return -(F.logsigmoid(t) + F.logsigmoid(-n).sum(1))
""",
        "cosines as scores": """
def sgns_loss(center, context, negatives):
    t = F.cosine_similarity(center, context, dim=1)
    n = F.cosine_similarity(negatives, center[:, None], dim=2)
    return -(F.logsigmoid(t) + F.logsigmoid(-n).sum(1)).mean()
""",
    },
    "static.cbow_gradient": {
        "the bug of word2vec": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts)
""",
        "four context words, as in the example": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / 4
""",
        "the gradient of the average over examples": """
def cbow_gradient(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    loss = sgns_loss(contexts.mean(dim=1), target, negatives)
    return torch.autograd.grad(loss, contexts)[0]
""",
        "divided by the number of coordinates": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    error = error / contexts.size(-1)
    return error.unsqueeze(1).expand_as(contexts)
""",
        "the sum of the context words, then divided": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.sum(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]
""",
        "the gradient with respect to the average": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1, keepdim=True)
    pull = torch.sigmoid((hidden * target[:, None]).sum(-1, keepdim=True)) - 1
    push = torch.sigmoid((negatives * hidden).sum(-1, keepdim=True))
    return pull * target[:, None] + (push * negatives).sum(1, keepdim=True)
""",
        "divided by the number of negatives": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / negatives.shape[1]
""",
        "downhill": """
def cbow_gradient(contexts, target, negatives):
    C = contexts.shape[1]
    hidden = contexts.mean(1)
    g = 1 - torch.sigmoid((hidden * target).sum(1, keepdim=True))
    h = torch.sigmoid(torch.einsum("bd,bkd->bk", hidden, negatives))
    error = g * target - torch.einsum("bk,bkd->bd", h, negatives)
    return error[:, None].repeat(1, C, 1) / C
""",
        "each context word scored by itself": """
def cbow_gradient(contexts, target, negatives):
    pull = torch.sigmoid(torch.einsum("bcd,bd->bc", contexts, target)) - 1
    push = torch.sigmoid(torch.einsum("bcd,bkd->bck", contexts, negatives))
    error = pull[..., None] * target[:, None] + torch.einsum("bck,bkd->bcd", push, negatives)
    return error / contexts.shape[1]
""",
        "only the average inside is divided again": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1) / contexts.shape[1]
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts)
""",
        "only the term of the target is divided": """
def cbow_gradient(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target / contexts.shape[1] + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts)
""",
        "the sigmoid of the target without minus one": """
def cbow_gradient(contexts, target, negatives):
    h = contexts.mean(1)
    p = torch.sigmoid((h * target).sum(1))
    q = torch.sigmoid((negatives * h[:, None]).sum(2))
    e = p[:, None] * target + (q[:, :, None] * negatives).sum(1)
    return e[:, None].expand_as(contexts) / contexts.shape[1]
""",
        "negatives averaged": """
def cbow_gradient(contexts, target, negatives):
    h = contexts.mean(1)
    p = torch.sigmoid((h * target).sum(1)) - 1
    q = torch.sigmoid((negatives * h[:, None]).sum(2))
    e = p[:, None] * target + (q[:, :, None] * negatives).mean(1)
    return e[:, None].expand_as(contexts) / contexts.shape[1]
""",
        "divided by the examples, not by the context words": """
def cbow_gradient(contexts, target, negatives):
    c = contexts.clone().requires_grad_()
    loss = sgns_loss(c.mean(1), target, negatives)
    loss.backward()
    return c.grad * contexts.shape[1]
""",
    },
    "static.sense_mixture": {
        "negative weights set to zero": """
def sense_mixture(v, senses):
    a = torch.linalg.lstsq(senses.T, v[:, None]).solution[:, 0]
    return a.clamp(min=0)
""",
        "brought to sum one": """
def sense_mixture(v, senses):
    a = torch.linalg.lstsq(senses.T, v[:, None]).solution[:, 0]
    return a / a.sum()
""",
        "dot products with the senses": """
def sense_mixture(v, senses):
    return senses @ v
""",
        "each sense by itself": """
def sense_mixture(v, senses):
    return (senses @ v) / (senses ** 2).sum(dim=1)
""",
        "cosines": """
def sense_mixture(v, senses):
    return cosine(v.unsqueeze(0), senses).squeeze(0)
""",
        "softmax of the dot products": """
def sense_mixture(v, senses):
    return torch.softmax(senses @ v, dim=0)
""",
        "ridge of one": """
def sense_mixture(v, senses):
    gram = senses @ senses.T + torch.eye(len(senses))
    return torch.linalg.solve(gram, senses @ v)
""",
        "with a constant term": """
def sense_mixture(v, senses):
    X = torch.cat([senses.T, torch.ones(len(v), 1)], dim=1)
    return torch.linalg.lstsq(X, v[:, None]).solution[:-1, 0]
""",
        "the senses brought to length one first": """
def sense_mixture(v, senses):
    unit = F.normalize(senses, dim=1)
    return torch.linalg.lstsq(unit.T, v[:, None]).solution.squeeze(1)
""",
        "least squares for as many coordinates as senses": """
def sense_mixture(v, senses):
    S = len(senses)
    return torch.linalg.solve(senses[:, :S].T, v[:S])
""",
        "gradient descent stopped early": """
def sense_mixture(v, senses):
    a = torch.zeros(len(senses))
    for _ in range(20):
        a = a - 0.001 * senses @ (a @ senses - v)
    return a
""",
        "the last weight is what is missing to one": """
def sense_mixture(v, senses):
    last = senses[-1]
    a = torch.linalg.lstsq((senses[:-1] - last).T, (v - last)[:, None]).solution[:, 0]
    return torch.cat([a, 1 - a.sum()[None]])
""",
        "word and senses brought to length one": """
def sense_mixture(v, senses):
    return torch.linalg.lstsq(F.normalize(senses, dim=1).T, F.normalize(v, dim=0)[:, None]).solution[:, 0]
""",
        "a column comes back": """
def sense_mixture(v, senses):
    return torch.linalg.lstsq(senses.T, v[:, None]).solution
""",
    },
    "static.separation": {
        "senses from 0 to the largest": """
def separation(h, senses):
    sim = cosine(h, h)
    same, different = [], []
    for s in range(int(senses.max()) + 1):
        block = sim[senses == s][:, senses == s]
        i, j = torch.triu_indices(len(block), len(block), offset=1)
        same.append(block[i, j])
        different.append(sim[senses == s][:, senses != s].reshape(-1))
    return torch.cat(same).mean() - torch.cat(different).mean()
""",
        "the senses one-hot": """
def separation(h, senses):
    one_hot = F.one_hot(senses).float()
    same = (one_hot @ one_hot.T).bool()
    sim = cosine(h, h)
    itself = torch.eye(len(h), dtype=torch.bool)
    return sim[same & ~itself].mean() - sim[~same].mean()
""",
        "not a number for a vector of zeros": """
def separation(h, senses):
    u = h / h.norm(dim=1, keepdim=True)
    sim = u @ u.T
    same = senses[:, None] == senses
    itself = torch.eye(len(h), dtype=torch.bool)
    return sim[same & ~itself].mean() - sim[~same].mean()
""",
        "pairs of an occurrence with itself": """
def separation(h, senses):
    sim = cosine(h, h)
    same = senses[:, None] == senses[None, :]
    return sim[same].mean() - sim[~same].mean()
""",
        "different minus same": """
def separation(h, senses):
    sim = cosine(h, h)
    same = senses[:, None] == senses[None, :]
    off = ~torch.eye(len(h), dtype=torch.bool)
    return sim[~same].mean() - sim[same & off].mean()
""",
        "every sense counts once": """
def separation(h, senses):
    sim = cosine(h, h)
    within = []
    for s in senses.unique():
        rows = (senses == s).nonzero().flatten()
        if len(rows) > 1:
            block = sim[rows][:, rows]
            n = len(rows)
            within.append((block.sum() - block.diagonal().sum()) / (n * (n - 1)))
    different = senses[:, None] != senses[None, :]
    return torch.stack(within).mean() - sim[different].mean()
""",
        "dot products": """
def separation(h, senses):
    sim = h @ h.T
    same = senses[:, None] == senses[None, :]
    off = ~torch.eye(len(h), dtype=torch.bool)
    return sim[same & off].mean() - sim[~same].mean()
""",
        "equal vectors are left out as if each were itself": """
def separation(h, senses):
    sim = cosine(h, h)
    same = senses[:, None] == senses[None, :]
    itself = sim > 0.9999
    return sim[same & ~itself].mean() - sim[~same].mean()
""",
        "the mean over all pairs, others as zeros": """
def separation(h, senses):
    sim = cosine(h, h)
    same = (senses[:, None] == senses[None, :]).float()
    off = 1 - torch.eye(len(h))
    return (sim * same * off).mean() - (sim * (1 - same)).mean()
""",
        "sums": """
def separation(h, senses):
    total = torch.tensor(0.0)
    sim = cosine(h, h)
    for i in range(len(h)):
        for j in range(i + 1, len(h)):
            total += sim[i, j] if senses[i] == senses[j] else -sim[i, j]
    return total
""",
        "neighbouring occurrences only": """
def separation(h, senses):
    sim = cosine(h, h).diagonal(offset=1)
    same = senses[:-1] == senses[1:]
    return torch.nan_to_num(sim[same].mean()) - torch.nan_to_num(sim[~same].mean())
""",
        "two senses, 0 and 1": """
def separation(h, senses):
    first, second = h[senses == 0], h[senses == 1]
    def within(x):
        n = len(x)
        return cosine(x, x).sum() - n, n * (n - 1)
    (a, n), (b, m) = within(first), within(second)
    return (a + b) / (n + m) - cosine(first, second).mean()
""",
        "against all pairs, not those with different senses": """
def separation(h, senses):
    sim = cosine(h, h)
    off = ~torch.eye(len(h), dtype=torch.bool)
    same = (senses[:, None] == senses[None, :]) & off
    return sim[same].mean() - sim[off].mean()
""",
        "the diagonal is set to zero but still counted": """
def separation(h, senses):
    sim = cosine(h, h)
    sim.fill_diagonal_(0)
    same = senses[:, None] == senses[None, :]
    return sim[same].mean() - sim[~same].mean()
""",
        "centres of the senses": """
def separation(h, senses):
    centres = torch.stack([h[senses == s].mean(0) for s in senses.unique()])
    index = torch.unique(senses, return_inverse=True)[1]
    sim = cosine(h, centres)
    own = torch.zeros_like(sim, dtype=torch.bool)
    own[torch.arange(len(h)), index] = True
    return sim[own].mean() - sim[~own].mean()
""",
        "unit vectors per column": """
def separation(h, senses):
    u = F.normalize(h, dim=0)
    sim = u @ u.T
    same = senses[:, None] == senses
    eye = torch.eye(len(h), dtype=torch.bool)
    return sim[same & ~eye].mean() - sim[~same].mean()
""",
        "distances": """
def separation(h, senses):
    sim = torch.cdist(h, h)
    same = senses[:, None] == senses
    eye = torch.eye(len(h), dtype=torch.bool)
    return sim[same & ~eye].mean() - sim[~same].mean()
""",
        "the same sense counted for different too": """
def separation(h, senses):
    sim = cosine(h, h)
    same = senses[:, None] == senses
    eye = torch.eye(len(h), dtype=torch.bool)
    return sim[same & ~eye].mean() - sim.mean()
""",
    },
    "static.negative_distribution": {
        "the power is always three quarters": """
def negative_distribution(counts, power):
    weights = counts ** 0.75
    return weights / weights.sum()
""",
        "shares to the power, not brought to sum one again": """
def negative_distribution(counts, power):
    p = counts / counts.sum()
    return p ** power
""",
        "divided by the sum of the counts to the power": """
def negative_distribution(counts, power):
    return counts ** power / counts.sum() ** power
""",
        "softmax": """
def negative_distribution(counts, power):
    return torch.softmax(counts ** power, dim=0)
""",
        "one is added, so that unseen words are drawn": """
def negative_distribution(counts, power):
    weights = (counts + 1) ** power
    return weights / weights.sum()
""",
        "times the power": """
def negative_distribution(counts, power):
    weights = counts * power
    return weights / weights.sum()
""",
        "divided by the largest": """
def negative_distribution(counts, power):
    weights = counts ** power
    return weights / weights.max()
""",
        "power and base interchanged": """
def negative_distribution(counts, power):
    weights = torch.tensor(power) ** counts
    return weights / weights.sum()
""",
        "the inverse power": """
def negative_distribution(counts, power):
    weights = counts ** (1 / power)
    return weights / weights.sum()
""",
        "the rare first": """
def negative_distribution(counts, power):
    weights = counts.clamp(min=1) ** -power
    return weights / weights.sum()
""",
        "square root whatever the power": """
def negative_distribution(counts, power):
    w = counts.sqrt()
    return w / w.sum()
""",
        "mean of weights": """
def negative_distribution(counts, power):
    w = counts ** power
    return w / w.mean()
""",
    },
    "static.analogy": {
        "not a number for a word of zeros": """
def analogy(vectors, a, b, c, k):
    u = vectors / vectors.norm(dim=1, keepdim=True)
    sim = cosine((u[b] - u[a] + u[c])[None], u)[0]
    sim[[a, b, c]] = -torch.inf
    return sim.topk(k).indices
""",
        "vectors of their own lengths": """
def analogy(vectors, a, b, c, k):
    target = vectors[b] - vectors[a] + vectors[c]
    sim = cosine(target[None], vectors)[0]
    sim[[a, b, c]] = -torch.inf
    return sim.topk(k).indices
""",
        "the words of the question are allowed": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    target = u[b] - u[a] + u[c]
    return cosine(target[None], u)[0].topk(k).indices
""",
        "a and b interchanged": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    sim = cosine((u[a] - u[b] + u[c])[None], u)[0]
    sim[[a, b, c]] = -torch.inf
    return sim.topk(k).indices
""",
        "only c is excluded": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    target = u[b] - u[a] + u[c]
    sim = cosine(target.unsqueeze(0), u).squeeze(0)
    sim[c] = -torch.inf
    return sim.topk(k).indices
""",
        "the dot product with vectors of their own lengths": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    scores = vectors @ (u[b] - u[a] + u[c])
    scores[[a, b, c]] = float("-inf")
    return scores.topk(k).indices
""",
        "the first three dropped": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    sim = cosine((u[b] - u[a] + u[c])[None], u)[0]
    return sim.topk(k + 3).indices[3:]
""",
        "the words of the question get similarity 0": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    sim = cosine((u[b] - u[a] + u[c])[None], u)[0]
    sim[[a, b, c]] = 0
    return sim.topk(k).indices
""",
        "c taken off": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    sim = cosine((u[a] + u[b] - u[c])[None], u)[0]
    sim[[a, b, c]] = -torch.inf
    return sim.topk(k).indices
""",
        "fewer than k where a word of the question was among the first": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    sim = cosine((u[b] - u[a] + u[c])[None], u)[0]
    best = [i for i in sim.topk(k).indices.tolist() if i not in (a, b, c)]
    return torch.tensor(best, dtype=torch.long)
""",
        "the nearest of c": """
def analogy(vectors, a, b, c, k):
    found = nearest(vectors, c, k + 2)
    return found[(found != a) & (found != b)][:k]
""",
        "k + 1, cut": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    s = u @ (u[b] - u[a] + u[c])
    s[[a, b, c]] = -torch.inf
    return s.topk(k + 1).indices[1:]
""",
        "b and c are excluded, a is not": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    s = u @ (u[b] - u[a] + u[c])
    s[[b, c]] = -torch.inf
    return s.topk(k).indices
""",
    },
}

RIGHT = {
    "static.ppmi": {
        "nan and minus infinity cleared afterwards": """
def ppmi(counts):
    pmi = torch.log(counts * counts.sum() / (counts.sum(1, keepdim=True) * counts.sum(0, keepdim=True)))
    pmi[torch.isnan(pmi)] = 0
    return torch.maximum(pmi, torch.zeros_like(pmi))
""",
        "numpy, probabilities, double precision": """
def ppmi(counts):
    n = counts.numpy().astype(np.float64)
    p = n / n.sum()
    pw, pc = p.sum(axis=1), p.sum(axis=0)
    out = np.zeros_like(p)
    for w, c in zip(*p.nonzero()):
        out[w, c] = max(0.0, np.log(p[w, c] / (pw[w] * pc[c])))
    return out
""",
        "a difference of logarithms": """
def ppmi(counts):
    log = torch.log
    pmi = log(counts) + log(counts.sum()) - log(counts.sum(1))[:, None] - log(counts.sum(0))
    return torch.where(counts == 0, torch.zeros(()), pmi).relu()
""",
        "a tiny epsilon": """
def ppmi(counts):
    expected = torch.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    return torch.log((counts + 1e-12) / (expected + 1e-12)).clamp(min=0)
""",
    },
    "static.cosine": {
        "loop with torch's function": """
def cosine(a, b):
    return torch.stack([F.cosine_similarity(row.unsqueeze(0), b, dim=1) for row in a])
""",
        "numpy, zero rows replaced": """
def cosine(a, b):
    a, b = np.asarray(a), np.asarray(b)
    na, nb = np.linalg.norm(a, axis=1, keepdims=True), np.linalg.norm(b, axis=1, keepdims=True)
    na[na == 0] = 1
    nb[nb == 0] = 1
    return (a / na) @ (b / nb).T
""",
        "einsum, nan replaced by zero": """
def cosine(a, b):
    dot = torch.einsum("nd,md->nm", a, b)
    lengths = torch.outer(a.pow(2).sum(1).sqrt(), b.pow(2).sum(1).sqrt())
    return (dot / lengths).nan_to_num(0.0)
""",
        "broadcast": """
def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1)
""",
    },
    "static.nearest": {
        "sorted in Python": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors)[0].tolist()
    order = sorted((i for i in range(len(vectors)) if i != query), key=lambda i: -sim[i])
    return order[:k]
""",
        "one more than k, itself filtered": """
def nearest(vectors, query, k):
    sim = cosine(vectors[[query]], vectors).flatten()
    top = sim.argsort(descending=True)
    return top[top != query][:k]
""",
        "normalised by hand, numpy": """
def nearest(vectors, query, k):
    v = vectors.numpy().astype("float64")
    v = v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
    sim = v @ v[query]
    sim[query] = -np.inf
    return np.argsort(-sim)[:k]
""",
    },
    "static.sgns_loss": {
        "softplus": """
def sgns_loss(center, context, negatives):
    pos = torch.einsum("bd,bd->b", center, context)
    neg = torch.einsum("bd,bkd->bk", center, negatives)
    return (F.softplus(-pos) + F.softplus(neg).sum(dim=1)).mean()
""",
        "binary cross-entropy with logits, times 1 + k": """
def sgns_loss(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), negatives], dim=1)
    scores = (words @ center.unsqueeze(2)).squeeze(2)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1.0
    return F.binary_cross_entropy_with_logits(scores, labels, reduction="sum") / len(center)
""",
        "numpy, logaddexp, a loop": """
def sgns_loss(center, context, negatives):
    u, v, n = (np.asarray(t, dtype=np.float64) for t in (center, context, negatives))
    total = 0.0
    for i in range(len(u)):
        total += np.logaddexp(0, -u[i] @ v[i])
        for j in range(n.shape[1]):
            total += np.logaddexp(0, u[i] @ n[i, j])
    return total / len(u)
""",
        "cases of the sign": """
def sgns_loss(center, context, negatives):
    def log_sigmoid(x):
        return torch.clamp(x, max=0) - torch.log1p(torch.exp(-x.abs()))
    pos = (center * context).sum(1)
    neg = (negatives * center[:, None]).sum(2)
    return -log_sigmoid(pos).mean() - log_sigmoid(-neg).sum(1).mean()
""",
    },
    "static.cbow_gradient": {
        "autograd through the sum of the losses": """
def cbow_gradient(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    loss = sgns_loss(contexts.mean(dim=1), target, negatives) * len(contexts)
    loss.backward()
    return contexts.grad
""",
        "einsum and repeat": """
def cbow_gradient(contexts, target, negatives):
    C = contexts.size(1)
    hidden = contexts.sum(1) / C
    p = torch.sigmoid(torch.einsum("bd,bd->b", hidden, target))
    n = torch.sigmoid(torch.einsum("bd,bkd->bk", hidden, negatives))
    g = torch.einsum("b,bd->bd", p - 1, target) + torch.einsum("bk,bkd->bd", n, negatives)
    return (g / C).unsqueeze(1).repeat(1, C, 1)
""",
        "example by example": """
def cbow_gradient(contexts, target, negatives):
    out = torch.zeros_like(contexts)
    for b in range(len(contexts)):
        hidden = contexts[b].mean(0)
        grad = -torch.sigmoid(-hidden @ target[b]) * target[b]
        for negative in negatives[b]:
            grad = grad + torch.sigmoid(hidden @ negative) * negative
        out[b] = grad / len(contexts[b])
    return out
""",
    },
    "static.sense_mixture": {
        "pseudo-inverse": """
def sense_mixture(v, senses):
    return v @ torch.linalg.pinv(senses)
""",
        "normal equations in double precision": """
def sense_mixture(v, senses):
    s, w = senses.double(), v.double()
    return torch.linalg.solve(s @ s.T, s @ w)
""",
        "normal equations in single precision": """
def sense_mixture(v, senses):
    return torch.inverse(senses @ senses.T) @ senses @ v
""",
        "numpy": """
def sense_mixture(v, senses):
    return np.linalg.lstsq(senses.numpy().T, v.numpy(), rcond=None)[0]
""",
    },
    "static.separation": {
        "two loops": """
def separation(h, senses):
    sim = cosine(h, h)
    same, different = [], []
    for i in range(len(h)):
        for j in range(i):
            (same if senses[i] == senses[j] else different).append(sim[i, j].item())
    return sum(same) / len(same) - sum(different) / len(different)
""",
        "upper triangle": """
def separation(h, senses):
    i, j = torch.triu_indices(len(h), len(h), offset=1)
    c = F.cosine_similarity(h[i], h[j], dim=-1)
    same = senses[i] == senses[j]
    return c[same].mean() - c[~same].mean()
""",
        "sums of a masked product": """
def separation(h, senses):
    sim = cosine(h, h)
    same = (senses[:, None] == senses[None, :]).float() - torch.eye(len(h))
    different = (senses[:, None] != senses[None, :]).float()
    return (sim * same).sum() / same.sum() - (sim * different).sum() / different.sum()
""",
    },
    "static.negative_distribution": {
        "softmax of the logarithms": """
def negative_distribution(counts, power):
    return torch.softmax(power * torch.log(counts), dim=0)
""",
        "shares first": """
def negative_distribution(counts, power):
    p = (counts / counts.sum()).pow(power)
    return p / p.sum()
""",
        "a list": """
def negative_distribution(counts, power):
    weights = [float(n) ** power for n in counts]
    return [w / sum(weights) for w in weights]
""",
    },
    "static.analogy": {
        "the order filtered": """
def analogy(vectors, a, b, c, k):
    u = F.normalize(vectors, dim=1)
    order = (u @ (u[b] - u[a] + u[c])).argsort(descending=True).tolist()
    return torch.tensor([i for i in order if i not in (a, b, c)][:k])
""",
        "Euclidean distance of unit vectors": """
def analogy(vectors, a, b, c, k):
    u = vectors / vectors.norm(dim=1, keepdim=True)
    distance = (u - (u[b] - u[a] + u[c])).norm(dim=1)
    distance[[a, b, c]] = float("inf")
    return distance.argsort()[:k]
""",
        "numpy": """
def analogy(vectors, a, b, c, k):
    u = vectors.numpy().astype("float64")
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    t = u[b] - u[a] + u[c]
    sim = u @ t / np.linalg.norm(t)
    sim[[a, b, c]] = -2
    return np.argsort(-sim)[:k]
""",
    },
}
