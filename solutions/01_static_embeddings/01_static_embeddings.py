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
# For most of the 2010s, a word went into a program as one vector, looked up in a table. The table was learned from
# nothing but text, and it worked well enough to end up in most systems that handled language. In this
# notebook we build such a table twice, take one apart, and find what it cannot do: the reason for all
# notebooks that follow.
#
# **You need** Python, a little PyTorch (indexing, `sum`, `@`), and logarithms. **Time** about 70 minutes: seven
# exercises, two questions, two extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · next: [02 · Attention, step by step](../02_attention/02_attention.ipynb)

# %% [markdown]
# **You will be able to**
# - turn counts of neighbouring words into vectors, and compare vectors by their angle;
# - write the loss of word2vec and train it, and say how close it came to the best possible loss;
# - show by measurement that the vector of an ambiguous word is a mixture of its senses;
# - tell by one number whether vectors depend on the word alone, f(w), or on its context as well, f(w, C);
# - say what an average of the words around can find out, and what it cannot.

# %%
import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, reveal

# %% tags=["demo"]
from dataclasses import dataclass

import pandas as pd
from IPython.display import Markdown, display

from coursekit.intervals import bootstrap, mean_and_half
from coursekit.pictures import static_embeddings as pictures
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)  # small matrices are faster on one

# %% [markdown]
# Each exercise is a function for you to write, followed by a check. The check says what is wrong, not only that
# something is. When you are stuck, run `hint("static.ppmi")` in a cell of your own: each call gives a little more.
# Cells with `predict` ask you to commit to a number before you see it; nothing is graded there.

# %% [markdown]
# ## Five sentences
#
# Two words stay with us through the whole course: *cell* in three senses, *bank* in two. That one
# word has several senses is called **polysemy**. You never had to stop and
# think which is which. A table with one row per word cannot even ask: it holds one row for *cell*.

# %% tags=["demo"]
from coursekit.datasets import read_table

examples = read_table("running_examples/running_examples.csv")
for row in examples.itertuples():
    print(f"{row.sense:14} {row.sentence}")

# %% [markdown]
# A vector that is a function of the word alone, $f(w)$, is called a **static embedding**. One that also depends on the
# context $C$, the words around it, $f(w, C)$, is a **contextual embedding** (also *contextualised*). This notebook is about the first kind. The figure shows when each kind appeared and what was new;
# the numbers in brackets are the notebooks of this course.

# %% tags=["demo"]
pictures.timeline(read_table("timeline/timeline.csv"))

# %% [markdown]
# ## 1 · Count the company a word keeps
#
# "You shall know a word by the company it keeps" (Firth, 1957). That words of similar meaning occur in similar company is called
# the **distributional hypothesis**. Let us take it literally and count which words stand within two places of *cell* and of *bank* in our five sentences.

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
# Five sentences are too few to learn from, so the course brings a **generated language**, a small artificial English whose probabilities are
# known exactly. Its words are called its **vocabulary**; its sentences are made from topics and templates, our five among them. Here are some, and the
# table of counts from twenty thousand: entry $n(w, c)$ says how often $c$ stood within four places of $w$.

# %% tags=["demo"]
from coursekit.language import SPECIAL_TOKENS, load_language

language = load_language()
vocabulary, V = language.vocabulary, len(language.vocabulary)
corpus = language.sample(20_000, np.random.default_rng(0), split="train")
for i in range(6):
    print(" ".join(corpus.words(i)))

# %% tags=["demo", "record"]
def pairs_within(ids: np.ndarray, window: int = 4) -> tuple[Tensor, Tensor]:
    """Every (word, neighbour) at most `window` places apart, in both directions, without special tokens."""
    words, neighbours = [], []
    for distance in range(1, window + 1):
        left, right = ids[:, :-distance], ids[:, distance:]
        both = (left >= len(SPECIAL_TOKENS)) & (right >= len(SPECIAL_TOKENS))
        words += [left[both], right[both]]
        neighbours += [right[both], left[both]]
    return torch.from_numpy(np.concatenate(words)), torch.from_numpy(np.concatenate(neighbours))


def count_pairs(words: Tensor, neighbours: Tensor, size: int) -> Float[Tensor, "V V"]:
    """How often each pair occurs."""
    return torch.bincount(words * size + neighbours, minlength=size * size).view(size, size).float()


# %% tags=["demo"]
pairs = pairs_within(corpus.ids)
counts = count_pairs(*pairs, V)
river = language.id_of["river"]
most_frequent = counts[river].topk(10)
print(f"{len(pairs[0]):,} pairs of {V:,} words. The company of 'river', by count:")
print(", ".join(f"{vocabulary[i]} {int(n)}" for n, i in zip(*most_frequent)))

# %% [markdown]
# The most frequent companion of *river* is *the*, as it is of nearly every noun. A raw count mixes two things: that
# two words belong together, and that one of them is everywhere.
#
# **Predict.** A word takes part in 2 % of all pairs, a context word in 5 %. If words were thrown together by chance, how
# often would you expect the two of them among ten thousand pairs? Put your number in place of the dots.

# %%
predict("static.chance", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal(
    "static.chance", 10_000 * 0.02 * 0.05
)

# %% [markdown]
# Pointwise mutual information (Church and Hanks, 1990) compares the count with what chance would give:
#
# $$\mathrm{PMI}(w, c) = \ln \frac{n(w, c)}{\text{expected by chance}}, \qquad
# \text{expected} = \frac{n(w)\, n(c)}{N},$$
#
# where $n(w)$ is the sum of row $w$, $n(c)$ that of column $c$, and $N$ that of the whole table. It is 0 for a pair
# that meets as often as by chance. *Positive* PMI (PPMI) sets everything below 0, and every pair that was never
# seen, to 0: from a small corpus, absence says little.

# %% nbgrader={"grade": false, "grade_id": "static-ppmi", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ppmi(counts: Float[Tensor, "word context"]) -> Float[Tensor, "word context"]:
    """Positive pointwise mutual information, in nats (natural logarithm).

    counts   how often each word (row) was seen with each context word (column).

    A pair that was never seen gets 0, also where a word or a context word never occurs at all.
    (difficulty ●○○, 6 minutes)
    """
    ### BEGIN SOLUTION
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()
    ratio = torch.where(counts > 0, counts / by_chance, 1.0)  # ln 1 = 0
    return ratio.log().clamp(min=0)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-ppmi-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.ppmi", lambda case: ppmi(case["counts"]))

# %% [markdown]
# Your function takes *the* down from the strongest column to nearly nothing. The control on the right is the same table
# after shuffling the neighbours, so that every meeting is a matter of chance.

# %% tags=["demo"]
table = ppmi(counts)
order = torch.randperm(len(pairs[1]), generator=torch.Generator().manual_seed(0))
shuffled_counts = count_pairs(pairs[0], pairs[1][order], V)
shuffled = ppmi(shuffled_counts)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
shown = "river canal prisoner inmate blood oxygen".split()
beside = "the a bank toward cell behind red sugar".split()
rows, columns = ([language.id_of[word] for word in some] for some in (shown, beside))
panels = {"counts": counts, "PPMI (nats)": table, "PPMI, neighbours shuffled": shuffled}
pictures.three_tables({title: full[rows][:, columns] for title, full in panels.items()}, shown, beside)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
best = ", ".join(f"*{vocabulary[i]}*" for i in table[river].topk(10).indices)
often = table[counts >= 5].mean(), shuffled[shuffled_counts >= 5].mean()
once = table[counts == 1].mean(), shuffled[shuffled_counts == 1].mean()
display(Markdown(
    f"Ordered by PPMI, the company of *river* is {best}: mostly words of its topic. Among pairs that met at least five times, the "
    f"mean PPMI is {often[0]:.2f} nats, and {often[1]:.2f} once the neighbours are shuffled. Among pairs that met just once it is "
    f"{once[0]:.2f}, and still {once[1]:.2f} after shuffling: PPMI flatters rare words, because for them a single meeting is "
    "already surprising. Each row is now a vector that describes a word by its company."))

# %% [markdown]
# ## 2 · Compare two vectors
#
# A row of the table is an arrow with one coordinate for each context word. A rare word has met few others, so its
# arrow is shorter as a rule, and length should not decide which words are alike. The cosine compares directions only: 1 for the same direction,
# 0 for a right angle, −1 for opposite directions.
#
# $$\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\, \lVert b \rVert}$$
#
# We need it for whole sets of vectors at once: every row of one with every row of the other.

# %% nbgrader={"grade": false, "grade_id": "static-cosine", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine(a: Float[Tensor, "n D"], b: Float[Tensor, "m D"]) -> Float[Tensor, "n m"]:
    """The cosine of every row of a with every row of b.

    A row of zeros has cosine 0 with everything. `F.cosine_similarity` may be used.
    (difficulty ●○○, 5 minutes)
    """
    ### BEGIN SOLUTION
    return F.normalize(a, dim=1) @ F.normalize(b, dim=1).T
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-cosine-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.cosine", lambda case: cosine(case["a"], case["b"]))

# %% [markdown]
# Now real words. GloVe (Pennington, Socher and Manning, 2014) fits vectors so that the dot product of a word's and a
# neighbour's, up to a constant for each, comes close to the logarithm of how often they co-occur. Ours were fitted by its
# authors on six billion words of Wikipedia and news agencies' reports, and have 50 numbers each.
#
# **Predict** the cosine of *bank* and *river* in GloVe. For comparison: two words drawn at random are our control.

# %%
predict("static.bank_river", ...)

# %% tags=["demo"]
from coursekit.vectors import load_glove

glove = load_glove(top=100_000)
chosen = "bank money deposit loan river shore fishing".split()
similarity = cosine(glove.of(chosen), glove.of(chosen))
similarity_of_bank = similarity[0].tolist()
reveal("static.bank_river", similarity_of_bank[4])

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
frequent = glove.vectors[:20_000][torch.randperm(20_000, generator=torch.Generator().manual_seed(0))[:2000]]
chance = cosine(frequent[:1000], frequent[1000:]).diagonal()
print("       " + " ".join(f"{word:>8}" for word in chosen))
for word, line in zip(chosen, similarity):
    print(f"{word:>8}" + " ".join(f"{value:8.2f}" for value in line))
print(f"1000 random pairs of the 20,000 most frequent words: mean {chance.mean():.2f}, 95 % between "
      f"{chance.quantile(0.025):.2f} and {chance.quantile(0.975):.2f}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"*bank* is closer to *money* ({similarity_of_bank[1]:.2f}) and *loan* ({similarity_of_bank[3]:.2f}) than to *shore* "
    f"({similarity_of_bank[5]:.2f}) or *river* ({similarity_of_bank[4]:.2f}). The last cosine is no higher than that of some random pairs: they average {chance.mean():.2f}, and one in forty "
    f"lies above {chance.quantile(0.975):.2f}. News is about one kind of bank more often than about the other, and the single vector "
    "follows the majority. A cosine means little until you know what unrelated words get."))

# %% [markdown]
# ## 3 · The nearest words
#
# The quickest way to look into a table of vectors is to ask for a word's neighbours. Two details decide whether the
# list is worth reading. No word is nearer to a word than itself. And if you rank by the dot product, long vectors
# push to the front, also when they point elsewhere.

# %% nbgrader={"grade": false, "grade_id": "static-nearest", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nearest(vectors: Float[Tensor, "V D"], query: int, k: int) -> Int[Tensor, " k"]:
    """The k words most similar by cosine to the word in row `query`, without that row.

    Returned are their rows, the most similar first. Another row with the same vector is a neighbour like any
    other; a row of zeros has cosine 0.
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
# *cell* has three senses in our sentences. **Predict:** of its 30 nearest words in GloVe, how many are also among the
# 300 nearest words of *prison*?

# %%
predict("static.cell_prison", ...)

# %% tags=["demo"]
def neighbours(word: str, k: int) -> list[str]:
    return [glove.words[i] for i in nearest(glove.vectors, glove.index[word], k)]


around_cell = neighbours("cell", 30)
print("bank:", ", ".join(neighbours("bank", 12)))
print("cell:", ", ".join(around_cell[:12]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
near = {anchor: set(neighbours(anchor, 300)) for anchor in ("tissue", "phone", "prison", "opera")}
shared = {anchor: [word for word in around_cell if word in words] for anchor, words in near.items()}
reveal("static.cell_prison", len(shared["prison"]))
for anchor, words in shared.items():
    print(f"of cell's 30 neighbours near {anchor!r}: {len(words):2}   {', '.join(words[:6])}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Of the 30 words around *cell*, {len(shared['tissue'])} are also around *tissue*, {len(shared['phone'])} around *phone*, and "
    f"{len(shared['prison'])} around *prison*; around *opera*, our control, {len(shared['opera'])}. Every occurrence of *cell* gets these "
    "neighbours, the prisoner's cell, too. The next figure shows where the vector stands among words of its three senses."))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
groups = {
    "prison": "prison jail inmate prisoner warden guard convict".split(),
    "biology": "blood protein tissue nucleus membrane organism molecule".split(),
    "phone": "phone telephone mobile wireless laptop cellular handset".split(),
}
members = {name: glove.of(words) for name, words in groups.items()}
to_group = {name: cosine(glove.of(["cell"]), vectors).mean().item() for name, vectors in members.items()}
among = {name: cosine(vectors, vectors) for name, vectors in members.items()}
within = {name: pair[pair < 0.9999].mean().item() for name, pair in among.items()}  # without a word and itself

unit = F.normalize(torch.cat([*members.values(), glove.of(["cell"])]), dim=1)
centred = unit - unit[:-1].mean(dim=0)
axes_of_most_spread = torch.linalg.svd(centred[:-1], full_matrices=False).Vh[:2]
pictures.stranded("cell", centred @ axes_of_most_spread.T, groups, to_group, within, chance.mean().item())

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"In the plane, *cell* seems stranded between three groups. The bars correct the plane: *cell* is a word of *biology*, as close to it ({to_group['biology']:.2f}) as the words of "
    f"biology are to one another ({within['biology']:.2f}). It is less close to *phone* ({to_group['phone']:.2f} against {within['phone']:.2f}), and "
    f"far from *prison* ({to_group['prison']:.2f} against {within['prison']:.2f}). One vector for three senses: each pulls by how much is "
    "written about. (A plane keeps two of fifty dimensions: read distances off the bars, not off the map.)"))

# %% [markdown]
# ## 4 · Learn the vectors: word2vec
#
# PPMI gives each word as many coordinates as there are words. Word2vec (Mikolov et al., 2013a, b) learns short vectors
# instead. The labels stand in the text itself, nobody has to write them: such learning is called **self-supervised**. Take a pair that really occurred, *center* and *context*, and $k$
# *negatives*: words drawn
# at random. Score each pair by a dot product, turn the score into the probability σ(score) that the pair is real, and
# pay for every wrong belief:
#
# $$\ell = -\ln \sigma(u \cdot v) - \sum_{i=1}^{k} \ln \sigma(-u \cdot n_i)$$
#
# with $u$ the vector of *center*, $v$ that of the true *context*, $n_i$ those of the negatives. This is **skip-gram** with **negative sampling**.

# %% tags=["demo"]
pictures.skip_gram("the prisoner sat in a dark cell".split(), 6, 4, "canal the sugar opened cheese".split())

# %% nbgrader={"grade": false, "grade_id": "static-sgns_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sgns_loss(
    center: Float[Tensor, "B D"], context: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, ""]:
    """The loss of skip-gram with negative sampling, in nats.

    Summed over the k negatives, averaged over the batch. It stays finite for scores of ±200.
    (difficulty ●●○, 8 minutes; Mikolov et al. 2013b, equation 4)
    """
    ### BEGIN SOLUTION
    true = (center * context).sum(dim=1)  # B
    noise = (negatives * center.unsqueeze(1)).sum(dim=2)  # B k
    return -(F.logsigmoid(true) + F.logsigmoid(-noise).sum(dim=1)).mean()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-sgns_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("static.sgns_loss", lambda case: sgns_loss(case["center"], case["context"], case["negatives"]))

# %% [markdown]
# Before training, all vectors are close to zero, so all scores are too. **Predict** the loss of the untrained model
# with $k = 5$ negatives, in nats. (σ(0) is one half.)

# %%
predict("static.untrained", ...)

# %% [markdown]
# The training loop fits in a few lines. Each word has two vectors, one for its role as *center* and one as *context*; we
# keep the first. Negatives are drawn in proportion to count to the power ¾ (an extension below asks why). Fifteen hundred
# steps take some five seconds.

# %% tags=["demo", "record"]
@dataclass
class SkipGram:
    """Trained vectors, and the loss at every step."""

    word: Float[Tensor, "V D"]
    context: Float[Tensor, "V D"]
    losses: list[float]


# %% tags=["demo", "record"]
def train_skip_gram(
    ids: np.ndarray, size: int, D: int = 50, k: int = 5, steps: int = 1500, batch: int = 2048, seed: int = 0
) -> SkipGram:
    """Train on the sentences `ids`, whose entries are below `size`."""
    rng = torch.Generator().manual_seed(seed)
    words, neighbours = pairs_within(ids)
    noise = torch.bincount(words, minlength=size).float() ** 0.75
    word, context = ((0.1 * torch.randn(size, D, generator=rng)).requires_grad_() for _ in range(2))
    optimiser = torch.optim.Adam([word, context], lr=0.02)
    to_zero = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=steps)
    losses = []
    for _ in range(steps):
        rows = torch.randint(len(words), (batch,), generator=rng)
        drawn = torch.multinomial(noise, batch * k, replacement=True, generator=rng).view(batch, k)
        loss = sgns_loss(word[words[rows]], context[neighbours[rows]], context[drawn])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        to_zero.step()
        losses.append(loss.item())
    return SkipGram(word.detach(), context.detach(), losses)


# %% [markdown]
# How low can the loss go? If every pair could have any score it liked, each would choose the one that fits its own
# count. That is the best possible loss on this corpus, and it can be written down. At the optimum a pair is
# believed real with probability $p/(p + k q)$: $p$ is its share of the true pairs, $q$ its share of the noise.

# %% tags=["demo", "record"]
def best_possible(counts: Float[Tensor, "V V"], k: int = 5) -> tuple[float, Float[Tensor, "V V"]]:
    """The lowest loss that any scores reach on these pairs, and those scores."""
    share = counts / counts.sum()
    noise = counts.sum(1) ** 0.75 / (counts.sum(1) ** 0.75).sum()
    fake = k * share.sum(1, keepdim=True) * noise
    belief = share / (share + fake)
    loss = -(torch.xlogy(share, belief).nansum() + torch.xlogy(fake, 1 - belief).nansum()).item()
    return loss, (share / fake).log()

# %% tags=["demo"]
print("This takes five to ten seconds.")
best_loss, best_scores = best_possible(counts)
static = train_skip_gram(corpus.ids, V)
reveal("static.untrained", static.losses[0])
reached = np.mean(static.losses[-100:])
print(f"untrained {static.losses[0]:.2f} nats, trained {reached:.2f}, best possible {best_loss:.2f}")

# %% [markdown]
# At that optimum the score of a pair is $\ln (p / k q)$: its PMI (with the noise's ¾ power in place of the count) minus
# $\ln k$. So word2vec factorises, in 50 dimensions, a close relative of the table that you computed with `ppmi` (Levy and
# Goldberg, 2014). We can look: each point on the right is a pair of words that was seen at least five times.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
seen = (counts >= 5).nonzero()
seen = seen[torch.randperm(len(seen), generator=torch.Generator().manual_seed(0))[:4000]]
optimum = best_scores[seen[:, 0], seen[:, 1]]
score = (static.word[seen[:, 0]] * static.context[seen[:, 1]]).sum(dim=1)
agreement = np.corrcoef(optimum, score)[0, 1]
by_accident = np.corrcoef(optimum, score.flip(0))[0, 1]  # each score beside another pair's optimum
pictures.training(static.losses, 6 * np.log(2), best_loss, optimum, score, agreement, by_accident)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"**Sources say, we measure.** Levy and Goldberg prove that the scores of skip-gram reach PMI − ln k when vectors are long enough. "
    f"With 50 numbers for each of {V:,} words we measure a correlation of {agreement:.2f} (each score beside another pair's optimum: "
    f"{by_accident:.2f}), and a loss {reached - best_loss:.2f} nats above the best possible. Does it hang on the length of the vectors, or on the training? "
    "Recorded (`python -m experiments skip_gram`), three seeds:"))
lengths = read_table("results/skip_gram.csv").groupby(["D", "steps"])
display(pd.DataFrame({
    f"{D} numbers, {steps:,} steps": {
        "correlation with the best scores": "{:.3f} ± {:.3f}".format(*mean_and_half(rows["agreement"])),
        "nats above the best possible": "{:.3f} ± {:.3f}".format(*mean_and_half(rows["above"])),
    } for (D, steps), rows in lengths
}).T)

# %% [markdown]
# It hangs on both. With 10 numbers per word, or with a third of the steps, the scores lie farther from the best ones. Four times 50 numbers still lower the loss, but the correlation hardly moves.
# With enough of both, learning arrives at nearly the table that one can count.

# %% tags=["demo"]
untrained = torch.randn(V, 50, generator=torch.Generator().manual_seed(0))
for word in ("river", "oxygen", "guard", "cell", "bank"):
    for name, vectors in (("trained", static.word), ("untrained", untrained)):
        found = nearest(vectors, language.id_of[word], 7)
        print(f"{word:7} {name:10}", ", ".join(vocabulary[i] for i in found))

# %% [markdown]
# *river*, *oxygen* and *guard* sit among words of their own topic. *cell* and *bank* have company of several kinds, or
# of the kind that happened to win. Nothing is wrong with the training: a static embedding has to serve every sentence.

# %% [markdown]
# ## 5 · Find the bug
#
# Word2vec has a second model, CBOW: it predicts the *target* word from the **average** of the context words around
# it. Its loss is your `sgns_loss` with that average in the place of `center`. CBOW was long thought to be the weaker
# of the two. In 2021 İrsoy, Benton and Stratos traced this to the gradient, written by hand in C, of the original program;
# Gensim had inherited it. Two lines of `word2vec.c` (© Google, Apache 2.0). In the first, `neu1` becomes the average
# of `cw` words; in the second, each of these words is changed:
#
# ```c
# for (c = 0; c < layer1_size; c++) neu1[c] /= cw;
# for (c = 0; c < layer1_size; c++) syn0[c + last_word * layer1_size] += neu1e[c];
# ```
#
# Below is the same computation in PyTorch, error included, beside what autograd says.

# %% tags=["demo"]
def cbow_gradient_as_in_word2vec(contexts, target, negatives):
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts)


def gradient_by_autograd(contexts, target, negatives):
    contexts = contexts.clone().requires_grad_()
    loss = len(contexts) * sgns_loss(contexts.mean(dim=1), target, negatives)  # the sum over examples
    return torch.autograd.grad(loss, contexts)[0]


# %% [markdown]
# **Predict.** A window holds 4 context words. By what factor does the hand-written gradient differ from autograd's?

# %%
predict("static.cbow_factor", ...)

# %% tags=["demo"]
rng = torch.Generator().manual_seed(0)
window = [torch.randn(*shape, generator=rng) for shape in ((8, 4, 20), (8, 20), (8, 5, 20))]
ratio = cbow_gradient_as_in_word2vec(*window) / gradient_by_autograd(*window)
reveal("static.cbow_factor", ratio.median().item())
print(f"word2vec.c ÷ autograd, over all {ratio.numel()} numbers: from {ratio.min():.3f} to {ratio.max():.3f}")

# %% nbgrader={"grade": false, "grade_id": "static-cbow_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cbow_gradient(
    contexts: Float[Tensor, "B C D"], target: Float[Tensor, "B D"], negatives: Float[Tensor, "B k D"]
) -> Float[Tensor, "B C D"]:
    """The gradient of each example's loss with respect to each of its C context words: the code above, mended.

    The loss of an example is −ln σ(hidden · target) − Σ ln σ(−hidden · negative), where hidden is the average
    of its context words. The gradient points uphill; examples do not influence one another.
    (difficulty ●●○, 6 minutes; İrsoy, Benton and Stratos 2021)
    """
    ### BEGIN SOLUTION
    hidden = contexts.mean(dim=1)
    pull = torch.sigmoid((hidden * target).sum(dim=1)) - 1
    push = torch.sigmoid((negatives * hidden.unsqueeze(1)).sum(dim=2))
    error = pull.unsqueeze(1) * target + (push.unsqueeze(2) * negatives).sum(dim=1)
    return error.unsqueeze(1).expand_as(contexts) / contexts.shape[1]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-cbow_gradient-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.cbow_gradient", lambda case: cbow_gradient(case["contexts"], case["target"], case["negatives"]))

# %% tags=["demo"]
for C in (2, 4, 10):
    window = [torch.randn(*shape, generator=rng) for shape in ((8, C, 20), (8, 20), (8, 5, 20))]
    truth = gradient_by_autograd(*window)
    theirs, yours = ((f(*window) / truth).median() for f in (cbow_gradient_as_in_word2vec, cbow_gradient))
    print(f"{C:2} context words: word2vec.c ÷ autograd {theirs:5.2f}, yours ÷ autograd {yours:5.2f}")

# %% [markdown]
# The factor is the number of context words. A constant factor would only be a larger learning rate. But windows are shorter at
# the edges of a sentence, and word2vec draws their size at random, so the step depends on the window. (A
# maintainer of Gensim defended it as a choice, in issue 1873. Then the steps follow another rule than the gradient of the loss.)
# Make it a habit: before you believe a gradient that was derived by hand, compare it with autograd on random numbers.

# %% [markdown]
# ## 6 · What is in the vector of an ambiguous word?
#
# In our artificial English we can do what nobody can do with a newspaper: look up which sense every *cell* has. So we
# write the sense into one half of the corpus (*cell* becomes *cell#prison*, *cell#biology* or *cell#phone*), leave the
# other half as it is, and train once on both. Now *cell* and its three senses have vectors in one space, learned from
# different sentences.
#
# If the vector of the word is a mixture of those of its senses, there are weights with
# $f(\text{cell}) \approx \sum_s a_s\, f(\text{cell}\#s)$. You find the best ones.

# %% nbgrader={"grade": false, "grade_id": "static-sense_mixture", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sense_mixture(v: Float[Tensor, " D"], senses: Float[Tensor, "S D"]) -> Float[Tensor, " S"]:
    """The weights a for which a @ senses comes closest to v (smallest Euclidean distance).

    Any real numbers are allowed: they need not be positive nor sum to one. S is smaller than D.
    (difficulty ●●○, 6 minutes)
    """
    ### BEGIN SOLUTION
    return torch.linalg.lstsq(senses.T, v.unsqueeze(1)).solution.squeeze(1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-sense_mixture-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("static.sense_mixture", lambda case: sense_mixture(case["v"], case["senses"]))

# %% [markdown]
# In this language the senses of a word are about equally frequent, in real texts hardly ever. So in the untouched half
# we drop some sentences of each word's first sense: a few for one word, most for another. Frequencies then range from
# about one in ten to nine in ten, and we can ask whether the weights follow.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def with_senses_named(sentences, first_id: int) -> tuple[np.ndarray, dict[tuple[int, int], int]]:
    """Ids in which each ambiguous word has an id of its own for each sense, and {(word, sense): that id}."""
    ids, rows = sentences.ids.copy(), np.flatnonzero(sentences.position >= 0)
    where = rows, sentences.position[rows]
    found, which = np.unique(np.stack([ids[where], sentences.sense[rows]], 1), axis=0, return_inverse=True)
    ids[where] = first_id + which
    return ids, {(word, sense): first_id + i for i, (word, sense) in enumerate(found.tolist())}


def with_rarer_senses(language, sentences, rng):
    """The sentences without some of those whose word has its first sense: 5 to 90 % of them, word by word."""
    kept_share = np.ones(len(language.senses))
    first = [language.senses.index(senses[0]) for senses in language.ambiguous.values()]
    kept_share[first] = rng.permutation(np.linspace(0.1, 0.95, len(first)))
    return sentences[(sentences.sense < 0) | (rng.random(len(sentences)) < kept_share[sentences.sense])]


# %% [markdown]
# Then we take every ambiguous word apart, and do the same with two sets of vectors that have no part in it.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def rebuilt(v: Float[Tensor, " D"], vectors: Float[Tensor, "S D"], weights: Float[Tensor, " S"]) -> float:
    """Cosine of a vector with a weighted sum of others."""
    return cosine(v[None], (weights @ vectors)[None]).item()


def take_apart(model: SkipGram, word: int, frequency: dict[int, float], controls: dict[str, list[int]]) -> dict:
    """How well the vectors of its senses, {id: frequency}, and controls rebuild the vector of a word."""
    v, senses, p = model.word[word], model.word[list(frequency)], torch.tensor(list(frequency.values()))
    weights = sense_mixture(v, senses)
    row = {"frequency": p.tolist(), "weights": weights.tolist()}
    for name, a in (("weighted by frequency", p), ("plain average", torch.ones(len(p))), ("best weights", weights)):
        row[name] = rebuilt(v, senses, a)
    for name, ids in controls.items():
        row[name] = rebuilt(v, model.word[ids], sense_mixture(v, model.word[ids]))
    row["among the senses"] = cosine(senses, senses)[~torch.eye(len(p), dtype=torch.bool)].mean().item()
    return row


# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def measure_mixtures(language, seed: int) -> list[dict]:
    """Train on a half without and a half with named senses, then take every ambiguous word apart."""
    rng, V = np.random.default_rng(seed), len(language.vocabulary)
    sentences = language.sample(40_000, rng, split="train")
    plain = with_rarer_senses(language, sentences[:20_000], rng)
    named, id_of = with_senses_named(sentences[20_000:], first_id=V)
    model = train_skip_gram(np.concatenate([plain.ids, named]), V + len(id_of), seed=seed)

    written, rows = plain.ids[np.arange(len(plain)), plain.position], []  # the ambiguous words
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
# **Predict.** How similar (cosine) is the vector of an ambiguous word to the average of its senses' vectors, weighted by how
# frequent each sense is? The three controls: the best mixture of as many random words; of senses of *other* ambiguous
# words; and how similar the senses are among themselves.

# %%
predict("static.mixture", ...)

# %% tags=["demo"]
print("This takes five to ten seconds.")
mixtures = measure_mixtures(language, seed=0)               # one row for each ambiguous word

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
labels = {
    "weighted by frequency": "senses,\nby frequency", "plain average": "senses,\nplain average",
    "best weights": "senses,\nbest weights", "senses of other words": "other words'\nsenses, best",
    "random words": "random\nwords, best", "among the senses": "senses among\nthemselves",
}
means = {name: np.mean([row[name] for row in mixtures]) for name in labels}
frequency, weights = (np.concatenate([row[name] for row in mixtures]) for name in ("frequency", "weights"))
slope, intercept = np.polyfit(frequency, weights, 1)
follows = np.corrcoef(frequency, weights)[0, 1]
reveal("static.mixture", means["weighted by frequency"])
pictures.mixtures(mixtures, labels, (slope, intercept), follows)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
recorded = read_table("results/01_sense_mixture.csv")
low, high = (recorded.groupby("measure")["value"].agg(f) for f in ("min", "max"))
display(Markdown(
    f"The vector of a word is close to the average of its senses: cosine {means['weighted by frequency']:.2f}, against {means['random words']:.2f} for the best mixture of "
    f"random words and {means['senses of other words']:.2f} for senses of other words. Over {recorded.seed.nunique()} more seeds, recorded with `experiments/sense_mixture.py`: "
    f"{low['weighted by frequency']:.2f} to {high['weighted by frequency']:.2f}, against {low['random words']:.2f} to {high['random words']:.2f} and "
    f"{low['senses of other words']:.2f} to {high['senses of other words']:.2f}. The cosine alone does not say which average: a plain one reaches "
    f"{means['plain average']:.2f}.\n\n"
    f"The best weights do. The more frequent a sense, the larger its weight: correlation {follows:.2f} (recorded: {low['correlation']:.2f} to "
    f"{high['correlation']:.2f}). But the line is flatter than frequency itself, with slope {slope:.2f} ({low['slope']:.2f} to {high['slope']:.2f}). A sense that makes up a "
    f"tenth of the occurrences has a weight of about {intercept + 0.1 * slope:.2f}, not 0.10.\n\n"
    "**Sources say, we measure.** Arora et al. (2018) merge pairs of words into artificial ones and report the same: the vectors add up linearly, and the weight of the rarer "
    "meaning falls only with the logarithm of the frequency ratio. All senses are in the vector; what it cannot hold is which of them this sentence means."))

# %% [markdown]
# Does the law hold in *real* English? There nobody has looked up senses. But two words can be made one: write `silver|gold` wherever *silver* or *gold* stands. Now there is a word with two senses, and which one is meant is known at
# each place. It is called a **pseudo-word** (Schütze 1998).
#
# So it was done with 68 pairs of nouns in half of the text of 82 English novels. The other half was left as it was ([data/novels](../../data/novels/README.md)). Again some places of one word were skipped, so that shares range from one tenth to nine.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import pandas as pd

in_novels = read_table("results/01_novels_mixture.csv")
first, second = (in_novels[f"weight of the {which}"] for which in ("first", "second"))
in_novels["frequency"] = [[share, 1 - share] for share in in_novels["share of the first"]]
in_novels["weights"] = list(map(list, zip(first, second, strict=True)))
of_runs = {}                                                   # (steps, seed): cosines, slope and correlation
for run, rows in in_novels.groupby(["steps", "seed"]):
    frequency_there, weights_there = (np.concatenate(list(rows[name])) for name in ("frequency", "weights"))
    slope_there, intercept_there = np.polyfit(frequency_there, weights_there, 1)
    of_runs[run] = {name: rows[name].mean() for name in labels} | {
        "slope": slope_there, "intercept": intercept_there, "correlation": np.corrcoef(frequency_there, weights_there)[0, 1],
    }
of_runs = pd.DataFrame(of_runs).T.rename_axis(["steps", "seed"])
at_the_end = of_runs.loc[in_novels.steps.max()]
one_run = in_novels[(in_novels.steps == in_novels.steps.max()) & (in_novels.seed == 0)]
pictures.mixtures(
    one_run.to_dict("records"), labels, (at_the_end.slope[0], at_the_end.intercept[0]), at_the_end.correlation[0]
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def from_to(name: str, runs: pd.DataFrame = at_the_end) -> str:
    return f"{runs[name].min():.2f} to {runs[name].max():.2f}"

display(Markdown(
    f"One of three runs is drawn. In novels, too, the word is close to the average of its senses: {from_to('weighted by frequency')} over the runs, against {from_to('senses of other words')} for the senses of other words and "
    f"{from_to('random words')} for random ones. The weight follows the share, with correlation {from_to('correlation')} and slope {from_to('slope')}. After half of the training the slope is "
    f"{from_to('slope', of_runs.loc[in_novels.steps.min()])} (recorded with `experiments/novels_mixture.py`)."))

# %% [markdown]
# ## 7 · f(w) against f(w, C)
#
# Whether vectors know senses is a question for one number. Take many occurrences of one word in different sentences,
# with a vector for each. If the vectors follow the sense, pairs with the same sense are more alike than pairs
# with different senses. Their difference is the *separation*. We will measure it for every model of the course.

# %% nbgrader={"grade": false, "grade_id": "static-separation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def separation(h: Float[Tensor, "n D"], senses: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Mean cosine of pairs of occurrences with the same sense, minus that of pairs with different senses.

    h        one vector for each occurrence of a word.
    senses   the sense of each occurrence, as any whole number, also below 0. Both kinds of pair occur.

    A pair is two different occurrences, also if their vectors are equal; the cosine with a vector of zeros is 0.
    Every pair counts once in its mean, whatever sense it has.
    (difficulty ●●○, 7 minutes)
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
# **Predict** the separation of the static vectors that you trained, for the occurrences of *cell*. The cell shows what you can choose from when you run it.

# %%
NONE, BELOW, ABOVE = "exactly 0", "below 0: the senses are mixed up", "above 0: training has pulled the senses apart"
predict("static.separation", ..., choices=(NONE, BELOW, ABOVE))

# %% [markdown]
# Against it we set the simplest contextual embedding that there is. It learns nothing new: it averages the
# static vectors of the *other* words in the sentence, a "bag of words". We take it twice, once with the words before
# the ambiguous word only, once with those on both sides. All models of the course are asked about the same
# held-out sentences, the exam. Its questions are of four kinds. The words before the ambiguous one tell its sense; only words
# after it do; or all words are there and only their *order* tells, in one clause or in two.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import QUESTIONS, Accuracy, ambiguous_words, bounds, nearest_sense, sense_exam

exam = sense_exam()

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

for kind, what in QUESTIONS.items():
    print(f"{what:22}", *exam.held_out[exam.held_out.cue == kind].words(0))


# %% tags=["demo", "record"]
def average_of_neighbours(
    ids: np.ndarray, position: np.ndarray, vectors: Float[Tensor, "V D"], only_before: bool = False
) -> Float[Tensor, "n D"]:
    """f(w, C): the average vector of the words around the ambiguous word, or of those before it."""
    ids, position = torch.from_numpy(ids), torch.from_numpy(position).unsqueeze(1)
    place = torch.arange(ids.shape[1])
    used = (ids >= len(SPECIAL_TOKENS)) & (place < position if only_before else place != position)
    return (vectors[ids] * used.unsqueeze(2)).sum(1) / used.sum(1, keepdim=True).clamp(min=1)


def one_row(sentences, vectors: Float[Tensor, "V D"]) -> Float[Tensor, "n D"]:
    """f(w): the vector of the ambiguous word of each sentence, from the table."""
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
    """The exam of each representation with these vectors."""
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
    BELOW: "Two occurrences of one sense would have to be less similar than two of different senses. All pairs are equally similar here.",
    ABOVE: "Training saw all three senses and gave them one row of the table. Every occurrence gets that row, and every cosine is 1.",
})
pictures.bars(separations, "separation (difference of cosines)")

# %% [markdown]
# A function of the word alone has separation 0, whatever its table holds: there is nothing left to be different.
# Now the exam itself. Each held-out word takes the sense of the most similar labelled occurrence. For identical vectors that
# would only be a way of breaking ties, so ties go to the more frequent sense: $f(w)$ then scores exactly what
# answering with each word's most frequent sense would. Two readers that learn no vectors stand on the **scoreboard** from the beginning. *Bag of
# words* compares the counts of the other words; in *near words* a word counts the more, the nearer it stands.

# %% tags=["demo"]
scores, limits = exam_of(static.word), bounds()
recorded_exams = read_table("results/skip_gram_exam.csv")            # three trainings of the cells above
for name in scores:
    note = "skip-gram" if name.startswith("f(w):") else "control: a bag of skip-gram vectors"
    trainings = recorded_exams[recorded_exams.model == name][list(QUESTIONS)]
    add_row(name, [Accuracy(*shares) for shares in trainings.to_numpy()], note=note)
draw()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
one, before, around = scores.values()
of_one = sorted(one[kind] for kind in QUESTIONS)
display(Markdown(
    "On the board stand the means of three trainings (`python -m experiments skip_gram_exam`); here is what yours gives. "
    f"The static vector gets the majority of every kind, {of_one[0]:.2f} to {of_one[-1]:.2f}: it is the same in all sentences. "
    f"Averaging the words *before* answers {before.left:.2f} of the questions whose cue stands on "
    f"the left, and {before.right:.2f} of those whose cue comes only afterwards. There no reader of the words before can expect more than {limits.words_before.right:.2f}. (That bound "
    f"is an expectation; on one exam a score may lie a little above it, within its interval.) Averaging the words on *both* sides answers {around.left:.2f} and {around.right:.2f}. "
    "So what is missing from f(w) is the context, not a better table: wherever the words themselves tell the sense, even an average repairs it.\n\n"
    f"The last two panels are another matter. All the other words give {around.order1:.2f} and {around.order2:.2f}, about a half, and counts do no better. "
    f"The words before give {before.order1:.2f} and {before.order2:.2f}. The first is more than a half, although this reader knows less: that a word stands *before* another is a piece of "
    "order, and where the people of one sense alone stand there, it tells."))

# %% [markdown]
# ### What a bag of words cannot hold
#
# Why a half? Here are two sentences of the language, with the exact probability of their sense. What people act upon is theirs: the prisoner paints
# a prison's cell, the biologist one that can be stained.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import Exam, nearest_hits
from coursekit.language.partners import partners

pair = [
    "the prisoner that the biologist visited painted the cell",
    "the biologist that the prisoner visited painted the cell",
]
ids = np.stack([language.encode(sentence) for sentence in pair])
position = (ids == language.id_of["cell"]).argmax(axis=1)
beliefs = language.sense_posterior(ids, position, "both")
bags = average_of_neighbours(ids, position, static.word)
first, second = language.log_probability(ids)
pictures.partners(pair, [f"{language.senses[belief.argmax()]}, p = {belief.max():.2f}" for belief in beliefs], bags)
print(f"probability of the first sentence divided by that of the second: {np.exp(first - second):.2f}")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
ordered = exam.held_out[np.isin(exam.held_out.cue, ["order1", "order2"])]
right_of_question, right_of_partner = (
    nearest_hits(Exam(exam.labelled, asked), around_it(exam.labelled, static.word), around_it(asked, static.word))
    for asked in (ordered, partners(language, ordered))
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    "The same words, so the same average and the same answer: it can be right for one of the two only. All sentences of these two kinds have such a *partner* "
    "in the language: the same words, another sense, the same probability. So no reader of the words without their order, however clever, can expect more than "
    f"{limits.no_order.order1:.2f}. We asked the average about the partners of all {len(ordered):,} questions, too. It is right for {right_of_question.mean():.3f} of the questions, for "
    f"{right_of_partner.mean():.3f} of their partners, and for both in {np.sum(right_of_question & right_of_partner)} cases: {(right_of_question.mean() + right_of_partner.mean()) / 2:.3f} of all. "
    "What it has above a half in one panel or the other is luck: the exam happened to draw one partner rather than the other.\n\n"
    "Real sentences ask for order as well: a bag of words cannot say who did what to whom. This control stays on the board. A later "
    "model that is above it in the last two panels knows something of *order*. One that reads from left to right, GPT, will meet the wall in the second panel again."))

# %% [markdown]
# ## Questions
#
# **1.** *cell* in GloVe is a mixture of its senses. A program gets only this vector for the word, no other word of the
# sentence. Can any network on top of it, however deep, find out which sense was meant? What could it find out? What
# changes when it also gets the vectors of the other words, and what when it gets only their average? Support your answer with numbers from this notebook.

# %% [markdown] nbgrader={"grade": true, "grade_id": "static-reflection-1", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# No. The vector is a function of the word, so it is the same in every sentence; whatever a network computes from it is
# the same in every sentence, too. It can find out which senses the word *has* and about how frequent they are. They are
# present as a weighted sum: the best mixture of its senses has cosine 0.9 or more with the word, that of random words
# about 0.3. So it can answer with the most frequent one: a little less than half of the exam, the score of f(w).
#
# With the other words' vectors as well, the input is a function of word and context. Even their plain average finds
# nearly every sense in the exam where a word tells it and the average sees both sides. It finds no more than the majority when it
# sees only words before the cue. Where only the order of the words tells the sense, the average is right in half of the cases: two sentences of the same words get the same
# vector. So the information is in the other words and in their order, and the task of the following notebooks is to bring it into
# the word's own vector.
#
# *Marking guide.* 1 point: same input, same output, for any network. 1 point: what is in the vector (the senses and their
# frequencies, with a number). 1 point: what the context adds, with a number that names its control (that an average loses
# the order is a welcome addition).

# %% [markdown]
# **2.** Use your `cosine` on GloVe for *hot* with *cold*, *warm* and *piano*, and for one more pair of opposites of your
# choice. Why do opposites come out so similar? Name one task for which that is harmless and one for which it hurts.

# %% [markdown] nbgrader={"grade": true, "grade_id": "static-reflection-2", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# Opposites keep the same company: *hot* and *cold* both stand beside *water*, *weather*, *days* and *very*. A vector that is
# learned from company records in which sentences a word can stand, and opposites can replace each other in nearly all of
# them. So their cosine is far above that of a random pair, and about as high as that of *hot* and *warm*: the vector says
# "a temperature", not which one. Harmless: finding the topic of a text, or documents about the weather. Harmful: judging
# opinions (*good* against *bad*), or whether two sentences contradict each other.
#
# *Marking guide.* 1 point: measured values, with the control pair. 1 point: same contexts, hence similar vectors. 1 point:
# one suitable task of each kind with a reason.

# %% [markdown]
# ## Extensions
#
# These earn extra credit. **Where do negatives come from?** Drawn by frequency, one negative in a few would be *the*;
# drawn evenly, the rarest word would come as often as *the*. Mikolov et al. (2013b) found that counts to the power ¾ did
# better than either.

# %% nbgrader={"grade": false, "grade_id": "static-negative_distribution", "locked": false, "schema_version": 3, "solution": true, "task": false}
def negative_distribution(counts: Float[Tensor, " V"], power: float) -> Float[Tensor, " V"]:
    """The probability of each word to be drawn as a negative: proportional to its count to the given power.

    They sum to one. Powers are above 0, so a word that never occurs is never drawn.
    (extension, difficulty ●○○, 3 minutes)
    """
    ### BEGIN SOLUTION
    weights = counts**power
    return weights / weights.sum()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-negative_distribution-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false} course={"extra_credit": 1}
check("static.negative_distribution", lambda case: negative_distribution(case["counts"], case["power"]))

# %% tags=["demo"]
occurrences = torch.bincount(torch.from_numpy(corpus.ids).flatten(), minlength=V).float()
occurrences[: len(SPECIAL_TOKENS)] = 0
by_count = occurrences.argsort(descending=True)
rare = (occurrences > 0) & (occurrences <= occurrences[occurrences > 0].median())
for power in (1.0, 0.75, 0.01):
    p = negative_distribution(occurrences, power)
    the, ten, half = p[language.id_of["the"]], p[by_count[:10]].sum(), p[rare].sum()
    print(f"power {power:4}: 'the' {the:6.1%}, ten most frequent words {ten:6.1%}, rarer half of the words {half:6.1%}")

# %% [markdown]
# **Counted, and then shortened.** If word2vec factorises a table, can we factorise it ourselves? A singular value decomposition gives the 50 numbers per word that come closest to all rows of your PPMI table
# (Deerwester et al. 1990 did so with words and documents; Levy, Goldberg and Dagan 2015 compare). No training, no negatives. GloVe stands between the two: its loss is
#
# $$\sum_{w,c} g(n(w, c))\, \big(u_w \cdot v_c + b_w + b_c - \ln n(w, c)\big)^2 ,$$
#
# over the pairs that occur; $g$ lets frequent pairs count more, up to a limit.

# %% tags=["demo"]
U, S, _ = torch.linalg.svd(table)
shortened = U[:, :50] * S[:50] ** 0.5
print("river:", ", ".join(vocabulary[i] for i in nearest(shortened, river, 7)))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
hits = {
    name: nearest_hits(exam, *(average_of_neighbours(s.ids, s.position, vectors) for s in (exam.labelled, exam.held_out)))
    for name, vectors in (("skip-gram", static.word), ("PPMI, shortened", shortened))
}
gap = {kind: (hits["PPMI, shortened"].astype(float) - hits["skip-gram"])[exam.held_out.cue == kind] for kind in QUESTIONS}
by_kind = {
    what: {
        **{f"average of {name}": f"{found[exam.held_out.cue == kind].mean():.3f}" for name, found in hits.items()},
        "difference (95 %)": "{:+.3f} ({:+.3f} to {:+.3f})".format(gap[kind].mean(), *bootstrap(gap[kind])),
    } for kind, what in QUESTIONS.items()
}
display(pd.DataFrame(by_kind).T)

# %% [markdown]
# No training, and where words tell the sense the averages of these vectors lose about two points to skip-gram's at most. Where order decides, both are near a half. (One corpus, 50 numbers each.)

# %% [markdown]
# **The same words in other books.** Skip-gram in English: the course has trained it for five minutes of one core on 82 novels of 1839 to 1927, 16,384 words with 100 numbers each ([card](../../data/models/novels_skipgram.md)). GloVe's texts
# are of our own time. We look for neighbours among the words that both know. Change the words: one that is missing is no error.

# %% tags=["demo"]
from coursekit.novels.shipped import load_skipgram

YOUR_WORDS = "cell mouse engine gay bank station telephone"
novel_words, novel_vectors = load_skipgram()

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
in_novels_at = {word: i for i, word in enumerate(novel_words)}
common_words = [word for word in novel_words if word in glove.index and word.isalpha()]
two_corpora = {
    "in novels": novel_vectors[[in_novels_at[word] for word in common_words]],
    "in GloVe": glove.vectors[[glove.index[word] for word in common_words]],
}
place_of = {word: i for i, word in enumerate(common_words)}

def neighbours_in(vectors: Float[Tensor, "V D"], word: str, k: int) -> list[str]:
    if word not in place_of:
        return ["not among the words that both know"]
    return [common_words[i] for i in nearest(vectors, place_of[word], k)]

with pd.option_context("display.max_colwidth", None):
    display(pd.DataFrame({
        word: {called: ", ".join(neighbours_in(vectors, word, 6)) for called, vectors in two_corpora.items()}
        for word in YOUR_WORDS.lower().split()
    }).T)

asked = common_words[100:400]                                                                 # frequent ones, less the grammar
ten = {called: [{*neighbours_in(vectors, word, 10)} for word in asked] for called, vectors in two_corpora.items()}

def in_both(first: list[set[str]], second: list[set[str]]) -> Float[np.ndarray, "n"]:
    return np.array([len(ours & theirs) / 10 for ours, theirs in zip(first, second, strict=True)])

same_word = in_both(ten["in novels"], ten["in GloVe"])
other_word = in_both(ten["in novels"], ten["in GloVe"][1:] + ten["in GloVe"][:1])      # the control
display(Markdown(
    "Of the ten nearest words, {:.0%} are the same (95 %, over {} words: {:.0%} to {:.0%}); ".format(same_word.mean(), len(asked), *bootstrap(same_word))
    + f"of another word's, {other_word.mean():.1%}."))

# %% [markdown]
# What a word means to its vector is what the books said with it: a *cell* of novels is a room, and on a *bank* there grows grass. (Not only the texts differ: the method and the number of words do, too. How much each of them
# counts, this does not say.)

# %% [markdown]
# **Analogies.** *man* is to *king* as *woman* is to … ? Mikolov et al. answered with vectors: the word nearest to
# *king* − *man* + *woman*. It made word vectors famous. One detail is easily overlooked: the three words of the question
# are not allowed as answers.

# %% nbgrader={"grade": false, "grade_id": "static-analogy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def analogy(vectors: Float[Tensor, "V D"], a: int, b: int, c: int, k: int) -> Int[Tensor, " k"]:
    """a is to b as c is to …: the k rows nearest by cosine to b − a + c, best first, without a, b and c.

    All vectors are brought to length 1 before they are added; one of zeros stays as it is.
    (extension, difficulty ●●○, 6 minutes; Mikolov, Yih and Zweig 2013)
    """
    ### BEGIN SOLUTION
    unit = F.normalize(vectors, dim=1)
    target = unit[b] - unit[a] + unit[c]
    similarity = cosine(target.unsqueeze(0), unit).squeeze(0)
    similarity[[a, b, c]] = -torch.inf
    return similarity.topk(k).indices
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "static-analogy-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false} course={"extra_credit": 1}
check("static.analogy", lambda case: analogy(case["vectors"], case["a"], case["b"], case["c"], case["k"]))

# %% [markdown]
# Linzen (2016) asked what happens when the question words *are* allowed, and what one gets for simply answering with
# the nearest neighbour of *c*. We ask the same of GloVe, on four kinds of analogies.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
questions = {
    "capital": "france paris italy rome spain madrid germany berlin japan tokyo russia moscow egypt cairo",
    "gender": "man woman king queen brother sister father mother son daughter uncle aunt husband wife",
    "plural": "cat cats dog dogs car cars house houses bank banks river rivers cell cells",
    "past": "walk walked talk talked play played call called open opened move moved work worked",
}
few = load_glove(top=20_000)  # the more words, the slower; all of the question's are among these
unit = F.normalize(few.vectors, dim=1)
measures = (
    "right, question words excluded", "right, nothing excluded",
    "a question word, nothing excluded", "right: nearest word to c",
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
    of_many = ((unit[b] - unit[a] + unit[c]) @ F.normalize(glove.vectors, dim=1).T).argmax(dim=1)  # of 100,000 words
    asked_back_of_many.append(((of_many == a) | (of_many == b) | (of_many == c)).float().mean().item())
    for name, hits in zip(measures, (answers == d, plain == d, asked_back, simply == d), strict=True):
        results[name][f"{kind}\n{' : '.join(text.split()[:2])}"] = hits.float().mean().item()
pictures.bars(results, f"share of {len(d)} questions", written=True, top=1.05)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
right, _, question_word, baseline = ([*values.values()] for values in results.values())
display(Markdown(
    "**Sources say, we measure.** Linzen: the method owes much to the exclusion of the question's words and to neighbours that would be right anyway. In GloVe, without "
    f"the exclusion, {', '.join(f'{share:.0%} ({kind})' for share, kind in zip(question_word, questions))} of the questions are answered with a word of the question. (Among 100,000 words in place of 20,000: {', '.join(f'{share:.0%}' for share in asked_back_of_many)}.) For plurals, "
    f"the nearest neighbour of *c* alone is right in {baseline[2]:.0%} of cases and the analogy in {right[2]:.0%}; for capitals it is {baseline[0]:.0%} against {right[0]:.0%}: "
    "there the offset does the work."))

# %% [markdown]
# ### What else the vectors have learned
#
# Vectors learn from texts whatever stands in them, prejudice included. Bolukbasi et al. (2016) and Caliskan, Bryson and Narayanan (2017) measured it: is an occupation nearer to *she* or to *he*? We take 30 occupations and
# seven pairs of words. How far an occupation **leans** is its cosine with *she* minus that with *he*, and the mean of that over the pairs. The control is the same number for 2,000 random frequent words; an eighth pair, *female* and *male*, stands apart.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
OCCUPATIONS = (
    "nurse librarian teacher secretary dancer hairdresser cleaner dentist lawyer baker farmer chef writer physicist engineer programmer "
    "carpenter plumber mechanic pilot soldier judge surgeon professor scientist cashier receptionist midwife architect electrician"
).split()
PAIRS = "she he woman man her his mother father girl boy daughter son sister brother female male".split()


def leans(vectors: Float[Tensor, "n D"]) -> Float[Tensor, "n 8"]:
    """For each pair of words: cosine with the first minus cosine with the second."""
    of_pairs = cosine(vectors, glove.of(PAIRS))
    return of_pairs[:, ::2] - of_pairs[:, 1::2]


lean = leans(glove.of(OCCUPATIONS))
seven, eighth = lean[:, :7].mean(dim=1), lean[:, 7]
at_random = leans(frequent)[:, :7].mean(dim=1).quantile(torch.tensor([0.025, 0.975]))
pictures.leaning(OCCUPATIONS, seven, eighth, at_random)
ranks = pd.DataFrame(lean.numpy()).corr(method="spearman").to_numpy()
among_seven = ranks[:7, :7][np.triu_indices(7, 1)]


def against(both: Float[np.ndarray, "n 2"]) -> float:
    """Spearman's correlation of two columns."""
    return pd.DataFrame(both).corr(method="spearman").to_numpy()[0, 1]


both_ways = torch.stack([seven, eighth], dim=1).numpy()
reversed_to = against(both_ways), *bootstrap(both_ways, against)
beyond = [name for name, value in zip(OCCUPATIONS, seven) if value < at_random[0] or value > at_random[1]]
print(f"rank correlation of two of the seven pairs, over the occupations: {among_seven.min():.2f} to {among_seven.max():.2f}")
print("their mean against female − male: {:.2f} (95 %, over occupations: {:.2f} to {:.2f})".format(*reversed_to))
print("further out than 95 % of random words:", ", ".join(beyond))

# %% [markdown]
# The seven pairs agree: *nurse* and *midwife* lean to one side, *physicist* and *engineer* to the other, in the vectors of newspapers and an encyclopaedia. Most lean no further than random words do. And the eighth pair turns the order round. Perhaps a
# text says *female* where it did not expect a woman; we have not looked. A measure of bias is one more claim that has to survive another choice of words. The vectors of this course go into everything that is built on them.
#
# What we cannot show here is how well vectors agree with people about *words*: the ratings that are used for it are not ours to give.

# %% [markdown]
# ## Summary
#
# - A word's vector can be counted (PPMI) or learned (skip-gram); the learned scores approach PMI − ln k.
# - Compare vectors by their cosine, and every cosine with that of random pairs.
# - The static embedding of a polysemous word mixes its senses, with weights that follow their frequency, flattened.
# - Static embeddings cannot separate senses: the information is in the other words, and in their order.
# - A bag of words finds the sense where a word tells it. Where order tells it, it is right in one case of two at best.
# - A gradient derived by hand is compared with autograd before it is believed.
#
# **Next:** notebook 02 lets a word decide how much of each neighbour to take: attention.

# %% [markdown]
# ## References
#
# - Arora, Li, Liang, Ma and Risteski (2018). Linear algebraic structure of word senses, with applications to polysemy. *TACL* 6, 483–495.
# - Bolukbasi, Chang, Zou, Saligrama and Kalai (2016). Man is to computer programmer as woman is to homemaker? Debiasing word embeddings. *NIPS* 29. arXiv:1607.06520.
# - Caliskan, Bryson and Narayanan (2017). Semantics derived automatically from language corpora contain human-like biases. *Science* 356, 183–186.
# - Church and Hanks (1990). Word association norms, mutual information, and lexicography. *Computational Linguistics* 16(1), 22–29.
# - Deerwester, Dumais, Furnas, Landauer and Harshman (1990). Indexing by latent semantic analysis. *Journal of the American Society for Information Science* 41(6), 391–407.
# - Firth (1957). A synopsis of linguistic theory, 1930–1955. In *Studies in Linguistic Analysis*, 1–32. Blackwell.
# - İrsoy, Benton and Stratos (2021). Corrected CBOW performs as well as skip-gram. *Workshop on Insights from Negative Results in NLP*, 1–8.
# - Levy and Goldberg (2014). Neural word embedding as implicit matrix factorization. *NIPS* 27.
# - Levy, Goldberg and Dagan (2015). Improving distributional similarity with lessons learned from word embeddings. *TACL* 3, 211–225.
# - Linzen (2016). Issues in evaluating semantic spaces using word analogies. *RepEval*, 13–18.
# - Mikolov, Chen, Corrado and Dean (2013a). Efficient estimation of word representations in vector space. arXiv:1301.3781.
# - Mikolov, Sutskever, Chen, Corrado and Dean (2013b). Distributed representations of words and phrases and their compositionality. *NIPS* 26.
# - Mikolov, Yih and Zweig (2013). Linguistic regularities in continuous space word representations. *NAACL-HLT*, 746–751.
# - Pennington, Socher and Manning (2014). GloVe: Global vectors for word representation. *EMNLP*, 1532–1543.
# - Schütze (1998). Automatic word sense discrimination. *Computational Linguistics* 24(1), 97–123.

# %% [markdown]
# Next: [02 · Attention, step by step](../02_attention/02_attention.ipynb). The [start page](../start.ipynb) shows how far you are.
