"""Natural answers to the exercises of 08, wrong and right, written from the task texts alone.

Each is a complete cell. WRONG and RIGHT map an exercise to {what is wrong or unusual: the cell}.
"""

WRONG = {
    "inside.word_vectors": {
        "the first piece": """
def word_vectors(hidden, word_ids, i):
    first = (word_ids == i).nonzero()[0, 0]
    return hidden[:, first]
""",
        "the last piece": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, (word_ids == i).nonzero()[-1, 0]]
""",
        "the sum": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, word_ids == i].sum(dim=1)
""",
        "mean over the layers": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, word_ids == i].mean(dim=0)
""",
        "token i": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, i]
""",
        "token i + 1, behind [CLS]": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, i + 1]
""",
        "divided by all tokens": """
def word_vectors(hidden, word_ids, i):
    mask = (word_ids == i).float()
    return (hidden * mask[None, :, None]).mean(dim=1)
""",
        "the largest of the pieces": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, word_ids == i].max(dim=1).values
""",
        "mean over everything": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, word_ids == i].mean()
""",
        "the last layer only": """
def word_vectors(hidden, word_ids, i):
    return hidden[-1, word_ids == i].mean(dim=0)
""",
        "pieces up to the word's number": """
def word_vectors(hidden, word_ids, i):
    return hidden[:, (word_ids >= 0) & (word_ids <= i)].mean(dim=1)
""",
        "the word's pieces counted, but taken from the start": """
def word_vectors(hidden, word_ids, i):
    n = int((word_ids == i).sum())
    return hidden[:, i + 1 : i + 1 + n].mean(dim=1)
""",
        "only two pieces at most": """
def word_vectors(hidden, word_ids, i):
    first = int((word_ids == i).nonzero()[0, 0])
    last = int((word_ids == i).nonzero()[-1, 0])
    return (hidden[:, first] + hidden[:, last]) / 2
""",
    },
    "inside.mended_words": {
        "numbers words as they are met": """
def mended_words(pieces, words):
    of_character = {c: w for w, (begin, end) in enumerate(words.tolist()) for c in range(begin, end)}
    met, out = {}, []
    for begin, end in pieces.tolist():
        word = of_character.get(begin, -1) if end > begin else -1
        out.append(met.setdefault(word, len(met)) if word >= 0 else -1)
    return torch.tensor(out)
""",
        "only pieces that begin a word": """
def mended_words(pieces, words):
    found = torch.full((len(pieces),), -1)
    for t, (begin, end) in enumerate(pieces.tolist()):
        for w, (first, last) in enumerate(words.tolist()):
            if begin == first and end > begin:
                found[t] = w
    return found
""",
        "only pieces that are a whole word": """
def mended_words(pieces, words):
    found = []
    for piece in pieces.tolist():
        found.append(words.tolist().index(piece) if piece in words.tolist() else -1)
    return torch.tensor(found)
""",
        "special tokens belong to the word at 0": """
def mended_words(pieces, words):
    inside = (pieces[:, :1] >= words[:, 0]) & (pieces[:, 1:] <= words[:, 1])
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
""",
        "0 for none": """
def mended_words(pieces, words):
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)
    return inside.int().argmax(dim=1)
""",
        "the end is not allowed to touch the word's end": """
def mended_words(pieces, words):
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end < words[:, 1]) & (begin < end)
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
""",
        "the begin is not allowed to touch the word's begin": """
def mended_words(pieces, words):
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin > words[:, 0]) & (end <= words[:, 1]) & (begin < end)
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
""",
        "the last word that begins before the piece, also behind its end": """
def mended_words(pieces, words):
    found = []
    for begin, end in pieces.tolist():
        number = -1
        for w, (first, last) in enumerate(words.tolist()):
            if first <= begin:
                number = w
        found.append(number if end > begin else -1)
    return torch.tensor(found)
""",
        "a piece that begins where a word ends belongs to it": """
def mended_words(pieces, words):
    found = []
    for begin, end in pieces.tolist():
        number = -1
        if begin < end:
            for w, (first, last) in enumerate(words.tolist()):
                if first <= begin <= last:
                    number = w
                    break
        found.append(number)
    return torch.tensor(found)
""",
        "counts up at each gap between pieces": """
def mended_words(pieces, words):
    found, number, last_end = [], -1, -1
    for begin, end in pieces.tolist():
        if begin == end:
            found.append(-1)
            continue
        if begin != last_end:
            number += 1
        last_end = end
        found.append(number)
    return torch.tensor(found)
""",
        "special tokens by place: the first and the last": """
def mended_words(pieces, words):
    inside = (pieces[:, :1] >= words[:, 0]) & (pieces[:, 1:] <= words[:, 1])
    found = torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
    found[0] = found[-1] = -1
    return found
""",
        "what begins at 0 is special": """
def mended_words(pieces, words):
    inside = (pieces[:, :1] >= words[:, 0]) & (pieces[:, 1:] <= words[:, 1]) & (pieces[:, :1] > 0)
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
""",
        "what lies between words goes to the word before": """
def mended_words(pieces, words):
    number = torch.searchsorted(words[:, 0].contiguous(), pieces[:, 0].contiguous(), right=True) - 1
    return torch.where(pieces[:, 0] < pieces[:, 1], number, -1)
""",
        "counted from 1": """
def mended_words(pieces, words):
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1) + 1, -1)
""",
    },
    "inside.sense_similarity": {
        "a use paired with itself": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind].mean(0) for kind in (word & sense, word & ~sense, ~word)])
""",
        "the same number of a sense, whatever the word": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (sense, word & ~sense, ~word)])
""",
        "other senses, whatever the word": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (word & sense, ~sense, ~word)])
""",
        "dot products": """
def sense_similarity(vectors, words, senses):
    cos = torch.einsum("ild,jld->ijl", vectors, vectors)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (word & sense, word & ~sense, ~word)])
""",
        "normalised over the layers": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (word & sense, word & ~sense, ~word)])
""",
        "each word counts the same in the first two rows": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    same, two = [], []
    for one in words.unique():
        of_it = word & (words == one) & once
        if (of_it & sense).any():
            same.append(cos[of_it & sense].mean(0))
        if (of_it & ~sense).any():
            two.append(cos[of_it & ~sense].mean(0))
    return torch.stack([torch.stack(same).mean(0), torch.stack(two).mean(0), cos[~word].mean(0)])
""",
        "cosines of mean vectors": """
def sense_similarity(vectors, words, senses):
    means = {}
    for w, s in zip(words.tolist(), senses.tolist()):
        means[w, s] = vectors[(words == w) & (senses == s)].mean(0)
    rows = [[], [], []]
    cosine = torch.nn.functional.cosine_similarity
    for i in range(len(words)):
        rows[0].append(cosine(vectors[i], means[words[i].item(), senses[i].item()], dim=-1))
    for (w, s), one in means.items():
        for (v, r), other in means.items():
            if w == v and s != r:
                rows[1].append(cosine(one, other, dim=-1))
            elif w != v:
                rows[2].append(cosine(one, other, dim=-1))
    return torch.stack([torch.stack(row).mean(0) for row in rows])
""",
        "divided by all pairs": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->lij", unit, unit)
    once = torch.ones(len(words), len(words)).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    kinds = (word & sense, word & ~sense, ~word)
    n = len(words)
    return torch.stack([(cos * kind * once).sum((1, 2)) / (n * (n - 1) / 2) for kind in kinds])
""",
        "layers first": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (word & sense, word & ~sense, ~word)], dim=1)
""",
        "different words first": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cos = torch.einsum("ild,jld->ijl", unit, unit)
    once = torch.ones(len(words), len(words), dtype=torch.bool).triu(1)
    word, sense = words[:, None] == words, senses[:, None] == senses
    return torch.stack([cos[kind & once].mean(0) for kind in (~word, word & ~sense, word & sense)])
""",
        "neighbouring rows only": """
def sense_similarity(vectors, words, senses):
    cos = torch.nn.functional.cosine_similarity(vectors[:-1], vectors[1:], dim=-1)
    word, sense = words[:-1] == words[1:], senses[:-1] == senses[1:]
    rows = []
    for kind in (word & sense, word & ~sense, ~word):
        rows.append(cos[kind].mean(0) if kind.any() else torch.zeros(cos.shape[1]))
    return torch.stack(rows)
""",
    },
    "inside.anisotropy": {
        "the whole matrix": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return (unit @ unit.T).mean()
""",
        "without the diagonal, but divided by n squared": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return ((unit @ unit.T).sum() - n) / n**2
""",
        "diagonal set to 0, then the mean": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return (unit @ unit.T).fill_diagonal_(0).mean()
""",
        "dot products": """
def anisotropy(vectors):
    n = len(vectors)
    dots = vectors @ vectors.T
    return (dots.sum() - dots.trace()) / (n * (n - 1))
""",
        "each pair once, divided as if twice": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return (unit @ unit.T).triu(1).sum() / (n * (n - 1))
""",
        "neighbours only": """
def anisotropy(vectors):
    return torch.nn.functional.cosine_similarity(vectors[:-1], vectors[1:], dim=-1).mean()
""",
        "cosine with the mean vector": """
def anisotropy(vectors):
    return torch.nn.functional.cosine_similarity(vectors, vectors.mean(0, keepdim=True), dim=-1).mean()
""",
        "normalised over the vectors": """
def anisotropy(vectors):
    unit = vectors / vectors.norm(dim=0, keepdim=True)
    n = len(unit)
    return ((unit @ unit.T).sum() - n) / (n * (n - 1))
""",
        "sizes of the cosines": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return ((unit @ unit.T).abs().sum() - n) / (n * (n - 1))
""",
        "upper triangle with its diagonal": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return (unit @ unit.T)[torch.ones(n, n).triu() == 1].mean()
""",
        "against the first vector only": """
def anisotropy(vectors):
    return torch.nn.functional.cosine_similarity(vectors[1:], vectors[:1], dim=-1).mean()
""",
        "one minus the cosine": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return 1 - ((unit @ unit.T).sum() - n) / (n * (n - 1))
""",
    },
    "inside.attention_entropy": {
        "in bits": """
def attention_entropy(attention):
    return -(attention * attention.clamp(min=1e-12).log2()).sum(-1).mean(-1)
""",
        "a weight of 0 gives nan": """
def attention_entropy(attention):
    return -(attention * attention.log()).sum(dim=-1).mean(dim=-1)
""",
        "summed over the rows": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(dim=(-1, -2))
""",
        "mean over both axes": """
def attention_entropy(attention):
    return torch.special.entr(attention).mean(dim=(-1, -2))
""",
        "mean over the heads, too": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(dim=-1).mean(dim=(-1, 1))
""",
        "sign forgotten": """
def attention_entropy(attention):
    return torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1)
""",
        "as a share of log T": """
def attention_entropy(attention):
    T = attention.shape[-1]
    return torch.special.entr(attention).sum(dim=-1).mean(dim=-1) / torch.tensor(float(T)).log()
""",
        "entropy of the mean row": """
def attention_entropy(attention):
    return torch.special.entr(attention.mean(dim=-2)).sum(dim=-1)
""",
        "rows with a 0 dropped": """
def attention_entropy(attention):
    rows = -(attention * attention.log()).sum(dim=-1)
    return rows.nanmean(dim=-1)
""",
        "rows with a 0 count as 0": """
def attention_entropy(attention):
    rows = -(attention * attention.log()).sum(dim=-1)
    return rows.nan_to_num(0).mean(dim=-1)
""",
        "a large epsilon": """
def attention_entropy(attention):
    return -(attention * (attention + 0.01).log()).sum(dim=-1).mean(dim=-1)
""",
        "softmax once more": """
def attention_entropy(attention):
    a = attention.softmax(dim=-1)
    return -(a * a.log()).sum(dim=-1).mean(dim=-1)
""",
        "the middle row for the mean": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(dim=-1).median(dim=-1).values
""",
    },
    "inside.disambiguate": {
        "of all words": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    return train_senses[(unit(test, dim=-1) @ unit(train, dim=-1).T).argmax(dim=1)]
""",
        "dot product": """
def disambiguate(train, train_words, train_senses, test, test_words):
    scores = (test @ train.T).masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[scores.argmax(dim=1)]
""",
        "Euclidean distance": """
def disambiguate(train, train_words, train_senses, test, test_words):
    far = torch.cdist(test, train).masked_fill(test_words[:, None] != train_words, torch.inf)
    return train_senses[far.argmin(dim=1)]
""",
        "only the test made length 1": """
def disambiguate(train, train_words, train_senses, test, test_words):
    scores = torch.nn.functional.normalize(test, dim=-1) @ train.T
    scores = scores.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[scores.argmax(dim=1)]
""",
        "other words get the cosine 0": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cos = unit(test, dim=-1) @ unit(train, dim=-1).T
    return train_senses[(cos * (test_words[:, None] == train_words)).argmax(dim=1)]
""",
        "the row of the neighbour, not its sense": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cos = unit(test, dim=-1) @ unit(train, dim=-1).T
    return cos.masked_fill(test_words[:, None] != train_words, -torch.inf).argmax(dim=1)
""",
        "the farthest": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cos = unit(test, dim=-1) @ unit(train, dim=-1).T
    return train_senses[cos.masked_fill(test_words[:, None] != train_words, torch.inf).argmin(dim=1)]
""",
        "the nearest mean of a sense": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, w in zip(test, test_words):
        of_word = train_words == w
        kinds = train_senses[of_word].unique()
        means = torch.stack([train[of_word & (train_senses == s)].mean(0) for s in kinds])
        found.append(kinds[torch.cosine_similarity(x[None], means, dim=-1).argmax()])
    return torch.stack(found)
""",
        "the commonest sense of the word": """
def disambiguate(train, train_words, train_senses, test, test_words):
    return torch.stack([train_senses[train_words == w].mode().values for w in test_words])
""",
        "the best sense by its mean cosine": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, w in zip(test, test_words):
        of_word = train_words == w
        cos = torch.cosine_similarity(x[None], train, dim=-1)
        kinds = train_senses[of_word].unique()
        means = torch.stack([cos[of_word & (train_senses == s)].mean() for s in kinds])
        found.append(kinds[means.argmax()])
    return torch.stack(found)
""",
        "the place among the word's own rows": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, w in zip(test, test_words):
        cos = torch.cosine_similarity(x[None], train[train_words == w], dim=-1)
        found.append(train_senses[cos.argmax()])
    return torch.stack(found)
""",
        "normalised over the sentences": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cos = unit(test, dim=0) @ unit(train, dim=0).T
    cos = cos.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cos.argmax(dim=1)]
""",
        "the largest size of a cosine": """
def disambiguate(train, train_words, train_senses, test, test_words):
    unit = torch.nn.functional.normalize
    cos = (unit(test, dim=-1) @ unit(train, dim=-1).T).abs()
    cos = cos.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cos.argmax(dim=1)]
""",
        "minus one is not small enough for none": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, w in zip(test, test_words):
        best, sense = 0.0, 0
        for y, v, s in zip(train, train_words, train_senses):
            cos = torch.dot(x, y) / (x.norm() * y.norm())
            if v == w and cos > best:
                best, sense = cos, s.item()
        found.append(sense)
    return torch.tensor(found)
""",
        "three neighbours vote": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, w in zip(test, test_words):
        of_word = train_words == w
        cos = torch.cosine_similarity(x[None], train[of_word], dim=-1)
        near = cos.topk(min(3, len(cos))).indices
        found.append(train_senses[of_word][near].mode().values)
    return torch.stack(found)
""",
    },
    "inside.attention_rollout": {
        "layers multiplied in the other order": """
def attention_rollout(attention):
    T = attention.shape[-1]
    share = torch.eye(T)
    for a in attention.mean(dim=1):
        share = share @ (a + torch.eye(T)) / 2
    return share
""",
        "no residual": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.mean(dim=1):
        share = a @ share
    return share
""",
        "the identity added, not halved": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.mean(dim=1):
        share = (a + torch.eye(len(a))) @ share
    return share
""",
        "heads added up": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.sum(dim=1):
        share = (a + torch.eye(len(a))) / 2 @ share
    return share
""",
        "the largest head": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.max(dim=1).values:
        a = (a + torch.eye(len(a))) / 2
        share = a / a.sum(dim=-1, keepdim=True) @ share
    return share
""",
        "mean of the layers": """
def attention_rollout(attention):
    return (attention.mean(dim=(0, 1)) + torch.eye(attention.shape[-1])) / 2
""",
        "the last layer only": """
def attention_rollout(attention):
    return (attention[-1].mean(dim=0) + torch.eye(attention.shape[-1])) / 2
""",
        "transposed": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.mean(dim=1):
        share = (a + torch.eye(len(a))) / 2 @ share
    return share.T
""",
        "the first layer without its residual": """
def attention_rollout(attention):
    a = attention.mean(dim=1)
    share = a[0]
    for layer in a[1:]:
        share = (layer + torch.eye(len(layer))) / 2 @ share
    return share
""",
        "mean over the layers, product of the heads": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.mean(dim=0):
        share = (a + torch.eye(len(a))) / 2 @ share
    return share
""",
        "number by number": """
def attention_rollout(attention):
    share = torch.ones(attention.shape[-1], attention.shape[-1])
    for a in attention.mean(dim=1):
        share = share * (a + torch.eye(len(a))) / 2
    return share
""",
        "all layers kept": """
def attention_rollout(attention):
    share, found = torch.eye(attention.shape[-1]), []
    for a in attention.mean(dim=1):
        share = (a + torch.eye(len(a))) / 2 @ share
        found.append(share)
    return torch.stack(found)
""",
        "ones for the identity": """
def attention_rollout(attention):
    T = attention.shape[-1]
    share = torch.eye(T)
    for a in attention.mean(dim=1):
        a = (a + torch.ones(T, T)) / 2
        share = a / a.sum(dim=-1, keepdim=True) @ share
    return share
""",
    },
    "inside.probe": {
        "nothing centred": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    W = torch.linalg.solve(train.T @ train + ridge * torch.eye(train.shape[1]), train.T @ y)
    return test @ W
""",
        "the mean target is not added": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x, y = train - train.mean(0), y - y.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ y)
    return (test - train.mean(0)) @ W
""",
        "test centred with its own mean": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - test.mean(0)) @ W + y.mean(0)
""",
        "test not centred": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return test @ W + y.mean(0)
""",
        "ridge on the mean": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    m = len(x)
    W = torch.linalg.solve(x.T @ x / m + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)) / m)
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "no ridge": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    W = torch.linalg.pinv(train - train.mean(0)) @ (y - y.mean(0))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "ridge squared": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge**2 * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "ridge added to every entry": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge, x.T @ (y - y.mean(0)))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "the constant is pulled to 0, too": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = torch.cat([train, torch.ones(len(train), 1)], dim=1)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ y)
    return torch.cat([test, torch.ones(len(test), 1)], dim=1) @ W
""",
        "the label, not its scores": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return ((test - train.mean(0)) @ W + y.mean(0)).argmax(dim=1)
""",
        "two classes": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot((labels > 0).long(), 2).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "targets of plus and minus one": """
def probe(train, labels, test, ridge):
    y = 2 * torch.nn.functional.one_hot(labels).float() - 1
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
        "inputs divided by their deviation": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    mean, std = train.mean(0), train.std(0)
    x = (train - mean) / std
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - mean) / std @ W + y.mean(0)
""",
        "softmax of the scores": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return ((test - train.mean(0)) @ W + y.mean(0)).softmax(dim=-1)
""",
        "half of the ridge": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    x = train - train.mean(0)
    W = torch.linalg.solve(x.T @ x + ridge / 2 * torch.eye(x.shape[1]), x.T @ (y - y.mean(0)))
    return (test - train.mean(0)) @ W + y.mean(0)
""",
    },
    "inside.logit_lens": {
        "the table at once": """
def logit_lens(stream, gain, bias, table):
    return stream @ table.T
""",
        "torch.std as it comes": """
def logit_lens(stream, gain, bias, table):
    mu = stream.mean(-1, keepdim=True)
    sigma = stream.std(-1, keepdim=True)
    return ((stream - mu) / sigma * gain + bias) @ table.T
""",
        "var as it comes, with epsilon": """
def logit_lens(stream, gain, bias, table):
    mu = stream.mean(-1, keepdim=True)
    var = stream.var(-1, keepdim=True)
    return ((stream - mu) / torch.sqrt(var + 1e-5) * gain + bias) @ table.T
""",
        "no epsilon": """
def logit_lens(stream, gain, bias, table):
    mu = stream.mean(-1, keepdim=True)
    var = stream.var(-1, keepdim=True, unbiased=False)
    return ((stream - mu) / var.sqrt() * gain + bias) @ table.T
""",
        "epsilon behind the root": """
def logit_lens(stream, gain, bias, table):
    mu = stream.mean(-1, keepdim=True)
    std = stream.std(-1, keepdim=True, unbiased=False)
    return ((stream - mu) / (std + 1e-5) * gain + bias) @ table.T
""",
        "layer_norm without gain and bias": """
def logit_lens(stream, gain, bias, table):
    return torch.nn.functional.layer_norm(stream, stream.shape[-1:]) @ table.T
""",
        "layer_norm with gain alone": """
def logit_lens(stream, gain, bias, table):
    return torch.nn.functional.layer_norm(stream, stream.shape[-1:], weight=gain) @ table.T
""",
        "root mean square": """
def logit_lens(stream, gain, bias, table):
    rms = (stream.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    return (stream / rms * gain + bias) @ table.T
""",
        "log probabilities": """
def logit_lens(stream, gain, bias, table):
    normed = torch.nn.functional.layer_norm(stream, stream.shape[-1:], gain, bias)
    return torch.log_softmax(normed @ table.T, dim=-1)
""",
        "the last point alone": """
def logit_lens(stream, gain, bias, table):
    normed = torch.nn.functional.layer_norm(stream[-1], gain.shape, gain, bias)
    return normed @ table.T
""",
        "dim 1 by mistake": """
def logit_lens(stream, gain, bias, table):
    mu = stream.mean(dim=1, keepdim=True)
    var = ((stream - mu) ** 2).mean(dim=1, keepdim=True)
    return ((stream - mu) / (var + 1e-5).sqrt() * gain + bias) @ table.T
""",
        "unit length": """
def logit_lens(stream, gain, bias, table):
    x = stream / stream.norm(dim=-1, keepdim=True)
    return (x * gain + bias) @ table.T
""",
    },
    "inside.ablate_head": {
        "mean over everything": """
def ablate_head(outputs, real, head):
    zero = outputs.clone()
    zero[:, head] = 0
    mean = outputs.clone()
    mean[:, head] = outputs[:, head].mean(dim=(0, 1))
    return torch.stack([zero, mean])
""",
        "masked sum over all tokens": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    mean[:, head] = (outputs[:, head] * real.unsqueeze(-1)).mean(dim=(0, 1))
    return torch.stack([zero, mean])
""",
        "mean of each sentence": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    for b in range(len(outputs)):
        mean[b, head] = outputs[b, head][real[b] == 1].mean(dim=0)
    return torch.stack([zero, mean])
""",
        "mean of the sentences' means": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    means = [outputs[b, head][real[b] == 1].mean(dim=0) for b in range(len(outputs))]
    mean[:, head] = torch.stack(means).mean(dim=0)
    return torch.stack([zero, mean])
""",
        "mean with NaN-free places": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    counts = real.sum(dim=0).clamp(min=1)
    mean[:, head] = (outputs[:, head] * real[..., None]).sum(dim=0) / counts[:, None]
    return torch.stack([zero, mean])
""",
        "changes outputs itself": """
def ablate_head(outputs, real, head):
    mean = outputs[:, head][real == 1].mean(dim=0)
    zero = outputs
    zero[:, head] = 0
    meaned = outputs
    meaned[:, head] = mean
    return torch.stack([zero, meaned])
""",
        "a scalar mean": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    mean[:, head] = outputs[:, head][real.bool()].mean()
    return torch.stack([zero, mean])
""",
        "mean of the heads": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    mean[:, head] = outputs.mean(dim=1)
    return torch.stack([zero, mean])
""",
        "keeps only that head": """
def ablate_head(outputs, real, head):
    zero = torch.zeros_like(outputs)
    zero[:, head] = outputs[:, head]
    mean = outputs.transpose(1, 2)[real == 1].mean(0)[None, :, None].expand_as(outputs).clone()
    mean[:, head] = outputs[:, head]
    return torch.stack([zero, mean])
""",
        "only the zeros": """
def ablate_head(outputs, real, head):
    outputs = outputs.clone()
    outputs[:, head] = 0
    return outputs
""",
        "sum, not mean": """
def ablate_head(outputs, real, head):
    zero, mean = outputs.clone(), outputs.clone()
    zero[:, head] = 0
    mean[:, head] = outputs[:, head][real == 1].sum(dim=0)
    return torch.stack([zero, mean])
""",
    },
    "inside.patching": {
        "source at every layer": """
def patching(layers, target, source):
    T = target.shape[0]
    out, hidden = [], target.unsqueeze(0)
    for l in range(len(layers) + 1):
        per_place = []
        for t in range(T):
            x = hidden.clone()
            x[0, t] = source[t]
            for layer in layers[l:]:
                x = layer(x)
            per_place.append(x[0])
        out.append(torch.stack(per_place))
        if l < len(layers):
            hidden = layers[l](hidden)
    return torch.stack(out)
""",
        "target and source exchanged": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = b.repeat(T, 1, 1)
        for t in range(T):
            x[t, t] = a[0, t]
        for layer in layers[l:]:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "forgets to copy": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None].clone(), source[None].clone()
    for l in range(len(layers) + 1):
        places = []
        for t in range(T):
            x = a
            x[0, t] = b[0, t]
            for layer in layers[l:]:
                x = layer(x)
            places.append(x[0].clone())
        out.append(torch.stack(places))
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "does not run the rest": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = a.repeat(T, 1, 1)
        x[torch.arange(T), torch.arange(T)] = b[0]
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "all layers each time": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = a.repeat(T, 1, 1)
        x[torch.arange(T), torch.arange(T)] = b[0]
        for layer in layers:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "skips the layer": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = a.repeat(T, 1, 1)
        x[torch.arange(T), torch.arange(T)] = b[0]
        for layer in layers[l + 1 :]:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "the whole sentence": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = a.repeat(T, 1, 1)
        for t in range(T):
            x[t] = b[0]
        for layer in layers[l:]:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "column instead of one place": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        x = a.repeat(T, 1, 1)
        for t in range(T):
            x[:, t] = b[0, t]
        for layer in layers[l:]:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "only L rows": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers)):
        x = a.repeat(T, 1, 1)
        x[torch.arange(T), torch.arange(T)] = b[0]
        for layer in layers[l:]:
            x = layer(x)
        out.append(x)
        a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "target never runs on": """
def patching(layers, target, source):
    T = target.shape[0]
    out, b = [], source[None]
    for l in range(len(layers) + 1):
        x = target.repeat(T, 1, 1)
        x[torch.arange(T), torch.arange(T)] = b[0]
        for layer in layers[l:]:
            x = layer(x)
        out.append(x)
        if l < len(layers):
            b = layers[l](b)
    return torch.stack(out)
""",
    },
}

RIGHT = {
    "inside.word_vectors": {
        "weights that add up to 1": """
def word_vectors(hidden, word_ids, i):
    weights = (word_ids == i).float()
    return torch.einsum("t,ltd->ld", weights / weights.sum(), hidden)
""",
        "a loop": """
def word_vectors(hidden, word_ids, i):
    total, n = torch.zeros(hidden.shape[0], hidden.shape[2]), 0
    for t, word in enumerate(word_ids.tolist()):
        if word == i:
            total, n = total + hidden[:, t], n + 1
    return total / n
""",
        "numpy": """
import numpy

def word_vectors(hidden, word_ids, i):
    places = numpy.where(word_ids.numpy() == i)[0]
    return hidden.numpy()[:, places].mean(axis=1)
""",
    },
    "inside.mended_words": {
        "two loops, a list": """
def mended_words(pieces, words):
    found = []
    for begin, end in pieces.tolist():
        number = -1
        for w, (first, last) in enumerate(words.tolist()):
            if begin < end and first <= begin and end <= last:
                number = w
        found.append(number)
    return found
""",
        "a table of characters": """
def mended_words(pieces, words):
    size = int(max(pieces.max(), words.max())) + 1
    of_character = torch.full((size,), -1)
    for w, (first, last) in enumerate(words.tolist()):
        of_character[first:last] = w
    begin, end = pieces.T
    return torch.where(begin < end, of_character[begin], -1)
""",
        "numpy": """
import numpy

def mended_words(pieces, words):
    pieces, words = pieces.numpy(), words.numpy()
    found = numpy.full(len(pieces), -1)
    for w, (first, last) in enumerate(words):
        inside = (pieces[:, 0] >= first) & (pieces[:, 1] <= last) & (pieces[:, 1] > pieces[:, 0])
        found[inside] = w
    return found
""",
    },
    "inside.sense_similarity": {
        "pair by pair": """
from itertools import combinations

def sense_similarity(vectors, words, senses):
    kinds = [[], [], []]
    for i, j in combinations(range(len(words)), 2):
        cos = torch.cosine_similarity(vectors[i], vectors[j], dim=-1)
        kind = 2 if words[i] != words[j] else 0 if senses[i] == senses[j] else 1
        kinds[kind].append(cos)
    return torch.stack([torch.stack(kind).mean(dim=0) for kind in kinds])
""",
        "each pair twice": """
def sense_similarity(vectors, words, senses):
    unit = torch.nn.functional.normalize(vectors, dim=-1).transpose(0, 1)
    cos = unit @ unit.mT
    word, sense = words[:, None] == words, senses[:, None] == senses
    other = ~torch.eye(len(words), dtype=torch.bool)
    kinds = [word & sense & other, word & ~sense, ~word]
    return torch.stack([(cos * kind).sum(dim=(1, 2)) / kind.sum() for kind in kinds])
""",
        "numpy, float64": """
import numpy

def sense_similarity(vectors, words, senses):
    x = vectors.double().numpy()
    x = x / numpy.sqrt((x**2).sum(axis=-1, keepdims=True))
    i, j = numpy.triu_indices(len(x), 1)
    cos = (x[i] * x[j]).sum(axis=-1)
    w, s = words.numpy(), senses.numpy()
    word, sense = w[i] == w[j], s[i] == s[j]
    return numpy.stack([cos[kind].mean(axis=0) for kind in (word & sense, word & ~sense, ~word)])
""",
    },
    "inside.anisotropy": {
        "upper triangle": """
def anisotropy(vectors):
    n = len(vectors)
    cos = torch.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    i, j = torch.triu_indices(n, n, offset=1)
    return cos[i, j].mean()
""",
        "a loop over pairs": """
def anisotropy(vectors):
    total, pairs = 0.0, 0
    for i in range(len(vectors)):
        for j in range(len(vectors)):
            if i != j:
                total += torch.cosine_similarity(vectors[i], vectors[j], dim=0).item()
                pairs += 1
    return total / pairs
""",
        "numpy, float64": """
import numpy

def anisotropy(vectors):
    x = vectors.numpy().astype(float)
    x /= numpy.linalg.norm(x, axis=1, keepdims=True)
    cos = x @ x.T
    return cos[~numpy.eye(len(x), dtype=bool)].mean()
""",
        "mean of the matrix, corrected": """
def anisotropy(vectors):
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    n = len(unit)
    return (n * (unit @ unit.T).mean() - 1) / (n - 1)
""",
    },
    "inside.attention_entropy": {
        "columns first: every part of a head is added once, and the sum divided by T": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(dim=-2).mean(dim=-1)
""",
        "entr": """
def attention_entropy(attention):
    return torch.special.entr(attention).sum(dim=-1).mean(dim=-1)
""",
        "a small number kept away from the logarithm": """
def attention_entropy(attention):
    return -(attention * attention.clamp(min=1e-12).log()).sum(dim=-1).mean(dim=-1)
""",
        "loops": """
import math

def attention_entropy(attention):
    L, H, T, _ = attention.shape
    found = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            for row in attention[layer, head].tolist():
                found[layer, head] -= sum(a * math.log(a) for a in row if a > 0) / T
    return found
""",
        "nan becomes 0, number by number": """
def attention_entropy(attention):
    terms = (attention * attention.log()).nan_to_num(0.0)
    return -terms.sum(dim=-1).mean(dim=-1)
""",
        "numpy with a small epsilon": """
import numpy

def attention_entropy(attention):
    a = attention.numpy()
    return -(a * numpy.log(a + 1e-9)).sum(axis=-1).mean(axis=-1)
""",
    },
    "inside.disambiguate": {
        "sentence by sentence": """
def disambiguate(train, train_words, train_senses, test, test_words):
    found = []
    for x, word in zip(test, test_words):
        rows = (train_words == word).nonzero()[:, 0]
        cos = torch.cosine_similarity(x[None], train[rows], dim=-1)
        found.append(train_senses[rows[cos.argmax()]].item())
    return found
""",
        "distance of unit vectors": """
def disambiguate(train, train_words, train_senses, test, test_words):
    test = test / test.norm(dim=-1, keepdim=True)
    train = train / train.norm(dim=-1, keepdim=True)
    far = torch.cdist(test, train)
    far[test_words[:, None] != train_words[None]] = float("inf")
    return train_senses[far.argmin(dim=1)]
""",
        "numpy": """
import numpy

def disambiguate(train, train_words, train_senses, test, test_words):
    x, y = test.numpy(), train.numpy()
    cos = x @ y.T / numpy.linalg.norm(x, axis=1)[:, None] / numpy.linalg.norm(y, axis=1)
    cos[test_words.numpy()[:, None] != train_words.numpy()] = -2
    return train_senses.numpy()[cos.argmax(axis=1)]
""",
    },
    "inside.attention_rollout": {
        "rows divided by their sum": """
def attention_rollout(attention):
    layers = attention.mean(dim=1) + torch.eye(attention.shape[-1])
    layers = layers / layers.sum(dim=-1, keepdim=True)
    share = layers[0]
    for a in layers[1:]:
        share = a @ share
    return share
""",
        "from the top": """
def attention_rollout(attention):
    share = torch.eye(attention.shape[-1])
    for a in attention.mean(dim=1).flip(0):
        share = 0.5 * share @ a + 0.5 * share
    return share
""",
        "numpy": """
import numpy
from functools import reduce

def attention_rollout(attention):
    a = attention.double().numpy().mean(axis=1)
    layers = (a + numpy.eye(a.shape[-1])) / 2
    return reduce(lambda below, layer: layer @ below, layers)
""",
    },
    "inside.probe": {
        "stacked least squares": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).float()
    mean_x, mean_y = train.mean(0), y.mean(0)
    D = train.shape[1]
    x = torch.cat([train - mean_x, ridge**0.5 * torch.eye(D)])
    y = torch.cat([y - mean_y, torch.zeros(D, y.shape[1])])
    return (test - mean_x) @ torch.linalg.lstsq(x, y).solution + mean_y
""",
        "by the kernel matrix": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train)
    x, z = train - train.mean(0), test - train.mean(0)
    alpha = torch.linalg.solve(x @ x.T + ridge * torch.eye(len(x)), y - y.mean(0))
    return z @ x.T @ alpha + y.mean(0)
""",
        "float64 and an inverse": """
def probe(train, labels, test, ridge):
    x, z = train.double(), test.double()
    y = torch.eye(int(labels.max()) + 1).double()[labels]
    mean = x.mean(dim=0)
    W = torch.linalg.inv((x - mean).T @ (x - mean) + ridge * torch.eye(x.shape[1])) @ (x - mean).T @ y
    return (z - mean) @ W + y.mean(dim=0)
""",
        "singular values": """
def probe(train, labels, test, ridge):
    y = torch.nn.functional.one_hot(labels).to(train)
    mean = train.mean(0)
    U, S, Vh = torch.linalg.svd(train - mean, full_matrices=False)
    W = Vh.T @ ((S / (S**2 + ridge))[:, None] * (U.T @ (y - y.mean(0))))
    return (test - mean) @ W + y.mean(0)
""",
    },
    "inside.logit_lens": {
        "nn.LayerNorm with weights put in": """
def logit_lens(stream, gain, bias, table):
    norm = torch.nn.LayerNorm(len(gain))
    norm.weight.data, norm.bias.data = gain, bias
    with torch.no_grad():
        return norm(stream) @ table.T
""",
        "step by step": """
def logit_lens(stream, gain, bias, table):
    D = stream.shape[-1]
    mu = stream.sum(-1, keepdim=True) / D
    x = stream - mu
    var = (x * x).sum(-1, keepdim=True) / D
    x = x / torch.sqrt(var + 1e-5)
    x = x * gain + bias
    return torch.matmul(x, table.transpose(0, 1))
""",
    },
    "inside.ablate_head": {
        "bool mask": """
def ablate_head(outputs, real, head):
    out = torch.stack([outputs, outputs])
    out[0, :, head] = 0.0
    out[1, :, head] = outputs[:, head][real.bool()].mean(0)
    return out
""",
        "flattened": """
def ablate_head(outputs, real, head):
    flat = outputs[:, head].reshape(-1, outputs.shape[-1])
    mean = flat[real.flatten() > 0].mean(dim=0)
    a, b = outputs.clone(), outputs.clone()
    a[:, head, :, :] = 0
    b[:, head, :, :] = mean
    return torch.stack((a, b), dim=0)
""",
    },
    "inside.patching": {
        "plain loops": """
def patching(layers, target, source):
    T = target.shape[0]
    out, a, b = [], target[None], source[None]
    for l in range(len(layers) + 1):
        places = []
        for t in range(T):
            x = a.clone()
            x[0, t] = b[0, t]
            for layer in layers[l:]:
                x = layer(x)
            places.append(x[0])
        out.append(torch.stack(places))
        if l < len(layers):
            a, b = layers[l](a), layers[l](b)
    return torch.stack(out)
""",
        "hidden states kept in lists": """
def patching(layers, target, source):
    states_t, states_s = [target[None]], [source[None]]
    for layer in layers:
        states_t.append(layer(states_t[-1]))
        states_s.append(layer(states_s[-1]))
    T, L = len(target), len(layers)
    out = torch.zeros(L + 1, T, *target.shape)
    for l in range(L + 1):
        batch = states_t[l].repeat(T, 1, 1)
        batch[torch.arange(T), torch.arange(T)] = states_s[l][0]
        for i in range(l, L):
            batch = layers[i](batch)
        out[l] = batch
    return out
""",
    },
}
