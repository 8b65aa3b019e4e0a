# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · Applications: sentiment, entities, questions
#
# In notebook 09, we fine-tuned an encoder for one task. Here, we solve three tasks, each with its own head: a label for a text, a tag for every word, and the
# span of a text that answers a question. Each head is a single linear layer. The difficulties lie elsewhere: in deciding which subword receives the label of a word, which
# spans are possible answers, and what counts as correct.
#
# **You need** notebook 09. **Time** about 85 minutes for the core: seven exercises, one of which is a bug to fix, and two written questions. The section marked
# *Further* and one extension are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [09 · Fine-tuning](../09_fine_tuning/09_fine_tuning.ipynb) · next: [11 · Sentences and documents](../11_sentences/11_sentences.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - put heads for texts, tokens and spans on top of the same encoder, with labels aligned to its subwords;
# - implement the standard metrics: entity F1 for tags, and exact match and F1 for answers, including questions without an answer;
# - explain why token accuracy is misleading, and why the start and end of an answer must be chosen jointly;
# - choose a type of model for a task, and report each result together with a baseline.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import re
import string
from collections import Counter

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit import application_runs as recorded, check, hint, predict, predictions, reveal
# TAGS: O, B-PER, I-PER, B-LOC, …
from coursekit.tags_and_answers import KINDS, TAGS, as_tags, in_numbers, mark_all

# %% [markdown]
# ## 1 · One encoder, three heads
#
# An encoder returns one vector of size D for each of the T tokens. A **head** turns these vectors into an answer; here, each head is one linear layer. The heads differ in the
# vectors to which they are applied and in the meaning of their outputs.

# %% tags=["demo"]
from IPython.display import display

from coursekit.models import load
from coursekit.pictures import application_tables as tables, applications as pictures
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)
loaded = load("all-MiniLM-L6-v2")
encoder, tokenizer = loaded.model, loaded.tokenizer

# %% tags=["demo"]
D = encoder.config.hidden_size
outputs = {"a label for the text": 2, "a tag for each word": 9, "a span": 2}
heads = {name: (D + 1) * count for name, count in outputs.items()}
encoder_size = sum(weight.numel() for weight in encoder.parameters())
pictures.three_heads(["[CLS]", "We", "left", "Paris", "[SEP]"], heads, encoder_size)

# %% [markdown]
# Nearly all parameters belong to the encoder, which is already trained. Only the small head must be trained from scratch, on a few hundred labels. (MiniLM, our
# encoder, was trained to compare whole sentences.)
#
# We train the head and the upper half of the layers and freeze the lower half. This is a compromise between the extremes compared in notebook 09. The output of
# the frozen half is computed only once. All three tasks share the following code.

# %% tags=["demo", "record"]
from copy import deepcopy

import numpy as np
import pandas as pd
from torch.nn.functional import cross_entropy
from transformers import BertModel

from coursekit.datasets import read_table
from coursekit.half_frozen import HALF, Rows, hide, linear_probe, part, read_by

class Upper(torch.nn.Module):
    """Trainable copies of the layers from number `below` upwards, with a linear head on
    top."""

    def __init__(self, encoder: BertModel, below: int, outputs: int, marks: int = 0):
        super().__init__()
        self.layers = deepcopy(encoder.encoder.layer[below:])
        self.head = torch.nn.Linear(encoder.config.hidden_size + marks, outputs)

    def forward(self, H: Float[Tensor, "B T D"], keep: Bool[Tensor, "B T"]) -> Tensor:
        for layer in self.layers:
            H = layer(H, hide(keep))
        return H

# %% tags=["demo", "record"]
def fine_tune(
    model: Upper, loss_of, rows: Rows, train, epochs: int, rate: float, seed: int, watch=None
) -> Upper:
    """Train in batches of 16. The learning rate rises during the first tenth of the steps and
    then falls to 0."""
    generator, step = torch.Generator().manual_seed(seed), 0
    steps = epochs * -(-len(train) // 16)
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    model.train()
    for _ in range(epochs):
        for some in train[torch.randperm(len(train), generator=generator)].split(16):
            warm = min(10 * (step + 1) / steps, 1)
            optimiser.param_groups[0]["lr"] = rate * warm * (1 - step / steps)
            loss = loss_of(model, rows[some])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
            if watch:
                watch(step, loss.item())
    return model.eval()

# %% [markdown]
# ## 2 · A label for a text
#
# A text has T vectors but only one label, so the vectors must be combined into one vector (**pooling**). BERT uses the first vector, that of [CLS]. Other
# models use the mean of all vectors, or the maximum in each coordinate. If a batch contains padding, the mean and the maximum can be wrong without raising an
# error.

# %% nbgrader={"grade": false, "grade_id": "applications-pool", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pool(
    H: Float[Tensor, "B T D"], keep: Bool[Tensor, "B T"]
) -> tuple[Float[Tensor, "B D"], Float[Tensor, "B D"], Float[Tensor, "B D"]]:
    """One vector per sequence, pooled in three ways: (first, mean, largest).
    (difficulty ●●○, 6 minutes)

    first: the vector of the sequence's first token, [CLS]. mean: the mean of the vectors of
    its tokens. largest: the largest value among its tokens in each coordinate. keep is True
    at tokens and False at padding, which must not affect the result. Each sequence has at
    least one token. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    kept = keep[..., None]
    mean = (H * kept).sum(dim=1) / kept.sum(dim=1)
    largest = H.masked_fill(~kept, -torch.inf).amax(dim=1)
    return H[:, 0], mean, largest
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-pool-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("applications.pool", lambda case: pool(case["H"], case["keep"]), gradients=True)

# %% [markdown]
# The task is to classify the **sentiment** of 1,280 short reviews in `data/sentiment`, half of which are positive. Some reviews are direct, some use a
# negation, some contain both praise and criticism, and a few are sarcastic.

# %% tags=["demo", "record"]
reviews = read_table("sentiment/sentiment.csv")


def review_rows(encoder: BertModel, tokenizer, below: int) -> Rows:
    """All reviews, with the label 1 for positive and 0 for negative."""
    rows = tokenizer(reviews["text"].tolist(), padding=True, return_tensors="pt")
    positive = torch.tensor((reviews["label"] == "positive").tolist()).long()
    return Rows(read_by(encoder, rows, below), rows["attention_mask"].bool(), positive)


def review_logits(model: Upper, batch: Rows) -> Float[Tensor, "B 2"]:
    H = model(batch.H, batch.keep)
    return model.head(pool(H, batch.keep)[1])  # one linear layer on the mean


def review_loss(model: Upper, batch: Rows) -> Float[Tensor, ""]:
    return cross_entropy(review_logits(model, batch), batch.labels)

# %% tags=["demo"]
test_reviews = reviews[reviews["split"] == "test"]
display(test_reviews.groupby("phenomenon").agg(
    reviews=("id", "size"), example=("text", "first"), label=("label", "first")
).style)

# %% [markdown]
# We begin *without* changing the encoder: we encode some reviews, pool the vectors in all three ways, and train only a linear layer on each of the results. Which pooled
# vector represents a text best?

# %% tags=["demo"]
print("This takes a few seconds.")
chosen = torch.cat([part(reviews, "train")[:320], part(reviews, "test")])
some_reviews = reviews.iloc[chosen.numpy()]
texts = tokenizer(some_reviews["text"].tolist(), padding=True, return_tensors="pt")
last_layer = read_by(encoder, texts, encoder.config.num_hidden_layers)
pooled = dict(
    zip(("first", "mean", "largest"), pool(last_layer, texts["attention_mask"].bool()))
)

# %% tags=["demo"]
labels = torch.tensor((some_reviews["label"] == "positive").tolist()).long()
torch.manual_seed(0)
probes = {name: linear_probe(vectors, labels) for name, vectors in pooled.items()}
pooling_gains = {
    name: (probes["mean"] - probes[name]).numpy() for name in ("first", "largest")
}
tables.probes(probes, pooling_gains)

# %% [markdown]
# With each of the three pooled vectors, the linear layer is clearly more accurate than chance. MiniLM was trained with the mean of its vectors, but with so few test reviews,
# no difference between the three exceeds the noise. The choice may matter for another encoder: BERT was pre-trained to use [CLS] (06).
#
# Next, we also train the upper layers. The following figure is based on recorded predictions (`python -m experiments applications_sentiment`) of each model for
# each test review, with three seeds for the trained heads. The baselines are a *bag of words*, the *frozen* encoder with a trained head, and the same model
# trained from *random weights*. SmolLM2 from notebook 07 is not fine-tuned but prompted zero-shot, on every second review. Chance level is 0.5.

# %% [markdown]
# **Predict:** some reviews contain both praise *and* blame, and one of the two prevails (*contrast*). On these reviews, the frozen encoder is hardly better
# than chance. What accuracy does the fine-tuned model reach (0 to 1)?

# %% tags=["demo"]
predict("applications.contrast", ...)

# %% tags=["demo"]
answers, right, by_kind, gains = recorded.reviews(test_reviews)
reveal("applications.contrast", by_kind["fine-tuned"]["contrast"][0])
pictures.accuracy_by_phenomenon(by_kind)

# %% [markdown]
# To compare two models, we subtract their accuracies review by review and compute a 95 % interval for the mean difference.

# %% tags=["demo"]
tables.gains_of_fine_tuning(gains, answers)

# %% [markdown]
# Fine-tuning improves the accuracy of the frozen encoder by seven points. Two thirds of this gain come from the *contrast* reviews (one review in eight), on
# which the accuracy rises from 0.54 to 0.93. These runs do not show why the frozen encoder fails on such reviews. Averaging its vectors may lose the order of
# praise and blame, but we did not test this.
#
# On *plain* reviews, the gain is within the noise. On reviews with *negation*, we see no gain, but with only 40 such reviews, even a gain of ten points could go
# undetected. Sarcastic reviews say the opposite of what their authors mean. Here, the fine-tuned model is at chance level, although 20 reviews are too few for
# a precise estimate.

# %% [markdown]
# ## 3 · A tag for every word
#
# Which people, places and organisations does a sentence mention? Finding them is called **named-entity recognition**. Each *word* receives one of the **BIO
# tags**: B- begins an entity, I- continues an entity, and O marks words outside any entity (Ramshaw and Marcus 1995). If *every* entity begins with B-, as
# here, the scheme is called IOB2 (Tjong Kim Sang and Veenstra 1999).
#
# The encoder, however, processes *subwords*. The usual **token alignment** therefore assigns the tag of a word to its first subword. The loss ignores all other
# subwords, [CLS], [SEP] and padding.

# %% nbgrader={"grade": false, "grade_id": "applications-align_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def align_labels(word_ids: list[int | None], tags: list[int]) -> Int[Tensor, "T"]:
    """A label for each subword: the tag of its word, or −100.  (difficulty ●●○, 6 minutes)

    The label of the first subword of a word is the tag of the word; all other subwords,
    special tokens and padding have the label −100. For each subword, word_ids contains the
    number of its word, or None for special tokens and padding. The subwords of a word are
    adjacent, the words are in order, and a word may have no subword at all. tags[i] is the
    number of the tag of word i.
    """
    ### BEGIN SOLUTION
    labels, before = [], None
    for word in word_ids:
        labels.append(-100 if word is None or word == before else tags[word])
        before = word
    return torch.tensor(labels)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-align_labels-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("applications.align_labels", lambda case: align_labels(
    case["word_ids"], case["tags"].tolist()
))

# %% [markdown]
# The data set `data/entities` contains 520 sentences with names of people (PER), places (LOC), organisations (ORG) and other things (MISC).

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
words = read_table("entities/entities.csv").groupby("sentence", sort=False)
sentences = words.agg({"token": list, "tag": list, "split": "first", "genre": "first"})


def sentence_rows(encoder: BertModel, tokenizer, below: int) -> Rows:
    """Rows with a label at the first subword of each word; `more` indicates whether the word begins with a capital and whether it is all capitals."""
    tokens = sentences["token"].tolist()
    rows = tokenizer(tokens, is_split_into_words=True, padding=True, return_tensors="pt")
    word_ids = [rows.word_ids(n) for n in range(len(tokens))]
    numbers = [[TAGS.index(tag) for tag in tags] for tags in sentences["tag"]]
    labels = torch.stack([align_labels(*pair) for pair in zip(word_ids, numbers)])
    marks = [[(0, 0) if i is None else (own[i][0].isupper(), own[i].isupper()) for i in ids]
             for own, ids in zip(tokens, word_ids)]
    keep = rows["attention_mask"].bool()
    return Rows(read_by(encoder, rows, below), keep, labels, torch.tensor(marks).float())

# %% tags=["demo", "record"]
def tag_logits(model: Upper, batch: Rows) -> Float[Tensor, "B T tags"]:
    H = model(batch.H, batch.keep)
    if model.head.in_features > H.shape[-1]:                        # the variant with capitals
        # the factor 3 gives the marks more weight among 384 coordinates
        H = torch.cat([H, 3 * batch.more], dim=-1)
    return model.head(H)


def tag_loss(model: Upper, batch: Rows) -> Float[Tensor, ""]:
    return cross_entropy(tag_logits(model, batch).flatten(0, 1), batch.labels.flatten())

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def tags_of(model: Upper, rows: Rows, some: Int[Tensor, "n"]) -> list[list[str]]:
    """The most probable tag of every word in the chosen sentences."""
    found = []
    for few in some.split(32):
        batch = rows[few]
        best = tag_logits(model, batch).argmax(dim=-1)
        found += [[TAGS[i] for i in row[asked]] for row, asked in zip(best, batch.labels != -100)]
    return found

# %% tags=["demo"]
example = "Mrs Lind flew from Haapsalu to New York for Orchard Bank .".split()
example_tags = "O B-PER O O B-LOC O B-LOC I-LOC O B-ORG I-ORG O".split()
numbers = [TAGS.index(tag) for tag in example_tags]
row = tokenizer(example, is_split_into_words=True)

def named(labels: Int[Tensor, "T"]) -> list[str]:
    """Labels as text, with · at positions that the loss ignores."""
    return ["·" if label == -100 else TAGS[label] for label in labels.tolist()]

own_labels = align_labels(row.word_ids(), numbers)
example_pieces = tokenizer.convert_ids_to_tokens(row["input_ids"])
pictures.pieces(example_pieces, {"your labels": named(own_labels)})

# %% [markdown]
# The subwords contain no capital letters, because the vocabulary is *uncased*: the name *Orchard Bank* and the word *orchard* begin with the same subword. We
# return to this problem below.
#
# The model outputs tags, but users want entities, each with its beginning, its end and its type. Not every sequence of tags is well formed. For
# example, what should happen if an I- tag follows O?

# %% nbgrader={"grade": false, "grade_id": "applications-bio_spans", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bio_spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """The entities as (begin, end, type), from left to right.  (difficulty ●●○, 10 minutes)

    tags are "O", "B-" + type or "I-" + type. An entity is tags[begin:end], where end is the
    position *after* its last token. B- always begins an entity. I- continues the entity that
    ends directly before it if the type is the same; any other I- begins an entity, as if it
    were B-.
    """
    ### BEGIN SOLUTION
    spans = []
    for place, tag in enumerate(tags):
        kind = tag[2:]
        if tag.startswith("I-") and spans and spans[-1][1:] == (place, kind):
            spans[-1] = (spans[-1][0], place + 1, kind)
        elif tag != "O":
            spans.append((place, place + 1, kind))
    return spans
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-bio_spans-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("applications.bio_spans", lambda case: in_numbers(bio_spans(as_tags(case["tags"])[0])))

# %% tags=["demo"]
odd_tags = "I-LOC I-LOC O B-PER B-PER I-ORG O O O O O O".split()
tables.entities(example, (example_tags, odd_tags), bio_spans)

# %% [markdown]
# How do we evaluate a tagger? The obvious metric is token accuracy, the fraction of tags that are correct. The next cell computes the token accuracy on the
# test sentences for a tagger that assigns O to every word.

# %% tags=["demo"]
test_sentences = sentences[sentences["split"] == "test"]
true_tags = test_sentences["tag"].tolist()

def token_accuracy(predicted: list[list[str]]) -> float:
    """The fraction of tags that are correct."""
    pairs = [pair for t, p in zip(true_tags, predicted) for pair in zip(t, p, strict=True)]
    return sum(t == p for t, p in pairs) / len(pairs)

nothing_found = [["O"] * len(tags) for tags in true_tags]
silent_accuracy = token_accuracy(nothing_found)
print(f"everything O: token accuracy {silent_accuracy:.3f}")

# %% [markdown]
# This tagger has a high accuracy, yet it has not found a single entity. The standard metric, **entity F1**, therefore counts entities: an entity is correct
# only if its boundaries *and* its type are correct (Tjong Kim Sang and De Meulder 2003; in Python, seqeval: Nakayama 2018).

# %% nbgrader={"grade": false, "grade_id": "applications-entity_f1", "locked": false, "schema_version": 3, "solution": true, "task": false}
def entity_f1(
    truth: list[list[str]], predicted: list[list[str]]
) -> tuple[float, float, float]:
    """(precision, recall, F1) over all sentences together.  (difficulty ●●○, 8 minutes)

    truth and predicted are lists of sentences, each a list of tags. A predicted entity is
    correct if the same sentence has a true entity with the same start, end and type.
    Precision: the fraction of predicted entities that are correct. Recall: the fraction of
    true entities that were predicted. F1: the harmonic mean of precision and recall,
    2 · correct / (predicted + true). A value whose denominator is 0 is 0.
    """
    ### BEGIN SOLUTION
    pairs = [(set(bio_spans(t)), set(bio_spans(p))) for t, p in zip(truth, predicted)]
    right = sum(len(t & p) for t, p in pairs)
    asked, given = sum(len(t) for t, _ in pairs), sum(len(p) for _, p in pairs)
    return right / max(given, 1), right / max(asked, 1), 2 * right / max(asked + given, 1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-entity_f1-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("applications.entity_f1", lambda case: entity_f1(
    as_tags(case["truth"]), as_tags(case["predicted"])
))

# %% [markdown]
# **Predict:** a tagger trained for about fifteen seconds reaches a token accuracy of about 0.92. What is its entity F1 (0 to 1)?

# %% tags=["demo"]
predict("applications.live_f1", ...)

# %% [markdown]
# We now train this tagger (its head and the upper half of the layers) for three epochs on 312 sentences.

# %% tags=["demo"]
tagged = sentence_rows(encoder, tokenizer, HALF)
train_sentences, asked = part(sentences, "train"), part(sentences, "test")

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
torch.manual_seed(0)
tagger = Upper(encoder, HALF, len(TAGS))
curve, losses = [], []

def watch(step: int, loss: float) -> None:
    """Every ten steps, record the mean training loss, and the token accuracy and F1 on the
    test sentences."""
    losses.append(loss)
    if step in (1, 5) or step % 10 == 0:
        tagger.eval()
        tags = tags_of(tagger, tagged, asked)
        curve.append(
            (step, np.mean(losses), token_accuracy(tags), entity_f1(true_tags, tags)[2])
        )
        losses.clear()
        tagger.train()

fine_tune(tagger, tag_loss, tagged, train_sentences, epochs=3, rate=5e-4, seed=0, watch=watch)
reveal("applications.live_f1", curve[-1][3])
pictures.live_run(curve, (silent_accuracy, entity_f1(true_tags, nothing_found)[2]))

# %% [markdown]
# After five steps, the model tags every word as O: four fifths of the tags are correct, but the model finds no entity. From then on, the accuracy rises only
# slowly, whereas F1 shows what the model is learning. Which errors remain?

# %% tags=["demo"]
live_tags = tags_of(tagger, tagged, asked)
tables.errors(test_sentences["token"], true_tags, live_tags, bio_spans)
precision, recall, f1 = entity_f1(true_tags, live_tags)
print(f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}")

# %% [markdown]
# The following results were recorded with three seeds, and with five epochs instead of three. The baselines use no encoder: *everything O*, the most frequent
# tag of each word in the training sentences, and a classifier that sees a word, its neighbours and their capital letters (*window of words*).
#
# In the variant *with capitals*, the head receives two inputs in addition to the 384 coordinates: whether the word begins with a capital letter, and whether
# all its letters are capitals.

# %% tags=["demo"]
found_spans = recorded.tags_of_taggers("applications_entities", "model", test_sentences)
points = {"everything O": [(silent_accuracy, 0.0)]} | {
    name: [(token_accuracy(tags), entity_f1(true_tags, tags)[2]) for tags in seeds]
    for name, seeds in found_spans.items()
}
pictures.accuracy_flatters(points)

# %% tags=["demo"]
from coursekit.entity_scores import entity_counts, f1_gain, scores_of_taggers

counted = {
    name: entity_counts(true_tags, seeds, bio_spans) for name, seeds in found_spans.items()
}
entity_table = scores_of_taggers(points, counted)
flattery = entity_table["token accuracy"] - entity_table["entity F1"]
tables.taggers(entity_table, flattery, silent_accuracy)

# %% [markdown]
# In the figure, all taggers lie in a narrow band of accuracy near the right edge, but their F1 values extend over half of the axis. Accuracy is misleading for
# two reasons: most words are easy to recognise as O, and one wrong tag is enough to lose an entity of three tokens.

# %% tags=["demo"]
f1_gains = {
    (a, b): f1_gain(counted[a], counted[b])
    for a, b in [
        ("fine-tuned", "frozen"), ("fine-tuned", "window of words"),
        ("fine-tuned, with capitals", "fine-tuned"),
    ]
}
tables.gains_in_f1(f1_gains)

# %% [markdown]
# The fine-tuned model has a substantially higher F1 than the frozen encoder and the window of words. Giving the head information about capital letters, the
# obvious remedy for an uncased vocabulary, brings no gain beyond the noise; these runs do not show why.

# %% tags=["demo"]
by_size = recorded.tags_of_taggers("applications_sizes", "sentences", test_sentences)
f1_by_size = {
    size: [entity_f1(true_tags, tags)[2] for tags in seeds] for size, seeds in by_size.items()
} | {len(train_sentences): [score for _, score in points["fine-tuned"]]}
tables.f1_by_size(f1_by_size)

# %% [markdown]
# > **Checking the literature.** Devlin et al. (2019, table 7) report an F1 of 92.4 for BERT-Base on CoNLL-2003. Their model was *cased*, read the context of
# > the whole document, and was trained on about 14,000 sentences. Our model is uncased, has half as many layers and is trained on 312 deliberately tricky
# > sentences.
# >
# > It is often said that recognising names requires a cased model. Two additional inputs at the *head* did not help measurably, but this result says nothing
# > about a model that sees capitals from its first layer on. Each doubling of *our* training set still increased F1 (see above). A published score is therefore
# > meaningful only together with its data, its metric and its model.

# %% [markdown]
# **Question 1 · Token accuracy and F1.** A colleague has a tagger with a token accuracy of 0.92 and considers it nearly finished. Which two baselines would you show your colleague, and what do they
# reveal here? Why does F1 penalise an entity with one wrong token so severely, and for which application would this penalty be too strict? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "applications-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The first baseline is a tagger that assigns O to every word: it reaches an accuracy of about 0.8 without finding a single entity, so 0.92 is only a little
# more than halfway from this value to 1. The second is a simple tagger without an encoder (the most frequent tag of each word, or a window of words). Its accuracy
# is 0.85 or 0.91, but its F1 is below one half. F1 treats an entity as a single answer: someone who looks up "York" instead of "New York" has not found the
# place, and two thirds of a name are not a name. If a person reads the output anyway, or if names only have to be redacted or counted, an overlap may be good
# enough. In that case, a metric with partial credit is fairer.
#
# *Marking: 1 point for two baselines with their numbers (accuracy high, F1 zero or low); 1 point for the entity as the unit and an application for which partial credit is
# sensible.*

# %% [markdown]
# ## 4 · Find the bug
#
# Instead of ignoring the later subwords of a word, we could label them as well, which gives more labels for the same sentences. The example scripts of the
# transformers library, which compute their scores with seqeval (Nakayama 2018), offered an option for this, `--label_all_tokens`. Until October 2021, the
# option worked as follows (issue 14043, fixed in pull request 14055):

# %%
def piece_labels_of_2021(word_ids, tags):                   # --label_all_tokens
    return torch.tensor([-100 if word is None else tags[word] for word in word_ids])

# %% [markdown]
# "Haapsalu" is one place. How many entities does your `bio_spans` find for this word if the labels come from this function?

# %% tags=["demo"]
labels_2021 = piece_labels_of_2021(row.word_ids(), numbers)
pictures.pieces(example_pieces, {"labels of 2021": named(labels_2021)})
print("entities in the labels:", bio_spans([tag for tag in named(labels_2021) if tag != "·"]))

# %% nbgrader={"grade": false, "grade_id": "applications-mended_piece_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_piece_labels(word_ids: list[int | None], tags: list[int]) -> Int[Tensor, "T"]:
    """A label for each subword, with the bug fixed.  (difficulty ●●○, 6 minutes)

    Tags are numbers: 0 is O, an odd number is a B- tag, and the next even number is the I- tag
    of the same type. word_ids is as in align_labels. Special tokens and padding keep the label
    −100.
    """
    ### BEGIN SOLUTION
    labels, before = [], None
    for word in word_ids:
        labels.append(-100 if word is None else tags[word] + (word == before) * (tags[word] % 2))
        before = word
    return torch.tensor(labels)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-mended_piece_labels-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("applications.mended_piece_labels", lambda case: mended_piece_labels(
    case["word_ids"], case["tags"].tolist()
))

# %% [markdown]
# How much does this bug matter? We label all subwords of the test sentences in both ways, with the bug and without it, and count the entities. Then we copy the
# tags predicted by the tagger above to the subwords, again in both ways, and compute F1.
#
# **Predict:** the test sentences contain 250 entities. How many are there in the labels of 2021?

# %% tags=["demo"]
predict("applications.entities_2021", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
in_pieces = tokenizer(test_sentences["token"].tolist(), is_split_into_words=True)
ids_of_words = [in_pieces.word_ids(n) for n in range(len(test_sentences))]

def on_pieces(labelled, tags: list[list[str]]) -> list[list[str]]:
    """Copy the tags of words to their subwords with one of the two functions."""
    numbered = [[TAGS.index(tag) for tag in row] for row in tags]
    labels = [labelled(*pair) for pair in zip(ids_of_words, numbered)]
    return [[TAGS[i] for i in row[row != -100]] for row in labels]

def count_entities(tags: list[list[str]]) -> int:
    return sum(len(bio_spans(row)) for row in tags)

on_words = count_entities(true_tags)
ways = {"labels of 2021": piece_labels_of_2021, "fixed": mended_piece_labels}
in_labels = {name: count_entities(on_pieces(way, true_tags)) for name, way in ways.items()}
marked = {
    name: entity_f1(on_pieces(way, true_tags), on_pieces(way, live_tags))[2]
    for name, way in ways.items()
}
reveal("applications.entities_2021", in_labels["labels of 2021"])
print(f"computed on words: {on_words} entities, F1 of the tagger {f1:.3f}")
for name in in_labels:
    print(f"{name:<15} {in_labels[name]} entities, F1 of the same predictions {marked[name]:.3f}")

# %% [markdown]
# Rare names consist of many subwords. In the labels of 2021, every subword of a word tagged B- begins an entity of its own, so the metric counts such a name
# several times. As a result, the same predictions receive a different score, which happens to be higher here. With the bug fixed, the number of entities and the F1 are equal to
# those computed on words. Moreover, the labels of 2021 teach a model to predict B- inside a name.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [One place becomes three](../../docs/bugs/10_entities_from_subwords.md).

# %% [markdown]
# ## 5 · A span for a question
#
# In extractive **question answering**, the third head computes two scores for each token: one for an answer that *starts* at this token, and one for an answer that *ends* there. The input sequence is [CLS] question [SEP] text [SEP], and the answer is a span of the text (Rajpurkar et al. 2016). If the text does not answer the
# question, start and end should both be [CLS] (Rajpurkar et al. 2018; Devlin et al. 2019, section 4.3).

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from pathlib import Path

import coursekit
from coursekit.application_runs import MAX_LEN

questions = pd.read_json(Path(coursekit.__file__).parents[1] / "data/questions/questions.json")


def question_rows(encoder: BertModel, tokenizer, below: int) -> tuple[Rows, Int[Tensor, "N T 2"]]:
    """Question and text as one sequence, the answer's first and last token (0, 0 for no answer), and the character offsets."""
    rows = tokenizer(
        questions["question"].tolist(), questions["context"].tolist(),
        padding=True, return_offsets_mapping=True, return_tensors="pt",
    )
    begins, ends = rows["offset_mapping"].unbind(-1)
    context = (rows["token_type_ids"] == 1) & (ends > begins)       # [SEP] has no characters
    labels = torch.zeros(len(questions), 2, dtype=torch.long)
    for n, (answers, starts) in enumerate(zip(questions["answers"], questions["starts"])):
        if answers:
            inside = context[n] & (ends[n] > starts[0]) & (begins[n] < starts[0] + len(answers[0]))
            labels[n] = inside.nonzero()[[0, -1], 0]
    vectors = read_by(encoder, rows, below)
    return Rows(vectors, rows["attention_mask"].bool(), labels, context), rows["offset_mapping"]

# %% tags=["demo", "record"]
def span_scores(
    model: Upper, batch: Rows
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T"]]:
    """Start and end scores; −10,000 at all positions outside the text except [CLS]."""
    allowed = batch.more.clone()
    allowed[:, 0] = True                                            # [CLS] means no answer
    scores = model.head(model(batch.H, batch.keep))
    return scores.masked_fill(~allowed[..., None], -1e4).unbind(-1)


def span_loss(model: Upper, batch: Rows) -> Float[Tensor, ""]:
    start, end = span_scores(model, batch)
    return (
        cross_entropy(start, batch.labels[:, 0]) + cross_entropy(end, batch.labels[:, 1])
    ) / 2

# %% tags=["demo"]
test_questions = questions[questions["split"] == "test"].set_index("id")
recorded_scores = recorded.span_scores(test_questions, tokenizer)
tables.highest_scores(test_questions.loc["q136-1"], recorded_scores("q136-1"))

# %% [markdown]
# These recorded scores come from a model that was trained like the tagger, for three epochs on the 558 training questions. For a long time, tutorials chose the
# best start and the best end independently. However, nothing ensures that start and end fit together: the end may come before the start, or only one of them may be
# [CLS].
#
# **Predict:** for what fraction of the test questions do start and end not form a valid span (0 to 1)?

# %% tags=["demo"]
predict("applications.invalid", ...)

# %% tags=["demo"]
in_test = recorded.spans_of_heads(test_questions)
invalid = recorded.without_valid_span(in_test)
reveal("applications.invalid", invalid["fine-tuned"].mean())
tables.no_valid_span(invalid, len(test_questions))

# %% [markdown]
# Start and end must therefore be chosen jointly. The spans of a text of T tokens can be arranged in a T × T matrix, in which the row is the first token of a
# span and the column its last token. The score of a span is its start score plus its end score. In cells below the diagonal, the end would come before the
# start; in cells far to the right of it, the span is too long. The valid spans form a diagonal band.

# %% nbgrader={"grade": false, "grade_id": "applications-best_span", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_span(
    start: Float[Tensor, "T"], end: Float[Tensor, "T"], context: Bool[Tensor, "T"],
    max_len: int
) -> tuple[int, int, float]:
    """The best answer: (first token, last token, margin).  (difficulty ●●●, 10 minutes)

    The score of the span from i to j is start[i] + end[j]. A valid span has 1 to max_len
    tokens, and its first and last token belong to the text (where context is True; these
    positions are consecutive). The margin is the score of the best span minus the score of no
    answer, that is, of the span from [CLS] to [CLS]; [CLS] is at position 0.
    """
    ### BEGIN SOLUTION
    T = len(start)
    scores = start[:, None] + end[None, :]                           # T T: row first, column last
    length = torch.arange(T)[None, :] - torch.arange(T)[:, None] + 1
    valid = context[:, None] & context & (length >= 1) & (length <= max_len)
    best = scores.masked_fill(~valid, -torch.inf).argmax().item()
    return best // T, best % T, scores[best // T, best % T] - (start[0] + end[0])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-best_span-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("applications.best_span", lambda case: best_span(**case))

# %% tags=["demo"]
not_a_span, drawn = recorded.crossed_spans(in_test, test_questions)
pictures.question_triangle(drawn, test_questions, recorded_scores, best_span)
print("accepted answers:", test_questions.loc[drawn, "answers"])

# %% [markdown]
# Whole rows and columns are bright or dark, because the score of a span is a sum of two separate scores. The cross marks the best start combined with the best
# end; the circle marks the cell with the best valid answer. Use the slider to view other questions:

# %% tags=["demo"]
pictures.triangle_slider(drawn, test_questions, recorded_scores, best_span)

# %% [markdown]
# When is an answer correct? "The 340 metres." and "340 metres" are the same answer, and "metres" is part of this answer. Annotators often accept several
# answers. SQuAD uses two metrics, **exact match** and *F1* over words. Both texts are normalised as follows before they are compared:

# %%
def words_of(text: str) -> list[str]:
    """The words that SQuAD compares: in lower case, without punctuation or articles."""
    plain = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()

# %% nbgrader={"grade": false, "grade_id": "applications-exact_match_and_f1", "locked": false, "schema_version": 3, "solution": true, "task": false}
def exact_match_and_f1(said: str, accepted: list[str]) -> tuple[float, float]:
    """SQuAD's two metrics for one answer: (exact match, F1).  (difficulty ●●●, 12 minutes)

    Compared with one accepted answer: exact match is 1 if words_of returns the same words in
    the same order, otherwise 0. F1 is 2 · shared / (words said + words accepted), where a word
    is shared as often as it occurs on both sides; if neither side has a word, F1 is 1. If
    there are several accepted answers, each metric takes its best value over all of them. If
    `accepted` is empty, the question has no answer: compare with the empty text as with any
    accepted answer (so "The." is correct as well).
    """
    ### BEGIN SOLUTION
    exact = f1 = 0.0
    said_words = words_of(said)
    for answer in accepted or [""]:
        words = words_of(answer)
        same = said_words == words
        shared = (Counter(said_words) & Counter(words)).total()
        exact = max(exact, float(same))
        f1 = max(f1, 1.0 if same else 2 * shared / (len(said_words) + len(words)))
    return exact, f1
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "applications-exact_match_and_f1-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("applications.exact_match_and_f1", lambda case: mark_all(case, exact_match_and_f1))

# %% tags=["demo"]
tables.scored_answers(exact_match_and_f1, [
    ("The 340 metres.", ["about 340 metres", "340 metres"]),
    ("metres", ["about 340 metres", "340 metres"]), ("", []), ("1953", []),
])

# %% [markdown]
# A model must also be able to abstain: if the margin is not above 0, we replace its answer with the empty text. In the first part of the next table, which
# covers the questions that have an answer, models may not abstain; in the second part, which covers all questions, they may. The baselines are the frozen
# encoder with a trained head, the sentence that shares the most words with the question (*likeliest sentence*), and a model that *always abstains*.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def marks(answers: pd.Series) -> pd.DataFrame:
    """Exact match and F1 of the answer to each question."""
    accepted = test_questions["answers"].reindex(answers.index)
    pairs = [exact_match_and_f1(*pair) for pair in zip(answers, accepted)]
    return pd.DataFrame(pairs, index=answers.index, columns=["exact match", "F1"])

prompts = read_table("results/applications_prompts.csv").set_index(["task", "id"])["answer"]
said_by_smol = prompts["questions"].fillna("")
said_by_smol[said_by_smol.str.lower().str.match("none|the text does not")] = ""
given = {
    (name, seed): rows.set_index("id")
    for (name, seed), rows in recorded.answers().groupby(["model", "seed"], sort=False)
}
given["SmolLM2, zero-shot", 0] = pd.DataFrame({
    "answer": said_by_smol, "margin": said_by_smol.ne("").astype(float),
})
answerable = test_questions["answerable"]
forced, allowed = {}, {}
for (name, _), rows in given.items():
    rows = rows[rows.index.isin(test_questions.index)]
    forced.setdefault(name, []).append(marks(rows["answer"][answerable.reindex(rows.index)]))
    speaks = (rows["margin"] > 0) | (name == "likeliest sentence")
    allowed.setdefault(name, []).append(marks(rows["answer"].where(speaks, "")))
allowed["always abstains"] = [marks(pd.Series("", index=test_questions.index))]

# %% tags=["demo"]
of_paragraphs = recorded.over_paragraphs(test_questions)
tables.answers(forced, allowed, of_paragraphs)
fine, sentence_f1, all_fine, all_silent = (
    of_paragraphs(marks_of[name], "F1") for marks_of, name in [
        (forced, "fine-tuned"), (forced, "likeliest sentence"),
        (allowed, "fine-tuned"), (allowed, "always abstains"),
    ]
)

# %% [markdown]
# After training on a few hundred questions, the head is far better at finding answers than the *likeliest sentence* baseline. Even so, barely more than a quarter of
# its answers match an accepted answer exactly. On SQuAD, BERT-Base reached an F1 of 88.5 when trained on 87,599 questions (Devlin et al. 2019, table 2).
#
# If abstaining is allowed, every model has to beat *always abstains*, whose score is the fraction of unanswerable questions. The fine-tuned model clearly beats
# this baseline; the frozen head and SmolLM2 do not. Deciding when to abstain is a separate problem, which the extension addresses.

# %% [markdown]
# ## 6 · Which model for which task
#
# A decoder can also solve such tasks: we put the text and the request into its prompt. We prompted SmolLM2 (135 million parameters, instruction-tuned)
# zero-shot on every second test review and test question, once each.
#
# Its label for a review is the more probable of two words after *This review is*. Its answer to a question is the text that it generates, which need not be a
# span of the paragraph and may be a hallucination (07). We count *None* and *The text does not …* as abstaining. (To obtain tags, we would have to extract them
# from a generated list of names; we did not try this.)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap

asked_reviews, asked_questions = right["SmolLM2, zero-shot"].index, said_by_smol.index
no_span = np.mean([
    text.strip(" .") not in test_questions.loc[id, "context"] for id, text in said_by_smol.items()
])
called_positive = (prompts["sentiment"] == "positive").mean()
print(f"reviews: {called_positive:.1%} of {len(asked_reviews)} labelled positive;",
      f"questions: {no_span:.1%} of {len(asked_questions)} answers are not a span of the text")

def with_interval(middle: float, low: float, high: float) -> str:
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"

def on_asked(name: str) -> dict[str, str]:
    """Accuracy and F1 on the reviews and questions that were given to SmolLM2."""
    of_questions = [one.loc[asked_questions] for one in allowed[name]]
    line = {"questions: F1, may abstain": with_interval(*of_paragraphs(of_questions, "F1"))}
    if name in right:
        shares = right[name].loc[asked_reviews].to_numpy()
        line["reviews: accuracy"] = with_interval(shares.mean(), *bootstrap(shares))
    return line

share = (test_reviews.set_index("id")["label"].loc[asked_reviews] == "positive").mean()
versus = {
    "encoder with a head, fine-tuned": on_asked("fine-tuned"),
    "decoder, zero-shot": on_asked("SmolLM2, zero-shot"),
    "baseline: the same answer for all": {
        "reviews: accuracy": f"{max(share, 1 - share):.2f}", **on_asked("always abstains"),
    },
}
display(pd.DataFrame(versus))

# %% [markdown]
# The decoder labels most reviews positive, because its decision threshold is shifted, as in notebook 07. It often answers questions in whole sentences, which
# SQuAD's metrics penalise even if the sentences are correct. The table compares two ways of working, not two architectures: the encoder had a few hundred labels,
# whereas the decoder had none, and most of the decoder's weights were rounded to 4 bits.
#
# In general, the *shape* of the answer determines the choice. If a label or a position in the text is wanted, an encoder with a head cannot output anything else. It needs a
# single forward pass and returns scores that can be compared with a threshold. Only a generative model can produce a new text.

# %% tags=["demo"]
pictures.decision({
    "sentiment": (by_kind["fine-tuned"]["all"][0], 0.5),
    "entities": entity_table.loc[["fine-tuned", "most frequent tag"], "entity F1"],
    "questions": (all_fine[0], all_silent[0]),
})

# %% [markdown]
# **Question 2 · Choosing a model for a task.** A library has received two million letters. It wants (a) to identify the complaints, (b) to find the date on which a reader's
# cancellation takes effect, if the letter gives one, and (c) to draft a reply. For each task, which kind of model with which head, which metric, and which baseline would you
# choose? (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "applications-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# (a) The answer is one label for a text, so a suitable model is an encoder with a head on a pooled vector, fine-tuned on a few hundred labelled letters. The
# metric is accuracy or, if complaints are rare, precision and recall of "complaint"; the baselines are the majority class and a bag of words. (b) The answer is
# a position in a text, or none, so the head computes start and end scores, and the two positions are chosen jointly. (A tagger would also work.) The metrics are exact match and F1 with the option
# to abstain. The baseline is a model that *always abstains*, which is correct for every letter that gives no such date. The threshold is chosen on letters
# outside the test set. (c) The answer is a new text, which only a decoder (or an encoder–decoder) can generate. Word overlap with a single reference reply says
# little, so people should rate the drafts without knowing where they come from; the baseline is the standard letter that the library sends today. For two
# million letters, cost matters as well: one pass of a small encoder is much cheaper than generating a text.
#
# *Marking: 1 point for the three shapes (label, span or none, new text) with suitable models; 1 point for suitable metrics, each with a baseline that is hard to beat or
# exposes a flaw of the metric.*

# %% [markdown]
# ## 7 · Scoreboard
#
# This notebook adds no row to the scoreboard. The course's test asks for the sense of a word in the generated language, whereas the models in this notebook
# were trained on English. Their results are in the figures and tables of sections 2, 3 and 5. The public data sets that ours imitate (SST-2, CoNLL-2003, SQuAD)
# have 45 to 160 times as many training examples. If the model hub can be reached, `coursekit.public_data.load_public` loads these data sets with the same
# columns, so that the same code runs on them.

# %% [markdown]
# ## 8 · Further: sentences that other people wrote
#
# All reviews above were written for this course. How accurate is a classifier trained on these reviews when it is applied to texts from other sources? In a published collection (Hutto and Gilbert 2014), at least
# 15 people rated each of 14,000 sentences from film and product reviews on a scale from −4 to 4. We call a sentence positive if its mean rating is above 0, and draw
# equally many positive and negative sentences.
#
# We train on 780 examples from each of the three sources, with three seeds, as in section 2, and test on held-out examples of all three. (`python -m experiments applications_domains`
# reads the sentences from an archive on PyPI; they are not part of the course.)

# %% [markdown]
# **Predict:** on our own test reviews, our fine-tuned classifier reaches an accuracy of 0.80. What accuracy does it reach on sentences from film reviews (0 to 1)?

# %% tags=["demo"]
predict("applications.film", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
elsewhere = recorded.other_sources()
reveal("applications.film", recorded.of_source(elsewhere["ours, fine-tuned"], "film")[0])
pictures.other_sources(elsewhere)

# %% [markdown]
# The dashed line shows how well people do: how often a single rater agrees with the sign of the mean of all other ratings, where a rating of 0 counts as half. The
# differences between classifiers are computed on the same sentences:

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
tables.other_sources(elsewhere)

# %% [markdown]
# Trained on our reviews instead of film sentences, both classifiers lose 12 points on film sentences. On product sentences, the loss is smaller, but also clear. This loss is called a
# **domain gap**: a test accuracy describes only texts like those in the test set. For the head on the frozen encoder, four times as many film sentences bring no
# gain beyond the noise. In this test, the kind of training text mattered more than its amount.
#
# Every classifier remains below a single rater. Compare accuracies only within a panel, because the sentences of different sources differ in difficulty.

# %% [markdown]
# ## Extension: when to abstain
#
# A threshold of 0 on the margin is natural but need not give the best score. The evaluation script of SQuAD 2 also reports the score at the threshold that is
# best for the very questions being scored. A fair evaluation uses a threshold chosen on validation questions. This exercise earns extra credit.

# %% nbgrader={"grade": false, "grade_id": "applications-best_threshold", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_threshold(
    margins: Float[Tensor, "n"], f1: Float[Tensor, "n"], answerable: Bool[Tensor, "n"]
) -> tuple[float, float]:
    """The best threshold for the margin, and the score at this threshold.
    (extension, ●●○, 10 minutes)

    A question is answered if its margin is above the threshold, and then earns its f1. A
    question that is not answered earns 1 if it has no answer, otherwise 0. Try minus infinity
    and every margin as the threshold. Return the threshold with the highest mean score over
    all questions, and this mean. (In the check, no two thresholds are equally good.)
    """
    ### BEGIN SOLUTION
    candidates = torch.cat([torch.tensor([-torch.inf]), margins])
    given = margins > candidates[:, None]                            # thresholds questions
    scores = torch.where(given, f1, (~answerable).float()).mean(dim=1)
    best = scores.argmax()
    return candidates[best], scores[best]
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "applications-best_threshold-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("applications.best_threshold", lambda case: best_threshold(**case))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
every_question = questions.set_index("id")
def margins_and_marks(seed: int, split: str) -> tuple[Tensor, Tensor, Tensor]:
    """The margins, the F1 of the best spans, and whether each question has an answer."""
    rows = given["fine-tuned", seed]
    rows = rows[every_question["split"].reindex(rows.index) == split]
    accepted = every_question["answers"].reindex(rows.index)
    f1 = [exact_match_and_f1(*pair)[1] for pair in zip(rows["answer"], accepted)]
    return (torch.tensor(rows["margin"].tolist()), torch.tensor(f1),
            torch.tensor(every_question["answerable"].reindex(rows.index).tolist()))

def earned(threshold: float, margins: Tensor, f1: Tensor, answerable: Tensor) -> float:
    return torch.where(margins > threshold, f1, (~answerable).float()).mean().item()

gained = []
for seed in [seed for name, seed in given if name == "fine-tuned"]:
    threshold = float(best_threshold(*margins_and_marks(seed, "validation"))[0])
    on_test = margins_and_marks(seed, "test")
    best_of_test = float(best_threshold(*on_test)[1])
    gained.append((threshold, earned(0.0, *on_test), earned(threshold, *on_test), best_of_test))
threshold_gain = np.array([chosen - zero for _, zero, chosen, _ in gained])
tables.thresholds(gained, threshold_gain)
pictures.thresholds(*(values.numpy() for values in margins_and_marks(0, "test")), gained[0][0])

# %% [markdown]
# The last score in each line cannot be lower than the other two. This score is too optimistic, because its threshold was chosen on the questions being scored. Here,
# the threshold chosen on validation questions brings no gain over a threshold of 0. From far below 0 up to 0, the curve is nearly flat, so with a hundred validation
# questions, the chosen threshold may lie almost anywhere in that range.

# %% [markdown]
# A threshold cannot help if the margin carries no information about which questions have an answer. Take one question with an answer and one without: what
# is the probability that the first question has the larger margin? It equals the area under the ROC curve (**AUC**; chance level is 0.5). The baseline is a logistic
# regression on the words of the *question* alone, which never sees the text.

# %% tags=["demo"]
aucs, margin_above_words = recorded.finding_answerable(every_question, given)
tables.finding_answerable(aucs, margin_above_words)

# %% [markdown]
# Even the words of the question alone predict better than chance whether the text contains an answer, perhaps because a single author wrote all unanswerable questions.
# The margin of the fine-tuned model is not clearly better than this baseline, and the frozen encoder's margin is at chance level. (We obtained the intervals by
# resampling whole paragraphs.)

# %% [markdown]
# ## Summary
#
# - A head is a linear layer, applied to a pooled vector or to the vector of every token. Padding must not affect the result.
# - Tags belong to words, but encoders process subwords: label only the first subword, or change each later B- to I-.
# - Token accuracy is misleading: *everything O* reaches four fifths. An entity is correct only as a whole.
# - Choose start and end jointly; if they are chosen separately, they often form no valid span.
# - If a question may have no answer, *always abstains* is the baseline to beat.
# - The shape of the answer determines the type of model: a label, a position, or a new text.
#
# **Next**: notebook 11 represents a whole sentence as one vector.

# %% [markdown]
# ## References
#
# - Devlin, J., Chang, M.-W., Lee, K. and Toutanova, K. (2019). BERT: pre-training of deep bidirectional transformers for language understanding. *NAACL-HLT*, 4171–4186. arXiv:1810.04805.
# - Hutto, C. J. and Gilbert, E. (2014). VADER: a parsimonious rule-based model for sentiment analysis of social media text. *ICWSM*, 216–225.
# - Nakayama, H. (2018). seqeval: a Python framework for sequence labeling evaluation. github.com/chakki-works/seqeval.
# - Rajpurkar, P., Zhang, J., Lopyrev, K. and Liang, P. (2016). SQuAD: 100,000+ questions for machine comprehension of text. *EMNLP*. arXiv:1606.05250.
# - Rajpurkar, P., Jia, R. and Liang, P. (2018). Know what you don't know: unanswerable questions for SQuAD. *ACL*. arXiv:1806.03822.
# - Ramshaw, L. A. and Marcus, M. P. (1995). Text chunking using transformation-based learning. *Third Workshop on Very Large Corpora*. arXiv:cmp-lg/9505040.
# - Tjong Kim Sang, E. F. and Veenstra, J. (1999). Representing text chunks. *EACL*, 173–179. arXiv:cs/9907006.
# - Tjong Kim Sang, E. F. and De Meulder, F. (2003). Introduction to the CoNLL-2003 shared task: language-independent named entity recognition. *CoNLL*. arXiv:cs/0306050.
# - transformers (2021). Running run_ner_no_trainer.py with --label_all_tokens falsifies seqeval results. github.com/huggingface/transformers/issues/14043, fixed in pull request 14055.

# %% [markdown]
# Next: [11 · Sentences and documents](../11_sentences/11_sentences.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
