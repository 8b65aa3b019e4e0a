"""06 BERT: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

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
        chosen = draw.uniform(batch, tokens) < 0.4
        chosen[:, 0] = chosen[0, tokens - 4] = chosen[1, -1] = True  # also where nothing real follows
        chosen[:, 1] = False
        chosen &= ids != pad
        if pad:
            ids[1, [0, 2]] = 0  # a word like any other, once chosen, once asked for by its neighbour
        yield {"ids": ids, "chosen": chosen, "pad": pad}


FOLLOWING = "torch.cat([ids[:, 1:], nothing], dim=1)"
CAUSAL = "following.masked_fill(following == pad, UNCHOSEN)"

lm_examples = Exercise(
    cases=label_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "causal labels not shifted",
            "In your first result every word has to say itself: it would only have to copy. Which word comes after it?",
            edits={FOLLOWING: "ids.clone()", CAUSAL: "following.masked_fill(following == pad, UNCHOSEN)"},
        ),
        Mistake(
            "causal labels shifted the other way",
            "In your first result every word has to say the one before it, which it can see.",
            FOLLOWING, "torch.cat([nothing, ids[:, :-1]], dim=1)",
            also=(
                """
def lm_examples(ids, chosen, pad):
    causal = torch.roll(ids, 1, dims=1)
    causal[:, -1] = UNCHOSEN
    return causal.masked_fill(causal == pad, UNCHOSEN), ids.masked_fill(~chosen, UNCHOSEN)
""",
            ),
        ),
        Mistake(
            "the first word as the last one's successor",
            "Your last column holds the words of the first: behind the last place nothing follows.",
            FOLLOWING, "torch.roll(ids, -1, dims=1)",
        ),
        Mistake(
            "padding as a label",
            "In your first result the last word of a short sentence has to say padding, and padding has to say padding. "
            "That is nothing to learn from.",
            CAUSAL, "following",
        ),
        Mistake(
            "no label where padding stands, instead of where it follows",
            "In your first result the last word of a short sentence still has to say the padding behind it.",
            CAUSAL, "following.masked_fill(ids == pad, UNCHOSEN)",
        ),
        Mistake(
            "masked labels where nothing was chosen",
            "Your second result has labels where none was asked for, and none where a word was chosen.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "ids.masked_fill(chosen, UNCHOSEN)",
            also=(
                """
def lm_examples(ids, chosen, pad):
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    return following.masked_fill(following == pad, UNCHOSEN), ids.masked_fill(chosen | (ids == pad), UNCHOSEN)
""",
            ),
        ),
        Mistake(
            "masked labels shifted too",
            "Your second result is one place off: a masked word is to be said at its own place.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "following.masked_fill(~chosen, UNCHOSEN)",
            also=(
                """
def lm_examples(ids, chosen, pad):
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    causal = following.masked_fill(following == pad, UNCHOSEN)
    return causal, causal.masked_fill(~chosen, UNCHOSEN)
""",
            ),
        ),
        Mistake(
            "causal labels one column short",
            "Your first result has no last column. A label stands at each place; where nothing follows it is −100.",
            FOLLOWING, "ids[:, 1:]",
        ),
        Mistake(
            "padding taken to be 0",
            "Where padding is 0 you are right. Its id is given as pad, and is another one in some of the inputs.",
            CAUSAL, "following.masked_fill(following == 0, UNCHOSEN)",
        ),
        Mistake(
            "causal labels only where something was chosen",
            "Your first result leaves places out. What was chosen matters to the masked model alone: the causal one has to say every next word.",
            CAUSAL, "following.masked_fill((following == pad) | ~chosen, UNCHOSEN)",
        ),
        Mistake(
            "no masked label where nothing follows",
            "Your first result is right. In the second a chosen word at the end of its sentence has lost its label; it needs no successor.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "ids.masked_fill(~chosen | (causal == UNCHOSEN), UNCHOSEN)",
        ),
        Mistake(
            "no masked label in the last column",
            "Your first result is right. In the second a chosen word in the last place has lost its label; it needs no successor.",
            code="""
def lm_examples(ids, chosen, pad):
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    masked = ids.masked_fill(~chosen, UNCHOSEN)
    masked[:, -1] = UNCHOSEN
    return following.masked_fill(following == pad, UNCHOSEN), masked
""",
        ),
        Mistake(
            "a chosen word with the id 0 taken for none",
            "Your first result is right. In the second a chosen word whose id is 0 has no label. Any id but pad may be a word's: "
            "`chosen` says where something is asked.",
            "masked = ids.masked_fill(~chosen, UNCHOSEN)", "masked = ids * chosen\n    masked[masked == 0] = UNCHOSEN",
        ),
        Mistake(
            "masked labels everywhere",
            "Your second result asks for every word, also for those that can be read off the input.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "ids.masked_fill(ids == pad, UNCHOSEN)",
        ),
        Mistake(
            "0 where there is nothing to say",
            "Where there is nothing to say you have 0, which is the id of a token. The docstring names another number.",
            edits={
                CAUSAL: "following.masked_fill((following == pad) | (following < 0), 0)",
                "ids.masked_fill(~chosen, UNCHOSEN)": "ids.masked_fill(~chosen, 0)",
            },
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (causal, masked).",
            "return causal, masked", "return masked, causal",
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

    Some are planted. The first: its longest first piece leads nowhere, while a shorter one would have led to its end.
    The second: a long piece inside it begins before its longest first piece ends. The others: a piece of eleven
    letters, alone and inside a word; a single letter; a letter that no piece has in front and in the middle; and
    a capital letter, which is another letter than the small one. The piece of eleven letters has the id 0.
    """
    for letters, many, words in (("abno", 34, 20), ("eilrst", 48, 28), ("adgmu", 40, 24)):
        one, two, three, last = *letters[:3], letters[-1]
        stuck = two + three + one + last
        over = one + two + three + one + two
        long = "".join(draw.rng.choice(list(letters), 11))
        capital = two.upper() + three
        planted = [
            two + three,
            two + three + one,
            "##" + one + last,
            one + two,
            "##" + two + three + one + two,
        ]
        planted += [long, "##" + long, two.upper(), capital]
        never = {stuck, "##" + three + one + two, *(over[:end] for end in (3, 4, 5))}
        pieces = [piece for piece in _pieces(draw, letters, many) if piece not in {*planted, *never}]
        pieces = [str(piece) for piece in draw.rng.permutation([*pieces, *planted])]
        ids = 1_000 + draw.rng.permutation(29_000)[: len(pieces)]
        ids[pieces.index(long)] = 0
        asked = [stuck, over, long, one + two + long, one, "y" + one + two, one + two + "y" + three]
        asked += [capital, two + three.upper(), capital + one + two]
        yield {"words": [*_words(draw, letters, pieces, words), *asked], "pieces": pieces, "ids": ids}


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
FITS = '("##" if start else "") + word[start:end] in vocab'
KEPT = 'pieces.append(vocab[("##" if start else "") + word[start:end]])'
GREEDY = """
def wordpiece(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if {test}:
                break
        else:
            {none}
        {found}
        start = end
    return pieces
"""

wordpiece = Exercise(
    cases=piece_cases,
    rule=Rule("equal", axes={"": "words pieces"}),
    mistakes=(
        Mistake(
            "the ## forgotten",
            "Your pieces inside a word are looked up like whole words: the id of a piece that continues a word is the one with ##.",
            INSIDE, "piece = word[start:end]",
        ),
        Mistake(
            "## at the beginning too",
            "Your words begin with pieces that continue one: the first piece of a word stands without ##.",
            INSIDE, 'piece = "##" + word[start:end]',
            also=(
                """
def wordpiece(word, vocab):
    if word in vocab:
        return [vocab[word]]
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if "##" + word[start:end] in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        pieces.append(vocab["##" + word[start:end]])
        start = end
    return pieces
""",
            ),
        ),
        Mistake(
            "the beginning of a word taken inside one",
            "Inside a word you also take pieces without ##: such a piece begins a word.",
            code="""
def wordpiece(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end]
            if start and "##" + piece in vocab:
                piece = "##" + piece
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        pieces.append(vocab[piece])
        start = end
    return pieces
""",
        ),
        Mistake(
            "the shortest piece first",
            "Your words fall into single letters. At each place the *longest* piece that fits is taken.",
            LONGEST_FIRST, "range(start + 1, len(word) + 1)",
        ),
        Mistake(
            "the pieces found so far kept before [UNK]",
            "Where a word cannot be finished, you keep the pieces in front of [UNK]. The whole word becomes a single [UNK].",
            UNKNOWN, 'return pieces + [vocab["[UNK]"]]',
        ),
        Mistake(
            "an [UNK] for each letter that does not fit",
            "Your words have [UNK] among their pieces. A word that cannot be cut up is one [UNK] as a whole.",
            UNKNOWN, 'pieces.append(vocab["[UNK]"]); start += 1; continue',
        ),
        Mistake(
            "the rest of the word left out",
            "Where a word cannot be finished, you return its beginning as if it were the word.",
            UNKNOWN, "return pieces",
        ),
        Mistake(
            "nothing in place of [UNK]",
            "Words that can be cut up are right. For the others you return no id at all; [UNK] has one.",
            UNKNOWN, "return []",
        ),
        Mistake(
            "letters that do not fit left out",
            "Where no piece fits you go on with the next letter, and the word comes out without that letter. The whole word becomes a "
            "single [UNK].",
            edits={UNKNOWN: "start += 1; continue", "return pieces": 'return pieces or [vocab["[UNK]"]]'},
        ),
        Mistake(
            "an id of [UNK] of your own",
            "Words that can be cut up are right. The others get a number that is not the id of [UNK] in this vocabulary: look it up.",
            UNKNOWN, "return [0]",
            also=(
                GREEDY.format(test=FITS, found=KEPT, none="return [100]"),
                GREEDY.format(test=FITS, found=KEPT, none="return [1]"),
            ),
        ),
        Mistake(
            "single letters never tried",
            "A piece may be a single letter. Words that need one come out as [UNK] in yours.",
            LONGEST_FIRST, "range(len(word), start + 1, -1)",
        ),
        Mistake(
            "long pieces never tried",
            "Nearly all is right. You try pieces up to some length only: a vocabulary may hold longer ones.",
            LONGEST_FIRST, "range(min(len(word), start + 8), start, -1)",
            also=tuple(
                GREEDY.format(test=FITS, found=KEPT, none=UNKNOWN).replace(
                    "range(len(word)", f"range(min(len(word), start + {most})"
                )
                for most in (5, 10)
            ),
        ),
        Mistake(
            "small letters first",
            "Words with a capital letter are cut up as if it were a small one. The pieces are looked up as the word is written; a "
            "tokenizer that wants small letters makes them before.",
            "pieces, start = [], 0", "word, pieces, start = word.lower(), [], 0",
        ),
        Mistake(
            "one letter skipped after each piece",
            "Your second pieces begin one letter too late: the next piece begins where this one ended.",
            "start = end", "start = end + 1",
        ),
        Mistake(
            "the whole word never tried",
            "Words that stand in the vocabulary as they are come out cut up, or as [UNK].",
            LONGEST_FIRST, "range(max(len(word) - 1, start + 1), start, -1)",
        ),
        Mistake(
            "every word unknown",
            "Every word comes out as [UNK] in yours, also those that stand in the vocabulary as they are. Does a piece of yours ever "
            "reach the word's last letter?",
            LONGEST_FIRST, "range(len(word) - 1, start, -1)",
        ),
        Mistake(
            "the id 0 taken for none",
            "A piece whose id is 0 is passed over in yours. Whether a piece stands in the vocabulary does not depend on its id.",
            "if piece in vocab:", "if vocab.get(piece):",
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
            "the longest piece anywhere in the word first",
            "You take the longest piece wherever it stands. WordPiece reads from the left: the longest beginning, then the longest "
            "beginning of the rest.",
            code="""
def wordpiece(word, vocab):
    def cut(start, end):
        if start == end:
            return []
        for size in range(end - start, 0, -1):
            for here in range(start, end - size + 1):
                piece = ("##" if here else "") + word[here : here + size]
                if piece in vocab:
                    left, right = cut(start, here), cut(here + size, end)
                    return None if left is None or right is None else [*left, vocab[piece], *right]
    return cut(0, len(word)) or [vocab["[UNK]"]]
""",
        ),
        Mistake(
            "the fewest pieces",
            "You cut words into as few pieces as possible. Greedy matching takes the longest piece at each place, even if more "
            "pieces follow.",
            code="""
def wordpiece(word, vocab):
    best = {0: []}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if start in best and piece in vocab:
                found = [*best[start], vocab[piece]]
                if end not in best or len(found) < len(best[end]):
                    best[end] = found
    return best.get(len(word), [vocab["[UNK]"]])
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
    survivors={
        "→ `piece = word[:end] if start == 0": "there start is 0",
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

# ------------------------------------------------------------------------------------------ learning the pieces


def learning_cases(draw: Draw) -> Iterator[Case]:
    """Words with counts, and how many pieces are asked for; letters are drawn, so that each seed has others.

    Words of a few letters by all scores, with ties; more pieces than there are to find; fewer than there are letters.
    And planted ones. A pair that lies over itself counts twice in three letters, which decides the first merge; then it
    matters from which end the three are merged. A word that holds a pair twice. A pair that also stands inside the text of
    two longer pieces. Of two pairs with the same count, one comes first as a pair and the other as a joined text.
    """

    def letters(many: int) -> list[str]:
        return sorted(str(letter) for letter in draw.rng.choice(list("bcdefghijklmnopqrstuvwxyz"), many, replace=False))

    def case(counts: dict[str, int], more: int, by: str) -> Case:
        first = len({word[0] for word in counts} | {f"##{letter}" for word in counts for letter in word[1:]})
        return {"words": list(counts), "counts": np.array(list(counts.values())), "size": first + more, "by": by}

    def text(many: int, alphabet: list[str], highest: int) -> dict[str, int]:
        counts: dict[str, int] = {}
        while len(counts) < many:
            counts[_string(draw, "".join(alphabet), 1, 8)] = int(draw.rng.integers(1, highest + 1))
        return counts

    yield case(text(14, letters(4), 30), 13, "count")
    yield case(text(16, letters(5), 40), 15, "likelihood")
    yield case(text(15, letters(3), 2), 17, "count")  # ties
    yield case(text(5, letters(4), 9), 60, "likelihood")  # ends before
    yield case(text(12, letters(6), 9), -3, "count")
    yield case(text(10, letters(4), 30), 9, "share")
    a, b, c, d, x, y = letters(6)
    high, low = int(draw.rng.integers(20, 30)), int(draw.rng.integers(2, 9))
    overlaps = {c + d: high + 3 * low, x + 3 * a: high, x + a: low, y + 5 * a: low}
    yield case(overlaps, 6, "count")
    yield case({x + 3 * a: high, x + a: low}, 2, "count")
    yield case({y + 2 * (a + b): high, c + d: high + low, y + b: 1}, 4, "count")
    ends = {c + a: 2 * high, a + b: high + 10, c + a + b: low + 1, a + b + d: high, d + b + a: 1, d + a + b: low}
    yield case(ends, 8, "count")
    yield case({a + b: high, a + d: high, a + b + a: high, x + y: low}, 3, "count")


ALONE, PAIRED = "alone[piece] += counts[word]", "pairs[pair] += counts[word]"
FIRST_PIECES = "sorted({piece for pieces in cut.values() for piece in pieces})"
ENOUGH = "while len(vocabulary) < size:"
CHOOSE = "min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))"
JOINED = "best[0] + best[1][2:]"
IN_WORD = """
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged"""
COUNTED_ONCE = """
def learn_pieces(counts, size, score):
    cut = {{word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}}
    vocabulary = sorted({{piece for pieces in cut.values() for piece in pieces}})
    alone, pairs = Counter(), Counter()
    for word, pieces in cut.items():
        for piece in pieces:
            alone[piece] += counts[word]
        for pair in pairwise(pieces):
            pairs[pair] += counts[word]
    {}
"""

learn_pieces = Exercise(
    cases=learning_cases,
    rule=Rule("equal", axes={"": "pieces letters"}),
    mistakes=(
        Mistake(
            "each word counted once",
            "Your merges do not change with the counts: a word that stands in the text forty times counts forty times.",
            edits={ALONE: "alone[piece] += 1", PAIRED: "pairs[pair] += 1"},
            also=(
                """
def learn_pieces(counts, size, score):
    cut = [[word[0]] + ["##" + letter for letter in word[1:]] for word in counts]
    vocabulary = sorted({piece for pieces in cut for piece in pieces})
    while len(vocabulary) < size:
        alone = Counter(piece for pieces in cut for piece in pieces)
        pairs = Counter(pair for pieces in cut for pair in pairwise(pieces))
        if not pairs:
            break
        best = max(pairs, key=lambda pair: score(pairs[pair], alone[pair[0]], alone[pair[1]]))
        vocabulary.append(best[0] + best[1][2:])
        for pieces in cut:
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [vocabulary[-1]]
                i += 1
    return vocabulary
""",
            ),
        ),
        Mistake(
            "single pieces counted once in each word",
            "By count you are right. For the likelihood the counts of the two pieces are of the whole text, as that of the pair is.",
            ALONE, "alone[piece] += 1",
        ),
        Mistake(
            "pieces counted in pairs only",
            "By count you are right. For the likelihood a piece counts wherever it stands, also at the other side of a pair and alone.",
            code="""
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    while len(vocabulary) < size:
        left, right, pairs = Counter(), Counter(), Counter()
        for word, pieces in cut.items():
            for pair in pairwise(pieces):
                left[pair[0]] += counts[word]
                right[pair[1]] += counts[word]
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], left[pair[0]], right[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
""",
        ),
        Mistake(
            "the ## forgotten",
            "None of your pieces has ## in front: a letter inside a word is another piece than the same letter at its beginning.",
            edits={'["##" + letter for letter in word[1:]]': "list(word[1:])", JOINED: "best[0] + best[1]"},
        ),
        Mistake(
            "## kept inside a piece",
            "Your longer pieces have ## in the middle: it stands once, in front of a piece that continues a word.",
            JOINED, "best[0] + best[1]",
        ),
        Mistake(
            "## lost in merging",
            "Your longer pieces never have ##: one that continues a word keeps it.",
            JOINED, 'best[0].removeprefix("##") + best[1][2:]',
            also=(
                """
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
            ),
        ),
        Mistake(
            "pairs not counted again",
            "Your first merge is right. Each merge changes how the text is cut, and so the counts: yours are those of the single letters throughout.",
            code=COUNTED_ONCE.format(
                """ranked = sorted(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
    for left, right in ranked[: max(0, size - len(vocabulary))]:
        vocabulary.append(left + right[2:])
    return vocabulary"""
            ),
        ),
        Mistake(
            "single pieces not counted again",
            "By count you are right. A merge also takes away from the counts of the two pieces it joins.",
            code="""
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    alone = Counter()
    for word, pieces in cut.items():
        for piece in pieces:
            alone[piece] += counts[word]
    while len(vocabulary) < size:
        pairs = Counter()
        for word, pieces in cut.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        alone[vocabulary[-1]] = pairs[best]
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
""",
        ),
        Mistake(
            "the letters left out",
            "Your list begins with the first merge: the single letters, with and without ##, are pieces, too, and stand before it.",
            edits={ENOUGH: "letters = len(vocabulary)\n    " + ENOUGH, "return vocabulary": "return vocabulary[letters:]"},
            also=(
                """
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = []
    while len(vocabulary) < size:
        alone, pairs = Counter(), Counter()
        for word, pieces in cut.items():
            for piece in pieces:
                alone[piece] += counts[word]
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
""",
            ),
        ),
        Mistake(
            "every letter in both forms",
            "You have letters that never stand where their piece says: a letter that begins no word has no piece without ##, and one that "
            "stands inside none has none with it.",
            FIRST_PIECES, 'sorted({form for word in counts for letter in word for form in (letter, "##" + letter)})',
        ),
        Mistake(
            "the first pieces in the order of the words",
            "Your pieces are right, in another order: the letters stand in alphabetical order, as `sorted` gives it (## comes before a).",
            FIRST_PIECES, "list(dict.fromkeys(piece for pieces in cut.values() for piece in pieces))",
        ),
        Mistake(
            "the first pieces without ## before those with it",
            "Your pieces are right, in another order: `sorted` puts the letters with ## before those without.",
            FIRST_PIECES, 'sorted({piece for pieces in cut.values() for piece in pieces}, key=lambda piece: (len(piece), piece))',
        ),
        Mistake(
            "all pieces in alphabetical order",
            "Your pieces are right, in another order: only the letters are sorted, what is learned follows in the order of the merges.",
            "return vocabulary", "return sorted(vocabulary)",
        ),
        Mistake(
            "what is merged dropped",
            "Pieces are missing: what goes into a longer piece stays in the vocabulary, since other words still need it.",
            "return vocabulary", "return [piece for piece in vocabulary if any(piece in pieces for pieces in cut.values())]",
            also=(
                """
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
            ),
        ),
        Mistake(
            "of equal scores, the last in alphabetical order",
            "Right as long as one pair is ahead. Of equal scores you take the last pair in alphabetical order, the docstring says the first.",
            CHOOSE, "max(pairs, key=lambda pair: (score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))",
        ),
        Mistake(
            "of equal scores, the one seen first",
            "Right as long as one pair is ahead. Of equal scores you take the pair that comes first in the text; the docstring has another rule.",
            CHOOSE, "max(pairs, key=lambda pair: score(pairs[pair], alone[pair[0]], alone[pair[1]]))",
        ),
        Mistake(
            "of equal scores, by the joined text",
            "Right as long as one pair is ahead. Of equal scores you compare the joined texts: what is compared are the pairs, left piece first.",
            CHOOSE,
            "min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair[0] + pair[1][2:]))",
        ),
        Mistake(
            "always by count",
            "By count you are right. In the other inputs `score` says otherwise: it is given, and it decides.",
            CHOOSE, "min(pairs, key=lambda pair: (-pairs[pair], pair))",
        ),
        Mistake(
            "left and right piece changed places",
            "Where both pieces count the same you are right. `score` is asked for the pair, its left piece and its right one, in this order.",
            "score(pairs[pair], alone[pair[0]], alone[pair[1]])", "score(pairs[pair], alone[pair[1]], alone[pair[0]])",
        ),
        Mistake(
            "the lowest score",
            "You merge the pair with the lowest score; the highest is the best.",
            "(-score(", "(score(",
        ),
        Mistake(
            "runs merged from the right",
            "Right but for letters that repeat: of three equal ones in a row you merge the last two. A word is merged from the left.",
            IN_WORD, """
            merged = []
            for piece in reversed(pieces):
                if merged and (piece, merged[0]) == best:
                    merged[0] = vocabulary[-1]
                else:
                    merged.insert(0, piece)
            cut[word] = merged""",
        ),
        Mistake(
            "overlapping pairs counted once",
            "Right but for letters that repeat: ##a ##a ##a holds the pair (##a, ##a) twice, once from each of the first two.",
            code="""
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    while len(vocabulary) < size:
        alone, pairs = Counter(), Counter()
        for word, pieces in cut.items():
            for piece in pieces:
                alone[piece] += counts[word]
            last = None
            for pair in pairwise(pieces):
                if pair == last:
                    last = None
                    continue
                pairs[pair] += counts[word]
                last = pair
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
""",
        ),
        Mistake(
            "a piece merged with both its neighbours",
            "Right but for letters that repeat: of three equal ones the middle one goes into your new piece twice. What is merged is used up.",
            IN_WORD, """
            merged, i = [], 0
            while i < len(pieces):
                if tuple(pieces[i : i + 2]) == best:
                    merged.append(vocabulary[-1])
                    i += 1 if tuple(pieces[i + 1 : i + 3]) == best else 2
                else:
                    merged.append(pieces[i])
                    i += 1
            cut[word] = merged""",
        ),
        Mistake(
            "one merge in a word",
            "Where a word holds the pair twice, you merge it once. It is merged wherever it stands.",
            "if merged and (merged[-1], piece) == best:", "if merged and (merged[-1], piece) == best and vocabulary[-1] not in merged:",
            also=(
                """
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    while len(vocabulary) < size:
        alone, pairs = Counter(), Counter()
        for word, pieces in cut.items():
            for piece in pieces:
                alone[piece] += counts[word]
            for pair in set(pairwise(pieces)):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            for i, pair in enumerate(pairwise(pieces)):
                if pair == best:
                    cut[word] = pieces[:i] + [vocabulary[-1]] + pieces[i + 2 :]
                    break
    return vocabulary
""",
                """
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
            ),
        ),
        Mistake(
            "a pair counted once in each word",
            "Where a word holds the pair twice, you count it once. It counts at each place where it stands.",
            "in pairwise(pieces):", "in set(pairwise(pieces)):",
        ),
        Mistake(
            "merged in the middle of longer pieces",
            "You merge text, not pieces: in \"ca ##b\" stands \"a ##b\", and yet neither of its pieces is a.",
            IN_WORD, """
            cut[word] = " ".join(pieces).replace(" ".join(best), vocabulary[-1]).split()""",
        ),
        Mistake(
            "so many merges, not pieces",
            "Your list is too long: `size` is the number of all pieces, the letters among them.",
            edits={ENOUGH: "letters = len(vocabulary)\n    while len(vocabulary) < size + letters:"},
            also=(
                """
def learn_pieces(counts, size, score):
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    for _ in range(size - len(vocabulary) + 1):
        alone, pairs = Counter(), Counter()
        for word, pieces in cut.items():
            for piece in pieces:
                alone[piece] += counts[word]
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
""",
            ),
        ),
        Mistake(
            "letters cut off",
            "Right where `size` is larger than the number of letters. Where it is not, all letters stay: without them words could not be written.",
            "return vocabulary", "return vocabulary[:size]",
        ),
    ),
    alternatives={
        "only the words that hold the pair are counted again": """
def learn_pieces(counts, size, score):
    cut = {word: (word[0], *("##" + letter for letter in word[1:])) for word in counts}
    alone, pairs, holds = Counter(), Counter(), {}

    def enter(word, sign):
        for piece in cut[word]:
            alone[piece] += sign * counts[word]
        for pair in zip(cut[word], cut[word][1:]):
            pairs[pair] += sign * counts[word]
            holds.setdefault(pair, set()).add(word)

    for word in counts:
        enter(word, 1)
    learned = sorted(alone)
    while len(learned) < size:
        scores = {pair: score(count, alone[pair[0]], alone[pair[1]]) for pair, count in pairs.items() if count > 0}
        if not scores:
            return learned
        highest = max(scores.values())
        best = sorted(pair for pair, value in scores.items() if value == highest)[0]
        joined = best[0] + best[1].removeprefix("##")
        learned.append(joined)
        for word in holds[best]:
            enter(word, -1)
            pieces, i = [], 0
            while i < len(cut[word]):
                here = cut[word][i : i + 2] == best
                pieces.append(joined if here else cut[word][i])
                i += 2 if here else 1
            cut[word] = tuple(pieces)
            enter(word, 1)
    return learned
""",
        "by text, with spaces on both sides": """
import re
def learn_pieces(counts, size, score):
    texts = {" ".join([word[0]] + [f"##{letter}" for letter in word[1:]]): n for word, n in counts.items()}
    vocab = sorted(set(" ".join(texts).split()))
    while len(vocab) < size:
        single, double = {}, {}
        for text, n in texts.items():
            pieces = text.split(" ")
            for i in range(len(pieces)):
                single[pieces[i]] = single.get(pieces[i], 0) + n
                if i + 1 < len(pieces):
                    key = (pieces[i], pieces[i + 1])
                    double[key] = double.get(key, 0) + n
        best, highest = None, None
        for (a, b), n in sorted(double.items()):
            value = score(n, single[a], single[b])
            if highest is None or value > highest:
                best, highest = (a, b), value
        if best is None:
            break
        new = best[0] + best[1][2:]
        vocab.append(new)
        pattern = re.compile(r"(?<!\\S)" + re.escape(" ".join(best)) + r"(?!\\S)")
        texts = {pattern.sub(new, text): n for text, n in texts.items()}
    return vocab
""",
        "a dictionary from pieces to ids": """
def learn_pieces(counts, size, score):
    words = [([word[0]] + ["##" + letter for letter in word[1:]], n) for word, n in counts.items()]
    ids = {piece: i for i, piece in enumerate(sorted({piece for pieces, _ in words for piece in pieces}))}
    while len(ids) < size:
        pairs = Counter()
        for pieces, n in words:
            for i in range(len(pieces) - 1):
                pairs[pieces[i], pieces[i + 1]] += n
        if len(pairs) == 0:
            break
        def count(piece):
            return sum(n * pieces.count(piece) for pieces, n in words)
        a, b = sorted(pairs, key=lambda pair: (-score(pairs[pair], count(pair[0]), count(pair[1])), *pair))[0]
        ids[a + b[2:]] = len(ids)
        for pieces, n in words:
            i = 0
            while i + 1 < len(pieces):
                if pieces[i] == a and pieces[i + 1] == b:
                    pieces[i] += pieces.pop(i + 1)[2:]
                i += 1
    return ids
""",
    },
    hints=(
        "Cut three words by hand: *hug* ten times, *pug* five times, *hugs* twice. Which pair stands in the text most often? Write the words again with it merged. "
        "Which is next?",
        "A list of pieces for each word, a count for each pair of neighbours and one for each piece. Out: a list of strings, letters first.",
        "cut each word into letters; the vocabulary = the sorted set of these\nwhile it is too small:\n    count pieces and pairs, each word as often as it occurs\n"
        "    no pairs? done\n    best = highest score, then first in alphabetical order\n    append the joined text; merge it in every word, from the left",
        "Near miss: `max(pairs, key=…)` finds the highest score, and of equal ones the one that was entered first. `min` with a tuple of −score and the pair "
        "settles both.",
    ),
)

# ------------------------------------------------------------------------------------------ a pair of sentences


def pair_cases(draw: Draw) -> Iterator[Case]:
    """Pairs that fit, with and without padding, and pairs that are too long in each way."""
    sizes = ((4, 6, 16), (5, 3, 11), (9, 4, 14), (3, 10, 12), (7, 7, 12), (8, 11, 13), (6, 9, 21))
    for first, second, T in sizes:
        words = draw.rng.permutation(np.arange(10, 9_000))
        cls, sep, pad = (int(word) for word in words[-3:])
        if (first, second) in ((5, 3), (6, 9)):  # words may have any id, also those of the special tokens
            words[[1, first]], words[2] = pad, sep
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
    cases=pair_cases,
    rule=Rule("equal", axes={"0": "T", "1": "T", "2": "T"}),
    mistakes=(
        Mistake(
            "the first [SEP] counted to the second sentence",
            "Your ids are right. The segment changes one token too early: the [SEP] that ends the first sentence belongs to it.",
            SEGMENTS, "torch.tensor([0] * (len(first) - 1) + [1] * (len(second) + 1) + [0] * rest)",
        ),
        Mistake(
            "a [CLS] before each sentence",
            "There are two [CLS] in your ids: one stands at the very beginning, for both sentences.",
            edits={SECOND: "second = [cls, *b, sep]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 4 > T"},
        ),
        Mistake(
            "no [SEP] at the end",
            "Your second sentence is not closed by a [SEP].",
            edits={SECOND: "second = [*b]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 2 > T"},
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
            SHORTEN, "longer = b",
        ),
        Mistake(
            "of two equally long, the first shortened",
            "Pairs that fit are right. Where both sentences have the same number of tokens, you take from the first; the docstring settles that.",
            SHORTEN, "longer = a if len(a) >= len(b) else b",
        ),
        Mistake(
            "the beginning of the longer one cut off",
            "Pairs that fit are right. In the others words are missing at the beginning of a sentence; the last ones go.",
            "longer.pop()", "longer.pop(0)",
        ),
        Mistake(
            "padding as part of the second sentence",
            "Your ids are right. Your segments are 1 at the padding too.",
            SEGMENTS, "torch.tensor([0] * len(first) + [1] * (len(second) + rest))",
        ),
        Mistake(
            "keep inverted",
            "Your keep is True at the padding. In this course True means: may be looked at.",
            "torch.arange(T) < T - rest", "torch.arange(T) >= T - rest",
        ),
        Mistake(
            "segments 1 and 2",
            "Your segments count from 1; the table has rows 0 and 1.",
            SEGMENTS, "torch.tensor([1] * len(first) + [2] * len(second) + [0] * rest)",
        ),
        Mistake(
            "keep read off the ids",
            "Your ids are right. Your keep is False at a word whose id happens to be that of padding. What is padding you know from the "
            "lengths.",
            "torch.arange(T) < T - rest", "ids != pad",
        ),
        Mistake(
            "segments read off the ids",
            "Your ids are right. Your segments change at the first token that has the id of [SEP], and that is a word in one of the inputs. "
            "Where the first sentence ends you know from its length.",
            edits={
                SEGMENTS: "torch.tensor([int(row.index(sep) < t < T - rest) for t in range(T)])",
                SECOND: f"{SECOND}; row = first + second",
            },
        ),
        Mistake(
            "the last [SEP] in segment 0",
            "Your ids are right. The segment changes back one token too early: the [SEP] that ends the second sentence belongs to it.",
            SEGMENTS, "torch.tensor([0] * len(first) + [1] * (len(second) - 1) + [0] * (rest + 1))",
        ),
        Mistake(
            "cut to half of the places",
            "Pairs that fit are right. You cut the second sentence to half of the places, also where the first leaves room.",
            code="""
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    if len(a) + len(b) > T - 3:
        b = b[: (T - 3) // 2]
        a = a[: T - 3 - len(b)]
    row = [cls, *a, sep, *b, sep]
    rest = T - len(row)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(row + [pad] * rest), torch.tensor(segments), torch.arange(T) < len(row)
""",
            also=(
                """
def encode_pair(a, b, T, cls, sep, pad):
    a, b = a.tolist(), b.tolist()
    if len(a) + len(b) + 3 > T:
        a, b = a[: (T - 3) // 2], b[: (T - 3) // 2]
    row = [cls, *a, sep, *b, sep]
    rest = T - len(row)
    segments = [0] * (len(a) + 2) + [1] * (len(b) + 1) + [0] * rest
    return torch.tensor(row + [pad] * rest), torch.tensor(segments), torch.arange(T) < len(row)
""",
            ),
        ),
        Mistake(
            "not padded",
            "Rows that are full are right. The others are too short: padding fills them up to T.",
            edits={
                "[pad] * rest)": "[])",
                SEGMENTS: "torch.tensor([0] * len(first) + [1] * len(second))",
                "torch.arange(T) < T - rest": "torch.arange(T - rest) < T",
            },
        ),
        Mistake(
            "padding in front",
            "Rows that are full are right. In the others padding stands in front; it comes at the end.",
            edits={
                "torch.tensor(first + second + [pad] * rest)": "torch.tensor([pad] * rest + first + second)",
                SEGMENTS: "torch.tensor([0] * rest + [0] * len(first) + [1] * len(second))",
                "torch.arange(T) < T - rest": "torch.arange(T) >= rest",
            },
        ),
        Mistake(
            "the special tokens not counted",
            "Pairs that fit are right. The others come out too long: [CLS] and the two [SEP] take three of the T places.",
            edits={
                "len(a) + len(b) + 3 > T": "len(a) + len(b) > T",
                "torch.arange(T) < T - rest": "torch.arange(max(T, T - rest)) < T - rest",
            },
        ),
        Mistake(
            "one token more than needed dropped",
            "A pair that fits exactly loses a token in yours, and so does every longer one.",
            "len(a) + len(b) + 3 > T", "len(a) + len(b) + 3 >= T",
        ),
        Mistake(
            "padding written as 0",
            "Your rows end in 0. The id of padding is given: pad.",
            "[pad] * rest)", "[0] * rest)",
        ),
        Mistake(
            "the special tokens not kept",
            "Your keep is False at [CLS] and [SEP]. They are tokens like all others: only padding is not to be looked at.",
            "torch.arange(T) < T - rest", "(ids != cls) & (ids != sep) & (ids != pad)",
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
        "numpy": """
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
    keep = np.zeros(T, dtype=bool)
    keep[: len(text)] = True
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

# ------------------------------------------------------------------------------------------ the whole encoder


def encoder_shapes(V: int, P: int, D: int, L: int, F: int) -> dict[str, tuple[int, ...]]:
    """The weights of a Bert and their shapes, under the student's names."""
    shapes: dict[str, tuple[int, ...]] = {"token.weight": (V, D), "segment.weight": (2, D), "position.weight": (P, D)}
    linear = {"pooler": (D, D)}
    norms = ["norm"]
    for layer in range(L):
        linear |= {f"layers.{layer}.attention.{name}": (D, D) for name in ("query", "key", "value", "output")}
        linear |= {f"layers.{layer}.feed_forward.widen": (F, D), f"layers.{layer}.feed_forward.narrow": (D, F)}
        norms += [f"layers.{layer}.norm_attention", f"layers.{layer}.norm_feed_forward"]
    for name in norms:
        shapes |= {f"{name}.weight": (D,), f"{name}.bias": (D,)}
    for name, shape in linear.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes


def bert_cases(draw: Draw) -> Iterator[Case]:
    """Two layers; one, with rows as long as the table of positions; and one in which vectors are so short that an ε shows.

    Each layer costs a millisecond to build, and half of one each time that it is run: only two are run in training, too,
    and asked for a gradient.
    """
    short, tables = 2e-3, ("token.weight", "segment.weight", "position.weight")
    within = ("norm.weight", "norm.bias", "value.weight", "value.bias", "output.weight", "output.bias", "narrow.weight", "narrow.bias")
    for B, T, V, P, D, L, H, F, are_short in (
        (3, 5, 11, 9, 8, 2, 2, 12, ()), (2, 6, 9, 6, 6, 1, 3, 10, ()), (4, 3, 7, 5, 4, 1, 2, 9, tables + within),
    ):  # fmt: skip
        real = draw.padding(B, T)
        starts = draw.integers(1, T, B)
        weights = {}
        for name, shape in encoder_shapes(V, P, D, L, F).items():
            centre = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            value = centre + draw.normal(*shape, scale=1.0 if name in tables else 0.5)
            is_short = name in are_short or name.endswith(tuple(f".{end}" for end in are_short))
            weights[f"weights.{name}"] = (value * (short if is_short else 1.0)).astype(np.float32)
        yield {
            "config": {"vocabulary": V, "tokens": P, "dim": D, "layers": L, "heads": H, "inner": F},
            "ids": draw.integers(0, V, B, T),
            "segments": (np.arange(T) >= starts[:, None]).astype(np.int64),
            "real": real,
            "training": L == 2,
            **weights,
        }


SUMMED = "self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]]"
BLOCKS = "Block(dim, heads, inner, eps=1e-12)"
POOLED = "torch.tanh(self.pooler(states[-1][:, 0]))"

Bert = Exercise(
    cases=bert_cases,
    rule=Rule(
        axes={
            "registered": "", "states": "layers+1 B T dim", "pooled": "B dim", "the same in training": "",
            "gradient of token.weight": "vocabulary dim",
        },
        legend=OF_WEIGHTS,
    ),  # fmt: skip
    mistakes=(
        Mistake(
            "no segments",
            "The first states do not change with the segments: the sum has three terms.",
            SUMMED, "self.token(ids) + self.position.weight[: ids.shape[1]]",
        ),
        Mistake(
            "no positions",
            "The same token has the same first state wherever it stands: the sum has three terms.",
            SUMMED, "self.token(ids) + self.segment(segments)",
        ),
        Mistake(
            "a table under another name",
            "One of your tables is called something else, so that its weights found no place: the three are `token`, `segment` and `position`.",
            edits={"self.token = nn": "self.word_embeddings = nn", "self.token(ids)": "self.word_embeddings(ids)"},
        ),
        Mistake(
            "positions counted from 1",
            "The first token of a row has position 0.",
            "self.position.weight[: ids.shape[1]]",
            "self.position((torch.arange(ids.shape[1]) + 1).clamp(max=self.position.num_embeddings - 1))",
        ),
        Mistake(
            "positions looked up by the ids",
            "The same token has the same first state wherever it stands: a position is where a token stands, not which it is.",
            "self.position.weight[: ids.shape[1]]", "self.position(ids % self.position.num_embeddings)",
        ),
        Mistake(
            "positions that start again in the second sentence",
            "The first states are right in the first sentence. In the second your positions start again from 0; in BERT they run on.",
            "self.position.weight[: ids.shape[1]]",
            "self.position(torch.arange(ids.shape[1]) - torch.where(segments == 1, (segments == 0).sum(1, keepdim=True), 0))",
        ),
        Mistake(
            "the last positions of the table",
            "Where a row is as long as the table of positions you are right. In the others you take the table's last rows: the first token has position 0.",
            "self.position.weight[: ids.shape[1]]", "self.position.weight[-ids.shape[1] :]",
        ),
        Mistake(
            "segments inverted",
            "Your first sentence has the vector of the second and the other way round.",
            "self.segment(segments)", "self.segment(1 - segments)",
        ),
        Mistake(
            "the sum not normalised",
            "The first states are the bare sum of the tables. BERT has a norm behind it, before the first layer.",
            "states = [self.norm(summed)]", "states = [summed]",
            also=(
                """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = (nn.Embedding(n, dim) for n in (vocabulary, 2, tokens))
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        x = self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]]
        states = [x]
        for layer in self.layers:
            x = layer(x, real[:, None])
            states.append(x)
        x = self.norm(x)
        return torch.stack(states), torch.tanh(self.pooler(x[:, 0]))
""",
                """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = (nn.Embedding(n, dim) for n in (vocabulary, 2, tokens))
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        states = [self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]]]
        for layer in self.layers:
            states.append(layer(states[-1], real[:, None]))
        states[-1] = self.norm(states[-1])
        return torch.stack(states), torch.tanh(self.pooler(states[-1][:, 0]))
""",
            ),
        ),
        Mistake(
            "the unnormed sum among the states",
            "Only the first of your states is wrong: it is the sum before its norm, and your layers read it after.",
            code="""
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = (nn.Embedding(n, dim) for n in (vocabulary, 2, tokens))
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        x = self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]]
        states = [x]
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, real[:, None])
            states.append(x)
        return torch.stack(states), torch.tanh(self.pooler(x[:, 0]))
""",
        ),
        Mistake(
            "PyTorch's ε",
            "Where the vectors are long your numbers are right, where they are short they are too small: nn.LayerNorm takes 1e-5 for ε unless it is told.",
            edits={"self.norm = nn.LayerNorm(dim, eps=1e-12)": "self.norm = nn.LayerNorm(dim)", BLOCKS: "Block(dim, heads, inner)"},
        ),
        Mistake(
            "PyTorch's ε in the norm of the sum",
            "The norms of your layers have the ε of BERT. The one behind the three tables has PyTorch's own, 1e-5.",
            "self.norm = nn.LayerNorm(dim, eps=1e-12)", "self.norm = nn.LayerNorm(dim)",
        ),
        Mistake(
            "PyTorch's ε in the layers",
            "The norm behind your tables has the ε of BERT. Those in your layers have PyTorch's own, 1e-5: a Block takes its ε as `eps`.",
            BLOCKS, "Block(dim, heads, inner)",
        ),
        Mistake(
            "dropout in the blocks",
            "Your numbers are right while the model is used. In training your blocks drop some: the docstring asks for no dropout.",
            BLOCKS, "Block(dim, heads, inner, eps=1e-12, dropout=0.1)",
        ),
        Mistake(
            "the states cut off from training",
            "Your numbers are right. But whoever trains on your hidden states trains nothing: detach, .data or no_grad cuts them off from the weights.",
            "return torch.stack(states),", "return torch.stack(states).detach(),",
            also=("""
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = (nn.Embedding(n, dim) for n in (vocabulary, 2, tokens))
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        x = self.norm(self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]])
        states = [x.detach()]
        for layer in self.layers:
            x = layer(x, real[:, None])
            states.append(x.detach())
        return torch.stack(states), torch.tanh(self.pooler(x[:, 0]))
""",),
        ),
        Mistake(
            "each layer cut off from the one below",
            "Your numbers are right. But each of your layers reads a copy that is cut off (detach or .data): what is above trains nothing below.",
            "layer(states[-1], real[:, None])", "layer(states[-1].detach(), real[:, None])",
        ),
        Mistake(
            "the pooler cut off",
            "Your numbers are right. But your pooler reads a copy that is cut off (detach or .data): what is trained on the pooled vectors trains the pooler alone.",
            POOLED, "torch.tanh(self.pooler(states[-1][:, 0].detach()))",
        ),
        Mistake(
            "all cut off from training",
            "Your numbers are right. But no step of training could change your weights: no_grad cuts what you return off from them (4 in `registered`).",
            "    def forward(self, ids, segments, real):", "    @torch.no_grad()\n    def forward(self, ids, segments, real):",
        ),
        Mistake(
            "a table cut off from training",
            "Your numbers are right. But no step of training could change your table of positions: .data or detach cuts it off (4 in `registered`).",
            "self.position.weight[: ids.shape[1]]", "self.position.weight.data[: ids.shape[1]]",
        ),
        Mistake(
            "pre-norm",
            "Your layers normalise first. BERT is of 2018 and normalises the sums.",
            BLOCKS, "Block(dim, heads, inner, norm_first=True, eps=1e-12)",
        ),
        Mistake(
            "GELU by its formula with tanh",
            "Your numbers are off by a thousandth or less: that is the GELU of GPT-2. BERT has the exact one.",
            BLOCKS, 'Block(dim, heads, inner, activation="gelu_tanh", eps=1e-12)',
        ),
        Mistake(
            "ReLU",
            "Your layers have the ReLU of 2017. BERT has GELU.",
            BLOCKS, 'Block(dim, heads, inner, activation="relu", eps=1e-12)',
        ),
        Mistake(
            "padding is seen",
            "Rows without padding are right. In the others the tokens look at the padding, too.",
            "real[:, None]", "torch.ones_like(real)[:, None]",
        ),
        Mistake(
            "tokens and padding changed places",
            "Your tokens see padding and nothing else: `real` is True at tokens, as `keep` is for those who may be seen.",
            "real[:, None]", "(~real | real.all(1, keepdim=True))[:, None]",
        ),
        Mistake(
            "no tanh in the pooler",
            "The states are right. The pooled vectors have numbers above 1: tanh is missing.",
            POOLED, "self.pooler(states[-1][:, 0])",
        ),
        Mistake(
            "the mean is pooled",
            "The states are right. BERT pools the vector of [CLS], the first of the row, and not the mean of all.",
            POOLED, "torch.tanh(self.pooler(states[-1].mean(1)))",
            also=(
                """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = (nn.Embedding(n, dim) for n in (vocabulary, 2, tokens))
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        states = [self.norm(self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]])]
        for layer in self.layers:
            states.append(layer(states[-1], real[:, None]))
        share = real[..., None] / real.sum(1)[:, None, None]
        return torch.stack(states), torch.tanh(self.pooler((states[-1] * share).sum(1)))
""",
            ),
        ),
        Mistake(
            "[CLS] pooled from the embeddings",
            "The states are right. The pooler reads the last of them, yours reads the first.",
            POOLED, "torch.tanh(self.pooler(states[0][:, 0]))",
        ),
        Mistake(
            "a plain list of layers",
            "The weights of your layers are not registered: a plain list hides its modules from PyTorch. No optimiser would train them, and no file would hold them.",
            "nn.ModuleList(Block(dim, heads, inner, eps=1e-12) for _ in range(layers))", "[Block(dim, heads, inner, eps=1e-12) for _ in range(layers)]",
        ),
        Mistake(
            "one layer for all",
            "All your layers are one and the same module, with one set of weights. (ALBERT of 2019 does that; BERT does not.)",
            "nn.ModuleList(Block(dim, heads, inner, eps=1e-12) for _ in range(layers))", "nn.ModuleList([Block(dim, heads, inner, eps=1e-12)] * layers)",
        ),
        Mistake(
            "the embeddings missing from the states",
            "There is a state too few: the first ones are the normed sum, what layer 1 reads.",
            "return torch.stack(states)", "return torch.stack(states[1:])",
        ),
        Mistake(
            "a buffer that is saved",
            "Your numbers are right. But what you register as a buffer (the numbers 0 to 511?) is saved with the model, and then asked for when weights are loaded: "
            "a file without it does not fit. `register_buffer(…, persistent=False)` leaves it out.",
            "self.pooler = ", 'self.register_buffer("position_ids", torch.arange(tokens))\n        self.pooler = ',
        ),
        Mistake(
            "the tokens scaled by √D",
            "The original transformer multiplied its token vectors by √D. BERT does not.",
            "self.token(ids) +", "self.token(ids) * self.token.embedding_dim**0.5 +",
        ),
    ),
    alternatives={
        "positions looked up, states in a list of tensors": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super(Bert, self).__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.position = nn.Embedding(tokens, dim)
        self.segment = nn.Embedding(2, dim)
        self.pooler = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim, 1e-12)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            self.layers.append(Block(dim, heads, inner, False, "gelu", 1e-12, 0.0))

    def forward(self, ids, segments, real):
        B, T = ids.shape
        places = torch.arange(T).expand(B, T)
        x = self.norm(self.position(places) + self.token(ids) + self.segment(segments))
        keep = real.unsqueeze(1).expand(B, T, T)
        hidden = x.unsqueeze(0)
        for number in range(len(self.layers)):
            x = self.layers[number](x, keep)
            hidden = torch.cat([hidden, x.unsqueeze(0)])
        cls = hidden[-1, :, 0, :]
        return hidden, self.pooler(cls).tanh()
""",
        "its own norm, in parts": """
class Bert(nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner):
        super().__init__()
        self.token, self.segment, self.position = nn.Embedding(vocabulary, dim), nn.Embedding(2, dim), nn.Embedding(tokens, dim)
        self.layers = nn.ModuleList([Block(dim, heads, inner, eps=1e-12) for _ in range(layers)])
        self.norm, self.pooler = nn.LayerNorm(dim), nn.Linear(dim, dim)
        self.norm.eps = 1e-12

    def embed(self, ids, segments):
        return self.norm(self.token.weight[ids] + self.segment.weight[segments] + self.position.weight[None, : ids.size(1)])

    def forward(self, ids, segments, real):
        all_states = [self.embed(ids, segments)]
        for layer in self.layers:
            all_states += [layer(all_states[-1], real.view(len(real), 1, -1))]
        return torch.stack(all_states, 0), self.pooler(all_states[-1][:, 0]).tanh()
""",
    },
    survivors={
        "eps=2e-12": "no ε as small as this changes a number of float32, unless a vector is next to nothing",
        "eps=-1e-12": "the same",
    },
    hints=(
        "Which three things does BERT know of a token before any layer has read it? And which part of 03 comes right behind their sum?",
        "ids, segments, real: (B, T). Each state: (B, T, dim), layers + 1 of them. `real[:, None]`: (B, 1, T), which Block takes for keep. Pooled: (B, dim).",
        "init: three tables, the norm, a ModuleList of Blocks with eps=1e-12, the pooler\nforward: the normed sum of the tables is the first state\n"
        "    each layer reads the last state and gives the next\n    the states, stacked; tanh of the pooler on the last state's first token",
        "Near miss: `[Block(…) for _ in range(layers)]` computes the right thing with weights that nobody finds. nn.ModuleList registers them.",
    ),
)

# ------------------------------------------------------------------------------------------ the names of its weights


def bert_names_cases(draw: Draw) -> Iterator[Case]:
    """A BertModel as of today; one with heads and a buffer, as of 2019; one of 2018 with gamma and beta, and eleven layers."""
    linear = {"attention.self.query": (0, 0), "attention.self.key": (0, 0), "attention.self.value": (0, 0),
              "attention.output.dense": (0, 0), "intermediate.dense": (1, 0), "output.dense": (0, 1)}  # fmt: skip
    for V, D, F, P, layers, prefix, old in ((7, 4, 6, 5, 2, "", False), (5, 6, 9, 8, 1, "bert.", False), (6, 3, 5, 4, 11, "bert.", True)):
        gain, shift = ("gamma", "beta") if old else ("weight", "bias")
        shapes: dict[str, tuple[int, ...]] = {
            "embeddings.word_embeddings.weight": (V, D), "embeddings.position_embeddings.weight": (P, D),
            "embeddings.token_type_embeddings.weight": (2, D),
            f"embeddings.LayerNorm.{gain}": (D,), f"embeddings.LayerNorm.{shift}": (D,),
        }  # fmt: skip
        for layer in range(layers):
            for name, (rows, columns) in linear.items():
                size = ((D, F)[rows], (D, F)[columns])
                shapes |= {f"encoder.layer.{layer}.{name}.weight": size, f"encoder.layer.{layer}.{name}.bias": size[:1]}
            for name in ("attention.output.LayerNorm", "output.LayerNorm"):
                shapes |= {f"encoder.layer.{layer}.{name}.{gain}": (D,), f"encoder.layer.{layer}.{name}.{shift}": (D,)}
        shapes |= {"pooler.dense.weight": (D, D), "pooler.dense.bias": (D,)}
        theirs = {f"{prefix}{name}": draw.normal(*shape) for name, shape in shapes.items()}
        if prefix:
            theirs[f"{prefix}embeddings.position_ids"] = np.arange(P)[None]
            theirs["cls.predictions.bias"] = draw.normal(V)
            theirs["cls.predictions.transform.dense.weight"] = draw.normal(D, D)
            theirs[f"cls.predictions.transform.LayerNorm.{gain}"] = draw.normal(D)
            theirs["cls.predictions.decoder.weight"] = theirs[f"{prefix}embeddings.word_embeddings.weight"].copy()
            theirs["cls.seq_relationship.weight"] = draw.normal(2, D)
        yield theirs


OLD_NAMES = 'part = {"gamma": "weight", "beta": "bias"}.get(part, part)'
PLACED = 'ours[f"{layer}{PLACES[place]}.{part}"] = value'

bert_names = Exercise(
    cases=bert_names_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "rounded to half precision",
            "Your names are right. The numbers do not stay as they are: in half precision (float16, bfloat16) three digits or fewer are left of seven.",
            PLACED, 'ours[f"{layer}{PLACES[place]}.{part}"] = value.half()',
            also=("""
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        place, _, part = name.removeprefix("bert.").rpartition(".")
        layer = ""
        if place.startswith("encoder.layer."):
            _, _, number, place = place.split(".", 3)
            layer = f"layers.{number}."
        if place in PLACES:
            part = {"gamma": "weight", "beta": "bias"}.get(part, part)
            ours[f"{layer}{PLACES[place]}.{part}"] = value.bfloat16()
    return ours
""",),
        ),
        Mistake(
            "gamma and beta kept",
            "The norms of files of 2018 have names that your modules do not know: gamma is the weight, beta the bias.",
            OLD_NAMES, "pass",
        ),
        Mistake(
            "gamma and beta changed places",
            "The norms of files of 2018 have weight and bias in each other's place: gamma multiplies, beta is added.",
            '{"gamma": "weight", "beta": "bias"}', '{"gamma": "bias", "beta": "weight"}',
        ),
        Mistake(
            "matrices transposed",
            "Your matrices are turned round. Both programs have nn.Linear, (out, in): nothing is to be transposed here.",
            PLACED, 'ours[f"{layer}{PLACES[place]}.{part}"] = value.T if value.ndim == 2 and layer else value',
            also=(
                """
def bert_names(theirs):
    ours = {}
    for name, value in theirs.items():
        place, _, part = name.removeprefix("bert.").rpartition(".")
        layer = ""
        if place.startswith("encoder.layer."):
            _, _, number, place = place.split(".", 3)
            layer = f"layers.{number}."
        if place in PLACES:
            part = {"gamma": "weight", "beta": "bias"}.get(part, part)
            linear = value.ndim == 2 and "embeddings" not in place
            ours[f"{layer}{PLACES[place]}.{part}"] = value.T if linear else value
    return ours
""",
            ),
        ),
        Mistake(
            "models with heads not taken",
            "A BertModel alone is right. Of a model with heads, whose names begin with bert., you return nothing.",
            'name.removeprefix("bert.")', "name",
        ),
        Mistake(
            "models without heads not taken",
            "With the prefix bert. you are right. A BertModel alone has no prefix: of it you return nothing.",
            "    ours = {}\n", '    ours = {}\n    theirs = {name: value for name, value in theirs.items() if name.startswith("bert.")}\n',
        ),
        Mistake(
            "the buffer taken for a parameter",
            "There is a name too many: position_ids holds the numbers 0, 1, 2, … and nothing that is learned.",
            "    return ours",
            '    for name, value in theirs.items():\n        if name.endswith("position_ids"):\n            ours["position_ids"] = value\n    return ours',
        ),
        Mistake(
            "the heads taken along",
            "There are names too many: what begins with cls. belongs to BERT's two objectives, for which your encoder has no parameters.",
            "        if place in PLACES:",
            '        if place.startswith("cls"):\n            ours[name] = value\n        if place in PLACES:',
        ),
        Mistake(
            "layers counted from 1",
            "Your layers have the numbers from 1 on. Both programs count from 0.",
            'layer = f"layers.{number}."', 'layer = f"layers.{int(number) + 1}."',
        ),
        Mistake(
            "their names kept",
            "These are still the names of Hugging Face's modules: PLACES says how yours are called.",
            code="""
def bert_names(theirs):
    return {name.removeprefix("bert."): value for name, value in theirs.items()}
""",
            also=(
                """
def bert_names(theirs):
    return dict(theirs)
""",
            ),
        ),
        Mistake(
            "the layers alone",
            "The tables, their norm and the pooler are missing: they stand outside the layers.",
            "        if place in PLACES:", "        if place in PLACES and layer:",
        ),
        Mistake(
            "the pooler forgotten",
            "pooler.weight and pooler.bias are missing.",
            "        if place in PLACES:", '        if place in PLACES and not place.startswith("pooler"):',
        ),
        Mistake(
            "the biases forgotten",
            "The biases are missing: each map and each norm has one.",
            "            ours[f", '            if part == "bias":\n                continue\n            ours[f',
        ),
    ),
    alternatives={
        "by replacing, with the longest names first": """
def bert_names(theirs):
    found = {}
    for name, value in theirs.items():
        if name.startswith("cls.") or name.endswith("position_ids"):
            continue
        name = name.replace("bert.", "").replace("encoder.layer", "layers").replace("gamma", "weight").replace("beta", "bias")
        for old in sorted(PLACES, key=len, reverse=True):
            if f".{old}." in f".{name}":
                name = f".{name}".replace(f".{old}.", f".{PLACES[old]}.").lstrip(".")
                break
        found[name] = value
    return found
""",
        "layer by layer, from what is expected": """
def bert_names(theirs):
    theirs = {name[5:] if name.startswith("bert.") else name: value for name, value in theirs.items()}
    layers = {name.split(".")[2] for name in theirs if name.startswith("encoder.layer.")}
    ours = {}
    for old, new in PLACES.items():
        homes = [(old, new)] + [(f"encoder.layer.{i}.{old}", f"layers.{i}.{new}") for i in layers]
        for place, home in homes:
            for part, names in {"weight": ("weight", "gamma"), "bias": ("bias", "beta")}.items():
                for name in names:
                    if f"{place}.{name}" in theirs:
                        ours[f"{home}.{part}"] = theirs[f"{place}.{name}"]
    return ours
""",
    },
    hints=(
        "Take bert.encoder.layer.3.attention.output.LayerNorm.gamma and say of each piece what becomes of it.",
        "In and out: a dictionary from names to tensors. A name is a place and, behind its last dot, weight or bias. Of four kinds of names nothing comes out.",
        "for each name and value:\n    without the prefix; place and part, at the last dot\n    inside a layer: its number, and the place behind it\n"
        "    if PLACES has the place: the new name, with gamma and beta renamed",
        'Near miss: `name.replace("output.dense", "feed_forward.narrow")` also changes attention.output.dense, which ends in the same words.',
    ),
)

# ------------------------------------------------------------------------------------------ corruption


def corrupt_cases(draw: Draw) -> Iterator[Case]:
    """Draws in thousandths, which the check cell divides: about half lie near the thresholds, some exactly on them.

    In each row one of the random words that are taken is a special token.
    """
    for B, T, V in ((3, 24, 60), (5, 18, 90), (4, 31, 75)):
        cls, sep, pad, mask = (int(i) for i in draw.rng.permutation(np.arange(V, V + 9))[:4])
        ids = draw.integers(0, V, B, T)
        lengths = draw.integers(14, T - 1, B)
        places = np.arange(T)
        ids = np.where(places < lengths[:, None], ids, pad)
        ids[:, 0], ids[places == lengths[:, None] - 1] = cls, sep
        choice = np.where(
            draw.rng.random((B, T)) < 0.6, draw.integers(0, 200, B, T), draw.integers(0, 1000, B, T)
        )
        change = np.where(
            draw.rng.random((B, T)) < 0.5, draw.integers(750, 1000, B, T), draw.integers(0, 1000, B, T)
        )
        random_words = draw.integers(0, V, B, T)
        for row in range(B):
            # Each threshold exactly; a word that stays, a random word that happens to be the true one, a word
            # that is not chosen although its second draw is low; special tokens with low draws.
            draws = ((150, 300), (50, 800), (50, 900), (50, 950), (50, 850), (600, 100), (600, 850))
            choice[row, 2 + row : 9 + row], change[row, 2 + row : 9 + row] = np.transpose(draws)
            random_words[row, 6 + row] = ids[row, 6 + row]
            random_words[row, 3 + row] = (cls, sep, pad)[row % 3]
            special = [0, lengths[row] - 1, T - 1]
            choice[row, special], change[row, special] = 50, (300, 850, 950)
        yield {
            "ids": ids,
            "special": np.array([pad, cls, sep]),
            "mask": mask,
            "choice": choice,
            "change": change,
            "random_words": random_words,
        }


CHOSEN = "(choice < 0.15) & ~torch.isin(ids, special)"
LABELS = "labels = ids.masked_fill(~chosen, UNCHOSEN)"
TO_MASK = "torch.where(chosen & (change < 0.8), mask, ids)"
TO_RANDOM = "torch.where(chosen & (change >= 0.8) & (change < 0.9), random_words, corrupted)"
CORRUPTED = """
def mlm_corrupt(ids, special, mask, choice, change, random_words):
    chosen, turn = {}, {}
    corrupted = torch.where(chosen & (turn < 0.8), mask, ids)
    corrupted = torch.where(chosen & (turn >= 0.8) & (turn < 0.9), random_words, corrupted)
    return corrupted, {}
"""
LABELLED = "ids.masked_fill(~chosen, UNCHOSEN)"

mlm_corrupt = Exercise(
    cases=corrupt_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "special tokens chosen",
            "Some of your [CLS], [SEP] or [PAD] are chosen like words. There is nothing to learn from guessing them, and the model needs them.",
            CHOSEN, "choice < 0.15",
        ),
        Mistake(
            "80/10/10 of all tokens",
            "Far too many of your tokens are changed: the second draw decides only what happens to a word that was *chosen*.",
            edits={
                TO_MASK: "torch.where((change < 0.8) & ~torch.isin(ids, special), mask, ids)",
                TO_RANDOM: "torch.where((change >= 0.8) & (change < 0.9) & ~torch.isin(ids, special), random_words, corrupted)",
            },
        ),
        Mistake(
            "labels only where the input was changed",
            "Your corrupted ids are right. Words that were chosen and stay as they are have lost their label: then the model is never asked about a word that it sees.",
            LABELS, "labels = ids.masked_fill(~(chosen & (change < 0.9)), UNCHOSEN)",
        ),
        Mistake(
            "labels only at [MASK]",
            "Your corrupted ids are right. Only the words that became [MASK] have a label; the other chosen ones are to be said, too.",
            LABELS, "labels = ids.masked_fill(~(chosen & (change < 0.8)), UNCHOSEN)",
        ),
        Mistake(
            "every chosen word as [MASK]",
            "All your chosen words become [MASK]. One in ten becomes a random word, and one in ten stays.",
            edits={TO_RANDOM: "corrupted", TO_MASK: "torch.where(chosen, mask, ids)"},
        ),
        Mistake(
            "the label is the corrupted word",
            "Your labels are what now stands there. The model is to say what stood there *before*.",
            edits={
                f"    {LABELS}\n": "",
                "return corrupted, labels": "return corrupted, corrupted.masked_fill(~chosen, UNCHOSEN)",
            },
        ),
        Mistake(
            "labels at every word",
            "Your labels ask for every token. Where nothing was chosen the label is −100.",
            LABELS, "labels = ids.masked_fill(torch.isin(ids, special), UNCHOSEN)",
            also=(CORRUPTED.format(CHOSEN, "change", "ids"),),
        ),
        Mistake(
            "one special token spared",
            "Some of your special tokens are chosen like words: you look for one of the special ids only.",
            code=CORRUPTED.format("(choice < 0.15) & (ids != special[0])", "change", LABELLED),
            also=tuple(
                CORRUPTED.format(f"(choice < 0.15) & (ids != special[{one}])", "change", LABELLED)
                for one in (1, 2)
            ),
        ),
        Mistake(
            "special ids taken for the smallest",
            "You compare ids by size. Special are the ids that stand in `special`; elsewhere in the vocabulary they have other numbers.",
            code=CORRUPTED.format("(choice < 0.15) & (ids >= len(special))", "change", LABELLED),
            also=(CORRUPTED.format("(choice < 0.15) & (ids > special.max())", "change", LABELLED),),
        ),
        Mistake(
            "85 % chosen",
            "Most of your words are chosen. A word is chosen where its first draw is *below* 0.15.",
            CHOSEN, "(choice > 0.15) & ~torch.isin(ids, special)",
            also=(CORRUPTED.format("(choice >= 0.15) & ~torch.isin(ids, special)", "change", LABELLED),),
        ),
        Mistake(
            "a draw of exactly 0.15 chosen",
            "Nearly all is right. A word is chosen where its draw is *below* 0.15; some draws are 0.15 itself.",
            CHOSEN, "(choice <= 0.15) & ~torch.isin(ids, special)",
        ),
        Mistake(
            "a draw of exactly 0.8 for [MASK]",
            "Nearly all is right. A chosen word becomes [MASK] where its draw is *below* 0.8; some draws are 0.8 itself, and theirs "
            "become random words.",
            edits={
                TO_MASK: "torch.where(chosen & (change <= 0.8), mask, ids)",
                "(change >= 0.8)": "(change > 0.8)",
            },
        ),
        Mistake(
            "a draw of exactly 0.9 for a random word",
            "Nearly all is right. A random word stands where the draw is *below* 0.9; some draws are 0.9 itself, and theirs stay.",
            "(change < 0.9)", "(change <= 0.9)",
        ),
        Mistake(
            "draws of exactly 0.15, 0.8 and 0.9 counted as below",
            "Nearly all is right. All three limits count as below in yours, and some draws are exactly one of them: chosen is below 0.15, "
            "[MASK] below 0.8, a random word below 0.9.",
            code=CORRUPTED.format("(choice <= 0.15) & ~torch.isin(ids, special)", "change", LABELLED)
            .replace("< 0.8", "<= 0.8")
            .replace(">= 0.8", "> 0.8")
            .replace("< 0.9", "<= 0.9"),
        ),
        Mistake(
            "a special token refused as a random word",
            "Your labels are right. Where the random word happens to be a special token, you do not take it. `special` says which tokens "
            "are never chosen, not what may stand in the place of one that was.",
            "(change < 0.9), random_words", "(change < 0.9) & ~torch.isin(random_words, special), random_words",
        ),
        Mistake(
            "no [MASK] left",
            "Your random words took the place of [MASK]: they begin where the draw is 0.8.",
            "(change >= 0.8) & ", "",
        ),
        Mistake(
            "the draws mixed up",
            "You have taken one draw for the other: choice says whether a word is chosen, change what becomes of it.",
            code=CORRUPTED.format("(change < 0.15) & ~torch.isin(ids, special)", "choice", LABELLED),
        ),
        Mistake(
            "random words also where nothing was chosen",
            "Your labels are right. Words that were not chosen became random ones: the second draw counts only where a word was chosen.",
            "torch.where(chosen & (change >= 0.8)", "torch.where((change >= 0.8)",
        ),
        Mistake(
            "labels only where the text differs",
            "Your corrupted ids are right. You look for chosen words by comparing the texts, but some chosen words are the same in both.",
            edits={
                LABELS + "\n": "\n",
                "return corrupted, labels": "return corrupted, ids.masked_fill(corrupted == ids, UNCHOSEN)",
            },
        ),
        Mistake(
            "one draw for both decisions",
            "You decide what happens to a chosen word with the draw that chose it. Two decisions, two draws: the second one says what becomes of the word.",
            edits={
                TO_MASK: "torch.where(chosen & (choice < 0.8 * 0.15), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (choice >= 0.8 * 0.15) & (choice < 0.9 * 0.15), random_words, corrupted)",
            },
        ),
        Mistake(
            "10 % [MASK] and 80 % random",
            "Most of your chosen words become random words. Most should become [MASK].",
            edits={
                TO_MASK: "torch.where(chosen & (change >= 0.8) & (change < 0.9), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (change < 0.8), random_words, corrupted)",
            },
        ),
        Mistake(
            "no word left as it is",
            "Of your chosen words none stays: the upper tenth of the draws belongs to those that do.",
            TO_RANDOM, "torch.where(chosen & (change >= 0.8), random_words, corrupted)",
        ),
        Mistake(
            "0 where nothing was chosen",
            "Your labels are 0 where nothing was chosen; 0 is the id of a token. The docstring names another number.",
            LABELS, "labels = ids.masked_fill(~chosen, 0)",
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (corrupted, labels).",
            "return corrupted, labels", "return labels, corrupted",
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
    """Labels at about a third of the places, a different number in each row; −100 elsewhere.

    The word with id 0 is among them; of three rows or more, one has no label at all.
    """
    chosen = draw.rng.random((B, T)) < 0.3
    chosen[0, :4], chosen[1], chosen[1, 2], chosen[2:3] = True, False, True, False
    labels = np.where(chosen, draw.integers(0, V, B, T), UNCHOSEN)
    labels[0, 0] = 0
    return labels


def mlm_loss_cases(draw: Draw) -> Iterator[Case]:
    for B, T, V in ((2, 9, 6), (3, 7, 5), (4, 10, 8), (5, 6, 9)):
        logits, labels = draw.normal(B, T, V), chosen_labels(draw, B, T, V)
        if B == 5:  # so sure, and so wrong, that the right word's probability is 0 in any floating point
            logits[0, 0, 0], logits[0, 0, 1] = -500, 500
        yield {"logits": logits, "labels": labels}


LOG_P = "logits[chosen].log_softmax(dim=-1)"
SAID = "-log_p.gather(1, labels[chosen][:, None]).mean()"

mlm_loss = Exercise(
    cases=mlm_loss_cases,
    mistakes=(
        Mistake(
            "every token in the mean",
            "Your number is too small, and the more so the fewer words were chosen: you divide by all tokens.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum() / labels.numel()",
        ),
        Mistake(
            "the sum instead of the mean",
            "Your number grows with the number of chosen words. A loss in nats *a word* is a mean.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum()",
        ),
        Mistake(
            "a mean for each sentence first",
            "You average within each sentence first: then a word counts more in a sentence where few were chosen; and where none was, "
            "there is nothing to average.",
            code="""
def mlm_loss(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    chosen = labels != -100
    said = -log_p.gather(2, labels.clamp(min=0)[..., None])[..., 0] * chosen
    return (said.sum(dim=1) / chosen.sum(dim=1)).mean()
""",
            also=(
                """
def mlm_loss(logits, labels):
    rows = [(row[wanted != -100], wanted[wanted != -100]) for row, wanted in zip(logits, labels)]
    means = [torch.nn.functional.cross_entropy(row, wanted) for row, wanted in rows if len(wanted)]
    return torch.stack(means).mean()
""",
                """
def mlm_loss(logits, labels):
    log_p = logits.log_softmax(dim=-1)
    chosen = labels != -100
    said = -log_p.gather(2, labels.clamp(min=0)[..., None])[..., 0] * chosen
    return (said.sum(dim=1) / chosen.sum(dim=1).clamp(min=1)).mean()
""",
            ),
        ),
        Mistake(
            "numbers that run over or become 0",
            "Right for moderate logits. Where the model is sure, exp runs over or a probability is rounded to 0, and its logarithm is lost: "
            "take the logarithm of the softmax in one step, as log_softmax does.",
            LOG_P, "logits[chosen].softmax(dim=-1).log()",
            also=tuple(
                f"""
def mlm_loss(logits, labels):
    chosen = labels != -100
    z, wanted = logits[chosen], labels[chosen][:, None]
    return {loss}.mean()
"""
                for loss in (
                    "-(z.exp() / z.exp().sum(dim=-1, keepdim=True)).log().gather(1, wanted)",
                    "z.exp().sum(dim=-1).log() - z.gather(1, wanted)[:, 0]",
                    "-(z.softmax(dim=-1) + 1e-8).log().gather(1, wanted)",
                    "-(z.softmax(dim=-1) + 1e-9).log().gather(1, wanted)",
                    "-(z.softmax(dim=-1) + 1e-10).log().gather(1, wanted)",
                    "-(z.softmax(dim=-1) + 1e-12).log().gather(1, wanted)",
                )
            ),
        ),
        Mistake(
            "the word with id 0 ignored",
            "A chosen word whose id is 0 costs nothing in yours. Not chosen is −100; 0 is a word like any other.",
            code="""
def mlm_loss(logits, labels):
    chosen = labels > 0
    return torch.nn.functional.cross_entropy(logits[chosen], labels[chosen])
""",
        ),
        Mistake(
            "the logarithm of the mean probability",
            "You average probabilities and take the logarithm at the end. Each chosen word has its own −log p; the mean is over those.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).exp().mean().log()",
        ),
        Mistake(
            "softmax over the places of a row",
            "Your probabilities add up to 1 over the places of a sentence, where they should over the vocabulary.",
            LOG_P, "logits.log_softmax(dim=1)[chosen]",
        ),
        Mistake(
            "divided by the number of sentences",
            "Your number grows with the length of the sentences: you divide by their number, not by that of the chosen words.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum() / len(logits)",
        ),
        Mistake(
            "the loss on every token",
            "You ask for a word also where none was chosen: −100 is taken for the word 0.",
            edits={
                LOG_P: "logits.flatten(0, 1).log_softmax(dim=-1)",
                SAID: "-log_p.gather(1, labels.clamp(min=0).flatten()[:, None]).mean()",
            },
        ),
        Mistake(
            "no softmax",
            "Your numbers are means of logits; they can be negative. First the logits have to become log-probabilities.",
            LOG_P, "logits[chosen]",
        ),
        Mistake(
            "softmax over the chosen words",
            "Your probabilities add up to 1 over the chosen places, where they should over the vocabulary.",
            LOG_P, "logits[chosen].log_softmax(dim=0)",
        ),
        Mistake(
            "probabilities instead of their logarithms",
            "Your numbers lie between −1 and 0: the logarithm is missing.",
            LOG_P, "logits[chosen].softmax(dim=-1)",
        ),
        Mistake(
            "the sign",
            "Your loss is negative: the better the model, the more it would grow.",
            SAID, SAID[1:],
        ),
        Mistake(
            "bits instead of nats",
            "Your numbers are too large by the factor 1.44 (where they are not infinite): this course takes the natural logarithm.",
            SAID, f"{SAID} / torch.log(torch.tensor(2.0))",
            also=(
                """
def mlm_loss(logits, labels):
    chosen = labels != -100
    p = logits[chosen].softmax(dim=-1)
    return -p.log2().gather(1, labels[chosen][:, None]).mean()
""",
            ),
        ),
        Mistake(
            "perplexity",
            "You return the exponential of the loss. The loss itself is in nats.",
            SAID, f"({SAID}).exp()",
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
    for row, wanted in zip(logits.tolist(), labels.tolist()):
        for scores, word in zip(row, wanted):
            if word != -100:
                losses.append(math.log(sum(math.exp(z - max(scores)) for z in scores)) + max(scores) - scores[word])
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
        yield {
            "logits": draw.normal(B, T, V),
            "labels": chosen_labels(draw, B, T, V),
            "next_logits": draw.normal(B, 2),
            "next_labels": next_labels,
        }


TOTAL = "mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, next_labels)"
NEXT = "torch.nn.functional.cross_entropy(next_logits, next_labels)"

pretraining_loss = Exercise(
    cases=pretraining_cases,
    uses=("bert.mlm_loss",),
    mends=True,
    mistakes=(
        Mistake(
            "as in 2018",
            "That is the sum as it was: pairs with the label 0 cost nothing, whatever the model says.",
            TOTAL,
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)"
            " + torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)",
        ),
        Mistake(
            "pairs with the label 0 ignored",
            "Your masked words are right. Pairs with the label 0 still cost nothing.",
            NEXT, "torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)",
        ),
        Mistake(
            "words that were not chosen count",
            "Your pairs are right. With nothing ignored, every word that was not chosen has to be 0.",
            "mlm_loss(logits, labels)",
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels))",
        ),
        Mistake(
            "the word with id 0 ignored",
            "Your pairs are right. A chosen word whose id is 0 costs nothing: 0 still means two things.",
            "mlm_loss(logits, labels)",
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)",
        ),
        Mistake(
            "masked words only",
            "Your loss does not change when the next-sentence logits do.",
            TOTAL, "mlm_loss(logits, labels)",
        ),
        Mistake(
            "next sentence only",
            "Your loss does not change when the masked-word logits do.",
            TOTAL, NEXT,
        ),
        Mistake(
            "the mean of the two",
            "You have half of what is asked: the two losses are added.",
            TOTAL, f"({TOTAL}) / 2",
        ),
        Mistake(
            "the labels of the pairs inverted",
            "You take 1 for 'b continues a'. Here, as in Hugging Face's library, that is 0.",
            "next_logits, next_labels", "next_logits, 1 - next_labels",
        ),
        Mistake(
            "the pairs summed",
            "The part of the next sentence grows with the size of the batch: it is a mean over pairs.",
            "next_logits, next_labels", 'next_logits, next_labels, reduction="sum"',
        ),
        Mistake(
            "a softmax too many",
            "The part of the next sentence is always near log 2: cross_entropy takes logits, not probabilities.",
            "next_logits, next_labels", "next_logits.softmax(-1), next_labels",
        ),
        Mistake(
            "sums of both",
            "Your number grows with the batch. Both parts are means: over the chosen words, and over the pairs.",
            TOTAL,
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction='sum')"
            " + torch.nn.functional.cross_entropy(next_logits, next_labels, reduction='sum')",
        ),
        Mistake(
            "one mean over words and pairs",
            "You have put the losses of words and pairs into one mean: then a pair counts like a word. There are two means, added.",
            TOTAL,
            "torch.cat([torch.nn.functional.cross_entropy(logits[labels != -100], labels[labels != -100], reduction='none'),"
            " torch.nn.functional.cross_entropy(next_logits, next_labels, reduction='none')]).mean()",
        ),
        Mistake(
            "a sigmoid of one logit",
            "Your answer does not change with the first of the two next-sentence logits: a softmax over both is asked.",
            NEXT, "torch.nn.functional.binary_cross_entropy_with_logits(next_logits[:, 1], next_labels.float())",
        ),
        Mistake(
            "pairs with the label 1 ignored",
            "Your masked words are right. Now pairs with the label 1 cost nothing, whatever the model says.",
            NEXT, "torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=1)",
        ),
        Mistake(
            "the words of continuing pairs only",
            "Your pairs are right. Hidden words count in every row, whether its second sentence continues the first or not.",
            "mlm_loss(logits, labels)", "mlm_loss(logits[next_labels == 0], labels[next_labels == 0])",
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
    """Documents of unequal length, one of a single sentence; a coin of exactly 0.5, the first and the last of the others."""
    for lengths in ((4, 1, 6, 3), (2, 7, 1, 5, 4), (8, 3, 1, 9, 2, 5)):
        names = draw.rng.permutation(20)[: len(lengths)]
        document = np.repeat(names, lengths)
        coin, other = draw.rng.random((2, len(document)))
        coin[0], coin[-3], coin[-2], coin[6] = 0.75, 0.75, 0.5, 0.25
        other[0], other[-3] = 0, 1 - 2.0**-10
        yield {"document": document, "coin": coin, "other": other}


OTHERS = "others = torch.nonzero(document != document[s])[:, 0]"
DRAWN = "int(others[int(other[s] * len(others))])"
FROM_AFAR = """
def nsp_pairs(document, coin, other):
    first = torch.nonzero(document[:-1] == document[1:])[:, 0]
    second, labels = [], []
    for s in first.tolist():
        others = {}
        continues = bool(coin[s] < 0.5) or not others
        second.append(s + 1 if continues else int(others[int(other[s] * len(others))]))
        labels.append(0 if continues else 1)
    return first, torch.tensor(second), torch.tensor(labels)
"""

nsp_pairs = Exercise(
    cases=document_cases,
    rule=Rule("equal", axes={"0": "pairs", "1": "pairs", "2": "pairs"}),
    mistakes=(
        Mistake(
            "1 for the sentence that follows",
            "Your labels are the other way round: here, as in Hugging Face's library, 0 says that b continues a.",
            "labels.append(0 if continues else 1)", "labels.append(1 if continues else 0)",
        ),
        Mistake(
            "pairs across the end of a document",
            "You have more pairs than there are: the last sentence of a document has no successor in it.",
            "torch.nonzero(document[:-1] == document[1:])[:, 0]", "torch.arange(len(document) - 1)",
        ),
        Mistake(
            "a random sentence of any document",
            "Some of your random sentences come from the document itself: the model would be told that its own text does not belong to it.",
            OTHERS, "others = torch.arange(len(document))",
        ),
        Mistake(
            "a random sentence of the same document",
            "All your random sentences come from the same document. They are to come from the others.",
            OTHERS, "others = torch.nonzero(document == document[s])[:, 0]",
        ),
        Mistake(
            "the coin the other way round",
            "Where the coin is below one half the true successor is taken; you take the random one there.",
            "coin[s] < 0.5", "coin[s] >= 0.5",
        ),
        Mistake(
            "the number among the others taken for a sentence",
            "Your random sentences are numbers *among the others*, not the sentences that these numbers stand for.",
            DRAWN, "int(other[s] * len(others))",
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
            "a coin of exactly 0.5 continues",
            "Nearly all is right. The second is s + 1 where the coin is *below* 0.5; some coins are 0.5 itself.",
            "coin[s] < 0.5", "coin[s] <= 0.5",
        ),
        Mistake(
            "rounded instead of cut off",
            "Your random sentences are sometimes one too far: ⌊ ⌋ cuts off what stands behind the point, and never rounds up.",
            DRAWN, "int(others[min(round(float(other[s]) * len(others)), len(others) - 1)])",
        ),
        Mistake(
            "never the last of the others",
            "Your random sentences are sometimes one too early: you multiply by one less than how many there are. ⌊ ⌋ takes care of the end.",
            DRAWN, "int(others[int(other[s] * (len(others) - 1))])",
        ),
        Mistake(
            "a share of all sentences",
            "You multiply other[s] by the number of *all* sentences, and go on from there if that one belongs to the same document. "
            "The number counts among the sentences of the other documents alone.",
            code="""
def nsp_pairs(document, coin, other):
    S = len(document)
    first = torch.nonzero(document[:-1] == document[1:])[:, 0]
    second, labels = [], []
    for s in first.tolist():
        drawn = int(other[s] * S)
        while document[drawn] == document[s]:
            drawn = (drawn + 1) % S
        continues = bool(coin[s] < 0.5)
        second.append(s + 1 if continues else drawn)
        labels.append(0 if continues else 1)
    return first, torch.tensor(second), torch.tensor(labels)
""",
        ),
        Mistake(
            "only what comes later in the text",
            "Your random sentences all come from behind s. All other documents count, also those in front.",
            code=FROM_AFAR.format("[i for i in range(s + 1, len(document)) if document[i] != document[s]]"),
        ),
        Mistake(
            "all sentences but the two",
            "You leave out s and s + 1 only. The rest of the same document would still be told not to belong to it.",
            OTHERS, "others = torch.tensor([i for i in range(len(document)) if i not in (s, s + 1)])",
        ),
        Mistake(
            "the document instead of the sentence",
            "Your random ones are numbers of documents. Asked are numbers of sentences.",
            DRAWN, "int(document[others[int(other[s] * len(others))]])",
        ),
        Mistake(
            "every sentence in one pair only",
            "You have fewer pairs than there are: the second sentence of a pair begins a pair of its own, if it has a successor.",
            code="""
def nsp_pairs(document, coin, other):
    rows, s = [], 0
    while s < len(document) - 1:
        if document[s] == document[s + 1]:
            others = torch.nonzero(document != document[s])[:, 0]
            continues = bool(coin[s] < 0.5)
            rows.append((s, s + 1 if continues else int(others[int(other[s] * len(others))]), int(not continues)))
            s += 1
        s += 1
    first, second, labels = zip(*rows)
    return torch.tensor(first), torch.tensor(second), torch.tensor(labels)
""",
        ),
        Mistake(
            "continuing pairs first",
            "You have the right pairs in another order. They stand in the order of the sentences that begin them.",
            "return first, torch.tensor(second), torch.tensor(labels)",
            "order = torch.tensor(labels).argsort(stable=True)\n"
            "    return first[order], torch.tensor(second)[order], torch.tensor(labels)[order]",
        ),
        Mistake(
            "always the true successor",
            "All your pairs continue: the model would learn to say yes.",
            "coin[s] < 0.5", "coin[s] < 2",
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


INSIDE_POOLER = "hidden[:, 0] @ W_pool + b_pool"
POOLED = f"torch.tanh({INSIDE_POOLER})"
POOLED_LOSS = """
def nsp_loss(hidden, W_pool, b_pool, W_next, b_next, labels):
    return torch.nn.functional.cross_entropy({} @ W_next + b_next, labels)
"""

nsp_loss = Exercise(
    cases=nsp_loss_cases,
    mistakes=(
        Mistake(
            "the last token instead of [CLS]",
            "Your answer depends on the last token: the one that speaks for the pair is the first.",
            "hidden[:, 0]", "hidden[:, -1]",
        ),
        Mistake(
            "the mean of all tokens",
            "Your answer depends on every token of the last layer: only the first one is read.",
            "hidden[:, 0]", "hidden.mean(dim=1)",
        ),
        Mistake(
            "no tanh",
            "The pooler ends with a tanh; yours is linear.",
            POOLED, "(hidden[:, 0] @ W_pool + b_pool)",
        ),
        Mistake("no pooler", "W_pool is never used.", POOLED, "hidden[:, 0]"),
        Mistake(
            "W_pool transposed",
            "W_pool is the other way round: its rows stand for the inputs.",
            "@ W_pool", "@ W_pool.T",
        ),
        Mistake(
            "the labels inverted",
            "You take 1 for 'b continues a'. Here, as in Hugging Face's library, that is 0.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, 1 - labels)",
        ),
        Mistake(
            "another function for the tanh",
            "The pooler ends with a tanh; yours has another function there.",
            "torch.tanh", "torch.relu",
            also=tuple(
                POOLED_LOSS.format(f"torch.{other}({INSIDE_POOLER})")
                for other in ("sigmoid", "nn.functional.gelu")
            ),
        ),
        Mistake(
            "tanh before the map",
            "You squash the vector of [CLS] first and map it then. The tanh comes behind W_pool and b_pool.",
            POOLED, "(torch.tanh(hidden[:, 0]) @ W_pool + b_pool)",
        ),
        Mistake(
            "tanh on the logits as well",
            "Your logits lie between −1 and 1: the tanh belongs to the pooler, not to what comes behind it.",
            "cross_entropy(logits, labels)", "cross_entropy(torch.tanh(logits), labels)",
        ),
        Mistake(
            "softmax before cross_entropy",
            "Your numbers are all near log 2: cross_entropy takes logits and does the softmax itself.",
            "cross_entropy(logits, labels)", "cross_entropy(logits.softmax(-1), labels)",
        ),
        Mistake(
            "pairs with the label 0 ignored",
            "Pairs with the label 0 cost nothing in yours, as in the loss of 2018.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, labels, ignore_index=0)",
        ),
        Mistake(
            "bits instead of nats",
            "Your numbers are too large by the factor 1.44: this course takes the natural logarithm.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, labels) / torch.log(torch.tensor(2.0))",
        ),
        Mistake(
            "no bias of the pooler",
            "Your answer does not change when b_pool does.",
            " + b_pool", "",
        ),
        Mistake(
            "no bias of the logits",
            "Your answer does not change when b_next does.",
            " + b_next", "",
        ),
        Mistake(
            "the sum instead of the mean",
            "Your number grows with the number of pairs.",
            "cross_entropy(logits, labels)", 'cross_entropy(logits, labels, reduction="sum")',
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


BY_WORD = """
def pool_pieces(hidden, word_ids, how):
    return torch.stack([{} for word in range(int(word_ids.max()) + 1)])
"""
POOL = 'pieces.mean(dim=0) if how == "mean" else pieces[0]'

pool_pieces = Exercise(
    cases=pool_cases,
    rule=Rule(axes={"": "words D"}),
    mistakes=(
        Mistake(
            "a vector for the special tokens too",
            "You have one row more than there are words: −1 marks tokens that belong to no word.",
            "range(int(word_ids.max()) + 1)", "range(-1, int(word_ids.max()) + 1)",
        ),
        Mistake(
            "always the mean",
            'With "first" your vectors are not those of the first pieces.',
            POOL, "pieces.mean(dim=0)",
        ),
        Mistake(
            "always the first",
            'With "mean" your vectors are those of the first pieces.',
            POOL, "pieces[0]",
        ),
        Mistake(
            "the last piece",
            'With "first" your vectors are those of the *last* pieces.',
            "pieces[0]", "pieces[-1]",
        ),
        Mistake(
            "the sum instead of the mean",
            'With "mean" your vectors are longer, the more pieces a word has.',
            "pieces.mean(dim=0)", "pieces.sum(dim=0)",
        ),
        Mistake(
            "a row for each piece",
            "You have a row for each piece of a word; one for each word is asked.",
            code="""
def pool_pieces(hidden, word_ids, how):
    return hidden[word_ids >= 0]
""",
            also=(
                """
def pool_pieces(hidden, word_ids, how):
    out = hidden.clone()
    for word in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == word]
        out[word_ids == word] = pieces.mean(dim=0) if how == "mean" else pieces[0]
    return out[word_ids >= 0]
""",
            ),
        ),
        Mistake(
            "the rows numbered by the words",
            "You take the rows that have the numbers of the words. Asked are the rows of the pieces that *belong* to a word.",
            "hidden[word_ids == word]", "hidden[word : word + 1]",
            also=(
                BY_WORD.format('hidden[word_ids == word].mean(dim=0) if how == "mean" else hidden[word]'),
                BY_WORD.format(
                    'hidden[word_ids == word].mean(dim=0) if how == "mean" else hidden[word_ids >= 0][word]'
                ),
                "def pool_pieces(hidden, word_ids, how):\n    return hidden[word_ids]\n",
                "def pool_pieces(hidden, word_ids, how):\n    return hidden[word_ids[word_ids >= 0]]\n",
            ),
        ),
        Mistake(
            "divided by all pieces",
            'With "mean" your vectors are too short: a word\'s sum is divided by the number of all tokens, not of its own pieces.',
            "pieces.mean(dim=0)", "pieces.sum(dim=0) / len(hidden)",
        ),
        Mistake(
            "the mean of the first and the last piece",
            "Words of one or two pieces are right. In a longer word all pieces count.",
            "pieces.mean(dim=0)", "(pieces[0] + pieces[-1]) / 2",
        ),
        Mistake(
            "special tokens added to the last word",
            "All words but the last are right: −1 as an index means the last one.",
            "hidden[word_ids == word]", "hidden[word_ids % (int(word_ids.max()) + 1) == word]",
            also=(
                """
def pool_pieces(hidden, word_ids, how):
    first = [None] * (int(word_ids.max()) + 1)
    total, count = torch.zeros(len(first), hidden.shape[1]), torch.zeros(len(first), 1)
    for vector, word in zip(hidden, word_ids.tolist()):
        total[word] += vector
        count[word] += 1
        first[word] = vector if first[word] is None else first[word]
    return total / count if how == "mean" else torch.stack(first)
""",
            ),
        ),
        Mistake(
            "special tokens only at both ends",
            "You have cut off the first and the last token. Special tokens also stand between words, and at the end there may be several: "
            "they are those with −1.",
            code="""
def pool_pieces(hidden, word_ids, how):
    hidden, word_ids = hidden[1:-1], word_ids[1:-1]
    rows = [hidden[word_ids == word] for word in word_ids.unique()]
    return torch.stack([pieces.mean(dim=0) if how == "mean" else pieces[0] for pieces in rows])
""",
        ),
        Mistake(
            "the largest of each coordinate",
            'With "mean" you take the largest value of each coordinate.',
            "pieces.mean(dim=0)", "pieces.amax(dim=0)",
        ),
        Mistake(
            "the last word forgotten",
            "You have one row less than there are words: the last one is missing.",
            "range(int(word_ids.max()) + 1)", "range(int(word_ids.max()))",
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
COUNTED = """
def count_parameters(V, P, D, L, F):
    return (V + P + 2) * D + 2 * D, L * ({}), {}, {}
"""

count_parameters = Exercise(
    cases=configuration_cases,
    rule=Rule("equal", axes={"": "configurations parts"}),
    mistakes=(
        Mistake(
            "2D too few in the embeddings",
            "Your first number is too small by 2D. Two things have just that size: the segments' table, and the layer norm behind the sum.",
            EMBEDDINGS, "(V + P + 2) * D",
        ),
        Mistake(
            "no biases in the layers",
            "Your second number is a little too small: every linear map has a bias.",
            ONE_LAYER, "4 * D * D + 2 * D * F + 2 * 2 * D",
        ),
        Mistake(
            "no biases in the attention",
            "Your second number is too small by 4D in each layer: queries, keys, values and output have a bias each.",
            ONE_LAYER, "4 * D * D + (D * F + F) + (F * D + D) + 2 * 2 * D",
        ),
        Mistake(
            "no biases anywhere",
            "Your last three numbers are a little too small: every linear map has a bias, also pooler and heads.",
            edits={
                ONE_LAYER: "4 * D * D + 2 * D * F + 2 * 2 * D",
                "D * D + D, heads": "D * D, heads",
                HEADS: "D * D + 2 * D + 2 * D",
            },
            also=(COUNTED.format("4 * D * D + 2 * D * F + 4 * D", "D * D", "D * D + 2 * D + V + 2 * D"),),
        ),
        Mistake(
            "one bias of the feed-forward maps of the wrong size",
            "Your second number is off by F − D in each layer: the bias of a map has the size of what comes out.",
            ONE_LAYER, "4 * (D * D + D) + 2 * (D * F + D) + 2 * 2 * D",
            also=(COUNTED.format("4 * (D * D + D) + 2 * (D * F + F) + 4 * D", "D * D + D", HEADS),),
        ),
        Mistake(
            "a feed-forward width of 4D",
            "Your second number does not change with F. It is 4D in BERT-Base; here it is given.",
            ONE_LAYER, "4 * (D * D + D) + (D * 4 * D + 4 * D) + (4 * D * D + D) + 2 * 2 * D",
            also=(COUNTED.format("12 * D * D", "D * D + D", HEADS),),
        ),
        Mistake(
            "layer norms with one vector",
            "Three of your numbers are too small: a layer norm has a scale *and* a shift.",
            edits={
                EMBEDDINGS: "(V + P + 2) * D + D",
                ONE_LAYER: "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * D",
                HEADS: "(D * D + D) + D + V + (2 * D + 2)",
            },
        ),
        Mistake(
            "the pooler counted twice",
            "Your last number is too large by D² + D: the next-sentence head stands behind the pooler, which has a number of its own.",
            HEADS, "(D * D + D) + 2 * D + V + (D * D + D) + (2 * D + 2)",
        ),
        Mistake(
            "one logit for the next sentence",
            "Your last number is too small by D + 1: the next-sentence head has two logits.",
            HEADS, "(D * D + D) + 2 * D + V + (D + 1)",
        ),
        Mistake(
            "no output projection",
            "Your second number is too small by a matrix in each layer: queries, keys and values are three; what comes after the heads?",
            ONE_LAYER, "3 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D",
        ),
        Mistake(
            "one layer norm in a layer",
            "Your second number is too small by 2D in each layer: attention and feed-forward each have a layer norm.",
            ONE_LAYER, "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * D",
        ),
        Mistake(
            "one layer only",
            "Your second number does not grow with L.",
            "layers = L * (", "layers = 1 * (",
        ),
        Mistake(
            "the token table counted again",
            "Your last number is too large by V · D: the masked-word head reuses the token table.",
            HEADS, "(D * D + D) + 2 * D + V * D + V + (2 * D + 2)",
        ),
        Mistake(
            "no transform before the masked words",
            "Your last number misses a linear map and a layer norm: the masked-word head does not begin with the table.",
            HEADS, "V + (2 * D + 2)",
        ),
        Mistake(
            "no bias for each word",
            "Your last number is too small by V: each word of the vocabulary has a bias.",
            HEADS, "(D * D + D) + 2 * D + (2 * D + 2)",
        ),
        Mistake(
            "the next-sentence head forgotten",
            "Your last number misses the map to two logits.",
            HEADS, "(D * D + D) + 2 * D + V",
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
        "Walk through the model from the ids to the logits and stop at each thing that was learned. Which shapes have its matrix and its bias?",
        "Linear map from n to m: n · m + m. Layer norm: 2D. Embedding table of n rows: n · D. Out: four whole numbers.",
        "embeddings: three tables, one layer norm\neach layer: four D × D maps, two maps between D and F, two layer norms\npooler: one D × D map\n"
        "heads: a D × D map, a layer norm, a bias for each word; a map from D to 2",
        "Near miss: a formula with 12D² for each layer is right only where F = 4D, and it forgets the biases.",
    ),
)
