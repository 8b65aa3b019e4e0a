"""How many senses do word counts and a pre-trained encoder distinguish in the scoreboard's test?

The accuracy of the nearest labelled neighbour by kind of question, for counts of the other words ("bag of words", "near
words") and for the encoder's vector of the ambiguous word at every layer. Writes `data/results/sense_exam.csv` (a few
minutes).
"""

from dataclasses import asdict

import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.exam import counts, nearest_sense, sense_exam
from coursekit.language import Sentences, load_language
from coursekit.models import Loaded, load
from experiments.harness import Experiment, Options, Step, Steps, grid

BATCH = 128


def in_context(loaded: Loaded, sentences: Sentences, options: Options) -> Float[Tensor, "n layers D"]:
    """The vector of the ambiguous word in each sentence (the mean of its subwords), at every layer."""
    language, found = load_language(), [None] * len(sentences)
    # A sentence is [BOS] words [EOS]; its words are passed on as plain text, so position 1 is word 0.
    texts = [language.decode(ids.tolist()).split() for ids in sentences.ids]
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    for begin in options.track(range(0, len(order), BATCH), "batches of sentences"):
        rows = order[begin : begin + BATCH]
        batch = loaded.tokenizer(
            [texts[n] for n in rows], is_split_into_words=True, return_tensors="pt", padding=True
        )
        with torch.no_grad():
            hidden = loaded.model(**batch, output_hidden_states=True).hidden_states
        layers = torch.stack(hidden, dim=1)
        for row, n in enumerate(rows):
            word = int(sentences.position[n]) - 1
            subwords = [t for t, i in enumerate(batch.word_ids(row)) if i == word]
            found[n] = layers[row, :, subwords].mean(dim=1)
    return torch.stack(found)


def _steps(options: Options) -> Steps:
    loaded, exam, language = load("all-MiniLM-L6-v2"), sense_exam(), load_language()
    parts = exam.labelled, exam.held_out

    def measure(model: str) -> list[dict]:
        if model != loaded.name:
            vectors = (counts(language, part, model == "near words") for part in parts)
            return [{"layer": -1} | asdict(nearest_sense(exam, *vectors))]
        labelled, held_out = (in_context(loaded, part, options) for part in parts)
        return [
            {"layer": layer} | asdict(nearest_sense(exam, labelled[:, layer], held_out[:, layer]))
            for layer in range(labelled.shape[1])
        ]

    yield Step("sense_exam", grid(model=("bag of words", "near words", loaded.name)), measure)


EXPERIMENT = Experiment(_steps)
