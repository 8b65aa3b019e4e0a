# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Inside a pre-trained transformer
#
# So far, we have built models and trained small ones. In this notebook, we open a model that others trained on billions of words. It returns tensors, and
# nothing in them is labelled. We extract a word's contextual embedding from every layer, find out which layer separates its senses best, and inspect the tokens
# that it attends to. We compare every measurement with its value for words that have nothing in common.
#
# **You need** notebooks 06 and 07. **Time** about 80 minutes for the core: five exercises, a bug to fix, and two written questions. The sections marked *Further* (other people's sentences; three
# models trained on novels) and two extensions are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [07 · GPT](../07_gpt/07_gpt.ipynb) · next: [09 · Fine-tuning](../09_fine_tuning/09_fine_tuning.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - extract the vector of a *word*, not of a subword, from every layer of a pre-trained model;
# - state how similar two uses of a word are, compared with two random words;
# - inspect attention with bertviz, and state what attention does not explain;
# - use contextual vectors to find senses in sentences that mislead a bag of words, and state how much of the success is due to grammar;
# - *further:* test your findings on sentences that other people wrote, and compare three models trained on the same text.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, reveal

# %% [markdown]
# **Watch a vector move.** Type sentences with *bank*, or choose another word. From bottom to top, the line shows where the word's vector is after each layer of this
# notebook's model. The vertical lines are the means of example sentences with each sense. The colour of each other word shows towards which sense it moves the
# vector, through attention. Parts 2 to 8 explain how such vectors are read and compared.
#
# Can you write a sentence that fools the model? Type it as sentence 1 and select the sense that you mean. *Keep sentence 1* adds it to the file `fooled.csv`
# in this folder, which you can hand in. Nothing here is graded.

# %% tags=["demo"]
from coursekit.word_explorer import explore

explore("bank", models=["BERT (MiniLM)"])

# %% [markdown]
# ## 1 · Load, tokenise, embed
#
# We use all-MiniLM-L6-v2, a small BERT that comes with the course. It was distilled from larger models (Wang et al. 2020) and then fine-tuned so that similar
# *sentences* get similar vectors (as in Reimers and Gurevych 2019; notebook 11). If you have a network connection, you can run this notebook on
# bert-base-uncased (Devlin et al. 2019) instead: replace the call below with `load("bert-base-uncased", attentions=True, from_hub=True)`. Both models use the
# same vocabulary of 30,522 subwords.

# %% tags=["demo"]
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.datasets import read_table
from coursekit.models import load
from coursekit.pictures import (
    inside as pictures, inside_attention, inside_corpora, inside_novels,
    inside_tables as tables,
)
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)
torch.manual_seed(0)

loaded = load("all-MiniLM-L6-v2", attentions=True)
model, tokenizer = loaded.model, loaded.tokenizer
L, H = model.config.num_hidden_layers, model.config.num_attention_heads
print(f"\n{L} layers, {H} heads, D = {model.config.hidden_size},",
      f"{sum(weight.numel() for weight in model.parameters()):,} parameters")

RIVER = "i will hike along the bank of a river"
MONEY = "i will open a new account at my bank and deposit some money"

# %% [markdown]
# **Predict:** the first sentence has nine words. How many vectors does each layer return for this sentence?

# %% tags=["demo"]
predict("inside.tokens", ...)

# %% tags=["demo"]
batch = tokenizer(RIVER, return_tensors="pt")
with torch.no_grad():
    output = model(**batch, output_hidden_states=True, output_attentions=True)
tokens = tokenizer.convert_ids_to_tokens(batch.input_ids[0])
reveal("inside.tokens", len(tokens))
print(*tokens)
print("last layer:   ", list(output.last_hidden_state.shape))
print("hidden states:", len(output.hidden_states), "of", list(output.hidden_states[0].shape))
print("attentions:   ", len(output.attentions), "of", list(output.attentions[0].shape))

# %% [markdown]
# The sentence has 11 tokens, because each of the nine words is a single subword of the vocabulary, and the tokenizer adds [CLS] and [SEP]. Each token has a
# vector of D numbers, where D is 384 for MiniLM and 768 for bert-base-uncased. There is one more hidden state than there are layers, because **layer 0** is the
# input to the first layer. Each layer adds its output to a token's vector; this running sum is called the **residual stream** (03). BERT, being a post-norm model, also
# normalises the sum. Each head of each layer has one attention matrix of 11 × 11.

# %% [markdown]
# ## 2 · A word's vector
#
# A rare word is split into several subwords and therefore has several vectors. Two conventions for the vector of such a word are common: the vector of the
# first subword, and the mean over all subwords. We use the mean. If you get stuck on an exercise, run `hint("inside.word_vectors")` in a cell of your own: the
# first hint is a question, and later hints give more away.

# %% nbgrader={"grade": false, "grade_id": "inside-word_vectors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def word_vectors(
    hidden: Float[Tensor, "L+1 T D"], word_ids: Int[Tensor, "T"], i: int
) -> Float[Tensor, "L+1 D"]:
    """The vector of word i at every layer: the mean over its subwords.
    (difficulty ●○○, 4 minutes)

    word_ids contains the number of each token's word, or −1 for [CLS], [SEP] and any other
    token that belongs to no word. Word i has at least one subword.
    """
    ### BEGIN SOLUTION
    return hidden[:, word_ids == i].mean(dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-word_vectors-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("inside.word_vectors", lambda case: word_vectors(
    case["hidden"], case["word_ids"], case["i"]
))

# %% [markdown]
# Which token belongs to which word? A subword that continues a word begins with ##, so every other subword seems to begin a new word. A change to the Flair
# library, proposed in March 2020, found words in this way, and a reviewer replied with an example for which the method fails (flair, pull request 1494). The
# function below implements the method. *Find the bug:* how many words does the function find in the example?

# %%
def words_by_hash(pieces: list[str]) -> list[int]:     # subwords, without [CLS] and [SEP]
    word_ids, word = [], -1
    for piece in pieces:
        if not piece.startswith("##"):
            word += 1                                  # a subword without ## begins a new word
        word_ids.append(word)
    return word_ids

# %% tags=["demo"]
EXAMPLE = "JAKARTATown 1996-08-27"                         # two words in the text
pieces = tokenizer.tokenize(EXAMPLE)
display(pd.DataFrame({"subword": pieces, "word, by ##": words_by_hash(pieces)}).T)
given = tokenizer(EXAMPLE, return_offsets_mapping=True)
print("start and end of each token in the text:", given["offset_mapping"])

# %% [markdown]
# BERT's tokenizer splits the text at every punctuation mark before it looks for subwords, and it does not mark these splits with ##. However, the tokenizer
# also returns reliable information: the start and end character of each subword. Use these positions to fix the function.

# %% nbgrader={"grade": false, "grade_id": "inside-mended_words", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_words(pieces: Int[Tensor, "T 2"], words: Int[Tensor, "W 2"]) -> Int[Tensor, "T"]:
    """For each token, the number of the word to which it belongs, or −1.
    (difficulty ●●○, 8 minutes)

    Each row is (begin, end) and denotes characters begin to end − 1 of the text. A subword
    belongs to the word that contains it; no subword crosses a word boundary. Special tokens
    and padding have the empty span (0, 0). They belong to no word, and neither do subwords
    between two words. The words are in order and do not overlap, but a word may begin where
    the previous one ends, and a word may have no subword at all.
    """
    ### BEGIN SOLUTION
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)     # T W
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-mended_words-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.mended_words", lambda case: mended_words(case["pieces"], case["words"]))

# %% [markdown]
# Does the bug matter? The course has 2,325 sentences, each with one ambiguous word (`data/senses`). For how many of these sentences would counting by `##`
# return the vector of another word?

# %% tags=["demo"]
from coursekit.occurrences import (
    gaps_between_senses, number_of_word, spans_of_words, wrong_words,
)

senses = read_table("senses/senses.csv")
wrong = wrong_words(senses, tokenizer, words_by_hash, mended_words)
tables.wrong_words(wrong, len(senses))

# %% [markdown]
# A comma before the word is enough to cause the error. No exception is raised and every shape is correct, but the vector belongs to a neighbouring word.
# Therefore, always print the tokens whose vectors you average.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it:
# [Words that a tokeniser silently splits](../../docs/bugs/08_words_by_hash_signs.md).

# %% [markdown]
# ## 3 · Three vectors called static
#
# In notebook 01, each word had one vector, its static embedding. Today, three different kinds of vectors are called "static":
#
# - a **row of the embedding table** of this model: f(w), learned together with the layers above it;
# - **layer 0**: the normalised sum of this row and the vectors for the position and the segment. It depends on the word and its *position*;
# - a **GloVe** vector: f(w), learned from co-occurrence counts, in a separate vector space.
#
# A cosine means little without a baseline. Our baseline is the cosine of random pairs of words *in the same space*.

# %% tags=["demo"]
from coursekit.static_spaces import StaticSpaces
from coursekit.vectors import load_glove

cosine = torch.cosine_similarity
spaces = StaticSpaces(loaded, load_glove())
PAIRS = [("bank", "vault"), ("bank", "money"), ("bank", "river"), ("river", "stream")]
static, control = spaces.cosines(PAIRS), spaces.cosines(spaces.random_pairs(2000))
pictures.static_vectors(PAIRS, static, control)
here, there = (spaces.vectors(["bank"], position) for position in (6, 9))
tables.moved_by_position(here, there)

# %% [markdown]
# The three kinds of vectors use three different scales for the same pairs. Therefore, compare each pair with its baseline. In GloVe, a cosine of 0.3 means next
# to nothing, because any two frequent words have something in common. In the embedding table, the same cosine would indicate a close pair. The vector at layer 0
# changes with the position. If you use this vector as "the word without context", you also compare positions.

# %% [markdown]
# ## 4 · How similar is similar?
#
# The vector of a word in its sentence is called its **contextual embedding**. In notebook 07, we compared two such vectors; now we compare all pairs from many
# sentences. There are three kinds of pairs: the same word with the same sense, the same word with two senses, and different words. The pairs of different words
# are the baseline for the other two kinds. The pairs that share a sense show how high a cosine can be expected to be.

# %% nbgrader={"grade": false, "grade_id": "inside-sense_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sense_similarity(
    vectors: Float[Tensor, "n L+1 D"], words: Int[Tensor, "n"], senses: Int[Tensor, "n"]
) -> Float[Tensor, "3 L+1"]:
    """The mean cosine of three kinds of pairs, at every layer.  (difficulty ●●○, 10 minutes)

    Row 0: the same word with the same sense. Row 1: the same word with two senses. Row 2:
    different words. Senses are numbered 0, 1, … within each word. Every pair of different
    occurrences counts once, and all pairs of a kind have the same weight. There is at least
    one pair of each kind.
    """
    ### BEGIN SOLUTION
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    cosines = torch.einsum("ild,jld->ijl", unit, unit)
    same_word = words[:, None] == words
    same_sense = same_word & (senses[:, None] == senses)
    once = torch.ones_like(same_word).triu(1)
    kinds = (same_sense, same_word & ~same_sense, ~same_word)
    return torch.stack([cosines[kind & once].mean(dim=0) for kind in kinds])
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-sense_similarity-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("inside.sense_similarity", lambda case: sense_similarity(**case))

# %% [markdown]
# We run the model once on all 2,325 sentences (about fifteen seconds). With your two functions, we extract the vector of the ambiguous word at every layer.

# %% tags=["demo"]
print("This takes ten to twenty seconds.")

@torch.no_grad()
def vectors_of(
    texts: list[str], starts: list[int], size: int = 48
) -> Float[Tensor, "n L+1 D"]:
    """The vector of the word that begins at character `starts[n]` of text n, at every
    layer."""
    found = [None] * len(texts)
    # similar lengths need little padding
    by_length = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    for begin in range(0, len(texts), size):
        rows = by_length[begin : begin + size]
        given = tokenizer(
            [texts[n] for n in rows], return_tensors="pt", padding=True,
            return_offsets_mapping=True,
        )
        offsets = given.pop("offset_mapping")
        hidden = torch.stack(model(**given, output_hidden_states=True).hidden_states, dim=1)
        for n, one_hidden, one_offsets in zip(rows, hidden, offsets):
            word_ids = mended_words(one_offsets, spans_of_words(texts[n]))
            found[n] = word_vectors(one_hidden, word_ids, number_of_word(texts[n], starts[n]))
    return torch.stack(found)

uses = vectors_of(senses.sentence.tolist(), senses.start.tolist())  # n L+1 D
words = torch.tensor(pd.factorize(senses.word)[0])
# unique across words
sense_ids = torch.tensor(pd.factorize(senses.word + " " + senses.sense)[0])
print(list(uses.shape), f"{senses.word.nunique()} words, {sense_ids.max() + 1} senses")

# %% [markdown]
# The 44 words form two groups. For 30 words, such as *bank* and *cell*, all senses are **nouns**. The other 14 words also have a sense that belongs to
# **another part of speech**, so grammar alone separates the tool *saw* from *saw*, the past tense of *see*. Because our question is about meaning, the figure
# shows the first group. The values for the second group are printed below the figure.

# %% tags=["demo"]
test_rows = torch.tensor((senses.split == "test").to_numpy().copy())
nouns = torch.tensor((senses.parts_of_speech == "same").to_numpy().copy())

def similar_on(rows: Tensor) -> Float[Tensor, "3 L+1"]:
    return sense_similarity(uses[rows], words[rows], sense_ids[rows])

similar, similar_grammar = similar_on(test_rows & nouns), similar_on(test_rows & ~nouns)
gaps_inside = gaps_between_senses(uses[:, -1], senses)      # of three words, at the last layer
pictures.separation(similar)
tables.gaps(similar, similar_grammar, gaps_inside)

# %% [markdown]
# Two uses of a word with different senses have a high cosine at every layer (left), as if the model hardly distinguished the senses. However, uses that share a
# sense do not reach a cosine of 1 either, and the cosine of different words changes from layer to layer. We therefore look at the gap between pairs with one sense and
# pairs with two senses (right). The gap is about 0 at layer 0, where only positions differ, and largest at the last layer. Most of the similarity above the baseline comes from the
# word, not from its sense.

# %% [markdown]
# When two senses differ in part of speech, the gap is several times as wide as between two senses of the same part of speech. This is true even within *match* and *current*, where two senses are nouns and one
# is not; *light* is an exception. Part 8 uses a different method to find out which layer separates senses *best*.

# %% [markdown]
# We now look at single pairs. For bert-base-uncased, several values are often quoted, although we could not find out who measured them first. *bank* and
# *vault* have a cosine of 0.29 in the embedding table and 0.52 in context; two uses of *bank* with different senses have a cosine of 0.6 to 0.7. Because the sentences are known,
# anyone can check these values. We compute them again and add one more pair: *vault* and the bank of a *river*. A tutorial by McCormick and Ryan (2019) adds up
# the last four layers instead.
#
# **Predict:** what is the cosine of *bank* in "I deposited money at the bank." and in "We walked along the river bank.", in the last layer of your model?

# %% tags=["demo"]
predict("inside.two_banks", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import re

TUTORIAL = ("After stealing money from the bank vault, the bank robber was seen fishing on the "
            "Mississippi river bank.")
CHECK, SAFE = "We deposited the check at the bank.", "All the valuables are safe in the vault."
SHORE = "They sat on the bank of the river."
DEPOSIT, WALK = "I deposited money at the bank.", "We walked along the river bank."

def use(text: str, word: str, number: int = 0) -> Float[Tensor, "L+1 D"]:
    """The vector of a word (its `number`-th occurrence) at every layer."""
    starts = [match.start() for match in re.finditer(rf"\b{word}\b", text)]
    return vectors_of([text], [starts[number]])[0]

pairs = {
    "bank (money) · vault": (use(CHECK, "bank"), use(SAFE, "vault")),
    "bank (river) · vault": (use(SHORE, "bank"), use(SAFE, "vault")),
    "bank (money) · bank (river)": (use(DEPOSIT, "bank"), use(WALK, "bank")),
    "tutorial: bank vault · bank robber": (use(TUTORIAL, "bank", 0), use(TUTORIAL, "bank", 1)),
    "tutorial: bank robber · river bank": (use(TUTORIAL, "bank", 1), use(TUTORIAL, "bank", 2)),
}
by_layer = {name: cosine(*pair, dim=-1) for name, pair in pairs.items()}
last_four = {name: cosine(*(side[-4:].sum(dim=0) for side in pair), dim=0).item()
             for name, pair in pairs.items()}
reveal("inside.two_banks", by_layer["bank (money) · bank (river)"][-1].item())
two_thirds = round(2 * L / 3)
published = ["0.29 in the table, 0.52 in context", "", "0.6 to 0.7",
             "0.94 (last four)", "0.69 (last four)"]
controls = dict(zip(("one sense", "two senses", "different words"), similar))
vault = static["table row"][0]
in_table = [vault, vault, 1.0, 1.0, 1.0, 1.0, 1.0, control["table row"].mean()]
display(pd.DataFrame({
    "published, bert-base-uncased": [*published, "", "", ""],
    f"{loaded.name}: table": [f"{value:.2f}" for value in in_table],
    **{f"layer {one}": [f"{values[one]:.2f}" for values in (*by_layer.values(), *controls.values())]
       for one in (0, two_thirds, L)},
    "last four, added": [*(f"{value:.2f}" for value in last_four.values()), "", "", ""],
}, index=[*by_layer, *(f"mean: {name}" for name in controls)]))
pictures.pairs(by_layer, similar)

# %% [markdown]
# In both models, *bank* and *vault* are closer in context than in the table. Is this because a bank keeps money? Apparently not: in MiniLM, the bank of a *river*
# is as close to *vault* as the financial *bank* is, at every layer. The cosine rises from table to context for *all* words (grey), so the rise is no sign of
# understanding. The values themselves are specific to each model. In the tutorial, *bank robber* and *bank vault* occur a few words apart in the same sentence;
# two uses of one sense in different sentences have less in common.

# %% [markdown]
# ## 5 · Do all vectors point the same way?
#
# Ethayarajh (2019) compared *random* words in the upper layers of ELMo, BERT and GPT-2. Their cosines were far above 0, and close to 1 in GPT-2's last layer,
# as if all vectors lay in a narrow cone. This phenomenon is called **anisotropy**. It is measured by the mean cosine of random pairs, which is the baseline
# that we have used all along.

# %% nbgrader={"grade": false, "grade_id": "inside-anisotropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def anisotropy(vectors: Float[Tensor, "n D"]) -> Float[Tensor, ""]:
    """The mean cosine of all pairs of different vectors.  (difficulty ●●○, 6 minutes)

    A vector is not paired with itself. You may compute all n × n cosines, but the mean can
    also be computed without them.
    """
    ### BEGIN SOLUTION
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    n = len(unit)
    return (unit.sum(dim=0).square().sum() - n) / (n * (n - 1))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-anisotropy-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.anisotropy", lambda case: anisotropy(case["vectors"]))

# %% [markdown]
# If all vectors share a direction, we can remove it by subtracting their mean. The mean has to come from a separate sample, because the mean of the compared
# vectors themselves would make the result look better than it is.

# %% tags=["demo"]
def centre(
    vectors: Float[Tensor, "n D"], sample: Float[Tensor, "m D"]
) -> Float[Tensor, "n D"]:
    """The vectors minus the mean vector of `sample`, which removes the direction that all
    vectors share."""
    return vectors - sample.mean(dim=0)

# %% [markdown]
# We compare three models: the model loaded in part 1, an untrained model of the same shape, and a decoder, SmolLM2 from notebook 07. We take each distinct
# token in 30 sentences once, but leave out the first token of each sentence.
#
# **Predict:** what is the mean cosine of random tokens in the decoder, halfway through its layers?

# %% tags=["demo"]
predict("inside.cone", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

@torch.no_grad()
def tokens_in_context(network, words_of, texts: list[str]) -> Float[Tensor, "n L+1 D"]:
    """Vectors of tokens in sentences at every layer: each token once, excluding special tokens and the first token of each text."""
    seen, found = set(words_of.all_special_ids), []
    for text in texts:
        given = words_of(text, return_tensors="pt")
        hidden = network(**given, output_hidden_states=True).hidden_states
        hidden = torch.stack(hidden)[:, 0]                                   # L+1 T D
        for t, i in enumerate(given.input_ids[0].tolist()):
            if t > 0 and i not in seen:
                seen.add(i)
                found.append(hidden[:, t])
    return torch.stack(found)

texts = senses.sentence[::78].tolist()
untrained = type(model)(model.config).eval()
decoder = load("SmolLM2-135M-Instruct")
populations = {
    loaded.name: tokens_in_context(model, tokenizer, texts),
    f"{loaded.name}, untrained": tokens_in_context(untrained, tokenizer, texts),
    decoder.name: tokens_in_context(decoder.model, decoder.tokenizer, texts),
}
cones = {}
for name, population in populations.items():
    sample, asked = population[::2], population[1::2]
    layers = range(population.shape[1])
    cones[name] = (
        [anisotropy(asked[:, layer]).item() for layer in layers],
        [anisotropy(centre(asked[:, layer], sample[:, layer])).item() for layer in layers],
    )
    print(f"{name}: {len(population)} tokens")
middle = len(cones[decoder.name][0]) // 2
reveal("inside.cone", cones[decoder.name][0][middle])
pictures.cones(cones)

def largest(vectors: Float[Tensor, "n D"], number: int) -> list[int]:
    """The coordinates that contribute most to the mean cosine. A coordinate contributes its mean product over all pairs of unit vectors."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    contributed = unit.sum(dim=0).square() - unit.square().sum(dim=0)
    return contributed.argsort(descending=True)[:number].tolist()

def without_largest(vectors: Float[Tensor, "n D"], number: int) -> Float[Tensor, ""]:
    """The anisotropy without the coordinates that contribute most to it."""
    left = sorted(set(range(vectors.shape[1])) - set(largest(vectors, number)))
    return anisotropy(vectors[:, left])

in_decoder = populations[decoder.name][1::2]
fewer = {number: [without_largest(in_decoder[:, layer], number).item() for layer in (5, 10, 15, 20, 25)] for number in (0, 1, 3)}
for number, values in fewer.items():
    print(f"{decoder.name}, layers 5, 10, 15, 20, 25, without {number} of {in_decoder.shape[-1]} coordinates:", " ".join(f"{value:.2f}" for value in values))
with torch.no_grad():
    given = decoder.tokenizer(texts[0], return_tensors="pt")
    at_15 = decoder.model(**given, output_hidden_states=True).hidden_states[15][0]
norms, massive = at_15.norm(dim=-1), at_15[0].abs().argsort(descending=True)[:2].tolist()
print(f"length of a vector at layer 15: first token {norms[0]:,.0f}, mean of the others {norms[1:].mean():,.0f}")
print(f"coordinates left out at layer 15: {largest(in_decoder[:, 15], 3)}; largest coordinates of the first token: {massive}")

# %% [markdown]
# In the decoder, any two tokens are as similar as related tokens are in MiniLM. However, a few coordinates account for most of this similarity. Without three
# of the 576 coordinates, the mean cosine at layer 15 falls from 0.59 to 0.12 (Timkey and van Schijndel 2021 found the same effect in other models). At the
# first token, which we left out, two of these three coordinates are **massive activations** (Sun et al. 2024), and the vector is over a hundred times as long
# as the average. Decoders use the first token as an **attention sink** (Xiao et al. 2024), which receives attention when nothing else is relevant.

# %% [markdown]
# In MiniLM, which was tuned to give different sentences different vectors, the mean cosine is near 0 at the last layer. In the untrained model, the mean cosine
# at layer 0 is one third, because one of the three random vectors added there, the segment vector, is the same for all tokens. Centring brings the mean cosine
# of every model close to 0. How does centring affect the similarity of senses?

# %% tags=["demo"]
train_rows = ~test_rows
asked_nouns, known_nouns = test_rows & nouns, train_rows & nouns
centred = torch.stack([centre(uses[asked_nouns, layer], uses[known_nouns, layer])
                       for layer in range(L + 1)], dim=1)
similar_centred = sense_similarity(centred, words[asked_nouns], sense_ids[asked_nouns])
pictures.centred(similar, similar_centred)

# %% [markdown]
# The baseline for pairs of different words falls to about 0 at every layer, and the gap between same-sense and different-sense pairs becomes a little wider. (At the last layer, the
# baseline is just below 0, because the vectors of the 30 words point in different directions from their mean.) Centring thus makes a cosine *easier to interpret*. Part 8 examines
# whether it also makes senses easier to find.

# %% [markdown]
# ## 6 · What a word attends to
#
# In notebook 02, we computed attention; here we inspect it. **bertviz** (Vig 2019) offers three views of attention. We show each view first as a plain figure
# and then as an interactive page, which works offline. bertviz counts layers from 0, so its layer 0 produces the hidden state that we call layer 1. The figures
# in this part use bertviz's numbering.

# %% tags=["demo"]
@torch.no_grad()
def look(text: str):
    """Tokens, hidden states and attention of one text, from a model that returns its
    attention."""
    given = tokenizer(text, return_tensors="pt")
    output = model(**given, output_hidden_states=True, output_attentions=True)
    hidden = torch.stack(output.hidden_states)[:, 0]
    attention = torch.stack(output.attentions)[:, 0]
    return tokenizer.convert_ids_to_tokens(given.input_ids[0]), hidden, attention

tokens, hidden, attention = look(MONEY)                    # T; L+1 T D; L H T T
bank = tokens.index("bank")
cues = [tokens.index(word) for word in ("account", "deposit", "money")]
layer, head = divmod(attention[:, :, bank, cues].sum(dim=-1).argmax().item(), H)
name_of_head = f"layer {layer}, head {head}"
print("The head in which bank attends most to account, deposit and money:", name_of_head)
inside_attention.one_head(attention[layer, head], tokens, name_of_head)

# %% tags=["demo"]
from coursekit.attention_views import head_view, model_view, neuron_view

head_view(attention, tokens, layer=layer, heads=[head])

# %% [markdown]
# Point at *bank* on the left, choose other layers, and switch heads on and off with the coloured squares (a double click selects a single head). The **model view** shows all heads at once; click on a head to enlarge it.

# %% tags=["demo"]
inside_attention.all_heads(attention, tokens)

# %% tags=["demo"]
model_view(attention, tokens)

# %% [markdown]
# You can also view one head at a time with all tokens written out. The sliders respond to the arrow keys. (They require a running notebook, and nothing is
# graded here.)

# %% tags=["demo"]
inside_attention.heads_with_sliders(attention, tokens, layer, head)

# %% [markdown]
# Some heads are easy to interpret: a diagonal next to the main diagonal means that the head attends to the previous or the next token. Most heads show one dark
# column. Instead of judging by eye whether attention is sharp, we measure how widely the weights of a row are spread. The **entropy** of a row, in nats, is 0
# if one token receives all the weight and log T if all T tokens receive the same weight.

# %% nbgrader={"grade": false, "grade_id": "inside-attention_entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_entropy(attention: Float[Tensor, "L H T T"]) -> Float[Tensor, "L H"]:
    """The mean entropy of each head's rows, in nats.  (difficulty ●●○, 6 minutes)

    The entropy of a row is −Σ a log a, where a weight of 0 contributes 0. A row contains the
    weights that one token assigns to all tokens; all rows count equally.
    """
    ### BEGIN SOLUTION
    return -torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-attention_entropy-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.attention_entropy", lambda case: attention_entropy(case["attention"]))

# %% [markdown]
# We use one plain test sentence for each of the 30 words whose senses are all nouns. In addition to the entropy, we measure how much weight the previous token,
# the next token, the token itself, [CLS] and [SEP] receive, as Clark et al. (2019) did for BERT. The baselines are uniform attention and the untrained model.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
some = senses[(senses.split == "test") & (senses.kind == "plain")
              & (senses.parts_of_speech == "same")].groupby("word").head(1)
looks = [look(text) for text in some.sentence]
entropy = torch.stack([attention_entropy(a) for _, _, a in looks]).mean(dim=0)          # L H
even = np.mean([np.log(len(words_there)) for words_there, _, _ in looks])

def goes_to(a: Float[Tensor, "L H T T"]) -> Float[Tensor, "5 L H"]:
    """Mean weight on the previous token, the next token, the token itself, [CLS] and [SEP]."""
    beside = [a.diagonal(step, 2, 3).mean(dim=-1) for step in (-1, 1, 0)]
    return torch.stack([*beside, a[..., 0].mean(dim=-1), a[..., -1].mean(dim=-1)])

targets = torch.stack([goes_to(a) for _, _, a in looks]).mean(dim=0)
with torch.no_grad():
    untrained.set_attn_implementation("eager")
    given = tokenizer(some.sentence.tolist()[0], return_tensors="pt")
    raw = torch.stack(untrained(**given, output_attentions=True).attentions)[:, 0]
share_of_even = (attention_entropy(raw).mean() / np.log(raw.shape[-1])).item()
inside_attention.entropies(entropy, even)
for name, weights in zip(("token before", "token after", "itself", "[CLS]", "[SEP]"), targets):
    top = "layer {}, head {}".format(*divmod(weights.argmax().item(), H))
    print(f"{name:<13} mean of all heads {weights.mean():.2f}; highest in {top}: {weights.max():.2f}")
print(f"untrained model: {share_of_even:.1%} of the entropy of uniform attention")

# %% [markdown]
# > **Checking the literature.** Clark et al. (2019) found heads in BERT that attend to the previous and to the next token. In layers 6 to 10, more than half of
# > the attention goes to [SEP]. MiniLM also has heads for the previous and the next token. However, its dark column is [CLS], and [SEP] receives little
# > attention. Both models have an attention sink, but the token that serves as the sink depends on the model.

# %% [markdown]
# The **neuron view** shows how a weight is computed: query and key are multiplied coordinate by coordinate, the products are added up and divided by √d, and a softmax follows.
# bertviz supports this view only for its own copies of models from 2019. We therefore compute queries and keys from the loaded weights, as in notebook 02, and
# compare the result with the attention that the model reports.

# %% tags=["demo"]
@torch.no_grad()
def queries_and_keys(hidden: Float[Tensor, "L+1 T D"]) -> tuple[Tensor, Tensor]:
    """The queries and keys of every head, (L, H, T, d) each, from the input of each layer."""
    made = []
    for x, trained in zip(hidden, model.encoder.layer):
        projections = (trained.attention.self.query, trained.attention.self.key)
        made.append(
            [project(x).unflatten(-1, (H, -1)).transpose(0, 1) for project in projections]
        )
    queries, keys = zip(*made)
    return torch.stack(queries), torch.stack(keys)

queries, keys = queries_and_keys(hidden)
again = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(dim=-1)
print(
    "largest difference from the model's own attention: "
    f"{(again - attention).abs().max():.1e}"
)
inside_attention.neurons(queries[layer, head], keys[layer, head], tokens, bank, name_of_head)

# %% tags=["demo"]
neuron_view(attention, queries, keys, tokens, layer=layer, head=head)

# %% [markdown]
# Point at *bank* and press the plus sign. (In the figure, violet is positive and orange with a dash is negative.) No single coordinate determines a score,
# because a score is the sum of many small products of both signs, and the softmax depends on the differences between such sums.

# %% [markdown]
# ## 7 · Is attention an explanation?
#
# Consider the claim "*Bank* attends to *deposit*, so *deposit* is the reason why the model knows the sense." Jain and Wallace (2019) found, for LSTM
# classifiers, that attention weights agree poorly with other measures of importance, and that very different weights can give the same answer. Wiegreffe and
# Pinter (2019) replied that the conclusion depends on the definition of an explanation, and on fair baselines. Abnar and Zuidema (2020) pointed out that, above
# layer 1, tokens attend to *mixtures* of words. We can test the claim on the model itself: we hide one word from all heads and measure how far the vector of
# the target word moves.

# %% tags=["demo"]
from coursekit.intervals import bootstrap

WAYS = "hidden from attention", "[MASK] in its place", "left out"

@torch.no_grad()
def moved_without(text: str, target: int) -> dict[str, Float[Tensor, "T"]]:
    """For each token, how far the last-layer vector of token `target` moves (1 − cosine) when
    this token is removed."""
    ids = tokenizer(text, return_tensors="pt").input_ids
    T = ids.shape[1]
    places = torch.arange(T)
    keep, masked = torch.ones(T, T, dtype=torch.long).fill_diagonal_(0), ids.repeat(T, 1)
    masked.fill_diagonal_(tokenizer.mask_token_id)
    shorter = torch.stack([ids[0, places != t] for t in places])
    # the target's position in the shorter texts
    moved_up = target - (places < target).long()
    runs = (
        model(input_ids=ids.repeat(T, 1), attention_mask=keep).last_hidden_state[:, target],
        model(input_ids=masked).last_hidden_state[:, target],
        model(input_ids=shorter).last_hidden_state[places, moved_up],
    )
    whole = model(input_ids=ids).last_hidden_state[:, target]
    return {way: 1 - cosine(run, whole, dim=-1) for way, run in zip(WAYS, runs)}

def slope(text: str, target: int) -> Float[Tensor, "T"]:
    """The norm of the gradient of the target's last-layer vector, projected onto a random
    direction, with respect to each input vector."""
    x = model.embeddings(input_ids=tokenizer(text, return_tensors="pt").input_ids).detach()
    x.requires_grad_()
    vector = model.encoder(x).last_hidden_state[0, target]
    direction = torch.randn(len(vector), generator=torch.Generator().manual_seed(0))
    return torch.autograd.grad(vector @ direction, x)[0][0].norm(dim=-1)

@torch.no_grad()
def lengths_of_values(hidden: Float[Tensor, "L+1 T D"]) -> Float[Tensor, "L H 1 T"]:
    """The length of each token's value vector in every head; attention weights multiply these
    vectors."""
    values = [
        trained.attention.self.value(x) for x, trained in zip(hidden, model.encoder.layer)
    ]
    return torch.stack([v.unflatten(-1, (H, -1)).norm(dim=-1).T[:, None] for v in values])

def agreement(guess: Tensor, truth: Tensor) -> float:
    """Spearman's correlation between two lists of scores for the same tokens."""
    return pd.Series(guess.numpy()).rank().corr(pd.Series(truth.numpy()).rank())

# %% [markdown]
# **Predict:** we rank the words of a sentence by the target word's attention to them in the last layer (mean of the heads). We also rank them by how far the
# target's vector moves when each word is hidden. What is the correlation between the two rankings?

# %% tags=["demo"]
predict("inside.explains", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes five to ten seconds.")
cases = []                                                 # one for each sentence
for text, start, (tokens_there, states, a) in zip(some.sentence, some.start, looks):
    offsets = torch.tensor(tokenizer(text, return_offsets_mapping=True)["offset_mapping"])
    target = offsets[:, 0].tolist().index(start, 1)
    places = torch.arange(len(tokens_there))
    others = (places != target) & (places > 0) & (places < len(tokens_there) - 1)
    cases.append({
        "a": a, "target": target, "others": others,
        "moved": {way: moved[others] for way, moved in moved_without(text, target).items()},
        "guesses": {
            "nearness": -(places - target).abs().float(),
            "attention, last layer": a[-1].mean(dim=0)[target],
            "attention, mean of all layers": a.mean(dim=(0, 1))[target],
            "attention × length of value": (a * lengths_of_values(states)).mean(dim=(0, 1))[target],
            "gradient": slope(text, target),
        },
    })
by_way = {way: pd.DataFrame([
    {name: agreement(guess[case["others"]], case["moved"][way])
     for name, guess in case["guesses"].items()}
    for case in cases
]) for way in WAYS}
agreements = by_way[WAYS[0]]
reveal("inside.explains", agreements["attention, last layer"].mean())
inside_attention.explains({name: (agreements[name].mean(), *bootstrap(agreements[name].to_numpy()))
                   for name in agreements}, len(agreements))
display(pd.DataFrame({
    way: {name: "{:.2f} ({:.2f} to {:.2f})".format(found[name].mean(), *bootstrap(found[name].to_numpy()))
          for name in found}
    for way, found in by_way.items()
}).rename_axis("rank correlation with the distance that the target's vector moves", axis=0))
WEIGHTS_ALONE = "attention, mean of all layers"
ahead = {way: {name: bootstrap((found[name] - found[WEIGHTS_ALONE]).to_numpy())
               for name in ("attention × length of value", "gradient")} for way, found in by_way.items()}
display(pd.DataFrame({way: {name: f"{low:+.2f} to {high:+.2f}" for name, (low, high) in rows.items()}
                      for way, rows in ahead.items()}).rename_axis("difference from the mean of all layers, paired by sentence (95 %)", axis=0))
values = [lengths_of_values(states).mean(dim=(0, 1, 2)) for _, states, _ in looks]
at_cls, elsewhere = (np.mean([v[part].mean() for v in values]) for part in (slice(1), slice(1, -1)))
print(f"mean length of a head's value vector: {at_cls:.2f} at [CLS], {elsewhere:.2f} at the words")

# %% [markdown]
# **Where these intervals come from.** A different set of sentences would have given a different mean. To estimate how different, we draw the same number of
# sentences from our set, with replacement, and compute their mean. We repeat this two thousand times. The middle 95 % of these means form the interval. This
# method is called the **bootstrap** (Efron 1979); you will implement it in notebook 12.

# %% tags=["demo"]
from coursekit.pictures import statistics

statistics.resampled(
    agreements["attention, last layer"].to_numpy(), "rank correlation, last layer"
)

# %% [markdown]
# Attention is informative: it ranks words better than their distance from the target does, although the last layer alone ranks them less well than the mean of
# all layers. By this criterion, the best rankings come from attention × length of value and from the gradient, which use more than the weights. The last line
# of the output suggests a reason. The value vector of [CLS] is short, so the token with the most weight contributes less than its weight suggests (Kobayashi et
# al. 2020 showed this for BERT's [SEP]). A weight is a share, not an amount.

# %% [markdown]
# Hiding a word sets its weights to 0, so this criterion may favour measures that are computed from weights. However, leaving the word out of the sentence gives
# nearly the same correlations. If [MASK] replaces the word, attention × length of value and the gradient agree less well with the effect, and neither is
# clearly better than plain attention. None of these experiments shows whether the predicted *sense* would change.

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): each of you names one sentence in which you would trust an attention weight as an explanation, and one in which you would not.
# What would you have to remove from the sentence to find out?

# %% [markdown]
# **Question 1 · What a head view shows.** A colleague shows a head view: in one head of layer 3, *bank* attends to *river* with a weight of 0.8. "So the model uses *river* to decide
# that the bank is a shore." Name three things that you would check before believing this claim, and state what you would measure for each. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "inside-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# First, check whether *river* matters: hide it (or take the gradient) and see whether the vector of *bank*, or the sense found from this vector, changes more
# than when any other word is hidden. Second, check whether this head matters. It is one of dozens that write into the residual stream, and its weight is
# multiplied by a value vector that may be short. Above the first layer, the vector at *river* is already a mixture of several words. Third, check whether the
# example was hand-picked: in how many sentences does this head attend to the cue, compared with other heads, with an untrained model, and with sentences in
# which *bank* has the other sense? With enough heads, one of them will always show the pattern that you hope to see.
#
# *Marking: 2 points for three sound checks of different kinds, each with a measurement (effect of the word; contribution of the head or the value; selection
# and baselines); 1 point for two such checks.*

# %% [markdown]
# ## 8 · Finding the sense
#
# The test is the same as in notebook 01: which sense does the word have in its sentence? We assign it the sense of the training sentence with the most similar
# vector. Seven out of eleven test sentences are *hard*: the cue is far away or occurs only after the word, or there are decoys, which are words that suggest
# the other sense. An example is "At the waterfall my bank card slipped out of my pocket and sank". We score the two groups of words separately and draw
# conclusions about meaning from the nouns.

# %% nbgrader={"grade": false, "grade_id": "inside-disambiguate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def disambiguate(
    train: Float[Tensor, "m D"], train_words: Int[Tensor, "m"], train_senses: Int[Tensor, "m"],
    test: Float[Tensor, "n D"], test_words: Int[Tensor, "n"],
) -> Int[Tensor, "n"]:
    """For each test vector, the sense of its nearest neighbour of the same word.
    (difficulty ●●○, 8 minutes)

    The nearest neighbour is the vector with the largest cosine. Only training vectors of the
    same word are compared; every test word has at least one.
    """
    ### BEGIN SOLUTION
    unit = torch.nn.functional.normalize
    cosines = unit(test, dim=-1) @ unit(train, dim=-1).T
    cosines = cosines.masked_fill(test_words[:, None] != train_words, -torch.inf)
    return train_senses[cosines.argmax(dim=1)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-disambiguate-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("inside.disambiguate", lambda case: disambiguate(**case))

# %% [markdown]
# A layer chosen on the test sentences would look better than it is. We therefore choose the layer on the training sentences, each of which gets the sense of
# its nearest neighbour. The baselines are recorded (`python -m experiments senses`): the majority sense; a **bag of words** (GloVe vectors, with rare words
# weighted more); **near words** (a bag of words in which nearby words are weighted more); and a **window of two**, a logistic regression on two words on each
# side. Since this regression is *trained*, unlike a nearest neighbour, we also record a linear probe on MiniLM's vectors (triangle).
#
# **Predict:** for what share of the nouns' *hard* test sentences does the nearest neighbour, at the chosen layer, have the correct sense?

# %% tags=["demo"]
predict("inside.hard", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.occurrences import accuracy_over_words

def right(vectors: Float[Tensor, "n D"], known: Tensor, asked: Tensor) -> Tensor:
    """For each sentence in `asked`, whether the correct sense is found from the sentences in `known`."""
    guess = disambiguate(
        vectors[known], words[known], sense_ids[known], vectors[asked], words[asked]
    )
    return guess == sense_ids[asked]

number = senses.groupby(["word", "split"]).cumcount()                        # of a sentence, within its word and split
number = torch.tensor(number.to_numpy().copy())
within_train = [
    torch.cat([right(uses[:, one], train_rows & (number != n), train_rows & (number == n))
               for n in range(number[train_rows].max() + 1)]).float().mean().item()
    for one in range(L + 1)
]
chosen = int(np.argmax(within_train))
found = torch.stack([right(uses[:, one], train_rows, test_rows) for one in range(L + 1)])    # L+1 n
asked = senses[test_rows.numpy()].reset_index(drop=True)
HALVES = {"all nouns": "same", "another part of speech": "another"}

exam = {}
for half, parts_of_speech in HALVES.items():
    for kind in ("plain", "hard"):
        of_kind = (asked.kind == "plain") == (kind == "plain")
        mask = ((asked.parts_of_speech == parts_of_speech) & of_kind).to_numpy()
        exam[half, kind] = [accuracy_over_words(answers.numpy()[mask], asked.word[mask]) for answers in found]

recorded = read_table("results/senses.csv")
reveal("inside.hard", exam["all nouns", "hard"][chosen][0])
pictures.exam(exam, recorded, chosen, loaded.name)
controls_of = tables.without_probes(recorded)
print(f"Layer {chosen} was chosen on the training sentences.")
falls = {}
for half in HALVES:
    hard, control_of = exam[half, "hard"], controls_of.value[half]
    rows_hard = ((asked.parts_of_speech == HALVES[half]) & (asked.kind != "plain")).to_numpy()
    fall = (found[chosen].float() - found[L].float()).numpy()[rows_hard]
    falls[half] = accuracy_over_words(fall, asked.word[rows_hard])
    print(f"{half}, hard: layer {chosen} {hard[chosen][0]:.3f}, last layer {hard[L][0]:.3f}"
          " (difference {:+.3f}, {:+.3f} to {:+.3f}),".format(*falls[half]),
          *(f"{name} {control_of[name, 'hard']:.3f}," for name in ("window of two", "near words")),
          f"bag {control_of['bag', 'hard']:.3f}")

# %% [markdown]
# Layer 0 stays at the majority baseline, because it encodes the position but not the neighbouring words. Above layer 0, the accuracy rises. For nouns in plain
# sentences, it stays high up to the last layer. For nouns in hard sentences, it falls again at the last layer, although the gap in part 4 was largest there;
# this layer was tuned for whole sentences. A layer before the last has also been found to be better for other tasks (Liu, N. F. et al. 2019a).

# %% [markdown]
# If the senses of a word differ in part of speech, the nearest neighbour finds nearly all of them. For nouns, it finds four out of five in plain sentences and
# two out of three in hard sentences. An average over both groups would mainly reflect how many of the words have senses that differ in part of speech.

# %% [markdown]
# The next table shows the results for each kind of sentence and for both classifiers. One additional row helps us to interpret them: it shows the same layer of
# the same model when the model reads only the five words of the window (also recorded). The last rows of each group are differences.

# %% tags=["demo"]
tables.senses_by_kind(found[chosen].numpy(), asked, recorded, HALVES, chosen)

# %% [markdown]
# **With the same kind of classifier, the contextual embedding beats the window of two**: on nouns, the probe on MiniLM's vectors is ten points ahead (95 %
# interval 5 to 14). The lead comes from plain sentences and from sentences with a distant cue (far); on all hard sentences together, there is no clear lead.
# With the nearest neighbour, the lead is five points, and a bag of words does as well on far sentences.

# %% [markdown]
# **Decoys may be an exception.** On sentences with decoys, the window and near words are ahead of MiniLM's vectors with either classifier, although this
# difference may be noise. Yet the model can use the cue: from the five words of the window alone, it clearly finds more of these senses than from the whole
# sentence. The remaining words suggest the wrong sense. When the senses differ in part of speech, decoys do no harm.

# %% tags=["demo"]
tables.found_and_missed(uses[:, chosen], senses, words, asked, found[chosen].numpy())

# %% tags=["demo"]
centred = uses[:, chosen] - uses[known_nouns, chosen].mean(dim=0)         # as in part 5
after = right(centred, known_nouns, asked_nouns)
before = found[chosen][nouns[test_rows]]
tables.centred_or_not(before, after, asked.word[asked.parts_of_speech == "same"])

# %% [markdown]
# Centring changed all cosines but hardly any nearest neighbours. A nearest neighbour depends only on the order of the cosines, and removing the direction that
# all vectors share shifts all cosines together.

# %% [markdown]
# **Question 2 · A cosine without a scale.** Someone reports: "In our model, *bank* (river) and *bank* (money) have a cosine of 0.80, so it hardly distinguishes the two senses." What is
# wrong with this conclusion, and which numbers from this notebook would you report together with the 0.80? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "inside-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A cosine has no meaning without a scale: random words may have a cosine of 0.6 in one model and 0.04 in another, and two uses of one sense do not reach 1
# either. The question is whether uses of one sense are closer to each other than uses of two senses, and this gap may be small and still reliable. The mean gap
# in MiniLM is below 0.1 at every layer, and yet the nearest neighbour has the correct sense in seven of ten test sentences of words whose senses are all nouns.
# Layer 0, with cosines of 0.94, is at chance level, about one half. The 0.80 should therefore be reported together with the mean cosine within one sense, the
# mean cosine of random pairs, the layer, and an accuracy on held-out sentences with its baseline.
#
# *Marking: 1 point for the missing scale (anisotropy, same-sense and random pairs); 1 point for a test of the distinction itself, such as accuracy by layer compared with the majority, a bag of words or a window of two words on each side.*

# %% [markdown]
# ## Further: sentences that other people wrote
#
# We wrote the sentences of parts 4 and 8 for this course. Do the results hold for other sentences? We measured MiniLM on two public corpora:
#
# - **Brown** (Francis and Kučera 1964), American texts of 1961 in which each word is tagged with its part of speech. We use 130 words that occur with two parts of
#   speech, such as *play* and *light*, equally often with both. A linear probe (see the last extension) chooses between the two in documents that were not used
#   for training, either for the *same words* or for *unseen words*.
# - **WordNet** (Miller 1995), a dictionary that gives example sentences for many senses. We use 853 nouns and verbs.

# %% [markdown]
# Half of these 853 words have at most five examples, too few for a nearest neighbour, so we compare pairs. The **AUC** is the proportion of comparisons in which
# two examples of one sense have a larger cosine than two examples of different senses of the same word. Chance is 0.5.
#
# The results are recorded: `python -m experiments inside_corpora` reads both corpora from npm packages, checks their sha256, and takes five minutes.
#
# **Predict:** what is the AUC on WordNet's examples, at the layer chosen in part 8?

# %% tags=["demo"]
predict("inside.wordnet", ...)

# %% tags=["demo"]
from coursekit.other_corpora import aucs_by_word, recorded as recorded_corpora

by_others, ours = recorded_corpora(), aucs_by_word(uses[nouns], senses[nouns.numpy()])
reveal("inside.wordnet", by_others.wordnet.loc["all", f"layer {chosen}"].mean())
inside_corpora.by_layer(by_others, ours)

# %% [markdown]
# **Parts of speech are clearest in the middle layers.** At layer 3, the probe is correct for 93 % of the occurrences of words that it knows and for 87 % with
# unseen words. It is 12 and 10 points ahead of the window of two (95 % intervals 11 to 14 and 8 to 11). Layer 0 is close to chance level, and at the last layer, the
# accuracy on unseen words falls to that of the window. The best layer is thus below the layer chosen for senses in part 8.

# %% [markdown]
# **The context separates WordNet's senses about as well as ours**: from layer 0 to the chosen layer, the AUC rises by 10 points on WordNet's examples and by 11 on ours.
# The AUC itself is higher on WordNet's, 0.67 compared with 0.61, because it begins at 0.57. Layer 0 depends only on a word's form and position, so
# WordNet's examples of one sense are more alike in these; in our sentences, form and position reveal nothing. **A measure of meaning needs layer 0 as a baseline.**
#
# MiniLM is five points ahead of a bag of words (95 % interval 2 to 8). Senses of different fields, such as *act* and *food*, are easier than those of the same
# field, by four points. From layer 3 upwards, no two layers differ clearly.

# %% [markdown]
# ## Further: three models of the same novels, layer by layer
#
# MiniLM was trained on billions of words. For this course, we trained three models of 5 to 7 million parameters on one corpus, 82 English novels from 1839 to
# 1927: **ELMo** ([card](../../data/models/novels_elmo.md)), **BERT** ([card](../../data/models/novels_bert.md)) and **GPT**
# ([card](../../data/models/novels_gpt.md)). Each was trained only once. We test every layer from 0 upwards with *your* functions: `mended_words` and
# `word_vectors` extract a word's vector from BERT and GPT (ELMo reads whole words, character by character), and `disambiguate` finds its sense.

# %% [markdown]
# The words are 26 of the 30 nouns, and *state* from `data/senses/novels.csv`. *Mole* and *tank* are left out because they are too rare in
# the novels. Senses that arose later are also left out: the computer *mouse*, the traffic *jam* and the *cell* phone.
#
# The baselines are chance, a bag of words and near words (both with skip-gram vectors trained on the same novels and a nearest-neighbour classifier), and the
# window of two (a trained classifier). The bottom row of the figure shows the models from notebooks 05 to 07 and MiniLM on the generated language.
#
# **Predict:** in sentences where every cue comes *after* the word, what share of the senses does GPT find, at the layer chosen on the training sentences?
# Chance is 0.48.

# %% tags=["demo"]
predict("inside.novels", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.novels.ambiguous_nouns import OF_NOVELS, AmbiguousNouns, NovelModels, senses_by_layer

print("This takes about ten seconds.")
novels = NovelModels(mended_words, word_vectors)
novel_nouns = AmbiguousNouns.known_to(novels.spelling.words, senses)

layered = {name: novels.vectors(name, novel_nouns.table.sentence.tolist(), novel_nouns.table.start.tolist()) for name in OF_NOVELS}
added = novel_nouns.table[len(novel_nouns.rows_of_senses):]
layered[loaded.name] = torch.cat([uses[novel_nouns.rows_of_senses], vectors_of(added.sentence.tolist(), added.start.tolist())])
in_novels = senses_by_layer(novel_nouns, layered, novels.spelling.split, disambiguate)
reveal("inside.novels", in_novels.chosen["GPT"][in_novels.cue_later].mean())

# %% tags=["demo"]
print("This takes a few seconds.")
inside_novels.layer_by_layer(in_novels, inside_novels.generated_by_layer(loaded.name))

# %% [markdown]
# Layer 0 is at chance level in all four models, because it encodes only the word and, in BERT, GPT and MiniLM, its position. **From layer 1 on, every model
# separates senses.** In MiniLM, the chosen layer is clearly better than layer 1. In the three models trained on the novels, layer 1 already suffices: it is the
# chosen layer of ELMo and GPT, and BERT's layer 2 is not clearly better. On the generated language, layer 1 also suffices when *words* determine the sense. When word *order* determines the sense, BERT and GPT have higher means at layer 2. Our English
# sentences were not written to depend on order.

# %% [markdown]
# What did 36 to 68 minutes of training achieve? ELMo and BERT find more senses than a bag of words, although the intervals of these differences begin near 0.
# None of the three differs clearly from near words or from the window of two. MiniLM, which was trained on far more text, is ahead of all three baselines.
#
# If every cue comes after the word, GPT should be at chance level, as it is on the generated language. In the novels' GPT, however, the accuracy is above chance.
# The preceding words alone, without any model, also predict the sense better than chance, even though we wrote these sentences so that only the later words
# reveal it (see also notebook 12).

# %% [markdown]
# **Senses for free.** Novels come without sense labels. However, if we merge two words, so that *silver* and *gold* both become *silver|gold*, the sense is
# known at every occurrence (a **pseudo-word**; Gale, Church and Yarowsky 1992; Schütze 1998; see also 01). We trained a small ELMo, BERT and GPT (two or
# three layers of width 128, three seeds each) on novels with 68 such words. At 3,968 positions in books by held-out authors, a linear classifier for each word
# predicts its sense from the vector of each layer. The model reads up to 40 words on both sides, or on one side only (the other side is cut off, as in notebook
# 06).

# %% [markdown]
# **Predict:** what share of the senses does the small BERT find at its last layer when it reads both sides? The window of two finds 0.83.

# %% tags=["demo"]
predict("inside.pseudo_words", ...)

# %% tags=["demo"]
from coursekit.novels.pseudo_word_results import recorded as recorded_pseudo_words

pseudo_words = recorded_pseudo_words()
reveal("inside.pseudo_words", pseudo_words.by_layer["BERT"]["both"][-1][0])
inside_novels.pseudo_words(pseudo_words)

# %% [markdown]
# Layer 0 is at chance level, whereas every layer above it separates the senses. In BERT and GPT, **the last layer finds more senses than layer 1**; in ELMo,
# these two layers do not differ clearly. (ELMo's learned mix of layers, as in 05, puts nearly all its weight on layer 2 and gains nothing.) ELMo and BERT find
# more senses from the left context than from the right, and are ahead of GPT even when all three models read only the left context.

# %% [markdown]
# 5-grams and the window of two are ahead of all three models; the bag of words is ahead of BERT and GPT. The conditions are not equal: GPT was trained for
# 1,000 steps, ELMo for 2,000 and BERT for 4,000 (ten minutes on one core each). The baselines use every position in the training books, whereas the models'
# classifiers use only 200 for each word.

# %% [markdown]
# ## 9 · What came after BERT
#
# Each of three successors of BERT addressed one question. **DistilBERT** (Sanh et al. 2019): can a smaller model learn from the outputs of a larger one
# (**distillation**)? **RoBERTa** (Liu et al. 2019b): how good is BERT if it is simply trained longer and better? **DeBERTa** (He et al. 2021): should the
# position be added to the word at all? On PyTorch's meta device, we can count the parameters of these models without loading any weights.

# %% tags=["demo"]
from coursekit.successors import table_of_successors

display(table_of_successors())

# %% [markdown]
# **The same with a library.** `AutoConfig` reads the shape of a model from its files, without its weights. Here, it reads the files of the encoder that comes
# with this course.

# %% tags=["demo"]
from transformers import AutoConfig

from coursekit.models.catalogue import MINILM

shape = AutoConfig.from_pretrained(MINILM.package.folder())
print(
    f"{type(shape).__name__}: {shape.num_hidden_layers} layers, "
    f"{shape.num_attention_heads} heads, D = {shape.hidden_size}, "
    f"activation {shape.hidden_act}, ε = {shape.layer_norm_eps:g}"
)

# %% [markdown]
# DistilBERT halves the number of layers, keeps the embedding tables and drops the segments and the pooler. RoBERTa changes hardly any tensor: it has a larger
# table (of subwords built from bytes, so no [UNK] is needed) and is trained better, without next-sentence prediction. DeBERTa removes the position from the
# input and uses it in every layer instead. Each attention score is the sum of three terms (content to content, content to *relative* position, and position to
# content), with separate vectors for the positions. Layer 0 of DeBERTa is therefore f(w) again (compare part 3).

# %% [markdown]
# Later models changed more. **ELECTRA** (Clark et al. 2020) lets a small generator replace words and trains the encoder to detect them, so that the loss covers
# every token, not only 15 %. **T5** (Raffel et al. 2020) is an encoder–decoder that casts every task as text-to-text. **ModernBERT** (Warner et al. 2024)
# brings ideas from today's decoders (13) to the encoder: rotary positions, gated feed-forward layers, mostly local attention, and a context of 8,192 tokens.

# %% [markdown]
# ## 10 · Scoreboard
#
# Finally, we test the pre-trained model on the senses of our generated language, whose sentences it has never seen. Because the test takes minutes, we recorded
# the answers of all-MiniLM-L6-v2 (`python -m experiments one_corpus`; layer 0: `python -m experiments sense_exam`). As in part 8, the layer was chosen on the
# labelled sentences, each compared with all the others. Notebook 12 shows the same answers item by item.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import Accuracy
from coursekit.scoreboard import add_row, draw as draw_scoreboard

taken = read_table("results/sense_exam.csv").set_index("layer")
answered = read_table("results/one_corpus.csv").query("exam == 'generated' and model == 'all-MiniLM-L6-v2'")
minilm, minilm_layer = answered.groupby("part").right.mean(), answered.layer.iloc[0]
unread = Accuracy(**taken.loc[0, minilm.index])
add_row("MiniLM, layer 0", unread, note="baseline")
add_row("MiniLM, pre-trained", Accuracy(**minilm), note="on English")
draw_scoreboard()

# %% [markdown]
# The small models of notebooks 04 to 07 were trained on this language, which MiniLM has never seen. MiniLM reads both sides of a word, so with
# the cue on the right it is close to BERT and far above GPT. When word *order* decides, it is barely above one half, the best possible accuracy without word
# order. BERT, fifty times smaller, is far above one half. MiniLM's vector thus shows which words occur in the sentence, but hardly who did what to whom. (The
# vector may contain the sense even if the nearest neighbour misses it, because the topic affects the vector more strongly than the sense does.) Layer 0 has not seen the other words and
# stays at the majority baseline.

# %% [markdown]
# ## Extension: rollout
#
# Above layer 1, tokens attend to mixtures of words. Abnar and Zuidema (2020) undo this mixing by **attention rollout**: they average the heads, assume that
# half of each token's vector comes from the residual stream, and multiply the matrices of the layers. Each row of the result shows from which *input* tokens a
# vector would come if only the weights mattered. This exercise earns extra credit.

# %% nbgrader={"grade": false, "grade_id": "inside-attention_rollout", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_rollout(attention: Float[Tensor, "L H T T"]) -> Float[Tensor, "T T"]:
    """The share of each input token in each token of the last layer.
    (extension, ●●○, 8 minutes)

    In each layer, take the mean over heads and add half of it to half of the identity. Row i
    of the result belongs to token i after the last layer, and column j belongs to token j
    before the first layer. Rows sum to 1.
    """
    ### BEGIN SOLUTION
    share = torch.eye(attention.shape[-1])
    for layer in attention.mean(dim=1):
        share = (layer + torch.eye(len(layer))) / 2 @ share
    return share
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "inside-attention_rollout-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("inside.attention_rollout", lambda case: attention_rollout(case["attention"]))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def without_sink(a: Float[Tensor, "L H T T"]) -> Float[Tensor, "L H T T"]:
    """Attention among the words: 0 for [CLS] and [SEP], rows rescaled to sum to 1."""
    a = a.clone()
    a[..., [0, -1]] = 0
    return a / a.sum(dim=-1, keepdim=True)

def agreement_of_rollout(case: dict, a: Float[Tensor, "L H T T"]) -> float:
    return agreement(attention_rollout(a)[case["target"]][case["others"]], case["moved"][WAYS[0]])

both = agreements.assign(**{
    "rollout": [agreement_of_rollout(case, case["a"]) for case in cases],
    "rollout without [CLS], [SEP]": [agreement_of_rollout(case, without_sink(case["a"]))
                                     for case in cases],
})
inside_attention.explains({name: (both[name].mean(), *bootstrap(both[name].to_numpy()))
                   for name in both}, len(both))

# %% [markdown]
# > **Checking the literature.** Abnar and Zuidema found that rollout agrees better with other measures of importance than raw attention does. In MiniLM, the
# > correlation of rollout with the effect of hiding a word is about 0. About half of all weight goes to [CLS], whose value vectors are short, and rollout
# > multiplies weights as if they were amounts. Without the two special tokens, rollout does rank words, but no better than the last layer's attention does. The
# > authors' tasks and models were different, so a method has to be tested on the model to which it is applied.

# %% [markdown]
# ## Extension: a probe and its control
#
# A **probe** is a small model that predicts a property from frozen vectors. If the probe succeeds, the property can be read from the vectors. However, a probe
# can also *memorise* a task. Hewitt and Liang (2019) therefore also train the probe on a **control task**, in which every word type gets a random label.
# Nothing in the language determines these labels, so the probe can predict them only if it has memorised them. The *selectivity* of a probe is its accuracy
# minus its control accuracy.

# %% nbgrader={"grade": false, "grade_id": "inside-probe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def probe(
    train: Float[Tensor, "m D"], labels: Int[Tensor, "m"],
    test: Float[Tensor, "n D"], ridge: float,
) -> Float[Tensor, "n K"]:
    """Scores of a linear probe, fitted by ridge regression.  (extension, ●●●, 12 minutes)

    The labels are 0 to K − 1, and each occurs; the targets are their one-hot vectors. Centre
    inputs and targets with their means over train. W minimises |x W − y|² + ridge · |W|²,
    where the first term is summed over train. The scores are the centred test vector times W,
    plus the mean target.
    """
    ### BEGIN SOLUTION
    targets = torch.nn.functional.one_hot(labels).to(train.dtype)
    x, y = train - train.mean(dim=0), targets - targets.mean(dim=0)
    W = torch.linalg.solve(x.T @ x + ridge * torch.eye(x.shape[1]), x.T @ y)
    return (test - train.mean(dim=0)) @ W + targets.mean(dim=0)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "inside-probe-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("inside.probe", lambda case: probe(**case))

# %% [markdown]
# The property is whether the word is a noun in its sentence (the tool *saw* is a noun; *saw*, the past tense of *see*, is not). Words whose senses are all
# nouns are of no use, because the word alone gives the answer. We therefore use the other group, 13 words (*left* is excluded because it is hard to label). As
# a control, each word gets a random label. A second, stricter control tests the probe on words that it has not seen in training.
#
# **Predict:** what accuracy does the probe reach on the *control* labels, at the layer chosen in part 8?

# %% tags=["demo"]
predict("inside.control", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import half_width

NOT_NOUNS = {"endure", "present", "just", "good", "gentle", "weight", "agree", "possessive", "rise",
             "see", "ordinal", "look", "manner"}
clear = torch.tensor((senses.word != "left").to_numpy().copy()) & ~nouns
noun = torch.tensor([int(sense not in NOT_NOUNS) for sense in senses.sense])
kinds = words[clear].unique()

def accuracy(layer: int, labels: Tensor, known: Tensor, asked: Tensor) -> float:
    scores = probe(uses[known, layer], labels[known], uses[asked, layer], ridge=100.0)
    return (scores.argmax(dim=1) == labels[asked]).float().mean().item()

NAMES = ("noun", "control labels", "noun, unseen words", "majority of those")
probed = {name: [] for name in NAMES}
for one in range(L + 1):
    values = {name: [] for name in probed}
    for seed in range(5):
        order = torch.randperm(len(kinds), generator=torch.Generator().manual_seed(seed))
        by_lot = torch.zeros(len(words), dtype=torch.long)
        by_lot[torch.isin(words, kinds[order[::2]])] = 1
        met = clear & torch.isin(words, kinds[order[::2]])
        known, asked_for = clear & train_rows, clear & test_rows
        values["noun"].append(accuracy(one, noun, known, asked_for))
        values["control labels"].append(accuracy(one, by_lot, known, asked_for))
        values["noun, unseen words"].append(accuracy(one, noun, met, clear & ~met))
        values["majority of those"].append(noun[clear & ~met].float().mean().item())
    for name in probed:
        probed[name].append((np.mean(values[name]), half_width(values[name])))
reveal("inside.control", probed["control labels"][chosen][0])
pictures.probes(probed)

# %% [markdown]
# From layer 2 on, the probe predicts *noun* with few errors, but it predicts the random labels even better, so its selectivity is below 0. High accuracy alone
# therefore does not show that *noun* is encoded as such: the vectors encode the word, and 13 words are easily memorised. The third curve settles the question.
# On unseen words, layer 0 only reaches the majority baseline, whereas the middle layers are far above it. In these layers, *noun* is a direction that words
# share.

# %% [markdown]
# ## Summary
#
# - Find a word's subwords by their character positions.
# - A table row, layer 0 and GloVe are three kinds of static embedding.
# - A cosine needs two baselines at the same layer: same-sense pairs and random pairs.
# - Choose the layer on training data. Here, layer 5 of 6 is best; in three small models, layer 1 already separates senses.
# - On other people's sentences, the context adds as much to layer 0.
# - For nouns, a probe on MiniLM's vectors beats a classifier that sees two words on each side, except on decoys.
# - An attention weight is a share, not an amount. To test whether a word matters, hide it. (Notebook 15 changes parts inside the model.)
# - Report accuracy on control labels, too.
#
# **Next**: notebook 09 changes the weights.

# %% [markdown]
# ## References
#
# - Abnar, S. and Zuidema, W. (2020). Quantifying attention flow in transformers. *ACL*. arXiv:2005.00928.
# - Clark, K., Khandelwal, U., Levy, O. and Manning, C. D. (2019). What does BERT look at? An analysis of BERT's attention. *BlackboxNLP*. arXiv:1906.04341.
# - Clark, K., Luong, M.-T., Le, Q. V. and Manning, C. D. (2020). ELECTRA: pre-training text encoders as discriminators rather than generators. *ICLR*. arXiv:2003.10555.
# - Devlin, J., Chang, M.-W., Lee, K. and Toutanova, K. (2019). BERT: pre-training of deep bidirectional transformers for language understanding. *NAACL*. arXiv:1810.04805.
# - Efron, B. (1979). Bootstrap methods: another look at the jackknife. *Annals of Statistics* 7(1), 1–26.
# - Ethayarajh, K. (2019). How contextual are contextualized word representations? Comparing the geometry of BERT, ELMo, and GPT-2 embeddings. *EMNLP*. arXiv:1909.00512.
# - flair (2020). GH-1492: added new BERT embeddings implementation, and its review. github.com/flairNLP/flair/pull/1494.
# - Francis, W. N. and Kučera, H. (1964). *A standard corpus of present-day edited American English, for use with digital computers*. Brown University.
# - Gale, W. A., Church, K. W. and Yarowsky, D. (1992). Work on statistical methods for word sense disambiguation. *AAAI Fall Symposium on Probabilistic Approaches to Natural Language*, 54–60.
# - He, P., Liu, X., Gao, J. and Chen, W. (2021). DeBERTa: decoding-enhanced BERT with disentangled attention. *ICLR*. arXiv:2006.03654.
# - Hewitt, J. and Liang, P. (2019). Designing and interpreting probes with control tasks. *EMNLP*. arXiv:1909.03368.
# - Jain, S. and Wallace, B. C. (2019). Attention is not explanation. *NAACL*. arXiv:1902.10186.
# - Kobayashi, G., Kuribayashi, T., Yokoi, S. and Inui, K. (2020). Attention is not only a weight: analyzing transformers with vector norms. *EMNLP*. arXiv:2004.10102.
# - Liu, N. F., Gardner, M., Belinkov, Y., Peters, M. E. and Smith, N. A. (2019a). Linguistic knowledge and transferability of contextual representations. *NAACL*. arXiv:1903.08855.
# - Liu, Y. et al. (2019b). RoBERTa: a robustly optimized BERT pretraining approach. arXiv:1907.11692.
# - McCormick, C. and Ryan, N. (2019). BERT word embeddings tutorial. mccormickml.com.
# - Miller, G. A. (1995). WordNet: a lexical database for English. *Communications of the ACM* 38(11), 39–41.
# - Raffel, C. et al. (2020). Exploring the limits of transfer learning with a unified text-to-text transformer. *JMLR* 21(140), 1–67. arXiv:1910.10683.
# - Reimers, N. and Gurevych, I. (2019). Sentence-BERT: sentence embeddings using siamese BERT-networks. *EMNLP*. arXiv:1908.10084.
# - Sanh, V., Debut, L., Chaumond, J. and Wolf, T. (2019). DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter. arXiv:1910.01108.
# - Schütze, H. (1998). Automatic word sense discrimination. *Computational Linguistics* 24(1), 97–123.
# - Sun, M., Chen, X., Kolter, J. Z. and Liu, Z. (2024). Massive activations in large language models. *COLM*. arXiv:2402.17762.
# - Timkey, W. and van Schijndel, M. (2021). All bark and no bite: rogue dimensions in transformer language models obscure representational quality. *EMNLP*. arXiv:2109.04404.
# - Vig, J. (2019). A multiscale visualization of attention in the transformer model. *ACL, system demonstrations*. arXiv:1906.05714.
# - Wang, W. et al. (2020). MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained transformers. *NeurIPS* 33. arXiv:2002.10957.
# - Warner, B. et al. (2024). Smarter, better, faster, longer: a modern bidirectional encoder for fast, memory efficient, and long context finetuning and inference. arXiv:2412.13663.
# - Wiegreffe, S. and Pinter, Y. (2019). Attention is not not explanation. *EMNLP*. arXiv:1908.04626.
# - Xiao, G., Tian, Y., Chen, B., Han, S. and Lewis, M. (2024). Efficient streaming language models with attention sinks. *ICLR*. arXiv:2309.17453.

# %% [markdown]
# Next: [09 · Fine-tuning](../09_fine_tuning/09_fine_tuning.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
from coursekit import predictions

predictions()
