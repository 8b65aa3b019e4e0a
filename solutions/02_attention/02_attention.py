# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Attention, step by step
#
# In the first notebook every word got a static embedding: *bank* had one vector for the river and the money alike.
# Here a word looks at the words around it and takes on some of their meaning, by **attention**. We compute it for one word, for a sentence, for a batch. We watch it
# fail on real word vectors, and find out what has to be learned.
#
# **You need** the first notebook, matrix products, and slicing in PyTorch.
# **Time** about 75 minutes without what goes *further*: six exercises, a bug to find, five questions that a person reads; two extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [01 · One vector per word](../01_static_embeddings/01_static_embeddings.ipynb) · next: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - compute attention in four steps, and say what breaks when a step is left out;
# - explain what queries, keys and values are for, with a measurement to support it;
# - hide words with a mask, and know what happens when everything is hidden;
# - split attention into heads, and tell the two ways of doing so apart.

# %%
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit import check, hint, predict, reveal, show

# %% [markdown]
# ## 1 · A word among others
#
# Two sentences go with us through the whole course. Each becomes a matrix: one row per word, 50 numbers per row,
# read from the GloVe table (Pennington et al. 2014) of the first notebook.

# %% tags=["demo"]
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown, display

from coursekit.plots import BLUE, GREY, ORANGE, use_style
from coursekit.vectors import load_glove

use_style()
torch.set_num_threads(1)
torch.manual_seed(0)

glove = load_glove()
river = "I will hike along the bank of a river".lower().split()
money = "I will open a new account at my bank and deposit some money".lower().split()
x_river, x_money = glove.of(river), glove.of(money)
focal_river, focal_money = river.index("bank"), money.index("bank")

print("river:", tuple(x_river.shape), "  money:", tuple(x_money.shape))
print("the rows of bank are equal:", torch.equal(x_river[focal_river], x_money[focal_money]))

# %% [markdown]
# A table cannot know the sentence, so both rows for *bank* are the same 50 numbers. Attention makes a new row out
# of all the rows of the sentence. It goes like this.
#
# 1. Take one word, the **focal word**, and look at *all* words of its sentence, itself included.
# 2. Decide how much each of them counts: (2.1) compare it with the focal word, (2.2) scale the results,
#    (2.3) turn them into weights that add up to 1.
# 3. Add up the vectors of all words, each times its weight. That sum is the new vector of the focal word.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def strip(ax, vector: Tensor, left: float, bottom: float, width: float = 0.7) -> None:
    """A vector as a row of coloured cells: its first eight numbers."""
    colours = plt.get_cmap("PuOr")((vector[:8].clamp(-1, 1) + 1) / 2)
    for i, colour in enumerate(colours):
        ax.add_patch(plt.Rectangle((left + i * width / 8, bottom), width / 8, 0.28, color=colour, lw=0))

figure, ax = plt.subplots(figsize=(9.5, 4.2))
heights = [0.3, 0.35, 0.6, 0.4, 0.25, 0.55, 0.25, 0.25, 0.7]  # an illustration, not a result
for place, (word, height) in enumerate(zip(river, heights)):
    focal = place == focal_river
    colour = ORANGE if focal else BLUE
    ax.text(place + 0.35, 0, word, ha="center", va="center", weight="bold" if focal else "normal", color=colour)
    strip(ax, x_river[place], place, 0.25)
    ax.annotate("", (place + 0.35, 1.2), (place + 0.35, 0.6), arrowprops={"arrowstyle": "->", "color": GREY})
    ax.text(place + 0.35, 1.4, "bank · " + word, ha="center", va="center", fontsize=8)
    ax.annotate("", (place + 0.35, 2.1), (place + 0.35, 1.6), arrowprops={"arrowstyle": "->", "color": GREY})
    ax.add_patch(plt.Rectangle((place + 0.15, 2.2), 0.4, height, color=colour, lw=0))
    ax.annotate("", (4.6, 3.75), (place + 0.35, 2.3 + height), arrowprops={"arrowstyle": "->", "color": GREY, "lw": 3 * height})
strip(ax, x_river.mean(0), 4.25, 3.8)
ax.text(5.1, 3.94, "the new vector of bank", va="center", color=ORANGE, weight="bold")
for y, text in ((0.38, "1  all words"), (1.4, "2.1  compare"), (1.85, "2.2  scale"), (2.4, "2.3  weights\n(not computed yet:\nan illustration)"), (3.35, "3  weighted sum")):
    ax.text(-0.3, y, text, ha="right", va="center", color=GREY)
ax.set(xlim=(-2.1, 9), ylim=(-0.2, 4.2))
ax.text(-0.3, 0, "each vector: eight of its\n50 numbers, as colours", ha="right", va="center", color=GREY, fontsize=8)
ax.axis("off")
show(figure, alt="The steps of attention for the focal word bank: nine word vectors at the bottom; each is compared with bank; "
     "the results are scaled and become nine weights, drawn as bars; the weighted vectors are added up to the new vector of bank. "
     "The heights of the bars are an illustration.")

# %% [markdown]
# Step 2.1 for *bank*, with nothing but a loop:

# %% tags=["demo"]
bank = x_river[focal_river].tolist()
for word, vector in zip(river, x_river.tolist()):
    product = 0.0
    for i in range(50):
        product += bank[i] * vector[i]
    print(f"bank · {word:<6} = {product:6.2f}")

# %% [markdown]
# Before you read on, commit yourself. When all steps are done, the weights of *bank* add up to 1 over the nine words.
# How much of it does *bank* give to itself, a number between 0 and 1?

# %% tags=["demo"]
predict("attention.self_weight", ...)

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): "They met at the bank." What would you have to know to say which bank it is, and where would you
# look for it? Whom would *you* ask first: the words beside it, the verb, or the text before?

# %% [markdown]
# **Question 1.** Attention asks with the focal word's *own* embedding, in which all its senses are mixed. Why start there? And why should
# the *neighbours* tell what it means? Give an example of a sentence in which they do, and one in which the sentence alone does not. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Something has to say what is looked for. The word's own embedding holds all its senses at once, so it is similar to words that go
# with any of them, and those of them that stand in the sentence decide. The distributional hypothesis says that words with similar meanings occur in similar company; the other way round, the
# company narrows down which meaning is in play. In "I will hike along the bank of a river" the words *hike*, *along*
# and *river* fit the edge of a river and hardly a financial institution. In "We met at the bank" nothing in the
# sentence decides; one would need the text before it, or the situation. Not every neighbour helps equally: *the* and
# *of* stand beside both senses. So a useful method has to weigh the neighbours.
#
# *Marking: 1 point for the own embedding as the start (it says what is looked for; the mixture resembles the words of each sense); 1 point for
# the distributional argument (company restricts meaning) with an example of a sentence with a cue and of one without.*

# %% [markdown]
# ## 2.1 · Similarities
#
# The loop compared one word with nine. We want every word compared with every word, in one step. From here on we
# call the words that ask **queries** and the words that are asked **keys**. At the moment both are the same
# rows; soon they will not be, so the function takes two arguments.
#
# Types name the axes: `"... Tq d"` is any number of leading axes (a batch, heads), then the queries, then d numbers.

# %% nbgrader={"grade": false, "grade_id": "attention-similarities", "locked": false, "schema_version": 3, "solution": true, "task": false}
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    """The dot product of every query with every key.  (difficulty ●○○, 4 minutes)

    scores[..., i, j] = Σ_d queries[..., i, d] · keys[..., j, d]. Leading axes (sentences, heads)
    are kept: a query meets only the keys of its own sentence.
    """
    ### BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)
    ### END SOLUTION

# %% [markdown]
# Stuck? `hint` asks a question first. Run again it says more, in four steps; every exercise has such
# a ladder. `check` then runs your function on small inputs, and where your mistake is a known one, it names it. While you look for
# one, `print` works inside your function, and `case("attention.similarities")` gives you the first input on which it is wrong.

# %% tags=["demo"]
hint("attention.similarities")

# %% nbgrader={"grade": true, "grade_id": "attention-similarities-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.similarities", lambda case: similarities(case["queries"], case["keys"]))

# %% [markdown]
# Now your function on real words.

# %% tags=["demo"]
scores = similarities(x_river, x_river)
on_diagonal = (scores.argmax(-1) == torch.arange(len(river))).sum().item()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"In **{on_diagonal} of {len(river)}** rows the largest number is on the diagonal."
))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def heat_map(matrix: Tensor, words: list[str], digits: int, label: str, xlabel: str, ylabel: str):
    """A matrix between the words of a sentence, with its numbers written in."""
    figure, ax = plt.subplots(figsize=(5.6, 4.6))
    image = ax.imshow(matrix)
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
    ax.set_yticks(range(len(words)), words)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    for i in range(len(words)):
        for j in range(len(words)):
            colour = "white" if matrix[i, j] < 0.6 * matrix.max() else "black"
            ax.text(j, i, f"{matrix[i, j]:.{digits}f}", ha="center", va="center", fontsize=8, color=colour)
    figure.colorbar(image, label=label)
    return figure

bank_with = dict(zip(river, scores[focal_river].tolist()))
show(
    heat_map(scores, river, 0, "dot product", "key: the word that is asked", "query: the word that asks"),
    alt=f"Heat map of the dot products between the nine words of the river sentence, bright on the diagonal: bank with "
    f"bank {bank_with['bank']:.1f}, bank with river {bank_with['river']:.1f}, bank with the {bank_with['the']:.1f}.",
)

# %% [markdown]
# The bright diagonal is no discovery: a vector times itself is its squared length, and no other vector of that length
# does better. Common words such as *will* and *the* score higher with *bank* than *river* does. And the picture is
# symmetric: *river* means exactly as much to *bank* as *bank* to *river*. Keep these three facts in mind.

# %% [markdown]
# ## 2.2 · Scaling
#
# How large is a dot product of two vectors that have nothing to do with each other? Let their coordinates be independent with
# mean 0 and variance 1, and let there be d = 64 of them, the head size of BERT: what is the variance of the scores before scaling?

# %% tags=["demo"]
predict("attention.variance", ...)

# %% [markdown]
# Each product $q_i k_i$ has mean 0 and variance 1, and the variances of independent terms add up:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d} \operatorname{Var}(q_i k_i) .$$
#
# So scores grow with the number of coordinates, for no reason that has to do with words. One division takes
# that out, and leaves a typical size of 1 whatever the d.

# %% nbgrader={"grade": false, "grade_id": "attention-scale", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    """Scores of d-dimensional queries and keys, brought to variance 1.  (difficulty ●○○, 2 minutes)

    d is the number of coordinates that each dot product summed over. The divisor depends on d alone.
    """
    ### BEGIN SOLUTION
    return scores / d**0.5
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-scale-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.scale", lambda case: scale(case["scores"], case["d"]))

# %% tags=["demo"]
from coursekit.intervals import mean_and_half  # the mean of independent repetitions, and half its 95 % interval

sizes = [4, 16, 64, 256, 1024]
variance = {"before scaling": [], "after scaling": []}
for d in sizes:  # 40 times 16 random queries against 64 random keys
    raw = similarities(torch.randn(40, 16, d), torch.randn(40, 64, d))
    variance["before scaling"].append(mean_and_half(raw.var(dim=(1, 2))))
    variance["after scaling"].append(mean_and_half(scale(raw, d).var(dim=(1, 2))))

(v64, h64), (s64, g64) = (points[sizes.index(64)] for points in variance.values())
reveal("attention.variance", v64)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Variance at d = 64: **{v64:.1f} ± {h64:.1f}** before, **{s64:.3f} ± {g64:.3f}** after (95 %)."
))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
figure, ax = plt.subplots(figsize=(5.6, 3.4))
ax.plot(sizes, sizes, color=GREY, lw=1, label="d")
for (name, points), colour, marker in zip(variance.items(), (ORANGE, BLUE), "os"):
    means, halves = zip(*points)
    ax.errorbar(sizes, means, halves, color=colour, marker=marker, ls="", capsize=3, label=name)
ax.set(xscale="log", yscale="log", xlabel="d, coordinates of a query", ylabel="variance of the scores")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
show(figure, alt=f"Variance of random scores against d, both axes logarithmic. Before scaling the points lie on the line d: "
     f"{v64:.1f} ± {h64:.1f} at d = 64. After scaling they lie at 1: {s64:.2f} ± {g64:.2f}.")

# %% [markdown]
# The points lie on the line: the variance is d before and 1 after. That is a statement about *random* vectors. Are GloVe's
# coordinates independent, with mean 0 and variance 1? We ask 2,000 frequent words.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
frequent = glove.vectors[:2000]
products = similarities(frequent, frequent)
pairs = products[~torch.eye(len(frequent)).bool()]
selves = products.diagonal()
display(Markdown(f"""
| | variance | mean | mean after scaling by √50 |
|:--|--:|--:|--:|
| one coordinate of a vector | {frequent.var():.2f} | {frequent.mean():z.2f} | |
| two different words | **{pairs.var():.0f}** | **{pairs.mean():.1f}** | {pairs.mean() / 50**0.5:.2f} |
| a word with itself | {selves.var():.0f} | **{selves.mean():.1f}** | {selves.mean() / 50**0.5:.2f} |
| the mean vector of all words with itself | | {frequent.mean(0).square().sum():.1f} | |
"""))

# %% [markdown]
# They are not. Taken together the coordinates have mean 0, but each has a mean of its own, so that all vectors lean
# towards a common direction. Hence two different words score above 0 on average: by the squared length of the mean
# vector (last line). And a word with itself scores far above the pairs. Scaling corrects for the *number* of coordinates
# and for nothing else.

# %% [markdown]
# ## 2.3 · Softmax
#
# Scores may be negative and add up to anything. Weights should be positive, add up to 1 and keep the order.
# The exponential makes every number positive; dividing by the sum does the rest:
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_k e^{s_k}} .$$
#
# One trap is numerical: $e^{100}$ is infinite in float32. Adding a constant to all scores of a line changes
# nothing in the result, so we are free to choose one that keeps the exponentials small.

# %% nbgrader={"grade": false, "grade_id": "attention-softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    """Positive weights that add up to 1 along `dim`, in the order of x.  (difficulty ●●○, 6 minutes)

    Base e. Same shape as x; `dim` may be any axis, counted from the front or (negative) from the back.
    Finite for every finite x: scores of 1000 or −10000 are no problem. `torch.softmax` earns the
    points, too, but write it out once.
    """
    ### BEGIN SOLUTION
    shifted = x - x.amax(dim, keepdim=True)
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-softmax-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.softmax", lambda case: softmax(case["x"], case["dim"]))

# %% [markdown]
# Which axis? Each *query* has one unit of attention to give away, so each row of the scores, over the keys, becomes a
# row of weights. A factor in front of the scores decides how sharply it is given: we divide by a **temperature**. Scaling by √d is
# a temperature that somebody chose for us.

# %% tags=["demo"]
def bank_at(temperature: float) -> Float[Tensor, "T"]:
    """The weights of bank over the river sentence; at temperature 1 the scores are as scaled."""
    scores = scale(similarities(x_river, x_river), 50)
    return softmax(scores / temperature, dim=-1)[focal_river]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def draw_weights(weights: Tensor, title: str, ax) -> None:
    ax.bar(range(len(river)), weights, color=[ORANGE if word == "bank" else BLUE for word in river])
    ax.set_xticks(range(len(river)), river, rotation=60, ha="right")
    ax.set(ylim=(0, 1), title=title)

figure, axes = plt.subplots(1, 4, figsize=(9.5, 2.8), sharey=True)
temperatures = {"unscaled (1/√50)": 50**-0.5, "temperature 0.5": 0.5, "temperature 1": 1.0, "temperature 5": 5.0}
for ax, (title, temperature) in zip(axes, temperatures.items()):
    draw_weights(bank_at(temperature), title, ax)
axes[0].set_ylabel("weight given by bank")
show(figure, alt="Weights of bank over the nine words. Bank's weight on itself: "
     + ", ".join(f"{title} {bank_at(t)[focal_river]:.2f}" for title, t in temperatures.items()) + ".")

# %% [markdown]
# Low temperature: the winner takes all. High temperature: the weights approach a ninth each. Without the division by √50, on the
# left, *bank* looks at itself and at nothing else. Move the slider to see what lies between (this needs a running
# notebook; nothing is graded here).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import ipywidgets

from coursekit.sliders import interact

def show_temperature(temperature: float) -> None:
    weights = bank_at(temperature)
    figure, ax = plt.subplots(figsize=(4.5, 2.8))
    draw_weights(weights, f"temperature {temperature:.2f}", ax)
    show(figure, alt=f"Bank gives itself {weights[focal_river]:.2f} and river {weights[-1]:.2f}.")

slider = ipywidgets.FloatLogSlider(value=1, base=10, min=-1, max=1, step=0.1, style={"description_width": "initial"})
interact(show_temperature, temperature=slider)

# %% [markdown]
# ### Sources say, we measure
#
# Vaswani et al. (2017, section 3.2.1) give the reason for √d: "We suspect that for large values of $d_k$, the dot products
# grow large in magnitude, pushing the softmax function into regions where it has extremely small gradients."
# They *suspect*; no figure in the paper shows it. We measure two things on random queries and 16 random keys. One is
# the entropy of the weights (ln 16 = 2.77 nats when all are equal, 0 when one takes all). The other is the size of the softmax's
# derivative, the Frobenius norm of $\operatorname{diag}(p) - p\,p^\top$.

# %% tags=["demo"]
def entropy(weights: Tensor) -> Tensor:
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1)

def derivative_size(weights: Tensor) -> Tensor:
    outer = weights[..., :, None] * weights[..., None, :]
    return (torch.diag_embed(weights) - outer).norm(dim=(-2, -1))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
measured = {}
for d in sizes:  # 400 random queries, each with 16 random keys
    raw = similarities(torch.randn(400, 1, d), torch.randn(400, 16, d))
    for name, scores in (("without scaling", raw), ("with scaling", scale(raw, d))):
        weights = softmax(scores, dim=-1)[:, 0]
        measured[name, d] = [mean_and_half(f(weights)) for f in (entropy, derivative_size)]

stuck = derivative_size(softmax(raw, dim=-1)[:, 0])    # query by query, without scaling, at d = 1024

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for which, (ax, label) in enumerate(zip(axes, ("entropy of the weights (nats)", "size of the derivative"))):
    for name, colour, marker in (("without scaling", ORANGE, "o"), ("with scaling", BLUE, "s")):
        means, halves = zip(*(measured[name, d][which] for d in sizes))
        ax.errorbar(sizes, means, halves, color=colour, marker=marker, capsize=3, label=name)
    ax.set(xscale="log", xlabel="d, coordinates of a query", ylabel=label)
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
axes[0].set_ylim(0, 3)
axes[1].set_ylim(bottom=0)
axes[0].axhline(np.log(16), color=GREY, lw=1, ls=":")
axes[0].text(1024, np.log(16) + 0.05, "all equal", color=GREY, fontsize=8, ha="right")
axes[0].legend(loc="center right")
(e0, _), (j0, _) = measured["without scaling", 1024]
(e1, _), (j1, _) = measured["with scaling", 1024]
show(figure, alt=f"Left: entropy of the weights against d. With scaling it stays near {e1:.2f} nats, without it falls to {e0:.2f} at d = 1024. "
     f"Right: size of the derivative. With scaling it stays near {j1:.2f}, without it falls to {j0:.3f}.")
display(Markdown(f"At d = 1024, without and with scaling: entropy **{e0:.2f}** and **{e1:.2f}** nats, derivative **{j0:.3f}** and **{j1:.3f}**. "
    f"Query by query, without scaling: half of the derivatives are below {stuck.median():.0e}, one in twenty is above {stuck.quantile(0.95):.2f}."))

# %% [markdown]
# The suspicion holds, with a limit worth knowing: the derivative does not vanish for *all* queries; the mean is one over many that are
# stuck and a few that are undecided between two keys. And these are random vectors, so this describes at best the *first* steps of training.
# A trained model can make its queries as long as it likes, and so choose its own temperature.
#
# Behind each point of the figure stand rows of 16 weights. Here is one, with and without the division by √d; move d (this needs a running notebook;
# nothing is graded here).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
drawn = torch.Generator().manual_seed(2)
one_query, sixteen_keys = (torch.randn(n, max(sizes), generator=drawn) for n in (1, 16))

def show_scaling(d: int) -> None:
    """The weights of one random query over 16 random keys, both cut to their first d coordinates."""
    raw = similarities(one_query[:, :d], sixteen_keys[:, :d])
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), sharey=True)
    said = []
    for ax, name, scores in zip(axes, ("without scaling", "divided by √d"), (raw, scale(raw, d))):
        weights = softmax(scores, dim=-1)
        ax.bar(range(1, 17), weights[0], color=BLUE)
        ax.set(ylim=(0, 1), xticks=(1, 4, 8, 12, 16), title=f"{name}, d = {d}", xlabel="key")
        said.append(f"{name} the largest weight is {weights.max():.2f} and the entropy {entropy(weights).item():.2f} nats")
    axes[0].set_ylabel("weight")
    show(figure, alt=f"Weights of a random query over 16 random keys, d = {d}: {'; '.join(said)}.")

interact(show_scaling, d=ipywidgets.SelectionSlider(options=sizes, value=64))

# %% [markdown]
# ## 3 · The weighted sum
#
# The last step mixes vectors. What is mixed we call **values**; at the moment they are once more the rows of the
# sentence. For weights 0.5, 0.3, 0.2, the result is half of the first value, plus three tenths of the second, plus a fifth of the third.

# %% nbgrader={"grade": false, "grade_id": "attention-weighted_sum", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    """For each query the sum of all values, each times its weight.  (difficulty ●○○, 3 minutes)

    output[..., i, :] = Σ_j weights[..., i, j] · values[..., j, :]. The weights are used as they
    are, also where a row does not add up to 1, is all zeros or has negative numbers.
    """
    ### BEGIN SOLUTION
    return weights @ values
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-weighted_sum-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.weighted_sum", lambda case: weighted_sum(case["weights"], case["values"]))

# %% [markdown]
# All steps are there. We put them together and look at what *bank* sees in both sentences.

# %% tags=["demo"]
def plain_weights(x: Float[Tensor, "T D"]) -> Float[Tensor, "T T"]:
    """Steps 2.1 to 2.3, with the words' own vectors as queries and keys."""
    return softmax(scale(similarities(x, x), x.shape[-1]), dim=-1)

plain_river, plain_money = plain_weights(x_river)[focal_river], plain_weights(x_money)[focal_money]
reveal("attention.self_weight", plain_river[focal_river].item())

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def shade(ax, words: list[str], weights: Tensor, title: str) -> None:
    """The sentence, each word on a ground as dark as its weight."""
    for place, (word, weight) in enumerate(zip(words, weights.tolist())):
        ax.add_patch(plt.Rectangle((place, 0), 0.96, 1, color=BLUE, alpha=min(1.0, weight), lw=0))
        colour = "white" if weight > 0.5 else "black"
        ax.text(place + 0.48, 0.62, word, ha="center", va="center", fontsize=11, color=colour)
        ax.text(place + 0.48, 0.22, f"{weight:.2f}", ha="center", va="center", fontsize=9, color=colour)
    ax.set(xlim=(0, 13), ylim=(0, 1))
    ax.set_title(title, loc="left", fontsize=10)
    ax.axis("off")

def heaviest(words: list[str], weights: Tensor) -> str:
    """The four largest weights in words, for the description of a figure."""
    order = weights.argsort(descending=True)[:4].tolist()
    return ", ".join(f"{words[i]} {weights[i]:.2f}" for i in order)

figure, axes = plt.subplots(2, 1, figsize=(10, 2.4))
shade(axes[0], river, plain_river, "what bank attends to, with GloVe vectors as queries, keys and values")
shade(axes[1], money, plain_money, "")
show(figure, alt=f"Both sentences shaded by the weights of bank. River sentence: {heaviest(river, plain_river)}; river itself "
     f"{plain_river[river.index('river')]:.3f}, the {plain_river[river.index('the')]:.3f}. Money sentence: {heaviest(money, plain_money)}.")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def cosine(a: Tensor, b: Tensor) -> float:
    return torch.nn.functional.cosine_similarity(a, b, dim=-1).item()

new_river, new_money = (weighted_sum(plain_weights(x), x) for x in (x_river, x_money))
display(Markdown(f"""
| cosine of | before attention | after attention |
|:--|--:|--:|
| *bank* (river) and *bank* (money) | 1.000 | **{cosine(new_river[focal_river], new_money[focal_money]):.3f}** |
| control: *bank* (river) and *i* (river) | {cosine(x_river[focal_river], x_river[0]):.3f} | {cosine(new_river[focal_river], new_river[0]):.3f} |
"""))

# %% [markdown]
# The mechanics are right, and the result is not what we wanted. *bank* gives most of its attention to itself, *river* gets
# less than *the*, and the two *banks* hardly part; *bank* and *i*, two *different* words, come closer by much more. The
# three facts from above are at work. "Similar to" is the wrong question: *bank* should ask for whatever *tells its
# sense*, and *river* should answer.

# %% [markdown]
# ## 4 · Queries, keys and values
#
# So we let a word play three roles, with a vector for each: what it asks for (**query**), what it answers to (**key**), what it
# passes on (**value**). Each is a linear function of the word's vector, and the three matrices are learned:
#
# $$q_i = x_i W_q, \qquad k_j = x_j W_k, \qquad v_j = x_j W_v .$$
#
# The score $q_i \cdot k_j = x_i\, W_q W_k^\top x_j^\top$ is no longer symmetric, and nothing forces a word to like itself.

# %% [markdown]
# One thing is still missing. Sentences of a batch differ in length; the short ones are filled up with padding, which nobody
# should attend to. A **mask** says so. In this course it is called `keep`, and True means *may be attended to*.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
padded = [river + ["[PAD]"] * (len(money) - len(river)), money]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), sharey=False)
for ax, words in zip(axes, padded):
    keep = np.array([word != "[PAD]" for word in words])
    ax.imshow(np.broadcast_to(keep, (len(words), len(words))), cmap=plt.matplotlib.colors.ListedColormap(["#dddddd", BLUE]), vmin=0, vmax=1)
    ax.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
    ax.set_yticks(range(len(words)), words, fontsize=8)
    ax.set(xlabel="key", ylabel="query")
    for line in range(1, len(words)):
        ax.axhline(line - 0.5, color="white", lw=1)
        ax.axvline(line - 0.5, color="white", lw=1)
axes[0].set_title("keep of the river sentence: padding is a column", fontsize=10)
axes[1].set_title("keep of the money sentence: all True", fontsize=10)
show(figure, alt=f"keep for a batch of two sentences, {len(money)} by {len(money)} each. In the river sentence the columns of the "
     f"{len(money) - len(river)} padding tokens are False (grey) in every row, all others True (blue); in the money sentence all is True.")

# %% nbgrader={"grade": false, "grade_id": "attention-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    """Scaled dot-product attention with a mask.  (difficulty ●●○, 8 minutes)

    keep[..., i, j] is True where query i may attend to key j; an axis of size 1 stands for all.
    The weights of the keys that a query may attend to add up to 1, however large the scores, also
    those of hidden keys; all others are 0.
    A query that may attend to no key at all gets zeros. d and dv may differ. PyTorch's own
    `F.scaled_dot_product_attention` may be used.
    Source: Vaswani et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, torch.finfo(scores.dtype).min), dim=-1)
    return weighted_sum(weights.masked_fill(~keep, 0.0), values)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.attention", lambda case: attention(case["queries"], case["keys"], case["values"], case["keep"]))

# %% [markdown]
# PyTorch has this function too. We compare, on the two sentences as a batch.

# %% tags=["demo"]
from torch.nn.functional import pad, scaled_dot_product_attention

batch = torch.stack([pad(x_river, (0, 0, 0, len(money) - len(river))), x_money])     # 2 13 50
keep = torch.tensor([[word != "[PAD]" for word in words] for words in padded])[:, None, :]
ours = attention(batch, batch, batch, keep)
theirs = scaled_dot_product_attention(batch, batch, batch, attn_mask=keep)
alone = weighted_sum(plain_weights(x_river), x_river)
print(f"largest difference from PyTorch's own: {(ours - theirs).abs().max():.1e}")
print(f"river sentence in the padded batch and alone: {(ours[0, : len(river)] - alone).abs().max():.1e}")

# %% [markdown]
# Equal up to rounding, and the padding leaves no trace. Beware of the neighbours, though: in `scaled_dot_product_attention` True means
# *may be attended to*, as here; in PyTorch's `nn.MultiheadAttention` True means *hidden*. Inverted masks are a common bug, and a silent one.

# %% [markdown]
# ## 4.1 · Train it
#
# Nobody tells the three matrices what to look for; they learn it from a task. We take sentences of the course's generated language,
# which come with the true sense of their ambiguous words, and ask: from the vector of the ambiguous word *after* attention, which sense is it?
#
# Each text is a sentence with an ambiguous word, followed by another sentence drawn at random: in real text, too, much that stands
# nearby has no bearing on a word. Sentences built like our two examples are left out of the training.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
table = torch.stack([glove[word] if word in glove else torch.zeros(50) for word in language.vocabulary])

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def texts(n: int, seed: int, split: str) -> tuple[Tensor, Tensor, Tensor, np.ndarray]:
    """Ids of a sentence and one drawn at random; place and sense of the ambiguous word; side of its cue."""
    rng = np.random.default_rng(seed)
    first = language.sample(n, rng, split=split)
    ours = (first.ids == language.id_of["will"]).any(axis=1)  # built like our two examples
    first = first[(first.position >= 0) & ~ours]
    second = first[rng.permutation(len(first))]
    ids = torch.from_numpy(np.concatenate([first.ids, second.ids], axis=1))
    return ids, torch.from_numpy(first.position), torch.from_numpy(first.sense), first.cue

# %% tags=["demo"]
ids, position, sense, _ = texts(12_000, seed=1, split="train")
print(len(ids), "training texts, for example")
for i in range(4):
    first, second = (language.decode(half) for half in ids[i].chunk(2))
    print(f"  {language.senses[sense[i]]:<15} {first} | {second}")

# %% [markdown]
# The model is your `attention` with one query for each text, and a matrix that turns the new vector into a score for each sense of the
# word. It needs controls. We train the same thing with two kinds of *fixed* weights: **equal** weights for all
# words (queries of zeros do that), and the **plain** weights of section 3 (W_q = W_k = identity). W_v and the read-out are learned in all three.

# %% tags=["demo"]
names = [sense_name.split("#")[0] for sense_name in language.senses]
same_word = torch.tensor([[a == b for a in names] for b in names])  # senses that compete

def look_up(ids: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors of all words, those of the ambiguous words, and which words are real."""
    x = table[ids]                                               # B T 50
    focal = x[torch.arange(len(x)), position][:, None]           # B 1 50
    return x, focal, (ids >= len(SPECIAL_TOKENS))[:, None, :]    # B 1 T

def contextual(ids: Tensor, position: Tensor, W: dict[str, Tensor]) -> Float[Tensor, "B 50"]:
    """The ambiguous word of each text, after attention."""
    x, focal, keep = look_up(ids, position)
    return attention(focal @ W["q"], x @ W["k"], x @ W["v"], keep)[:, 0]

def sense_scores(vectors: Tensor, allowed: Tensor, W: dict[str, Tensor]) -> Float[Tensor, "B senses"]:
    """A score for each sense that the word can have."""
    return (vectors @ W["senses"]).masked_fill(~allowed, -1e9)

# %% tags=["demo"]
def new_weights(seed: int, fixed: dict[str, Tensor]) -> dict[str, Tensor]:
    """Random matrices, but for those that are given."""
    torch.manual_seed(seed)
    shapes = {"q": 50, "k": 50, "v": 50, "senses": len(language.senses)}
    return {name: torch.randn(50, columns) / 50**0.5 for name, columns in shapes.items()} | fixed

def train(seed: int, fixed: dict[str, Tensor], steps: int = 400) -> tuple[dict[str, Tensor], list[float]]:
    """The matrices after training, and the loss at every step. `fixed` ones stay as they are."""
    W = new_weights(seed, fixed)
    learned = [W[name].requires_grad_() for name in W if name not in fixed]
    optimiser, losses = torch.optim.Adam(learned, lr=3e-3), []
    for _ in range(steps):
        batch = torch.randint(len(ids), (64,))
        scores = sense_scores(contextual(ids[batch], position[batch], W), same_word[sense[batch]], W)
        loss = torch.nn.functional.cross_entropy(scores, sense[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return {name: w.detach() for name, w in W.items()}, losses

# %% [markdown]
# Before you start the training (about ten seconds): in the river sentence, which share of its attention will *bank* give to *hike* and
# *river* together, once W_q and W_k are trained? Equal weights would give 2/9 ≈ 0.22.

# %% tags=["demo"]
predict("attention.cue_weight", ...)

# %% tags=["demo"]
print("This takes five to ten seconds.")
KINDS = {
    "equal weights": {"q": torch.zeros(50, 50), "k": torch.zeros(50, 50)},
    "plain weights": {"q": torch.eye(50), "k": torch.eye(50)},
    "learned weights": {},
}
SEEDS = range(4)
runs = {kind: [train(seed, fixed) for seed in SEEDS] for kind, fixed in KINDS.items()}

# %% tags=["demo"]
test_ids, test_position, test_sense, test_cue = texts(6_000, seed=2, split="held_out")

def accuracy(W: dict[str, Tensor], side: str, tokens: int | None = None) -> float:
    """Share of held-out senses found where the cue stands on that side; of the first `tokens` only, if given."""
    vectors = contextual(test_ids[:, :tokens], test_position, W)
    right = sense_scores(vectors, same_word[test_sense], W).argmax(-1) == test_sense
    return right[torch.from_numpy(test_cue == side)].float().mean().item()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
found = {(kind, side): [accuracy(W, side) for W, _ in runs[kind]] for kind in KINDS for side in ("left", "right")}
alone = {kind: np.mean([accuracy(W, "right", tokens=test_ids.shape[1] // 2) for W, _ in runs[kind]]) for kind in KINDS}
both = {kind: np.mean(found[kind, "right"]) for kind in KINDS}
lines = [f"| {kind} | **{both[kind]:.3f}** | {alone[kind]:.3f} |" for kind in KINDS]
display(Markdown("| cue only on the right | text of two sentences | first sentence alone |\n|:--|--:|--:|\n" + "\n".join(lines)))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import bounds

LOOKS = dict(zip(KINDS, ((GREY, "D"), (ORANGE, "s"), (BLUE, "o"))))
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(1, 1.2))
for kind, (colour, marker) in LOOKS.items():
    curve = np.mean([losses for _, losses in runs[kind]], axis=0)
    axes[0].plot(np.arange(10, 400, 20), curve.reshape(-1, 20).mean(1), color=colour, marker=marker, markersize=4, label=kind)
axes[0].set(xlabel="training step", ylabel="loss (nats)")
axes[0].set_ylim(bottom=0)
axes[0].legend(fontsize=8)
for place, side in enumerate(("left", "right")):
    for offset, (kind, (colour, marker)) in enumerate(LOOKS.items()):
        values, x = found[kind, side], place + (offset - 1) * 0.2
        axes[1].plot([x] * len(values), values, marker, color=colour, alpha=0.7)
        axes[1].text(x, max(values) + 0.02, f"{np.mean(values):.2f}", ha="center", color=colour)
    lowest = getattr(bounds().majority, side)
    axes[1].plot([place - 0.35, place + 0.35], [lowest, lowest], ":", color="black", lw=1)
axes[1].text(1.38, bounds().majority.right, "most\nfrequent\nsense", va="center", fontsize=8)
axes[1].set_xticks([0, 1], ["cue on\nthe left", "cue only\non the right"])
axes[1].set(ylim=(0.4, 1.05), xlim=(-0.5, 1.75), ylabel="senses found, held-out texts")
show(figure, alt="Left: training loss of equal, plain and learned weights. Right: share of senses found on held-out texts, cue left and cue right: "
     + "; ".join(f"{kind} {np.mean(found[kind, 'left']):.2f} and {np.mean(found[kind, 'right']):.2f}" for kind in KINDS)
     + f". Most frequent sense: {bounds().majority.left:.2f} and {bounds().majority.right:.2f}.")

# %% [markdown]
# Each point is one seed, for the two kinds of sentences in which a word tells the sense. Three things can be read off. Plain weights are *worse* than equal ones: looking mostly at yourself
# is worse than looking at everyone. Learned weights are better than both, more so where the cue stands on the right.
# And equal weights are a strong opponent: they know which words are there. In the table, without the second sentence,
# they come closer: a good part of the lead lies in leaving out what does not belong.
# (Why does the loss stay so far from 0? In a third of the training texts no word tells the sense at all: section 7.)

# %% [markdown]
# And our two sentences, which were not trained on?

# %% tags=["demo"]
def weights_of(words: list[str], focal: int, W: dict[str, Tensor]) -> Float[Tensor, "T"]:
    """Who the focal word attends to. With the identity as values, attention returns its weights."""
    x = glove.of(words)
    everyone = torch.ones(1, len(words), dtype=torch.bool)
    return attention(x[[focal]] @ W["q"], x @ W["k"], torch.eye(len(words)), everyone)[0]

trained, untrained = runs["learned weights"][0][0], new_weights(0, {})

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
drawn = [
    (river, weights_of(river, focal_river, untrained), "before training: random W_q, W_k"),
    (river, weights_of(river, focal_river, trained), "after training"),
    (money, weights_of(money, focal_money, untrained), "before training"),
    (money, weights_of(money, focal_money, trained), "after training"),
]
figure, axes = plt.subplots(4, 1, figsize=(10, 4.6))
for ax, (words, weights, title) in zip(axes, drawn):
    shade(ax, words, weights, title)
show(figure, alt="Both sentences shaded by the weights of bank, before and after training. After training, the largest weights are: "
     f"river sentence {heaviest(river, drawn[1][1])}; money sentence {heaviest(money, drawn[3][1])}. "
     f"Before: {heaviest(river, drawn[0][1])}; {heaviest(money, drawn[2][1])}.")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
CUES = {"river": ("hike", "river"), "money": ("account", "deposit", "money")}

def bank_gives(name: str, to: str, W: dict[str, Tensor]) -> float:
    """Weight of bank on itself, or on the cues of the sentence."""
    words = {"river": river, "money": money}[name]
    weights = dict(zip(words, weights_of(words, words.index("bank"), W).tolist()))
    return weights["bank"] if to == "itself" else sum(weights[cue] for cue in CUES[name])

lines = ["| sentence | *bank* to | plain | random projections | **trained** | the seeds |", "|:--|:--|--:|--:|--:|:--|"]
for name in CUES:
    for to in ("itself", "the cues"):
        plain = bank_gives(name, to, KINDS["plain weights"])
        random = np.mean([bank_gives(name, to, new_weights(seed, {})) for seed in SEEDS])
        learned = [bank_gives(name, to, W) for W, _ in runs["learned weights"]]
        seeds = " ".join(f"{value:.2f}" for value in learned)
        lines.append(f"| {name} | {to} | {plain:.2f} | {random:.2f} | **{np.mean(learned):.2f}** | {seeds} |")
display(Markdown("\n".join(lines)))

trained_on = {language.vocabulary[i] for i in ids.unique().tolist()}
print("not among the training's words:", *(word for word in dict.fromkeys(river + money) if word not in trained_on))
print("deposit gets, seed by seed:", *(f"{weights_of(money, focal_money, W)[money.index('deposit')]:.2f}" for W, _ in runs["learned weights"]))
reveal("attention.cue_weight", np.mean([bank_gives("river", "the cues", W) for W, _ in runs["learned weights"]]))

# %% [markdown]
# The cues (*hike*, *river*; *account*, *deposit*, *money*) now hold most of the weight, with every seed, and *bank* hardly looks at itself: it
# learned to ask others. The pattern of the two sentences is new to the model, and so are five of their words. One of these, *deposit*, gets more than three
# times an equal share with every seed: the model never met it and can only know its GloVe vector, which resembles those of words that it met. A harder
# test follows: sentences written by hand, far from the generated language.

# %% tags=["demo"]
NEW = """
bank#river     we had a picnic on the bank and watched swans paddle downstream
bank#river     erosion has carved the steep bank near the delta
bank#river     willows shade the northern bank upstream of the dam
bank#money     the bank raised its lending rates by half a percent
bank#money     her salary arrives at the bank every friday
bank#money     the bank is insolvent and its shareholders are nervous
cell#prison    he spent years alone in a cell awaiting execution
cell#prison    the jailer dragged the hostage back to his cell
cell#biology   each cell has one copy of the chromosome
cell#biology   an antibody binds to the tumor cell
bat#animal     the bat is a nocturnal mammal
bat#animal     rabies can spread when a vampire bat bites cattle
bat#baseball   he hit a homer with a borrowed bat
bat#baseball   the shortstop cracked his bat on a foul pitch
seal#animal    a seal basked on the arctic coast among puffins
seal#stamp     the parchment carried the seal of the duke
plant#factory  the plant laid off staff and halved its output
plant#garden   this plant likes shade and moist compost
match#sport    the match ended in a draw after extra time
match#fire     he struck a match for his cigar
""".strip().splitlines()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def finds(line: str, W: dict[str, Tensor], hidden: set[str] = frozenset()) -> bool:
    """Whether the sense of a new sentence is found, with some words hidden (never the ambiguous one)."""
    name, *words = line.split()
    x, focal, right = glove.of(words), words.index(name.split("#")[0]), language.senses.index(name)
    keep = torch.tensor([[word not in hidden or place == focal for place, word in enumerate(words)]])
    vector = attention(x[[focal]] @ W["q"], x @ W["k"], x @ W["v"], keep)
    return sense_scores(vector, same_word[[right]], W).argmax().item() == right

counts = {kind: [sum(finds(line, W) for line in NEW) for W, _ in runs[kind]] for kind in KINDS}
counts["learned weights, words of the training hidden"] = [sum(finds(line, W, trained_on) for line in NEW) for W, _ in runs["learned weights"]]
counts["nothing trained"] = [sum(finds(line, new_weights(seed, {})) for line in NEW) for seed in SEEDS]
unseen = np.mean([word not in trained_on for line in NEW for word in line.split()[1:]])
lines = [f"| {kind} | {np.mean(n):.1f} | {' '.join(map(str, n))} |" for kind, n in counts.items()]
display(Markdown(f"{unseen:.0%} of the words never occur in training.\n\n| senses found, of {len(NEW)} | mean | the seeds |\n|:--|--:|:--|\n" + "\n".join(lines)))

# %% [markdown]
# Two lessons. GloVe vectors carry the task to words that the training never showed, since similar words have similar vectors: these words alone,
# all others hidden, are enough. And on these short texts equal weights and learned ones cannot be told apart (with 20 sentences, a difference of
# one or two means nothing). Choosing pays where there is something to leave out, as in the texts with a second sentence.

# %% [markdown]
# ### Sources say, we measure
#
# Shaded sentences are persuasive. Jain and Wallace (2019) called their paper "Attention is not Explanation". In their recurrent
# models the weights agreed only weakly with what happens when a word is taken away, and shuffled weights often led to the same
# prediction. Wiegreffe and Pinter (2019) answered that this depends on the model, and on what one calls an explanation. We ask our
# model. Hiding one word after the other is easy: that is what `keep` is for.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def weights_and_effects(W: dict[str, Tensor], n: int = 600) -> tuple[Tensor, ...]:
    """For n texts: the weights, the effect of hiding each word, which words count, does the answer survive shuffled weights."""
    x, focal, keep = look_up(test_ids[:n], test_position[:n])
    q, k, v, T = focal @ W["q"], x @ W["k"], x @ W["v"], x.shape[1]

    def answer(vectors: Tensor) -> Tensor:
        return sense_scores(vectors, same_word[test_sense[:n], None], W).softmax(-1)

    weights = attention(q, k, torch.eye(T).expand(n, T, T), keep)                       # n 1 T, the identity as values
    without = attention(q.expand(n, T, 50), k, v, keep & ~torch.eye(T).bool())          # n T 50, query j does not see word j
    whole = answer(weighted_sum(weights, v))
    effect = (whole - answer(without)).abs().sum(-1) / 2                                # total variation of the answer
    real = keep[:, 0]
    places = real.int().argsort(descending=True, stable=True)                           # the real words first, in order
    drawn = (torch.rand(n, T) + real).argsort(descending=True)                          # the real words first, shuffled
    dealt = torch.zeros(n, T).scatter(1, places, weights[:, 0].gather(1, drawn))
    survives = answer(weighted_sum(dealt[:, None], v)).argmax(-1) == whole.argmax(-1)
    return weights[:, 0], effect, real.scatter(1, test_position[:n, None], False), survives[:, 0].float()

def explained(W: dict[str, Tensor]) -> dict[str, Tensor]:
    """What is asked of each text, and what chance would give."""
    weights, effect, others, survives = weights_and_effects(W)
    pairs = others[:, :, None] & others[:, None, :] & ~torch.eye(others.shape[1]).bool()
    order_of_weights, order_of_effects = (torch.sign(a[:, :, None] - a[:, None, :]) for a in (weights, effect))
    return {
        "rank correlation (Kendall's τ) of a word's weight and the effect of hiding it":
            (order_of_weights * order_of_effects * pairs).sum((1, 2)) / pairs.sum((1, 2)),
        "the word with the most weight is the word with the most effect":
            (weights.where(others, -1).argmax(1) == effect.where(others, -1).argmax(1)).float(),
        "the same for a word picked at random": 1 / others.sum(1),
        "the answer stays when the weights are dealt out to the words at random": survives,
        "the same for a sense picked at random": 1 / same_word[test_sense[:600]].sum(1),
    }

by_training = [explained(W) for W, _ in runs["learned weights"]]
lines = ["| 600 held-out texts | mean | 95 % | each training |", "|:--|--:|--:|:--|"]
for label, values in by_training[0].items():
    mean, half = mean_and_half(values)
    each = " ".join(f"{found[label].mean():.2f}" for found in by_training)
    lines.append(f"| {label} | {mean:.2f} | ±&nbsp;{half:.2f} | {each} |")
display(Markdown("\n".join(lines)))

# %% [markdown]
# In *this* model the weights say a good deal about what matters, though not everything: an effect also depends on the value that is
# passed on. Dealt out at random, they keep the answer only somewhat more often than a guess would. So it is with each of the four trainings. What could change it is the model, and this is the easiest case there is: one layer, one
# head, and keys that belong to single words. In deeper models each row mixes many words already. We come back to that in notebook 08.

# %% [markdown]
# **Question 2.** The vector of *bank* goes in and another one comes out. In what way does attention *contextualise* it? Say what is
# mixed, what decides on the mixture, and what is the same in both sentences. (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-5", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The output for *bank* is a weighted average of the value vectors of all words in its sentence. The values belong to the single words and know
# no context; the weights come from comparing the query of *bank* with the keys of the words that are actually there. With *river* and
# *hike* in the sentence, their values dominate the sum; with *money* and *deposit*, theirs do. So the same input vector gives different
# outputs, f(w, C) in place of f(w). What stays the same are the matrices W_q, W_k and W_v, hence also the query of *bank*: the operation
# is fixed, the sentence changes its result. Without learned projections the average is dominated by the word itself, and the output hardly moves.
#
# *Marking: 1 point for the weighted average of the sentence's values, with weights from query and keys; 1 point for what is fixed (the
# matrices, the input vector) against what varies (the words present, hence weights and output).*

# %% [markdown]
# ## 5 · Heads
#
# One set of weights serves one purpose. A word may have several: which sense, which verb, which adjective. So attention is done several
# times side by side. Each time is called a **head**; with H heads, each works in d = D / H dimensions, so that all of them together cost
# about as much as one of full width.

# %% [markdown]
# There are two ways to get H small heads:
#
# - **slices of the input**, as introductory slides draw it: cut each word's vector into H pieces, and let head h see piece h;
# - **slices of the projections**, as in the paper (Vaswani et al. 2017): project the *whole* vector with D×D matrices, then cut the
#   result. Head h thereby owns d columns of W_q, of W_k and of W_v.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def block(ax, left: float, bottom: float, width: float, height: float, colours: list[str], text: str) -> None:
    """A matrix as a rectangle of coloured column slices."""
    for i, colour in enumerate(colours):
        ax.add_patch(plt.Rectangle((left + i * width / len(colours), bottom), width / len(colours), height, facecolor=colour, edgecolor="white"))
    ax.text(left + width / 2, bottom + height + 0.12, text, ha="center", fontsize=9)

heads_in_colour, plain_colour = [BLUE, ORANGE, "#009e73"], ["#bbbbbb"]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
for ax, title in zip(axes, ("slices of the input", "slices of the projections")):
    ax.set(xlim=(-0.2, 9.4), ylim=(-0.5, 3.6), title=title, aspect="equal")
    ax.axis("off")
block(axes[0], 0, 0.4, 3, 2, heads_in_colour, "x   (T × D)")
block(axes[1], 0, 0.4, 3, 2, plain_colour, "x   (T × D)")
axes[1].text(3.25, 1.4, "·", fontsize=16, ha="center", va="center")
block(axes[1], 3.5, 0, 2.4, 2.4, heads_in_colour, "W_q   (D × D)")
axes[1].text(6.15, 1.4, "=", fontsize=12, ha="center", va="center")
block(axes[1], 6.4, 0.4, 3, 2, heads_in_colour, "queries   (T × D)")
for i, colour in enumerate(heads_in_colour):
    axes[0].add_patch(plt.Rectangle((4.0, 1.9 - i * 0.95), 0.8, 0.8, facecolor=colour, edgecolor="white"))
    axes[0].text(5.0, 2.3 - i * 0.95, f"head {i}: d × d matrices for slice {i}", va="center", fontsize=9)
    axes[1].text(6.9 + i, 0.1, f"head {i}", ha="center", fontsize=8, color=colour)
show(figure, alt="Two ways to make three heads. Left: the columns of x are cut into three slices, and each head multiplies its slice by its own small "
     "matrices. Right: the whole of x is multiplied by W_q, and the columns of the product are cut into three slices, one for each head.")

# %% [markdown]
# In both, the heads' outputs are put side by side again and multiplied by one more matrix, W_o. You write the second one.

# %% nbgrader={"grade": false, "grade_id": "attention-multi_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def multi_head(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    heads: int,
    keep: Bool[Tensor, "B T"],
) -> Float[Tensor, "B T D"]:
    """Multi-head self-attention.  (difficulty ●●●, 12 minutes)

    Rows of each matrix stand for inputs: project with a plain x @ W. Head h has columns h·d to
    (h+1)·d − 1 of all three projections, d = D / heads. The heads' outputs stand side by side in
    that order, then the output projection follows. keep[b, j] is True where token j of sentence b
    is a real word; padding may stand anywhere. Nobody attends to padding; the rows of padding
    themselves are computed like all others, and a sentence of nothing but padding gets zeros. A
    loop over the heads is fine.
    Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    d = x.shape[-1] // heads
    outputs = []
    for head in range(heads):
        columns = slice(head * d, (head + 1) * d)
        q, k, v = (t[..., columns] for t in (queries, keys, values))
        outputs.append(attention(q, k, v, keep[:, None, :]))
    return torch.cat(outputs, dim=-1) @ W_o
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-multi_head-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.multi_head", lambda case: multi_head(**case))

# %% [markdown]
# What do the two ways differ in? A head that sees one slice of the input is a head whose matrices are zero outside one block. So your
# function does both: slices of the input are the special case of *block-diagonal* matrices. We ask which of the 50 input numbers
# can change which of the 50 output numbers, by the derivative.

# %% tags=["demo"]
from coursekit.derivatives import influence  # the size of the derivative of each row of the output for each of the input

def reach(x: Tensor, matrices: list[Tensor]) -> Float[Tensor, "out in"]:
    """How strongly each input coordinate moves each output coordinate, over all pairs of words."""
    def coordinates(columns: Float[Tensor, "N D T"]) -> Float[Tensor, "N D T"]:
        everyone = torch.ones(len(columns), len(x), dtype=torch.bool)
        return multi_head(columns.mT, *matrices, heads=5, keep=everyone).mT

    return influence(coordinates, x.T)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
torch.manual_seed(1)
full = [torch.randn(50, 50) / 50**0.5 for _ in range(4)]
blocks = [torch.block_diag(*(torch.randn(10, 10) / 10**0.5 for _ in range(5))) for _ in range(3)]
one = torch.eye(50)
maps = {
    "slices of the input, no W_o": reach(x_river, [*blocks, one]),
    "slices of the projections, no W_o": reach(x_river, [*full[:3], one]),
    "slices of the input, then W_o": reach(x_river, [*blocks, full[3]]),
}
to_learn = {"the projections": full[:3], "the input": blocks}
for name, matrices in to_learn.items():
    print(f"slices of {name}: {sum(int((W != 0).sum()) for W in matrices):,} numbers in W_q, W_k and W_v")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
share = {name: (moved > 1e-6).float().mean().item() for name, moved in maps.items()}
for ax, (name, moved) in zip(axes, maps.items()):
    ax.imshow(moved, vmin=0)
    ax.set(title=f"{name}\n{share[name]:.0%} of the pairs", xlabel="input coordinate")
    ax.title.set_fontsize(10)
axes[0].set_ylabel("output coordinate")
show(figure, alt="Heat maps of 50 output by 50 input coordinates, 5 heads. Share of pairs with any influence: "
     + "; ".join(f"{name} {value:.0%}" for name, value in share.items()) + ". Slices of the input give five separate blocks on the diagonal.")

# %% [markdown]
# With slices of the input, five small worlds lie side by side: the numbers 0–9 never meet the numbers 10–49. W_o lets them
# meet (right), but only *after* each head has chosen its words with a fifth of what is known about them. And why should
# GloVe's numbers 0–9 belong together? Projections let each head choose its own ten directions. Their price is H times as many numbers in
# W_q, W_k and W_v.

# %% [markdown]
# ## 6 · Find the bug
#
# On a GPU one wants all heads in one product, without a loop. The code below cuts and joins heads the way FuxiCTR did, a library of models
# that predict clicks, until its issue 30 of June 2022. Three models were affected, and the pattern had come from a reference on the web. It runs,
# the shapes are right, and a model with it can be trained. What is wrong?

# %%
def heads_of_2022(queries, keys, values, heads):
    batch, tokens, width = queries.shape
    d = width // heads
    queries = queries.view(batch * heads, -1, d)
    keys = keys.view(batch * heads, -1, d)
    values = values.view(batch * heads, -1, d)
    scores = queries @ keys.transpose(1, 2) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.view(batch, -1, width)

# %% [markdown]
# A symptom helps. In attention every word can see every word. Which words can see which here? Again the derivative tells.

# %% tags=["demo"]
def sees(heads_function) -> Float[Tensor, "word other"]:
    """How strongly each word of the river sentence moves the output of each word, with 5 heads."""
    torch.manual_seed(2)
    projections = [torch.randn(50, 50) / 50**0.5 for _ in range(3)]
    return influence(lambda x: heads_function(*(x @ W for W in projections), 5), x_river)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def draw_sees(moved: Tensor, title: str) -> None:
    """Heat map of `sees`, and in words what the output of bank depends on."""
    blind = (moved < 1e-6).sum().item()
    reached = [word for word, strength in zip(river, moved[focal_river]) if strength > 1e-6]
    show(heat_map(moved, river, 1, "size of the derivative", "input word", "output word"),
         alt=f"Which input word moves which output word, {title}. {blind} of 81 pairs are blind. The output of bank depends on: {', '.join(reached)}.")
    display(Markdown(f"{title}: **{blind} of 81** pairs are blind. The output of *bank* depends on: {', '.join(reached)}."))

draw_sees(sees(heads_of_2022), "the code of 2022")

# %% [markdown]
# *bank* cannot see *river*. Write the function so that it does what it should.

# %% nbgrader={"grade": false, "grade_id": "attention-mended_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    """heads_of_2022 without its bug.  (difficulty ●●○, 6 minutes)

    Projections go in, the heads' outputs side by side come out: no mask, no output projection.
    Head h has the coordinates h·d to (h+1)·d − 1, as in multi_head.
    """
    ### BEGIN SOLUTION
    batch, tokens, width = queries.shape
    d = width // heads
    queries, keys, values = (t.view(batch, tokens, heads, d).transpose(1, 2) for t in (queries, keys, values))
    scores = queries @ keys.transpose(-2, -1) / d**0.5
    mixed = torch.softmax(scores, dim=-1) @ values
    return mixed.transpose(1, 2).reshape(batch, tokens, width)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-mended_heads-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.mended_heads", lambda case: mended_heads(**case))

# %% tags=["demo"]
draw_sees(sees(mended_heads), "mended")

# %% [markdown]
# `view` never moves a number; it only says where a row ends. The coordinates of the first words lie at the beginning of memory, so "head 0"
# became *the first words*, cut into pieces. Why does nobody notice? Words still see some others, so a model learns something, and lost
# accuracy has no error message. A fault of the same kind, in joining the heads, was mended in a teaching repository in 2026
# (Baan, pull request 6); its author notes that the training test had passed. "Which word can see which?" is a better test.

# %% [markdown]
# ## 7 · Scoreboard
#
# All models of this course take the same exam: for an ambiguous word in a held-out sentence, find its **nearest neighbour**, the most similar labelled
# occurrence, and take over its sense. We enter our trained layer, and as a control the plain average of the sentence's vectors.
#
# In two of the exam's four kinds of question, words speak for two senses, and only their *order* tells which one is meant. Compare "the prisoner that the
# biologist visited painted the cell" and "the biologist that the prisoner visited painted the cell". Sentences of these kinds were
# among the training texts, with their senses. **Predict:** which share of the order questions does the trained layer find, between 0 and 1?

# %% tags=["demo"]
predict("attention.order", ...)

# %% tags=["demo"]
from coursekit.exam import QUESTIONS, Accuracy, Exam, nearest_hits, nearest_sense, sense_exam

exam = sense_exam()

def of_sentences(sentences, W: dict[str, Tensor]) -> Float[Tensor, "B 50"]:
    """The ambiguous word of each sentence, after attention."""
    return contextual(torch.from_numpy(sentences.ids), torch.from_numpy(sentences.position), W)

def examine(W: dict[str, Tensor]) -> Accuracy:
    """Share of senses found by kind of question, from the vectors after attention."""
    return nearest_sense(exam, *(of_sentences(s, W) for s in (exam.labelled, exam.held_out)))

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

print("This takes five to ten seconds.")
one = {"v": torch.eye(50)}
average, plain = examine(KINDS["equal weights"] | one), examine(KINDS["plain weights"] | one)
equal = [examine(W) for W, _ in runs["equal weights"]]
learned = [examine(W) for W, _ in runs["learned weights"]]
add_row("average of GloVe vectors", average, note="no training")
add_row("attention, 1 layer", learned, note="told the senses")
reveal("attention.order", np.mean([[accuracy.order1, accuracy.order2] for accuracy in learned]))
draw()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def over_seeds(accuracies: list[Accuracy], kind: str) -> str:
    mean, half = mean_and_half([accuracy[kind] for accuracy in accuracies])
    return f"{mean:.3f} ± {half:.3f}"

lines = ["| | " + " | ".join(QUESTIONS.values()) + " |", "|:--" + "|--:" * len(QUESTIONS) + "|"]
for name, found_by in (("average, nothing trained", average), ("plain weights, nothing trained", plain)):
    lines.append(f"| {name} | " + " | ".join(f"{found_by[kind]:.3f}" for kind in QUESTIONS) + " |")
for name, found_by in (("equal weights, values trained", equal), ("**learned weights**", learned)):
    lines.append(f"| {name} | " + " | ".join(over_seeds(found_by, kind) for kind in QUESTIONS) + " |")
display(Markdown("\n".join(lines) + f"\n\n± is half a 95 % interval over {len(learned)} seeds."))

# %% [markdown]
# **What ± means.** Other seeds would have given other numbers. Half of the interval is $t \cdot s / \sqrt{n}$: s is the standard deviation over n seeds. It is itself guessed from so few numbers,
# so t is larger than the 1.96 of the normal distribution (Student 1908). The right picture says how often the truth lies inside, for either.

# %% tags=["demo"]
from coursekit.pictures import statistics

statistics.few_values([accuracy.right for accuracy in learned], "learned weights, cue on the right")

# %% [markdown]
# Where a word before the ambiguous one tells the sense, all rows but the static vectors' are within three points of the bound; our layer is a
# little *below* the plain average, with every seed. Where a word after it tells, it is a little *above*, with every seed; equal weights with
# trained values cannot be told apart from it.
#
# The exam's sentences are short: there is little to leave out. So an untrained average comes far; that of 01, if it is on your board, is above
# our layer in both panels, with vectors from this language. Our layer was told the senses; most later models must find them.
#
# Where order tells it, every row is at about a half.

# %% [markdown]
# ### What attention cannot see
#
# Look at the formulas again: which word stands *where* occurs in none of them. A sum over the words has no first term. So if the words of a sentence are
# put in another order, each of them keeps its new vector: the outputs are the same rows in the new order. (The field says: attention is *equivariant* under
# permutations.) The vector of *cell* is a function of *cell* and of which words stand with it, and how often each; in this it is no better than a bag of words.
#
# For each order question of the exam we make its **partner**: the two people change places, and the sense changes.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language.partners import partners

turned = [4, 0, 7, 2, 8, 1, 6, 3, 5]
everyone = torch.ones(1, 9, dtype=torch.bool)
shuffled_first, shuffled_after = multi_head(x_river[None, turned], *full, 5, everyone), multi_head(x_river[None], *full, 5, everyone)[:, turned]
print(f"river sentence, shuffled before or after multi_head: largest difference {(shuffled_first - shuffled_after).abs().max():.0e}")

asked = exam.held_out[np.isin(exam.held_out.cue, ["order1", "order2"])]
exchanged = partners(language, asked)
for sentences in (asked, exchanged):
    print(f"{language.senses[sentences.sense[0]]:<14} {language.decode(sentences.ids[0])}")
vectors, vectors_exchanged = of_sentences(asked, trained), of_sentences(exchanged, trained)
print(f"{len(asked):,} pairs of partners: largest difference of the two vectors {(vectors - vectors_exchanged).abs().max():.0e}; "
      f"length of a vector {vectors.norm(dim=1).mean():.0f}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
labelled_vectors = of_sentences(exam.labelled, trained)
right = nearest_hits(Exam(exam.labelled, asked), labelled_vectors, vectors)
right_exchanged = nearest_hits(Exam(exam.labelled, exchanged), labelled_vectors, vectors_exchanged)
times_right = np.bincount(right.astype(int) + right_exchanged, minlength=3) / len(asked)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Of a sentence and its partner, the trained layer gets both right in **{times_right[2]:.1%}** of the pairs, one in {times_right[1]:.1%} and none in {times_right[0]:.1%}: "
    f"{(right.mean() + right_exchanged.mean()) / 2:.3f} of all these questions."))

# %% [markdown]
# Equal vectors get equal answers, and partners have different senses: at most one of two can be right. In the language, partners are equally probable. So nobody
# who does not see the order can expect more than one half of the order questions, with any weights, any number of heads and any training. (On one exam a share may lie a little above, within
# its interval: the exam has drawn one partner more often than the other.) The remedy is not more attention. It is to write into each word's vector where it stands: notebook 03.

# %% [markdown]
# ## Further: three questions
#
# A person reads these answers, too.

# %% [markdown]
# **Question 3.** Why the dot product? Name one thing it measures well, one property of it that makes it practical, and one
# alternative together with what would change. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-3", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The dot product is large when two vectors point the same way, and it grows with their lengths, so that a word can also
# be *important*. All dot products of a sentence are one matrix product, which hardware does very fast, and the result
# is differentiable, so that it can be trained. The cosine would be an alternative: it ignores lengths, all scores lie
# between −1 and 1, and after a softmax the weights are then nearly even unless a learned factor sharpens them. A small network
# that takes both vectors (additive attention, Bahdanau et al. 2015) is another: it can express more and costs more time and memory.
#
# *Marking: 1 point for similarity of direction (and length) together with cheap or parallel or differentiable;
# 1 point for an alternative with its consequence.*

# %% [markdown]
# **Question 4.** Why a softmax? What would go wrong if we divided the scores by their sum, or simply took the largest one?
# (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-4", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The weights should be positive and add up to 1, so that the output is an average of the values and keeps their scale, and larger
# scores should get larger weights. Scores can be negative: divided by their sum they give negative weights, and where the
# sum is near 0 the weights explode. Taking the largest alone throws the other words away, and its derivative is zero almost
# everywhere, so nothing could be learned about which word to prefer. The softmax is a smooth version of it: every word gets some
# weight, every score gets a gradient, and a temperature moves it between the average and the maximum.
#
# *Marking: 1 point for positive and sums to 1 (or: negative scores break plain division); 1 point for smooth and
# trainable, against the hard maximum.*

# %% [markdown]
# **Question 5.** Attention starts from a vector for each word. Where do these input vectors come from here, where do
# they come from in a model such as BERT, and what do they not know yet? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# Here they are rows of a table that was trained beforehand: GloVe fits vectors to how often words occur near each
# other in a large corpus. In BERT or GPT they are rows of a table too, but the table starts from random numbers and is
# trained together with all other parameters, and its rows belong to pieces of words. In both cases a row is found
# by the word's number alone. It therefore holds what the word means on average over the corpus: a mixture of its
# senses. It knows nothing of the sentence at hand, and nothing of the place the word has in it.
#
# *Marking: 1 point for a table that is looked up, trained beforehand (GloVe) or together with the model (BERT); 1 point
# for what is missing: the context, so that all senses share one vector (the position is a welcome addition).*

# %% [markdown]
# ## Extensions
#
# Two functions that every real implementation has. They count as extra credit.
#
# W_q, W_k and W_v all multiply the same x. Side by side in one matrix, they need one product in place of three.

# %% nbgrader={"grade": false, "grade_id": "attention-project", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    """Queries, keys and values from one matrix product.  (extension, ●○○, 3 minutes)

    W_qkv holds W_q, W_k and W_v side by side, in this order, d columns each. Returns a tuple of three.
    """
    ### BEGIN SOLUTION
    return tuple((x @ W_qkv).chunk(3, dim=-1))
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "attention-project-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention.project", lambda case: project(case["x"], case["W_qkv"]))

# %% [markdown]
# And the cut that the bug got wrong, as a function of its own: with it, `attention(split_heads(q, H), split_heads(k, H), split_heads(v, H), …)`
# computes all heads at once.

# %% nbgrader={"grade": false, "grade_id": "attention-split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    """Cut the last axis into heads, put the head axis before the tokens.  (extension, ●●○, 4 minutes)

    Head h has the coordinates h·d to (h+1)·d − 1 of every token, d = D / heads.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "attention-split_heads-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention.split_heads", lambda case: split_heads(case["x"], case["heads"]))

# %% tags=["demo"]
queries, keys, values = (split_heads(t, 5) for t in project(x_river[None], torch.cat(full[:3], dim=1)))
at_once = attention(queries, keys, values, torch.ones(1, 1, 1, 9, dtype=torch.bool))    # 1 5 9 10
at_once = at_once.transpose(1, 2).flatten(2) @ full[3]                                    # 1 9 50
in_a_loop = multi_head(x_river[None], *full, heads=5, keep=torch.ones(1, 9, dtype=torch.bool))
print(f"largest difference between all heads at once and the loop: {(at_once - in_a_loop).abs().max():.1e}")

# %% [markdown]
# ## Summary
#
# - Attention makes a new vector of each word: dot products, division by √d, softmax over the keys, weighted sum of the values.
# - The variance of a random score is d. Undivided, the weights collapse onto one word.
# - With their own vectors as queries and keys, words look at themselves. Learned projections give them something to look *for*.
# - A mask acts before the softmax.
# - Heads are slices of the projections, not of the input.
# - An average of all words is a strong control. Choosing pays when there is something to leave out.
# - Attention does not see the order of the words.
#
# **Next**: 03 puts attention into a layer, tells it the order of the words, and stacks it.

# %% [markdown]
# ## References
#
# - Baan, J. (2026). Fix several bugs, one critical. github.com/jsbaan/transformer-from-scratch/pull/6.
# - Bahdanau, D., Cho, K. and Bengio, Y. (2015). Neural machine translation by jointly learning to align and translate. *ICLR*. arXiv:1409.0473.
# - FuxiCTR (2022). MultiHeadAttention bug when num_heads is greater than 1. github.com/reczoo/FuxiCTR/issues/30.
# - Jain, S. and Wallace, B. C. (2019). Attention is not Explanation. *NAACL-HLT*, 3543–3556. arXiv:1902.10186.
# - Pennington, J., Socher, R. and Manning, C. D. (2014). GloVe: global vectors for word representation. *EMNLP*, 1532–1543.
# - Student (1908). The probable error of a mean. *Biometrika* 6(1), 1–25.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762. The scaling argument stands in section 3.2.1, footnote 4.
# - Wiegreffe, S. and Pinter, Y. (2019). Attention is not not Explanation. *EMNLP-IJCNLP*, 11–20. arXiv:1908.04626.

# %% [markdown]
# Next: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb). The [start page](../start.ipynb) shows how far you are.
