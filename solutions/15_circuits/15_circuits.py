# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 15 · Taking a model apart
#
# A trained model is a long list of numbers. **Mechanistic interpretability** tries to find out which of these numbers do what. In this notebook, you use its
# main methods: reading the residual stream, removing heads, activation patching, sparse autoencoders and steering. Each method gives an answer
# for any model. On the generated language, whose probabilities are known, we can also check whether the answer is correct.
#
# **You need** notebooks 06, 07 and 08. **Time** about 90 minutes for the core: nine exercises and two written questions. Sections marked *Further* are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [14 · From base model to assistant](../14_assistant/14_assistant.ipynb) · next: [16 · Learning from rewards](../16_rewards/16_rewards.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - read a model's prediction halfway through its layers, and state how far it is from the truth;
# - remove a head, patch a vector, and interpret the effects;
# - estimate such effects from a gradient, and say when the estimate fails;
# - find a circuit on one sample and test it on another;
# - train a sparse autoencoder, score its latents against true features, and steer a model;
# - state what such evidence shows and what it does not show.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal

# %% [markdown]
# ## 1 · Reading the residual stream
#
# "The guard locked the prisoner in his …" You expect *cell*, and so does SmolLM2 (07). After which of its 30 layers does the model expect this word? The
# **residual stream** is the vector that every component of a layer reads and to which it adds its output. At the end, a norm and the embedding table turn it
# into logits. The **logit lens** (nostalgebraist 2020) applies this norm and table after *every* layer, as if the model ended there.
#
# We give SmolLM2 six prompts after which *cell* is a likely next word: three about a prison and three about biology. The baseline is the rank of *cell* after six other prompts.

# %% tags=["demo"]
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.intervals import bootstrap
from coursekit.lenses import lens_of_word
from coursekit.models import load
from coursekit.pictures import circuits as pictures
from coursekit.plots import use_style

print("This takes about ten seconds.")
use_style()
torch.set_num_threads(1)
decoder = load("SmolLM2-135M-Instruct")
CELL_FOLLOWS = [
    "The guard locked the prisoner in his", "The prisoner was led back to his",
    "The thief spent the night in a prison", "The doctor counted each white blood",
    "A virus enters the body and attacks a healthy",
    "Under the microscope we saw the nucleus of a single",
]
NO_CELL = [
    "The farmer milked his", "We sailed across the", "She put the kettle on the",
    "The teacher closed her", "My brother plays the", "They planted roses in the",
]
cell_lens = {text: lens_of_word(decoder, text, " cell") for text in (*CELL_FOLLOWS, *NO_CELL)}
even_guess = -np.log(decoder.model.embed_tokens.num_embeddings)
pictures.lens_of_cell(cell_lens, CELL_FOLLOWS, NO_CELL, even_guess)

# %% [markdown]
# In the first two thirds of the layers, *cell* is far from the top; it rises in the last ten of thirty layers. After the other prompts, its median rank stays
# in the hundreds. In the middle layers, the lens gives *cell* a lower probability than a uniform distribution would. The lens therefore does not show what the
# model is "thinking", because it reads the stream in coordinates that the model does not use until later. We chose the twelve prompts ourselves, so they show only the
# general shape of the curves.

# %% [markdown]
# For English, nobody knows the correct distribution of the next word. For the generated language, we do. Let p be the exact distribution and q the model's.
# The additional cost of predicting with q is the **Kullback–Leibler divergence**,
#
# $$\mathrm{KL}(p \,\|\, q) = \sum_v p(v)\, \log \frac{p(v)}{q(v)},$$
#
# in nats; it is 0 only if p and q agree. Most words are impossible at a given position, so p contains many zeros.

# %% nbgrader={"grade": false, "grade_id": "circuits-kl_divergence", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kl_divergence(
    p: Float[Tensor, "*N V"], logits: Float[Tensor, "*N V"]
) -> Float[Tensor, "*N"]:
    """KL(p || q) in nats, where q is the softmax of the logits.  (difficulty ●○○, 4 minutes)

    Each row of p sums to 1 and may contain zeros: a word with p = 0 contributes 0, however
    small q is there. Logits may be far from 0 (±200). Only the last axis is summed over.
    """
    ### BEGIN SOLUTION
    return (torch.xlogy(p, p) - p * logits.log_softmax(dim=-1)).sum(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-kl_divergence-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("circuits.kl_divergence", lambda case: kl_divergence(case["p"], case["logits"]))

# %% [markdown]
# The figure shows the residual stream of the small GPT (07), a pre-norm model with two layers. Your lens reads the stream at five points.

# %% tags=["demo"]
pictures.stream()

# %% nbgrader={"grade": false, "grade_id": "inside-logit_lens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def logit_lens(
    stream: Float[Tensor, "points B T D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"],
    table: Float[Tensor, "V D"],
) -> Float[Tensor, "points B T V"]:
    """Logits at each point of the residual stream.  (difficulty ●●○, 6 minutes)

    Apply the final layer norm to each vector of the stream: subtract the mean of its
    coordinates, divide by √(variance + 10⁻⁵), multiply by gain and add bias. The variance is
    the mean squared distance from the mean. A logit is the dot product with a row of the
    table.
    """
    ### BEGIN SOLUTION
    centred = stream - stream.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return (centred / (variance + 1e-5).sqrt() * gain + bias) @ table.T
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-logit_lens-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("inside.logit_lens", lambda case: logit_lens(**case))

# %% [markdown]
# We compare the lens with the exact distribution on 200 held-out sentences. The baselines are an untrained GPT, the stream of another sentence at the same
# position, and two count models, one of single words (unigrams) and one of pairs (bigrams).
#
# **Predict:** what is the KL divergence after the first of two layers? For the untrained model it is about 6 nats, for the bigram counts about 1.4.

# %% tags=["demo"]
predict("inside.lens", ...)

# %% tags=["demo"]
from coursekit.language import load_language
from coursekit.modules import causal_mask
from coursekit.small import BERT, GPT, load as load_small
from coursekit.small.bert import MASK, single

@torch.no_grad()
def stream_of(gpt: GPT, ids: Int[Tensor, "B T"]) -> Float[Tensor, "2L+1 B T D"]:
    """The residual stream: first the embeddings, then the stream after each attention block
    and each feed-forward network."""
    points, keep = [gpt.embed(ids)], causal_mask(ids.shape[1])
    for trained in gpt.layers:
        x = points[-1]
        points.append(x + trained.attention(trained.norm_attention(x), keep))
        x = points[-1]
        points.append(x + trained.feed_forward(trained.norm_feed_forward(x)))
    return torch.stack(points)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about five seconds.")
language = load_language()
small_gpt, small_bert = load_small("gpt"), load_small("bert")
told = language.sample(200, np.random.default_rng(8), split="held_out")
told_ids, told_lengths = torch.tensor(told.ids), torch.tensor(told.lengths)
exact_next = torch.tensor(language.next_word(told.ids)[:, 1:], dtype=torch.float32)
is_word = (told_ids[:, 1:] != 0).float()

def by_sentence(each: Float[Tensor, "B T"]) -> np.ndarray:
    """The mean over the words of each sentence."""
    return ((each * is_word).sum(dim=1) / is_word.sum(dim=1)).numpy()

def in_nats(each: np.ndarray) -> tuple[float, float, float]:
    return (each.mean(), *bootstrap(each, draws=500))

@torch.no_grad()
def lens_of(gpt: GPT, points: Float[Tensor, "points B T D"]) -> list[Tensor]:
    """Logits of the next word at each point, one point at a time to save memory."""
    return [logit_lens(x[None, :, :-1], gpt.norm.weight, gpt.norm.bias, gpt.token.weight)[0] for x in points]

def distances(logits: list[Tensor]) -> list[tuple[float, float, float]]:
    return [in_nats(by_sentence(kl_divergence(exact_next, q))) for q in logits]

torch.manual_seed(0)
raw_gpt, raw_bert = GPT(small_gpt.config).eval(), BERT(small_bert.config).eval()
points = stream_of(small_gpt, told_ids)
read_off = lens_of(small_gpt, points)
others = torch.randperm(len(points[0]), generator=torch.Generator().manual_seed(1))

# A linear map from each point to the last one, fitted on training sentences (as in the tuned lens).
drawn = language.sample(60_000, np.random.default_rng(9), split="train").ids
fitted_ids = torch.tensor(drawn[:2000])
to_fit, of_word = stream_of(small_gpt, fitted_ids)[:, :, :-1], fitted_ids[:, 1:] != 0

@torch.no_grad()
def translated(point: int) -> Float[Tensor, "B T D"]:
    x, y = (torch.cat([part, torch.ones(*part.shape[:-1], 1)], dim=-1) for part in (to_fit[point][of_word], points[point]))
    return y @ torch.linalg.lstsq(x, to_fit[-1][of_word]).solution

V = len(language.vocabulary)
pairs_of_words = torch.tensor(drawn)
last, following = (part.flatten() for part in (pairs_of_words[:, :-1], pairs_of_words[:, 1:]))
last, following = last[following != 0], following[following != 0]
frequent = torch.bincount(following, minlength=V) + 0.01
frequent = frequent / frequent.sum()
after_word = torch.bincount(last * V + following, minlength=V * V).view(V, V) + 5 * frequent
lens = {
    "logit lens": distances(read_off),
    "after a fitted linear map": distances(lens_of(small_gpt, [translated(n) for n in range(5)])),
    "stream of another sentence": distances(lens_of(small_gpt, points[:, others])),
    "untrained GPT": distances(lens_of(raw_gpt, stream_of(raw_gpt, told_ids))),
}
counts = {
    "unigram counts": in_nats(by_sentence(kl_divergence(exact_next, frequent.log().expand_as(exact_next)))),
    "bigram counts": in_nats(by_sentence(kl_divergence(exact_next, after_word.log()[told_ids[:, :-1]]))),
}
reveal("inside.lens", lens["logit lens"][2][0])

hidden_at = (torch.rand(len(told), generator=torch.Generator().manual_seed(2)) * (told_lengths - 2)).long() + 1
rows = torch.arange(len(told))
is_hidden = torch.zeros_like(told_ids, dtype=torch.bool)
is_hidden[rows, hidden_at] = True
exact_masked = torch.tensor(language.masked_word(told.ids, is_hidden.numpy())[rows, hidden_at], dtype=torch.float32)
with_masks = single(told_ids).masked_fill(is_hidden, MASK)

@torch.no_grad()
def lens_of_bert(bert: BERT) -> list[tuple[float, float, float]]:
    states = bert.encode(bert.embeddings(with_masks, torch.zeros_like(with_masks)), with_masks != 0)
    return [in_nats(kl_divergence(exact_masked, bert.masked_word(x[rows, hidden_at], bert.embeddings.token.weight)).numpy())
            for x in states]

lens_bert = {"masked-word head": lens_of_bert(small_bert), "untrained BERT": lens_of_bert(raw_bert)}
pictures.lens(lens, counts, lens_bert)
tops = [q.argmax(dim=-1) for q in read_off]
says = pd.DataFrame({
    "predicts the word just read": [by_sentence((top == told_ids[:, :-1]).float()).mean() for top in tops],
    "exact probability of the predicted word": [by_sentence(exact_next.gather(-1, top[..., None])[..., 0]).mean() for top in tops],
}, index=pictures.POINTS).T
display(says.style.format("{:.2f}"))
most_possible = by_sentence(exact_next.max(dim=-1).values).mean()
print(f"exact probability of the most probable word: {most_possible:.2f}")

# %% [markdown]
# After the embedding, the lens is further from the exact distribution than an untrained model is. The lens predicts the word just read, because input and output
# share one table. With every component, the lens comes closer, and the final output is nearly exact. After layer 1, it beats the bigram counts: the stream
# contains information about more than the last word. The stream of another sentence is further away than an untrained model at every point: its predictions are confident but
# belong to that sentence.
#
# A linear map that is fitted for each point extracts more than the plain lens (Belrose et al. 2023), which shows only what is already encoded *in the
# coordinates of the output*.

# %% [markdown]
# ## 2 · What a head contributes
#
# The lens shows what the stream contains, not what the model uses. To find out what a component does, we remove it and measure the loss. Such an **ablation**
# has two variants. **Zero ablation** replaces a head's output with zeros, an input that later components may never have received. **Mean
# ablation** replaces the output with its mean over many words: this keeps what all words have in common and removes what is specific to this word.

# %% nbgrader={"grade": false, "grade_id": "inside-ablate_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate_head(
    outputs: Float[Tensor, "B H T d"], real: Int[Tensor, "B T"], head: int
) -> Float[Tensor, "2 B H T d"]:
    """The outputs of a layer's heads with one head removed.  (difficulty ●●○, 8 minutes)

    Row 0: the head's output is zero. Row 1: at every position, padding included, the head's
    output is replaced with its mean over all real tokens of all sentences, a single vector of
    d coordinates. `real` is 1 for tokens and 0 for padding, which is excluded from the mean.
    Heads are numbered from 0. Leave the other heads and `outputs` unchanged.
    """
    ### BEGIN SOLUTION
    mean = outputs[:, head][real == 1].mean(dim=0)         # d
    zeroed, meaned = outputs.clone(), outputs.clone()
    zeroed[:, head], meaned[:, head] = 0, mean
    return torch.stack([zeroed, meaned])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-ablate_head-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.ablate_head", lambda case: ablate_head(
    case["outputs"], case["real"], case["head"]
))

# %% [markdown]
# A **hook** is a function that a module calls when it runs; the value that our hook returns replaces the module's input. We attach the hook where the
# concatenated outputs of the heads enter the last projection of attention. **Predict:** the outputs of all eight heads of GPT are replaced with zeros at once.
# By what factor does the resulting increase in loss exceed the sum of the eight individual increases?

# %% tags=["demo"]
predict("inside.together", ...)

# %% tags=["demo"]
def without_heads(network, taken: list[tuple[int, int]], row: int, real: Tensor) -> list:
    """Hooks that ablate the given heads (layer, head) with row 0 or 1 of `ablate_head`;
    remove() detaches them."""
    def hook_of(heads: list[int]):
        def hook(module, inputs):
            outputs = inputs[0].unflatten(-1, (4, -1)).transpose(1, 2)       # B H T d
            for taken_head in heads:
                outputs = ablate_head(outputs, real, taken_head)[row]
            return (outputs.transpose(1, 2).flatten(2),)
        return hook
    by_layer_taken = {of: [h for at, h in taken if at == of] for of, _ in taken}
    return [network.layers[of].attention.output.register_forward_pre_hook(hook_of(heads))
            for of, heads in by_layer_taken.items()]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about five seconds.")

@torch.no_grad()
def loss_of_gpt() -> np.ndarray:
    """The loss of each sentence, in nats per word."""
    logits = small_gpt.encode(small_gpt.embed(told_ids))[-1][:, :-1] @ small_gpt.token.weight.T
    return by_sentence(-logits.log_softmax(dim=-1).gather(-1, told_ids[:, 1:, None])[..., 0])

@torch.no_grad()
def loss_of_bert() -> np.ndarray:
    """The loss in nats at one masked word of each sentence, averaged over four choices of the word."""
    found_losses = []
    for begin in range(4):
        at = 1 + (hidden_at - 1 + begin) % (told_lengths - 2)
        inputs = single(told_ids).clone()
        inputs[rows, at] = MASK
        states = small_bert.encode(small_bert.embeddings(inputs, torch.zeros_like(inputs)), inputs != 0)[-1]
        logits = small_bert.masked_word(states[rows, at], small_bert.embeddings.token.weight)
        found_losses.append(-logits.log_softmax(dim=-1)[rows, told_ids[rows, at]])
    return torch.stack(found_losses).mean(dim=0).numpy()

def worth(network, loss, taken: list[tuple[int, int]], row: int) -> np.ndarray:
    """The increase in the loss of each sentence, in nats, when these heads are ablated."""
    hooks = without_heads(network, taken, row, (told_ids != 0).long())
    without = loss()
    for hook in hooks:
        hook.remove()
    return without - loss_before[network]

TWO_WAYS = "zeros", "mean"
HEADS = [(of, h) for of in range(2) for h in range(4)]
loss_before = {small_gpt: loss_of_gpt(), small_bert: loss_of_bert()}
worths, together = {}, {}
for name_of_model, network, loss in (("GPT", small_gpt, loss_of_gpt), ("BERT", small_bert, loss_of_bert)):
    for row, way in enumerate(TWO_WAYS):
        worths[name_of_model, way] = np.array([worth(network, loss, [which], row) for which in HEADS])     # 8 sentences
        together[name_of_model, way] = worth(network, loss, HEADS, row)

def shown(mean: float, low: float, high: float) -> str:
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"

pictures.worths(worths)
display(pd.DataFrame({
    f"{name_of_model}, {way}": {
        "sum of the eight individual increases": shown(*in_nats(each.sum(axis=0))), "all eight together": shown(*in_nats(together[name_of_model, way])),
    } for (name_of_model, way), each in worths.items()
}).T)
ratio_together = together["GPT", "zeros"].mean() / worths["GPT", "zeros"].sum(axis=0).mean()
reveal("inside.together", ratio_together)

# %% [markdown]
# Each number is the mean increase in loss without one head, with its 95 % interval (over sentences) below. In a large translation model, most heads can be
# removed one at a time with little loss (Michel et al. 2019). Zero and mean ablation differ by a few hundredths of a nat at most. However, the effects do *not*
# add up: removing all eight heads increases the loss by several times the sum of the individual increases. The heads are partly redundant: if one is removed, the others can replace it (McGrath et al.
# 2023, in a large model). Therefore, a small effect does not mean that a head does little.

# %% [markdown]
# With another random initialisation, other heads may be important. Notebook 07 (*Further: a model that must learn from its prompt*) shows two heads with a known function, the **induction
# head** and the previous-token head.

# %% [markdown]
# ## 3 · Activation patching
#
# Which position carries the information about the sense of an ambiguous word, and at which layer? **Activation patching** (Vig et al. 2020; Meng et al. 2022) answers this question by replacing vectors.
# We take two sentences of the same length. We run the model on the first sentence, but replace *one* vector, at one position of one
# layer, with the corresponding vector from the run on the second sentence: we **patch** it. If the answer changes to that of the second sentence, this vector carried the
# difference.

# %% nbgrader={"grade": false, "grade_id": "inside-patching", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patching(
    layers: list, target: Float[Tensor, "T D"], source: Float[Tensor, "T D"]
) -> Float[Tensor, "L+1 T T D"]:
    """The target's run with one vector from the source's run, for each layer and position.
    (difficulty ●●●, 12 minutes)

    Each of the L layers is a function from (B, T, D) to (B, T, D); `target` and `source` are
    inputs to the first layer. Entry [l, t] contains the T vectors after the *last* layer when,
    in the input to layer l, the vector at position t is replaced with the source's vector at
    the same layer and position, and all others are the target's. For [L, t], the vector is
    replaced after the last layer. Patch exactly one vector in each run.
    """
    ### BEGIN SOLUTION
    T, found = len(target), []
    both = torch.stack([target, source])                   # 2 T D: the two runs, unchanged
    for layer in range(len(layers) + 1):
        x = both[0].repeat(T, 1, 1)                        # T T D: a run for each position
        x[range(T), range(T)] = both[1]
        for rest in layers[layer:]:
            x = rest(x)
        found.append(x)
        both = layers[layer](both) if layer < len(layers) else both
    return torch.stack(found)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-patching-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from functools import partial

def tiny_layer(A: Float[Tensor, "T T"], W: Float[Tensor, "D D"], x: Tensor) -> Tensor:
    """Mix the words with a T × T matrix, then transform each one separately."""
    return x + torch.tanh(A @ x @ W)

def tiny_layers(among, within) -> list:
    """Layers from the matrices of a case."""
    return [partial(tiny_layer, A, W) for A, W in zip(among, within)]

check("inside.patching", lambda case: patching(
    tiny_layers(case["among"], case["within"]), case["target"], case["source"]
))

# %% [markdown]
# In the small BERT (06), word *order* may determine the sense: "the farmer painted the spring for the mechanics" is about the season. If the people
# change places, it is about the coil. The score is computed from the ambiguous word's vector after the last layer. It is the cosine of this vector with the mean
# vector of the source's sense minus its cosine with the mean vector of the target's sense. The **share restored** by a patch is the change in score, scaled to be 0 for the target's run and 1 for the source's
# run. The controls are all other positions, and a source of the *same* sense with another word as the cue.

# %% [markdown]
# **Predict:** after layer 1, we patch the vector of the noun for the person who acts. What share of the difference is restored?

# %% tags=["demo"]
predict("inside.restored", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about five seconds.")
from torch import cosine_similarity as cosine

from coursekit.language.partners import partners

def restored(layers, target, source, place: int, senses_of: tuple[Tensor, Tensor], ends=None) -> tuple[np.ndarray, tuple]:
    """The share of the difference that each patch restores, (L+1, T), and the scores of both runs."""
    patched = patching(layers, target, source)[:, :, place]                              # L+1 T D
    score = cosine(patched, senses_of[1], dim=-1) - cosine(patched, senses_of[0], dim=-1)
    if ends is None:
        runs = torch.stack([target, source])
        for one_layer in layers:
            runs = one_layer(runs)
        ends = tuple((cosine(runs[:, place], senses_of[1], dim=-1) - cosine(runs[:, place], senses_of[0], dim=-1)).tolist())
    return ((score - ends[0]) / (ends[1] - ends[0])).numpy(), ends

# BERT: the person who acts is at position 2, the ambiguous word at 5, the other people at 8.
labelled = language.sample(12_000, np.random.default_rng(10), split="train")
labelled = labelled[labelled.position >= 0]
with torch.no_grad():
    cls_ids = single(torch.tensor(labelled.ids))
    last_states = small_bert.encode(small_bert.embeddings(cls_ids, torch.zeros_like(cls_ids)), cls_ids != 0)[-1]
    last_states = last_states[torch.arange(len(cls_ids)), torch.tensor(labelled.position)]
mean_of_sense = torch.stack([last_states[torch.tensor(labelled.sense == one_sense)].mean(dim=0) for one_sense in range(len(language.senses))])
acting = language.sample(12_000, np.random.default_rng(11), split="held_out")
acting = acting[(acting.cue == "order1") & (acting.position == 5) & (acting.lengths == 10)][:80]
exchanged = partners(language, acting)

def in_bert(layer, x: Tensor) -> Tensor:
    return layer(x, torch.ones(1, 1, x.shape[1], dtype=torch.bool))

bert_layers = [partial(in_bert, layer) for layer in small_bert.layers]

@torch.no_grad()
def enters_bert(ids: np.ndarray) -> Float[Tensor, "T D"]:
    ids = single(torch.tensor(ids[None]))
    return small_bert.embeddings(ids, torch.zeros_like(ids))[0]

order_maps, same_order = [], []
with torch.no_grad():
    for n in range(len(acting)):
        both_senses = mean_of_sense[acting.sense[n]], mean_of_sense[exchanged.sense[n]]
        x, y = enters_bert(acting.ids[n, :10]), enters_bert(exchanged.ids[n, :10])
        shares, ends = restored(bert_layers, x, y, 5, both_senses)
        order_maps.append(shares)
        alike = [m for m in range(len(acting)) if m != n and acting.sense[m] == acting.sense[n] and acting.ids[m, 2] != acting.ids[n, 2]]
        if alike:
            z = x.clone()
            z[2] = enters_bert(acting.ids[alike[0], :10])[2]
            same_order.append(restored(bert_layers, x, z, 5, both_senses, ends)[0])
order_maps, same_order = np.array(order_maps), np.array(same_order)
reveal("inside.restored", order_maps[:, 1, 2].mean())
ROLES = ["[CLS]", "the", "who acts", "acts on", "the", "word", "for, beside, …", "the", "the others", "[SEP]"]
pictures.patched({"small BERT: order decides": (order_maps.transpose(0, 2, 1), ROLES)},
                 {"small BERT: order decides": same_order.transpose(0, 2, 1)})
at_word = order_maps[:, 1, 5]
low, high = bootstrap(at_word, draws=500)
print(f"share restored by the ambiguous word's own vector after layer 1: {at_word.mean():.2f} (95 % interval over pairs {low:.2f} to {high:.2f})")

# %% [markdown]
# In each panel, the first column shows the effect of patching an input vector, and the last column shows the effect of patching a vector after the last layer.
# After layer 1, the ambiguous word's vector does *not* contain the sense. The information is in the vector of the person who acts, as if layer 1 had noted
# "this person acts"; layer 2 passes it on to the ambiguous word. A recorded test agrees: on such sentences, the sense is identified at chance level from this BERT's vectors after layer 1 and
# almost always correctly after layer 2. (A BERT with another initialisation identifies three out of four senses after layer 1.)

# %% [markdown]
# ## 4 · A gradient instead of many runs
#
# Patching needs one run for every layer and position. **Attribution patching** (Nanda 2023) estimates all effects from a single gradient. If the source's
# vector replaces the target's, the score changes by approximately the gradient of the score times the difference of the two vectors. In general, this estimate is exact
# only if the score is linear in the patched vector.

# %% nbgrader={"grade": false, "grade_id": "circuits-attribution", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attribution(
    layers: list, target: Float[Tensor, "T D"], source: Float[Tensor, "T D"], score
) -> Float[Tensor, "L+1 T"]:
    """Estimates of how each patch changes the score.  (difficulty ●●○, 8 minutes)

    `layers`, `target` and `source` are those of `patching`; `score` is a function from the
    vectors after the last layer, (T, D), to a number. Entry [l, t] is a dot product: the
    gradient of the target's score with respect to the target's vector at position t in the
    input to layer l, times the source's vector minus the target's at the same layer and
    position. The last row belongs to the vectors after the last layer.
    """
    ### BEGIN SOLUTION
    states, others = [target.clone().requires_grad_()], [source]
    for layer in layers:
        states.append(layer(states[-1][None])[0])
        others.append(layer(others[-1][None])[0])
    slopes = torch.autograd.grad(score(states[-1]), states)
    rows = [
        (slope * (other - state)).sum(dim=-1)
        for slope, other, state in zip(slopes, others, states)
    ]
    return torch.stack(rows).detach()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-attribution-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
def tiny_score(
    direction: Float[Tensor, "D"], vectors: Float[Tensor, "T D"]
) -> Float[Tensor, ""]:
    """A number that depends on the vectors at all positions."""
    return (vectors @ direction).square().sum()

check("circuits.attribution", lambda case: attribution(
    tiny_layers(case["among"], case["within"]), case["target"], case["source"],
    partial(tiny_score, case["direction"])))

# %% [markdown]
# We compare the estimate with the exact effects from section 3. A third method, **integrated gradients** (Sundararajan et al. 2017), averages the
# gradient over eight points on the line between the two vectors, which requires eight gradients for each layer instead of one.
#
# **Predict:** patching the *input* vector of the person who acts restores a share of about 0.9. What share does your estimate predict?

# %% tags=["demo"]
predict("circuits.estimated", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.features import integrated_gradients

print("This takes about ten seconds.")

def towards_source(senses_of: tuple[Tensor, Tensor], vectors: Float[Tensor, "T D"]) -> Float[Tensor, ""]:
    """The score of section 3, from the vector of the ambiguous word at position 5."""
    return cosine(vectors[5], senses_of[1], dim=0) - cosine(vectors[5], senses_of[0], dim=0)

estimates = {"gradient × difference": [], "integrated gradients": []}
for n in range(len(acting)):
    both_senses = mean_of_sense[acting.sense[n]], mean_of_sense[exchanged.sense[n]]
    x, y = enters_bert(acting.ids[n, :10]), enters_bert(exchanged.ids[n, :10])
    score = partial(towards_source, both_senses)
    ends = []
    with torch.no_grad():
        for run in (x, y):
            for one_layer in bert_layers:
                run = one_layer(run[None])[0]
            ends.append(score(run))
    for name, method in zip(estimates, (attribution, integrated_gradients)):
        estimates[name].append((method(bert_layers, x, y, score) / (ends[1] - ends[0])).numpy())
estimates = {name: np.array(values) for name, values in estimates.items()}
reveal("circuits.estimated", estimates["gradient × difference"][:, 0, 2].mean())
pictures.attributed(order_maps, estimates, ROLES)
right_place = {layer: (estimates["gradient × difference"][:, layer].argmax(axis=1) == order_maps[:, layer].argmax(axis=1)).mean()
               for layer in range(2)}
for layer, share in right_place.items():
    print(f"patched after layer {layer}: the estimate is largest at the position with the largest exact effect in {share:.0%} of {len(acting)} pairs")

# %% [markdown]
# After layer 1, the estimate finds the right position but only about two thirds of the effect. At the input, it predicts about a seventh of the true effect, and
# in a third of the pairs it is largest at a wrong position. The input vectors of two different words are far apart, and the softmax and the norms
# are not linear over such a long step. Integrated gradients nearly agree with the exact effects, because they use the gradient along the whole step. Use a gradient to find
# candidates, and patches to confirm them.

# %% [markdown]
# ## 5 · Finding and testing a circuit
#
# Which heads carry the information about who acts on what? A **circuit** is a set of components that together perform a task. We look for one on sentences of the training split and test
# it on held-out sentences. Otherwise, we might select heads whose effects are large by chance. We remove the heads that you list by mean ablation. The predicted sense is the one
# whose mean vector is nearest to the word's vector. Sentences in which a *word* determines the sense (left, right) are the controls.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
word_of_sense = np.array([name.split("#")[0] for name in language.senses])
same_word_as = torch.tensor(word_of_sense[:, None] == word_of_sense)
ASKED = "left", "right", "order1", "order2"

def some_sentences(number: int, seed: int, split: str):
    """Sentences of the four kinds of question."""
    drawn_there = language.sample(number, np.random.default_rng(seed), split)
    return drawn_there[np.isin(drawn_there.cue, ASKED)]

@torch.no_grad()
def senses_found(sentences, removed: list[tuple[int, int]]) -> np.ndarray:
    """For each sentence, whether the correct sense is found when BERT runs without these heads (layer, head), numbered from 0."""
    ids, at = single(torch.tensor(sentences.ids)), torch.tensor(sentences.position)
    hooks = without_heads(small_bert, removed, 1, (ids != 0).long())
    states = small_bert.encode(small_bert.embeddings(ids, torch.zeros_like(ids)), ids != 0)[-1]
    for hook in hooks:
        hook.remove()
    vectors, sense = states[torch.arange(len(ids)), at], torch.tensor(sentences.sense)
    close = torch.nn.functional.normalize(vectors, dim=-1) @ torch.nn.functional.normalize(mean_of_sense, dim=-1).T
    return (close.masked_fill(~same_word_as[sense], -torch.inf).argmax(dim=1) == sense).numpy()

searched = some_sentences(2_000, 20, "train")
with_all = senses_found(searched, [])

def costs(sentences, before: np.ndarray, removed: list[tuple[int, int]]) -> dict[str, np.ndarray]:
    """For each kind of question, the loss of accuracy on each of its sentences: 1, 0 or −1."""
    lost = before.astype(float) - senses_found(sentences, removed)
    return {kind: lost[sentences.cue == kind] for kind in ASKED}

# %% tags=["demo"]
YOUR_HEADS = [(2, 3)]        # (layer 1 or 2, head 0 to 3): change them, add others

your_heads = [(layer - 1, head) for layer, head in YOUR_HEADS]
for kind, lost in costs(searched, with_all, your_heads).items():
    print(f"{kind:<7} accuracy falls by {100 * lost.mean():5.1f} points")

# %% [markdown]
# Try some heads before you continue. The next cell removes one head at a time and selects the heads whose removal costs at least five points on the order questions and less than
# two on the others. It then tests the selected heads *together* on held-out sentences.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about ten seconds.")
alone = {which: costs(searched, with_all, [which]) for which in HEADS}

def mean_cost(lost: dict[str, np.ndarray], kinds: tuple[str, ...]) -> float:
    return 100 * np.concatenate([lost[kind] for kind in kinds]).mean()

display(pd.DataFrame({f"layer {of + 1}, head {h}": {kind: f"{100 * each.mean():.1f}" for kind, each in lost.items()}
                      for (of, h), lost in alone.items()}).T.rename_axis("points of accuracy lost without this head (search)"))
circuit = [which for which, lost in alone.items()
           if mean_cost(lost, ASKED[2:]) >= 5 and mean_cost(lost, ASKED[:2]) < 2]
print("selected:", ", ".join(f"layer {of + 1}, head {h}" for of, h in circuit))
least = sorted((which for which in HEADS if which not in circuit), key=lambda which: mean_cost(alone[which], ASKED))[: len(circuit)]
collector = max(HEADS, key=lambda which: mean_cost(alone[which], ASKED))
tested = some_sentences(4_000, 21, "held_out")
before_test = senses_found(tested, [])
REMOVALS = {
    "the circuit": circuit,
    "two other heads": least,
    "four other heads": [which for which in HEADS if which not in (*circuit, collector, (0, 0))],
}
held_out_costs = {name: costs(tested, before_test, removed) for name, removed in REMOVALS.items()}
pictures.knockouts(held_out_costs, {kind: before_test[tested.cue == kind].mean() for kind in ASKED})
loss_by_circuit = in_nats(worth(small_bert, loss_of_bert, circuit, 1))
print("increase in the loss at masked words without the circuit: {:.3f} nats ({:.3f} to {:.3f})".format(*loss_by_circuit))

@torch.no_grad()
def restored_by_head(which: tuple[int, int], sentences, sources, number: int = 200) -> float:
    """The share of the difference that is restored if one head's output is patched from the run on the sentence with the people exchanged."""
    runs, at = [], torch.tensor(sentences.position[:number])
    both_ids = [single(torch.tensor(each.ids[:number])) for each in (sentences, sources)]
    projection = small_bert.layers[which[0]].attention.output
    part = slice(which[1] * (projection.in_features // 4), (which[1] + 1) * (projection.in_features // 4))
    kept = {}
    def keep_it(module, inputs):
        kept["output"] = inputs[0][..., part].clone()
    def put_in(module, inputs):
        changed = inputs[0].clone()
        changed[..., part] = kept["output"]
        return (changed,)
    for ids, hook in ((both_ids[1], keep_it), (both_ids[0], None), (both_ids[0], put_in)):
        attached = projection.register_forward_pre_hook(hook) if hook else None
        states = small_bert.encode(small_bert.embeddings(ids, torch.zeros_like(ids)), ids != 0)[-1][torch.arange(len(ids)), at]
        if attached:
            attached.remove()
        runs.append(cosine(states, mean_of_sense[sources.sense[:number]], dim=-1) - cosine(states, mean_of_sense[sentences.sense[:number]], dim=-1))
    there, here, between = (run.mean() for run in runs)
    return ((between - here) / (there - here)).item()

in_order = tested[np.isin(tested.cue, ASKED[2:])]
exchanged_people = partners(language, in_order)
by_exchange = {which: restored_by_head(which, in_order, exchanged_people) for which in HEADS}
print("share restored by patching one head's output:", ", ".join(f"layer {of + 1}, head {h}: {share:.2f}" for (of, h), share in by_exchange.items()))

# %% [markdown]
# Two heads of layer 1 are selected. Without them, accuracy on the order questions falls from nearly 1 to slightly above one half, the chance level.
# On questions in which a word determines the sense, it falls by 2 points (cue on the right) or does not change measurably (cue on the left). Removing two other heads, or
# four, costs next to nothing; with the remaining four heads, nearly all senses are still identified. However, the circuit also has another function: without it, the loss at masked words rises by 0.19 nats (95 % interval 0.14 to 0.24).

# %% [markdown]
# Patching the output of individual heads from the sentence with the people exchanged gives a different answer: only one head, in layer 2, matters, and the two heads of the
# circuit do not. Both results are correct. Probably the circuit marks *the position* of the person who acts. This mark is the same in both sentences, so a patch
# changes nothing. The head of layer 2 moves information about the marked person to the ambiguous word. This head also moves information from individual cue words: removing it reduces accuracy on all kinds of questions. A patch
# finds only what *differs* between two runs. (This is one BERT; with another initialisation, other heads may form the circuit.)

# %% [markdown]
# ## 6 · A sparse autoencoder
#
# A model may represent more features than its vectors have dimensions, each as a direction (*superposition*, Elhage et al. 2022). A **sparse autoencoder**
# (Bricken et al. 2023; Cunningham et al. 2023) tries to find these directions. It approximates each vector by a centre plus a weighted sum of a few of F learned directions, its
# **latents**. We call the true properties of the language *features*. The question is whether latents coincide with features.

# %% nbgrader={"grade": false, "grade_id": "circuits-encode", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode(
    x: Float[Tensor, "n D"], matrix: Float[Tensor, "D F"], bias: Float[Tensor, "F"],
    centre: Float[Tensor, "D"], k: int,
) -> Float[Tensor, "n F"]:
    """The codes of n vectors: how strongly each latent is active.  (difficulty ●●○, 7 minutes)

    Subtract the centre, multiply by the matrix, add the bias and apply a ReLU. If k is 0,
    these are the codes. Otherwise, keep only the k largest codes of each vector and set the
    others to 0 (k ≤ F). The autoencoder is trained through the codes that are kept. Autograd
    must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    codes = torch.relu((x - centre) @ matrix + bias)
    if k == 0:
        return codes
    kept = codes.topk(k, dim=1)
    return torch.zeros_like(codes).scatter(1, kept.indices, kept.values)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-encode-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("circuits.encode", lambda case: encode(**case),
      gradients=["x", "matrix", "bias", "centre"])

# %% [markdown]
# There are two ways to make the codes sparse: keep the k largest (Gao et al. 2024), or add their sum to the loss, an L1 penalty. A latent could
# evade this penalty with a small code and a long direction, so the penalty multiplies each code by the length of its direction. The matrix
# of the encoder may be *tied* to the directions, as their transpose (Cunningham et al. 2023). Ours is separate; section 7 compares the two variants.

# %% nbgrader={"grade": false, "grade_id": "circuits-sparse_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sparse_loss(
    x: Float[Tensor, "n D"], codes: Float[Tensor, "n F"], directions: Float[Tensor, "F D"],
    centre: Float[Tensor, "D"], l1: float,
) -> Float[Tensor, ""]:
    """Reconstruction error plus penalty, mean over n vectors.  (difficulty ●●○, 6 minutes)

    A vector is decoded as the centre plus the sum of the directions, each multiplied by its
    code. The error of a vector is the squared distance between x and the decoded vector,
    summed over its D coordinates. Its penalty is l1 times the sum of its codes, each
    multiplied by the length of its direction. Autograd must be able to differentiate the
    result.
    """
    ### BEGIN SOLUTION
    errors = (x - codes @ directions - centre).square().sum(dim=1)
    return (errors + l1 * (codes @ directions.norm(dim=1))).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-sparse_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("circuits.sparse_loss", lambda case: sparse_loss(**case),
      gradients=["x", "codes", "directions", "centre"])

# %% [markdown]
# We train 256 latents on the vectors of BERT's last layer (D = 96), with k = 8. Besides topic and sense, we know each word's part of speech, its number, and
# whether it occurs after *that*, in a second clause (its clause depth). We also know its **slot**: the list of words from which the sentence frame chose it, such as
# "gardener", "farmer", "neighbor" and "florist".

# %% tags=["demo"]
from coursekit import features

print("This takes about ten seconds.")
train_tokens = features.read(4_000, 1, "train")
test_tokens = features.read(1_500, 2, "held_out")
learned = features.new_dictionary(train_tokens.x, width=256, k=8, seed=0)
live_losses = features.train(learned, train_tokens.x, encode, sparse_loss)
codes = features.codes_of(learned, test_tokens.x, encode)
of_live = features.summary(learned, test_tokens.x, codes)
print(
    f"loss {np.mean(live_losses[:20]):.1f} → {np.mean(live_losses[-20:]):.1f};",
    f"variance left unexplained {of_live['unexplained']:.0%};",
    f"latents that are never active ({len(codes):,} tokens): {of_live['dead']:.1%}",
)

# %% [markdown]
# A latent that is never active is **dead**: it receives no gradient, so it remains inactive. Dead latents are a problem in large autoencoders; in ours, there are hardly any.
#
# ## 7 · Latents scored against true features
#
# Usually, a latent is named after the texts on which it is most active. Here, we can check whether the name is correct.

# %% nbgrader={"grade": false, "grade_id": "circuits-detection", "locked": false, "schema_version": 3, "solution": true, "task": false}
def detection(
    active: Bool[Tensor, "n F"], truth: Bool[Tensor, "n C"]
) -> Float[Tensor, "2 F C"]:
    """Precision and recall of each latent for each feature.  (difficulty ●●○, 7 minutes)

    Row 0, precision: of the tokens on which the latent is active, the share that have the
    feature; 0 for a latent that is never active. Row 1, recall: of the tokens that have the
    feature, the share on which the latent is active; 0 for a feature that no token has.
    """
    ### BEGIN SOLUTION
    active, truth = active.float(), truth.float()
    both = active.T @ truth
    precision = both / active.sum(dim=0)[:, None].clamp_min(1)
    return torch.stack([precision, both / truth.sum(dim=0).clamp_min(1)])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-detection-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("circuits.detection", lambda case: detection(case["active"], case["truth"]))

# %% tags=["demo"]
on_train = features.codes_of(learned, train_tokens.x, encode)
best_latents = features.detected(on_train, codes, train_tokens, test_tokens, detection)
SHOWN = [
    "topic prison", "topic money", "sense cell#prison", "sense bank#river", "number plural",
    "clause depth 1", "part of speech noun", "slot gardener/farmer/neighbor/florist",
]
pictures.latents(best_latents.set_index("name").loc[SHOWN], codes, test_tokens.words)

# %% [markdown]
# The words on which a latent is most active often look convincing, but its precision and recall are lower than they suggest. For the best latent of each
# feature, we summarise both by their harmonic mean, **F1**. The latent and its threshold are chosen on training tokens. The baselines are chosen in the same way: principal components, random directions, and a
# detector that is always active. The linear probe was trained *with* the labels and shows what a single direction can achieve.
#
# **Predict:** for topics, the linear probe reaches an F1 of about 0.7. What is the F1 of the autoencoder?

# %% tags=["demo"]
predict("circuits.topics", ...)

# %% tags=["demo"]
from coursekit.datasets import read_table

recorded = read_table("results/sparse_autoencoders.csv")
for_topics = recorded.query(
    "method == 'top-k' and kind == 'topic' and width == 256 and k == 8"
)
reveal("circuits.topics", for_topics.f1.mean())
pictures.recovered(recorded)
pictures.settings_of_autoencoders(recorded)

# %% [markdown]
# For **topics**, the F1 of the autoencoder is more than twice that of principal components or random directions, and close to that of the probe. A topic is
# present in few sentences and shifts all word vectors of a sentence in the same direction. Such directions are what a sparse autoencoder is designed to find. The autoencoder is also better than these baselines for
# parts of speech and slots.

# %% [markdown]
# For the other features, the autoencoder is no better than these baselines. More than a quarter of all words follow *that*, but no latent detects **clause depth**: even a detector that is always active has a
# higher F1. For **senses**, the best of 256 random directions does as well: a word has only two or three senses, and one of so many directions is likely to separate
# them. Without this baseline, an F1 of 0.84 would look like a discovery. The probe shows that all these features can be read from the vectors.

# %% [markdown]
# Greater width helps with rare features: from 64 to 512 latents, the F1 for slots nearly doubles and reaches that of the probe. Common features **split**: with 512 latents, the
# tokens of one part of speech are covered by 15 more specific latents on average. **Absorption** (Chanin et al. 2024) occurs as well: 19 % to 35 % of the plural nouns (256 latents, three seeds) activate a more specific
# latent but not the latent that detects the plural with the highest recall. With 512 latents, the fraction is 37 % to 49 %.

# %% [markdown]
# A tied encoder leaves more variance unexplained, and its F1 for topics is lower; for other features, we measure no difference. With k = 4, the
# precision for topics is higher and the recall lower. With the L1 penalty, the autoencoder needs about 30 active latents to reconstruct the vectors as well as
# with the 8 largest codes.

# %% [markdown]
# ## 8 · Steering
#
# If a direction represents a sense, adding it should change what the model predicts. **Steering** adds a vector to the stream (Turner et al. 2023). The
# simplest steering vector is a difference of means.

# %% nbgrader={"grade": false, "grade_id": "circuits-steering_vector", "locked": false, "schema_version": 3, "solution": true, "task": false}
def steering_vector(
    vectors: Float[Tensor, "n D"], senses: Int[Tensor, "n"], towards: int, away: int
) -> Float[Tensor, "D"]:
    """The mean vector of one sense minus that of another.  (difficulty ●○○, 3 minutes)

    `senses[n]` is the sense of vector n. Ignore vectors of other senses.
    """
    ### BEGIN SOLUTION
    return vectors[senses == towards].mean(dim=0) - vectors[senses == away].mean(dim=0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "circuits-steering_vector-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("circuits.steering_vector", lambda case: steering_vector(**case))

# %% [markdown]
# We steer the GPT after layer 1, at an ambiguous word whose sense is still open: "this is probably the cell …". The means come from sentences with a cue on
# the left. Three exact distributions of the next word are known: given the sense that we steer towards, given the other sense, and without a given sense. We
# compare the difference of means with a random vector of the same length and with the difference between the directions of the two latents that best detect the two senses.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about ten seconds.")
gpt_train, gpt_test = features.read(4_000, 1, "train", "gpt"), features.read(500, 2, "held_out", "gpt")
of_gpt = features.new_dictionary(gpt_train.x, width=256, k=8, seed=0)
features.train(of_gpt, gpt_train.x, encode, sparse_loss)
latent_of = features.detected(*(features.codes_of(of_gpt, tokens.x, encode) for tokens in (gpt_train, gpt_test)),
                              gpt_train, gpt_test, detection).set_index("name").direction
with_cue_before = language.sample(8_000, np.random.default_rng(30), "train")
with_cue_before = with_cue_before[with_cue_before.cue == "left"]
at_the_word = features.activations_of("gpt", torch.tensor(with_cue_before.ids))[torch.arange(len(with_cue_before)), torch.tensor(with_cue_before.position)]
senses_before = torch.tensor(with_cue_before.sense)
still_open = language.sample(3_000, np.random.default_rng(31), "held_out")
still_open = still_open[still_open.cue == "right"]
STRENGTHS = 0.0, 0.25, 0.5, 1.0, 1.5, 2.0

@torch.no_grad()
def steered(ids: Int[Tensor, "B T"], added: Float[Tensor, "B D"]) -> Float[Tensor, "B V"]:
    """The GPT's logits of the word after the last token, with a vector added to that token's stream after layer 1."""
    x, keep = small_gpt.embed(ids), causal_mask(ids.shape[1])
    x = small_gpt.layers[0](x, keep).clone()
    x[:, -1] += added
    return small_gpt.norm(small_gpt.layers[1](x, keep)[:, -1]) @ small_gpt.token.weight.T

steering = []
for position in np.unique(still_open.position):
    some = still_open[still_open.position == position][:60]
    prefixes = some.ids[:, : position + 1]
    with_next = np.concatenate([prefixes, np.zeros((len(some), 1), dtype=int)], axis=1)
    rivals = [np.flatnonzero(word_of_sense == word_of_sense[sense]) for sense in some.sense]
    towards = some.sense
    away = np.array([next(one for one in each if one != sense) for each, sense in zip(rivals, towards)])
    exact_under = {}
    for name, wanted in (("towards", towards), ("away", away)):
        exact_under[name] = torch.zeros(len(some), V)
        for sense in np.unique(wanted):
            known = features.given_sense(language, int(position), int(sense))
            exact_under[name][wanted == sense] = torch.tensor(known.next_word(with_next[wanted == sense])[:, -1], dtype=torch.float32)
    means = torch.stack([steering_vector(at_the_word, senses_before, int(a), int(b)) for a, b in zip(towards, away)])
    lengths = means.norm(dim=1, keepdim=True)
    named = [torch.nn.functional.normalize(torch.stack([of_gpt.directions[latent_of[f"sense {language.senses[sense]}"]] for sense in each]), dim=1)
             for each in (towards, away)]
    drawn_vectors = torch.randn(means.shape, generator=torch.Generator().manual_seed(int(position)))
    VECTORS = {"difference of means": means, "difference of two latents": named[0] - named[1], "random vector": drawn_vectors}
    possible = (exact_under["towards"] > 0) | torch.tensor(language.next_word(with_next)[:, -1] > 0)
    for name, vectors_added in VECTORS.items():
        unit_vectors = torch.nn.functional.normalize(vectors_added, dim=1) * lengths
        for strength in STRENGTHS:
            logits = steered(torch.tensor(prefixes), strength * unit_vectors)
            steering.append(pd.DataFrame({
                "vector": name, "strength": strength, "sentence": [f"{position}-{n}" for n in range(len(some))],
                "towards": kl_divergence(exact_under["towards"], logits), "away": kl_divergence(exact_under["away"], logits),
                "impossible": logits.softmax(dim=-1).masked_fill(possible, 0).sum(dim=-1),
            }))
steering = pd.concat(steering)
pictures.steering(steering)

def change(vector: str, strength: float, column: str) -> tuple[float, float, float]:
    """The mean change from no steering, over sentences, with its interval."""
    rows_there = steering[steering.vector == vector].pivot(index="sentence", columns="strength", values=column)
    return in_nats((rows_there[strength] - rows_there[0.0]).to_numpy())

display(pd.DataFrame({f"{vector}, strength {strength}": {
    "KL from the intended sense": "{:+.3f} ({:+.3f} to {:+.3f})".format(*change(vector, strength, "towards")),
    "KL from the other sense": "{:+.3f} ({:+.3f} to {:+.3f})".format(*change(vector, strength, "away")),
    "probability of impossible words": "{:+.3f} ({:+.3f} to {:+.3f})".format(*change(vector, strength, "impossible")),
} for vector in VECTORS for strength in (0.5, 2.0)}).T.rename_axis("change by steering"))

# %% [markdown]
# The difference of means has the intended effect. At half strength, the prediction moves towards the exact distribution given the intended sense (by 0.022 nats, 95 %
# interval 0.015 to 0.028) and away from that given the other sense. A random vector of the same length moves the prediction away from both. However, the effect of the difference of means is
# small: more than nine tenths of the initial divergence remain.

# %% [markdown]
# The difference of two latents moves the prediction away from the other sense, but not measurably towards the intended one. At strength 2, every vector makes the
# prediction worse for *both* senses, and the probability of words that are impossible here rises by 6 to 9 percentage points. A longer vector does not express the sense more strongly. It
# probably leads to activations that the model has never encountered.

# %% [markdown]
# ## 9 · What such evidence shows
#
# Each method shows the effect of a *change* in this model, on these inputs. An ablation shows whether a component is needed, a patch shows which component carries the difference between
# two runs, and a latent shows a direction that is useful for reconstruction.

# %% [markdown]
# **Question 1 · A head without effect.** A colleague removes each head of a model, one at a time. None of the removals changes the loss by more than 0.01 nats. "So attention hardly matters in this model."
# Why does this not follow? Name two measurements from this notebook that you would add, and what each could show. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "circuits-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The effects of individual removals do not add up: in the small GPT, removing all eight heads costs several times the sum of the individual increases, because the
# remaining heads can do the work of the missing one. First, remove all heads together, or groups of heads, and compare the increase in loss with the sum of
# the individual increases. Second, measure the loss on the questions for which attention should matter, such as those in which word order determines the sense:
# a mean over all words hides an effect on a few of them. One could also patch vectors from one run into another: if patching the vector of another word changes the answer,
# attention has moved the information from one position to the other.
#
# *Marking: 1 point for the redundancy of heads (individual effects do not add up); 1 point for two suitable measurements, each with what it could show (joint
# removal; loss on specific questions; patching vectors or head outputs). Replacing zero ablation by mean ablation earns no point on its own.*

# %% [markdown]
# **Question 2 · A latent with a name.** A colleague trains a sparse autoencoder on a model of English. One latent is most active on *cell*, *guard* and *prisoner*. "This is the model's feature for prisons."
# Which two checks of this notebook can you repeat without knowing the true features, and what would remain unknown? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "circuits-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# First, look at more than the top of the list: draw random texts on which the latent is active, and texts about prisons on which it is silent, and let
# annotators label them. This estimates precision and recall for the concept "prison", with an interval, and can be compared with a linear probe and with random
# directions chosen in the same way. Second, intervene: add the latent's direction to the stream, or remove it, and measure how the predictions change, compared
# with a random vector of the same length. What remains unknown is whether the model itself uses this concept: "prison" is our name, the feature may be split
# over several latents or absorbed by more specific ones, and another width or seed may give different latents.
#
# *Marking: 1 point for two suitable checks (precision and recall on a random sample, also where the latent is silent; baselines; intervention with a control);
# 1 point for what remains unknown (whether the concept is the model's own; splitting, absorption or dependence on width and seed).*

# %% [markdown]
# ## Further: where one word decides
#
# Does BERT always move the information about the sense to the ambiguous word in its last layer, and do larger models do the same? We study two more combinations of a model and a
# cue. In the same small BERT, one *word* may determine the sense: "this was clearly the trunk of the birch", or "of the limousine". In MiniLM (08), one word
# determines the sense as well: "The guard looked into the cell." or "The biologist …".

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about ten seconds.")
import re

from coursekit.datasets import read_table

mini = load("all-MiniLM-L6-v2")
model, tokenizer = mini.model, mini.tokenizer

def by_role(shares: np.ndarray, cue_at: int, at: int) -> Float[np.ndarray, "3 L+1"]:
    """The shares at the cue, at the word, and summed over all other positions."""
    beside = [t for t in range(shares.shape[1]) if t not in (cue_at, at)]
    return np.stack([shares[:, cue_at], shares[:, at], shares[:, beside].sum(axis=1)])

# The same BERT: only the last word of "… the trunk of the birch" determines the sense.
OF_A_TRUNK = {"tree": "oak pine maple birch".split(), "elephant": "elephant calf mammoth mother".split(), "car": "car taxi sedan limousine".split()}
number_of = language.id_of
kinds_of = {number_of[name]: (kind, n) for kind, names_of_kind in OF_A_TRUNK.items() for n, name in enumerate(names_of_kind)}
trunks = language.sample(12_000, np.random.default_rng(12), split="held_out")
trunks = trunks[np.isin(trunks.ids[range(len(trunks)), trunks.position], [number_of["trunk"], number_of["trunks"]])
                & (trunks.cue == "right") & (trunks.lengths == trunks.position + 5)]
trunks = trunks[[row[at + 3] in kinds_of and row[at + 1] == number_of["of"] for row, at in zip(trunks.ids, trunks.position)]][:48]

def with_cue(ids: np.ndarray, at: int, cue: str) -> np.ndarray:
    changed_ids = ids.copy()
    changed_ids[at] = number_of[cue]
    return changed_ids

def exact_sense(ids: np.ndarray, at: int) -> tuple[int, float]:
    """The most probable sense of the word at that position, and its probability."""
    posterior = language.sense_posterior(ids[None], np.array([at]), "both")[0]
    return int(posterior.argmax()), posterior.max()

word_maps, same_word, told_by_a_word = [], [], []
with torch.no_grad():
    for n in range(len(trunks)):
        ids, at, length = trunks.ids[n], trunks.position[n], trunks.lengths[n]
        kind, which = kinds_of[ids[at + 3]]
        another = list(OF_A_TRUNK)[(list(OF_A_TRUNK).index(kind) + 1 + n % 2) % 3]
        source_ids = with_cue(ids, at + 3, OF_A_TRUNK[another][which])
        (sense_here, sure), (sense_there, sure_there) = exact_sense(ids, at), exact_sense(source_ids, at)
        told_by_a_word.append((sense_here != sense_there, sure, sure_there))
        x, y, z = (enters_bert(one_text[:length]) for one_text in (ids, source_ids, with_cue(ids, at + 3, OF_A_TRUNK[kind][which - 1])))
        shares, ends = restored(bert_layers, x, y, at, (mean_of_sense[sense_here], mean_of_sense[sense_there]))
        word_maps.append(by_role(shares, at + 3, at))
        same_word.append(by_role(restored(bert_layers, x, z, at, (mean_of_sense[sense_here], mean_of_sense[sense_there]), ends)[0], at + 3, at))

# MiniLM: one cue word in four frames.
FRAMES = ["The {} looked into the cell.", "Yesterday the {} saw another cell.",
          "It was the {} who found this cell.", "The {} drew a picture of every cell."]
PRISON, BIOLOGY = ["guard", "prisoner", "warden"], ["biologist", "scientist", "surgeon"]

def in_minilm(layer, x: Tensor) -> Tensor:
    made = layer(x)
    return made[0] if isinstance(made, tuple) else made

mini_layers = [partial(in_minilm, layer) for layer in model.encoder.layer]
labelled_cells = read_table("senses/senses.csv").query("word == 'cell'")

@torch.no_grad()
def last_vector(text: str, start: int) -> Float[Tensor, "D"]:
    """The last-layer vector of the subword that begins at character `start`."""
    given = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    at = given.pop("offset_mapping")[0, :, 0].tolist().index(start, 1)
    return model(**given).last_hidden_state[0, at]

mean_of_cell = {sense: torch.stack([last_vector(text, start) for text, start in zip(some.sentence, some.start)]).mean(dim=0)
                for sense, some in labelled_cells.groupby("sense") if sense in ("prison", "biology")}
cell_maps, same_cell = [], []
with torch.no_grad():
    for frame in FRAMES:
        for n, cue in enumerate(PRISON):
            texts_of = frame.format(cue), frame.format(BIOLOGY[n]), frame.format(PRISON[n - 1])
            all_ids = [tokenizer(text, return_tensors="pt").input_ids for text in texts_of]
            pieces_of = tokenizer.convert_ids_to_tokens(all_ids[0][0])
            at, cue_at = pieces_of.index("cell"), pieces_of.index(cue)
            x, y, z = (model.embeddings(input_ids=one_text)[0] for one_text in all_ids)
            both_senses = mean_of_cell["prison"], mean_of_cell["biology"]
            shares, ends = restored(mini_layers, x, y, at, both_senses)
            cell_maps.append(by_role(shares, cue_at, at))
            if n:                                            # one control for each frame, to save time
                continue
            same_cell.append(by_role(restored(mini_layers, x, z, at, both_senses, ends)[0], cue_at, at))
word_maps, same_word, cell_maps, same_cell = map(np.array, (word_maps, same_word, cell_maps, same_cell))
pictures.patched(
    {"small BERT: one word decides": (word_maps, ["the cue", "trunk", "all others (sum)"]),
     "MiniLM: one word decides": (cell_maps, ["the cue", "cell", "all others (sum)"])},
    {"small BERT: one word decides": same_word, "MiniLM: one word decides": same_cell},
)
in_word_after_1 = {name: (maps[:, at].mean(), *bootstrap(maps[:, at], draws=500)) for name, maps, at in (
    ("order", order_maps[:, 1], 5), ("one word", word_maps[:, :, 1], 1), ("one word, MiniLM", cell_maps[:, :, 1], 1))}
for name, values in in_word_after_1.items():
    print("share restored by the ambiguous word's own vector after layer 1, sense determined by {}: {:.2f} (95 % interval over pairs {:.2f} to {:.2f})".format(name, *values))

# %% [markdown]
# In MiniLM, patching the vector of *cell* after the first layer restores three quarters of the difference. The cue's vector carries the rest, which shrinks from layer to layer. Other positions
# contribute next to nothing, and another cue for the same sense changes little.

# %% [markdown]
# Does the kind of cue explain the difference between the two models? If one *word* determines the sense, the ambiguous word's vector in the small BERT
# carries about a twelfth of the difference after layer 1, only slightly more than if word order determines the sense. The cue and the words next to it carry the rest, which layer 2 collects. The kind of
# cue is therefore not the whole explanation, because the models also differ in depth, size and language. Moreover, this is a single BERT, and another
# initialisation may store the sense elsewhere.

# %% [markdown]
# ## Further: latents of a model of English
#
# The true features of English are unknown. We can measure whether a latent recurs with another seed, and whether it detects our own labels in new
# sentences. A latent recurs if another seed's autoencoder has a
# direction with a cosine of at least 0.8. In the generated language, about a quarter of the latents of section 6 recur, but nine in ten of those that best
# detect a topic.
#
# For SmolLM2, we recorded training runs with three seeds, 800 latents and k = 16, on the stream after layer 15 at 180,618 tokens of novels and of this course's English
# texts. First tokens, which are attention sinks (08), were left out.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes ten to twenty seconds.")
from coursekit import latents
from coursekit.pictures import latents as pictures_of_latents

of_smollm2 = latents.load_dictionary()
of_exact = read_table("results/sparse_autoencoders_recurring.csv")
of_seeds = read_table("results/sparse_autoencoder_smollm2.csv")
of_senses = read_table("results/sparse_autoencoder_smollm2_senses.csv")
pictures_of_latents.seeds(of_seeds, of_exact)
choosing, testing = latents.senses_of(decoder, ["cell", "bank"])
code_pair = tuple(features.codes_of(of_smollm2, side.x, encode) for side in (choosing, testing))
best_of_senses = features.detected(*code_pair, choosing, testing, detection)
where_chosen = features.detected(code_pair[0], code_pair[0], choosing, choosing, detection)
of_baselines = latents.f1_of_baselines(choosing, testing, len(of_smollm2.bias), detection)
pictures_of_latents.senses_detected(where_chosen, best_of_senses, of_baselines)

# %% [markdown]
# The three autoencoders reconstruct the vectors equally well and leave about a quarter of the variance unexplained for new authors. Nevertheless, fewer than a third of their latents recur.
# Paulo and Belrose (2025) report a similar fraction for a far larger model. An autoencoder is one description of the vectors among several, not *the* list of the
# model's features.

# %% [markdown]
# The last table shows the latent that best detects each sense, chosen on 13 sentences of each sense and tested on 9 others. The vectors are those of the ambiguous word
# itself, so sentences whose cues all come later are left out. On the sentences that were used to choose the latents, their F1 is higher on average than on the test sentences. Only
# the F1 on the test sentences is an unbiased estimate. The latent for the *prison* sense does worse than a detector that is always active.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes ten to twenty seconds.")
unseen = latents.texts_of_the_course()[1][:80] + list(testing.words)
unseen_x, contexts = latents.in_context(decoder, unseen)
unseen_codes = features.codes_of(of_smollm2, unseen_x, encode)
INSPECTED = ["sense bank#money", "sense cell#prison", "sense cell#biology"]
latent_of_sense = best_of_senses.set_index("name").direction
pictures_of_latents.examples_of({name.removeprefix("sense "): latent_of_sense[name] for name in INSPECTED}, unseen_codes, contexts)

# %% [markdown]
# The highest codes suggest names: rooms for the *prison* latent and living things for the *biology* latent. Neither name is the sense for which the
# latent was chosen, and some of the random tokens on which the latents are active do not match these names. Even the latent that detects a label best need not be a
# feature for this label, and a name that matches the tokens with the highest codes may not match the others.

# %% tags=["demo"]
pictures_of_latents.senses_recorded(of_senses)

# %% [markdown]
# Over all 93 senses of 44 words, the best latent detects a sense better than a detector that is always active: its F1 on the test sentences is 0.09 higher
# (95 % interval 0.06 to 0.13). It is 0.07 lower than that of a linear probe on the same vectors, and cannot be distinguished from that of the best of 800 random
# directions. This agrees with the generated language, where the autoencoder recovered topics but not senses.
#
# An autoencoder describes the vectors as sums of a few directions. Whether one of these directions represents a label has to be tested: on sentences that were not
# used to choose the latent, and against a probe and random directions.

# %% [markdown]
# ## Further: how far such methods go
#
# **Elhage et al. (2021)** write a small attention-only transformer as a sum of paths from input to output. Each head reads from the residual stream and adds to
# it, so the paths through one and two heads can be read from the weights. With feed-forward layers, the sum is no longer exact.
#
# **Wang et al. (2023)** describe a circuit of 26 heads with which GPT-2 small completes "When Mary and John went to the store, John gave a drink to" with
# *Mary*. They test whether the circuit is sufficient and whether each part is needed, and they report what remains unexplained.

# %% [markdown]
# **Bricken et al. (2023)** train sparse autoencoders on a transformer with one layer. Annotators find most latents easier to interpret than single neurons. With
# more latents, one latent splits into several. The true features of English are not known, so recall cannot be measured and interpretability has to replace it.
#
# **McGrath et al. (2023)** remove a layer of a language model and observe that later layers partly restore the answer. They call this self-repair the hydra
# effect. The effect of a removal therefore underestimates what the removed part does.

# %% [markdown]
# ## Summary
#
# - The logit lens reads the stream at each layer as if the model ended after it; the KL divergence from the exact distribution measures how good this is.
# - To find causes, intervene in the model. Individual effects do not add up to the joint effect.
# - A patch shows which vector carries a difference between two runs. A gradient estimates the effect of a patch well for small steps but badly for large ones.
# - Find a circuit on one sample; test it on another, with controls.
# - A sparse autoencoder recovers only some true features. Score latents by precision *and* recall, against baselines.
# - Steering has the intended effect and side effects. Measure both.

# %% [markdown]
# ## References
#
# - Belrose, N. et al. (2023). Eliciting latent predictions from transformers with the tuned lens. arXiv:2303.08112.
# - Bricken, T. et al. (2023). Towards monosemanticity: decomposing language models with dictionary learning. *Transformer Circuits Thread*.
# - Chanin, D. et al. (2024). A is for absorption: studying feature splitting and absorption in sparse autoencoders. arXiv:2409.14507.
# - Cunningham, H., Ewart, A., Riggs, L., Huben, R. and Sharkey, L. (2023). Sparse autoencoders find highly interpretable features in language models. arXiv:2309.08600.
# - Elhage, N. et al. (2021). A mathematical framework for transformer circuits. *Transformer Circuits Thread*.
# - Elhage, N. et al. (2022). Toy models of superposition. *Transformer Circuits Thread*. arXiv:2209.10652.
# - Gao, L. et al. (2024). Scaling and evaluating sparse autoencoders. arXiv:2406.04093.
# - McGrath, T., Rahtz, M., Kramár, J., Mikulik, V. and Legg, S. (2023). The hydra effect: emergent self-repair in language model computations. arXiv:2307.15771.
# - Meng, K., Bau, D., Andonian, A. and Belinkov, Y. (2022). Locating and editing factual associations in GPT. *NeurIPS* 35. arXiv:2202.05262.
# - Michel, P., Levy, O. and Neubig, G. (2019). Are sixteen heads really better than one? *NeurIPS* 32. arXiv:1905.10650.
# - Nanda, N. (2023). Attribution patching: activation patching at industrial scale. neelnanda.io.
# - nostalgebraist (2020). Interpreting GPT: the logit lens. lesswrong.com.
# - Paulo, G. and Belrose, N. (2025). Sparse autoencoders trained on the same data learn different features. arXiv:2501.16615.
# - Sundararajan, M., Taly, A. and Yan, Q. (2017). Axiomatic attribution for deep networks. *ICML*. arXiv:1703.01365.
# - Turner, A. M. et al. (2023). Activation addition: steering language models without optimization. arXiv:2308.10248.
# - Vig, J. et al. (2020). Investigating gender bias in language models using causal mediation analysis. *NeurIPS* 33. arXiv:2004.12265.
# - Wang, K., Variengien, A., Conmy, A., Shlegeris, B. and Steinhardt, J. (2023). Interpretability in the wild: a circuit for indirect object identification in GPT-2 small. *ICLR*. arXiv:2211.00593.

# %% [markdown]
# Next: [16 · Learning from rewards](../16_rewards/16_rewards.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
