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
# In the first notebook every word got one vector, and *bank* got one vector for the river and the money alike.
# Here a word looks at the words around it and takes on some of their meaning. The operation that does this is
# called **attention**. We compute it with a loop for one word, then for a sentence, then for a batch; we watch it
# fail on real word vectors; and we find out what has to be learned to make it work.
#
# **Afterwards you can**
#
# - compute attention in four steps, and say what breaks when a step is left out;
# - explain what queries, keys and values are for, with a measurement to support it;
# - hide words with a mask, and know what happens when everything is hidden;
# - split attention into heads, and tell the two ways of doing so apart.
#
# **You need** the first notebook, matrix products, and slicing in PyTorch.
# **Time** about 60 minutes: six exercises, a bug to find, five questions that a person reads; two extensions.

# %%
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit import check, hint, predict, reveal, show

# %% [markdown]
# ## 1 · A word among others
#
# Two sentences go with us through the whole course. Each becomes a matrix: one row for a word, 50 numbers in a row,
# read from the GloVe table of the first notebook.

# %% tags=["demo"]
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown, display

from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PALETTE, use_style
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
print("the two rows for bank are equal:", torch.equal(x_river[focal_river], x_money[focal_money]))

# %% [markdown]
# A table cannot know the sentence, so both rows for *bank* are the same 50 numbers. Attention makes a new row out
# of all the rows of the sentence. It goes like this.
#
# 1. Take one word, the **focal word**, and look at *all* words of its sentence, itself included.
# 2. Decide how much each of them counts: (2.1) compare it with the focal word, (2.2) scale the results,
#    (2.3) turn them into weights that add up to 1.
# 3. Add up the vectors of all words, each times its weight. That sum is the new vector of the focal word.
#
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
# **Question 1.** Attention starts from a vector for each word. Where do these input vectors come from here, where do
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
# **Question 2.** Why should the *neighbours* of a word tell us what it means? Give an example of a sentence in which
# they do, and one in which the sentence alone does not. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The distributional hypothesis says that words with similar meanings occur in similar company; the other way round, the
# company narrows down which meaning is in play. In "I will hike along the bank of a river" the words *hike*, *along*
# and *river* fit the edge of a river and hardly a financial institution. In "We met at the bank" nothing in the
# sentence decides; one would need the text before it, or the situation. Not every neighbour helps equally: *the* and
# *of* stand beside both senses. So a useful method has to weigh the neighbours.
#
# *Marking: 1 point for the distributional argument (company restricts meaning, with an example); 1 point for an example
# without a cue, or for the remark that neighbours differ in how much they tell.*

# %% [markdown]
# ## 2.1 · Similarities
#
# The loop compared one word with nine. We want every word compared with every word, in one step. From here on we
# call the words that ask **queries** and the words that are asked **keys**. At the moment both are the same
# rows; soon they will not be, so the function takes two arguments.
#
# Types name the axes: `"... Tq d"` is any number of leading axes (a batch, heads), then the queries, then d numbers.

# %% nbgrader={"grade": false, "grade_id": "attention-similarities", "locked": false, "schema_version": 3, "solution": true, "task": false}
def similarities(queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]) -> Float[Tensor, "... Tq Tk"]:
    """The dot product of every query with every key.  (difficulty ●○○, 4 minutes)

    scores[..., i, j] = Σ_d queries[..., i, d] · keys[..., j, d]. Leading axes (sentences, heads) are kept:
    query and key are compared only within the same sentence.
    """
    ### BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-similarities-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.similarities", lambda case: similarities(case["queries"], case["keys"]))

# %% [markdown]
# Stuck? `hint("attention.similarities")` asks a question first; called again, it says more. Now your function
# on real words.

# %% tags=["demo"]
scores = similarities(x_river, x_river)

figure, ax = plt.subplots(figsize=(5.6, 4.6))
image = ax.imshow(scores)
ax.set_xticks(range(len(river)), river, rotation=45, ha="right")
ax.set_yticks(range(len(river)), river)
ax.set_xlabel("key: the word that is asked")
ax.set_ylabel("query: the word that asks")
for i in range(len(river)):
    for j in range(len(river)):
        dark = scores[i, j] < scores.max() * 0.6
        ax.text(j, i, f"{scores[i, j]:.0f}", ha="center", va="center", fontsize=8, color="white" if dark else "black")
figure.colorbar(image, label="dot product")
own = (scores.argmax(-1) == torch.arange(len(river))).sum().item()
show(
    figure,
    alt=f"Heat map of the dot products between the nine words of the river sentence. The diagonal is brightest: bank with "
    f"bank {scores[focal_river, focal_river]:.1f}, bank with river {scores[focal_river, river.index('river')]:.1f}, "
    f"bank with the {scores[focal_river, river.index('the')]:.1f}. The largest number of {own} of 9 rows is on the diagonal.",
)
display(Markdown(f"In **{own} of {len(river)}** rows the largest number stands on the diagonal."))

# %% [markdown]
# The bright diagonal is no discovery: a vector times itself is its squared length, and no other vector of that length
# does better. Rows also differ in brightness, because lengths differ. And the picture is symmetric:
# *river* means exactly as much to *bank* as *bank* means to *river*. Keep these three facts in mind.

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
# ## 2.2 · Scaling
#
# How large is a dot product of two vectors that have nothing to do with each other? Let their coordinates be independent with
# mean 0 and variance 1. Each product $q_i k_i$ then has mean 0 and variance 1, and the variances of independent terms add up:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d} \operatorname{Var}(q_i k_i) = d .$$
#
# With d = 64, the head size of BERT: what is the variance of the scores before scaling?

# %% tags=["demo"]
predict("attention.variance", ...)

# %% [markdown]
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
def mean_and_interval(values: Tensor) -> tuple[float, float]:
    """Mean of independent repetitions, and half the width of its 95 % interval."""
    return values.mean().item(), 1.96 * values.std().item() / len(values) ** 0.5

sizes = [4, 16, 64, 256, 1024]
variance = {"before scaling": [], "after scaling": []}
for d in sizes:
    # 40 repetitions of 16 queries against 64 keys, all independent
    raw = similarities(torch.randn(40, 16, d), torch.randn(40, 64, d))
    variance["before scaling"].append(mean_and_interval(raw.var(dim=(1, 2))))
    variance["after scaling"].append(mean_and_interval(scale(raw, d).var(dim=(1, 2))))

figure, ax = plt.subplots(figsize=(5.6, 3.4))
ax.plot(sizes, sizes, color=GREY, lw=1, label="d")
for (name, points), colour, marker in zip(variance.items(), (ORANGE, BLUE), "os"):
    means, halves = zip(*points)
    ax.errorbar(sizes, means, halves, color=colour, marker=marker, ls="", capsize=3, label=name)
ax.set(xscale="log", yscale="log", xlabel="d, coordinates of a query", ylabel="variance of the scores")
ax.legend()
(v64, h64), (s64, g64) = variance["before scaling"][2], variance["after scaling"][2]
show(
    figure,
    alt=f"Variance of random scores against d on logarithmic axes. Before scaling it lies on the line d: {v64:.1f} ± {h64:.1f} at d = 64. "
    f"After scaling it is {s64:.2f} ± {g64:.2f}.",
)
reveal("attention.variance", v64)
display(Markdown(f"At d = 64: **{v64:.1f} ± {h64:.1f}** before, **{s64:.3f} ± {g64:.3f}** after (95 % intervals, 40 repetitions)."))

# %% [markdown]
# The points lie on the line: the variance is d before and 1 after. That is a statement about *random* vectors. Are GloVe's
# coordinates independent, with mean 0 and variance 1? We ask 2,000 frequent words.

# %% tags=["demo"]
frequent = glove.vectors[:2000]
products = similarities(frequent, frequent)
pairs = products[~torch.eye(len(frequent), dtype=torch.bool)]
selves = products.diagonal()
display(
    Markdown(
        f"One coordinate has variance **{frequent.var().item():.2f}**. The score of two different words has mean **{pairs.mean():.1f}** "
        f"and variance **{pairs.var():.0f}**; the score of a word with itself is **{selves.mean():.1f}** on average. "
        f"After scaling by √50 that is {pairs.mean() / 50**0.5:.2f} for a pair and {selves.mean() / 50**0.5:.2f} for a word with itself."
    )
)

# %% [markdown]
# They are not. Two different words have a clearly positive mean score, because GloVe vectors share a common
# direction, and a word with itself scores far above the pairs. Scaling corrects for the *number* of coordinates and
# for nothing else.

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
    Finite for every finite x: scores of 1000 or −10000 are no problem.
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
def draw_weights(temperature: float, ax) -> Tensor:
    """Bars: how bank shares out its attention at this temperature (1 is the scaled score itself)."""
    weights = softmax(scale(similarities(x_river, x_river), 50) / temperature, dim=-1)[focal_river]
    ax.bar(range(len(river)), weights, color=[ORANGE if word == "bank" else BLUE for word in river])
    ax.set_xticks(range(len(river)), river, rotation=60, ha="right")
    ax.set(ylim=(0, 1), title=f"temperature {temperature:g}")
    return weights

figure, axes = plt.subplots(1, 4, figsize=(9.5, 2.8), sharey=True)
temperatures = [50**-0.5, 0.5, 1.0, 5.0]
drawn = [draw_weights(temperature, ax) for temperature, ax in zip(temperatures, axes)]
axes[0].set_title("unscaled (1/√50)")
axes[0].set_ylabel("weight given by bank")
show(
    figure,
    alt="Weights of bank over the nine words at four temperatures. Bank's weight on itself: "
    + ", ".join(f"{w[focal_river]:.2f} at temperature {t:.2f}" for t, w in zip(temperatures, drawn)) + ".",
)

# %% [markdown]
# Low temperature: the winner takes all. High temperature: everyone gets a ninth. Without the division by √50, on the
# left, *bank* looks at itself and at nothing else. Move the slider to see what lies between (this needs a running
# notebook; nothing is graded here).

# %% tags=["demo"]
import ipywidgets

def temperature_slider(temperature: float) -> None:
    figure, ax = plt.subplots(figsize=(4.5, 2.8))
    weights = draw_weights(temperature, ax)
    show(figure, alt=f"At temperature {temperature:.2f} bank gives itself {weights[focal_river]:.2f} and river {weights[-1]:.2f}.")

ipywidgets.interact(temperature_slider, temperature=ipywidgets.FloatLogSlider(value=1, base=10, min=-1, max=1, step=0.1));

# %% [markdown]
# ### Sources say, we measure
#
# Vaswani et al. (2017, section 3.2.1) give the reason for √d: "We suspect that for large values of $d_k$, the dot products
# grow large in magnitude, pushing the softmax function into regions where it has extremely small gradients."
# They *suspect*; no figure in the paper shows it. We measure two things on random queries and 16 random keys:
# the entropy of the weights (ln 16 = 2.77 nats when all are equal, 0 when one takes all), and the size of the softmax's
# derivative, the Frobenius norm of $\operatorname{diag}(p) - p\,p^\top$.

# %% tags=["demo"]
def entropy(weights: Tensor) -> Tensor:
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1)

def jacobian_norm(weights: Tensor) -> Tensor:
    return (torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]).norm(dim=(-2, -1))

measured = {}
for d in sizes:
    raw = similarities(torch.randn(400, 1, d), torch.randn(400, 16, d))
    for name, scores_d in (("without scaling", raw), ("with scaling", scale(raw, d))):
        weights = softmax(scores_d, dim=-1)[:, 0]
        measured[name, d] = mean_and_interval(entropy(weights)), mean_and_interval(jacobian_norm(weights))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for ax, which, label in zip(axes, (0, 1), ("entropy of the weights (nats)", "size of the derivative")):
    for name, colour, marker in (("without scaling", ORANGE, "o"), ("with scaling", BLUE, "s")):
        means, halves = zip(*(measured[name, d][which] for d in sizes))
        ax.errorbar(sizes, means, halves, color=colour, marker=marker, capsize=3, label=name)
    ax.set(xscale="log", xlabel="d, coordinates of a query", ylabel=label)
    ax.set_ylim(bottom=0)
axes[0].axhline(np.log(16), color=GREY, lw=1, ls=":")
axes[0].text(sizes[0], np.log(16) - 0.18, "ln 16: all equal", color=GREY, fontsize=8)
axes[0].legend(loc="center right")
(e0, _), (j0, _) = measured["without scaling", 1024]
(e1, _), (j1, _) = measured["with scaling", 1024]
show(
    figure,
    alt=f"Left: entropy against d. With scaling it stays near {e1:.2f} nats, without it falls to {e0:.2f} at d = 1024. Right: the derivative's size. "
    f"With scaling {j1:.3f}, without {j0:.3f} at d = 1024.",
)
display(Markdown(f"At d = 1024 the unscaled entropy is **{e0:.2f}** nats against **{e1:.2f}**, the derivative **{j0:.3f}** against **{j1:.3f}**."))

# %% [markdown]
# The suspicion holds, with a limit worth knowing: the derivative does not vanish for *all* queries; it is a mean over many that are
# stuck and a few that are undecided between two keys. And these are random vectors, so this describes the *first* steps of training.
# A trained model can make its queries as long as it likes, and so choose its own temperature.

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
# ## 3 · The weighted sum
#
# The last step mixes vectors. What is mixed we call **values**; at the moment they are once more the rows of the
# sentence. For weights 0.5, 0.3, 0.2, the result is half of the first value, plus three tenths of the second, plus a fifth of the third.

# %% nbgrader={"grade": false, "grade_id": "attention-weighted_sum", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_sum(weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]) -> Float[Tensor, "... Tq dv"]:
    """For each query the sum of all values, each times its weight.  (difficulty ●○○, 3 minutes)

    output[..., i, :] = Σ_j weights[..., i, j] · values[..., j, :]. The weights are used as they are, also where
    a row does not add up to 1.
    """
    ### BEGIN SOLUTION
    return weights @ values
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-weighted_sum-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.weighted_sum", lambda case: weighted_sum(case["weights"], case["values"]))

# %% [markdown]
# All steps are there. We put them together and look at what *bank* sees in both sentences.

# %% tags=["demo"]
def plain_weights(x: Tensor) -> Tensor:
    """Steps 2.1 to 2.3 with the words' own vectors as queries and keys."""
    return softmax(scale(similarities(x, x), x.shape[-1]), dim=-1)

def shade(ax, words: list[str], weights: Tensor, title: str) -> None:
    """The sentence, each word on a ground as dark as its weight."""
    for place, (word, weight) in enumerate(zip(words, weights.tolist())):
        ax.add_patch(plt.Rectangle((place, 0), 0.96, 1, color=BLUE, alpha=min(1.0, weight), lw=0))
        colour = "white" if weight > 0.5 else "black"
        ax.text(place + 0.48, 0.62, word, ha="center", va="center", fontsize=10, color=colour)
        ax.text(place + 0.48, 0.22, f"{weight:.2f}", ha="center", va="center", fontsize=8, color=colour)
    ax.set(xlim=(0, 13), ylim=(0, 1))
    ax.set_title(title, loc="left", fontsize=10)
    ax.axis("off")

before_river, before_money = plain_weights(x_river)[focal_river], plain_weights(x_money)[focal_money]
figure, axes = plt.subplots(2, 1, figsize=(10, 2.4))
shade(axes[0], river, before_river, "what bank attends to, GloVe vectors as they are")
shade(axes[1], money, before_money, "")
self_river, self_money = before_river[focal_river].item(), before_money[focal_money].item()
weight_of = dict(zip(river, before_river.tolist()))
show(
    figure,
    alt=f"Both sentences shaded by the weights of bank. Bank gives itself {self_river:.2f} and {self_money:.2f}. In the first sentence "
    f"river gets {weight_of['river']:.3f}, less than the ({weight_of['the']:.3f}); in the second money gets {before_money[-1]:.3f}.",
)
reveal("attention.self_weight", self_river)

# %% tags=["demo"]
def cosine(a: Tensor, b: Tensor) -> float:
    return torch.nn.functional.cosine_similarity(a, b, dim=-1).item()

bank_by_the_river = weighted_sum(plain_weights(x_river), x_river)[focal_river]
bank_with_money = weighted_sum(plain_weights(x_money), x_money)[focal_money]
i_by_the_river = weighted_sum(plain_weights(x_river), x_river)[river.index("i")]
display(
    Markdown(
        f"| compared | cosine |\n|:--|--:|\n"
        f"| *bank*, river sentence, with *bank*, money sentence: before attention | 1.000 |\n"
        f"| the same, after attention | **{cosine(bank_by_the_river, bank_with_money):.3f}** |\n"
        f"| control: *bank* with *i* in the river sentence, before | {cosine(x_river[focal_river], x_river[0]):.3f} |\n"
        f"| control: the same, after attention | {cosine(bank_by_the_river, i_by_the_river):.3f} |"
    )
)

# %% [markdown]
# The mechanics are right and the result is useless. *bank* gives most of its attention to itself, *river* gets less than
# *the*, and the two *banks* come out almost identical. Here are the three facts from above again: a word is most
# similar to itself; long vectors and frequent words shine for everyone; and "similar to" is not what we
# need. *bank* should ask for whatever *tells its sense*, and *river* should answer.

# %% [markdown]
# ## 4 · Queries, keys and values
#
# So we let a word play three roles, with a vector for each: what it asks for (**query**), what it answers to (**key**), what it
# passes on (**value**). Each is a linear function of the word's vector, and the three matrices are learned:
#
# $$q_i = x_i W_q, \qquad k_j = x_j W_k, \qquad v_j = x_j W_v .$$
#
# The score $q_i \cdot k_j = x_i\, W_q W_k^\top x_j^\top$ is no longer symmetric, and nothing forces a word to like itself.
#
# One thing is still missing. Sentences of a batch differ in length; the short ones are filled up with padding, which nobody
# should attend to. A **mask** says so. In this course it is called `keep`, and True means *may be attended to*.

# %% nbgrader={"grade": false, "grade_id": "attention-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    """Scaled dot-product attention with a mask.  (difficulty ●●○, 8 minutes)

    keep[..., i, j] is True where query i may attend to key j; an axis of size 1 stands for all. The weights of the
    keys that a query may attend to add up to 1; all others are 0. A query that may attend to no key at all gets zeros.
    d and dv may differ. Source: Vaswani et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, torch.finfo(scores.dtype).min), dim=-1)
    return weighted_sum(weights.masked_fill(~keep, 0.0), values)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.attention", lambda case: attention(case["queries"], case["keys"], case["values"], case["keep"]))

# %% [markdown]
# ## 5 · Heads
#
# (to come)

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

    Rows of each matrix stand for inputs: project with a plain x @ W. Head h has columns h·d to (h+1)·d − 1 of all three
    projections, d = D / heads. The heads' outputs stand side by side in that order, then the output projection follows.
    keep[b, j] is True where token j of sentence b is a real word; padding is not attended to by anyone.
    A loop over the heads is fine. Source: Vaswani et al. (2017), section 3.2.2.
    """
    ### BEGIN SOLUTION
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    d = x.shape[-1] // heads
    outputs = []
    for head in range(heads):
        columns = slice(head * d, (head + 1) * d)
        outputs.append(attention(queries[..., columns], keys[..., columns], values[..., columns], keep[:, None, :]))
    return torch.cat(outputs, dim=-1) @ W_o
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-multi_head-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.multi_head", lambda case: multi_head(**case))

# %% nbgrader={"grade": false, "grade_id": "attention-mended_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_heads(
    queries: Float[Tensor, "B T D"], keys: Float[Tensor, "B T D"], values: Float[Tensor, "B T D"], heads: int
) -> Float[Tensor, "B T D"]:
    """The function above without its bug.  (difficulty ●●○, 6 minutes)

    Projections come in, the heads' outputs side by side go out: no mask, no output projection.
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

# %% nbgrader={"grade": false, "grade_id": "attention-project", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project(
    x: Float[Tensor, "... T D"], W_qkv: Float[Tensor, "D 3*d"]
) -> tuple[Float[Tensor, "... T d"], Float[Tensor, "... T d"], Float[Tensor, "... T d"]]:
    """Queries, keys and values from one matrix product.  (extension, difficulty ●○○, 3 minutes)

    W_qkv holds W_q, W_k and W_v side by side, in this order, d columns each. Returns a tuple of three.
    """
    ### BEGIN SOLUTION
    return tuple((x @ W_qkv).chunk(3, dim=-1))
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "attention-project-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention.project", lambda case: project(case["x"], case["W_qkv"]))

# %% nbgrader={"grade": false, "grade_id": "attention-split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    """Cut the last axis into heads and put the head axis before the tokens.  (extension, difficulty ●●○, 4 minutes)

    Head h has the coordinates h·d to (h+1)·d − 1 of every token, d = D / heads.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "attention-split_heads-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention.split_heads", lambda case: split_heads(case["x"], case["heads"]))
