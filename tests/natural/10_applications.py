"""Natural answers to the exercises of notebook 10, written from its text alone: cells as students write them.

WRONG and RIGHT: exercise → what is wrong or unusual about the answer → the source of the whole cell.
"""

WRONG = {
    "applications.pool": {
        "the mean and the largest take padding in": """
def pool(H, keep):
    return H[:, 0], H.mean(dim=1), H.amax(dim=1)
""",
        "the largest over vectors whose padding was set to zero": """
def pool(H, keep):
    mask = keep.unsqueeze(-1).float()
    masked = H * mask
    mean = masked.sum(1) / mask.sum(1)
    largest = masked.max(dim=1).values
    return H[:, 0, :], mean, largest
""",
        "the mean divides by the length of the row": """
def pool(H, keep):
    mask = keep.unsqueeze(-1)
    mean = (H * mask).mean(dim=1)
    largest = H.masked_fill(~mask, float("-inf")).max(dim=1)[0]
    return H[:, 0], mean, largest
""",
        "the mean over the tokens of the whole batch": """
def pool(H, keep):
    mean = (H * keep[..., None]).sum(dim=1) / keep.sum()
    largest = H.masked_fill(~keep[..., None], -torch.inf).amax(dim=1)
    return H[:, 0], mean, largest
""",
        "the last token for the first": """
def pool(H, keep):
    kept = keep[..., None].float()
    mean = (H * kept).sum(dim=1) / kept.sum(dim=1)
    largest = H.masked_fill(kept == 0, -1e9).amax(dim=1)
    return H[:, -1], mean, largest
""",
        "the mean without [CLS]": """
def pool(H, keep):
    keep = keep.clone()
    first = H[:, 0]
    words = keep.clone()
    words[:, 0] = False
    mean = (H * words[..., None]).sum(dim=1) / words.sum(dim=1, keepdim=True).clamp(min=1)
    largest = H.masked_fill(~keep[..., None], -torch.inf).amax(dim=1)
    return first, mean, largest
""",
        "the largest by size without sign": """
def pool(H, keep):
    kept = keep[..., None]
    mean = (H * kept).sum(1) / kept.sum(1)
    largest = (H * kept).abs().amax(dim=1)
    return H[:, 0], mean, largest
""",
        "largest and mean change places": """
def pool(H, keep):
    kept = keep[..., None]
    mean = (H * kept).sum(1) / kept.sum(1)
    largest = H.masked_fill(~kept, -torch.inf).amax(dim=1)
    return H[:, 0], largest, mean
""",
    },
    "applications.align_labels": {
        "every piece gets its word's tag": """
def align_labels(word_ids, tags):
    return torch.tensor([-100 if w is None else tags[w] for w in word_ids])
""",
        "the tag at the last piece": """
def align_labels(word_ids, tags):
    labels = []
    for i, w in enumerate(word_ids):
        following = word_ids[i + 1] if i + 1 < len(word_ids) else None
        if w is None or w == following:
            labels.append(-100)
        else:
            labels.append(tags[w])
    return torch.tensor(labels)
""",
        "counts the words seen, so that a word without pieces shifts the tags": """
def align_labels(word_ids, tags):
    labels, seen, n = [], set(), 0
    for w in word_ids:
        if w is None or w in seen:
            labels.append(-100)
        else:
            seen.add(w)
            labels.append(tags[n])
            n += 1
    return torch.tensor(labels)
""",
        "pops the tags one by one": """
def align_labels(word_ids, tags):
    remaining = iter(tags)
    previous = None
    labels = []
    for w in word_ids:
        if w is not None and w != previous:
            labels.append(next(remaining))
        else:
            labels.append(-100)
        previous = w
    return torch.tensor(labels)
""",
        "word 0 taken for a special token": """
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
        "O at the other pieces": """
def align_labels(word_ids, tags):
    labels, previous = [], None
    for w in word_ids:
        if w is None:
            labels.append(-100)
        elif w == previous:
            labels.append(0)
        else:
            labels.append(tags[w])
        previous = w
    return torch.tensor(labels)
""",
        "O at special tokens and padding": """
def align_labels(word_ids, tags):
    labels, previous = [], None
    for w in word_ids:
        if w is None:
            labels.append(0)
        elif w == previous:
            labels.append(-100)
        else:
            labels.append(tags[w])
        previous = w
    return torch.tensor(labels)
""",
        "−1 for −100": """
def align_labels(word_ids, tags):
    labels, previous = [], None
    for w in word_ids:
        labels.append(tags[w] if w is not None and w != previous else -1)
        previous = w
    return torch.tensor(labels)
""",
    },
    "applications.bio_spans": {
        "end is the place of the last token": """
def bio_spans(tags):
    spans = []
    begin = None
    kind = None
    for i, tag in enumerate(tags):
        if begin is not None and not (tag.startswith("I-") and tag[2:] == kind):
            spans.append((begin, i - 1, kind))
            begin = None
        if tag != "O" and begin is None:
            begin, kind = i, tag[2:]
    if begin is not None:
        spans.append((begin, len(tags) - 1, kind))
    return spans
""",
        "the entity at the end of the sentence is lost": """
def bio_spans(tags):
    spans = []
    begin, kind = None, None
    for i, tag in enumerate(tags):
        if begin is not None and not (tag.startswith("I-") and tag[2:] == kind):
            spans.append((begin, i, kind))
            begin = None
        if tag != "O" and begin is None:
            begin, kind = i, tag[2:]
    return spans
""",
        "a lonely I- is ignored": """
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
        "I- continues whatever its type": """
def bio_spans(tags):
    spans = []
    i = 0
    while i < len(tags):
        if tags[i] == "O":
            i += 1
            continue
        j = i + 1
        while j < len(tags) and tags[j].startswith("I-"):
            j += 1
        spans.append((i, j, tags[i][2:]))
        i = j
    return spans
""",
        "neighbouring B- of one type become one entity": """
def bio_spans(tags):
    spans = []
    begin, kind = None, None
    for i, tag in enumerate(tags + ["O"]):
        current = None if tag == "O" else tag[2:]
        if current != kind:
            if kind is not None:
                spans.append((begin, i, kind))
            begin, kind = i, current
    return spans
""",
        "I- of the same type goes on over an O": """
def bio_spans(tags):
    spans = []
    for i, tag in enumerate(tags):
        if tag == "O":
            continue
        mark, kind = tag.split("-")
        if mark == "I" and spans and spans[-1][2] == kind:
            spans[-1] = (spans[-1][0], i + 1, kind)
        else:
            spans.append((i, i + 1, kind))
    return spans
""",
        "an I- of another type ends the entity and begins none": """
def bio_spans(tags):
    spans = []
    begin = None
    kind = None
    for i, tag in enumerate(list(tags) + ["O"]):
        if tag.startswith("I-") and begin is not None and tag[2:] == kind:
            continue
        if begin is not None:
            spans.append((begin, i, kind))
            was_open = True
        else:
            was_open = False
        begin = None
        if tag.startswith("B-") or (tag.startswith("I-") and not was_open):
            begin, kind = i, tag[2:]
    return spans
""",
        "only single tokens": """
def bio_spans(tags):
    return [(i, i + 1, tag[2:]) for i, tag in enumerate(tags) if tag != "O"]
""",
    },
    "applications.entity_f1": {
        "the sentence is forgotten": """
def entity_f1(truth, predicted):
    true_spans = {span for tags in truth for span in bio_spans(tags)}
    pred_spans = {span for tags in predicted for span in bio_spans(tags)}
    right = len(true_spans & pred_spans)
    p = right / len(pred_spans) if pred_spans else 0.0
    r = right / len(true_spans) if true_spans else 0.0
    f = 2 * p * r / (p + r) if p + r else 0.0
    return p, r, f
""",
        "the mean of the sentences' marks": """
def entity_f1(truth, predicted):
    rows = []
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right = len(t & p)
        precision = right / len(p) if p else 0.0
        recall = right / len(t) if t else 0.0
        f1 = 2 * right / (len(t) + len(p)) if t or p else 0.0
        rows.append((precision, recall, f1))
    return tuple(sum(column) / len(rows) for column in zip(*rows))
""",
        "the arithmetic mean of precision and recall": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right += len(t & p)
        asked += len(t)
        given += len(p)
    precision = right / given if given else 0.0
    recall = right / asked if asked else 0.0
    return precision, recall, (precision + recall) / 2
""",
        "precision and recall change places": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right += len(t & p)
        asked += len(t)
        given += len(p)
    precision = right / asked if asked else 0.0
    recall = right / given if given else 0.0
    f1 = 2 * right / (asked + given) if asked + given else 0.0
    return precision, recall, f1
""",
        "tokens instead of entities": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        for a, b in zip(t, p):
            right += a == b and a != "O"
            asked += a != "O"
            given += b != "O"
    precision = right / given if given else 0.0
    recall = right / asked if asked else 0.0
    f1 = 2 * right / (asked + given) if asked + given else 0.0
    return precision, recall, f1
""",
        "the type is not compared": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t = {span[:2] for span in bio_spans(t)}
        p = {span[:2] for span in bio_spans(p)}
        right += len(t & p)
        asked += len(t)
        given += len(p)
    precision = right / given if given else 0.0
    recall = right / asked if asked else 0.0
    f1 = 2 * right / (asked + given) if asked + given else 0.0
    return precision, recall, f1
""",
        "divides by zero where nothing was predicted": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right += len(t & p)
        asked += len(t)
        given += len(p)
    precision = right / given
    recall = right / asked
    return precision, recall, 2 * precision * recall / (precision + recall)
""",
        "1 where there is nothing to divide by": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        right += len(t & p)
        asked += len(t)
        given += len(p)
    precision = right / given if given else 1.0
    recall = right / asked if asked else 1.0
    f1 = 2 * right / (asked + given) if asked + given else 1.0
    return precision, recall, f1
""",
    },
    "applications.mended_piece_labels": {
        "the bug of 2021": """
def mended_piece_labels(word_ids, tags):
    return torch.tensor([-100 if word is None else tags[word] for word in word_ids])
""",
        "−100 at the later pieces": """
def mended_piece_labels(word_ids, tags):
    labels, previous = [], None
    for word in word_ids:
        labels.append(-100 if word is None or word == previous else tags[word])
        previous = word
    return torch.tensor(labels)
""",
        "one added to every later piece, also of O and of I-": """
def mended_piece_labels(word_ids, tags):
    labels, previous = [], None
    for word in word_ids:
        if word is None:
            labels.append(-100)
        elif word == previous:
            labels.append(tags[word] + 1)
        else:
            labels.append(tags[word])
        previous = word
    return torch.tensor(labels)
""",
        "one added to later pieces of all but O, also of I-": """
def mended_piece_labels(word_ids, tags):
    labels, previous = [], None
    for word in word_ids:
        if word is None:
            labels.append(-100)
        elif word == previous and tags[word] != 0:
            labels.append(tags[word] + 1)
        else:
            labels.append(tags[word])
        previous = word
    return torch.tensor(labels)
""",
        "even numbers taken for B-": """
def mended_piece_labels(word_ids, tags):
    labels, previous = [], None
    for word in word_ids:
        if word is None:
            labels.append(-100)
        elif word == previous and tags[word] and tags[word] % 2 == 0:
            labels.append(tags[word] + 1)
        else:
            labels.append(tags[word])
        previous = word
    return torch.tensor(labels)
""",
        "O at the later pieces": """
def mended_piece_labels(word_ids, tags):
    labels, previous = [], None
    for word in word_ids:
        if word is None:
            labels.append(-100)
        else:
            labels.append(tags[word] if word != previous else 0)
        previous = word
    return torch.tensor(labels)
""",
        "the word before with the same tag counts as the same word": """
def mended_piece_labels(word_ids, tags):
    labels = [-100 if word is None else tags[word] for word in word_ids]
    for i in range(len(labels) - 1, 0, -1):
        if labels[i] % 2 == 1 and labels[i] == labels[i - 1]:
            labels[i] += 1
    return torch.tensor(labels)
""",
    },
    "applications.best_span": {
        "start and end chosen apart": """
def best_span(start, end, context, max_len):
    s = start.masked_fill(~context, -torch.inf)
    e = end.masked_fill(~context, -torch.inf)
    i, j = s.argmax().item(), e.argmax().item()
    return i, j, (s[i] + e[j] - start[0] - end[0]).item()
""",
        "the context is forgotten": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            score = (start[i] + end[j]).item()
            if score > best:
                best, where = score, (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
        "spans of one token too many": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len + 1, len(start))):
            if context[i] and context[j] and (start[i] + end[j]).item() > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
        "spans of one token too few": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, len(start)):
            if context[i] and context[j] and j - i < max_len - 1:
                score = (start[i] + end[j]).item()
                if score > best:
                    best, where = score, (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
        "a search that begins with the score 0": """
def best_span(start, end, context, max_len):
    best, where = 0.0, (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j] and (start[i] + end[j]).item() > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
        "the end is the place behind the last token": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j] and (start[i] + end[j]).item() > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return where[0], where[1] + 1, best - (start[0] + end[0]).item()
""",
        "the score instead of the margin": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j] and (start[i] + end[j]).item() > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return where[0], where[1], best
""",
        "[CLS] to [CLS] is among the spans": """
def best_span(start, end, context, max_len):
    allowed = context.clone()
    allowed[0] = True
    scores = start[:, None] + end[None]
    scores = scores.masked_fill(~(allowed[:, None] & allowed[None]), -torch.inf)
    T = len(start)
    for i in range(T):
        for j in range(T):
            if j < i or j - i >= max_len:
                scores[i, j] = -torch.inf
    best = int(scores.argmax())
    return best // T, best % T, float(scores.max() - scores[0, 0])
""",
        "only the first token has to lie in the text": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        if not context[i]:
            continue
        for j in range(i, min(i + max_len, len(start))):
            if (start[i] + end[j]).item() > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
    },
    "applications.exact_match_and_f1": {
        "only the first accepted answer": """
def exact_match_and_f1(said, accepted):
    a = words_of(said)
    b = words_of(accepted[0]) if accepted else []
    if not a and not b:
        return 1.0, 1.0
    shared = sum((Counter(a) & Counter(b)).values())
    return float(a == b), 2 * shared / (len(a) + len(b))
""",
        "shared words as a set": """
def exact_match_and_f1(said, accepted):
    best_exact, best_f1 = 0.0, 0.0
    a = words_of(said)
    for answer in accepted or [""]:
        b = words_of(answer)
        if not a and not b:
            return 1.0, 1.0
        shared = len(set(a) & set(b))
        best_exact = max(best_exact, float(a == b))
        best_f1 = max(best_f1, 2 * shared / (len(a) + len(b)))
    return best_exact, best_f1
""",
        "each word said that is accepted counts": """
def exact_match_and_f1(said, accepted):
    best_exact, best_f1 = 0.0, 0.0
    a = words_of(said)
    for answer in accepted or [""]:
        b = words_of(answer)
        if not a and not b:
            return 1.0, 1.0
        shared = sum(word in b for word in a)
        best_exact = max(best_exact, float(a == b))
        best_f1 = max(best_f1, 2 * shared / (len(a) + len(b)))
    return best_exact, best_f1
""",
        "exact match without regard to the order": """
def exact_match_and_f1(said, accepted):
    exact, f1 = 0.0, 0.0
    a = Counter(words_of(said))
    for answer in accepted or [""]:
        b = Counter(words_of(answer))
        total = sum(a.values()) + sum(b.values())
        exact = max(exact, float(a == b))
        f1 = max(f1, 2 * sum((a & b).values()) / total if total else 1.0)
    return exact, f1
""",
        "exact match on the raw text": """
def exact_match_and_f1(said, accepted):
    exact, f1 = 0.0, 0.0
    for answer in accepted or [""]:
        a, b = words_of(said), words_of(answer)
        shared = sum((Counter(a) & Counter(b)).values())
        exact = max(exact, float(said == answer))
        f1 = max(f1, 2 * shared / (len(a) + len(b)) if a or b else 1.0)
    return exact, f1
""",
        "nothing accepted earns nothing": """
def exact_match_and_f1(said, accepted):
    exact, f1 = 0.0, 0.0
    a = words_of(said)
    for answer in accepted:
        b = words_of(answer)
        shared = sum((Counter(a) & Counter(b)).values())
        exact = max(exact, float(a == b))
        f1 = max(f1, 2 * shared / (len(a) + len(b)) if a or b else 1.0)
    return exact, f1
""",
        "0 where neither side has a word": """
def exact_match_and_f1(said, accepted):
    exact, f1 = 0.0, 0.0
    a = words_of(said)
    for answer in accepted or [""]:
        b = words_of(answer)
        shared = sum((Counter(a) & Counter(b)).values())
        precision = shared / len(a) if a else 0.0
        recall = shared / len(b) if b else 0.0
        exact = max(exact, float(a == b))
        f1 = max(f1, 2 * precision * recall / (precision + recall) if shared else 0.0)
    return exact, f1
""",
        "both marks of the answer with the best exact match": """
def exact_match_and_f1(said, accepted):
    a = words_of(said)
    marks = []
    for answer in accepted or [""]:
        b = words_of(answer)
        shared = sum((Counter(a) & Counter(b)).values())
        f1 = 2 * shared / (len(a) + len(b)) if a or b else 1.0
        marks.append((float(a == b), f1))
    return max(marks, key=lambda mark: mark[0])
""",
        "the mean over the accepted answers": """
def exact_match_and_f1(said, accepted):
    a = words_of(said)
    exact, f1 = [], []
    for answer in accepted or [""]:
        b = words_of(answer)
        shared = sum((Counter(a) & Counter(b)).values())
        exact.append(float(a == b))
        f1.append(2 * shared / (len(a) + len(b)) if a or b else 1.0)
    return sum(exact) / len(exact), sum(f1) / len(f1)
""",
        "articles and capitals count": """
def exact_match_and_f1(said, accepted):
    a = said.split()
    exact, f1 = 0.0, 0.0
    for answer in accepted or [""]:
        b = answer.split()
        shared = sum((Counter(a) & Counter(b)).values())
        exact = max(exact, float(a == b))
        f1 = max(f1, 2 * shared / (len(a) + len(b)) if a or b else 1.0)
    return exact, f1
""",
    },
    "applications.best_threshold": {
        "answers at the threshold too": """
def best_threshold(margins, f1, answerable):
    best, value = None, -1.0
    for threshold in [-float("inf")] + margins.tolist():
        score = torch.where(margins >= threshold, f1, (~answerable).float()).mean().item()
        if score > value:
            best, value = threshold, score
    return best, value
""",
        "minus infinity is not tried": """
def best_threshold(margins, f1, answerable):
    best, value = None, -1.0
    for threshold in margins.tolist():
        score = torch.where(margins > threshold, f1, (~answerable).float()).mean().item()
        if score > value:
            best, value = threshold, score
    return best, value
""",
        "silence earns nothing": """
def best_threshold(margins, f1, answerable):
    candidates = torch.cat([torch.tensor([-torch.inf]), margins])
    scores = torch.stack([torch.where(margins > c, f1, torch.zeros_like(f1)).mean() for c in candidates])
    best = scores.argmax()
    return candidates[best], scores[best]
""",
        "silence earns 1 where there is an answer": """
def best_threshold(margins, f1, answerable):
    candidates = torch.cat([torch.tensor([-torch.inf]), margins])
    scores = torch.stack([torch.where(margins > c, f1, answerable.float()).mean() for c in candidates])
    best = scores.argmax()
    return candidates[best], scores[best]
""",
        "the mean over the answered questions only": """
def best_threshold(margins, f1, answerable):
    best, value = -float("inf"), f1.mean().item()
    for threshold in margins.tolist():
        said = margins > threshold
        if said.any():
            score = f1[said].mean().item()
            if score > value:
                best, value = threshold, score
    return best, value
""",
        "the sum for the mean": """
def best_threshold(margins, f1, answerable):
    best, value = None, -1.0
    for threshold in [-float("inf")] + margins.tolist():
        score = torch.where(margins > threshold, f1, (~answerable).float()).sum().item()
        if score > value:
            best, value = threshold, score
    return best, value
""",
        "0 is tried as well": """
def best_threshold(margins, f1, answerable):
    best, value = None, -1.0
    for threshold in [0.0, -float("inf")] + margins.tolist():
        score = torch.where(margins > threshold, f1, (~answerable).float()).mean().item()
        if score > value:
            best, value = threshold, score
    return best, value
""",
        "the number of the threshold instead of the threshold": """
def best_threshold(margins, f1, answerable):
    candidates = torch.cat([torch.tensor([-torch.inf]), margins])
    given = margins[None] > candidates[:, None]
    scores = torch.where(given, f1[None], (~answerable).float()[None]).mean(dim=1)
    value, best = scores.max(dim=0)
    return best, value
""",
    },
}

RIGHT = {
    "applications.pool": {
        "a loop over the rows": """
def pool(H, keep):
    first, mean, largest = [], [], []
    for row, mask in zip(H, keep):
        tokens = row[mask]
        first.append(row[0])
        mean.append(tokens.mean(dim=0))
        largest.append(tokens.max(dim=0).values)
    return torch.stack(first), torch.stack(mean), torch.stack(largest)
""",
        "einsum, and a large negative number for padding": """
def pool(H, keep):
    weights = keep.float() / keep.float().sum(dim=1, keepdim=True)
    mean = torch.einsum("bt,btd->bd", weights, H)
    largest = (H + (1 - keep.float())[..., None] * -1e6).masked_fill(~keep[..., None], -1e9).max(dim=1)[0]
    return [H[:, 0, :], mean, largest]
""",
        "numpy": """
import numpy as np

def pool(H, keep):
    H, keep = H.numpy(), keep.numpy()
    mean = np.stack([row[mask].mean(axis=0) for row, mask in zip(H, keep)])
    largest = np.where(keep[..., None], H, -np.inf).max(axis=1)
    return H[:, 0], mean, largest
""",
    },
    "applications.align_labels": {
        "tensors, the first place of each word": """
def align_labels(word_ids, tags):
    labels = torch.full((len(word_ids),), -100)
    for w in set(word_ids) - {None}:
        labels[word_ids.index(w)] = tags[w]
    return labels
""",
        "a list comprehension that looks back": """
def align_labels(word_ids, tags):
    return torch.tensor([
        tags[w] if w is not None and (i == 0 or word_ids[i - 1] != w) else -100
        for i, w in enumerate(word_ids)
    ])
""",
        "a set of the words seen, a list returned": """
def align_labels(word_ids, tags):
    seen, labels = {None}, []
    for w in word_ids:
        labels.append(-100 if w in seen else tags[w])
        seen.add(w)
    return labels
""",
    },
    "applications.bio_spans": {
        "an open entity that is closed": """
def bio_spans(tags):
    spans, begin, kind = [], None, None
    for i, tag in enumerate(list(tags) + ["O"]):
        if begin is not None and tag != "I-" + kind:
            spans.append((begin, i, kind))
            begin = None
        if begin is None and tag != "O":
            begin, kind = i, tag[2:]
    return spans
""",
        "looks ahead": """
def bio_spans(tags):
    spans, i = [], 0
    while i < len(tags):
        j = i + 1
        if tags[i] != "O":
            kind = tags[i].split("-")[1]
            while j < len(tags) and tags[j] == f"I-{kind}":
                j += 1
            spans.append((i, j, kind))
        i = j
    return spans
""",
    },
    "applications.entity_f1": {
        "spans with their sentence in one set": """
def entity_f1(truth, predicted):
    def spans(sentences):
        return {(n, *span) for n, tags in enumerate(sentences) for span in bio_spans(tags)}
    true, pred = spans(truth), spans(predicted)
    right = len(true & pred)
    p = right / len(pred) if pred else 0.0
    r = right / len(true) if true else 0.0
    return p, r, (2 * p * r / (p + r) if p + r else 0.0)
""",
        "lists for sets, and a list returned": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = bio_spans(t), bio_spans(p)
        right += sum(1 for span in p if span in t)
        asked += len(t)
        given += len(p)
    precision = right / given if given > 0 else 0
    recall = right / asked if asked > 0 else 0
    f1 = 0 if right == 0 else 2 / (1 / precision + 1 / recall)
    return [precision, recall, f1]
""",
    },
    "applications.mended_piece_labels": {
        "a table from B- to I-": """
def mended_piece_labels(word_ids, tags):
    inside = {tag: tag + 1 if tag % 2 == 1 else tag for tag in set(tags)}
    labels = []
    for i, w in enumerate(word_ids):
        if w is None:
            labels.append(-100)
        elif i > 0 and word_ids[i - 1] == w:
            labels.append(inside[tags[w]])
        else:
            labels.append(tags[w])
    return torch.tensor(labels)
""",
        "built on align_labels": """
def mended_piece_labels(word_ids, tags):
    labels = align_labels(word_ids, tags)
    for i, w in enumerate(word_ids):
        if w is not None and labels[i] == -100:
            labels[i] = tags[w] + tags[w] % 2
    return labels
""",
    },
    "applications.best_span": {
        "two loops, a search from minus infinity": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), None
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j]:
                score = (start[i] + end[j]).item()
                if score > best:
                    best, where = score, (i, j)
    return where[0], where[1], best - (start[0] + end[0]).item()
""",
        "triu and tril, nonzero": """
def best_span(start, end, context, max_len):
    band = torch.ones(len(start), len(start)).triu().tril(max_len - 1).bool()
    i, j = (band & context[:, None] & context[None, :]).nonzero().T
    scores = start[i].double() + end[j].double()
    k = scores.argmax()
    return int(i[k]), int(j[k]), float(scores[k] - start[0] - end[0])
""",
    },
    "applications.exact_match_and_f1": {
        "precision and recall": """
def exact_match_and_f1(said, accepted):
    def f1(a, b):
        if not a or not b:
            return float(a == b)
        shared = sum(min(a.count(word), b.count(word)) for word in set(a))
        if shared == 0:
            return 0.0
        precision, recall = shared / len(a), shared / len(b)
        return 2 * precision * recall / (precision + recall)
    said = words_of(said)
    if not accepted:
        accepted = [""]
    answers = [words_of(answer) for answer in accepted]
    return max(float(said == answer) for answer in answers), max(f1(said, answer) for answer in answers)
""",
        "removes shared words from a copy": """
def exact_match_and_f1(said, accepted):
    if len(accepted) == 0:
        silent = float(len(words_of(said)) == 0)
        return silent, silent
    exact, best = 0.0, 0.0
    for answer in accepted:
        a, b = words_of(said), words_of(answer)
        left, shared = list(b), 0
        for word in a:
            if word in left:
                left.remove(word)
                shared += 1
        exact = 1.0 if a == b else exact
        best = max(best, 1.0 if len(a) + len(b) == 0 else 2 * shared / (len(a) + len(b)))
    return torch.tensor([exact, best])
""",
    },
    "applications.best_threshold": {
        "a loop": """
def best_threshold(margins, f1, answerable):
    best, value = -float("inf"), f1.mean().item()
    for threshold in margins:
        silent = margins <= threshold
        score = (f1[~silent].sum() + (~answerable[silent]).sum()) / len(margins)
        if score > value:
            best, value = threshold.item(), score.item()
    return best, value
""",
        "sorted, with running sums in float64": """
def best_threshold(margins, f1, answerable):
    order = margins.argsort()
    gain = ((~answerable).double() - f1.double())[order]
    scores = torch.cat([torch.zeros(1).double(), gain.cumsum(0)]) + f1.double().sum()
    thresholds = torch.cat([torch.tensor([-torch.inf]), margins[order]])
    best = scores.argmax()
    return thresholds[best], scores[best] / len(margins)
""",
    },
}
