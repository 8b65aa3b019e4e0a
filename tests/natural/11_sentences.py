"""Natural answers to the exercises of notebook 11, written from its text alone: cells as students write them.

WRONG and RIGHT: exercise → what is wrong or unusual about the answer → the source of the whole cell.
"""

WRONG = {
    "sentences.spearman": {
        "the bug of 2021": """
def spearman(a, b):
    ranks_a = torch.argsort(a) + 1
    ranks_b = torch.argsort(b) + 1
    return torch.corrcoef(torch.stack([ranks_a.float(), ranks_b.float()]))[0, 1]
""",
        "argsort twice": """
def spearman(a, b):
    ranks_a = torch.argsort(torch.argsort(a)) + 1
    ranks_b = torch.argsort(torch.argsort(b)) + 1
    return torch.corrcoef(torch.stack([ranks_a.float(), ranks_b.float()]))[0, 1]
""",
        "equal values get their smallest rank": """
def spearman(a, b):
    def ranks(x):
        return (x[:, None] > x[None, :]).sum(dim=1).float()
    return torch.corrcoef(torch.stack([ranks(a), ranks(b)]))[0, 1]
""",
        "equal values get their largest rank": """
def spearman(a, b):
    def ranks(x):
        return torch.tensor([float((x <= v).sum()) for v in x])
    return torch.corrcoef(torch.stack([ranks(a), ranks(b)]))[0, 1]
""",
        "dense ranks": """
def spearman(a, b):
    ra = torch.unique(a, return_inverse=True)[1].float()
    rb = torch.unique(b, return_inverse=True)[1].float()
    return torch.corrcoef(torch.stack([ra, rb]))[0, 1]
""",
        "the formula 1 − 6 Σd² / (n³ − n), which is for lists without ties": """
def spearman(a, b):
    def ranks(x):
        below = (x[:, None] > x).sum(dim=1)
        equal = (x[:, None] == x).sum(dim=1)
        return below + (equal + 1) / 2
    d = ranks(a) - ranks(b)
    n = len(a)
    return 1 - 6 * (d ** 2).sum() / (n * (n ** 2 - 1))
""",
        "Pearson of the values": """
def spearman(a, b):
    return torch.corrcoef(torch.stack([a, b]))[0, 1]
""",
        "only the first list has ties resolved": """
def spearman(a, b):
    def ranks(x):
        below = (x[:, None] > x).sum(dim=1)
        equal = (x[:, None] == x).sum(dim=1)
        return below + (equal + 1) / 2
    ra = ranks(a)
    rb = torch.argsort(torch.argsort(b)).float() + 1
    return torch.corrcoef(torch.stack([ra, rb]))[0, 1]
""",
        "cosine of the ranks, without their means": """
def spearman(a, b):
    def ranks(x):
        below = (x[:, None] > x).sum(dim=1)
        equal = (x[:, None] == x).sum(dim=1)
        return below + (equal + 1) / 2
    return torch.cosine_similarity(ranks(a), ranks(b), dim=0)
""",
        "Kendall's correlation": """
def spearman(a, b):
    sa = (a[:, None] - a).sign()
    sb = (b[:, None] - b).sign()
    return (sa * sb).sum() / (sa.square().sum() * sb.square().sum()).sqrt()
""",
    },
    "sentences.classification_objective": {
        "the difference keeps its sign": """
def classification_objective(u, v, W, labels):
    features = torch.cat([u, v, u - v], dim=-1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "one below the other": """
def classification_objective(u, v, W, labels):
    features = torch.cat([u, v, (u - v).abs()], dim=0)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "stacked": """
def classification_objective(u, v, W, labels):
    features = torch.stack([u, v, (u - v).abs()], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the product for the difference": """
def classification_objective(u, v, W, labels):
    features = torch.cat([u, v, u * v], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "squared differences": """
def classification_objective(u, v, W, labels):
    features = torch.cat([u, v, (u - v) ** 2], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the difference first": """
def classification_objective(u, v, W, labels):
    features = torch.cat([(u - v).abs(), u, v], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the length of the difference: one number": """
def classification_objective(u, v, W, labels):
    features = torch.cat([u, v, (u - v).norm(dim=1, keepdim=True)], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the numbers of the three vectors in turn": """
def classification_objective(u, v, W, labels):
    features = torch.stack([u, v, (u - v).abs()], dim=-1).flatten(1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the sum for the mean": """
def classification_objective(u, v, W, labels):
    logits = torch.cat([u, v, (u - v).abs()], dim=1) @ W
    return torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
""",
        "a softmax before a loss that takes one": """
def classification_objective(u, v, W, labels):
    probabilities = torch.softmax(torch.cat([u, v, (u - v).abs()], dim=1) @ W, dim=1)
    return torch.nn.functional.cross_entropy(probabilities, labels)
""",
        "softmax over the batch": """
def classification_objective(u, v, W, labels):
    log_p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).log_softmax(dim=0)
    return -log_p[torch.arange(len(labels)), labels].mean()
""",
        "vectors of length 1": """
def classification_objective(u, v, W, labels):
    u, v = normalize(u, dim=1), normalize(v, dim=1)
    features = torch.cat([u, v, (u - v).abs()], dim=1)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "bits": """
def classification_objective(u, v, W, labels):
    p = torch.softmax(torch.cat([u, v, (u - v).abs()], dim=1) @ W, dim=1)
    return -torch.log2(p[torch.arange(len(labels)), labels]).mean()
""",
        "the sign forgotten": """
def classification_objective(u, v, W, labels):
    log_p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).log_softmax(dim=1)
    return log_p.gather(1, labels[:, None]).mean()
""",
        "the mean over all entries, of every pair's row at every label": """
def classification_objective(u, v, W, labels):
    log_p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).log_softmax(dim=1)
    return -log_p[:, labels].mean()
""",
        "a loss for each pair": """
def classification_objective(u, v, W, labels):
    log_p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).log_softmax(dim=1)
    return -log_p.gather(1, labels[:, None])[:, 0]
""",
        "the probability of the label instead of its logarithm": """
def classification_objective(u, v, W, labels):
    p = (torch.cat([u, v, (u - v).abs()], dim=1) @ W).softmax(dim=1)
    return -p.gather(1, labels[:, None]).mean()
""",
        "the logarithm of a softmax, kept from 0 by an epsilon": """
def classification_objective(u, v, W, labels):
    p = torch.softmax(torch.cat([u, v, (u - v).abs()], dim=1) @ W, dim=1)
    return -torch.log(p[torch.arange(len(labels)), labels] + 1e-8).mean()
""",
        "exponentials that float32 cannot hold": """
def classification_objective(u, v, W, labels):
    logits = torch.cat([u, v, (u - v).abs()], dim=1) @ W
    own = logits[torch.arange(len(labels)), labels]
    return (logits.exp().sum(dim=1).log() - own).mean()
""",
    },
    "sentences.ranking_loss": {
        "dot products instead of cosines": """
def ranking_loss(anchors, positives, scale):
    logits = scale * anchors @ positives.T
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(anchors)))
""",
        "the scale forgotten": """
def ranking_loss(anchors, positives, scale):
    cosines = normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return torch.nn.functional.cross_entropy(cosines, torch.arange(len(anchors)))
""",
        "divided by the scale, like a temperature": """
def ranking_loss(anchors, positives, scale):
    cosines = normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return torch.nn.functional.cross_entropy(cosines / scale, torch.arange(len(anchors)))
""",
        "softmax over the anchors": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    log_p = scores.log_softmax(dim=0)
    return -log_p.diagonal().mean()
""",
        "the hard negatives are cut off": """
def ranking_loss(anchors, positives, scale):
    positives = positives[: len(anchors)]
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return torch.nn.functional.cross_entropy(scores, torch.arange(len(scores)))
""",
        "both directions": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    B = len(anchors)
    target = torch.arange(B)
    one = torch.nn.functional.cross_entropy(scores, target)
    other = torch.nn.functional.cross_entropy(scores[:, :B].T, target)
    return (one + other) / 2
""",
        "the sum for the mean": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return -scores.log_softmax(dim=1).diagonal().sum()
""",
        "normalised along the batch": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=0) @ normalize(positives, dim=0).T
    return -scores.log_softmax(dim=1).diagonal().mean()
""",
        "the mean over all rows of positives": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    return -scores.log_softmax(dim=1).diagonal().sum() / len(positives)
""",
        "its own positive is missing below the line": """
def ranking_loss(anchors, positives, scale):
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T
    own = scores.diagonal()
    others = scores.clone()
    others[range(len(own)), range(len(own))] = -torch.inf
    return (others.logsumexp(dim=1) - own).mean()
""",
    },
    "sentences.search": {
        "dot products": """
def search(query, corpus, k):
    scores = query @ corpus.T
    values, numbers = scores.topk(k, dim=1)
    return numbers, values
""",
        "cosines first": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    return cosines.topk(k, dim=1)
""",
        "the farthest": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    numbers = cosines.argsort(dim=1)[:, :k]
    return numbers, cosines.gather(1, numbers)
""",
        "the nearest last": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    numbers = cosines.argsort(dim=1)[:, -k:]
    return numbers, cosines.gather(1, numbers)
""",
        "the queries nearest to each text": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    values, numbers = cosines.topk(min(k, len(query)), dim=0)
    return numbers, values
""",
        "topk without order": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    numbers = cosines.topk(k, dim=1).indices.sort(dim=1).values
    return numbers, cosines.gather(1, numbers)
""",
        "by distance": """
def search(query, corpus, k):
    distances = torch.cdist(query, corpus)
    numbers = distances.argsort(dim=1)[:, :k]
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    return numbers, cosines.gather(1, numbers)
""",
        "the first text is left out as if it were the query itself": """
def search(query, corpus, k):
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T
    numbers = cosines.argsort(dim=1, descending=True)[:, 1 : k + 1]
    return numbers, cosines.gather(1, numbers)
""",
        "only the corpus gets length 1": """
def search(query, corpus, k):
    scores = query @ normalize(corpus, dim=1).T
    values, numbers = scores.topk(k, dim=1)
    return numbers, values
""",
    },
    "sentences.windows": {
        "a last window that holds nothing new": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    for start in range(0, len(ids), size - overlap):
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "only whole windows": """
def windows(ids, size, overlap, pad):
    rows = ids.unfold(0, size, size - overlap) if len(ids) >= size else torch.cat(
        [ids, torch.full((size - len(ids),), pad)]
    )[None]
    keep = torch.arange(size)[None] < torch.tensor([min(len(ids), size)] * len(rows))[:, None]
    return rows, keep
""",
        "the last window is pushed back to be full": """
def windows(ids, size, overlap, pad):
    step = size - overlap
    rows, keeps = [], []
    start = 0
    while True:
        if start + size >= len(ids) and len(ids) >= size:
            start = len(ids) - size
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
        if start + size >= len(ids):
            break
        start += step
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "the step is the overlap": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    start = 0
    while True:
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
        if start + size >= len(ids):
            break
        start += max(overlap, 1)
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "no overlap": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    for start in range(0, len(ids), size):
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "keep is False wherever the padding's id stands in the text": """
def windows(ids, size, overlap, pad):
    rows = []
    start = 0
    while True:
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        if start + size >= len(ids):
            break
        start += size - overlap
    rows = torch.tensor(rows)
    return rows, rows != pad
""",
        "padded with 0": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    start = 0
    while True:
        piece = ids[start : start + size]
        row = torch.zeros(size, dtype=torch.long)
        row[: len(piece)] = piece
        rows.append(row)
        keeps.append(torch.arange(size) < len(piece))
        if start + size >= len(ids):
            break
        start += size - overlap
    return torch.stack(rows), torch.stack(keeps)
""",
        "keep is True at the padding": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    start = 0
    while True:
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([False] * len(piece) + [True] * (size - len(piece)))
        if start + size >= len(ids):
            break
        start += size - overlap
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "a window more where the text ends with the window": """
def windows(ids, size, overlap, pad):
    rows, keeps = [], []
    start = 0
    while True:
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
        if start + size > len(ids):
            break
        start += size - overlap
    return torch.tensor(rows), torch.tensor(keeps)
""",
        "a short text gets no window": """
def windows(ids, size, overlap, pad):
    step = size - overlap
    count = -(-(len(ids) - overlap) // step)
    rows = torch.full((count, size), pad)
    keep = torch.zeros(count, size, dtype=torch.bool)
    for w in range(count):
        piece = ids[w * step : w * step + size]
        rows[w, : len(piece)] = piece
        keep[w, : len(piece)] = True
    return rows, keep
""",
    },
    "sentences.pool_windows": {
        "the plain mean of the windows": """
def pool_windows(hidden, keep):
    return mean_pool(hidden, keep).mean(dim=0)
""",
        "padding among the tokens": """
def pool_windows(hidden, keep):
    return hidden.flatten(0, 1).mean(dim=0)
""",
        "weights that do not sum to 1": """
def pool_windows(hidden, keep):
    counts = keep.sum(dim=1)
    return (counts[:, None] * mean_pool(hidden, keep)).sum(dim=0)
""",
        "weights by the size of the window": """
def pool_windows(hidden, keep):
    weights = keep.float().mean(dim=1)
    return (weights[:, None] * mean_pool(hidden, keep)).sum(dim=0)
""",
        "softmax of the counts": """
def pool_windows(hidden, keep):
    weights = keep.sum(dim=1).float().softmax(dim=0)
    return weights @ mean_pool(hidden, keep)
""",
        "the weighted windows, not summed": """
def pool_windows(hidden, keep):
    weights = keep.sum(dim=1) / keep.sum()
    return weights[:, None] * mean_pool(hidden, keep)
""",
        "divided by the number of windows again": """
def pool_windows(hidden, keep):
    weights = keep.sum(dim=1) / keep.sum()
    return (weights[:, None] * mean_pool(hidden, keep)).mean(dim=0)
""",
        "only the first window": """
def pool_windows(hidden, keep):
    return mean_pool(hidden, keep)[0]
""",
    },
    "sentences.last_token": {
        "padded on the left unless every row begins with a token": """
def last_token(hidden, keep):
    if keep[:, 0].all():
        return hidden[torch.arange(len(hidden)), keep.sum(dim=1) - 1]
    return hidden[:, -1]
""",
        "the last place of the row": """
def last_token(hidden, keep):
    return hidden[:, -1]
""",
        "the number of tokens minus one: only for padding on the right": """
def last_token(hidden, keep):
    last = keep.sum(dim=1) - 1
    return hidden[torch.arange(len(hidden)), last]
""",
        "all rows are taken to be padded as the first one": """
def last_token(hidden, keep):
    if keep[0, -1]:
        return hidden[:, -1]
    return hidden[torch.arange(len(hidden)), keep.sum(dim=1) - 1]
""",
        "left padding only if every row ends in a token": """
def last_token(hidden, keep):
    if keep[:, -1].all():
        return hidden[:, -1]
    return hidden[torch.arange(len(hidden)), keep.sum(dim=1) - 1]
""",
        "the first token": """
def last_token(hidden, keep):
    first = keep.int().argmax(dim=1)
    return hidden[torch.arange(len(hidden)), first]
""",
        "the token before the last": """
def last_token(hidden, keep):
    places = torch.arange(keep.shape[1])
    last = (keep * places).argmax(dim=1)
    return hidden[torch.arange(len(hidden)), last - 1]
""",
        "the place behind the last token": """
def last_token(hidden, keep):
    places = torch.arange(keep.shape[1])
    last = torch.where(keep, places, -1).max(dim=1).values
    last = (last + 1).clamp(max=keep.shape[1] - 1)
    return hidden[torch.arange(len(hidden)), last]
""",
        "indexed without the rows": """
def last_token(hidden, keep):
    places = torch.arange(keep.shape[1])
    last = torch.where(keep, places, -1).max(dim=1).values
    return hidden[:, last]
""",
        "the mean of the tokens": """
def last_token(hidden, keep):
    return mean_pool(hidden, keep)
""",
    },
    "sentences.recall_at_k": {
        "precision": """
def recall_at_k(scores, relevant, k):
    top = scores.topk(k, dim=1).indices
    hits = relevant.gather(1, top).float().sum(dim=1)
    return (hits / k).mean()
""",
        "a hit or not": """
def recall_at_k(scores, relevant, k):
    top = scores.topk(k, dim=1).indices
    return relevant.gather(1, top).any(dim=1).float().mean()
""",
        "one without a text counts as 0": """
def recall_at_k(scores, relevant, k):
    total = 0.0
    for s, r in zip(scores, relevant):
        top = s.topk(k).indices
        if r.any():
            total += float(r[top].sum() / r.sum())
    return total / len(scores)
""",
        "nan": """
def recall_at_k(scores, relevant, k):
    top = scores.topk(k, dim=1).indices
    hits = relevant.gather(1, top).float().sum(dim=1)
    return (hits / relevant.sum(dim=1)).mean()
""",
        "argsort sorts upwards": """
def recall_at_k(scores, relevant, k):
    top = scores.argsort(dim=1)[:, :k]
    hits = relevant.gather(1, top).float().sum(dim=1)
    n = relevant.sum(dim=1)
    return (hits[n > 0] / n[n > 0]).mean()
""",
        "all in one": """
def recall_at_k(scores, relevant, k):
    top = scores.topk(k, dim=1).indices
    return relevant.gather(1, top).sum() / relevant.sum()
""",
        "k for the denominator where more are relevant": """
def recall_at_k(scores, relevant, k):
    top = scores.topk(k, dim=1).indices
    hits = relevant.gather(1, top).float().sum(dim=1)
    n = relevant.sum(dim=1).clamp(max=k)
    return (hits[n > 0] / n[n > 0]).mean()
""",
        "one list for each query": """
def recall_at_k(scores, relevant, k):
    out = []
    for s, r in zip(scores, relevant):
        if r.any():
            out.append(r[s.topk(k).indices].sum() / r.sum())
    return torch.stack(out)
""",
    },
    "sentences.answer_prompt": {
        "all passages": """
def answer_prompt(question, passages, most):
    prompt = ""
    for i, passage in enumerate(passages):
        prompt += f"[{i + 1}] {passage}\\n"
    if passages:
        prompt += "\\n"
    return prompt + f"Question: {question}\\nAnswer:"
""",
        "goes on behind one that does not fit": """
def answer_prompt(question, passages, most):
    lines, used = [], 0
    for i, passage in enumerate(passages):
        n = len(passage.split())
        if used + n <= most:
            lines.append(f"[{i + 1}] {passage}")
            used += n
    if lines:
        lines.append("")
    lines += [f"Question: {question}", "Answer:"]
    return "\\n".join(lines)
""",
        "numbers from 0": """
def answer_prompt(question, passages, most):
    lines, used = [], 0
    for i, passage in enumerate(passages):
        used += len(passage.split())
        if used > most:
            break
        lines.append(f"[{i}] {passage}")
    if lines:
        lines.append("")
    return "\\n".join(lines + [f"Question: {question}", "Answer:"])
""",
        "an empty line at the top without passages": """
def answer_prompt(question, passages, most):
    block, used = "", 0
    for i, passage in enumerate(passages, 1):
        used += len(passage.split())
        if used > most:
            break
        block += f"[{i}] {passage}\\n"
    return f"{block}\\nQuestion: {question}\\nAnswer:"
""",
        "a space behind Answer:": """
def answer_prompt(question, passages, most):
    block, used = "", 0
    for i, passage in enumerate(passages, 1):
        used += len(passage.split())
        if used > most:
            break
        block += f"[{i}] {passage}\\n"
    if block:
        block += "\\n"
    return f"{block}Question: {question}\\nAnswer: "
""",
        "counts characters": """
def answer_prompt(question, passages, most):
    block, used = "", 0
    for i, passage in enumerate(passages, 1):
        used += len(passage)
        if used > most:
            break
        block += f"[{i}] {passage}\\n"
    if block:
        block += "\\n"
    return f"{block}Question: {question}\\nAnswer:"
""",
        "stops one too late": """
def answer_prompt(question, passages, most):
    block, used = "", 0
    for i, passage in enumerate(passages, 1):
        if used >= most:
            break
        used += len(passage.split())
        block += f"[{i}] {passage}\\n"
    if block:
        block += "\\n"
    return f"{block}Question: {question}\\nAnswer:"
""",
        "a list of lines": """
def answer_prompt(question, passages, most):
    lines, used = [], 0
    for i, passage in enumerate(passages, 1):
        used += len(passage.split())
        if used > most:
            break
        lines.append(f"[{i}] {passage}")
    return lines + ["", f"Question: {question}", "Answer:"]
""",
    },
    "sentences.supported": {
        "every occurrence counts": """
def supported(answer, passage):
    words = content_words(answer)
    if len(words) == 0:
        return 1.0
    return sum(w in content_words(passage) for w in words) / len(words)
""",
        "letters in the text": """
def supported(answer, passage):
    words = set(content_words(answer))
    if not words:
        return 1.0
    return sum(w in passage.lower() for w in words) / len(words)
""",
        "of the passage's words": """
def supported(answer, passage):
    a, p = set(content_words(answer)), set(content_words(passage))
    return len(a & p) / len(p)
""",
        "Jaccard, as with overlap": """
def supported(answer, passage):
    a, p = set(content_words(answer)), set(content_words(passage))
    return len(a & p) / len(a | p)
""",
        "division by zero": """
def supported(answer, passage):
    a, p = set(content_words(answer)), set(content_words(passage))
    return len(a & p) / len(a)
""",
        "0 if there is nothing": """
def supported(answer, passage):
    a, p = set(content_words(answer)), set(content_words(passage))
    return len(a & p) / len(a) if a else 0
""",
        "all words of the texts": """
def supported(answer, passage):
    a, p = set(answer.lower().split()), set(passage.lower().split())
    return len(a & p) / len(a) if a else 1
""",
        "yes or no": """
def supported(answer, passage):
    return set(content_words(answer)) <= set(content_words(passage))
""",
    },
}

RIGHT = {
    "sentences.spearman": {
        "scipy": """
from scipy.stats import spearmanr

def spearman(a, b):
    return torch.tensor(spearmanr(a.numpy(), b.numpy()).statistic)
""",
        "ranks counted from 1, covariance over standard deviations": """
def spearman(a, b):
    def ranks(x):
        order = x.argsort()
        ranks = torch.empty(len(x), dtype=torch.float64)
        ranks[order] = torch.arange(1, len(x) + 1, dtype=torch.float64)
        return torch.stack([ranks[x == value].mean() for value in x])
    ra, rb = ranks(a), ranks(b)
    covariance = ((ra - ra.mean()) * (rb - rb.mean())).mean()
    return covariance / (ra.std(correction=0) * rb.std(correction=0))
""",
        "signs of differences summed: ranks up to a constant": """
def spearman(a, b):
    ra = (a[:, None] - a[None]).sign().sum(dim=1)
    rb = (b[:, None] - b[None]).sign().sum(dim=1)
    return torch.cosine_similarity(ra, rb, dim=0)
""",
        "scipy's ranks": """
from scipy.stats import rankdata

def spearman(a, b):
    ranks = torch.stack([torch.from_numpy(rankdata(x.numpy())) for x in (a, b)])
    return torch.corrcoef(ranks)[0, 1].float()
""",
    },
    "sentences.classification_objective": {
        "hstack": """
def classification_objective(u, v, W, labels):
    features = torch.hstack((u, v, torch.abs(v - u)))
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "numpy": """
import numpy as np

def classification_objective(u, v, W, labels):
    u, v = np.asarray(u), np.asarray(v)
    features = torch.from_numpy(np.concatenate([u, v, np.abs(u - v)], axis=-1))
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "filled in": """
def classification_objective(u, v, W, labels):
    B, D = u.shape
    features = torch.empty(B, 3 * D)
    features[:, :D], features[:, D : 2 * D] = u, v
    features[:, 2 * D :] = torch.maximum(u, v) - torch.minimum(u, v)
    return torch.nn.functional.cross_entropy(features @ W, labels)
""",
        "the library's loss": """
def classification_objective(u, v, W, labels):
    return torch.nn.functional.cross_entropy(torch.cat([u, v, (u - v).abs()], dim=1) @ W, labels)
""",
        "logsumexp minus the label's logit": """
def classification_objective(u, v, W, labels):
    logits = torch.cat([u, v, torch.abs(u - v)], dim=-1) @ W
    own = logits[torch.arange(len(labels)), labels]
    return (torch.logsumexp(logits, dim=-1) - own).mean()
""",
        "a loop in float64": """
def classification_objective(u, v, W, labels):
    total = 0.0
    for a, b, label in zip(u.double(), v.double(), labels):
        logits = torch.cat([a, b, (a - b).abs()]) @ W.double()
        total -= torch.log_softmax(logits, dim=0)[label]
    return total / len(labels)
""",
    },
    "sentences.ranking_loss": {
        "the library's loss": """
def ranking_loss(anchors, positives, scale):
    cosines = torch.cosine_similarity(anchors[:, None], positives[None], dim=-1)
    return torch.nn.functional.cross_entropy(scale * cosines, torch.arange(len(anchors)))
""",
        "logsumexp and a loop": """
def ranking_loss(anchors, positives, scale):
    losses = []
    for i, anchor in enumerate(anchors):
        logits = scale * (positives @ anchor) / (positives.norm(dim=1) * anchor.norm())
        losses.append(torch.logsumexp(logits, dim=0) - logits[i])
    return torch.stack(losses).mean()
""",
        "differences to its own: a softplus of sums": """
def ranking_loss(anchors, positives, scale):
    a = anchors.double() / anchors.double().norm(dim=1, keepdim=True)
    p = positives.double() / positives.double().norm(dim=1, keepdim=True)
    scores = scale * a @ p.T
    return (scores - scores.diagonal()[:, None]).exp().sum(dim=1).log().mean()
""",
    },
    "sentences.search": {
        "sorted": """
def search(query, corpus, k):
    cosines = torch.cosine_similarity(query[:, None, :], corpus[None, :, :], dim=-1)
    values, numbers = cosines.sort(dim=1, descending=True)
    return numbers[:, :k], values[:, :k]
""",
        "numpy and a list": """
import numpy as np

def search(query, corpus, k):
    query, corpus = query.numpy(), corpus.numpy()
    cosines = query @ corpus.T / np.outer(
        np.linalg.norm(query, axis=1), np.linalg.norm(corpus, axis=1)
    )
    numbers = np.argsort(-cosines, axis=1)[:, :k]
    return [torch.from_numpy(numbers), torch.from_numpy(np.take_along_axis(cosines, numbers, axis=1))]
""",
        "one query after the other": """
def search(query, corpus, k):
    found = [torch.cosine_similarity(one[None], corpus, dim=1).topk(k) for one in query]
    return torch.stack([one.indices for one in found]), torch.stack([one.values for one in found])
""",
    },
    "sentences.windows": {
        "a loop that ends with the text": """
def windows(ids, size, overlap, pad):
    rows, keeps, start = [], [], 0
    while True:
        piece = ids[start : start + size].tolist()
        rows.append(piece + [pad] * (size - len(piece)))
        keeps.append([True] * len(piece) + [False] * (size - len(piece)))
        if start + size >= len(ids):
            return torch.tensor(rows), torch.tensor(keeps)
        start += size - overlap
""",
        "padded first, then unfolded": """
def windows(ids, size, overlap, pad):
    step = size - overlap
    count = 1 + max(0, -(-(len(ids) - size) // step))
    length = (count - 1) * step + size
    padded = torch.full((length,), pad)
    padded[: len(ids)] = ids
    places = torch.arange(count)[:, None] * step + torch.arange(size)
    return padded[places], places < len(ids)
""",
    },
    "sentences.pool_windows": {
        "the mean of all tokens": """
def pool_windows(hidden, keep):
    return hidden[keep].mean(dim=0)
""",
        "einsum": """
def pool_windows(hidden, keep):
    return torch.einsum("wsd,ws->d", hidden, keep.float()) / keep.sum()
""",
    },
    "sentences.last_token": {
        "a loop": """
def last_token(hidden, keep):
    return torch.stack([row[mask][-1] for row, mask in zip(hidden, keep)])
""",
        "from behind": """
def last_token(hidden, keep):
    T = keep.shape[1]
    last = T - 1 - keep.flip(1).int().argmax(dim=1)
    return hidden.gather(1, last[:, None, None].expand(-1, 1, hidden.shape[-1])).squeeze(1)
""",
        "the largest place": """
def last_token(hidden, keep):
    places = torch.arange(keep.shape[1]).expand(keep.shape)
    last = places.masked_fill(~keep, -1).max(dim=1).values
    return hidden[range(len(hidden)), last]
""",
    },
    "sentences.recall_at_k": {
        "a loop": """
def recall_at_k(scores, relevant, k):
    out = []
    for s, r in zip(scores, relevant):
        if r.any():
            out.append((r[s.topk(k).indices].sum() / r.sum()).item())
    return sum(out) / len(out)
""",
        "the k-th highest score as a threshold": """
def recall_at_k(scores, relevant, k):
    bound = scores.sort(dim=1, descending=True).values[:, k - 1 : k]
    hit = ((scores >= bound) & relevant).sum(dim=1).double()
    n = relevant.sum(dim=1)
    return (hit[n > 0] / n[n > 0]).mean()
""",
    },
    "sentences.answer_prompt": {
        "a string": """
def answer_prompt(question, passages, most):
    block, used = "", 0
    for i, passage in enumerate(passages, 1):
        used += len(passage.split())
        if used > most:
            break
        block += f"[{i}] {passage}\\n"
    if block:
        block += "\\n"
    return f"{block}Question: {question}\\nAnswer:"
""",
        "how many fit, then a list": """
def answer_prompt(question, passages, most):
    n = 0
    while n < len(passages) and sum(len(p.split()) for p in passages[: n + 1]) <= most:
        n += 1
    parts = [f"[{i}] {passages[i - 1]}" for i in range(1, n + 1)]
    tail = f"Question: {question}\\nAnswer:"
    return "\\n".join(parts) + "\\n\\n" + tail if parts else tail
""",
    },
    "sentences.supported": {
        "sets": """
def supported(answer, passage):
    a, p = set(content_words(answer)), set(content_words(passage))
    return len(a & p) / len(a) if a else 1.0
""",
        "dictionaries keep the order": """
def supported(answer, passage):
    words = list(dict.fromkeys(content_words(answer)))
    there = [w for w in words if w in content_words(passage)]
    return 1.0 if words == [] else len(there) / len(words)
""",
    },
}
