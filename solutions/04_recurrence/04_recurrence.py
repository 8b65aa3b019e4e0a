# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · Recurrence, encoder–decoder, and what attention costs
#
# Before attention, networks read a sentence as we do: one word after the other, carrying a memory. We build such networks, and measure how much of the
# first word is left at the end. Then two come together, an **encoder** that reads and a **decoder** that writes: first joined by one vector, then by
# attention to all words, at last without recurrence. Three translators of one size show what each step gained.
#
# **You need** notebooks 02 and 03. **Time** about 75 minutes without what goes *further*: nine exercises, two questions that a person reads; a bug to find
# and four extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb) · next: [05 · ELMo](../05_elmo/05_elmo.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - write a recurrent step and an LSTM step, and say what the gates are for;
# - read a sentence into one vector, and say at which lengths that vector is too small;
# - write additive attention, and the decoder block of the transformer;
# - train a decoder by teacher forcing without letting it copy, and translate greedily.

# %%
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit import check, hint, predict, reveal

# %% [markdown]
# ## 1 · One word after the other
#
# A recurrent network has a state *h*, a vector of fixed size. At each word it makes a new state out of the word and the old state, with the same
# matrices every time (Elman 1990):
#
# $$h_t = \tanh(x_t W_x + h_{t-1} W_h + b) .$$
#
# All that is known of the words so far must fit into h.

# %% tags=["demo"]
from coursekit.pictures import recurrence as pictures
from coursekit.plots import use_style

use_style()
pictures.unrolled(["the", "guard", "slept", "well"])

# %% nbgrader={"grade": false, "grade_id": "recurrence-recurrent_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def recurrent_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D H"],
    W_h: Float[Tensor, "H H"],
    b: Float[Tensor, "H"],
) -> Float[Tensor, "B H"]:
    """The state after one more word.  (difficulty ●○○, 4 minutes)

    x holds one word of each sentence, h the state before it. Rows of a matrix stand for inputs:
    x @ W_x. The activation is tanh. Here H is the size of the state.
    """
    ### BEGIN SOLUTION
    return torch.tanh(x @ W_x + h @ W_h + b)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-recurrent_step-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("recurrence.recurrent_step", lambda case: recurrent_step(**case))

# %% [markdown]
# Your step, over a sentence. Each state has to wait for the one before it: for T words, T steps *in sequence*, however many processors there are.

# %% tags=["demo"]
from dataclasses import replace

import numpy as np
import pandas as pd
from IPython.display import Markdown, display

torch.set_num_threads(1)
torch.manual_seed(0)

D = 32                                                              # words and states alike

def random_weights(seed: int, gates: int = 1) -> dict[str, Tensor]:
    """Weights before training: uniform, up to 1/√D, as PyTorch draws them; biases 0. In float64."""
    generator = torch.Generator().manual_seed(seed)

    def matrix() -> Tensor:
        return (2 * torch.rand(D, gates * D, generator=generator).double() - 1) / D**0.5

    return {"W_x": matrix(), "W_h": matrix(), "b": torch.zeros(gates * D).double()}

def run_recurrent(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The state after the last word."""
    h = torch.zeros(1, D).double()
    for word in x:
        h = recurrent_step(word[None], h, **weights)
    return h[0]

state = run_recurrent(torch.randn(20, D).double(), random_weights(0))
print(f"after 20 words: {tuple(state.shape)}   size of a coordinate: {state.abs().mean():.2f}")

# %% [markdown]
# ## 2 · What is left of the first word
#
# Change the first word a little: how much does the last state move? That is a derivative, and by the chain rule it is a product with one
# factor for each step between. Products of many factors vanish or explode (Hochreiter 1991; Bengio et al. 1994).
#
# **Predict:** compare a sentence of 32 words with one of 2. By what factor is the derivative for the first word smaller: what is the ratio
# (32 words over 2 words), as a number between 0 and 1?

# %% tags=["demo"]
predict("recurrence.gradient", ...)

# %% tags=["demo"]
def first_word_matters(run, T: int, seed: int) -> float:
    """Size of the derivative of what `run` returns with respect to the first of T random words."""
    x = torch.randn(T, D, generator=torch.Generator().manual_seed(1000 + seed)).double()

    def with_first(word: Float[Tensor, "D"]) -> Float[Tensor, "D"]:
        return run(torch.cat([word[None], x[1:]]), seed)

    return torch.autograd.functional.jacobian(with_first, x[0]).norm().item()

def over_seeds(run, lengths: list[int], seeds: int = 8) -> Float[np.ndarray, "seed length"]:
    """The derivative for each seed (other weights, other words) and each length."""
    return np.array([[first_word_matters(run, T, seed) for T in lengths] for seed in range(seeds)])

def plain_network(x: Float[Tensor, "T D"], seed: int) -> Float[Tensor, "D"]:
    return run_recurrent(x, random_weights(seed))

lengths = [2, 4, 8, 16, 32, 64]
plain = over_seeds(plain_network, lengths)
left_over = np.exp(np.log(plain[:, 4] / plain[:, 0]).mean())
reveal("recurrence.gradient", left_over)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def large_network(x: Float[Tensor, "T D"], seed: int) -> Float[Tensor, "D"]:
    """With a W_h five times as large."""
    weights = random_weights(seed)
    return run_recurrent(x, weights | {"W_h": 5 * weights["W_h"]})

large = over_seeds(large_network, [2, 32])
grown = np.exp(np.log(large[:, 1] / large[:, 0]).mean())
display(Markdown(
    "From 2 to 32 words, the derivative of the plain network shrinks to "
    f"**{left_over:.1e}** of itself (geometric mean of 8 random networks). With a $W_h$ five times as large it grows to **{grown:.0e}** times itself: "
    "it explodes, and one step of training would throw the weights far off. That is what clipping (03) is for."
))

# %% [markdown]
# With random weights of the usual size hardly anything of the first word is left, and so training can hardly find out that it mattered. The **long
# short-term memory** (Hochreiter and Schmidhuber 1997; forget gate by Gers et al. 2000) gives the state a second part, the *cell* c. It is not
# multiplied by a matrix. Three gates between 0 and 1, and a candidate g, come from the word and the old state:
#
# $$i = \sigma(x W^i_x + h W^i_h + b^i) \qquad f = \sigma(x W^f_x + h W^f_h + b^f)$$
#
# $$g = \tanh(x W^g_x + h W^g_h + b^g) \qquad o = \sigma(x W^o_x + h W^o_h + b^o)$$
#
# They decide what goes on:
#
# $$c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t) .$$

# %% tags=["demo"]
pictures.lstm_cell()

# %% [markdown]
# If f stays near 1, the cell passes a word's trace on unharmed: the blue road has no matrix on it. σ is the sigmoid.

# %% nbgrader={"grade": false, "grade_id": "recurrence-lstm_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lstm_step(
    x: Float[Tensor, "B D"],
    h: Float[Tensor, "B H"],
    c: Float[Tensor, "B H"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> tuple[Float[Tensor, "B H"], Float[Tensor, "B H"]]:
    """State and cell after one more word, as a tuple (h, c).  (difficulty ●●○, 6 minutes)

    The four blocks of H columns in W_x, W_h and b belong to the input gate i, the forget gate f,
    the candidate g and the output gate o, in this order (PyTorch's). Gates go through a sigmoid,
    the candidate through tanh. `torch.lstm_cell` may be used.
    """
    ### BEGIN SOLUTION
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-lstm_step-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.lstm_step", lambda case: lstm_step(**case))

# %% [markdown]
# Does it agree with PyTorch's own, given the same weights? (`nn.LSTM` keeps its matrices transposed, and two biases.)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def run_lstm(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The state after the last word."""
    h = c = torch.zeros(1, D).double()
    for word in x:
        h, c = lstm_step(word[None], h, c, **weights)
    return h[0]

theirs, ours = torch.nn.LSTM(D, D).double(), random_weights(0, gates=4)
with torch.no_grad():
    theirs.weight_ih_l0.copy_(ours["W_x"].T), theirs.weight_hh_l0.copy_(ours["W_h"].T)
    theirs.bias_ih_l0.copy_(ours["b"]), theirs.bias_hh_l0.zero_()
sentence = torch.randn(20, D).double()
difference = (theirs(sentence)[0][-1] - run_lstm(sentence, ours)).abs().max().item()
print(f"largest difference from nn.LSTM after 20 words: {difference:.1e}")

# %% [markdown]
# Now four ways to the first word. Three are recurrent: the plain network, an LSTM as drawn, and one whose forget gate starts open (bias 3,
# f ≈ 0.95). The fourth is one attention of the last word over all words, with random projections.

# %% tags=["demo"]
print("This takes five to ten seconds.")

def remembering(seed: int) -> dict[str, Tensor]:
    """Random LSTM weights with a forget bias of 3."""
    weights = random_weights(seed, gates=4)
    weights["b"][D : 2 * D] = 3.0
    return weights

def attend(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The last word attends to all words, as in 02."""
    queries, keys, values = (x @ weights["W_x"]).chunk(3, dim=-1)
    return torch.softmax(keys @ queries[-1] / D**0.5, dim=0) @ values

runs = {
    "LSTM": lambda x, seed: run_lstm(x, random_weights(seed, gates=4)),
    "LSTM, forget bias 3": lambda x, seed: run_lstm(x, remembering(seed)),
    "attention": lambda x, seed: attend(x, random_weights(seed, gates=3)),
}
reach = {"plain recurrence": plain} | {name: over_seeds(run, lengths) for name, run in runs.items()}

# %% tags=["demo"]
pictures.gradients(reach, lengths)

# %% [markdown]
# A straight line on these axes is a constant share lost at *every* step. The plain network and the LSTM with small forget gates both fall that way.
# What saves the LSTM is not its form but a gate that stays open. This is why the bias of the forget gate is started high (Jozefowicz et al. 2015).
# Attention loses only because the weight is shared among more words, as 1/T: its **path length** to the first word is *one* step.

# %% [markdown]
# **Question 1.** An LSTM could in principle keep its forget gate at 1 for ever. Why does that not make it as good as attention at using a word from
# 500 words ago? Name one cost of a memory of fixed size, and one advantage it has over attention. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "recurrence-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# With the forget gate at 1 nothing is ever erased: all 500 words add into the same H numbers. The trace of one of them survives, but
# is hard to separate from the others. The network has to decide *when it reads* a word whether it will be needed, while attention
# keeps all words and decides when the question is known. A fixed size is a bottleneck for what can be remembered. Its advantage is that memory and
# time for each new word do not grow with the length of the text, whereas attention compares the new word with all words before it.
#
# *Marking: 1 point for the bottleneck (fixed size, decided before the need is known, interference); 1 point for the advantage (constant memory or
# constant time for each word).*

# %% [markdown]
# ## 3 · A language to translate into
#
# Our generated English has a twin, a made-up code with rules we know: verbs go to the end of their clause, prepositions behind their noun,
# adjectives too. Nouns and verbs take endings (*-r* plural, *-o* the, *-n* object, *-ta* past, *-s* third person). Each sense of an ambiguous word has a
# word of its own. So every sentence has exactly one right translation.

# %% tags=["demo", "record"]
from coursekit.language import BOS, EOS, PAD, load_language
from coursekit.translator import (
    LONGEST, Translator, WithTeacher, fused_cross_attention, learning_rate, load_code, load_translator,
    sample_pairs, token_loss, trimmed,
)

language, code = load_language(), load_code()
held_out = sample_pairs(500, np.random.default_rng(4), split="held_out")
for row in range(4):
    print(language.decode(held_out.source[row].tolist()))
    print("   ", code.decode(held_out.target[row]))
longest = int((held_out.target != PAD).sum(dim=1).max())
print(f"\n{len(language.vocabulary):,} English words, {len(code.vocabulary):,} tokens of the code,",
      f"targets of up to {longest} tokens")

# %% [markdown]
# A decoder is **autoregressive**: it predicts each token from those before it. How is it trained? At every position it gets the
# *right* beginning of the target, and has to predict the next token: **teacher forcing**
# (Williams and Zipser 1989). With the mask all positions learn at once. The input is the target moved one place to the right, behind a start sign.

# %% nbgrader={"grade": false, "grade_id": "recurrence-shift_right", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    """The decoder's input for this target.  (difficulty ●○○, 4 minutes)

    Position 0 holds bos, position t the token t − 1 of the target. Same shape as the target: its
    last column has no one left to tell. The target itself is not changed.
    """
    ### BEGIN SOLUTION
    start = torch.full_like(target[:, :1], bos)
    return torch.cat([start, target[:, :-1]], dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-shift_right-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("recurrence.shift_right", lambda case: shift_right(case["target"], case["bos"]))

# %% [markdown]
# After training there is no right beginning. The decoder goes on from what it has written itself (this mismatch is called **exposure
# bias**), taking the most probable token each time (**greedy decoding**). In the check
# the decoder is a toy made of tables, so that the numbers are in your hands.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_decoder(case: dict):
    """A stand-in for a decoder: logits from tables, by sentence, place and all tokens so far."""
    def next_logits(ids: Int[Tensor, "B t"]) -> Float[Tensor, "B t V"]:
        t, longest = ids.shape[1], case["longest"]
        if t > longest:
            raise ValueError(f"The decoder was called with {t} columns. It takes up to {longest}.")
        return case["scores"][:, :t] + case["words"][ids].cumsum(dim=1)

    return next_logits

# %% nbgrader={"grade": false, "grade_id": "recurrence-greedy_translate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    """The translations of B sentences, token by token.  (difficulty ●●●, 10 minutes)

    next_logits(ids) takes integer ids (B, t), the beginnings so far with bos in front, and returns
    logits (B, t, V): at position i those of the token *after* position i. It may be called with up
    to `longest` columns.
    Returns exactly `longest` columns without bos: the tokens chosen, eos included, pad behind eos.
    Only eos ends a sentence; pad and bos may be chosen like any other token. A sentence that has
    not ended by then is simply cut.
    """
    ### BEGIN SOLUTION
    ids = torch.full((B, 1), bos)
    ended = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        best = next_logits(ids)[:, -1].argmax(dim=-1)
        best = torch.where(ended, pad, best)
        ids = torch.cat([ids, best[:, None]], dim=1)
        ended = ended | (best == eos)
    return ids[:, 1:]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-greedy_translate-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.greedy_translate", lambda case: greedy_translate(
    toy_decoder(case), case["B"], case["longest"], case["bos"], case["eos"], case["pad"]
))

# %% [markdown]
# ## 4 · One vector for a whole sentence
#
# In 2014 two groups put two recurrent networks together (Cho et al. 2014; Sutskever et al. 2014). The **encoder** reads the source. What it holds after the last word is
# *one* vector of fixed size, and this **fixed-size vector** is all that the **decoder** gets to know. It writes as you have just done, one token after the other.

# %% tags=["demo"]
example = ["the", "guard", "slept"]
its_code = [token for token, _ in code.translate(example, ["DET", "NOUN", "VERB"], ["", "", ""])]
pictures.encoder_decoder(example, its_code, attention=False)

# %% [markdown]
# Sentences of a batch differ in length. Where a sentence has no word, its memory must stand still.

# %% nbgrader={"grade": false, "grade_id": "recurrence-encode_to_vector", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_to_vector(
    words: Float[Tensor, "B T D"],
    keep: Bool[Tensor, "B T"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> Float[Tensor, "B H"]:
    """Each sentence as one vector: the state h of an LSTM after its last word.  (difficulty ●●○, 6 minutes)

    Reads from left to right with your lstm_step. State and cell begin as 0. keep is True where there
    is a word; elsewhere stands padding, in front of the words or behind them, and there state and
    cell stay as they are.
    """
    ### BEGIN SOLUTION
    h = c = torch.zeros(len(words), W_h.shape[0])
    for t in range(words.shape[1]):
        real = keep[:, t, None]
        new_h, new_c = lstm_step(words[:, t], h, c, W_x, W_h, b)
        h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)
    return h
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-encode_to_vector-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.encode_to_vector", lambda case: encode_to_vector(**case))

# %% [markdown]
# `coursekit` has a trained translator of this kind. Its encoder has a second LSTM, which reads from right to left; the vector holds the last states of both. Does the first half
# come out of your function?
#
# It was trained on one processor core, for some minutes.

# %% tags=["demo"]
from functools import partial

from coursekit.seq2seq import Seq2Seq, last_states, load_seq2seq

fixed = load_seq2seq("fixed")
part = sample_pairs(500, np.random.default_rng(14), split="held_out")

with torch.no_grad():
    reader, keep = fixed.reader, part.source != PAD
    halves = last_states(fixed.encode(part.source), keep).chunk(2, dim=-1)
    mine_too = encode_to_vector(fixed.source_words(part.source), keep, reader.weight_ih_l0.T,
                                reader.weight_hh_l0.T, reader.bias_ih_l0 + reader.bias_hh_l0)
vector_difference = (halves[0] - mine_too).abs().max().item()
print(f"largest difference of the first half: {vector_difference:.1e}")

@torch.no_grad()
def translate(model: nn.Module, source: Int[Tensor, "B Ts"]) -> Int[Tensor, "B longest"]:
    """Greedy translations with your function."""
    encoded, source_keep = model.encode(source), source != PAD

    def next_logits(ids: Int[Tensor, "B t"]) -> Float[Tensor, "B t V"]:
        keep = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        return model.decode(ids, encoded, source_keep, keep)

    return greedy_translate(next_logits, len(source), LONGEST, BOS, EOS, PAD)

def exactly_right(guesses: Tensor, target: Tensor) -> float:
    """Share of sentences with every token right."""
    return (guesses == target).all(dim=1).float().mean().item()

for row in range(3):
    print(f"\nsource: {language.decode(part.source[row].tolist())}")
    print(f"right:  {code.decode(part.target[row])}")
    print(f"fixed:  {code.decode(translate(fixed, part.source[row : row + 1])[0])}")

# %% [markdown]
# ## 5 · A mixture for each token
#
# Bahdanau, Cho and Bengio (2015) let the decoder look again. The encoder keeps *all* its states. Before each token, the decoder's state s weighs them, and gets
# their mixture, the *context*. The score of word j is a small network's answer:
#
# $$e_j = v \cdot \tanh(s W_s + k_j) , \qquad k_j = h_j W_k .$$
#
# This is **additive attention**. The keys k do not depend on s: they are computed once for a sentence.

# %% tags=["demo"]
pictures.encoder_decoder(example, its_code, attention=True)

# %% nbgrader={"grade": false, "grade_id": "recurrence-additive_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def additive_attention(
    state: Float[Tensor, "B H"],
    keys: Float[Tensor, "B Ts A"],
    values: Float[Tensor, "B Ts E"],
    W_s: Float[Tensor, "H A"],
    v: Float[Tensor, "A"],
    keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B E"], Float[Tensor, "B Ts"]]:
    """What one decoder state per sentence takes from the source, and how.  (difficulty ●●○, 6 minutes)

    The score of a word is v · tanh(state W_s + key); it is not scaled. keep is True where the source
    has a word: padding gets weight 0. Each source has at least one word. Scores can be so large that
    their exponentials overflow. Returns the tuple (context, weights).
    """
    ### BEGIN SOLUTION
    scores = torch.tanh(keys + (state @ W_s)[:, None]) @ v
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), weights
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-additive_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.additive_attention", lambda case: additive_attention(**case))

# %% [markdown]
# Three translators have the same training: the fixed vector, additive attention, and the transformer that comes in part 6. They have about as many parameters, met the same number of sentences, and
# each was trained with three seeds.
#
# **Predict:** what share of the longest held-out sentences (12 to 15 words) does the *fixed vector* translate exactly, every token right? A number between 0 and 1.

# %% tags=["demo"]
predict("recurrence.longest", ...)

# %% tags=["demo"]
from coursekit.small import recorded
from coursekit.small.figures import LENGTHS, length_figure

kinds = {"fixed vector": "seq2seq_fixed", "additive attention": "seq2seq_additive",
         "transformer": "seq2seq_transformer"}
tables = {name: recorded(table) for name, table in kinds.items()}
figures = {f"{low}" if low == high else f"{low}–{high}": length_figure(low, high)
           for low, high in LENGTHS}
shares = {name: [tuple(table.loc[figure, ["mean", "half_width"]]) for figure in figures.values()]
          for name, table in tables.items()}
reveal("recurrence.longest", shares["fixed vector"][-1][0])
pictures.by_length(shares, list(figures))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
additive = load_seq2seq("additive")
sizes_of = [sum(weight.numel() for weight in one.parameters()) for one in (fixed, additive, Translator())]
display(pd.DataFrame(
    {
        name: {"parameters": f"{size:,}"} | {
            f"exactly right, {words}": f"{100 * mean:.1f} ± {100 * half:.1f} %"
            for words, (mean, half) in {
                "all": tuple(table.loc["held-out: exactly right", ["mean", "half_width"]]),
                f"{list(figures)[0]} words": shares[name][0], f"{list(figures)[-1]} words": shares[name][-1],
            }.items()
        }
        for (name, table), size in zip(tables.items(), sizes_of, strict=True)
    }
).T)

# %% [markdown]
# Of the shortest sentences more than nine in ten go through one vector unharmed; of the longest about two in ten are lost. With attention hardly any is lost, at any length. The two recurrent networks differ in nothing
# but the context. Bahdanau et al. (2015, figure 2) saw the same fall in real translations. All three had the *same* training, and more of it helps the fixed vector: on the way, after a quarter of these steps, seed 0 had none of the longest right.
# It has to learn to pack everything in, before it knows what will be asked.

# %% [markdown]
# Your function in the trained network of part 5, and where it looks. The words are glossed: behind each stem of the code its English word stands in brackets.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
additive.attend = additive_attention                              # yours, from here on
additive_right = exactly_right(translate(additive, part.source), part.target)

@torch.no_grad()
def looks(model: nn.Module, pairs, attention=additive_attention) -> Float[Tensor, "B Tt Ts"]:
    """The weights of the attention while the right translation is written."""
    seen = []
    def recorded_attention(*arguments):
        context, weights = attention(*arguments)
        seen.append(weights)
        return context, weights
    model.attend = recorded_attention
    model(pairs.source, shift_right(pairs.target, BOS))
    model.attend = attention
    return torch.stack(seen, dim=1)

part_stems = part.origin >= 0                    # suffixes and [EOS] translate no word of their own
additive_weights = looks(additive, part)
additive_found = (additive_weights.argmax(-1) == part.origin)[part_stems].float().mean().item()
shown = int((part.source == language.vocabulary.index("cell")).any(dim=1).nonzero()[0])
pictures.alignment(additive_weights[shown], part[shown : shown + 1], language, code)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"With your attention, **{additive_right:.1%}** of {len(part)} held-out sentences are exactly right. The word with the largest weight is the one "
    f"translated for **{additive_found:.1%}** of the stems."
))

# %% [markdown]
# Nobody told it which word a token translates. It is the **alignment**, read off the weights; the boxes mark the true one. Suffixes have no word of their own.

# %% [markdown]
# ## 6 · The transformer's decoder
#
# The transformer (Vaswani et al. 2017) drops the recurrence and keeps the attention. The queries come from the decoder, keys and values from the encoder: **cross-attention**. It is the
# attention of 02 with *two* sentences, for all positions of the target at once.

# %% nbgrader={"grade": false, "grade_id": "recurrence-cross_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    """What each target position takes from the source, and how.  (difficulty ●●○, 6 minutes)

    One head. Scores are divided by √d. source_keep is True where the source has a word: padding
    gets weight 0 from every target position. Each source has at least one word. Scores can be so
    large that their exponentials overflow. Returns the tuple (output, weights).
    `scaled_dot_product_attention` may be used.
    """
    ### BEGIN SOLUTION
    scores = (dec @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ (enc @ W_v), weights
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-cross_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.cross_attention", lambda case: cross_attention(**case))

# %% [markdown]
# Within the target, a position may look at itself and at what was written before, never ahead: ahead lie the words that it is going to write.

# %% nbgrader={"grade": false, "grade_id": "recurrence-decoder_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    """keep[i, j]: may target position i attend to target position j?  (difficulty ●○○, 3 minutes)

    True for itself and all earlier positions, False for later ones.
    """
    ### BEGIN SOLUTION
    places = torch.arange(T)
    return places[:, None] >= places
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-decoder_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("recurrence.decoder_mask", lambda case: decoder_mask(len(case["target"])))

# %% [markdown]
# With these two pieces three families of models can be told apart by one picture each: who may see whom?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
source, target = 5, 4
everything = torch.ones(source + target, source + target, dtype=torch.bool)
both = everything.clone()
both[:source, source:] = False                             # the encoder does not see the target
both[source:, source:] = decoder_mask(target)
families = {
    "encoder only (BERT)": everything,
    "decoder only (GPT)": decoder_mask(source + target),
    "encoder–decoder (translation)": both,
}
pictures.visibility(families, source)

# %% [markdown]
# An encoder alone is **bidirectional**: it sees both sides of every word, and writes nothing. A decoder alone writes and is **unidirectional**, in its source as well. The
# encoder–decoder reads its source from both sides and still writes: its upper right block is empty because the source is finished before the target begins.

# %% [markdown]
# A **decoder block** puts it together. It has three parts, each a branch off the road that goes straight on.

# %% tags=["demo"]
pictures.decoder_block()

# %%
from coursekit.growing import mine, run_module

MultiHeadAttention, FeedForward, training_step = mine("MultiHeadAttention", "FeedForward", "training_step")  # of 03

# %% nbgrader={"grade": false, "grade_id": "recurrence-decoder_block", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(nn.Module):
    """One layer of the transformer's decoder.  (difficulty ●●○, 6 minutes)

    Three parts, in this order: `own`, attention among the positions of the target, where keep[:, i, j]
    says whether i may see j; your cross_attention to `encoded` with W_q, W_k and W_v; `feed`. Pre-norm:
    each part reads x through its own norm, and what it gives is added to x. `encoded` comes normalised
    from the encoder. The parts are made for you: write `forward`.
    """

    def __init__(self, dim: int, heads: int, inner: int):
        super().__init__()
        self.own = MultiHeadAttention(dim, heads)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.zeros(dim, dim)) for _ in range(3))
        self.feed = FeedForward(dim, inner, "relu")
        self.norm_own, self.norm_cross, self.norm_feed = (nn.LayerNorm(dim) for _ in range(3))

    def forward(
        self,
        x: Float[Tensor, "B Tt D"],
        encoded: Float[Tensor, "B Ts D"],
        keep: Bool[Tensor, "1 Tt Tt"],
        source_keep: Bool[Tensor, "B Ts"],
    ) -> Float[Tensor, "B Tt D"]:
        ### BEGIN SOLUTION
        x = x + self.own(self.norm_own(x), keep)
        seen, _ = cross_attention(self.norm_cross(x), encoded, self.W_q, self.W_k, self.W_v, source_keep)
        x = x + seen
        return x + self.feed(self.norm_feed(x))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-decoder_block-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.decoder_block", lambda case: run_module(
    DecoderBlock, case, "x", "encoded", "keep", "source_keep", back_to=["x", "encoded"]
))

# %% [markdown]
# A translator of two such blocks, and an encoder of two layers as in 03, is in `data/models/`. Its weights go into your block: does it compute what the trained layer computes?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.translator import decoder_weights

model = load_translator()
model.cross = cross_attention
layer = model.decoder[0]
block = DecoderBlock(64, heads=4, inner=128)
block.load_state_dict(decoder_weights(layer))
with torch.no_grad():
    x = torch.randn(3, 9, 64)
    encoded, source_keep = model.encode(held_out.source[:3]), held_out.source[:3] != PAD
    theirs_block = layer(x, encoded, source_keep, decoder_mask(9), cross_attention)
    block_difference = (block(x, encoded, decoder_mask(9)[None], source_keep) - theirs_block).abs().max().item()
print(f"largest difference from the trained layer: {block_difference:.1e}")

# %% [markdown]
# ## 7 · Train it, and let it cheat
#
# The model from `coursekit` has two layers in each stack; your `cross_attention`, `decoder_mask` and `shift_right` are its working parts. We train it twice:
# as it should be, and with the shift forgotten, so that position t receives the very token it has to predict. Each step is your `training_step` of 03: what your model reads is the source *and* the inputs of the decoder.
#
# **Predict:** how many held-out sentences does the model without the shift translate exactly? The cell shows what you can choose from when you run it.

# %% tags=["demo"]
NOT_ONE, SOME, NEARLY_ALL = "none, or hardly one", "about as many as with the shift", "nearly all: its loss falls close to 0"
predict("recurrence.copied", ..., choices=(NOT_ONE, SOME, NEARLY_ALL))

# %% tags=["demo", "record"]
def with_your_attention() -> Translator:
    model = Translator()
    model.cross = cross_attention
    return model

def train(
    steps: int, inputs_of, new_model=with_your_attention, mask=None, seed=0, show_at=()
) -> tuple[nn.Module, list[float]]:
    """A translator after `steps` batches of 32, and its losses. After the steps `show_at` it translates a sentence.

    inputs_of(target) is what the decoder gets as its input.
    """
    torch.manual_seed(seed)
    model, rng, losses = new_model(), np.random.default_rng(seed), []
    taught, optimiser = WithTeacher(model, decoder_mask, mask), torch.optim.Adam(model.parameters())
    for step in range(steps):
        pairs = sample_pairs(32, rng)
        pairs = trimmed(pairs) if mask is None else pairs
        batch = (pairs, inputs_of(pairs.target)), pairs.target, pairs.target != PAD
        losses.append(training_step(taught, batch, optimiser, learning_rate(step, steps), 1.0))
        if step + 1 in show_at:
            written = code.decode(translate(model, held_out.source[:1])[0])
            print(f"step {step + 1:>3}   loss {losses[-1]:.2f}   {written[:60]}")
    return model.eval(), losses

def inputs_of(target: Int[Tensor, "B Tt"]) -> Int[Tensor, "B Tt"]:
    return shift_right(target, BOS)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
print("right:                ", code.decode(held_out.target[0]))
live, losses = train(560, inputs_of, show_at=(1, 80, 160, 320, 560))

# %% tags=["demo"]
print("This takes five to ten seconds.")
cheat, cheat_losses = train(140, lambda target: target)
live_right, cheat_right = (exactly_right(translate(trained, held_out.source), held_out.target)
                           for trained in (live, cheat))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal(
    "recurrence.copied", NOT_ONE if cheat_right < 0.05 else SOME if cheat_right < 0.9 else NEARLY_ALL, because={
        SOME: "Both are trained on the same pairs, but only one had to look at the source: the other was handed the token that it has to predict.",
        NEARLY_ALL: "The loss does fall close to 0, by copying the input. When it translates nobody hands it the right token, and it has nothing to copy.",
    },
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.training(
    {"shifted right": losses, "shift forgotten": cheat_losses},
    {"shifted right": live_right, "shift forgotten": cheat_right},
)
first = held_out.source[:1]
print("source:          ", language.decode(first[0].tolist()))
print("shift forgotten: ", code.decode(translate(cheat, first)[0]) or "(no word)")

# %% [markdown]
# The cheat's loss falls first, and close to zero: it only copies its input. Left alone with a start sign, it has learned nothing about the source. A loss
# near zero was the warning, not the success; the test is to let the model write by itself.
#
# The honest run is not finished, and it shows what teacher forcing hides. Training always gives the right beginning; alone, the model goes on from its own:

# %% tags=["demo"]
@torch.no_grad()
def right_tokens(model: Translator, pairs) -> dict[str, Bool[Tensor, "B Tt"]]:
    """Where the right token stands: with the right beginning given (forced), and left alone (free)."""
    given = shift_right(pairs.target, BOS)
    forced = model(pairs.source, given, decoder_mask(given.shape[1])).argmax(-1)
    return {"forced": forced == pairs.target, "free": translate(model, pairs.source) == pairs.target}

real_tokens, hits = held_out.target != PAD, right_tokens(live, held_out)
token_share = {how: hit[real_tokens].float().mean().item() for how, hit in hits.items()}
whole = {how: (hit | ~real_tokens).all(dim=1) for how, hit in hits.items()}
first_error = (~hits["free"] & real_tokens).int().argmax(dim=1)          # of sentences with one
behind = real_tokens & ~whole["free"][:, None] & (torch.arange(LONGEST) > first_error[:, None])
agree = (whole["forced"] == whole["free"]).float().mean().item()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap

def per_sentence(mask: Bool[Tensor, "B Tt"]) -> Float[np.ndarray, "B 3"]:
    """For each sentence: tokens right when forced, right when free, and how many there are."""
    return torch.stack([(hit & mask).sum(1) for hit in (hits["forced"], hits["free"], ~hits["free"] | True)], 1).numpy()

def gap(rows: Float[np.ndarray, "B 3"]) -> float:
    """How much smaller the share of right tokens is when the model is left alone."""
    forced, free, count = rows.sum(axis=0)
    return (forced - free) / count

counted = {"all tokens": per_sentence(real_tokens), "behind the first error": per_sentence(behind)}
gaps = {where: (gap(rows), *bootstrap(rows, gap)) for where, rows in counted.items()}
behind_share = {how: hit[behind].float().mean().item() for how, hit in hits.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"With the right beginning given, **{token_share['forced']:.1%}** of the tokens are right; left alone, "
    f"**{token_share['free']:.1%}** (difference {gaps['all tokens'][0]:.1%}, 95 % interval {gaps['all tokens'][1]:.1%} to "
    f"{gaps['all tokens'][2]:.1%}). Behind a sentence's first error: **{behind_share['forced']:.1%}** and "
    f"**{behind_share['free']:.1%}** (difference {gaps['behind the first error'][0]:.1%}, {gaps['behind the first error'][1]:.1%} to "
    f"{gaps['behind the first error'][2]:.1%}). Sentences right in every token: {whole['forced'].float().mean():.1%} and "
    f"{whole['free'].float().mean():.1%}, the same ones in {agree:.1%} of all."
))

# %% [markdown]
# Left alone, one wrong token puts what follows out of step: fewer tokens are right. The share of *sentences* cannot show it. As long as every token was right, the model's own beginning is the right beginning; so greedy writing gets through just where every forced
# token is right.

# %% [markdown]
# The same model after 5,000 steps is in `data/models/` (`python -m coursekit.pretrain --models translator` trains it again in a few minutes). As a control it
# translates with the source sentences dealt out anew.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
right = exactly_right(translate(model, held_out.source), held_out.target)
wrong_source = exactly_right(translate(model, held_out.source.roll(1, dims=0)), held_out.target)
english = {stem: key[0] for key, stem in reversed(code.stems.items())}

def glossed(ids: Int[Tensor, "T"]) -> str:
    """The code with the English word behind each stem, or the sense of an ambiguous one."""
    tokens = [code.vocabulary[i] for i in ids if i not in (PAD, EOS)]
    return " ".join(f"{token} ({english[token]})" if token in english else token for token in tokens)

cells = [
    "the guard locked the thief in a cold cell",
    "the virus entered the healthy cell",
    "the singers watch the videos on a broken cell",
]
for words in cells:
    ids = torch.from_numpy(language.encode(words))[None]
    print(words, "\n   ", glossed(translate(model, ids)[0]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Held-out sentences exactly right: **{right:.1%}**; "
    f"with the source of another sentence: **{wrong_source:.1%}**."
))

# %% [markdown]
# Each *cell* gets another word; in brackets stands what it means. The encoder has found the sense, because the translation needed it: nobody told it what senses are.

# %% [markdown]
# The two recurrent translators learn in the same way, additive attention with your function. With 80 steps nothing can be said yet about who will translate better; it is the same step, and the same shift.

# %% tags=["demo"]
print("This takes ten to fifteen seconds.")

def with_your_additive_attention() -> nn.Module:
    model = Seq2Seq("additive")
    model.attend = additive_attention
    return model

for name, new_model in (("fixed vector", partial(Seq2Seq, "fixed")), ("additive attention", with_your_additive_attention)):
    _, recurrent_losses = train(80, inputs_of, new_model)
    print(f"{name:<19} loss of the first step {recurrent_losses[0]:.2f}, of the last ten {np.mean(recurrent_losses[-10:]):.2f}")

# %% [markdown]
# **Question 2.** A decoder is trained on all positions at once but writes one token at a time. Explain with the mask and the shift why the first is possible and the second is
# not avoidable. Name one difference between what the model sees in training and in use that can hurt it. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "recurrence-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# In training the whole target is known. Shifted right, it gives every position the right beginning as its input, and the mask keeps each position from seeing
# what comes later. So all positions can be computed in one pass and none can copy its answer. In use the token at t is part of the input for t + 1 and does not exist before
# it has been written: T tokens take T passes. The difference is that in training the beginning is always right, while in use it is the model's own. One
# wrong token then puts the model where training has never been (exposure bias), and errors follow on errors.
#
# *Marking: 1 point for mask and shift making training parallel and for the dependence on the own output in use; 1 point for the mismatch between right and own
# beginnings.*

# %% [markdown]
# ## 8 · Reading the alignment
#
# Your `cross_attention` returns its weights, so we can see where the decoder looks when it writes a token. We know the truth: which word each stem
# translates.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def alignment(model: Translator, pairs) -> Float[Tensor, "layer B Tt Ts"]:
    """The weights of the cross-attention in each decoder layer, the right beginnings given."""
    seen = []
    def recorded(*arguments):
        output, weights = cross_attention(*arguments)
        seen.append(weights)
        return output, weights
    model.cross = recorded
    model(pairs.source, shift_right(pairs.target, BOS), decoder_mask(pairs.target.shape[1]))
    model.cross = cross_attention
    return torch.stack(seen)

weights = alignment(model, held_out)
stems = held_out.origin >= 0                     # suffixes and [EOS] translate no word of their own

def share_found(weights: Float[Tensor, "layer B Tt Ts"]) -> list[float]:
    """For each layer, how often the largest weight lies on the word that a stem translates."""
    hits = [layer.argmax(-1) == held_out.origin for layer in weights]
    return [hit[stems].float().mean().item() for hit in hits]

found, untrained = share_found(weights), share_found(alignment(Translator(), held_out))
same_place = (torch.arange(1, LONGEST + 1) == held_out.origin)[stems].float().mean().item()
best = int(np.argmax(found))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"The word with the largest weight is the one translated: layer 1 **{found[0]:.1%}**, "
    f"layer 2 **{found[1]:.1%}** of the stems. Controls: an untrained model {untrained[0]:.1%} "
    f"and {untrained[1]:.1%}; always the word at the same place {same_place:.1%}."
))

# %% tags=["demo"]
pictures.alignment(weights[best, 0], held_out[:1], language, code)

# %% [markdown]
# The bright cells leave the diagonal where the order changes. The verb's ending, at the end of its clause, looks back over the object; the preposition behind its noun looks to the left
# of it. Not every stem looks most at its own word. Nobody gave the model an alignment; it is a by-product of predicting tokens. It is also not a proof of what the model used (02, *Sources say, we measure*): the
# encoder has mixed the words before the decoder looks at them.

# %% [markdown]
# ## 9 · Scoreboard
#
# The translator was never asked for a sense. Its encoder takes the exam of the course all the same, as McCann et al. (2017) did with theirs: they used the encoder
# of a translator as contextual word vectors. The control is the same encoder untrained.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw
from coursekit.small import recorded_senses

top = 2                                                            # the encoder's last layer
add_row("translator, untrained", recorded_senses("translator", top, trained=False), note="control")
add_row("translator's encoder", recorded_senses("translator", top), note="trained on translations alone")
draw()

# %% [markdown]
# The translator finds nearly all senses in every kind of question. Each sense has a word of its own in the code, so the translation is wrong unless the encoder tells the senses, by cues on
# either side and by order. Untrained,
# it finds cues, and where order decides no more than a bag of words. But translations are a rich kind of supervision: someone had to write the pairs. How far does text alone go?

# %% [markdown]
# ## 10 · Further: products, beams and BLEU
#
# Luong, Pham and Manning (2015) tried simpler scores. The simplest is a dot product of state and key; the transformer's attention is this one with a scale.

# %% nbgrader={"grade": false, "grade_id": "recurrence-dot_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_attention(
    state: Float[Tensor, "B H"],
    keys: Float[Tensor, "B Ts H"],
    values: Float[Tensor, "B Ts E"],
    keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B E"], Float[Tensor, "B Ts"]]:
    """Attention by products, not scaled.  (extension, ●○○, 4 minutes)

    The score of a word is the dot product of its key and the state. Everything else is as in
    additive_attention: padding gets weight 0, scores can be large. Returns (context, weights).
    """
    ### BEGIN SOLUTION
    scores = (keys * state[:, None]).sum(dim=-1)
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), weights
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-dot_attention-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.dot_attention", lambda case: dot_attention(**case))

# %% [markdown]
# The recurrent translator of part 5 was trained once more, with this score and nothing else changed, with three seeds. Exactly right by number of words:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
dot_table = recorded("seq2seq_dot")
scores_by_length = {
    "dot product": [tuple(dot_table.loc[figure, ["mean", "half_width"]]) for figure in figures.values()],
    "additive": shares["additive attention"],
}
pictures.by_length(scores_by_length, list(figures))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table
from coursekit.intervals import mean_and_half

def by_seed(name: str) -> Float[np.ndarray, "seeds"]:
    """Share of 4,000 held-out sentences that are exactly right, for each seed."""
    rows = read_table(f"results/small_{name}.csv")
    return rows[rows.measure == "held-out: exactly right"].sort_values("seed").value.to_numpy()

dot_seeds, additive_seeds = by_seed("seq2seq_dot"), by_seed("seq2seq_additive")
dot_gap, dot_gap_half = mean_and_half(dot_seeds - additive_seeds)
for name, values in (("dot product", dot_seeds), ("additive", additive_seeds)):
    print(f"{name:<12} exactly right, by seed: {'  '.join(f'{value:.1%}' for value in values)}")
print(f"difference: {100 * dot_gap:+.1f} ± {100 * dot_gap_half:.1f} % of the sentences (95 % interval over seeds)")

# %% [markdown]
# With three seeds the two scores cannot be told apart: the interval of the difference holds 0, and it is wide. The runs with a dot product differ among themselves, by two sentences in a hundred: seed 0 alone would
# have said "as good as additive", seed 1 alone "worse".

# %% [markdown]
# Your function in the network of the first seed, and where it looks:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
dot = load_seq2seq("dot")
dot.attend = dot_attention
dot_right = exactly_right(translate(dot, part.source), part.target)
dot_weights = looks(dot, part, dot_attention)
dot_found = (dot_weights.argmax(-1) == part.origin)[part_stems].float().mean().item()
print(f"numbers: dot product {sum(w.numel() for w in dot.parameters()):,}, additive {sizes_of[1]:,}")
print(f"with your function, {dot_right:.1%} of {len(part)} held-out sentences are exactly right")
print(f"largest weight on the word translated: dot product {dot_found:.1%} of the stems, additive {additive_found:.1%}")
pictures.alignment(dot_weights[shown], part[shown : shown + 1], language, code)

# %% [markdown]
# The simpler score, too, makes an alignment that nobody asked for.

# %% [markdown]
# ### Writing with a beam, and counting

# %% [markdown]
# Greedy writing takes the best token now, and may regret it. Beam search keeps the few best beginnings at each step, and in the end the one with the highest probability.
#
# How good is a translation that is not exact? The field counts **BLEU** (Papineni et al. 2002): the shares of its pieces of one to four tokens that the right translation has too, as a geometric mean
# over the whole corpus; times a **brevity penalty**, if it is too short. We take the live run of part 7, which still makes errors.

# %% tags=["demo"]
from coursekit.writing import beam_translate, bleu

print("This takes some seconds.")
few = held_out[:200]
written = {"greedy": translate(live, few.source), "beam of 4": beam_translate(live, few.source, width=4)}
same = {how: (ids == few.target).all(dim=1).float() for how, ids in written.items()}
scored = {how: bleu(ids, few.target) for how, ids in written.items()}
for how in written:
    print(f"{how:<10} exactly right {same[how].mean():.1%}   BLEU {100 * scored[how]:.1f}")
beam_gain = (same["beam of 4"] - same["greedy"]).numpy()
low, high = bootstrap(beam_gain)
print(f"beam of 4 over greedy: {beam_gain.mean():+.1%} of the sentences (95 % interval {low:+.1%} to {high:+.1%})")

# %% [markdown]
# The interval says what the beam gains on these sentences; one that holds 0 says that we cannot tell. BLEU is far above the share of exact sentences: most pieces of a wrong sentence are right. And it is
# blind to what is wrong. A false ending and a false sense of *cell* cost the same, and a right translation in other words would lose, too. It compares systems on one corpus; by itself it says little.

# %% [markdown]
# ## 11 · Further: find the bug
#
# For over a year the English-to-Spanish example of the Keras documentation built the mask of its cross-attention like this (keras-io, pull request
# 1046, of 2022; written here with our functions). Source and target were both padded to 20 tokens, so it ran, and the model learned something.

# %%
def cross_mask_of_2021(source_keep, target_keep):
    causal = decoder_mask(target_keep.shape[1])
    padding = target_keep[:, None, :]
    return padding & causal

# %% [markdown]
# The mask it returns, (B, Tt, Ts), says which source positions each target position may attend to. Which words does the last row allow, which does the first?
# Write it as it should be.

# %% nbgrader={"grade": false, "grade_id": "recurrence-mended_cross_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    """cross_mask_of_2021 without its bugs.  (difficulty ●●○, 6 minutes)

    True where target position i may attend to source position j. Both keeps are True for words,
    False for padding; the sizes may differ. Rows of the target's padding are like all others.
    """
    ### BEGIN SOLUTION
    Tt = target_keep.shape[1]
    return source_keep[:, None, :].expand(-1, Tt, -1)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "recurrence-mended_cross_mask-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.mended_cross_mask", lambda case: mended_cross_mask(**case))

# %% [markdown]
# What does the mask hide? We put it into the trained translator, beside yours. And would the loss have told? New models were trained with each mask, three seeds
# (`python -m experiments cross_mask`), and asked with another sentence's source as a control. (Source and target are padded to one width, as Keras did.)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
masks = {"mask of 2021": cross_mask_of_2021, "mended": mended_cross_mask}
other_source = replace(held_out, source=held_out.source.roll(1, dims=0))

@torch.no_grad()
def held_out_loss(model: Translator, mask, pairs) -> float:
    """Nats per token with this cross mask."""
    logits = WithTeacher(model, decoder_mask, mask)((pairs, shift_right(pairs.target, BOS)))
    return token_loss(logits, pairs.target).item()

def trained_with(mask: str, steps: int, seed: int) -> dict[str, float]:
    """Held-out nats per token of a translator trained with a mask: with its own sources, and with others."""
    new, _ = train(steps, inputs_of, Translator, masks[mask], seed)
    new.cross = fused_cross_attention                                # it takes masks of three axes
    return {"own source": held_out_loss(new, masks[mask], held_out),
            "another source": held_out_loss(new, masks[mask], other_source)}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import mean_and_half

model.cross = fused_cross_attention
lost = {name: held_out_loss(model, mask, held_out) for name, mask in masks.items()}
model.cross = cross_attention
blind = (held_out.origin > torch.arange(LONGEST))[stems].float().mean().item()
print("put into the trained translator:", ", ".join(f"{name} {nats:.2f} nats" for name, nats in lost.items()))
print(f"stems whose word lies beyond the mask of 2021: {blind:.0%}")

with_masks = read_table("results/cross_mask.csv")
table = with_masks.groupby(["steps", "mask"], sort=False)[["own source", "another source"]].agg(
    lambda values: "{:.2f} ± {:.2f}".format(*mean_and_half(values))
)
display(Markdown("Nats per token of translators *trained* with each mask, three seeds:"), table)

# %% [markdown]
# Target position i could see only the first i + 1 source positions, as if the source were being written along with the target. How much of the rest was hidden depended on the
# target's padding. The trained translator is lost under it. But a model *trained* with the mask finds a way round: after 400 steps its loss is no worse than that of the right one. It uses its source, as the control with another
# sentence's shows. How it does so we have not looked at. The loss gave no warning. "Which word can see which?", the question of 02, shows it at once.

# %% [markdown]
# ## 12 · Further: what it costs
#
# Time on axes where a power of T is a straight line. Your recurrent step in a loop, and one attention for all words with its projections, both with words of size D = 64. Without the projections the two do
# the same number of multiply-adds at T = D (T²D meets TD²; extension below); with them attention always does more.
#
# **Predict:** at which T does attention take as long as the recurrence on this machine?

# %% tags=["demo"]
predict("recurrence.crossing", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from time import perf_counter

from coursekit.architectures import keep_measured

def milliseconds(run, x: Tensor, repeats: int = 5) -> float:
    """The fastest of several runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run(x)
        times.append(1000 * (perf_counter() - start))
    return min(times)

def recur(x: Float[Tensor, "T D"], W_x: Tensor, W_h: Tensor, b: Tensor) -> None:
    h = torch.zeros(1, W_h.shape[0])
    for word in x.split(1):
        h = recurrent_step(word, h, W_x, W_h, b)

def attend_all(x: Float[Tensor, "T D"], W: Tensor) -> Tensor:
    """With its four projections, as a layer has them; the recurrence has two matrices."""
    q, k, v = x @ W, x @ W, x @ W
    return torch.softmax(q @ k.T / x.shape[1] ** 0.5, dim=-1) @ v @ W

sizes, width = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096], 64
W, b = torch.randn(width, width) / width**0.5, torch.zeros(width)
words = {T: torch.randn(T, width) for T in sizes}
with torch.no_grad():
    time = {
        "recurrence": [milliseconds(lambda x: recur(x, W, W, b), words[T], 3) for T in sizes],
        "attention": [milliseconds(lambda x: attend_all(x, W), words[T]) for T in sizes],
    }
slope = {name: np.polyfit(np.log(sizes[-4:]), np.log(values[-4:]), 1)[0]
         for name, values in time.items()}
crossing = pictures.meeting_point(sizes, time["recurrence"], time["attention"])
reveal("recurrence.crossing", crossing)
pictures.times(time, sizes, slope, width, crossing)

for name, way in {"plain recurrence": "recurrence", "LSTM": None, "attention": "attention"}.items():
    ms = {T: time[way][sizes.index(T)] for T in (64, 4096)} if way else None
    keep_measured(f"{name}, untrained", "04", reach[name][:, -1] / reach[name][:, 0], ms)

with torch.no_grad():
    one_by_one = milliseconds(lambda x: [word @ W for word in x.split(1)], words[4096], 3)
    at_once = milliseconds(lambda x: x @ W, words[4096])
print(f"4,096 words times W: one by one {one_by_one / at_once:.0f} times as long as in one product")

# %% [markdown]
# The recurrence is a line of slope about one, as the formula says; attention bends up to T² or, on some machines, beyond. But they meet far to the right of T = D: the number of
# operations is not the time. The last line shows why. The same multiplications take many times as long one after the other as in one product: each small product has to be started. A recurrence cannot do them at once, since every step waits for the one before; attention can. This is a large part of why
# transformers replaced LSTMs: at the lengths of sentences they train faster, though a layer with its projections computes more.

# %% [markdown]
# > **Sources say, we measure.** Vaswani et al. (2017, table 1) give for a self-attention layer O(T²D) operations, O(1) sequential steps and a longest path of O(1); for a
# > recurrent layer O(TD²), O(T) and O(T). They conclude that attention is faster when T < D. We found recurrence growing like T, and attention like T² or faster for long texts; but the times meet
# > far beyond T = D, at a place that depends on the machine.

# %% [markdown]
# Counted per layer with its projections, in multiply-adds: attention T² D for the scores, T² D for the sums and 4 T D² for its four projections; the plain network 2 T D², the LSTM 8 T D². Memory beside
# the weights: attention keeps T² numbers for each head, a recurrence its state. In the table times are given as ratios alone: they hold on more machines than milliseconds do.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
table = pd.DataFrame(
    {
        T: {
            "operations, attention over plain network": f"{(2 * T * T * width + 4 * T * width**2) / (2 * T * width**2):.2f}",
            "operations, attention over LSTM": f"{(2 * T * T * width + 4 * T * width**2) / (8 * T * width**2):.2f}",
            "time, attention over plain network": f"{time['attention'][place] / time['recurrence'][place]:.2g}",
            "steps in sequence, attention and recurrence": f"1 and {T:,}",
            "numbers kept, attention's weights and a state": f"{T * T:,} and {width}",
        }
        for place, T in enumerate(sizes) if T in (16, 64, 256, 1024, 4096)
    }
).rename_axis(columns=f"words T (D = {width})")
display(table)

# %% [markdown]
# So "faster" at T < D has two meanings. In operations, attention with its projections never does less than a plain network, and less than an LSTM only below T = 2D. In time it wins because its
# products wait for nothing. In writing, that advantage is gone: there a transformer, too, takes T steps.

# %% [markdown]
# This table grows in the next notebooks: ELMo, BERT and GPT each take one of these rows and scale it up.

# %% [markdown]
# The three columns of the table of 2017, as functions. They count as extra credit.

# %% nbgrader={"grade": false, "grade_id": "recurrence-flops_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flops_attention(T: int, D: int) -> int:
    """Multiply-adds of one self-attention over T words of size D.  (extension, ●○○, 3 minutes)

    Counted are the two products in which words meet: all scores, and the weighted sums of the
    values. One multiplication together with one addition counts as 1. Not counted: the projections,
    the scaling, the softmax.
    """
    ### BEGIN SOLUTION
    return 2 * T * T * D
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-flops_attention-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.flops_attention", lambda case: flops_attention(*case["x"].shape))

# %% nbgrader={"grade": false, "grade_id": "recurrence-flops_recurrent", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flops_recurrent(T: int, D: int, gates: int) -> int:
    """Multiply-adds of a recurrent layer over T words.  (extension, ●○○, 3 minutes)

    Words and state have size D. Counted are the products with W_x and W_h at every word. A plain
    network has gates = 1, an LSTM 4: its matrices have gates · D columns. One multiplication
    together with one addition counts as 1. Not counted: biases, activations.
    """
    ### BEGIN SOLUTION
    return 2 * T * D * D * gates
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-flops_recurrent-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.flops_recurrent", lambda case: flops_recurrent(*case["x"].shape, case["gates"]))

# %% tags=["demo"]
for gates, name in ((1, "plain network"), (4, "LSTM")):
    meet = next(T for T in range(1, 10_000)
                if flops_attention(T, width) >= flops_recurrent(T, width, gates))
    print(f"{name:<14} attention costs as many multiply-adds from T = {meet} on (D = {width})")
print(f"measured       attention takes as long as the plain network from T ≈ {crossing:.0f} on")

# %% nbgrader={"grade": false, "grade_id": "recurrence-path_length", "locked": false, "schema_version": 3, "solution": true, "task": false}
def path_length(T: int, architecture: str) -> int:
    """Steps or layers from the first to the last of T ≥ 2 words.  (extension, ●●○, 6 minutes)

    "recurrent": steps from the state that has read the first word to that which has read the last.
    "attention": layers until the last word's vector depends on the first.
    "dilated": layers of convolutions of width 3 until the same; their taps lie 1, 3, 9, … places
    apart, layer by layer, and reach as far to the left as to the right.
    """
    ### BEGIN SOLUTION
    if architecture == "recurrent":
        return T - 1
    if architecture == "attention":
        return 1
    layers, missing = 0, T - 1
    while missing > 0:
        missing -= 3**layers
        layers += 1
    return layers
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-path_length-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.path_length", lambda case: path_length(len(case["ids"]), case["architecture"]))

# %% [markdown]
# ## Summary
#
# - A recurrent network passes a state of fixed size from word to word. The derivative of a far word is a product of many factors, and vanishes.
# - An LSTM's cell can pass a trace on; a forget gate that starts open is what helps at the beginning.
# - One vector between encoder and decoder fails first where sentences are long; attention asks all states again for each token.
# - The transformer's decoder block: attention within the target, cross-attention, feed-forward.
# - Teacher forcing needs the shift *and* the mask. Without the shift the loss is wonderful and the model useless.
# - The alignment of words appears in the attention by itself.
#
# **Next**: 05 builds contextual vectors from two LSTM language models, one for each direction.

# %% [markdown]
# ## References
#
# - Bahdanau, D., Cho, K. and Bengio, Y. (2015). Neural machine translation by jointly learning to align and translate. *ICLR*. arXiv:1409.0473.
# - Bengio, Y., Simard, P. and Frasconi, P. (1994). Learning long-term dependencies with gradient descent is difficult. *IEEE Transactions on Neural Networks* 5, 157–166.
# - Cho, K. et al. (2014). Learning phrase representations using RNN encoder–decoder for statistical machine translation. *EMNLP*, 1724–1734. arXiv:1406.1078.
# - Elman, J. L. (1990). Finding structure in time. *Cognitive Science* 14, 179–211.
# - Gers, F. A., Schmidhuber, J. and Cummins, F. (2000). Learning to forget: continual prediction with LSTM. *Neural Computation* 12, 2451–2471.
# - Hochreiter, S. (1991). Untersuchungen zu dynamischen neuronalen Netzen. Diploma thesis, TU München.
# - Hochreiter, S. and Schmidhuber, J. (1997). Long short-term memory. *Neural Computation* 9, 1735–1780.
# - Jozefowicz, R., Zaremba, W. and Sutskever, I. (2015). An empirical exploration of recurrent network architectures. *ICML*, 2342–2350.
# - keras-io (2022). Fix masks in English-to-Spanish translation example. github.com/keras-team/keras-io/pull/1046.
# - Luong, M.-T., Pham, H. and Manning, C. D. (2015). Effective approaches to attention-based neural machine translation. *EMNLP*, 1412–1421. arXiv:1508.04025.
# - McCann, B., Bradbury, J., Xiong, C. and Socher, R. (2017). Learned in translation: contextualized word vectors. *NIPS* 30. arXiv:1708.00107.
# - Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic evaluation of machine translation. *ACL*, 311–318. aclanthology.org/P02-1040.
# - Sutskever, I., Vinyals, O. and Le, Q. V. (2014). Sequence to sequence learning with neural networks. *NIPS* 27. arXiv:1409.3215.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762.
# - Williams, R. J. and Zipser, D. (1989). A learning algorithm for continually running fully recurrent neural networks. *Neural Computation* 1, 270–280.

# %% [markdown]
# Next: [05 · ELMo](../05_elmo/05_elmo.ipynb). The [start page](../start.ipynb) shows how far you are.
