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
# Static embeddings, ELMo, BERT and GPT have each had a notebook of their own. Here they answer the same questions, beside two pre-trained models and beside the best that anyone
# could do, and at the end once more, trained on the same English novels. That is the smaller half of the work. The larger half is to say which of the differences are real.
#
# **You need** notebooks 01 to 07; 08 and 09 help. **Time** about 70 minutes without what goes *further*: seven exercises, a bug to find, two questions that a person
# reads; one extension.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [11 · Sentences and documents](../11_sentences/11_sentences.ipynb) · next: [13 · Today's decoders](../13_decoders/13_decoders.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - evaluate any model's vectors in the same way, item by item;
# - put an interval on every number, and say which of two models is better, if one is;
# - read off an architecture which word can reach which output, and check it on trained models;
# - compute the exact posterior over the senses of a word, and show how it changes while a sentence is read;
# - write tests that tell wrong code from right code, and measure how good they are.

# %%
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from coursekit import check, hint, predict, reveal

# %% [markdown]
# ## 1 · The same question for everyone
#
# A word, a sentence, two or three senses: which one? The exam of the course asks this of held-out sentences of our generated language. A model is not asked in words. It gives a
# vector for the word in each sentence, its **contextual embedding**, and the word takes the sense of the most similar *labelled* occurrence of the same word (1-NN).
#
# A rule is needed for **ties**. A static embedding is the same in every sentence, so all labelled sentences are equally near. Whoever takes "the first" of them gets a number that
# depends on the order of a file. Ours: the equally near ones vote.

# %%
TIE = 1e-5      # cosines this close are equal: the same vector, computed twice, may differ a little

# %% nbgrader={"grade": false, "grade_id": "comparison-evaluate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def evaluate(
    known: Float[Tensor, "m D"],
    known_words: Int[Tensor, "m"],
    known_senses: Int[Tensor, "m"],
    asked: Float[Tensor, "n D"],
    asked_words: Int[Tensor, "n"],
) -> Int[Tensor, "n"]:
    """The sense of each asked word, from its nearest labelled neighbours.  (●●○, 6 minutes)

    Near is a high cosine, as in 08. All within TIE of the highest cosine are equally near, and vote:
    the most frequent sense among them wins, of equally frequent ones that with the smallest id.
    """
    similarity = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    similarity = similarity.masked_fill(asked_words[:, None] != known_words, -torch.inf)  # of the same word only
    ### BEGIN SOLUTION
    near = torch.isclose(similarity, similarity.amax(dim=-1, keepdim=True), rtol=0, atol=TIE)
    votes = near.float() @ one_hot(known_senses).float()
    return votes.argmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-evaluate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.evaluate", lambda case: evaluate(**case))

# %% [markdown]
# Now the candidates. `known` and `asked` are the labelled and the held-out sentences. GloVe comes in twice: as the word's single vector, and as the average of the *other* words of
# the sentence, a bag of words. ELMo, BERT and GPT are the course's own, with the vectors of their last layer.

# %% tags=["demo"]
import re

import ipywidgets
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, ambiguous_words, bounds, sense_exam
from coursekit.language import load_language
from coursekit.pictures import comparison as pictures
from coursekit.plots import use_style
from coursekit.scoreboard import add_row, draw
from coursekit.sliders import interact
from coursekit.small import load
from coursekit.small.figures import sense_vectors
from coursekit.vectors import load_glove

use_style()
torch.set_num_threads(1)
language, exam, glove = load_language(), sense_exam(), load_glove()
known, asked = exam.labelled, exam.held_out
print(f"{len(known):,} labelled and {len(asked):,} held-out sentences;", "of these")
print("\n".join(f"  {exam.count(kind):,}  {text}" for kind, text in QUESTIONS.items()))

# %% tags=["demo"]
def single_vector(words: list[str], place: int) -> Float[Tensor, "D"]:
    """The static vector of the word itself."""
    return glove[words[place]]

def bag(words: list[str], place: int) -> Float[Tensor, "D"]:
    """The mean vector of the other words."""
    others = [glove[word] for i, word in enumerate(words) if i != place and word in glove]
    return torch.stack(others).mean(dim=0)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

def near_words(words: list[str], place: int) -> Float[Tensor, "D"]:
    """The same, each word divided by its distance: no longer a bag."""
    others = [glove[w] / abs(i - place) for i, w in enumerate(words) if i != place and w in glove]
    return torch.stack(others).sum(dim=0)

def of_language(static) -> list[Float[Tensor, "n D"]]:
    """A static vector for each sentence of the exam, both sides."""
    return [torch.stack([static(side.words(i), place - 1) for i, place in enumerate(side.position)])
            for side in (known, asked)]

vectors = {"GloVe, one vector": of_language(single_vector), "GloVe, bag of words": of_language(bag)}

# %% tags=["demo"]
print("This takes a few seconds.")
small = {name: load(name.lower()) for name in ("ELMo", "BERT", "GPT")}
for name, model in small.items():
    vectors[name] = [sense_vectors(model, side)[-1] for side in (known, asked)]

# %% [markdown]
# **Predict:** the single GloVe vector's share of right senses, over all held-out sentences.

# %% tags=["demo"]
predict("comparison.single", ...)

# %% tags=["demo"]
def ids(values) -> Int[Tensor, "n"]:
    return torch.tensor(np.asarray(values))

truth = ids(asked.sense)
words = [ids(ambiguous_words(side)) for side in (known, asked)]

def answers(labelled: Float[Tensor, "m D"], unlabelled: Float[Tensor, "n D"]) -> Float[Tensor, "n"]:
    """1 where your `evaluate` finds the sense; a thousand sentences at a time, for memory's sake."""
    parts = zip(unlabelled.split(1000), words[1].split(1000))
    found = [evaluate(labelled, words[0], ids(known.sense), *part) for part in parts]
    return (torch.cat(found) == truth).float()

right = {name: answers(*both) for name, both in vectors.items()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
reveal("comparison.single", right["GloVe, one vector"].mean().item())
some = np.flatnonzero(asked.cue == "right")[:40]
pictures.answers({name: row[some] for name, row in right.items()},
                 "40 sentences with the cue only on the right")

# %% [markdown]
# Each row is a model, each column a sentence. This is what an accuracy is made of, and it shows what the accuracy hides. Where the cue comes too late for them, GloVe's single vector
# and GPT are no better than a guess, each in its own way. *Keep the answers, not the mean*: all that follows is made of these rows.

# %% [markdown]
# ## 2 · How sure is a number?
#
# With other sentences of the same kind we would have got another number. How different? We have no other sentences, but we can pretend: draw a new test set *from our own*, as many
# items as there are, with replacement, so that some come twice and some not at all. The mean of each such set is a number that we might have reported. This is the bootstrap (Efron 1979), and the middle 95 % of these numbers are a **bootstrap interval**.

# %% nbgrader={"grade": false, "grade_id": "comparison-bootstrap_interval", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bootstrap_interval(
    right: Float[Tensor, "n"], draws: Int[Tensor, "times n"], level: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The percentile interval of the mean, lower end first, as a tuple.  (●●○, 6 minutes)

    Each row of draws names the items of one resampled test set. The interval holds the share
    `level` of their means and leaves as much below as above; ends are quantiles, interpolated
    between means as torch.quantile does.
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
# GPT, where the cue stands only on the right. The exact bound is known: it is what the words before the ambiguous one allow.
#
# **Predict:** how wide is the 95 % interval of GPT's accuracy there, from end to end?

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
# The interval says how far other *sentences* would move the number. It says nothing about another training run, another prompt or another language: what is not resampled does not vary. In 05 to 07 the models were trained with several seeds
# for that reason.

# %% [markdown]
# ## 3 · The whole scoreboard
#
# Now everybody. Beside the models stand two readers who know the language exactly: one reads up to the word, the other the whole sentence, and each says the most
# probable sense. No model that has the same words can be expected to beat them. The untrained models are controls. The two pre-trained ones have never seen our language; their answers take minutes and are recorded
# (`python -m experiments one_corpus`), item by item.

# %% tags=["demo"]
print("This takes five to ten seconds.")

def exact_reader(context: str) -> Float[Tensor, "n"]:
    """1 where the most probable sense, given the context, is the right one."""
    posterior = language.sense_posterior(asked.ids, asked.position, context)
    return (torch.from_numpy(posterior.argmax(axis=1)) == truth).float()

torch.manual_seed(0)
for name, model in small.items():
    untrained = type(model)(model.config).eval()
    right[f"{name}, untrained"] = answers(*(sense_vectors(untrained, part)[-1] for part in (known, asked)))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
recorded = read_table("results/one_corpus.csv")
for name, rows in recorded[recorded.exam == "generated"].groupby("model", sort=False):
    right[name] = torch.tensor(rows.sort_values("item").right.to_numpy()).float()
right["exact, words up to the word"] = exact_reader("left")
right["exact, whole sentence"] = exact_reader("both")

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
ORDER = ["GloVe, one vector", "GloVe, bag of words", "ELMo, untrained", "ELMo",
         "BERT, untrained", "BERT", "GPT, untrained", "GPT", *recorded.model.unique(),
         "exact, words up to the word", "exact, whole sentence"]

def with_interval(row: Float[Tensor, "n"]) -> list[float]:
    """Mean, lower end, upper end."""
    low, high = bootstrap_interval(row, draw_items(len(row)), 0.95)
    return [row.mean().item(), low.item(), high.item()]

intervals = {name: {kind: with_interval(right[name][here]) for kind, here in side.items()}
             for name in ORDER}
pictures.board(intervals)

# %% [markdown]
# **Cue on the left**: everything that reads gets nearly all of it. **Cue only on the right**: who has seen the right side knows, the **bag of words** too; who has not, guesses. GPT and SmolLM2, six hundred times its size, stand at one wall
# with the exact reader who stops at the word.
#
# **Order**: only the order of the words says whose cue counts. The bag is at one half at best (proved in 02); ELMo and BERT, trained on this language, find nearly all. GPT again stands at the wall:
# the words before tell most of it. The two models of English are hardly above one half. Whether the vectors or 1-NN lack the order, this exam cannot say.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
notes = {"GloVe, one vector": "static", "GloVe, bag of words": "bag"}
on_english = dict(zip(recorded.model.unique(), ("MiniLM, pre-trained", "SmolLM2, pre-trained")))
for name, note in {**notes, **dict.fromkeys(on_english, "on English")}.items():
    shares = {kind: mean for kind, (mean, *_) in intervals[name].items()}
    add_row(on_english.get(name, name), Accuracy(**shares), note=note)
draw(every=True)

# %% [markdown]
# That is the board of the course, with every row that you added on the way.
#
# **Question 1.** With the cue only on the right, GPT is no better than a guess, as is the exact reader who stops at the word. A colleague concludes that GPT is a bad model of word meaning. Say
# what the number shows and what it does not show, and describe an experiment that would ask GPT a fair question about these sentences. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "comparison-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The number shows what is in the vector *at the word*, and there GPT has all that its input holds: the exact reader, who sees the same words, does no better. So it is a limit of where we looked, not of what the model knows. It does not show that
# GPT cannot tell the senses apart once it has read the cue. A fair experiment lets the cue come first: take the vector of a later token (the end of the sentence), repeat the sentence and read the second copy, or ask behind the sentence
# which sense is meant, with the same labelled and held-out sentences, the same 1-NN or probe for all models, and the exact whole-sentence reader as the bound.
#
# *Marking: 1 point for the bound (the best possible from the same words, so nothing is wrong with the model); 1 point for an experiment in which the cue is read before the answer, with the same items and a bound or control.*

# %% [markdown]
# ## 4 · Which differences are real?
#
# Two intervals that overlap, so no difference? That is too strict. Both models answered the *same* sentences. Where both fail on the same ones, that cancels in the difference. So resample
# the sentences once, for both, and look at the **difference** in each draw: a *paired* comparison (Koehn 2004 did so for translation). Where nearly all draws prefer the same model, the difference is larger than the noise of the
# sentences.

# %% nbgrader={"grade": false, "grade_id": "comparison-clear_differences", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clear_differences(
    right: Float[Tensor, "models n"], draws: Int[Tensor, "times n"], level: float
) -> tuple[Float[Tensor, "models models"], Bool[Tensor, "models models"]]:
    """Differences of all pairs, and which of them are clear, as a tuple.  (●●○, 8 minutes)

    Row i, column j: the mean of model i minus that of model j, on the items as they are. It is
    clear if the percentile interval (level, as before) of the difference over the draws does not
    hold 0. Each draw is the same for all models. Uses your bootstrap_interval.
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
# Now **real sentences**: `data/senses`, 44 words, written to be hard for a bag of words. Of 30 all senses are nouns; of 14 they are another part of speech as well, and grammar tells them apart. We compare on the nouns; the table has both halves. A control joins,
# the **window of two**: which two words stand on either side, and a logistic regression for each word. ELMo of the course can take part, since it spells: it reads words that it has never seen, letter by letter. BERT and GPT of the course cannot; their
# vocabulary ends at our language. The pre-trained models are recorded, at the layer that is best on the training sentences; SmolLM2 with mostly 4 bits per weight.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

def split(sentence: str, start: int) -> tuple[list[str], int]:
    """The words of a sentence in lower case, and the place of the one that stands at `start`."""
    found = list(re.finditer(r"[a-z0-9]+(?:'[a-z]+)?", sentence.lower()))
    return [one.group() for one in found], sum(one.start() <= start for one in found) - 1

table = read_table("senses/senses.csv")
table["sense_id"], table["word_id"] = (pd.factorize(table[key])[0] for key in ("sense", "word"))
parts = [table[table.split == name] for name in ("train", "test")]
sentences = [[split(row.sentence, row.start) for row in part.itertuples()] for part in parts]

def of_form(words: list[str], place: int) -> Float[Tensor, "D"]:
    """The single vector; a form that has none has zeros."""
    return glove[words[place]] if words[place] in glove else torch.zeros(50)

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit.small.elmo import Spelling

@torch.no_grad()
def by_elmo(words: list[str], place: int) -> Float[Tensor, "D"]:
    spelt = spelling.of_words(["[BOS]", *words, "[EOS]"])[None]                     # 1 T C
    everywhere = torch.ones(spelt.shape[:2], dtype=torch.bool)
    return small["ELMo"](spelt, everywhere).hidden[-1, 0, place + 1]

spelling = Spelling()
def window(words: list[str], place: int) -> dict[str, int]:
    """Which words stand at the two places on either side."""
    return {f"{i:+d} {words[place + i]}": 1 for i in (-2, -1, 1, 2) if 0 <= place + i < len(words)}

def by_window() -> Float[Tensor, "n"]:
    """Whether a logistic regression on the window finds the sense; one for each word."""
    windows = [[window(*where) for where in half] for half in sentences]
    answers = torch.zeros(len(parts[1]))
    for word in table.word.unique():
        ours, theirs = (np.flatnonzero(part.word == word) for part in parts)
        counts, truth_of = DictVectorizer(), [part.sense.to_numpy() for part in parts]
        model = LogisticRegression(max_iter=1000)
        model.fit(counts.fit_transform([windows[0][i] for i in ours]), truth_of[0][ours])
        guess = model.predict(counts.transform([windows[1][i] for i in theirs]))
        answers[theirs] = torch.from_numpy(guess == truth_of[1][theirs]).float()
    return answers

readers = {"GloVe, one vector": of_form, "GloVe, bag of words": bag,
           "GloVe, near words": near_words, "ELMo": by_elmo}
real = {}
for name, reader in readers.items():
    one, other = (torch.stack([reader(*where) for where in half]) for half in sentences)
    labels = [ids(part[key]) for part in parts for key in ("word_id", "sense_id")]
    guess = evaluate(one, labels[0], labels[1], other, labels[2])
    real[name] = (guess == labels[3]).float()
real["window of two"] = by_window()
for name, rows in recorded[recorded.exam == "senses"].groupby("model", sort=False):
    real[name] = torch.tensor(rows.sort_values("item").right.to_numpy()).float()
nouns = (parts[1].parts_of_speech == "same").to_numpy().copy()
both_halves, real = real, {name: row[nouns] for name, row in real.items()}

# %% [markdown]
# **Predict:** SmolLM2 has 135 million parameters and reads from the left, MiniLM has 22 million and reads both sides. Which of them knows the sense more often in the real
# sentences? The cell shows what you can choose from when you run it.

# %% tags=["demo"]
LARGER, BOTH_SIDES, UNCLEAR = "SmolLM2, the larger one", "MiniLM, which reads both sides", "the difference is not clear"
predict("comparison.decoder_minus_encoder", ..., choices=(LARGER, BOTH_SIDES, UNCLEAR))

# %% tags=["demo"]
stacked = torch.stack(list(real.values()))                                  # readers, sentences
differences, clear = clear_differences(stacked, draw_items(stacked.shape[1]), 0.95)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
encoder, decoder = list(recorded.model.unique())
place = {name: i for i, name in enumerate(real)}
gap = differences[place[decoder], place[encoder]].item()
sure = bool(clear[place[decoder], place[encoder]])
reveal("comparison.decoder_minus_encoder", (LARGER if gap > 0 else BOTH_SIDES) if sure else UNCLEAR, because={
    LARGER: "Size does not replace what was not read: where the sense is told behind the word, its vector cannot know it. The table has the sentences by kind.",
    BOTH_SIDES: "The mean alone does not say so: on draws of the same sentences the sign of the difference changes.",
    UNCLEAR: "On draws of the same sentences the difference keeps its sign: its interval does not hold 0.",
})
print(f"SmolLM2 minus MiniLM: {100 * gap:+.1f} points out of 100")
pictures.differences(list(real), stacked.mean(dim=-1), differences, clear, len(stacked[0]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
kinds = parts[1].kind.to_numpy()
for half, in_half in {"all nouns": nouns, "another part of speech": ~nouns}.items():
    rows = {}
    for kind in ("all", "plain", "far", "right", "decoy"):
        here = torch.from_numpy(in_half & ((kinds == kind) | (kind == "all")))
        rows[f"{kind} ({int(here.sum())})"] = {
            name: "{:.2f} ({:.2f} to {:.2f})".format(*with_interval(row[here]))
            for name, row in both_halves.items()
        }
    display(Markdown(f"**{half}**"), pd.DataFrame(rows))

# %% [markdown]
# Among the nouns the bag falls behind; near words and the window of two repair most of it. MiniLM is about five points above them; taken alone each of the two differences is clear. The lead comes from plain and from far sentences; there are too few of these to make it clear for each kind alone. On decoys it is not ahead: the misleading words
# get into its vector (08). ELMo of the course, which has never seen English, stands beside the bag of words.

# %% [markdown]
# SmolLM2's mean hardly differs, but this is no tie. Where every cue comes later it guesses: it is
# unidirectional. On decoys it is ahead. With another part of speech it finds most senses
# even there: the left tells a verb from a noun. One mean would have shown none of this.

# %% tags=["demo"]
def means_by_word(gap: np.ndarray, by_word: np.ndarray, times: int = 2000) -> np.ndarray:
    """Means of resampled test sets, when whole words are resampled with their sentences."""
    words, of_word = np.unique(by_word, return_inverse=True)
    sums, counts = np.bincount(of_word, gap), np.bincount(of_word)
    drawn = np.random.default_rng(0).integers(0, len(words), (times, len(words)))
    return sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def widths_of(one: Float[Tensor, "n"], two: Float[Tensor, "n"], by_word=None) -> dict[str, float]:
    """Widths of 95 % intervals: of either model, and of their difference, resampled in three ways."""
    draws = draw_items(len(one), times=2000)
    ends = [bootstrap_interval(row, draws, 0.95) for row in (one, two, two - one)]
    first, second, in_pairs = ((high - low).item() for low, high in ends)
    apart = {"difference, each model on sentences of its own": (first**2 + second**2) ** 0.5,
             "difference, the same sentences for both": in_pairs}
    if by_word is not None:
        apart["difference, whole words"] = np.ptp(np.quantile(means_by_word((two - one).numpy(), by_word), [0.025, 0.975]))
    return {"the first alone": first, "the second alone": second, **apart}

near, words_of = "GloVe, near words", parts[1].word_id.to_numpy()
widths = {
    f"near words, MiniLM: {half}":
        widths_of(both_halves[near][here], both_halves[encoder][here], words_of[here])
    for half, here in {"all words": nouns | True, "all nouns": nouns}.items()
}
widths["GPT, exact up to the word"] = widths_of(right["GPT"], right["exact, words up to the word"])
display((100 * pd.DataFrame(widths)).round(1).astype(object).fillna("").rename_axis("points, 95 % intervals"))

# %% [markdown]
# What do pairs gain? Nothing worth having for near words and MiniLM: they fail on different sentences. GPT and the exact reader who has the same words fail on the same ones, and there the interval is about a fifth narrower.
#
# The bootstrap takes items for independent. Twenty sentences about *saw* are not: whoever tells the verb from the noun gets nearly all of them right. Resampling whole
# *words* (a **cluster bootstrap**) asks how the difference would be with other words; over all words its interval is wider. Among the nouns it is not: sentences about one word have little in common here. You cannot know before you look. Say which of the two you did.

# %% [markdown]
# ### Twenty-one comparisons at once
#
# Seven readers make 21 pairs, and an interval of 95 % misses in one of twenty cases by design. So how often is something "clear" where nothing is? We make worlds without differences: for each sentence the seven answers are dealt to the readers anew.
# A difference has its **p-value** here: twice the share of draws on the other side of 0. **Holm** (1979) asks more of the 21 together: the smallest p may be 0.05 / 21, the next 0.05 / 20, and so on up to the first that fails. (**McNemar**'s test (1947), common for pairs of classifiers, also asks only those sentences on which just one of the two is right.)

# %% tags=["demo"]
duels = torch.triu_indices(len(real), len(real), 1)                         # a column for each pair

def p_values(
    answers: Float[Tensor, "models n"], draws: Int[Tensor, "times n"]
) -> Float[Tensor, "pairs"]:
    means = answers[:, draws].mean(dim=2)                                   # models times
    gaps = means[duels[0]] - means[duels[1]]                                # pairs times
    other_side = torch.minimum((gaps <= 0).float().mean(dim=1), (gaps >= 0).float().mean(dim=1))
    return (2 * other_side).clamp(max=1)

def holm(p: Float[Tensor, "pairs"], level: float = 0.05) -> Bool[Tensor, "pairs"]:
    """Which differences stay."""
    order = p.argsort()
    passes = p[order] <= level / torch.arange(len(p), 0, -1)
    return passes.int().cumprod(dim=0).bool()[order.argsort()]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
draws = draw_items(stacked.shape[1])
generator, worlds = torch.Generator().manual_seed(0), []
for _ in range(200):
    dealt = torch.rand(stacked.shape, generator=generator).argsort(dim=0)
    worlds.append(p_values(stacked.gather(0, dealt), draws))
falsely = {"each at 95 %": np.mean([(p < 0.05).any().item() for p in worlds]),
           "Holm": np.mean([holm(p).any().item() for p in worlds])}
p = p_values(stacked, draw_items(stacked.shape[1], times=4000))
stays = holm(p)
print("worlds without any difference in which at least one is found:",
      ", ".join(f"{rule} {share:.0%}" for rule, share in falsely.items()))
print(f"in ours: each at 95 % {(p < 0.05).sum()} of {len(p)}, Holm {stays.sum()}")
pictures.holm([(list(real)[i], list(real)[j]) for i, j in duels.T], p, stays, falsely)

# %% [markdown]
# With 21 looks, something is found in four of ten worlds that hold nothing. Holm's rule keeps that near one in twenty. In ours two differences do not survive it: MiniLM against near words, and against the window of two. Who had asked for one of these *before* looking may say that it is clear; who picks it from 21 may not.

# %% [markdown]
# How many sentences does it take? Take n of ours, at random, and ask your function whether the difference is clear.

# %% tags=["demo"]
def test_sets(pair: Float[Tensor, "two n"], n: int, subsets: int = 60) -> list[tuple[float, bool]]:
    """Of random test sets of n items: the difference, the second minus the first, and whether it is clear."""
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
print(f"{pairs[1][1]} against {pairs[1][0]}: of 60 test sets of 100 sentences {len(called)} call it clear,",
      f"and find {np.mean(called):.0f} points on average; all {stacked.shape[1]} sentences give",
      f"{100 * differences[place[encoder], place[near]]:.0f}.")
pictures.power(sizes, power)

# %% [markdown]
# > **Sources say, we measure.** Card et al. (2020) find that many comparisons in our field are *underpowered*: the test sets are too small to notice the differences that are reported. Dror et al. (2018) find that many papers
# > do not test at all. The figure shows our own share of it. The difference of the second curve, taken alone, is clear with all 693 sentences, and most test sets of 400 miss it. The third is so small that hardly any shows it. What a small test set *does* call different is, on average, too large: only a test set that overstates the difference finds it, as the printed line says.

# %% [markdown]
# ## 5 · Further: find the bug
#
# Large test sets are dealt to several machines. PyTorch's `DistributedSampler` deals item 0 to machine 0, item 1 to machine 1, and so on in rounds. Every machine must get the same number, or the others would wait for it for
# ever; so the last round is filled up with items from the beginning. In 2019 people noticed that their validation accuracy depended on the *number of machines* (pytorch, issues 22584 and 25162; torchvision's own scripts had it until
# 2021, issue 4559). The answers had been collected like this:

# %%
def answers_of_2019(gathered):                             # machines, rounds
    return gathered.flatten()

# %% [markdown]
# Two things are wrong. One spoils the mean, the other everything that we do with single answers. Write it as it should be.

# %% nbgrader={"grade": false, "grade_id": "comparison-mended_answers", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_answers(gathered: Int[Tensor, "machines rounds"], items: int) -> Int[Tensor, "items"]:
    """The answers in the order of the test set, each item once.  (difficulty ●●○, 6 minutes)

    gathered[m, r] is machine m's answer to the item that it was dealt in round r. Items are dealt
    in turn, 0, 1, 2, … to the machines 0, 1, 2, …; the last round is filled up with the first items
    again.
    """
    ### BEGIN SOLUTION
    return gathered.T.flatten()[:items]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-mended_answers-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.mended_answers", lambda case: mended_answers(case["gathered"], case["items"]))

# %% tags=["demo"]
def deal(row: Float[Tensor, "n"], machines: int) -> Float[Tensor, "machines rounds"]:
    rounds = -(-len(row) // machines)
    return torch.cat([row, row[: rounds * machines - len(row)]]).reshape(rounds, machines).T

few = real[encoder][:67]                                   # a small test set shows it best
print(f"{'machines':>8} {'of 2019':>9} {'mended':>9}   answers in place")
for machines in (1, 2, 4, 8, 16):
    dealt = deal(few, machines)
    old, new = answers_of_2019(dealt), mended_answers(dealt, len(few))
    in_place = (old[: len(few)] == few).float().mean()
    print(f"{machines:>8} {old.mean():>9.4f} {new.mean():>9.4f}   {in_place:.2f}")

# %% [markdown]
# The mean is off by little, which is why it went unnoticed; the answers are in the wrong places, which ruins every paired comparison. An evaluation is code as well. Test it: the result must not depend on how the work was divided.

# %% [markdown]
# ## 6 · The architecture table, checked
#
# From 04 to 07 you filled a table: what a word sees, how far a signal travels, what it costs (after Vaswani et al. 2017, table 1). Those were statements about diagrams. Here we derive them in one function and then look whether
# the trained models obey.

# %% nbgrader={"grade": false, "grade_id": "comparison-path_lengths", "locked": false, "schema_version": 3, "solution": true, "task": false}
def path_lengths(architecture: str, T: int, layers: int) -> Int[Tensor, "T T"]:
    """Fewest cells on the way from input j (column) to output i (row).  (difficulty ●●○, 8 minutes)

    0 where there is no way. A cell is one layer at one word. "recurrent": in each layer a word's
    cell gets the cell below it and its left neighbour. "elmo": one such stack in each direction,
    outputs side by side. "encoder": a cell gets all cells of the layer below. "decoder": those of
    its own word and of the words before it.
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
# The **influence** of 05 measures the same on a trained model: how much output i changes with input j. Where the path length is 0, the influence must be *exactly* 0.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.derivatives import influence
from coursekit.small.bert import single

SENTENCE = "anna remembered the last cell that the prisoner shared"
row = torch.from_numpy(language.encode(SENTENCE, pad=False))[None]
elmo, bert, gpt = small.values()
T, seen = row.shape[1], torch.ones_like(row, dtype=torch.bool)
spelt = elmo.token(spelling.of_ids(row))[0]
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
# The upper row is your function, the lower row the trained models of 05, 06 and 07 (colour: square root of the influence). The white fields agree one by one. In the recurrent models the colour also fades with the length of the path; with attention, what
# is far away in the sentence is no farther in the network. Now the whole table. What could be measured here is measured; `✓` means that the measurement agrees with what the diagram says.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from time import perf_counter

@torch.no_grad()
def growth(module, T: int = 512) -> float:
    """How many times longer four times as many words take."""
    def fastest(x) -> float:
        times = []
        for _ in range(3):
            start = perf_counter()
            module(x)
            times.append(perf_counter() - start)
        return min(times)
    return fastest(torch.randn(1, 4 * T, 64)) / fastest(torch.randn(1, T, 64))

translator = torch.nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True).eval()
hidden_future = translator.generate_square_subsequent_mask(5)
source, target = torch.randn(1, 7, 16), torch.randn(1, 5, 16)
to_source, to_target = torch.autograd.functional.jacobian(
    lambda s, t: translator(s, t, tgt_mask=hidden_future, tgt_is_causal=True), (source, target))
reaches = [slope[0].square().sum(dim=(1, 2, 4)) > 0 for slope in (to_source, to_target)]
both_agree = bool(reaches[0].all() and (reaches[1] == torch.ones(5, 5).tril().bool()).all())
agrees = {name: bool(((measured[name] > 0) == (claimed[name] > 0)).all()) for name in runs}
grows = {"recurrent": growth(torch.nn.LSTM(64, 64, batch_first=True)),
         "attention": growth(lambda x: torch.softmax(x @ x.mT / 8, dim=-1) @ x)}

def far(name: str) -> str:
    extra = int(claimed[name][-1, 0]) - runs[name][0].config.layers
    return "L + T − 1" if extra == T - 1 else "L"

PROPERTIES = ("a word sees", "attention", "trained to say", "writes text",
              "cells from first to last word", "steps in sequence", "time, four times the words",
              "used for")
steps = {"recurrent": "T", "attention": "1 per layer"}
table_rows = {
    "recurrent LM": ("its left", agrees["recurrent"], "none", "next word", "yes",
                     far("recurrent"), "recurrent", "scores of sentences"),
    "ELMo": ("all words", agrees["elmo"], "none", "next word, word before", "each stack alone",
             far("elmo"), "recurrent", "vectors for a task's network"),
    "encoder (BERT)": ("all words", agrees["encoder"], "both sides", "hidden words", "no",
                       far("encoder"), "attention", "understanding: fine-tuned"),
    "decoder (GPT)": ("its left", agrees["decoder"], "its left", "next word", "yes",
                      far("decoder"), "attention", "writing, prompts"),
    "encoder–decoder": ("source, target's left", both_agree, "three kinds", "target's next word",
                        "yes", "source: L + 1, target: L", "attention", "translation, summaries"),
}
display(pd.DataFrame({
    name: (f"{sees} {'✓' if checked else '✗'}", attends, says, writes, path, steps[kind],
           f"× {grows[kind]:.0f}", use)
    for name, (sees, checked, attends, says, writes, path, kind, use) in table_rows.items()
}, index=PROPERTIES))

# %% [markdown]
# The decoder writes one word after another, of course: "1 per layer" is training. The encoder–decoder's path is read off its drawing (04): the encoder's layers and one cell more. And the times are those of this machine, for one layer: sixteen times as many pairs of words need
# not take sixteen times as long.
#
# From 04 to 07 two figures were measured and kept, as the scoreboard is. One is the size of the first word's derivative after 64 words, over that after 2. The other is how many times longer
# 64 times as many words take (one digit: two runs of ours differed by up to a factor of three). *Recorded* means our run: your progress has none of that notebook.

# %% tags=["demo"]
from coursekit.architectures import carried

display(carried())

# %% [markdown]
# Untrained, the plain recurrence and the LSTM (forget gates half open) have lost the first word; ELMo's trained LSTMs have kept it. Attention keeps a share of the order of 1/T, trained or not. With time it is the other way round:
# attention compares all pairs of words, and its time grows much faster than that of a recurrence.

# %% [markdown]
# ## 7 · Further: explain a sentence
#
# The exact readers of part 3 come from one formula. A sentence of our language is made from a **template**, each word drawn independently from its slot. So with K templates z,
#
# $$p(\text{sense} \mid w_1 \dots w_n) \;\propto\; \sum_{z\,:\,\text{sense}(z) = \text{sense}} p(z) \prod_{t \le n} p(w_t \mid z) .$$
#
# Logarithms turn the product into a running sum. Done for every n, it shows the posterior *while the sentence is read*.

# %% nbgrader={"grade": false, "grade_id": "comparison-explain", "locked": false, "schema_version": 3, "solution": true, "task": false}
def explain(
    log_prior: Float[Tensor, "K"], log_words: Float[Tensor, "K T"], senses: Int[Tensor, "K"], S: int
) -> Float[Tensor, "T+1 S"]:
    """Row n: the posterior over S senses after the first n words.  (difficulty ●●●, 10 minutes)

    log_prior[k] is the log-probability of template k (not normalised), log_words[k, t] that of word
    t in it; −∞ where the template cannot have that word. senses[k] is the sense that the word in
    question has in template k, −1 for templates without one: these do not count. A sense may have
    no template. Where none is left at all, the row is zeros. Probabilities of long sentences are
    too small for float32; their logarithms are not.
    """
    ### BEGIN SOLUTION
    running = torch.cat([log_prior[:, None], log_words], dim=1).cumsum(dim=1)   # K T+1
    by_sense = torch.stack([running[senses == s].logsumexp(dim=0) for s in range(S)], dim=-1)
    return (by_sense - by_sense.logsumexp(dim=-1, keepdim=True)).exp().nan_to_num()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-explain-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("comparison.explain", lambda case: explain(**case))

# %% [markdown]
# The language's tables hold what it needs. We put the ambiguous word itself in front, into the prior, and then read the others in order.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def encoded(text: str) -> Int[np.ndarray, "T"]:
    """ValueError, in a sentence, for words that the language does not have."""
    return language.encode(text.lower().replace(".", " ").split(), pad=False)

def read(text: str) -> tuple[list[str], Float[Tensor, "T+1 S"], int]:
    """Labels of the steps, the posterior at each, and how many words stand before the word."""
    sentence = encoded(text)
    forms = set(ambiguous_words(known).tolist()) | set(ambiguous_words(asked).tolist())
    places = [i for i, word in enumerate(sentence) if int(word) in forms]
    if not places:
        raise ValueError(f"No ambiguous word here; try one of {', '.join(language.ambiguous)}.")
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
print(f"largest difference from the course's own filter: {difference:.1e}")

# %% [markdown]
# **Predict:** the sentence is "anna remembered the last cell that the prisoner shared". After *last*, before anything to the right of *cell* is read, how probable is the prison?

# %% tags=["demo"]
predict("comparison.prison", ...)

# %% tags=["demo"]
steps, rows, before = readings[TWO[0]]
prison = language.senses.index("cell#prison")
reveal("comparison.prison", rows[before, prison].item())
pictures.reading({text: reading[:2] for text, reading in readings.items()}, language.senses)

# %% [markdown]
# One third each when *cell* is reached. *that the* changes nothing: cells of all three kinds can go on so. *prisoner* or *biologist* decides. A decoder's vector of *cell* is made in the line of *last*; BERT's knows the bottom line.
#
# What do the *models* say, in probabilities? Replace the one nearest neighbour by all of them, weighted: a softmax over the cosines, divided by a temperature. The labelled sentences are the keys, their
# senses (one-hot) the values. It is the attention of 02 once more.

# %% nbgrader={"grade": false, "grade_id": "comparison-neighbour_posterior", "locked": false, "schema_version": 3, "solution": true, "task": false}
def neighbour_posterior(
    asked: Float[Tensor, "n D"],
    known: Float[Tensor, "m D"],
    known_senses: Int[Tensor, "m"],
    same_word: Bool[Tensor, "n m"],
    temperature: float,
    S: int,
) -> Float[Tensor, "n S"]:
    """A distribution over S senses for each asked word.  (difficulty ●●○, 6 minutes)

    Labelled occurrences of the same word weigh as the softmax of their cosines, divided by the
    temperature (which may be 0.01); others weigh nothing. A sense has the weights of its
    occurrences, none if it has none. Each row of same_word has a True.
    """
    ### BEGIN SOLUTION
    cosines = normalize(asked, dim=-1) @ normalize(known, dim=-1).T
    weights = (cosines / temperature).masked_fill(~same_word, -torch.inf).softmax(dim=-1)
    return weights @ one_hot(known_senses, S).float()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-neighbour_posterior-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("comparison.neighbour_posterior", lambda case: neighbour_posterior(**case))

# %% tags=["demo"]
from coursekit.small.figures import hidden_states

TEMPERATURE = 0.01
S = len(language.senses)

@torch.no_grad()
def opinions(text: str) -> dict[str, Float[Tensor, "S"]]:
    """The posterior over senses: exact, from the left and from everything, and each model's."""
    _, rows, before = read(text)
    sentence = torch.from_numpy(encoded(text))[None]
    same = (words[0] == sentence[0, before + 1])[None]
    found = {"exact, up to the word": rows[before], "exact, whole sentence": rows[-1]}
    for name, model in small.items():
        vector = hidden_states(model)(sentence)[-1, :, before + 1]
        labelled = vectors[name][0], ids(known.sense)
        found[name] = neighbour_posterior(vector, *labelled, same, TEMPERATURE, S)[0]
    return found

pictures.opinions({text: opinions(text) for text in TWO}, language.senses)

# %% [markdown]
# GPT gives both sentences the same answer and is sure of no sense, like the exact reader who stops at the word. BERT agrees with the one who has read everything. ELMo hardly moves
# from the one sentence to the other. Is that ELMo, or is it our temperature and two sentences? We ask 300 questions with the cue on the right. How much probability would have to be moved to turn a model's
# answer into that of an exact reader?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import mean_and_half

late_ones = torch.from_numpy(np.random.default_rng(0).choice(np.flatnonzero(asked.cue == "right"), 300, replace=False))
same = words[1][late_ones][:, None] == words[0]
exact_answers = {
    reader: torch.from_numpy(language.sense_posterior(asked.ids[late_ones], asked.position[late_ones], context)).float()
    for reader, context in (("up to the word", "left"), ("whole sentence", "both"))
}
moved = {}
for temperature in (0.002, TEMPERATURE, 0.05):
    for name in small:
        labelled = vectors[name][0], ids(known.sense)
        answer = neighbour_posterior(vectors[name][1][late_ones], *labelled, same, temperature, S)
        for reader, exact_answer in exact_answers.items():
            moved[name, reader, temperature] = mean_and_half((answer - exact_answer).abs().sum(dim=1) / 2)
display(pd.Series({where: "{:.2f} ± {:.2f}".format(*interval) for where, interval in moved.items()})
        .unstack().rename_axis(["", "from the exact reader"], axis=0).rename_axis("temperature", axis=1))

# %% [markdown]
# BERT is nearer to the whole sentence, GPT to the words before, at each temperature. ELMo moves: at a low one, where the nearest neighbour speaks alone, it is with those who have read everything; at a high one with those
# who stop at the word. Half of its vector knows only what stands before, so many neighbours are nearly as near (05). What a vector "says" is also what its reader makes of it.
#
# Now **type a sentence** of your own. It has to consist of words that the language knows; of those that it does not know, the cell says which, and what comes close. The first two below are the same words in another order.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def show_sentence(text: str) -> None:
    """The reading and the opinions, or a sentence about why there are none."""
    try:
        labels, rows, _ = read(text)
    except ValueError as why:
        print(f"Cannot read this: {why}")
        return
    if rows[-1].sum() == 0:
        end = next(i for i, one in enumerate(rows) if one.sum() == 0)
        print("All words are known, but the language has no such sentence:",
              f"at {labels[end]!r} none is left.")
        return
    pictures.reading({text: (labels, rows)}, language.senses)
    pictures.opinions({text: opinions(text)}, language.senses)

PAIR = ("the teenagers that visited the prisoners liked the cells",
        "the prisoners that visited the teenagers liked the cells")
pictures.reading({text: read(text)[:2] for text in PAIR}, language.senses)
pictures.opinions({text: opinions(text) for text in PAIR}, language.senses)
for attempt in ("the wombat slept in a cell", "cell the the the"):
    print(f"> {attempt}")
    show_sentence(attempt)

# %% tags=["demo"]
box = ipywidgets.Text("this is clearly the bank with the green willows", layout={"width": "90%"})
interact(show_sentence, by_button=True, text=box)

# %% [markdown]
# ## 8 · Write the tests
#
# All along, tests have judged your code. Now the roles are exchanged: **you** write the tests, and they are judged. A test has two halves, inputs and expected outputs; the expected outputs come from a trusted attention, the
# inputs from you. In another process, where your code does not run, they are fed to attentions with *planted faults* (mask inverted, no scaling, …). A fault is **exposed** if its output differs from the trusted one by
# more than rounding. A **false alarm** is a *right* attention, written unusually, whose output differs: it is subtracted.

# %% tags=["demo"]
from coursekit import planted
from coursekit.planted import attention as practice

generator = torch.Generator().manual_seed(3)
shapes = (4, 5, 6), (4, 7, 6), (4, 7, 8), (4, 5, 7)         # B = 4, Tq = 5, Tk = 7, d = 6, dv = 8
q, k, v, coin = (torch.randn(shape, generator=generator) for shape in shapes)
naive = {"queries": q, "keys": k, "values": v, "keep": torch.ones_like(coin, dtype=torch.bool)}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def tried(tests: dict[str, Tensor]) -> list[planted.Exposure]:
    """What each row of the batch, as a test of its own, brings to light."""
    arrays = {name: array.detach().numpy() for name, array in tests.items()}
    return [planted.expose({name: array[b : b + 1] for name, array in arrays.items()},
                           practice.TASK, practice.TASK.practice) for b in range(len(coin))]

pictures.exposure(tried(naive), "random numbers, nothing hidden")

# %% [markdown]
# Random numbers with nothing hidden: what most people try first. Whole kinds of faults pass. Here is one row worked out. A mask that is ignored can be noticed only where something is hidden, so in row 0 nobody
# may see the last key:

# %% tags=["demo"]
one_hidden = {**naive, "keep": naive["keep"].clone()}
one_hidden["keep"][0, :, -1] = False
before, now = tried(naive)[0].exposed, tried(one_hidden)[0].exposed
print("row 0 now exposes, too:", "; ".join(fault.name for fault in now if fault not in before))

# %% nbgrader={"grade": false, "grade_id": "comparison-attention_tests", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_tests(
    queries: Float[Tensor, "B Tq d"],
    keys: Float[Tensor, "B Tk d"],
    values: Float[Tensor, "B Tk dv"],
    coin: Float[Tensor, "B Tq Tk"],
) -> dict[str, Tensor]:
    """Inputs that tell a wrong attention from a right one.  (difficulty ●●●, 15 minutes)

    Returns "queries", "keys", "values" of the given shapes and "keep" (bool, B Tq Tk; B ≥ 4), for
    the attention of 02: keep is True where a query may attend to a key; a query that may attend to
    none gets zeros. What is given are standard normal numbers; use, change or ignore them, but do
    not write into them. Numbers are finite and at most a million.

    Each batch is judged as a whole: exposed faults minus false alarms. The check plants the 15
    faults for practice and asks for all; the grade asks for all of these again, and for 85 % of
    the 29 that they make with 14 others. Two outputs differ if they are further apart than a thousandth of the largest expected
    number.
    """
    ### BEGIN SOLUTION
    queries, keys, values = queries.clone(), keys.clone(), values.clone()
    keep = coin.signbit()
    (*_, q), (*_, k), (*_, mask) = queries, keys, keep      # the last row of the batch, as views
    q *= 1000                                               # scores that exp cannot hold,
    mask[:] = (q @ k.T).signbit()                           # and the best of the keys hidden
    keep[0] = False                                         # queries that may see nothing
    return {"queries": queries, "keys": keys, "values": values, "keep": keep}
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "comparison-attention_tests-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("comparison.attention_tests", lambda case: attention_tests(**case))

# %% tags=["demo"]
yours = attention_tests(q, k, v, coin)
found = planted.expose({name: array.detach().numpy() for name, array in yours.items()},
                       practice.TASK, practice.TASK.practice)
print(f"as one batch: {len(found.exposed)} of {found.faults} faults exposed,",
      f"{len(found.false_alarms)} false alarms")
pictures.exposure(tried(yours), "your inputs")

# %% [markdown]
# Each row of the batch has its own purpose, and none exposes everything. (Rows are tried one by one here. A fault that takes the *first row's* mask for all is invisible in a batch of one: it can only be seen by comparing rows.) The
# faults for practice can be read in `coursekit/planted/attention.py`.

# %% [markdown]
# **False alarms.** What could make a right attention fail? A demand that no docstring makes: digits that float32 does not have.

# %% tags=["demo"]
shifted = {**yours, "keys": yours["keys"] + 300_000}
alarm = planted.expose({name: array.detach().numpy() for name, array in shifted.items()},
                       practice.TASK, practice.TASK.practice)
for one in alarm.false_alarms:
    print("rejected, though right:", one.name.removeprefix("right: "))
score = (q @ (k + 300_000).mT / 6**0.5)[0, 0]
exact = (q.double() @ (k.double() + 300_000).mT / 6**0.5)[0, 0]
print(f"one query's scores: around {exact.mean():.0f}, {exact.std():.2f} apart,",
      f"rounded by up to {(score - exact).abs().max():.3f}")

# %% [markdown]
# Adding the same vector to all keys adds the same number to all of a query's scores, and a softmax does not see it. On paper the output is unchanged. In float32 the digits that matter are gone. A test that fails right code
# is worse than none: people learn to ignore it.
#
# Planting faults to judge tests is called *mutation testing* (DeMillo, Lipton and Sayward 1978). Every check of this course has been through it: its solutions were changed in small ways, and a check had to notice, or somebody had to say why the changed solution is as right.

# %% [markdown]
# **Question 2.** Your inputs expose nearly every planted fault. Does an attention that passes them have no fault? Name a kind of fault that no inputs of *this* form can expose, and say how you would test for it.
# And why does the grade use faults that you have not seen? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "comparison-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# No: passing shows that the code is right on these inputs, at these sizes, up to the tolerance; the planted faults are a sample of the faults that people make. Not visible in the
# output of one call are, for example, an input that is written into, a wrong gradient (a detached tensor), and a dependence on global state or on a second call. Nor are time and
# memory that grow too fast, or errors below the tolerance. Each needs another kind of test: compare the inputs before and after, check gradients numerically, call twice, measure at
# two lengths. Faults that are known can be aimed at one by one. Whether tests are good for faults that nobody thought of can only be estimated with faults they were not made for, as
# a model is judged on held-out data.
#
# *Marking: 1 point for a fault that outputs of one call do not show, with a test that fits; 1 point for held-out faults as the analogue of held-out data.*

# %% [markdown]
# ## Further: four readers of the same novels
#
# One corpus, four models: sections 1 to 3 had that in an artificial language. The readers of English in section 4 differ in everything: texts, size, training. Four models of the course have read the *same* English, 82 novels of 1839 to
# 1927: [skip-gram](../../data/models/novels_skipgram.md), and three of 5 to 7 million parameters, [ELMo](../../data/models/novels_elmo.md), [BERT](../../data/models/novels_bert.md) and [GPT](../../data/models/novels_gpt.md). Does the order of the artificial language hold there?
#
# We ask the words of section 4, where the novels know the word. (They do not know every sense: no *mouse* there has a button.) The three give the vector of their layer that is best on the training sentences, and that of layer 0.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from torch.nn.utils.rnn import pad_sequence

from coursekit.novels.shipped import load_bert, load_elmo, load_gpt, load_skipgram
from coursekit.small.bert import BOS, CLS, PAD, SEP

of_skip_gram = dict(zip(*load_skipgram()))
(novels_elmo, novels_spelling), (novels_bert, pieces), (novels_gpt, _) = load_elmo(), load_bert(), load_gpt()
Place = tuple[str, int, int]                                                # a sentence, where the word begins and ends

def other_words(places: list[Place], weight) -> Float[Tensor, "n 1 D"]:
    """The sum of the other words' vectors, each with the weight of its distance."""
    sums = torch.zeros(len(places), 1, 100)
    for of_sentence, (sentence, start, _) in zip(sums, places):
        words, place = split(sentence, start)
        for i, word in enumerate(words):
            if i != place and word in of_skip_gram:
                of_sentence += weight(i - place) * of_skip_gram[word]
    return sums

def read_as_bag(places: list[Place]) -> Float[Tensor, "n 1 D"]:
    return other_words(places, lambda apart: 1)

def read_near_words(places: list[Place]) -> Float[Tensor, "n 1 D"]:
    return other_words(places, lambda apart: 1 / abs(apart))

def read_words_before(places: list[Place]) -> Float[Tensor, "n 1 D"]:
    return other_words(places, lambda apart: (apart < 0) / abs(apart))

def mean_at(hidden: Float[Tensor, "layers n T D"], of_word: list[list[int]]) -> Float[Tensor, "n layers D"]:
    return torch.stack([hidden[:, row, at].mean(dim=1) for row, at in enumerate(of_word)])

def in_pieces(places: list[Place], first: list[int], last: list[int]) -> tuple[Int[Tensor, "n T"], list[list[int]]]:
    """Ids, and which of them are pieces of the word."""
    encoded = [pieces.encode(sentence, add_special_tokens=False) for sentence, _, _ in places]
    ids = pad_sequence([torch.tensor([*first, *one.ids, *last]) for one in encoded], batch_first=True)
    return ids, [[len(first) + i for i, (begins, ends) in enumerate(one.offsets) if begins < end and ends > start]
                 for one, (_, start, end) in zip(encoded, places)]

# %% tags=["demo"]
@torch.no_grad()
def read_by_elmo(places: list[Place]) -> Float[Tensor, "n layers D"]:
    words = [["[BOS]", *novels_spelling.split(sentence), "[EOS]"] for sentence, _, _ in places]
    spelt = pad_sequence([novels_spelling.of_words(row) for row in words], batch_first=True)       # n T C
    hidden = novels_elmo.encode(novels_elmo.token(spelt), spelt[:, :, 0] != PAD)
    return mean_at(hidden, [[len(novels_spelling.split(sentence[:end]))] for sentence, _, end in places])

@torch.no_grad()
def read_by_bert(places: list[Place]) -> Float[Tensor, "n layers D"]:
    ids, of_word = in_pieces(places, [CLS], [SEP])
    return mean_at(novels_bert.encode(novels_bert.embeddings(ids, torch.zeros_like(ids)), ids != PAD), of_word)

@torch.no_grad()
def read_by_gpt(places: list[Place]) -> Float[Tensor, "n layers D"]:
    ids, of_word = in_pieces(places, [BOS], [])
    return mean_at(novels_gpt.encode(novels_gpt.embed(ids)), of_word)

NOVEL_READERS = {
    "bag of words": read_as_bag, "near words": read_near_words, "near words before": read_words_before,
    "ELMo": read_by_elmo, "BERT": read_by_bert, "GPT": read_by_gpt,
}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes ten to fifteen seconds.")

def read_all(reader, part: pd.DataFrame) -> Float[Tensor, "n layers D"]:
    """Sentences of like length are read together."""
    order = part.sentence.str.len().to_numpy().argsort()
    places = [(row.sentence, row.start, row.start + len(row.form)) for row in part.itertuples()]
    batches = np.array_split(order, 1 + len(order) // 64)
    return torch.cat([reader([places[i] for i in batch]) for batch in batches])[order.argsort()]

def hits(labelled: Float[Tensor, "m D"], of_labelled: pd.DataFrame, unlabelled: Float[Tensor, "n D"], of_unlabelled) -> np.ndarray:
    """1 where your evaluate finds the sense."""
    found = evaluate(labelled, ids(of_labelled.word_id), ids(of_labelled.sense_id), unlabelled, ids(of_unlabelled.word_id))
    return (found == ids(of_unlabelled.sense_id)).double().numpy()

def best_on_train(layers: Float[Tensor, "n layers D"]) -> int:
    """The layer, not 0, at which the two halves of the training sentences tell most of each other."""
    even, odd = np.arange(len(trained))[::2], np.arange(len(trained))[1::2]
    found = [sum(hits(layers[one, layer], trained.iloc[one], layers[other, layer], trained.iloc[other]).sum() for one, other in ((even, odd), (odd, even)))
             for layer in range(1, layers.shape[1])]
    return 1 + int(np.argmax(found))

known_to_novels = [part.form.str.lower().isin(of_skip_gram) for part in parts]
trained, tested = (part[here] for part, here in zip(parts, known_to_novels))
all_layers = {name: (read_all(reader, trained), read_all(reader, tested)) for name, reader in NOVEL_READERS.items()}
novel_vectors, best_layers = {}, {}
for name, (one, other) in all_layers.items():
    if one.shape[1] > 1:
        novel_vectors[f"{name}, layer 0"] = one[:, 0], other[:, 0]
        best_layers[name] = best_on_train(one)
    novel_vectors[name] = tuple(layers[:, best_layers.get(name, 0)] for layers in (one, other))

def guesses(word: np.ndarray, sense: np.ndarray) -> np.ndarray:
    """One in as many senses as the word has."""
    of_each = pd.DataFrame({"word": word, "sense": sense})
    return 1 / of_each.groupby("word").sense.transform("nunique").to_numpy()

in_novels = pd.DataFrame({"guess": guesses(tested.word, tested.sense)}, index=tested.index)
for name, (one, other) in novel_vectors.items():
    in_novels[name] = hits(one, trained, other, tested)
for name in ("window of two", encoder, decoder):
    in_novels[f"({name})"] = both_halves[name].double().numpy()[known_to_novels[1]]

def by_word(gap: np.ndarray, word: np.ndarray) -> tuple[float, float, float, float]:
    """A mean, its 95 % interval and its p, when whole words are resampled."""
    means = means_by_word(gap, word, times=40_000)
    below, above = (means <= 0).mean(), (means >= 0).mean()
    return gap.mean(), *np.quantile(means, [0.025, 0.975]), min(1, 2 * min(below, above))

HALVES = {"all nouns": tested.parts_of_speech == "same", "another part of speech": tested.parts_of_speech == "another"}
for half, in_half in HALVES.items():
    rows = {}
    for kind in ("all", "plain", "far", "right", "decoy"):
        here = (in_half & ((tested.kind == kind) | (kind == "all"))).to_numpy()
        rows[f"{kind} ({here.sum()})"] = {
            name: "{:.2f} ({:.2f} to {:.2f})".format(*by_word(column[here].to_numpy(), tested.word[here])) for name, column in in_novels.items()
        }
    display(Markdown(f"**{half}**, {tested.word[in_half].nunique()} words"), pd.DataFrame(rows))
print("best layers on the training sentences:", ", ".join(f"{name} {layer}" for name, layer in best_layers.items()))

# %% [markdown]
# Layer 0 sees no other word. Among the nouns it cannot be told from a guess: what the three know of a sense there, they have from the sentence. With another part of speech ELMo's is a little above: it reads the spelling, and an ending may tell a noun from a verb.
# (The rows in brackets stand beside; two of them have read other texts.)
#
# The exam of the artificial language asks by where the cue stands. The table of sentences notes the cues of its hard sentences. So we can ask the same: does one stand before the word, or do all come later?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
BEFORE, LATER = "cue before", "cue only later"

def told(row) -> str:
    """Where the cues stand that the table notes. Of plain sentences it notes none."""
    before = row.sentence[: row.start].lower()
    if pd.isna(row.cue):
        return ""
    return BEFORE if any(re.search(rf"\b{re.escape(cue)}\b", before) for cue in row.cue.lower().split()) else LATER

def in_language(weight) -> list[Float[Tensor, "n D"]]:
    """The weighted sums of the other words of the artificial language, as GloVe has them."""
    table = torch.stack([glove[word] if word in glove else torch.zeros(50) for word in language.vocabulary])
    apart = [torch.arange(part.ids.shape[1]) - torch.from_numpy(part.position)[:, None] for part in (known, asked)]
    weights = [weight(far).masked_fill(far == 0, 0)[:, None].float() for far in apart]
    return [(near @ table[torch.from_numpy(part.ids)])[:, 0] for near, part in zip(weights, (known, asked))]

artificial = pd.DataFrame({
    "guess": guesses(words[1].numpy(), asked.sense), "bag of words": right["GloVe, bag of words"],
    "near words": answers(*in_language(lambda apart: 1 / apart.abs())),
    "near words before": answers(*in_language(lambda apart: (apart < 0) / apart.abs())), **{name: right[name] for name in small},
    "word": words[1], "told": pd.Series(asked.cue).map({"left": BEFORE, "right": LATER}).fillna(""),
})
in_novels["word"], in_novels["told"] = tested.word, [told(row) for row in tested.itertuples()]
LANGUAGES = {"artificial language": artificial, **{f"novels: {half}": in_novels[in_half] for half, in_half in HALVES.items()}}

def among(answered: pd.DataFrame, place: str, one: str, other: str | None = None) -> tuple[float, float, float, float]:
    """The share of right answers, or how far it is above another's, of the sentences whose cue stands there."""
    rows = answered[(answered.told == place) | (place == "all")]
    return by_word((rows[one] - (rows[other] if other else 0)).to_numpy(), rows.word.to_numpy())

pictures.four_readers({
    called: {name: {place: among(answered, place, name)[:3] for place in (BEFORE, LATER)} for name in NOVEL_READERS}
    for called, answered in LANGUAGES.items()
}, {called: {place: int((answered.told == place).sum()) for place in (BEFORE, LATER)} for called, answered in LANGUAGES.items()},
   {called: answered.guess.mean() for called, answered in LANGUAGES.items()})

# %% [markdown]
# On the left are the exam's questions with one cue, without those of order: everyone finds nearly all, except where the cue comes too late to be seen. Now in pairs, on the same sentences, with whole words resampled: fifteen comparisons in each half, so thirty for Holm's rule.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
COMPARISONS = (
    ("all", "bag of words", "guess"), ("all", "near words", "bag of words"),
    *(("all", name, below) for below in ("bag of words", "near words") for name in small),
    *((BEFORE, name, "GPT") for name in ("ELMo", "BERT")), *((LATER, name, "GPT") for name in ("ELMo", "BERT")),
    (LATER, "BERT", "ELMo"), (LATER, "near words before", "guess"), (LATER, "GPT", "guess"),
)
gaps_in = {called: [among(answered, *which) for which in COMPARISONS] for called, answered in LANGUAGES.items()}
ARTIFICIAL, *IN_NOVELS = LANGUAGES
stays_of = holm(torch.tensor([p for called in IN_NOVELS for *_, p in gaps_in[called]])).reshape(len(IN_NOVELS), -1)
stays_in = dict(zip(IN_NOVELS, stays_of.tolist()))
display(pd.DataFrame({
    called: [f"{mean:+.2f} ({low:+.2f} to {high:+.2f})" + (" ✓" if stay else "")
             for (mean, low, high, _), stay in zip(gaps, stays_in.get(called, [False] * len(gaps)))]
    for called, gaps in gaps_in.items()
}, index=[f"{one} above {other}, {place}" for place, one, other in COMPARISONS]))
print(f"✓ stays among the {stays_of.numel()} of the novels (Holm)")

# %% [markdown]
# **Where the order holds.** In both halves the bag is above a guess, and ELMo and BERT are above the bag. GPT breaks it: in the artificial language it is a little below the bag. In English it is above, where another part of speech tells the sense; among the nouns that lead is clear only if taken alone.

# %% [markdown]
# **Where it does not.** In the artificial language nearness adds nothing to a bag, and ELMo and BERT are far above both, for a part of that exam asks for word order. The English sentences do not, and there near words are above the bag. Among the nouns none of the three contextual models can be told
# from near words. With another part of speech all three are above. There grammar can tell the senses; whether they use it, we have not tested. That they know more of a noun's meaning than near words tell, we cannot say.

# %% [markdown]
# **The wall.** With the cue only later a decoder should guess. In the artificial language it does, as do the words before, and ELMo and BERT are far ahead. In real English that wall is not to be seen: GPT is above a guess in both halves. So are the words before, and
# neither ELMo nor BERT can be told from GPT. We wrote these sentences so that the cue comes later, and still what comes before tells something. (The table lists no articles: "the" before *saw* is no cue in it.) A reader of one side shows such hints.

# %% [markdown]
# How far does this reach? One training of each, with equally many rows (4,700 steps of 32). On unread authors counts of five words fill more gaps than ELMo, and ELMo more than BERT, also than one of another seed (06); per character GPT loses less than counts of five pieces (its card). Among the nouns it matters which layer is asked: at ELMo's other layer, and at BERT's last but one, the lead over the bag is clear only if taken alone. With 28 and 14 words, what cannot be told apart here may still differ.

# %% [markdown]
# Now your own sentence: each reader shows the labelled sentence that it finds nearest.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def told_by(word: str, sentence: str) -> str:
    """Which labelled sentence each reader finds nearest to yours."""
    word, sentence = word.lower().strip(), sentence.lower()
    where, rows = re.search(rf"\b{re.escape(word)}\b", sentence), np.flatnonzero(trained.word == word)
    if where is None or not len(rows):
        return f"choose a word of: {', '.join(sorted(set(trained.word)))}, and a sentence with it"
    if len(pieces.encode(sentence, add_special_tokens=False).ids) > novels_bert.config.tokens - 2:
        return f"choose a shorter sentence: BERT and GPT have {novels_bert.config.tokens} positions"
    lines = []
    for name, reader in NOVEL_READERS.items():
        vector = reader([(sentence, *where.span())])[0, best_layers.get(name, 0)]
        nearest = normalize(novel_vectors[name][0][rows], dim=-1) @ normalize(vector, dim=-1)
        labelled = trained.iloc[rows[int(nearest.argmax())]]
        lines.append(f"{name}: {labelled.sense}\n    nearest: {labelled.sentence}")
    return "\n".join(lines)

# %% tags=["demo"]
YOUR_WORD = "bank"                                                          # change them
YOUR_SENTENCE = "They sat on the bank and watched the boats."
print(told_by(YOUR_WORD, YOUR_SENTENCE))

# %% [markdown]
# ## Extension: calibration
#
# "0.8 for the prison": is it right in eight of ten such cases? Sort all answers by the confidence that came with them into bins, and compare what was *said* with what was *found*. The mean gap is the **expected calibration error** (Naeini et al. 2015; of networks, Guo et al. 2017). It counts as extra credit.

# %% nbgrader={"grade": false, "grade_id": "comparison-calibration", "locked": false, "schema_version": 3, "solution": true, "task": false}
def calibration(
    confidence: Float[Tensor, "n"], right: Float[Tensor, "n"], bins: int
) -> dict[str, Tensor]:
    """Said and found in bins of equal width over 0 to 1.  (extension, ●●○, 8 minutes)

    "said": mean confidence of a bin, "found": mean of right (0 or 1), "count": answers in it; each
    of shape (bins,), 0 in an empty bin. A bin holds its lower end and not its upper one; the last
    holds 1 too. "error": the mean over all answers of the distance between said and found of their
    bin.
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
curves["exact, up to the word"] = in_bins(from_left[late].float())
pictures.calibration(curves)

# %% [markdown]
# The exact posterior is calibrated by definition; its gap is the noise of the sentences. The neighbours' is a matter of the temperature: with a low one, the nearest few decide, and GPT's vectors sound sure of a sense that they
# cannot know. The temperature does not change a ranking by much. It changes what the number *means*.

# %% [markdown]
# ## Summary
#
# - Keep the answers, item by item; all else comes from them.
# - Say what was resampled: sentences, words or seeds. Compare models in pairs, on the same draws.
# - The more you compare, the more is clear by chance: correct for it.
# - Who has seen the cue knows the sense; who has not stands at the exact bound.
# - In real English near words are above a bag; among nouns no model clearly above them.
# - The architecture says which word can reach which output; trained models obey it exactly.
# - Ask which words a vector depends on, and what the model was trained to predict.
# - Judge tests by the faults they expose and the right code they leave in peace.

# %% [markdown]
# ## References
#
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
# Next: [13 · Today's decoders](../13_decoders/13_decoders.ipynb). The [start page](../start.ipynb) shows how far you are.
