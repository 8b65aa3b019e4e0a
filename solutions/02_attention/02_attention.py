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
# In the first notebook *bank* had the same static embedding in a sentence about a river and in a banking report. In this notebook the vector of a word depends on the words around it, through **attention**. We compute attention for one word, for a sentence and for a batch. On real word vectors attention fails at first, and this failure shows which parts have to be learned.
#
# **You need** the first notebook, matrix products, and slicing in PyTorch.
# **Time** about 80 minutes: six exercises, one bug to find and two written questions. An extension at the end is optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [01 · One vector per word](../01_static_embeddings/01_static_embeddings.ipynb) · next: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - compute attention in four steps (similarities, scaling, softmax, weighted sum), and explain what goes wrong if a step is missing;
# - explain the purpose of queries, keys and values, and support your explanation with a measurement;
# - mask positions, including the case in which every position is masked;
# - split attention into heads in two ways, and explain how these differ;
# - split a cross-entropy loss into entropy and KL divergence.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal

# %% [markdown]
# ## 1 · A word among others
#
# We begin with an example that is small enough to check by hand: *we sat on the river bank*. We represent each word by three numbers of our own choice, which describe its relation to water, money and grammar. Attention computes a new vector for
# one word, the **focal word**; here it is *bank*.
#
# 1. Take *all* words of the sentence, including the focal word.
# 2. Compute a weight for each word: (2.1) take its dot product with the focal word; (2.2) scale the result; (2.3)
#    take the exponentials of the scaled results and divide each by their sum.
# 3. Multiply each word's vector by its weight. The sum of the products is the new vector of the focal word.

# %% tags=["demo"]
import math

toy = {  # water, money, grammar
    "we": [0, 0, 1], "sat": [0.5, 0, 0.5], "on": [0, 0, 1],
    "the": [0, 0, 1], "river": [2, 0, 0], "bank": [1, 1, 0],
}
toy_products, exponentials = {}, {}
for word, vector in toy.items():
    toy_products[word] = sum(a * b for a, b in zip(toy["bank"], vector))             # step 2.1
    exponentials[word] = math.exp(toy_products[word] / math.sqrt(3))                 # 2.2
total = sum(exponentials.values())
toy_weights = {word: exponential / total for word, exponential in exponentials.items()}  # 2.3
toy_bank = [sum(toy_weights[word] * toy[word][i] for word in toy) for i in range(3)]     # 3

# %% tags=["demo"]
from coursekit.pictures import attention as pictures
from coursekit.pictures import attention_heads, attention_training, statistics

pictures.steps_by_hand(toy, toy_products, exponentials, toy_weights, toy_bank)

# %% [markdown]
# Check the row for *river*. The dot product is 2·1 + 0·1 + 0·0 = 2. Divided by √3 this is 1.15, and e to the power 1.15 is 3.17. The exponentials sum to 10.68, so the weight is 3.17 / 10.68 = 0.30. In the old vector of *bank*, water and money were equal. In the new vector, water is three times as large as money: the sentence has moved *bank* towards the river.

# %% [markdown]
# Now we turn to real vectors and to two sentences that we use throughout the course. Each sentence becomes a matrix with one row per word, which contains the word's 50-dimensional GloVe vector from the first notebook (Pennington et al. 2014).

# %% tags=["demo"]
import numpy as np

from coursekit.plots import use_style
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
print(
    "the two rows for bank are equal:", torch.equal(x_river[focal_river], x_money[focal_money])
)

# %% [markdown]
# A static embedding does not depend on the sentence, so both rows for *bank* contain the same 50 numbers. The figure shows the three steps that will make the two vectors differ, with *bank* in the river sentence as the focal word.

# %% tags=["demo"]
pictures.steps(river, x_river, focal_river)

# %% [markdown]
# Before you read on, make a prediction. With real vectors, the weights of *bank* for the nine words of the sentence also add up to 1. How large is the weight that *bank* assigns to itself (between 0 and 1)?

# %% tags=["demo"]
predict("attention.self_weight", ...)

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): "They met at the bank." What would you need to know to decide which kind of bank is meant? Where would you look first: at the neighbouring words, at the verb, or at the preceding text?

# %% [markdown]
# **Question 1 · What attention starts from.** Attention starts from the focal word's *own* embedding, in which all its senses are mixed. Why is
# this a useful starting point, and why should the *neighbours* reveal the sense? Give one example of a sentence that reveals the sense, and one example of a sentence that does not. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-a", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false} course={"formerly": "attention-reflection-2"}
# The comparison needs a vector that describes which words are relevant. The word's own embedding mixes all its senses, so it is similar to words that are related to any of these senses. The sense depends on which of these related words occur in the sentence. According to the distributional hypothesis, words with similar meanings occur in similar contexts; conversely, the context narrows down the meaning. In "I will hike along the bank of a river" the words *hike*, *along* and *river* are typical of the
# edge of a river, not of a financial institution. In "We met at the bank" nothing reveals the sense; we would need
# to know the preceding text or the situation. Not all neighbours help equally. For example, *the* and *of* occur with both senses.
# A useful method therefore has to assign different weights to the neighbours.
#
# *Marking: 1 point for the word's own embedding as the starting point (it describes which words are relevant; the mixture resembles the words of each sense); 1 point for the distributional argument (context restricts meaning) with one example that
# contains a cue and one that does not.*

# %% [markdown]
# ## 2.1 · Similarities
#
# We now compare every word with every word in a single step. From here on, the vectors of the words that attend are called **queries**, and the vectors with which they are compared are called **keys**. For now, queries and keys are the same vectors. In section 4 they will differ, so the function has two arguments.
#
# The type annotations name the axes: `"... Tq d"` means any number of leading axes (a batch, heads), then the queries, then the d coordinates of each query.

# %% nbgrader={"grade": false, "grade_id": "attention-similarities", "locked": false, "schema_version": 3, "solution": true, "task": false}
def similarities(
    queries: Float[Tensor, "... Tq d"], keys: Float[Tensor, "... Tk d"]
) -> Float[Tensor, "... Tq Tk"]:
    """The dot product of every query with every key.  (difficulty ●○○, 4 minutes)

    scores[..., i, j] = Σ_d queries[..., i, d] · keys[..., j, d]. Leading axes (sentences,
    heads) are kept, and a query is compared only with the keys of its own sentence.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return queries @ keys.transpose(-2, -1)
    ### END SOLUTION

# %% [markdown]
# If you are stuck, run `hint`. It starts with a question, and each further call gives a more detailed hint; there are four. `check` runs your function on small inputs and names your mistake if it is a common one. For debugging, you can use `print` inside your function, and `case("attention.similarities")` returns the first input on which your function is wrong.

# %% tags=["demo"]
hint("attention.similarities")

# %% nbgrader={"grade": true, "grade_id": "attention-similarities-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.similarities", lambda case: similarities(
    case["queries"], case["keys"]
), gradients=True)

# %% [markdown]
# Now we apply your function to real word vectors.

# %% tags=["demo"]
scores = similarities(x_river, x_river)
pictures.dot_products(scores, river)

# %% [markdown]
# Three facts are visible in the figure. First, the diagonal is bright, because the dot product of a vector with itself is its squared length, and no other vector of the same length has a larger dot product with it. Second, common words such as *will* and *the* have a larger dot product with *bank* than *river* has. Third, the matrix is symmetric: *river* is exactly as relevant to *bank* as *bank* is to *river*. We return to these three facts in section 3.

# %% [markdown]
# ## 2.2 · Scaling
#
# How large is the dot product of two unrelated vectors? Suppose that the vectors have d = 64 independent coordinates (as in each head of BERT) with mean 0 and variance 1. What is the variance of the scores before
# scaling?

# %% tags=["demo"]
predict("attention.variance", ...)

# %% [markdown]
# Each product $q_i k_i$ has mean 0 and variance 1, and the variances of independent terms add up:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d} \operatorname{Var}(q_i k_i) .$$
#
# The typical size of the scores therefore grows with the number of coordinates, which has nothing to do with the words. A single division removes this effect, so that the typical size of a score is 1 for every d.

# %% nbgrader={"grade": false, "grade_id": "attention-scale", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scale(scores: Float[Tensor, "... Tq Tk"], d: int) -> Float[Tensor, "... Tq Tk"]:
    """Scores of d-dimensional queries and keys, scaled to variance 1.
    (difficulty ●○○, 2 minutes)

    Each score is a dot product over d coordinates. The divisor depends only on d.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return scores / d**0.5
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-scale-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.scale", lambda case: scale(case["scores"], case["d"]), gradients=True)

# %% tags=["demo"]
# the mean of repeated measurements, and half the width of its 95 % interval
from coursekit.intervals import mean_and_half

sizes = [4, 16, 64, 256, 1024]
variance = {"before scaling": [], "after scaling": []}
for d in sizes:  # 40 times 16 random queries against 64 random keys
    raw = similarities(torch.randn(40, 16, d), torch.randn(40, 64, d))
    variance["before scaling"].append(mean_and_half(raw.var(dim=(1, 2))))
    variance["after scaling"].append(mean_and_half(scale(raw, d).var(dim=(1, 2))))

reveal("attention.variance", variance["before scaling"][sizes.index(64)][0])
pictures.variance_by_size(variance, sizes)

# %% [markdown]
# The variance is d before scaling and 1 after scaling. This holds for *random* vectors. Are the coordinates of GloVe vectors
# independent, with mean 0 and variance 1? We look at the 2,000 most frequent words.

# %% tags=["demo"]
frequent = glove.vectors[:2000]
products = similarities(frequent, frequent)
pictures.products_of_words(frequent, products)

# %% [markdown]
# For GloVe vectors, these assumptions do not hold. The mean over all coordinates is 0, but each single coordinate has its own mean, so all vectors share a common direction. As a result, the dot product of two different words is positive on average; its mean is the squared length of the mean vector (last row). The dot product of a word with itself is much larger. Scaling corrects only for the *number* of coordinates.

# %% [markdown]
# ## 2.3 · Softmax
#
# Scores can be negative, and their sum can have any value. Weights should be positive, add up to 1 and have the same order as the scores. The exponential makes every number positive, and after division by the sum the weights add up to 1:
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_k e^{s_k}} .$$
#
# There is one numerical problem: $e^{100}$ is infinite in float32. However, adding the same constant to all scores of a row does not change the result, so we can choose a constant that keeps the exponentials small.

# %% nbgrader={"grade": false, "grade_id": "attention-softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x: Float[Tensor, "..."], dim: int) -> Float[Tensor, "..."]:
    """Positive weights that sum to 1 along `dim` and keep the order of x.
    (difficulty ●●○, 6 minutes)

    The base is e. The result has the shape of x and is finite for every finite x, such as
    scores of 1000 or −10000. `dim` may be any axis, counted from the front or (negative) from
    the back. You may use `torch.softmax`, but you learn more if you write the function
    yourself once.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    shifted = x - x.amax(dim, keepdim=True)
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-softmax-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("attention.softmax", lambda case: softmax(case["x"], case["dim"]), gradients=True)

# %% [markdown]
# Along which axis do we apply the softmax? Each *query* distributes a total weight of 1 over the keys, so each row of scores becomes a row of weights. To control how concentrated the weights are, we can divide the scores by a number, the **temperature**. The division by √d acts as a fixed temperature.

# %% tags=["demo"]
def bank_at(temperature: float) -> Float[Tensor, "T"]:
    """The weights of bank in the river sentence; a temperature of 1 does not change the scaled
    scores."""
    scores = scale(similarities(x_river, x_river), 50)
    return softmax(scores / temperature, dim=-1)[focal_river]

# %% tags=["demo"]
temperatures = {
    "unscaled (1/√50)": 50**-0.5,
    "temperature 0.5": 0.5,
    "temperature 1": 1.0,
    "temperature 5": 5.0,
}
pictures.by_temperature(bank_at, temperatures, river)

# %% [markdown]
# At a low temperature, nearly all the weight belongs to the word with the largest score, whereas at a high temperature each weight approaches one ninth. Without the division by √50 (left), *bank* attends only to itself. Move the slider to see the weights at other temperatures (this requires a running notebook and is not graded).

# %% tags=["demo"]
pictures.temperature_slider(bank_at, river)

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): why does attention use a softmax? What would go wrong if we divided the scores by their sum, or if we used only the word with the largest score?

# %% [markdown]
# ### Claimed in the paper, measured here
#
# Vaswani et al. (2017, section 3.2.1) give the reason for √d: "We suspect that for large values of $d_k$, the dot
# products grow large in magnitude, pushing the softmax function into regions where it has extremely small gradients."
# The authors *suspect* this, but the paper reports no measurement. We measure two quantities for random queries, each with 16 random keys. The first quantity is the **entropy** of the weights p, $-\sum_j p_j \ln p_j$. It is ln 16 = 2.77 nats for uniform weights, and 0 if one key has all the weight. The second quantity is the size of the softmax's derivative, the Frobenius norm of $\operatorname{diag}(p) - p\,p^\top$.

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

stuck = derivative_size(softmax(raw, dim=-1)[:, 0])    # one number per query, without scaling, at d = 1024

# %% tags=["demo"]
pictures.saturation(measured, stuck)

# %% [markdown]
# Our measurement supports this suspicion, with one qualification: the derivative does not vanish for *all* queries. The mean is taken over many saturated queries and over a few queries whose two largest weights are similar. Since all vectors are random, the result describes at most the *first* steps of training. A trained model can learn queries of any length and thereby its own temperature.
#
# Each point in the figure is a mean over 400 rows of 16 weights. The next figure shows one such row. You can vary d with the slider (this requires a running notebook and is not graded).

# %% tags=["demo"]
pictures.scaling_slider(similarities, scale, softmax, entropy, sizes)

# %% [markdown]
# ## 3 · The weighted sum
#
# The last step mixes vectors. The vectors to be mixed are called **values**; for now the values are also the word vectors of the sentence. With the weights 0.5, 0.3 and 0.2, for example, the result is half of the first value plus three tenths of the second value plus one fifth of the third value.

# %% nbgrader={"grade": false, "grade_id": "attention-weighted_sum", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_sum(
    weights: Float[Tensor, "... Tq Tk"], values: Float[Tensor, "... Tk dv"]
) -> Float[Tensor, "... Tq dv"]:
    """For each query, the sum of all values, each multiplied by its weight.
    (difficulty ●○○, 3 minutes)

    output[..., i, :] = Σ_j weights[..., i, j] · values[..., j, :]. Use the weights unchanged,
    even if a row does not sum to 1, is all zeros or contains negative numbers.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return weights @ values
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-weighted_sum-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("attention.weighted_sum", lambda case: weighted_sum(
    case["weights"], case["values"]
), gradients=True)

# %% [markdown]
# You have now written all four steps. We combine them and show to which words *bank* attends in the two sentences.

# %% tags=["demo"]
def plain_weights(x: Float[Tensor, "T D"]) -> Float[Tensor, "T T"]:
    """Steps 2.1 to 2.3, with the word vectors themselves as queries and keys."""
    return softmax(scale(similarities(x, x), x.shape[-1]), dim=-1)

plain_river = plain_weights(x_river)[focal_river]
plain_money = plain_weights(x_money)[focal_money]
reveal("attention.self_weight", plain_river[focal_river].item())

# %% tags=["demo"]
pictures.plain_attention([(river, plain_river), (money, plain_money)])

# %% tags=["demo"]
new_river, new_money = (weighted_sum(plain_weights(x), x) for x in (x_river, x_money))
pictures.before_and_after(x_river, new_river, new_money[focal_money], focal_river)

# %% [markdown]
# The computation is correct, but the result is not useful. *bank* assigns most of its weight to itself, *river* has a smaller weight than *the*, and the two vectors of *bank* remain very similar. *bank* and *i*, two *different* words, become much more similar. The causes are the three facts of section 2.1. Similarity is the wrong criterion: *bank* should attend to words that *reveal its sense*, and *river* should be one of these words.

# %% [markdown]
# ## 4 · Queries, keys and values
#
# In attention, therefore, each word has three roles, with one vector for each role. The **query** describes which words are relevant to the word. The **key** is compared with the queries of other words. The **value** is the information that the word contributes. Each of the three vectors is a linear function of the word vector, and the three matrices are learned:
#
# $$q_i = x_i W_q, \qquad k_j = x_j W_k, \qquad v_j = x_j W_v .$$
#
# The score $q_i \cdot k_j = x_i\, W_q W_k^\top x_j^\top$ is no longer symmetric, and nothing forces a word to attend to itself.

# %% [markdown]
# One component is still missing. The sentences of a batch differ in length, so the shorter sentences are extended with padding tokens. No word should attend to these tokens, and a **mask** excludes them. In this course the mask is called `keep`, and True means *may be attended to*.

# %% tags=["demo"]
padded = [river + ["[PAD]"] * (len(money) - len(river)), money]
pictures.masks(padded)

# %% nbgrader={"grade": false, "grade_id": "attention-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(
    queries: Float[Tensor, "... Tq d"],
    keys: Float[Tensor, "... Tk d"],
    values: Float[Tensor, "... Tk dv"],
    keep: Bool[Tensor, "... Tq Tk"],
) -> Float[Tensor, "... Tq dv"]:
    """Scaled dot-product attention with a mask.  (difficulty ●●○, 8 minutes)

    keep[..., i, j] is True where query i may attend to key j; an axis of size 1 is broadcast.
    The weights of the keys that a query may attend to sum to 1, and all other weights are 0,
    however large the scores are, including those of masked keys.
    The output of a query that may attend to no key at all is zero. d and dv may differ.
    You may use `F.scaled_dot_product_attention`.
    Autograd must be able to differentiate the result.
    Source: Vaswani et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    scores = scale(similarities(queries, keys), queries.shape[-1])
    weights = softmax(scores.masked_fill(~keep, torch.finfo(scores.dtype).min), dim=-1)
    return weighted_sum(weights.masked_fill(~keep, 0.0), values)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "attention-attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("attention.attention", lambda case: attention(
    case["queries"], case["keys"], case["values"], case["keep"]
), gradients=True)

# %% [markdown]
# PyTorch also provides this function. We compare it with your function on a batch of our two sentences.

# %% tags=["demo"]
from torch.nn.functional import pad, scaled_dot_product_attention

batch = torch.stack([pad(x_river, (0, 0, 0, len(money) - len(river))), x_money])     # 2 13 50
keep = torch.tensor([[word != "[PAD]" for word in words] for words in padded])[:, None, :]
ours = attention(batch, batch, batch, keep)
theirs = scaled_dot_product_attention(batch, batch, batch, attn_mask=keep)
alone = weighted_sum(plain_weights(x_river), x_river)
print(f"largest difference from PyTorch's function: {(ours - theirs).abs().max():.1e}")
effect_of_padding = (ours[0, : len(river)] - alone).abs().max()
print(
    "largest difference between the padded river sentence and the sentence alone: "
    f"{effect_of_padding:.1e}"
)

# %% [markdown]
# The two functions agree up to rounding, and the padding has no effect. However, PyTorch uses two conventions. In `scaled_dot_product_attention`, True means *may be attended to*, as in this course, whereas in `nn.MultiheadAttention` it means *masked*. Inverted masks are a common bug that raises no error.

# %% [markdown]
# ## 4.1 · Train it
#
# Nobody specifies which words a word should attend to; the three matrices are learned from a task. We use sentences from the
# course's generated language, in which the sense of every ambiguous word is known. The task is to predict this sense
# from the vector of the ambiguous word *after* attention.
#
# Each text is a sentence with an ambiguous word, followed by a second sentence that is drawn at random. The second sentence imitates real text, in which many nearby words are irrelevant to a given word. Sentences with the same structure as our two examples are excluded from the training data.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language
from coursekit.language.pairs import sentence_pairs

language = load_language()
table = torch.stack(
    [glove[word] if word in glove else torch.zeros(50) for word in language.vocabulary]
)

# %% tags=["demo"]
ids, position, sense, cue = sentence_pairs(
    language, 12_000, seed=1, split="train", without="will"
)
print(len(ids), "training texts, for example")
for i in range(4):
    first, second = (language.decode(half) for half in ids[i].chunk(2))
    print(f"  {language.senses[sense[i]]:<15} {first} | {second}")

# %% [markdown]
# The model is your `attention` with one query per text, followed by a matrix that turns the new vector into one score per
# sense. As baselines we train the same model with two kinds of *fixed* weights: **uniform** weights over all words (which result if all queries are zero) and the **plain** weights of section 3 (W_q = W_k = identity). W_v and the last matrix are learned in all three cases.

# %% tags=["demo"]
names = [sense_name.split("#")[0] for sense_name in language.senses]
same_word = torch.tensor([[a == b for a in names] for b in names])  # senses of one word

def look_up(ids: Tensor, position: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The vectors of all tokens, the vector of each text's ambiguous word, and a mask of the
    tokens that are real words."""
    x = table[ids]                                               # B T 50
    focal = x[torch.arange(len(x)), position][:, None]           # B 1 50
    return x, focal, (ids >= len(SPECIAL_TOKENS))[:, None, :]    # B 1 T

def contextual(ids: Tensor, position: Tensor, W: dict[str, Tensor]) -> Float[Tensor, "B 50"]:
    """The vector of the ambiguous word of each text, after attention."""
    x, focal, keep = look_up(ids, position)
    return attention(focal @ W["q"], x @ W["k"], x @ W["v"], keep)[:, 0]

def sense_scores(
    vectors: Tensor, allowed: Tensor, W: dict[str, Tensor]
) -> Float[Tensor, "B senses"]:
    """One score for each sense that the word can have."""
    return (vectors @ W["senses"]).masked_fill(~allowed, -1e9)

# %% tags=["demo"]
def new_weights(seed: int, fixed: dict[str, Tensor]) -> dict[str, Tensor]:
    """Random matrices, except for those in `fixed`."""
    torch.manual_seed(seed)
    shapes = {"q": 50, "k": 50, "v": 50, "senses": len(language.senses)}
    return {
        name: torch.randn(50, columns) / 50**0.5 for name, columns in shapes.items()
    } | fixed

def train(
    seed: int, fixed: dict[str, Tensor], steps: int = 400
) -> tuple[dict[str, Tensor], list[float]]:
    """The matrices after training, and the loss at every step; the matrices in `fixed` are not
    trained."""
    W = new_weights(seed, fixed)
    learned = [W[name].requires_grad_() for name in W if name not in fixed]
    optimiser, losses = torch.optim.Adam(learned, lr=3e-3), []
    for _ in range(steps):
        batch = torch.randint(len(ids), (64,))
        scores = sense_scores(
            contextual(ids[batch], position[batch], W), same_word[sense[batch]], W
        )
        loss = torch.nn.functional.cross_entropy(scores, sense[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return {name: w.detach() for name, w in W.items()}, losses

# %% [markdown]
# ### What the loss measures
#
# A softmax over the scores gives each sense a probability q. The loss of a text is −ln q of its true sense: 0 nats for
# a model that is correct and certain, ln 2 = 0.69 nats for a model that considers two senses equally probable. The mean
# loss over many texts is called **cross-entropy**.
#
# How small can the cross-entropy become? Suppose that a text is compatible with two senses, each with probability p = ½. If the model predicts ½ for both senses, its loss is 0.69. If it predicts 0.9 and 0.1, its loss is 0.11 in one half of the cases and 2.30 in the other half, or 1.20 on average. No prediction is better than q = p.

# %% [markdown]
# The loss at q = p, here 0.69, is the **entropy** of the true distribution and the lowest possible loss. Any loss beyond the entropy, here 1.20 − 0.69 = 0.51, is the **KL divergence** (after Kullback and Leibler), which is 0 only for q = p:
#
# $$\underbrace{-\sum_s p_s \ln q_s}_{\text{cross-entropy}} \;=\; \underbrace{-\sum_s p_s \ln p_s}_{\text{entropy}} \;+\; \underbrace{\sum_s p_s \ln \frac{p_s}{q_s}}_{\text{KL divergence}} .$$
#
# For English p is unknown, but for the generated language we know it. In this course we can therefore split every loss into entropy, which no training can lower, and KL divergence, which remains to be learned.

# %% [markdown]
# Before you start the training (about ten seconds), make a prediction. In the river sentence, how large is the total weight that *bank* assigns to *hike* and *river* after W_q and W_k have been trained? With uniform weights it would be 2/9 ≈ 0.22.

# %% tags=["demo"]
predict("attention.cue_weight", ...)

# %% tags=["demo"]
print("This takes five to ten seconds.")
KINDS = {
    "uniform weights": {"q": torch.zeros(50, 50), "k": torch.zeros(50, 50)},
    "plain weights": {"q": torch.eye(50), "k": torch.eye(50)},
    "learned weights": {},
}
SEEDS = range(4)
runs = {kind: [train(seed, fixed) for seed in SEEDS] for kind, fixed in KINDS.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
test_ids, test_position, test_sense, test_cue = sentence_pairs(
    language, 6_000, seed=2, split="held_out", without="will"
)

def accuracy(W: dict[str, Tensor], side: str, tokens: int | None = None) -> float:
    """Accuracy on held-out texts with the cue on the given side; `tokens`, if given, truncates
    the texts to that length."""
    vectors = contextual(test_ids[:, :tokens], test_position, W)
    right = sense_scores(vectors, same_word[test_sense], W).argmax(-1) == test_sense
    return right[torch.from_numpy(test_cue == side)].float().mean().item()

found = {(kind, side): [accuracy(W, side) for W, _ in runs[kind]] for kind in KINDS for side in ("left", "right")}
alone = {kind: np.mean([accuracy(W, "right", tokens=test_ids.shape[1] // 2) for W, _ in runs[kind]]) for kind in KINDS}
ORDER = ["order1", "order2"]  # kinds of sentences in which only the order of the words reveals the sense
entropy_without_order = np.isin(cue, ORDER).mean() * np.log(2)

# %% tags=["demo"]
attention_training.accuracies(found, alone)
attention_training.training(runs, found, entropy_without_order)

# %% [markdown]
# The right-hand figure shows the two kinds of sentences in which a word reveals the sense; each point represents one seed. Plain weights are *worse* than uniform weights, so attending mostly to the word itself is worse than attending to all words equally. Learned weights are better than both baselines, and the gain is larger where the cue is on the right. Uniform weights are a strong baseline, because an average still reflects which words occur. Without the second sentence (table), the accuracy with uniform weights is closer to that with learned weights. Much of the gain from learning is therefore due to ignoring irrelevant words.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
by_order = torch.from_numpy(np.isin(test_cue, ORDER))
first_sentence = test_ids[:, : test_ids.shape[1] // 2].numpy()
true_senses = torch.from_numpy(language.sense_posterior(first_sentence, test_position.numpy(), "both"))

def held_out_losses(W: dict[str, Tensor]) -> Float[Tensor, "B"]:
    """The loss of each held-out text."""
    scores = sense_scores(contextual(test_ids, test_position, W), same_word[test_sense], W)
    return torch.nn.functional.cross_entropy(scores, test_sense, reduction="none")

nats = {
    "entropy, given the words and their order": entropy(true_senses),
    "entropy, given the words without their order (at least)": by_order * math.log(2),
} | {f"cross-entropy, {kind}": torch.stack([held_out_losses(W) for W, _ in runs[kind]]).mean(0) for kind in KINDS}

# %% tags=["demo"]
attention_training.parts_of_the_loss(nats, by_order)

# %% [markdown]
# Given the whole first sentence, the entropy is 0, because its words and their order always determine the sense. Without the order, two senses remain equally probable in a third of the texts, and the expected loss on each of these texts is at least ln 2 = 0.69. The average of this lower bound over all texts is the dotted line in the figure. Attention cannot represent the order (section 7), so training can at best remove the loss above this line. Part of this excess loss comes from the texts in which the order matters: with learned weights, their mean loss is about 0.9 instead of 0.69. On these texts the model is too confident, as in the example with the probabilities 0.9 and 0.1 above.

# %% [markdown]
# Which weights does the trained model assign in our two sentences, which were not used in training?

# %% tags=["demo"]
def weights_of(words: list[str], focal: int, W: dict[str, Tensor]) -> Float[Tensor, "T"]:
    """The weights of the focal word, which attention returns if the values are the identity
    matrix."""
    x = glove.of(words)
    everyone = torch.ones(1, len(words), dtype=torch.bool)
    return attention(x[[focal]] @ W["q"], x @ W["k"], torch.eye(len(words)), everyone)[0]

trained, untrained = runs["learned weights"][0][0], new_weights(0, {})

# %% tags=["demo"]
attention_training.effect_of_training(river, money, weights_of, untrained, trained)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
CUES = {"river": ("hike", "river"), "money": ("account", "deposit", "money")}

def bank_gives(name: str, to: str, W: dict[str, Tensor]) -> float:
    """The weight that bank assigns to itself, or to the cues of the sentence."""
    words = {"river": river, "money": money}[name]
    weights = dict(zip(words, weights_of(words, words.index("bank"), W).tolist()))
    return weights["bank"] if to == "itself" else sum(weights[cue] for cue in CUES[name])

given = {
    (name, to): (
        bank_gives(name, to, KINDS["plain weights"]),
        np.mean([bank_gives(name, to, new_weights(seed, {})) for seed in SEEDS]),
        [bank_gives(name, to, W) for W, _ in runs["learned weights"]],
    )
    for name in CUES
    for to in ("itself", "the cues")
}
trained_on = {language.vocabulary[i] for i in ids.unique().tolist()}
new_words = [word for word in dict.fromkeys(river + money) if word not in trained_on]
of_cues = given["river", "the cues"][-1]  # with each seed
of_deposit = [weights_of(money, focal_money, W)[money.index("deposit")] for W, _ in runs["learned weights"]]

# %% tags=["demo"]
attention_training.weights_of_bank(given, new_words, of_deposit)
reveal("attention.cue_weight", np.mean(of_cues))

# %% [markdown]
# For every seed, the cues (*hike*, *river*; *account*, *deposit*, *money*) now receive most of the weight, and *bank* assigns very little weight to itself. The structure of the two sentences is new to the model, and so are five of their words. The weight of one of these words, *deposit*, is more than three times the uniform weight for every seed. The model knows this word only through its GloVe vector, which resembles the vectors of words in the training data. The next test is harder. It uses sentences written by hand, which differ greatly from the generated language.

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
    """Whether the sense in a new sentence is predicted correctly, with some words masked (but never the ambiguous word)."""
    name, *words = line.split()
    x, focal, right = glove.of(words), words.index(name.split("#")[0]), language.senses.index(name)
    keep = torch.tensor([[word not in hidden or place == focal for place, word in enumerate(words)]])
    vector = attention(x[[focal]] @ W["q"], x @ W["k"], x @ W["v"], keep)
    return sense_scores(vector, same_word[[right]], W).argmax().item() == right

counts = {kind: [sum(finds(line, W) for line in NEW) for W, _ in runs[kind]] for kind in KINDS}
counts["learned weights, training words masked"] = [sum(finds(line, W, trained_on) for line in NEW) for W, _ in runs["learned weights"]]
counts["untrained"] = [sum(finds(line, new_weights(seed, {})) for line in NEW) for seed in SEEDS]
unseen = np.mean([word not in trained_on for line in NEW for word in line.split()[1:]])

# %% tags=["demo"]
attention_training.new_sentences(counts, len(NEW), unseen)

# %% [markdown]
# Since similar words have similar GloVe vectors, the model generalises to words that never occurred in training. Even if all words seen in training are masked, it predicts about the same number of senses correctly from the unseen words alone. On these short sentences, uniform weights are as good as learned weights (with 20 sentences, a difference of one or two is not meaningful). Selecting words is useful where other words should be ignored, as in the texts with a second sentence.

# %% [markdown]
# ### Is attention an explanation?
#
# A sentence shaded by its attention weights looks like an explanation of the prediction. However, Jain and Wallace (2019) called their paper "Attention is not Explanation". In their recurrent models the weights agreed only weakly with the effect of removing a word, and shuffled weights often led to the same prediction. Wiegreffe and Pinter (2019) replied that the answer depends on the model and on the definition of an explanation. We test our own model. With `keep`, it is easy to mask one word at a time.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def weights_and_effects(W: dict[str, Tensor], n: int = 600) -> tuple[Tensor, ...]:
    """For n texts: the weights, the effect of masking each word, which words to include, and whether the prediction is the same with shuffled weights."""
    x, focal, keep = look_up(test_ids[:n], test_position[:n])
    q, k, v, T = focal @ W["q"], x @ W["k"], x @ W["v"], x.shape[1]

    def answer(vectors: Tensor) -> Tensor:
        return sense_scores(vectors, same_word[test_sense[:n], None], W).softmax(-1)

    weights = attention(q, k, torch.eye(T).expand(n, T, T), keep)                       # n 1 T, the identity as values
    without = attention(q.expand(n, T, 50), k, v, keep & ~torch.eye(T).bool())          # n T 50, word j is masked for query j
    whole = answer(weighted_sum(weights, v))
    effect = (whole - answer(without)).abs().sum(-1) / 2                                # total variation distance
    real = keep[:, 0]
    places = real.int().argsort(descending=True, stable=True)                           # the real words first, in order
    drawn = (torch.rand(n, T) + real).argsort(descending=True)                          # the real words first, shuffled
    dealt = torch.zeros(n, T).scatter(1, places, weights[:, 0].gather(1, drawn))
    survives = answer(weighted_sum(dealt[:, None], v)).argmax(-1) == whole.argmax(-1)
    return weights[:, 0], effect, real.scatter(1, test_position[:n, None], False), survives[:, 0].float()

def explained(W: dict[str, Tensor]) -> dict[str, Tensor]:
    """Three measurements for each text, and two chance levels."""
    weights, effect, others, survives = weights_and_effects(W)
    pairs = others[:, :, None] & others[:, None, :] & ~torch.eye(others.shape[1]).bool()
    order_of_weights, order_of_effects = (torch.sign(a[:, :, None] - a[:, None, :]) for a in (weights, effect))
    return {
        "rank correlation (Kendall's τ) between the weight of a word and the effect of masking it":
            (order_of_weights * order_of_effects * pairs).sum((1, 2)) / pairs.sum((1, 2)),
        "the word with the largest weight has the largest effect":
            (weights.where(others, -1).argmax(1) == effect.where(others, -1).argmax(1)).float(),
        "chance level: a word picked at random": 1 / others.sum(1),
        "the predicted sense survives a random permutation of the weights": survives,
        "chance level: a sense picked at random": 1 / same_word[test_sense[:600]].sum(1),
    }

by_training = [explained(W) for W, _ in runs["learned weights"]]

# %% tags=["demo"]
attention_training.weights_as_explanations(by_training)

# %% [markdown]
# In *this* model the weights indicate to a large extent which words matter, but not completely, because the effect of a word also depends on its value vector. With randomly permuted weights, the prediction stays the same only slightly more often than expected by chance. Both findings hold for each of the four seeds. Our model is the simplest case, with one layer, one head, and keys that belong to single words. In deeper models each vector already mixes many words. We return to this question in notebook 08.

# %% [markdown]
# **Question 2 · How attention contextualises.** The input of attention is the vector of *bank*, and its output is a different vector. In what way does attention *contextualise* the vector? Explain what is mixed, what determines the mixture, and what is the same in both sentences. (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "attention-reflection-b", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false} course={"formerly": "attention-reflection-5"}
# The output for *bank* is a weighted average of the value vectors of all words in its sentence. Each value belongs to a single word and contains no context. The weights are computed by comparing the query of *bank* with the keys of the words in the sentence. If the sentence contains *river* and *hike*, the values of these words dominate the sum; if it contains *money* and *deposit*, their values dominate. The same input vector therefore leads to different outputs: f(w, C) instead of f(w). The matrices W_q, W_k and W_v, and hence also the query of *bank*, are the same in both sentences. The operation is fixed, but the sentence changes its result. Without learned projections the word itself dominates the average, and the output hardly changes.
#
# *Marking: 1 point for the weighted average of the sentence's values, with weights from query and keys; 1 point for what is fixed (the
# matrices, the input vector) and what varies (the words present, hence weights and output).*

# %% [markdown]
# ## 5 · Heads
#
# One set of weights serves one purpose, but several kinds of words may be relevant to a word, such as cues to its sense, its verb or its adjective. Attention is therefore computed several times in parallel. Each of these computations is called a **head**. With H heads, each head uses d = D / H dimensions, so all heads together require about as much computation as one head of full width.

# %% [markdown]
# There are two ways to make H small heads:
#
# - **Slices of the input**, as drawn in introductory slides: split the vector of each word into H parts, and use part h as the input of head h.
# - **Slices of the projections**, as in the paper (Vaswani et al. 2017): project the *whole* vector with D×D matrices,
#   then split the result. Head h then uses d columns each of W_q, W_k and W_v.

# %% tags=["demo"]
attention_heads.slices()

# %% [markdown]
# In both versions, the outputs of the heads are concatenated and multiplied by another matrix, W_o. You will write the second version.

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

    The rows of each matrix correspond to inputs: project with a plain x @ W. Head h uses
    columns h·d to (h+1)·d − 1 of all three projections, where d = D / heads. Concatenate the
    outputs of the heads in this order, then apply the output projection. keep[b, j] is True
    where token j of sentence b is a real word; padding may occur anywhere. No token attends to
    padding. The outputs at padding positions are computed like all others, but the output for
    a sentence that consists only of padding is zero. You may use a loop over the heads.
    Autograd must be able to differentiate the result.
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
check("attention.multi_head", lambda case: multi_head(**case), gradients=["x"])

# %% [markdown]
# How do the two versions differ? A head that sees one slice of the input is equivalent to a head whose matrices are zero outside one block. Your function therefore covers both versions: slices of the input are the special case of *block-diagonal* matrices. Derivatives show which of the 50 input coordinates can change which of the 50 output coordinates.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.derivatives import influence

def reach(x: Tensor, matrices: list[Tensor]) -> Float[Tensor, "out in"]:
    """How strongly each input coordinate changes each output coordinate, over all words."""
    def coordinates(columns: Float[Tensor, "N D T"]) -> Float[Tensor, "N D T"]:
        everyone = torch.ones(len(columns), len(x), dtype=torch.bool)
        return multi_head(columns.mT, *matrices, heads=5, keep=everyone).mT

    return influence(coordinates, x.T)

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
    print(f"slices of {name}: {sum(int((W != 0).sum()) for W in matrices):,} parameters in W_q, W_k and W_v")

# %% tags=["demo"]
attention_heads.influence_of_coordinates(maps)

# %% [markdown]
# With slices of the input, the computation splits into five separate parts, in which coordinates 0–9 never interact with coordinates 10–49. W_o mixes the parts (right), but only *after* each head has decided to which words it attends, based on a fifth of the information about them. Moreover, there is no reason why GloVe's coordinates 0–9 should belong together. With projections, each head learns its own ten directions. This requires H times as many parameters in W_q, W_k and W_v.

# %% [markdown]
# ## 6 · Find the bug
#
# On a GPU all heads should be computed in one product, without a loop. The code below splits and joins heads in the same way as FuxiCTR, a library of click-prediction models, until June 2022 (issue 30). Three models were affected, and the pattern had been adopted from a reference on the web. The code runs, the shapes are correct, and a model that contains it can be trained. Where is the bug?

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
# A symptom points to the bug. In attention the output of every word should depend on every word. On which words does it depend here? We use derivatives again.

# %% tags=["demo"]
# `influence` of coursekit.derivatives: the size of the derivative, row by row
def sees(heads_function) -> Float[Tensor, "word other"]:
    """How strongly each word of the river sentence changes the output of each word."""
    torch.manual_seed(2)
    projections = [torch.randn(50, 50) / 50**0.5 for _ in range(3)]
    return influence(lambda x: heads_function(*(x @ W for W in projections), 5), x_river)

# %% tags=["demo"]
attention_heads.influence_of_words(sees(heads_of_2022), river, "the code of 2022")

# %% [markdown]
# The output of *bank* does not depend on *river*. Write a correct version of the function.

# %% nbgrader={"grade": false, "grade_id": "attention-mended_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_heads(
    queries: Float[Tensor, "B T D"],
    keys: Float[Tensor, "B T D"],
    values: Float[Tensor, "B T D"],
    heads: int,
) -> Float[Tensor, "B T D"]:
    """heads_of_2022 without its bug.  (difficulty ●●○, 6 minutes)

    The inputs are the three projections, and the result consists of the concatenated outputs
    of the heads, without a mask and without the output projection. Head h uses coordinates h·d
    to (h+1)·d − 1, as in multi_head. Autograd must be able to differentiate the result.
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
check("attention.mended_heads", lambda case: mended_heads(**case), gradients=True)

# %% tags=["demo"]
attention_heads.influence_of_words(sees(mended_heads), river, "the fixed code")

# %% [markdown]
# `view` never moves a number in memory; it only changes where each row ends. The coordinates of the first words come first in memory, so "head 0" consisted of parts of *the first words*. Why did nobody notice this? Each word still sees some other words, so a model learns something, and a lower accuracy raises no error. A similar bug, in joining the heads, was fixed in a teaching repository in 2026 (Baan, pull request 6). The author of the pull request notes that the training test had passed. A better test checks on which words each output depends.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Heads that see one word each](../../docs/bugs/02_heads_without_a_transpose.md).

# %% [markdown]
# ## 7 · Scoreboard
#
# All models of this course take the same test. For an ambiguous word in a held-out sentence we find its **nearest neighbour**, the
# most similar labelled occurrence, and predict the sense of that neighbour. We evaluate our trained layer and, as a baseline, the plain average of the sentence's vectors.
#
# In two of the four kinds of questions, the words are cues for two senses, and only their *order* decides between them. Compare "the prisoner that the biologist visited painted the cell" and "the biologist that the prisoner visited
# painted the cell". Sentences of these kinds were among the training texts, labelled with their senses. **Predict:** what is the accuracy of the trained layer on these order questions (0 to 1)?

# %% tags=["demo"]
predict("attention.order", ...)

# %% tags=["demo"]
from coursekit.exam import Accuracy, Exam, nearest_hits, nearest_sense, sense_exam

exam = sense_exam()

def of_sentences(sentences, W: dict[str, Tensor]) -> Float[Tensor, "B 50"]:
    """The vector of the ambiguous word of each sentence, after attention."""
    return contextual(torch.from_numpy(sentences.ids), torch.from_numpy(sentences.position), W)

def examine(W: dict[str, Tensor]) -> Accuracy:
    """The accuracy for each kind of question, based on the vectors after attention."""
    return nearest_sense(exam, *(of_sentences(s, W) for s in (exam.labelled, exam.held_out)))

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

print("This takes five to ten seconds.")
one = {"v": torch.eye(50)}
average, plain = examine(KINDS["uniform weights"] | one), examine(KINDS["plain weights"] | one)
equal = [examine(W) for W, _ in runs["uniform weights"]]
learned = [examine(W) for W, _ in runs["learned weights"]]
add_row("average of GloVe vectors", average, note="not trained")
add_row("attention, 1 layer", learned, note="trained on senses")
reveal(
    "attention.order", np.mean([[accuracy.order1, accuracy.order2] for accuracy in learned])
)
draw()

# %% tags=["demo"]
attention_training.by_question({
    "average (uniform weights), untrained": average,
    "plain weights, untrained": plain,
    "uniform weights, values trained": equal,
    "**learned weights**": learned,
})

# %% [markdown]
# **The meaning of ±.** Other seeds would have given different results. Half the width of the interval is $t \cdot s /
# \sqrt{n}$, where s is the standard deviation over n seeds. Since s is itself estimated from very few values, t is
# larger than the 1.96 of the normal distribution (Student 1908). The right-hand figure shows how often an interval
# with either factor contains the true mean.

# %% tags=["demo"]
statistics.few_values(
    [accuracy.right for accuracy in learned],
    "accuracy of learned weights, cue only on the right",
)

# %% [markdown]
# Where an earlier word reveals the sense, every model except the static vectors comes within three percentage points of the best possible accuracy. For every seed, our layer is slightly *below* the plain average on these sentences, but slightly *above* it where only a later word reveals the sense. In the latter case, uniform weights with trained values are equally good.

# %% [markdown]
# The test sentences are short and contain few irrelevant words, so the accuracy of an untrained average is high. With the vectors of notebook 01, which were trained on this language, the average is even better than our layer. Our layer was trained with labels for the senses; most later models are trained without such labels.
#
# Where only the order reveals the sense, the accuracy of every model is about one half, which is the chance level.

# %% [markdown]
# ### What attention cannot see
#
# Look at the formulas again. The *position* of a word occurs in none of them, and a sum does not depend on the order of its terms. If the words of a sentence are permuted, each word receives the same new vector as before, so that the outputs are the same rows in the new order. (Attention is *equivariant* under permutations.) The vector of *cell* depends on *cell*, on the words that occur with it, and on the number of their occurrences. In this respect attention is no better than a bag of words.
#
# For each order question of the test we construct its **partner** by swapping the two people, which changes the sense.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language.partners import partners

turned = [4, 0, 7, 2, 8, 1, 6, 3, 5]
everyone = torch.ones(1, 9, dtype=torch.bool)
shuffled_first, shuffled_after = multi_head(x_river[None, turned], *full, 5, everyone), multi_head(x_river[None], *full, 5, everyone)[:, turned]
print(f"river sentence, shuffled before and after multi_head: largest difference {(shuffled_first - shuffled_after).abs().max():.0e}")

asked = exam.held_out[np.isin(exam.held_out.cue, ORDER)]
exchanged = partners(language, asked)
for sentences in (asked, exchanged):
    print(f"{language.senses[sentences.sense[0]]:<14} {language.decode(sentences.ids[0])}")
vectors, vectors_exchanged = of_sentences(asked, trained), of_sentences(exchanged, trained)
print(f"{len(asked):,} pairs of partners: largest difference between the two vectors {(vectors - vectors_exchanged).abs().max():.0e}; "
      f"mean length of a vector {vectors.norm(dim=1).mean():.0f}")

labelled_vectors = of_sentences(exam.labelled, trained)
right = nearest_hits(Exam(exam.labelled, asked), labelled_vectors, vectors)
right_exchanged = nearest_hits(Exam(exam.labelled, exchanged), labelled_vectors, vectors_exchanged)
times_right = np.bincount(right.astype(int) + right_exchanged, minlength=3) / len(asked)
accuracy_on_partners = (right.mean() + right_exchanged.mean()) / 2

# %% tags=["demo"]
attention_training.both_partners(times_right, accuracy_on_partners)

# %% [markdown]
# Equal vectors lead to equal predictions, and partners have different senses, so at most one of the two predictions can be correct. In the language, partners are equally probable. Therefore no model that ignores word order can be expected to answer more than half of the order questions correctly, whatever its weights, its number of heads and its training. (In a given sample, which may contain one partner more often than the other, the accuracy may be slightly above one half, but its interval still includes one half.) More attention does not help. The vector of each word has to include its position, which is the subject of notebook 03.

# %% [markdown]
# ## Extension
#
# Most real implementations need neither three products nor a loop. W_q, W_k and W_v all multiply the same x, so they are placed side by side in one matrix, and a single product is enough. Then each of its three parts is split into heads, which the code of section 6 did incorrectly. With the following function,
# `attention(split_heads(q, H), split_heads(k, H), split_heads(v, H), …)` computes all heads at once. Writing it earns extra credit, and no later notebook needs it.

# %% nbgrader={"grade": false, "grade_id": "attention-split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: Float[Tensor, "B T D"], heads: int) -> Float[Tensor, "B H T d"]:
    """Split the last axis into heads, and put the head axis before the token axis.
    (extension, ●●○, 4 minutes)

    Head h consists of coordinates h·d to (h+1)·d − 1 of every token, where d = D / heads.
    """
    ### BEGIN SOLUTION
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "attention-split_heads-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("attention.split_heads", lambda case: split_heads(case["x"], case["heads"]))

# %% tags=["demo"]
queries, keys, values = (
    split_heads(t, 5)
    for t in (x_river[None] @ torch.cat(full[:3], dim=1)).chunk(3, dim=-1)
)
no_mask = torch.ones(1, 1, 1, 9, dtype=torch.bool)
at_once = attention(queries, keys, values, no_mask)                   # 1 5 9 10
at_once = at_once.transpose(1, 2).flatten(2) @ full[3]                # 1 9 50
in_a_loop = multi_head(x_river[None], *full, heads=5, keep=torch.ones(1, 9, dtype=torch.bool))
print(
    "largest difference between all heads at once and the loop: "
    f"{(at_once - in_a_loop).abs().max():.1e}"
)

# %% [markdown]
# ## Summary
#
# - Attention computes a new vector for each word: dot products, division by √d, softmax over the keys, weighted sum of the values.
# - Scores of random vectors have variance d. Without scaling, one word has nearly all the weight.
# - With word vectors as queries and keys, words attend to themselves. Learned projections let them attend to *relevant* words.
# - The mask is applied before the softmax.
# - Cross-entropy is entropy plus KL divergence. Training can lower only the KL divergence.
# - Heads are slices of the projections, not of the input.
# - The average of all words is a strong baseline. Selecting words helps where others should be ignored.
# - Attention does not see the order of the words; notebook 03 adds their positions.

# %% [markdown]
# ## References
#
# - Baan, J. (2026). Fix several bugs, one critical. github.com/jsbaan/transformer-from-scratch/pull/6.
# - FuxiCTR (2022). MultiHeadAttention bug when num_heads is greater than 1. github.com/reczoo/FuxiCTR/issues/30.
# - Jain, S. and Wallace, B. C. (2019). Attention is not Explanation. *NAACL-HLT*, 3543–3556. arXiv:1902.10186.
# - Pennington, J., Socher, R. and Manning, C. D. (2014). GloVe: global vectors for word representation. *EMNLP*, 1532–1543.
# - Student (1908). The probable error of a mean. *Biometrika* 6(1), 1–25.
# - Vaswani, A. et al. (2017). Attention is all you need. *NIPS* 30. arXiv:1706.03762. Section 3.2.1, footnote 4, has the argument for scaling.
# - Wiegreffe, S. and Pinter, Y. (2019). Attention is not not Explanation. *EMNLP-IJCNLP*, 11–20. arXiv:1908.04626.

# %% [markdown]
# Next: [03 · The transformer layer](../03_transformer_layer/03_transformer_layer.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
