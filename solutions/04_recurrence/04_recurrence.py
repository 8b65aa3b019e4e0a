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
# Before attention, networks read a sentence word by word and updated a memory. You will build such networks and measure how much of the first word they remember. In a translator, an **encoder** reads a sentence and a **decoder**
# generates its translation. The two are connected first by a single vector, then by attention to all words. Finally, attention replaces the recurrence. Three translators show how much each of these steps contributes.
#
# **You need** notebooks 02 and 03. **Time** about 80 minutes, or two hours if PyTorch is new to you: nine exercises and two written questions. *Further* sections add a bug to find and three extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb) · next: [05 · ELMo](../05_elmo/05_elmo.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - implement one step of a recurrent network and of an LSTM, and explain what each gate does;
# - encode a sentence as one vector, and determine for which sentence lengths this vector is too small;
# - implement additive attention and the decoder block of the transformer;
# - train a decoder with teacher forcing so that it cannot copy its target, and translate with greedy decoding.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit import check, hint, predict, predictions, reveal
from coursekit.toy_models import toy_decoder

# %% [markdown]
# ## 1 · One word after the other
#
# *The girl who had lost the key took off …* You expect *her* because of the second word, whereas after *The boy* you would expect *his*. For how many words can a network remember such a subject? To find out, we compare two language models trained on the same English novels for the same number of steps: one is **recurrent**, the other a transformer.
# (The two models also differ in their vocabularies.)
#
# By what factor do subjects such as *girl* and *queen* raise the odds of *her* against *his*, compared with subjects such as *boy* and *king*? A factor of 1 would mean that the subject has been
# forgotten.

# %% tags=["demo"]
from coursekit.novels.subjects import subjects_remembered, words_between
from coursekit.pictures import recurrence as pictures, recurrence_tables as tables
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)

print("This takes five to ten seconds.")
between, remembered = words_between(), subjects_remembered()
pictures.subject_remembered(remembered, between)

# %% [markdown]
# After 30 words both models still distinguish the subjects, but the transformer does so far more clearly. This notebook explains both results: it shows how a memory can retain a
# word, and why it helps to look back at the words themselves.
#
# A recurrent network has a state *h*, a vector of fixed size. At each word it computes a new state from the word and the old state, always with the same
# matrices (Elman 1990):
#
# $$h_t = \tanh(x_t W_x + h_{t-1} W_h + b) .$$
#
# Everything that the network knows about the words so far must fit into h.

# %% tags=["demo"]
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

    x contains the vector of one word from each sentence, and h contains the states before
    these words. The rows of a matrix correspond to its inputs, so write x @ W_x. The
    activation function is tanh. H is the size of the state.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return torch.tanh(x @ W_x + h @ W_h + b)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-recurrent_step-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("recurrence.recurrent_step", lambda case: recurrent_step(**case), gradients=["x", "h"])

# %% [markdown]
# We now apply your step to the words of a sentence, one after another. Each state depends on the previous state, so T words take T steps *in sequence*, however many processors there are.

# %% tags=["demo"]
from coursekit.recurrence import D, difference_from_lstm, over_seeds, random_weights

torch.manual_seed(0)

def run_recurrent(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The state after the last word."""
    h = torch.zeros(1, D).double()
    for word in x:
        h = recurrent_step(word[None], h, **weights)
    return h[0]

state = run_recurrent(torch.randn(20, D).double(), random_weights(seed=0))
print(
    f"state after 20 words: shape {tuple(state.shape)}, mean absolute value "
    f"{state.abs().mean():.2f}"
)

# %% [markdown]
# ## 2 · What is left of the first word
#
# If the first word changes slightly, by how much does the last state change? The answer is a derivative. By the chain rule, this derivative is a product with one factor per step,
# and a product of many factors vanishes or explodes (Hochreiter 1991; Bengio et al. 1994).
#
# **Predict:** we measure the size of this derivative in an untrained network, once for a sentence of 32 words and once for a sentence of 2 words. What is the
# ratio of the first size to the second? Give a number between 0 and 1.

# %% tags=["demo"]
predict("recurrence.gradient", ...)

# %% tags=["demo"]
lengths = [2, 4, 8, 16, 32, 64]
plain = over_seeds(lambda x, seed: run_recurrent(x, random_weights(seed)), lengths)
left_over = np.exp(np.log(plain[:, 4] / plain[:, 0]).mean())
reveal("recurrence.gradient", left_over)

# %% tags=["demo"]
large = over_seeds(
    lambda x, seed: run_recurrent(x, random_weights(seed, enlarged=5)), [2, 32]
)  # with a W_h five times as large
tables.vanishing_and_exploding(left_over, large)

# %% [markdown]
# With random weights of the usual size, almost nothing of the first word is left, so training receives almost no signal that this word mattered. The **long
# short-term memory** (LSTM; Hochreiter and Schmidhuber 1997; with the forget gate of Gers et al. 2000) adds a second vector to the state: the *cell* c, which is not
# multiplied by a matrix. Three gates with values between 0 and 1 and a candidate g are computed from the word and the old state:
#
# $$i = \sigma(x W^i_x + h W^i_h + b^i) \qquad f = \sigma(x W^f_x + h W^f_h + b^f)$$
#
# $$g = \tanh(x W^g_x + h W^g_h + b^g) \qquad o = \sigma(x W^o_x + h W^o_h + b^o)$$
#
# The gates control how much of the old cell is kept, how much of the candidate is stored, and how much of the new cell is exposed:
#
# $$c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t) .$$

# %% tags=["demo"]
pictures.lstm_cell()

# %% [markdown]
# Here σ is the sigmoid. Each gate has its own function:
#
# - The **forget gate** f decides how much of the old cell is kept. If f is near 1, the trace of a word is preserved, because no matrix multiplies the cell on the blue path.
# - The **input gate** i decides how much of the candidate is stored. When closed, it protects the cell from irrelevant words.
# - The **output gate** o decides how much of the cell appears in the state. When closed, it prevents stored content from disturbing the current prediction.
#
# In our sentence, the input gate could open at *girl* and close at *lost* and *key*, and the output gate could hide the gender until a pronoun is needed.

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

    The four blocks of H columns in W_x, W_h and b belong to the input gate i, the forget gate
    f, the candidate g and the output gate o, in PyTorch's order. The gates pass through a
    sigmoid, the candidate through tanh. `torch.lstm_cell` may be used. Autograd must be able
    to differentiate the result.
    """
    ### BEGIN SOLUTION
    i, f, g, o = (x @ W_x + h @ W_h + b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-lstm_step-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.lstm_step", lambda case: lstm_step(**case), gradients=["x", "h", "c"])

# %% [markdown]
# Does your step agree with PyTorch's LSTM, given the same weights? (`nn.LSTM` stores its matrices transposed and has two biases.)

# %% tags=["demo"]
def run_lstm(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The state after the last word."""
    h = c = torch.zeros(1, D).double()
    for word in x:
        h, c = lstm_step(word[None], h, c, **weights)
    return h[0]

difference = difference_from_lstm(run_lstm, random_weights(0, gates=4))
print(f"largest difference from nn.LSTM after 20 words: {difference:.1e}")

# %% [markdown]
# We compare four untrained networks. Three are recurrent: the plain network, an LSTM as in the drawing, and an LSTM whose forget gates start open (bias 3, f ≈ 0.95). The
# fourth has no recurrence: its last word attends to all words, with random projections.

# %% tags=["demo"]
print("This takes five to ten seconds.")

def attend(x: Float[Tensor, "T D"], weights: dict[str, Tensor]) -> Float[Tensor, "D"]:
    """The last word attends to all words, as in notebook 02."""
    queries, keys, values = (x @ weights["W_x"]).chunk(3, dim=-1)
    return torch.softmax(keys @ queries[-1] / D**0.5, dim=0) @ values

runs = {
    "LSTM": lambda x, seed: run_lstm(x, random_weights(seed, gates=4)),
    "LSTM, forget bias 3": lambda x, seed: run_lstm(
        x, random_weights(seed, gates=4, forget_bias=3)
    ),
    "attention": lambda x, seed: attend(x, random_weights(seed, gates=3)),
}
reach = {"plain recurrence": plain} | {
    name: over_seeds(run, lengths) for name, run in runs.items()
}

# %% tags=["demo"]
pictures.gradients(reach, lengths)

# %% [markdown]
# On these axes a straight line means that *each* step loses the same fraction. In the plain network and the LSTM with half-open forget gates, the derivative decays in this way.
# The structure of the LSTM is not enough to preserve the derivative; the forget gate must also be open. The bias of this gate is therefore initialised to a high value
# (Jozefowicz et al. 2015). With attention, the derivative shrinks only as 1/T, because the attention is shared among more and more words; the **path length** to the first
# word is always *one* step. Training can also open the gates: the LSTM in section 1 still distinguished the subjects after 30 words.

# %% [markdown]
# **Question 1 · A memory of fixed size.** In principle an LSTM could keep its forget gate at 1 for ever. Why would it still be worse than attention at using a word that it read 500 words earlier?
# Name one cost of a memory of fixed size and one advantage that it has over attention. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "recurrence-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# With the forget gate at 1 nothing is ever erased: the contributions of all 500 words are added up in the same vector of size H. The trace of each word survives, but it is hard to separate from the traces of the others. The network has to decide *when it reads* a word whether that word will be needed later, whereas attention keeps all words and decides once the query is
# known. The fixed size is therefore a bottleneck. Its advantage is that memory and time for each new word do not grow with the length of the text, whereas
# attention compares each new word with all earlier words.
#
# *Marking: 1 point for the bottleneck (fixed size, decision before the need is known, or interference); 1 point for the advantage (constant memory or constant
# time for each word).*

# %% [markdown]
# ## 3 · A language to translate into
#
# We need a target language in which every translation can be checked. We therefore translate our generated English into a made-up code with fixed rules. Verbs move to
# the end of their clause; prepositions and adjectives follow their noun. Nouns and verbs take endings (*-r* plural, *-o* definite, *-n* object, *-ta* past, *-s*
# third person). Each sense of an ambiguous word has its own word in the code. As a result, every sentence has exactly one correct translation.

# %% tags=["demo", "record"]
from functools import partial

from coursekit import scoreboard, translating, writing
from coursekit.language import BOS, PAD, load_language
from coursekit.translator import (
    LONGEST, Translator, decoder_weights, fused_cross_attention, load_code, load_translator,
    sample_pairs,
)

language, code = load_language(), load_code()
held_out = sample_pairs(500, np.random.default_rng(4), split="held_out")
for row in range(4):
    print(language.decode(held_out.source[row].tolist()))
    print("   ", code.decode(held_out.target[row]))
longest = int((held_out.target != PAD).sum(dim=1).max())
print(
    f"\n{len(language.vocabulary):,} English words, {len(code.vocabulary):,} tokens of the "
    "code,",
    f"targets of up to {longest} tokens",
)

# %% [markdown]
# A decoder is **autoregressive**: it predicts each token from the tokens before it. How is it trained? At every position it receives the *correct* prefix of the
# target and has to predict the next token. This method is called **teacher forcing** (Williams and Zipser 1989). Because a causal mask (notebook 02) hides the later tokens, all positions can be trained in one pass. The
# decoder's input is the target shifted one position to the right, after a start token [BOS].

# %% nbgrader={"grade": false, "grade_id": "recurrence-shift_right", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_right(target: Int[Tensor, "B T"], bos: int) -> Int[Tensor, "B T"]:
    """The decoder's input for this target.  (difficulty ●○○, 4 minutes)

    Position 0 contains bos, and position t contains token t − 1 of the target. The result has
    the target's shape: the last token of the target is never an input. Do not change the
    target itself.
    """
    ### BEGIN SOLUTION
    start = torch.full_like(target[:, :1], bos)
    return torch.cat([start, target[:, :-1]], dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-shift_right-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("recurrence.shift_right", lambda case: shift_right(case["target"], case["bos"]))

# %% [markdown]
# When the trained model translates, it is not given a correct prefix. The decoder instead continues from the tokens that it has generated itself; this mismatch between training and inference
# is called **exposure bias**. In **greedy decoding**, the decoder generates the most probable token at each step. The check uses a toy decoder that consists of tables, so you
# can work out its answers by hand.

# %% nbgrader={"grade": false, "grade_id": "recurrence-greedy_translate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy_translate(
    next_logits, B: int, longest: int, bos: int, eos: int, pad: int
) -> Int[Tensor, "B longest"]:
    """Translate B sentences token by token.  (difficulty ●●●, 10 minutes)

    next_logits(ids) takes integer ids (B, t), the prefixes generated so far, each beginning
    with bos. It returns logits (B, t, V); the logits at position i predict the token *after*
    position i. It may be called with up to `longest` columns. Return exactly `longest` columns
    without bos: the generated tokens, including eos, then pad. Only eos ends a sentence; pad
    and bos may be generated like any other token. A sentence that has not ended after
    `longest` tokens is truncated.
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
# In 2014, two research groups each combined two recurrent networks (Cho et al. 2014; Sutskever et al. 2014). The **encoder** reads the source. Its state after the last word is
# *one* vector, and this **fixed-size vector** is all that the **decoder** receives from the source. The decoder then generates the target one token at a time, as
# in your `greedy_translate`.

# %% tags=["demo"]
example = ["the", "guard", "slept"]
its_code = [
    token for token, _ in code.translate(example, ["DET", "NOUN", "VERB"], ["", "", ""])
]
pictures.encoder_decoder(example, its_code, attention=False)

# %% [markdown]
# The sentences of a batch differ in length, so the shorter ones are padded. At a position with padding, the encoder's state must not change.

# %% nbgrader={"grade": false, "grade_id": "recurrence-encode_to_vector", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_to_vector(
    words: Float[Tensor, "B T D"],
    keep: Bool[Tensor, "B T"],
    W_x: Float[Tensor, "D 4*H"],
    W_h: Float[Tensor, "H 4*H"],
    b: Float[Tensor, "4*H"],
) -> Float[Tensor, "B H"]:
    """Each sentence as one vector: the state h of an LSTM after its last word.
    (difficulty ●●○, 6 minutes)

    Read from left to right with your lstm_step, starting with state and cell at 0. keep is
    True at words and False at padding, which may come before or after the words. At padding,
    state and cell do not change.
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
# `coursekit` contains a trained translator of this kind. Its encoder has a second LSTM that reads from right to left, and the sentence vector is the concatenation of the last states of both LSTMs. Your function should reproduce the first half of the vector. (The translator was trained in a few minutes on one processor core.)

# %% tags=["demo"]
from coursekit.seq2seq import Seq2Seq, last_states, load_seq2seq

fixed = load_seq2seq("fixed")
part = sample_pairs(500, np.random.default_rng(14), split="held_out")

with torch.no_grad():
    reader, keep = fixed.reader, part.source != PAD
    halves = last_states(fixed.encode(part.source), keep).chunk(2, dim=-1)
    mine_too = encode_to_vector(fixed.source_words(part.source), keep, reader.weight_ih_l0.T,
                                reader.weight_hh_l0.T, reader.bias_ih_l0 + reader.bias_hh_l0)
vector_difference = (halves[0] - mine_too).abs().max().item()
print(f"largest difference in the first half: {vector_difference:.1e}")

translate = partial(translating.translate, greedy_translate)  # with any of the models
for row in range(3):
    print(f"\nsource:  {language.decode(part.source[row].tolist())}")
    print(f"correct: {code.decode(part.target[row])}")
    print(f"model:   {code.decode(translate(fixed, part.source[row : row + 1])[0])}")

# %% [markdown]
# ## 5 · A new context for each token
#
# Bahdanau, Cho and Bengio (2015) let the decoder look back at the source. The encoder keeps *all* its states. Before it generates a token, the decoder uses its own state s to compute a weight for each of these states, and receives their weighted sum, the *context*. A small network computes the score of word j:
#
# $$e_j = v \cdot \tanh(s W_s + k_j) , \qquad k_j = h_j W_k .$$
#
# This is **additive attention**. The keys k do not depend on s, so they are computed once per sentence.

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
    """The context for one decoder state per sentence, and the attention weights.
    (difficulty ●●○, 6 minutes)

    The score of a word is v · tanh(state W_s + key), without scaling. keep is True where the
    source has a word; padding receives weight 0. Each source has at least one word. Scores can
    be so large that their exponentials overflow. Return the tuple (context, weights).
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    scores = torch.tanh(keys + (state @ W_s)[:, None]) @ v
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), weights
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-additive_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.additive_attention", lambda case: additive_attention(**case), gradients=True)

# %% [markdown]
# Three translators were trained in the same way: one with the fixed vector, one with additive attention, and the transformer introduced in section 6. They have about the
# same number of parameters and saw the same number of sentences; each was trained with three seeds.
#
# **Predict:** what fraction of the longest held-out sentences (12 to 15 words) does the translator with the *fixed vector* translate exactly, that is, with every
# token correct? Give a number between 0 and 1.

# %% tags=["demo"]
predict("recurrence.longest", ...)

# %% tags=["demo"]
from coursekit.small import recorded, recorded_senses
from coursekit.small.figures import LENGTHS, length_figure

kinds = {"fixed vector": "seq2seq_fixed", "additive attention": "seq2seq_additive",
         "transformer": "seq2seq_transformer"}
by_kind = {name: recorded(table) for name, table in kinds.items()}
figures = {f"{low}" if low == high else f"{low}–{high}": length_figure(low, high)
           for low, high in LENGTHS}
shares = {
    name: [tuple(table.loc[figure, ["mean", "half_width"]]) for figure in figures.values()]
    for name, table in by_kind.items()
}
reveal("recurrence.longest", shares["fixed vector"][-1][0])
pictures.by_length(shares, list(figures))

# %% tags=["demo"]
additive = load_seq2seq("additive")
sizes_of = [
    sum(weight.numel() for weight in one.parameters())
    for one in (fixed, additive, Translator())
]
tables.translators(by_kind, shares, list(figures), sizes_of)

# %% [markdown]
# The translator with the fixed vector translates more than nine in ten of the shortest sentences exactly, but it fails on about two in ten of the longest. The translator with additive attention hardly ever fails at any length, although the two recurrent networks differ only in their context. Bahdanau et al. (2015, figure 2) observed the same decline in
# real translations. Longer training helps the model with the fixed vector: after a quarter of these steps, the model with seed 0 translated none of the longest sentences
# exactly. The task is hard because the encoder has to compress everything into the vector before it is known which word the decoder will need.

# %% [markdown]
# We now run your function in the trained network and look at the attention weights. In the figure, each stem of the code is followed by its English word in brackets.

# %% tags=["demo"]
inputs_of = partial(shift_right, bos=BOS)  # the decoder's inputs for a target
additive.attend = additive_attention  # from here on, the network uses your function
additive_right = translating.exactly_right(translate(additive, part.source), part.target)
additive_weights = translating.weights_of_attend(
    additive, additive_attention, part, inputs_of(part.target)
)
additive_found = translating.share_found(additive_weights, part.origin)
shown = int((part.source == language.vocabulary.index("cell")).any(dim=1).nonzero()[0])
pictures.alignment(additive_weights[shown], part[shown : shown + 1], language, code)
tables.additive_attention(additive_right, len(part), additive_found)

# %% [markdown]
# The model was never told which word each token translates, but its weights reveal this **alignment**. The boxes mark the true alignment. Suffixes have no box, because they have no source word of their own.

# %% [markdown]
# ## 6 · The transformer's decoder
#
# The transformer (Vaswani et al. 2017) drops the recurrence and keeps the attention. In **cross-attention**, the queries come from the decoder, and the keys and values come
# from the encoder. This is the attention of notebook 02 with *two* sequences, computed for all target positions at once.

# %% nbgrader={"grade": false, "grade_id": "recurrence-cross_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_attention(
    dec: Float[Tensor, "B Tt D"],
    enc: Float[Tensor, "B Ts D"],
    W_q: Float[Tensor, "D d"],
    W_k: Float[Tensor, "D d"],
    W_v: Float[Tensor, "D dv"],
    source_keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B Tt dv"], Float[Tensor, "B Tt Ts"]]:
    """The output for each target position, and the attention weights.
    (difficulty ●●○, 6 minutes)

    There is one head; scores are divided by √d. source_keep is True where the source has a
    word; padding receives weight 0 from every target position. Each source has at least one
    word. Scores can be so large that their exponentials overflow. Return the tuple (output,
    weights). `scaled_dot_product_attention` may be used. Autograd must be able to
    differentiate the result.
    """
    ### BEGIN SOLUTION
    scores = (dec @ W_q) @ (enc @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    weights = scores.masked_fill(~source_keep[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ (enc @ W_v), weights
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-cross_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("recurrence.cross_attention", lambda case: cross_attention(**case), gradients=True)

# %% [markdown]
# Within the target, a position may attend to itself and to earlier positions, but not to later ones, because the input at the next position is the very token that it has to predict.

# %% nbgrader={"grade": false, "grade_id": "recurrence-decoder_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decoder_mask(T: int) -> Bool[Tensor, "T T"]:
    """The mask: keep[i, j] is True where target position i may attend to target position j.
    (difficulty ●○○, 3 minutes)

        A position may attend to itself and to all earlier positions, but not to later ones.
    """
    ### BEGIN SOLUTION
    places = torch.arange(T)
    return places[:, None] >= places
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "recurrence-decoder_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("recurrence.decoder_mask", lambda case: decoder_mask(len(case["target"])))

# %% [markdown]
# Three families of models differ in which positions may attend to which:

# %% tags=["demo"]
pictures.visibility(decoder_mask, source=5, target=4)

# %% [markdown]
# An encoder-only model is **bidirectional**: at every word it sees the context on both sides, but it does not generate text. A decoder-only model generates text but is
# **unidirectional**, even within the source. The encoder–decoder reads its source in both directions and still generates text. The upper right block of its mask is empty because
# the source is complete before the target begins.

# %% [markdown]
# A **decoder block** combines self-attention, cross-attention and a feed-forward network. Each of them forms a branch whose output is added to the residual stream.

# %% tags=["demo"]
pictures.decoder_block()

# %%
from coursekit.growing import mine, run_module

MultiHeadAttention, FeedForward, training_step = mine(               # from notebook 03
    "MultiHeadAttention", "FeedForward", "training_step"
)

# %% nbgrader={"grade": false, "grade_id": "recurrence-decoder_block", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderBlock(nn.Module):
    """One layer of the transformer's decoder.  (difficulty ●●○, 6 minutes)

    The block has three parts, in this order: `own`, self-attention within the target, where
    keep[:, i, j] says whether position i may attend to j; your cross_attention to `encoded`
    with W_q, W_k and W_v; and `feed`. The block is pre-norm: each part reads x through its own
    norm, and its output is added to x. The encoder has already normalised `encoded`. The parts
    are given, so write only `forward`.
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
# `data/models/` contains a translator with two such blocks and a two-layer encoder like the one in notebook 03. We load the weights of its first decoder block into your block. Does your block compute the same output as the trained one?

# %% tags=["demo"]
model = load_translator()
model.cross = cross_attention
block = DecoderBlock(64, heads=4, inner=128)
block.load_state_dict(decoder_weights(model.decoder[0]))
block_difference = translating.difference_from_layer(
    block, model, held_out.source[:3], cross_attention, decoder_mask
)
print(f"largest difference from the trained layer: {block_difference:.1e}")

# %% [markdown]
# ## 7 · Train it, and let it cheat
#
# The model from `coursekit` has two layers in each stack and uses your `cross_attention`, `decoder_mask` and `shift_right`. We train it twice: once correctly, and
# once without the shift, so that position t receives the very token that it has to predict. Each step uses your `training_step` from notebook 03, but the model now reads the
# source *and* the decoder's inputs. The loss is the cross-entropy. Since each source has exactly one correct translation, the conditional entropy of the target
# is 0, and so is the lowest possible loss.
#
# **Predict:** how many held-out sentences does the model without the shift translate exactly? Run the cell to see the choices.

# %% tags=["demo"]
NOT_ONE, SOME, NEARLY_ALL = (
    "none or almost none",
    "about as many as with the shift",
    "nearly all, since its loss falls close to 0",
)
predict("recurrence.copied", ..., choices=(NOT_ONE, SOME, NEARLY_ALL))

# %% tags=["demo", "record"]
with_your_attention = partial(translating.translator_with, cross_attention)
teacher = translating.Teacher(training_step, decoder_mask, greedy_translate)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
print("correct:              ", code.decode(held_out.target[0]))
live, losses = teacher.train(
    with_your_attention, 560, inputs_of,
    show_at=(1, 80, 160, 320, 560), shown=held_out.source[:1],
)

# %% tags=["demo"]
print("This takes five to ten seconds.")
cheat, cheat_losses = teacher.train(with_your_attention, 140, lambda target: target)
live_written, cheat_written = (
    translate(trained, held_out.source) for trained in (live, cheat)
)
live_right, cheat_right = (
    translating.exactly_right(written, held_out.target)
    for written in (live_written, cheat_written)
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal(
    "recurrence.copied", NOT_ONE if cheat_right < 0.05 else SOME if cheat_right < 0.9 else NEARLY_ALL, because={
        SOME: "Both models are trained on the same pairs, but only one of them needs the source: the other receives the token that it has to predict.",
        NEARLY_ALL: "The loss does fall close to 0, because the model copies its input. When it translates, nobody supplies the correct token, and there is nothing to copy.",
    },
)

# %% tags=["demo"]
pictures.training(
    {"shifted right": losses, "shift forgotten": cheat_losses},
    {"shifted right": live_right, "shift forgotten": cheat_right},
)
print("source:          ", language.decode(held_out.source[0].tolist()))
print(
    "shift forgotten: ",
    code.decode(cheat_written[0]) or "(no word)",
)

# %% [markdown]
# The loss of the cheating model falls earlier and comes close to zero, because the model only copies its input. Given only [BOS], the model cannot translate, because it has
# not learned to use the source. The loss near zero was a warning, not a success; the real test is to let the model generate.
#
# The correctly trained model still makes errors, and these reveal a problem that teacher forcing hides. In training every prefix is correct, whereas at inference
# the model continues from its own output.

# %% tags=["demo"]
with torch.no_grad():
    logits = live(held_out.source, inputs_of(held_out.target), decoder_mask(LONGEST))
decodings = translating.compare_decodings(
    forced=logits.argmax(-1) == held_out.target,  # after the correct prefix
    free=live_written == held_out.target,  # after the model's own output
    real=held_out.target != PAD,
)
tables.exposure_bias(decodings)

# %% [markdown]
# In free decoding, one wrong token leads to errors in the tokens after it, so fewer tokens are correct. The share of *sentences* translated exactly, however, cannot reveal this effect. As long as every
# token is correct, the model's own prefix is the correct prefix; greedy decoding therefore translates a sentence exactly if and only if every token is correct under teacher forcing.

# %% [markdown]
# The same model, trained for 5,000 steps, is stored in `data/models/` (`python -m coursekit.pretrain --models translator` trains it again in a few minutes). As a control, we
# also give this model the source of a different sentence.

# %% tags=["demo"]
own, other = held_out.source, held_out.source.roll(1, dims=0)
right, wrong_source = (
    translating.exactly_right(translate(model, source), held_out.target)
    for source in (own, other)
)
cells = [
    "the guard locked the thief in a cold cell",
    "the virus entered the healthy cell",
    "the singers watch the videos on a broken cell",
]
tables.translations(partial(translate, model), cells, language, code)
tables.with_another_source(right, wrong_source)

# %% [markdown]
# Each of the three occurrences of *cell* is translated differently; the sense is given in brackets. The encoder distinguishes the senses because the translation requires it to, although it was never given any sense labels.

# %% [markdown]
# We now train the two recurrent translators in the same way, the second with your additive attention. Eighty steps are too few to compare their translations,
# but they show that the same training step and the same shift work for all three models.

# %% tags=["demo"]
print("This takes ten to fifteen seconds.")

for name, new_model in (
    ("fixed vector", partial(Seq2Seq, "fixed")),
    ("additive attention", partial(translating.additive_with, additive_attention)),
):
    _, recurrent_losses = teacher.train(new_model, 80, inputs_of)
    print(
        f"{name:<19} loss of the first step {recurrent_losses[0]:.2f}, mean over the last ten "
        f"{np.mean(recurrent_losses[-10:]):.2f}"
    )

# %% [markdown]
# **Question 2 · Parallel training, sequential generation.** A decoder is trained on all positions at once but generates one token at a time. Use the mask and the shift to explain why parallel training
# is possible and why sequential generation cannot be avoided. Name one difference between what the model sees in training and at inference that can lead to
# errors. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "recurrence-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# In training the whole target is known. The target, shifted to the right, gives every position the correct prefix as its input, and the mask prevents each position from seeing later tokens. All positions can therefore be computed in one pass, and none can copy its answer. At inference, the token at position t is part of the input at t + 1
# and does not exist before it has been generated, so T tokens require T passes. The difference is that in training the prefix is always correct, whereas at inference the model
# generates the prefix itself. One wrong token then produces a prefix unlike any in training (exposure bias), and further errors follow.
#
# *Marking: 1 point for mask and shift as the reason for parallel training, and for the dependence on the model's own output at inference; 1 point for the mismatch
# between correct and generated prefixes.*

# %% [markdown]
# ## 8 · Reading the alignment
#
# Your `cross_attention` returns its weights, so we can see which source words the decoder attends to when it predicts a token. Because we know which word each stem translates, we can also check whether
# the decoder attends to that word.

# %% tags=["demo"]
prefixes, keep = inputs_of(held_out.target), decoder_mask(LONGEST)
weights, of_untrained = (
    translating.weights_of_cross(one, cross_attention, held_out, prefixes, keep)
    for one in (model, Translator())
)
found, untrained = (
    [translating.share_found(layer, held_out.origin) for layer in one]
    for one in (weights, of_untrained)
)
stems = held_out.origin >= 0  # suffixes and [EOS] have no source word of their own
same_place = (torch.arange(1, LONGEST + 1) == held_out.origin)[stems].float().mean().item()
tables.words_found(found, untrained, same_place)

# %% tags=["demo"]
best = int(np.argmax(found))
pictures.alignment(weights[best, 0], held_out[:1], language, code)

# %% [markdown]
# The dark cells leave the diagonal where the word order changes. The verb comes last in its clause, and its ending attends back past the object; the preposition follows its noun and attends to a position to the left of that noun. Not every stem attends most strongly to the word that it translates. The alignment is a by-product of predicting tokens. It does not
# prove which words the model used (notebook 02, *Is attention an explanation?*), because the encoder has already mixed the words by the time the decoder attends to them.

# %% [markdown]
# ## 9 · Scoreboard
#
# The translator was never trained to name a sense. Nevertheless, we can apply the course's sense test to its encoder. McCann et al. (2017) likewise used the encoder of a
# translator to compute contextual word vectors. The baseline is the same encoder before training.

# %% tags=["demo"]
untrained_senses = recorded_senses("translator", layer=2, trained=False)
senses = recorded_senses("translator", layer=2)  # the encoder's last layer
scoreboard.add_row("translator, untrained", untrained_senses, note="baseline")
scoreboard.add_row("translator's encoder", senses, note="trained only on translations")
scoreboard.draw()

# %% [markdown]
# The translator's encoder separates nearly all senses in every type of test question. Each sense has its own word in the code. The encoder must therefore distinguish the senses, using the cues on either side and the word order; otherwise the translation would be wrong. The untrained encoder reacts to cues, but where word order determines the sense, it does no better than a bag of words. Translations are, however, an expensive kind of supervision, because someone has to write them. How much can a model learn from plain text?

# %% [markdown]
# ## 10 · Further: dot products, beam search and BLEU
#
# Luong, Pham and Manning (2015) tried simpler score functions. The simplest is the dot product of state and key; the transformer's attention scales this product.

# %% nbgrader={"grade": false, "grade_id": "recurrence-dot_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_attention(
    state: Float[Tensor, "B H"],
    keys: Float[Tensor, "B Ts H"],
    values: Float[Tensor, "B Ts E"],
    keep: Bool[Tensor, "B Ts"],
) -> tuple[Float[Tensor, "B E"], Float[Tensor, "B Ts"]]:
    """Attention with unscaled dot products as scores.  (extension, ●○○, 4 minutes)

    The score of a word is the dot product of its key and the state. Everything else is as in
    additive_attention: padding gets weight 0, and scores can be large. Return
    (context, weights).
    """
    ### BEGIN SOLUTION
    scores = (keys * state[:, None]).sum(dim=-1)
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), weights
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-dot_attention-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.dot_attention", lambda case: dot_attention(**case))

# %% [markdown]
# We retrained the recurrent translator of section 5 with this score for three seeds, changing nothing else. The figure compares the shares of exact translations by
# sentence length.

# %% tags=["demo"]
dot_table = recorded("seq2seq_dot")
scores_by_length = {
    "dot product": [
        tuple(dot_table.loc[figure, ["mean", "half_width"]]) for figure in figures.values()
    ],
    "additive": shares["additive attention"],
}
pictures.by_length(scores_by_length, list(figures))
dot_seeds, additive_seeds = (
    translating.exact_by_seed(name) for name in ("seq2seq_dot", "seq2seq_additive")
)
tables.scores_by_seed(dot_seeds, additive_seeds)

# %% [markdown]
# With the simpler score, the model translates more than 97 % of the sentences exactly for every seed. Three seeds are too few to decide whether the dot product is a little worse than the
# additive score. Seed 0 alone would have suggested that the dot product is slightly better, and seed 1 alone that it is worse.

# %% [markdown]
# We use your function in the network trained with the first seed and look at the attention weights:

# %% tags=["demo"]
dot = load_seq2seq("dot")
dot.attend = dot_attention
dot_right = translating.exactly_right(translate(dot, part.source), part.target)
dot_weights = translating.weights_of_attend(
    dot, dot_attention, part, inputs_of(part.target)
)
dot_found = translating.share_found(dot_weights, part.origin)
tables.dot_product((dot, additive), dot_right, len(part), (dot_found, additive_found))
pictures.alignment(dot_weights[shown], part[shown : shown + 1], language, code)

# %% [markdown]
# The simpler score also produces an alignment, but a less precise one. For some nouns in this sentence, the largest weight lies on the article before the noun,
# where the LSTM that reads from right to left has already seen the noun.

# %% [markdown]
# ### Beam search and BLEU

# %% [markdown]
# Greedy decoding selects the most probable token at each step, even where a less probable token would lead to a better sentence. Beam search keeps the few most probable
# prefixes at each step and returns the most probable sentence that it finds.
#
# How good is a translation that is not exact? The usual measure is **BLEU** (Papineni et al. 2002): the geometric mean of the precisions for n-grams of one to
# four tokens, computed over the whole corpus, times a **brevity penalty** if the output is too short. We compare the two search methods on your model from
# section 7, which still makes errors. The last column of the table below is the negative log-probability that the model assigns to a translation.

# %% tags=["demo"]
print("This takes five to fifteen seconds.")
few = held_out[:200]
searches = translating.compare_searches(
    greedy=live_written[:200],
    beam=writing.beam_translate(live, few.source, width=4),
    target=few.target,
    logits_of=lambda ids: live(few.source, inputs_of(ids), decoder_mask(LONGEST)),
)
tables.searches(searches)

# %% [markdown]
# Beam search works as intended: for many sentences it finds a more probable translation. Yet it does not translate more sentences exactly, because for most sentences
# even the greedy translation is more probable than the correct one. The errors are therefore due to the model, not to the search. With better models, beam search is worthwhile: replacing greedy decoding
# with a beam of size 12 raised the BLEU of the translators of Sutskever et al. (2014, table 1) from 33.0 to 34.8.

# %% [markdown]
# BLEU is far higher than the share of sentences translated exactly, since most n-grams of a wrong translation are correct. But BLEU does not distinguish kinds of error: a wrong ending and a wrong sense
# of *cell* lower the score equally, and a correct paraphrase would lower it as well. BLEU can be used to compare systems on one corpus, but a single score says little.

# %% [markdown]
# ## 11 · Further: find the bug
#
# For over a year the English-to-Spanish example in the Keras documentation built the mask of its cross-attention as in the next cell (keras-io, pull request 1046 of 2022;
# shown here with our functions). Source and target were both padded to 20 tokens, so the code ran without an error, and the model did learn something.

# %%
def cross_mask_of_2021(source_keep, target_keep):
    causal = decoder_mask(target_keep.shape[1])
    padding = target_keep[:, None, :]
    return padding & causal

# %% [markdown]
# The mask has the shape (B, Tt, Ts) and indicates which source positions each target position may attend to. Which words does its last row allow, and which does its
# first row allow? Write the correct mask.

# %% nbgrader={"grade": false, "grade_id": "recurrence-mended_cross_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_cross_mask(
    source_keep: Bool[Tensor, "B Ts"], target_keep: Bool[Tensor, "B Tt"]
) -> Bool[Tensor, "B Tt Ts"]:
    """cross_mask_of_2021 without its bugs.  (difficulty ●●○, 6 minutes)

    The mask is True where target position i may attend to source position j. Both arguments
    are True at words and False at padding; Ts and Tt may differ. Treat the rows of the
    target's padding like all other rows.
    """
    ### BEGIN SOLUTION
    Tt = target_keep.shape[1]
    return source_keep[:, None, :].expand(-1, Tt, -1)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "recurrence-mended_cross_mask-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.mended_cross_mask", lambda case: mended_cross_mask(**case))

# %% [markdown]
# What does the mask of 2021 hide, and would the loss have revealed the bugs? We compare this mask with yours in the trained translator. We also trained new
# models with each mask for three seeds (`python -m experiments cross_mask`); as a control, we tested them with the source sentence of another pair. (Source and target
# are padded to the same width, as in the Keras example.)

# %% tags=["demo", "record"]
masks = {"mask of 2021": cross_mask_of_2021, "mended": mended_cross_mask}

# %% tags=["demo"]
from coursekit.datasets import read_table

model.cross = fused_cross_attention
lost = {
    name: teacher.held_out_loss(model, mask, held_out, inputs_of(held_out.target))
    for name, mask in masks.items()
}
model.cross = cross_attention
blind = (held_out.origin > torch.arange(LONGEST))[stems].float().mean().item()
tables.cross_masks(lost, blind, read_table("results/cross_mask.csv"))

# %% [markdown]
# With the mask of 2021, target position i sees only the first i + 1 source positions, as if the source were being generated along with the target. In addition, the mask hides source positions according to the padding of the target instead of that of the source. The trained translator fails under this mask. But a model *trained* with this mask finds a way around the restriction: after 400 steps its
# loss is no worse than with the correct mask. This model does use its source, as the control shows, but we have not investigated how. The loss therefore gives no warning, whereas the
# question from notebook 02, "Which word can see which?", reveals the bugs at once.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [The wrong sentence's mask](../../docs/bugs/04_cross_attention_mask.md).

# %% [markdown]
# ## 12 · Further: what it costs
#
# We compare the run time of your recurrent step in a loop with that of one attention operation over all words, including its projections. All vectors have size D = 64. On logarithmic
# axes a power of T is a straight line. Without its projections, attention needs as many multiply-adds as the plain network at T = D (T²D and TD² respectively; see the extension below). With its projections, attention always needs more.
#
# **Predict:** at which T does attention take as long as the recurrence on this machine?

# %% tags=["demo"]
predict("recurrence.crossing", ...)

# %% tags=["demo"]
from coursekit.costs import keep_untrained, measure_costs

sizes = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
costs = measure_costs(recurrent_step, sizes, width=64)
reveal("recurrence.crossing", costs.crossing)
pictures.times(costs)
keep_untrained(reach, costs)
tables.one_by_one(costs)

# %% [markdown]
# The line for the recurrence has a slope of about one, as its formula predicts; the line for attention bends upwards towards T², on some machines even more steeply.
# But the two lines meet far to the right of T = D, so operation counts do not determine run time. The last line of the output shows why. The same multiplications take many times as long one by one as in one product, because each product has a fixed overhead. A recurrence cannot combine its products, because every step
# depends on the previous step, whereas attention can. This largely explains why transformers replaced LSTMs: at typical sentence lengths, transformers train faster on parallel
# hardware, although a whole layer needs more operations.

# %% [markdown]
# > **Checking the literature.** Vaswani et al. (2017, table 1) give O(T²D) operations, O(1) sequential steps and a longest path of O(1) for a self-attention layer,
# > and O(TD²), O(T) and O(T), respectively, for a recurrent layer. They conclude that attention is faster when T < D. We also found that the time of the recurrence grows
# > like T and, for long texts, that of attention like T² or faster. But the measured times become equal far beyond T = D, at a length that depends on the machine.

# %% [markdown]
# We now count multiply-adds per layer. Attention needs T²D for the scores, T²D for the weighted sums and 4TD² for its four projections; the feed-forward network
# of a transformer layer (notebook 03) adds 8TD². The plain network needs 2TD², the LSTM 8TD². Besides its parameters, attention stores T² weights per head, whereas a
# recurrence stores only its state. The table gives times as ratios, which depend less on the machine than milliseconds do.

# %% tags=["demo"]
tables.operations(costs)

# %% [markdown]
# So "faster when T < D" can mean two things. In operation counts, attention with its projections always needs more than a plain network; it needs fewer than an
# LSTM only below T = 2D. With its feed-forward network, a transformer layer needs at least 1.5 times as many operations as an LSTM. In run time, attention remains faster far beyond T = D, because its products do not have to wait for each other. In generation this advantage disappears, because a transformer also takes T steps.

# %% [markdown]
# ### RNN and transformer compared
#
# The following table shows the usual comparison of the two families, supplemented by the measurements from this notebook:

# %% tags=["demo"]
longest_words = list(figures)[-1]
tables.families(remembered, between[-1], reach, shares, longest_words, costs)

# %% [markdown]
# Recurrence has returned. An LSTM takes its steps one by one because each state passes through a matrix and a tanh. State-space models such as S4 (Gu et al. 2022)
# and Mamba (Gu and Dao 2023) make the update *linear*, as does RWKV (Peng et al. 2023); in its simplest form, $h_t = a_t \odot h_{t-1} + u_t$. A linear recurrence can be computed for all positions in parallel (Martin and Cundy 2018), and generation still needs only a state of fixed size. In Mamba $a_t$ depends on the token, like
# a forget gate. The bottleneck of question 1 remains: such models are worse than transformers at copying from long texts (Jelassi et al. 2024). Hybrids therefore keep a few
# attention layers: Jamba has one for every seven Mamba layers (Lieber et al. 2024).

# %% [markdown]
# The next notebooks add ELMo, BERT and GPT to these measurements; notebook 12 shows the complete table.

# %% [markdown]
# For very long texts, Vaswani et al. (2017, section 4) suggest **restricted** self-attention, in which a word attends only to words at most r positions away. Its operations grow like rTD instead of T²D, but about T/r layers are needed until the last word can depend on the first.
# Now write two columns of their table as functions: the operations of attention, restricted or not, and the path length. These exercises count as extra credit.

# %% nbgrader={"grade": false, "grade_id": "recurrence-flops_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flops_attention(T: int, D: int, window: int) -> int:
    """The multiply-adds of one self-attention operation over T word vectors of size D.
    (extension, ●●○, 6 minutes)

    A word attends to itself and to all words at most `window` positions away. Near both ends
    of the text there are fewer such words.

    Count the two products that combine words: the scores of each word with the words that it
    attends to, and the weighted sum of their values. One multiplication together with one
    addition counts as 1. Do not count the projections, the scaling or the softmax.
    """
    ### BEGIN SOLUTION
    pairs = sum(min(i, window) + 1 + min(T - 1 - i, window) for i in range(T))
    return 2 * pairs * D
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "recurrence-flops_attention-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("recurrence.flops_attention", lambda case: flops_attention(
    *case["x"].shape, case["window"]
))

# %% tags=["demo"]
tables.multiply_adds(flops_attention, costs, longest=sizes[-1])

# %% nbgrader={"grade": false, "grade_id": "recurrence-path_length", "locked": false, "schema_version": 3, "solution": true, "task": false}
def path_length(T: int, architecture: str) -> int:
    """Steps or layers on the path from the first to the last of T ≥ 2 words.
    (extension, ●●○, 6 minutes)

    "recurrent": steps from the state after the first word to the state after the last.
    "attention": layers until the last word's vector depends on the first word. "dilated":
    convolutional layers of width 3 until the same is true; the taps of successive layers are
    1, 3, 9, … positions apart and reach equally far to the left and to the right.
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
check("recurrence.path_length", lambda case: path_length(
    len(case["ids"]), case["architecture"]
))

# %% [markdown]
# ## Summary
#
# - A recurrent network passes a fixed-size state from word to word. The derivative with respect to a distant word is a product of many factors and vanishes.
# - An LSTM preserves a trace while its forget gate is open. Trained on novels, it distinguishes subjects after 30 words.
# - A translator with a single vector fails first on long sentences. With attention, the decoder uses all encoder states, and the weights align the two sentences.
# - A decoder block consists of masked self-attention, cross-attention and a feed-forward network.
# - Teacher forcing needs the shift *and* the mask. Without the shift the loss is excellent, but the model is useless.
#
# **Next**: notebook 05 builds contextual vectors from two LSTM language models, one for each direction.

# %% [markdown]
# ## References
#
# - Bahdanau, D., Cho, K. and Bengio, Y. (2015). Neural machine translation by jointly learning to align and translate. *ICLR*. arXiv:1409.0473.
# - Bengio, Y., Simard, P. and Frasconi, P. (1994). Learning long-term dependencies with gradient descent is difficult. *IEEE Transactions on Neural Networks* 5, 157–166.
# - Cho, K. et al. (2014). Learning phrase representations using RNN encoder–decoder for statistical machine translation. *EMNLP*, 1724–1734. arXiv:1406.1078.
# - Elman, J. L. (1990). Finding structure in time. *Cognitive Science* 14, 179–211.
# - Gers, F. A., Schmidhuber, J. and Cummins, F. (2000). Learning to forget: continual prediction with LSTM. *Neural Computation* 12, 2451–2471.
# - Gu, A. and Dao, T. (2023). Mamba: linear-time sequence modeling with selective state spaces. arXiv:2312.00752.
# - Gu, A., Goel, K. and Ré, C. (2022). Efficiently modeling long sequences with structured state spaces. *ICLR*. arXiv:2111.00396.
# - Hochreiter, S. (1991). Untersuchungen zu dynamischen neuronalen Netzen. Diploma thesis, TU München.
# - Hochreiter, S. and Schmidhuber, J. (1997). Long short-term memory. *Neural Computation* 9, 1735–1780.
# - Jelassi, S., Brandfonbrener, D., Kakade, S. M. and Malach, E. (2024). Repeat after me: transformers are better than state space models at copying. *ICML*. arXiv:2402.01032.
# - Jozefowicz, R., Zaremba, W. and Sutskever, I. (2015). An empirical exploration of recurrent network architectures. *ICML*, 2342–2350.
# - keras-io (2022). Fix masks in English-to-Spanish translation example. github.com/keras-team/keras-io/pull/1046.
# - Lieber, O. et al. (2024). Jamba: a hybrid transformer-Mamba language model. arXiv:2403.19887.
# - Luong, M.-T., Pham, H. and Manning, C. D. (2015). Effective approaches to attention-based neural machine translation. *EMNLP*, 1412–1421. arXiv:1508.04025.
# - Martin, E. and Cundy, C. (2018). Parallelizing linear recurrent neural nets over sequence length. *ICLR*. arXiv:1709.04057.
# - McCann, B., Bradbury, J., Xiong, C. and Socher, R. (2017). Learned in translation: contextualized word vectors. *NIPS* 30. arXiv:1708.00107.
# - Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic evaluation of machine translation. *ACL*, 311–318. aclanthology.org/P02-1040.
# - Peng, B. et al. (2023). RWKV: reinventing RNNs for the transformer era. *Findings of EMNLP*. arXiv:2305.13048.
# - Sutskever, I., Vinyals, O. and Le, Q. V. (2014). Sequence to sequence learning with neural networks. *NIPS* 27. arXiv:1409.3215.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762.
# - Williams, R. J. and Zipser, D. (1989). A learning algorithm for continually running fully recurrent neural networks. *Neural Computation* 1, 270–280.

# %% [markdown]
# Next: [05 · ELMo](../05_elmo/05_elmo.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
