"""06_bert: answers written from the task texts by somebody who had not seen the exercises. See README.md."""

WRONG = {
    "bert.lm_examples": {
        "causal unasked where the token itself is padding": """
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[ids == pad] = UNCHOSEN
    masked = torch.where(chosen, ids, UNCHOSEN)
    return causal, masked
""",
        "the first token is the label of the last place": """
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    causal = torch.roll(ids, -1, dims=1)
    causal[causal == pad] = UNCHOSEN
    masked = ids.clone()
    masked[~chosen] = UNCHOSEN
    return causal, masked
""",
        "causal labels only where chosen": """
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    nxt = torch.full_like(ids, UNCHOSEN)
    nxt[:, :-1] = ids[:, 1:]
    nxt[nxt == pad] = UNCHOSEN
    causal = torch.where(chosen, nxt, UNCHOSEN)
    masked = torch.where(chosen, ids, UNCHOSEN)
    return causal, masked
""",
        "masked asks for what was not chosen": """
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = torch.where(ids[:, 1:] == pad, UNCHOSEN, ids[:, 1:])
    masked = ids.masked_fill(chosen | (ids == pad), UNCHOSEN)
    return causal, masked
""",
    },
    "bert.wordpiece": {
        "word made lower case first": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    word = word.lower()
    out, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end]
            if start > 0:
                piece = "##" + piece
            if piece in vocab:
                break
            end -= 1
        if end == start:
            return [vocab["[UNK]"]]
        out.append(vocab[piece])
        start = end
    return out
""",
        "pieces before the gap are kept, the rest becomes [UNK]": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    out, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                out.append(vocab[piece])
                start = end
                break
        else:
            out.append(vocab["[UNK]"])
            break
    return out
""",
        "goes back when no piece fits": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    def cut(rest, first):
        if not rest:
            return []
        for end in range(len(rest), 0, -1):
            piece = rest[:end] if first else "##" + rest[:end]
            if piece in vocab:
                tail = cut(rest[end:], False)
                if tail is not None:
                    return [vocab[piece]] + tail
        return None
    result = cut(word, True)
    return [vocab["[UNK]"]] if result is None else result
""",
        "shortest piece first": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    ids, start = [], 0
    while start < len(word):
        found = False
        for end in range(start + 1, len(word) + 1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                found = True
                break
        if not found:
            return [vocab["[UNK]"]]
    return ids
""",
        "a letter that fits nowhere is left out": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                break
        else:
            start += 1
    return ids or [vocab["[UNK]"]]
""",
    },
    "bert.encode_pair": {
        "keep read off the ids": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    tokens = [cls] + a + [sep] + b + [sep]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    gap = T - len(tokens)
    ids = torch.tensor(tokens + [pad] * gap)
    return ids, torch.tensor(segments + [0] * gap), ids != pad
""",
        "of two equally long, a loses its token": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) >= len(b):
            a = a[:-1]
        else:
            b = b[:-1]
    tokens = [cls] + a + [sep] + b + [sep]
    n = len(tokens)
    ids = torch.full((T,), pad)
    ids[:n] = torch.tensor(tokens)
    segments = torch.zeros(T, dtype=torch.long)
    segments[len(a) + 2 : n] = 1
    return ids, segments, torch.arange(T) < n
""",
        "cut off at the end, last sep and all": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    seq = torch.cat([torch.tensor([cls]), a, torch.tensor([sep]), b, torch.tensor([sep])])
    seg = torch.cat([torch.zeros(len(a) + 2, dtype=torch.long), torch.ones(len(b) + 1, dtype=torch.long)])
    n = min(len(seq), T)
    ids = torch.full((T,), pad)
    segments = torch.zeros(T, dtype=torch.long)
    ids[:n], segments[:n] = seq[:n], seg[:n]
    return ids, segments, torch.arange(T) < n
""",
        "segment 1 goes on into the padding": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) + 3 > T:
        (a if len(a) > len(b) else b).pop()
    tokens = [cls, *a, sep, *b, sep]
    ids = torch.tensor(tokens + [pad] * (T - len(tokens)))
    segments = (torch.arange(T) >= len(a) + 2).long()
    keep = torch.arange(T) < len(tokens)
    return ids, segments, keep
""",
        "both sentences cut to half the room": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    room = (T - 3) // 2
    if len(a) + len(b) + 3 > T:
        a, b = a[:room], b[:room]
    tokens = [cls, *a.tolist(), sep, *b.tolist(), sep]
    gap = T - len(tokens)
    ids = torch.tensor(tokens + [pad] * gap)
    segments = torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * gap)
    keep = torch.tensor([True] * len(tokens) + [False] * gap)
    return ids, segments, keep
""",
    },
    "bert.mlm_corrupt": {
        "thresholds belong to the lower part": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    chosen = (choice <= 0.15) & ~torch.isin(ids, special)
    labels = torch.where(chosen, ids, UNCHOSEN)
    out = ids.clone()
    out[chosen & (change <= 0.8)] = mask
    r = chosen & (change > 0.8) & (change <= 0.9)
    out[r] = random_words[r]
    return out, labels
""",
        "a label only where the token was changed": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    out = ids.clone()
    out[chosen & (change < 0.8)] = mask
    r = chosen & (change >= 0.8) & (change < 0.9)
    out[r] = random_words[r]
    labels = torch.full_like(ids, UNCHOSEN)
    labels[out != ids] = ids[out != ids]
    return out, labels
""",
        "special tokens are chosen, too": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    chosen = choice < 0.15
    labels = ids.masked_fill(~chosen, UNCHOSEN)
    to_mask = chosen & (change < 0.8)
    to_random = chosen & ~to_mask & (change < 0.9)
    out = torch.where(to_mask, mask, torch.where(to_random, random_words, ids))
    return out, labels
""",
        "only the first special id is spared": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    chosen = (choice < 0.15) & (ids != special[0])
    labels = torch.full_like(ids, UNCHOSEN)
    labels[chosen] = ids[chosen]
    out = ids.clone()
    out[chosen & (change < 0.8)] = mask
    swap = chosen & (change >= 0.8) & (change < 0.9)
    out[swap] = random_words[swap]
    return out, labels
""",
        "labels hold what the model reads": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    swap = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[swap] = random_words[swap]
    labels = corrupted.clone()
    labels[~chosen] = UNCHOSEN
    return corrupted, labels
""",
    },
    "bert.mlm_loss": {
        "mean over sentences of each sentence's mean": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    losses = []
    for row, lab in zip(logits, labels):
        chosen = lab != UNCHOSEN
        if chosen.any():
            losses.append(torch.nn.functional.cross_entropy(row[chosen], lab[chosen]))
    return torch.stack(losses).mean()
""",
        "logarithm of a softmax that underflows": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    chosen = labels != UNCHOSEN
    p = torch.softmax(logits[chosen], dim=-1)
    right = p[torch.arange(len(p)), labels[chosen]]
    return -torch.log(right + 1e-12).mean()
""",
        "word 0 is not counted": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    chosen = labels > 0
    return torch.nn.functional.cross_entropy(logits[chosen], labels[chosen])
""",
        "divided by all places": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    B, T, V = logits.shape
    total = torch.nn.functional.cross_entropy(
        logits.view(-1, V), labels.view(-1), ignore_index=UNCHOSEN, reduction="sum"
    )
    return total / (B * T)
""",
    },
    "bert.pretraining_loss": {
        "average of the two": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    V = logits.shape[-1]
    a = torch.nn.functional.cross_entropy(logits.reshape(-1, V), labels.reshape(-1), ignore_index=-100)
    b = torch.nn.functional.cross_entropy(next_logits, next_labels)
    return (a + b) / 2
""",
        "word 0 still ignored": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    words = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)
    pairs = torch.nn.functional.cross_entropy(next_logits, next_labels)
    return words + pairs
""",
        "one mean over words and pairs together": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    ce = torch.nn.functional.cross_entropy
    words = ce(logits.transpose(1, 2), labels, ignore_index=UNCHOSEN, reduction="sum")
    pairs = ce(next_logits, next_labels, reduction="sum")
    n = (labels != UNCHOSEN).sum() + len(next_labels)
    return (words + pairs) / n
""",
        "1 taken for a pair that continues": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    return mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, 1 - next_labels)
""",
    },
    "bert.nsp_pairs": {
        "any other sentence may follow, of the same document, too": """
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        if document[s] != document[s + 1]:
            continue
        first.append(s)
        if coin[s] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = [t for t in range(S) if t not in (s, s + 1)]
            second.append(others[int(other[s] * len(others))])
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "the last sentence of a document begins a pair as well": """
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        first.append(s)
        if coin[s] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = [t for t in range(S) if document[t] != document[s]]
            second.append(others[int(other[s] * len(others))])
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "other taken as a share of all sentences": """
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] < 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                t = int(other[s] * S)
                while document[t] == document[s]:
                    t = (t + 1) % S
                second.append(t)
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "draws counted by the pair, not by the sentence": """
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    first = [s for s in range(len(document) - 1) if document[s] == document[s + 1]]
    second, labels = [], []
    for n, s in enumerate(first):
        if coin[n] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = torch.nonzero(document != document[s]).flatten()
            second.append(int(others[int(other[n] * len(others))]))
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
    },
    "bert.nsp_loss": {
        "mean of all tokens": """
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    pooled = torch.tanh(hidden.mean(dim=1) @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "no tanh": """
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    pooled = hidden[:, 0, :] @ W_pool + b_pool
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "summed over the pairs": """
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    logp = torch.log_softmax(pooled @ W_next + b_next, dim=-1)
    return -logp[torch.arange(len(labels)), labels].sum()
""",
        "W_pool read with outputs in its rows": """
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    pooled = torch.tanh(torch.nn.functional.linear(hidden[:, 0], W_pool, b_pool))
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
    },
    "bert.pool_pieces": {
        "special tokens become a word of their own": """
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    vectors = []
    for w in word_ids.unique():
        pieces = hidden[word_ids == w]
        vectors.append(pieces.mean(0) if how == "mean" else pieces[0])
    return torch.stack(vectors)
""",
        "always the mean": """
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    n = int(word_ids.max()) + 1
    return torch.stack([hidden[word_ids == w].mean(dim=0) for w in range(n)])
""",
        "last piece in place of the first": """
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    out = []
    for w in range(int(word_ids.max()) + 1):
        idx = (word_ids == w).nonzero().flatten()
        out.append(hidden[idx].mean(0) if how == "mean" else hidden[idx[-1]])
    return torch.stack(out)
""",
        "sum of the pieces": """
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    n = int(word_ids.max()) + 1
    out = torch.zeros(n, hidden.shape[1])
    seen = set()
    for t, w in enumerate(word_ids.tolist()):
        if w < 0 or (how == "first" and w in seen):
            continue
        out[w] += hidden[t]
        seen.add(w)
    return out
""",
    },
    "bert.count_parameters": {
        "linear maps without biases": """
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    embeddings = (V + P + 2) * D + 2 * D
    layers = L * (4 * D * D + 2 * D * F + 4 * D)
    pooler = D * D
    heads = D * D + 2 * D + V + 2 * D
    return embeddings, layers, pooler, heads
""",
        "token table counted again in the masked-word head": """
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    norm = 2 * D
    embeddings = V * D + P * D + 2 * D + norm
    layer = 4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * norm
    pooler = D * D + D
    mlm = D * D + D + norm + V * D + V
    return embeddings, L * layer, pooler, mlm + 2 * D + 2
""",
        "one layer norm in each layer": """
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    norm = 2 * D
    embeddings = V * D + P * D + 2 * D + norm
    layer = 4 * (D * D + D) + (D * F + F) + (F * D + D) + norm
    pooler = D * D + D
    heads = D * D + D + norm + V + 2 * D + 2
    return embeddings, L * layer, pooler, heads
""",
        "one layer only": """
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    norm = 2 * D
    embeddings = V * D + P * D + 2 * D + norm
    layer = 4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * norm
    return embeddings, layer, D * D + D, D * D + D + norm + V + 2 * D + 2
""",
    },
}

RIGHT = {
    "bert.lm_examples": {
        "loops": """
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    B, T = ids.shape
    causal = torch.full((B, T), UNCHOSEN)
    masked = torch.full((B, T), UNCHOSEN)
    for b in range(B):
        for t in range(T):
            if t + 1 < T and ids[b, t + 1] != pad:
                causal[b, t] = ids[b, t + 1]
            if chosen[b, t]:
                masked[b, t] = ids[b, t]
    return causal, masked
""",
    },
    "bert.wordpiece": {
        "a function that calls itself, without going back": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    def cut(rest, prefix):
        if rest == "":
            return []
        for n in range(len(rest), 0, -1):
            if prefix + rest[:n] in vocab:
                tail = cut(rest[n:], "##")
                return None if tail is None else [vocab[prefix + rest[:n]]] + tail
        return None
    pieces = cut(word, "")
    return pieces if pieces is not None else [vocab["[UNK]"]]
""",
        "two while loops": """
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    tokens = []
    start = 0
    while start < len(word):
        end = len(word)
        cur = None
        while start < end:
            sub = word[start:end]
            if start > 0:
                sub = "##" + sub
            if sub in vocab:
                cur = sub
                break
            end -= 1
        if cur is None:
            return [vocab["[UNK]"]]
        tokens.append(vocab[cur])
        start = end
    return tokens
""",
    },
    "bert.encode_pair": {
        "lengths worked out first": """
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    na, nb = len(a), len(b)
    while na + nb + 3 > T:
        if na > nb:
            na -= 1
        else:
            nb -= 1
    ids = torch.full((T,), pad, dtype=torch.long)
    segments = torch.zeros(T, dtype=torch.long)
    keep = torch.zeros(T, dtype=torch.bool)
    ids[0] = cls
    ids[1 : 1 + na] = a[:na]
    ids[1 + na] = sep
    ids[2 + na : 2 + na + nb] = b[:nb]
    ids[2 + na + nb] = sep
    segments[2 + na : 3 + na + nb] = 1
    keep[: 3 + na + nb] = True
    return ids, segments, keep
""",
    },
    "bert.mlm_corrupt": {
        "loops": """
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    B, T = ids.shape
    out, labels = ids.clone(), torch.full_like(ids, UNCHOSEN)
    forbidden = set(special.tolist())
    for b in range(B):
        for t in range(T):
            if choice[b, t] >= 0.15 or ids[b, t].item() in forbidden:
                continue
            labels[b, t] = ids[b, t]
            if change[b, t] < 0.8:
                out[b, t] = mask
            elif change[b, t] < 0.9:
                out[b, t] = random_words[b, t]
    return out, labels
""",
    },
    "bert.mlm_loss": {
        "cross_entropy ignores by itself": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels)
""",
        "logsumexp": """
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    sel = labels >= 0
    z = logits[sel]
    right = z[torch.arange(len(z)), labels[sel]]
    return (torch.logsumexp(z, dim=-1) - right).mean()
""",
    },
    "bert.pretraining_loss": {
        "one criterion that ignores nothing it should not": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    criterion = torch.nn.CrossEntropyLoss()
    mask_loss = criterion(logits.transpose(1, 2), labels)
    next_loss = criterion(next_logits, next_labels)
    return next_loss + mask_loss
""",
        "by hand": """
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    chosen = labels != UNCHOSEN
    words = torch.distributions.Categorical(logits=logits[chosen]).log_prob(labels[chosen])
    pairs = torch.log_softmax(next_logits, dim=1)[torch.arange(len(next_labels)), next_labels]
    return -words.mean() - pairs.mean()
""",
    },
    "bert.nsp_pairs": {
        "Python lists": """
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    docs = document.tolist()
    first, second, labels = [], [], []
    for s in range(len(docs) - 1):
        if docs[s + 1] != docs[s]:
            continue
        first.append(s)
        if coin[s] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = [t for t, d in enumerate(docs) if d != docs[s]]
            second.append(others[int(torch.floor(other[s] * len(others)))])
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
    },
    "bert.nsp_loss": {
        "linear with transposed matrices": """
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    linear = torch.nn.functional.linear
    pooled = linear(hidden[:, 0], W_pool.T, b_pool).tanh()
    logits = linear(pooled, W_next.T, b_next)
    return -logits.log_softmax(1).gather(1, labels.unsqueeze(1)).mean()
""",
    },
    "bert.pool_pieces": {
        "added up by index": """
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    real = word_ids >= 0
    n = int(word_ids.max()) + 1
    if how == "mean":
        sums = torch.zeros(n, hidden.shape[1]).index_add(0, word_ids[real], hidden[real])
        return sums / torch.bincount(word_ids[real], minlength=n).unsqueeze(1)
    first = [word_ids.tolist().index(w) for w in range(n)]
    return hidden[first]
""",
    },
    "bert.count_parameters": {
        "small helpers": """
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    def linear(n, m):
        return n * m + m
    norm = 2 * D
    embeddings = V * D + P * D + 2 * D + norm
    layer = 4 * linear(D, D) + linear(D, F) + linear(F, D) + 2 * norm
    pooler = linear(D, D)
    heads = linear(D, D) + norm + V + linear(D, 2)
    return embeddings, L * layer, pooler, heads
""",
    },
}
