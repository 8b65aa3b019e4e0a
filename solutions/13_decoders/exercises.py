"""13 Today's decoders: inputs, known mistakes, right answers and hints."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ learning merges

SIGNS = "bcdefghijklmnopqrstuvwxyz"
WIDE = "éßøñ猫細🧬"
"""Characters of two, three and four bytes."""


def words_from(draw: Draw, alphabet: str, many: int, longest: int = 8) -> list[str]:
    """Different words of random characters."""
    found: dict[str, None] = {}
    while len(found) < many:
        length = int(draw.rng.integers(1, longest + 1))
        found["".join(str(sign) for sign in draw.rng.choice(list(alphabet), length))] = None
    return list(found)


def some_signs(draw: Draw, many: int, wide: int = 0) -> str:
    letters = [str(sign) for sign in draw.rng.choice(list(SIGNS), many, replace=False)]
    return "".join(letters + [str(sign) for sign in draw.rng.choice(list(WIDE), wide, replace=False)])


def training_cases(draw: Draw) -> Iterator[Case]:
    """Letters; characters of several bytes; few words, so that the pairs run out; and a planted text for special cases.

    In the planted text, a pair that overlaps itself is the most frequent one only if overlapping occurrences count; it then has
    to be merged from the left. Two pairs are equally frequent, and the smaller one comes second. A rare word repeats a pair that
    a frequent word contains once, so words have to count as often as they occur in the text.
    """
    for letters, wide, words, highest, merges in ((4, 0, 14, 30, 12), (3, 3, 12, 9, 14)):
        found = words_from(draw, some_signs(draw, letters, wide), words)
        yield training_case(found, draw.integers(1, highest + 1, words), merges)
    a, b, c, d, e, f, g, h = sorted(some_signs(draw, 8))
    planted = {a * 3: 10, a + b: 12, c + d: 15, h + g + f: 19, e + b + e + b + e + b: 2, "é" + a + "é": 3, d + d + d + d: 4}
    yield training_case(list(planted), np.array(list(planted.values())), 9)
    few = {b + a + b: 4, a: 9, c + c + c + c + c: 1}
    yield training_case(list(few), np.array(list(few.values())), 20)


def training_case(words: list[str], counts: np.ndarray, merges: int) -> Case:
    return {"words": words, "counts": counts.astype(np.int64), "merges": merges}


BEST = "min(counts, key=lambda pair: (-counts[pair], pair))"

bpe_train = Exercise(
    cases=training_cases,
    rule=Rule("equal", axes={"": "merges 2"}),
    mistakes=(
        Mistake(
            "each word counted once",
            "You count each word once, however often it occurs in the text. Count a pair as often as its word occurs.",
            "+= words[word]", "+= 1",
        ),
        Mistake(
            "ties broken by the larger pair",
            "Among equally frequent pairs, you choose the largest. The docstring asks for the smallest.",
            "(-counts[pair], pair)", "(-counts[pair], [-token for token in pair])",
        ),
        Mistake(
            "ties broken by the first pair counted",
            "Among equally frequent pairs, you choose the pair counted first (as max and most_common do). The docstring asks "
            "for the smallest.",
            BEST, "max(counts, key=counts.get)",
        ),
        Mistake(
            "characters instead of bytes",
            "Your answer is correct for words of ASCII letters. However, é is one character and two bytes: a word starts as word.encode().",
            "list(word.encode())", "[ord(sign) for sign in word]",
        ),
        Mistake(
            "pairs counted only before the first merge",
            "Your pairs are the most frequent pairs of bytes. Each merge changes the text, so count again after each merge.",
            code="""
def bpe_train(words, merges):
    counts = Counter()
    for word in words:
        for pair in pairwise(word.encode()):
            counts[pair] += words[word]
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:merges]
""",
        ),
        Mistake(
            "new tokens numbered from 255",
            "Your first new token is 255, which is a byte: bytes have the ids 0 to 255. The first new token should be 256.",
            "new = 256 +", "new = 255 +",
        ),
        Mistake(
            "new tokens numbered from 257",
            "Your first new token is 257. Bytes have the ids 0 to 255, so the first free id is 256.",
            "new = 256 +", "new = 257 +",
        ),
        Mistake(
            "new tokens numbered from 0",
            "Your first new token is 0, which is a byte: bytes have the ids 0 to 255. The first new token should be 256.",
            "new = 256 +", "new =",
        ),
        Mistake(
            "pairs across word boundaries",
            "You also count pairs that consist of the end of one word and the beginning of the next. Both neighbours must be in "
            "the same word.",
            code="""
def bpe_train(words, merges):
    row, learned = [], []
    for word, count in words.items():
        row += list(word.encode()) * count
    while len(learned) < merges:
        counts = Counter(pairwise(row))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        row = merge(row, best, 256 + len(learned))
        learned.append(best)
    return learned
""",
        ),
        Mistake(
            "merges never applied",
            "Your code finds the same pair again and again: replace the merged pair in all words before the next count.",
            "{word: merge(ids, best, new) for word, ids in rows.items()}", "rows",
        ),
        Mistake(
            "overlapping pairs counted once",
            "In \"aaa\", you count the pair aa once. Every pair of neighbours counts, so the pair aa occurs twice.",
            "            for pair in pairwise(ids):\n                counts[pair] += words[word]",
            "            place = 0\n            while place < len(ids) - 1:\n                pair = ids[place], ids[place + 1]\n"
            "                counts[pair] += words[word]\n                doubled = place + 2 < len(ids) and ids[place + 1] == ids[place] == ids[place + 2]\n"
            "                place += 2 if doubled else 1",
        ),
        Mistake(
            "each pair counted once per word",
            "You count a pair that occurs twice in a word only once. Count both occurrences.",
            "pairwise(ids):", "set(pairwise(ids)):",
        ),
        Mistake(
            "rarest pair merged",
            "Your first pair is the rarest one. Merge the most frequent pair.",
            "-counts[pair]", "counts[pair]",
        ),
        Mistake(
            "one merge too few",
            "Your list is one pair too short. It should contain `merges` pairs.",
            "len(learned) < merges", "len(learned) < merges - 1",
        ),
    ),
    alternatives={
        "most_common after sorting, rows in a list": """
def bpe_train(words, merges):
    texts = [(list(word.encode("utf-8")), count) for word, count in words.items()]
    pairs = []
    for number in range(merges):
        counts = Counter()
        for ids, count in texts:
            for i in range(len(ids) - 1):
                counts[ids[i], ids[i + 1]] += count
        if len(counts) == 0:
            return pairs
        pair = max(sorted(counts), key=lambda p: counts[p])
        pairs.append(pair)
        texts = [(merge(ids, pair, 256 + number), count) for ids, count in texts]
    return pairs
""",
        "a merge of its own, a tensor comes back": """
def bpe_train(words, merges):
    texts = {word: tuple(bytearray(word, "utf8")) for word in words}
    learned = []
    for new in range(256, 256 + merges):
        count = {}
        for word, ids in texts.items():
            for pair in zip(ids, ids[1:]):
                count[pair] = count.get(pair, 0) + words[word]
        if not count:
            break
        highest = max(count.values())
        best = min(pair for pair in count if count[pair] == highest)
        learned.append(best)
        for word, ids in texts.items():
            row, i = [], 0
            while i < len(ids):
                if ids[i : i + 2] == best:
                    row.append(new)
                    i += 2
                else:
                    row.append(ids[i])
                    i += 1
            texts[word] = tuple(row)
    return torch.tensor(learned)
""",
    },
    hints=(
        "Take the words ab (three times) and abb (once). Which pairs occur, and how often? What do the words look like after "
        "the first merge?",
        "words: how often each word occurs in the text. In between: the ids of each word. Output: a list of pairs of ids, at "
        "most `merges` of them.",
        "sequences = the bytes of each word\nrepeat `merges` times:\n    count each pair of neighbours, as often as its word "
        "occurs in the text\n    stop if there are none\n    best = highest count; among equals, the smallest pair\n    in all "
        "sequences, merge it into 256 + number of pairs so far\n    append it to the list",
        "A near miss: `max(counts, key=counts.get)` chooses the first of several equally frequent pairs, in the order in which "
        "they were counted.",
    ),
)

# ------------------------------------------------------------------------------------------ cutting with merges


def learned(words: list[str], merges: int) -> list[tuple[int, int]]:
    """Merges for the cases: any list in which later merges build on earlier ones would do."""
    rows, pairs = [list(word.encode()) for word in words], []
    while len(pairs) < merges:
        counts = Counter(pair for row in rows for pair in pairwise(row))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        rows = [merged(row, best, 256 + len(pairs)) for row in rows]
        pairs.append(best)
    return pairs


def merged(row: list[int], pair: tuple[int, int], new: int) -> list[int]:
    done: list[int] = []
    for token in row:
        if done and (done[-1], token) == pair:
            done[-1] = new
        else:
            done.append(token)
    return done


def encoding_cases(draw: Draw) -> Iterator[Case]:
    """New words made of the letters from which merges were learned, and planted merges.

    Planted: the earliest pair is to the right of another; a longer token would fit from the left; a character of three bytes
    with merges for two of them; three equal letters; a word of one byte; a word without any pair; a merge whose halves are
    formed only after a competing merge has used them.
    """
    for letters, wide, many, merges in ((4, 0, 30, 18), (4, 2, 40, 26), (3, 1, 24, 30)):
        signs = some_signs(draw, letters, wide)
        pairs = learned(words_from(draw, signs, many), merges)
        yield {"words": words_from(draw, signs, 14, longest=11), "merges": np.array(pairs)}
    a, b, c, d, e = (ord(sign) for sign in some_signs(draw, 5))
    cat = list("猫".encode())
    pairs = [(b, c), (a, b), (257, 256), (a, 256), (d, d), (260, d), (cat[1], cat[2]), (cat[0], cat[1]), (d, e), (257, c), (c, a), (266, a)]
    texts = [(a, b, c), (a, b), (a, b, b, c), (d, d, d), (d, d, d, d, d), (d, d, e), (e,), (e, a), (a, b, a, b), (c, a, b), (d, d, d, e), (c, a, a)]
    words = [bytes(text).decode() for text in texts] + ["猫", "猫猫", bytes((a,)).decode() + "猫"]
    yield {"words": [words[place] for place in draw.rng.permutation(len(words))], "merges": np.array(pairs)}


FIRST = "first = min(pairs, key=place.get)"

bpe_encode = Exercise(
    cases=encoding_cases,
    rule=Rule("equal", axes={"": "words tokens"}),
    mistakes=(
        Mistake(
            "leftmost pair merged first",
            "You merge the first pair of the word that is in the list. The pair *learned* first takes priority, wherever it is "
            "in the word.",
            FIRST, "first = pairs[0]",
        ),
        Mistake(
            "pair learned last merged first",
            "You merge the pair that was learned last. The pair that was learned earliest takes priority.",
            FIRST, "first = max(pairs, key=place.get)",
        ),
        Mistake(
            "longest match from the left",
            "You take the longest token that fits, from the left, as WordPiece does. Here, merges are applied in the order in "
            "which they were learned.",
            code="""
def bpe_encode(word, merges):
    content = {bytes([i]): i for i in range(256)}
    parts = [bytes([i]) for i in range(256)]
    for i, (a, b) in enumerate(merges):
        parts.append(parts[a] + parts[b])
        content.setdefault(parts[-1], 256 + i)
    data, ids, start = word.encode(), [], 0
    while start < len(data):
        end = max(end for end in range(start + 1, len(data) + 1) if data[start:end] in content)
        ids.append(content[data[start:end]])
        start = end
    return ids
""",
        ),
        Mistake(
            "index of the merge used as token id",
            "You use the index of the merge as the id, but ids below 256 are bytes. The pair at index i becomes token 256 + i.",
            "256 + place[first]", "place[first]",
            also=(
                """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, i)
    return ids
""",
            ),
        ),
        Mistake(
            "new tokens numbered from 255",
            "The ids of your new tokens are one too small: the first becomes 255, which is a byte. The pair at index i becomes "
            "token 256 + i.",
            "256 + place[first]", "255 + place[first]",
            also=(
                """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 255 + i)
    return ids
""",
            ),
        ),
        Mistake(
            "only one merge applied",
            "You stop after one merge. Continue until no pair in the word is in the list.",
            "while pairs :=", "if pairs :=",
        ),
        Mistake(
            "only pairs of bytes merged",
            "You merge only bytes. The list also contains pairs in which one token is the result of a merge.",
            "if pair in place]", "if pair in place and max(pair) < 256]",
        ),
        Mistake(
            "characters instead of bytes",
            "Your answer is correct for words of ASCII letters. However, 猫 is one character and three bytes: start with word.encode().",
            "list(word.encode())", "[ord(sign) for sign in word]",
        ),
        Mistake(
            "merged from the right",
            "Of three equal tokens in succession, you merge the last two. `merge` starts from the left.",
            "ids = merge(ids, first, 256 + place[first])", "ids = merge(ids[::-1], first[::-1], 256 + place[first])[::-1]",
        ),
        Mistake(
            "last merge never used",
            "Your code never uses the last pair of the list. Every pair in the list may be merged.",
            "enumerate(merges)}", "enumerate(merges[:-1])}",
        ),
        Mistake(
            "each pair merged once per word",
            "You merge a pair that occurs twice in a word only once. Merge all its occurrences before the next pair.",
            code="""
def bpe_encode(word, merges):
    ids = list(word.encode())
    for number, (first, second) in enumerate(merges):
        for at in range(len(ids) - 1):
            if ids[at] == first and ids[at + 1] == second:
                ids[at : at + 2] = [256 + number]
                break
    return ids
""",
        ),
        Mistake(
            "merges applied in reverse order",
            "You go through the list from the end, so merges learned late are applied first. Start with the earliest merge.",
            code="""
def bpe_encode(word, merges):
    ids = list(word.encode())
    for number in reversed(range(len(merges))):
        ids = merge(ids, merges[number], 256 + number)
    return ids
""",
        ),
        Mistake(
            "one greedy pass from the left",
            "You go through the word once and merge each token with the one before it whenever their pair is in the list. A "
            "pair further right may have been learned earlier.",
            code="""
def bpe_encode(word, merges):
    place = {pair: i for i, pair in enumerate(merges)}
    ids = []
    for byte in word.encode():
        ids.append(byte)
        while len(ids) > 1 and (ids[-2], ids[-1]) in place:
            right, left = ids.pop(), ids.pop()
            ids.append(256 + place[left, right])
    return ids
""",
        ),
    ),
    alternatives={
        "all merges in order": """
def bpe_encode(word, merges):
    ids = list(word.encode())
    for number, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + number)
    return ids
""",
        "one place at a time": """
def bpe_encode(word, merges):
    ids = [int(byte) for byte in bytes(word, "utf-8")]
    while True:
        found = [(merges.index(pair), i) for i, pair in enumerate(zip(ids, ids[1:])) if pair in merges]
        if not found:
            return ids
        rank, i = min(found)
        ids[i : i + 2] = [256 + rank]
""",
    },
    hints=(
        "The list is [bc, ab]. Which tokens does abc become, and which would the longest match from the left give?",
        "word: a string; its bytes are ids 0 to 255. Output: a list of ids, no longer than the list of bytes.",
        "ids = the bytes\nrepeat:\n    find the pairs of neighbours that are in the list\n    stop if there are none\n    merge "
        "the one with the smallest index into 256 + index",
        "A near miss: merging the first pair of the word that is in the list. This is correct for many words, but not if a pair learned earlier follows.",
    ),
)

# ------------------------------------------------------------------------------------------ rotary positions


def rotary_cases(draw: Draw) -> Iterator[Case]:
    """Positions in order, far along a text, and out of order; two, three and four axes; other bases."""
    for shape, start, base in (((5, 8), 0, 10_000.0), ((2, 3, 6, 10), 37, 500.0), ((3, 7, 6), None, 100_000.0), ((4, 2), 3, 10_000.0)):
        T = shape[-2]
        positions = draw.rng.choice(90, T, replace=False) if start is None else start + np.arange(T)
        yield {"x": draw.normal(*shape), "positions": positions.astype(np.int64), "base": base}


TURNED = "torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)"
SPEED = "base ** (-torch.arange(0, d, 2) / d)"

rotary = Exercise(
    cases=rotary_cases,
    rule=Rule(tolerance=2e-5, axes={"": "… T d"}),
    mistakes=(
        Mistake(
            "adjacent coordinates paired instead of halves",
            "You rotate the coordinates 2i and 2i + 1 together. Plane i should consist of the coordinates i and i + d/2.",
            edits={
                "first, second = x.chunk(2, dim=-1)": "first, second = x[..., ::2], x[..., 1::2]",
                TURNED: "torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)",
            },
        ),
        Mistake(
            "adjacent coordinates paired, result in halves",
            "You take the coordinates 2i and 2i + 1 as a plane but write the results into the two halves. Plane i consists of "
            "the coordinates i and i + d/2.",
            "first, second = x.chunk(2, dim=-1)", "first, second = x[..., ::2], x[..., 1::2]",
        ),
        Mistake(
            "rotated in the wrong direction",
            "You rotate in the wrong direction: the minus sign belongs to the first half. A model trained in this way would do "
            "equally well, but published weights would give different scores, because a distance of 3 would become −3.",
            TURNED, "torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)",
        ),
        Mistake(
            "minus sign missing",
            "Your rotation changes the lengths of the vectors. The formula has one minus sign, in the first half.",
            "first * cos - second * sin", "first * cos + second * sin",
        ),
        Mistake(
            "positions not used",
            "Your answer is correct if the text begins at position 0. Use the argument `positions`.",
            "positions[:, None]", "torch.arange(x.shape[-2])[:, None]",
        ),
        Mistake(
            "exponent −i/d instead of −2i/d",
            "Your later planes rotate too fast. Plane i of the d/2 planes has the exponent −2i/d; yours has −i/d.",
            "torch.arange(0, d, 2) / d", "torch.arange(d // 2) / d",
        ),
        Mistake(
            "exponent doubled",
            "Your exponents grow twice as fast as they should: plane i has the exponent −2i/d.",
            "torch.arange(0, d, 2) / d", "2 * torch.arange(0, d, 2) / d",
        ),
        Mistake(
            "exponent positive",
            "Your later planes rotate faster and faster. They should rotate more slowly: the exponent is negative.",
            "(-torch.arange", "(torch.arange",
        ),
        Mistake(
            "sine and cosine swapped",
            "At position 0, you rotate by a quarter turn, but nothing should change: cos 0 = 1 multiplies the coordinate "
            "itself.",
            "angle.cos(), angle.sin()", "angle.sin(), angle.cos()",
        ),
        Mistake(
            "sinusoids added",
            "You add sines and cosines to the vector, as in notebook 03. The vector should be rotated, which preserves its length.",
            TURNED, "x + torch.cat([sin, cos], dim=-1)",
        ),
        Mistake(
            "angles ordered for adjacent coordinates, halves rotated",
            "You rotate halves, but your angles are in the order for adjacent coordinates (repeat_interleave). Coordinates i and i + d/2 have the same angle: concatenate the angles with themselves (torch.cat).",
            code="""
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    angle = (positions[:, None] * base ** (-torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat([-second, first], dim=-1) * angle.sin()
""",
        ),
        Mistake(
            "base fixed at 10,000",
            "Your answer is correct for the base 10,000. Use the argument `base`.",
            SPEED, "10_000.0 ** (-torch.arange(0, d, 2) / d)",
        ),
        Mistake(
            "only the first half rotated",
            "The second half of your vectors is unchanged. Rotation changes both coordinates of a point.",
            TURNED, "torch.cat([first * cos - second * sin, second], dim=-1)",
        ),
        Mistake(
            "second half computed from the rotated first half",
            "You compute the second half from the rotated first half. Compute both from the old coordinates.",
            f"return {TURNED}", "first = first * cos - second * sin\n    return torch.cat([first, first * sin + second * cos], dim=-1)",
        ),
        detached("rotary"),
    ),
    alternatives={
        "rotate_half, as transformers has it": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    speed = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
    angle = torch.outer(positions.float(), speed)
    angle = torch.cat([angle, angle], dim=-1)
    half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    return x * angle.cos() + half * angle.sin()
""",
        "complex numbers": """
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    speed = base ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    turn = torch.polar(torch.ones(len(positions), d // 2, dtype=torch.float64), positions[:, None] * speed)
    point = torch.complex(x[..., : d // 2].double(), x[..., d // 2 :].double()) * turn
    return torch.cat([point.real, point.imag], dim=-1).float()
""",
        "plane by plane": """
import math
def rotary(x, positions, base=10_000.0):
    out, d = torch.empty_like(x), x.shape[-1]
    for t, p in enumerate(positions.tolist()):
        for i in range(d // 2):
            a = p * base ** (-2 * i / d)
            u, v = x[..., t, i], x[..., t, i + d // 2]
            out[..., t, i] = u * math.cos(a) - v * math.sin(a)
            out[..., t, i + d // 2] = u * math.sin(a) + v * math.cos(a)
    return out
""",
    },
    hints=(
        "Rotating the point (1, 0) by a quarter turn gives (0, 1). Which of the two formulas has the minus sign?",
        "positions: (T). Frequencies: (d/2). Angles: (T, d/2). The two halves of x: (…, T, d/2) each.",
        "frequency of plane i = base to the power −2i/d\nangle = position times frequency\nfirst half · cos − second half · "
        "sin\nfirst half · sin + second half · cos\nconcatenate the two",
        "A near miss: x[..., ::2] and x[..., 1::2] form different planes from the two halves. Both versions occur in published "
        "code, and weights fit only one of them.",
    ),
)

# ------------------------------------------------------------------------------------------ grouped attention

def grouped_cases(draw: Draw) -> Iterator[Case]:
    """Whole texts and the last tokens of longer ones; one, two and several query heads for each head of keys and values."""
    for B, H, K, T, S, d in ((2, 6, 3, 5, 5, 4), (1, 4, 2, 3, 7, 8), (2, 3, 3, 1, 4, 6), (3, 5, 1, 4, 6, 2), (2, 6, 2, 4, 9, 3)):
        yield {"q": draw.normal(B, H, T, d), "k": draw.normal(B, K, S, d), "v": draw.normal(B, K, S, d)}


COPIED = "k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)"
LATER = "torch.arange(S) > torch.arange(S - T, S)[:, None]"
MASKED = "scores.masked_fill(later, -torch.inf).softmax(dim=-1)"

grouped_attention = Exercise(
    cases=grouped_cases,
    rule=Rule(tolerance=2e-5, axes={"": "B H T d"}),
    mistakes=(
        Mistake(
            "key and value heads assigned in turn",
            "Your query heads use the heads of keys and values in turn: 0, 1, 0, 1. The first H / K query heads should share "
            "the first one: 0, 0, 1, 1.",
            COPIED, "k, v = k.repeat(1, share, 1, 1), v.repeat(1, share, 1, 1)",
        ),
        Mistake(
            "first head of keys and values used by all",
            "All your query heads use head 0 of the keys and values. Only the first H / K of them should use it.",
            COPIED, "k, v = k[:, :1], v[:, :1]",
        ),
        Mistake(
            "values assigned in turn",
            "Your keys are assigned correctly, but your query heads use the heads of values in turn: 0, 1, 0, 1. Assign both in the same way.",
            COPIED, "k, v = k.repeat_interleave(share, dim=1), v.repeat(1, share, 1, 1)",
        ),
        Mistake(
            "causal mask missing",
            "Your last token is correct, but the tokens before it attend to tokens after them.",
            MASKED, "scores.softmax(dim=-1)",
        ),
        Mistake(
            "queries taken as those of the first tokens",
            "Your answer is correct if T = S. If T < S, the queries belong to the *last* T tokens, which also attend to the S − T tokens before them.",
            LATER, "torch.arange(S) > torch.arange(T)[:, None]",
        ),
        Mistake(
            "no mask if there are earlier tokens",
            "Your answer is correct if T = S. If T < S, the queries also need a mask: each of them attends to tokens after it.",
            LATER, f"({LATER}) & (T == S)",
        ),
        Mistake(
            "earlier tokens hidden",
            "Your answer is correct if T = S. If T < S, your queries attend only to the last T tokens. They should also attend to the "
            "tokens before these.",
            LATER, f"({LATER}) | (torch.arange(S) < S - T)",
        ),
        Mistake(
            "token does not attend to itself",
            "Your tokens attend only to those before them, so the first token of a text attends to nothing and becomes NaN. A token should also attend to itself.",
            "torch.arange(S) > torch.arange", "torch.arange(S) >= torch.arange",
        ),
        Mistake(
            "mask inverted",
            "Your tokens attend to later tokens instead of earlier ones: the mask is inverted.",
            LATER, "torch.arange(S) < torch.arange(S - T, S)[:, None]",
        ),
        Mistake(
            "scores of 0 for later tokens",
            "Later tokens still have a weight: a score of 0 has the weight exp(0) = 1 before normalisation. Set their scores to −∞.",
            "later, -torch.inf", "later, 0.0",
        ),
        Mistake(
            "mask applied after the softmax",
            "Your weights do not sum to 1, because later tokens are removed after the softmax. Mask the scores before it.",
            MASKED, "scores.softmax(dim=-1).masked_fill(later, 0.0)",
        ),
        Mistake("scores not scaled", "Your attention weights are too peaked: divide the scores by √d.", " / q.shape[-1] ** 0.5", ""),
        Mistake(
            "scores divided by d instead of √d", "Your attention weights are too uniform: you divide by d. Divide by its square root.",
            "q.shape[-1] ** 0.5", "q.shape[-1]",
        ),
        Mistake(
            "scores divided by √D instead of √d",
            "With several heads, your attention weights are too uniform: a score is a sum over the d coordinates of one head, so divide by √d.",
            "q.shape[-1] ** 0.5", "(q.shape[1] * q.shape[-1]) ** 0.5",
        ),
        Mistake(
            "softmax over the queries", "The columns of your weights sum to 1. The rows should sum to 1: take the softmax over the keys.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake("keys used as values", "You average the keys. The weights belong to the values.", MASKED + " @ v", MASKED + " @ k"),
        detached("grouped_attention"),
    ),
    alternatives={
        "PyTorch's own, with enable_gqa": """
def grouped_attention(q, k, v):
    keep = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=True)
""",
        "an axis of groups": """
def grouped_attention(q, k, v):
    B, H, T, d = q.shape
    K, S = k.shape[1:3]
    grouped = q.reshape(B, K, H // K, T, d)
    scores = torch.einsum("bkgtd,bksd->bkgts", grouped, k) * d**-0.5
    scores = scores + torch.full((T, S), float("-inf")).triu(S - T + 1)
    return torch.einsum("bkgts,bksd->bkgtd", scores.softmax(-1), v).flatten(1, 2)
""",
        "a loop over the query heads": """
def grouped_attention(q, k, v):
    H, K, T, S = q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    allowed = torch.arange(S) <= torch.arange(S - T, S)[:, None]
    heads = []
    for h in range(H):
        scores = q[:, h] @ k[:, h * K // H].mT / q.shape[-1] ** 0.5
        heads.append(torch.where(allowed, scores, float("-inf")).softmax(-1) @ v[:, h * K // H])
    return torch.stack(heads, dim=1)
""",
    },
    hints=(
        "With six query heads and two heads of keys, which head of keys does query head 4 use? And which of seven tokens may the "
        "first of the last three attend to?",
        "q: (B, H, T, d). k and v: (B, K, S, d); copied for the query heads: (B, H, S, d). Scores and mask: (…, T, S).",
        "copy each head of keys and values H / K times, next to each other\nscores = q · kᵀ / √d\nthe queries have the positions "
        "S − T … S − 1\n−∞ where the key's position is greater\nsoftmax over the keys, then the weighted sum of the values",
        "A near miss: `repeat` gives the heads 0, 1, 0, 1. Query heads that share a head of keys are adjacent, so the order should be "
        "0, 0, 1, 1: use `repeat_interleave`.",
    ),
)

# ------------------------------------------------------------------------------------------ the cache

def cache_cases(draw: Draw) -> Iterator[Case]:
    """A token at a time and several; a shorter and a longer second text; the last piece may be shorter than the others."""
    for B, K, T, other, d, pieces in ((2, 3, 5, 7, 4, 1), (1, 2, 6, 3, 5, 2), (3, 1, 7, 5, 2, 3)):
        yield {
            "k": draw.normal(B, K, T, d), "v": draw.normal(B, K, T, d),
            "other_k": draw.normal(B, K, other, d), "other_v": draw.normal(B, K, other, d), "pieces": pieces,
        }


JOINED = "k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)"
CACHE_READ = ("a new cache", "a text in pieces", "a second text in pieces", "after reset()")
"""The readings of `run_cache`."""

cache = Exercise(
    cases=cache_cases,
    rule=Rule(
        tolerance=2e-5,
        axes={f"{name}, {what}": axes for name in CACHE_READ for what, axes in {"keys": "B K T d", "values": "B K T d", "tokens": "calls"}.items()},
    ),
    mistakes=(
        Mistake(
            "cache not emptied by reset",
            "After a second reset(cached=True), your cache still contains keys and values of the first text. A new text starts with an "
            "empty cache.",
            "self.cached, self.past = cached, None", 'self.cached, self.past = cached, getattr(self, "past", None)',
            also=(
                """
class Cache:
    def __init__(self):
        self.k = self.v = None
        self.reset()

    def reset(self, cached=False):
        self.cached = cached

    def tokens(self):
        return self.k.shape[2] if self.k is not None else 0

    def extend(self, k, v):
        if self.cached:
            if self.k is not None:
                k, v = torch.cat([self.k, k], dim=2), torch.cat([self.v, v], dim=2)
            self.k, self.v = k, v
        return k, v
""",
            ),
        ),
        Mistake(
            "only reset() empties the cache",
            "reset() empties your cache, but reset(cached=True) does not: the second text still sees keys and values of the first. Both calls should "
            "discard everything.",
            "self.cached, self.past = cached, None", 'self.cached, self.past = cached, getattr(self, "past", None) if cached else None',
        ),
        Mistake(
            "cache never filled",
            "Your cache stores nothing, so `extend` returns only the new keys and values.",
            "if self.cached:", "if False:",
        ),
        Mistake(
            "cache filled without being requested",
            "In a new cache and after reset(), you also store keys and values. Store them only after reset(cached=True).",
            "if self.cached:", "if True:",
        ),
        Mistake(
            "only the latest keys and values stored",
            "Your cache remembers only the keys and values of the last call. Store those of all tokens since the text started.",
            code="""
class Cache:
    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past = cached, None

    def tokens(self):
        return 0 if self.past is None else self.past[0].shape[2]

    def extend(self, k, v):
        past = self.past
        if self.cached:
            self.past = k, v
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        return k, v
""",
        ),
        Mistake(
            "stored keys and values not returned",
            "You store keys and values but return only the new ones. The new tokens attend to all tokens of the text.",
            code="""
class Cache:
    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past = cached, None

    def tokens(self):
        return 0 if self.past is None else self.past[0].shape[2]

    def extend(self, k, v):
        if self.cached:
            self.past = (k, v) if self.past is None else (torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2))
        return k, v
""",
        ),
        Mistake(
            "new keys and values first",
            "Your new keys and values come before the stored ones. They should follow them, as in the text.",
            JOINED, "k, v = torch.cat([k, self.past[0]], dim=2), torch.cat([v, self.past[1]], dim=2)",
        ),
        Mistake(
            "keys and values swapped", "You return the values first. The keys come first.", "return k, v", "return v, k",
        ),
        Mistake(
            "calls counted instead of tokens",
            "`tokens` counts the calls of `extend`. If a call adds several tokens, each of them counts.",
            code="""
class Cache:
    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past, self.calls = cached, None, 0

    def tokens(self):
        return self.calls

    def extend(self, k, v):
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past, self.calls = (k, v), self.calls + 1
        return k, v
""",
        ),
        Mistake(
            "tokens counted without being stored",
            "`tokens` also counts tokens that are not stored: in a new cache and after reset(), it should be 0.",
            code="""
class Cache:
    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past, self.seen = cached, None, 0

    def tokens(self):
        return self.seen

    def extend(self, k, v):
        self.seen += k.shape[2]
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past = k, v
        return k, v
""",
        ),
        Mistake(
            "wrong axis counted",
            "`tokens` returns the number of heads. The tokens are along axis 2 of (B, K, T, d).",
            "self.past[0].shape[2]", "self.past[0].shape[1]",
        ),
        Mistake(
            "one cache shared by all objects",
            "While a second cache is in use, your first one also contains the keys and values of the second: you store them in the class. Store them in `self`.",
            code="""
class Cache:
    kept = []

    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.kept.clear()

    def tokens(self):
        return sum(k.shape[2] for k, _ in self.kept)

    def extend(self, k, v):
        keys, values = zip(*self.kept, (k, v))
        if self.cached:
            self.kept.append((k, v))
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)
""",
        ),
        Mistake(
            "detached from its inputs",
            "Your values are correct, but a model that uses this cache cannot be trained, because no gradient reaches the keys and values. Return "
            "them as they are, without `detach` or `no_grad`.",
            "return k, v", "return k.detach(), v.detach()",
        ),
    ),
    alternatives={
        "a list of pieces": """
class Cache:
    def __init__(self):
        self.cached, self.keys, self.values = False, [], []

    def reset(self, cached=False):
        self.cached = cached
        self.keys, self.values = [], []

    def tokens(self):
        return sum(key.size(2) for key in self.keys)

    def extend(self, k, v):
        keys, values = [*self.keys, k], [*self.values, v]
        if self.cached:
            self.keys, self.values = keys, values
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)
""",
        "stored without gradients": """
class Cache:
    def __init__(self):
        self.reset()

    def reset(self, cached=False):
        self.on = cached
        self.k = self.v = None

    def tokens(self):
        return self.k.shape[-2] if self.k is not None else 0

    def extend(self, k, v):
        if not self.on:
            return k, v
        if self.k is None:
            self.k, self.v = k.detach(), v.detach()
        else:
            self.k = torch.cat((self.k, k.detach()), dim=-2)
            self.v = torch.cat((self.v, v.detach()), dim=-2)
        return self.k, self.v
""",
    },
    survivors={
        "self.past[1].shape[2]": "the cache holds as many values as keys",
        "self.past[-1].shape[2]": "the cache holds as many values as keys",
    },
    hints=(
        "What should `extend` return for the third token of a text, and what if no text was started?",
        "New k and v: (B, K, T, d). With t tokens in the cache, the result is (B, K, t + T, d), twice.",
        "reset: remember whether to store, discard what is stored\ntokens: 0 if nothing is stored, else the size of axis 2\nextend: put "
        "the stored keys and values before the new ones; store both if requested; return both",
        "A near miss: storing only the new keys and values. The third call then lacks those of the first.",
    ),
)

# ------------------------------------------------------------------------------------------ the attention layer


def weights_of(draw: Draw, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Random weights, under the names by which a check loads them; they make no vector much longer or shorter."""
    made = {}
    for name, shape in shapes.items():
        matrix = len(shape) == 2 and not name.startswith("token")
        made[f"weights.{name}"] = draw.normal(*shape, scale=shape[1] ** -0.5 if matrix else 0.7)
        if "norm" in name:
            made[f"weights.{name}"] += 1
    return made


def attention_shapes(heads: int, kv_heads: int, d: int, where: str = "") -> dict[str, tuple[int, ...]]:
    dim = heads * d
    sizes = {"query": (dim, dim), "key": (kv_heads * d, dim), "value": (kv_heads * d, dim), "output": (dim, dim)}
    return {f"{where}{name}.weight": size for name, size in sizes.items()}


def attention_cases(draw: Draw) -> Iterator[Case]:
    """One, two and several query heads for each head of keys; texts processed at once and in pieces, and others after them.

    While one of the texts is processed in pieces, a second module is also in use: each module has its own cache.
    """
    for B, heads, kv_heads, d, T, other, pieces, base in (
        (2, 4, 2, 6, 7, 5, 1, None), (3, 6, 2, 4, 5, 8, 2, 50.0), (1, 3, 3, 8, 9, 4, 4, None), (2, 5, 1, 2, 6, 3, 3, 200.0),
    ):
        dim = heads * d
        config = {"dim": dim, "heads": heads, "kv_heads": kv_heads}
        yield {
            "config": config | ({"base": base} if base else {}),
            "x": draw.normal(B, T, dim),
            "other": draw.normal(B, other, dim),
            "pieces": pieces,
            **({"beside": draw.normal(B, 3, dim)} if pieces == 2 else {}),
            **weights_of(draw, attention_shapes(heads, kv_heads, d)),
        }


READ = ("at once", "once more", "in pieces", "a second text in pieces", "in pieces, beside another model", "after reset()", "once more after reset()")
"""The parts of the result of `run_cached`."""
BOTH = "q, k = rotary(q, positions, self.base), rotary(k, positions, self.base)"
SPLIT = "layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)"
EXTENDED = "k, v = self.cache.extend(k, v)"
MIXED = "grouped_attention(q, k, v)"

PLAIN = """
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.d, self.base, self.share = dim // heads, base, heads // kv_heads
        self.query = torch.nn.Linear(dim, dim, bias=False)
        self.key = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.value = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.output = torch.nn.Linear(dim, dim, bias=False)
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past = cached, None

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.query, self.key, self.value))
        before = 0 if self.past is None else self.past[0].shape[2]
        positions = torch.arange(before, before + x.shape[1])
        q, k = rotary(q, positions, self.base), rotary(k, positions, self.base)
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past = k, v
        k, v = (part.repeat_interleave(self.share, dim=1) for part in (k, v))
        scores = q @ k.transpose(-2, -1) / self.d**0.5
        scores = scores.masked_fill(torch.arange(k.shape[2]) > positions[:, None], -torch.inf)
        return self.output((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
"""
"""The class without `Cache` and `grouped_attention`."""
WITHOUT_TRANSPOSE = PLAIN.replace("unflatten(-1, (-1, self.d)).transpose(1, 2)", "reshape(x.shape[0], -1, x.shape[1], self.d)").replace(
    "transpose(1, 2).flatten(2)", "reshape(x.shape)"
)
"""Tokens and heads are mixed on the way in and, in the same way, on the way out."""


def with_biases(*names: str) -> str:
    """The class with a bias in some of its layers."""
    lines = [line.replace(", bias=False", "") if line.strip().startswith(tuple(f"self.{name} =" for name in names)) else line for line in PLAIN.split("\n")]
    return "\n".join(lines)


attention = Exercise(
    cases=attention_cases,
    rule=Rule(tolerance=3e-5, axes={"registered": "weights"} | dict.fromkeys(READ, "B T D"), legend=OF_WEIGHTS),
    uses=("decoders.rotary", "decoders.grouped_attention", "decoders.cache"),
    mistakes=(
        Mistake(
            "positions restart at every call",
            "Your answer is correct for texts processed at once. For texts processed in pieces, each of your calls starts at position 0 again: with t tokens in the cache, the first new token has position t.",
            "positions = torch.arange(before, before + x.shape[1])", "positions = torch.arange(x.shape[1])",
        ),
        Mistake(
            "positions counted after the cache was extended",
            "Your answer is correct for texts processed at once. For texts processed in pieces, the positions of your queries are too large, because you count the tokens in the cache after the "
            "new ones were added. Count them before.",
            code="""
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.cache = Cache()
        self.d, self.base = dim // heads, base
        self.query = torch.nn.Linear(dim, dim, bias=False)
        self.key = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.value = torch.nn.Linear(dim, kv_heads * self.d, bias=False)
        self.output = torch.nn.Linear(dim, dim, bias=False)

    def reset(self, cached=False):
        self.cache.reset(cached)

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.query, self.key, self.value))
        T, before = x.shape[1], self.cache.tokens()
        k, v = self.cache.extend(rotary(k, torch.arange(before, before + T), self.base), v)
        after = self.cache.tokens()
        q = rotary(q, torch.arange(after, after + T), self.base)
        return self.output(grouped_attention(q, k, v).transpose(1, 2).flatten(2))
""",
        ),
        Mistake(
            "keys rotated twice",
            "You rotate your keys twice: once before they are stored, and once more with everything that the cache returns. Rotate only "
            "the new keys.",
            EXTENDED, "k, v = self.cache.extend(k, v)\n        k = rotary(k, torch.arange(k.shape[2]), self.base)",
        ),
        Mistake(
            "keys stored before they were rotated",
            "Your answer is correct for texts processed at once. For texts processed in pieces, the keys in your cache are not rotated. Rotate the new keys before you extend the cache.",
            edits={
                BOTH: "q, new = rotary(q, positions, self.base), rotary(k, positions, self.base)",
                EXTENDED: "k, v = self.cache.extend(k, v)\n        k = torch.cat([k[:, :, :before], new], dim=2)",
            },
        ),
        Mistake(
            "queries not rotated",
            "Your queries are not rotated. If only the keys are rotated, a score depends on the position of the key instead of the "
            "distance.",
            BOTH, "k = rotary(k, positions, self.base)",
        ),
        Mistake(
            "keys not rotated",
            "Your keys are not rotated. If only the queries are rotated, a score depends on the position of the query instead of the "
            "distance.",
            BOTH, "q = rotary(q, positions, self.base)",
        ),
        Mistake(
            "values rotated",
            "You also rotate the values. Rotate only the vectors from which the scores are computed: queries and keys.",
            BOTH, f"{BOTH}\n        v = rotary(v, positions, self.base)",
        ),
        Mistake(
            "no rotation", "You rotate neither queries nor keys, so the attention does not depend on the positions of the tokens.", BOTH, "pass",
        ),
        Mistake(
            "rotated before splitting into heads",
            "You rotate whole vectors before they are split into heads. Each head has its own d coordinates and d/2 planes.",
            edits={
                SPLIT: "(layer(x) if layer is self.value else rotary(layer(x), torch.arange(self.cache.tokens(), "
                "self.cache.tokens() + x.shape[1]), self.base)).unflatten(-1, (-1, self.d)).transpose(1, 2)",
                BOTH: "pass",
            },
        ),
        Mistake(
            "base not passed to rotary",
            "Your answer is correct for the base 10,000, but you do not pass base on to `rotary`.",
            BOTH, "q, k = rotary(q, positions), rotary(k, positions)",
        ),
        Mistake(
            "cache not used",
            "Your answer is correct for texts processed at once. For texts processed in pieces, each of your calls sees only its own tokens: use the keys and "
            "values that `cache.extend` returns.",
            EXTENDED, "self.cache.extend(k, v)",
        ),
        Mistake(
            "keys and values swapped",
            "You use the keys as values and the values as keys.",
            MIXED, "grouped_attention(q, v, k)",
        ),
        Mistake(
            "heads split across tokens",
            "Your heads mix tokens from the start. A view as (B, heads, T, d) reads the values in memory order, token after "
            "token: make it (B, T, heads, d), then swap the two axes.",
            SPLIT, "layer(x).reshape(x.shape[0], -1, x.shape[1], self.d)",
            also=(WITHOUT_TRANSPOSE,),
        ),
        Mistake(
            "heads joined across tokens",
            "Your result mixes tokens: move the axis of heads back next to d before you merge the two axes.",
            f"{MIXED}.transpose(1, 2).flatten(2)", f"{MIXED}.reshape(x.shape)",
        ),
        Mistake(
            "output layer not applied",
            "You return the concatenated heads without applying the fourth layer, `output`.",
            f"self.output({MIXED}.transpose(1, 2).flatten(2))", f"{MIXED}.transpose(1, 2).flatten(2)",
        ),
        Mistake(
            "layers with biases",
            "Your module has parameters that the docstring does not mention: no layer "
            "here has a bias.",
            "self.output = torch.nn.Linear(dim, dim, bias=False)", "self.output = torch.nn.Linear(dim, dim)",
            also=(with_biases("query", "key", "value", "output"), with_biases("query", "key", "value")),
        ),
    ),
    alternatives={
        "without Cache and grouped_attention": PLAIN,
        "keys stored as they are and rotated afterwards": """
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.cache = Cache()
        self.heads, self.groups, self.base = heads, kv_heads, base
        self.query, self.output = torch.nn.Linear(dim, dim, False), torch.nn.Linear(dim, dim, False)
        self.key, self.value = (torch.nn.Linear(dim, dim // heads * kv_heads, False) for _ in range(2))

    def reset(self, cached=False):
        self.cache.reset(cached)

    def forward(self, x):
        B, T, D = x.shape
        t = self.cache.tokens()
        q = self.query(x).view(B, T, self.heads, -1).transpose(1, 2)
        k, v = self.cache.extend(*(layer(x).view(B, T, self.groups, -1).transpose(1, 2) for layer in (self.key, self.value)))
        q, k = rotary(q, torch.arange(t, t + T), self.base), rotary(k, torch.arange(t + T), self.base)
        return self.output(grouped_attention(q, k, v).transpose(1, 2).reshape(B, T, D))
""",
        "scaled_dot_product_attention with enable_gqa, keys and values apart": """
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.heads, self.kv_heads, self.base = heads, kv_heads, base
        size = dim // heads
        self.query, self.output = torch.nn.Linear(dim, dim, bias=False), torch.nn.Linear(dim, dim, bias=False)
        self.key, self.value = torch.nn.Linear(dim, kv_heads * size, bias=False), torch.nn.Linear(dim, kv_heads * size, bias=False)
        self.cached, self.keys, self.values = False, None, None

    def reset(self, cached=False):
        self.cached = cached
        self.keys = self.values = None

    def forward(self, x):
        B, T, D = x.shape
        start = 0 if self.keys is None else self.keys.shape[-2]
        p = torch.arange(T) + start
        q = rotary(self.query(x).view(B, T, self.heads, -1).transpose(1, 2), p, self.base)
        k = rotary(self.key(x).view(B, T, self.kv_heads, -1).transpose(1, 2), p, self.base)
        v = self.value(x).view(B, T, self.kv_heads, -1).transpose(1, 2)
        if self.keys is not None:
            k, v = torch.cat((self.keys, k), dim=-2), torch.cat((self.values, v), dim=-2)
        if self.cached:
            self.keys, self.values = k, v
        mask = torch.arange(k.shape[-2]) <= p[:, None]
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.output(mixed.transpose(1, 2).reshape(B, T, D))
""",
        "keys kept unturned, a loop over groups": """
class GroupedAttention(torch.nn.Module):
    def __init__(self, dim, heads, kv_heads, base=10_000.0):
        super().__init__()
        self.heads, self.groups, self.d, self.base = heads, kv_heads, dim // heads, base
        for name, size in (("query", heads), ("key", kv_heads), ("value", kv_heads)):
            setattr(self, name, torch.nn.Linear(dim, size * self.d, bias=False))
        self.output = torch.nn.Linear(dim, dim, bias=False)
        self.reset()

    def reset(self, cached=False):
        self.cached, self.read = cached, []

    def forward(self, x):
        everything = torch.cat([*self.read, x], dim=1)
        if self.cached:
            self.read = [everything]
        B, S, T = x.shape[0], everything.shape[1], x.shape[1]
        places = torch.arange(S)
        k = rotary(self.key(everything).view(B, S, self.groups, self.d).transpose(1, 2), places, self.base)
        v = self.value(everything).view(B, S, self.groups, self.d).transpose(1, 2)
        q = rotary(self.query(x).view(B, T, self.heads, self.d).transpose(1, 2), places[S - T :], self.base)
        allowed = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        mixed = []
        for head in range(self.heads):
            group = head * self.groups // self.heads
            scores = q[:, head] @ k[:, group].mT * self.d**-0.5
            mixed.append(torch.where(allowed, scores, float("-inf")).softmax(-1) @ v[:, group])
        return self.output(torch.cat(mixed, dim=-1))
""",
    },
    hints=(
        "What is the position of a new token when t tokens are in the cache? Which of queries, keys and values are rotated, and is "
        "this before or after they are stored?",
        "q: (B, H, T, d). k and v of the new tokens: (B, K, T, d); after `extend`: (B, K, t + T, d). Mixed: (B, H, T, d). Output: (B, T, dim).",
        "queries, keys, values, split into heads of d coordinates\npositions of the new tokens: start from the number of tokens "
        "in the cache\nrotate queries and keys\nextend the cache\ngrouped_attention\njoin the heads, then `output`",
        "A near miss: rotating what `extend` returns. The stored keys would be rotated once more with every call.",
    ),
)

# ------------------------------------------------------------------------------------------ norm and gate

def norm_and_gate_cases(draw: Draw) -> Iterator[Case]:
    """Vectors whose mean is far from 0, one of them short; an eps that matters for all vectors, and two that matter for the short one."""
    for B, T, dim, inner, eps in ((2, 3, 5, 8, 0.3), (1, 6, 4, 11, 1e-5), (3, 2, 7, 9, 1e-6)):
        shapes = {"gate.weight": (inner, dim), "up.weight": (inner, dim), "down.weight": (dim, inner)}
        x = draw.normal(B, T, dim) + draw.normal(B, T, 1, scale=1.5)
        x[:, 0] *= 0.01
        yield {
            "config": {"dim": dim, "inner": inner}, "x": x, "norm": draw.uniform(dim, low=0.3, high=2.0), "eps": eps,
            **weights_of(draw, shapes),
        }


ROOT = "(x.square().mean(dim=-1, keepdim=True) + eps).sqrt()"
GATED = "silu(self.gate(x)) * self.up(x)"
NORM = """
def rms_norm(x, weight, eps):
    return weight * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
"""
GATE = """
class SwiGLU(torch.nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.gate, self.up = (torch.nn.Linear(dim, inner, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        return self.down(silu(self.gate(x)) * self.up(x))
"""

norm_and_gate = Exercise(
    cases=norm_and_gate_cases,
    rule=Rule(tolerance=2e-5, axes={"rms_norm": "B T D", "registered": "weights", "eval": "B T D"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "mean subtracted",
            "Your vectors have mean 0 before the weight is applied, as in a layer norm. RMSNorm does not subtract the mean.",
            f"weight * x / {ROOT}", "weight * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()",
        ),
        Mistake(
            "divided by the standard deviation",
            "You divide by the standard deviation, which measures deviations from the mean. Divide by the root of the mean "
            "square.",
            ROOT, "(x.var(dim=-1, keepdim=True, unbiased=False) + eps).sqrt()",
        ),
        Mistake("square root missing", "You divide your vectors by the mean square. Divide by its square root.", ".sqrt()", ""),
        Mistake(
            "divided by the length",
            "Your vectors have length 1 before the weight is applied. Their mean square should be 1, which means a length of "
            "√D.",
            ".mean(dim=-1", ".sum(dim=-1",
        ),
        Mistake(
            "eps outside the root",
            "Your error is small for long vectors and large for short ones: eps should be added to the mean square, under the root.",
            ROOT, "(x.square().mean(dim=-1, keepdim=True).sqrt() + eps)",
        ),
        Mistake(
            "eps not used",
            "Your answer does not depend on `eps`, which hardly affects long vectors but does affect short ones. Add it to the mean square, under the root.",
            " + eps)", ")",
        ),
        Mistake(
            "fixed eps",
            "Your vectors are correct up to a factor that depends on eps: use the argument `eps`.",
            " + eps)", " + torch.finfo(x.dtype).eps)",
        ),
        Mistake(
            "weight not applied", "You do not multiply by the weight: each coordinate of the vector has its own weight.", "weight * x", "x",
        ),
        Mistake(
            "one mean square for the whole tensor",
            "You divide all vectors by the same number. Divide each by its own root mean square.",
            "mean(dim=-1, keepdim=True)", "mean()",
        ),
        Mistake(
            "mean over the first axis",
            "You average over the first axis. Each vector has its own mean square: average over the last axis.",
            "dim=-1", "dim=0",
        ),
        Mistake(
            "multiplied instead of divided", "You multiply by the root mean square, so long vectors become even longer. Divide by it.", "x / (", "x * (",
        ),
        Mistake(
            "1 added to the weight",
            "You multiply by 1 + weight, as Gemma does. The docstring asks for the weight itself.",
            "weight * x", "(1 + weight) * x",
        ),
        detached("rms_norm"),
        Mistake("gate and up swapped", "You apply SiLU to `up`. It belongs to the gate.", GATED, "self.gate(x) * silu(self.up(x))"),
        Mistake("activation function missing", "Your gate has no SiLU: you multiply the two projections as they are.", "silu(self.gate(x))", "self.gate(x)"),
        Mistake("added instead of multiplied", "You add the two projections. A gate multiplies the other projection.", " * self.up", " + self.up"),
        Mistake("activation applied to the product", "You apply SiLU to the product. It belongs only to the gate.", GATED, "silu(self.gate(x) * self.up(x))"),
        Mistake("sigmoid instead of SiLU", "Your gate uses σ(x), as in the first gated units (GLU). SiLU is x · σ(x).", "silu(self.gate(x))", "self.gate(x).sigmoid()"),
        Mistake("ReLU instead of SiLU", "About half of your gate's entries are exactly 0, because you use ReLU.", "silu(", "torch.relu("),
        Mistake("GELU instead of SiLU", "Your numbers are close, but your gate uses GELU. This variant is GEGLU, from the same paper.", "silu(", "torch.nn.functional.gelu("),
        Mistake("gate not used", "You do not use `gate`. Without it, this is the feed-forward layer from notebook 03 with a different activation function.", GATED, "silu(self.up(x))"),
        Mistake("activation applied to both projections", "You apply SiLU to both projections; `up` has no activation function.", GATED, "silu(self.gate(x)) * silu(self.up(x))"),
        Mistake("activation applied to the output", "You apply SiLU to the output of `down`. It belongs to the gate.", "self.down(silu(self.gate(x)) * self.up(x))", "silu(self.down(self.gate(x) * self.up(x)))"),
        Mistake(
            "layers with biases",
            "Your module has parameters that the docstring does not mention: there are no "
            "biases here.",
            "torch.nn.Linear(inner, dim, bias=False)", "torch.nn.Linear(inner, dim)\n        torch.nn.init.zeros_(self.down.bias)",
        ),
    ),
    alternatives={
        "PyTorch's own": """
def rms_norm(x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
"""
        + GATE,
        "rsqrt and a norm": """
def rms_norm(x, weight, eps):
    mean_square = torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True) ** 2 / x.shape[-1]
    return (x * torch.rsqrt(mean_square + eps)).float() * weight
"""
        + GATE,
        "by hand": NORM
        + """
class SwiGLU(torch.nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.gate = torch.nn.Linear(dim, inner, bias=False)
        self.up = torch.nn.Linear(dim, inner, bias=False)
        self.down = torch.nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        g = x @ self.gate.weight.T
        return (g / (1 + torch.exp(-g)) * (x @ self.up.weight.T)) @ self.down.weight.T
""",
        "torch.nn.SiLU as a part": NORM
        + """
class SwiGLU(torch.nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.up, self.gate = torch.nn.Linear(dim, inner, False), torch.nn.Linear(dim, inner, False)
        self.down, self.act = torch.nn.Linear(inner, dim, False), torch.nn.SiLU()

    def forward(self, x):
        return self.down(torch.mul(self.up(x), self.act(self.gate(x))))
""",
    },
    hints=(
        "Which three operations does the name RMS stand for, and in which order are they applied? What passes through the gate if its "
        "input is far below 0, and if it is far above 0?",
        "x: (…, D). Mean square: (…, 1), so that it broadcasts over each vector. weight: (D). gate(x) and up(x): (B, T, inner). Output: (B, T, dim).",
        "rms_norm: mean square of each vector, over its D coordinates\nx divided by the root of (mean square + eps), times weight\nSwiGLU: "
        "gate, up, down without biases\nforward: SiLU of gate(x), times up(x), then down",
        "Near misses: x.std() measures deviations from the mean. silu(gate(x) * up(x)) multiplies before the activation function, which "
        "belongs only to the gate.",
    ),
)

# ------------------------------------------------------------------------------------------ the decoder


def decoder_cases(draw: Draw) -> Iterator[Case]:
    """One layer and two; base and eps as given, and the defaults; a second text in pieces, or as a whole.

    Each layer takes most of a millisecond per call, so only one case has several layers, and its texts are short.
    """
    for V, heads, kv_heads, d, layers, inner, B, T, other, pieces, more in (
        (11, 4, 2, 4, 1, 20, 3, 5, 6, 3, {"base": 60.0, "eps": 0.2}),
        (9, 3, 1, 6, 1, 17, 2, 3, 2, 1, {}),
        (8, 2, 2, 2, 2, 9, 1, 5, 3, 3, {"eps": 0.05}),
    ):
        dim = heads * d
        shapes = {"token.weight": (V, dim)}
        for layer in range(layers):
            place = f"layers.{layer}."
            shapes |= attention_shapes(heads, kv_heads, d, f"{place}attention.")
            shapes |= {f"{place}feed_forward.{name}.weight": (inner, dim) for name in ("gate", "up")}
            shapes |= {f"{place}feed_forward.down.weight": (dim, inner)}
            shapes |= {f"{place}{norm}.weight": (dim,) for norm in ("norm_attention", "norm_feed_forward")}
        shapes["norm.weight"] = (dim,)
        sizes = {"vocabulary": V, "dim": dim, "layers": layers, "heads": heads, "kv_heads": kv_heads, "inner": inner}
        yield {
            "config": sizes | more,
            "ids": draw.integers(0, V, B, T),
            "other": draw.integers(0, V, B, other),
            "pieces": pieces,
            **weights_of(draw, shapes),
        }


LOGITS = "self.norm(x) @ self.token.weight.T"
MADE = "Layer(dim, heads, kv_heads, inner, base, eps)"
LIST = f"torch.nn.ModuleList(\n            {MADE} for _ in range(layers)\n        )"
TOLD = "layer.attention.reset(cached)"

decoder = Exercise(
    cases=decoder_cases,
    rule=Rule(
        tolerance=1e-4,
        axes={"registered": "weights"} | dict.fromkeys(READ, "B T V") | {"gradient of token.weight": "V D"}, legend=OF_WEIGHTS,
    ),
    uses=("decoders.rotary", "decoders.grouped_attention", "decoders.cache", "decoders.attention", "decoders.norm_and_gate"),
    mistakes=(
        Mistake(
            "final norm missing",
            "You compute the logits from the last layer's residual sum. In a pre-norm stack, nothing has normalised this sum: `norm` "
            "comes after the last layer.",
            LOGITS, "x @ self.token.weight.T",
        ),
        Mistake(
            "norm before the first layer",
            "Your norm comes before the first layer. It belongs after the last layer.",
            edits={"x = self.token(ids)": "x = self.norm(self.token(ids))", LOGITS: "x @ self.token.weight.T"},
        ),
        Mistake(
            "norm after every layer",
            "You apply the norm after each layer. It belongs only after the last layer.",
            edits={"x = layer(x)": "x = self.norm(layer(x))", LOGITS: "x @ self.token.weight.T"},
        ),
        Mistake(
            "output matrix not tied",
            "Your module has parameters that the docstring does not mention: a second "
            "matrix for the logits. The embedding matrix `token` is used at both ends.",
            edits={
                "self.norm = RMSNorm(dim, eps)": "self.norm = RMSNorm(dim, eps)\n        self.head = torch.nn.Linear(dim, vocabulary, bias=False)",
                LOGITS: "self.head(self.norm(x))",
            },
        ),
        Mistake(
            "embedding matrix saved twice",
            "Your numbers are correct, but the matrix is saved under two names. A weights file contains it only once, but load_state_dict expects both names. Compute the logits with the matrix itself: `x @ "
            "self.token.weight.T`.",
            edits={
                "self.norm = RMSNorm(dim, eps)": "self.norm = RMSNorm(dim, eps)\n        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)\n        self.lm_head.weight = self.token.weight",
                LOGITS: "self.lm_head(self.norm(x))",
            },
        ),
        Mistake(
            "cache left on after reset",
            "After reset(), your first call is correct, but the second call still sees the tokens of the first. reset() "
            "must pass False on to the layers.",
            TOLD, "layer.attention.reset(True)",
        ),
        Mistake(
            "tied matrix detached",
            "Your logits are correct, but the gradient of the embedding matrix is not: its use in the output is excluded from "
            "training (detach, .data or no_grad).",
            LOGITS, "self.norm(x) @ self.token.weight.detach().T",
        ),
        Mistake(
            "reset not passed on to the layers",
            "For texts processed in pieces, none of your layers uses its cache: call the reset method of each layer's attention.",
            TOLD, "pass",
        ),
        Mistake(
            "reset passed on only to the first layer",
            "For texts processed in pieces, only your first layer uses its cache. The attention of each layer has its own cache.",
            f"for layer in self.layers:\n            {TOLD}", "self.layers[0].attention.reset(cached)",
        ),
        Mistake(
            "one layer used repeatedly",
            "All entries of your ModuleList are one and the same Layer, so they share one set of parameters. Each layer needs "
            "its own parameters.",
            LIST, f"torch.nn.ModuleList([{MADE}] * layers)",
        ),
        Mistake(
            "layers in a plain list",
            "PyTorch does not find the parameters of your layers: a plain list does not register them, but an nn.ModuleList does.",
            LIST, f"[{MADE} for _ in range(layers)]",
        ),
        Mistake(
            "base not passed on",
            "Your answer is correct for the default base, but you do not pass base on to the layers.",
            "inner, base, eps)", "inner, 10_000.0, eps)",
        ),
        Mistake(
            "base and eps not passed on",
            "Your answer is correct for the default base and eps, but you pass neither on to the layers.",
            "inner, base, eps)", "inner, 10_000.0, 1e-5)",
        ),
        Mistake(
            "eps not passed on to the layers",
            "Your answer is correct for the default eps, but you do not pass eps on to the layers, whose norms need it.",
            "inner, base, eps)", "inner, base, 1e-5)",
        ),
        Mistake(
            "fixed eps in the last norm",
            "Your answer is correct for the default eps, but you do not pass eps on to the last norm.",
            "self.norm = RMSNorm(dim, eps)", "self.norm = RMSNorm(dim, 1e-5)",
        ),
        Mistake(
            "token vectors scaled by √D",
            "You multiply the token vectors by √D, as the transformer of 2017 (and Gemma) does. The docstring does not ask for this factor.",
            "x = self.token(ids)", "x = self.token(ids) * self.token.embedding_dim**0.5",
        ),
        Mistake(
            "sinusoids added",
            "You add sinusoids to the token vectors. Here, positions enter only in the attention, where queries and keys are rotated.",
            code="""
class Decoder(torch.nn.Module):
    def __init__(self, vocabulary, dim, layers, heads, kv_heads, inner, base=10_000.0, eps=1e-5):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.layers = torch.nn.ModuleList(Layer(dim, heads, kv_heads, inner, base, eps) for _ in range(layers))
        self.norm = RMSNorm(dim, eps)
        angle = torch.arange(512)[:, None] * 10_000.0 ** (-torch.arange(0, dim, 2) / dim)
        self.places = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

    def reset(self, cached=False):
        for layer in self.layers:
            layer.attention.reset(cached)

    def forward(self, ids):
        x = self.token(ids) + self.places[: ids.shape[1], : self.token.embedding_dim]
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.token.weight.T
""",
        ),
        Mistake(
            "probabilities returned",
            "Your rows sum to 1: you have applied a softmax. Return logits.",
            LOGITS, f"({LOGITS}).softmax(dim=-1)",
        ),
        Mistake(
            "layers in reverse order",
            "Your answer is correct for a single layer. If there are several layers, you apply them in the wrong order.",
            edits={"for layer in self.layers:\n            x = layer(x)": "for layer in reversed(self.layers):\n            x = layer(x)"},
        ),
    ),
    alternatives={
        "einsum with the table": """
class Decoder(torch.nn.Module):
    def __init__(self, vocabulary, dim, layers, heads, kv_heads, inner, base=10_000.0, eps=1e-5):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            self.layers.append(Layer(dim=dim, heads=heads, kv_heads=kv_heads, inner=inner, base=base, eps=eps))
        self.norm = RMSNorm(dim, eps)

    def reset(self, cached=False):
        for part in self.modules():
            if isinstance(part, GroupedAttention):
                part.reset(cached=cached)

    def forward(self, ids):
        hidden = self.token(ids)
        for block in self.layers:
            hidden = block(hidden)
        return torch.einsum("btd,vd->btv", self.norm(hidden), self.token.weight)
""",
        "F.embedding, F.linear": """
class Decoder(torch.nn.Module):
    def __init__(self, vocabulary, dim, layers, heads, kv_heads, inner, base=10_000.0, eps=1e-5):
        super().__init__()
        self.norm = RMSNorm(dim, eps)
        self.layers = torch.nn.ModuleList([Layer(dim, heads, kv_heads, inner, base, eps) for _ in range(layers)])
        self.token = torch.nn.Embedding(vocabulary, dim)

    def reset(self, cached=False):
        [layer.attention.reset(cached) for layer in self.layers]

    def forward(self, ids):
        x = torch.nn.functional.embedding(ids, self.token.weight)
        for number in range(len(self.layers)):
            x = self.layers[number](x)
        return torch.nn.functional.linear(self.norm(x), self.token.weight)
""",
    },
    hints=(
        "Which part of the GPT from notebook 07 is missing here? Which part now uses the positions, and which parts have a cache to "
        "reset?",
        "ids: (B, T). x: (B, T, dim) through all layers. Logits: (B, T, vocabulary), from an embedding matrix of shape "
        "(vocabulary, dim).",
        "init: the embedding, the layers in a ModuleList, the last norm with eps\nreset: the attention of each layer\nforward: "
        "token vectors, the layers, the norm, and the transposed embedding matrix",
        "A near miss: `[Layer(…)] * n` is the same layer n times. Each layer needs its own weights.",
    ),
)

# ------------------------------------------------------------------------------------------ published names


def names_cases(draw: Draw) -> Iterator[Case]:
    """A LlamaForCausalLM; an old one with buffers; a LlamaModel without prefix and head, with eleven layers."""
    for V, heads, kv_heads, d, inner, layers, buffers, whole in ((7, 2, 1, 2, 9, 2, False, True), (5, 3, 3, 2, 8, 1, True, True), (6, 4, 2, 1, 5, 11, True, False)):
        dim = heads * d
        shapes = {"embed_tokens.weight": (V, dim)}
        for layer in range(layers):
            place = f"layers.{layer}."
            shapes |= {
                f"{place}self_attn.{name}_proj.weight": size
                for name, size in {"q": (dim, dim), "k": (kv_heads * d, dim), "v": (kv_heads * d, dim), "o": (dim, dim)}.items()
            }
            shapes |= {f"{place}mlp.{name}_proj.weight": (inner, dim) for name in ("gate", "up")}
            shapes |= {f"{place}mlp.down_proj.weight": (dim, inner)}
            shapes |= {f"{place}{norm}_layernorm.weight": (dim,) for norm in ("input", "post_attention")}
        shapes["norm.weight"] = (dim,)
        prefix = "model." if whole else ""
        theirs = {f"{prefix}{name}": draw.normal(*shape) for name, shape in shapes.items()}
        if buffers:
            speeds = (10_000.0 ** (-np.arange(0, d, 2) / d)).astype(np.float32)
            theirs |= {f"{prefix}layers.{layer}.self_attn.rotary_emb.inv_freq": speeds.copy() for layer in range(layers)}
        if whole:
            theirs["lm_head.weight"] = theirs["model.embed_tokens.weight"].copy()
        yield theirs


PLACED = 'ours[".".join([*layer, place, part])] = value'
LAYERED = "layer, path = path[:2], path[2:]"
LOOK = 'place = PLACES.get(".".join(path))'

own_names = Exercise(
    cases=names_cases,
    mistakes=(
        Mistake(
            "tied matrix included twice",
            "You return one name too many: lm_head.weight is the embedding matrix again, and your Decoder has no parameter for "
            "it.",
            "    return ours", '    if "lm_head.weight" in theirs:\n        ours["lm_head.weight"] = theirs["lm_head.weight"]\n    return ours',
            also=(
                """
def own_names(theirs):
    ours = {}
    for name, value in theirs.items():
        name = name.removeprefix("model.")
        if "inv_freq" in name:
            continue
        for old, new in PLACES.items():
            name = name.replace("." + old + ".", "." + new + ".") if name.startswith("layers") else name.replace(old, new)
        ours[name] = value
    return ours
""",
            ),
        ),
        Mistake(
            "buffers included",
            "You return too many names: rotary_emb.inv_freq contains frequencies, which are computed and not learned.",
            "        if place:", '        if path[-1] == "rotary_emb":\n            place = "attention.rotary_emb"\n        if place:',
        ),
        Mistake(
            "matrices transposed",
            "Your matrices are transposed. GPT-2's own weights need to be transposed, but here both models use nn.Linear.",
            PLACED, 'ours[".".join([*layer, place, part])] = value.T if value.ndim == 2 and path[0] != "embed_tokens" else value',
        ),
        Mistake(
            "only layer 0 returned",
            "You return no layer other than layer 0: the number after “layers.” is the index of the layer.",
            LAYERED, 'layer, path = path[:2], path[2:] if path[1] == "0" else ["another"]',
        ),
        Mistake(
            "only one digit of the layer number",
            "You mistake layer 10 for layer 1: the number of a layer may have two digits.",
            LAYERED, "layer, path = [path[0], path[1][0]], path[2:]",
        ),
        Mistake(
            "final norm missing",
            "Your result lacks norm.weight. This parameter is outside the layers.",
            "        if place:", '        if place and (layer or path[0] != "norm"):',
        ),
        Mistake(
            "names without the prefix ignored",
            "Your answer is correct if names have the prefix model., but you return nothing for a model without a head, whose names "
            "lack this prefix.",
            "in theirs.items():", 'in ((n, v) for n, v in theirs.items() if n.startswith("model.")):',
        ),
        Mistake(
            "gate and up swapped",
            "Your gate_proj and up_proj are swapped. They have the same shape, so no error is raised.",
            LOOK, 'place = PLACES.get(".".join(path).replace("gate", "x").replace("up_", "gate_").replace("x_", "up_"))',
        ),
        Mistake(
            "keys and values swapped",
            "Your k_proj and v_proj are swapped. They have the same shape, so no error is raised.",
            LOOK, 'place = PLACES.get(".".join(path).replace("k_proj", "x").replace("v_proj", "k_proj").replace("x", "v_proj"))',
        ),
        Mistake(
            "the two norms swapped",
            "Your two norms of a layer are swapped: input_layernorm comes before the attention, post_attention_layernorm after "
            "it, which is before the feed-forward layer.",
            PLACED,
            'place = {"norm_attention": "norm_feed_forward", "norm_feed_forward": "norm_attention"}.get(place, place)\n            ' + PLACED,
        ),
        Mistake(
            "prefix kept",
            "Your names still begin with model., whereas the names of a Decoder begin with token, layers or norm.",
            PLACED, 'ours["model." * name.startswith("model.") + ".".join([*layer, place, part])] = value',
        ),
        Mistake(
            ".weight missing",
            "Your names lack their last component: each of them should end with .weight.",
            "[*layer, place, part]", "[*layer, place]",
        ),
    ),
    alternatives={
        "layer by layer": """
def own_names(theirs):
    theirs = {name.removeprefix("model."): value for name, value in theirs.items()}
    ours = {"token.weight": theirs["embed_tokens.weight"], "norm.weight": theirs["norm.weight"]}
    i = 0
    while f"layers.{i}.input_layernorm.weight" in theirs:
        for old, new in PLACES.items():
            if f"layers.{i}.{old}.weight" in theirs:
                ours[f"layers.{i}.{new}.weight"] = theirs[f"layers.{i}.{old}.weight"]
        i += 1
    return ours
""",
        "a regular expression": """
import re
def own_names(theirs):
    ours = {}
    for name, value in theirs.items():
        found = re.fullmatch(r"(?:model\\.)?(layers\\.\\d+\\.)?(.+)\\.weight", name)
        if found and found[2] in PLACES:
            ours[(found[1] or "") + PLACES[found[2]] + ".weight"] = value.clone()
    return ours
""",
    },
    survivors={
        'if path[0] == "layers":': "outside the layers, a name has a single component before `weight`, so no other name begins with it",
    },
    hints=(
        "Take model.layers.7.mlp.up_proj.weight. What happens to each component of this name?",
        "Input and output: names and tensors; no tensor changes. Each layer gives nine names, and there are two more outside "
        "the layers.",
        "for each name and value:\n    remove the prefix; the last component is the parameter's name\n    keep layers and the "
        "layer number, if there are any\n    look up the rest in PLACES; leave out names that are not found",
        "A near miss: name.replace(\"norm\", …) also changes input_layernorm. Split the name at its dots and look up the "
        "complete module name.",
    ),
)

# ------------------------------------------------------------------------------------------ what a configuration costs


def costs_cases(draw: Draw) -> Iterator[Case]:
    """Configurations that share keys and values or do not, with tied tables or separate ones, and some of each kind."""
    for shares, ties in (((3, 4), (True, True)), ((1, 1, 1), (False, False, False)), ((2, 1, 5, 3), (False, True, True, False)), ((1, 1), (True, True))):
        n = len(shares)
        kv_heads, d, inner = draw.rng.integers(2, 6, n), draw.rng.integers(9, 40, n), draw.rng.integers(1, 300, n)
        heads = np.array(shares) * kv_heads
        yield {
            "vocabulary": draw.rng.integers(900, 60_000, n), "dim": heads * d, "layers": draw.rng.integers(3, 40, n), "heads": heads,
            "kv_heads": kv_heads, "inner": 3 * heads * d + inner, "tied": np.array(ties), "tokens": draw.rng.integers(50, 9000, n),
        }


MATRICES = "2 * dim * dim + 2 * dim * shared + 3 * dim * inner"
PARAMETERS = "layers * (matrices + 2 * dim) + dim + (table if tied else 2 * table)"
FLOPS = "2 * (layers * matrices + table) + layers * 4 * dim * tokens"

costs = Exercise(
    cases=costs_cases,
    rule=Rule("equal", axes={"": "configurations numbers"}),
    mistakes=(
        Mistake(
            "keys and values as wide as queries",
            "Your answer is correct if every query head has its own keys and values. With fewer heads of keys and values, their matrices have kv_heads · d outputs, "
            "and the cache is smaller.",
            "dim // heads * kv_heads", "dim",
        ),
        Mistake(
            "matrices of keys and values as wide as queries",
            "Your cache is correct, but your matrices of keys and values are too large: they have kv_heads · d outputs.",
            MATRICES, "4 * dim * dim + 3 * dim * inner",
        ),
        Mistake(
            "two matrices in the feed-forward layer",
            "Your cache is correct, but SwiGLU has three matrices: gate, up and down.",
            "3 * dim * inner", "2 * dim * inner",
        ),
        Mistake(
            "output matrix of attention missing",
            "Your cache is correct, but attention has four matrices: queries, keys, values and the output.",
            MATRICES, "dim * dim + 2 * dim * shared + 3 * dim * inner",
        ),
        Mistake(
            "norms not counted", "Your cache and FLOPs are correct, but you do not count the parameters of the norms: two vectors in each layer, and one after the last.",
            "(matrices + 2 * dim) + dim +", "matrices +",
        ),
        Mistake(
            "last norm not counted", "Your number of parameters is too small by the width of the model: a norm follows the last layer.",
            "(matrices + 2 * dim) + dim +", "(matrices + 2 * dim) +",
        ),
        Mistake(
            "one norm in each layer", "Each of your layers has one norm. It should have two: before attention and before the feed-forward layer.",
            "(matrices + 2 * dim)", "(matrices + dim)",
        ),
        Mistake(
            "table counted once although not tied", "Your answer is correct if the tables are tied. Otherwise, there are two tables of the same size.",
            "(table if tied else 2 * table)", "table",
        ),
        Mistake(
            "table counted twice although tied", "Your answer is correct if the tables are not tied. *Tied* means that the input embeddings and the output logits use the same table.",
            "(table if tied else 2 * table)", "2 * table",
        ),
        Mistake(
            "tied and separate tables swapped", "You count the table twice if it is tied, and once if there are two tables.",
            "(table if tied else 2 * table)", "(2 * table if tied else table)",
        ),
        Mistake("cache of one layer", "Your parameters and FLOPs are correct, but each layer has its own cache.", "cache = layers * 2", "cache = 2"),
        Mistake("values not in the cache", "Your parameters and FLOPs are correct, but the cache contains values as well as keys.", "cache = layers * 2", "cache = layers"),
        Mistake(
            "cache of every query head", "Your parameters and FLOPs are correct, but your cache stores keys and values for each query head. Shared heads are stored once.",
            "2 * shared * tokens", "2 * dim * tokens",
        ),
        Mistake(
            "cache in bytes", "Your parameters and FLOPs are correct. Your cache is twice as large as expected: the docstring asks for numbers, not bytes.",
            "2 * shared * tokens", "2 * 2 * shared * tokens",
        ),
        Mistake(
            "one FLOP per weight", "Your parameters and cache are correct, but a multiplication and an addition count as two FLOPs.",
            FLOPS, "layers * matrices + table + layers * 2 * dim * tokens",
        ),
        Mistake(
            "attention not counted", "Your parameters and cache are correct, but your FLOPs do not depend on the number of tokens: add the products with keys and values.",
            " + layers * 4 * dim * tokens", "",
        ),
        Mistake(
            "products with the values not counted", "Your parameters and cache are correct. In attention, you count only the dot products with the keys. The weighted sum of "
            "the values costs just as much.",
            "layers * 4 * dim * tokens", "layers * 2 * dim * tokens",
        ),
        Mistake(
            "attention counted for the heads of keys",
            "Your parameters and cache are correct, but sharing keys and values does not save operations: each *query head* computes its own dot products and its own weighted sum.",
            "layers * 4 * dim * tokens", "layers * 4 * shared * tokens",
        ),
        Mistake(
            "logits not counted", "Your parameters and cache are correct, but your FLOPs do not include the logits: a product with a table of vocabulary · dim weights.",
            "(layers * matrices + table)", "(layers * matrices)",
        ),
        Mistake(
            "two FLOPs for every parameter", "Your parameters and cache are correct. You count two FLOPs for every parameter, although norms and the look-up of a token "
            "are not products with a matrix.",
            "2 * (layers * matrices + table)", "2 * parameters",
        ),
        Mistake(
            "all tokens computed again", "Your parameters and cache are correct, but your FLOPs are those of the whole text. The earlier tokens are in the cache, so count only the last one.",
            FLOPS, f"({FLOPS}) * tokens",
        ),
    ),
    alternatives={
        "part by part, with floats": """
def costs(vocabulary, dim, layers, heads, kv_heads, inner, tied, tokens):
    d = dim / heads
    weights = {"q": dim * dim, "k": dim * kv_heads * d, "v": dim * kv_heads * d, "o": dim * dim, "gate": dim * inner, "up": dim * inner, "down": inner * dim}
    parameters = vocabulary * dim + layers * (sum(weights.values()) + dim + dim) + dim
    if not tied:
        parameters += vocabulary * dim
    per_token = 2 * kv_heads * d * layers
    attention = layers * heads * tokens * (2 * d + 2 * d)
    return parameters, per_token * tokens, 2 * layers * sum(weights.values()) + attention + 2 * vocabulary * dim
""",
        "a tensor": """
def costs(vocabulary, dim, layers, heads, kv_heads, inner, tied, tokens):
    kv = dim * kv_heads // heads
    layer = dim * (2 * dim + 2 * kv + 3 * inner)
    head = dim * vocabulary
    return torch.tensor([
        head + (0 if tied else head) + layers * layer + (2 * layers + 1) * dim,
        2 * layers * tokens * kv,
        2 * layers * layer + 2 * head + 2 * layers * heads * tokens * (dim // heads) * 2,
    ])
""",
    },
    hints=(
        "Which matrices does one layer have, and what are their shapes? Which of them become smaller if keys and values are shared?",
        "query and output: dim × dim. key and value: (kv_heads · d) × dim. gate, up, down: dim × inner. Table: vocabulary × dim. Each norm: dim.",
        "weights of the matrices of a layer\nparameters = layers · (matrices + two norms) + last norm + one table or two\ncache = layers · "
        "(keys and values) · tokens\nFLOPs = 2 · all matrices of the layers + 2 · table + layers · heads · tokens · (2 d + 2 d)",
        "A near miss: sharing keys and values makes the cache smaller, but not the number of products: each query head still has its own scores.",
    ),
)

# ------------------------------------------------------------------------------------------ rows for the other rotation


def rows_cases(draw: Draw) -> Iterator[Case]:
    for heads, d, D in ((3, 6, 5), (1, 8, 7), (4, 4, 9), (2, 10, 3)):
        yield {"weight": draw.normal(heads * d, D), "heads": heads}


ROWS = "torch.cat([by_head[:, ::2], by_head[:, 1::2]], dim=1).flatten(0, 1)"

mended_rows = Exercise(
    cases=rows_cases,
    mends=True,
    rule=Rule("equal", axes={"": "Hd D"}),
    mistakes=(
        Mistake(
            "rows in the original order", "Your rows are in their original order. This suffices for two rows per head; with more rows, adjacent "
                           "rows must be separated.",
            f"return {ROWS}", "return weight.clone()",
        ),
        Mistake(
            "all heads treated as one",
            "Your answer is correct for a single head. Each head has its own d rows: separate the neighbours within each head.",
            ROWS, "torch.cat([weight[::2], weight[1::2]])",
        ),
        Mistake(
            "inverse permutation",
            "You interleave the halves, which turns them into neighbours. Convert in the opposite direction.",
            ROWS, "torch.stack(by_head.chunk(2, dim=1), dim=2).flatten(0, 2)",
        ),
        Mistake(
            "odd rows first",
            "Your two halves are swapped: row 0 of a head should stay row 0.",
            "by_head[:, ::2], by_head[:, 1::2]", "by_head[:, 1::2], by_head[:, ::2]",
        ),
        Mistake(
            "columns reordered instead of rows",
            "You have reordered the columns. The outputs of a matrix, here queries and keys, correspond to its rows.",
            f"return {ROWS}", "return torch.cat([weight[:, ::2], weight[:, 1::2]], dim=1)",
        ),
        Mistake(
            "rows of a head taken across heads",
            "The rows that you take as one head are `heads` rows apart. The d rows of a head are adjacent.",
            edits={
                "weight.unflatten(0, (heads, -1))": "weight.unflatten(0, (-1, heads)).transpose(0, 1)",
                "dim=1).flatten(0, 1)": "dim=1).transpose(0, 1).flatten(0, 1)",
            },
        ),
        Mistake(
            "result transposed", "Your matrix is transposed: rows and columns are swapped.",
            ".flatten(0, 1)", ".flatten(0, 1).T",
        ),
        Mistake(
            "second half reversed", "The second half of each head is in reverse order. Keep the order of its rows.", "by_head[:, 1::2]]", "by_head[:, 1::2].flip(1)]",
        ),
    ),
    alternatives={
        "as the conversion script has it": """
def mended_rows(weight, heads):
    rows, D = weight.shape
    return weight.view(heads, rows // heads // 2, 2, D).transpose(1, 2).reshape(rows, D)
""",
        "an index": """
def mended_rows(weight, heads):
    d = weight.shape[0] // heads
    order = [h * d + 2 * i + odd for h in range(heads) for odd in (0, 1) for i in range(d // 2)]
    return weight[order]
""",
    },
    hints=(
        "A head has the rows 0 1 2 3 4 5. Which order moves the old neighbours 0 and 1 to positions i and i + 3?",
        "weight: (H · d, D). By heads: (H, d, D). Output: (H · d, D), the same rows in a different order.",
        "split the rows by heads\nfor each head: first its even rows, then its odd rows\nconcatenate the heads",
        "A near miss: weight[::2] over all rows mixes the heads. Split by heads first.",
    ),
)

# ------------------------------------------------------------------------------------------ experts


def route_cases(draw: Draw) -> Iterator[Case]:
    """One expert per token, several, all of them; an expert that no token chooses, the last one or another."""
    for T, E, k in ((9, 5, 2), (14, 4, 1), (6, 7, 3), (5, 3, 3)):
        scores = draw.normal(T, E, scale=1.2)
        scores += scores.argsort(axis=1).argsort(axis=1) / 16  # so that no two are close to each other
        if k < E:
            scores[:, 1 if k == 1 else -1] = scores.min() - 0.5  # chosen by no token, but still probable
        yield {"scores": scores.astype(np.float32), "k": k}


BALANCE = "E * (chosen * mean_probability).sum()"

route = Exercise(
    cases=route_cases,
    rule=Rule(tolerance=2e-5, axes={"0": "T E", "1": ""}),
    mistakes=(
        Mistake(
            "weights not renormalised",
            "Your weights do not sum to 1: they are probabilities among all experts. Take the softmax of only the k best "
            "scores.",
            "best.values.softmax(dim=-1)", "scores.softmax(dim=-1).gather(-1, best.indices)",
        ),
        Mistake(
            "all experts used", "All your experts have a positive weight. Only the k best experts should have one.",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(dim=-1))", "scores.softmax(dim=-1)",
        ),
        Mistake(
            "zeros instead of minus infinity",
            "Experts outside the k best still have a weight: a score of 0 has the weight exp(0) = 1 before normalisation.",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(dim=-1))",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values).softmax(dim=-1)",
        ),
        Mistake(
            "equal weights", "Your k experts have equal weights. Their weights should be the softmax of their scores.",
            "best.values.softmax(dim=-1)", "torch.full_like(best.values, 1 / k)",
        ),
        Mistake(
            "factor E missing", "Your weights are correct, but your loss is too small by the factor E.", f"return weights, {BALANCE}", "return weights, (chosen * mean_probability).sum()",
        ),
        Mistake(
            "choices divided by T instead of T · k",
            "Your weights are correct, and with k = 1 so is your loss: there are T · k choices, and f is a fraction of them.",
            "/ best.indices.numel()", "/ len(scores)",
        ),
        Mistake(
            "P computed from the weights",
            "Your weights are correct. P is the mean over tokens of a softmax that includes *all* experts, but you averaged the weights.",
            "scores.softmax(dim=-1).mean(dim=0)", "weights.mean(dim=0)",
        ),
        Mistake(
            "P used in place of f",
            "Your weights are correct. f counts how often an expert was chosen, but you used the mean probability twice.",
            BALANCE, "E * (mean_probability * mean_probability).sum()",
        ),
        Mistake(
            "f used in place of P",
            "Your weights are correct. Your loss contains only counts, which have no gradient: P is a mean of probabilities.",
            BALANCE, "E * (chosen * chosen).sum()",
        ),
        Mistake(
            "only first choices counted",
            "Your weights are correct, and with k = 1 so is your loss: count all k choices of a token.",
            "torch.bincount(best.indices.flatten(), minlength=E) / best.indices.numel()", "torch.bincount(best.indices[:, 0], minlength=E) / len(scores)",
        ),
        Mistake(
            "bincount without minlength",
            "If no token chooses the last experts, you have too few counts: with `minlength=E`, bincount returns one count for each expert.",
            ", minlength=E)", ")",
        ),
        Mistake(
            "softmax over the tokens",
            "Your weights are correct. P uses the softmax of each token over the experts, but you took it over the tokens.",
            "scores.softmax(dim=-1)", "scores.softmax(dim=0)",
        ),
        Mistake(
            "lowest scores chosen", "You choose the k lowest scores. Choose the k highest.", "scores.topk(k, dim=-1)", "scores.topk(k, dim=-1, largest=False)",
        ),
        Mistake("loss returned first", "Your tuple is in the wrong order: the weights should come first.", f"return weights, {BALANCE}", f"return {BALANCE}, weights"),
        detached("route"),
    ),
    alternatives={
        "a mask of minus infinity": """
def route(scores, k):
    T, E = scores.shape
    kept = scores >= scores.sort(dim=-1, descending=True).values[:, k - 1 : k]
    weights = scores.masked_fill(~kept, float("-inf")).softmax(dim=-1)
    f = kept.sum(dim=0) / (T * k)
    P = torch.softmax(scores, dim=1).sum(dim=0) / T
    return weights, E * torch.dot(f, P)
""",
        "token by token": """
def route(scores, k):
    weights, f = torch.zeros_like(scores), torch.zeros(scores.shape[1])
    for t, row in enumerate(scores):
        chosen = row.argsort(descending=True)[:k]
        weights[t, chosen] = row[chosen].exp() / row[chosen].exp().sum()
        f[chosen] += 1 / (k * len(scores))
    return weights, (f * scores.softmax(-1).mean(0)).sum() * scores.shape[1]
""",
    },
    survivors={
        "→ `best = scores.topk(k)`": "the last axis is the default",
    },
    hints=(
        "For the scores 2, 1, 0 and k = 2, what are the two weights, and what is their sum? What are f and P if every token "
        "has these scores?",
        "scores: (T, E). The k best: (T, k), values and indices. Weights: (T, E). f and P: (E). The loss: one number.",
        "the k best scores of each token and their indices\nweights: softmax of these k at their indices, 0 elsewhere\nf: how "
        "often each index occurs, divided by T · k\nP: mean over tokens of softmax(scores)\nE · sum of f · P",
        "A near miss: softmax(scores) at the k indices sums to less than 1. Take the softmax of the k scores.",
    ),
)

# ------------------------------------------------------------------------------------------ four bits


def divides_well(scale: float) -> bool:
    """Whether the largest number, 7 · scale, divided by a seventh of itself is 7 and not 6.9999995; also for the neighbouring floats."""
    largest = np.float32(7 * scale)
    three = np.array([np.nextafter(largest, np.float32(0)), largest, np.nextafter(largest, np.float32(np.inf))])
    return bool((three / (three / np.float32(7)) == 7).all())


def block_cases(draw: Draw) -> Iterator[Case]:
    """Blocks of large and small numbers; of zeros; with a negative largest number. None is near the midpoint between two steps.

    Each block has one largest number, for which truncating and rounding give the same integer, whatever the rounding error.
    """
    for blocks, size in ((4, 8), (3, 5), (6, 3)):
        whole = draw.rng.integers(-6, 7, (blocks, size)) + draw.rng.uniform(0.05, 0.4, (blocks, size)) * draw.rng.choice((-1, 1), (blocks, size))
        whole[:, 0] = draw.rng.choice((-7.0, 7.0), blocks)
        whole[1, 0] = -7.0
        scale = np.exp(draw.normal(blocks, 1, scale=1.5))
        while not all(map(divides_well, scale.flatten())):
            scale = np.exp(draw.normal(blocks, 1, scale=1.5))
        x = draw.rng.permuted(whole, axis=1) * scale
        x[-1] = 0
        yield {"x": x.reshape(-1).astype(np.float32), "size": size}


NEAREST = "(blocks / scale.clamp(min=1e-30)[:, None]).round()"
TO_WHOLE = """
def quantise(x, size):
    blocks = x.reshape(-1, size)
    scale = blocks.abs().amax(dim=1) / 7
    whole = torch.nan_to_num((blocks / scale[:, None]).{}())
    return whole.flatten(), scale
"""
"""The function as students write it. Inputs for which it would have to truncate 6.9999995 are left out (`divides_well`)."""

quantise = Exercise(
    cases=block_cases,
    rule=Rule(tolerance=2e-5, axes={"0": "N", "1": "blocks"}),
    mistakes=(
        Mistake(
            "0/0 in a block of zeros", "For a block of zeros, you return NaN, because you divide 0 by a scale of 0.", "scale.clamp(min=1e-30)", "scale",
        ),
        Mistake(
            "truncated instead of rounded", "You truncate your numbers towards 0. Round to the nearest integer.", ".round()", ".mul(1.001).trunc()",
            also=(TO_WHOLE.format("trunc"),),
        ),
        Mistake(
            "rounded down", "You round your numbers down. Round them to the nearest integer.", ".round()", ".add(0.001).floor()",
            also=(TO_WHOLE.format("floor"),),
        ),
        Mistake(
            "one scale for all blocks", "You use one scale for all blocks. Each block has its own scale.", "blocks.abs().amax(dim=1) / 7", "blocks.abs().max().expand(len(blocks)) / 7",
        ),
        Mistake(
            "largest signed value",
            "Your answer is wrong if the number furthest from 0 in a block is negative: the largest *absolute* value determines the scale.",
            "blocks.abs().amax(dim=1)", "blocks.amax(dim=1)",
        ),
        Mistake(
            "divided by 8", "Your largest numbers become 8: the scale should be the largest absolute value divided by 7.", "/ 7", "/ 8",
        ),
        Mistake(
            "scale not divided by 7", "Your only integers are −1, 0 and 1: the scale should be one seventh of the largest absolute value.", " / 7", "",
        ),
        Mistake(
            "not rounded", "Your numbers are not integers. Round them to the nearest integer.", NEAREST, "blocks / scale.clamp(min=1e-30)[:, None]",
        ),
        Mistake(
            "blocks of non-adjacent numbers", "The numbers in each of your blocks are N / size apart. A block consists of consecutive numbers.", "x.reshape(-1, size)", "x.reshape(size, -1).T",
        ),
        Mistake(
            "size used as the number of blocks", "You make `size` blocks, but `size` is the number of values in a block.", "x.reshape(-1, size)", "x.reshape(size, -1)",
        ),
        Mistake(
            "dequantised numbers returned", "You return the rounded numbers multiplied by their scale. Return the integers and, "
                                           "separately, the scales.",
            "return whole.flatten(), scale", "return (whole * scale[:, None]).flatten(), scale",
        ),
    ),
    alternatives={
        "a loop over blocks": """
def quantise(x, size):
    numbers, scales = [], []
    for block in x.split(size):
        scale = block.abs().max() / 7
        scales.append(scale)
        numbers.append(torch.round(block / scale) if scale > 0 else torch.zeros(size))
    return torch.cat(numbers), torch.stack(scales)
""",
        "integers, nan_to_num": """
def quantise(x, size):
    blocks = x.view(len(x) // size, size).double()
    scale = blocks.abs().max(dim=1).values / 7.0
    whole = torch.nan_to_num(torch.round(blocks / scale.unsqueeze(1)), nan=0.0)
    return whole.view(-1).int(), scale.float()
""",
    },
    survivors={"clamp(min=2e-30)": "any number that is small compared with every scale works"},
    hints=(
        "A block is 3.5, −7, 0.9. What is its scale, and which integers does it give?",
        "x: (N). Blocks: (N / size, size). Scales: (N / size). Integers: (N).",
        "reshape x into rows of `size` numbers\nscale = largest absolute value of each row / 7\nintegers = round(row / scale), 0 "
        "where the scale is 0\nreturn the flattened integers and the scales",
        "A near miss: a block of zeros has the scale 0, and 0/0 is NaN.",
    ),
)
