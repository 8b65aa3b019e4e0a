"""What the vectors of a decoder can encode, since they depend on the words on the left only."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from coursekit.derivatives import influence
from coursekit.exam import Exam, ambiguous_words
from coursekit.language import PAD, Language, Sentences
from coursekit.models.loading import Loaded
from coursekit.small.bert import single
from coursekit.small.elmo import Spelling


def relative_differences(vectors: Float[Tensor, "layers two D"]) -> list[float]:
    """For each layer, the length of the difference between two vectors, divided by the length of the first vector."""
    return ((vectors[:, 0] - vectors[:, 1]).norm(dim=-1) / vectors[:, 0].norm(dim=-1)).tolist()


def senses_from_the_left(language: Language, sentence: str, word: str) -> dict[str, float]:
    """The exact posterior of the senses of `word` given the words before it, to three digits, without impossible senses."""
    position = np.array([1 + sentence.split().index(word)])  # [BOS] is position 0
    posterior = language.sense_posterior(language.encode(sentence)[None], position, "left")[0]
    return {language.senses[i]: round(float(posterior[i]), 3) for i in posterior.nonzero()[0]}


def most_probable(language: Language, sentences: Sentences) -> Float[np.ndarray, " sentences"]:
    """The exact probability of the most probable sense of each ambiguous word, given the words before it."""
    return language.sense_posterior(sentences.ids, sentences.position, "left").max(axis=1)


@torch.no_grad()
def differences_of_word(loaded: Loaded, phrases: Sequence[str], word: str) -> list[float]:
    """`relative_differences` between the vectors of the token `word` in two phrases, for a pre-trained model."""
    found = []
    for phrase in phrases:
        tokens = loaded.tokenizer(phrase, return_tensors="pt")
        pieces = loaded.tokenizer.convert_ids_to_tokens(tokens.input_ids[0])
        position = [piece.strip("Ġ▁ ").lower() for piece in pieces].index(word)
        hidden = loaded.model(**tokens, output_hidden_states=True).hidden_states
        found.append(torch.stack(hidden)[:, 0, position])  # L+1 D
    return relative_differences(torch.stack(found, dim=1))


def logistic_hits(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Bool[np.ndarray, " held_out"]:
    """As `coursekit.exam.nearest_hits`, with one logistic regression for each ambiguous word."""
    labelled_words, asked_words = ambiguous_words(exam.labelled), ambiguous_words(exam.held_out)
    right = np.zeros(len(exam.held_out), dtype=bool)
    for word in np.unique(asked_words):
        known, here = labelled_words == word, asked_words == word
        probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
        probe.fit(labelled[known].numpy(), exam.labelled.sense[known])
        right[here] = probe.predict(held_out[here].numpy()) == exam.held_out.sense[here]
    return right


def influence_maps(
    gpt: nn.Module, bert: nn.Module, elmo: nn.Module, ids: Int[Tensor, "1 padded"]
) -> dict[str, Float[Tensor, "T T"]]:
    """The influence of each input (column) on each vector of the last layer (row) of the course's small models.

    The padding at the end of the sentence is left out.
    """
    ids = ids[:, : int((ids != PAD).sum())]  # without padding
    real = ids != PAD
    spelt = elmo.token(Spelling().of_ids(ids))[0]
    embedded = bert.embeddings(single(ids), torch.zeros_like(ids))[0]

    def half_of_elmo(half: int, x: Float[Tensor, "N T D"]) -> Float[Tensor, "N T D/2"]:
        return elmo.run(x, real.expand(len(x), -1)).hidden[-1].chunk(2, dim=-1)[half]

    return {
        "ELMo, forward half": influence(partial(half_of_elmo, 0), spelt),
        "ELMo, backward half": influence(partial(half_of_elmo, 1), spelt),
        "BERT": influence(lambda x: bert.run(x, real.expand(len(x), -1)).hidden[-1], embedded),
        "GPT": influence(lambda x: gpt.run(x).hidden[-1], gpt.embed(ids)[0]),
    }
