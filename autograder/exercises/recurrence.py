"""04 Recurrence, encoder–decoder, and what attention costs: inputs, known mistakes, right answers and hints."""

from collections.abc import Iterator

import numpy as np

from autograder.exercise import Draw, Exercise, Mistake
from coursekit.asking import Case
from coursekit.judging import Rule

# ------------------------------------------------------------------------------------------ recurrent step


def recurrent_cases(draw: Draw) -> Iterator[Case]:
    for batch, dim, state in ((3, 4, 5), (5, 6, 6), (2, 7, 3)):
        yield {
            "x": draw.normal(batch, dim),
            "h": draw.normal(batch, state, scale=0.5),
            "W_x": draw.normal(dim, state, scale=0.6 * dim**-0.5),
            "W_h": draw.normal(state, state, scale=0.6 * state**-0.5),
            "b": draw.normal(state, scale=0.4),
        }


STEP = "torch.tanh(x @ W_x + h @ W_h + b)"

recurrent_step = Exercise(
    name="recurrence.recurrent_step",
    cases=recurrent_cases,
    rule=Rule("close", 1e-4, axes={"": "B H"}),
    mistakes=(
        Mistake(
            "the old state forgotten",
            "Your answer does not change when h does: the network has no memory.",
            {"x @ W_x + h @ W_h + b": "x @ W_x + b"},
        ),
        Mistake(
            "the word forgotten",
            "Your answer does not change when x does: the network never reads the word.",
            {"x @ W_x + h @ W_h + b": "h @ W_h + b"},
        ),
        Mistake("no bias", "Your answer does not change when b does.", {" + b)": ")"}),
        Mistake(
            "no activation",
            "Some of your numbers leave the range from −1 to 1. The sum is right; the last step is missing.",
            {STEP: "x @ W_x + h @ W_h + b"},
        ),
        Mistake(
            "sigmoid instead of tanh",
            "All your numbers are positive. A plain recurrent network uses another activation, one with both signs.",
            {"torch.tanh": "torch.sigmoid"},
        ),
        Mistake(
            "W_h transposed",
            "Wherever you use W_h, it is the other way round: its rows stand for the inputs.",
            {"h @ W_h": "h @ W_h.T"},
        ),
        Mistake(
            "the bias added after the activation",
            "Some of your numbers leave the range from −1 to 1 by no more than the bias: it belongs inside.",
            {STEP: "torch.tanh(x @ W_x + h @ W_h) + b"},
        ),
        Mistake(
            "each part activated by itself",
            "Your numbers leave the range from −1 to 1: two activations were added. The parts are added first.",
            {STEP: "torch.tanh(x @ W_x) + torch.tanh(h @ W_h + b)"},
        ),
        Mistake(
            "the new state added to the old one",
            "You add the result to h. A plain recurrent network replaces its state; keeping the old one is what an LSTM adds.",
            {STEP: f"h + {STEP}"},
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
    for batch, dim, state in ((2, 4, 3), (4, 5, 5), (3, 7, 2)):
        yield {
            "x": draw.normal(batch, dim),
            "h": draw.normal(batch, state, scale=0.5),
            "c": draw.normal(batch, state),
            "W_x": draw.normal(dim, 4 * state, scale=dim**-0.5),
            "W_h": draw.normal(state, 4 * state, scale=state**-0.5),
            "b": draw.normal(4 * state, scale=0.5),
        }


GATES = "i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)"
CELL = "torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)"
OUT = "return torch.sigmoid(o) * torch.tanh(c), c"

lstm_step = Exercise(
    name="recurrence.lstm_step",
    cases=lstm_cases,
    rule=Rule("close", 1e-4, axes={"0": "B H", "1": "B H"}),
    mistakes=(
        Mistake(
            "input and forget gate have changed places",
            "What you keep should be what you add, and the other way round: look at which block of columns is which gate.",
            {"i, f, g, o =": "f, i, g, o ="},
        ),
        Mistake(
            "candidate and output gate have changed places",
            "Your last two blocks of columns have changed roles. The order here is i, f, g, o, as in PyTorch.",
            {"i, f, g, o =": "i, f, o, g ="},
        ),
        Mistake(
            "the candidate through a sigmoid",
            "Your cell never goes down except by forgetting: what is added is always positive. The candidate is no gate.",
            {"torch.tanh(g)": "torch.sigmoid(g)"},
        ),
        Mistake(
            "the cell returned first",
            "Your two results have changed places: the tuple is (h, c).",
            {OUT: "return c, torch.sigmoid(o) * torch.tanh(c)"},
        ),
        Mistake(
            "the old cell used for the state",
            "Your cell is right. The state is computed from the cell as it was *before* this word.",
            {"    c = torch.sigmoid(f)": "    old = c\n    c = torch.sigmoid(f)", OUT: "return torch.sigmoid(o) * torch.tanh(old), c"},
        ),
        Mistake(
            "no tanh around the cell",
            "Your cell is right; some numbers of your state are too large. The cell goes through something before the output gate.",
            {OUT: "return torch.sigmoid(o) * c, c"},
        ),
        Mistake(
            "no output gate",
            "Your cell is right; your state shows all of it. One of the four blocks is never used.",
            {OUT: "return torch.tanh(c), c"},
        ),
        Mistake(
            "one gate for both",
            "The input gate of yours is 1 − f. That is a GRU's habit; here the two gates are independent.",
            {"torch.sigmoid(i)": "(1 - torch.sigmoid(f))"},
        ),
        Mistake(
            "no forget gate",
            "Your cell keeps everything for ever, as the LSTM of 1997 did. Here something decides what stays.",
            {"torch.sigmoid(f) * c": "c"},
        ),
        Mistake(
            "the old state forgotten",
            "Your answers do not change when h does: the gates see the word alone.",
            {"x @ W_x + h @ W_h + b": "x @ W_x + b"},
        ),
        Mistake(
            "every fourth column instead of blocks",
            "Your gates take the columns 0, 4, 8, …; they stand in blocks of H columns side by side.",
            {".chunk(4, dim=-1)": ".unflatten(-1, (-1, 4)).unbind(-1)"},
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

# ------------------------------------------------------------------------------------------ cross-attention


def words_then_padding(draw: Draw, batch: int, tokens: int) -> np.ndarray:
    """True where a token is real: the first row has two tokens of padding, the second none."""
    lengths = draw.integers(1, tokens, batch)
    lengths[0], lengths[1] = tokens - 2, tokens
    return np.arange(tokens) < lengths[:, None]


def cross_cases(draw: Draw) -> Iterator[Case]:
    for batch, Tt, Ts, D, d, d_v in ((2, 3, 5, 4, 6, 7), (3, 5, 5, 6, 4, 4), (4, 6, 4, 8, 3, 5)):
        yield {
            "dec": draw.normal(batch, Tt, D),
            "enc": draw.normal(batch, Ts, D),
            "W_q": draw.normal(D, d, scale=D**-0.5),
            "W_k": draw.normal(D, d, scale=D**-0.5),
            "W_v": draw.normal(D, d_v, scale=D**-0.5),
            "source_keep": words_then_padding(draw, batch, Ts),
        }


SCORES = "(dec @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5"
HIDDEN = "scores.masked_fill(~source_keep[:, None, :], -torch.inf)"

cross_attention = Exercise(
    name="recurrence.cross_attention",
    cases=cross_cases,
    rule=Rule("close", 1e-4, axes={"0": "B Tt dv", "1": "B Tt Ts"}),
    mistakes=(
        Mistake(
            "the source's padding not hidden",
            "Sentences without padding are right. In the others, padding takes weight from the words.",
            {HIDDEN: "scores"},
        ),
        Mistake(
            "source_keep inverted",
            "Your weights lie on the padding (and are NaN where there is none). True in source_keep marks a word.",
            {"~source_keep": "source_keep"},
        ),
        Mistake(
            "softmax over the target",
            "Your columns add up to 1, where the rows should: the target positions compete for a source word.",
            {"softmax(dim=-1)": "softmax(dim=-2)"},
        ),
        Mistake(
            "no scaling",
            "Your weights are more decided than they should be.",
            {" / W_q.shape[1] ** 0.5": ""},
        ),
        Mistake(
            "scaled by the width of the model",
            "Your weights are off wherever D and d differ. The scores are sums over the d columns of the projections.",
            {"W_q.shape[1]": "W_q.shape[0]"},
        ),
        Mistake(
            "divided by d instead of √d",
            "Your weights are too even: the scores were divided by too much.",
            {" ** 0.5": ""},
        ),
        Mistake(
            "the encoder not projected to values",
            "Your weights are right. What they mix are the keys; the values have a matrix of their own.",
            {"weights @ (enc @ W_v)": "weights @ (enc @ W_k)"},
        ),
        Mistake(
            "keys projected with W_q",
            "Queries and keys of yours share a matrix: W_k is never used for the scores.",
            {"enc @ W_k": "enc @ W_q"},
        ),
        Mistake(
            "queries projected with W_k",
            "Queries and keys of yours share a matrix: W_q is never used for the scores.",
            {"dec @ W_q": "dec @ W_k"},
        ),
        Mistake(
            "masked after the softmax",
            "The weights that remain add up to less than 1: padding had taken its share before it was removed.",
            {f"{HIDDEN}.softmax(dim=-1)": "scores.softmax(dim=-1) * source_keep[:, None, :]"},
        ),
        Mistake(
            "the results in the other order",
            "Your two results have changed places: the tuple is (output, weights).",
            {"return weights @ (enc @ W_v), weights": "return weights, weights @ (enc @ W_v)"},
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
    for low, high in ((3, 9), (10, 30), (31, 99)):
        yield {"target": draw.integers(3, 900, int(draw.integers(low, high)))}


ALLOWED = "places[:, None] >= places"

decoder_mask = Exercise(
    name="recurrence.decoder_mask",
    cases=mask_cases,
    rule=Rule("equal", axes={"": "T T"}),
    mistakes=(
        Mistake(
            "only what comes later",
            "You allow the words that are still to be written, and forbid the rest.",
            {ALLOWED: "places[:, None] < places"},
        ),
        Mistake(
            "transposed",
            "Your first row allows everything and your last row one word: rows are the positions that look, columns what is looked at.",
            {ALLOWED: "places[:, None] <= places"},
        ),
        Mistake(
            "the diagonal forbidden",
            "A position may not see itself with you, so that the first one sees nothing at all. The input at i is already shifted: it is the token before.",
            {ALLOWED: "places[:, None] > places"},
        ),
        Mistake(
            "one word too many",
            "Each of your positions also sees the next one: exactly the token that it should say.",
            {ALLOWED: "places[:, None] + 1 >= places"},
        ),
        Mistake(
            "everything allowed",
            "Nothing is hidden.",
            {ALLOWED: "torch.ones(T, T, dtype=torch.bool)"},
        ),
        Mistake(
            "only itself",
            "Each position sees itself alone, not the words before it.",
            {ALLOWED: "places[:, None] == places"},
        ),
        Mistake(
            "only the word before and itself",
            "Your positions look back one place. All earlier ones may be seen.",
            {ALLOWED: "(places[:, None] >= places) & (places[:, None] <= places + 1)"},
        ),
        Mistake(
            "a mask to be added",
            "You return 0 and −∞, to be added to scores. Asked is a mask of True and False.",
            {ALLOWED: "torch.full((T, T), -torch.inf).triu(1)"},
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

# ------------------------------------------------------------------------------------------ shift right


def shift_cases(draw: Draw) -> Iterator[Case]:
    for batch, T, vocabulary in ((3, 6, 40), (2, 9, 90), (5, 4, 60)):
        target = draw.integers(5, vocabulary, batch, T)
        lengths = draw.integers(2, T, batch)
        lengths[-1] = T
        target[np.arange(T) >= lengths[:, None]] = 0
        yield {"target": target, "bos": int(draw.integers(1, 5))}


SHIFTED = "torch.cat([start, target[:, :-1]], dim=1)"

shift_right = Exercise(
    name="recurrence.shift_right",
    cases=shift_cases,
    rule=Rule("equal", axes={"": "B T"}),
    mistakes=(
        Mistake(
            "the target itself",
            "You return the target as it is: the decoder would be given the very token it has to say.",
            {SHIFTED: "target.clone()"},
        ),
        Mistake(
            "bos written over the first token",
            "bos stands in front, and the first token of the target is lost: all others still stand where they stood.",
            {SHIFTED: "torch.cat([start, target[:, 1:]], dim=1)"},
        ),
        Mistake(
            "shifted left",
            "Position t of yours holds token t + 1: the decoder would be given the future.",
            {SHIFTED: "torch.cat([target[:, 1:], start], dim=1)"},
        ),
        Mistake(
            "one column too many",
            "Your answer is one column wider than the target: its last token has been kept.",
            {"target[:, :-1]": "target"},
        ),
        Mistake(
            "one column too few",
            "Your answer is one column narrower than the target: nothing was put in front.",
            {SHIFTED: "target[:, :-1]"},
        ),
        Mistake(
            "the last token comes round to the front",
            "The first column of yours holds the last token of the target. That is a rotation; in front stands bos.",
            {SHIFTED: "target.roll(1, dims=1)"},
        ),
        Mistake(
            "zeros in front",
            "Your first column is 0, which is padding here. The start sign is an argument.",
            {"torch.full_like(target[:, :1], bos)": "torch.zeros_like(target[:, :1])"},
        ),
        Mistake(
            "shifted along the batch",
            "You moved the sentences down, not the tokens to the right.",
            {SHIFTED: "torch.cat([torch.full_like(target[:1], bos), target[:-1]], dim=0)"},
        ),
        Mistake(
            "shifted by two",
            "Your tokens moved two places: position t should know everything up to t − 1.",
            {SHIFTED: "torch.cat([start, start, target[:, :-2]], dim=1)"},
        ),
        Mistake(
            "everything but the words replaced by bos",
            "Your padding has become bos too. Only the first column is new.",
            {SHIFTED: "torch.where(torch.cat([start, target[:, :-1]], dim=1) == 0, bos, torch.cat([start, target[:, :-1]], dim=1))"},
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
    for batch, longest, vocabulary in ((3, 8, 9), (5, 11, 12), (4, 9, 10)):
        bos, eos, pad = (int(token) for token in draw.rng.permutation(vocabulary)[:3])
        scores = draw.normal(batch, longest, vocabulary, scale=2.0)
        words = draw.normal(vocabulary, vocabulary, scale=1.5)
        words[:, [bos, eos, pad]] = 0
        scores[:, :, [bos, pad]] = -100
        scores[:, :, eos] = -100
        # Sentences end at different places; the last one never does.
        ends = 2 + draw.rng.permutation(longest - 3)[: batch - 1]
        scores[np.arange(batch - 1), ends, eos] = 100
        yield {"scores": scores, "words": words, "B": batch, "longest": longest, "bos": bos, "eos": eos, "pad": pad}


BEST = "best = next_logits(ids)[:, -1].argmax(dim=-1)"

greedy_translate = Exercise(
    name="recurrence.greedy_translate",
    cases=greedy_cases,
    rule=Rule("equal", axes={"": "B longest"}),
    mistakes=(
        Mistake(
            "always the first position's logits",
            "Your first token is right and comes back again and again: look at which position's logits you read.",
            {"[:, -1].argmax": "[:, 0].argmax"},
        ),
        Mistake(
            "nothing after eos replaced",
            "Up to eos you are right. Behind it, your sentences go on.",
            {"best = torch.where(ended, pad, best)": "pass"},
        ),
        Mistake(
            "eos replaced by pad",
            "Your sentences lose their eos: it belongs to the translation, padding comes *behind* it.",
            {"return ids[:, 1:]": "return torch.where(ids[:, 1:] == eos, pad, ids[:, 1:])"},
        ),
        Mistake(
            "bos returned",
            "Your first column is bos, which nobody has translated.",
            {"return ids[:, 1:]": "return ids[:, :-1]"},
        ),
        Mistake(
            "all stop when the first one ends",
            "As soon as one sentence has ended, all of yours are padded. Each ends by itself.",
            {"ended = ended | (best == eos)": "ended = ended | (best == eos).any()"},
        ),
        Mistake(
            "forgets who has ended",
            "Your sentences take one pad after eos, and then go on: who has ended stays ended.",
            {"ended = ended | (best == eos)": "ended = best == eos"},
        ),
        Mistake(
            "the least probable token",
            "You take the worst token each time.",
            {"argmax": "argmin"},
        ),
        Mistake(
            "the decoder sees only the last token",
            "The first token is right, later ones are not: the decoder is asked with the last token alone. It needs the whole beginning.",
            {"next_logits(ids)[:, -1]": "next_logits(ids[:, -1:])[:, -1]"},
        ),
        Mistake(
            "the decoder never sees what was written",
            "You ask the decoder with start signs only: its own tokens never come back to it.",
            {"next_logits(ids)[:, -1]": "next_logits(torch.full_like(ids, bos))[:, -1]"},
        ),
        Mistake(
            "begins with pad",
            "Already your first tokens can be wrong: the beginning that the decoder gets is not bos.",
            {"torch.full((B, 1), bos)": "torch.full((B, 1), pad)"},
        ),
        Mistake(
            "one token too few",
            "Your answer is one column too narrow.",
            {"range(longest)": "range(longest - 1)"},
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
    for batch, Ts, Tt in ((2, 6, 6), (3, 5, 7), (4, 8, 5)):
        yield {
            "source_keep": words_then_padding(draw, batch, Ts),
            "target_keep": words_then_padding(draw, batch, Tt)[::-1].copy(),
        }


MENDED = "source_keep[:, None, :].expand(-1, Tt, -1)"

mended_cross_mask = Exercise(
    name="recurrence.mended_cross_mask",
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
            {MENDED: f"{MENDED} & (torch.arange(Tt)[:, None] >= torch.arange(source_keep.shape[1]))"},
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
        ),
        Mistake(
            "nothing hidden",
            "Nothing is hidden: the target would read the source's padding.",
            {MENDED: "torch.ones(len(source_keep), Tt, source_keep.shape[1], dtype=torch.bool)"},
        ),
        Mistake(
            "inverted",
            "You allow the padding and hide the words.",
            {MENDED: "~" + MENDED},
        ),
        Mistake(
            "rows of the target's padding empty",
            "Rows of the target's padding are all False with you: a softmax over such a row is NaN. The docstring says how they are treated.",
            {MENDED: f"{MENDED} & target_keep[:, :, None]"},
        ),
        Mistake(
            "source and target have changed places",
            "Your axes are batch, source, target. The target is the one that looks: rows are target positions.",
            {MENDED: f"{MENDED}.transpose(1, 2)"},
        ),
        Mistake(
            "one row for all",
            "You return one row for each sentence. It stretches by itself in most uses; asked is a row for each target position.",
            {MENDED: "source_keep[:, None, :]"},
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
    name="recurrence.flops_attention",
    cases=size_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "only the scores",
            "You have half of what is asked: two products are counted.",
            {OPERATIONS: "T * T * D"},
        ),
        Mistake(
            "multiplications and additions counted apart",
            "You have twice what is asked: one multiplication together with one addition counts as 1.",
            {OPERATIONS: "4 * T * T * D"},
        ),
        Mistake(
            "T and D have changed places",
            "Your number grows with the square of D. What is compared with what, and how many pairs are there?",
            {OPERATIONS: "2 * T * D * D"},
        ),
        Mistake(
            "each word with itself only",
            "Your number grows in proportion to T. Every word meets every word.",
            {OPERATIONS: "2 * T * D"},
        ),
        Mistake(
            "the pairs alone",
            "You have counted the pairs of words. Each pair costs more than one multiply-add.",
            {OPERATIONS: "2 * T * T"},
        ),
        Mistake(
            "the projections too",
            "You have counted the projections with it. The docstring leaves them out.",
            {OPERATIONS: "2 * T * T * D + 4 * T * D * D"},
        ),
        Mistake(
            "only the pairs of the past",
            "You have counted a triangle, as in a decoder. Here every word sees every word.",
            {OPERATIONS: "T * (T + 1) * D"},
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
    name="recurrence.flops_recurrent",
    cases=gate_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "only one of the two matrices",
            "You have half of what is asked: the word and the state both meet a matrix.",
            {RECURRENT: "T * D * D * gates"},
        ),
        Mistake(
            "multiplications and additions counted apart",
            "You have twice what is asked: one multiplication together with one addition counts as 1.",
            {RECURRENT: "4 * T * D * D * gates"},
        ),
        Mistake(
            "the gates forgotten",
            "You are right for a plain network only.",
            {RECURRENT: "2 * T * D * D"},
        ),
        Mistake(
            "the gates squared",
            "Your number grows with the square of the gates. Which sides of the matrices grow with them?",
            {RECURRENT: "2 * T * D * D * gates * gates"},
        ),
        Mistake(
            "one step only",
            "Your number does not depend on T: you have counted a single word.",
            {RECURRENT: "2 * D * D * gates"},
        ),
        Mistake(
            "T and D have changed places",
            "Your number grows with the square of T. A recurrent network never compares two words.",
            {RECURRENT: "2 * T * T * D * gates"},
        ),
        Mistake(
            "always an LSTM",
            "You are right for four gates only.",
            {RECURRENT: "8 * T * D * D"},
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
    yield case(draw.integers(5, 500), "recurrent")
    yield case(draw.integers(1000, 5000), "recurrent")
    yield case(draw.integers(1100, 3000), "dilated")


path_length = Exercise(
    name="recurrence.path_length",
    cases=path_cases,
    rule=Rule("equal"),
    mistakes=(
        Mistake(
            "one step too many",
            "Your recurrent path is one too long: count the steps *between* the two states.",
            {"return T - 1": "return T"},
        ),
        Mistake(
            "attention as long as the sentence",
            "In attention the last word looks at the first one directly.",
            {"return 1": "return T - 1"},
        ),
        Mistake(
            "convolutions without dilation",
            "Your convolutions move one place with every layer. Their taps stand farther apart in each layer.",
            {"missing -= 3**layers": "missing -= 1"},
        ),
        Mistake(
            "taps twice as far apart",
            "Your layers reach 1, 2, 4, … places. Here the distances grow by a factor of 3.",
            {"3**layers": "2**layers"},
        ),
        Mistake(
            "both sides counted",
            "You have let a layer reach to the right by its whole width. It reaches as far as one tap to the right.",
            {"3**layers": "2 * 3**layers"},
        ),
        Mistake(
            "only the last layer's reach",
            "Each of your layers starts again from the first word. The reach of the layers adds up.",
            {"missing -= 3**layers": "missing = T - 1 - 3**layers"},
        ),
        Mistake(
            "the first word counted",
            "Your convolutions go on for one place too long, at some T: from the first to the last word it is T − 1 places.",
            {"missing > 0": "missing >= 0"},
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

EXERCISES = (
    recurrent_step,
    lstm_step,
    cross_attention,
    decoder_mask,
    shift_right,
    greedy_translate,
    mended_cross_mask,
    flops_attention,
    flops_recurrent,
    path_length,
)
