# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 · GPT
#
# A **decoder-only model** predicts the next word from the words before it, and nothing else. So it can write; and so it cannot know, at the word *cell*, what
# comes after. You build one from your own blocks, train it, let it write, and measure exactly what it cannot see. GPT-2's weights fit into it. Then we take
# one with 135 million parameters.
#
# **You need** notebooks 03 and 04; 06 for the comparison with BERT. **Time** about 75 minutes without what goes *further*: seven exercises and a
# question that a person reads; further ones are a bug to find, prompts with examples, in-context learning and beam search.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [06 · BERT](../06_bert/06_bert.ipynb) · next: [08 · Inside a pre-trained transformer](../08_inside/08_inside.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - write a GPT as modules, with a causal mask, tied tables and a key–value cache, and load GPT-2's weights into it;
# - train it with the shifted loss, and say how far it is from the best possible;
# - sample with temperature, top-k and top-p;
# - show what a decoder's vectors hold and what they cannot hold, beside BERT's.

# %%
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, reveal
from coursekit.growing import mine, run_cached

# %% [markdown]
# ## 1 · Looking back only
#
# In 02 every word attended to every word. A model that is to predict the next word must not see it: it has to be unidirectional, as the decoder of 04. There we hid the future with
# True and False. Vaswani et al. (2017, section 3.2.3) say in words that forbidden scores become −∞. Code often *adds* a
# matrix M to the scores:
#
# $$\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt d} + M\right)V, \qquad M_{ij} = \begin{cases}0 & j \le i\\ -\infty & j > i\end{cases}$$

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.pictures import gpt as pictures
from coursekit.plots import use_style

use_style()
pictures.mask_at_work("anna locked the cell".split())

# %% nbgrader={"grade": false, "grade_id": "gpt-causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(T: int) -> Float[Tensor, "T T"]:
    """What is added to the scores of a decoder with T positions.  (difficulty ●○○, 3 minutes)

    Row i is the position that looks, column j the position that is looked at: 0 where j ≤ i, −∞ where
    j > i. (The check adds your mask to scores and takes the softmax of each row.)
    """
    ### BEGIN SOLUTION
    return torch.full((T, T), -torch.inf).triu(1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-causal_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("gpt.causal_mask", lambda case: (case["scores"] + causal_mask(len(case["scores"]))).softmax(dim=-1))

# %% [markdown]
# What does the mask cost? The course has a small GPT, trained on our generated language, and beside it the small BERT of 06. The language
# knows three cells; these two sentences differ only to the *right* of the word.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from torch.nn.functional import cross_entropy

from coursekit.language import BOS, EOS, PAD, Language, load_language
from coursekit.small import GPT as CourseGPT
from coursekit.small import GPTConfig, load
from coursekit.small.bert import single

torch.set_num_threads(1)
torch.manual_seed(0)

language = load_language()
TWO_CELLS = [
    "anna remembered the last cell that the prisoner shared",
    "anna remembered the last cell that the biologist stained",
]
rows = torch.from_numpy(np.stack([language.encode(words) for words in TWO_CELLS]))
place = 1 + TWO_CELLS[0].split().index("cell")                      # [BOS] is position 0
gpt, bert = load("gpt"), load("bert")
print(*TWO_CELLS, sep="\n")

# %% [markdown]
# **Predict:** compare the vector of *cell* in the two sentences, after the last layer of GPT. The cell shows what you can choose from when you run it.

# %% tags=["demo"]
ONE_VECTOR, CLOSE, APART = "one and the same vector", "two vectors that are close: the words around *cell* differ", "two vectors far apart: there are two senses"
predict("gpt.two_cells", ..., choices=(ONE_VECTOR, CLOSE, APART))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def apart(vectors: Float[Tensor, "layers two D"]) -> list[float]:
    """For each layer, the length of the difference as a share of the first vector's length."""
    return ((vectors[:, 0] - vectors[:, 1]).norm(dim=-1) / vectors[:, 0].norm(dim=-1)).tolist()

with torch.no_grad():
    two_cells = {
        "small GPT": apart(gpt(rows).hidden[:, :, place]),
        "small BERT": apart(bert(single(rows)).hidden[:, :, place]),
    }
difference = two_cells["small GPT"][-1]
reveal("gpt.two_cells", ONE_VECTOR if difference < 1e-5 else CLOSE if difference < 0.1 else APART, because={
    CLOSE: "The words after *cell* differ. Those before it are the same five, and nothing else comes into a vector of GPT.",
    APART: "You have read on to where the sense is told. GPT's vector of *cell* is made of the words up to *cell*.",
})
for name, shares in two_cells.items():
    by_layer = "  ".join(f"{share:.1e}" for share in shares)
    print(f"{name:<11} difference by layer (0 is the input): {by_layer}")
posterior = language.sense_posterior(rows[:1].numpy(), np.array([place]), "left")[0]
print("best possible from the left:",
      {language.senses[i]: round(float(posterior[i]), 3) for i in posterior.nonzero()[0]})

# %% [markdown]
# The same vector in every layer: more layers do not help, since each one only sees what lies to the left, and to the left the sentences are equal. It is not a weakness of this
# model. From these five words nobody can know which cell it is: the exact posterior is a third each. BERT's two vectors differ from the first layer on.

# %% [markdown]
# ## 2 · A GPT of your own
#
# To write token 100 a GPT runs over 99 tokens, and for token 101 over 100, though none of the old vectors has changed: nobody
# looks to the right. So keep what later tokens will ask for: each layer's keys and values, the **key–value cache**. A new token alone goes through the layers; its query meets
# the old keys and its own.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.cache_at_work("anna locked the cell".split(), read=3)

# %% [markdown]
# Write the attention of 03 once more, with the causal mask inside and a memory of its own. With t tokens in memory and T new ones, the scores are a table of T rows and t + T columns.

# %% nbgrader={"grade": false, "grade_id": "gpt-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class CausalAttention(torch.nn.Module):
    """Multi-head attention to the left, which can remember keys and values.  (difficulty ●●●, 10 minutes)

    forward   x are the new tokens, (B, T, D); so is what comes back. The mask is your causal_mask; scores are
              divided by √d. `keep` is what Block hands over; it is not used. PyTorch's own
              `scaled_dot_product_attention` may be used.
    reset     reset(cached=True) begins a text: from now on the tokens of each call stand behind all that came
              since, see those, too, and are remembered. reset() forgets them; then each call is a text of
              its own again, and nothing is kept. Weights and biases alone are saved.
    """

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (torch.nn.Linear(dim, dim) for _ in range(4))
        self.reset()

    def reset(self, cached: bool = False) -> None:
        ### BEGIN SOLUTION
        self.cached, self.past = cached, None
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "B T D"], keep=None) -> Float[Tensor, "B T D"]:
        ### BEGIN SOLUTION
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)                    # B H T d
            for layer in (self.query, self.key, self.value)
        )
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past = k, v
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5                           # B H T t+T
        weights = (scores + causal_mask(k.shape[2])[-x.shape[1] :]).softmax(dim=-1)
        return self.output((weights @ v).transpose(1, 2).flatten(2))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.attention", lambda case: run_cached(CausalAttention, case, "x", "other"))

# %% [markdown]
# **The same in one line.** PyTorch's own attention has the causal mask as an option, and never builds the table of scores where it can avoid it.

# %% tags=["demo"]
from torch.nn.functional import scaled_dot_product_attention

some, x = CausalAttention(dim=32, heads=4), torch.randn(2, 6, 32)
q, k, v = (layer(x).unflatten(-1, (4, 8)).transpose(1, 2) for layer in (some.query, some.key, some.value))
theirs = some.output(scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
print(f"largest difference: {(some(x) - theirs).abs().max():.0e}")

# %% [markdown]
# Around it goes the Block of 03: yours, if it stands in `my_model.py`. Its attention is an attribute like any other, so yours can take its place.
#
# One more thing is shared. A decoder has two tables of V × D numbers: one gives a token its vector, the other, the weights of the softmax, gives a vector its logits. Row i of either belongs
# to token i. GPT makes one of them (Press and Wolf 2017): **tied weights**, as ELMo's two directions have them (05).

# %%
Block, training_step = mine("Block", "training_step")

# %% nbgrader={"grade": false, "grade_id": "gpt-gpt", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GPT(torch.nn.Module):
    """A decoder of blocks, as GPT-2 (Radford et al. 2019).  (difficulty ●●●, 10 minutes)

    parts     token and position, tables as nn.Embedding with `vocabulary` and `tokens` rows; layers, an
              nn.ModuleList of pre-norm Blocks, the `attention` of each a CausalAttention; norm, a LayerNorm
              behind the last layer. Block's default ε stays. Nothing else is saved: the logits are made with the table `token`.
    forward   the logits, (B, T, vocabulary), for ids (B, T). The first layer reads token + position.
    reset     as in CausalAttention, for all layers; positions then go on counting from call to call.
              Without a cache each call begins at position 0.
    """

    def __init__(
        self, vocabulary: int, tokens: int, dim: int, layers: int, heads: int, inner: int,
        activation: str = "gelu_tanh",
    ):
        super().__init__()
        ### BEGIN SOLUTION
        self.token = torch.nn.Embedding(vocabulary, dim)
        self.position = torch.nn.Embedding(tokens, dim)
        self.layers = torch.nn.ModuleList(
            Block(dim, heads, inner, norm_first=True, activation=activation) for _ in range(layers)
        )
        for layer in self.layers:
            layer.attention = CausalAttention(dim, heads)
        self.norm = torch.nn.LayerNorm(dim)
        self.reset()
        ### END SOLUTION

    def reset(self, cached: bool = False) -> None:
        ### BEGIN SOLUTION
        self.cached, self.read = cached, 0
        for layer in self.layers:
            layer.attention.reset(cached)
        ### END SOLUTION

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        ### BEGIN SOLUTION
        positions = torch.arange(self.read, self.read + ids.shape[1])
        if self.cached:
            self.read += ids.shape[1]
        x = self.token(ids) + self.position(positions)                                  # B T D
        for layer in self.layers:
            x = layer(x, None)
        return self.norm(x) @ self.token.weight.T
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-gpt-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("gpt.gpt", lambda case: run_cached(GPT, case, "ids", "other", gradient=case["gradient"]))

# %% [markdown]
# The course's small GPT has the same parts under the same names, with the exact GELU. So its trained weights go into yours. Fifty sentences are read three times: by the course's GPT, by
# yours at once, and by yours token by token.

# %% tags=["demo"]
sizes = dict(vocabulary=len(language.vocabulary), tokens=language.max_length, dim=64, layers=2, heads=4, inner=256)
own_gpt = GPT(**sizes, activation="gelu")
own_gpt.load_state_dict(gpt.state_dict())

sentences = torch.from_numpy(language.sample(50, np.random.default_rng(6)).ids)
with torch.no_grad():
    theirs, at_once = gpt(sentences).logits, own_gpt(sentences)
    own_gpt.reset(cached=True)
    in_pieces = torch.cat([own_gpt(token) for token in sentences.split(1, dim=1)], dim=1)
    own_gpt.reset()
own_error = ((at_once - theirs).abs().max() / theirs.abs().max()).item()
cache_error = ((in_pieces - at_once).abs().max() / at_once.abs().max()).item()
print(f"yours and the course's: {own_error:.0e} of the largest logit; with and without cache: {cache_error:.0e}")

# %% [markdown]
# The same logits. What is saved? Count how often a token goes through a layer, and measure the time on a longer decoder, untrained: for the cost its
# weights do not matter.
#
# **Predict:** how many times fewer passes of a token through the model does writing 128 tokens take with the cache?

# %% tags=["demo"]
predict("gpt.passes", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def cost_of_writing(T: int, cached: bool) -> tuple[int, float]:
    """Passes of a token through the model, and milliseconds, for writing T tokens."""
    model = GPT(vocabulary=100, tokens=T, dim=64, layers=4, heads=4, inner=256).eval()
    model.reset(cached)
    ids = new = torch.zeros(1, 1, dtype=torch.long)
    start, passes = perf_counter(), 0
    with torch.no_grad():
        for _ in range(T):
            read = new if cached else ids
            new = model(read)[:, -1:].argmax(dim=-1)
            passes, ids = passes + read.shape[1], torch.cat([ids, new], dim=1)
    return passes, 1000 * (perf_counter() - start)

lengths = [16, 32, 64, 128, 256]
costs = {
    T: {"without cache": cost_of_writing(T, False), "with cache": cost_of_writing(T, True)} for T in lengths
}
reveal("gpt.passes", costs[128]["without cache"][0] / costs[128]["with cache"][0])
pictures.cost(costs)

# %% [markdown]
# T(T + 1)/2 passes become T. The clock gains less in a model as small as this one, where each step pays a fixed price for being started (04); it gains more, the longer the text. The
# price is memory: keys and values of every layer for every token, which for long texts can fill more memory than the weights.

# %% [markdown]
# Your model owns its cache, and so it reads one text at a time. Published code for GPT-2 returns the cache and wants it back (`past_key_values`). So the model stays without a
# state: it can serve several texts in turn, go back to an earlier point, or write several continuations of one beginning. The arithmetic is the same.

# %% [markdown]
# ## 3 · One loss at every position
#
# The reward for not looking ahead: the model is autoregressive (04), and *every* position of a sentence is an exercise with a known answer, the next token. By the chain rule,
# $\log p(x) = \sum_t \log p(x_{t+1} \mid x_{\le t})$, so one pass gives the loss of the whole sentence. In 04 we moved the *input* to the right; here the model
# reads the sentence as it is, and the loss does the shifting.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.shift_at_work(["[BOS]", *"anna locked the cell".split(), "[EOS]", "[PAD]"])

# %% nbgrader={"grade": false, "grade_id": "gpt-shift_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_loss(logits: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"], pad: int) -> Float[Tensor, ""]:
    """Mean of −log p of the next token, in nats.  (difficulty ●●○, 6 minutes)

    logits[:, t] predict ids[:, t + 1]. Tokens that are pad are not predicted; every other token but the
    first of each row is, and all count the same. (pad is one id, any; it may stand anywhere, in front, too.)
    """
    ### BEGIN SOLUTION
    predicted, target = logits[:, :-1], ids[:, 1:]
    return torch.nn.functional.cross_entropy(predicted.flatten(0, 1), target.flatten(), ignore_index=pad)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-shift_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.shift_loss", lambda case: shift_loss(case["logits"], case["ids"], case["pad"]))

# %% [markdown]
# Now train your GPT, with your `training_step` of 03: it asks for targets, so here the batch does the shifting. So that something can be seen within seconds, the language is cut down to the five topics of *cell* and *bank*. It is a language of the same kind, and the best possible
# loss on its held-out sentences, and so the best perplexity (05), is known exactly.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language.grammar import GRAMMAR

FIVE = ("prison", "biology", "phone", "river", "money")
short = Language.from_grammar(GRAMMAR.only(*FIVE))
BATCH, STEPS = 32, 500
train_ids = torch.from_numpy(short.sample(BATCH * STEPS, np.random.default_rng(0), "train").ids)
test = short.sample(400, np.random.default_rng(1), "held_out")
test_ids = torch.from_numpy(test.ids)
bound = short.log_loss_next(test.ids).sum() / (test.lengths - 1).sum()
print(f"{len(short.vocabulary)} words; best possible on held-out sentences {bound:.3f} nats per token",
      f"(perplexity {np.exp(bound):.2f}); all words alike {np.log(len(short.vocabulary)):.3f}")

@torch.no_grad()
def held_out_loss(model) -> float:
    return shift_loss(model(test_ids), test_ids, PAD).item()

@torch.no_grad()
def one_sentence(model, seed: int = 0) -> str:
    """A sentence drawn from the model, with its cache."""
    generator, ids = torch.Generator().manual_seed(seed), [BOS]
    model.reset(cached=True)
    while ids[-1] != EOS and len(ids) < short.max_length:
        probabilities = model(torch.tensor([ids[-1:]]))[0, -1].softmax(dim=-1)
        ids.append(torch.multinomial(probabilities, 1, generator=generator).item())
    model.reset()
    return short.decode(ids)

def learning_rate(step: int, steps: int, highest: float = 8e-3) -> float:
    """Up in 30 steps, then down in a line."""
    return highest * min(1.0, (step + 1) / 30) * (1 - step / steps)

# %% tags=["demo"]
def train(labels_of, steps: int, show_at=()):
    """A new GPT after `steps` batches; its held-out loss now and then as [(step, nats)].

    labels_of(ids) are the ids, with −100 where nothing is to be learned.
    """
    torch.manual_seed(0)
    model, curve = GPT(len(short.vocabulary), short.max_length, dim=64, layers=2, heads=4, inner=256), []
    for table in (model.token, model.position):
        torch.nn.init.normal_(table.weight, std=0.05)               # small: no token is preferred at first
    optimiser = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.05)
    for step, ids in enumerate(train_ids.split(BATCH)[:steps]):
        if step in (0, 5, 10, 20) or step % 40 == 0:
            curve.append((step, held_out_loss(model)))
        if step in show_at:
            print(f"step {step:>3}, {curve[-1][1]:.3f} nats: {one_sentence(model)}")
        targets = labels_of(ids)[:, 1:]                              # the next tokens
        training_step(model, (ids[:, :-1], targets, targets != -100), optimiser, learning_rate(step, steps), 1.0)
    return model.eval(), [*curve, (steps, held_out_loss(model))]

print("This takes five to ten seconds.")
live, curve = train(lambda ids: ids.masked_fill(ids == PAD, -100), STEPS, show_at=(0, 20, 80, 200, 400))
print(f"step {STEPS}, {curve[-1][1]:.3f} nats: {one_sentence(live)}")
pictures.training(curve, bound, np.log(len(short.vocabulary)))

# %% [markdown]
# The loss falls fast while the model learns which words are frequent, then bends: what is left above the dashed line is what it does not know yet. What lies below the line no
# autoregressive model can have, however large. The sentences are drawn with the same random numbers each time.

# %% [markdown]
# ## Further: find the bug
#
# The model above ends its sentences. Many models that people fine-tuned in 2023 did not: they wrote on until they were cut off. GPT-2 and LLaMA
# come without a padding token, so tutorials said: use the end-of-text token. The collator of the library then made the labels like this
# (transformers, issue 23530; also trl, issue 976). A label of −100 is ignored by the loss.

# %%
def labels_of_2023(ids, end):                              # padded with `end`, as the tutorials said
    labels = ids.clone()
    labels[labels == end] = -100                           # padding is not to be learned
    return labels

# %% [markdown]
# Which tokens does a model trained on these labels never learn to predict? Write it as it should be, still without a padding token of its own.

# %% nbgrader={"grade": false, "grade_id": "gpt-mended_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_labels(ids: Int[Tensor, "B T"], end: int) -> Int[Tensor, "B T"]:
    """labels_of_2023 without its bug.  (difficulty ●●○, 6 minutes)

    Each row holds words, then one `end`, then more of it as padding; a row may also be cut off before its
    `end`. Labels are the ids, with −100 at padding alone. They are not shifted: the loss does that.
    """
    ### BEGIN SOLUTION
    return ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-mended_labels-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.mended_labels", lambda case: mended_labels(case["ids"], case["end"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")

def padded_with_end(labels_of):
    """Labels made from rows that are padded with [EOS]."""
    return lambda ids: labels_of(ids.masked_fill(ids == PAD, EOS), EOS)

@torch.no_grad()
def judged(model) -> dict[str, float]:
    """Nats per word, nats per [EOS], and the share of 200 sampled sentences that end within the longest length."""
    target, ids = test_ids[:, 1:], torch.full((200, 1), BOS)
    losses = cross_entropy(model(test_ids)[:, :-1].transpose(1, 2), target, reduction="none")
    generator = torch.Generator().manual_seed(0)
    for _ in range(short.max_length - 1):
        probabilities = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(probabilities, 1, generator=generator)], dim=1)
    return {
        "nats per word": losses[(target != PAD) & (target != EOS)].mean().item(),
        "nats per [EOS]": losses[target == EOS].mean().item(),
        "sentences that end": (ids == EOS).any(dim=1).float().mean().item(),
    }

endings = {
    name: judged(train(padded_with_end(labels_of), 250)[0])
    for name, labels_of in {"labels of 2023": labels_of_2023, "mended": mended_labels}.items()
}
display(pd.DataFrame(endings).T.round(2))

# %% [markdown]
# On the words both models are alike, and the training loss of either looks healthy. That of 2023 is even no warning when it stands beside the other: a mean over other tokens is another
# number, and it does not count what was left out. The `end`
# was hidden from the one lesson it was needed for. Test a model by what it does: let it write.

# %% [markdown]
# ## 4 · What GPT cannot see
#
# The checkpoint in `data/models/` was trained on the whole language for some minutes (`python -m coursekit.pretrain --models gpt`). It takes the exam of the
# course: the sense of an ambiguous word from its vector, by its nearest labelled neighbour. What can a decoder know there? All, if the cue stands on the
# left; nothing, if it stands only on the right. And where order decides, it depends on whether we hear who acts before the word comes or after it:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import QUESTIONS, ambiguous_words, bounds, by_question, nearest_hits, sense_exam

WHO_ACTS = [
    "the prisoner that the biologist visited checked the cell",
    "the cell that the prisoner checked surprised the biologist",
]
exam, limits = sense_exam(), bounds()

for sentence in WHO_ACTS:
    at_cell = np.array([1 + sentence.split().index("cell")])
    posterior = language.sense_posterior(language.encode(sentence)[None], at_cell, "left")[0]
    print(sentence, {language.senses[i]: round(float(posterior[i]), 3) for i in posterior.nonzero()[0]})

asked = exam.held_out
best_guess = language.sense_posterior(asked.ids, asked.position, "left").max(axis=1)
told = best_guess > 0.999                                    # the words before tell the sense
shares_told = by_question(exam, told)
print("told by the words before, share of questions:", shares_told)

# %% [markdown]
# **Predict:** GPT's share of right senses when the cue stands only on the right.

# %% tags=["demo"]
predict("gpt.right_only", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.pictures import exam as exam_pictures
from coursekit.plots import BLUE, GREY, PINK, show
from coursekit.small import recorded_senses
from coursekit.small.figures import MORE_LABELS, sense_vectors

print("This takes a few seconds.")
labelled_vectors, asked_vectors = (sense_vectors(gpt, part)[-1] for part in (exam.labelled, asked))
hits = nearest_hits(exam, labelled_vectors, asked_vectors)
live_senses = by_question(exam, hits)
reveal("gpt.right_only", live_senses.right)

few_labels, many_labels = MORE_LABELS
seeds = {
    "GPT, untrained": recorded_senses("gpt", 2, trained=False),
    f"GPT, {few_labels:,} labelled": recorded_senses("gpt", 2, few_labels),
    "GPT": recorded_senses("gpt", 2),
    f"GPT, {many_labels:,} labelled": recorded_senses("gpt", 2, many_labels),
    "BERT": recorded_senses("bert", 2),
}
colours = (GREY, BLUE, BLUE, BLUE, PINK)
show(*exam_pictures.rows([
    exam_pictures.Reader(name, exam_pictures.over_seeds(runs), colour)
    for (name, runs), colour in zip(seeds.items(), colours)
]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import mean_and_half, wilson

def in_seeds(name: str, kind: str) -> str:
    """The mean over seeds and its interval."""
    mean, half = mean_and_half([run[kind] for run in seeds[name]])
    return f"{mean:.3f} ± {half:.3f}"

before = limits.words_before
display(Markdown(
    f"Over {len(seeds['GPT'])} seeds GPT finds **{in_seeds('GPT', 'order1')}** of the senses where order "
    f"decides in one clause and **{in_seeds('GPT', 'order2')}** in two; the words before allow "
    f"{before.order1:.3f} and {before.order2:.3f}. BERT, which reads both sides, has "
    f"{in_seeds('BERT', 'order1')} and {in_seeds('BERT', 'order2')}."
))

# %% [markdown]
# Even untrained it finds most senses whose cue stands on the left: its random attention makes a bag of the words before. Trained, GPT stands at the dashed line, its own bound, or a few points below it, in each of the four panels. With a quarter
# of the labels or four times as many it hardly moves. Where the dashed line lies left of the green one, nothing was learned badly: the word's vector is made before the rest is read. And where order decides, it stands to the right of
# one half, which is the best possible for anyone who does not know the order.

# %% [markdown]
# **Question 1.** In a decoder the last word's vector has seen the whole sentence. Why does that help little if we want the vector of *cell* in the middle? Name two
# ways to get the right context into a decoder's answer about a word after all. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "gpt-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The vector at *cell* is computed before anything to its right has been read, and it is not changed afterwards. The last word's vector may use the whole sentence, but it is
# trained to predict what comes next, and nothing makes it hold the sense of one word in the middle. One way is to ask: put the question behind the sentence ("… In this sentence,
# cell means"), so that the words to the right become words to the left of the answer. Another is to write the sentence twice and take the vector from the second copy, which has seen the
# whole first one; or a second model that reads from right to left, as ELMo has.
#
# *Marking: 1 point for the vector being fixed before the right context is read (and the last vector serving another purpose); 1 point for two working
# ways: question or sentence repeated after the text, a backward model, fine-tuning with a head on the last token, …*

# %% [markdown]
# ## Further: told and not told
#
# Split the questions of part 4 to our own GPT by what the words before tell. And is it the nearest neighbour that is good, or the vectors? Read them in another way, too: with a straight line for each
# word (logistic regression).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

def straight_lines() -> np.ndarray:
    """Which senses logistic regression finds in the vectors; it is fitted to each word alone."""
    labelled_words, asked_words = ambiguous_words(exam.labelled), ambiguous_words(asked)
    right = np.zeros(len(asked), dtype=bool)
    for word in np.unique(asked_words):
        labelled, here = labelled_words == word, asked_words == word
        probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
        probe.fit(labelled_vectors[labelled].numpy(), exam.labelled.sense[labelled])
        right[here] = probe.predict(asked_vectors[here].numpy()) == asked.sense[here]
    return right

readers = {"nearest neighbour": hits, "straight line": straight_lines()}
parts = {
    f"{text}, {'told' if half else 'not told'}": (asked.cue == kind) & (told == half)
    for kind, text in QUESTIONS.items() for half in (True, False)
}
display(pd.DataFrame({
    name: {"questions": f"{part.sum():,}"} | {
        reader: f"{right[part].mean():.3f}" for reader, right in readers.items()
    }
    for name, part in parts.items() if part.any()
}).T)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
share_not_told, guess = hits[~told].mean(), best_guess[~told].mean()
not_told_low, not_told_high = wilson(share_not_told, (~told).sum())
display(Markdown(
    f"Told, GPT's nearest neighbour is right in **{hits[told].mean():.1%}**. Not told, in "
    f"**{share_not_told:.1%}** ({not_told_low:.1%} to {not_told_high:.1%}); a guess is right in {guess:.1%}."
))

# %% [markdown]
# **The interval of a share.** Usually one writes share ± 1.96 √(p(1 − p)/n). Where all answers are right this has no width at all, and near 0 and 1 it holds the truth far too seldom. Wilson (1927) asks instead which true shares
# would make the share that was found no surprise; so his interval stays between 0 and 1. With twenty answers (part 8 asks not many more):

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.pictures import statistics

statistics.of_a_share(20, share_not_told)

# %% [markdown]
# What it is told it knows, with either reader; on the rest it is as good as a guess, no better *and no worse*. Worse would be possible. Held-out sentences are new combinations of
# words. Suppose each sense had a split of its own. A beginning that training has with one sense would be held out with another, and a model that has learned the training sentences
# well would predict against the truth. Here the senses of a word are split alike (`coursekit/language/model.py`). If a model scores below chance on held-out data, look at the split
# first.

# %% [markdown]
# ## 5 · Choosing a word
#
# The model gives a distribution; to write, something has to choose. Always the most probable word, and it writes one sentence for ever. Drawing from the distribution is honest,
# but a long tail of small mistakes gets its turn. Two simple knobs: divide the logits by a **temperature** (below 1: sharper; above 1: flatter), and keep only the k best
# tokens (**top-k**; Fan et al. 2018). For the draw, lay the probabilities side by side on a line from 0 to 1 and see on whose piece a random point falls.

# %% nbgrader={"grade": false, "grade_id": "gpt-sample", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sample(
    logits: Float[Tensor, "B V"], draws: Float[Tensor, "B"], temperature: float, k: int
) -> tuple[Float[Tensor, "B V"], Int[Tensor, "B"]]:
    """Probabilities, and one token for each row, as a tuple.  (difficulty ●●○, 9 minutes)

    Only the k largest logits of a row keep a probability; the softmax of what is kept, divided by the
    temperature, gives the probabilities. draws are uniform in [0, 1). The token is the first one, in the
    order of the vocabulary, up to which the probabilities add up to more than the draw. 1 ≤ k ≤ V; a
    logit may be −∞.
    """
    ### BEGIN SOLUTION
    kept = logits.masked_fill(logits < logits.topk(k).values[:, -1:], -torch.inf)
    probabilities = (kept / temperature).softmax(dim=-1)
    return probabilities, (probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-sample-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.sample", lambda case: sample(case["logits"], case["draws"], case["temperature"], case["k"]))

# %% [markdown]
# A fixed k is too many where one word is sure, and too few where a hundred are possible. Holtzman et al. (2020) keep the smallest set of most probable tokens that has *at
# least* the probability p together: **top-p**, or nucleus sampling.

# %% nbgrader={"grade": false, "grade_id": "gpt-top_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_p(probabilities: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """The probabilities of the nucleus, 0 elsewhere; rows add up to 1.  (difficulty ●●●, 9 minutes)

    The nucleus of a row is the smallest set of its most probable tokens whose sum is at least p. The token
    that crosses p belongs to it, so there is always one. 0 < p < 1.
    """
    ### BEGIN SOLUTION
    ordered, tokens = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered.masked_fill(before >= p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, tokens, kept)
    return kept / kept.sum(dim=-1, keepdim=True)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-top_p-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.top_p", lambda case: top_p(case["probabilities"], case["p"]))

# %% [markdown]
# What the three do to one distribution: the word after "the guard locked the". The true distribution of the language is known, so we can see what is signal and
# what is tail.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
BEGINNING = "the guard locked the"
with torch.no_grad():
    logits = own_gpt(torch.from_numpy(language.encode(BEGINNING, pad=False)[None, :-1]))[:, -1]
V, no_draw = logits.shape[1], torch.zeros(1)
choices = {
    "as it is": sample(logits, no_draw, 1.0, V)[0],
    "temperature 0.5": sample(logits, no_draw, 0.5, V)[0],
    "temperature 2": sample(logits, no_draw, 2.0, V)[0],
    "top-k, k = 3": sample(logits, no_draw, 1.0, 3)[0],
    "top-p, p = 0.9": top_p(logits.softmax(dim=-1), 0.9),
}
exact = torch.from_numpy(language.next_word_after(BEGINNING))
pictures.choices(choices, exact, language.vocabulary)

# %% [markdown]
# Turn both knobs, first the temperature, then top-p on what it gives (this needs a running notebook; nothing is graded here). Below temperature 1, how far may p rise before
# impossible words come in?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import ipywidgets

from coursekit.sliders import interact

locked_the, after_locked_the = choices["as it is"], exact

def show_choice(temperature: float, p: float) -> None:
    """The distribution of the model, and what the two knobs leave of it."""
    turned = sample(locked_the.log(), no_draw, temperature, V)[0]
    turned = top_p(turned, p) if p < 1 else turned
    both = {"as it is": locked_the, f"temperature {temperature:.1f}, top-p {p:.2f}": turned}
    pictures.choices(both, after_locked_the, language.vocabulary)

interact(show_choice, temperature=ipywidgets.FloatSlider(1, min=0.1, max=3, style={"description_width": "initial"}),
         p=ipywidgets.FloatSlider(0.9, min=0.05, max=1, step=0.05))

# %% [markdown]
# Do the knobs make better sentences? Here "better" has a number: the share of sampled sentences that the language can produce at all. And it has a price:
# how many different words they use.
#
# **Predict:** sentences drawn at temperature 1: which share can the language produce?

# %% tags=["demo"]
predict("gpt.possible", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes ten to fifteen seconds.")

@torch.no_grad()
def write(
    model, n: int, temperature: float = 1.0, k: int = 0, p: float = 1.0, seed: int = 0
) -> Int[Tensor, "n T"]:
    """n sentences with your sample, top_p and cache, [PAD] behind [EOS]."""
    generator, ids = torch.Generator().manual_seed(seed), torch.full((n, 1), BOS)
    ended = torch.zeros(n, dtype=torch.bool)
    model.reset(cached=True)
    for _ in range(language.max_length - 1):
        logits = model(ids[:, -1:])[:, -1]
        if p < 1:
            logits = top_p((logits / temperature).softmax(dim=-1), p).log() * temperature
        draws = torch.rand(n, generator=generator)
        tokens = sample(logits, draws, temperature, k or logits.shape[1])[1]
        tokens = torch.where(ended, PAD, tokens)
        ids, ended = torch.cat([ids, tokens[:, None]], dim=1), ended | (tokens == EOS)
    model.reset()
    return ids

def possible_and_varied(ids: Int[Tensor, "n T"]) -> tuple[float, int]:
    """Share of sentences that the language can produce, and how many different words are used."""
    return can_be(ids).mean(), len(ids.unique())

def can_be(ids: Int[Tensor, "n T"]) -> np.ndarray:
    """Which sentences have a probability above 0 in the language."""
    return np.isfinite(language.log_probability(ids.numpy())) & (ids == EOS).any(dim=1).numpy()

knobs = {f"{t:g}": {"temperature": t} for t in (0.2, 0.5, 0.8, 1.0, 1.3)} | {
    "top-k 10": {"k": 10}, "top-k 40": {"k": 40}, "top-p 0.9": {"p": 0.9}, "top-p 0.95": {"p": 0.95},
}
DRAWS = range(4)
drawn = {name: np.array([possible_and_varied(write(own_gpt, 250, seed=seed, **knob)) for seed in DRAWS])
         for name, knob in knobs.items()}
written = {name: tuple(runs.mean(axis=0)) for name, runs in drawn.items()}
from_language = tuple(np.mean([
    possible_and_varied(torch.from_numpy(language.sample(250, np.random.default_rng(5 + seed)).ids)) for seed in DRAWS
], axis=0))
reveal("gpt.possible", written["1"][0])
pictures.knobs(written, from_language)

def above_the_line(name: str) -> np.ndarray:
    """For each draw: how many words more than the temperature has that makes as many sentences possible."""
    line = np.array([drawn[f"{t:g}"] for t in (0.2, 0.5, 0.8, 1.0, 1.3)])          # temperature draw 2
    return np.array([words - np.interp(-share, -line[:, draw, 0], line[:, draw, 1])
                     for draw, (share, words) in enumerate(drawn[name])])

above = {name: mean_and_half(above_the_line(name)) for name in knobs if name.startswith("top")}
print("words beside the line of the temperatures (four draws of 250 sentences):")
for name, (mean, half) in above.items():
    print(f"{name:<10} {mean:+.0f} ± {half:.0f}")

# %% [markdown]
# At temperature 1 the model uses about as many words as the language does, and some of its sentences are impossible: one draw from the tail spoils a whole sentence. Sharper choices
# repair that, and pay in variety. In this picture up and to the right is better. A k of 10 lies below the line of the temperatures: it cuts even where many words
# are right. (For 40 its interval reaches about to the line.) Top-p lies above: it takes the tail away and leaves the rest as the model has it. Holtzman et al. claim that for long English texts and large models; here it holds for sentences of ten words, too.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("✗: not a sentence of the language")
for temperature in (0.2, 1.0, 1.6):
    print(f"temperature {temperature:g}:")
    few_written = write(own_gpt, 4, temperature, seed=3)
    for ids, fine in zip(few_written, can_be(few_written)):
        print("   ", " " if fine else "✗", language.decode(ids.tolist()))

# %% [markdown]
# ## 6 · GPT-2's weights in your GPT
#
# Your GPT is GPT-2's, up to size and dropout: pre-norm, a norm more at the end, GELU by its formula with tanh, learned positions, one table. (In the GPT of 2018 the norm stood behind the
# sums; Radford et al. 2018.) So weights made for transformers' `GPT2LMHeadModel` should give the same logits in yours, if each finds its place. No GPT-2 is packaged with the course. A tiny one with random weights is as good a test, since nothing can come out right
# by chance.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from transformers import GPT2Config, GPT2LMHeadModel

tiny = GPT2Config(vocab_size=100, n_positions=40, n_embd=32, n_layer=3, n_head=4, bos_token_id=1, eos_token_id=2)
torch.manual_seed(2)
random_gpt2 = GPT2LMHeadModel(tiny).eval()
with torch.no_grad():
    for weight in random_gpt2.parameters():
        weight.add_(0.2 * torch.randn_like(weight))                 # biases start at 0, norms at 1: not here
own_tiny = GPT(vocabulary=100, tokens=40, dim=32, layers=3, heads=4, inner=128).eval()

def names_and_shapes(model) -> list[str]:
    """Of all weights outside the layers and in layer 0."""
    weights = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    return [f"{name} {shape}" for name, shape in weights.items() if ".1." not in name and ".2." not in name]

print(*names_and_shapes(random_gpt2), "", *names_and_shapes(own_tiny), sep="\n")

# %% [markdown]
# Three things stand in the way. GPT-2's matrices are a `Conv1D`'s, (in, out), where `nn.Linear` has (out, in). Its queries, keys and values come out of one fused matrix,
# `c_attn`. And the tied table is listed twice. Files of 2019 hold the causal mask of each layer as well (`attn.bias`, `attn.masked_bias`): buffers, no parameters. Which part is called what
# is in this table:

# %%
PLACES = {
    "wte": "token", "wpe": "position", "ln_f": "norm",
    "ln_1": "norm_attention", "ln_2": "norm_feed_forward",
    "attn.c_proj": "attention.output", "mlp.c_fc": "feed_forward.widen", "mlp.c_proj": "feed_forward.narrow",
}

# %% nbgrader={"grade": false, "grade_id": "gpt-gpt2_names", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gpt2_names(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a GPT2LMHeadModel, under the names of your GPT.  (difficulty ●●○, 8 minutes)

    Layer i is transformer.h.i with them, layers.i with you. In attn.c_attn stand query, key and value,
    in this order. All matrices of a layer are a Conv1D's. A GPT2Model's names are the same without
    "transformer.": take them, too. Only parameters of your GPT come back, each under one name.
    """
    ### BEGIN SOLUTION
    ours = {}
    for name, value in theirs.items():
        *path, part = name.removeprefix("transformer.").split(".")
        if path[0] != "h":
            if path[0] in PLACES:
                ours[f"{PLACES[path[0]]}.{part}"] = value
        else:
            layer, place = f"layers.{path[1]}", ".".join(path[2:])
            value = value.T if value.ndim == 2 else value
            if place == "attn.c_attn":
                for which, third in zip(("query", "key", "value"), value.chunk(3)):
                    ours[f"{layer}.attention.{which}.{part}"] = third
            elif place in PLACES:
                ours[f"{layer}.{PLACES[place]}.{part}"] = value
    return ours
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-gpt2_names-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.gpt2_names", lambda case: gpt2_names(case))

# %% tags=["demo"]
own_tiny.load_state_dict(gpt2_names(random_gpt2.state_dict()))      # strict: no name missing, none too many
ids = torch.randint(100, (4, 40), generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    names_error = (own_tiny(ids) - random_gpt2(ids).logits).abs().max().item()
print(f"largest difference of {4 * 40 * 100:,} logits: {names_error:.0e}")

# %% [markdown]
# Equal up to rounding. And what they write? `generate` of transformers has all that you need: greedy or with draws, temperature, top-k, top-p, and the cache.

# %% tags=["demo"]
prompt = torch.tensor([[1, 17, 5]])
theirs_written = random_gpt2.generate(
    prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=20, eos_token_id=None, pad_token_id=0
)

own_tiny.reset(cached=True)
new, own_written = prompt, prompt
with torch.no_grad():
    for _ in range(20):
        new = own_tiny(new)[:, -1:].argmax(dim=-1)
        own_written = torch.cat([own_written, new], dim=1)
own_tiny.reset()
print("generate:", *theirs_written[0].tolist())
print("yours:   ", *own_written[0].tolist())

# %% [markdown]
# ## 7 · Scaling up: GPT, GPT-2, GPT-3, LLaMA
#
# GPT-3 is more of GPT-2, with better data. LLaMA
# (Touvron et al. 2023) has norms without a mean, positions as rotations of queries and keys, and a gated feed-forward network. We count their matrices from the published sizes:
# attention 4D² per layer, feed-forward 2DF (gated: 3DF), the token table VD, learned positions TD.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
family = pd.DataFrame(
    [
        ("GPT (2018)", 12, 768, 3072, 40_478, 512, "117 M", "pre-train, then fine-tune"),
        ("GPT-2 (2019)", 48, 1600, 6400, 50_257, 1024, "1.5 B", "tasks without examples"),
        ("GPT-3 (2020)", 96, 12_288, 49_152, 50_257, 2048, "175 B", "tasks from examples"),
        ("LLaMA (2023)", 80, 8192, 22_016, 32_000, 2048, "65 B", "public data, and more of it"),
    ],
    columns=["model", "L", "D", "F", "V", "T", "published", "what was new"],
).set_index("model")
gated = family.index.str.startswith("LLaMA")
matrices = family.L * (4 * family.D**2 + (2 + gated) * family.D * family.F)
second = np.where(gated, family.V, family["T"])            # LLaMA: a second table, no positions
tables = (family.V + second) * family.D
counted = [f"{n / 1e9:.3g} B" if n > 1e9 else f"{n / 1e6:.0f} M" for n in matrices + tables]
family.insert(6, "counted", counted)
display(family)

# %% [markdown]
# One table at both ends saves the smallest GPT-2 (D = 768) 39 million numbers beside the 124 million that it has. LLaMA can afford two: of its 65 billion numbers they are less than one in a hundred.
#
# On a laptop we take a small one of the last kind: SmolLM2 with 135 million parameters (Ben Allal et al. 2025). The course carries it as a package, in the version that was tuned to follow instructions, with its matrices rounded to 4 bits per weight: what follows is about *that* model. The first load unpacks it, once.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.models import load as load_pretrained

print("This takes ten to twenty seconds.")
big = load_pretrained("SmolLM2-135M", head="causal-lm")
config, words = big.model.config, big.tokenizer
parameters = sum(weight.numel() for weight in big.model.parameters())
print(f"\n{config.num_hidden_layers} layers, D = {config.hidden_size}, {config.num_attention_heads} heads,",
      f"{config.vocab_size:,} tokens, {parameters:,} parameters")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
encoder = load_pretrained("bert-base-uncased")
PHRASES = ["The cell that the prisoner shared", "The cell that the biologist stained"]

@torch.no_grad()
def vector_of_cell(loaded, phrase: str) -> Float[Tensor, "layers D"]:
    """The vector of the token cell at every layer."""
    tokens = loaded.tokenizer(phrase, return_tensors="pt")
    pieces = loaded.tokenizer.convert_ids_to_tokens(tokens.input_ids[0])
    position = [piece.strip("Ġ▁ ").lower() for piece in pieces].index("cell")
    return torch.stack(loaded.model(**tokens, output_hidden_states=True).hidden_states)[:, 0, position]

def apart_in(loaded, phrases: list[str]) -> list[float]:
    return apart(torch.stack([vector_of_cell(loaded, phrase) for phrase in phrases], dim=1))

two_cells |= {loaded.name: apart_in(loaded, PHRASES) for loaded in (big, encoder)}
other_left = [PHRASES[0].replace("The cell", "A bright red cell"), PHRASES[1]]
two_cells[f"{big.name}, left changed"] = apart_in(big, other_left)
pictures.two_cells(two_cells)

# %% [markdown]
# Hundreds of times larger, and the same: the decoder's two vectors of *cell* agree in every layer. (At equal length they agree to the last bit. Sentences of different length take
# different paths through the arithmetic, so compare with a tolerance, not with `==`.) The encoder's two vectors differ. As a control, other words to the *left* move the decoder's
# vector at once.

# %% [markdown]
# Your `sample` and `top_p` make it write. The four rows run side by side, with the library's cache.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from textwrap import fill

@torch.no_grad()
def continue_text(text: str, tokens: int, settings=((1.0, 1, 1.0),), seed: int = 0) -> list[str]:
    """`text` continued once for each (temperature, k, p); a row ends at the end-of-text token."""
    ids = torch.tensor([words(text, add_special_tokens=False).input_ids] * len(settings))
    generator, cache, written = torch.Generator().manual_seed(seed), None, []
    for _ in range(tokens):
        output = big.model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        logits, cache = output.logits[:, -1], output.past_key_values
        draws = torch.rand(len(settings), generator=generator)
        chosen = []
        for row, point, (temperature, k, p) in zip(logits, draws, settings):
            probabilities = sample(row[None], point[None], temperature, k)[0]
            kept = top_p(probabilities, p) if p < 1 else probabilities
            chosen.append(sample(kept.log(), point[None], 1.0, kept.shape[1])[1])
        ids = torch.stack(chosen)                                   # B 1: the next input
        written.append(ids)
        if (torch.cat(written, dim=1) == words.eos_token_id).any(dim=1).all():
            break
    rows = torch.cat(written, dim=1).tolist()
    ends = [(row + [words.eos_token_id]).index(words.eos_token_id) for row in rows]
    return [words.decode(row[:end]) for row, end in zip(rows, ends)]

def print_text(title: str, text: str) -> None:
    """A title, and below it the text in lines that fit the page."""
    indent = dict.fromkeys(("initial_indent", "subsequent_indent"), "    ")
    print(title, fill(" ".join(text.split()), 90, **indent), sep="\n")

everything = config.vocab_size
settings = {
    "greedy": (1.0, 1, 1.0), "temperature 0.7": (0.7, everything, 1.0),
    "temperature 1.5": (1.5, everything, 1.0), "temperature 1.5, top-p 0.8": (1.5, everything, 0.8),
}
continued = continue_text("The prisoner sat in a dark cell and", 28, tuple(settings.values()))
for name, text in zip(settings, continued):
    print_text(f"{name}:", text)

# %% [markdown]
# A model that only continues texts summarises when a summary is the likely continuation (GPT-2 was given "TL;DR:"; Radford et al. 2019), and talks when the text is a dialogue. The
# instruction-tuned version has seen dialogues with marks for who speaks. Whether an answer is *right* is another matter: check each against the text, word by word, and against the
# usual control, the text's first sentence. What it says fluently and no source supports is called a **hallucination**: expect some from a model of this size.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

def ask(*turns: str, tokens: int = 40) -> str:
    """The answer to a dialogue: user, assistant, user, …"""
    who = ("user", "assistant") * len(turns)
    marked = "".join(f"<|im_start|>{one}\n{text}<|im_end|>\n" for one, text in zip(who, turns))
    answer = continue_text(f"{marked}<|im_start|>assistant\n", tokens)[0]
    return " ".join(answer.replace("<|im_end|>", " ").split())

STORY = (
    "The river rose for three days. On Tuesday night the water reached the old mill, and the mayor "
    "closed both bridges. Forty families slept in the school. By Friday the river had fallen, and all "
    "but two of the families were home again."
)
print_text("control (first sentence):", STORY.split(". ")[0] + ".")
print_text("continued after TL;DR:", continue_text(f"{STORY}\nTL;DR:", 30)[0])
print_text("asked to summarise:", ask(f"Summarise in one sentence: {STORY}", tokens=30))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
first, second_question = "What is a cell in a prison?", "And in biology?"
first_answer = ask(first, tokens=30)
print_text(first, first_answer)
print_text(second_question, ask(first, first_answer, second_question, tokens=30))

# %% [markdown]
# The second question makes sense only with the first before it: the whole dialogue is the prompt, and the cache keeps it.

# %% [markdown]
# ## 8 · Further: a task in the prompt
#
# GPT-3 made this famous (Brown et al. 2020): no training, no new weights; a few solved examples in the prompt, then the question. The model continues, and the continuation is the
# answer. Such a prompt is called **few-shot**; one without a solved example is **zero-shot**. The prompt has to be built so that the label *is* the natural next token.

# %% nbgrader={"grade": false, "grade_id": "gpt-few_shot_prompt", "locked": false, "schema_version": 3, "solution": true, "task": false}
def few_shot_prompt(
    demos: list[tuple[list[int], list[int]]], query: list[int], mark: Int[Tensor, "m"], end: Int[Tensor, "e"]
) -> Int[Tensor, "tokens"]:
    """The ids of a prompt with solved examples.  (difficulty ●○○, 6 minutes)

    demos holds pairs (ids of a text, ids of its label), perhaps none. Each becomes text, mark, label, end,
    in the given order. Then come the query and mark; the model is to write the label.
    """
    ### BEGIN SOLUTION
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, *label, *end]
    return torch.tensor(prompt + [*query, *mark])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-few_shot_prompt-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.few_shot_prompt", lambda case: few_shot_prompt(
    list(zip(case["texts"], case["labels"])), case["query"], case["mark"], case["end"]
))

# %% [markdown]
# The task: is an opinion positive or negative? `data/opinions` holds 120 short ones, half of each kind, written for this course: 24 to take examples from, 96 to be asked about. The answer
# is read off two logits, " positive" against " negative".

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from copy import deepcopy

from coursekit.datasets import read_table

opinions = read_table("opinions/opinions.csv")
in_pool = opinions.groupby(["subject", "label"]).cumcount() == 0
pool, questions = opinions[in_pool], opinions[~in_pool]
SWAPPED = {"positive": "negative", "negative": "positive"}


def draw_demos(seed: int, count: int = 8) -> list[tuple[str, str]]:
    """Texts and labels from the pool: each two of them hold both labels, in random order."""
    rng = np.random.default_rng(seed)
    drawn = [pool[pool.label == label].iloc[rng.permutation(12)[: count // 2]] for label in SWAPPED]
    pairs = zip(*(part[["text", "label"]].itertuples(index=False, name=None) for part in drawn))
    return [demo for pair in pairs for demo in (pair if rng.random() < 0.5 else pair[::-1])]


@torch.no_grad()
def leaning(
    loaded, demos: list[tuple[str, str]], texts: list[str], rows: int = 32
) -> Float[Tensor, "texts"]:
    """log p(positive) − log p(negative) behind each text's prompt. The examples are read once."""
    def ids(text: str) -> list[int]:
        return loaded.tokenizer(text, add_special_tokens=False).input_ids

    mark, end = torch.tensor(ids("\nSentiment:")), torch.tensor(ids("\n\n"))
    labels = {label: ids(f" {label}") for label in SWAPPED}
    solved = [(ids(f"Review: {text}"), labels[label]) for text, label in demos]
    prompts = [few_shot_prompt(solved, ids(f"Review: {text}"), mark, end) for text in texts]
    shared = sum(len(text) + len(mark) + len(label) + len(end) for text, label in solved)
    cache, found = None, []
    if shared:
        read = loaded.model(prompts[0][None, :shared], use_cache=True, logits_to_keep=1)
        cache = read.past_key_values
    for some in (prompts[start : start + rows] for start in range(0, len(prompts), rows)):
        last = torch.tensor([len(prompt) - shared - 1 for prompt in some])
        own = torch.nn.utils.rnn.pad_sequence([prompt[shared:] for prompt in some], batch_first=True)
        copied = deepcopy(cache)                           # what is read into a cache stays in it
        if copied is not None:
            copied.batch_repeat_interleave(len(some))
        output = loaded.model.model(own, past_key_values=copied, use_cache=bool(shared))
        hidden = output.last_hidden_state[torch.arange(len(some)), last]
        logits = loaded.model.lm_head(hidden).double()
        found.append(logits[:, labels["positive"][0]] - logits[:, labels["negative"][0]])
    return torch.cat(found)


def scores(lean: Float[Tensor, "texts"], empty: float, positive: np.ndarray) -> dict[str, float]:
    """Accuracy; the same with the lean of empty texts as threshold; pairs in order; share of "positive"."""
    lean = lean.numpy()
    return {
        "accuracy": ((lean > 0) == positive).mean(),
        "accuracy, calibrated": ((lean > empty) == positive).mean(),
        "pairs in order": (lean[positive][:, None] > lean[~positive]).mean(),
        "answered positive": (lean > 0).mean(),
    }


WITHOUT_TEXT = ["N/A", "...", ""]

# %% [markdown]
# Live, with one set of examples and 24 questions. The padding at the end of shorter prompts needs no mask: no word looks to the right.
#
# **Predict:** the accuracy with 8 examples in the prompt (0 to 1; guessing gives 0.5).

# %% tags=["demo"]
predict("gpt.eight_examples", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")
few = questions.sample(24, random_state=0)
demos, counts = draw_demos(seed=0), (0, 1, 2, 4, 8)
answers = (few.label == "positive").to_numpy()
live_scores = {}
for count in counts:
    lean = leaning(big, demos[:count], few.text.tolist() + WITHOUT_TEXT)
    live_scores[count] = scores(lean[: len(few)], lean[len(few) :].mean().item(), answers)
reveal("gpt.eight_examples", live_scores[8]["accuracy"])
live_table = pd.DataFrame(live_scores).T.rename_axis("examples")
middle = live_table["accuracy"].mean()
live_low, live_high = wilson(middle, len(few))
display(live_table.round(2))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"With {len(few)} questions, an accuracy of {middle:.2f} has a 95 % interval "
    f"from **{live_low:.2f} to {live_high:.2f}**."
))

# %% [markdown]
# So from these rows little can be said about the number of examples: the interval is wide, and all of them stand on one set of examples. We need all 96 questions, and other
# examples. That takes minutes, so it is recorded (`python -m experiments gpt_few_shot`): several draws of the examples, and as a control the same with all labels of the examples
# *swapped*.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from sklearn.feature_extraction.text import CountVectorizer

reviews = read_table("sentiment/sentiment.csv")        # other texts: 1,280 reviews with labels
counted = CountVectorizer(binary=True).fit(reviews.text)
bag = LogisticRegression(max_iter=1_000).fit(counted.transform(reviews.text), reviews.label)
by_words = (bag.predict(counted.transform(questions.text)) == questions.label).mean()
recorded = read_table("results/gpt_few_shot.csv")
summary = pictures.few_shot(recorded, len(questions), by_words)
display(summary.style.format("{:.2f}", na_rep="–"))
by_row = recorded.pivot(index=["labels", "draw", "examples"], columns="measure", values="value")
better = (by_row["accuracy, calibrated"] > by_row["accuracy"]).sum()
low, high = wilson(0.8, len(questions))
none = by_row.loc[("right", slice(None), 0), "accuracy"].mean()
ends = {name: wilson(share, len(questions)) for name, share in (("model", none), ("bag", by_words))}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Calibration raises the accuracy in **{better}** of {len(by_row)} runs. "
    f"{len(questions)} questions leave an accuracy of 0.8 an interval from {low:.2f} to {high:.2f}."
    f"\n\nWithout any example the model has **{none:.3f}** ({ends['model'][0]:.2f} to {ends['model'][1]:.2f}); "
    f"a bag of words that has learned on the {len(reviews):,} reviews of `data/sentiment` has "
    f"**{by_words:.3f}** ({ends['bag'][0]:.2f} to {ends['bag'][1]:.2f})."
))

# %% [markdown]
# Three of four of these opinions are found by counting words, without a language model. So the zero-shot accuracy has to be compared with that and not with one half, and on 96
# questions the two intervals overlap. (The bag needed 1,280 labels, the model none.)

# %% [markdown]
# What the intervals allow us to say: in accuracy, nothing here shows that examples help. No number of them does better than none, and the intervals are wide. (Calibrated, one
# example comes out above zero-shot calibrated, but hardly above zero-shot as it is.) One draw of examples differs from another more than one number of examples from the next,
# because the examples move the *threshold*: look at how rarely and how often "positive" is answered.

# %% [markdown]
# Whether the model can tell the opinions apart is seen in the pairs of a positive
# and a negative opinion. Zero-shot, the positive one has the higher score in about nine pairs of ten; with any number of examples, in hardly more. Zhao et al. (2021) measure the
# threshold with empty texts and subtract it (*calibrated*).

# %% [markdown]
# > **Sources say, we measure.** Brown et al. (2020, figure 1.2) show accuracy rising with the number of examples, steeply for 175 B parameters, hardly for 1.3 B. Min et al. (2022)
# > report that wrong labels in the examples cost little: the examples show the form, not the task. With 135 M parameters we find no rise of the accuracy that stands out of its
# > interval. With swapped labels the order of the pairs suffers little, where a model that had learned the task from the labels would have reversed it. It knew the task before.

# %% [markdown]
# ## 9 · Further: a model that must learn from its prompt
#
# Getting better at a task from examples in the prompt alone is called **in-context learning**. Is it really *learning*? To be sure that a model did not know the task before, draw
# every task anew. Ours: 8 symbols, each with one of 4 labels, by a rule made up for this one prompt. The prompt is a text, *symbol label symbol label …*, and behind each symbol its label is to be
# predicted. The best possible answer is simple: the label seen for it, or a guess if it has not come yet, so after k examples
#
# $$p(\text{right}) = 1 - \tfrac34 \left(\tfrac78\right)^k .$$

# %% [markdown]
# How could attention do it? The asked symbol finds its earlier places, but what stands there was computed before the label came. The label's own place does not say which symbol it belongs to. So one
# look back is not enough. With two layers it works (Olsson et al. 2022): a **previous-token head** in the first writes into each label which symbol stood before it, and a head in the second
# looks for the label with the right note, and copies it. The second kind is called an **induction head**.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
import torch

SYMBOLS, LABELS, ASKED = 8, 4, 9                                     # questions after 0 to 8 examples


def draw_prompts(n: int, generator: torch.Generator, rules: Int[Tensor, "any symbols"] | None = None):
    """Symbols (n, ASKED) and their labels by a rule for each prompt: a new one, or one of `rules`."""
    if rules is None:
        rule = torch.randint(LABELS, (n, SYMBOLS), generator=generator)
    else:
        rule = rules[torch.randint(len(rules), (n,), generator=generator)]
    symbols = torch.randint(SYMBOLS, (n, ASKED), generator=generator)
    return symbols, rule.gather(1, symbols)


def as_text(symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"]) -> Int[Tensor, "n 2*asked"]:
    """Symbol, label, symbol, label, …: tokens of their own."""
    return torch.stack([symbols, SYMBOLS + labels], dim=2).flatten(1)


def answer(model: CourseGPT, symbols: Int[Tensor, "n asked"], labels: Int[Tensor, "n asked"]) -> Tensor:
    """Logits of the label behind each symbol, (n, asked, labels)."""
    return model(as_text(symbols, labels)).logits[:, 0::2, SYMBOLS:]


def learn_to_learn(layers: int = 2, seed: int = 1, steps: int = 600, rules=None):
    """A model trained on prompts with new rules, or with `rules` alone; its losses."""
    torch.manual_seed(seed)
    config = GPTConfig(SYMBOLS + LABELS, 2 * ASKED, dim=32, layers=layers, heads=2, feed_forward=64)
    model = CourseGPT(config)
    for table in (model.token, model.position):
        torch.nn.init.normal_(table.weight, std=0.3)
    optimiser = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    generator, losses = torch.Generator().manual_seed(seed), []
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 5e-3 * min(1.0, (step + 1) / 30) * (1 - step / steps)
        symbols, labels = draw_prompts(64, generator, rules)
        loss = cross_entropy(answer(model, symbols, labels).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return model.eval(), losses


@torch.no_grad()
def right_by_examples(model: CourseGPT, symbols, labels, shown=None) -> list[float]:
    """Share of right answers after 0, 1, … examples; `shown`: the examples' labels, if not the true ones."""
    logits = answer(model, symbols, labels if shown is None else shown)
    return (logits.argmax(dim=-1) == labels).float().mean(dim=0).tolist()


@torch.no_grad()
def attention_weights(model: CourseGPT, ids: Int[Tensor, "n T"]) -> Float[Tensor, "layers n H T T"]:
    """Who looks where, in every head."""
    x, found = model.embed(ids), []
    keep = torch.ones(1, ids.shape[1], ids.shape[1], dtype=torch.bool).tril()    # 1 T T
    for layer in model.layers:
        normed, attention = layer.norm_attention(x), layer.attention
        queries, keys = (attention.split(project(normed)) for project in (attention.query, attention.key))
        scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
        found.append(scores.masked_fill(~keep, -torch.inf).softmax(dim=-1))
        x = layer(x, keep)
    return torch.stack(found)


def head_scores(weights: Float[Tensor, "layers n H T T"], symbols: Int[Tensor, "n asked"]) -> dict[str, Tensor]:
    """Two means for each layer and head, (layers, H).

    previous token: what a label gives to the symbol before it. match: what a symbol that has come before gives to the
    labels behind its earlier places.
    """
    labels = torch.arange(1, 2 * ASKED, 2)
    same = (symbols[:, :, None] == symbols[:, None, :]).tril(-1)     # n asked asked
    to_labels = (weights[..., 0::2, 1::2] * same[:, None]).sum(dim=-1)
    asked = same.any(dim=-1)[:, None].expand(to_labels.shape[1:])
    return {
        "previous token": weights[..., labels, labels - 1].mean(dim=(1, 3)),
        "match": (to_labels * asked).sum(dim=(1, 3)) / asked.sum(dim=(0, 2)),
    }

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
one_rule = torch.randint(LABELS, (1, SYMBOLS), generator=torch.Generator().manual_seed(7))
learner, learner_losses = learn_to_learn()
knower, _ = learn_to_learn(steps=200, rules=one_rule)

# %% [markdown]
# **Predict:** the learner's weights are fixed now. On rules it has never met, which share of labels is right after 8 examples?

# %% tags=["demo"]
predict("gpt.in_context", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
generator = torch.Generator().manual_seed(1)
symbols, labels = draw_prompts(4000, generator)
random_labels = torch.randint(LABELS, labels.shape, generator=generator)
in_context = {
    "trained on new rules": right_by_examples(learner, symbols, labels),
    "the same, examples with random labels": right_by_examples(learner, symbols, labels, random_labels),
    "trained on one rule": right_by_examples(knower, symbols, labels),
}
earlier = (symbols[:, :, None] == symbols[:, None, :]).tril(-1)      # which examples show it
once = earlier.sum(dim=-1) == 1
with torch.no_grad():
    said = answer(learner, symbols, random_labels).argmax(dim=-1)
copied = (said == (earlier * random_labels[:, None, :]).sum(dim=-1))[once].float().mean().item()
own_rule = right_by_examples(knower, *draw_prompts(4000, generator, one_rule))
best = [1 - (1 - 1 / LABELS) * (1 - 1 / SYMBOLS) ** k for k in range(ASKED)]
best_loss = np.mean([np.log(LABELS) * (1 - 1 / SYMBOLS) ** k for k in range(ASKED)])
reveal("gpt.in_context", in_context["trained on new rules"][8])
pictures.in_context(in_context, best, learner_losses, best_loss)
print(f"symbol shown once, with a random label: the learner says that label: {copied:.3f}")
print(f"trained on one rule, asked about that rule: {own_rule[0]:.3f} right without an example")

# %% [markdown]
# In-context learning exists: the learner comes to the best possible at every number of examples, on rules that did not exist when it was trained. What its weights hold is not a rule
# but a way to find one: the label shown with a symbol comes back when the symbol is asked, right or wrong. The one that met a single rule has it in the weights and does not listen. SmolLM2 in part 8 was
# more like the second: it knew what a review is. Does the learner do it with the two heads? One prompt, and for each layer the head that scores highest:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
weights = attention_weights(learner, as_text(symbols, labels))
scores_of_heads = head_scores(weights, symbols)
previous = scores_of_heads["previous token"][0].argmax().item()
match = scores_of_heads["match"][1].argmax().item()
repeats = ((earlier.any(dim=-1).sum(dim=1) == 4) & once[:, -1]).int().argmax().item()   # its last symbol has come once
spoken = [name for pair in zip(symbols[repeats].tolist(), labels[repeats].tolist())
          for name in ("ABCDEFGH"[pair[0]], "1234"[pair[1]])]
pictures.two_heads({
    f"layer 1, head {previous + 1}: previous token": weights[0, repeats, previous],
    f"layer 2, head {match + 1}: match": weights[1, repeats, match],
}, spoken)
display(pd.DataFrame({
    f"layer {layer + 1}, head {head + 1}": {name: values[layer, head].item() for name, values in scores_of_heads.items()}
    for layer in range(2) for head in range(2)
}).T.style.format("{:.2f}"))

# %% [markdown]
# Now the control: a model with one layer, and each of them from other random beginnings (`python -m experiments induction`).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
induction = read_table("results/induction.csv")
pictures.induction(induction, best, best_loss)

def over_runs(layers: int, measure: str, where: str) -> tuple[float, float]:
    """Mean over the runs, and half its 95 % interval."""
    chosen = induction[(induction.layers == layers) & (induction.measure == measure) & (induction["where"] == where)]
    return mean_and_half(chosen.value)

runs = induction.groupby("layers").seed.nunique()
two_layers, one_layer = induction[induction.layers == 2], induction[induction.layers == 1]
best_heads = {
    (measure, layer): two_layers[(two_layers.measure == measure) & two_layers["where"].str.startswith(f"layer {layer}")]
    .groupby("seed").value.max().min()
    for measure, layer in (("previous token", 1), ("match", 2))
}
match_of_one = one_layer[one_layer.measure == "match"].value.max()
last_right = {layers: over_runs(layers, "right", str(ASKED - 1)) for layers in (1, 2)}
last_loss = {layers: over_runs(layers, "loss", "new prompts") for layers in (1, 2)}
display(Markdown(
    f"After {ASKED - 1} examples, over {runs[2]} runs each, one layer answers **{last_right[1][0]:.3f} ± {last_right[1][1]:.3f}** right and two "
    f"layers **{last_right[2][0]:.3f} ± {last_right[2][1]:.3f}**; the best possible is {best[-1]:.3f}. Nats per question: "
    f"{last_loss[1][0]:.3f} ± {last_loss[1][1]:.3f}, {last_loss[2][0]:.3f} ± {last_loss[2][1]:.3f}, best {best_loss:.3f}. In each run of two "
    f"layers some head of the first gives the previous token at least **{best_heads['previous token', 1]:.2f}** of its weight, and some head of "
    f"the second gives matching labels at least **{best_heads['match', 2]:.2f}**; with one layer no head gives them more than {match_of_one:.2f}."
))

# %% [markdown]
# One layer ends on a plateau, the same in each run: it can see which labels have come and how often, not with which symbol. After one example or two that is nearly enough; further examples help it no more. Two layers stand still at first as well, for a hundred steps or two; then they
# fall to the bound, one run later than the others, and nothing in the loss has announced it. Olsson et al. (2022) see such a bend in the training of language models, at the time at which induction heads appear.

# %% [markdown]
# **Question 2.** "With eight examples the model learned to classify reviews." Using the swapped labels of part 8 and the two models of part 9, explain what would have to be measured before you
# believe this sentence, and what the measurements of this notebook say about it. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "gpt-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Accuracy with examples does not show learning if the model could do the task without them: it has to be compared with zero examples, over several draws of examples and with an
# interval. And the answers have to depend on what the examples *say*. With swapped labels a model that learns in context must swap its answers. The model of part 9 does listen to
# them: it falls to chance when the labels of its examples are random. SmolLM2 orders the opinions nearly as well zero-shot and with swapped labels as with right ones, so it brought
# the task along. The examples moved its threshold, and the intervals are too wide to say that their number helps. A task that cannot have been known before (new labels, made-up
# words) would be the fair test.
#
# *Marking: 1 point for the comparison with zero examples and with wrong labels (over draws, with intervals); 1 point for the reading of the results: task known before, examples move the threshold,
# the small model of part 9 is the contrast.*

# %% [markdown]
# ## 10 · Further: BERT against GPT, measured
#
# You have measured all that is needed for the comparison that textbooks give in words.

# %% [markdown]
# What each vector *can* depend on, a derivative tells: the **influence** of 05, the size of the gradient of each output with respect to each
# input. In ELMo's two halves, in BERT, and in GPT, for the first of our sentences:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.derivatives import influence
from coursekit.small.elmo import Spelling

one = rows[:1, : 2 + len(TWO_CELLS[0].split())]
real = one != PAD
elmo = load("elmo")
spelt = elmo.token(Spelling().of_ids(one))[0]
read_by_bert = bert.embeddings(single(one), torch.zeros_like(one))[0]

def elmo_s(half: int, x: Float[Tensor, "N T D"]) -> Float[Tensor, "N T D/2"]:
    """One direction of ELMo's last layer."""
    return elmo.run(x, real.expand(len(x), -1)).hidden[-1].chunk(2, dim=-1)[half]

maps = {
    "ELMo, forward half": influence(partial(elmo_s, 0), spelt),
    "ELMo, backward half": influence(partial(elmo_s, 1), spelt),
    "BERT": influence(lambda x: bert.run(x, real.expand(len(x), -1)).hidden[-1], read_by_bert),
    "GPT": influence(lambda x: gpt.run(x).hidden[-1], gpt.embed(one)[0]),
}
pictures.influences(maps, ["[BOS]", *TWO_CELLS[0].split(), "[EOS]"])
future = {name: (values.triu(1).sum() / values.sum()).item() for name, values in maps.items()}
past = {name: (values.tril(-1).sum() / values.sum()).item() for name, values in maps.items()}
for name in maps:
    print(f"{name:<20} influence from later words {future[name]:.2f}, from earlier ones {past[name]:.2f}")

# %% [markdown]
# GPT's triangle is exact: zeros above the diagonal, not small numbers. The diagonal belongs to it: a word's own vector counts at its own place, since what is predicted there is the word
# *after* it. ELMo has the same triangle twice, once for each direction, and glues the two together at the end; only BERT
# mixes both sides in every layer. This is why ELMo and BERT pass the exam on both sides, and why neither can simply be asked to write.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
held_out = language.sample(1000, np.random.default_rng(9), "held_out")
held_out_ids = torch.from_numpy(held_out.ids)
with torch.no_grad():
    gpt_loss = shift_loss(own_gpt(held_out_ids), held_out_ids, PAD).item()
gpt_bound = language.log_loss_next(held_out.ids).sum() / (held_out.lengths - 1).sum()
targets = (held_out.lengths - 1).sum() / held_out.lengths.sum()
no_special = np.isin(held_out.ids, (PAD, BOS, EOS), invert=True).sum() / held_out.lengths.sum()
def seen(name: str) -> dict[str, str]:
    """Sense accuracy of the last layer by kind of question: recorded, over seeds."""
    return {f"sense, {text}": in_seeds(name, kind) for kind, text in QUESTIONS.items()}

against = pd.DataFrame({
    "BERT": {
        "two cells, last layer: difference": f"{two_cells['small BERT'][-1]:.2f}",
        "influence from later words": f"{future['BERT']:.2f}",
        **seen("BERT"),
        "tokens that teach, in a sentence": f"{0.15 * no_special:.0%}",
        "writes": "no: it fills gaps",
        "examples of models": "BERT, RoBERTa, MiniLM",
    },
    "GPT": {
        "two cells, last layer: difference": f"{two_cells['small GPT'][-1]:.0g}",
        "influence from later words": f"{future['GPT']:.2f}",
        **seen("GPT"),
        "tokens that teach, in a sentence": f"{targets:.0%}",
        "writes": f"yes: {written['1'][0]:.0%} possible at temperature 1",
        "examples of models": "GPT-2, LLaMA, SmolLM2",
    },
})
display(against)
print(f"GPT on 1,000 held-out sentences: {gpt_loss:.3f} nats per token",
      f"(perplexity {np.exp(gpt_loss):.2f}); best possible {gpt_bound:.3f} ({gpt_loss / gpt_bound - 1:.1%} above)")

# %% [markdown]
# Each pays for what it has. BERT sees both sides, and learns from 15 % of the words of a sentence; GPT learns from every token but the first and writes, and its vectors know the left. Now the decoder's line in the
# architecture table of 04, measured as there: random projections for the gradient, one layer with D = 64 for the time.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.architectures import keep_measured

def last_word(x: Float[Tensor, "T D"], causal: bool, seed: int) -> Float[Tensor, "D"]:
    """What one attention with random projections gives the last word."""
    D = x.shape[1]
    W = (2 * torch.rand(D, 3 * D, generator=torch.Generator().manual_seed(seed)).double() - 1) / D**0.5
    q, k, v = (part[None, None] for part in (x @ W).chunk(3, dim=-1))
    attend = masked_attention if causal else torch.nn.functional.scaled_dot_product_attention
    return attend(q, k, v)[0, 0, -1]

def masked_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return (scores + causal_mask(q.shape[-2])).softmax(dim=-1) @ v

def gradient(T: int, causal: bool, seed: int) -> float:
    x = torch.randn(T, 32, generator=torch.Generator().manual_seed(1000 + seed)).double()
    def run(first: Float[Tensor, "D"]) -> Float[Tensor, "D"]:
        return last_word(torch.cat([first[None], x[1:]]), causal, seed)
    reach = torch.autograd.functional.jacobian(run, x[0])
    return reach.norm().item()

def milliseconds(run, *inputs) -> float:
    times = []
    for _ in range(3):
        start = perf_counter()
        run(*inputs)
        times.append(1000 * (perf_counter() - start))
    return min(times)

def plain_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1) @ v

lines = {}
for name, sees, steps, causal, attend in (
    ("encoder (attention)", "all words", "1", False, plain_attention),
    ("decoder (GPT)", "its left", "1 in training, T in writing", True, masked_attention),
):
    ratios = [gradient(64, causal, seed) / gradient(2, causal, seed) for seed in range(8)]
    left_over = np.exp(np.log(ratios).mean())
    ms = {T: milliseconds(attend, *torch.randn(3, 1, 1, T, 64)) for T in (64, 4096)}
    if causal:
        keep_measured("decoder: masked attention, untrained", "07", ratios, ms)
    lines[name] = {
        "a word sees": sees, "steps in sequence": steps,
        "first word's derivative, 64 words over 2": f"{left_over:.1e}",
        "ms at T = 64": f"{ms[64]:.2f}", "ms at T = 4096": f"{ms[4096]:.0f}",
    }
display(pd.DataFrame(lines).T.rename_axis("architecture"))

# %% [markdown]
# The mask saves nothing: half of the scores are computed and thrown away, and adding the mask takes time of its own (fused implementations skip the hidden half). The gradient of the first word at the *last* one is the same as without a mask, since the last word
# sees everything.

# %% [markdown]
# ## Further: a GPT of novels
#
# Between the model of an artificial language and SmolLM2 lies one that the course has trained itself, with the loss of section 3. It has 5.3 million parameters and 8,192 pieces of its own; about an hour of one core made it.
# It has read English novels of 1839 to 1927 and nothing else ([its card](../../data/models/novels_gpt.md), [the books](../../data/novels/README.md)). It has the parts of section 2, so its weights go into *your* GPT.

# %% tags=["demo"]
from coursekit.novels.shipped import load_gpt as load_novels_gpt
from coursekit.novels.shipped import recorded as recorded_on_novels

course_novels, pieces = load_novels_gpt()
of_novels = GPT(
    vocabulary=pieces.get_vocab_size(), tokens=128, dim=256, layers=4,
    heads=4, inner=1024, activation="gelu",
).eval()
of_novels.load_state_dict(course_novels.state_dict())

display(recorded_on_novels("gpt"))

YOUR_BEGINNING = "The letter lay on the table, and nobody"        # change it

# %% [markdown]
# Per character it loses less than counts of five pieces, on authors that neither has read. It goes on with what you give it, and SmolLM2 with the same. Both draw at temperature 0.8 with top-p 0.9. The second beginning is of today.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

@torch.no_grad()
def continue_novel(text: str, tokens: int, temperature: float = 0.8, p: float = 0.9, seed: int = 0) -> str:
    """`text` continued by the novels' GPT, with your sample, top_p and cache. Special pieces are never drawn."""
    ids = [BOS, *pieces.encode(text, add_special_tokens=False).ids][-(128 - tokens) :]
    new, written, generator = torch.tensor([ids]), [], torch.Generator().manual_seed(seed)
    of_novels.reset(cached=True)
    for _ in range(tokens):
        logits = of_novels(new)[:, -1]
        logits[:, : pieces.token_to_id("[SEP]") + 1] = -torch.inf
        kept = top_p(sample(logits, torch.zeros(1), temperature, logits.shape[1])[0], p)
        new = sample(kept.log(), torch.rand(1, generator=generator), 1.0, kept.shape[1])[1][:, None]
        written.append(new.item())
    of_novels.reset()
    return pieces.decode(written)

for text in ("The prisoner sat in a dark cell and", "My phone has no signal, so", YOUR_BEGINNING):
    print(f"{text} …")
    print_text("the novels' GPT:", continue_novel(text, 40))
    print_text("SmolLM2:", continue_text(text, 40, ((0.8, everything, 0.9),))[0])

# %% [markdown]
# One writes novels, the other what the web writes. Neither text shows which model *predicts* better, and their losses per token cannot be compared: their tokens differ. Nats per **character** can.
# We take sentences of the course's own: 100 with words that novels know, too, and 100 of today (the three controls have 50). Each is read alone, SmolLM2 from the mark that parts the texts of its training.
#
# **Predict:** on the sentences with words that novels know, who loses less per character?

# %% tags=["demo"]
NOVELS_FIRST, SMOL_FIRST, LEVEL = "the novels' GPT", "SmolLM2", "their difference cannot be told from 0"
predict("gpt.novels", ..., choices=(NOVELS_FIRST, SMOL_FIRST, LEVEL))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap

print("This takes about twenty seconds.")

def of_web(text: str) -> list[int]:
    return words(text, add_special_tokens=False).input_ids

def of_books(text: str) -> list[int]:
    return pieces.encode(text, add_special_tokens=False).ids

@torch.no_grad()
def nats_of(rows: list[list[int]], skip: int, logits_of) -> list[float]:
    """-log p of each row of tokens behind its first `skip`, in nats; ten of about the same length at a time."""
    found = torch.zeros(len(rows))
    for some in torch.tensor([len(row) for row in rows]).argsort().split(10):
        tokens = [torch.tensor(rows[i]) for i in some.tolist()]
        ids = torch.nn.utils.rnn.pad_sequence(tokens, batch_first=True)             # zeros behind: nothing looks there
        log_p = -logits_of(ids)[:, :-1].log_softmax(dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
        found[some] = torch.stack([row[skip - 1 : len(ids) - 1].sum() for row, ids in zip(log_p, tokens)])
    return found.tolist()

def nats_of_both(texts: list[str], before: str = "", mark: str = "<|endoftext|>") -> np.ndarray:
    """A row for each text: nats of the novels' GPT and of SmolLM2, and its characters."""
    space, by_books = " " if before else "", [BOS, *of_books(before)]
    by_web = [words.convert_tokens_to_ids(mark), *of_web(before)]
    return np.stack([
        nats_of([by_books + of_books(text) for text in texts], len(by_books), of_novels),
        nats_of([by_web + of_web(space + text) for text in texts], len(by_web), lambda ids: big.model(ids).logits),
        [len(text) for text in texts],
    ], axis=1)

rng = np.random.default_rng(0)
novel_like, of_today = (read_table(f"senses/{name}.csv").sentence.sample(100, random_state=0).tolist() for name in ("novels", "senses"))
per_character = {
    "words that novels know": nats_of_both(novel_like),
    "today": nats_of_both(of_today),
    "today, words shuffled": nats_of_both([" ".join(rng.permutation(text.split())) for text in of_today[:50]]),
    "novels, behind “It was late.”": nats_of_both(novel_like[:50], before="It was late."),
    "novels, SmolLM2 from <|im_end|>": nats_of_both(novel_like[:50], mark="<|im_end|>"),
}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def nats_per_character(rows: np.ndarray, column: int) -> float:
    return rows[:, column].sum() / rows[:, 2].sum()

def more_than_smollm2(rows: np.ndarray) -> float:
    return nats_per_character(rows, 0) - nats_per_character(rows, 1)

between = {called: (more_than_smollm2(rows), *bootstrap(rows, more_than_smollm2)) for called, rows in per_character.items()}
difference, low, high = between["words that novels know"]
reveal("gpt.novels", LEVEL if low < 0 < high else SMOL_FIRST if difference > 0 else NOVELS_FIRST, because={
    NOVELS_FIRST: "These sentences are ours and not of 1880, and it has read 16 million pieces; SmolLM2 has read novels, too, and much else.",
    SMOL_FIRST: "It has read far more, and loses less on the sentences of today. Here the interval holds 0. The table shows where it does not: another beginning is enough.",
})
pictures.two_readers({called: per_character[called] for called in ("words that novels know", "today")}, ("the novels' GPT", "SmolLM2"))
display(pd.DataFrame({
    called: {
        "the novels' GPT": f"{nats_per_character(rows, 0):.2f}", "SmolLM2": f"{nats_per_character(rows, 1):.2f}",
        "difference (95 %)": "{:+.2f} ({:+.2f} to {:+.2f})".format(*between[called]),
    }
    for called, rows in per_character.items()
}).T.rename_axis("nats per character"))

# %% [markdown]
# SmolLM2 has 25 times the parameters and has read 125,000 times the text. On the sentences of today it loses less; where novels know the words, the two cannot be told apart. Shuffled words cost both, and SmolLM2 more.
#
# Who is ahead hangs on where one begins. Behind a sentence SmolLM2 loses less than before, and less than the novels' GPT, which loses about as much as before. Begun with the mark that ends a turn of a chat, SmolLM2 loses more than the small one. A loss without its context is half a number.

# %% [markdown]
# ## 11 · Scoreboard

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw
from coursekit.small import recorded as recorded_figures

nats = recorded_figures("gpt").loc["held-out: next word, loss"]
add_row("GPT, untrained", seeds["GPT, untrained"], loss=nats.untrained, note="control")
add_row("GPT, 2 layers", seeds["GPT"], loss=nats["mean"], note="next word only")
draw()

# %% [markdown]
# GPT's row ends at the dashed line in every panel, or close before it. It stands above all rows that do not know the order where order decides, and below every row that reads the right side where the
# cue stands only there, even below a bag of words.

# %% [markdown]
# ## Extension: the most probable sentence
#
# Greedy writing takes the best *word* each time, not the best sentence. **Beam search** carries several beginnings along and lets all their continuations compete. It counts as extra credit. The
# toy decoder is that of 04.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_decoder(case: dict):
    """A stand-in for a decoder: logits from tables, by place and all tokens so far."""
    def next_logits(ids: Int[Tensor, "n t"]) -> Float[Tensor, "n t V"]:
        return case["scores"][:, : ids.shape[1]] + case["words"][ids].cumsum(dim=1)

    return next_logits

# %% nbgrader={"grade": false, "grade_id": "gpt-beam_search", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(
    next_logits, width: int, longest: int, bos: int, eos: int, pad: int
) -> tuple[Int[Tensor, "longest"], Float[Tensor, ""]]:
    """The best sentence found, and its log-probability in nats, as a tuple.  (extension, ●●●, 15 minutes)

    next_logits(ids) takes beginnings (n, t) with bos in front and returns logits (n, t, V). At every step
    all continuations of all beginnings compete by the sum of their log-probabilities; the `width` best go
    on (fewer while there are fewer). A beginning that has written eos competes unchanged: its one
    continuation is pad, at no cost. No normalisation by length. After `longest` steps the best
    one is returned, exactly `longest` tokens without bos, whether it has ended or not.
    """
    ### BEGIN SOLUTION
    ids, total, ended = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(longest):
        log_p = next_logits(ids)[:, -1].log_softmax(dim=-1)
        stay = torch.full_like(log_p, -torch.inf)
        stay[:, pad] = 0
        candidates = (total[:, None] + torch.where(ended[:, None], stay, log_p)).flatten()
        total, best = candidates.topk(min(width, len(candidates)))
        rows, tokens = best // log_p.shape[1], best % log_p.shape[1]
        ids = torch.cat([ids[rows], tokens[:, None]], dim=1)
        ended = ended[rows] | (tokens == eos)
    return ids[0, 1:], total[0]
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "gpt-beam_search-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("gpt.beam_search", lambda case: beam_search(
    toy_decoder(case), case["width"], case["longest"], case["bos"], case["eos"], case["pad"]
))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
longest, beams = language.max_length - 1, {}
with torch.no_grad():
    sampled = write(own_gpt, 400, seed=11)
    log_p = own_gpt(sampled)[:, :-1].log_softmax(-1)
    log_p = log_p.gather(-1, sampled[:, 1:, None])[..., 0]
    of_samples = (log_p * (sampled[:, 1:] != PAD)).sum(dim=1)
    for width in (1, 2, 8, 32, 128):
        found, total = beam_search(own_gpt, width, longest, BOS, EOS, PAD)
        ids, beams[width] = [BOS, *found.tolist()], total.item()
        true = language.log_probability(np.array([ids]))[0]
        print(f"width {width:>3}: {total:6.2f} nats (in the language {true:6.2f})   {language.decode(ids)}")
below = (of_samples < beams[128]).float().mean().item()
print(f"400 samples: from {of_samples.min():.1f} to {of_samples.max():.1f} nats,",
      f"half of them below {of_samples.median():.1f}; {below:.0%} less probable than what width 128 finds")

# %% [markdown]
# A wider beam does not always find a better sentence. With 2 beginnings it finds a less probable one than greedy writing, since beginnings that are probable now and improbable later
# have crowded the other one out. Wide enough, it finds sentences that are more probable than nearly all samples, and each time the same ones. In a language nearly all sentences are
# improbable one by one; that is why beam search serves translation, where few answers are right, and why stories are sampled (Holtzman et al. 2020).

# %% [markdown]
# ## Summary
#
# - A causal mask adds −∞ to the scores of later positions. One pass then trains every position.
# - A decoder's vector of a word is fixed before anything to its right is read. No size changes that.
# - Temperature and top-k reshape the distribution, top-p cuts it where p is reached, the crossing token included.
# - With a key–value cache, T tokens cost T passes instead of T(T + 1)/2, same logits.
# - Your GPT is GPT-2's: with its weights under the right names, the logits are equal.
# - Few-shot examples moved SmolLM2’s threshold far, its ranking hardly.
# - A model with two layers learns in context as well as the exact posterior does; with one layer it cannot.
#
# **Next**: 08 opens pre-trained transformers, layer by layer.

# %% [markdown]
# ## References
#
# - Ben Allal, L. et al. (2025). SmolLM2: when Smol goes big. Data-centric training of a small language model. arXiv:2502.02737.
# - Brown, T. B. et al. (2020). Language models are few-shot learners. *NeurIPS* 33. arXiv:2005.14165.
# - Fan, A., Lewis, M. and Dauphin, Y. (2018). Hierarchical neural story generation. *ACL*. arXiv:1805.04833.
# - Holtzman, A., Buys, J., Du, L., Forbes, M. and Choi, Y. (2020). The curious case of neural text degeneration. *ICLR*. arXiv:1904.09751.
# - Min, S. et al. (2022). Rethinking the role of demonstrations: what makes in-context learning work? *EMNLP*. arXiv:2202.12837.
# - Neubauer, P. (2023). Incorrect handling of EOS tokens in DataCollatorForLanguageModeling when pad_token is set to eos_token. github.com/huggingface/transformers/issues/23530.
# - Olsson, C. et al. (2022). In-context learning and induction heads. *Transformer Circuits Thread*. arXiv:2209.11895.
# - Press, O. and Wolf, L. (2017). Using the output embedding to improve language models. *EACL*, 157–163. arXiv:1608.05859.
# - Radford, A., Narasimhan, K., Salimans, T. and Sutskever, I. (2018). Improving language understanding by generative pre-training. OpenAI.
# - Radford, A. et al. (2019). Language models are unsupervised multitask learners. OpenAI.
# - Touvron, H. et al. (2023). LLaMA: open and efficient foundation language models. arXiv:2302.13971.
# - trl (2023). DataCollatorForCompletionOnlyLM defaults can create a model that never generates eos_token_id. github.com/huggingface/trl/issues/976.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762.
# - Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. *Journal of the American Statistical Association* 22, 209–212.
# - Zhao, Z., Wallace, E., Feng, S., Klein, D. and Singh, S. (2021). Calibrate before use: improving few-shot performance of language models. *ICML*. arXiv:2102.09690.

# %% [markdown]
# Next: [08 · Inside a pre-trained transformer](../08_inside/08_inside.ipynb). The [start page](../start.ipynb) shows how far you are.
