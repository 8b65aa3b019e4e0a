"""Answers to the exercises of notebook 10, written from its task texts by somebody who had not seen the exercises."""

WRONG = {
    "applications.pool": {
        "padding is 0 for the largest value": """
def pool(H, keep):
    mask = keep.unsqueeze(-1).float()
    first = H[:, 0]
    mean = (H * mask).sum(1) / mask.sum(1)
    largest = (H * mask).max(dim=1).values
    return first, mean, largest
""",
        "the mean divides by the length with padding": """
def pool(H, keep):
    masked = H * keep[:, :, None]
    mean = masked.mean(dim=1)
    largest = H.masked_fill(~keep[:, :, None], -1e9).max(dim=1)[0]
    return H[:, 0, :], mean, largest
""",
        "the one token with the largest norm": """
def pool(H, keep):
    first, mean, largest = [], [], []
    for h, k in zip(H, keep):
        tokens = h[k]
        first.append(tokens[0])
        mean.append(tokens.mean(0))
        largest.append(tokens[tokens.norm(dim=-1).argmax()])
    return torch.stack(first), torch.stack(mean), torch.stack(largest)
""",
    },
    "applications.align_labels": {
        "word 0 is taken for None": """
def align_labels(word_ids, tags):
    labels = []
    previous = None
    for w in word_ids:
        if w and w != previous:
            labels.append(tags[w])
        else:
            labels.append(-100)
        previous = w
    return torch.tensor(labels)
""",
        "tags are dealt out in turn, so a word without a piece shifts them": """
def align_labels(word_ids, tags):
    rest = iter(tags)
    labels, last = [], None
    for w in word_ids:
        if w is None:
            labels.append(-100)
        elif w == last:
            labels.append(-100)
        else:
            labels.append(next(rest))
        last = w
    return torch.tensor(labels)
""",
        "the label stands at every piece": """
def align_labels(word_ids, tags):
    labels = torch.full((len(word_ids),), -100)
    for t, w in enumerate(word_ids):
        if w is not None:
            labels[t] = tags[w]
    return labels
""",
    },
    "applications.bio_spans": {
        "an entity at the end of the sentence is lost": """
def bio_spans(tags):
    spans = []
    begin, kind = None, None
    for i, tag in enumerate(tags):
        if kind is not None and tag != "I-" + kind:
            spans.append((begin, i, kind))
            begin, kind = None, None
        if tag != "O" and kind is None:
            begin, kind = i, tag[2:]
    return spans
""",
        "an I- that follows nothing is dropped": """
def bio_spans(tags):
    spans = []
    i = 0
    while i < len(tags):
        if tags[i].startswith("B-"):
            kind = tags[i][2:]
            j = i + 1
            while j < len(tags) and tags[j] == "I-" + kind:
                j += 1
            spans.append((i, j, kind))
            i = j
        else:
            i += 1
    return spans
""",
        "an I- of another type continues the entity": """
def bio_spans(tags):
    spans = []
    current = None
    for i, tag in enumerate(tags):
        if tag == "O":
            current = None
        elif tag[0] == "B" or current is None:
            current = [i, i + 1, tag[2:]]
            spans.append(current)
        else:
            current[1] = i + 1
    return [tuple(s) for s in spans]
""",
    },
    "applications.entity_f1": {
        "the mean of the sentences": """
def entity_f1(truth, predicted):
    P, R, F = [], [], []
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right = len(t & p)
        precision = right / len(p) if p else 0.0
        recall = right / len(t) if t else 0.0
        P.append(precision)
        R.append(recall)
        F.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    n = len(truth)
    return sum(P) / n, sum(R) / n, sum(F) / n
""",
        "entities of all sentences in one set": """
def entity_f1(truth, predicted):
    true, found = set(), set()
    for t, p in zip(truth, predicted):
        true.update(bio_spans(t))
        found.update(bio_spans(p))
    right = len(true & found)
    precision = right / len(found) if found else 0.0
    recall = right / len(true) if true else 0.0
    f1 = 2 * right / (len(true) + len(found)) if true or found else 0.0
    return precision, recall, f1
""",
        "tokens are counted, not entities": """
def entity_f1(truth, predicted):
    right = given = asked = 0
    for t, p in zip(truth, predicted):
        for a, b in zip(t, p):
            asked += a != "O"
            given += b != "O"
            right += a == b and a != "O"
    precision = right / given if given else 0.0
    recall = right / asked if asked else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1
""",
    },
    "applications.mended_piece_labels": {
        "one more at every later piece, whatever its tag": """
def mended_piece_labels(word_ids, tags):
    labels = []
    previous = None
    for w in word_ids:
        if w is None:
            labels.append(-100)
        elif w != previous:
            labels.append(tags[w])
        else:
            labels.append(tags[w] + 1 if tags[w] > 0 else 0)
        previous = w
    return torch.tensor(labels)
""",
        "two words in a row with the same B- become one entity": """
def mended_piece_labels(word_ids, tags):
    labels, before = [], None
    for w in word_ids:
        tag = -100 if w is None else tags[w]
        if tag % 2 == 1 and tag == before:
            labels.append(tag + 1)
        else:
            labels.append(tag)
        before = tag
    return torch.tensor(labels)
""",
        "later pieces get -100": """
def mended_piece_labels(word_ids, tags):
    seen = set()
    labels = []
    for w in word_ids:
        if w is None or w in seen:
            labels.append(-100)
        else:
            labels.append(tags[w])
            seen.add(w)
    return torch.tensor(labels)
""",
    },
    "applications.best_span": {
        "the best starts at 0, so negative scores never win": """
def best_span(start, end, context, max_len):
    best, answer = 0.0, (0, 0)
    T = len(start)
    for i in range(T):
        for j in range(i, min(i + max_len, T)):
            if context[i] and context[j]:
                s = (start[i] + end[j]).item()
                if s > best:
                    best, answer = s, (i, j)
    return answer[0], answer[1], best - (start[0] + end[0]).item()
""",
        "a span may be one token too long": """
def best_span(start, end, context, max_len):
    T = start.shape[0]
    best = float("-inf")
    for i in range(T):
        if not context[i]:
            continue
        for j in range(i, T):
            if j - i > max_len or not context[j]:
                continue
            score = float(start[i] + end[j])
            if score > best:
                best, bi, bj = score, i, j
    return bi, bj, best - float(start[0] + end[0])
""",
        "the best start first, then the best end behind it": """
def best_span(start, end, context, max_len):
    s = start.masked_fill(~context, float("-inf"))
    e = end.masked_fill(~context, float("-inf"))
    i = int(s.argmax())
    j = i + int(e[i:i + max_len].argmax())
    return i, j, float(start[i] + end[j] - start[0] - end[0])
""",
    },
    "applications.exact_match_and_f1": {
        "shared words counted once each": """
def exact_match_and_f1(said, accepted):
    answers = accepted if accepted else [""]
    s = words_of(said)
    em, f1 = 0.0, 0.0
    for answer in answers:
        a = words_of(answer)
        em = max(em, float(s == a))
        if not s and not a:
            score = 1.0
        else:
            score = 2 * len(set(s) & set(a)) / (len(s) + len(a))
        f1 = max(f1, score)
    return em, f1
""",
        "without an accepted answer both marks are 0": """
def exact_match_and_f1(said, accepted):
    best_em, best_f1 = 0.0, 0.0
    said_words = words_of(said)
    for answer in accepted:
        words = words_of(answer)
        em = 1.0 if words == said_words else 0.0
        common = sum((Counter(words) & Counter(said_words)).values())
        if len(words) + len(said_words) == 0:
            f1 = 1.0
        else:
            f1 = 2 * common / (len(words) + len(said_words))
        best_em = max(best_em, em)
        best_f1 = max(best_f1, f1)
    return best_em, best_f1
""",
        "exact match of the texts, not of their words": """
def exact_match_and_f1(said, accepted):
    accepted = accepted or [""]
    exact = float(said in accepted)

    def f1(a, b):
        a, b = words_of(a), words_of(b)
        if a == b:
            return 1.0
        same = sum((Counter(a) & Counter(b)).values())
        return 2 * same / (len(a) + len(b))

    return exact, max(f1(said, answer) for answer in accepted)
""",
    },
    "applications.best_threshold": {
        "answers at the threshold, too": """
def best_threshold(margins, f1, answerable):
    best = (float("-inf"), -1.0)
    for t in [float("-inf")] + margins.tolist():
        answered = margins >= t
        score = torch.where(answered, f1, 1 - answerable.float()).mean().item()
        if score > best[1]:
            best = (t, score)
    return best
""",
        "silence never earns anything": """
def best_threshold(margins, f1, answerable):
    thresholds = torch.cat([torch.tensor([float("-inf")]), margins])
    scores = []
    for t in thresholds:
        scores.append((f1 * (margins > t)).mean())
    scores = torch.stack(scores)
    i = scores.argmax()
    return thresholds[i].item(), scores[i].item()
""",
        "minus infinity is not tried": """
def best_threshold(margins, f1, answerable):
    best_t, best_score = None, -1.0
    for t in margins.tolist():
        total = 0.0
        for m, f, a in zip(margins.tolist(), f1.tolist(), answerable.tolist()):
            if m > t:
                total += f
            elif not a:
                total += 1.0
        score = total / len(margins)
        if score > best_score:
            best_t, best_score = t, score
    return best_t, best_score
""",
    },
}

RIGHT = {
    "applications.pool": {
        "row by row": """
def pool(H, keep):
    first, mean, largest = [], [], []
    for h, k in zip(H, keep):
        tokens = h[k]
        first.append(tokens[0])
        mean.append(tokens.mean(dim=0))
        largest.append(tokens.max(dim=0).values)
    return torch.stack(first), torch.stack(mean), torch.stack(largest)
""",
        "torch.where": """
def pool(H, keep):
    k = keep.unsqueeze(-1)
    mean = torch.where(k, H, torch.tensor(0.0)).sum(1) / keep.sum(1, keepdim=True)
    largest = torch.where(k, H, torch.tensor(float("-inf"))).max(1)[0]
    return H[:, 0], mean, largest
""",
    },
    "applications.align_labels": {
        "a set of the words seen": """
def align_labels(word_ids, tags):
    seen = set()
    labels = torch.full((len(word_ids),), -100, dtype=torch.long)
    for t, word in enumerate(word_ids):
        if word is not None and word not in seen:
            labels[t] = tags[word]
            seen.add(word)
    return labels
""",
        "first places": """
def align_labels(word_ids, tags):
    return torch.tensor([
        tags[w] if w is not None and word_ids.index(w) == t else -100 for t, w in enumerate(word_ids)
    ])
""",
    },
    "applications.bio_spans": {
        "a current entity": """
def bio_spans(tags):
    spans = []
    begin, kind = None, None
    for i, tag in enumerate(list(tags) + ["O"]):
        if kind is not None and tag != f"I-{kind}":
            spans.append((begin, i, kind))
            begin, kind = None, None
        if tag != "O" and kind is None:
            begin, kind = i, tag.split("-")[1]
    return spans
""",
        "an inner loop": """
def bio_spans(tags):
    spans, i = [], 0
    while i < len(tags):
        if tags[i] == "O":
            i += 1
            continue
        kind, j = tags[i][2:], i + 1
        while j < len(tags) and tags[j] == "I-" + kind:
            j += 1
        spans.append((i, j, kind))
        i = j
    return spans
""",
    },
    "applications.entity_f1": {
        "entities with the number of their sentence": """
def entity_f1(truth, predicted):
    gold = {(n, *span) for n, tags in enumerate(truth) for span in bio_spans(tags)}
    found = {(n, *span) for n, tags in enumerate(predicted) for span in bio_spans(tags)}
    right = len(gold & found)
    precision = right / len(found) if found else 0.0
    recall = right / len(gold) if gold else 0.0
    if precision + recall == 0:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)
""",
    },
    "applications.mended_piece_labels": {
        "a set of the words seen": """
def mended_piece_labels(word_ids, tags):
    labels, seen = [], set()
    for w in word_ids:
        if w is None:
            labels.append(-100)
            continue
        tag = tags[w]
        if w in seen and tag % 2 == 1:
            tag = tag + 1
        seen.add(w)
        labels.append(tag)
    return torch.tensor(labels)
""",
    },
    "applications.best_span": {
        "two loops": """
def best_span(start, end, context, max_len):
    best = (-float("inf"), 0, 0)
    inside = [t for t in range(len(start)) if context[t]]
    for i in inside:
        for j in inside:
            if i <= j < i + max_len:
                best = max(best, (float(start[i]) + float(end[j]), i, j))
    score, i, j = best
    return i, j, score - float(start[0]) - float(end[0])
""",
        "a band of a triangle": """
def best_span(start, end, context, max_len):
    T = start.numel()
    scores = start.unsqueeze(1) + end.unsqueeze(0)
    band = torch.ones(T, T, dtype=torch.bool).triu(0).tril(max_len - 1)
    allowed = band & torch.outer(context, context)
    flat = torch.where(allowed, scores, torch.tensor(float("-inf"))).flatten().argmax().item()
    i, j = divmod(flat, T)
    return i, j, (scores[i, j] - scores[0, 0]).item()
""",
    },
    "applications.exact_match_and_f1": {
        "precision and recall": """
def exact_match_and_f1(said, accepted):
    def one(answer):
        a, b = words_of(said), words_of(answer)
        if not a and not b:
            return 1.0, 1.0
        shared = sum(min(a.count(w), b.count(w)) for w in set(a))
        if shared == 0:
            return 0.0, 0.0
        precision, recall = shared / len(a), shared / len(b)
        return float(a == b), 2 * precision * recall / (precision + recall)

    marks = [one(answer) for answer in (accepted if len(accepted) else [""])]
    return max(m[0] for m in marks), max(m[1] for m in marks)
""",
    },
    "applications.best_threshold": {
        "one after the other": """
def best_threshold(margins, f1, answerable):
    best_t, best = None, -1.0
    for t in [-float("inf"), *margins.tolist()]:
        total = 0.0
        for m, f, a in zip(margins.tolist(), f1.tolist(), answerable.tolist()):
            total += f if m > t else (0.0 if a else 1.0)
        if total / len(f1) > best:
            best_t, best = t, total / len(f1)
    return best_t, best
""",
    },
}
