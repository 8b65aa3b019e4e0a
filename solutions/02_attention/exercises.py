"""02 Attention, step by step: inputs, known mistakes, unusual right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule

# ------------------------------------------------------------------------------------------ similarities


def similarity_cases(draw: Draw) -> Iterator[Case]:
    yield {"queries": draw.normal(3, 5), "keys": draw.normal(4, 5)}
    yield {"queries": draw.normal(6, 7), "keys": draw.normal(6, 7)}
    yield {"queries": draw.normal(2, 4, 8), "keys": draw.normal(2, 5, 8)}
    yield {"queries": draw.normal(3, 2, 5, 4), "keys": draw.normal(3, 2, 6, 4)}


similarities = Exercise(
    cases=similarity_cases,
    rule=Rule(axes={"": "Tq Tk"}),
    mistakes=(
        Mistake(
            "keys and queries swapped",
            "Your rows belong to the keys and your columns to the queries. Row i should contain the products of "
            "query i with all keys.",
            "queries @ keys.transpose(-2, -1)", "keys @ queries.transpose(-2, -1)",
        ),
        Mistake(
            "cosines instead of dot products",
            "All your numbers lie between −1 and 1, because you divided by the lengths of the vectors. Attention uses the "
            "plain dot product, which depends on the lengths.",
            "queries @ keys.transpose(-2, -1)",
            "torch.nn.functional.normalize(queries, dim=-1)"
            " @ torch.nn.functional.normalize(keys, dim=-1).transpose(-2, -1)",
        ),
        Mistake(
            "queries compared with themselves",
            "Your result does not depend on the keys. Which of the two inputs does your function never use?",
            "queries @ keys.transpose(-2, -1)", "queries @ queries.transpose(-2, -1)",
        ),
        Mistake(
            "keys compared with themselves",
            "Your result does not depend on the queries. Which of the two inputs does your function never use?",
            "queries @ keys.transpose(-2, -1)", "keys @ keys.transpose(-2, -1)",
        ),
        Mistake(
            "each query compared only with the key at its own position",
            "You computed one number per word, but attention needs one number per *pair* of words: query 0 with all keys, "
            "query 1 with all keys, and so on.",
            "queries @ keys.transpose(-2, -1)", "(queries * keys).sum(-1)",
        ),
        Mistake(
            "mean of the products instead of their sum",
            "Your numbers are correct except for a constant factor, the number of coordinates. A dot product is a sum.",
            "queries @ keys.transpose(-2, -1)", "queries @ keys.transpose(-2, -1) / queries.shape[-1]",
        ),
        Mistake(
            "softmax already applied",
            "Each of your rows sums to 1, because you applied a softmax. The softmax is a separate step, which follows later. "
            "Return the plain dot products.",
            "queries @ keys.transpose(-2, -1)", "torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)",
        ),
        Mistake(
            "division by √d already applied",
            "Your numbers are correct except for a factor of √d. The division by √d is a separate step, which follows next.",
            "queries @ keys.transpose(-2, -1)", "queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5",
        ),
        Mistake(
            "keys reshaped instead of transposed",
            "The shape is correct but the numbers are wrong. Reshaping keeps the order in memory, so your columns mix numbers "
            "of several keys. Swap the last two axes instead.",
            "keys.transpose(-2, -1)", "keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])",
        ),
        Mistake(
            "distance instead of similarity",
            "Your number is smaller for similar words, because you computed a distance. A similarity is larger for similar "
            "words.",
            "queries @ keys.transpose(-2, -1)", "torch.cdist(queries, keys)",
            also=(
                """
def similarities(queries, keys):
    return torch.cdist(queries, keys) ** 2
""",
            ),
        ),
        Mistake(
            "negative distance instead of similarity",
            "None of your numbers is positive, because you computed negative distances. The dot product of two similar "
            "vectors is positive.",
            "queries @ keys.transpose(-2, -1)", "-torch.cdist(queries, keys)",
        ),
        Mistake(
            "keys of the first sentence used for all sentences",
            "Your first sentence is correct. However, you also compare the queries of the other sentences with the keys of "
            "the first sentence. Each sentence has its own keys.",
            "keys.transpose(-2, -1)", "keys[(0,) * (keys.dim() - 2)].T",
            also=(
                """
def similarities(queries, keys):
    return queries @ (keys if keys.dim() == 2 else keys[:1]).transpose(-2, -1)
""",
            ),
        ),
        Mistake(
            "one coordinate left out",
            "Each of your sums lacks one coordinate. The coordinates are numbered from 0 to d − 1, and `range(d)` covers all "
            "of them.",
            "queries @ keys.transpose(-2, -1)", "queries[..., :-1] @ keys[..., :-1].transpose(-2, -1)",
            also=(
                """
def similarities(queries, keys):
    return queries[..., 1:] @ keys[..., 1:].transpose(-2, -1)
""",
            ),
        ),
        Mistake(
            "batch axis transposed",
            "Your function works for a single sentence but not for a batch, because `.T` and `transpose(0, 1)` move the batch "
            "axis. Transpose only the last two axes of `keys`.",
            "keys.transpose(-2, -1)", "keys.transpose(0, 1)",
        ),
        Mistake(
            "scores of all sentences added up",
            "Your result has lost its leading axes, because you added up the scores of all sentences. Keep the scores of each "
            "sentence separate.",
            "queries @ keys.transpose(-2, -1)", 'torch.einsum("...id,...jd->ij", queries, keys)',
        ),
        Mistake(
            "queries compared with the keys of all sentences",
            "With several sentences your result has too many axes. Compare a query only with the keys of its own sentence.",
            "queries @ keys.transpose(-2, -1)", "torch.tensordot(queries, keys, dims=([-1], [-1]))",
        ),
        detached("similarities"),
    ),
    alternatives={
        "einsum": """
def similarities(queries, keys):
    return torch.einsum("...qd,...kd->...qk", queries, keys)
""",
        "a product and a sum, in float64": """
def similarities(queries, keys):
    return (queries.double()[..., :, None, :] * keys.double()[..., None, :, :]).sum(-1)
""",
        "a loop over the keys, in float64": """
def similarities(queries, keys):
    columns = []
    for k in range(keys.shape[-2]):
        columns.append((queries.double() * keys[..., k : k + 1, :]).sum(-1))
    return torch.stack(columns, dim=-1)
""",
    },
    hints=(
        "For one query and one key, you multiply coordinate by coordinate and add the products. How many such numbers are "
        "there for 3 queries and 4 keys, and how would you arrange them?",
        "The queries have shape (…, query, d), the keys (…, key, d) and the result (…, query, key). The sum runs "
        "over the axis d. Leading axes, such as the sentences of a batch, remain unchanged.",
        "for each query i, for each key j:   scores[i, j] = Σ_d queries[i, d] · keys[j, d]\n"
        "This is a matrix product whose second matrix has d as its *rows*.",
        "A near miss: `queries @ keys` needs d columns on the left and d rows on the right, but the rows of `keys` "
        "are words. `.T` works for one sentence but scrambles a batch: swap only the last two axes.",
    ),
)

# ------------------------------------------------------------------------------------------ scale


def scale_cases(draw: Draw) -> Iterator[Case]:
    yield {"scores": draw.normal(4, 5, scale=3), "d": 9}
    yield {"scores": draw.normal(3, 6, scale=5), "d": 50}
    yield {"scores": draw.normal(2, 4, 7, scale=8), "d": 64}
    yield {"scores": draw.normal(2, 3, 4, 5, scale=2), "d": 6}


scale = Exercise(
    cases=scale_cases,
    rule=Rule(axes={"": "Tq Tk"}),
    mistakes=(
        Mistake(
            "division by d instead of √d",
            "Your numbers are too small by a factor of √d. The variance grows in proportion to d, but the typical size of a "
            "score grows in proportion to √d.",
            "d**0.5", "d",
        ),
        Mistake(
            "multiplication by √d instead of division",
            "Your scores have become larger, because you multiply by √d. After scaling, their typical size should be 1.",
            "scores / d**0.5", "scores * d**0.5",
        ),
        Mistake(
            "division by the square root of the number of keys",
            "Your divisor depends on the length of the sentence. The scores are large because each is a sum over the "
            "coordinates.",
            "d**0.5", "scores.shape[-1] ** 0.5",
        ),
        Mistake(
            "division by the measured standard deviation",
            "You compute your divisor from the scores. It should be a constant that is known in advance and depends only on "
            "d.",
            "d**0.5", "scores.std()",
        ),
        Mistake(
            "each row standardised",
            "Each of your rows has mean 0 and variance 1, so the result no longer shows how strongly each query prefers its "
            "best key. Scaling should only remove a constant factor.",
            "scores / d**0.5", "(scores - scores.mean(-1, keepdim=True)) / scores.std(-1, keepdim=True)",
        ),
        Mistake(
            "division by d²",
            "Your numbers are far too small. Which power of d gives the typical size of a sum of d independent "
            "numbers?",
            "d**0.5", "d**2",
        ),
        Mistake(
            "division by the largest score",
            "Your largest score is exactly 1, because you divide by the largest score. The divisor should depend only on d.",
            "d**0.5", "scores.max()",
        ),
        Mistake(
            "fixed number instead of d",
            "You divide by the same number for every d. A number such as 50 is correct only for vectors of this size. Use the "
            "argument d.",
            "d**0.5", "50**0.5",
            also=tuple(
                f"def scale(scores, d):\n    return scores / {number}**0.5\n"
                for number in (64, 300, 512, 768)
            ),
        ),
        Mistake(
            "square root rounded to an integer",
            "Your divisor is always an integer, but most square roots are not. Divide by √d without rounding it.",
            "d**0.5", "int(d**0.5)",
            also=(
                "def scale(scores, d):\n    return scores / round(d**0.5)\n",
                "def scale(scores, d):\n    return scores / (d**0.5 // 1 + 1)\n",
            ),
        ),
        Mistake(
            "exponent 1/2 without brackets",
            "Powers are evaluated before divisions, so `d ** 1/2` means (d ** 1)/2, and `x / d ** 1/2` means "
            "x/d/2. Put the exponent in brackets or write 0.5.",
            "d**0.5", "(d / 2)",
            also=("def scale(scores, d):\n    return scores / d**1 / 2\n",),
        ),
        Mistake(
            "division by √(d − 1) instead of √d",
            "Your numbers are slightly too large, especially for small d. You divide by √(d − 1), but each score is a sum of "
            "d products.",
            "d**0.5", "(d - 1) ** 0.5",
        ),
        detached("scale"),
    ),
    alternatives={
        "product with d to the power −½": """
def scale(scores, d):
    return scores * d ** -0.5
""",
        "math.sqrt, in float64": """
import math
def scale(scores, d):
    return scores.double() / math.sqrt(d)
""",
        "square root as a tensor": """
def scale(scores, d):
    return torch.div(scores, torch.sqrt(torch.tensor(float(d))))
""",
    },
    hints=(
        "If one product of two random coordinates has variance 1, what is the variance of a sum of d such products? What is "
        "the typical size of this sum?",
        "The scores have shape (…, query, key), and d is an integer. The result has the same shape as the scores.",
        "variance of a score = d  →  typical size = the square root of the variance  →  divide every score by it",
        "A near miss: `scores / d` divides by too much. The scores of a 50-dimensional head would have variance 1/50, and "
        "the weights would be nearly uniform.",
    ),
)

# ------------------------------------------------------------------------------------------ softmax


def softmax_cases(draw: Draw) -> Iterator[Case]:
    yield {"x": draw.normal(3, 5), "dim": 1}
    yield {"x": draw.normal(6, 4), "dim": 0}
    # Rows far from zero, each at a different distance, so that exp alone would overflow or underflow. Float32 represents
    # quarters of this size exactly, so all correct ways to compute a softmax agree.
    far = np.array([1000, -1000, 500, 0])[:, None] + draw.integers(-12, 13, 4, 6) / 4
    yield {"x": draw.rng.permutation(far).astype(np.float32), "dim": -1}
    yield {"x": draw.normal(2, 5, 3, 4), "dim": 2}
    yield {"x": draw.normal(3, 2, 5), "dim": -3}
    yield {"x": draw.normal(7), "dim": 0}
    # Very low entries, as after masking, and one line in which all entries are very low.
    masked = draw.normal(2, 3, 6)
    masked[..., 4:] = -10_000
    masked[1, 2] = -10_000 - 64 * draw.rng.permutation(6)
    yield {"x": masked, "dim": -1}


def _cut_off(bound: str) -> str:
    return f"""
def softmax(x, dim):
    e = x.clamp(-{bound}, {bound}).exp()
    return e / e.sum(dim, keepdim=True)
"""


softmax = Exercise(
    cases=softmax_cases,
    mistakes=(
        Mistake(
            "softmax always over the last axis",
            "Your weights are correct if `dim` is the last axis, but wrong for any other axis. `dim` is the axis along which "
            "they should sum to 1.",
            edits={
                "x.amax(dim, keepdim=True)": "x.amax(-1, keepdim=True)",
                "exponentials.sum(dim, keepdim=True)": "exponentials.sum(-1, keepdim=True)",
            },
        ),
        Mistake(
            "overflow of exp for large scores",
            "Your weights are correct for small scores. For scores around 1000 the exponentials are infinite, and ∞/∞ is NaN. "
            "Which number can you subtract from a whole row without changing its softmax?",
            "x - x.amax(dim, keepdim=True)", "x",
        ),
        Mistake(
            "maximum of the whole tensor subtracted",
            "Rows far below the overall maximum become NaN, because all their exponentials are 0. Subtract the maximum of "
            "each row instead.",
            "x.amax(dim, keepdim=True)", "x.max()",
        ),
        Mistake(
            "division by the sum over the whole tensor",
            "All your numbers together sum to 1. Instead, each slice along `dim` should sum to 1.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.sum()",
            also=(
                "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / e.sum()\n",
                "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n",
            ),
        ),
        Mistake(
            "normalisation without exp",
            "You divided the scores, or the scores minus their minimum, by their sum, so some weights are 0, negative or "
            "larger than 1. Which function makes every number positive first?",
            edits={
                "shifted = x - x.amax(dim, keepdim=True)": "shifted = x",
                "exponentials = shifted.exp()": "exponentials = shifted",
            },
            also=(
                "def softmax(x, dim):\n    e = x - x.amin(dim, keepdim=True)\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "logarithm of the softmax",
            "None of your numbers is positive, because they are log-probabilities. Return the softmax itself.",
            "exponentials / exponentials.sum(dim, keepdim=True)", "shifted - exponentials.sum(dim, keepdim=True).log()",
        ),
        Mistake(
            "division by the largest exponential instead of the sum",
            "The largest weight of each slice is exactly 1, and the slice sums to more than 1. Divide by the sum of "
            "the exponentials.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.amax(dim, keepdim=True)",
        ),
        Mistake(
            "powers of 2 instead of e",
            "Your weights have the correct order and sum to 1, but they differ too little from one another. Check the base of "
            "the exponential.",
            "shifted.exp()", "shifted.exp2()",
        ),
        Mistake(
            "large weights for small scores",
            "Your weights decrease as the scores increase. Look for a wrong sign.",
            "shifted = x - x.amax(dim, keepdim=True)", "shifted = x.amin(dim, keepdim=True) - x",
            also=(
                "def softmax(x, dim):\n    e = (x.amax(dim, keepdim=True) - x).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (-x).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "number other than the maximum subtracted",
            "Ordinary scores give correct weights, but a row with one much larger score gives NaN. If you subtract the mean "
            "or the minimum, a large positive number remains, and its exponential is infinite. Which choice leaves no number "
            "above 0?",
            "x.amax(dim, keepdim=True)", "x.mean(dim, keepdim=True)",
            also=(
                "def softmax(x, dim):\n    e = (x - x.amin(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x - x.mean()).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x - x.median(dim, keepdim=True).values).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "large scores clipped",
            "You treat all scores beyond a fixed limit alike, but the weights of the scores 1000 and 1003 should have the "
            "ratio 1 to e³. Which number can you subtract from a whole slice without changing its softmax?",
            code=_cut_off("80"),
            also=tuple(map(_cut_off, ("10", "20", "30", "50", "60", "70", "85", "87", "88"))),
        ),
        Mistake(
            "infinity or NaN replaced afterwards",
            "Where exp is infinite, or 0 for a whole slice, the information in the scores is lost. Replacing NaN or "
            "adding an epsilon only hides this. Subtract each slice's own maximum before you take exp.",
            "exponentials / exponentials.sum(dim, keepdim=True)",
            "torch.nan_to_num(x.exp() / x.exp().sum(dim, keepdim=True))",
            also=(
                "def softmax(x, dim):\n    e = torch.nan_to_num(x.exp())\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = torch.nan_to_num(x.exp())\n    return torch.nan_to_num(e / e.sum(dim, keepdim=True))\n",
                "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return torch.nan_to_num(e / e.sum(dim, keepdim=True))\n",
                "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / (e.sum(dim, keepdim=True) + 1e-9)\n",
            ),
        ),
        Mistake(
            "division by the largest score instead of subtraction",
            "You divide the scores by their largest value, which acts as a temperature, so your weights are too uniform or "
            "too concentrated. Subtract the same number from every score instead; this leaves the weights unchanged.",
            "x - x.amax(dim, keepdim=True)", "x / x.amax(dim, keepdim=True).abs()",
            also=(
                "def softmax(x, dim):\n    e = (x / x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x / x.abs().max()).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "only the first and the last axis handled",
            "Your weights are correct if `dim` is the first or the last axis. A tensor may have more axes, and `dim` may be "
            "any of them.",
            edits={
                "x.amax(dim, keepdim=True)": "x.amax(dim if dim == 0 or dim == -x.dim() else -1, keepdim=True)",
                "exponentials.sum(dim, keepdim=True)": "exponentials.sum(dim if dim == 0 or dim == -x.dim() else -1, keepdim=True)",
            },
            also=(
                """
def softmax(x, dim):
    axis = 0 if dim == 0 else -1
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)
""",
            ),
        ),
        Mistake(
            "epsilon too large",
            "Each slice along `dim` sums to slightly less than 1, because the number that you add to the divisor is not "
            "negligible. After the maximum has been subtracted, the sum is at least 1 and needs no epsilon.",
            "exponentials.sum(dim, keepdim=True)", "(exponentials.sum(dim, keepdim=True) + 0.01)",
            also=(
                "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / (e.sum(dim, keepdim=True) + 0.001)\n",
            ),
        ),
        Mistake(
            "axis lost in the sum",
            "Your result is correct if `dim` is the first axis; for other axes the shapes do not match. A sum or maximum "
            "along `dim` removes this axis, and the result is then aligned with the wrong axes. Look up `keepdim`.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.sum(dim)",
        ),
        Mistake(
            "sigmoid instead of the exponential",
            "All your large scores have almost the same weight, because a sigmoid is nearly constant for large inputs. The "
            "exponential is not.",
            "exponentials = shifted.exp()", "exponentials = x.sigmoid()",
        ),
        detached("softmax"),
    ),
    alternatives={
        "torch.softmax": """
def softmax(x, dim):
    return torch.softmax(x, dim=dim)
""",
        "through logsumexp": """
def softmax(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
""",
        "in float64": """
def softmax(x, dim):
    e = torch.exp(x.double() - x.amax(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)
""",
        "axis moved to the end, line by line": """
def softmax(x, dim):
    moved = x.movedim(dim, -1)
    lines = [torch.exp(line - line.max()) for line in moved.reshape(-1, moved.shape[-1])]
    return torch.stack([line / line.sum() for line in lines]).reshape(moved.shape).movedim(-1, dim)
""",
    },
    hints=(
        "We need positive numbers that sum to 1 and keep the order of the scores. Which function makes any number positive, "
        "and what is its value at 1000?",
        "The result has the shape of the input. The maximum and the sum along `dim` keep that axis with size 1, so "
        "that they broadcast along it.",
        "along dim:\n    subtract the maximum\n    take exp of each number\n    divide by the sum",
        "A near miss: `x.exp() / x.exp().sum(dim)` has two errors. exp(1000) is infinite, and the sum has lost the axis along "
        "which you divide. Look up `keepdim`.",
    ),
)

# ------------------------------------------------------------------------------------------ weighted sum


def weights_like(draw: Draw, *shape: int) -> np.ndarray:
    """Positive weights whose rows sum to slightly less than 1, as after dropping some words."""
    weights = draw.uniform(*shape, low=0.1)
    return weights / (weights.sum(-1, keepdims=True) * draw.uniform(*shape[:-1], 1, low=1.1, high=1.5))


def weighted_sum_cases(draw: Draw) -> Iterator[Case]:
    yield {"weights": weights_like(draw, 3, 4), "values": draw.normal(4, 6)}
    yield {"weights": weights_like(draw, 5, 5), "values": draw.normal(5, 5)}
    yield {"weights": weights_like(draw, 2, 4, 5), "values": draw.normal(2, 5, 3)}
    yield {"weights": weights_like(draw, 3, 2, 4, 6), "values": draw.normal(3, 2, 6, 5)}
    weights = weights_like(draw, 4, 7)
    weights[0] = 0  # a query that may attend to no key
    weights[1] *= -1
    yield {"weights": weights, "values": draw.normal(7, 3)}


weighted_sum = Exercise(
    cases=weighted_sum_cases,
    rule=Rule(axes={"": "Tq dv"}),
    mistakes=(
        Mistake(
            "mean of the weighted values",
            "Your vectors are too short by a factor equal to the number of keys, because you take the mean. The weights "
            "already determine the contribution of each value.",
            "weights @ values", "weights @ values / values.shape[-2]",
        ),
        Mistake(
            "plain average of the values",
            "All queries have the same output vector, because your function never uses the weights.",
            "weights @ values", "values.mean(-2, keepdim=True).expand(*weights.shape[:-1], values.shape[-1])",
        ),
        Mistake(
            "only the value with the largest weight",
            "Each of your rows is a single unchanged value vector. The other words should contribute in proportion to their "
            "weights.",
            "weights @ values",
            "values.gather(-2, weights.argmax(-1, keepdim=True)"
            ".expand(*weights.shape[:-1], values.shape[-1]))",
        ),
        Mistake(
            "weights read by column instead of by row",
            "Your row i uses a *column* of the weights, which contains the weights of several queries for one key. Row i of "
            "the weights contains the weights of query i for all keys.",
            "weights @ values",
            "weights.reshape(*weights.shape[:-2], weights.shape[-1], weights.shape[-2]).transpose(-2, -1) @ values",
        ),
        Mistake(
            "weights normalised again",
            "You rescaled each row of weights to sum to 1. Use the weights unchanged, even if a row sums to less than 1 or to "
            "0.",
            "weights @ values", "(weights / weights.sum(-1, keepdim=True)) @ values",
            also=(
                """
def weighted_sum(weights, values):
    return weights / (weights.sum(-1, keepdim=True) + 1e-9) @ values
""",
                """
def weighted_sum(weights, values):
    return torch.nn.functional.normalize(weights, p=1, dim=-1) @ values
""",
            ),
        ),
        Mistake(
            "softmax applied twice",
            "Your rows are almost the same for all queries, because you apply a softmax to the weights. The weights are "
            "already the result of a softmax.",
            "weights @ values", "weights.softmax(-1) @ values",
        ),
        Mistake(
            "weights and values swapped",
            "Your product has the wrong order, so it mixes the coordinates of each value (or fails, depending on the shapes). "
            "It should mix the words.",
            "weights @ values", "values @ weights",
        ),
        Mistake(
            "one vector for the whole sentence",
            "You added up the queries as well. Each query should have its own vector.",
            "weights @ values", "(weights @ values).sum(-2)",
        ),
        Mistake(
            "negative weights changed",
            "Your result is wrong for queries with negative weights, because you set these weights to 0 or removed their "
            "sign. Use the weights unchanged.",
            "weights @ values", "weights.clamp(min=0) @ values",
            also=("def weighted_sum(weights, values):\n    return weights.abs() @ values\n",),
        ),
        Mistake(
            "values of the first sentence used for all sentences",
            "Your first sentence is correct. However, the other sentences also mix the values of the first sentence. Each "
            "sentence has its own values.",
            "weights @ values", "weights @ values[(0,) * (values.dim() - 2)]",
            also=(
                "def weighted_sum(weights, values):\n    return weights @ (values if values.dim() == 2 else values[:1])\n",
            ),
        ),
        Mistake(
            "one word left out",
            "Each of your sums lacks one word. The words are numbered from 0 to Tk − 1, and `range(Tk)` covers all of them.",
            "weights @ values", "weights[..., :-1] @ values[..., :-1, :]",
            also=("def weighted_sum(weights, values):\n    return weights[..., 1:] @ values[..., 1:, :]\n",),
        ),
        Mistake(
            "sum over the queries instead of the keys",
            "You return one vector per key. Return one vector per *query*: the sum runs over the keys j.",
            "weights @ values", "weights.sum(-2).unsqueeze(-1) * values",
        ),
        Mistake(
            "sum over the coordinates instead of the keys",
            "You return one number per pair of words. Return one *vector* per query: the sum runs over the words j rather "
            "than over the coordinates of their vectors.",
            "weights @ values", "(weights[..., None] * values).sum(-1)",
            also=(
                "def weighted_sum(weights, values):\n    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(-1)\n",
            ),
        ),
        Mistake(
            "all sentences added up",
            "Your result has lost its leading axes, because you added up all sentences. Keep the results of the sentences "
            "separate.",
            "weights @ values", 'torch.einsum("...ij,...jd->id", weights, values)',
        ),
        detached("weighted_sum"),
    ),
    alternatives={
        "einsum": """
def weighted_sum(weights, values):
    return torch.einsum("...qk,...kd->...qd", weights, values)
""",
        "a loop over the words": """
def weighted_sum(weights, values):
    total = 0
    for word in range(values.shape[-2]):
        total = total + weights[..., word, None] * values[..., word, None, :]
    return total
""",
        "in float64": """
def weighted_sum(weights, values):
    return torch.matmul(weights.double(), values.double())
""",
    },
    hints=(
        "Three words have the weights 0.5, 0.3 and 0.2. How would you mix their three vectors by hand?",
        "The weights have shape (…, query, key), the values (…, key, d_v) and the result (…, query, d_v). The sum "
        "runs over the axis `key`.",
        "for each query i:   output[i] = Σ_j weights[i, j] · values[j]",
        "A near miss: `(weights[..., None] * values).sum(-1)` adds up the coordinates of a vector. The sum runs over "
        "the *words*.",
    ),
)

# ------------------------------------------------------------------------------------------ attention


def attention_cases(draw: Draw) -> Iterator[Case]:
    def case(keep: np.ndarray, *lead: int, query: int, key: int, d: int, d_v: int) -> Case:
        return {
            "queries": draw.normal(*lead, query, d),
            "keys": draw.normal(*lead, key, d),
            "values": draw.normal(*lead, key, d_v),
            "keep": keep,
        }

    yield case(random_keep(draw, 3, 5), query=3, key=5, d=4, d_v=6)
    # Padding: one row of `keep` serves all queries of a sentence.
    yield case(padding(draw, 2, 6)[:, None, :], 2, query=4, key=6, d=5, d_v=3)
    # One query may attend to no key.
    keep = random_keep(draw, 3, 7, 7)
    keep[0, 2] = False
    yield case(keep, 3, query=7, key=7, d=4, d_v=4)
    # Heads: the same padding mask for all of them.
    yield case(padding(draw, 4, 5)[:, None, None, :], 4, 3, query=6, key=5, d=8, d_v=2)
    # One entry for all keys: a query may attend to every key or to none, and this is the same in all sentences.
    yield case(draw.rng.permutation([True, False, True, True, False])[:, None], 2, query=5, key=4, d=3, d_v=6)
    yield large_scores(draw)
    yield huge_scores(draw)


def large_scores(draw: Draw) -> Case:
    """Scores of ±320, masked and unmasked, and a query without any key.

    The inputs are integers and √d is 2, so every correct way to compute the scores gives the same
    values.
    """
    queries, keys = (draw.integers(-2, 3, n, 4).astype(np.float32) for n in (5, 6))
    queries[:, 0] = 32, 32, -32, 0, 32
    keys[:, 0] = 20, 20, -20, -20, -20, 20
    keep = np.ones((5, 6), dtype=bool)
    keep[1, [0, 1, 5]] = False  # the masked scores are the large ones
    keep[2, [2, 4]] = False
    keep[3, 0] = False
    keep[4] = False
    rows, columns = draw.rng.permutation(5), draw.rng.permutation(6)
    return {
        "queries": queries[rows],
        "keys": keys[columns],
        "values": draw.normal(6, 3),
        "keep": keep[rows][:, columns],
    }


def huge_scores(draw: Draw) -> Case:
    """A query whose unmasked scores lie around −2²⁰, below values that are often used as minus infinity.

    Masked scores lie around −2²⁰ or, for one query, around 2²⁰; for another query one masked score is 4096 and the
    others are small. The inputs are integers, √d is 4 and d to the power ¼ is 2, so every way to
    compute the scores gives the same values. One large score always exceeds the others by far,
    because float32 could not represent the logarithm of a sum of several large scores.
    """
    queries, keys = (draw.integers(-2, 3, n, 16).astype(np.float32) for n in (6, 5))
    queries[:, 0], keys[:, 0] = (-2048, -2048, 2048, 0, 0, 0), 2048
    queries[:, 1], keys[:, 1] = (2048, 0, 0, 0, 4, 0), (0, 0, 0, 0, 4096)
    queries[:, 2], keys[:, 2] = (64, 64, 64, 0, 0, 0), 4 * draw.rng.permutation(5)
    keep = np.ones((6, 5), dtype=bool)
    keep[0, 3:] = False
    keep[[1, 2, 3, 4], [2, 0, 1, 4]] = False
    rows, columns = draw.rng.permutation(6), draw.rng.permutation(5)
    return {
        "queries": queries[rows],
        "keys": keys[columns],
        "values": draw.normal(5, 4),
        "keep": keep[rows][:, columns],
    }


def padding(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """True for real tokens. The first sentence, which is shown to students, ends in two padding tokens; another sentence has
    none."""
    lengths = draw.integers(2, tokens, batch)
    lengths[0], lengths[1 + draw.integers(0, batch - 1)] = tokens - 2, tokens
    return np.arange(tokens) < lengths[:, None]


def random_keep(draw: Draw, *shape: int) -> np.ndarray:
    """About two thirds are True; every row contains both True and False."""
    keep = draw.uniform(*shape) < 0.65
    places = np.argsort(draw.uniform(*shape), axis=-1)
    np.put_along_axis(keep, places[..., :1], True, axis=-1)
    np.put_along_axis(keep, places[..., 1:2], False, axis=-1)
    return keep


SCORES = "scale(similarities(queries, keys), queries.shape[-1])"
MASKED = "scores.masked_fill(~keep, torch.finfo(scores.dtype).min)"
ZEROED = "weights.masked_fill(~keep, 0.0)"


def _filled(fill: str, weights: str) -> str:
    """Code that fills the masked scores and then changes the weights, both in the given way."""
    return f"""
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill({fill}), dim=-1)
    return ({weights}) @ values
"""


def _taken_off(much: str, weights: str) -> str:
    """Code that lowers the masked scores and then changes the weights, both in the given way."""
    return f"""
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores - {much} * (~keep).float(), dim=-1)
    return ({weights}) @ values
"""


def _inlined(weights: str, exponentials: str = "torch.exp(scores) * keep") -> str:
    """Code with its own softmax, which does not subtract the maximum."""
    return f"""
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    e = {exponentials}
    return ({weights}) @ values
"""


attention = Exercise(
    cases=attention_cases,
    rule=Rule(axes={"": "Tq dv"}),
    uses=("attention.similarities", "attention.scale", "attention.softmax", "attention.weighted_sum"),
    mistakes=(
        Mistake(
            "softmax over the queries",
            "Each column of your weights sums to 1, but each row should. In your function the queries compete for a key, "
            "whereas the keys should compete for a query.",
            "dim=-1", "dim=-2",
        ),
        Mistake(
            "mask applied after the softmax without renormalising",
            "The remaining weights sum to less than 1, because the masked words received weight before you removed them. "
            "Apply the mask at an earlier step.",
            MASKED, "scores",
        ),
        Mistake(
            "mask inverted",
            "You attend only to the words that should be masked. True in `keep` means *may be attended to*.",
            edits={MASKED: MASKED.replace("~keep", "keep"), ZEROED: ZEROED.replace("~keep", "keep")},
            also=(
                _filled("keep, -1e9", "weights"),
                _filled("keep, -torch.inf", "weights"),
                _filled("keep, -torch.inf", "torch.nan_to_num(weights)"),
                _filled("keep, -1e9", "weights * keep.any(-1, keepdim=True)"),
            ),
        ),
        Mistake(
            "no mask at all",
            "Your result does not depend on `keep`. A key should have no weight where `keep` is False.",
            edits={MASKED: "scores", ZEROED: "weights"},
        ),
        Mistake(
            "NaN for a fully masked query",
            "Your result is wrong only for queries whose keys are all masked, because the softmax divides 0 by 0. The "
            "docstring defines the output in this case.",
            edits={MASKED: "scores.masked_fill(~keep, -torch.inf)", ZEROED: "weights"},
        ),
        Mistake(
            "average for a fully masked query",
            "Your result is wrong only for queries whose keys are all masked, because you average over words to which these "
            "queries may not attend. The docstring defines the output in this case.",
            ZEROED, "weights",
        ),
        Mistake(
            "masked scores set to 0",
            "Masked words still receive weight, because 0 is an ordinary score and exp(0) is 1. Which score has an "
            "exponential of 0?",
            edits={MASKED: "scores.masked_fill(~keep, 0.0)", ZEROED: "weights"},
            also=(
                _filled("~keep, 0.0", "weights * keep.any(-1, keepdim=True)"),
                _filled("~keep, 0.0", "weights * keep"),
            ),
        ),
        Mistake(
            "scaling missing",
            "Your weights are too concentrated, because the scores still have variance d. Scale them first.",
            SCORES, "similarities(queries, keys)",
        ),
        Mistake(
            "scaling by the number of keys",
            "Your scaling depends on the number of keys. It should depend on the number of coordinates of a key.",
            "queries.shape[-1]", "keys.shape[-2]",
        ),
        Mistake(
            "axis counted from the front",
            "Your result is correct for a single sentence. For a batch you scale by the number of words, which is `shape[1]` "
            "there. Count the axes from the end, because the coordinates are always the last axis.",
            "queries.shape[-1]", "queries.shape[1]",
        ),
        Mistake(
            "scaling by the size of the values",
            "Your weights are wrong if values and keys differ in size. The scores are sums over the coordinates of the "
            "*keys*.",
            "queries.shape[-1]", "values.shape[-1]",
        ),
        Mistake(
            "weights returned instead of the output",
            "You return the attention weights. Use them to compute the output of each query from the values.",
            f"weighted_sum({ZEROED}, values)", ZEROED,
        ),
        Mistake(
            "masked words removed after they have received all the weight",
            "Your result is correct unless a masked word has by far the largest score. This word then has all the weight, and "
            "after you remove it no weight remains. Mask it before the softmax, with a score lower than any other.",
            edits={MASKED: "scores", ZEROED: "(weights * keep) / (weights * keep).sum(-1, keepdim=True)"},
            also=(
                _filled(
                    "~keep & False, 0.0",
                    "torch.nan_to_num(weights * keep / (weights * keep).sum(-1, keepdim=True))",
                ),
                """
def attention(queries, keys, values, keep):
    scores = torch.einsum("...qd,...kd->...qk", queries.double(), keys.double()) / keys.shape[-1] ** 0.5
    weights = scores.softmax(-1) * keep
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-300) @ values.double()
""",
            ),
        ),
        Mistake(
            "overflow of exp for large scores",
            "Your result is correct unless a score is large: in float32 e^320 is infinite and e^−320 is 0, so you compute ∞/∞ "
            "or 0/0. Your own `softmax` handles such scores, so use it here.",
            code=_inlined("e / e.sum(-1, keepdim=True).clamp(min=1e-9)"),
            also=(
                _inlined(
                    "e / (e.sum(-1, keepdim=True) + 1e-9)", "torch.exp(scores.masked_fill(~keep, -torch.inf))"
                ),
                _inlined("e / e.sum(-1, keepdim=True)"),
                _inlined("e / e.sum(-1, keepdim=True)", "torch.exp(scores.masked_fill(~keep, -torch.inf))"),
                _inlined("torch.nan_to_num(e / e.sum(-1, keepdim=True))"),
                _inlined(
                    "torch.nan_to_num(e / e.sum(-1, keepdim=True))",
                    "torch.exp(scores.masked_fill(~keep, -torch.inf))",
                ),
            ),
        ),
        Mistake(
            "masked scores not low enough",
            "Your result is correct unless the scores are low. If the scores of the remaining words are far below 0, a masked "
            "word has the largest score. Which number is lower than every score?",
            code=_filled("~keep, -100.0", "weights * keep.any(-1, keepdim=True)"),
            also=(
                *(
                    _filled(f"~keep, -{low}.0", "weights * keep.any(-1, keepdim=True)")
                    for low in (10, 20, 50, 1_000)
                ),
                *(_filled(f"~keep, -{low}.0", "weights") for low in (10, 20, 50, 100, 1_000)),
                *(_filled(f"~keep, -{low}.0", "weights * keep") for low in (10, 20, 50, 100, 1_000)),
            ),
        ),
        Mistake(
            "too little subtracted from masked scores",
            "Your result is correct unless the score of a masked word exceeds the others by more than the number that you "
            "subtract. Replace this score by a number lower than any other score.",
            MASKED, "scores - 1e5 * (~keep).float()",
            also=(
                _taken_off("1e5", "weights"),
                _taken_off("1e5", "weights * keep.any(-1, keepdim=True)"),
                _taken_off("1e4", "weights"),
                _taken_off("1e4", "weights * keep.any(-1, keepdim=True)"),
            ),
        ),
        Mistake(
            "mask added to the scores as 0 and 1",
            "Masked words still receive weight, because adding `keep` raises the other scores by only 1. The score of a "
            "masked word must be so low that its exponential is 0.",
            edits={MASKED: "scores + keep.float()", ZEROED: "weights"},
            also=(
                _filled("~keep, 0.0", "weights * keep.any(-1, keepdim=True)").replace(
                    "scores.masked_fill(~keep, 0.0)", "scores + keep"
                ),
                _filled("~keep, 0.0", "weights").replace(
                    "scores.masked_fill(~keep, 0.0)", "scores - (~keep).float()"
                ),
            ),
        ),
        Mistake(
            "zeros for every query with a masked key",
            "Your rows are correct if every key may be attended to, but all other rows are 0. Only the output of a query that "
            "may attend to *no* key at all is 0.",
            ZEROED, "weights * keep.all(-1, keepdim=True)",
        ),
        Mistake(
            "division by d instead of √d",
            "Your weights are too uniform, because you divide the scores by d. Your `scale` expects d itself and takes the "
            "square root.",
            SCORES, "similarities(queries, keys) / queries.shape[-1]",
        ),
        Mistake(
            "softmax applied twice",
            "Your weights are too uniform, because you apply a second softmax, in which the weight 0 of a masked word is an "
            "ordinary score.",
            ZEROED, "softmax(weights, dim=-1).masked_fill(~keep, 0.0)",
            also=(_filled("~keep, -1e9", "torch.softmax(weights, dim=-1)"),),
        ),
        detached("attention"),
    ),
    alternatives={
        "F.scaled_dot_product_attention": """
def attention(queries, keys, values, keep):
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=keep)
""",
        "−∞ as the mask, NaN turned into 0": """
def attention(queries, keys, values, keep):
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = torch.softmax(torch.where(keep, scores, -torch.inf), dim=-1)
    return torch.nan_to_num(weights) @ values
""",
        "masked exponentials left out, in float64": """
def attention(queries, keys, values, keep):
    scores = torch.einsum("...qd,...kd->...qk", queries.double(), keys.double()) / keys.shape[-1] ** 0.5
    largest = scores.masked_fill(~keep, -torch.inf).amax(-1, keepdim=True).clamp_min(-1e300)
    weights = torch.where(keep, scores - largest, -torch.inf).exp()
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-300) @ values.double()
""",
        "finfo.min added as a bias": """
def attention(queries, keys, values, keep):
    bias = torch.zeros(keep.shape).masked_fill(~keep, torch.finfo(torch.float32).min / 2)
    weights = softmax(scale(similarities(queries, keys), keys.shape[-1]) + bias, -1)
    return weighted_sum(weights * keep.any(-1, keepdim=True), values)
""",
    },
    hints=(
        "You have already written the four steps. There is one new question: at which point must a word be masked so that the "
        "weights of the remaining words still sum to 1?",
        "Scores and weights have shape (…, query, key), and `keep` broadcasts to this shape: (batch, 1, key) "
        "serves all queries of a sentence. The result has shape (…, query, d_v).",
        "scores = similarities, scaled by the size of a key\n"
        "scores of masked words = a number whose exponential is 0\nweights = softmax over the keys\n"
        "weights of a fully masked query = 0\noutput = weighted sum of the values",
        "A near miss: `softmax(scores, -1) * keep` removes the masked words, but the rows then sum to less than 1. Masked "
        "scores of −∞ solve this problem but give NaN (0/0) in a row in which every key is masked.",
    ),
)

# ------------------------------------------------------------------------------------------ multi-head


def multi_head_cases(draw: Draw) -> Iterator[Case]:
    def case(batch: int, tokens: int, heads: int, d: int, keep: np.ndarray) -> Case:
        D = heads * d
        return {
            "x": draw.normal(batch, tokens, D),
            **{name: draw.normal(D, D, scale=D**-0.5) for name in ("W_q", "W_k", "W_v", "W_o")},
            "heads": heads,
            "keep": keep,
        }

    yield case(3, 5, 2, 4, padding(draw, 3, 5))
    keep = padding(draw, 2, 6)
    yield case(2, 6, 4, 3, np.roll(keep, 1, axis=1))  # padding may also come first
    yield case(4, 7, 3, 5, np.ones((4, 7), dtype=bool))
    # There are as many heads as tokens, so a forgotten transpose does not change the shape.
    keep = padding(draw, 3, 4)
    keep[-1] = False
    yield case(3, 4, 4, 2, keep)


def heads_at_once(
    split: str = "t.unflatten(-1, (heads, -1)).transpose(1, 2)",
    merge: str = "mixed.transpose(1, 2).flatten(2)",
    scores: str = "queries @ keys.mT / (D // heads) ** 0.5",
    projections: str = "(x @ W_q, x @ W_k, x @ W_v)",
) -> str:
    """Multi-head attention with all heads in one product; each part can be replaced by an incorrect version."""
    return f"""
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    batch, tokens, D = x.shape
    queries, keys, values = ({split} for t in {projections})
    scores = {scores}
    weights = torch.nan_to_num(scores.masked_fill(~keep[:, None, None, :], -torch.inf).softmax(-1))
    mixed = weights @ values
    return {merge} @ W_o
"""


multi_head = Exercise(
    cases=multi_head_cases,
    rule=Rule(axes={"": "B T D"}),
    uses=("attention.attention",),
    mistakes=(
        Mistake(
            "heads split by a view without a transpose",
            "The shape is correct, but each of your heads mixes parts of several words, because `view` regroups numbers in "
            "memory order. Split the D coordinates of each word and keep the words separate.",
            code=heads_at_once(split="t.reshape(batch, heads, tokens, D // heads)"),
            also=(
                heads_at_once(
                    "t.reshape(batch, heads, tokens, D // heads)", "mixed.reshape(batch, tokens, D)"
                ),
            ),
        ),
        Mistake(
            "heads joined without transposing back",
            "Each of your heads is correct, but the joined vectors are not: each contains the output of one head for several "
            "words. It should contain the outputs of all heads for one word.",
            code=heads_at_once(merge="mixed.reshape(batch, tokens, D)"),
        ),
        Mistake(
            "scaling by √D instead of √d",
            "Your weights are too uniform. The dot products of each head run over d = D / heads coordinates, so they "
            "should be divided by √d.",
            code=heads_at_once(scores="queries @ keys.mT / D**0.5"),
        ),
        Mistake(
            "W_o left out",
            "You return the concatenated outputs of the heads. Multiply them by W_o, which mixes them.",
            "torch.cat(outputs, dim=-1) @ W_o", "torch.cat(outputs, dim=-1)",
        ),
        Mistake(
            "W_o transposed",
            "Your last product uses the transpose of W_o. As in the other three matrices, its rows correspond to inputs, so "
            "compute x @ W.",
            "@ W_o", "@ W_o.T",
        ),
        Mistake(
            "projections transposed",
            "Your products use the transposes of the matrices. The rows of each W correspond to inputs, so compute x @ W. "
            "(`nn.Linear` stores the transpose.)",
            "x @ W_q, x @ W_k, x @ W_v", "x @ W_q.T, x @ W_k.T, x @ W_v.T",
            also=(
                heads_at_once(projections="(x @ W_q.T, x @ W_k.T, x @ W_v.T)").replace("@ W_o", "@ W_o.T"),
            ),
        ),
        Mistake(
            "slices of the input instead of slices of the projections",
            "Each of your heads sees only its own D / heads coordinates of the input. In the paper every head sees all "
            "coordinates: project first, then split.",
            code="""
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    d = x.shape[-1] // heads
    outputs = []
    for head in range(heads):
        c = slice(head * d, (head + 1) * d)
        part = x[..., c]
        outputs.append(attention(part @ W_q[c, c], part @ W_k[c, c], part @ W_v[c, c], keep[:, None, :]))
    return torch.cat(outputs, dim=-1) @ W_o
""",
        ),
        Mistake(
            "only one head computed",
            "Your result does not depend on the number of heads. Each head should use its own d columns of the projections.",
            edits={"x.shape[-1] // heads": "x.shape[-1]", "range(heads)": "range(1)"},
        ),
        Mistake(
            "mask inverted",
            "You attend only to the padding. True in `keep` marks a real word.",
            "keep[:, None, :]", "~keep[:, None, :]",
        ),
        Mistake(
            "padding not masked",
            "Your result is correct for sentences without padding. In all other sentences the words also attend to padding.",
            "keep[:, None, :]", "torch.ones_like(keep[:, None, :])",
        ),
        Mistake(
            "padding masked as queries instead of keys",
            "Your outputs at padding positions are 0, and real words still attend to padding. `keep` marks the words that may "
            "be attended *to*.",
            "keep[:, None, :]", "keep[:, :, None]",
        ),
        Mistake(
            "every H-th coordinate instead of consecutive ones",
            "Your head 0 consists of the coordinates 0, H, 2H, and so on. By convention head 0 consists of the first d "
            "coordinates and head 1 of the next d.",
            "slice(head * d, (head + 1) * d)", "slice(head, None, heads)",
        ),
        Mistake(
            "keys and values swapped",
            "You compare the queries with the values, and you mix the keys. The roles of keys and values are swapped.",
            "x @ W_q, x @ W_k, x @ W_v", "x @ W_q, x @ W_v, x @ W_k",
        ),
        Mistake(
            "outputs at padding positions set to 0",
            "Your outputs for real words are correct, but the outputs at padding positions are 0. Compute them like all "
            "others: the mask only prevents words from attending *to* padding.",
            "keep[:, None, :]", "keep[:, None, :] & keep[:, :, None]",
        ),
        Mistake(
            "average for a sentence that is all padding",
            "Your result is wrong only for a sentence without any real word, for which you average over the padding. The "
            "docstring defines the output in this case.",
            code=heads_at_once().replace("-torch.inf", "-1e9"),
        ),
        Mistake(
            "NaN for a sentence that is all padding",
            "Your result is wrong only for a sentence without any real word, for which the softmax divides 0 by 0. The "
            "docstring defines the output in this case.",
            code=heads_at_once().replace("torch.nan_to_num", ""),
        ),
        Mistake(
            "padding assumed to be at the end",
            "You count the real words of a sentence and assume that they come first. Padding may occur anywhere; `keep` marks "
            "the real words.",
            "keep[:, None, :]", "(torch.arange(keep.shape[1]) < keep.sum(1, keepdim=True))[:, None, :]",
        ),
        Mistake(
            "number and size of the heads swapped",
            "Your number of heads is the size that one head should have. `split` expects the size of each part, whereas "
            "`chunk` expects the number of parts.",
            edits={"x.shape[-1] // heads": "heads", "range(heads)": "range(x.shape[-1] // heads)"},
        ),
        Mistake(
            "values computed with W_q",
            "Your values are equal to the queries, because you compute them with W_q. Compute the values with W_v.",
            "x @ W_v\n", "x @ W_q\n",
        ),
        Mistake(
            "input added to the output",
            "Your output is correct except that you add x to it. This sum belongs to the layer around attention, which the "
            "next notebook introduces.",
            "torch.cat(outputs, dim=-1) @ W_o", "torch.cat(outputs, dim=-1) @ W_o + x",
        ),
        Mistake(
            "scaling missing",
            "Your weights are too concentrated, because the scores of each head still have variance d.",
            code=heads_at_once(scores="queries @ keys.mT"),
        ),
        detached("multi_head"),
    ),
    alternatives={
        "all heads in one product": heads_at_once(),
        "F.scaled_dot_product_attention": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    split = lambda t: t.unflatten(-1, (heads, -1)).transpose(1, 2)
    mixed = torch.nn.functional.scaled_dot_product_attention(
        split(x @ W_q), split(x @ W_k), split(x @ W_v), attn_mask=keep[:, None, None, :]
    )
    return mixed.transpose(1, 2).flatten(2) @ W_o
""",
        "slices of the matrices and a sum over heads": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    total = torch.zeros_like(x)
    for q, k, v, o in zip(W_q.chunk(heads, 1), W_k.chunk(heads, 1), W_v.chunk(heads, 1), W_o.chunk(heads, 0)):
        total += attention(x @ q, x @ k, x @ v, keep[:, None, :]) @ o
    return total
""",
        "einsum, in float64": """
def multi_head(x, W_q, W_k, W_v, W_o, heads, keep):
    x = x.double()
    q, k, v = (torch.einsum("btD,Dhd->bhtd", x, W.double().unflatten(1, (heads, -1))) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~keep[:, None, None], -torch.inf).softmax(-1).nan_to_num()
    return torch.einsum("bhqk,bhkd,hdD->bqD", weights, v, W_o.double().unflatten(0, (heads, -1)))
""",
    },
    hints=(
        "The model width is D = 12, and there are 3 heads. Which 4 of the 12 columns of `x @ W_q` belong to head 1?",
        "Queries, keys and values have shape (batch, token, D), and the slice of one head has shape (batch, token, "
        "d) with d = D // heads. `keep` has shape (batch, key) and must broadcast over (batch, query, key). The "
        "concatenated result has shape (batch, token, D).",
        "queries, keys, values = the three projections of x\nfor each head:\n"
        "    take its d columns of each of the three\n"
        "    output of the head = attention(…) with the padding masked for every query\n"
        "concatenate the outputs along the last axis, multiply by W_o",
        "A near miss: `(x @ W_q).view(batch, heads, tokens, d)` runs and has the correct shape, but the first d·tokens "
        "numbers in memory are not the first head of all words. A loop over slices of the last axis avoids this "
        "mistake.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def mended_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, heads, d in ((2, 6, 3, 4), (3, 5, 2, 8), (4, 4, 4, 3)):
        yield {
            **{name: draw.normal(batch, tokens, heads * d) for name in ("queries", "keys", "values")},
            "heads": heads,
        }


MENDED_SPLIT = "t.view(batch, tokens, heads, d).transpose(1, 2)"

mended_heads = Exercise(
    mends=True,
    cases=mended_cases,
    rule=Rule(axes={"": "B T D"}),
    mistakes=(
        Mistake(
            "original code unchanged",
            "This result is the same as with the code above, including the bug. The first word of a sentence still cannot see "
            "the last word.",
            code="""
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.reshape(batch * heads, -1, d)
    keys = keys.reshape(batch * heads, -1, d)
    values = values.reshape(batch * heads, -1, d)
    scores = queries @ keys.transpose(1, 2) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.reshape(batch, -1, width)
""",
        ),
        Mistake(
            "split fixed, join still wrong",
            "Your split is correct. The join has the same error in reverse: the heads of one word must be adjacent before the "
            "shape is changed.",
            "mixed.transpose(1, 2).reshape", "mixed.reshape",
        ),
        Mistake(
            "join fixed, split still wrong",
            "Your join is correct. The split still regroups numbers in memory order, at least for the values. Name "
            "the four axes in their memory order, then swap two of them.",
            MENDED_SPLIT, "t.reshape(batch, heads, tokens, d)",
            also=(
                """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys = (t.view(batch, tokens, heads, d).transpose(1, 2) for t in (queries, keys))
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values.view(batch, heads, tokens, d)
    return mixed.transpose(1, 2).reshape(batch, tokens, width)
""",
            ),
        ),
        Mistake(
            "only one head computed",
            "You no longer mix the words, but your result does not depend on the number of heads.",
            edits={
                "heads, d).transpose": "1, width).transpose",
                "scores = queries @ keys.transpose(-2, -1) / d**0.5": "scores = queries @ keys.transpose(-2, -1) / width**0.5",
            },
        ),
        Mistake(
            "heads attending to each other",
            "In your function the words no longer interact: within each word, its heads attend to each other. Which axis "
            "should come just before d?",
            edits={
                MENDED_SPLIT: "t.view(batch, tokens, heads, d)",
                "mixed.transpose(1, 2).reshape": "mixed.reshape",
            },
        ),
        Mistake(
            "scaling by √D instead of √d",
            "Your heads are correct, but you scale the scores by √D, as if there were a single head of full width.",
            "/ d**0.5", "/ width**0.5",
        ),
        Mistake(
            "softmax over the queries",
            "Your heads are correct, but each column of your weights sums to 1 instead of each row.",
            "dim=-1", "dim=-2",
        ),
        Mistake(
            "every H-th coordinate instead of consecutive ones",
            "Your head 0 consists of the coordinates 0, H, 2H, and so on. By convention head 0 consists of the first d "
            "coordinates and head 1 of the next d.",
            MENDED_SPLIT, "t.view(batch, tokens, d, heads).permute(0, 3, 1, 2)",
            also=(
                """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, d, heads).permute(0, 3, 1, 2) for t in (queries, keys, values))
    mixed = torch.softmax(queries @ keys.transpose(-2, -1) / d**0.5, dim=-1) @ values
    return mixed.permute(0, 2, 3, 1).reshape(batch, tokens, width)
""",
            ),
        ),
        Mistake(
            "heads interleaved by the join",
            "Your split is correct. However, your joined vectors start with coordinate 0 of all heads, followed by coordinate "
            "1 of all heads. The coordinates of one head should be adjacent.",
            "mixed.transpose(1, 2).reshape", "mixed.permute(0, 2, 3, 1).reshape",
        ),
        Mistake(
            "attention across the sentences of a batch",
            "Your words attend to the words of all sentences in the batch. Keep a separate axis for the batch.",
            code="""
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    q, k, v = (t.reshape(batch * tokens, heads, -1).transpose(0, 1) for t in (queries, keys, values))
    mixed = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v
    return mixed.transpose(0, 1).reshape(batch, tokens, width)
""",
        ),
        Mistake(
            "words attend only to themselves and earlier words",
            "Your words attend only to themselves and to earlier words, as in a decoder. This function needs no mask: "
            "every word attends to all words.",
            " / d**0.5", " / d**0.5 + torch.full((tokens, tokens), -torch.inf).triu(1)",
        ),
        Mistake(
            "scaling missing",
            "Your heads are correct, but you do not divide the scores by √d.",
            " / d**0.5", "",
        ),
        detached("mended_heads"),
    ),
    alternatives={
        "a loop over the heads": """
def mended_heads(queries, keys, values, heads):
    parts = zip(*(t.chunk(heads, dim=-1) for t in (queries, keys, values)))
    return torch.cat([(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v for q, k, v in parts], dim=-1)
""",
        "batch and heads on one axis, after a transpose": """
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    split = lambda t: t.view(batch, tokens, heads, d).transpose(1, 2).reshape(batch * heads, tokens, d)
    queries, keys, values = split(queries), split(keys), split(values)
    mixed = torch.softmax(queries @ keys.transpose(1, 2) / d**0.5, dim=-1) @ values
    return mixed.view(batch, heads, tokens, d).transpose(1, 2).reshape(batch, tokens, width)
""",
        "the student's attention function": """
def mended_heads(queries, keys, values, heads):
    q, k, v = (t.unflatten(-1, (heads, -1)).movedim(-2, 1) for t in (queries, keys, values))
    everything = torch.ones(queries.shape[1], keys.shape[1], dtype=torch.bool)
    return attention(q, k, v, everything).movedim(1, -2).flatten(-2)
""",
    },
    hints=(
        "With 6 words, 3 heads and d = 4: which numbers of which words end up in `queries[0]` after the `view` "
        "above?",
        "The inputs and the result have shape (batch, token, D). Attention over all heads at once needs (batch, "
        "head, token, d).",
        "split: name the axes in memory order, (batch, token, head, d), then swap token and head\n"
        "attention as before\njoin: swap head and token back, and only then merge head and d",
        "A near miss: after you have corrected the split, `mixed.reshape(batch, tokens, width)` still runs and still joins the "
        "wrong numbers, because after attention the head axis comes before the token axis.",
    ),
)

# ------------------------------------------------------------------------------------------ extension


def split_heads_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, heads, d in ((2, 5, 3, 4), (3, 4, 6, 2), (4, 6, 2, 5), (2, 3, 3, 3)):
        yield {"x": draw.normal(batch, tokens, heads * d), "heads": heads}


SPLIT = "x.unflatten(-1, (heads, -1)).transpose(1, 2)"

split_heads = Exercise(
    cases=split_heads_cases,
    rule=Rule(axes={"": "B H T d"}),
    mistakes=(
        Mistake(
            "view without a transpose",
            "The shape is correct but the numbers are wrong. Your head 0 contains all coordinates of the first words. It "
            "should contain the first coordinates of all words.",
            SPLIT, "x.reshape(x.shape[0], heads, x.shape[1], -1)",
        ),
        Mistake(
            "token axis before the head axis",
            "Your axes are batch, token, head, d. Attention works on the last two axes, so these should be token "
            "and d.",
            SPLIT, "x.unflatten(-1, (heads, -1))",
        ),
        Mistake(
            "head axis before the batch axis",
            "Your first axis is the axis of the heads. The batch axis should come first.",
            SPLIT, "x.unflatten(-1, (heads, -1)).permute(2, 0, 1, 3)",
        ),
        Mistake(
            "every H-th coordinate instead of consecutive ones",
            "Your head 0 consists of the coordinates 0, H, 2H, and so on. By convention head 0 consists of the first d "
            "coordinates and head 1 of the next d.",
            SPLIT, "x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)",
        ),
        Mistake(
            "number and size of the heads swapped",
            "Your number of heads is the size that one head should have. `heads` is the number of heads, and each head has "
            "size d = D / heads.",
            SPLIT, "x.unflatten(-1, (-1, heads)).transpose(1, 2)",
        ),
        Mistake(
            "token and coordinate axes swapped",
            "Your last two axes are d and token. Attention expects token and d.",
            SPLIT, "x.unflatten(-1, (heads, -1)).permute(0, 2, 3, 1)",
        ),
        Mistake(
            "only the first head returned",
            "Your result has no head axis, because you return only the first slice of the coordinates.",
            SPLIT, "x[..., : x.shape[-1] // heads]",
        ),
        Mistake(
            "words and coordinates swapped before the split",
            "The shape is correct but the numbers are wrong. You swapped words and coordinates first, so each row combines "
            "numbers from several words. Split the last axis first, then swap token and head.",
            SPLIT, "x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1)",
        ),
        Mistake(
            "batch and heads merged into one axis",
            "The heads of all sentences share one axis. Batch and heads should have separate axes.",
            SPLIT, f"{SPLIT}.flatten(0, 1)",
        ),
        Mistake(
            "heads in reverse order",
            "Your head 0 is the last head. Head h should consist of the coordinates h·d to (h+1)·d − 1.",
            SPLIT, f"{SPLIT}.flip(1)",
        ),
    ),
    alternatives={
        "chunks, stacked": """
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)
""",
        "numpy": """
import numpy as np
def split_heads(x, heads):
    batch, tokens, width = x.shape
    return np.swapaxes(x.numpy().reshape(batch, tokens, heads, width // heads), 1, 2)
""",
        "a loop that fills an empty tensor": """
def split_heads(x, heads):
    batch, tokens, width = x.shape
    d = width // heads
    out = torch.empty(batch, heads, tokens, d, dtype=torch.float64)
    for head in range(heads):
        for i in range(d):
            out[:, head, :, i] = x[:, :, head * d + i]
    return out
""",
    },
    hints=(
        "What is the order of the numbers of x in memory, and which axis varies fastest? Where does one head end in this "
        "order?",
        "x has shape (batch, token, D). Once D is split into two axes, the shape is (batch, token, head, d). The "
        "result has shape (batch, head, token, d).",
        "split the last axis into (heads, d), which moves nothing in memory\nswap the axes token and head",
        "A near miss: `x.view(batch, heads, tokens, d)` has the correct shape straight away, but it distributes the words "
        "over the heads instead of the coordinates.",
    ),
)
