"""Record data/results/sense_exam.csv: the scoreboard's exam with readers of counts and with a pre-trained encoder.

    python tools/record_sense_exam.py         # some minutes on one core

The share of senses that the nearest labelled neighbour gets right, by kind of question: for counts of the other words
("bag of words", "near words"), and for the encoder's vector of the ambiguous word at every layer.
"""

import os
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.exam import QUESTIONS, counts, nearest_sense, sense_exam
from coursekit.language import Sentences, load_language
from coursekit.models import Loaded, load

TABLE = Path(__file__).parents[1] / "data/results/sense_exam.csv"
BATCH = 128


def in_context(loaded: Loaded, sentences: Sentences) -> Float[Tensor, "n layers D"]:
    """The vector of the ambiguous word in each sentence (the mean of its pieces), at every layer."""
    language, found = load_language(), [None] * len(sentences)
    # A sentence is [BOS] words [EOS]; its words are written as plain text, so position 1 is word 0.
    texts = [language.decode(ids.tolist()).split() for ids in sentences.ids]
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    for begin in range(0, len(order), BATCH):
        rows = order[begin : begin + BATCH]
        batch = loaded.tokenizer(
            [texts[n] for n in rows], is_split_into_words=True, return_tensors="pt", padding=True
        )
        with torch.no_grad():
            hidden = loaded.model(**batch, output_hidden_states=True).hidden_states
        layers = torch.stack(hidden, dim=1)
        for place, n in enumerate(rows):
            word = int(sentences.position[n]) - 1
            pieces = [t for t, i in enumerate(batch.word_ids(place)) if i == word]
            found[n] = layers[place, :, pieces].mean(dim=1)
        print(f"\r{begin + len(rows):>5} of {len(order)} sentences", end="", flush=True)
    print()
    return torch.stack(found)


def main() -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged model, which everybody has
    torch.set_num_threads(1)
    loaded, exam, language = load("bert-base-uncased"), sense_exam(), load_language()
    rows = []
    for name, near in (("bag of words", False), ("near words", True)):
        vectors = (counts(language, part, near) for part in (exam.labelled, exam.held_out))
        rows.append({"model": name, "layer": -1} | asdict(nearest_sense(exam, *vectors)))
    labelled, held_out = (in_context(loaded, part) for part in (exam.labelled, exam.held_out))
    for layer in range(labelled.shape[1]):
        accuracy = nearest_sense(exam, labelled[:, layer], held_out[:, layer])
        rows.append({"model": loaded.name, "layer": layer} | asdict(accuracy))
    table = pd.DataFrame(rows).round(dict.fromkeys(QUESTIONS, 4))
    table.to_csv(TABLE, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
