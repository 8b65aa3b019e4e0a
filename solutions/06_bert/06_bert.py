# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · BERT
#
# ELMo (Peters et al. 2018) combines two language models, one for each direction, so neither of them ever sees both sides of a word at once. BERT (Devlin et al. 2019) uses an encoder like the encoder of notebook 03, in which
# every word attends to every other word, and trains it to predict words that have been masked. In this notebook we build everything around the encoder: subword tokenisation, sentence pairs, masking and two losses. Then we train the model and measure how much the right-hand context is worth.
#
# **You need** notebooks 03 and 05. **Time** about 85 minutes: seven exercises and two written questions. Seven
# extensions are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [05 · ELMo](../05_elmo/05_elmo.ipynb) · next: [07 · GPT](../07_gpt/07_gpt.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - tokenise words into subwords from a fixed vocabulary, and encode a sentence pair as BERT's input;
# - mask words as in BERT's pre-training, and compute the loss on the masked words only;
# - predict a model's loss before training, train a small masked language model, and compare its loss with the entropy of the language;
# - state in nats how much the right-hand context is worth;
# - load the weights of a published model into an encoder of your own.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coursekit import check, hint, predict, reveal
from coursekit.growing import mine, whole_numbers

UNCHOSEN = -100  # the label of a position that the loss ignores, as in PyTorch

# %% [markdown]
# ## 1 · Self-supervision: the text provides the labels
#
# The translator of notebook 04 needed pairs of a sentence and its translation, which people usually have to write. A language model is self-supervised: it needs no such pairs, because the words of the text itself are its labels. Two objectives are common.
# A *causal* (autoregressive) model predicts each word from the words before it. A **masked language model** (MLM) predicts masked words from the words on both sides
# (Taylor 1953 used the same task with human readers and called it the cloze procedure).

# %% tags=["demo"]
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.language import MASK, SPECIAL_TOKENS, load_language
from coursekit.pictures import (
    bert as pictures, bert_tables as tables, cell, masked_english, published_scores,
    small_models, subwords,
)
from coursekit.plots import show, use_style

use_style()
torch.set_num_threads(1)
language = load_language()

words = "plug in your cell phone".split()
display(pd.DataFrame({
    "text": words,
    "labels of a causal model": [*words[1:], "·"],
    "labels of a masked model": [word if word == "cell" else "·" for word in words],
}).T)

# %% [markdown]
# The causal model has a label at every position except the last, whereas the masked model has labels only at masked words. Fewer labels are the price of bidirectional context. Could a bidirectional model predict all words without masking any of them? No, because it could see the answers: in a deep bidirectional network the information about each word flows back to its own position through its neighbours. This is the leak that you found in notebook 05. (In one of the extensions you will compute both kinds of labels.)

# %% [markdown]
# ## 2 · Subword tokenisation
#
# A vocabulary of words is never complete, and a vocabulary of letters makes sequences long. BERT therefore uses a vocabulary of 30,522 **subwords** (WordPiece: Schuster and Nakajima 2012; Wu et al. 2016). A frequent word is a single token, whereas a rarer word is composed of several tokens. A subword that continues a word is written with ## in front. Tokenisation is greedy: we take the longest subword that matches the beginning of the word, then the longest subword that matches the beginning of the rest, and so on.

# %% [markdown]
# As an example, consider the vocabulary {un, ##forget, ##table, ##able, forget, table}. The longest subword at the beginning of *unforgettable* is *un*. The rest of the word, *forgettable*, begins with *##forget*, and the remaining *table* matches *##table*. The result is *un ##forget ##table*. The subword *##able* is never tried, because the longer *##table* already covers the rest of the word.

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def cut_all(case: dict, cut) -> Int[Tensor, "words pieces"]:
    """One row of subword ids per word, padded with −1 so that the rows form an array."""
    vocab = dict(zip(case["pieces"], case["ids"].tolist(), strict=True))
    rows = [whole_numbers(cut(word, vocab), "wordpiece")[:10] for word in case["words"]]
    return torch.tensor([row + [-1] * (10 - len(row)) for row in rows])

# %% nbgrader={"grade": false, "grade_id": "bert-wordpiece", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wordpiece(word: str, vocab: dict[str, int]) -> list[int]:
    """The subword ids of a word, by greedy longest match.  (difficulty ●●○, 10 minutes)

    vocab maps each subword to its id (≥ 0). A subword that begins a word is listed as it is; a
    subword that continues a word is listed with ## in front. From left to right, take the
    longest subword that matches, continue after it, and never backtrack. If no subword matches
    at some position, the whole word becomes the single id vocab["[UNK]"].
    """
    ### BEGIN SOLUTION
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
        else:
            return [vocab["[UNK]"]]
        pieces.append(vocab[piece])
        start = end
    return pieces
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-wordpiece-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.wordpiece", lambda case: cut_all(case, wordpiece))

# %% [markdown]
# We first try your function with a vocabulary of eight entries and then with BERT's own vocabulary, which is supplied in a small package.
#
# **Predict:** what fraction of the words in our generated language are single tokens in BERT's vocabulary (0 to 1)?

# %% tags=["demo"]
predict("bert.one_piece", ...)

# %% tags=["demo"]
from coursekit.models import tokenizer

toy = {
    piece: i
    for i, piece in enumerate("[UNK] un ##forget ##table ##able forget table ##t".split())
}
wordpieces = tokenizer("bert-base-uncased")
real = wordpieces.get_vocab()
subwords.examples(wordpiece, toy, real)

# %% tags=["demo"]
in_pieces = subwords.cut_language(language, wordpiece, wordpieces)
reveal("bert.one_piece", in_pieces.single_token)
subwords.language_summary(in_pieces)

# %% [markdown]
# The toy vocabulary contains *##forget*, but BERT's vocabulary does not. The longest match after *un* is therefore *##for*, which is followed by *##get*. Subwords need not be meaningful units, because they were chosen to make a large text as probable as possible with a vocabulary of the given size. *wardens* shares a subword with *warden*, so training on one of the two words also helps the model to represent the other. A word that never occurred in training still consists of subwords that did occur.

# %% [markdown]
# **The same with a library.** `AutoTokenizer` chooses the tokenizer class that belongs to a model's files. We load the files of a model that is installed on this machine and tokenises text as BERT does. If we passed a name such as "bert-base-uncased", BERT's own files would be downloaded from the Hugging Face hub.

# %% tags=["demo"]
from transformers import AutoTokenizer

from coursekit.models.catalogue import MINILM

automatic = AutoTokenizer.from_pretrained(MINILM.package.folder())
inputs = automatic("unforgettable embeddings", return_tensors="pt")
print(type(automatic).__name__, automatic.convert_ids_to_tokens(inputs.input_ids[0]))

# %% [markdown]
# ## 3 · Sentence pairs
#
# BERT's input is a single sequence that contains one or two sentences. It begins with *[CLS]*, each sentence is followed by *[SEP]*, and padding fills the remaining positions. The vector of the **[CLS] token** will represent the whole sequence. *Segment ids* indicate to which of the two sentences each token belongs.

# %% nbgrader={"grade": false, "grade_id": "bert-encode_pair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_pair(
    a: Int[Tensor, "Ta"], b: Int[Tensor, "Tb"], T: int, cls: int, sep: int, pad: int
) -> tuple[Int[Tensor, "T"], Int[Tensor, "T"], Bool[Tensor, "T"]]:
    """A sentence pair as BERT's input: (ids, segments, keep), all (T).
    (difficulty ●●○, 8 minutes)

    ids: cls, a, sep, b, sep, then padding. segments: 0 for cls, a and its sep; 1 for b and its
    sep; 0 for padding. keep: True for all tokens, whatever their ids, and False for padding.
    If the pair is too long, repeatedly remove the last token of the longer sentence until the
    pair fits; if both sentences are equally long, remove the last token of b.
    """
    ### BEGIN SOLUTION
    a, b = a.tolist(), b.tolist()
    while len(a) + len(b) + 3 > T:
        longer = a if len(a) > len(b) else b
        longer.pop()
    first = [cls, *a, sep]
    second = [*b, sep]
    rest = T - len(first) - len(second)
    ids = torch.tensor(first + second + [pad] * rest)
    segments = torch.tensor([0] * len(first) + [1] * len(second) + [0] * rest)
    return ids, segments, torch.arange(T) < T - rest
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-encode_pair-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.encode_pair", lambda case: encode_pair(**case))

# %% [markdown]
# We encode a sentence pair with BERT's vocabulary and your two functions, and compare the result with the output of Hugging Face's tokenizer:

# %% tags=["demo"]
def ids_of(text: str) -> Int[Tensor, "T"]:
    """The subword ids of a text whose words are separated by spaces."""
    return torch.tensor([i for word in text.split() for i in wordpiece(word, real)])

a, b = "plug in your cell phone", "the battery is unforgettable"
ids, segments, keep = encode_pair(
    ids_of(a), ids_of(b), 18, *(real[token] for token in ("[CLS]", "[SEP]", "[PAD]"))
)
same = pictures.next_to_hugging_face(wordpieces, (a, b), (ids, segments, keep))

# %% [markdown]
# ## 4 · Masking
#
# In pre-training, 15 % of all words are *chosen* at random, and the model has to predict these words. However, [MASK] never occurs in the texts to which the model will be applied. Therefore only 80 % of the chosen words become [MASK]; 10 % become a random word, and 10 % are left unchanged (Devlin et al., section 3.1). Since any word of the input may be a chosen word, the model has to compute a useful vector at every position.
#
# **Predict:** out of 100 words of a text, how many are different in the model's input?

# %% tags=["demo"]
predict("bert.seen_changed", ...)

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def with_draws(case: dict) -> dict:
    """The inputs of a check, with the draws converted from thousandths; some draws equal a threshold exactly."""
    return case | {name: case[name].double() / 1000 for name in ("choice", "change")}

# %% nbgrader={"grade": false, "grade_id": "bert-mlm_corrupt", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mlm_corrupt(
    ids: Int[Tensor, "B T"],
    special: Int[Tensor, "S"],
    mask: int,
    choice: Float[Tensor, "B T"],
    change: Float[Tensor, "B T"],
    random_words: Int[Tensor, "B T"],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """The model's input and its labels: (corrupted, labels). (difficulty ●●○, 8 minutes)

    All random numbers are given: choice and change contain uniform draws from [0, 1). A token
    is chosen if its entry in choice is below 0.15, but never if its id is in special. A chosen
    token becomes mask if its entry in change is below 0.8. If that entry is at least 0.8 but
    below 0.9, the token becomes its entry in random_words (whatever that id is); otherwise it
    is left unchanged. labels: the original id where a token is chosen, UNCHOSEN (−100)
    elsewhere.
    """
    ### BEGIN SOLUTION
    chosen = (choice < 0.15) & ~torch.isin(ids, special)
    labels = ids.masked_fill(~chosen, UNCHOSEN)
    corrupted = torch.where(chosen & (change < 0.8), mask, ids)
    corrupted = torch.where(chosen & (change >= 0.8) & (change < 0.9), random_words, corrupted)
    return corrupted, labels
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-mlm_corrupt-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.mlm_corrupt", lambda case: mlm_corrupt(**with_draws(case)))

# %% [markdown]
# Does your function produce the proportions 80/10/10? We corrupt several thousand sentences and compare each proportion with the range in which 95 % of such samples would lie.

# %% tags=["demo"]
SPECIAL = torch.arange(len(SPECIAL_TOKENS))

def corrupt(
    ids: Int[Tensor, "B T"], vocabulary: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Corrupt ids with your mlm_corrupt, using random draws from a generator."""
    choice, change = torch.rand(2, *ids.shape, generator=generator)
    random_words = torch.randint(
        len(SPECIAL_TOKENS), vocabulary, ids.shape, generator=generator
    )
    return mlm_corrupt(ids, SPECIAL, MASK, choice, change, random_words)

# %% tags=["demo"]
from coursekit.small import (
    BERT, BERTConfig, both_sides, load as load_small, masked, pairs, recorded, recorded_senses,
)

sentences = language.sample(4000, np.random.default_rng(6), split="train")
corruption = masked.measure_corruption(language, sentences, corrupt)
reveal("bert.seen_changed", corruption.changed_per_100)
pictures.corruption(corruption)

# %% [markdown]
# All four proportions lie within the expected ranges, and no special token was changed. A random word may happen to be the original word, but with so many words in the vocabulary, this is too rare to be visible in the figure.

# %% [markdown]
# **Question 1 · Why not every chosen word becomes [MASK].** Suppose that all chosen words became [MASK], and none became a random word or stayed unchanged. Which information could the model then neglect at positions that are not [MASK], and why would this be harmful when we use the model's vectors for clean text? How do the random words and the unchanged words (10 % each) prevent this? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "bert-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The loss would require a prediction only at [MASK], so the vectors at all other positions would only have to help predict the masked words. These vectors would not need to encode
# which word fits at their own position. Clean text contains no [MASK], so every vector that we use would come from a kind of position that the loss ignored in training.
# Because a tenth of the chosen words are left unchanged, the model has to predict words that it can see, so the vector at such a position must encode the word. Because another tenth become random words, the model cannot simply copy its input. Any word may be wrong, so the model has to weigh each word against its context.
#
# *Marking: 1 point for the mismatch (the loss ignores unmasked positions, and [MASK] does not occur when the model is used); 1 point for both tenths (unchanged: encode the word; random: do not trust it
# blindly).*

# %% [markdown]
# ## 5 · The masked-language-model loss
#
# At each position the model outputs logits over the vocabulary. The loss is the cross-entropy, averaged over the chosen positions only.

# %% nbgrader={"grade": false, "grade_id": "bert-mlm_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mlm_loss(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """Cross-entropy per chosen word: the mean of −log p(correct word), in nats.
    (difficulty ●●○, 5 minutes)

    A position is chosen if its label is not UNCHOSEN (−100). Take the mean over all chosen
    positions of the batch, each with the same weight; at least one position is chosen. Use the
    natural logarithm. Logits may be large: if the model is confident in a wrong word, the loss
    can be hundreds of nats. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    chosen = labels != UNCHOSEN
    log_p = logits[chosen].log_softmax(dim=-1)
    return -log_p.gather(1, labels[chosen][:, None]).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-mlm_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.mlm_loss", lambda case: mlm_loss(**case), gradients=True)

# %% [markdown]
# What loss can we expect? For our generated language there is an exact answer. If *all* chosen words become [MASK], the best possible prediction is known (`language.masked_word`). Its cross-entropy is the conditional **entropy** of a masked word, and no model can have a lower expected loss. The difference between a model's loss and the entropy is the KL divergence between the true distribution and the model's distribution. We compare the entropy with the losses of three baselines.

# %% tags=["demo"]
bert, held_out = load_small("bert"), masked.mask_held_out(language, corrupt)
ladder = masked.baselines(mlm_loss, bert, held_out, sentences)

# %% [markdown]
# At the end of the list, even the best possible prediction has a loss above zero: the entropy is the uncertainty of the language itself, which no model can remove. The beginning of the list is surprising. A model that knows nothing should predict a uniform distribution, so its initial loss should be ln V. Our untrained BERT has a higher loss, because it is confident in random predictions. We can derive its initial loss from the initialisation alone.

# %% [markdown]
# The logit of word j is the dot product $h \cdot e_j$ of the model's vector h and the embedding of the word. The coordinates of all embeddings are drawn from a normal distribution with mean 0 and standard deviation σ. For a given h, the logits of the V words are therefore V draws from another normal distribution with mean 0 and some standard deviation s. If z has this distribution, the mean of exp(z) is exp(s²/2), so the sum of the V exponentials is close to V exp(s²/2). What does this imply for the mean of −log p?

# %% nbgrader={"grade": false, "grade_id": "bert-first_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def first_loss(hidden: Float[Tensor, "N D"], V: int, std: float) -> Float[Tensor, ""]:
    """The loss that you expect before training, in nats.  (difficulty ●●○, 6 minutes)

    hidden[n] is the model's vector at position n and may have any length. Its dot products
    with the embeddings of the V words are the logits; the coordinates of the embeddings are
    independent draws with mean 0 and standard deviation std. Replace the sum of the
    exponentials by its expected value, as above, before you take its logarithm. The logit of
    the correct word is 0 on average. Take the mean over the positions.
    """
    ### BEGIN SOLUTION
    variance = std**2 * hidden.square().sum(dim=-1)
    return (math.log(V) + variance / 2).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-first_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.first_loss", lambda case: first_loss(case["hidden"], case["V"], case["std"]))

# %% [markdown]
# In our recipe σ is 0.2. In the original BERT it is 0.02. **Predict:** what is the first loss of our model with σ = 0.02?

# %% tags=["demo"]
predict("bert.first_loss", ...)

# %% tags=["demo"]
print("This takes about five seconds.")
at_first = {
    std: masked.first_losses(first_loss, mlm_loss, bert, held_out, std)
    for std in (0.02, 0.05, 0.1, 0.2)
}
reveal("bert.first_loss", at_first[0.02][:, 1].mean())
tables.first_losses(at_first, uniform=np.log(len(language.vocabulary)))

# %% [markdown]
# Your formula predicts the first loss from the size of the embeddings alone. (A single model can deviate from this prediction, most of all with σ = 0.2, because all positions with [MASK] have nearly the same vector and thus the same random logits.) Comparing the first loss with ln V is therefore a simple test of any initialisation, and it reveals many bugs (Karpathy 2022). Our recipe nevertheless accepts a high first loss, which training quickly reduces. Smaller token embeddings would not dominate the sum of the three embeddings, and training would take longer.

# %% [markdown]
# ## 6 · Train it
#
# Training on text alone, before training on any task, is called **pre-training**. To see results in less than twenty seconds, we use only a part of the language: the topics *prison*, *river* and *night*. We leave out the sentences in which the sense depends on word order and those in which the cue is on the right. The exact entropy of this part of the language is also known. Your functions process all 720 batches.

# %% [markdown]
# The encoder is given for now; you will build one yourself in section 10. Its layers are like those that you built in notebook 03, with post-norm and exact **GELU** (Hendrycks and Gimpel 2016). In addition, a layer norm is applied to the sum of the embeddings.
# BERT also uses **dropout**, which sets a tenth of the activations to 0 during training; our small model does not use it.

# %% [markdown]
# We remove the padding from the sequences that your `encode_pair` returns, so the sequences differ in length. A `DataLoader` shuffles them and passes 32 sequences at a time to a function that pads them with your `collate` from notebook 03. Each step calls your `training_step`, which is also from notebook 03. At several points during training, the model fills two gaps in a sentence.

# %%
from torch.utils.data import DataLoader

collate, training_step = mine("collate", "training_step")

# %% tags=["demo"]
BATCH, STEPS = 32, 720
corner = pairs.simple_language("prison", "river", "night")
V, T = len(corner.vocabulary), pairs.longest_pair(corner)
rows = pairs.training_rows(corner, encode_pair, BATCH * STEPS)

# %% [markdown]
# Each of our pairs consists either of two consecutive sentences or of two sentences from different texts. If the sentences come from different texts, neither contains information about the other. The best possible prediction of a masked word is then the prediction of `masked_word` for the word's own sentence. We therefore evaluate the loss on pairs from different texts, with every chosen word replaced by [MASK].

# %% tags=["demo"]
exam = pairs.held_out_test(corner, encode_pair, collate, corrupt)

# %% tags=["demo"]
def words_alone(model: BERT, ids, segments, labels, not_next, optimiser, rate: float) -> float:
    """Your training step, with a loss on the chosen words of each batch only."""
    batch = (ids, segments), labels, labels != UNCHOSEN
    return training_step(pairs.WordsOfPairs(model), batch, optimiser, rate, 1.0)

def train(
    take_step, steps: int, show_at=(), gapped="the guard locked the [thief] in a dark [cell]"
) -> tuple[BERT, Float[np.ndarray, "points 4"]]:
    """A BERT trained on batches of 32, and its evaluations during training as rows (step,
    losses and accuracy on the held-out pairs).

    take_step receives a batch and returns its loss. After each step in `show_at`, the model
    fills the gaps in brackets.
    """
    torch.manual_seed(0)
    model = BERT(BERTConfig(V, T, dim=64, layers=2, heads=4, feed_forward=224))
    generator = torch.Generator().manual_seed(0)
    optimiser = torch.optim.AdamW(
        model.parameters(), betas=(0.9, 0.98), weight_decay=0.01, fused=True
    )
    course = [(0, *exam.evaluate(model, mlm_loss))]
    loader = DataLoader(
        rows, BATCH, shuffle=True, collate_fn=lambda some: pairs.batch_of(some, collate)
    )
    for step, (ids, segments, not_next) in enumerate(loader):
        corrupted, labels = corrupt(ids, V, generator)
        loss = take_step(
            model, corrupted, segments, labels, not_next, optimiser,
            pairs.learning_rate(step, steps),
        )
        if (step + 1) % 90 == 0:
            course.append((step + 1, *exam.evaluate(model, mlm_loss)))
        if step + 1 in show_at:
            print(
                f"step {step + 1:>3}   loss {loss:.2f}  ",
                pairs.fill_gaps(model, corner, gapped),
            )
    return model.eval(), np.array(course)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
live, course = train(words_alone, STEPS, show_at=(1, 90, 180, 360, 720))

# %% tags=["demo"]
bounds = exam.entropies()
pictures.hidden_words_learned(course[:, :2], bounds[0])

# %% [markdown]
# The loss falls from about 7 nats to 1.1 nats. Since the entropy is 0.64 nats, the model has covered most of the distance, but a KL divergence of about 0.5 nats remains. BERT was also trained on a second task, **next-sentence prediction** (NSP): the model predicts whether the second sentence follows the first in the text. The section *Further: the next sentence, and a bug to find* adds this task.
# RoBERTa (Liu et al. 2019) was trained without NSP.

# %% [markdown]
# ## 7 · A longer training run
#
# The checkpoint in `data/models/` was trained on the whole language and on both tasks (`python -m coursekit.pretrain --models bert` repeats this in half an hour on one core). To learn more in this time, the model had to predict more words than in the paper:
# in addition to the 15 % that your `mlm_corrupt` chooses, a fifth of the other words became [MASK]. The figure compares the model's loss on masked words with the loss of the untrained model and with the entropy.

# %% tags=["demo"]
show(*small_models.losses("bert"))

# %% [markdown]
# Held-out sentences contain combinations of words that occur in no training sentence, whereas fresh sentences of the training split contain no such combinations. The loss is a single number that summarises many predictions. To see some of these predictions, we plot three distributions for each of three masked words: the exact distribution given the words before the gap, the exact distribution given both sides, and the model's distribution.

# %% tags=["demo"]
hidden_words = (
    ("the guard locked the thief in a dark cell", 2),
    ("i will hike along the bank of a river", 6),
    ("the prisoner sat in a dark cell", 6),
)
panels = {
    (words, place): both_sides.distributions_at(language, bert, words, place)
    for words, place in hidden_words
}
pictures.hidden_words(panels, language.vocabulary)

# %% [markdown]
# Given only the words before the gap, almost any noun or adjective can follow the first *the*. Given both sides, only words for people who lock thieves in cells remain. After *along the* an adjective is possible, but the following *of a river* rules adjectives out. The model has learned these sets of possible words from text alone. *Within* a set the true distribution is uniform, whereas the model prefers some words to others. These preferences increase the loss even when the model has found the right set.
#
# Now mask another word in these sentences (this requires a running notebook and is not graded):

# %% tags=["demo"]
pictures.choose_hidden_word(language, bert, [words for words, _ in hidden_words])

# %% [markdown]
# ## 8 · The value of the right-hand context
#
# How much do the words *after* a gap help to predict the missing word? For our language this question has an exact answer: the entropy given the left side minus the entropy given both sides, computed for the same words. (We mask one word at a time and repeat this for every word of 300 held-out sentences.)
#
# **Predict:** how many nats per word is the right-hand context worth? The entropy given the left side is about 1.8 nats.

# %% tags=["demo"]
predict("bert.right_worth", ...)

# %% tags=["demo"]
right = both_sides.right_context(language, held_out.ids[:300], load_small("gpt"), bert)
reveal("bert.right_worth", right.worth.mean())
pictures.right_context(right)

# %% [markdown]
# Even at the last word the right-hand context helps a little, because it shows the model that the sentence ends there. GPT, the model of the next notebook, sees only the left side. The difference between the losses of GPT and BERT is nearly equal to the difference between the two entropies, because each loss exceeds its entropy by about the same amount.

# %% [markdown]
# ## 9 · Scoreboard
#
# We evaluate the model on the course's test of word senses. Layer 0 encodes only the word and its position, and in this language the position carries no information about the sense. Each vector of layer 1 is computed from all words of the sentence and their positions.
#
# **Predict:** in some two-clause sentences the sense of the word depends on word order. On these sentences, a classifier that ignores word order reaches an accuracy of at most 0.5. What accuracy do the vectors of layer 1 reach (0 to 1)?

# %% tags=["demo"]
predict("bert.order_layer_1", ...)

# %% tags=["demo"]
by_layer = {layer: recorded_senses("bert", layer) for layer in range(3)}
reveal("bert.order_layer_1", np.mean([one.order2 for one in by_layer[1]]))
show(*small_models.senses("bert"))

# %% [markdown]
# The vectors of layer 1 contain information about cues on either side. Whether they also reflect word order depends on the seed. For two of the three seeds the accuracy is only slightly better than that of a bag of words, whereas for the third seed four questions in five are answered correctly. The interval over seeds is therefore wide. With layer 2, nearly all answers are correct for every seed, both with one clause and with two. We therefore see no sign that two clauses need more depth than one. Does word order, then, require two layers?

# %% tags=["demo"]
tables.order_by_model(by_layer)

# %% [markdown]
# It does not. In notebook 03 a single layer, trained only on labelled senses, is nearly always correct for four of five seeds and answers four questions in five correctly for the fifth seed. BERT's first layer was trained for a different purpose, namely to provide the information that the second layer needs for its predictions. The information that a layer encodes therefore depends on the training objective of the model, and does not show how deep a model must be.

# %% [markdown]
# The vectors of the untrained model also contain information about cues, because random attention mixes neighbouring words into the vector of a word. Where word order decides, however, the untrained model is no better than a bag of words, so the use of word order has to be learned. We add this notebook's results to the scoreboard:

# %% tags=["demo"]
from coursekit.scoreboard import add_row, draw

accuracy = {"ELMo": recorded_senses("elmo", 2), "BERT": recorded_senses("bert", 2)}
add_row("BERT, untrained", recorded_senses("bert", 2, trained=False), note="baseline")
add_row(
    "BERT, 2 layers", accuracy["BERT"], note="masked words",
    loss=recorded("bert").loc["held-out: masked word, loss", "mean"],
)
draw()
tables.bert_and_elmo(accuracy)

# %% [markdown]
# BERT outperforms ELMo where the only cue is on the right, because half of ELMo's vector cannot depend on such a cue (notebook 05), whereas all of BERT's vector can. Where word order decides, BERT is far better than classifiers based on counts, because it was trained to predict words that can only be predicted by knowing who does what to whom. However, BERT does not outperform ELMo on these sentences: ELMo's LSTMs process the words in order, whereas BERT has to learn the order from its position embeddings. Neither model was trained on labels for senses.

# %% [markdown]
# ### Why the field moved
#
# Our test of senses is *saturated*: ELMo and BERT answer at least nine in ten questions of every kind correctly, so the test leaves little room for improvement. Why did the field nevertheless move from ELMo to BERT? The answer lies in English tasks that were not saturated. The first table shows the six tasks of the ELMo paper. The second table shows the eleven tasks of the BERT paper, of which the first eight belong to the GLUE benchmark (Wang et al. 2018). All scores are taken from the two papers; we computed only the last columns.

# %% tags=["demo"]
published_scores.elmo_and_bert()

# %% [markdown]
# ELMo's vectors were added to a different network for each task and removed between 6 % and 25 % of that network's errors. BERT replaced all these networks with a single one, which is fine-tuned for each task (notebook 09), and improved all eleven results, often by a larger margin. (The result for SQuAD 1.1 is that of an ensemble whose members were also trained on another set of questions.)

# %% [markdown]
# The second table also shows the effect of **scale**: on all eight GLUE tasks, the larger BERT is better. Scale is what our own models lack. On gaps in English novels, a 5-gram model, which only counts, outperforms a BERT with five million parameters and an hour of training (see *Further: masked words in English*). BERT-Base has twenty times as many parameters, BERT-Large more than sixty times, and both were trained on 3.3 billion words.

# %% [markdown]
# **Question 2 · Why BERT predicts so few words.** ELMo predicts every word, whereas BERT predicts only 15 % of the words and therefore gets fewer labels from the same text. Why is it impossible for a model that uses both sides in every layer, such as BERT, to predict every word as ELMo does? Why can BERT's loss not be compared with the loss of a left-to-right language model? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "bert-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# If every layer uses both sides, then after two layers the information about each word has returned to its own position through its neighbours. To predict this word, the model then only has to copy it, as the leaking bidirectional LSTM of notebook 05 did. Masking the word at the input removes it from all layers at once. However, a masked word cannot help to predict other words, so only a few words can be masked at a time. The masked loss is the mean cross-entropy of a word given nearly all others. Summed over a sentence, these terms do not give the probability of the sentence, because every
# word is used to predict its neighbours and is then predicted from them. The terms of an autoregressive model add up to −log p of the sentence by the chain rule.
#
# *Marking: 1 point for the word that reaches its own position (and masking as the remedy, with its cost); 1 point for the different conditioning (no chain rule, more context known,
# each loss with its own entropy).*

# %% [markdown]
# ## 10 · Your own BERT
#
# MiniLM is a published encoder with BERT's architecture and six layers like those that you built in notebook 03. (It was distilled from a larger model and then fine-tuned to compare whole sentences, which affects what its vectors encode.) Can *your* code run this model? Your encoder will use your `Block`, configured as in Hugging Face's implementation of BERT: post-norm, exact GELU, and an ε of 10⁻¹² instead of PyTorch's
# default of 10⁻⁵.

# %% [markdown]
# Attention ignores positions (notebook 03), and it would also ignore the boundary between two sentences. Each token is therefore represented by the sum of three learned vectors: one for its subword, one for its segment and one for its position. BERT does not use the sinusoids of notebook 03. Its position embeddings are a learned table of 512 rows, which limits the length of the input. After the last block, the **pooler** applies a linear map and tanh to the vector of [CLS]; the result is used for predictions about the whole sequence.

# %%
from coursekit.growing import NOTHING, after_backward, build

Block = mine("Block")

# %% nbgrader={"grade": false, "grade_id": "bert-Bert", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Bert(nn.Module):
    """The encoder of Devlin et al. (2019), built from your blocks.
    (difficulty ●●●, 10 minutes)

    Register three tables, each an nn.Embedding: `token` with `vocabulary` rows, `segment` with
    2 rows and `position` with `tokens` rows. Also register `norm`, an nn.LayerNorm for the sum
    of the three embeddings; `layers`, an nn.ModuleList of Blocks (post-norm, exact GELU, no
    dropout); and `pooler`, an nn.Linear from dim to dim. Nothing else is saved with the model.
    Every norm has eps 1e-12. Then write forward(self, ids, segments, real), whose inputs are
    all (B, T); real is False at padding, to which no token may attend. Return the hidden
    states (layers + 1, B, T, dim), which start with the normalised sums of the embeddings, and
    the pooled vectors (B, dim). Positions are counted from 0 across both sentences. The states
    at padding are computed like all others.
    """

    def __init__(
        self, vocabulary: int, tokens: int, dim: int, layers: int, heads: int, inner: int
    ):
        ### BEGIN SOLUTION
        super().__init__()
        self.token = nn.Embedding(vocabulary, dim)
        self.segment = nn.Embedding(2, dim)
        self.position = nn.Embedding(tokens, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.layers = nn.ModuleList(Block(dim, heads, inner, eps=1e-12) for _ in range(layers))
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids, segments, real):
        summed = self.token(ids) + self.segment(segments) + self.position.weight[: ids.shape[1]]
        states = [self.norm(summed)]
        for layer in self.layers:
            states.append(layer(states[-1], real[:, None]))
        return torch.stack(states), torch.tanh(self.pooler(states[-1][:, 0]))
        ### END SOLUTION

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def states_and_pooled(cls: type[nn.Module], case: dict) -> dict[str, Tensor]:
    """The outputs of a class with the weights of the case, also in training mode; no outputs if a weight cannot be loaded."""
    module, registered = build(cls, case)
    inputs = case["ids"], case["segments"], case["real"]
    whole = registered[:-1].all() and registered[-1] <= 0
    states, pooled = module.eval()(*inputs)
    answers = {"states": states, "pooled": pooled}
    if case["training"]:
        with torch.no_grad():
            again, _ = module.train()(*inputs)
        same = states.shape == again.shape and torch.allclose(states, again, equal_nan=True)
        answers |= {"the same in training": torch.tensor(same), "gradient of token.weight": NOTHING}
    if case["training"] and whole:
        registered = after_backward(module, case, registered, states.square().sum() + pooled.square().sum())
        answers["gradient of token.weight"] = module.token.weight.grad
    if not whole:
        answers = dict.fromkeys(answers, NOTHING)
    return {"registered": registered} | {name: NOTHING if value is None else value for name, value in answers.items()}

# %% nbgrader={"grade": true, "grade_id": "bert-Bert-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.Bert", lambda case: states_and_pooled(Bert, case))

# %% [markdown]
# Next we load the weights. Hugging Face uses different names for the same parameters, and its files contain more than your encoder needs. The files include heads for the training objectives, for which your encoder has no parameters. Files from 2019 also contain the position indices 0 to 511 as a buffer (notebook 03), which is saved with the model but never trained. In files from 2018, the weight of a norm is called gamma and its bias is called beta. The matrices are neither fused nor transposed, since both implementations use `nn.Linear`. (GPT-2's files, in contrast, contain fused and transposed matrices; see notebook 07.)

# %%
PLACES = {
    "embeddings.word_embeddings": "token", "embeddings.token_type_embeddings": "segment",
    "embeddings.position_embeddings": "position", "embeddings.LayerNorm": "norm",
    "pooler.dense": "pooler",
    "attention.self.query": "attention.query", "attention.self.key": "attention.key",
    "attention.self.value": "attention.value", "attention.output.dense": "attention.output",
    "attention.output.LayerNorm": "norm_attention", "intermediate.dense": "feed_forward.widen",
    "output.dense": "feed_forward.narrow", "output.LayerNorm": "norm_feed_forward",
}

# %% nbgrader={"grade": false, "grade_id": "bert-bert_names", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bert_names(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a BertModel, under the names of your Bert.  (difficulty ●●○, 7 minutes)

    Layer i is called encoder.layer.i in a BertModel and layers.i in your class; PLACES lists
    the other names. In a model with heads, the names of the encoder's parameters start with
    "bert.". Accept these names as well, and leave out everything for which your Bert has no
    parameter. gamma becomes weight, and beta becomes bias. Do not change the values.
    """
    ### BEGIN SOLUTION
    ours = {}
    for name, value in theirs.items():
        place, _, part = name.removeprefix("bert.").rpartition(".")
        layer = ""
        if place.startswith("encoder.layer."):
            _, _, number, place = place.split(".", 3)
            layer = f"layers.{number}."
        if place in PLACES:
            part = {"gamma": "weight", "beta": "bias"}.get(part, part)
            ours[f"{layer}{PLACES[place]}.{part}"] = value
    return ours
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "bert-bert_names-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.bert_names", lambda case: bert_names(case))

# %% [markdown]
# We pass ten sentences, as one padded batch, through the model from the transformers library and through your model. We also run your model with PyTorch's default ε to see how much such a detail matters.

# %% tags=["demo"]
from coursekit.models import load as load_pretrained

minilm = load_pretrained("all-MiniLM-L6-v2")
sizes_of_minilm = minilm.model.config
own_bert = Bert(
    sizes_of_minilm.vocab_size, sizes_of_minilm.max_position_embeddings,
    sizes_of_minilm.hidden_size, sizes_of_minilm.num_hidden_layers,
    sizes_of_minilm.num_attention_heads, sizes_of_minilm.intermediate_size,
).eval()
# strict: no name may be missing or left over
own_bert.load_state_dict(bert_names(minilm.model.state_dict()))

# %% tags=["demo"]
ten_sentences = cell.ten_sentences(minilm.tokenizer)
from_transformers, with_another_eps = cell.differences(minilm, own_bert, ten_sentences)

# %% [markdown]
# The outputs agree up to rounding, so your code runs a published model. How do the layers of this model represent *cell*? Five of the ten sentences are about prisons, and five are about biology. For each layer, the figure shows the cosines between the vectors of *cell* in pairs of sentences:

# %% tags=["demo"]
same_sense, other_sense = cell.cosines_by_sense(own_bert, ten_sentences, minilm.tokenizer)
pictures.cell_by_layer(same_sense, other_sense)

# %% [markdown]
# At layer 0 the vectors of *cell* differ only because of the position of the word. From layer 1 on, pairs of vectors with the same sense are more similar on average than pairs with different senses. The difference is clearest in the top layer, but individual pairs overlap at every layer. Ten sentences are an illustration rather than a test, because sentences with the same sense also share other words. Notebook 08 repeats the comparison with hundreds of sentences and with controls.

# %% [markdown]
# ## Further: learn a subword vocabulary
#
# Where do the 30,522 subwords come from? They are learned from a text. At first each word is split into letters. Then the best pair of adjacent units is merged into a new subword, and this step is repeated until
# the vocabulary has the desired size. Two criteria are common. **Byte-pair encoding** (BPE; Sennrich et al. 2016) merges the pair that occurs most often. WordPiece merges the pair
# that makes the text most probable (Schuster and Nakajima 2012). The program that created BERT's vocabulary was never published. Textbooks usually give the following ratio as its criterion:
#
# $$\text{score}(a, b) = \frac{\text{count}(ab)}{\text{count}(a) \cdot \text{count}(b)}$$
#
# Up to a constant factor, this ratio measures how much more often b follows a than it would by chance.

# %% [markdown]
# As an example, consider a text with the words *the* (9 times), *hat* (4 times) and *quiz* (once). The pairs (t, ##h) and (##h, ##e) occur 9 times, the pair (h, ##a) occurs 4 times, and the pair (q, ##u) occurs once. BPE therefore starts with a pair from *the*.
# The ratio is 9/(9 · 9) ≈ 0.11 for the pairs of *the*, 4/(4 · 4) = 0.25 for the pairs of *hat*, and 1/(1 · 1) = 1 for the pairs of *quiz*. With this ratio, therefore, a pair from the rarest word is merged first.

# %%
from collections import Counter
from itertools import pairwise

def by_count(pair: int, left: int, right: int) -> float:
    """The count of the pair."""
    return pair

def by_likelihood(pair: int, left: int, right: int) -> float:
    """The count of the pair, divided by the counts of its two parts."""
    return pair / (left * right)

def by_share(pair: int, left: int, right: int) -> float:
    """The count of the pair, divided by the count of its left part; the check uses this third
    score."""
    return pair / left

SCORES = {"count": by_count, "likelihood": by_likelihood, "share": by_share}

# %% tags=["hide-input"] jupyter={"source_hidden": true}
def spell_all(pieces: list[str]) -> Int[Tensor, "pieces letters"]:
    """One row of character codes per subword, padded with −1 so that the rows form an array."""
    rows = [[ord(letter) for letter in piece[:12]] + [-1] * (12 - len(piece)) for piece in pieces]
    return torch.tensor(rows, dtype=torch.int16)

# %% nbgrader={"grade": false, "grade_id": "bert-learn_pieces", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learn_pieces(counts: dict[str, int], size: int, score) -> list[str]:
    """A vocabulary of `size` subwords, in the order in which they are learned.
    (extension, ●●●, 15 minutes)

    counts: the number of occurrences of each word in a text. At first each word consists of
    its letters, and every letter but the first has ## in front. The list starts with these
    one-letter subwords in the order of `sorted`, even if there are more than `size` of them.
    Then merge pairs until the list has `size` entries or no word has two parts left. In each
    step, choose the pair of adjacent parts with the highest score(pair, left, right); the
    arguments are the numbers of occurrences of the pair, of its left part and of its right
    part in the text. In a tie, choose the pair (left, right) that comes first when the pairs
    are sorted. Within each word, merge from left to right. All counts refer to the current
    segmentation; x ##a ##a ##a contains (##a, ##a) twice.
    """
    ### BEGIN SOLUTION
    cut = {word: [word[0]] + ["##" + letter for letter in word[1:]] for word in counts}
    vocabulary = sorted({piece for pieces in cut.values() for piece in pieces})
    while len(vocabulary) < size:
        alone, pairs = Counter(), Counter()
        for word, pieces in cut.items():
            for piece in pieces:
                alone[piece] += counts[word]
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-score(pairs[pair], alone[pair[0]], alone[pair[1]]), pair))
        vocabulary.append(best[0] + best[1][2:])
        for word, pieces in cut.items():
            merged = []
            for piece in pieces:
                if merged and (merged[-1], piece) == best:
                    merged[-1] = vocabulary[-1]
                else:
                    merged.append(piece)
            cut[word] = merged
    return vocabulary
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "bert-learn_pieces-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.learn_pieces", lambda case: spell_all(
    learn_pieces(
        dict(zip(case["words"], case["counts"].tolist())), case["size"], SCORES[case["by"]]
    )
))

# %% [markdown]
# Our training text consists of the sentences in `data/senses`, which we split into words as BERT does. Like most programs of this kind, ours ignores rare words and learns only from words that occur at least three times. We first apply both scores to a text of only six different words:

# %% tags=["demo"]
frequent = subwords.frequent_words(wordpieces, at_least=3)
merges = subwords.first_merges(
    learn_pieces, frequent, {"count": by_count, "likelihood": by_likelihood}
)

# %% tags=["demo"]
print("This takes about five seconds.")
learned = {name: learn_pieces(frequent, 300, SCORES[name]) for name in merges}

# %% [markdown]
# We now apply the two vocabularies that your function has learned to another text, the reviews in `data/sentiment`. Each word is weighted by its number of occurrences.

# %% tags=["demo"]
cut_reviews = subwords.at_work(wordpiece, wordpieces, learned)

# %% [markdown]
# Merging by count uses its 300 subwords for frequent strings, so that almost half of all word occurrences are single tokens. The ratio, in contrast, is highest for rare letters that occur together, such as q and u. The merged subword is itself rare, so the next merges extend it letter by letter until it spells *aquarium*. (The probability of the *whole* text would also weight a pair by its count.) On a small text, this ratio alone therefore does not produce a useful vocabulary. BERT's vocabulary is a hundred times as large and contains nearly all words. In our training text no frequent word contains a j after its first letter, so *enjoyed* becomes [UNK] with both learned vocabularies.

# %% [markdown]
# **The same with a library.** Despite its name, Hugging Face's `WordPieceTrainer` merges by count.

# %% tags=["demo"]
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
trained.pre_tokenizer = pre_tokenizers.Whitespace()
repeated = (" ".join([word] * count) for word, count in frequent.items())
trained.train_from_iterator(
    repeated, trainers.WordPieceTrainer(vocab_size=300, show_progress=False)
)
shared, only_theirs = subwords.next_to_trainer(trained, learned["count"])

# %% [markdown]
# Hugging Face's trainer differs from your function in two ways. Its vocabulary contains every letter without ##, even a letter with which no word begins (here x). Among pairs with the same count, it merges the pair whose parts entered the vocabulary first.

# %% [markdown]
# ## Further: the next sentence, and a bug to find
#
# BERT's second task is next-sentence prediction (NSP). In half of the pairs the second sentence follows the first in the text; in the other half the second sentence comes from another text. From the vector of [CLS], the model has to predict whether the second sentence follows the first. Label 0 means "b continues a", as in Hugging Face's library. In our language, a sentence has the same topic as the sentence that it continues:

# %% tags=["demo"]
tables.passages(language, language.passages(4, np.random.default_rng(9), split="train"))

# %% [markdown]
# BERT's loss is the sum of the losses of its two tasks. In October 2018, days after the paper appeared, a popular PyTorch implementation (BERT-pytorch, issues 29, 49 and 98) computed this sum as follows (shown with our variable names). Words that were not chosen had the label 0, and the same criterion, which ignored the label 0, was used for both tasks.

# %%
def pretraining_loss_of_2018(logits, labels, next_logits, next_labels):
    criterion = torch.nn.CrossEntropyLoss(ignore_index=0)
    labels = torch.where(labels == UNCHOSEN, 0, labels)
    mask_loss = criterion(logits.transpose(1, 2), labels)
    next_loss = criterion(next_logits, next_labels)
    return next_loss + mask_loss

# %% [markdown]
# A user reported that the NSP loss became very low while the accuracy stayed near 50 %. What does the label 0 mean in each of the two calls of `criterion`? Write a correct version of the
# loss.

# %% nbgrader={"grade": false, "grade_id": "bert-pretraining_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pretraining_loss(
    logits: Float[Tensor, "B T V"],
    labels: Int[Tensor, "B T"],
    next_logits: Float[Tensor, "B 2"],
    next_labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    """The loss for masked words plus the loss for the next sentence, without the bug.
    (extension, ●●○, 6 minutes)

    labels: UNCHOSEN (−100) where no word was chosen; 0 is the label of a word like any other.
    next_labels: 0 if b continues a, 1 if not. Return the sum of two means: the mean over the
    chosen words and the mean over the pairs.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    return mlm_loss(logits, labels) + torch.nn.functional.cross_entropy(next_logits, next_labels)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-pretraining_loss-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.pretraining_loss", lambda case: pretraining_loss(**case), gradients=True)

# %% [markdown]
# We repeat the training of section 6 for two models. One is trained on 720 batches with your loss, the other on 720 batches with the loss of 2018.
#
# **Predict:** what does a model learn about the next sentence from the loss of 2018? Run the cell to see the choices.

# %% tags=["demo"]
CONSTANT, SLOWER, EQUAL = (
    "the same answer for every pair",
    "the same as with your loss, but more slowly",
    "the same as with your loss",
)
predict("bert.next_2018", ..., choices=(CONSTANT, SLOWER, EQUAL))

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
paired, paired_course = train(pairs.with_both_tasks(pretraining_loss), STEPS)

# %% tags=["demo"]
print("This takes ten to twenty seconds.")
wild, wild_course = train(pairs.with_both_tasks(pretraining_loss_of_2018), STEPS)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
with torch.no_grad():
    answers = wild(*exam.batch[:2]).next_sentence
says_not = (answers.argmax(dim=1) == 1).float().mean().item()
reveal("bert.next_2018", CONSTANT if says_not > 0.95 else SLOWER if wild_course[-1, 3] < paired_course[-1, 3] else EQUAL, because={
    SLOWER: "More steps do not help: pairs with label 0 do not contribute to the loss, so the model has no reason to distinguish the two kinds of pairs.",
    EQUAL: "The label 0 was treated as padding and ignored, so pairs in which b continues a do not contribute to the loss.",
})

# %% tags=["demo"]
pictures.two_losses(
    {"your loss": paired_course, "loss of 2018": wild_course}, bounds, answers, exam.batch[2]
)

# %% [markdown]
# If the label 0 is ignored, only pairs with label 1 contribute to the loss, and a model that gives the same answer for every pair reduces the NSP loss to almost 0. (In the code of 2018 the label 1 meant "continues", so that model always predicted "continues".) On *all* pairs, the NSP loss of our model lies above the range of the figure. The model still learns to predict masked words, so the sum of the losses decreases as expected. The bug is revealed only by the accuracy or by a look at the predictions. (With one run for each loss, we cannot say which loss is better for masked words.)

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [A label that meant two things](../../docs/bugs/06_one_label_two_meanings.md).

# %% [markdown]
# ## Further: ELMo and BERT compared
#
# In both models the vector of a word depends on both sides of the word, but in different ways. For each coordinate of a word's vector in the last layer, we test whether the coordinate changes at all when a word on the left
# or on the right changes. (We use the derivative of each coordinate, as in notebook 05.)

# %% tags=["demo"]
elmo, guarded = load_small("elmo"), "the guard locked the thief in a dark cell"
reads = tables.coordinates(language, elmo, bert, guarded, place=5)

# %% [markdown]
# > **Checking the literature.** Devlin et al. (2019, section 1) call ELMo a *shallow* concatenation of two models trained independently, and BERT *deeply* bidirectional. Our measurement confirms this exactly: half
# > of ELMo's coordinates depend on the left side, the other half depend on the right side, and none depend on both sides. In BERT every coordinate depends on both sides. ("Independently" is not quite right, because the two directions of ELMo share the word vectors and the softmax; see notebook 05.)

# %% tags=["demo"]
tables.elmo_and_bert(elmo, bert, held_out, mlm_loss, reads, accuracy)

# %% [markdown]
# The losses of the two models cannot be compared, because the models predict words from different contexts, and the entropy depends on the context. The vectors of the two models, however, can be compared on the same task.
#
# We now add the encoder's column to the architecture table that we began in notebook 04. We measure the trained layers on sequences of random words without position embeddings, so that a sequence can have any length. The times are for a single layer.

# %% tags=["demo"]
left = tables.encoder_column(bert)

# %% [markdown]
# As in the single attention layer of notebook 04, the first of 64 words still influences the last word, with a weight of the order of 1/T. A *trained* LSTM also preserves information about its first word (notebook 05), so this is not the encoder's advantage. The encoder's advantage is that each layer is a single sequential step. Its cost is that each layer compares all T² pairs of words, as the times show. Unlike a decoder, an encoder cannot generate text.

# %% [markdown]
# ## Further: masked words in English
#
# Two encoders that predict English words come with this course. MiniLM was published without its masked-LM head. We trained a new head and fine-tuned the encoder's layers on 82 novels from 1839 to 1927, and for seven minutes also on modern text ([model card](../../data/models/novels_minilm.md)). With an internet connection you can run the original BERT instead: `load_pretrained("bert-base-uncased", head="masked-lm", from_hub=True)`. The second encoder is a BERT of our own with four layers and a vocabulary of 8,192 subwords, trained on the novels only ([model card](../../data/models/novels_bert.md), [the books](../../data/novels/README.md)).
#
# *Your* Bert runs both encoders; their predictions do not use the pooler. The head consists of a linear map, GELU, a layer norm, the token embeddings as the output matrix, and a bias for each subword.

# %% tags=["demo"]
from coursekit.novels import gaps, shipped

with_head = load_pretrained("all-MiniLM-L6-v2", head="masked-lm")
reader = Bert(*gaps.sizes_of(with_head.model.config)).eval()
fits = reader.load_state_dict(bert_names(with_head.model.state_dict()), strict=False)

of_course, novel_pieces = shipped.load_bert()
novel_reader = Bert(*gaps.sizes_of(of_course.config)).eval()
# the course's BERT uses nearly the same parameter names as yours
own_names = {name.removeprefix("embeddings."): w for name, w in of_course.state_dict().items()}
fits_too = novel_reader.load_state_dict(own_names, strict=False)
print(
    "parts without loaded weights:",
    sorted({name.split(".")[0] for name in fits.missing_keys + fits_too.missing_keys}),
)

# %% tags=["demo"]
YOUR_TEXT = "She opened the letter with a [MASK] hand."        # change it

readers = {
    with_head.name: gaps.of_minilm(reader, with_head),
    "the novels' BERT": gaps.of_novels(novel_reader, of_course, novel_pieces),
}
from_course = masked_english.difference_from_course(novel_reader, of_course, novel_pieces)
masked_english.guesses(readers, YOUR_TEXT)

# %% [markdown]
# Many of these predictions are wrong. For example, neither model has the masked word *cell* among its five most probable words, and *bank* is only among MiniLM's, in one of two sentences. The small BERT was trained only on novels from 1839 to 1927, and MiniLM's head was trained for only seven minutes on text that includes modern English. Five million parameters and an hour of training are not much. Scale matters: the original BERT was trained on 3.3 billion words.

# %% [markdown]
# A few sentences do not show how well the models predict on average, so we measure their accuracy. We also measure how much the *right-hand* context is worth in real English. We mask one word in each of 160 sentences of our own. Each model then sees both sides of the gap, only the words before it, only the words after it, or only [MASK]. We remove a side in two ways: either the text ends (or begins) at the gap, or every token of the removed side becomes [MASK].

# %% tags=["demo"]
print("This takes a few seconds.")
english = gaps.some_gaps(readers.values())
gaps_read = {name: gaps.read_gaps(by, english) for name, by in readers.items()}
pictures.english_gaps({name: read.nats for name, read in gaps_read.items()})

# %% tags=["demo"]
masked_english.our_sentences(gaps_read, exact=right.worth.mean())
masked_english.novels()

# %% [markdown]
# The right-hand context helps both models, whichever way we remove it. The measured benefit depends on how we remove it, most of all for the novels' BERT. A truncated text looks like a complete text, and nearly all sequences in this model's training data ended with a complete sentence. For English we know no exact entropy that would show which of the two methods is right.

# %% [markdown]
# On gaps in novels, a comparison of top-1 accuracies, paired by gap, gives a clear ranking: the 5-grams are best, followed by the ELMo of notebook 05, the small BERT, and MiniLM with its new head. On our own sentences, MiniLM and the small BERT cannot be distinguished. (Nats per gap are comparable only for models with the same vocabulary.) Counting outperforms a small BERT, whose flexibility does not pay off with five million parameters and an hour of training. ELMo's two directions never interact, yet the product of their probabilities outperforms BERT after the same number of training steps. (ELMo learns from every word of a sequence, BERT from one in five. We have not tested this explanation.)

# %% [markdown]
# **Training curves.** During training we recorded the loss on novels by authors outside the training set. We recorded it for this BERT, for a BERT trained with another seed, and for the GPT of notebook 07, which was trained on the same sequences.

# %% tags=["demo"]
pictures.losses_of_training(masked_english.training_curves())

# %% [markdown]
# GPT's loss decreases steadily, although more and more slowly. BERT's loss has a plateau in both runs: from step 320 to step 1,280 it falls by a third of a nat, and in the next 800 steps it falls by more than one nat. Chen et al. (2024) also observed such a plateau in BERT. They found that attention begins to follow syntax when the plateau ends; we have not examined attention here. (BERT and GPT predict different tokens, so compare the shapes of the curves rather than their heights.)

# %% [markdown]
# The two BERTs end with top-1 accuracies that cannot be distinguished, and ELMo outperforms both. For three smaller BERTs, which were trained for fewer steps, the accuracy ranges from 12 % to 20 % ([models](../../data/models/README.md)). The smaller models differ from each other more than the two full-size models do; we have not tested whether size or training length is responsible.

# %% [markdown]
# ## Further: the size of BERT
#
# How many parameters does BERT have? We build BERT-Base and BERT-Large from their configurations without allocating memory for their weights. On the *meta* device a tensor has a shape but no data, which is enough for counting.

# %% tags=["demo"]
from transformers import BertConfig

configurations = {
    "BERT-Base": BertConfig(),
    "BERT-Large": BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    ),
}
sizes = tables.parameters(configurations)

# %% [markdown]
# > **Checking the literature.** The paper gives 110 million parameters for BERT-Base and 340 million for BERT-Large. We count 109,482,240 for the encoder of BERT-Base. For BERT-Large we count 335,141,888 for the encoder, or 336,226,108 with the two heads. The paper's figures are correct when rounded to tens of millions, but 340 million is not an exact count. The heads add little, because the largest part of the
# > masked-LM head is the token embedding matrix, which it shares with the encoder.

# %% [markdown]
# ## Further: ablations of BERT's design
#
# Which of the paper's design choices matter? We compare a small BERT that follows the paper's design with five variants, each of which changes one choice. All six are trained with three seeds (`experiments/ablations.py`, over an hour on one core). The experiment differs from the paper: it uses two layers, 6,000 steps of 64 pairs, the generated language, no dropout, and a weight decay of 0.1 in the first half of the steps (0.01 in the paper).

# %% [markdown]
# The table shows the KL divergence at masked words of held-out sentences (the loss minus the entropy, with 15 % of the words replaced by [MASK]) and the accuracies on word senses. Each mean is given with its t interval over seeds (notebook 02). Next to it is the *paired* difference from the first row. The differences are paired because models with the same seed have the same initial weights and the same training sentences.

# %% tags=["demo"]
tables.ablation_table()

# %% [markdown]
# Weight decay matters: without weight decay the loss is higher, and this difference remains significant after a correction for all fifteen comparisons (Holm's method, notebook 12). Seven of the fifteen intervals exclude 0, although chance alone would lead us to expect about one. Without the correction, these intervals show the following:
#
# - Replacing every chosen word by [MASK] raises the loss slightly. Choosing 40 % of the words lowers the loss, since there are more labels to learn from. Omitting the warm-up also lowers the loss a little.
# - Without weight decay, the accuracy on senses is lower, both where the cue is on the right and where word order decides. Without NSP, the accuracy is slightly higher where the cue is on the right.

# %% [markdown]
# > **Checking the literature.** RoBERTa performed as well or slightly better without NSP (Liu et al. 2019), and a model of BERT-Large's size was better with 40 % of the words masked than with 15 % (Wettig et al. 2023); both results are for fine-tuned models in English.
# > Our results point in the same directions; three seeds do not support a stronger claim.

# %% [markdown]
# ## Extensions
#
# Extensions earn extra credit. The first extension computes the labels of section 1 for whole batches.

# %% nbgrader={"grade": false, "grade_id": "bert-lm_examples", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lm_examples(
    ids: Int[Tensor, "B T"], chosen: Bool[Tensor, "B T"], pad: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """The labels of a causal and a masked model at each position: (causal, masked).
    (extension, ●○○, 4 minutes)

    causal: the label at position t is the token at t + 1. masked: the label at position t is
    the token at t if chosen is True there. The label is UNCHOSEN (−100) where nothing is
    predicted: in causal, at the last position and where the next token is padding (the id
    pad); in masked, where no token was chosen. Padding is never chosen.
    """
    ### BEGIN SOLUTION
    nothing = torch.full_like(ids[:, :1], UNCHOSEN)
    following = torch.cat([ids[:, 1:], nothing], dim=1)
    causal = following.masked_fill(following == pad, UNCHOSEN)
    masked = ids.masked_fill(~chosen, UNCHOSEN)
    return causal, masked
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-lm_examples-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.lm_examples", lambda case: lm_examples(**case))

# %% [markdown]
# The second extension creates sentence pairs for NSP from documents, as was done for BERT's training data.

# %% nbgrader={"grade": false, "grade_id": "bert-nsp_pairs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nsp_pairs(
    document: Int[Tensor, "S"], coin: Float[Tensor, "S"], other: Float[Tensor, "S"]
) -> tuple[Int[Tensor, "N"], Int[Tensor, "N"], Int[Tensor, "N"]]:
    """Sentence pairs for the second task: (first, second, labels).
    (extension, ●●○, 10 minutes)

    Sentences are numbered 0 to S − 1 in the order of the text; document[s] is the document of
    sentence s, and the sentences of a document are consecutive. Each sentence s whose
    successor belongs to the same document begins one pair, in order. If coin[s] is below 0.5,
    the second sentence is s + 1, with label 0. Otherwise it is a sentence of another document,
    with label 1: number the n sentences of other documents in order from 0 and take the
    sentence with number ⌊other[s] · n⌋.
    """
    ### BEGIN SOLUTION
    first = torch.nonzero(document[:-1] == document[1:])[:, 0]
    second, labels = [], []
    for s in first.tolist():
        others = torch.nonzero(document != document[s])[:, 0]
        continues = bool(coin[s] < 0.5)
        second.append(s + 1 if continues else int(others[int(other[s] * len(others))]))
        labels.append(0 if continues else 1)
    return first, torch.tensor(second), torch.tensor(labels)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-nsp_pairs-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.nsp_pairs", lambda case: nsp_pairs(**case))

# %% [markdown]
# The third extension is the head for NSP: a linear map and tanh on the vector of [CLS] (the *pooler*), followed by a map to two logits.

# %% nbgrader={"grade": false, "grade_id": "bert-nsp_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nsp_loss(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W_next: Float[Tensor, "D 2"],
    b_next: Float[Tensor, "2"],
    labels: Int[Tensor, "B"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy per pair, from the last layer's vectors.  (extension, ●○○, 5 minutes)

    [CLS] is the first token. The rows of a matrix correspond to inputs. Label 0 means that b
    continues a.
    """
    ### BEGIN SOLUTION
    logits = torch.tanh(hidden[:, 0] @ W_pool + b_pool) @ W_next + b_next
    return torch.nn.functional.cross_entropy(logits, labels)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-nsp_loss-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.nsp_loss", lambda case: nsp_loss(**case))

# %% [markdown]
# We create pairs from 400 documents of five sentences each. Then we run your head with the weights of the model that we trained with your `pretraining_loss`.

# %% tags=["demo"]
tables.pairs_of_documents(nsp_pairs)
yours = tables.loss_of_head(nsp_loss, paired, exam, expected=paired_course[-1, 2])

# %% [markdown]
# A word that consists of several subwords has several vectors. How should we represent such a word by one vector? Two choices are common: the mean of these vectors and the vector of the first subword.

# %% nbgrader={"grade": false, "grade_id": "bert-pool_pieces", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pool_pieces(
    hidden: Float[Tensor, "T D"], word_ids: Int[Tensor, "T"], how: str
) -> Float[Tensor, "words D"]:
    """One vector for each word of a sentence.  (extension, ●●○, 6 minutes)

    word_ids[t] is the index of the word to which token t belongs: 0, 1, 2 … in the order of
    the sentence, and −1 for special tokens. how is "mean" (the mean over the word's subwords)
    or "first" (the vector of its first subword).
    """
    ### BEGIN SOLUTION
    vectors = []
    for word in range(int(word_ids.max()) + 1):
        pieces = hidden[word_ids == word]
        vectors.append(pieces.mean(dim=0) if how == "mean" else pieces[0])
    return torch.stack(vectors)
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-pool_pieces-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.pool_pieces", lambda case: pool_pieces(**case))

# %% [markdown]
# We test both choices with MiniLM on ten words that consist of several subwords. Each of them has a near-synonym of one or two subwords, and we insert all these words into the same sentence. For each of the ten words, we check whether its own near-synonym has the most similar vector. The chance level is one in ten.

# %% tags=["demo"]
tables.near_synonyms(minilm, pool_pieces)

# %% [markdown]
# The two methods give different results, but ten words are an illustration rather than evidence. Both methods are in use, so always state which of them you used.
#
# The last extension counts the parameters of a BERT from its configuration.

# %% nbgrader={"grade": false, "grade_id": "bert-count_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(V: int, P: int, D: int, L: int, F: int) -> tuple[int, int, int, int]:
    """Trainable parameters: (embeddings, all layers, pooler, both heads).
    (extension, ●●○, 10 minutes)

    The model has V words, P positions, 2 segments, width D, L layers and the feed-forward
    width F. Each linear map has a bias, and each layer norm has a scale and a shift. The
    embeddings consist of three tables and a layer norm. A layer consists of the maps for
    queries, keys, values and output, two feed-forward maps and two layer norms. The pooler
    maps D to D. The masked-LM head consists of a map from D to D, a layer norm, and the token
    embeddings again (not counted twice) with a bias for each word. The next-sentence head,
    which follows the pooler, maps D to 2.
    """
    ### BEGIN SOLUTION
    tables = sum(rows * D for rows in (V, P, 2))
    embeddings = tables + 2 * D
    layers = L * (4 * (D * D + D) + (D * F + F) + (F * D + D) + 2 * 2 * D)
    heads = (D * D + D) + 2 * D + V + (2 * D + 2)
    return embeddings, layers, D * D + D, heads
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "bert-count_parameters-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("bert.count_parameters", lambda case: torch.tensor(
    [whole_numbers(count_parameters(*row), "count_parameters")
     for row in case["configurations"].tolist()]
))

# %% tags=["demo"]
tables.counted_parameters(count_parameters, configurations, sizes)

# %% [markdown]
# ## Summary
#
# - Text provides its own labels: the next word, or a masked word.
# - WordPiece tokenises greedily by the longest match; a word that it cannot represent becomes [UNK].
# - The input is the sum of token, segment and position embeddings.
# - 15 % of the words are predicted: 80 % of these become [MASK], 10 % become a random word, and 10 % stay unchanged. Only these positions contribute to the loss.
# - A model's loss minus the entropy of the language is a KL divergence. Before training, the loss should be near ln V.
# - Three embedding tables, your blocks and a mapping of names are enough to run a published model.
#
# **Next**: notebook 07 introduces a causal mask. A decoder sees only the words on the left, but can generate text.

# %% [markdown]
# ## References
#
# - BERT-pytorch (2018). Issues 29, 49 and 98. github.com/codertimo/BERT-pytorch.
# - Chen, A., Shwartz-Ziv, R., Cho, K., Leavitt, M. L. and Saphra, N. (2024). Sudden drops in the loss: syntax acquisition, phase transitions, and simplicity bias in MLMs. *ICLR*. arXiv:2309.07311.
# - Devlin, J., Chang, M.-W., Lee, K. and Toutanova, K. (2019). BERT: pre-training of deep bidirectional transformers for language understanding. *NAACL-HLT*, 4171–4186.
#   arXiv:1810.04805.
# - Hendrycks, D. and Gimpel, K. (2016). Gaussian error linear units (GELUs). arXiv:1606.08415.
# - Karpathy, A. (2022). Building makemore, part 3: activations and gradients, BatchNorm. *Neural Networks: Zero to Hero*. github.com/karpathy/nn-zero-to-hero.
# - Liu, Y. et al. (2019). RoBERTa: a robustly optimized BERT pretraining approach. arXiv:1907.11692.
# - Peters, M. E. et al. (2018). Deep contextualized word representations. *NAACL-HLT*, 2227–2237. arXiv:1802.05365.
# - Schuster, M. and Nakajima, K. (2012). Japanese and Korean voice search. *ICASSP*, 5149–5152.
# - Sennrich, R., Haddow, B. and Birch, A. (2016). Neural machine translation of rare words with subword units. *ACL*, 1715–1725. arXiv:1508.07909.
# - Taylor, W. L. (1953). "Cloze procedure": a new tool for measuring readability. *Journalism Quarterly* 30, 415–433.
# - Wang, A., Singh, A., Michael, J., Hill, F., Levy, O. and Bowman, S. R. (2018). GLUE: a multi-task benchmark and analysis platform for natural language understanding. *BlackboxNLP*, 353–355. arXiv:1804.07461.
# - Wettig, A., Gao, T., Zhong, Z. and Chen, D. (2023). Should you mask 15% in masked language modeling? *EACL*, 2985–3000. arXiv:2202.08005.
# - Wu, Y. et al. (2016). Google's neural machine translation system: bridging the gap between human and machine translation. arXiv:1609.08144.

# %% [markdown]
# Next: [07 · GPT](../07_gpt/07_gpt.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit import predictions

predictions()
