"""Answers to the exercises of notebook 08, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "inside.word_vectors": {
        "the first piece alone": """
def word_vectors(hidden, word_ids, i):
    position = (word_ids == i).nonzero()[0, 0]
    return hidden[:, position]
""",
        "token i instead of word i": """
def word_vectors(hidden, word_ids, i):
    vectors = []
    for layer in hidden:
        vectors.append(layer[i])
    return torch.stack(vectors)
""",
        "the last piece falls out of the slice": """
def word_vectors(hidden, word_ids, i):
    places = [t for t, w in enumerate(word_ids.tolist()) if w == i]
    first, last = places[0], places[-1]
    return hidden[:, first:max(last, first + 1)].mean(dim=1)
""",
    },
    "inside.mended_words": {
        "a piece belongs to the last word that has begun": """
def mended_words(pieces, words):
    answer = []
    for begin, end in pieces.tolist():
        word = -1
        if begin < end:
            for w, (b, e) in enumerate(words.tolist()):
                if b <= begin:
                    word = w
        answer.append(word)
    return torch.tensor(answer)
""",
        "special tokens lie inside a word that begins at 0": """
def mended_words(pieces, words):
    result = torch.full((len(pieces),), -1)
    for t, (b, e) in enumerate(pieces):
        for w, (wb, we) in enumerate(words):
            if b >= wb and e <= we:
                result[t] = w
    return result
""",
        "the end of a word still counts as inside": """
def mended_words(pieces, words):
    result = []
    for b, e in pieces.tolist():
        found = -1
        if (b, e) != (0, 0):
            for i, (start, stop) in enumerate(words.tolist()):
                if start <= b <= stop:
                    found = i
                    break
        result.append(found)
    return torch.tensor(result)
""",
    },
    "inside.sense_similarity": {
        "sense numbers are compared across words": """
def sense_similarity(vectors, words, senses):
    v = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(v)
    same, other, different = [], [], []
    for i in range(n):
        for j in range(i + 1, n):
            cos = (v[i] * v[j]).sum(-1)
            if senses[i] == senses[j]:
                same.append(cos)
            elif words[i] == words[j]:
                other.append(cos)
            else:
                different.append(cos)
    empty = [torch.zeros(v.shape[1])]
    return torch.stack([torch.stack(x or empty).mean(0) for x in (same, other, different)])
""",
        "each occurrence is also paired with itself": """
def sense_similarity(vectors, words, senses):
    v = torch.nn.functional.normalize(vectors, dim=-1).transpose(0, 1)
    cos = v @ v.transpose(1, 2)
    w = words[:, None] == words[None, :]
    s = senses[:, None] == senses[None, :]
    rows = []
    for kind in (w & s, w & ~s, ~w):
        rows.append(cos[:, kind].mean(dim=-1))
    return torch.stack(rows)
""",
        "a mean of the means of the words": """
def sense_similarity(vectors, words, senses):
    rows = [[], [], []]
    for word in words.unique():
        sums = [[], [], []]
        for i in range(len(words)):
            if words[i] != word:
                continue
            for j in range(len(words)):
                if i == j:
                    continue
                c = torch.cosine_similarity(vectors[i], vectors[j], dim=-1)
                if words[j] != word:
                    sums[2].append(c)
                elif senses[i] == senses[j]:
                    sums[0].append(c)
                else:
                    sums[1].append(c)
        for row, s in zip(rows, sums):
            if s:
                row.append(torch.stack(s).mean(0))
    return torch.stack([torch.stack(row).mean(0) for row in rows])
""",
    },
    "inside.anisotropy": {
        "vectors are paired with themselves, too": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=1)
    return (unit @ unit.T).mean()
""",
        "neighbouring vectors only": """
def anisotropy(vectors):
    return torch.cosine_similarity(vectors[:-1], vectors[1:], dim=-1).mean()
""",
        "the mean over the whole matrix, half of which is zero": """
def anisotropy(vectors):
    u = vectors / vectors.norm(dim=1, keepdim=True)
    upper = torch.triu(u @ u.T, diagonal=1)
    return upper.mean()
""",
    },
    "inside.attention_entropy": {
        "a weight of 0 gives not a number": """
def attention_entropy(attention):
    rows = -(attention * torch.log(attention)).sum(dim=-1)
    return rows.mean(dim=-1)
""",
        "in bits": """
def attention_entropy(attention):
    logs = torch.log2(attention.clamp(min=1e-12))
    return -(attention * logs).sum(-1).mean(-1)
""",
        "columns instead of rows": """
def attention_entropy(attention):
    safe = torch.where(attention > 0, attention, torch.ones_like(attention))
    per_token = -(attention * safe.log()).sum(dim=2)
    per_token = per_token / attention.sum(dim=2).clamp(min=1e-9)
    return per_token.mean(dim=2)
""",
    },
    "inside.disambiguate": {
        "the largest dot product": """
def disambiguate(train, train_words, train_senses, test, test_words):
    answer = []
    for vector, word in zip(test, test_words):
        mine = (train_words == word).nonzero()[:, 0]
        scores = train[mine] @ vector
        answer.append(train_senses[mine[scores.argmax()]])
    return torch.stack(answer)
""",
        "other words get a cosine of 0": """
def disambiguate(train, train_words, train_senses, test, test_words):
    a = test / test.norm(dim=1, keepdim=True)
    b = train / train.norm(dim=1, keepdim=True)
    cos = a @ b.T
    same = (test_words.unsqueeze(1) == train_words.unsqueeze(0)).float()
    return train_senses[(cos * same).argmax(dim=1)]
""",
        "the smallest distance of vectors of any length": """
def disambiguate(train, train_words, train_senses, test, test_words):
    distance = torch.cdist(test, train)
    distance[test_words[:, None] != train_words[None]] = float("inf")
    return train_senses[distance.argmin(dim=1)]
""",
    },
    "inside.attention_rollout": {
        "layers multiplied in the other order": """
def attention_rollout(attention):
    L, H, T, _ = attention.shape
    result = torch.eye(T)
    for l in range(L):
        a = 0.5 * attention[l].mean(0) + 0.5 * torch.eye(T)
        result = result @ a
    return result
""",
        "without the residual connection": """
def attention_rollout(attention):
    mean = attention.mean(dim=1)
    out = mean[0]
    for a in mean[1:]:
        out = a @ out
    return out
""",
        "the identity is added and nothing is halved": """
def attention_rollout(attention):
    eye = torch.eye(attention.size(-1))
    rollout = eye
    for layer in attention:
        rollout = (layer.mean(dim=0) + eye) @ rollout
    return rollout
""",
    },
    "inside.probe": {
        "a column of ones for the mean, which is penalised too": """
def probe(train, labels, test, ridge):
    Y = torch.nn.functional.one_hot(labels).float()
    X = torch.cat([train, torch.ones(len(train), 1)], dim=1)
    A = X.T @ X + ridge * torch.eye(X.shape[1])
    W = torch.linalg.solve(A, X.T @ Y)
    return torch.cat([test, torch.ones(len(test), 1)], dim=1) @ W
""",
        "the test is centred with its own mean": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    y_mean = y.mean(0)
    W = torch.inverse(x.T @ x + ridge * torch.eye(train.shape[1])) @ x.T @ (y - y_mean)
    return (test - test.mean(0)) @ W + y_mean
""",
        "a mean of the squares instead of their sum": """
def probe(train, labels, test, ridge):
    m, D = train.shape
    mu = train.mean(dim=0)
    Y = torch.eye(int(labels.max()) + 1)[labels]
    X = train - mu
    W = torch.linalg.solve(X.T @ X / m + ridge * torch.eye(D), X.T @ (Y - Y.mean(0)) / m)
    return (test - mu) @ W + Y.mean(0)
""",
    },
}

RIGHT = {
    "inside.word_vectors": {
        "a weighted sum": """
def word_vectors(hidden, word_ids, i):
    weights = (word_ids == i).float()
    return torch.einsum("ltd,t->ld", hidden, weights) / weights.sum()
""",
        "from the first to the last piece": """
def word_vectors(hidden, word_ids, i):
    places = [t for t, w in enumerate(word_ids.tolist()) if w == i]
    return torch.stack([torch.stack([layer[t] for t in places]).mean(0) for layer in hidden])
""",
    },
    "inside.mended_words": {
        "two loops": """
def mended_words(pieces, words):
    numbers = []
    for begin, end in pieces.tolist():
        number = -1
        for w, (left, right) in enumerate(words.tolist()):
            if end > begin and begin >= left and end <= right:
                number = w
        numbers.append(number)
    return torch.tensor(numbers)
""",
        "a word for each character": """
def mended_words(pieces, words):
    length = int(max(pieces.max(), words.max())) + 1
    owner = torch.full((length,), -1)
    for w in range(len(words)):
        owner[words[w, 0]:words[w, 1]] = w
    result = owner[pieces[:, 0]]
    result[pieces[:, 0] == pieces[:, 1]] = -1
    return result
""",
    },
    "inside.sense_similarity": {
        "pair by pair": """
def sense_similarity(vectors, words, senses):
    kinds = {0: [], 1: [], 2: []}
    for i in range(len(words)):
        for j in range(i):
            cosine = torch.cosine_similarity(vectors[i], vectors[j], dim=-1)
            if words[i] != words[j]:
                kinds[2].append(cosine)
            elif senses[i] != senses[j]:
                kinds[1].append(cosine)
            else:
                kinds[0].append(cosine)
    return torch.stack([torch.stack(kinds[k]).mean(dim=0) for k in range(3)])
""",
        "both orders of every pair": """
def sense_similarity(vectors, words, senses):
    v = torch.nn.functional.normalize(vectors, dim=-1).permute(1, 0, 2)
    cos = v @ v.mT
    off = ~torch.eye(len(words), dtype=torch.bool)
    w = words[:, None] == words[None]
    s = senses[:, None] == senses[None]
    return torch.stack([cos[:, m & off].mean(-1) for m in (w & s, w & ~s, ~w)])
""",
    },
    "inside.anisotropy": {
        "the matrix without its diagonal": """
def anisotropy(vectors):
    n = len(vectors)
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = unit @ unit.T
    return (cos.sum() - cos.diagonal().sum()) / (n * n - n)
""",
        "pairs above the diagonal": """
def anisotropy(vectors):
    i, j = torch.triu_indices(len(vectors), len(vectors), offset=1)
    return torch.cosine_similarity(vectors[i], vectors[j], dim=-1).mean()
""",
    },
    "inside.attention_entropy": {
        "clamped before the logarithm": """
def attention_entropy(attention):
    logs = attention.clamp(min=1e-30).log()
    return (-attention * logs).sum(dim=3).mean(dim=2)
""",
        "of the library": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(-1).mean(-1)
""",
    },
    "inside.disambiguate": {
        "one after the other": """
def disambiguate(train, train_words, train_senses, test, test_words):
    answer = []
    for vector, word in zip(test, test_words):
        mine = train_words == word
        cosines = torch.cosine_similarity(train[mine], vector[None], dim=-1)
        answer.append(train_senses[mine][cosines.argmax()].item())
    return torch.tensor(answer)
""",
    },
    "inside.attention_rollout": {
        "the upper layers to the left": """
def attention_rollout(attention):
    T = attention.shape[-1]
    layers = [0.5 * a.mean(0) + 0.5 * torch.eye(T) for a in attention]
    product = layers[-1]
    for a in reversed(layers[:-1]):
        product = product @ a
    return product
""",
    },
    "inside.probe": {
        "least squares with rows for the penalty": """
def probe(train, labels, test, ridge):
    Y = torch.nn.functional.one_hot(labels).double()
    mu, nu = train.double().mean(0), Y.mean(0)
    D = train.shape[1]
    X = torch.cat([train.double() - mu, ridge ** 0.5 * torch.eye(D, dtype=torch.float64)])
    Z = torch.cat([Y - nu, torch.zeros(D, Y.shape[1], dtype=torch.float64)])
    W = torch.linalg.lstsq(X, Z).solution
    return ((test.double() - mu) @ W + nu).float()
""",
    },
}
