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
# Attention lets the vector of a word draw on the words around it. Because attention alone ignores word order, a transformer first adds positions to the word vectors.
# One **layer** then combines attention with three simpler components: a small network applied to each word, residual connections and normalisation. Many such layers are stacked.
# You will write each component, find out what breaks without it, compare the complete layer with PyTorch's, and train it.
#
# **You need** notebook 02. **Time** about 80 minutes: seven exercises and two written questions. Three more
# exercises and an extension are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [02 · Attention, step by step](../02_attention/02_attention.ipynb) · next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - show that attention alone ignores word order, and add positional encodings to the word vectors;
# - write attention, the feed-forward network, dropout and the whole layer as modules, with post-norm (as in 2017) or pre-norm (usual today);
# - measure how residual connections and the position of the norm affect gradients and word vectors in a deep stack;
# - write a training step with gradient clipping, and show when training needs a warm-up.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, relu

from coursekit import check, hint, predict, predictions, reveal
from coursekit.growing import keep, run_module

# %% tags=["demo"]
import numpy as np

from coursekit.pictures import transformer_layer as pictures, transformer_tables as tables
from coursekit.plots import use_style
from coursekit.vectors import load_glove

use_style()
torch.set_num_threads(1)

# %% [markdown]
# ## 1 · Attention, as a module
#
# In notebook 02, attention was a function that received its weights as arguments. From now on you write the components of a transformer as modules and save
# them in `my_model.py`, a file of your own next to the notebooks. In notebooks 06 and 07 you will build BERT and GPT from these modules.
#
# A **module** is an object whose class is derived from `nn.Module`. The module owns its weights: every attribute set in `__init__` that is an `nn.Parameter` or itself a module is
# registered under its name. The optimiser trains the registered parameters, and weights are saved and loaded under the same names. The method `forward` computes the output.

# %%
class Stretch(nn.Module):
    """Scale every coordinate by a weight of its own, then apply a linear map."""

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
# The list shows three parameters, but none from `more`, because the modules in a plain list are not registered; modules in an `nn.ModuleList` would be registered. `nn.Linear(D, F)` stores a bias and a matrix with F rows
# and D columns. You call a module like a function: `self.mix(x)`.
#
# A check creates an instance of your class with given sizes, loads the same weights by name into this instance and into the solution, and compares the outputs. If you are stuck, run `hint("transformer.MultiHeadAttention")` in a cell
# of your own: the first hint is a question, and each further hint gives more detail.

# %% nbgrader={"grade": false, "grade_id": "transformer-MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with a mask.  (difficulty ●●○, 8 minutes)

    Register the linear maps `query`, `key`, `value` and `output`, each from dim to dim with a
    bias, and nothing else. Then write forward(self, x, keep), which maps x (B, T, D) to
    (B, T, D). keep[b, i, j] is True where word i of sentence b may attend to word j; each of
    the first two axes of keep (B, T, T) may have length 1. Head h uses columns h·d to
    (h + 1)·d − 1 of queries, keys and values, with d = dim / heads. Divide the scores by √d,
    and concatenate the heads before applying `output`. `scaled_dot_product_attention` may be
    used.
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
check("transformer.MultiHeadAttention", lambda case: run_module(
    MultiHeadAttention, case, "x", "keep", back_to=["x"]
))

# %% [markdown]
# In notebook 02, `keep` contained one value per word, which showed whether the word was real or padding. Now it contains one value per *pair* of words. If `real` marks the real words, `real[:, None]` hides the padding from
# every word. In notebook 07, a triangular mask will hide all later words.

# %% [markdown]
# ## 2 · Does attention know the order?
#
# "The dog bites the man" and "the man bites the dog" contain the same words. Can attention distinguish the two sentences? We apply your module, with random matrices, to the GloVe vectors of the words in the river sentence from notebook 02.

# %% tags=["demo", "record"]
def glorot(module: nn.Module) -> nn.Module:
    """Initialise the matrices as Glorot and Bengio (2010) do, and set the biases to 0."""
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
print("original:", *river)
print("shuffled:", *(river[i] for i in shuffled))

# %% [markdown]
# Every word except *bank* has moved. **Predict:** what happens to the output vector of *bank*? Run the cell to see the choices.

# %% tags=["demo"]
NOTHING, SOME, MUCH = (
    "nothing",
    "it moves a little, towards the words that are now nearer",
    "it becomes a different vector, as in a different sentence",
)
predict("transformer.shuffled", ..., choices=(NOTHING, SOME, MUCH))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def change_of_bank(x: Tensor, other: Tensor) -> float:
    """The relative change of the output vector of bank when the input x is replaced by `other`."""
    one, two = (attention(rows, everyone)[0, bank] for rows in (x, other))
    return ((one - two).norm() / one.norm()).item()

x_account = glove.of([*river[:-1], "account"])[None]
changes = {
    "the other words shuffled": change_of_bank(x_river, x_river[:, shuffled]),
    "for comparison: river replaced by account": change_of_bank(x_river, x_account),
}
before, after = (attention(x, everyone) for x in (x_river, x_river[:, shuffled]))
moved_along = (after - before[:, shuffled]).abs().max().item()
moved = changes["the other words shuffled"]
reveal("transformer.shuffled", NOTHING if moved < 1e-5 else SOME if moved < 0.1 else MUCH, because={
    SOME: "An attention weight depends on two vectors, a query and a key. Neither contains the position of its word, so attention cannot distinguish near words from distant ones.",
    MUCH: "To a human reader, the sentence has lost its meaning. Attention, however, still sees the same nine vectors and gives them the same nine weights, so the weighted sum is the same.",
})

# %% tags=["demo"]
tables.changes_of_bank(changes, moved_along)

# %% [markdown]
# Up to rounding, the vector of *bank* does not change. Attention compares every pair of words regardless of the distance between them, and a sum does not depend on the order of its terms.
# Shuffling the inputs merely shuffles the outputs: attention is **permutation-equivariant**. Replacing a single word, by contrast, changes the vector of *bank* considerably. If order is to matter,
# it has to be encoded *in the vectors*. We therefore add to each word vector a second vector that depends on the position of the word.

# %% [markdown]
# What should this vector, the **positional encoding**, look like? The positions 0, 1, 2, … themselves would soon be larger than the coordinates of the word vectors. Vaswani et al. (2017, section 3.5) use sines and
# cosines of many frequencies, like the hands of clocks that run at different speeds. With $\omega_i = 10000^{-2i/D}$,
#
# $$\mathrm{PE}_{p,\,2i} = \sin(p\,\omega_i), \qquad \mathrm{PE}_{p,\,2i+1} = \cos(p\,\omega_i).$$

# %% nbgrader={"grade": false, "grade_id": "transformer-sinusoid", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoid(T: int, D: int) -> Float[Tensor, "T D"]:
    """Sinusoidal encodings of the positions 0 to T − 1.  (difficulty ●●○, 7 minutes)

    Row p encodes position p. Columns 2i and 2i+1 contain the sine and the cosine of
    p / 10000^(2i/D), for i from 0 to D/2 − 1. D is even. Source: Vaswani et al. (2017),
    section 3.5.
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
# The columns work like the digits of a number. The columns on the left change with every word, whereas those on the right change very little within a sentence. A position is identified only by
# all columns together. The encoding has a second useful property. Attention compares vectors by their dot products, so we plot the dot products between the encoding of one position and the encodings of its neighbours.

# %% tags=["demo"]
pictures.closeness(sinusoid(400, 50), positions=(100, 200, 299))

# %% [markdown]
# All three positions give the same curve. The dot product depends only on the *distance*, because
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$. The curve has its maximum at distance 0 and decreases on both sides, though not monotonically.
# (The extension at the end shows that a shift by k positions is a *rotation*, and that this rotation is the same at every position.) Every row of the table is a vector of length $\sqrt{D/2}$, which is 5 here. We now add the positional encodings to the word vectors and shuffle the words again:

# %% tags=["demo"]
x_placed = x_river + sinusoid(len(river), 50)
x_moved = x_river[:, shuffled] + sinusoid(len(river), 50)
changes["with positions: the other words shuffled"] = change_of_bank(x_placed, x_moved)
tables.changes_with_positions(changes)

# %% [markdown]
# Attention now depends on the order: when the same nine words are shuffled, *bank* receives a different vector. The change has the same order of magnitude as the change caused by replacing a word.
# The model still has to learn to use this information, which is the subject of section 7.

# %% [markdown]
# **Question 1 · Encodings of position.** A friend proposes a simpler encoding: one additional coordinate that contains the index of the word, 0, 1, 2 and so on. Give one reason why
# this works less well than the sinusoid. Then name one advantage and one disadvantage of a *learned* table of positions.
# (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The index is unbounded: at position 500 this single coordinate is far larger than all the others together and dominates every dot product
# and every norm. Sentences longer than those in training produce values that the model has never seen. Moreover, the dot product of two indices is their
# product, which grows with the positions and does not reveal the distance between them. In the sinusoidal encoding, all rows have the same length, and
# the dot product depends only on the distance. A learned table can adapt to the task, for example by giving the first word a special role,
# and need not be smooth. But the table is finite, so there is no vector for a position beyond its last row. Late positions are rarely trained, and
# before training nothing relates position 7 to position 8.
#
# *Marking: 1 point for a valid reason against the raw index (it is unbounded, it dominates the other coordinates, a product of indices does not reveal the distance, or longer sentences give unseen values); 1 point
# for one advantage and one disadvantage of learned tables.*

# %% [markdown]
# ## 3 · Layer normalisation
#
# We have added word vectors and position vectors, and the layer will also add the outputs of several components. The lengths of such sums differ from word to word and grow from layer
# to layer. Layer normalisation (Ba, Kiros and Hinton 2016) brings every vector back to a common scale. It treats each word separately and normalises over its D coordinates:
#
# $$\operatorname{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot g + b, \qquad \mu = \frac1D \sum_i x_i, \quad
# \sigma^2 = \frac1D \sum_i (x_i - \mu)^2 .$$
#
# The gain g and the bias b are learned, one value per coordinate. The small constant ε prevents a division by zero.

# %% nbgrader={"grade": false, "grade_id": "transformer-layer_norm", "locked": false, "schema_version": 3, "solution": true, "task": false}
def layer_norm(
    x: Float[Tensor, "... D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"],
    eps: float = 1e-5
) -> Float[Tensor, "... D"]:
    """Standardise each vector, then apply gain and bias.  (difficulty ●●○, 5 minutes)

    Take the mean and the variance over the last axis; the variance is the mean of the squared
    deviations (divide by D, not D − 1). Add eps to the variance, inside the square root. A
    call to `nn.functional.layer_norm` also earns the points, but write the formula out once.
    Autograd must be able to differentiate the result.
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
), gradients=["x"])

# %% tags=["demo"]
one, zero = torch.ones(50), torch.zeros(50)
normed = layer_norm(x_placed, one, zero)
enlarged = (layer_norm(10 * x_placed, one, zero) - normed).abs().max().item()
lifted = (layer_norm(x_placed + 3, one, zero) - normed).abs().max().item()
print(f"all vectors multiplied by 10:  the result changes by {enlarged:.0e}")
print(f"3 added to every coordinate:   the result changes by {lifted:.0e}")
print(f"largest coordinate, for comparison: {normed.abs().max():.1f}")

# %% [markdown]
# Apart from the effect of ε, layer normalisation removes the length of a vector and the mean of its coordinates, but leaves the direction of the remainder unchanged. No other word of the sentence or of
# the batch affects the result. In batch normalisation, by contrast, the result for a sentence depends on the other sentences in the batch.
# 
# Next we study what happens when many outputs are added up. Twelve times in a row, we add the output of attention to its input, each time with new random matrices. We do so first without normalisation and then with your `layer_norm` after each addition. **Predict:** without normalisation, by what factor have the vectors grown after the twelve additions?

# %% tags=["demo"]
predict("transformer.growth", ...)

# %% tags=["demo"]
@torch.no_grad()
def added_up(after_each_sum) -> Float[Tensor, "13 T"]:
    """The length of each word vector at the start and after each of the twelve additions."""
    torch.manual_seed(4)
    x, lengths = x_placed, [x_placed[0].norm(dim=1)]
    for _ in range(12):
        x = after_each_sum(x + glorot(MultiHeadAttention(50, heads=5))(x, everyone))
        lengths.append(x[0].norm(dim=1))
    return torch.stack(lengths)

grown = {
    "without normalisation": added_up(lambda x: x),
    "each sum normalised": added_up(lambda x: layer_norm(x, one, zero)),
}
start, *_, end = grown["without normalisation"].mean(dim=1).tolist()
reveal("transformer.growth", end / start)
pictures.drift(river, grown, 50**0.5)

# %% [markdown]
# Without normalisation, the sums grow exponentially, by a similar factor at each step, so later layers would have to cope with inputs of any magnitude. With normalisation, every vector has length √D after each step.
#
# PyTorch provides layer normalisation as a module, `nn.LayerNorm(D, eps=…)`, whose parameters `weight` and `bias` are the gain and the bias. From now on we use this module.

# %% [markdown]
# ## 4 · The feed-forward network
#
# Attention only forms weighted sums of vectors from different words. The layer also needs a component that transforms each vector: a small network with one hidden layer, applied to
# every word separately with the same weights:
#
# $$\operatorname{FFN}(x) = a(x W_1 + b_1)\, W_2 + b_2 .$$
#
# The activation function $a$ makes the network non-linear; without it, the two linear maps would amount to a single one. The original transformer used ReLU, $\max(0, z)$. BERT and GPT-2 use **GELU** (Hendrycks and
# Gimpel 2016), $z\,\Phi(z)$, where Φ is the cumulative distribution function of the standard normal distribution.

# %% tags=["demo"]
z = torch.linspace(-4, 4, 801)
curves = {
    "ReLU": relu(z),
    "GELU, exact": gelu(z),
    "GELU, tanh approximation": gelu(z, approximate="tanh"),
}
pictures.activations(z, curves)

# %% [markdown]
# Because Φ was slow to compute, the paper also gives an approximation, $\tfrac12 z\,(1 + \tanh(\sqrt{2/\pi}\,(z + 0.044715\,z^3)))$. Google's own BERT code and GPT-2 use the approximation;
# BERT in Hugging Face's transformers uses the exact function. The two differ by less than a thousandth, so a model that is run with the other version gives slightly different results.
#
# The hidden layer is usually four times as wide as the vector. **Predict:** what fraction of the parameters of a layer with D = 768 (the size of BERT-Base)
# belongs to the feed-forward network?

# %% tags=["demo"]
predict("transformer.share", ...)

# %% nbgrader={"grade": false, "grade_id": "transformer-FeedForward", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(nn.Module):
    """Two linear maps with an activation function between them.  (difficulty ●○○, 4 minutes)

    Register `widen`, from dim to inner, and `narrow`, from inner to dim, both with a bias.
    activation is "relu", "gelu" (exact) or "gelu_tanh" (the approximation). Then write
    forward(self, x), which maps x (…, D) to (…, D). `relu` and `gelu` from torch.nn.functional
    are imported above.
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
check("transformer.FeedForward", lambda case: run_module(
    FeedForward, case, "x", gradient=True, back_to=["x"]
))

# %% tags=["demo"]
sizes = tables.sizes_of_parts(dim=768, heads=12, inner=3072)    # of PyTorch's layer
reveal("transformer.share", (sizes["linear1"] + sizes["linear2"]) / sum(sizes.values()))
tables.parameters(sizes)

# %% [markdown]
# Two thirds of the parameters belong to the feed-forward network. Its two matrices of size D × 4D contain 8D² parameters, whereas the four matrices of attention, each of size D × D, contain 4D².
# 
# Which components let words influence each other? As in notebook 02, we compute derivatives to find out how strongly each output vector depends on each input vector.

# %% tags=["demo"]
parts = {
    "layer norm": lambda x: layer_norm(x, one, zero),
    "feed-forward": glorot(FeedForward(50, 200)),
    "attention": lambda x: attention(x, everyone),
}
pictures.who_moves_whom(parts, x_placed[0], river)

# %% [markdown]
# For the norm and the feed-forward network, only the entries on the diagonal differ from zero, because both components treat each word separately. Attention is the only component of the layer that passes information between words. The vector of
# *bank* can therefore receive information about *river* only through attention.

# %% [markdown]
# ## 5 · The layer
#
# One small component is still missing. At each training step, **dropout** (Srivastava et al. 2014) sets activations to 0 at random, each with probability p, so that the model cannot rely on any single activation. The
# remaining activations are divided by 1 − p, which preserves the expected value. When the model is *used*, nothing is dropped. `model.train()` and `model.eval()` switch between the two modes by setting `self.training` in every submodule.

# %% nbgrader={"grade": false, "grade_id": "transformer-Dropout", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Dropout(nn.Module):
    """During training, set each activation to 0 with probability p.
    (difficulty ●○○, 4 minutes)

    Write forward(self, x, draws=None). draws has the shape of x and contains numbers between 0
    and 1: where a draw is below p, x becomes 0; all other entries are divided by 1 − p.
    If no draws are given, generate them with `torch.rand_like`. In evaluation mode return x
    unchanged.
    p is below 1 and is not saved with the model.
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
    """The outputs in training and evaluation mode, with the draws of the case if there are any.

    For a module that generates its own draws, the output shows whether every row and every column has both dropped and kept entries, and which factor was applied to the kept entries.
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
# Now we assemble the layer. A **residual connection** (He et al. 2016) adds the input of a component to its output, so that the component only has to compute the *change*.
# The layer also contains two norms. The original paper normalises each sum (**post-norm**); most models today normalise the input of each branch (**pre-norm**). In a pre-norm model, the direct path from the bottom to the top
# contains nothing but additions. This path is called the **residual stream**. BERT uses post-norm, whereas GPT-2 and most large models since then use pre-norm.

# %% tags=["demo"]
pictures.two_layers()

# %% nbgrader={"grade": false, "grade_id": "transformer-Block", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Block(nn.Module):
    """One layer: post-norm (left drawing) or, with norm_first, pre-norm (right).
    (difficulty ●●●, 10 minutes)

    Register `attention` (your MultiHeadAttention), `feed_forward` (your FeedForward with the
    given activation), and `norm_attention` and `norm_feed_forward`, two nn.LayerNorm with the
    given eps: norm 1 and norm 2 in the drawings. Apply dropout with the given probability to
    the output of attention and to the output of the feed-forward network, each before the
    addition. Nothing else is saved with the model. Then write forward(self, x, keep), as in
    MultiHeadAttention. Compute an output at every position, padding included; the output of a
    pre-norm layer is not normalised.
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
check("transformer.Block", lambda case: run_module(
    Block, case, "x", "keep", modes=("eval", "train"), back_to=["x"]
))

# %% [markdown]
# PyTorch provides this layer as `nn.TransformerEncoderLayer`, with the three projections stored in a single matrix. We create a post-norm and a pre-norm layer with random gains and biases, copy the weights of each into one of your blocks, and apply the layer and the block to the same padded batch.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def torch_layer(norm_first: bool) -> nn.TransformerEncoderLayer:
    torch.manual_seed(3)
    module = nn.TransformerEncoderLayer(50, 5, 200, norm_first=norm_first, batch_first=True)
    for name, parameter in module.named_parameters():
        if parameter.ndim == 1:      # with all of them at 0 or 1, swapped parameters would go unnoticed
            start = 1.0 if "norm" in name and "weight" in name else 0.0
            nn.init.normal_(parameter, mean=start, std=0.3)
    return module.eval()

def copied_into(block: Block, module: nn.TransformerEncoderLayer) -> Block:
    """The block, with the weights of PyTorch's layer loaded into it."""
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

money = "i will open a new account at my bank and deposit some money".split()
batch = nn.utils.rnn.pad_sequence([glove.of(river), glove.of(money)], batch_first=True)
batch = batch + sinusoid(13, 50)                                              # 2 13 50
is_word = torch.arange(13) < torch.tensor([[len(river)], [len(money)]])       # 2 13

@torch.no_grad()
def apart_from_torch(norm_first: bool) -> dict[str, float]:
    """Largest difference from PyTorch's layer over all real words, for your block and two variants that should differ."""
    module = torch_layer(norm_first)
    theirs = module(batch, src_key_padding_mask=~is_word)
    same, other = (copied_into(Block(50, 5, 200, first, activation="relu"), module) for first in (norm_first, not norm_first))
    ours = {
        "the same weights": same(batch, is_word[:, None]),
        "control: padding not masked": same(batch, torch.ones_like(is_word)[:, None]),
        "control: the other kind of norm": other(batch, is_word[:, None]),
    }
    return {what: (rows - theirs)[is_word].abs().max().item() for what, rows in ours.items()}

apart = {
    "post-norm": apart_from_torch(norm_first=False),
    "pre-norm": apart_from_torch(norm_first=True),
}

# %% tags=["demo"]
tables.differences_from_torch(apart)

# %% [markdown]
# The outputs agree up to rounding: you have built every component of PyTorch's layer. (Note that PyTorch's `src_key_padding_mask` is True where a word is *masked*, so it is the opposite of `keep`.)
#
# The function `keep` now saves the source of your classes to `my_model.py`. A later notebook loads them with `mine("Block")`; if a class is missing or
# wrong, the notebook reports this and uses the course's version instead. Run the cell again whenever you change a class.

# %% tags=["demo"]
keep(sinusoid, MultiHeadAttention, FeedForward, Dropout, Block)

# %% [markdown]
# ## 6 · Many layers
#
# A transformer stacks many layers, each with its own weights. The output of each layer is the input of the next. Does the position of the norm matter? The transformer of 2017 was trained with a learning rate that
# starts near 0 and increases slowly (**warm-up**); without warm-up, training often failed. Xiong et al. (2020) looked for the reason in the gradients *before* the
# first step. Their theorem 1 bounds the gradient of W₂ (our `narrow`) in the last layer by $O(D\sqrt{\ln D})$ for post-norm, independently of the depth L, and by
# $O(D\sqrt{\ln D\,/\,L})$ for pre-norm. **Predict:** in a stack of 16 layers, by what factor is this gradient larger in post-norm than in pre-norm?

# %% tags=["demo"]
predict("transformer.gradient", ...)

# %% [markdown]
# We build stacks of 2 to 16 of your blocks with random weights, five stacks of each kind and depth. In each stack, every word is predicted from its own vector; we compute the cross-entropy of these predictions and measure the gradients. Both kinds
# have a norm after the last layer. A third kind, without residual connections, is used for the next question.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
V = len(language.vocabulary)
some = torch.from_numpy(language.sample(32, np.random.default_rng(0), split="train").ids)
real = some >= len(SPECIAL_TOKENS)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
class WithoutResiduals(Block):
    """A post-norm layer without its two residual connections."""

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        return self.norm_feed_forward(self.feed_forward(self.norm_attention(self.attention(x, keep))))

KINDS = {"post-norm": (Block, False), "pre-norm": (Block, True)}
STACKS = {"post-norm without residuals": (WithoutResiduals, False), **KINDS}

def fresh_stack(
    kind: str, depth: int, seed: int, attention: float = 1.0, network: float = 1.0
) -> tuple[list[float], Float[Tensor, "L+1 B T D"]]:
    """The gradient norm of W_2 in each layer of an untrained stack, and the vectors of all layers.

    `attention` and `network` scale the initial matrices of attention and of the feed-forward network.
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
    logits = nn.functional.layer_norm(hidden[-1][real], (64,)) @ read_out
    loss = cross_entropy(logits, some[real])
    gradients = torch.autograd.grad(loss, [layer.feed_forward.narrow.weight for layer in layers])
    return [gradient.norm().item() for gradient in gradients], torch.stack(hidden).detach()

print("This takes a few seconds.")
DEPTHS, SEEDS = (2, 4, 8, 16), range(5)
stacks = {(kind, depth): [fresh_stack(kind, depth, seed) for seed in SEEDS]
          for kind in KINDS for depth in DEPTHS}
of_twelve = {kind: [fresh_stack(kind, 12, seed) for seed in SEEDS] for kind in STACKS}
norms = {where: np.array([gradients for gradients, _ in runs]) for where, runs in stacks.items()}
top = {where: np.mean([hidden[-1][real].norm(dim=1).mean() for _, hidden in runs])
       for where, runs in stacks.items()}

# %% tags=["demo"]
reveal(
    "transformer.gradient",
    norms["post-norm", 16][:, -1].mean() / norms["pre-norm", 16][:, -1].mean(),
)
pictures.gradients(norms, top)

# %% [markdown]
# Our stacks behave as the theorem predicts: on logarithmic axes the slopes are near 0 and −0.5, and at 16 layers the ratio is a little below √16. In
# pre-norm, every layer adds to the residual stream, which is never rescaled. The length of its vectors therefore grows like √L (see the printed lengths), and the final norm divides by this length.
# The right-hand panel shows all 16 layers. The paper predicts that the gradients decrease towards the first layers in post-norm and are equal in all layers in pre-norm (sections 3.3 and 3.4).
# With five seeds, we see no decrease in post-norm, but the band is wide; in pre-norm, the first layers have larger gradients than the last.

# %% [markdown]
# What do the residual connections contribute? Attention computes averages, and repeated averaging makes vectors more and more similar. We measure how much of a word vector is its *own*: the distance of the vector from the mean of the sentence, divided
# by the length of the vector. A value of 1 means that the word vectors have no component in common (their mean is zero); 0 means that all words of the sentence have the same vector. At the input the value is about 0.8. **Predict:** what is the value after two layers without residual connections?

# %% tags=["demo"]
predict("transformer.own", ...)

# %% tags=["demo"]
spreads = {
    kind: np.array([tables.own_share(hidden, real) for _, hidden in runs])
    for kind, runs in of_twelve.items()
}
reveal("transformer.own", spreads["post-norm without residuals"].mean(0)[2])
pictures.own_share(spreads)

# %% [markdown]
# Without residual connections, all words of a sentence have nearly the same vector after two or three layers: their identity is lost. Dong, Cordonnier and Loukas (2021) prove
# such a collapse for pure attention. Residual connections slow the collapse down; our post-norm stack still collapses within twelve layers, whereas the pre-norm stack does not. Is this collapse due to post-norm or to the initialisation? Glorot's initialisation is only one
# of several. BERT, for example, initialises all matrices with standard deviation 0.02, which at D = 768 is 0.55 times Glorot's value in attention and 0.88 times Glorot's value in the feed-forward network.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
STARTS = {"Glorot": (1.0, 1.0), "scaled as BERT's": (0.55, 0.88), "scaled by 0.3": (0.3, 0.3)}
starts = {
    (kind, start): of_twelve[kind] if start == "Glorot" else [fresh_stack(kind, 12, seed, *scales) for seed in SEEDS]
    for kind in STACKS for start, scales in STARTS.items()
}
kept = {where: [tables.own_share(hidden, real)[-1] for _, hidden in found] for where, found in starts.items()}
ratios = {where: [gradients[0] / gradients[-1] for gradients, _ in found]
          for where, found in starts.items() if where[0] in KINDS}

# %% tags=["demo"]
tables.by_initialisation(kept, ratios)

# %% [markdown]
# Without residual connections the word vectors collapse under all three initialisations. With residual connections, the initialisation matters more than the position of the norm. With BERT's scale, post-norm retains about half of each word vector; with all matrices scaled by 0.3, post-norm retains more than pre-norm does. The
# collapse of post-norm with residual connections is therefore due to Glorot's initialisation, not to post-norm in general. In pre-norm, the gradients are equal across layers, as the paper predicts, only if the matrices are small. In post-norm, we find no clear difference between the gradients of the first and the last layer under any initialisation.
#
# All these measurements were made before training, which may change the results.

# %% [markdown]
# **Question 2 · Where to put the norms.** You are going to train an encoder with 24 layers and can choose the position of the norms. Give an argument for each choice, using at least one of the two measurements
# above, and say what the measurements do *not* tell you. (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "transformer-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# For pre-norm: at initialisation, the gradients in the last layer decrease with the depth of the stack instead of staying large. According to Xiong et al., this is why pre-norm trains without warm-up. With
# Glorot's initialisation the words of a sentence also stay distinct through more layers (with smaller matrices they do so in both designs). For post-norm: the output of every layer is normalised, so the top layers contribute as
# much as the others; in pre-norm, each additional term changes a growing sum only a little, so late layers may contribute less. The measurements were made before the first step, on small stacks with
# random weights. They do not tell us which model is better after training, how much warm-up costs, or how either model behaves at another width or learning rate. To answer these questions, both models would have to be trained.
#
# *Marking: 1 point for an argument for each choice, at least one based on a measurement; 1 point for the limitation (initialisation only, small stacks, nothing about
# quality after training).*

# %% [markdown]
# ## 7 · Train it
#
# Training repeats one step many times: the model processes a batch, the loss measures its error, the gradient gives the direction of change, and the optimiser updates the weights. Three details are easily
# forgotten. Gradients accumulate until they are set to zero. Padding has no correct answer, so only some tokens count in the loss. Finally, some batches produce a gradient that is far too large, and
# **gradient clipping** (Pascanu et al. 2013) scales such a gradient down to a maximum norm, which preserves its direction.
# 
# Your function receives a new learning rate at each step. The optimiser is Adam, as in notebook 02. It stores the learning rate under the key "lr" in each dictionary of the list `param_groups`.

# %% nbgrader={"grade": false, "grade_id": "transformer-training_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def training_step(
    model: nn.Module,
    batch: tuple[Int[Tensor, "B T"], Int[Tensor, "B T"], Bool[Tensor, "B T"]],
    optimiser: torch.optim.Optimizer,
    rate: float,
    most: float,
) -> float:
    """One training step; returns the loss of the batch before the update.
    (difficulty ●●○, 8 minutes)

    batch is a tuple of ids, targets and counts; model(ids) returns logits (B, T, C). The loss
    is the mean cross-entropy over the tokens where counts is True. Put the model into training
    mode before it processes the batch. Use only this batch's gradient; if its norm over all
    parameters together exceeds `most`, scale it down to `most` (`nn.utils.clip_grad_norm_`).
    Set the learning rate of every parameter group to `rate`, then let the optimiser take one
    step.
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
    """A model with word vectors and an output matrix. Like dropout, it behaves differently in training mode: it sets the first coordinate to 0."""

    def __init__(self, words: Tensor, read_out: Tensor):
        super().__init__()
        self.words, self.read_out = nn.Parameter(words.clone()), nn.Parameter(read_out.clone())

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words[ids]
        if self.training:
            x = x * (torch.arange(x.shape[-1]) > 0)
        return x @ self.read_out

def several_steps(step, case: dict) -> dict[str, Tensor]:
    """The losses of several steps and the weights afterwards; the model starts in evaluation mode."""
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
# Do positions help? We train a complete encoder built from your blocks: randomly initialised word vectors, positions, layers, a norm, and logits for each word. The first task *requires* order: was a sentence of
# the generated language written forwards or backwards? The encoder predicts the direction at every word, and the mean of these predictions determines the answer. An encoder without positions is the baseline. **Predict:** how often does the baseline identify the direction correctly? Run the cell to see the choices.

# %% tags=["demo"]
COIN, SOMEWHAT, MOST = (
    "half the time, as by chance",
    "more often than that: some words occur more often at the end",
    "almost always, after enough training",
)
predict("transformer.direction", ..., choices=(COIN, SOMEWHAT, MOST))

# %% tags=["demo", "record"]
def with_positions(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids] + sinusoid(ids.shape[1], words.shape[1])

def words_alone(ids: Tensor, words: Tensor) -> Tensor:
    return words[ids]

class Encoder(nn.Module):
    """Word vectors, positions, your blocks and a norm; returns logits for each word."""

    def __init__(
        self, depth: int, outputs: int, embed=with_positions, norm_first: bool = True
    ):
        super().__init__()
        self.embed = embed
        # shorter than the position vectors, so as not to drown them out
        self.words = nn.Parameter(0.3 * torch.randn(V, 32))
        self.blocks = nn.ModuleList(
            glorot(Block(32, 4, 128, norm_first)) for _ in range(depth)
        )
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
    """The learning rate of a step: it grows linearly over the first `over` steps, then stays constant."""
    return rate * min(1.0, (step + 1) / over)

def backwards(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """Every sentence with its words in reverse order; boundary tokens and padding stay in place."""
    real, places = ids >= len(SPECIAL_TOKENS), torch.arange(ids.shape[1])
    mirrored = 1 + real.sum(1, keepdim=True) - places              # the words are at positions 1, 2, …
    return ids.gather(1, torch.where(real, mirrored, places))

def both_ways(ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each sentence in both directions, in random order, so that the index in the batch does not reveal the direction."""
    order, directions = torch.randperm(2 * len(ids)), torch.arange(2).repeat_interleave(len(ids))
    ids, targets = torch.cat([ids, backwards(ids)])[order], directions[order][:, None]
    return ids, targets.expand_as(ids), ids >= len(SPECIAL_TOKENS)

def sentences(n: int, seed: int, split: str) -> Int[Tensor, "n T"]:
    return torch.from_numpy(language.sample(n, np.random.default_rng(seed), split=split).ids)

train_ids, test_ids = sentences(12_000, 1, "train"), sentences(2_000, 2, "held_out")

@torch.no_grad()
def direction(model: nn.Module, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B"]:
    """Logit of "backwards" minus logit of "forwards", averaged over the words of each sentence."""
    model.eval()
    weights = (ids >= len(SPECIAL_TOKENS)).float()
    scores = model(ids)
    return ((scores[..., 1] - scores[..., 0]) * weights).sum(1) / weights.sum(1)

def directions_found(model: nn.Module) -> float:
    """The accuracy on held-out sentences, each of which occurs in both directions."""
    ids, targets, _ = both_ways(test_ids)
    return ((direction(model, ids) > 0) == targets[:, 0].bool()).float().mean().item()

# %% [markdown]
# The learning rate increases from near 0 over the first 30 steps (`warm_up`). During training we follow one sentence in both directions: does the model predict "backwards" only for the reversed version?

# %% tags=["demo", "record"]
def learn_direction(
    model: nn.Module, steps: int, over: int = 30, most: float = 1.0, rate: float = 3e-3,
    look=lambda step, loss: None
) -> list[float]:
    """Train with your training_step; returns the loss of each step."""
    optimiser, losses = torch.optim.Adam(model.parameters(), fused=True), []  # fused: faster
    for step in range(steps):
        batch = both_ways(train_ids[torch.randint(len(train_ids), (32,))])
        losses.append(training_step(model, batch, optimiser, warm_up(step, rate, over), most))
        look(step + 1, losses[-1])
    return losses

# %% tags=["demo"]
def order_accuracy(embed, seed: int, steps: int = 150, look=lambda *now: None) -> float:
    """The accuracy of a one-layer encoder with this kind of embedding."""
    torch.manual_seed(seed)
    model = Encoder(1, 2, embed)
    learn_direction(model, steps, look=lambda *now: look(model, *now))
    return directions_found(model)

pair = torch.cat([test_ids[:1], backwards(test_ids[:1])])
found_first = order_accuracy(
    with_positions, seed=0, look=tables.watched(direction, pair, language)
)
print(f"\naccuracy on 2,000 held-out sentences in both directions: {found_first:.3f}")

# %% tags=["demo"]
print("This takes five to ten seconds.")
found = {
    "words_alone": [order_accuracy(words_alone, seed) for seed in range(3)],
    "with_positions": [
        found_first, *(order_accuracy(with_positions, seed) for seed in (1, 2))
    ],
}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
share_found = np.mean(found["words_alone"])
reveal("transformer.direction", COIN if share_found < 0.6 else SOMEWHAT if share_found < 0.9 else MOST, because={
    SOMEWHAT: "Some words do occur more often at the end, but a model without positions cannot make use of this, because every word has the same vector in both directions.",
    MOST: "Without positions there is nothing to learn: a sentence and its reversal contain the same words with the same vectors, whatever the weights are.",
})

# %% tags=["demo"]
tables.directions_found(found)

# %% [markdown]
# Without positions the accuracy stays at chance level, however long we train, because a sentence and its reversal contain the same words with the same vectors. (Any difference between the two outputs is a rounding error, which is unrelated to the direction.) With positions, one layer trained for a few seconds is nearly always correct.
#
# ### What warm-up and clipping do
#
# A single layer is easy to train. We now train six-layer encoders with post-norm and with pre-norm, and leave out the warm-up (by using the full learning rate from the first step), the clipping, or both. **Predict:** at a learning rate of 0.003, which of the two kinds
# of layer fails without warm-up?

# %% tags=["demo"]
POST, PRE, BOTH, NEITHER = "post-norm", "pre-norm", "both", "neither"
predict("transformer.warm_up", ..., choices=(POST, PRE, BOTH, NEITHER))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
SHORT = {"warm-up and clipping": (50, 1.0), "no clipping": (50, torch.inf), "no warm-up": (1, 1.0), "neither": (1, torch.inf)}
DEEP, LONG = 6, 200

def deep_run(norm_first: bool, how: str, seed: int, rate: float = 3e-3) -> tuple[list[float], float]:
    """Train a deep encoder; returns the loss at each step and the final accuracy."""
    torch.manual_seed(seed)
    model = Encoder(DEEP, 2, norm_first=norm_first)
    losses = learn_direction(model, LONG, *SHORT[how], rate)
    return losses, directions_found(model)

# %% [markdown]
# We now carry out two of these training runs: post-norm with and without warm-up. For all combinations, we show results recorded earlier, with ten seeds for each.

# %% tags=["demo"]
print("This takes about twenty seconds.")
live = {how: deep_run(False, how, seed=0) for how in ("warm-up and clipping", "no warm-up")}
for how, (losses, share_right) in live.items():
    print(
        f"post-norm, {how:<21} final loss {np.mean(losses[-25:]):.3f}   accuracy "
        f"{share_right:.3f}"
    )

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table

runs = read_table("results/warm_up.csv")
learned = runs[runs.step == runs.step.max()].assign(found=lambda end: end.accuracy > 0.9)
learned = learned.groupby(["norm", "how"], sort=False).found.sum().unstack("how", sort=False)
post_fails, pre_fails = (learned.loc[kind, "no warm-up"] < learned.loc[kind, "warm-up and clipping"] / 2 for kind in KINDS)
reveal("transformer.warm_up", BOTH if post_fails and pre_fails else POST if post_fails else PRE if pre_fails else NEITHER, because={
    PRE: "In pre-norm, the residual stream is unobstructed, and the final norm divides by the length of a large sum, so a first step that is too large changes little.",
    BOTH: "In pre-norm the sums are never rescaled, so a single layer with unsuitable weights contributes only one term among many.",
    NEITHER: "At the full learning rate, Adam changes every weight in the first step by as much as in any later step, although the first gradients come from random weights.",
})

# %% tags=["demo"]
pictures.warm_up(runs)

# %% [markdown]
# At this learning rate and without warm-up, the deep post-norm encoder learns the task in one run out of twenty. In the other runs the loss stays at chance level, with or without clipping. Pre-norm learns with every seed in all four settings,
# as Xiong et al. report. With warm-up, post-norm learns with all ten seeds if the gradient is clipped and with seven if it is not; ten seeds are too few to establish a difference (Fisher's exact test: p = 0.21).

# %% [markdown]
# Why does warm-up help? In its first steps, Adam divides each gradient by an estimate of its size that is based on very few values. Every weight therefore moves by about the full learning rate, whatever the size of its gradient. If this is the reason, a smaller learning rate
# should help as well. We therefore repeated the post-norm training runs (with clipping) at four learning rates:

# %% tags=["demo"]
tables.learning_rates()

# %% [markdown]
# At learning rates of 0.0003 and 0.001, the deep post-norm encoder learns even without warm-up. At 0.003 it learns only with warm-up, and at 0.01 it does not learn at all. The result depends on the *combination* of warm-up and learning rate: with warm-up, post-norm tolerates a higher learning rate. (We trained six small layers for 200 steps; at other depths the limits may differ.)

# %% [markdown]
# ## 8 · Scoreboard
#
# We evaluate the same type of encoder on the course's test of word senses. As in notebook 02, the encoder is trained on labelled senses, and its word vectors are initialised at random. In two of
# the four kinds of question only the word order determines the sense, either within one clause or across two clauses. On these questions, an encoder without positions cannot exceed an accuracy of one half, whatever the number
# of layers, because shuffled inputs give shuffled outputs. How much do positions help, and does a second layer matter?
#
# We use your `training_step` again, but only the ambiguous word of each sentence now counts in the loss.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import Accuracy, nearest_sense, sense_exam

exam, lessons = sense_exam(), language.sample(60_000, np.random.default_rng(1), split="train")
lessons = lessons[lessons.position >= 0]
ids, position, sense = map(torch.from_numpy, (lessons.ids, lessons.position, lessons.sense))
names = [name.split("#")[0] for name in language.senses]
senses_of = torch.zeros(V, len(names), dtype=torch.bool)                # True for the senses that a word has
senses_of[ids[torch.arange(len(ids)), position], sense] = True

class SenseEncoder(Encoder):
    """Logits for the senses of each word; senses of other words are excluded."""

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T senses"]:
        return super().forward(ids).masked_fill(~senses_of[ids], -1e9)

@torch.no_grad()
def examine(model: Encoder) -> Accuracy:
    """The accuracy for each kind of question, from the encoder's vectors of the ambiguous words."""
    model.eval()
    return nearest_sense(exam, *(
        torch.cat([model.vectors(torch.from_numpy(part.ids))[torch.arange(len(part.ids)), torch.from_numpy(part.position)]
                   for part in (s[n : n + 2_000] for n in range(0, len(s), 2_000))])
        for s in (exam.labelled, exam.held_out)
    ))

def lessons_and_exams(depth: int, seed: int, embed, at: list[int]) -> dict[int, Accuracy]:
    """Train on labelled senses, and evaluate the encoder at each of the given steps."""
    torch.manual_seed(seed)
    model = SenseEncoder(depth, len(names), embed)
    optimiser, found = torch.optim.Adam(model.parameters(), fused=True), {}
    for step in range(max(at) + 1):
        if step in at:
            found[step] = examine(model)
        some = torch.randint(len(ids), (64,))
        counts = torch.arange(ids.shape[1]) == position[some, None]
        batch = ids[some], sense[some, None].expand_as(counts), counts
        training_step(model, batch, optimiser, warm_up(step, 3e-3, 100), 1.0)
    return found

# %% [markdown]
# We first train one layer for 500 steps, once with and once without positions:

# %% tags=["demo"]
print("This takes five to ten seconds.")
brief = {"1 layer": lessons_and_exams(1, 0, with_positions, [500])[500]}

# %% tags=["demo"]
print("This takes five to ten seconds.")
brief["1 layer, no positions"] = lessons_and_exams(1, 0, words_alone, [500])[500]
tables.accuracies(brief)

# %% [markdown]
# **Predict:** after 2,000 steps, what is the accuracy (between 0 and 1) of *one* layer with positions on the questions with two clauses? The dotted line in the figure below marks one half.

# %% tags=["demo"]
predict("transformer.two_clauses", ...)

# %% tags=["demo"]
recorded = tables.recorded_encoders()
found_at_last = tables.after_training(recorded)
reveal(
    "transformer.two_clauses", np.mean([seed.order2 for seed in found_at_last["1 layer"]])
)
pictures.learning(recorded, kinds=("right", "order1", "order2"))

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

for name in ("1 layer", "2 layers"):
    add_row(f"transformer, {name}", found_at_last[name], note="trained on labelled senses")
draw()

# %% tags=["demo"]
tables.encoders(found_at_last, recorded)

# %% [markdown]
# Where a cue word determines the sense, all trained encoders answer more than nine in ten questions correctly within 500 steps. Where the order determines the sense, encoders without positions stay at one half, whether they have one layer or two.
# (The ± covers only the variation between seeds, since the questions are the same; any remaining difference from one half is due to chance, as in notebook 01.) With
# positions, the order questions are learned later: at most seven in ten are correct after 500 steps, more than nine in ten after 2,000 (eight in ten for one seed of the one-layer encoder). The positions alone therefore explain why these encoders outperform the models of notebooks 01 and 02 in the
# last two panels.

# %% [markdown]
# A second layer is not needed to use the order: a single attention layer sees all words with their positions, and the feed-forward network after it can combine the information that attention has collected.
# On the order questions, encoders with one and with two layers cannot be distinguished at any number of steps. (A difference smaller than the ± in the table cannot be ruled out.) Like the layer in notebook 02, this
# encoder was trained on labelled senses; from notebook 05 on, models have to discover the senses without labels.

# %% [markdown]
# ## Further: embeddings, and sequences of different lengths
#
# Two components come before the first layer. The first component gives each token its vector and its position. The token vectors are learned, so they are parameters. The sinusoid is fixed, but it should still be
# saved with the model and moved to another device together with the model. Such a tensor is registered as a **buffer**: `self.register_buffer("position", table)`. As a parameter it would be trained, and as a plain
# attribute it would be neither moved nor saved.

# %% nbgrader={"grade": false, "grade_id": "transformer-Embeddings", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Embeddings(nn.Module):
    """Learned token vectors plus sinusoidal positions.  (further, ●○○, 5 minutes)

    Register `token`, an nn.Embedding with one row per vocabulary entry, and the buffer
    `position`, your sinusoid with `tokens` rows, which is saved with the model. Then write
    forward(self, ids), which maps ids (B, T) to the sum of token vectors and positions,
    (B, T, D). T is at most `tokens`. Do not scale the vectors.
    """

    def __init__(self, vocabulary: int, tokens: int, dim: int):
        ### BEGIN SOLUTION
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.register_buffer("position", sinusoid(tokens, dim))

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return self.token(ids) + self.position[: ids.shape[1]]
        ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "transformer-Embeddings-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer.Embeddings", lambda case: run_module(Embeddings, case, "ids"))

# %% tags=["demo"]
keep(sinusoid, Embeddings)

# %% [markdown]
# The second component builds batches. Sentences differ in length, whereas all rows of a tensor must have the same length. PyTorch's `DataLoader` shuffles the sequences, groups them into batches, and passes each batch to your **collate** function, which pads the sequences. Padding to the length of the longest sequence in the *batch*, rather than in the corpus, wastes less computation.

# %% nbgrader={"grade": false, "grade_id": "transformer-collate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def collate(rows: list[list[int]]) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B T"]]:
    """Pad sequences of ids to form one batch; also return the mask.  (further, ●○○, 5 minutes)

    T is the length of the longest sequence; shorter ones are padded with zeros at the end. The
    mask is True at the ids of a sequence and False at padding. Sequences may themselves
    contain the id 0. Some may be empty, but not all.
    """
    ### BEGIN SOLUTION
    longest = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(longest) < lengths[:, None]
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "transformer-collate-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer.collate", lambda case: collate(
    [row.tolist() for row in case["ids"].split(case["lengths"].tolist())]
))

# %% tags=["demo"]
keep(collate)

# %% [markdown]
# We use your function to train the encoder of section 7 once more. Each batch contains every sequence both forwards and backwards. The mask selects the tokens that count in the loss. One pass over all sequences is called an **epoch**.

# %% tags=["demo"]
from torch.utils.data import DataLoader

def both_directions(rows: list[list[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch for training_step: each row as it is and once more with the tokens between its
    boundary tokens reversed, padded by your collate."""
    ids, real = collate([*rows, *([row[0], *row[-2:0:-1], row[-1]] for row in rows)])
    return ids, torch.arange(2).repeat_interleave(len(rows))[:, None].expand_as(ids), real

rows = [row[row != 0].tolist() for row in train_ids[:4_800]]
torch.manual_seed(0)
loader = DataLoader(rows, batch_size=32, shuffle=True, collate_fn=both_directions)
model, widths, filled = Encoder(1, 2), [], []
optimiser = torch.optim.Adam(model.parameters(), fused=True)
for step, batch in enumerate(loader):
    loss = training_step(model, batch, optimiser, warm_up(step, 3e-3, 30), 1.0)
    widths.append(batch[0].shape[1])
    filled.append(batch[2].float().mean().item())
    if (step + 1) % 30 == 0:
        print(f"batch {step + 1:>3}, {widths[-1]} tokens wide   loss {loss:.3f}")

# %% tags=["demo"]
found_after_epoch = directions_found(model)
tables.epoch(found_after_epoch, rows, widths, filled)

# %% [markdown]
# ## Further: two bugs in published code
#
# ### Positions of 2025
#
# The line with `torch.arange` in the next cell was part of the teaching code of a university course on language models until January 2026 (issue 1 of cmu-l3/anlp-fall2025-code). A genome model contained a similar
# bug (C.Origami, issue 42). The rest of the function is ours. The code runs without an error, and the loss of a model that uses it decreases.

# %%
def positions_of_2025(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    numbers = torch.arange(ids.size(0)).unsqueeze(1)
    return words[ids] + places[numbers]

# %% [markdown]
# We look at three symptoms. For the first two we use the river sentence, first on its own and then twice in the same batch. The third is the accuracy on the direction task.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def symptoms(add_positions) -> None:
    """Three measurements that show whether positions were added correctly."""
    table, places = x_river[0], sinusoid(5_000, 50)
    order, other = torch.arange(9)[None], torch.tensor(shuffled)[None]
    placed = [add_positions(words, table, places) for words in (order, other)]
    twice = add_positions(order.repeat(2, 1), table, places)
    apart = (twice[0] - twice[1]).abs().max()
    narrow = sinusoid(5_000, 32)
    task = order_accuracy(lambda ids, words: add_positions(ids, words, narrow), seed=0)
    tables.symptoms(add_positions.__name__, change_of_bank(*placed), apart, task)

# %% tags=["demo"]
symptoms(positions_of_2025)

# %% [markdown]
# Shuffling the words has no effect, and the same sentence produces two different results within one batch. What does `numbers` count? Write a correct version of the function.

# %% nbgrader={"grade": false, "grade_id": "transformer-mended_positions", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_positions(
    ids: Int[Tensor, "B T"], words: Float[Tensor, "V D"], places: Float[Tensor, "M D"]
) -> Float[Tensor, "B T D"]:
    """positions_of_2025 without its bug.  (further, ●○○, 4 minutes)

    ids are row indices of `words`. The first word of every sentence receives row 0 of
    `places`, the next word row 1, and so on; M ≥ T. Padding (0, at the end or elsewhere) is
    treated like any word. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return words[ids] + places[: ids.shape[1]]
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "transformer-mended_positions-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer.mended_positions", lambda case: mended_positions(**case),
      gradients=["words"])

# %% tags=["demo"]
symptoms(mended_positions)

# %% [markdown]
# The buggy line counts the *sentences* in the batch. Broadcasting then gives all words of a sentence the same position, which carries no information about order. Most tasks
# can be learned quite well from a bag of words, so the loss decreases and the bug goes unnoticed. A two-line test reveals the bug: shuffle the words and check whether the output changes.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Every word at the same position](../../docs/bugs/03_positions_of_sentences.md).

# %% [markdown]
# ### Layer normalisation in a tutorial
#
# The *Annotated Transformer* (Rush 2018), a widely read tutorial, computes `(x - mean) / (std + eps)`: ε is outside the square root, and torch's `std`
# divides by D − 1. When this difference was discussed in the repository of a PyTorch version of BERT (codertimo, issue 30), a user applied both formulas to the vector [1, 0, 0, 0]: the tutorial's formula gave 1.5, whereas `nn.LayerNorm` gave 1.732. The thread ends with "they did the same thing". To find out whether this is true, we compare both formulas with the same ε.

# %% tags=["demo"]
def tutorial_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)

tables.norms_compared(layer_norm, tutorial_norm, x_river[0, bank])

# %% [markdown]
# The two formulas give nearly the same result for vectors that have many coordinates, all of ordinary size: dividing by D − 1 instead of D changes the result by a factor of $\sqrt{(D-1)/D}$. BERT's embeddings are initialised with standard deviation 0.02;
# for such vectors, the position of our ε makes a difference of about one per cent (with BERT's own ε = 1e-12 it makes none). At a standard deviation of 0.001, which is about a third of √ε, the position matters: the tutorial's results are three times as large. A checkpoint trained with
# one of the two formulas should be used with the same formula.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Layer normalisation that is slightly different](../../docs/bugs/03_standard_deviation.md).

# %% [markdown]
# ## Extension
#
# The dot product of two positional encodings depends only on the distance between the positions. A stronger statement is also true: for every k there is *one* matrix $M_k$ with $\mathrm{PE}(p + k) = M_k\, \mathrm{PE}(p)$ for **all** p. A shift by three words, for example, is therefore a linear map, which a projection such as W_q could learn. The matrix $M_k$ rotates each pair of columns by the angle $k\,\omega_i$. This exercise earns extra credit.

# %% nbgrader={"grade": false, "grade_id": "transformer-shift_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def shift_matrix(k: int, D: int) -> Float[Tensor, "D D"]:
    """The matrix M with PE(p + k) = M @ PE(p) for every position p.  (further, ●●●, 8 minutes)

    PE(p) is row p of `sinusoid`, written as a column vector. k may be negative. M is
    block-diagonal: entries that connect two different pairs of columns are 0. D is even.
    """
    ### BEGIN SOLUTION
    angle = k * 10_000.0 ** (-torch.arange(0, D, 2) / D)
    sine, cosine = angle.sin(), angle.cos()
    return torch.block_diag(*torch.stack([cosine, sine, -sine, cosine], dim=-1).unflatten(-1, (2, 2)))
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "transformer-shift_matrix-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("transformer.shift_matrix", lambda case: shift_matrix(case["k"], len(case["word"])))

# %% tags=["demo"]
tables.shifts(sinusoid, shift_matrix)

# %% [markdown]
# A single matrix shifts all positions, and shifts can be composed. *Rotary* position embeddings (Su et al. 2021), used by LLaMA, apply these rotations directly to queries and keys instead of
# adding a vector to the words. By construction, the positions of two words then affect their attention score only through the distance between them. You will build rotary embeddings in notebook 13.

# %% [markdown]
# ## Summary
#
# - A module owns the parameters and modules that are its attributes, but not those in a plain list.
# - Attention ignores word order, so we add positional encodings.
# - Only attention passes information between words; the other components treat each word separately.
# - Without residual connections, all words of a sentence end up with nearly the same vector. Whether a deep post-norm model needs warm-up depends on the learning rate.
# - Without positions, an encoder answers at most half of the order questions correctly; with positions, nearly all.
# - With the same weights, your layer computes the same output as PyTorch's.
#
# **Next**: notebook 04 adds a decoder and compares the cost of attention with that of a network that reads one word at a time.

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
# Next: [04 · Recurrence, encoder–decoder, and what attention costs](../04_recurrence/04_recurrence.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
