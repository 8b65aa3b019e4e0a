"""04 Recurrence, encoder–decoder, and what attention costs: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake, detached
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

def words_then_padding(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """A mask that is True at real tokens: the first sentence has two tokens of padding, the second has none, and the third has only one word."""
    lengths = draw.integers(1, tokens, batch)
    lengths[0], lengths[1], lengths[2:3] = tokens - 2, tokens, 1
    return np.arange(tokens) < lengths[:, None]


# ------------------------------------------------------------------------------------------ recurrent step


def recurrent_cases(draw: Draw) -> Iterator[Case]:
    for batch, dim, state in ((3, 4, 5), (5, 6, 6), (2, 7, 3), (1, 5, 4)):
        yield {
            "x": draw.normal(batch, dim),
            "h": draw.normal(batch, state, scale=0.5),
            "W_x": draw.normal(dim, state, scale=0.6 * dim**-0.5),
            "W_h": draw.normal(state, state, scale=0.6 * state**-0.5),
            "b": draw.normal(state, scale=0.4),
        }


STEP = "torch.tanh(x @ W_x + h @ W_h + b)"


def in_one_line(formula: str) -> str:
    """The source of a cell whose function returns this formula."""
    return f"""
def recurrent_step(x, h, W_x, W_h, b):
    return {formula}
"""


recurrent_step = Exercise(
    cases=recurrent_cases,
    rule=Rule(axes={"": "B H"}),
    mistakes=(
        Mistake(
            "old state left out",
            "Your answer does not change when h changes, so the network has no memory. Add the product of h and W_h.",
            "x @ W_x + h @ W_h + b", "x @ W_x + b",
        ),
        Mistake(
            "word left out",
            "Your answer does not change when x changes, so the network never reads the word. Add the product of x and W_x.",
            "x @ W_x + h @ W_h + b", "h @ W_h + b",
        ),
        Mistake("bias left out", "Your answer does not change when b changes, because the bias is missing from the sum.", " + b)", ")"),
        Mistake(
            "no activation",
            "Some of your values lie outside the range from −1 to 1. The sum is correct, but the activation function after it is missing.",
            STEP, "x @ W_x + h @ W_h + b",
        ),
        Mistake(
            "sigmoid instead of tanh",
            "All your values are positive. The activation function of this network gives values of both signs.",
            "torch.tanh", "torch.sigmoid",
        ),
        Mistake(
            "W_h transposed",
            "Your product with W_h uses the transposed matrix. The rows of W_h correspond to its inputs, so do not transpose it.",
            "h @ W_h", "h @ W_h.T",
        ),
        Mistake(
            "bias added after the activation",
            "Your values can leave the range from −1 to 1, by as much as the bias. Add the bias before the activation.",
            STEP, "torch.tanh(x @ W_x + h @ W_h) + b",
        ),
        Mistake(
            "word and state activated separately",
            "Your values can leave the range from −1 to 1, because you add two activations. Add word, state and bias first, then apply one activation.",
            STEP, "torch.tanh(x @ W_x) + torch.tanh(h @ W_h + b)",
            also=(
                in_one_line("torch.tanh(x @ W_x) + torch.tanh(h @ W_h) + b"),
                in_one_line("torch.tanh(x @ W_x + b) + torch.tanh(h @ W_h)"),
                in_one_line("torch.tanh(x @ W_x + b) + torch.tanh(h @ W_h + b)"),
            ),
        ),
        Mistake(
            "old state added unchanged",
            "Your answer does not change with W_h, because you add the state as it is. The state would grow without limit. Multiply h by its matrix, and "
            "apply the activation to the sum of both products and the bias.",
            STEP, "torch.tanh(x @ W_x) + h",
            also=(in_one_line("torch.tanh(x @ W_x + b) + h"),),
        ),
        Mistake(
            "W_h left out",
            "Your answer does not change with W_h. Multiply the old state by its own matrix.",
            "h @ W_h", "h",
        ),
        Mistake(
            "bias added twice",
            "You add the bias twice, once with each product. There is only one bias here. (PyTorch has two.)",
            STEP, "torch.tanh((x @ W_x + b) + (h @ W_h + b))",
        ),
        Mistake(
            "ReLU instead of tanh",
            "None of your values is negative. The activation here is tanh, which gives values of both signs.",
            "torch.tanh", "torch.relu",
        ),
        Mistake(
            "new state added to the old state",
            "You add the result to h. A plain recurrent network replaces its state, whereas an LSTM was designed to keep part of the old state.",
            STEP, f"h + {STEP}",
        ),
        detached("recurrent_step"),
    ),
    alternatives={
        "one product with both matrices stacked": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(torch.cat([x, h], dim=1) @ torch.cat([W_x, W_h], dim=0) + b)
""",
        "torch's own cell": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.rnn_tanh_cell(x, h, W_x.T.contiguous(), W_h.T.contiguous(), b, torch.zeros_like(b))
""",
        "in float64": """
def recurrent_step(x, h, W_x, W_h, b):
    return torch.tanh(x.double() @ W_x.double() + h.double() @ W_h.double() + b)
""",
    },
    hints=(
        "What determines the new state? List the arguments of the function: which of them are multiplied by a matrix, and what is done to the sum of the products?",
        "x @ W_x: (batch, H). h @ W_h: (batch, H). b: (H), the same for every sentence. Result: (batch, H).",
        "contribution of the word = x times its matrix\ncontribution of the memory = h times its matrix\nnew state = activation of the sum of both and the bias",
        "Near miss: `tanh(x @ W_x) + h` never forgets, and its state grows without limit. The memory must be multiplied by its matrix and go through the activation together with the word.",
    ),
)

# ------------------------------------------------------------------------------------------ LSTM step


def lstm_cases(draw: Draw) -> Iterator[Case]:
    for batch, dim, state in ((2, 4, 3), (4, 5, 5), (3, 7, 2), (1, 2, 4)):
        yield {
            "x": draw.normal(batch, dim),
            "h": draw.normal(batch, state, scale=0.5),
            "c": draw.normal(batch, state),
            "W_x": draw.normal(dim, 4 * state, scale=dim**-0.5),
            "W_h": draw.normal(state, 4 * state, scale=state**-0.5),
            "b": draw.normal(4 * state, scale=0.5),
        }


GATES = "i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)"
OTHER_ORDERS = ("i, g, f, o", "i, o, f, g", "i, o, g, f", "f, i, o, g", "f, o, i, g", "o, i, f, g", "o, f, i, g", "g, i, f, o")


def in_order(blocks: str) -> str:
    """The source of a cell that takes the blocks of columns in this order."""
    return f"""
def lstm_step(x, h, c, W_x, W_h, b):
    {blocks} = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
"""


CELL = "torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)"
OUT = "return torch.sigmoid(o) * torch.tanh(c), c"

lstm_step = Exercise(
    cases=lstm_cases,
    rule=Rule(axes={"0": "B H", "1": "B H"}),
    mistakes=(
        Mistake(
            "input and forget gates swapped",
            "You multiply the old cell by the input gate and the candidate by the forget gate. Check which block of columns belongs to which gate.",
            "i, f, g, o =", "f, i, g, o =",
        ),
        Mistake(
            "candidate and output gate swapped",
            "You have swapped the last two blocks of columns. The order is i, f, g, o, as in PyTorch.",
            "i, f, g, o =", "i, f, o, g =",
        ),
        Mistake(
            "sigmoid applied to the candidate",
            "You only ever add positive values to the cell. The candidate is not a gate, so its activation function should give values of both signs.",
            "torch.tanh(g)", "torch.sigmoid(g)",
        ),
        Mistake(
            "cell returned first",
            "Your two results are in the wrong order: the tuple is (h, c).",
            OUT, "return c, torch.sigmoid(o) * torch.tanh(c)",
        ),
        Mistake(
            "state computed from the old cell",
            "Your cell is correct. Your state, however, is computed from the cell *before* this word; use the new cell.",
            edits={"    c = torch.sigmoid(f)": "    old = c\n    c = torch.sigmoid(f)", OUT: "return torch.sigmoid(o) * torch.tanh(old), c"},
        ),
        Mistake(
            "no tanh around the cell",
            "Your cell is correct, but some values of your state are too large. Apply tanh to the cell before you apply the output gate.",
            OUT, "return torch.sigmoid(o) * c, c",
        ),
        Mistake(
            "output gate left out",
            "Your cell is correct, but your state exposes the whole cell, because you never use one of the four blocks.",
            OUT, "return torch.tanh(c), c",
        ),
        Mistake(
            "input gate set to 1 − f",
            "Your input gate is 1 − f, as in a GRU. In an LSTM the two gates are independent.",
            "torch.sigmoid(i)", "(1 - torch.sigmoid(f))",
        ),
        Mistake(
            "forget gate left out",
            "Your cell keeps everything for ever, as the LSTM of 1997 did. Here the forget gate decides how much is kept.",
            "torch.sigmoid(f) * c", "c",
        ),
        Mistake(
            "old state left out",
            "Your answers do not change when h changes, because the gates see only the word. Add the product of h and W_h.",
            "x @ W_x + h @ W_h + b", "x @ W_x + b",
        ),
        Mistake(
            "every fourth column taken instead of blocks",
            "Your first gate takes the columns 0, 4, 8, …. Each gate has a block of H adjacent columns.",
            ".chunk(4, dim=-1)", ".unflatten(-1, (-1, 4)).unbind(-1)",
        ),
        Mistake(
            "blocks in a different order",
            "You use all four parts, but you assign them to the wrong blocks of columns. The order is i, f, g, o.",
            code=in_order(OTHER_ORDERS[0]),
            also=tuple(in_order(blocks) for blocks in OTHER_ORDERS[1:]),
        ),
        Mistake(
            "gates without a sigmoid",
            "Your gates can be negative or greater than 1. Apply a sigmoid to three of the four blocks first.",
            code="""
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = f * c + i * torch.tanh(g)
    return o * torch.tanh(c), c
""",
        ),
        Mistake(
            "tanh applied to all four blocks",
            "Your gates can be negative. Apply a sigmoid to the three gates and tanh only to the candidate.",
            code="""
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = torch.tanh(x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = f * c + i * g
    return o * torch.tanh(c), c
""",
        ),
        Mistake(
            "candidate without tanh",
            "You add the candidate to the cell as it is. Apply tanh to it first.",
            "torch.tanh(g)", "g",
        ),
        Mistake(
            "squashed cell returned",
            "Your state is correct. Return the cell itself, because its tanh is needed only for the state.",
            OUT, "return torch.sigmoid(o) * torch.tanh(c), torch.tanh(c)",
        ),
        Mistake(
            "old cell returned",
            "Your state is correct, but the cell that you return is the one that was passed in.",
            edits={
                "    c = torch.sigmoid(f)": "    old = c\n    c = torch.sigmoid(f)",
                OUT: "return torch.sigmoid(o) * torch.tanh(c), old",
            },
        ),
        Mistake("bias left out", "Your answers do not change when b changes, because the bias is missing from the sum.", " + b)", ")"),
        Mistake(
            "1 added to the forget gate",
            "Your forget gate is more open than it should be, because you add 1 to its input. Such an initialisation belongs in the bias, which is given here.",
            "torch.sigmoid(f)", "torch.sigmoid(f + 1)",
        ),
        Mistake(
            "state and cell swapped",
            "You multiply the cell by W_h and the state by the forget gate. The state h belongs with W_h, and the cell c belongs with the forget gate.",
            edits={"h @ W_h": "c @ W_h", "torch.sigmoid(f) * c": "torch.sigmoid(f) * h"},
        ),
        detached("lstm_step"),
    ),
    alternatives={
        "torch's own cell": """
def lstm_step(x, h, c, W_x, W_h, b):
    return tuple(torch.lstm_cell(x, (h, c), W_x.T.contiguous(), W_h.T.contiguous(), b, torch.zeros_like(b)))
""",
        "slices, in float64": """
def lstm_step(x, h, c, W_x, W_h, b):
    H = h.shape[1]
    z = x.double() @ W_x.double() + h.double() @ W_h.double() + b.double()
    i, f, o = (1 / (1 + torch.exp(-z[:, k * H : (k + 1) * H])) for k in (0, 1, 3))
    c = f * c.double() + i * torch.tanh(z[:, 2 * H : 3 * H])
    return o * torch.tanh(c), c
""",
        "one sigmoid for all three gates": """
def lstm_step(x, h, c, W_x, W_h, b):
    z = (torch.cat([x, h], 1) @ torch.cat([W_x, W_h]) + b).unflatten(1, (4, -1))
    gates = z.sigmoid()
    c = torch.addcmul(gates[:, 1] * c, gates[:, 0], z[:, 2].tanh())
    return gates[:, 3] * c.tanh(), c
""",
    },
    hints=(
        "One product computes all four blocks at once. Which three of them are gates between 0 and 1, and which is the new content?",
        "x @ W_x + h @ W_h + b: (batch, 4H). Split it into four blocks of (batch, H), in the order i, f, g, o. Result: two tensors (batch, H).",
        "all four = word and state times their matrices, plus the bias\nsplit into i, f, g, o\nnew cell = kept part of the old cell + stored part of the candidate\nnew state = output gate times tanh of the new cell",
        "Near miss: `o * tanh(c_old)` uses the cell that was passed in and is therefore one word late. The state is computed from the new cell.",
    ),
)


# ------------------------------------------------------------------------------------------ a sentence in one vector


def vector_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, state in ((2, 4, 5, 3), (3, 6, 4, 4), (4, 5, 3, 6)):
        keep = words_then_padding(draw, batch, tokens)
        yield {
            "words": draw.normal(batch, tokens, dim),
            "keep": keep[:, :: -1 if batch == 3 else 1].copy(),  # padding comes first there
            "W_x": draw.normal(dim, 4 * state, scale=dim**-0.5),
            "W_h": draw.normal(state, 4 * state, scale=state**-0.5),
            "b": draw.normal(4 * state, scale=0.5),
        }


READ = "new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)"
HELD = "h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)"

encode_to_vector = Exercise(
    cases=vector_cases,
    rule=Rule(axes={"": "B H"}),
    uses=("recurrence.lstm_step",),
    mistakes=(
        Mistake(
            "padding read like words",
            "Your results for sentences without padding are correct. In the others, the state keeps changing at padding, where there is no word.",
            HELD, "h, c = new_h, new_c",
        ),
        Mistake(
            "cell updated at padding",
            "At padding, you keep the state unchanged but update the cell. Where padding comes first, the cell is therefore no longer 0 at the first word.",
            HELD, "h, c = torch.where(real, new_h, h), new_c",
        ),
        Mistake(
            "state updated at padding",
            "At padding, you keep the cell unchanged but update the state. State and cell must both stay as they are.",
            HELD, "h, c = new_h, torch.where(real, new_c, c)",
        ),
        Mistake(
            "state set to 0 at padding",
            "Sentences that end in padding have a state of 0, because you clear the state at padding. It should be *kept*.",
            HELD, "h, c = new_h * real, new_c * real",
        ),
        Mistake(
            "padding vectors set to 0",
            "A vector of zeros is still an input to the LSTM: its gates have a bias and see the old state. At padding, state and cell must stay as they are.",
            edits={READ: "new_h, new_c = lstm_step(words[:, t] * real, h, c, W_x, W_h, b)", HELD: "h, c = new_h, new_c",
                   "        real = keep[:, t, None]\n": "", "    for t in range(words.shape[1]):\n": "    for t in range(words.shape[1]):\n        real = keep[:, t, None]\n"},
        ),
        Mistake(
            "keep inverted",
            "You read the padding and skip the words. keep is True at words.",
            "real = keep[:, t, None]", "real = ~keep[:, t, None]",
        ),
        Mistake(
            "cell returned",
            "You return the cell state c. The decoder needs the state h.",
            "return h", "return c",
        ),
        Mistake(
            "sentences read from right to left",
            "You read the sentences from their end. This encoder should read from left to right.",
            "range(words.shape[1])", "reversed(range(words.shape[1]))",
        ),
        Mistake(
            "state and cell reset at every word",
            "You read each word with an empty state, so your vector depends only on the last word. Pass state and cell on to the next step.",
            READ, "new_h, new_c = lstm_step(words[:, t], torch.zeros_like(h), torch.zeros_like(c), W_x, W_h, b)",
        ),
        Mistake(
            "cell reset at every word",
            "You pass the state on, but every word starts with an empty cell, so the content that the forget gate should keep is lost.",
            READ, "new_h, new_c = lstm_step(words[:, t], h, torch.zeros_like(c), W_x, W_h, b)",
        ),
        Mistake(
            "last word skipped",
            "Your answer does not depend on the last column. Read every word.",
            "range(words.shape[1])", "range(words.shape[1] - 1)",
        ),
        Mistake(
            "first word skipped",
            "Your answer does not depend on the first column. Read every word.",
            "range(words.shape[1])", "range(1, words.shape[1])",
        ),
        Mistake(
            "mean of all states returned",
            "You return a mean over the states. Return the state after the last word, which must contain all the information about the sentence.",
            code="""
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), W_h.shape[0])
    total = torch.zeros_like(h)
    for t in range(words.shape[1]):
        real = keep[:, t, None]
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)
        total = total + h * real
    return total / keep.sum(dim=1, keepdim=True)
""",
        ),
        Mistake(
            "state and cell started at 1",
            "Your state and cell start at 1. Before the first word nothing is known, so both should start at 0.",
            "torch.zeros(", "torch.ones(",
        ),
    ),
    alternatives={
        "a loop over the sentences, without padding": """
def encode_to_vector(words, keep, W_x, W_h, b):
    rows = []
    for sentence, real in zip(words, keep):
        h = c = torch.zeros(1, W_h.shape[0])
        for word in sentence[real]:
            h, c = lstm_step(word[None], h, c, W_x, W_h, b)
        rows.append(h[0])
    return torch.stack(rows)
""",
        "a mixture with keep as a number": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = words.new_zeros(words.shape[0], W_h.shape[0])
    for word, real in zip(words.unbind(1), keep.float().unbind(1)):
        new = lstm_step(word, h, c, W_x, W_h, b)
        h, c = (real[:, None] * n + (1 - real[:, None]) * old for n, old in zip(new, (h, c)))
    return h
""",
        "torch's own cell": """
def encode_to_vector(words, keep, W_x, W_h, b):
    h = c = torch.zeros(len(words), len(W_h))
    for t in range(words.shape[1]):
        new = torch.lstm_cell(words[:, t], (h, c), W_x.T.contiguous(), W_h.T.contiguous(), b, torch.zeros_like(b))
        h = torch.where(keep[:, t : t + 1], new[0], h)
        c = torch.where(keep[:, t : t + 1], new[1], c)
    return h
""",
    },
    hints=(
        "What are state and cell before the first word? What must happen to both of them at a position without a word?",
        "words[:, t]: (B, D), one word of each sentence. h and c: (B, H). keep[:, t] is (B,): it needs a second axis to choose between rows of (B, H). Result: (B, H).",
        "h and c are 0\nfor each position from left to right:\n    new state and cell = your lstm_step\n    take the new ones where there is a word, keep the old ones elsewhere\nreturn h",
        "Near miss: keeping only h unchanged is enough where padding comes after the words. Where padding comes first, a cell that is updated there is no longer 0 at the first word.",
    ),
)

# ------------------------------------------------------------------------------------------ additive attention


def attention_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, state, inner, width in ((2, 4, 3, 5, 6), (3, 6, 4, 4, 4), (5, 3, 6, 4, 2), (3, 3, 3, 5, 4)):
        yield {
            "state": draw.normal(batch, state),
            "keys": draw.normal(batch, tokens, inner),
            "values": draw.normal(batch, tokens, width),
            "W_s": draw.normal(state, inner, scale=1.2 * state**-0.5),
            "v": draw.normal(inner, scale=1.5),
            "keep": words_then_padding(draw, batch, tokens)[:, :: -1 if batch == tokens else 1].copy(),
        }
    large = {
        "state": draw.normal(3, 2), "keys": draw.normal(3, 5, 4), "values": draw.normal(3, 5, 6),
        "W_s": draw.normal(2, 4), "v": np.full(4, 60.0, dtype=np.float32), "keep": words_then_padding(draw, 3, 5),
    }  # fmt: skip
    # All words score about 240, and padding as much as −240 or 240: exponentials overflow.
    large["keys"] = (large["keys"] * 0.01 + np.where(large["keep"], 4, 6)[:, :, None]).astype(np.float32)
    large["state"] *= 0.01
    yield large


ADDITIVE = "scores = torch.tanh(keys + (state @ W_s)[:, None]) @ v"
SHOWN = "scores.masked_fill(~keep, -torch.inf)"
MIXED = "return (weights[:, :, None] * values).sum(dim=1), weights"


def additive_by(scores: str, weights: str = f"{SHOWN}.softmax(dim=-1)", result: str = MIXED) -> str:
    """The whole cell with other formulas."""
    return f"""
def additive_attention(state, keys, values, W_s, v, keep):
    {scores}
    weights = {weights}
    {result}
"""


additive_attention = Exercise(
    cases=attention_cases,
    rule=Rule(axes={"0": "B E", "1": "B Ts"}),
    mistakes=(
        Mistake(
            "no tanh",
            "Your weights do not depend on the state at all. Without tanh, the state adds the same number to every score, and the softmax cancels this number.",
            ADDITIVE, "scores = (keys + (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "tanh applied to the score",
            "Your scores lie between −1 and 1. Apply tanh before the product with v, not after it.",
            ADDITIVE, "scores = torch.tanh((keys + (state @ W_s)[:, None]) @ v)",
        ),
        Mistake(
            "state left out of the scores",
            "Your weights do not depend on the state, so every generated token would attend to the same words. If you apply tanh to state and key separately, the state adds the same number to every score, and the softmax cancels this number. Add the two first, then apply a single tanh.",
            ADDITIVE, "scores = torch.tanh(keys) @ v",
            also=(additive_by("scores = (torch.tanh(keys) + torch.tanh(state @ W_s)[:, None]) @ v"),),
        ),
        Mistake(
            "sum without v",
            "Your answer does not change with v. Weight the coordinates by v when you add them up.",
            ADDITIVE, "scores = torch.tanh(keys + (state @ W_s)[:, None]).sum(dim=-1)",
        ),
        Mistake(
            "sigmoid instead of tanh",
            "You use a sigmoid, whose values are all positive. The activation here is tanh, which gives values of both signs.",
            ADDITIVE, "scores = torch.sigmoid(keys + (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "projected state multiplied instead of added",
            "You multiply the projected state by the keys. In additive attention they are added.",
            ADDITIVE, "scores = torch.tanh(keys * (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "source padding not masked",
            "Your results for sentences without padding are correct. In the others, padding takes weight from the words. Mask its scores before the softmax.",
            SHOWN, "scores",
        ),
        Mistake(
            "keep inverted",
            "Your weights lie on the padding, and in sentences without padding they are NaN or all equal. True in keep marks a word.",
            SHOWN, "scores.masked_fill(keep, -torch.inf)",
            also=(additive_by(ADDITIVE, "scores.masked_fill(keep, -1e9).softmax(dim=-1)"),),
        ),
        Mistake(
            "padding scores set to 0",
            "Padding still takes weight from the words, because a score of 0 is a score like any other and its exponential is 1.",
            SHOWN, "scores.masked_fill(~keep, 0.0)",
        ),
        Mistake(
            "mask applied after the softmax",
            "The remaining weights add up to less than 1, because padding had received its share before you removed it. Mask the scores, not the weights.",
            f"{SHOWN}.softmax(dim=-1)", "scores.softmax(dim=-1) * keep",
        ),
        Mistake(
            "softmax over the batch",
            "Your columns add up to 1, so the sentences of the batch compete with each other. The words of one sentence should compete.",
            "softmax(dim=-1)", "softmax(dim=0)",
            also=(additive_by(ADDITIVE, "scores.masked_fill(~keep, -1e9).softmax(dim=0)"),),
        ),
        Mistake(
            "overflowing exponentials",
            "Your answer is correct where the scores are small. For scores above about 88 the exponential overflows float32, and ∞ / ∞ is NaN. `softmax` subtracts the "
            "largest score first.",
            f"{SHOWN}.softmax(dim=-1)", f"{SHOWN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(additive_by(ADDITIVE, "scores.exp() * keep\n    weights = weights / weights.sum(dim=-1, keepdim=True)"),),
        ),
        Mistake(
            "scores divided by the root of the width",
            "Your weights are too uniform. Additive scores are not divided by anything.",
            ADDITIVE, f"{ADDITIVE} / len(v) ** 0.5",
        ),
        Mistake(
            "keys averaged instead of values",
            "Your weights are correct, but you apply them to the keys. The context is a weighted sum of the values.",
            MIXED, "return (weights[:, None] @ keys)[:, 0], weights",
        ),
        Mistake(
            "unweighted mean of the values",
            "Your weights are correct, but your output does not use them, because it is the plain mean of the values.",
            MIXED, "return values.mean(dim=1), weights",
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped: the tuple is (context, weights).",
            MIXED, "return weights, (weights[:, None] @ values)[:, 0]",
        ),
        Mistake(
            "scores returned instead of weights",
            "Your context is correct. The second result should be the weights, after the softmax.",
            MIXED, "return (weights[:, None] @ values)[:, 0], scores",
            also=(additive_by(ADDITIVE, f"{SHOWN}.softmax(dim=-1)\n    scores = {SHOWN}", "return (weights[:, None] @ values)[:, 0], scores"),),
        ),
        Mistake(
            "extra axis in the context",
            "Your context has an extra axis of size 1. Return one vector per sentence, (B, E).",
            MIXED, "return weights[:, None] @ values, weights",
        ),
        detached("additive_attention"),
    ),
    alternatives={
        "einsum, in float64": """
def additive_attention(state, keys, values, W_s, v, keep):
    hidden = torch.tanh(torch.einsum("bh,ha->ba", state.double(), W_s.double()).unsqueeze(1) + keys.double())
    scores = torch.einsum("bta,a->bt", hidden, v.double())
    scores = torch.where(keep, scores, torch.tensor(float("-inf"), dtype=torch.float64))
    weights = torch.softmax(scores, dim=1)
    return torch.einsum("bt,bte->be", weights, values.double()), weights
""",
        "a loop over the sentences, without padding": """
def additive_attention(state, keys, values, W_s, v, keep):
    weights = torch.zeros(keep.shape)
    context = []
    for b in range(len(state)):
        scores = torch.tanh(keys[b, keep[b]] + state[b] @ W_s) @ v
        found = torch.softmax(scores, dim=0)
        weights[b, keep[b]] = found
        context.append(found @ values[b, keep[b]])
    return torch.stack(context), weights
""",
        "a large negative number, and a weighted sum": """
def additive_attention(state, keys, values, W_s, v, keep):
    scores = (torch.tanh((state @ W_s).unsqueeze(1) + keys) * v).sum(-1)
    weights = torch.softmax(scores.masked_fill(keep == 0, -1e9), dim=-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
    },
    hints=(
        "One state is compared with all words of its sentence. What goes into the score of a word, and in which order do you apply the sum, tanh and v?",
        "state @ W_s: (B, A), to be added to keys (B, Ts, A): it needs an axis in the middle. Times v (A): scores (B, Ts). Weights: (B, Ts). Context: (B, E).",
        "hidden = tanh(each key + the projected state)\nscores = hidden times v\nscores of padding = a number whose exponential is 0\nweights = softmax over the words\nreturn the weighted sum "
        "of the values, and the weights",
        "Near miss: without tanh the state shifts all scores of a sentence by the same number, which the softmax cancels. The decoder would attend to the same words at every step.",
    ),
)

# ------------------------------------------------------------------------------------------ attention by products


def dot_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, state, width in ((2, 4, 3, 6), (3, 6, 4, 4), (5, 3, 6, 2), (3, 3, 5, 4)):
        yield {
            "state": draw.normal(batch, state),
            "keys": draw.normal(batch, tokens, state, scale=0.8),
            "values": draw.normal(batch, tokens, width),
            "keep": words_then_padding(draw, batch, tokens)[:, :: -1 if batch == tokens else 1].copy(),
        }
    large = {"state": np.full((3, 4), 7.0, dtype=np.float32), "keys": draw.integers(-1, 2, 3, 5, 4).astype(np.float32) / 8 + 4,
             "values": draw.normal(3, 5, 6), "keep": words_then_padding(draw, 3, 5)}  # fmt: skip
    yield large


PRODUCT = "scores = (keys * state[:, None]).sum(dim=-1)"


def dot_by(scores: str, weights: str = f"{SHOWN}.softmax(dim=-1)", result: str = MIXED) -> str:
    """The whole cell with other formulas."""
    return f"""
def dot_attention(state, keys, values, keep):
    {scores}
    weights = {weights}
    {result}
"""


dot_attention = Exercise(
    cases=dot_cases,
    rule=Rule(axes={"0": "B E", "1": "B Ts"}),
    mistakes=(
        Mistake(
            "scores scaled as in the transformer",
            "Your weights are too uniform, because you divide by √H, as the transformer does. Luong, Pham and Manning do not scale their scores.",
            PRODUCT, f"{PRODUCT} / state.shape[1] ** 0.5",
        ),
        Mistake(
            "padding not masked",
            "Your results for sentences without padding are correct. In the others, padding takes weight from the words. Mask its scores before the softmax.",
            SHOWN, "scores",
        ),
        Mistake(
            "keep inverted",
            "Your weights lie on the padding, and in sentences without padding they are NaN or all equal. True in keep marks a word.",
            SHOWN, "scores.masked_fill(keep, -torch.inf)",
            also=(dot_by(PRODUCT, "scores.masked_fill(keep, -1e9).softmax(dim=-1)"),),
        ),
        Mistake(
            "padding scores set to 0",
            "Padding still takes weight from the words, because a score of 0 is a score like any other and its exponential is 1.",
            SHOWN, "scores.masked_fill(~keep, 0.0)",
        ),
        Mistake(
            "mask applied after the softmax",
            "The remaining weights add up to less than 1, because padding had received its share before you removed it. Mask the scores, not the weights.",
            f"{SHOWN}.softmax(dim=-1)", "scores.softmax(dim=-1) * keep",
        ),
        Mistake(
            "softmax over the batch",
            "Your columns add up to 1, so the sentences of the batch compete with each other. The words of one sentence should compete.",
            "softmax(dim=-1)", "softmax(dim=0)",
            also=(dot_by(PRODUCT, "scores.masked_fill(~keep, -1e9).softmax(dim=0)"),),
        ),
        Mistake(
            "all words weighted equally",
            "Your weights are the same for all words of a source, whatever their scores. They should be the softmax of the scores.",
            "scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)", "keep / keep.sum(dim=-1, keepdim=True)",
        ),
        Mistake(
            "best word only",
            "You use only the word with the highest score. A softmax also gives some weight to the other words.",
            "scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)",
            "torch.zeros_like(scores).scatter(1, scores.masked_fill(~keep, -torch.inf).argmax(1, keepdim=True), 1.0)",
        ),
        Mistake(
            "tanh of the dot products",
            "Your scores lie between −1 and 1, because you apply tanh, which belongs to the additive score. Here the score is simply the dot product.",
            PRODUCT, f"scores = torch.tanh({PRODUCT.removeprefix('scores = ')})",
        ),
        Mistake(
            "cosines instead of dot products",
            "Your scores do not grow with the length of the vectors, because you normalise them. Use the plain dot product.",
            PRODUCT, "scores = torch.nn.functional.cosine_similarity(keys, state[:, None], dim=-1)",
        ),
        Mistake(
            "state left out of the scores",
            "Your weights do not depend on the state, so every generated token would attend to the same words.",
            PRODUCT, "scores = keys.sum(dim=-1)",
        ),
        Mistake(
            "overflowing exponentials",
            "Your answer is correct where the scores are small. For scores above about 88 the exponential overflows float32, and ∞ / ∞ is NaN. `softmax` subtracts the "
            "largest score first.",
            f"{SHOWN}.softmax(dim=-1)", f"{SHOWN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(dot_by(PRODUCT, "scores.exp() * keep\n    weights = weights / weights.sum(dim=-1, keepdim=True)"),),
        ),
        Mistake(
            "keys averaged instead of values",
            "Your weights are correct, but you apply them to the keys. The context is a weighted sum of the values.",
            MIXED, "return (weights[:, None] @ keys)[:, 0], weights",
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped: the tuple is (context, weights).",
            MIXED, "return weights, (weights[:, None] @ values)[:, 0]",
        ),
        Mistake(
            "scores returned instead of weights",
            "Your context is correct. The second result should be the weights, after the softmax.",
            MIXED, "return (weights[:, None] @ values)[:, 0], scores",
            also=(dot_by(PRODUCT, f"{SHOWN}.softmax(dim=-1)\n    scores = {SHOWN}", "return (weights[:, None] @ values)[:, 0], scores"),),
        ),
    ),
    alternatives={
        "einsum, in float64": """
def dot_attention(state, keys, values, keep):
    scores = torch.einsum("bh,bth->bt", state.double(), keys.double())
    weights = torch.softmax(scores.masked_fill(~keep, float("-inf")), dim=1)
    return torch.einsum("bt,bte->be", weights, values.double()), weights
""",
        "a loop over the sentences, without padding": """
def dot_attention(state, keys, values, keep):
    weights = torch.zeros(keep.shape)
    for b in range(len(state)):
        weights[b, keep[b]] = torch.softmax(keys[b, keep[b]] @ state[b], dim=0)
    return torch.stack([w @ x for w, x in zip(weights, values)]), weights
""",
        "a batched product": """
def dot_attention(state, keys, values, keep):
    scores = torch.bmm(keys, state.unsqueeze(2)).squeeze(2)
    weights = torch.softmax(scores.masked_fill(keep == 0, -1e9), dim=-1)
    return (weights.unsqueeze(-1) * values).sum(1), weights
""",
    },
    hints=(
        "What remains of additive attention if the score of a word is simply the dot product of its key and the state?",
        "state: (B, H). keys: (B, Ts, H). scores and weights: (B, Ts). context: (B, E).",
        "scores = each key times the state\nscores of padding = a number whose exponential is 0\nweights = softmax over the words\nreturn the weighted sum of the values, and the weights",
        "Near miss: `keys @ state.T` has the shape (B, Ts, B) and combines the keys of every sentence with the state of every sentence. The state needs an axis of its own.",
    ),
)

# ------------------------------------------------------------------------------------------ cross-attention


def cross_cases(draw: Draw) -> Iterator[Case]:
    for batch, Tt, Ts, D, d, d_v in ((2, 3, 5, 4, 6, 7), (3, 5, 5, 6, 4, 4), (4, 6, 4, 8, 3, 5), (3, 3, 4, 7, 5, 2)):
        yield {
            "dec": draw.normal(batch, Tt, D),
            "enc": draw.normal(batch, Ts, D),
            "W_q": draw.normal(D, d, scale=D**-0.5),
            "W_k": draw.normal(D, d, scale=D**-0.5),
            "W_v": draw.normal(D, d_v, scale=D**-0.5),
            # As many sentences as target positions: padding comes first.
            "source_keep": words_then_padding(draw, batch, Ts)[:, :: -1 if batch == Tt else 1].copy(),
        }
    yield large_scores(draw)


def large_scores(draw: Draw) -> Case:
    """Scores around 128 and −128, whose exponentials overflow or vanish in float32; the scores of padding are higher by 32 than those of words.

    All numbers that enter the scores have few binary digits, so that nothing is rounded and every order of
computation gives the same scores.
    """

    def halves(*shape: int) -> np.ndarray:
        return draw.integers(-2, 3, *shape).astype(np.float32) / 2

    batch, Tt, Ts, D, d = 3, 2, 6, 5, 4
    keep = words_then_padding(draw, batch, Ts)
    dec, enc, W_q, W_k = halves(batch, Tt, D), halves(batch, Ts, D), halves(D, d), halves(D, d)
    for matrix in (W_q, W_k):  # the first coordinate passes through unmixed
        matrix[0], matrix[:, 0] = 0, 0
        matrix[0, 0] = 1
    dec[:, :, 0] = np.array([16, -16], dtype=np.float32)
    enc[:, :, 0] = np.where(keep, 16, 20)
    W_v = draw.normal(D, 7, scale=0.5)
    W_v[0] /= 16
    return {"dec": dec, "enc": enc, "W_q": W_q, "W_k": W_k, "W_v": W_v, "source_keep": keep}


SCORES = "(dec @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5"
HIDDEN = "scores.masked_fill(~source_keep[:, None, :], -torch.inf)"


def hidden_by(masked: str, softmax: str = "softmax(dim=-1)") -> str:
    """The whole cell with another formula for the masked scores."""
    return f"""
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = {SCORES}
    weights = {masked}.{softmax}
    return weights @ (enc @ W_v), weights
"""


cross_attention = Exercise(
    cases=cross_cases,
    rule=Rule(axes={"0": "B Tt dv", "1": "B Tt Ts"}),
    mistakes=(
        Mistake(
            "source padding not masked",
            "Your results for sentences without padding are correct. In the others, padding takes weight from the words. Mask its scores before the softmax.",
            HIDDEN, "scores",
        ),
        Mistake(
            "source_keep inverted",
            "Your weights lie on the padding, and in sentences without padding they are NaN or all equal. True in source_keep marks a word.",
            "~source_keep", "source_keep",
            also=(hidden_by("scores.masked_fill(source_keep[:, None, :], -1e9)"),),
        ),
        Mistake(
            "softmax over the target",
            "Your columns add up to 1 instead of your rows, because the target positions compete for a source word.",
            "softmax(dim=-1)", "softmax(dim=-2)",
            also=(hidden_by("scores.masked_fill(~source_keep[:, None, :], -1e9)", "softmax(dim=-2)"),),
        ),
        Mistake(
            "scores not scaled",
            "Your weights are too peaked, because the scores are not divided by √d.",
            " / W_q.shape[1] ** 0.5", "",
        ),
        Mistake(
            "scores scaled by the width of the model",
            "Your weights are wrong wherever D and d differ. The scores are sums over the d columns of the projections, so divide by √d.",
            "W_q.shape[1]", "W_q.shape[0]",
        ),
        Mistake(
            "scores divided by d instead of √d",
            "Your weights are too uniform, because you divide the scores by d instead of √d.",
            " ** 0.5", "",
        ),
        Mistake(
            "keys averaged instead of values",
            "Your weights are correct, but you apply them to the keys. The values have a matrix of their own.",
            "weights @ (enc @ W_v)", "weights @ (enc @ W_k)",
        ),
        Mistake(
            "keys projected with W_q",
            "Your queries and keys share a matrix, and W_k is never used for the scores.",
            "enc @ W_k", "enc @ W_q",
        ),
        Mistake(
            "roles of encoder and decoder swapped",
            "Your queries come from the source, and your keys and values come from the target. Use the decoder for the queries and the encoder for keys and values.",
            code="""
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = (enc @ W_q) @ (dec @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, :, None], -torch.inf).softmax(dim=-1)
    return weights @ (dec @ W_v), weights
""",
            also=(
                """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = (enc @ W_q) @ (dec @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, :, None], -1e9).softmax(dim=-1)
    return weights @ (dec @ W_v), weights
""",
            ),
        ),
        Mistake(
            "scores scaled by the width of the values",
            "Your weights are wrong wherever d and dv differ. The scores are sums over the d columns of queries and keys, so divide by √d.",
            "W_q.shape[1]", "W_v.shape[1]",
        ),
        Mistake(
            "padding scores set to 0",
            "Padding still takes weight from the words, because a score of 0 is a score like any other and its exponential is 1.",
            HIDDEN, "scores.masked_fill(~source_keep[:, None, :], 0.0)",
        ),
        Mistake(
            "padding vectors set to 0",
            "Padding still takes weight from the words, because a key of zeros has the score 0 and the exponential of 0 is 1.",
            edits={"scores = (dec": "enc = enc * source_keep[:, :, None]\n    scores = (dec", HIDDEN: "scores"},
        ),
        Mistake(
            "padding masked too weakly",
            "Padding with large scores still receives weight, because you subtract too little from these scores. Their exponentials have to be 0.",
            HIDDEN, "(scores - 10.0 * ~source_keep[:, None, :])",
        ),
        Mistake(
            "overflowing exponentials",
            "Your answer is correct where the scores are small. For scores above about 88 the exponential overflows float32, and ∞ / ∞ is NaN; far below 0 the result is 0 / 0. "
            "`softmax` subtracts the largest score first.",
            f"{HIDDEN}.softmax(dim=-1)", f"{HIDDEN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(
                hidden_by("scores.exp() * source_keep[:, None, :]", "clone()").replace(
                    "    return", "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    return"
                ),
            ),
        ),
        Mistake(
            "causal mask on the source",
            "Your first target position sees only one source word. The whole source is known before the target begins, so mask only its padding.",
            HIDDEN,
            "scores.masked_fill(~(source_keep[:, None, :] & torch.ones_like(scores).tril().bool()), -torch.inf)",
            also=(hidden_by("scores.masked_fill(~(source_keep[:, None, :] & torch.ones_like(scores).tril().bool()), -1e9)"),),
        ),
        Mistake(
            "mask aligned with the target axis",
            "Your source_keep has no axis for the target, so it is broadcast over the sentences; where there are as many sentences as target positions, "
            "it hides the wrong words. Give it an axis of size 1 in the middle.",
            "~source_keep[:, None, :]", "~source_keep",
        ),
        Mistake(
            "scores returned instead of weights",
            "Your output is correct. The second result should be the weights, after the softmax.",
            "return weights @ (enc @ W_v), weights", "return weights @ (enc @ W_v), scores",
            also=(
                """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = (dec @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    scores = scores.masked_fill(~source_keep[:, None, :], -torch.inf)
    return scores.softmax(dim=-1) @ (enc @ W_v), scores
""",
            ),
        ),
        Mistake(
            "encoder vectors used as values",
            "Your weights are correct, but you apply them to the encoder's vectors. The values have their own matrix, W_v.",
            "weights @ (enc @ W_v)", "weights @ enc",
        ),
        Mistake(
            "queries projected with W_k",
            "Your queries and keys share a matrix, and W_q is never used for the scores.",
            "dec @ W_q", "dec @ W_k",
        ),
        Mistake(
            "mask applied after the softmax",
            "The remaining weights add up to less than 1, because padding had received its share before you removed it. Mask the scores, not the weights.",
            f"{HIDDEN}.softmax(dim=-1)", "scores.softmax(dim=-1) * source_keep[:, None, :]",
        ),
        Mistake(
            "results in the wrong order",
            "Your two results are swapped: the tuple is (output, weights).",
            "return weights @ (enc @ W_v), weights", "return weights, weights @ (enc @ W_v)",
        ),
        Mistake(
            "self-attention of the source",
            "Your queries also come from the encoder, so the target is never used. Which of the two sequences should provide the queries?",
            code="""
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = (enc @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ (enc @ W_v), weights
""",
        ),
        detached("cross_attention"),
    ),
    alternatives={
        "F.scaled_dot_product_attention, and once more for the weights": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    def attend(values):
        return torch.nn.functional.scaled_dot_product_attention(dec @ W_q, enc @ W_k, values, attn_mask=source_keep[:, None, :])
    identity = torch.eye(enc.shape[1]).expand(len(enc), -1, -1)
    return attend(enc @ W_v), attend(identity)
""",
        "einsum, in float64": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    q, k, v = (torch.einsum("btD,Dd->btd", x.double(), W.double()) for x, W in ((dec, W_q), (enc, W_k), (enc, W_v)))
    exponentials = torch.exp(torch.einsum("bid,bjd->bij", q, k) / q.shape[-1] ** 0.5) * source_keep[:, None]
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return torch.einsum("bij,bjd->bid", weights, v), weights
""",
        "a loop over the sentences, without padding": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    all_weights = torch.zeros(len(dec), dec.shape[1], enc.shape[1])
    for b, keep in enumerate(source_keep):
        scores = dec[b] @ W_q @ (enc[b, keep] @ W_k).T / W_q.shape[1] ** 0.5
        all_weights[b][:, keep] = torch.softmax(scores, dim=1)
    return all_weights @ enc @ W_v, all_weights
""",
    },
    hints=(
        "This is the attention of notebook 02 with two sequences. Which one provides the queries? Which one provides keys and values? Which one has padding that must receive no weight?",
        "queries: (B, Tt, d). keys: (B, Ts, d). values: (B, Ts, dv). scores and weights: (B, Tt, Ts). source_keep (B, Ts) must be broadcast over all Tt rows.",
        "queries from the decoder; keys and values from the encoder\nscores = every query with every key, scaled\nscores of padding = a number whose exponential is 0\nweights = softmax over "
        "the source\nreturn the weighted sums of the values, and the weights",
        "Near miss: `scores.masked_fill(~source_keep, …)` without a new axis fails or, worse, aligns the batch with the target. source_keep needs an axis of size 1 in the middle.",
    ),
)

# ------------------------------------------------------------------------------------------ decoder mask


def mask_cases(draw: Draw) -> Iterator[Case]:
    # Only the sizes can be drawn: several of them, so that they cannot be guessed; the smallest has one word.
    for low, high in ((3, 9), (10, 30), (31, 60), (1, 2), (5, 25), (8, 40)):
        yield {"target": draw.integers(3, 900, int(draw.integers(low, high)))}


ALLOWED = "places[:, None] >= places"

decoder_mask = Exercise(
    cases=mask_cases,
    withheld=("coursekit.modules.causal_mask",),
    rule=Rule("equal", axes={"": "T T"}),
    mistakes=(
        Mistake(
            "only later positions allowed",
            "You allow the tokens that are still to be predicted and forbid the others.",
            ALLOWED, "places[:, None] < places",
        ),
        Mistake(
            "mask transposed",
            "Your first row allows every position, and your last row allows only one. Rows are the positions that attend, columns the positions attended to.",
            ALLOWED, "places[:, None] <= places",
        ),
        Mistake(
            "diagonal forbidden",
            "Your positions may not attend to themselves, so the first position sees nothing at all. The inputs are already shifted: position i contains the preceding token, which may be used.",
            ALLOWED, "places[:, None] > places",
        ),
        Mistake(
            "one position too many allowed",
            "Each of your positions also sees the next one, which contains exactly the token that it should predict.",
            ALLOWED, "places[:, None] + 1 >= places",
        ),
        Mistake(
            "everything allowed",
            "Your mask hides nothing, so every position sees the tokens that it should predict.",
            ALLOWED, "torch.ones(T, T, dtype=torch.bool)",
        ),
        Mistake(
            "only the diagonal allowed",
            "Each of your positions sees only itself, not the tokens before it.",
            ALLOWED, "places[:, None] == places",
        ),
        Mistake(
            "only two positions allowed",
            "Your positions attend only to themselves and to the position before them. They should be able to attend to all earlier positions.",
            ALLOWED, "(places[:, None] >= places) & (places[:, None] <= places + 1)",
        ),
        Mistake(
            "additive mask returned",
            "You return 0 and −∞, to be added to scores. Return a mask of True and False.",
            ALLOWED, "torch.full((T, T), -torch.inf).triu(1)",
        ),
    ),
    alternatives={
        "tril": """
def decoder_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()
""",
        "two loops": """
def decoder_mask(T):
    return torch.tensor([[j <= i for j in range(T)] for i in range(T)])
""",
        "numpy": """
import numpy as np
def decoder_mask(T):
    return np.tri(T, dtype=bool)
""",
    },
    hints=(
        "Write down the rows for T = 3: which positions may position 0 attend to? Position 1? Position 2?",
        "Input: a number. Result: (T, T) of True and False. Rows are the positions that attend, columns the positions attended to.",
        "for each i, for each j:   keep[i, j] = whether j is not later than i",
        "Near miss: an upper triangle looks similar on paper. In the first row exactly one entry is True; in the last row all entries are.",
    ),
)

# ------------------------------------------------------------------------------------------ the decoder's block


def block_cases(draw: Draw) -> Iterator[Case]:
    # In the last case a position may attend to some later positions and not to some earlier ones: `keep` decides.
    for batch, Tt, Ts, heads, dim, inner, seen in (
        (2, 4, 5, 2, 6, 9, np.tri(4)), (3, 5, 3, 1, 4, 7, np.tri(5)), (4, 3, 6, 4, 8, 5, [[1, 0, 1], [0, 1, 0], [1, 0, 1]]),
    ):  # fmt: skip
        weights = {f"W_{name}": draw.normal(dim, dim, scale=dim**-0.5) for name in "qkv"}
        maps = {f"own.{name}": (dim, dim) for name in ("query", "key", "value", "output")}
        for name, (rows, columns) in (maps | {"feed.widen": (inner, dim), "feed.narrow": (dim, inner)}).items():
            weights[f"{name}.weight"] = draw.normal(rows, columns, scale=columns**-0.5)
            weights[f"{name}.bias"] = draw.normal(rows, scale=0.3)
        for name in ("norm_own", "norm_cross", "norm_feed"):
            weights[f"{name}.weight"] = 1 + draw.normal(dim, scale=0.3)
            weights[f"{name}.bias"] = draw.normal(dim, scale=0.3)
        yield {
            "config": {"dim": dim, "heads": heads, "inner": inner},
            "x": draw.normal(batch, Tt, dim),
            "encoded": draw.normal(batch, Ts, dim),
            "keep": np.array([seen], dtype=bool),
            "source_keep": words_then_padding(draw, batch, Ts),
            **{f"weights.{name}": value for name, value in weights.items()},
        }


OWN = "x = x + self.own(self.norm_own(x), keep)"
CROSS = "seen, _ = cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)"
SUM = "x = x + seen"
FEED = "return x + self.feed(self.norm_feed(x))"



def block_with(forward: str) -> str:
    """The whole cell with another `forward`."""
    return f"""
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, inner):
        super().__init__()
        self.own, self.feed = MultiHeadAttention(dim, heads), FeedForward(dim, inner, "relu")
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(self, x, encoded, keep, source_keep):
{forward.strip(chr(10))}
"""


decoder_block = Exercise(
    cases=block_cases,
    rule=Rule(axes={"eval": "B Tt D"}, legend=OF_WEIGHTS),
    uses=("recurrence.cross_attention",),
    mistakes=(
        Mistake(
            "cross-attention left out",
            "Your answer does not change with `encoded`, so the decoder would generate without having read the source.",
            edits={CROSS: "pass", SUM: "pass"},
        ),
        Mistake(
            "self-attention left out",
            "Your answer does not change with the weights of `own`, so the positions of the target never attend to each other.",
            OWN, "pass",
        ),
        Mistake(
            "feed-forward network left out",
            "Your answer does not change with the weights of `feed`, because the third part is missing.",
            FEED, "return x",
        ),
        Mistake(
            "all residual connections left out",
            "You have left out the additions, so each part *replaces* its input vectors. Add the output of each part to its input.",
            edits={OWN: OWN.replace("x + ", ""), SUM: "x = seen", FEED: FEED.replace("x + ", "")},
        ),
        Mistake(
            "residual around the cross-attention left out",
            "The output of the cross-attention *replaces* the target's vectors. Add it to them.",
            SUM, "x = seen",
        ),
        Mistake(
            "residual around the feed-forward network left out",
            "The output of the feed-forward network *replaces* the vectors. Add it to them.",
            FEED, FEED.replace("x + ", ""),
        ),
        Mistake(
            "residual around the self-attention left out",
            "The output of `own` *replaces* the vectors. Add it to them.",
            OWN, OWN.replace("x + ", ""),
        ),
        Mistake(
            "cross-attention before self-attention",
            "Your first two parts are in the wrong order. The target should attend to itself first, then to the source.",
            code=block_with(f"        {CROSS}\n        {SUM}\n        {OWN}\n        {FEED}"),
        ),
        Mistake(
            "feed-forward network before the cross-attention",
            "Your last two parts are in the wrong order. The feed-forward network should come last.",
            code=block_with(
                f"        {OWN}\n        x = x + self.feed(self.norm_feed(x))\n        {CROSS}\n        return x + seen"
            ),
        ),
        Mistake(
            "three parts in parallel",
            "Each of your three parts reads the input of the block. The parts should follow one another, so that each part reads the sum produced by the previous part.",
            edits={OWN: f"given = x\n        {OWN}", CROSS: CROSS.replace("norm_cross(x)", "norm_cross(given)"), FEED: FEED.replace("norm_feed(x)", "norm_feed(given)")},
        ),
        Mistake(
            "layer norms left out",
            "Your answer does not change with the weights of the norms, but each part should read *normalised* vectors.",
            edits={OWN: "x = x + self.own(x, keep)", CROSS: CROSS.replace("self.norm_cross(x)", "x"), FEED: "return x + self.feed(x)"},
        ),
        Mistake(
            "post-norm instead of pre-norm",
            "You normalise the sums, as in the paper of 2017. Here each part should read normalised vectors, and the sum should stay as it is.",
            edits={OWN: "x = self.norm_own(x + self.own(x, keep))", CROSS: CROSS.replace("self.norm_cross(x)", "x"), SUM: "x = self.norm_cross(x + seen)",
                   FEED: "return self.norm_feed(x + self.feed(x))"},
        ),
        Mistake(
            "one norm used for all three parts",
            "Your answer does not change with the weights of `norm_cross` and `norm_feed`: you use the first norm in all three places.",
            edits={CROSS: CROSS.replace("norm_cross", "norm_own"), FEED: FEED.replace("norm_feed", "norm_own")},
        ),
        Mistake(
            "normalised vectors on the residual stream",
            "You pass the *normalised* vectors on along the residual stream. Normalise only the input of the branch, and leave the stream itself unchanged.",
            edits={OWN: "x = self.norm_own(x)\n        x = x + self.own(x, keep)",
                   CROSS: "x = self.norm_cross(x)\n        " + CROSS.replace("self.norm_cross(x)", "x"),
                   FEED: "x = self.norm_feed(x)\n        return x + self.feed(x)"},
        ),
        Mistake(
            "source normalised again",
            "You pass `encoded` through a norm of the decoder. The encoder has already normalised these vectors, so use them as they are.",
            CROSS, CROSS.replace("encoded", "self.norm_cross(encoded)"),
        ),
        Mistake(
            "keep ignored: later positions visible",
            "Your output at the first position changes with later tokens, because you do not pass `keep` to `own`. The target sees the tokens that it has to predict.",
            OWN, "x = x + self.own(self.norm_own(x), torch.ones_like(keep))",
        ),
        Mistake(
            "causal mask instead of keep",
            "Your block uses a causal mask, whatever `keep` says. The caller decides which position of the target may attend to which.",
            OWN, "x = x + self.own(self.norm_own(x), torch.ones_like(keep).tril())",
        ),
        Mistake(
            "source padding not masked",
            "Your answer changes with the vectors at the source's padding, because you do not pass `source_keep` on.",
            CROSS, CROSS.replace("source_keep", "torch.ones_like(source_keep)"),
        ),
        Mistake(
            "W_k and W_v swapped",
            "You have swapped W_k and W_v: W_k should give the keys, which are compared with the queries, and W_v the values, which are averaged.",
            CROSS, CROSS.replace("self.W_k, self.W_v", "self.W_v, self.W_k"),
        ),
        Mistake(
            "W_q and W_k swapped",
            "You have swapped W_q and W_k: the order of the arguments is W_q, W_k, W_v.",
            CROSS, CROSS.replace("self.W_q, self.W_k", "self.W_k, self.W_q"),
        ),
    ),
    alternatives={
        "names for what each part gives": block_with("""
        after_own = x + self.own(self.norm_own(x), keep)
        from_source = cross_attention(self.norm_cross(after_own), encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        after_cross = after_own + from_source
        return after_cross + self.feed(self.norm_feed(after_cross))
"""),
        "PyTorch's attention for the source": block_with("""
        x = x + self.own(self.norm_own(x), keep)
        y = self.norm_cross(x)
        x = x + nn.functional.scaled_dot_product_attention(
            y @ self.W_q, encoded @ self.W_k, encoded @ self.W_v, attn_mask=source_keep[:, None, :])
        return x + self.feed(self.norm_feed(x))
"""),
        "a loop over branches": block_with("""
        def look(y):
            return cross_attention(y, encoded, self.W_q, self.W_k, self.W_v, source_keep)[0]
        for norm, part in ((self.norm_own, lambda y: self.own(y, keep)), (self.norm_cross, look), (self.norm_feed, self.feed)):
            x = x + part(norm(x))
        return x
"""),
    },
    hints=(
        "Three parts follow one another. What does each part read, and to what is its output added?",
        "x: (B, Tt, D), and so is each of the three sums. encoded: (B, Ts, D). cross_attention returns two results: add only the first.",
        "x = x + own(norm of x, keep)\nx = x + output of cross_attention(norm of x, encoded, three matrices, source_keep)\nreturn x + feed(norm of x)",
        "Near miss: `x = self.norm_own(x)` followed by `x + …` normalises the residual stream as well. The norm belongs only inside the branch.",
    ),
)

# ------------------------------------------------------------------------------------------ shift right


def shift_cases(draw: Draw) -> Iterator[Case]:
    # Every case has a different bos, which may also occur within a target. The last case has a single column.
    starts = 1 + draw.rng.permutation(4)
    for (batch, T, vocabulary), bos in zip(((3, 6, 40), (2, 9, 90), (5, 4, 60), (4, 1, 50)), starts, strict=True):
        target = draw.integers(5, vocabulary, batch, T)
        if T > 1:
            lengths = draw.integers(2, T, batch)
            lengths[-1] = T
            target[np.arange(T) >= lengths[:, None]] = 0
            target[-1, 1] = bos
        yield {"target": target, "bos": int(bos)}


SHIFTED = "torch.cat([start, target[:, :-1]], dim=1)"

shift_right = Exercise(
    cases=shift_cases,
    rule=Rule("equal", axes={"": "B T"}),
    mistakes=(
        Mistake(
            "target returned unshifted",
            "You return the target as it is, so the decoder would receive the very token that it has to predict.",
            SHIFTED, "target.clone()",
        ),
        Mistake(
            "first token overwritten by bos",
            "bos is at the front, but it has replaced the first token of the target, and the other tokens have not moved.",
            SHIFTED, "torch.cat([start, target[:, 1:]], dim=1)",
        ),
        Mistake(
            "target shifted left",
            "Your position t contains token t + 1, so the decoder would receive tokens that it has yet to predict.",
            SHIFTED, "torch.cat([target[:, 1:], start], dim=1)",
        ),
        Mistake(
            "one column too many",
            "Your answer is one column wider than the target, because you have kept its last token.",
            "target[:, :-1]", "target",
        ),
        Mistake(
            "one column too few",
            "Your answer is one column narrower than the target, because the bos at the front is missing.",
            SHIFTED, "target[:, :-1]",
        ),
        Mistake(
            "last token rotated to the front",
            "Your first column contains the last token of the target. This is a rotation; put bos at the front instead.",
            SHIFTED, "target.roll(1, dims=1)",
        ),
        Mistake(
            "zeros in front",
            "Your first column is 0, which means padding here. The start token is an argument.",
            "torch.full_like(target[:, :1], bos)", "torch.zeros_like(target[:, :1])",
        ),
        Mistake(
            "shift along the batch",
            "You have moved the sentences down, not the tokens to the right.",
            SHIFTED, "torch.cat([torch.full_like(target[:1], bos), target[:-1]], dim=0)",
        ),
        Mistake(
            "shift by two positions",
            "You have moved the tokens by two positions. Position t should contain token t − 1.",
            SHIFTED, "torch.cat([start, start, target[:, :-2]], dim=1)",
        ),
        Mistake(
            "fixed number instead of bos",
            "Your first column contains the same number, whatever `bos` is. The start token is an argument.",
            "torch.full_like(target[:, :1], bos)", "torch.ones_like(target[:, :1])",
            also=(
                """
def shift_right(target, bos):
    return torch.nn.functional.pad(target[:, :-1], (1, 0), value=2)
""",
            ),
        ),
        Mistake(
            "bos in every column",
            "All your columns contain bos, because you copied each token from a position that you had just overwritten. Copy from the target, or work from right to left.",
            SHIFTED, "torch.full_like(target, bos)",
        ),
        Mistake(
            "batch shifted as one flat sequence",
            "Your first sentence is correct. Every other sentence begins with the last token of the previous sentence. `roll` needs the axis as an argument, and every sentence should start with bos.",
            SHIFTED, "torch.cat([start[0], target.flatten()[:-1]]).view(target.shape)",
        ),
        Mistake(
            "padding replaced by bos",
            "You have also replaced the padding by bos. Only the first column should be new.",
            SHIFTED,
            "torch.where(torch.cat([start, target[:, :-1]], dim=1) == 0, bos, torch.cat([start, target[:, :-1]], dim=1))",
        ),
    ),
    alternatives={
        "a rotation with the front overwritten": """
def shift_right(target, bos):
    shifted = target.roll(1, dims=1)
    shifted[:, 0] = bos
    return shifted
""",
        "F.pad": """
def shift_right(target, bos):
    return torch.nn.functional.pad(target, (1, 0), value=bos)[:, :-1]
""",
        "numpy": """
import numpy as np
def shift_right(target, bos):
    return np.insert(target.numpy(), 0, bos, axis=1)[:, :-1]
""",
        "lists": """
def shift_right(target, bos):
    return torch.tensor([[bos, *row[:-1]] for row in target.tolist()])
""",
    },
    hints=(
        "Which tokens may the decoder know when it predicts token 0? And when it predicts token 1? Write the input above the target, position by position.",
        "Input: (B, T) integers. Result: (B, T) again. One column is new, so one column of the target must be dropped. Which token is never used as an input?",
        "a column of bos\nthen the target without its last column\njoined along the token axis",
        "Near miss: `target.roll(1, dims=1)` moves every token correctly but brings the last token to the front, so the answer for the last position becomes the first input.",
    ),
)

# ------------------------------------------------------------------------------------------ greedy


def greedy_cases(draw: Draw) -> Iterator[Case]:
    # No two cases share a number for bos, eos or pad, and none of them is 0.
    special = 1 + draw.rng.permutation(12).reshape(4, 3)
    for case, (batch, longest, vocabulary) in enumerate(((3, 8, 14), (5, 11, 13), (4, 9, 15), (1, 7, 16))):
        bos, eos, pad = (int(token) for token in special[case])
        # Dyadic numbers, plus a different small number for each token: sums are exact, and no two tokens have equal scores.
        scores = np.round(draw.normal(batch, longest, vocabulary, scale=2.0) * 8) / 8
        words = np.round(draw.normal(vocabulary, vocabulary, scale=1.5) * 8) / 8
        words[:, [bos, eos, pad]] = 0
        scores += draw.rng.permutation(vocabulary) / 128
        scores[:, :, [bos, eos, pad]] = -100 + np.arange(3) / 4
        ends = np.full(batch, longest)  # as long as allowed, and no eos
        if case == 0:  # none ends at once, one ends in the last column, one never ends
            ends[:2] = longest - 1, 3
        elif case == 1:  # one ends at once
            ends[:-1] = [0, *(2 + draw.rng.permutation(longest - 3)[: batch - 2])]
        elif case == 2:  # all end early, at different positions
            ends[:] = 2 + draw.rng.permutation(longest - 4)[:batch]
        for sentence, end in enumerate(ends):
            if end < longest:
                scores[sentence, end, eos] = 100
            if end > 1:  # the decoder may generate pad or bos like any other token
                scores[sentence, end - 2, [pad, bos][sentence % 2]] = 90
        yield {
            "scores": scores.astype(np.float32),
            "words": words.astype(np.float32),
            "B": batch, "longest": longest, "bos": bos, "eos": eos, "pad": pad,
        }  # fmt: skip


BEST = "best = next_logits(ids)[:, -1].argmax(dim=-1)"

greedy_translate = Exercise(
    cases=greedy_cases,
    rule=Rule("equal", axes={"": "B longest"}),
    mistakes=(
        Mistake(
            "logits of the first position used",
            "Your first token is correct and is then repeated. Check which position's logits you read.",
            "[:, -1].argmax", "[:, 0].argmax",
        ),
        Mistake(
            "tokens generated after eos",
            "Your answer is correct up to eos, but your sentences continue after it. Pad each sentence after its own eos, not after the end of the longest sentence.",
            "best = torch.where(ended, pad, best)", "pass",
            also=(
                """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    while ids.shape[1] <= longest and not ended.all():
        best = next_logits(ids)[:, -1].argmax(dim=-1)
        ids = torch.cat([ids, best[:, None]], dim=1)
        ended = ended | (best == eos)
    rest = torch.full((B, longest + 1 - ids.shape[1]), pad)
    return torch.cat([ids, rest], dim=1)[:, 1:]
""",
                """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    while ids.shape[1] <= longest and not ended.all():
        best = next_logits(ids)[:, -1].argmax(dim=-1)
        ids = torch.cat([ids, best[:, None]], dim=1)
        ended = ended | (best == eos)
    return ids[:, 1:]
""",
            ),
        ),
        Mistake(
            "eos replaced by pad",
            "Your sentences lose their eos. It belongs to the translation; padding comes *after* it.",
            "return ids[:, 1:]", "return torch.where(ids[:, 1:] == eos, pad, ids[:, 1:])",
        ),
        Mistake(
            "bos returned",
            "Your first column is bos, which is not part of the translation.",
            "return ids[:, 1:]", "return ids[:, :-1]",
            also=(
                """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        best = torch.where(ended, pad, next_logits(ids)[:, -1].argmax(dim=-1))
        ids = torch.cat([ids, best[:, None]], dim=1)
        ended = ended | (best == eos)
    return ids
""",
            ),
        ),
        Mistake(
            "all sentences stopped at the first eos",
            "As soon as one sentence has ended, you pad all of them. Each sentence ends at its own eos.",
            "ended = ended | (best == eos)", "ended = ended | (best == eos).any()",
        ),
        Mistake(
            "finished sentences resumed",
            "Your sentences contain one pad after eos and then continue. A sentence that has ended should stay ended.",
            "ended = ended | (best == eos)", "ended = best == eos",
        ),
        Mistake(
            "least probable token taken",
            "You take the least probable token at each step.",
            "argmax", "argmin",
        ),
        Mistake(
            "only the last token given to the decoder",
            "Your first token is correct, but later tokens are not, because you give the decoder only the last token. It needs the whole prefix.",
            "next_logits(ids)[:, -1]", "next_logits(ids[:, -1:])[:, -1]",
        ),
        Mistake(
            "generated tokens not given to the decoder",
            "You give the decoder nothing but start tokens, so it never sees the tokens that it has generated.",
            "next_logits(ids)[:, -1]", "next_logits(torch.full_like(ids, bos))[:, -1]",
        ),
        Mistake(
            "prefix started with pad",
            "Even your first tokens can be wrong, because the prefix that you give the decoder does not begin with bos.",
            "torch.full((B, 1), bos)", "torch.full((B, 1), pad)",
        ),
        Mistake(
            "one token too few",
            "Your answer is one column too narrow. It should have `longest` columns.",
            "range(longest)", "range(longest - 1)",
        ),
        Mistake(
            "early stop without padding",
            "Your answer is correct where a sentence uses all columns. When all sentences end early, it is too narrow. Return `longest` columns, filled up with pad.",
            "    ended = ended | (best == eos)",
            "    ended = ended | (best == eos)\n        if ended.all():\n            break",
        ),
        Mistake(
            "generated pad treated as an end",
            "Your sentence stops where the decoder itself generates pad. Only eos ends a sentence; pad fills the columns after it.",
            "ended = ended | (best == eos)", "ended = ended | (best == eos) | (best == pad)",
        ),
        Mistake(
            "eos repeated to the end",
            "Your answer is correct up to the first eos. After it, write pad, not eos again.",
            "torch.where(ended, pad, best)", "torch.where(ended, eos, best)",
        ),
        Mistake(
            "zeros after eos",
            "Your answer is correct up to eos. After it, write `pad`, which need not be 0.",
            "torch.where(ended, pad, best)", "torch.where(ended, 0, best)",
        ),
        Mistake(
            "eos forced at the end",
            "You write eos into the last column of a sentence that has not ended. Such a sentence is truncated, so keep the token generated there.",
            "    return ids[:, 1:]", "    ids[~ended, -1] = eos\n    return ids[:, 1:]",
        ),
        Mistake(
            "best position instead of best token",
            "You take the largest value over the wrong axis, so your numbers are positions in the sentence, not tokens.",
            "next_logits(ids)[:, -1].argmax(dim=-1)", "next_logits(ids).argmax(dim=1)[:, -1]",
            also=(
                """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        best = torch.where(ended, pad, next_logits(ids).argmax(dim=1)[:, 0])
        ids = torch.cat([ids, best[:, None]], dim=1)
        ended = ended | (best == eos)
    return ids[:, 1:]
""",
            ),
        ),
    ),
    alternatives={
        "one sentence at a time, stopped early": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    out = torch.full((B, longest), pad)
    for b in range(B):
        ids = torch.full((B, 1), bos)
        for t in range(longest):
            ids = torch.cat([ids, next_logits(ids)[:, t].argmax(-1, keepdim=True)], 1)
            out[b, t] = ids[b, -1]
            if ids[b, -1] == eos:
                break
    return out
""",
        "generated to the end, truncated afterwards": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, 1), bos)
    while ids.shape[1] <= longest:
        ids = torch.cat([ids, next_logits(ids)[:, -1:].argmax(-1)], dim=1)
    ids = ids[:, 1:]
    after = ((ids == eos).cumsum(dim=1) - (ids == eos).int()) > 0
    return ids.masked_fill(after, pad)
""",
        "a full-width buffer": """
def greedy_translate(next_logits, B, longest, bos, eos, pad):
    ids = torch.full((B, longest + 1), pad)
    ids[:, 0] = bos
    running = torch.ones(B, dtype=torch.bool)
    for t in range(longest):
        logits = next_logits(ids[:, : t + 1])
        ids[running, t + 1] = torch.softmax(logits, dim=-1)[running, -1].max(dim=-1).indices
        running = running & (ids[:, t + 1] != eos)
        if not running.any():
            break
    return ids[:, 1:].numpy()
""",
    },
    hints=(
        "What does the decoder know before it has generated anything? And after its first token? How do you know that a sentence has ended?",
        "ids grows from (B, 1) to (B, longest + 1). next_logits(ids): (B, t, V); only the last position is new. best: (B). ended: (B), True or False.",
        "ids = bos for every sentence; no sentence has ended\nlongest times:\n    best = the most probable token after the last position\n    where a sentence has ended: pad in its place\n    "
        "append best to ids\n    note which sentences have ended now\nreturn everything after bos",
        "Near miss: stopping with `if (best == eos).all()` waits for all sentences to end at the *same* step; until then, finished sentences continue.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def cross_mask_cases(draw: Draw) -> Iterator[Case]:
    # The last case is so large that its mask cannot be guessed.
    for batch, Ts, Tt in ((2, 6, 6), (3, 5, 7), (4, 8, 5), (9, 13, 6)):
        keep = draw.rng.permutation(words_then_padding(draw, batch, Ts))
        yield {
            "source_keep": keep[:, ::-1].copy() if batch == 4 else keep,  # padding comes first there
            "target_keep": words_then_padding(draw, batch, Tt)[::-1].copy(),
        }


MENDED = "source_keep[:, None, :].expand(-1, Tt, -1)"

mended_cross_mask = Exercise(
    mends=True,
    cases=cross_mask_cases,
    rule=Rule("equal", axes={"": "B Tt Ts"}),
    uses=("recurrence.decoder_mask",),
    mistakes=(
        Mistake(
            "mask of 2021 unchanged",
            "This is still the mask of 2021. It ignores where the *source* has words, and it hides source positions that the target has not reached yet.",
            code="""
def mended_cross_mask(source_keep, target_keep):
    T = target_keep.shape[1]
    return target_keep[:, None, :] & (torch.arange(T)[:, None] >= torch.arange(T))
""",
        ),
        Mistake(
            "source padding masked, but the mask is still causal",
            "The padding is correct now. But your first target position still sees only one source word. Is the end of the source unknown when the target begins?",
            MENDED, f"{MENDED} & (torch.arange(Tt)[:, None] >= torch.arange(source_keep.shape[1]))",
        ),
        Mistake(
            "target padding in place of source padding",
            "The causal triangle is gone, but the columns are source positions, and you hide the padding of the target.",
            code="""
def mended_cross_mask(source_keep, target_keep):
    Ts = source_keep.shape[1]
    columns = torch.nn.functional.pad(target_keep, (0, max(Ts - target_keep.shape[1], 0)))[:, :Ts]
    return columns[:, None, :].expand(-1, target_keep.shape[1], -1)
""",
            also=(
                """
def mended_cross_mask(source_keep, target_keep):
    return target_keep[:, None, :].expand(-1, target_keep.shape[1], -1)
""",
            ),
        ),
        Mistake(
            "nothing masked",
            "Your mask hides nothing, so the target would attend to the source's padding.",
            MENDED, "torch.ones(len(source_keep), Tt, source_keep.shape[1], dtype=torch.bool)",
        ),
        Mistake(
            "mask inverted",
            "You allow the padding and hide the words.",
            MENDED, "~" + MENDED,
        ),
        Mistake(
            "rows of the target's padding emptied",
            "Your rows for the target's padding are all False, and a softmax over such a row is NaN. The docstring says how to treat these rows.",
            MENDED, f"{MENDED} & target_keep[:, :, None]",
        ),
        Mistake(
            "source and target axes swapped",
            "Your axes are batch, source, target. The target positions attend to the source, so they should be the rows.",
            MENDED, f"{MENDED}.transpose(1, 2)",
        ),
        Mistake(
            "one row for all target positions",
            "You return one row per sentence. It would broadcast in most uses, but the task asks for a row for each target position.",
            MENDED, "source_keep[:, None, :]",
        ),
        Mistake(
            "source and target masks combined with or",
            "Your target words see the source's padding, because you have combined the two masks with *or*.",
            MENDED, f"{MENDED} | target_keep[:, :, None]",
        ),
        Mistake(
            "first sentence's mask used for all",
            "Your mask is correct for the first sentence, but you use it for all the others as well. Each sentence has its own padding.",
            MENDED, "source_keep[:1, None, :].expand(len(source_keep), Tt, -1)",
        ),
        Mistake(
            "target padding emptied, still causal",
            "Your mask hides too much in two ways: the rows for the target's padding are all False, and no target position sees source words beyond its "
            "own position.",
            MENDED,
            f"{MENDED} & target_keep[:, :, None] & (torch.arange(Tt)[:, None] >= torch.arange(source_keep.shape[1]))",
        ),
        Mistake(
            "keeps combined position by position",
            "You combine the two arguments into one row per sentence. With unequal sizes this fails; with equal sizes the mask hides source words because the "
            "*target* is short.",
            MENDED, "source_keep & target_keep",
        ),
    ),
    alternatives={
        "and-ed with ones": """
def mended_cross_mask(source_keep, target_keep):
    return source_keep[:, None, :] & torch.ones_like(target_keep)[:, :, None]
""",
        "repeated": """
def mended_cross_mask(source_keep, target_keep):
    return torch.stack([source_keep] * target_keep.shape[1], dim=1)
""",
        "numpy": """
import numpy as np
def mended_cross_mask(source_keep, target_keep):
    return np.repeat(source_keep.numpy()[:, None, :], target_keep.shape[1], axis=1)
""",
    },
    hints=(
        "When the decoder predicts its first token, has the encoder already read the whole source? Which source words may the decoder see then?",
        "Input: (B, Ts) and (B, Tt). Result: (B, Tt, Ts): a row for each target position, a column for each source position.",
        "a source position may be seen if it contains a word\nthis does not depend on the target position: all rows of a sentence are equal",
        "Near miss: `source_keep & target_keep` has the wrong shape where the sizes differ, and with equal sizes it hides source words because the *target* is short.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def window_cases(draw: Draw) -> Iterator[Case]:
    def case(T: int, window: int) -> Case:
        D = int(draw.integers(3, 40))
        return {"x": draw.normal(T, D + (D == T)), "window": int(window)}

    T = int(draw.integers(5, 9))
    yield case(T, 1)
    yield case(T, T - 1)  # all words, and no more than these
    T = int(draw.integers(16, 30))
    yield case(T, draw.integers(2, 6))
    yield case(T, T // 2 + draw.integers(1, 5))  # both ends cut off the windows of the words in the middle
    yield case(draw.integers(40, 70), draw.integers(7, 15))
    yield case(draw.integers(4, 9), draw.integers(10, 20))
    yield case(draw.integers(4, 9), 0)


PAIRS = "sum(min(i, window) + 1 + min(T - 1 - i, window) for i in range(T))"
OPERATIONS = "2 * pairs * D"

flops_attention = Exercise(
    cases=window_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "only the scores counted",
            "Your number is half of the correct one. Count both products.",
            OPERATIONS, "pairs * D",
        ),
        Mistake(
            "multiplications and additions counted separately",
            "Your number is twice the correct one, because one multiplication together with one addition counts as 1.",
            OPERATIONS, "4 * pairs * D",
        ),
        Mistake(
            "window ignored",
            "Your number is correct only if the window covers the whole text. In other cases, a word attends to at most "
            "`window` words before it and as many after it.",
            PAIRS, "T * T",
        ),
        Mistake(
            "ends of the text ignored",
            "Your number is too large, because you gave every word a full window. The first word has no words before it, "
            "and the last word has none after it.",
            PAIRS, "T * (2 * window + 1)",
            also=("def flops_attention(T, D, window):\n    return 2 * T * min(2 * window + 1, T) * D\n",),
        ),
        Mistake(
            "word itself left out",
            "Your number is too small by 2D for each word. A word also attends to itself.",
            " + 1 + ", " + ",
        ),
        Mistake(
            "word itself counted twice",
            "Your number is too large by 2D for each word. You have counted each word both among the words before it and "
            "among the words after it.",
            " + 1 + ", " + 2 + ",
        ),
        Mistake(
            "window divided between the two sides",
            "Your windows are too narrow: `window` is the largest distance on *each* side, not the number of words "
            "on both sides together.",
            PAIRS, "sum(min(i, window // 2) + 1 + min(T - 1 - i, window // 2) for i in range(T))",
        ),
        Mistake(
            "last word of each window left out",
            "Your windows end one word too early. A range stops before its end, but the word exactly `window` positions later "
            "still counts.",
            PAIRS, "sum(min(i + window, T) - max(i - window, 0) for i in range(T))",
            also=(
                """
def flops_attention(T, D, window):
    pairs = sum(len(range(max(0, i - window), min(T, i + window))) for i in range(T))
    return 2 * pairs * D
""",
            ),
        ),
        Mistake(
            "words at distance `window` left out",
            "Your windows are too narrow. Words exactly `window` positions away still belong to the window.",
            PAIRS, "sum(abs(i - j) < window for i in range(T) for j in range(T))",
        ),
        Mistake(
            "each pair counted once",
            "You have counted each pair of different words once, for example because you counted the window on one side only. But each of the two words attends to "
            "the other. If you did count all the scores, remember that each weighted sum has as many terms as the word attends to words.",
            OPERATIONS, "(pairs + T) * D",
            also=(
                """
def flops_attention(T, D, window):
    return 2 * D * sum(min(i, window) + 1 for i in range(T))
""",
            ),
        ),
        Mistake(
            "T and D swapped",
            "You have counted pairs of coordinates. Which things attend to each other, and how many of them are there?",
            edits={"T - 1 - i": "D - 1 - i", "range(T)": "range(D)", OPERATIONS: "2 * pairs * T"},
        ),
        Mistake(
            "only the pairs counted",
            "You have counted the pairs of words. Each pair costs more than one multiply-add.",
            OPERATIONS, "2 * pairs",
            also=("\ndef flops_attention(T, D, window):\n    return sum(abs(i - j) <= window for i in range(T) for j in range(T))\n",),
        ),
        Mistake(
            "projections counted",
            "You have also counted the projections, which the docstring excludes.",
            OPERATIONS, "2 * pairs * D + 4 * T * D * D",
            also=(
                """
def flops_attention(T, D, window):
    pairs = sum(abs(i - j) <= window for i in range(T) for j in range(T))
    return 2 * pairs * D + 3 * T * D * D
""",
            ),
        ),
        Mistake(
            "scaling counted",
            "Your number is too large by one for each pair, because the scaling of the scores is not counted.",
            OPERATIONS, "2 * pairs * D + pairs",
        ),
        Mistake(
            "first addition of each sum left out",
            "You have counted multiplications and additions separately, with one addition fewer per sum than there are terms. One multiplication together with one "
            "addition counts as 1: a sum of D products counts as D.",
            OPERATIONS, "pairs * (2 * D - 1) + 2 * pairs * D - T * D",
        ),
    ),
    alternatives={
        "in closed form": """
def flops_attention(T, D, window):
    window = min(window, T - 1)
    return 2 * D * (T + window * (2 * T - window - 1))
""",
        "a mask": """
def flops_attention(T, D, window):
    places = torch.arange(T)
    keep = (places[:, None] - places).abs() <= window
    return 2 * D * keep.sum()
""",
        "two sums over words": """
def flops_attention(T, D, window):
    scores = sums = 0
    for i in range(T):
        seen = len(range(max(0, i - window), min(T, i + window + 1)))
        scores += seen * D
        sums += D * seen
    return scores + sums
""",
    },
    hints=(
        "How many words does the first word attend to? How many does a word in the middle of a long text attend to?",
        "T, D and window are integers, and so is the result. One score is a sum of D products; one coordinate of an output is a sum with as many terms as the "
        "word attends to words.",
        "number of pairs = for each word: itself, the words before it and the words after it, at most `window` of each\n"
        "each pair costs D multiply-adds for its score and D for its part of the weighted sum",
        "Near miss: T · (2 · window + 1) pairs are too many, because windows at the beginning and at the end of the text contain fewer words.",
    ),
)


def path_cases(draw: Draw) -> Iterator[Case]:
    def case(T: int, architecture: str) -> Case:
        return {"ids": draw.integers(3, 900, int(T)), "architecture": architecture}

    for architecture in ("recurrent", "attention", "dilated"):
        yield case(draw.integers(20, 400), architecture)
    for reached in (1, 4, 13, 40, 121):  # the largest T that n layers reach, and one more
        yield case(reached + 1, "dilated")
        yield case(reached + 2, "dilated")
    yield case(2, "recurrent")
    yield case(2, "attention")
    yield case(draw.integers(5, 500), "recurrent")
    yield case(draw.integers(1000, 5000), "recurrent")
    yield case(draw.integers(1100, 3000), "dilated")


path_length = Exercise(
    cases=path_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "one step too many",
            "Your recurrent path is one step too long. Count the steps *between* the two states.",
            "return T - 1", "return T",
        ),
        Mistake(
            "attention path as long as the sentence",
            "In attention the last word attends to the first one directly.",
            "return 1", "return T - 1",
        ),
        Mistake(
            "convolutions without dilation",
            "The reach of your convolutions grows by only one position per layer. Their taps should move farther apart from layer to layer.",
            "missing -= 3**layers", "missing -= 1",
        ),
        Mistake(
            "distances doubled instead of tripled",
            "Your layers reach 1, 2, 4, … positions. Here the distances grow by a factor of 3.",
            "3**layers", "2**layers",
        ),
        Mistake(
            "both sides of the filter counted",
            "You let each layer reach to the right by its whole width. A layer reaches only as far as its right tap.",
            "3**layers", "2 * 3**layers",
        ),
        Mistake(
            "only the last layer's reach counted",
            "Each of your layers starts again from the first word. The reaches of the layers add up.",
            "missing -= 3**layers", "missing = T - 1 - 3**layers",
        ),
        Mistake(
            "first word counted",
            "For some T, your convolutions need one layer too many. The distance from the first to the last word is T − 1 positions.",
            "missing > 0", "missing >= 0",
        ),
        Mistake(
            "attention path of length 0",
            "Your attention path has length 0. It takes one layer until the last word's vector depends on the first word.",
            "return 1", "return 0",
        ),
        Mistake(
            "one layer too few",
            "Your convolutions stop one layer early at almost every T. The taps of the first layer are 1 position apart, not 3. If a distance "
            "exceeds the reach of n layers, a whole further layer is needed, so round up.",
            "3**layers", "3**(layers + 1)",
        ),
        Mistake(
            "layers rounded down",
            "Your convolutions stop one layer early wherever the distance needs only a part of the last layer's reach, which is the case at almost every "
            "T. That part needs the whole layer, so round up.",
            # In exact arithmetic this would be the previous mistake; in floating point, log₃ 243 is slightly less than 5.
            code="""
import math

def path_length(T, architecture):
    if architecture == "dilated":
        return int(math.log(2 * T - 1, 3))
    return {"recurrent": T - 1, "attention": 1}[architecture]
""",
        ),
        Mistake(
            "logarithm rounded to the nearest integer",
            "log₃(T) describes how the number grows, but it is not the number itself: after n layers the reach to one side is 1 + 3 + 9 + … = (3ⁿ − 1)/2.",
            code="""
def path_length(T, architecture):
    if architecture == "dilated":
        return sum(3 ** (2 * n - 1) < T * T for n in range(1, 60))
    return {"recurrent": T - 1, "attention": 1}[architecture]
""",
        ),
    ),
    alternatives={
        "a closed form, in whole numbers": """
def path_length(T, architecture):
    if architecture == "dilated":
        return next(n for n in range(60) if (3**n - 1) // 2 >= T - 1)
    return {"recurrent": T - 1, "attention": 1}[architecture]
""",
        "one position reached after another": """
def path_length(T, architecture):
    if architecture == "attention":
        return 1
    steps, place, tap = 0, 1, 1
    while place < T:
        place += tap
        tap *= 1 if architecture == "recurrent" else 3
        steps += 1
    return steps
""",
    },
    survivors={
        "(-1, T - 1)": "a layer that reaches a third of a position comes first: integer distances need as many layers as before",
    },
    hints=(
        "Start at the first word. How far can information about this word travel in one step or one layer of each architecture?",
        "Input: T and a word. Result: one integer. The distance to cover is T − 1 positions.",
        "recurrent: one position per step\nattention: any distance in one layer\ndilated: 1 position, then 3 more, then 9 more, … until the distance is covered",
        "Near miss: log₃(T), rounded up, is close but not exact: after n layers the reach is 1 + 3 + 9 + …, which is (3ⁿ − 1)/2.",
    ),
)
