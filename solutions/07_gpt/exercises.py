"""07 GPT: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator, Mapping

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

# ------------------------------------------------------------------------------------------ causal mask


def mask_cases(draw: Draw) -> Iterator[Case]:
    """Ordinary scores, with and without earlier tokens; later words that score hundreds more than the earlier ones; a single word."""
    for T, past in ((4, 0), (7, 0), (6, 5), (1, 0), (3, 8), (1, 6)):
        scores = draw.normal(T, past + T, scale=1.5)
        if T == 7:
            scores = np.round(8 * scores) / 8  # so large that the last bit of any other number would be visible
            scores[np.triu_indices(T, 1)] += 300
        yield {"scores": scores, "past": past}


FILLED = "torch.zeros(T, past + T).masked_fill(later, -torch.inf)"

causal_mask = Exercise(
    cases=mask_cases,
    rule=Rule("close", 1e-5, axes={"": "T t+T"}),
    mistakes=(
        Mistake(
            "diagonal masked",
            "Without earlier tokens, your first row is NaN. Its word may attend to no word at all, not even to itself, and a "
            "softmax over an empty set is 0/0.",
            "> position", ">= position",
        ),
        Mistake(
            "mask transposed",
            "Your first row sees all words, and your last row sees only one word. The rows should belong to the queries.",
            "> position", "< position",
        ),
        Mistake(
            "no word masked",
            "Your weights are the same as without a mask, because you add (nearly) the same number to the scores of all "
            "words.",
            FILLED, "torch.zeros(T, past + T)",
        ),
        Mistake(
            "next word visible",
            "Each of your words also attends to the next word, which is the word that it has to predict.",
            "> position", "> position + 1",
        ),
        Mistake(
            "earlier tokens not counted in the positions of the queries",
            "Your mask is correct without earlier tokens. With earlier tokens, your first row sees only the very first token. The "
            "query of row i is at position past + i.",
            "torch.arange(past, past + T)", "torch.arange(T)",
        ),
        Mistake(
            "earlier tokens masked",
            "Your new tokens see each other, but none of the earlier tokens. A decoder attends to all tokens before it.",
            "return torch", "later[:, :past] = True\n    return torch",
        ),
        Mistake(
            "earlier tokens after the new ones",
            "Your last columns are visible to all rows. The earlier tokens come first, so the first columns belong to them.",
            "return torch", "later = later.roll(-past, dims=1)\n    return torch",
        ),
        Mistake(
            "rows for the earlier tokens as well",
            "Your mask also has rows for the earlier tokens, but only the new tokens have queries.",
            edits={"torch.arange(past, past + T)": "torch.arange(past + T)", "torch.zeros(T, past + T)": "torch.zeros(past + T, past + T)"},
        ),
        Mistake(
            "no columns for the earlier tokens",
            "Your mask has columns only for the new tokens. The earlier tokens have keys, too.",
            edits={"torch.arange(past + T)": "torch.arange(past, past + T)", "torch.zeros(T, past + T)": "torch.zeros(T, T)"},
        ),
        Mistake(
            "plus infinity instead of minus infinity",
            "Your weights are NaN in every row with masked entries. Which number has an exponential of 0?",
            "-torch.inf", "torch.inf",
        ),
        Mistake(
            "difference of only 1 between visible and masked entries",
            "In your mask, visible and masked entries differ by only 1 (True and False count as 1 and 0). Since the mask is "
            "added to the scores, a difference of 1 hides no word.",
            FILLED, "~later",
        ),
        Mistake(
            "1 instead of −∞ for masked entries",
            "Your mask adds 1 to the scores of the *later* words (True counts as 1). This gives later words more weight "
            "instead of none.",
            FILLED, "later",
        ),
        Mistake(
            "zeros multiplied by infinity",
            "All your weights are NaN, because you multiply a triangle of zeros and ones by −∞, and 0 · ∞ is not 0. Fill the "
            "matrix with −∞ first, then set the visible entries to 0.",
            FILLED, "later * -torch.inf",
        ),
        Mistake(
            "all but the diagonal masked",
            "Each of your words attends only to itself. It should also attend to the words before it.",
            "> position", "!= position",
        ),
        Mistake(
            "finite number instead of minus infinity",
            "Masked words still receive some weight, or even all the weight if their scores are high. The number in your mask is not negative "
            "enough for such scores.",
            "-torch.inf", "-10.0",
            also=(
                """
def causal_mask(T, past=0):
    return torch.full((T, past + T), -100.0).triu(past + 1)
""",
                """
def causal_mask(T, past=0):
    return torch.full((T, past + T), -5.0).triu(past + 1)
""",
            ),
        ),
    ),
    alternatives={
        "the smallest number there is": """
def causal_mask(T, past=0):
    return torch.full((T, past + T), torch.finfo(torch.float32).min).triu(diagonal=past + 1)
""",
        "the last rows of a square": """
def causal_mask(T, past=0):
    keep = torch.arange(past + T)[:, None] >= torch.arange(past + T)
    return torch.zeros(past + T, past + T).masked_fill(~keep, float("-inf"))[past:]
""",
        "a logarithm": """
def causal_mask(T, past=0):
    return torch.ones(T, past + T, dtype=torch.float64).tril(past).log()
""",
        "two loops and numpy": """
import numpy as np
def causal_mask(T, past=0):
    return torch.tensor(np.array([[0.0 if j <= past + i else -np.inf for j in range(past + T)] for i in range(T)]))
""",
        "two blocks": """
def causal_mask(T, past=0):
    return torch.cat([torch.zeros(T, past), torch.full((T, T), -torch.inf).triu(1)], dim=1)
""",
    },
    hints=(
        "Which number must be added to a score so that its weight is exactly 0 after the softmax? Which number leaves a score unchanged?",
        "Input: two integers. Output: (T, past + T), consisting of 0 and −∞. Row i belongs to a query, column j to a key.",
        "for each i, for each j:\n    0 if j is not later than past + i\n    minus infinity otherwise",
        "A near miss: multiplying a triangle of ones by −∞ gives NaN in the other half, since 0 · ∞ is not 0. Fill the matrix with −∞ first, then "
        "set the visible entries to 0.",
    ),
)

# ------------------------------------------------------------------------------------------ attention that remembers


def weights_of(draw: Draw, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Random weights, under the names with which a check loads them: no vector grows or shrinks much, and no bias is 0."""
    made = {}
    for name, shape in shapes.items():
        matrix = len(shape) == 2 and not name.startswith(("token", "position"))
        made[f"weights.{name}"] = draw.normal(*shape, scale=shape[1] ** -0.5 if matrix else 0.7)
        if name.endswith("narrow.weight"):
            made[f"weights.{name}"] *= 5  # so that the two GELUs, which are close, can be distinguished
        if "norm" in name and name.endswith("weight"):
            made[f"weights.{name}"] += 1
    return made


def layer_shapes(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def attention_shapes(dim: int, where: str = "") -> dict[str, tuple[int, ...]]:
    return {
        name: shape
        for layer in ("query", "key", "value", "output")
        for name, shape in layer_shapes(where + layer, dim, dim).items()
    }


def attention_cases(draw: Draw) -> Iterator[Case]:
    """Sentences processed at once and in pieces of several lengths, followed by other sentences."""
    for B, heads, d, T, other, pieces in ((2, 3, 5, 6, 4, 1), (3, 1, 7, 5, 8, 2), (1, 4, 3, 9, 5, 4)):
        dim = heads * d
        yield {
            "config": {"dim": dim, "heads": heads},
            "x": draw.normal(B, T, dim),
            "other": draw.normal(B, other, dim),
            "pieces": pieces,
            **({"beside": draw.normal(B, 3, dim)} if pieces == 2 else {}),
            **weights_of(draw, attention_shapes(dim)),
        }


READ = ("at once", "once more", "in pieces", "a second text in pieces", "in pieces, beside another model", "after reset()", "once more after reset()")
"""The outputs of `run_cached`."""
HEADS = "layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)"
SCORES = "q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5"
MASK = "causal_mask(x.shape[1], past=k.shape[2] - x.shape[1])"
JOINED = "k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)"

attention = Exercise(
    cases=attention_cases,
    rule=Rule(tolerance=2e-5, axes={"registered": "weights"} | dict.fromkeys(READ, "B T D"), legend=OF_WEIGHTS),
    uses=("gpt.causal_mask",),
    mistakes=(
        Mistake(
            "mask missing",
            "If a text is processed in one call, your output is correct for the last token but not for the other tokens, "
            "which attend to tokens on their right.",
            " + mask", "",
        ),
        Mistake(
            "mask shifted by one",
            "Each of your tokens also sees the next token, which is the token to be predicted. Row i of the mask should "
            "belong to token i.",
            MASK, "causal_mask(x.shape[1], past=k.shape[2] - x.shape[1] + 1)[:, :-1]",
        ),
        Mistake(
            "first rows of the mask used",
            "Your output is correct if the text is processed in one call. With a cache, your new tokens use the first rows of "
            "the mask and see no more than the first tokens do. With t tokens in the cache, the first new token needs row t.",
            MASK, "causal_mask(k.shape[2])[: x.shape[1]]",
        ),
        Mistake(
            "mask missing with a cache",
            "Your output is correct if tokens are processed one at a time. If a call contains several new tokens, they attend "
            "to tokens on their right. Such calls need the mask, too.",
            "scores + mask", "scores + (0 if self.past is not None and self.past[0].shape[2] > x.shape[1] else mask)",
        ),
        Mistake(
            "cache not reset",
            "After a second reset(cached=True) your tokens still attend to keys and values of the first text. Each new text "
            "should start with an empty cache.",
            "self.cached, self.past = cached, None", 'self.cached, self.past = cached, getattr(self, "past", None)',
            also=(
                """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.cached, self.k, self.v = False, None, None

    def reset(self, cached=False):
        self.cached = cached

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        if self.cached:
            if self.k is not None:
                k = torch.cat([self.k, k], dim=2)
                v = torch.cat([self.v, v], dim=2)
            self.k, self.v = k, v
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + causal_mask(S)[S - T :]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
            ),
        ),
        Mistake(
            "keys and values never cached",
            "Even with a cache, each of your calls sees only its own tokens. It should also use the keys and values of "
            "earlier calls.",
            "if self.cached:", "if False:",
        ),
        Mistake(
            "keys and values always cached",
            "Your second call sees the tokens of the first call, although no cache was requested. Store keys and values only "
            "after reset(cached=True).",
            "if self.cached:", "if True:",
        ),
        Mistake(
            "only the keys and values of the last call cached",
            "With a cache, your third call no longer sees the tokens of the first call. You store only the newest keys and "
            "values instead of all keys and values since the reset.",
            edits={
                "        if self.past is not None:": "        new = k, v\n        if self.past is not None:",
                "            self.past = k, v": "            self.past = new",
            },
        ),
        Mistake(
            "new tokens placed before the cached tokens",
            "With a cache, you put the new keys and values *before* the cached ones, so the mask treats the new tokens as the "
            "first tokens. They should be the last tokens.",
            JOINED, "k, v = torch.cat([k, self.past[0]], dim=2), torch.cat([v, self.past[1]], dim=2)",
        ),
        Mistake(
            "scores not scaled", "Your attention weights are too peaked. Divide the scores by √d.",
            " / q.shape[-1] ** 0.5", "",
        ),
        Mistake(
            "scores divided by d instead of √d",
            "Your attention weights are too uniform, because you divide the scores by d. Divide them by √d.",
            "q.shape[-1] ** 0.5", "q.shape[-1]",
        ),
        Mistake(
            "scores divided by √D instead of √d",
            "With several heads your attention weights are too uniform. Each score is a sum over the d components of one "
            "head, not over all D components, so divide it by √d.",
            "q.shape[-1] ** 0.5", "x.shape[-1] ** 0.5",
        ),
        Mistake(
            "softmax over the queries",
            "Each of your columns sums to 1, but each row should. For each query, the weights of all keys sum to 1.",
            "softmax(dim=-1)", "softmax(dim=-2)",
        ),
        Mistake(
            "mask applied after the softmax",
            "The remaining weights sum to less than 1, because later tokens received weight in the softmax before you removed "
            "them.",
            edits={
                "scores + mask": "scores",
                "(weights @ v)": "((weights * (mask == 0)) @ v)",
            },
        ),
        Mistake(
            "heads split across tokens",
            "With several heads, each of your heads mixes several tokens. First split the last axis, D, into heads and d; "
            "then transpose the axes.",
            HEADS, "layer(x).reshape(x.shape[0], self.heads, x.shape[1], -1)",
            also=(
                """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.k, self.v = cached, [], []

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = self.query(x), self.key(x), self.value(x)
        if self.cached:
            self.k.append(k)
            self.v.append(v)
            k, v = torch.cat(self.k, dim=1), torch.cat(self.v, dim=1)
        q, k, v = (t.reshape(B, self.heads, -1, D // self.heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5 + causal_mask(k.shape[2])[-T:]
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))
""",
            ),
        ),
        Mistake(
            "heads joined across tokens",
            "With several heads your result mixes tokens. The axes of heads and d must be adjacent again before you join them "
            "to D.",
            "(weights @ v).transpose(1, 2).flatten(2)", "(weights @ v).reshape(x.shape)",
        ),
        Mistake(
            "output layer not applied",
            "You return the concatenated heads. Apply the fourth layer, `output`, to them.",
            "self.output((weights @ v).transpose(1, 2).flatten(2))", "(weights @ v).transpose(1, 2).flatten(2)",
        ),
        Mistake(
            "buffer saved with the model",
            "Your outputs are correct. However, one of your buffers (a mask or the cache) is saved with the model, and a file "
            "without this buffer cannot be loaded. `register_buffer(…, persistent=False)` keeps the buffer out of the file.",
            "self.cached, self.past = cached, None",
            'self.cached, self.past = cached, None\n        self.register_buffer("mask", torch.ones(99, 99).tril())',
        ),
        Mistake(
            "output detached from the weights",
            "Your outputs are correct. However, training could not change your weights, because no_grad, detach or .data "
            "stops the gradient before it reaches them.",
            "self.output((weights @ v).transpose(1, 2).flatten(2))", "self.output((weights @ v).transpose(1, 2).flatten(2)).detach()",
        ),
    ),
    alternatives={
        "scaled_dot_product_attention, keys and values apart": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached = cached
        self.keys = self.values = None

    def split(self, x):
        B, T, D = x.shape
        return x.view(B, T, self.heads, D // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, keep=None):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if self.cached:
            if self.keys is not None:
                k, v = torch.cat((self.keys, k), dim=-2), torch.cat((self.values, v), dim=-2)
            self.keys, self.values = k, v
        T, S = q.shape[-2], k.shape[-2]
        mask = torch.arange(S) <= torch.arange(S - T, S)[:, None]
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.output(mixed.transpose(1, 2).reshape(x.shape))
""",
        "lists of pieces, einsum, float64": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, torch.nn.Linear(dim, dim))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.pieces = cached, []

    def forward(self, x, keep=None):
        B, T, D = x.shape
        q, k, v = (f(x).double().view(B, T, self.heads, self.d) for f in (self.query, self.key, self.value))
        pieces = [*self.pieces, (k, v)]
        if self.cached:
            self.pieces = pieces
        k, v = (torch.cat(several, dim=1) for several in zip(*pieces))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.d**0.5
        later = torch.ones(T, k.shape[1], dtype=torch.bool).triu(k.shape[1] - T + 1)
        weights = scores.masked_fill(later, -torch.inf).softmax(-1)
        return self.output(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2).to(x.dtype))
""",
        "the inputs kept, and read again": """
class CausalAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached=False):
        self.cached, self.past = cached, None

    def forward(self, x, keep=None):
        T = x.shape[1]
        if self.past is not None:
            x = torch.cat([self.past, x], dim=1)
        if self.cached:
            self.past = x
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(mixed.transpose(1, 2).flatten(2))[:, -T:]
""",
    },
    hints=(
        "With t tokens in the cache and T new tokens, how many queries and how many keys are there? Which values "
        "of T and past does your causal_mask need?",
        "x: (B, T, D). q, k, v of the new tokens: (B, H, T, d). With the cache, k and v: (B, H, t + T, d). Scores and mask: T "
        "rows, t + T columns.",
        "queries, keys, values of the new tokens, split into heads\nif the cache contains anything: put its keys and values "
        "before the new ones\nif a cache is requested: store all keys and values\nscores = queries times all keys, scaled, plus the "
        "mask with t as past\nweighted sums of the values, heads concatenated, through `output`",
        "A near miss: `causal_mask(T)` has T columns, but the scores have t + T columns. Give the number of cached tokens as "
        "`past`.",
    ),
)

# ------------------------------------------------------------------------------------------ a GPT


def gpt_cases(draw: Draw) -> Iterator[Case]:
    """Two layers with GPT-2's activation, the default; one layer with the exact GELU, together with a second model; one
    layer with short vectors.

    Each layer takes half a millisecond per reading and nearly a millisecond to build. Each way of
    reading is therefore tested in only one case; ways of reading that can fail between two layers
    are tested in the case with two layers.
    """
    for V, heads, d, layers, inner, B, T, other, pieces, activation, readings in (
        (11, 2, 7, 2, 20, 3, 5, 4, 3, None, ["in pieces", "after reset()", "once more after reset()"]),
        (9, 3, 4, 1, 17, 5, 2, 3, 1, "gelu", ["once more", "a second text in pieces", "in pieces, beside another model"]),
        (8, 1, 13, 1, 18, 1, 6, 4, 5, None, []),
    ):
        dim, tokens = heads * d, 40  # large enough for positions that wrongly continue from call to call
        shapes = {"token.weight": (V, dim), "position.weight": (tokens, dim)}
        for layer in range(layers):
            place = f"layers.{layer}."
            shapes |= attention_shapes(dim, f"{place}attention.")
            shapes |= layer_shapes(f"{place}feed_forward.widen", dim, inner)
            shapes |= layer_shapes(f"{place}feed_forward.narrow", inner, dim)
            for norm in ("norm_attention", "norm_feed_forward"):
                shapes |= {f"{place}{norm}.weight": (dim,), f"{place}{norm}.bias": (dim,)}
        shapes |= {"norm.weight": (dim,), "norm.bias": (dim,)}
        weights = weights_of(draw, shapes)
        if heads == 1:  # vectors so short, at every norm, that its ε makes a difference
            adding = ("token.weight", "position.weight", "attention.output.weight", "attention.output.bias", "narrow.weight", "narrow.bias")
            weights = {name: value * np.float32(2e-3 if name.endswith(adding) else 1) for name, value in weights.items()}
        config = {"vocabulary": V, "tokens": tokens, "dim": dim, "layers": layers, "heads": heads, "inner": inner}
        yield {
            "config": config | ({"activation": activation} if activation else {}),
            "ids": draw.integers(0, V, B, T),
            "other": draw.integers(0, V, B, other),
            "pieces": pieces,
            "beside": draw.integers(0, V, B, 2),  # not as many as a piece has
            "readings": list(readings),
            "gradient": ["token.weight"] if layers == 2 else [],
            **weights,
        }


POSITIONS = "torch.arange(self.read, self.read + ids.shape[1])"
COUNTED = "if self.cached:\n            self.read += ids.shape[1]"
LOGITS = "self.norm(x) @ self.token.weight.T"
TOLD = "layer.attention.reset(cached)"
LAYERS = (
    "torch.nn.ModuleList(\n            Block(dim, heads, inner, norm_first=True, activation=activation)\n"
    "            for _ in range(layers)\n        )"
)

gpt = Exercise(
    cases=gpt_cases,
    rule=Rule(
        tolerance=5e-5,
        axes={"registered": "weights"} | dict.fromkeys(READ, "B T V") | {"gradient of token.weight": "V D"}, legend=OF_WEIGHTS,
    ),
    uses=("gpt.causal_mask", "gpt.attention"),
    mistakes=(
        Mistake(
            "positions restarted with the cache",
            "Your output is correct if the text is processed in one call. With a cache, each of your calls starts at position "
            "0 again, as if its first token were the first token of the text.",
            POSITIONS, "torch.arange(ids.shape[1])",
        ),
        Mistake(
            "calls counted instead of tokens",
            "Your output is correct if tokens are processed one at a time. A call with several tokens increases your position "
            "by only 1. Count tokens instead of calls.",
            "self.read += ids.shape[1]", "self.read += 1",
        ),
        Mistake(
            "positions not reset",
            "Your second text does not start at position 0. reset must also set the number of processed tokens to 0.",
            "self.cached, self.read = cached, 0", 'self.cached, self.read = cached, getattr(self, "read", 0)',
        ),
        Mistake(
            "positions counted without a cache",
            "Your second call continues the positions of the first call. Without a cache, each call is a separate text that "
            "starts at position 0.",
            COUNTED, "self.read += ids.shape[1]",
        ),
        Mistake(
            "caches of the layers not reset",
            "After a second reset(cached=True) your layers still store the first text. Reset the attention of each layer as "
            "well.",
            TOLD, "layer.attention.cached = cached",
        ),
        Mistake(
            "state shared between models",
            "With a single model, your output is correct. A second model of your class, called in between, changes the "
            "positions of the first model. The number of processed tokens should be an attribute of `self`, not of the class.",
            edits={
                "self.cached, self.read = cached, 0": "GPT.cached, GPT.read = cached, 0",
                "self.read += ids.shape[1]": "GPT.read += ids.shape[1]",
            },
        ),
        Mistake(
            "reset not passed on to the layers",
            "With a cache, your positions continue, but no layer stores keys and values. Call the reset of each "
            "CausalAttention. (Block's original attention has no reset. Did you replace it with your CausalAttention?)",
            TOLD, "pass",
        ),
        Mistake(
            "final norm missing",
            "You compute the logits directly from the last layer. In a pre-norm model the output of the last layer is not "
            "normalised, so apply `norm` to it.",
            LOGITS, "x @ self.token.weight.T",
        ),
        Mistake(
            "norm applied before the layers",
            "You apply the norm before the first layer. Apply it after the last layer, whose output has not been normalised.",
            edits={
                "            x = layer(x, None)": "            x = layer(self.norm(x) if layer is self.layers[0] else x, None)",
                LOGITS: "x @ self.token.weight.T",
            },
        ),
        Mistake(
            "embeddings not tied",
            "Your model has parameters that the docstring does not list: a second matrix for the logits. Use the matrix of "
            "`token` for the logits as well.",
            edits={
                "self.norm = torch.nn.LayerNorm(dim)": "self.norm = torch.nn.LayerNorm(dim)\n        self.head = torch.nn.Linear(dim, vocabulary, bias=False)",
                LOGITS: "self.head(self.norm(x))",
            },
        ),
        Mistake(
            "tied matrix saved twice",
            "Your outputs are correct. However, the tied matrix is saved under two names. A file of weights contains it once, "
            "whereas your load_state_dict expects both names. Compute the logits with the matrix itself: `x @ "
            "self.token.weight.T`.",
            edits={
                "self.norm = torch.nn.LayerNorm(dim)": "self.norm = torch.nn.LayerNorm(dim)\n        self.lm_head = torch.nn.Linear(dim, vocabulary, bias=False)\n        self.lm_head.weight = self.token.weight",
                LOGITS: "self.lm_head(self.norm(x))",
            },
        ),
        Mistake(
            "cache not switched off",
            "After reset() your first call is correct, but your second call still attends to the tokens of the first. reset() "
            "must pass False on to the layers.",
            edits={"self.cached, self.read = cached, 0": "self.cached, self.read = True, 0", TOLD: "layer.attention.reset(True)"},
        ),
        Mistake(
            "output matrix detached",
            "Your logits are correct. However, the gradient of the embedding matrix is wrong, because you detached the matrix "
            "where you compute the logits (detach, .data or no_grad).",
            LOGITS, "self.norm(x) @ self.token.weight.detach().T",
        ),
        Mistake(
            "post-norm blocks instead of pre-norm blocks",
            "Your blocks normalise after the sum, as the transformer of 2017 did. GPT-2 normalises before each component; "
            "Block has an argument for this.",
            "norm_first=True, ", "",
        ),
        Mistake(
            "activation not passed on",
            "Your outputs are slightly off, because your blocks use Block's default activation. GPT's own default is "
            "gelu_tanh: pass the argument `activation` on to the blocks.",
            ", activation=activation", "",
        ),
        Mistake(
            "BERT's ε used in the blocks",
            "Your output is correct for long vectors. For short vectors, the ε of the norms in your blocks makes a "
            "difference: 1e-12 is BERT's ε. Keep Block's default here.",
            LAYERS, LAYERS.replace("activation=activation)", "activation=activation, eps=1e-12)"),
        ),
        Mistake(
            "BERT's ε used in the last norm",
            "Your output is correct for long vectors. For short vectors, the ε of your last norm makes a difference, because "
            "this ε is not PyTorch's default.",
            "self.norm = torch.nn.LayerNorm(dim)", "self.norm = torch.nn.LayerNorm(dim, eps=1e-12)",
        ),
        Mistake(
            "layers in a plain list",
            "The parameters of your layers are not registered, because PyTorch does not search a plain list for modules. Use "
            "an nn.ModuleList.",
            LAYERS, "[Block(dim, heads, inner, norm_first=True, activation=activation) for _ in range(layers)]",
        ),
        Mistake(
            "positions missing",
            "The input of your first layer does not contain the positions. Add the position embeddings to the token "
            "embeddings.",
            " + self.position(positions)", "",
        ),
        Mistake(
            "token vectors multiplied by √D",
            "You multiply the token vectors by √D, as the transformer of 2017 did. GPT adds the token and position vectors "
            "unchanged.",
            "self.token(ids) + self.position", "self.token(ids) * self.token.embedding_dim**0.5 + self.position",
        ),
        Mistake(
            "probabilities returned",
            "Each of your output rows sums to 1, because you apply a softmax. Return the logits instead.",
            LOGITS, f"({LOGITS}).softmax(dim=-1)",
        ),
        Mistake(
            "buffer saved with the model",
            "Your outputs are correct. However, one of your buffers (a counter or a mask) is saved with the model, and a file "
            "without this buffer cannot be loaded. `register_buffer(…, persistent=False)` keeps the buffer out of the file.",
            "self.reset()", 'self.register_buffer("places", torch.arange(tokens))\n        self.reset()',
        ),
    ),
    alternatives={
        "F.linear with the table, position from the cache": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        blocks = []
        for _ in range(layers):
            block = Block(dim, heads, inner, True, activation)
            block.attention = CausalAttention(dim, heads)
            blocks.append(block)
        self.layers = torch.nn.ModuleList(blocks)
        self.norm = torch.nn.LayerNorm(dim, eps=1e-5)
        self.start = None

    def reset(self, cached=False):
        self.start = 0 if cached else None
        for block in self.layers:
            block.attention.reset(cached=cached)

    def forward(self, ids):
        start, T = self.start or 0, ids.shape[1]
        x = self.token(ids) + self.position.weight[start : start + T]
        if self.start is not None:
            self.start = start + T
        keep = torch.ones(1, T, start + T, dtype=torch.bool).tril(start)
        for block in self.layers:
            x = block(x, keep)
        return torch.nn.functional.linear(self.norm(x), self.token.weight)
""",
        "F.linear, a counter that is a buffer nobody saves": """
class GPT(torch.nn.Module):
    def __init__(self, vocabulary, tokens, dim, layers, heads, inner, activation="gelu_tanh"):
        super().__init__()
        self.token, self.position = torch.nn.Embedding(vocabulary, dim), torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            self.layers.append(Block(dim=dim, heads=heads, inner=inner, norm_first=True, activation=activation))
            self.layers[-1].attention = CausalAttention(dim, heads)
        self.norm = torch.nn.LayerNorm(dim)
        self.register_buffer("read", torch.tensor(0), persistent=False)
        self.cached = False

    def reset(self, cached=False):
        self.cached = cached
        self.read.zero_()
        for module in self.modules():
            if isinstance(module, CausalAttention):
                module.reset(cached)

    def forward(self, ids):
        places = self.read + torch.arange(ids.shape[1])
        if self.cached:
            self.read += ids.shape[1]
        x = self.token(ids) + self.position(places)[None]
        for layer in self.layers:
            x = layer(x, None)
        return torch.nn.functional.linear(self.norm(x), self.token.weight)
""",
    },
    hints=(
        "A text of 5 tokens is processed in calls of 2, 2 and 1 tokens. Which positions do the tokens of each call have? Where "
        "must the number of processed tokens be stored?",
        "ids: (B, T). x: (B, T, dim) through all layers. Logits: (B, T, vocabulary), from a matrix of shape (vocabulary, dim).",
        "init: the two embeddings; L blocks, each with a CausalAttention as its `attention`; the last norm\nreset: `read`, the "
        "number of processed tokens, is 0; reset the attention of each layer\nforward: token vectors + position vectors, "
        "starting at position `read`\n    with a cache, `read` grows by the number of tokens\n    through the layers, the norm, and the transposed token matrix",
        "A near miss: a separate Linear for the logits adds parameters that GPT does not have. `x @ table.T` needs no new parameters.",
    ),
)

# ------------------------------------------------------------------------------------------ GPT-2's names


def names_cases(draw: Draw) -> Iterator[Case]:
    """A current GPT2LMHeadModel; one from 2019 with its masks; and a GPT2Model, which has no prefix and no head."""
    for V, D, tokens, layers, masks, whole in ((7, 6, 5, 2, False, True), (5, 4, 8, 1, True, True), (6, 3, 4, 11, True, False)):
        inner = 4 * D
        shapes = {"wte.weight": (V, D), "wpe.weight": (tokens, D)}
        for layer in range(layers):
            for norm in ("ln_1", "ln_2"):
                shapes |= {f"h.{layer}.{norm}.weight": (D,), f"h.{layer}.{norm}.bias": (D,)}
            for name, size in {
                "attn.c_attn": (D, 3 * D), "attn.c_proj": (D, D), "mlp.c_fc": (D, inner), "mlp.c_proj": (inner, D),
            }.items():  # fmt: skip
                shapes |= {f"h.{layer}.{name}.weight": size, f"h.{layer}.{name}.bias": (size[1],)}
        shapes |= {"ln_f.weight": (D,), "ln_f.bias": (D,)}
        prefix = "transformer." if whole else ""
        theirs = {f"{prefix}{name}": draw.normal(*shape) for name, shape in shapes.items()}
        if masks:
            for layer in range(layers):
                theirs[f"{prefix}h.{layer}.attn.bias"] = np.tril(np.ones((1, 1, tokens, tokens), dtype=np.float32))
                theirs[f"{prefix}h.{layer}.attn.masked_bias"] = np.array(-1e4, dtype=np.float32)
        if whole:
            theirs["lm_head.weight"] = theirs[f"{prefix}wte.weight"].copy()
        yield theirs


TURNED = "value.T if value.ndim == 2 else value"
THIRDS = 'zip(("query", "key", "value"), value.chunk(3))'
OTHERS = 'elif place in PLACES:\n                ours[f"{layer}.{PLACES[place]}.{part}"] = value'

gpt2_names = Exercise(
    cases=names_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "rounded to half precision",
            "Your names are correct. However, your values differ from those in the file: half precision (float16) keeps only "
            "three of the seven significant digits.",
            "    return ours", "    return {name: value.half() for name, value in ours.items()}",
        ),
        Mistake(
            "no matrix transposed",
            "Your matrices have the same shape as in GPT-2's file, (in, out). nn.Linear expects the shape (out, in).",
            code="""
def gpt2_names(theirs):
    ours = {}
    for name, value in theirs.items():
        *path, part = name.removeprefix("transformer.").split(".")
        if path[0] != "h":
            if path[0] in PLACES:
                ours[f"{PLACES[path[0]]}.{part}"] = value
            continue
        layer, place = f"layers.{path[1]}", ".".join(path[2:])
        if place == "attn.c_attn":
            for name, third in zip(("query", "key", "value"), value.chunk(3, dim=-1)):
                ours[f"{layer}.attention.{name}.{part}"] = third
        elif place in PLACES:
            ours[f"{layer}.{PLACES[place]}.{part}"] = value
    return ours
""",
        ),
        Mistake(
            "square matrices not transposed",
            "All your shapes are correct, but your square matrices are not transposed. The shapes of attn.c_proj and of the "
            "three thirds of c_attn do not reveal that they must be transposed.",
            edits={
                TURNED: 'value.T if value.ndim == 2 and len(set(value.shape)) == 2 and place != "attn.c_attn" else value',
                "value.chunk(3)": "value.chunk(3, dim=-1)",
            },
        ),
        Mistake(
            "attn.c_proj not transposed",
            "You did not transpose the matrix of each attention.output. This matrix is square, so its shape reveals nothing, "
            "but it also belongs to a Conv1D.",
            TURNED, 'value.T if value.ndim == 2 and place != "attn.c_proj" else value',
        ),
        Mistake(
            "thirds of c_attn not transposed",
            "Your query, key and value weights are the same as in the file. Transpose each of the three thirds as well.",
            edits={
                TURNED: 'value.T if value.ndim == 2 and place != "attn.c_attn" else value',
                "value.chunk(3)": "value.chunk(3, dim=-1)",
            },
        ),
        Mistake(
            "thirds of c_attn in the wrong order",
            "You assign the thirds of c_attn to the wrong names. The correct order is query, key, value.",
            '("query", "key", "value")', '("key", "query", "value")',
            also=(
                """
def gpt2_names(theirs):
    ours = {}
    for name, value in theirs.items():
        *path, part = name.removeprefix("transformer.").split(".")
        if path[0] != "h":
            if path[0] in PLACES:
                ours[f"{PLACES[path[0]]}.{part}"] = value
            continue
        layer, place = f"layers.{path[1]}", ".".join(path[2:])
        value = value.T if value.ndim == 2 else value
        if place == "attn.c_attn":
            for name, third in zip(("value", "key", "query"), value.chunk(3)):
                ours[f"{layer}.attention.{name}.{part}"] = third
        elif place in PLACES:
            ours[f"{layer}.{PLACES[place]}.{part}"] = value
    return ours
""",
            ),
        ),
        Mistake(
            "rows of c_attn assigned in turn",
            "You assign the rows of c_attn to queries, keys and values in turn. The thirds of c_attn are blocks instead: "
            "first all rows for the queries, then all rows for the keys, then all rows for the values.",
            "value.chunk(3)", "(value[number::3] for number in range(3))",
        ),
        Mistake(
            "embeddings transposed",
            "You also transpose wte and wpe. Both are tables of vectors, and both models store them in an nn.Embedding, so "
            "they must not be transposed.",
            'ours[f"{PLACES[path[0]]}.{part}"] = value', 'ours[f"{PLACES[path[0]]}.{part}"] = value.T if value.ndim == 2 else value',
        ),
        Mistake(
            "tied matrix returned twice",
            "You return one name too many. lm_head.weight is the same matrix as wte.weight, and your GPT has no separate "
            "parameter for it.",
            "    return ours", '    if "lm_head.weight" in theirs:\n        ours["lm_head.weight"] = theirs["lm_head.weight"]\n    return ours',
            also=(
                """
def gpt2_names(theirs):
    ours = {}
    for name, value in theirs.items():
        *path, part = name.removeprefix("transformer.").split(".")
        if path[0] == "lm_head":
            ours["head.weight"] = value
        elif path[0] != "h":
            ours[f"{PLACES[path[0]]}.{part}"] = value
        else:
            layer, place = f"layers.{path[1]}", ".".join(path[2:])
            value = value.T if value.ndim == 2 else value
            if place == "attn.c_attn":
                for name, third in zip(("query", "key", "value"), value.chunk(3)):
                    ours[f"{layer}.attention.{name}.{part}"] = third
            elif place in PLACES:
                ours[f"{layer}.{PLACES[place]}.{part}"] = value
    return ours
""",
            ),
        ),
        Mistake(
            "masks returned as parameters",
            "You return too many names. attn.bias and attn.masked_bias are buffers for the mask rather than weights.",
            OTHERS, OTHERS + '\n            elif place == "attn":\n                ours[f"{layer}.attention.{part}"] = value',
        ),
        Mistake(
            "bias of c_attn taken for a mask",
            "The biases of query, key and value are missing. c_attn.bias is a parameter that consists of three concatenated "
            "biases; only attn.bias is a mask.",
            "        *path, part =", '        if name.endswith("attn.bias"):\n            continue\n        *path, part =',
        ),
        Mistake(
            "biases left out",
            "Almost half of the names are missing. Each matrix of a layer and each norm also has a bias.",
            "        *path, part =", '        if name.endswith("bias"):\n            continue\n        *path, part =',
        ),
        Mistake(
            "only the first layer returned",
            "You return only layer 0. The number after h. is the number of the layer, and it may have two digits.",
            "        else:\n            layer, place", '        elif path[1] == "0":\n            layer, place',
        ),
        Mistake(
            "last norm left out",
            "norm.weight and norm.bias are missing. ln_f does not belong to any layer, but it has to be translated as well.",
            "if path[0] in PLACES:", 'if path[0] in ("wte", "wpe"):',
        ),
        Mistake(
            "names of a GPT2Model not accepted",
            "Your names are correct if the names in the file have the prefix `transformer.`. A GPT2Model has no head, and its "
            "names have no prefix; for such a model you return nothing.",
            "    ours = {}\n", '    ours = {}\n    theirs = {name: value for name, value in theirs.items() if name.startswith("transformer.")}\n',
        ),
    ),
    alternatives={
        "one layer after the other": """
def gpt2_names(theirs):
    theirs = {name.replace("transformer.", ""): value for name, value in theirs.items()}
    ours = {"token.weight": theirs["wte.weight"], "position.weight": theirs["wpe.weight"]}
    ours |= {f"norm.{part}": theirs[f"ln_f.{part}"] for part in ("weight", "bias")}
    layers = 1 + max(int(name.split(".")[1]) for name in theirs if name.startswith("h."))
    for i in range(layers):
        for part in ("weight", "bias"):
            for norm in ("ln_1", "ln_2"):
                ours[f"layers.{i}.{PLACES[norm]}.{part}"] = theirs[f"h.{i}.{norm}.{part}"]
            for place in ("attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
                ours[f"layers.{i}.{PLACES[place]}.{part}"] = theirs[f"h.{i}.{place}.{part}"].t().contiguous()
            q, k, v = theirs[f"h.{i}.attn.c_attn.{part}"].t().chunk(3, dim=0)
            ours[f"layers.{i}.attention.query.{part}"] = q
            ours[f"layers.{i}.attention.key.{part}"] = k
            ours[f"layers.{i}.attention.value.{part}"] = v
    return ours
""",
        "a regular expression": """
import re
def gpt2_names(theirs):
    found = {}
    for name, value in theirs.items():
        name = re.sub(r"^transformer\\.", "", name)
        if name.startswith("lm_head") or re.search(r"\\.attn\\.(masked_)?bias$", name):
            continue
        name = re.sub(r"^h\\.", "layers.", name)
        if "c_" in name and name.endswith("weight"):
            value = value.transpose(0, 1)
        if "c_attn" in name:
            D = value.shape[0] // 3
            for number, which in enumerate(["query", "key", "value"]):
                found[name.replace("attn.c_attn", f"attention.{which}")] = value[number * D : (number + 1) * D]
            continue
        for old, new in PLACES.items():
            name = re.sub(rf"(^|\\.){re.escape(old)}\\.", rf"\\g<1>{new}.", name)
        found[name] = value
    return found
""",
    },
    survivors={
        "→ `value = value.T`": "a vector transposed is itself",
        "path[-1] in PLACES": "outside the layers a name has one piece before weight or bias, which is the first and the last",
        "PLACES[path[-1]]": "the same",
    },
    hints=(
        "How is each component of the name transformer.h.1.attn.c_attn.weight translated? How many new names result from this name?",
        "c_attn.weight: (D, 3D), its bias: (3D). Each of query, key and value: weight (D, D), bias (D). mlp.c_fc.weight: (D, "
        "F); widen.weight: (F, D).",
        "for each name and value:\n    remove the prefix and split: first component, layer number, place, weight or bias\n    leave out "
        "names that are not in the table\n    in layers: transpose matrices\n    c_attn: three thirds, three names\n    everything else: "
        "one name",
        "A near miss: attn.c_proj is D × D, so it loads without a transpose, and the model runs, but with different outputs.",
    ),
)

# ------------------------------------------------------------------------------------------ shifted loss


def loss_cases(draw: Draw) -> Iterator[Case]:
    """Sentences of several lengths, one of them without padding; pad is 0 or another id and may occur at the start or
    inside."""
    for batch, T, V, anywhere in ((3, 5, 9, False), (2, 8, 12, False), (5, 6, 7, True), (4, 7, 10, True)):
        pad = 0 if V == 12 else int(draw.integers(1, V))
        words = np.delete(np.arange(V), pad)
        ids = words[draw.integers(0, V - 1, batch, T)]
        lengths = draw.integers(2, T, batch)
        lengths[:2] = T, T - 2
        ids[np.arange(T) >= lengths[:, None]] = pad
        if anywhere:
            ids[0, 2] = pad
            ids[1] = ids[1, ::-1]
            ids[2, 1:] = pad  # nothing is predicted there
        yield {"logits": draw.normal(batch, T, V, scale=2.0), "ids": ids, "pad": pad}


PREDICTED = "predicted, target = logits[:, :-1], ids[:, 1:]"
CROSS = (
    "torch.nn.functional.cross_entropy(\n"
    "        predicted.flatten(0, 1), target.flatten(), ignore_index=pad\n    )"
)

shift_loss = Exercise(
    cases=loss_cases,
    mistakes=(
        Mistake(
            "labels not shifted",
            "You compare the prediction at each position with the token at this position, which the model has already seen. "
            "Each position should predict the next token.",
            PREDICTED, "predicted, target = logits, ids",
        ),
        Mistake(
            "labels shifted twice",
            "You compare the prediction at position t with token t + 2, so you shift once too often. (This error is common if "
            "a data set contains labels that are already shifted.)",
            PREDICTED, "predicted, target = logits[:, :-2], ids[:, 2:]",
        ),
        Mistake(
            "labels shifted the wrong way",
            "You compare the prediction at position t with token t − 1, which the model has already seen.",
            PREDICTED, "predicted, target = logits[:, 1:], ids[:, :-1]",
        ),
        Mistake(
            "first token as the last target",
            "Your last position has to predict the first token of its sentence. The last position has no next token, so leave "
            "it out.",
            PREDICTED, "predicted, target = logits, ids.roll(-1, dims=1)",
        ),
        Mistake(
            "padding counted",
            "Your loss is correct for sentences without padding. With padding, your loss would train the model to generate "
            "padding.",
            ", ignore_index=pad", "",
        ),
        Mistake(
            "sum instead of mean",
            "Your loss grows with the number of tokens. Return the mean, as the docstring requires.",
            "ignore_index=pad", 'ignore_index=pad, reduction="sum"',
        ),
        Mistake(
            "mean of sentence means",
            "You average within each sentence first, so a word in a short sentence has more weight. Every predicted token "
            "should have the same weight.",
            f"return {CROSS}",
            "losses = torch.nn.functional.cross_entropy(predicted.transpose(1, 2), target, ignore_index=pad, "
            'reduction="none")\n    return (losses.sum(1) / (target != pad).sum(1)).mean()',
        ),
        Mistake(
            "padding counted in the divisor",
            "Your sum excludes padding, but you divide by a number of tokens that includes padding.",
            f"return {CROSS}",
            "losses = torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad, "
            'reduction="none")\n    return losses.mean()',
        ),
        Mistake(
            "softmax applied twice",
            "You apply the softmax twice. The cross-entropy function expects logits.",
            "predicted.flatten(0, 1)", "predicted.flatten(0, 1).softmax(dim=-1)",
        ),
        Mistake(
            "positions left out because their input is padding, not their target",
            "You leave out the positions whose *input* is padding, but you should look at the target. In your loss, the last "
            "word of a sentence still has to predict padding.",
            f"return {CROSS}",
            "real = ids[:, :-1] != pad\n    return torch.nn.functional.cross_entropy(predicted[real], target[real])",
        ),
        Mistake(
            "positions left out because their input or their target is padding",
            "You also leave out words *after* a pad token. Padding may come first, so leave out only those targets that are "
            "pad tokens themselves.",
            f"return {CROSS}",
            "real = (target != pad) & (ids[:, :-1] != pad)\n    return torch.nn.functional.cross_entropy(predicted[real], target[real])",
        ),
        Mistake(
            "pad assumed to be 0",
            "Your loss ignores token 0, whatever pad is. The argument pad can be any id.",
            "ignore_index=pad", "ignore_index=0",
        ),
        Mistake(
            "labels shifted across sequences",
            "You flatten before you shift, so the last position of a sentence has to predict the first token of the next "
            "sentence in the batch.",
            PREDICTED, "predicted, target = logits.flatten(0, 1)[None, :-1], ids.flatten()[None, 1:]",
        ),
        Mistake(
            "negative logits averaged",
            "You average the negative logits. A logit becomes a log-probability only after it has been normalised over all V "
            "logits at its position, so apply a log-softmax first.",
            f"return {CROSS}",
            "chosen = predicted.gather(-1, target[..., None])[..., 0]\n    return -chosen[target != pad].mean()",
        ),
        Mistake(
            "negative probabilities averaged",
            "You average the negative probabilities of the next tokens. Take their logarithms first.",
            f"return {CROSS}",
            "chosen = predicted.softmax(-1).gather(-1, target[..., None])[..., 0]\n    return -chosen[target != pad].mean()",
        ),
        Mistake(
            "bits instead of nats",
            "Your loss is in bits. This course uses nats, so take the natural logarithm.",
            CROSS, f"{CROSS} / 0.6931471805599453",
        ),
    ),
    alternatives={
        "log-probabilities gathered": """
def shift_loss(logits, ids, pad):
    log_p = logits[:, :-1].double().log_softmax(-1)
    chosen = log_p.gather(-1, ids[:, 1:, None])[..., 0]
    return -chosen[ids[:, 1:] != pad].mean()
""",
        "labels of −100, as in Hugging Face": """
def shift_loss(logits, ids, pad):
    labels = ids.masked_fill(ids == pad, -100)
    labels = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels)
""",
        "two loops": """
def shift_loss(logits, ids, pad):
    losses = []
    for b in range(len(ids)):
        for t in range(ids.shape[1] - 1):
            if ids[b, t + 1] != pad:
                losses.append(torch.logsumexp(logits[b, t], 0) - logits[b, t, ids[b, t + 1]])
    return sum(losses) / len(losses)
""",
    },
    hints=(
        "Write down three tokens a b c. Which logits should make b probable, and which should make c probable? Which logits and which token are left over?",
        "logits: (B, T, V), ids: (B, T). Both lose one position, at opposite ends: (B, T−1, V) and (B, T−1). Output: a single "
        "number.",
        "predictions = all positions but the last\ntargets = all tokens but the first\nmean of −log p(target), over the targets "
        "that are not pad",
        "A near miss: if you leave out the positions whose input is padding, you count one target too many, since the last word of a "
        "sentence then predicts the first pad.",
    ),
)

# ------------------------------------------------------------------------------------------ n-grams


def ngram_cases(draw: Draw) -> Iterator[Case]:
    """Sequences of few tokens, so that contexts recur, are unseen, or end a sequence; some are padded; n from 1 to 4."""
    for n, V, S, T, alpha in ((2, 9, 8, 7, 0.5), (3, 7, 9, 8, 0.1), (1, 8, 6, 7, 1.0), (4, 11, 10, 9, 0.02)):
        pad = 0 if n == 2 else V - 2
        words = np.delete(np.arange(V), [pad, V - 1])[: 3 if n > 2 else 5]  # V − 1 never occurs in `train`
        rows = [words[draw.integers(0, len(words), 12, S)], words[draw.integers(0, len(words), 5, T)]]
        for ids in rows:
            ids[:, 0] = words[0]
        rows[0][:6, 1 : n + 1] = words[1]  # begins all sequences in one way, and `ids` in part in another
        rows[1][2:, 1] = words[2]
        rows[1][0, 2] = V - 1  # a token, and then a context, that `train` does not contain
        for ids in rows:
            ends = draw.integers(3, ids.shape[1] - 1, len(ids))
            ends[0], ends[1] = ids.shape[1], 4
            ids[np.arange(ids.shape[1]) >= ends[:, None]] = pad
        yield {"train": rows[0], "ids": rows[1], "n": n, "V": V, "alpha": alpha, "pad": pad}


OF_TRAIN = "for _, _, context, token in predictions(train):"
SMOOTHED = "(followed[context, token] + alpha) / (total[context] + alpha * V)"

ngram = Exercise(
    cases=ngram_cases,
    rule=Rule(axes={"": "B t"}),
    mistakes=(
        Mistake(
            "context of n tokens",
            "Your contexts are one token too long. An n-gram consists of n tokens *including* the predicted one, so a bigram "
            "model uses one token of context.",
            "t - n + 1", "t - n",
        ),
        Mistake(
            "context of n − 2 tokens",
            "Your contexts are one token too short. A trigram model predicts a token from the two tokens before it.",
            "t - n + 1", "t - n + 2",
        ),
        Mistake(
            "one token of context, whatever n is",
            "Your model always uses one token of context. The context should consist of n − 1 tokens.",
            "max(0, t - n + 1)", "t - 1",
        ),
        Mistake(
            "negative start of a slice",
            "Your answer is wrong near the beginning of a sequence, where there are fewer than n − 1 tokens of context. There, "
            "your slice starts at a negative index, which Python counts from the end.",
            "max(0, t - n + 1)", "t - n + 1",
        ),
        Mistake(
            "short contexts not counted",
            "You do not count tokens that have fewer than n − 1 tokens before them, so at the beginning of a sequence your model "
            "predicts a uniform distribution. The context of such a token consists of all tokens before it.",
            edits={
                "followed[context, token] += 1": "followed[context, token] += len(context) == n - 1",
                "total[context] += 1": "total[context] += len(context) == n - 1",
            },
        ),
        Mistake(
            "tokens with short contexts left out",
            "You leave out tokens that have fewer than n − 1 tokens before them. Their context consists of all tokens before "
            "them.",
            "range(1, len(row))", "range(max(1, n - 1), len(row))",
        ),
        Mistake(
            "order of the context ignored",
            "You treat contexts with the same tokens in a different order as the same context.",
            "tuple(row[max(0, t - n + 1) : t])", "tuple(sorted(row[max(0, t - n + 1) : t]))",
        ),
        Mistake(
            "α only in the numerator",
            "Your probabilities do not sum to 1 over the vocabulary. If α is added to the count of each of V tokens, how much is "
            "added to the count of the context?",
            SMOOTHED, "(followed[context, token] + alpha) / max(total[context], 1)",
        ),
        Mistake(
            "α added only once to the count of the context",
            "Your probabilities do not sum to 1 over the vocabulary. You add α to the count of the context once, but α was added "
            "to the counts of V tokens.",
            "alpha * V", "alpha",
        ),
        Mistake(
            "α only in the denominator",
            "A token that never followed its context has a log-probability of −∞ in your answer. Add α to its count, too.",
            edits={"(followed[context, token] + alpha)": "followed[context, token]", "= log(p)": '= log(p) if p else -float("inf")'},
        ),
        Mistake(
            "no smoothing",
            "A token that never followed its context has a log-probability of −∞ in your answer. Use the formula with α.",
            edits={
                SMOOTHED: "followed[context, token] / max(total[context], 1)",
                "= log(p)": '= log(p) if p else -float("inf")',
            },
        ),
        Mistake(
            "observed tokens instead of the vocabulary",
            "You multiply α by the number of different tokens that occur in train. V is given, and some tokens of the vocabulary "
            "may not occur.",
            "alpha * V", "alpha * len(train.unique())",
        ),
        Mistake(
            "counts from the sentences to be predicted",
            "You count in ids, the sentences that the model has to predict. Count in train.",
            "predictions(train)", "predictions(ids)",
        ),
        Mistake(
            "predicted sentences counted as well",
            "You also count the sentences that the model has to predict, so the model has seen every answer. Count only in train.",
            "in predictions(train):", "in [*predictions(train), *predictions(ids)]:",
        ),
        Mistake(
            "context counted where no token follows",
            "You count every occurrence of a context, including those at the end of a sentence, where no token follows. Your "
            "probabilities therefore sum to less than 1.",
            "log_p = torch.zeros(",
            "total = Counter(\n        tuple(row[max(0, t - n + 1) : t])\n        for row in train.tolist()\n"
            "        for t in range(1, len(row) + 1) if t == len(row) or row[t - 1] != pad\n    )\n    log_p = torch.zeros(",
        ),
        Mistake(
            "joint probability",
            "You divide by the number of all n-grams, which gives the probability of the context and the token together. "
            "Divide by the count of the context.",
            "total[context] + alpha", "total.total() + alpha",
        ),
        Mistake(
            "padding predicted",
            "You treat padding like any other token. Leave padding out of the counts and out of the predictions.",
            "if row[t] != pad:", "if True:",
        ),
        Mistake(
            "padding counted but not predicted",
            "You count padding as a token that follows a context. Leave it out when you count.",
            OF_TRAIN,
            "everything = ((tuple(row[max(0, t - n + 1) : t]), row[t]) for row in train.tolist() for t in range(1, len(row)))\n"
            "    for context, token in everything:",
        ),
        Mistake(
            "probabilities instead of their logarithms",
            "Your entries are probabilities. Return their logarithms.",
            "= log(p)", "= p",
        ),
        Mistake(
            "sign reversed",
            "Your entries are −log p. Return log p; the notebook changes the sign when it computes the cross-entropy.",
            "= log(p)", "= -log(p)",
        ),
        Mistake(
            "bits instead of nats",
            "Your logarithms have base 2. This course uses nats, so take the natural logarithm.",
            "= log(p)", "= log(p) / log(2)",
        ),
        Mistake(
            "an entry for the first token",
            "Your answer has an entry for the first token of each row, which has no context. Entry t belongs to token t + 1.",
            edits={"ids.shape[1] - 1": "ids.shape[1]", "yield b, t - 1,": "yield b, t,"},
        ),
    ),
    alternatives={
        "markers for missing context, all windows compared": """
def ngram(train, ids, n, V, alpha, pad):
    def windows(rows):
        start = torch.full((len(rows), max(n - 2, 0)), -1)
        return torch.cat([start, rows.long()], dim=1).unfold(1, n, 1)[:, 1 if n == 1 else 0 :]
    seen = windows(train).flatten(0, 1)
    seen = seen[seen[:, -1] != pad]
    asked = windows(ids)
    same_context = (asked[:, :, None, :-1] == seen[:, :-1]).all(-1)
    same_token = asked[:, :, None, -1] == seen[:, -1]
    followed = (same_context & same_token).sum(-1)
    log_p = ((followed + alpha) / (same_context.sum(-1) + alpha * V)).log()
    return log_p.masked_fill(asked[..., -1] == pad, 0)
""",
        "dictionaries of distributions": """
def ngram(train, ids, n, V, alpha, pad):
    import numpy as np
    counts = {}
    for row in train:
        words = [int(token) for token in row if token != pad]
        for t in range(1, len(words)):
            key = " ".join(map(str, words[:t][-(n - 1):] if n > 1 else []))
            counts.setdefault(key, np.zeros(V))[words[t]] += 1
    rows = []
    for row in ids.numpy():
        entries = []
        for t in range(1, len(row)):
            key = " ".join(map(str, row[:t][-(n - 1):] if n > 1 else []))
            smoothed = counts.get(key, np.zeros(V)) + alpha
            entries.append(0.0 if row[t] == pad else np.log(smoothed[row[t]] / smoothed.sum()))
        rows.append(entries)
    return np.array(rows)
""",
        "difference of two logarithms": """
def ngram(train, ids, n, V, alpha, pad):
    from collections import defaultdict
    counts = defaultdict(lambda: defaultdict(int))
    for row in train.tolist():
        for t, token in enumerate(row):
            if t and token != pad:
                counts[tuple(row[:t][max(t - (n - 1), 0):])][token] += 1
    log_p = torch.zeros(ids[:, 1:].shape)
    for b, row in enumerate(ids.tolist()):
        for t, token in enumerate(row[1:]):
            if token == pad:
                continue
            here = counts[tuple(row[: t + 1][max(t + 1 - (n - 1), 0):])]
            log_p[b, t] = log(here[token] + alpha) - log(sum(here.values()) + alpha * V)
    return log_p
""",
    },
    hints=(
        "Take the sentence a b c d and n = 3. The model predicts three tokens, one of them from a context of fewer than n − 1 tokens. "
        "Which token does it predict from which context?",
        "train: (N, S), ids: (B, T). Output: (B, T − 1). Two tables of counts are enough: one for pairs of a context and a token, and one for "
        "contexts.",
        "for each token of train but the first of a row, except padding:\n    context = the n − 1 tokens before it\n    add 1 to the count of (context, token) and of the context\n"
        "for each such token of ids:\n    log((count of the pair + α) / (count of the context + αV))",
        "A near miss: row[t − n + 1 : t] is wrong if t < n − 1, because a negative index counts from the end of the row.",
    ),
)

# ------------------------------------------------------------------------------------------ sampling


def sample_cases(draw: Draw) -> Iterator[Case]:
    """k from 1 to V; each case has a draw of 0 where token 0 has probability 0; the last case has logits of −∞."""
    for rows, V, k, temperature in (
        (24, 9, 4, 0.6),
        (30, 12, 7, 1.7),
        (20, 7, 3, 2.5),
        (8, 6, 1, 0.8),
        (10, 5, 5, 1.3),
    ):
        logits = draw.normal(rows, V, scale=1.5)
        logits += logits.argsort(axis=1).argsort(axis=1) / 32  # so that no two are close to each other
        draws = draw.uniform(rows, low=0.02, high=0.98)
        draws[0] = 0.0  # the first token with a positive probability
        logits[0, 0] = logits[0].min() - 1
        if k == V:  # as top-p leaves them
            logits[:4, 0], logits[2:6, -1] = -np.inf, -np.inf
        draws = off_the_edges(logits, draws, temperature, k)
        yield {"logits": logits, "draws": draws, "temperature": temperature, "k": k}


def off_the_edges(logits: np.ndarray, draws: np.ndarray, temperature: float, k: int) -> np.ndarray:
    """The draws, except that a draw whose token depends on the rounding of a sum is moved to the middle of its token's
    segment."""
    kept = np.where(logits >= np.sort(logits, axis=1)[:, [-k]], logits.astype(np.float64), -np.inf)
    weights = np.exp((kept - kept.max(axis=1, keepdims=True)) / temperature)
    ends = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    owner = (ends > draws[:, None]).argmax(axis=1)
    end = ends[np.arange(len(draws)), owner]
    begin = np.where(owner > 0, ends[np.arange(len(draws)), owner - 1], 0)
    close = (np.abs(ends - draws[:, None]) < 1e-3).any(axis=1) & (draws > 0)
    return np.where(close, (begin + end) / 2, draws).astype(np.float32)


CUT = "logits.masked_fill(logits < threshold, -torch.inf)"
INVERSE = "(probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)"

sample = Exercise(
    cases=sample_cases,
    survivors={"sorted=True": "The order of the k largest logits does not change the smallest of them."},
    rule=Rule(axes={"0": "B V", "1": "B"}),
    mistakes=(
        Mistake(
            "logits multiplied by the temperature",
            "A high temperature makes your distribution sharper, and a low temperature makes it flatter. The effect should be "
            "the opposite.",
            " / temperature)", " * temperature)",
        ),
        Mistake(
            "temperature not used",
            "Your probabilities do not depend on the temperature. Divide the logits by it.",
            " / temperature)", ")",
        ),
        Mistake(
            "top-k not applied",
            "All your tokens keep a positive probability. Only the k most probable tokens should keep one.",
            CUT, "logits",
        ),
        Mistake(
            "k + 1 tokens kept",
            "You keep k + 1 tokens instead of k.",
            "logits.topk(k,", "logits.topk(min(k + 1, logits.shape[1]),",
        ),
        Mistake(
            "least probable tokens kept",
            "You keep the k least probable tokens. Keep the most probable tokens instead.",
            CUT, "logits.masked_fill(logits > logits.topk(k, largest=False).values[:, -1:], -torch.inf)",
        ),
        Mistake(
            "tokens removed after the softmax",
            "Your probabilities no longer sum to 1. The probability that you remove must be distributed among the remaining "
            "tokens.",
            "probabilities = (kept / temperature).softmax(dim=-1)",
            "probabilities = (logits / temperature).softmax(dim=-1)"
            ".masked_fill(kept == -torch.inf, 0)",
        ),
        Mistake(
            "most probable token always chosen",
            "Your probabilities are correct. However, you do not use the draws: you always choose the most probable token.",
            INVERSE, "probabilities.argmax(dim=-1)",
        ),
        Mistake(
            "ranks instead of token ids",
            "Your probabilities are correct. However, you return ranks among the sorted tokens. Convert the ranks back to "
            "ids.",
            INVERSE,
            "(probabilities.sort(dim=-1, descending=True).values.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)",
        ),
        Mistake(
            "probabilities accumulated from the last token",
            "Your probabilities are correct. However, you accumulate them from the last token backwards. Start with token 0.",
            INVERSE,
            "logits.shape[1] - 1 - (probabilities.flip(-1).cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)",
        ),
        Mistake(
            "probabilities divided by the temperature",
            "Your probabilities do not sum to 1, because you divide the probabilities by the temperature. Divide the logits "
            "before the softmax.",
            "(kept / temperature).softmax(dim=-1)", "kept.softmax(dim=-1) / temperature",
        ),
        Mistake(
            "token before the correct one",
            "Your probabilities are correct. However, you choose the token before the first token whose cumulative "
            "probability exceeds the draw.",
            INVERSE, f"({INVERSE} - 1).clamp(min=0)",
        ),
        Mistake(
            "token after the correct one",
            "Your probabilities are correct. However, you choose the token after the first token whose cumulative probability "
            "exceeds the draw.",
            INVERSE, f"({INVERSE} + 1).clamp(max=logits.shape[1] - 1)",
        ),
        Mistake(
            "equality with the draw accepted",
            "You choose a token whose cumulative probability *equals* the draw, but the cumulative probability must exceed "
            "the draw. With a draw of 0 you choose token 0, even if its probability is 0.",
            "> draws[:, None]", ">= draws[:, None]",
        ),
        Mistake(
            "segments arranged by size",
            "Your probabilities are correct, and you return ids. However, you arrange the segments by size, whereas the "
            "docstring requires the order of the vocabulary.",
            f"return probabilities, {INVERSE}",
            "ordered, tokens = probabilities.sort(dim=-1, descending=True)\n"
            "    place = (ordered.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)\n"
            "    return probabilities, tokens.gather(-1, place[:, None])[:, 0]",
        ),
        Mistake(
            "k-th token removed",
            "You keep only k − 1 tokens. The k-th largest logit itself should be kept.",
            "logits < threshold", "logits <= threshold",
            also=(
                """
def sample(logits, draws, temperature, k):
    kept = logits
    if k < logits.shape[1]:
        kept = logits.masked_fill(logits <= logits.topk(k).values[:, -1:], -torch.inf)
    probabilities = (kept / temperature).softmax(dim=-1)
    return probabilities, (probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)
""",
            ),
        ),
        Mistake(
            "one threshold for all rows",
            "Some of your rows keep more than k tokens, because you use a single threshold for all rows. Each row has its own "
            "k-th largest logit.",
            "logits < threshold", "logits < threshold.min()",
        ),
        Mistake(
            "removed logits set to 0",
            "The tokens that you remove keep a positive probability, because a logit of 0 has the weight exp(0) = 1 before "
            "normalisation.",
            CUT, "logits.masked_fill(logits < threshold, 0.0)",
        ),
        Mistake(
            "first draw used for all rows",
            "Your probabilities are correct. However, you compare all rows with the first draw, although each row has its own "
            "draw.",
            "> draws[:, None]", "> draws[0]",
        ),
        Mistake(
            "tokens and probabilities swapped",
            "The two results in your tuple are swapped. Return the probabilities first.",
            f"return probabilities, {INVERSE}", f"return {INVERSE}, probabilities",
        ),
    ),
    alternatives={
        "searchsorted, in float64": """
def sample(logits, draws, temperature, k):
    best = logits.topk(k, dim=-1)
    kept = torch.full_like(logits, -torch.inf).scatter(1, best.indices, best.values)
    probabilities = torch.softmax(kept.double() / temperature, dim=-1)
    return probabilities, torch.searchsorted(probabilities.cumsum(-1), draws.double()[:, None], right=True)[:, 0]
""",
        "powers of probabilities, row by row": """
def sample(logits, draws, temperature, k):
    all_probabilities, tokens = [], []
    for row, draw in zip(logits, draws):
        p = row.softmax(0) ** (1 / temperature)
        p[row.argsort(descending=True)[k:]] = 0
        p = p / p.sum()
        total = 0.0
        for token in range(len(p)):
            total += p[token].item()
            if total > draw.item():
                break
        all_probabilities.append(p)
        tokens.append(token)
    return torch.stack(all_probabilities), torch.tensor(tokens)
""",
        "numpy": """
import numpy as np
def sample(logits, draws, temperature, k):
    z = logits.numpy() / temperature
    kept = np.where(z >= np.sort(z, axis=1)[:, [-k]], z, -np.inf)
    p = np.exp(kept - kept.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1) <= draws.numpy()[:, None]).sum(axis=1)
""",
    },
    hints=(
        "Arrange the probabilities as segments on a line from 0 to 1. A draw is a point on this line. Which token's segment "
        "contains it?",
        "logits, probabilities: (B, V). draws and tokens: (B). The k-th largest logit of each row, for the comparison: (B, 1).",
        "kept = logits, minus infinity where they are not among the k largest\nprobabilities = softmax of kept divided by the "
        "temperature\ncumulative = cumulative sums of the probabilities along the vocabulary\ntoken = first position where "
        "cumulative exceeds the draw",
        "A near miss: setting small probabilities to 0 leaves a row that sums to less than 1, and a draw near 1 then selects "
        "no token at all.",
    ),
)

# ------------------------------------------------------------------------------------------ top-p


def top_p_cases(draw: Draw) -> Iterator[Case]:
    """Rows in which a single token exceeds p, rows that need all tokens, rows with zeros, and rows with a sum of exactly p."""
    for rows, V, p in ((12, 8, 0.7), (9, 14, 0.9), (15, 6, 0.45), (7, 5, 0.9375)):
        probabilities = np.stack([row_off(p, draw, V) for _ in range(rows)])
        probabilities[0] = row_off(p, draw, V, alone=V // 2)
        probabilities[1] = row_off(p, draw, V, scale=0.05)
        probabilities[2, :-2] = row_off(p, draw, V - 2)
        probabilities[2, -2:] = 0
        if V == 5:  # sums without rounding: 15/16 after three tokens, and after two
            probabilities[3] = draw.rng.permutation([1 / 2, 1 / 4, 3 / 16, 1 / 16, 0])
            probabilities[4] = draw.rng.permutation([1 / 2, 7 / 16, 1 / 16, 0, 0])
        yield {"probabilities": probabilities, "p": p}


def row_off(p: float, draw: Draw, V: int, scale: float = 1.5, alone: int = -1) -> np.ndarray:
    """Probabilities of which no two are close and no cumulative sum is close to p, so that rounding never matters."""
    while True:
        logits = draw.normal(V, scale=scale).astype(np.float64)
        if alone >= 0:
            logits[alone] = logits.max() + 6
        row = np.exp(logits) / np.exp(logits).sum()
        ordered = np.sort(row)[::-1]
        if np.abs(ordered.cumsum() - p).min() > 1e-3 and -np.diff(ordered).max() > 1e-6:
            return row.astype(np.float32)


KEPT = "ordered.masked_fill(before >= p, 0)"
BEFORE = "before = ordered.cumsum(dim=-1) - ordered"

top_p = Exercise(
    cases=top_p_cases,
    rule=Rule(axes={"": "B V"}),
    mistakes=(
        Mistake(
            "token that crosses p removed",
            "The tokens that you keep have a total probability of at most p (if a single token exceeds p, no token is left, "
            "and you compute 0/0). The token that crosses p also belongs to the nucleus.",
            "before >= p", "before + ordered > p",
        ),
        Mistake(
            "token that crosses p removed unless it is the first",
            "The tokens that you keep have a total probability of at most p, unless the first token alone exceeds p. The "
            "token that crosses p also belongs to the nucleus.",
            "before >= p", "(before + ordered > p) & (before > 0)",
        ),
        Mistake(
            "one token too many at a sum of exactly p",
            "If a cumulative sum is exactly p, you keep one token too many. In this case the sum has already reached p, and "
            "the nucleus is the smallest such set.",
            "before >= p", "before > p",
        ),
        Mistake(
            "softmax instead of a division",
            "Your rows sum to 1, but you apply a softmax, which gives tokens outside the nucleus the weight exp(0) = 1. "
            "Divide by the sum of the row instead.",
            "return kept / kept.sum(dim=-1, keepdim=True)", "return kept.softmax(dim=-1)",
        ),
        Mistake(
            "division by the sum of all rows",
            "All your probabilities together sum to 1. Each row should sum to 1.",
            "kept.sum(dim=-1, keepdim=True)", "kept.sum()",
        ),
        Mistake(
            "same number of tokens in every row",
            "In each row you keep as many tokens as in the row that needs the most tokens. Each row has its own nucleus.",
            "before >= p", "torch.arange(ordered.shape[1]) >= (before < p).sum(dim=1).max()",
        ),
        Mistake(
            "one token too many kept",
            "You keep one more token after the sum has reached p.",
            BEFORE, "before = torch.nn.functional.pad((ordered.cumsum(dim=-1) - ordered), (1, 0))[:, :-1]",
        ),
        Mistake(
            "probabilities not normalised",
            "The probabilities that you keep do not sum to 1. Divide them by their sum.",
            "return kept / kept.sum(dim=-1, keepdim=True)", "return kept",
        ),
        Mistake(
            "single probabilities compared with p",
            "You compare each single probability with p. The sum of the probabilities must reach p.",
            "before >= p", "(ordered < p) & (ordered < ordered[:, :1])",
            also=(
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities >= p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities >= p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-9)
""",
                """
def top_p(probabilities, p):
    kept = torch.where(probabilities > p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
            ),
        ),
        Mistake(
            "probabilities not sorted",
            "You accumulate the probabilities in the order of the vocabulary. Start with the most probable token.",
            "probabilities.sort(dim=-1, descending=True)",
            "probabilities, torch.arange(probabilities.shape[1]).expand(probabilities.shape)",
        ),
        Mistake(
            "probabilities sorted in ascending order",
            "You keep the least probable tokens, because you sort in ascending order.",
            "descending=True", "descending=False",
        ),
        Mistake(
            "probabilities left in sorted order",
            "Your probabilities are correct but sorted by size. Return each of them to the position of its own token.",
            "torch.zeros_like(probabilities).scatter(-1, tokens, kept)", "kept",
        ),
        Mistake(
            "permutation not inverted",
            "Your probabilities are correct but assigned to the wrong tokens. You used the permutation that sorts them "
            "instead of its inverse.",
            "torch.zeros_like(probabilities).scatter(-1, tokens, kept)", "kept.gather(-1, tokens)",
        ),
        Mistake(
            "total probability of p removed instead of kept",
            "You remove a total probability of p and keep the rest, so a larger p leaves fewer tokens.",
            "before >= p", "before >= 1 - p",
        ),
    ),
    alternatives={
        "from an ascending sort": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.double().sort(dim=-1)
    gone = ordered.cumsum(-1) <= 1 - p
    kept = ordered.masked_fill(gone, 0).scatter(-1, tokens, ordered.masked_fill(gone, 0))
    return kept / kept.sum(-1, keepdim=True)
""",
        "one token after the other": """
def top_p(probabilities, p):
    kept = torch.zeros_like(probabilities)
    for row, out in zip(probabilities, kept):
        total = 0.0
        for token in row.argsort(descending=True):
            if total >= p:
                break
            out[token] = row[token]
            total += row[token].item()
    return kept / kept.sum(1, keepdim=True)
""",
        "a threshold found for each row": """
import numpy as np
def top_p(probabilities, p):
    values = probabilities.numpy().astype(np.float64)
    ordered = -np.sort(-values, axis=1)
    last = (ordered.cumsum(axis=1) < p).sum(axis=1)
    threshold = np.take_along_axis(ordered, last[:, None], axis=1)
    kept = np.where(values >= threshold, values, 0)
    return kept / kept.sum(axis=1, keepdims=True)
""",
        "logits, as in Hugging Face": """
def top_p(probabilities, p):
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    remove = ordered.cumsum(dim=-1) >= p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    remove = remove.scatter(1, tokens, remove)
    return probabilities.log().masked_fill(remove, -torch.inf).softmax(-1)
""",
    },
    survivors={
        "→ `ordered, tokens = probabilities.sort(descending=True)`": "the axis is the default",
    },
    hints=(
        "Take the sorted probabilities 0.5, 0.3, 0.15, 0.05 and p = 0.6. Which tokens do you need for a sum of at least 0.6?",
        "probabilities, sorted probabilities, cumulative sums: (B, V). Sorting also returns the id of each value: (B, V). "
        "Output: (B, V), in the order of the vocabulary.",
        "sort each row in descending order\nfor each token: sum the probabilities of all more probable tokens\nkeep the token if this "
        "sum is less than p\nreturn the kept values to the positions of their tokens; divide by their sum",
        "A near miss: if you keep tokens while the cumulative sum is at most p, you remove the token that crosses p. If the first token alone exceeds p, you remove all tokens.",
    ),
)

# ------------------------------------------------------------------------------------------ few-shot prompt


def prompt_cases(draw: Draw) -> Iterator[Case]:
    def some(low: int, high: int) -> list[int]:
        return [int(one) for one in draw.integers(10, 500, int(draw.integers(low, high)))]

    # The first label has two ids.
    for count, marks in ((3, 2), (0, 1), (5, 3), (1, 2)):
        yield {
            "texts": [some(3, 8) for _ in range(count)],
            "labels": [some(1 + (number == 0), 3) for number in range(count)],
            "query": some(4, 9),
            "mark": np.array(some(marks, marks + 1)),
            "end": np.array(some(5 - marks, 6 - marks)),
        }


DEMO = "prompt += [*text, *mark, *label, *end]"
QUERY = "torch.tensor(prompt + [*query, *mark])"

few_shot_prompt = Exercise(
    cases=prompt_cases,
    rule=Rule("equal", axes={"": "tokens"}),
    mistakes=(
        Mistake(
            "no mark after the query",
            "Your prompt ends with the text of the query, so the model would continue this text. Which part of the prompt "
            "makes the model generate a label?",
            QUERY, "torch.tensor(prompt + [*query])",
        ),
        Mistake(
            "end after the query's mark",
            "Your prompt contains `end` after the query, so the answer is marked as finished before the model has generated "
            "it.",
            QUERY, "torch.tensor(prompt + [*query, *mark, *end])",
        ),
        Mistake(
            "examples not separated",
            "In your prompt each text follows the previous label directly. Add `end` after each example.",
            DEMO, "prompt += [*text, *mark, *label]",
        ),
        Mistake(
            "no end after the last example",
            "In your prompt the query follows the last label directly. `end` should come after *each* example, not only "
            "between examples.",
            DEMO, "prompt += [*(end if prompt else []), *text, *mark, *label]",
        ),
        Mistake(
            "only the first id of each label",
            "You use only the first id of each label. A label may consist of several tokens.",
            DEMO, "prompt += [*text, *mark, label[0], *end]",
        ),
        Mistake(
            "only the first id of mark and end",
            "You use only the first id of mark and the first id of end. Both may consist of several tokens.",
            edits={
                DEMO: "prompt += [*text, mark[0], *label, end[0]]",
                QUERY: "torch.tensor(prompt + [*query, mark[0]])",
            },
        ),
        Mistake(
            "error raised without examples",
            "Your function raises an error if demos is empty. Without examples the prompt consists of the query and mark.",
            code="""
def few_shot_prompt(demos, query, mark, end):
    blocks = [torch.cat([torch.tensor(text), mark, torch.tensor(label), end]) for text, label in demos]
    return torch.cat([torch.cat(blocks), torch.tensor(query), mark])
""",
            also=(
                """
def few_shot_prompt(demos, query, mark, end):
    texts, labels = zip(*demos)
    blocks = [[*text, *mark, *label, *end] for text, label in zip(texts, labels)]
    return torch.tensor(sum(blocks, []) + [*query, *mark])
""",
                """
def few_shot_prompt(demos, query, mark, end):
    blocks = [torch.cat([torch.tensor(text), mark, torch.tensor(label), end]) for text, label in demos]
    return torch.cat([torch.stack(blocks[:1])[0], *blocks[1:], torch.tensor(query), mark])
""",
            ),
        ),
        Mistake(
            "no mark in the examples",
            "In your examples, mark is missing between text and label. The examples must have the same format as the query.",
            DEMO, "prompt += [*text, *label, *end]",
        ),
        Mistake(
            "label before the mark",
            "In your examples the label comes before mark. In the query, the model generates the label after mark.",
            DEMO, "prompt += [*text, *label, *mark, *end]",
        ),
        Mistake(
            "query before the examples",
            "Your query comes before the examples. A decoder processes tokens from left to right. Which examples has it seen "
            "when it reaches the query?",
            QUERY, "torch.tensor([*query, *mark] + prompt)",
        ),
        Mistake(
            "examples in reverse order",
            "Your examples are in reverse order. The order may affect the answer, because the last example is closest to the "
            "query.",
            "in demos:", "in demos[::-1]:",
        ),
        Mistake(
            "all texts before all labels",
            "Your prompt contains all texts first, followed by all labels. Each label should follow its own text.",
            edits={
                "    for text, label in demos:": "    for text, _ in demos:\n        prompt += [*text, *mark]\n    for _, label in demos:",
                DEMO: "prompt += [*label, *end]",
            },
            also=(
                """
def few_shot_prompt(demos, query, mark, end):
    texts = [token for text, _ in demos for token in text]
    labels = [token for _, label in demos for token in label]
    return torch.tensor([*texts, *mark, *labels, *end, *query, *mark])
""",
            ),
        ),
        Mistake(
            "only the last example",
            "Your prompt contains only the last example. It should contain all examples in the given order.",
            DEMO, "prompt = [*text, *mark, *label, *end]",
        ),
        Mistake(
            "labels before the texts",
            "Each of your labels comes before its text. In the query, the model generates the label after the text.",
            DEMO, "prompt += [*label, *mark, *text, *end]",
        ),
    ),
    alternatives={
        "tensors joined": """
def few_shot_prompt(demos, query, mark, end):
    parts = []
    for text, label in demos:
        parts += [torch.tensor(text), mark, torch.tensor(label), end]
    return torch.cat([*parts, torch.tensor(query), mark])
""",
        "one comprehension": """
def few_shot_prompt(demos, query, mark, end):
    return torch.tensor([i for t, l in demos for i in (*t, *mark.tolist(), *l, *end.tolist())] + list(query) + mark.tolist())
""",
        "numpy": """
import numpy as np
def few_shot_prompt(demos, query, mark, end):
    blocks = [np.concatenate([text, mark.numpy(), label, end.numpy()]) for text, label in demos]
    return np.concatenate([*blocks, np.array(query), mark.numpy()]).astype(np.int64)
""",
    },
    hints=(
        "The model can only continue a text. How must the prompt end so that the label is the natural next token?",
        "demos: pairs of two lists of ids. query: a list. mark, end: tensors of ids. Output: one tensor of ids, with one axis.",
        "for each example: its text, mark, its label, end\nthen the query's text and mark\nnothing after that",
        "A near miss: if `end` is used only as a separator between the examples, the query follows the last label directly.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def label_cases(draw: Draw) -> Iterator[Case]:
    """A row truncated before its end, a row that ends in the last column, and rows with padding. Ids are below and above
    `end`."""
    for batch, T in ((4, 7), (5, 10), (3, 8)):
        end = int(draw.integers(20, 60))
        ids = np.delete(np.arange(90), end)[draw.integers(0, 89, batch, T)]
        ids[0, -1] = 0  # an ordinary word
        lengths = draw.integers(2, T - 2, batch)
        lengths[0], lengths[1] = T, T - 1  # truncated before its end; ends in the last column
        ids[np.arange(T) >= lengths[:, None]] = end
        yield {"ids": ids, "end": end}


IGNORED = "ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)"

mended_labels = Exercise(
    mends=True,
    cases=label_cases,
    rule=Rule("equal", axes={"": "B T"}),
    mistakes=(
        Mistake(
            "code of 2023 not corrected",
            "This is still the code of 2023, in whose labels the token `end` never occurs.",
            IGNORED, "ids.masked_fill(ids == end, -100)",
        ),
        Mistake(
            "padding not ignored",
            "Your labels include all padding, so the model would learn to generate padding, and half of its loss may come "
            "from padding.",
            IGNORED, "ids.clone()",
        ),
        Mistake(
            "only the first end ignored",
            "Your labels exclude the wrong tokens. The model has to learn to generate the first `end` of a row; only the "
            "`end` tokens after it are padding.",
            "> 1", "== 1",
        ),
        Mistake(
            "two ends kept",
            "You keep the `end` of the sentence and one token of padding. Keep only the first `end`.",
            "> 1", "> 2",
        ),
        Mistake(
            "last end kept",
            "You keep the `end` in the last column. However, the sentence ends at the first `end` of the row.",
            IGNORED, "ids.masked_fill((ids == end) & (torch.arange(ids.shape[1]) < ids.shape[1] - 1), -100)",
        ),
        Mistake(
            "labels shifted",
            "Your labels are shifted one position to the left. Here, as in Hugging Face's models, the loss function shifts "
            "the labels.",
            IGNORED, f"{IGNORED}.roll(-1, dims=1)",
            also=(
                """
def mended_labels(ids, end):
    labels = ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)
    return torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)
""",
                """
def mended_labels(ids, end):
    return ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)[:, 1:]
""",
            ),
        ),
        Mistake(
            "−1 instead of −100",
            "You mark ignored positions with −1. The loss ignores only −100, and it raises an error for −1.",
            "-100", "-1",
        ),
        Mistake(
            "ends counted along columns",
            "You count the ends along each *column*, that is, across the rows. Each row has its own first `end`.",
            "cumsum(dim=1)", "cumsum(dim=0)",
        ),
        Mistake(
            "truncated rows treated as ending at once",
            "Your labels are correct for rows with an `end`. In a truncated row, which has no `end`, you ignore all tokens "
            "but the first, because argmax returns 0 if there is no `end`.",
            IGNORED, "ids.masked_fill(torch.arange(ids.shape[1]) > (ids == end).int().argmax(dim=1)[:, None], -100)",
        ),
        Mistake(
            "end added to truncated rows",
            "Your labels are correct for rows with an `end`. In a truncated row, which has no `end`, you write an `end` into the "
            "last position. Each label should be the id itself or −100.",
            f"return {IGNORED}",
            f"labels = {IGNORED}\n    labels[:, -1] = torch.where((ids == end).any(dim=1), labels[:, -1], end)\n    return labels",
        ),
        Mistake(
            "0 instead of −100",
            "You mark ignored positions with the label 0, which the loss does not ignore.",
            "-100", "0",
        ),
        Mistake(
            "words ignored instead of padding",
            "Your labels ignore the words and keep the padding. They should keep the words and ignore the padding.",
            IGNORED, "ids.masked_fill((ids == end).cumsum(dim=1) <= 1, -100)",
        ),
    ),
    alternatives={
        "the place of the first end": """
def mended_labels(ids, end):
    T = ids.shape[1]
    is_end = ids == end
    first = torch.where(is_end.any(1), is_end.int().argmax(1), T)
    return torch.where(torch.arange(T) > first[:, None], -100, ids)
""",
        "an end whose neighbour on the left is an end": """
def mended_labels(ids, end):
    labels = ids.clone()
    again = (ids[:, 1:] == end) & (ids[:, :-1] == end)
    labels[:, 1:][again] = -100
    return labels
""",
        "a loop": """
def mended_labels(ids, end):
    labels = ids.tolist()
    for row in labels:
        if end in row:
            place = row.index(end)
            row[place + 1 :] = [-100] * (len(row) - place - 1)
    return torch.tensor(labels)
""",
    },
    hints=(
        "From which token should the model learn to stop? Mark this token in the sequence `the cat sleeps END END END`.",
        "Input: ids (B, T). Output: labels (B, T), not shifted: the ids, with −100 at some positions.",
        "count the ends of each row from the left\nwhere the count is above 1, the token is padding: −100\nkeep all other "
        "ids",
        "A near miss: `ids == end` finds all tokens that look like padding, including the first `end` of a row.",
    ),
)

# ------------------------------------------------------------------------------------------ extension


def beam_cases(draw: Draw) -> Iterator[Case]:
    """Random tables, with which sentences end early or not at all; then four cases, each of which tests one decision."""
    widths = (3, 4, 3, 5, 6, 5, 4, 3, 9)
    sizes = [(5 + number % 5, 6 + number % 4, width) for number, width in enumerate(widths)]
    for longest, V, width in sizes:
        bos, eos, pad = (int(token) for token in draw.rng.permutation(V)[:3])
        scores = draw.normal(1, longest, V, scale=0.5)
        words = draw.normal(V, V, scale=0.8)
        scores[:, :, [bos, pad]] = -8
        words[:, [bos, pad]] = 0
        if width > V:  # fewer prefixes than the beam has room for, and none of them ends
            scores[:, :, eos] = -8
            words[:, eos] = 0
        else:
            scores[:, 1:, eos] += 1.0  # the beam contains finished and unfinished sentences
        yield {
            "scores": scores,
            "words": words,
            "width": width,
            "longest": longest,
            "bos": bos,
            "eos": eos,
            "pad": pad,
        }
    yield two_from_one_beginning(draw)
    for at_once, goes_on in ((0.3, 0.6), (0.55, 0.4)):
        yield ended_or_not(draw, at_once, goes_on)
    yield ended_and_dropped(draw)


NEVER = -9.0


def two_from_one_beginning(draw: Draw) -> Case:
    """The best sentence extends the second-best continuation of the best first word: all prefixes have to compete."""
    V, longest = 7, 3
    bos, eos, pad, a, b, c, d = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = words[b] = NEVER
    scores[0, 0, [a, b]] = np.log([0.55, 0.38])
    words[a, [c, d]] = words[b, [c, d]] = np.log([0.52, 0.45])
    words[c] = words[d] = -words[a]  # undoes the scores of a; after c anything may follow, after d only a
    words[d] -= 5 * (np.arange(V) != a)
    words[c, [bos, pad]] += NEVER
    return made(draw, scores, words, 2, longest, bos, eos, pad)


def ended_or_not(draw: Draw, at_once: float, goes_on: float) -> Case:
    """A sentence that ends immediately and a sentence that never ends: the more probable sentence is the best."""
    V, longest = 6, 4
    bos, eos, pad, a, b, c = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = NEVER
    scores[0, 0, [a, eos]] = np.log([goes_on, at_once])
    words[a, b] = 0
    words[b] = -words[a] + NEVER * (np.arange(V) != c)
    return made(draw, scores, words, 3, longest, bos, eos, pad)


def ended_and_dropped(draw: Draw) -> Case:
    """A sentence that ends immediately falls out of the beam, although the other sentences later become less probable."""
    V, longest = 6, 3
    bos, eos, pad, a, b, c = (int(token) for token in draw.rng.permutation(V))
    scores, words = np.zeros((1, longest, V)), np.zeros((V, V))
    scores[0, 0] = words[a] = NEVER
    scores[0, 0, [a, eos]] = np.log([0.73, 0.25])
    words[a, [b, c]] = 0.1, 0
    words[[b, c]] = -words[a]  # after them anything may follow
    words[np.ix_([b, c], [bos, pad])] += NEVER
    return made(draw, scores, words, 2, longest, bos, eos, pad)


def made(draw: Draw, scores: np.ndarray, words: np.ndarray, width: int, longest: int, *tokens: int) -> Case:
    """The case, with slightly different tables in every draw."""
    scores, words = (
        table.astype(np.float32) + draw.normal(*table.shape, scale=0.02) for table in (scores, words)
    )
    bos, eos, pad = tokens
    return {
        "scores": scores,
        "words": words,
        "width": width,
        "longest": longest,
        "bos": bos,
        "eos": eos,
        "pad": pad,
    }


EXTENDED = "candidates = (total[:, None] + torch.where(ended[:, None], stay, log_p)).flatten()"

beam_search = Exercise(
    cases=beam_cases,
    rule=Rule(axes={"0": "longest"}),
    mistakes=(
        Mistake(
            "beam of width 1",
            "You return the result of greedy decoding, because only one prefix survives each step.",
            "candidates.topk(min(width, len(candidates)))", "candidates.topk(1)",
        ),
        Mistake(
            "logits summed",
            "Your totals are sums of logits. Only log-probabilities are comparable between prefixes, so apply a log-softmax "
            "at each step.",
            ".log_softmax(dim=-1)", "",
        ),
        Mistake(
            "probabilities summed",
            "You add the probabilities of successive steps. Add the log-probabilities instead, because the probabilities of "
            "successive steps are multiplied.",
            ".log_softmax(dim=-1)", ".softmax(dim=-1)",
        ),
        Mistake(
            "finished sentences continued",
            "Your sentences continue after eos and become less probable. A finished sentence should stay in the ranking unchanged.",
            "torch.where(ended[:, None], stay, log_p)", "log_p",
        ),
        Mistake(
            "last sentence of the beam returned",
            "Your beam is correct. However, you return its last sentence instead of its best sentence.",
            "return ids[0, 1:], total[0]", "return ids[-1, 1:], total[-1]",
        ),
        Mistake(
            "totals of earlier steps not added",
            "You compare prefixes only by the log-probability of their last step. Add the log-probabilities of the earlier "
            "steps.",
            "(total[:, None] + torch.where", "(0 * total[:, None] + torch.where",
        ),
        Mistake(
            "earlier endings forgotten",
            "You do not remember which prefixes ended before the last step. Keep this information, and reorder it together "
            "with the prefixes.",
            "ended = ended[rows] | (tokens == eos)", "ended = tokens == eos",
        ),
        Mistake(
            "least probable prefixes kept",
            "You keep the least probable prefixes at each step. Keep the most probable prefixes.",
            "candidates.topk(min(width, len(candidates)))",
            "candidates.nan_to_num(neginf=1e9).topk(min(width, len(candidates)), largest=False)",
        ),
        Mistake(
            "bos returned",
            "Your first token is bos, which should not be part of the result.",
            "return ids[0, 1:], total[0]", "return ids[0, :-1], total[0]",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos], False)]
    for _ in range(longest):
        grown = []
        for total, ids, ended in beam:
            if ended:
                grown.append((total, ids + [pad], True))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token], token == eos) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
    return torch.tensor(beam[0][1]), torch.tensor(beam[0][0])
""",
            ),
        ),
        Mistake(
            "parallel greedy searches",
            "Each of your prefixes continues with its own best token. Rank the continuations of *all* prefixes together, "
            "because two of the best continuations may come from the same prefix.",
            code="""
def beam_search(next_logits, width, longest, bos, eos, pad):
    log_p = next_logits(torch.tensor([[bos]]))[0, -1].log_softmax(dim=-1)
    total, tokens = log_p.topk(min(width, len(log_p)))
    ids = torch.stack([torch.full_like(tokens, bos), tokens], dim=1)
    ended = tokens == eos
    for _ in range(longest - 1):
        best, tokens = next_logits(ids)[:, -1].log_softmax(dim=-1).max(dim=-1)
        tokens = torch.where(ended, pad, tokens)
        total = total + torch.where(ended, 0.0, best)
        ids, ended = torch.cat([ids, tokens[:, None]], dim=1), ended | (tokens == eos)
    return ids[total.argmax(), 1:], total.max()
""",
        ),
        Mistake(
            "finished sentence preferred",
            "You return the best sentence that has ended. Return the best sentence, whether or not it has ended.",
            "return ids[0, 1:], total[0]", "best = ended.int().argmax()\n    return ids[best, 1:], total[best]",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam, finished = [(0.0, [bos])], []
    for _ in range(longest):
        grown = []
        for total, ids in beam:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        finished += [one for one in beam if one[1][-1] == eos]
        beam = [one for one in beam if one[1][-1] != eos]
    total, ids = max(finished or beam)
    return torch.tensor(ids[1:] + [pad] * (longest + 1 - len(ids))), torch.tensor(total)
""",
            ),
        ),
        Mistake(
            "finished sentences kept outside the beam",
            "You set finished sentences aside and compare them at the end. Finished sentences should be ranked with all others "
            "at every step, and a finished sentence that falls out of the beam is lost.",
            code="""
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam, finished = [(0.0, [bos])], []
    for _ in range(longest):
        grown = []
        for total, ids in beam:
            log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
            grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        finished += [one for one in beam if one[1][-1] == eos]
        beam = [one for one in beam if one[1][-1] != eos]
    total, ids = max(finished + beam)
    return torch.tensor(ids[1:] + [pad] * (longest + 1 - len(ids))), torch.tensor(total)
""",
        ),
        Mistake(
            "log-probability normalised by length",
            "You return the sentence with the best mean log-probability per token. The docstring requires the sum, without "
            "normalisation by length.",
            "return ids[0, 1:], total[0]",
            "best = (total / (ids[:, 1:] != pad).sum(dim=1)).argmax()\n    return ids[best, 1:], total[best]",
        ),
        Mistake(
            "cost for padding",
            "You add a cost to finished sentences for each pad token, which penalises sentences that end early. Tokens after "
            "eos should have no cost.",
            "stay[:, pad] = 0", "stay[:, pad] = log_p[:, pad]",
        ),
        Mistake(
            "no pad after eos",
            "Your sentence is shorter than `longest` if it ends early. Return exactly `longest` tokens by adding pad after "
            "eos.",
            "ended = ended[rows] | (tokens == eos)",
            "ended = ended[rows] | (tokens == eos)\n        if ended[0]:\n            break",
            also=(
                """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos])]
    for _ in range(longest):
        grown = [one for one in beam if one[1][-1] == eos]
        for total, ids in beam:
            if ids[-1] != eos:
                log_p = next_logits(torch.tensor([ids]))[0, -1].log_softmax(-1).tolist()
                grown += [(total + value, ids + [token]) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
        if beam[0][1][-1] == eos:
            break
    return torch.tensor(beam[0][1][1:]), torch.tensor(beam[0][0])
""",
            ),
        ),
        Mistake(
            "sentence one token too short",
            "Your sentence is one token too short. bos does not belong to the `longest` tokens.",
            "range(longest)", "range(longest - 1)",
        ),
        Mistake(
            "probability instead of log-probability",
            "Your sentence is correct. However, you return its probability instead of its log-probability.",
            "return ids[0, 1:], total[0]", "return ids[0, 1:], total[0].exp()",
        ),
    ),
    alternatives={
        "lists of hypotheses": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    beam = [(0.0, [bos], False)]
    for _ in range(longest):
        grown = []
        for total, ids, ended in beam:
            if ended:
                grown.append((total, ids + [pad], True))
                continue
            log_p = next_logits(torch.tensor([ids]))[0, -1].double().log_softmax(-1).tolist()
            grown += [(total + value, ids + [token], token == eos) for token, value in enumerate(log_p)]
        beam = sorted(grown, key=lambda one: -one[0])[:width]
    return torch.tensor(beam[0][1][1:]), torch.tensor(beam[0][0])
""",
        "the best `width` of each beginning first": """
def beam_search(next_logits, width, longest, bos, eos, pad):
    ids, total = torch.tensor([[bos]]), torch.zeros(1)
    for _ in range(longest):
        done = (ids == eos).any(dim=1)
        log_p = torch.log(torch.softmax(next_logits(ids)[:, -1], dim=-1))
        log_p[done] = -torch.inf
        log_p[done, pad] = 0
        values, tokens = (total[:, None] + log_p).topk(min(width, log_p.shape[1]), dim=1)
        order = values.flatten().argsort(descending=True)[:width]
        ids = torch.cat([ids[order // values.shape[1]], tokens.flatten()[order, None]], dim=1)
        total = values.flatten()[order]
    return ids[0, 1:], total[0]
""",
    },
    hints=(
        "Two prefixes survive a step, and each can continue with V tokens. How many candidates are there, and by which number "
        "do you compare them?",
        "ids: (n, t), with n at most width. log p of the next token: (n, V). Totals: (n). Candidates: n · V numbers; candidate i "
        "extends prefix i // V by token i % V.",
        "start with one prefix: bos, total 0\nlongest times:\n    candidates = totals + log p of each next token\n    (a finished "
        "prefix has a single candidate: pad, at no cost)\n    keep the `width` best, noting their ids and totals and whether they have ended\nreturn the best prefix without bos, and its total",
        "A near miss: keeping the best token of each prefix amounts to `width` greedy searches. Instead, rank the candidates "
        "of all prefixes together.",
    ),
)
