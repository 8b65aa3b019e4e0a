# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · One vector per word
#
# For most of the 2010s, programs represented each word by a single vector from a table. The table was learned from plain text alone, and it worked well enough to be used in most systems that processed language. In this notebook we build such a table in two ways, analyse the vector of an ambiguous word, and find out which distinctions the table cannot make. This limitation is the reason for all the notebooks that follow.
#
# **You need** Python, a little PyTorch (indexing, `sum`, `@`) and logarithms. **Time** about 85 minutes: eight exercises
# and two questions. The section *Further* adds two exercises for extra credit.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · next: [02 · Attention, step by step](../02_attention/02_attention.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - turn counts of neighbouring words into vectors, and compare vectors by the angle between them;
# - test vectors against people's ratings of word pairs, with a rank correlation and its confidence interval;
# - write the loss of word2vec, train the model, and compare its loss with the lowest possible loss;
# - show by measurement that the vector of an ambiguous word is a mixture of its senses;
# - determine from one number whether vectors depend only on the word, f(w), or also on its context, f(w, C);
# - explain when an average of the surrounding words reveals a sense, and when it cannot.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal

# %% tags=["demo"]
from coursekit.pictures import (
    static_embeddings as pictures, static_findings, static_further, static_ratings,
)
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)  # small matrices are faster on one thread

# %% [markdown]
# In each exercise you write a function, and the next cell checks it. If your function is wrong, the check explains the error. If you are stuck, run `hint("static.ppmi")` in a new cell; each further call gives a more detailed hint. Cells with `predict` ask you to commit to a number before you see the result. Predictions are not graded.

# %% [markdown]
# ## Five sentences
#
# Two words appear throughout the course: *cell*, which has three senses, and *bank*, which has two. When one word has
# several senses, we speak of **polysemy**. In the sentences below you recognise the intended sense at once. A table with one row per word cannot distinguish the senses, because it has a single row for *cell*.

# %% tags=["demo"]
from coursekit.datasets import read_table

examples = read_table("running_examples/running_examples.csv")
for row in examples.itertuples():
    print(f"{row.sense:14} {row.sentence}")

# %% [markdown]
# A vector that is a function of the word alone, $f(w)$, is called a **static embedding**. A vector that also depends on
# the context $C$, the words around $w$, is a **contextual embedding** (or *contextualised* embedding), $f(w, C)$. This
# notebook is about static embeddings. The timeline shows when each method was published and what was new about it. The numbers in brackets refer to the notebooks of this course.

# %% tags=["demo"]
pictures.timeline(read_table("timeline/timeline.csv"))

# %% [markdown]
# ## 1 · Count the company a word keeps
#
# "You shall know a word by the company it keeps" (Firth 1957). The idea that words with similar meanings occur in similar
# contexts is called the **distributional hypothesis**. We take this hypothesis literally and count the words within two positions of *cell* and of *bank* in our five sentences.

# %% tags=["demo"]
from collections import Counter

company = {"cell": Counter(), "bank": Counter()}
for sentence in examples.sentence:
    words = sentence.split()
    for i, word in enumerate(words):
        if word in company:
            company[word].update(words[max(0, i - 2) : i] + words[i + 1 : i + 3])
for word, neighbours in company.items():
    print(f"{word}: {dict(neighbours)}")

# %% [markdown]
# Five sentences are too few to learn from. This course therefore uses a **generated language**, a small artificial English whose probabilities are known exactly. Its **vocabulary** is fixed, and its sentences, which include our five, are built from topics and templates. The next cell prints six of its sentences. From a sample of twenty thousand sentences we then build a table of counts. The entry $n(w, c)$ of this table is the number of times that $c$ occurs within four positions of $w$.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
vocabulary, V = language.vocabulary, len(language.vocabulary)
corpus = language.sample(20_000, np.random.default_rng(0), split="train")
print(*(" ".join(corpus.words(i)) for i in range(6)), sep="\n")

# %% tags=["demo", "record"]
def pairs_within(ids: np.ndarray, window: int = 4) -> tuple[Tensor, Tensor]:
    """All pairs (word, neighbour) at most `window` positions apart, in both directions,
    without special tokens."""
    words, neighbours = [], []
    for distance in range(1, window + 1):
        left, right = ids[:, :-distance], ids[:, distance:]
        both = (left >= len(SPECIAL_TOKENS)) & (right >= len(SPECIAL_TOKENS))
        words += [left[both], right[both]]
        neighbours += [right[both], left[both]]
    words, neighbours = np.concatenate(words), np.concatenate(neighbours)
    return torch.from_numpy(words), torch.from_numpy(neighbours)


def count_pairs(words: Tensor, neighbours: Tensor, size: int) -> Float[Tensor, "V V"]:
    """The number of times that each pair occurs."""
    counts = torch.bincount(words * size + neighbours, minlength=size * size)
    return counts.view(size, size).float()


# %% tags=["demo"]
pairs = pairs_within(corpus.ids)
counts = count_pairs(*pairs, V)
river = language.id_of["river"]
static_findings.most_frequent_neighbours("river", counts, language)

# %% [markdown]
# The most frequent neighbour of *river* is *the*, as it is for nearly every noun. A raw count depends on two things: how strongly two words are associated, and how frequent each of them is.
#
# **Predict.** Suppose that a word occurs in 2 % of all pairs and a context word in 5 % of all pairs. If words were paired at random, how many of ten thousand pairs would you expect to consist of these two words? Replace the dots with your number.

# %%
predict("static.chance", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal(
    "static.chance", 10_000 * 0.02 * 0.05
)

# %% [markdown]
# Pointwise mutual information (PMI; Church and Hanks, 1990) compares a count with the count expected by chance:
#
# $$\mathrm{PMI}(w, c) = \ln \frac{n(w, c)}{\text{expected by chance}}, \qquad
# \text{expected} = \frac{n(w)\, n(c)}{N},$$
#
# where $n(w)$ is the sum of row $w$, $n(c)$ is the sum of column $c$, and $N$ is the sum of the whole table. The PMI of a pair is 0 if the pair occurs as often as chance predicts. *Positive* PMI (PPMI) replaces negative values by 0. Pairs that never occurred also have a PPMI of 0, because in a small corpus the absence of a pair is only weak evidence that its two words avoid each other.

# %% nbgrader={"grade": false, "grade_id": "static-ppmi", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    """Positive pointwise mutual information, in nats (natural logarithm).

    counts   the number of times that each word (row) occurred with each context word (column).

    The value of a pair that never occurred is 0, even if its word or its context word never
    occurs at all. (difficulty ●○○, 6 minutes)
    """
    ### BEGIN SOLUTION
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()
    ratio = torch.where(counts > 0, counts / by_chance, 1.0)  # ln 1 = 0
    return ratio.log().clamp(min=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-ppmi-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.ppmi", lambda case: ppmi(case["counts"]))

# %% [markdown]
# In the raw counts, the column of *the* has the largest values, which your function reduces to almost 0. The table on the right is a control. It shows the PPMI after the neighbours have been shuffled, so that every pair is a coincidence.

# %% tags=["demo"]
table = ppmi(counts)
order = torch.randperm(len(pairs[1]), generator=torch.Generator().manual_seed(0))
shuffled_counts = count_pairs(pairs[0], pairs[1][order], V)
shuffled = ppmi(shuffled_counts)

# %% tags=["demo"]
shown = "river canal prisoner inmate blood oxygen".split()
beside = "the a bank toward cell behind red sugar".split()
static_findings.counts_and_ppmi(
    {"counts": counts, "PPMI (nats)": table, "PPMI, neighbours shuffled": shuffled},
    shuffled_counts, language, shown, beside,
)

# %% [markdown]
# ## 2 · Compare two vectors
#
# A row of the table is a vector with one coordinate for each context word. Rare words occur with few other words, so their vectors tend to be short. However, the length of a vector should not decide which words are similar. The cosine compares only the directions of two vectors: it is 1 for the same direction, 0 for a right angle and −1 for opposite directions.
#
# $$\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\, \lVert b \rVert}$$
#
# We need the cosine of every row of one matrix with every row of another.

# %% nbgrader={"grade": false, "grade_id": "static-cosine", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    """The cosine of every row of a with every row of b.

    The cosine of a row of zeros with any row is 0. You may use `F.cosine_similarity`.
    (difficulty ●○○, 5 minutes)
    """
    ### BEGIN SOLUTION
    return F.normalize(a, dim=1) @ F.normalize(b, dim=1).T
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-cosine-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.cosine", lambda case: cosine(case["a"], case["b"]))

# %% [markdown]
# We now turn to real English. GloVe (Pennington, Socher and Manning, 2014) fits word vectors and context vectors so that their dot
# products, up to a constant for each word, approximate the logarithms of co-occurrence counts. The vectors that we use have 50
# dimensions and were trained by the authors of GloVe on six billion words of Wikipedia and newswire.
#
# **Predict** the cosine of *bank* and *river* in GloVe. We will compare it with the cosines of random pairs of words.

# %%
predict("static.bank_river", ...)

# %% tags=["demo"]
from coursekit.vectors import load_glove

glove = load_glove(top=100_000)
chosen = "bank money deposit loan river shore fishing".split()
similarity = cosine(glove.of(chosen), glove.of(chosen))
reveal("static.bank_river", similarity[0, 4].item())

# %% tags=["demo"]
chance = cosine(*static_findings.random_pairs(glove)).diagonal()
static_findings.cosines_of_bank(chosen, similarity, chance)

# %% [markdown]
# ## 3 · The nearest words
#
# The quickest way to inspect a table of vectors is to list the nearest neighbours of a word. Two details determine whether the list is useful. First, every word is its own nearest neighbour, so the query has to be excluded. Second, a ranking by dot product would favour long vectors, even if they point in a different direction.

# %% nbgrader={"grade": false, "grade_id": "static-nearest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    """The k words with the highest cosine to the word in row `query`, excluding this word.

    Returns the row numbers of these words, the most similar first. Another row with the same
    vector is a neighbour like any other; the cosine of a row of zeros is 0.
    (difficulty ●○○, 5 minutes)
    """
    ### BEGIN SOLUTION
    similarity = cosine(vectors[[query]], vectors).squeeze(0)
    similarity[query] = -torch.inf
    return similarity.topk(k).indices
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-nearest-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.nearest", lambda case: nearest(case["vectors"], case["query"], case["k"]))

# %% [markdown]
# *cell* has three senses in our sentences. **Predict:** how many of its 30 nearest words in GloVe are also among the 300
# nearest words of *prison*?

# %%
predict("static.cell_prison", ...)

# %% tags=["demo"]
def neighbours(word: str, k: int) -> list[str]:
    return [glove.words[i] for i in nearest(glove.vectors, glove.index[word], k)]


around_cell = neighbours("cell", 30)
print("bank:", ", ".join(neighbours("bank", 12)))
print("cell:", ", ".join(around_cell[:12]))

# %% tags=["demo"]
shared = static_findings.near_both(
    around_cell, ("tissue", "phone", "prison", "opera"), neighbours
)
reveal("static.cell_prison", len(shared["prison"]))
static_findings.neighbours_of_cell(shared)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
groups = {
    "prison": "prison jail inmate prisoner warden guard convict".split(),
    "biology": "blood protein tissue nucleus membrane organism molecule".split(),
    "phone": "phone telephone mobile wireless laptop cellular handset".split(),
}
members = {name: glove.of(words) for name, words in groups.items()}
to_group = {name: cosine(glove.of(["cell"]), vectors).mean().item() for name, vectors in members.items()}
among = {name: cosine(vectors, vectors) for name, vectors in members.items()}
within = {name: pair[pair < 0.9999].mean().item() for name, pair in among.items()}  # without pairs of a word with itself

unit = F.normalize(torch.cat([*members.values(), glove.of(["cell"])]), dim=1)
centred = unit - unit[:-1].mean(dim=0)
axes_of_most_spread = torch.linalg.svd(centred[:-1], full_matrices=False).Vh[:2]
plane = centred @ axes_of_most_spread.T

# %% tags=["demo"]
static_findings.cell_among_groups(plane, groups, to_group, within, chance.mean().item())

# %% [markdown]
# ### A contest: which word moved furthest?
#
# A word vector reflects the texts from which it was learned. GloVe was learned from recent texts. For this course we have also trained word2vec, which the next section explains, on 82 novels from 1839 to 1927 ([model card](../../data/models/novels_skipgram.md)). Take the ten words that are nearest to *cell* in the novels. How near are these ten words to *cell* in GloVe? We rank all words that occur in both tables by their cosine with *cell* in GloVe, and take the median rank of the ten words. The larger this median rank is, the further the word has **moved**.

# %% [markdown]
# **Predict** first: on average over frequent words, how many of the ten nearest words in the novels are also among the ten nearest words in GloVe?

# %%
predict("static.moved", ...)

# %% [markdown]
# Now enter your own candidates in `YOUR_WORDS` and run the next cells. The word that has moved furthest wins. A candidate must be among the 8,000 most frequent words of the novels and among the 20,000 most frequent words of GloVe, because rare words have unreliable vectors.

# %% tags=["demo"]
from coursekit.novels.shipped import load_skipgram

YOUR_WORDS = "cell mouse gay telephone"
novel_words, novel_vectors = load_skipgram()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
in_novels_at = {word: i for i, word in enumerate(novel_words)}
common_words = [word for word in novel_words if word in glove.index and word.isalpha()]
two_corpora = {
    "in novels": F.normalize(novel_vectors[[in_novels_at[word] for word in common_words]], dim=1),
    "in GloVe": F.normalize(glove.vectors[[glove.index[word] for word in common_words]], dim=1),
}
place_of = {word: i for i, word in enumerate(common_words)}
frequent_in_both = [place_of[word] for word in novel_words[:8000] if word in place_of and glove.index[word] < 20_000]


def neighbours_in(vectors: Float[Tensor, "V D"], word: str, k: int) -> list[str]:
    if word not in place_of:
        return ["not in both tables"]
    return [common_words[i] for i in nearest(vectors, place_of[word], k)]


def ten_nearest_and_move(rows: list[int]) -> tuple[Int[Tensor, "2 n 10"], Float[Tensor, " n"]]:
    """The ten words nearest to each row in each table, and the median GloVe rank of the ten words from the novels."""
    nearest_words, medians = [], []
    for some in torch.tensor(rows).split(500):
        there, here = (vectors[some] @ vectors.T for vectors in two_corpora.values())
        for similarity in (there, here):
            similarity[torch.arange(len(some)), some] = -torch.inf
        ten = there.topk(10).indices
        ranks = [(here > here.gather(1, one.unsqueeze(1))).sum(dim=1, dtype=torch.int32) + 1 for one in ten.T]
        medians.append(torch.stack(ranks).float().quantile(0.5, dim=0))
        nearest_words.append(torch.stack([ten, here.topk(10).indices]))
    return torch.cat(nearest_words, dim=1), torch.cat(medians)


print("This takes a few seconds.")
(in_the_novels, today), moved = ten_nearest_and_move(frequent_in_both)
ranks_of = {common_words[i]: rank for i, rank in zip(frequent_in_both, moved.tolist())}
same_word, other_word = (
    (in_the_novels.unsqueeze(2) == ten.unsqueeze(1)).any(dim=2).float().mean(dim=1).numpy() for ten in (today, today.roll(1, 0))
)
reveal("static.moved", 10 * same_word.mean())

# %% tags=["demo"]
static_findings.contest(
    YOUR_WORDS, ranks_of, two_corpora, neighbours_in, same_word, other_word
)

# %% [markdown]
# In the novels a *cell* is a room and *gay* means merry, whereas a *mouse* is an animal in both tables. The tables also differ in the training method and in the amount of text, so even a word whose meaning has not changed appears to have moved a little.

# %% [markdown]
# ### Do the cosines agree with people?
#
# So far we have judged the vectors by eye. The standard test compares them with people's ratings of word pairs: if the vectors are good, pairs with high ratings have high cosines. Such a test of the vectors themselves is called an **intrinsic evaluation**. In WordSim-353 (Finkelstein et al., 2002) people rated how closely two words are **related**. In SimLex-999 (Hill, Reichart and Korhonen, 2015) they rated how **similar** the words are. *Coffee* and *cup*, for example, are closely related, but a cup is not similar to coffee.

# %% tags=["demo"]
from coursekit.word_pairs import load_rated_pairs

rated = load_rated_pairs()
static_ratings.examples(rated)

# %% [markdown]
# Ratings and cosines are on different scales, so we compare only their order. The **Spearman correlation** is the correlation of the ranks (Spearman, 1904). Equal values share the mean of the ranks that they occupy together. In the example below, the two pairs with the rating 7.4 occupy ranks 2 and 3:
#
# | rating | 7.4 | 1.6 | 7.4 | 9.0 |
# |:--|--:|--:|--:|--:|
# | rank | 2.5 | 1 | 2.5 | 4 |
#
# A pair with a word that has no vector has no cosine. We leave such pairs out and report how many there are.

# %% nbgrader={"grade": false, "grade_id": "static-word_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
from scipy.stats import spearmanr


def word_similarity(
    vectors: Float[Tensor, "V D"], pairs: Int[Tensor, "n 2"], ratings: Float[Tensor, " n"]
) -> float:
    """Spearman's correlation between the cosines of pairs of words and people's ratings.

    vectors  the vector of each word.
    pairs    the row numbers of the two words of each pair, or −1 for a word without a vector.

    Leave out every pair with a −1 before you compute the ranks. Equal values share the mean of
    their ranks. You may use `spearmanr` from scipy, which ranks equal values in this way; the
    attribute `statistic` of its result is the correlation. (difficulty ●●○, 7 minutes)
    """
    ### BEGIN SOLUTION
    known = (pairs >= 0).all(dim=1)
    first, second = vectors[pairs[known]].unbind(dim=1)
    similarity = F.cosine_similarity(first, second, dim=1)
    return float(spearmanr(similarity, ratings[known]).statistic)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-word_similarity-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.word_similarity", lambda case: word_similarity(
    case["vectors"], case["pairs"], case["ratings"]
))

# %% tags=["demo"]
agreement = {
    name: word_similarity(glove.vectors, pairs.rows(glove.index), pairs.ratings)
    for name, pairs in rated.items()
}
print(f"relatedness, WordSim-353: {agreement.get('WordSim-353', np.nan):.2f}")

# %% [markdown]
# **Predict** Spearman's correlation between the same vectors' cosines and the ratings of *similarity* in SimLex-999.

# %%
predict("static.simlex", ...)

# %% tags=["demo"]
reveal("static.simlex", agreement.get("SimLex-999", np.nan))
static_ratings.agreement(rated, glove, agreement)

# %% [markdown]
# In GloVe, the cosine agrees with people's judgements of relatedness much better than with their judgements of similarity. The two data sets differ in their instructions, but they also contain different pairs. The few pairs that occur in both data sets show the effect of the instructions alone.

# %% tags=["demo"]
static_ratings.related_or_similar(rated, glove)

# %% [markdown]
# An intrinsic evaluation is mostly used to compare two tables. Is GloVe better than the vectors from the novels? The next table compares them on the pairs for which both have vectors. For the interval we resample the pairs, and evaluate both tables on the same resampled pairs.

# %% tags=["demo"]
static_ratings.two_tables_of_vectors(rated, glove, novel_words, novel_vectors)

# %% [markdown]
# Judged by relatedness, GloVe is clearly better. Judged by similarity, the two tables cannot be distinguished, although GloVe was learned from far more text. Which table is better therefore depends on what people were asked. (The tables also differ in their training method, in the number of dimensions and in the size of the window. This comparison does not show which difference matters.)

# %% [markdown]
# ## 4 · Learn the vectors: word2vec
#
# A PPMI vector has one coordinate for each word. Word2vec (Mikolov et al., 2013a, b) learns shorter vectors. Its labels come from the text itself; such learning is called **self-supervised**. Take a pair of words that actually occurred, *center* and *context*, and $k$ *negatives*, which are words drawn at random. The model scores each pair by a dot product and uses σ(score) as the probability that the pair is real. The loss is the sum of $k + 1$ binary *cross-entropies*, the negative logarithms of the probabilities of the correct answers:
#
# $$\ell = -\ln \sigma(u \cdot v) - \sum_{i=1}^{k} \ln \sigma(-u \cdot n_i)$$
#
# Here $u$ is the vector of *center*, $v$ is the vector of *context*, and the $n_i$ are the vectors of the negatives. This model is called **skip-gram** with **negative sampling**.

# %% tags=["demo"]
pictures.skip_gram(
    "the prisoner sat in a dark cell".split(), 6, 4, "canal the sugar opened cheese".split()
)

# %% nbgrader={"grade": false, "grade_id": "static-sgns_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"],
    negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    """The loss of skip-gram with negative sampling, in nats.

    Take the sum over the k negatives and the mean over the batch. The loss must stay finite
    for scores of ±200. Autograd must be able to differentiate the result.
    (difficulty ●●○, 8 minutes; Mikolov et al. 2013b, equation 4)
    """
    ### BEGIN SOLUTION
    true = (center * context).sum(dim=1)  # B
    noise = (negatives * center.unsqueeze(1)).sum(dim=2)  # B k
    return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-sgns_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("static.sgns_loss", lambda case: sgns_loss(
    case["center"], case["context"], case["negatives"]
), gradients=True)

# %% [markdown]
# Before training, all vectors and therefore all scores are close to zero. **Predict** the loss of the untrained model with
# $k = 5$ negatives, in nats. (σ(0) is one half.)

# %%
predict("static.untrained", ...)

# %% [markdown]
# The training loop consists of a few lines. Each word has two vectors, one as *center* and one as *context*; after training we keep the *center* vectors. Negatives are drawn with probabilities proportional to the counts raised to the power ¾ (see *Further*). Fifteen hundred steps take about five seconds.

# %% tags=["demo", "record"]
from coursekit.vectors import SkipGram  # its fields: word, context, losses


def train_skip_gram(
    ids: np.ndarray, size: int, D: int = 50, k: int = 5, steps: int = 1500, batch: int = 2048,
    seed: int = 0
) -> SkipGram:
    """Skip-gram vectors for the ids below `size`, trained on the sentences `ids`."""
    rng = torch.Generator().manual_seed(seed)
    words, neighbours = pairs_within(ids)
    noise = torch.bincount(words, minlength=size).float() ** 0.75
    word, context = (
        (0.1 * torch.randn(size, D, generator=rng)).requires_grad_() for _ in range(2)
    )
    optimiser = torch.optim.Adam([word, context], lr=0.02)
    to_zero = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=steps)
    losses = []
    for _ in range(steps):
        rows = torch.randint(len(words), (batch,), generator=rng)
        drawn = torch.multinomial(noise, batch * k, replacement=True, generator=rng)
        drawn = drawn.view(batch, k)
        loss = sgns_loss(word[words[rows]], context[neighbours[rows]], context[drawn])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        to_zero.step()
        losses.append(loss.item())
    return SkipGram(word.detach(), context.detach(), losses)


# %% [markdown]
# How low can the loss become? Suppose that every pair could have an arbitrary score. The best score of a pair corresponds to a probability of $p/(p + k q)$ that the pair is real, where $p$ is its share of the true pairs and $q$ is its share of the noise. Even with these scores the loss is not 0, because the same pair can occur in the text and among the negatives. The remaining uncertainty is an *entropy*, and any loss beyond this entropy is a *KL divergence*.

# %% tags=["demo", "record"]
def best_possible(
    counts: Float[Tensor, "V V"], k: int = 5
) -> tuple[float, Float[Tensor, "V V"]]:
    """The lowest loss that any scores can reach on these pairs, and the scores with this
    loss."""
    share = counts / counts.sum()
    noise = counts.sum(1) ** 0.75 / (counts.sum(1) ** 0.75).sum()
    fake = k * share.sum(1, keepdim=True) * noise
    belief = share / (share + fake)
    loss = -(
        torch.xlogy(share, belief).nansum() + torch.xlogy(fake, 1 - belief).nansum()
    ).item()
    return loss, (share / fake).log()

# %% tags=["demo"]
print("This takes five to ten seconds.")
best_loss, best_scores = best_possible(counts)
static = train_skip_gram(corpus.ids, V)
reveal("static.untrained", static.losses[0])
print(
    f"loss of the untrained model {static.losses[0]:.2f} nats, of the trained model "
    f"{np.mean(static.losses[-100:]):.2f} nats, lowest possible loss {best_loss:.2f} nats"
)

# %% [markdown]
# At the optimum the score of a pair is $\ln (p / k q)$. This is the PMI of the pair minus $\ln k$, with the noise distribution in place of the frequency of the context word. Word2vec therefore factorises a table that is closely related to your PPMI table, in 50 dimensions (Levy and Goldberg, 2014). In the right panel of the figure, each point is a pair of words that occurred at least five times.

# %% tags=["demo"]
static_findings.learned_scores(static, best_scores, best_loss, counts)

# %% [markdown]
# Both the number of dimensions and the number of steps matter. With 10 dimensions, or with a third of the steps, the learned scores are farther from the best scores. With four times as many steps, the gap in the loss is about halved, for 50 dimensions as well as for 200. The learned scores therefore approach the scores computed from counts, but only slowly: even the highest correlation, 0.97, leaves more than 6 % of the variance unexplained.

# %% tags=["demo"]
untrained = torch.randn(V, 50, generator=torch.Generator().manual_seed(0))
static_findings.neighbours_by_vectors(
    {"trained": static.word, "untrained": untrained},
    nearest, ("river", "oxygen", "guard", "cell", "bank"), language,
)

# %% [markdown]
# The neighbours of *river*, *oxygen* and *guard* belong to the same topic as the word itself. The neighbours of *cell* and *bank* belong to several topics, or to the topic that happened to dominate. This is not a failure of training, because a static embedding has to represent the word in every sentence.

# %% [markdown]
# ## 5 · Find the bug
#
# Word2vec has a second model, CBOW, which predicts the *target* word from the **average** of the context words around it. Its loss is your `sgns_loss` with this average in place of `center`. CBOW was long thought to be the weaker of the two models. In 2021 İrsoy, Benton and Stratos found the reason: an incorrect hand-written gradient in the original C program, which Gensim had inherited. The following two lines are from `word2vec.c` (© Google, Apache 2.0). The first line turns `neu1` into the average of the vectors of `cw` words, and the second line updates the vector of each of these words:
#
# ```c
# for (c = 0; c < layer1_size; c++) neu1[c] /= cw;
# for (c = 0; c < layer1_size; c++) syn0[c + last_word * layer1_size] += neu1e[c];
# ```
#
# The next cell contains the same computation in PyTorch, including the error, and the gradient according to autograd.

# %% tags=["demo"]
def cbow_gradient_as_in_word2vec(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts)


def gradient_by_autograd(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    # the sum over the examples
    loss = len(contexts) * sgns_loss(contexts.mean(dim=1), target, negatives)
    return torch.autograd.grad(loss, contexts)[0]


# %% [markdown]
# **Predict.** A window contains 4 context words. By what factor does the hand-written gradient differ from autograd's gradient?

# %%
predict("static.cbow_factor", ...)

# %% tags=["demo"]
rng = torch.Generator().manual_seed(0)
window = [torch.randn(*shape, generator=rng) for shape in ((8, 4, 20), (8, 20), (8, 5, 20))]
ratio = cbow_gradient_as_in_word2vec(*window) / gradient_by_autograd(*window)
reveal("static.cbow_factor", ratio.median().item())
print(
    f"word2vec.c ÷ autograd, over all {ratio.numel()} values: from {ratio.min():.3f} to "
    f"{ratio.max():.3f}"
)

# %% nbgrader={"grade": false, "grade_id": "static-cbow_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"],
    negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    """The gradient of each example's loss with respect to each of its C context words (the
    code above without the error).

    The loss of an example is −ln σ(hidden · target) − Σ ln σ(−hidden · negative), where hidden
    is the average of its context words. The gradient points uphill, and it does not depend on
    the other examples of the batch. (difficulty ●●○, 6 minutes; İrsoy, Benton and Stratos
    2021)
    """
    ### BEGIN SOLUTION
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-cbow_gradient-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.cbow_gradient", lambda case: cbow_gradient(
    case["contexts"], case["target"], case["negatives"]
))

# %% tags=["demo"]
static_findings.gradients_compared(
    cbow_gradient_as_in_word2vec, cbow_gradient, gradient_by_autograd, rng
)

# %% [markdown]
# The hand-written gradient is too large by a factor equal to the number of context words. If this number were constant, the error would only rescale the learning rate. However, windows are shorter at the edges of a sentence, and word2vec draws their size at random, so the step size varies from window to window. (In Gensim's issue 1873 a maintainer defended the missing division as a deliberate choice, but without the division the steps no longer follow the gradient of the loss.) Before you trust a gradient that was derived by hand, always compare it with autograd's gradient on random numbers.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [A gradient that is too large by the width of the window](../../docs/bugs/01_gradient_of_cbow.md).

# %% [markdown]
# ## 6 · What is in the vector of an ambiguous word?
#
# In our artificial English, unlike in a newspaper, we can look up the sense of every occurrence of *cell*. We mark the sense in one half of the corpus (*cell* becomes *cell#prison*, *cell#biology* or *cell#phone*), leave the other half unchanged, and train one model on both halves. The word *cell* and its three senses then have vectors in the same space, although they were learned from different sentences.
#
# If the vector of the word is a mixture of the vectors of its senses, there are weights $a_s$ with
# $f(\text{cell}) \approx \sum_s a_s\, f(\text{cell}\#s)$. Your function finds the best weights.

# %% nbgrader={"grade": false, "grade_id": "static-sense_mixture", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    """The weights a for which a @ senses is closest to v (in Euclidean distance).

    The weights may be any real numbers: they need not be positive or sum to one. S is smaller
    than D. (difficulty ●●○, 6 minutes)
    """
    ### BEGIN SOLUTION
    return torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-sense_mixture-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.sense_mixture", lambda case: sense_mixture(case["v"], case["senses"]))

# %% [markdown]
# In this language the senses of a word are about equally frequent, which is rarely the case in real texts. From the unchanged half we therefore drop some of the sentences in which an ambiguous word has its first sense; the fraction that we drop differs from word to word. The frequencies of the senses then range from about one in ten to nine in ten, and we can test whether the weights follow the frequencies.

# %% [markdown]
# The next cells decompose the vector of every ambiguous word into the vectors of its senses. As controls, they also decompose each vector into unrelated vectors, once into senses of other words and once into random words.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language.named_senses import with_rarer_senses, with_senses_named


def rebuilt(v: Float[Tensor, " D"], vectors: Float[Tensor, "S D"], weights: Float[Tensor, " S"]) -> float:
    """The cosine of a vector with a weighted sum of other vectors."""
    return cosine(v[None], (weights @ vectors)[None]).item()


def take_apart(model: SkipGram, word: int, frequency: dict[int, float], controls: dict[str, list[int]]) -> dict:
    """How well the vector of a word can be rebuilt from the vectors of its senses, {id: frequency}, and from control vectors."""
    v, senses, p = model.word[word], model.word[list(frequency)], torch.tensor(list(frequency.values()))
    weights = sense_mixture(v, senses)
    row = {"frequency": p.tolist(), "weights": weights.tolist()}
    for name, a in (("weighted by frequency", p), ("plain average", torch.ones(len(p))), ("best weights", weights)):
        row[name] = rebuilt(v, senses, a)
    for name, ids in controls.items():
        row[name] = rebuilt(v, model.word[ids], sense_mixture(v, model.word[ids]))
    row["among the senses"] = cosine(senses, senses)[~torch.eye(len(p), dtype=torch.bool)].mean().item()
    return row


def measure_mixtures(language, seed: int) -> list[dict]:
    """Train on one half with plain words and one half with named senses, then decompose the vector of every ambiguous word."""
    rng, V = np.random.default_rng(seed), len(language.vocabulary)
    sentences = language.sample(40_000, rng, split="train")
    plain = with_rarer_senses(language, sentences[:20_000], rng)
    named, id_of = with_senses_named(sentences[20_000:], first_id=V)
    model = train_skip_gram(np.concatenate([plain.ids, named]), V + len(id_of), seed=seed)

    written, rows = plain.ids[np.arange(len(plain)), plain.position], []  # the ambiguous words as they occur
    for word in sorted({word for word, _ in id_of}):
        here = plain.sense[written == word]
        senses = {i: np.sum(here == sense) for (w, sense), i in id_of.items() if w == word}
        frequency = {i: float(n / sum(senses.values())) for i, n in senses.items()}
        own = {sense for w, sense in id_of if w == word}
        others = {"senses of other words": [i for (_, sense), i in id_of.items() if sense not in own],
                  "random words": np.setdiff1d(plain.ids[plain.ids >= len(SPECIAL_TOKENS)], written)}
        controls = {name: rng.choice(ids, len(senses), replace=False) for name, ids in others.items()}
        rows.append(take_apart(model, word, frequency, controls))
    return rows


# %% [markdown]
# **Predict.** Average the vectors of a word's senses, weighted by the frequency of each sense. What is the cosine of this average with the vector of the word? For comparison we also compute the cosine of the word's vector with the best mixture of the same number of random words, and with the best mixture of senses of *other* ambiguous words. Another value for comparison is the mean cosine among the senses themselves.

# %%
predict("static.mixture", ...)

# %% tags=["demo"]
print("This takes five to ten seconds.")
mixtures = measure_mixtures(language, seed=0)               # one entry per ambiguous word
reveal("static.mixture", np.mean([row["weighted by frequency"] for row in mixtures]))
static_findings.mixtures_of_senses(mixtures)

# %% [markdown]
# **Claim and measurement.** Arora et al. (2018) merge pairs of words into artificial words and report similar results: the vectors add up linearly, and the weight of the rarer meaning decreases only with the logarithm of the frequency ratio. All senses are in the vector, but the vector cannot show which of them is meant in a given sentence.

# %% [markdown]
# Does the vector of a word also mix its senses in *real* English? In real texts the senses are not labelled. However, we can merge two words and replace every *silver* and every *gold* by `silver|gold`. The result is a word with two senses, and the original text shows which sense is meant at each position. Such a word is called a **pseudo-word** (Schütze 1998).
#
# We merged 68 pairs of nouns in one half of the text of 82 English novels and left the other half unchanged ([data/novels](../../data/novels/README.md)). Again we dropped some occurrences of one word of each pair. This word therefore accounts for between one tenth and nine tenths of the occurrences of the merged word.

# %% tags=["demo"]
static_findings.mixtures_in_novels(read_table("results/01_novels_mixture.csv"))

# %% [markdown]
# ## 7 · f(w) against f(w, C)
#
# A single number shows whether vectors distinguish senses. Take many occurrences of one word in different sentences, with a vector for each occurrence. If the vectors reflect the sense, pairs with the same sense have a higher mean cosine than pairs with different senses. We call the difference of these two means the *separation* and will measure it for every model of the course.

# %% nbgrader={"grade": false, "grade_id": "static-separation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """The mean cosine of pairs of occurrences with the same sense, minus the mean cosine of
    pairs with different senses.

    h        one vector for each occurrence of a word.
    senses   the sense of each occurrence: any integer, possibly negative. Both kinds of pair
    occur.

    A pair consists of two different occurrences, whose vectors may be equal. The cosine with a
    vector of zeros is 0. Within each mean, all pairs have the same weight, however frequent
    their senses are. (difficulty ●●○, 7 minutes)
    """
    ### BEGIN SOLUTION
    similarity = cosine(h, h)
    same = senses.unsqueeze(0) == senses.unsqueeze(1)
    itself = torch.eye(len(h), dtype=torch.bool)
    return similarity[same & ~itself].mean() - similarity[~same].mean()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-separation-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("static.separation", lambda case: separation(case["h"], case["senses"]))

# %% [markdown]
# **Predict** the separation of your static vectors, measured on the occurrences of *cell*. Run the code cell below to see the choices.

# %%
NONE, BELOW, ABOVE = (
    "exactly 0",
    "below 0: pairs with the same sense are less similar",
    "above 0: training has separated the senses",
)
predict("static.separation", ..., choices=(NONE, BELOW, ABOVE))

# %% [markdown]
# We compare the static embedding with the simplest contextual embedding. It requires no further training, because it averages the static vectors of the *other* words in the sentence. A representation like this one, which ignores word order, is called a **bag of words**. One version averages only the words before the ambiguous word, and the other version averages the words on both sides.
#
# Every model in the course takes the same test on held-out sentences. There are four kinds of questions, depending on what reveals the sense:
# - a word before the ambiguous word;
# - only a word after it;
# - only the *order* of the words, in a sentence of one clause;
# - only their order, in a sentence of two clauses.

# %% tags=["demo", "record"]
from coursekit.exam import (
    QUESTIONS, Accuracy, Exam, ambiguous_words, bounds, nearest_hits, nearest_sense, sense_exam
)

exam = sense_exam()

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

for kind, what in QUESTIONS.items():
    print(f"{what:22}", *exam.held_out[exam.held_out.cue == kind].words(0))


# %% tags=["demo", "record"]
def average_of_neighbours(
    ids: np.ndarray, position: np.ndarray, vectors: Float[Tensor, "V D"],
    only_before: bool = False
) -> Float[Tensor, "n D"]:
    """f(w, C): the average vector of the words around the ambiguous word, or of the words
    before it."""
    ids, position = torch.from_numpy(ids), torch.from_numpy(position).unsqueeze(1)
    positions = torch.arange(ids.shape[1])
    used = (ids >= len(SPECIAL_TOKENS)) & (
        positions < position if only_before else positions != position
    )
    return (vectors[ids] * used.unsqueeze(2)).sum(1) / used.sum(1, keepdim=True).clamp(min=1)


def one_row(sentences, vectors: Float[Tensor, "V D"]) -> Float[Tensor, "n D"]:
    """f(w): the vector from the table for the ambiguous word of each sentence."""
    return vectors[torch.from_numpy(ambiguous_words(sentences))]


def before_it(sentences, vectors: Float[Tensor, "V D"]) -> Float[Tensor, "n D"]:
    return average_of_neighbours(sentences.ids, sentences.position, vectors, only_before=True)


def around_it(sentences, vectors: Float[Tensor, "V D"]) -> Float[Tensor, "n D"]:
    return average_of_neighbours(sentences.ids, sentences.position, vectors)


representations = {
    "f(w): one vector per word": one_row,
    "f(w, C): average of the words before": before_it,
    "f(w, C): average of the words around": around_it,
}

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def exam_of(vectors: Float[Tensor, "V D"]) -> dict[str, Accuracy]:
    """The test result of each representation, computed from these vectors."""
    return {
        name: nearest_sense(exam, represent(exam.labelled, vectors), represent(exam.held_out, vectors))
        for name, represent in representations.items()
    }

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
held_out, asked = exam.held_out, ambiguous_words(exam.held_out)
separations = {name: {} for name in [*representations, "around, senses shuffled"]}
for word in language.ambiguous:
    rows = np.flatnonzero(asked == language.id_of[word])
    senses = torch.from_numpy(held_out.sense[rows])
    for name, represent in representations.items():
        separations[name][word] = separation(represent(held_out[rows], static.word), senses).item()
    mixed_up = senses[torch.randperm(len(senses), generator=torch.Generator().manual_seed(0))]
    separations["around, senses shuffled"][word] = separation(represent(held_out[rows], static.word), mixed_up).item()
of_cell = separations["f(w): one vector per word"]["cell"]
reveal("static.separation", NONE if abs(of_cell) < 1e-5 else ABOVE if of_cell > 0 else BELOW, because={
    BELOW: "This would require that two occurrences with the same sense are less similar than two with different senses. Here all pairs are equally similar.",
    ABOVE: "All three senses occurred in the training text, but they share a single row of the table. Every occurrence has this row as its vector, so every cosine is 1.",
})

# %% tags=["demo"]
pictures.bars(separations, "separation (difference of cosines)")

# %% [markdown]
# A function of the word alone has a separation of 0, whatever its table contains, because all occurrences have the same vector.
#
# The test works as follows. Each held-out occurrence is assigned the sense of the most similar labelled occurrence; if several are equally similar, the more frequent sense is chosen. With $f(w)$ all occurrences are equally similar, so the prediction is always the most frequent sense of the word. The **scoreboard** starts with two baselines that learn no vectors. *Bag of words* compares the counts of the other words, and *near words* gives a larger weight to nearer words.

# %% tags=["demo"]
scores, limits = exam_of(static.word), bounds()
# three training runs of the cells above
recorded_exams = read_table("results/skip_gram_exam.csv")
for name in scores:
    note = "skip-gram" if name.startswith("f(w):") else "baseline: a bag of skip-gram vectors"
    trainings = recorded_exams[recorded_exams.model == name][list(QUESTIONS)]
    add_row(name, [Accuracy(*shares) for shares in trainings.to_numpy()], note=note)
draw()

# %% tags=["demo"]
static_further.results_of_the_test(scores, limits)

# %% [markdown]
# ### What a bag of words cannot represent
#
# Where only word order reveals the sense, why is the accuracy about one half? The figure shows two sentences of the language, each with the sense of *cell* and its exact probability. We call them *partners*: they contain the same words in a different order, and *cell* has a different sense in each. In this language people act on things that belong to their own topic: a cell that the prisoner paints is in a prison, and a cell that the biologist paints is alive.

# %% tags=["demo"]
static_further.two_partners(
    "the prisoner that the biologist visited painted the cell",
    "the biologist that the prisoner visited painted the cell",
    language, average_of_neighbours, static.word,
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language.partners import partners

ordered = exam.held_out[np.isin(exam.held_out.cue, ["order1", "order2"])]
right_of_question, right_of_partner = (
    nearest_hits(Exam(exam.labelled, asked), around_it(exam.labelled, static.word), around_it(asked, static.word))
    for asked in (ordered, partners(language, ordered))
)

# %% tags=["demo"]
static_further.accuracy_on_partners(right_of_question, right_of_partner, limits)

# %% [markdown]
# ## Questions
#
# **Question 1 · What one vector per word can reveal.** The GloVe vector of *cell* is a mixture of its senses. A network receives only this vector and no information about the other words of the sentence. Can any such network, however deep, find out which sense was meant? What can it find out? What changes if the network also receives the vectors of the other words, and what changes if it receives only their average? Support your answer with numbers from this notebook.

# %% [markdown] nbgrader={"grade": true, "grade_id": "static-reflection-1", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# No. The vector is a function of the word, so it is the same in every sentence. Everything that a network computes from this vector is therefore also the same in every sentence. The network can find out which senses the word *has* and roughly how frequent they are, because the vector is close to a weighted sum of the vectors of its senses: the best mixture of its senses has a cosine of 0.9 or more with the word's vector, whereas the best mixture of random words has a cosine of about 0.3. The network, like f(w), can thus predict the most frequent sense, which is correct for a little less than half of the questions in the test.
#
# With the vectors of the other words, the input depends on the word and on its context. Even the plain average of these vectors reveals nearly every sense in the test if some word reveals the sense and the average covers both sides. If the cue follows the word, an average of the preceding words is no better than predicting the majority sense. Where only the order of the words reveals the sense, the average is correct in half of the cases, because two sentences with the same words have the same average. The information is therefore in the other words and in their order, and the following notebooks bring it into the word's own vector.
#
# *Marking guide.* 1 point: the same input gives the same output, for any network. 1 point: the content of the vector (the senses and their frequencies, with a number). 1 point: the contribution of the context, with a number and its baseline (a remark that an average loses the order is welcome).

# %% [markdown]
# **Question 2 · Why opposites are similar.** Use your `cosine` on GloVe to compare *hot* with *cold*, *warm* and *piano*, and compare one more pair of opposites
# of your choice. Why are opposites so similar? Name one task for which this similarity is harmless and one for which it is harmful.

# %% [markdown] nbgrader={"grade": true, "grade_id": "static-reflection-2", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# Opposites occur in the same contexts: *hot* and *cold* both occur next to *water*, *weather*, *days* and *very*. A vector learned from contexts records which sentences a word can occur in, and opposites can replace each other in nearly all of
# them. Their cosine is therefore far above the cosine of a random pair, and about as high as the cosine of *hot* and *warm*. The vector represents "a temperature", but not which temperature. This similarity is harmless for finding the topic of a text or documents about the weather. It is harmful for classifying opinions (*good* versus *bad*) or for deciding whether two sentences contradict each other.
#
# *Marking guide.* 1 point: measured values, with the unrelated pair for comparison. 1 point: the same contexts lead to
# similar vectors. 1 point: one suitable task of each kind, with a reason.

# %% [markdown]
# ## Further
#
# The exercises in this section earn extra credit.
#
# **Where do negatives come from?** If negatives were drawn in proportion to their frequency, a large share of them would be *the*. If they were drawn uniformly, the rarest word would be drawn as often as *the*. Mikolov et al. (2013b) found that counts raised to the power ¾ work better than both alternatives. If a negative happens to be the context word of its own pair, one step pushes the same score up and down. The authors' program therefore skips such negatives; our training loop does not.

# %% nbgrader={"grade": false, "grade_id": "static-negative_distribution", "locked": false, "schema_version": 3, "solution": true, "task": false}
def negative_distribution(
    counts: Float[Tensor, " V"], power: float, context: Int[Tensor, " B"]
) -> Float[Tensor, "B V"]:
    """For each pair of a batch, the probability that each word is drawn as a negative.

    `context` contains the context word of each pair, which is never drawn as a negative of
    this pair. The probabilities of all other words are proportional to their counts raised to
    the power `power`. Each row sums to one. Powers are positive, so a word that never occurs
    is never drawn. (extra credit, difficulty ●●○, 6 minutes)
    """
    ### BEGIN SOLUTION
    weights = (counts**power).repeat(len(context), 1)  # B V
    weights[torch.arange(len(context)), context] = 0
    return weights / weights.sum(dim=1, keepdim=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-negative_distribution-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false} course={"extra_credit": 1}
check("static.negative_distribution", lambda case: negative_distribution(
    case["counts"], case["power"], case["context"]
))

# %% tags=["demo"]
static_further.probabilities_of_negatives(negative_distribution, corpus.ids, language)

# %% [markdown]
# The smaller the power, the more of the negatives are rare words, and the fewer of them would equal the context word of their pair.

# %% [markdown]
# **Short vectors from counts.** Word2vec factorises a table implicitly, but we can also factorise a table directly. Of all tables of rank 50, the singular value decomposition $U S V^\top$, truncated to 50 dimensions, is closest to your PPMI table. (Deerwester et al. 1990 applied this decomposition to words and documents.) The word vectors would then be the rows of $U S$. We use $U S^{1/2}$ instead, which divides $S$ evenly between words and contexts; Levy, Goldberg and Dagan (2015) found that this works better. GloVe combines counting and learning. Its loss is
#
# $$\sum_{w,c} g(n(w, c))\, \big(u_w \cdot v_c + b_w + b_c - \ln n(w, c)\big)^2 ,$$
#
# summed over the pairs that occur. The function $g$ gives frequent pairs more weight, up to a limit.

# %% tags=["demo"]
U, S, _ = torch.linalg.svd(table)
shortened = U[:, :50] * S[:50] ** 0.5
print("river:", ", ".join(vocabulary[i] for i in nearest(shortened, river, 7)))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
hits_of = {
    name: nearest_hits(exam, *(average_of_neighbours(s.ids, s.position, vectors) for s in (exam.labelled, exam.held_out)))
    for name, vectors in (("skip-gram", static.word), ("U S^½", shortened), ("U S", U[:, :50] * S[:50]))
}
gap = {kind: (hits_of["U S^½"].astype(float) - hits_of["skip-gram"])[exam.held_out.cue == kind] for kind in QUESTIONS}

# %% tags=["demo"]
static_further.averages_compared(hits_of, gap, exam.held_out.cue)

# %% [markdown]
# Where a word reveals the sense, averages of these vectors are almost as accurate as averages of skip-gram vectors, although they require no training. The difference is at most two percentage points. In this test it makes no difference whether we use $U S^{1/2}$ or $U S$. Where only word order reveals the sense, all three averages have an accuracy near one half.

# %% [markdown]
# **Analogies.** *man* is to *king* as *woman* is to … ? Mikolov et al. answered such questions with vectors: the answer is the word nearest to *king* − *man* + *woman*. This method made word vectors famous. One detail is easily overlooked: the three words of the question are not allowed as answers.

# %% nbgrader={"grade": false, "grade_id": "static-analogy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def analogy(
    vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int
) -> Int[Tensor, " k"]:
    """a is to b as c is to …: the k rows with the highest cosine to b − a + c, best first,
    without a, b and c.

    All vectors are scaled to length 1 before they are added; a vector of zeros remains
    unchanged. (extra credit, difficulty ●●○, 6 minutes; Mikolov, Yih and Zweig 2013)
    """
    ### BEGIN SOLUTION
    unit = F.normalize(vectors, dim=1)
    target = unit[b] - unit[a] + unit[c]
    similarity = cosine(target.unsqueeze(0), unit).squeeze(0)
    similarity[[a, b, c]] = -torch.inf
    return similarity.topk(k).indices
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-analogy-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false} course={"extra_credit": 1}
check("static.analogy", lambda case: analogy(
    case["vectors"], case["a"], case["b"], case["c"], case["k"]
))

# %% [markdown]
# Linzen (2016) examined what happens if the question words *are* allowed as answers, and how often the nearest neighbour of *c* alone is the correct answer. We repeat his test with GloVe for four kinds of analogies.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
questions = {
    "capital": "france paris italy rome spain madrid germany berlin japan tokyo russia moscow egypt cairo",
    "gender": "man woman king queen brother sister father mother son daughter uncle aunt husband wife",
    "plural": "cat cats dog dogs car cars house houses bank banks river rivers cell cells",
    "past": "walk walked talk talked play played call called open opened move moved work worked",
}
few = load_glove(top=20_000)  # fewer words are faster; all words of the questions are included
unit = F.normalize(few.vectors, dim=1)
measures = (
    "correct, question words excluded", "correct, nothing excluded",
    "a question word, nothing excluded", "correct: nearest word to c",
)
results, asked_back_of_many = {name: {} for name in measures}, []
for kind, text in questions.items():
    words = torch.tensor([few.index[word] for word in text.split()]).view(-1, 2)
    n = torch.arange(len(words))
    two = torch.cartesian_prod(n, n)[(n[:, None] != n).flatten()]  # every pair of word pairs
    (a, b), (c, d) = words[two[:, 0]].T, words[two[:, 1]].T
    plain = ((unit[b] - unit[a] + unit[c]) @ unit.T).argmax(dim=1)
    answers = torch.cat([analogy(few.vectors, *abc, 1) for abc in torch.stack([a, b, c], dim=1).tolist()])
    simply = torch.cat([nearest(few.vectors, word, 1) for word in c.tolist()])
    asked_back = (plain == a) | (plain == b) | (plain == c)
    of_many = ((unit[b] - unit[a] + unit[c]) @ F.normalize(glove.vectors, dim=1).T).argmax(dim=1)  # among 100,000 words
    asked_back_of_many.append(((of_many == a) | (of_many == b) | (of_many == c)).float().mean().item())
    for name, hits in zip(measures, (answers == d, plain == d, asked_back, simply == d), strict=True):
        results[name][f"{kind}\n{' : '.join(text.split()[:2])}"] = hits.float().mean().item()

# %% tags=["demo"]
static_further.analogies(results, asked_back_of_many, count=len(d))

# %% [markdown]
# ### What else the vectors have learned
#
# Word vectors reflect everything that their training texts contain, including prejudice. Bolukbasi et al. (2016) and Caliskan, Bryson and Narayanan (2017) measured such prejudice by testing, for example, whether an occupation is nearer to *she* or to *he*. We take 30 occupations and seven pairs of words. The
# **lean** of an occupation is its cosine with the first word of a pair (such as *she*) minus its cosine with the second (such as *he*), averaged over the seven pairs. For
# comparison we compute the same value for 2,000 random frequent words. An eighth pair, *female* and *male*, is shown separately.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
OCCUPATIONS = (
    "nurse librarian teacher secretary dancer hairdresser cleaner dentist lawyer baker farmer chef writer physicist engineer programmer "
    "carpenter plumber mechanic pilot soldier judge surgeon professor scientist cashier receptionist midwife architect electrician"
).split()
PAIRS = "she he woman man her his mother father girl boy daughter son sister brother female male".split()


def leans(vectors: Float[Tensor, "n D"]) -> Float[Tensor, "n 8"]:
    """For each pair of words, the cosine with the first minus the cosine with the second."""
    of_pairs = cosine(vectors, glove.of(PAIRS))
    return of_pairs[:, ::2] - of_pairs[:, 1::2]


lean = leans(glove.of(OCCUPATIONS))
at_random = leans(torch.cat(static_findings.random_pairs(glove)))[:, :7].mean(dim=1).quantile(
    torch.tensor([0.025, 0.975])
)

# %% tags=["demo"]
static_further.lean_of_occupations(OCCUPATIONS, lean, at_random)

# %% [markdown]
# The seven pairs agree: in vectors learned from newspapers and an encyclopaedia, *nurse* and *midwife* lean to one side, and *physicist* and *engineer* lean to the other. Most occupations lean no further than random words do. The eighth pair reverses the order, perhaps because writers add *female* where readers would not expect a woman; we have not tested this. A measure of bias should therefore be repeated with other choices of words. Systems that are built on such vectors can inherit these biases.

# %% [markdown]
# ## Summary
#
# - Word vectors can be computed from counts (PPMI) or learned (skip-gram, whose best scores are a shifted PMI).
# - Compare the cosine of two vectors with the cosines of random pairs.
# - Cosines in GloVe agree better with ratings of relatedness than of similarity.
# - The static embedding of a polysemous word mixes its senses; a frequent sense has a larger weight.
# - Static embeddings cannot separate senses: the information is in the other words and their order.
# - A bag of words detects a sense revealed by another word, but not a sense revealed only by word order.
# - Compare a gradient derived by hand with autograd's.
#
# **Next:** notebook 02 introduces attention, in which a word determines how much each of its neighbours contributes.

# %% [markdown]
# ## References
#
# - Arora, Li, Liang, Ma and Risteski (2018). Linear algebraic structure of word senses, with applications to polysemy. *TACL* 6, 483–495.
# - Bolukbasi, Chang, Zou, Saligrama and Kalai (2016). Man is to computer programmer as woman is to homemaker? Debiasing word embeddings. *NIPS* 29. arXiv:1607.06520.
# - Caliskan, Bryson and Narayanan (2017). Semantics derived automatically from language corpora contain human-like biases. *Science* 356, 183–186.
# - Church and Hanks (1990). Word association norms, mutual information, and lexicography. *Computational Linguistics* 16(1), 22–29.
# - Deerwester, Dumais, Furnas, Landauer and Harshman (1990). Indexing by latent semantic analysis. *Journal of the American Society for Information Science* 41(6), 391–407.
# - Finkelstein, Gabrilovich, Matias, Rivlin, Solan, Wolfman and Ruppin (2002). Placing search in context: the concept revisited. *ACM Transactions on Information Systems* 20(1), 116–131.
# - Firth (1957). A synopsis of linguistic theory, 1930–1955. In *Studies in Linguistic Analysis*, 1–32. Blackwell.
# - Hill, Reichart and Korhonen (2015). SimLex-999: Evaluating semantic models with (genuine) similarity estimation. *Computational Linguistics* 41(4), 665–695.
# - İrsoy, Benton and Stratos (2021). Corrected CBOW performs as well as skip-gram. *Workshop on Insights from Negative Results in NLP*, 1–8.
# - Levy and Goldberg (2014). Neural word embedding as implicit matrix factorization. *NIPS* 27.
# - Levy, Goldberg and Dagan (2015). Improving distributional similarity with lessons learned from word embeddings. *TACL* 3, 211–225.
# - Linzen (2016). Issues in evaluating semantic spaces using word analogies. *RepEval*, 13–18.
# - Mikolov, Chen, Corrado and Dean (2013a). Efficient estimation of word representations in vector space. arXiv:1301.3781.
# - Mikolov, Sutskever, Chen, Corrado and Dean (2013b). Distributed representations of words and phrases and their compositionality. *NIPS* 26.
# - Mikolov, Yih and Zweig (2013). Linguistic regularities in continuous space word representations. *NAACL-HLT*, 746–751.
# - Pennington, Socher and Manning (2014). GloVe: Global vectors for word representation. *EMNLP*, 1532–1543.
# - Schütze (1998). Automatic word sense discrimination. *Computational Linguistics* 24(1), 97–123.
# - Spearman (1904). The proof and measurement of association between two things. *American Journal of Psychology* 15, 72–101.

# %% [markdown]
# Next: [02 · Attention, step by step](../02_attention/02_attention.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
