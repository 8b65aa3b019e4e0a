"""Answers to notebook 06 as students write them, made from the task texts alone: wrong ones and unusual right ones."""

WRONG = {
    "bert.lm_examples": {
        "roll: the first token behind the last": """
def lm_examples(ids, chosen, pad):
    causal = torch.roll(ids, -1, dims=1)
    causal = torch.where(causal == pad, UNCHOSEN, causal)
    return causal, torch.where(chosen, ids, UNCHOSEN)
""",
        "rolled the other way": """
def lm_examples(ids, chosen, pad):
    causal = torch.roll(ids, 1, dims=1)
    causal[:, -1] = UNCHOSEN
    causal = torch.where(causal == pad, UNCHOSEN, causal)
    return causal, torch.where(chosen, ids, UNCHOSEN)
""",
        "one place too short": """
def lm_examples(ids, chosen, pad):
    causal = ids[:, 1:].clone()
    causal[causal == pad] = UNCHOSEN
    masked = ids.clone()
    masked[~chosen] = UNCHOSEN
    return causal, masked
""",
        "padding is to be said": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    masked = torch.full_like(ids, UNCHOSEN)
    masked[chosen] = ids[chosen]
    return causal, masked
""",
        "nothing where this token is padding, not the next": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[ids == pad] = UNCHOSEN
    return causal, torch.where(chosen, ids, UNCHOSEN)
""",
        "the chosen ones are left out": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    return causal, ids.masked_fill(chosen, UNCHOSEN)
""",
        "0 where nothing is to be said": """
def lm_examples(ids, chosen, pad):
    causal = torch.zeros_like(ids)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = 0
    return causal, ids * chosen
""",
        "masked, causal": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    return ids.masked_fill(~chosen, UNCHOSEN), causal
""",
        "the given ids are changed": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    masked = ids
    masked[~chosen] = UNCHOSEN
    return causal, masked
""",
        "padding is 0": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == 0] = UNCHOSEN
    return causal, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "no masked label at the last place": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    masked = torch.where(chosen, ids, UNCHOSEN)
    masked[:, -1] = UNCHOSEN
    return causal, masked
""",
        "masked, too, says the next": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    return causal, causal.masked_fill(~chosen, UNCHOSEN)
""",
        "causal only where chosen": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[(causal == pad) | ~chosen] = UNCHOSEN
    return causal, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "multiplied by chosen, and 0 taken for nothing": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    masked = ids * chosen
    masked[masked == 0] = UNCHOSEN
    return causal, masked
""",
        "asks for what was not chosen, but not for padding": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    masked = torch.where(~chosen & (ids != pad), ids, UNCHOSEN)
    return causal, masked
""",
    },
    "bert.wordpiece": {
        "the shortest piece": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(start + 1, len(word) + 1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                break
        else:
            return [vocab["[UNK]"]]
    return ids
""",
        "no ## in front of the following pieces": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and word[start:end] not in vocab:
            end -= 1
        if end == start:
            return [vocab["[UNK]"]]
        ids.append(vocab[word[start:end]])
        start = end
    return ids
""",
        "with or without ##": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            text = word[start:end]
            if start > 0 and "##" + text in vocab:
                ids.append(vocab["##" + text])
                break
            if text in vocab:
                ids.append(vocab[text])
                break
        else:
            return [vocab["[UNK]"]]
        start = end
    return ids
""",
        "the pieces so far, then [UNK]": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            ids.append(vocab["[UNK]"])
            return ids
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "[UNK] for each letter that does not fit": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                break
        else:
            ids.append(vocab["[UNK]"])
            start += 1
    return ids
""",
        "letters that do not fit are skipped": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                ids.append(vocab[piece])
                start = end
                break
        else:
            start += 1
    return ids or [vocab["[UNK]"]]
""",
        "comes back when it is stuck": """
def wordpiece(word, vocab):
    def cut(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                rest = cut(end)
                if rest is not None:
                    return [vocab[piece], *rest]
        return None
    ids = cut(0)
    return ids if ids is not None else [vocab["[UNK]"]]
""",
        "the fewest pieces": """
def wordpiece(word, vocab):
    best = {0: []}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if start in best and piece in vocab:
                found = best[start] + [vocab[piece]]
                if end not in best or len(found) < len(best[end]):
                    best[end] = found
    return best.get(len(word), [vocab["[UNK]"]])
""",
        "small letters first": """
def wordpiece(word, vocab):
    word = word.lower()
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "single letters are never tried": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start + 1, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "the last letter is never in the first try": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word) - 1, start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "from the right": """
def wordpiece(word, vocab):
    ids, end = [], len(word)
    while end > 0:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.insert(0, vocab[piece])
        end = start
    return ids
""",
        "the id of [UNK] is 0": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [0]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "the id of [UNK] as in BERT's own vocabulary": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [100]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "the pieces, not their ids": """
def wordpiece(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces
""",
        "## in front of the first piece, too": """
def wordpiece(word, vocab):
    if word in vocab:
        return [vocab[word]]
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if "##" + word[start:end] in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab["##" + word[start:end]])
        start = end
    return ids
""",
        "nothing for a word that cannot be cut": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return []
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "the longest piece anywhere in the word first": """
def wordpiece(word, vocab):
    def cut(start, end):
        for size in range(end - start, 0, -1):
            for s in range(start, end - size + 1):
                piece = ("##" if s else "") + word[s:s + size]
                if piece in vocab:
                    left = cut(start, s) if s > start else []
                    right = cut(s + size, end) if s + size < end else []
                    if left is None or right is None:
                        return None
                    return left + [vocab[piece]] + right
        return None
    return cut(0, len(word)) or [vocab["[UNK]"]]
""",
        "a whole word of at most eight letters": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        for end in range(min(len(word), start + 8), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        ids.append(vocab[piece])
        start = end
    return ids
""",
        "a piece's id asked as if it were true or false": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        found = None
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if vocab.get(piece):
                found = vocab[piece]
                break
        if found is None:
            return [vocab["[UNK]"]]
        ids.append(found)
        start = end
    return ids
""",
    },
    "bert.encode_pair": {
        "segment 1 at the padding": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    n = len(ids)
    segments = [0] * (len(a) + 2) + [1] * (T - len(a) - 2)
    return (torch.tensor(ids + [pad] * (T - n)), torch.tensor(segments), torch.arange(T) < n)
""",
        "the first [SEP] belongs to the second sentence": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 1) + [1] * (len(b) + 2) + [0] * rest
    keep = [True] * len(ids) + [False] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.tensor(keep)
""",
        "the last [SEP] has segment 0": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * len(b) + [0] * (rest + 1)
    keep = [True] * len(ids) + [False] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.tensor(keep)
""",
        "the row is cut off at its end": """
def encode_pair(a, b, T, cls, sep, pad):
    ids = [cls] + a.tolist() + [sep] + b.tolist() + [sep]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    keep = [True] * len(ids)
    rest = max(0, T - len(ids))
    ids, segments, keep = ids + [pad] * rest, segments + [0] * rest, keep + [False] * rest
    return torch.tensor(ids[:T]), torch.tensor(segments[:T]), torch.tensor(keep[:T])
""",
        "only b is shortened": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    b = b[: max(0, T - 3 - len(a))]
    a = a[: T - 3 - len(b)]
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "of two equally long, a is shortened": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) >= len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "the first token is lost, not the last": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop(0)
        else:
            b.pop(0)
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "both cut to half of the places": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    if len(a) + len(b) > T - 3:
        half = (T - 3) // 2
        b = b[:half]
        a = a[: T - 3 - len(b)]
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "keep is True at the padding": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) >= T - rest
""",
        "keep is read off the ids": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    ids = torch.tensor(ids + [pad] * rest)
    segments = torch.tensor([0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest)
    return ids, segments, ids != pad
""",
        "segments counted from the first [SEP] in the ids": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    first = ids.index(sep)
    rest = T - len(ids)
    segments = [0] * (first + 1) + [1] * (len(ids) - first - 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "no [SEP] at the end": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 2:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * len(b) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "not padded": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor(ids), torch.tensor(segments), torch.ones(len(ids), dtype=torch.bool)
""",
        "padding in front": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * rest + [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return torch.tensor([pad] * rest + ids), torch.tensor(segments), torch.arange(T) >= rest
""",
        "special tokens not counted in the length": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.tensor([True] * len(ids) + [False] * rest)
""",
        "one token more than needed is dropped": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) + 3 >= T:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "segments 1 and 2": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        if len(a) > len(b):
            a.pop()
        else:
            b.pop()
    ids = [cls] + a + [sep] + b + [sep]
    rest = T - len(ids)
    segments = [1] * (len(a) + 2) + [2] * (len(b) + 1) + [0] * rest
    return torch.tensor(ids + [pad] * rest), torch.tensor(segments), torch.arange(T) < T - rest
""",
        "padding written as 0": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) > T - 3:
        (a if len(a) > len(b) else b).pop()
    row = [cls, *a, sep, *b, sep]
    ids = torch.zeros(T, dtype=torch.long)
    ids[: len(row)] = torch.tensor(row)
    segments = torch.zeros(T, dtype=torch.long)
    segments[len(a) + 2 : len(row)] = 1
    return ids, segments, torch.arange(T) < len(row)
""",
    },
    "bert.mlm_corrupt": {
        "special tokens are chosen": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = choice < 0.15
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, labels
""",
        "only one special id is spared": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & (ids != special[0])
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, labels
""",
        "special ids are taken to be the first ones": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & (ids >= len(special))
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, labels
""",
        "all below the largest special id are spared": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & (ids > special.max())
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, labels
""",
        "every label": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids
""",
        "labels only where [MASK] stands": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    labels = torch.where(corrupted == mask, ids, UNCHOSEN)
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, labels
""",
        "labels only where something changed": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    labels = ids.clone()
    labels[corrupted == ids] = UNCHOSEN
    return corrupted, labels
""",
        "labels of the corrupted text": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    labels = corrupted.clone()
    labels[~chosen] = UNCHOSEN
    return corrupted, labels
""",
        "all chosen become [MASK]": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    return ids.masked_fill(chosen, mask), ids.masked_fill(~chosen, UNCHOSEN)
""",
        "all others become random words": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "random below 0.9 over the masks": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = torch.where(chosen & (change < 0.8), mask, ids)
    corrupted = torch.where(chosen & (change < 0.9), random_words, corrupted)
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "85 % are chosen": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice > 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "up to and with 0.15": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice <= 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "up to and with 0.8": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change <= 0.8)] = mask
    rnd = chosen & (change > 0.8) & (change < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "up to and with 0.9": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change <= 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "the draws mixed up": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (change < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (choice < 0.8)] = mask
    rnd = chosen & (choice >= 0.8) & (choice < 0.9)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "one draw for both decisions": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = ids.clone()
    corrupted[chosen & (choice < 0.8 * 0.15)] = mask
    rnd = chosen & (choice >= 0.8 * 0.15) & (choice < 0.9 * 0.15)
    corrupted[rnd] = random_words[rnd]
    return corrupted, ids.masked_fill(~chosen, UNCHOSEN)
""",
        "the given ids are changed": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    labels = ids.masked_fill(~chosen, UNCHOSEN)
    ids[chosen & (change < 0.8)] = mask
    rnd = chosen & (change >= 0.8) & (change < 0.9)
    ids[rnd] = random_words[rnd]
    return ids, labels
""",
        "labels, corrupted": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = torch.where(chosen & (change < 0.8), mask, ids)
    corrupted = torch.where(chosen & (change >= 0.8) & (change < 0.9), random_words, corrupted)
    return torch.where(chosen, ids, UNCHOSEN), corrupted
""",
        "random words also where nothing was chosen": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = torch.where(chosen & (change < 0.8), mask, ids)
    corrupted = torch.where((change >= 0.8) & (change < 0.9), random_words, corrupted)
    return corrupted, torch.where(chosen, ids, UNCHOSEN)
""",
        "a tenth [MASK], eight tenths random": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = torch.where(chosen & (change < 0.8), random_words, ids)
    corrupted = torch.where(chosen & (change >= 0.8) & (change < 0.9), mask, corrupted)
    return corrupted, torch.where(chosen, ids, UNCHOSEN)
""",
        "the label 0 where nothing was chosen": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    corrupted = torch.where(chosen & (change < 0.8), mask, ids)
    corrupted = torch.where(chosen & (change >= 0.8) & (change < 0.9), random_words, corrupted)
    return corrupted, torch.where(chosen, ids, 0)
""",
        "special tokens not taken as random words": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change < 0.8)] = mask
    replaced = chosen & (change >= 0.8) & (change < 0.9) & ~torch.isin(random_words, special)
    corrupted[replaced] = random_words[replaced]
    return corrupted, labels
""",
        "up to and with all three limits": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen = (choice <= 0.15) & ~torch.isin(ids, special)
    labels = torch.where(chosen, ids, UNCHOSEN)
    corrupted = ids.clone()
    corrupted[chosen & (change <= 0.8)] = mask
    replaced = chosen & (change > 0.8) & (change <= 0.9)
    corrupted[replaced] = random_words[replaced]
    return corrupted, labels
""",
    },
    "bert.mlm_loss": {
        "mean over all places": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    log_p = logits.log_softmax(-1)
    nats = -log_p.gather(2, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return (nats * chosen).mean()
""",
        "mean of the rows' means": """
def mlm_loss(logits, labels):
    means = []
    for row, label in zip(logits, labels):
        chosen = label != UNCHOSEN
        if chosen.any():
            means.append(torch.nn.functional.cross_entropy(row[chosen], label[chosen]))
    return torch.stack(means).mean()
""",
        "sum": """
def mlm_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=UNCHOSEN, reduction="sum")
""",
        "the word 0 is ignored": """
def mlm_loss(logits, labels):
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)
""",
        "only labels above 0 count as chosen": """
def mlm_loss(logits, labels):
    chosen = labels > 0
    return torch.nn.functional.cross_entropy(logits[chosen], labels[chosen])
""",
        "places that were not chosen count as word 0": """
def mlm_loss(logits, labels):
    labels = labels.clamp(min=0)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
""",
        "bits": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    p = logits[chosen].softmax(-1)
    right = p[torch.arange(len(p)), labels[chosen]]
    return -torch.log2(right).mean()
""",
        "a softmax, then its log": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    p = logits[chosen].softmax(-1)
    right = p[torch.arange(len(p)), labels[chosen]]
    return -torch.log(right).mean()
""",
        "a softmax by hand": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    e = torch.exp(logits[chosen])
    p = e / e.sum(dim=-1, keepdim=True)
    return -p[torch.arange(len(p)), labels[chosen]].log().mean()
""",
        "log of the sum of exp by hand": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    z = logits[chosen]
    right = z.gather(1, labels[chosen].unsqueeze(1)).squeeze(1)
    return (torch.log(torch.exp(z).sum(-1)) - right).mean()
""",
        "log of the mean probability": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    p = logits[chosen].softmax(-1)
    return -torch.log(p[torch.arange(len(p)), labels[chosen]].mean())
""",
        "no minus": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    log_p = logits[chosen].log_softmax(-1)
    return log_p[torch.arange(len(log_p)), labels[chosen]].mean()
""",
        "softmax twice": """
def mlm_loss(logits, labels):
    p = logits.softmax(dim=-1)
    return torch.nn.functional.cross_entropy(p.transpose(1, 2), labels, ignore_index=-100)
""",
        "softmax over the places": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    log_p = logits.log_softmax(dim=1)[chosen]
    return -log_p[torch.arange(len(log_p)), labels[chosen]].mean()
""",
        "softmax over the chosen places": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    log_p = logits[chosen].log_softmax(dim=0)
    return -log_p[torch.arange(len(log_p)), labels[chosen]].mean()
""",
        "divided by the number of rows": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    log_p = logits[chosen].log_softmax(-1)
    return -log_p.gather(1, labels[chosen][:, None]).sum() / len(logits)
""",
        "the axes of cross_entropy": """
def mlm_loss(logits, labels):
    B, T, V = logits.shape
    return torch.nn.functional.cross_entropy(logits.reshape(B, V, T), labels)
""",
        "a small number against log 0": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    p = logits[chosen].softmax(-1)
    return -torch.log(p[torch.arange(len(p)), labels[chosen]] + 1e-8).mean()
""",
        "one number for each chosen word": """
def mlm_loss(logits, labels):
    chosen = labels != UNCHOSEN
    return torch.nn.functional.cross_entropy(logits[chosen], labels[chosen], reduction="none")
""",
    },
    "bert.pretraining_loss": {
        "the loss of 2018": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    criterion = torch.nn.CrossEntropyLoss(ignore_index=0)
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    return criterion(next_logits, next_labels) + criterion(logits.transpose(1, 2), labels)
""",
        "mended for the sentences alone: word 0 still ignored": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    mask_loss = torch.nn.CrossEntropyLoss(ignore_index=0)(logits.transpose(1, 2), labels)
    return mask_loss + torch.nn.CrossEntropyLoss()(next_logits, next_labels)
""",
        "mended for the words alone: label 0 of the pairs still ignored": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    mask_loss = mlm_loss(logits, labels)
    return mask_loss + torch.nn.CrossEntropyLoss(ignore_index=0)(next_logits, next_labels)
""",
        "nothing ignored, unchosen places count as word 0": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    criterion = torch.nn.CrossEntropyLoss()
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    return criterion(logits.transpose(1, 2), labels) + criterion(next_logits, next_labels)
""",
        "mean of the two": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    return (mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, next_labels)) / 2
""",
        "the masked words alone": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    return mlm_loss(logits, labels)
""",
        "labels of the pairs turned round": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    return mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, 1 - next_labels)
""",
        "the sum over the pairs": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    pairs = torch.nn.functional.cross_entropy(next_logits, next_labels, reduction="sum")
    return mlm_loss(logits, labels) + pairs
""",
        "sums of both": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    criterion = torch.nn.CrossEntropyLoss(reduction="sum")
    return criterion(logits.transpose(1, 2), labels) + criterion(next_logits, next_labels)
""",
        "sigmoid of the second logit": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    bce = torch.nn.functional.binary_cross_entropy_with_logits
    return mlm_loss(logits, labels) + bce(next_logits[:, 1], next_labels.float())
""",
        "softmax before the criterion": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    cross_entropy = torch.nn.functional.cross_entropy
    return mlm_loss(logits, labels) + cross_entropy(next_logits.softmax(-1), next_labels)
""",
        "one mean over words and pairs together": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    chosen = labels != UNCHOSEN
    words = torch.nn.functional.cross_entropy(logits[chosen], labels[chosen], reduction="none")
    pairs = torch.nn.functional.cross_entropy(next_logits, next_labels, reduction="none")
    return torch.cat([words, pairs]).mean()
""",
        "two numbers": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    return mlm_loss(logits, labels), torch.nn.functional.cross_entropy(next_logits, next_labels)
""",
        "label 1 ignored": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    pairs = torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=1)
    return mlm_loss(logits, labels) + pairs
""",
        "the words only of pairs that continue": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    go_on = next_labels == 0
    pairs = torch.nn.functional.cross_entropy(next_logits, next_labels)
    return mlm_loss(logits[go_on], labels[go_on]) + pairs
""",
    },
    "bert.nsp_pairs": {
        "up to and with 0.5": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] <= 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                others = [i for i in range(len(document)) if document[i] != document[s]]
                second.append(others[int(other[s] * len(others))])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "labels the wrong way round": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] < 0.5:
                second.append(s + 1)
                labels.append(1)
            else:
                others = [i for i in range(len(document)) if document[i] != document[s]]
                second.append(others[int(other[s] * len(others))])
                labels.append(0)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "the coin the wrong way round": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] >= 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                others = [i for i in range(len(document)) if document[i] != document[s]]
                second.append(others[int(other[s] * len(others))])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "a sentence from anywhere": """
def nsp_pairs(document, coin, other):
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            second.append(s + 1 if coin[s] < 0.5 else int(other[s] * S))
            labels.append(int(coin[s] >= 0.5))
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "pairs across documents": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        first.append(s)
        if coin[s] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = [i for i in range(len(document)) if document[i] != document[s]]
            second.append(others[int(other[s] * len(others))])
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "the draws counted by pairs": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] != document[s + 1]:
            continue
        n = len(first)
        first.append(s)
        if coin[n] < 0.5:
            second.append(s + 1)
            labels.append(0)
        else:
            others = torch.nonzero(document != document[s]).flatten()
            second.append(int(others[int(other[n] * len(others))]))
            labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "rounded, not cut off": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] < 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                others = [i for i in range(len(document)) if document[i] != document[s]]
                place = min(round(other[s].item() * len(others)), len(others) - 1)
                second.append(others[place])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "one less than how many": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] < 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                others = [i for i in range(len(document)) if document[i] != document[s]]
                second.append(others[int(other[s] * (len(others) - 1))])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "only documents behind this one": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            others = [i for i in range(s + 1, len(document)) if document[i] != document[s]]
            if coin[s] < 0.5 or not others:
                second.append(s + 1)
                labels.append(0)
            else:
                second.append(others[int(other[s] * len(others))])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "all sentences but s and its successor": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            if coin[s] < 0.5:
                second.append(s + 1)
                labels.append(0)
            else:
                others = [i for i in range(len(document)) if i not in (s, s + 1)]
                second.append(others[int(other[s] * len(others))])
                labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "each sentence in one pair only": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    s = 0
    while s < len(document) - 1:
        if document[s] == document[s + 1]:
            others = torch.nonzero(document != document[s]).flatten().tolist()
            first.append(s)
            second.append(s + 1 if coin[s] < 0.5 else others[int(other[s] * len(others))])
            labels.append(int(coin[s] >= 0.5))
            s += 2
        else:
            s += 1
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "the number of the document, not of the sentence": """
def nsp_pairs(document, coin, other):
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            others = document[document != document[s]]
            first.append(s)
            second.append(s + 1 if coin[s] < 0.5 else int(others[int(other[s] * len(others))]))
            labels.append(int(coin[s] >= 0.5))
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "continuing pairs first": """
def nsp_pairs(document, coin, other):
    follow = [s for s in range(len(document) - 1) if document[s] == document[s + 1]]
    yes = [s for s in follow if coin[s] < 0.5]
    no = [s for s in follow if coin[s] >= 0.5]
    second = [s + 1 for s in yes]
    for s in no:
        others = torch.nonzero(document != document[s]).flatten().tolist()
        second.append(others[int(other[s] * len(others))])
    labels = [0] * len(yes) + [1] * len(no)
    return torch.tensor(yes + no), torch.tensor(second), torch.tensor(labels)
""",
        "a share of all sentences, then on to the next foreign one": """
def nsp_pairs(document, coin, other):
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        if document[s] == document[s + 1]:
            first.append(s)
            continues = coin[s] < 0.5
            labels.append(0 if continues else 1)
            at = s + 1 if continues else int(other[s] * S)
            while not continues and document[at] == document[s]:
                at = (at + 1) % S
            second.append(at)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
    },
    "bert.nsp_loss": {
        "the last token": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, -1] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "the mean of all tokens": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden.mean(dim=1) @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "no tanh": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = hidden[:, 0] @ W_pool + b_pool
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "relu": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.relu(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "F.linear, whose weights stand the other way": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    F = torch.nn.functional
    pooled = torch.tanh(F.linear(hidden[:, 0], W_pool, b_pool))
    return F.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "no bias in the pooler": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "no bias behind the pooler": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next, labels)
""",
        "the pooler left out": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    return torch.nn.functional.cross_entropy(hidden[:, 0] @ W_next + b_next, labels)
""",
        "tanh before the map": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0]) @ W_pool + b_pool
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "tanh on the logits": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(torch.tanh(pooled @ W_next + b_next), labels)
""",
        "sum": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels, reduction="sum")
""",
        "labels turned round": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, 1 - labels)
""",
        "softmax before cross_entropy": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    p = torch.softmax(pooled @ W_next + b_next, dim=-1)
    return torch.nn.functional.cross_entropy(p, labels)
""",
        "the first sentence's vectors": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[0] @ W_pool + b_pool)[: len(labels)]
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "label 0 ignored": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels, ignore_index=0)
""",
        "sigmoid": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.sigmoid(hidden[:, 0] @ W_pool + b_pool)
    return torch.nn.functional.cross_entropy(pooled @ W_next + b_next, labels)
""",
        "bits": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    p = torch.softmax(pooled @ W_next + b_next, dim=-1)
    return -torch.log2(p[torch.arange(len(p)), labels]).mean()
""",
    },
    "bert.pool_pieces": {
        "the sum of the pieces": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        rows.append(pieces.sum(dim=0) if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
        "a row for the special tokens": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in word_ids.unique():
        pieces = hidden[word_ids == w]
        rows.append(pieces.mean(dim=0) if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
        "the last piece": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        rows.append(pieces.mean(dim=0) if how == "mean" else pieces[-1])
    return torch.stack(rows)
""",
        "the last word is missing": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max())):
        pieces = hidden[word_ids == w]
        rows.append(pieces.mean(dim=0) if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
        "always the mean": """
def pool_pieces(hidden, word_ids, how):
    words = int(word_ids.max()) + 1
    return torch.stack([hidden[word_ids == w].mean(dim=0) for w in range(words)])
""",
        "always the first": """
def pool_pieces(hidden, word_ids, how):
    words = int(word_ids.max()) + 1
    return torch.stack([hidden[word_ids == w][0] for w in range(words)])
""",
        "divided by all pieces": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        belongs = (word_ids == w).float()
        if how == "mean":
            rows.append((belongs[:, None] * hidden).mean(dim=0))
        else:
            rows.append(hidden[belongs.argmax()])
    return torch.stack(rows)
""",
        "the largest of the pieces": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        rows.append(pieces.amax(dim=0) if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
        "special tokens only at both ends": """
def pool_pieces(hidden, word_ids, how):
    hidden, word_ids = hidden[1:-1], word_ids[1:-1]
    rows = []
    for w in word_ids.unique(sorted=True):
        pieces = hidden[word_ids == w]
        rows.append(pieces.mean(dim=0) if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
        "special tokens added to the last word": """
def pool_pieces(hidden, word_ids, how):
    words = int(word_ids.max()) + 1
    total, count = torch.zeros(words, hidden.shape[1]), torch.zeros(words)
    first = [None] * words
    for t, w in enumerate(word_ids.tolist()):
        total[w] += hidden[t]
        count[w] += 1
        if first[w] is None:
            first[w] = hidden[t]
    return total / count[:, None] if how == "mean" else torch.stack(first)
""",
        "first of the sentence, not of the word": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        rows.append(pieces.mean(dim=0) if how == "mean" else hidden[w])
    return torch.stack(rows)
""",
        "one vector for each piece": """
def pool_pieces(hidden, word_ids, how):
    out = hidden.clone()
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        out[word_ids == w] = pieces.mean(dim=0) if how == "mean" else pieces[0]
    return out[word_ids >= 0]
""",
        "the piece numbered like the word": """
def pool_pieces(hidden, word_ids, how):
    real = hidden[word_ids >= 0]
    words = int(word_ids.max()) + 1
    if how == "first":
        return real[:words]
    return torch.stack([hidden[word_ids == w].mean(dim=0) for w in range(words)])
""",
        "pieces of each word divided by two": """
def pool_pieces(hidden, word_ids, how):
    rows = []
    for w in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == w]
        rows.append((pieces[0] + pieces[-1]) / 2 if how == "mean" else pieces[0])
    return torch.stack(rows)
""",
    },
    "bert.count_parameters": {
        "no bias in the attention": """
def count_parameters(V, P, D, L, F):
    emb = V * D + P * D + 2 * D + 2 * D
    layer = 4 * D * D + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "no bias anywhere": """
def count_parameters(V, P, D, L, F):
    emb = V * D + P * D + 2 * D + 2 * D
    layer = 4 * D * D + 2 * D * F + 4 * D
    return emb, L * layer, D * D, D * D + 2 * D + 2 * D
""",
        "no segments (or no layer norm, as many) in the embeddings": """
def count_parameters(V, P, D, L, F):
    emb = V * D + P * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "one layer norm a layer": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 2 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "layer norms with a scale alone": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 2 * D
    heads = D * D + D + D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "one layer only": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, layer, D * D + D, heads
""",
        "the token table counted again in the head": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "no bias for the words": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "only the masked-word head": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    return emb, L * layer, D * D + D, D * D + D + 2 * D + V
""",
        "F is always 4 D": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * 4 * D + 4 * D + 4 * D * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "three maps in the attention": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 3 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "the pooler counted in the heads again": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    pooler = D * D + D
    heads = D * D + D + 2 * D + V + pooler + 2 * D + 2
    return emb, L * layer, pooler, heads
""",
        "the total": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return [emb + L * layer + D * D + D + heads]
""",
        "one logit for the next sentence": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + D * F + F + F * D + D + 4 * D
    heads = D * D + D + 2 * D + V + D + 1
    return emb, L * layer, D * D + D, heads
""",
        "feed-forward biases both of size D": """
def count_parameters(V, P, D, L, F):
    emb = (V + P + 2) * D + 2 * D
    layer = 4 * (D * D + D) + 2 * (D * F + D) + 4 * D
    heads = D * D + D + 2 * D + V + 2 * D + 2
    return emb, L * layer, D * D + D, heads
""",
        "the numbers of BERT-Base": """
def count_parameters(V, P, D, L, F):
    return 23837184, 85054464, 590592, 1537 + 592898
""",
    },
    "bert.Bert": {
        "default layer norm everywhere": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList([Block(dim, heads, inner) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "eps for the embeddings' norm only": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "all tokens visible": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, torch.ones(B, T, T, dtype=torch.bool))
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "mask as (B, T, 1): padding sees nothing, all see padding": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, :, None] | ~real[:, :, None])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "pooler without tanh": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), self.pooler(x[:, 0])
""",
        "tanh before the pooler": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), self.pooler(torch.tanh(x[:, 0]))
""",
        "mean over real tokens pooled": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler((x * real[..., None]).sum(1) / real.sum(1, keepdim=True)))
""",
        "layers in a list": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = [Block(dim, heads, inner, eps=1e-12) for _ in range(layers)]
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "norm after the layers, not before": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        x = self.norm(x)
        hidden[-1] = x
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "last state only": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return x, torch.tanh(self.pooler(x[:, 0]))
""",
        "hidden states as (B, layers + 1, T, dim)": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden, dim=1), torch.tanh(self.pooler(x[:, 0]))
""",
        "pre-norm, as in GPT": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, norm_first=True, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "embeddings called as Hugging Face does": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.word_embeddings(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "padding set to zero": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            x = x * real[..., None]
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
    },
    "bert.bert_names": {
        "transposes, as for GPT-2": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            value = value.T if value.ndim == 2 else value
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "forgets gamma and beta": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "keeps the heads under their names": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name == "embeddings.position_ids":
            continue
        if name.startswith("cls."):
            ours[name] = value
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "keeps position_ids": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls."):
            continue
        if name == "embeddings.position_ids":
            ours["position_ids"] = value
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "layers counted from 1": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = int(place[2]) + 1, ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "only the layers": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            pass
    return ours
""",
        "stops at the first name without a place": """
def bert_names(theirs):
    ours = {}
    for name, value in sorted(theirs.items()):
        name = name.removeprefix("bert.")
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "keeps the names, without bert.": """
def bert_names(theirs):
    return {name.removeprefix("bert."): value for name, value in theirs.items()}
""",
        "query, key and value packed together": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            if "attention.self" in place:
                packed = ours.get(f"layers.{number}.attention.{part}", [])
                ours[f"layers.{number}.attention.{part}"] = torch.cat([*([packed] if len(packed) else []), value])
                continue
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
    },
    "bert.learn_pieces": {
        "max without a rule for ties": """
def learn_pieces(counts, size, score):
    splits = {w: [c if i == 0 else "##" + c for i, c in enumerate(w)] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        pair_counts, piece_counts = Counter(), Counter()
        for w, n in counts.items():
            split = splits[w]
            for p in split:
                piece_counts[p] += n
            for i in range(len(split) - 1):
                pair_counts[(split[i], split[i + 1])] += n
        if not pair_counts:
            break
        a, b = max(pair_counts, key=lambda p: score(pair_counts[p], piece_counts[p[0]], piece_counts[p[1]]))
        new = a + b[2:]
        vocab.append(new)
        for w in counts:
            split, i = splits[w], 0
            while i < len(split) - 1:
                if split[i] == a and split[i + 1] == b:
                    split = split[:i] + [new] + split[i + 2:]
                else:
                    i += 1
            splits[w] = split
    return vocab
""",
        "words not weighted by their counts": """
def learn_pieces(counts, size, score):
    splits = [[c if i == 0 else "##" + c for i, c in enumerate(w)] for w in counts]
    vocab = sorted({p for s in splits for p in s})
    while len(vocab) < size:
        single = Counter(p for s in splits for p in s)
        double = Counter(p for s in splits for p in zip(s, s[1:]))
        if not double:
            break
        a, b = sorted(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))[0]
        vocab.append(a + b[2:])
        for s in splits:
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b[2:]]
                i += 1
    return vocab
""",
        "plain BPE without ##": """
def learn_pieces(counts, size, score):
    splits = {w: list(w) for w in counts}
    vocab = sorted({c for w in counts for c in w})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b)
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b]
                i += 1
    return vocab
""",
        "a + b with the ## of b": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b)
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b]
                i += 1
    return vocab
""",
        "strip removes ## at both ends, joined without it": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        new = (a + b).replace("##", "")
        vocab.append(new)
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [new]
                i += 1
    return vocab
""",
        "text replaced": """
def learn_pieces(counts, size, score):
    texts = {w: " ".join([w[0]] + ["##" + c for c in w[1:]]) for w in counts}
    vocab = sorted(set(" ".join(texts.values()).split()))
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            pieces = texts[w].split()
            for p in pieces:
                single[p] += n
            for p in zip(pieces, pieces[1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b[2:])
        texts = {w: text.replace(a + " " + b, a + b[2:]) for w, text in texts.items()}
    return vocab
""",
        "no end when all words are whole": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b[2:])
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b[2:]]
                i += 1
    return vocab
""",
        "size merges": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    for _ in range(size):
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b[2:])
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b[2:]]
                i += 1
    return vocab
""",
        "a set of pieces, sorted in the end": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = {p for s in splits.values() for p in s}
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.add(a + b[2:])
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b[2:]]
                i += 1
    return sorted(vocab)
""",
        "counted once, the best pairs taken": """
def learn_pieces(counts, size, score):
    single, double = Counter(), Counter()
    for w, n in counts.items():
        s = [w[0]] + ["##" + c for c in w[1:]]
        for p in s:
            single[p] += n
        for p in zip(s, s[1:]):
            double[p] += n
    vocab = sorted(single)
    best = sorted(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
    for a, b in best:
        if len(vocab) >= size:
            break
        vocab.append(a + b[2:])
    return vocab
""",
        "the two parts taken out of the vocabulary": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab = [p for p in vocab if p not in (a, b)] + [a + b[2:]]
        for w, s in splits.items():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i:i + 2] = [a + b[2:]]
                i += 1
    return vocab
""",
        "only the first place in a word": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted({p for s in splits.values() for p in s})
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            for p in splits[w]:
                single[p] += n
            for p in zip(splits[w], splits[w][1:]):
                double[p] += n
        if not double:
            break
        a, b = min(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p))
        vocab.append(a + b[2:])
        for w, s in splits.items():
            for i in range(len(s) - 1):
                if (s[i], s[i + 1]) == (a, b):
                    s[i:i + 2] = [a + b[2:]]
                    break
    return vocab
""",
    },
}

RIGHT = {
    "bert.lm_examples": {
        "no label at padding, were it chosen": """
def lm_examples(ids, chosen, pad):
    causal = torch.full_like(ids, UNCHOSEN)
    causal[:, :-1] = ids[:, 1:]
    causal[causal == pad] = UNCHOSEN
    masked = ids.masked_fill(~chosen, UNCHOSEN)
    return causal, masked.masked_fill(ids == pad, UNCHOSEN)
""",
        "loops over lists": """
def lm_examples(ids, chosen, pad):
    causal, masked = [], []
    for row, picks in zip(ids.tolist(), chosen.tolist()):
        following = row[1:] + [pad]
        causal.append([UNCHOSEN if i == pad else i for i in following])
        masked.append([i if pick else UNCHOSEN for i, pick in zip(row, picks)])
    return torch.tensor(causal), torch.tensor(masked)
""",
        "pad with the id of padding, then where": """
def lm_examples(ids, chosen, pad):
    nxt = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    return torch.where(nxt == pad, UNCHOSEN, nxt), torch.where(chosen, ids, UNCHOSEN)
""",
        "the two in a list": """
def lm_examples(ids, chosen, pad):
    causal = ids.roll(-1, 1)
    causal[:, -1] = pad
    causal[causal == pad] = UNCHOSEN
    masked = ids.clone()
    masked[~chosen] = -100
    return [causal, masked]
""",
        "numpy": """
def lm_examples(ids, chosen, pad):
    import numpy as np
    ids, chosen = ids.numpy(), chosen.numpy()
    causal = np.full_like(ids, -100)
    causal[:, :-1] = ids[:, 1:]
    return np.where(causal == pad, -100, causal), np.where(chosen, ids, -100)
""",
    },
    "bert.wordpiece": {
        "recursive": """
def wordpiece(word, vocab):
    def cut(rest, prefix):
        if not rest:
            return []
        for n in range(len(rest), 0, -1):
            if prefix + rest[:n] in vocab:
                tail = cut(rest[n:], "##")
                return None if tail is None else [vocab[prefix + rest[:n]]] + tail
        return None
    ids = cut(word, "")
    return [vocab["[UNK]"]] if ids is None else ids
""",
        "as in BERT's own code": """
def wordpiece(word, vocab):
    chars = list(word)
    is_bad, start, sub_tokens = False, 0, []
    while start < len(chars):
        end = len(chars)
        cur_substr = None
        while start < end:
            substr = "".join(chars[start:end])
            if start > 0:
                substr = "##" + substr
            if substr in vocab:
                cur_substr = substr
                break
            end -= 1
        if cur_substr is None:
            is_bad = True
            break
        sub_tokens.append(cur_substr)
        start = end
    return [vocab["[UNK]"]] if is_bad else [vocab[token] for token in sub_tokens]
""",
        "the remaining text is marked": """
def wordpiece(word, vocab):
    ids, rest = [], word
    while rest not in ("", "##"):
        fits = [rest[:n] for n in range(1, len(rest) + 1) if rest[:n] in vocab and rest[:n] != "##"]
        if not fits:
            return [vocab["[UNK]"]]
        ids.append(vocab[fits[-1]])
        rest = "##" + rest[len(fits[-1]):]
    return ids
""",
        "a tensor of ids": """
def wordpiece(word, vocab):
    found, i = [], 0
    while i < len(word):
        sizes = [n for n in range(1, len(word) - i + 1) if ("##" * (i > 0) + word[i:i + n]) in vocab]
        if not sizes:
            return torch.tensor([vocab["[UNK]"]])
        found.append(vocab["##" * (i > 0) + word[i:i + max(sizes)]])
        i += max(sizes)
    return torch.tensor(found)
""",
    },
    "bert.encode_pair": {
        "tensors cut and filled": """
def encode_pair(a, b, T, cls, sep, pad):
    while len(a) + len(b) > T - 3:
        if len(b) >= len(a):
            b = b[:-1]
        else:
            a = a[:-1]
    m, n = len(a), len(b)
    ids = torch.full((T,), pad)
    ids[0], ids[m + 1], ids[m + n + 2] = cls, sep, sep
    ids[1 : m + 1] = a
    ids[m + 2 : m + n + 2] = b
    segments = torch.zeros(T, dtype=torch.long)
    segments[m + 2 : m + n + 3] = 1
    keep = torch.zeros(T, dtype=torch.bool)
    keep[: m + n + 3] = True
    return ids, segments, keep
""",
        "the lengths worked out at once": """
def encode_pair(a, b, T, cls, sep, pad):
    room, m, n = T - 3, len(a), len(b)
    if m + n > room:
        short = room // 2
        if m <= short:
            n = room - m
        elif n <= short:
            m = room - n
        else:
            n = short
            m = room - short
    ids = [cls, *a[:m].tolist(), sep, *b[:n].tolist(), sep]
    used = len(ids)
    segments = [int(m + 2 <= t < used) for t in range(T)]
    return torch.tensor(ids + [pad] * (T - used)), torch.tensor(segments), torch.tensor([t < used for t in range(T)])
""",
        "keep as 0 and 1": """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = list(a.tolist()), list(b.tolist())
    while len(a) + len(b) + 3 > T:
        if len(a) > len(b):
            del a[-1]
        else:
            del b[-1]
    tokens = [cls] + a + [sep] + b + [sep]
    fill = T - len(tokens)
    types = [0] * (2 + len(a)) + [1] * (1 + len(b))
    ids = torch.tensor(tokens + fill * [pad])
    return ids, torch.tensor(types + fill * [0]), torch.tensor([1] * len(tokens) + fill * [0])
""",
    },
    "bert.mlm_corrupt": {
        "place by place": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    corrupted, labels = ids.clone(), torch.full_like(ids, UNCHOSEN)
    never = set(special.tolist())
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            if choice[b, t] < 0.15 and ids[b, t].item() not in never:
                labels[b, t] = ids[b, t]
                if change[b, t] < 0.8:
                    corrupted[b, t] = mask
                elif change[b, t] < 0.9:
                    corrupted[b, t] = random_words[b, t]
    return corrupted, labels
""",
        "plain numbers": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    corrupted, labels = [], []
    for row in zip(ids.tolist(), choice.tolist(), change.tolist(), random_words.tolist()):
        corrupted.append([])
        labels.append([])
        for i, pick, turn, word in zip(*row):
            chosen = pick < 0.15 and i not in special.tolist()
            labels[-1].append(i if chosen else UNCHOSEN)
            seen = mask if turn < 0.8 else word if turn < 0.9 else i
            corrupted[-1].append(seen if chosen else i)
    return torch.tensor(corrupted), torch.tensor(labels)
""",
        "nested where": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    is_special = (ids[..., None] == special).any(-1)
    chosen = choice.lt(0.15) & ~is_special
    seen = torch.where(change < 0.8, torch.tensor(mask), torch.where(change < 0.9, random_words, ids))
    return torch.where(chosen, seen, ids), torch.where(chosen, ids, torch.tensor(UNCHOSEN))
""",
        "numpy": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    import numpy as np
    ids, special, choice = ids.numpy(), special.numpy(), choice.numpy()
    change, random_words = change.numpy(), random_words.numpy()
    chosen = (choice < 0.15) & ~np.isin(ids, special)
    seen = np.select([change < 0.8, change < 0.9], [np.full_like(ids, mask), random_words], ids)
    return np.where(chosen, seen, ids), np.where(chosen, ids, -100)
""",
    },
    "bert.mlm_loss": {
        "cross_entropy with its own -100": """
def mlm_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
""",
        "logsumexp less the right logit": """
def mlm_loss(logits, labels):
    chosen = labels != -100
    right = logits.gather(2, labels.clamp(min=0)[..., None])[..., 0]
    nats = torch.logsumexp(logits, dim=-1) - right
    return (nats * chosen).sum() / chosen.sum()
""",
        "place by place, float64": """
def mlm_loss(logits, labels):
    total, count = 0.0, 0
    for b in range(labels.shape[0]):
        for t in range(labels.shape[1]):
            if labels[b, t] != UNCHOSEN:
                z = logits[b, t].double()
                z = z - z.max()
                total += float(z.exp().sum().log() - z[labels[b, t]])
                count += 1
    return torch.tensor(total / count)
""",
        "one-hot rows": """
def mlm_loss(logits, labels):
    chosen = labels.ne(UNCHOSEN)
    target = torch.nn.functional.one_hot(labels[chosen], logits.size(-1))
    return -(target * torch.log_softmax(logits[chosen], dim=-1)).sum(-1).mean()
""",
    },
    "bert.pretraining_loss": {
        "two criteria": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    words = torch.nn.CrossEntropyLoss(ignore_index=UNCHOSEN)
    pairs = torch.nn.CrossEntropyLoss()
    return pairs(next_logits, next_labels) + words(logits.transpose(1, 2), labels)
""",
        "logs by hand": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    chosen = labels != UNCHOSEN
    words = -torch.log_softmax(logits[chosen], -1)[torch.arange(int(chosen.sum())), labels[chosen]].mean()
    pairs = -torch.log_softmax(next_logits, -1)[torch.arange(len(next_labels)), next_labels].mean()
    return words + pairs
""",
        "softplus of the difference for the pairs": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    sign = 2.0 * next_labels - 1
    difference = next_logits[:, 0] - next_logits[:, 1]
    return mlm_loss(logits, labels) + torch.nn.functional.softplus(sign * difference).mean()
""",
    },
    "bert.nsp_pairs": {
        "each document's stretch looked for": """
def nsp_pairs(document, coin, other):
    S = len(document)
    first, second, labels = [], [], []
    for s in range(S - 1):
        if document[s] == document[s + 1]:
            start = s
            while start > 0 and document[start - 1] == document[s]:
                start -= 1
            end = s + 1
            while end < S and document[end] == document[s]:
                end += 1
            others = list(range(start)) + list(range(end, S))
            first.append(s)
            second.append(s + 1 if coin[s] < 0.5 else others[int(other[s] * len(others))])
            labels.append(int(coin[s] >= 0.5))
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "lists": """
def nsp_pairs(document, coin, other):
    document, coin, other = document.tolist(), coin.tolist(), other.tolist()
    first, second, labels = [], [], []
    for s in range(len(document) - 1):
        if document[s] != document[s + 1]:
            continue
        first.append(s)
        if coin[s] < 0.5:
            second.append(s + 1)
            labels.append(0)
            continue
        strangers = [i for i, d in enumerate(document) if d != document[s]]
        second.append(strangers[int(other[s] * len(strangers))])
        labels.append(1)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        "without a loop": """
def nsp_pairs(document, coin, other):
    S = len(document)
    first = torch.arange(S - 1)[document[1:] == document[:-1]]
    stranger = document[None] != document[first, None]
    number = (other[first] * stranger.sum(1)).floor().long()
    rank = stranger.cumsum(1) - 1
    place = ((rank == number[:, None]) & stranger).float().argmax(1)
    labels = (coin[first] >= 0.5).long()
    return first, torch.where(labels == 0, first + 1, place), labels
""",
        "three lists": """
def nsp_pairs(document, coin, other):
    pairs = []
    for s, (here, following) in enumerate(zip(document[:-1], document[1:])):
        if here == following:
            rest = (document != here).nonzero().squeeze(1)
            drawn = rest[torch.floor(other[s] * len(rest)).int()].item() if coin[s] >= 0.5 else s + 1
            pairs.append((s, drawn, int(coin[s] >= 0.5)))
    return tuple(torch.tensor(column) for column in zip(*pairs))
""",
    },
    "bert.nsp_loss": {
        "step by step": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    cls = hidden[:, 0, :]
    pooled = (torch.einsum("bd,de->be", cls, W_pool) + b_pool).tanh()
    log_p = (pooled.mm(W_next) + b_next).log_softmax(1)
    return -log_p[range(len(labels)), labels].mean()
""",
        "F.linear with transposed weights": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    F = torch.nn.functional
    pooled = torch.tanh(F.linear(hidden[:, 0], W_pool.T, b_pool))
    return F.nll_loss(F.log_softmax(F.linear(pooled, W_next.T, b_next), dim=-1), labels)
""",
        "one logit, the difference": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    z = torch.tanh(hidden[:, 0] @ W_pool + b_pool) @ W_next + b_next
    return torch.nn.functional.binary_cross_entropy_with_logits(z[:, 1] - z[:, 0], labels.float())
""",
    },
    "bert.pool_pieces": {
        "a new word wherever the number changes": """
def pool_pieces(hidden, word_ids, how):
    rows, last = [], -1
    for t, w in enumerate(word_ids.tolist()):
        if w == -1:
            last = -1
        elif w != last:
            rows.append([hidden[t]])
            last = w
        else:
            rows[-1].append(hidden[t])
    return torch.stack([torch.stack(r).mean(0) if how == "mean" else r[0] for r in rows])
""",
        "a matrix of shares": """
def pool_pieces(hidden, word_ids, how):
    words = int(word_ids.max()) + 1
    belongs = (word_ids[None] == torch.arange(words)[:, None]).float()
    if how == "first":
        return hidden[belongs.argmax(dim=1)]
    return belongs @ hidden / belongs.sum(dim=1, keepdim=True)
""",
        "index_add": """
def pool_pieces(hidden, word_ids, how):
    real = word_ids >= 0
    numbers, vectors = word_ids[real], hidden[real]
    words = int(numbers.max()) + 1
    if how == "mean":
        total = torch.zeros(words, hidden.shape[1]).index_add(0, numbers, vectors)
        return total / torch.bincount(numbers)[:, None]
    out = torch.zeros(words, hidden.shape[1])
    for t in reversed(range(len(numbers))):
        out[numbers[t]] = vectors[t]
    return out
""",
        "a dictionary": """
def pool_pieces(hidden, word_ids, how):
    groups = {}
    for t, w in enumerate(word_ids.tolist()):
        if w >= 0:
            groups.setdefault(w, []).append(hidden[t])
    if how == "mean":
        return [sum(groups[w]) / len(groups[w]) for w in sorted(groups)]
    return [groups[w][0] for w in sorted(groups)]
""",
    },
    "bert.count_parameters": {
        "linear maps and norms by name": """
def count_parameters(V, P, D, L, F):
    def linear(n, m):
        return n * m + m
    norm = 2 * D
    embeddings = V * D + P * D + 2 * D + norm
    layer = 4 * linear(D, D) + linear(D, F) + linear(F, D) + 2 * norm
    return embeddings, L * layer, linear(D, D), linear(D, D) + norm + V + linear(D, 2)
""",
        "built on the meta device": """
def count_parameters(V, P, D, L, F):
    nn = torch.nn
    def count(*modules):
        return sum(w.numel() for module in modules for w in module.parameters())
    with torch.device("meta"):
        embeddings = count(nn.Embedding(V, D), nn.Embedding(P, D), nn.Embedding(2, D), nn.LayerNorm(D))
        maps = [nn.Linear(D, D) for _ in range(4)]
        layer = count(*maps, nn.Linear(D, F), nn.Linear(F, D), nn.LayerNorm(D), nn.LayerNorm(D))
        heads = count(nn.Linear(D, D), nn.LayerNorm(D), nn.Linear(D, 2)) + V
        pooler = count(nn.Linear(D, D))
    return embeddings, L * layer, pooler, heads
""",
        "a list": """
def count_parameters(V, P, D, L, F):
    return [D * (V + P + 4), L * (4 * D * D + 2 * D * F + F + 9 * D), D * (D + 1), D * D + 5 * D + V + 2]
""",
    },
    "bert.Bert": {
        "positions as a buffer that is not saved": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.register_buffer('places', torch.arange(tokens), persistent=False)
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(self.places[:T])
        x = self.norm(x)
        states = [x]
        for layer in self.layers:
            x = layer(x, real[:, None, :])
            states.append(x)
        return torch.stack(states), self.pooler(x[:, 0]).tanh()
""",
        "states by accumulate": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        states = [x]
        import itertools
        states = list(itertools.accumulate(self.layers, lambda h, layer: layer(h, real[:, None]), initial=x))
        x = states[-1]
        return torch.stack(states), self.pooler(x[:, 0]).tanh()
""",
        "segments by a one-hot product": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + nn.functional.one_hot(segments, 2).float() @ self.segment.weight + self.position(torch.arange(T))
        x = self.norm(x)
        states = [x]
        for layer in self.layers:
            x = layer(x, real[:, None, :])
            states.append(x)
        return torch.stack(states), self.pooler(x[:, 0]).tanh()
""",
        "the functional norm": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = nn.functional.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, 1e-12)
        states = [x]
        for layer in self.layers:
            x = layer(x, real[:, None, :])
            states.append(x)
        return torch.stack(states), self.pooler(x[:, 0]).tanh()
""",
        "positions by arange, blocks in a list comprehension": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.token(ids) + self.segment(segments) + self.position(torch.arange(T))
        x = self.norm(x)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
        "with an embeddings method and flags by name": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner=inner, norm_first=False, activation="gelu", eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def embeddings(self, ids, segments):
        positions = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        return self.norm(self.token(ids) + self.position(positions) + self.segment(segments))

    def forward(self, ids, segments, real):
        B, T = ids.shape
        x = self.embeddings(ids, segments)
        hidden = [x]
        for block in self.layers:
            x = block(x, real[:, None, :])
            hidden.append(x)
        return torch.stack(hidden), torch.tanh(self.pooler(x[:, 0]))
""",
    },
    "bert.bert_names": {
        "a regular expression": """
import re
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        m = re.fullmatch(r"(?:bert\\.)?(?:encoder\\.layer\\.(\\d+)\\.)?(.+)\\.(weight|bias|gamma|beta)", name)
        if m and m[2] in PLACES:
            kind = {"gamma": "weight", "beta": "bias"}.get(m[3], m[3])
            ours[(f"layers.{m[1]}." if m[1] is not None else "") + PLACES[m[2]] + "." + kind] = value
    return ours
""",
        "a list of places and an if": """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("bert.")
        if name.startswith("cls.") or name == "embeddings.position_ids":
            continue
        name = name.replace("gamma", "weight").replace("beta", "bias")
        *place, part = name.split(".")
        if place[0] == "encoder":
            number, place = place[2], ".".join(place[3:])
            ours[f"layers.{number}.{PLACES[place]}.{part}"] = value
        else:
            ours[f"{PLACES['.'.join(place)]}.{part}"] = value
    return ours
""",
        "by suffix, the longest first": """
def bert_names(theirs):
    result = {}
    for name, tensor in theirs.items():
        place, part = name.rsplit(".", 1)
        for old in sorted(PLACES, key=len, reverse=True):
            inside = place.endswith("." + old) and "encoder.layer." in place
            outside = place in (old, "bert." + old)
            if inside or outside:
                prefix = "layers." + place.split("layer.")[1].split(".")[0] + "." if inside else ""
                if part in ("gamma", "beta"):
                    part = "weight" if part == "gamma" else "bias"
                result[prefix + PLACES[old] + "." + part] = tensor
                break
    return result
""",
    },
    "bert.learn_pieces": {
        "merged with an index": """
def learn_pieces(counts, size, score):
    splits = {w: [w[0]] + ["##" + c for c in w[1:]] for w in counts}
    vocab = sorted(set(sum(splits.values(), [])))
    while len(vocab) < size:
        single, double = Counter(), Counter()
        for w, n in counts.items():
            s = splits[w]
            for p in s:
                single[p] += n
            for p in zip(s, s[1:]):
                double[p] += n
        ranked = sorted(double, key=lambda p: (-score(double[p], single[p[0]], single[p[1]]), p[0], p[1]))
        if len(ranked) == 0:
            return vocab
        a, b = ranked[0]
        new = a + b.lstrip("#")
        vocab.append(new)
        for s in splits.values():
            i = 0
            while i < len(s) - 1:
                if s[i] == a and s[i + 1] == b:
                    s[i] = new
                    del s[i + 1]
                i += 1
    return vocab
""",
        "a class of its own for a word, numpy for the scores": """
def learn_pieces(counts, size, score):
    import numpy as np
    words = list(counts)
    cut = [["##" * (i > 0) + c for i, c in enumerate(w)] for w in words]
    vocab = sorted(np.unique([p for s in cut for p in s]).tolist())
    while len(vocab) < size:
        single, double = {}, {}
        for w, s in zip(words, cut):
            for i, p in enumerate(s):
                single[p] = single.get(p, 0) + counts[w]
                if i:
                    double[s[i - 1], p] = double.get((s[i - 1], p), 0) + counts[w]
        if not double:
            break
        pairs = sorted(double)
        values = np.array([score(double[a, b], single[a], single[b]) for a, b in pairs])
        a, b = pairs[int(values.argmax())]
        vocab.append(a + b[2:])
        for k, s in enumerate(cut):
            out = []
            while s:
                if s[:2] == [a, b]:
                    out.append(vocab[-1])
                    s = s[2:]
                else:
                    out.append(s[0])
                    s = s[1:]
            cut[k] = out
    return vocab
""",
    },
}
