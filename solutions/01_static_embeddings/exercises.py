"""The exercises of notebook 01: counting, comparing, learning and analysing word vectors."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ---------------------------------------------------------------- ppmi


def _counts(draw: Draw, words: int, contexts: int, most: int) -> np.ndarray:
    """Counts up to `most`, two pairs that occur far more often, and a word and a context word that never occur.

    Words 0 and 1 each occur often with their own context word and rarely with the context word of
    the other. In every draw, therefore, some pairs occur more often than chance predicts, some less often, and some never.
    """
    counts = draw.integers(0, most + 1, words, contexts)
    counts[:2, 1:3] = (40 * most, 1), (1, 24 * most)
    counts[0, -1] = 0  # a pair that never occurs, although both its words do
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
            "negative values kept",
            "Some of your entries are negative. The first P of PPMI stands for *positive*: the value of a pair that occurs "
            "less often than chance predicts is 0.",
            ".log().clamp(min=0)", ".log()",
        ),
        Mistake(
            "logarithm to base 2",
            "Every positive entry is too large by the same factor, 1.4427. Which base does your logarithm have?",
            ".log()", ".log2()",
        ),
        Mistake(
            "total left out of the expected count",
            "Your table is 0 almost everywhere. Compare one observed count with the value that you expect by chance. Are both "
            "values counts, or is one of them a product of two counts?",
            " / counts.sum()", "",
        ),
        Mistake(
            "count compared with the frequency of the word only",
            "The entries of frequent context words are too large, so a word such as \"the\" appears to be associated with "
            "every word. The count expected by chance depends on the frequencies of both words.",
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
            "count compared with the frequency of the context word only",
            "The rows of frequent words are too large. The count expected by chance depends on the frequencies of "
            "both words.",
            "counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()", "counts.sum(dim=0) / counts.shape[0]",
        ),
        Mistake(
            "logarithm left out",
            "Your entries range from 0 to large values, and the entry of a pair that occurs as often as chance predicts is 1. "
            "PMI is the logarithm of this ratio, so the entry should be 0.",
            ".log().clamp(min=0)", "",
        ),
        Mistake(
            "0/0 for a word that never occurs",
            "Your table contains NaN in the row or column of a word that never occurs. Take the logarithm only for pairs that "
            "have occurred.",
            "torch.where(counts > 0, counts / by_chance, 1.0)", "(counts / by_chance)",
        ),
        Mistake(
            "one added to every count",
            "Pairs that never occurred have positive entries in your table. Adding one to the counts is a different method; "
            "here the value of a pair that never occurred should be 0.",
            "    by_chance = ", "    counts = counts + 1\n    by_chance = ",
        ),
        Mistake(
            "PMI multiplied by the count",
            "The entries of frequent pairs are far too large. PMI measures how surprising a single co-occurrence is; it "
            "should not be multiplied by the number of co-occurrences.",
            ".log().clamp(min=0)", ".log().clamp(min=0) * counts",
        ),
        Mistake(
            "PMI multiplied by the probability of the pair",
            "All your entries are far too small, because each entry is weighted by the probability of its pair. The weighted "
            "value is a term of the mutual information of the whole table. PMI itself has no such weight.",
            ".log().clamp(min=0)", ".log().clamp(min=0) * counts / counts.sum()",
        ),
        Mistake(
            "absolute values instead of the positive part",
            "Pairs that occur less often than chance predicts have positive entries in your table. Their entries should be 0.",
            ".log().clamp(min=0)", ".log().abs()",
        ),
        Mistake(
            "one added inside the logarithm",
            "The entry of a pair that occurs as often as chance predicts is ln 2 in your table. It should be 0.",
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
            "number of cells used as the total",
            "All your non-zero entries are off by the same amount, and some entries became 0. N is the sum of all counts "
            "rather than the number of cells of the table.",
            " / counts.sum()", " / counts.numel()",
        ),
        Mistake(
            "large epsilon added to the counts",
            "Your entries are nearly correct, but they are least accurate for rare pairs: the number that you add to avoid "
            "log(0) has the effect of additional co-occurrences. Treat the pairs that never occurred separately instead.",
            code=_with_epsilon(0.1),
            also=tuple(map(_with_epsilon, (0.5, 0.01, 0.001))),
        ),
        Mistake(
            "division by the square of the total",
            "Every positive entry is too large by ln N. The count expected by chance is row sum × column sum ÷ N. If you "
            "divide by N², you get a probability, and then the observed count has to be divided by N as well.",
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
        "Suppose that the two words were independent. How often would you expect to see them together? Answer in words before "
        "you write any code.",
        "counts is (word, context). The row sums are (word, 1), the column sums (1, context), and the total is a "
        "single number. The counts expected by chance are (word, context) again.",
        "Compute expected = row sum × column sum ÷ total, and ratio = count ÷ expected. Take the logarithm where the "
        "count is above 0. Put 0 everywhere else, and wherever the logarithm is negative.",
        "Almost right: log(count / expected) with negative values replaced by 0. This fails only for a word that never occurs, "
        "because it computes 0/0. Handle those entries before you take the logarithm.",
    ),
)

# ---------------------------------------------------------------- cosine


def _cosine_cases(draw: Draw) -> Iterator[Case]:
    for n, m, size in ((3, 5, 4), (6, 2, 7), (4, 9, 3)):
        a, b = draw.normal(n, size) + 0.4, 3 * draw.normal(m, size) - 0.5
        a[0] *= 2 / np.linalg.norm(a[0])
        b[0] = 0.3 * b[0] - 3 * a[0]  # nearly opposite, with another length; at −1 itself rounding decides the angle
        b[1] = 0  # a word without a vector
        a[2] *= 0.05 / np.linalg.norm(a[2])  # a short vector: only length 0 may be treated differently
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
            "dot products instead of cosines",
            "Some of your values lie outside the range from −1 to 1, because long vectors still have larger values than short "
            "ones. Divide by the lengths of both vectors.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "a @ b.T",
        ),
        Mistake(
            "only the first set scaled to length 1",
            "In some columns your values lie outside the range from −1 to 1. These columns belong to long vectors of b, which "
            "you did not scale.",
            "F.normalize(b, dim=1)", "b",
        ),
        Mistake(
            "only the second set scaled to length 1",
            "In some rows your values lie outside the range from −1 to 1. These rows belong to long vectors of a, which you "
            "did not scale.",
            "F.normalize(a, dim=1)", "a",
        ),
        Mistake(
            "vectors scaled along the wrong axis",
            "The cosine of a vector with itself should be 1, but your function returns another value. You scaled each feature "
            "over all words instead of scaling the vector of each word.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "F.normalize(a, dim=0) @ F.normalize(b, dim=0).T",
        ),
        Mistake(
            "distance instead of similarity",
            "Your function returns 0 for two vectors with the same direction and 2 for two vectors with opposite directions. "
            "The cosines of these pairs are 1 and −1.",
            "return ", "return 1 - ",
        ),
        Mistake(
            "division by the squared lengths",
            "Your values are too small for long vectors and too large for short ones. Is the length of a vector the sum of "
            "its squared coordinates, or is another step needed?",
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
            "vectors centred first, as in a correlation",
            "Your values are Pearson correlations, because you subtracted the mean of each vector first. The cosine uses the "
            "vectors without this step.",
            "    return ", "    a, b = a - a.mean(1, keepdim=True), b - b.mean(1, keepdim=True)\n    return ",
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "One of your rows or columns is NaN. It belongs to a vector of zeros, whose length is 0. The docstring defines "
            "the cosine in this case.",
            code="""
def cosine(a, b):
    return (a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :])
""",
        ),
        Mistake(
            "cosine 1 for a vector of zeros",
            "In your table the cosine of a vector of zeros with every vector is 1. A vector of zeros has no direction; the "
            "docstring defines its cosine.",
            code="""
def cosine(a, b):
    return torch.nan_to_num((a @ b.T) / (a.norm(dim=1)[:, None] * b.norm(dim=1)[None, :]), nan=1.0)
""",
        ),
        Mistake(
            "absolute values of the cosines",
            "None of your values is negative. The cosine of two vectors with opposite directions is −1.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).abs()",
        ),
        Mistake(
            "negative cosines replaced by 0",
            "Your function returns 0 for vectors that point in opposite directions. PPMI replaces negative values by 0, but a "
            "cosine can be as low as −1.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).clamp(min=0)",
        ),
        Mistake(
            "angles instead of cosines",
            "Your function returns 0 for two vectors with the same direction and π for two vectors with opposite directions. "
            "These values are angles; the exercise requires their cosines.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T",
            "(F.normalize(a, dim=1) @ F.normalize(b, dim=1).T).clamp(-1, 1).acos()",
        ),
        Mistake(
            "epsilon too large for short vectors",
            "Your values are too small for short vectors. The number that you add to a length, or the minimum that you set "
            "for it, is not small compared with these lengths. Treat length 0 separately, or use a number as small as 1e-12.",
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
            "Your values have the correct signs but are too small, because you divided by the norm of the whole matrix. "
            "Divide each row by its own length.",
            "F.normalize(a, dim=1) @ F.normalize(b, dim=1).T", "(a / a.norm()) @ (b / b.norm()).T",
        ),
        Mistake(
            "lengths as sums of absolute values",
            "The cosine of a vector with itself should be 1, but your function returns a smaller value. The length of a vector is the "
            "square root of the sum of its squared coordinates.",
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
    survivors={
        "→ `return F.normalize(a) @": "the axis is the default",
        "@ F.normalize(b).T`": "the axis is the default",
    },
    hints=(
        "Picture two vectors as arrows. Which of their properties should not affect whether they point in the same direction?",
        "a is (n, D) and b is (m, D). The answer is (n, m), one value per pair: the axis D has been summed over.",
        "Divide each row of a by its length, and each row of b by its length. One matrix product then gives all "
        "cosines.",
        "Almost right: a @ b.T divided by the product of the lengths, with shapes (n, 1) and (1, m). This fails only for a vector of "
        "zeros, because it divides by 0.",
    ),
)

# ---------------------------------------------------------------- nearest


def _at_cosines(draw: Draw, towards: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Rows of length 1, each with a given cosine with `towards`."""
    unit = towards / np.linalg.norm(towards)
    across = draw.rng.standard_normal((len(cosines), len(unit)))
    across -= np.outer(across @ unit, unit)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return cosines[:, None] * unit + np.sqrt(1 - cosines[:, None] ** 2) * across


def _spread(draw: Draw, count: int, low: float, high: float) -> np.ndarray:
    """Values from high to low, never so close together that rounding determines which value is larger."""
    places = np.arange(count) + draw.rng.uniform(0.3, 0.7, count)
    return high - (high - low) * places / count


def _ranked(draw: Draw, towards: np.ndarray, count: int, high: float) -> np.ndarray:
    """Rows from the most similar to `towards` to the least; their lengths differ by a factor of fifty.

    The most similar row is short, the second is long, and the third is about as long as
    `towards`, so that dot products and
    distances give a different ranking.
    """
    lengths = np.exp(draw.rng.uniform(-2, 2, (count, 1)))
    lengths[:3, 0] = 0.15, 6.0, 1.1
    return _at_cosines(draw, towards, _spread(draw, count, -0.97, high)) * lengths


def _nearest_cases(draw: Draw) -> Iterator[Case]:
    yield from _among_many(draw)
    yield from _beside_an_equal_row(draw)


def _beside_an_equal_row(draw: Draw) -> Iterator[Case]:
    """Another row equals the query, before or after it. In some cases another row is all zeros; no other cosine is near 0,
    the cosine of this row.

    The query has length 2, and its coordinates are ±½ once it is scaled to length 1, so that the cosine of the equal
    rows is exactly 1. The other rows determine which of the two equal rows a sort puts first;
    their order is the same in every draw.
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
    # k may also be 1 or the number of all other words.
    for words, size, k, query in ((30, 6, 5, 11), (41, 9, 7, 0), (10, 4, 9, 3), (23, 7, 1, 8)):
        asked = draw.rng.standard_normal(size)
        asked /= np.linalg.norm(asked)
        ranked = _ranked(draw, asked, words - 1, 0.97)
        if query == 0:  # another word with nearly the same direction is a neighbour like any other
            ranked[:1] = 0.15 * _at_cosines(draw, asked, np.array([0.999995]))
        # The best row comes last, which exposes answers that number rows without the query or keep the table's order.
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
            "the query itself among the neighbours",
            "Your list contains the query. Every word is its own nearest neighbour, so this entry carries no "
            "information.",
            "    similarity[query] = -torch.inf\n", "",
        ),
        Mistake(
            "first entry of the list dropped instead of the query",
            "If another word has the same vector as the query, your function may drop this word and keep the query, because "
            "the first word of the ranking need not be the query. Exclude the query by its row number.",
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
            "A word whose vector is all zeros has the wrong rank in your list. Its length is 0, so you compute 0/0 = NaN, "
            "which cannot be ranked. Its cosine should be 0.",
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
            "the query dropped after the list was cut to k",
            "Your list is one word too short, because you selected k words before you removed the query.",
            edits={"    similarity[query] = -torch.inf\n": "", "topk(k).indices": "topk(k).indices[1:]"},
        ),
        Mistake(
            "similarity 0 for the query instead of −∞",
            "For large k your list contains the query. You set its similarity to 0, but words that point in the opposite "
            "direction have a negative similarity and therefore rank below the query.",
            "= -torch.inf", "= 0",
        ),
        Mistake(
            "words with nearly the same direction excluded",
            "You exclude every word whose cosine with the query is close to 1. However, another word can have nearly the same "
            "direction and is then the nearest neighbour. Exclude only the row `query`.",
            code=_below("0.9999"),
            also=tuple(map(_below, ("0.999", "0.99999", "0.99"))),
        ),
        Mistake(
            "words with the same vector excluded",
            "You exclude every word with the same vector as the query, although such a word is the nearest neighbour. Exclude "
            "only the row `query`.",
            "similarity[query]", "similarity[(vectors == vectors[query]).all(dim=1)]",
        ),
        Mistake(
            "row numbers counted without the query",
            "Your row numbers are correct up to the query and one too small after it, because you removed the query's row "
            "before you numbered the rows.",
            code="""
def nearest(vectors, query, k):
    others = torch.cat([vectors[:query], vectors[query + 1 :]])
    return cosine(vectors[[query]], others)[0].topk(k).indices
""",
        ),
        Mistake(
            "ranking by dot product",
            "Your list prefers words with long vectors, even if these point in another direction. The docstring requires the "
            "cosine, which ignores length.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "vectors @ vectors[query]",
        ),
        Mistake(
            "farthest words instead of nearest",
            "Your list contains the words that are least similar to the query.",
            edits={
                "similarity[query] = -torch.inf": "similarity[query] = torch.inf",
                "topk(k)": "topk(k, largest=False)",
            },
        ),
        Mistake(
            "ranking by Euclidean distance",
            "Your list prefers words whose vectors are about as long as the query's vector. The docstring requires the "
            "cosine, which ignores length.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "-(vectors - vectors[query]).norm(dim=1)",
        ),
        Mistake(
            "neighbours in the order of the vocabulary",
            "Your list contains the correct words in the wrong order. The most similar word should come first.",
            "topk(k).indices", "topk(k).indices.sort().values",
        ),
        Mistake(
            "similarities instead of row numbers",
            "Your function returns the similarities of the neighbours. The docstring requires their row numbers.",
            ".indices", ".values",
        ),
        Mistake(
            "absolute cosines",
            "Some of the neighbours that you return point away from the query: their cosine is near −1 rather than near 1.",
            "cosine(vectors[[query]], vectors).squeeze(0)", "cosine(vectors[[query]], vectors).squeeze(0).abs()",
        ),
        Mistake(
            "ranking reversed",
            "Your list contains the correct words in reverse order. The most similar word should come first.",
            "topk(k).indices", "topk(k).indices.flip(0)",
        ),
        Mistake(
            "vectors scaled along the wrong axis",
            "You scaled each coordinate over all words instead of scaling each word's vector. Long vectors therefore still have "
            "larger similarities.",
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
        "Is any word more similar to the query than the query itself? Do you want the query in the list?",
        "vectors is (V, D); query and k are integers. The answer is (k,): row numbers, most similar first. Your "
        "cosine takes two matrices: how do you get the query's row with shape (1, D)?",
        "Compute the similarity of the query's row to all rows. Set the similarity of the query itself to −∞. Take the k "
        "largest values in order, and return their positions instead of the values.",
        "Almost right: taking the k + 1 nearest words and dropping the first. This fails if another word has the same vector "
        "as the query, because either of them may come first. Exclude the query by its row number before you select.",
    ),
)

# ---------------------------------------------------------------- cosines and people's ratings


def _mean_ranks(x: np.ndarray) -> np.ndarray:
    return (x[:, None] > x).sum(axis=1) + (x[:, None] == x).sum(axis=1) / 2


def _rated_cases(draw: Draw) -> Iterator[Case]:
    """Pairs of words with cosines that are far apart, and ratings with ties that partly agree with them.

    Some words have no vector: the first of a pair, the second, or both. Row 0 belongs to a pair, and the last row, which −1 would
    select, to none. Ratings rise with their level, but not in proportion. In the last case, high ratings go with low cosines.
    """
    for n, size, missing, sign in (
        (9, 4, ((2, 0), (5, 1)), 1),
        (13, 3, ((1, 1), (6, 0), (7, 0), (7, 1)), 1),
        (15, 5, ((4, 0), (8, 1)), -1),
    ):
        angles = np.linspace(0.25, 2.9, n) + draw.uniform(n, high=0.08)
        one = draw.normal(n, size)
        one /= np.linalg.norm(one, axis=1, keepdims=True)
        other = draw.normal(n, size)
        other -= (other * one).sum(axis=1, keepdims=True) * one
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        both = np.stack([one, np.cos(angles)[:, None] * one + np.sin(angles)[:, None] * other], axis=1)
        lengths = np.exp(draw.uniform(n, 2, 1, low=-1.2, high=1.2))

        known = np.ones(n, dtype=bool)
        known[[pair for pair, _ in missing]] = False
        levels = np.arange(n)[::-1] // 2
        agreement, shuffled = 1.0, levels
        while not 0.4 < agreement < 0.9:
            shuffled = levels.copy()
            for _ in range(3):
                a, b = draw.rng.choice(n, 2, replace=False)
                shuffled[[a, b]] = shuffled[[b, a]]
            agreement = np.corrcoef(_mean_ranks(-angles[known]), _mean_ranks(shuffled[known]))[0, 1]
        ratings = 0.1 + (shuffled + 1.0) ** 2 / 6

        rows = 1 + draw.rng.permutation(2 * n).reshape(n, 2)
        rows[rows == rows[0, 0]], rows[0, 0] = rows[0, 0], 0  # the first pair is complete
        vectors = draw.normal(2 * n + 2, size)
        vectors[rows] = both * lengths
        pairs = rows.copy()
        for place in missing:
            pairs[place] = -1
        order = draw.rng.permutation(n)
        yield {"vectors": vectors.astype(np.float32), "pairs": pairs[order].astype(np.int64),
               "ratings": (ratings if sign > 0 else ratings.max() + 0.3 - ratings)[order].astype(np.float32)}  # fmt: skip


_RHO = "spearmanr(similarity, ratings[known]).statistic"
_COSINES = "F.cosine_similarity(first, second, dim=1)"


def _with_ranks(method: str) -> str:
    return f"""
from scipy.stats import rankdata
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    similarity = F.cosine_similarity(first, second, dim=1)
    ranks = [rankdata(x, method="{method}") for x in (similarity, ratings[known])]
    return np.corrcoef(ranks)[0, 1]
"""


word_similarity = Exercise(
    cases=_rated_cases,
    mistakes=(
        Mistake(
            "correlation of the values instead of the ranks",
            "You compute Pearson's correlation of the values themselves. This correlation changes when all high ratings are raised, although the "
            "order of the pairs stays the same. Spearman's correlation uses the ranks.",
            _RHO, "torch.corrcoef(torch.stack([similarity, ratings[known]]))[0, 1]",
        ),
        Mistake(
            "−1 used as a row number",
            "You include the pairs in which a word has no vector. In Python the row number −1 selects the last row, so these "
            "pairs get the cosine with an unrelated word. Leave them out.",
            "(pairs >= 0).all(dim=1)", "torch.ones(len(pairs), dtype=torch.bool)",
        ),
        Mistake(
            "cosine 0 for pairs without a vector",
            "You give the pairs with a missing word the cosine 0 and include them. A missing word provides no information about the quality "
            "of the vectors. Leave these pairs out.",
            code="""
def word_similarity(vectors, pairs, ratings):
    first, second = vectors[pairs].unbind(dim=1)
    similarity = F.cosine_similarity(first, second, dim=1)
    similarity[(pairs < 0).any(dim=1)] = 0
    return spearmanr(similarity, ratings).statistic
""",
        ),
        Mistake(
            "only pairs with two missing words left out",
            "You leave out a pair only if neither of its words has a vector. A single missing word is enough: the cosine "
            "needs two vectors.",
            ".all(dim=1)", ".any(dim=1)",
        ),
        Mistake(
            "row 0 treated as missing",
            "You leave out a pair that contains row 0. This row belongs to a word like any other; only −1 marks a missing word.",
            "pairs >= 0", "pairs > 0",
        ),
        Mistake(
            "only the first words tested for −1",
            "You leave out the pairs whose first word has no vector, but not those whose second word has none.",
            "(pairs >= 0).all(dim=1)", "pairs[:, 0] >= 0",
        ),
        Mistake(
            "only the second words tested for −1",
            "You leave out the pairs whose second word has no vector, but not those whose first word has none.",
            "(pairs >= 0).all(dim=1)", "pairs[:, 1] >= 0",
        ),
        Mistake(
            "ranks computed before pairs were left out",
            "You compute the ranks of all ratings and then leave out pairs, so the remaining ranks have gaps. Leave out the pairs "
            "first.",
            code="""
from scipy.stats import rankdata
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    ranks = torch.from_numpy(rankdata(ratings))[known]
    return np.corrcoef(rankdata(F.cosine_similarity(first, second, dim=1)), ranks)[0, 1]
""",
        ),
        Mistake(
            "dot products instead of cosines",
            "You rank the pairs by the dot products of their vectors, which are larger for long vectors. Compare the cosines "
            "with the ratings.",
            _COSINES, "(first * second).sum(dim=1)",
        ),
        Mistake(
            "distances instead of cosines",
            "You compare the ratings with the Euclidean distances between the vectors. Distances depend on the lengths of the "
            "vectors, and they are large where cosines are small.",
            _COSINES, "(first - second).norm(dim=1)",
            also=("""
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    return spearmanr(-(first - second).norm(dim=1), ratings[known]).statistic
""",),
        ),
        Mistake(
            "ranking by cosine reversed",
            "Your correlation has the correct size but the wrong sign. A pair with a high rating should have a high cosine: "
            "the cosine is a similarity, not a distance.",
            _COSINES, "1 - F.cosine_similarity(first, second, dim=1)",
        ),
        Mistake(
            "argsort applied twice",
            "Your answer would be correct if all ratings were different. argsort gives equal ratings different ranks, which depend "
            "on their order in the list. Equal values share the mean of their ranks.",
            _RHO, "torch.corrcoef(torch.stack([x.argsort().argsort().float() for x in (similarity, ratings[known])]))[0, 1]",
            also=(_with_ranks("ordinal"),),
        ),
        Mistake(
            "argsort used as ranks",
            "argsort returns, for each position of the sorted list, the index of the value at this position. A rank is the inverse: "
            "the position of each value in the sorted list.",
            _RHO, "torch.corrcoef(torch.stack([x.argsort().float() for x in (similarity, ratings[known])]))[0, 1]",
        ),
        Mistake(
            "smallest rank for equal values",
            "Equal ratings have equal ranks in your answer, but these ranks are too small: each rating should have the mean of "
            "the ranks that the equal ratings occupy together.",
            code=_with_ranks("min"),
        ),
        Mistake(
            "largest rank for equal values",
            "Equal ratings have equal ranks in your answer, but these ranks are too large: each rating should have the mean of "
            "the ranks that the equal ratings occupy together.",
            code=_with_ranks("max"),
        ),
        Mistake(
            "equal values counted as one",
            "After a group of equal ratings, your next rank is only one higher. Three equal ratings occupy three ranks.",
            code=_with_ranks("dense"),
        ),
        Mistake(
            "short formula despite ties",
            "The formula 1 − 6Σd²/(n(n²−1)) holds only if no two values are equal. With equal ratings, compute the correlation of "
            "the ranks.",
            code="""
from scipy.stats import rankdata
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    d = rankdata(F.cosine_similarity(first, second, dim=1)) - rankdata(ratings[known])
    n = len(d)
    return 1 - 6 * (d**2).sum() / (n * (n**2 - 1))
""",
        ),
        Mistake(
            "Kendall's correlation",
            "You compute Kendall's correlation, which counts the pairs of values in the same order. Compute the correlation of the "
            "ranks.",
            code="""
from scipy.stats import kendalltau
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    return kendalltau(F.cosine_similarity(first, second, dim=1), ratings[known]).statistic
""",
        ),
        Mistake(
            "result with the p-value instead of the correlation",
            "You return both parts of the result, the correlation and the p-value. Return only the correlation, which is its attribute "
            "`statistic`.",
            code="""
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    return spearmanr(F.cosine_similarity(first, second, dim=1), ratings[known])
""",
        ),
        Mistake(
            "p-value instead of the correlation",
            "You return the p-value, the second part of the result. The correlation is its attribute `statistic`.",
            ".statistic", ".pvalue",
        ),
        Mistake(
            "absolute value of the correlation",
            "Your correlation is positive even where pairs with high ratings have low cosines. Such vectors contradict "
            "the people's ratings, so the correlation should be negative.",
            _RHO, "abs(spearmanr(similarity, ratings[known]).statistic)",
        ),
        Mistake(
            "square of the correlation",
            "You return the square of the correlation, which has no sign. The docstring requires the correlation itself.",
            _RHO, "spearmanr(similarity, ratings[known]).statistic ** 2",
        ),
        Mistake(
            "vectors scaled along the wrong axis",
            "You scale each coordinate over all words, and long vectors still have larger similarities. Scale the vector of each "
            "word, or use the cosine.",
            edits={
                "first, second = vectors[": "first, second = F.normalize(vectors, dim=0)[",
                _COSINES: "(first * second).sum(dim=1)",
            },
            also=("""
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    similarity = (F.normalize(first, dim=0) * F.normalize(second, dim=0)).sum(dim=1)
    return spearmanr(similarity, ratings[known]).statistic
""",),
        ),
    ),
    alternatives={
        "ranks by comparisons, without scipy": """
def word_similarity(vectors, pairs, ratings):
    known = (pairs[:, 0] != -1) & (pairs[:, 1] != -1)
    a, b = pairs[known].T
    similarity = (F.normalize(vectors[a], dim=1) * F.normalize(vectors[b], dim=1)).sum(1)
    ranks = [(x[:, None] > x).sum(1) + (x[:, None] == x).sum(1) / 2 for x in (similarity, ratings[known])]
    return torch.corrcoef(torch.stack(ranks))[0, 1]
""",
        "the diagonal of the student's own cosine, and mean ranks of pandas": """
import pandas as pd
def word_similarity(vectors, pairs, ratings):
    known = pairs.min(dim=1).values >= 0
    similarity = cosine(vectors[pairs[known, 0]], vectors[pairs[known, 1]]).diagonal()
    table = pd.DataFrame({"cosine": similarity.numpy(), "rating": ratings[known].numpy()})
    return table.corr(method="spearman").iloc[0, 1]
""",
        "a loop over the pairs": """
def word_similarity(vectors, pairs, ratings):
    cosines, kept = [], []
    for (a, b), rating in zip(pairs.tolist(), ratings.tolist()):
        if a < 0 or b < 0:
            continue
        cosines.append((vectors[a] @ vectors[b] / (vectors[a].norm() * vectors[b].norm())).item())
        kept.append(rating)
    return spearmanr(cosines, kept)[0]
""",
        "mean ranks of scipy, and a tensor": """
from scipy.stats import rankdata
def word_similarity(vectors, pairs, ratings):
    known = (pairs >= 0).all(dim=1)
    similarity = torch.cosine_similarity(*vectors[pairs[known]].unbind(1))
    ranks = torch.tensor(np.stack([rankdata(similarity), rankdata(ratings[known])]))
    return torch.corrcoef(ranks)[0, 1]
""",
    },
    hints=(
        "Which pairs have a cosine at all? Which row would `vectors[-1]` select?",
        "pairs is (n, 2) and ratings is (n,). A mask of shape (n,) selects the m pairs with two vectors. The two words of these pairs "
        "then have vectors of shape (m, D) each, so there are m cosines for m ratings.",
        "Build a mask that is True where both row numbers are at least 0. Take the cosine of each remaining pair, and the remaining "
        "ratings. Pass both to spearmanr and return its statistic.",
        "Almost right: replacing missing vectors by zeros. This gives a missing pair the cosine 0, and the pair then takes part in the "
        "ranking. Apply the mask to the pairs and to the ratings before you compute any ranks.",
    ),
    uses=("cosine",),
    survivors={"F.cosine_similarity(first, second)": "The default axis of cosine_similarity is 1."},
)

# ---------------------------------------------------------------- skip-gram with negative sampling


def _sgns_cases(draw: Draw) -> Iterator[Case]:
    for batch, k, size in ((2, 3, 5), (5, 2, 4), (3, 7, 6)):
        yield {"center": draw.normal(batch, size) + 0.2, "context": draw.normal(batch, size) - 0.1,
               "negatives": draw.normal(batch, k, size) + 0.1}  # fmt: skip
    # Scores of ±198: for wrong predictions σ is 0 in float32; for correct predictions the exponential is infinite.
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
            "negatives attracted instead of repelled",
            "Your loss decreases when the center is similar to its negatives, so you treat the negatives as true neighbours. "
            "Which probability should be large for a word that was drawn at random?",
            "F.logsigmoid(-noise)", "F.logsigmoid(noise)",
        ),
        Mistake(
            "true pair repelled",
            "Your loss increases when center and context are similar, although these two words did occur together. Check the "
            "sign of their score.",
            "F.logsigmoid(true)", "F.logsigmoid(-true)",
        ),
        Mistake(
            "sign of the loss reversed",
            "Your loss is negative, because it is the log-likelihood. Training minimises the loss, and minimising the "
            "log-likelihood would make the model worse.",
            "return -(", "return (",
        ),
        Mistake(
            "mean over the negatives",
            "The term for the negatives is too small by a factor of k. The formula uses the sum over the negatives instead of "
            "their mean.",
            "F.logsigmoid(-noise).sum(dim=1)", "F.logsigmoid(-noise).mean(dim=1)",
        ),
        Mistake(
            "sum over the batch",
            "Your loss is too large by a factor of B. You take the sum over the batch, but the docstring requires the mean.",
            ".sum(dim=1)).mean()", ".sum(dim=1)).sum()",
        ),
        Mistake(
            "only the first negative used",
            "Your loss includes only the first negative of each pair. Take the sum over all k negatives.",
            "-noise).sum(dim=1)", "-noise[:, 0])",
        ),
        Mistake(
            "negatives left out",
            "Your loss contains only the true pairs. Without negatives, the loss would become 0 if all vectors pointed in the "
            "same direction and were long enough.",
            " + F.logsigmoid(-noise).sum(dim=1)", "",
        ),
        Mistake(
            "negatives compared with the context word",
            "The term for the true pairs is correct. In the other term you score the random words against the context word; "
            "score them against the center instead.",
            "negatives * center.unsqueeze(1)", "negatives * context.unsqueeze(1)",
        ),
        Mistake(
            "logarithm left out",
            "Your loss lies between −(k + 1) and 0, because you add probabilities. The formula adds their logarithms.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise)",
            "return -(torch.sigmoid(true) + torch.sigmoid(-noise)",
        ),
        Mistake(
            "logarithm of a sigmoid that underflows",
            "Your loss is correct unless a score is large and the prediction is wrong. In this case σ or 1 − σ is 0 in "
            "float32 and its logarithm is infinite, so training breaks down. PyTorch has a function that computes the "
            "logarithm of the sigmoid in one step.",
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
            "exponential that overflows",
            "Your loss is correct unless a score is large: e^200 is infinite in float32, and ∞/∞ is NaN. PyTorch has a "
            "function that computes the logarithm of the sigmoid in one step.",
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
            "epsilon inside the logarithm",
            "Your loss stays finite but is wrong for large scores. The loss of a wrong prediction with a score of −200 is "
            "200, but your loss cannot exceed the negative logarithm of the small number that you added.",
            code=_with_small_number("+ 1e-10"),
            also=tuple(
                _with_small_number(f"+ {number}")
                for number in ("1e-12", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-20")
            ),
        ),
        Mistake(
            "scores clipped",
            "Your loss stays finite but is wrong for large scores. The loss of a wrong prediction with a score of −200 is "
            "200, but your loss cannot exceed the bound at which you clip the scores.",
            code=_within("30"),
            also=tuple(map(_within, ("6", "10", "15", "20", "50", "80", "88", "100"))),
        ),
        Mistake(
            "mean over the features",
            "Your scores are too small by a factor of D. A dot product is the sum over the features rather than their mean.",
            edits={
                "(center * context).sum(dim=1)": "(center * context).mean(dim=1)",
                "(negatives * center.unsqueeze(1)).sum(dim=2)": "(negatives * center.unsqueeze(1)).mean(dim=2)",
            },
        ),
        Mistake(
            "mean over the true pair and its negatives",
            "Your loss is too small by a factor of 1 + k. Within each example, add the terms of the true pair and of the k "
            "negatives; take the mean only over the batch.",
            "F.logsigmoid(-noise).sum(dim=1)).mean()", "F.logsigmoid(-noise).sum(dim=1)).mean() / (1 + noise.shape[1])",
        ),
        Mistake(
            "softmax over the true word and the negatives",
            "In your loss the words compete for probability. Here each pair has its own probability, σ(score), and "
            "contributes its own term to the loss.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()",
            "return F.cross_entropy(torch.cat([true.unsqueeze(1), noise], 1), torch.zeros(len(true), dtype=torch.long))",
        ),
        Mistake(
            "logarithms to base 2",
            "Your loss is too large by a factor of 1.4427, which is 1/ln 2, because it is in bits. The docstring requires "
            "nats.",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()",
            "return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean() / np.log(2)",
        ),
        Mistake(
            "1 − ln σ instead of ln(1 − σ)",
            "For each negative you compute 1 − ln σ(…). The probability that a pair is not real is 1 − σ(score), and the loss "
            "requires the logarithm of this probability. Note that 1 − σ(score) equals σ(−score).",
            "F.logsigmoid(-noise).sum(dim=1)", "(1 - F.logsigmoid(noise)).sum(dim=1)",
        ),
        Mistake(
            "negatives added before they are scored",
            "You add the scores of the negatives and take one logarithm. Take the logarithm for each negative first, then add "
            "the results.",
            "F.logsigmoid(-noise).sum(dim=1)", "F.logsigmoid(-noise.sum(dim=1))",
        ),
        Mistake(
            "cosines instead of dot products",
            "Your scores lie between −1 and 1, because you scaled the vectors to length 1. Here the score is the plain dot "
            "product, which can have any value.",
            edits={
                "(center * context).sum(dim=1)": "F.cosine_similarity(center, context, dim=1)",
                "(negatives * center.unsqueeze(1)).sum(dim=2)": "F.cosine_similarity(negatives, center.unsqueeze(1), dim=2)",
            },
        ),
        detached("sgns_loss"),
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
        "For each pair of words, the model predicts the probability that the pair is real. When should its loss be "
        "large?",
        "center and context are (B, D), which gives one score per example, (B,). negatives is (B, k, D); with center "
        "as (B, 1, D) their scores are (B, k).",
        "Compute true = dot(center, context) and noise = dot(center, each negative). The loss is −log σ(true) − Σ "
        "log σ(−noise), summed over the negatives and averaged over the batch.",
        "Almost right: torch.log(torch.sigmoid(score)). This is correct for small scores but gives −∞ for a score of −200. "
        "Look for a PyTorch function whose name combines the two words.",
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
            "gradient of word2vec.c unchanged",
            "All your values are too large by the same factor, the number of context words. How far does the average of the "
            "context vectors move when one of these vectors moves by 1?",
            " / contexts.shape[1]", "",
        ),
        Mistake(
            "forward pass changed",
            "Your function now computes the gradient of a different model. The hidden vector should still be the average of "
            "the context words; correct the gradient instead of the model.",
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
            "window size fixed at four",
            "Your function is correct for windows of 4 context words, as in the example above. Read the number of context "
            "words from `contexts`.",
            " / contexts.shape[1]", " / 4",
        ),
        Mistake(
            "gradient of the mean loss of the batch",
            "Your values are too small by a factor equal to the number of examples. `sgns_loss` averages over the batch, but "
            "here each example has its own loss.",
            " / contexts.shape[1]", " / contexts.shape[1] / contexts.shape[0]",
        ),
        Mistake(
            "each context word scored on its own",
            "In your result the context words of one example have different gradients. The loss depends only on their "
            "average, so they should all have the same gradient.",
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
            "one gradient for all context words together",
            "You return one gradient per example. Each of its C context words needs its own gradient. These gradients are all "
            "equal: each is 1/C of the gradient of the average.",
            "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]", "error.unsqueeze(1)",
            also=(
                _cbow("contexts.mean(1)", "error"),
                _cbow("contexts.mean(1)", "error / contexts.shape[1]"),
                _cbow("contexts.mean(1)", "error.unsqueeze(1) / contexts.shape[1]"),
            ),
        ),
        Mistake(
            "only one of the two terms divided",
            "You divide only one part of the gradient by the number of context words, either the term of the target or the "
            "term of the negatives. The chain rule divides their sum.",
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
            "division by the batch size",
            "Your gradient depends on the number of examples B. Here each example has its own loss.",
            " / contexts.shape[1]", " / contexts.shape[0]",
        ),
        Mistake(
            "division by the number of features",
            "You divide by D, the number of features of a vector. Which average connects the context words with the loss?",
            " / contexts.shape[1]", " / contexts.shape[2]",
        ),
        Mistake(
            "division by the number of negatives",
            "You divide by k, the number of negatives. Which average connects the context words with the loss?",
            " / contexts.shape[1]", " / negatives.shape[1]",
        ),
        Mistake(
            "sign reversed",
            "Your values have the opposite sign, so your gradient points downhill, like the update step of word2vec.c. The docstring "
            "requires the gradient, which points uphill.",
            "return error", "return -error",
        ),
        Mistake(
            "multiplication by the number of context words",
            "Your values are too large by a factor equal to the square of the number of context words. Should this number "
            "multiply or divide the gradient?",
            " / contexts.shape[1]", " * contexts.shape[1]",
        ),
        Mistake(
            "gradient given to the first context word only",
            "Only one of the context words has a non-zero gradient. All context words contribute to the average.",
            "error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]",
            "torch.cat([error.unsqueeze(1) / contexts.shape[1], torch.zeros_like(contexts[:, 1:])], dim=1)",
        ),
        Mistake(
            "mean over the negatives",
            "The term for the negatives is too small by a factor of k. The loss contains one term for each negative, and so "
            "does its gradient.",
            "(push.unsqueeze(2) * negatives).sum(dim=1)", "(push.unsqueeze(2) * negatives).mean(dim=1)",
        ),
        Mistake(
            "target treated as a negative",
            "Your gradient moves the context words away from the target. The derivative of −ln σ(x) is σ(x) − 1, whereas the "
            "derivative of −ln σ(−x) is σ(x).",
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
        "Change the vector of one context word slightly. How much does the hidden vector change? The chain rule needs this number.",
        "contexts is (B, C, D); hidden and error are (B, D). The gradient is (B, C, D), with the same vector for "
        "every context word of an example.",
        "error is ∂loss/∂hidden, as before, and ∂hidden/∂(context word) is 1/C. Multiply the two.",
        "Almost right: replacing the average in the forward pass by a sum. The forward and backward passes then agree, but the "
        "model has changed. Only the last line of the code is wrong.",
    ),
)

# ---------------------------------------------------------------- mixture of senses


def _mixture_cases(draw: Draw) -> Iterator[Case]:
    """Senses that resemble each other, and a word with known best weights, whose remaining part is orthogonal to the
    senses."""
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
            "each sense fitted on its own",
            "You fit each sense separately, so the components that the senses have in common are counted several times. Find "
            "all weights together.",
            code="""
def sense_mixture(v, senses):
    return senses @ v / senses.square().sum(1)
""",
        ),
        Mistake(
            "cosines instead of weights",
            "Your values lie between −1 and 1 and measure the similarity of the word to each sense. A weight is the amount of "
            "a sense that is needed to rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.nn.functional.cosine_similarity(senses, v.unsqueeze(0), dim=1)
""",
        ),
        Mistake(
            "dot products instead of weights",
            "Your values are dot products with the sense vectors. They are too large if a sense vector is long or if the sense "
            "vectors are similar to each other. Multiply the senses by your values and add them up. Is the result close to the word?",
            code="""
def sense_mixture(v, senses):
    return senses @ v
""",
        ),
        Mistake(
            "weights forced to sum to one",
            "Your weights sum to exactly 1, but the exercise does not require this. The best weights are those with the "
            "smallest distance.",
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
            "softmax of the similarities",
            "Your weights are positive and sum to 1, as after a softmax. Such weights do not necessarily rebuild the word.",
            code="""
def sense_mixture(v, senses):
    return torch.softmax(senses @ v, dim=0)
""",
        ),
        Mistake(
            "senses scaled to length 1 first",
            "You scaled the senses (and perhaps also the word) to length 1. Applied to the original sense vectors, your "
            "weights do not reproduce the vector of the word.",
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
            "word scaled to length 1 first",
            "Your weights have the correct proportions, but all are off by the same factor, the length of v.",
            "    return ", "    v = v / v.norm()\n    return ",
        ),
        Mistake(
            "equal weights for all senses",
            "All your weights are equal. Does each sense contribute the same amount to the vector of the word?",
            code="""
def sense_mixture(v, senses):
    return torch.full((len(senses),), 1 / len(senses))
""",
        ),
        Mistake(
            "vectors centred first",
            "You subtracted the mean of every vector before solving, or you included a constant term, which has the same "
            "effect. Your weights are therefore fitted to different vectors.",
            "    return ", "    v, senses = v - v.mean(), senses - senses.mean(1, keepdim=True)\n    return ",
        ),
        Mistake(
            "negative weights ruled out",
            "None of your weights is negative. Any real number is allowed: a sense may be subtracted if the others contribute "
            "too much.",
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
            "ridge penalty on the weights",
            "Your weights are too close to 0, because you added a penalty before solving. Minimise only the distance.",
            code=_ridge("1.0"),
            also=tuple(map(_ridge, ("0.5", "0.1", "0.01"))),
        ),
        Mistake(
            "only the first coordinates used",
            "You solved S equations and ignored the remaining coordinates. There are D equations, and no weights satisfy all "
            "of them exactly. Find the weights with the smallest distance.",
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
        "Suppose that you have the ingredients and the finished mixture. Which quantity would you minimise to find the amount "
        "of each ingredient?",
        "v is (D,), senses is (S, D), and the answer is (S,). weights @ senses is (D,) and should be as close to v "
        "as possible.",
        "Solve the least-squares problem senses.T · weights ≈ v, with D equations and S unknowns. torch.linalg has a "
        "function for it.",
        "Almost right: projecting v onto each sense separately. This is correct only if the senses are orthogonal. Note "
        "that the least-squares solver takes and returns a matrix, (D, 1) and (S, 1).",
    ),
)

# ---------------------------------------------------------------- separation


def _separation_cases(draw: Draw) -> Iterator[Case]:
    """Senses of unequal size and spread, with any integers as labels; equal vectors within a sense and across senses."""
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
        h[0] = h[-3]  # and two with the same vector but different senses
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
            "occurrences paired with themselves",
            "Your value is too high. The cosine of an occurrence with itself is 1, but an occurrence and itself are not a "
            "pair.",
            " & ~itself", "",
        ),
        Mistake(
            "difference taken in the wrong order",
            "Your value has the wrong sign. Subtract the mean for different senses from the mean for the same sense.",
            "similarity[same & ~itself].mean() - similarity[~same].mean()",
            "similarity[~same].mean() - similarity[same & ~itself].mean()",
        ),
        Mistake(
            "pairs with different senses left out",
            "You return the mean similarity of occurrences with the same sense. All occurrences of a word resemble each "
            "other, so subtract the mean similarity of occurrences with different senses.",
            " - similarity[~same].mean()", "",
        ),
        Mistake(
            "all pairs subtracted",
            "Your value is too small, because the second mean also includes pairs with the same sense.",
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
            "dot products instead of cosines",
            "Your value changes with the lengths of the vectors. The docstring requires cosines.",
            "similarity = cosine(h, h)", "similarity = h @ h.T",
        ),
        Mistake(
            "sums instead of means",
            "Your value grows with the number of occurrences, because you take sums over pairs instead of means.",
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
            "ratio instead of difference",
            "If the vectors do not separate the senses, your function returns 1. Return the difference of the two "
            "means, which is 0 in this case.",
            " - similarity[~same].mean()", " / similarity[~same].mean()",
        ),
        Mistake(
            "masked pairs counted in the mean",
            "Your means are too small, because the number of pairs by which you divide includes the pairs that you masked "
            "out.",
            "similarity[same & ~itself].mean() - similarity[~same].mean()",
            "(similarity * (same & ~itself)).mean() - (similarity * ~same).mean()",
        ),
        Mistake(
            "cosine 0 counted for each occurrence with itself",
            "Your first mean is too small. The sum no longer includes the diagonal, but the number of pairs by which you "
            "divide still does.",
            "similarity[same & ~itself].mean()", "(similarity * ~itself)[same].mean()",
        ),
        Mistake(
            "mean over the senses instead of the pairs",
            "You average within each sense first, so a rare sense has as much weight as a frequent one (and a sense that "
            "occurs only once has no pair at all). All pairs should have the same weight.",
            code=_by_sense("if len(rows) > 1"),
            also=(_by_sense("if len(rows) > 0"),),
        ),
        Mistake(
            "pairs with equal vectors excluded",
            "Two different occurrences can have the same vector; with static vectors they always do. You exclude such pairs "
            "as if they paired an occurrence with itself. Compare positions in the list instead of vectors.",
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
            "only senses 0 and 1 handled",
            "Your function is correct for two senses numbered 0 and 1. A word can have more senses, and the labels can be any "
            "integers. Compare the labels of two occurrences with each other.",
            code="""
def separation(h, senses):
    first, second = h[senses == 0], h[senses == 1]
    totals = [(cosine(x, x).sum() - len(x), len(x) * (len(x) - 1)) for x in (first, second)]
    return sum(total for total, _ in totals) / sum(n for _, n in totals) - cosine(first, second).mean()
""",
        ),
        Mistake(
            "only labels from 0 upwards handled",
            "You loop over the labels from 0 to the largest label, so pairs with a negative label are missing. A label can be "
            "any integer. Compare the labels of two occurrences with each other.",
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
            "Your value is NaN if one of the vectors is all zeros, because its length is 0. The cosine of such a vector with "
            "every vector is 0, as in your `cosine`.",
            "similarity = cosine(h, h)", "unit = h / h.norm(dim=1, keepdim=True)\n    similarity = unit @ unit.T",
        ),
        Mistake(
            "only consecutive occurrences compared",
            "You compare each occurrence only with the next occurrence in the list. The mean should include all pairs.",
            code="""
def separation(h, senses):
    similarity = cosine(h, h).diagonal(offset=1)
    same = senses[:-1] == senses[1:]
    return torch.nan_to_num(similarity[same].mean()) - torch.nan_to_num(similarity[~same].mean())
""",
        ),
        Mistake(
            "averages of the senses compared",
            "You compare each occurrence with the average vector of each sense. The docstring requires pairs of occurrences.",
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
            "You compare vectors by their distance, which depends on their lengths and is small for similar vectors. The "
            "docstring requires cosines.",
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
    survivors={
        "→ `same = senses == senses.unsqueeze(1)`": "broadcasting adds an axis in front by itself",
    },
    hints=(
        "Take two sentences with the same sense and two with different senses. Which pair of vectors should be more "
        "similar? Which single number measures this?",
        "h is (n, D) and senses is (n,). The matrix of all cosines is (n, n), and so is the mask of the pairs with "
        "the same sense.",
        "same[i, j] is True if senses[i] equals senses[j]. Take the mean cosine over the pairs in same with i ≠ j, "
        "minus the mean cosine over the pairs not in same.",
        "Almost right: the mean over cosine(h, h)[same]. This mean includes the diagonal, which is 1 everywhere.",
    ),
)

# ---------------------------------------------------------------- extension: where negatives come from


def _distribution_cases(draw: Draw) -> Iterator[Case]:
    # A power near 0 makes small numbers large: only an exact 0 stays 0.
    for words, power, pairs in ((5, 0.75, 3), (9, 0.5, 4), (14, 0.1, 6), (7, 1.0, 1), (6, 1.5, 2)):
        counts = np.ceil(draw.rng.pareto(0.9, words).clip(max=200) * 4 + 1)
        counts[:3] = 1, 0, 30 + draw.integers(0, 20)
        context = draw.rng.choice(np.flatnonzero(counts), pairs)
        context[-1] = 2
        if pairs > 4:
            context[0] = context[1]
        yield {"counts": counts.astype(np.float32), "power": power, "context": context}


_POWERS = "counts**power"
_EXCLUDED = "weights[torch.arange(len(context)), context] = 0"
_NORMALISED = "weights / weights.sum(dim=1, keepdim=True)"


def _excluding(weights: str) -> str:
    """A cell that computes these weights of the words, and excludes and normalises as the solution does."""
    return f"""
def negative_distribution(counts, power, context):
    weights = ({weights}).repeat(len(context), 1)
    {_EXCLUDED}
    return {_NORMALISED}
"""


negative_distribution = Exercise(
    cases=_distribution_cases,
    rule=Rule(axes={"": "B V"}),
    mistakes=(
        Mistake(
            "context word not excluded",
            "Your distribution is the same for every pair. The context word of a pair should have probability 0 in the row of "
            "this pair.",
            _EXCLUDED, "pass",
        ),
        Mistake(
            "context word excluded after normalising",
            "Your rows do not sum to 1, because you set the probability of the context word to 0 after dividing. Exclude it "
            "first, then divide by the sum of the row.",
            edits={
                "(counts**power).repeat": "(counts**power / (counts**power).sum()).repeat",
                _NORMALISED: "weights",
            },
            also=(
                """
def negative_distribution(counts, power, context):
    rows = []
    for word in context.tolist():
        weights = counts**power
        p = weights / weights.sum()
        p[word] = 0
        rows.append(p)
    return torch.stack(rows)
""",
            ),
        ),
        Mistake(
            "context words of all pairs excluded",
            "Your rows all lack the context words of the whole batch. A word is excluded only in the row of its own pair.",
            _EXCLUDED, "weights[:, context] = 0",
        ),
        Mistake(
            "only the first context word excluded",
            "Your first row is correct. In the others you have excluded the context word of the first pair instead of the "
            "pair's own.",
            _EXCLUDED, "weights[:, context[0]] = 0",
        ),
        Mistake(
            "context words of earlier pairs still excluded",
            "Your first row is correct, but each row also lacks the context words of the pairs before it, because all rows "
            "share one tensor. Make a copy for each pair.",
            code="""
def negative_distribution(counts, power, context):
    weights, rows = counts**power, []
    for word in context:
        weights[word] = 0
        rows.append(weights / weights.sum())
    return torch.stack(rows)
""",
        ),
        Mistake(
            "number of the pair excluded instead of its context word",
            "In the first row you have excluded word 0, in the second row word 1, and so on. Exclude the word whose number is "
            "in `context`.",
            _EXCLUDED, "weights[torch.arange(len(context)), torch.arange(len(context))] = 0",
        ),
        Mistake(
            "probabilities not normalised",
            "Your values do not sum to 1, so they are not a probability distribution. Divide each row by its sum.",
            _NORMALISED, "weights",
        ),
        Mistake(
            "whole table normalised",
            "Your whole table sums to 1. Each row is a distribution, so each row should sum to 1.",
            _NORMALISED, "weights / weights.sum()",
        ),
        Mistake(
            "columns normalised",
            "Each of your columns sums to 1. Each pair has a distribution over the words, so each *row* should sum to 1.",
            "sum(dim=1, keepdim=True)", "sum(dim=0, keepdim=True)",
        ),
        Mistake(
            "power left out",
            "Your values are proportional to the counts themselves. Apply `power` before you divide by the sum, so that it "
            "does not cancel.",
            _POWERS, "counts",
        ),
        Mistake(
            "counts normalised before the power is applied",
            "Your values do not sum to 1, because you applied the power after dividing, or divided by a power of the sum. "
            "Divide by the sum of the powers.",
            edits={_POWERS: "counts", _NORMALISED: f"({_NORMALISED}) ** power"},
            also=(
                """
def negative_distribution(counts, power, context):
    weights = ((counts / counts.sum()) ** power).repeat(len(context), 1)
    weights[torch.arange(len(context)), context] = 0
    return weights
""",
            ),
        ),
        Mistake(
            "power fixed at 3/4",
            "Your function is correct if `power` is 0.75, but it ignores the argument.",
            _POWERS, "counts**0.75",
        ),
        Mistake(
            "logarithm instead of a power",
            "Your result does not depend on `power`, and frequent words are only slightly more probable than rare ones. A logarithm "
            "flattens the counts far more than a power near 1.",
            _POWERS, "torch.log1p(counts)",
        ),
        Mistake(
            "one added to every count",
            "In your distribution, a word that never occurs can be drawn. Its probability should be 0.",
            _POWERS, "(counts + 1) ** power",
        ),
        Mistake(
            "softmax instead of normalisation",
            "You apply a softmax, which exponentiates its inputs. Unless `power` is small, nearly all of your probability "
            "belongs to one word.",
            code="""
def negative_distribution(counts, power, context):
    weights = (counts**power).repeat(len(context), 1)
    weights[torch.arange(len(context)), context] = -torch.inf
    return torch.softmax(weights, dim=1)
""",
            also=(
                """
def negative_distribution(counts, power, context):
    weights = (counts**power).repeat(len(context), 1)
    weights[torch.arange(len(context)), context] = 0
    return torch.softmax(weights, dim=1)
""",
                """
def negative_distribution(counts, power, context):
    weights = (counts * power).repeat(len(context), 1)
    weights[torch.arange(len(context)), context] = -torch.inf
    return torch.softmax(weights, dim=1)
""",
            ),
        ),
        Mistake(
            "softmax of the counts without the power",
            "Your result does not depend on `power`, and nearly all of your probability belongs to the most frequent word, "
            "because a softmax exponentiates the counts.",
            code="""
def negative_distribution(counts, power, context):
    weights = counts.repeat(len(context), 1)
    weights[torch.arange(len(context)), context] = -torch.inf
    return torch.softmax(weights, dim=1)
""",
        ),
        Mistake(
            "division by the largest value",
            "The probability of the most frequent word of each row is 1, although the other words have positive probabilities as "
            "well. The probabilities should sum to 1.",
            "weights.sum(", "weights.amax(",
        ),
        Mistake(
            "base and exponent interchanged",
            "For powers below 1, you draw frequent words less often than rare ones, because you raised `power` to the counts "
            "instead of raising the counts to `power`.",
            _POWERS, "power**counts",
        ),
        Mistake(
            "frequent words drawn least often",
            "You draw the most frequent words least often. Either the sign of the exponent is wrong, or you divided by the "
            "powers of the counts.",
            _POWERS, "counts.clamp(min=1) ** -power",
            also=(_excluding("torch.where(counts > 0, counts**-power, 0.0)"),),
        ),
        Mistake(
            "epsilon magnified by a small power",
            "For powers near 0, a word that never occurs can be drawn, because the small number that you added becomes large "
            "when it is raised to such a power.",
            _POWERS, "(counts + 1e-8) ** power",
            also=tuple(
                _excluding(f"(counts + {epsilon}) ** power") for epsilon in ("1e-12", "1e-10", "1e-9", "1e-6")
            ),
        ),
        Mistake(
            "reciprocal of the power",
            "For powers below 1, you draw rare words too seldom and frequent words too often, because you raised the counts "
            "to 1/power.",
            _POWERS, "counts ** (1 / power)",
        ),
        Mistake(
            "words in the rows",
            "Your table has a row for each word. It should have a row for each pair and a column for each word.",
            _NORMALISED, f"({_NORMALISED}).T",
        ),
    ),
    alternatives={
        "a loop in float64": """
def negative_distribution(counts, power, context):
    rows = []
    for word in context.tolist():
        weights = counts.double() ** power
        weights[word] = 0
        rows.append(weights / weights.sum())
    return torch.stack(rows)
""",
        "a mask": """
def negative_distribution(counts, power, context):
    others = torch.arange(len(counts)) != context[:, None]
    return torch.nn.functional.normalize(counts.pow(power) * others, p=1, dim=1)
""",
        "a softmax of logarithms": """
def negative_distribution(counts, power, context):
    own = torch.nn.functional.one_hot(context, len(counts)).bool()
    return (power * counts.log()).expand(len(context), -1).masked_fill(own, -torch.inf).softmax(dim=1)
""",
        "the sum without the context word": """
def negative_distribution(counts, power, context):
    import numpy as np
    weights = counts.double().numpy() ** power
    own = np.eye(len(counts), dtype=bool)[context.numpy()]
    return np.where(own, 0, weights / (weights.sum() - weights[context.numpy()])[:, None])
""",
    },
    hints=(
        "If negatives were drawn in proportion to word frequency, which words would make up nearly all of them? And for which "
        "negative would the loss contradict itself?",
        "counts is (V,), power is a number and context is (B,). The answer is (B, V), and each row sums to 1.",
        "Raise every count to the power, and make one copy of the result for each pair. In each copy, set the weight of the "
        "pair's own context word to 0. Then divide each row by its sum.",
        "Almost right: dividing first and setting the context word to 0 afterwards. The rows then sum to less than 1.",
    ),
)

# ---------------------------------------------------------------- extension: analogies


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _analogy_cases(draw: Draw) -> Iterator[Case]:
    """Question words that are far apart; similar a and c (walk, talk), so that b is nearest; three similar question words
    that are all nearest."""
    for words, size, k, alike in ((13, 7, 10, ""), (57, 5, 3, "ac"), (33, 9, 6, "abc")):
        question = np.linalg.qr(draw.rng.standard_normal((size, size)))[0][:3]
        if "a" in alike:
            question[0] = question[2] + 0.2 * question[0]
        if "b" in alike:
            question[1] = question[2] + 0.3 * question[1]
        question = _unit(question)
        ranked = _ranked(draw, question[1] - question[0] + question[2], words - 3, 0.7 if alike else 0.97)
        if alike:
            ranked[-1] = 0  # k words are nearer than this one, however it is treated
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
            "Your answers include a word of the question. The plain method allows this, but the docstring excludes these "
            "words. The notebook shows how much this matters.",
            "    similarity[[a, b, c]] = -torch.inf\n", "",
        ),
        Mistake(
            "only c excluded",
            "Your answers include b. If a and c are similar, b − a + c is close to b. Exclude all three words of the "
            "question.",
            "similarity[[a, b, c]]", "similarity[[c]]",
        ),
        Mistake(
            "offset reversed",
            "Your offset leads from b to a. The offset should lead from a to b, so it is b − a.",
            "unit[b] - unit[a] + unit[c]", "unit[a] - unit[b] + unit[c]",
        ),
        Mistake(
            "vectors not scaled to length 1",
            "Long vectors dominate your sum, because you did not scale the vectors to length 1 first.",
            "F.normalize(vectors, dim=1)", "vectors",
        ),
        Mistake(
            "0/0 for a vector of zeros",
            "Your answers include a word whose vector is all zeros. Its length is 0, so you compute 0/0 = NaN, which counts "
            "as the largest value in a ranking. Its cosine should be 0.",
            "F.normalize(vectors, dim=1)", "vectors / vectors.norm(dim=1, keepdim=True)",
        ),
        Mistake(
            "a added instead of subtracted",
            "Your target is the sum of all three vectors. Subtract a instead of adding it.",
            "unit[b] - unit[a] + unit[c]", "unit[b] + unit[a] + unit[c]",
        ),
        Mistake(
            "neighbours of the offset without c",
            "You search near b − a. Except that you exclude c, your answers do not depend on c. Add c to the target.",
            "unit[b] - unit[a] + unit[c]", "unit[b] - unit[a]",
        ),
        Mistake(
            "neighbours of c without the offset",
            "You search near c, so your answers do not depend on the offset from a to b. Add the offset to the vector of c before you search.",
            "unit[b] - unit[a] + unit[c]", "unit[c]",
        ),
        Mistake(
            "ranking by Euclidean distance",
            "You rank words by their Euclidean distance to the target. The vectors of the words differ in length, so the nearest word need not be the one with the most similar direction. The docstring requires the cosine.",
            "cosine(target.unsqueeze(0), unit).squeeze(0)", "-(vectors - target).norm(dim=1)",
        ),
        Mistake(
            "ranking by dot product",
            "Your target is correct. However, you rank words by dot product, which favours long vectors. The docstring "
            "requires the cosine.",
            "cosine(target.unsqueeze(0), unit).squeeze(0)", "vectors @ target",
        ),
        Mistake(
            "first three answers dropped",
            "You drop the three best answers, as if they were a, b and c. However, a is often far from the target. Exclude "
            "the three words by their row numbers.",
            edits={"    similarity[[a, b, c]] = -torch.inf\n": "", "topk(k).indices": "topk(k + 3).indices[3:]"},
        ),
        Mistake(
            "similarity 0 for the question words instead of −∞",
            "For large k your answers include words of the question. You set their similarity to 0, but words that point in "
            "the opposite direction have a negative similarity and therefore rank below them.",
            "= -torch.inf", "= 0",
        ),
        Mistake(
            "c subtracted instead of a",
            "Your target is a + b − c. Add the offset from a to b, which is b − a, to c.",
            "unit[b] - unit[a] + unit[c]", "unit[a] + unit[b] - unit[c]",
        ),
        Mistake(
            "list cut to k before the question words were removed",
            "Your list is too short if a word of the question is among the best k. Remove the question words first, then "
            "select the best k.",
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
    survivors={
        "→ `unit = F.normalize(vectors)`": "the axis is the default",
    },
    hints=(
        'If the offset from "france" to "paris" equals the offset from "italy" to its capital, how do you get to '
        '"rome"?',
        "vectors is (V, D); a, b, c and k are integers. The answer is (k,), best first.",
        "Scale every row to length 1. The target is b − a + c. Compute its cosine with all rows, exclude a, b and c, "
        "and take the k largest.",
        "Almost right: b − a + c with the vectors as they are. This gives a different target, because long vectors have more "
        "influence.",
    ),
)
