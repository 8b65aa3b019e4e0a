"""03 The transformer layer: inputs, known mistakes, unusual right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ positions


def sinusoid_cases(draw: Draw) -> Iterator[Case]:
    # The sizes are drawn too: a table of positions has no other input. The last two have one row and one pair.
    for low, high, D in ((4, 9, 10), (10, 20, 6), (40, 80, 16), (20, 35, 4), (1, 2, 8), (3, 40, 2)):
        yield {"words": draw.normal(int(draw.integers(low, high)), D)}


ANGLE = "angle = position * frequency"
FREQUENCY = "10_000.0 ** (-torch.arange(0, D, 2) / D)"
INTERLEAVED = "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)"

sinusoid = Exercise(
    cases=sinusoid_cases,
    rule=Rule(axes={"": "T D"}),
    mistakes=(
        Mistake(
            "sines first, then cosines",
            "All your numbers are there, in another order: the left half of your columns are sines, the right half cosines. "
            "Here each sine has its cosine beside it.",
            INTERLEAVED, "torch.cat([angle.sin(), angle.cos()], dim=-1)",
        ),
        Mistake(
            "cosine before sine",
            "Row 0 begins with 1. At position 0 a sine is 0 and a cosine is 1: which of the two stands in column 0?",
            INTERLEAVED, "torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(1)",
        ),
        Mistake(
            "positions counted from 1",
            "Your first row is what the second should be. The first word stands at position 0.",
            "torch.arange(T)[:, None]", "torch.arange(1, T + 1)[:, None]",
        ),
        Mistake(
            "frequencies twice as far apart",
            "Columns 0 and 1 are right, the others turn too slowly. Column 2i belongs to the exponent 2i/D: is your counter i or 2i already?",
            FREQUENCY, "10_000.0 ** (-2 * torch.arange(0, D, 2) / D)",
        ),
        Mistake(
            "a frequency for every column instead of every pair",
            "Sine and cosine of a pair turn at different speeds in yours. Both columns of a pair share one frequency, the one of the even column.",
            code="""
def sinusoid(T, D):
    angle = torch.arange(T)[:, None] * 10_000.0 ** (-torch.arange(D) / D)
    return torch.where(torch.arange(D) % 2 == 0, angle.sin(), angle.cos())
""",
        ),
        Mistake(
            "the exponent counts pairs, not columns",
            "Columns 0 and 1 are right, the others turn too fast: your exponents reach only half as far as they should.",
            FREQUENCY, "10_000.0 ** (-torch.arange(0, D // 2) / D)",
        ),
        Mistake(
            "1,000 in place of 10,000",
            "The slow columns turn too fast, and by more the further right they stand. Check the base.",
            "10_000.0", "1_000.0",
        ),
        Mistake(
            "positions and columns have changed places",
            "Your table has a row for each column and a column for each position.",
            INTERLEAVED, "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).T",
        ),
        Mistake(
            "multiplied by 10000^(2i/D) instead of divided",
            "Your frequencies grow from left to right. The first pair turns by one radian for each word, all others turn more slowly.",
            "(-torch.arange(0, D, 2) / D)", "(torch.arange(0, D, 2) / D)",
        ),
        Mistake(
            "the same speed in every pair",
            "All your pairs turn by one radian for each word, as the first one should. Is the exponent left out, or rounded to a whole number (`//`)?",
            " * frequency", " * torch.ones(D // 2)",
        ),
        Mistake(
            "the last pair at exactly 1/10000",
            "Your first pair is right, and your last one turns by 1/10000 for each word: you have spread the speeds from 1 to 1/10000 "
            "with both ends. By the formula the last exponent is (D − 2)/D, a little less than 1.",
            FREQUENCY, "10_000.0 ** (-torch.arange(D // 2) / max(D // 2 - 1, 1))",
        ),
        Mistake(
            "sines alone",
            "Your even columns are right. The odd ones hold the same sines again, where cosines are asked.",
            INTERLEAVED, "torch.stack([angle.sin(), angle.sin()], dim=-1).flatten(1)",
        ),
        Mistake(
            "positions as a share of the length",
            "Your positions run from 0 to 1, so that the vector of word 3 depends on the length of the sentence. A position is a whole number here.",
            "torch.arange(T)[:, None]", "torch.arange(T)[:, None] / T",
            also=(
                """
def sinusoid(T, D):
    angle = torch.linspace(0, 1, T)[:, None] * 10_000.0 ** (-torch.arange(0, D, 2) / D)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
""",
            ),
        ),
    ),
    alternatives={
        "an empty table filled by slices, through exp and log": """
import math
def sinusoid(T, D):
    table = torch.zeros(T, D)
    position = torch.arange(T, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, D, 2) * (-math.log(10_000.0) / D))
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table
""",
        "a loop, number by number, in float64": """
import math
def sinusoid(T, D):
    table = torch.zeros(T, D, dtype=torch.float64)
    for p in range(T):
        for i in range(D // 2):
            table[p, 2 * i] = math.sin(p / 10_000 ** (2 * i / D))
            table[p, 2 * i + 1] = math.cos(p / 10_000 ** (2 * i / D))
    return table
""",
        "numpy, the cosine as a shifted sine": """
import numpy as np
def sinusoid(T, D):
    columns = np.arange(D)
    angle = np.arange(T)[:, None] / 10_000 ** (columns // 2 * 2 / D)
    return np.sin(angle + columns % 2 * np.pi / 2)
""",
    },
    hints=(
        "Write down row 0 and row 1 for D = 4 by hand. Which numbers of row 0 are 0, and which are 1? How many different speeds do you need for D columns?",
        "In: two whole numbers. Positions as a column (T, 1), frequencies as a row (D/2,): their product has shape (T, D/2). Out: (T, D).",
        "for each position p, for each i from 0 to D/2 − 1:\n    angle = p / 10000^(2i/D)\n"
        "    column 2i gets sin(angle), column 2i + 1 gets cos(angle)",
        "Near miss: `torch.cat([sines, cosines], dim=-1)` has the right shape and all the right numbers. "
        "But the sine of pair 1 belongs into column 2, right after the cosine of pair 0.",
    ),
)

# ------------------------------------------------------------------------------------------ layer norm


def layer_norm_cases(draw: Draw) -> Iterator[Case]:
    def some(x: np.ndarray, eps: float) -> Case:
        D = x.shape[-1]
        return {"x": x, "gain": draw.uniform(D, low=0.5, high=1.5), "bias": draw.normal(D), "eps": eps}

    # Rows of very different size, each with a mean of its own; eps that matters and eps that hardly does. In the end
    # a word whose coordinates are all 0, so that nothing but eps keeps the root away from 0, and a single vector.
    sizes = np.array([0.01, 0.3, 1, 20, 5], dtype=np.float32)
    yield some((draw.normal(5, 6) + draw.normal(5, 1)) * sizes[:, None], 1e-5)
    yield some(draw.normal(3, 4, 8) * np.float32(0.5) + draw.normal(3, 4, 1), 0.2)
    yield some(draw.normal(2, 3, 5, 7) + draw.normal(7), 0.5)
    yield some(draw.normal(4, 10, scale=3) + draw.normal(4, 1), 0.03)
    some_empty = draw.normal(3, 2, 5)
    some_empty[1, 0] = 0
    yield some(some_empty, 1e-3)
    yield some(draw.normal(9, scale=0.5) + 1, 0.1)


CENTRED = "centred = x - x.mean(-1, keepdim=True)"
VARIANCE = "variance = centred.square().mean(-1, keepdim=True)"
STANDARDISED = "centred / (variance + eps).sqrt()"

layer_norm = Exercise(
    cases=layer_norm_cases,
    mistakes=(
        Mistake(
            "epsilon outside the square root",
            "You are close where the vectors are large, and far off where they are small: "
            "epsilon is compared with the standard deviation in yours. It belongs to the variance.",
            "(variance + eps).sqrt()", "(variance.sqrt() + eps)",
        ),
        Mistake(
            "the variance divided by D − 1",
            "All your vectors are a little too short, and the fewer coordinates, the more so: "
            "you estimate the variance of a population. Here it is the mean of the D squares.",
            VARIANCE, "variance = x.var(-1, keepdim=True)",
        ),
        Mistake(
            "the standard deviation of D − 1, epsilon outside",
            "Two things at once: your standard deviation divides by D − 1, and epsilon is added to it after the root. "
            "Code of a well-known tutorial does the same.",
            edits={
                VARIANCE: "variance = x.std(-1, keepdim=True)",
                "(variance + eps).sqrt()": "(variance + eps)",
            },
        ),
        Mistake(
            "no epsilon",
            "You are right where the variance is large and epsilon tiny. Your answer does not change with `eps`, "
            "and a word of zeros becomes 0/0.",
            "(variance + eps)", "variance",
        ),
        Mistake(
            "always the same epsilon",
            "Your answer does not change with `eps`: you are right where it is 1e-5 and nowhere else. It is an argument.",
            "(variance + eps)", "(variance + 1e-5)",
        ),
        Mistake(
            "epsilon squared",
            "You are close where the vectors are large, and far off where they are small: what you add under the root is eps², not eps.",
            "(variance + eps)", "(variance + eps**2)",
        ),
        Mistake(
            "epsilon as a lower bound",
            "You are close where the variance is large. Epsilon is added to every variance, also to those above it; yours only replaces the small ones.",
            "(variance + eps)", "variance.clamp(min=eps)",
        ),
        Mistake(
            "epsilon added twice",
            "Your vectors are a little too short where they are small: epsilon stands under the root and once more behind it.",
            "(variance + eps).sqrt()", "((variance + eps).sqrt() + eps)",
        ),
        Mistake(
            "normalised over the words",
            "Your columns have mean 0, where the rows should: each word is to be normalised by itself, over its own coordinates.",
            edits={
                CENTRED: "centred = x - x.mean(-2, keepdim=True)",
                VARIANCE: "variance = centred.square().mean(-2, keepdim=True)",
            },
        ),
        Mistake(
            "normalised over the first axis",
            "You compare the same coordinate along the first axis of x: each word is to be normalised by itself, over its own coordinates.",
            code="""
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(0, keepdim=True)
    variance = centred.square().mean(0, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
""",
        ),
        Mistake(
            "one mean and one variance for a sentence",
            "The words of a sentence share one mean and one variance in yours: each word is to be normalised by itself.",
            code="""
def layer_norm(x, gain, bias, eps=1e-5):
    axes = (-2, -1) if x.ndim > 1 else (-1,)
    centred = x - x.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
""",
        ),
        Mistake(
            "one mean and one variance for the whole tensor",
            "Long vectors stay longer than short ones: all words share one mean and one variance in yours.",
            edits={
                CENTRED: "centred = x - x.mean()",
                VARIANCE: "variance = centred.square().mean()",
            },
        ),
        Mistake(
            "the mean not subtracted",
            "Your vectors still lean to the side of their own mean. (Dividing alone is RMSNorm, which LLaMA uses; not this one.)",
            CENTRED, "centred = x",
            also=(
                """
def layer_norm(x, gain, bias, eps=1e-5):
    return x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() * gain + bias
""",
            ),
        ),
        Mistake(
            "gain and bias forgotten",
            "Your vectors are standardised and that is all: the answer does not depend on gain and bias.",
            f"{STANDARDISED} * gain + bias", STANDARDISED,
        ),
        Mistake(
            "the bias multiplied by the gain",
            "Without a bias you would be right. First stretch, then shift.",
            f"{STANDARDISED} * gain + bias", f"({STANDARDISED} + bias) * gain",
        ),
        Mistake(
            "divided by the variance",
            "Large vectors come out too short and small ones too long. What has the same unit as x: the variance or its root?",
            "(variance + eps).sqrt()", "(variance + eps)",
        ),
        Mistake(
            "length 1 instead of variance 1",
            "Your vectors are too short by the factor √D: you divide by the length, not by the typical size of a coordinate.",
            VARIANCE, "variance = centred.square().sum(-1, keepdim=True)",
        ),
    ),
    alternatives={
        "torch's own": """
def layer_norm(x, gain, bias, eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps)
""",
        "mean of squares minus square of mean, in float64": """
def layer_norm(x, gain, bias, eps=1e-5):
    x = x.double()
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True) - mean**2
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias
""",
        "numpy": """
import numpy as np
def layer_norm(x, gain, bias, eps=1e-5):
    x = x.numpy()
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gain.numpy() + bias.numpy()
""",
        "word by word": """
def layer_norm(x, gain, bias, eps=1e-5):
    words = []
    for word in x.reshape(-1, x.shape[-1]):
        words.append((word - word.mean()) / (word.var(correction=0) + eps) ** 0.5 * gain + bias)
    return torch.stack(words).reshape(x.shape)
""",
    },
    hints=(
        "Take the vector [1, 0, 0, 0]. What is its mean, what is the mean square of what remains, and what should the four numbers be in the end?",
        "In: x (…, D), gain and bias (D,). Mean and variance: (…, 1), one for each word, so that they stretch over its coordinates. Out: the shape of x.",
        "subtract from each word the mean of its own coordinates\nvariance = mean of the squares of what is left\n"
        "divide by the root of (variance + eps)\nmultiply by gain, coordinate by coordinate, then add bias",
        "Near miss: `(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)` differs in two places: "
        "torch's `std` divides by D − 1, and eps stands outside the root.",
    ),
)

# ------------------------------------------------------------------------------------------ modules

ALL_BUT_SURELY = 1 - 1e-9
"""A dropout that drops everything, so that no draw decides: also who draws otherwise gives the same. 1 would divide by 0."""


def linear(draw: Draw, name: str, columns: int, rows: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Weights of an nn.Linear from `columns` to `rows`."""
    return {
        f"weights.{name}.weight": draw.normal(rows, columns, scale=scale * columns**-0.5),
        f"weights.{name}.bias": draw.normal(rows, scale=0.3 * scale),
    }


def norm(draw: Draw, name: str, dim: int) -> dict[str, np.ndarray]:
    """Weights of an nn.LayerNorm: gains around 1, and biases large enough to be missed."""
    return {
        f"weights.{name}.weight": draw.uniform(dim, low=0.5, high=1.5),
        f"weights.{name}.bias": draw.normal(dim, scale=0.5),
    }


def attention_weights(draw: Draw, dim: int, prefix: str = "") -> dict[str, np.ndarray]:
    names = ("query", "key", "value", "output")
    return {key: w for name in names for key, w in linear(draw, f"{prefix}{name}", dim, dim).items()}


def pairs(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """A mask with a place for each pair: everyone sees itself, and about half of the others."""
    return (draw.uniform(batch, tokens, tokens) < 0.5) | np.eye(tokens, dtype=bool)


def causal(tokens: int) -> np.ndarray:
    return np.tril(np.ones((1, tokens, tokens), dtype=bool))


def padding_in_front(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    return draw.padding(batch, tokens)[:, None, ::-1].copy()


# ------------------------------------------------------------------------------------------ attention


def attention_cases(draw: Draw) -> Iterator[Case]:
    # Masks of every form: of the words of each sentence, of every pair, of the past, and one that hides nothing.
    def some(heads: int, d: int, x: np.ndarray, keep: np.ndarray) -> Case:
        dim = heads * d
        return {
            "config": {"dim": dim, "heads": heads}, "x": x, "keep": keep, **attention_weights(draw, dim),
        }  # fmt: skip

    yield some(3, 4, draw.normal(2, 5, 12), draw.padding(2, 5)[:, None])
    yield some(2, 5, draw.normal(3, 4, 10), causal(4))
    yield some(2, 4, draw.normal(4, 6, 8), pairs(draw, 4, 6))
    yield some(5, 2, draw.normal(3, 7, 10), np.ones((1, 1, 7), dtype=bool))


MASKED = 'scores.masked_fill(~keep[:, None], float("-inf")).softmax(dim=-1)'
SPLIT = "project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)"
REGISTERED = """self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)"""
PROJECTED = "in_heads(self.query), in_heads(self.key), in_heads(self.value)"
JOINED = "(weights @ values).transpose(1, 2).flatten(2)"

ATTENTION = '''
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        INIT

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = (PROJECT.view(B, T, self.heads, -1).transpose(1, 2) for name in ("query", "key", "value"))
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5
        scores = scores.masked_fill(~keep[:, None], -1e9)
        return OUTPUT((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
'''


def attention_with(init: str, project: str, output: str) -> str:
    return ATTENTION.replace("INIT", init).replace("PROJECT", project).replace("OUTPUT", output)


MultiHeadAttention = Exercise(
    cases=attention_cases,
    rule=Rule(axes={"eval": "B T D"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "the mask forgotten",
            "Where `keep` hides nothing you are right. In the other inputs, words are answered by words that they may not see.",
            MASKED, "scores.softmax(dim=-1)",
        ),
        Mistake(
            "the mask inverted",
            "Your words are answered by those that they may *not* see, and by no others. `keep` is True where a word may be seen.",
            MASKED, 'scores.masked_fill(keep[:, None], float("-inf")).softmax(dim=-1)',
            also=(
                attention_with(
                    "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name)(x)", "self.output",
                ).replace("~keep", "keep"),
            ),
        ),
        Mistake(
            "masked behind the softmax",
            "Where something is hidden your weights do not add up to 1: they are set to 0 after the softmax. Hide the *scores*, before it.",
            MASKED, "scores.softmax(dim=-1) * keep[:, None]",
        ),
        Mistake(
            "hidden scores set to 0",
            "A score of 0 is not hidden: its weight is exp(0), as large as that of an ordinary word. What is hidden needs minus infinity.",
            'float("-inf")', "0.0",
            also=(
                attention_with(
                    "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name)(x)", "self.output",
                ).replace("-1e9", "1e-9"),
            ),
        ),
        Mistake(
            "the scores not divided",
            "Your weights are too sharp: the scores are not divided by √d.",
            " / queries.shape[-1] ** 0.5", "",
        ),
        Mistake(
            "divided by √D",
            "Your weights are too even: you divide by √D, with all of a word's columns. A head's queries have d = D / heads of them.",
            "queries.shape[-1] ** 0.5", "x.shape[-1] ** 0.5",
        ),
        Mistake(
            "divided by d",
            "Your weights are too even: the scores are divided by d, and its root is meant.",
            "queries.shape[-1] ** 0.5", "queries.shape[-1]",
        ),
        Mistake(
            "softmax over the queries",
            "Your weights add up to 1 for each word that is *asked*; they should for each word that asks: over the last axis of the scores.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake(
            "queries and keys have changed places",
            "Your scores are transposed: the words that ask and those that are asked have changed places.",
            PROJECTED, "in_heads(self.key), in_heads(self.query), in_heads(self.value)",
        ),
        Mistake(
            "keys and values have changed places",
            "What a word is compared by and what it answers have changed places: keys and values.",
            PROJECTED, "in_heads(self.query), in_heads(self.value), in_heads(self.key)",
        ),
        Mistake(
            "one head",
            "All columns take part in one comparison in yours, whatever `heads` says.",
            "self.heads = heads", "self.heads = 1",
            also=(
                """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.d = dim // heads
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, keep):
        scores = self.query(x) @ self.key(x).mT / self.d**0.5
        return self.output(scores.masked_fill(~keep, -1e9).softmax(-1) @ self.value(x))
""",
            ),
        ),
        Mistake(
            "every head takes every so-many-th column",
            "You deal the columns out to the heads like cards. Head 0 has the first d of them, head 1 the next.",
            SPLIT, "project(x).unflatten(-1, (-1, self.heads)).permute(0, 3, 1, 2)",
        ),
        Mistake(
            "split across the words",
            "Your heads are cut out of several words at once: a view as (B, heads, T, d) keeps the order of the numbers. "
            "Split the last axis first, then exchange two axes.",
            SPLIT, "project(x).reshape(len(x), self.heads, x.shape[1], -1)",
        ),
        Mistake(
            "joined across the words",
            "The heads are right and then mixed up: (B, heads, T, d) is read as (B, T, D) as it lies. Exchange the two axes back first.",
            JOINED, "(weights @ values).reshape(x.shape)",
        ),
        Mistake(
            "the output map not used",
            "Your answer does not change with the weights of `output`: the heads stand side by side, and that is all.",
            f"self.output({JOINED})", JOINED,
        ),
        Mistake(
            "no biases",
            "The biases of the check have found no place: your four maps have none.",
            REGISTERED,
            "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim, bias=False) for _ in range(4))",
        ),
        Mistake(
            "in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list or dictionary, so an optimiser would not find what is in it, "
            "and weights could not be loaded. Set the maps as attributes, `query`, `key`, `value` and `output`.",
            code=attention_with(
                "self.maps = {name: nn.Linear(dim, dim) for name in ('query', 'key', 'value', 'output')}",
                "self.maps[name](x)", "self.maps['output']",
            ),
        ),
        Mistake(
            "other names",
            "Your maps are registered, but not as `query`, `key`, `value` and `output`, each of its own: weights are loaded by these names. "
            "(One map of three times the width is what PyTorch has.)",
            code=attention_with(
                "self.maps = nn.ModuleDict({name: nn.Linear(dim, dim) for name in ('query', 'key', 'value', 'output')})",
                "self.maps[name](x)", "self.maps['output']",
            ),
            also=(
                attention_with(
                    "self.q, self.k, self.v, self.output = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name[0])(x)", "self.output",
                ),
                attention_with(
                    "self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name[0])(x)", "self.o",
                ),
            ),
        ),
        Mistake(
            "one map under several names",
            "Query, key and value are one and the same map in yours, under three names. Each needs an nn.Linear of its own.",
            REGISTERED, "self.query = self.key = self.value = nn.Linear(dim, dim)\n        self.output = nn.Linear(dim, dim)",
        ),
        Mistake(
            "the input added already",
            "Your answer is x too much. Adding the input is a step of the layer, not of attention.",
            "return self.output(", "return x + self.output(",
        ),
        Mistake(
            "a buffer that is saved",
            "Your numbers are right. But a buffer of yours is saved with the model and then asked for when weights are loaded: a file without it does not fit. "
            "A plain attribute is not saved, nor a buffer with persistent=False.",
            "self.heads = heads", 'self.heads = heads\n        self.register_buffer("scale", torch.tensor((dim // heads) ** -0.5))',
        ),
        Mistake(
            "cut off from training",
            "Your numbers are right. But no step of training could change your weights: no_grad, detach or .data cuts what you return off from them (4 in `registered`).",
            f"self.output({JOINED})", f"self.output({JOINED}).detach()",
        ),
    ),
    alternatives={
        "scaled_dot_product_attention": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(dim, dim))

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, self.d).transpose(1, 2) for f in (self.query, self.key, self.value))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep.unsqueeze(1))
        return self.output(mixed.transpose(1, 2).reshape(B, T, D))
""",
        "a loop over the heads, a large negative number": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.output = nn.Linear(dim, dim)
        self.h = heads

    def forward(self, x, keep):
        outs = []
        for q, k, v in zip(self.query(x).chunk(self.h, -1), self.key(x).chunk(self.h, -1), self.value(x).chunk(self.h, -1)):
            s = (q @ k.mT) / q.size(-1) ** 0.5
            s = torch.where(keep, s, torch.tensor(-1e9))
            outs.append(torch.softmax(s, -1) @ v)
        return self.output(torch.cat(outs, -1))
""",
        "einsum": """
class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))
        self.heads = heads

    def forward(self, x, keep):
        q, k, v = (f(x).reshape(*x.shape[:2], self.heads, -1) for f in (self.query, self.key, self.value))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        scores = scores + torch.zeros_like(scores).masked_fill(~keep[:, None], -torch.inf)
        return self.output(torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).flatten(2))
""",
    },
    hints=(
        "Which four maps does the class own, and what do you call `super().__init__()` for? In forward, at which step does a word learn which others it may see?",
        "x (B, T, D); each projection (B, T, D), in heads (B, H, T, d); scores and weights (B, H, T, T); keep[:, None] (B, 1, T, T); out (B, T, D).",
        "in __init__: super().__init__(); four nn.Linear(dim, dim) as attributes; remember heads\n"
        "in forward: project x three times; split the last axis into (heads, d); bring heads in front of the words\n"
        "scores = queries times keys transposed / √d\nminus infinity where keep is False; softmax over the last axis\n"
        "weights times values; heads back behind the words, side by side; output",
        "Near miss: `self.query(x).view(B, heads, T, d)` has the right shape, but cuts each head out of several words. "
        "First view as (B, T, heads, d), then transpose axes 1 and 2.",
    ),
)

# ------------------------------------------------------------------------------------------ feed-forward


def feed_forward_cases(draw: Draw) -> Iterator[Case]:
    # GELU and its formula differ most where a hidden unit is near −2.2, and little: there the hidden units are, and
    # nothing else in the output is large.
    def some(inner: int, x: np.ndarray, **activation: str) -> Case:
        dim = x.shape[-1]
        weights = {**linear(draw, "widen", dim, inner), **linear(draw, "narrow", inner, dim)}
        if activation != {"activation": "relu"}:
            weights["weights.widen.weight"] *= np.float32(0.5)
            weights["weights.widen.bias"] -= np.float32(2)
            weights["weights.narrow.bias"] *= np.float32(0.1)
        return {"config": {"dim": dim, "inner": inner, **activation}, "x": x, **weights}

    yield some(9, draw.normal(4, 5), activation="relu")
    yield some(24, draw.normal(2, 3, 6), activation="gelu")
    yield some(11, draw.normal(3, 7, 8), activation="gelu_tanh")
    yield some(5, draw.normal(2, 3, 4, 7))
    yield some(12, draw.normal(9), activation="relu")


BENT = """if self.activation == "relu":
            hidden = relu(hidden)
        else:
            hidden = gelu(hidden, approximate="tanh" if self.activation == "gelu_tanh" else "none")"""
WIDEN, NARROW = "self.widen = nn.Linear(dim, inner)", "self.narrow = nn.Linear(inner, dim)"
APPROXIMATE = '"tanh" if self.activation == "gelu_tanh" else "none"'

FeedForward = Exercise(
    cases=feed_forward_cases,
    rule=Rule(axes={"eval": "… D"}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "no activation",
            "Without a bend in between, two linear maps are one linear map.",
            BENT, "pass",
        ),
        Mistake(
            "always ReLU",
            "You are right where the activation is \"relu\". The other two names are asked for, too.",
            BENT, "hidden = relu(hidden)",
        ),
        Mistake(
            "always GELU",
            "You are right where the activation is \"gelu\". The other two names are asked for, too.",
            BENT, "hidden = gelu(hidden)",
        ),
        Mistake(
            "the formula for the exact GELU, too",
            "You are right for \"gelu_tanh\", and off by a little for \"gelu\": that is the exact one, as in BERT.",
            APPROXIMATE, '"tanh"',
        ),
        Mistake(
            "the exact GELU for its formula, too",
            "You are right for \"gelu\", and off by a little for \"gelu_tanh\": that is the formula, as in GPT-2.",
            APPROXIMATE, '"none"',
        ),
        Mistake(
            "the two GELUs have changed places",
            "You are off by a little in both kinds of GELU: \"gelu\" is the exact one, \"gelu_tanh\" the formula.",
            APPROXIMATE, '"none" if self.activation == "gelu_tanh" else "tanh"',
        ),
        Mistake(
            "z times a sigmoid",
            "z σ(1.702 z) is a third GELU, a rougher one. Asked are the exact one and the formula with tanh.",
            BENT, """if self.activation == "relu":
            hidden = relu(hidden)
        elif self.activation == "gelu":
            hidden = hidden * (1.702 * hidden).sigmoid()
        else:
            hidden = gelu(hidden, approximate="tanh")""",
        ),
        Mistake(
            "ReLU and GELU have changed places",
            "Your ReLU is where GELU should be, and the other way round.",
            'self.activation == "relu"', 'self.activation != "relu"',
        ),
        Mistake(
            "the activation at the end, too",
            "None of your numbers is far below 0: the second map is not followed by an activation.",
            "return self.narrow(hidden)", "hidden = self.narrow(hidden)\n        " + BENT + "\n        return hidden",
        ),
        Mistake(
            "the activation on the input",
            "The words are bent before `widen` has seen them, and not after it.",
            edits={"hidden = self.widen(x)": "hidden = x", "self.narrow(hidden)": "self.narrow(self.widen(hidden))"},
        ),
        Mistake(
            "the residual already added",
            "Your answer is x too much. Adding the input is a step of the layer, not of the feed-forward network.",
            "return self.narrow(hidden)", "return x + self.narrow(hidden)",
        ),
        Mistake(
            "no biases",
            "The biases of the check have found no place: your two maps have none.",
            edits={"nn.Linear(dim, inner)": "nn.Linear(dim, inner, bias=False)", "nn.Linear(inner, dim)": "nn.Linear(inner, dim, bias=False)"},
        ),
        Mistake(
            "in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list, so an optimiser would not find what is in it, "
            "and weights could not be loaded. Set the maps as attributes, `widen` and `narrow`.",
            edits={
                WIDEN: "self.maps = [nn.Linear(dim, inner), nn.Linear(inner, dim)]", NARROW: "pass",
                "self.widen(x)": "self.maps[0](x)", "self.narrow(hidden)": "self.maps[1](hidden)",
            },
        ),
        Mistake(
            "other names",
            "Your maps are registered, but not as `widen` and `narrow`: weights are loaded by these names.",
            edits={
                WIDEN: "self.linear1 = nn.Linear(dim, inner)", NARROW: "self.linear2 = nn.Linear(inner, dim)",
                "self.widen(x)": "self.linear1(x)", "self.narrow(hidden)": "self.linear2(hidden)",
            },
        ),
        Mistake(
            "cut off from training",
            "Your numbers are right, and no gradient reaches the weights of `widen`: something on the way was detached (`.data`, `.detach()`, `torch.no_grad()`).",
            "hidden = self.widen(x)", "hidden = self.widen(x).detach()",
        ),
    ),
    alternatives={
        "a dictionary of functions": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen, self.narrow = nn.Linear(dim, inner), nn.Linear(inner, dim)
        self.bend = {"relu": relu, "gelu": gelu, "gelu_tanh": lambda z: gelu(z, approximate="tanh")}[activation]

    def forward(self, x):
        return self.narrow(self.bend(self.widen(x)))
""",
        "the formulas by hand": """
import math
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.narrow, self.widen = nn.Linear(inner, dim), nn.Linear(dim, inner)
        self.kind = activation

    def forward(self, x):
        z = self.widen(x)
        if self.kind == "relu":
            z = torch.clamp(z, min=0)
        elif self.kind == "gelu":
            z = z * 0.5 * (1 + torch.erf(z / math.sqrt(2)))
        else:
            z = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
        return self.narrow(z)
""",
        "activations as modules": """
class FeedForward(nn.Module):
    def __init__(self, dim, inner, activation="gelu"):
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.act = nn.ReLU() if activation == "relu" else nn.GELU(approximate="tanh" if "tanh" in activation else "none")
        self.narrow = nn.Linear(inner, dim)

    def forward(self, x):
        return self.narrow(self.act(self.widen(x)))
""",
    },
    hints=(
        "One hidden unit looks at the whole vector of a word and gives one number, which is then bent. How many such units are there, and what happens to their numbers next?",
        "In: x (…, dim). After `widen` and the activation: (…, inner). After `narrow`: (…, dim) again. No axis of words takes part.",
        "in __init__: super().__init__(); nn.Linear(dim, inner) as widen, nn.Linear(inner, dim) as narrow; remember the activation\n"
        "in forward: hidden = widen of x; bend it by the activation's name; narrow",
        "Near miss: `gelu(z)` for both kinds. torch's `gelu` is the exact one; its second argument `approximate=\"tanh\"` makes it the formula.",
    ),
)

# ------------------------------------------------------------------------------------------ dropout


def dropout_cases(draw: Draw) -> Iterator[Case]:
    # In the last cases no draws are handed in: everything is dropped, or nothing, or some of each row and each column.
    for p, *shape in ((0.25, 4, 5), (0.5, 2, 3, 6), (0.75, 7)):
        yield {"config": {"p": p}, "x": draw.normal(*shape) + np.float32(0.5), "draws": draw.uniform(*shape)}
    yield {"config": {"p": 0.1}, "x": draw.normal(3, 40), "draws": draw.uniform(3, 40)}
    yield {"config": {"p": ALL_BUT_SURELY}, "x": draw.normal(3, 8)}
    yield {"config": {"p": 0.0}, "x": draw.normal(2, 9)}
    yield {"config": {"p": 0.4}, "x": draw.normal(96, 97) + np.float32(0.5)}


DROPPED = "x * (draws >= self.p) / (1 - self.p)"

Dropout = Exercise(
    cases=dropout_cases,
    rule=Rule(axes={"train": "as x", "eval": "as x", "draws of its own": ""}, legend=OF_WEIGHTS),
    mistakes=(
        Mistake(
            "dropped in evaluation, too",
            "Your model drops numbers while it is used: a user would get another answer each time. `self.training` says whether it is in training.",
            "if not self.training:", "if False:",
        ),
        Mistake(
            "never dropped",
            "In training your x comes out as it went in. There, what has a draw below p becomes 0.",
            "if not self.training:", "if True:",
        ),
        Mistake(
            "dropped in evaluation alone",
            "It is the wrong way round: x is left alone in training, and dropped in evaluation.",
            "if not self.training:", "if self.training:",
        ),
        Mistake(
            "not scaled",
            "The right numbers are 0, and the others are as they were: on average the sum has become smaller. What stays is divided by 1 − p.",
            DROPPED, "x * (draws >= self.p)",
        ),
        Mistake(
            "divided by p",
            "The right numbers are 0, and the others have the wrong size: what stays is divided by the share that *stays*.",
            DROPPED, "x * (draws >= self.p) / max(self.p, 1e-12)",
        ),
        Mistake(
            "the wrong ones dropped",
            "You drop where the draw is *above* p. With p = 0.1 nine of ten numbers are lost.",
            "draws >= self.p", "draws < self.p",
            also=(
                """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if not self.training:
            return x
        draws = torch.rand_like(x) if draws is None else draws
        return torch.where(draws < self.p, x / (1 - self.p), 0)
""",
            ),
        ),
        Mistake(
            "scaled in evaluation",
            "In evaluation you shrink x by 1 − p. That was the first recipe; here what stays in training is enlarged instead, and in evaluation x stays as it is.",
            edits={"            return x\n": "            return x * (1 - self.p)\n", DROPPED: "x * (draws >= self.p)"},
        ),
        Mistake(
            "scaled in both",
            "In evaluation x should stay as it is, number by number: yours is scaled there, too.",
            "            return x\n", "            return x / (1 - self.p)\n",
        ),
        Mistake(
            "nothing dropped without draws",
            "Where no draws are handed in, your x stays as it is in training, too: then it should make draws itself.",
            "draws = torch.rand_like(x)", "return x",
        ),
        Mistake(
            "one draw for several numbers",
            "Without draws yours makes one for a whole row, a whole column or for all numbers: they are dropped together. Each number has a draw of its own.",
            "draws = torch.rand_like(x)", "draws = torch.rand(x.shape[-1])",
        ),
        Mistake(
            "subtracted",
            "What is below p becomes 0 in x itself; you have changed the others by more than a factor.",
            DROPPED, "x * (draws >= self.p) - self.p",
        ),
        Mistake(
            "a buffer that is saved",
            "Your numbers are right. But a buffer of yours is saved with the model and then asked for when weights are loaded: a file without it does not fit. "
            "A plain attribute is not saved, nor a buffer with persistent=False.",
            "self.p = p", 'self.register_buffer("p", torch.tensor(p, dtype=torch.float64))',
        ),
    ),
    alternatives={
        "torch.where": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if self.training:
            draws = torch.rand(x.shape) if draws is None else draws
            x = torch.where(draws < self.p, torch.tensor(0.0), x / (1 - self.p))
        return x
""",
        "masked_fill, p as a buffer that is not saved": """
class Dropout(nn.Module):
    def __init__(self, p: float = 0.1):
        super().__init__()
        self.register_buffer("p", torch.tensor(p, dtype=torch.float64), persistent=False)

    def forward(self, x, draws=None):
        if not self.training or self.p == 0:
            return x
        if draws is None:
            draws = torch.empty_like(x).uniform_(0, 1)
        return (x / (1 - self.p.item())).masked_fill(draws < self.p.item(), 0)
""",
        "PyTorch's own where there are no draws": """
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, draws=None):
        if draws is None:
            return nn.functional.dropout(x, self.p, self.training)
        return x * (draws >= self.p).float() * (1 / (1 - self.p)) if self.training else x
""",
    },
    hints=(
        "With p = 0.75, how many of 100 numbers stay on average? By which factor must they grow so that their sum stays the same on average?",
        "x and draws have one shape, and so has what comes out. self.training is True or False, and changes with model.train() and model.eval().",
        "not in training: return x\nno draws: make as many as x has numbers\n0 where the draw is below p; x / (1 − p) elsewhere",
        "Near miss: `nn.functional.dropout(x, self.p)`. Its third argument, training, is True unless you say otherwise: it drops while the model is used.",
    ),
    survivors={"(draws > self.p)": "a draw is exactly p with probability 0"},
)

# ------------------------------------------------------------------------------------------ the layer


def block_cases(draw: Draw) -> Iterator[Case]:
    # Both kinds with a dropout of everything, whose place shows in training; both with an epsilon that matters.
    def some(heads: int, d: int, inner: int, x: np.ndarray, keep: np.ndarray, **config) -> Case:
        dim = heads * d
        return {
            "config": {"dim": dim, "heads": heads, "inner": inner, **config},
            "x": x,
            "keep": keep,
            **attention_weights(draw, dim, "attention."),
            **linear(draw, "feed_forward.widen", dim, inner),
            **linear(draw, "feed_forward.narrow", inner, dim),
            **norm(draw, "norm_attention", dim),
            **norm(draw, "norm_feed_forward", dim),
        }

    yield some(3, 4, 20, draw.normal(2, 5, 12), draw.padding(2, 5)[:, None], activation="relu", dropout=ALL_BUT_SURELY)
    yield some(2, 5, 7, draw.normal(3, 4, 10, scale=2), causal(4), norm_first=True, dropout=ALL_BUT_SURELY)
    yield some(2, 4, 15, draw.normal(4, 6, 8, scale=0.5), pairs(draw, 4, 6), eps=0.3)
    yield some(5, 2, 9, draw.normal(3, 7, 10, scale=0.5), padding_in_front(draw, 3, 7), norm_first=True, eps=0.2, activation="relu")
    yield some(4, 3, 13, draw.normal(2, 6, 12), draw.padding(2, 6)[:, None])


PRE_1 = "x = x + self.dropout(self.attention(self.norm_attention(x), keep))"
PRE_2 = "return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))"
POST_1 = "x = self.norm_attention(x + self.dropout(self.attention(x, keep)))"
POST_2 = "return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))"
NORMS = """self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)"""

BLOCK = """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(dim, heads), FeedForward(dim, inner, activation)
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)
        self.norm_first, self.p = norm_first, dropout
        self.drop = nn.Dropout(dropout)

    def forward(self, x, keep):
        FORWARD
"""


def block_with(forward: str) -> str:
    return BLOCK.replace("FORWARD", forward.strip())


Block = Exercise(
    cases=block_cases,
    rule=Rule(axes={"eval": "B T D", "train": "B T D"}, legend=OF_WEIGHTS),
    uses=("transformer.MultiHeadAttention", "transformer.FeedForward", "transformer.Dropout"),
    mistakes=(
        Mistake(
            "post-norm and pre-norm have changed places",
            "With norm_first you give the left drawing, without it the right one.",
            "if self.norm_first:", "if not self.norm_first:",
        ),
        Mistake(
            "always post-norm",
            "Without norm_first you are right. With it the norms stand inside the branches, as in the right drawing.",
            "if self.norm_first:", "if False:",
        ),
        Mistake(
            "always pre-norm",
            "With norm_first you are right. Without it each sum is normalised, as in the left drawing.",
            "if self.norm_first:", "if True:",
        ),
        Mistake(
            "no residual around attention",
            "A word's own vector is lost after attention: only what was mixed from the sentence goes on.",
            edits={PRE_1: PRE_1.replace("x + ", ""), POST_1: POST_1.replace("x + ", "")},
        ),
        Mistake(
            "no residual around the feed-forward network",
            "What attention gave reaches the end only through the feed-forward network. It should also be added.",
            edits={PRE_2: PRE_2.replace("x + ", ""), POST_2: POST_2.replace("x + ", "")},
        ),
        Mistake(
            "no residuals",
            "Nothing is added in yours: each part *replaces* the vectors that go into it.",
            edits={line: line.replace("x + ", "") for line in (PRE_1, PRE_2, POST_1, POST_2)},
        ),
        Mistake(
            "one norm under two names",
            "`norm_attention` and `norm_feed_forward` are one and the same norm in yours: its gain and bias serve both places. Each needs an nn.LayerNorm of its own.",
            NORMS, "self.norm_attention = self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)",
        ),
        Mistake(
            "the first norm used twice",
            "Your answer does not change with the weights of `norm_feed_forward`: both places have the norm of the first.",
            edits={PRE_2: PRE_2.replace("norm_feed_forward", "norm_attention"), POST_2: POST_2.replace("norm_feed_forward", "norm_attention")},
        ),
        Mistake(
            "the two norms have changed places",
            "`norm_attention` and `norm_feed_forward` have changed places.",
            edits={
                line: line.replace("norm_attention", "norm_").replace("norm_feed_forward", "norm_attention").replace("norm_(", "norm_feed_forward(")
                for line in (PRE_1, PRE_2, POST_1, POST_2)
            },
        ),
        Mistake(
            "the normalised vectors on the residual",
            "With norm_first your residuals carry the *normalised* vectors on. The norm belongs to the branch alone; the road straight on is left untouched.",
            edits={
                PRE_1: "x = self.norm_attention(x)\n            x = x + self.dropout(self.attention(x, keep))",
                PRE_2: "x = self.norm_feed_forward(x)\n            return x + self.dropout(self.feed_forward(x))",
            },
        ),
        Mistake(
            "the parts normalised, not the sums",
            "Without norm_first you normalise what a part gives and then add: the sum itself, which is what should be normalised, is not.",
            edits={
                POST_1: "x = x + self.norm_attention(self.dropout(self.attention(x, keep)))",
                POST_2: "return x + self.norm_feed_forward(self.dropout(self.feed_forward(x)))",
            },
        ),
        Mistake(
            "one more norm at the end",
            "With norm_first your output is normalised. A pre-norm layer leaves its sum as it is; one norm follows after the last layer of a stack.",
            PRE_2, PRE_2.replace("return x", "return self.norm_feed_forward(x") + ")",
        ),
        Mistake(
            "the mask forgotten",
            "Words are answered by words that they may not see: your `keep` does not reach attention.",
            edits={PRE_1: PRE_1.replace("keep", "torch.ones_like(keep)"), POST_1: POST_1.replace("keep", "torch.ones_like(keep)")},
        ),
        Mistake(
            "the mask inverted",
            "Words are answered by those that they may *not* see. `keep` is True where a word may be seen.",
            edits={PRE_1: PRE_1.replace("keep", "~keep"), POST_1: POST_1.replace("keep", "~keep")},
        ),
        Mistake(
            "dropout in evaluation",
            "In evaluation, too, your layer drops what its parts give. `nn.functional.dropout(x, p)` does so unless you hand it self.training; your Dropout asks for itself.",
            code=block_with("""
        drop = lambda part: nn.functional.dropout(part, self.p)
        if self.norm_first:
            x = x + drop(self.attention(self.norm_attention(x), keep))
            return x + drop(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + drop(self.attention(x, keep)))
        return self.norm_feed_forward(x + drop(self.feed_forward(x)))
"""),
        ),
        Mistake(
            "no dropout",
            "In evaluation you are right. In training nothing is dropped: your answer does not change with `dropout`.",
            "self.dropout = Dropout(dropout)", "self.dropout = Dropout(0.0)",
        ),
        Mistake(
            "dropout on the sums",
            "In training the word's own vector is dropped, too: dropout belongs to what a part gives, *before* it is added.",
            edits={
                PRE_1: "x = self.dropout(x + self.attention(self.norm_attention(x), keep))",
                PRE_2: "return self.dropout(x + self.feed_forward(self.norm_feed_forward(x)))",
                POST_1: "x = self.norm_attention(self.dropout(x + self.attention(x, keep)))",
                POST_2: "return self.norm_feed_forward(self.dropout(x + self.feed_forward(x)))",
            },
        ),
        Mistake(
            "dropout behind attention alone",
            "In training what the feed-forward network gives is not dropped. Both parts are.",
            edits={
                PRE_2: "return x + self.feed_forward(self.norm_feed_forward(x))",
                POST_2: "return self.norm_feed_forward(x + self.feed_forward(x))",
            },
        ),
        Mistake(
            "dropout behind the feed-forward network alone",
            "In training what attention gives is not dropped. Both parts are.",
            edits={
                PRE_1: "x = x + self.attention(self.norm_attention(x), keep)",
                POST_1: "x = self.norm_attention(x + self.attention(x, keep))",
            },
        ),
        Mistake(
            "eps not handed on",
            "You are right where eps is 1e-5: the two norms do not get it.",
            NORMS, "self.norm_attention, self.norm_feed_forward = nn.LayerNorm(dim), nn.LayerNorm(dim)",
        ),
        Mistake(
            "the activation not handed on",
            "You are right where the activation is \"gelu\": the feed-forward network does not get it.",
            "FeedForward(dim, inner, activation)", "FeedForward(dim, inner)",
        ),
        Mistake(
            "the layer's input added a second time",
            "The second sum takes the input of the whole layer. Each part is added to what went into *that* part's branch.",
            edits={
                PRE_1: f"given = x\n            {PRE_1}", PRE_2: PRE_2.replace("return x", "return given"),
                POST_1: f"given = x\n        {POST_1}", POST_2: POST_2.replace("(x + ", "(given + "),
            },
        ),
        Mistake(
            "both parts read the layer's input",
            "Your feed-forward network sees the layer's input, not what attention has made of it. (Some models do this on purpose, to save time.)",
            edits={
                PRE_1: f"given = x\n            {PRE_1}", PRE_2: PRE_2.replace("norm_feed_forward(x)", "norm_feed_forward(given)"),
                POST_1: f"given = x\n        {POST_1}", POST_2: POST_2.replace("feed_forward(x))", "feed_forward(given))"),
            },
        ),
        Mistake(
            "the second norm missing",
            "Without norm_first your output is a plain sum: it should be normalised once more.",
            POST_2, "return x + self.dropout(self.feed_forward(x))",
        ),
        Mistake(
            "the feed-forward network first",
            "Your two parts have changed places: attention comes first in the drawings.",
            edits={
                PRE_1: "x = x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))",
                PRE_2: "return x + self.dropout(self.attention(self.norm_attention(x), keep))",
                POST_1: "x = self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))",
                POST_2: "return self.norm_attention(x + self.dropout(self.attention(x, keep)))",
            },
        ),
        Mistake(
            "in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list or dictionary, so an optimiser would not find what is in it. "
            "Set the parts as attributes, by the names that the text gives.",
            code=block_with("""
        attention, network, norm_1, norm_2 = self.parts
        if self.norm_first:
            x = x + self.drop(attention(norm_1(x), keep))
            return x + self.drop(network(norm_2(x)))
        x = norm_1(x + self.drop(attention(x, keep)))
        return norm_2(x + self.drop(network(x)))
""").replace(
                "self.attention, self.feed_forward = MultiHeadAttention(dim, heads), FeedForward(dim, inner, activation)\n"
                "        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)",
                "self.parts = [MultiHeadAttention(dim, heads), FeedForward(dim, inner, activation), nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)]",
            ),
        ),
        Mistake(
            "norms under other names",
            "Attention and feed-forward network have got their weights, the norms have not: they are not registered as `norm_attention` and `norm_feed_forward`.",
            edits={
                NORMS: "self.norm1, self.norm2 = nn.LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)",
                **{line: line.replace("self.norm_attention", "self.norm1").replace("self.norm_feed_forward", "self.norm2") for line in (PRE_1, PRE_2, POST_1, POST_2)},
            },
        ),
        Mistake(
            "cut off from training",
            "Your numbers are right. But no step of training could change your weights: no_grad, detach or .data cuts what you return off from them (4 in `registered`).",
            code=block_with("""
        with torch.no_grad():
            if self.norm_first:
                x = x + self.drop(self.attention(self.norm_attention(x), keep))
                return x + self.drop(self.feed_forward(self.norm_feed_forward(x)))
            x = self.norm_attention(x + self.drop(self.attention(x, keep)))
            return self.norm_feed_forward(x + self.drop(self.feed_forward(x)))
"""),
        ),
        Mistake(
            "a residual cut off from training",
            "Your numbers are right, but the gradient does not come back along the road straight on: detach, no_grad or .data stands there. What lies before this layer would learn through its branches alone.",
            edits={line: line.replace("x + ", "x.detach() + ") for line in (PRE_1, PRE_2, POST_1, POST_2)},
        ),
        Mistake(
            "attention cut off from training",
            "Your numbers are right, but no gradient comes back through attention: detach, no_grad or .data cuts what it gives off, and its weights would never be learned.",
            edits={
                PRE_1: "x = x + self.dropout(self.attention(self.norm_attention(x), keep).detach())",
                POST_1: "x = self.norm_attention(x + self.dropout(self.attention(x, keep).detach()))",
            },
        ),
        Mistake(
            "the feed-forward network cut off from training",
            "Your numbers are right, but no gradient comes back through the feed-forward network: detach, no_grad or .data cuts what it gives off, and its weights would never be learned.",
            edits={
                PRE_2: "return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)).detach())",
                POST_2: "return self.norm_feed_forward(x + self.dropout(self.feed_forward(x).detach()))",
            },
        ),
    ),
    alternatives={
        "nn.Dropout, and the functional norm with the registered weights": block_with("""
        def normed(norm, y):
            return nn.functional.layer_norm(y, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        if self.norm_first:
            h = x + self.drop(self.attention(normed(self.norm_attention, x), keep))
            return h + self.drop(self.feed_forward(normed(self.norm_feed_forward, h)))
        h = normed(self.norm_attention, x + self.drop(self.attention(x, keep)))
        return normed(self.norm_feed_forward, h + self.drop(self.feed_forward(h)))
"""),
        "a loop over two branches": block_with("""
        branches = ((self.norm_attention, lambda y: self.attention(y, keep)), (self.norm_feed_forward, self.feed_forward))
        for norm, part in branches:
            y = part(norm(x) if self.norm_first else x)
            x = x + nn.functional.dropout(y, self.p, training=self.training)
            x = x if self.norm_first else norm(x)
        return x
"""),
        "two dropouts of its own, in float64 within": """
class Block(nn.Module):
    def __init__(self, dim, heads, inner, norm_first=False, activation="gelu", eps=1e-5, dropout=0.0):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(dim, heads)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout_1, self.dropout_2 = Dropout(dropout), Dropout(dropout)

    def forward(self, x, keep):
        before_1, before_2 = (self.norm_attention, self.norm_feed_forward) if self.norm_first else (lambda y: y, lambda y: y)
        after_1, after_2 = (lambda y: y, lambda y: y) if self.norm_first else (self.norm_attention, self.norm_feed_forward)
        x = after_1(x + self.dropout_1(self.attention(before_1(x), keep)))
        return after_2(x + self.dropout_2(self.feed_forward(before_2(x))))
""",
    },
    hints=(
        "Follow one word through each drawing. Where does its vector split into two ways, where do they meet, and what happens right after? Is there a way that passes no box at all?",
        "Every tensor on the way is (B, T, D): x, what a part gives, their sum, its norm. So nothing but the order of the steps can go wrong.",
        "left:  x = norm 1 of (x + dropped attention of x);   output = norm 2 of (x + dropped feed-forward of x)\n"
        "right: x = x + dropped attention of (norm 1 of x);   output = x + dropped feed-forward of (norm 2 of x)",
        "Near miss: with norm_first, `x = self.norm_attention(x)`, then `x = x + …`. Now the residual carries the normalised vector, and the old x is gone.",
    ),
)

# ------------------------------------------------------------------------------------------ training step


def step_cases(draw: Draw) -> Iterator[Case]:
    # Gradients above the bound, below it, and above it for Adam. Rates change from step to step, and are not those
    # with which the optimiser was made. What does not count has a target, too.
    for kind, most, scale, S, B, T, V, D, C in (
        ("SGD", 0.05, 2.0, 3, 2, 5, 7, 4, 3),
        ("SGD", 50.0, 1.0, 4, 3, 4, 9, 5, 6),
        ("Adam", 0.02, 1.0, 4, 5, 3, 8, 6, 4),
    ):
        counts = draw.uniform(S, B, T) < 0.6
        counts[:, 0, 0], counts[:, -1, -1] = True, False
        counts[:, 0, 1:] = False  # sentences of unequal lengths: a mean over them is not that over tokens
        counts[:, 1, :2] = True
        rates = draw.uniform(S, low=0.5, high=2.0).tolist() if kind == "SGD" else draw.uniform(S, low=0.02, high=0.1).tolist()
        yield {
            "kind": kind, "lr": 0.3, "most": most, "rates": rates, "ids": draw.integers(0, V, S, B, T),
            "targets": draw.integers(0, C, S, B, T), "counts": counts,
            "words": draw.normal(V, D), "read_out": draw.normal(D, C, scale=scale),
        }  # fmt: skip


LOSS = "loss = cross_entropy(model(ids)[counts], targets[counts])"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), most)"
ZERO, BACK, STEP_ON = "optimiser.zero_grad()", "loss.backward()", "optimiser.step()"
RATE = 'for group in optimiser.param_groups:\n        group["lr"] = rate'

training_step = Exercise(
    cases=step_cases,
    rule=Rule(axes={"losses": "steps", "words": "V D", "read_out": "D C"}),
    mistakes=(
        Mistake(
            "gradients never set to zero",
            "Your first step is right. From the second on your gradients hold those of all steps before: they add up until someone sets them to zero.",
            ZERO, "pass",
        ),
        Mistake(
            "weights that never change",
            "Your weights never change: when the optimiser steps there are no gradients. Either it steps before `backward`, or they are set to zero between the two.",
            edits={f"    {ZERO}\n": "", BACK: f"{BACK}\n    {ZERO}"},
            also=(
                """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    optimiser.zero_grad()
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    loss = cross_entropy(model(ids)[counts], targets[counts])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    return loss.item()
""",
            ),
        ),
        Mistake(
            "a step late",
            "Your first step changes nothing, and each later one goes by the batch before: the optimiser steps before this batch's `backward`.",
            code="""
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    optimiser.zero_grad()
    loss = cross_entropy(model(ids)[counts], targets[counts])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    return loss.item()
""",
        ),
        Mistake(
            "the loss over all tokens",
            "Your loss counts tokens where `counts` is False, such as padding: the model learns to predict it, and the mean is over too many.",
            LOSS, "loss = cross_entropy(model(ids).flatten(0, 1), targets.flatten())",
        ),
        Mistake(
            "the loss over what does not count",
            "Your loss is over the tokens where `counts` is False, and over no others.",
            LOSS, "loss = cross_entropy(model(ids)[~counts], targets[~counts])",
        ),
        Mistake(
            "divided by all tokens",
            "The right losses are added up, and divided by the number of all tokens, padding included. The mean is over those that count.",
            LOSS, 'loss = cross_entropy(model(ids)[counts], targets[counts], reduction="sum") / counts.numel()',
            also=(
                """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    each = cross_entropy(model(ids).flatten(0, 1), targets.flatten(), reduction="none").view(ids.shape)
    loss = (each * counts).mean()
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
""",
            ),
        ),
        Mistake(
            "the sum of the losses",
            "Your loss grows with the number of tokens: the mean is asked.",
            LOSS, 'loss = cross_entropy(model(ids)[counts], targets[counts], reduction="sum")',
        ),
        Mistake(
            "a mean over sentences",
            "You take the mean of each sentence and then the mean of these: a word of a short sentence counts for more. The mean is over tokens.",
            LOSS, "loss = torch.stack([cross_entropy(logits[c], t[c]) for logits, t, c in zip(model(ids), targets, counts) if c.any()]).mean()",
        ),
        Mistake(
            "softmax before the cross-entropy",
            "Your loss is too even, and hardly falls: cross_entropy takes logits and has a softmax of its own.",
            LOSS, "loss = cross_entropy(model(ids)[counts].softmax(dim=-1), targets[counts])",
        ),
        Mistake(
            "no clipping",
            "Your steps are too long where the gradient is large: it is not clipped, or before `backward`, when there is none yet, or after the optimiser has stepped.",
            CLIP, "pass",
        ),
        Mistake(
            "always scaled to the bound",
            "You also scale gradients *up* to `most`. Only a norm above it is brought down.",
            CLIP,
            "norm = torch.cat([weight.grad.flatten() for weight in model.parameters()]).norm()\n"
            "    [weight.grad.mul_(most / norm) for weight in model.parameters()]",
        ),
        Mistake(
            "clipped at 1",
            "You clip at 1, whatever `most` is.",
            CLIP, "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        ),
        Mistake(
            "each number clipped",
            "You cut each number of the gradient at `most`. Its norm is meant: all of them are scaled by one factor, and the direction stays.",
            CLIP, "nn.utils.clip_grad_value_(model.parameters(), most)",
        ),
        Mistake(
            "each tensor clipped by itself",
            "You clip each parameter by itself. The norm is that of all gradients together.",
            CLIP, "[nn.utils.clip_grad_norm_([weight], most) for weight in model.parameters()]",
        ),
        Mistake(
            "the rate not set",
            "Your answer does not change with `rate`: the optimiser steps with the learning rate that it was made with.",
            RATE, "pass",
            also=(
                """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    optimiser.lr = rate
    optimiser.step()
    return loss.item()
""",
            ),
        ),
        Mistake(
            "the rate set after the step",
            "Your rates are one step late: the first step is made with the rate of the optimiser's making, the second with that of the first.",
            edits={f"    {RATE}\n": "", STEP_ON: f"{STEP_ON}\n    {RATE}"},
        ),
        Mistake(
            "the rate of the first group alone",
            "One part of the weights steps with the right rate, the rest with the old one: the optimiser has several groups.",
            RATE, 'optimiser.param_groups[0]["lr"] = rate',
        ),
        Mistake(
            "the rate multiplied",
            "Your rates are too small, and fall from step to step: you multiply the old rate by the new one, which replaces it.",
            'group["lr"] = rate', 'group["lr"] *= rate',
        ),
        Mistake(
            "left in evaluation mode",
            "The model is still in evaluation mode, as the last look at its answers left it: what works otherwise in training, such as dropout, sleeps.",
            "model.train()", "pass",
        ),
        Mistake(
            "training mode behind the forward pass",
            "Your first loss was computed in evaluation mode: the model is put into training mode *before* it reads the batch.",
            edits={"    model.train()\n": "", ZERO: f"model.train()\n    {ZERO}"},
        ),
        Mistake(
            "back in evaluation mode",
            "All numbers are right, and you leave the model in evaluation mode. Nobody asked for that: the next step, or who looks at the model, decides.",
            f"    {STEP_ON}\n", f"    {STEP_ON}\n    model.eval()\n",
        ),
        Mistake(
            "the loss after the step",
            "Your weights are right. The loss is that of the new weights; the one from which the gradient came is asked.",
            "return loss.item()", "return cross_entropy(model(ids)[counts], targets[counts]).item()",
        ),
    ),
    alternatives={
        "zeroed at the end, clipped by hand": """
def training_step(model, batch, optimiser, rate, most):
    model.train(True)
    ids, targets, counts = batch
    log_p = model(ids).log_softmax(dim=-1)
    each = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss = (each * counts).sum() / counts.sum()
    loss.backward()
    gradients = [weight.grad for weight in model.parameters()]
    norm = sum(g.square().sum() for g in gradients).sqrt()
    if norm > most:
        for g in gradients:
            g.mul_(most / norm)
    for group in optimiser.param_groups:
        group.update(lr=rate)
    optimiser.step()
    optimiser.zero_grad(set_to_none=False)
    return loss
""",
        "ignore_index": """
def training_step(model, batch, optimiser, rate, most):
    ids, targets, counts = batch
    for g in optimiser.param_groups:
        g["lr"] = rate
    optimiser.zero_grad()
    model.train()
    logits = model(ids).transpose(1, 2)
    loss = cross_entropy(logits, targets.masked_fill(~counts, -100))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=most)
    optimiser.step()
    return float(loss)
""",
        "torch.autograd.grad": """
def training_step(model, batch, optimiser, rate, most):
    model.train()
    weights = list(model.parameters())
    ids, targets, counts = batch
    loss = nn.NLLLoss()(torch.log_softmax(model(ids), -1)[counts], targets[counts])
    for weight, gradient in zip(weights, torch.autograd.grad(loss, weights)):
        weight.grad = gradient
    nn.utils.clip_grad_norm_(weights, most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.detach()
""",
    },
    hints=(
        "Say what each of these does to weight.grad: backward, zero_grad, clip_grad_norm_, step. In which order do they make sense?",
        "model(ids): (B, T, C), logits as they are. With a mask of (B, T), `logits[counts]` is (number of True, C) and `targets[counts]` (number of True,). Out: one number.",
        "training mode\nlogits of the batch; mean cross-entropy where counts is True\nold gradients away\nbackward\nclip\n"
        "the rate into each group of the optimiser\nthe optimiser's step\nreturn the loss as a number",
        "Near miss: zero_grad between backward and step runs without an error and trains nothing.",
    ),
)

# ------------------------------------------------------------------------------------------ embeddings, batches


def embeddings_cases(draw: Draw) -> Iterator[Case]:
    # With a table of places among the weights it has to be a buffer; without one it has to be the sinusoid.
    for vocabulary, tokens, dim, batch, T, loaded in (
        (7, 9, 4, 2, 5, False), (11, 6, 8, 3, 4, True), (5, 10, 6, 4, 7, True), (9, 8, 2, 5, 8, False),
    ):  # fmt: skip
        case = {
            "config": {"vocabulary": vocabulary, "tokens": tokens, "dim": dim},
            "ids": draw.integers(0, vocabulary, batch, T),
            "weights.token.weight": draw.normal(vocabulary, dim),
        }
        yield case | ({"weights.position": draw.normal(tokens, dim)} if loaded else {})


BUFFER = 'self.register_buffer("position", sinusoid(tokens, dim))'
PLACED = "self.token(ids) + self.position[: ids.shape[1]]"

Embeddings = Exercise(
    cases=embeddings_cases,
    rule=Rule(axes={"eval": "B T D"}, legend=OF_WEIGHTS),
    uses=("transformer.sinusoid",),
    mistakes=(
        Mistake(
            "no buffer of that name",
            "The module has no buffer `position`. A plain tensor as an attribute gives the right numbers, but it is not loaded with the weights, and stays behind when the model moves.",
            BUFFER, "self.position = sinusoid(tokens, dim)",
            also=(
                """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("places", sinusoid(tokens, dim))

    def forward(self, ids):
        return self.token(ids) + self.places[: ids.shape[1]]
""",
            ),
        ),
        Mistake(
            "a buffer that is not saved",
            "Your numbers are right, and the buffer is there, but `persistent=False` leaves it out of what is saved with the model.",
            BUFFER, BUFFER.replace("(tokens, dim))", "(tokens, dim), persistent=False)"),
        ),
        Mistake(
            "a parameter instead of a buffer",
            "Your numbers are right, but the table of places is registered as a parameter, with what is trained. What belongs to the model and never changes is a buffer.",
            BUFFER, "self.position = nn.Parameter(sinusoid(tokens, dim))",
        ),
        Mistake(
            "the words in a plain tensor",
            "The token table is no parameter in yours: nothing would train it. `nn.Embedding` registers its table.",
            edits={
                "self.token = nn.Embedding(vocabulary, dim)": "self.words = torch.zeros(vocabulary, dim)",
                "self.token(ids)": "self.words[ids]",
            },
        ),
        Mistake(
            "no places",
            "Your answer does not change with the place of a word.",
            PLACED, "self.token(ids)",
        ),
        Mistake(
            "places counted from 1",
            "Your first word gets the place of the second. It stands at position 0.",
            edits={"self.position[: ids.shape[1]]": "self.position[1 : ids.shape[1] + 1]", "sinusoid(tokens, dim))": "sinusoid(tokens + 1, dim)[:])"},
        ),
        Mistake(
            "the sentences numbered",
            "All words of a sentence get one place: what is counted are the sentences of the batch.",
            "self.position[: ids.shape[1]]", "self.position[: ids.shape[0]][:, None]",
        ),
        Mistake(
            "the last rows of the table",
            "You add the last T rows of the table. The first word gets row 0, however long the table is.",
            "self.position[: ids.shape[1]]", "self.position[-ids.shape[1] :]",
        ),
        Mistake(
            "the words scaled by √D",
            "Your words are √D times too long. The paper scales them so; here nothing is scaled.",
            "self.token(ids) +", "self.token(ids) * self.token.weight.shape[1] ** 0.5 +",
        ),
        Mistake(
            "multiplied instead of added",
            "Word and place are multiplied in yours, coordinate by coordinate.",
            "self.token(ids) +", "self.token(ids) *",
        ),
    ),
    alternatives={
        "arange and an index": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.register_buffer("position", sinusoid(tokens, dim))
        self.token = nn.Embedding(num_embeddings=vocabulary, embedding_dim=dim)

    def forward(self, ids):
        places = torch.arange(ids.size(1)).unsqueeze(0)
        return self.token(ids) + self.position[places]
""",
        "filled in place": """
class Embeddings(nn.Module):
    def __init__(self, vocabulary, tokens, dim):
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", torch.zeros(tokens, dim))
        self.position += sinusoid(tokens, dim)

    def forward(self, ids):
        x = self.token(ids)
        x = x + self.position[: x.shape[1], :]
        return x
""",
    },
    hints=(
        "Which of the two tables is trained, and which is the same for all time? What has to be saved with the model?",
        "ids (B, T); token(ids) (B, T, D); position (tokens, D), of which T rows are needed, for every sentence the same.",
        "in __init__: super().__init__(); nn.Embedding(vocabulary, dim) as token; register_buffer with the name \"position\" and your sinusoid\n"
        "in forward: look the ids up; add the first T rows of position",
        "Near miss: `self.position = sinusoid(tokens, dim)` runs and gives the right numbers, but nn.Module does not know of it: it is neither saved nor moved with the model.",
    ),
)


def collate_cases(draw: Draw) -> Iterator[Case]:
    # Rows hold the id 0, too; one is empty; the longest stands first, last and in the midst.
    for lengths in ((5, 2, 3), (1, 4), (3, 0, 6, 2), (2, 2, 7, 7, 1)):
        ids = draw.integers(1, 50, sum(lengths))
        starts = np.cumsum([0, *lengths[:-1]])
        for start, length in zip(starts, lengths, strict=True):
            if length > 1:
                ids[start + int(draw.integers(0, length))] = 0
        yield {"ids": ids, "lengths": np.array(lengths)}


PADDED = "[[*row, *[0] * (longest - len(row))] for row in rows]"
MASK = "torch.arange(longest) < lengths[:, None]"

collate = Exercise(
    cases=collate_cases,
    rule=Rule("equal", axes={"0": "B T", "1": "B T"}),
    mistakes=(
        Mistake(
            "the mask read off the zeros",
            "Your ids are right. In the mask an id 0 inside a row counts as padding: go by the lengths of the rows.",
            MASK, "ids != 0",
        ),
        Mistake(
            "the mask inverted",
            "Your ids are right. Your mask is True at the padding, and should be at the words.",
            MASK, "torch.arange(longest) >= lengths[:, None]",
        ),
        Mistake(
            "padding in front",
            "Your padding stands in front of the rows. It belongs behind their ends.",
            edits={PADDED: "[[*[0] * (longest - len(row)), *row] for row in rows]", MASK: "torch.arange(longest).flip(0) < lengths[:, None]"},
        ),
        Mistake(
            "cut to the shortest row",
            "Words are lost: T is the length of the shortest row in yours. It is that of the longest.",
            code="""
def collate(rows):
    shortest = min(len(row) for row in rows)
    ids = torch.tensor([row[:shortest] for row in rows])
    return ids, torch.ones_like(ids, dtype=torch.bool)
""",
        ),
        Mistake(
            "padded with −1",
            "Your padding is −1. Zeros are asked; −1 would be no row of a table.",
            "*[0] *", "*[-1] *",
        ),
        Mistake(
            "one place too many in the mask",
            "Your ids are right. Your mask has one True too many behind each shorter row.",
            MASK, "torch.arange(longest) <= lengths[:, None]",
        ),
        Mistake(
            "words and sentences have changed places",
            "Your first axis counts words. The rows come first: `pad_sequence` wants batch_first=True.",
            "return ids, torch.arange(longest) < lengths[:, None]", "return ids.T, (torch.arange(longest) < lengths[:, None]).T",
        ),
        Mistake(
            "a mask that is always True",
            "Your ids are right. Your mask is True everywhere: padding is no word.",
            MASK, "torch.ones_like(ids, dtype=torch.bool)",
        ),
        Mistake(
            "one column too many",
            "Your rows are padded by one column more than the longest needs.",
            "longest = max(len(row) for row in rows)", "longest = max(len(row) for row in rows) + 1",
        ),
        Mistake(
            "ids alone",
            "You return the ids. The mask is asked for as well.",
            f"return ids, {MASK}", "return ids",
        ),
    ),
    alternatives={
        "pad_sequence": """
def collate(rows):
    rows = [torch.tensor(row, dtype=torch.long) for row in rows]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    real = nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return ids, real.bool()
""",
        "filled row by row": """
def collate(rows):
    T = max(map(len, rows))
    ids = torch.zeros(len(rows), T, dtype=torch.long)
    real = torch.zeros(len(rows), T, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row, dtype=torch.long)
        real[i, : len(row)] = True
    return ids, real
""",
    },
    hints=(
        "Three rows of 5, 2 and 3 ids: how wide is the batch, and how many of its places are padding? How can you tell padding from an id that is 0?",
        "In: a list of B lists. Out: ids (B, T), whole numbers, and a mask (B, T) of True and False; T is the length of the longest row.",
        "T = length of the longest row\neach row: its ids, then zeros up to T\nmask: place p of a row is real where p is below the row's length",
        "Near miss: `ids != 0` as the mask. It is right until a row holds the id 0.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def mended_cases(draw: Draw) -> Iterator[Case]:
    # Padding is 0, as in the notebook's sentences; it ends most rows, and stands at the front and in the midst of others.
    for batch, tokens, D, V, M in ((3, 5, 4, 9, 11), (6, 4, 8, 7, 10), (4, 4, 6, 12, 9), (1, 6, 2, 7, 8)):
        ids = draw.integers(1, V, batch, tokens)
        ids[0, -2:] = 0
        ids[-1, [0, 2]] = 0
        ids[-1, 1] = ids[-1, 3]  # the same word twice in a sentence
        yield {
            "ids": ids,
            "words": draw.normal(V, D),
            "places": draw.normal(M, D),
        }


RIGHT_PLACES = "places[: ids.shape[1]]"

mended_positions = Exercise(
    mends=True,
    cases=mended_cases,
    rule=Rule(axes={"": "B T D"}),
    mistakes=(
        Mistake(
            "the code as it was",
            "These are the numbers of the code above, bug included: the same word twice in one sentence still gets the same vector.",
            code="""
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(0)).unsqueeze(1)
    return words[ids] + places[numbers]
""",
        ),
        Mistake(
            "one place for all words, the one behind the sentence",
            "Every word of every sentence gets the same row, number T: a colon is missing somewhere. A published model of 2024 had this bug.",
            RIGHT_PLACES, "places[ids.shape[1]]",
        ),
        Mistake(
            "positions counted from 1",
            "The first word gets row 1 of the places. It stands at position 0.",
            RIGHT_PLACES, "places[1 : ids.shape[1] + 1]",
        ),
        Mistake(
            "positions counted from the end",
            "The last word gets row 0 of the places.",
            RIGHT_PLACES, f"{RIGHT_PLACES}.flip(0)",
        ),
        Mistake(
            "no positions",
            "Your answer does not change with `places`.",
            f" + {RIGHT_PLACES}", "",
        ),
        Mistake(
            "positions without words",
            "All your sentences are equal: the words are missing.",
            "words[ids] +", "torch.zeros_like(words[ids]) +",
        ),
        Mistake(
            "multiplied instead of added",
            "Word and place are multiplied in yours, coordinate by coordinate.",
            "words[ids] +", "words[ids] *",
        ),
        Mistake(
            "positions counted through the whole batch",
            "Your first sentence is right; the second one goes on counting where the first ended. Every sentence starts at 0.",
            RIGHT_PLACES, "places[torch.arange(ids.numel()).view(ids.shape) % len(places)]",
        ),
        Mistake(
            "the words counted along the first axis",
            "You number the words now, but the numbers lie along the first axis: that runs only where there are as many sentences as words, "
            "or a single one. What is added has to stretch over the sentences.",
            RIGHT_PLACES, "places[torch.arange(ids.size(1)).unsqueeze(1)]",
        ),
        Mistake(
            "places looked up by the word",
            "The same word gets the same place wherever it stands: you look up its id in `places`, not its number in the sentence.",
            RIGHT_PLACES, "places[ids % len(places)]",
            also=(
                """
def mended_positions(ids, words, places):
    return words[ids] + places[ids]
""",
            ),
        ),
        Mistake(
            "padding not counted",
            "You number the words alone, so that the places behind a 0 are off. Padding takes a number like all words here.",
            RIGHT_PLACES, "places[((ids != 0).cumsum(1) - 1).clamp(min=0)]",
            also=(
                """
def mended_positions(ids, words, places):
    return words[ids] + places[(ids != 0).cumsum(1) * (ids != 0)]
""",
            ),
        ),
        Mistake(
            "padding without a place",
            "The words are right. Padding is treated like all words here: it gets a place, too.",
            RIGHT_PLACES, f"{RIGHT_PLACES} * (ids != 0)[..., None]",
        ),
        Mistake(
            "padding emptied",
            "The words are right. Padding is treated like all words here; in yours its vectors are 0.",
            f"words[ids] + {RIGHT_PLACES}", f"(words[ids] + {RIGHT_PLACES}) * (ids != 0)[..., None]",
        ),
        Mistake(
            "the last rows of the table",
            "You add the last T rows of `places`. The first word gets row 0, whatever the table's length.",
            RIGHT_PLACES, "places[-ids.shape[1] :]",
        ),
        Mistake(
            "the sinusoid instead of the given places",
            "Your answer does not change with `places`: you add the sinusoid. The table is an argument, it may hold anything.",
            code="""
def mended_positions(ids, words, places):
    i, position = torch.arange(words.shape[1]), torch.arange(ids.shape[1])[:, None]
    return words[ids] + torch.sin(position * 10_000.0 ** (-(i // 2 * 2) / words.shape[1]) + i % 2 * torch.pi / 2)
""",
        ),
        Mistake(
            "the words scaled by the root of D",
            "Your words are √D times too long. The paper scales them so; the function above does not, and nothing else was wrong with it.",
            "words[ids] +", "words[ids] * words.shape[1] ** 0.5 +",
        ),
    ),
    alternatives={
        "the same line with the other axis": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(1)).unsqueeze(0)
    return words[ids] + places[numbers]
""",
        "F.embedding, expanded, in float64": """
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.shape[1]).expand_as(ids)
    embedding = torch.nn.functional.embedding
    return embedding(ids, words.double()) + embedding(numbers, places.double())
""",
        "word by word": """
def mended_positions(ids, words, places):
    return torch.stack([torch.stack([words[i] + places[p] for p, i in enumerate(row)]) for row in ids])
""",
    },
    hints=(
        "With 3 sentences of 5 words: how many different numbers should `numbers` hold, 3 or 5? And how many does it hold?",
        "words[ids]: (B, T, D). What is added has to stretch over the *sentences*: (T, D) or (1, T, D). The code above has (B, 1, D).",
        "take the rows 0 to T − 1 of places\nadd them to the words of every sentence",
        "Near miss: `torch.arange(ids.size(1)).unsqueeze(1)` counts the right things, but lays them out along the first axis. "
        "With as many sentences as words it even runs.",
    ),
)

# ------------------------------------------------------------------------------------------ extension


def shift_matrix_cases(draw: Draw) -> Iterator[Case]:
    # k is drawn from so many numbers that nobody guesses all four; 0 and a single pair are the edges.
    for low, high, D in ((1, 40, 6), (-60, -2, 4), (10, 60, 8), (0, 1, 10), (2, 40, 2)):
        yield {"k": int(draw.integers(low, high)), "word": draw.normal(D)}


TURN = "torch.stack([cosine, sine, -sine, cosine], dim=-1).unflatten(-1, (2, 2))"

shift_matrix = Exercise(
    cases=shift_matrix_cases,
    rule=Rule(axes={"": "D D"}),
    mistakes=(
        Mistake(
            "the shift backwards",
            "Your matrix turns the wrong way: it takes position p to p − k. Look at the signs of the two sines.",
            "cosine, sine, -sine, cosine", "cosine, -sine, sine, cosine",
        ),
        Mistake(
            "one frequency for all pairs",
            "All your blocks are equal. Each pair of columns has a speed of its own.",
            "angle = k * 10_000.0 ** (-torch.arange(0, D, 2) / D)", "angle = k * torch.ones(D // 2)",
        ),
        Mistake(
            "a reflection instead of a rotation",
            "Your blocks are symmetric: they mirror the pair. A shift turns it; the two sines have opposite signs.",
            "cosine, sine, -sine, cosine", "cosine, sine, sine, -cosine",
        ),
        Mistake(
            "for sines first, then cosines",
            "These blocks would fit a table with all sines on the left. Ours has each sine beside its cosine: 2 × 2 blocks on the diagonal.",
            f"torch.block_diag(*{TURN})",
            "torch.cat([torch.cat([cosine.diag(), sine.diag()], 1), "
            "torch.cat([-sine.diag(), cosine.diag()], 1)])",
        ),
        Mistake(
            "the exponent counts pairs, not columns",
            "Your first block is right, the others turn too fast: the exponents reach only half as far as in `sinusoid`.",
            "torch.arange(0, D, 2)", "torch.arange(0, D // 2)",
        ),
        Mistake(
            "k left out",
            "Your matrix shifts by one word, whatever k is.",
            "angle = k * 10_000.0", "angle = 10_000.0",
        ),
        Mistake(
            "the blocks alone",
            "You return the 2 × 2 blocks one after the other. They belong on the diagonal of one D × D matrix, with zeros elsewhere.",
            f"torch.block_diag(*{TURN})", TURN,
        ),
        Mistake(
            "the sine positive on both sides",
            "Your blocks are symmetric. A shift turns the pair: the two sines of a block have opposite signs.",
            "cosine, sine, -sine, cosine", "cosine, sine, sine, cosine",
        ),
        Mistake(
            "the sign of k lost",
            "You are right where k is not negative. Going back is a turn the other way round.",
            "angle = k * ", "angle = abs(k) * ",
        ),
        Mistake(
            "cosines alone",
            "Your diagonal is right, and nothing stands beside it: each coordinate of a pair also takes something from the other.",
            "cosine, sine, -sine, cosine", "cosine, 0 * sine, 0 * sine, cosine",
        ),
        Mistake(
            "coordinates moved instead of positions",
            "Your matrix moves coordinates by k places within one vector. Asked is the one that makes the vector of position p into that of p + k.",
            code="""
def shift_matrix(k, D):
    return torch.eye(D).roll(k, dims=0)
""",
            also=(
                """
def shift_matrix(k, D):
    return torch.eye(D).roll(k, dims=1)
""",
            ),
        ),
    ),
    alternatives={
        "a loop that fills zeros, in float64": """
import math
def shift_matrix(k, D):
    M = torch.zeros(D, D, dtype=torch.float64)
    for i in range(0, D, 2):
        turn = k / 10_000 ** (i / D)
        M[i, i] = M[i + 1, i + 1] = math.cos(turn)
        M[i, i + 1], M[i + 1, i] = math.sin(turn), -math.sin(turn)
    return M
""",
        "the matrix exponential of the speeds": """
def shift_matrix(k, D):
    speed = 10_000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    generator = torch.block_diag(*(w * torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64) for w in speed))
    return torch.linalg.matrix_exp(k * generator)
""",
        "solved from the table of positions itself": """
def shift_matrix(k, D):
    p, i = torch.arange(4 * D, dtype=torch.float64)[:, None], torch.arange(D)
    table = lambda p: torch.sin(p / 10_000 ** (i // 2 * 2 / D) + i % 2 * torch.pi / 2)
    far = p * 500
    return torch.linalg.lstsq(table(far), table(far + k), driver="gelsd").solution.T
""",
    },
    hints=(
        "Take one pair of columns, sin(pω) and cos(pω). Which formulas from school give sin((p + k)ω) and cos((p + k)ω) from them?",
        "In: two whole numbers. Each pair gives a 2 × 2 block. Out: (D, D), the D/2 blocks on the diagonal, zeros elsewhere. "
        "It is applied from the left to a column: PE(p + k) = M PE(p).",
        "sin((p+k)ω) = cos(kω) · sin(pω) + sin(kω) · cos(pω)\ncos((p+k)ω) = … · sin(pω) + … · cos(pω)\n"
        "read off the four factors; do so for each ω; `torch.block_diag` puts blocks on a diagonal",
        "Near miss: [[cos, −sin], [sin, cos]] is the rotation of geometry books. There the *cosine* comes first; in our table the sine does.",
    ),
)
