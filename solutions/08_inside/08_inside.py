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
# So far we built models and trained small ones. Now we open one that others trained on billions of words. Nothing in it is labelled: it gives tensors, layer by layer. We take a
# word's contextual embedding out of every layer, ask which layer knows its sense, and look at what the word attends to. Of every number we ask what it would be for words that have
# nothing in common.
#
# **You need** notebooks 06 and 07. **Time** about 65 minutes without what goes *further*: five exercises, a bug to find, two questions that a person reads. Three models of
# novels and three exercises on causes go further; there are two extensions.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [07 · GPT](../07_gpt/07_gpt.ipynb) · next: [09 · Fine-tuning](../09_fine_tuning/09_fine_tuning.ipynb)

# %% [markdown]
# **Afterwards you can**
#
# - get the vector of a *word*, not of a piece, at every layer of a pre-trained model;
# - say how similar two uses of a word are, above what any two words are;
# - read attention with bertviz, and say what it does not explain;
# - tell senses apart with vectors from inside, on sentences that mislead a bag of words, and say what of it is grammar;
# - *further:* compare models of one text layer by layer;
# - *further:* find causes by changing what is inside: the logit lens, a head taken away, a vector exchanged.

# %%
import torch
from jaxtyping import Float, Int
from torch import Tensor

from coursekit import check, hint, predict, reveal

# %% [markdown]
# ## 1 · Load, tokenise, embed
#
# We use all-MiniLM-L6-v2, a small BERT that comes with the course. It was distilled from larger models
# (Wang et al. 2020) and then tuned so that similar *sentences* get similar vectors (as in Reimers and Gurevych 2019; notebook 11). With a network you can run this notebook on
# bert-base-uncased (Devlin et al. 2019) instead: replace the call below by `load("bert-base-uncased", attentions=True, from_hub=True)`. Both
# models tokenise text into the same 30,522 subwords.

# %% tags=["demo"]
import re

import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from coursekit.datasets import read_table
from coursekit.models import load
from coursekit.pictures import inside as pictures
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
# **Predict:** the first sentence has nine words. How many vectors does each layer give for it?

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
# One sentence, 11 tokens, D numbers for each: bert-base-uncased prints `[1, 11, 768]`, MiniLM 384 in the last place. Why 11? Each of the nine words is one piece of the vocabulary,
# and [CLS] and [SEP] stand around them. There is one hidden state more than layers: **layer 0** is what enters the first layer. Each layer adds its part to a token's vector, the
# **residual stream** (03); BERT, being post-norm, also normalises it. The attentions are one matrix of 11 × 11 for each head of each layer.

# %% [markdown]
# ## 2 · A word's vector
#
# A rarer word is several subwords, or pieces, and then it has several vectors. Two customs: take the first piece, or the mean of all. We take the mean. If you get stuck in an
# exercise: `hint("inside.word_vectors")`, in a cell of your own, asks a question first and then says more.

# %% nbgrader={"grade": false, "grade_id": "inside-word_vectors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def word_vectors(
    hidden: Float[Tensor, "L+1 T D"], word_ids: Int[Tensor, "T"], i: int
) -> Float[Tensor, "L+1 D"]:
    """The vector of word i at every layer: the mean of its pieces.  (difficulty ●○○, 4 minutes)

    word_ids says for each token of which word it is a piece; −1 at [CLS], [SEP] and whatever else
    belongs to no word. Word i has at least one piece.
    """
    ### BEGIN SOLUTION
    return hidden[:, word_ids == i].mean(dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-word_vectors-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("inside.word_vectors", lambda case: word_vectors(case["hidden"], case["word_ids"], case["i"]))

# %% [markdown]
# Which token belongs to which word? A word that continues has ##, so one could count. A change to the library Flair, proposed in March 2020, found the words in this way, and a reviewer answered
# with an example that breaks it (flair, pull request 1494). In short it did this. *Find the bug:* what does it make of the example?

# %%
def words_by_hash(pieces: list[str]) -> list[int]:         # pieces without [CLS] and [SEP]
    word_ids, word = [], -1
    for piece in pieces:
        if not piece.startswith("##"):
            word += 1                                      # a piece without ## begins a new word
        word_ids.append(word)
    return word_ids

# %% tags=["demo"]
EXAMPLE = "JAKARTATown 1996-08-27"                         # two words, says the text
pieces = tokenizer.tokenize(EXAMPLE)
display(pd.DataFrame({"piece": pieces, "word, by ##": words_by_hash(pieces)}).T)
given = tokenizer(EXAMPLE, return_offsets_mapping=True)
print("where each token stands in the text:", given["offset_mapping"])

# %% [markdown]
# BERT cuts at every punctuation mark before it looks for pieces, and such cuts leave no ##. What is certain is where a piece stands: the tokenizer says from which character to which. Mend it with that.

# %% nbgrader={"grade": false, "grade_id": "inside-mended_words", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_words(pieces: Int[Tensor, "T 2"], words: Int[Tensor, "W 2"]) -> Int[Tensor, "T"]:
    """The number of the word each token is a piece of, −1 for none.  (difficulty ●●○, 8 minutes)

    Each row is (begin, end): characters begin to end − 1 of the text. A piece belongs to the word
    inside which it lies; none lies across an end of a word. Special tokens and padding have the empty
    span (0, 0) and belong to none, like pieces that lie between words. Words stand in order and do
    not overlap, but one may begin where the last one ends, and one may have no piece at all.
    """
    ### BEGIN SOLUTION
    begin, end = pieces[:, :1], pieces[:, 1:]
    inside = (begin >= words[:, 0]) & (end <= words[:, 1]) & (begin < end)     # T W
    return torch.where(inside.any(dim=1), inside.int().argmax(dim=1), -1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-mended_words-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.mended_words", lambda case: mended_words(case["pieces"], case["words"]))

# %% [markdown]
# Does it matter? The course has 2,325 sentences, each with one ambiguous word (`data/senses`). In how many would counting by `##` hand us the vector of a neighbour?

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def spans_of_words(text: str) -> Int[Tensor, "W 2"]:
    """Where the words of a text stand; punctuation belongs to none."""
    return torch.tensor([match.span() for match in re.finditer(r"\w+(?:'\w+)?", text)])

def number_of_word(text: str, start: int) -> int:
    """Which word begins at character `start`."""
    return spans_of_words(text)[:, 0].tolist().index(start)

senses = read_table("senses/senses.csv")
wrong = {"by ##": 0, "by characters": 0}
for text, start in zip(senses.sentence, senses.start):
    given = tokenizer(text, return_offsets_mapping=True)
    offsets = torch.tensor(given["offset_mapping"])
    here, i = offsets[:, 0].tolist().index(start, 1), number_of_word(text, start)
    counted = [-1, *words_by_hash(given.tokens()[1:-1]), -1]
    wrong["by ##"] += counted[here] != i
    wrong["by characters"] += mended_words(offsets, spans_of_words(text))[here].item() != i
for name, count in wrong.items():
    share = count / len(senses)
    print(f"{name:<14} another word in {count} of {len(senses)} sentences ({share:.0%})")

# %% [markdown]
# A comma before the word is enough. No error is raised, every shape is right, and the vector is that of a neighbour. So print the tokens that you average, always.

# %% [markdown]
# ## 3 · Three vectors called static
#
# In 01 a word had one vector, its static embedding. Three things in use today go by the name "static", and they are not the same:
#
# - a **row of the embedding table** of this model: f(w), learned with everything above it;
# - **layer 0**: this row, plus vectors for the position and the segment, normalised. It depends on the word and its *place*;
# - a **GloVe** vector: f(w) from counts of neighbours, in a space of its own.
#
# A cosine means little without its control, pairs of words drawn at random *in the same space*.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.vectors import load_glove

glove = load_glove()
vocabulary = tokenizer.get_vocab()
common = [word for word in glove.words[200:8000]
          if word in vocabulary and word.isalpha() and len(word) > 2]

@torch.no_grad()
def three_vectors(words: list[str], place: int = 1) -> dict[str, Float[Tensor, "n D"]]:
    """Three static vectors of each word; in layer 0 it stands at one place of an empty text."""
    ids = torch.tensor([vocabulary[word] for word in words])
    alone = torch.full((len(words), place + 1), tokenizer.cls_token_id)
    alone[:, place] = ids
    return {
        "table row": model.embeddings.word_embeddings.weight[ids],
        "layer 0": model.embeddings(input_ids=alone)[:, place],
        "GloVe": glove.of(words),
    }

draw = np.random.default_rng(0)
first, second = (three_vectors(list(draw.choice(common, 2000))) for _ in range(2))
PAIRS = [("bank", "vault"), ("bank", "money"), ("bank", "river"), ("river", "stream")]
one, other = (three_vectors([pair[side] for pair in PAIRS]) for side in (0, 1))
cosine = torch.cosine_similarity
static = {name: cosine(one[name], other[name], dim=-1).tolist() for name in one}
control = {name: cosine(first[name], second[name], dim=-1).numpy() for name in first}
pictures.static_vectors(PAIRS, static, control)

here, there = three_vectors(["bank"], place=6), three_vectors(["bank"], place=9)
for name in here:
    moved = cosine(here[name], there[name]).item()
    print(f"bank at place 6 and at place 9, {name:<9} cosine {moved:.3f}")

# %% [markdown]
# The same pairs, three scales. What counts is how far a pair lies above its control. A cosine of 0.3 is next to nothing in GloVe, where any two frequent words have something in common; in the table of
# a BERT it would be a close pair. And layer 0 changes with the place alone: someone who takes it for "the word without context" compares positions, too.

# %% [markdown]
# ## 4 · How similar is similar?
#
# In 07 we compared two vectors. A word's vector in its sentence is its **contextual embedding**. Now we compare all pairs of them from many sentences, of three kinds: the same word
# in the same sense; the same word in two senses; different words. The last is the control of everything else; the first is what two senses have to stay below.

# %% nbgrader={"grade": false, "grade_id": "inside-sense_similarity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sense_similarity(
    vectors: Float[Tensor, "n L+1 D"], words: Int[Tensor, "n"], senses: Int[Tensor, "n"]
) -> Float[Tensor, "3 L+1"]:
    """Mean cosine of three kinds of pairs, at every layer.  (difficulty ●●○, 10 minutes)

    Row 0: the same word in the same sense. Row 1: the same word in two senses. Row 2: different
    words. Senses are numbered 0, 1, … within each word. Every pair of different occurrences counts
    once, and all pairs of a kind count the same. There is at least one of each kind.
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
# All 2,325 sentences go through the model once (about fifteen seconds). From each we keep the vector of its ambiguous word at every layer, with your two functions.

# %% tags=["demo"]
print("This takes ten to twenty seconds.")

@torch.no_grad()
def vectors_of(texts: list[str], starts: list[int], size: int = 48) -> Float[Tensor, "n L+1 D"]:
    """The vector of the word that begins at `starts[n]` in each text, at every layer."""
    found = [None] * len(texts)
    by_length = sorted(range(len(texts)), key=lambda n: len(texts[n]))       # little padding
    for begin in range(0, len(texts), size):
        rows = by_length[begin : begin + size]
        given = tokenizer(
            [texts[n] for n in rows], return_tensors="pt", padding=True, return_offsets_mapping=True
        )
        offsets = given.pop("offset_mapping")
        hidden = torch.stack(model(**given, output_hidden_states=True).hidden_states, dim=1)
        for n, one_hidden, one_offsets in zip(rows, hidden, offsets):
            word_ids = mended_words(one_offsets, spans_of_words(texts[n]))
            found[n] = word_vectors(one_hidden, word_ids, number_of_word(texts[n], starts[n]))
    return torch.stack(found)

uses = vectors_of(senses.sentence.tolist(), senses.start.tolist())            # n L+1 D
words = torch.tensor(pd.factorize(senses.word)[0])
sense_ids = torch.tensor(pd.factorize(senses.word + " " + senses.sense)[0])  # unique over all words
print(list(uses.shape), f"{senses.word.nunique()} words, {sense_ids.max() + 1} senses")

# %% [markdown]
# The 44 words make two halves. Of 30 all senses are **nouns** (*bank*, *cell*). Of 14 they are **another part of speech** as well: *saw* the tool and *saw* the past of *see* are told apart by grammar, whatever they mean. We ask for meaning, so the figure
# shows the first half; the second stands below it.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
test_rows = torch.tensor((senses.split == "test").to_numpy().copy())
nouns = torch.tensor((senses.parts_of_speech == "same").to_numpy().copy())

def similar_on(rows: Tensor) -> Float[Tensor, "3 L+1"]:
    return sense_similarity(uses[rows], words[rows], sense_ids[rows])

similar, similar_grammar = similar_on(test_rows & nouns), similar_on(test_rows & ~nouns)
pictures.separation(similar)
for half, rows in {"all nouns": similar, "another part of speech": similar_grammar}.items():
    for kind, other in {"two senses": rows[1], "different words": rows[2]}.items():
        gaps = " ".join(f"{gap:.3f}" for gap in rows[0] - other)
        print(f"{f'{half}, one sense − {kind}, by layer:':<63}{gaps}")

# %% [markdown]
# On the left, two senses of a word have a high cosine at every layer, as if the model hardly told them apart. But even one sense in two sentences is below 1, and different words have a cosine that
# changes from layer to layer. On the right stands the difference that matters, one sense minus two. At layer 0 it is nothing (only places differ); it is largest at the last. Most of what lies above the control is the word,
# not its sense. Where the senses are other parts of speech, the gap is several times as wide: in this model grammar moves a vector further than meaning does. Which layer knows the sense *best*, part 8 asks in another way.

# %% [markdown]
# Now single pairs, with figures that are handed around for bert-base-uncased; who measured them first, we could not find. *bank* and *vault* have 0.29 in the embedding table and 0.52 in context; *bank* in two senses has 0.6
# to 0.7. The sentences are known, so anybody can check. We take them, and add one that was not measured with them: *vault* beside the bank of a *river*. A tutorial by McCormick and Ryan (2019) adds up
# the last four layers.
#
# **Predict:** *bank* in "I deposited money at the bank." and in "We walked along the river bank.", last layer of the model you have: which cosine?

# %% tags=["demo"]
predict("inside.two_banks", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
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
}, index=[*by_layer, *(f"control: {name}" for name in controls)]))
pictures.pairs(by_layer, similar)

# %% [markdown]
# In both models context brings *bank* and *vault* closer than the table has them. Is it because a bank keeps money? In MiniLM the bank of a *river* comes as close to *vault* as the other one, at every layer. So
# the step from table to context, which *all* words make (grey), is no sign of understanding. The numbers themselves belong to one model each. And the tutorial's *bank robber* beside *bank vault* stands in the same sentence, a few words away; uses of one sense in two sentences have less in common.

# %% [markdown]
# ## 5 · Further: all vectors point the same way
#
# Ethayarajh (2019) compared *random* words in the upper layers of ELMo, BERT and GPT-2, and found cosines far above 0; in GPT-2's last layer nearly 1. The vectors fill a narrow cone. This is called **anisotropy**,
# and its measure is the control we used all along: the mean cosine of random pairs.

# %% nbgrader={"grade": false, "grade_id": "inside-anisotropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def anisotropy(vectors: Float[Tensor, "n D"]) -> Float[Tensor, ""]:
    """The mean cosine of all pairs of different vectors.  (difficulty ●●○, 6 minutes)

    A vector is not paired with itself. It can be done without a matrix of n × n cosines, but need
    not.
    """
    ### BEGIN SOLUTION
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    n = len(unit)
    return (unit.sum(dim=0).square().sum() - n) / (n * (n - 1))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-anisotropy-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.anisotropy", lambda case: anisotropy(case["vectors"]))

# %% [markdown]
# If all vectors share a direction, take it away: subtract their mean. The mean has to come from somewhere, and a mean of the very vectors that are compared would look better than it is. So it comes from
# a sample of others.

# %% tags=["demo"]
def centre(vectors: Float[Tensor, "n D"], sample: Float[Tensor, "m D"]) -> Float[Tensor, "n D"]:
    """The vectors without what is common to all vectors: the mean vector of `sample` is subtracted."""
    return vectors - sample.mean(dim=0)

# %% [markdown]
# Three models: yours; one of the same shape that was never trained; and a decoder, SmolLM2 of 07. From 30 sentences, each token once.
#
# **Predict:** the mean cosine of random tokens in the decoder, halfway through its layers.

# %% tags=["demo"]
predict("inside.cone", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")

@torch.no_grad()
def tokens_in_context(network, words_of, texts: list[str]) -> Float[Tensor, "n L+1 D"]:
    """Vectors of tokens in sentences, each token once, at every layer; no special tokens."""
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

# %% [markdown]
# In the decoder any two tokens have a cosine that in MiniLM only related ones reach. MiniLM, tuned so that different sentences get different vectors, ends almost without a cone. And
# a cone needs no training: layer 0 of the untrained model adds up three random vectors, for word, place and segment. The segment's is the same for all, about a third of the whole.
# After centring all come near 0. What does it do to our senses?

# %% tags=["demo"]
train_rows = ~test_rows
asked_nouns, known_nouns = test_rows & nouns, train_rows & nouns
centred = torch.stack([centre(uses[asked_nouns, layer], uses[known_nouns, layer])
                       for layer in range(L + 1)], dim=1)
similar_centred = sense_similarity(centred, words[asked_nouns], sense_ids[asked_nouns])
pictures.centred(similar, similar_centred)

# %% [markdown]
# The controls fall to about 0 at every layer, and the gap between one sense and two widens a little. (They end just below 0, since 30 words around one mean lie on different sides of
# it.) So centring makes a cosine *readable*. Whether it makes senses easier to find is another question; part 8 answers it.

# %% [markdown]
# ## 6 · What a word attends to
#
# In 02 we computed attention; here we read it. **bertviz** (Vig 2019) draws it in three ways. Each view below comes first as a plain figure, then as a page to play with, which needs no network. bertviz counts layers from 0, so its
# layer 0 makes the hidden state that we call layer 1; the figures count as bertviz does.

# %% tags=["demo"]
@torch.no_grad()
def look(text: str):
    """Tokens, hidden states and attention of one text, by a model that says its attention."""
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
print("The head in which bank looks most at account, deposit and money:", name_of_head)
pictures.head(attention[layer, head], tokens, name_of_head)

# %% tags=["demo"]
from coursekit.attention_views import head_view, model_view, neuron_view

head_view(attention, tokens, layer=layer, heads=[head])

# %% [markdown]
# Point at *bank* on the left; choose other layers; switch heads on and off with the coloured squares (a double click leaves one alone). The **model view** has all heads at once; a click enlarges one.

# %% tags=["demo"]
pictures.all_heads(attention, tokens)

# %% tags=["demo"]
model_view(attention, tokens)

# %% [markdown]
# Or one head at a time with its names written out; these sliders also obey the arrow keys (they need a running notebook; nothing is graded here).

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
import ipywidgets

from coursekit.sliders import interact

weights_of_money, tokens_of_money = attention, tokens

def show_head(layer: int, head: int) -> None:
    """The figure of one head, for the sentence about money."""
    pictures.head(weights_of_money[layer, head], tokens_of_money, f"layer {layer}, head {head}")

interact(show_head, layer=ipywidgets.IntSlider(layer, max=L - 1), head=ipywidgets.IntSlider(head, max=H - 1))

# %% [markdown]
# Some heads are easy to name: a diagonal beside the middle is "the word before" or "the word after". Most show one dark column. To say more than "looks sharp", we measure how spread out a row is: its
# **entropy**, in nats; 0 if one token gets everything, log T if all T get the same.

# %% nbgrader={"grade": false, "grade_id": "inside-attention_entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_entropy(attention: Float[Tensor, "L H T T"]) -> Float[Tensor, "L H"]:
    """Mean entropy of each head's rows, in nats.  (difficulty ●●○, 6 minutes)

    The entropy of a row is −Σ a log a, and a weight of 0 adds 0. Rows are the tokens that look; all
    count the same.
    """
    ### BEGIN SOLUTION
    return -torch.xlogy(attention, attention).sum(dim=-1).mean(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "inside-attention_entropy-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("inside.attention_entropy", lambda case: attention_entropy(case["attention"]))

# %% [markdown]
# One plain test sentence for each of the 30 words whose senses are all nouns. Beside the entropy, where the weight goes: to the token before, after, to itself, to [CLS], to [SEP] (as Clark et al. 2019 measured it for BERT). Controls: even
# attention, and the untrained model.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
some = senses[(senses.split == "test") & (senses.kind == "plain")
              & (senses.parts_of_speech == "same")].groupby("word").head(1)
looks = [look(text) for text in some.sentence]
entropy = torch.stack([attention_entropy(a) for _, _, a in looks]).mean(dim=0)          # L H
even = np.mean([np.log(len(words_there)) for words_there, _, _ in looks])

def goes_to(a: Float[Tensor, "L H T T"]) -> Float[Tensor, "5 L H"]:
    """Mean weight on the token before, the one after, itself, [CLS] and [SEP]."""
    beside = [a.diagonal(step, 2, 3).mean(dim=-1) for step in (-1, 1, 0)]
    return torch.stack([*beside, a[..., 0].mean(dim=-1), a[..., -1].mean(dim=-1)])

targets = torch.stack([goes_to(a) for _, _, a in looks]).mean(dim=0)
with torch.no_grad():
    untrained.set_attn_implementation("eager")
    given = tokenizer(some.sentence.tolist()[0], return_tensors="pt")
    raw = torch.stack(untrained(**given, output_attentions=True).attentions)[:, 0]
share_of_even = (attention_entropy(raw).mean() / np.log(raw.shape[-1])).item()
pictures.entropies(entropy, even)
for name, weights in zip(("token before", "token after", "itself", "[CLS]", "[SEP]"), targets):
    top = "layer {}, head {}".format(*divmod(weights.argmax().item(), H))
    print(f"{name:<13} mean of all heads {weights.mean():.2f}; most in {top}: {weights.max():.2f}")
print(f"untrained model: {share_of_even:.1%} of the entropy of even attention")

# %% [markdown]
# > **Sources say, we measure.** Clark et al. (2019) found heads for the previous and the next token, and more than half of the attention in layers 6 to 10 of BERT on [SEP]. The heads are here, too. But MiniLM's
# > dark column is [CLS], and [SEP] gets little: which token serves as a place to look at when there is nothing to look for depends on the model. *That* there is such a place they have in common.

# %% [markdown]
# The **neuron view** shows how a weight comes about: query times key, number by number, added up, then the softmax. bertviz does it for models of its own from 2019. We compute queries and keys from the loaded weights
# instead, as in 02, and check them against the attention that the model reports.

# %% tags=["demo"]
@torch.no_grad()
def queries_and_keys(hidden: Float[Tensor, "L+1 T D"]) -> tuple[Tensor, Tensor]:
    """The queries and keys of every head, (L, H, T, d) each, from what enters each layer."""
    made = []
    for x, trained in zip(hidden, model.encoder.layer):
        projections = (trained.attention.self.query, trained.attention.self.key)
        made.append([project(x).unflatten(-1, (H, -1)).transpose(0, 1) for project in projections])
    queries, keys = zip(*made)
    return torch.stack(queries), torch.stack(keys)

queries, keys = queries_and_keys(hidden)
again = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(dim=-1)
print(f"largest difference from the model's own attention: {(again - attention).abs().max():.1e}")
pictures.neurons(queries[layer, head], keys[layer, head], tokens, bank, name_of_head)

# %% tags=["demo"]
neuron_view(attention, queries, keys, tokens, layer=layer, head=head)

# %% [markdown]
# Point at *bank* and press the plus sign (in the figure violet is positive, orange with a dash negative). No single number decides: a score is a sum of many small products of both signs, and the softmax looks at the differences of such sums.

# %% [markdown]
# ## 7 · Is attention an explanation?
#
# "Bank attends to *deposit*, so *deposit* is why the model knows the sense." Jain and Wallace (2019) found, in classifiers with an LSTM, that attention weights agree poorly with other measures of importance, and that
# very different weights can give the same answer. Wiegreffe and Pinter (2019) replied that it depends on what one calls an explanation, and on fair controls. Abnar and Zuidema (2020) pointed out that above layer 1 attention is paid to *mixtures* of
# words. We can ask the model itself. Hide one word from all heads, and see how far the vector of the target word moves.

# %% tags=["demo"]
from coursekit.intervals import bootstrap

WAYS = "hidden from attention", "[MASK] in its place", "left out"

@torch.no_grad()
def moved_without(text: str, target: int) -> dict[str, Float[Tensor, "T"]]:
    """How far the last vector of token `target` moves (1 − cosine) if each token is taken away."""
    ids = tokenizer(text, return_tensors="pt").input_ids
    T = ids.shape[1]
    places = torch.arange(T)
    keep, masked = torch.ones(T, T, dtype=torch.long).fill_diagonal_(0), ids.repeat(T, 1)
    masked.fill_diagonal_(tokenizer.mask_token_id)
    shorter = torch.stack([ids[0, places != t] for t in places])
    moved_up = target - (places < target).long()           # where the target stands in these
    runs = (
        model(input_ids=ids.repeat(T, 1), attention_mask=keep).last_hidden_state[:, target],
        model(input_ids=masked).last_hidden_state[:, target],
        model(input_ids=shorter).last_hidden_state[places, moved_up],
    )
    whole = model(input_ids=ids).last_hidden_state[:, target]
    return {way: 1 - cosine(run, whole, dim=-1) for way, run in zip(WAYS, runs)}

def slope(text: str, target: int) -> Float[Tensor, "T"]:
    """Size of the derivative of the target's last vector, in a random direction, for each input."""
    x = model.embeddings(input_ids=tokenizer(text, return_tensors="pt").input_ids).detach()
    x.requires_grad_()
    vector = model.encoder(x).last_hidden_state[0, target]
    direction = torch.randn(len(vector), generator=torch.Generator().manual_seed(0))
    return torch.autograd.grad(vector @ direction, x)[0][0].norm(dim=-1)

@torch.no_grad()
def lengths_of_values(hidden: Float[Tensor, "L+1 T D"]) -> Float[Tensor, "L H 1 T"]:
    """The length of each token's value vector in every head: what a weight is multiplied with."""
    values = [trained.attention.self.value(x) for x, trained in zip(hidden, model.encoder.layer)]
    return torch.stack([v.unflatten(-1, (H, -1)).norm(dim=-1).T[:, None] for v in values])

def agreement(guess: Tensor, truth: Tensor) -> float:
    """Spearman's correlation: do two lists put the tokens in the same order?"""
    return pd.Series(guess.numpy()).rank().corr(pd.Series(truth.numpy()).rank())

# %% [markdown]
# **Predict:** order the words of a sentence by the attention that the target word pays them in the last layer (mean of the heads), and by how much hiding them moves it. Which rank correlation?

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
pictures.explains({name: (agreements[name].mean(), *bootstrap(agreements[name].to_numpy()))
                   for name in agreements}, len(agreements))
display(pd.DataFrame({
    way: {name: "{:.2f} ({:.2f} to {:.2f})".format(found[name].mean(), *bootstrap(found[name].to_numpy()))
          for name in found}
    for way, found in by_way.items()
}).rename_axis("rank correlation with how far the target moves", axis=0))
WEIGHTS_ALONE = "attention, mean of all layers"
ahead = {way: {name: bootstrap((found[name] - found[WEIGHTS_ALONE]).to_numpy())
               for name in ("attention × length of value", "gradient")} for way, found in by_way.items()}
display(pd.DataFrame({way: {name: f"{low:+.2f} to {high:+.2f}" for name, (low, high) in rows.items()}
                      for way, rows in ahead.items()}).rename_axis("sentence by sentence, above the mean of all layers", axis=0))
values = [lengths_of_values(states).mean(dim=(0, 1, 2)) for _, states, _ in looks]
at_cls, elsewhere = (np.mean([v[part].mean() for v in values]) for part in (slice(1), slice(1, -1)))
print(f"mean length of a head's value vector: {at_cls:.2f} at [CLS], {elsewhere:.2f} at the words")

# %% [markdown]
# **Where these intervals come from.** What varies here are sentences. We draw as many of them again from those that we have, with replacement, and take the mean; and that two thousand times. The middle 95 % of these means are the interval: the
# **bootstrap** (Efron 1979). You build it in 12.

# %% tags=["demo"]
from coursekit.pictures import statistics

statistics.resampled(agreements["attention, last layer"].to_numpy(), "rank correlation, last layer")

# %% [markdown]
# Attention is no nonsense: it orders words better than their distance does. The last layer alone orders them less well than all layers do, and by the first yardstick better orders come from numbers that need more than weights. The
# reason stands below the figure. The value vector of [CLS] is short, so the most popular token delivers least (Kobayashi et al. 2020 showed this for BERT's [SEP]): a weight is a share, not an amount.

# %% [markdown]
# Our first yardstick sets weights to 0, close to what the guesses multiply; a sentence without the word gives nearly the same. With [MASK] in its place the two numbers that need more than weights agree less, and neither is clearly ahead of the weights any more. None of them shows whether the *sense* that is found would change.

# %% [markdown]
# **To discuss with a neighbour** (three minutes, in class): each of you names one sentence in which you would trust an attention weight as an explanation, and one in which you would not.
# What would you have to take away from the sentence to find out?

# %% [markdown]
# **Question 1.** A colleague shows a head view: in one head of layer 3, *bank* attends to *river* with weight 0.8. "So the model decides from *river* that it is a shore." Name three things that have to be checked before you
# believe it, each with what you would measure. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "inside-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# First, whether *river* matters: hide it (or take the gradient) and see whether the vector of *bank*, or the sense found from it, changes, beside what hiding any other word does.
# Second, whether this head matters. It is one of dozens that write into the residual stream, and a weight is multiplied with a value that may be short. Above the first layer the
# place of *river* holds a mixture of words. Third, whether the picture was chosen: in how many of many sentences does this head do so, compared with other heads, with an untrained
# model and with sentences in which *bank* is the other one? With enough heads some will always show what one hopes for.
#
# *Marking: 2 points for three sound checks of different kinds with a measurement each (effect of the word, part of the head or the value in the whole, selection and controls); 1 point for two.*

# %% [markdown]
# ## 8 · Finding the sense
#
# The exam of 01: which sense has the word? Ask the training sentence with the most similar vector. Seven of eleven test sentences are *hard*: the cue stands far away, or only to the
# right, or words of the other sense stand around. "At the waterfall my bank card slipped out of my pocket and sank" is one of them. Each half of the words takes the exam for itself.
# What we say about meaning we say of the nouns.

# %% nbgrader={"grade": false, "grade_id": "inside-disambiguate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def disambiguate(
    train: Float[Tensor, "m D"], train_words: Int[Tensor, "m"], train_senses: Int[Tensor, "m"],
    test: Float[Tensor, "n D"], test_words: Int[Tensor, "n"],
) -> Int[Tensor, "n"]:
    """The sense of the nearest neighbour of the same word.  (difficulty ●●○, 8 minutes)

    Nearest is the one with the largest cosine. Only training vectors of the same word are asked,
    and every word of the test has some.
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
# The layer is a choice, and a choice made on the test would flatter. So each layer is tried on the training sentences: each of them takes its sense from the nearest of the others of
# its word. Then the test is asked, once. The controls are recorded (`python -m experiments senses`): majority; a bag of the GloVe vectors of the words around; an average of them in
# which near words count more; and a **window of two**. The last is a logistic regression that sees which two words stand on either side, and nothing else.
#
# **Predict:** share of *hard* test sentences whose sense is found, at the layer chosen, for words whose senses are all nouns.

# %% tags=["demo"]
predict("inside.hard", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def right(vectors: Float[Tensor, "n D"], known: Tensor, asked: Tensor) -> Tensor:
    """Whether the sense is found, for each row of `asked`, from the rows `known`."""
    guess = disambiguate(
        vectors[known], words[known], sense_ids[known], vectors[asked], words[asked]
    )
    return guess == sense_ids[asked]

number = senses.groupby(["word", "split"]).cumcount()                        # within its word
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

def with_interval(answers: np.ndarray, rows: pd.DataFrame) -> tuple[float, float, float]:
    """Share of right answers; the interval draws whole words: sentences of one word are alike."""
    counted = pd.Series(answers.astype(float)).groupby(rows.word.to_numpy()).agg(["sum", "count"])
    interval = bootstrap(counted.to_numpy(), lambda one: one[:, 0].sum() / one[:, 1].sum())
    return (answers.mean(), *interval)

exam = {}
for half, parts_of_speech in HALVES.items():
    for kind in ("plain", "hard"):
        of_kind = (asked.kind == "plain") == (kind == "plain")
        mask = ((asked.parts_of_speech == parts_of_speech) & of_kind).to_numpy()
        exam[half, kind] = [with_interval(answers.numpy()[mask], asked[mask]) for answers in found]

recorded = read_table("results/senses.csv")
reveal("inside.hard", exam["all nouns", "hard"][chosen][0])
pictures.exam(exam, recorded, chosen, loaded.name)
controls_of = recorded[recorded.chosen | recorded.vectors.str.contains("above")]
controls_of = controls_of[controls_of.judge != "probe"].set_index(["half", "vectors", "part"])
print(f"Layer {chosen} was chosen within train.")
falls = {}
for half in HALVES:
    hard, control_of = exam[half, "hard"], controls_of.value[half]
    rows_hard = ((asked.parts_of_speech == HALVES[half]) & (asked.kind != "plain")).to_numpy()
    fall = (found[chosen].float() - found[L].float()).numpy()[rows_hard]
    falls[half] = with_interval(fall, asked[rows_hard])
    print(f"{half}, hard: layer {chosen} {hard[chosen][0]:.3f}, last layer {hard[L][0]:.3f}"
          " (difference {:+.3f}, {:+.3f} to {:+.3f}),".format(*falls[half]),
          *(f"{name} {control_of[name, 'hard']:.3f}," for name in ("window of two", "near words")),
          f"bag {control_of['bag', 'hard']:.3f}")

# %% [markdown]
# Layer 0 stays with the majority, as it must: it knows the place, not the neighbours. Then the accuracy climbs. For the nouns it stays high to the end on plain sentences. On hard
# ones it falls again at the last layer, though part 4's gap was largest there; that layer serves whole sentences. Others, too, found a layer
# before the last better for other tasks (Liu, N. F. et al. 2019).
#
# With another part of speech the vector finds nearly all senses. With nouns it finds four of five on plain sentences, and on hard ones two of three: no more than the *two words on either side* do. One number over both reports mostly how many words change it.

# %% [markdown]
# Now by kind. One more row helps to understand it: the same layer of the same model when it reads nothing but the five words of the window (recorded, too). The last two rows of each half are differences.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def shown(mean: float, low: float, high: float) -> str:
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"

def of_control(half: str, vectors: str, kind: str) -> str:
    control_row = controls_of.loc[(half, vectors, kind)]
    return shown(control_row.value, control_row.low, control_row.high)

recorded_layer = recorded[recorded.vectors == "context of two"].variant.iloc[0]
ROWS = {"window of two": "window of two", "near words": "near words", "bag of words": "bag",
        f"{recorded_layer}, window only": "context of two",
        "sentence − window of two": "context above window of two",
        "sentence − window only": "context above context of two"}
KINDS = ("plain", "far", "right", "decoy")
by_kind = {}
for half, parts_of_speech in HALVES.items():
    masks = {kind: ((asked.parts_of_speech == parts_of_speech) & (asked.kind == kind)).to_numpy()
             for kind in KINDS}
    by_kind[half, f"layer {chosen}, whole sentence"] = {
        kind: shown(*with_interval(found[chosen].numpy()[mask], asked[mask]))
        for kind, mask in masks.items()
    }
    for name, vectors in ROWS.items():
        by_kind[half, name] = {kind: of_control(half, vectors, kind) for kind in KINDS}
display(pd.DataFrame(by_kind).T)

# %% [markdown]
# **On decoys of the nouns the window of two is ahead of the contextual embedding**, and near words are, too. (The difference may be noise; one would
# have expected a transformer to be *clearly better*.) Yet the model can use the cue: from the window's five words alone it finds far more of these senses than from the
# whole sentence, and this difference is clear. The rest does the harm: words that go with the
# other sense. On plain and far sentences the whole is clearly better than the window; on far ones a bag does as well.
#
# With another part of speech decoys cost nothing. With cues only on the right, no reader of nouns is clearly ahead.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
unit = torch.nn.functional.normalize(uses[:, chosen], dim=-1)
in_all = senses.index[test_rows.numpy()]
for kind in ("far", "right", "decoy"):
    for outcome in (True, False):
        such = asked[(asked.parts_of_speech == "same") & (asked.kind == kind)
                     & (found[chosen].numpy() == outcome)]
        one = in_all[such.sample(1, random_state=3).index[0]]
        barred = test_rows | (words != words[one])
        alike = (unit @ unit[one]).masked_fill(barred, -1).argmax().item()
        print(f"{'found' if outcome else 'lost':<6}{kind}, {senses.word[one]}",
              f"({senses.sense[one]}): {senses.sentence[one]}")
        print(f"      nearest ({senses.sense[alike]}): {senses.sentence[alike]}")

# %% tags=["demo"]
centred = uses[:, chosen] - uses[known_nouns, chosen].mean(dim=0)         # as in part 5
after = right(centred, known_nouns, asked_nouns)
before = found[chosen][nouns[test_rows]]
difference = after.float() - before.float()
low, high = with_interval(difference.numpy(), asked[asked.parts_of_speech == "same"])[1:]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
display(Markdown(
    f"Of the nouns' sentences **{after.float().mean():.3f}** are right with centred vectors, without "
    f"**{before.float().mean():.3f}**: a difference of {difference.mean():+.3f} "
    f"(95 % interval {low:+.3f} to {high:+.3f})."
))

# %% [markdown]
# Centring changed all cosines and hardly any neighbour. A nearest neighbour needs the order of cosines alone, and what is common to all vectors moves them together.

# %% [markdown]
# **Question 2.** Someone reports: "In our model, *bank* (river) and *bank* (money) have a cosine of 0.80, so it hardly distinguishes the two senses." What is wrong with the conclusion, and which numbers of this notebook would you put
# beside it? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "inside-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# A cosine has no meaning without a scale: in a narrow cone random words may have 0.6, elsewhere 0.04, and one sense in two sentences does not reach 1 either. What counts is whether
# uses of one sense are closer than uses of two, and the gap may be small and still reliable. The mean gap in MiniLM is below 0.1 at every layer, and yet the nearest neighbour has
# the right sense in seven of ten test sentences of words whose senses are all nouns. Layer 0, with cosines of 0.94, finds no more than a guess, about half. So beside the 0.80 belong
# the cosine of the same sense, that of random pairs, the layer, and an accuracy on held-out sentences with its control.
#
# *Marking: 1 point for the missing scale (anisotropy, same-sense and random pairs); 1 point for a test of the distinction itself, such as accuracy by layer beside majority, bag of words or the two words on either side.*

# %% [markdown]
# ## Further: three models of the same novels, layer by layer
#
# MiniLM has read billions of words. The course has trained three models of 5 to 7 million numbers on one text, 82 English novels of 1839 to 1927: **ELMo** ([card](../../data/models/novels_elmo.md)), **BERT** ([card](../../data/models/novels_bert.md)) and
# **GPT** ([card](../../data/models/novels_gpt.md)); each was trained once. They are asked what MiniLM was, at every layer from 0 on, by *your* functions. `mended_words` and `word_vectors` take a word's vector out of BERT and GPT (ELMo reads whole words, letter by letter); `sense_similarity` and
# `disambiguate` ask it.

# %% [markdown]
# The words are 26 of the 30 nouns, and *state* of `data/senses/novels.csv`. Left out are *mole* and *tank*, which are not among the 16,384 most frequent words of the novels. So are senses younger than they: the *mouse* of a computer, a *jam* of cars, a *cell* that is a phone.
#
# Beside the models stand a guess, a bag of words and near words (by skip-gram vectors of the same novels; the nearest sentence decides), and the window of two. Below them stand the models of 05 to 07 and MiniLM on the generated language.
#
# **Predict:** where every cue comes *after* the word, which share of the senses does GPT find, at the layer chosen within train? A guess finds 0.48.

# %% tags=["demo"]
predict("inside.novels", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from coursekit.novels.shipped import load_bert, load_elmo, load_gpt, load_skipgram
from coursekit.small.bert import BOS, CLS, SEP

print("This takes about ten seconds.")
novels_elmo, elmo_spelling = load_elmo()
novels_bert, pieces_of_novels = load_bert()
novels_gpt, _ = load_gpt()                                                  # the same pieces
OF_NOVELS = "ELMo", "BERT", "GPT"

def read_at(name: str, text: str, start: int) -> tuple[Tensor, Int[Tensor, "T"], int]:
    """What a model of the novels reads of a text, the word of each token, and the number of the word that begins at `start`."""
    if name == "ELMo":                                                      # a token is a word
        there, before = elmo_spelling.split(text), elmo_spelling.split(text[:start])
        return elmo_spelling.of_words(["[BOS]", *there, "[EOS]"]), torch.arange(-1, len(there) + 1), len(before)
    encoded = pieces_of_novels.encode(text, add_special_tokens=False)
    token_ids, spans = [CLS if name == "BERT" else BOS, *encoded.ids], [(0, 0), *encoded.offsets]
    if name == "BERT":
        token_ids, spans = [*token_ids, SEP], [*spans, (0, 0)]
    return torch.tensor(token_ids), mended_words(torch.tensor(spans), spans_of_words(text)), number_of_word(text, start)

def all_layers(name: str, read: Int[Tensor, "B T ..."]) -> Float[Tensor, "L+1 B T D"]:
    """The hidden states of texts of equally many tokens: no padding."""
    everywhere = torch.ones(read.shape[:2], dtype=torch.bool)
    if name == "ELMo":
        return novels_elmo.encode(novels_elmo.token(read), everywhere)
    if name == "BERT":
        return novels_bert.encode(novels_bert.embeddings(read, torch.zeros_like(read)), everywhere)
    return novels_gpt.encode(novels_gpt.embed(read))

@torch.no_grad()
def vectors_by(name: str, texts: list[str], starts: list[int]) -> Float[Tensor, "n L+1 D"]:
    """As vectors_of, by a model of the novels, or by the one that part 1 loaded."""
    if name not in OF_NOVELS:
        return vectors_of(texts, starts)
    read = [read_at(name, *which) for which in zip(texts, starts)]
    lengths, made = np.array([len(tokens_read) for tokens_read, _, _ in read]), [None] * len(read)
    for length in np.unique(lengths):
        of_length = np.flatnonzero(lengths == length)
        for batch_of in np.array_split(of_length, len(of_length) // 64 + 1):
            states = all_layers(name, torch.stack([read[n][0] for n in batch_of]))
            for at, n in enumerate(batch_of):
                made[n] = word_vectors(states[:, at], *read[n][1:])
    return torch.stack(made)

YOUNGER = {"mouse computer", "jam traffic", "cell phone"}
novels_know = senses[(senses.parts_of_speech == "same") & senses.word.isin(elmo_spelling.words)
                     & ~(senses.word + " " + senses.sense).isin(YOUNGER)]
novels_know = novels_know[novels_know.groupby("word").sense.transform("nunique") > 1]
of_state = read_table("senses/novels.csv").query("word == 'state'")
novel_nouns = pd.concat([novels_know, of_state], ignore_index=True)
noun_ids = torch.tensor(pd.factorize(novel_nouns.word)[0])
noun_senses = torch.tensor(pd.factorize(novel_nouns.word + " " + novel_nouns.sense)[0])
nouns_train = torch.tensor((novel_nouns.split == "train").to_numpy().copy())
nouns_asked = novel_nouns[~nouns_train.numpy()].reset_index(drop=True)
layered = {name: vectors_by(name, novel_nouns.sentence.tolist(), novel_nouns.start.tolist()) for name in OF_NOVELS}
layered[loaded.name] = torch.cat([uses[novels_know.index.tolist()], vectors_of(of_state.sentence.tolist(), of_state.start.tolist())])

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def gaps_by_word(vectors: Float[Tensor, "n L+1 D"]) -> Float[np.ndarray, "words L+1"]:
    """One sense minus two in each word's test sentences, by your sense_similarity; centred as in part 5, so that scales are alike."""
    moved = torch.stack([centre(vectors[~nouns_train, layer], vectors[nouns_train, layer]) for layer in range(vectors.shape[1])], dim=1)
    of_word, of_sense, gaps_found = noun_ids[~nouns_train], noun_senses[~nouns_train], []
    for word in of_word.unique():
        rows_of = torch.cat([torch.where(of_word == word)[0], torch.where(of_word != word)[0][:1]])     # it asks for two words
        one_sense, two_senses, _ = sense_similarity(moved[rows_of], of_word[rows_of], of_sense[rows_of])
        gaps_found.append(one_sense - two_senses)
    return torch.stack(gaps_found).numpy()

def sense_told(vectors: Float[Tensor, "n D"], labelled_rows: Tensor, those: Tensor) -> Float[np.ndarray, "m"]:
    """Whether your disambiguate finds the sense of the rows `those` from the labelled ones."""
    guess = disambiguate(vectors[labelled_rows], noun_ids[labelled_rows], noun_senses[labelled_rows], vectors[those], noun_ids[those])
    return (guess == noun_senses[those]).float().numpy()

noun_number = torch.tensor(novel_nouns.groupby(["word", "split"]).cumcount().to_numpy().copy())

def best_within_train(vectors: Float[Tensor, "n L+1 D"]) -> int:
    """The layer, from 1 on, at which most training sentences get their sense from the others, as in part 8."""
    each = range(int(noun_number[nouns_train].max()) + 1)
    shares = [np.concatenate([sense_told(vectors[:, layer], nouns_train & (noun_number != n), nouns_train & (noun_number == n)) for n in each]).mean()
              for layer in range(1, vectors.shape[1])]
    return 1 + int(np.argmax(shares))

def other_words(text: str, start: int) -> list[tuple[int, str]]:
    """The other words of a sentence, each with how far behind the asked one it stands."""
    place = len(elmo_spelling.split(text[:start]))
    return [(at - place, word) for at, word in enumerate(elmo_spelling.split(text)) if at != place]

def by_window() -> Float[np.ndarray, "m"]:
    """Whether a logistic regression on the two words on either side finds the sense; one for each word."""
    windows = np.array([{f"{far} {word}": 1 for far, word in others_there if abs(far) <= 2} for others_there in words_around])
    answers = np.zeros(len(novel_nouns))
    for word in novel_nouns.word.unique():
        ours, theirs = (np.flatnonzero((novel_nouns.word == word) & (novel_nouns.split == part)) for part in ("train", "test"))
        counter = DictVectorizer()
        fitted = LogisticRegression(max_iter=1000).fit(counter.fit_transform(windows[ours]), novel_nouns.sense[ours])
        answers[theirs] = fitted.predict(counter.transform(windows[theirs])) == novel_nouns.sense[theirs]
    return answers[~nouns_train.numpy()]

skip_gram = dict(zip(*load_skipgram()))
words_around = [other_words(*which) for which in zip(novel_nouns.sentence, novel_nouns.start)]

def by_skip_gram(weight_of) -> Float[np.ndarray, "m"]:
    """The same from the sum of the other words' vectors, each times its weight by where it stands."""
    sums = [sum((weight_of(far) * skip_gram[word] for far, word in others_there if word in skip_gram), torch.zeros(100))
            for others_there in words_around]
    return sense_told(torch.stack(sums), nouns_train, ~nouns_train)

separated = {name: gaps_by_word(vectors) for name, vectors in layered.items()}
told_by_layer = {name: np.stack([sense_told(vectors[:, layer], nouns_train, ~nouns_train) for layer in range(vectors.shape[1])])
                 for name, vectors in layered.items()}
best_layer = {name: best_within_train(vectors) for name, vectors in layered.items()}
without_layers = {
    "window of two": by_window(), "near words": by_skip_gram(lambda far: 1 / abs(far)), "bag": by_skip_gram(lambda far: 1),
    "majority": 1 / nouns_asked.groupby("word").sense.transform("nunique").to_numpy(),
}
words_before = by_skip_gram(lambda far: (far < 0) / abs(far))
cue_later = (nouns_asked.kind == "right").to_numpy()
WHERE_CUES_STAND = {"other sentences": ~cue_later, "every cue comes after": cue_later}

def of_those(answers: np.ndarray, those: np.ndarray = cue_later | True) -> tuple[float, float, float]:
    return with_interval(answers[those], nouns_asked[those])

reveal("inside.novels", told_by_layer["GPT"][best_layer["GPT"]][cue_later].mean())

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from itertools import combinations

from coursekit.exam import bounds, over_seeds, sense_exam
from coursekit.intervals import wilson
from coursekit.small import recorded_senses

print("This takes a few seconds.")
QUESTIONS_SHOWN = "left", "right", "order1"
of_encoder = read_table("results/sense_exam.csv").query("model == @loaded.name").set_index("layer")           # of MiniLM alone
generated_by_layer = {
    name: {kind: [over_seeds(recorded_senses(name.lower(), layer=layer))[kind] for layer in range(3)] for kind in QUESTIONS_SHOWN}
    for name in OF_NOVELS
}
if len(of_encoder):
    generated_by_layer[loaded.name] = {
        kind: [(share, *wilson(share, sense_exam().count(kind))) for share in of_encoder[kind]] for kind in QUESTIONS_SHOWN
    }
pictures.layer_by_layer(
    {name: [(gaps.mean(), *bootstrap(gaps)) for gaps in found_gaps.T] for name, found_gaps in separated.items()},
    {part: {name: [of_those(answers, those) for answers in rows_told] for name, rows_told in told_by_layer.items()}
     for part, those in WHERE_CUES_STAND.items()},
    {part: {name: answers[those].mean() for name, answers in without_layers.items()} for part, those in WHERE_CUES_STAND.items()},
    generated_by_layer, bounds().majority.left,
)
in_steps = {name: [of_those(later - earlier) for earlier, later in zip(rows_told, rows_told[1:])] for name, rows_told in told_by_layer.items()}
above_others = {name: {
    "above layer 0": of_those(rows_told[best_layer[name]] - rows_told[0]),
    "above the last layer": of_those(rows_told[best_layer[name]] - rows_told[-1]),
    "above the bag of words": of_those(rows_told[best_layer[name]] - without_layers["bag"]),
    "above near words": of_those(rows_told[best_layer[name]] - without_layers["near words"]),
    "above the window of two": of_those(rows_told[best_layer[name]] - without_layers["window of two"]),
    "above a guess, every cue comes after": of_those(rows_told[best_layer[name]] - without_layers["majority"], cue_later),
    "the same, last layer": of_those(rows_told[-1] - without_layers["majority"], cue_later),
} for name, rows_told in told_by_layer.items()}

def signed(mean: float, low: float, high: float) -> str:
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"

display(pd.DataFrame({
    name: {f"layer {layer} above layer {layer - 1}": signed(*step) for layer, step in enumerate(in_steps[name], 1)}
    for name in told_by_layer
}).fillna("").rename_axis("share of senses, step by step"))
display(pd.DataFrame({
    name: {"chosen within train": f"layer {best_layer[name]}", "share of senses found there": shown(*of_those(told_by_layer[name][best_layer[name]]))}
    | {other: signed(*difference_there) for other, difference_there in above_others[name].items()}
    for name in told_by_layer
}).rename_axis("the layer chosen"))
apart = {name: [of_those(one - other)[1:] for one, other in combinations(rows_told[1:], 2)] for name, rows_told in told_by_layer.items()}
apart = {name: (sum(low > 0 or high < 0 for low, high in pairs_of), len(pairs_of)) for name, pairs_of in apart.items()}
print("pairs of layers from 1 on whose difference is clear:\n   ", ", ".join("{}: {} of {}".format(name, *count) for name, count in apart.items()))
chosen_answers = {name: rows_told[best_layer[name]] for name, rows_told in told_by_layer.items()}
above_gpt = {part: {name: of_those(chosen_answers[name] - chosen_answers["GPT"], those) for name in ("ELMo", "BERT")}
             for part, those in {"all sentences": cue_later | True, **WHERE_CUES_STAND}.items()}
for part in ("all sentences", "every cue comes after"):
    print(f"{part}, above GPT:", ", ".join(f"{name} {signed(*difference_there)}" for name, difference_there in above_gpt[part].items()))
before_above_guess = of_those(words_before - without_layers["majority"], cue_later)
print("every cue comes after, the words before alone (skip-gram) above a guess:", signed(*before_above_guess))

# %% [markdown]
# Layer 0 guesses in all four: it holds the word, and in BERT, GPT and MiniLM its place. **From layer 1 on each tells senses.** In the three models of the novels no layer above layer 1 can be told from it, or from another: none of 13 pairs of layers differs by more than its interval. (With 27 words, a difference of
# three to five points may hide.) One sense minus two is above 0 from layer 1 on in each. MiniLM climbs for three layers; at its last, fewer senses are found than at the fifth (an interval that ends close to 0).

# %% [markdown]
# In the generated language it is the same where *words* tell: after layer 1 the course's models gain little. Where their *order* tells, the means of BERT and GPT are higher at layer 2. Our English sentences were not written to ask for order.

# %% [markdown]
# What have 36 to 68 minutes of training bought? ELMo and BERT find more senses than a bag of words (their intervals begin near 0); GPT cannot be told from it. None of the three can be told from near words, from the window of two, or from another of the three. All have read the same number of rows. MiniLM is ahead of the bag, near words and the window.

# %% [markdown]
# Where every cue comes after the word, GPT should guess, and the one of the generated language does. Ours is above a guess, at the layer chosen and at its last. It cannot look ahead, so what stands before tells something, in sentences that we wrote to tell it later. A reader of the words before
# alone is above a guess, too (12 asks it, too). So are ELMo and BERT, which read both sides; there GPT cannot be told from them.

# %% [markdown]
# The tables hold more than forty intervals. Of so many, about two would exclude 0 by luck alone, so lean on none that ends close to 0. And each model was trained once.

# %% [markdown]
# **Senses for free.** Novels come without labels. But merge two words, so that *silver* and *gold* both become *silver|gold*, and the sense is known at every place (a **pseudo-word**; Gale, Church and Yarowsky 1992; Schütze 1998; the pairs of 01). A small ELMo, BERT and GPT (two or three
# layers of 128 numbers, three seeds each) have learned from novels with 68 such words. At 3,968 places by authors whom no training read, a linear classifier for each word tells its sense from the vector of each layer. The model reads up to 40 words on each side, or one side alone (the other is cut off, as in 06).

# %% [markdown]
# **Predict:** the share that the small BERT finds at its last layer, reading both sides. A window of two words finds 0.83.

# %% tags=["demo"]
predict("inside.pseudo_words", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
of_pairs = read_table("results/novels_senses.csv").astype({"layer": str, "side": str}).fillna("").replace("nan", "")
OF_PSEUDO_WORDS = {"elmo": "ELMo", "bert": "BERT", "gpt": "GPT"}
WITHOUT_MODEL = {("more frequent word", ""): "more frequent word", ("bag of words", "both"): "bag of words",
                 ("window of two", "both"): "window of two", ("5-grams", "both"): "5-grams"}

def right_by_pair(model: str, side: str, layer: str = "") -> pd.DataFrame:
    """How many of each pair's places were told right, and of how many; the mean of the seeds."""
    rows_of_it = of_pairs[(of_pairs.model == model) & (of_pairs.side == side) & (of_pairs.layer == layer)]
    return rows_of_it.groupby("pair")[["right", "asked"]].mean()

def share_of_pairs(counted: pd.DataFrame, less: pd.DataFrame | None = None) -> tuple[float, float, float]:
    """The share told right, or the paired difference of two, with its 95 % interval; whole pairs are resampled."""
    right_there = counted.right - (0 if less is None else less.right)
    table_there = np.stack([right_there, counted.asked], axis=1)
    return right_there.sum() / counted.asked.sum(), *bootstrap(table_there, lambda some: some[:, 0].sum() / some[:, 1].sum())

pair_layers = {name: sorted(of_pairs.layer[(of_pairs.model == name) & of_pairs.layer.str.isdigit()].unique()) for name in OF_PSEUDO_WORDS}
told_in_pairs = {
    called: {side: [share_of_pairs(right_by_pair(name, side, layer)) for layer in pair_layers[name]] for side in sides}
    for (name, called), sides in zip(OF_PSEUDO_WORDS.items(), (("both", "left", "right"), ("both", "left", "right"), ("left",)))
}
without_model = {called: share_of_pairs(right_by_pair(*which)) for which, called in WITHOUT_MODEL.items()}
reveal("inside.pseudo_words", told_in_pairs["BERT"]["both"][-1][0])
pictures.pseudo_words(told_in_pairs, without_model)

def of_pair(name: str, side: str = "both", layer: int = -1) -> pd.DataFrame:
    return right_by_pair(name, side, pair_layers[name][layer])

pair_gaps = {
    **{f"{called}: last layer above the first above 0": share_of_pairs(of_pair(name), of_pair(name, layer=1)) for name, called in OF_PSEUDO_WORDS.items()},
    **{f"{called}, last layer, above {other}": share_of_pairs(of_pair(name), right_by_pair(other, "both"))
       for name, called in OF_PSEUDO_WORDS.items() for other in ("bag of words", "window of two", "5-grams")},
    "BERT above ELMo, last layers": share_of_pairs(of_pair("bert"), of_pair("elmo")),
    "ELMo above GPT, last layers": share_of_pairs(of_pair("elmo"), of_pair("gpt")),
    "BERT above GPT, last layers": share_of_pairs(of_pair("bert"), of_pair("gpt")),
    **{f"{called} above GPT, what stands before only": share_of_pairs(of_pair(name, "left"), of_pair("gpt"))
       for name, called in (("elmo", "ELMo"), ("bert", "BERT"))},
    "5-grams above GPT, what stands before only": share_of_pairs(right_by_pair("5-grams", "left"), of_pair("gpt")),
    "ELMo: what stands before above what comes after": share_of_pairs(of_pair("elmo", "left"), of_pair("elmo", "right")),
    "BERT: what stands before above what comes after": share_of_pairs(of_pair("bert", "left"), of_pair("bert", "right")),
    "5-grams: what stands before above what comes after": share_of_pairs(right_by_pair("5-grams", "left"), right_by_pair("5-grams", "right")),
    "ELMo: learned mix above its last layer": share_of_pairs(right_by_pair("elmo", "both", "mix"), of_pair("elmo")),
    "ELMo: learned mix above layer 1": share_of_pairs(right_by_pair("elmo", "both", "mix"), of_pair("elmo", layer=1)),
}
display(pd.DataFrame({"difference (95 %, whole pairs resampled)": {called: signed(*gap) for called, gap in pair_gaps.items()}}))
last_by_seed = {
    called: of_pairs[(of_pairs.model == name) & (of_pairs.side == "both") & (of_pairs.layer == pair_layers[name][-1])]
    .groupby("seed")[["right", "asked"]].sum().eval("right / asked").tolist()
    for name, called in OF_PSEUDO_WORDS.items()
}
mix_of_pairs = read_table("results/novels_mix.csv").groupby("layer").weight
print("The last layer, by seed:", "; ".join(f"{called} {', '.join(f'{share:.2f}' for share in shares)}" for called, shares in last_by_seed.items()))
print("ELMo's learned weights of the layers, mean and range over the seeds:", ", ".join(
    f"{mean:.2f} ({low:.2f} to {high:.2f})" for mean, low, high in zip(mix_of_pairs.mean(), mix_of_pairs.min(), mix_of_pairs.max())))

# %% [markdown]
# Layer 0 guesses; above it each layer tells senses. In BERT and GPT the last layer tells more than the first above 0 (the 27 words could not show such a difference); in ELMo the two cannot be told apart. What stands before the word tells more than what comes after it, to ELMo, to BERT and to 5-grams. As in the generated language, ELMo and BERT are ahead of GPT, and they are
# where all three read what stands before only. BERT is a little behind ELMo.

# %% [markdown]
# 5-grams and the window of two are ahead of all three; the bag is ahead of BERT and GPT. That is no even match: GPT reads one side only, and had 1,000 steps where ELMo had 2,000 and BERT 4,000 (ten minutes of one core each); counts have learned from every place in the training books, the classifiers from 200 of each word. Seeds differ by less than the models do.
#
# And the layers' weights, which ELMo leaves to the task (05)? Learned for these words, they put nearly everything on layer 2, and gain nothing by it: neither the mix nor layer 2 can be told from layer 1. A large weight does not say that a layer is better.

# %% [markdown]
# Now your own sentence. Each model says at every layer which sense the nearest labelled sentence has. The number beside it says how far that sentence is ahead of the nearest of another sense (a difference of cosines). Words that a model does not know are no error.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from textwrap import fill

all_labelled = pd.concat([senses, read_table("senses/novels.csv")], ignore_index=True)

def layer_by_layer(word: str, sentence: str) -> None:
    """Which labelled sentence each model finds nearest to yours."""
    word, sentence = str(word).strip().lower(), " ".join(str(sentence).split())
    of_word = all_labelled[all_labelled.word.isin(all_labelled.word[(all_labelled.form.str.lower() == word) | (all_labelled.word == word)])]
    labelled = of_word[of_word.split == "train"].reset_index(drop=True)
    if labelled.empty:
        print(f"Of “{word}” there are no labelled sentences. There are of: {', '.join(sorted(set(all_labelled.word)))}.")
        return
    forms = {word, *of_word.word, *of_word.form.str.lower()}
    starts = [begin for begin, end in spans_of_words(sentence).tolist() if sentence[begin:end].lower().removesuffix("'s") in forms]
    if not starts:
        print(f"“{word}” does not stand in your sentence: {sentence}")
        return
    if max(len(pieces_of_novels.encode(sentence).ids), len(tokenizer(sentence).input_ids), len(sentence) / 5) > 120:
        print("Your sentence is too long: the models of the novels read 126 pieces at most.")
        return
    by_model, nearest_of = {}, []
    for name in layered:
        near = vectors_by(name, [*labelled.sentence, sentence], [*labelled.start, starts[0]])
        close = cosine(near[:-1], near[-1:], dim=-1).T.numpy()                                           # L+1 n
        firsts = [labelled.sense[int(row.argmax())] for row in close]
        ahead_by = [row.max() - row[(labelled.sense != sense).to_numpy()].max() for row, sense in zip(close, firsts)]
        by_model[name] = {f"layer {layer}": f"{sense} {lead:+.3f}" if lead > 1e-4 else "all alike"
                          for layer, (sense, lead) in enumerate(zip(firsts, ahead_by))}
        best = close[best_layer[name]].argmax()
        nearest_of += [f"{name}, layer {best_layer[name]}: {labelled.sense[best]}", f"nearest: {labelled.sentence[best]}"]
    print(*(fill(line, 88, subsequent_indent="    ") for line in (sentence, "", *nearest_of)), sep="\n")
    display(pd.DataFrame(by_model).T.fillna(""))

# %% tags=["demo"]
YOUR_WORD = "bank"                                                          # change them
YOUR_SENTENCE = "They sat on the bank and watched the boats."

layer_by_layer(YOUR_WORD, YOUR_SENTENCE)

# %% [markdown]
# ## Further: reading the stream
#
# So far we looked, and compared. To know what *causes* an answer, one has to change something inside. This and the next two parts do so, mostly in models whose right answer is known. The generated language
# says exactly how probable every word is; the small GPT of 07 and BERT of 06 have learned it.
#
# The vector that runs through a pre-norm model is its **residual stream**: every part reads it, and adds what it has found. Only at the end a norm and the table turn it into logits. The
# **logit lens** (nostalgebraist 2020) does not wait. It applies norm and table to the stream behind *each* part, as if the model ended there.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
pictures.stream()

# %% nbgrader={"grade": false, "grade_id": "inside-logit_lens", "locked": false, "schema_version": 3, "solution": true, "task": false}
def logit_lens(
    stream: Float[Tensor, "points B T D"], gain: Float[Tensor, "D"], bias: Float[Tensor, "D"],
    table: Float[Tensor, "V D"],
) -> Float[Tensor, "points B T V"]:
    """Logits at each point of the residual stream.  (extension, ●●○, 6 minutes)

    Every vector of the stream goes through the final layer norm by itself: minus the mean of its
    numbers, divided by √(variance + 10⁻⁵), times gain, plus bias. The variance is the mean squared
    distance from the mean. A logit is the dot product with a row of the table.
    """
    ### BEGIN SOLUTION
    centred = stream - stream.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return (centred / (variance + 1e-5).sqrt() * gain + bias) @ table.T
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "inside-logit_lens-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("inside.logit_lens", lambda case: logit_lens(**case))

# %% [markdown]
# Is what the lens reads the *right* answer? Let p be the exact distribution of the next word and q the lens's. What q costs above p is the **Kullback–Leibler divergence**,
#
# $$\mathrm{KL}(p \,\|\, q) = \sum_v p(v)\, \log \frac{p(v)}{q(v)},$$
#
# in nats; 0 if they agree. Controls: an untrained GPT; the stream of another sentence at the same place; and two guesses from counts, by how frequent a word is, and by what follows the last word.
#
# **Predict:** KL behind the first of two layers. The untrained model is about 6 nats away, the count of pairs about 1.4.

# %% tags=["demo"]
predict("inside.lens", ...)

# %% tags=["demo"]
from coursekit.language import load_language
from coursekit.modules import causal_mask
from coursekit.small import BERT, GPT, load as load_small
from coursekit.small.bert import MASK, single

@torch.no_grad()
def stream_of(gpt: GPT, ids: Int[Tensor, "B T"]) -> Float[Tensor, "2L+1 B T D"]:
    """The residual stream: the embeddings, then behind each attention and each feed-forward."""
    points, keep = [gpt.embed(ids)], causal_mask(ids.shape[1])
    for trained in gpt.layers:
        x = points[-1]
        points.append(x + trained.attention(trained.norm_attention(x), keep))
        x = points[-1]
        points.append(x + trained.feed_forward(trained.norm_feed_forward(x)))
    return torch.stack(points)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about five seconds.")
language = load_language()
small_gpt, small_bert = load_small("gpt"), load_small("bert")
told = language.sample(200, np.random.default_rng(8), split="held_out")
told_ids, told_lengths = torch.tensor(told.ids), torch.tensor(told.lengths)
exact_next = torch.tensor(language.next_word(told.ids)[:, 1:], dtype=torch.float32)
is_word = (told_ids[:, 1:] != 0).float()

def nats_apart(exact: Float[Tensor, "*N V"], logits: Float[Tensor, "*N V"]) -> Float[Tensor, "*N"]:
    """KL(p || q) in nats, for p and the logits of q."""
    return (torch.xlogy(exact, exact) - exact * logits.log_softmax(dim=-1)).sum(dim=-1)

def by_sentence(each: Float[Tensor, "B T"]) -> np.ndarray:
    """The mean over the words of each sentence."""
    return ((each * is_word).sum(dim=1) / is_word.sum(dim=1)).numpy()

def in_nats(each: np.ndarray) -> tuple[float, float, float]:
    return (each.mean(), *bootstrap(each, draws=500))

@torch.no_grad()
def lens_of(gpt: GPT, points: Float[Tensor, "points B T D"]) -> list[Tensor]:
    """Logits of the next word at each point, one at a time: all together take much memory."""
    return [logit_lens(x[None, :, :-1], gpt.norm.weight, gpt.norm.bias, gpt.token.weight)[0] for x in points]

def distances(logits: list[Tensor]) -> list[tuple[float, float, float]]:
    return [in_nats(by_sentence(nats_apart(exact_next, q))) for q in logits]

torch.manual_seed(0)
raw_gpt, raw_bert = GPT(small_gpt.config).eval(), BERT(small_bert.config).eval()
points = stream_of(small_gpt, told_ids)
read_off = lens_of(small_gpt, points)
others = torch.randperm(len(points[0]), generator=torch.Generator().manual_seed(1))

# A linear map from each point to the last one, fitted on training sentences (as in the tuned lens).
drawn = language.sample(60_000, np.random.default_rng(9), split="train").ids
fitted_ids = torch.tensor(drawn[:2000])
to_fit, of_word = stream_of(small_gpt, fitted_ids)[:, :, :-1], fitted_ids[:, 1:] != 0

@torch.no_grad()
def translated(point: int) -> Float[Tensor, "B T D"]:
    x, y = (torch.cat([part, torch.ones(*part.shape[:-1], 1)], dim=-1) for part in (to_fit[point][of_word], points[point]))
    return y @ torch.linalg.lstsq(x, to_fit[-1][of_word]).solution

V = len(language.vocabulary)
pairs_of_words = torch.tensor(drawn)
last, following = (part.flatten() for part in (pairs_of_words[:, :-1], pairs_of_words[:, 1:]))
last, following = last[following != 0], following[following != 0]
frequent = torch.bincount(following, minlength=V) + 0.01
frequent = frequent / frequent.sum()
after_word = torch.bincount(last * V + following, minlength=V * V).view(V, V) + 5 * frequent
lens = {
    "logit lens": distances(read_off),
    "behind a fitted linear map": distances(lens_of(small_gpt, [translated(n) for n in range(5)])),
    "stream of another sentence": distances(lens_of(small_gpt, points[:, others])),
    "untrained GPT": distances(lens_of(raw_gpt, stream_of(raw_gpt, told_ids))),
}
counts = {
    "count of words": in_nats(by_sentence(nats_apart(exact_next, frequent.log().expand_as(exact_next)))),
    "count of pairs": in_nats(by_sentence(nats_apart(exact_next, after_word.log()[told_ids[:, :-1]]))),
}
reveal("inside.lens", lens["logit lens"][2][0])

hidden_at = (torch.rand(len(told), generator=torch.Generator().manual_seed(2)) * (told_lengths - 2)).long() + 1
rows = torch.arange(len(told))
is_hidden = torch.zeros_like(told_ids, dtype=torch.bool)
is_hidden[rows, hidden_at] = True
exact_masked = torch.tensor(language.masked_word(told.ids, is_hidden.numpy())[rows, hidden_at], dtype=torch.float32)
with_masks = single(told_ids).masked_fill(is_hidden, MASK)

@torch.no_grad()
def lens_of_bert(bert: BERT) -> list[tuple[float, float, float]]:
    states = bert.encode(bert.embeddings(with_masks, torch.zeros_like(with_masks)), with_masks != 0)
    return [in_nats(nats_apart(exact_masked, bert.masked_word(x[rows, hidden_at], bert.embeddings.token.weight)).numpy())
            for x in states]

lens_bert = {"masked-word head": lens_of_bert(small_bert), "untrained BERT": lens_of_bert(raw_bert)}
pictures.lens(lens, counts, lens_bert)
tops = [q.argmax(dim=-1) for q in read_off]
says = pd.DataFrame({
    "says the word just read": [by_sentence((top == told_ids[:, :-1]).float()).mean() for top in tops],
    "exact probability of the word it says": [by_sentence(exact_next.gather(-1, top[..., None])[..., 0]).mean() for top in tops],
}, index=pictures.POINTS).T
display(says.style.format("{:.2f}"))
most_possible = by_sentence(exact_next.max(dim=-1).values).mean()
print(f"exact probability of the most probable word: {most_possible:.2f}")

# %% [markdown]
# Behind the embedding the lens is further off than an untrained model: it says the very word that was read, since the table at the end is the table at the beginning. It comes nearer with every part, and
# the last answer is the right one. Behind layer 1 it beats the count of pairs: more than the last word has been read. The stream of another sentence is further off than an
# untrained model throughout: it is sure, of another sentence.
#
# A linear map, fitted for each point, reads more than the bare lens (Belrose et al. 2023). The lens says what is there *in the coordinates of the output*; more may be there.

# %% [markdown]
# Now a large model, whose right answer nobody knows: SmolLM2 and six beginnings after which *cell* may come, three from a prison, three from biology. The control: the same word after six other beginnings.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes a few seconds.")
CELL_FOLLOWS = ["The guard locked the prisoner in his", "The prisoner was led back to his", "The thief spent the night in a prison",
                "The doctor counted each white blood", "A virus enters the body and attacks a healthy",
                "Under the microscope we saw the nucleus of a single"]
NO_CELL = ["The farmer milked his", "We sailed across the", "She put the kettle on the", "The teacher closed her",
           "My brother plays the", "They planted roses in the"]

@torch.no_grad()
def places_by_layer(text: str, word: str = " cell") -> tuple[list[int], list[float]]:
    """How many tokens the lens puts before the word, and the word's log probability, at each layer."""
    asked_for = decoder.tokenizer(word).input_ids[0]
    given = decoder.tokenizer(text, return_tensors="pt")
    states = torch.stack(decoder.model(**given, output_hidden_states=True).hidden_states)[:, 0, -1]
    states[:-1] = decoder.model.norm(states[:-1])            # the last one comes normalised
    logits = states @ decoder.model.embed_tokens.weight.T
    logp = logits.log_softmax(dim=-1)[:, asked_for]
    return (logits > logits[:, asked_for, None]).sum(dim=-1).tolist(), logp.tolist()

cell_lens = {text: places_by_layer(text) for text in (*CELL_FOLLOWS, *NO_CELL)}
pictures.lens_of_a_word(
    {"cell may follow": [cell_lens[text][0] for text in CELL_FOLLOWS], "control": [cell_lens[text][0] for text in NO_CELL]},
    CELL_FOLLOWS, "cell",
)
even_guess = -np.log(decoder.model.embed_tokens.num_embeddings)
print("log probability of cell, mean of the six, at layers 0, 5, 10, …, 30:",
      " ".join(f"{np.mean([cell_lens[text][1][layer_shown] for text in CELL_FOLLOWS]):.1f}" for layer_shown in range(0, 31, 5)),
      f"(even guess {even_guess:.1f})")

# %% [markdown]
# In the first two thirds *cell* stands nowhere near the front; it comes up in the last ten of thirty layers. In the controls it stays behind hundreds of other tokens (median). In the middle the lens gives it less than an even guess would.
# Such a reading is no thought of the model: the lens reads in a language that the stream does not yet speak. Twelve texts, chosen by us; they show the shape of the curve, no more.

# %% [markdown]
# ## Further: what a head is worth
#
# Does a head matter? Take it away and see what the loss says: **ablation**. Two customs. **Zero ablation** puts zeros in the place of what the head gives; later parts may never have seen such a vector. **Mean
# ablation** puts the mean of what it gives over many words: what it says of all words stays, what it says of this one goes.

# %% nbgrader={"grade": false, "grade_id": "inside-ablate_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate_head(
    outputs: Float[Tensor, "B H T d"], real: Int[Tensor, "B T"], head: int
) -> Float[Tensor, "2 B H T d"]:
    """What the heads of a layer give, with one of them taken away.  (extension, ●●○, 8 minutes)

    Row 0: that head gives zeros. Row 1: at every token it gives its own mean, one vector of d numbers,
    over all real tokens of all sentences. `real` is 1 at tokens and 0 at padding, whose vectors do not
    count in the mean. Heads are numbered from 0; the others, and `outputs` itself, stay as they are.
    """
    ### BEGIN SOLUTION
    mean = outputs[:, head][real == 1].mean(dim=0)         # d
    zeroed, meaned = outputs.clone(), outputs.clone()
    zeroed[:, head], meaned[:, head] = 0, mean
    return torch.stack([zeroed, meaned])
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "inside-ablate_head-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("inside.ablate_head", lambda case: ablate_head(case["outputs"], case["real"], case["head"]))

# %% [markdown]
# A **hook** is a function that a module calls when it runs; what it returns takes the place of the input. Ours goes where the heads' outputs, side by side, enter the last projection of attention. **Predict:** all eight heads of GPT are taken away together
# (zeros). By what factor is the loss of that larger than the eight single losses added up?

# %% tags=["demo"]
predict("inside.together", ...)

# %% tags=["demo"]
def without_heads(network, taken: list[tuple[int, int]], row: int, real: Tensor) -> list:
    """Hooks that take heads (layer, head) away by row 0 or 1 of `ablate_head`; remove() ends them."""
    def hook_of(heads: list[int]):
        def hook(module, inputs):
            outputs = inputs[0].unflatten(-1, (4, -1)).transpose(1, 2)       # B H T d
            for taken_head in heads:
                outputs = ablate_head(outputs, real, taken_head)[row]
            return (outputs.transpose(1, 2).flatten(2),)
        return hook
    by_layer_taken = {of: [h for at, h in taken if at == of] for of, _ in taken}
    return [network.layers[of].attention.output.register_forward_pre_hook(hook_of(heads))
            for of, heads in by_layer_taken.items()]

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about five seconds.")

@torch.no_grad()
def loss_of_gpt() -> np.ndarray:
    """Nats per word of each sentence."""
    logits = small_gpt.encode(small_gpt.embed(told_ids))[-1][:, :-1] @ small_gpt.token.weight.T
    return by_sentence(-logits.log_softmax(dim=-1).gather(-1, told_ids[:, 1:, None])[..., 0])

@torch.no_grad()
def loss_of_bert() -> np.ndarray:
    """Nats at the one hidden word of each sentence, for four choices of it."""
    found_losses = []
    for begin in range(4):
        at = 1 + (hidden_at - 1 + begin) % (told_lengths - 2)
        inputs = single(told_ids).clone()
        inputs[rows, at] = MASK
        states = small_bert.encode(small_bert.embeddings(inputs, torch.zeros_like(inputs)), inputs != 0)[-1]
        logits = small_bert.masked_word(states[rows, at], small_bert.embeddings.token.weight)
        found_losses.append(-logits.log_softmax(dim=-1)[rows, told_ids[rows, at]])
    return torch.stack(found_losses).mean(dim=0).numpy()

def worth(network, loss, taken: list[tuple[int, int]], row: int) -> np.ndarray:
    """How many nats each sentence loses without these heads."""
    hooks = without_heads(network, taken, row, (told_ids != 0).long())
    without = loss()
    for hook in hooks:
        hook.remove()
    return without - loss_before[network]

TWO_WAYS = "zeros", "mean"
HEADS = [(of, h) for of in range(2) for h in range(4)]
loss_before = {small_gpt: loss_of_gpt(), small_bert: loss_of_bert()}
worths, together = {}, {}
for name_of_model, network, loss in (("GPT", small_gpt, loss_of_gpt), ("BERT", small_bert, loss_of_bert)):
    for row, way in enumerate(TWO_WAYS):
        worths[name_of_model, way] = np.array([worth(network, loss, [which], row) for which in HEADS])     # 8 sentences
        together[name_of_model, way] = worth(network, loss, HEADS, row)
pictures.worths(worths)
display(pd.DataFrame({
    f"{name_of_model}, {way}": {
        "eight single heads, added up": shown(*in_nats(each.sum(axis=0))), "all eight together": shown(*in_nats(together[name_of_model, way])),
    } for (name_of_model, way), each in worths.items()
}).T)
ratio_together = together["GPT", "zeros"].mean() / worths["GPT", "zeros"].sum(axis=0).mean()
reveal("inside.together", ratio_together)

# %% [markdown]
# Each number is the mean loss added when one head goes, its 95 % interval (over sentences) below it. Michel et al. (2019) could spare most heads of a large translator one by one. Zeros and means differ by a few hundredths of a nat at most. But worths do *not* add up: all eight together cost several times the sum. With one head gone the others still bring most of
# what is to be known of other words; with all gone no word hears of another. So a small worth does not say that a head does little, only that the rest can do without it.

# %% [markdown]
# From other random beginnings other heads may do the work. Two heads whose work has a name, and what one layer lacks without them, stand in part 9 of 07: the **induction head** and the previous-token head, in three runs.

# %% [markdown]
# ## Further: patching
#
# Which place carries the sense, and at which layer? **Activation patching** (Vig et al. 2020; Meng et al. 2022) answers by an exchange. Take two sentences of the same length that differ in the cue alone. Run the first, but put *one* vector, at one
# place of one layer, from the run of the second in its place. If the answer goes over to the second's, that vector carried the difference.

# %% nbgrader={"grade": false, "grade_id": "inside-patching", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patching(
    layers: list, target: Float[Tensor, "T D"], source: Float[Tensor, "T D"]
) -> Float[Tensor, "L+1 T T D"]:
    """The target's run with one vector out of the source's, for each layer and place.  (extension, ●●●, 12 minutes)

    Each of the L layers is a function from (B, T, D) to (B, T, D); `target` and `source` are what enters
    the first. Entry [l, t] holds the T vectors after the *last* layer, if at place t what enters layer l
    is the source's vector of the same layer and place, and everything else the target's. [L, t]: the
    exchange takes place after the last layer. Each run has one exchange only.
    """
    ### BEGIN SOLUTION
    T, found = len(target), []
    both = torch.stack([target, source])                   # 2 T D: the two runs, as they are
    for layer in range(len(layers) + 1):
        x = both[0].repeat(T, 1, 1)                        # T T D: a run for each place
        x[range(T), range(T)] = both[1]
        for rest in layers[layer:]:
            x = rest(x)
        found.append(x)
        both = layers[layer](both) if layer < len(layers) else both
    return torch.stack(found)
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "inside-patching-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from functools import partial

def tiny_layer(A: Float[Tensor, "T T"], W: Float[Tensor, "D D"], x: Tensor) -> Tensor:
    """Words are mixed by a matrix T × T, then each changes by itself."""
    return x + torch.tanh(A @ x @ W)

def tiny_layers(among, within) -> list:
    """Layers out of a case's numbers."""
    return [partial(tiny_layer, A, W) for A, W in zip(among, within)]

check("inside.patching",
      lambda case: patching(tiny_layers(case["among"], case["within"]), case["target"], case["source"]))

# %% [markdown]
# Three pairs of models and cues. In the small BERT *order* tells: "the farmer painted the spring for the mechanics" is about the season, and with the people exchanged about the coil. In the same BERT one *word* tells: "this was clearly the trunk of the birch", or "of the limousine". In MiniLM, too: "The guard looked into the cell." or "The biologist …".

# %% [markdown]
# As a score we take the last vector of the ambiguous word: its cosine to the mean vector of the source's sense minus that to the target's. The share restored is 0 for the target's run, 1 for the source's. Controls: all other places; and a source
# of the *same* sense, another word in the place of the cue. **Predict:** in BERT, the share restored by the vector of the person who acts, after layer 1.

# %% tags=["demo"]
predict("inside.restored", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
print("This takes about ten seconds.")
from coursekit.language.partners import partners

def restored(layers, target, source, place: int, senses_of: tuple[Tensor, Tensor], ends=None) -> tuple[np.ndarray, tuple]:
    """Share of the difference that each exchange restores, (L+1, T), and the scores of both runs."""
    patched = patching(layers, target, source)[:, :, place]                              # L+1 T D
    score = cosine(patched, senses_of[1], dim=-1) - cosine(patched, senses_of[0], dim=-1)
    if ends is None:
        runs = torch.stack([target, source])
        for one_layer in layers:
            runs = one_layer(runs)
        ends = tuple((cosine(runs[:, place], senses_of[1], dim=-1) - cosine(runs[:, place], senses_of[0], dim=-1)).tolist())
    return ((score - ends[0]) / (ends[1] - ends[0])).numpy(), ends

# BERT: who acts stands at place 2, the ambiguous word at 5, the others at 8.
labelled = language.sample(12_000, np.random.default_rng(10), split="train")
labelled = labelled[labelled.position >= 0]
with torch.no_grad():
    cls_ids = single(torch.tensor(labelled.ids))
    last_states = small_bert.encode(small_bert.embeddings(cls_ids, torch.zeros_like(cls_ids)), cls_ids != 0)[-1]
    last_states = last_states[torch.arange(len(cls_ids)), torch.tensor(labelled.position)]
mean_of_sense = torch.stack([last_states[torch.tensor(labelled.sense == one_sense)].mean(dim=0) for one_sense in range(len(language.senses))])
acting = language.sample(12_000, np.random.default_rng(11), split="held_out")
acting = acting[(acting.cue == "order1") & (acting.position == 5) & (acting.lengths == 10)][:80]
exchanged = partners(language, acting)

def in_bert(layer, x: Tensor) -> Tensor:
    return layer(x, torch.ones(1, 1, x.shape[1], dtype=torch.bool))

bert_layers = [partial(in_bert, layer) for layer in small_bert.layers]

@torch.no_grad()
def enters_bert(ids: np.ndarray) -> Float[Tensor, "T D"]:
    ids = single(torch.tensor(ids[None]))
    return small_bert.embeddings(ids, torch.zeros_like(ids))[0]

order_maps, same_order = [], []
with torch.no_grad():
    for n in range(len(acting)):
        both_senses = mean_of_sense[acting.sense[n]], mean_of_sense[exchanged.sense[n]]
        x, y = enters_bert(acting.ids[n, :10]), enters_bert(exchanged.ids[n, :10])
        shares, ends = restored(bert_layers, x, y, 5, both_senses)
        order_maps.append(shares)
        alike = [m for m in range(len(acting)) if m != n and acting.sense[m] == acting.sense[n] and acting.ids[m, 2] != acting.ids[n, 2]]
        if alike:
            z = x.clone()
            z[2] = enters_bert(acting.ids[alike[0], :10])[2]
            same_order.append(restored(bert_layers, x, z, 5, both_senses, ends)[0])

def by_role(shares: np.ndarray, cue_at: int, at: int) -> Float[np.ndarray, "3 L+1"]:
    """The place of the cue, that of the word, and all others together."""
    beside = [t for t in range(shares.shape[1]) if t not in (cue_at, at)]
    return np.stack([shares[:, cue_at], shares[:, at], shares[:, beside].sum(axis=1)])

# BERT, too: the last word of "… the trunk of the birch" tells, and nothing else does.
OF_A_TRUNK = {"tree": "oak pine maple birch".split(), "elephant": "elephant calf mammoth mother".split(), "car": "car taxi sedan limousine".split()}
number_of = language.id_of
kinds_of = {number_of[name]: (kind, n) for kind, names_of_kind in OF_A_TRUNK.items() for n, name in enumerate(names_of_kind)}
trunks = language.sample(12_000, np.random.default_rng(12), split="held_out")
trunks = trunks[np.isin(trunks.ids[range(len(trunks)), trunks.position], [number_of["trunk"], number_of["trunks"]])
                & (trunks.cue == "right") & (trunks.lengths == trunks.position + 5)]
trunks = trunks[[row[at + 3] in kinds_of and row[at + 1] == number_of["of"] for row, at in zip(trunks.ids, trunks.position)]][:48]

def with_cue(ids: np.ndarray, at: int, cue: str) -> np.ndarray:
    changed_ids = ids.copy()
    changed_ids[at] = number_of[cue]
    return changed_ids

def exact_sense(ids: np.ndarray, at: int) -> tuple[int, float]:
    """The most probable sense of the word there, and its probability."""
    posterior = language.sense_posterior(ids[None], np.array([at]), "both")[0]
    return int(posterior.argmax()), posterior.max()

word_maps, same_word, told_by_a_word = [], [], []
with torch.no_grad():
    for n in range(len(trunks)):
        ids, at, length = trunks.ids[n], trunks.position[n], trunks.lengths[n]
        kind, which = kinds_of[ids[at + 3]]
        another = list(OF_A_TRUNK)[(list(OF_A_TRUNK).index(kind) + 1 + n % 2) % 3]
        source_ids = with_cue(ids, at + 3, OF_A_TRUNK[another][which])
        (sense_here, sure), (sense_there, sure_there) = exact_sense(ids, at), exact_sense(source_ids, at)
        told_by_a_word.append((sense_here != sense_there, sure, sure_there))
        x, y, z = (enters_bert(one_text[:length]) for one_text in (ids, source_ids, with_cue(ids, at + 3, OF_A_TRUNK[kind][which - 1])))
        shares, ends = restored(bert_layers, x, y, at, (mean_of_sense[sense_here], mean_of_sense[sense_there]))
        word_maps.append(by_role(shares, at + 3, at))
        same_word.append(by_role(restored(bert_layers, x, z, at, (mean_of_sense[sense_here], mean_of_sense[sense_there]), ends)[0], at + 3, at))

# MiniLM: one cue word in four frames.
FRAMES = ["The {} looked into the cell.", "Yesterday the {} saw another cell.",
          "It was the {} who found this cell.", "The {} drew a picture of every cell."]
PRISON, BIOLOGY = ["guard", "prisoner", "warden"], ["biologist", "scientist", "surgeon"]

def in_minilm(layer, x: Tensor) -> Tensor:
    made = layer(x)
    return made[0] if isinstance(made, tuple) else made

mini_layers = [partial(in_minilm, layer) for layer in model.encoder.layer]
mean_of_cell = {sense: uses[torch.tensor(((senses.word == "cell") & (senses.sense == sense)).to_numpy().copy()), -1].mean(dim=0)
                for sense in ("prison", "biology")}
cell_maps, same_cell = [], []
with torch.no_grad():
    for frame in FRAMES:
        for n, cue in enumerate(PRISON):
            texts_of = frame.format(cue), frame.format(BIOLOGY[n]), frame.format(PRISON[n - 1])
            all_ids = [tokenizer(text, return_tensors="pt").input_ids for text in texts_of]
            pieces_of = tokenizer.convert_ids_to_tokens(all_ids[0][0])
            at, cue_at = pieces_of.index("cell"), pieces_of.index(cue)
            x, y, z = (model.embeddings(input_ids=one_text)[0] for one_text in all_ids)
            both_senses = mean_of_cell["prison"], mean_of_cell["biology"]
            shares, ends = restored(mini_layers, x, y, at, both_senses)
            cell_maps.append(by_role(shares, cue_at, at))
            if n:                                            # one control for each frame: it takes as long
                continue
            same_cell.append(by_role(restored(mini_layers, x, z, at, both_senses, ends)[0], cue_at, at))
order_maps, same_order, word_maps, same_word, cell_maps, same_cell = map(
    np.array, (order_maps, same_order, word_maps, same_word, cell_maps, same_cell))
reveal("inside.restored", order_maps[:, 1, 2].mean())
ROLES = ["[CLS]", "the", "who acts", "acts on", "the", "word", "for, beside, …", "the", "the others", "[SEP]"]
pictures.patched(
    {"small BERT: order tells": (order_maps.transpose(0, 2, 1), ROLES), "small BERT: one word tells": (word_maps, ["the cue", "trunk", "all others, added"]),
     "MiniLM: one word tells": (cell_maps, ["the cue", "cell", "all others, added"])},
    {"small BERT: order tells": same_order.transpose(0, 2, 1), "small BERT: one word tells": same_word, "MiniLM: one word tells": same_cell},
)
in_word_after_1 = {name: (maps[:, at].mean(), *bootstrap(maps[:, at], draws=500)) for name, maps, at in (
    ("order", order_maps[:, 1], 5), ("one word", word_maps[:, :, 1], 1), ("one word, MiniLM", cell_maps[:, :, 1], 1))}
for name, values in in_word_after_1.items():
    print("restored by the ambiguous word's own vector after layer 1, told by {}: {:.2f} (95 % over pairs {:.2f} to {:.2f})".format(name, *values))

# %% [markdown]
# The first column exchanges an input, the last the answer itself.
#
# In BERT the sense is *not* in the word after layer 1. It is in the person who acts, as if layer 1 had noted "this one acts"; layer 2 hands it to the word. The recorded exam agrees: at layer 1 this BERT finds the senses of such
# sentences by chance, at layer 2 all (one from another beginning finds three of four at layer 1). In MiniLM three quarters are in *cell* after the first layer, and the cue keeps a rest that shrinks. Other places carry next to nothing; another person of the same sense
# changes little.

# %% [markdown]
# Is it the kind of cue? Where one *word* tells, the ambiguous word itself holds hardly more in this BERT after layer 1, about a twelfth. The cue and the words beside it hold the rest, and layer 2 collects it. So the kind of cue is not all that sets the two models apart. They differ in depth, size and language as well. And this is one BERT: another
# beginning may note things elsewhere.

# %% [markdown]
# ## 9 · What came after BERT
#
# Three successors, each with one question. **DistilBERT** (Sanh et al. 2019): can a smaller model learn from the larger one's answers (**distillation**)? **RoBERTa** (Liu et al.
# 2019b): what if BERT is simply trained longer and better? **DeBERTa** (He et al. 2021): should place be added to the word at all? Their shapes can be counted without their weights,
# on the meta device.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from transformers import AutoModel, BertConfig, DebertaConfig, DistilBertConfig, RobertaConfig

shapes = {
    "BERT": BertConfig(),
    "DistilBERT": DistilBertConfig(),
    "RoBERTa": RobertaConfig(vocab_size=50_265, max_position_embeddings=514, type_vocab_size=1),
    "DeBERTa": DebertaConfig(
        vocab_size=50_265, type_vocab_size=0, relative_attention=True, max_relative_positions=-1,
        pos_att_type=["c2p", "p2c"], position_biased_input=False,
    ),
}
changed = {
    "BERT": ("WordPiece", "masked words, next sentence"),
    "DistilBERT": ("WordPiece", "masked words, BERT's answers and hidden states"),
    "RoBERTa": ("bytes (BPE)", "masked words alone, masked anew each time"),
    "DeBERTa": ("bytes (BPE)", "masked words alone"),
}

def shape_of(config) -> dict[str, str]:
    """Layers and parameters of an architecture, counted without memory for its weights."""
    with torch.device("meta"):
        empty = AutoModel.from_config(config)
    everything, tables = (sum(weight.numel() for weight in part.parameters())
                          for part in (empty, empty.embeddings))
    return {"layers": config.num_hidden_layers, "parameters": f"{everything:,}",
            "of these in tables": f"{tables:,}"}

def same_anywhere(config) -> str:
    """Does a token enter the first layer as the same vector wherever it stands? (random weights)"""
    small = {"vocab_size": 100, "pad_token_id": 0, "num_hidden_layers": 1, "n_layers": 1}
    config = type(config).from_dict(config.to_dict() | small)
    torch.manual_seed(0)
    table = AutoModel.from_config(config).eval().embeddings
    with torch.no_grad():
        x = table(torch.full((1, 8), 5))[0]
    return "yes" if torch.equal(x[2], x[6]) else "no"

display(pd.DataFrame({
    name: {**shape_of(config), "pieces": changed[name][0], "trained on": changed[name][1],
           "segments": "yes" if getattr(config, "type_vocab_size", 0) > 1 else "no",
           "same vector anywhere": same_anywhere(config)}
    for name, config in shapes.items()
}).T)

# %% [markdown]
# **The same in three lines.** `AutoConfig` reads the shape of a model from its files, without its weights. Here are the files of the encoder that this course brings along.

# %% tags=["demo"]
from transformers import AutoConfig

from coursekit.models.catalogue import MINILM

shape = AutoConfig.from_pretrained(MINILM.package.folder())
print(f"{type(shape).__name__}: {shape.num_hidden_layers} layers, {shape.num_attention_heads} heads, "
      f"D = {shape.hidden_size}, activation {shape.hidden_act}, ε = {shape.layer_norm_eps:g}")

# %% [markdown]
# DistilBERT halves the layers, keeps the tables and drops segments and pooler. RoBERTa changes hardly a tensor: a larger table (bytes, so no [UNK]) and a better training; it drops next-sentence prediction. DeBERTa takes the place out of the input and puts it into every layer: scores are
# content to content, content to *relative* place, and place to content, with vectors of their own. Its layer 0 is f(w) again; compare section 3.

# %% [markdown]
# ## 10 · Scoreboard
#
# The pre-trained model takes the exam of our generated language, whose sentences it has never seen. That takes minutes, so its answers are recorded, with all-MiniLM-L6-v2 (`python -m experiments one_corpus`; layer 0: `python -m experiments sense_exam`). As in part 8, the layer was
# chosen among the labelled sentences, each asked of all the others; 12 shows the same answers item by item.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import Accuracy
from coursekit.scoreboard import add_row, draw as draw_scoreboard

taken = read_table("results/sense_exam.csv").set_index("layer")
answered = read_table("results/one_corpus.csv").query("exam == 'generated' and model == 'all-MiniLM-L6-v2'")
minilm, minilm_layer = answered.groupby("part").right.mean(), answered.layer.iloc[0]
unread = Accuracy(**taken.loc[0, minilm.index])
add_row("MiniLM, layer 0", unread, note="control")
add_row("MiniLM, pre-trained", Accuracy(**minilm), note="on English")
draw_scoreboard()

# %% [markdown]
# The small models of 04 to 07 learned this language and nothing else; this one learned English and meets it as a stranger. It reads both sides of a word, so with the cue on the right it stands near BERT and far above GPT. Where *order* decides, it stands hardly above one half, the best of a reader
# without order; BERT, fifty times smaller, is far above it. So MiniLM's vector holds which words stand in the sentence, and hardly who did what to whom. (The sense may be in the vector and 1-NN by cosine may miss it: the topic moves the vector more.) Layer 0 has not read the
# sentence, and stands at the most frequent sense.

# %% [markdown]
# ## Extension: rollout
#
# Above layer 1 attention is paid to mixtures. Abnar and Zuidema (2020) unmix them by **attention rollout**: average the heads, let half of each token's vector come from the residual stream, and multiply the
# layers. A row of the result then says from which *input* tokens a vector's parts came, if nothing but shares counted. It counts as extra credit.

# %% nbgrader={"grade": false, "grade_id": "inside-attention_rollout", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_rollout(attention: Float[Tensor, "L H T T"]) -> Float[Tensor, "T T"]:
    """From which inputs the last layer's tokens come, by shares.  (extension, ●●○, 8 minutes)

    In each layer: the mean over heads, half of it plus half of the identity. Row i of the result
    belongs to token i after the last layer, column j to token j before the first. Rows add up to 1.
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
    """Attention among the words: nothing for [CLS] and [SEP], rows made to add up to 1 again."""
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
pictures.explains({name: (both[name].mean(), *bootstrap(both[name].to_numpy()))
                   for name in both}, len(both))

# %% [markdown]
# > **Sources say, we measure.** Abnar and Zuidema found that rollout agrees better with other measures of importance than raw attention does. In MiniLM it agrees with nothing: about half of all weight goes to [CLS], whose values are short, and
# > rollout multiplies shares as if they were amounts. Without the two special tokens it orders words again, no better than the last layer's attention does. Their tasks and models were others; a method that was tested on one model has to be tested on yours.

# %% [markdown]
# ## Extension: a probe and its control
#
# A **probe** is a small model that reads a property off frozen vectors. If it succeeds, the property is there; but a probe can also *learn* a task by heart. Hewitt and Liang (2019) give it a **control task**: every word type gets a label by lot. Nothing in the language
# says so, so what the probe gets right there, it has memorised. Accuracy minus control accuracy is its *selectivity*.

# %% nbgrader={"grade": false, "grade_id": "inside-probe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def probe(
    train: Float[Tensor, "m D"], labels: Int[Tensor, "m"], test: Float[Tensor, "n D"], ridge: float
) -> Float[Tensor, "n K"]:
    """Scores of a linear probe, fitted by ridge regression.  (extension, ●●●, 12 minutes)

    labels are 0 to K − 1, each of them occurs; the targets are their one-hot vectors. Inputs and
    targets are centred with their means over train; W minimises |x W − y|² + ridge · |W|², summed
    over train. A score is the centred test vector times W, plus the mean target.
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
# The property: is the word a noun here? (*saw* the tool is, *saw* the past of *see* is not.) The words whose senses are all nouns are no use here: whoever knows the word knows the answer. So it is asked of the other half, 13 words together (*left* is left out: it is hard to say). Control: each word gets a label by lot. A second control, stricter: words that the probe has never met.
#
# **Predict:** accuracy of the probe on the *control* labels, at the layer chosen in part 8.

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

NAMES = ("noun", "control labels", "noun, words never met", "majority of those")
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
        values["noun, words never met"].append(accuracy(one, noun, met, clear & ~met))
        values["majority of those"].append(noun[clear & ~met].float().mean().item())
    for name in probed:
        probed[name].append((np.mean(values[name]), half_width(values[name])))
reveal("inside.control", probed["control labels"][chosen][0])
pictures.probes(probed)

# %% [markdown]
# From layer 2 on the probe reads *noun* with few errors, and it learns nonsense even better: its selectivity is below 0. By itself the high accuracy does not show that *noun* is in the vectors as such: they hold the word, and 13 words are easily learned by heart. The third curve
# is what was wanted: on words never met, layer 0 gives the majority, the middle layers far more. There *noun* is a direction that words share.

# %% [markdown]
# ## Summary
#
# - Find a word's pieces by characters; print what you average.
# - Table row, layer 0 and GloVe are three static embeddings.
# - A cosine needs its controls, one sense and random pairs, at the same layer.
# - Which layer tells senses apart is measured on training data: here layer 5 of 6; in three small models any from 1 on.
# - Senses of another part of speech are told apart by grammar. Of nouns, two words on either side tell as many hard ones as a contextual embedding.
# - An attention weight is a share, not an amount. Test by hiding.
# - Causes are found by changes; single losses do not add up.
# - A probe's accuracy needs that of its control labels beside it.
#
# **Next**: 09 changes the weights.

# %% [markdown]
# ## References
#
# - Abnar, S. and Zuidema, W. (2020). Quantifying attention flow in transformers. *ACL*. arXiv:2005.00928.
# - Belrose, N. et al. (2023). Eliciting latent predictions from transformers with the tuned lens. arXiv:2303.08112.
# - Clark, K., Khandelwal, U., Levy, O. and Manning, C. D. (2019). What does BERT look at? An analysis of BERT's attention. *BlackboxNLP*. arXiv:1906.04341.
# - Devlin, J., Chang, M.-W., Lee, K. and Toutanova, K. (2019). BERT: pre-training of deep bidirectional transformers for language understanding. *NAACL*. arXiv:1810.04805.
# - Efron, B. (1979). Bootstrap methods: another look at the jackknife. *Annals of Statistics* 7(1), 1–26.
# - Ethayarajh, K. (2019). How contextual are contextualized word representations? Comparing the geometry of BERT, ELMo, and GPT-2 embeddings. *EMNLP*. arXiv:1909.00512.
# - flair (2020). GH-1492: added new BERT embeddings implementation, and its review. github.com/flairNLP/flair/pull/1494.
# - Gale, W. A., Church, K. W. and Yarowsky, D. (1992). Work on statistical methods for word sense disambiguation. *AAAI Fall Symposium on Probabilistic Approaches to Natural Language*, 54–60.
# - He, P., Liu, X., Gao, J. and Chen, W. (2021). DeBERTa: decoding-enhanced BERT with disentangled attention. *ICLR*. arXiv:2006.03654.
# - Hewitt, J. and Liang, P. (2019). Designing and interpreting probes with control tasks. *EMNLP*. arXiv:1909.03368.
# - Jain, S. and Wallace, B. C. (2019). Attention is not explanation. *NAACL*. arXiv:1902.10186.
# - Kobayashi, G., Kuribayashi, T., Yokoi, S. and Inui, K. (2020). Attention is not only a weight: analyzing transformers with vector norms. *EMNLP*. arXiv:2004.10102.
# - Liu, N. F., Gardner, M., Belinkov, Y., Peters, M. E. and Smith, N. A. (2019a). Linguistic knowledge and transferability of contextual representations. *NAACL*. arXiv:1903.08855.
# - Liu, Y. et al. (2019b). RoBERTa: a robustly optimized BERT pretraining approach. arXiv:1907.11692.
# - McCormick, C. and Ryan, N. (2019). BERT word embeddings tutorial. mccormickml.com.
# - Meng, K., Bau, D., Andonian, A. and Belinkov, Y. (2022). Locating and editing factual associations in GPT. *NeurIPS* 35. arXiv:2202.05262.
# - Michel, P., Levy, O. and Neubig, G. (2019). Are sixteen heads really better than one? *NeurIPS* 32. arXiv:1905.10650.
# - nostalgebraist (2020). Interpreting GPT: the logit lens. lesswrong.com.
# - Reimers, N. and Gurevych, I. (2019). Sentence-BERT: sentence embeddings using siamese BERT-networks. *EMNLP*. arXiv:1908.10084.
# - Sanh, V., Debut, L., Chaumond, J. and Wolf, T. (2019). DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter. arXiv:1910.01108.
# - Schütze, H. (1998). Automatic word sense discrimination. *Computational Linguistics* 24(1), 97–123.
# - Vig, J. (2019). A multiscale visualization of attention in the transformer model. *ACL, system demonstrations*. arXiv:1906.05714.
# - Vig, J. et al. (2020). Investigating gender bias in language models using causal mediation analysis. *NeurIPS* 33. arXiv:2004.12265.
# - Wang, W. et al. (2020). MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained transformers. *NeurIPS* 33. arXiv:2002.10957.
# - Wiegreffe, S. and Pinter, Y. (2019). Attention is not not explanation. *EMNLP*. arXiv:1908.04626.

# %% [markdown]
# Next: [09 · Fine-tuning](../09_fine_tuning/09_fine_tuning.ipynb). The [start page](../start.ipynb) shows how far you are.
