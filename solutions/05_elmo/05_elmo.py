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
# The translator in notebook 04 learned to separate the senses of words because their translations differ. Plain text has no translations, but a model can be trained on it by self-supervision: a **language model** predicts the next word at every position. **ELMo** (Peters et al. 2018) uses two
# language models, one from left to right and one from right to left. Their hidden states at a word depend on its context, and together they form its contextual embedding.
#
# **You need** notebook 04. **Time** about 75 minutes: seven exercises, one of which is a bug to find, and two written questions. *Further* sections and two extensions are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb) · next: [06 · BERT](../06_bert/06_bert.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - compute a word's vector from its characters, even if the word is unknown;
# - train a language model in each direction, and *show* that neither model sees the word that it has to predict;
# - combine the layers of both models into one vector per word, with weights learned for each task;
# - measure which layer is best for a task.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
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
language, spelling = load_language(), Spelling()  # spelling maps words to characters

# %% [markdown]
# ## 1 · A word from its characters
#
# An embedding table has no row for a word that did not occur in training. ELMo therefore has no table of words. It reads each word as a sequence of characters, over which it slides small filters: a **character convolution** (Kim et al. 2016). A filter of width 3 responds strongly wherever it finds the three letters that it has learned to detect. ELMo keeps only the largest response of each filter, so the filter reports *whether* its pattern occurs, but not where.

# %% tags=["demo"]
elmo = load("elmo")  # trained on the generated language (section 4)
for word in ("cell", "cells"):
    print(f"{word:<6}", spelling.of_words([word])[0].tolist())

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
nouns = [word for word, parts in language.parts_of_speech_of.items() if "NOUN" in parts]
stems = {plural(word): word for word in nouns if plural(word) in nouns}          # cells: cell

def answers_of(words: list[str], model: ELMo, number: int) -> Float[Tensor, "word filter position"]:
    """The responses of all filters of one width, at every position of the given words."""
    letters = model.token.character.weight[spelling.of_words(words)].transpose(1, 2)
    convolution = model.token.convolutions[number]
    return conv1d(letters, convolution.weight, convolution.bias).detach()

def best_filter(model: ELMo) -> tuple[float, float, int, int]:
    """The filter whose response rises most reliably from singular to plural: the mean rise in standard deviations,
    the fraction of nouns for which it rises, the index of its width, and its index within that width."""
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
print(f"The best filter responds more strongly to the plural in {risen:.1%} of {len(stems)} nouns (mean rise {effect:.1f} standard deviations).")
print("The same values for the best filters of six untrained ELMos:",
      ", ".join(f"{share:.0%} ({by:.1f})" for by, share, *_ in before_training))
shown = ["cell", "cells", "guard", "guards", "thief", "thieves", "bus"]
width = elmo.token.convolutions[number].weight.shape[-1]
answers = answers_of(shown, elmo, number)[:, k]
pictures.filter_at_work(shown, answers.numpy(), width)

# %% [markdown]
# Of all trained filters, this one responds most reliably to the plural: it detects a final *s*. It represents letters rather than meanings, so *bus* activates it as well. Such a filter need not even be learned: one of the 328 random filters of an untrained ELMo also responds to the plural, and for one of the six seeds it does so nearly as reliably.

# %% [markdown]
# The largest response of each filter is one feature of the word. A relu sets negative features to 0. A **highway** layer (Srivastava et al. 2015) may then transform the features: for each feature, a gate decides how much of the transformed value replaces the old value. Finally, a projection produces a vector of size D. If you are stuck, call `hint("elmo.char_cnn")`.

# %%
Onward = Callable[[Float[Tensor, "N F"]], Float[Tensor, "N D"]]


def highway(
    x: Float[Tensor, "N F"], W: Tensor, b: Tensor, W_gate: Tensor, b_gate: Tensor
) -> Float[Tensor, "N F"]:
    """For each feature, a gate decides how much of it is transformed; the rest remains
    unchanged."""
    gate = torch.sigmoid(x @ W_gate + b_gate)
    return gate * torch.relu(x @ W + b) + (1 - gate) * x

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def parts_of(case: dict) -> tuple[list[tuple[Tensor, Tensor]], Onward]:
    """The filters (kernel, bias) of a check, and the function applied after them."""
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
    """Compute a vector for each word from its characters.  (difficulty ●●○, 10 minutes)

    table has a row of c numbers for each character; row 0 belongs to padding and is looked up
    like any other row. filters is a list of pairs (kernel, bias) for conv1d, each with F
    filters of width w. Each filter slides over all C positions, padding included, and is
    applied wherever it fits entirely; keep its largest output. Concatenate the features of all
    filters in the given order, and apply relu, then onward: (N, all F) -> (N, D). Autograd
    must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    letters = table[chars].flatten(0, 1).transpose(1, 2)
    found = [conv1d(letters, kernel, bias).amax(dim=-1) for kernel, bias in filters]
    features = torch.relu(torch.cat(found, dim=-1))
    return onward(features).unflatten(0, chars.shape[:2])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-char_cnn-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.char_cnn", lambda case: char_cnn(
    case["chars"], case["table"], *parts_of(case)
), gradients=True)

# %% [markdown]
# `word_vectors(elmo, chars)` applies your function with the trained filters. The words in the left column below do not occur in the generated language, so an embedding table for this language would have no row for them. Which words of the language are nearest to these new words?

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def word_vectors(model: ELMo, chars: Int[Tensor, "N C"]) -> Float[Tensor, "N D"]:
    """Apply char_cnn with the weights of a model."""
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
    """The number of letter pairs that two words share, as a fraction (0 to 1) of the number of pairs in the shorter word."""
    pairs = [{f"<{word}>"[i : i + 2] for i in range(len(word) + 1)} for word in (one, other)]
    return len(pairs[0] & pairs[1]) / min(map(len, pairs))

assert not set(unseen) & set(words)
neighbours = np.mean([shared(word, words[i]) for word, row in zip(unseen, near.indices) for i in row])
anyone = np.mean([shared(word, other) for word in unseen for other in words])
display(Markdown(
    f"A new word shares **{neighbours:.0%}** of its pairs of adjacent letters with its nearest words and **{anyone:.0%}** with an average word. "
    f"(Largest difference between your vectors and the model's own: {difference:.0e}.)"
))

# %% [markdown]
# Every word has a vector, even a nonsense word, and its nearest neighbours share many of its letters. However, similar spelling does not imply similar meaning. Moreover, this vector, which we call x, is still a static embedding f(w), because it is the same in every sentence.

# %% [markdown]
# ## 2 · Two language models
#
# The forward model reads x from left to right with a stack of LSTM layers and predicts the next word at each position. The backward model has its own stack, reads x from right to left and predicts the preceding word. The two models share only x and the final softmax. Each model is autoregressive; together they form a **bidirectional language model** (biLM).

# %% tags=["demo"]
sentence = "the prisoner sat in a dark cell".split()
pictures.five_vectors(sentence, sentence.index("prisoner"))

# %% [markdown]
# A batch cannot simply be read from the right. Sentences are padded on the right, and a model that starts with padding has already changed its state when it reaches the first word. We therefore reverse only the words.

# %% nbgrader={"grade": false, "grade_id": "elmo-reverse_padded", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reverse_padded(
    x: Shaped[Tensor, "B T *D"], lengths: Int[Tensor, "B"]
) -> Shaped[Tensor, "B T *D"]:
    """Reverse the first lengths[b] entries of each row b.  (difficulty ●●○, 6 minutes)

    The other entries stay unchanged. x contains ids (B, T) or vectors (B, T, D). Applying the
    function again restores the original order. Autograd must be able to differentiate the
    result.
    """
    ### BEGIN SOLUTION
    places = torch.arange(x.shape[1])
    last = lengths[:, None]
    order = torch.where(places < last, last - 1 - places, places)
    return x[torch.arange(len(x))[:, None], order]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-reverse_padded-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("elmo.reverse_padded", lambda case: reverse_padded(
    case["x"], case["lengths"]
), gradients=True)

# %% tags=["demo"]
rows = ["the prisoner sat in a dark cell", "plug in your cell phone"]
ids = torch.from_numpy(np.stack([language.encode(row) for row in rows]))[:, :9]
lengths = (ids != PAD).sum(dim=1)
for row in reverse_padded(ids, lengths):
    print(" ".join(language.vocabulary[i] for i in row.tolist()))

# %% [markdown]
# The **joint objective** is the sum of the two cross-entropy losses. For a sentence of tokens $x_1 \dots x_T$ between [BOS] and [EOS], it is
#
# $$-\sum_t \Big( \log p(x_t \mid x_1 \dots x_{t-1};\ \Theta_x, \overrightarrow{\Theta}, \Theta_s) + \log p(x_t \mid x_{t+1} \dots x_T;\ \Theta_x, \overleftarrow{\Theta}, \Theta_s) \Big) .$$
#
# The parameters $\Theta_x$ (characters) and $\Theta_s$ (softmax) occur in both terms; they are **tied weights**. The parameters of the two stacks are not tied.

# %% nbgrader={"grade": false, "grade_id": "elmo-bilm_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bilm_loss(
    forward: Float[Tensor, "B T V"], backward: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Cross-entropy per token in each direction, in nats: (forward, backward).
    (difficulty ●●○, 8 minutes)

    forward[b, t] contains the logits for token t + 1, from a model that has read tokens 0 to
    t. backward[b, t] contains the logits for token t − 1, from a model that has read token t
    and all tokens after it. Each row of ids contains [BOS], the words, [EOS], then 0 for
    padding. Padding is neither predicted nor used to predict; [BOS] and [EOS] are tokens like
    any other. Take the mean over all predicted tokens of the batch. (Training minimises the
    sum of the two losses.)
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    real = ids[:, 1:] != 0
    following = cross_entropy(forward[:, :-1][real], ids[:, 1:][real])
    preceding = cross_entropy(backward[:, 1:][real], ids[:, :-1][real])
    return following, preceding
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-bilm_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.bilm_loss", lambda case: bilm_loss(**case), gradients=True)

# %% [markdown]
# Which direction is easier? For the generated language we know the exact probabilities and therefore also the **entropy**, which is the lowest cross-entropy that a model can reach. The difference between a model's cross-entropy and the entropy is the KL divergence (02).
#
# **Predict:** compare the best possible left-to-right model with the best possible right-to-left model. Which of them has the higher loss for a whole
# sentence, in nats? Run the cell to see the choices.

# %% tags=["demo"]
MORE, SAME, LESS = (
    "right to left, because sentences are written to be read forwards",
    "neither, for any sentence",
    "left to right, because the end of a sentence reveals more about its beginning than the "
    "beginning reveals about the end",
)
predict("elmo.backward", ..., choices=(MORE, SAME, LESS))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
sample = language.sample(1000, np.random.default_rng(1))
from_left, from_right = language.log_loss_next(sample.ids), language.log_loss_previous(sample.ids)
gap = np.abs(from_left.sum(axis=1) - from_right.sum(axis=1)).max()
reveal("elmo.backward", SAME if gap < 0.01 else MORE if from_right.sum() > from_left.sum() else LESS, because={
    MORE: "Some tokens are harder to predict from the right, and others are easier. The sum of the losses over a sentence is minus the logarithm of its probability, which does not depend on the direction.",
    LESS: "Some tokens are easier to predict from the right, and others are harder. The sum of the losses over a sentence is minus the logarithm of its probability, which does not depend on the direction.",
})

encoded = language.encode("the prisoner sat in a dark cell", pad=False)[None]
pictures.surprises(
    [language.vocabulary[i] for i in encoded[0]],
    language.log_loss_next(encoded)[0].tolist(), language.log_loss_previous(encoded)[0].tolist(),
)
display(Markdown(
    f"For each of 1,000 sentences, the losses of the two best possible models differ by at most **{gap:.0e}** nats."
))

# %% [markdown]
# The two models have high losses at different words. For the whole sentence, however, their losses must agree, because both models factorise the same probability by the chain rule, one from the left and one from the right:
#
# $$p(x_1 \dots x_T) = \prod_t p(x_t \mid x_1 \dots x_{t-1}) = \prod_t p(x_t \mid x_{t+1} \dots x_T) .$$
#
# (The forward model is given [BOS] and has to predict [EOS], whereas the backward model is given [EOS] and has to predict [BOS].) The entropy is therefore the same in both directions. The forward and the backward **perplexity** (the exponential of the mean loss in nats) can differ only if the models have not learned the language equally well. In the paper the two perplexities were approximately equal, and the backward perplexity was slightly lower.

# %% [markdown]
# ## 3 · Which words does a state depend on?
#
# Could we replace the two stacks by a single line, `nn.LSTM(D, D, num_layers=2, bidirectional=True)`? The forward half of its output would predict the next word, and the backward half would predict the preceding word. To find out which words an output depends on, we differentiate: if the input at word j changes slightly, how much does the output at word i change? In notebooks 02 and 03 the code for this was given; now you write it yourself.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_model(case: dict) -> Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]]:
    """A model for the check in which some words have no influence on some outputs."""
    return lambda x: torch.tanh(case["mix"] @ x @ case["W"] + case["b"])

# %% nbgrader={"grade": false, "grade_id": "elmo-influence", "locked": false, "schema_version": 3, "solution": true, "task": false}
def influence(
    model: Callable[[Float[Tensor, "T D"]], Float[Tensor, "T K"]], x: Float[Tensor, "T D"]
) -> Float[Tensor, "T T"]:
    """How much the output at word i depends on the input at word j.
    (difficulty ●●○, 8 minutes)

    Entry [i, j] is the size of the derivative of output i with respect to input j, that is,
    the square root of the sum of the squares of all K · D partial derivatives. x contains a
    single sentence.
    """
    ### BEGIN SOLUTION
    jacobian = torch.autograd.functional.jacobian(model, x)
    return jacobian.square().sum(dim=(1, 3)).sqrt()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-influence-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.influence", lambda case: influence(toy_model(case), case["x"]))

# %% [markdown]
# **Predict:** take a bidirectional `nn.LSTM` with two layers and random weights. In the *forward* half of its output, how much of the influence on a
# word's vector comes from words to its *right*? Run the cell to see the choices.

# %% tags=["demo"]
NOTHING, A_TRACE, A_LOT = (
    "none, because this half reads from left to right",
    "some, but less than 10 %",
    "10 % or more",
)
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
    NOTHING: "This is true of the first layer. The forward half of the second layer reads both halves of the first layer, and one of these halves comes from the right.",
    A_TRACE: "Half of the second layer's input comes from the right, so its influence is large.",
    A_LOT: "Half of the second layer's input comes from the right, but the other half does not.",
})
print(f"influence from the right: {from_the_right:.0%} of the total")
pictures.influences(leaks, sentence)

# %% [markdown]
# A single layer does not leak. With two layers, the forward half depends on words to its right, including the very word that it should predict. In 2016 a pull request made a popular character model bidirectional. The perplexity was good but the generated text was poor, and the author withdrew the pull request, because the network had *seen* the characters that it should predict (char-rnn-tensorflow, pull request 64). The code below, which uses your `reverse_padded`, performs the same computation as `nn.LSTM` does between its layers and gives the same result. *Find the bug.*

# %%
Layer = Callable[[Float[Tensor, "B T D"]], Float[Tensor, "B T D"]]  # reads from left to right


def leaking_stack(x, lengths, forward_layers, backward_layers):
    for forward, backward in zip(forward_layers, backward_layers, strict=True):
        left = forward(x)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths)
        x = torch.cat([left, right], dim=-1)
    return left, right

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_layers(W_x: Float[Tensor, "L D D"], W_h: Float[Tensor, "L D D"]) -> list[Layer]:
    """Simple recurrent layers (04) for the checks."""
    def layer(number: int) -> Layer:
        def read(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
            if x.shape[-1] != W_x.shape[1]:
                raise ValueError(f"A layer expects vectors of size {W_x.shape[1]}, but received size {x.shape[-1]}. Does the layer read both directions?")
            h, states = torch.zeros_like(x[:, 0]), []
            for t in range(x.shape[1]):
                h = torch.tanh(x[:, t] @ W_x[number] + h @ W_h[number])
                states.append(h)
            return torch.stack(states, dim=1)

        return read

    return [layer(number) for number in range(len(W_x))]

# %% [markdown]
# Now write the two stacks of ELMo. These stacks differ from the code above in two further respects: the function returns the states of *all* layers, and from the second layer on there is a **residual connection**, as in notebook 03.

# %% nbgrader={"grade": false, "grade_id": "elmo-two_stacks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def two_stacks(
    x: Float[Tensor, "B T D"],
    lengths: Int[Tensor, "B"],
    forward_layers: list[Layer],
    backward_layers: list[Layer],
) -> tuple[Float[Tensor, "L B T D"], Float[Tensor, "L B T D"]]:
    """leaking_stack without the leak.  (difficulty ●●○, 8 minutes)

    Return the states of all forward layers and the states of all backward layers. Each layer
    maps (B, T, D) to (B, T, D), reading from left to right. From the second layer on, add the
    input of a layer to its output. Both results are in the order of the sentence. The words of
    row b are its first lengths[b] entries; both stacks read the padding after the words.
    Autograd must be able to differentiate the result.
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
), gradients=True)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def layers_of(stack) -> list[Layer]:
    """The LSTM layers of a stack as functions."""
    def layer(lstm: torch.nn.LSTM) -> Layer:
        return lambda h: lstm(h)[0]

    return [layer(lstm) for lstm in stack.layers]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def top_states(model: ELMo, direction: int) -> Callable:
    """A function from the word vectors of a sentence (T, D) to the top states of one direction."""
    stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
    return lambda x: two_stacks(x[None], torch.tensor([len(x)]), *stacks)[direction][-1, 0]

mended = {
    "ELMo, forward stack": influence(top_states(elmo, 0), sentence_x).numpy(),
    "ELMo, backward stack": influence(top_states(elmo, 1), sentence_x).numpy(),
}
pictures.influences(mended, sentence)

# %% [markdown]
# The figure shows the trained ELMo, computed by your `two_stacks`. The influence from the wrong side is exactly 0. The influence from the other side varies from word to word. The architecture determines which words a state *can* depend on, and training determines on which of these words it *does* depend.

# %% [markdown]
# The leak has a page of its own, with a short example and a test that would have caught it: [A language model that has seen the answer](../../docs/bugs/05_leak_between_directions.md).

# %% [markdown]
# **Question 1 · Both sides in every layer.** Could we train a single language model whose states depend on *both* sides in every layer? Explain why the objective of this notebook makes this impossible, how ELMo nevertheless uses both sides, and which information is lost in this way. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "elmo-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# If the state that predicts a word depends on both sides in every layer, it also depends on the word itself, through the states of its neighbours. Prediction then amounts to copying, and the model learns nothing. In each language model, therefore, no layer may depend on the words that are still to be predicted. ELMo uses two such models and concatenates their states afterwards, so that the resulting vector depends on both sides. The interaction between the two sides is lost, because no layer combines a cue on the left with a cue on the right, and only the task's own network combines the two halves. (BERT, in notebook 06, uses both sides in every layer by
# masking the word that it has to predict.)
#
# *Marking: 1 point for the leak (a state that depends on both sides contains the answer); 1 point for "concatenated only afterwards" together with the loss of interaction between the two sides inside the model.*

# %% [markdown]
# ## 4 · Train it
#
# Training on the whole language takes many minutes. To finish within seconds, we use only the sentences about *bank* (topics river and money), whose entropy is also known. The model is built from your `char_cnn`, `two_stacks` and `bilm_loss`. After this training run we replace the second layers of the model by layers that read both halves, as in the leaking stack, and continue training for a smaller number of steps.

# %% tags=["demo"]
from coursekit.language.grammar import GRAMMAR

about_bank = Language.from_grammar(GRAMMAR.only("river", "money"))
bank_spelling = Spelling(about_bank.vocabulary)
print(
    f"{len(about_bank.vocabulary)} of {len(language.vocabulary):,} words; senses "
    f"{about_bank.senses}"
)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def batch_vectors(model: ELMo, ids: Int[Tensor, "B T"], spelt: Spelling) -> Float[Tensor, "B T D"]:
    """The word vectors of a batch; each distinct word is encoded only once."""
    different, place = ids.unique(return_inverse=True)
    return word_vectors(model, spelt.of_ids(different))[place]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def new_model() -> ELMo:
    """A small untrained ELMo for the sentences about *bank*."""
    torch.manual_seed(0)
    sizes = {"dim": 52, "filters": ((1, 12), (2, 24), (3, 30))}
    return ELMo(ELMoConfig(len(about_bank.vocabulary), bank_spelling.characters, **sizes))

# %% tags=["demo"]
def honest(model: ELMo, x: Float[Tensor, "B T D"], lengths: Int[Tensor, "B"]):
    """The top states of both directions."""
    stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
    forward, backward = two_stacks(x, lengths, *stacks)
    return forward[-1], backward[-1]

def train(
    model: ELMo, read, steps: int, batch: int = 32
) -> Float[np.ndarray, "step direction"]:
    """The losses of both directions during training on fresh sentences; the learning rate
    decays to 0."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    slower = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 0.01, total_steps=steps, pct_start=0.03
    )
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

leaking = deepcopy(live)  # same word vectors, softmax and first layers
for stack in (leaking.forward_stack, leaking.backward_stack):
    # the second layer now reads both halves
    stack.layers[1] = torch.nn.LSTM(
        2 * leaking.config.dim, leaking.config.dim, batch_first=True
    )

def leaky(model: ELMo, x: Float[Tensor, "B T D"], lengths: Int[Tensor, "B"]):
    return leaking_stack(
        x, lengths, layers_of(model.forward_stack), layers_of(model.backward_stack)
    )

leaky_curve = train(leaking, leaky, steps=200)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
fresh = about_bank.sample(500, np.random.default_rng(2), "train")
bank_bound = about_bank.log_loss_next(fresh.ids).sum() / (fresh.lengths - 1).sum()
pictures.training({
    "forward": curve[:, 0], "backward": curve[:, 1], "forward, with leaking second layers": leaky_curve[:, 0],
}, bank_bound)

# %% [markdown]
# Without a leak, both losses approach the entropy. The loss of the leaking model falls clearly below the entropy, although its second layers started from random weights. Every batch is newly sampled, so the model cannot have memorised it. **A loss clearly below the entropy on data that the model has not memorised proves a leak**, because no model that sees only the left side can reach such a loss. For real text the entropy is unknown, and such a curve would look like a success. Even there, however, the influence would reveal the leak.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def nats(model: ELMo, sentences, spelt: Spelling) -> tuple[float, float]:
    """The losses of both directions on the given sentences."""
    ids = torch.from_numpy(sentences.ids)
    states = honest(model, batch_vectors(model, ids, spelt), (ids != PAD).sum(dim=1))
    following, preceding = bilm_loss(*map(model.softmax, states), ids)
    return following.item(), preceding.item()

held_out = language.sample(1500, np.random.default_rng(3), "held_out")
bound = language.log_loss_next(held_out.ids).sum() / (held_out.lengths - 1).sum()
live_nats, elmo_nats = nats(live, fresh, bank_spelling), nats(elmo, held_out, spelling)
table = pd.DataFrame(
    [[*live_nats, bank_bound], [*elmo_nats, bound]],
    columns=["forward", "backward", "best possible (entropy)"],
    index=["short run (sentences about bank)", "checkpoint (whole language, held out)"],
)
display(np.exp(table).round(3).rename_axis("perplexity"))

# %% [markdown]
# The two perplexities of the checkpoint agree, as the chain rule leads us to expect. The short run was too short for its two perplexities to agree. The
# checkpoint in `data/models/` was trained on the whole language (`python -m coursekit.pretrain --models elmo`, about 40 minutes on one core). The
# figure shows how close the loss comes to the entropy in several training runs with different seeds:

# %% tags=["demo"]
from coursekit.pictures import small_models

show(*small_models.losses("elmo"))

# %% [markdown]
# In either direction the loss is only about 3 % above the entropy. Held-out sentences contain combinations of words that occur in no training sentence, so a model that has learned to exclude such combinations has a higher loss on them. The numbers in brackets are measured on new sentences whose combinations do occur in training. The comparison shows the size of this effect.

# %% [markdown]
# ## 5 · From 2L + 1 vectors to L + 1
#
# Each word now has 2L + 1 vectors: x and one vector from each layer of each stack. ELMo **concatenates** the two vectors of the same layer. Layer 0 contains x twice, so that it is as large as the other layers:
#
# $$h_0 = [x; x], \qquad h_l = [\overrightarrow{h}_l; \overleftarrow{h}_l] .$$

# %% nbgrader={"grade": false, "grade_id": "elmo-representations", "locked": false, "schema_version": 3, "solution": true, "task": false}
def representations(
    x: Float[Tensor, "B T D"], forward: Float[Tensor, "L B T D"],
    backward: Float[Tensor, "L B T D"]
) -> Float[Tensor, "L+1 B T 2*D"]:
    """The L + 1 representations of every word, starting with layer 0.
    (difficulty ●○○, 4 minutes)

    Layer 0 is [x; x]. Layer l is the concatenation [forward; backward] of its states, of size
    2D.
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
    """All representations of a batch, computed for 500 sentences at a time."""
    found = []
    for rows in ids.split(500):
        x, lengths = batch_vectors(model, rows, spelling), (rows != PAD).sum(dim=1)
        stacks = layers_of(model.forward_stack), layers_of(model.backward_stack)
        states = two_stacks(x, lengths, *stacks)
        found.append(representations(x, *states))
    return torch.cat(found, dim=1)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def exam_vectors(model: ELMo, sentences) -> Float[Tensor, "L+1 sentences 2*D"]:
    """The vector of the ambiguous word in each sentence, at every layer."""
    rows, places = (torch.from_numpy(part).split(500) for part in (sentences.ids, sentences.position))
    found = [layers(model, ids)[:, torch.arange(len(ids)), at] for ids, at in zip(rows, places)]
    return torch.cat(found, dim=1)

def halves_of(model: ELMo) -> dict[str, slice]:
    """The coordinates of each direction in a vector."""
    D = model.config.dim
    return {"forward half": slice(None, D), "backward half": slice(D, None), "side by side": slice(None)}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def vector(text: str, word: str) -> Float[Tensor, "L+1 2*D"]:
    """The vector of a word in a sentence, at every layer."""
    ids = torch.from_numpy(language.encode(text))[None]
    return layers(elmo, ids)[:, 0, ids[0].tolist().index(language.id_of[word])]

prison = vector("the prisoner sat in a dark cell", "cell")
pairs = {
    "cell: prison and blood": ("other sense", vector("the red blood cell carries oxygen", "cell")),
    "cell: prison and phone": ("other sense", vector("plug in your cell phone", "cell")),
    "cell: prison twice": ("same sense", vector("the guard locked the thief in a cold cell", "cell")),
    "cell and canoe": ("other word", vector("the canoe drifted past the bank of the river", "canoe")),
}
cosines = {name: torch.cosine_similarity(prison, other).tolist() for name, (_, other) in pairs.items()}
pictures.similarities({name: (kind, cosines[name]) for name, (kind, _) in pairs.items()})

# %% [markdown]
# At layer 0 all occurrences of *cell* have the same vector, so the cosine is 1, as for a static embedding. From layer 1 on, the vector is contextual, f(w, C): occurrences of *cell* with another sense become less similar, whereas those with the same sense stay similar. The pair with a different word serves as a baseline.

# %% [markdown]
# Next we evaluate the vectors of all ambiguous words on the course's test of word senses. In the questions of this test, the cue is to the left of the word, only to its *right*, or in the *order* of the words, in sentences with one or two clauses.
#
# **Predict:** what accuracy does layer 0 reach where the only cue is on the right (0 to 1)? Each word has two or three senses.

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
# Where word order decides, the trained top layer finds nearly all senses, with one clause as well as with two. The accuracy of a bag of words cannot exceed 0.5 on these questions (01), and the untrained stacks stay close to this value, even with the largest number of labelled sentences. Layer 0 is no better than predicting the most frequent sense, because it does not depend on the sentence. A model that reads only the left side cannot exceed the dashed line. Wherever this bound is below 1, both trained layers exceed it.
#
# However, no state of ELMo depends on both sides, because each stack is unidirectional. Are there questions that require both sides?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
surest = {
    side: language.sense_posterior(exam.held_out.ids, exam.held_out.position, side).max(axis=1) for side in ("left", "right")
}
told = {side: best > 0.999 for side, best in surest.items()}
untold = ~(told["left"] | told["right"])
print(f"Among {len(exam.held_out):,} questions, the words before determine the sense in {told['left'].sum():,}, "
      f"the words after in {told['right'].sum():,}, and neither side alone in {untold.sum():,}.")

# %% [markdown]
# There are no such questions: in every question one side alone determines the sense, so two unidirectional models suffice. (This is a property of the generated language, which we should not expect of English.) The decisive side differs from sentence to sentence, and the concatenated vector covers both sides.

# %% [markdown]
# ## 6 · Which layers? The task decides
#
# ELMo uses neither the top layer alone nor a concatenation of all layers. It *adds* all L + 1 layers, with weights that are learned separately for each task. This sum is called a **scalar mix**:
#
# $$\mathrm{ELMo} = \gamma \sum_{l=0}^{L} w_l \, h_l, \qquad w = \operatorname{softmax}(s) .$$
#
# The layers differ in scale, which would distort the weights. Each vector is therefore normalised first (Peters et al. report that normalisation helped in some cases).

# %% nbgrader={"grade": false, "grade_id": "elmo-scalar_mix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scalar_mix(
    R: Float[Tensor, "L+1 B T E"], s: Float[Tensor, "L+1"], gamma: float | Float[Tensor, ""]
) -> Float[Tensor, "B T E"]:
    """The weighted sum of all layers, times gamma.  (difficulty ●●○, 8 minutes)

    First normalise every vector over its E coordinates, as in layer norm (03) without gain and
    bias: subtract its mean and divide by the square root of (its variance + 1e-5); the
    variance is the mean of the E squared deviations. The weights are the softmax of s; s[0]
    belongs to layer 0. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    mean = R.mean(dim=-1, keepdim=True)
    variance = R.var(dim=-1, unbiased=False, keepdim=True)
    normed = (R - mean) / (variance + 1e-5) ** 0.5
    weights = torch.softmax(s, dim=0)
    return gamma * (weights[:, None, None, None] * normed).sum(dim=0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "elmo-scalar_mix-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("elmo.scalar_mix", lambda case: scalar_mix(**case), gradients=["s", "gamma"])

# %% [markdown]
# We define three tasks. For each task we train a linear classifier on your mix, together with s and γ; the biLM is frozen.
#
# - **syntax**: the part of speech of every word (*guards* can be a noun or a verb);
# - **sense**: the sense of an ambiguous word;
# - **morphology**: whether a regular verb is in the past tense, tested on verbs of which *no* form occurs in the task's training data.
#
# **Predict:** if the weights were uniform, each layer would have a weight of 0.33. What is the weight of layer 0 in the *morphology* task?

# %% tags=["demo"]
predict("elmo.morphology", ...)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
verbs = [word for word, parts in language.parts_of_speech_of.items() if "VERB" in parts]
pasts = {past(verb): verb for verb in verbs if past(verb) in verbs}
pasts = {form: verb for form, verb in pasts.items() if form[-2:] == "ed" and form.startswith(verb[:-1])}
forms = pasts | {third_person(verb): verb for verb in pasts.values()}           # locked: lock, locks: lock

def examples(task: str, sentences, held_out: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A mask that marks the words used in a task, and the labels of all words."""
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
def learn(
    R, labels: Int[Tensor, "N"], asked, right, seed: int, strength=1e-3, only=None, steps=200
):
    """The weights learned for a task, and the accuracy on the test words.

    R and asked contain the vectors (L+1, N, E) of training and test words; labels and right
    contain their labels. strength is the coefficient of a penalty on s, which pulls the
    weights towards 1 / (L + 1). If `only` is given, only that layer is used instead of the
    mix.
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
        hits = logits(asked).argmax(-1) == right
        return s.softmax(dim=0).numpy(), hits.float().mean().item()

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
TASKS = ("syntax", "sense", "morphology")

def task_sentences(seed: int, split: str):
    """Sample 1,500 sentences, either for training or held out."""
    return language.sample(1500, np.random.default_rng([seed, split == "train"]), split)

def task_data(model: ELMo, seed: int) -> dict:
    """For each task: the vectors and labels for training, then the vectors and labels for the test."""
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
    """The weights that each task learns after `prepare` has been applied to the layers."""
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
# For all five seeds, each task prefers a different layer. In *morphology*, layer 0, which encodes the characters, has the largest weight. In *sense*, the top layer has the largest weight by a wide margin. In *syntax*, the weight of layer 1 is slightly larger than the other weights.
#
# The paper reports a similar pattern: layer 1 was better for parts of speech (accuracy 97.3, compared with 96.8 for layer 2), and layer 2 was better for senses (F1 69.0, compared with 67.4 for layer 1).

# %% [markdown]
# Each task still prefers the same layer with other penalties and other numbers of training steps (`python -m experiments elmo_mix`), although the size of the weights changes. Layer 2 contains layer 1 through its residual connection. If we remove this part, the weight of layer 1 increases, but *sense* still prefers layer 2.
#
# Are the layers with large weights better than the others? The table shows the recorded accuracy (`python -m experiments elmo_layers`) of *each layer alone*
# and of the mix, over five seeds. There are two baselines: untrained biLMs and the most frequent label of the word (for a held-out verb, the most frequent label overall).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table
from coursekit.intervals import half_width, mean_and_half

recorded_layers = read_table("results/elmo_layers.csv")
spread = recorded_layers.groupby(["task", "biLM", "measure"]).value.agg(["mean", half_width])
accuracies = spread[spread.index.get_level_values("measure").str.startswith("accuracy")]
cells = accuracies.apply(lambda row: f"{row['mean']:.3f} ± {row.half_width:.3f}", axis=1)
cells = cells.unstack("measure").rename(columns=lambda name: name.removeprefix("accuracy, "))
order = ["word alone", *(f"layer {layer}" for layer in range(elmo.config.layers + 1)), "all mixed"]
display(cells.loc[list(TASKS), order].rename(columns={"word alone": "most frequent label"}))

# %% [markdown]
# The layers with large weights are indeed better than the others. For senses, the accuracy of layer 2 is five percentage points higher than that of layer 1. For parts of speech, layers 1 and 2 are almost equally good, and their weights differ little as well. (In the paper layer 2 was *worse* for this task.) The letters of a new verb reveal its tense. Layer 0 is therefore as good as the layers above it, and its weight is the largest.

# %% [markdown]
# The comparison with untrained biLMs shows the effect of training. This effect is largest for senses, where training improves the best layer by 25 percentage points. In the paper the mix was better than any single layer, whereas in our experiment it is never clearly better than the best single layer.

# %% [markdown]
# **Question 2 · Frozen layers with learned weights.** The task networks that use ELMo learn a weight for each layer and leave the biLM frozen. Name one advantage that frozen layers with learned weights have over the top layer alone, and one advantage over training the whole biLM further on the task. What can only be achieved by further training? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "elmo-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Different tasks need different information, and the layers encode it to different degrees: inflection in the characters of layer 0, word senses in the higher layers. With learned weights, a task can select the information that it needs at the cost of only L + 2 parameters, whereas the top layer alone suits only some tasks. The vectors of a frozen biLM can be computed once and stored, one biLM serves all tasks, and a small data set cannot damage it (no forgetting). However, learned weights cannot add information that no layer encodes; for this, the biLM itself would have to change.
#
# *Marking: 1 point for layers that encode different information, so that the best combination depends on the task; 1 point for an advantage of freezing
# (cost, sharing, no forgetting) together with its limit.*

# %% [markdown]
# ## 7 · Scoreboard

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw
from coursekit.small import recorded, recorded_senses

top, figures = elmo.config.layers, recorded("elmo")
found = recorded_senses("elmo", top)
add_row("ELMo, untrained", recorded_senses("elmo", top, trained=False), note="baseline")
add_row("ELMo, 2 layers", found, loss=figures.loc["held-out: next word, loss", "mean"], note="top layer")
draw()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import readers_of_counts

def beside(senses: list, kind: str, other: float) -> str:
    """The mean over seeds, and whether its interval lies above or below a number or contains it."""
    mean, half = mean_and_half([one[kind] for one in senses])
    place = "above" if mean - half > other else "below" if mean + half < other else "not distinguishable from"
    return f"**{mean:.3f} ± {half:.3f}**, {place} {other:.3f}"

bag = dict(readers_of_counts())["bag of words"]
display(Markdown("ELMo compared with the bag of words: " + "; ".join(
    f"{text} {beside(found, kind, bag[kind])}" for kind, text in QUESTIONS.items()
) + "."))

# %% [markdown]
# Where word order decides, ELMo is far better than every classifier based on counts. Its stacks read one word after another, and in each sentence one of the stacks reads the side that determines the sense. If the only cue is on the right, the gain is smaller, because half of the vector contains no information about the sense but has full weight in the comparison. On these sentences the translator of notebook 04 is still better, since both halves of its vectors depend on the cue. However, the translator was trained on pairs of sentences, which somebody has to write, whereas ELMo was trained on text alone.

# %% [markdown]
# ## Further: the two halves of a vector
#
# What accuracy does each half of the top layer reach?
#
# **Predict:** consider sentences with two clauses in which word order determines the sense. On these sentences, the accuracy of the forward half is about four in five, and that of the backward half is about two in three. What accuracy do the concatenated halves reach (0 to 1)?

# %% tags=["demo"]
predict("elmo.both_halves", ...)

# %% tags=["demo"]
halves = halves_of(elmo)
by_half = {
    name: nearest_sense(exam, known[-1][:, part], asked[-1][:, part])
    for name, part in halves.items()
}
reveal("elmo.both_halves", by_half["side by side"].order2)
for name, of_half in by_half.items():
    print(f"{name:<14} {of_half}")

# %% [markdown]
# Where word order determines the sense, the two halves together identify nearly all senses, far more than either half alone. Each half comes close to the upper bound for its side. For the forward half, this bound is the dashed line in the figure of section 5; for the backward half, it is the first row of the next figure.
#
# There is one exception: where the only cue is on the *right*, the backward half alone is better than both halves together. The forward half contains no information about these senses. However, it has the same weight in the cosine and increases the similarity to sentences with a similar beginning. A nearest-neighbour classifier cannot weigh the two halves.

# %% [markdown]
# The next figure shows the recorded results for all seeds and for more classifiers (`python -m experiments elmo_halves`):

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
after = {kind: surest["right"][exam.held_out.cue == kind].mean() for kind in QUESTIONS}
recorded_halves = read_table("results/elmo_halves.csv")
pictures.halves(recorded_halves, after)

# %% [markdown]
# With the same vectors, a linear classifier finds nearly all senses, because it learns which half is more reliable. A nearest-neighbour classifier finds nearly all senses if it has four times as many labelled sentences. An accuracy therefore always characterises a vector *and* a classifier. The untrained stacks detect cues, since a random LSTM mixes neighbouring words into the state of a word, with an effect similar to counting. However, only *trained* stacks represent who did what to whom.
#
# Which sentences are the nearest? The next cell shows a question whose only cue is on the right and which ELMo answers incorrectly. For each layer it prints the three nearest labelled sentences:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
labelled_layers, held_out_layers = known, asked
missed = (exam.held_out.cue == "right") & ~nearest_hits(exam, known[-1], asked[-1])
some = [int(missed.argmax())]

def show_neighbours(sentence: int, layer: int, count: int = 3) -> None:
    """Print the labelled sentences with the same word whose vectors are nearest at a layer, with their senses."""
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
# At layer 0 all occurrences of the word have the same vector. At the top layer the nearest occurrence has a different sense: its sentence begins like the question, with a word of the same kind at each position. The words after the ambiguous word determine its sense, but they have no more weight than the words before it.

# %% [markdown]
# ## Further: the size of the original
#
# In each direction ELMo has L = 2 LSTM layers of 4096 units, whose outputs are projected to 512 dimensions. (Both numbers are half as large as in Jozefowicz et al. 2016.) It has 2048 character filters of widths 1 to 7 and two highway layers. It was trained for 10 epochs on the One Billion Word Benchmark (Chelba et al.
# 2014) and reached a perplexity of 39.7, averaged over both directions.

# %% tags=["demo"]
units, size, characters, char_dim = 4096, 512, 262, 16
filters = {1: 32, 2: 32, 3: 64, 4: 128, 5: 256, 6: 512, 7: 1024}  # width: number of filters
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
total = sum(parts.values()) - layer + 4 * layer  # 2 directions × 2 layers

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
for name, count in parts.items():
    print(f"{name:<20} {count:>12,}")
print(f"{'total':<20} {total:>12,}")

theirs = torch.nn.LSTM(size, units, proj_size=size, device="meta")
second_bias = 4 * units                                                  # PyTorch has two biases for each gate
agrees = sum(p.numel() for p in theirs.parameters()) - second_bias == layer
print("same number of parameters in nn.LSTM:", agrees)
vocabulary = 793_471
print(f"softmax over {vocabulary:,} words (used only in training): {vocabulary * size:,} weights")
ours = sum(p.numel() for p in elmo.parameters())
print(f"our ELMo, including the softmax: {ours:,}")

# %% [markdown]
# Nearly all of these parameters belong to the LSTMs and the highway layers, and almost none belong to the character vectors. The softmax has more parameters than all other parts together, but it is discarded after training. ELMo reads its input letter by letter, so only its *output* requires a list of words.
#
# With the original library, all these steps took a single call. AllenNLP (Gardner et al. 2018) is now archived, so we show the code without running it:
#
# ```python
# from allennlp.commands.elmo import ElmoEmbedder
# vectors = ElmoEmbedder().embed_sentence(["I", "ate", "an", "apple", "for", "breakfast"])
# vectors.shape        # (3, 6, 1024): layers, words, 2 · 512
# ```
#
# The result has three layers (L + 1), six words, and both directions concatenated. The words are passed as a *list*; a string would be split into
# characters.

# %% [markdown]
# > **Checking the literature.** *"ELMo concatenates the layers."* The two **directions** of a layer are concatenated (your `representations`); the
# > **layers** are added, with learned weights (your `scalar_mix`; Peters et al. 2018, equation 1). Concatenated layers would give (2L + 1) · 512 =
# > 2560 dimensions per word; ELMo's vectors have 1024. *"ELMo is a word-level model"* and *"ELMo is character-based"* are both half correct. ELMo *reads*
# > characters, so no word is unknown, but its LSTMs take one step and make one prediction **per word**. *"Layer norm before mixing"*: the paper
# > reports that it helped in some cases; in AllenNLP it is an option that is off by default (`do_layer_norm=False`).

# %% [markdown]
# ## Further: the architecture table
#
# We add two columns to the table of notebook 04 and measure them with the same functions. One column is for a single stack of ELMo, which is a recurrent language model, and the other is for the complete ELMo. The measurements are saved. Notebooks 06 and 07 add measurements of transformers, and notebook 12 shows the whole table.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from time import perf_counter

def milliseconds(run, repeats: int) -> float:
    """The time of the fastest of several runs."""
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
    """The influence of the first word on the last state after 64 words, divided by its influence after 2 words."""
    far, near = (influence(lambda x: model(x)[-1:], random_words(T, seed))[0, 0] for T in (64, 2))
    return (far / near).item()

from coursekit.architectures import keep_measured

def measured(name: str, model) -> dict[str, str]:
    """Context, reach and cost of a model that maps (T, D) to (T, K); saved for the table in notebook 12."""
    seen = influence(model, sentence_x)[3] > 0                                # influence on the word in the middle
    left = derivatives[name] = [first_word_left(model, seed) for seed in range(8)]
    noise = {T: random_words(T, 0) for T in (64, 4096)}
    with torch.no_grad():
        ms = {T: milliseconds(lambda T=T: model(noise[T]), repeats) for T, repeats in ((64, 5), (4096, 1))}
    keep_measured(name, "05", left, ms)
    return {
        "context of the middle word (of 7)": f"{int(seen[:3].sum())} words left, {int(seen[4:].sum())} right",
        "influence of the first word, 64 words / 2":
            f"{np.exp(np.log(left).mean()):.2g} (8 random texts: {min(left):.1g} to {max(left):.1g})",
        "ms at T = 64": f"{ms[64]:.2f}",
        "ms at T = 4096": f"{ms[4096]:.0f}",
    }

known = {
    "attention": ("none", "none"),
    "objective": ("next word", "next word and preceding word"),
    "generates text": ("yes, left to right", "only with a single stack"),
    "sequential steps": ("T", "T, both stacks in parallel"),
    "used for": ("generating text, scoring sentences", "vectors for the network of a task"),
}
print("This takes about ten seconds.")
models = {"one stack of ELMo (a recurrent LM)": forward_only, "ELMo": both_sides}
derivatives = {}
table = pd.DataFrame({name: measured(name, model) for name, model in models.items()})
for name, values in known.items():
    table.loc[name] = values
display(table)

# %% [markdown]
# The vectors of the complete ELMo depend on all words, at the cost of a second stack. The first word still has an influence after 64 words, because a trained LSTM preserves the information that it needs. (The size of this influence depends strongly on the words, as the range shows.) However, ELMo inherits the disadvantages of recurrence: T steps in sequence, and a state of fixed size for a text of any length.

# %% [markdown]
# ## Further: an ELMo for English
#
# So far we have used an ELMo for the generated language. The same architecture, with 256 dimensions in each direction, was also trained with one seed on real English: 82 novels from 1839 to 1927 ([model card](../../data/models/novels_elmo.md), [the books](../../data/novels/README.md)).
#
# The softmax of this model covers 16,384 words and treats all other words as a *single* word, [UNK]. Its perplexity can therefore not be compared with the perplexity of a model with another vocabulary. However, ELMo can *read* any word, letter by letter. Your functions run this model without changes.

# %% tags=["demo"]
YOUR_WORD = "spring"                                                        # change these
YOUR_SENTENCES = "In spring the orchards are white.", "We drank from a spring below the rocks."

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.novels.shipped import load_elmo as load_novels_elmo

print("This takes a few seconds.")
novels_elmo, novels_spelling = load_novels_elmo()
YOUR_SENTENCES = (YOUR_SENTENCES,) if isinstance(YOUR_SENTENCES, str) else YOUR_SENTENCES

@torch.no_grad()
def english_layers(rows: list[list[str]], model: ELMo) -> tuple[Float[Tensor, "L+1 B T 2*D"], Int[Tensor, "B"]]:
    """All representations of a batch of sentences, computed by your functions, and the sentence lengths, including [BOS] and [EOS]."""
    rows = [["[BOS]", *row, "[EOS]"] for row in rows]
    number_of = {word: number for number, word in enumerate(sorted({word for row in rows for word in row}))}
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor([number_of[word] for word in row]) for row in rows], batch_first=True)
    x, lengths = word_vectors(model, novels_spelling.of_words(list(number_of)))[ids], torch.tensor([len(row) for row in rows])
    states = two_stacks(x, lengths, layers_of(model.forward_stack), layers_of(model.backward_stack))
    return representations(x, *states), lengths

@torch.no_grad()
def away_from_the_model(rows: list[list[str]]) -> float:
    """The largest difference between your representations and the model's own, for sentences of different lengths."""
    yours, lengths = english_layers(rows, novels_elmo)
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    characters = torch.zeros(*real.shape, novels_spelling.LONGEST, dtype=torch.long)
    characters[real] = novels_spelling.of_words([word for row in rows for word in ("[BOS]", *row, "[EOS]")])
    return (yours - novels_elmo.encode(novels_elmo.token(characters), real))[:, real].abs().max().item()

english_away = away_from_the_model([novels_spelling.split(sentence) for sentence in ("The prisoner sat in a dark cell.", *YOUR_SENTENCES)])
print(f"{sum(weight.numel() for weight in novels_elmo.parameters()):,} parameters; "
      f"the results of your functions differ from the model's own by at most {english_away:.0e}")

# %% [markdown]
# By the chain rule, the entropy is the same in both directions (section 2), and the loss of the ELMo for the generated language comes close to the entropy in both directions. Does English behave in the same way?
#
# **Predict:** on novels by two authors who are not in the training data, in which direction is the perplexity of the English ELMo lower?

# %% tags=["demo"]
FROM_LEFT, FROM_RIGHT, LEVEL = (
    "from left to right",
    "from right to left",
    "no measurable difference",
)
predict("elmo.english_directions", ..., choices=(FROM_LEFT, FROM_RIGHT, LEVEL))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import re

from coursekit.novels.shipped import recorded as recorded_on_novels

card = recorded_on_novels("elmo")["nats per word"].map(lambda cell: [float(part) for part in re.findall(r"-?\d+\.\d+", cell)])
card_gap, card_low, card_high = card["ELMo, right to left minus left to right"]
card_with_ends = card["the same, each with the end it comes to"]
small = read_table("results/small_elmo.csv").query("steps > 0").pivot(index="seed", columns="measure", values="value")
small_forward, small_backward = small["held-out: next word, loss"], small["held-out: word before, loss"]
small_gap, small_half = mean_and_half((small_backward - small_forward).to_numpy())
small_best = small["held-out: next word, bound"].mean()

def line_of(forward: float | None, backward: float | None, difference: str) -> dict[str, str]:
    both = {FROM_LEFT: forward, FROM_RIGHT: backward}
    return {name: f"{np.exp(nats):.3g} ({nats:.3f} nats)" if nats else "" for name, nats in both.items()} | {"difference in nats": difference}

reveal("elmo.english_directions", LEVEL if card_low < 0 < card_high else FROM_RIGHT if card_gap < 0 else FROM_LEFT, because={
    FROM_LEFT: "English is written to be read from the left, but the entropy of a whole text is the same in both directions.",
    LEVEL: "The difference is small, but both directions were tested on the same sequences, and the interval of the difference does not contain 0.",
})
INTERVAL = "{:+.3f} ({:+.3f} to {:+.3f})"
directions_table = pd.DataFrame({
    "generated language, held out: entropy": line_of(small_best, small_best, "0, by the chain rule"),
    "generated language, held out: ELMo, three seeds": line_of(small_forward.mean(), small_backward.mean(), f"{small_gap:+.3f} ± {small_half:.3f}"),
    "English, two new authors: ELMo": line_of(
        *(card[f"ELMo, {name}"][0] for name in (FROM_LEFT, FROM_RIGHT)), INTERVAL.format(card_gap, card_low, card_high)),
    "English, two new authors: ELMo, with [EOS] or [BOS]": line_of(None, None, INTERVAL.format(*card_with_ends)),
    "English, two new authors: 5-grams (counts)": line_of(card["5-grams"][0], None, ""),
}).T.rename_axis("perplexity")
with pd.option_context("display.max_colwidth", None):
    display(directions_table)

# %% [markdown]
# The perplexity of the English ELMo is slightly lower from right to left, as in the paper. This does not violate the chain rule, which holds for whole sequences, with [EOS] for the forward model and [BOS] for the backward model. If these tokens are included, the difference nearly vanishes (six thousandths of a nat).
#
# ELMo predicts the next word better than a 5-gram model, which counts sequences of up to five words. (However, ELMo does not fill gaps better than the 5-gram model; see notebook 06.) The entropy of English is unknown, so we cannot say how close ELMo's loss is to it.

# %% [markdown]
# What are the nearest neighbours of *spring*? With a static embedding, its neighbours are the same in every sentence. For each layer and each of your two sentences, we list the nearest words with a different spelling and the nearest other occurrence of *spring*. All these neighbours come from sentences that were written for this course. Each sentence contains one of twelve ambiguous words that occur in the novels.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
TWELVE = ("bank", "court", "fair", "fast", "kind", "left", "light", "present", "rose", "sound", "spring", "state")
of_english = pd.concat([read_table("senses/senses.csv"), read_table("senses/novels.csv")])
of_english["row"] = of_english.sentence.map(novels_spelling.split)
of_english["at"] = [len(novels_spelling.split(line.sentence[: line.start])) for line in of_english.itertuples()]
of_english = of_english.sort_values("row", key=lambda rows: rows.str.len(), ignore_index=True)        # batches of similar length
for_novels = of_english[of_english.word.isin(TWELVE)].reset_index(drop=True)

def of_each(rows: list[list[str]], model: ELMo):
    """The representations (L+1, T, 2D) of the words of each sentence, in batches of a hundred sentences."""
    for start in range(0, len(rows), 100):
        states, lengths = english_layers(rows[start : start + 100], model)
        yield from (states[:, i, 1 : length - 1] for i, length in enumerate(lengths.tolist()))

def nearest_words(word: str, target: Float[Tensor, "L+1 E"], pool: Float[Tensor, "L+1 N E"], spelt: list[str]) -> list[str]:
    """The four nearest words with a different spelling at each layer, with the cosine of their nearest occurrence."""
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
within = np.concatenate([np.arange(len(row)) for row in for_novels.row])                           # its position there

def in_your_sentence(word: str, sentence: str) -> dict[str, list[str]]:
    """The nearest words at each layer; prints the nearest occurrence of the same word. A missing word is reported without raising an error."""
    row, spelt = novels_spelling.split(sentence), novels_spelling.split(word)
    if len(spelt) != 1 or spelt[0] not in row:
        print(f"“{sentence}” does not contain the word “{word}”. ELMo reads: {' · '.join(row) or 'nothing'}.")
        return {}
    target, same = next(of_each([row], novels_elmo))[:, row.index(spelt[0])], np.flatnonzero(english_words == spelt[0])
    print(f"{sentence}   ({spelt[0]} occurs {len(same)} times in the course's sentences)")
    for layer in range(1, len(target)) if len(same) else ():
        cosines = torch.cosine_similarity(english_pool[layer, same], target[layer], dim=-1)
        nearest = same[int(cosines.argmax())]
        line = for_novels.iloc[sentence_of[nearest]]
        print(f"    layer {layer}, cosine {cosines.max():.2f}: {line.sentence}" + (f"  ({line.sense})" if within[nearest] == line["at"] else ""))
    return {sentence: nearest_words(spelt[0], target, english_pool, english_words)}

neighbours_of_spring = {}
for sentence_read in YOUR_SENTENCES:
    neighbours_of_spring |= in_your_sentence(YOUR_WORD, sentence_read)
with pd.option_context("display.max_colwidth", None):
    display(pd.DataFrame(neighbours_of_spring, index=[f"layer {layer}" for layer in range(len(english_pool))]).T)

# %% [markdown]
# At layers 1 and 2, the nearest *spring* has the correct sense: the season for the first sentence and the water for the second sentence. At layer 0 both sentences have the same list of similarly spelt words, whereas from layer 1 on each sentence has its own list. The letters still matter at the higher layers, since most of the words in these lists also end in *-ing*.

# %% [markdown]
# How well do the layers separate senses in English? For each test sentence we predict the sense of its ambiguous word from the nearest labelled
# sentence with the same word. For some words the senses are different parts of speech (*a rose*, *she rose*); for other words all senses are nouns.
#
# There are four baselines: a random choice, an untrained ELMo, a bag of words (the sum of the skip-gram vectors of all other words), and the skip-gram vectors of the two words on each side.
#
# **Predict:** what accuracy (0 to 1) does layer 2 reach where the senses are different parts of speech? A random choice is correct in about half of
# the sentences.

# %% tags=["demo"]
predict("elmo.english_senses", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap
from coursekit.novels.shipped import load_skipgram as load_novels_skipgram

print("This takes five to ten seconds.")
word_of, sense_of, tested = of_english.word.to_numpy(), of_english.sense.to_numpy(), (of_english.split == "test").to_numpy()
of_skip_gram = dict(zip(*load_novels_skipgram()))
nothing = torch.zeros(100)

def at_the_word(model: ELMo) -> Float[Tensor, "L+1 sentences 2*D"]:
    """The vector of the ambiguous word in each sentence, at every layer."""
    return torch.stack([states[:, at].clone() for states, at in zip(of_each(list(of_english.row), model), of_english["at"])], dim=1)

def around(row: list[str], at: int) -> list[Float[Tensor, "100"]]:
    """The skip-gram vectors of the two words before a position and the two after it."""
    beside = ["", "", *row, "", ""]
    return [of_skip_gram.get(word, nothing) for word in (*beside[at : at + 2], *beside[at + 3 : at + 5])]

def of_the_others(row: list[str], at: int) -> Float[Tensor, "100"]:
    """The sum of the skip-gram vectors of all other words."""
    return sum((of_skip_gram.get(word, nothing) for i, word in enumerate(row) if i != at), nothing)

torch.manual_seed(0)
untrained_at_word, english_at_word = at_the_word(ELMo(novels_elmo.config).eval()), at_the_word(novels_elmo)
english_vectors = {
    **{f"ELMo, layer {layer}": rows for layer, rows in enumerate(english_at_word)},
    "untrained ELMo, layer 2": untrained_at_word[2],
    "bag of words": torch.stack([of_the_others(*where) for where in zip(of_english.row, of_english["at"])]),
    "two words on either side": torch.stack([torch.cat(around(*where)) for where in zip(of_english.row, of_english["at"])]),
}

def senses_found(vectors_there: Float[Tensor, "N E"]) -> Float[np.ndarray, "N"]:
    """For each test sentence, whether the nearest labelled sentence with the same word has the same sense (nan for the others)."""
    unit, right = torch.nn.functional.normalize(vectors_there, dim=-1), np.full(len(vectors_there), np.nan)
    for word in np.unique(word_of):
        labelled, questions = (word_of == word) & ~tested, (word_of == word) & tested
        nearest = (unit[questions] @ unit[labelled].T).argmax(dim=1).numpy()
        right[questions] = sense_of[labelled][nearest] == sense_of[questions]
    return right

def over_words(right: Float[np.ndarray, "N"], questions: np.ndarray) -> tuple[float, float, float]:
    """The mean over sentences with its 95 % interval (bootstrap over words)."""
    by_word = pd.Series(right[questions]).groupby(word_of[questions]).agg(["sum", "count"]).to_numpy()
    return float(right[questions].mean()), *bootstrap(by_word, lambda some: some[:, 0].sum() / some[:, 1].sum())

same_part = (of_english.parts_of_speech == "same").to_numpy()
KINDS_OF_WORDS = {"all senses are nouns": tested & same_part & (word_of != "fast"), "different parts of speech": tested & ~same_part}
english_right = {reader: senses_found(vectors_there) for reader, vectors_there in english_vectors.items()}
english_shares = {kind: {reader: over_words(right, here) for reader, right in english_right.items()} for kind, here in KINDS_OF_WORDS.items()}
english_guesses = {kind: (1 / of_english[here].groupby("word").sense.transform("nunique")).mean() for kind, here in KINDS_OF_WORDS.items()}
reveal("elmo.english_senses", english_shares["different parts of speech"]["ELMo, layer 2"][0])
display(pd.DataFrame({
    f"{kind} ({len(np.unique(word_of[here]))} words, {here.sum()} sentences)": {
        "random choice": f"{english_guesses[kind]:.2f}",
        **{reader: "{:.2f} ({:.2f} to {:.2f})".format(*share) for reader, share in english_shares[kind].items()},
    }
    for kind, here in KINDS_OF_WORDS.items()
}).rename_axis("accuracy (95 % interval)"))

# %% [markdown]
# ELMo has learned to separate senses from the text of novels alone. Where the senses are different parts of speech, layer 2 is far better than a bag of words, an untrained network and layer 0. Where all senses are nouns, layer 2 is also better than these three, but by a smaller margin. There are too few sentences to determine whether layer 1 or layer 2 is better. The four nearest words (two on each side) are a strong baseline, and layer 2 is not clearly better. Much of the information about a sense is close to the word.

# %% [markdown]
# ## Extensions
#
# Both extensions earn extra credit.
#
# **How a task uses ELMo.** The network of a task uses ELMo twice: ELMo's vectors are concatenated with the task's own word vectors x at the input, and with the states of the network at the output. The input and the output have separate mixes, and dropout is applied to both mixes. The biLM is frozen. (Peters et al. also add a penalty λ‖w‖² to the loss. In section 6, `learn` applies this penalty to s; a large λ makes the weights uniform.)

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_rnn(case: dict) -> Callable[[Tensor], Tensor]:
    """The network of a task, for the check: one simple recurrent layer."""
    def rnn(x: Float[Tensor, "B T I"]) -> Float[Tensor, "B T H"]:
        h, states = torch.zeros(len(x), case["W_h"].shape[0]), []
        for t in range(x.shape[1]):
            h = torch.tanh(x[:, t] @ case["W_x"] + h @ case["W_h"])
            states.append(h)
        return torch.stack(states, dim=1)

    return rnn


def output_and_gradients(use, case: dict) -> dict[str, Tensor]:
    """The output of `use`, and the gradients of its sum of squares with respect to the inputs."""
    given = {name: case[name].clone().requires_grad_() for name in ("x", "R", "s", "gamma")}
    output = use(*given.values(), toy_rnn(case), case["draws"], case["p"])
    given["R"].requires_grad_()                                # R may also be frozen with requires_grad_(False)
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
    """The network of a task with ELMo at its input and at its output.
    (extension, ●●○, 10 minutes)

    The network reads [x; ELMo] and returns h; the result is [h; ELMo]. Row 0 of s, gamma and
    draws belongs to the input, and row 1 belongs to the output. Dropout sets an activation of
    a mix to 0 where its draw (uniform between 0 and 1) is below p, and divides all other
    activations by 1 − p. The biLM is frozen: no gradient reaches R, but x, s and gamma are
    trained.
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
# Does a task benefit from ELMo? We train a small LSTM on *twenty* labelled sentences to predict parts of speech. It reads its own word vectors x, either alone or together with the states of an untrained or a trained biLM.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")
torch.manual_seed(1)
untrained = ELMo(elmo.config).eval()

def tagging_accuracy(model: ELMo | None, sentences, asked, seed: int, steps: int = 80) -> float:
    """The accuracy of a small network for parts of speech, trained on `sentences`."""
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
# With ELMo, the accuracy is much higher. Twenty sentences contain few of the words in the test. For all other words, the task's own vectors are untrained, whereas the biLM has seen these words in unlabelled text. This is the purpose of pre-training.
#
# ELMo also helps if there are more labels (recorded with `python -m experiments elmo_use`). With 1,500 labelled sentences, ELMo raises the accuracy of an LSTM on senses from 0.68 to 0.93. It helps in every task of section 6, with 50 sentences as well as with 1,500. Dropout on half of the activations of the mix helps in none of these tasks, and for senses it reduces the accuracy with either number of sentences.

# %% [markdown]
# **From one sentence to all layers.** Now you write a function for our ELMo that corresponds to the function of the original library. A `BiLM` contains the parts that this function needs.

# %%
@dataclass(frozen=True)
class BiLM:
    """A biLM: a function from words to characters, a function from characters to x, and the
    two stacks."""

    spell: Callable[[list[str]], Int[Tensor, "T C"]]
    token: Callable[[Int[Tensor, "B T C"]], Float[Tensor, "B T D"]]
    forward_layers: list[Layer]
    backward_layers: list[Layer]

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_bilm(case: dict) -> BiLM:
    """A biLM for the check, in which the vector of a word is the mean of its letters' vectors."""
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
    """The representations of every word of a sentence, at all layers.
    (extension, ●●○, 6 minutes)

    The biLM reads [BOS] before the words and [EOS] after them; the result contains only the
    words. Use your own functions.
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
print("layers, words, 2D:", tuple(embedded.shape), "  unknown words: jailers, moonlight")

# %% [markdown]
# **An ELMo from a tutorial.** Many texts introduce ELMo with a class like the following one. They present a cosine below 1 as evidence that its vectors depend on the context. *Find the three bugs.*

# %%
class TutorialELMo(torch.nn.Module):
    """Word vectors, two bidirectional layers and a learned mix, which do not make an ELMo."""

    def __init__(self, V: int, D: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(V, D)
        self.lstm = torch.nn.LSTM(
            D, D // 2, num_layers=2, bidirectional=True, batch_first=True
        )
        self.layer_weights, self.gamma = (
            torch.nn.Parameter(torch.ones(3)),
            torch.nn.Parameter(torch.ones(1)),
        )

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        x = self.embedding(ids)
        top, _ = self.lstm(x)
        mixed = sum(weight * layer for weight, layer in zip(self.layer_weights, [x, top]))
        return self.gamma * mixed

# %% [markdown]
# **Predict:** take two sentences with *bank*, one about a river and one about money. Before any training, how similar are the two vectors that this
# network assigns to *bank*?

# %% tags=["demo"]
EXACTLY_1, JUST_BELOW, NEAR_0 = (
    "cosine 1, because the network has learned nothing yet",
    "cosine just below 1",
    "cosine near 0",
)
predict("elmo.untrained_cosine", ..., choices=(EXACTLY_1, JUST_BELOW, NEAR_0))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
drawn = language.sample(8000, np.random.default_rng(5), "held_out")
here = np.flatnonzero(drawn.position >= 0)
here = here[drawn.ids[here, drawn.position[here]] == language.vocabulary.index("bank")]
ids, place, sense = torch.from_numpy(drawn.ids[here]), torch.from_numpy(drawn.position[here]), drawn.sense[here]
alike = sense[:, None] == sense[None, :]
others = ~np.eye(len(here), dtype=bool)

def two_cosines(vectors: Float[Tensor, "n D"]) -> tuple[float, float]:
    """The mean cosine of two occurrences of *bank* that share a sense, and of two occurrences that do not."""
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
    EXACTLY_1: "Random LSTMs also mix the neighbouring words into a state, so the two vectors differ.",
    JUST_BELOW: "The vector of the word itself is part of the sum, and random LSTMs add a small contribution of its neighbours.",
    NEAR_0: "Both sums contain the same row of the table, whose norm is much larger than the norm of the states of random LSTMs.",
})
tutorial(ids).square().sum().backward()
print("gradient of the layer weights:", ", ".join(f"{g:,.0f}" for g in tutorial.layer_weights.grad.tolist()))
display(pd.DataFrame(by_network, index=["same sense", "different senses"]).T.round(4))

# %% [markdown]
# *The third weight never receives a gradient.* `zip` stops at the end of the shorter list, and since `nn.LSTM` returns only its top layer, the first layer is missing from the mix. *The network leaks.* Its second layer reads both halves (section 3), so the network cannot be trained as two language models. *The demonstration is not evidence.* An untrained network would pass this test, although its cosines within a sense and between senses are almost the same. A valid demonstration would show a larger difference between the two columns than in an untrained network. The course's ELMo has such a difference, but it is small, because sentences differ in more than the sense of one word.

# %% [markdown]
# ## Summary
#
# - ELMo computes a word's vector from its characters, so no word is unknown.
# - Its two language models share x and the softmax. By the chain rule the entropy is the same in both directions.
# - Influence, the derivative of outputs with respect to inputs, shows which words a state depends on. A stacked bidirectional LSTM sees the word that it should predict.
# - A loss clearly below the entropy proves a leak, unless the model has memorised the data.
# - Directions are concatenated; layers are summed, with weights learned for each task.
# - Trained on novels, the upper layers separate English senses better than a bag of words.
#
# **Next**: notebook 06 uses both sides in *every* layer by masking the words to be predicted.

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
# Next: [06 · BERT](../06_bert/06_bert.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit import predictions

predictions()
