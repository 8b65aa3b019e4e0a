# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · Sentences and documents
#
# So far, each vector has represented a single word. To search, group or compare texts, however, we need one vector for a whole sentence, and sentences with the
# same meaning should have similar vectors. The simplest sentence vector is the mean of the word vectors. In this notebook, we compare the resulting
# similarities with human judgements, train an encoder that does better, and use sentence vectors for search.
#
# **You need** notebooks 01, 03 and 06. **Time** about 80 minutes for the core: seven exercises, one of which asks you to fix a bug, and two written questions.
# Sections marked *Further* and the extension are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [10 · Applications: sentiment, entities, questions](../10_applications/10_applications.ipynb) · next: [12 · One corpus, four models](../12_one_corpus/12_one_corpus.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - pool the vectors of a padded batch into sentence vectors, and compare their cosines with human grades using a rank correlation that handles ties;
# - train one encoder on sentence pairs with two different losses, and explain what each of them optimises;
# - decide when to encode sentences separately and when to encode a pair together, and state the cost of each;
# - search a collection of texts, including texts longer than the encoder's window, and measure how many relevant texts are found.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import re

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal

normalize = torch.nn.functional.normalize

# %% [markdown]
# ## 1 · One vector for a sentence
#
# An encoder returns one vector per token. The usual **sentence embedding** is the mean of these vectors (**mean pooling**, one of the three pooling methods in
# notebook 10). The sentences of a batch differ in length, so the shorter ones are padded. The encoder also returns vectors at the padded positions, but these
# vectors are meaningless and must be excluded from the mean.

# %%
def mean_pool(
    hidden: Float[Tensor, "B T D"], keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B D"]:
    """The mean of each sentence's own token vectors, as computed by `pool` in notebook 10;
    keep is False at padding."""
    real = keep[..., None].to(hidden.dtype)                          # B T 1
    return (hidden * real).sum(dim=1) / real.sum(dim=1)

# %% [markdown]
# In 2022, a user of Hugging Face's library reported that the mean vector of a sentence depended on the *batch size* (transformers, issue 17463). The reason was
# that the mean had been taken over all positions of the sequence, including the padding. How large is this effect? To find out, we encode a single sentence
# with a small pre-trained encoder, MiniLM (Wang et al. 2020), and add more and more padding.
#
# **Predict:** what is the cosine between the mean without padding and the mean over all positions when 30 padding positions are added?

# %% tags=["demo"]
predict("sentences.padding", ...)

# %% tags=["demo"]
from collections.abc import Sequence

import numpy as np
import pandas as pd
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from coursekit.models.catalogue import MINILM
from coursekit.pictures import (
    sentences as pictures, sentences_encoders, sentences_search, sentences_tables as tables,
)
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)
logging.disable_progress_bar()
folder = MINILM.package.folder()  # the model's files; their SHA-256 is checked first
minilm = AutoModel.from_pretrained(folder).eval()
pieces = AutoTokenizer.from_pretrained(folder)

@torch.no_grad()
def read(
    texts: Sequence[str], model=minilm, tokenizer=pieces, **options
) -> tuple[Float[Tensor, "B T D"], Bool[Tensor, "B T"]]:
    """The last layer's vectors for a padded batch, and a mask that is True at real tokens."""
    inputs = tokenizer(list(texts), **{"return_tensors": "pt", "padding": True} | options)
    return model(**inputs).last_hidden_state, inputs["attention_mask"].bool()

# %% tags=["demo"]
from coursekit import pooling

padding = [0, 2, 5, 10, 20, 30, 50]
cosines = pooling.cosines_with_padding("Plug in your cell phone.", padding, read, mean_pool)
reveal("sentences.padding", cosines["all positions"][padding.index(30)])
pictures.padding(padding, cosines)

# %% [markdown]
# Attention ignores the padding, so the vectors of the *tokens* do not change. The mean over all positions does change. If we used this mean, a text would have
# a different vector in a different batch, and search results would depend on the order of the texts. The mean over a sentence's own tokens stays the same.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [A vector that depends on the neighbours in the batch](../../docs/bugs/11_mean_over_padding.md).

# %% [markdown]
# ## 2 · Human judgements
#
# `data/pairs` contains sentence pairs, each with a grade from 0 (unrelated) to 5 (same meaning). Two annotators graded every pair independently, and we use the
# mean of their grades. A model assigns each pair the cosine of its two sentence vectors. Because grades and cosines are on different scales, we compare only
# their *order*. For this purpose, we use the **Spearman correlation**, which is Pearson's correlation of the ranks (Spearman 1904).

# %% tags=["demo", "record"]
from coursekit.datasets import read_table

pairs = read_table("pairs/pairs.csv").sort_values(["hypothesis", "label"], ignore_index=True)
CONTRADICTION, ENTAILMENT, NEUTRAL = 0, 1, 2  # the order of the three pairs of each hypothesis

def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z]+", text.lower())

# %% tags=["demo"]
exam = pairs[pairs.split == "test"].reset_index(drop=True)
tables.graded_pairs(pairs, exam)

# %% [markdown]
# Equal values (ties) all receive the mean of the ranks that they occupy together: the ranks of 2, 5, 5, 9 are 1, 2.5, 2.5, 4. A package for permutation tests
# computed Spearman's correlation as shown below until a user reported a bug in 2021 (statlab/permute, issue 191; the variable names are ours). The first reply
# suggested applying `argsort` twice.

# %%
def spearman_of_2021(a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    ranks_a = torch.argsort(a) + 1
    ranks_b = torch.argsort(b) + 1
    return torch.corrcoef(torch.stack([ranks_a.float(), ranks_b.float()]))[0, 1]

# %% [markdown]
# What does `argsort` return for 30, 10, 20? What does `argsort` applied twice return for 2, 5, 5, 9, and for the same numbers in a different order? Then write
# a correct version of the function.

# %% nbgrader={"grade": false, "grade_id": "sentences-spearman", "locked": false, "schema_version": 3, "solution": true, "task": false}
def spearman(a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    """Pearson's correlation of the ranks, with the bug fixed.  (difficulty ●●○, 10 minutes)

    Equal values get the mean of the ranks that they occupy together. Neither list is constant.
    `scipy.stats.spearmanr` would also earn the points, but write the function yourself at
    least once.
    """
    ### BEGIN SOLUTION
    def ranks(x):
        _, place, equal = x.unique(return_inverse=True, return_counts=True)
        below = equal.cumsum(dim=0) - equal      # for each different value: how many are smaller
        return (below + equal / 2)[place]        # the rank, up to a constant that cancels

    ra, rb = ranks(a), ranks(b)
    ra, rb = ra - ra.mean(), rb - rb.mean()
    return (ra @ rb) / (ra.norm() * rb.norm())
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-spearman-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("sentences.spearman", lambda case: spearman(**case))

# %% [markdown]
# Our first baseline uses no vectors: it is the fraction of words that two sentences have in common. For the table below, we round the grades to integers, as
# many data sets do, and we also shuffle the pairs.
#
# **Predict:** what is Spearman's correlation between this overlap and the grades?

# %% tags=["demo"]
predict("sentences.overlap", ...)

# %% tags=["demo"]
from coursekit.graded_pairs import GradedPairs, correlations_by_order, overlap

shared = np.array([overlap(*pair) for pair in zip(exam.premise, exam.hypothesis)])
by_order = correlations_by_order(shared, exam.similarity, spearman_of_2021, spearman)
tables.correlations(by_order)
reveal("sentences.overlap",
       float(spearman(torch.tensor(shared), torch.tensor(exam.similarity.values))))

# %% [markdown]
# A correlation must not depend on the order of the pairs. A single `argsort` does not compute ranks at all. Applied twice, `argsort` gives the correct ranks as
# long as no two values are equal.
#
# The table also shows that word overlap does not predict the grades. We designed the data with this aim. Ordinary paraphrases are often short and repeat words,
# so counting words would be enough to pass a test that consists of paraphrases. In our data, by contrast, every grade occurs with short and long premises, and
# with many and few shared words (`data/pairs/README.md`).

# %% [markdown]
# The bug in the ranks has a page of its own, with a short example and a test that would have caught it: [Ranks that are not ranks](../../docs/bugs/11_ranks_by_argsort.md).

# %% [markdown]
# ## 3 · Before any training
#
# We now compute sentence vectors, first with an encoder that has never been trained to compare sentences. MiniLM is unsuitable for this purpose because, after
# its pre-training, it was trained to compare sentences. We therefore build our own encoder from GloVe's word vectors (notebook 01), one encoder layer as in
# notebook 03, and mean pooling. The word vectors were learned from text, whereas the layer is initialised at random.

# %% tags=["demo", "record"]
from torch.nn.utils.rnn import pad_sequence

from coursekit.vectors import load_glove

glove = load_glove(100_000)                    # the most frequent words only
table = torch.cat([torch.zeros(1, 50), glove.vectors])               # row 0 is padding

def ids_of(texts) -> Int[Tensor, "B T"]:
    """For each text, the table rows of the words that GloVe contains, with 0 for padding."""
    rows = [[glove.index[w] + 1 for w in words_of(text) if w in glove] for text in texts]
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)

class SentenceEncoder(torch.nn.Module):
    """GloVe's vectors (frozen), one encoder layer, and a mean over the words."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding.from_pretrained(table)       # B T → B T 50
        self.layer = torch.nn.TransformerEncoderLayer(
            50, nhead=5, dim_feedforward=200, activation="gelu", batch_first=True,
            norm_first=True
        )

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B D"]:
        # drop positions that are padding in every text
        ids = ids[:, : int((ids != 0).sum(dim=1).max())]
        keep = ids != 0
        return mean_pool(self.layer(self.words(ids), src_key_padding_mask=~keep), keep)

    def ids_of(self, texts) -> Int[Tensor, "B T"]:
        """The encoder's input for these texts."""
        return ids_of(texts)

    @torch.no_grad()
    def encode(self, texts) -> Float[Tensor, "B D"]:
        """Sentence vectors, without dropout."""
        self.eval()
        return self(ids_of(texts))

# %% [markdown]
# Each hypothesis in the test set occurs in three pairs, so the pairs are not independent. We therefore obtain the confidence intervals by drawing *hypotheses*
# with replacement, each with its three pairs (the bootstrap: Efron 1979). In the figure, *centred* means that the mean vector of the training sentences is
# subtracted from all vectors first. This removes the direction that all vectors share, which we measured in notebook 08.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")

def minilm_vectors(texts: Sequence[str]) -> Float[Tensor, "B D"]:
    """The mean over the tokens at MiniLM's last layer, computed in batches of sentences of similar length."""
    return pooling.in_batches(lambda some: mean_pool(*read(some, truncation=True, max_length=256)), texts)

def glove_average(texts: Sequence[str]) -> Float[Tensor, "B D"]:
    """The mean of GloVe's vectors for the words of each text."""
    ids = ids_of(texts)
    return mean_pool(table[ids], ids != 0)

torch.manual_seed(0)
before = SentenceEncoder()
texts = [*pairs[pairs.split == "train"].premise, *pairs[pairs.split == "train"].hypothesis[::3]]
graded = GradedPairs(exam, spearman)
graded.add("length alone", graded.length_ratio)
graded.add("words in common", shared)
graded.add("GloVe, mean", graded.cosines(glove_average))
graded.add("GloVe, mean, centred", graded.cosines(glove_average, glove_average(texts).mean(dim=0)))
graded.add("our encoder, untrained", graded.cosines(before.encode))
graded.add("our encoder, untrained, centred", graded.cosines(before.encode, before.encode(texts).mean(dim=0)))
graded.add("MiniLM: trained for this", graded.cosines(minilm_vectors))
pictures.controls(graded.found, graded.held)
first_gains = {f"{after} minus {control}": graded.gain(after, control) for after, control in (
    ("GloVe, mean", "words in common"),
    ("our encoder, untrained", "GloVe, mean"),
    ("our encoder, untrained, centred", "our encoder, untrained"))}
tables.gains(first_gains)

# %% [markdown]
# Neither length nor word overlap predicts the grades. Holding length constant therefore changes nothing. (The hollow dots show a **partial correlation**: the
# correlation that remains when a third quantity is held constant.) The mean of GloVe's vectors does better than counting words, but its correlation is not far
# above 0. An untrained layer on top makes no clear difference.
#
# Centring requires no training. With 64 hypotheses we cannot tell whether centring helps, but we keep it as a baseline. MiniLM, which was trained on
# 1,170,060,424 pairs of texts (according to its model card), is the model to beat. The two annotators agree far better with each other than MiniLM agrees with
# them, so there is room for improvement.

# %% [markdown]
# > **Checking the literature.** Reimers and Gurevych (2019, table 1) found that the mean of BERT's vectors agrees *less* with human judgements than the mean of
# > GloVe's: 46 compared with 58 on the STS benchmark (Spearman × 100). The vector of [CLS] agrees least (17). A large pre-trained model is therefore not
# > automatically a good sentence encoder. If you have network access, set `FROM_HUB` to True in the next cell to see the results of BERT-Base on our pairs.

# %% tags=["demo"]
FROM_HUB = False        # True (needs network access): load BERT-Base from the hub
tables.bert_base(graded, read, mean_pool, from_hub=FROM_HUB)

# %% [markdown]
# ## 4 · Two sentences, one encoder
#
# To train an encoder on pairs, we encode both sentences with the *same* weights (a **siamese network**: Bromley et al. 1993) and combine their vectors u and v.
# From this combination, a classifier predicts whether the first sentence entails the second, contradicts it, or does neither. **SNLI** (Bowman et al. 2015)
# contains 570,000 pairs with such labels. After training, we discard the classifier and keep the encoder. The alternative is to encode both sentences as one
# sequence, as we did with BERT in notebook 06.

# %% tags=["demo"]
pictures.two_readers()

# %% [markdown]
# A BERT model trained in this way is called **Sentence-BERT** (Reimers and Gurevych 2019). How should u and v be combined into the input of the classifier? The
# authors compared several ways and found that the difference |u − v| mattered most.

# %% nbgrader={"grade": false, "grade_id": "sentences-classification_objective", "locked": false, "schema_version": 3, "solution": true, "task": false}
def classification_objective(
    u: Float[Tensor, "B D"],
    v: Float[Tensor, "B D"],
    W: Float[Tensor, "3*D classes"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, of the labels under softmax([u; v; |u − v|] W).
    (difficulty ●●○, 7 minutes)

    [u; v; |u − v|] concatenates three vectors into 3D features per pair; the vectors are not
    normalised. The classifier has no bias. Logits can be in the hundreds. Autograd must be
    able to differentiate the result.
    """
    ### BEGIN SOLUTION
    features = torch.cat([u, v, (u - v).abs()], dim=1)
    log_p = (features @ W).log_softmax(dim=1)
    return -log_p.gather(1, labels[:, None]).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-classification_objective-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("sentences.classification_objective", lambda case: classification_objective(**case),
      gradients=True)

# %% [markdown]
# ## 5 · A question with many wrong answers
#
# The classification objective does not require the *cosine* of u and v to be large when the meanings agree. A **contrastive loss** does, because it pulls
# matching sentences together and pushes all others apart. Our **ranking loss** poses a multiple-choice question for each sentence (the *anchor*): which
# candidate is its partner? The wrong answers are the partners of the other anchors, so they come at no extra cost (**in-batch negatives**: Henderson et al.
# 2017). This loss is also called **InfoNCE** (van den Oord et al. 2018).
#
# Cosines lie between −1 and 1, so their softmax would be nearly uniform. We therefore multiply them by a *scale*, 1/τ, where τ is the *temperature*. Our scale
# of 20 corresponds to τ = 0.05.

# %% nbgrader={"grade": false, "grade_id": "sentences-ranking_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ranking_loss(
    anchors: Float[Tensor, "B D"], positives: Float[Tensor, "N D"], scale: float
) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, of choosing each anchor's own positive.
    (difficulty ●●○, 8 minutes)

    Row i of positives belongs to anchor i. If there are more rows than anchors, the additional
    rows are wrong answers for all anchors (hard negatives). The logits are scale (1/τ) times
    the cosines of an anchor with every row of positives. The mean is over the anchors.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    scores = scale * normalize(anchors, dim=1) @ normalize(positives, dim=1).T  # B N
    log_p = scores.log_softmax(dim=1)
    return -log_p.diagonal().mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-ranking_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("sentences.ranking_loss", lambda case: ranking_loss(**case), gradients=True)

# %% [markdown]
# How well can an encoder answer this question before training? For each of the 64 hypotheses in the test set, we find the nearest of the 64 entailing premises.
# With 64 candidates, the loss at chance level is ln 64 = 4.16 nats.

# %% tags=["demo"]
tables.own_premises({
    "before training": graded.find_own(before.encode, ranking_loss),
    "MiniLM": graded.find_own(minilm_vectors, ranking_loss),
})

# %% [markdown]
# Before training, nearly *all* cosines are high, because the vectors share a common direction. A single cosine is therefore not informative. The gap between
# the cosine with the correct premise and the cosines with the other premises matters more.

# %% [markdown]
# ## 6 · Train it
#
# The training set has 192 hypotheses with three premises each. For each hypothesis, your classification objective uses one of the three premises at random,
# together with its label. Your ranking loss uses the premise that entails the hypothesis. A third variant adds the contradicting premises to the ranking loss
# as **hard negatives**. We train for 300 batches of 32 hypotheses.

# %% tags=["demo", "record"]
from typing import NamedTuple

of_training = pairs[pairs.split == "train"]

class Batch(NamedTuple):
    """Token ids of the hypotheses and of the three premises per hypothesis; with mining, also
    of one mined premise per hypothesis."""

    hypotheses: Int[Tensor, "B T"]
    premises: Int[Tensor, "B 3 T"]
    mined: Int[Tensor, "B T"] | None

def by_label(encoder, W, batch: Batch, rng) -> Float[Tensor, ""]:
    """The classification objective with one premise per hypothesis, drawn at random."""
    labels = torch.from_numpy(rng.integers(0, 3, len(batch.hypotheses)))
    u, v = encoder(batch.premises[range(len(labels)), labels]), encoder(batch.hypotheses)
    return classification_objective(u, v, W, labels)

def by_rank(encoder, W, batch: Batch, rng) -> Float[Tensor, ""]:
    """The ranking loss between each hypothesis and the premise that entails it."""
    own = batch.premises[:, ENTAILMENT]
    return ranking_loss(encoder(batch.hypotheses), encoder(own), 20.0)

def by_rank_hard(encoder, W, batch: Batch, rng) -> Float[Tensor, ""]:
    """The ranking loss with the contradicting premises as additional wrong answers."""
    candidates = torch.cat([batch.premises[:, ENTAILMENT], batch.premises[:, CONTRADICTION]])
    return ranking_loss(encoder(batch.hypotheses), encoder(candidates), 20.0)

def by_rank_mined(encoder, W, batch: Batch, rng) -> Float[Tensor, ""]:
    """The ranking loss with the mined premises as additional wrong answers."""
    candidates = torch.cat([batch.premises[:, ENTAILMENT], batch.mined])
    return ranking_loss(encoder(batch.hypotheses), encoder(candidates), 20.0)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def mine(encoder) -> Int[Tensor, "192"]:
    """For each hypothesis, the index of the most similar premise other than the one that entails it."""
    asked, premises = encoder.encode(of_training.hypothesis[::3]), encoder.encode(of_training.premise)
    cosines = normalize(asked, dim=1) @ normalize(premises, dim=1).T  # 192 576
    own = torch.arange(len(asked))
    cosines[own, 3 * own + ENTAILMENT] = -torch.inf
    return cosines.argmax(dim=1)

def on_validation(encoder) -> float:
    """Spearman's correlation with the grades of the validation pairs."""
    asked = pairs[pairs.split == "validation"]
    u = encoder.encode(asked.premise)
    v = encoder.encode(asked.hypothesis[::3]).repeat_interleave(3, dim=0)  # each is in three pairs
    return float(spearman(torch.cosine_similarity(u, v), torch.tensor(asked.similarity.values)))

def train(
    loss_of, seed: int, many: int = 192, steps: int = 300, new=SentenceEncoder, rate: float = 1e-3, every: int = 50
):
    """Train an encoder on `many` hypotheses. Return it and one row per evaluation: step, mean loss, Spearman's correlation on the validation pairs."""
    torch.manual_seed(seed)
    rng, encoder = np.random.default_rng(seed), new()
    hypotheses = encoder.ids_of(of_training.hypothesis[::3])         # 192 T
    premises = encoder.ids_of(of_training.premise)                   # 576 T
    threes, mined = premises.unflatten(0, (-1, 3)), None             # 192 3 T
    W = torch.nn.Parameter(0.02 * torch.randn(3 * encoder.encode(["a"]).shape[1], 3))
    moving = [weight for weight in encoder.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW([*moving, W], lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    chosen, course, losses = rng.permutation(len(hypotheses))[:many], [], []
    for step in range(steps + 1):
        if step % every == 0:
            recent = np.mean(losses[-every:]) if losses else np.nan
            course.append((step, recent, on_validation(encoder)))
            mined = mine(encoder) if loss_of is by_rank_mined and step < steps else mined
            encoder.train()
        rows = rng.choice(chosen, min(32, many), replace=False)
        hard = None if mined is None else premises[mined[rows]]
        loss = loss_of(encoder, W, Batch(hypotheses[rows], threes[rows], hard), rng)
        losses.append(loss.item())
        if step < steps:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return encoder, np.array(course)

# %% [markdown]
# **Predict:** what is Spearman's correlation on the test set after training with the ranking loss? (The figure in section 3 shows the value before training.)

# %% tags=["demo"]
predict("sentences.after", ...)

# %% tags=["demo"]
print("This takes a few seconds.")
ranked, ranked_course = train(by_rank, seed=0)

# %% tags=["demo"]
print("This takes a few seconds.")
labelled, labelled_course = train(by_label, seed=0)
pictures.courses({"ranking loss": ranked_course, "classification objective": labelled_course})

# %% tags=["demo"]
graded.add("our encoder, classification objective", graded.cosines(labelled.encode))
graded.add("our encoder, ranking loss", graded.cosines(ranked.encode))
reveal("sentences.after", graded.found["our encoder, ranking loss"][0])

gains = {control: graded.gain("our encoder, ranking loss", control) for control in (
    "our encoder, untrained", "our encoder, untrained, centred", "words in common",
    "length alone", "MiniLM: trained for this")}
pictures.controls(graded.found, graded.held)
tables.gains({f"ranking loss minus {control}": values for control, values in gains.items()})

# %% [markdown]
# Training with the ranking loss clearly improves the agreement with the annotators. Is this gain larger than the gain from subtracting the mean
# vector? To find out, compare the first two printed lines; if an interval contains 0, the 64 hypotheses are too few to decide. The training loss approaches 0, whereas the
# correlation on the validation pairs stops rising. The encoder therefore soon overfits the 192 pairs.
#
# The grades are related to the *labels*, because an entailed sentence has nearly the same meaning as its premise, whereas a neutral one often does not. Does
# the cosine predict anything about the grade that the label does not?

# %% tags=["demo"]
tables.within_labels(graded)

# %% [markdown]
# MiniLM agrees with the annotators within every label. Our encoder does so only within the entailed pairs, which are the only pairs on which it was trained.
# Word overlap still predicts nothing. The two annotators agree least on contradictions: in the whole data set, their weighted κ (agreement beyond chance: Cohen
# 1960) is 0.37 within *contradiction*, 0.72 within *neutral* and 0.81 within *entailment* (`data/pairs/README.md`).
#
# How has training changed the cosines?

# %% tags=["demo"]
matrices = {
    "before training": graded.find_own(before.encode, ranking_loss),
    "after training": graded.find_own(ranked.encode, ranking_loss),
    "MiniLM": graded.find_own(minilm_vectors, ranking_loss),
}
pictures.matrices({name: (one[0], one[2]) for name, one in matrices.items()}, shown=16)

# %% [markdown]
# After training, a diagonal is visible, and the cosines off the diagonal have fallen to about 0. Training has thus removed the common direction, although we
# did not subtract it. A single run is only an anecdote, so we recorded runs with five seeds and several sizes of the training set (`python -m experiments
# sentences`, about three minutes on an otherwise idle core).

# %% tags=["demo"]
pictures.seeds(
    read_table("results/sentences.csv"), minilm=graded.found["MiniLM: trained for this"][0]
)

# %% [markdown]
# These intervals describe the variation between *seeds* on one test set, whereas the intervals in the run above describe the uncertainty due to the choice of
# the 64 hypotheses. With the ranking loss, training on 24 hypotheses already achieves about half of the gain.
#
# > **Checking the literature.** Reimers and Gurevych (2019) train Sentence-BERT with the classification objective on about a million pairs, including those in
# > SNLI. As a result, the agreement of the cosines with human judgements rises from 46 to 77 on the STS benchmark. On our 576 pairs, the same loss decreases,
# > but the agreement improves little. The contrastive loss trains the cosine directly and gains far more from fewer than 200 pairs. (Modern sentence encoders,
# > including MiniLM, are trained with contrastive losses.)

# %% [markdown]
# **Question 1 · Hard negatives and graded similarity.** "Wages have risen faster than rents." contradicts "Rents have risen faster than wages.", yet this pair has a grade of 3.5 out of 5. Training
# with hard negatives pushes such pairs apart. How do you expect this training to affect Spearman's correlation with the grades, and what does the recorded
# table show? Name an application of sentence vectors for which you would nevertheless want hard negatives. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "sentences-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The grades measure how much of the content is shared. A contradiction shares most of it and therefore gets a grade in the middle of the scale. Hard negatives
# teach the encoder the opposite, namely that a contradiction should be as far away as an unrelated sentence. They should therefore lower the agreement with
# these grades. In the table, the mean is lower, but the difference is smaller than the noise of the five seeds, so the table neither shows nor rules out an
# effect. Hard negatives are useful where a near miss is worse than no result, for example in searching for evidence *for* a claim, answering questions or
# detecting duplicate bug reports. Similarity is not a property of two sentences alone: it also depends on the training pairs and on the application.
#
# *Marking: 1 point for explaining the conflict between the grades and hard negatives, with reference to the table and its intervals; 1 point for an application
# in which contradicting texts must be kept apart.*

# %% [markdown]
# ## Further: from a pre-trained encoder
#
# Our encoder started from word vectors, whereas Sentence-BERT started from BERT, pre-trained on a large amount of text. We need a pre-trained encoder that was *not* trained to compare sentences, and try two candidates:
#
# - the BERT of notebook 06, with mean pooling in place of its two heads. It was trained only on the generated language: its vocabulary contains 57 % of the
#   words in our pairs, and the others become [UNK];
# - the first three of MiniLM's six layers. Training on sentence pairs changed all layers, so this is not a clean starting point. However, that training used
#   the mean of the *last* layer, and the next cell shows that the lower layers agree less with the annotators.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")
from coursekit.language import load_language

of_layers = graded.by_layer(*(pooling.layer_means(texts, minilm, pieces, mean_pool) for texts in (exam.premise, exam.hypothesis[::3])))
known = np.mean([word in load_language().id_of for text in [*pairs.premise, *pairs.hypothesis] for word in words_of(text)])
print(f"fraction of the words in our pairs that are in the vocabulary of BERT from notebook 06: {known:.0%}")
print("Spearman's correlation for each layer of MiniLM:", ", ".join(f"{layer}: {value:.2f}" for layer, value in enumerate(of_layers)))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.language import load_language
from coursekit.small import bert as small
from coursekit.small.files import load as load_small

class SmallBERT(torch.nn.Module):
    """The BERT of notebook 06, with the mean over its last layer in place of its two heads."""

    def __init__(self):
        super().__init__()
        self.model, self.number = load_small("bert"), load_language().id_of

    def ids_of(self, texts) -> Int[Tensor, "B T"]:
        """[CLS] words [SEP], truncated to the model's 29 positions; [UNK] for words outside the vocabulary."""
        numbers = [[self.number.get(w, small.UNK) for w in words_of(text)[:27]] for text in texts]
        rows = [[small.CLS, *row, small.SEP] for row in numbers]
        return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B D"]:
        ids = ids[:, : int((ids != 0).sum(dim=1).max())]
        return mean_pool(self.model(ids).hidden[-1], ids != 0)

    @torch.no_grad()
    def encode(self, texts) -> Float[Tensor, "B D"]:
        """Sentence vectors."""
        return self.eval()(self.ids_of(texts))

class CutMiniLM(torch.nn.Module):
    """The first layers of MiniLM, with mean pooling over the last layer kept. The embeddings are frozen."""

    def __init__(self, layers: int = 3):
        super().__init__()
        self.model = AutoModel.from_pretrained(MINILM.package.folder())
        self.model.encoder.layer = self.model.encoder.layer[:layers]
        self.model.embeddings.requires_grad_(False)
        self.pieces = AutoTokenizer.from_pretrained(MINILM.package.folder())

    def ids_of(self, texts) -> Int[Tensor, "B T"]:
        """Ids of the subwords between [CLS] and [SEP]."""
        return self.pieces(list(texts), padding=True, return_tensors="pt")["input_ids"]

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B D"]:
        ids = ids[:, : int((ids != 0).sum(dim=1).max())]
        keep = ids != 0
        return mean_pool(self.model(ids, attention_mask=keep.long()).last_hidden_state, keep)

    @torch.no_grad()
    def encode(self, texts) -> Float[Tensor, "B D"]:
        """Sentence vectors, without dropout."""
        return torch.cat([self.eval()(rows) for rows in self.ids_of(texts).split(64)])

class UntrainedBERT(SmallBERT):
    """The architecture of SmallBERT with random weights."""

    def __init__(self):
        super().__init__()
        self.model = small.BERT(self.model.config)

class UntrainedCut(CutMiniLM):
    """The architecture of CutMiniLM with random weights; the embeddings are frozen."""

    def __init__(self, layers: int = 3):
        super().__init__(layers)
        self.model.config.num_hidden_layers = layers
        self.model = AutoModel.from_config(self.model.config)
        self.model.embeddings.requires_grad_(False)

# %% [markdown]
# So far, the **hard negatives** have been contradictions that people wrote and labelled. **Mining** needs no labels: `mine` selects the wrong premise that the
# encoder itself considers most similar to the hypothesis. This selection is repeated during training (Karpukhin et al. 2020; Xiong et al. 2021). First,
# however, we train the three layers of MiniLM without hard negatives. We train for 16 batches and keep the token embeddings frozen.

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
cut, cut_course = train(by_rank, seed=0, steps=16, new=CutMiniLM, rate=1e-4, every=8)
tables.training(cut_course, every=8)

# %% [markdown]
# We recorded training runs with three seeds at each of several learning rates (`python -m experiments sentence_encoders`, about fifteen minutes on an otherwise
# idle core). The first figure shows each encoder at the learning rate that is best on the validation pairs; the second shows all learning rates. The baseline
# (labelled *untrained*) has the same architecture but was trained from random weights. Recall at 1 is the fraction of hypotheses for which the entailing
# premise ranks first. This measure is stricter than the accuracy in section 5 because the candidates are all 192 test premises, including the contradicting
# ones.

# %% tags=["demo"]
from coursekit.encoder_runs import EncoderRuns

runs = EncoderRuns(exam, spearman)
sentences_encoders.encoders(runs, {
    "GloVe, mean": graded.found["GloVe, mean"][0],
    "MiniLM": graded.found["MiniLM: trained for this"][0],
})
sentences_encoders.encoder_rates(runs)

# %% tags=["demo"]
sentences_encoders.gains(runs)

# %% [markdown]
# After sixteen batches with the ranking loss, the three pre-trained layers agree with the annotators far better than before. The intervals over hypotheses and
# over seeds both confirm this improvement. The classification objective gains nothing in the same number of batches. The learning rate does not explain this
# difference, because the ranking loss is ahead at each of the four rates. At the highest rate, the classification objective even *lowers* the agreement. Recall
# at 1 shows no clear gain.
#
# As a **baseline**, the same three layers were trained in the same way from random weights, and their correlation with the grades stays near 0. The gain from
# so few batches therefore depends on the pre-training.

# %% [markdown]
# The BERT of notebook 06 does not improve at any of three learning rates, and it does no better than the same architecture without pre-training. It was
# pre-trained, but on another language, and two in five words of our pairs become [UNK]. It is therefore not enough for a model to be *pre-trained*: the text
# used for pre-training matters.
#
# Hard negatives, whether written or mined, change the agreement of either encoder by less than 0.03, and the interval over hypotheses contains 0. We tried hard
# negatives at only one learning rate, and varied neither the number of batches nor the layers that were kept.

# %% [markdown]
# ## 7 · 49,995,000 forward passes, or 10,000
#
# If two sentences are encoded as one sequence, every word of one sentence can attend to every word of the other, and the judgements are usually more accurate
# (Thakur et al. 2021). However, such a **cross-encoder** computes no vector for a single sentence. To find the two most similar of n sentences, it has to
# process every pair. A **bi-encoder** encodes each sentence only once; the pairs are then compared by their cosines.
#
# **Predict:** how many hours would MiniLM need on one core to process all pairs of 10,000 sentences as a cross-encoder?

# %% tags=["demo"]
predict("sentences.hours", ...)

# %% tags=["demo"]
from coursekit.encoding_times import seconds_to_compare

readings = {"cross-encoder": 10_000 * 9_999 // 2, "bi-encoder": 10_000}
seconds = seconds_to_compare(readings, exam.premise, exam.hypothesis, minilm, pieces)
reveal("sentences.hours", seconds["cross-encoder"] / 3600)
tables.times(readings, seconds)

# %% [markdown]
# The times are extrapolated from 96 forward passes of each kind on this machine. They differ between machines, but the ratio should be similar. The
# cross-encoder needs one forward pass per pair, that is, n(n − 1)/2 = 49,995,000 passes in all.
#
# > **Checking the literature.** Reimers and Gurevych (2019, section 1) report about 65 hours for 10,000 sentences with BERT on a V100 graphics card, compared
# > with about 5 seconds with their sentence encoder. Our model is smaller and runs on one core. The number of forward passes alone explains a ratio of (n −
# > 1)/2, about 5,000, and a pair takes longer than a single sentence. These two factors are unlikely to explain the whole of the authors' ratio of 46,800.

# %% [markdown]
# **Question 2 · Using a bi-encoder and a cross-encoder together.** A library has a million abstracts. Users type questions and expect the ten best abstracts within a second. You have a bi-encoder and a
# cross-encoder, and the cross-encoder is more accurate. How would you combine the two? State what is computed before the question arrives and what is computed
# afterwards, and explain why the cross-encoder cannot be run in advance. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "sentences-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The bi-encoder computes the vectors of all abstracts once, and these vectors are stored. When a question arrives, it is encoded (one forward pass) and
# compared with the million vectors by cosine (a matrix–vector product or an index), and the best hundred or so abstracts are kept. The cross-encoder processes
# only these abstracts, each together with the question, and ranks them, which takes a hundred forward passes instead of a million. It cannot be run in advance
# because its output depends on both texts of a pair, and the question is unknown until it is typed. The second stage cannot recover abstracts that the first
# stage misses.
#
# *Marking: 1 point for retrieval followed by re-ranking, including what is computed before and after the question arrives; 1 point for the reason (there is no
# vector for a single text, or the pair is not known in advance).*

# %% [markdown]
# ## 8 · Search by meaning
#
# Once every text has a vector, **semantic search** means computing the cosines between the query and the texts and selecting the largest.

# %% nbgrader={"grade": false, "grade_id": "sentences-search", "locked": false, "schema_version": 3, "solution": true, "task": false}
def search(
    query: Float[Tensor, "Q D"], corpus: Float[Tensor, "N D"], k: int
) -> tuple[Int[Tensor, "Q k"], Float[Tensor, "Q k"]]:
    """Find the k texts most similar to each query; return (row numbers, cosines).
    (difficulty ●○○, 5 minutes)

    Similarity is measured by the cosine. The most similar text comes first.
    """
    ### BEGIN SOLUTION
    cosines = normalize(query, dim=1) @ normalize(corpus, dim=1).T   # Q N
    best, numbers = cosines.topk(k, dim=1)
    return numbers, best
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-search-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("sentences.search", lambda case: search(**case))

# %% [markdown]
# Users look only at the first few results. The fraction of a query's relevant texts that are among the first k results is called **recall at k**.

# %% nbgrader={"grade": false, "grade_id": "sentences-recall_at_k", "locked": false, "schema_version": 3, "solution": true, "task": false}
def recall_at_k(scores: Float[Tensor, "Q N"], relevant: Bool[Tensor, "Q N"], k: int) -> float:
    """Recall at k, averaged over the queries.  (difficulty ●●○, 5 minutes)

    The recall of a query is the fraction of its relevant texts that are among the k texts with
    the highest scores. A query may have several relevant texts, even more than k. A query
    without any relevant text has no recall and is left out. k is at most N.
    """
    ### BEGIN SOLUTION
    best = scores.topk(k, dim=1).indices                             # Q k
    found = relevant.gather(1, best).sum(dim=1)
    total = relevant.sum(dim=1)
    asked = total > 0
    return (found[asked] / total[asked]).mean().item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-recall_at_k-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("sentences.recall_at_k", lambda case: recall_at_k(**case))

# %% [markdown]
# The corpus consists of the 168 short paragraphs of `data/questions`. The queries are questions about 33 of these paragraphs, and the relevant paragraph for a
# question is the one for which it was written. The baselines are chance and TF-IDF (from scikit-learn), which counts shared words and gives rare words more
# weight.
#
# **Predict:** for what fraction of the questions does MiniLM rank the relevant paragraph first (0 to 1)?

# %% tags=["demo"]
predict("sentences.found", ...)

# %% tags=["demo"]
from coursekit.datasets import read_questions

print("This takes a few seconds.")
questions = read_questions()
paragraphs = questions.drop_duplicates("context").reset_index(drop=True)
asked = questions[questions.split == "test"].reset_index(drop=True)
right = torch.tensor(pd.Index(paragraphs.context).get_indexer(asked.context))
corpus = minilm_vectors(paragraphs.context)
queries = minilm_vectors(asked.question)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def place(query: Float[Tensor, "Q D"], corpus: Float[Tensor, "N D"]) -> Int[Tensor, "Q"]:
    """The rank at which your search returns the relevant paragraph, counted from 1."""
    numbers, _ = search(query, corpus, len(corpus))
    return (numbers == right[:, None]).int().argmax(dim=1) + 1

from sklearn.feature_extraction.text import TfidfVectorizer

counted = TfidfVectorizer(sublinear_tf=True).fit(paragraphs.context)

def tfidf(texts) -> Float[Tensor, "N words"]:
    """Word counts, weighted by the rarity of each word."""
    return torch.from_numpy(counted.transform(texts).toarray()).float()

places = {
    "GloVe, mean": place(glove_average(asked.question), glove_average(paragraphs.context)),
    "our encoder, ranking loss": place(ranked.encode(asked.question), ranked.encode(paragraphs.context)),
    "TF-IDF": place(tfidf(asked.question), tfidf(paragraphs.context)),
    "MiniLM": place(queries, corpus),
}
reveal("sentences.found", (places["MiniLM"] == 1).float().mean().item())
sentences_search.found(places, by_chance=1 / len(paragraphs))
of_questions = normalize(queries, dim=1) @ normalize(corpus, dim=1).T
is_right = right[:, None] == torch.arange(len(paragraphs))
recall = {k: float(recall_at_k(of_questions, is_right, k)) for k in (1, 5)}
print("MiniLM's recall, computed with your recall_at_k:", ", ".join(f"{value:.0%} at {k}" for k, value in recall.items()))
tables.minilm_or_tfidf(places)

# %% [markdown]
# Both MiniLM and TF-IDF find far more of the paragraphs than our own encoder, which was trained on 192 pairs of short everyday sentences, not on paragraphs.
# TF-IDF is a strong baseline because the questions repeat names from the paragraphs. The two methods find *different* paragraphs, which is why search engines
# often combine such methods. The next cell prints the results of two searches.

# %% tags=["demo"]
def show_search(question: str, k: int = 3) -> None:
    """Print the k paragraphs that MiniLM considers most similar to a question."""
    tables.results(paragraphs, *search(minilm_vectors([question]), corpus, k))

for question in (
    "Why do leaves change their colour?",
    "At what hour does the last boat leave?",
):
    print(question)
    show_search(question)

# %% [markdown]
# The second question may match several paragraphs. A search always returns k paragraphs, whether or not any of them contains an answer. Now type a query of
# your own (this requires a running notebook and is not graded):

# %% tags=["demo"]
from coursekit.sliders import interact, text_box

interact(show_search, question=text_box("How is bread made?", "query"), k=(1, 8))

# %% [markdown]
# ## Further: other measures, fused rankings, shorter vectors
#
# Recall at k ignores the order of the first k results. The **mean reciprocal rank** (MRR) is the mean of 1/rank over the queries, where the rank is that of the
# first relevant text. **nDCG** (Järvelin and Kekäläinen 2002) gives a relevant text less weight the further down the list it appears, and divides the total by
# the best possible total. Instead of TF-IDF, search engines usually use **BM25** (Robertson and Zaragoza 2009), which limits the effect of repeated words and
# of long texts.

# %% [markdown]
# Two rankings can be combined by **reciprocal rank fusion** (Cormack et al. 2009): the score of each text is the sum of 1/(60 + rank) over the two rankings.
# Sentence vectors can also be shortened. **Matryoshka** training (Kusupati et al. 2022) applies the loss not only to the whole vector but also to its first
# coordinates alone, so that these coordinates form a usable shorter vector. MiniLM was not trained in this way.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from IPython.display import display

from coursekit.intervals import bootstrap

def ranks(query: Float[Tensor, "Q D"], corpus: Float[Tensor, "N D"]) -> Int[Tensor, "Q N"]:
    """The rank of every text for every query, counted from 1."""
    return search(query, corpus, len(corpus))[0].argsort(dim=1) + 1

def over_paragraphs(difference: Float[np.ndarray, "Q"]) -> tuple[float, float]:
    """The 95 % interval for a mean over questions; the bootstrap draws paragraphs with all their questions."""
    sums = pd.Series(difference).groupby(right.numpy()).agg(["sum", "count"]).to_numpy()
    return bootstrap(sums, lambda drawn: drawn[:, 0].sum() / drawn[:, 1].sum(), draws=1000)

fused = 1 / (60 + ranks(tfidf(asked.question), tfidf(paragraphs.context))) + 1 / (60 + ranks(queries, corpus))
fused += 1e-6 * of_questions                   # MiniLM breaks ties
own = fused.gather(1, right[:, None])
rank_of = {name: places[name] for name in ("MiniLM", "TF-IDF")}
rank_of["MiniLM and TF-IDF, fused"] = (fused > own).sum(dim=1) + 1
rank_of |= {f"MiniLM, first {d} of 384": place(queries[:, :d], corpus[:, :d]) for d in (192, 96, 48)}
rows, recall_gain = {}, {}                      # search → its measures; its difference from MiniLM in recall at 1
for name, rank in rank_of.items():
    rank = rank.numpy()
    ndcg = np.where(rank <= 10, 1 / np.log2(1 + rank), 0).mean()     # one relevant text: the best total is 1
    rows[name] = {"recall at 1": f"{(rank == 1).mean():.2f}", "recall at 5": f"{(rank <= 5).mean():.2f}",
                  "MRR": f"{(1 / rank).mean():.2f}", "nDCG at 10": f"{ndcg:.2f}"}
    if name != "MiniLM":
        difference = (rank == 1).astype(float) - (places["MiniLM"] == 1).numpy()
        recall_gain[name] = (difference.mean(), *over_paragraphs(difference))
        rows[name]["recall at 1, minus MiniLM"] = "{:+.2f} ({:+.2f} to {:+.2f})".format(*recall_gain[name])
display(pd.DataFrame(rows).T.fillna("").style.set_caption("Measures of each search, with 95 % intervals over paragraphs"))

# %% [markdown]
# Without Matryoshka training, shortening the vectors is costly. With the first 96 of its 384 coordinates, MiniLM ranks the relevant paragraph first for clearly
# fewer questions. On these questions, the fused ranking does not differ clearly from either of the rankings that it combines.

# %% [markdown]
# ## 9 · Texts longer than the window
#
# MiniLM has 512 positions but is used with at most 256 tokens. Text beyond that limit is cut off, so a search cannot find it. We therefore split the text into
# overlapping windows (often called chunks), so that a phrase cut off at the end of one window is complete in the next.

# %% nbgrader={"grade": false, "grade_id": "sentences-windows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def windows(
    ids: Int[Tensor, "T"], size: int, overlap: int, pad: int
) -> tuple[Int[Tensor, "W size"], Bool[Tensor, "W size"]]:
    """Split a long text into windows; return (ids, keep).  (difficulty ●●○, 10 minutes)

    Window w begins at position w · (size − overlap). The first window that reaches the end of
    the text is the last one and is filled up with pad. keep is True at tokens of the text. You
    may assume overlap < size and T ≥ 1.
    """
    ### BEGIN SOLUTION
    starts = range(0, max(len(ids) - overlap, 1), size - overlap)
    rows = torch.full((len(starts), size), pad)
    keep = torch.zeros(len(starts), size, dtype=torch.bool)
    for row, start in enumerate(starts):
        piece = ids[start : start + size]
        rows[row, : len(piece)] = piece
        keep[row, : len(piece)] = True
    return rows, keep
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-windows-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("sentences.windows", lambda case: windows(**case))

# %% [markdown]
# Each window has a vector of its own, but we want one vector for the whole text. We therefore average the vectors of the windows, weighting each window by its
# number of tokens.

# %% nbgrader={"grade": false, "grade_id": "sentences-pool_windows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pool_windows(
    hidden: Float[Tensor, "W size D"], keep: Bool[Tensor, "W size"]
) -> Float[Tensor, "D"]:
    """One vector for the text: the weighted mean of its windows' mean_pool vectors.
    (difficulty ●○○, 4 minutes)

    A window's weight is its number of tokens divided by the number of tokens in all windows; a
    token in two windows is counted twice.
    """
    ### BEGIN SOLUTION
    counts = keep.sum(dim=1).to(hidden.dtype)
    weights = counts / counts.sum()
    return (weights[:, None] * mean_pool(hidden, keep)).sum(dim=0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "sentences-pool_windows-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("sentences.pool_windows", lambda case: pool_windows(**case))

# %% [markdown]
# We join the paragraphs into documents of six paragraphs each and repeat the search with the same questions, using three methods. The first method encodes only the first 256
# tokens of a document. The second pools windows of 126 tokens. The third keeps the vectors of all windows and represents a document by its *best* window. The
# figure shows the results for each position of the relevant paragraph in its document.

# %% tags=["demo"]
SIX = 6
documents = [" ".join(paragraphs.context[first : first + SIX])
             for first in range(0, len(paragraphs), SIX)]
print("This takes a few seconds.")
in_windows = [pooling.read_windows(text, windows, minilm, pieces) for text in documents]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
cut_off = minilm_vectors(documents)
pooled = torch.stack([pool_windows(*one) for one in in_windows])
single = torch.cat([mean_pool(*one) for one in in_windows])          # every window of every document
many = torch.tensor([len(keep) for _, keep in in_windows])
owner = torch.repeat_interleave(torch.arange(len(documents)), many)
first_found = {
    "truncated to 256 tokens": search(queries, cut_off, 1)[0][:, 0],
    "windows, pooled": search(queries, pooled, 1)[0][:, 0],
    "best window": owner[search(queries, single, 1)[0][:, 0]],
}
hits = pd.DataFrame({name: (one == right // SIX).numpy() for name, one in first_found.items()})
tokens = [len(pieces(text, verbose=False)["input_ids"]) for text in documents]
print(f"{len(documents)} documents of {min(tokens)} to {max(tokens)} tokens, {len(owner)} windows")
sentences_search.long_texts(hits, (right % SIX + 1).numpy())

def ahead(one: str, other: str, rows: np.ndarray) -> tuple[float, float]:
    """The confidence interval for a difference, obtained by resampling paragraphs (questions about the same paragraph are not independent)."""
    difference = (hits[one].astype(float) - hits[other])[rows]
    by_paragraph = difference.groupby(right.numpy()[rows]).agg(["sum", "count"]).to_numpy()
    return bootstrap(by_paragraph, lambda drawn: drawn[:, 0].sum() / drawn[:, 1].sum())

beginning, together, singly = hits
late = (right % SIX >= SIX // 2).numpy()
differences = {
    "windows, pooled, minus truncated: first half of the document": ahead(together, beginning, ~late),
    "windows, pooled, minus truncated: second half": ahead(together, beginning, late),
    "windows, pooled, minus truncated: whole document": ahead(together, beginning, late | ~late),
    "best window minus windows, pooled: whole document": ahead(singly, together, late | ~late),
}
for what, (low, high) in differences.items():
    print(f"{what:<60} {low:+.2f} to {high:+.2f}")

# %% [markdown]
# Searching all windows finds the right document most often, at the cost of more vectors. The best unit for search is therefore the passage, not the document. A
# truncated document can be found only by its beginning. Compared with truncation, pooling finds more late paragraphs, which truncation cuts off, and fewer early ones,
# because a single vector for six subjects is blurred, as the vector of *cell* was in notebook 01. Over all positions, pooling and truncation do not differ clearly. (There are
# few questions per position, so the individual points are uncertain.)

# %% [markdown]
# ## Further: retrieval, then an answer
#
# A search returns passages, but users want answers. We can therefore put the retrieved passages in front of the question and let a decoder generate the answer.
# This is called **retrieval-augmented generation** (RAG: Lewis et al. 2020). The decoder need not know the answer; it only has to find it in the passages.
#
# We search the course's own texts (`data/retrieval`): the entries of its glossary and the points of its summaries, as they were when this section was written.
# The 59 questions were written for this section. About half of the questions *name* the term that they ask about; the others *describe* the term in different
# words.

# %% tags=["demo", "record"]
passages = read_table("retrieval/passages.csv")
asks = read_table("retrieval/questions.csv")
texts_of = dict(zip(passages.id, passages.title + ": " + passages.text, strict=True))

# %% [markdown]
# The author chose one relevant passage for each question. For 345 pairs of a question and a passage, a second annotator judged whether the passage answers the
# question. Cohen's κ measures agreement beyond chance and is at most 1. Where the two annotators disagreed, the labels were corrected. As a result, eight
# questions now have two relevant passages.

# %% tags=["demo"]
tables.agreement_of_annotators(read_table("retrieval/readings.csv"))

# %% [markdown]
# **Predict:** what is TF-IDF's recall at 3 for the questions that describe their term?

# %% tags=["demo"]
predict("sentences.described", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
all_texts = list(texts_of.values())
relevant = torch.tensor([[id in (ask.passage, ask.also) for id in passages.id] for ask in asks.itertuples()])  # 59 243
counts = TfidfVectorizer(sublinear_tf=True).fit(all_texts)

def counted_words(texts) -> Float[Tensor, "N words"]:
    """Word counts, weighted by the rarity of each word in these passages."""
    return torch.from_numpy(counts.transform(texts).toarray()).float()

def cosines_with_passages(vectors_of) -> Float[Tensor, "59 243"]:
    """The cosine of each question with each passage."""
    return normalize(vectors_of(asks.question), dim=1) @ normalize(vectors_of(all_texts), dim=1).T

by_search = {
    "GloVe, mean": cosines_with_passages(glove_average),
    "TF-IDF": cosines_with_passages(counted_words),
    "MiniLM": cosines_with_passages(minilm_vectors),
}
hits_at = {  # search, k → the recall at k of each question
    (name, k): np.array([recall_at_k(cosines[[row]], relevant[[row]], k) for row in range(len(asks))])
    for name, cosines in by_search.items() for k in (1, 3, 10)
}
describes = (asks.kind == "describes").to_numpy()
reveal("sentences.described", hits_at["TF-IDF", 3][describes].mean())
sentences_search.recalls(hits_at, describes, len(passages))
by_kind = {}
for kind, rows in {"name": ~describes, "describe": describes}.items():
    gap_at_3 = (hits_at["MiniLM", 3] - hits_at["TF-IDF", 3])[rows]
    by_kind[kind] = (gap_at_3.mean(), *bootstrap(gap_at_3, draws=1000))
    print("MiniLM minus TF-IDF in recall at 3, questions that {} the term: {:+.2f} (95 % interval {:+.2f} to {:+.2f})".format(kind, *by_kind[kind]))

# %% [markdown]
# When a question names its term, counting words is sufficient: TF-IDF and MiniLM find nearly all relevant passages. When a question describes the term, both
# methods miss at least half of them, and 31 questions are too few to tell whether MiniLM finds more than TF-IDF. The mean of GloVe's vectors is worse for both
# kinds of question. A search that works well for someone who has read the text may fail for people who do not yet know the term. These
# are the very people who need the search.

# %% nbgrader={"grade": false, "grade_id": "sentences-answer_prompt", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_prompt(question: str, passages: list[str], most: int) -> str:
    """The decoder's prompt: the passages, the question, and "Answer:".
    (further, ●●○, 8 minutes)

    The passages are sorted, with the best one first. Each passage is written unchanged on a
    line of its own after its number: "[1] …", "[2] …". Together, the passages may have at most
    `most` words, not counting the numbers; words are the elements of text.split(). The first
    passage that does not fit is left out, and so are all passages after it. The included
    passages are followed by an empty line, a line "Question: …" and a last line "Answer:" with
    nothing after it. If no passage fits, the prompt begins with "Question:".
    """
    ### BEGIN SOLUTION
    lines, words = [], 0
    for number, passage in enumerate(passages, start=1):
        words += len(passage.split())
        if words > most:
            break
        lines.append(f"[{number}] {passage}")
    if lines:
        lines.append("")
    return "\n".join([*lines, f"Question: {question}", "Answer:"])
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "sentences-answer_prompt-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("sentences.answer_prompt", lambda case: torch.tensor(list(
    answer_prompt(case["question"], case["passages"], case["most"]).encode()
)))

# %% [markdown]
# (`check` compares the bytes of your prompt, so every line break matters.)
#
# How do we know that an answer comes from the passage? A person can read the answer and the passage. A program can only look for evidence: what fraction of the
# answer's **content words** (all words except *the*, *of*, *is* and the like) occurs in the passage? We call this fraction the **support** of the answer. An
# answer that claims nothing needs no support.

# %%
FUNCTION_WORDS = set(
    "a an and are as at be because been but by can could did do does for from had has have "
    "how i if in into is it its "
    "may of on one or s so such t than that the their them then there these they this those "
    "to was we were what when "
    "where which who why will with would you your answer called question text".split()
)

def content_words(text: str) -> list[str]:
    """The words and numbers of a text in lower case, in order, without function words."""
    return [
        w
        for w in re.findall(r"[a-z]+|\d[\d.,]*\d|\d", text.lower())
        if w not in FUNCTION_WORDS
    ]

# %% nbgrader={"grade": false, "grade_id": "sentences-supported", "locked": false, "schema_version": 3, "solution": true, "task": false}
def supported(answer: str, passage: str) -> float:
    """The fraction of an answer's distinct content words that occur in the passage.
    (further, ●○○, 5 minutes)

    The content words are those that `content_words` returns. A repeated word counts once. A
    part of a longer word does not count as an occurrence. An answer without content words
    claims nothing, and its support is 1.
    """
    ### BEGIN SOLUTION
    claimed = set(content_words(answer))
    if not claimed:
        return 1.0
    return len(claimed & set(content_words(passage))) / len(claimed)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "sentences-supported-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("sentences.supported", lambda case: torch.tensor(
    [float(supported(*pair)) for pair in zip(case["answers"], case["passages"])]
))

# %% tags=["demo"]
passage = texts_of[asks.set_index("term").passage["SNLI"]]
print(passage)
for said in (
    "570,000 pairs.",
    "570 pairs.",
    "SNLI was trained on Sentence-BERT.",
    "It contains sentence couples.",
    "",
):
    print(f"    {supported(said, passage):.2f}  {said!r}")

# %% [markdown]
# A wrong number lowers the support, but so does a correct paraphrase. Conversely, a false sentence that consists of words from the passage is fully supported.
# Support indicates which answers to check first; it does not replace reading them.

# %% [markdown]
# SmolLM2 now answers all questions under four conditions: without a passage, with the right passage, with the three passages that MiniLM retrieves, and with
# the passage of another question (recorded with `python -m experiments retrieval_answers`). We use two wordings of the prompt; the figure shows the first. A
# statement that no source supports is called a **hallucination** (07; Ji et al. 2023). An answer often repeats words of the question. Because these words
# provide no evidence, we count only the content words that the answer *adds*.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
WORDINGS = {                                   # instructions without a passage, and with one
    "a few words": ("Answer the question in a few words.", "Answer the question in a few words taken from the text."),
    "short phrase": ("Reply with a short phrase, not a whole sentence.",
                     "Read these notes. Reply with a short phrase from them, not a whole sentence."),
}
ROOM = 150                                     # maximum number of passage words in a prompt

def request(question: str, found: list[str], wording: str = "a few words") -> str:
    """The complete prompt for SmolLM2, in its chat format."""
    prompt, asked = answer_prompt(question, found, ROOM), WORDINGS[wording][bool(found)]
    return f"<|im_start|>user\n{asked}\n\n{prompt}<|im_end|>\n<|im_start|>assistant\n"

# %% tags=["demo"]
from coursekit.retrieved_answers import RetrievedAnswers, added

recorded = RetrievedAnswers(asks, texts_of, supported, content_words)
sentences_search.answers(recorded)
tables.answers(recorded)

# %% [markdown]
# With the right passage, more of the words that SmolLM2 adds are supported, and its replies contain more of the right answer than without a passage. Still,
# about half of the added words do not occur in the passage, which is only two lines long. With three retrieved passages, the passages in the prompt support
# more of the added words than the right passage does. In other words, the model is faithful to texts that do not answer the question. These results hold for
# both wordings.

# %% [markdown]
# A wrong passage does not help SmolLM2 to find the right answer. However, when the prompt asks for a short phrase, the replies have *more* support with a wrong
# passage than without any. With a wrong passage, more of the replies add no content words to the question, and an answer that adds nothing counts as fully
# supported. The other wording shows no such difference.

# %% [markdown]
# The baselines put these results into perspective. An empty answer is fully supported but useless, so support alone is not a suitable goal. Moreover, the first
# retrieved passage, copied as a whole, contains far more of the right answer than SmolLM2's reply based on three passages, but it also uses many more words.
# With a decoder of this size, the search does most of the work.

# %% [markdown]
# > **Checking the literature.** Lewis et al. (2020) find that BART, an encoder–decoder with 400 million parameters, is more factual and more specific when
# > *trained* to answer from retrieved passages than when trained without them. Our decoder was trained for chat and is far smaller, and most of its weights
# > are stored in 4 bits. Nevertheless, it benefits from the right passage with both wordings of the prompt.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.models import load

print("This takes a few seconds.")
smol = load("SmolLM2-135M-Instruct", head="causal-lm")
passage_vectors = minilm_vectors(all_texts)

@torch.no_grad()
def say(question: str, found: list[str]) -> str:
    """SmolLM2's answer by greedy decoding, up to the first line break."""
    inputs = smol.tokenizer(request(question, found), return_tensors="pt")
    written = smol.model.generate(**inputs, max_new_tokens=20, do_sample=False, pad_token_id=smol.tokenizer.eos_token_id)
    return smol.tokenizer.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip().split("\n")[0]

def ask_the_course(question: str, k: int = 1) -> None:
    """Print the retrieved passages, and SmolLM2's answers without and with these passages."""
    found = [all_texts[n] for n in search(minilm_vectors([question]), passage_vectors, k)[0][0].tolist()]
    print("\n".join(f"[{number}] {text}" for number, text in enumerate(found, start=1)))
    for name, given in (("without", []), ("with", found)):
        answer = say(question, given)
        print(f"{name:>8}: {answer}   (support {supported(added(answer, question, content_words), ' '.join(found)):.2f})")

# %% tags=["demo"]
ask_the_course("How many bits is one nat?")

# %% [markdown]
# Now type a question of your own (this requires a running notebook and is not graded):

# %% tags=["demo"]
interact(ask_the_course, question=text_box("What does dropout do?", "question"), k=(1, 3))

# %% [markdown]
# ## Extension: a sentence vector from a decoder
#
# In a decoder, only the last token has attended to the whole sentence (07). Can the vector of this token represent the sentence?

# %% nbgrader={"grade": false, "grade_id": "sentences-last_token", "locked": false, "schema_version": 3, "solution": true, "task": false}
def last_token(
    hidden: Float[Tensor, "B T D"], keep: Bool[Tensor, "B T"]
) -> Float[Tensor, "B D"]:
    """The vector of the last token of each sentence.  (extension, ●●○, 5 minutes)

    keep is True at real tokens and False at padding. A sequence may be padded on the right or
    on the left.
    """
    ### BEGIN SOLUTION
    T = keep.shape[1]
    last = (keep * torch.arange(1, T + 1)).argmax(dim=1)
    return hidden[torch.arange(len(hidden)), last]
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "sentences-last_token-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("sentences.last_token", lambda case: last_token(**case))

# %% tags=["demo"]
decoder = load("SmolLM2-135M-Instruct")
print("This takes five to ten seconds.")
pools = {"mean": mean_pool, "last token": last_token}
of_premises = pooling.decoder_layers(exam.premise, decoder, pools)

# %% tags=["demo"]
of_hypotheses = pooling.decoder_layers(exam.hypothesis[::3], decoder, pools)
by_layer = {name: graded.by_layer(of_premises[name], of_hypotheses[name]) for name in pools}
pictures.decoder(by_layer, {
    name: graded.found[name][0] for name in ("GloVe, mean", "MiniLM: trained for this")
})

# %% [markdown]
# Although SmolLM2 has six times as many parameters as MiniLM, none of its layers agrees with the annotators as well as MiniLM does. SmolLM2 was
# trained for chat, not on sentence pairs. (Each point has an interval of about ± 0.1, so small differences between layers are not meaningful. Choosing the best
# layer from this figure would mean choosing it on the test set.)

# %% [markdown]
# A decoder that *is* trained on pairs becomes a good sentence encoder (Muennighoff 2022; Wang et al. 2024). In June 2025, one of these encoders, Qwen3
# Embedding, was ranked first on the multilingual leaderboard of **MTEB**, the usual benchmark (Muennighoff et al. 2023; Zhang et al. 2025). It uses the vector
# of the last token, as your function does, and its queries begin with an instruction that describes the task.

# %% [markdown]
# ## The same with a library
#
# `sentence-transformers` is the library of Reimers and Gurevych. MiniLM's files specify how its vectors are pooled: the mean over the tokens is normalised to
# length 1.

# %% tags=["demo"]
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(str(folder), device="cpu")
theirs = model.encode(
    exam.premise[:64].tolist(), convert_to_tensor=True, show_progress_bar=False
)
same = (theirs - normalize(minilm_vectors(exam.premise[:64]), dim=1)).abs().max().item()
print(f"largest difference from the normalised mean_pool: {same:.1e}")

# %% [markdown]
# The library computes the same vectors. It also provides both training losses: `MultipleNegativesRankingLoss` is your ranking loss with in-batch negatives
# (InfoNCE), and `SoftmaxLoss` is your classification objective.

# %% [markdown]
# ## Summary
#
# - A sentence vector is the mean over the sentence's own tokens, without padding.
# - Models are compared with annotators by rank correlation, with mean ranks for ties and a confidence interval.
# - Without training on pairs, our encoder shows little agreement with the annotators. The baselines are length, overlap, GloVe's mean and centring.
# - A classification objective trains the encoder to predict labels; a contrastive loss trains the cosine itself.
# - A cross-encoder judges pairs more accurately, but only a bi-encoder's vectors can be searched.
# - A text longer than the window is split into windows; recall at k measures how much a search finds.
#
# This notebook adds nothing to the **scoreboard** of word senses.
#
# **Next**: notebook 12 compares all models on the same corpus.

# %% [markdown]
# ## References
# - Bowman, S. R., Angeli, G., Potts, C. and Manning, C. D. (2015). A large annotated corpus for learning natural language inference. *EMNLP*. arXiv:1508.05326.
# - Bromley, J., Guyon, I., LeCun, Y., Säckinger, E. and Shah, R. (1993). Signature verification using a "siamese" time delay neural network. *NIPS 6*.
# - Cohen, J. (1960). A coefficient of agreement for nominal scales. *Educational and Psychological Measurement* 20(1), 37–46.
# - Cormack, G. V., Clarke, C. L. A. and Büttcher, S. (2009). Reciprocal rank fusion outperforms Condorcet and individual rank learning methods. *SIGIR*, 758–759.
# - Efron, B. (1979). Bootstrap methods: another look at the jackknife. *Annals of Statistics* 7, 1–26.
# - Henderson, M. et al. (2017). Efficient natural language response suggestion for Smart Reply. arXiv:1705.00652.
# - Järvelin, K. and Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. *ACM Transactions on Information Systems* 20(4), 422–446.
# - Ji, Z. et al. (2023). Survey of hallucination in natural language generation. *ACM Computing Surveys* 55(12). arXiv:2202.03629.
# - Karpukhin, V. et al. (2020). Dense passage retrieval for open-domain question answering. *EMNLP*, 6769–6781. arXiv:2004.04906.
# - Kusupati, A. et al. (2022). Matryoshka representation learning. *NeurIPS 35*. arXiv:2205.13147.
# - Lewis, P. et al. (2020). Retrieval-augmented generation for knowledge-intensive NLP tasks. *NeurIPS 33*. arXiv:2005.11401.
# - Muennighoff, N. (2022). SGPT: GPT sentence embeddings for semantic search. arXiv:2202.08904.
# - Muennighoff, N., Tazi, N., Magne, L. and Reimers, N. (2023). MTEB: massive text embedding benchmark. *EACL*, 2014–2037. arXiv:2210.07316.
# - permute (2021). Issue 191. github.com/statlab/permute.
# - Reimers, N. and Gurevych, I. (2019). Sentence-BERT: sentence embeddings using siamese BERT-networks. *EMNLP-IJCNLP*, 3982–3992. arXiv:1908.10084.
# - Robertson, S. and Zaragoza, H. (2009). The probabilistic relevance framework: BM25 and beyond. *Foundations and Trends in Information Retrieval* 3(4), 333–389.
# - Spearman, C. (1904). The proof and measurement of association between two things. *American Journal of Psychology* 15, 72–101.
# - Thakur, N., Reimers, N., Daxenberger, J. and Gurevych, I. (2021). Augmented SBERT: data augmentation method for improving bi-encoders for pairwise sentence scoring tasks.
#   *NAACL-HLT*, 296–310. arXiv:2010.08240.
# - transformers (2022). Issue 17463. github.com/huggingface/transformers.
# - van den Oord, A., Li, Y. and Vinyals, O. (2018). Representation learning with contrastive predictive coding. arXiv:1807.03748.
# - Wang, L. et al. (2024). Improving text embeddings with large language models. *ACL*, 11897–11916. arXiv:2401.00368.
# - Wang, W. et al. (2020). MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained transformers. *NeurIPS 33*. arXiv:2002.10957.
# - Xiong, L. et al. (2021). Approximate nearest neighbor negative contrastive learning for dense text retrieval. *ICLR*. arXiv:2007.00808.
# - Zhang, Y. et al. (2025). Qwen3 Embedding: advancing text embedding and reranking through foundation models. arXiv:2506.05176.

# %% [markdown]
# Next: [12 · One corpus, four models](../12_one_corpus/12_one_corpus.ipynb). The [start page](../start.ipynb) shows your progress.


# %% tags=["demo"]
predictions()
