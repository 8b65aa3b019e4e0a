# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A project of one's own
#
# This notebook applies the course to a text that *you* choose: letters, a novel, minutes of meetings, song lyrics. You learn a tokeniser and word vectors from it,
# train a GPT, look for the senses of one word, and search. The result is **one page** with one claim, its interval, and a control that could have refuted it.
#
# **You need** notebooks 01, 07, 08 and 12. **Time** about 85 minutes, and ten more during which the GPT trains by itself: seven exercises and two written questions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [16 · Learning from rewards](../16_rewards/16_rewards.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - split a text so that nothing leaks from training into the test;
# - compare language models with different tokenisers, and with a baseline;
# - support a claim about a text with an interval and a control;
# - write tests that detect faults in your own pipeline.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import math
import random
import re

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from coursekit import check, hint, predict, reveal
from coursekit.project.testing import tried
from coursekit.project.training import trained

# %% [markdown]
# ## 1 · A text
#
# Save your text as plain text (.txt, UTF-8, 0.2 to 5 MB) next to this notebook, and write its name below. Empty lines separate its passages. If you have no text of your
# own, take a packaged one: `"language reference"` (of Python), `"docstrings"` (of PyTorch, NumPy and others) or `"this course"`.
#
# Your text remains on this machine. No cell of this notebook sends anything. When you hand in the notebook, its outputs are included, but the text file is not.

# %% tags=["demo"]
from coursekit.project.reading import own_text

TEXT = "language reference"  # or "my_text.txt"
MINUTES = 0.15  # of training; 1 to 10 for your page (section 4)
text = own_text(TEXT)
print(text)

# %% [markdown]
# If the file cannot be used, a message explains why: it is not a text file, it is too short, or its encoding cannot be read. E-mail addresses and telephone numbers are
# counted, and you decide what happens to them: `own_text(TEXT, personal="replace")` replaces them with placeholders. *Names of people are not detected.* Think about the people in your text
# before you quote it.
#
# Once you have changed the name, all numbers below are those of *your* text; our comments refer to the language reference of Python 3.11.
# Some passages are worded differently in later versions of Python, so the numbers differ a little.

# %% [markdown]
# ## 2 · A split without a leak
#
# The end of the text is held out. A contiguous part is better than random passages: neighbouring passages share a topic, so in a random split most held-out passages
# would have neighbours in the training part (Søgaard et al. 2021). Copies are a second source of leakage (Lee et al. 2022). Many texts repeat passages, such as a chorus, a licence or a standard paragraph.

# %% nbgrader={"grade": false, "grade_id": "project-split", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split(passages: list[str], sizes: Int[Tensor, "n"], fraction: float) -> Int[Tensor, "n"]:
    r"""Parts of a text: 0 training, 1 held out, −1 left out.  (difficulty ●●○, 8 minutes)

    The held-out part is at the end of the text. It consists of as few passages as possible
    whose sizes add up to at least `fraction` of the total size. A passage in this part that
    is a copy of a training passage gets −1. Two passages are copies if their words are the
    same: words are what re.findall(r"\w+", passage.lower()) finds.
    """
    ### BEGIN SOLUTION
    first = len(passages)
    while sizes[first:].sum() < fraction * sizes.sum():
        first -= 1
    words = [" ".join(re.findall(r"\w+", one.lower())) for one in passages]
    training = set(words[:first])
    parts = [-1 if one in training else 1 for one in words[first:]]
    return torch.tensor([0] * first + parts)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-split-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("project.split", lambda case: split(**case))

# %% [markdown]
# **Predict:** what fraction of the passages in the last tenth of your text are copies of earlier ones?

# %% tags=["demo"]
predict("project.copies", ...)  # between 0 and 1

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.pictures import project as pictures
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)  # the training time is that of one core
sizes = torch.tensor([len(passage.encode()) for passage in text.passages])
parts = torch.as_tensor(split(list(text.passages), sizes, 0.1))
training = [passage for passage, part in zip(text.passages, parts) if part == 0]
held_out = [passage for passage, part in zip(text.passages, parts) if part == 1]
copies = ((parts == -1).sum() / (parts != 0).sum()).item()
reveal("project.copies", copies)
print(
    f"training: {len(training):,} passages, held out: {len(held_out):,}, left out as copies: {(parts == -1).sum():,}"
)

# %% [markdown]
# The language reference repeats whole paragraphs, because the same explanation belongs to several topics. A model that has been trained on a paragraph can recite it, which is not what we want to measure.

# %% [markdown]
# ## 3 · A tokeniser and a baseline
#
# Which tokeniser is best for your text? Losses per *token* cannot be compared, because a tokeniser with longer tokens requires fewer predictions. Losses per **byte** can be compared, because every
# lossless tokeniser reproduces the same bytes. The baseline for our language models is the **unigram** model, which knows how frequent each token is but uses no context.

# %% nbgrader={"grade": false, "grade_id": "project-unigram_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def unigram_loss(
    train: Int[Tensor, "N"], held_out: Int[Tensor, "M"], byte_counts: Int[Tensor, "V"]
) -> Float[Tensor, ""]:
    """Nats per byte of a held-out text under a unigram model.  (difficulty ●●○, 6 minutes)

    Both texts are token ids; token i has byte_counts[i] bytes. The probability of a token is
    proportional to its count in the training text plus 1, for each of the V tokens. Return
    the sum of −log p over all held-out tokens, divided by their total number of bytes.
    """
    ### BEGIN SOLUTION
    counts = torch.bincount(train, minlength=len(byte_counts)) + 1
    nats = -(counts / counts.sum()).log()[held_out]
    return nats.sum() / byte_counts[held_out].sum()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-unigram_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("project.unigram_loss", lambda case: unigram_loss(**case))

# %% [markdown]
# We compare four tokenisers on held-out passages: single bytes, byte-level BPE (13) with two vocabulary sizes, trained on the training part, and BERT's tokeniser. **Round trip** is the fraction of
# passages that remain unchanged when they are encoded and decoded, and **fertility** is the number of tokens per word.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import pandas as pd

from coursekit.project import tokenisers

choices = {
    one.name: one
    for one in [*(tokenisers.learn(training, size) for size in (257, 1000, 3000)), tokenisers.bert()]
}
table = {}
for name, one in choices.items():
    per_byte = (
        unigram_loss(one.stream(training), one.stream(held_out), one.byte_counts).item()
        if one.byte_counts is not None
        else float("nan")
    )
    table[name] = {
        "tokens": one.size,
        "round trip": tokenisers.round_trip(one, held_out),
        "fertility": tokenisers.fertility(one, held_out),
        "unigram, nats per byte": per_byte,
    }
forms = {"tokens": "{:,}", "round trip": "{:.0%}", "fertility": "{:.2f}", "unigram, nats per byte": "{:.3f}"}
pd.DataFrame({name: {what: forms[what].format(value).replace("nan", "–") for what, value in row.items()} for name, row in table.items()}).transpose()

# %% [markdown]
# Longer tokens help the unigram model, because a long token itself contains some context. BERT's tokeniser ignores case, so almost no passage survives the round trip, and its loss per byte would not be
# comparable. Choose one of the other tokenisers for your GPT:

# %% tags=["demo"]
tokeniser = choices["learned, 1,000 tokens"]  # or another tokeniser
ids = tokeniser.stream(training)
held_out_ids = tokeniser.stream(held_out)[:20_000]  # enough to estimate the loss
baseline = unigram_loss(ids, held_out_ids, tokeniser.byte_counts).item()
print(f"{tokeniser.name}: {len(ids):,} tokens, baseline {baseline:.3f} nats per byte")

# %% [markdown]
# ## 4 · A GPT
#
# The model is the course's GPT (07) with three layers of width 96. You write the training loop. The check uses your loop to train a much smaller GPT on an artificial language with a random
# split. The model's held-out loss has to be below that of the unigram baseline.

# %% nbgrader={"grade": false, "grade_id": "project-train", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train(model: nn.Module, ids: Int[Tensor, "N"], steps: int) -> Float[Tensor, "steps"]:
    """Train a GPT on a text, and return the loss of each step.  (difficulty ●●●, 12 minutes)

    model(x).logits has the shape (B, T, V) for ids x of shape (B, T); T is at most
    model.config.tokens. At each step, draw some windows of T + 1 tokens (16, for example) at
    random from the whole text and call the model once. Minimise the mean cross-entropy of
    the next tokens, at all T positions. The model is changed in place. The check allows about
    100 steps, so use AdamW or Adam and a learning rate of 0.003 to 0.01.
    """
    ### BEGIN SOLUTION
    T = model.config.tokens
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.005)
    losses = torch.zeros(steps)
    for step in range(steps):
        starts = torch.randint(len(ids) - T, (16, 1))
        windows = ids[starts + torch.arange(T + 1)]
        logits = model(windows[:, :-1]).logits
        loss = cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[step] = loss.detach()
    return losses
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-train-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("project.train", lambda case: trained(train, case))

# %% [markdown]
# The next cell trains your GPT on your text for `MINUTES` on one core. The default is a few seconds, so that the notebook runs quickly, but the resulting model is poor. For your page, set `MINUTES` to
# between 1 and 10: longer training needs a longer text. In our runs on the language reference (0.4 MB), the held-out loss was 1.48 nats per byte after one minute,
# but 2.31 after ten minutes, which is worse than the baseline. On a novel of 0.7 MB, the held-out loss was still falling after three minutes (1.42).
#
# The model is evaluated eight times during training. After each evaluation, training continues with a new optimiser.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.project.training import log_probabilities, new_gpt, steps_in

print(f"This takes a little more than {60 * MINUTES:.0f} seconds.")
torch.manual_seed(0)
steps = steps_in(MINUTES, train, ids, tokeniser.size)
gpt = new_gpt(tokeniser.size)
curve = {"steps": [0], "training": [], "held out": []}
scored = ids[: len(held_out_ids)], held_out_ids  # as much of the training text as is held out

def measure() -> None:
    for name, part in zip(("training", "held out"), scored):
        curve[name].append(
            -log_probabilities(gpt, part).sum().item() / tokeniser.byte_counts[part[1:]].sum().item()
        )

measure()
for _ in range(8):
    train(gpt, ids, max(1, steps // 8))
    curve["steps"].append(curve["steps"][-1] + max(1, steps // 8))
    measure()
pictures.curve(curve, baseline)

# %% [markdown]
# The curve shows three things: whether the model is better than the baseline, whether it is still improving, and when it begins to memorise the text. If the held-out loss rises while the training loss falls, further steps
# make the model worse: use fewer steps or a longer text.
#
# What has the model learned? It continues the beginning of a held-out passage:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from textwrap import fill

@torch.no_grad()
def continued(prompt: str, tokens: int = 60, seed: int = 0) -> str:
    """The prompt and what the GPT samples after it."""
    draw, row = torch.Generator().manual_seed(seed), torch.tensor([tokeniser.encode(prompt)])
    for _ in range(tokens):
        logits = gpt(row[:, -gpt.config.tokens :]).logits[0, -1] / 0.8
        row = torch.cat([row, torch.multinomial(logits.softmax(dim=-1), 1, generator=draw)[None]], dim=1)
    return tokeniser.decode([one for one in row[0].tolist() if one])

prompt = " ".join(max(held_out[:20], key=len).split()[:6])
print(fill(continued(prompt), 90))

# %% [markdown]
# ## 5 · Neighbours
#
# Skip-gram vectors (01) show which words occur in similar contexts *in your text*. The text is short, so we add the word vector and the context vector of each word (Levy, Goldberg and Dagan 2015). Choose five words that are important in your text.

# %% tags=["demo"]
WORDS = ["class", "raise", "integer", "bytes", "set"]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.project import neighbours

print("This takes about ten seconds.")
vocabulary, vectors = neighbours.learn(list(dict.fromkeys(text.passages)), steps=500)
near = {word: neighbours.nearest(vocabulary, vectors, word) for word in WORDS}
pictures.neighbours(near)

# %% [markdown]
# The nearest words of *set* are verbs such as *get* and *append*. The type *frozenset* follows a few ranks later. A single vector represents all senses of *set*, as in notebook 01.

# %% [markdown]
# ## 6 · The senses of one word
#
# Choose a word with two or more senses; `ambiguous(text.passages)` lists candidates. We use the procedure of Schütze (1998), but with contextual vectors. An encoder gives each occurrence a vector that depends on its sentence. The vectors
# are clustered *without* labels. Independently of the clusters, you label the occurrences by hand.

# %% tags=["demo"]
from coursekit.project import senses

WORD, SENSES = "set", ["assign", "type", "group"]  # your word, and names for its senses
SHEET = None  # or Path("set.csv"), see below
found = senses.occurrences(text.passages, WORD)
for one in found[:4]:
    print(f"…{one.left[-30:]}[{one.word}]{one.right[:30]}…")

# %% [markdown]
# For your own word, `senses.write_sheet(found, Path("set.csv"))` writes a table. Fill in the column `first` *before* you look at the clusters, because the clusters would influence your labels. A partner fills in `second`; if you have no partner, leave this column empty. Empty cells and "?" mean undecided.
#
# Do two annotators agree? Cohen's κ (11; Cohen 1960) measures the agreement beyond chance:
#
# $$\kappa = \frac{\text{agreed} - \text{chance}}{1 - \text{chance}}$$

# %% nbgrader={"grade": false, "grade_id": "project-kappa", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kappa(first: Int[Tensor, "n"], second: Int[Tensor, "n"], senses: int) -> Float[Tensor, ""]:
    """Cohen's κ of two annotators.  (difficulty ●●○, 6 minutes)

    The labels are numbers from 0 to senses − 1, and −1 where an annotator was undecided.
    Count only the occurrences that both annotators labelled. `agreed` is the fraction of equal
    labels. `chance` is the sum, over senses, of the fraction with this label in the first
    annotation times that in the second. (You may use `sklearn.metrics.cohen_kappa_score` after
    leaving out the undecided occurrences.) In the check, chance is below 1.
    """
    ### BEGIN SOLUTION
    both = (first >= 0) & (second >= 0)
    first, second = first[both], second[both]
    p = torch.bincount(first, minlength=senses) / len(first)
    q = torch.bincount(second, minlength=senses) / len(second)
    agreed, chance = (first == second).float().mean(), (p * q).sum()
    return (agreed - chance) / (1 - chance)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-kappa-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("project.kappa", lambda case: kappa(**case))

# %% [markdown]
# For *set* in the language reference of Python 3.11, we have labelled the occurrences twice; in other versions, the labels are matched by the words around each occurrence. Both annotations are by the same person; for the second annotation, the occurrences were shown in random order, with only three words on either side. This is weaker evidence than labels from a second annotator.
#
# **Predict:** the three clusters are found without labels. What fraction of the occurrences have the most frequent label of their cluster (**purity**)?

# %% tags=["demo"]
predict("project.purity", ...)  # between 0 and 1

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
both = senses.read_sheet(found, SHEET, SENSES) if SHEET else senses.our_readings(found)
first_reading, second_reading = map(torch.from_numpy, both)
read = first_reading >= 0
if not read.any():
    raise ValueError(
        f"None of the {len(found)} occurrences is labelled: fill in the sheet, and give its name as SHEET."
    )
labelled = [one for one, is_read in zip(found, read) if is_read]
label = first_reading[read]
encoded = {
    "contextual vectors": senses.contextual_vectors(labelled),
    "the same encoder's layer 0": senses.contextual_vectors(labelled, layer=0),
    "neighbouring words": senses.neighbouring_words(labelled),
}
clusters = {
    name: torch.from_numpy(senses.clustered(rows, len(SENSES))).long() for name, rows in encoded.items()
}
majority = {
    name: torch.stack(
        [
            label[number == one].bincount(minlength=len(SENSES)).argmax()
            if (number == one).any()
            else torch.tensor(0)
            for one in range(len(SENSES))
        ]
    )[number]
    for name, number in clusters.items()
}
correct = {name: (sense == label).double().numpy() for name, sense in majority.items()}
reveal("project.purity", float(correct["contextual vectors"].mean()))
agreement = kappa(first_reading, second_reading, len(SENSES)).item() if (second_reading >= 0).any() else None
print(
    f"{len(labelled)} occurrences labelled"
    + (f"; two annotations: κ = {agreement:.2f}" if agreement is not None else "")
)
pictures.plane(encoded["contextual vectors"], clusters["contextual vectors"].numpy(), label.numpy(), SENSES)

# %% [markdown]
# Position and colour come from different sources: the position from the encoder, the colour from the annotator. They largely agree, and each cluster has one dominant label. Most errors are occurrences of *assign* in the
# cluster of *type*. Look at such occurrences: do you still agree with the label?

# %% [markdown]
# ## 7 · A claim, its control and its interval
#
# Our claim: *contextual vectors separate the senses of "set" that an annotator distinguishes.* What could refute it? Even if labels had nothing to do with clusters, purity would be high, because
# one sense is frequent and each cluster counts its most frequent label. A **permutation test** measures how high: it shuffles the labels and computes the purity again. Its p-value cannot be 0, because the original order of the labels is one of the possible orders (Phipson and Smyth 2010).

# %% nbgrader={"grade": false, "grade_id": "project-control", "locked": false, "schema_version": 3, "solution": true, "task": false}
def control(
    clusters: Int[Tensor, "n"], senses: Int[Tensor, "n"], orders: Int[Tensor, "R n"]
) -> dict[str, Float[Tensor, ""]]:
    """The purity of clusters, and that of shuffled labels.  (difficulty ●●○, 8 minutes)

    "purity" is the fraction of occurrences whose sense is the most frequent sense of their
    cluster. For each row of `orders`, the purity of senses[row] is computed with the same
    clusters: "chance" is the mean of these R values. "p" is (1 + the number of rows whose
    purity is at least that of `senses`) / (1 + R). Clusters and senses are numbered from 0.
    """

    ### BEGIN SOLUTION
    def right(labels: Int[Tensor, "n"]) -> int:
        return sum(labels[clusters == one].bincount().max().item() for one in clusters.unique())

    observed = right(senses)
    permuted = torch.tensor([right(senses[order]) for order in orders])
    p = (1 + (permuted >= observed).sum()) / (1 + len(orders))
    n = len(senses)
    return {"purity": torch.tensor(observed / n), "chance": permuted.float().mean() / n, "p": p}
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-control-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("project.control", lambda case: control(**case))

# %% [markdown]
# The interval needs care as well. Several occurrences may come from the same passage, where the word usually has only one sense. They are not independent, so the bootstrap (Efron 1979) resamples whole **passages** instead of occurrences.

# %% nbgrader={"grade": false, "grade_id": "project-interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def interval(
    values: Float[Tensor, "n"], passage: Int[Tensor, "n"], draws: Int[Tensor, "R P"]
) -> Float[Tensor, "2"]:
    """The 95 % bootstrap interval of a mean, resampling passages.  (difficulty ●●○, 8 minutes)

    passage contains the number of the passage, 0 to P − 1, from which each value comes; every
    passage has at least one value. Each row of draws contains the passages of one resample,
    some of them several times. The mean of a resample is over all values of its passages; the
    values of a passage that was drawn twice count twice. Return the 2.5th and the
    97.5th percentile of the R means, interpolated linearly (as torch.quantile does).
    """
    ### BEGIN SOLUTION
    totals, sizes = torch.bincount(passage, weights=values), torch.bincount(passage)
    means = totals[draws].sum(dim=1) / sizes[draws].sum(dim=1)
    return torch.stack([means.quantile(0.025), means.quantile(0.975)])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-interval-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("project.interval", lambda case: interval(**case))

# %% [markdown]
# We test the claim on three kinds of vectors: the contextual vectors and two baselines. These are the vectors of layer 0 of the same encoder, which do not depend on the other words of the sentence, and a bag of the five words on either side.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
draw = torch.Generator().manual_seed(0)
orders = torch.stack([torch.randperm(len(label), generator=draw) for _ in range(999)])
tested = {
    name: {key: float(value) for key, value in control(number, label, orders).items()}
    for name, number in clusters.items()
}
_, passage = np.unique([one.passage for one in labelled], return_inverse=True)
passage = torch.from_numpy(passage)
resamples = torch.randint(int(passage.max()) + 1, (2000, int(passage.max()) + 1), generator=draw)
ends = {
    name: tuple(float(end) for end in interval(torch.from_numpy(right).float(), passage, resamples))
    for name, right in correct.items()
}
gains = {
    name: torch.from_numpy(correct["contextual vectors"] - right).float()
    for name, right in correct.items()
    if name != "contextual vectors"
}
gained = {
    name: (float(gain.mean()), *(float(end) for end in interval(gain, passage, resamples)))
    for name, gain in gains.items()
}
for name, one in tested.items():
    print(
        f"{name}: purity {one['purity']:.2f} (95 % interval {ends[name][0]:.2f} to {ends[name][1]:.2f}), shuffled labels {one['chance']:.2f}, p = {one['p']:.3f}"
    )
for name, (mean, low, high) in gained.items():
    print(f"contextual vectors, compared with {name}: {mean:+.2f} ({low:+.2f} to {high:+.2f})")
pictures.control(tested, ends)

# %% [markdown]
# The claim has survived: the purity of the contextual vectors is far above that of shuffled labels, and above that of both baselines. The context makes the difference: the vectors of layer 0, which do not depend on it, are at chance level. With other senses or another
# word, the result could have been different.

# %% [markdown]
# ## 8 · Search
#
# A person who knows the text asks questions, and a search engine ranks the passages. Each of our questions has one relevant passage, which we identify by a phrase that it contains. Write your own questions *before* you try
# the search, in words that the relevant passage does not use. **MRR** is the mean of 1/rank (11).

# %% tags=["demo"]
QUESTIONS = {
    "How do I leave a loop early?": "terminates the nearest enclosing loop",
    "Must equal things have the same hash?": "either have the same hash value",
    "May two base classes both use slots?": "only one parent is allowed",
    "Who takes an error that nobody catches here?": "continues in the surrounding code",
    "How do I write a function without a name?": "Lambda expressions",
    "Can a whole number become too large?": "unlimited range",
    "How do I stop the debugger?": "Quit from the debugger",
    "Can I count from the end of a range?": "Ranges do support negative indices",
}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from sklearn.feature_extraction.text import TfidfVectorizer

from coursekit.sentence_vectors import encode

corpus = list(dict.fromkeys(text.passages))
relevant = {
    question: [place for place, one in enumerate(corpus) if phrase.lower() in one.lower()]
    for question, phrase in QUESTIONS.items()
}
asked = [question for question, places in relevant.items() if places]
if missing := sorted(set(QUESTIONS) - set(asked)):
    print("No passage contains the phrase for:", *missing, sep="\n  ")
if not asked:
    raise ValueError("None of the questions has a relevant passage: write your own questions about your text.")
step = max(1, len(corpus) // 500)  # about 500 passages are searched, and all relevant ones
searched = sorted(
    {*range(0, len(corpus), step), *(place for question in asked for place in relevant[question])}
)
print(f"Searching {len(searched):,} passages takes about twenty seconds.")
by_words = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit([corpus[place] for place in searched])
scores = {
    "words (TF-IDF)": (
        by_words.transform(asked) @ by_words.transform([corpus[place] for place in searched]).T
    ).toarray(),
    "sentence vectors": encode(asked) @ encode([corpus[place][:300] for place in searched]).T,
}
ranks = {}
for name, table_of_scores in scores.items():
    best = [
        max(table_of_scores[row, searched.index(place)] for place in relevant[question])
        for row, question in enumerate(asked)
    ]
    ranks[name] = np.array([1 + (table_of_scores[row] > one).sum() for row, one in enumerate(best)])
pictures.search(asked, ranks)

# %% [markdown]
# Eight questions are too few for a comparison, and their author knew the text. Such a table shows where each method fails rather than which is better.

# %% [markdown]
# ## 9 · Three tests
#
# Others can believe your page only if they can trust your code. Write a test for each of three functions of your pipeline. The check runs your tests on correct implementations and on *mutants*, implementations with a planted
# fault. A test must fail for every mutant and pass for every correct implementation, as in notebook 12 (DeMillo, Lipton and Sayward 1978). Your grade also depends on some mutants that this check does not use.

# %% nbgrader={"grade": false, "grade_id": "project-three_tests", "locked": false, "schema_version": 3, "solution": true, "task": false}
def test_split(split) -> None:
    """Raise an AssertionError if `split` has a fault.  (difficulty ●●●, 14 minutes)

    `split` is a function that should do what the docstring of `split` above says. Call it with
    inputs for which you have worked out the result by hand, and `assert` that it returns this
    result. The 14 minutes are for all three tests.
    """
    ### BEGIN SOLUTION
    passages = ["A red fox.", "The sea, the sea!", "It rained.", "Nothing else."]
    passages += ["the sea the SEA", "IT RAINED", "A new day."]
    sizes = torch.tensor([30, 10, 10, 10, 5, 5, 10])  # the last three are exactly a quarter
    found = [split(passages, sizes, fraction).tolist() for fraction in (0.25, 0.251)]
    assert found == [[0, 0, 0, 0, -1, -1, 1], [0, 0, 0, 1, -1, -1, 1]]
    ### END SOLUTION

def test_unigram(unigram_loss) -> None:
    """The same for `unigram_loss`. Allow for rounding: correct code may use float64."""
    ### BEGIN SOLUTION
    train, held_out = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 2, 2, 3, 1])
    loss = unigram_loss(train, held_out, torch.tensor([1, 2, 4, 3]))
    assert abs(loss - 13 * math.log(2) / 15) < 0.001  # probabilities 1/2, 1/4, 1/8, 1/8
    ### END SOLUTION

def test_interval(interval) -> None:
    """The same for `interval`."""
    ### BEGIN SOLUTION
    values, passage = torch.tensor([0.0, 0, 0, 1, 2, 2]), torch.tensor([0, 0, 0, 1, 2, 2])
    draws = torch.tensor([[0, 0, 1], [1, 1, 2], [2, 2, 2], [0, 1, 2]])
    found = interval(values, passage, draws)
    means = torch.tensor([1 / 7, 6 / 4, 2, 5 / 6])
    expected = means.quantile(torch.tensor([0.025, 0.975]))
    assert torch.allclose(found.float(), expected, atol=0.001)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "project-three_tests-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("project.three_tests", lambda case: tried(
    case, split=test_split, unigram=test_unigram, interval=test_interval
))

# %% [markdown]
# In our tests, each number has a purpose. The sizes are unequal, so counting passages gives a different split. Two tokens occur only in the held-out text, and one passage is drawn twice. Do your own functions pass your tests?

# %% tags=["demo"]
test_split(split)
test_unigram(unigram_loss)
test_interval(interval)
print("Your functions pass your tests.")

# %% [markdown]
# ## 10 · The page
#
# The figure summarises what you have measured. Together with the text below, it makes up your page. Someone who has not taken this course should be able to read the page in three minutes.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.page(text.name, curve, baseline, near, tested, ends, ranks)

# %% [markdown]
# **Question 1 · The page.** Write the text of your page. It contains **one claim** about your text, with a number and its interval; **one control** that could have refuted the claim, and what it showed; the source of
# the text and how it was split; and one thing that surprised you, with an example from the text. Write for a reader who does not know the course. (150–250 words)

# %% [markdown] nbgrader={"grade": true, "grade_id": "project-page", "locked": false, "points": 6, "schema_version": 3, "solution": true, "task": false}
# **Does a computer notice that "set" means different things?** The text is Python's language reference, as installed with Python 3.11 (PSF licence). Its last tenth was held out, without
# passages that also occur earlier. *Claim:* an encoder that has never seen our labels separates three senses of "set" (to assign a value, Python's data type, a group of things). Of 85 occurrences, 91 % carry the
# most frequent label of their cluster (95 % interval, resampling passages: 83 % to 96 %). *Control:* with labels in random order, the purity is 0.53 on average, and none of 999 orders reaches 0.91
# (p = 0.001). If the encoder ignored the sentence, purity would be at this level, as it is for the vectors before the first layer. A bag of the five neighbouring words on either side reaches only 0.56, so the encoder does not
# just count neighbours. *Annotation:* one person wrote both sets of labels, and gave the same label to all occurrences that were labelled both times; a second person might draw the boundaries differently. *Surprise:* in "bit 0x04 is set if the function uses…", nobody
# assigns anything, and yet the encoder groups the occurrence with "assign", as the annotator did. *Limits:* this is one word in one technical text, written by people who use it carefully. The claim does not extend to other words.
#
# *Marking: 1 point for a claim that is specific and could be false; 1 point for its number with an interval and what was resampled; 2 points for a control that could have refuted the claim (1) and its result, interpreted correctly (1); 1 point for
# source, licence and split, so that somebody else could repeat it; 1 point for a surprise with an example from the text. A refuted claim earns as many points as one that survived.*

# %% [markdown]
# **Question 2 · What the text cannot show.** Name two conclusions that a reader of your page might draw and that your measurements do not support. For each, say which further measurement or which other text would be needed to support it.
# Was there a decision that you made after seeing the results? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "project-limits", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A reader might conclude that the encoder distinguishes the senses of words in general. We chose a word whose senses differ in part of speech, which is easy. We would need ten words drawn at random from a list of ambiguous words, some with two
# noun senses. A reader might also conclude that the senses are properties of the language. One person wrote both sets of labels and so applied the same ideas twice; a second annotator, given only the names of the senses, would show
# whether these names can be applied consistently. The layer was fixed before the labels were written, but we chose "set" after having looked at several words, so the purity for a word chosen at random is probably lower.
#
# *Marking: 1 point for two unsupported conclusions, each with a suitable further measurement; 1 point for naming a decision made after seeing results and its consequence, or for showing credibly that there was none.*

# %% [markdown]
# ## Summary
#
# - Hold out a contiguous part and remove copies: a model can recite what it has read.
# - Compare language models per byte, and with a unigram baseline on the same split.
# - Label before you look at clusters, and report how well two annotators agree.
# - A control shuffles or removes what the claim is about. A claim that no control could refute says nothing.
# - Resample what is independent: passages, not occurrences.
# - A test is only as good as the faults that it detects.

# %% [markdown]
# ## References
#
# - Cohen, J. (1960). A coefficient of agreement for nominal scales. *Educational and Psychological Measurement* 20(1), 37–46.
# - DeMillo, R. A., Lipton, R. J. and Sayward, F. G. (1978). Hints on test data selection: help for the practicing programmer. *Computer* 11(4), 34–41.
# - Efron, B. (1979). Bootstrap methods: another look at the jackknife. *Annals of Statistics* 7(1), 1–26.
# - Lee, K. et al. (2022). Deduplicating training data makes language models better. *ACL*. arXiv:2107.06499.
# - Levy, O., Goldberg, Y. and Dagan, I. (2015). Improving distributional similarity with lessons learned from word embeddings. *TACL* 3, 211–225.
# - Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. *Statistical Applications in Genetics and Molecular Biology* 9(1), 39.
# - Schütze, H. (1998). Automatic word sense discrimination. *Computational Linguistics* 24(1), 97–123.
# - Søgaard, A., Ebert, S., Bastings, J. and Filippova, K. (2021). We need to talk about random splits. *EACL*. arXiv:2005.00636.

# %% [markdown]
# This is the end of the project, and of the course. The [start page](../start.ipynb) shows your progress.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit import predictions

predictions()
