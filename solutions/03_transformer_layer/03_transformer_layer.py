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
# things: positions, a small network for each word, sums that keep what was there, and a normalisation. Then the layer is repeated. You write
# each part as a module of your own, find out what breaks without it, end with a layer that gives the same numbers as PyTorch's, and train it.
#
# **You need** notebook 02. **Time** about 75 minutes: seven exercises, two questions that a person reads; three
# exercises and an extension go further.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [02 · Attention, step by step](../02_attention/02_attention.ipynb) · next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - show that attention alone does not know the order of words, and give it positions;
# - write attention, feed-forward network, dropout and the whole layer as modules: post-norm (2017) and pre-norm (today);
# - measure what residuals and the place of the norm do to gradients and to the words in a deep stack;
# - write a training step with clipping, and show where a training needs its warm-up.

# %%
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, relu

from coursekit import check, hint, predict, reveal
from coursekit.growing import keep, run_module

# %% tags=["demo"]
import numpy as np
from IPython.display import Markdown, display

from coursekit.pictures import transformer_layer as pictures
from coursekit.plots import use_style
from coursekit.vectors import load_glove

use_style()
torch.set_num_threads(1)

# %% [markdown]
# ## 1 · Attention, as a module
#
# In 02 attention was a function, and its weights were arguments. From here on you write the parts of a transformer as modules, and keep
# them in `my_model.py`, a file of your own beside the notebooks. 06 and 07 build BERT and GPT from what is in it.
#
# A **module** is a class made from `nn.Module`. It owns its weights. What `__init__` sets as an attribute is registered under that name if it is
# an `nn.Parameter` or a module itself: the optimiser finds it, and weights are loaded by it. `forward` says what comes out.

# %%
class Stretch(nn.Module):
    """Every coordinate times a number of its own, then a linear map."""

    def __init__(self, dim: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))
        self.mix = nn.Linear(dim, dim)
        self.more = [nn.Linear(dim, dim)]

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x * self.gain)

# %% tags=["demo"]
for name, weight in Stretch(3).named_parameters():
    print(f"{name:<11} {list(weight.shape)}")

# %% [markdown]
# Three names, and none for `more`: a plain list hides its modules, an `nn.ModuleList` does not. `nn.Linear(D, F)` holds its matrix with F rows and D
# columns, and a bias; `self.mix(x)` is a function call like any other.
#
# A check gives your class its sizes, puts the same weights into it by name, and compares what comes out. Stuck? `hint("transformer.sinusoid")`, in a cell of your own, asks a question first and then says more.

# %% nbgrader={"grade": false, "grade_id": "transformer-MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Every word asks, and is answered by the words that it may see.  (difficulty ●●○, 8 minutes)

    Registers the linear maps `query`, `key`, `value` and `output`, each from dim to dim with a bias, and nothing else.
    Then write forward(self, x, keep): x (B, T, D) gives (B, T, D). keep[b, i, j] is True where word i
    of sentence b may see word j; the first two of its axes (B, T, T) may have length 1. Head h has
    columns h·d to (h + 1)·d − 1 of queries, keys and values, with d = dim / heads; scores are divided
    by √d. The heads stand side by side again before `output`. `scaled_dot_product_attention` may be used.
    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, dim: int, heads: int):
        ### BEGIN SOLUTION
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "B T D"], keep: Bool[Tensor, "#B #T T"]) -> Float[Tensor, "B T D"]:
        def in_heads(project: nn.Linear) -> Float[Tensor, "B H T d"]:
            return project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)

        queries, keys, values = in_heads(self.query), in_heads(self.key), in_heads(self.value)
        scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5  # B H T T
        weights = scores.masked_fill(~keep[:, None], float("-inf")).softmax(dim=-1)
        return self.output((weights @ values).transpose(1, 2).flatten(2))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-MultiHeadAttention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("transformer.MultiHeadAttention", lambda case: run_module(MultiHeadAttention, case, "x", "keep", back_to=["x"]))

# %% [markdown]
# In 02 `keep` had a row for each sentence: which words are real. Now it has a place for each *pair* of words. With `real[:, None]` padding is hidden from everyone, and
# in 07 a triangle hides the future.

# %% [markdown]
# ## 2 · Does attention know the order?
#
# "The dog bites the man" and "the man bites the dog" hold the same words. We take the river sentence of 02, in GloVe vectors, and
# your attention with random matrices.

# %% tags=["demo", "record"]
def glorot(module: nn.Module) -> nn.Module:
    """Matrices as before training (Glorot and Bengio 2010), biases 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    return module

# %% tags=["demo"]
glove = load_glove()
river = "i will hike along the bank of a river".split()
bank, everyone = river.index("bank"), torch.ones(1, 1, len(river), dtype=torch.bool)
x_river = glove.of(river)[None]                                    # 1 9 50
torch.manual_seed(0)
attention = glorot(MultiHeadAttention(50, heads=5))

shuffled = [3, 8, 0, 6, 2, 5, 1, 4, 7]          # bank, number 5, stays where it is
print("as it is:", *river)
print("shuffled:", *(river[i] for i in shuffled))

# %% [markdown]
# Every word but *bank* stands elsewhere. **Predict:** what happens to the vector that attention gives to *bank*? The cell shows what you can choose from
# when you run it.

# %% tags=["demo"]
NOTHING, SOME, MUCH = "nothing", "it moves a little, towards the words that came nearer", "it is another vector, as for another sentence"
predict("transformer.shuffled", ..., choices=(NOTHING, SOME, MUCH))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def change_of_bank(x: Tensor, other: Tensor) -> float:
    """How far the new vector of bank moves when x becomes `other`, as a share of its length."""
    one, two = (attention(rows, everyone)[0, bank] for rows in (x, other))
    return ((one - two).norm() / one.norm()).item()

x_account = glove.of([*river[:-1], "account"])[None]
changes = {
    "the other words shuffled": change_of_bank(x_river, x_river[:, shuffled]),
    "control: river replaced by account": change_of_bank(x_river, x_account),
}
before, after = (attention(x, everyone) for x in (x_river, x_river[:, shuffled]))
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
# What should this vector, the **positional encoding**, look like? The numbers 0, 1, 2, … would outgrow the words. Vaswani et al. (2017, section 3.5) use the hands of many
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

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
table = sinusoid(400, 50)
distances = list(range(-100, 101))
products = {p: table[[p + k for k in distances]] @ table[p] for p in (100, 200, 299)}
random = torch.randn(len(distances), 50, generator=torch.Generator().manual_seed(0))
control = 5 * torch.nn.functional.normalize(random, dim=1) @ table[100]
pictures.closeness(distances, products, control)

# %% [markdown]
# Three positions, one curve: the dot product depends on the *distance* alone, since
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$. It is largest at distance 0 and falls off to both sides, though not steadily.
# (A last section goes further: moving by k is a *rotation*, the same from everywhere.) Each row has length
# $\sqrt{D/2}$, here 5. Now the shuffle again:

# %% tags=["demo"]
x_placed = x_river + sinusoid(len(river), 50)
x_moved = x_river[:, shuffled] + sinusoid(len(river), 50)
changes["with positions: the other words shuffled"] = change_of_bank(x_placed, x_moved)
lines = [f"| {what} | {change:.1e} |" for what, change in changes.items()]
display(Markdown("| | change of *bank* |\n|:--|--:|\n" + "\n".join(lines)))

# %% [markdown]
# The order has become visible: the same nine words in another order now give *bank* another vector, a change of the same kind of size as another
# word makes. Whether it is *useful* has to be learned; we come to that in section 7.

# %% [markdown]
# **Question 1.** A friend proposes simpler positions: one more coordinate that holds the number of the word, 0, 1, 2 and so on. Give one reason why
# this works less well than the sinusoid. Then say one thing that would be better about a *learned* table of positions, and one that would be worse.
# (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The number of the word has no bound: at position 500 this one coordinate is far larger than all others together and dominates every dot product
# and every norm. Sentences longer than those of the training give values that were never seen. Also, the dot product of two such numbers is their
# product: it grows with the positions themselves and says nothing about how near they are to each other. In the sinusoid all rows have one length, and
# the dot product depends on the distance alone. A learned table can fit what the task needs, such as a special role of
# the first word, and need not be smooth. But it has a last row: there is no vector for a position beyond the table, rare late positions are trained seldom, and
# nothing ties position 7 to position 8 beforehand.
#
# *Marking: 1 point for a valid reason against the raw number (unbounded, dominates, product says nothing about distance, unseen lengths); 1 point
# for an advantage and a disadvantage of learned tables.*

# %% [markdown]
# ## 3 · Layer normalisation
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
    """Each vector with mean 0 and variance 1, then stretched, shifted.  (difficulty ●●○, 5 minutes)

    Mean and variance are taken over the last axis, the variance as the mean of the squares (divided
    by D, not D − 1). eps is added to the variance, inside the root. `nn.functional.layer_norm` earns
    the point, too, but write it out once.
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
# Up to ε, a vector loses its length and the mean of its coordinates; the direction of the rest stays. No other word takes part, neither of the sentence nor of
# the batch. In this it differs from batch normalisation, where a sentence would get another result in other company. Now the sums: we add
# attention to the words twelve times, each time with fresh matrices, with and without your function behind the sum. **Predict:** without it, how many times longer than at the start are the
# vectors in the end?

# %% tags=["demo"]
predict("transformer.growth", ...)

# %% tags=["demo"]
@torch.no_grad()
def added_up(after_each_sum) -> Float[Tensor, "13 T"]:
    """Length of every word's vector, at the start and after each of twelve sums."""
    torch.manual_seed(4)
    x, lengths = x_placed, [x_placed[0].norm(dim=1)]
    for _ in range(12):
        x = after_each_sum(x + glorot(MultiHeadAttention(50, heads=5))(x, everyone))
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
#
# PyTorch has your function as a module, `nn.LayerNorm(D, eps=…)`: gain and bias are its parameters `weight` and `bias`. From here on we use it.

# %% [markdown]
# ## 4 · The feed-forward network
#
# Attention mixes words by weighted sums. What is still missing is a place where a word's vector is *worked on*: a small network with one hidden layer, the same for
# every word, and for each word alone:
#
# $$\operatorname{FFN}(x) = a(x W_1 + b_1)\, W_2 + b_2 .$$
#
# The activation a bends the line: without it two linear maps are one. In 2017 it was ReLU, $\max(0, z)$. BERT and GPT-2 have **GELU** (Hendrycks and Gimpel 2016), $z\,\Phi(z)$: each number
# times the share of a normal distribution below it.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
z = torch.linspace(-4, 4, 801)
curves = {"ReLU": relu(z), "GELU, exact": gelu(z), "GELU, by its formula with tanh": gelu(z, approximate="tanh")}
formula_off = (curves["GELU, exact"] - curves["GELU, by its formula with tanh"]).abs().max().item()
pictures.activations(z, curves)

# %% [markdown]
# The normal distribution was slow to compute then, so the paper also gives a formula, $\tfrac12 z\,(1 + \tanh(\sqrt{2/\pi}\,(z + 0.044715\,z^3)))$. BERT uses the exact GELU,
# GPT-2 the formula. They differ by less than a thousandth, and a model run with the wrong one of the two gives other numbers than the paper's.
#
# The hidden layer is usually four times as wide as the vector. **Predict:** which share of all numbers in a layer with D = 768 (the size of BERT-Base)
# belongs to this network?

# %% tags=["demo"]
predict("transformer.share", ...)

# %% nbgrader={"grade": false, "grade_id": "transformer-FeedForward", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(nn.Module):
    """Two linear maps with an activation between them.  (difficulty ●○○, 4 minutes)

    Registers `widen`, from dim to inner, and `narrow`, from inner to dim, both with a bias. activation
    is "relu", "gelu" (exact) or "gelu_tanh" (by the formula). Then write forward(self, x): x
    (…, D) gives (…, D). `relu` and `gelu` of torch.nn.functional are imported above.
    """

    def __init__(self, dim: int, inner: int, activation: str = "gelu"):
        ### BEGIN SOLUTION
        super().__init__()
        self.widen = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.activation = activation

    def forward(self, x: Float[Tensor, "... D"]) -> Float[Tensor, "... D"]:
        hidden = self.widen(x)
        if self.activation == "relu":
            hidden = relu(hidden)
        else:
            hidden = gelu(hidden, approximate="tanh" if self.activation == "gelu_tanh" else "none")
        return self.narrow(hidden)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-FeedForward-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.FeedForward", lambda case: run_module(FeedForward, case, "x", gradient=True, back_to=["x"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
bert_base = torch.nn.TransformerEncoderLayer(768, 12, 3072)
sizes = {name: sum(p.numel() for p in bert_base.get_submodule(name).parameters())
         for name in ("self_attn", "linear1", "linear2", "norm1", "norm2")}
whole = sum(sizes.values())
share = (sizes["linear1"] + sizes["linear2"]) / whole
reveal("transformer.share", share)
print(f"{whole:,} numbers in a layer:")
print(", ".join(f"{name} {size:,}" for name, size in sizes.items()))

# %% [markdown]
# Two thirds: attention has four matrices of D × D, the network two of D × 4D, eight times D² against four. Attention holds one third.
#
# Which of the parts lets words see each other? As in 02 we ask the derivative: how strongly does each input word move each output word?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.derivatives import influence

network = glorot(FeedForward(50, 200))
parts = {
    "layer norm": lambda x: layer_norm(x, one, zero),
    "feed-forward": network,
    "attention": lambda x: attention(x, everyone),
}
maps = {name: influence(part, x_placed[0]) for name, part in parts.items()}
pictures.who_moves_whom(maps, river)

# %% [markdown]
# Norm and network live on the diagonal: they work on each word alone. Attention is the only place of the layer where words meet. Whatever *bank* learns of *river*, it
# learns there.

# %% [markdown]
# ## 5 · The layer
#
# One part is left, a small one. **Dropout** (Srivastava et al. 2014) sets some numbers to 0 while a model is trained, others each time, so that no number is relied on alone. What stays is
# divided by 1 − p, which keeps the mean. When the model is *used*, nothing may be dropped. A module knows which it is: `model.train()` and `model.eval()` set `self.training`, in all its parts.

# %% nbgrader={"grade": false, "grade_id": "transformer-Dropout", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Dropout(nn.Module):
    """In training, each number is dropped with probability p.  (difficulty ●○○, 4 minutes)

    Write forward(self, x, draws=None). draws has the shape of x, numbers between 0 and 1: where one is
    below p, x becomes 0; all other numbers are divided by 1 − p. Without draws it makes them
    itself (`torch.rand_like`). In evaluation mode x stays as it is. p is below 1, and is not saved.
    Source: Srivastava et al. (2014).
    """

    def __init__(self, p: float):
        ### BEGIN SOLUTION
        super().__init__()
        self.p = p

    def forward(self, x: Float[Tensor, "*N"], draws: Float[Tensor, "*N"] | None = None) -> Float[Tensor, "*N"]:
        if not self.training:
            return x
        if draws is None:
            draws = torch.rand_like(x)
        return x * (draws >= self.p) / (1 - self.p)
        ### END SOLUTION

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def drop(cls: type[nn.Module], case: dict) -> dict[str, Tensor]:
    """The answers in training and in evaluation, with the draws of the case if it has some.

    Of draws of its own: whether each row and each column has numbers that were dropped and others, and the others' factor.
    """
    if "draws" in case or case["config"]["p"] in (0, 1 - 1e-9):
        given = [name for name in ("x", "draws") if name in case]
        return run_module(cls, case, *given, modes=("train", "eval"), back_to=["x"])
    output = run_module(cls, case, "x", modes=("train",))["train"]
    dropped = output == 0
    mixed = all((dropped.any(axis) & ~dropped.all(axis)).all() for axis in (0, 1))
    factor = (output / case["x"])[~dropped].mean().item() if mixed else 0.0
    return {"draws of its own": torch.tensor([float(mixed), factor])}

# %% nbgrader={"grade": true, "grade_id": "transformer-Dropout-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("transformer.Dropout", lambda case: drop(Dropout, case))

# %% [markdown]
# Now we put the parts together. Two ideas hold them. A **residual** connection (He et al. 2016) adds the input of a part to its output: the part only has to compute what should be *changed*.
# And something is normalised. In the paper it is each sum (**post-norm**); today it mostly is what goes into the branch (**pre-norm**). Then nothing but sums is left on the straight road
# from the bottom to the top, the **residual stream**. BERT is post-norm; GPT-2 and most large models since are pre-norm.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.two_layers()

# %% nbgrader={"grade": false, "grade_id": "transformer-Block", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Block(nn.Module):
    """One layer: the left drawing, or with norm_first the right one.  (difficulty ●●●, 10 minutes)

    Registers `attention` (your MultiHeadAttention) and `feed_forward` (your FeedForward with this
    activation), and `norm_attention` and `norm_feed_forward`, two nn.LayerNorm with this eps, norm 1 and
    norm 2 of the drawings. Dropout with this probability is applied to what attention gives and to
    what the feed-forward network gives, each before it is added. Nothing else is saved. Then write forward(self, x, keep), as in
    MultiHeadAttention. Rows of padding are computed like all others; a pre-norm output is not normalised.
    Sources: Vaswani et al. (2017), sections 3.1 and 5.4; Xiong et al. (2020), table 1.
    """

    def __init__(self, dim: int, heads: int, inner: int, norm_first: bool = False,
                 activation: str = "gelu", eps: float = 1e-5, dropout: float = 0.0):
        ### BEGIN SOLUTION
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(dim, heads)
        self.feed_forward = FeedForward(dim, inner, activation)
        self.norm_attention = nn.LayerNorm(dim, eps=eps)
        self.norm_feed_forward = nn.LayerNorm(dim, eps=eps)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "B T D"], keep: Bool[Tensor, "#B #T T"]) -> Float[Tensor, "B T D"]:
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm_attention(x), keep))
            return x + self.dropout(self.feed_forward(self.norm_feed_forward(x)))
        x = self.norm_attention(x + self.dropout(self.attention(x, keep)))
        return self.norm_feed_forward(x + self.dropout(self.feed_forward(x)))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-Block-check", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check("transformer.Block", lambda case: run_module(Block, case, "x", "keep", modes=("eval", "train"), back_to=["x"]))

# %% [markdown]
# PyTorch has this layer: `nn.TransformerEncoderLayer`. It keeps the three projections in one piece. We make one of each kind with random
# gains and biases, copy its weights into your block, and give both the same padded batch.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def torch_layer(norm_first: bool) -> nn.TransformerEncoderLayer:
    torch.manual_seed(3)
    module = nn.TransformerEncoderLayer(50, 5, 200, norm_first=norm_first, batch_first=True)
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1:      # at 0 and 1, where they start, swapped ones would not show
            start = 1.0 if "norm" in name and "weight" in name else 0.0
            nn.init.normal_(parameter, mean=start, std=0.3)
    return module.eval()

def copied_into(block: Block, module: nn.TransformerEncoderLayer) -> Block:
    """The block with the weights of PyTorch's layer."""
    attention = module.self_attn
    theirs = {
        "attention.output": attention.out_proj, "feed_forward.widen": module.linear1,
        "feed_forward.narrow": module.linear2, "norm_attention": module.norm1, "norm_feed_forward": module.norm2,
    }
    state = {f"{name}.{kind}": getattr(part, kind) for name, part in theirs.items() for kind in ("weight", "bias")}
    for kind in ("weight", "bias"):
        thirds = getattr(attention, f"in_proj_{kind}").chunk(3)
        state |= {f"attention.{name}.{kind}": third for name, third in zip(("query", "key", "value"), thirds)}
    block.load_state_dict(state)
    return block.eval()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
money = "i will open a new account at my bank and deposit some money".split()
batch = nn.utils.rnn.pad_sequence([glove.of(river), glove.of(money)], batch_first=True)
batch = batch + sinusoid(13, 50)                                              # 2 13 50
is_word = torch.arange(13) < torch.tensor([[len(river)], [len(money)]])       # 2 13

@torch.no_grad()
def apart_from_torch(norm_first: bool) -> dict[str, float]:
    """The largest difference from PyTorch's layer at a real word, of your block and of two controls."""
    module = torch_layer(norm_first)
    theirs = module(batch, src_key_padding_mask=~is_word)
    same, other = (copied_into(Block(50, 5, 200, first, activation="relu"), module) for first in (norm_first, not norm_first))
    ours = {
        "the same weights": same(batch, is_word[:, None]),
        "control: padding not hidden": same(batch, torch.ones_like(is_word)[:, None]),
        "control: the other kind of norm": other(batch, is_word[:, None]),
    }
    return {what: (rows - theirs)[is_word].abs().max().item() for what, rows in ours.items()}

apart, apart_pre = apart_from_torch(norm_first=False), apart_from_torch(norm_first=True)
for kind, gaps in {"post-norm": apart, "pre-norm": apart_pre}.items():
    for what, gap in gaps.items():
        print(f"{kind:<9}  {what:<32} largest difference {gap:.1e}")

# %% [markdown]
# The same numbers, up to rounding. Every piece of the layer has passed through your hands. (Mind the mask: `src_key_padding_mask` is True where a word is *hidden*.)
#
# Time to keep it. `keep` writes your classes, as they stand in their cells, into `my_model.py`. A later notebook loads them with `mine("Block")`, says so if one is missing or
# wrong, and takes the course's own in its place. Run the cell again after a change.

# %% tags=["demo"]
keep(sinusoid, MultiHeadAttention, FeedForward, Dropout, Block)

# %% [markdown]
# ## 6 · Many layers
#
# A stack has many layers, each with weights of its own, and what comes out of one goes into the next. Does it matter where the norm stands? The transformer of 2017 was trained with a learning rate that starts near 0 and grows slowly ("warm-up"), and without it training often failed. Xiong et al. (2020) looked for the reason in the gradients *before* the
# first step. Their theorem 1 bounds the gradient of W₂ (our `narrow`) in the last layer: in post-norm by $O(D\sqrt{\ln D})$, whatever the depth L, and in pre-norm by
# $O(D\sqrt{\ln D\,/\,L})$. **Predict:** in a stack of 16 layers, how many times larger is it in post-norm?

# %% tags=["demo"]
predict("transformer.gradient", ...)

# %% [markdown]
# We build stacks of 2 to 16 of your blocks with fresh weights, five times each, let them predict each word from its own vector (a loss like any other), and read off the gradients. Both kinds
# get a norm after the last layer. A third kind has no residuals at all, for the question after this one.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
V = len(language.vocabulary)
some = torch.from_numpy(language.sample(32, np.random.default_rng(0), split="train").ids)
real = some >= len(SPECIAL_TOKENS)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
class WithoutResiduals(Block):
    """A post-norm layer with its two sums left out."""

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        return self.norm_feed_forward(self.feed_forward(self.norm_attention(self.attention(x, keep))))

KINDS = {"post-norm": (Block, False), "pre-norm": (Block, True)}
STACKS = {"post-norm without residuals": (WithoutResiduals, False), **KINDS}

def fresh_stack(
    kind: str, depth: int, seed: int, attention: float = 1.0, network: float = 1.0
) -> tuple[list[float], Float[Tensor, "L+1 B T D"]]:
    """Gradient norm of W_2 in every layer of an untrained stack, and the vectors of all layers.

    The last two shrink the matrices of attention and of the feed-forward network at the start.
    """
    torch.manual_seed(seed)
    hidden = [torch.randn(V, 64)[some] + sinusoid(some.shape[1], 64)]
    cls, norm_first = STACKS[kind]
    layers = [glorot(cls(64, 4, 256, norm_first, activation="relu")) for _ in range(depth)]
    for layer in layers:
        for name, weight in layer.named_parameters():
            if weight.ndim == 2:
                weight.data *= attention if name.startswith("attention") else network
        hidden.append(layer(hidden[-1], real[:, None]))
    read_out = nn.init.xavier_uniform_(torch.empty(64, V))
    logits = nn.functional.layer_norm(hidden[-1], (64,)) @ read_out
    loss = cross_entropy(logits[real], some[real])
    gradients = torch.autograd.grad(loss, [layer.feed_forward.narrow.weight for layer in layers])
    return [gradient.norm().item() for gradient in gradients], torch.stack(hidden).detach()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
DEPTHS, SEEDS = (2, 4, 8, 16), range(5)
stacks = {(kind, depth): [fresh_stack(kind, depth, seed) for seed in SEEDS]
          for kind in KINDS for depth in DEPTHS}
norms = {where: np.array([gradients for gradients, _ in runs]) for where, runs in stacks.items()}
top = {where: np.mean([hidden[-1][real].norm(dim=1).mean() for _, hidden in runs])
       for where, runs in stacks.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
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
# The theorem holds well in our stacks: the slopes are near 0 and −0.5 on the logarithmic axes, and at 16 layers the ratio is a little below √16. In
# pre-norm, each layer adds to the residual stream, which is never cut back: its length grows like √L (printed above), and the norm at the top divides by it.
# The right picture shows all layers of 16. The paper expects gradients that shrink towards the first layers in post-norm, and equal ones in pre-norm (sections 3.3 and 3.4).
# In our post-norm stacks five seeds show no shrinking (the band is wide), and in pre-norm the first layers get the larger ones.

# %% [markdown]
# And the residuals? Attention is an average, and averages of averages become alike. We ask how much of a word's vector is its *own*: its distance from the mean of its sentence, as a share
# of its length. 1 means nothing in common with the others; 0 means that all words of the sentence have the same vector. At the input it is about 0.8. **Predict:** what is it after two layers without residuals?

# %% tags=["demo"]
predict("transformer.own", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def own(hidden: Float[Tensor, "L+1 B T D"]) -> np.ndarray:
    """By layer: the share of the words' vectors that is not the mean of their sentence."""
    weight = real[..., None] / real.sum(1)[:, None, None]
    rest = hidden - (hidden * weight).sum(2, keepdim=True)
    size = hidden[:, real].square().sum((1, 2))
    return (rest[:, real].square().sum((1, 2)) / size).sqrt().numpy()

spreads = {kind: np.array([own(fresh_stack(kind, 12, seed)[1]) for seed in SEEDS]) for kind in STACKS}
reveal("transformer.own", spreads["post-norm without residuals"].mean(0)[2])
pictures.own_share(spreads)

# %% [markdown]
# Without residuals, the words of a sentence are nearly one vector after two or three layers: whatever they were, it is gone. Dong, Cordonnier and Loukas (2021) prove
# such a collapse for pure attention. Residuals slow it down; our post-norm stack still ends there after twelve layers, while pre-norm does not. Is that post-norm, or our weights? Xavier's start is one of several. BERT draws all matrices with
# standard deviation 0.02, which at D = 768 is 0.55 of Xavier's in attention and 0.88 in the network.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
STARTS = {"as above": (1.0, 1.0), "as BERT's": (0.55, 0.88), "all at 0.3": (0.3, 0.3)}
starts = {
    (kind, start): [fresh_stack(kind, 12, seed, *scales) for seed in SEEDS]
    for kind in STACKS for start, scales in STARTS.items()
}
kept = {where: [own(hidden)[-1] for _, hidden in found] for where, found in starts.items()}
ratios = {where: [gradients[0] / gradients[-1] for gradients, _ in found]
          for where, found in starts.items() if where[0] in KINDS}
lines = ["| 12 layers, 5 seeds | matrices at the start | a word's own share at the top "
         "| gradient, first layer / last |", "|:--|:--|--:|--:|"]
for where in starts:
    cells = ("{:.2f} ± {:.2f}".format(*mean_and_half(found[where])) if where in found else "–" for found in (kept, ratios))
    lines.append(f"| {' | '.join([*where, *cells])} |")
display(Markdown("\n".join(lines)))

# %% [markdown]
# Without residuals nothing is left with any of the three starts. With them the start decides more than the place of the norm: with BERT's matrices post-norm keeps about half of each word, and with all at 0.3 more than pre-norm does. So "post-norm makes the words alike" is a sentence about Xavier's start.
# The gradients: equal ones in pre-norm, as the paper expects, we find with small matrices only; in post-norm first and last layer cannot be told apart with any start.
#
# All this holds *before* training, which may change it: it says what a stack has to start from.

# %% [markdown]
# **Question 2.** You are to train an encoder of 24 layers and may choose where the norms stand. Say for each choice what speaks for it, using at least one of the two measurements
# above, and what the measurements do *not* tell you. (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# For pre-norm: at the start, the gradients near the top get smaller with depth instead of staying large. According to Xiong et al. this is why it trains without warm-up. And with
# Xavier's weights the words of a sentence stay distinct for longer (with smaller ones they do in both). For post-norm: every layer's output is normalised, so the top layers count as
# much as the others; in pre-norm one more term in a growing sum changes little, and late layers may contribute less. The measurements were made before the first step, on small stacks with
# random weights. They do not tell which model is better after training, how much warm-up costs, or how either behaves at another width or learning rate. For that, both would have to be trained.
#
# *Marking: 1 point for an argument for each choice, at least one tied to a measurement; 1 point for the limit (initialisation only, small, nothing about the
# quality after training).*

# %% [markdown]
# ## 7 · Train it
#
# A training is one step, many times: the model reads a batch, the loss says how wrong it is, the gradient says what to change, the optimiser changes it. Three things are easily
# forgotten. Gradients add up until someone sets them to zero. Padding has no right answer, so only some tokens count. And some batches have a gradient that is far too large.
# **Clipping** (Pascanu et al. 2013) scales it down to a bound, all numbers by one factor, so that its direction stays.
#
# The learning rate comes from outside, for each step anew. The optimiser here is Adam, as in 02; the rate stands in its `param_groups`, a list of dictionaries, under "lr".

# %% nbgrader={"grade": false, "grade_id": "transformer-training_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def training_step(
    model: nn.Module,
    batch: tuple[Int[Tensor, "B T"], Int[Tensor, "B T"], Bool[Tensor, "B T"]],
    optimiser: torch.optim.Optimizer,
    rate: float,
    most: float,
) -> float:
    """One step of training; returns the loss of this batch before it.  (difficulty ●●○, 8 minutes)

    batch holds ids, targets and counts; model(ids) gives logits (B, T, C). The loss is the mean
    cross-entropy over the tokens where counts is True. The model is put into training mode before it
    reads. Only this batch's gradient is used; if its norm, over all parameters together, is
    above `most`, it is scaled down to that (`nn.utils.clip_grad_norm_`). The optimiser steps with the learning rate
    `rate` in each of its groups.
    """
    ### BEGIN SOLUTION
    model.train()
    ids, targets, counts = batch
    loss = cross_entropy(model(ids)[counts], targets[counts])
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return loss.item()
    ### END SOLUTION

# %% tags=["hide-input"] jupyter={"source_hidden": true}
class Small(nn.Module):
    """Word vectors and a read-out. Like dropout, it works otherwise in training: the first column is empty then."""

    def __init__(self, words: Tensor, read_out: Tensor):
        super().__init__()
        self.words, self.read_out = nn.Parameter(words.clone()), nn.Parameter(read_out.clone())

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words[ids]
        if self.training:
            x = x * (torch.arange(x.shape[-1]) > 0)
        return x @ self.read_out

def several_steps(step, case: dict) -> dict[str, Tensor]:
    """The losses of some steps, and the weights after them; the model is in evaluation mode before."""
    model = Small(case["words"], case["read_out"]).eval()
    groups = [{"params": [model.words]}, {"params": [model.read_out]}]
    optimiser = getattr(torch.optim, case["kind"])(groups, lr=case["lr"])
    batches = zip(case["ids"], case["targets"], case["counts"])
    losses = [step(model, batch, optimiser, rate, case["most"]) for batch, rate in zip(batches, case["rates"])]
    if None in losses:
        raise ValueError("training_step returned nothing; it should return the loss as a number.")
    return {
        "losses": torch.tensor([float(loss) for loss in losses]), "words": model.words, "read_out": model.read_out,
        "in training mode": torch.tensor(model.training),
    }

# %% nbgrader={"grade": true, "grade_id": "transformer-training_step-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("transformer.training_step", lambda case: several_steps(training_step, case))

# %% tags=["demo"]
keep(training_step)

# %% [markdown]
# Do positions help? We train a whole encoder of your blocks: word vectors that start at random, positions, layers, a norm, and scores for each word. The first task *needs* order: was a sentence of
# the generated language written forwards or backwards? Every word has to say so; their mean decides. An encoder without positions is the control. **Predict:** how well does the control find the direction? The cell shows what you can choose from when you run it.

# %% tags=["demo"]
COIN, SOMEWHAT, MOST = "no better than a coin", "better than a coin: some words stand more often at the end", "most of the directions, after enough training"
predict("transformer.direction", ..., choices=(COIN, SOMEWHAT, MOST))

# %% tags=["demo", "record"]
def with_positions(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids] + sinusoid(ids.shape[1], words.shape[1])

def words_alone(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids]

class Encoder(nn.Module):
    """Words, positions, your blocks, a norm; scores for each word."""

    def __init__(self, depth: int, outputs: int, embed=with_positions, norm_first: bool = True):
        super().__init__()
        self.embed = embed
        self.words = nn.Parameter(0.3 * torch.randn(V, 32))       # shorter than the positions, which are to be heard
        self.blocks = nn.ModuleList(glorot(Block(32, 4, 128, norm_first)) for _ in range(depth))
        self.norm = nn.LayerNorm(32)
        self.read_out = nn.Parameter(torch.randn(32, outputs) / 32**0.5)

    def vectors(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T 32"]:
        x, real = self.embed(ids, self.words), ids >= len(SPECIAL_TOKENS)
        for block in self.blocks:
            x = block(x, real[:, None])
        return self.norm(x)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T C"]:
        return self.vectors(ids) @ self.read_out

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def warm_up(step: int, rate: float, over: int) -> float:
    """The learning rate of a step: it grows evenly in the first ones, `over` many, and stays."""
    return rate * min(1.0, (step + 1) / over)

def backwards(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """Every sentence with its words in reverse order; borders and padding stay where they are."""
    real, places = ids >= len(SPECIAL_TOKENS), torch.arange(ids.shape[1])
    mirrored = 1 + real.sum(1, keepdim=True) - places              # words stand at 1, 2, …
    return ids.gather(1, torch.where(real, mirrored, places))

def both_ways(ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of each sentence in both directions, shuffled: no answer can be told by the place in the batch."""
    order, directions = torch.randperm(2 * len(ids)), torch.arange(2).repeat_interleave(len(ids))
    ids, targets = torch.cat([ids, backwards(ids)])[order], directions[order][:, None]
    return ids, targets.expand_as(ids), ids >= len(SPECIAL_TOKENS)

def sentences(n: int, seed: int, split: str) -> Int[Tensor, "n T"]:
    return torch.from_numpy(language.sample(n, np.random.default_rng(seed), split=split).ids)

train_ids, test_ids = sentences(12_000, 1, "train"), sentences(2_000, 2, "held_out")

@torch.no_grad()
def direction(model: nn.Module, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B"]:
    """How much more a sentence looks backwards than forwards, by the mean over its words."""
    model.eval()
    weights = (ids >= len(SPECIAL_TOKENS)).float()
    scores = model(ids)
    return ((scores[..., 1] - scores[..., 0]) * weights).sum(1) / weights.sum(1)

def directions_found(model: nn.Module) -> float:
    """Share of held-out sentences, each in both directions, whose direction is found."""
    ids, targets, _ = both_ways(test_ids)
    return ((direction(model, ids) > 0) == targets[:, 0].bool()).float().mean().item()

# %% [markdown]
# The rate grows from near 0 over the first 30 steps (`warm_up`). While it trains we watch one sentence in both directions: does the model say "backwards" to the second alone?

# %% tags=["demo", "record"]
def learn_direction(
    model: nn.Module, steps: int, over: int = 30, most: float = 1.0, look=lambda step, loss: None
) -> list[float]:
    """Your steps; the loss of each."""
    optimiser, losses = torch.optim.Adam(model.parameters()), []
    for step in range(steps):
        batch = both_ways(train_ids[torch.randint(len(train_ids), (32,))])
        losses.append(training_step(model, batch, optimiser, warm_up(step, 3e-3, over), most))
        look(step + 1, losses[-1])
    return losses

# %% tags=["demo"]
def order_accuracy(embed, seed: int, steps: int = 150, look=lambda *now: None) -> float:
    """The share that one layer finds with these positions."""
    torch.manual_seed(seed)
    model = Encoder(1, 2, embed)
    learn_direction(model, steps, look=lambda *now: look(model, *now))
    return directions_found(model)

pair = torch.cat([test_ids[:1], backwards(test_ids[:1])])
print("forwards: ", language.decode(pair[0]))
print("backwards:", language.decode(pair[1]), "\n")

def answers(model: nn.Module, step: int, loss: float) -> None:
    if step % 30 == 0:
        said = " ".join(f"{p:.2f}" for p in direction(model, pair).sigmoid())
        print(f"step {step:>3}   loss {loss:.3f}   says backwards, to the first and to the second: {said}")

share_found = order_accuracy(with_positions, seed=0, look=answers)
print(f"\ndirections found in 2,000 held-out sentences, both ways: {share_found:.3f}")

# %% tags=["demo"]
print("This takes five to ten seconds.")
found = {embed.__name__: [order_accuracy(embed, seed) for seed in range(3)]
         for embed in (words_alone, with_positions)}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
share_found = np.mean(found["words_alone"])
reveal("transformer.direction", COIN if share_found < 0.6 else SOMEWHAT if share_found < 0.9 else MOST, because={
    SOMEWHAT: "They do, but who cannot see where a word stands cannot use it: every word has the same vector in both directions.",
    MOST: "There is nothing to learn: both directions are the same set of words with the same vectors, whatever the weights are.",
})
for name, values in found.items():
    seeds = " ".join(f"{value:.3f}" for value in values)
    print(f"{name:<15} direction found: {np.mean(values):.3f}   (seeds {seeds})")

# %% [markdown]
# Without positions the answer is a coin toss, however long one trains: both directions hold the same words, with the same vectors (where rounding decides, it decides
# at random). With positions, one layer and a few seconds find nearly all directions.
#
# ### What warm-up and clipping are for
#
# One layer is easily trained. We take six, of each kind, and leave away the warm-up (the full rate from the first step), the clipping, or both. **Predict:** which of the two kinds
# of layer fails without warm-up?

# %% tags=["demo"]
POST, PRE, BOTH, NEITHER = "post-norm", "pre-norm", "both", "neither"
predict("transformer.warm_up", ..., choices=(POST, PRE, BOTH, NEITHER))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
SHORT = {"warm-up and clipping": (50, 1.0), "no clipping": (50, torch.inf), "no warm-up": (1, 1.0), "neither": (1, torch.inf)}
DEEP, LONG = 6, 200

def deep_run(norm_first: bool, how: str, seed: int) -> tuple[list[float], float]:
    """The loss of each step of a deep encoder, and the share of directions that it finds in the end."""
    torch.manual_seed(seed)
    model = Encoder(DEEP, 2, norm_first=norm_first)
    losses = learn_direction(model, LONG, *SHORT[how])
    return losses, directions_found(model)

# %% [markdown]
# Two runs here, post-norm with and without warm-up; ten seeds of each are recorded.

# %% tags=["demo"]
print("This takes some twenty seconds.")
live = {how: deep_run(False, how, seed=0) for how in ("warm-up and clipping", "no warm-up")}
for how, (losses, share_right) in live.items():
    print(f"post-norm, {how:<21} last loss {np.mean(losses[-25:]):.3f}   directions found {share_right:.3f}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table

runs = read_table("results/warm_up.csv")
learned = runs[runs.step == runs.step.max()].assign(found=lambda end: end.accuracy > 0.9)
learned = learned.groupby(["norm", "how"], sort=False).found.sum().unstack("how", sort=False)
post_fails, pre_fails = (learned.loc[kind, "no warm-up"] < learned.loc[kind, "warm-up and clipping"] / 2 for kind in KINDS)
reveal("transformer.warm_up", BOTH if post_fails and pre_fails else POST if post_fails else PRE if pre_fails else NEITHER, because={
    PRE: "Its road from the bottom to the top is free, and the top divides by a long sum: a first step that is too long changes little.",
    BOTH: "Pre-norm's sums are never cut back: one layer that has gone astray is one term among others.",
    NEITHER: "At the full rate from the first step, Adam moves every number by as much as in any later one, while the gradients still come from random weights.",
})
pictures.warm_up(runs)

# %% [markdown]
# Without warm-up, the deep post-norm encoder learns the task in one run of twenty. In the others the loss stays near a coin's, clipped or not. Pre-norm learns with every seed, in all four ways.
# Here the place of the norm decides whether a warm-up is needed, as Xiong et al. found. With warm-up, post-norm learns with all ten seeds if it is clipped, and with seven if not. That may be luck: ten seeds do not settle it (Fisher's exact test: p = 0.21).

# %% [markdown]
# Why warm-up? In its first step Adam moves every number by the full rate, whatever its gradient, for it has seen no other to compare with. Measured are six small layers at one rate:
# how long a warm-up must be, or whether a smaller rate would do, is not.

# %% [markdown]
# ## 8 · Scoreboard
#
# The same encoder takes the course's exam. As in 02, it is told the senses in training; its word vectors start at random. In two of
# the four kinds of question the order of the words alone tells the sense, in one clause or in two. An encoder without positions gets at most a half of these, with any number
# of layers: shuffled words give shuffled outputs. How much do positions give, and does a second layer matter?
#
# It is your `training_step` again; now one word of each sentence counts, the ambiguous one.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import Accuracy, nearest_sense, sense_exam

exam, lessons = sense_exam(), language.sample(60_000, np.random.default_rng(1), split="train")
lessons = lessons[lessons.position >= 0]
ids, position, sense = map(torch.from_numpy, (lessons.ids, lessons.position, lessons.sense))
names = [name.split("#")[0] for name in language.senses]
senses_of = torch.zeros(V, len(names), dtype=torch.bool)                # True for the senses that a word has
senses_of[ids[torch.arange(len(ids)), position], sense] = True

class SenseEncoder(Encoder):
    """Scores for the senses of each word; of another word's senses there is no question."""

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T senses"]:
        return super().forward(ids).masked_fill(~senses_of[ids], -1e9)

@torch.no_grad()
def examine(model: Encoder) -> Accuracy:
    """Share of senses found by kind of question, from the encoder's vectors of the ambiguous words."""
    model.eval()
    return nearest_sense(exam, *(
        torch.cat([model.vectors(torch.from_numpy(part.ids))[torch.arange(len(part.ids)), torch.from_numpy(part.position)]
                   for part in (s[n : n + 2_000] for n in range(0, len(s), 2_000))])
        for s in (exam.labelled, exam.held_out)
    ))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def lessons_and_exams(depth: int, seed: int, embed, at: list[int]) -> dict[int, Accuracy]:
    """Train to tell the senses, and take the exam after each of these numbers of steps."""
    torch.manual_seed(seed)
    model = SenseEncoder(depth, len(names), embed)
    optimiser, found = torch.optim.Adam(model.parameters()), {}
    for step in range(max(at) + 1):
        if step in at:
            found[step] = examine(model)
        some = torch.randint(len(ids), (64,))
        counts = torch.arange(ids.shape[1]) == position[some, None]
        batch = ids[some], sense[some, None].expand_as(counts), counts
        training_step(model, batch, optimiser, warm_up(step, 3e-3, 100), 1.0)
    return found

# %% [markdown]
# First live, with one layer and 500 steps, which is short: with positions and without.

# %% tags=["demo"]
print("This takes five to ten seconds.")
brief = {"1 layer": lessons_and_exams(1, 0, with_positions, [500])[500]}

# %% tags=["demo"]
print("This takes five to ten seconds.")
brief["1 layer, no positions"] = lessons_and_exams(1, 0, words_alone, [500])[500]
for name, accuracy in brief.items():
    print(f"{name:<22} {accuracy}")

# %% [markdown]
# **Predict:** after 2,000 steps, which share of the questions of two clauses does *one* layer with positions find, between 0 and 1? The dotted line of the figure below is at one half.

# %% tags=["demo"]
predict("transformer.two_clauses", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import QUESTIONS
from coursekit.intervals import mean_and_half
from coursekit.scoreboard import add_row, draw

recorded = read_table("results/transformer_depth.csv")
recorded = recorded.sort_values(["positions", "layers"], ascending=[False, True], kind="stable")
recorded["encoder"] = [
    f"{layers} layer{'s' * (layers > 1)}{'' if positions else ', no positions'}"
    for layers, positions in zip(recorded.layers, recorded.positions)
]
longest = recorded[recorded.steps == recorded.steps.max()]
found_at_last = {name: [Accuracy(*shares) for shares in runs[list(QUESTIONS)].to_numpy().tolist()]
                 for name, runs in longest.groupby("encoder", sort=False)}
reveal("transformer.two_clauses", np.mean([accuracy.order2 for accuracy in found_at_last["1 layer"]]))
pictures.learning(recorded, kinds=("right", "order1", "order2"))

# %% tags=["demo"]
for name in ("1 layer", "2 layers"):
    add_row(f"transformer, {name}", found_at_last[name], note="told the senses")
draw()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def stated(name: str, kind: str) -> str:
    """Mean over the seeds, and half its 95 % interval."""
    mean, half = mean_and_half([accuracy[kind] for accuracy in found_at_last[name]])
    return f"{mean:.3f} ± {half:.3f}"

lines = ["| after 2,000 steps | " + " | ".join(QUESTIONS.values()) + " |", "|:--" + "|--:" * len(QUESTIONS) + "|"]
lines += [f"| {name} | " + " | ".join(stated(name, kind) for kind in QUESTIONS) + " |" for name in found_at_last]
untrained = recorded[recorded.steps == 0].groupby("encoder").right.mean()
seeds = ", ".join(f"{accuracy.order2:.3f}" for accuracy in found_at_last["1 layer"])
display(Markdown(
    "\n".join(lines) + f"\n\n± is half a 95 % interval over {recorded.seed.nunique()} seeds (`experiments/transformer_depth.py`). One layer with positions, questions of two clauses, "
    f"seed by seed: {seeds}. Not trained, the same encoder finds {untrained['1 layer']:.2f} of the senses whose cue stands on the right: a random mixture of one sentence's words still differs from that of another."))

# %% [markdown]
# Where a word tells the sense, all trained encoders find more than nine in ten within 500 steps, with positions or without. Where order tells it, those without stay at a half, with one layer and with two.
# (The ± is over seeds, which all answer the same questions; what else is above a half is luck, as in 01.) With
# positions the order questions follow, later: after 500 steps at most seven in ten are found, after 2,000 more than nine in ten (one seed of one layer: eight in ten). So both rows stand above those of 01 and 02 in the
# last two panels, for one reason: the words say where they stand.

# %% [markdown]
# A second layer is not what decides: one attention sees all words with their places, and the network behind it can combine what it gathers.
# At none of these numbers of steps can one layer and two be told apart in the order questions. (A difference smaller than the ± of the table is not ruled out.) Like the layer of 02, this
# encoder was told the senses; from 05 on, models have to find them by themselves.

# %% [markdown]
# ## Further: embeddings, and rows of unequal lengths
#
# Two parts stand before the first layer. One gives each token its vector and its place. The table of words is learned, so it is a parameter; the sinusoid never changes, yet it
# belongs to the model: saved with it, and moved with it to another device. That is a **buffer**, `self.register_buffer("position", table)`. As a parameter it would be trained, as a plain
# attribute it would stay behind.

# %% nbgrader={"grade": false, "grade_id": "transformer-Embeddings", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Embeddings(nn.Module):
    """A learned vector for each token, and a sinusoid for its place.  (further, ●○○, 5 minutes)

    Registers `token`, an nn.Embedding with a row for each of the vocabulary, and the buffer `position`, your
    sinusoid for so many tokens, saved with the model. Then write forward(self, ids): ids (B, T) give (B, T, D), the sum of both; T is
    at most `tokens`. Nothing is scaled.
    """

    def __init__(self, vocabulary: int, tokens: int, dim: int):
        ### BEGIN SOLUTION
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return self.token(ids) + self.position[: ids.shape[1]]
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-Embeddings-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.Embeddings", lambda case: run_module(Embeddings, case, "ids"))

# %% tags=["demo"]
keep(sinusoid, Embeddings)

# %% [markdown]
# The other makes the batch. Sentences are of unequal lengths, a tensor is not. PyTorch's `DataLoader` shuffles the rows, cuts them into batches, and gives each batch to a function
# of yours, by custom called **collate**, which pads it. Padded to the longest row of the *batch*, not of the corpus, fewer tokens are computed for nothing.

# %% nbgrader={"grade": false, "grade_id": "transformer-collate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def collate(rows: list[list[int]]) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"]]:
    """Rows of ids as one batch: the padded ids, and where they are real.  (further, ●○○, 5 minutes)

    T is the length of the longest row. Behind the end of a shorter row stand zeros. The mask is True where an id stands
    in a row; a row may itself hold the id 0, and may be empty, though not all of them are.
    """
    ### BEGIN SOLUTION
    longest = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(longest) < lengths[:, None]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "transformer-collate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("transformer.collate", lambda case: collate(
    [row.tolist() for row in case["ids"].split(case["lengths"].tolist())]
))

# %% tags=["demo"]
keep(collate)

# %% [markdown]
# With it the encoder of section 7 learns the directions once more, each row forwards and backwards. The mask says which tokens count. One pass over all rows is an **epoch**.

# %% tags=["demo"]
from torch.utils.data import DataLoader

def both_directions(rows: list[list[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """What training_step takes: the rows, and the rows mirrored between their borders, padded by your collate."""
    ids, real = collate([*rows, *([row[0], *row[-2:0:-1], row[-1]] for row in rows)])
    return ids, torch.arange(2).repeat_interleave(len(rows))[:, None].expand_as(ids), real

rows = [row[row != 0].tolist() for row in train_ids[:4_800]]
torch.manual_seed(0)
loader = DataLoader(rows, batch_size=32, shuffle=True, collate_fn=both_directions)
model, widths, filled = Encoder(1, 2), [], []
optimiser = torch.optim.Adam(model.parameters())
for step, batch in enumerate(loader):
    loss = training_step(model, batch, optimiser, warm_up(step, 3e-3, 30), 1.0)
    widths.append(batch[0].shape[1])
    filled.append(batch[2].float().mean().item())
    if (step + 1) % 30 == 0:
        print(f"batch {step + 1:>3}, {widths[-1]} tokens wide   loss {loss:.3f}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
longest_row = max(map(len, rows))
found_after_epoch = directions_found(model)
print(f"after one epoch, directions found: {found_after_epoch:.3f}")
print(f"{len(loader)} batches, {min(widths)} to {max(widths)} tokens wide; real tokens: {np.mean(filled):.0%}; "
      f"padded to the longest of all, {longest_row}: {np.mean([len(row) for row in rows]) / longest_row:.0%}")

# %% [markdown]
# ## Further: two pieces of found code
#
# ### Positions of 2025
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

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
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
    """positions_of_2025 without its bug.  (further, ●○○, 4 minutes)

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
# ### The norm of a tutorial
#
# The *Annotated Transformer* (Rush 2018), from which many learned, writes `(x - mean) / (std + eps)`: ε outside the root, and torch's `std`, which
# divides by D − 1. Asked about it in a BERT in PyTorch (codertimo, issue 30), people compared [1, 0, 0, 0] and found 1.5
# where `nn.LayerNorm` gives 1.732; the thread ends on "they did the same thing". Did they? We give both the same ε.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
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
# ## Extension
#
# In the picture of dot products, only the distance counted. There is more: for every k there is *one* matrix $M_k$ with $\mathrm{PE}(p + k) = M_k\, \mathrm{PE}(p)$ for **all** p. So "three
# words further on" is a linear map, which a projection such as W_q could learn. Each pair of columns is turned by the angle $k\,\omega_i$. It counts as extra credit.

# %% nbgrader={"grade": false, "grade_id": "transformer-shift_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    """The matrix M with PE(p + k) = M @ PE(p) for every position p.  (further, ●●●, 8 minutes)

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

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
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
# - A module owns the parameters and modules set as its attributes, not those in a plain list.
# - Attention knows no order: a positional encoding is added to each word.
# - Norm and network work on each word alone; only attention lets words meet.
# - Without residuals a sentence becomes one vector. Pre-norm never cuts the residual stream back; deep post-norm needs a warm-up.
# - A step: forward, loss over what counts, gradients to zero, backward, clip, rate, step.
# - Without positions an encoder finds at most half of what order tells; with them, most.
# - Your layer is PyTorch's: equal weights, equal numbers.
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
# - Hendrycks, D. and Gimpel, K. (2016). Gaussian error linear units (GELUs). arXiv:1606.08415.
# - Pascanu, R., Mikolov, T. and Bengio, Y. (2013). On the difficulty of training recurrent neural networks. *ICML*, 1310–1318. arXiv:1211.5063.
# - Rush, A. (2018). The annotated transformer. *Workshop for NLP Open Source Software*, 52–60.
# - Srivastava, N., Hinton, G., Krizhevsky, A., Sutskever, I. and Salakhutdinov, R. (2014). Dropout: a simple way to prevent neural networks from overfitting. *JMLR* 15, 1929–1958.
# - Su, J. et al. (2021). RoFormer: enhanced transformer with rotary position embedding. arXiv:2104.09864.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762.
# - Xiong, R. et al. (2020). On layer normalization in the transformer architecture. *ICML*, 10524–10533. arXiv:2002.04745.


# %% [markdown]
# Next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb). The [start page](../start.ipynb) shows how far you are.
