"""Record data/results/sense_exam.csv: the scoreboard's exam with a pre-trained encoder (about a minute on one core).

    python tools/record_sense_exam.py

The vector of the ambiguous word in each sentence of the generated language, at every layer, and the share of senses
that its nearest labelled neighbour gets right.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.language import Sentences, load_language
from coursekit.models import Loaded, load
from coursekit.scoreboard import nearest_sense, sense_exam

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
    loaded, exam = load("bert-base-uncased"), sense_exam()
    labelled, held_out = (in_context(loaded, part) for part in (exam.labelled, exam.held_out))
    rows = []
    for layer in range(labelled.shape[1]):
        accuracy = nearest_sense(exam, labelled[:, layer], held_out[:, layer])
        rows.append((loaded.name, layer, np.round(accuracy.left, 4), np.round(accuracy.right, 4)))
    table = pd.DataFrame(rows, columns=["model", "layer", "left", "right"])
    table.to_csv(TABLE, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
