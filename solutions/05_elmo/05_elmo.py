# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · ELMo
#
# The translator of 04 found the senses of words because translations told them apart. Plain text has no translations, but
# training can be self-supervised: a **language model** predicts at every word what comes next. **ELMo** (Peters et al. 2018) trains one language model that reads from the left and one that
# reads from the right.
# What their layers compute about a word *in its sentence* becomes its contextual embedding.
#
# **You need** notebook 04. **Time** about 75 minutes without what goes *further*: six exercises, a bug to find, two questions that a person reads; two
# extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb) · next: [06 · BERT](../06_bert/06_bert.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - make a word's vector from its characters, also for words never seen;
# - train a language model in each direction, and *show* that neither sees the word it has to predict;
# - turn the layers of both into one vector for a word, with weights that a task learns;
# - find out by measurement which layer a task wants.

# %%
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.nn.functional import conv1d, cross_entropy

from coursekit import check, hint, predict, reveal

# %% tags=["demo", "record"]
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from coursekit.language import PAD, Language, load_language
from coursekit.language.inflection import past, plural, third_person
from coursekit.pictures import elmo as pictures
from coursekit.plots import show, use_style
from coursekit.small import ELMo, ELMoConfig, Spelling, load

use_style()
torch.set_num_threads(1)
language, spelling = load_language(), Spelling()                    # spelling: words as characters

# %% [markdown]
# ## 1 · A word from its characters
#
# A table has no row for a word it has never seen. ELMo has no table of words. It reads a word as a row of characters, and small filters slide over
# them, a **character convolution** (Kim et al. 2016). A filter of width 3 answers strongly where it meets the three letters it likes. Only its best place counts, so it reports *whether* its pattern
# occurs, not where.

# %% tags=["demo"]
elmo = load("elmo")                                      # trained on the generated language; section 4
for word in ("cell", "cells"):
    print(f"{word:<6}", spelling.of_words([word])[0].tolist())

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
nouns = [word for word, parts in language.parts_of_speech_of.items() if "NOUN" in parts]
stems = {plural(word): word for word in nouns if plural(word) in nouns}          # cells: cell

def answers_of(words: list[str], model: ELMo, number: int) -> Float[Tensor, "word filter place"]:
    """What the filters of one width answer at every place of some words."""
    letters = model.token.character.weight[spelling.of_words(words)].transpose(1, 2)
    convolution = model.token.convolutions[number]
    return conv1d(letters, convolution.weight, convolution.bias).detach()

def best_filter(model: ELMo) -> tuple[float, float, int, int]:
    """The filter that rises most reliably from singular to plural: by how many standard deviations,
    for which share of the nouns, number of its width, number in its width."""
    found = []
    for number in range(len(model.token.convolutions)):
        many, one = (answers_of(list(form), model, number).amax(dim=-1) for form in (stems, stems.values()))
        rise = (many - one).mean(dim=0) / ((many - one).std(dim=0) + 0.1)
        risen = (many > one).float().mean(dim=0)
        found += [(rise[k].item(), risen[k].item(), number, k) for k in range(len(rise))]
    return max(found)

effect, risen, number, k = best_filter(elmo)
before_training = []
for seed in range(6):
    torch.manual_seed(seed)
    before_training.append(best_filter(ELMo(elmo.config)))
print(f"its best answer rises in {risen:.1%} of {len(stems)} nouns, by {effect:.1f} standard deviations;")
print("the best filters of six untrained ELMos:",
      ", ".join(f"{share:.0%} by {by:.1f}" for by, share, *_ in before_training))
shown = ["cell", "cells", "guard", "guards", "thief", "thieves", "bus"]
width = elmo.token.convolutions[number].weight.shape[-1]
answers = answers_of(shown, elmo, number)[:, k]
pictures.filter_at_work(shown, answers.numpy(), width)

# %% [markdown]
# Of all trained filters, this one rises most reliably from singular to plural. Do not thank the training: the best filter of an untrained ELMo
# rises nearly as reliably, and with one seed more strongly. Of 328 filters one is bound to like the end of a word. *bus* ends like a plural, and the filter falls for it: it knows letters, not meanings.
#
# All best answers are the word's features. Negative ones become 0 (relu). A **highway** layer (Srivastava et al. 2015) may transform them: a gate
# decides for each feature how much of the new one comes in. A projection makes a
# vector of size D. If you get stuck, `hint("elmo.char_cnn")` asks a question first and then says more.

# %%
Onward = Callable[[Float[Tensor, "N F"]], Float[Tensor, "N D"]]


def highway(
    x: Float[Tensor, "N F"], W: Tensor, b: Tensor, W_gate: Tensor, b_gate: Tensor
) -> Float[Tensor, "N F"]:
    """A gate decides, feature by feature, what is transformed and what passes."""
    gate = torch.sigmoid(x @ W_gate + b_gate)
    return gate * torch.relu(x @ W + b) + (1 - gate) * x

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def parts_of(case: dict) -> tuple[list[tuple[Tensor, Tensor]], Onward]:
    """The filters (kernel, bias) of a check, and what comes behind them."""
    filters = [(case[f"K_{w}"], case[f"b_{w}"]) for w in case["widths"].tolist()]
    gates = [case[name] for name in ("W_high", "b_high", "W_gate", "b_gate")]
    return filters, lambda features: highway(features, *gates) @ case["W_proj"] + case["b_proj"]

# %% nbgrader={"grade": false, "grade_id": "elmo-char_cnn", "locked": false, "schema_version": 3, "solution": true, "task": false}
def char_cnn(
    chars: Int[Tensor, "B T C"],
    table: Float[Tensor, "A c"],
    filters: list[tuple[Float[Tensor, "F c w"], Float[Tensor, "F"]]],
    onward: Onward,
) -> Float[Tensor, "B T D"]:
    """A vector for each word from its characters.  (difficulty ●●○, 10 minutes)

    table has a row of c numbers for each character; row 0 is that of padding, read like any other.
    filters are pairs (kernel, bias) as conv1d takes them: F filters of width w. Each slides over
    all C places, padding included, as far as it fits; its largest answer counts. The features of
    all filters, in the order given, go through relu, then through onward: (N, all F) -> (N, D).
    """
    ### BEGIN SOLUTION
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = [conv1d(letters, kernel, bias).amax(dim=-1) for kernel, bias in filters]
    features = torch.relu(torch.cat(found, dim=-1))
    return onward(features).unflatten(0, chars.shape[:2])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-char_cnn-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.char_cnn", lambda case: char_cnn(case["chars"], case["table"], *parts_of(case)))

# %% [markdown]
# `word_vectors(elmo, chars)` is your function with the trained filters. The words on the left do not occur in the language: no table could have a row for them. Which words
# of the language are nearest?

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def word_vectors(model: ELMo, chars: Int[Tensor, "N C"]) -> Float[Tensor, "N D"]:
    """char_cnn with a model's own weights."""
    token = model.token

    def onward(features: Float[Tensor, "N F"]) -> Float[Tensor, "N D"]:
        for layer in token.highways:
            parts = layer.transform, layer.gate
            features = highway(features, *(w for part in parts for w in (part.weight.T, part.bias)))
        return token.projection(features)

    filters = [(convolution.weight, convolution.bias) for convolution in token.convolutions]
    return char_cnn(chars[None], token.character.weight, filters, onward)[0]

# %% tags=["demo"]
words = [word for word in language.vocabulary if not word.startswith("[")]
with torch.no_grad():
    vectors = word_vectors(elmo, spelling.of_words(words))
    difference = (vectors - elmo.token(spelling.of_words(words))).abs().max().item()
    unseen = ["jailers", "relocked", "oxygenate", "moonlight", "xqzt"]
    theirs = word_vectors(elmo, spelling.of_words(unseen))
    near = torch.cosine_similarity(theirs[:, None], vectors, dim=-1).topk(3)
for word, values, places in zip(unseen, *near):
    print(f"{word:<11}", ", ".join(f"{words[i]} {c:.2f}" for c, i in zip(values, places)))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def shared(one: str, other: str) -> float:
    """Share of the pairs of neighbouring letters that two words have in common (0 to 1)."""
    pairs = [{f"<{word}>"[i : i + 2] for i in range(len(word) + 1)} for word in (one, other)]
    return len(pairs[0] & pairs[1]) / min(map(len, pairs))

assert not set(unseen) & set(words)
neighbours = np.mean([shared(word, words[i]) for word, row in zip(unseen, near.indices) for i in row])
anyone = np.mean([shared(word, other) for word in unseen for other in words])
display(Markdown(
    f"Pairs of letters shared with the nearest words: **{neighbours:.0%}**; with any word: **{anyone:.0%}**. "
    f"(Largest difference between your vectors and the model's own: {difference:.0e}.)"
))

# %% [markdown]
# Every word gets a vector, and its neighbours are words that are *spelt* alike in part. Even nonsense has neighbours. Whether a
# neighbour helps is another question: what a word means cannot be read off its letters. And x is still f(w), the same in every sentence.

# %% [markdown]
# ## 2 · Two readers
#
# The forward model reads x from left to right with a stack of LSTM layers, and predicts at each word the next one. The backward model has a stack of its own, reads from right
# to left and predicts the word before. They share x and the final softmax, nothing else. Each is autoregressive; together they are a **bidirectional language model** (biLM).

# %% tags=["demo"]
sentence = "the prisoner sat in a dark cell".split()
pictures.five_vectors(sentence, sentence.index("prisoner"))

# %% [markdown]
# For a batch, reading from the right needs care: sentences are padded on the right, and a reader who begins with padding carries it along. Only
# the words change places.

# %% nbgrader={"grade": false, "grade_id": "elmo-reverse_padded", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    """Each row's first lengths[b] entries reversed, the rest as it is.  (difficulty ●●○, 6 minutes)

    x holds ids (B, T) or vectors (B, T, D). The same call undoes it.
    """
    ### BEGIN SOLUTION
    places = torch.arange(x.shape[1])
    last = lengths[:, None]
    order = torch.where(places < last, last - 1 - places, places)
    return x[torch.arange(len(x))[:, None], order]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-reverse_padded-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("elmo.reverse_padded", lambda case: reverse_padded(case["x"], case["lengths"]))

# %% tags=["demo"]
rows = ["the prisoner sat in a dark cell", "plug in your cell phone"]
ids = torch.from_numpy(np.stack([language.encode(row) for row in rows]))[:, :9]
lengths = (ids != PAD).sum(dim=1)
for row in reverse_padded(ids, lengths):
    print(" ".join(language.vocabulary[i] for i in row.tolist()))

# %% [markdown]
# The **joint objective** is the sum of both models' losses. For a sentence of tokens $x_1 \dots x_T$, [BOS] in front and [EOS] behind:
#
# $$-\sum_t \Big( \log p(x_t \mid x_1 \dots x_{t-1};\ \Theta_x, \overrightarrow{\Theta}, \Theta_s) + \log p(x_t \mid x_{t+1} \dots x_T;\ \Theta_x, \overleftarrow{\Theta}, \Theta_s) \Big) .$$
#
# $\Theta_x$ (characters) and $\Theta_s$ (softmax) stand in both terms: they are **tied weights**. The stacks are not tied.

# %% nbgrader={"grade": false, "grade_id": "elmo-bilm_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Nats per token in each direction: (forward, backward).  (difficulty ●●○, 8 minutes)

    forward[b, t] are logits of a model that has read tokens 0 to t: they are about token t + 1.
    backward[b, t] has read token t and all to its right: about token t − 1. Rows of ids are
    [BOS] words [EOS], then 0 for padding. Padding is not predicted and predicts nothing; [BOS]
    and [EOS] are tokens like others. The mean is over all predicted tokens of the batch. Training
    adds the two up.
    """
    ### BEGIN SOLUTION
    real = ids[:, 1:] != 0
    following = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    preceding = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return following, preceding
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-bilm_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.bilm_loss", lambda case: bilm_loss(**case))

# %% [markdown]
# Which direction is easier? Of the generated language we know the exact probabilities, so we know what the best possible reader from the left pays for
# each token.
#
# **Predict:** the best reader from the left pays a certain number of nats for a whole sentence. What does the best reader from the right pay? The cell
# shows what you can choose from when you run it.

# %% tags=["demo"]
MORE, SAME, LESS = "more: sentences are made to be read forwards", "the same, sentence by sentence", "less: the end of a sentence says more about its beginning"
predict("elmo.backward", ..., choices=(MORE, SAME, LESS))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
sample = language.sample(1000, np.random.default_rng(1))
from_left, from_right = language.log_loss_next(sample.ids), language.log_loss_previous(sample.ids)
gap = np.abs(from_left.sum(axis=1) - from_right.sum(axis=1)).max()
reveal("elmo.backward", SAME if gap < 0.01 else MORE if from_right.sum() > from_left.sum() else LESS, because={
    MORE: "Single tokens can cost more from the right, others cost less. The sum of a sentence is the logarithm of its probability, and that knows no direction.",
    LESS: "Single tokens can cost less from the right, others cost more. The sum of a sentence is the logarithm of its probability, and that knows no direction.",
})

encoded = language.encode("the prisoner sat in a dark cell", pad=False)[None]
pictures.surprises(
    [language.vocabulary[i] for i in encoded[0]],
    language.log_loss_next(encoded)[0].tolist(), language.log_loss_previous(encoded)[0].tolist(),
)
display(Markdown(
    f"In 1,000 sentences, the two sums of a sentence differ by at most **{gap:.0e}** nats."
))

# %% [markdown]
# Word by word the two readers are surprised at different places. For the sentence they must agree, because both write the same
# probability as a product; this is the chain rule, from the left and from the right:
#
# $$p(x_1 \dots x_T) = \prod_t p(x_t \mid x_1 \dots x_{t-1}) = \prod_t p(x_t \mid x_{t+1} \dots x_T) .$$
#
# (The reader from the left is given [BOS] and has to predict [EOS]; for the reader from the right it is the other way round.)
# So a forward and a backward **perplexity** (the exponential of the mean nats) can differ only by what the models fail to learn. In the
# paper they were approximately equal, the backward one slightly lower.

# %% [markdown]
# ## 3 · Who sees what?
#
# Why not one line, `nn.LSTM(D, D, num_layers=2, bidirectional=True)`, whose forward half would predict the next word and the backward half the word before? To find
# out what an output depends on, we differentiate: change the input at word j a little, how much does the output at word i move? In 02 and 03 this drew pictures; now you write it.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_model(case: dict) -> Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]]:
    """A model for the check, in which some words cannot influence some outputs."""
    return lambda x: torch.tanh(case["mix"] @ x @ case["W"] + case["b"])

# %% nbgrader={"grade": false, "grade_id": "elmo-influence", "locked": false, "schema_version": 3, "solution": true, "task": false}
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    """How much the output at word i depends on the input at word j.  (difficulty ●●○, 8 minutes)

    Entry [i, j] is the size of the derivative of output i with respect to input j: the root of the
    sum of the squares of all K · D partial derivatives. The model is given; x holds one sentence.
    """
    ### BEGIN SOLUTION
    jacobian = torch.autograd.functional.jacobian(model, x)
    return jacobian.square().sum(dim=(1, 3)).sqrt()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-influence-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.influence", lambda case: influence(toy_model(case), case["x"]))

# %% [markdown]
# **Predict:** two layers of a bidirectional `nn.LSTM`, untrained. Take the *forward* half of the output: how much of a word's
# vector there comes from words to its *right*? The cell shows what you can choose from when you run it.

# %% tags=["demo"]
NOTHING, A_TRACE, A_LOT = "nothing: that half reads from the left", "a trace, below a tenth of all influence", "a tenth of all influence, or more"
predict("elmo.leak", ..., choices=(NOTHING, A_TRACE, A_LOT))

# %% tags=["demo"]
torch.manual_seed(0)
sentence_x = word_vectors(elmo, spelling.of_words(sentence)).detach()            # T D
D = sentence_x.shape[1]
one_line = torch.nn.LSTM(D, D, num_layers=2, bidirectional=True)
one_layer = torch.nn.LSTM(D, D, num_layers=1, bidirectional=True)
leaks = {
    "1 layer, forward half": influence(lambda x: one_layer(x)[0][:, :D], sentence_x),
    "2 layers, forward half": influence(lambda x: one_line(x)[0][:, :D], sentence_x),
    "2 layers, backward half": influence(lambda x: one_line(x)[0][:, D:], sentence_x),
}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
leaks = {name: matrix.numpy() for name, matrix in leaks.items()}
from_the_right = pictures.share_right(leaks["2 layers, forward half"])
reveal("elmo.leak", NOTHING if from_the_right < 1e-6 else A_TRACE if from_the_right < 0.1 else A_LOT, because={
    NOTHING: "True of the first layer. The second layer's forward half reads both halves of the first, and one of them has come from the right.",
    A_TRACE: "Half of what the second layer reads has come from the right: it is no trace.",
    A_LOT: "Half of what the second layer reads has come from the right, but it is mixed with much that has not.",
})
print(f"share of all influence that comes from the right: {from_the_right:.2f}")
pictures.influences(leaks, sentence)

# %% [markdown]
# One layer is clean. With two, the forward half depends on words to the right, the very word it should predict among them. In 2016 a pull request made a
# popular character model bidirectional. A user reported a good perplexity and poor text, and its author withdrew it: the network had *seen* what it was asked for (char-rnn-tensorflow, pull request
# 64). Here is what `nn.LSTM` does between its layers, written with your function; it gives the same numbers. *Find the bug.*

# %%
Layer = Callable[[Float[Tensor, "B T D"]], Float[Tensor, "B T D"]]        # reads left to right


def leaking_stack(x, lengths, forward_layers, backward_layers):
    for forward, backward in zip(forward_layers, backward_layers, strict=True):
        left = forward(x)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths)
        x = torch.cat([left, right], dim=-1)
    return left, right

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_layers(W_x: Float[Tensor, "L D D"], W_h: Float[Tensor, "L D D"]) -> list[Layer]:
    """Plain recurrent layers (04) for the checks."""
    def layer(number: int) -> Layer:
        def read(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
            if x.shape[-1] != W_x.shape[1]:
                raise ValueError(f"A layer reads vectors of size {W_x.shape[1]}, not {x.shape[-1]}: both directions?")
            h, states = torch.zeros_like(x[:, 0]), []
            for t in range(x.shape[1]):
                h = torch.tanh(x[:, t] @ W_x[number] + h @ W_h[number])
                states.append(h)
            return torch.stack(states, dim=1)

        return read

    return [layer(number) for number in range(len(W_x))]

# %% [markdown]
# Write the two stacks as ELMo has them. Two more things are new: the states of *all* layers are wanted, and from the second layer on there is a **residual** connection, as in 03.

# %% nbgrader={"grade": false, "grade_id": "elmo-two_stacks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    """leaking_stack without the leak.  (difficulty ●●○, 8 minutes)

    Returns the states of all forward layers and those of all backward layers. Each layer turns (B,
    T, D) into (B, T, D), reading from left to right. From the second layer on, what a layer read
    is added to what it wrote. Both results stand in the order of the sentence: the words of row b
    are its first lengths[b] places; the padding behind them is read after them, by both stacks.
    """
    ### BEGIN SOLUTION
    def run(h: Float[Tensor, "B T D"], layers: list[Layer]) -> Float[Tensor, "L B T D"]:
        states = []
        for number, layer in enumerate(layers):
            h = layer(h) + h if number else layer(h)
            states.append(h)
        return torch.stack(states)

    forward = run(x, forward_layers)
    backward = run(reverse_padded(x, lengths), backward_layers)
    return forward, torch.stack([reverse_padded(h, lengths) for h in backward])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-two_stacks-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.two_stacks", lambda case: two_stacks(
    case["x"], case["lengths"],
    toy_layers(case["forward_x"], case["forward_h"]),
    toy_layers(case["backward_x"], case["backward_h"]),
))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def layers_of(stack) -> list[Layer]:
    """The LSTM layers of a model's stack as functions."""
    def layer(lstm: torch.nn.LSTM) -> Layer:
        return lambda h: lstm(h)[0]

    return [layer(lstm) for lstm in stack.layers]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def top_states(model: ELMo, direction: int) -> Callable:
    """From a sentence's word vectors (T, D) to one direction's states in the top layer."""
    stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
    return lambda x: two_stacks(x[None], torch.tensor([len(x)]), *stacks)[direction][-1, 0]

mended = {
    "ELMo, forward stack": influence(top_states(elmo, 0), sentence_x).numpy(),
    "ELMo, backward stack": influence(top_states(elmo, 1), sentence_x).numpy(),
}
pictures.influences(mended, sentence)

# %% [markdown]
# This is the trained ELMo through your `two_stacks`: 0 on the wrong side, not nearly 0. On the right side it is uneven: the wiring says what a state *can* depend on, training what it *does* depend on.

# %% [markdown]
# **Question 1.** Could one train a single language model whose state at every layer has read *both* sides? Say why the objective of this notebook forbids it, how ELMo gets both sides
# all the same, and what it loses by that. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "elmo-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# If the state that predicts a word has read both sides, it has read the word itself, through its neighbours' states; predicting it is then copying and teaches nothing. So each
# language model must stay blind to one side in all of its layers. ELMo trains two such models and puts their states side by side afterwards, so that the resulting vector knows the left and the right.
# What is lost: no layer ever combines a cue on the left with a cue on the right; the two halves meet only in the sum or in the task's network. (BERT, in 06, sees both
# sides in every layer by hiding the word it has to predict.)
#
# *Marking: 1 point for the leak (a state with both sides contains the answer); 1 point for "side by side only" together with what is lost (no interaction between the sides inside the model).*

# %% [markdown]
# ## 4 · Train it
#
# The whole language takes minutes. For a run of seconds we take the part of it that is about *bank*: its topics river and money, with an exact bound of their own. Your `char_cnn`, `two_stacks` and `bilm_loss` are the
# working parts. Afterwards we give the trained model second layers that read both halves, as in the leaking stack, and train on for a shorter while.

# %% tags=["demo"]
from coursekit.language.grammar import GRAMMAR

about_bank = Language.from_grammar(GRAMMAR.only("river", "money"))
bank_spelling = Spelling(about_bank.vocabulary)
print(f"{len(about_bank.vocabulary)} of {len(language.vocabulary):,} words; senses {about_bank.senses}")

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def batch_vectors(model: ELMo, ids: Int[Tensor, "B T"], spelt: Spelling) -> Float[Tensor, "B T D"]:
    """The words' vectors of a batch; each different word is spelt once."""
    different, place = ids.unique(return_inverse=True)
    return word_vectors(model, spelt.of_ids(different))[place]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def new_model() -> ELMo:
    """A small ELMo for the sentences about bank, before training."""
    torch.manual_seed(0)
    sizes = {"dim": 52, "filters": ((1, 12), (2, 24), (3, 30))}
    return ELMo(ELMoConfig(len(about_bank.vocabulary), bank_spelling.characters, **sizes))

# %% tags=["demo"]
def honest(model: ELMo, x: Float[Tensor, "B T D"], lengths: Int[Tensor, "B"]):
    """The top states of both directions."""
    stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
    forward, backward = two_stacks(x, lengths, *stacks)
    return forward[-1], backward[-1]

def train(model: ELMo, read, steps: int, batch: int = 32) -> Float[np.ndarray, "step direction"]:
    """The losses of both directions while training on fresh sentences; the learning rate ends at 0."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    slower = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=steps, pct_start=0.03)
    rng, losses = np.random.default_rng(0), []
    for _ in range(steps):
        ids = torch.from_numpy(about_bank.sample(batch, rng, "train").ids)
        states = read(model, batch_vectors(model, ids, bank_spelling), (ids != PAD).sum(dim=1))
        following, preceding = bilm_loss(*map(model.softmax, states), ids)
        optimiser.zero_grad()
        (following + preceding).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        slower.step()
        losses.append((following.item(), preceding.item()))
    return np.array(losses)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
live = new_model()
curve = train(live, honest, steps=650)

# %% tags=["demo"]
from copy import deepcopy

leaking = deepcopy(live)                                 # the same words, softmax and first layers
for stack in (leaking.forward_stack, leaking.backward_stack):
    # a second layer that reads both halves
    stack.layers[1] = torch.nn.LSTM(2 * leaking.config.dim, leaking.config.dim, batch_first=True)

def leaky(model: ELMo, x: Float[Tensor, "B T D"], lengths: Int[Tensor, "B"]):
    return leaking_stack(x, lengths, layers_of(model.forward_stack), layers_of(model.backward_stack))

leaky_curve = train(leaking, leaky, steps=200)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
fresh = about_bank.sample(500, np.random.default_rng(2), "train")
bank_bound = about_bank.log_loss_next(fresh.ids).sum() / (fresh.lengths - 1).sum()
pictures.training({
    "forward": curve[:, 0], "backward": curve[:, 1], "forward, with leaking second layers": leaky_curve[:, 0],
}, bank_bound)

# %% [markdown]
# The honest curves bend towards the bound, both alike. The leaking one dives through it, although it began with second layers that knew nothing. **A loss so far below the bound is a proof of cheating**: no model that only
# sees the left can get there. On real text nobody knows the bound, and such a curve looks like success; influence would still have told.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def nats(model: ELMo, sentences, spelt: Spelling) -> tuple[float, float]:
    """Loss of both directions on some sentences."""
    ids = torch.from_numpy(sentences.ids)
    states = honest(model, batch_vectors(model, ids, spelt), (ids != PAD).sum(dim=1))
    following, preceding = bilm_loss(*map(model.softmax, states), ids)
    return following.item(), preceding.item()

held_out = language.sample(1500, np.random.default_rng(3), "held_out")
bound = language.log_loss_next(held_out.ids).sum() / (held_out.lengths - 1).sum()
live_nats, elmo_nats = nats(live, fresh, bank_spelling), nats(elmo, held_out, spelling)
table = pd.DataFrame(
    [[*live_nats, bank_bound], [*elmo_nats, bound]],
    columns=["forward", "backward", "best possible"],
    index=["live run (about bank)", "checkpoint (whole language, held out)"],
)
display(np.exp(table).round(3).rename_axis("perplexity"))

# %% [markdown]
# In the checkpoint forward and backward come out alike, as the chain rule says they should; the live run was too short for that. The checkpoint in `data/models/` was trained on the whole language (`python -m coursekit.pretrain --models elmo`, about two thirds of an hour of one core). Trained again with other
# seeds, it comes this close to the bound:

# %% tags=["demo"]
from coursekit.pictures import small_models

show(*small_models.losses("elmo"))

# %% [markdown]
# Held-out sentences hold combinations of words that no training sentence has. A model that learns which combinations never come loses on these; how much it does so can be seen from the number in brackets, for
# fresh sentences of the training side. The bound knows nothing of the split (`data/models/README.md`).

# %% [markdown]
# ## 5 · From 2L + 1 vectors to L + 1
#
# A word now has 2L + 1 vectors: x, and one from each layer of each stack. The two of one layer belong together, so ELMo puts them **side by side**. To give layer
# 0 the same size, x stands in it twice:
#
# $$h_0 = [x; x], \qquad h_l = [\overrightarrow{h}_l; \overleftarrow{h}_l] .$$

# %% nbgrader={"grade": false, "grade_id": "elmo-representations", "locked": false, "schema_version": 3, "solution": true, "task": false}
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"], backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    """The L + 1 representations of every word, from the lowest up.  (difficulty ●○○, 4 minutes)

    Layer 0 is [x; x], layer l is [forward; backward] of that layer: one vector of size 2D.
    """
    ### BEGIN SOLUTION
    both = torch.cat([forward, backward], dim=-1)
    first = torch.cat([x, x], dim=-1)
    return torch.cat([first[None], both])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-representations-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("elmo.representations", lambda case: representations(**case))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def layers(model: ELMo, ids: Int[Tensor, "B T"]) -> Float[Tensor, "L+1 B T 2*D"]:
    """All representations of a batch, 500 sentences at a time."""
    found = []
    for rows in ids.split(500):
        x, lengths = batch_vectors(model, rows, spelling), (rows != PAD).sum(dim=1)
        stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
        states = two_stacks(x, lengths, *stacks)
        found.append(representations(x, *states))
    return torch.cat(found, dim=1)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def exam_vectors(model: ELMo, sentences) -> Float[Tensor, "L+1 sentences 2*D"]:
    """The ambiguous word's vector of each sentence, at every layer."""
    rows, places = (torch.from_numpy(part).split(500) for part in (sentences.ids, sentences.position))
    found = [layers(model, ids)[:, torch.arange(len(ids)), at] for ids, at in zip(rows, places)]
    return torch.cat(found, dim=1)

def halves_of(model: ELMo) -> dict[str, slice]:
    """Where the two directions stand in a vector."""
    D = model.config.dim
    return {"forward half": slice(None, D), "backward half": slice(D, None), "side by side": slice(None)}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def vector(text: str, word: str) -> Float[Tensor, "L+1 2*D"]:
    """A word's vector at every layer, in a sentence."""
    ids = torch.from_numpy(language.encode(text))[None]
    return layers(elmo, ids)[:, 0, ids[0].tolist().index(language.id_of[word])]

prison = vector("the prisoner sat in a dark cell", "cell")
pairs = {
    "cell: prison, blood": ("other sense", vector("the red blood cell carries oxygen", "cell")),
    "cell: prison, phone": ("other sense", vector("plug in your cell phone", "cell")),
    "cell: prison, prison": ("same sense", vector("the guard locked the thief in a cold cell", "cell")),
    "cell, canoe": ("other word", vector("the canoe drifted past the bank of the river", "canoe")),
}
cosines = {name: torch.cosine_similarity(prison, other).tolist() for name, (_, other) in pairs.items()}
pictures.similarities({name: (kind, cosines[name]) for name, (kind, _) in pairs.items()})

# %% [markdown]
# At layer 0 every *cell* is the same vector: cosine 1, a static embedding. From layer 1 on it is a contextual one, f(w, C):
# *cell* in another sense moves away while *cell* in the same sense stays near. The other word is the control: what cosine have two words that do not belong together?
#
# Now all ambiguous words, in the exam of the course. Its questions have a cue on the left of the word, a cue only on its *right*, or all words the same but their *order*, in one clause or in two.
#
# **Predict:** the share of senses found at layer 0 where the only cue is on the right (0 to 1). There are two or three senses per word.

# %% tags=["demo"]
predict("elmo.layer_0", ...)

# %% tags=["demo"]
from coursekit.exam import QUESTIONS, nearest_hits, nearest_sense, sense_exam

print("This takes five to ten seconds.")
exam = sense_exam()
known, asked = exam_vectors(elmo, exam.labelled), exam_vectors(elmo, exam.held_out)
accuracy = [nearest_sense(exam, *layer) for layer in zip(known, asked)]
reveal("elmo.layer_0", accuracy[0].right)
show(*small_models.senses("elmo"))

# %% [markdown]
# Layer 0 stays at the most frequent sense in every kind of question: it has not read the sentence. A reader from the left alone cannot get beyond the dashed line; wherever that line leaves
# room, both trained layers are beyond it. The last two kinds are the hard ones: *order* decides, and no reader of a bag of words gets beyond 0.5 (01). The untrained stacks stay near that, even with
# the most labelled sentences; the trained top layer finds nearly all with these.
#
# But no state of ELMo has read both sides: each stack is unidirectional. Is there a question that needs both?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
surest = {
    side: language.sense_posterior(exam.held_out.ids, exam.held_out.position, side).max(axis=1) for side in ("left", "right")
}
told = {side: best > 0.999 for side, best in surest.items()}
untold = ~(told["left"] | told["right"])
print(f"of {len(exam.held_out):,} questions the words before settle {told['left'].sum():,}, the words after "
      f"{told['right'].sum():,}; neither alone: {untold.sum():,}")

# %% [markdown]
# None does: in each of them one side alone tells the sense. So two readers are enough here, and nothing is lost by never joining a word on the left with a word on the right. (The language is made so;
# do not expect it of English.) But which half knows it differs from sentence to sentence. What does each half of the top layer find?
#
# **Predict:** in sentences of two clauses in which order decides, the forward half finds about four senses in five, the backward half about two in three. And both, side by side (0 to 1)?

# %% tags=["demo"]
predict("elmo.both_halves", ...)

# %% tags=["demo"]
halves = halves_of(elmo)
by_half = {name: nearest_sense(exam, known[-1][:, part], asked[-1][:, part]) for name, part in halves.items()}
reveal("elmo.both_halves", by_half["side by side"].order2)
for name, found in by_half.items():
    print(f"{name:<14} {found}")

# %% [markdown]
# Each half comes close to what its side allows: the forward half to the dashed line of the figure above, the backward half to its own bound, the first row of the next figure. Side by side
# they find more
# than either in both kinds in which order decides. But where the only cue is on the *right*, the backward half alone finds more than both together. The forward half knows nothing of these
# senses, yet counts as
# much when the nearest neighbour is looked for, and pulls towards sentences that merely begin alike. Putting vectors side by side leaves to the reader which half to trust.
#
# Over all seeds, with other readers of the same vectors, recorded (`python -m experiments elmo_halves`):

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table
from coursekit.intervals import half_width, mean_and_half

after = {kind: surest["right"][exam.held_out.cue == kind].mean() for kind in QUESTIONS}
recorded_halves = read_table("results/elmo_halves.csv")
pictures.halves(recorded_halves, after)

# %% [markdown]
# With four times as many labelled sentences there is nearly always one that agrees in *both* halves, and nearly all senses are found. A linear classifier of the very same vectors comes
# near that without more labels: it learns which half to trust. So such a number belongs to a vector *and* its reader. The untrained stacks find cues: a random LSTM mixes its neighbours into a word's
# state, as a count does. What they do not tell is who did what to whom. *That* is what training adds.
#
# Who are the neighbours? A question with its cue only on the right that ELMo gets wrong, and the three labelled sentences that are nearest to it at each layer:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
labelled_layers, held_out_layers = known, asked
missed = (exam.held_out.cue == "right") & ~nearest_hits(exam, known[-1], asked[-1])
some = [int(chosen.argmax()) for chosen in (missed, *(exam.held_out.cue == kind for kind in QUESTIONS))]

def show_neighbours(sentence: int, layer: int, count: int = 3) -> None:
    """The labelled sentences with the same word whose vectors are nearest at a layer, with their senses."""
    word = exam.held_out.ids[sentence, exam.held_out.position[sentence]]
    same = np.flatnonzero(exam.labelled.ids[np.arange(len(exam.labelled)), exam.labelled.position] == word)
    near = torch.cosine_similarity(labelled_layers[layer, same], held_out_layers[layer, sentence], dim=-1)
    best, places = near.topk(count)
    print(f"layer {layer}: {' '.join(exam.held_out.words(sentence))}  ({language.senses[exam.held_out.sense[sentence]]})")
    for cosine, one in zip(best.tolist(), same[places.numpy()].tolist()):
        print(f"    {cosine:.3f}  {' '.join(exam.labelled.words(one))}  ({language.senses[exam.labelled.sense[one]]})")

for layer in range(len(labelled_layers)):
    show_neighbours(some[0], layer)

# %% [markdown]
# At layer 0 all occurrences of the word are one vector, and any three are nearest. At the top the nearest is of another sense: it begins as our sentence does, with a word of the same kind in each place. The words behind,
# which tell the senses apart, weigh no more than that. Choose other sentences and layers (this needs a running notebook; nothing is graded here):

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import ipywidgets

from coursekit.sliders import interact

named = {" ".join(exam.held_out.words(one)): one for one in some}
interact(show_neighbours, sentence=named, layer=(0, len(labelled_layers) - 1), count=ipywidgets.fixed(5))

# %% [markdown]
# ## 6 · Which layers? The task decides
#
# Not the top layer, not all layers end to end: ELMo *adds* all L + 1 layers, with weights that each task learns for itself. This is a **scalar mix**:
#
# $$\mathrm{ELMo} = \gamma \sum_{l=0}^{L} w_l \, h_l, \qquad w = \operatorname{softmax}(s) .$$
#
# The layers have different scales, which would meddle with the weights. So each vector is normalised first (Peters et al. say that this helped in some cases).

# %% nbgrader={"grade": false, "grade_id": "elmo-scalar_mix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    """gamma times the weighted sum of all layers.  (difficulty ●●○, 8 minutes)

    First every vector is normalised over its E coordinates, as in layer norm (03) without gain
    and bias: minus its mean, divided by the root of its variance plus 1e-5; the variance divides
    by E. The weights are the softmax of s; s[0] belongs to layer 0.
    """
    ### BEGIN SOLUTION
    mean = R.mean(dim=-1, keepdim=True)
    variance = R.var(dim=-1, unbiased=False, keepdim=True)
    normed = (R - mean) / (variance + 1e-5) ** 0.5
    weights = torch.softmax(s, dim=0)
    return gamma * (weights[:, None, None, None] * normed).sum(dim=0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-scalar_mix-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.scalar_mix", lambda case: scalar_mix(**case))

# %% [markdown]
# Three tasks, each a linear classifier on top of your mix; s and γ are learned with it, the biLM stays as it is.
#
# - **syntax**: the part of speech of every word (*guards* may be a noun or a verb);
# - **sense**: the sense of an ambiguous word;
# - **morphology**: is a regular verb in the past tense? Asked about verbs that were *not* in the task's training, in any form.
#
# **Predict:** with equal shares each layer would have 0.33. What weight does layer 0 get in the *morphology* task?

# %% tags=["demo"]
predict("elmo.morphology", ...)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
verbs = [word for word, parts in language.parts_of_speech_of.items() if "VERB" in parts]
pasts = {past(verb): verb for verb in verbs if past(verb) in verbs}
pasts = {form: verb for form, verb in pasts.items() if form[-2:] == "ed" and form.startswith(verb[:-1])}
forms = pasts | {third_person(verb): verb for verb in pasts.values()}           # locked: lock, locks: lock

def examples(task: str, sentences, held_out: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which words of the sentences a task asks about, and their labels."""
    ids, parts = sentences.ids, sentences.parts_of_speech
    if task == "syntax":
        return parts >= 0, parts
    if task == "sense":
        return sentences.senses >= 0, sentences.senses
    lemmas = [forms.get(word, word) for word in language.vocabulary]
    fourth = np.random.default_rng(seed).integers(4, size=len(lemmas)) == 0
    kept_out = np.array([fourth[language.id_of[lemma]] for lemma in lemmas])
    regular = np.isin(lemmas, list(pasts.values()))
    verb = (parts == language.parts_of_speech.index("VERB")) & regular[ids]
    return verb & (kept_out[ids] == held_out), np.isin(language.vocabulary, list(pasts))[ids].astype(int)

# %% tags=["demo", "record"]
def learn(R, labels: Int[Tensor, "N"], asked, right, seed: int, strength=1e-3, only=None, steps=200):
    """Weights learned for a task, and its accuracy on the words asked.

    R and asked hold vectors (L+1, N, E), labels and right what is to be predicted. strength is a penalty on
    s (see Extensions). `only`: a single layer in place of the mix.
    """
    torch.manual_seed(seed)
    s, gamma = torch.zeros(len(R), requires_grad=True), torch.ones((), requires_grad=True)
    classify = torch.nn.Linear(R.shape[-1], int(max(labels.max(), right.max())) + 1)
    optimiser = torch.optim.Adam([s, gamma, *classify.parameters()], lr=0.02)

    def logits(rows: Float[Tensor, "L+1 N E"]) -> Float[Tensor, "N classes"]:
        if only is None:
            return classify(scalar_mix(rows[:, None], s, gamma)[0])
        return classify(scalar_mix(rows[only, None, None], s[:1], 1.0)[0])

    for _ in range(steps):
        few = torch.randint(len(labels), (256,))
        loss = cross_entropy(logits(R[:, few]), labels[few]) + strength * s.square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return s.softmax(dim=0).numpy(), (logits(asked).argmax(-1) == right).float().mean().item()

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
TASKS = ("syntax", "sense", "morphology")

def task_sentences(seed: int, split: str):
    """1,500 sentences: of the training side to learn from, held-out ones to be asked about."""
    return language.sample(1500, np.random.default_rng([seed, split == "train"]), split)

def task_data(model: ELMo, seed: int) -> dict:
    """For each task: vectors and labels to learn from, and to be asked about."""
    data = {task: () for task in TASKS}
    for split in ("train", "held_out"):
        sentences = task_sentences(seed, split)
        R = layers(model, torch.from_numpy(sentences.ids))
        for task in TASKS:
            chosen, labels = examples(task, sentences, split == "held_out", seed)
            data[task] += R[:, torch.from_numpy(chosen)], torch.from_numpy(labels[chosen])
    return data

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
by_seed = [task_data(elmo, seed) for seed in range(5)]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")

def over_seeds(tasks, prepare) -> dict[str, Float[np.ndarray, "seed L+1"]]:
    """The weights that each task learns, with `prepare` applied to the layers first."""
    weights = {task: [] for task in tasks}
    for seed, data in enumerate(by_seed):
        for task in tasks:
            R, labels, asked, right = data[task]
            weights[task].append(learn(prepare(R), labels, prepare(asked), right, seed)[0])
    return {task: np.array(rows) for task, rows in weights.items()}

weights = over_seeds(TASKS, lambda R: R)
reveal("elmo.morphology", weights["morphology"][:, 0].mean())
pictures.layer_weights(weights)

# %% [markdown]
# Each task wants something else (five seeds: other sentences, other first weights, other verbs kept out). *Morphology* takes most from layer 0, where the characters are. *Syntax* takes most from layer 1,
# though not by much, and *sense* from the top, by far.
#
# In the paper, too, layer 1 was best for the part of speech (accuracy 97.3, layer 2: 96.8) and layer 2 for senses (F1 69.0, layer 1: 67.4). But there is a residual: layer 2 is the sum of what its LSTM wrote
# and *layer 1 itself*, so a weight on layer 2 pays for both. We take the sum apart and learn again.

# %% tags=["demo"]
print("This takes a few seconds.")

def without_residual(R: Float[Tensor, "L+1 N E"]) -> Float[Tensor, "L+1 N E"]:
    """What the second LSTM layer itself wrote, in place of its sum with the first layer."""
    return torch.cat([R[:2], R[2:] - R[1:2]])

apart = over_seeds(TASKS[:2], without_residual)
pictures.layer_weights(apart)

# %% [markdown]
# Taken apart, layer 1 gets more in both tasks, and sense still prefers layer 2 clearly. So learned weights have to be read with care: a layer with a small weight may be needed all the same, when another one
# contains it. And how firm are they? The same with another penalty, and with fewer and more steps (recorded: `python -m experiments elmo_mix`):

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
mixes = read_table("results/elmo_mix.csv").set_index(["setting", "task", "seed"])
by_setting = mixes.groupby(level=["setting", "task"], sort=False)
display(by_setting.apply(
    lambda rows: "  ".join("{:.2f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{:.2f}".format(*mean_and_half(rows[layer])) for layer in mixes.columns if "layer" in layer)
).unstack("task", sort=False)[list(TASKS)].rename_axis("weights of layers 0, 1 and 2", axis=0))

# %% [markdown]
# In every row *sense* takes most from the top and *morphology* from layer 0. *Syntax* takes most from layer 1, but with a stronger penalty or with few steps the seeds cannot tell. And by *how much* a layer leads is a matter of the settings. So the weights say an order, and no amounts.
#
# Do the weights point at the layers that are good? Accuracy with *one layer alone* and with the mix, recorded (`python -m experiments elmo_layers`) over five seeds. There are two controls: untrained biLMs, and
# the label that the word has most often (for a verb kept out: the most frequent label).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
recorded_layers = read_table("results/elmo_layers.csv")
spread = recorded_layers.groupby(["task", "biLM", "measure"]).value.agg(["mean", half_width])
accuracies = spread[spread.index.get_level_values("measure").str.startswith("accuracy")]
cells = accuracies.apply(lambda row: f"{row['mean']:.3f} ± {row.half_width:.3f}", axis=1)
cells = cells.unstack("measure").rename(columns=lambda name: name.removeprefix("accuracy, "))
order = ["word alone", *(f"layer {layer}" for layer in range(elmo.config.layers + 1)), "all mixed"]
display(cells.loc[list(TASKS), order])

# %% [markdown]
# The step from layer 1 to layer 2 is worth much for senses and next to nothing for the part of speech: the difference in the weights. In the paper layer 2 was *worse* for the part of speech;
# perhaps so small a language leaves the top layer room for all. The tense of a new verb stands in its letters.
# Layer 0 tells it as well as those above (their intervals overlap), and the weights go there.
#
# The paper's tasks gained from the mix; in ours it is never clearly above the best layer alone. The untrained
# biLMs show what training is worth: most of all for the senses. (A linear classifier of 1,500 sentences finds fewer of them than the exam's neighbours do.)

# %% [markdown]
# ## 7 · Further: why frozen, and the original counted
#
# **Question 2.** ELMo's task networks learn a weight for each layer and leave the biLM frozen. Name one advantage of frozen layers with learned weights over using the top layer alone, and
# one over training the whole biLM further on the task; and one thing that only further training could do. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "elmo-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Different tasks need different information, and the layers hold it in different amounts: inflection stands in the characters at layer 0, the sense higher up. With weights, a task takes what it needs at the cost of L + 2 numbers, while
# the top layer alone is right for some tasks only. A frozen biLM can be run once and its vectors stored, one biLM serves all tasks, and a small data set cannot spoil it
# (no forgetting). What weights cannot do is put something into the vectors that no layer holds; for that the biLM itself would have to change.
#
# *Marking: 1 point for the layers holding different information, so that the best combination depends on the task; 1 point for an advantage of freezing (cost, sharing, no forgetting) together with its limit.*

# %% [markdown]
# ELMo has L = 2 LSTM layers in each direction with 4096 units, each projected to 512 (half the sizes of Jozefowicz et al. 2016); 2048 character filters of widths 1 to 7, two highway layers. It was trained for 10
# epochs on the One Billion Word Benchmark (Chelba et al. 2014) and reached a perplexity of 39.7, the mean of forward and backward.

# %% tags=["demo"]
units, size, characters, char_dim = 4096, 512, 262, 16
filters = {1: 32, 2: 32, 3: 64, 4: 128, 5: 256, 6: 512, 7: 1024}                 # width: how many
F = sum(filters.values())
parts = {
    "characters": characters * char_dim,
    "filters": sum(width * char_dim * count + count for width, count in filters.items()),
    "two highway layers": 2 * 2 * (F * F + F),
    "projection of x": F * size + size,
    "one LSTM layer": 4 * units * (size + size) + 4 * units,
    "its projection": units * size,
}
layer = parts["one LSTM layer"] + parts["its projection"]
total = sum(parts.values()) - layer + 4 * layer                          # 2 directions × 2 layers

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
for name, count in parts.items():
    print(f"{name:<20} {count:>12,}")
print(f"{'everything':<20} {total:>12,}")

theirs = torch.nn.LSTM(size, units, proj_size=size, device="meta")
second_bias = 4 * units                                                  # PyTorch's habit
agrees = sum(p.numel() for p in theirs.parameters()) - second_bias == layer
print("nn.LSTM agrees:", agrees)
vocabulary = 793_471
print(f"softmax over {vocabulary:,} words, needed in training only: {vocabulary * size:,} weights")
ours = sum(p.numel() for p in elmo.parameters())
print(f"our ELMo, softmax included: {ours:,}")

# %% [markdown]
# Nearly all of it is in the LSTMs and the highways; the characters cost next to nothing. The softmax is larger than everything else together, and is thrown away after training: ELMo's input is
# spelt, only its *output* needs a list of words.
#
# With the original, all this was one call. AllenNLP (Gardner et al. 2018) is archived, so it stands here as text:
#
# ```python
# from allennlp.commands.elmo import ElmoEmbedder
# vectors = ElmoEmbedder().embed_sentence(["I", "ate", "an", "apple", "for", "breakfast"])
# vectors.shape        # (3, 6, 1024): layers, words, 2 · 512
# ```
#
# Three layers (L + 1), six words, and both directions side by side. The words are given as a *list*; a string would be taken apart into characters.

# %% [markdown]
# > **Sources say, we measure.** *"ELMo concatenates the layers."* The two **directions** of a layer are concatenated (your `representations`); the **layers** are added, with learned weights (your `scalar_mix`;
# > Peters et al. 2018, equation 1). Concatenating layers would give (2L + 1) · 512 = 2560 numbers per word; ELMo's vector has 1024. *"ELMo is a word-level model"*, *"ELMo is character-based"*: both are
# > half right. It *reads* characters, so no word is unknown, and its LSTMs step and predict **word by word**. *"Layer norm before mixing"*: the paper reports that it helped in some cases; in AllenNLP it became an option that is off by default (`do_layer_norm=False`).

# %% [markdown]
# ## 8 · Further: the architecture table
#
# It began in 04. Now ELMo's row, or rather column, because there is more to say: one of its stacks alone is a recurrent language model, and the whole is ELMo, measured by the same functions. Its figures are kept: 06 and 07 add the transformers, and 12 shows all of them.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from time import perf_counter

def milliseconds(run, repeats: int) -> float:
    """The fastest of so many runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(1000 * (perf_counter() - start))
    return min(times)

def forward_only(x: Float[Tensor, "T D"]) -> Float[Tensor, "T D"]:
    return elmo.forward_stack(x[None])[-1, 0]

def both_sides(x: Float[Tensor, "T D"]) -> Float[Tensor, "T 2*D"]:
    return torch.cat([state[0] for state in honest(elmo, x[None], torch.tensor([len(x)]))], dim=-1)

def random_words(T: int, seed: int) -> Float[Tensor, "T D"]:
    return vectors[torch.randint(len(vectors), (T,), generator=torch.Generator().manual_seed(seed))]

def first_word_left(model, seed: int) -> float:
    """How much the first word's derivative at the last word is after 64 words, over that after 2."""
    far, near = (influence(lambda x: model(x)[-1:], random_words(T, seed))[0, 0] for T in (64, 2))
    return (far / near).item()

from coursekit.architectures import keep_measured

def measured(name: str, model) -> dict[str, str]:
    """Context, reach and cost of a model that turns (T, D) into (T, K); kept for the table of 12."""
    seen = influence(model, sentence_x)[3] > 0                                # by the word in the middle
    left = derivatives[name] = [first_word_left(model, seed) for seed in range(8)]
    noise = {T: random_words(T, 0) for T in (64, 4096)}
    with torch.no_grad():
        ms = {T: milliseconds(lambda T=T: model(noise[T]), repeats) for T, repeats in ((64, 5), (4096, 1))}
    keep_measured(name, "05", left, ms)
    return {
        "a word sees (of 7, middle word)": f"{int(seen[:3].sum())} left, {int(seen[4:].sum())} right",
        "first word's derivative, 64 words over 2":
            f"{np.exp(np.log(left).mean()):.2g} (8 draws: {min(left):.1g} to {max(left):.1g})",
        "ms at T = 64": f"{ms[64]:.2f}",
        "ms at T = 4096": f"{ms[4096]:.0f}",
    }

known = {
    "attention": ("none", "none"),
    "objective": ("next word", "next word, word before"),
    "writes text": ("left to right", "each stack alone"),
    "steps in sequence": ("T", "T, both stacks at once"),
    "used for": ("text, scores of sentences", "vectors for a task's network"),
}
print("This takes about ten seconds.")
models = {"one stack of ELMo (a recurrent LM)": forward_only, "ELMo": both_sides}
derivatives = {}
table = pd.DataFrame({name: measured(name, model) for name, model in models.items()})
for name, values in known.items():
    table.loc[name] = values
display(table)

# %% [markdown]
# ELMo sees all words, and pays for it with a second stack. The trace of the first word survives 64 words: a trained LSTM keeps what it needs. (Which words they are matters much; look at the range.) What it has from recurrence is the
# price: T steps in sequence, and a state of fixed size for a text of any length.

# %% [markdown]
# ## Further: an ELMo of English
#
# So far ELMo has read a generated language, of which everything can be computed. The same model, with 256 numbers for a state, has also read real English: 82 novels of 1839 to 1927
# ([its card](../../data/models/novels_elmo.md), [the books](../../data/novels/README.md)), in one training with one seed.
#
# Its softmax has 16,384 words; all others are *one* word there, [UNK]. So its perplexity cannot be compared with that of another vocabulary. But it *reads* any word, letter by letter. Your functions
# run it as they stand.

# %% tags=["demo"]
YOUR_WORD = "spring"                                                        # change them
YOUR_SENTENCES = "In spring the orchards are white.", "We drank from a spring below the rocks."
YOUR_UNKNOWN = "smartphone podcast"

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.novels.shipped import load_elmo as load_novels_elmo

print("This takes a few seconds.")
novels_elmo, novels_spelling = load_novels_elmo()
YOUR_SENTENCES = (YOUR_SENTENCES,) if isinstance(YOUR_SENTENCES, str) else YOUR_SENTENCES

@torch.no_grad()
def english_layers(rows: list[list[str]], model: ELMo) -> tuple[Float[Tensor, "L+1 B T 2*D"], Int[Tensor, "B"]]:
    """All representations of a batch of sentences by your functions, and how many places are real: [BOS], the words, [EOS]."""
    rows = [["[BOS]", *row, "[EOS]"] for row in rows]
    number_of = {word: number for number, word in enumerate(sorted({word for row in rows for word in row}))}
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor([number_of[word] for word in row]) for row in rows], batch_first=True)
    x, lengths = word_vectors(model, novels_spelling.of_words(list(number_of)))[ids], torch.tensor([len(row) for row in rows])
    states = two_stacks(x, lengths, layers_of(model.forward_stack), layers_of(model.backward_stack))
    return representations(x, *states), lengths

@torch.no_grad()
def away_from_the_model(rows: list[list[str]]) -> float:
    """The largest difference between your representations and the model's own, in sentences of unequal lengths."""
    yours, lengths = english_layers(rows, novels_elmo)
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    characters = torch.zeros(*real.shape, novels_spelling.LONGEST, dtype=torch.long)
    characters[real] = novels_spelling.of_words([word for row in rows for word in ("[BOS]", *row, "[EOS]")])
    return (yours - novels_elmo.encode(novels_elmo.token(characters), real))[:, real].abs().max().item()

english_away = away_from_the_model([novels_spelling.split(sentence) for sentence in ("The prisoner sat in a dark cell.", *YOUR_SENTENCES)])
print(f"{sum(weight.numel() for weight in novels_elmo.parameters()):,} parameters; "
      f"your functions differ from the model's own by at most {english_away:.0e}")

# %% [markdown]
# By the chain rule the best possible readers from both sides pay the same (section 2), and the ELMo of the generated language comes near them from both. And in English?
#
# **Predict:** on novels by two authors whom it has never read, in which direction is its perplexity lower?

# %% tags=["demo"]
FROM_LEFT, FROM_RIGHT, LEVEL = "from left to right", "from right to left", "they cannot be told apart"
predict("elmo.english_directions", ..., choices=(FROM_LEFT, FROM_RIGHT, LEVEL))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import re

from coursekit.intervals import bootstrap
from coursekit.novels.shipped import recorded as recorded_on_novels

print("This takes about five seconds.")
TWELVE = ("bank", "court", "fair", "fast", "kind", "left", "light", "present", "rose", "sound", "spring", "state")
of_english = pd.concat([read_table("senses/senses.csv"), read_table("senses/novels.csv")])
of_english["row"] = of_english.sentence.map(novels_spelling.split)
of_english["at"] = [len(novels_spelling.split(line.sentence[: line.start])) for line in of_english.itertuples()]
of_english = of_english.sort_values("row", key=lambda rows: rows.str.len(), ignore_index=True)        # batches of like length
for_novels = of_english[of_english.word.isin(TWELVE)].reset_index(drop=True)
number_in_softmax = {word: number for number, word in enumerate(novels_spelling.words)}

@torch.no_grad()
def nats_of_english(row: list[str]) -> list[float]:
    """By your bilm_loss: nats of a sentence forward and backward and the tokens they are about, without its ends; the same with them."""
    ids = torch.tensor([[number_in_softmax.get(word, number_in_softmax["[UNK]"]) for word in ("[BOS]", *row, "[EOS]")]])
    states, _ = english_layers([row], novels_elmo)
    whole, n = [*(novels_elmo.softmax(half) for half in states[-1].chunk(2, dim=-1)), ids], len(row)
    following, _ = bilm_loss(*(part[:, :-1] for part in whole))
    _, preceding = bilm_loss(*(part[:, 1:] for part in whole))
    return [n * following.item(), n * preceding.item(), n, *((n + 1) * loss.item() for loss in bilm_loss(*whole)), n + 1]

def per_token(rows: Float[np.ndarray, "sentence 3"]) -> Float[np.ndarray, "3"]:
    """Nats per token forward and backward, and their difference."""
    forward, backward, tokens = rows.sum(axis=0)
    return np.array([forward, backward, backward - forward]) / tokens

our_nats = np.array([nats_of_english(novels_spelling.split(sentence)) for sentence in read_table("senses/novels.csv").sentence])
our_directions = {
    called: (*per_token(rows), *bootstrap(rows, lambda some: per_token(some)[2]))
    for called, rows in (("ends left out", our_nats[:, :3]), ("ends counted", our_nats[:, 3:]))
}
end_costs, beginning_costs = (our_nats[:, 3:5] - our_nats[:, :2]).mean(axis=0)                     # nats of [EOS] forward, of [BOS] backward
card = recorded_on_novels("elmo")["nats per word"].map(lambda cell: [float(part) for part in re.findall(r"-?\d+\.\d+", cell)])
card_gap, card_low, card_high = card["ELMo, right to left minus left to right"]
card_with_ends = card["the same, each with the end it comes to"]
small = read_table("results/small_elmo.csv").query("steps > 0").pivot(index="seed", columns="measure", values="value")
small_forward, small_backward = small["held-out: next word, loss"], small["held-out: word before, loss"]
small_gap, small_half = mean_and_half((small_backward - small_forward).to_numpy())
small_best = small["held-out: next word, bound"].mean()

def line_of(forward: float | None, backward: float | None, difference: str) -> dict[str, str]:
    both = {FROM_LEFT: forward, FROM_RIGHT: backward}
    return {name: f"{np.exp(nats):.3g} ({nats:.3f} nats)" if nats else "" for name, nats in both.items()} | {"difference, nats": difference}

reveal("elmo.english_directions", LEVEL if card_low < 0 < card_high else FROM_RIGHT if card_gap < 0 else FROM_LEFT, because={
    FROM_LEFT: "English is written to be read from the left, but what a whole text costs at best is the same from both sides.",
    LEVEL: "They differ by little, but both read the same rows: the interval of the difference does not hold 0.",
})
INTERVAL = "{:+.3f} ({:+.3f} to {:+.3f})"
directions_table = pd.DataFrame({
    "generated language, held out: best possible": line_of(small_best, small_best, "0, by the chain rule"),
    "generated language, held out: ELMo, three seeds": line_of(small_forward.mean(), small_backward.mean(), f"{small_gap:+.3f} ± {small_half:.3f}"),
    "English, two unread authors: ELMo": line_of(
        *(card[f"ELMo, {name}"][0] for name in (FROM_LEFT, FROM_RIGHT)), INTERVAL.format(card_gap, card_low, card_high)),
    "English, two unread authors: ELMo, ends counted": line_of(None, None, INTERVAL.format(*card_with_ends)),
    "English, two unread authors: 5-grams (counts)": line_of(card["5-grams"][0], None, ""),
    "English, two unread authors: unigrams (counts)": line_of(card["unigrams"][0], None, ""),
    **{f"English, our {len(our_nats)} sentences: ELMo, {called}": line_of(forward, backward, INTERVAL.format(*gap))
       for called, (forward, backward, *gap) in our_directions.items()},
    **{f"{sentence} (ends counted)": line_of(*per_token(np.array([nats_of_english(novels_spelling.split(sentence))[3:]]))[:2], "")
       for sentence in YOUR_SENTENCES},
}).T.rename_axis("perplexity")
with pd.option_context("display.max_colwidth", None):
    display(directions_table)
print(f"Nats for an end of our sentences: [EOS] from the left {end_costs:.1f}, [BOS] from the right {beginning_costs:.1f}")

# %% [markdown]
# From the right it pays slightly less, and the interval does not hold 0. (So it was in the paper.) Is the chain rule wrong? It counts the whole row: [EOS] for the reader from the left, [BOS] for the reader from the right. Without
# them even the best possible readers need not pay the same.
#
# With the ends six thousandths of a nat are left in the novels' rows, some sentences each, in an interval that ends at 0. In our shorter sentences the difference was larger, and now it cannot be told from 0.
#
# At the next word ELMo's mean is below that of 5-grams (at gaps it is otherwise: 06). How far it is from the best possible, nobody knows.

# %% [markdown]
# Who are the neighbours of *spring*? In a static embedding they are the same in every sentence. Here are, for your two sentences, the nearest words of other spelling at each layer, among all words of the course's sentences for novels;
# beside them the same for two sentences of the generated language.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

def of_each(rows: list[list[str]], model: ELMo):
    """The representations (L+1, T, 2D) of each sentence's words; a hundred sentences are read at a time."""
    for start in range(0, len(rows), 100):
        states, lengths = english_layers(rows[start : start + 100], model)
        yield from (states[:, i, 1 : length - 1] for i, length in enumerate(lengths.tolist()))

def nearest_words(word: str, target: Float[Tensor, "L+1 E"], pool: Float[Tensor, "L+1 N E"], spelt: list[str]) -> list[str]:
    """At each layer the four nearest words of other spelling, with the cosine of their nearest occurrence."""
    lines = []
    for layer, vector_there in zip(pool, target):
        cosines, found_words = torch.cosine_similarity(layer, vector_there, dim=-1), {}
        for i in cosines.argsort(descending=True).tolist():
            if spelt[i] != word and spelt[i].isalpha() and len(found_words) < 4:
                found_words.setdefault(spelt[i], f"{spelt[i]} {cosines[i]:.2f}")
        lines.append(", ".join(found_words.values()))
    return lines

english_pool = torch.cat(list(of_each(list(for_novels.row), novels_elmo)), dim=1)                  # L+1 N 2D
english_words = for_novels.row.explode().to_numpy()
sentence_of = for_novels.row.explode().index                                                       # of each word
within = np.concatenate([np.arange(len(row)) for row in for_novels.row])                           # its place there

def in_your_sentence(word: str, sentence: str) -> dict[str, list[str]]:
    """The nearest words at each layer; prints which occurrence of the same word is nearest. A word that the sentence lacks is no error."""
    row, spelt = novels_spelling.split(sentence), novels_spelling.split(word)
    if len(spelt) != 1 or spelt[0] not in row:
        print(f"“{sentence}” has no word “{word}”. ELMo reads there: {' · '.join(row) or 'nothing'}.")
        return {}
    target, same = next(of_each([row], novels_elmo))[:, row.index(spelt[0])], np.flatnonzero(english_words == spelt[0])
    print(f"{sentence}   ({spelt[0]}: {len(same)} times in the course's sentences)")
    for layer in range(1, len(target)) if len(same) else ():
        cosines = torch.cosine_similarity(english_pool[layer, same], target[layer], dim=-1)
        nearest = same[int(cosines.argmax())]
        line = for_novels.iloc[sentence_of[nearest]]
        print(f"    layer {layer}, nearest {cosines.max():.2f}: {line.sentence}" + (f"  ({line.sense})" if within[nearest] == line["at"] else ""))
    return {sentence: nearest_words(spelt[0], target, english_pool, english_words)}

def in_the_language(sense: str) -> dict[str, list[str]]:
    """The same for the first labelled sentence of the exam with a sense of the generated language."""
    first = int((exam.labelled.sense == language.senses.index(sense)).argmax())
    sentence = " ".join(exam.labelled.words(first))
    return {f"generated: {sentence}": nearest_words(sense.partition("#")[0], labelled_layers[:, first], small_pool, small_words)}

small_ids = torch.from_numpy(language.sample(400, np.random.default_rng(8), "held_out").ids)
small_pool = layers(elmo, small_ids)[:, small_ids != PAD]
small_words = [language.vocabulary[i] for i in small_ids[small_ids != PAD].tolist()]
neighbours_of_spring = {}
for sentence_read in YOUR_SENTENCES:
    neighbours_of_spring |= in_your_sentence(YOUR_WORD, sentence_read)
for sense_read in ("spring#season", "spring#coil"):
    neighbours_of_spring |= in_the_language(sense_read)
with pd.option_context("display.max_colwidth", None):
    display(pd.DataFrame(neighbours_of_spring, index=[f"layer {layer}" for layer in range(len(small_pool))]).T)

# %% [markdown]
# Layer 0 has one list for both sentences: words that are spelt alike in part. Above it each sentence has its own, and the nearest *spring* of our sentences has the right sense, season or water. But letters still count there:
# most of these words end in *-ing*, too. So it is in the generated language: its lists part above layer 0, and *springs* stays first.
#
# And words that the softmax lacks? ELMo reads them like any other. Here the nearest at layer 0, beside those of part 1:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
often = [word for word in novels_spelling.words if word.isalpha()][:4000]
with torch.no_grad():
    often_vectors = word_vectors(novels_elmo, novels_spelling.of_words(often))

def spelt_like(word: str, spelling_here: Spelling, model: ELMo, others: list[str], theirs_here: Float[Tensor, "N D"]) -> list[str]:
    """The three words that are nearest at layer 0, and no sentence is read."""
    with torch.no_grad():
        cosines = torch.cosine_similarity(word_vectors(model, spelling_here.of_words([word])), theirs_here, dim=-1)
    return [others[i] for i in cosines.argsort(descending=True).tolist() if others[i] != word][:3]

asked_words = [*unseen, *novels_spelling.split(YOUR_UNKNOWN)]
like_in_novels = {word: spelt_like(word, novels_spelling, novels_elmo, often, often_vectors) for word in asked_words}
like_in_language = {word: spelt_like(word, spelling, elmo, words, vectors) for word in asked_words}
display(pd.DataFrame({
    word: {
        "has a number in the novels' softmax": "yes" if word in number_in_softmax else "no: [UNK]",
        "spelt like, of 4,000 frequent words of the novels": ", ".join(like_in_novels[word]),
        "spelt like, of the generated language's words": ", ".join(like_in_language[word]),
    }
    for word in asked_words
}).T)
letters_shared = {
    called: np.mean([shared(word, other) for word in unseen for other in like[word]])
    for called, like in (("the novels", like_in_novels), ("the generated language", like_in_language))
}
by_chance = np.mean([shared(word, other) for word in unseen for other in often])
print("Pairs of letters that the first five words share with their three:",
      "; ".join(f"{called} {share:.0%}" for called, share in letters_shared.items()), f"(with any frequent word: {by_chance:.0%})", sep="\n")

# %% [markdown]
# Layers: in the paper (section 5.3), layer 1 tells more parts of speech and layer 2 more senses. We ask the vector of a word in sentences of our own:
#
# - *noun or not*, learned from sentences of **other** words, so that the word itself gives nothing away;
# - the *sense*, by the nearest labelled sentence of the same word. In some words the senses are different parts of speech (*a rose*, *she rose*); in others all are nouns.
#
# **Predict:** a linear classifier, as in the paper, learns *noun or not*. From which layer does it tell more?

# %% tags=["demo"]
LOWER, UPPER, NEITHER = "layer 1, as in the paper", "layer 2", "they cannot be told apart"
predict("elmo.english_layers", ..., choices=(LOWER, UPPER, NEITHER))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from sklearn.linear_model import RidgeClassifier

from coursekit.novels.shipped import load_skipgram as load_novels_skipgram

print("This takes five to ten seconds.")
NO_NOUN = {
    "bear": "endure", "current": "present", "fair": "just", "fine": "good", "kind": "gentle", "light": "weight", "match": "agree",
    "mine": "possessive", "rose": "rise", "saw": "see", "second": "ordinal", "sound": "reliable", "watch": "look", "well": "manner",
}
is_noun, may_be_noun = (of_english.sense != of_english.word.map(NO_NOUN)).to_numpy(), of_english.word.isin(NO_NOUN).to_numpy()
word_of, sense_of, tested = of_english.word.to_numpy(), of_english.sense.to_numpy(), (of_english.split == "test").to_numpy()
of_skip_gram = dict(zip(*load_novels_skipgram()))
nothing = torch.zeros(100)

def at_the_word(model: ELMo) -> Float[Tensor, "L+1 sentences 2*D"]:
    """The ambiguous word's vector of each sentence, at every layer."""
    return torch.stack([states[:, at].clone() for states, at in zip(of_each(list(of_english.row), model), of_english["at"])], dim=1)

def around(row: list[str], at: int) -> list[Float[Tensor, "100"]]:
    """The skip-gram vectors of the two words on either side."""
    beside = ["", "", *row, "", ""]
    return [of_skip_gram.get(word, nothing) for word in (*beside[at : at + 2], *beside[at + 3 : at + 5])]

def of_the_others(row: list[str], at: int) -> Float[Tensor, "100"]:
    """The sum of the skip-gram vectors of all other words."""
    return sum((of_skip_gram.get(word, nothing) for i, word in enumerate(row) if i != at), nothing)

torch.manual_seed(0)
untrained_at_word, english_at_word = at_the_word(ELMo(novels_elmo.config).eval()), at_the_word(novels_elmo)
english_vectors = {
    **{f"layer {layer}": rows for layer, rows in enumerate(english_at_word)},
    "all mixed": scalar_mix(english_at_word[:, None], torch.zeros(len(english_at_word)), 1.0)[0],
    "untrained, layer 2": untrained_at_word[2],
    "bag of words": torch.stack([of_the_others(*where) for where in zip(of_english.row, of_english["at"])]),
    "two words on either side": torch.stack([torch.cat(around(*where)) for where in zip(of_english.row, of_english["at"])]),
}

def nearest_tell(unit: Float[Tensor, "N E"], labelled: np.ndarray, questions: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Whether the nearest labelled sentence has the right answer, for each question (both are masks)."""
    best = (unit[questions] @ unit[labelled].T).argmax(dim=1).numpy()
    return answers[labelled][best] == answers[questions]

def linear_tells(rows: Float[np.ndarray, "N E"], labelled: np.ndarray, questions: np.ndarray, penalty: float = 100.0) -> np.ndarray:
    """The same for *noun or not*, by a linear classifier (ridge regression, each number brought to mean 0 and spread 1)."""
    mean, spread_there = rows[labelled].mean(axis=0), rows[labelled].std(axis=0) + 1e-6
    scaled = (rows - mean) / spread_there
    learned = RidgeClassifier(alpha=penalty).fit(scaled[labelled], is_noun[labelled])
    return learned.predict(scaled[questions]) == is_noun[questions]

def told_right(vectors_there: Float[Tensor, "N E"]) -> Float[np.ndarray, "3 N"]:
    """Of each sentence, whether *noun or not* is told right by a neighbour and by a classifier, and the sense by a neighbour (nan: not asked)."""
    unit, right = torch.nn.functional.normalize(vectors_there, dim=-1), np.full((3, len(vectors_there)), np.nan)
    for word in np.unique(word_of):
        here, others = word_of == word, may_be_noun & (word_of != word)
        right[2, here & tested] = nearest_tell(unit, here & ~tested, here & tested, sense_of)
        if word in NO_NOUN:
            right[0, here] = nearest_tell(unit, others, here, is_noun)
            right[1, here] = linear_tells(vectors_there.numpy(), others, here)
    return right

english_right = {reader: told_right(vectors_there) for reader, vectors_there in english_vectors.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
same_part = (of_english.parts_of_speech == "same").to_numpy()
QUESTIONS_OF_ENGLISH = {
    "noun or not, nearest neighbour": (0, may_be_noun),
    "noun or not, linear classifier": (1, may_be_noun),
    "sense, another part of speech": (2, tested & ~same_part),
    "sense, all nouns": (2, tested & same_part & (word_of != "fast")),
    "sense, the novels' twelve words": (2, tested & np.isin(word_of, TWELVE)),
}

def over_words(right: Float[np.ndarray, "N"], asked_here: np.ndarray) -> tuple[float, float, float]:
    """A mean over sentences with its 95 % interval, whole words resampled."""
    by_word = pd.Series(right[asked_here]).groupby(word_of[asked_here]).agg(["sum", "count"]).to_numpy()
    return float(right[asked_here].mean()), *bootstrap(by_word, lambda some: some[:, 0].sum() / some[:, 1].sum())

english_shares = {
    question: {reader: over_words(right[which].astype(float), here) for reader, right in english_right.items()}
    for question, (which, here) in QUESTIONS_OF_ENGLISH.items()
}
PAIRS = (("layer 2", "layer 1"), ("all mixed", "layer 2"), ("layer 2", "untrained, layer 2"), ("layer 2", "bag of words"),
         ("layer 2", "two words on either side"), ("layer 2", "layer 0"))
english_gaps = {
    question: {pair: over_words(english_right[pair[0]][which] - english_right[pair[1]][which], here) for pair in PAIRS}
    for question, (which, here) in QUESTIONS_OF_ENGLISH.items()
}
by_biLM = recorded_layers.pivot(index=["task", "seed"], columns=["biLM", "measure"], values="value")
SMALL_COLUMNS = {
    **{f"layer {layer}": ("trained", f"accuracy, layer {layer}") for layer in range(3)},
    "all mixed": ("trained", "accuracy, all mixed"), "untrained, layer 2": ("untrained", "accuracy, layer 2"),
}
small_shares = {
    task: {reader: mean_and_half(by_biLM.loc[task, column].to_numpy()) for reader, column in SMALL_COLUMNS.items()} for task in ("syntax", "sense")
}
small_gaps = {
    task: {pair: mean_and_half((by_biLM.loc[task, SMALL_COLUMNS[pair[0]]] - by_biLM.loc[task, SMALL_COLUMNS[pair[1]]]).to_numpy()) for pair in PAIRS[:3]}
    for task in small_shares
}
english_guesses = {
    question: max(is_noun[here].mean(), 1 - is_noun[here].mean()) if which < 2
    else (1 / of_english[here].groupby("word").sense.transform("nunique")).mean()
    for question, (which, here) in QUESTIONS_OF_ENGLISH.items()
}
_, noun_low, noun_high = english_gaps["noun or not, linear classifier"]["layer 2", "layer 1"]
reveal("elmo.english_layers", NEITHER if noun_low < 0 < noun_high else UPPER if noun_low > 0 else LOWER, because={
    LOWER: "The tagger of the paper had met nearly all its words before. Here the word is new, and the difference goes the other way.",
    NEITHER: "For nearest neighbours they cannot. For the classifier the interval of the difference, in the table, does not hold 0.",
})
pictures.english_layers(
    {question: english_shares[question] for question in list(QUESTIONS_OF_ENGLISH)[:4]}, english_guesses,
    {"noun or not, linear classifier": ("part of speech", small_shares["syntax"]), "sense, all nouns": ("sense", small_shares["sense"])},
)
HALF, BOTH_ENDS = "{:+.3f} ± {:.3f}", "{:+.2f} ({:+.2f} to {:+.2f})"
display(pd.DataFrame({
    **{f"{question} ({len(np.unique(word_of[here]))} words)":
        {" above ".join(pair): BOTH_ENDS.format(*gap) for pair, gap in english_gaps[question].items()}
       for question, (_, here) in QUESTIONS_OF_ENGLISH.items()},
    **{f"generated language, {task}": {" above ".join(pair): HALF.format(*gap) for pair, gap in of_task.items()}
       for task, of_task in (("part of speech", small_gaps["syntax"]), ("sense", small_gaps["sense"]))},
}).T.fillna(""))

def noun_or_not(sentence: str, word: str) -> str:
    """What the nearest sentence of another word says of yours, at each layer."""
    row, spelt = novels_spelling.split(sentence), novels_spelling.split(word)
    if len(spelt) != 1 or spelt[0] not in row:
        return f"no word “{word}” there"
    others, target = may_be_noun & (word_of != spelt[0]), next(of_each([row], novels_elmo))[:, row.index(spelt[0])]
    nearest = torch.cosine_similarity(english_at_word[:, others], target[:, None], dim=-1).argmax(dim=1)
    return ", ".join(f"layer {layer} says {'noun' if is_noun[others][i] else 'no noun'}" for layer, i in enumerate(nearest.tolist()))

for sentence_read in YOUR_SENTENCES:
    print(f"{sentence_read}  {YOUR_WORD}: {noun_or_not(sentence_read, YOUR_WORD)}")

# %% [markdown]
# Layer 2 is above layer 0, a bag of words and an untrained network in every question. The paper's order does not show. For *senses*, and for *noun or not* by neighbours, layers 1 and 2 cannot be told apart.
# A classifier tells *noun or not* better from layer 2: what a layer "knows" depends on who reads it. (One small model and fourteen words are few; and a tagger has met its words.)
#
# In the generated language layer 2 is better for senses; for the part of speech the two cannot be told apart.
#
# Two words on either side are a strong rival: only in *noun or not*, by neighbours, is layer 2 above them. The mix is nowhere clearly above layer 2.

# %% [markdown]
# ## 9 · Scoreboard

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw
from coursekit.small import recorded, recorded_senses

top, figures = elmo.config.layers, recorded("elmo")
found = recorded_senses("elmo", top)
add_row("ELMo, untrained", recorded_senses("elmo", top, trained=False), note="control")
add_row("ELMo, 2 layers", found, loss=figures.loc["held-out: next word, loss", "mean"], note="top layer")
draw()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import readers_of_counts

def beside(senses: list, kind: str, other: float) -> str:
    """Where the interval over seeds lies: above a number, below it, or around it."""
    mean, half = mean_and_half([one[kind] for one in senses])
    place = "above" if mean - half > other else "below" if mean + half < other else "not to be told apart from"
    return f"**{mean:.3f} ± {half:.3f}**, {place} {other:.3f}"

bag = dict(readers_of_counts())["bag of words"]
display(Markdown("ELMo beside the bag of words: " + "; ".join(
    f"{text} {beside(found, kind, bag[kind])}" for kind, text in QUESTIONS.items()
) + "."))

# %% [markdown]
# Where order decides, ELMo is far above every reader of counts, because its stacks read one word after the other, and for each sentence one of them reads the side that tells. With a cue on the right it
# is no such step: half of its vector knows nothing there, and the nearest neighbour listens to it all the same. There the translator of 04 stays ahead, whose vectors have no such half, and for which
# someone had to write the pairs. ELMo has read text, and nothing else.

# %% [markdown]
# ## Extensions
#
# How a task's network uses ELMo, in two functions. They count as extra credit.
#
# **The penalty.** Peters et al. add λ‖w‖² to the task's loss. `learn` of section 6 has it, as `strength * s.square().sum()`: on the raw numbers s it pulls all weights towards 1 / (L + 1). How strong should it be?

# %% tags=["demo"]
by_strength = {}
for strength in (1.0, 1e-1, 1e-2, 1e-3, 0.0):
    by_strength[strength], right = learn(*by_seed[0]["morphology"], 0, strength)
    print(f"λ = {strength:<6} weights {by_strength[strength].round(2)}  accuracy {right:.3f}")

# %% [markdown]
# A large λ makes a plain average, a small one lets the weights go where the task wants them; here the accuracy hardly cares. The paper compared λ = 1 with λ = 0.001, and the smaller one was better on all three tasks shown.
#
# **The task's network.** ELMo goes in twice: beside the task's own word vectors x, and beside what its network writes, with a mix of its own for each place, and dropout on both. The biLM
# is frozen.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_rnn(case: dict) -> Callable[[Tensor], Tensor]:
    """A task's network for the check: one plain recurrent layer."""
    def rnn(x: Float[Tensor, "B T I"]) -> Float[Tensor, "B T H"]:
        h, states = torch.zeros(len(x), case["W_h"].shape[0]), []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ case["W_x"] + h @ case["W_h"])
            states.append(h)
        return torch.stack(states, dim=1)

    return rnn


def output_and_gradients(use, case: dict) -> dict[str, Tensor]:
    """What `use` returns, and the gradients of its squares for what it was given."""
    given = {name: case[name].clone().requires_grad_() for name in ("x", "R", "s", "gamma")}
    output = use(*given.values(), toy_rnn(case), case["draws"], case["p"])
    given["R"].requires_grad_()                                # a biLM may also be frozen by its flag
    total = output.square().sum() + sum(0 * part.sum() for part in given.values())
    gradients = torch.autograd.grad(total, list(given.values()))
    return {"output": output} | {f"gradient for {name}": g for name, g in zip(given, gradients)}

# %% nbgrader={"grade": false, "grade_id": "elmo-with_elmo", "locked": false, "schema_version": 3, "solution": true, "task": false}
def with_elmo(
    x: Float[Tensor, "B T D"],
    R: Float[Tensor, "L+1 B T E"],
    s: Float[Tensor, "2 L+1"],
    gamma: Float[Tensor, "2"],
    rnn: Callable[[Float[Tensor, "B T D+E"]], Float[Tensor, "B T H"]],
    draws: Float[Tensor, "2 B T E"],
    p: float,
) -> Float[Tensor, "B T H+E"]:
    """A task's network with ELMo at its input and at its output.  (extension, ●●○, 10 minutes)

    The network reads [x; ELMo] and the result is [h; ELMo]. Row 0 of s, gamma and draws belongs
    to the input, row 1 to the output. Dropout: a number of the mix becomes 0 where its draw
    (uniform between 0 and 1) is below p; the others are divided by 1 − p. The biLM is frozen:
    no gradient reaches R, but x, s and gamma are learned.
    """
    ### BEGIN SOLUTION
    R = R.detach()
    mixed = [scalar_mix(R, s[i], gamma[i]) * (draws[i] >= p) / (1 - p) for i in range(2)]
    h = rnn(torch.cat([x, mixed[0]], dim=-1))
    return torch.cat([h, mixed[1]], dim=-1)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "elmo-with_elmo-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("elmo.with_elmo", lambda case: output_and_gradients(with_elmo, case))

# %% [markdown]
# Does a task gain by it? Part-of-speech tagging with *twenty* labelled sentences: a small LSTM reads its own word vectors x alone, or with the states of an untrained or of the trained biLM.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")
torch.manual_seed(1)
untrained = ELMo(elmo.config).eval()

def tagging_accuracy(model: ELMo | None, sentences, asked, seed: int, steps: int = 80) -> float:
    """Share of words whose part of speech a small task network finds, trained on `sentences`."""
    torch.manual_seed(seed)
    D, E, H = 16, 2 * elmo.config.dim, 16
    own = torch.nn.Embedding(len(language.vocabulary), D)
    lstm = torch.nn.LSTM(D + E, H, batch_first=True, bidirectional=True)
    classify = torch.nn.Linear(2 * H + E, len(language.parts_of_speech))
    s = torch.zeros(2, elmo.config.layers + 1, requires_grad=True)
    gamma = torch.ones(2, requires_grad=True)
    weights = [*own.parameters(), *lstm.parameters(), *classify.parameters(), s, gamma]
    optimiser = torch.optim.Adam(weights, lr=0.02)

    def states(group) -> Float[Tensor, "L+1 B T E"]:
        ids = torch.from_numpy(group.ids)
        return torch.zeros(s.shape[1], *ids.shape, E) if model is None else layers(model, ids)

    def logits(group, R: Tensor, rows: np.ndarray, p: float) -> tuple[Tensor, Tensor]:
        ids, R = torch.from_numpy(group.ids[rows]), R[:, rows]
        out = with_elmo(own(ids), R, s, gamma, lambda x: lstm(x)[0], torch.rand(2, *R.shape[1:]), p)
        tags = torch.from_numpy(group.parts_of_speech[rows])
        return classify(out[tags >= 0]), tags[tags >= 0]

    R, rng = states(sentences), np.random.default_rng(seed)
    for _ in range(steps):
        loss = cross_entropy(*logits(sentences, R, rng.integers(len(sentences), size=16), 0.5))
        optimiser.zero_grad()
        (loss + 1e-3 * s.square().sum()).backward()
        optimiser.step()
    with torch.no_grad():
        guesses, tags = logits(asked, states(asked), np.arange(len(asked)), 0.0)
    return (guesses.argmax(dim=-1) == tags).float().mean().item()

rng = np.random.default_rng(11)
asked = language.sample(300, rng, "held_out")
few = [language.sample(20, rng, "train") for _ in range(5)]
tagged = {}
for name, model in (("x alone", None), ("untrained biLM", untrained), ("ELMo", elmo)):
    tagged[name] = np.array([tagging_accuracy(model, rows, asked, seed) for seed, rows in enumerate(few)])
    mean, half = mean_and_half(tagged[name])
    print(f"{name:<15} {mean:.3f} ± {half:.3f}   (20 sentences, 5 seeds)")

# %% [markdown]
# Twenty sentences hold few of the words that are asked about. The task's own vectors know nothing of the others; the biLM has read them all, in text without labels. That is what pre-training is for.
#
# The paper leaves the task some choices: γ, which scales the mix; dropout on it; and the place, at the input of the task's network, at its output, or both (section 5.2). What are they worth here? For part 6's tasks,
# with 50 labelled sentences and with 1,500: differences in accuracy, five seeds, each pair with the same sentences.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
used = read_table("results/elmo_use.csv")
by_use = used.pivot_table(index=["steps", "sentences", "task", "seed"], columns="use", values="accuracy")
CHOICES = {
    "γ learned, against γ = 1": ("linear, γ learned", "linear, γ = 1"),
    "dropout 0.5 on the mix, against none": ("linear, dropout 0.5 on the mix", "linear, γ learned"),
    "ELMo at the input, against no ELMo": ("LSTM, ELMo at the input", "LSTM, no ELMo"),
    "at the output, against at the input": ("LSTM, ELMo at the output", "LSTM, ELMo at the input"),
    "at both, against at the input": ("LSTM, ELMo at both", "LSTM, ELMo at the input"),
}
gains = {
    (choice, *setting): mean_and_half((rows[one] - rows[other]).to_numpy())
    for choice, (one, other) in CHOICES.items()
    for setting, rows in by_use.groupby(level=["steps", "sentences", "task"])
}
columns = [(task, sentences, steps) for task, steps in (("syntax", 300), ("morphology", 300), ("sense", 300), ("sense", 1200))
           for sentences in (50, 1500)]
display(pd.DataFrame({
    f"{task}, {sentences:,} sentences" + (f", {steps:,} steps" if steps > 300 else ""):
        {choice: "{:+.3f} ± {:.3f}".format(*gains[choice, steps, sentences, task]) for choice in CHOICES}
    for task, sentences, steps in columns
}).T)

# %% [markdown]
# (Recorded: `python -m experiments elmo_use`; 300 steps of training, for the senses 1,200 as well.) ELMo helps in every task and with either number of sentences. γ makes no difference that these seeds could show: what reads the mix can scale it itself.
# Dropout of one half never helps, and costs senses where there are many sentences.
#
# The place depends on the labels. With 50 sentences senses are found far better at the output, where ELMo goes around the task's untaught LSTM; with 1,500 the input is better. Four times the steps change neither. Both together are at
# worst a point or two behind the better one: the paper took both for two of the three tasks that it shows.

# %% [markdown]
# **One sentence in, all layers out.** The call of section 7, for our ELMo. A `BiLM` bundles what is needed.

# %%
@dataclass(frozen=True)
class BiLM:
    """Two language models: from words to characters, from characters to x, and the two stacks."""

    spell: Callable[[list[str]], Int[Tensor, "T C"]]
    token: Callable[[Int[Tensor, "B T C"]], Float[Tensor, "B T D"]]
    forward_layers: list[Layer]
    backward_layers: list[Layer]

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_bilm(case: dict) -> BiLM:
    """A biLM for the check: a word's vector is the mean of its letters' rows."""
    def spell(words: list[str]) -> Int[Tensor, "T C"]:
        codes = [[1 + ord(letter) % 40 for letter in word][:10] for word in words]
        return torch.tensor([code + [0] * (10 - len(code)) for code in codes])

    def token(chars: Int[Tensor, "B T C"]) -> Float[Tensor, "B T D"]:
        real = (chars > 0)[..., None]
        return (case["table"][chars] * real).sum(dim=-2) / real.sum(dim=-2)

    stacks = [toy_layers(case[f"{side}_x"], case[f"{side}_h"]) for side in ("forward", "backward")]
    return BiLM(spell, token, *stacks)

# %% nbgrader={"grade": false, "grade_id": "elmo-embed_sentence", "locked": false, "schema_version": 3, "solution": true, "task": false}
def embed_sentence(words: list[str], bilm: BiLM) -> Float[Tensor, "L+1 T 2*D"]:
    """The representations of every word of one sentence, all layers.  (extension, ●●○, 6 minutes)

    The biLM reads [BOS] in front of the words and [EOS] behind them; the result holds the words
    alone. Use your own functions.
    """
    ### BEGIN SOLUTION
    chars = bilm.spell(["[BOS]", *words, "[EOS]"])[None]
    x = bilm.token(chars)
    lengths = torch.tensor([x.shape[1]])
    forward, backward = two_stacks(x, lengths, bilm.forward_layers, bilm.backward_layers)
    return representations(x, forward, backward)[:, 0, 1:-1]
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "elmo-embed_sentence-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("elmo.embed_sentence", lambda case: embed_sentence(case["words"], toy_bilm(case)))

# %% tags=["demo"]
trained = BiLM(
    spelling.of_words, lambda chars: word_vectors(elmo, chars[0])[None],
    layers_of(elmo.forward_stack), layers_of(elmo.backward_stack),
)
with torch.no_grad():
    embedded = embed_sentence("the jailers moonlight in a cell".split(), trained)
print("layers, words, 2D:", tuple(embedded.shape), "  words never seen: jailers, moonlight")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
english_biLM = BiLM(                                                # the ELMo of English, on your first sentence
    novels_spelling.of_words, lambda chars: word_vectors(novels_elmo, chars[0])[None],
    layers_of(novels_elmo.forward_stack), layers_of(novels_elmo.backward_stack),
)
with torch.no_grad():
    english_embedded = embed_sentence(novels_spelling.split(YOUR_SENTENCES[0]), english_biLM)
one_by_one = next(of_each([novels_spelling.split(YOUR_SENTENCES[0])], novels_elmo))
print("the ELMo of English:", tuple(english_embedded.shape), f"  {YOUR_SENTENCES[0]}")

# %% [markdown]
# **An ELMo from a tutorial.** Many texts introduce ELMo with a class like this one, and show by a cosine below 1 that its vectors depend on the context. *Find the bugs*: there are three.

# %%
class TutorialELMo(torch.nn.Module):
    """Words, two bidirectional layers, a learned mix: short, and not ELMo."""

    def __init__(self, V: int, D: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(V, D)
        self.lstm = torch.nn.LSTM(D, D // 2, num_layers=2, bidirectional=True, batch_first=True)
        self.layer_weights, self.gamma = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(1))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        x = self.embedding(ids)
        top, _ = self.lstm(x)
        mixed = sum(weight * layer for weight, layer in zip(self.layer_weights, [x, top]))
        return self.gamma * mixed

# %% [markdown]
# **Predict:** two sentences about *bank*, one about a river, one about money. What does this network say of the two vectors of *bank* before any training?

# %% tags=["demo"]
EXACTLY_1, JUST_BELOW, NEAR_0 = "cosine 1: it has learned nothing yet", "a cosine just below 1", "a cosine near 0"
predict("elmo.untrained_cosine", ..., choices=(EXACTLY_1, JUST_BELOW, NEAR_0))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
drawn = language.sample(8000, np.random.default_rng(5), "held_out")
here = np.flatnonzero(drawn.position >= 0)
here = here[drawn.ids[here, drawn.position[here]] == language.vocabulary.index("bank")]
ids, place, sense = torch.from_numpy(drawn.ids[here]), torch.from_numpy(drawn.position[here]), drawn.sense[here]
alike = sense[:, None] == sense[None, :]
others = ~np.eye(len(here), dtype=bool)

def two_cosines(vectors: Float[Tensor, "n D"]) -> tuple[float, float]:
    """Mean cosine of two uses of *bank* in one sense, and in two."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    cosines = (unit @ unit.T).numpy()
    return float(cosines[alike & others].mean()), float(cosines[~alike].mean())

cosines_untrained = []
for seed in range(5):
    torch.manual_seed(seed)
    tutorial = TutorialELMo(len(language.vocabulary), 128)
    with torch.no_grad():
        cosines_untrained.append(two_cosines(tutorial(ids)[torch.arange(len(ids)), place]))
by_network = {"tutorial, untrained (mean of 5)": np.mean(cosines_untrained, axis=0),
              "the course's ELMo, top layer": two_cosines(exam_vectors(elmo, drawn[here])[-1])}
untrained = by_network["tutorial, untrained (mean of 5)"][1]
reveal("elmo.untrained_cosine", EXACTLY_1 if untrained > 0.99999 else JUST_BELOW if untrained > 0.9 else NEAR_0, because={
    EXACTLY_1: "Random LSTMs also pass on what stands around a word: the two vectors differ.",
    JUST_BELOW: "The word itself goes into the sum, and random LSTMs add a little of what stands around it.",
    NEAR_0: "The same row of the table goes into both sums, and it is much longer than what random LSTMs add.",
})
tutorial(ids).square().sum().backward()
print("gradient of the layer weights:", ", ".join(f"{g:,.0f}" for g in tutorial.layer_weights.grad.tolist()))
display(pd.DataFrame(by_network, index=["one sense", "two senses"]).T.round(4))

# %% [markdown]
# *The third weight never gets a gradient*: `zip` ends with the shorter list, and `nn.LSTM` gives out its top layer only, so the first is missing from the mix. *It leaks*: the second layer reads both halves (part 3), so it cannot be trained
# as two language models. And *the demonstration demonstrates nothing*: an untrained network passes it, and has the same cosine for one sense and for two. What has to be shown is the difference between the two columns, with an untrained network beside it. In
# the course's ELMo it is there, and small: whole sentences differ in more than the sense of one word.

# %% [markdown]
# ## Summary
#
# - A word is spelt: filters slide over its characters. No word is unknown; spelling is not meaning.
# - Two language models, two stacks, one objective; x and softmax are shared. By the chain rule both have the same best perplexity.
# - Influence, the derivative of each output for each input, shows what a model sees. A stacked bidirectional LSTM sees the word to predict.
# - A loss far below the exact bound proves a leak.
# - Directions side by side, layers added: ELMo is γ times a softmax-weighted sum of all layers; every task learns its weights.
# - In English, too, senses show above layer 0; the paper's order does not.
#
# **Next**: 06 gets both sides into *every* layer, by hiding the words it asks for.

# %% [markdown]
# ## References
#
# - Chelba, C., Mikolov, T., Schuster, M., Ge, Q., Brants, T., Koehn, P. and Robinson, T. (2014). One billion word benchmark for measuring progress in statistical language modeling. *INTERSPEECH*, 2635–2639. arXiv:1312.3005.
# - Gardner, M. et al. (2018). AllenNLP: a deep semantic natural language processing platform. *Workshop for NLP Open Source Software*, 1–6. arXiv:1803.07640.
# - Jozefowicz, R., Vinyals, O., Schuster, M., Shazeer, N. and Wu, Y. (2016). Exploring the limits of language modeling. arXiv:1602.02410.
# - Kim, Y., Jernite, Y., Sontag, D. and Rush, A. M. (2016). Character-aware neural language models. *AAAI*, 2741–2749. arXiv:1508.06615.
# - martiansideofthemoon (2016). Adding a bidirectional neural network. github.com/sherjilozair/char-rnn-tensorflow/pull/64.
# - Peters, M. E., Neumann, M., Iyyer, M., Gardner, M., Clark, C., Lee, K. and Zettlemoyer, L. (2018). Deep contextualized word representations. *NAACL-HLT*, 2227–2237. arXiv:1802.05365.
# - Srivastava, R. K., Greff, K. and Schmidhuber, J. (2015). Highway networks. arXiv:1505.00387.

# %% [markdown]
# Next: [06 · BERT](../06_bert/06_bert.ipynb). The [start page](../start.ipynb) shows how far you are.
