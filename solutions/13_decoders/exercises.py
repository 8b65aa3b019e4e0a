"""13 Today's decoders: inputs, known mistakes, right answers and hints."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ learning merges

SIGNS = "bcdefghijklmnopqrstuvwxyz"
WIDE = "éßøñ猫細🧬"
"""Signs of two, three and four bytes."""


def words_from(draw: Draw, alphabet: str, many: int, longest: int = 8) -> list[str]:
    """Different words of random signs."""
    found: dict[str, None] = {}
    while len(found) < many:
        length = int(draw.rng.integers(1, longest + 1))
        found["".join(str(sign) for sign in draw.rng.choice(list(alphabet), length))] = None
    return list(found)


def some_signs(draw: Draw, many: int, wide: int = 0) -> str:
    letters = [str(sign) for sign in draw.rng.choice(list(SIGNS), many, replace=False)]
    return "".join(letters + [str(sign) for sign in draw.rng.choice(list(WIDE), wide, replace=False)])


def training_cases(draw: Draw) -> Iterator[Case]:
    """Letters; signs of several bytes; few words, so that the pairs end; and planted words that decide.

    In the planted text a pair that lies over itself is the most frequent one only if overlapping places count; it then has to
    be merged from the left. Two pairs are equally frequent, and the smaller one stands behind. A rare word repeats a pair that
    a frequent one has once, so that words have to count as often as they stand in the text.
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
            "You count each word once, however often it stands in the text. A pair in a frequent word is a frequent pair.",
            "+= words[word]", "+= 1",
        ),
        Mistake(
            "of equals the larger pair",
            "Where two pairs are equally frequent you take the larger one. The docstring takes the smaller.",
            "(-counts[pair], pair)", "(-counts[pair], [-token for token in pair])",
        ),
        Mistake(
            "of equals the first that was met",
            "Where two pairs are equally frequent you take the one that was counted first (max and most_common do). The docstring takes the smaller.",
            BEST, "max(counts, key=counts.get)",
        ),
        Mistake(
            "characters instead of bytes",
            "Words of plain letters are right with you. é is one character and two bytes: a word begins as word.encode().",
            "list(word.encode())", "[ord(sign) for sign in word]",
        ),
        Mistake(
            "the counts of the beginning",
            "Your pairs are the most frequent ones of the bytes. After each merge the text is another one: count again.",
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
            "new tokens from 255",
            "Your first new token is 255, which is a byte. Bytes have the ids 0 to 255.",
            "new = 256 +", "new = 255 +",
        ),
        Mistake(
            "new tokens from 257",
            "Your first new token is 257. Bytes have the ids 0 to 255, so the first free one is 256.",
            "new = 256 +", "new = 257 +",
        ),
        Mistake(
            "new tokens from 0",
            "Your first new token is 0, which is a byte. Bytes have the ids 0 to 255.",
            "new = 256 +", "new =",
        ),
        Mistake(
            "pairs across words",
            "You count pairs of a word's end and the next word's beginning. Each word is a text of its own: pairs stand inside it.",
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
            "the text is never merged",
            "You find the same pair again and again: what was merged has to be replaced in the words before the next count.",
            "{word: merge(ids, best, new) for word, ids in rows.items()}", "rows",
        ),
        Mistake(
            "overlapping places counted once",
            'In "aaa" you count the pair aa once. Every two neighbours count, so it stands there twice.',
            "            for pair in pairwise(ids):\n                counts[pair] += words[word]",
            "            place = 0\n            while place < len(ids) - 1:\n                pair = ids[place], ids[place + 1]\n"
            "                counts[pair] += words[word]\n                doubled = place + 2 < len(ids) and ids[place + 1] == ids[place] == ids[place + 2]\n"
            "                place += 2 if doubled else 1",
        ),
        Mistake(
            "each pair once per word",
            "A pair that stands twice in a word counts once with you. It stands there twice.",
            "pairwise(ids):", "set(pairwise(ids)):",
        ),
        Mistake(
            "the rarest pair",
            "Your first pair is the rarest one. The most frequent pair is merged.",
            "-counts[pair]", "counts[pair]",
        ),
        Mistake(
            "one merge too few",
            "One pair is missing at the end.",
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
        "Take the words ab (three times) and abb (once). Which pairs are there, and how often? What do the words look like after the first merge?",
        "words: how often each word stands in the text. Rows: the ids of each word. Out: a list of pairs of ids, at most `merges` of them.",
        "rows = the bytes of each word\nrepeat `merges` times:\n    count each pair of neighbours, as often as its word stands in the text\n    none left: stop\n"
        "    best = highest count; of equals the smallest pair\n    in all rows, merge it into 256 + number of the pairs so far\n    remember it",
        "Near miss: `max(counts, key=counts.get)` takes the first of several equally frequent pairs, in the order in which they were met.",
    ),
)

# ------------------------------------------------------------------------------------------ cutting with merges


def learned(words: list[str], merges: int) -> list[tuple[int, int]]:
    """Merges for the cases: any list would do in which later ones build on earlier ones."""
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
    """New words of the letters that merges were learned from, and planted merges.

    Planted: the earliest pair stands on the right of another; a longer token would fit from the left; a sign of three bytes
    with merges for two of them; three equal letters; a word of one byte; one without any pair; a merge whose halves are merged
    later than a rival takes them.
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
            "the pair on the left",
            "You merge the first pair of the word that stands in the list. What comes first is the pair that was *learned* first, wherever it is in the word.",
            FIRST, "first = pairs[0]",
        ),
        Mistake(
            "the pair that was learned last",
            "You merge the pair that was learned last. The earliest comes first.",
            FIRST, "first = max(pairs, key=place.get)",
        ),
        Mistake(
            "the longest token from the left",
            "You take the longest token that fits, from the left, as WordPiece does. Here merges are made in the order in which they were learned.",
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
            "places instead of ids",
            "Your new tokens have the number of their merge, which is a byte's. The pair at place i becomes token 256 + i.",
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
            "numbers from 255",
            "Your new tokens have numbers that are one too small: the first becomes 255, which is a byte's. The pair at place i becomes token 256 + i.",
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
            "one merge only",
            "You stop after one merge. What comes out of it can be merged again, until no pair is in the list.",
            "while pairs :=", "if pairs :=",
        ),
        Mistake(
            "only pairs of bytes",
            "You merge bytes only: pairs with a token that came out of a merge are in the list, too.",
            "if pair in place]", "if pair in place and max(pair) < 256]",
        ),
        Mistake(
            "characters instead of bytes",
            "Words of plain letters are right with you. 猫 is one character and three bytes: begin with word.encode().",
            "list(word.encode())", "[ord(sign) for sign in word]",
        ),
        Mistake(
            "merged from the right",
            "In a row of three equal tokens you merge the last two. `merge` begins on the left.",
            "ids = merge(ids, first, 256 + place[first])", "ids = merge(ids[::-1], first[::-1], 256 + place[first])[::-1]",
        ),
        Mistake(
            "the last merge forgotten",
            "The last pair of the list is never used with you.",
            "enumerate(merges)}", "enumerate(merges[:-1])}",
        ),
        Mistake(
            "each pair merged once",
            "A pair that stands twice in a word is merged once with you. All its places are merged before the next pair's turn.",
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
            "the list from its end",
            "You go through the list from its end, so what was learned late comes first. The earliest comes first.",
            code="""
def bpe_encode(word, merges):
    ids = list(word.encode())
    for number in reversed(range(len(merges))):
        ids = merge(ids, merges[number], 256 + number)
    return ids
""",
        ),
        Mistake(
            "a pass over the list for each token",
            "You go through the word once and give each token its best merge with the next. A merge on the right may come first.",
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
        "The list is [bc, ab]. What does abc become, and what would the longest match from the left have made of it?",
        "word: a string; its bytes are ids 0 to 255. Out: a list of ids, as long as the bytes or shorter.",
        "ids = the bytes\nrepeat:\n    the pairs of neighbours that stand in the list\n    none: done\n    merge the one with the smallest place into 256 + place",
        "Near miss: taking the first pair of the word that stands in the list gives the same for many words, but not where a better one comes behind it.",
    ),
)

# ------------------------------------------------------------------------------------------ RMSNorm


def norm_cases(draw: Draw) -> Iterator[Case]:
    """Vectors whose mean is far from 0; an eps that counts; tables of two, three and four axes."""
    for shape, eps in (((4, 7), 1e-5), ((2, 5, 6), 0.3), ((3, 2, 4, 9), 1e-6)):
        x = draw.normal(*shape) + draw.normal(*shape[:-1], 1, scale=2.0)
        x[0] *= 0.1
        yield {"x": x, "weight": draw.uniform(shape[-1], low=0.3, high=2.0), "eps": eps}


ROOT = "(x.square().mean(dim=-1, keepdim=True) + eps).sqrt()"

rms_norm = Exercise(
    cases=norm_cases,
    rule=Rule(tolerance=2e-5, axes={"": "… D"}),
    mistakes=(
        Mistake(
            "the mean subtracted",
            "Your vectors have the mean 0 before the weight: that is layer norm. RMSNorm leaves the mean in.",
            f"weight * x / {ROOT}", "weight * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()",
        ),
        Mistake(
            "divided by the standard deviation",
            "You divide by the standard deviation, which is measured from the mean. Here it is the root of the mean square.",
            ROOT, "(x.var(dim=-1, keepdim=True, unbiased=False) + eps).sqrt()",
        ),
        Mistake("no root", "Your vectors are divided by the mean square; its root is missing.", ".sqrt()", ""),
        Mistake(
            "divided by the length",
            "Your vectors have the length 1 before the weight. Their mean square should be 1, which is a length of √D.",
            ".mean(dim=-1", ".sum(dim=-1",
        ),
        Mistake(
            "eps outside the root",
            "Beside large numbers eps hardly shows, beside small ones it does. It is added to the mean square, under the root.",
            ROOT, "(x.square().mean(dim=-1, keepdim=True).sqrt() + eps)",
        ),
        Mistake(
            "eps forgotten",
            "Beside large numbers a small eps hardly shows, beside small ones it does. It belongs under the root, with the mean square.",
            " + eps)", ")",
        ),
        Mistake(
            "an eps of its own",
            "Your vectors are right but for a factor that eps makes: take the eps that you are handed.",
            " + eps)", " + torch.finfo(x.dtype).eps)",
        ),
        Mistake(
            "the weight forgotten", "The weight is missing: each place of the vector has its own.", "weight * x", "x",
        ),
        Mistake(
            "over the whole table",
            "One number divides all your vectors. Each is divided by its own root mean square.",
            "mean(dim=-1, keepdim=True)", "mean()",
        ),
        Mistake(
            "over the wrong axis",
            "You average over the first axis. The mean square is that of each vector: the last axis.",
            "dim=-1", "dim=0",
        ),
        Mistake(
            "multiplied instead of divided", "You multiply by the root mean square: long vectors get longer.", "x / (", "x * (",
        ),
        Mistake(
            "1 added to the weight",
            "You multiply by 1 + weight, as Gemma does. The docstring has the weight itself.",
            "weight * x", "(1 + weight) * x",
        ),
    ),
    alternatives={
        "PyTorch's own": """
def rms_norm(x, weight, eps):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
""",
        "rsqrt and a norm": """
def rms_norm(x, weight, eps):
    mean_square = torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True) ** 2 / x.shape[-1]
    return (x * torch.rsqrt(mean_square + eps)).float() * weight
""",
    },
    hints=(
        "Which three steps, in their order, does the name RMS say?",
        "x: (…, D). Mean square: (…, 1), so that it divides each vector. weight: (D).",
        "mean square of each vector, over its D numbers\nroot of (mean square + eps)\nx divided by it, times weight",
        "Near miss: x.std() is measured from the mean. Square, mean, root: three calls.",
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
            "neighbours instead of halves",
            "You turn the numbers 2i and 2i + 1 together. Here plane i is made of the numbers i and i + d/2.",
            edits={
                "first, second = x.chunk(2, dim=-1)": "first, second = x[..., ::2], x[..., 1::2]",
                TURNED: "torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)",
            },
        ),
        Mistake(
            "neighbours taken, halves given back",
            "You take the numbers 2i and 2i + 1 for a plane, and put the results into the two halves. Plane i is made of the numbers i and i + d/2.",
            "first, second = x.chunk(2, dim=-1)", "first, second = x[..., ::2], x[..., 1::2]",
        ),
        Mistake(
            "turned the other way",
            "You turn the other way round: the minus belongs to the first half. A model trained that way would do as well, but published weights would give other scores: a distance of 3 becomes −3.",
            TURNED, "torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)",
        ),
        Mistake(
            "no minus",
            "Your vectors change their lengths. A rotation has one minus: in the first half.",
            "first * cos - second * sin", "first * cos + second * sin",
        ),
        Mistake(
            "positions counted from 0",
            "You are right where the text begins at 0. The positions are given to you.",
            "positions[:, None]", "torch.arange(x.shape[-2])[:, None]",
        ),
        Mistake(
            "every plane with its own number",
            "Your later planes turn too fast. Plane i of the d/2 planes has the exponent −2i/d; yours has −i/d.",
            "torch.arange(0, d, 2) / d", "torch.arange(d // 2) / d",
        ),
        Mistake(
            "exponents twice as fast",
            "Your exponents grow twice as fast as asked: plane i has −2i/d.",
            "torch.arange(0, d, 2) / d", "2 * torch.arange(0, d, 2) / d",
        ),
        Mistake(
            "the minus of the exponent forgotten",
            "Your later planes turn faster and faster. They should turn more slowly: the exponent is negative.",
            "(-torch.arange", "(torch.arange",
        ),
        Mistake(
            "sine and cosine exchanged",
            "At position 0 nothing is to be turned, and yours is by a quarter: cos 0 = 1 belongs to the number itself.",
            "angle.cos(), angle.sin()", "angle.sin(), angle.cos()",
        ),
        Mistake(
            "sinusoids added",
            "You add sine and cosine to the vector, as in 03. Here it is turned: multiplied, so that its length stays.",
            TURNED, "x + torch.cat([sin, cos], dim=-1)",
        ),
        Mistake(
            "angles for neighbours, halves turned",
            "You turn halves, with angles in the order of neighbours (repeat_interleave). Places i and i + d/2 have the same angle: torch.cat of the angles twice.",
            code="""
def rotary(x, positions, base=10_000.0):
    d = x.shape[-1]
    angle = (positions[:, None] * base ** (-torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat([-second, first], dim=-1) * angle.sin()
""",
        ),
        Mistake(
            "the base always 10,000",
            "With the base 10,000 you are right. It is an argument.",
            SPEED, "10_000.0 ** (-torch.arange(0, d, 2) / d)",
        ),
        Mistake(
            "only the first half turned",
            "The second half of your vectors is unchanged. Both numbers of a point move.",
            TURNED, "torch.cat([first * cos - second * sin, second], dim=-1)",
        ),
        Mistake(
            "the second half made of the new first half",
            "Your second half is computed from the turned first half. Both come from the old numbers.",
            f"return {TURNED}", "first = first * cos - second * sin\n    return torch.cat([first, first * sin + second * cos], dim=-1)",
        ),
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
        "A point (1, 0) is turned by a quarter to (0, 1). Which of the two formulas has the minus?",
        "positions: (T). Speeds: (d/2). Angles: (T, d/2). The two halves of x: (…, T, d/2) each.",
        "speed of plane i = base to the power −2i/d\nangle = position times speed\nfirst half · cos − second half · sin\nfirst half · sin + second half · cos\nthe two side by side",
        "Near miss: x[..., ::2] and x[..., 1::2] are other planes than the two halves. Both occur in published code, and weights belong to one of them.",
    ),
)

# ------------------------------------------------------------------------------------------ grouped attention


def weights_of(draw: Draw, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Random weights under the names that a check loads them by: no vector grows or shrinks much."""
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
    """Two, three and one query heads for each head of keys; texts read at once and in pieces, and others after them.

    While one of them is read in pieces, another module reads, too: what is remembered belongs to the module.
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
"""The parts of what `run_cached` gives."""
SHARED = "shared.repeat_interleave(self.share, dim=1)"
BOTH = "q, k = rotary(q, positions, self.base), rotary(k, positions, self.base)"
JOINED = "k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)"
HIDDEN = "torch.arange(k.shape[2]) > positions[:, None]"
SPLIT = "layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)"

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
WITHOUT_TRANSPOSE = PLAIN.replace("unflatten(-1, (-1, self.d)).transpose(1, 2)", "reshape(x.shape[0], -1, x.shape[1], self.d)").replace(
    "transpose(1, 2).flatten(2)", "reshape(x.shape)"
)
"""Tokens and heads are mixed on the way in and, the same way, on the way out."""


def with_biases(*names: str) -> str:
    """The class with a bias in some of its layers."""
    lines = [line.replace(", bias=False", "") if line.strip().startswith(tuple(f"self.{name} =" for name in names)) else line for line in PLAIN.split("\n")]
    return "\n".join(lines)


attention = Exercise(
    cases=attention_cases,
    rule=Rule(tolerance=3e-5, axes={"registered": "weights"} | dict.fromkeys(READ, "B T D"), legend=OF_WEIGHTS),
    uses=("decoders.rotary",),
    mistakes=(
        Mistake(
            "keys and values dealt out in turn",
            "Your query heads take the heads of keys and values in turn: 0, 1, 0, 1. The first heads / kv_heads query heads share the first one: 0, 0, 1, 1.",
            SHARED, "shared.repeat(1, self.share, 1, 1)",
        ),
        Mistake(
            "positions restart with the cache",
            "At once you are right. In pieces, each of your calls begins at position 0 again: with t tokens in the cache, the first new one stands at t.",
            edits={
                "positions = torch.arange(before, before + x.shape[1])": "positions = torch.arange(x.shape[1])",
                HIDDEN: "torch.arange(k.shape[2]) > (before + positions)[:, None]",
            },
        ),
        Mistake(
            "keys turned again on every call",
            "In pieces your old keys are turned with the new ones, once more with every call: what is in the cache has been turned already.",
            code="""
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
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        q, k = rotary(q, positions, self.base), rotary(k, torch.arange(k.shape[2]), self.base)
        if self.cached:
            self.past = k, v
        k, v = (part.repeat_interleave(self.share, dim=1) for part in (k, v))
        scores = q @ k.transpose(-2, -1) / self.d**0.5
        scores = scores.masked_fill(torch.arange(k.shape[2]) > positions[:, None], -torch.inf)
        return self.output((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
""",
        ),
        Mistake(
            "only the keys turned",
            "Your queries are not turned. If the keys alone are, a score depends on the key's place and not on the distance.",
            BOTH, "k = rotary(k, positions, self.base)",
        ),
        Mistake(
            "only the queries turned",
            "Your keys are not turned. If the queries alone are, a score depends on the query's place and not on the distance.",
            BOTH, "q = rotary(q, positions, self.base)",
        ),
        Mistake(
            "values turned, too",
            "Your values are turned as well. Only what goes into the scores is: queries and keys.",
            BOTH, f"{BOTH}\n        v = rotary(v, positions, self.base)",
        ),
        Mistake(
            "no positions", "Nothing is turned with you: the attention does not know where its tokens stand.", BOTH, "pass",
        ),
        Mistake(
            "turned before the heads are split",
            "You turn the whole vectors, before they are split into heads. Each head has d numbers and d/2 planes of its own.",
            edits={
                SPLIT: "(layer(x) if layer is self.value else rotary(layer(x), torch.arange(0 if self.past is None else self.past[0].shape[2], "
                "x.shape[1] + (0 if self.past is None else self.past[0].shape[2])), self.base)).unflatten(-1, (-1, self.d)).transpose(1, 2)",
                BOTH: "pass",
            },
        ),
        Mistake(
            "the base is not handed on",
            "With the base 10,000 you are right: yours is not handed on to `rotary`.",
            BOTH, "q, k = rotary(q, positions), rotary(k, positions)",
        ),
        Mistake(
            "no mask",
            "Read at once, your last token is right and the earlier ones are not: they have seen what comes after them.",
            HIDDEN, "torch.zeros(x.shape[1], k.shape[2], dtype=torch.bool)",
        ),
        Mistake(
            "the mask of the first tokens",
            "At once you are right. In pieces, your new tokens see no more of the cache than the first tokens of a text would.",
            HIDDEN, "torch.arange(k.shape[2]) > torch.arange(x.shape[1])[:, None]",
        ),
        Mistake(
            "no mask once something is remembered",
            "At once you are right. In pieces, the new tokens of one call see each other, those behind them, too: they need a mask as well.",
            HIDDEN, f"({HIDDEN}) & (before == 0)",
        ),
        Mistake(
            "a token does not see itself",
            "Your first token may see nothing, and its row is NaN: a token sees itself and what comes before.",
            "torch.arange(k.shape[2]) > positions", "torch.arange(k.shape[2]) >= positions",
        ),
        Mistake(
            "the cache is not reset",
            "After a second reset(cached=True) your tokens still see keys and values of the first text. A new text begins with nothing.",
            "self.cached, self.past = cached, None", 'self.cached, self.past = cached, getattr(self, "past", None)',
        ),
        Mistake(
            "nothing is remembered",
            "In pieces, each of your calls sees its own tokens alone: no key and no value of an earlier call is there.",
            "if self.cached:", "if False:",
        ),
        Mistake(
            "remembered without being asked",
            "Your second call sees the tokens of the first, though nobody asked for a cache.",
            "if self.cached:", "if True:",
        ),
        Mistake(
            "no scaling", "Your weights are more decided than they should be: the scores are to be divided by √d.", " / self.d**0.5", "",
        ),
        Mistake(
            "divided by √D instead of √d",
            "With several heads your weights are too even: a score is a sum over the d numbers of one head.",
            "self.d**0.5", "x.shape[-1] ** 0.5",
        ),
        Mistake(
            "softmax over the queries",
            "Your columns add up to 1, where the rows should.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake(
            "heads cut with tokens mixed",
            "Your heads mix tokens from the start. A view to (B, heads, T, d) takes the numbers as they lie in memory, token after token: "
            "make (B, T, heads, d) of them, then exchange the two axes.",
            SPLIT, "layer(x).reshape(x.shape[0], -1, x.shape[1], self.d)",
            also=(WITHOUT_TRANSPOSE,),
        ),
        Mistake(
            "heads put together in the wrong order",
            "Your result mixes tokens: the heads' axis has to stand beside d again before the two become one.",
            "(weights @ v).transpose(1, 2).flatten(2)", "(weights @ v).reshape(x.shape)",
        ),
        Mistake(
            "the output layer forgotten",
            "You return the heads side by side. The fourth layer, `output`, has not been asked.",
            "self.output((weights @ v).transpose(1, 2).flatten(2))", "(weights @ v).transpose(1, 2).flatten(2)",
        ),
        Mistake(
            "biases",
            "There are numbers that the docstring does not name (see the last entry of `registered`): no layer here has a bias.",
            "self.output = torch.nn.Linear(dim, dim, bias=False)", "self.output = torch.nn.Linear(dim, dim)",
            also=(with_biases("query", "key", "value", "output"), with_biases("query", "key", "value")),
        ),
    ),
    alternatives={
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
    survivors={
        "self.past[1].shape[2]": "as many values as keys are remembered",
        "self.past[-1].shape[2]": "the same",
    },
    hints=(
        "Six query heads, two heads of keys: which key head does query head 4 ask? And at which place does a new token stand when t are in the cache?",
        "q: (B, H, T, d). k, v of the new tokens: (B, K, T, d), turned keys in the cache: (B, K, t + T, d). Copied for the heads: (B, H, t + T, d). Scores: (B, H, T, t + T).",
        "queries, keys, values, split into heads of d numbers\npositions of the new tokens: from the number of tokens in the cache on\nturn queries and keys\n"
        "put old keys and values in front; remember all if wanted\ncopy each key head for the query heads that share it\nattention as in 07, through `output`",
        "Near miss: `repeat` gives the heads 0, 1, 0, 1; the heads that share stand side by side: 0, 0, 1, 1. That is `repeat_interleave`.",
    ),
)

# ------------------------------------------------------------------------------------------ SwiGLU


def swiglu_cases(draw: Draw) -> Iterator[Case]:
    for B, T, dim, inner in ((2, 3, 5, 8), (1, 6, 4, 11), (3, 2, 7, 9)):
        shapes = {"gate.weight": (inner, dim), "up.weight": (inner, dim), "down.weight": (dim, inner)}
        yield {"config": {"dim": dim, "inner": inner}, "x": draw.normal(B, T, dim, scale=1.5), **weights_of(draw, shapes)}


GATED = "silu(self.gate(x)) * self.up(x)"

swiglu = Exercise(
    cases=swiglu_cases,
    rule=Rule(tolerance=2e-5, axes={"registered": "weights", "eval": "B T D"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake("gate and up exchanged", "SiLU belongs to the gate, and you take it of `up`.", GATED, "self.gate(x) * silu(self.up(x))"),
        Mistake("no activation", "Your gate has no SiLU: the two projections are multiplied as they are.", "silu(self.gate(x))", "self.gate(x)"),
        Mistake("added instead of multiplied", "You add the two projections. A gate multiplies.", " * self.up", " + self.up"),
        Mistake("the activation of the product", "You take SiLU of the product. It belongs to the gate alone.", GATED, "silu(self.gate(x) * self.up(x))"),
        Mistake("a sigmoid alone", "Your gate is σ(x), as in the first gated units (GLU). SiLU is x · σ(x).", "silu(self.gate(x))", "self.gate(x).sigmoid()"),
        Mistake("ReLU", "Your gate is exactly 0 for half of the numbers: that is ReLU.", "silu(", "torch.relu("),
        Mistake("GELU", "Your numbers are near: your gate has GELU. That is GEGLU, from the same paper.", "silu(", "torch.nn.functional.gelu("),
        Mistake("no gate", "`gate` is not used with you: that is the feed-forward layer of 03 with another activation.", GATED, "silu(self.up(x))"),
        Mistake("both activated", "You take SiLU of both projections; `up` goes in as it is.", GATED, "silu(self.gate(x)) * silu(self.up(x))"),
        Mistake("the activation at the end", "You take SiLU of what `down` returns. It belongs to the gate.", "self.down(silu(self.gate(x)) * self.up(x))", "silu(self.down(self.gate(x) * self.up(x)))"),
        Mistake(
            "biases",
            "There are numbers that the docstring does not name (see the last entry of `registered`): no biases here.",
            "torch.nn.Linear(inner, dim, bias=False)", "torch.nn.Linear(inner, dim)\n        torch.nn.init.zeros_(self.down.bias)",
        ),
    ),
    alternatives={
        "by hand": """
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
        "torch.nn.SiLU as a part": """
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
        "What passes where the gate is far below 0? Where it is far above?",
        "x: (B, T, dim). gate(x) and up(x): (B, T, inner). Out: (B, T, dim).",
        "init: gate, up, down without biases\nforward: SiLU of gate(x), times up(x), through down",
        "Near miss: silu(gate(x) * up(x)) multiplies before the activation; the gate alone is activated.",
    ),
)

# ------------------------------------------------------------------------------------------ the decoder


def decoder_cases(draw: Draw) -> Iterator[Case]:
    """One layer and two; bases and eps of their own, and the defaults; a second text in pieces, or in one.

    Each layer of each reading costs most of a millisecond, so only one case has several, and its texts are short.
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
    uses=("decoders.rms_norm", "decoders.rotary", "decoders.attention", "decoders.swiglu"),
    mistakes=(
        Mistake(
            "the final norm forgotten",
            "Your logits are made of the last layer's sum as it is. In a pre-norm stack nothing has normalised it: `norm` comes after the last layer.",
            LOGITS, "x @ self.token.weight.T",
        ),
        Mistake(
            "the norm in front of the layers",
            "Your norm comes before the first layer. It belongs behind the last.",
            edits={"x = self.token(ids)": "x = self.norm(self.token(ids))", LOGITS: "x @ self.token.weight.T"},
        ),
        Mistake(
            "the norm behind each layer",
            "You normalise after each layer. The norm stands behind the last one only.",
            edits={"x = layer(x)": "x = self.norm(layer(x))", LOGITS: "x @ self.token.weight.T"},
        ),
        Mistake(
            "not tied",
            "There are numbers that the docstring does not name (see the last entry of `registered`), a second table for the logits. The rows of `token` serve at both ends.",
            edits={
                "self.norm = RMSNorm(dim, eps)": "self.norm = RMSNorm(dim, eps)\n        self.head = torch.nn.Linear(dim, vocabulary, bias=False)",
                LOGITS: "self.head(self.norm(x))",
            },
        ),
        Mistake(
            "the table saved twice",
            "Your numbers are right, but the table is saved under two names (see the last entry of `registered`). A file of weights has it once, and "
            "load_state_dict asks for both. Make the logits with the table itself: `x @ self.token.weight.T`.",
            edits={
                "self.norm = RMSNorm(dim, eps)": "self.norm = RMSNorm(dim, eps)\n        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)\n        self.lm_head.weight = self.token.weight",
                LOGITS: "self.lm_head(self.norm(x))",
            },
        ),
        Mistake(
            "the cache stays on",
            "After reset() your first call is right and the second one is not: it still sees the tokens of the first. reset() hands False on to the layers.",
            TOLD, "layer.attention.reset(True)",
        ),
        Mistake(
            "tied without its gradient",
            "Your logits are right, and the gradient of the table is not: its use at the end was cut off from training (detach, .data or no_grad).",
            LOGITS, "self.norm(x) @ self.token.weight.detach().T",
        ),
        Mistake(
            "the layers are not told",
            "In pieces, no layer of yours remembers anything: each attention has a reset of its own.",
            TOLD, "pass",
        ),
        Mistake(
            "only the first layer is told",
            "In pieces, only your first layer remembers. Each layer's attention has a cache of its own.",
            f"for layer in self.layers:\n            {TOLD}", "self.layers[0].attention.reset(cached)",
        ),
        Mistake(
            "one layer used again and again",
            "PyTorch finds the parameters of one layer only (0 in `registered`): you use the same Layer in all places.",
            LIST, f"torch.nn.ModuleList([{MADE}] * layers)",
        ),
        Mistake(
            "the layers in a plain list",
            "PyTorch does not find the parameters of your layers (0 in `registered`): a plain list is no part of a module, an nn.ModuleList is.",
            LIST, f"[{MADE} for _ in range(layers)]",
        ),
        Mistake(
            "the base is not handed on",
            "With the default base you are right: yours is not handed on to the layers.",
            "inner, base, eps)", "inner, 10_000.0, eps)",
        ),
        Mistake(
            "base and eps are not handed on",
            "With the default base and eps you are right: neither of yours is handed on to the layers.",
            "inner, base, eps)", "inner, 10_000.0, 1e-5)",
        ),
        Mistake(
            "eps is not handed on",
            "With the default eps you are right: yours is not handed on to the layers, whose norms need it.",
            "inner, base, eps)", "inner, base, 1e-5)",
        ),
        Mistake(
            "the last norm with an eps of its own",
            "With the default eps you are right: yours is not handed on to the last norm.",
            "self.norm = RMSNorm(dim, eps)", "self.norm = RMSNorm(dim, 1e-5)",
        ),
        Mistake(
            "vectors times √D",
            "You multiply the token's vector by √D, as the transformer of 2017 (and Gemma) does. The docstring does not.",
            "x = self.token(ids)", "x = self.token(ids) * self.token.embedding_dim**0.5",
        ),
        Mistake(
            "positions added",
            "You add sinusoids to the vectors. The positions are in the attention now: queries and keys are turned.",
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
            "Your rows add up to 1: a softmax has been taken. Logits are asked for.",
            LOGITS, f"({LOGITS}).softmax(dim=-1)",
        ),
        Mistake(
            "the layers from the last to the first",
            "With one layer you are right. With several, yours come in the wrong order.",
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
        "What did the GPT of 07 have that is gone here? Who knows the positions now, and who has to be told about the cache?",
        "ids: (B, T). x: (B, T, dim) through all layers. Logits: (B, T, vocabulary), from a table of (vocabulary, dim).",
        "init: the table, the layers in a ModuleList, the last norm with eps\nreset: each layer's attention\nforward: token vectors, through the layers, the norm, and the table turned round",
        "Near miss: `[Layer(…)] * n` is n times one and the same layer. Each needs weights of its own.",
    ),
)

# ------------------------------------------------------------------------------------------ published names


def names_cases(draw: Draw) -> Iterator[Case]:
    """A LlamaForCausalLM; an old one with buffers; a LlamaModel without prefix and head, of eleven layers."""
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
            "the tied table given a second time",
            "There is a name too many: lm_head.weight is the table once more, and your Decoder has no parameter for it.",
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
            "buffers taken for parameters",
            "There are names too many: rotary_emb.inv_freq holds speeds, which are computed. They are no weights of a layer.",
            "        if place:", '        if path[-1] == "rotary_emb":\n            place = "attention.rotary_emb"\n        if place:',
        ),
        Mistake(
            "the matrices transposed",
            "Your matrices are turned round. That was GPT-2's own habit; here both programs have nn.Linear.",
            PLACED, 'ours[".".join([*layer, place, part])] = value.T if value.ndim == 2 and path[0] != "embed_tokens" else value',
        ),
        Mistake(
            "the first layer only",
            "Only layer 0 comes back: the number behind layers. says which one it is.",
            LAYERED, 'layer, path = path[:2], path[2:] if path[1] == "0" else ["another"]',
        ),
        Mistake(
            "numbers of one digit",
            "Layers 0 to 9 are right. The number of a layer may have two digits.",
            LAYERED, "layer, path = [path[0], path[1][0]], path[2:]",
        ),
        Mistake(
            "the last norm forgotten",
            "norm.weight is missing: it stands outside the layers.",
            "        if place:", '        if place and (layer or path[0] != "norm"):',
        ),
        Mistake(
            "the names of a LlamaModel not taken",
            "With model. in front you are right. A model without head has its names without it: of it you return nothing.",
            "in theirs.items():", 'in ((n, v) for n, v in theirs.items() if n.startswith("model.")):',
        ),
        Mistake(
            "gate and up exchanged",
            "gate_proj and up_proj have changed places. They have the same shape, so no error says so.",
            LOOK, 'place = PLACES.get(".".join(path).replace("gate", "x").replace("up_", "gate_").replace("x_", "up_"))',
        ),
        Mistake(
            "keys and values exchanged",
            "k_proj and v_proj have changed places. They have the same shape, so no error says so.",
            LOOK, 'place = PLACES.get(".".join(path).replace("k_proj", "x").replace("v_proj", "k_proj").replace("x", "v_proj"))',
        ),
        Mistake(
            "the two norms exchanged",
            "The two norms of a layer have changed places: input_layernorm stands in front of the attention, post_attention_layernorm behind it, which is in front of the feed-forward layer.",
            PLACED,
            'place = {"norm_attention": "norm_feed_forward", "norm_feed_forward": "norm_attention"}.get(place, place)\n            ' + PLACED,
        ),
        Mistake(
            "the prefix stays",
            "Your names still begin with model.: a Decoder's begin with token, layers and norm.",
            PLACED, 'ours["model." * name.startswith("model.") + ".".join([*layer, place, part])] = value',
        ),
        Mistake(
            "without .weight",
            "Your names lack their last piece: a module's parameter is called weight.",
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
        'if path[0] == "layers":': "outside the layers a name has one piece before weight, so nothing else begins like it",
    },
    hints=(
        "Take one name, model.layers.7.mlp.up_proj.weight, and say of each of its pieces what becomes of it.",
        "In and out: names and tensors; no tensor changes. Of each layer nine names come out, and two more of the whole.",
        "for each name and value:\n    without the prefix; the last piece is the parameter's\n    layers and number, if there are any, stay as they are\n    what is left is looked up in PLACES; what has no place is left out",
        "Near miss: name.replace(\"norm\", …) also hits input_layernorm. Split the name at its dots and look up the whole place.",
    ),
)

# ------------------------------------------------------------------------------------------ rows for the other way to turn


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
            "as they are", "Your rows stand where they stood. With two numbers per head that would do; with more the neighbours have to part.",
            f"return {ROWS}", "return weight.clone()",
        ),
        Mistake(
            "all heads as one",
            "With one head you are right. Each head has its own d rows: part the neighbours within a head.",
            ROWS, "torch.cat([weight[::2], weight[1::2]])",
        ),
        Mistake(
            "the way back",
            "You put halves between each other, which leads from the halves to neighbours. It is to go the other way.",
            ROWS, "torch.stack(by_head.chunk(2, dim=1), dim=2).flatten(0, 2)",
        ),
        Mistake(
            "odd rows first",
            "Your halves have changed places: row 0 of a head stays row 0.",
            "by_head[:, ::2], by_head[:, 1::2]", "by_head[:, 1::2], by_head[:, ::2]",
        ),
        Mistake(
            "the columns",
            "You have changed the order of columns. What a matrix makes, here queries and keys, are its rows.",
            f"return {ROWS}", "return torch.cat([weight[:, ::2], weight[:, 1::2]], dim=1)",
        ),
        Mistake(
            "rows of a head taken across the heads",
            "The rows that you take for a head's stand `heads` rows apart. A head's d rows stand side by side.",
            edits={
                "weight.unflatten(0, (heads, -1))": "weight.unflatten(0, (-1, heads)).transpose(0, 1)",
                "dim=1).flatten(0, 1)": "dim=1).transpose(0, 1).flatten(0, 1)",
            },
        ),
        Mistake(
            "transposed", "Your matrix is turned round: rows and columns have changed places.",
            ".flatten(0, 1)", ".flatten(0, 1).T",
        ),
        Mistake(
            "the second half reversed", "The second half of each head stands in reverse.", "by_head[:, 1::2]]", "by_head[:, 1::2].flip(1)]",
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
        "A head has the rows 0 1 2 3 4 5. In which order must they stand, so that the old neighbours 0 and 1 are i and i + 3?",
        "weight: (H · d, D). By heads: (H, d, D). Out: (H · d, D), the same rows in another order.",
        "split the rows by heads\nof each head: first its even rows, then its odd ones\nput the heads together again",
        "Near miss: weight[::2] over all rows mixes the heads. Split by heads first.",
    ),
)

# ------------------------------------------------------------------------------------------ experts


def route_cases(draw: Draw) -> Iterator[Case]:
    """One expert per token, several, all of them; an expert that nobody chooses, the last one or another."""
    for T, E, k in ((9, 5, 2), (14, 4, 1), (6, 7, 3), (5, 3, 3)):
        scores = draw.normal(T, E, scale=1.2)
        scores += scores.argsort(axis=1).argsort(axis=1) / 16  # so that no two are close to each other
        if k < E:
            scores[:, 1 if k == 1 else -1] = scores.min() - 0.5  # nobody's choice, and still probable
        yield {"scores": scores.astype(np.float32), "k": k}


BALANCE = "E * (chosen * mean_probability).sum()"

route = Exercise(
    cases=route_cases,
    rule=Rule(tolerance=2e-5, axes={"0": "T E", "1": ""}),
    mistakes=(
        Mistake(
            "not shared out again",
            "Your weights do not add up to 1: they are probabilities among all experts. The softmax is that of the k best scores.",
            "best.values.softmax(dim=-1)", "scores.softmax(dim=-1).gather(-1, best.indices)",
        ),
        Mistake(
            "all experts", "All your experts have a weight. Only the k best may.",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(dim=-1))", "scores.softmax(dim=-1)",
        ),
        Mistake(
            "zeros instead of minus infinity",
            "Experts outside the k best still have a weight: a score of 0 has the weight exp(0) = 1 before dividing.",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values.softmax(dim=-1))",
            "torch.zeros_like(scores).scatter(-1, best.indices, best.values).softmax(dim=-1)",
        ),
        Mistake(
            "equal weights", "Your k experts have equal weights. Theirs is the softmax of their scores.",
            "best.values.softmax(dim=-1)", "torch.full_like(best.values, 1 / k)",
        ),
        Mistake(
            "without E", "Your weights are right. Your loss is E times too small.", f"return weights, {BALANCE}", "return weights, (chosen * mean_probability).sum()",
        ),
        Mistake(
            "choices divided by the tokens",
            "Your weights are right. With k = 1 your loss is, too: the choices are T · k, and f is a share of them.",
            "/ best.indices.numel()", "/ len(scores)",
        ),
        Mistake(
            "P from the k best alone",
            "Your weights are right. P is the mean of the softmax over *all* experts; you took the weights.",
            "scores.softmax(dim=-1).mean(dim=0)", "weights.mean(dim=0)",
        ),
        Mistake(
            "f from probabilities",
            "Your weights are right. f counts how often an expert was chosen; you used the mean probability twice.",
            BALANCE, "E * (mean_probability * mean_probability).sum()",
        ),
        Mistake(
            "f squared",
            "Your weights are right. Your loss is made of counts alone, which have no gradient: P is a mean of probabilities.",
            BALANCE, "E * (chosen * chosen).sum()",
        ),
        Mistake(
            "only the first choice counted",
            "Your weights are right. With k = 1 your loss is, too: all k choices of a token count.",
            "torch.bincount(best.indices.flatten(), minlength=E) / best.indices.numel()", "torch.bincount(best.indices[:, 0], minlength=E) / len(scores)",
        ),
        Mistake(
            "experts counted up to the last that was chosen",
            "Where nobody chooses the last experts, your counts are too few: give bincount `minlength=E`, so that each expert has a count.",
            ", minlength=E)", ")",
        ),
        Mistake(
            "softmax over the tokens",
            "Your weights are right. P is made of each token's softmax over the experts; you took it over the tokens.",
            "scores.softmax(dim=-1)", "scores.softmax(dim=0)",
        ),
        Mistake(
            "the worst experts", "You take the k lowest scores.", "scores.topk(k, dim=-1)", "scores.topk(k, dim=-1, largest=False)",
        ),
        Mistake("the loss first", "Your tuple is the other way round: the weights come first.", f"return weights, {BALANCE}", f"return {BALANCE}, weights"),
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
        "→ `best = scores.topk(k)`": "the axis is the default",
    },
    hints=(
        "Scores 2, 1, 0 and k = 2: which two weights, and what do they add up to? What are f and P if every token looks like this?",
        "scores: (T, E). The best: (T, k), values and places. Weights: (T, E). f and P: (E). The loss: one number.",
        "the k best scores of each token and their places\nweights: softmax of these k, at their places, 0 elsewhere\nf: how often each place occurs, divided by T · k\nP: mean over tokens of softmax(scores)\nE · sum of f · P",
        "Near miss: softmax(scores) at the k places adds up to less than 1. Take the softmax of the k scores.",
    ),
)

# ------------------------------------------------------------------------------------------ four bits


def divides_well(scale: float) -> bool:
    """Whether the largest number, 7 · scale, divided by a seventh of itself is 7 and not 6.9999995: for its neighbours, too."""
    largest = np.float32(7 * scale)
    three = np.array([np.nextafter(largest, np.float32(0)), largest, np.nextafter(largest, np.float32(np.inf))])
    return bool((three / (three / np.float32(7)) == 7).all())


def block_cases(draw: Draw) -> Iterator[Case]:
    """Blocks of large and small numbers, of zeros, with a largest one that is negative; none near the middle of two steps.

    One number of a block is its largest, and no luck decides what becomes of it where somebody cuts off instead of rounding.
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
"""As students write it. What it makes of 6.9999995, which other inputs would give, is left out (`divides_well`)."""

quantise = Exercise(
    cases=block_cases,
    rule=Rule(tolerance=2e-5, axes={"0": "N", "1": "blocks"}),
    mistakes=(
        Mistake(
            "0/0 in a block of zeros", "A block of zeros is NaN with you: 0 divided by a scale of 0.", "scale.clamp(min=1e-30)", "scale",
        ),
        Mistake(
            "cut off instead of rounded", "Your whole numbers are cut off towards 0. The nearest one is asked for.", ".round()", ".mul(1.001).trunc()",
            also=(TO_WHOLE.format("trunc"),),
        ),
        Mistake(
            "rounded down", "Your whole numbers are rounded down. The nearest one is asked for.", ".round()", ".add(0.001).floor()",
            also=(TO_WHOLE.format("floor"),),
        ),
        Mistake(
            "one scale for all", "One scale serves all your numbers. Each block has its own.", "blocks.abs().amax(dim=1) / 7", "blocks.abs().max().expand(len(blocks)) / 7",
        ),
        Mistake(
            "the largest number, with its sign",
            "Where the largest number of a block is negative you are wrong: the largest *absolute* value decides.",
            "blocks.abs().amax(dim=1)", "blocks.amax(dim=1)",
        ),
        Mistake(
            "divided by 8", "Your largest numbers become 8: the scale is the largest absolute value divided by 7.", "/ 7", "/ 8",
        ),
        Mistake(
            "not divided by 7", "Your whole numbers are −1, 0 and 1 alone: the scale is a seventh of the largest absolute value.", " / 7", "",
        ),
        Mistake(
            "not rounded", "Your numbers are not whole.", NEAREST, "blocks / scale.clamp(min=1e-30)[:, None]",
        ),
        Mistake(
            "blocks of columns", "You take every n-th number for a block. A block's numbers stand in a row.", "x.reshape(-1, size)", "x.reshape(size, -1).T",
        ),
        Mistake(
            "size taken for the number of blocks", "You make `size` blocks. It says how many numbers a block has.", "x.reshape(-1, size)", "x.reshape(size, -1)",
        ),
        Mistake(
            "given back in the old units", "You return the rounded numbers times their scale. Asked are the whole numbers, and the scales beside them.",
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
    survivors={"clamp(min=2e-30)": "any number that is small beside every scale will do"},
    hints=(
        "A block is 3.5, −7, 0.9. What is its scale, and which whole numbers come out?",
        "x: (N). Blocks: (N / size, size). Scales: (N / size). Whole numbers: (N).",
        "cut x into rows of `size` numbers\nscale = largest absolute value of each row / 7\nwhole = round(row / scale), 0 where the scale is 0\nboth back: whole numbers in one row, scales",
        "Near miss: a block of zeros has the scale 0, and 0/0 is NaN.",
    ),
)
