# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · One corpus, four models
#
# Static embeddings, ELMo, BERT and GPT have each had a notebook of their own. Here all four answer the same questions, and we compare them with two pre-trained models and with the best
# possible prediction. A later section compares models trained on the same English novels. Computing the accuracies is the smaller part of the work; the larger part is to decide
# which differences are real.
#
# **You need** notebooks 01 to 07; 08 and 09 help. **Time** about 85 minutes for the core: six exercises and two written questions. *Further* sections (40 minutes) add
# three exercises, one of which is a bug to find. There is also an optional extension.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [11 · Sentences and documents](../11_sentences/11_sentences.ipynb) · next: [13 · Today's decoders](../13_decoders/13_decoders.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - evaluate the vectors of any model in the same way, item by item;
# - give an interval for every accuracy, and decide whether one model is clearly better than another;
# - find the sentence of a report that the data do not support;
# - derive from an architecture which word can influence which output, and check the result on trained models;
# - compute the exact posterior over the senses of a word, and show how it changes while a sentence is read;
# - write tests that distinguish wrong code from correct code, and measure how good the tests are.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from coursekit import check, hint, predict, predictions, reveal

# %% [markdown]
# ## 1 · The same question for every model
#
# The course's test contains held-out sentences of our generated language. One word of each sentence, the **target**, has two or three senses. Which sense is meant? We do not
# ask a model in words. Instead, the model provides a vector for the target in each sentence, the **contextual embedding**, and we assign the sense of the most
# similar *labelled* occurrence of the same word (1-NN).
#
# This method needs a rule for **ties**. A static embedding is the same in every sentence, so all labelled sentences with the word are equally near. If we took the first of them, the result would depend on the order of the file. We therefore let them all vote.

# %%
# cosines this close count as equal, because a vector computed twice may differ slightly
TIE = 1e-5

# %% nbgrader={"grade": false, "grade_id": "comparison-evaluate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def evaluate(
    known: Float[Tensor, "m D"],
    known_words: Int[Tensor, "m"],
    known_senses: Int[Tensor, "m"],
    asked: Float[Tensor, "n D"],
    asked_words: Int[Tensor, "n"],
) -> Int[Tensor, "n"]:
    """The sense of each held-out word, chosen by a vote of its nearest labelled neighbours.
    (difficulty ●●○, 6 minutes)

    Nearness is measured by the cosine, as in notebook 08. All labelled occurrences within TIE
    of the highest cosine are equally near, and they vote: the most frequent sense among them
    wins. If several senses are equally frequent, the one with the smallest id wins.
    """
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    # same word only
    similarity = similarity.masked_fill(asked_words[:, None] != known_words, -torch.inf)
    ### BEGIN SOLUTION
    near = torch.isclose(similarity, similarity.amax(dim=-1, keepdim=True), rtol=0, atol=TIE)
    votes = near.float() @ one_hot(known_senses).float()
    return votes.argmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-evaluate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.evaluate", lambda case: evaluate(**case))

# %% [markdown]
# Now we introduce the models. `known` contains the labelled sentences, and `asked` contains the held-out sentences. GloVe appears twice: as the single vector of the target, and as a bag of words, that is, the mean vector of the *other* words in the sentence. (All words have equal weight here; in notebook 08, rare words had more weight.) ELMo, BERT and GPT are the small models of this
# course, represented by the vectors of their last layer.

# %% tags=["demo"]
from functools import partial

import ipywidgets
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, ambiguous_words, bounds, sense_exam
from coursekit.language import load_language
from coursekit.pictures import comparison as pictures, comparison_tables as tables, posteriors
from coursekit.plots import use_style
from coursekit.sliders import interact
from coursekit.small import load
from coursekit.small.figures import sense_vectors

use_style()
torch.set_num_threads(1)
language, exam = load_language(), sense_exam()
known, asked = exam.labelled, exam.held_out
print(
    f"{len(known):,} labelled and {len(asked):,} held-out sentences. Held-out sentences by "
    "kind of question:"
)
print("\n".join(f"  {exam.count(kind):,}  {text}" for kind, text in QUESTIONS.items()))

# %% tags=["demo"]
from coursekit import sense_readers as readers

print("This takes a few seconds.")
vectors = {
    "GloVe, one vector": readers.of_language(readers.single_vector),
    "GloVe, bag of words": readers.of_language(readers.bag),
}

# %% tags=["demo"]
print("This takes a few seconds.")
small = {name: load(name.lower()) for name in ("ELMo", "BERT", "GPT")}
for name, model in small.items():
    vectors[name] = [sense_vectors(model, side)[-1] for side in (known, asked)]

# %% [markdown]
# **Predict:** what accuracy does the single GloVe vector reach on all held-out sentences (0 to 1)?

# %% tags=["demo"]
predict("comparison.single", ...)

# %% tags=["demo"]
def ids(values) -> Int[Tensor, "n"]:
    return torch.tensor(np.asarray(values))

truth = ids(asked.sense)
words = [ids(ambiguous_words(side)) for side in (known, asked)]

def answers(
    labelled: Float[Tensor, "m D"], unlabelled: Float[Tensor, "n D"]
) -> Float[Tensor, "n"]:
    """1 where your `evaluate` finds the sense, otherwise 0; the sentences of one word are
    processed at a time to save time and memory."""
    known_senses = ids(known.sense)
    found = readers.word_by_word(
        evaluate, labelled, words[0], known_senses, unlabelled, words[1]
    )
    return (found == truth).float()

right = {name: answers(*both) for name, both in vectors.items()}
reveal("comparison.single", right["GloVe, one vector"].mean().item())
pictures.answers(right, np.flatnonzero(asked.cue == "right")[:40],
                 "Forty sentences with the cue only on the right")

# %% [markdown]
# Each row represents a model, and each column a sentence. The accuracy of a model is the mean of its row, but this mean hides the pattern. In these sentences the cue comes too late for GPT, and
# GloVe's single vector uses no cue at all. Both models are therefore at chance level, but they fail on different sentences. *Keep the answers, not only the mean*, because all later results
# are computed from such rows.

# %% [markdown]
# ## 2 · How certain is a number?
#
# With other sentences of the same kind we would have obtained a different accuracy. How different might it have been? We have no other sentences, but we can simulate them by drawing new test
# sets *from our own*. Each new set has the same number of items, drawn with replacement, so some items occur more than once and others not at all. The mean of each set is an accuracy that
# we might have reported. This method is called the bootstrap (Efron 1979), and the middle 95 % of these means form a **bootstrap interval**.

# %% nbgrader={"grade": false, "grade_id": "comparison-bootstrap_interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bootstrap_interval(
    right: Float[Tensor, "n"], draws: Int[Tensor, "times n"], level: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The percentile interval of the mean, as a tuple with the lower end first.
    (difficulty ●●○, 6 minutes)

    Each row of draws contains the indices of the items of one resampled test set. The interval
    contains the fraction `level` of the means of these sets, and equal fractions lie below and
    above it. Its ends are quantiles of the means, interpolated as in torch.quantile.
    """
    ### BEGIN SOLUTION
    means = right[draws].mean(dim=1)
    outside = (1 - level) / 2
    low, high = means.quantile(torch.tensor([outside, 1 - outside]))
    return low, high
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-bootstrap_interval-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.bootstrap_interval", lambda case: bootstrap_interval(**case))

# %% [markdown]
# We apply the bootstrap to GPT's answers on the sentences whose cue is only on the right. The exact upper bound is known: it is the best accuracy that the words up to the target allow.
#
# **Predict:** how wide is the 95 % interval of GPT's accuracy on these sentences, from end to end?

# %% tags=["demo"]
predict("comparison.width", ...)

# %% tags=["demo"]
def draw_items(n: int, times: int = 1000, seed: int = 0) -> Int[Tensor, "times n"]:
    return torch.randint(n, (times, n), generator=torch.Generator().manual_seed(seed))

limits, side = bounds(), {kind: torch.from_numpy(asked.cue == kind) for kind in QUESTIONS}
gpt_right = right["GPT"][side["right"]]
draws = draw_items(len(gpt_right))
low, high = (end.item() for end in bootstrap_interval(gpt_right, draws, 0.95))
reveal("comparison.width", high - low)
means = gpt_right[draws].mean(dim=1)
pictures.bootstrap(means, gpt_right.mean().item(), (low, high), limits.words_before.right)

# %% [markdown]
# The interval shows how much the accuracy would vary with other *sentences*. It does not show how the accuracy would vary with another training run, another prompt or another language, because we have not
# resampled these. For this reason we trained the models of notebooks 05 to 07 with several seeds.

# %% [markdown]
# ## 3 · The whole scoreboard
#
# Now we compare all models. Two exact predictors use the true probabilities of the language. One reads the words up to the target, the other reads the whole sentence, and each chooses the most probable
# sense. No model that reads the same words can have a higher expected accuracy than the corresponding exact predictor. The untrained models are baselines. The two pre-trained models, MiniLM and SmolLM2, have never seen our language.
# Their vectors take minutes to compute, so their answers were recorded item by item (`python -m experiments one_corpus`).

# %% tags=["demo"]
print("This takes five to ten seconds.")

def exact_reader(context: str) -> Float[Tensor, "n"]:
    """1 where the most probable sense, given the context, is correct, otherwise 0."""
    posterior = language.sense_posterior(asked.ids, asked.position, context)
    return (torch.from_numpy(posterior.argmax(axis=1)) == truth).float()

torch.manual_seed(0)
for name, model in small.items():
    untrained = type(model)(model.config).eval()
    right[f"{name}, untrained"] = answers(
        *(sense_vectors(untrained, part)[-1] for part in (known, asked))
    )

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
recorded = read_table("results/one_corpus.csv")
for name, rows in recorded[recorded.exam == "generated"].groupby("model", sort=False):
    right[name] = torch.tensor(rows.sort_values("item").right.to_numpy()).float()
right["exact, up to the target"] = exact_reader("left")
right["exact, whole sentence"] = exact_reader("both")
ORDER = ["GloVe, one vector", "GloVe, bag of words", "ELMo, untrained", "ELMo",
         "BERT, untrained", "BERT", "GPT, untrained", "GPT", *recorded.model.unique(),
         "exact, up to the target", "exact, whole sentence"]

def with_interval(row: Float[Tensor, "n"]) -> list[float]:
    """The mean, and the lower and upper end of its interval."""
    low, high = bootstrap_interval(row, draw_items(len(row)), 0.95)
    return [row.mean().item(), low.item(), high.item()]

intervals = {name: {kind: with_interval(right[name][here]) for kind, here in side.items()}
             for name in ORDER}
pictures.board(intervals)

# %% [markdown]
# **Cue on the left.** Every model that uses the context finds the sense in nearly all sentences. **Cue only on the right.** Models that have read the cue find the sense, as does the **bag
# of words**. GPT stays at chance level, and so does SmolLM2, although it is six hundred times as large. The words up to the target allow no higher accuracy.

# %% [markdown]
# **Order.** Here, the word order alone determines which cue counts. A bag of words is correct in half of the cases at best, as proved in notebook 02, whereas ELMo and BERT, which were trained on this language,
# are correct in nearly all cases. GPT reaches the upper bound for the preceding words, which determine the sense in most cases. The models trained on English are barely above one half, which may be due to
# their vectors or to 1-NN.

# %% tags=["demo"]
from coursekit.comparisons import (
    distances_from_exact, falsely_clear, recorded_probes, show_on_scoreboard,
)

names = ("MiniLM, pre-trained", "SmolLM2, pre-trained")
on_english = dict(zip(recorded.model.unique(), names))
show_on_scoreboard(intervals, on_english)

# %% [markdown]
# This is the scoreboard of the course, with every row that you have added along the way.
#
# **Question 1 · A fair test for GPT.** On sentences with the cue only on the right, GPT is at chance level, and so is the exact prediction from the words up to the target. A colleague concludes that GPT is
# a bad model of word meaning. What does the result show, and what does it not show? Describe an experiment that would test GPT fairly on these sentences. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "comparison-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The result concerns the vector *at the target*. GPT has not read the cue at that position, and even the exact prediction from the same words is at chance level. The
# result is therefore limited by the position at which we read the vector, not by the knowledge of the model. The result does not show that GPT cannot distinguish the senses once it has read the cue. In a fair experiment, the
# model reads the cue first. We may take the vector of a later token (for example, the last one), repeat the
# sentence and use the second copy, or append a question that asks which sense is meant.
# All models receive the same labelled and held-out sentences and the same classifier (1-NN or a probe), and the exact prediction from the whole sentence is the upper bound.
#
# *Marking: 1 point for the bound (no prediction from the same words does better, so the result reveals no fault in the model); 1 point for an experiment in which the cue
# is read before the answer, with the same items and a bound or control.*

# %% [markdown]
# ## 4 · Which differences are real?
#
# Can the difference between two models be clear although their intervals overlap? Yes, because both were tested on the *same* sentences, and sentences on which both fail cancel in the difference. We
# therefore use the same resampled sentences for both models and compute the **difference** in each draw. This is a *paired* comparison (used for machine translation by Koehn 2004). If nearly
# all draws favour the same model, the choice of sentences does not explain the difference.

# %% nbgrader={"grade": false, "grade_id": "comparison-clear_differences", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clear_differences(
    right: Float[Tensor, "models n"], draws: Int[Tensor, "times n"], level: float
) -> tuple[Float[Tensor, "models models"], Bool[Tensor, "models models"]]:
    """The differences between all pairs of models, and whether each is clear, as a tuple.
    (difficulty ●●○, 8 minutes)

    The entry in row i, column j is the mean of model i minus that of model j, on the original
    items. The difference is clear if its percentile interval over the draws (level as before)
    does not contain 0. Each draw contains the same items for all models. Use your
    bootstrap_interval.
    """
    ### BEGIN SOLUTION
    gaps = right[:, None] - right                                        # models, models, n
    ends = [[bootstrap_interval(gap, draws, level) for gap in row] for row in gaps]
    low, high = torch.tensor(ends).unbind(dim=-1)                        # models, models
    return gaps.mean(dim=-1), (low > 0) | (high < 0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-clear_differences-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("comparison.clear_differences", lambda case: clear_differences(**case))

# %% [markdown]
# Now we turn to **real sentences**. The data set `data/senses` contains sentences for 44 words. The sentences were written to be hard for a bag of words. For 30 of the words, all senses are nouns. For the other 14, the
# senses differ in part of speech, so grammar separates them. We compare the models on the nouns; the table below shows both groups.
#
# As in 08, the cue is far from the target in *far* sentences and comes only after the target in *right* sentences; *decoy* sentences contain words that suggest another sense. All other sentences are *plain*.

# %% [markdown]
# Two baselines are new. **Near words** is the sum of the other words' vectors, each divided by its distance from the target. The **window of two** is a logistic regression that reads only the two words on each side of the target, with a separate model for each target word. Our ELMo can take part although it has never
# seen English, because it reads words letter by letter. Our BERT and GPT cannot take part, because their vocabulary contains only the words of our language. The recorded answers of the pre-trained models use the
# layer that is best on the training sentences. (Most weights of SmolLM2 are stored in 4 bits.)

# %% tags=["demo"]
print("This takes a few seconds.")
both_halves = readers.real_answers({
    "GloVe, one vector": readers.of_form, "GloVe, bag of words": readers.bag,
    "GloVe, near words": readers.near_words,
}, small["ELMo"], evaluate, recorded)
parts = readers.real_sentences()
nouns = (parts[1].parts_of_speech == "same").to_numpy().copy()
real = {name: row[nouns] for name, row in both_halves.items()}

# %% [markdown]
# **Predict:** SmolLM2 has 135 million parameters and reads from left to right; MiniLM has 22 million and reads the context on both sides. Which of the two models finds the correct sense more often
# in the real sentences? Run the cell to see the choices.

# %% tags=["demo"]
LARGER, BOTH_SIDES, UNCLEAR = (
    "SmolLM2, the larger model",
    "MiniLM, which reads both sides",
    "the difference is not clear",
)
predict("comparison.decoder_minus_encoder", ..., choices=(LARGER, BOTH_SIDES, UNCLEAR))

# %% tags=["demo"]
stacked = torch.stack(list(real.values()))                                  # models, sentences
differences, clear = clear_differences(stacked, draw_items(stacked.shape[1]), 0.95)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
encoder, decoder = list(recorded.model.unique())
place = {name: i for i, name in enumerate(real)}
gap = differences[place[decoder], place[encoder]].item()
sure = bool(clear[place[decoder], place[encoder]])
reveal("comparison.decoder_minus_encoder", (LARGER if gap > 0 else BOTH_SIDES) if sure else UNCLEAR, because={
    LARGER: "Size does not make up for words that were not read: where the cue comes after the target, the target's vector cannot reflect it. The table shows the accuracy for each kind of sentence.",
    BOTH_SIDES: "The means alone do not show that MiniLM is better: the sign of their difference changes between resampled sets of the same sentences.",
    UNCLEAR: "In nearly all resampled sets of the same sentences the difference has the same sign, so its interval does not contain 0.",
})
print(f"SmolLM2 minus MiniLM: {100 * gap:+.1f} percentage points")
pictures.differences(list(real), stacked.mean(dim=-1), differences, clear, len(stacked[0]))

# %% tags=["demo"]
tables.by_kind(both_halves, parts[1], nouns, with_interval)

# %% [markdown]
# On the nouns, the methods *near words* and *window of two* are ahead of the bag of words. MiniLM is about five points ahead of these two methods, and each of its two leads is clear if taken alone.
# They are due to *plain* and *far* sentences, but there are too few sentences of each kind to be certain. On *decoy* sentences, where misleading words affect
# MiniLM's vector (08), MiniLM is not ahead. ELMo, which has never seen English, has about the same accuracy as the bag of words.

# %% [markdown]
# The mean accuracies of SmolLM2 and MiniLM are nearly the same, but the two models are not equivalent. Where every cue comes after the target, SmolLM2 is at chance level, because it is
# unidirectional. On decoy sentences, it is ahead of MiniLM. Where the senses differ in part of speech, SmolLM2 finds most of them even if every cue comes after the target, because the words on the left distinguish a verb from a noun.
# The mean alone shows none of these differences.

# %% [markdown]
# **Like with like.** The window of two is *trained* on the labelled sentences, whereas 1-NN is not. For a fair comparison, we also train a classifier for MiniLM and for near words: a
# linear probe for each target word. (The results were recorded with `python -m experiments senses`; the intervals come from resampling words.)

# %% tags=["demo"]
by_judge = recorded_probes()
tables.trained_probes(by_judge)

# %% [markdown]
# With a probe, MiniLM reaches an accuracy of 0.76 (95 % interval 0.73 to 0.80), ten points more than the window of two. MiniLM's vector clearly contains more information about a noun's
# sense than the window does. The accuracy of near words with a probe lies between the two. MiniLM's lead is greatest on plain sentences; on decoy sentences, MiniLM is still not ahead.

# %% tags=["demo"]
def means_by_word(gap: np.ndarray, by_word: np.ndarray, times: int = 2000) -> np.ndarray:
    """Means of resampled test sets in which whole words are drawn, each with all its
    sentences."""
    words, of_word = np.unique(by_word, return_inverse=True)
    sums, counts = np.bincount(of_word, gap), np.bincount(of_word)
    drawn = np.random.default_rng(0).integers(0, len(words), (times, len(words)))
    return sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def widths_of(one: Float[Tensor, "n"], two: Float[Tensor, "n"], by_word=None) -> dict[str, float]:
    """Widths of the 95 % intervals for two models and for their difference, resampled in three ways."""
    draws = draw_items(len(one), times=2000)
    ends = [bootstrap_interval(row, draws, 0.95) for row in (one, two, two - one)]
    first, second, in_pairs = ((high - low).item() for low, high in ends)
    apart = {"difference, separate sentences for each model": (first**2 + second**2) ** 0.5,
             "difference, the same sentences for both": in_pairs}
    if by_word is not None:
        apart["difference, whole words"] = np.ptp(np.quantile(means_by_word((two - one).numpy(), by_word), [0.025, 0.975]))
    return {"the first model": first, "the second model": second, **apart}

near, words_of = "GloVe, near words", parts[1].word_id.to_numpy()
widths = {
    f"near words, MiniLM: {half}":
        widths_of(both_halves[near][here], both_halves[encoder][here], words_of[here])
    for half, here in {"all words": nouns | True, "all nouns": nouns}.items()
}
widths["GPT, exact up to the target"] = widths_of(right["GPT"], right["exact, up to the target"])
tables.widths(widths)

# %% [markdown]
# What do we gain by pairing? For near words and MiniLM we gain little, because the two fail on different sentences. GPT and the exact prediction from the same words fail on the same
# sentences, so the interval for their difference becomes about a fifth narrower.
#
# The bootstrap assumes that items are independent. Twenty sentences with *saw* are not: a model that distinguishes the verb from the noun classifies nearly all correctly.
# Resampling whole *words* (a **cluster bootstrap**) shows how the difference would vary with other words. Over all words, the cluster interval is wider. Among the nouns it is not wider: their
# sentences behave like independent items. You cannot know this in advance, so report what you resampled.

# %% [markdown]
# ### Twenty-one comparisons at once
#
# Seven methods form 21 pairs, and a 95 % interval is designed to miss the true value in one case in twenty. How often, then, is at least one difference called "clear" when there are in fact no differences? To find out, we simulate data sets without true differences: for each sentence, the seven answers are randomly reassigned to the methods.

# %% [markdown]
# Here, the **p-value** of a difference is twice the fraction of bootstrap draws in which the difference has the opposite sign. **Holm's** method (1979) sets a stricter criterion for the 21 comparisons as a whole: the
# smallest p-value may be at most 0.05 / 21, the next at most 0.05 / 20, and so on until one p-value is too large. (**McNemar's** test (1947), common for pairs of classifiers, uses only the sentences on which exactly one of the two is correct; the others do not affect our differences either.)

# %% tags=["demo"]
duels = torch.triu_indices(len(real), len(real), 1)  # one column per pair

def p_values(
    answers: Float[Tensor, "models n"], draws: Int[Tensor, "times n"]
) -> Float[Tensor, "pairs"]:
    means = answers[:, draws].mean(dim=2)                                   # models times
    gaps = means[duels[0]] - means[duels[1]]                                # pairs times
    other_side = torch.minimum(
        (gaps <= 0).float().mean(dim=1), (gaps >= 0).float().mean(dim=1)
    )
    return (2 * other_side).clamp(max=1)

def holm(p: Float[Tensor, "pairs"], level: float = 0.05) -> Bool[Tensor, "pairs"]:
    """Whether each difference remains clear after Holm's correction."""
    order = p.argsort()
    passes = p[order] <= level / torch.arange(len(p), 0, -1)
    return passes.int().cumprod(dim=0).bool()[order.argsort()]

# %% tags=["demo"]
print("This takes a few seconds.")
falsely = falsely_clear(stacked, draw_items(stacked.shape[1]), p_values, holm)
p = p_values(stacked, draw_items(stacked.shape[1], times=4000))
stays = holm(p)
pictures.holm([(list(real)[i], list(real)[j]) for i, j in duels.T], p, stays, falsely)

# %% [markdown]
# With 21 comparisons, at least one difference is called clear in four out of ten simulations without true differences. Holm's method keeps this rate near one in twenty. In our data, two
# differences do not survive the correction: MiniLM's lead over near words and its lead over the window of two. If you had chosen one of these comparisons *before* seeing the results, you could call
# the difference clear; if you select it from the 21 afterwards, you cannot. With a probe, MiniLM's lead over the window is nearly twice as large as with 1-NN.

# %% [markdown]
# How many sentences does it take to detect a difference? We draw n of our sentences at random and let your function decide whether the difference is clear.

# %% tags=["demo"]
def test_sets(
    pair: Float[Tensor, "two n"], n: int, subsets: int = 60
) -> list[tuple[float, bool]]:
    """For each random test set of n items: the second model's mean minus the first's, and
    whether this difference is clear."""
    generator, found = torch.Generator().manual_seed(n), []
    for subset in range(subsets):
        chosen = torch.randperm(pair.shape[1], generator=generator)[:n]
        gaps, clear = clear_differences(pair[:, chosen], draw_items(n, 300, subset), 0.95)
        found.append((gaps[1, 0].item(), clear[1, 0].item()))
    return found

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
sizes = [20, 50, 100, 200, 400]
pairs = [("GloVe, one vector", encoder), ("GloVe, near words", encoder), (decoder, encoder)]
sets = [[test_sets(torch.stack([real[one], real[two]]), n) for n in sizes] for one, two in pairs]
power = {
    f"{two} against {one}\n({100 * differences[place[two], place[one]]:+.0f} points)":
        [np.mean([clear for _, clear in of_size]) for of_size in of_pair]
    for (one, two), of_pair in zip(pairs, sets)
}
called = [100 * abs(gap) for gap, clear in sets[1][sizes.index(100)] if clear]
print(f"{pairs[1][1]} against {pairs[1][0]}: the difference is clear in {len(called)} of 60 test sets of 100 sentences.",
      f"In these sets it is {np.mean(called):.0f} points on average; on all {stacked.shape[1]} sentences it is",
      f"{100 * differences[place[encoder], place[near]]:.0f} points.")
pictures.power(sizes, power)

# %% [markdown]
# > **Checking the literature.** Card et al. (2020) find that many comparisons in our field are *underpowered*: the test sets are too small to detect the reported
# > differences. Dror et al. (2018) find that many papers use no significance test at all. The figure shows how many sentences our own comparisons need. The difference in the second curve,
# > taken alone, is clear with all 693 sentences, yet most test sets of 400 miss it. The difference in the third curve is so small that hardly any test set detects it. As the printed line shows, the differences that a small
# > test set *does* call clear are too large on average, because only a set that overstates the difference detects it.

# %% [markdown]
# ### Which sentence is wrong?
#
# A colleague summarises our results on the nouns in six sentences, which are also meant for *new* test sentences of the same kind. The data support five of them.
#
# - **a** MiniLM is more than five points ahead of the bag of words.
# - **b** SmolLM2 is four points ahead of near words, but the two cannot be distinguished.
# - **c** Near words and the window of two have the same accuracy, so they differ by less than two points.
# - **d** On *decoy* sentences, SmolLM2 is ahead of MiniLM.
# - **e** On *right* sentences, MiniLM is ahead of SmolLM2.
# - **f** On *far* sentences, ELMo is nine points behind the bag of words, but the difference is not clear.

# %% [markdown]
# **Predict:** which sentence is not supported? The figure with the differences and the table of accuracies by kind of sentence help.

# %% tags=["demo"]
A, B, C, D, E, F = (f"sentence {letter}" for letter in "abcdef")
predict("comparison.wrong_sentence", ..., choices=(A, B, C, D, E, F))

# %% [markdown]
# To test such sentences, we write them as claims of three types. Two of these types state how large the difference is; a margin of 0.05 means five points. The third type states that the data do not show which model is better.

# %% nbgrader={"grade": false, "grade_id": "comparison-unsupported", "locked": false, "schema_version": 3, "solution": true, "task": false}
def unsupported(
    scores: Float[Tensor, "models n"],
    claims: list[tuple[int, str, int, float]],
    draws: Int[Tensor, "times n"],
    level: float,
) -> Bool[Tensor, "claims"]:
    """True for each claim that the data do not support.  (difficulty ●●○, 10 minutes)

    All models have been scored on the same n items. Each claim is a tuple (a, type, b, margin)
    about the mean score of model a minus that of model b, on new items. Let your
    bootstrap_interval compute the paired interval of this difference. The data support a
    claim of the type
    - "ahead" if the whole interval is above the margin: a is ahead of b by more than that;
    - "equal" if the whole interval is between -margin and margin: a and b differ by less;
    - "unclear" if the interval contains 0 (as in clear_differences), whatever the margin.
    An interval that ends exactly at the margin is not above it, nor between the margins.
    """
    ### BEGIN SOLUTION
    verdicts = []
    for a, says, b, margin in claims:
        low, high = bootstrap_interval(scores[a] - scores[b], draws, level)
        supported = {
            "ahead": low > margin,
            "equal": low > -margin and high < margin,
            "unclear": low <= 0 <= high,
        }
        verdicts.append(not supported[says])
    return torch.tensor(verdicts)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-unsupported-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("comparison.unsupported", lambda case: unsupported(**case))

# %% tags=["demo"]
REPORT = (  # for each sentence: the kind of test sentences that it is about, and its claim
    ("all", encoder, "ahead", "GloVe, bag of words", 0.05),
    ("all", decoder, "unclear", near, 0),
    ("all", near, "equal", "window of two", 0.02),
    ("decoy", decoder, "ahead", encoder, 0),
    ("right", encoder, "ahead", decoder, 0),
    ("far", "ELMo", "unclear", "GloVe, bag of words", 0),
)
wrong = tables.report(
    REPORT, real, parts[1].kind[nouns], unsupported, draw_items, with_interval
)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
if len(wrong) == 1:
    reveal("comparison.wrong_sentence", (A, B, C, D, E, F)[wrong[0]], because={
        A: "The whole interval of the difference is above five points.",
        B: "The interval contains 0, which is all that this sentence claims.",
        D: "The separate intervals of the two models overlap, but the interval of the paired difference is above 0.",
        E: "Over all nouns the two models cannot be distinguished, but on these sentences the whole interval is above 0.",
        F: "A difference of nine points looks large, but with only 126 sentences the interval contains 0.",
    })
else:
    print(f"Your function finds {len(wrong)} unsupported sentences instead of one; correct it first.")

# %% [markdown]
# On these sentences, the accuracies of near words and of the window of two are equal. On other sentences of the same kind, however, either of them could be four points ahead. *Not clear* is not the same as *equal*: absence of evidence is not evidence of absence (Altman and Bland 1995). The data do support a weaker sentence, with a margin of five points.
#
# Sentence d is supported although the separate intervals of the two models overlap. (Here each sentence is judged on its own. For a whole report, Holm's method would be stricter.)

# %% [markdown]
# ## 5 · Further: find the bug
#
# A large test set is often distributed over several machines. PyTorch's `DistributedSampler` assigns item 0 to machine 0, item 1 to machine 1, and so on in rounds. Every
# machine must receive the same number of items; otherwise some machines would wait for the others forever. The last round is therefore filled up with items from the beginning of the test set. In 2019, users
# noticed that their validation accuracy depended on the *number of machines* (PyTorch issues 22584 and 25162; torchvision's own scripts had the bug until 2021, issue
# 4559). The following function collects the answers as that code did:

# %%
def answers_of_2019(gathered):                             # machines, rounds
    return gathered.flatten()

# %% [markdown]
# The function contains two errors. One error distorts the mean, and the other distorts everything that we compute from individual answers. Write the corrected function.

# %% nbgrader={"grade": false, "grade_id": "comparison-mended_answers", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_answers(
    gathered: Int[Tensor, "machines rounds"], items: int
) -> Int[Tensor, "items"]:
    """The answers in the order of the test set, one for each item.
    (difficulty ●●○, 6 minutes)

    gathered[m, r] is machine m's answer to the item that it received in round r. Items 0, 1,
    2, … are assigned in turn to the machines 0, 1, 2, …; the last round is filled up with the
    first items again.
    """
    ### BEGIN SOLUTION
    return gathered.T.flatten()[:items]
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "comparison-mended_answers-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("comparison.mended_answers", lambda case: mended_answers(
    case["gathered"], case["items"]
))

# %% tags=["demo"]
def deal(row: Float[Tensor, "n"], machines: int) -> Float[Tensor, "machines rounds"]:
    rounds = -(-len(row) // machines)
    return torch.cat([row, row[: rounds * machines - len(row)]]).reshape(rounds, machines).T

few = real[encoder][:67]  # a small test set shows the effect best
print(
    f"{'machines':>8} {'2019 code':>9} {'fixed':>9}   fraction in the right position (2019 "
    "code)"
)
for machines in (1, 2, 4, 8, 16):
    dealt = deal(few, machines)
    old, new = answers_of_2019(dealt), mended_answers(dealt, len(few))
    in_place = (old[: len(few)] == few).float().mean()
    print(f"{machines:>8} {old.mean():>9.4f} {new.mean():>9.4f}   {in_place:.2f}")

# %% [markdown]
# The mean is only slightly wrong, which is why the bug was easy to miss. But the answers are in the wrong positions, which invalidates every paired comparison. Evaluation code
# therefore needs tests as well. One of them should check that the result does not depend on how the work was divided.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [An accuracy that depends on the number of machines](../../docs/bugs/12_answers_of_several_machines.md).

# %% [markdown]
# ## 6 · The architecture table, checked
#
# In notebooks 04 to 07 you filled in a table that shows which words a model can use, how far a signal travels and how much the computation costs (after Vaswani et al. 2017, table 1). There we derived the
# entries from diagrams. Here we compute them with one function and then check whether they hold for the trained models.

# %% nbgrader={"grade": false, "grade_id": "comparison-path_lengths", "locked": false, "schema_version": 3, "solution": true, "task": false}
def path_lengths(architecture: str, T: int, layers: int) -> Int[Tensor, "T T"]:
    """Smallest number of cells on a path from input j (column) to output i (row).
    (difficulty ●●○, 8 minutes)

    An entry is 0 where there is no path. A cell is one layer at one position. "recurrent": in
    each layer, a cell reads the cell below it and its left neighbour. "elmo": one such stack
    in each direction, with concatenated outputs. "encoder": a cell reads all cells of the
    layer below. "decoder": a cell reads the cells of the layer below at its own position and
    at earlier positions.
    """
    ### BEGIN SOLUTION
    apart = torch.arange(T)[:, None] - torch.arange(T)
    lengths = torch.full((T, T), layers)
    if architecture in ("recurrent", "elmo"):
        lengths = lengths + apart.abs()
    if architecture in ("recurrent", "decoder"):
        lengths = lengths.masked_fill(apart < 0, 0)
    return lengths
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-path_lengths-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.path_lengths", lambda case: path_lengths(
    case["architecture"], len(case["ids"]), case["layers"]
))

# %% [markdown]
# The **influence** from notebook 05 measures the corresponding property of a trained model: how much output i changes with input j. Where there is no path, the influence must be *exactly* 0.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.derivatives import influence
from coursekit.small.bert import single
from coursekit.small.elmo import Spelling

SENTENCE = "anna remembered the last cell that the prisoner shared"
row = torch.from_numpy(language.encode(SENTENCE, pad=False))[None]
elmo, bert, gpt = small.values()
T, seen = row.shape[1], torch.ones_like(row, dtype=torch.bool)
spelt = elmo.token(Spelling().of_ids(row))[0]
read_by_bert = bert.embeddings(single(row), torch.zeros_like(row))[0]
runs = {
    "recurrent": (elmo, spelt, lambda x: elmo.forward_stack(x)[-1]),
    "elmo": (elmo, spelt, lambda x: elmo.run(x, seen.expand(len(x), -1)).hidden[-1]),
    "encoder": (bert, read_by_bert, lambda x: bert.run(x, seen.expand(len(x), -1)).hidden[-1]),
    "decoder": (gpt, gpt.embed(row)[0], lambda x: gpt.run(x).hidden[-1]),
}
claimed = {name: path_lengths(name, T, model.config.layers) for name, (model, _, _) in runs.items()}
measured = {name: influence(run, x) for name, (_, x, run) in runs.items()}
pictures.reach(claimed, measured, ["[BOS]", *SENTENCE.split(), "[EOS]"])

# %% [markdown]
# The upper row shows the results of your function, and the lower row shows the influence measured in the trained models of 05, 06 and 07 (colour: square root of the influence). The white cells are the same in both rows. In the
# recurrent models the colour also fades as the path gets longer; with attention, distant words are no farther away in the network than neighbouring words.
#
# The next cell shows the whole table. A `✓` marks a statement about the context that our measurement confirms; the times are measured as well.

# %% tags=["demo"]
from coursekit.pictures.architecture_table import architectures, encoder_decoder_agrees

both_agree = encoder_decoder_agrees()
agrees = {name: bool(((measured[name] > 0) == (claimed[name] > 0)).all()) for name in runs}
architectures(agrees, both_agree, claimed)

# %% [markdown]
# The decoder generates one word after another, so "1 per layer" refers to training. The path of the encoder–decoder follows from its diagram (04): it passes through the encoder's layers and one more
# cell. The times are CPU times of one layer on this machine. Sixteen times as many pairs of words need not take sixteen times as long.

# %% [markdown]
# Notebooks 04 to 07 saved two quantities. One is the derivative with respect to the first word: its size after 64 words, divided by its size after 2 words. The other is the factor by which the time grows
# for 64 times as many words. (Times are given to one significant digit, since two of our runs differed by up to a factor of three.) *Recorded* marks a value from our run, shown because you have not
# run that notebook.

# %% tags=["demo"]
from coursekit.architectures import carried

display(carried())

# %% [markdown]
# The untrained plain recurrence and the untrained LSTM (forget gates half open) have lost the first word, whereas ELMo's trained LSTMs have kept it. With attention, the ratio is of the
# order of 1/T, whether or not the model is trained. For computing time, the ranking is reversed. Attention compares all pairs of words, so its time grows much faster than that of a recurrence.

# %% [markdown]
# ## 7 · Further: explain a sentence
#
# The exact predictions of section 3 come from one formula. To generate a sentence of our language, a **template** is chosen, and each of its slots is filled independently with a word.
# With K templates z,
#
# $$p(\text{sense} \mid w_1 \dots w_n) \;\propto\; \sum_{z\,:\,\text{sense}(z) = \text{sense}} p(z) \prod_{t \le n} p(w_t \mid z) .$$
#
# Logarithms turn the product into a running sum. The sum up to word n gives the posterior after n words, that is, *while the sentence is read*.

# %% nbgrader={"grade": false, "grade_id": "comparison-explain", "locked": false, "schema_version": 3, "solution": true, "task": false}
def explain(
    log_prior: Float[Tensor, "K"], log_words: Float[Tensor, "K T"], senses: Int[Tensor, "K"],
    S: int
) -> Float[Tensor, "T+1 S"]:
    """Row n: the posterior over S senses after the first n words.
    (difficulty ●●●, 10 minutes)

    log_prior[k] is the log-probability of template k (not normalised); log_words[k, t] is that
    of word t in template k, −∞ if the template cannot contain this word. senses[k] is the
    sense of the target in template k, or −1 for templates without a sense, which are ignored.
    A sense may have no template. If no template can contain the words, the row is zero. The
    probabilities of long sentences are too small for float32; their logarithms are not.
    """
    ### BEGIN SOLUTION
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)   # K T+1
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return (by_sense - by_sense.logsumexp(dim=-1, keepdim=True)).exp().nan_to_num()
    ### END SOLUTION

# %% course={"extra_credit": 3} nbgrader={"grade": true, "grade_id": "comparison-explain-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("comparison.explain", lambda case: explain(**case))

# %% [markdown]
# The tables of the language contain these probabilities. We include the target itself in the prior and then read the other words in order.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def encoded(text: str) -> Int[np.ndarray, "T"]:
    """The token ids of a text. Raises ValueError, with an explanation, for words outside the language."""
    return language.encode(text.lower().replace(".", " ").split(), pad=False)

def read(text: str) -> tuple[list[str], Float[Tensor, "T+1 S"], int]:
    """Labels of the steps, the posterior at each step, and the number of words before the target."""
    sentence = encoded(text)
    forms = set(ambiguous_words(known).tolist()) | set(ambiguous_words(asked).tolist())
    places = [i for i, word in enumerate(sentence) if int(word) in forms]
    if not places:
        raise ValueError(f"it contains no ambiguous word; try one of {', '.join(language.ambiguous)}.")
    tables, t = language.tables, np.arange(len(sentence))
    with np.errstate(divide="ignore"):
        log_words = np.log(tables.probability[tables.slot_of[t], sentence[t, None]]).T       # K T
        log_prior = np.log(tables.prior) + log_words[:, places[0]]
    order = np.delete(t, [0, places[0]])                              # [BOS] is in every template
    senses = tables.sense_of[tables.slot_of[places[0]]]
    log_words = torch.from_numpy(log_words[:, order])
    rows = explain(torch.from_numpy(log_prior), log_words, ids(senses), len(language.senses))
    labels = [language.vocabulary[word] for word in sentence[[places[0], *order]]]
    return labels, rows, places[0] - 1

TWO = ["anna remembered the last cell that the prisoner shared",
       "anna remembered the last cell that the biologist stained"]
readings = {text: read(text) for text in TWO}
difference = max(
    float(np.abs(rows[-1].numpy() - language.sense_posterior(
        language.encode(text, pad=False)[None], np.array([before + 1]), "both")[0]).max())
    for text, (_, rows, before) in readings.items())
print(f"largest difference from the course's own posterior: {difference:.1e}")

# %% [markdown]
# **Predict:** the sentence is "anna remembered the last cell that the prisoner shared". After *last*, before anything to the right of *cell* is read, what is the
# probability of the prison sense?

# %% tags=["demo"]
predict("comparison.prison", ...)

# %% tags=["demo"]
steps, rows, before = readings[TWO[0]]
prison = language.senses.index("cell#prison")
reveal("comparison.prison", rows[before, prison].item())
posteriors.reading({text: reading[:2] for text, reading in readings.items()}, language.senses)

# %% [markdown]
# When *cell* is reached, each sense has probability one third. The words *that the* change nothing, because they can follow all three kinds of cell. The next word, *prisoner* or
# *biologist*, determines the sense. A decoder computes its vector for *cell* from the words read up to the row for *last*, whereas BERT uses all the words read up to the bottom row.
#
# What probabilities do the *models* assign? Instead of the single nearest neighbour, we use all labelled occurrences of the word, weighted by a softmax over the cosines divided by a temperature.
# The labelled sentences are the keys, and their senses (one-hot) are the values. This is the attention of 02 once more.

# %% nbgrader={"grade": false, "grade_id": "comparison-neighbour_posterior", "locked": false, "schema_version": 3, "solution": true, "task": false}
def neighbour_posterior(
    asked: Float[Tensor, "n D"],
    known: Float[Tensor, "m D"],
    known_senses: Int[Tensor, "m"],
    same_word: Bool[Tensor, "n m"],
    temperature: float,
    S: int,
) -> Float[Tensor, "n S"]:
    """A distribution over S senses for each held-out word.  (difficulty ●●○, 6 minutes)

    Labelled occurrences of the same word are weighted by the softmax of their cosines divided
    by the temperature (which may be as low as 0.01); other occurrences have weight 0. The
    probability of a sense is the sum of the weights of its occurrences (0 if it has none).
    Each row of same_word contains at least one True.
    """
    ### BEGIN SOLUTION
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "comparison-neighbour_posterior-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("comparison.neighbour_posterior", lambda case: neighbour_posterior(**case))

# %% tags=["demo"]
from coursekit.small.figures import hidden_states

TEMPERATURE = 0.01
S = len(language.senses)

@torch.no_grad()
def opinions(text: str) -> dict[str, Float[Tensor, "S"]]:
    """Distributions over senses: the exact posteriors up to the target and for the whole
    sentence, and the distribution of each model."""
    _, rows, before = read(text)
    sentence = torch.from_numpy(encoded(text))[None]
    same = (words[0] == sentence[0, before + 1])[None]
    found = {"exact, up to the target": rows[before], "exact, whole sentence": rows[-1]}
    for name, model in small.items():
        vector = hidden_states(model)(sentence)[-1, :, before + 1]
        labelled = vectors[name][0], ids(known.sense)
        found[name] = neighbour_posterior(vector, *labelled, same, TEMPERATURE, S)[0]
    return found

posteriors.opinions({text: opinions(text) for text in TWO}, language.senses)

# %% [markdown]
# GPT gives the same answer for both sentences and is not certain of any sense, like the exact posterior up to the target. BERT agrees with the exact posterior of the whole sentence.
# ELMo's answer hardly changes between the two sentences. Is this due to ELMo, or to our choice of temperature and sentences? To find out, we take 300 questions with the cue only
# on the right. For each question, we measure how much probability would have to be moved to turn a model's distribution into an exact posterior. This quantity is called the *total variation distance*.

# %% tags=["demo"]
moved = distances_from_exact(
    neighbour_posterior, {name: vectors[name] for name in small}, (0.002, TEMPERATURE, 0.05)
)
tables.distances(moved)

# %% [markdown]
# At each temperature, BERT is nearer to the posterior for the whole sentence, and GPT to that for the words up to the target. ELMo's result depends on the temperature. At the lowest temperature, where the
# nearest neighbour dominates, ELMo is nearer to the posterior for the whole sentence; at the highest, ELMo is nearer to that for the words up to the target. Half of ELMo's vector depends only on the preceding words; as a result, many neighbours are almost equally near (05). The sense that we read from a vector therefore also depends on the method.

# %% [markdown]
# Now **type a sentence** of your own. It must consist of words of our language; the cell suggests replacements for any other words. The first two sentences below contain the same
# words in a different order.

# %% tags=["demo"]
show_sentence = partial(posteriors.sentence, read=read, opinions_on=opinions)
posteriors.readings([
    "the teenagers that visited the prisoners liked the cells",
    "the prisoners that visited the teenagers liked the cells",
], read, opinions)
for attempt in ("the wombat slept in a cell", "cell the the the"):
    print(f"> {attempt}")
    show_sentence(attempt)

# %% tags=["demo"]
box = ipywidgets.Text(
    "this is clearly the bank with the green willows", layout={"width": "90%"}
)
interact(show_sentence, by_button=True, text=box)

# %% [markdown]
# ## 8 · Write the tests
#
# So far, tests have judged your code. Now the roles are reversed: **you** write the tests, and we judge them. A test has two parts, inputs and expected outputs. You
# provide the inputs, and a trusted implementation of attention provides the expected outputs.
# 
# In a separate process, in which your code does not run, your inputs are passed to implementations of attention with *planted faults* (an inverted mask, missing scaling, …). A fault is
# **exposed** if the faulty output differs from the trusted output by more than rounding error. A **false alarm** is a *correct* but unusual implementation whose output also differs; false alarms are subtracted
# from your score.

# %% tags=["demo"]
from coursekit.planted import attention as practice
from coursekit.planted.tensors import expose, row_by_row

generator = torch.Generator().manual_seed(3)
shapes = (4, 5, 6), (4, 7, 6), (4, 7, 8), (4, 5, 7)  # B = 4, Tq = 5, Tk = 7, d = 6, dv = 8
q, k, v, coin = (torch.randn(shape, generator=generator) for shape in shapes)
naive = {"queries": q, "keys": k, "values": v, "keep": torch.ones_like(coin, dtype=torch.bool)}

# %% tags=["demo"]
tried = partial(row_by_row, task=practice.TASK)
pictures.exposure(tried(naive), "random numbers, nothing masked")

# %% [markdown]
# Most people first try random numbers with nothing masked. Entire categories of faults then go unnoticed. We work out one row as an example. A fault that ignores the mask can be noticed only
# where a key is masked, so in row 0 we mask the last key for all queries:

# %% tags=["demo"]
one_hidden = {**naive, "keep": naive["keep"].clone()}
one_hidden["keep"][0, :, -1] = False
before, now = tried(naive)[0].exposed, tried(one_hidden)[0].exposed
print("row 0 now also exposes:", "; ".join(fault.name for fault in now if fault not in before))

# %% nbgrader={"grade": false, "grade_id": "comparison-attention_tests", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_tests(
    queries: Float[Tensor, "B Tq d"],
    keys: Float[Tensor, "B Tk d"],
    values: Float[Tensor, "B Tk dv"],
    coin: Float[Tensor, "B Tq Tk"],
) -> dict[str, Tensor]:
    """Inputs that distinguish a wrong attention from a correct one.
    (difficulty ●●●, 15 minutes)

    Return "queries", "keys" and "values" of the given shapes and "keep" (bool, B Tq Tk; B ≥ 4)
    for the attention of 02: keep is True where a query may attend to a key; the output is zero
    for a query that may attend to no key. The arguments contain standard normal numbers; use,
    change or ignore them, but do not modify them in place. All numbers you return must be
    finite and at most a million in absolute value.

    Each batch is judged as a whole: exposed faults minus false alarms. The check plants the 15
    practice faults, and your inputs must expose all of them. For the grade they must do so
    again, and they must also expose 85 % of all 29 faults (these 15 and 14 others). Two
    outputs count as different if they are further apart than a thousandth of the largest
    expected number.
    """
    ### BEGIN SOLUTION
    queries, keys, values = queries.clone(), keys.clone(), values.clone()
    keep = coin.signbit()
    (*_, q), (*_, k), (*_, mask) = queries, keys, keep      # the last row of the batch, as views
    q *= 1000                                               # scores too large for exp,
    mask[:] = (q @ k.T).signbit()                           # with the best keys masked
    keep[0] = False                                         # queries that may attend to no key
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-attention_tests-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("comparison.attention_tests", lambda case: attention_tests(**case))

# %% tags=["demo"]
yours = attention_tests(q, k, v, coin)
found = expose(yours, practice.TASK)
print(f"as one batch: {len(found.exposed)} of {found.faults} faults exposed,",
      f"{len(found.false_alarms)} false alarms")
pictures.exposure(tried(yours), "your inputs")

# %% [markdown]
# Each row of the batch serves its own purpose, and no single row exposes every fault. (Here the rows are tried one by one. A fault that applies the *first row's* mask to all rows is
# invisible in a batch of one, because only a comparison of rows exposes it.) The practice faults are in `coursekit/planted/attention.py`.

# %% [markdown]
# **False alarms.** What could make a correct implementation fail a test? The test may require a precision that no docstring promises and that float32 does not provide.

# %% tags=["demo"]
shifted = {**yours, "keys": yours["keys"] + 300_000}
alarm = expose(shifted, practice.TASK)
for one in alarm.false_alarms:
    print("rejected although correct:", one.name.removeprefix("right: "))
score = (q @ (k + 300_000).mT / 6**0.5)[0, 0]
exact = (q.double() @ (k.double() + 300_000).mT / 6**0.5)[0, 0]
print(f"one query's scores: mean {exact.mean():.0f}, standard deviation {exact.std():.2f},",
      f"rounding error up to {(score - exact).abs().max():.3f}")

# %% [markdown]
# Adding the same vector to all keys adds the same number to all scores of a query, and a softmax ignores such a shift. Mathematically, the output is therefore unchanged. In float32, however, the
# digits that matter are lost. A test that rejects correct code is worse than no test, because people learn to ignore it.
#
# Planting faults to judge tests is called *mutation testing* (DeMillo, Lipton and Sayward 1978). We tested every check of this course in this way, by making small changes to its
# solution. The check had to detect each *mutant*, or one of us had to explain why that mutant was equally correct.

# %% [markdown]
# **Question 2 · What tests can show.** Your inputs expose nearly every planted fault. Is an implementation that passes your tests free of faults? Name a kind of fault that no inputs of *this* form can
# expose, and explain how you would test for it. Why does the grade use faults that you have not seen? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "comparison-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# No. Passing shows that the code is correct on these inputs, at these sizes, up to the tolerance; the planted faults are a sample of the faults that people make. Some
# faults do not show in the output of one call: an input that is modified in place, a wrong gradient (a detached tensor), dependence on global state or on an earlier call,
# time or memory that grows too fast, or an error below the tolerance. Each needs a different kind of test: compare the inputs before and after the call, check gradients
# numerically, call the function twice, or measure time and memory at two lengths. Known faults can be targeted one by one. How well the tests expose faults that nobody thought of can only be
# estimated with faults for which the tests were not written, just as a model is evaluated on held-out data.
#
# *Marking: 1 point for a fault that the output of one call does not show, with a suitable test; 1 point for held-out faults as the analogue of held-out data.*

# %% [markdown]
# ## Further: four models trained on the same novels
#
# In sections 1 to 3, four models shared one corpus of a generated language. The English models of section 4 differ in their training data, their size and the way they were trained. Four models of
# this course have been trained on the *same* texts, 82 English novels from 1839 to 1927: [skip-gram](../../data/models/novels_skipgram.md), and three models with 5 to 7 million
# parameters, [ELMo](../../data/models/novels_elmo.md), [BERT](../../data/models/novels_bert.md) and [GPT](../../data/models/novels_gpt.md). Is their ranking the same as in the
# generated language?

# %% [markdown]
# We test the models on the words of section 4 that occur in the novels. (Not every sense occurs: no *mouse* in the novels has a button.) For the three contextual models, we use the vectors of the
# layer that is best on the training sentences, and those of layer 0. (If a word consists of several subwords, its vector is their mean.)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.novels.readers import NOVEL_READERS, chance_level, known_to_novels, nearest_labelled, read_all

print("This takes ten to fifteen seconds.")

def hits(labelled: Float[Tensor, "m D"], of_labelled: pd.DataFrame, unlabelled: Float[Tensor, "n D"], of_unlabelled) -> np.ndarray:
    """1 where your evaluate finds the sense, otherwise 0."""
    found = evaluate(labelled, ids(of_labelled.word_id), ids(of_labelled.sense_id), unlabelled, ids(of_unlabelled.word_id))
    return (found == ids(of_unlabelled.sense_id)).double().numpy()

def best_on_train(layers: Float[Tensor, "n layers D"]) -> int:
    """The layer above 0 at which the two halves of the training sentences classify each other best."""
    even, odd = np.arange(len(trained))[::2], np.arange(len(trained))[1::2]
    found = [sum(hits(layers[one, layer], trained.iloc[one], layers[other, layer], trained.iloc[other]).sum() for one, other in ((even, odd), (odd, even)))
             for layer in range(1, layers.shape[1])]
    return 1 + int(np.argmax(found))

trained, tested = (part[known_to_novels(part)] for part in parts)
all_layers = {name: (read_all(reader, trained), read_all(reader, tested)) for name, reader in NOVEL_READERS.items()}
novel_vectors, best_layers = {}, {}
for name, (one, other) in all_layers.items():
    if one.shape[1] > 1:
        novel_vectors[f"{name}, layer 0"] = one[:, 0], other[:, 0]
        best_layers[name] = best_on_train(one)
    novel_vectors[name] = tuple(layers[:, best_layers.get(name, 0)] for layers in (one, other))

in_novels = pd.DataFrame({"chance": chance_level(tested.word, tested.sense)}, index=tested.index)
for name, (one, other) in novel_vectors.items():
    in_novels[name] = hits(one, trained, other, tested)
for name in ("window of two", encoder, decoder):
    in_novels[f"({name})"] = both_halves[name].double().numpy()[known_to_novels(parts[1])]

def by_word(gap: np.ndarray, word: np.ndarray) -> tuple[float, float, float, float]:
    """A mean, its 95 % interval and its p-value, from resampling whole words."""
    means = means_by_word(gap, word, times=40_000)
    below, above = (means <= 0).mean(), (means >= 0).mean()
    return gap.mean(), *np.quantile(means, [0.025, 0.975]), min(1, 2 * min(below, above))

HALVES = {"all nouns": tested.parts_of_speech == "same", "different parts of speech": tested.parts_of_speech == "another"}
tables.in_novels(in_novels, tested, HALVES, by_word)
print("best layers on the training sentences:", ", ".join(f"{name} {layer}" for name, layer in best_layers.items()))

# %% [markdown]
# At layer 0 a vector does not depend on any other word. Among the nouns, the accuracy at layer 0 is not above chance level, so the three models obtain their information about a noun's sense from the
# sentence. Where the senses differ in part of speech, ELMo's layer 0 is slightly above chance, because it reads the spelling, and an ending may distinguish a noun from a verb.
# (The rows in brackets are for comparison; two of these models were trained on other texts.)

# %% [markdown]
# The test in the generated language distinguishes questions by the position of the cue. We can do the same for English, because `data/senses` lists the cues of its hard sentences. We divide these sentences into those with a cue
# before the target and those in which all cues come after it.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.sense_readers import BEFORE, LATER, position_of_cue, weighted_in_language

print("This takes a few seconds.")
artificial = pd.DataFrame({
    "chance": chance_level(words[1].numpy(), asked.sense), "bag of words": right["GloVe, bag of words"],
    "near words": answers(*weighted_in_language(lambda apart: 1 / apart.abs())),
    "near words before": answers(*weighted_in_language(lambda apart: (apart < 0) / apart.abs())), **{name: right[name] for name in small},
    "word": words[1], "told": pd.Series(asked.cue).map({"left": BEFORE, "right": LATER}).fillna(""),
})
in_novels["word"], in_novels["told"] = tested.word, [position_of_cue(row) for row in tested.itertuples()]
LANGUAGES = {"generated language": artificial, **{f"novels: {half}": in_novels[in_half] for half, in_half in HALVES.items()}}

def among(answered: pd.DataFrame, place: str, one: str, other: str | None = None) -> tuple[float, float, float, float]:
    """Accuracy on the sentences whose cue is in this position, or the lead over another method on them, with its interval and p-value."""
    rows = answered[(answered.told == place) | (place == "all")]
    return by_word((rows[one] - (rows[other] if other else 0)).to_numpy(), rows.word.to_numpy())

pictures.four_readers({
    called: {name: {place: among(answered, place, name)[:3] for place in (BEFORE, LATER)} for name in NOVEL_READERS}
    for called, answered in LANGUAGES.items()
}, {called: {place: int((answered.told == place).sum()) for place in (BEFORE, LATER)} for called, answered in LANGUAGES.items()},
   {called: answered.chance.mean() for called, answered in LANGUAGES.items()})

# %% [markdown]
# The left panel shows those questions of the generated language that have one cue and do not depend on word order. Nearly all answers are correct, except those of GPT where the cue comes after the target. Next we
# compare pairs of methods on the same sentences, resampling whole words. We make fifteen comparisons in each group of English words, so Holm's method is applied to thirty comparisons.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
COMPARISONS = (
    ("all", "bag of words", "chance"), ("all", "near words", "bag of words"),
    *(("all", name, below) for below in ("bag of words", "near words") for name in small),
    *((BEFORE, name, "GPT") for name in ("ELMo", "BERT")), *((LATER, name, "GPT") for name in ("ELMo", "BERT")),
    (LATER, "BERT", "ELMo"), (LATER, "near words before", "chance"), (LATER, "GPT", "chance"),
)
gaps_in = {called: [among(answered, *which) for which in COMPARISONS] for called, answered in LANGUAGES.items()}
ARTIFICIAL, *IN_NOVELS = LANGUAGES
stays_of = holm(torch.tensor([p for called in IN_NOVELS for *_, p in gaps_in[called]])).reshape(len(IN_NOVELS), -1)
stays_in = dict(zip(IN_NOVELS, stays_of.tolist()))
tables.leads(COMPARISONS, gaps_in, stays_in)

# %% [markdown]
# **Where the ranking is the same.** In both groups, the bag of words is above chance, and ELMo and BERT are above the bag of words. GPT is the exception. In the generated language,
# GPT is slightly below the bag of words. In English, GPT is above it where the senses differ in part of speech; among the nouns, this lead is clear only without Holm's correction.

# %% [markdown]
# **Where the ranking differs.** In the generated language, weighting by nearness does not improve on a bag of words, whereas ELMo and BERT are far above both methods, because part of that test depends on word
# order. The English test does not depend on word order, and here near words are above the bag of words. Among the nouns, no contextual model is clearly ahead of near words. Where the senses differ
# in part of speech, all three are ahead. (Grammar can separate these senses; we have not tested whether the models use it.)

# %% [markdown]
# **The bound of a decoder.** Where the cue comes only after the target, a decoder should be at chance level. In the generated language, GPT is at chance level, and so are the near words before the target, whereas
# ELMo and BERT are far ahead. In real English, this bound is not visible. GPT and the near words before the target are above chance in both groups, and neither ELMo nor BERT is
# clearly ahead of GPT. We wrote these sentences so that the cue comes later, yet the preceding words contain hints. (The list of cues has no articles, so "the" before *saw*
# does not count as a cue.) A model that reads only one side reveals such hints.

# %% [markdown]
# What are the limits of this comparison? Each of these models was trained only once, on the same number of sequences (4,700 batches of 32). On books by unseen authors, a word 5-gram model fills more gaps correctly than ELMo does, and ELMo fills more than BERT, whichever of two BERT seeds we use (06). Per character, GPT's loss is lower than that of 5-grams of subwords (see its model card). Among the
# nouns the choice of layer matters: with ELMo's other layer, or BERT's last layer but one, the lead over the bag of words is clear only without Holm's correction. With only 28 words in one group and 14 in the other, methods whose results do not differ clearly here may still differ.

# %% [markdown]
# Now try a sentence of your own. For each model, the cell shows the nearest labelled sentence.

# %% tags=["demo"]
YOUR_WORD = "bank"                                                          # change these
YOUR_SENTENCE = "They sat on the bank and watched the boats."
told_by = partial(
    nearest_labelled, labelled=trained, vectors=novel_vectors, layers=best_layers
)
print(told_by(YOUR_WORD, YOUR_SENTENCE))

# %% [markdown]
# ## Extension: calibration
#
# If a model assigns probability 0.8 to the prison sense, is it correct in eight of ten such cases? To find out, we sort all answers into bins by their confidence and compare the mean confidence
# (*said*) with the accuracy (*found*) in each bin. The mean gap over all answers is the **expected calibration error** (Naeini et al. 2015; for neural networks, Guo et al. 2017). This
# exercise counts as extra credit.

# %% nbgrader={"grade": false, "grade_id": "comparison-calibration", "locked": false, "schema_version": 3, "solution": true, "task": false}
def calibration(
    confidence: Float[Tensor, "n"], right: Float[Tensor, "n"], bins: int
) -> dict[str, Tensor]:
    """Confidence and accuracy in bins of equal width from 0 to 1.  (extension, ●●○, 8 minutes)

    "said" is the mean confidence in a bin, "found" the mean of right (0 or 1), "count" the
    number of answers. Each has shape (bins,) and is 0 in an empty bin. A bin includes its
    lower end but not its upper end; the last bin also includes 1. "error" is the mean over all
    answers of the distance between said and found in their bin.
    """
    ### BEGIN SOLUTION
    which = (confidence * bins).long().clamp(max=bins - 1)
    member = one_hot(which, bins).T.float()                                       # bins n
    count = member.sum(dim=1)
    said, found = (member @ x / count.clamp(min=1) for x in (confidence, right))
    error = (count * (said - found).abs()).sum() / count.sum()
    return {"said": said, "found": found, "count": count, "error": error}
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "comparison-calibration-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("comparison.calibration", lambda case: calibration(**case))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
late, labelled = side["right"], (vectors["GPT"][0], ids(known.sense))
same = words[1][late][:, None] == words[0]

def in_bins(posterior: Float[Tensor, "n S"]) -> dict[str, Tensor]:
    confidence, guess = posterior.max(dim=-1)
    return calibration(confidence.clamp(max=1), (guess == truth[late]).float(), 10)

curves = {
    f"GPT, temperature {temperature:g}":
        in_bins(neighbour_posterior(vectors["GPT"][1][late], *labelled, same, temperature, S))
    for temperature in (0.02, 0.1, 0.5)
}
from_left = torch.from_numpy(language.sense_posterior(asked.ids, asked.position, "left"))
curves["exact, up to the target"] = in_bins(from_left[late].float())
pictures.calibration(curves)

# %% [markdown]
# The exact posterior is calibrated by definition; its measured gap is sampling noise. The calibration of the neighbours' distribution depends on the temperature. At a low
# temperature, a few nearest neighbours determine the distribution, so predictions from GPT's vectors appear certain of a sense that the model cannot know. The temperature does not change the ranking of the senses by
# much, but it changes the *meaning* of a probability.

# %% [markdown]
# ## Summary
#
# - Keep the answers item by item; everything else is computed from them.
# - State whether you resampled sentences, words or seeds. Compare models in pairs, on the same draws.
# - *Not clear* does not mean *equal*.
# - The more comparisons you make, the more differences appear by chance: correct for their number.
# - Compare like with like: with a trained probe, MiniLM clearly beats the window of two.
# - A model that has read the cue knows the sense; other models cannot exceed the exact bound.
# - The architecture determines which word can influence which output.
# - Ask which words a vector depends on, and what the model was trained to predict.
# - Judge tests by the faults they expose and the correct code they accept.

# %% [markdown]
# ## References
#
# - Altman, D. G. and Bland, J. M. (1995). Absence of evidence is not evidence of absence. *BMJ* 311, 485.
# - Card, D., Henderson, P., Khandelwal, U., Jia, R., Mahowald, K. and Jurafsky, D. (2020). With little power comes great responsibility. *EMNLP*. arXiv:2010.06595.
# - DeMillo, R. A., Lipton, R. J. and Sayward, F. G. (1978). Hints on test data selection: help for the practicing programmer. *Computer* 11(4), 34–41.
# - Dror, R., Baumer, G., Shlomov, S. and Reichart, R. (2018). The hitchhiker's guide to testing statistical significance in natural language processing. *ACL*, 1383–1392.
# - Efron, B. (1979). Bootstrap methods: another look at the jackknife. *Annals of Statistics* 7(1), 1–26.
# - Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural networks. *ICML*. arXiv:1706.04599.
# - Holm, S. (1979). A simple sequentially rejective multiple test procedure. *Scandinavian Journal of Statistics* 6(2), 65–70.
# - Koehn, P. (2004). Statistical significance tests for machine translation evaluation. *EMNLP*, 388–395.
# - McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages. *Psychometrika* 12(2), 153–157.
# - Naeini, M. P., Cooper, G. F. and Hauskrecht, M. (2015). Obtaining well calibrated probabilities using Bayesian binning. *AAAI*, 2901–2907.
# - PyTorch (2019). Incorrect validation accuracy due to distributed sampler. github.com/pytorch/pytorch/issues/25162; see also 22584.
# - torchvision (2021). Evaluation code of references is slightly off. github.com/pytorch/vision/issues/4559.

# %% [markdown]
# Next: [13 · Today's decoders](../13_decoders/13_decoders.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
