# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · The transformer layer
#
# Attention lets a word take on meaning from the words around it. A transformer puts it into a **layer** together with four simple
# things: positions, a small network for each word, sums that keep what was there, and a normalisation. Then the layer is repeated. We build
# each part, find out what breaks without it, and end with a layer that gives the same numbers as PyTorch's own.
#
# **Afterwards you can**
#
# - show that attention alone does not know the order of words, and give it positions;
# - write layer normalisation and say where its epsilon stands, and why;
# - assemble the layer of 2017 (post-norm) and that of today (pre-norm), and stack them;
# - measure what residuals and the place of the norm do to gradients and to the words in a deep stack.
#
# **You need** notebook 02. **Time** about 65 minutes: six exercises, a bug to find, two questions that a person reads; one
# extension.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [02 · Attention, step by step](../02_attention/02_attention.ipynb) · next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb)

# %%
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursekit import check, hint, predict, reveal

# %% tags=["demo"]
from functools import partial

import numpy as np
from IPython.display import Markdown, display
from torch.nn.functional import cross_entropy

from coursekit.pictures import transformer_layer as pictures
from coursekit.plots import use_style
from coursekit.vectors import load_glove

use_style()
torch.set_num_threads(1)

# %% [markdown]
# Multi-head attention is given here, so that nobody is stuck with a function of the last notebook. It is the `multi_head` of 02 with a bias
# behind every matrix, as PyTorch has it. All weights of a layer travel in one dictionary of tensors; vectors are rows, so a
# projection is a plain `x @ W`. And if you get stuck in an exercise: `hint("transformer.sinusoid")`, in a cell of your own, asks a question first and then says more.

# %%
Weights = dict[str, Tensor]
FEED_FORWARD = ("W_1", "b_1", "W_2", "b_2")


def self_attention(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    """Every word attends to all words of its sentence for which `keep` is True."""
    def in_heads(name: str) -> Float[Tensor, "B H T d"]:
        projected = x @ weights[f"W_{name}"] + weights[f"b_{name}"]
        return projected.unflatten(-1, (heads, -1)).transpose(1, 2)

    mixed = scaled_dot_product_attention(*map(in_heads, "qkv"), attn_mask=keep[:, None, None, :])
    return mixed.transpose(1, 2).flatten(2) @ weights["W_o"] + weights["b_o"]


def weights_in(case: dict) -> Weights:
    """The weights among the inputs of a check."""
    return {name: value for name, value in case.items() if name not in ("x", "heads", "keep")}

# %% [markdown]
# ## 1 · Does attention know the order?
#
# "The dog bites the man" and "the man bites the dog" hold the same words. We take the river sentence of 02, in GloVe vectors, and
# a layer's worth of random matrices.

# %% tags=["demo"]
def new_weights(D: int, F: int) -> Weights:
    """One layer's weights before training (Glorot and Bengio 2010): biases 0, gains 1."""
    def matrix(rows: int, columns: int) -> Tensor:
        return torch.nn.init.xavier_uniform_(torch.empty(rows, columns))

    weights = {f"W_{name}": matrix(D, D) for name in "qkvo"}
    weights |= {f"b_{name}": torch.zeros(D) for name in "qkvo"}
    weights |= {"W_1": matrix(D, F), "b_1": torch.zeros(F)}
    weights |= {"W_2": matrix(F, D), "b_2": torch.zeros(D)}
    weights |= {f"gain_{i}": torch.ones(D) for i in "12"}
    return weights | {f"bias_{i}": torch.zeros(D) for i in "12"}

# %% tags=["demo"]
glove = load_glove()
river = "i will hike along the bank of a river".split()
bank, everyone = river.index("bank"), torch.ones(1, len(river), dtype=torch.bool)
x_river = glove.of(river)[None]                                    # 1 9 50
torch.manual_seed(0)
weights = new_weights(50, 200)

shuffled = [3, 8, 0, 6, 2, 5, 1, 4, 7]          # bank, number 5, stays where it is
print("as it is:", *river)
print("shuffled:", *(river[i] for i in shuffled))

# %% [markdown]
# Every word but *bank* stands elsewhere. **Predict:** what happens to the vector that attention gives to *bank*? The cell shows what you can choose from
# when you run it.

# %% tags=["demo"]
NOTHING, SOME, MUCH = "nothing", "it moves a little, towards the words that came nearer", "it is another vector, as for another sentence"
predict("transformer.shuffled", ..., choices=(NOTHING, SOME, MUCH))

# %% tags=["demo"]
def change_of_bank(x: Tensor, other: Tensor) -> float:
    """How far the new vector of bank moves when x becomes `other`, as a share of its length."""
    one, two = (self_attention(rows, weights, 5, everyone)[0, bank] for rows in (x, other))
    return ((one - two).norm() / one.norm()).item()

x_account = glove.of([*river[:-1], "account"])[None]
changes = {
    "the other words shuffled": change_of_bank(x_river, x_river[:, shuffled]),
    "control: river replaced by account": change_of_bank(x_river, x_account),
}
before, after = (self_attention(x, weights, 5, everyone) for x in (x_river, x_river[:, shuffled]))
moved_along = (after - before[:, shuffled]).abs().max().item()
moved = changes["the other words shuffled"]
reveal("transformer.shuffled", NOTHING if moved < 1e-5 else SOME if moved < 0.1 else MUCH, because={
    SOME: "A weight is made of two vectors, the query's and the key's, and neither says where its word stands: near and far are the same.",
    MUCH: "For you the meaning is gone; for attention it is the same nine vectors with the same nine weights, and their sum.",
})
for what, change in changes.items():
    print(f"{what:<36} bank changes by {change:.7f}")
print(f"all words: outputs of the shuffled sentence, against shuffled outputs: {moved_along:.0e}")

# %% [markdown]
# Nothing happens, up to rounding. Every word meets every word, whatever lies between them, and a sum does not care for the order of its terms.
# Shuffle the inputs, and the outputs are the same vectors, shuffled. One other word in the sentence changes much more. If order is to count,
# it has to be *in the vectors*: we add to each word a vector that says where it stands.

# %% [markdown]
# What should this vector look like? The numbers 0, 1, 2, … would outgrow the words. Vaswani et al. (2017, section 3.5) use the hands of many
# clocks, each slower than the one before. With $\omega_i = 10000^{-2i/D}$,
#
# $$\mathrm{PE}_{p,\,2i} = \sin(p\,\omega_i), \qquad \mathrm{PE}_{p,\,2i+1} = \cos(p\,\omega_i).$$

# %% nbgrader={"grade": false, "grade_id": "transformer-sinusoid", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    """Sinusoidal positions 0 to T − 1.  (difficulty ●●○, 7 minutes)

    Row p is position p. Columns 2i and 2i+1 hold sine and cosine of p / 10000^(2i/D), for i from
    0 to D/2 − 1. D is even. Source: Vaswani et al. (2017), section 3.5.
    """
    ### BEGIN SOLUTION
    position = torch.arange(T)[:, None]
    frequency = 10_000.0 ** (-torch.arange(0, D, 2) / D)
    angle = position * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-sinusoid-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.sinusoid", lambda case: sinusoid(*case["words"].shape))

# %% tags=["demo"]
pictures.stripes(sinusoid(100, 50), pairs=(0, 4, 8))

# %% [markdown]
# Like the digits of a number: the left columns change with every word, the right ones hardly within a sentence. Only all of them together name
# a position. And there is a hidden gift. Attention compares by dot products, so we look at the dot product of a position with those around it.

# %% tags=["demo"]
table = sinusoid(400, 50)
distances = list(range(-100, 101))
products = {p: table[[p + k for k in distances]] @ table[p] for p in (100, 200, 299)}
random = torch.randn(len(distances), 50, generator=torch.Generator().manual_seed(0))
control = 5 * torch.nn.functional.normalize(random, dim=1) @ table[100]
pictures.closeness(distances, products, control)

# %% [markdown]
# Three positions, one curve: the dot product depends on the *distance* alone, since
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$. It is largest at distance 0 and falls off to both sides, though not steadily.
# (The extension at the end goes further: moving by k is a *rotation*, the same from everywhere.) Each row has length
# $\sqrt{D/2}$, here 5. Now the shuffle again:

# %% tags=["demo"]
x_placed = x_river + sinusoid(len(river), 50)
x_moved = x_river[:, shuffled] + sinusoid(len(river), 50)
changes["with positions: the other words shuffled"] = change_of_bank(x_placed, x_moved)
lines = [f"| {what} | {change:.1e} |" for what, change in changes.items()]
display(Markdown("| | change of *bank* |\n|:--|--:|\n" + "\n".join(lines)))

# %% [markdown]
# The order has become visible: the same nine words in another order now give *bank* another vector, a change of the same kind of size as another
# word makes. Whether it is *useful* has to be learned; we come to that in section 6.

# %% [markdown]
# **Question 1.** A friend proposes simpler positions: one more coordinate that holds the number of the word, 0, 1, 2, … Give one reason why
# this works less well than the sinusoid, one thing that would be better about a *learned* table of positions, and one that would be worse.
# (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The number of the word has no bound: at position 500 this one coordinate is far larger than all others together and dominates every dot product
# and every norm, and sentences longer than those of the training give values that were never seen. Also, the dot product of two such numbers is their
# product: it grows with the positions themselves and says nothing about how near they are to each other. In the sinusoid all rows have one length, and
# the dot product depends on the distance alone. A learned table can fit what the task needs, such as a special role of
# the first word, and need not be smooth. But it has a last row: there is no vector for a position beyond the table, rare late positions are trained seldom, and
# nothing ties position 7 to position 8 beforehand.
#
# *Marking: 1 point for a valid reason against the raw number (unbounded, dominates, product says nothing about distance, unseen lengths); 1 point
# for an advantage and a disadvantage of learned tables.*

# %% [markdown]
# ## 2 · Layer normalisation
#
# Word, position, and soon the outputs of several parts are added up. Sums of vectors drift: lengths differ from word to word, and grow from layer
# to layer. Layer normalisation (Ba, Kiros and Hinton 2016) brings each word's vector back to a common size. For each word by itself, over its D coordinates:
#
# $$\operatorname{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot g + b, \qquad \mu = \frac1D \sum_i x_i, \quad
# \sigma^2 = \frac1D \sum_i (x_i - \mu)^2 .$$
#
# Gain g and bias b are learned, one number for each coordinate. The small ε keeps the root away from 0.

# %% nbgrader={"grade": false, "grade_id": "transformer-layer_norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"], eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    """Each vector with mean 0 and variance 1, then stretched, shifted.  (difficulty ●●○, 6 minutes)

    Mean and variance are taken over the last axis, the variance as the mean of the squares (divided
    by D, not D − 1). eps is added to the variance, inside the root.
    Source: Ba et al. (2016), section 3.
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-layer_norm-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.layer_norm", lambda case: layer_norm(
    case["x"], case["gain"], case["bias"], case["eps"]
))

# %% tags=["demo"]
one, zero = torch.ones(50), torch.zeros(50)
normed = layer_norm(x_placed, one, zero)
enlarged = (layer_norm(10 * x_placed, one, zero) - normed).abs().max().item()
lifted = (layer_norm(x_placed + 3, one, zero) - normed).abs().max().item()
print(f"all vectors ten times as long: the result changes by {enlarged:.0e}")
print(f"3 added to every coordinate:   the result changes by {lifted:.0e}")
print(f"largest coordinate, for comparison: {normed.abs().max():.1f}")

# %% [markdown]
# Up to ε, the mean of the coordinates and the length are what is lost; the direction of the rest stays. No other word takes part, neither of the sentence nor of
# the batch. In this it differs from batch normalisation, where a sentence would get another result in other company. Now the sums: we add
# attention to the words twelve times, each time with fresh matrices, with and without your function behind the sum. **Predict:** without it, how many times longer than at the start are the
# vectors in the end?

# %% tags=["demo"]
predict("transformer.growth", ...)

# %% tags=["demo"]
def added_up(after_each_sum) -> Float[Tensor, "13 T"]:
    """Length of every word's vector, at the start and after each of twelve sums."""
    torch.manual_seed(4)
    x, lengths = x_placed, [x_placed[0].norm(dim=1)]
    for _ in range(12):
        x = after_each_sum(x + self_attention(x, new_weights(50, 200), 5, everyone))
        lengths.append(x[0].norm(dim=1))
    return torch.stack(lengths)

grown = {
    "sums as they are": added_up(lambda x: x),
    "each sum normalised": added_up(lambda x: layer_norm(x, one, zero)),
}
raw = grown["sums as they are"].mean(dim=1)
reveal("transformer.growth", (raw[-1] / raw[0]).item())
pictures.drift(river, grown, 50**0.5)

# %% [markdown]
# As they are, the sums grow like compound interest, by a similar factor each time, and a next layer has to cope with inputs of any size. Normalised, every vector has length √D after each step.

# %% [markdown]
# ### Sources say, we measure
#
# The *Annotated Transformer* (Rush 2018), from which many learned, writes `(x - mean) / (std + eps)`: ε outside the root, and torch's `std`, which
# divides by D − 1. Asked about it in a BERT in PyTorch (codertimo, issue 30), people compared [1, 0, 0, 0] and found 1.5
# where `nn.LayerNorm` gives 1.732; the thread ends on "they did the same thing". Did they? We give both the same ε.

# %% tags=["demo"]
def tutorial_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)

torch.manual_seed(1)
samples = {
    "[1, 0, 0, 0]": torch.tensor([1.0, 0, 0, 0]),
    "*bank*, D = 50": x_river[0, bank],
    "random, D = 768": torch.randn(768),
    "random, D = 768, standard deviation 0.02": 0.02 * torch.randn(768),
    "random, D = 768, standard deviation 0.001": 0.001 * torch.randn(768),
}
lines, ratio = ["| vector | largest number, ours | tutorial's | tutorial's / ours |"], {}
lines.append("|:--|--:|--:|--:|")
for name, x in samples.items():
    ours = layer_norm(x, torch.ones(len(x)), torch.zeros(len(x))).max()
    theirs = tutorial_norm(x).max()
    ratio[name] = (theirs / ours).item()
    lines.append(f"| {name} | {ours:.3f} | {theirs:.3f} | {ratio[name]:.4f} |")
display(Markdown("\n".join(lines)))

# %% [markdown]
# Nearly, for vectors of an ordinary size and many coordinates: D − 1 in place of D costs a factor of $\sqrt{(D-1)/D}$. BERT's tables start with standard deviation 0.02:
# at this ε its place makes a difference of about a percent there (BERT itself has ε = 1e-12, where it makes none). At 0.001, a third of √ε, it decides: the numbers come out three times as large. A checkpoint trained with
# one of the two should run with the same one.

# %% [markdown]
# ## 3 · The feed-forward network
#
# Attention mixes words by weighted sums. What is still missing is a place where a word's vector is *worked on*: a small network with one hidden layer, the same for
# every word, and for each word alone:
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2 .$$
#
# Its hidden layer is usually four times as wide as the vector, F = 4D. **Predict:** which share of all numbers in a layer with D = 768 (the size of BERT-Base)
# belongs to this network?

# %% tags=["demo"]
predict("transformer.share", ...)

# %% nbgrader={"grade": false, "grade_id": "transformer-feed_forward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def feed_forward(
    x: Float[Tensor, "... D"],
    W_1: Float[Tensor, "D F"],
    b_1: Float[Tensor, "F"],
    W_2: Float[Tensor, "F D"],
    b_2: Float[Tensor, "D"],
) -> Float[Tensor, "... D"]:
    """Two linear maps with a ReLU between them, for each word.  (difficulty ●○○, 4 minutes)

    ReLU as in the paper: what is negative becomes 0. Source: Vaswani et al. (2017), equation 2.
    """
    ### BEGIN SOLUTION
    return (x @ W_1 + b_1).relu() @ W_2 + b_2
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-feed_forward-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("transformer.feed_forward", lambda case: feed_forward(
    case["x"], *(case[name] for name in FEED_FORWARD)
))

# %% tags=["demo"]
bert_base = torch.nn.TransformerEncoderLayer(768, 12, 3072)
sizes = {name: sum(p.numel() for p in bert_base.get_submodule(name).parameters())
         for name in ("self_attn", "linear1", "linear2", "norm1", "norm2")}
whole = sum(sizes.values())
share = (sizes["linear1"] + sizes["linear2"]) / whole
reveal("transformer.share", share)
print(f"{whole:,} numbers in a layer:")
print(", ".join(f"{name} {size:,}" for name, size in sizes.items()))

# %% [markdown]
# Two thirds: attention has four matrices of D × D, the network two of D × 4D, eight times D² against four. The parts named after attention hold a third.
#
# Which of the parts lets words see each other? As in 02 we ask the derivative: how strongly does each input word move each output word?

# %% tags=["demo"]
def sees(part) -> Float[Tensor, "word other"]:
    """How strongly each word that goes into `part` moves each word that comes out."""
    def of_sentence(x: Float[Tensor, "T D"]) -> Float[Tensor, "T D"]:
        return part(x[None])[0]

    jacobian = torch.autograd.functional.jacobian(of_sentence, x_placed[0])     # T D T D
    return jacobian.square().sum(dim=(1, 3)).sqrt()

parts = {
    "layer norm": lambda x: layer_norm(x, one, zero),
    "feed-forward": lambda x: feed_forward(x, *(weights[name] for name in FEED_FORWARD)),
    "attention": lambda x: self_attention(x, weights, 5, everyone),
}
maps = {name: sees(part) for name, part in parts.items()}
pictures.who_moves_whom(maps, river)

# %% [markdown]
# Norm and network live on the diagonal: they work on each word alone. Attention is the only place of the layer where words meet. Whatever *bank* learns of *river*, it
# learns there.

# %% [markdown]
# ## 4 · The layer of 2017
#
# Now we put the parts together. Two ideas hold them. A **residual** connection (He et al. 2016) adds to what a part computes what went into it: a part
# only has to say what should be *changed*. And each sum is normalised. In the paper the norm stands after the sum; today it mostly stands inside the branch.

# %% tags=["demo"]
pictures.two_layers()

# %% nbgrader={"grade": false, "grade_id": "transformer-post_norm_layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def post_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    """The encoder layer as in the paper, the left drawing.  (difficulty ●●○, 8 minutes)

    weights holds what self_attention reads; W_1, b_1, W_2, b_2 of the feed-forward network;
    gain_1, bias_1 and gain_2, bias_2 of the two norms, in the order in which they come. Every norm
    has eps = 1e-5. No dropout. keep is True where a token is a real word; rows of padding are
    computed like all others.
    Source: Vaswani et al. (2017), section 3.1.
    """
    ### BEGIN SOLUTION
    def norm(x, place):
        return layer_norm(x, weights[f"gain_{place}"], weights[f"bias_{place}"])

    x = norm(x + self_attention(x, weights, heads, keep), "1")
    return norm(x + feed_forward(x, *(weights[name] for name in FEED_FORWARD)), "2")
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-post_norm_layer-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("transformer.post_norm_layer", lambda case: post_norm_layer(
    case["x"], weights_in(case), case["heads"], case["keep"]
))

# %% [markdown]
# PyTorch has this layer: `nn.TransformerEncoderLayer`. It stores its matrices transposed, and the three projections in one piece. We make one with random
# gains and biases, copy its weights into our dictionary, and give both the same padded batch.

# %% tags=["demo"]
def weights_of(module: torch.nn.TransformerEncoderLayer) -> Weights:
    """The weights of PyTorch's layer, named and laid out as ours."""
    attention = module.self_attn
    matrices, biases = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    weights = {f"W_{name}": matrix.T for name, matrix in zip("qkv", matrices)}
    weights |= {f"b_{name}": bias for name, bias in zip("qkv", biases)}
    for i, theirs in {"o": attention.out_proj, "1": module.linear1, "2": module.linear2}.items():
        weights |= {f"W_{i}": theirs.weight.T, f"b_{i}": theirs.bias}
    for i, theirs in {"1": module.norm1, "2": module.norm2}.items():
        weights |= {f"gain_{i}": theirs.weight, f"bias_{i}": theirs.bias}
    return {name: weight.detach() for name, weight in weights.items()}

# %% tags=["demo"]
def torch_layer(norm_first: bool) -> torch.nn.TransformerEncoderLayer:
    torch.manual_seed(3)
    module = torch.nn.TransformerEncoderLayer(50, 5, 200, norm_first=norm_first, batch_first=True)
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1:      # at 0 and 1, where they start, swapped ones would not show
            start = 1.0 if "norm" in name and "weight" in name else 0.0
            torch.nn.init.normal_(parameter, mean=start, std=0.3)
    return module.eval()

money = "i will open a new account at my bank and deposit some money".split()
batch = torch.nn.utils.rnn.pad_sequence([glove.of(river), glove.of(money)], batch_first=True)
batch = batch + sinusoid(13, 50)                                          # 2 13 50
keep = torch.arange(13) < torch.tensor([[len(river)], [len(money)]])      # 2 13

# %% tags=["demo"]
def distance(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference at a real word."""
    return (ours - theirs)[keep].abs().max().item()

module = torch_layer(norm_first=False)
theirs = module(batch, src_key_padding_mask=~keep).detach()
copied, placeless = weights_of(module), batch - sinusoid(13, 50)
apart = {
    "the same weights": post_norm_layer(batch, copied, 5, keep),
    "control: padding not hidden": post_norm_layer(batch, copied, 5, torch.ones_like(keep)),
    "control: no positions": post_norm_layer(placeless, copied, 5, keep),
}
apart = {what: distance(ours, theirs) for what, ours in apart.items()}
for what, gap in apart.items():
    print(f"{what:<29} largest difference from PyTorch's layer {gap:.1e}")

# %% [markdown]
# The same numbers, up to rounding. Every piece of the layer has passed through your hands. (Mind the mask: `src_key_padding_mask` is True where a word is *hidden*.)

# %% [markdown]
# ## 5 · Norm first
#
# In the right drawing the norm has moved into the branch. Nothing but sums is left on the straight road from the bottom to the top. GPT-2 and most large
# models since have their norms there.

# %% nbgrader={"grade": false, "grade_id": "transformer-pre_norm_layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pre_norm_layer(
    x: Float[Tensor, "B T D"], weights: Weights, heads: int, keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B T D"]:
    """The layer with its norms inside the branches, the right drawing.  (difficulty ●●○, 6 minutes)

    Arguments as in post_norm_layer: gain_1 and bias_1 belong to the norm before attention, gain_2
    and bias_2 to that before the feed-forward network. The output is a sum and is not normalised.
    Source: Xiong et al. (2020), table 1.
    """
    ### BEGIN SOLUTION
    def norm(x, place):
        return layer_norm(x, weights[f"gain_{place}"], weights[f"bias_{place}"])

    x = x + self_attention(norm(x, "1"), weights, heads, keep)
    return x + feed_forward(norm(x, "2"), *(weights[name] for name in FEED_FORWARD))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-pre_norm_layer-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("transformer.pre_norm_layer", lambda case: pre_norm_layer(
    case["x"], weights_in(case), case["heads"], case["keep"]
))

# %% tags=["demo"]
module = torch_layer(norm_first=True)
theirs = module(batch, src_key_padding_mask=~keep).detach()
copied = weights_of(module)
apart_pre = {
    "the same weights": distance(pre_norm_layer(batch, copied, 5, keep), theirs),
    "control: norms after the sums": distance(post_norm_layer(batch, copied, 5, keep), theirs),
}
for what, gap in apart_pre.items():
    print(f"{what:<31} largest difference from PyTorch's layer {gap:.1e}")

# %% [markdown]
# A stack has many layers, each with weights of its own, and what comes out of one goes into the next. Later notebooks look at the vectors of *all* layers, so the function
# returns them all: L + 1 for each word, the input included. A layer is here any function from vectors to vectors.

# %% nbgrader={"grade": false, "grade_id": "transformer-stack", "locked": false, "schema_version": 3, "solution": true, "task": false}
def stack(x: Float[Tensor, "B T D"], layers: list) -> Float[Tensor, "L+1 B T D"]:
    """The vectors that go in, and those that come out of each layer.  (difficulty ●○○, 4 minutes)

    layers holds L functions from (B, T, D) to (B, T, D), the first one first; L may be 0. Entry 0
    is x itself, entry l what the l-th layer makes of entry l − 1.
    """
    ### BEGIN SOLUTION
    hidden = [x]
    for layer in layers:
        hidden.append(layer(hidden[-1]))
    return torch.stack(hidden)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-stack-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.stack", lambda case: stack(
    case["x"], [lambda x, M=M: (x @ M).tanh() for M in case["matrices"]]
))

# %% [markdown]
# ### Sources say, we measure
#
# The transformer of 2017 was trained with a learning rate that starts near 0 and grows slowly ("warm-up"), and without it training often failed. Xiong et al. (2020) looked for the reason in the gradients *before* the
# first step. Their theorem 1 bounds the gradient of W₂ in the last layer: in post-norm by $O(D\sqrt{\ln D})$, whatever the depth L, and in pre-norm by
# $O(D\sqrt{\ln D\,/\,L})$. **Predict:** in a stack of 16 layers, how many times larger is it in post-norm?

# %% tags=["demo"]
predict("transformer.gradient", ...)

# %% [markdown]
# We build stacks of 2 to 16 layers with fresh weights, five times each, let them predict each word from its own vector (a loss like any other), and read off the gradients. Both kinds
# get a norm after the last layer. A third kind has no residuals at all, for the question after this one.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
V = len(language.vocabulary)
some = torch.from_numpy(language.sample(32, np.random.default_rng(0), split="train").ids)
real = some >= len(SPECIAL_TOKENS)

# %% tags=["demo"]
def without_residuals(x: Tensor, weights: Weights, heads: int, keep: Tensor) -> Tensor:
    """A post-norm layer with its two sums left out."""
    x = layer_norm(self_attention(x, weights, heads, keep), weights["gain_1"], weights["bias_1"])
    x = feed_forward(x, *(weights[name] for name in FEED_FORWARD))
    return layer_norm(x, weights["gain_2"], weights["bias_2"])

def fresh_stack(
    layer, depth: int, seed: int, attention: float = 1.0, network: float = 1.0
) -> tuple[list[float], Float[Tensor, "L+1 B T D"]]:
    """Gradient norm of W_2 in every layer of an untrained stack, and the vectors of all layers.

    The last two shrink the matrices of attention and of the feed-forward network at the start.
    """
    torch.manual_seed(seed)
    x = torch.randn(V, 64)[some] + sinusoid(some.shape[1], 64)
    layers = [new_weights(64, 256) for _ in range(depth)]
    for weights in layers:
        for name in ("W_q", "W_k", "W_v", "W_o", "W_1", "W_2"):
            weights[name] *= network if name in FEED_FORWARD else attention
    W_2 = [weights["W_2"].requires_grad_() for weights in layers]
    hidden = stack(x, [partial(layer, weights=weights, heads=4, keep=real) for weights in layers])
    read_out = torch.nn.init.xavier_uniform_(torch.empty(64, V))
    logits = layer_norm(hidden[-1], torch.ones(64), torch.zeros(64)) @ read_out
    loss = cross_entropy(logits[real], some[real])
    return [gradient.norm().item() for gradient in torch.autograd.grad(loss, W_2)], hidden.detach()

# %% tags=["demo"]
KINDS = {"post-norm": post_norm_layer, "pre-norm": pre_norm_layer}
DEPTHS, SEEDS = (2, 4, 8, 16), range(5)
stacks = {(kind, depth): [fresh_stack(layer, depth, seed) for seed in SEEDS]
          for kind, layer in KINDS.items() for depth in DEPTHS}
norms = {where: np.array([gradients for gradients, _ in runs]) for where, runs in stacks.items()}
top = {where: np.mean([hidden[-1][real].norm(dim=1).mean() for _, hidden in runs])
       for where, runs in stacks.items()}

# %% tags=["demo"]
from coursekit.intervals import mean_and_half  # of the five seeds: their mean, and half its 95 % interval (Student's t)

last = {kind: {depth: mean_and_half(norms[kind, depth][:, -1]) for depth in DEPTHS}
        for kind in KINDS}
slopes = {kind: np.polyfit(np.log(DEPTHS), np.log([mean for mean, _ in points.values()]), 1)[0]
          for kind, points in last.items()}
by_layer = {kind: [mean_and_half(column) for column in norms[kind, 16].T] for kind in KINDS}
reveal("transformer.gradient", last["post-norm"][16][0] / last["pre-norm"][16][0])
pictures.gradients(last, by_layer, slopes)
for kind in KINDS:
    lengths = ", ".join(f"{top[kind, depth]:.1f} (L = {depth})" for depth in DEPTHS)
    print(f"{kind:<9} length of the vectors after the last layer: {lengths}")

# %% [markdown]
# The theorem holds well in our stacks: the slopes are near 0 and −0.5 on the logarithmic axes, and at 16 layers the ratio is near √16. The drawing of the two layers shows the cause. In pre-norm, each
# layer adds to a sum that is never cut back: its length grows like √L (printed above), and the norm at the top divides by it. Among sixteen terms, the last counts for less. The right picture shows all layers of 16. The paper expects gradients that shrink towards the first layers in post-norm, and equal ones in pre-norm (sections 3.3 and 3.4);
# in our post-norm stacks they hardly shrink, and in pre-norm the first layers get the larger ones. We come back to that below. What it does to training, and how much warm-up helps, is not measured here.

# %% [markdown]
# And the residuals? Attention is an average, and averages of averages become alike. We ask how much of a word's vector is its *own*: its distance from the mean of its sentence, as a share
# of its length. 1 means nothing in common with the others; 0 means that all words of the sentence have the same vector. At the input it is about 0.8. **Predict:** what is it after two layers without residuals?

# %% tags=["demo"]
predict("transformer.own", ...)

# %% tags=["demo"]
def own(hidden: Float[Tensor, "L+1 B T D"]) -> np.ndarray:
    """By layer: the share of the words' vectors that is not the mean of their sentence."""
    weight = real[..., None] / real.sum(1)[:, None, None]
    rest = hidden - (hidden * weight).sum(2, keepdim=True)
    size = hidden[:, real].square().sum((1, 2))
    return (rest[:, real].square().sum((1, 2)) / size).sqrt().numpy()

STACKS = {"post-norm without residuals": without_residuals, **KINDS}
spreads = {kind: np.array([own(fresh_stack(layer, 12, seed)[1]) for seed in SEEDS])
           for kind, layer in STACKS.items()}
reveal("transformer.own", spreads["post-norm without residuals"].mean(0)[2])
pictures.own_share(spreads)

# %% [markdown]
# Without residuals, the words of a sentence are nearly one vector after two or three layers: whatever they were, it is gone. Dong, Cordonnier and Loukas (2021) prove
# such a collapse for pure attention. Residuals slow it down; our post-norm stack still ends there after twelve layers, while pre-norm does not. Is that post-norm, or our weights? Xavier's start is one of several. BERT draws all matrices with
# standard deviation 0.02, which at D = 768 is 0.55 of Xavier's in attention and 0.88 in the network.

# %% tags=["demo"]
print("This takes a few seconds.")
STARTS = {"as above": (1.0, 1.0), "as BERT's": (0.55, 0.88), "all at 0.3": (0.3, 0.3)}
starts = {
    (kind, start): [fresh_stack(layer, 12, seed, *scales) for seed in SEEDS]
    for kind, layer in KINDS.items() for start, scales in STARTS.items()
}
kept = {where: [own(hidden)[-1] for _, hidden in found] for where, found in starts.items()}
ratios = {where: [gradients[0] / gradients[-1] for gradients, _ in found]
          for where, found in starts.items()}
lines = ["| 12 layers, 5 seeds | matrices at the start | a word's own share at the top "
         "| gradient, first layer / last |", "|:--|:--|--:|--:|"]
for where in starts:
    cells = ("{:.2f} ± {:.2f}".format(*mean_and_half(found[where])) for found in (kept, ratios))
    lines.append(f"| {' | '.join([*where, *cells])} |")
display(Markdown("\n".join(lines)))

# %% [markdown]
# The start decides more than the place of the norm. With BERT's matrices post-norm keeps about half of each word, and with all at 0.3 it keeps more than pre-norm does. So "post-norm makes the words alike" is a sentence about Xavier's start.
# The gradients: equal ones in pre-norm, as the paper expects, we find with small matrices only; in post-norm the first layer's is at most a little below the last one's, whatever the start.
#
# All this holds *before* training, which may change it: it says what a stack has to start from.

# %% [markdown]
# **Question 2.** You are to train an encoder of 24 layers and may choose where the norms stand. Say for each choice what speaks for it, using at least one of the two measurements
# above, and what the measurements do *not* tell you. (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# For pre-norm: at the start, the gradients near the top get smaller with depth instead of staying large. According to Xiong et al. this is why it trains without warm-up. And with
# Xavier's weights the words of a sentence stay distinct for longer (with smaller ones they do in both). For post-norm: every layer's output is normalised, so the top layers count as
# much as the others; in pre-norm one more term in a growing sum changes little, and late layers may contribute less. The measurements were made before the first step, on small stacks with
# random weights: they do not tell which model is better after training, how much warm-up costs, or how either behaves at another width or learning rate. For that, both would have to be trained.
#
# *Marking: 1 point for an argument for each choice, at least one tied to a measurement; 1 point for the limit (initialisation only, small, nothing about the
# quality after training).*

# %% [markdown]
# ## 6 · Train it
#
# Do positions help? We train a whole encoder, made of your functions alone: word vectors that start at random, positions, layers, a norm. The first task is one that *needs* order: was a sentence of
# the generated language written forwards or backwards? An encoder without positions is the control. **Predict:** how well does the control find the direction? The cell shows what you can choose from when you run it.

# %% tags=["demo"]
COIN, SOMEWHAT, MOST = "no better than a coin", "better than a coin: some words stand more often at the end", "most of the directions, after enough training"
predict("transformer.direction", ..., choices=(COIN, SOMEWHAT, MOST))

# %% tags=["demo"]
def new_encoder(seed: int, depth: int, outputs: int) -> dict:
    torch.manual_seed(seed)
    layers = [new_weights(32, 128) for _ in range(depth)]
    read_out = torch.randn(32, outputs) / 32**0.5
    model = {"words": torch.randn(V, 32), "layers": layers, "read_out": read_out}
    for tensor in parameters(model):
        tensor.requires_grad_()
    return model

def parameters(model: dict) -> list[Tensor]:
    of_layers = [tensor for weights in model["layers"] for tensor in weights.values()]
    return [model["words"], model["read_out"], *of_layers]

def with_positions(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids] + sinusoid(ids.shape[1], words.shape[1])

def words_alone(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids]

def encode(model: dict, ids: Int[Tensor, "B T"], embed=with_positions) -> Float[Tensor, "B T 32"]:
    """The vectors after the last layer, normalised."""
    keep = ids >= len(SPECIAL_TOKENS)
    layers = [partial(pre_norm_layer, weights=weights, heads=4, keep=keep)
              for weights in model["layers"]]
    hidden = stack(embed(ids, model["words"]), layers)
    return layer_norm(hidden[-1], torch.ones(32), torch.zeros(32))

# %% tags=["demo"]
def train(model: dict, loss_of, steps: int) -> None:
    optimiser = torch.optim.Adam(parameters(model), lr=3e-3)
    for _ in range(steps):
        loss = loss_of(model)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

# %% tags=["demo"]
def backwards(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """Every sentence with its words in reverse order; borders and padding stay where they are."""
    real, places = ids >= len(SPECIAL_TOKENS), torch.arange(ids.shape[1])
    mirrored = 1 + real.sum(1, keepdim=True) - places              # words stand at 1, 2, …
    return ids.gather(1, torch.where(real, mirrored, places))

def both_ways(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Each sentence in both directions, shuffled: no answer can be told by the place in the batch."""
    order = torch.randperm(2 * len(ids))
    answers = torch.arange(2).repeat_interleave(len(ids))
    return torch.cat([ids, backwards(ids)])[order], answers[order]

def direction(model: dict, ids: Tensor, embed) -> Float[Tensor, "B 2"]:
    """Scores for forwards and backwards, from the average over the words."""
    keep = (ids >= len(SPECIAL_TOKENS))[..., None]
    return (encode(model, ids, embed) * keep).sum(1) / keep.sum(1) @ model["read_out"]

def sentences(n: int, seed: int, split: str) -> Int[Tensor, "n T"]:
    return torch.from_numpy(language.sample(n, np.random.default_rng(seed), split=split).ids)

train_ids, test_ids = sentences(12_000, 1, "train"), sentences(2_000, 2, "held_out")

# %% tags=["demo"]
def order_accuracy(embed, seed: int, steps: int = 150) -> float:
    """Share of held-out sentences, each in both directions, whose direction is found."""
    def loss_of(model: dict) -> Tensor:
        ids, target = both_ways(train_ids[torch.randint(len(train_ids), (32,))])
        return cross_entropy(direction(model, ids, embed), target)

    model = new_encoder(seed, depth=1, outputs=2)
    train(model, loss_of, steps)
    ids, target = both_ways(test_ids)
    with torch.no_grad():
        return (direction(model, ids, embed).argmax(1) == target).float().mean().item()

# %% tags=["demo"]
print("This takes five to ten seconds.")
print("forwards: ", language.decode(test_ids[0]))
print("backwards:", language.decode(backwards(test_ids)[0]))
found = {embed.__name__: [order_accuracy(embed, seed) for seed in range(3)]
         for embed in (words_alone, with_positions)}
share_found = np.mean(found["words_alone"])
reveal("transformer.direction", COIN if share_found < 0.6 else SOMEWHAT if share_found < 0.9 else MOST, because={
    SOMEWHAT: "They do, but who cannot see where a word stands cannot use it: the control gets the same vectors in both directions, and averages them.",
    MOST: "There is nothing to learn: both directions are the same set of words, and give the same average whatever the weights are.",
})
for name, values in found.items():
    seeds = " ".join(f"{value:.3f}" for value in values)
    print(f"{name:<15} direction found: {np.mean(values):.3f}   (seeds {seeds})")

# %% [markdown]
# Without positions the answer is a coin toss, however long one trains: both directions hold the same words, so they get the same average (where rounding decides, it decides
# at random). With positions, one layer and a few seconds find most directions.

# %% [markdown]
# ### Find the bug
#
# The line with `torch.arange` stood in the teaching code of a university course on language models until January 2026 (issue 1 of cmu-l3/anlp-fall2025-code); a genome model had its
# like (C.Origami, issue 42). The rest of the function is ours. It runs, and the loss of a model with it goes down.

# %%
def positions_of_2025(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    numbers = torch.arange(ids.size(0)).unsqueeze(1)
    return words[ids] + places[numbers]

# %% [markdown]
# Three symptoms. The first two take the river sentence, alone and twice in one batch. The third is the task from above.

# %% tags=["demo"]
def symptoms(add_positions) -> None:
    """What a way of adding positions does, in three numbers."""
    table, places = x_river[0], sinusoid(5_000, 50)
    order, other = torch.arange(9)[None], torch.tensor(shuffled)[None]
    placed = [add_positions(words, table, places) for words in (order, other)]
    twice = add_positions(order.repeat(2, 1), table, places)
    apart = (twice[0] - twice[1]).abs().max()
    narrow = sinusoid(5_000, 32)
    task = order_accuracy(lambda ids, words: add_positions(ids, words, narrow), seed=0)
    display(Markdown(f"""
| {add_positions.__name__} | |
|:--|--:|
| change of *bank* when the other words are shuffled | {change_of_bank(*placed):.0e} |
| the same sentence twice in a batch: largest difference of the two | {apart:.1e} |
| directions found | {task:.3f} |
"""))

symptoms(positions_of_2025)

# %% [markdown]
# Shuffling has no effect, and the same sentence gets two different results. What is numbered here? Write the function as it should be.

# %% nbgrader={"grade": false, "grade_id": "transformer-mended_positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    """positions_of_2025 without its bug.  (difficulty ●○○, 4 minutes)

    ids are row numbers of `words`. The first word of every sentence gets row 0 of `places`, the
    next one row 1, … M ≥ T. Padding (0, at the end or elsewhere) is treated like all words.
    """
    ### BEGIN SOLUTION
    return words[ids] + places[: ids.shape[1]]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-mended_positions-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.mended_positions", lambda case: mended_positions(**case))

# %% tags=["demo"]
symptoms(mended_positions)

# %% [markdown]
# The bug numbers the *sentences* of the batch. Broadcasting then gives all words of a sentence the same position, which is no position. Most tasks
# can be learned quite well from a bag of words, so the loss goes down and nobody looks. The test that finds it takes two lines: shuffle the words, and see whether anything happens.

# %% [markdown]
# ## 7 · Scoreboard
#
# The same encoder takes the course's exam. As in 02, it is told the senses in training; its word vectors start from random numbers this time. The controls: no positions, and no training at all.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.scoreboard import add_row, draw, nearest_sense, sense_exam

exam, lessons = sense_exam(), language.sample(12_000, np.random.default_rng(1), split="train")
lessons = lessons[lessons.position >= 0]
ids, position, sense = map(torch.from_numpy, (lessons.ids, lessons.position, lessons.sense))
names = [name.split("#")[0] for name in language.senses]
rivals = torch.tensor([[a == b for a in names] for b in names])         # senses of the same word

def focal(model: dict, ids: Tensor, position: Tensor, embed) -> Float[Tensor, "B 32"]:
    return encode(model, ids, embed)[torch.arange(len(ids)), position]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def exam_of(depth: int, seed: int, embed=with_positions, steps: int = 250) -> tuple[float, float]:
    """Sense accuracy after training: cue on the left or both sides, cue only on the right."""
    def loss_of(model: dict) -> Tensor:
        some = torch.randint(len(ids), (64,))
        scores = focal(model, ids[some], position[some], embed) @ model["read_out"]
        return cross_entropy(scores.masked_fill(~rivals[sense[some]], -1e9), sense[some])

    model = new_encoder(seed, depth, len(names))
    train(model, loss_of, steps)
    with torch.no_grad():
        result = nearest_sense(exam, *(
            focal(model, torch.from_numpy(s.ids), torch.from_numpy(s.position), embed)
            for s in (exam.labelled, exam.held_out)
        ))
    return result.left, result.right

# %% tags=["demo"]
print("This takes five to ten seconds.")
results = {"1 layer, not trained": [exam_of(1, seed, steps=0) for seed in range(3)],
           "1 layer, no positions": [exam_of(1, seed, words_alone) for seed in range(3)]}

# %% tags=["demo"]
print("This takes five to ten seconds.")
results["1 layer"] = [exam_of(1, seed) for seed in range(3)]

# %% tags=["demo"]
print("This takes five to ten seconds.")
results["2 layers"] = [exam_of(2, seed) for seed in (0, 1)]

# %% tags=["demo"]
print("This takes a few seconds.")
results["2 layers"].append(exam_of(2, seed=2))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
lines = ["| encoder | cue left or both | cue only on the right | the seeds, right |"]
lines.append("|:--|--:|--:|:--|")
for name, runs in results.items():
    left, right = np.mean(runs, axis=0)
    seeds = " ".join(f"{run[1]:.3f}" for run in runs)
    lines.append(f"| {name} | {left:.3f} | **{right:.3f}** | {seeds} |")
    if name in ("1 layer", "2 layers"):
        note = f"told the senses, {len(runs)} seeds"
        add_row(f"transformer, {name}", sense_left=left, sense_right=right, note=note)
display(Markdown("\n".join(lines)))
draw()

# %% [markdown]
# Where the cue stands on the right, positions are worth a few points with every seed. A second layer adds hardly anything here: the exam's sentences are short. Even the untrained encoder is far above the
# most frequent sense, since a random mixture of one sentence's words still differs from that of another. With three seeds, differences of a point or two mean nothing. Like the layer of 02, this
# encoder was told the senses; from 05 on, models have to find them by themselves.

# %% [markdown]
# ## Extension
#
# In the picture of dot products, only the distance counted. There is more: for every k there is *one* matrix $M_k$ with $\mathrm{PE}(p + k) = M_k\, \mathrm{PE}(p)$ for **all** p. So "three
# words further on" is a linear map, which a projection such as W_q could learn. Each pair of columns is turned by the angle $k\,\omega_i$. It counts as extra credit.

# %% nbgrader={"grade": false, "grade_id": "transformer-shift_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    """The matrix M with PE(p + k) = M @ PE(p) for every position p.  (extension, ●●●, 8 minutes)

    PE(p) is row p of `sinusoid`, here as a column. k may be negative. The entries of M that belong
    to two different pairs of columns are 0. D is even.
    """
    ### BEGIN SOLUTION
    angle = k * 10_000.0 ** (-torch.arange(0, D, 2) / D)
    sine, cosine = angle.sin(), angle.cos()
    return torch.block_diag(*torch.stack([cosine, sine, -sine, cosine], dim=-1).unflatten(-1, (2, 2)))
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "transformer-shift_matrix-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer.shift_matrix", lambda case: shift_matrix(case["k"], len(case["word"])))

# %% tags=["demo"]
table, M = sinusoid(60, 50), shift_matrix(3, 50)
shifted = {
    "M₃ PE(p) against PE(p + 3)": (table[:-3] @ M.T - table[3:]).abs().max().item(),
    "control: against PE(p + 4)": (table[:-4] @ M.T - table[4:]).abs().max().item(),
    "M₃ M₄ against M₇": (M @ shift_matrix(4, 50) - shift_matrix(7, 50)).abs().max().item(),
}
for what, gap in shifted.items():
    print(f"{what:<27} largest difference {gap:.1e}")

# %% [markdown]
# One matrix moves all positions, and moves can be chained. *Rotary* positions (Su et al. 2021), which LLaMA has, apply these rotations to queries and keys directly, in place of
# adding a vector to the words: the score of two words then depends on their distance by construction.

# %% [markdown]
# ## Summary
#
# - Attention without positions knows no order: shuffled words give shuffled outputs. Positions are added to the words; sinusoidal ones compare by distance.
# - Layer normalisation works on each word alone. It takes away mean and length. ε stands inside the root, which matters for small vectors.
# - The feed-forward network works on each word alone and holds two thirds of a layer's numbers. Only attention lets words meet.
# - Residuals keep a word from being averaged away. Post-norm (2017) normalises the sums; pre-norm leaves the road of sums free.
# - At the start, the last layer's gradient does not depend on depth in post-norm, and falls like 1/√L in pre-norm.
# - Your layer is PyTorch's layer: the same weights give the same numbers.
#
# **Next**: 04 adds a decoder, and asks what all this costs, compared with a network that reads word by word.

# %% [markdown]
# ## References
#
# - Ba, J. L., Kiros, J. R. and Hinton, G. E. (2016). Layer normalization. arXiv:1607.06450.
# - C.Origami (2024). A problem in the PositionalEncoding model code. github.com/tanjimin/C.Origami/issues/42.
# - CMU L3 (2026). Positional encoding fix for 05_transformers. github.com/cmu-l3/anlp-fall2025-code/issues/1.
# - codertimo (2018). The LayerNorm implementation. github.com/codertimo/BERT-pytorch/issues/30.
# - Dong, Y., Cordonnier, J.-B. and Loukas, A. (2021). Attention is not all you need: pure attention loses rank doubly exponentially with depth. *ICML*, 2793–2803. arXiv:2103.03404.
# - Glorot, X. and Bengio, Y. (2010). Understanding the difficulty of training deep feedforward neural networks. *AISTATS*, 249–256.
# - He, K., Zhang, X., Ren, S. and Sun, J. (2016). Deep residual learning for image recognition. *CVPR*, 770–778. arXiv:1512.03385.
# - Rush, A. (2018). The annotated transformer. *Workshop for NLP Open Source Software*, 52–60.
# - Su, J. et al. (2021). RoFormer: enhanced transformer with rotary position embedding. arXiv:2104.09864.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762.
# - Xiong, R. et al. (2020). On layer normalization in the transformer architecture. *ICML*, 10524–10533. arXiv:2002.04745.

# %% [markdown]
# Next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb). The [start page](../start.ipynb) shows how far you are.
