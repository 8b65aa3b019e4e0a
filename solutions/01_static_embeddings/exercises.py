"""The exercises of 01, one vector per word: counting, comparing, learning and taking apart word vectors."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ---------------------------------------------------------------- ppmi


def _counts(draw: Draw, words: int, contexts: int, most: int) -> np.ndarray:
    """Counts up to `most` beside two pairs that meet far more often, a word and a context word that never occur.

    Words 0 and 1 each keep company with one context word of their own and hardly with the other's: so some pairs
    meet more often than by chance, some less often, and some never, whatever is drawn.
    """
    counts = draw.integers(0, most + 1, words, contexts)
    counts[:2, 1:3] = (40 * most, 1), (1, 24 * most)
    counts[0, -1] = 0  # never seen, though both occur
    counts[2, -1] = most
    counts[-1, :] = 0
    counts[:, 0] = 0
    return counts.astype(np.float32)


def _ppmi_cases(draw: Draw) -> Iterator[Case]:
    for words, contexts, most in ((4, 6, 5), (7, 5, 3), (9, 12, 2)):
        yield {"counts": _counts(draw, words, contexts, most)}


def _with_epsilon(epsilon: float) -> str:
    return f"""
def ppmi(counts):
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()
    return ((counts + {epsilon}) / (by_chance + {epsilon})).log().clamp(min=0)
"""


ppmi = Exercise(
    cases=_ppmi_cases,
    rule=Rule(axes={"": "word context"}),
    mistakes=(
        Mistake(
            "negative values were kept",
            "Some of your entries are below zero. The first P of PPMI stands for positive: pairs that meet less "
            "often than by chance count as 0.",
            ".log().clamp(min=0)", ".log()",
        ),
        Mistake(
            "logarithm to base 2",
            "Every entry is larger than expected by the same factor, 1.4427. Which number is the base of your logarithm?",
            ".log()", ".log2()",
        ),
        Mistake(
            "the total was left out",
            "Your table is 0 nearly everywhere. Compare one observed count with the one you expect by chance: are "
            "both counts, or is one of them a count squared?",
            " / counts.sum()", "",
        ),
        Mistake(
            "compared with the word's frequency only",
            'The entries of frequent context words are too large: a word such as "the" is near everything. '
            "What you expect by chance depends on how frequent both words are.",
            "counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()",
            "counts.sum(dim=1, keepdim=True) / counts.shape[1]",
            also=(
                """
def ppmi(counts):
    words = counts.sum(1, keepdim=True)
    ratio = counts / words.clamp(min=1) / (words / counts.sum())
    return torch.where(counts > 0, ratio.log(), 0.0).clamp(min=0)
""",
            ),
        ),
        Mistake(
            "compared with the context's frequency only",
            "The rows of frequent words are too large. What you expect by chance depends on how frequent both words are.",
            "counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()", "counts.sum(dim=0) / counts.shape[0]",
        ),
        Mistake(
            "the ratio itself, without a logarithm",
            "Your entries run from 0 to large numbers, and a pair that meets as often as by chance gets 1. "
            "PMI measures on a scale where such a pair gets 0.",
            ".log().clamp(min=0)", "",
        ),
        Mistake(
            "0/0 for a word that never occurs",
            "Your table holds NaN in the row or column of a word that never occurs. Only pairs that were seen need a logarithm.",
            "torch.where(counts > 0, counts / by_chance, 1.0)", "(counts / by_chance)",
        ),
        Mistake(
            "one was added to every count",
            "Pairs that never met have positive entries in your table. Adding one to the counts is another method; "
            "here a pair that was never seen gets 0.",
            "    by_chance = ", "    counts = counts + 1\n    by_chance = ",
        ),
        Mistake(
            "multiplied by the count",
            "Frequent pairs get entries far above the expected ones. PMI says how surprising one meeting is, "
            "however often it happened.",
            ".log().clamp(min=0)", ".log().clamp(min=0) * counts",
        ),
        Mistake(
            "multiplied by the probability of the pair",
            "All your entries are far too small: each was weighted by how often the pair occurs. That is a term of the "
            "mutual information of the whole table; PMI says how surprising one meeting is, however often it happened.",
            ".log().clamp(min=0)", ".log().clamp(min=0) * counts / counts.sum()",
        ),
        Mistake(
            "the sign was dropped instead of the negative values",
            "Pairs that meet less often than by chance have positive entries in your table. They should count as 0.",
            ".log().clamp(min=0)", ".log().abs()",
        ),
        Mistake(
            "one was added inside the logarithm",
            "A pair that meets as often as by chance gets ln 2 in your table, where it should get 0.",
            ".log().clamp(min=0)", ".log1p().clamp(min=0)",
            also=(
                """
def ppmi(counts):
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()
    return torch.nan_to_num(counts / by_chance).log1p()
""",
            ),
        ),
        Mistake(
            "the number of cells for the total",
            "All your entries that are not 0 are off by the same amount, and some became 0: N is what all counts add up "
            "to, not how many cells the table has.",
            " / counts.sum()", " / counts.numel()",
        ),
        Mistake(
            "an epsilon that is not small",
            "Your entries are nearly right, and worst for rare pairs: the number that you add against "
            "log(0) counts as meetings that never took place. Decide on the pairs that were never seen instead.",
            code=_with_epsilon(0.1),
            also=tuple(map(_with_epsilon, (0.5, 0.01, 0.001))),
        ),
        Mistake(
            "divided by the square of the total",
            "Your entries are too large, by ln N wherever the right one is above 0: what you expect by chance is a count, row sum × "
            "column sum ÷ N. With N² it is a probability, and the count must be divided by N, too.",
            " / counts.sum()", " / counts.sum() ** 2",
        ),
    ),
    alternatives={
        "probabilities, and NaN removed at the end": """
def ppmi(counts):
    joint = counts / counts.sum()
    word, context = joint.sum(1), joint.sum(0)
    pmi = torch.log(joint) - torch.log(word)[:, None] - torch.log(context)[None, :]
    return torch.nan_to_num(pmi, nan=0.0, neginf=0.0).clamp_min(0)
""",
        "a loop over the pairs": """
import math

def ppmi(counts):
    total = counts.sum().item()
    table = torch.zeros_like(counts)
    for w in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            n = counts[w, c].item()
            if n > 0:
                table[w, c] = max(0.0, math.log(n * total / (counts[w].sum().item() * counts[:, c].sum().item())))
    return table
""",
        "numpy, in float64": """
import numpy as np

def ppmi(counts):
    n = counts.numpy().astype(np.float64)
    chance = np.outer(n.sum(1), n.sum(0)) / n.sum()
    return np.log(np.maximum(np.divide(n, chance, out=np.ones_like(n), where=n > 0), 1))
""",
    },
    hints=(
        "If the two words knew nothing of each other, how often would you expect to see them together? "
        "Say it in words before you write it.",
        "counts is (word, context). Row sums are (word, 1), column sums (1, context), the total is one number; "
        "what you expect by chance is (word, context) again.",
        "expected = row sum × column sum ÷ total; ratio = count ÷ expected; take its logarithm where the count is "
        "above 0; put 0 everywhere else and wherever the logarithm is negative.",
        "Near miss: log(count / expected) with negative values cut off is right except where a word never occurs: "
        "there it computes 0/0. Decide those entries before the logarithm.",
    ),
)

# ---------------------------------------------------------------- cosine


def _cosine_cases(draw: Draw) -> Iterator[Case]:
    for n, m, size in ((3, 5, 4), (6, 2, 7), (4, 9, 3)):
        a, b = draw.normal(n, size) + 0.4, 3 * draw.normal(m, size) - 0.5
        a[0] *= 2 / np.linalg.norm(a[0])
        b[0] = -3 * a[0]  # cosine −1, and lengths that differ
        b[1] = 0  # a word without a vector
        a[2] *= 0.05 / np.linalg.norm(a[2])  # a short one: nothing but 0 may be mended
        if n != 3:
            a[1] = 0
        yield {"a": a, "b": b}


def _with_least_length(a: str, b: str) -> str:
    return f"""
def cosine(a, b):
    return a @ b.T / ({a}[:, None] * {b})
"""


cosine = Exercise(
    cases=_cosine_cases,
    rule=Rule(axes={"": "n m"}),
    mistakes=(
        Mistake(
            "dot products, not cosines",
            "Your values leave the range from −1 to 1: long vectors still count for more than short ones.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "a @ b.T",
        ),
        Mistake(
            "only the first set was brought to length 1",
            "Your values leave the range from −1 to 1 in some columns: those of long vectors in b.",
            "F.normalize(b, dim=1)", "b",
        ),
        Mistake(
            "only the second set was brought to length 1",
            "Some rows of your answer leave the range from −1 to 1: those of long vectors in a.",
            "F.normalize(a, dim=1)", "a",
        ),
        Mistake(
            "lengths along the wrong axis",
            "A vector compared with itself should give 1; yours does not. You made each feature of length 1, "
            "over all words, instead of each word's vector.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "F.normalize(a, dim=0) @ F.normalize(b, dim=0).T",
        ),
        Mistake(
            "distance instead of similarity",
            "Your value for two vectors that point the same way is 0, and for opposite ones 2.",
            "return ", "return 1 - ",
        ),
        Mistake(
            "divided by the squared lengths",
            "Your values are too small for long vectors and too large for short ones. What is the length of a vector: "
            "the sum of its squares, or something done to it?",
            code="""
def cosine(a, b):
    squares = (a * a).sum(1)[:, None] * (b * b).sum(1)[None, :]
    return a @ b.T / squares.clamp(min=1e-12)
""",
            also=(
                """
def cosine(a, b):
    return a @ b.T / ((a * a).sum(1)[:, None] * (b * b).sum(1)[None, :])
""",
            ),
        ),
        Mistake(
            "centred first: that is a correlation",
            "Your values are Pearson correlations: each vector lost its mean before it was compared. The cosine keeps it.",
            "    return ", "    a, b = a - a.mean(1, keepdim=True), b - b.mean(1, keepdim=True)\n    return ",
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "A row or a column of yours is NaN: one of the vectors is all zeros and has length 0. The docstring says what its cosine is.",
            code="""
def cosine(a, b):
    return (a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :])
""",
        ),
        Mistake(
            "a vector of zeros taken for the same direction",
            "A vector of zeros has cosine 1 with everything in yours: it has no direction, and the docstring says what it gets.",
            code="""
def cosine(a, b):
    return torch.nan_to_num((a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :]), nan=1.0)
""",
        ),
        Mistake(
            "the sign was lost",
            "None of your values is negative. Vectors that point in opposite directions have cosine −1.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).abs()",
        ),
        Mistake(
            "negative values set to 0",
            "Vectors that point apart get 0 in yours. It was PPMI that cut off below 0; a cosine goes down to −1.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).clamp(min=0)",
        ),
        Mistake(
            "angles instead of cosines",
            "Your value for two vectors that point the same way is 0, and for opposite ones π: you went on to the angle. "
            "The cosine itself is asked for.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).clamp(-1, 1).acos()",
        ),
        Mistake(
            "an epsilon that is not small",
            "The values of short vectors are too small in yours: what you add to a length, or the least length that you allow, counts "
            "beside theirs. Decide on a length of 0 only, or take something as small as 1e-12.",
            code=_with_least_length("(a.norm(dim=1) + 0.01)", "(b.norm(dim=1) + 0.01)"),
            also=(
                *(
                    _with_least_length(f"(a.norm(dim=1) + {small})", f"(b.norm(dim=1) + {small})")
                    for small in ("0.1", "0.001", "1")
                ),
                *(
                    _with_least_length(
                        f"a.norm(dim=1).clamp(min={least})", f"b.norm(dim=1).clamp(min={least})"
                    )
                    for least in ("1", "0.1")
                ),
            ),
        ),
        Mistake(
            "one length for the whole matrix",
            "Your values have the right signs and are too small: each was divided by the length of all rows together. "
            "Each row has a length of its own.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "(a / a.norm()) @ (b / b.norm()).T",
        ),
        Mistake(
            "lengths as sums of absolute values",
            "A vector compared with itself should give 1; yours gives less. The length of a vector is the root of the sum of its squares.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "F.normalize(a, p=1, dim=1) @ F.normalize(b, p=1, dim=1).T",
        ),
    ),
    alternatives={
        "torch's own, by broadcasting": """
def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a[:, None, :], b[None, :, :], dim=-1)
""",
        "two loops": """
import math

def cosine(a, b):
    rows = []
    for u in a.tolist():
        row = []
        for v in b.tolist():
            lengths = math.sqrt(sum(x * x for x in u)) * math.sqrt(sum(x * x for x in v))
            row.append(sum(x * y for x, y in zip(u, v)) / lengths if lengths else 0.0)
        rows.append(row)
    return torch.tensor(rows)
""",
        "einsum in float64": """
def cosine(a, b):
    a, b = a.double(), b.double()
    dots = torch.einsum("nd,md->nm", a, b)
    lengths = torch.einsum("n,m->nm", a.square().sum(1).sqrt(), b.square().sum(1).sqrt())
    return torch.where(lengths > 0, dots / lengths, 0.0)
""",
    },
    hints=(
        "Two arrows: which of their properties should not matter when you ask whether they point the same way?",
        "a is (n, D), b is (m, D). The answer is (n, m), one number for each pair: the axis D has been summed over.",
        "divide each row of a by its length; the same for b; then one matrix product gives all dot products.",
        "Near miss: a @ b.T divided by the product of the two lengths, as (n, 1) and (1, m), is right for all "
        "vectors but one of zeros: there it divides by 0.",
    ),
)

# ---------------------------------------------------------------- nearest


def _at_cosines(draw: Draw, towards: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Rows of length 1, each at its given cosine with `towards`."""
    unit = towards / np.linalg.norm(towards)
    across = draw.rng.standard_normal((len(cosines), len(unit)))
    across -= np.outer(across @ unit, unit)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return cosines[:, None] * unit + np.sqrt(1 - cosines[:, None] ** 2) * across


def _spread(draw: Draw, count: int, low: float, high: float) -> np.ndarray:
    """Numbers from high down to low, never so close that rounding decides which is larger."""
    places = np.arange(count) + draw.rng.uniform(0.3, 0.7, count)
    return high - (high - low) * places / count


def _ranked(draw: Draw, towards: np.ndarray, count: int, high: float) -> np.ndarray:
    """Rows from the most similar to `towards` to the least; their lengths differ by a factor of fifty.

    The most similar one is short, the next long, and the third about as long as `towards`, so that dot products and
    distances rank otherwise.
    """
    lengths = np.exp(draw.rng.uniform(-2, 2, (count, 1)))
    lengths[:3, 0] = 0.15, 6.0, 1.1
    return _at_cosines(draw, towards, _spread(draw, count, -0.97, high)) * lengths


def _nearest_cases(draw: Draw) -> Iterator[Case]:
    yield from _among_many(draw)
    yield from _beside_an_equal_row(draw)


def _beside_an_equal_row(draw: Draw) -> Iterator[Case]:
    """Another row equals the query, in front of it or behind. In some, yet another is all zeros, its cosine 0 far from others.

    The query's length is 2, and its coordinates are halves when that is 1: the cosine of the equal rows is exactly 1.
    Which of the two a sort puts first depends on how it goes about the others: their order is the same in every draw.
    """
    for words, k, query, equal, zeros in (
        (12, 11, 8, 3, [6]),
        (15, 14, 2, 11, [0]),
        (9, 4, 6, 5, [1]),
        (17, 3, 4, 9, []),
    ):
        asked = draw.rng.permutation([1, 1, -1, 1]).astype(float)
        count = words - 2 - len(zeros)
        above, below = _spread(draw, words // 2, 0.15, 0.95), _spread(draw, count - words // 2, -0.95, -0.15)
        others = _at_cosines(draw, asked, np.concatenate([above, below])[7 * np.arange(count) % count])
        vectors = np.zeros((words, 4))
        lengths = draw.rng.uniform(0.3, 6, (count, 1))
        vectors[np.setdiff1d(np.arange(words), (query, equal, *zeros))] = others * lengths
        vectors[[query, equal]] = asked
        yield {"vectors": vectors.astype(np.float32), "query": query, "k": k}


def _among_many(draw: Draw) -> Iterator[Case]:
    # Also all the other words, and a single one.
    for words, size, k, query in ((30, 6, 5, 11), (41, 9, 7, 0), (10, 4, 9, 3), (23, 7, 1, 8)):
        asked = draw.rng.standard_normal(size)
        asked /= np.linalg.norm(asked)
        ranked = _ranked(draw, asked, words - 1, 0.97)
        if query == 0:  # another word in nearly the same direction: a neighbour like any other
            ranked[:1] = 0.15 * _at_cosines(draw, asked, np.array([0.999995]))
        # The best stands last: whoever counts without the word itself, or keeps the table's order, is seen.
        others = np.concatenate([draw.rng.permutation(ranked[1:]), ranked[:1]])
        yield {"vectors": np.insert(others, query, asked, axis=0).astype(np.float32), "query": query, "k": k}


def _below(bound: str) -> str:
    return f"""
def nearest(vectors, query, k):
    similarity = cosine(vectors[[query]], vectors)[0]
    similarity[similarity > {bound}] = -torch.inf
    return similarity.topk(k).indices
"""


nearest = Exercise(
    cases=_nearest_cases,
    uses=("static.cosine",),
    rule=Rule("equal", axes={"": "k"}),
    mistakes=(
        Mistake(
            "the word itself is in the list",
            "The word that was asked for is in your list. No word is nearer to it than itself, which tells nothing.",
            "    similarity[query] = -torch.inf\n", "",
        ),
        Mistake(
            "the first one dropped, whoever it is",
            "Where another word has the same vector as the query, you may drop that one, and the query stays in its own list: the first "
            "of all need not be the query. Leave it out by its row number.",
            edits={"    similarity[query] = -torch.inf\n": "", "topk(k).indices": "topk(k + 1).indices[1:]"},
            also=(
                """
def nearest(vectors, query, k):
    order = cosine(vectors, vectors[query : query + 1]).squeeze(1).argsort(descending=True)
    return order[1 : k + 1]
""",
                """
def nearest(vectors, query, k):
    order = cosine(vectors, vectors[query : query + 1]).squeeze(1).argsort()
    return order.flip(0)[1 : k + 1]
""",
            ),
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "A word whose vector is all zeros stands at a wrong place in your list: its length is 0, and 0/0 is NaN, which is neither more nor "
            "less than any number. Its cosine is 0.",
            "cosine(vectors[[query]], vectors).squeeze(0)",
            "vectors @ vectors[query] / (vectors.norm(dim=1) * vectors[query].norm())",
            also=(
                """
import numpy as np

def nearest(vectors, query, k):
    v = vectors.numpy()
    s = v @ v[query] / np.linalg.norm(v, axis=1)
    s[query] = -np.inf
    return np.argsort(-s)[:k]
""",
            ),
        ),
        Mistake(
            "the word was dropped, and one neighbour with it",
            "Your list is one too short: it was cut to k before the word itself was taken out.",
            edits={"    similarity[query] = -torch.inf\n": "", "topk(k).indices": "topk(k).indices[1:]"},
        ),
        Mistake(
            "the word itself made neutral, not last",
            "The word itself is in your list where k is large: you gave it a similarity that words pointing the other way do not reach.",
            "= -torch.inf", "= 0",
        ),
        Mistake(
            "words of nearly the same direction taken for the word itself",
            "You leave out every word whose cosine is almost 1. Another word may point in nearly the same direction, and is then the nearest: "
            "leave out the row `query`, and no other.",
            code=_below("0.9999"),
            also=tuple(map(_below, ("0.999", "0.99999", "0.99"))),
        ),
        Mistake(
            "words with the same vector left out",
            "You leave out every word that has the query's vector. Another word may have it, too, and is then the nearest: leave out the row "
            "`query`, and no other.",
            "similarity[query]", "similarity[(vectors == vectors[query]).all(dim=1)]",
        ),
        Mistake(
            "rows counted without the word itself",
            "Your rows are right up to the query, and one too small behind it: you took its row out before you counted.",
            code="""
def nearest(vectors, query, k):
    others = torch.cat([vectors[:query], vectors[query + 1 :]])
    return cosine(vectors[[query]], others)[0].topk(k).indices
""",
        ),
        Mistake(
            "ranked by the dot product",
            "Your list prefers words with long vectors, also where they point elsewhere. The docstring asks for the "
            "cosine: in it, length does not count.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "vectors @ vectors[query]",
        ),
        Mistake(
            "the farthest words",
            "Your list holds the words that are least like the query.",
            edits={
                "similarity[query] = -torch.inf": "similarity[query] = torch.inf",
                "topk(k)": "topk(k, largest=False)",
            },
        ),
        Mistake(
            "ranked by distance between the points",
            "Your list prefers words whose vectors are about as long as the query's. The docstring asks for the cosine.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "-(vectors - vectors[query]).norm(dim=1)",
        ),
        Mistake(
            "in the order of the vocabulary",
            "These are the right words in the wrong order: the most similar one comes first.",
            "topk(k).indices", "topk(k).indices.sort().values",
        ),
        Mistake(
            "similarities instead of words",
            "Your function returns how similar the neighbours are. The docstring asks which rows they are.",
            ".indices", ".values",
        ),
        Mistake(
            "opposite words counted as near",
            "Some of your neighbours point away from the query: their cosine is near −1, not near 1.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "cosine(vectors[[query]], vectors).squeeze(0).abs()",
        ),
        Mistake(
            "worst first",
            "These are the right words in reverse: the most similar one comes first.",
            "topk(k).indices", "topk(k).indices.flip(0)",
        ),
        Mistake(
            "lengths along the wrong axis",
            "You made each coordinate of length 1, over all words, instead of each word's vector: long vectors still count for more.",
            "cosine(vectors[[query]], vectors).squeeze(0)",
            "F.normalize(vectors, dim=0) @ F.normalize(vectors, dim=0)[query]",
        ),
    ),
    alternatives={
        "sorted in full, the query's row skipped": """
def nearest(vectors, query, k):
    order = cosine(vectors, vectors[query : query + 1]).squeeze(1).argsort(descending=True)
    return order[order != query][:k]
""",
        "a list of numbers in plain Python": """
def nearest(vectors, query, k):
    unit = torch.nn.functional.normalize(vectors.double(), dim=1)
    scores = (unit @ unit[query]).tolist()
    others = [i for i in range(len(scores)) if i != query]
    return sorted(others, key=lambda i: -scores[i])[:k]
""",
        "numpy": """
import numpy as np

def nearest(vectors, query, k):
    v = vectors.numpy()
    s = v @ v[query] / np.maximum(np.linalg.norm(v, axis=1), 1e-12)
    s[query] = -np.inf
    return np.argsort(-s)[:k]
""",
    },
    hints=(
        "Is any word more similar to the query than the query itself? Do you want it in the list?",
        "vectors is (V, D), query and k are whole numbers. The answer is (k,): rows of the table, best first. "
        "Your cosine wants two matrices: what has shape (1, D) here?",
        "similarity of the query's row to all rows; take the query out of the race; the k largest, in order; "
        "return where they are, not how large.",
        "Near miss: choosing one more than k and dropping the first is right until another word has the same vector as the "
        "query: then either may stand first. Take the query out by its row number, before you choose.",
    ),
)

# ---------------------------------------------------------------- skip-gram with negative sampling


def _sgns_cases(draw: Draw) -> Iterator[Case]:
    for batch, k, size in ((2, 3, 5), (5, 2, 4), (3, 7, 6)):
        yield {"center": draw.normal(batch, size) + 0.2, "context": draw.normal(batch, size) - 0.1,
               "negatives": draw.normal(batch, k, size) + 0.1}  # fmt: skip
    # Scores of ±198: where beliefs are wrong, σ is 0 in float32; where they are right, the exponential is infinite.
    for batch, k, size, believed in ((4, 5, 8, -1), (6, 4, 7, 1)):
        center, context, negatives = (
            draw.normal(*shape) for shape in ((batch, size), (batch, size), (batch, k, size))
        )
        center[:2] *= 12 / np.linalg.norm(center[:2], axis=1, keepdims=True)
        context[0] = believed * 1.375 * center[0]
        negatives[1, 2] = -believed * 1.375 * center[1]
        yield {"center": center, "context": context, "negatives": negatives}


def _with_small_number(small: str) -> str:
    return f"""
def sgns_loss(center, context, negatives):
    true, noise = (center * context).sum(1), (negatives * center.unsqueeze(1)).sum(2)
    return -((torch.sigmoid(true) {small}).log() + (torch.sigmoid(-noise) {small}).log().sum(1)).mean()
"""


def _within(bound: str) -> str:
    return f"""
def sgns_loss(center, context, negatives):
    true, noise = (center * context).sum(1), (negatives * center.unsqueeze(1)).sum(2)
    true, noise = true.clamp(-{bound}, {bound}), noise.clamp(-{bound}, {bound})
    return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(1)).mean()
"""


sgns_loss = Exercise(
    cases=_sgns_cases,
    mistakes=(
        Mistake(
            "negatives pulled instead of pushed",
            "Your loss falls when the center agrees with its negatives: it treats them as true neighbours. "
            "Which probability do you want to be large for a word that was drawn at random?",
            "F.logsigmoid(-noise)", "F.logsigmoid(noise)",
        ),
        Mistake(
            "the true pair pushed apart",
            "Your loss grows when center and context agree, and these two did meet.",
            "F.logsigmoid(true)", "F.logsigmoid(-true)",
        ),
        Mistake(
            "the sign of the whole",
            "Your loss is negative. It is a log likelihood: training would make it smaller and smaller, which means worse.",
            "return -(", "return (",
        ),
        Mistake(
            "mean over the negatives",
            "The part of the negatives is k times too small: the formula adds one term for each of them.",
            "F.logsigmoid(-noise).sum(dim=1)", "F.logsigmoid(-noise).mean(dim=1)",
        ),
        Mistake(
            "sum over the batch",
            "Your loss is B times too large: it adds up over the batch, and the docstring asks for the mean.",
            ".sum(dim=1)).mean()", ".sum(dim=1)).sum()",
        ),
        Mistake(
            "the first negative alone",
            "Of each pair's negatives only the first one counts. The loss is summed over all k of them.",
            "-noise).sum(dim=1)", "-noise[:, 0])",
        ),
        Mistake(
            "no negatives",
            "Your loss is that of the true pairs alone. Vectors that all point the same way would make it 0.",
            " + F.logsigmoid(-noise).sum(dim=1)", "",
        ),
        Mistake(
            "negatives compared with the context",
            "The part of the true pairs is right. In the other part you compare the random words with the context "
            "word; they are there to be told apart from the center's true neighbour.",
            "negatives * center.unsqueeze(1)", "negatives * context.unsqueeze(1)",
        ),
        Mistake(
            "sigmoid without a logarithm",
            "Your loss lies between −(k + 1) and 0: it adds up probabilities. The formula adds up their logarithms.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise)",
            "return -(torch.sigmoid(true) + torch.sigmoid(-noise)",
        ),
        Mistake(
            "logarithm of a sigmoid that has become 0",
            "It is right until a score is large and the belief wrong: then σ, or 1 − σ, is 0 in float32, its logarithm infinite, "
            "and training is over. There is a function that computes both at once.",
            "F.logsigmoid(true)", "torch.sigmoid(true).log()",
            also=(
                """
def sgns_loss(center, context, negatives):
    true, noise = (center * context).sum(1), (negatives * center.unsqueeze(1)).sum(2)
    return -(F.logsigmoid(true) + (1 - torch.sigmoid(noise)).log().sum(1)).mean()
""",
            ),
        ),
        Mistake(
            "an exponential that has become infinite",
            "It is right until a score is large: e^200 is infinite in float32, and ∞/∞ is NaN. There is a function that computes the "
            "logarithm of the sigmoid at once.",
            code="""
def sgns_loss(center, context, negatives):
    true, noise = (center * context).sum(1), (negatives * center.unsqueeze(1)).sum(2)
    belief = torch.exp(true) / (1 + torch.exp(true))
    others = torch.exp(-noise) / (1 + torch.exp(-noise))
    return -(belief.log() + others.log().sum(1)).mean()
""",
            also=(
                """
def sgns_loss(center, context, negatives):
    true, noise = (center * context).sum(1), (negatives * center.unsqueeze(1)).sum(2)
    belief = torch.exp(true) / (1 + torch.exp(true))
    others = 1 - torch.exp(noise) / (1 + torch.exp(noise))
    return -(belief.log() + others.log().sum(1)).mean()
""",
            ),
        ),
        Mistake(
            "an epsilon in the logarithm",
            "Your loss stays finite and is wrong for large scores: a wrong belief costs as much as its score, 200 for a score of −200, "
            "and never more in yours than the logarithm of the small number that you added.",
            code=_with_small_number("+ 1e-10"),
            also=tuple(
                _with_small_number(f"+ {number}")
                for number in ("1e-12", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-20")
            ),
        ),
        Mistake(
            "scores held in bounds",
            "Your loss stays finite and is wrong for large scores: a wrong belief costs as much as its score, 200 for a score of −200. "
            "In yours it costs no more than the bound that you set.",
            code=_within("30"),
            also=tuple(map(_within, ("6", "10", "15", "20", "50", "80", "88", "100"))),
        ),
        Mistake(
            "averaged over the features",
            "Your scores are D times too small. A dot product is a sum over the features.",
            edits={
                "(center * context).sum(dim=1)": "(center * context).mean(dim=1)",
                "(negatives * center.unsqueeze(1)).sum(dim=2)": "(negatives * center.unsqueeze(1)).mean(dim=2)",
            },
        ),
        Mistake(
            "averaged over the true pair and its negatives",
            "Your loss is 1 + k times too small: the average runs over the examples of the batch only; for each of them "
            "the true pair and the k negatives are added up.",
            "F.logsigmoid(-noise).sum(dim=1)).mean()", "F.logsigmoid(-noise).sum(dim=1)).mean() / (1 + noise.shape[1])",
        ),
        Mistake(
            "a softmax over the true word and the negatives",
            "Your beliefs compete: one of the words is the true one, so its gain is the others' loss. Here each pair has a "
            "probability of its own, σ(score), and pays for itself.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()",
            "return F.cross_entropy(torch.cat([true.unsqueeze(1), noise], 1), torch.zeros(len(true), dtype=torch.long))",
        ),
        Mistake(
            "logarithms to base 2",
            "Your loss is larger than expected by the factor 1.4427, 1/ln 2: it is in bits, and the docstring asks for nats.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean() / np.log(2)",
        ),
        Mistake(
            "one minus the logarithm",
            "You take 1 − ln σ(…) for each negative. The probability that a pair is not real is 1 − σ(score), and the "
            "logarithm is taken of that; it equals σ(−score).",
            "F.logsigmoid(-noise).sum(dim=1)", "(1 - F.logsigmoid(noise)).sum(dim=1)",
        ),
        Mistake(
            "the negatives added up before they are scored",
            "Your negatives pay once, all together. Each of them is scored by itself, and the logarithms are added.",
            "F.logsigmoid(-noise).sum(dim=1)", "F.logsigmoid(-noise.sum(dim=1))",
        ),
        Mistake(
            "cosines instead of dot products",
            "Your scores lie between −1 and 1: you brought the vectors to length 1. Here the score is the plain dot product, of any size.",
            edits={
                "(center * context).sum(dim=1)": "F.cosine_similarity(center, context, dim=1)",
                "(negatives * center.unsqueeze(1)).sum(dim=2)": "F.cosine_similarity(negatives, center.unsqueeze(1), dim=2)",
            },
        ),
    ),
    alternatives={
        "binary cross-entropy with labels": """
def sgns_loss(center, context, negatives):
    words = torch.cat([context.unsqueeze(1), negatives], dim=1)
    scores = torch.bmm(words, center.unsqueeze(2)).squeeze(2)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="none").sum(1).mean()
""",
        "softplus and einsum": """
def sgns_loss(center, context, negatives):
    true = torch.einsum("bd,bd->b", center, context)
    noise = torch.einsum("bkd,bd->bk", negatives, center)
    return torch.nn.functional.softplus(-true).mean() + torch.nn.functional.softplus(noise).sum() / len(true)
""",
        "a loop in float64": """
def sgns_loss(center, context, negatives):
    total = 0.0
    for u, v, others in zip(center.double(), context.double(), negatives.double()):
        total = total + torch.log1p(torch.exp(-(u @ v)))
        for n in others:
            total = total + torch.log1p(torch.exp(u @ n))
    return total / len(center)
""",
    },
    hints=(
        "The model plays a game: for each pair of words it says how likely it is that the pair is real. "
        "When should it be punished?",
        "center and context are (B, D): one score for each row, (B,). negatives is (B, k, D): with center as "
        "(B, 1, D) the scores are (B, k).",
        "true = dot(center, context); noise = dot(center, each negative); "
        "loss = −log σ(true) − Σ over negatives of log σ(−noise); mean over the batch.",
        "Near miss: torch.log(torch.sigmoid(score)) is right for small scores and −∞ for a score of −200. "
        "Look for a function of torch whose name is both words in one.",
    ),
)

# ---------------------------------------------------------------- find the bug: CBOW's gradient


def _cbow_cases(draw: Draw) -> Iterator[Case]:
    for batch, contexts, k, size in ((2, 4, 3, 6), (3, 2, 5, 4), (4, 6, 2, 5)):
        yield {"contexts": draw.normal(batch, contexts, size), "target": draw.normal(batch, size),
               "negatives": draw.normal(batch, k, size)}  # fmt: skip


def _cbow(hidden: str, answer: str) -> str:
    return f"""
def cbow_gradient(contexts, target, negatives):
    hidden = {hidden}
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return {answer}
"""


cbow_gradient = Exercise(
    mends=True,
    cases=_cbow_cases,
    rule=Rule(axes={"": "B C D"}),
    mistakes=(
        Mistake(
            "still the gradient of word2vec.c",
            "Every number is too large by the same factor, and the factor is the number of context words. Each of "
            "them enters the average with a small weight: how far does the average move when one of them moves by 1?",
            " / contexts.shape[1]", "",
        ),
        Mistake(
            "the forward pass changed",
            "Now the model is another one: the hidden vector is the average of the context words, as it was. Mend the "
            "gradient, not the model.",
            edits={"contexts.mean(dim=1)": "contexts.sum(dim=1)", " / contexts.shape[1]": ""},
            also=(
                _cbow("contexts.sum(1)", "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]"),
                _cbow("contexts.mean(1) / contexts.shape[1]", "error.unsqueeze(1).expand_as(contexts)"),
                _cbow(
                    "contexts.mean(1) / contexts.shape[1]",
                    "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]",
                ),
            ),
        ),
        Mistake(
            "four context words, whatever their number",
            "It is right for windows of 4 context words. Yours divides by the 4 of the example above: how many are there in `contexts`?",
            " / contexts.shape[1]", " / 4",
        ),
        Mistake(
            "the gradient of the average loss of the batch",
            "Your numbers are too small by the number of examples: `sgns_loss` averages over the batch, and each example "
            "has a loss of its own here.",
            " / contexts.shape[1]", " / contexts.shape[1] / contexts.shape[0]",
        ),
        Mistake(
            "each context word scored by itself",
            "Your context words of one example have different gradients. They meet the target only through their average, so all get the same.",
            code="""
def cbow_gradient(contexts, target, negatives):
    pull = torch.sigmoid(torch.einsum("bcd,bd->bc", contexts, target)) - 1
    push = torch.sigmoid(torch.einsum("bcd,bkd->bck", contexts, negatives))
    error = pull.unsqueeze(2) * target.unsqueeze(1) + push @ negatives
    return error / contexts.shape[1]
""",
            also=(
                """
def cbow_gradient(contexts, target, negatives):
    pull = torch.sigmoid(torch.einsum("bcd,bd->bc", contexts, target)) - 1
    push = torch.sigmoid(torch.einsum("bcd,bkd->bck", contexts, negatives))
    return pull.unsqueeze(2) * target.unsqueeze(1) + push @ negatives
""",
            ),
        ),
        Mistake(
            "one gradient for all context words",
            "You return one row for each example. Each of its C context words has a gradient of its own; they are equal, and each is "
            "a C-th of that of the average.",
            "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]", "error.unsqueeze(1)",
            also=(
                _cbow("contexts.mean(1)", "error"),
                _cbow("contexts.mean(1)", "error / contexts.shape[1]"),
                _cbow("contexts.mean(1)", "error.unsqueeze(1) / contexts.shape[1]"),
            ),
        ),
        Mistake(
            "one of the two terms divided",
            "Only one part of your gradient is divided by the number of context words, either that of the target or that of "
            "the negatives. The chain rule divides the whole.",
            edits={
                "error = pull.unsqueeze(1) * target +": "error = pull.unsqueeze(1) * target / contexts.shape[1] +",
                "(contexts) / contexts.shape[1]": "(contexts)",
            },
            also=(
                """
def cbow_gradient(contexts, target, negatives):
    hidden, C = contexts.mean(dim=1), contexts.shape[1]
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1) / C
    return error.unsqueeze(1).expand_as(contexts)
""",
            ),
        ),
        Mistake(
            "divided by the batch",
            "Your gradient changes with the number of examples B. Each example has a loss of its own here.",
            " / contexts.shape[1]", " / contexts.shape[0]",
        ),
        Mistake(
            "divided by the number of features",
            "Your factor is the length D of a vector. Which average stands between the context words and the loss?",
            " / contexts.shape[1]", " / contexts.shape[2]",
        ),
        Mistake(
            "divided by the number of negatives",
            "Your factor is the number of negatives k. Which average stands between the context words and the loss?",
            " / contexts.shape[1]", " / negatives.shape[1]",
        ),
        Mistake(
            "downhill",
            "Your numbers have the opposite sign: they point downhill, as the step does that word2vec.c adds. The docstring asks for "
            "the gradient, which points uphill.",
            "return error", "return -error",
        ),
        Mistake(
            "multiplied by the number of context words",
            "Your numbers are too large by the square of the number of context words: the factor went the wrong way.",
            " / contexts.shape[1]", " * contexts.shape[1]",
        ),
        Mistake(
            "the first context word took it all",
            "Only one of the context words gets a gradient. Each of them had a part in the average.",
            "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]",
            "torch.cat([error.unsqueeze(1) / contexts.shape[1], torch.zeros_like(contexts[:, 1:])], dim=1)",
        ),
        Mistake(
            "averaged over the negatives",
            "The part of the negatives is k times too small: the loss adds one term for each of them, and so does its gradient.",
            "(push.unsqueeze(2) * negatives).sum(dim=1)", "(push.unsqueeze(2) * negatives).mean(dim=1)",
        ),
        Mistake(
            "the target pushed away like a negative",
            "Your gradient moves the context words away from the target: the derivative of −ln σ(x) is σ(x) − 1, that of −ln σ(−x) is σ(x).",
            "torch.sigmoid((hidden * target).sum(dim=1)) - 1", "torch.sigmoid((hidden * target).sum(dim=1))",
        ),
    ),
    alternatives={
        "autograd does it": """
def cbow_gradient(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    hidden = contexts.mean(1)
    true = (hidden * target).sum(1)
    noise = (negatives * hidden.unsqueeze(1)).sum(2)
    loss = -(torch.nn.functional.logsigmoid(true).sum() + torch.nn.functional.logsigmoid(-noise).sum())
    return torch.autograd.grad(loss, contexts)[0]
""",
        "weights of the average, by einsum": """
def cbow_gradient(contexts, target, negatives):
    weights = torch.full(contexts.shape[:2], 1 / contexts.shape[1])
    words = torch.cat([target.unsqueeze(1), negatives], dim=1)
    labels = torch.zeros(words.shape[:2])
    labels[:, 0] = 1
    hidden = torch.einsum("bc,bcd->bd", weights, contexts)
    wrong = torch.sigmoid(torch.einsum("bkd,bd->bk", words, hidden)) - labels
    return torch.einsum("bc,bk,bkd->bcd", weights, wrong, words)
""",
        "a loop over examples, in float64": """
def cbow_gradient(contexts, target, negatives):
    rows = []
    for c, t, n in zip(contexts.double(), target.double(), negatives.double()):
        h = c.mean(0)
        g = (torch.sigmoid(h @ t) - 1) * t + torch.sigmoid(n @ h) @ n
        rows.append(torch.stack([g / len(c)] * len(c)))
    return torch.stack(rows)
""",
    },
    hints=(
        "Change one context word a little: how much does the hidden vector change? The chain rule needs that number.",
        "contexts is (B, C, D), hidden and error are (B, D). The gradient is (B, C, D): the same row for every context word.",
        "error = ∂loss/∂hidden, as before; ∂hidden/∂context word = 1/C; multiply.",
        "Near miss: dropping the average in the forward pass makes forward and backward agree too, "
        "but it is another model. Only the last line is wrong.",
    ),
)

# ---------------------------------------------------------------- mixture of senses


def _mixture_cases(draw: Draw) -> Iterator[Case]:
    """Senses that resemble each other, and a word whose best weights are known: what they miss is at right angles."""
    for weights, size in (((1.5, -0.75), 7), ((0.5, 1.25, 0.25), 9), ((-1.0, 0.75, 2.0, 1.25, -0.5), 12)):
        senses = len(weights)
        basis = np.linalg.qr(draw.rng.standard_normal((size, size)))[0]
        shared = draw.rng.uniform(0.4, 0.8, (senses, 1)) * basis[senses]
        table = (basis[:senses] + shared) * draw.rng.uniform(0.7, 2.0, (senses, 1))
        best = draw.rng.permutation(weights) * draw.rng.uniform(0.8, 1.2, senses)
        off = draw.rng.uniform(0.5, 0.8) * basis[senses + 1]
        yield {"v": (best @ table + off).astype(np.float32), "senses": table.astype(np.float32)}


def _ridge(strength: str) -> str:
    return f"""
def sense_mixture(v, senses):
    return torch.linalg.solve(senses @ senses.T + {strength} * torch.eye(len(senses)), senses @ v)
"""


sense_mixture = Exercise(
    cases=_mixture_cases,
    rule=Rule("close", 1e-3, axes={"": "S"}),
    mistakes=(
        Mistake(
            "each sense on its own",
            "You compare the word with each sense by itself, so that what the senses have in common is counted once for "
            "each of them. The weights have to be found together.",
            code="""
def sense_mixture(v, senses):
    return senses @ v / senses.square().sum(1)
""",
        ),
        Mistake(
            "cosines instead of weights",
            "Your numbers lie between −1 and 1 and say how similar the word is to each sense. A weight says how much of "
            "that sense it takes to rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.nn.functional.cosine_similarity(senses, v.unsqueeze(0), dim=1)
""",
        ),
        Mistake(
            "dot products instead of weights",
            "Your numbers are the dot products with each sense: long senses and common parts blow them up. "
            "Multiply them back with the senses: do you get the word?",
            code="""
def sense_mixture(v, senses):
    return senses @ v
""",
        ),
        Mistake(
            "forced to sum to one",
            "Your weights sum to exactly 1. Nothing in the question asks for that: best means the smallest distance.",
            code="""
def sense_mixture(v, senses):
    weights = torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1)
    return weights / weights.sum()
""",
            also=(
                """
def sense_mixture(v, senses):
    last = senses[-1]
    weights = torch.linalg.lstsq((senses[:-1] - last).T, (v - last).unsqueeze(1)).solution.squeeze(1)
    return torch.cat([weights, 1 - weights.sum(0, keepdim=True)])
""",
            ),
        ),
        Mistake(
            "a softmax of the similarities",
            "Your weights are all positive and sum to 1: a softmax gave them. Nothing guarantees that they rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.softmax(senses @ v, dim=0)
""",
        ),
        Mistake(
            "the senses were brought to length 1 first",
            "The senses (or the word, too) were brought to length 1 first: multiplied with the senses as they are, your weights rebuild "
            "another word.",
            "    return ", "    senses = torch.nn.functional.normalize(senses, dim=1)\n    return ",
            also=(
                """
def sense_mixture(v, senses):
    senses, v = F.normalize(senses, dim=1), F.normalize(v, dim=0)
    return torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1)
""",
            ),
        ),
        Mistake(
            "the word was brought to length 1 first",
            "Your weights have the right proportions and all the wrong size, by the same factor: the length of v.",
            "    return ", "    v = v / v.norm()\n    return ",
        ),
        Mistake(
            "all senses alike",
            "All your weights are equal. How often does each sense occur in what the word has learned?",
            code="""
def sense_mixture(v, senses):
    return torch.full((len(senses),), 1 / len(senses))
""",
        ),
        Mistake(
            "centred first",
            "You took the mean out of every vector before solving, or, which is the same, you allowed for a constant. "
            "These are weights of other vectors.",
            "    return ", "    v, senses = v - v.mean(), senses - senses.mean(1, keepdim=True)\n    return ",
        ),
        Mistake(
            "negative weights forbidden",
            "None of your weights is negative. Any real number is allowed: a sense may be subtracted where the others brought too much.",
            code="""
def sense_mixture(v, senses):
    return torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1).clamp(min=0)
""",
            also=(
                """
import scipy.optimize

def sense_mixture(v, senses):
    return torch.from_numpy(scipy.optimize.nnls(senses.T.numpy(), v.numpy())[0])
""",
                """
def sense_mixture(v, senses):
    return torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1).abs()
""",
            ),
        ),
        Mistake(
            "weights kept small by a ridge",
            "Your weights are drawn towards 0: something was added to the squares of the senses before solving. Best means "
            "the smallest distance, and nothing else.",
            code=_ridge("1.0"),
            also=tuple(map(_ridge, ("0.5", "0.1", "0.01"))),
        ),
        Mistake(
            "solved for a few coordinates only",
            "You solved S equations and let the other coordinates go. There are D of them, and no weights satisfy all: take the closest.",
            code="""
def sense_mixture(v, senses):
    return torch.linalg.solve(senses[:, : len(senses)].T, v[: len(senses)])
""",
        ),
    ),
    alternatives={
        "normal equations in float64": """
def sense_mixture(v, senses):
    s = senses.double()
    return torch.linalg.solve(s @ s.T, s @ v.double())
""",
        "numpy": """
import numpy as np

def sense_mixture(v, senses):
    weights, *_ = np.linalg.lstsq(senses.numpy().T, v.numpy(), rcond=None)
    return weights
""",
        "the pseudo-inverse": """
def sense_mixture(v, senses):
    return v @ torch.linalg.pinv(senses)
""",
        "gradient descent": """
def sense_mixture(v, senses):
    s, target = senses.double(), v.double()
    step = 1 / torch.linalg.matrix_norm(s, 2) ** 2
    weights = torch.zeros(len(s), dtype=torch.float64)
    for _ in range(20000):
        weights = weights - step * s @ (weights @ s - target)
    return weights
""",
    },
    hints=(
        "You have a few ingredients and a finished mixture. What would you minimise to find out how much of each went in?",
        "v is (D,), senses is (S, D), the answer is (S,). weights @ senses is (D,) and should come as close to v as it can.",
        "solve the least-squares problem senses.T · weights ≈ v: D equations, S unknowns. torch.linalg has it.",
        "Near miss: projecting v on each sense alone is right only for senses at right angles to each other. "
        "And a least-squares solver wants a matrix on the right, (D, 1), and gives one back.",
    ),
)

# ---------------------------------------------------------------- separation


def _separation_cases(draw: Draw) -> Iterator[Case]:
    """Senses of unequal size and tightness, under any number; equal vectors within a sense and across two."""
    for names, counts, size in (
        ((1, 0), (2, 5), 6),
        ((-3, 3, 8), (7, 1, 5), 9),
        ((2, -1, 1000, 7), (4, 8, 3, 6), 10),
    ):
        basis = np.linalg.qr(draw.rng.standard_normal((size, size)))[0]
        which = np.repeat(np.arange(len(names)), counts)
        centres = basis[0] + 1.2 * basis[1 : len(names) + 1]
        spread = np.linspace(0.3, 1.1, len(names))[which]
        h = centres[which] + spread[:, None] * draw.rng.standard_normal((len(which), size)) / size**0.5
        h *= np.exp(draw.rng.uniform(-1, 1, (len(which), 1)))
        h[-2] = h[-1]  # two occurrences with the same vector
        h[0] = h[-3]  # and two with the same vector and different senses
        if size == 10:
            h[1] = 0
        order = draw.rng.permutation(len(which))
        yield {"h": h[order].astype(np.float32), "senses": np.array(names)[which[order]]}


def _by_sense(condition: str) -> str:
    return f"""
def separation(h, senses):
    similarity, means = cosine(h, h), []
    for sense in senses.unique():
        rows = (senses == sense).nonzero().flatten()
        {condition}:
            block = similarity[rows][:, rows]
            means.append((block.sum() - block.diagonal().sum()) / (len(rows) * (len(rows) - 1)))
    return torch.stack(means).mean() - similarity[senses.unsqueeze(0) != senses.unsqueeze(1)].mean()
"""


separation = Exercise(
    cases=_separation_cases,
    uses=("static.cosine",),
    mistakes=(
        Mistake(
            "occurrences compared with themselves",
            "Your value is too high: an occurrence has cosine 1 with itself, and that is not a pair.",
            " & ~itself", "",
        ),
        Mistake(
            "the wrong way round",
            "Your number is right but for its sign: same sense minus different sense, not the reverse.",
            "similarity[same & ~itself].mean() - similarity[~same].mean()",
            "similarity[~same].mean() - similarity[same & ~itself].mean()",
        ),
        Mistake(
            "only the pairs of one sense",
            "You return how similar occurrences of one sense are. Without the pairs of different senses that number has no "
            "control: all occurrences of a word resemble one another.",
            " - similarity[~same].mean()", "",
        ),
        Mistake(
            "compared with all pairs",
            "Your value is too small: the pairs that you subtract also hold those of the same sense.",
            "similarity[~same].mean()", "similarity[~itself].mean()",
            also=(
                """
def separation(h, senses):
    similarity = cosine(h, h)
    same = senses.unsqueeze(0) == senses.unsqueeze(1)
    return similarity[same & ~torch.eye(len(h), dtype=torch.bool)].mean() - similarity.mean()
""",
            ),
        ),
        Mistake(
            "dot products, not cosines",
            "Your value changes with the length of the vectors; the docstring asks for cosines.",
            "similarity = cosine(h, h)", "similarity = h @ h.T",
        ),
        Mistake(
            "sums instead of means",
            "Your value grows with the number of occurrences: these are sums over pairs, not means.",
            "similarity[same & ~itself].mean() - similarity[~same].mean()",
            "similarity[same & ~itself].sum() - similarity[~same].sum()",
            also=(
                """
def separation(h, senses):
    similarity = cosine(h, h).triu(1)
    same = senses.unsqueeze(0) == senses.unsqueeze(1)
    return similarity[same].sum() - similarity[~same].sum()
""",
            ),
        ),
        Mistake(
            "a ratio instead of a difference",
            "A word whose senses cannot be told apart should get 0 from your function; it gets 1.",
            " - similarity[~same].mean()", " / similarity[~same].mean()",
        ),
        Mistake(
            "divided by all pairs",
            "Your means are too small: pairs that were masked out still count in the number you divide by.",
            "similarity[same & ~itself].mean() - similarity[~same].mean()",
            "(similarity * (same & ~itself)).mean() - (similarity * ~same).mean()",
        ),
        Mistake(
            "itself counted as a pair of cosine 0",
            "Your first mean is too small: the diagonal adds nothing to the sum any more, but each occurrence with itself still "
            "counts as a pair when you divide.",
            "similarity[same & ~itself].mean()", "(similarity * ~itself)[same].mean()",
        ),
        Mistake(
            "every sense counts once",
            "You average within each sense first, so that a rare sense weighs as much as a frequent one (and one that occurs only "
            "once has no pair at all). The docstring counts every pair once.",
            code=_by_sense("if len(rows) > 1"),
            also=(_by_sense("if len(rows) > 0"),),
        ),
        Mistake(
            "equal vectors taken for the same occurrence",
            "Two different occurrences may have the same vector, as all have when vectors are static. You leave such pairs out as if "
            "each were an occurrence with itself: compare places, not values.",
            "itself = torch.eye(len(h), dtype=torch.bool)", "itself = similarity > 0.9999",
            also=(
                """
def separation(h, senses):
    similarity = cosine(h, h)
    same = senses.unsqueeze(0) == senses.unsqueeze(1)
    different = similarity < 0.9999
    return similarity[same & different].mean() - similarity[~same & different].mean()
""",
            ),
        ),
        Mistake(
            "senses 0 and 1 only",
            "You are right for two senses with the numbers 0 and 1. A word may have more senses, under any numbers: compare the "
            "numbers of two occurrences with each other.",
            code="""
def separation(h, senses):
    first, second = h[senses == 0], h[senses == 1]
    totals = [(cosine(x, x).sum() - len(x), len(x) * (len(x) - 1)) for x in (first, second)]
    return sum(total for total, _ in totals) / sum(n for _, n in totals) - cosine(first, second).mean()
""",
        ),
        Mistake(
            "senses counted from 0",
            "You run through the numbers from 0 to the largest sense, and pairs with a sense below 0 are left out. A sense may have any "
            "whole number: compare the numbers of two occurrences with each other.",
            code="""
def separation(h, senses):
    similarity = cosine(h, h)
    same, different = [], []
    for s in range(int(senses.max()) + 1):
        own = senses == s
        block = similarity[own][:, own]
        same.append(block[~torch.eye(len(block), dtype=torch.bool)])
        different.append(similarity[own][:, ~own].flatten())
    return torch.cat(same).mean() - torch.cat(different).mean()
""",
            also=(
                """
def separation(h, senses):
    similarity = cosine(h, h)
    same = torch.zeros(len(h), len(h), dtype=torch.bool)
    for s in range(int(senses.max()) + 1):
        same |= (senses == s).unsqueeze(0) & (senses == s).unsqueeze(1)
    itself = torch.eye(len(h), dtype=torch.bool)
    return similarity[same & ~itself].mean() - similarity[~same & ~itself].mean()
""",
                """
def separation(h, senses):
    similarity = cosine(h, h)
    same = []
    for s in range(int(senses.max()) + 1):
        own = senses == s
        block = similarity[own][:, own]
        same.append(block[~torch.eye(len(block), dtype=torch.bool)])
    return torch.cat(same).mean() - similarity[senses.unsqueeze(0) != senses.unsqueeze(1)].mean()
""",
            ),
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "Your value is NaN where one of the vectors is all zeros: its length is 0. Its cosine with every vector is 0, as in your `cosine`.",
            "similarity = cosine(h, h)", "unit = h / h.norm(dim=1, keepdim=True)\n    similarity = unit @ unit.T",
        ),
        Mistake(
            "neighbouring occurrences only",
            "You compare each occurrence with the next one in the list. All pairs count.",
            code="""
def separation(h, senses):
    similarity = cosine(h, h).diagonal(offset=1)
    same = senses[:-1] == senses[1:]
    return torch.nan_to_num(similarity[same].mean()) - torch.nan_to_num(similarity[~same].mean())
""",
        ),
        Mistake(
            "compared the senses' averages",
            "You compare occurrences with the average vector of each sense. The docstring asks for pairs of occurrences.",
            code="""
def separation(h, senses):
    own, other = [], []
    for i in range(len(h)):
        for s in senses.unique():
            value = cosine(h[i : i + 1], h[senses == s].mean(0, keepdim=True))[0, 0]
            (own if s == senses[i] else other).append(value)
    return torch.stack(own).mean() - torch.stack(other).mean()
""",
        ),
        Mistake(
            "distances instead of cosines",
            "Your value compares distances between the vectors, which grow with their lengths, and are small where vectors are alike. The docstring "
            "asks for cosines.",
            "similarity = cosine(h, h)", "similarity = torch.cdist(h, h)",
            also=(
                """
def separation(h, senses):
    similarity = -torch.cdist(h, h)
    same = senses.unsqueeze(0) == senses.unsqueeze(1)
    return similarity[same & ~torch.eye(len(h), dtype=torch.bool)].mean() - similarity[~same].mean()
""",
            ),
        ),
    ),
    alternatives={
        "a loop over pairs": """
def separation(h, senses):
    table = cosine(h, h).tolist()
    same, different = [], []
    for i in range(len(h)):
        for j in range(i):
            (same if senses[i] == senses[j] else different).append(table[i][j])
    return sum(same) / len(same) - sum(different) / len(different)
""",
        "triangle indices in float64": """
def separation(h, senses):
    unit = torch.nn.functional.normalize(h.double(), dim=1)
    i, j = torch.triu_indices(len(h), len(h), offset=1)
    values = (unit[i] * unit[j]).sum(1)
    same = senses[i] == senses[j]
    return values[same].mean() - values[~same].mean()
""",
        "weights instead of masks": """
def separation(h, senses):
    table = cosine(h, h)
    alike = (senses.unsqueeze(0) == senses.unsqueeze(1)).float()
    pairs = alike - torch.eye(len(h))
    return float((table * pairs).sum() / pairs.sum() - (table * (1 - alike)).sum() / (1 - alike).sum())
""",
    },
    hints=(
        "Two sentences with the same sense, two with different senses: what do you hope about the similarity of the "
        "word's vectors in them? Which one number says it?",
        "h is (n, D), senses is (n,). All cosines are (n, n), and so is the mask of pairs with the same sense.",
        "same[i, j] = senses[i] equals senses[j]; mean cosine over same pairs with i ≠ j, minus mean cosine over the others.",
        "Near miss: the mean over cosine(h, h)[same] also counts the diagonal, which is 1 everywhere.",
    ),
)

# ---------------------------------------------------------------- extension: where negatives come from


def _distribution_cases(draw: Draw) -> Iterator[Case]:
    # A power near 0 lifts the smallest number far up: only an exact 0 stays 0.
    for words, power in ((5, 0.75), (9, 0.5), (14, 0.1), (7, 1.0), (6, 1.5)):
        counts = np.ceil(draw.rng.pareto(0.9, words).clip(max=200) * 4 + 1)
        counts[:3] = 1, 0, 30 + draw.integers(0, 20)
        yield {"counts": counts.astype(np.float32), "power": power}


negative_distribution = Exercise(
    cases=_distribution_cases,
    rule=Rule(axes={"": "V"}),
    mistakes=(
        Mistake(
            "not a distribution yet",
            "Your numbers do not sum to 1.",
            "return weights / weights.sum()", "return weights",
        ),
        Mistake(
            "the power was left out",
            "These are the words' frequencies. Does power stand in your answer, and where a factor would not cancel "
            "when you divide by the sum?",
            "counts**power", "counts",
        ),
        Mistake(
            "the sum taken before the power",
            "Your numbers do not sum to 1: you took the power after dividing, or divided by a power of the sum. "
            "Divide by the sum of the powers.",
            edits={
                "weights = counts**power": "weights = counts",
                "return weights / weights.sum()": "return (weights / weights.sum()) ** power",
            },
        ),
        Mistake(
            "always 3/4",
            "It is right when power is 0.75, and the power is an argument.",
            "counts**power", "counts**0.75",
        ),
        Mistake(
            "logarithms of the counts",
            "Your answer does not depend on power, and frequent words come out hardly above rare ones: a logarithm "
            "flattens far more than a power near one.",
            "counts**power", "torch.log1p(counts)",
        ),
        Mistake(
            "one added to every count",
            "A word that never occurs gets drawn in yours.",
            "counts**power", "(counts + 1) ** power",
        ),
        Mistake(
            "a softmax",
            "A softmax takes e to the power of its numbers: unless power is small, nearly all of your probability lies on one word.",
            "weights = counts**power", "weights = torch.exp(counts * power - (counts * power).max())",
            also=(
                """
def negative_distribution(counts, power):
    return torch.softmax(counts**power, dim=0)
""",
            ),
        ),
        Mistake(
            "a softmax of the bare counts",
            "Your answer does not depend on power, and nearly all of your probability lies on the most frequent word: a softmax takes e to the "
            "power of the counts.",
            code="""
def negative_distribution(counts, power):
    return torch.softmax(counts, dim=0)
""",
        ),
        Mistake(
            "divided by the largest",
            "Your most frequent word has probability 1, and the others some more on top of that. What do all numbers add up to?",
            "weights.sum()", "weights.max()",
        ),
        Mistake(
            "base and exponent interchanged",
            "Your frequent words are drawn less often than rare ones where the power is below 1: you raised the power to the counts.",
            "counts**power", "power**counts",
        ),
        Mistake(
            "the most frequent last",
            "Your most frequent words are drawn least often: the sign of the exponent is wrong, or you divided by the raised counts.",
            "counts**power", "counts.clamp(min=1) ** -power",
            also=(
                """
def negative_distribution(counts, power):
    weights = torch.where(counts > 0, counts**-power, 0.0)
    return weights / weights.sum()
""",
            ),
        ),
        Mistake(
            "an epsilon lifted by a small power",
            "A word that never occurs gets drawn in yours when the power is near 0: the small number that you added is not small any more, "
            "once it is raised to such a power.",
            "counts**power", "(counts + 1e-8) ** power",
            also=tuple(
                f"""
def negative_distribution(counts, power):
    weights = (counts + {epsilon}) ** power
    return weights / weights.sum()
"""
                for epsilon in ("1e-12", "1e-10", "1e-9", "1e-6")
            ),
        ),
        Mistake(
            "the power upside down",
            "Where power is below 1, rare words are drawn too seldom in yours and frequent ones too often: you raised to 1/power.",
            "counts**power", "counts ** (1 / power)",
        ),
    ),
    alternatives={
        "numpy in float64": """
def negative_distribution(counts, power):
    raised = counts.double().numpy() ** power
    return raised / raised.sum()
""",
        "a loop": """
def negative_distribution(counts, power):
    raised = [c**power for c in counts.tolist()]
    return torch.tensor([r / sum(raised) for r in raised])
""",
        "L1-normalised": """
def negative_distribution(counts, power):
    return torch.nn.functional.normalize(counts.pow(power), p=1, dim=0)
""",
    },
    hints=(
        "If negatives were drawn as often as the words occur, which words would nearly all of them be?",
        "counts is (V,), power is a number, the answer is (V,) and sums to 1.",
        "raise every count to the power; divide by the sum of the results.",
        "Near miss: dividing first and raising afterwards does not sum to 1.",
    ),
)

# ---------------------------------------------------------------- extension: analogies


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _analogy_cases(draw: Draw) -> Iterator[Case]:
    """Question words far apart; a and c alike (walk, talk), so that b is the nearest; all three alike, and the nearest three."""
    for words, size, k, alike in ((13, 7, 10, ""), (57, 5, 3, "ac"), (33, 9, 6, "abc")):
        question = np.linalg.qr(draw.rng.standard_normal((size, size)))[0][:3]
        if "a" in alike:
            question[0] = question[2] + 0.2 * question[0]
        if "b" in alike:
            question[1] = question[2] + 0.3 * question[1]
        question = _unit(question)
        ranked = _ranked(draw, question[1] - question[0] + question[2], words - 3, 0.7 if alike else 0.97)
        if alike:
            ranked[-1] = 0  # k words are nearer, whatever is done with it
        order = draw.rng.permutation(words)
        vectors = np.concatenate([question * [[4], [0.3], [1.5]], ranked])[np.argsort(order)]
        a, b, c = order[:3].tolist()
        yield {"vectors": vectors.astype(np.float32), "a": a, "b": b, "c": c, "k": k}


analogy = Exercise(
    cases=_analogy_cases,
    uses=("static.cosine",),
    rule=Rule("equal", axes={"": "k"}),
    mistakes=(
        Mistake(
            "question words among the answers",
            "Your answers hold a word of the question. This is what the plain method gives; the docstring leaves them out, "
            "and the notebook shows how much that matters.",
            "    similarity[[a, b, c]] = -torch.inf\n", "",
        ),
        Mistake(
            "only c left out",
            "Your answers hold b: where a and c resemble each other, b − a + c is next to b. All three words of the question are left out.",
            "similarity[[a, b, c]]", "similarity[[c]]",
        ),
        Mistake(
            "the offset backwards",
            "You walk from b to a. The question goes from a to b: what is to c as b is to a?",
            "unit[b] - unit[a] + unit[c]", "unit[a] - unit[b] + unit[c]",
        ),
        Mistake(
            "the vectors were not brought to length 1",
            "Long vectors rule your sum: the docstring asks for vectors of length 1.",
            "F.normalize(vectors, dim=1)", "vectors",
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "A word whose vector is all zeros is among your answers: its length is 0, and 0/0 is NaN, which counts as more than any number "
            "when you choose the largest. Its cosine is 0.",
            "F.normalize(vectors, dim=1)", "vectors / vectors.norm(dim=1, keepdim=True)",
        ),
        Mistake(
            "everything added",
            "Your target is the sum of all three; the word a has to be taken away.",
            "unit[b] - unit[a] + unit[c]", "unit[b] + unit[a] + unit[c]",
        ),
        Mistake(
            "neighbours of the offset alone",
            "You look near b − a, without c: apart from leaving c out, your answers do not depend on it.",
            "unit[b] - unit[a] + unit[c]", "unit[b] - unit[a]",
        ),
        Mistake(
            "neighbours of c alone",
            "You look near c, without the offset: your answers do not depend on a and b.",
            "unit[b] - unit[a] + unit[c]", "unit[c]",
        ),
        Mistake(
            "ranked by distance between the points",
            "The target is longer than 1, so the nearest point is not the one in its direction: the docstring asks for the cosine.",
            "cosine(target.unsqueeze(0), unit).squeeze(0)", "-(vectors - target).norm(dim=1)",
        ),
        Mistake(
            "ranked by the dot product",
            "Your target is right, and the words are ranked by dot products: long vectors come first. The docstring asks for the cosine.",
            "cosine(target.unsqueeze(0), unit).squeeze(0)", "vectors @ target",
        ),
        Mistake(
            "the first three dropped, whoever they are",
            "You drop the three best, on the belief that they are a, b and c. Often a is far from the target: look which rows they are.",
            edits={"    similarity[[a, b, c]] = -torch.inf\n": "", "topk(k).indices": "topk(k + 3).indices[3:]"},
        ),
        Mistake(
            "the question words made neutral, not last",
            "Where k is large, your answers hold words of the question: you gave them a similarity that words pointing the other way do not reach.",
            "= -torch.inf", "= 0",
        ),
        Mistake(
            "c taken off instead of a",
            "Your target is a + b − c. The step from a to b is b − a, and it starts from c.",
            "unit[b] - unit[a] + unit[c]", "unit[a] + unit[b] - unit[c]",
        ),
        Mistake(
            "cut to k before the question words were taken out",
            "Your list is too short where a word of the question is among the best k: take them out first, then cut.",
            code="""
def analogy(vectors, a, b, c, k):
    unit = F.normalize(vectors, dim=1)
    best = cosine((unit[b] - unit[a] + unit[c]).unsqueeze(0), unit)[0].topk(k).indices
    return torch.tensor([row for row in best.tolist() if row not in (a, b, c)], dtype=torch.long)
""",
        ),
    ),
    alternatives={
        "the sum of three cosines": """
def analogy(vectors, a, b, c, k):
    to = cosine(vectors[[a, b, c]], vectors)
    score = to[1] - to[0] + to[2]
    keep = [i for i in score.argsort(descending=True).tolist() if i not in (a, b, c)]
    return torch.tensor(keep[:k])
""",
        "numpy in float64": """
import numpy as np

def analogy(vectors, a, b, c, k):
    v = vectors.numpy().astype(float)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    s = v @ (v[b] - v[a] + v[c])
    s[[a, b, c]] = -np.inf
    return np.argsort(-s)[:k]
""",
    },
    hints=(
        'If the step from "france" to "paris" is the same as the one from "italy" to its capital, how do you get to "rome"?',
        "vectors is (V, D); a, b, c and k are whole numbers; the answer is (k,), best first.",
        "every row to length 1; target = b − a + c; cosine of the target with all rows; "
        "take a, b and c out of the race; the k largest.",
        "Near miss: b − a + c with the vectors as they are is a different target, because long vectors weigh more.",
    ),
)
