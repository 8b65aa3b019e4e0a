"""02 Attention, step by step: inputs, known mistakes, unusual right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
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
            "keys and queries have changed places",
            "Your rows belong to the keys and your columns to the queries. Row i should hold what query i finds in every key.",
            "queries @ keys.transpose(-2, -1)", "keys @ queries.transpose(-2, -1)",
        ),
        Mistake(
            "cosines instead of dot products",
            "Every number lies between −1 and 1: the lengths of the vectors have been divided out. "
            "Here they stay in; attention compares with the plain dot product.",
            "queries @ keys.transpose(-2, -1)",
            "torch.nn.functional.normalize(queries, dim=-1)"
            " @ torch.nn.functional.normalize(keys, dim=-1).transpose(-2, -1)",
        ),
        Mistake(
            "the queries compared with themselves",
            "Your answer does not change when the keys do. Which of the two inputs is never read?",
            "queries @ keys.transpose(-2, -1)", "queries @ queries.transpose(-2, -1)",
        ),
        Mistake(
            "the keys compared with themselves",
            "Your answer does not change when the queries do. Which of the two inputs is never read?",
            "queries @ keys.transpose(-2, -1)", "keys @ keys.transpose(-2, -1)",
        ),
        Mistake(
            "each query compared only with the key at its own place",
            "There is one number per word, where one per *pair* of words is needed: query 0 with all keys, query 1 with all keys, …",
            "queries @ keys.transpose(-2, -1)", "(queries * keys).sum(-1)",
        ),
        Mistake(
            "the mean of the products instead of their sum",
            "Your numbers are right up to one constant factor, the number of coordinates. A dot product is a sum.",
            "queries @ keys.transpose(-2, -1)", "queries @ keys.transpose(-2, -1) / queries.shape[-1]",
        ),
        Mistake(
            "the softmax already taken",
            "Each of your rows adds up to 1: you have taken the softmax. It is a step of its own, after the next; the products stay as they are.",
            "queries @ keys.transpose(-2, -1)", "torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)",
        ),
        Mistake(
            "already divided by √d",
            "Your numbers are right up to the factor √d. That division is a step of its own; it comes next.",
            "queries @ keys.transpose(-2, -1)", "queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5",
        ),
        Mistake(
            "the keys reshaped instead of transposed",
            "The shape is right and the numbers are not: reshaping keeps the order in memory, "
            "so that one of your columns mixes numbers of several keys.",
            "keys.transpose(-2, -1)", "keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])",
        ),
        Mistake(
            "a distance instead of a similarity",
            "The more two words agree, the smaller your number. A similarity grows.",
            "queries @ keys.transpose(-2, -1)", "torch.cdist(queries, keys)",
            also=(
                """
def similarities(queries, keys):
    return torch.cdist(queries, keys) ** 2
""",
            ),
        ),
        Mistake(
            "minus the distance",
            "None of your numbers is positive: these are distances with a minus. The dot product is positive where two words agree.",
            "queries @ keys.transpose(-2, -1)", "-torch.cdist(queries, keys)",
        ),
        Mistake(
            "the keys of the first sentence for all",
            "Your first sentence is right. The queries of the others are compared with the first one's keys, too.",
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
            "Your sums are one coordinate short: the coordinates have the numbers 0 to d − 1, and `range(d)` runs through all of them.",
            "queries @ keys.transpose(-2, -1)", "queries[..., :-1] @ keys[..., :-1].transpose(-2, -1)",
            also=(
                """
def similarities(queries, keys):
    return queries[..., 1:] @ keys[..., 1:].transpose(-2, -1)
""",
            ),
        ),
        Mistake(
            "for one sentence only",
            "Your function works for one sentence and stops on a batch. With leading axes, only the last two axes of the keys change places: "
            "`.T` and `transpose(0, 1)` turn others.",
            "keys.transpose(-2, -1)", "keys.transpose(0, 1)",
        ),
        Mistake(
            "summed over the sentences",
            "Your answer has lost the leading axes: the scores of all sentences were added up. Each sentence keeps its own.",
            "queries @ keys.transpose(-2, -1)", 'torch.einsum("...id,...jd->ij", queries, keys)',
        ),
        Mistake(
            "every query with the keys of all sentences",
            "You have an axis too many where there are several sentences: a query meets only the keys of its own one.",
            "queries @ keys.transpose(-2, -1)", "torch.tensordot(queries, keys, dims=([-1], [-1]))",
        ),
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
        "numpy, with loops over the words": """
import numpy as np
def similarities(queries, keys):
    queries, keys = queries.numpy(), keys.numpy()
    columns = []
    for k in range(keys.shape[-2]):
        columns.append((queries * keys[..., k : k + 1, :]).sum(-1))
    return np.stack(columns, axis=-1)
""",
    },
    hints=(
        "For one query and one key you know the answer: multiply coordinate by coordinate and add up. "
        "How many such numbers are there for 3 queries and 4 keys, and how would you lay them out?",
        "In: queries (…, query, d), keys (…, key, d). Out: (…, query, key). The axis d is the one that is summed away; "
        "leading axes (the sentences of a batch) stay as they are.",
        "for each query i, for each key j:   scores[i, j] = Σ_d queries[i, d] · keys[j, d]\n"
        "That is a matrix product in which the second matrix has d as its *rows*.",
        "Near miss: `queries @ keys` asks for d columns on the left and d rows on the right, but keys has its words as rows. "
        "`.T` would turn it for one sentence and scramble a batch: swap only the last two axes.",
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
            "divided by d instead of √d",
            "Your numbers are too small by the factor √d. It is the variance that grows like d; the typical size of a number grows more slowly.",
            "d**0.5", "d",
        ),
        Mistake(
            "multiplied by √d",
            "Your scores have grown. We want the typical size back at 1.",
            "scores / d**0.5", "scores * d**0.5",
        ),
        Mistake(
            "divided by the root of the number of keys",
            "What you divide by depends on the length of the sentence. The sum that made the scores large ran over the coordinates.",
            "d**0.5", "scores.shape[-1] ** 0.5",
        ),
        Mistake(
            "divided by the measured standard deviation of all scores",
            "Your divisor is computed from the scores themselves. Ours is a constant known in advance: it depends on d alone.",
            "d**0.5", "scores.std()",
        ),
        Mistake(
            "each row standardised",
            "Every row of yours has mean 0 and variance 1. That erases how decided a query was; only one constant factor is taken out here.",
            "scores / d**0.5", "(scores - scores.mean(-1, keepdim=True)) / scores.std(-1, keepdim=True)",
        ),
        Mistake(
            "divided by d²",
            "Your numbers are far too small. Which power of d has the typical size of a sum of d independent numbers?",
            "d**0.5", "d**2",
        ),
        Mistake(
            "divided by the largest score",
            "Your largest score is exactly 1. The divisor here is not looked up in the scores: it depends on d alone.",
            "d**0.5", "scores.max()",
        ),
        Mistake(
            "a number written where d belongs",
            "You divide by the same number whatever d is. It is 50 for GloVe vectors only: read d from the argument.",
            "d**0.5", "50**0.5",
            also=tuple(
                f"def scale(scores, d):\n    return scores / {number}**0.5\n"
                for number in (64, 300, 512, 768)
            ),
        ),
        Mistake(
            "the root rounded down",
            "You are right where d is a square number. The root of the others is no whole number: leave it as it is.",
            "d**0.5", "int(d**0.5)",
            also=(
                "def scale(scores, d):\n    return scores / round(d**0.5)\n",
                "def scale(scores, d):\n    return scores / (d**0.5 // 1 + 1)\n",
            ),
        ),
        Mistake(
            "a half that is no exponent",
            "A 2 stands in your divisions where a root is to be taken: powers come before divisions, so `d ** 1/2` is (d ** 1)/2 and "
            "`x / d ** 1/2` is x/d/2. The exponent ½ needs brackets.",
            "d**0.5", "(d / 2)",
            also=("def scale(scores, d):\n    return scores / d**1 / 2\n",),
        ),
        Mistake(
            "d − 1 for d",
            "Your numbers are a little too large, most of all for small d: you divide by √(d − 1), as if d − 1 numbers had been added up.",
            "d**0.5", "(d - 1) ** 0.5",
        ),
    ),
    alternatives={
        "multiplied by d to the power −½": """
def scale(scores, d):
    return scores * d ** -0.5
""",
        "math.sqrt, in float64": """
import math
def scale(scores, d):
    return scores.double() / math.sqrt(d)
""",
        "the root as a tensor": """
def scale(scores, d):
    return torch.div(scores, torch.sqrt(torch.tensor(float(d))))
""",
    },
    hints=(
        "If one product of two random coordinates has variance 1, what is the variance of a sum of d of them? And the typical size?",
        "In: scores (…, query, key) and the whole number d. Out: the same shape as scores.",
        "variance of a score = d  →  typical size = the square root of that  →  divide every score by it",
        "Near miss: `scores / d` over-corrects: the scores of a 50-dimensional head would end with variance 1/50, "
        "and the softmax would hardly prefer any word.",
    ),
)

# ------------------------------------------------------------------------------------------ softmax


def softmax_cases(draw: Draw) -> Iterator[Case]:
    yield {"x": draw.normal(3, 5), "dim": 1}
    yield {"x": draw.normal(6, 4), "dim": 0}
    # Rows far from zero, each by another amount: exp alone would overflow or vanish. Float32 holds quarters of this
    # size exactly, so that all right ways to compute a softmax agree.
    far = np.array([1000, -1000, 500, 0])[:, None] + draw.integers(-12, 13, 4, 6) / 4
    yield {"x": draw.rng.permutation(far).astype(np.float32), "dim": -1}
    yield {"x": draw.normal(2, 5, 3, 4), "dim": 2}
    yield {"x": draw.normal(3, 2, 5), "dim": -3}
    yield {"x": draw.normal(7), "dim": 0}
    # Entries pushed down, as a mask leaves them, and a line that has been pushed down as a whole.
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
            "always over the last axis",
            "You are right wherever the asked axis is the last one. `dim` says which axis should add up to 1.",
            edits={
                "x.amax(dim, keepdim=True)": "x.amax(-1, keepdim=True)",
                "exponentials.sum(dim, keepdim=True)": "exponentials.sum(-1, keepdim=True)",
            },
        ),
        Mistake(
            "exp of large numbers",
            "On small scores you are right. On scores around 1000 the exponentials are infinite, and ∞/∞ is NaN. "
            "Which number may be subtracted from a whole row without changing its softmax?",
            "x - x.amax(dim, keepdim=True)", "x",
        ),
        Mistake(
            "the largest number of the whole tensor subtracted",
            "Rows that lie far below the largest row come out as NaN: all their exponentials are 0. Each row needs its own largest number.",
            "x.amax(dim, keepdim=True)", "x.max()",
        ),
        Mistake(
            "divided by the sum over the whole tensor",
            "All your numbers together add up to 1. Here each line along `dim` adds up to 1 by itself.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.sum()",
            also=(
                "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / e.sum()\n",
                "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n",
            ),
        ),
        Mistake(
            "normalised without exp",
            "Your weights are the scores, or the scores less their smallest, divided by their sum: some are 0, negative or larger than 1. "
            "What makes every number positive first?",
            edits={
                "shifted = x - x.amax(dim, keepdim=True)": "shifted = x",
                "exponentials = shifted.exp()": "exponentials = shifted",
            },
            also=(
                "def softmax(x, dim):\n    e = x - x.amin(dim, keepdim=True)\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "the logarithm of the softmax",
            "All your numbers are negative: these are log-probabilities.",
            "exponentials / exponentials.sum(dim, keepdim=True)", "shifted - exponentials.sum(dim, keepdim=True).log()",
        ),
        Mistake(
            "divided by the largest exponential instead of their sum",
            "The largest weight of every line is exactly 1, and the line adds up to more than 1.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.amax(dim, keepdim=True)",
        ),
        Mistake(
            "powers of 2 instead of e",
            "The order of your weights is right and each line adds up to 1, but they differ too little from each other: check the base.",
            "shifted.exp()", "shifted.exp2()",
        ),
        Mistake(
            "small scores get the large weights",
            "Your weights fall where the scores rise. Look for a sign.",
            "shifted = x - x.amax(dim, keepdim=True)", "shifted = x.amin(dim, keepdim=True) - x",
            also=(
                "def softmax(x, dim):\n    e = (x.amax(dim, keepdim=True) - x).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (-x).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "another number than the largest subtracted",
            "Right on ordinary scores, and NaN where one score lies far above the others of its line: taking off their mean, or the smallest, "
            "leaves a positive number whose exponential is infinite. Which choice leaves none above 0?",
            "x.amax(dim, keepdim=True)", "x.mean(dim, keepdim=True)",
            also=(
                "def softmax(x, dim):\n    e = (x - x.amin(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x - x.mean()).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x - x.median(dim, keepdim=True).values).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "large scores cut off",
            "Scores beyond a bound are all alike to you: two scores of 1000 and 1003 should get weights in the proportion 1 to e³. "
            "Which number may be subtracted from a whole line without changing its softmax?",
            code=_cut_off("80"),
            also=tuple(map(_cut_off, ("10", "20", "30", "50", "60", "70", "85", "87", "88"))),
        ),
        Mistake(
            "infinity or NaN replaced afterwards",
            "Where exp is infinite, or 0 for all of a line, your weights are not those of the scores any more; replacing NaN or adding an "
            "epsilon only hides it. Subtract each line's own largest number before you take exp.",
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
            "divided by the largest score instead of subtracting it",
            "Your weights are too even, or too sharp: dividing the scores by a number is a temperature and changes the weights. "
            "Subtracting one does not.",
            "x - x.amax(dim, keepdim=True)", "x / x.amax(dim, keepdim=True).abs()",
            also=(
                "def softmax(x, dim):\n    e = (x / x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n",
                "def softmax(x, dim):\n    e = (x / x.abs().max()).exp()\n    return e / e.sum(dim, keepdim=True)\n",
            ),
        ),
        Mistake(
            "rows or columns, no other axis",
            "You are right for the first and the last axis. An array may have more than two, and `dim` may be any of them.",
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
            "an epsilon that is not small",
            "Each of your lines adds up to a little less than 1: what you added to the divisor counts. After the largest score is "
            "taken off, the sum is 1 or more and needs nothing added.",
            "exponentials.sum(dim, keepdim=True)", "(exponentials.sum(dim, keepdim=True) + 0.01)",
            also=(
                "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / (e.sum(dim, keepdim=True) + 0.001)\n",
            ),
        ),
        Mistake(
            "the axis of the sum is lost",
            "You are right where `dim` is the first axis; elsewhere the shapes do not fit. A sum or a maximum along `dim` loses that axis, "
            "and then lines up with others: look up `keepdim`.",
            "exponentials.sum(dim, keepdim=True)", "exponentials.sum(dim)",
        ),
        Mistake(
            "a sigmoid in place of the exponential",
            "Your large scores all weigh the same: a sigmoid flattens out above 0. The exponential does not.",
            "exponentials = shifted.exp()", "exponentials = x.sigmoid()",
        ),
    ),
    alternatives={
        "torch's own": """
def softmax(x, dim):
    return torch.softmax(x, dim=dim)
""",
        "through logsumexp": """
def softmax(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
""",
        "numpy": """
import numpy as np
def softmax(x, dim):
    x = x.numpy()
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)
""",
        "the axis moved to the end, line by line": """
def softmax(x, dim):
    moved = x.movedim(dim, -1)
    lines = [torch.exp(line - line.max()) for line in moved.reshape(-1, moved.shape[-1])]
    return torch.stack([line / line.sum() for line in lines]).reshape(moved.shape).movedim(-1, dim)
""",
    },
    hints=(
        "We need positive numbers that add up to 1 and keep the order of the scores. Which function makes any number positive? "
        "And what does it make of 1000?",
        "In and out: the same shape. In between, the largest number and the sum along `dim` have size 1 on that axis, "
        "so that they stretch over it.",
        "subtract from each line its largest number\ntake exp of everything\ndivide each line by its sum",
        "Near miss: `x.exp() / x.exp().sum(dim)` has two faults: exp(1000) is infinite, "
        "and the sum has lost the axis along which it should be divided. Look up `keepdim`.",
    ),
)

# ------------------------------------------------------------------------------------------ weighted sum


def weights_like(draw: Draw, *shape: int) -> np.ndarray:
    """Positive weights whose rows add up to a little less than 1, as after dropping some words."""
    weights = draw.uniform(*shape, low=0.1)
    return weights / (weights.sum(-1, keepdims=True) * draw.uniform(*shape[:-1], 1, low=1.1, high=1.5))


def weighted_sum_cases(draw: Draw) -> Iterator[Case]:
    yield {"weights": weights_like(draw, 3, 4), "values": draw.normal(4, 6)}
    yield {"weights": weights_like(draw, 5, 5), "values": draw.normal(5, 5)}
    yield {"weights": weights_like(draw, 2, 4, 5), "values": draw.normal(2, 5, 3)}
    yield {"weights": weights_like(draw, 3, 2, 4, 6), "values": draw.normal(3, 2, 6, 5)}
    weights = weights_like(draw, 4, 7)
    weights[0] = 0  # a query that may attend to nothing
    weights[1] *= -1
    yield {"weights": weights, "values": draw.normal(7, 3)}


weighted_sum = Exercise(
    cases=weighted_sum_cases,
    rule=Rule(axes={"": "Tq dv"}),
    mistakes=(
        Mistake(
            "the mean of the weighted values",
            "Your vectors are too short by a factor that is the number of keys. The weights already say how much each value counts.",
            "weights @ values", "weights @ values / values.shape[-2]",
        ),
        Mistake(
            "a plain average of the values",
            "Every query gets the same vector: your weights are never read.",
            "weights @ values", "values.mean(-2, keepdim=True).expand(*weights.shape[:-1], values.shape[-1])",
        ),
        Mistake(
            "only the value with the largest weight",
            "Each of your rows is one of the values, unchanged. The other words should contribute their share.",
            "weights @ values",
            "values.gather(-2, weights.argmax(-1, keepdim=True)"
            ".expand(*weights.shape[:-1], values.shape[-1]))",
        ),
        Mistake(
            "weights read by column instead of by row",
            "Your row i is mixed with a *column* of weights: what several queries give to one key. Row i of the weights is what query i gives.",
            "weights @ values",
            "weights.reshape(*weights.shape[:-2], weights.shape[-1], weights.shape[-2]).transpose(-2, -1) @ values",
        ),
        Mistake(
            "the weights normalised once more",
            "You bring every row of weights to the sum 1. They are to be used as they are, also when a row adds up to less than 1, or to 0.",
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
            "softmax taken a second time",
            "Your rows are almost the same for all queries. The weights come out of a softmax already.",
            "weights @ values", "weights.softmax(-1) @ values",
        ),
        Mistake(
            "weights and values have changed places",
            "Where the shapes allow it, your product is taken in the wrong order: it mixes the coordinates of a value, not the words.",
            "weights @ values", "values @ weights",
        ),
        Mistake(
            "one vector for the whole sentence",
            "You have added up the queries too. Each query keeps a vector of its own.",
            "weights @ values", "(weights @ values).sum(-2)",
        ),
        Mistake(
            "negative weights changed",
            "A query with negative weights comes out wrong: they were set to 0 or lost their sign. The weights are to be used as they are.",
            "weights @ values", "weights.clamp(min=0) @ values",
            also=("def weighted_sum(weights, values):\n    return weights.abs() @ values\n",),
        ),
        Mistake(
            "the values of the first sentence for all",
            "Your first sentence is right. In the others, too, the values of the first one are mixed.",
            "weights @ values", "weights @ values[(0,) * (values.dim() - 2)]",
            also=(
                "def weighted_sum(weights, values):\n    return weights @ (values if values.dim() == 2 else values[:1])\n",
            ),
        ),
        Mistake(
            "one word left out",
            "Your sums are one word short: the words have the numbers 0 to Tk − 1, and `range(Tk)` runs through all of them.",
            "weights @ values", "weights[..., :-1] @ values[..., :-1, :]",
            also=("def weighted_sum(weights, values):\n    return weights[..., 1:] @ values[..., 1:, :]\n",),
        ),
        Mistake(
            "summed over the queries instead of the keys",
            "You get one vector for each word that is asked, where each *asking* word should get one: the sum runs over the keys j.",
            "weights @ values", "weights.sum(-2).unsqueeze(-1) * values",
        ),
        Mistake(
            "summed over the coordinates instead of the keys",
            "You have one number for each pair of words, where one *vector* for each query is asked for. The sum runs over the words j, not over "
            "the coordinates of their vectors.",
            "weights @ values", "(weights[..., None] * values).sum(-1)",
            also=(
                "def weighted_sum(weights, values):\n    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(-1)\n",
            ),
        ),
        Mistake(
            "all sentences added up",
            "Your answer has lost the leading axes: the sums of all sentences were added up. Each sentence keeps its own.",
            "weights @ values", 'torch.einsum("...ij,...jd->id", weights, values)',
        ),
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
        "numpy, in float64": """
import numpy as np
def weighted_sum(weights, values):
    return np.matmul(weights.numpy().astype(np.float64), values.numpy())
""",
    },
    hints=(
        "Three words with the weights 0.5, 0.3 and 0.2: how would you mix their three vectors by hand?",
        "In: weights (…, query, key), values (…, key, d_v). Out: (…, query, d_v). The axis `key` is the one that is summed away.",
        "for each query i:   output[i] = Σ_j weights[i, j] · values[j]",
        "Near miss: `(weights[..., None] * values).sum(-1)` adds up the coordinates of a vector. The sum runs over the *words*.",
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
    # Padding: one row of `keep` for all queries of a sentence.
    yield case(padding(draw, 2, 6)[:, None, :], 2, query=4, key=6, d=5, d_v=3)
    # A query that may attend to nothing.
    keep = random_keep(draw, 3, 7, 7)
    keep[0, 2] = False
    yield case(keep, 3, query=7, key=7, d=4, d_v=4)
    # Heads: the same padding for all of them.
    yield case(padding(draw, 4, 5)[:, None, None, :], 4, 3, query=6, key=5, d=8, d_v=2)
    # One entry for all keys: a query sees everything or nothing; the same for all sentences.
    yield case(draw.rng.permutation([True, False, True, True, False])[:, None], 2, query=5, key=4, d=3, d_v=6)
    yield large_scores(draw)
    yield huge_scores(draw)


def large_scores(draw: Draw) -> Case:
    """Scores of ±320, hidden and not, and a query without any key.

    The inputs are whole numbers and √d is 2, so that every right way to compute the scores gives the same ones.
    """
    queries, keys = (draw.integers(-2, 3, n, 4).astype(np.float32) for n in (5, 6))
    queries[:, 0] = 32, 32, -32, 0, 32
    keys[:, 0] = 20, 20, -20, -20, -20, 20
    keep = np.ones((5, 6), dtype=bool)
    keep[1, [0, 1, 5]] = False  # the hidden scores are the large ones
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
    """A query whose visible scores lie around −2²⁰, lower than what is often taken for minus infinity.

    A hidden score lies there too, and for one query another around 2²⁰; for another query one hidden score is 4096
    and the others are small. The inputs are whole numbers, √d is 4 and d to the
    power ¼ is 2, so that every way to compute the scores gives the same ones. Of such large scores one wins by far:
    float32 could not hold the logarithm of a sum of several.
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
    """True where a token is real. The first sentence, which a card shows, has two tokens of padding, one is full."""
    lengths = draw.integers(2, tokens, batch)
    lengths[0], lengths[1 + draw.integers(0, batch - 1)] = tokens - 2, tokens
    return np.arange(tokens) < lengths[:, None]


def random_keep(draw: Draw, *shape: int) -> np.ndarray:
    """About two thirds True; in every row some True and some False."""
    keep = draw.uniform(*shape) < 0.65
    places = np.argsort(draw.uniform(*shape), axis=-1)
    np.put_along_axis(keep, places[..., :1], True, axis=-1)
    np.put_along_axis(keep, places[..., 1:2], False, axis=-1)
    return keep


SCORES = "scale(similarities(queries, keys), queries.shape[-1])"
MASKED = "scores.masked_fill(~keep, torch.finfo(scores.dtype).min)"
ZEROED = "weights.masked_fill(~keep, 0.0)"


def _filled(fill: str, weights: str) -> str:
    """Hidden scores replaced, and what is done with the weights."""
    return f"""
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill({fill}), dim=-1)
    return ({weights}) @ values
"""


def _taken_off(much: str, weights: str) -> str:
    """Hidden scores lowered, and what is done with the weights."""
    return f"""
def attention(queries, keys, values, keep):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores - {much} * (~keep).float(), dim=-1)
    return ({weights}) @ values
"""


def _inlined(weights: str, exponentials: str = "torch.exp(scores) * keep") -> str:
    """A softmax of one's own, without taking off the largest score."""
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
            "The columns of your weights add up to 1 where the rows should: the queries compete for a key, "
            "instead of the keys for a query.",
            "dim=-1", "dim=-2",
        ),
        Mistake(
            "masked after the softmax, without renormalising",
            "The weights that remain add up to less than 1: the hidden words had taken their share before you removed them. Hide them earlier.",
            MASKED, "scores",
        ),
        Mistake(
            "keep inverted",
            "You attend to exactly the words that should be hidden. True in `keep` means: may be attended to.",
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
            "Your answer does not change when `keep` does.",
            edits={MASKED: "scores", ZEROED: "weights"},
        ),
        Mistake(
            "NaN for a query that may attend to nothing",
            "Only a query whose every key is hidden goes wrong: there the softmax divides 0 by 0. The docstring says what such a query gets.",
            edits={MASKED: "scores.masked_fill(~keep, -torch.inf)", ZEROED: "weights"},
        ),
        Mistake(
            "an average for a query that may attend to nothing",
            "All is right but for a query whose every key is hidden: it now averages over words that it must not see. "
            "The docstring says what such a query gets.",
            ZEROED, "weights",
        ),
        Mistake(
            "hidden scores set to 0",
            "Hidden words still receive weight: a score of 0 is quite an ordinary score, and exp(0) is 1. Which score has no exponential left?",
            edits={MASKED: "scores.masked_fill(~keep, 0.0)", ZEROED: "weights"},
            also=(
                _filled("~keep, 0.0", "weights * keep.any(-1, keepdim=True)"),
                _filled("~keep, 0.0", "weights * keep"),
            ),
        ),
        Mistake(
            "no scaling",
            "Your weights are more decided than they should be: the scores have kept their variance of d.",
            SCORES, "similarities(queries, keys)",
        ),
        Mistake(
            "scaled by the number of keys",
            "Your scaling depends on the length of the sentence. It should depend on the number of coordinates of a key.",
            "queries.shape[-1]", "keys.shape[-2]",
        ),
        Mistake(
            "an axis counted from the front",
            "You are right for one sentence, and scale a batch by its number of words: there `shape[1]` counts those. Count axes from the end: "
            "the coordinates are the last, whatever stands before.",
            "queries.shape[-1]", "queries.shape[1]",
        ),
        Mistake(
            "scaled by d_v, the size of the values",
            "Wherever the values have another size than the keys, your weights are off. The scores are sums over the coordinates of the *keys*.",
            "queries.shape[-1]", "values.shape[-1]",
        ),
        Mistake(
            "the weights returned",
            "You returned who attends to whom. What the query *gets* is still to be computed from the values.",
            f"weighted_sum({ZEROED}, values)", ZEROED,
        ),
        Mistake(
            "hidden words win the softmax and are removed afterwards",
            "All is right until a hidden word has by far the largest score: it takes all the weight, and when you remove it, nothing is left to "
            "renormalise. Hide it before the softmax, with a score that is lower than any.",
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
            "exp of large scores",
            "All is right until a score is large: e^320 is infinite in float32 (and e^−320 is 0), so that ∞/∞ or 0/0 remains. "
            "Your `softmax` knows what to do about it: use it here.",
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
            "hidden scores not low enough",
            "All is right until the scores are low: where those of the words that stay lie far below 0, a hidden word with the score "
            "that you gave it wins. Which number is lower than every score?",
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
            "too little taken off the hidden scores",
            "All is right until a hidden word's score lies above the others by more than you take off it: then it still wins. Give it a "
            "score that is lower than any, whatever it had.",
            MASKED, "scores - 1e5 * (~keep).float()",
            also=(
                _taken_off("1e5", "weights"),
                _taken_off("1e5", "weights * keep.any(-1, keepdim=True)"),
                _taken_off("1e4", "weights"),
                _taken_off("1e4", "weights * keep.any(-1, keepdim=True)"),
            ),
        ),
        Mistake(
            "the mask added to the scores as 0 and 1",
            "Hidden words still receive weight: adding `keep` lifts the scores of the others by 1, no more. A hidden word's score has to "
            "lie so low that its exponential is 0.",
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
            "zeros for every query that may not attend to all keys",
            "Your rows are right where every key may be attended to, and 0 elsewhere. Zeros are for a query that may attend to *no* key at all.",
            ZEROED, "weights * keep.all(-1, keepdim=True)",
        ),
        Mistake(
            "divided by d instead of √d",
            "Your weights are too even: the scores were divided by d. Your `scale` wants d itself and takes the root.",
            SCORES, "similarities(queries, keys) / queries.shape[-1]",
        ),
        Mistake(
            "softmax taken twice",
            "Your weights are too even: they went through a softmax a second time, where the hidden words' 0 counts as a score.",
            ZEROED, "softmax(weights, dim=-1).masked_fill(~keep, 0.0)",
            also=(_filled("~keep, -1e9", "torch.softmax(weights, dim=-1)"),),
        ),
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
        "hidden exponentials left out, in float64": """
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
        "You have written the four steps already. The only new question is: at which point must a word disappear, "
        "so that the words that stay still share a total weight of 1?",
        "scores and weights: (…, query, key). keep stretches to that shape: (batch, 1, key) serves all queries of a sentence. "
        "Out: (…, query, d_v).",
        "scores = similarities, scaled by the size of a key\nscores of hidden words = a number whose exponential is 0\n"
        "weights = softmax over the keys\na query without any key: its weights = 0\noutput = weighted sum of the values",
        "Near miss: `softmax(scores, -1) * keep` hides the words but leaves rows that add up to less than 1; "
        "−∞ in place of the hidden scores mends that, and gives NaN (0/0) in a row where nothing is left.",
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
    yield case(2, 6, 4, 3, np.roll(keep, 1, axis=1))  # padding may also stand in front
    yield case(4, 7, 3, 5, np.ones((4, 7), dtype=bool))
    # As many heads as tokens: a forgotten transpose keeps its shape.
    keep = padding(draw, 3, 4)
    keep[-1] = False
    yield case(3, 4, 4, 2, keep)


def heads_at_once(
    split: str = "t.unflatten(-1, (heads, -1)).transpose(1, 2)",
    merge: str = "mixed.transpose(1, 2).flatten(2)",
    scores: str = "queries @ keys.mT / (D // heads) ** 0.5",
    projections: str = "(x @ W_q, x @ W_k, x @ W_v)",
) -> str:
    """Multi-head attention with all heads in one product; each part can be replaced by a wrong one."""
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
            "heads cut off with a view, without a transpose",
            "The shape is right, but one of your heads holds pieces of several words: numbers were regrouped in the order in which they lie in "
            "memory. Cut the D coordinates of each word, and leave the words alone.",
            code=heads_at_once(split="t.reshape(batch, heads, tokens, D // heads)"),
            also=(
                heads_at_once(
                    "t.reshape(batch, heads, tokens, D // heads)", "mixed.reshape(batch, tokens, D)"
                ),
            ),
        ),
        Mistake(
            "heads joined without transposing back",
            "Each head is right, the joined vector is not: yours holds one head's vectors of several words, where it should hold all heads' vectors of one word.",
            code=heads_at_once(merge="mixed.reshape(batch, tokens, D)"),
        ),
        Mistake(
            "√D for √d",
            "The weights are too even: each head's dot product runs over d = D / heads coordinates, and that is what it has to be scaled by.",
            code=heads_at_once(scores="queries @ keys.mT / D**0.5"),
        ),
        Mistake(
            "W_o omitted",
            "You return the heads side by side. The last step, which lets the heads' results mix, is missing.",
            "torch.cat(outputs, dim=-1) @ W_o", "torch.cat(outputs, dim=-1)",
        ),
        Mistake(
            "W_o transposed",
            "The last product uses W_o the other way round. Here rows stand for inputs: x @ W, as for the other three.",
            "@ W_o", "@ W_o.T",
        ),
        Mistake(
            "the projections transposed",
            "The matrices are used the other way round. Rows stand for inputs: x @ W (`nn.Linear` stores the transpose).",
            "x @ W_q, x @ W_k, x @ W_v", "x @ W_q.T, x @ W_k.T, x @ W_v.T",
            also=(
                heads_at_once(projections="(x @ W_q.T, x @ W_k.T, x @ W_v.T)").replace("@ W_o", "@ W_o.T"),
            ),
        ),
        Mistake(
            "slices of the input instead of slices of the projections",
            "Each of your heads sees only its own D / heads coordinates of the input. In the paper every head looks at all of them: project first, then cut.",
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
            "one head only",
            "Your answer does not change with the number of heads.",
            edits={"x.shape[-1] // heads": "x.shape[-1]", "range(heads)": "range(1)"},
        ),
        Mistake(
            "keep inverted",
            "You attend to the padding and to nothing else. True in `keep` marks a real word.",
            "keep[:, None, :]", "~keep[:, None, :]",
        ),
        Mistake(
            "the padding not hidden",
            "Sentences without padding are right. In the others, the padding takes part.",
            "keep[:, None, :]", "torch.ones_like(keep[:, None, :])",
        ),
        Mistake(
            "the padding hidden as queries, not as keys",
            "The outputs of the padding are 0, and real words still attend to it. `keep` says which words may be attended *to*.",
            "keep[:, None, :]", "keep[:, :, None]",
        ),
        Mistake(
            "every heads-th coordinate instead of neighbouring ones",
            "Your head 0 has the coordinates 0, H, 2H, …; the convention is the first d, then the next d.",
            "slice(head * d, (head + 1) * d)", "slice(head, None, heads)",
        ),
        Mistake(
            "keys and values have changed places",
            "You compare the queries with the values and mix the keys.",
            "x @ W_q, x @ W_k, x @ W_v", "x @ W_q, x @ W_v, x @ W_k",
        ),
        Mistake(
            "the rows of padding set to 0",
            "Real words are right. The rows of padding are 0 in yours; they are computed like all others: nobody attends *to* padding, that is all.",
            "keep[:, None, :]", "keep[:, None, :] & keep[:, :, None]",
        ),
        Mistake(
            "an average for a sentence of nothing but padding",
            "All is right but a sentence without any real word: its rows average over the padding. The docstring says what it gets.",
            code=heads_at_once().replace("-torch.inf", "-1e9"),
        ),
        Mistake(
            "NaN for a sentence of nothing but padding",
            "Only a sentence without any real word goes wrong: there the softmax divides 0 by 0. The docstring says what it gets.",
            code=heads_at_once().replace("torch.nan_to_num", ""),
        ),
        Mistake(
            "padding looked for at the end only",
            "You count the real words of a sentence and take that many from the front. Padding may stand anywhere: `keep` says where.",
            "keep[:, None, :]", "(torch.arange(keep.shape[1]) < keep.sum(1, keepdim=True))[:, None, :]",
        ),
        Mistake(
            "d heads of size H",
            "You have as many heads as one head should have coordinates: the two numbers have changed places. `split` wants the size "
            "of a piece, `chunk` the number of pieces.",
            edits={"x.shape[-1] // heads": "heads", "range(heads)": "range(x.shape[-1] // heads)"},
        ),
        Mistake(
            "values made with the queries' matrix",
            "Your values are the queries: they are made with W_q. Each of the three has a matrix of its own, that of the values is W_v.",
            "x @ W_v\n", "x @ W_q\n",
        ),
        Mistake(
            "the input added",
            "Your output is the right one plus x. That sum belongs to the layer around attention, which is the next notebook.",
            "torch.cat(outputs, dim=-1) @ W_o", "torch.cat(outputs, dim=-1) @ W_o + x",
        ),
        Mistake(
            "no scaling",
            "Your weights are more decided than they should be: the scores of each head have kept their variance of d.",
            code=heads_at_once(scores="queries @ keys.mT"),
        ),
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
        "slices of the weights, and a sum over heads": """
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
        "If the model width is D = 12 and there are 3 heads, which 4 of the 12 columns of `x @ W_q` belong to head 1?",
        "queries, keys, values: (batch, token, D). One head's slice: (batch, token, d) with d = D // heads. "
        "keep is (batch, key) and has to stretch over (batch, query, key). Side by side again: (batch, token, D).",
        "queries, keys, values = the three projections of x\nfor each head:\n"
        "    take its d columns of each of the three\n    output of the head = attention(…) with the padding hidden for every query\n"
        "put the outputs side by side along the last axis, multiply by W_o",
        "Near miss: `(x @ W_q).view(batch, heads, tokens, d)` runs, and has the right shape. "
        "But the first d·tokens numbers in memory are not the first head of all words. A loop over slices of the last axis cannot go wrong like that.",
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
            "the code as it was",
            "These are the numbers of the code above, bug included. The first word of a sentence still cannot see the last one.",
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
            "split rightly, joined wrongly",
            "Cutting is mended. Joining has the same fault in reverse: the heads of one word have to stand side by side before the shape is changed.",
            "mixed.transpose(1, 2).reshape", "mixed.reshape",
        ),
        Mistake(
            "split wrongly, joined rightly",
            "Joining is mended. Cutting still regroups numbers in memory order, those of the values at least: name the four axes in the order in which they lie there, then swap two.",
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
            "one head",
            "The words are no longer mixed up, but the heads are gone: your answer does not depend on how many there are.",
            edits={
                "heads, d).transpose": "1, width).transpose",
                "scores = queries @ keys.transpose(-2, -1) / d**0.5": "scores = queries @ keys.transpose(-2, -1) / width**0.5",
            },
        ),
        Mistake(
            "the heads attend to each other",
            "Words no longer meet at all: within one word, its heads attend to each other. Which axis should stand just before d?",
            edits={
                MENDED_SPLIT: "t.view(batch, tokens, heads, d)",
                "mixed.transpose(1, 2).reshape": "mixed.reshape",
            },
        ),
        Mistake(
            "√D for √d",
            "The heads are mended. The scaling has become that of one wide head.",
            "/ d**0.5", "/ width**0.5",
        ),
        Mistake(
            "softmax over the queries",
            "The heads are mended, but now your columns of weights add up to 1, not the rows.",
            "dim=-1", "dim=-2",
        ),
        Mistake(
            "every heads-th coordinate instead of neighbouring ones",
            "Your head 0 has the coordinates 0, H, 2H, …; the convention is the first d, then the next d.",
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
            "joined coordinate by coordinate",
            "Cutting is mended. In your joined vectors, coordinate 0 of all heads comes first, then coordinate 1: the heads should stand side by side, each in one piece.",
            "mixed.transpose(1, 2).reshape", "mixed.permute(0, 2, 3, 1).reshape",
        ),
        Mistake(
            "words attend across sentences",
            "Your words see those of all sentences of the batch. The batch keeps an axis of its own.",
            code="""
def mended_heads(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    q, k, v = (t.reshape(batch * tokens, heads, -1).transpose(0, 1) for t in (queries, keys, values))
    mixed = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v
    return mixed.transpose(0, 1).reshape(batch, tokens, width)
""",
        ),
        Mistake(
            "words see only what comes before",
            "Your words attend to themselves and to earlier words alone, as in a decoder. No mask is asked for here: every word sees all others.",
            " / d**0.5", " / d**0.5 + torch.full((tokens, tokens), -torch.inf).triu(1)",
        ),
        Mistake(
            "no scaling",
            "The heads are mended, and the division by √d is gone.",
            " / d**0.5", "",
        ),
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
        "the student's own attention": """
def mended_heads(queries, keys, values, heads):
    q, k, v = (t.unflatten(-1, (heads, -1)).movedim(-2, 1) for t in (queries, keys, values))
    everything = torch.ones(queries.shape[1], keys.shape[1], dtype=torch.bool)
    return attention(q, k, v, everything).movedim(1, -2).flatten(-2)
""",
    },
    hints=(
        "With 6 words, 3 heads and d = 4: which numbers of which words end in `queries[0]` after the `view` above?",
        "In: (batch, token, D). For the attention of all heads at once: (batch, head, token, d). Out: (batch, token, D).",
        "cut: name the axes in memory order, (batch, token, head, d), then swap token and head\n"
        "attention as before\njoin: swap head and token back, only then merge head and d",
        "Near miss: with the cutting mended, `mixed.reshape(batch, tokens, width)` still runs, and still joins the wrong numbers: "
        "after attention the heads stand before the words.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def project_cases(draw: Draw) -> Iterator[Case]:
    yield {"x": draw.normal(5, 4), "W_qkv": draw.normal(4, 9, scale=0.5)}
    yield {"x": draw.normal(2, 6, 12), "W_qkv": draw.normal(12, 12, scale=0.3)}
    yield {"x": draw.normal(3, 4, 5), "W_qkv": draw.normal(5, 18, scale=0.4)}


FUSED = "(x @ W_qkv).chunk(3, dim=-1)"

project = Exercise(
    cases=project_cases,
    rule=Rule(axes={part: "T d" for part in "012"}),
    mistakes=(
        Mistake(
            "keys and queries have changed places",
            "Your first part is what the second should be. The order in W_qkv is queries, keys, values.",
            FUSED, f"[{FUSED}[i] for i in (1, 0, 2)]",
        ),
        Mistake(
            "keys and values have changed places",
            "Your second part is what the third should be. The order in W_qkv is queries, keys, values.",
            FUSED, f"[{FUSED}[i] for i in (0, 2, 1)]",
        ),
        Mistake(
            "every third column",
            "Your parts take the columns 0, 3, 6, …; the three matrices stand side by side, each in one piece.",
            FUSED, "[(x @ W_qkv)[..., i::3] for i in range(3)]",
        ),
        Mistake(
            "the words cut into three instead of the columns",
            "You have dealt out the words: each part has all columns of some rows of memory. Cut the last axis.",
            FUSED, "(x @ W_qkv).reshape(3, *x.shape[:-1], -1).unbind(0)",
        ),
        Mistake(
            "the queries three times",
            "All your parts are equal.",
            FUSED, f"[{FUSED}[0]] * 3",
        ),
        Mistake(
            "one tensor instead of three",
            "You return the product in one piece. Cut it into queries, keys and values.",
            f"tuple({FUSED})", "x @ W_qkv",
        ),
        Mistake(
            "the queries already scaled",
            "Keys and values are right; your queries are smaller by a constant factor. The scaling has its own place.",
            FUSED, f"[t * s for t, s in zip({FUSED}, ((W_qkv.shape[1] // 3) ** -0.5, 1, 1))]",
        ),
        Mistake(
            "values first",
            "Your first part is what the third should be. The order in W_qkv is queries, keys, values.",
            FUSED, f"{FUSED}[::-1]",
        ),
        Mistake(
            "D columns each instead of d",
            "Your first part is as wide as the input. W_qkv has 3·d columns: a third of them for each part, whatever D is.",
            code="""
def project(x, W_qkv):
    D, y = x.shape[-1], x @ W_qkv
    return y[..., :D], y[..., D : 2 * D], y[..., 2 * D :]
""",
        ),
    ),
    alternatives={
        "three products": """
def project(x, W_qkv):
    d = W_qkv.shape[1] // 3
    return x @ W_qkv[:, :d], x @ W_qkv[:, d : 2 * d], x @ W_qkv[:, 2 * d :]
""",
        "an axis of size 3": """
def project(x, W_qkv):
    return tuple((x @ W_qkv).unflatten(-1, (3, -1)).unbind(-2))
""",
        "F.linear, in float64": """
def project(x, W_qkv):
    return torch.nn.functional.linear(x.double(), W_qkv.double().T).tensor_split(3, dim=-1)
""",
    },
    hints=(
        "x @ W_q, x @ W_k and x @ W_v share x. What happens if the three matrices are written side by side before multiplying?",
        "In: x (…, token, D), W_qkv (D, 3d). The product: (…, token, 3d). Out: three tensors (…, token, d).",
        "multiply once\ncut the last axis into three equal pieces, in the order queries, keys, values",
        "Near miss: `(x @ W_qkv).view(3, …)` cuts along the words, because the first axis in memory is the slowest. Cut the last axis.",
    ),
)


def split_heads_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, heads, d in ((2, 5, 3, 4), (3, 4, 6, 2), (4, 6, 2, 5), (2, 3, 3, 3)):
        yield {"x": draw.normal(batch, tokens, heads * d), "heads": heads}


SPLIT = "x.unflatten(-1, (heads, -1)).transpose(1, 2)"

split_heads = Exercise(
    cases=split_heads_cases,
    rule=Rule(axes={"": "B H T d"}),
    mistakes=(
        Mistake(
            "a view without a transpose",
            "The shape is right, the numbers are not: your head 0 holds the first words with all their coordinates. "
            "It should hold all words with their first coordinates.",
            SPLIT, "x.reshape(x.shape[0], heads, x.shape[1], -1)",
        ),
        Mistake(
            "the words before the heads",
            "Your axes are batch, token, head, d. Attention works on the last two: they should be token and d.",
            SPLIT, "x.unflatten(-1, (heads, -1))",
        ),
        Mistake(
            "the heads before the batch",
            "Your first axis counts the heads. The batch stays in front.",
            SPLIT, "x.unflatten(-1, (heads, -1)).permute(2, 0, 1, 3)",
        ),
        Mistake(
            "every heads-th coordinate instead of neighbouring ones",
            "Your head 0 has the coordinates 0, H, 2H, …; the convention is the first d, then the next d.",
            SPLIT, "x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)",
        ),
        Mistake(
            "d heads of size H",
            "You have as many heads as a head should have coordinates: the two numbers have changed places.",
            SPLIT, "x.unflatten(-1, (-1, heads)).transpose(1, 2)",
        ),
        Mistake(
            "word and coordinate swapped",
            "Your last two axes are d and token; attention expects token and d.",
            SPLIT, "x.unflatten(-1, (heads, -1)).permute(0, 2, 3, 1)",
        ),
        Mistake(
            "the first head alone",
            "The head axis is gone: you return one slice of the coordinates.",
            SPLIT, "x[..., : x.shape[-1] // heads]",
        ),
        Mistake(
            "words and coordinates exchanged before the cut",
            "The shape is right, the numbers are not: you turned words and coordinates round first, and the numbers of several words ended in one row. "
            "Cut the last axis first, then exchange token and head.",
            SPLIT, "x.transpose(1, 2).reshape(x.shape[0], heads, x.shape[1], -1)",
        ),
        Mistake(
            "batch and heads in one axis",
            "Your heads of all sentences stand on one axis. Batch and heads keep an axis each.",
            SPLIT, f"{SPLIT}.flatten(0, 1)",
        ),
        Mistake(
            "the heads in reverse",
            "Your head 0 is the last one. Head h has the coordinates h·d to (h+1)·d − 1.",
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
        "In which order do the numbers of x lie in memory: which axis changes fastest? Where does one head end within that order?",
        "In: (batch, token, D). After giving D two axes: (batch, token, head, d). Out: (batch, head, token, d).",
        "cut the last axis into (heads, d); nothing moves in memory\nswap the axes token and head",
        "Near miss: `x.view(batch, heads, tokens, d)` has the right shape at once, and deals out the words instead of the coordinates.",
    ),
)
