"""Answers to the exercises of notebook 11, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "sentences.spearman": {
        "argsort called twice, ties in the order in which they stand": """
def spearman(a, b):
    ranks_a = torch.argsort(torch.argsort(a)) + 1
    ranks_b = torch.argsort(torch.argsort(b)) + 1
    return torch.corrcoef(torch.stack([ranks_a.float(), ranks_b.float()]))[0, 1]
""",
        "equal values take one rank together and the next one follows": """
def spearman(a, b):
    ra = torch.unique(a, return_inverse=True)[1].float()
    rb = torch.unique(b, return_inverse=True)[1].float()
    return torch.corrcoef(torch.stack([ra, rb]))[0, 1]
""",
        "the short formula, which holds without ties only": """
def spearman(a, b):
    def ranks(x):
        r = torch.zeros(len(x))
        for i in range(len(x)):
            r[i] = (x < x[i]).sum() + ((x == x[i]).sum() + 1) / 2
        return r

    n = len(a)
    d = ranks(a) - ranks(b)
    return 1 - 6 * (d ** 2).sum() / (n * (n ** 2 - 1))
""",
    },
    "sentences.classification_objective": {
        "the difference with its sign": """
def classification_objective(u, v, W, labels):
    features = torch.cat((u, v, u - v), dim=-1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the product instead of the difference": """
def classification_objective(u, v, W, labels):
    features = torch.hstack([u, v, u * v])
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the difference stands in the middle": """
def classification_objective(u, v, W, labels):
    B, D = u.shape
    features = torch.zeros(B, 3 * D)
    features[:, :D] = u
    features[:, D:2 * D] = torch.abs(u - v)
    features[:, 2 * D:] = v
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the logarithm of a softmax that has become 0": """
def classification_objective(u, v, W, labels):
    probs = torch.softmax(torch.cat([u, v, (u - v).abs()], dim=1) @ W, dim=-1)
    picked = probs[torch.arange(len(labels)), labels]
    return -torch.log(picked).mean()
""",
        "a softmax before a loss that takes one itself": """
def classification_objective(u, v, W, labels):
    logits = torch.cat([u, v, (u - v).abs()], dim=1) @ W
    return torch.nn.functional.cross_entropy(logits.softmax(dim=1), labels)
""",
        "unit vectors": """
def classification_objective(u, v, W, labels):
    u = normalize(u, dim=-1)
    v = normalize(v, dim=-1)
    return torch.nn.functional.cross_entropy(torch.cat([u, v, (u - v).abs()], dim=1) @ W, labels)
""",
    },
    "sentences.ranking_loss": {
        "hard negatives left out": """
def ranking_loss(anchors, positives, scale):
    B = anchors.shape[0]
    a = normalize(anchors, dim=-1)
    p = normalize(positives[:B], dim=-1)
    logits = scale * a @ p.T
    return torch.nn.functional.cross_entropy(logits, torch.arange(B))
""",
        "dot products, not cosines": """
def ranking_loss(anchors, positives, scale):
    logits = anchors @ positives.T * scale
    log_p = torch.log_softmax(logits, dim=-1)
    B = len(anchors)
    return -log_p[torch.arange(B), torch.arange(B)].mean()
""",
        "each positive has to find its anchor": """
def ranking_loss(anchors, positives, scale):
    cos = torch.cosine_similarity(anchors[:, None], positives[None], dim=-1)
    logp = (scale * cos).log_softmax(dim=0)
    loss = 0
    for i in range(len(anchors)):
        loss -= logp[i, i]
    return loss / len(anchors)
""",
    },
    "sentences.search": {
        "dot products, so that long vectors win": """
def search(query, corpus, k):
    scores = query @ corpus.T
    values, indices = torch.topk(scores, k, dim=-1)
    return indices, values
""",
        "the nearest last": """
def search(query, corpus, k):
    cosines = normalize(query, dim=-1) @ normalize(corpus, dim=-1).T
    numbers = cosines.argsort(dim=1)[:, -k:]
    return numbers, cosines.gather(1, numbers)
""",
        "normalised along the wrong axis": """
def search(query, corpus, k):
    q = normalize(query, dim=0)
    c = normalize(corpus, dim=0)
    best = (q @ c.T).topk(k)
    return best.indices, best.values
""",
    },
    "sentences.windows": {
        "windows go on after one has reached the end": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    for start in range(0, len(ids), size - overlap):
        piece = ids[start:start + size].tolist()
        missing = size - len(piece)
        keeps.append([True] * len(piece) + [False] * missing)
        rows.append(piece + [pad] * missing)
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "an id of the text that equals pad counts as padding": """
def windows(ids, size, overlap, pad):
    step = size - overlap
    rows = []
    start = 0
    while True:
        row = torch.full((size,), pad, dtype=ids.dtype)
        piece = ids[start:start + size]
        row[:len(piece)] = piece
        rows.append(row)
        if start + size >= len(ids):
            break
        start += step
    rows = torch.stack(rows)
    return rows, rows != pad
""",
        "the last window is moved back until it is full": """
def windows(ids, size, overlap, pad):
    T = len(ids)
    starts = [0]
    while starts[-1] + size < T:
        starts.append(min(starts[-1] + size - overlap, T - size))
    rows = torch.full((len(starts), size), pad)
    keep = torch.zeros(len(starts), size, dtype=torch.bool)
    for w, s in enumerate(starts):
        n = min(size, T - s)
        rows[w, :n] = ids[s:s + n]
        keep[w, :n] = True
    return rows, keep
""",
    },
    "sentences.pool_windows": {
        "all windows count the same": """
def pool_windows(hidden, keep):
    return mean_pool(hidden, keep).mean(dim=0)
""",
        "weights that do not add up to 1": """
def pool_windows(hidden, keep):
    weights = keep.float().mean(dim=1)
    vectors = mean_pool(hidden, keep)
    return (weights.unsqueeze(1) * vectors).sum(dim=0)
""",
        "a softmax of the numbers of tokens": """
def pool_windows(hidden, keep):
    counts = keep.sum(dim=1).float()
    weights = torch.softmax(counts, dim=0)
    return weights @ mean_pool(hidden, keep)
""",
    },
    "sentences.last_token": {
        "padding on the right only": """
def last_token(hidden, keep):
    lengths = keep.sum(dim=1)
    return hidden[torch.arange(hidden.shape[0]), lengths - 1]
""",
        "the side is taken from the whole batch, not from the row": """
def last_token(hidden, keep):
    left_padding = keep[:, -1].all()
    if left_padding:
        return hidden[:, -1]
    lengths = keep.sum(dim=1) - 1
    return hidden[torch.arange(len(hidden)), lengths]
""",
        "the last position, padding or not": """
def last_token(hidden, keep):
    return torch.stack([sentence[-1] for sentence in hidden])
""",
    },
}

RIGHT = {
    "sentences.spearman": {
        "loops": """
def spearman(a, b):
    def ranks(x):
        x = x.tolist()
        ordered = sorted(x)
        result = []
        for value in x:
            first = ordered.index(value) + 1
            result.append(first + (ordered.count(value) - 1) / 2)
        return torch.tensor(result)

    return torch.corrcoef(torch.stack([ranks(a), ranks(b)]))[0, 1]
""",
        "of scipy": """
def spearman(a, b):
    from scipy.stats import spearmanr
    return torch.tensor(float(spearmanr(a.numpy(), b.numpy()).statistic))
""",
    },
    "sentences.classification_objective": {
        "hstack": """
def classification_objective(u, v, W, labels):
    features = torch.hstack((u, v, torch.abs(v - u)))
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "of the library": """
def classification_objective(u, v, W, labels):
    return torch.nn.functional.cross_entropy(torch.cat([u, v, (u - v).abs()], dim=1) @ W, labels)
""",
        "logsumexp": """
def classification_objective(u, v, W, labels):
    logits = torch.cat([u, v, (u - v).abs()], dim=-1) @ W
    right = logits[torch.arange(len(labels)), labels]
    return (torch.logsumexp(logits, dim=-1) - right).mean()
""",
    },
    "sentences.ranking_loss": {
        "of the library": """
def ranking_loss(anchors, positives, scale):
    cos = torch.cosine_similarity(anchors.unsqueeze(1), positives.unsqueeze(0), dim=-1)
    return torch.nn.functional.cross_entropy(cos * scale, torch.arange(len(anchors)))
""",
    },
    "sentences.search": {
        "sorted": """
def search(query, corpus, k):
    q = query / query.norm(dim=-1, keepdim=True)
    c = corpus / corpus.norm(dim=-1, keepdim=True)
    cosines, numbers = (q @ c.T).sort(dim=-1, descending=True)
    return numbers[:, :k], cosines[:, :k]
""",
    },
    "sentences.windows": {
        "until one reaches the end": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    start = 0
    while True:
        piece = ids[start:start + size].tolist()
        fill = size - len(piece)
        rows.append(piece + [pad] * fill)
        keeps.append([True] * len(piece) + [False] * fill)
        if start + size >= len(ids):
            return torch.tensor(rows), torch.tensor(keeps)
        start += size - overlap
""",
        "padded first, then unfold": """
def windows(ids, size, overlap, pad):
    step = size - overlap
    T = len(ids)
    count = 1 + max(0, -(-(T - size) // step))
    length = size + (count - 1) * step
    padded = torch.cat([ids, torch.full((length - T,), pad, dtype=ids.dtype)])
    keep = torch.arange(length) < T
    return padded.unfold(0, size, step), keep.unfold(0, size, step)
""",
    },
    "sentences.pool_windows": {
        "the mean of all tokens": """
def pool_windows(hidden, keep):
    return hidden[keep].mean(dim=0)
""",
    },
    "sentences.last_token": {
        "sentence by sentence": """
def last_token(hidden, keep):
    return torch.stack([h[k][-1] for h, k in zip(hidden, keep)])
""",
        "the first maximum of the running sum": """
def last_token(hidden, keep):
    last = keep.long().cumsum(dim=1).argmax(dim=1)
    return hidden[range(len(hidden)), last]
""",
    },
}
