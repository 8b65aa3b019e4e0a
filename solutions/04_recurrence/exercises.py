"""04 Recurrence, encoder–decoder, and what attention costs: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from autograder.checks.asking import Case
from autograder.checks.comparing import Rule
from coursekit.legends import OF_WEIGHTS

def words_then_padding(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """True where a token is real: the first row has two tokens of padding, the second none, the third one word."""
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
    """A whole cell that returns this formula."""
    return f"""
def recurrent_step(x, h, W_x, W_h, b):
    return {formula}
"""


recurrent_step = Exercise(
    cases=recurrent_cases,
    rule=Rule(axes={"": "B H"}),
    mistakes=(
        Mistake(
            "the old state forgotten",
            "Your answer does not change when h does: the network has no memory.",
            "x @ W_x + h @ W_h + b", "x @ W_x + b",
        ),
        Mistake(
            "the word forgotten",
            "Your answer does not change when x does: the network never reads the word.",
            "x @ W_x + h @ W_h + b", "h @ W_h + b",
        ),
        Mistake("no bias", "Your answer does not change when b does.", " + b)", ")"),
        Mistake(
            "no activation",
            "Some of your numbers leave the range from −1 to 1. The sum is right; the last step is missing.",
            STEP, "x @ W_x + h @ W_h + b",
        ),
        Mistake(
            "sigmoid instead of tanh",
            "All your numbers are positive. A plain recurrent network uses another activation, one with both signs.",
            "torch.tanh", "torch.sigmoid",
        ),
        Mistake(
            "W_h transposed",
            "Wherever you use W_h, it is the other way round: its rows stand for the inputs.",
            "h @ W_h", "h @ W_h.T",
        ),
        Mistake(
            "the bias added after the activation",
            "Your numbers can leave the range from −1 to 1, by as much as the bias: it belongs inside.",
            STEP, "torch.tanh(x @ W_x + h @ W_h) + b",
        ),
        Mistake(
            "each part activated by itself",
            "Your numbers can leave the range from −1 to 1: activations were added. The parts are added first, then comes one activation.",
            STEP, "torch.tanh(x @ W_x) + torch.tanh(h @ W_h + b)",
            also=(
                in_one_line("torch.tanh(x @ W_x) + torch.tanh(h @ W_h) + b"),
                in_one_line("torch.tanh(x @ W_x + b) + torch.tanh(h @ W_h)"),
                in_one_line("torch.tanh(x @ W_x + b) + torch.tanh(h @ W_h + b)"),
            ),
        ),
        Mistake(
            "the memory not sent through its matrix and the activation",
            "Your answer does not change with W_h, and the state is added as it is: it would grow without limit. "
            "It goes through its matrix, and through the activation together with the word.",
            STEP, "torch.tanh(x @ W_x) + h",
            also=(in_one_line("torch.tanh(x @ W_x + b) + h"),),
        ),
        Mistake(
            "W_h left out",
            "Your answer does not change with W_h: the old state has a matrix of its own.",
            "h @ W_h", "h",
        ),
        Mistake(
            "the bias twice",
            "Your bias is added twice, once with each product. There is one bias here. (PyTorch keeps two.)",
            STEP, "torch.tanh((x @ W_x + b) + (h @ W_h + b))",
        ),
        Mistake(
            "ReLU instead of tanh",
            "None of your numbers is negative. The activation here is tanh, which has both signs.",
            "torch.tanh", "torch.relu",
        ),
        Mistake(
            "the new state added to the old one",
            "You add the result to h. A plain recurrent network replaces its state; keeping the old one is what an LSTM adds.",
            STEP, f"h + {STEP}",
        ),
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
        "numpy, in float64": """
import numpy as np
def recurrent_step(x, h, W_x, W_h, b):
    return np.tanh(x.numpy().astype(np.float64) @ W_x.numpy() + h.numpy() @ W_h.numpy() + b.numpy())
""",
    },
    hints=(
        "What goes into the new state? Count the inputs of the function: which of them meet a matrix, and what is done to their sum?",
        "x @ W_x: (batch, H). h @ W_h: (batch, H). b: (H), the same for every sentence. Out: (batch, H).",
        "what the word says = x times its matrix\nwhat the memory says = h times its matrix\nnew state = activation of their sum with the bias",
        "Near miss: `tanh(x @ W_x) + h` remembers for ever and lets the state grow without limit. The memory has to go through its matrix "
        "and through the activation together with the word.",
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
    """The whole cell with its blocks of columns taken in this order."""
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
            "input and forget gate have changed places",
            "What you keep should be what you add, and the other way round: look at which block of columns is which gate.",
            "i, f, g, o =", "f, i, g, o =",
        ),
        Mistake(
            "candidate and output gate have changed places",
            "Your last two blocks of columns have changed roles. The order here is i, f, g, o, as in PyTorch.",
            "i, f, g, o =", "i, f, o, g =",
        ),
        Mistake(
            "the candidate through a sigmoid",
            "Your cell never goes down except by forgetting: what is added is always positive. The candidate is no gate.",
            "torch.tanh(g)", "torch.sigmoid(g)",
        ),
        Mistake(
            "the cell returned first",
            "Your two results have changed places: the tuple is (h, c).",
            OUT, "return c, torch.sigmoid(o) * torch.tanh(c)",
        ),
        Mistake(
            "the old cell used for the state",
            "Your cell is right. The state is computed from the cell as it was *before* this word.",
            edits={"    c = torch.sigmoid(f)": "    old = c\n    c = torch.sigmoid(f)", OUT: "return torch.sigmoid(o) * torch.tanh(old), c"},
        ),
        Mistake(
            "no tanh around the cell",
            "Your cell is right; some numbers of your state are too large. The cell goes through something before the output gate.",
            OUT, "return torch.sigmoid(o) * c, c",
        ),
        Mistake(
            "no output gate",
            "Your cell is right; your state shows all of it. One of the four blocks is never used.",
            OUT, "return torch.tanh(c), c",
        ),
        Mistake(
            "one gate for both",
            "The input gate of yours is 1 − f. That is a GRU's habit; here the two gates are independent.",
            "torch.sigmoid(i)", "(1 - torch.sigmoid(f))",
        ),
        Mistake(
            "no forget gate",
            "Your cell keeps everything for ever, as the LSTM of 1997 did. Here something decides what stays.",
            "torch.sigmoid(f) * c", "c",
        ),
        Mistake(
            "the old state forgotten",
            "Your answers do not change when h does: the gates see the word alone.",
            "x @ W_x + h @ W_h + b", "x @ W_x + b",
        ),
        Mistake(
            "every fourth column instead of blocks",
            "Your gates take the columns 0, 4, 8, …; they stand in blocks of H columns side by side.",
            ".chunk(4, dim=-1)", ".unflatten(-1, (-1, 4)).unbind(-1)",
        ),
        Mistake(
            "the blocks in another order",
            "All four parts are there, but your blocks of columns stand for others than they should: the order is i, f, g, o.",
            code=in_order(OTHER_ORDERS[0]),
            also=tuple(in_order(blocks) for blocks in OTHER_ORDERS[1:]),
        ),
        Mistake(
            "the gates without a sigmoid",
            "Your gates can be negative or greater than 1. Three of the four blocks go through a sigmoid first.",
            code="""
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = f * c + i * torch.tanh(g)
    return o * torch.tanh(c), c
""",
        ),
        Mistake(
            "tanh for all four",
            "Your gates can be negative. Three of the four blocks go through a sigmoid, the candidate alone through tanh.",
            code="""
def lstm_step(x, h, c, W_x, W_h, b):
    i, f, g, o = torch.tanh(x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = f * c + i * g
    return o * torch.tanh(c), c
""",
        ),
        Mistake(
            "the candidate without tanh",
            "Your cell takes in the candidate as it is. It goes through tanh first.",
            "torch.tanh(g)", "g",
        ),
        Mistake(
            "the squashed cell returned",
            "Your state is right. The cell goes on as it is: tanh is taken of it for the state alone.",
            OUT, "return torch.sigmoid(o) * torch.tanh(c), torch.tanh(c)",
        ),
        Mistake(
            "the old cell returned",
            "Your state is right. The cell that you return is the one that came in.",
            edits={
                "    c = torch.sigmoid(f)": "    old = c\n    c = torch.sigmoid(f)",
                OUT: "return torch.sigmoid(o) * torch.tanh(c), old",
            },
        ),
        Mistake("no bias", "Your answers do not change when b does.", " + b)", ")"),
        Mistake(
            "1 added to the forget gate",
            "Your forget gate is more open than it should be: 1 is added to it. That start belongs into the bias, which is given here.",
            "torch.sigmoid(f)", "torch.sigmoid(f + 1)",
        ),
        Mistake(
            "state and cell have changed places",
            "The state h meets the matrix W_h, and the cell c the forget gate: in yours it is the other way round.",
            edits={"h @ W_h": "c @ W_h", "torch.sigmoid(f) * c": "torch.sigmoid(f) * h"},
        ),
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
        "One product makes all four blocks at once. Which three of them are gates between 0 and 1, and which is the new content?",
        "x @ W_x + h @ W_h + b: (batch, 4H). Cut into four blocks of (batch, H), in the order i, f, g, o. Out: two tensors (batch, H).",
        "all four = word and state through their matrices, plus bias\ncut into i, f, g, o\nnew cell = kept part of the old cell + admitted part of the candidate\n"
        "new state = what the output gate shows of the squashed new cell",
        "Near miss: `o * tanh(c_old)` with the cell that came in lags one word behind: the state has to come from the cell that was just made.",
    ),
)


# ------------------------------------------------------------------------------------------ a sentence in one vector


def vector_cases(draw: Draw) -> Iterator[Case]:
    for batch, tokens, dim, state in ((2, 4, 5, 3), (3, 6, 4, 4), (4, 5, 3, 6)):
        keep = words_then_padding(draw, batch, tokens)
        yield {
            "words": draw.normal(batch, tokens, dim),
            "keep": keep[:, :: -1 if batch == 3 else 1].copy(),  # there the padding stands in front
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
            "Sentences without padding are right. In the others the state goes on changing where there is no word.",
            HELD, "h, c = new_h, new_c",
        ),
        Mistake(
            "the cell not held",
            "You hold the state at padding, but the cell goes on: where padding stands in front, the first word meets a cell that is not 0.",
            HELD, "h, c = torch.where(real, new_h, h), new_c",
        ),
        Mistake(
            "the state not held",
            "You hold the cell at padding, but the state goes on changing.",
            HELD, "h, c = new_h, torch.where(real, new_c, c)",
        ),
        Mistake(
            "the state set to 0 at padding",
            "Sentences with padding behind them come out as 0: at padding the state is *kept*, not cleared.",
            HELD, "h, c = new_h * real, new_c * real",
        ),
        Mistake(
            "the padding's vectors set to 0",
            "A vector of zeros is a word for the LSTM like any other: its gates have a bias and see the old state. At padding, state and cell must stay as they are.",
            edits={READ: "new_h, new_c = lstm_step(words[:, t] * real, h, c, W_x, W_h, b)", HELD: "h, c = new_h, new_c",
                   "        real = keep[:, t, None]\n": "", "    for t in range(words.shape[1]):\n": "    for t in range(words.shape[1]):\n        real = keep[:, t, None]\n"},
        ),
        Mistake(
            "keep inverted",
            "You read the padding and skip the words. True in keep marks a word.",
            "real = keep[:, t, None]", "real = ~keep[:, t, None]",
        ),
        Mistake(
            "the cell returned",
            "You return the cell c. What goes to the decoder is the state h.",
            "return h", "return c",
        ),
        Mistake(
            "read from right to left",
            "You read the sentences from their end. This encoder goes from left to right.",
            "range(words.shape[1])", "reversed(range(words.shape[1]))",
        ),
        Mistake(
            "the state forgotten between words",
            "Each of your words is read with an empty state: your vector knows the last word alone. State and cell go on to the next step.",
            READ, "new_h, new_c = lstm_step(words[:, t], torch.zeros_like(h), torch.zeros_like(c), W_x, W_h, b)",
        ),
        Mistake(
            "the cell forgotten between words",
            "You hand the state on, but every word begins with an empty cell: what the forget gate keeps is lost.",
            READ, "new_h, new_c = lstm_step(words[:, t], h, torch.zeros_like(c), W_x, W_h, b)",
        ),
        Mistake(
            "the last word skipped",
            "Your answer does not depend on the last column: every word is read.",
            "range(words.shape[1])", "range(words.shape[1] - 1)",
        ),
        Mistake(
            "the first word skipped",
            "Your answer does not depend on the first column: every word is read.",
            "range(words.shape[1])", "range(1, words.shape[1])",
        ),
        Mistake(
            "the mean of all states",
            "You return a mean over the states. Asked is the state after the last word: whatever is known of the others must be in it.",
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
            "begun with ones",
            "Your state and cell begin as 1: before the first word nothing is known, which is 0.",
            "torch.zeros(", "torch.ones(",
        ),
    ),
    alternatives={
        "a loop over the sentences, padding cut out": """
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
        "What are state and cell before the first word? What has to happen to both of them at a place that holds no word?",
        "words[:, t]: (B, D), one word of each sentence. h and c: (B, H). keep[:, t] is (B): it needs a second axis to choose between rows of (B, H). Out: (B, H).",
        "h and c are 0\nfor each place from left to right:\n    new state and cell = your lstm_step\n    where there is a word take the new ones, elsewhere keep the old ones\nreturn h",
        "Near miss: holding h alone is enough where the padding stands behind the words. Where it stands in front, a cell that goes on is no longer 0 when the first word comes.",
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
            "Your weights do not depend on the state at all: without tanh the state adds the same number to each word's score, and the softmax forgets it.",
            ADDITIVE, "scores = (keys + (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "tanh of the score",
            "Your scores lie between −1 and 1: tanh comes before the product with v, not after it.",
            ADDITIVE, "scores = torch.tanh((keys + (state @ W_s)[:, None]) @ v)",
        ),
        Mistake(
            "the state left out",
            "Your weights do not depend on the state: every token that is written would look at the same words. If you have put state and key "
            "through tanh one by one, the state's part is the same number for all words, and the softmax forgets it: add first, then one tanh.",
            ADDITIVE, "scores = torch.tanh(keys) @ v",
            also=(additive_by("scores = (torch.tanh(keys) + torch.tanh(state @ W_s)[:, None]) @ v"),),
        ),
        Mistake(
            "summed without v",
            "Your answer does not change with v: the coordinates are weighted by v before they are added up.",
            ADDITIVE, "scores = torch.tanh(keys + (state @ W_s)[:, None]).sum(dim=-1)",
        ),
        Mistake(
            "sigmoid instead of tanh",
            "The activation here is tanh, which has both signs.",
            ADDITIVE, "scores = torch.sigmoid(keys + (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "multiplied instead of added",
            "You multiply the state's projection with the keys: that is attention by products. Here they are added.",
            ADDITIVE, "scores = torch.tanh(keys * (state @ W_s)[:, None]) @ v",
        ),
        Mistake(
            "the source's padding not hidden",
            "Sentences without padding are right. In the others, padding takes weight from the words.",
            SHOWN, "scores",
        ),
        Mistake(
            "keep inverted",
            "Your weights lie on the padding, and where there is none they are NaN or all alike. True in keep marks a word.",
            SHOWN, "scores.masked_fill(keep, -torch.inf)",
            also=(additive_by(ADDITIVE, "scores.masked_fill(keep, -1e9).softmax(dim=-1)"),),
        ),
        Mistake(
            "the padding's scores set to 0",
            "Padding still takes weight from the words: a score of 0 is a score like others, its exponential is 1.",
            SHOWN, "scores.masked_fill(~keep, 0.0)",
        ),
        Mistake(
            "masked after the softmax",
            "The weights that remain add up to less than 1: padding had taken its share before it was removed.",
            f"{SHOWN}.softmax(dim=-1)", "scores.softmax(dim=-1) * keep",
        ),
        Mistake(
            "softmax over the batch",
            "Your columns add up to 1: sentences compete with each other. The words of one sentence should.",
            "softmax(dim=-1)", "softmax(dim=0)",
            also=(additive_by(ADDITIVE, "scores.masked_fill(~keep, -1e9).softmax(dim=0)"),),
        ),
        Mistake(
            "exponentials that overflow",
            "You are right where the scores are small. From about 88 on, float32 has no exponential: ∞ / ∞ is NaN. `softmax` takes the largest score off first.",
            f"{SHOWN}.softmax(dim=-1)", f"{SHOWN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(additive_by(ADDITIVE, "scores.exp() * keep\n    weights = weights / weights.sum(dim=-1, keepdim=True)"),),
        ),
        Mistake(
            "scaled by the root of the width",
            "Your weights are more even than they should be: additive scores are not divided by anything.",
            ADDITIVE, f"{ADDITIVE} / len(v) ** 0.5",
        ),
        Mistake(
            "the keys mixed",
            "Your weights are right. What they mix are the keys: asked are the values.",
            MIXED, "return (weights[:, None] @ keys)[:, 0], weights",
        ),
        Mistake(
            "the mean of the values",
            "Your weights are right, but your output does not use them: it is the plain mean of the values.",
            MIXED, "return values.mean(dim=1), weights",
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (context, weights).",
            MIXED, "return weights, (weights[:, None] @ values)[:, 0]",
        ),
        Mistake(
            "the scores returned instead of the weights",
            "Your context is right. The second part should be the weights, after the softmax.",
            MIXED, "return (weights[:, None] @ values)[:, 0], scores",
            also=(additive_by(ADDITIVE, f"{SHOWN}.softmax(dim=-1)\n    scores = {SHOWN}", "return (weights[:, None] @ values)[:, 0], scores"),),
        ),
        Mistake(
            "the context with an axis too many",
            "Your context has an axis of size 1 too many: asked is one vector for each sentence, (B, E).",
            MIXED, "return weights[:, None] @ values, weights",
        ),
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
        "a loop over the sentences, padding cut out": """
def additive_attention(state, keys, values, W_s, v, keep):
    weights = torch.zeros(keep.shape)
    context = []
    for b in range(len(state)):
        scores = torch.tanh(keys[b, keep[b]] + state[b] @ W_s) @ v
        weights[b, keep[b]] = torch.softmax(scores, dim=0)
        context.append(weights[b] @ values[b])
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
        "One state asks all words of its sentence. What is one word's score made of, and in which order do the sum, tanh and v come?",
        "state @ W_s: (B, A), to be added to keys (B, Ts, A): it needs an axis in the middle. Times v (A): scores (B, Ts). Weights: (B, Ts). Context: (B, E).",
        "hidden = tanh(each key + the projected state)\nscores = hidden times v\nscores of padding = a number whose exponential is 0\nweights = softmax over the words\nreturn the weighted sum of the values, and the weights",
        "Near miss: without tanh the state shifts all scores of a sentence by one number, and the softmax does not see it: the decoder would look at the same words at every step.",
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
            "scaled as in the transformer",
            "Your weights are more even than they should be: you divide by √H, as the transformer does. Luong, Pham and Manning do not.",
            PRODUCT, f"{PRODUCT} / state.shape[1] ** 0.5",
        ),
        Mistake(
            "the padding not hidden",
            "Sentences without padding are right. In the others, padding takes weight from the words.",
            SHOWN, "scores",
        ),
        Mistake(
            "keep inverted",
            "Your weights lie on the padding, and where there is none they are NaN or all alike. True in keep marks a word.",
            SHOWN, "scores.masked_fill(keep, -torch.inf)",
            also=(dot_by(PRODUCT, "scores.masked_fill(keep, -1e9).softmax(dim=-1)"),),
        ),
        Mistake(
            "the padding's scores set to 0",
            "Padding still takes weight from the words: a score of 0 is a score like others, its exponential is 1.",
            SHOWN, "scores.masked_fill(~keep, 0.0)",
        ),
        Mistake(
            "masked after the softmax",
            "The weights that remain add up to less than 1: padding had taken its share before it was removed.",
            f"{SHOWN}.softmax(dim=-1)", "scores.softmax(dim=-1) * keep",
        ),
        Mistake(
            "softmax over the batch",
            "Your columns add up to 1: sentences compete with each other. The words of one sentence should.",
            "softmax(dim=-1)", "softmax(dim=0)",
            also=(dot_by(PRODUCT, "scores.masked_fill(~keep, -1e9).softmax(dim=0)"),),
        ),
        Mistake(
            "all words weigh the same",
            "Your weights are the same for all words of a source, whatever their scores. They are the softmax of the scores.",
            "scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)", "keep / keep.sum(dim=-1, keepdim=True)",
        ),
        Mistake(
            "the best word alone",
            "You take one word only, that of the highest score. A softmax gives some weight to the others, too.",
            "scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)",
            "torch.zeros_like(scores).scatter(1, scores.masked_fill(~keep, -torch.inf).argmax(1, keepdim=True), 1.0)",
        ),
        Mistake(
            "tanh of the products",
            "Your scores lie between −1 and 1: tanh belongs to the additive score. Here a product is all.",
            PRODUCT, f"scores = torch.tanh({PRODUCT.removeprefix('scores = ')})",
        ),
        Mistake(
            "cosines instead of products",
            "Your scores do not grow with the length of the vectors: you have normalised them. Asked is the plain dot product.",
            PRODUCT, "scores = torch.nn.functional.cosine_similarity(keys, state[:, None], dim=-1)",
        ),
        Mistake(
            "the state left out",
            "Your weights do not depend on the state: every token that is written would look at the same words.",
            PRODUCT, "scores = keys.sum(dim=-1)",
        ),
        Mistake(
            "exponentials that overflow",
            "You are right where the scores are small. From about 88 on, float32 has no exponential: ∞ / ∞ is NaN. `softmax` takes the largest score off first.",
            f"{SHOWN}.softmax(dim=-1)", f"{SHOWN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(dot_by(PRODUCT, "scores.exp() * keep\n    weights = weights / weights.sum(dim=-1, keepdim=True)"),),
        ),
        Mistake(
            "the keys mixed",
            "Your weights are right. What they mix are the keys: asked are the values.",
            MIXED, "return (weights[:, None] @ keys)[:, 0], weights",
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (context, weights).",
            MIXED, "return weights, (weights[:, None] @ values)[:, 0]",
        ),
        Mistake(
            "the scores returned instead of the weights",
            "Your context is right. The second part should be the weights, after the softmax.",
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
        "a loop over the sentences, padding cut out": """
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
        "What is left of additive attention if a word's score is only the product of its key with the state?",
        "state: (B, H). keys: (B, Ts, H). scores and weights: (B, Ts). context: (B, E).",
        "scores = each key times the state\nscores of padding = a number whose exponential is 0\nweights = softmax over the words\nreturn the weighted sum of the values, and the weights",
        "Near miss: `keys @ state.T` is (B, Ts, B): every sentence's keys with every sentence's state. The state needs an axis of its own.",
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
            # As many sentences as target positions: the padding in front.
            "source_keep": words_then_padding(draw, batch, Ts)[:, :: -1 if batch == Tt else 1].copy(),
        }
    yield large_scores(draw)


def large_scores(draw: Draw) -> Case:
    """Scores around 128 and −128, of which float32 has no exponentials, and padding that scores 32 more than words.

    All numbers that make scores have few binary digits, so that no rounding decides: every order of computing gives
    the same scores.
    """

    def halves(*shape: int) -> np.ndarray:
        return draw.integers(-2, 3, *shape).astype(np.float32) / 2

    batch, Tt, Ts, D, d = 3, 2, 6, 5, 4
    keep = words_then_padding(draw, batch, Ts)
    dec, enc, W_q, W_k = halves(batch, Tt, D), halves(batch, Ts, D), halves(D, d), halves(D, d)
    for matrix in (W_q, W_k):  # the first coordinate goes through alone
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
            "the source's padding not hidden",
            "Sentences without padding are right. In the others, padding takes weight from the words.",
            HIDDEN, "scores",
        ),
        Mistake(
            "source_keep inverted",
            "Your weights lie on the padding, and where there is none they are NaN or all alike. True in source_keep marks a word.",
            "~source_keep", "source_keep",
            also=(hidden_by("scores.masked_fill(source_keep[:, None, :], -1e9)"),),
        ),
        Mistake(
            "softmax over the target",
            "Your columns add up to 1, where the rows should: the target positions compete for a source word.",
            "softmax(dim=-1)", "softmax(dim=-2)",
            also=(hidden_by("scores.masked_fill(~source_keep[:, None, :], -1e9)", "softmax(dim=-2)"),),
        ),
        Mistake(
            "no scaling",
            "Your weights are more decided than they should be.",
            " / W_q.shape[1] ** 0.5", "",
        ),
        Mistake(
            "scaled by the width of the model",
            "Your weights are off wherever D and d differ. The scores are sums over the d columns of the projections.",
            "W_q.shape[1]", "W_q.shape[0]",
        ),
        Mistake(
            "divided by d instead of √d",
            "Your weights are too even: the scores were divided by too much.",
            " ** 0.5", "",
        ),
        Mistake(
            "the encoder not projected to values",
            "Your weights are right. What they mix are the keys; the values have a matrix of their own.",
            "weights @ (enc @ W_v)", "weights @ (enc @ W_k)",
        ),
        Mistake(
            "keys projected with W_q",
            "Queries and keys of yours share a matrix: W_k is never used for the scores.",
            "enc @ W_k", "enc @ W_q",
        ),
        Mistake(
            "queries from the encoder, keys and values from the decoder",
            "Your source asks the target: it is the other way round. The decoder looks for something, the encoder is looked at.",
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
            "scaled by the width of the values",
            "Your weights are off wherever d and dv differ. The scores are sums over the d columns of queries and keys.",
            "W_q.shape[1]", "W_v.shape[1]",
        ),
        Mistake(
            "the padding's scores set to 0",
            "Padding still takes weight from the words: a score of 0 is a score like others, its exponential is 1.",
            HIDDEN, "scores.masked_fill(~source_keep[:, None, :], 0.0)",
        ),
        Mistake(
            "the padding's vectors set to 0",
            "Padding still takes weight from the words: a key of zeros has the score 0, and the exponential of 0 is 1.",
            edits={"scores = (dec": "enc = enc * source_keep[:, :, None]\n    scores = (dec", HIDDEN: "scores"},
        ),
        Mistake(
            "padding hidden too weakly",
            "Padding with large scores still gets weight: what you take off them is too little. Its exponential has to be 0.",
            HIDDEN, "(scores - 10.0 * ~source_keep[:, None, :])",
        ),
        Mistake(
            "exponentials that overflow",
            "You are right where the scores are small. From about 88 on, float32 has no exponential: ∞ / ∞ is NaN, and far below 0 it is 0 / 0. "
            "`softmax` takes the largest score off first.",
            f"{HIDDEN}.softmax(dim=-1)", f"{HIDDEN}.exp()\n    weights = weights / weights.sum(dim=-1, keepdim=True)",
            also=(
                hidden_by("scores.exp() * source_keep[:, None, :]", "clone()").replace(
                    "    return", "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    return"
                ),
            ),
        ),
        Mistake(
            "one-sided, as if the source were written along with the target",
            "Your first target position sees one source word. The whole source is there before the target begins: only its padding is hidden.",
            HIDDEN,
            "scores.masked_fill(~(source_keep[:, None, :] & torch.ones_like(scores).tril().bool()), -torch.inf)",
            also=(hidden_by("scores.masked_fill(~(source_keep[:, None, :] & torch.ones_like(scores).tril().bool()), -1e9)"),),
        ),
        Mistake(
            "the mask lined up with the target",
            "source_keep has no axis for the target in yours: it stretches over the sentences, and where there are as many of them as target positions "
            "it hides the wrong words. It needs an axis of size 1 in the middle.",
            "~source_keep[:, None, :]", "~source_keep",
        ),
        Mistake(
            "the scores returned instead of the weights",
            "Your output is right. The second part should be the weights, after the softmax.",
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
            "the words themselves as values",
            "Your weights are right. What they mix are the encoder's words; the values have a matrix, W_v.",
            "weights @ (enc @ W_v)", "weights @ enc",
        ),
        Mistake(
            "queries projected with W_k",
            "Queries and keys of yours share a matrix: W_q is never used for the scores.",
            "dec @ W_q", "dec @ W_k",
        ),
        Mistake(
            "masked after the softmax",
            "The weights that remain add up to less than 1: padding had taken its share before it was removed.",
            f"{HIDDEN}.softmax(dim=-1)", "scores.softmax(dim=-1) * source_keep[:, None, :]",
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (output, weights).",
            "return weights @ (enc @ W_v), weights", "return weights, weights @ (enc @ W_v)",
        ),
        Mistake(
            "self-attention of the source",
            "Your queries come from the encoder too: the target is never asked. Who is looking for something here?",
            code="""
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    scores = (enc @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ (enc @ W_v), weights
""",
        ),
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
        "a loop over the sentences, padding cut off": """
def cross_attention(dec, enc, W_q, W_k, W_v, source_keep):
    all_weights = torch.zeros(len(dec), dec.shape[1], enc.shape[1])
    for b, keep in enumerate(source_keep):
        scores = dec[b] @ W_q @ (enc[b, keep] @ W_k).T / W_q.shape[1] ** 0.5
        all_weights[b][:, keep] = torch.softmax(scores, dim=1)
    return all_weights @ enc @ W_v, all_weights
""",
    },
    hints=(
        "It is the attention of 02 with two sentences. Who asks? Who is asked? Which of the two sentences has padding that must not be looked at?",
        "queries: (B, Tt, d). keys: (B, Ts, d). values: (B, Ts, dv). scores and weights: (B, Tt, Ts). source_keep (B, Ts) has to stretch over all Tt rows.",
        "queries from the decoder; keys and values from the encoder\nscores = every query with every key, scaled\n"
        "scores of padding = a number whose exponential is 0\nweights = softmax over the source\nreturn the weighted sums of the values, and the weights",
        "Near miss: `scores.masked_fill(~source_keep, …)` without a new axis fails, or worse, lines up the batch with the target: "
        "source_keep needs an axis of size 1 in the middle.",
    ),
)

# ------------------------------------------------------------------------------------------ decoder mask


def mask_cases(draw: Draw) -> Iterator[Case]:
    # The sizes are all there is to draw: five of them, so that nobody guesses them; the smallest has one word.
    for low, high in ((3, 9), (10, 30), (31, 60), (1, 2), (5, 25), (8, 40)):
        yield {"target": draw.integers(3, 900, int(draw.integers(low, high)))}


ALLOWED = "places[:, None] >= places"

decoder_mask = Exercise(
    cases=mask_cases,
    rule=Rule("equal", axes={"": "T T"}),
    mistakes=(
        Mistake(
            "only what comes later",
            "You allow the words that are still to be written, and forbid the rest.",
            ALLOWED, "places[:, None] < places",
        ),
        Mistake(
            "transposed",
            "Your first row allows everything and your last row one word: rows are the positions that look, columns what is looked at.",
            ALLOWED, "places[:, None] <= places",
        ),
        Mistake(
            "the diagonal forbidden",
            "A position may not see itself with you, so that the first one sees nothing at all. The input at i is already shifted: it is the token before.",
            ALLOWED, "places[:, None] > places",
        ),
        Mistake(
            "one word too many",
            "Each of your positions also sees the next one: exactly the token that it should say.",
            ALLOWED, "places[:, None] + 1 >= places",
        ),
        Mistake(
            "everything allowed",
            "Nothing is hidden.",
            ALLOWED, "torch.ones(T, T, dtype=torch.bool)",
        ),
        Mistake(
            "only itself",
            "Each position sees itself alone, not the words before it.",
            ALLOWED, "places[:, None] == places",
        ),
        Mistake(
            "only the word before and itself",
            "Your positions look back one place. All earlier ones may be seen.",
            ALLOWED, "(places[:, None] >= places) & (places[:, None] <= places + 1)",
        ),
        Mistake(
            "a mask to be added",
            "You return 0 and −∞, to be added to scores. Asked is a mask of True and False.",
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
        "Write down the rows for T = 3: what may position 0 see? Position 1? Position 2?",
        "In: a number. Out: (T, T) of True and False. Rows are the positions that look, columns the positions that are looked at.",
        "for each i, for each j:   keep[i, j] = whether j is not later than i",
        "Near miss: an upper triangle looks alike on paper. In the first row exactly one entry is True; in the last row all are.",
    ),
)

# ------------------------------------------------------------------------------------------ the decoder's block


def block_cases(draw: Draw) -> Iterator[Case]:
    # In the last case a position may see some of the later ones and misses some before it: `keep` says which.
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
            "no attention to the source",
            "Your answer does not change with `encoded`: the decoder would write without having read.",
            edits={CROSS: "pass", SUM: "pass"},
        ),
        Mistake(
            "no attention within the target",
            "Your answer does not change with `own`'s weights: the positions of the target never look at each other.",
            OWN, "pass",
        ),
        Mistake(
            "no feed-forward network",
            "Your answer does not change with `feed`'s weights: the third part is missing.",
            FEED, "return x",
        ),
        Mistake(
            "no residuals",
            "Nothing is added in yours: each part *replaces* the vectors that go into it.",
            edits={OWN: OWN.replace("x + ", ""), SUM: "x = seen", FEED: FEED.replace("x + ", "")},
        ),
        Mistake(
            "no residual around the cross-attention",
            "What the source gives *replaces* your target's vectors: it is added to them.",
            SUM, "x = seen",
        ),
        Mistake(
            "no residual around the feed-forward network",
            "The feed-forward network's result replaces your vectors: it is added to them.",
            FEED, FEED.replace("x + ", ""),
        ),
        Mistake(
            "no residual around the own attention",
            "The result of `own` replaces your vectors: it is added to them.",
            OWN, OWN.replace("x + ", ""),
        ),
        Mistake(
            "cross-attention first",
            "Your first two parts have changed places: the target looks at itself first, then at the source.",
            code=block_with(f"        {CROSS}\n        {SUM}\n        {OWN}\n        {FEED}"),
        ),
        Mistake(
            "the feed-forward network before the cross-attention",
            "Your last two parts have changed places: the feed-forward network comes last.",
            code=block_with(
                f"        {OWN}\n        x = x + self.feed(self.norm_feed(x))\n        {CROSS}\n        return x + seen"
            ),
        ),
        Mistake(
            "all parts read what came into the block",
            "Your three parts stand side by side: each reads what came into the block. They follow each other, and each reads what the sum before it gave.",
            edits={OWN: f"given = x\n        {OWN}", CROSS: CROSS.replace("norm_cross(x)", "norm_cross(given)"), FEED: FEED.replace("norm_feed(x)", "norm_feed(given)")},
        ),
        Mistake(
            "no norms",
            "Your answer does not change with the norms' weights: each part reads the vectors *normalised*.",
            edits={OWN: "x = x + self.own(x, keep)", CROSS: CROSS.replace("self.norm_cross(x)", "x"), FEED: "return x + self.feed(x)"},
        ),
        Mistake(
            "post-norm",
            "You normalise the sums, as the paper of 2017 did. Here each part reads normalised vectors, and the sum is left as it is.",
            edits={OWN: "x = self.norm_own(x + self.own(x, keep))", CROSS: CROSS.replace("self.norm_cross(x)", "x"), SUM: "x = self.norm_cross(x + seen)",
                   FEED: "return self.norm_feed(x + self.feed(x))"},
        ),
        Mistake(
            "one norm for all three parts",
            "Your answer does not change with the weights of `norm_cross` and `norm_feed`: all three places have the first norm.",
            edits={CROSS: CROSS.replace("norm_cross", "norm_own"), FEED: FEED.replace("norm_feed", "norm_own")},
        ),
        Mistake(
            "the normalised vectors on the residual",
            "Your residuals carry the *normalised* vectors on. The norm belongs to the branch alone; the road straight on is left untouched.",
            edits={OWN: "x = self.norm_own(x)\n        x = x + self.own(x, keep)",
                   CROSS: "x = self.norm_cross(x)\n        " + CROSS.replace("self.norm_cross(x)", "x"),
                   FEED: "x = self.norm_feed(x)\n        return x + self.feed(x)"},
        ),
        Mistake(
            "the source normalised too",
            "You send `encoded` through a norm of the decoder: it comes normalised from the encoder, and is used as it is.",
            CROSS, CROSS.replace("encoded", "self.norm_cross(encoded)"),
        ),
        Mistake(
            "the target sees ahead",
            "Your first position changes with later ones: `keep` is not handed to `own`, so that the target sees what it is going to write.",
            OWN, "x = x + self.own(self.norm_own(x), torch.ones_like(keep))",
        ),
        Mistake(
            "a mask of its own",
            "Your block looks back whatever `keep` says: which position of the target may see which is told from outside.",
            OWN, "x = x + self.own(self.norm_own(x), torch.ones_like(keep).tril())",
        ),
        Mistake(
            "the source's padding not hidden",
            "Your answer changes with what stands at the source's padding: `source_keep` is not handed on.",
            CROSS, CROSS.replace("source_keep", "torch.ones_like(source_keep)"),
        ),
        Mistake(
            "keys and values have changed matrices",
            "W_k and W_v have changed places: keys are compared with the queries, values are what is taken.",
            CROSS, CROSS.replace("self.W_k, self.W_v", "self.W_v, self.W_k"),
        ),
        Mistake(
            "queries and keys have changed matrices",
            "W_q and W_k have changed places: the order of the arguments is W_q, W_k, W_v.",
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
        "Three parts follow each other. What does each read, and what is added to what?",
        "x: (B, Tt, D), after each of the three sums again. encoded: (B, Ts, D). cross_attention returns two things: only the first is added.",
        "x = x + own(norm of x, keep)\nx = x + output of cross_attention(norm of x, encoded, three matrices, source_keep)\nreturn x + feed(norm of x)",
        "Near miss: `x = self.norm_own(x)` and then `x + …` normalises the road straight on as well. The norm stands within the branch only.",
    ),
)

# ------------------------------------------------------------------------------------------ shift right


def shift_cases(draw: Draw) -> Iterator[Case]:
    # Every case has another bos, which may also stand within a target. The last one has a single column.
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
            "the target itself",
            "You return the target as it is: the decoder would be given the very token it has to say.",
            SHIFTED, "target.clone()",
        ),
        Mistake(
            "bos written over the first token",
            "bos stands in front, and the first token of the target is lost: all others still stand where they stood.",
            SHIFTED, "torch.cat([start, target[:, 1:]], dim=1)",
        ),
        Mistake(
            "shifted left",
            "Position t of yours holds token t + 1: the decoder would be given the future.",
            SHIFTED, "torch.cat([target[:, 1:], start], dim=1)",
        ),
        Mistake(
            "one column too many",
            "Your answer is one column wider than the target: its last token has been kept.",
            "target[:, :-1]", "target",
        ),
        Mistake(
            "one column too few",
            "Your answer is one column narrower than the target: nothing was put in front.",
            SHIFTED, "target[:, :-1]",
        ),
        Mistake(
            "the last token comes round to the front",
            "The first column of yours holds the last token of the target. That is a rotation; in front stands bos.",
            SHIFTED, "target.roll(1, dims=1)",
        ),
        Mistake(
            "zeros in front",
            "Your first column is 0, which is padding here. The start sign is an argument.",
            "torch.full_like(target[:, :1], bos)", "torch.zeros_like(target[:, :1])",
        ),
        Mistake(
            "shifted along the batch",
            "You moved the sentences down, not the tokens to the right.",
            SHIFTED, "torch.cat([torch.full_like(target[:1], bos), target[:-1]], dim=0)",
        ),
        Mistake(
            "shifted by two",
            "Your tokens moved two places: position t should know everything up to t − 1.",
            SHIFTED, "torch.cat([start, start, target[:, :-2]], dim=1)",
        ),
        Mistake(
            "always the same start sign",
            "Your first column holds the same number whatever `bos` is: it is an argument.",
            "torch.full_like(target[:, :1], bos)", "torch.ones_like(target[:, :1])",
            also=(
                """
def shift_right(target, bos):
    return torch.nn.functional.pad(target[:, :-1], (1, 0), value=2)
""",
            ),
        ),
        Mistake(
            "bos everywhere",
            "All your columns hold bos: each token was copied from a place that had just been overwritten. "
            "Copy from the target, or go from right to left.",
            SHIFTED, "torch.full_like(target, bos)",
        ),
        Mistake(
            "rolled as one long row",
            "The first sentence is right. Every other one begins with the last token of the sentence before it: `roll` needs to know the axis, "
            "and bos stands in front of every sentence.",
            SHIFTED, "torch.cat([start[0], target.flatten()[:-1]]).view(target.shape)",
        ),
        Mistake(
            "everything but the words replaced by bos",
            "Your padding has become bos too. Only the first column is new.",
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
        "To say token 0, what may the decoder know? To say token 1? Write the input above the target, one under the other.",
        "In: (B, T) whole numbers. Out: (B, T) again. One column is new, so one column of the target has to go: which one is told to nobody?",
        "a column of bos\nthen the target without its last column\nput side by side along the tokens",
        "Near miss: `target.roll(1, dims=1)` moves everything rightly, and brings the last token to the front: the answer to the last "
        "position stands at the beginning.",
    ),
)

# ------------------------------------------------------------------------------------------ greedy


def greedy_cases(draw: Draw) -> Iterator[Case]:
    # No two cases share a number for bos, eos or pad, and none of them is 0.
    special = 1 + draw.rng.permutation(12).reshape(4, 3)
    for case, (batch, longest, vocabulary) in enumerate(((3, 8, 14), (5, 11, 13), (4, 9, 15), (1, 7, 16))):
        bos, eos, pad = (int(token) for token in special[case])
        # Dyadic numbers, and a small one of its own for each token: sums are exact and no two tokens score alike.
        scores = np.round(draw.normal(batch, longest, vocabulary, scale=2.0) * 8) / 8
        words = np.round(draw.normal(vocabulary, vocabulary, scale=1.5) * 8) / 8
        words[:, [bos, eos, pad]] = 0
        scores += draw.rng.permutation(vocabulary) / 128
        scores[:, :, [bos, eos, pad]] = -100 + np.arange(3) / 4
        ends = np.full(batch, longest)  # as long as allowed, and no eos
        if case == 0:  # none ends at once, one in the last column, one never
            ends[:2] = longest - 1, 3
        elif case == 1:  # one ends at once
            ends[:-1] = [0, *(2 + draw.rng.permutation(longest - 3)[: batch - 2])]
        elif case == 2:  # all end early, each elsewhere
            ends[:] = 2 + draw.rng.permutation(longest - 4)[:batch]
        for sentence, end in enumerate(ends):
            if end < longest:
                scores[sentence, end, eos] = 100
            if end > 1:  # the decoder may choose pad or bos like any other token
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
            "always the first position's logits",
            "Your first token is right and comes back again and again: look at which position's logits you read.",
            "[:, -1].argmax", "[:, 0].argmax",
        ),
        Mistake(
            "goes on behind eos",
            "Up to eos you are right. Behind it, your sentences go on: each is padded from its own eos, not from where the last one ends.",
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
            "Your sentences lose their eos: it belongs to the translation, padding comes *behind* it.",
            "return ids[:, 1:]", "return torch.where(ids[:, 1:] == eos, pad, ids[:, 1:])",
        ),
        Mistake(
            "bos returned",
            "Your first column is bos, which nobody has translated.",
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
            "all stop when the first one ends",
            "As soon as one sentence has ended, all of yours are padded. Each ends by itself.",
            "ended = ended | (best == eos)", "ended = ended | (best == eos).any()",
        ),
        Mistake(
            "forgets who has ended",
            "Your sentences take one pad after eos, and then go on: who has ended stays ended.",
            "ended = ended | (best == eos)", "ended = best == eos",
        ),
        Mistake(
            "the least probable token",
            "You take the worst token each time.",
            "argmax", "argmin",
        ),
        Mistake(
            "the decoder sees only the last token",
            "The first token is right, later ones are not: the decoder is asked with the last token alone. It needs the whole beginning.",
            "next_logits(ids)[:, -1]", "next_logits(ids[:, -1:])[:, -1]",
        ),
        Mistake(
            "the decoder never sees what was written",
            "You ask the decoder with start signs only: its own tokens never come back to it.",
            "next_logits(ids)[:, -1]", "next_logits(torch.full_like(ids, bos))[:, -1]",
        ),
        Mistake(
            "begins with pad",
            "Already your first tokens can be wrong: the beginning that the decoder gets is not bos.",
            "torch.full((B, 1), bos)", "torch.full((B, 1), pad)",
        ),
        Mistake(
            "one token too few",
            "Your answer is one column too narrow.",
            "range(longest)", "range(longest - 1)",
        ),
        Mistake(
            "fewer columns when all have ended",
            "Where a sentence goes on to the end you are right. When all have ended early, your answer is too narrow: "
            "it always has `longest` columns, filled up with pad.",
            "    ended = ended | (best == eos)",
            "    ended = ended | (best == eos)\n        if ended.all():\n            break",
        ),
        Mistake(
            "a pad that was chosen taken for an end",
            "Where the decoder itself chooses pad, your sentence stops. Only eos ends a sentence; behind it you write pad.",
            "ended = ended | (best == eos)", "ended = ended | (best == eos) | (best == pad)",
        ),
        Mistake(
            "eos repeated to the end",
            "Up to the first eos you are right. Behind it stands pad, not eos again.",
            "torch.where(ended, pad, best)", "torch.where(ended, eos, best)",
        ),
        Mistake(
            "zeros behind eos",
            "Up to eos you are right. What stands behind it is `pad`, which need not be 0.",
            "torch.where(ended, pad, best)", "torch.where(ended, 0, best)",
        ),
        Mistake(
            "eos forced at the end",
            "A sentence that has not ended is simply cut: the last column holds the token chosen there, not eos.",
            "    return ids[:, 1:]", "    ids[~ended, -1] = eos\n    return ids[:, 1:]",
        ),
        Mistake(
            "the best position instead of the best token",
            "You take the largest over the wrong axis: your numbers are positions in the sentence, not tokens.",
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
        "one sentence's row filled at a time, stopped early": """
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
        "written to the end, cut afterwards": """
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
        "What does the decoder know before it has written anything? And after its first token? How do you know that a sentence is finished?",
        "ids grows from (B, 1) to (B, longest + 1). next_logits(ids): (B, t, V); only the last position is news. best: (B). ended: (B) of True and False.",
        "ids = bos for every sentence; nobody has ended\nlongest times:\n    best = the most probable token after the last position\n"
        "    where a sentence has ended: pad in its place\n    append best to ids\n    note who has ended now\nreturn everything behind bos",
        "Near miss: stopping with `if (best == eos).all()` waits for all sentences to end at the *same* step, and until then the finished ones go on writing.",
    ),
)

# ------------------------------------------------------------------------------------------ find the bug


def cross_mask_cases(draw: Draw) -> Iterator[Case]:
    # The last one is large enough that nobody guesses its mask.
    for batch, Ts, Tt in ((2, 6, 6), (3, 5, 7), (4, 8, 5), (9, 13, 6)):
        keep = draw.rng.permutation(words_then_padding(draw, batch, Ts))
        yield {
            "source_keep": keep[:, ::-1].copy() if batch == 4 else keep,  # there the padding stands in front
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
            "the code as it was",
            "This is the mask of 2021: it never asks where the *source* has words, and hides those that the target has not reached yet.",
            code="""
def mended_cross_mask(source_keep, target_keep):
    T = target_keep.shape[1]
    return target_keep[:, None, :] & (torch.arange(T)[:, None] >= torch.arange(T))
""",
        ),
        Mistake(
            "the source's words, still one-sided",
            "The padding is right now. Your first target position still sees one source word only: is the end of the source unknown when the target begins?",
            MENDED, f"{MENDED} & (torch.arange(Tt)[:, None] >= torch.arange(source_keep.shape[1]))",
        ),
        Mistake(
            "the target's words, no longer one-sided",
            "The triangle is gone. But columns are source positions, and the padding you hide is the target's.",
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
            "nothing hidden",
            "Nothing is hidden: the target would read the source's padding.",
            MENDED, "torch.ones(len(source_keep), Tt, source_keep.shape[1], dtype=torch.bool)",
        ),
        Mistake(
            "inverted",
            "You allow the padding and hide the words.",
            MENDED, "~" + MENDED,
        ),
        Mistake(
            "rows of the target's padding empty",
            "Rows of the target's padding are all False with you: a softmax over such a row is NaN. The docstring says how they are treated.",
            MENDED, f"{MENDED} & target_keep[:, :, None]",
        ),
        Mistake(
            "source and target have changed places",
            "Your axes are batch, source, target. The target is the one that looks: rows are target positions.",
            MENDED, f"{MENDED}.transpose(1, 2)",
        ),
        Mistake(
            "one row for all",
            "You return one row for each sentence. It stretches by itself in most uses; asked is a row for each target position.",
            MENDED, "source_keep[:, None, :]",
        ),
        Mistake(
            "either word is enough",
            "Padding of the source is seen by every target word in yours: the two keeps are joined by *or*.",
            MENDED, f"{MENDED} | target_keep[:, :, None]",
        ),
        Mistake(
            "the first sentence's mask for all",
            "The first sentence is right; all others have its mask. Every sentence has padding of its own.",
            MENDED, "source_keep[:1, None, :].expand(len(source_keep), Tt, -1)",
        ),
        Mistake(
            "the target's words alone, one-sided",
            "Two things hide too much: rows of the target's padding are all False with you, and no target position sees source words further on than itself.",
            MENDED,
            f"{MENDED} & target_keep[:, :, None] & (torch.arange(Tt)[:, None] >= torch.arange(source_keep.shape[1]))",
        ),
        Mistake(
            "both keeps, position by position",
            "Your mask is one row for each sentence, made of both keeps: with unequal sizes it fails, "
            "and with equal ones it hides source words because the *target* is short.",
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
        "When the decoder writes its first token, has the encoder already read the whole source? So what may be seen?",
        "In: (B, Ts) and (B, Tt). Out: (B, Tt, Ts): a row for each target position, a column for each source position.",
        "a source position may be seen if it holds a word\nthat does not depend on who looks: every row of a sentence is the same",
        "Near miss: `source_keep & target_keep` has the wrong shape where the sizes differ, and with equal sizes hides source words because the *target* is short.",
    ),
)

# ------------------------------------------------------------------------------------------ extensions


def size_cases(draw: Draw) -> Iterator[Case]:
    for low, high in ((3, 15), (16, 60), (61, 200)):
        T, D = draw.integers(low, high, 2)
        yield {"x": draw.normal(T, D + (D == T))}


OPERATIONS = "2 * T * T * D"

flops_attention = Exercise(
    cases=size_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "only the scores",
            "You have half of what is asked: two products are counted.",
            OPERATIONS, "T * T * D",
        ),
        Mistake(
            "multiplications and additions counted apart",
            "You have twice what is asked: one multiplication together with one addition counts as 1.",
            OPERATIONS, "4 * T * T * D",
        ),
        Mistake(
            "T and D have changed places",
            "Your number grows with the square of D. What is compared with what, and how many pairs are there?",
            OPERATIONS, "2 * T * D * D",
        ),
        Mistake(
            "each word with itself only",
            "Your number grows in proportion to T. Every word meets every word.",
            OPERATIONS, "2 * T * D",
        ),
        Mistake(
            "the pairs alone",
            "You have counted the pairs of words. Each pair costs more than one multiply-add.",
            OPERATIONS, "2 * T * T",
        ),
        Mistake(
            "the projections too",
            "You have counted the projections with it. The docstring leaves them out.",
            OPERATIONS, "2 * T * T * D + 4 * T * D * D",
            also=("def flops_attention(T, D):\n    return 2 * T * T * D + 3 * T * D * D\n",),
        ),
        Mistake(
            "just over half of them",
            "Your number is T (T + 1) D, just over a half. If you counted each pair of words once: every word sees every word here. "
            "If the scores are all there: a weighted sum, too, has T terms.",
            OPERATIONS, "T * (T + 1) * D",
        ),
        Mistake(
            "the scaling too",
            "You are T² too high: the scaling of the scores is not counted.",
            OPERATIONS, "2 * T * T * D + T * T",
        ),
        Mistake(
            "every addition counted, but for the first",
            "You have counted multiplications and additions one by one, with one addition less than terms. "
            "One multiplication together with one addition counts as 1: a sum of D products is D.",
            OPERATIONS, "T * T * (2 * D - 1) + T * D * (2 * T - 1)",
        ),
    ),
    alternatives={
        "two sums": """
def flops_attention(T, D):
    scores = T * T * D
    sums = T * D * T
    return scores + sums
""",
        "as a tensor": """
def flops_attention(T, D):
    return torch.tensor(T) ** 2 * D * 2
""",
    },
    hints=(
        "How many multiply-adds does one score take? How many scores are there?",
        "Scores: (T, T). Outputs: (T, D). Each number of either is a sum of products: over what?",
        "number of scores × terms of each\nplus number of output coordinates × terms of each",
        "Near miss: T²D counts the scores alone. The weighted sums cost as much again.",
    ),
)


def gate_cases(draw: Draw) -> Iterator[Case]:
    for case, gates in zip(size_cases(draw), draw.rng.permutation([1, 3, 4]), strict=True):
        yield {**case, "gates": int(gates)}


RECURRENT = "2 * T * D * D * gates"

flops_recurrent = Exercise(
    cases=gate_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "only one of the two matrices",
            "You have half of what is asked: the word and the state both meet a matrix.",
            RECURRENT, "T * D * D * gates",
        ),
        Mistake(
            "twice as many",
            "You have twice what is asked. One multiplication together with one addition counts as 1; and if you put word and state "
            "together, their matrix has 2D rows but only gates · D columns.",
            RECURRENT, "4 * T * D * D * gates",
        ),
        Mistake(
            "one step less than words",
            "You have counted T − 1 words: both matrices are used at every word, at the first one too.",
            RECURRENT, "2 * (T - 1) * D * D * gates",
        ),
        Mistake(
            "the biases too",
            "You are gates · D too high at every word: the biases are not counted.",
            RECURRENT, "2 * T * D * D * gates + T * gates * D",
        ),
        Mistake(
            "the state's matrix without gates",
            "You are right for a plain network only: W_h has gates · D columns, as W_x has.",
            RECURRENT, "T * D * D * gates + T * D * D",
        ),
        Mistake(
            "one matrix of a plain network",
            "TD² counts one matrix of a plain network. The state has a matrix too, and both have gates · D columns.",
            RECURRENT, "T * D * D",
        ),
        Mistake(
            "the gates forgotten",
            "You are right for a plain network only.",
            RECURRENT, "2 * T * D * D",
        ),
        Mistake(
            "the gates squared",
            "Your number grows with the square of the gates. Which sides of the matrices grow with them?",
            RECURRENT, "2 * T * D * D * gates * gates",
        ),
        Mistake(
            "one step only",
            "Your number does not depend on T: you have counted a single word.",
            RECURRENT, "2 * D * D * gates",
        ),
        Mistake(
            "T and D have changed places",
            "Your number grows with the square of T. A recurrent network never compares two words.",
            RECURRENT, "2 * T * T * D * gates",
        ),
        Mistake(
            "always an LSTM",
            "You are right for four gates only.",
            RECURRENT, "8 * T * D * D",
        ),
    ),
    alternatives={
        "the two matrices added": """
def flops_recurrent(T, D, gates):
    word = D * (gates * D)
    state = D * (gates * D)
    return T * (word + state)
""",
        "as a tensor": """
def flops_recurrent(T, D, gates):
    return torch.tensor(T * gates) * D**2 * 2
""",
    },
    hints=(
        "A vector of size D times a matrix with gates · D columns: how many multiply-adds?",
        "W_x: (D, gates · D). W_h: (D, gates · D). Both are used once for every word.",
        "one product = rows × columns of its matrix\ntwo products a word\nT words",
        "Near miss: TD² counts one matrix of a plain network. The state has a matrix too.",
    ),
)


def path_cases(draw: Draw) -> Iterator[Case]:
    def case(T: int, architecture: str) -> Case:
        return {"ids": draw.integers(3, 900, int(T)), "architecture": architecture}

    for architecture in ("recurrent", "attention", "dilated"):
        yield case(draw.integers(20, 400), architecture)
    for reached in (1, 4, 13, 40, 121):  # the last T that n layers reach, and one more
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
            "Your recurrent path is one too long: count the steps *between* the two states.",
            "return T - 1", "return T",
        ),
        Mistake(
            "attention as long as the sentence",
            "In attention the last word looks at the first one directly.",
            "return 1", "return T - 1",
        ),
        Mistake(
            "convolutions without dilation",
            "Your convolutions move one place with every layer. Their taps stand farther apart in each layer.",
            "missing -= 3**layers", "missing -= 1",
        ),
        Mistake(
            "taps twice as far apart",
            "Your layers reach 1, 2, 4, … places. Here the distances grow by a factor of 3.",
            "3**layers", "2**layers",
        ),
        Mistake(
            "both sides counted",
            "You have let a layer reach to the right by its whole width. It reaches as far as one tap to the right.",
            "3**layers", "2 * 3**layers",
        ),
        Mistake(
            "only the last layer's reach",
            "Each of your layers starts again from the first word. The reach of the layers adds up.",
            "missing -= 3**layers", "missing = T - 1 - 3**layers",
        ),
        Mistake(
            "the first word counted",
            "Your convolutions go on for one place too long, at some T: from the first to the last word it is T − 1 places.",
            "missing > 0", "missing >= 0",
        ),
        Mistake(
            "attention without a layer",
            "Your path of attention has length 0. The last word's vector depends on the first one after one layer, not before.",
            "return 1", "return 0",
        ),
        Mistake(
            "one layer too few",
            "Your convolutions stop one layer early at almost every T. The first layer's taps stand 1 place apart, not 3; "
            "and a distance that needs part of a layer's reach needs the whole layer: round up.",
            "3**layers", "3**(layers + 1)",
        ),
        Mistake(
            "rounded down",
            "Your convolutions stop one layer early wherever the distance needs only a part of the last layer's reach, as it does at "
            "almost every T: it needs the whole layer, so round up.",
            # In whole numbers this is the mistake before. Of 243, this logarithm is a little less than 5.
            code="""
import math

def path_length(T, architecture):
    if architecture == "dilated":
        return int(math.log(2 * T - 1, 3))
    return {"recurrent": T - 1, "attention": 1}[architecture]
""",
        ),
        Mistake(
            "the logarithm rounded to the nearest",
            "log₃(T) is how your number grows, not what it is: after n layers the reach to one side is 1 + 3 + 9 + … = (3ⁿ − 1)/2.",
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
        "the set of reached places": """
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
        "(-1, T - 1)": "a layer that reaches a third of a place comes first: whole distances need as many layers as before",
    },
    hints=(
        "Put a finger on the first word. How far can its trace move in one step or layer of each architecture?",
        "In: T and a word. Out: one whole number. The distance to cover is T − 1 places.",
        "recurrent: one place a step\nattention: any distance in one layer\ndilated: 1 place, then 3 more, then 9 more, … until the distance is covered",
        "Near miss: log₃(T), rounded up, is close and not exact: after n layers the reach is 1 + 3 + 9 + … , which is (3ⁿ − 1)/2.",
    ),
)
