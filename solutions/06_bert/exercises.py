"""06 BERT: inputs, known mistakes, right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

UNCHOSEN = -100


def rows_with_padding(draw: Draw, batch: int, tokens: int, words: int, pad: int) -> np.ndarray:
    """Ids of words, all different from pad; the first row has three tokens of padding, and the second has none."""
    ids = draw.integers(7, 7 + words, batch, tokens)
    lengths = draw.integers(2, tokens, batch)
    lengths[0], lengths[1] = tokens - 3, tokens
    return np.where(np.arange(tokens) < lengths[:, None], ids, pad)


# ------------------------------------------------------------------------------------------ labels from text


def label_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, pad in ((2, 8, 0), (4, 6, 0), (3, 11, 5), (5, 7, 3)):
        ids = rows_with_padding(draw, batch, tokens, 900, pad)
        chosen = draw.uniform(batch, tokens) < 0.4
        chosen[:, 0] = chosen[0, tokens - 4] = chosen[1, -1] = True  # also at the end of a sentence
        chosen[:, 1] = False
        chosen &= ids != pad
        if pad:
            ids[1, [0, 2]] = 0  # a word like any other, once chosen and once the label of its neighbour
        yield {"ids": ids, "chosen": chosen, "pad": pad}


FOLLOWING = "torch.cat([ids[:, 1:], nothing], dim=1)"
CAUSAL = "following.masked_fill(following == pad, UNCHOSEN)"

lm_examples = Exercise(
    cases=label_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "causal labels not shifted",
            "In your first result, the label of every word is the word itself, so the model only has to copy its input. Which "
            "word comes next?",
            edits={FOLLOWING: "ids.clone()", CAUSAL: "following.masked_fill(following == pad, UNCHOSEN)"},
        ),
        Mistake(
            "causal labels shifted the wrong way",
            "In your first result, the label of every word is the word before it, which a causal model can already see.",
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
            "first word as the successor of the last",
            "Your last column contains the words of the first column. No word follows the last position, so its label should "
            "be −100.",
            FOLLOWING, "torch.roll(ids, -1, dims=1)",
        ),
        Mistake(
            "padding as a label",
            "In your first result, padding is the label of the last word of a short sentence and of padding itself. The model "
            "should not be trained to predict padding.",
            CAUSAL, "following",
        ),
        Mistake(
            "label missing at padding instead of at the position before padding",
            "In your first result, the label of the last word of a short sentence is still the padding after it. At this "
            "position the label should be −100.",
            CAUSAL, "following.masked_fill(ids == pad, UNCHOSEN)",
        ),
        Mistake(
            "masked labels inverted",
            "Your second result has labels where no token was chosen, and has none where a token was chosen.",
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
            "masked labels shifted by one position",
            "Your second result is off by one position. The label of a masked word belongs at the position of that word.",
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
            "Your first result lacks the last column. Every position should have a label; where no word follows, this label "
            "is −100.",
            FOLLOWING, "ids[:, 1:]",
        ),
        Mistake(
            "padding assumed to be 0",
            "Your result is correct if the id of padding is 0. The argument pad gives this id, and in some of the inputs it "
            "is not 0.",
            CAUSAL, "following.masked_fill(following == 0, UNCHOSEN)",
        ),
        Mistake(
            "causal labels only at chosen tokens",
            "Your first result lacks labels at some positions. Only the masked model depends on chosen; the causal model "
            "predicts every next word.",
            CAUSAL, "following.masked_fill((following == pad) | ~chosen, UNCHOSEN)",
        ),
        Mistake(
            "masked label missing where nothing follows",
            "Your first result is correct. In your second result, a chosen word at the end of its sentence has lost its "
            "label, although masked prediction needs no next word.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "ids.masked_fill(~chosen | (causal == UNCHOSEN), UNCHOSEN)",
        ),
        Mistake(
            "masked label missing in the last column",
            "Your first result is correct. In your second result, a chosen word at the last position has lost its label, "
            "although masked prediction needs no next word.",
            code="""
def lm_examples(ids, chosen, pad):
    following = torch.nn.functional.pad(ids[:, 1:], (0, 1), value=pad)
    masked = ids.masked_fill(~chosen, UNCHOSEN)
    masked[:, -1] = UNCHOSEN
    return following.masked_fill(following == pad, UNCHOSEN), masked
""",
        ),
        Mistake(
            "chosen word with id 0 ignored",
            "Your first result is correct. In your second result, a chosen word with the id 0 has no label. A word may have "
            "any id except pad; only `chosen` indicates where a label is needed.",
            "masked = ids.masked_fill(~chosen, UNCHOSEN)", "masked = ids * chosen\n    masked[masked == 0] = UNCHOSEN",
        ),
        Mistake(
            "masked labels everywhere",
            "Your second result has a label at every word, including the words that the model can see.",
            "ids.masked_fill(~chosen, UNCHOSEN)", "ids.masked_fill(ids == pad, UNCHOSEN)",
        ),
        Mistake(
            "0 instead of −100",
            "You write 0 where nothing is predicted, but 0 is the id of a token. The docstring gives another value.",
            edits={
                CAUSAL: "following.masked_fill((following == pad) | (following < 0), 0)",
                "ids.masked_fill(~chosen, UNCHOSEN)": "ids.masked_fill(~chosen, 0)",
            },
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped: return (causal, masked).",
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
        "Choose a word. What does a causal model predict at the position of this word, and what does a masked model predict "
        "there? At which positions is nothing predicted?",
        "Input: ids and chosen, both (B, T). Output: two tensors (B, T). The label for column t is in column t. In the first "
        "tensor, column T − 1 has no next token.",
        "causal:  at t the id of t + 1; −100 in the last column and wherever that id is padding\nmasked:  at t the id of t if "
        "it was chosen, else −100",
        "A near miss: `ids[:, 1:]` alone is one column too short, and `roll` fills the gap with the first word of the "
        "sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ word pieces


def piece_cases(draw: Draw) -> Iterator[Case]:
    """Vocabularies of made-up subwords, and words that test the matching; some of them become [UNK], immediately or only at
    their end.

    Some words are constructed. In the first, the rest of the word has no match after the longest
    first subword, although it would have one after a shorter subword. In the second, a long
    subword inside the word begins before the longest first subword ends. The other words test a subword of eleven letters,
    alone and inside a word; a single letter; a letter that occurs
    in no subword, at the beginning and in the middle; and a capital letter, which differs from the lower-case one. The
    subword of eleven letters has the id 0.
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
    """Special tokens, single letters (all but the last also inside words), and `many` longer subwords, half with ##."""
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
    """Whole words of the vocabulary, words composed of subwords, random words, and words with an unknown letter."""
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
            "## missing inside words",
            "You look up a subword inside a word without ##. A subword that continues a word has the id of its entry with ##.",
            INSIDE, "piece = word[start:end]",
        ),
        Mistake(
            "## at the beginning of words",
            "Your words begin with subwords that continue a word. The first subword of a word has no ##.",
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
            "subwords without ## accepted inside words",
            "Inside a word you also accept subwords without ##, although such subwords can only begin a word.",
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
            "shortest match first",
            "You take the shortest match at each position, which is usually a single letter. Take the *longest* match.",
            LONGEST_FIRST, "range(start + 1, len(word) + 1)",
        ),
        Mistake(
            "subwords kept before [UNK]",
            "If the rest of a word cannot be matched, you keep the subwords before [UNK]. The whole word should become a "
            "single [UNK].",
            UNKNOWN, 'return pieces + [vocab["[UNK]"]]',
        ),
        Mistake(
            "one [UNK] per unmatched letter",
            "Some of your words contain [UNK] among their subwords. A word that cannot be tokenised should become a single "
            "[UNK].",
            UNKNOWN, 'pieces.append(vocab["[UNK]"]); start += 1; continue',
        ),
        Mistake(
            "rest of the word dropped",
            "If the rest of a word cannot be matched, you return only the subwords at its beginning. The whole word should "
            "become a single [UNK].",
            UNKNOWN, "return pieces",
        ),
        Mistake(
            "nothing returned instead of [UNK]",
            "Your result is correct for words that can be tokenised. For all other words you return no id at all; return the "
            "id of [UNK].",
            UNKNOWN, "return []",
        ),
        Mistake(
            "unmatched letters skipped",
            "If no subword matches, you skip a letter and continue, so that this letter is missing from the result. The whole "
            "word should become a single [UNK].",
            edits={UNKNOWN: "start += 1; continue", "return pieces": 'return pieces or [vocab["[UNK]"]]'},
        ),
        Mistake(
            "fixed id for [UNK]",
            "Your result is correct for words that can be tokenised. For all other words you return a number that is not the "
            "id of [UNK] in this vocabulary. Look up the id.",
            UNKNOWN, "return [0]",
            also=(
                GREEDY.format(test=FITS, found=KEPT, none="return [100]"),
                GREEDY.format(test=FITS, found=KEPT, none="return [1]"),
            ),
        ),
        Mistake(
            "single letters never tried",
            "Words that need a subword of a single letter become [UNK] in your result. A subword may consist of one letter.",
            LONGEST_FIRST, "range(len(word), start + 1, -1)",
        ),
        Mistake(
            "long subwords never tried",
            "Your result is correct for nearly all words. However, you only try subwords up to a certain length, and a "
            "vocabulary may contain longer subwords.",
            LONGEST_FIRST, "range(min(len(word), start + 8), start, -1)",
            also=tuple(
                GREEDY.format(test=FITS, found=KEPT, none=UNKNOWN).replace(
                    "range(len(word)", f"range(min(len(word), start + {most})"
                )
                for most in (5, 10)
            ),
        ),
        Mistake(
            "words converted to lower case",
            "You tokenise a word with a capital letter as if it were written in lower case. Look up each subword as it is "
            "written; a tokenizer for lower case converts the text before this step.",
            "pieces, start = [], 0", "word, pieces, start = word.lower(), [], 0",
        ),
        Mistake(
            "one letter skipped after each subword",
            "From the second subword on, your subwords begin one letter too late. Each subword should begin where the "
            "previous one ended.",
            "start = end", "start = end + 1",
        ),
        Mistake(
            "whole words never tried",
            "You split words that are in the vocabulary as a whole, or you return [UNK] for them. Which substring should you "
            "try first?",
            LONGEST_FIRST, "range(max(len(word) - 1, start + 1), start, -1)",
        ),
        Mistake(
            "every word becomes [UNK]",
            "You return [UNK] for every word, even for a word that is itself in the vocabulary. Does the substring that you "
            "look up ever include the last letter of the word?",
            LONGEST_FIRST, "range(len(word) - 1, start, -1)",
        ),
        Mistake(
            "subword with id 0 ignored",
            "You ignore a subword whose id is 0. To test whether a subword is in the vocabulary, do not use its id as a truth "
            "value.",
            "if piece in vocab:", "if vocab.get(piece):",
        ),
        Mistake(
            "matching from the end of the word",
            "You match the longest *ending* of the word first. WordPiece works from left to right: it matches the longest "
            "beginning of the word, then the longest beginning of the rest.",
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
            "longest match anywhere first",
            "You match the longest subword anywhere in the word first. WordPiece works from left to right: it matches the "
            "longest beginning of the word, then the longest beginning of the rest.",
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
            "fewest subwords instead of greedy matching",
            "You split words into as few subwords as possible. Greedy matching takes the longest match at each position, even "
            "if the word then needs more subwords.",
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
            "backtracking",
            "You find subwords for words that should become [UNK]. Greedy matching never backtracks to a shorter match.",
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
        "→ `piece = word[:end] if start == 0": "start is 0 there",
    },
    hints=(
        "Cover more and more of the word with your hand, from the right, until what you see is in the vocabulary. What do you "
        "do with the covered letters, and what do you do if no letter is left uncovered?",
        "Input: a string and a dictionary from subwords to ids. Output: a list of ids, one per subword, in order; or a list "
        "with the single id of [UNK].",
        "start at the first letter\nwhile letters are left:\n    find the longest text from start that is in the vocabulary "
        "(with ## in front unless it begins the word)\n    none? the whole word is [UNK]\n    keep its id; continue where it "
        "ended",
        "A near miss: for *unforgettable*, looking up `forget` instead of `##forget` after `un` also finds a subword, but this "
        "subword can only begin a word.",
    ),
)

# ------------------------------------------------------------------------------------------ learning the pieces


def learning_cases(draw: Draw) -> Iterator[Case]:
    """Words with counts, and the size of the vocabulary; the letters are drawn, so they differ between seeds.

    The first cases use words made of a few letters, with every score: some cases have ties, one
    requires more subwords than can be found, and one requires fewer subwords than there are
    letters. The other cases are constructed. In one case, a pair that overlaps itself is counted
    twice in three letters, which determines the first merge, and the result depends on the end
    from which the three letters are merged. In others, a word contains a pair twice, a pair also
    occurs inside the text of two longer subwords, or two pairs have the same count, of which one
    comes first as a pair and the other as a joined text.
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
            "word counts ignored",
            "Your merges do not depend on the counts. A word that occurs forty times in the text should be counted forty "
            "times.",
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
            "counts of parts not weighted by word counts",
            "Your result is correct with by_count. With by_likelihood, you do not weight the counts of the parts by "
            "the counts of the words. Like the count of the pair, these counts should refer to the whole text.",
            ALONE, "alone[piece] += 1",
        ),
        Mistake(
            "parts counted on one side of a pair only",
            "Your result is correct with by_count. With by_likelihood, each part should be counted wherever it occurs: on "
            "either side of a pair or alone.",
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
            "## missing",
            "None of your subwords begins with ##. A letter inside a word is a different subword from the same letter at the "
            "beginning of a word.",
            edits={'["##" + letter for letter in word[1:]]': "list(word[1:])", JOINED: "best[0] + best[1]"},
        ),
        Mistake(
            "## inside a subword",
            "Your longer subwords contain ## in the middle. The mark ## belongs only at the front of a subword that continues "
            "a word.",
            JOINED, "best[0] + best[1]",
        ),
        Mistake(
            "## lost in merging",
            "Your longer subwords never begin with ##. When a subword that continues a word is merged with the next one, the "
            "result keeps the ## at its front.",
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
            "counts not updated after a merge",
            "Your first merge is correct. However, each merge changes the segmentation and therefore the counts, whereas you "
            "still use the counts of the single letters.",
            code=COUNTED_ONCE.format(
                """ranked = sorted(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
    for left, right in ranked[: max(0, size - len(vocabulary))]:
        vocabulary.append(left + right[2:])
    return vocabulary"""
            ),
        ),
        Mistake(
            "counts of merged parts not reduced",
            "Your result is correct with by_count. However, a merge also reduces the counts of the two parts that it joins.",
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
            "letters missing from the list",
            "Your list begins with the first merge. The single letters, with and without ##, are also subwords and should "
            "precede the merges.",
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
            "every letter with and without ##",
            "Your list contains one-letter subwords that do not occur in the text. A letter that never begins a word has no "
            "form without ##, and a letter that never continues a word has no form with ##.",
            FIRST_PIECES, 'sorted({form for word in counts for letter in word for form in (letter, "##" + letter)})',
        ),
        Mistake(
            "letters in the order of the words",
            "Your subwords are correct but in the wrong order. The letters should come first, in the order in which `sorted` "
            "returns them (## precedes a).",
            FIRST_PIECES, "list(dict.fromkeys(piece for pieces in cut.values() for piece in pieces))",
        ),
        Mistake(
            "letters without ## before those with ##",
            "Your subwords are correct but in the wrong order. `sorted` puts the letters with ## before the letters without "
            "##.",
            FIRST_PIECES, 'sorted({piece for pieces in cut.values() for piece in pieces}, key=lambda piece: (len(piece), piece))',
        ),
        Mistake(
            "all subwords in alphabetical order",
            "Your subwords are correct but in the wrong order. Only the letters should be sorted; the learned subwords follow "
            "in the order of the merges.",
            "return vocabulary", "return sorted(vocabulary)",
        ),
        Mistake(
            "merged parts removed",
            "Your list lacks some subwords. Parts that have been merged should stay in the vocabulary, since other words "
            "still need them.",
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
            "ties broken by the last pair in alphabetical order",
            "Your result is wrong only where there is a tie: you take the last pair in alphabetical order, but the docstring "
            "requires the first.",
            CHOOSE, "max(pairs, key=lambda pair: (score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))",
        ),
        Mistake(
            "ties broken by the order in the text",
            "Your result is wrong only where there is a tie: you take the pair that comes first in the text, but the "
            "docstring gives another rule.",
            CHOOSE, "max(pairs, key=lambda pair: score(pairs[pair], alone[pair[0]], alone[pair[1]]))",
        ),
        Mistake(
            "ties broken by the joined text",
            "Your result is wrong only where there is a tie: you compare the joined texts. Compare the pairs (left, right) "
            "instead.",
            CHOOSE,
            "min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair[0] + pair[1][2:]))",
        ),
        Mistake(
            "pairs always chosen by count",
            "Your result is correct with by_count. In the other inputs, `score` is a different function, which you should use "
            "to choose the pair.",
            CHOOSE, "min(pairs, key=lambda pair: (-pairs[pair], pair))",
        ),
        Mistake(
            "left and right part swapped",
            "Your result is correct where the score treats both parts alike. `score` expects three counts in this order: of "
            "the pair, of its left part and of its right part.",
            "score(pairs[pair], alone[pair[0]], alone[pair[1]])", "score(pairs[pair], alone[pair[1]], alone[pair[0]])",
        ),
        Mistake(
            "pair with the lowest score merged",
            "You merge the pair with the lowest score. Merge the pair with the highest score.",
            "(-score(", "(score(",
        ),
        Mistake(
            "repeated letters merged from the right",
            "Your result is wrong only for words with repeated letters. Of three equal letters in a row, you merge the last "
            "two, although each word should be merged from left to right.",
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
            "Your counts are wrong only for words with repeated letters: ##a ##a ##a contains the pair (##a, ##a) twice, "
            "starting at each of the first two parts.",
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
            "a part merged with both neighbours",
            "Your result is wrong only for words with repeated letters. Of three equal letters, the middle letter enters your "
            "new subword twice. A part that has been merged cannot be merged again in the same step.",
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
            "only one merge per word",
            "In a word that contains the pair twice, you merge the pair only once. Merge it at both positions.",
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
            "pair counted once per word",
            "In a word that contains the pair twice, you count the pair once. Count it at each position at which it occurs.",
            "in pairwise(pieces):", "in set(pairwise(pieces)):",
        ),
        Mistake(
            "merged inside longer subwords",
            "You merge text instead of subwords: the text \"ca ##b\" contains \"a ##b\", although neither of its two subwords "
            "is a.",
            IN_WORD, """
            cut[word] = " ".join(pieces).replace(" ".join(best), vocabulary[-1]).split()""",
        ),
        Mistake(
            "more than `size` subwords",
            "Your list is too long. `size` is the number of all subwords, including the letters.",
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
            "letters truncated",
            "Your list is correct if `size` is larger than the number of letters. Otherwise you drop some letters, and words "
            "with these letters can no longer be represented. Keep all letters.",
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
        "Segment three words by hand: *hug* ten times, *pug* five times, *hugs* twice. Which pair occurs most often in the "
        "text? Merge this pair in all three words. Which pair is next?",
        "Keep a list of parts for each word, a count for each pair of neighbours and a count for each part. Output: a list of "
        "strings, letters first.",
        "split each word into letters; the vocabulary = the sorted set of these\nwhile it is too small:\n    count parts and "
        "pairs, with the counts of the words\n    no pairs? stop\n    best = highest score, then first in alphabetical order\n    "
        "append the joined text; merge in every word, from the left",
        "A near miss: `max(pairs, key=…)` finds the highest score, but in a tie it returns the pair that was inserted first. "
        "`min` with a tuple of −score and the pair handles both cases.",
    ),
)

# ------------------------------------------------------------------------------------------ a pair of sentences


def pair_cases(draw: Draw) -> Iterator[Case]:
    """Pairs that fit, with and without padding, and pairs in which either sentence or both are too long."""
    sizes = ((4, 6, 16), (5, 3, 11), (9, 4, 14), (3, 10, 12), (7, 7, 12), (8, 11, 13), (6, 9, 21))
    for first, second, T in sizes:
        words = draw.rng.permutation(np.arange(10, 9_000))
        cls, sep, pad = (int(word) for word in words[-3:])
        if (first, second) in ((5, 3), (6, 9)):  # words may have any id, including those of special tokens
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
            "first [SEP] in segment 1",
            "Your ids are correct. However, the segment changes one token too early: the first [SEP] belongs to the first "
            "sentence.",
            SEGMENTS, "torch.tensor([0] * (len(first) - 1) + [1] * (len(second) + 1) + [0] * rest)",
        ),
        Mistake(
            "[CLS] before each sentence",
            "Your ids contain [CLS] twice. The sequence should contain only one [CLS], at its very beginning.",
            edits={SECOND: "second = [cls, *b, sep]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 4 > T"},
        ),
        Mistake(
            "[SEP] missing at the end",
            "Your second sentence does not end with [SEP]. Each sentence should be followed by [SEP].",
            edits={SECOND: "second = [*b]", "len(a) + len(b) + 3 > T": "len(a) + len(b) + 2 > T"},
        ),
        Mistake(
            "last [SEP] truncated",
            "If the pair is too long, you truncate the finished sequence. This removes the last [SEP] and shortens only the "
            "second sentence.",
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
            "only the second sentence truncated",
            "Your result is correct for pairs that fit. From longer pairs you always remove tokens of the second sentence, "
            "even if the first sentence is longer.",
            SHORTEN, "longer = b",
        ),
        Mistake(
            "first sentence truncated in a tie",
            "Your result is correct for pairs that fit. If both sentences of a longer pair are equally long, you remove a "
            "token of the first sentence. The docstring states which sentence to shorten.",
            SHORTEN, "longer = a if len(a) >= len(b) else b",
        ),
        Mistake(
            "first words of a sentence truncated",
            "Your result is correct for pairs that fit. From longer pairs you remove words at the beginning of a sentence. "
            "Remove the last words instead.",
            "longer.pop()", "longer.pop(0)",
        ),
        Mistake(
            "padding in segment 1",
            "Your ids are correct. However, your segments are 1 at padding, where they should be 0.",
            SEGMENTS, "torch.tensor([0] * len(first) + [1] * (len(second) + rest))",
        ),
        Mistake(
            "keep inverted",
            "Your keep is True at padding and False at tokens. In this course, True means that a token may be attended to.",
            "torch.arange(T) < T - rest", "torch.arange(T) >= T - rest",
        ),
        Mistake(
            "segments numbered 1 and 2",
            "You number the segments 1 and 2. They should be numbered 0 and 1.",
            SEGMENTS, "torch.tensor([1] * len(first) + [2] * len(second) + [0] * rest)",
        ),
        Mistake(
            "keep derived from the ids",
            "Your ids are correct. However, your keep is False at a word whose id happens to be the id of padding. Use the "
            "lengths to find the padding.",
            "torch.arange(T) < T - rest", "ids != pad",
        ),
        Mistake(
            "segments derived from the ids",
            "Your ids are correct. However, your segments change at the first token with the id of [SEP], which is the id of "
            "a word in one of the inputs. Use the length of the first sentence instead.",
            edits={
                SEGMENTS: "torch.tensor([int(row.index(sep) < t < T - rest) for t in range(T)])",
                SECOND: f"{SECOND}; row = first + second",
            },
        ),
        Mistake(
            "last [SEP] in segment 0",
            "Your ids are correct. However, the segment changes back to 0 one token too early: the last [SEP] belongs to the "
            "second sentence.",
            SEGMENTS, "torch.tensor([0] * len(first) + [1] * (len(second) - 1) + [0] * (rest + 1))",
        ),
        Mistake(
            "second sentence truncated to half of the positions",
            "Your result is correct for pairs that fit. In longer pairs you truncate the second sentence to half of the "
            "positions, even if the first sentence needs fewer than half.",
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
            "padding missing",
            "Your result is correct for pairs that fill all T positions. Shorter pairs need padding up to length T.",
            edits={
                "[pad] * rest)": "[])",
                SEGMENTS: "torch.tensor([0] * len(first) + [1] * len(second))",
                "torch.arange(T) < T - rest": "torch.arange(T - rest) < T",
            },
        ),
        Mistake(
            "padding at the start",
            "Your result is correct for pairs that fill all T positions. For shorter pairs you put the padding first; put it at "
            "the end.",
            edits={
                "torch.tensor(first + second + [pad] * rest)": "torch.tensor([pad] * rest + first + second)",
                SEGMENTS: "torch.tensor([0] * rest + [0] * len(first) + [1] * len(second))",
                "torch.arange(T) < T - rest": "torch.arange(T) >= rest",
            },
        ),
        Mistake(
            "special tokens not counted",
            "Your result is correct for pairs that fit. Longer pairs remain too long, because [CLS] and the two [SEP] occupy "
            "three of the T positions.",
            edits={
                "len(a) + len(b) + 3 > T": "len(a) + len(b) > T",
                "torch.arange(T) < T - rest": "torch.arange(max(T, T - rest)) < T - rest",
            },
        ),
        Mistake(
            "one token too many removed from each pair",
            "You remove a token from a pair that fits exactly, and you remove one token too many from every longer pair.",
            "len(a) + len(b) + 3 > T", "len(a) + len(b) + 3 >= T",
        ),
        Mistake(
            "padding with 0 instead of pad",
            "You pad with 0. The argument pad gives the id of padding.",
            "[pad] * rest)", "[0] * rest)",
        ),
        Mistake(
            "keep False at special tokens",
            "Your keep is False at [CLS] and [SEP]. These are tokens like all others; only padding must not be attended to.",
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
        "Write down the result for the sentences (7, 8) and (9) with T = 10: ids, segments, keep. How many positions do "
        "special tokens occupy?",
        "Output: three tensors of length T. One [CLS] and two [SEP] take up three of the T positions, so at most T − 3 words fit.",
        "while the words do not fit: remove the last word of the longer sentence (of b if both are equally long)\nfirst part = [CLS], a, "
        "[SEP];  second part = b, [SEP];  then padding up to T\nsegments: 0 for the first part, 1 for the second, 0 for padding",
        "A near miss: `row[:T]` also has T tokens, but it cuts off the [SEP] that ends the pair.",
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
    """A model with two layers; a model with one layer and sequences as long as the position table; and a model with vectors
    so short that ε matters.

    Each layer takes a millisecond to build and half a millisecond per run, so only two are also run in training mode
    and checked for a gradient.
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
            "segment embeddings missing",
            "Your first hidden states do not depend on the segments. The sum of the embeddings has three terms.",
            SUMMED, "self.token(ids) + self.position.weight[: ids.shape[1]]",
        ),
        Mistake(
            "position embeddings missing",
            "In your result, a token has the same first state (layer 0) at every position. The sum of the embeddings has "
            "three terms.",
            SUMMED, "self.token(ids) + self.segment(segments)",
        ),
        Mistake(
            "positions counted from 1",
            "You count positions from 1, but the first token has position 0.",
            "self.position.weight[: ids.shape[1]]",
            "self.position((torch.arange(ids.shape[1]) + 1).clamp(max=self.position.num_embeddings - 1))",
        ),
        Mistake(
            "positions looked up by token id",
            "In your result, a token has the same first state wherever it occurs. The position of a token is its index in the "
            "sequence, not its id.",
            "self.position.weight[: ids.shape[1]]", "self.position(ids % self.position.num_embeddings)",
        ),
        Mistake(
            "positions restarted in the second sentence",
            "Your first states are correct in the first sentence. In the second sentence, your positions start again from 0, "
            "whereas BERT's positions continue.",
            "self.position.weight[: ids.shape[1]]",
            "self.position(torch.arange(ids.shape[1]) - torch.where(segments == 1, (segments == 0).sum(1, keepdim=True), 0))",
        ),
        Mistake(
            "last rows of the position table used",
            "Your result is correct if a sequence is as long as the position table. For shorter sequences you use the last "
            "rows of the table, although the first token has position 0.",
            "self.position.weight[: ids.shape[1]]", "self.position.weight[-ids.shape[1] :]",
        ),
        Mistake(
            "segments inverted",
            "Your two segments are swapped: each sentence receives the segment vector of the other sentence.",
            "self.segment(segments)", "self.segment(1 - segments)",
        ),
        Mistake(
            "sum of embeddings not normalised",
            "Your first states are the plain sum of the embeddings. BERT normalises this sum before the first layer.",
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
            "unnormalised sum among the states",
            "Only your first state is wrong. It is the sum before the norm, whereas your layers correctly read the sum after "
            "the norm.",
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
            "default ε in all norms",
            "Your values are correct for long vectors but too small for short vectors, because nn.LayerNorm uses an ε of 1e-5 "
            "by default.",
            edits={"self.norm = nn.LayerNorm(dim, eps=1e-12)": "self.norm = nn.LayerNorm(dim)", BLOCKS: "Block(dim, heads, inner)"},
        ),
        Mistake(
            "default ε in the norm of the embeddings",
            "The norms in your layers use BERT's ε. However, the norm after the three tables uses PyTorch's default of 1e-5.",
            "self.norm = nn.LayerNorm(dim, eps=1e-12)", "self.norm = nn.LayerNorm(dim)",
        ),
        Mistake(
            "default ε in the layers",
            "The norm after your three tables uses BERT's ε. However, the norms in your layers use PyTorch's default of 1e-5. "
            "A Block accepts its ε as `eps`.",
            BLOCKS, "Block(dim, heads, inner)",
        ),
        Mistake(
            "dropout in the blocks",
            "Your values are correct in evaluation mode. In training mode your blocks apply dropout, although the docstring "
            "requires blocks without dropout.",
            BLOCKS, "Block(dim, heads, inner, eps=1e-12, dropout=0.1)",
        ),
        Mistake(
            "hidden states detached",
            "Your values are correct. However, training on your hidden states would change nothing, because detach, .data or "
            "no_grad separates the states from the weights.",
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
            "each layer detached from the layer below",
            "Your values are correct. However, each of your layers reads a detached copy of its input (detach or .data), so "
            "no gradient flows to the layers below.",
            "layer(states[-1], real[:, None])", "layer(states[-1].detach(), real[:, None])",
        ),
        Mistake(
            "pooler detached",
            "Your values are correct. However, your pooler reads a detached copy of the last state (detach or .data), so "
            "training on the pooled vectors would change only the pooler.",
            POOLED, "torch.tanh(self.pooler(states[-1][:, 0].detach()))",
        ),
        Mistake(
            "all outputs detached",
            "Your values are correct. However, training could not change your weights, because no_grad separates your output "
            "from them.",
            "    def forward(self, ids, segments, real):", "    @torch.no_grad()\n    def forward(self, ids, segments, real):",
        ),
        Mistake(
            "position table detached",
            "Your values are correct. However, training could not change your position table, because .data or detach "
            "separates the table from the output.",
            "self.position.weight[: ids.shape[1]]", "self.position.weight.data[: ids.shape[1]]",
        ),
        Mistake(
            "pre-norm instead of post-norm",
            "Your layers normalise their inputs (pre-norm). BERT (2018) normalises the residual sums instead (post-norm).",
            BLOCKS, "Block(dim, heads, inner, norm_first=True, eps=1e-12)",
        ),
        Mistake(
            "tanh approximation of GELU instead of the exact function",
            "Your values are off by a thousandth or less, because you use GPT-2's approximation of GELU. BERT uses the exact "
            "function.",
            BLOCKS, 'Block(dim, heads, inner, activation="gelu_tanh", eps=1e-12)',
        ),
        Mistake(
            "ReLU instead of GELU",
            "Your layers use ReLU, as the transformer of 2017 did. BERT uses GELU.",
            BLOCKS, 'Block(dim, heads, inner, activation="relu", eps=1e-12)',
        ),
        Mistake(
            "padding not masked",
            "Your result is correct for sequences without padding. In padded sequences, your tokens also attend to padding.",
            "real[:, None]", "torch.ones_like(real)[:, None]",
        ),
        Mistake(
            "padding mask inverted",
            "In padded sequences, your tokens attend only to padding. `real` is True at tokens, just as `keep` is True at the "
            "positions that may be attended to.",
            "real[:, None]", "(~real | real.all(1, keepdim=True))[:, None]",
        ),
        Mistake(
            "tanh missing in the pooler",
            "Your states are correct. However, your pooled vectors contain values above 1, because the tanh is missing.",
            POOLED, "self.pooler(states[-1][:, 0])",
        ),
        Mistake(
            "mean pooled instead of [CLS]",
            "Your states are correct. However, BERT pools the vector of [CLS], the first in the sequence, rather than the "
            "mean of all vectors.",
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
            "[CLS] pooled from the first state",
            "Your states are correct. However, your pooler reads the first state instead of the last state.",
            POOLED, "torch.tanh(self.pooler(states[0][:, 0]))",
        ),
        Mistake(
            "layers in a plain list",
            "The weights of your layers are not registered, because PyTorch does not search a plain list for modules. No "
            "optimiser would train these weights, and no file would contain them.",
            "nn.ModuleList(Block(dim, heads, inner, eps=1e-12) for _ in range(layers))", "[Block(dim, heads, inner, eps=1e-12) for _ in range(layers)]",
        ),
        Mistake(
            "one layer repeated",
            "All your layers are the same module, so they share a single set of weights. (ALBERT, from 2019, shares its "
            "weights in this way; BERT does not.)",
            "nn.ModuleList(Block(dim, heads, inner, eps=1e-12) for _ in range(layers))", "nn.ModuleList([Block(dim, heads, inner, eps=1e-12)] * layers)",
        ),
        Mistake(
            "embeddings missing from the states",
            "You return one state too few. The first state should be the normalised sum of the embeddings, which is the input "
            "of layer 1.",
            "return torch.stack(states)", "return torch.stack(states[1:])",
        ),
        Mistake(
            "buffer saved with the model",
            "Your values are correct. However, a buffer (perhaps the position indices) is saved with the model, and a "
            "file without this buffer cannot be loaded. `register_buffer(…, persistent=False)` keeps the buffer out of the file.",
            "self.pooler = ", 'self.register_buffer("position_ids", torch.arange(tokens))\n        self.pooler = ',
        ),
        Mistake(
            "token embeddings scaled by √D",
            "You multiply the token embeddings by √D, as the original transformer did. BERT does not.",
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
        "eps=2e-12": "an ε as small as this changes no float32 value unless a vector is almost 0",
        "eps=-1e-12": "as above: an ε as small as this changes nothing",
    },
    hints=(
        "Which three things does BERT know about a token before the first layer? Which component of notebook 03 is applied to their sum?",
        "ids, segments, real: (B, T). Each of the layers + 1 states: (B, T, dim). `real[:, None]`: (B, 1, T), which Block "
        "accepts as keep. Pooled: (B, dim).",
        "init: three tables, the norm, a ModuleList of Blocks with eps=1e-12, the pooler\nforward: the normalised sum of the "
        "embeddings is the first state\n    each layer maps the last state to the next\n    stack the states; tanh of the pooler "
        "on the last state's first token",
        "A near miss: `[Block(…) for _ in range(layers)]` computes the right numbers, but PyTorch does not find the weights of its blocks. "
        "nn.ModuleList registers them.",
    ),
)

# ------------------------------------------------------------------------------------------ the names of its weights


def bert_names_cases(draw: Draw) -> Iterator[Case]:
    """A current BertModel; a model with heads and a buffer, as in 2019; and a model from 2018 with gamma, beta and eleven
    layers."""
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
            "Your names are correct. However, your values have changed: half precision (float16, bfloat16) keeps at most "
            "three of the seven significant digits.",
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
            "gamma and beta not renamed",
            "In files from 2018, the parameters of the norms have different names from yours: gamma is the weight, and "
            "beta is the bias.",
            OLD_NAMES, "pass",
        ),
        Mistake(
            "gamma and beta swapped",
            "In files from 2018, you swap the weight and the bias of each norm. gamma is the factor, and beta is added.",
            '{"gamma": "weight", "beta": "bias"}', '{"gamma": "bias", "beta": "weight"}',
        ),
        Mistake(
            "matrices transposed",
            "You transpose the matrices. Both implementations use nn.Linear, whose weights have the shape (out, in), so no "
            "matrix needs to be transposed.",
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
            "models with heads not accepted",
            "Your result is correct for a BertModel without heads. For a model with heads, in which the names begin with "
            "bert., you return nothing.",
            'name.removeprefix("bert.")', "name",
        ),
        Mistake(
            "models without heads not accepted",
            "Your result is correct if the names begin with bert. For a BertModel without heads, whose names have no such "
            "prefix, you return nothing.",
            "    ours = {}\n", '    ours = {}\n    theirs = {name: value for name, value in theirs.items() if name.startswith("bert.")}\n',
        ),
        Mistake(
            "buffer treated as a parameter",
            "Your result has one name too many. position_ids is a buffer with the numbers 0, 1, 2, …, which are not learned.",
            "    return ours",
            '    for name, value in theirs.items():\n        if name.endswith("position_ids"):\n            ours["position_ids"] = value\n    return ours',
        ),
        Mistake(
            "heads included",
            "You return too many names. The names that begin with cls. belong to the heads of BERT's two objectives, for "
            "which your encoder has no parameters.",
            "        if place in PLACES:",
            '        if place.startswith("cls"):\n            ours[name] = value\n        if place in PLACES:',
        ),
        Mistake(
            "layers counted from 1",
            "You count the layers from 1. Both implementations count the layers from 0.",
            'layer = f"layers.{number}."', 'layer = f"layers.{int(number) + 1}."',
        ),
        Mistake(
            "names not translated",
            "You still use the names of Hugging Face's modules. PLACES lists the names of your modules.",
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
            "only the layers translated",
            "Your result lacks the tables, their norm and the pooler, whose names do not belong to a layer.",
            "        if place in PLACES:", "        if place in PLACES and layer:",
        ),
        Mistake(
            "pooler missing",
            "Your result lacks pooler.weight and pooler.bias. PLACES also lists the pooler.",
            "        if place in PLACES:", '        if place in PLACES and not place.startswith("pooler"):',
        ),
        Mistake(
            "biases missing",
            "Your result lacks the biases of the linear maps and of the norms.",
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
        "Take bert.encoder.layer.3.attention.output.LayerNorm.gamma. What does each of its components become?",
        "Input and output: a dictionary from names to tensors. A name consists of a place and, after the last dot, weight or "
        "bias. Four kinds of names are left out.",
        "for each name and value:\n    remove the prefix; split at the last dot into place and part\n    inside a layer: its "
        "number, and the rest of the place\n    if PLACES contains the place: the new name, with gamma and beta renamed",
        "A near miss: `name.replace(\"output.dense\", \"feed_forward.narrow\")` also changes attention.output.dense, which ends in "
        "the same words.",
    ),
)

# ------------------------------------------------------------------------------------------ corruption


def corrupt_cases(draw: Draw) -> Iterator[Case]:
    """Draws in thousandths, which the check cell divides: about half of the draws are near the thresholds, and some are
    equal to them.

    In each sequence, one of the random words that are used is a special token.
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
            # Draws exactly on each threshold; a word left unchanged; a random word that happens to be the original; a
            # word that is not chosen although its second draw is low; special tokens with low draws.
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
            "You choose some [CLS], [SEP] or [PAD] tokens as if they were words. The model learns nothing from predicting "
            "these tokens, and it needs them in its input.",
            CHOSEN, "choice < 0.15",
        ),
        Mistake(
            "80/10/10 applied to all tokens",
            "You change far too many tokens. The second draw matters only for a word that has been *chosen*.",
            edits={
                TO_MASK: "torch.where((change < 0.8) & ~torch.isin(ids, special), mask, ids)",
                TO_RANDOM: "torch.where((change >= 0.8) & (change < 0.9) & ~torch.isin(ids, special), random_words, corrupted)",
            },
        ),
        Mistake(
            "unchanged chosen words without a label",
            "Your corrupted ids are correct. However, chosen words that stay unchanged have lost their label, so the model "
            "never has to predict a word that it sees.",
            LABELS, "labels = ids.masked_fill(~(chosen & (change < 0.9)), UNCHOSEN)",
        ),
        Mistake(
            "labels only at [MASK]",
            "Your corrupted ids are correct. However, only the words that became [MASK] have a label. The model should "
            "predict the other chosen words as well.",
            LABELS, "labels = ids.masked_fill(~(chosen & (change < 0.8)), UNCHOSEN)",
        ),
        Mistake(
            "every chosen word replaced by [MASK]",
            "All your chosen words become [MASK]. One in ten should become a random word, and one in ten should stay "
            "unchanged.",
            edits={TO_RANDOM: "corrupted", TO_MASK: "torch.where(chosen, mask, ids)"},
        ),
        Mistake(
            "corrupted word as the label",
            "Your labels are the corrupted words, but the model has to predict the *original* words.",
            edits={
                f"    {LABELS}\n": "",
                "return corrupted, labels": "return corrupted, corrupted.masked_fill(~chosen, UNCHOSEN)",
            },
        ),
        Mistake(
            "labels at every word",
            "You assign a label to every word, whether it was chosen or not. Where no word was chosen, the label should be "
            "−100.",
            LABELS, "labels = ids.masked_fill(torch.isin(ids, special), UNCHOSEN)",
            also=(CORRUPTED.format(CHOSEN, "change", "ids"),),
        ),
        Mistake(
            "only one special token excluded",
            "You choose some special tokens as if they were words, because you exclude only one of the special ids.",
            code=CORRUPTED.format("(choice < 0.15) & (ids != special[0])", "change", LABELLED),
            also=tuple(
                CORRUPTED.format(f"(choice < 0.15) & (ids != special[{one}])", "change", LABELLED)
                for one in (1, 2)
            ),
        ),
        Mistake(
            "special ids recognised by their magnitude",
            "You recognise special tokens by the magnitude of their ids. The special tokens are the ids in `special`; in another "
            "vocabulary these ids are different.",
            code=CORRUPTED.format("(choice < 0.15) & (ids >= len(special))", "change", LABELLED),
            also=(CORRUPTED.format("(choice < 0.15) & (ids > special.max())", "change", LABELLED),),
        ),
        Mistake(
            "85 % of the words chosen",
            "You choose most of the words. A word is chosen if its entry in choice is *below* 0.15.",
            CHOSEN, "(choice > 0.15) & ~torch.isin(ids, special)",
            also=(CORRUPTED.format("(choice >= 0.15) & ~torch.isin(ids, special)", "change", LABELLED),),
        ),
        Mistake(
            "draws equal to 0.15 chosen",
            "Your result is correct for nearly all tokens. A word is chosen if its entry in choice is *below* 0.15, and some "
            "entries are exactly 0.15.",
            CHOSEN, "(choice <= 0.15) & ~torch.isin(ids, special)",
        ),
        Mistake(
            "draws equal to 0.8 replaced by [MASK]",
            "Your result is correct for nearly all tokens. A chosen word becomes [MASK] if its entry in change is *below* "
            "0.8; an entry of exactly 0.8 gives a random word.",
            edits={
                TO_MASK: "torch.where(chosen & (change <= 0.8), mask, ids)",
                "(change >= 0.8)": "(change > 0.8)",
            },
        ),
        Mistake(
            "draws equal to 0.9 replaced by random words",
            "Your result is correct for nearly all tokens. A random word is used if the entry in change is *below* 0.9; a "
            "word whose entry is exactly 0.9 stays unchanged.",
            "(change < 0.9)", "(change <= 0.9)",
        ),
        Mistake(
            "draws equal to a threshold counted as below it",
            "Your result is correct for nearly all tokens. However, you treat draws that equal a threshold as if they were "
            "below it. A word is chosen below 0.15; it becomes [MASK] below 0.8 and a random word below 0.9.",
            code=CORRUPTED.format("(choice <= 0.15) & ~torch.isin(ids, special)", "change", LABELLED)
            .replace("< 0.8", "<= 0.8")
            .replace(">= 0.8", "> 0.8")
            .replace("< 0.9", "<= 0.9"),
        ),
        Mistake(
            "special tokens rejected as random words",
            "Your labels are correct. However, you reject a random word if it happens to be a special token. `special` lists "
            "the tokens that are never chosen, but a chosen token may be replaced by one of them.",
            "(change < 0.9), random_words", "(change < 0.9) & ~torch.isin(random_words, special), random_words",
        ),
        Mistake(
            "[MASK] overwritten by random words",
            "Your random words have replaced every [MASK]. Use a random word only where the second draw is at least 0.8.",
            "(change >= 0.8) & ", "",
        ),
        Mistake(
            "the two draws swapped",
            "You have swapped the two draws. choice decides whether a word is chosen, and change decides what the chosen word "
            "becomes.",
            code=CORRUPTED.format("(change < 0.15) & ~torch.isin(ids, special)", "choice", LABELLED),
        ),
        Mistake(
            "random words where nothing was chosen",
            "Your labels are correct. However, some words that were not chosen became random words. The second draw matters "
            "only where a word was chosen.",
            "torch.where(chosen & (change >= 0.8)", "torch.where((change >= 0.8)",
        ),
        Mistake(
            "labels only where the ids differ",
            "Your corrupted ids are correct. However, you find chosen words by comparing the original ids with the corrupted "
            "ids, and some chosen words are unchanged.",
            edits={
                LABELS + "\n": "\n",
                "return corrupted, labels": "return corrupted, ids.masked_fill(corrupted == ids, UNCHOSEN)",
            },
        ),
        Mistake(
            "one draw for both decisions",
            "You use the first draw both to choose a word and to decide what the word becomes. Use the second draw for the "
            "second decision.",
            edits={
                TO_MASK: "torch.where(chosen & (choice < 0.8 * 0.15), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (choice >= 0.8 * 0.15) & (choice < 0.9 * 0.15), random_words, corrupted)",
            },
        ),
        Mistake(
            "10 % of the chosen words masked and 80 % random",
            "Most of your chosen words become random words. Most of them should become [MASK].",
            edits={
                TO_MASK: "torch.where(chosen & (change >= 0.8) & (change < 0.9), mask, ids)",
                TO_RANDOM: "torch.where(chosen & (change < 0.8), random_words, corrupted)",
            },
        ),
        Mistake(
            "no chosen word left unchanged",
            "None of your chosen words stays unchanged. A chosen word should stay unchanged if its second draw is at least "
            "0.9.",
            TO_RANDOM, "torch.where(chosen & (change >= 0.8), random_words, corrupted)",
        ),
        Mistake(
            "0 instead of −100",
            "Your labels are 0 where no word was chosen, but 0 is the id of a token. The docstring gives another value.",
            LABELS, "labels = ids.masked_fill(~chosen, 0)",
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped: return (corrupted, labels).",
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
        "There is one draw for each of two questions: is this word chosen, and if it is, what does it become? Which tokens "
        "must never be chosen?",
        "All tensors are (B, T); special is (S). Output: two tensors (B, T), the input of the model and the labels that it has "
        "to predict.",
        "chosen = first draw below 0.15, and not a special token\nlabels = the original id where chosen, −100 "
        "elsewhere\ncorrupted = where chosen: [MASK] below 0.8, the random word from there to below 0.9, otherwise unchanged",
        "A near miss: comparing ids after the first replacement. Once a word has become [MASK], you cannot tell whether it was "
        "special or which word it was. Compute labels and `chosen` from the original ids.",
    ),
)

# ------------------------------------------------------------------------------------------ masked-word loss


def chosen_labels(draw: Draw, B: int, T: int, V: int) -> np.ndarray:
    """Labels at about a third of the positions, a different number in each sequence; −100 elsewhere.

    The labels include the word with id 0. If there are three or more sequences, one of them has
    no label at all.
    """
    chosen = draw.rng.random((B, T)) < 0.3
    chosen[0, :4], chosen[1], chosen[1, 2], chosen[2:3] = True, False, True, False
    labels = np.where(chosen, draw.integers(0, V, B, T), UNCHOSEN)
    labels[0, 0] = 0
    return labels


def mlm_loss_cases(draw: Draw) -> Iterator[Case]:
    for B, T, V in ((2, 9, 6), (3, 7, 5), (4, 10, 8), (5, 6, 9)):
        logits, labels = draw.normal(B, T, V), chosen_labels(draw, B, T, V)
        if B == 5:  # so confident in a wrong word that the correct word's probability underflows to 0
            logits[0, 0, 0], logits[0, 0, 1] = -500, 500
        yield {"logits": logits, "labels": labels}


LOG_P = "logits[chosen].log_softmax(dim=-1)"
SAID = "-log_p.gather(1, labels[chosen][:, None]).mean()"

mlm_loss = Exercise(
    cases=mlm_loss_cases,
    mistakes=(
        Mistake(
            "division by the number of all tokens",
            "Your loss is too small, especially if few words were chosen, because you divide by the number of all tokens.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum() / labels.numel()",
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the number of chosen words. A loss in nats *per word* is a mean.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum()",
        ),
        Mistake(
            "mean of the sentences' means",
            "You average within each sentence first, so a word has more weight in a sentence with few chosen words. For a "
            "sentence without chosen words there is no mean at all.",
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
            "overflow or underflow",
            "Your loss is correct for moderate logits. For a confident model, exp overflows or a probability is rounded to 0, "
            "so its logarithm is infinite. Compute the logarithm of the softmax in one step, as log_softmax does.",
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
            "word with id 0 ignored",
            "You ignore chosen words with the id 0. Only the label −100 means that no word was chosen; 0 is the id of a word "
            "like any other.",
            code="""
def mlm_loss(logits, labels):
    chosen = labels > 0
    return torch.nn.functional.cross_entropy(logits[chosen], labels[chosen])
""",
        ),
        Mistake(
            "logarithm of the mean probability",
            "You average the probabilities and take the logarithm at the end. Compute −log p for each chosen word first, then "
            "take the mean.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).exp().mean().log()",
        ),
        Mistake(
            "softmax over the positions",
            "Your probabilities sum to 1 over the positions of a sentence. They should sum to 1 over the vocabulary.",
            LOG_P, "logits.log_softmax(dim=1)[chosen]",
        ),
        Mistake(
            "division by the number of sentences",
            "Your loss grows with the length of the sentences, because you divide by the number of sentences instead of the "
            "number of chosen words.",
            SAID, "-log_p.gather(1, labels[chosen][:, None]).sum() / len(logits)",
        ),
        Mistake(
            "loss at every token",
            "Your loss includes words that were not chosen, because you treat the label −100 as word 0.",
            edits={
                LOG_P: "logits.flatten(0, 1).log_softmax(dim=-1)",
                SAID: "-log_p.gather(1, labels.clamp(min=0).flatten()[:, None]).mean()",
            },
        ),
        Mistake(
            "softmax missing",
            "You return a mean of logits, which can be negative. Convert the logits to log-probabilities first.",
            LOG_P, "logits[chosen]",
        ),
        Mistake(
            "softmax over the chosen words",
            "Your probabilities sum to 1 over the chosen positions. They should sum to 1 over the vocabulary.",
            LOG_P, "logits[chosen].log_softmax(dim=0)",
        ),
        Mistake(
            "logarithm missing",
            "Your loss lies between −1 and 0, because you average probabilities. Take their logarithms first.",
            LOG_P, "logits[chosen].softmax(dim=-1)",
        ),
        Mistake(
            "sign missing",
            "Your loss is negative, so it would increase as the model improves. Change its sign.",
            SAID, SAID[1:],
        ),
        Mistake(
            "bits instead of nats",
            "Your loss is too large by a factor of 1.44 (where it is not infinite). Use the natural logarithm.",
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
            "perplexity instead of the loss",
            "You return the exponential of the loss. Return the loss itself, in nats.",
            SAID, f"({SAID}).exp()",
        ),
        Mistake(
            "softmax before cross_entropy",
            "All your losses are close to log V. cross_entropy expects logits and applies the softmax itself, so do not apply "
            "a softmax beforehand.",
            code="""
def mlm_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.softmax(-1).transpose(1, 2), labels)
""",
        ),
        Mistake(
            "axes reshaped instead of swapped",
            "You mix the logits of different positions. cross_entropy expects the vocabulary as its second axis, and reshape "
            "does not move an axis.",
            code="""
def mlm_loss(logits, labels):
    B, T, V = logits.shape
    return torch.nn.functional.cross_entropy(logits.reshape(B, V, T), labels)
""",
        ),
        detached("mlm_loss"),
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
        "a loop, in float64": """
def mlm_loss(logits, labels):
    losses = []
    for row, wanted in zip(logits.double(), labels.tolist()):
        for scores, word in zip(row, wanted):
            if word != -100:
                losses.append((scores - scores.max()).exp().sum().log() + scores.max() - scores[word])
    return sum(losses) / len(losses)
""",
    },
    hints=(
        "What does one chosen word contribute to the loss? What does a word that was not chosen contribute?",
        "logits[chosen] has shape (N, V) for N chosen positions in the whole batch. One log-probability for each position: "
        "(N). Output: one number.",
        "chosen = label is not −100\nlog-probabilities over the vocabulary at the chosen positions\ntake that of the correct "
        "word, change the sign, mean over all N",
        "A near miss: multiplying the losses of all tokens by the mask and then calling `.mean()` also divides by the tokens "
        "that were not chosen.",
    ),
)

# ------------------------------------------------------------------------------------------ the first loss


def first_loss_cases(draw: Draw) -> Iterator[Case]:
    """Vectors of very different lengths; few and many words; small and large embeddings."""
    for N, D, V, std in ((5, 6, 50, 0.3), (4, 9, 30_000, 0.02), (7, 4, 1_000, 1.0), (1, 8, 9, 0.5)):
        lengths = np.linspace(0.4, 1.6, N) if N > 1 else np.array([1.3])
        lengths *= float(draw.uniform(1, low=0.8, high=1.2)[0]) * (8 if std < 0.1 else 1)
        hidden = draw.normal(N, D)
        hidden *= (lengths * np.sqrt(D) / np.linalg.norm(hidden, axis=1))[:, None].astype(np.float32)
        yield {"hidden": hidden, "V": V + int(draw.integers(0, 100)), "std": std}


VARIANCE = "std**2 * hidden.square().sum(dim=-1)"
EXPECTED = "(math.log(V) + variance / 2).mean()"

first_loss = Exercise(
    cases=first_loss_cases,
    mistakes=(
        Mistake(
            "ln V alone",
            "You return the loss of a uniform distribution. Random logits of different sizes give a distribution that is not "
            "uniform, and the loss is higher.",
            EXPECTED, "torch.tensor(math.log(V))",
        ),
        Mistake(
            "ln V left out",
            "You return only the amount by which the loss exceeds ln V.",
            "math.log(V) + variance", "variance",
        ),
        Mistake(
            "V instead of ln V",
            "Take the logarithm of the whole sum, V · exp(s²/2). The logarithm of its first factor is ln V.",
            "math.log(V)", "V",
        ),
        Mistake(
            "s² not halved",
            "You add s² to ln V. The mean of exp(z) is exp(s²/2), and its logarithm is s²/2.",
            "variance / 2", "variance",
        ),
        Mistake(
            "excess subtracted",
            "Your loss is below ln V, but a model that is confident in random predictions is worse than a uniform "
            "distribution.",
            "+ variance", "- variance",
        ),
        Mistake(
            "standard deviation instead of variance",
            "The standard deviation of the logits is proportional to std, and their variance to std². The formula needs the "
            "variance.",
            "std**2", "std",
        ),
        Mistake(
            "s instead of s²",
            "The mean of exp(z) is exp(s²/2). Your exponent contains s instead of s².",
            "variance / 2", "variance.sqrt() / 2",
        ),
        Mistake(
            "length instead of squared length",
            "The variance of a dot product is the sum of D variances, std² · hᵢ². This sum is proportional to the "
            "*squared* length of h.",
            "hidden.square().sum(dim=-1)", "hidden.norm(dim=-1)",
        ),
        Mistake(
            "logits as large as the embeddings",
            "You use the variance of a single coordinate of an embedding. A logit is a sum of D products, one for each "
            "coordinate.",
            VARIANCE, "std**2 * torch.ones(len(hidden))",
        ),
        Mistake(
            "mean over the coordinates",
            "You average over the D coordinates of each vector, but a dot product is a sum, so its variance is a sum as well.",
            ".sum(dim=-1)", ".mean(dim=-1)",
        ),
        Mistake(
            "D instead of the squared length",
            "You assume that each vector has the squared length D, as after a layer norm. The docstring allows any length.",
            "hidden.square().sum(dim=-1)", "hidden.shape[1] * torch.ones(len(hidden))",
        ),
        Mistake(
            "square of the mean length",
            "You average the lengths of the vectors and then square the mean. Compute the loss at each position first, then "
            "take the mean.",
            "hidden.square().sum(dim=-1)", "hidden.norm(dim=-1).mean() ** 2",
        ),
        Mistake(
            "vectors averaged first",
            "You average the vectors and then compute one loss. Vectors in different directions partly cancel out; compute the "
            "loss at each position first.",
            "hidden.square()", "hidden.mean(dim=0, keepdim=True).square()",
        ),
        Mistake(
            "mean of the exponentials",
            "You average the sums of exponentials over the positions before you take the logarithm. Take the logarithm at each "
            "position first, then the mean.",
            EXPECTED, "math.log(V) + (variance / 2).exp().mean().log()",
        ),
        Mistake(
            "sum over the positions",
            "Your loss grows with the number of positions. Take the mean.",
            ".mean()", ".sum()",
        ),
        Mistake(
            "excess summed over the positions",
            "The amount by which your loss exceeds ln V grows with the number of positions. Take the mean over the positions.",
            EXPECTED, "math.log(V) + variance.sum() / 2",
        ),
        Mistake(
            "summed over the positions instead of the coordinates",
            "You sum the squares along the wrong axis. Sum over the coordinates of the vector at each *position*.",
            ".sum(dim=-1)", ".sum(dim=0)",
        ),
        Mistake(
            "bits instead of nats",
            "Your logarithm has base 2. This course uses nats, so take the natural logarithm.",
            "math.log(V)", "math.log2(V)",
        ),
    ),
    alternatives={
        "logarithm of the sum, position by position": """
def first_loss(hidden, V, std):
    losses = []
    for h in hidden.double():
        s = std * h.norm()
        losses.append(torch.log(V * torch.exp(s**2 / 2)))
    return torch.stack(losses).mean()
""",
        "one number from all squares": """
def first_loss(hidden, V, std):
    return torch.tensor(float(V)).log() + 0.5 * std**2 * (hidden**2).sum() / len(hidden)
""",
        "a plain number": """
def first_loss(hidden, V, std):
    return math.log(V) + sum(std**2 * float(h @ h) / 2 for h in hidden) / len(hidden)
""",
    },
    hints=(
        "What is the variance of one product hᵢ · eⱼᵢ, in which hᵢ is given? And what is the variance of the sum of D such products?",
        "hidden: (N, D). One variance for each position: (N,). Output: a single number.",
        "for each position:\n    s² = std² · (squared length of the vector)\n    −log p = ln(V · exp(s²/2)) − 0 = ln V + s²/2\nmean over the positions",
        "A near miss: if you average the lengths first and square the mean, the result is too small whenever the vectors differ in length.",
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
            "bug of 2018 still present",
            "This is still the original loss, in which pairs with label 0 contribute nothing, whatever the model predicts.",
            TOTAL,
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)"
            " + torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)",
        ),
        Mistake(
            "pairs with label 0 ignored",
            "The masked-word term of your loss is correct. However, pairs with label 0 still contribute nothing.",
            NEXT, "torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=0)",
        ),
        Mistake(
            "unchosen words counted",
            "Your next-sentence part is correct. However, since you ignore no label, every word that was not chosen has to be "
            "predicted as word 0.",
            "mlm_loss(logits, labels)",
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels))",
        ),
        Mistake(
            "word with id 0 ignored",
            "Your next-sentence part is correct. However, a chosen word with the id 0 contributes nothing, because you still "
            "use the label 0 for words that were not chosen.",
            "mlm_loss(logits, labels)",
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), torch.where(labels == UNCHOSEN, 0, labels), ignore_index=0)",
        ),
        Mistake(
            "loss on masked words only",
            "Your loss does not depend on the next-sentence logits. Add the loss for the next sentence.",
            TOTAL, "mlm_loss(logits, labels)",
        ),
        Mistake(
            "loss on the next sentence only",
            "Your loss does not depend on the masked-word logits. Add the loss for the masked words.",
            TOTAL, NEXT,
        ),
        Mistake(
            "mean of the two losses",
            "Your loss is half as large as it should be. Add the two losses instead of averaging them.",
            TOTAL, f"({TOTAL}) / 2",
        ),
        Mistake(
            "pair labels inverted",
            "You assume that 1 means 'b continues a'. Here, as in Hugging Face's library, 0 has this meaning.",
            "next_logits, next_labels", "next_logits, 1 - next_labels",
        ),
        Mistake(
            "sum over the pairs instead of their mean",
            "Your next-sentence part grows with the size of the batch. It should be a mean over the pairs.",
            "next_logits, next_labels", 'next_logits, next_labels, reduction="sum"',
        ),
        Mistake(
            "softmax applied twice",
            "Your next-sentence part is always close to log 2. cross_entropy expects logits rather than probabilities.",
            "next_logits, next_labels", "next_logits.softmax(-1), next_labels",
        ),
        Mistake(
            "sums instead of means in both losses",
            "Your loss grows with the size of the batch. It should be the sum of two means: the mean over the chosen words "
            "and the mean over the pairs.",
            TOTAL,
            "torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction='sum')"
            " + torch.nn.functional.cross_entropy(next_logits, next_labels, reduction='sum')",
        ),
        Mistake(
            "one mean over words and pairs",
            "You average over words and pairs together, so a pair has the same weight as a word. Add two separate means "
            "instead.",
            TOTAL,
            "torch.cat([torch.nn.functional.cross_entropy(logits[labels != -100], labels[labels != -100], reduction='none'),"
            " torch.nn.functional.cross_entropy(next_logits, next_labels, reduction='none')]).mean()",
        ),
        Mistake(
            "sigmoid of one logit",
            "Your result does not depend on the first of the two next-sentence logits. Use a softmax over both logits.",
            NEXT, "torch.nn.functional.binary_cross_entropy_with_logits(next_logits[:, 1], next_labels.float())",
        ),
        Mistake(
            "pairs with label 1 ignored",
            "The masked-word term of your loss is correct. However, pairs with label 1 now contribute nothing, whatever the model "
            "predicts.",
            NEXT, "torch.nn.functional.cross_entropy(next_logits, next_labels, ignore_index=1)",
        ),
        Mistake(
            "words of continuing pairs only",
            "Your next-sentence part is correct. However, chosen words should contribute in every sequence, whether or not "
            "its second sentence continues the first.",
            "mlm_loss(logits, labels)", "mlm_loss(logits[next_labels == 0], labels[next_labels == 0])",
        ),
        detached("pretraining_loss"),
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
        "Which labels does each of the two criterion calls receive? What does 0 mean among the labels of the words, and what "
        "does it mean among the labels of the pairs?",
        "logits (B, T, V) with labels (B, T); next_logits (B, 2) with next_labels (B). Output: the sum of two numbers.",
        "masked-word part: mean over the chosen words (you have a function for it)\nnext-sentence part: mean over *all* pairs, "
        "both labels\nsum",
        "A near miss: removing ignore_index from both calls fixes the loss on pairs, but then every word that was not chosen counts as "
        "word 0.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def document_cases(draw: Draw) -> Iterator[Case]:
    """Documents of unequal length, one of which has a single sentence; a coin of exactly 0.5; draws that select the first
    and the last of the other sentences."""
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
            "labels inverted",
            "Your labels are inverted. Here, as in Hugging Face's library, 0 means that b continues a.",
            "labels.append(0 if continues else 1)", "labels.append(1 if continues else 0)",
        ),
        Mistake(
            "pairs across document boundaries",
            "You return too many pairs. The last sentence of a document has no successor in this document.",
            "torch.nonzero(document[:-1] == document[1:])[:, 0]", "torch.arange(len(document) - 1)",
        ),
        Mistake(
            "random sentences from any document",
            "Some of your random sentences come from the same document as the first sentence. The model would then learn that "
            "sentences of one text do not belong together.",
            OTHERS, "others = torch.arange(len(document))",
        ),
        Mistake(
            "random sentences from the same document",
            "All your random sentences come from the same document as the first sentence. They should come from other "
            "documents.",
            OTHERS, "others = torch.nonzero(document == document[s])[:, 0]",
        ),
        Mistake(
            "coin inverted",
            "If the coin is below 0.5, you take a random sentence. Take the true successor in this case.",
            "coin[s] < 0.5", "coin[s] >= 0.5",
        ),
        Mistake(
            "index among the others used as the sentence",
            "Your random sentences are indices *among the sentences of other documents*. Return the sentences at these "
            "indices.",
            DRAWN, "int(other[s] * len(others))",
        ),
        Mistake(
            "draws indexed by pair",
            "You use the draws in the order of the pairs. However, coin[s] and other[s] belong to sentence s, that is, to the "
            "pair that begins with s.",
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
            "coins equal to 0.5 continue",
            "Nearly all your pairs are correct. The second sentence is s + 1 only if the coin is *below* 0.5; some coins are "
            "exactly 0.5.",
            "coin[s] < 0.5", "coin[s] <= 0.5",
        ),
        Mistake(
            "rounding instead of taking the floor",
            "Some of your random sentences are one position too late, because you round. ⌊ ⌋ discards the fraction and never "
            "rounds up.",
            DRAWN, "int(others[min(round(float(other[s]) * len(others)), len(others) - 1)])",
        ),
        Mistake(
            "last of the other sentences never drawn",
            "Some of your random sentences are one position too early, because you multiply by the number of other "
            "sentences minus 1. ⌊ ⌋ already keeps the index in range.",
            DRAWN, "int(others[int(other[s] * (len(others) - 1))])",
        ),
        Mistake(
            "draw from all sentences",
            "You multiply other[s] by the number of *all* sentences and move on if the resulting sentence belongs to the same "
            "document. Number only the sentences of other documents.",
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
            "only later sentences drawn",
            "All your random sentences come after s. Sentences of other documents that come before s should be included as "
            "well.",
            code=FROM_AFAR.format("[i for i in range(s + 1, len(document)) if document[i] != document[s]]"),
        ),
        Mistake(
            "only s and s + 1 excluded from the draw",
            "You exclude only s and s + 1. You could still draw another sentence of the same document and label it as a "
            "random sentence.",
            OTHERS, "others = torch.tensor([i for i in range(len(document)) if i not in (s, s + 1)])",
        ),
        Mistake(
            "document instead of sentence returned",
            "Your random entries are the numbers of documents. Return the numbers of sentences instead.",
            DRAWN, "int(document[others[int(other[s] * len(others))]])",
        ),
        Mistake(
            "each sentence used in one pair only",
            "You return too few pairs. The second sentence of a pair should begin another pair if it has a successor.",
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
            "continuing pairs returned first",
            "Your pairs are correct but in the wrong order. Sort the pairs by the position of their first sentence.",
            "return first, torch.tensor(second), torch.tensor(labels)",
            "order = torch.tensor(labels).argsort(stable=True)\n"
            "    return first[order], torch.tensor(second)[order], torch.tensor(labels)[order]",
        ),
        Mistake(
            "true successor in every pair",
            "In all your pairs the second sentence is the true successor, so the model would learn to give the same answer "
            "every time.",
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
        "Which sentences can begin a pair? Which sentences can be a random second sentence?",
        "Input: three tensors (S). Output: three tensors of equal length, one entry per pair; the first contains the numbers "
        "of the sentences that begin a pair.",
        "for each s whose successor is in the same document:\n    coin below 0.5: (s, s + 1, 0)\n    otherwise: list the "
        "sentences of other documents, in order; other[s] picks one of them: (s, that sentence, 1)",
        "A near miss: drawing the random sentence from all sentences, as many simple scripts do. With few documents, some of the 'random' sentences then come from the same text.",
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
            "last token instead of [CLS]",
            "Your result depends on the last token. The pair is represented by the first token.",
            "hidden[:, 0]", "hidden[:, -1]",
        ),
        Mistake(
            "mean of all tokens",
            "Your result depends on every token of the last layer. BERT's head uses only the first token.",
            "hidden[:, 0]", "hidden.mean(dim=1)",
        ),
        Mistake(
            "tanh missing",
            "Your pooler is a linear map without an activation function. BERT's pooler ends with a tanh.",
            POOLED, "(hidden[:, 0] @ W_pool + b_pool)",
        ),
        Mistake("pooler missing", "Your result does not depend on W_pool. The vector of [CLS] first passes through the "
                                  "pooler.", POOLED, "hidden[:, 0]"),
        Mistake(
            "W_pool transposed",
            "You use the transpose of W_pool. The rows of W_pool correspond to inputs.",
            "@ W_pool", "@ W_pool.T",
        ),
        Mistake(
            "labels inverted",
            "You assume that 1 means 'b continues a'. Here, as in Hugging Face's library, 0 has this meaning.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, 1 - labels)",
        ),
        Mistake(
            "other function instead of tanh",
            "Your pooler uses another activation function, whereas BERT's pooler uses tanh.",
            "torch.tanh", "torch.relu",
            also=tuple(
                POOLED_LOSS.format(f"torch.{other}({INSIDE_POOLER})")
                for other in ("sigmoid", "nn.functional.gelu")
            ),
        ),
        Mistake(
            "tanh before the linear map",
            "You apply tanh to the vector of [CLS] before the linear map. Apply it after W_pool and b_pool.",
            POOLED, "(torch.tanh(hidden[:, 0]) @ W_pool + b_pool)",
        ),
        Mistake(
            "tanh applied to the logits",
            "Your logits lie between −1 and 1. The tanh belongs only to the pooler.",
            "cross_entropy(logits, labels)", "cross_entropy(torch.tanh(logits), labels)",
        ),
        Mistake(
            "softmax before cross_entropy",
            "All your losses are close to log 2. cross_entropy expects logits and applies the softmax itself, so do not apply "
            "a softmax beforehand.",
            "cross_entropy(logits, labels)", "cross_entropy(logits.softmax(-1), labels)",
        ),
        Mistake(
            "pairs with label 0 ignored",
            "As in the loss of 2018, pairs with label 0 contribute nothing to your loss.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, labels, ignore_index=0)",
        ),
        Mistake(
            "bits instead of nats",
            "Your loss is too large by a factor of 1.44. Use the natural logarithm instead of log2.",
            "cross_entropy(logits, labels)", "cross_entropy(logits, labels) / torch.log(torch.tensor(2.0))",
        ),
        Mistake(
            "bias b_pool missing",
            "Your result does not depend on b_pool.",
            " + b_pool", "",
        ),
        Mistake(
            "bias b_next missing",
            "Your result does not depend on b_next.",
            " + b_next", "",
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the number of pairs. It should be the mean over the pairs.",
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
        "Which token's vector represents the whole pair? What happens to it before there are two logits?",
        "hidden[:, 0]: (B, D). After the pooler: (B, D). Logits: (B, 2). Output: one number.",
        "vector of [CLS] of each pair\napply W_pool, b_pool and tanh\napply W_next and b_next: two logits\ncross-entropy with the "
        "labels, mean over pairs",
        "A near miss: the mean of all tokens is also a good sentence vector (notebook 11), but BERT's pooler does not use it.",
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
            "vector returned for the special tokens",
            "You return one row more than there are words. The index −1 marks tokens that belong to no word.",
            "range(int(word_ids.max()) + 1)", "range(-1, int(word_ids.max()) + 1)",
        ),
        Mistake(
            "mean returned for both methods",
            "With \"first\", you still return the mean over the subwords of each word.",
            POOL, "pieces.mean(dim=0)",
        ),
        Mistake(
            "first subword returned for both methods",
            "With \"mean\", you still return the vectors of the first subwords.",
            POOL, "pieces[0]",
        ),
        Mistake(
            "last subword instead of the first",
            "With \"first\", you return the vectors of the *last* subwords.",
            "pieces[0]", "pieces[-1]",
        ),
        Mistake(
            "sum instead of mean",
            "With \"mean\", your vectors are longer for words with more subwords, because you return the sum.",
            "pieces.mean(dim=0)", "pieces.sum(dim=0)",
        ),
        Mistake(
            "one row per subword",
            "You return one row for each subword of a word. Return one row for each word.",
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
            "word indices used as row indices",
            "You use the indices of words as indices of rows. Use the rows whose tokens *belong* to the word.",
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
            "division by the number of all tokens",
            "With \"mean\", your vectors are too short, because you divide the sum by the number of all tokens instead of the "
            "number of the word's subwords.",
            "pieces.mean(dim=0)", "pieces.sum(dim=0) / len(hidden)",
        ),
        Mistake(
            "mean of the first and last subword",
            "Your result is correct for words of one or two subwords. In a longer word, the mean should include all subwords.",
            "pieces.mean(dim=0)", "(pieces[0] + pieces[-1]) / 2",
        ),
        Mistake(
            "special tokens assigned to the last word",
            "Your result is correct for all words except the last. The special tokens are assigned to the last word, because "
            "−1 as an index refers to the last row.",
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
            "special tokens removed only at the ends",
            "You remove the first and the last token. However, special tokens also occur between words, and there may be "
            "several at the end. They are the tokens with the word index −1.",
            code="""
def pool_pieces(hidden, word_ids, how):
    hidden, word_ids = hidden[1:-1], word_ids[1:-1]
    rows = [hidden[word_ids == word] for word in word_ids.unique()]
    return torch.stack([pieces.mean(dim=0) if how == "mean" else pieces[0] for pieces in rows])
""",
        ),
        Mistake(
            "maximum instead of mean",
            "With \"mean\", you return the maximum of each coordinate.",
            "pieces.mean(dim=0)", "pieces.amax(dim=0)",
        ),
        Mistake(
            "last word missing",
            "You return one row fewer than there are words: the last word is missing.",
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
        "Which rows of hidden belong to word 2? How do you compute one vector from these rows in each of the two ways?",
        "hidden (T, D), word_ids (T). Output: (words, D), word 0 first. Tokens with −1 are not used.",
        "for each word w, in order:\n    its rows = those where word_ids is w\n    their mean, or the first of them",
        "A near miss: `hidden[word_ids]` selects the rows whose *index* equals the index of a word, instead of the rows that "
        "belong to the word.",
    ),
)


def configuration_cases(draw: Draw) -> Iterator[Case]:
    """Configurations in rows: V, P, D, L, F."""
    for many in (2, 3, 5):
        low, high = (1_000, 50, 20, 2, 900), (40_000, 700, 900, 30, 4_000)
        yield {"configurations": draw.rng.integers(low, high, (many, 5))}


ONE_LAYER = "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D"
EMBEDDINGS = "tables + 2 * D"
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
            "embeddings with 2D parameters too few",
            "Your first number is too small by 2D. Two components have exactly this size: the segment table and the layer "
            "norm after the sum.",
            EMBEDDINGS, "tables",
        ),
        Mistake(
            "token table only",
            "Your first number lacks two tables. The segments and the positions have embeddings as well.",
            "(V, P, 2)", "(V,)",
        ),
        Mistake(
            "biases missing in the layers",
            "Your second number is slightly too small. Every linear map has a bias.",
            ONE_LAYER, "4 * D * D + 2 * D * F + 2 * 2 * D",
        ),
        Mistake(
            "biases missing in attention",
            "Your second number is too small by 4D per layer. The maps for queries, keys, values and output each have a bias.",
            ONE_LAYER, "4 * D * D + (D * F + F) + (F * D + D) + 2 * 2 * D",
        ),
        Mistake(
            "biases missing everywhere",
            "Your last three numbers are slightly too small. Every linear map has a bias, including the maps in the pooler "
            "and the heads.",
            edits={
                ONE_LAYER: "4 * D * D + 2 * D * F + 2 * 2 * D",
                "D * D + D, heads": "D * D, heads",
                HEADS: "D * D + 2 * D + 2 * D",
            },
            also=(COUNTED.format("4 * D * D + 2 * D * F + 4 * D", "D * D", "D * D + 2 * D + V + 2 * D"),),
        ),
        Mistake(
            "feed-forward bias of the wrong size",
            "Your second number is off by F − D per layer. The bias of a linear map is as long as the output of the map.",
            ONE_LAYER, "4 * (D * D + D) + 2 * (D * F + D) + 2 * 2 * D",
            also=(COUNTED.format("4 * (D * D + D) + 2 * (D * F + F) + 4 * D", "D * D + D", HEADS),),
        ),
        Mistake(
            "feed-forward width of 4D assumed",
            "Your second number does not depend on F. In BERT-Base F equals 4D, but here F is an argument.",
            ONE_LAYER, "4 * (D * D + D) + (D * 4 * D + 4 * D) + (4 * D * D + D) + 2 * 2 * D",
            also=(COUNTED.format("12 * D * D", "D * D + D", HEADS),),
        ),
        Mistake(
            "layer norms with one vector",
            "Three of your numbers are too small. A layer norm has a scale *and* a shift.",
            edits={
                EMBEDDINGS: "tables + D",
                ONE_LAYER: "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * D",
                HEADS: "(D * D + D) + D + V + (2 * D + 2)",
            },
        ),
        Mistake(
            "pooler counted twice",
            "Your last number is too large by D² + D. The next-sentence head follows the pooler, which is counted separately.",
            HEADS, "(D * D + D) + 2 * D + V + (D * D + D) + (2 * D + 2)",
        ),
        Mistake(
            "one next-sentence logit",
            "Your last number is too small by D + 1. The next-sentence head has two logits.",
            HEADS, "(D * D + D) + 2 * D + V + (D + 1)",
        ),
        Mistake(
            "output projection missing",
            "Your second number lacks one linear map per layer. Queries, keys and values account for three maps; which map "
            "follows the heads?",
            ONE_LAYER, "3 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D",
        ),
        Mistake(
            "one layer norm per layer",
            "Your second number is too small by 2D per layer. There is one layer norm for attention and one for the "
            "feed-forward network.",
            ONE_LAYER, "4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * D",
        ),
        Mistake(
            "only one layer counted",
            "Your second number does not depend on L. It should include the parameters of all L layers.",
            "layers = L * (", "layers = 1 * (",
        ),
        Mistake(
            "token embeddings counted twice",
            "Your last number is too large by V · D. The masked-word head reuses the token embeddings.",
            HEADS, "(D * D + D) + 2 * D + V * D + V + (2 * D + 2)",
        ),
        Mistake(
            "transform missing in the masked-word head",
            "Your last number lacks a linear map and a layer norm, which precede the token embeddings in the masked-word "
            "head.",
            HEADS, "V + (2 * D + 2)",
        ),
        Mistake(
            "word biases missing",
            "Your last number is too small by V. The masked-word head has a bias for each word of the vocabulary.",
            HEADS, "(D * D + D) + 2 * D + (2 * D + 2)",
        ),
        Mistake(
            "next-sentence head missing",
            "Your last number lacks the parameters of the linear map to two logits.",
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
        "Follow the model from the ids to the logits and stop at each part that is learned. Which shapes do the matrix and the "
        "bias of this part have?",
        "Linear map from n to m: n · m + m. Layer norm: 2D. Embedding table of n rows: n · D. Output: four integers.",
        "embeddings: three tables, one layer norm\neach layer: four D × D maps, two maps between D and F, two layer "
        "norms\npooler: one D × D map\nheads: a D × D map, a layer norm, a bias for each word; a map from D to 2",
        "A near miss: 12D² per layer is correct only for F = 4D, and it omits the biases.",
    ),
)
