"""06 BERT: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from coursekit.asking import Case
from coursekit.judging import Rule

UNCHOSEN = -100


def rows_with_padding(draw: Draw, batch: int, tokens: int, words: int, pad: int) -> np.ndarray:
    """Ids of words, all different from pad; the first row has three tokens of padding, the second none."""
    ids = draw.integers(7, 7 + words, batch, tokens)
    lengths = draw.integers(2, tokens, batch)
    lengths[0], lengths[1] = tokens - 3, tokens
    return np.where(np.arange(tokens) < lengths[:, None], ids, pad)


# ------------------------------------------------------------------------------------------ labels from text


def label_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, pad in ((2, 8, 0), (4, 6, 0), (3, 11, 5), (5, 7, 3)):
        ids = rows_with_padding(draw, batch, tokens, 900, pad)
        chosen = (draw.uniform(batch, tokens) < 0.4) & (ids != pad)
        chosen[:, 0] = True
        yield {"ids": ids, "chosen": chosen, "pad": pad}


FOLLOWING = "torch.cat([ids[:, 1:], nothing], dim=1)"
CAUSAL = "following.masked_fill(following == pad, UNCHOSEN)"

lm_examples = Exercise(
    name="bert.lm_examples",
    cases=label_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "causal labels not shifted",
            "In your first result every word has to say itself: it would only have to copy. Which word comes after it?",
            {FOLLOWING: "ids.clone()", CAUSAL: "following.masked_fill(following == pad, UNCHOSEN)"},
        ),
        Mistake(
            "causal labels shifted the other way",
            "In your first result every word has to say the one before it, which it can see.",
            {FOLLOWING: "torch.cat([nothing, ids[:, :-1]], dim=1)"},
        ),
        Mistake(
            "the first word as the last one's successor",
            "Your last column holds the words of the first: behind the last place nothing follows.",
            {FOLLOWING: "torch.roll(ids, -1, dims=1)"},
        ),
        Mistake(
            "padding as a label",
            "In your first result the last word of a short sentence has to say padding, and padding has to say padding. "
            "That is nothing to learn from.",
            {CAUSAL: "following"},
        ),
        Mistake(
            "no label at padding only where padding stands",
            "In your first result the last word of a short sentence still has to say the padding behind it.",
            {CAUSAL: "following.masked_fill(ids == pad, UNCHOSEN)"},
        ),
        Mistake(
            "masked labels where nothing was chosen",
            "Your second result has labels exactly where none was asked for.",
            {"ids.masked_fill(~chosen, UNCHOSEN)": "ids.masked_fill(chosen, UNCHOSEN)"},
        ),
        Mistake(
            "masked labels shifted too",
            "Your second result is one place off: a masked word is to be said at its own place.",
            {"ids.masked_fill(~chosen, UNCHOSEN)": "following.masked_fill(~chosen, UNCHOSEN)"},
        ),
        Mistake(
            "masked labels everywhere",
            "Your second result asks for every word, also for those that can be read off the input.",
            {"ids.masked_fill(~chosen, UNCHOSEN)": "ids.masked_fill(ids == pad, UNCHOSEN)"},
        ),
        Mistake(
            "0 where there is nothing to say",
            "Where there is nothing to say you have 0, which is the id of a token. The docstring names another number.",
            {
                CAUSAL: "following.masked_fill((following == pad) | (following < 0), 0)",
                "ids.masked_fill(~chosen, UNCHOSEN)": "ids.masked_fill(~chosen, 0)",
            },
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (causal, masked).",
            {"return causal, masked": "return masked, causal"},
        ),
    ),
    alternatives={
        "full of -100, then filled": """
def lm_examples(ids, chosen, pad):
    causal, masked = torch.full_like(ids, -100), torch.full_like(ids, -100)
    real = ids[:, 1:] != pad
    causal[:, :-1][real] = ids[:, 1:][real]
    masked[chosen] = ids[chosen]
    return causal, masked
""",
        "loops over numpy": """
import numpy as np
def lm_examples(ids, chosen, pad):
    ids, chosen = ids.numpy(), chosen.numpy()
    B, T = ids.shape
    causal, masked = np.full((B, T), -100), np.full((B, T), -100)
    for b in range(B):
        for t in range(T):
            if t + 1 < T and ids[b, t + 1] != pad:
                causal[b, t] = ids[b, t + 1]
            if chosen[b, t]:
                masked[b, t] = ids[b, t]
    return causal, masked
""",
        "torch.where": """
def lm_examples(ids, chosen, pad):
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    return torch.where(following == pad, -100, following), torch.where(chosen, ids, -100)
""",
    },
    hints=(
        "Put a finger on a word. What does the first kind of model have to say there, and what the second? When is there nothing to say?",
        "In: (B, T) twice. Out: two tensors (B, T). The label that belongs to column t stands in column t; column T − 1 of the first has no successor.",
        "causal:  at t the id of t + 1; −100 in the last column and wherever that id is padding\nmasked:  at t the id of t if it was chosen, else −100",
        "Near miss: `ids[:, 1:]` alone is one column too short, and `roll` fills the gap with the first word of the sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ word pieces


def piece_cases(draw: Draw) -> Iterator[Case]:
    """Vocabularies of made-up pieces, and words that try the matching: [UNK] among them, as a whole and at the end.

    One word is planted: its longest first piece leads nowhere, while a shorter one would have led to its end.
    """
    for letters, many, words in (("abno", 34, 22), ("eilrst", 48, 30), ("adgmu", 40, 26)):
        start, inside, last = letters[1:3], letters[0], letters[-1]
        planted = [start, start + inside, "##" + inside + last]
        pieces = [
            piece for piece in _pieces(draw, letters, many) if piece not in (*planted, start + inside + last)
        ]
        pieces = [str(piece) for piece in draw.rng.permutation([*pieces, *planted])]
        ids = draw.rng.permutation(30_000)[: len(pieces)]
        asked = [*_words(draw, letters, pieces, words), start + inside + last]
        yield {"words": asked, "pieces": pieces, "ids": ids}


def _string(draw: Draw, letters: str, low: int, high: int) -> str:
    return "".join(draw.rng.choice(list(letters), draw.rng.integers(low, high)))


def _pieces(draw: Draw, letters: str, many: int) -> list[str]:
    """Special tokens, single letters (all but the last also inside words), and `many` longer pieces, half with ##."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{letter}" for letter in letters[:-1]),
    ]
    while len(pieces) < 4 + 2 * len(letters) + many:
        text = _string(draw, letters, 2, 4) if len(pieces) % 4 else _string(draw, letters, 4, 6)
        piece = f"##{text}" if len(pieces) % 2 else text
        if piece not in pieces:
            pieces.append(piece)
    return pieces


def _words(draw: Draw, letters: str, pieces: list[str], many: int) -> list[str]:
    """Whole words of the vocabulary, words put together from pieces, random words, and words with a strange letter."""
    whole = [piece for piece in pieces if not piece.startswith(("[", "#")) and len(piece) > 1]
    inner = [piece[2:] for piece in pieces if piece.startswith("##")]
    choose = draw.rng.choice
    words = list(choose(whole, 3, replace=False))
    while len(words) < many:
        kind = len(words) % 5
        if kind == 0:
            words.append(_string(draw, letters, 3, 8))
        elif kind == 4:
            words.append(choose(whole) + choose(inner) + choose(["y", letters[-1] + "y"]))
        else:
            words.append(choose(whole) + "".join(choose(inner, draw.rng.integers(1, 3))))
    return [str(word) for word in words]


INSIDE = 'piece = word[start:end] if start == 0 else "##" + word[start:end]'
LONGEST_FIRST = "range(len(word), start, -1)"
UNKNOWN = 'return [vocab["[UNK]"]]'

wordpiece = Exercise(
    name="bert.wordpiece",
    cases=piece_cases,
    rule=Rule("equal", axes={"": "words pieces"}),
    mistakes=(
        Mistake(
            "the ## forgotten",
            "Your pieces inside a word are looked up like whole words: the id of a piece that continues a word is the one with ##.",
            {INSIDE: "piece = word[start:end]"},
        ),
        Mistake(
            "## at the beginning too",
            "Your words begin with pieces that continue one: the first piece of a word stands without ##.",
            {INSIDE: 'piece = "##" + word[start:end]'},
        ),
        Mistake(
            "the shortest piece first",
            "Your words fall into single letters. At each place the *longest* piece that fits is taken.",
            {LONGEST_FIRST: "range(start + 1, len(word) + 1)"},
        ),
        Mistake(
            "the pieces found so far kept before [UNK]",
            "Where a word cannot be finished, you keep the pieces in front: the rest of the word is lost without anyone noticing. "
            "The whole word becomes a single [UNK].",
            {UNKNOWN: 'return pieces + [vocab["[UNK]"]]'},
        ),
        Mistake(
            "an [UNK] for each letter that does not fit",
            "Your words have [UNK] among their pieces. A word that cannot be cut up is one [UNK] as a whole.",
            {UNKNOWN: 'pieces.append(vocab["[UNK]"]); start += 1; continue'},
        ),
        Mistake(
            "the rest of the word left out",
            "Where a word cannot be finished, you return its beginning as if it were the word.",
            {UNKNOWN: "return pieces"},
        ),
        Mistake(
            "one letter skipped after each piece",
            "Your second pieces begin one letter too late: the next piece begins where this one ended.",
            {"start = end": "start = end + 1"},
        ),
        Mistake(
            "the whole word never tried",
            "Words that stand in the vocabulary as they are come out cut up.",
            {LONGEST_FIRST: "range(max(len(word) - 1, start + 1), start, -1)"},
        ),
        Mistake(
            "matched from the end of the word",
            "You take the longest *ending* first. WordPiece reads from the left: the longest beginning, then the longest beginning of the rest.",
            code="""
def wordpiece(word, vocab):
    pieces, end = [], len(word)
    while end > 0:
        for start in range(end):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        pieces.insert(0, vocab[piece])
        end = start
    return pieces
""",
        ),
        Mistake(
            "another way tried where the longest piece leads nowhere",
            "You find pieces for words that should be [UNK]: greedy matching never takes a piece back.",
            code="""
def wordpiece(word, vocab):
    def rest(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                following = rest(end)
                if following is not None:
                    return [vocab[piece], *following]
        return None
    found = rest(0)
    return [vocab["[UNK]"]] if found is None else found
""",
        ),
    ),
    alternatives={
        "the word eaten from the left": """
def wordpiece(word, vocab):
    found, mark = [], ""
    while word:
        lengths = [n for n in range(1, len(word) + 1) if mark + word[:n] in vocab]
        if not lengths:
            return [vocab["[UNK]"]]
        found.append(vocab[mark + word[: lengths[-1]]])
        word, mark = word[lengths[-1] :], "##"
    return found
""",
        "recursion": """
def wordpiece(word, vocab, mark=""):
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocab:
            rest = wordpiece(word[end:], vocab, "##") if word[end:] else []
            return rest if rest == [vocab["[UNK]"]] else [vocab[mark + word[:end]], *rest]
    return [vocab["[UNK]"]]
""",
        "a tensor of ids": """
def wordpiece(word, vocab):
    ids, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ("##" if start else "") + word[start:end] not in vocab:
            end -= 1
        if end == start:
            return torch.tensor([vocab["[UNK]"]])
        ids.append(vocab[("##" if start else "") + word[start:end]])
        start = end
    return torch.tensor(ids)
""",
    },
    hints=(
        "Cover the word with your hand and show less and less of it, from the right, until you read a piece that is in the vocabulary. "
        "What do you do with the letters still covered, and what if nothing is left to show?",
        "In: a string and a dictionary from pieces to ids. Out: a list of ids, one for each piece, in order; or a list with the one id of [UNK].",
        "start at the first letter\nwhile letters are left:\n    the longest text from start that is in the vocabulary (with ## in front unless it begins the word)\n"
        "    none? the whole word is [UNK]\n    keep its id; go on where it ended",
        "Near miss: for *unforgettable*, looking up `forget` instead of `##forget` after `un` finds a piece too, but that one begins a word.",
    ),
)

# ------------------------------------------------------------------------------------------ a pair of sentences


def pair_cases(draw: Draw) -> Iterator[Case]:
    sizes = ((4, 6, 16), (5, 3, 11), (9, 4, 14), (3, 10, 12), (7, 7, 12), (8, 11, 13), (6, 9, 21))
    for first, second, T in sizes:
        words = draw.rng.permutation(np.arange(10, 9_000))
        cls, sep, pad = (int(word) for word in words[-3:])
        yield {
            "a": words[:first],
            "b": words[first : first + second],
            "T": T,
            "cls": cls,
            "sep": sep,
            "pad": pad,
        }


SHORTEN = "longer = a if len(a) > len(b) else b"
FIRST, SECOND = "first = [cls, *a, sep]", "second = [*b, sep]"
SEGMENTS = "torch.tensor([0] * len(first) + [1] * len(second) + [0] * rest)"

encode_pair = Exercise(
    name="bert.encode_pair",
    cases=pair_cases,
    rule=Rule("equal", axes={"0": "T", "1": "T", "2": "T"}),
    mistakes=(
        Mistake(
            "the first [SEP] counted to the second sentence",
            "Your ids are right. The segment changes one token too early: the [SEP] that ends the first sentence belongs to it.",
            {SEGMENTS: "torch.tensor([0] * (len(first) - 1) + [1] * (len(second) + 1) + [0] * rest)"},
        ),
        Mistake(
            "a [CLS] before each sentence",
            "There are two [CLS] in your ids: one stands at the very beginning, for both sentences.",
            {SECOND: "second = [cls, *b, sep]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 4 > T"},
        ),
        Mistake(
            "no [SEP] at the end",
            "Your second sentence is not closed by a [SEP].",
            {SECOND: "second = [*b]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 2 > T"},
        ),
        Mistake(
            "the last [SEP] cut off",
            "Where the pair is too long, you cut the finished row: the [SEP] at the end is lost, and only the second sentence gets shorter.",
            code="""
def encode_pair(a, b, T, cls, sep, pad):
    first, second = [cls, *a.tolist(), sep], [*b.tolist(), sep]
    rest = max(0, T - len(first) - len(second))
    ids = torch.tensor((first + second + [pad] * rest)[:T])
    segments = torch.tensor(([0] * len(first) + [1] * len(second) + [0] * rest)[:T])
    return ids, segments, torch.arange(T) < len(first) + len(second)
""",
        ),
        Mistake(
            "only the second sentence shortened",
            "Pairs that fit are right. In the others you always take from the second sentence, also where the first is the longer one.",
            {SHORTEN: "longer = b"},
        ),
        Mistake(
            "of two equally long, the first shortened",
            "Pairs that fit are right. Where both sentences have the same number of tokens, you take from the first; the docstring settles that.",
            {SHORTEN: "longer = a if len(a) >= len(b) else b"},
        ),
        Mistake(
            "the beginning of the longer one cut off",
            "Pairs that fit are right. In the others words are missing at the beginning of a sentence; the last ones go.",
            {"longer.pop()": "longer.pop(0)"},
        ),
        Mistake(
            "padding as part of the second sentence",
            "Your ids are right. Your segments are 1 at the padding too.",
            {SEGMENTS: "torch.tensor([0] * len(first) + [1] * (len(second) + rest))"},
        ),
        Mistake(
            "keep inverted",
            "Your keep is True at the padding. In this course True means: may be looked at.",
            {"torch.arange(T) < T - rest": "torch.arange(T) >= T - rest"},
        ),
        Mistake(
            "segments 1 and 2",
            "Your segments count from 1; the table has rows 0 and 1.",
            {SEGMENTS: "torch.tensor([1] * len(first) + [2] * len(second) + [0] * rest)"},
        ),
        Mistake(
            "the special tokens not kept",
            "Your keep is False at [CLS] and [SEP]. They are tokens like all others: only padding is not to be looked at.",
            {"torch.arange(T) < T - rest": "(ids != cls) & (ids != sep) & (ids != pad)"},
        ),
    ),
    alternatives={
        "torch.cat, lengths computed at once": """
def encode_pair(a, b, T, cls, sep, pad):
    room = T - 3
    na, nb = len(a), len(b)
    over = max(0, na + nb - room)
    for _ in range(over):
        if na > nb:
            na -= 1
        else:
            nb -= 1
    one = lambda x: torch.tensor([x])
    ids = torch.cat([one(cls), a[:na], one(sep), b[:nb], one(sep)])
    segments = (torch.arange(len(ids)) > na + 1).long()
    full, segs, keep = torch.full((T,), pad), torch.zeros(T, dtype=torch.long), torch.zeros(T, dtype=torch.bool)
    full[: len(ids)], segs[: len(ids)], keep[: len(ids)] = ids, segments, True
    return full, segs, keep
""",
        "numpy, keep as zeros and ones": """
import numpy as np
def encode_pair(a, b, T, cls, sep, pad):
    a, b = list(a.numpy()), list(b.numpy())
    while len(a) + len(b) > T - 3:
        (a if len(a) > len(b) else b).pop()
    ids = np.full(T, pad)
    text = [cls] + a + [sep] + b + [sep]
    ids[: len(text)] = text
    segments = np.zeros(T, dtype=int)
    segments[len(a) + 2 : len(text)] = 1
    keep = np.zeros(T)
    keep[: len(text)] = 1
    return ids, segments, keep
""",
    },
    hints=(
        "Write the row for the sentences (7, 8) and (9) with T = 10 on paper: ids, segments, keep. How many places are taken by special tokens?",
        "Out: three tensors of T each. Of the T places 3 are [CLS] and two [SEP], so at most T − 3 words fit.",
        "while the words do not fit: drop the last one of the longer sentence (equally long: of b)\n"
        "first part = [CLS], a, [SEP];  second part = b, [SEP];  then padding up to T\nsegments: 0 for the first part, 1 for the second, 0 for padding",
        "Near miss: `row[:T]` also makes T tokens, but it cuts off the [SEP] that closes the pair.",
    ),
)

# ------------------------------------------------------------------------------------------ embeddings


def embed_cases(draw: Draw) -> Iterator[Case]:
    for B, T, D, V, P in ((2, 5, 4, 11, 9), (3, 7, 6, 9, 8), (4, 6, 3, 13, 12)):
        lengths = draw.integers(2, T - 1, B)
        yield {
            "ids": draw.integers(0, V, B, T),
            "segments": (np.arange(T) >= lengths[:, None]).astype(np.int64),
            "token_table": draw.normal(V, D),
            "segment_table": draw.normal(2, D),
            "position_table": draw.normal(P, D),
        }


SUM = "token_table[ids] + segment_table[segments] + position_table[:T]"

embed = Exercise(
    name="bert.embed",
    cases=embed_cases,
    rule=Rule("close", 1e-4, axes={"": "B T D"}),
    mistakes=(
        Mistake(
            "no segments",
            "Your answer does not change when the segments do.",
            {SUM: "token_table[ids] + position_table[:T]"},
        ),
        Mistake(
            "no positions",
            "The same word in the same segment gets the same vector wherever it stands.",
            {SUM: "token_table[ids] + segment_table[segments]"},
        ),
        Mistake(
            "no tokens",
            "Your answer does not change when the ids do.",
            {SUM: "(segment_table[segments] + position_table[:T])"},
        ),
        Mistake(
            "positions by ids",
            "Your position vectors are looked up with the ids: a position is where a token stands, not which it is.",
            {"position_table[:T]": "position_table[ids.clamp(max=len(position_table) - 1)]"},
        ),
        Mistake(
            "positions counted from 1",
            "Your positions are one off. The first token has position 0.",
            {"position_table[:T]": "position_table[1 : T + 1]"},
        ),
        Mistake(
            "positions that start again in the second sentence",
            "Right in the first sentence. In the second your positions start again from 0; in BERT they run on.",
            {
                "position_table[:T]": "position_table[torch.where(segments == 1, torch.arange(T) "
                "- (segments == 0).sum(1, keepdim=True), torch.arange(T))]"
            },
        ),
        Mistake(
            "the mean instead of the sum",
            "Your vectors are right up to one factor: the three are added, not averaged.",
            {SUM: f"({SUM}) / 3"},
        ),
        Mistake(
            "the tokens scaled by √D",
            "The original transformer multiplied its token vectors by √D. BERT does not.",
            {"token_table[ids]": "token_table[ids] * token_table.shape[1] ** 0.5"},
        ),
        Mistake(
            "segments inverted",
            "Your first sentence has the vector of the second and the other way round.",
            {"segment_table[segments]": "segment_table[1 - segments]"},
        ),
        Mistake(
            "already normalised",
            "Your vectors have mean 0 and variance 1: the layer norm is the next step, not this one.",
            {SUM: f"torch.nn.functional.layer_norm({SUM}, token_table.shape[1:])"},
        ),
    ),
    alternatives={
        "F.embedding, positions as ids": """
def embed(ids, segments, token_table, segment_table, position_table):
    look = torch.nn.functional.embedding
    places = torch.arange(ids.shape[1]).expand_as(ids)
    return look(ids, token_table) + look(segments, segment_table) + look(places, position_table)
""",
        "one-hot products, in float64": """
def embed(ids, segments, token_table, segment_table, position_table):
    hot = torch.nn.functional.one_hot
    tokens = hot(ids, len(token_table)).double() @ token_table.double()
    sides = hot(segments, 2).double() @ segment_table.double()
    return tokens + sides + position_table[None, : ids.shape[1]].double()
""",
        "a loop over the tokens": """
def embed(ids, segments, token_table, segment_table, position_table):
    rows = []
    for sentence, sides in zip(ids, segments):
        rows.append(torch.stack([token_table[i] + segment_table[s] + position_table[t] for t, (i, s) in enumerate(zip(sentence, sides))]))
    return torch.stack(rows)
""",
    },
    hints=(
        "Three things are known of each token: which it is, to which sentence it belongs, where it stands. Each has a table. What happens to the three vectors?",
        "token_table[…] must be (B, T, D), and so must the segments'. Of the positions' table T rows are needed: (T, D), the same for each sentence.",
        "vector of the token = row of its id + row of its segment + row of its place",
        "Near miss: `position_table[ids]` runs without an error and gives each *word* a second vector of its own.",
    ),
)

# ------------------------------------------------------------------------------------------ corruption


def corrupt_cases(draw: Draw) -> Iterator[Case]:
    """About half of the draws lie near the thresholds, some exactly on them."""
    for B, T, V in ((3, 24, 60), (5, 18, 90), (4, 31, 75)):
        cls, sep, pad, mask = (int(i) for i in draw.rng.permutation(np.arange(V, V + 9))[:4])
        ids = draw.integers(0, V, B, T)
        lengths = draw.integers(T // 2, T - 1, B)
        places = np.arange(T)
        ids = np.where(places < lengths[:, None], ids, pad)
        ids[:, 0], ids[places == lengths[:, None] - 1] = cls, sep
        choice = draw.rng.random((B, T)) * np.where(draw.rng.random((B, T)) < 0.6, 0.2, 1.0)
        change = draw.rng.random((B, T))
        change = np.where(draw.rng.random((B, T)) < 0.5, 0.75 + change / 4, change)
        for row in range(B):  # exactly on a threshold; the other draw leaves the word chosen, or changed
            choice[row, 2 + row], change[row, 2 + row] = 0.15, 0.3
            choice[row, 3 + row], change[row, 3 + row] = 0.05, 0.8
            choice[row, 4 + row], change[row, 4 + row] = 0.05, 0.9
        yield {
            "ids": ids,
            "special": np.array([pad, cls, sep]),
            "mask": mask,
            "choice": choice,
            "change": change,
            "random_words": draw.integers(0, V, B, T),
        }


CHOSEN = "(choice < 0.15) & ~torch.isin(ids, special)"
LABELS = "labels = ids.masked_fill(~chosen, UNCHOSEN)"
TO_MASK = "torch.where(chosen & (change < 0.8), mask, ids)"
TO_RANDOM = "torch.where(chosen & (change >= 0.8) & (change < 0.9), random_words, corrupted)"

mlm_corrupt = Exercise(
    name="bert.mlm_corrupt",
    cases=corrupt_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "special tokens chosen",
            "Some of your [CLS], [SEP] or [PAD] are chosen like words. There is nothing to learn from guessing them, and the model needs them.",
            {CHOSEN: "choice < 0.15"},
        ),
        Mistake(
            "80/10/10 of all tokens",
            "Far too many of your tokens are changed: the second draw decides only what happens to a word that was *chosen*.",
            {
                TO_MASK: "torch.where((change < 0.8) & ~torch.isin(ids, special), mask, ids)",
                TO_RANDOM: "torch.where((change >= 0.8) & (change < 0.9) & ~torch.isin(ids, special), random_words, corrupted)",
            },
        ),
        Mistake(
            "labels only where the input was changed",
            "Your corrupted ids are right. Words that were chosen and stay as they are have lost their label: then the model is never asked about a word that it sees.",
            {LABELS: "labels = ids.masked_fill(~(chosen & (change < 0.9)), UNCHOSEN)"},
        ),
        Mistake(
            "labels only at [MASK]",
            "Your corrupted ids are right. Only the words that became [MASK] have a label; the other chosen ones are to be said, too.",
            {LABELS: "labels = ids.masked_fill(~(chosen & (change < 0.8)), UNCHOSEN)"},
        ),
        Mistake(
            "every chosen word as [MASK]",
            "All your chosen words become [MASK]. One in ten becomes a random word, and one in ten stays.",
            {TO_RANDOM: "corrupted", TO_MASK: "torch.where(chosen, mask, ids)"},
        ),
        Mistake(
            "the label is the corrupted word",
            "Your labels are what now stands there. The model is to say what stood there *before*.",
            {
                f"    {LABELS}\n": "",
                "return corrupted, labels": "return corrupted, corrupted.masked_fill(~chosen, UNCHOSEN)",
            },
        ),
        Mistake(
            "labels at every word",
            "Your labels ask for every token. Where nothing was chosen the label is −100.",
            {LABELS: "labels = ids.masked_fill(torch.isin(ids, special), UNCHOSEN)"},
        ),
        Mistake(
            "one draw for both decisions",
            "You decide what happens to a chosen word with the draw that chose it. Two decisions, two draws: the second one says what becomes of the word.",
            {
                TO_MASK: "torch.where(chosen & (choice < 0.8 * 0.15), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (choice >= 0.8 * 0.15) & (choice < 0.9 * 0.15), random_words, corrupted)",
            },
        ),
        Mistake(
            "10 % [MASK] and 80 % random",
            "Most of your chosen words become random words. Most should become [MASK].",
            {
                TO_MASK: "torch.where(chosen & (change >= 0.8) & (change < 0.9), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (change < 0.8), random_words, corrupted)",
            },
        ),
        Mistake(
            "no word left as it is",
            "Of your chosen words none stays: the upper tenth of the draws belongs to those that do.",
            {TO_RANDOM: "torch.where(chosen & (change >= 0.8), random_words, corrupted)"},
        ),
        Mistake(
            "0 where nothing was chosen",
            "Your labels are 0 where nothing was chosen; 0 is the id of a token. The docstring names another number.",
            {LABELS: "labels = ids.masked_fill(~chosen, 0)"},
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (corrupted, labels).",
            {"return corrupted, labels": "return labels, corrupted"},
        ),
    ),
    alternatives={
        "indices of the chosen words": """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    allowed = torch.ones_like(ids, dtype=torch.bool)
    for token in special.tolist():
        allowed &= ids != token
    rows, places = torch.nonzero(allowed & (choice < 0.15), as_tuple=True)
    labels = torch.full_like(ids, -100)
    labels[rows, places] = ids[rows, places]
    corrupted = ids.clone()
    for row, place in zip(rows.tolist(), places.tolist()):
        if change[row, place] < 0.8:
            corrupted[row, place] = mask
        elif change[row, place] < 0.9:
            corrupted[row, place] = random_words[row, place]
    return corrupted, labels
""",
        "numpy's select": """
import numpy as np
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    ids, choice, change = ids.numpy(), choice.numpy(), change.numpy()
    free = ~np.isin(ids, special.numpy()) & (choice < 0.15)
    corrupted = np.select([free & (change < 0.8), free & (change < 0.9)], [np.full_like(ids, mask), random_words.numpy()], ids)
    return corrupted, np.where(free, ids, -100)
""",
    },
    survivors={
        "change <= 0.8": "a draw of exactly 0.8 is set to the random word by the next line",
    },
    hints=(
        "Two questions, two draws: is this word chosen at all? And if it is, what happens to it? Which tokens must never be chosen?",
        "All tensors are (B, T), special is (S). Out: two tensors (B, T): what the model reads, and what it has to say.",
        "chosen = first draw below 0.15, and not a special token\nlabels = the true id where chosen, −100 elsewhere\n"
        "corrupted = where chosen: [MASK] below 0.8, the random word from there to below 0.9, otherwise as it was",
        "Near miss: comparing ids after the first replacement. A word that has become [MASK] no longer tells whether it was special or what it was: "
        "take labels and `chosen` from the ids as they came.",
    ),
)

# ------------------------------------------------------------------------------------------ masked-word loss


def chosen_labels(draw: Draw, B: int, T: int, V: int) -> np.ndarray:
    """Labels at about a third of the places, a different number in each row; −100 elsewhere."""
    chosen = draw.rng.random((B, T)) < 0.3
    chosen[0, :4], chosen[1], chosen[1, 2] = True, False, True
    return np.where(chosen, draw.integers(0, V, B, T), UNCHOSEN)


def mlm_loss_cases(draw: Draw) -> Iterator[Case]:
    for B, T, V in ((2, 9, 6), (3, 7, 5), (4, 10, 8), (5, 6, 9)):
        yield {"logits": draw.normal(B, T, V), "labels": chosen_labels(draw, B, T, V)}


LOG_P = "logits[chosen].log_softmax(dim=-1)"
SAID = "-log_p.gather(1, labels[chosen][:, None]).mean()"

mlm_loss = Exercise(
    name="bert.mlm_loss",
    cases=mlm_loss_cases,
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "every token in the mean",
            "Your number is too small, and the more so the fewer words were chosen: you divide by all tokens.",
            {SAID: "-log_p.gather(1, labels[chosen][:, None]).sum() / labels.numel()"},
        ),
        Mistake(
            "the sum instead of the mean",
            "Your number grows with the number of chosen words. A loss in nats *a word* is a mean.",
            {SAID: "-log_p.gather(1, labels[chosen][:, None]).sum()"},
        ),
        Mistake(
            "a mean for each sentence first",
            "You average within each sentence first: then a word counts more in a sentence where few were chosen.",
            code="""
def mlm_loss(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    chosen = labels != -100
    said = -log_p.gather(2, labels.clamp(min=0)[..., None])[..., 0] * chosen
    return (said.sum(dim=1) / chosen.sum(dim=1)).mean()
""",
        ),
        Mistake(
            "the loss on every token",
            "You ask for a word also where none was chosen: −100 is taken for the word 0.",
            {
                LOG_P: "logits.flatten(0, 1).log_softmax(dim=-1)",
                SAID: "-log_p.gather(1, labels.clamp(min=0).flatten()[:, None]).mean()",
            },
        ),
        Mistake(
            "no softmax",
            "Your numbers are means of logits; they can be negative. First the logits have to become log-probabilities.",
            {LOG_P: "logits[chosen]"},
        ),
        Mistake(
            "softmax over the chosen words",
            "Your probabilities add up to 1 over the chosen places, where they should over the vocabulary.",
            {LOG_P: "logits[chosen].log_softmax(dim=0)"},
        ),
        Mistake(
            "probabilities instead of their logarithms",
            "Your numbers lie between −1 and 0: the logarithm is missing.",
            {LOG_P: "logits[chosen].softmax(dim=-1)"},
        ),
        Mistake(
            "the sign",
            "Your loss is negative: the better the model, the more it would grow.",
            {SAID: SAID[1:]},
        ),
        Mistake(
            "bits instead of nats",
            "Your numbers are too large by the factor 1.44: this course takes the natural logarithm.",
            {SAID: f"{SAID} / torch.log(torch.tensor(2.0))"},
        ),
        Mistake(
            "perplexity",
            "You return the exponential of the loss. The loss itself is in nats.",
            {SAID: f"({SAID}).exp()"},
        ),
        Mistake(
            "softmax before cross_entropy",
            "Your numbers are all close to log V: cross_entropy takes logits and does the softmax itself.",
            code="""
def mlm_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.softmax(-1).transpose(1, 2), labels)
""",
        ),
        Mistake(
            "the axes reshaped instead of swapped",
            "The numbers of several places are mixed: cross_entropy wants the vocabulary as its second axis, and reshaping does not move axes.",
            code="""
def mlm_loss(logits, labels):
    B, T, V = logits.shape
    return torch.nn.functional.cross_entropy(logits.reshape(B, V, T), labels)
""",
        ),
    ),
    alternatives={
        "cross_entropy, which knows -100": """
def mlm_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
""",
        "logsumexp, in float64": """
def mlm_loss(logits, labels):
    logits = logits.double()
    chosen = labels != -100
    said = logits.gather(-1, torch.where(chosen, labels, 0).unsqueeze(-1)).squeeze(-1)
    return ((logits.logsumexp(-1) - said) * chosen).sum() / chosen.sum()
""",
        "a loop, returning a number": """
import math
def mlm_loss(logits, labels):
    losses = []
    for row, wanted in zip(logits, labels):
        for scores, word in zip(row, wanted):
            if word != -100:
                losses.append(-math.log(torch.softmax(scores, 0)[word]))
    return sum(losses) / len(losses)
""",
    },
    hints=(
        "What does the model pay for one chosen word? And for a word that was not chosen?",
        "logits[chosen] is (N, V) with N chosen places in the whole batch. One log-probability each: (N). Out: one number.",
        "chosen = label is not −100\nlog-probabilities over the vocabulary, at the chosen places\ntake that of the right word, change the sign, mean over all N",
        "Near miss: multiplying the losses of all tokens by the mask and then calling `.mean()` divides by the tokens that do not count, too.",
    ),
)

# ------------------------------------------------------------------------------------------ both objectives (find the bug)


def pretraining_cases(draw: Draw) -> Iterator[Case]:
    for B, T, V in ((4, 9, 6), (6, 7, 5), (5, 10, 8)):
        next_labels = draw.rng.permutation([0, 0, 1, 1, *draw.integers(0, 2, B - 4)])
        labels = chosen_labels(draw, B, T, V)
        labels[0, 0] = 0  # the word with id 0 counts like any other
        yield {
            "logits": draw.normal(B, T, V),
            "labels": labels,
            "next_logits": draw.normal(B, 2),
            "next_labels": next_labels,
        }


TOTAL = "mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, next_labels)"
NEXT = "torch.nn.functional.cross_entropy(next_logits, next_labels)"

pretraining_loss = Exercise(
    name="bert.pretraining_loss",
    cases=pretraining_cases,
    rule=Rule("close", 1e-4),
    uses=("bert.mlm_loss",),
    mends=True,
    mistakes=(
        Mistake(
            "as in 2018",
            "That is the sum as it was: pairs with the label 0 cost nothing, whatever the model says.",
            {
                TOTAL: "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)"
                " + torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)"
            },
        ),
        Mistake(
            "pairs with the label 0 ignored",
            "Your masked words are right. Pairs with the label 0 still cost nothing.",
            {NEXT: "torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)"},
        ),
        Mistake(
            "words that were not chosen count",
            "Your pairs are right. With nothing ignored, every word that was not chosen has to be 0.",
            {
                "mlm_loss(logits, labels)": "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels))"
            },
        ),
        Mistake(
            "the word with id 0 ignored",
            "Your pairs are right. A chosen word whose id is 0 costs nothing: 0 still means two things.",
            {
                "mlm_loss(logits, labels)": "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)"
            },
        ),
        Mistake(
            "masked words only",
            "Your loss does not change when the next-sentence logits do.",
            {TOTAL: "mlm_loss(logits, labels)"},
        ),
        Mistake(
            "next sentence only",
            "Your loss does not change when the masked-word logits do.",
            {TOTAL: NEXT},
        ),
        Mistake(
            "the mean of the two",
            "You have half of what is asked: the two losses are added.",
            {TOTAL: f"({TOTAL}) / 2"},
        ),
        Mistake(
            "the labels of the pairs inverted",
            "You take 1 for 'b continues a'. Here, as in Hugging Face's library, that is 0.",
            {"next_logits, next_labels": "next_logits, 1 - next_labels"},
        ),
        Mistake(
            "the pairs summed",
            "The part of the next sentence grows with the size of the batch: it is a mean over pairs.",
            {"next_logits, next_labels": 'next_logits, next_labels, reduction="sum"'},
        ),
        Mistake(
            "a softmax too many",
            "The part of the next sentence is always near log 2: cross_entropy takes logits, not probabilities.",
            {"next_logits, next_labels": "next_logits.softmax(-1), next_labels"},
        ),
    ),
    alternatives={
        "both by hand, in float64": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    def loss(scores, wanted):
        log_p = scores.double().log_softmax(-1)
        return -log_p[torch.arange(len(wanted)), wanted].mean()
    chosen = labels != -100
    return loss(logits[chosen], labels[chosen]) + loss(next_logits, next_labels)
""",
        "two criteria": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    word, pair = torch.nn.CrossEntropyLoss(ignore_index=-100), torch.nn.CrossEntropyLoss()
    return word(logits.transpose(1, 2), labels) + pair(next_logits, next_labels)
""",
        "one criterion for both, which is right with -100": """
def pretraining_loss(logits, labels, next_logits, next_labels):
    criterion = torch.nn.CrossEntropyLoss()
    return criterion(logits.transpose(1, 2), labels) + criterion(next_logits, next_labels)
""",
    },
    hints=(
        "Which labels does each of the two lines get? What does the number 0 mean among the labels of the words, and what among those of the pairs?",
        "logits (B, T, V) with labels (B, T); next_logits (B, 2) with next_labels (B). Two numbers, added.",
        "masked-word part: mean over the chosen words (you have a function for it)\nnext-sentence part: mean over *all* pairs, both labels\nsum",
        "Near miss: taking ignore_index away from both mends the pairs, and makes every word that was not chosen count as the word 0.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def document_cases(draw: Draw) -> Iterator[Case]:
    """Documents of unequal length, one of a single sentence; some coins exactly 0.5."""
    for lengths in ((4, 1, 6, 3), (2, 7, 1, 5, 4), (8, 3, 1, 9, 2, 5)):
        names = draw.rng.permutation(20)[: len(lengths)]
        document = np.repeat(names, lengths)
        coin, other = draw.rng.random((2, len(document)))
        coin[1], coin[-2] = 0.5, 0.5
        yield {"document": document, "coin": coin, "other": other}


OTHERS = "others = torch.nonzero(document != document[s])[:, 0]"
DRAWN = "int(others[int(other[s] * len(others))])"

nsp_pairs = Exercise(
    name="bert.nsp_pairs",
    cases=document_cases,
    rule=Rule("equal", axes={"0": "pairs", "1": "pairs", "2": "pairs"}),
    mistakes=(
        Mistake(
            "1 for the sentence that follows",
            "Your labels are the other way round: here, as in Hugging Face's library, 0 says that b continues a.",
            {"labels.append(0 if continues else 1)": "labels.append(1 if continues else 0)"},
        ),
        Mistake(
            "pairs across the end of a document",
            "You have more pairs than there are: the last sentence of a document has no successor in it.",
            {"torch.nonzero(document[:-1] == document[1:])[:, 0]": "torch.arange(len(document) - 1)"},
        ),
        Mistake(
            "a random sentence of any document",
            "Some of your random sentences come from the document itself: the model would be told that its own text does not belong to it.",
            {OTHERS: "others = torch.arange(len(document))"},
        ),
        Mistake(
            "a random sentence of the same document",
            "All your random sentences come from the same document. They are to come from the others.",
            {OTHERS: "others = torch.nonzero(document == document[s])[:, 0]"},
        ),
        Mistake(
            "the coin the other way round",
            "Where the coin is below one half the true successor is taken; you take the random one there.",
            {"coin[s] < 0.5": "coin[s] >= 0.5"},
        ),
        Mistake(
            "the number among the others taken for a sentence",
            "Your random sentences are numbers *among the others*, not the sentences that these numbers stand for.",
            {DRAWN: "int(other[s] * len(others))"},
        ),
        Mistake(
            "the draws taken in turn",
            "You take the draws in turn, pair by pair. Each sentence has its own: coin[s] and other[s] belong to the pair that begins with s.",
            code="""
def nsp_pairs(document, coin, other):
    first = torch.nonzero(document[:-1] == document[1:])[:, 0]
    second, labels = [], []
    for pair, s in enumerate(first.tolist()):
        others = torch.nonzero(document != document[s])[:, 0]
        continues = bool(coin[pair] < 0.5)
        second.append(s + 1 if continues else int(others[int(other[pair] * len(others))]))
        labels.append(0 if continues else 1)
    return first, torch.tensor(second), torch.tensor(labels)
""",
        ),
        Mistake(
            "always the true successor",
            "All your pairs continue: the model would learn to say yes.",
            {"coin[s] < 0.5": "coin[s] < 2"},
        ),
    ),
    alternatives={
        "all at once": """
def nsp_pairs(document, coin, other):
    first = torch.nonzero(document[:-1] == document[1:]).flatten()
    labels = (coin[first] >= 0.5).long()
    foreign = document[first][:, None] != document[None]
    rank = (other[first] * foreign.sum(1)).long()
    hit = foreign & (foreign.cumsum(1) == rank[:, None] + 1)
    return first, torch.where(labels == 0, first + 1, hit.int().argmax(1)), labels
""",
        "numpy": """
import numpy as np
def nsp_pairs(document, coin, other):
    document = document.numpy()
    rows = []
    for s in range(len(document) - 1):
        if document[s] == document[s + 1]:
            if coin[s] < 0.5:
                rows.append((s, s + 1, 0))
            else:
                far = np.flatnonzero(document != document[s])
                rows.append((s, far[int(np.floor(float(other[s]) * far.size))], 1))
    first, second, labels = np.array(rows).T
    return first, second, labels
""",
    },
    survivors={
        "[:, -1]": "nonzero of a vector has a single column",
    },
    hints=(
        "Which sentences can begin a pair? And which sentences can a random second one be?",
        "In: (S) three times. Out: three tensors of the same length, one entry for each pair; the first holds the numbers of the sentences that begin one.",
        "for each s whose successor is in the same document:\n    coin below one half: (s, s + 1, 0)\n"
        "    otherwise: the sentences of other documents, in order; other[s] picks one of them: (s, it, 1)",
        "Near miss: picking from all sentences is what most quick scripts do; with few documents a share of the 'random' ones is then from the same text.",
    ),
)


def nsp_loss_cases(draw: Draw) -> Iterator[Case]:
    for B, T, D in ((4, 3, 5), (7, 5, 4), (6, 4, 8)):
        yield {
            "hidden": draw.normal(B, T, D),
            "W_pool": draw.normal(D, D, scale=D**-0.5),
            "b_pool": draw.normal(D, scale=0.5),
            "W_next": draw.normal(D, 2, scale=1.5 * D**-0.5),
            "b_next": draw.normal(2, scale=0.5),
            "labels": draw.rng.permutation([0, 0, 1, 1, *draw.integers(0, 2, B - 4)]),
        }


POOLED = "torch.tanh(hidden[:, 0] @ W_pool + b_pool)"

nsp_loss = Exercise(
    name="bert.nsp_loss",
    cases=nsp_loss_cases,
    rule=Rule("close", 1e-4),
    mistakes=(
        Mistake(
            "the last token instead of [CLS]",
            "Your answer depends on the last token: the one that speaks for the pair is the first.",
            {"hidden[:, 0]": "hidden[:, -1]"},
        ),
        Mistake(
            "the mean of all tokens",
            "Your answer depends on every token of the last layer: only the first one is read.",
            {"hidden[:, 0]": "hidden.mean(dim=1)"},
        ),
        Mistake(
            "no tanh",
            "The pooler ends with a tanh; yours is linear.",
            {POOLED: "(hidden[:, 0] @ W_pool + b_pool)"},
        ),
        Mistake("no pooler", "W_pool is never used.", {POOLED: "hidden[:, 0]"}),
        Mistake(
            "W_pool transposed",
            "W_pool is the other way round: its rows stand for the inputs.",
            {"@ W_pool": "@ W_pool.T"},
        ),
        Mistake(
            "the labels inverted",
            "You take 1 for 'b continues a'. Here, as in Hugging Face's library, that is 0.",
            {"cross_entropy(logits, labels)": "cross_entropy(logits, 1 - labels)"},
        ),
        Mistake(
            "no bias of the pooler",
            "Your answer does not change when b_pool does.",
            {" + b_pool": ""},
        ),
        Mistake(
            "no bias of the logits",
            "Your answer does not change when b_next does.",
            {" + b_next": ""},
        ),
        Mistake(
            "the sum instead of the mean",
            "Your number grows with the number of pairs.",
            {"cross_entropy(logits, labels)": 'cross_entropy(logits, labels, reduction="sum")'},
        ),
    ),
    alternatives={
        "with log-probabilities": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    first = hidden.select(1, 0).double()
    log_p = (torch.tanh(first @ W_pool.double() + b_pool) @ W_next.double() + b_next).log_softmax(1)
    return -log_p[range(len(labels)), labels].mean()
""",
        "as a logistic regression on the difference": """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    pooled = torch.tanh(torch.nn.functional.linear(hidden[:, 0], W_pool.T, b_pool))
    margin = pooled @ (W_next[:, 1] - W_next[:, 0]) + b_next[1] - b_next[0]
    return torch.nn.functional.binary_cross_entropy_with_logits(margin, labels.float())
""",
    },
    hints=(
        "Which token's vector speaks for the whole pair? What happens to it before there are two numbers?",
        "hidden[:, 0]: (B, D). After the pooler: (B, D). Logits: (B, 2). Out: one number.",
        "vector of [CLS] of each pair\nthrough W_pool and tanh\nthrough W_next: two logits\ncross-entropy with the labels, mean over pairs",
        "Near miss: averaging all tokens gives a good sentence vector too (notebook 11), but it is not BERT's pooler.",
    ),
)


def pool_cases(draw: Draw) -> Iterator[Case]:
    shapes = (([-1, 0, 0, 1, 2, 2, 2, -1], 5, "mean"), ([-1, 0, 1, 1, 1, 2, -1, 3, 3, -1, -1], 4, "first"),
              ([-1, 0, 0, 0, 0, 1, 2, 2, 3, -1], 6, "first"), ([-1, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, -1, -1], 7, "mean"))  # fmt: skip
    for word_ids, D, how in shapes:
        yield {"hidden": draw.normal(len(word_ids), D), "word_ids": np.array(word_ids), "how": how}


POOL = 'pieces.mean(dim=0) if how == "mean" else pieces[0]'

pool_pieces = Exercise(
    name="bert.pool_pieces",
    cases=pool_cases,
    rule=Rule("close", 1e-4, axes={"": "words D"}),
    mistakes=(
        Mistake(
            "a vector for the special tokens too",
            "You have one row more than there are words: −1 marks tokens that belong to no word.",
            {"range(int(word_ids.max()) + 1)": "range(-1, int(word_ids.max()) + 1)"},
        ),
        Mistake(
            "always the mean",
            'With "first" your vectors are not those of the first pieces.',
            {POOL: "pieces.mean(dim=0)"},
        ),
        Mistake(
            "always the first",
            'With "mean" your vectors are those of the first pieces.',
            {POOL: "pieces[0]"},
        ),
        Mistake(
            "the last piece",
            'With "first" your vectors are those of the *last* pieces.',
            {"pieces[0]": "pieces[-1]"},
        ),
        Mistake(
            "the sum instead of the mean",
            'With "mean" your vectors are longer, the more pieces a word has.',
            {"pieces.mean(dim=0)": "pieces.sum(dim=0)"},
        ),
        Mistake(
            "a row for each piece",
            "You have a row for each piece of a word; one for each word is asked.",
            code="""
def pool_pieces(hidden, word_ids, how):
    return hidden[word_ids >= 0]
""",
        ),
        Mistake(
            "the largest of each coordinate",
            'With "mean" you take the largest value of each coordinate.',
            {"pieces.mean(dim=0)": "pieces.amax(dim=0)"},
        ),
        Mistake(
            "the last word forgotten",
            "You have one row less than there are words: the last one is missing.",
            {"range(int(word_ids.max()) + 1)": "range(int(word_ids.max()))"},
        ),
    ),
    alternatives={
        "a matrix of shares": """
def pool_pieces(hidden, word_ids, how):
    member = (word_ids[None] == torch.arange(int(word_ids.max()) + 1)[:, None]).double()
    if how == "first":
        member = member * (member.cumsum(1) == 1)
    return (member / member.sum(1, keepdim=True)) @ hidden.double()
""",
        "a loop over the tokens": """
def pool_pieces(hidden, word_ids, how):
    words = {}
    for vector, word in zip(hidden, word_ids.tolist()):
        if word >= 0:
            words.setdefault(word, []).append(vector)
    return torch.stack([words[w][0] if how == "first" else sum(words[w]) / len(words[w]) for w in sorted(words)])
""",
    },
    hints=(
        "Which rows of hidden belong to word 2? How do you get one row from them, in each of the two ways?",
        "hidden (T, D), word_ids (T). Out: (words, D), word 0 first. Tokens with −1 go nowhere.",
        "for each word w, in order:\n    its rows = those where word_ids is w\n    their mean, or the first of them",
        "Near miss: `hidden[word_ids]` takes the rows *numbered* by the words, not the rows that belong to them.",
    ),
)


def configuration_cases(draw: Draw) -> Iterator[Case]:
    """Configurations in rows: V, P, D, L, F."""
    for many in (2, 3, 5):
        low, high = (1_000, 50, 20, 2, 900), (40_000, 700, 900, 30, 4_000)
        yield {"configurations": draw.rng.integers(low, high, (many, 5))}


ONE_LAYER = "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D"
EMBEDDINGS = "(V + P + 2) * D + 2 * D"
HEADS = "(D * D + D) + 2 * D + V + (2 * D + 2)"

count_parameters = Exercise(
    name="bert.count_parameters",
    cases=configuration_cases,
    rule=Rule("equal", axes={"": "configurations parts"}),
    mistakes=(
        Mistake(
            "2D too few in the embeddings",
            "Your first number is too small by 2D. Two things have just that size: the segments' table, and the layer norm behind the sum.",
            {EMBEDDINGS: "(V + P + 2) * D"},
        ),
        Mistake(
            "no biases in the layers",
            "Your second number is a little too small: every linear map has a bias.",
            {ONE_LAYER: "4 * D * D + 2 * D * F + 2 * 2 * D"},
        ),
        Mistake(
            "no output projection",
            "Your second number is too small by a matrix in each layer: queries, keys and values are three; what comes after the heads?",
            {ONE_LAYER: "3 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D"},
        ),
        Mistake(
            "one layer norm in a layer",
            "Your second number is too small by 2D in each layer: attention and feed-forward each have a layer norm.",
            {ONE_LAYER: "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * D"},
        ),
        Mistake(
            "one layer only",
            "Your second number does not grow with L.",
            {"layers = L * (": "layers = 1 * ("},
        ),
        Mistake(
            "the token table counted again",
            "Your last number is too large by V · D: the masked-word head reuses the token table.",
            {HEADS: "(D * D + D) + 2 * D + V * D + V + (2 * D + 2)"},
        ),
        Mistake(
            "no transform before the masked words",
            "Your last number misses a linear map and a layer norm: the masked-word head does not begin with the table.",
            {HEADS: "V + (2 * D + 2)"},
        ),
        Mistake(
            "no bias for each word",
            "Your last number is too small by V: each word of the vocabulary has a bias.",
            {HEADS: "(D * D + D) + 2 * D + (2 * D + 2)"},
        ),
        Mistake(
            "the next-sentence head forgotten",
            "Your last number misses the map to two logits.",
            {HEADS: "(D * D + D) + 2 * D + V"},
        ),
    ),
    alternatives={
        "counted on modules that hold no numbers": """
def count_parameters(V, P, D, L, F):
    nn = torch.nn
    def size(*modules):
        return sum(weight.numel() for module in modules for weight in module.parameters())
    with torch.device("meta"):
        norm, square = nn.LayerNorm(D), nn.Linear(D, D)
        embeddings = size(nn.Embedding(V, D), nn.Embedding(P, D), nn.Embedding(2, D), norm)
        layer = 4 * size(square) + size(nn.Linear(D, F), nn.Linear(F, D)) + 2 * size(norm)
        return embeddings, L * layer, size(square), size(square, norm) + V + size(nn.Linear(D, 2))
""",
        "multiplied out": """
def count_parameters(V, P, D, L, F):
    return V * D + P * D + 4 * D, L * (4 * D**2 + 2 * D * F + 9 * D + F), D**2 + D, D**2 + 5 * D + V + 2
""",
    },
    hints=(
        "Walk through the model from the ids to the logits and stop at each thing that was learnt. Which shapes have its matrix and its bias?",
        "Linear map from n to m: n · m + m. Layer norm: 2D. Embedding table of n rows: n · D. Out: four whole numbers.",
        "embeddings: three tables, one layer norm\neach layer: four D × D maps, two maps between D and F, two layer norms\npooler: one D × D map\n"
        "heads: a D × D map, a layer norm, a bias for each word; a map from D to 2",
        "Near miss: a formula with 12D² for each layer is right only where F = 4D, and it forgets the biases.",
    ),
)

EXERCISES = (
    lm_examples,
    wordpiece,
    encode_pair,
    embed,
    mlm_corrupt,
    mlm_loss,
    pretraining_loss,
    nsp_pairs,
    nsp_loss,
    pool_pieces,
    count_parameters,
)
