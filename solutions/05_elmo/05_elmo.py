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
# language models, one from left to right and one from right to left. The models' hidden states at a word depend on its context and together form its contextual embedding.
#
# **You need** notebook 04. **Time** about 80 minutes: seven exercises, one of which is a bug to find, and two written questions. *Further* sections and two extensions are optional.
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

from coursekit import check, hint, predict, predictions, reveal
from coursekit.toy_models import (
    output_and_gradients, parts_of, toy_bilm, toy_layers, toy_model
)

# %% tags=["demo", "record"]
from functools import partial

import numpy as np

from coursekit import (
    architectures, characters, elmo_training, reading_elmo, scoreboard, word_tasks
)
from coursekit.datasets import read_table
from coursekit.language import PAD, Language, load_language
from coursekit.pictures import (
    elmo as pictures, elmo_tables as tables, english_elmo as english, small_models
)
from coursekit.plots import show, use_style
from coursekit.reading_elmo import batch_vectors, stacks_of
from coursekit.small import ELMo, ELMoConfig, Spelling, load, recorded, recorded_senses

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

# %% tags=["demo"]
best = characters.plural_filter(elmo, language)
before_training = characters.untrained_plural_filters(elmo.config, language, seeds=range(6))
tables.plural_filters(best, before_training, language)

shown = ["cell", "cells", "guard", "guards", "thief", "thieves", "bus"]
pictures.filter_at_work(elmo, best, shown)

# %% [markdown]
# Of all trained filters, this one responds most reliably to the plural: it detects a final *s*. It represents letters rather than meanings, so *bus* activates it as well. Such a filter need not even be learned: in an untrained ELMo, the best of the 328 random filters also responds to the plural, and for one of six seeds it does so nearly as reliably.

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
    case["chars"], case["table"], *parts_of(case, highway)
), gradients=True)

# %% [markdown]
# `word_vectors(elmo, chars)` applies your function with the trained filters. The words in the left column below do not occur in the generated language, so an embedding table for this language would have no row for them. Which words of the language are nearest to these new words?

# %% tags=["demo", "record"]
word_vectors = reading_elmo.word_vectors_with(char_cnn, highway)

# %% tags=["demo"]
words = [word for word in language.vocabulary if not word.startswith("[")]
with torch.no_grad():
    vectors = word_vectors(elmo, spelling.of_words(words))
    difference = (vectors - elmo.token(spelling.of_words(words))).abs().max().item()
    unseen = ["jailers", "relocked", "oxygenate", "moonlight", "xqzt"]
    theirs = word_vectors(elmo, spelling.of_words(unseen))
    near = torch.cosine_similarity(theirs[:, None], vectors, dim=-1).topk(3)
tables.nearest_words(unseen, words, near)
tables.letters_shared(unseen, words, near.indices, difference)

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
backwards = reverse_padded(ids, lengths).tolist()
print(*(" ".join(language.vocabulary[i] for i in row) for row in backwards), sep="\n")

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
# Which direction is easier? For the generated language we know the exact probabilities and therefore also the **entropy**, which is the lowest cross-entropy that a model can reach. The difference between a model's cross-entropy and the entropy is the KL divergence (notebook 02).
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

# %% tags=["demo"]
pictures.surprises(language, sentence, gap)

# %% [markdown]
# The two models have high losses at different words. For the whole sentence, however, their losses must agree, because both models factorise the same probability by the chain rule, one from the left and one from the right:
#
# $$p(x_1 \dots x_T) = \prod_t p(x_t \mid x_1 \dots x_{t-1}) = \prod_t p(x_t \mid x_{t+1} \dots x_T) .$$
#
# (The forward model is given [BOS] and has to predict [EOS], whereas the backward model is given [EOS] and has to predict [BOS].) The entropy is therefore the same in both directions. The forward and the backward **perplexity** (the exponential of the mean loss in nats) can differ only if the models have not learned the language equally well. In the paper the two perplexities were approximately equal, and the backward perplexity was slightly lower.

# %% [markdown]
# ## 3 · Which words does a state depend on?
#
# Could we replace the two stacks with a single line of code, `nn.LSTM(D, D, num_layers=2, bidirectional=True)`? The forward half of its output would predict the next word, and the backward half would predict the preceding word. To find out which words an output depends on, we differentiate: if the input at word j changes slightly, how much does the output at word i change? In notebooks 02 and 03 the code for this measurement was given; now you write it yourself.

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
from_the_right = pictures.share_right(leaks["2 layers, forward half"])
reveal("elmo.leak", NOTHING if from_the_right < 1e-6 else A_TRACE if from_the_right < 0.1 else A_LOT, because={
    NOTHING: "This is true of the first layer. The forward half of the second layer reads both halves of the first layer, and one of these halves was computed from right to left.",
    A_TRACE: "Half of the second layer's input was computed from right to left, so the influence from the right is large.",
    A_LOT: "Half of the second layer's input was computed from right to left, but the other half was not.",
})
print(f"influence from the right: {from_the_right:.0%} of the total")

# %% tags=["demo"]
pictures.influences(leaks, sentence)

# %% [markdown]
# A single layer does not leak. With two layers, the forward half of each output depends on words to the right, including the very word that it is supposed to predict. In 2016 a pull request made a popular character model bidirectional. The perplexity was good but the generated text was poor, and the author withdrew the pull request, because the network had *seen* the characters that it was supposed to predict (char-rnn-tensorflow, pull request 64). The code below, which uses your `reverse_padded`, connects the layers in the same way as `nn.LSTM` and gives the same result. *Find the bug.*

# %%
Layer = Callable[[Float[Tensor, "B T D"]], Float[Tensor, "B T D"]]  # reads from left to right


def leaking_stack(x, lengths, forward_layers, backward_layers):
    for forward, backward in zip(forward_layers, backward_layers, strict=True):
        left = forward(x)
        right = reverse_padded(backward(reverse_padded(x, lengths)), lengths)
        x = torch.cat([left, right], dim=-1)
    return left, right

# %% [markdown]
# Now write the two stacks of ELMo. Remove the leak, and change the code above in two further respects: return the states of *all* layers, and from the second layer on add a **residual connection**, as in notebook 03.

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

# %% tags=["demo"]
mended = {
    name: influence(reading_elmo.top_states(two_stacks, elmo, direction), sentence_x)
    for direction, name in enumerate(("ELMo, forward stack", "ELMo, backward stack"))
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
# Training on the whole language takes many minutes. To finish within seconds, we use only the sentences about *bank* (topics river and money), whose entropy is also known. The model is built from your `char_cnn`, `two_stacks` and `bilm_loss`. After this training run we replace the second layers of the model with layers that read both halves, as in the leaking stack, and continue training for a smaller number of steps.

# %% tags=["demo"]
from coursekit.language.grammar import GRAMMAR

about_bank = Language.from_grammar(GRAMMAR.only("river", "money"))
bank_spelling = Spelling(about_bank.vocabulary)
print(
    f"{len(about_bank.vocabulary)} of {len(language.vocabulary):,} words; senses "
    f"{about_bank.senses}"
)

# %% tags=["demo"]
def honest(x: Float[Tensor, "B T D"], lengths: Int[Tensor, "B"], *layers: list[Layer]):
    """The top states of both directions."""
    forward, backward = two_stacks(x, lengths, *layers)
    return forward[-1], backward[-1]

def losses_of(model: ELMo, stacks, ids: Int[Tensor, "B T"], spelt: Spelling):
    """The losses of both directions; `stacks` is honest or leaking_stack."""
    x, lengths = batch_vectors(word_vectors, model, ids, spelt), (ids != PAD).sum(dim=1)
    states = stacks(x, lengths, *stacks_of(model))
    return bilm_loss(*map(model.softmax, states), ids)

# %% tags=["demo"]
print("This cell and the next take ten to thirty seconds together.")
torch.manual_seed(0)
live = ELMo(ELMoConfig(
    len(about_bank.vocabulary), bank_spelling.characters, filters=((1, 12), (2, 24), (3, 30))
))
curve = elmo_training.train(
    live, lambda ids: losses_of(live, honest, ids, bank_spelling), about_bank, steps=650
)

# %% tags=["demo"]
from copy import deepcopy

leaking = deepcopy(live)  # same word vectors, softmax and first layers
for stack in (leaking.forward_stack, leaking.backward_stack):
    # the second layer now reads both halves
    stack.layers[1] = torch.nn.LSTM(
        2 * leaking.config.dim, leaking.config.dim, batch_first=True
    )

leaky_curve = elmo_training.train(
    leaking, lambda ids: losses_of(leaking, leaking_stack, ids, bank_spelling),
    about_bank, steps=300,
)

# %% tags=["demo"]
fresh = about_bank.sample(500, np.random.default_rng(2), "train")
bank_bound = about_bank.log_loss_next(fresh.ids).sum() / (fresh.lengths - 1).sum()
pictures.training({
    "forward": curve[:, 0],
    "backward": curve[:, 1],
    "forward, with leaking second layers": leaky_curve[:, 0],
}, bank_bound)

# %% [markdown]
# Without a leak, both losses approach the entropy. The loss of the leaking model falls clearly below the entropy, although its second layers started from random weights. Every batch is newly sampled, so the model cannot have memorised it. **A loss clearly below the entropy on data that the model has not memorised proves a leak**, because no model that sees only the left side can reach such a loss. For real text the entropy is unknown, and such a curve would look like a success. Even there, however, the influence would reveal the leak.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
held_out = language.sample(1500, np.random.default_rng(3), "held_out")
bound = language.log_loss_next(held_out.ids).sum() / (held_out.lengths - 1).sum()
with torch.no_grad():
    live_nats, elmo_nats = (
        tuple(loss.item() for loss in losses_of(model, honest, torch.from_numpy(ids), spelt))
        for model, ids, spelt in (
            (live, fresh.ids, bank_spelling), (elmo, held_out.ids, spelling)
        )
    )
tables.perplexities({
    "short run (sentences about bank)": (*live_nats, bank_bound),
    "checkpoint (whole language, held out)": (*elmo_nats, bound),
})

# %% [markdown]
# The two perplexities of the checkpoint agree, as the chain rule leads us to expect. Those of the short run may still differ, because the model was not trained for long enough. The
# checkpoint in `data/models/` was trained on the whole language (`python -m coursekit.pretrain --models elmo`, about 40 minutes on one core). The
# figure shows how close the loss comes to the entropy in several training runs with different seeds:

# %% tags=["demo"]
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

# %% tags=["demo", "record"]
reader = reading_elmo.Reader(spelling, word_vectors, two_stacks, representations)
layers, exam_vectors = reader.layers, reader.exam_vectors

# %% tags=["demo"]
vector = partial(reader.vector, elmo)  # the vectors of a word in a sentence, one per layer
prison = vector("the prisoner sat in a dark cell", "cell")
pairs = {
    "cell: prison and blood":
        ("other sense", vector("the red blood cell carries oxygen", "cell")),
    "cell: prison and phone": ("other sense", vector("plug in your cell phone", "cell")),
    "cell: prison twice":
        ("same sense", vector("the guard locked the thief in a cold cell", "cell")),
    "cell and canoe":
        ("other word", vector("the canoe drifted past the bank of the river", "canoe")),
}
pictures.similarities(prison, pairs)

# %% [markdown]
# At layer 0 all occurrences of *cell* have the same vector, so the cosine is 1, as for a static embedding. From layer 1 on, the vector is contextual, f(w, C): occurrences of *cell* with another sense become less similar, whereas those with the same sense stay similar. The pair with a different word serves as a baseline.

# %% [markdown]
# Next we evaluate the vectors of all ambiguous words on the course's test of word senses. In some questions of this test, a word to the left reveals the sense; in others only a word to the *right* does. In the remaining questions, whose sentences have one or two clauses, only the *order* of the words reveals the sense.
#
# **Predict:** what accuracy does layer 0 reach where the only cue is on the right (0 to 1)? Each word has two or three senses.

# %% tags=["demo"]
predict("elmo.layer_0", ...)

# %% tags=["demo"]
from coursekit.exam import nearest_hits, nearest_sense, sense_exam

print("This takes five to ten seconds.")
exam = sense_exam()
known, asked = exam_vectors(elmo, exam.labelled), exam_vectors(elmo, exam.held_out)
accuracy = [nearest_sense(exam, *layer) for layer in zip(known, asked)]
reveal("elmo.layer_0", accuracy[0].right)
show(*small_models.senses("elmo"))

# %% [markdown]
# Where word order determines the sense, the trained top layer identifies nearly all senses, with one clause as well as with two. The accuracy of a bag of words cannot exceed 0.5 on these questions (notebook 01), and the untrained stacks stay close to this value, even with the largest number of labelled sentences. Layer 0 is no better than predicting the most frequent sense, because it does not depend on the sentence. A model that reads only the left side cannot exceed the dashed line. Wherever this bound is below 1, both trained layers exceed it.
#
# However, no state of ELMo depends on both sides, because each stack is unidirectional. Are there questions that require both sides?

# %% tags=["demo"]
tables.sides_that_decide(exam)

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

    First normalise every vector over its E coordinates, as in layer norm (notebook 03) without
    gain and bias: subtract its mean and divide by the square root of (its variance + 1e-5);
    the variance is the mean of the E squared deviations. The weights are the softmax of s;
    s[0] belongs to layer 0. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    mean = R.mean(dim=-1, keepdim=True)
    variance = (R - mean).square().mean(dim=-1, keepdim=True)
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

# %% tags=["demo"]
print("This takes five to ten seconds.")
by_seed = [word_tasks.task_data(partial(layers, elmo), seed) for seed in range(5)]
weights = {
    task: np.array([
        word_tasks.learn(scalar_mix, *data[task], seed)[0]
        for seed, data in enumerate(by_seed)
    ])
    for task in word_tasks.TASKS
}
reveal("elmo.morphology", weights["morphology"][:, 0].mean())
pictures.layer_weights(weights)

# %% [markdown]
# For all five seeds, each task prefers a different layer. In *morphology*, layer 0, which encodes the characters, has the largest weight. In *sense*, the top layer has the largest weight by a wide margin. In *syntax*, the weight of layer 1 is slightly larger than the other weights.
#
# The paper reports a similar pattern: layer 1 was better for parts of speech (accuracy 97.3, compared with 96.8 for layer 2), and layer 2 was better for senses (F1 69.0, compared with 67.4 for layer 1).

# %% [markdown]
# With different penalties on s and different amounts of training, each task still prefers the same layer (`python -m experiments elmo_mix`), although the weights change in size. Layer 2 contains layer 1 through its residual connection. If we remove this contribution, the weight of layer 1 increases, but *sense* still prefers layer 2.
#
# Are the layers with large weights better than the others? The table shows the recorded accuracy (`python -m experiments elmo_layers`) of *each layer alone*
# and of the mix, over five seeds. There are two baselines: untrained biLMs and the most frequent label of the word (for a held-out verb, the most frequent label overall).

# %% tags=["demo"]
tables.accuracy_of_layers(read_table("results/elmo_layers.csv"), word_tasks.TASKS)

# %% [markdown]
# The layers with large weights are indeed better than the others. For senses, the accuracy of layer 2 is five percentage points higher than that of layer 1. For parts of speech, layers 1 and 2 are almost equally good, and their weights differ little as well. (In the paper layer 2 was *worse* for this task.) The letters of a new verb reveal its tense. Layer 0 is therefore as good as the layers above it, and its weight is the largest.

# %% [markdown]
# The comparison with untrained biLMs shows the effect of training. This effect is largest for senses, where training improves the best layer by 25 percentage points. In the paper the mix was better than any single layer, whereas in our experiment it is never clearly better than the best single layer.

# %% [markdown]
# **Question 2 · Frozen layers with learned weights.** The task networks that use ELMo learn a weight for each layer and leave the biLM frozen. Name one advantage that frozen layers with learned weights have over the top layer alone, and one advantage over training the whole biLM further on the task. What can only be achieved by further training? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "elmo-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Different tasks need different information, and the layers encode it to different degrees: inflection in layer 0, which is computed from the characters, and word senses in the higher layers. With learned weights, a task can select the information that it needs at the cost of only L + 2 parameters, whereas the top layer alone suits only some tasks. The vectors of a frozen biLM can be computed once and stored, one biLM serves all tasks, and a small data set cannot damage it (no forgetting). However, learned weights cannot add information that no layer encodes; for this, the biLM itself would have to change.
#
# *Marking: 1 point for layers that encode different information, so that the best combination depends on the task; 1 point for an advantage of freezing
# (cost, sharing, no forgetting) together with its limit.*

# %% [markdown]
# ## 7 · Scoreboard

# %% tags=["demo"]
found = recorded_senses("elmo", layer=2)
untrained_senses = recorded_senses("elmo", layer=2, trained=False)
scoreboard.add_row("ELMo, untrained", untrained_senses, note="baseline")
scoreboard.add_row(
    "ELMo, 2 layers", found, note="top layer",
    loss=recorded("elmo").loc["held-out: next word, loss", "mean"],
)
scoreboard.draw()
tables.compared_with_bag(found, bag=dict(scoreboard.readers_of_counts())["bag of words"])

# %% [markdown]
# Where word order determines the sense, ELMo is far better than every classifier based on counts. Its stacks read one word after another, and in each sentence one of the stacks reads the side that determines the sense. If the only cue is on the right, the gain is smaller, because half of the vector contains no information about the sense but has full weight in the comparison. On these sentences the translator of notebook 04 is still better, since both halves of its vectors depend on the cue. However, the translator needs pairs of a sentence and its translation, which people usually have to write, whereas ELMo was trained on text alone.

# %% [markdown]
# ## Further: the two halves of a vector
#
# What accuracy does each half of the top layer reach?
#
# **Predict:** consider sentences with two clauses in which word order determines the sense. On these sentences, the accuracy of the forward half is about four in five, and that of the backward half is about two in three. What accuracy do the concatenated halves reach (0 to 1)?

# %% tags=["demo"]
predict("elmo.both_halves", ...)

# %% tags=["demo"]
by_half = {
    name: nearest_sense(exam, known[-1][:, part], asked[-1][:, part])
    for name, part in reading_elmo.halves_of(elmo).items()
}
reveal("elmo.both_halves", by_half["both halves"].order2)
print(*(f"{name:<14} {of_half}" for name, of_half in by_half.items()), sep="\n")

# %% [markdown]
# Where word order determines the sense, the two halves together identify nearly all senses, far more than either half alone. Each half comes close to the upper bound for its side. For the forward half, this bound is the dashed line in the figure of section 5; for the backward half, it is the first row of the next figure.
#
# There is one exception: where the only cue is on the *right*, the backward half alone is better than both halves together. The forward half contains no information about these senses. However, it has the same weight in the cosine and increases the similarity to sentences with a similar beginning. A nearest-neighbour classifier cannot give the two halves different weights.

# %% [markdown]
# The next figure shows the recorded results for all seeds and for more classifiers (`python -m experiments elmo_halves`):

# %% tags=["demo"]
pictures.halves(read_table("results/elmo_halves.csv"), exam)

# %% [markdown]
# With the same vectors, a linear classifier finds nearly all senses, because it learns which half is more reliable. A nearest-neighbour classifier finds nearly all senses if it has four times as many labelled sentences. An accuracy therefore always characterises a vector *and* a classifier. The untrained stacks detect cues, since a random LSTM mixes neighbouring words into the state of a word, with an effect similar to counting. However, only *trained* stacks represent who did what to whom.
#
# Which sentences are nearest? The next cell shows a question whose only cue is on the right and which ELMo answers incorrectly. For each layer it prints the three nearest labelled sentences:

# %% tags=["demo"]
missed = (exam.held_out.cue == "right") & ~nearest_hits(exam, known[-1], asked[-1])
tables.nearest_sentences(exam, known, asked, question=int(missed.argmax()))

# %% [markdown]
# At layer 0 all occurrences of the word have the same vector. At the top layer the nearest occurrence has a different sense: its sentence begins like the question, with a word of the same kind at each position. The words after the ambiguous word determine its sense, but they have no more weight than the words before it.

# %% [markdown]
# ## Further: the size of the original
#
# In each direction ELMo has L = 2 LSTM layers of 4096 units, whose outputs are projected to 512 dimensions. (Both numbers are half as large as in Jozefowicz et al. 2016.) It has 2048 character filters of widths 1 to 7 and two highway layers. It was trained for 10 epochs on the One Billion Word Benchmark (Chelba et al.
# 2014) and reached a perplexity of 39.7, averaged over both directions.

# %% tags=["demo"]
units, size, characters, char_dim, vocabulary = 4096, 512, 262, 16, 793_471
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
tables.parameter_counts(parts, total, units, size, vocabulary, ours=elmo)

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
# We add two columns to the table of notebook 04 and measure them in the same way. One column is for a single stack of ELMo, which is a recurrent language model, and the other is for the complete ELMo. The measurements are saved. Notebooks 06 and 07 add measurements of transformers, and notebook 12 shows the whole table.

# %% tags=["demo"]
print("This takes about ten seconds.")
models = {
    "one stack of ELMo (a recurrent LM)": lambda x: elmo.forward_stack(x)[-1],
    "ELMo": lambda x: torch.cat(
        honest(x, torch.full((len(x),), x.shape[1]), *stacks_of(elmo)), dim=-1
    ),
}
columns = architectures.measured_columns(models, "05", sentence_x, vectors)
tables.architecture_columns(columns)

# %% [markdown]
# The vectors of the complete ELMo depend on all words, at the cost of a second stack. The first word still has an influence after 64 words, because a trained LSTM preserves the information that it needs. (The size of this influence depends strongly on the words, as the range shows.) It is the same in both columns, because at the last word only the forward stack has read the first word. However, ELMo inherits the disadvantages of recurrence: T sequential steps, and a state of fixed size for a text of any length.

# %% [markdown]
# ## Further: an ELMo for English
#
# So far we have used an ELMo for the generated language. The same architecture, with 256 dimensions in each direction, was also trained with one seed on real English: 82 novels from 1839 to 1927 ([model card](../../data/models/novels_elmo.md), [the books](../../data/novels/README.md)).
#
# The softmax of this model covers 16,384 words and treats all other words as a *single* word, [UNK]. Its perplexity can therefore not be compared with the perplexity of a model with another vocabulary. However, ELMo can *read* any word, letter by letter. Your functions run this model without changes.

# %% tags=["demo"]
YOUR_WORD = "spring"                                                        # change these
YOUR_SENTENCES = "In spring the orchards are white.", "We drank from a spring below the rocks."

# %% tags=["demo"]
from coursekit.novels import reading, shipped

print("This takes a few seconds.")
novels_elmo, novels_spelling = shipped.load_elmo()
english_reader = reader.with_spelling(novels_spelling)  # runs your functions
english_layers = partial(english_reader.sentences, novels_elmo)
english_away = english.your_functions(
    novels_elmo, novels_spelling, english_layers, YOUR_SENTENCES
)

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
reveal("elmo.english_directions", LEVEL if card_low < 0 < card_high else FROM_RIGHT if card_gap < 0 else FROM_LEFT, because={
    FROM_LEFT: "English is written to be read from the left, but the entropy of a whole text is the same in both directions.",
    LEVEL: "The difference is small, but both directions were tested on the same sequences, and the interval of the difference does not contain 0.",
})

# %% tags=["demo"]
english.directions(card, read_table("results/small_elmo.csv"))

# %% [markdown]
# The perplexity of the English ELMo is slightly lower from right to left, as in the paper. This does not violate the chain rule, which holds for whole sequences, with [EOS] for the forward model and [BOS] for the backward model. If these tokens are included, the difference nearly vanishes (six thousandths of a nat).
#
# ELMo predicts the next word better than a 5-gram model, which counts sequences of up to five words. (However, ELMo does not fill gaps better than the 5-gram model; see notebook 06.) The entropy of English is unknown, so we cannot say how close ELMo's loss is to it.

# %% [markdown]
# What are the nearest neighbours of *spring*? With a static embedding, its neighbours are the same in every sentence. For each layer and each of your two sentences, we list the nearest words with a different spelling and the nearest other occurrence of *spring*. All these neighbours come from sentences that were written for this course. Each sentence contains one of twelve ambiguous words that occur in the novels.

# %% tags=["demo"]
print("This takes a few seconds.")
of_english = reading.ambiguous_sentences()
english_pool = reading.occurrences(reading.in_the_novels(of_english), english_layers)
neighbours_of_spring = english.neighbours(
    YOUR_WORD, YOUR_SENTENCES, english_pool, english_layers
)

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

# %% tags=["demo"]
print("This takes five to ten seconds.")
english_vectors = reading.all_vectors(of_english, novels_elmo, english_reader.sentences)
english_shares = reading.accuracies(of_english, english_vectors)
reveal("elmo.english_senses", english_shares["different parts of speech"]["ELMo, layer 2"][0])
english.senses(of_english, english_shares)

# %% [markdown]
# Trained only on the text of novels, ELMo has learned to separate senses. Where the senses are different parts of speech, layer 2 is far better than a bag of words, an untrained network and layer 0. Where all senses are nouns, layer 2 is also better than these three, but by a smaller margin. There are too few sentences to determine whether layer 1 or layer 2 is better. The four nearest words (two on each side) are a strong baseline, and layer 2 is not clearly better. Much of the information about a sense is close to the word.

# %% [markdown]
# ## Extensions
#
# Both extensions earn extra credit.
#
# **How a task uses ELMo.** The network of a task uses ELMo twice: ELMo's vectors are concatenated with the task's own word vectors x at the input, and with the states of the network at the output. The input and the output have separate mixes, and dropout is applied to both mixes. The biLM is frozen. (Peters et al. also add a penalty λ‖w‖² to the loss. In section 6, `learn` applies this penalty to s; a large λ makes the weights uniform.)

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
from coursekit.intervals import mean_and_half

print("This takes five to ten seconds.")
torch.manual_seed(1)
untrained = ELMo(elmo.config).eval()

def states(model: ELMo | None, group) -> Float[Tensor, "L+1 B T E"]:
    """All layers of a biLM, or zeros without one."""
    ids = torch.from_numpy(group.ids)
    return torch.zeros(elmo.config.layers + 1, *ids.shape, 2 * elmo.config.dim) if model is None else layers(model, ids)

def tagging_accuracy(taught, asked, seed: int, steps: int = 80) -> float:
    """The accuracy of a small network for parts of speech on `asked`, after training on `taught`.

    Both are pairs: sentences, and their `states`.
    """
    torch.manual_seed(seed)
    D, E, H = 16, 2 * elmo.config.dim, 16
    own = torch.nn.Embedding(len(language.vocabulary), D)
    lstm = torch.nn.LSTM(D + E, H, batch_first=True, bidirectional=True)
    classify = torch.nn.Linear(2 * H + E, len(language.parts_of_speech))
    s = torch.zeros(2, elmo.config.layers + 1, requires_grad=True)
    gamma = torch.ones(2, requires_grad=True)
    weights = [*own.parameters(), *lstm.parameters(), *classify.parameters(), s, gamma]
    optimiser = torch.optim.Adam(weights, lr=0.02, fused=True)

    def logits(group, R: Tensor, rows: np.ndarray, p: float) -> tuple[Tensor, Tensor]:
        ids, R = torch.from_numpy(group.ids[rows]), R[:, rows]
        out = with_elmo(own(ids), R, s, gamma, lambda x: lstm(x)[0], torch.rand(2, *R.shape[1:]), p)
        tags = torch.from_numpy(group.parts_of_speech[rows])
        return classify(out[tags >= 0]), tags[tags >= 0]

    rng = np.random.default_rng(seed)
    for _ in range(steps):
        loss = cross_entropy(*logits(*taught, rng.integers(len(taught[0]), size=16), 0.5))
        optimiser.zero_grad()
        (loss + 1e-3 * s.square().sum()).backward()
        optimiser.step()
    with torch.no_grad():
        guesses, tags = logits(*asked, np.arange(len(asked[0])), 0.0)
    return (guesses.argmax(dim=-1) == tags).float().mean().item()

rng = np.random.default_rng(11)
tested = language.sample(300, rng, "held_out")
few = [language.sample(20, rng, "train") for _ in range(5)]
tagged = {}
for name, model in (("x alone", None), ("untrained biLM", untrained), ("ELMo", elmo)):
    test_set = tested, states(model, tested)
    tagged[name] = np.array([
        tagging_accuracy((rows, states(model, rows)), test_set, seed) for seed, rows in enumerate(few)
    ])
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
check("elmo.embed_sentence", lambda case: embed_sentence(
    case["words"], BiLM(*toy_bilm(case))
))

# %% tags=["demo"]
trained = BiLM(
    spelling.of_words,
    lambda chars: word_vectors(elmo, chars[0])[None],
    *stacks_of(elmo),
)
with torch.no_grad():
    embedded = embed_sentence("the jailers moonlight in a cell".split(), trained)
print("layers, words, 2D:", tuple(embedded.shape), "  unknown words: jailers, moonlight")

# %% [markdown]
# **An ELMo from a tutorial.** Many tutorials introduce ELMo with a class like the following one. They compare the vectors of one word in two sentences and present a cosine below 1 as evidence that the vectors depend on the context. *Find the three bugs.*

# %%
class TutorialELMo(torch.nn.Module):
    """Word vectors, two bidirectional layers and a learned mix, but not an ELMo."""

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
import pandas as pd
from IPython.display import display

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
    JUST_BELOW: "The vector of the word itself is part of the sum, and random LSTMs add only a small contribution from its neighbours.",
    NEAR_0: "Both sums contain the same row of the table, whose norm is much larger than the norm of the states of random LSTMs.",
})
tutorial(ids).square().sum().backward()
print("gradient of the layer weights:", ", ".join(f"{g:,.0f}" for g in tutorial.layer_weights.grad.tolist()))
display(pd.DataFrame(by_network, index=["same sense", "different senses"]).T.round(4))

# %% [markdown]
# *The third weight never receives a gradient.* `zip` stops at the end of the shorter list, and since `nn.LSTM` returns the states of its top layer only, the first layer is missing from the mix. *The network leaks.* Its second layer reads both halves (section 3), so the network cannot be trained as two language models. *The demonstration is not evidence.* An untrained network would pass this test, although its cosines within a sense and between senses are almost the same. A valid demonstration would show that the two columns differ more than in an untrained network. In the course's ELMo they do, but only slightly, because sentences differ in more than the sense of one word.

# %% [markdown]
# ## Summary
#
# - ELMo computes a word's vector from its characters, so no word is unknown.
# - Its two language models share x and the softmax. By the chain rule, both directions have the same entropy.
# - Influence, the derivative of outputs with respect to inputs, shows which words a state depends on. A stacked bidirectional LSTM sees the word that it is supposed to predict.
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

# %% tags=["demo"]
predictions()
