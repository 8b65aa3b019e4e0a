"""10 Applications: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

KINDS = ("PER", "LOC", "ORG", "MISC")
TAGS = ["O", *(f"{mark}-{kind}" for kind in KINDS for mark in "BI")]

# ------------------------------------------------------------------------------------------ one vector per text


def pool_cases(draw: Draw) -> Iterator[Case]:
    for B, T, D in ((3, 5, 4), (4, 7, 6), (2, 6, 9)):
        keep, H = draw.padding(B, T), draw.normal(B, T, D)
        # In the odd coordinates all tokens are below zero, so that zeros at the padding would be the maximum; in the
        # even ones the padding's own values would be. Coordinate 1 is below any moderate constant used for padding.
        H[..., 1::2] = -np.abs(H[..., 1::2]) - 0.25
        H[..., 1] -= 12
        H[..., 0::2] += 4 * ~keep[..., None]
        yield {"H": H, "keep": keep}


MEAN = "(H * kept).sum(dim=1) / kept.sum(dim=1)"
LARGEST = "H.masked_fill(~kept, -torch.inf).amax(dim=1)"
RETURN_POOLED = "return H[:, 0], mean, largest"

pool = Exercise(
    cases=pool_cases,
    rule=Rule(axes={"0": "B D", "1": "B D", "2": "B D"}),
    mistakes=(
        Mistake(
            "padding in the mean",
            "Your mean is correct only for the sequence without padding. The other means include padding vectors.",
            edits={MEAN: "H.mean(dim=1)", LARGEST: LARGEST},
        ),
        Mistake(
            "padding in the mean and the maximum",
            "Your second and third vectors are correct only for the sequence without padding. In the others, padding affects "
            "both.",
            edits={MEAN: "H.mean(dim=1)", LARGEST: "H.amax(dim=1)"},
        ),
        Mistake(
            "[CLS] left out of the mean",
            "Your mean leaves out the first token. [CLS] is a token like any other, so keep is True there.",
            MEAN, "(H * kept)[:, 1:].sum(dim=1) / kept[:, 1:].sum(dim=1).clamp(min=1)",
        ),
        Mistake(
            "padding counted in the denominator",
            "Your sum excludes the padding but your denominator counts it, so shorter sequences have means too close to 0.",
            MEAN, "(H * kept).mean(dim=1)",
        ),
        Mistake(
            "sum instead of mean",
            "Your second vector is a sum, so it grows with the length of the text. Divide by the number of tokens.",
            MEAN, "(H * kept).sum(dim=1)",
        ),
        Mistake(
            "divided by the tokens of the whole batch",
            "All your means are too close to 0, those of short texts most of all: you divide each sum by the number of "
            "tokens in the whole batch.",
            MEAN, "(H * kept).sum(dim=1) / kept.sum()",
        ),
        Mistake(
            "padding set to 0 for the maximum",
            "Some of your largest values are exactly 0, although all tokens of the sequence are below 0: the 0 comes from the "
            "padding.",
            LARGEST, "(H * kept).amax(dim=1)",
        ),
        Mistake(
            "padding in the maximum",
            "Your third vector contains values of padding vectors. Exclude the padding from the maximum.",
            LARGEST, "H.amax(dim=1)",
        ),
        Mistake(
            "largest absolute value",
            "Your third vector has no negative value, because you take absolute values. Of −3 and 2, the larger is 2.",
            LARGEST, "(H * kept).abs().amax(dim=1)",
        ),
        Mistake(
            "smallest value instead of largest",
            "Your third vector contains the smallest values. It should contain the largest.",
            LARGEST, "H.masked_fill(~kept, torch.inf).amin(dim=1)",
        ),
        Mistake(
            "last token instead of [CLS]",
            "Your first vector comes from the last position, which may be padding. [CLS] is at the first position.",
            RETURN_POOLED, "return H[:, -1], mean, largest",
        ),
        Mistake(
            "mean and maximum swapped",
            "Your second and third vectors are swapped. The mean should come before the maximum.",
            RETURN_POOLED, "return H[:, 0], largest, mean",
        ),
        Mistake(
            "keep inverted",
            "You pool the padding and leave out the tokens, although keep is True at tokens.",
            "kept = keep[..., None]", "kept = ~keep[..., None]",
        ),
        detached("pool"),
    ),
    alternatives={
        "a loop over the rows": """
def pool(H, keep):
    rows = [h[k] for h, k in zip(H, keep)]
    first = torch.stack([h[0] for h in H])
    return first, torch.stack([r.mean(0) for r in rows]), torch.stack([r.max(0).values for r in rows])
""",
        "einsum, and the smallest number there is": """
def pool(H, keep):
    shares = keep.double() / keep.sum(1, keepdim=True)
    mean = torch.einsum("bt,btd->bd", shares, H.double())
    lowest = torch.finfo(H.dtype).min
    return H[:, 0, :], mean, torch.where(keep[..., None], H, lowest).max(dim=1)[0]
""",
        "in float64": """
def pool(H, keep):
    H, keep = H.double(), keep[..., None]
    return H[:, 0], torch.where(keep, H, torch.nan).nanmean(1), torch.where(keep, H, -torch.inf).max(1).values
""",
    },
    hints=(
        "A batch contains two texts, of 5 and 9 tokens. Which of the 18 vectors belong in the mean of the first text, and by "
        "what do you divide their sum?",
        "H: (B, T, D), keep: (B, T). To multiply them, keep needs a third axis of size 1. Output: a tuple of three tensors, "
        "each (B, D).",
        "first = the vectors at position 0\nmean = sum of the kept vectors, divided by their number in that sequence\nlargest = "
        "the maximum over T, with the padding excluded",
        "A near miss: setting the padding to zero is fine for a sum but wrong for a maximum. Where all tokens of a sequence are below zero, the padding wins.",
    ),
)

# ------------------------------------------------------------------------------------------ labels for subwords


def pieces_of(draw: Draw, words: int, skipped: int | None = None, fixed: tuple[int, ...] = ()) -> list[int | None]:
    """The word of each subword: [CLS], words of one to three subwords, [SEP], padding.

    The word `skipped` has no subword; `fixed` gives the numbers of subwords of the first words.
    """
    many = [*fixed, *draw.integers(1, 4, words - len(fixed))]
    if skipped is not None:
        many[skipped] = 0
    ids = [word for word, count in enumerate(many) for _ in range(count)]
    return [None, *ids, None, *[None] * int(draw.integers(1, 4))]


def align_cases(draw: Draw) -> Iterator[Case]:
    """Sentences in which some words have the tag of their neighbour, as in O O O, and others do not."""
    for words, skipped in ((7, None), (10, 4), (13, None), (9, 2)):
        tags = draw.integers(1, 9, words).cumsum() % 9  # no word has the tag of its neighbour,
        tags[-3:] = 0  # except the last three
        yield {"word_ids": pieces_of(draw, words, skipped, fixed=(1, 2)), "tags": tags}


ASKED = "-100 if word is None or word == before else tags[word]"

align_labels = Exercise(
    cases=align_cases,
    rule=Rule("equal", axes={"": "T"}),
    mistakes=(
        Mistake(
            "every subword labelled",
            "You label every subword, so a word with three subwords counts three times in the loss.",
            ASKED, "-100 if word is None else tags[word]",
        ),
        Mistake(
            "tags compared instead of words",
            "If two neighbouring words have the same tag (as in O O O), your second word has no label, because you compare tags. A subword continues a word if it has the same *word* number as the subword before it.",
            ASKED, "-100 if word is None or (before is not None and tags[word] == tags[before]) else tags[word]",
        ),
        Mistake(
            "last subword labelled",
            "Your labels are at the last subword of each word. They should be at the first.",
            f"labels.append({ASKED})",
            "if before is not None and word == before:\n            labels[-1] = -100\n"
            "        labels.append(-100 if word is None else tags[word])",
        ),
        Mistake(
            "special tokens and padding labelled O",
            "You train the model to predict O at [CLS], [SEP] and padding. These positions have no tag to predict.",
            ASKED, "0 if word is None else -100 if word == before else tags[word]",
        ),
        Mistake(
            "later subwords labelled O",
            "You label later subwords O, which teaches the model that the rest of a name lies outside the entity.",
            ASKED, "-100 if word is None else 0 if word == before else tags[word]",
        ),
        Mistake(
            "one tag per subword",
            "Your labels run ahead of the words: each subword takes the next tag, so after the first word with several subwords, the "
            "tags belong to other words.",
            code="""
def align_labels(word_ids, tags):
    rest = iter(tags)
    return torch.tensor([-100 if word is None else next(rest, 0) for word in word_ids])
""",
        ),
        Mistake(
            "tags taken in order instead of by word number",
            "Your labels are correct up to a word that has no subwords at all (the tokenizer may drop the only character of a word). From there on, each of your words has the tag of the word before it.",
            code="""
def align_labels(word_ids, tags):
    labels, before, rest = [], None, iter(tags)
    for word in word_ids:
        labels.append(-100 if word is None or word == before else next(rest))
        before = word
    return torch.tensor(labels)
""",
        ),
        Mistake(
            "word 0 without a label",
            "The first word of the sentence has no label in your answer, because you treat its number, 0, as missing. Only None in word_ids means that there is "
            "no word.",
            "word is None or word == before", "not word or word == before",
        ),
        Mistake(
            "−1 instead of −100",
            "In your result, the positions to be ignored have the label −1, but the loss ignores only the label −100.",
            "-100", "-1",
        ),
        Mistake(
            "tags shifted by one word",
            "Your tags are shifted by one: each word has the tag of the word before it. [CLS] is not a word.",
            "else tags[word]", "else tags[word - 1]",
        ),
    ),
    alternatives={
        "a set of words that have been seen": """
def align_labels(word_ids, tags):
    seen, labels = {None}, torch.full((len(word_ids),), -100)
    for place, word in enumerate(word_ids):
        if word not in seen:
            labels[place] = tags[word]
            seen.add(word)
    return labels
""",
        "the first place of each word": """
def align_labels(word_ids, tags):
    labels = [-100] * len(word_ids)
    for word, tag in enumerate(tags):
        if word in word_ids:
            labels[word_ids.index(word)] = tag
    return torch.tensor(labels)
""",
        "numpy": """
import numpy as np
def align_labels(word_ids, tags):
    words = np.array([-1 if word is None else word for word in word_ids])
    first = np.diff(words, prepend=-1) != 0
    return np.where(first & (words >= 0), np.array(tags)[words], -100)
""",
    },
    hints=(
        "A word consists of three subwords and has one tag. How often should it count in the loss?",
        "word_ids: a list of T entries, each a number or None. tags: one per word. Output: a tensor of T integers.",
        "for each subword, remembering the word of the subword before it:\n    no word, or the same word again: to be ignored\n  "
        "  a new word: its tag\nreturn the labels as a tensor",
        "A near miss: taking the tags one after the other works as long as every word has a subword. Look up the tag by the "
        "number of the word.",
    ),
)

# ------------------------------------------------------------------------------------------ spans


def tag_row(draw: Draw, words: int) -> list[str]:
    """Tags with all special cases: adjacent entities, an I- that continues nothing, an I- of another type."""
    tags: list[str] = []
    while len(tags) < words:
        kind, other = (KINDS[int(i)] for i in draw.rng.permutation(4)[:2])
        more = [f"I-{kind}"] * int(draw.integers(0, 3))
        tags += {
            0: ["O"] * int(draw.integers(1, 3)),
            1: [f"B-{kind}", *more],
            2: [f"B-{kind}", *more, f"B-{kind}", *more],
            3: ["O", f"I-{kind}", *more],
            4: [f"B-{kind}", *more, f"I-{other}"],
            5: [f"B-{kind}", "O", f"I-{kind}"],
        }[int(draw.integers(0, 6))]
    return tags


def in_rows(sentences: list[list[str]]) -> np.ndarray:
    """The numbers of the tags, one row per sentence, filled with −1 after its end."""
    longest = max(map(len, sentences))
    return np.array([[*map(TAGS.index, tags), *[-1] * (longest - len(tags))] for tags in sentences])


def span_cases(draw: Draw) -> Iterator[Case]:
    for some, words in zip(draw.rng.permutation(4), (12, 17, 23, 9), strict=True):  # every type in every draw
        # The first tag is an I- or a B-; a B- follows an I- of the same type.
        first = ([f"I-{KINDS[some]}"] * 2, [f"B-{KINDS[some]}", f"I-{KINDS[some]}", f"B-{KINDS[some]}"])[words % 2]
        tags = [
            *first,
            *tag_row(draw, words),
            *("O", f"I-{KINDS[some]}", "O", f"B-{KINDS[some - 1]}", f"B-{KINDS[some - 1]}"),
            *(f"I-{KINDS[some - 1]}", *[f"I-{KINDS[some - 2]}"] * 2, "O", *[f"I-{KINDS[some - 2]}"] * 2),
        ]
        yield {"tags": in_rows([tags])}


GROWS = 'tag.startswith("I-") and spans and spans[-1][1:] == (place, kind)'
GROWN = "spans[-1] = (spans[-1][0], place + 1, kind)"
BEGUN = "spans.append((place, place + 1, kind))"

SCORES = ("precision_recall_fscore_support", "f1_score", "precision_score", "recall_score", "classification_report")
"""Of seqeval, which would answer `entity_f1`."""

bio_spans = Exercise(
    cases=span_cases,
    withheld=("seqeval.metrics.sequence_labeling.get_entities",),
    rule=Rule("equal", axes={"": "spans numbers"}),
    mistakes=(
        Mistake(
            "end at the last token",
            "All your ends are one too small: the end should be the position after the last token, so that tags[begin:end] are the tags of "
            "the entity.",
            edits={GROWN: "spans[-1] = (spans[-1][0], place, kind)", BEGUN: "spans.append((place, place, kind))",
             "spans[-1][1:] == (place, kind)": "spans[-1][1:] == (place - 1, kind)"},
        ),
        Mistake(
            "adjacent entities merged",
            "You find too few entities: if an entity directly follows another one of the same type, you merge the two. What does B- mean?",
            'tag.startswith("I-") and ', 'tag != "O" and ',
        ),
        Mistake(
            "I- that continues nothing dropped",
            "You find too few entities: you drop an I- that continues nothing, such as an I- after O. According to the "
            "docstring, it begins an entity.",
            'elif tag != "O":', 'elif tag.startswith("B-"):',
        ),
        Mistake(
            "I- of another type begins nothing",
            "If an I- of another type directly follows an entity, your entity ends, but no new entity begins at that I-.",
            code="""
def bio_spans(tags):
    spans = []
    for place, tag in enumerate(tags):
        kind = tag[2:]
        if tag.startswith("I-") and spans and spans[-1][1:] == (place, kind):
            spans[-1] = (spans[-1][0], place + 1, kind)
        elif tag.startswith("B-") or (tag != "O" and not (spans and spans[-1][1] == place)):
            spans.append((place, place + 1, kind))
    return spans
""",
        ),
        Mistake(
            "I- continues an entity of any type",
            "If an I- of another type directly follows an entity, you include it in that entity. It should begin a new one.",
            edits={"spans[-1][1:] == (place, kind)": "spans[-1][1] == place",
             GROWN: "spans[-1] = (spans[-1][0], place + 1, spans[-1][2])"},
        ),
        Mistake(
            "entity takes the type of its last tag",
            "If an I- of another type directly follows an entity, you continue the entity and change its type. A new entity should begin.",
            "spans[-1][1:] == (place, kind)", "spans[-1][1] == place",
        ),
        Mistake(
            "entity continued after O",
            "Some of your entities contain an O: an I- continues only an entity that ended directly before it.",
            "spans[-1][1:] == (place, kind)", "spans[-1][2] == kind",
        ),
        Mistake(
            "entity at the end of the sentence lost",
            "The entity at the end of the sentence is missing: no tag follows that would close it.",
            "return spans", "return [span for span in spans if span[1] < len(tags)]",
        ),
        Mistake(
            "every I- begins an entity",
            "You find too many entities, because every I- begins a new one. An I- may continue an entity.",
            GROWS, "False",
        ),
        Mistake(
            "entities never extended",
            "Each of your entities has one token: you never extend an entity when an I- follows.",
            GROWN, "pass",
        ),
    ),
    alternatives={
        "open and close": """
def bio_spans(tags):
    spans, begin, kind = [], None, None
    for place, tag in enumerate([*tags, "O"]):
        goes_on = tag[:2] == "I-" and begin is not None and tag[2:] == kind
        if begin is not None and not goes_on:
            spans.append((begin, place, kind))
            begin = None
        if tag != "O" and not goes_on:
            begin, kind = place, tag[2:]
    return spans
""",
        "numpy: where runs begin": """
import numpy as np
def bio_spans(tags):
    kinds = np.array(["", *[tag[2:] for tag in tags]])
    begins = np.array([tag[0] == "B" for tag in tags]) | (kinds[1:] != kinds[:-1])
    edges = [*np.flatnonzero(begins), len(tags)]
    return [(int(a), int(b), str(kinds[a + 1])) for a, b in zip(edges[:-1], edges[1:]) if kinds[a + 1]]
""",
        "a walk with two indices": """
def bio_spans(tags):
    spans, place = [], 0
    while place < len(tags):
        if tags[place] == "O":
            place += 1
            continue
        end, kind = place + 1, tags[place].split("-", 1)[1]
        while end < len(tags) and tags[end] == "I-" + kind:
            end += 1
        spans.append((place, end, kind))
        place = end
    return spans
""",
    },
    hints=(
        "Look at a single tag. What must you know about the tags before it to decide whether an entity begins here, "
        "continues here, or neither?",
        "tags: T strings. Output: a list of tuples (begin, end, type), in the order of the text. tags[begin:end] are the tags "
        "of one entity.",
        "for each position and tag:\n    if it is I- and the last span ends right here and has this type: extend the span by "
        "one\n    else if it is not O: begin a new span of one token\nreturn the spans",
        "A near miss: closing an entity only when an O follows. As a result, an entity at the end of the sentence is never closed, "
        "and two adjacent ones become one.",
    ),
)

# ------------------------------------------------------------------------------------------ entity F1


def spoilt(draw: Draw, tags: list[str], share: float) -> list[str]:
    """The tags of an imperfect tagger: some are changed at random."""
    out = list(tags)
    for place in range(len(out)):
        if draw.rng.random() < share:
            kind = KINDS[int(draw.integers(0, 4))]
            out[place] = ("O", f"B-{kind}", f"I-{kind}")[int(draw.integers(0, 3))]
    return out


def tagged_cases(draw: Draw) -> Iterator[tuple[list[list[str]], list[list[str]]]]:
    """True tags and predicted tags."""
    for sentences, words, share in ((4, 9, 0.2), (6, 14, 0.3), (3, 20, 0.15), (5, 11, 0.25)):
        truth = [tag_row(draw, words + int(draw.integers(0, 4))) for _ in range(sentences)]
        truth[0] = ["B-PER", "I-PER", "O", *truth[0], "O", "B-LOC", "I-LOC"]
        predicted = [spoilt(draw, tags, share) for tags in truth]
        predicted[0][:3], predicted[0][-3:] = ["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]
        # The predicted entity occurs at the same position in another sentence only.
        truth[1], predicted[1] = ["O", "O", *truth[1]], ["B-PER", "I-PER", "O", *predicted[1][1:]]
        # The correct position with another type.
        truth[2], predicted[2] = ["B-ORG", "O", *truth[2]], ["B-MISC", "O", *predicted[2]]
        yield truth, predicted
    some = tag_row(draw, 12)
    nothing = ["O"] * len(some)
    yield [["B-ORG", *some[1:]]], [nothing]
    yield [nothing, nothing], [["B-LOC", "O", *nothing[2:]], nothing]
    one_right = ["O", "B-MISC", "I-MISC", "O", *nothing[4:]]
    yield [["B-PER", *one_right[1:]], nothing], [one_right, nothing]
    yield [nothing, one_right], [nothing, ["B-PER", *one_right[1:]]]
    yield [nothing, nothing], [nothing, nothing]


def f1_cases(draw: Draw) -> Iterator[Case]:
    for truth, predicted in tagged_cases(draw):
        yield {"truth": in_rows(truth), "predicted": in_rows(predicted)}


SETS = "pairs = [(set(bio_spans(t)), set(bio_spans(p))) for t, p in zip(truth, predicted)]"
F1 = "2 * right / max(asked + given, 1)"

entity_f1 = Exercise(
    cases=f1_cases,
    withheld=(
        *(f"seqeval.metrics.sequence_labeling.{name}" for name in SCORES),
        "seqeval.metrics.v1.precision_recall_fscore_support", "seqeval.metrics.v1.classification_report",
    ),
    rule=Rule("close", 1e-6),
    uses=("applications.bio_spans",),
    mistakes=(
        Mistake(
            "precision and recall swapped",
            "Your first and second numbers are swapped: precision divides by what was *predicted*, recall by what is *true*.",
            "right / max(given, 1), right / max(asked, 1)", "right / max(asked, 1), right / max(given, 1)",
        ),
        Mistake(
            "mean over sentences",
            "You average over sentences, so one entity in a short sentence counts as much as five in another. Add up the "
            "counts over all sentences, then divide.",
            code="""
def entity_f1(truth, predicted):
    rows = []
    for t, p in zip(truth, predicted):
        t, p = set(bio_spans(t)), set(bio_spans(p))
        rows.append((len(t & p) / max(len(p), 1), len(t & p) / max(len(t), 1), 2 * len(t & p) / max(len(t) + len(p), 1)))
    return tuple(sum(column) / len(rows) for column in zip(*rows))
""",
        ),
        Mistake(
            "tokens counted instead of entities",
            "You count tokens: in your count, a name of three tokens with one wrong tag is two thirds correct. As an entity, the name "
            "is wrong.",
            code="""
def entity_f1(truth, predicted):
    pairs = [(t, p) for one, other in zip(truth, predicted) for t, p in zip(one, other)]
    right = sum(t == p != "O" for t, p in pairs)
    given, asked = sum(p != "O" for _, p in pairs), sum(t != "O" for t, _ in pairs)
    return right / max(given, 1), right / max(asked, 1), 2 * right / max(asked + given, 1)
""",
        ),
        Mistake(
            "types ignored",
            "You give credit for an entity at the right position with the wrong type. The type must also be correct.",
            SETS,
            "pairs = [({s[:2] for s in bio_spans(t)}, {s[:2] for s in bio_spans(p)}) for t, p in zip(truth, predicted)]",
        ),
        Mistake(
            "end of the span ignored",
            "You give credit for an entity that begins at the right position, wherever it ends. The end must also be correct.",
            SETS,
            "pairs = [({s[::2] for s in bio_spans(t)}, {s[::2] for s in bio_spans(p)}) for t, p in zip(truth, predicted)]",
        ),
        Mistake(
            "spans of all sentences in one set",
            "All spans are in one set, so an entity of one sentence counts as found because another sentence has one at the "
            "same position.",
            SETS, "pairs = [tuple({s for tags in side for s in bio_spans(tags)} for side in (truth, predicted))]",
        ),
        Mistake(
            "arithmetic mean of precision and recall",
            "Your third number is the arithmetic mean of the first two. F1 is their harmonic mean, which is closer to the "
            "smaller one.",
            F1, "(right / max(given, 1) + right / max(asked, 1)) / 2",
        ),
        Mistake(
            "division by 0",
            "Your function raises an error if there are no predicted or no true entities. The docstring states what to "
            "return in this case.",
            edits={"right / max(given, 1), right / max(asked, 1)": "right / given, right / asked", F1: "2 * right / (asked + given)"},
        ),
        Mistake(
            "mean over types",
            "You score each type separately and take the mean, so a rare type counts as much as a frequent one. Count all "
            "entities together.",
            code="""
def entity_f1(truth, predicted):
    rows = []
    for kind in KINDS:
        pairs = [[{s for s in bio_spans(tags) if s[2] == kind} for tags in pair] for pair in zip(truth, predicted)]
        right, asked, given = sum(len(t & p) for t, p in pairs), sum(len(t) for t, _ in pairs), sum(len(p) for _, p in pairs)
        rows.append((right / max(given, 1), right / max(asked, 1), 2 * right / max(asked + given, 1)))
    return tuple(sum(column) / len(rows) for column in zip(*rows))
""",
        ),
        Mistake(
            "1 instead of 0 where the denominator is 0",
            "Your metrics are 1 if the denominator is 0. According to the docstring, a tagger that predicts nothing has "
            "precision 0.",
            edits={
                "right / max(given, 1), right / max(asked, 1)": "right / given if given else 1.0, right / asked if asked else 1.0",
                F1: "2 * right / (asked + given) if asked + given else 1.0",
            },
        ),
        Mistake(
            "Jaccard index instead of F1",
            "You divide by the number of distinct entities on both sides together. This measure is also reasonable (the "
            "Jaccard index), but it is not F1.",
            F1, "right / max(asked + given - right, 1)",
        ),
    ),
    alternatives={
        "one set with the sentence's number in it": """
def entity_f1(truth, predicted):
    t, p = ({(n, *span) for n, tags in enumerate(side) for span in bio_spans(tags)} for side in (truth, predicted))
    precision, recall = len(t & p) / len(p) if p else 0.0, len(t & p) / len(t) if t else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
""",
        "lists instead of sets": """
def entity_f1(truth, predicted):
    right = asked = given = 0
    for t, p in zip(truth, predicted):
        t, p = bio_spans(t), bio_spans(p)
        right, asked, given = right + sum(span in t for span in p), asked + len(t), given + len(p)
    precision = right / given if given > 0 else 0
    recall = right / asked if asked > 0 else 0
    return torch.tensor([precision]), torch.tensor([recall]), torch.tensor(2 * right / (given + asked) if right else 0.0)
""".replace("torch.tensor([precision]), torch.tensor([recall])", "torch.tensor(float(precision)), torch.tensor(float(recall))"),
    },
    survivors={
        "max(asked + given, 2)": "if both sides together contain a single entity, none can be correct, and 0 / 1 equals 0 / 2",
    },
    hints=(
        "What fraction of the predicted entities is correct? What fraction of the true ones was predicted? Which three counts "
        "do you need?",
        "truth, predicted: lists of sentences, each a list of tags. Output: three numbers. An entity is a tuple from your "
        "bio_spans: two entities are the same if their tuples are equal.",
        "for each sentence: the set of true spans, the set of predicted spans\nright = how many are in both; asked = all true "
        "ones; given = all predicted ones, over all sentences\nprecision = right / given, recall = right / asked, F1 = 2 right "
        "/ (asked + given)\n(0 where the denominator is 0)",
        "A near miss: treating (0, 2, PER) in the first sentence and (0, 2, PER) in the second as the same entity. A position has a meaning only within its sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def piece_cases(draw: Draw) -> Iterator[Case]:
    for words, skipped in ((8, None), (11, 7), (14, 9)):
        kind, other = (2 * int(number) + 1 for number in draw.rng.permutation(4)[:2])
        # A B-, its I- and an O with several subwords each; two words of one subword that both begin an entity.
        tags, fixed = [kind, kind + 1, 0, other, other], (2, int(draw.integers(2, 4)), 2, 1, 1)
        while len(tags) < words:
            begin = 2 * int(draw.integers(0, 4)) + 1
            tags += [0] if draw.rng.random() < 0.35 else [begin, *[begin + 1] * int(draw.integers(0, 3))]
        yield {"word_ids": pieces_of(draw, words, skipped, fixed), "tags": np.array(tags[:words])}


PIECE = "-100 if word is None else tags[word] + (word == before) * (tags[word] % 2)"

mended_piece_labels = Exercise(
    mends=True,
    cases=piece_cases,
    rule=Rule("equal", axes={"": "T"}),
    mistakes=(
        Mistake(
            "bug of 2021 unchanged",
            "This is still the code of 2021: if a word begins an entity, each of its subwords begins another entity.",
            PIECE, "-100 if word is None else tags[word]",
        ),
        Mistake(
            "only first subwords labelled",
            "Your function does the same as align_labels. Here, every subword should have a label; the bug concerns only *which* label.",
            PIECE, "-100 if word is None or word == before else tags[word]",
        ),
        Mistake(
            "later subwords labelled O",
            "You label the rest of a word O, so an entity ends after the first subword of any word with several subwords.",
            PIECE, "-100 if word is None else 0 if word == before else tags[word]",
        ),
        Mistake(
            "every tag changed to I-",
            "Your labels contain no B- tag, so no entity is marked as beginning. The first subword of a word that begins an entity should keep its B-.",
            PIECE, "-100 if word is None else tags[word] + tags[word] % 2",
        ),
        Mistake(
            "1 added to every later subword",
            "You also change later subwords of words tagged O or I-, so that they begin new entities.",
            "(tags[word] % 2)", "1",
        ),
        Mistake(
            "I- changed to B-",
            "You change the wrong tags: in your labels, a later subword of an I- word begins a new entity of another type.",
            "(tags[word] % 2)", "((tags[word] + 1) % 2)",
            also=("""
def mended_piece_labels(word_ids, tags):
    labels, before = [], None
    for word in word_ids:
        again = word is not None and word == before and tags[word] > 0 and tags[word] % 2 == 0
        labels.append(-100 if word is None else tags[word] + again)
        before = word
    return torch.tensor(labels)
""",),
        ),
        Mistake(
            "1 added to every later subword of an entity",
            "You handle words tagged O and B- correctly. A later subword of a word tagged I- should keep that tag; in your result, it "
            "begins an entity of another type.",
            "(tags[word] % 2)", "(tags[word] > 0)",
        ),
        Mistake(
            "adjacent subwords with equal tags treated as one word",
            "If two adjacent words each begin an entity of the same type, you merge them into one. Whether a subword "
            "continues a word depends on word_ids, not on the tags.",
            code="""
def mended_piece_labels(word_ids, tags):
    labels = [-100 if word is None else tags[word] for word in word_ids]
    before = [-100, *labels[:-1]]
    return torch.tensor([tag + 1 if tag == last and tag % 2 == 1 else tag for tag, last in zip(labels, before)])
""",
        ),
        Mistake(
            "special tokens labelled O",
            "You label [CLS], [SEP] and padding O. They have no tag, so their label should stay −100.",
            "-100 if", "0 if",
        ),
    ),
    alternatives={
        "a table from tag to tag": """
def mended_piece_labels(word_ids, tags):
    inside = {0: 0, 1: 2, 2: 2, 3: 4, 4: 4, 5: 6, 6: 6, 7: 8, 8: 8}
    labels = []
    for place, word in enumerate(word_ids):
        if word is None:
            labels.append(-100)
        elif place > 0 and word_ids[place - 1] == word:
            labels.append(inside[tags[word]])
        else:
            labels.append(tags[word])
    return torch.tensor(labels)
""",
        "B- first, then corrected": """
def mended_piece_labels(word_ids, tags):
    labels = torch.tensor([-100 if word is None else tags[word] for word in word_ids])
    words = torch.tensor([-1 if word is None else word for word in word_ids])
    again = torch.cat([torch.tensor([False]), words[1:] == words[:-1]]) & (words >= 0)
    labels[again & (labels % 2 == 1)] += 1
    return labels
""",
    },
    hints=(
        "*Haapsalu* is one entity and four subwords. Which four tags would your bio_spans read as one entity?",
        "word_ids: a list of T entries, each a number or None. tags: numbers, 0 for O, odd for B-, the next even one for I- of "
        "the same type. Output: T labels.",
        "for each subword:\n    no word: −100\n    first subword of its word: the tag of the word\n    a later subword: the same, "
        "but B- becomes I-",
        "A near miss: changing odd tags everywhere also removes the beginnings. Only a subword that continues a word may "
        "change.",
    ),
)

# ------------------------------------------------------------------------------------------ spans of an answer


def best_cases(draw: Draw) -> Iterator[Case]:
    """The best start and end are `way` apart; if they form no valid span, the next best pair does."""
    for T, question, max_len, way, level, silence in (
        (19, 4, 4, 4, 0, 0),  # from the best start to the best end: one token too long
        (17, 5, 3, 2, 0, 0),  # exactly max_len tokens
        (18, 3, 6, -2, 0, 0),  # the end comes before the start
        (25, 4, 5, -1, 0, 0),  # directly before the start: a span without a token
        (20, 6, 1, 0, 0, 0),  # only spans of one token are allowed
        (23, 4, 5, 9, -20, -25),  # far too long; every span scores far below 0, and no answer scores even lower
        (15, 7, 5, 3, -20, 1),  # every span scores lower than no answer
        (16, 5, 30, 6, 0, 0),  # max_len is longer than the text
        (21, 3, 7, -5, -20, -10),
        (24, 6, 3, -3, 0, 8),
        (22, 5, 4, 2, 0, 0),
    ):
        # All other scores differ by at most 1, so that only the peaks matter.
        start, end = (draw.uniform(T, low=level - 0.5, high=level + 0.5) for _ in range(2))
        context = (np.arange(T) > question) & (np.arange(T) < T - 1)
        first = question + 1 + max(-way, 0)
        start[first] += 5
        end[first + way] += 5
        if not 0 <= way < max_len:
            # The second-best start and the second-best end form the best span: no valid span with the very best
            # start or end reaches its score.
            start[T - 4] += 4
            end[T - 3] += 4
        start[0] += silence - level
        end[0] += silence - level
        start[1] += 6 - level  # the question also has high scores
        end[2] += 6 - level
        start[T - 2] += 3  # and so does the [SEP] after the text
        end[T - 1] += 9
        yield {"start": start, "end": end, "context": context, "max_len": max_len}


VALID = "context[:, None] & context & (length >= 1) & (length <= max_len)"
MARGIN = "scores[best // T, best % T] - (start[0] + end[0])"

best_span = Exercise(
    cases=best_cases,
    mistakes=(
        Mistake(
            "start and end chosen independently",
            "You choose the first and the last token separately. Together they may not form a span: does your end come before "
            "your start?",
            code="""
def best_span(start, end, context, max_len):
    first, last = start.masked_fill(~context, -torch.inf).argmax(), end.masked_fill(~context, -torch.inf).argmax()
    return first, last, start[first] + end[last] - (start[0] + end[0])
""",
        ),
        Mistake(
            "best start first, then the best end for it",
            "Some of your spans begin at the best start but end where the end score is low. The best pair need not "
            "contain the best start.",
            code="""
def best_span(start, end, context, max_len):
    first = start.masked_fill(~context, -torch.inf).argmax().item()
    last = first + end.masked_fill(~context, -torch.inf)[first : first + max_len].argmax().item()
    return first, last, start[first] + end[last] - (start[0] + end[0])
""",
        ),
        Mistake(
            "best end first, then the best start for it",
            "Some of your spans end at the best end but begin where the start score is low. The best pair need not "
            "contain the best end.",
            code="""
def best_span(start, end, context, max_len):
    last = end.masked_fill(~context, -torch.inf).argmax().item()
    begin = max(last - max_len + 1, 0)
    first = begin + start.masked_fill(~context, -torch.inf)[begin : last + 1].argmax().item()
    return first, last, start[first] + end[last] - (start[0] + end[0])
""",
        ),
        Mistake(
            "search initialised with the score 0",
            "If every span has a score below 0, you do not find any. Initialise the search with minus infinity: the "
            "best of several bad spans is still the best.",
            "best = scores.masked_fill(~valid, -torch.inf)",
            "best = scores.masked_fill(~valid, -torch.inf).clamp(min=0)",
            also=("""
def best_span(start, end, context, max_len):
    best, first, last = 0, 0, 0
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j] and start[i] + end[j] > best:
                best, first, last = (start[i] + end[j]).item(), i, j
    return first, last, best - (start[0] + end[0]).item()
""",),
        ),
        Mistake(
            "no answer included among the spans",
            "You include [CLS] to [CLS], the span for no answer, in your search. Search only the spans of the text. If [CLS] to [CLS] has a higher score than the best of them, the margin is below 0.",
            "valid = context[:, None] & context & ",
            "context = context.clone()\n    context[0] = True\n    valid = context[:, None] & context & ",
        ),
        Mistake(
            "position after the last token",
            "Your last position is one too high: unlike in bio_spans, the second number is the position of the last token itself.",
            "return best // T, best % T,", "return best // T, best % T + 1,",
        ),
        Mistake(
            "end before start allowed",
            "Some of your answers end before they begin. A valid span has at least one token.",
            " & (length >= 1)", "",
        ),
        Mistake(
            "max_len not used",
            "Some of your answers are longer than max_len tokens. Exclude spans that are too long.",
            " & (length <= max_len)", "",
        ),
        Mistake(
            "one token too long",
            "Some of your answers have max_len + 1 tokens: how many tokens are there from 5 to 7?",
            "(length <= max_len)", "(length <= max_len + 1)",
        ),
        Mistake(
            "one token too short",
            "You never return an answer of exactly max_len tokens, although this length is allowed.",
            "(length <= max_len)", "(length < max_len)",
            also=("""
def best_span(start, end, context, max_len):
    best, first, last = -float("inf"), 0, 0
    for i in range(len(start)):
        for j in range(i, min(i + max_len - 1, len(start))):
            if context[i] and context[j] and start[i] + end[j] > best:
                best, first, last = (start[i] + end[j]).item(), i, j
    return first, last, best - (start[0] + end[0]).item()
""",),
        ),
        Mistake(
            "answers from the question",
            "Some of your answers contain tokens of the question or special tokens. Both ends must belong to the text.",
            "context[:, None] & context & ", "",
        ),
        Mistake(
            "end outside the context allowed",
            "Some of your answers begin in the text and end after it. Both ends must belong to the text.",
            "context[:, None] & context & (length >= 1)", "context[:, None] & (length >= 1)",
        ),
        Mistake(
            "answers of one token excluded",
            "You never return an answer of a single token: start and end may be the same position.",
            "(length >= 1)", "(length > 1)",
        ),
        Mistake(
            "rows and columns swapped",
            "Your first and last tokens are swapped. The row of the matrix is the first token.",
            "return best // T, best % T,", "return best % T, best // T,",
        ),
        Mistake(
            "score instead of margin",
            "Your positions are correct. Your third number is the span's score; it should be the amount by which this score exceeds that of no answer.",
            MARGIN, "scores[best // T, best % T]",
        ),
        Mistake(
            "only the start score of no answer subtracted",
            "Your positions are correct. Like any other span, the span for no answer has a start and an end, so its score is the sum of two scores.",
            "(start[0] + end[0])", "start[0]",
        ),
        Mistake(
            "products instead of sums",
            "Your scores are products, so two very negative scores would make a good span. Logits have to be added.",
            "start[:, None] + end[None, :]", "start[:, None] * end[None, :]",
        ),
    ),
    alternatives={
        "two loops": """
def best_span(start, end, context, max_len):
    best, where = -float("inf"), (0, 0)
    for i in range(len(start)):
        for j in range(i, min(i + max_len, len(start))):
            if context[i] and context[j] and start[i] + end[j] > best:
                best, where = (start[i] + end[j]).item(), (i, j)
    return *where, best - (start[0] + end[0]).item()
""",
        "triu and tril": """
def best_span(start, end, context, max_len):
    s, e = (x.double().masked_fill(~context, -1e30) for x in (start, end))
    table = s[:, None] + e
    band = torch.ones_like(table).triu().tril(max_len - 1).bool()
    value, place = table.masked_fill(~band, -1e31).flatten().max(0)
    i, j = divmod(place.item(), len(s))
    return torch.tensor(i), torch.tensor(j), value - start[0] - end[0]
""",
        "numpy, sorted spans": """
import numpy as np
def best_span(start, end, context, max_len):
    start, end, inside = start.numpy(), end.numpy(), np.flatnonzero(context.numpy())
    spans = [(start[i] + end[j], i, j) for i in inside for j in inside if 0 <= j - i < max_len]
    score, i, j = max(spans)
    return int(i), int(j), float(score - start[0] - end[0])
""",
    },
    hints=(
        "Write the scores of all pairs (first, last) for five tokens into a square matrix. Which part of the matrix may "
        "contain the answer?",
        "start[:, None] and end[None, :] give a (T, T) matrix: each row stands for a first token, and each column for a last token. The length of a span "
        "is column − row + 1. context: (T).",
        "scores = start of the row + end of the column\nnot allowed: first or last outside the text, length below 1 or above "
        "max_len\nbest = the position of the largest allowed score\nmargin = its score − (start[0] + end[0])",
        "A near miss: choosing the best start first and then the best end for it. The best pair need not contain the best "
        "start.",
    ),
)

# ------------------------------------------------------------------------------------------ exact match and F1

WORDS = (
    "river bank cell prison guard theatre anthem another hundred metres north island tower clock baker "
    "summer winter bridge two three letter boat garden window silver"
).split()


def written(draw: Draw, words: list[str]) -> str:
    """The words as a person might write them: with capitals, an article, punctuation."""
    text = list(words)
    if draw.rng.random() < 0.5:
        text.insert(int(draw.integers(0, len(text) + 1)), ("the", "a", "an", "The")[int(draw.integers(0, 4))])
    if draw.rng.random() < 0.5:
        text[0] = text[0].capitalize()
    return " ".join(text) + ("", ".", ",", "!")[int(draw.integers(0, 4))]


def answer_cases(draw: Draw) -> Iterator[Case]:
    """Each case contains every kind of question at least once, with random words."""
    for count in (14, 17, 20):
        said, accepted = [], []
        for number in range(count):
            # Words without repetition. The other accepted answers share none of the right answer's words.
            words = [WORDS[i] for i in draw.rng.permutation(len(WORDS))]
            right, rest = words[: int(draw.integers(2, 5))], words[5:]
            others = [written(draw, rest[4 * i : 4 * i + int(draw.integers(1, 5))]) for i in range(number % 3)]
            answers = [*others, written(draw, right)] if number % 2 else [written(draw, right), *others]
            one, answers = {
                0: (written(draw, right), answers),
                1: ("The " + written(draw, right).capitalize() + ".", answers),  # accepted, but written differently
                2: (written(draw, right[:-1]), answers),
                3: (written(draw, [*rest[-2:], *right]), answers),
                4: (written(draw, [*right, right[0], right[0]]), answers),
                5: (written(draw, right[::-1]), answers),
                6: ("", answers),
                7: (written(draw, right), []),
                8: ("", []),
                9: ("The!", []),  # no word on either side
                # The word is shared twice, since it occurs twice on both sides.
                10: (written(draw, [right[0], right[0], rest[0]]), [written(draw, [right[0], right[0], *right[1:]])]),
                # No match: the second accepted answer shares the most words with the one given, then the first.
                11: (written(draw, right), [rest[0], written(draw, [*right, rest[1]])]),
                12: (written(draw, right), [written(draw, [*right, rest[1]]), rest[0]]),
                13: ("an", ["The", rest[0]]),  # one accepted answer has no words
            }[number % 14]
            said.append(one)
            accepted.append(answers)
        yield {
            "said": said,
            "accepted": [answer for answers in accepted for answer in answers],
            "counts": np.array([len(answers) for answers in accepted]),
        }


MATCH = "same = said_words == words"
RAW_MATCH = """
def exact_match_and_f1(said, accepted):
    exact = f1 = 0.0
    for answer in accepted or [""]:
        a, b = words_of(said), words_of(answer)
        exact = max(exact, float(said == answer))
        f1 = max(f1, 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b)) if a or b else 1.0)
    return exact, f1
"""
RAW_WORDS = """
def exact_match_and_f1(said, accepted):
    exact = f1 = 0.0
    for answer in accepted or [""]:
        a, b = said.split(), answer.split()
        exact = max(exact, float(a == b))
        f1 = max(f1, 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b)) if a or b else 1.0)
    return exact, f1
"""
SHARE = "1.0 if same else 2 * shared / (len(said_words) + len(words))"
BEST = "f1 = max(f1, "

exact_match_and_f1 = Exercise(
    cases=answer_cases,
    rule=Rule("close", 1e-6, axes={"": "questions measures"}),
    mistakes=(
        Mistake(
            "only the first accepted answer",
            "You compare only with the first accepted answer. Use the best score over all of them.",
            'in accepted or [""]:', 'in accepted[:1] or [""]:',
        ),
        Mistake(
            "mean over the accepted answers",
            "You average over the accepted answers, so a correct answer scores only half if a second one is accepted. Use the "
            "best score.",
            edits={"exact = max(exact, float(same))": 'exact += float(same) / len(accepted or [""])',
             "f1 = max(f1, 1.0 if same else 2 * shared / (len(said_words) + len(words)))":
             'f1 += (1.0 if same else 2 * shared / (len(said_words) + len(words))) / len(accepted or [""])'},
        ),
        Mistake(
            "last accepted answer",
            "Only the last accepted answer counts: each one overwrites the scores of the one before it.",
            edits={"exact = max(exact, float(same))": "exact = float(same)",
             "f1 = max(f1, 1.0 if same else 2 * shared / (len(said_words) + len(words)))":
             "f1 = 1.0 if same else 2 * shared / (len(said_words) + len(words))"},
        ),
        Mistake(
            "text not normalised",
            "You count a capital letter, a full stop or a *the* as an error: use words_of on both sides.",
            edits={MATCH: "same = said == answer", SHARE: "1.0 if same else 2 * shared / max(len(said_words) + len(words), 1)"},
            also=(RAW_MATCH, RAW_WORDS),
        ),
        Mistake(
            "word order ignored",
            "You count the same words in a different order as an exact match. The order must also be the same.",
            MATCH, "same = sorted(said_words) == sorted(words)",
        ),
        Mistake(
            "sets of words",
            "You compare sets, which discard repetitions. A word said three times and accepted once is shared once, but counts "
            "three times among the words said.",
            edits={"shared = (Counter(said_words) & Counter(words)).total()": "shared = len(set(said_words) & set(words))",
             "(len(said_words) + len(words))": "max(len(set(said_words)) + len(set(words)), 1)"},
        ),
        Mistake(
            "each word shared at most once",
            "A word that occurs twice on both sides is shared twice, but you count it once, as a set does.",
            "shared = (Counter(said_words) & Counter(words)).total()", "shared = len(set(said_words) & set(words))",
        ),
        Mistake(
            "F1 of 0 where neither side has a word",
            "Your exact match is correct. If neither side has a word, F1 is 1 according to the docstring, but yours is 0.",
            SHARE, "2 * shared / max(len(said_words) + len(words), 1)",
        ),
        Mistake(
            "empty answer always correct",
            "You give the full score to every empty answer. This is correct only if no answer is accepted, or if an accepted "
            "answer has no words.",
            code="""
def exact_match_and_f1(said, accepted):
    exact = f1 = 0.0
    a = words_of(said)
    for answer in accepted or [""]:
        b = words_of(answer)
        exact = max(exact, float(a == b or not a))
        f1 = max(f1, 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b)) if a else 1.0)
    return exact, f1
""",
        ),
        Mistake(
            "both scores from one accepted answer",
            "You choose one accepted answer and take both scores from it. Use the best value of each score: F1 may "
            "come from another answer.",
            code="""
def exact_match_and_f1(said, accepted):
    marks = []
    for answer in accepted or [""]:
        a, b = words_of(said), words_of(answer)
        f1 = 2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b)) if a or b else 1.0
        marks.append((float(a == b), f1))
    return max(marks, key=lambda mark: mark[0])
""",
        ),
        Mistake(
            "every repetition counted as shared",
            "You count a word said three times as shared three times, although the accepted answer contains it only once.",
            "shared = (Counter(said_words) & Counter(words)).total()",
            "shared = sum(word in words for word in said_words)",
        ),
        Mistake(
            "precision instead of F1",
            "You give a single correct word the full score, because you compute precision. What about the words that are missing?",
            "2 * shared / (len(said_words) + len(words))", "shared / max(len(said_words), 1)",
        ),
        Mistake(
            "recall instead of F1",
            "You give an answer that repeats the whole text the full score, because you compute recall. What about the superfluous words?",
            "2 * shared / (len(said_words) + len(words))", "shared / max(len(words), 1)",
        ),
        Mistake(
            "empty answer never correct",
            "If no answer is accepted, the empty answer is correct: it should score 1 on both metrics.",
            'in accepted or [""]:', "in accepted:",
        ),
        Mistake(
            "letters instead of words",
            "Your F1 counts letters, and almost any two answers share some letters. Count words.",
            code="""
def exact_match_and_f1(said, accepted):
    exact = f1 = 0.0
    for answer in accepted or [""]:
        same = words_of(said) == words_of(answer)
        a, b = "".join(words_of(said)), "".join(words_of(answer))
        shared = (Counter(a) & Counter(b)).total()
        exact, f1 = max(exact, float(same)), max(f1, 1.0 if same else 2 * shared / (len(a) + len(b)))
    return exact, f1
""",
        ),
    ),
    alternatives={
        "precision and recall": """
def exact_match_and_f1(said, accepted):
    def one(answer):
        p, t = words_of(said), words_of(answer)
        if not p or not t:
            return float(p == t), float(p == t)
        common = sum(min(p.count(word), t.count(word)) for word in set(p))
        if common == 0:
            return 0.0, 0.0
        precision, recall = common / len(p), common / len(t)
        return float(p == t), 2 * precision * recall / (precision + recall)
    scores = [one(answer) for answer in (accepted if accepted else [""])]
    return max(score[0] for score in scores), max(score[1] for score in scores)
""",
        "words crossed off a list": """
def exact_match_and_f1(said, accepted):
    best = [0.0, 0.0]
    for answer in accepted or [""]:
        left, words = words_of(answer), words_of(said)
        total = len(left) + len(words)
        match = " ".join(left) == " ".join(words)
        hits = 0
        for word in words:
            if word in left:
                left.remove(word)
                hits += 1
        best = [max(best[0], 1.0 * match), max(best[1], 1.0 if match else 2 * hits / total)]
    return torch.tensor(best[0], dtype=torch.float64), torch.tensor(best[1], dtype=torch.float64)
""",
    },
    hints=(
        "The accepted answers are \"340 metres\" and \"about 340 metres\"; the answer given is \"The 340 metres.\" Which "
        "of the two accepted answers counts, and which words are compared?",
        "said: a string. accepted: a list of strings, possibly empty. words_of returns a list of words. Output: two numbers "
        "from 0 to 1.",
        "for each accepted answer (if there is none: the empty one):\n    exact: are the two lists of words the same?\n    "
        "shared words, each as often as it occurs on both sides; F1 = 2 · shared / (all words of both), and 1 if the lists are "
        "the same\nthe best value of each score over the answers",
        "A near miss: two empty lists share nothing, and 0/0 is not a number. An empty answer to a question without an answer "
        "is correct.",
    ),
)

# ------------------------------------------------------------------------------------------ extension: when to abstain


def threshold_cases(draw: Draw) -> Iterator[Case]:
    """Scores have few binary digits, so that the order of addition does not matter; no two sums are equal."""
    for n, kind in ((9, "mixed"), (14, "around 0"), (20, "mixed"), (12, "around 0"), (17, "mixed"), (8, "all"), (11, "none")):
        while True:
            answerable = draw.rng.permutation(np.arange(n) < {"all": n, "none": n // 3}.get(kind, (2 * n) // 3))
            f1 = np.where(answerable, draw.integers(400, 3800, n) / 4096, 0).astype(np.float32)
            margins = draw.normal(n, scale=2.0) + {"none": -1.5}.get(kind, 1.5) * answerable.astype(np.float32)
            sums = threshold_sums(margins, f1, answerable)
            order = np.sort(margins)
            best = int(sums.argmax())  # the number of questions left unanswered
            wanted = {
                "mixed": 0 < best < n,
                "around 0": 0 < best < n and order[best - 1] < -0.1 and order[best] > 0.1,
                "all": best == 0,  # answering every question is best
                "none": best == n,  # answering none is best
            }
            if wanted[kind] and len(set(sums)) == n + 1 and np.diff(order).min() > 1e-3:
                break
        yield {"margins": margins, "f1": f1, "answerable": answerable}


def threshold_sums(margins: np.ndarray, f1: np.ndarray, answerable: np.ndarray) -> np.ndarray:
    """The total score if the questions with the 0, 1, 2, … lowest margins are not answered."""
    order = margins.argsort()
    gain = (~answerable[order]).astype(float) - f1[order]
    return np.concatenate([[0], gain.cumsum()]) + f1.sum(dtype=float)


CANDIDATES = "torch.cat([torch.tensor([-torch.inf]), margins])"
GIVEN = "margins > candidates[:, None]"
SCORED = "torch.where(given, f1, (~answerable).float()).mean(dim=1)"

best_threshold = Exercise(
    cases=threshold_cases,
    rule=Rule("close", 1e-5),
    mistakes=(
        Mistake(
            "abstention never rewarded",
            "According to your function, answering everything is always best. However, abstaining earns 1 if no answer exists.",
            "(~answerable).float()", "torch.zeros_like(f1)",
        ),
        Mistake(
            "abstention always rewarded",
            "You also reward abstaining if an answer exists. In that case, abstaining should earn 0.",
            "(~answerable).float()", "torch.ones_like(f1)",
        ),
        Mistake(
            "abstention rewarded where an answer exists",
            "Your rewards are reversed: abstaining earns 1 if there is *no* answer.",
            "(~answerable).float()", "answerable.float()",
        ),
        Mistake(
            "index instead of threshold",
            "Your score is correct. Your first number is the index of the threshold in your list; return the threshold itself.",
            "return candidates[best], scores[best]", "return best, scores[best]",
        ),
        Mistake(
            "0 as an additional threshold",
            "Your score is correct. However, you also try 0 as a threshold, which cannot improve the score: use only "
            "minus infinity and the margins as thresholds.",
            CANDIDATES, "torch.cat([torch.tensor([0.0, -torch.inf]), margins])",
        ),
        Mistake(
            "answered below the threshold",
            "You give only those answers of which the model is least certain. Answer a question if its margin is *above* the threshold.",
            GIVEN, "margins < candidates[:, None]",
        ),
        Mistake(
            "answered at the threshold",
            "You also answer the question whose margin equals the threshold, so you never try answering nothing. Answer only "
            "*above* the threshold.",
            GIVEN, "margins >= candidates[:, None]",
        ),
        Mistake(
            "minus infinity not tried",
            "If giving every answer is best, you withhold one of them: also try minus infinity as a threshold.",
            CANDIDATES, "margins",
        ),
        Mistake(
            "mean over answered questions only",
            "You divide by the number of answered questions, so abstaining costs nothing. All questions should count.",
            SCORED, "(f1 * given).sum(dim=1) / given.sum(dim=1).clamp(min=1)",
        ),
        Mistake(
            "worst threshold",
            "You return the threshold with the lowest score. Return the one with the highest.",
            "scores.argmax()", "scores.argmin()",
        ),
        Mistake(
            "sum instead of mean",
            "Your second number is a sum, so it grows with the number of questions. Return the mean.",
            ".mean(dim=1)", ".sum(dim=1)",
        ),
    ),
    alternatives={
        "a loop": """
def best_threshold(margins, f1, answerable):
    best = (float("-inf"), -1.0)
    for t in [float("-inf"), *margins.tolist()]:
        points = [float(f) if m > t else float(not a) for m, f, a in zip(margins.tolist(), f1, answerable)]
        score = sum(points) / len(points)
        if score > best[1]:
            best = (t, score)
    return best
""",
        "one pass over the sorted margins": """
def best_threshold(margins, f1, answerable):
    order = margins.argsort()
    gain = (~answerable[order]).double() - f1[order].double()
    totals = torch.cat([f1.double().sum()[None], f1.double().sum() + gain.cumsum(0)])
    thresholds = torch.cat([torch.tensor([-torch.inf]), margins[order]])
    return thresholds[totals.argmax()], totals.max() / len(f1)
""",
    },
    hints=(
        "Sort the questions by margin and move a threshold from below all of them to above all of them. What happens to the "
        "score when it passes one question?",
        "margins, f1, answerable: (n). There are n + 1 thresholds to try: minus infinity and each margin. Answered or not: (n "
        "+ 1, n). Output: two numbers.",
        "for each threshold:\n    a question with a margin above it earns its f1; any other earns 1 if it has no answer, else "
        "0\n    score = the mean over all questions\nreturn the threshold with the best score, and that score",
        "A near miss: `>=` also answers the question exactly at the threshold, so that another threshold gets the same score.",
    ),
)
