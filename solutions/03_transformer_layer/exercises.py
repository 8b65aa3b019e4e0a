"""03 The transformer layer: inputs, known mistakes, unusual right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ positions


def sinusoid_cases(draw: Draw) -> Iterator[Case]:
    # The sizes are also drawn, because a table of positions has no other input. The last two have one row and one pair.
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
            "All your values are correct but in the wrong order: the left half of your columns contains the sines, and the right half contains the cosines. Each sine should be followed by its cosine.",
            INTERLEAVED, "torch.cat([angle.sin(), angle.cos()], dim=-1)",
        ),
        Mistake(
            "cosine before sine",
            "Your row 0 begins with 1. At position 0 the sine is 0 and the cosine is 1: which of the two belongs in column 0?",
            INTERLEAVED, "torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(1)",
        ),
        Mistake(
            "positions counted from 1",
            "Your first row contains the values of the second row. The first word is at position 0.",
            "torch.arange(T)[:, None]", "torch.arange(1, T + 1)[:, None]",
        ),
        Mistake(
            "exponent doubled",
            "Columns 0 and 1 are correct, but the others rotate too slowly. Column 2i has the exponent 2i/D: is your counter "
            "i, or already 2i?",
            FREQUENCY, "10_000.0 ** (-2 * torch.arange(0, D, 2) / D)",
        ),
        Mistake(
            "one frequency per column instead of per pair",
            "In your table, the sine and the cosine of a pair have different frequencies. Both columns of a pair share one "
            "frequency, that of the even column.",
            code="""
def sinusoid(T, D):
    angle = torch.arange(T)[:, None] * 10_000.0 ** (-torch.arange(D) / D)
    return torch.where(torch.arange(D) % 2 == 0, angle.sin(), angle.cos())
""",
        ),
        Mistake(
            "exponent i/D instead of 2i/D",
            "Columns 0 and 1 are correct, but the others rotate too fast: your exponents reach only half as far as they "
            "should. The exponents should count columns (2i), not pairs (i).",
            FREQUENCY, "10_000.0 ** (-torch.arange(0, D // 2) / D)",
        ),
        Mistake(
            "base 1,000 instead of 10,000",
            "The slow columns rotate too fast, and the error grows from left to right. Check the base.",
            "10_000.0", "1_000.0",
        ),
        Mistake(
            "table transposed",
            "Your positions run along the columns. Return the transpose of your table, with one row per position.",
            INTERLEAVED, "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).T",
        ),
        Mistake(
            "multiplied by 10000^(2i/D) instead of divided",
            "Your frequencies increase from left to right. The first pair rotates by one radian per word, and every other pair "
            "should rotate more slowly.",
            "(-torch.arange(0, D, 2) / D)", "(torch.arange(0, D, 2) / D)",
        ),
        Mistake(
            "same frequency for every pair",
            "All your pairs rotate by one radian per word, but only the first pair should. Is the exponent missing, or rounded to an "
            "integer (`//`)?",
            " * frequency", " * torch.ones(D // 2)",
        ),
        Mistake(
            "frequencies spread to exactly 1/10000",
            "Your first pair is correct, but your last pair rotates by exactly 1/10000 per word: you have spread the exponents "
            "from 0 to 1 inclusive. In the formula, the last exponent is (D − 2)/D, slightly less than 1.",
            FREQUENCY, "10_000.0 ** (-torch.arange(D // 2) / max(D // 2 - 1, 1))",
        ),
        Mistake(
            "sines only",
            "Your even columns are correct, but the odd columns repeat the sines. They should contain cosines.",
            INTERLEAVED, "torch.stack([angle.sin(), angle.sin()], dim=-1).flatten(1)",
        ),
        Mistake(
            "positions as a fraction of the length",
            "Your positions run from 0 to 1, so the encoding of word 3 depends on the length of the sentence. Here, positions should be integers.",
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
        "Write down rows 0 and 1 for D = 4 by hand. Which entries of row 0 are 0, and which are 1? How many different "
        "frequencies do D columns need?",
        "Input: two integers. With positions as a column (T, 1) and frequencies as a row (D/2,), their product has shape (T, "
        "D/2). Output: (T, D).",
        "for each position p, for each i from 0 to D/2 − 1:\n    angle = p / 10000^(2i/D)\n    column 2i: sin(angle); column 2i "
        "+ 1: cos(angle)",
        "A near miss: `torch.cat([sines, cosines], dim=-1)` has the right shape and all the right values, but the sine of pair "
        "1 belongs in column 2, right after the cosine of pair 0.",
    ),
)

# ------------------------------------------------------------------------------------------ layer norm


def layer_norm_cases(draw: Draw) -> Iterator[Case]:
    def some(x: np.ndarray, eps: float) -> Case:
        D = x.shape[-1]
        return {"x": x, "gain": draw.uniform(D, low=0.5, high=1.5), "bias": draw.normal(D), "eps": eps}

    # Rows of very different sizes, each with a mean of its own; some values of eps matter, whereas others hardly do. The last two cases
    # are a word whose coordinates are all 0, so that only eps keeps the root away from 0, and a single vector.
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
            "Your results are close for long vectors and far off for short ones, because you add epsilon to the standard deviation. Add epsilon to the variance, inside the square root.",
            "(variance + eps).sqrt()", "(variance.sqrt() + eps)",
        ),
        Mistake(
            "variance divided by D − 1",
            "All your vectors are slightly too short, especially those with few coordinates, because you use the unbiased estimate of the variance. Here the variance is the mean of the D squared deviations.",
            VARIANCE, "variance = x.var(-1, keepdim=True)",
        ),
        Mistake(
            "standard deviation with D − 1, epsilon outside the root",
            "Your formula differs in two ways: the standard deviation divides by D − 1, and epsilon is added after the square root. A well-known tutorial uses the same formula.",
            edits={
                VARIANCE: "variance = x.std(-1, keepdim=True)",
                "(variance + eps).sqrt()": "(variance + eps)",
            },
        ),
        Mistake(
            "epsilon not used",
            "Your answer is correct only where the variance is large and epsilon is tiny. You do not use `eps`, so a vector of zeros gives 0/0.",
            "(variance + eps)", "variance",
        ),
        Mistake(
            "fixed epsilon",
            "Your answer is right only where `eps` is 1e-5, because you do not use the argument `eps`.",
            "(variance + eps)", "(variance + 1e-5)",
        ),
        Mistake(
            "epsilon squared",
            "Your results are close for long vectors and far off for short ones, because you add eps² instead of eps under the root.",
            "(variance + eps)", "(variance + eps**2)",
        ),
        Mistake(
            "epsilon as a lower bound",
            "Your results are close where the variance is large. Epsilon should be added to every variance, but you only raise variances below epsilon to epsilon.",
            "(variance + eps)", "variance.clamp(min=eps)",
        ),
        Mistake(
            "epsilon added twice",
            "Where the input vectors are short, your output vectors are slightly too short, because you add epsilon inside the square root and again after it.",
            "(variance + eps).sqrt()", "((variance + eps).sqrt() + eps)",
        ),
        Mistake(
            "normalised over the words",
            "Your columns have mean 0, but the rows should have mean 0. Normalise each word over its own coordinates.",
            edits={
                CENTRED: "centred = x - x.mean(-2, keepdim=True)",
                VARIANCE: "variance = centred.square().mean(-2, keepdim=True)",
            },
        ),
        Mistake(
            "normalised over the first axis",
            "You take the mean and the variance of each coordinate along the first axis of x. Normalise each word over its own "
            "coordinates, the last axis.",
            code="""
def layer_norm(x, gain, bias, eps=1e-5):
    centred = x - x.mean(0, keepdim=True)
    variance = centred.square().mean(0, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
""",
        ),
        Mistake(
            "one mean and variance per sentence",
            "All words of a sentence share one mean and one variance in your answer. Normalise each word separately.",
            code="""
def layer_norm(x, gain, bias, eps=1e-5):
    axes = (-2, -1) if x.ndim > 1 else (-1,)
    centred = x - x.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
""",
        ),
        Mistake(
            "one mean and variance for the whole tensor",
            "Long vectors remain longer than short ones, because all words share one mean and one variance in your answer. Normalise each word separately.",
            edits={
                CENTRED: "centred = x - x.mean()",
                VARIANCE: "variance = centred.square().mean()",
            },
        ),
        Mistake(
            "mean not subtracted",
            "Your vectors keep the mean of their coordinates. (Dividing alone is RMSNorm, which LLaMA uses; layer "
            "normalisation also subtracts the mean.)",
            CENTRED, "centred = x",
            also=(
                """
def layer_norm(x, gain, bias, eps=1e-5):
    return x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() * gain + bias
""",
            ),
        ),
        Mistake(
            "gain and bias not applied",
            "Your vectors are standardised, but your answer depends on neither the gain nor the bias.",
            f"{STANDARDISED} * gain + bias", STANDARDISED,
        ),
        Mistake(
            "bias multiplied by the gain",
            "Your answer would be correct if the bias were 0. Multiply by the gain first, then add the bias.",
            f"{STANDARDISED} * gain + bias", f"({STANDARDISED} + bias) * gain",
        ),
        Mistake(
            "divided by the variance",
            "Long vectors come out too short and short ones too long. Which has the same unit as x, the variance or its square "
            "root?",
            "(variance + eps).sqrt()", "(variance + eps)",
        ),
        Mistake(
            "length 1 instead of variance 1",
            "Your vectors are too short by the factor √D: you divide by the length of the vector instead of the standard "
            "deviation of its coordinates.",
            VARIANCE, "variance = centred.square().sum(-1, keepdim=True)",
        ),
        detached("layer_norm"),
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
        "in float64": """
def layer_norm(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x.double(), -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias
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
        "Take the vector [1, 0, 0, 0]. What is its mean, what is the mean square of the deviations, and what are the four "
        "values in the end?",
        "Input: x (…, D), gain and bias (D,). Mean and variance: (…, 1), one per word, so that they broadcast over its "
        "coordinates. Output: the shape of x.",
        "subtract from each word the mean of its own coordinates\nvariance = mean of the squared deviations\ndivide by the "
        "square root of (variance + eps)\nmultiply by gain, coordinate by coordinate, then add bias",
        "A near miss: `(x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)` differs in two ways: torch's `std` "
        "divides by D − 1, and eps is outside the square root.",
    ),
)

# ------------------------------------------------------------------------------------------ modules

ALL_BUT_SURELY = 1 - 1e-9
"""A dropout that drops everything, so that any way of generating the draws gives the same result. A p of 1 would divide by 0."""


def linear(draw: Draw, name: str, columns: int, rows: int, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Weights of an nn.Linear from `columns` to `rows`."""
    return {
        f"weights.{name}.weight": draw.normal(rows, columns, scale=scale * columns**-0.5),
        f"weights.{name}.bias": draw.normal(rows, scale=0.3 * scale),
    }


def norm(draw: Draw, name: str, dim: int) -> dict[str, np.ndarray]:
    """Weights of an nn.LayerNorm: gains around 1, and biases large enough for their absence to show."""
    return {
        f"weights.{name}.weight": draw.uniform(dim, low=0.5, high=1.5),
        f"weights.{name}.bias": draw.normal(dim, scale=0.5),
    }


def attention_weights(draw: Draw, dim: int, prefix: str = "") -> dict[str, np.ndarray]:
    names = ("query", "key", "value", "output")
    return {key: w for name in names for key, w in linear(draw, f"{prefix}{name}", dim, dim).items()}


def pairs(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """A mask with one entry per pair: every word sees itself and about half of the others."""
    return (draw.uniform(batch, tokens, tokens) < 0.5) | np.eye(tokens, dtype=bool)


def causal(tokens: int) -> np.ndarray:
    return np.tril(np.ones((1, tokens, tokens), dtype=bool))


def padding_in_front(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    return draw.padding(batch, tokens)[:, None, ::-1].copy()


# ------------------------------------------------------------------------------------------ attention


def attention_cases(draw: Draw) -> Iterator[Case]:
    # Masks of every form: one for the words of each sentence, one for every pair, a causal one, and one that hides nothing.
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
            "mask not applied",
            "Your answer is correct where `keep` hides nothing. For the other inputs, words attend to words that they must not see.",
            MASKED, "scores.softmax(dim=-1)",
        ),
        Mistake(
            "mask inverted",
            "Your words attend only to those that they must *not* see. `keep` is True where a word may be seen.",
            MASKED, 'scores.masked_fill(keep[:, None], float("-inf")).softmax(dim=-1)',
            also=(
                attention_with(
                    "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name)(x)", "self.output",
                ).replace("~keep", "keep"),
            ),
        ),
        Mistake(
            "mask applied after the softmax",
            "Where words are masked, your weights do not sum to 1, because you set weights to 0 after the softmax. Mask the *scores*, "
            "before the softmax.",
            MASKED, "scores.softmax(dim=-1) * keep[:, None]",
        ),
        Mistake(
            "masked scores set to 0",
            "A score of 0 is not masked: its weight is exp(0), as large as that of an ordinary word. Set masked scores to "
            "minus infinity.",
            'float("-inf")', "0.0",
            also=(
                attention_with(
                    "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))",
                    "getattr(self, name)(x)", "self.output",
                ).replace("-1e9", "1e-9"),
            ),
        ),
        Mistake(
            "scores not scaled",
            "Your attention weights are too peaked, because the scores are not divided by √d.",
            " / queries.shape[-1] ** 0.5", "",
        ),
        Mistake(
            "scores divided by √D",
            "Your attention weights are too uniform, because you divide by √D, where D counts all columns. The queries of one head "
            "have d = D / heads columns.",
            "queries.shape[-1] ** 0.5", "x.shape[-1] ** 0.5",
        ),
        Mistake(
            "scores divided by d",
            "Your attention weights are too uniform, because you divide the scores by d instead of √d.",
            "queries.shape[-1] ** 0.5", "queries.shape[-1]",
        ),
        Mistake(
            "softmax over the queries",
            "Your weights sum to 1 for each key. They should sum to 1 for each query, so take the softmax over the last axis "
            "of the scores.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake(
            "queries and keys swapped",
            "Your scores are transposed: queries and keys are swapped.",
            PROJECTED, "in_heads(self.key), in_heads(self.query), in_heads(self.value)",
        ),
        Mistake(
            "keys and values swapped",
            "You compare the queries with the values and average the keys: keys and values are swapped.",
            PROJECTED, "in_heads(self.query), in_heads(self.value), in_heads(self.key)",
        ),
        Mistake(
            "a single head",
            "You compute a single head over all columns, whatever `heads` is.",
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
            "columns dealt out to the heads in turn",
            "You assign the columns to the heads in turn. Head 0 should use the first d columns, head 1 the next d, and so on.",
            SPLIT, "project(x).unflatten(-1, (-1, self.heads)).permute(0, 3, 1, 2)",
        ),
        Mistake(
            "heads split across words",
            "Each of your heads mixes several words, because a view as (B, heads, T, d) keeps the numbers in memory order. Split the "
            "last axis first, then transpose two axes.",
            SPLIT, "project(x).reshape(len(x), self.heads, x.shape[1], -1)",
        ),
        Mistake(
            "heads joined across words",
            "Your heads are correct but joined wrongly: (B, heads, T, d) is reinterpreted as (B, T, D) in memory order. "
            "Transpose the two axes back first.",
            JOINED, "(weights @ values).reshape(x.shape)",
        ),
        Mistake(
            "output map not applied",
            "Your answer does not depend on the weights of `output`, because you return the concatenated heads directly.",
            f"self.output({JOINED})", JOINED,
        ),
        Mistake(
            "maps without biases",
            "The check cannot load its biases, because your four maps have none.",
            REGISTERED,
            "self.query, self.key, self.value, self.output = (nn.Linear(dim, dim, bias=False) for _ in range(4))",
        ),
        Mistake(
            "maps in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list or dictionary. The optimiser would not "
            "find these weights, and they cannot be loaded. Store the maps in the attributes `query`, `key`, `value` and "
            "`output`.",
            code=attention_with(
                "self.maps = {name: nn.Linear(dim, dim) for name in ('query', 'key', 'value', 'output')}",
                "self.maps[name](x)", "self.maps['output']",
            ),
        ),
        Mistake(
            "one map under several names",
            "Your query, key and value are the same map under three names. Each needs an nn.Linear of its own.",
            REGISTERED, "self.query = self.key = self.value = nn.Linear(dim, dim)\n        self.output = nn.Linear(dim, dim)",
        ),
        Mistake(
            "residual connection inside attention",
            "Your answer also contains x. Adding the input is a step of the layer, not of attention.",
            "return self.output(", "return x + self.output(",
        ),
        Mistake(
            "a buffer saved with the model",
            "Your numbers are right, but you register a buffer that is saved with the model and expected when weights are "
            "loaded, so a file without it cannot be loaded. Use a plain attribute, or persistent=False.",
            "self.heads = heads", 'self.heads = heads\n        self.register_buffer("scale", torch.tensor((dim // heads) ** -0.5))',
        ),
        Mistake(
            "output detached",
            "Your numbers are right, but training could not change your weights: no_grad, detach or .data separates your "
            "output from them.",
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
        "Which four maps does the class own, and why must you call `super().__init__()`? In forward, which step decides which "
        "words a word may see?",
        "x (B, T, D); each projection (B, T, D), split into heads (B, H, T, d); scores and weights (B, H, T, T); keep[:, None] "
        "(B, 1, T, T); output (B, T, D).",
        "in __init__: super().__init__(); four nn.Linear(dim, dim) as attributes; store heads\nin forward: project x three "
        "times; split the last axis into (heads, d); move heads before the words\nscores = queries times transposed keys / "
        "√d\nminus infinity where keep is False; softmax over the last axis\nweights times values; move heads back after the "
        "words and concatenate them; apply output",
        "A near miss: `self.query(x).view(B, heads, T, d)` has the right shape, but each head mixes several words. First view "
        "as (B, T, heads, d), then transpose axes 1 and 2.",
    ),
)

# ------------------------------------------------------------------------------------------ feed-forward


def feed_forward_cases(draw: Draw) -> Iterator[Case]:
    # GELU and its approximation differ most, though only slightly, where a hidden unit is near −2.2. The hidden units
    # therefore lie there, and nothing else in the output is large.
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
            "no activation function",
            "Your network has no activation function. Two linear maps in succession amount to a single one.",
            BENT, "pass",
        ),
        Mistake(
            "always ReLU",
            "Your answer is right only where the activation is \"relu\". Implement the other two activations as well.",
            BENT, "hidden = relu(hidden)",
        ),
        Mistake(
            "always exact GELU",
            "Your answer is right only where the activation is \"gelu\". Implement the other two activations as well.",
            BENT, "hidden = gelu(hidden)",
        ),
        Mistake(
            "approximation used for the exact GELU",
            "Your answer is right for \"gelu_tanh\" and slightly off for \"gelu\", which is the exact function.",
            APPROXIMATE, '"tanh"',
        ),
        Mistake(
            "exact GELU used for the approximation",
            "Your answer is right for \"gelu\" and slightly off for \"gelu_tanh\", which is the approximation, as in GPT-2.",
            APPROXIMATE, '"none"',
        ),
        Mistake(
            "the two GELUs swapped",
            "Your answer is slightly off for both kinds of GELU: \"gelu\" is the exact function, \"gelu_tanh\" the approximation.",
            APPROXIMATE, '"none" if self.activation == "gelu_tanh" else "tanh"',
        ),
        Mistake(
            "sigmoid approximation of GELU",
            "You use z σ(1.702 z), a third, coarser version of GELU. Use the exact function for \"gelu\" and the tanh approximation "
            "for \"gelu_tanh\".",
            BENT, """if self.activation == "relu":
            hidden = relu(hidden)
        elif self.activation == "gelu":
            hidden = hidden * (1.702 * hidden).sigmoid()
        else:
            hidden = gelu(hidden, approximate="tanh")""",
        ),
        Mistake(
            "ReLU and GELU swapped",
            "You apply ReLU where the activation is a GELU, and GELU where it is \"relu\".",
            'self.activation == "relu"', 'self.activation != "relu"',
        ),
        Mistake(
            "activation also after the second map",
            "None of your outputs is far below 0, because you also apply the activation after the second map. Only the hidden layer has an activation function.",
            "return self.narrow(hidden)", "hidden = self.narrow(hidden)\n        " + BENT + "\n        return hidden",
        ),
        Mistake(
            "activation applied to the input",
            "You apply the activation to the input, before `widen`, instead of to the hidden layer after it.",
            edits={"hidden = self.widen(x)": "hidden = x", "self.narrow(hidden)": "self.narrow(self.widen(hidden))"},
        ),
        Mistake(
            "residual connection inside the network",
            "Your answer also contains x. Adding the input is a step of the layer, not of the feed-forward network.",
            "return self.narrow(hidden)", "return x + self.narrow(hidden)",
        ),
        Mistake(
            "maps without biases",
            "The check cannot load its biases, because your two maps have none.",
            edits={"nn.Linear(dim, inner)": "nn.Linear(dim, inner, bias=False)", "nn.Linear(inner, dim)": "nn.Linear(inner, dim, bias=False)"},
        ),
        Mistake(
            "maps in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list. The optimiser would not find these "
            "weights, and they cannot be loaded. Store the maps in the attributes `widen` and `narrow`.",
            edits={
                WIDEN: "self.maps = [nn.Linear(dim, inner), nn.Linear(inner, dim)]", NARROW: "pass",
                "self.widen(x)": "self.maps[0](x)", "self.narrow(hidden)": "self.maps[1](hidden)",
            },
        ),
        Mistake(
            "hidden layer detached",
            "Your numbers are right, but no gradient reaches the weights of `widen`: `.data`, `.detach()` or `torch.no_grad()` "
            "stops the gradient.",
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
        "One hidden unit computes a weighted sum of a word's vector and applies the activation function. How many such units "
        "are there, and what happens to their values next?",
        "Input: x (…, dim). After `widen` and the activation: (…, inner). After `narrow`: (…, dim). The axis of words is not involved.",
        "in __init__: super().__init__(); nn.Linear(dim, inner) as widen, nn.Linear(inner, dim) as narrow; store the "
        "activation\nin forward: hidden = widen of x; apply the activation chosen by name; narrow",
        "A near miss: `gelu(z)` for both kinds. torch's `gelu` is exact; its argument `approximate=\"tanh\"` selects the "
        "approximation.",
    ),
)

# ------------------------------------------------------------------------------------------ dropout


def dropout_cases(draw: Draw) -> Iterator[Case]:
    # The last cases contain no draws: everything is dropped, or nothing, or some entries of each row and each column.
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
            "dropout in evaluation mode",
            "Your module also drops activations when the model is used, so a user would get a different answer each time. "
            "Check `self.training`.",
            "if not self.training:", "if False:",
        ),
        Mistake(
            "no dropout in training mode",
            "In training mode your output equals x. An activation whose draw is below p should become 0.",
            "if not self.training:", "if True:",
        ),
        Mistake(
            "training and evaluation swapped",
            "You drop activations in evaluation mode and leave x unchanged in training mode. It should be the other way round.",
            "if not self.training:", "if self.training:",
        ),
        Mistake(
            "kept activations not scaled",
            "The right activations are 0, but the others are unchanged, so the expected sum is smaller. Divide the kept "
            "activations by 1 − p.",
            DROPPED, "x * (draws >= self.p)",
        ),
        Mistake(
            "divided by p",
            "The correct activations are set to 0, but the remaining activations have the wrong magnitude. Divide by the probability of being *kept*, 1 − "
            "p.",
            DROPPED, "x * (draws >= self.p) / max(self.p, 1e-12)",
        ),
        Mistake(
            "comparison inverted",
            "You drop activations where the draw is *above* p. With p = 0.1, you therefore drop nine out of ten.",
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
            "scaled in evaluation instead of training",
            "In evaluation mode you multiply x by 1 − p. The original paper did so; here the kept activations are scaled up "
            "during training instead, and evaluation leaves x unchanged.",
            edits={"            return x\n": "            return x * (1 - self.p)\n", DROPPED: "x * (draws >= self.p)"},
        ),
        Mistake(
            "scaled in evaluation mode, too",
            "You also scale x in evaluation mode, but in that mode x should be returned unchanged.",
            "            return x\n", "            return x / (1 - self.p)\n",
        ),
        Mistake(
            "no dropout without given draws",
            "If no draws are passed, you return x unchanged in training mode. Generate the draws in that case.",
            "draws = torch.rand_like(x)", "return x",
        ),
        Mistake(
            "one draw shared by several activations",
            "Without given draws, you generate one draw for a whole row, a whole column or all activations, so they are "
            "dropped together. Each activation needs its own draw.",
            "draws = torch.rand_like(x)", "draws = torch.rand(x.shape[-1])",
        ),
        Mistake(
            "p subtracted",
            "You subtract p from the kept activations. They should only be multiplied by a factor.",
            DROPPED, "x * (draws >= self.p) - self.p",
        ),
        Mistake(
            "a buffer saved with the model",
            "Your numbers are right, but you register a buffer that is saved with the model and expected when weights are "
            "loaded, so a file without it cannot be loaded. Use a plain attribute, or persistent=False.",
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
        "With p = 0.75, how many of 100 activations are kept on average? By what factor must they be multiplied so that the expected "
        "sum stays the same?",
        "x and draws have the same shape, and so does the output. self.training is True or False; model.train() and "
        "model.eval() change it.",
        "not in training: return x\nno draws: generate as many as x has entries\n0 where the draw is below p; x / (1 − p) "
        "elsewhere",
        "A near miss: `nn.functional.dropout(x, self.p)`. Its third argument, training, defaults to True, so the function also drops activations when the model is used.",
    ),
    survivors={"(draws > self.p)": "a draw is exactly p with probability 0"},
)

# ------------------------------------------------------------------------------------------ the layer


def block_cases(draw: Draw) -> Iterator[Case]:
    # Both kinds occur with a dropout of everything, which shows where it is applied, and with an epsilon that matters.
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
            "post-norm and pre-norm swapped",
            "With norm_first you compute the layer in the left drawing, and without norm_first the layer in the right drawing.",
            "if self.norm_first:", "if not self.norm_first:",
        ),
        Mistake(
            "always post-norm",
            "Your answer is right without norm_first. With norm_first, the norms belong inside the branches, as in the right drawing.",
            "if self.norm_first:", "if False:",
        ),
        Mistake(
            "always pre-norm",
            "Your answer is right with norm_first. Without norm_first, each sum is normalised, as in the left drawing.",
            "if self.norm_first:", "if True:",
        ),
        Mistake(
            "no residual connection around attention",
            "After attention, each word's own vector is lost, because only the mixture of the words is passed on. Add the input of the "
            "branch.",
            edits={PRE_1: PRE_1.replace("x + ", ""), POST_1: POST_1.replace("x + ", "")},
        ),
        Mistake(
            "no residual connection around the feed-forward network",
            "The vector after attention reaches the output only through the feed-forward network. This vector should also be added to the output of the network.",
            edits={PRE_2: PRE_2.replace("x + ", ""), POST_2: POST_2.replace("x + ", "")},
        ),
        Mistake(
            "no residual connections",
            "Your components *replace* the vectors that enter them. Add the input of each component to its output.",
            edits={line: line.replace("x + ", "") for line in (PRE_1, PRE_2, POST_1, POST_2)},
        ),
        Mistake(
            "one norm under two names",
            "Your `norm_attention` and `norm_feed_forward` are one module and share gain and bias. Each needs an "
            "nn.LayerNorm of its own.",
            NORMS, "self.norm_attention = self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)",
        ),
        Mistake(
            "first norm used twice",
            "Your answer does not depend on the weights of `norm_feed_forward`: you use the first norm in both positions.",
            edits={PRE_2: PRE_2.replace("norm_feed_forward", "norm_attention"), POST_2: POST_2.replace("norm_feed_forward", "norm_attention")},
        ),
        Mistake(
            "the two norms swapped",
            "`norm_attention` and `norm_feed_forward` are swapped.",
            edits={
                line: line.replace("norm_attention", "norm_").replace("norm_feed_forward", "norm_attention").replace("norm_(", "norm_feed_forward(")
                for line in (PRE_1, PRE_2, POST_1, POST_2)
            },
        ),
        Mistake(
            "normalised vectors on the residual stream",
            "With norm_first, your residual stream carries the *normalised* vectors. Apply the norm only to the input of the "
            "branch, and leave the residual stream unchanged.",
            edits={
                PRE_1: "x = self.norm_attention(x)\n            x = x + self.dropout(self.attention(x, keep))",
                PRE_2: "x = self.norm_feed_forward(x)\n            return x + self.dropout(self.feed_forward(x))",
            },
        ),
        Mistake(
            "components normalised instead of the sums",
            "Without norm_first, you normalise the output of each component and then add it. Normalise the sum instead.",
            edits={
                POST_1: "x = x + self.norm_attention(self.dropout(self.attention(x, keep)))",
                POST_2: "return x + self.norm_feed_forward(self.dropout(self.feed_forward(x)))",
            },
        ),
        Mistake(
            "output of a pre-norm layer normalised",
            "With norm_first you normalise the output. A pre-norm layer returns its sum unchanged; only the last layer of a "
            "stack is followed by a norm.",
            PRE_2, PRE_2.replace("return x", "return self.norm_feed_forward(x") + ")",
        ),
        Mistake(
            "mask not passed to attention",
            "Words attend to words that they must not see, because `keep` is not passed to attention.",
            edits={PRE_1: PRE_1.replace("keep", "torch.ones_like(keep)"), POST_1: POST_1.replace("keep", "torch.ones_like(keep)")},
        ),
        Mistake(
            "mask inverted",
            "Words attend to those that they must *not* see. `keep` is True where a word may be seen.",
            edits={PRE_1: PRE_1.replace("keep", "~keep"), POST_1: POST_1.replace("keep", "~keep")},
        ),
        Mistake(
            "dropout in evaluation mode",
            "Your layer also drops activations in evaluation mode. `nn.functional.dropout(x, p)` does so unless you pass "
            "`training=self.training`; your Dropout module checks the mode itself.",
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
            "Your answer is right in evaluation mode. In training mode nothing is dropped, because you do not use `dropout`.",
            "self.dropout = Dropout(dropout)", "self.dropout = Dropout(0.0)",
        ),
        Mistake(
            "dropout applied to the sums",
            "In training mode you also drop parts of the residual stream. Apply dropout to the output of each component, *before* it is "
            "added.",
            edits={
                PRE_1: "x = self.dropout(x + self.attention(self.norm_attention(x), keep))",
                PRE_2: "return self.dropout(x + self.feed_forward(self.norm_feed_forward(x)))",
                POST_1: "x = self.norm_attention(self.dropout(x + self.attention(x, keep)))",
                POST_2: "return self.norm_feed_forward(self.dropout(x + self.feed_forward(x)))",
            },
        ),
        Mistake(
            "dropout after attention only",
            "In training mode you do not apply dropout to the output of the feed-forward network. Apply dropout after both components.",
            edits={
                PRE_2: "return x + self.feed_forward(self.norm_feed_forward(x))",
                POST_2: "return self.norm_feed_forward(x + self.feed_forward(x))",
            },
        ),
        Mistake(
            "dropout after the feed-forward network only",
            "In training mode you do not apply dropout to the output of attention. Apply dropout after both components.",
            edits={
                PRE_1: "x = x + self.attention(self.norm_attention(x), keep)",
                POST_1: "x = self.norm_attention(x + self.attention(x, keep))",
            },
        ),
        Mistake(
            "eps not passed to the norms",
            "Your answer is right only where eps is 1e-5, because you do not pass eps on to the two norms.",
            NORMS, "self.norm_attention, self.norm_feed_forward = nn.LayerNorm(dim), nn.LayerNorm(dim)",
        ),
        Mistake(
            "activation not passed to the feed-forward network",
            "Your answer is right only where the activation is \"gelu\", because you do not pass the activation on to the feed-forward network.",
            "FeedForward(dim, inner, activation)", "FeedForward(dim, inner)",
        ),
        Mistake(
            "input of the layer added twice",
            "Your second sum adds the input of the whole layer. The output of each component should be added to the vector that entered *its own* "
            "branch.",
            edits={
                PRE_1: f"given = x\n            {PRE_1}", PRE_2: PRE_2.replace("return x", "return given"),
                POST_1: f"given = x\n        {POST_1}", POST_2: POST_2.replace("(x + ", "(given + "),
            },
        ),
        Mistake(
            "both components applied to the layer's input",
            "Your feed-forward network receives the input of the layer instead of the sum after attention. (Some models do "
            "this on purpose, to save time.)",
            edits={
                PRE_1: f"given = x\n            {PRE_1}", PRE_2: PRE_2.replace("norm_feed_forward(x)", "norm_feed_forward(given)"),
                POST_1: f"given = x\n        {POST_1}", POST_2: POST_2.replace("feed_forward(x))", "feed_forward(given))"),
            },
        ),
        Mistake(
            "second norm missing",
            "Without norm_first your output is an unnormalised sum. Normalise it once more.",
            POST_2, "return x + self.dropout(self.feed_forward(x))",
        ),
        Mistake(
            "feed-forward network before attention",
            "You apply the feed-forward network before attention. In the drawings attention comes first.",
            edits={
                PRE_1: "x = x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))",
                PRE_2: "return x + self.dropout(self.attention(self.norm_attention(x), keep))",
                POST_1: "x = self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))",
                POST_2: "return self.norm_attention(x + self.dropout(self.attention(x, keep)))",
            },
        ),
        Mistake(
            "components in a plain list",
            "Your class has no parameters: nn.Module does not look into a plain list or dictionary, so the optimiser would not "
            "find them. Set the components as attributes with the names given in the docstring.",
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
            "output detached",
            "Your numbers are right, but training could not change your weights: no_grad, detach or .data separates your "
            "output from them.",
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
            "residual connection detached",
            "Your numbers are right, but detach, no_grad or .data stops the gradient along the residual stream. "
            "Earlier layers would learn only through the branches.",
            edits={line: line.replace("x + ", "x.detach() + ") for line in (PRE_1, PRE_2, POST_1, POST_2)},
        ),
        Mistake(
            "attention detached",
            "Your numbers are right, but detach, no_grad or .data stops the gradient in the attention branch, so its weights "
            "would never be trained.",
            edits={
                PRE_1: "x = x + self.dropout(self.attention(self.norm_attention(x), keep).detach())",
                POST_1: "x = self.norm_attention(x + self.dropout(self.attention(x, keep).detach()))",
            },
        ),
        Mistake(
            "feed-forward network detached",
            "Your numbers are right, but detach, no_grad or .data stops the gradient in the feed-forward network, so its "
            "weights would never be trained.",
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
        "Follow one word through each drawing. Where does its vector split into two paths, where do they meet, and what "
        "happens right after that? Is there a path that passes through no box at all?",
        "Every tensor here has shape (B, T, D): x, the output of a component, their sum, and its norm. Only the order of the "
        "steps can go wrong.",
        "left:  x = norm 1 of (x + dropout of attention of x);   output = norm 2 of (x + dropout of feed-forward of x)\nright: "
        "x = x + dropout of attention of (norm 1 of x);   output = x + dropout of feed-forward of (norm 2 of x)",
        "A near miss: with norm_first, `x = self.norm_attention(x)`, then `x = x + …`. Now the residual stream carries the "
        "normalised vector, and the original x is lost.",
    ),
)

# ------------------------------------------------------------------------------------------ training step


def step_cases(draw: Draw) -> Iterator[Case]:
    # Gradients above the bound, below it, and above it for Adam. Rates change from step to step and differ from those
    # with which the optimiser was created. Tokens that do not count have targets, too.
    for kind, most, scale, S, B, T, V, D, C in (
        ("SGD", 0.05, 2.0, 3, 2, 5, 7, 4, 3),
        ("SGD", 50.0, 1.0, 4, 3, 4, 9, 5, 6),
        ("Adam", 0.02, 1.0, 4, 5, 3, 8, 6, 4),
    ):
        counts = draw.uniform(S, B, T) < 0.6
        counts[:, 0, 0], counts[:, -1, -1] = True, False
        counts[:, 0, 1:] = False  # unequal numbers per sentence, so that the mean over sentences differs from that over tokens
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
            "Your first step is right. From the second step on, each gradient also contains the gradients of all earlier steps, because gradients accumulate until they are set to zero.",
            ZERO, "pass",
        ),
        Mistake(
            "weights that never change",
            "Your weights never change, because there are no gradients when the optimiser steps. Either the optimiser steps before `backward`, or the gradients are set to zero between the two.",
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
            "optimiser one step late",
            "Your first step changes nothing, and each later step uses the gradient of the previous batch: the optimiser steps "
            "before the `backward` of the current batch.",
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
            "loss over all tokens",
            "Your loss includes tokens where `counts` is False, such as padding. The model would learn to predict them, and the mean is over too many tokens.",
            LOSS, "loss = cross_entropy(model(ids).flatten(0, 1), targets.flatten())",
        ),
        Mistake(
            "loss over the wrong tokens",
            "Your loss covers only the tokens where `counts` is False.",
            LOSS, "loss = cross_entropy(model(ids)[~counts], targets[~counts])",
        ),
        Mistake(
            "divided by the number of all tokens",
            "You sum the right losses but divide by the number of all tokens, including padding. Take the mean over the tokens that count.",
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
            "sum instead of mean",
            "Your loss grows with the number of tokens. Take the mean.",
            LOSS, 'loss = cross_entropy(model(ids)[counts], targets[counts], reduction="sum")',
        ),
        Mistake(
            "mean of the sentences' means",
            "You take the mean within each sentence and then the mean of these means, which gives words in short sentences more weight. Take the mean over all tokens that count.",
            LOSS, "loss = torch.stack([cross_entropy(logits[c], t[c]) for logits, t, c in zip(model(ids), targets, counts) if c.any()]).mean()",
        ),
        Mistake(
            "softmax before the cross-entropy",
            "Your loss hardly decreases, because cross_entropy expects logits and applies the softmax itself.",
            LOSS, "loss = cross_entropy(model(ids)[counts].softmax(dim=-1), targets[counts])",
        ),
        Mistake(
            "gradient not clipped",
            "Your steps are too large where the gradient is large. Either you do not clip it, or you clip before `backward`, when there is no gradient yet, or after the optimiser has stepped.",
            CLIP, "pass",
        ),
        Mistake(
            "gradient always scaled to the maximum",
            "You also scale small gradients *up* to `most`. Only a norm above `most` should be reduced.",
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
            "clipped by value instead of by norm",
            "You clip each entry of the gradient at `most`. Clip its norm instead: all entries are scaled by the same factor, "
            "which preserves the direction.",
            CLIP, "nn.utils.clip_grad_value_(model.parameters(), most)",
        ),
        Mistake(
            "each tensor clipped separately",
            "You clip the gradient of each parameter separately. Clip the norm of all gradients together.",
            CLIP, "[nn.utils.clip_grad_norm_([weight], most) for weight in model.parameters()]",
        ),
        Mistake(
            "learning rate not set",
            "Your answer does not depend on `rate`, because the optimiser uses the learning rate with which it was created.",
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
            "learning rate set after the step",
            "Your learning rates are one step late: the first step uses the optimiser's initial rate, and the second step the rate meant for the first.",
            edits={f"    {RATE}\n": "", STEP_ON: f"{STEP_ON}\n    {RATE}"},
        ),
        Mistake(
            "learning rate set in the first group only",
            "Some of the weights are updated with the right learning rate, the rest with the old one. The optimiser has several "
            "parameter groups; set the rate in each.",
            RATE, 'optimiser.param_groups[0]["lr"] = rate',
        ),
        Mistake(
            "learning rate multiplied",
            "Your learning rates are too small and shrink from step to step: you multiply the old rate by the new one instead "
            "of replacing it.",
            'group["lr"] = rate', 'group["lr"] *= rate',
        ),
        Mistake(
            "model left in evaluation mode",
            "The model is still in evaluation mode when it processes the batch, so components such as dropout are inactive. "
            "Call `model.train()` first.",
            "model.train()", "pass",
        ),
        Mistake(
            "training mode set after the forward pass",
            "Your first loss was computed in evaluation mode. Put the model into training mode *before* it processes the "
            "batch.",
            edits={"    model.train()\n": "", ZERO: f"model.train()\n    {ZERO}"},
        ),
        Mistake(
            "model returned in evaluation mode",
            "All numbers are right, but you leave the model in evaluation mode. The exercise does not ask for this, because code that evaluates the model sets the mode itself.",
            f"    {STEP_ON}\n", f"    {STEP_ON}\n    model.eval()\n",
        ),
        Mistake(
            "loss computed after the step",
            "Your weights are right, but you return the loss of the updated weights. Return the loss from which the gradient "
            "was computed.",
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
        "What do backward, zero_grad, clip_grad_norm_ and step each do to weight.grad? In which order do they make sense?",
        "model(ids): (B, T, C), logits. With a mask (B, T), `logits[counts]` has shape (number of True, C) and "
        "`targets[counts]` (number of True,). Output: a number.",
        "training mode\nlogits of the batch; mean cross-entropy where counts is True\nset old gradients to "
        "zero\nbackward\nclip\nset the learning rate in each parameter group\noptimiser step\nreturn the loss as a number",
        "A near miss: zero_grad between backward and step runs without an error but trains nothing.",
    ),
)

# ------------------------------------------------------------------------------------------ embeddings, batches


def embeddings_cases(draw: Draw) -> Iterator[Case]:
    # If the weights include a table of positions, the table has to be a buffer; if not, it has to be the sinusoid.
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
            "no buffer named position",
            "The module has no buffer `position`. A plain tensor attribute gives the right numbers, but it is not loaded with "
            "the weights and does not move with the model.",
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
            "buffer not saved with the model",
            "Your numbers are right and the buffer exists, but `persistent=False` excludes it from what is saved with the "
            "model.",
            BUFFER, BUFFER.replace("(tokens, dim))", "(tokens, dim), persistent=False)"),
        ),
        Mistake(
            "a parameter instead of a buffer",
            "Your numbers are right, but the positions are registered as a parameter and would be trained. A fixed tensor that belongs to the model should be a buffer.",
            BUFFER, "self.position = nn.Parameter(sinusoid(tokens, dim))",
        ),
        Mistake(
            "token vectors in a plain tensor",
            "Your token vectors are not a parameter, so they would not be trained. `nn.Embedding` registers them.",
            edits={
                "self.token = nn.Embedding(vocabulary, dim)": "self.words = torch.zeros(vocabulary, dim)",
                "self.token(ids)": "self.words[ids]",
            },
        ),
        Mistake(
            "no positions",
            "Your answer does not depend on the position of a word.",
            PLACED, "self.token(ids)",
        ),
        Mistake(
            "positions counted from 1",
            "Your first word receives the encoding of position 1. It should receive that of position 0.",
            edits={"self.position[: ids.shape[1]]": "self.position[1 : ids.shape[1] + 1]", "sinusoid(tokens, dim))": "sinusoid(tokens + 1, dim)[:])"},
        ),
        Mistake(
            "sentences numbered instead of words",
            "All words of a sentence receive the same position, because you count the sentences in the batch instead of the words.",
            "self.position[: ids.shape[1]]", "self.position[: ids.shape[0]][:, None]",
        ),
        Mistake(
            "last rows of the table",
            "You add the last T rows of the table. The first word should receive row 0, whatever the length of the table.",
            "self.position[: ids.shape[1]]", "self.position[-ids.shape[1] :]",
        ),
        Mistake(
            "word vectors scaled by √D",
            "Your word vectors are √D times too long. The paper scales them; this exercise does not.",
            "self.token(ids) +", "self.token(ids) * self.token.weight.shape[1] ** 0.5 +",
        ),
        Mistake(
            "multiplied instead of added",
            "You multiply the word vector and the position, coordinate by coordinate. Add them.",
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
        "Which of the two tables is trained, and which is fixed? What has to be saved with the model?",
        "ids (B, T); token(ids) (B, T, D); position (tokens, D), of which the first T rows are needed, the same for every "
        "sentence.",
        "in __init__: super().__init__(); nn.Embedding(vocabulary, dim) as token; register_buffer with the name \"position\" and "
        "your sinusoid\nin forward: look up the ids; add the first T rows of position",
        "A near miss: `self.position = sinusoid(tokens, dim)` runs and gives the right numbers, but nn.Module does not "
        "register it: it is neither saved nor moved with the model.",
    ),
)


def collate_cases(draw: Draw) -> Iterator[Case]:
    # Sequences also contain the id 0; one is empty; the longest comes first, last and in the middle.
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
            "mask derived from zeros",
            "Your ids are right. But your mask treats an id of 0 inside a sequence as padding, so use the lengths of the sequences instead.",
            MASK, "ids != 0",
        ),
        Mistake(
            "mask inverted",
            "Your ids are right. But your mask is True at padding; it should be True at the words.",
            MASK, "torch.arange(longest) >= lengths[:, None]",
        ),
        Mistake(
            "padding at the start",
            "Your padding comes before the sequences. Put it after their ends.",
            edits={PADDED: "[[*[0] * (longest - len(row)), *row] for row in rows]", MASK: "torch.arange(longest).flip(0) < lengths[:, None]"},
        ),
        Mistake(
            "truncated to the shortest sequence",
            "You lose words, because your T is the length of the shortest sequence. T should be the length of the longest.",
            code="""
def collate(rows):
    shortest = min(len(row) for row in rows)
    ids = torch.tensor([row[:shortest] for row in rows])
    return ids, torch.ones_like(ids, dtype=torch.bool)
""",
        ),
        Mistake(
            "padded with −1",
            "You pad with −1. Pad with zeros; −1 is not a valid row of an embedding.",
            "*[0] *", "*[-1] *",
        ),
        Mistake(
            "one position too many in the mask",
            "Your ids are right. But your mask contains one True too many after each shorter sequence.",
            MASK, "torch.arange(longest) <= lengths[:, None]",
        ),
        Mistake(
            "axes swapped",
            "Your first axis counts words, but it should count sequences. Pass batch_first=True to `pad_sequence`.",
            "return ids, torch.arange(longest) < lengths[:, None]", "return ids.T, (torch.arange(longest) < lengths[:, None]).T",
        ),
        Mistake(
            "mask always True",
            "Your ids are right. But your mask is True everywhere; it should be False at padding.",
            MASK, "torch.ones_like(ids, dtype=torch.bool)",
        ),
        Mistake(
            "one column too many",
            "You pad to one column more than the longest sequence needs.",
            "longest = max(len(row) for row in rows)", "longest = max(len(row) for row in rows) + 1",
        ),
        Mistake(
            "mask not returned",
            "You return only the ids. Return the mask as well.",
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
        "Take three sequences of 5, 2 and 3 ids: how wide is the batch, and how many of its entries are padding? How can you "
        "distinguish padding from an id that is 0?",
        "Input: a list of B lists. Output: ids (B, T), integers, and a Boolean mask (B, T); T is the length of the longest "
        "sequence.",
        "T = length of the longest sequence\neach row: its ids, then zeros up to T\nmask: position p of a row is True where p is "
        "below the length of its sequence",
        "A near miss: `ids != 0` as the mask. It is correct until a sequence contains the id 0.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def mended_cases(draw: Draw) -> Iterator[Case]:
    # Padding is 0, as in the notebook's sentences. It is at the end of most rows, and at the front and in the middle of others.
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
            "the original code",
            "This is the output of the original code, including the bug: all words of a sentence still receive the same "
            "position.",
            code="""
def mended_positions(ids, words, places):
    numbers = torch.arange(ids.size(0)).unsqueeze(1)
    return words[ids] + places[numbers]
""",
        ),
        Mistake(
            "position T for every word",
            "Every word of every sentence receives row T, because a colon is missing in the index. A model published in 2024 had this "
            "bug.",
            RIGHT_PLACES, "places[ids.shape[1]]",
        ),
        Mistake(
            "positions counted from 1",
            "The first word is at position 0, but it receives row 1 of `places`.",
            RIGHT_PLACES, "places[1 : ids.shape[1] + 1]",
        ),
        Mistake(
            "positions counted from the end",
            "In your answer, the last word receives row 0 of `places`. Count from the first word.",
            RIGHT_PLACES, f"{RIGHT_PLACES}.flip(0)",
        ),
        Mistake(
            "no positions",
            "Your answer does not depend on `places`.",
            f" + {RIGHT_PLACES}", "",
        ),
        Mistake(
            "positions without words",
            "All your sentences receive the same vectors, because the word vectors are not added.",
            "words[ids] +", "torch.zeros_like(words[ids]) +",
        ),
        Mistake(
            "multiplied instead of added",
            "You multiply the word vector by the position vector, coordinate by coordinate. Add them.",
            "words[ids] +", "words[ids] *",
        ),
        Mistake(
            "positions counted across the whole batch",
            "Your first sentence is right, but the second one continues the count of the first. Every sentence starts at 0.",
            RIGHT_PLACES, "places[torch.arange(ids.numel()).view(ids.shape) % len(places)]",
        ),
        Mistake(
            "positions along the wrong axis",
            "You now count the words, but the positions lie along the first axis. This code only runs if there are as many sentences as words, or a single sentence. The positions must broadcast over the sentences.",
            RIGHT_PLACES, "places[torch.arange(ids.size(1)).unsqueeze(1)]",
        ),
        Mistake(
            "positions looked up by word id",
            "The same word receives the same position wherever it occurs, because you index `places` by the id of the word instead of its index in the sentence.",
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
            "You count only the words, so every position after a 0 is wrong. Padding counts like any word here.",
            RIGHT_PLACES, "places[((ids != 0).cumsum(1) - 1).clamp(min=0)]",
            also=(
                """
def mended_positions(ids, words, places):
    return words[ids] + places[(ids != 0).cumsum(1) * (ids != 0)]
""",
            ),
        ),
        Mistake(
            "padding without a position",
            "The words are right. But padding is treated like any word here, so it should receive a position as well.",
            RIGHT_PLACES, f"{RIGHT_PLACES} * (ids != 0)[..., None]",
        ),
        Mistake(
            "padding set to 0",
            "Your vectors of the words are right, but you set the vectors of padding to 0, although padding is treated like any word here.",
            f"words[ids] + {RIGHT_PLACES}", f"(words[ids] + {RIGHT_PLACES}) * (ids != 0)[..., None]",
        ),
        Mistake(
            "last rows of the table",
            "You add the last T rows of `places`. The first word should receive row 0, whatever the length of the table.",
            RIGHT_PLACES, "places[-ids.shape[1] :]",
        ),
        Mistake(
            "sinusoid instead of the given positions",
            "Your answer does not depend on `places`, because you add the sinusoid instead. The argument may contain any table.",
            code="""
def mended_positions(ids, words, places):
    i, position = torch.arange(words.shape[1]), torch.arange(ids.shape[1])[:, None]
    return words[ids] + torch.sin(position * 10_000.0 ** (-(i // 2 * 2) / words.shape[1]) + i % 2 * torch.pi / 2)
""",
        ),
        Mistake(
            "word vectors scaled by √D",
            "Your word vectors are √D times too long. The paper scales them, but the function above does not, and this is not the bug.",
            "words[ids] +", "words[ids] * words.shape[1] ** 0.5 +",
        ),
        detached("mended_positions"),
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
        "With 3 sentences of 5 words: how many different values should `numbers` contain, 3 or 5? How many different values does it contain now?",
        "words[ids]: (B, T, D). The positions must broadcast over the *sentences*: (T, D) or (1, T, D). In the code above they "
        "have shape (B, 1, D).",
        "take rows 0 to T − 1 of places\nadd them to the word vectors of every sentence",
        "A near miss: `torch.arange(ids.size(1)).unsqueeze(1)` counts the words but places the positions along the first axis. It even runs if there are as many sentences in the batch as words in each sentence.",
    ),
)

# ------------------------------------------------------------------------------------------ extension


def shift_matrix_cases(draw: Draw) -> Iterator[Case]:
    # k is drawn from so many numbers that nobody can guess all four; 0 and a single pair are the edge cases.
    for low, high, D in ((1, 40, 6), (-60, -2, 4), (10, 60, 8), (0, 1, 10), (2, 40, 2)):
        yield {"k": int(draw.integers(low, high)), "word": draw.normal(D)}


TURN = "torch.stack([cosine, sine, -sine, cosine], dim=-1).unflatten(-1, (2, 2))"

shift_matrix = Exercise(
    cases=shift_matrix_cases,
    rule=Rule(axes={"": "D D"}),
    mistakes=(
        Mistake(
            "shift in the wrong direction",
            "Your matrix rotates in the wrong direction: it maps position p to p − k. Check the signs of the two sines.",
            "cosine, sine, -sine, cosine", "cosine, -sine, sine, cosine",
        ),
        Mistake(
            "one frequency for all pairs",
            "All your blocks are equal, but each pair of columns has its own frequency.",
            "angle = k * 10_000.0 ** (-torch.arange(0, D, 2) / D)", "angle = k * torch.ones(D // 2)",
        ),
        Mistake(
            "a reflection instead of a rotation",
            "Your blocks are symmetric, so they reflect the pair. A shift rotates it: the two sines have opposite signs.",
            "cosine, sine, -sine, cosine", "cosine, sine, sine, -cosine",
        ),
        Mistake(
            "blocks for another column order",
            "Your blocks would be correct for a table with all sines on the left. In our table each sine is followed by its cosine, which "
            "gives 2 × 2 blocks on the diagonal.",
            f"torch.block_diag(*{TURN})",
            "torch.cat([torch.cat([cosine.diag(), sine.diag()], 1), "
            "torch.cat([-sine.diag(), cosine.diag()], 1)])",
        ),
        Mistake(
            "exponent i/D instead of 2i/D",
            "Your first block is right, but the others rotate too fast: the exponents reach only half as far as in `sinusoid`.",
            "torch.arange(0, D, 2)", "torch.arange(0, D // 2)",
        ),
        Mistake(
            "k not used",
            "Your matrix shifts by one word, whatever k is.",
            "angle = k * 10_000.0", "angle = 10_000.0",
        ),
        Mistake(
            "blocks not placed on the diagonal",
            "You return the list of 2 × 2 blocks. Place them on the diagonal of one D × D matrix, with zeros elsewhere.",
            f"torch.block_diag(*{TURN})", TURN,
        ),
        Mistake(
            "both sines with the same sign",
            "Your blocks are symmetric. A shift rotates the pair, so the two sines of a block have opposite signs.",
            "cosine, sine, -sine, cosine", "cosine, sine, sine, cosine",
        ),
        Mistake(
            "sign of k lost",
            "Your answer is right where k is not negative. A shift backwards is a rotation in the other direction.",
            "angle = k * ", "angle = abs(k) * ",
        ),
        Mistake(
            "cosines only",
            "Your diagonal is right, but every other entry is 0. Each coordinate of a pair also depends on the other coordinate.",
            "cosine, sine, -sine, cosine", "cosine, 0 * sine, 0 * sine, cosine",
        ),
        Mistake(
            "coordinates shifted instead of positions",
            "Your matrix moves coordinates by k places within one vector. The matrix should map the encoding of position p to that of position p + k.",
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
        "Take one pair of columns, sin(pω) and cos(pω). Which trigonometric identities express sin((p + k)ω) and cos((p + k)ω) "
        "in terms of them?",
        "Input: two integers. Each pair gives a 2 × 2 block. Output: (D, D), with the D/2 blocks on the diagonal and zeros "
        "elsewhere. It multiplies a column vector from the left: PE(p + k) = M PE(p).",
        "sin((p+k)ω) = cos(kω) · sin(pω) + sin(kω) · cos(pω)\ncos((p+k)ω) = … · sin(pω) + … · cos(pω)\nread off the four "
        "coefficients for each ω; `torch.block_diag` places blocks on a diagonal",
        "A near miss: [[cos, −sin], [sin, cos]] is the rotation from geometry textbooks, where the *cosine* comes first. In "
        "our table the sine comes first.",
    ),
)
