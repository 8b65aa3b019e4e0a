"""03 The transformer layer: inputs, known mistakes, unusual right answers and hints of its exercises."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.judging import Rule

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

# ------------------------------------------------------------------------------------------ feed-forward


def feed_forward_weights(draw: Draw, D: int, F: int) -> dict[str, np.ndarray]:
    return {
        "W_1": draw.normal(D, F, scale=D**-0.5), "b_1": draw.normal(F, scale=0.5),
        "W_2": draw.normal(F, D, scale=F**-0.5), "b_2": draw.normal(D, scale=0.5),
    }  # fmt: skip


def feed_forward_cases(draw: Draw) -> Iterator[Case]:
    yield {"x": draw.normal(4, 5), **feed_forward_weights(draw, 5, 9)}
    yield {"x": draw.normal(2, 3, 6), **feed_forward_weights(draw, 6, 24)}
    yield {"x": draw.normal(3, 7, 8), **feed_forward_weights(draw, 8, 5)}
    yield {"x": draw.normal(2, 3, 4, 7), **feed_forward_weights(draw, 7, 12)}
    yield {"x": draw.normal(9), **feed_forward_weights(draw, 9, 11)}


HIDDEN = "(x @ W_1 + b_1).relu()"

feed_forward = Exercise(
    cases=feed_forward_cases,
    mistakes=(
        Mistake(
            "no ReLU",
            "Without a bend in between, two linear maps are one linear map: your answer to x plus your answer to −x does not depend on x.",
            HIDDEN, "(x @ W_1 + b_1)",
        ),
        Mistake(
            "ReLU at the end, too",
            "None of your numbers is negative. The second map is not followed by a ReLU.",
            edits={"W_2 + b_2": "W_2 + b_2).relu()", "return (x": "return ((x"},
        ),
        Mistake(
            "GELU instead of ReLU",
            "You are close. GELU came later, with BERT and GPT; the layer of 2017 cuts off at zero exactly.",
            HIDDEN, "torch.nn.functional.gelu(x @ W_1 + b_1)",
        ),
        Mistake(
            "the first bias forgotten",
            "Your answer does not change with b_1.",
            "x @ W_1 + b_1", "x @ W_1",
        ),
        Mistake(
            "the second bias forgotten",
            "Your answer is off by the same vector for every word.",
            "W_2 + b_2", "W_2",
        ),
        Mistake(
            "the first bias added after the ReLU",
            "Your hidden units are cut off at zero before the bias shifts them: a unit of yours can no longer choose where it bends.",
            HIDDEN, "((x @ W_1).relu() + b_1)",
        ),
        Mistake(
            "the residual already added",
            "Your answer is x too much. Adding the input is a step of the layer, not of the feed-forward network.",
            "return ", "return x + ",
        ),
        Mistake(
            "tanh instead of ReLU",
            "Your hidden units level off on both sides; they should grow without a limit above zero.",
            HIDDEN, "(x @ W_1 + b_1).tanh()",
        ),
        Mistake(
            "the ReLU behind the second map",
            "None of your numbers is negative: your ReLU comes last. It belongs between the two maps.",
            "return (x @ W_1 + b_1).relu() @ W_2 + b_2", "return ((x @ W_1 + b_1) @ W_2 + b_2).relu()",
        ),
        Mistake(
            "the ReLU before the first map",
            "Your answer does not change when negative coordinates of x do: the words are cut off before W_1 has seen them.",
            HIDDEN, "(x.relu() @ W_1 + b_1)",
        ),
        Mistake(
            "a leaky ReLU",
            "You are close. What is negative becomes 0 here; with you a hundredth of it remains.",
            HIDDEN, "torch.nn.functional.leaky_relu(x @ W_1 + b_1)",
        ),
        Mistake(
            "the absolute value",
            "Hidden units below zero count as much as those above in yours. What is negative becomes 0.",
            HIDDEN, "(x @ W_1 + b_1).abs()",
        ),
        Mistake(
            "sigmoid instead of ReLU",
            "Your hidden units all lie between 0 and 1; they should grow without a limit above zero.",
            HIDDEN, "(x @ W_1 + b_1).sigmoid()",
        ),
        Mistake(
            "the words of all sentences one below the other",
            "Your vectors are right, but they stand in one long list: the axes before the last one should stay as they were in x.",
            code="""
def feed_forward(x, W_1, b_1, W_2, b_2):
    return (x.reshape(-1, x.shape[-1]) @ W_1 + b_1).relu() @ W_2 + b_2
""",
        ),
        Mistake(
            "both biases forgotten",
            "Your answer does not change with b_1 and b_2.",
            edits={HIDDEN: "(x @ W_1).relu()", "W_2 + b_2": "W_2"},
        ),
    ),
    alternatives={
        "F.linear and F.relu, in float64": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    F, (x, W_1, b_1, W_2, b_2) = torch.nn.functional, (t.double() for t in (x, W_1, b_1, W_2, b_2))
    return F.linear(F.relu(F.linear(x, W_1.T, b_1)), W_2.T, b_2)
""",
        "numpy": """
import numpy as np
def feed_forward(x, W_1, b_1, W_2, b_2):
    x, W_1, b_1, W_2, b_2 = (t.numpy() for t in (x, W_1, b_1, W_2, b_2))
    return np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2
""",
        "einsum and clamp": """
def feed_forward(x, W_1, b_1, W_2, b_2):
    hidden = torch.clamp(torch.einsum("...d,df->...f", x, W_1) + b_1, min=0)
    return torch.einsum("...f,fd->...d", hidden, W_2).add(b_2)
""",
    },
    hints=(
        "One hidden unit looks at the whole vector of a word and gives one number, never below 0. How many such units are there, and what happens to their numbers next?",
        "In: x (…, D). After W_1 and b_1: (…, F). After the ReLU: the same. After W_2 and b_2: (…, D) again. No axis of words takes part.",
        "hidden = x times W_1, plus b_1\nset what is negative to 0\noutput = hidden times W_2, plus b_2",
        "Near miss: `x @ W_1 @ W_2` has the right shape, but equals x @ (W_1 @ W_2): one matrix, and no reason for a hidden layer. The bend goes in between.",
    ),
)

# ------------------------------------------------------------------------------------------ layers


def layer_weights(draw: Draw, D: int, F: int) -> dict[str, np.ndarray]:
    """A layer's weights: gains around 1, and biases large enough to be missed."""
    return {
        **{f"W_{name}": draw.normal(D, D, scale=D**-0.5) for name in "qkvo"},
        **{f"b_{name}": draw.normal(D, scale=0.3) for name in "qkvo"},
        **feed_forward_weights(draw, D, F),
        **{f"gain_{place}": draw.uniform(D, low=0.5, high=1.5) for place in "12"},
        **{f"bias_{place}": draw.normal(D, scale=0.5) for place in "12"},
    }  # fmt: skip


SMALL = np.float32(0.004)  # its square is near epsilon


def layer_cases(draw: Draw, in_small: tuple[str, ...]) -> Iterator[Case]:
    """Three cases; in the last one the inputs and the weights named `in_small` are small.

    They are chosen so that the variance is near epsilon at *both* norms: only there does it show which epsilon each
    one has. In the second case a sentence has its padding in front.
    """
    for batch, tokens, heads, d, F in ((2, 5, 3, 4, 20), (3, 4, 2, 5, 7), (4, 6, 2, 4, 16)):
        D = heads * d
        x, keep, weights = draw.normal(batch, tokens, D), draw.padding(batch, tokens), layer_weights(draw, D, F)
        if batch == 3:
            x, padded = 2 * x, int(keep.sum(1).argmin())
            keep[padded] = keep[padded, ::-1]
        if batch == 4:
            x = x * SMALL
            weights |= {name: weights[name] * SMALL for name in in_small}
        yield {"x": x, "keep": keep, "heads": heads, **weights}


def post_norm_cases(draw: Draw) -> Iterator[Case]:
    return layer_cases(draw, ("W_o", "b_o", "gain_1", "bias_1", "W_2", "b_2"))


def pre_norm_cases(draw: Draw) -> Iterator[Case]:
    return layer_cases(draw, ("W_o", "b_o"))


POST_1 = 'x = norm(x + self_attention(x, weights, heads, keep), "1")'
POST_2 = 'return norm(x + feed_forward(x, *(weights[name] for name in FEED_FORWARD)), "2")'
FEED = "feed_forward(x, *(weights[name] for name in FEED_FORWARD))"

TORCH_S_LAYER = """
def post_norm_layer(x, weights, heads, keep):
    W = {name: value.double() for name, value in weights.items()}
    D, F = W["W_1"].shape
    layer = torch.nn.TransformerEncoderLayer(D, heads, F, batch_first=True, dropout=0.0, dtype=torch.float64)
    names = {"linear1": ("W_1", "b_1"), "linear2": ("W_2", "b_2"), "norm1": ("gain_1", "bias_1"), "norm2": ("gain_2", "bias_2"),
             "self_attn.out_proj": ("W_o", "b_o")}
    state = {"self_attn.in_proj_weight": torch.cat([W["W_q"], W["W_k"], W["W_v"]], dim=1).T,
             "self_attn.in_proj_bias": torch.cat([W["b_q"], W["b_k"], W["b_v"]])}
    for name, (weight, bias) in names.items():
        state[f"{name}.weight"], state[f"{name}.bias"] = W[weight].T, W[bias]
    layer.load_state_dict(state)
    return layer(x.double(), src_key_padding_mask=~keep)
"""


def with_epsilon(source: str, first: str, second: str) -> str:
    """The layer's code with these epsilons in its two norms."""
    return source.replace("EPS_1", first).replace("EPS_2", second)


POST_WITH_EPSILON = """
def post_norm_layer(x, weights, heads, keep):
    x = layer_norm(x + self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"], EPS_1)
    x = x + feed_forward(x, *(weights[name] for name in FEED_FORWARD))
    return layer_norm(x, weights["gain_2"], weights["bias_2"], EPS_2)
"""
PRE_WITH_EPSILON = """
def pre_norm_layer(x, weights, heads, keep):
    x = x + self_attention(layer_norm(x, weights["gain_1"], weights["bias_1"], EPS_1), weights, heads, keep)
    y = layer_norm(x, weights["gain_2"], weights["bias_2"], EPS_2)
    return x + feed_forward(y, *(weights[name] for name in FEED_FORWARD))
"""
EPSILONS = (  # of the first norm and the second
    ("1e-6", "1e-6"), ("1e-8", "1e-5"), ("1e-5", "1e-8"), ("1e-6", "1e-5"), ("1e-5", "1e-6"),
)  # fmt: skip
OTHER_EPSILONS_POST = tuple(with_epsilon(POST_WITH_EPSILON, *pair) for pair in EPSILONS)
OTHER_EPSILONS_PRE = tuple(with_epsilon(PRE_WITH_EPSILON, *pair) for pair in EPSILONS)

post_norm_layer = Exercise(
    cases=post_norm_cases,
    rule=Rule(axes={"": "B T D"}),
    uses=("transformer.layer_norm", "transformer.feed_forward"),
    mistakes=(
        Mistake(
            "normalised before each part instead of after",
            "Your rows no longer have the size that the last gain and bias give them: the sums are left as they are, "
            "and the norms stand before the parts. That is the pre-norm layer, which comes next.",
            edits={
                POST_1: 'x = x + self_attention(norm(x, "1"), weights, heads, keep)',
                POST_2: 'y = norm(x, "2")\n    return x + feed_forward(y, *(weights[name] for name in FEED_FORWARD))',
            },
        ),
        Mistake(
            "no residual around attention",
            "A word's own vector is lost after attention: only what was mixed from the sentence goes on.",
            "norm(x + self_attention(x, weights, heads, keep)", "norm(self_attention(x, weights, heads, keep)",
        ),
        Mistake(
            "no residual around the feed-forward network",
            "What attention gave reaches the end only through the feed-forward network. It should also be added.",
            f"norm(x + {FEED}", f"norm({FEED}",
        ),
        Mistake(
            "the layer's input added a second time",
            "The second sum takes the input of the whole layer. Each part is added to what went into *that* part.",
            edits={POST_1: f"given = x\n    {POST_1}", f"norm(x + {FEED}": f"norm(given + {FEED}"},
        ),
        Mistake(
            "the two norms have changed places",
            "Gain and bias of the two norms have changed places.",
            edits={'keep), "1")': 'keep), "2")', 'FEED_FORWARD)), "2")': 'FEED_FORWARD)), "1")'},
        ),
        Mistake(
            "the first norm used twice",
            "Your answer does not change with gain_2 and bias_2.",
            'FEED_FORWARD)), "2")', 'FEED_FORWARD)), "1")',
        ),
        Mistake(
            "the second norm missing",
            "The output is a plain sum: it should be normalised once more.",
            f'norm(x + {FEED}, "2")', f"x + {FEED}",
        ),
        Mistake(
            "the first norm missing",
            "Your answer does not change with gain_1 and bias_1.",
            POST_1, "x = x + self_attention(x, weights, heads, keep)",
        ),
        Mistake(
            "the parts normalised, not the sums",
            "You normalise what a part gives and then add: the sum itself, which is what should be normalised, is not.",
            edits={
                POST_1: 'x = x + norm(self_attention(x, weights, heads, keep), "1")',
                f'norm(x + {FEED}, "2")': f'x + norm({FEED}, "2")',
            },
        ),
        Mistake(
            "the mask inverted",
            "Real words attend to padding, and to nothing else, in yours. `keep` is True where a word may be attended to.",
            "heads, keep)", "heads, ~keep)",
        ),
        Mistake(
            "the padding not hidden",
            "Sentences without padding are right. In the others, the padding takes part.",
            "heads, keep)", "heads, torch.ones_like(keep))",
        ),
        Mistake(
            "no feed-forward network",
            "Your answer does not change with W_1 and W_2.",
            POST_2, 'return norm(x, "2")',
        ),
        Mistake(
            "the feed-forward network reads the layer's input",
            "Your second sum is right on one side: what goes through the feed-forward network is still the input of the layer. "
            "It should be what the first norm gave.",
            edits={POST_1: f"given = x\n    {POST_1}", "feed_forward(x, *(": "feed_forward(given, *("},
        ),
        Mistake(
            "the feed-forward network first",
            "Your two parts have changed places: attention comes first in the drawing.",
            edits={
                POST_1: POST_1.replace("self_attention(x, weights, heads, keep)", FEED),
                POST_2: POST_2.replace(FEED, "self_attention(x, weights, heads, keep)"),
            },
        ),
        Mistake(
            "the rows of padding emptied",
            "At the words you are right. Rows of padding are computed like all others here; yours hold zeros.",
            POST_2, POST_2.replace("return norm(", "return keep[..., None] * norm("),
        ),
        Mistake(
            "another epsilon",
            "You are right where the vectors are of ordinary size, and wrong where they are small: "
            "there the epsilon of the norms counts. Here it is 1e-5 in both.",
            'weights[f"bias_{place}"])', 'weights[f"bias_{place}"], 1e-12)',
            also=OTHER_EPSILONS_POST,
        ),
        Mistake(
            "norms without gain and bias",
            "Your answer does not change with the gains and biases of the two norms.",
            'layer_norm(x, weights[f"gain_{place}"], weights[f"bias_{place}"])',
            "torch.nn.functional.layer_norm(x, x.shape[-1:])",
        ),
        Mistake(
            "one head",
            "Your attention has a single head, whatever `heads` says.",
            "weights, heads, keep)", "weights, 1, keep)",
        ),
    ),
    alternatives={
        "torch's own layer, its weights filled in, in float64": TORCH_S_LAYER,
        "sentence by sentence": """
def post_norm_layer(x, weights, heads, keep):
    rows = []
    for sentence, real in zip(x, keep):
        a = sentence + self_attention(sentence[None], weights, heads, real[None])[0]
        a = layer_norm(a, weights["gain_1"], weights["bias_1"])
        b = a + feed_forward(a, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"])
        rows.append(layer_norm(b, weights["gain_2"], weights["bias_2"]))
    return torch.stack(rows)
""",
        "without the functions from above": """
def post_norm_layer(x, weights, heads, keep):
    W, norm = weights, torch.nn.functional.layer_norm
    a = norm(x + self_attention(x, W, heads, keep), x.shape[-1:], W["gain_1"], W["bias_1"])
    hidden = torch.relu(torch.addmm(W["b_1"], a.flatten(0, 1), W["W_1"]))
    b = torch.addmm(W["b_2"], hidden, W["W_2"]).view_as(a)
    return norm(a + b, x.shape[-1:], W["gain_2"], W["bias_2"])
""",
    },
    hints=(
        "Follow one word through the left drawing. Where does its vector split into two ways, where do they meet, and what happens right after?",
        "Every tensor on the way is (batch, token, D): x, what attention gives, their sum, its norm. So nothing but the order of the steps can go wrong.",
        "a = attention of x;   a = norm 1 of (x + a)\nb = feed-forward of a;   output = norm 2 of (a + b)",
        "Near miss: `norm_2(x + feed_forward(a))` adds the layer's input a second time. The second way around starts behind the first norm.",
    ),
)

PRE_1 = 'x = x + self_attention(norm(x, "1"), weights, heads, keep)'
PRE_2 = 'return x + feed_forward(norm(x, "2"), *(weights[name] for name in FEED_FORWARD))'

pre_norm_layer = Exercise(
    cases=pre_norm_cases,
    rule=Rule(axes={"": "B T D"}),
    uses=("transformer.layer_norm", "transformer.feed_forward"),
    mistakes=(
        Mistake(
            "normalised after each part instead of before",
            "Every row of yours is normalised at the end: this is the post-norm layer once more.",
            edits={
                PRE_1: 'x = norm(x + self_attention(x, weights, heads, keep), "1")',
                PRE_2: 'return norm(x + feed_forward(x, *(weights[name] for name in FEED_FORWARD)), "2")',
            },
        ),
        Mistake(
            "the normalised vectors on the residual",
            "Large inputs come out as small as small ones: your residuals carry the *normalised* vectors on. "
            "The norm belongs to the branch alone; the road straight on is left untouched.",
            edits={
                PRE_1: 'x = norm(x, "1")\n    x = x + self_attention(x, weights, heads, keep)',
                PRE_2: 'x = norm(x, "2")\n    return x + feed_forward(x, *(weights[name] for name in FEED_FORWARD))',
            },
        ),
        Mistake(
            "one more norm at the end",
            "Your output is normalised. A pre-norm layer leaves its sum as it is; one norm follows after the last layer of a stack.",
            PRE_2, PRE_2.replace("return ", "return norm(") + ', "2")',
        ),
        Mistake(
            "no norm before the feed-forward network",
            "Your answer does not change with gain_2 and bias_2.",
            'feed_forward(norm(x, "2"),', "feed_forward(x,",
        ),
        Mistake(
            "no norm before attention",
            "Your answer does not change with gain_1 and bias_1.",
            'self_attention(norm(x, "1"),', "self_attention(x,",
        ),
        Mistake(
            "the two norms have changed places",
            "Gain and bias of the two norms have changed places.",
            edits={
                'self_attention(norm(x, "1")': 'self_attention(norm(x, "2")',
                'feed_forward(norm(x, "2")': 'feed_forward(norm(x, "1")',
            },
        ),
        Mistake(
            "both parts side by side",
            "Your feed-forward network sees the layer's input, not what attention has added. (Some models do this on purpose, to save time.)",
            edits={PRE_1: f"given = x\n    {PRE_1}", 'norm(x, "2")': 'norm(given, "2")'},
        ),
        Mistake(
            "no residual around attention",
            "A word's own vector is lost after attention: only what was mixed from the sentence goes on.",
            "x = x + self_attention", "x = self_attention",
        ),
        Mistake(
            "no residual around the feed-forward network",
            "Your output is what the feed-forward network gives, and nothing else. It should be added to what went in.",
            "return x + feed_forward", "return feed_forward",
        ),
        Mistake(
            "the mask inverted",
            "Real words attend to padding, and to nothing else, in yours. `keep` is True where a word may be attended to.",
            "heads, keep)", "heads, ~keep)",
        ),
        Mistake(
            "the padding not hidden",
            "Sentences without padding are right. In the others, the padding takes part.",
            "heads, keep)", "heads, torch.ones_like(keep))",
        ),
        Mistake(
            "the first norm used twice",
            "Your answer does not change with gain_2 and bias_2: both norms of yours have the weights of the first.",
            'feed_forward(norm(x, "2")', 'feed_forward(norm(x, "1")',
        ),
        Mistake(
            "the norm behind the part",
            "You normalise what a part gives. In the right drawing the norm stands before the part, in the same branch.",
            edits={
                PRE_1: 'x = x + norm(self_attention(x, weights, heads, keep), "1")',
                PRE_2: 'return x + norm(feed_forward(x, *(weights[name] for name in FEED_FORWARD)), "2")',
            },
        ),
        Mistake(
            "the second sum starts from the layer's input",
            "What attention has added is lost at the second sum: it takes the input of the layer, not what has become of it.",
            edits={PRE_1: f"given = x\n    {PRE_1}", "return x + feed_forward": "return given + feed_forward"},
        ),
        Mistake(
            "the rows of padding emptied",
            "At the words you are right. Rows of padding are computed like all others here; yours hold zeros.",
            PRE_2, PRE_2.replace("return ", "return keep[..., None] * (") + ")",
        ),
        Mistake(
            "another epsilon",
            "You are right where the vectors are of ordinary size, and wrong where they are small: "
            "there the epsilon of the norms counts. Here it is 1e-5 in both.",
            'weights[f"bias_{place}"])', 'weights[f"bias_{place}"], 1e-12)',
            also=OTHER_EPSILONS_PRE,
        ),
        Mistake(
            "norms without gain and bias",
            "Your answer does not change with the gains and biases of the two norms.",
            'layer_norm(x, weights[f"gain_{place}"], weights[f"bias_{place}"])',
            "torch.nn.functional.layer_norm(x, x.shape[-1:])",
        ),
        Mistake(
            "one head",
            "Your attention has a single head, whatever `heads` says.",
            "weights, heads, keep)", "weights, 1, keep)",
        ),
    ),
    alternatives={
        "torch's own layer, its weights filled in, in float64": TORCH_S_LAYER.replace("post_norm", "pre_norm").replace(
            "dropout=0.0", "dropout=0.0, norm_first=True"
        ),
        "sentence by sentence": """
def pre_norm_layer(x, weights, heads, keep):
    rows = []
    for sentence, real in zip(x, keep):
        a = layer_norm(sentence, weights["gain_1"], weights["bias_1"])
        sentence = sentence + self_attention(a[None], weights, heads, real[None])[0]
        b = layer_norm(sentence, weights["gain_2"], weights["bias_2"])
        rows.append(sentence + feed_forward(b, weights["W_1"], weights["b_1"], weights["W_2"], weights["b_2"]))
    return torch.stack(rows)
""",
        "a loop over two branches": """
def pre_norm_layer(x, weights, heads, keep):
    W = weights
    branches = (lambda y: self_attention(y, W, heads, keep), lambda y: feed_forward(y, W["W_1"], W["b_1"], W["W_2"], W["b_2"]))
    for place, branch in enumerate(branches, start=1):
        x = x + branch(torch.nn.functional.layer_norm(x, x.shape[-1:], W[f"gain_{place}"], W[f"bias_{place}"]))
    return x
""",
    },
    hints=(
        "Follow one word through the right drawing. Is there a way from the bottom to the top that passes no box at all?",
        "Every tensor on the way is (batch, token, D). Each norm now has one reader: the part that stands behind it.",
        "a = attention of (norm 1 of x);   x = x + a\nb = feed-forward of (norm 2 of x);   output = x + b",
        "Near miss: `x = norm_1(x)`, then `x = x + attention(x)`. Now the residual carries the normalised vector, and the old x is gone.",
    ),
)

# ------------------------------------------------------------------------------------------ stack


def stack_cases(draw: Draw) -> Iterator[Case]:
    for layers, *shape in ((3, 2, 4, 5), (2, 4, 3, 6), (4, 3, 5, 7), (1, 5, 2, 3), (0, 3, 2, 4)):
        D = shape[-1]
        yield {"x": draw.normal(*shape), "matrices": draw.normal(layers, D, D, scale=D**-0.5)}


STEP = "hidden.append(layer(hidden[-1]))"

stack = Exercise(
    cases=stack_cases,
    rule=Rule(axes={"": "L+1 B T D"}),
    mistakes=(
        Mistake(
            "the input left out",
            "One entry is missing: with the vectors that go into the first layer there are L + 1.",
            "torch.stack(hidden)", "torch.stack(hidden[1:])",
        ),
        Mistake(
            "every layer given the input",
            "Your first layer is right, the others work on x too. Each layer works on what the one below it gave.",
            "layer(hidden[-1])", "layer(x)",
        ),
        Mistake(
            "the last layer alone",
            "You return what comes out at the top. The vectors on the way there are asked for as well.",
            "torch.stack(hidden)", "hidden[-1]",
        ),
        Mistake(
            "the layers in reverse order",
            "The layer that should come first comes last in yours.",
            "in layers", "in list(layers)[::-1]",
        ),
        Mistake(
            "the top layer first",
            "All vectors are right, and they stand upside down: entry 0 is the input, the last entry is the top.",
            "torch.stack(hidden)", "torch.stack(hidden[::-1])",
        ),
        Mistake(
            "another residual",
            "The residuals are inside the layers already: you add each layer's input once more.",
            "layer(hidden[-1])", "hidden[-1] + layer(hidden[-1])",
        ),
        Mistake(
            "the batch before the layers",
            "Your first axis counts the sentences. The layers come first.",
            "torch.stack(hidden)", "torch.stack(hidden, dim=1)",
        ),
        Mistake(
            "the layers side by side in the last axis",
            "You have lengthened every word's vector. The layers get an axis of their own, in front.",
            "torch.stack(hidden)", "torch.cat(hidden, dim=-1)",
        ),
        Mistake(
            "the input twice, the last layer missing",
            "You keep what goes into each layer instead of what comes out: the top is missing.",
            STEP, "hidden.append(x)\n        x = layer(x)",
        ),
        Mistake(
            "the last layer missing",
            "One entry is missing, the last: you keep what goes into each layer, and what comes out of the top is lost.",
            "torch.stack(hidden)", "torch.stack(hidden[:-1])",
            also=(
                """
def stack(x, layers):
    hidden = [x]
    for layer in layers[:-1]:
        hidden.append(layer(hidden[-1]))
    return torch.stack(hidden)
""",
            ),
        ),
        Mistake(
            "the layers joined along the batch",
            "Your first axis holds the sentences of all layers, one layer behind the other. The layers get an axis of their own, in front.",
            "torch.stack(hidden)", "torch.cat(hidden)",
        ),
        Mistake(
            "the first layer every time",
            "Your first layer is right; then it is applied again, where the next one should come.",
            "layer(hidden[-1])", "layers[0](hidden[-1])",
        ),
    ),
    alternatives={
        "itertools.accumulate": """
from itertools import accumulate
def stack(x, layers):
    return torch.stack(list(accumulate(layers, lambda h, layer: layer(h), initial=x)))
""",
        "recursion": """
def stack(x, layers):
    layers = list(layers)
    rest = stack(layers[0](x), layers[1:]) if layers else x[:0].new_empty(0, *x.shape)
    return torch.cat([x[None], rest])
""",
        "an empty tensor filled layer by layer": """
def stack(x, layers):
    hidden = torch.empty(len(layers) + 1, *x.shape)
    hidden[0] = x
    for number, layer in enumerate(layers, start=1):
        hidden[number] = layer(hidden[number - 1])
    return hidden
""",
    },
    hints=(
        "How many different vectors has the word *bank* on its way through three layers, the one it starts with included?",
        "In: x (B, T, D) and a list of L functions, each from (B, T, D) to (B, T, D). Out: (L + 1, B, T, D).",
        "keep a list that starts with x\nfor each layer: apply it to the last entry, put the result at the end\n"
        "make one tensor of the list, with a new first axis",
        "Near miss: `[x] + [layer(x) for layer in layers]` has the right shape, but in it all layers work on the same x.",
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
