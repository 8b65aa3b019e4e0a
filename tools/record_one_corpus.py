"""Record data/results/one_corpus.csv: the pre-trained models' answers, word by word (about 20 minutes on one core).

    python tools/record_one_corpus.py              both exams
    python tools/record_one_corpus.py senses       this one; the other's answers stay as they are

Two exams, the same for every model: the held-out sentences of the generated language (coursekit/exam.py) and the
test sentences of data/senses. Each word takes the sense of the most similar labelled occurrence of the same word, by
cosine, at the layer that does best among the labelled sentences themselves (each asked of all the others).
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize
from tqdm import tqdm

from coursekit.datasets import read_table
from coursekit.exam import ambiguous_words, nearest_hits, sense_exam
from coursekit.models import Loaded, load

TABLE = Path(__file__).parents[1] / "data/results/one_corpus.csv"
ROWS = 128


@torch.no_grad()
def vectors(
    loaded: Loaded, sentences: Sequence[str], starts: Sequence[int], ends: Sequence[int], causal: bool
) -> Float[Tensor, "n layers D"]:
    """The vector of the word at characters start to end, at every layer: the mean of its pieces.

    A decoder's vectors do not depend on what follows, so it reads each sentence only to the end of the word.
    """
    words, found = loaded.tokenizer, []
    words.padding_side = "right"
    words.pad_token = words.pad_token or words.eos_token
    for begin in tqdm(range(0, len(sentences), ROWS), desc=loaded.name):
        here = slice(begin, begin + ROWS)
        texts = [
            text[:end] if causal else text for text, end in zip(sentences[here], ends[here], strict=True)
        ]
        batch = words(texts, return_tensors="pt", padding=True, return_offsets_mapping=True)
        first, last = batch.pop("offset_mapping").unbind(dim=-1)
        hidden = torch.stack(
            loaded.model(**batch, output_hidden_states=True).hidden_states, dim=1
        )  # n L+1 T D
        start, end = (torch.tensor(places[here])[:, None] for places in (starts, ends))
        pieces = ((first < end) & (last > start) & (last > first)).float()
        mean = torch.einsum("nltd,nt->nld", hidden, pieces) / pieces.sum(dim=1)[:, None, None]
        found.append(mean.half())
    return torch.cat(found)


def right_answers(
    labelled: Float[Tensor, "m D"],
    unlabelled: Float[Tensor, "n D"],
    labels: tuple[np.ndarray, np.ndarray],
    truth: tuple[np.ndarray, np.ndarray],
    leave_out: bool = False,
) -> Bool[np.ndarray, " n"]:
    """Whether each asked word gets its sense from the nearest known one; labels and truth are (words, senses)."""
    right = np.zeros(len(unlabelled), dtype=bool)
    labelled, unlabelled = normalize(labelled.float(), dim=1), normalize(unlabelled.float(), dim=1)
    for word in np.unique(truth[0]):
        rows, here = np.flatnonzero(labels[0] == word), np.flatnonzero(truth[0] == word)
        similarity = unlabelled[here] @ labelled[rows].T
        if leave_out:
            similarity.fill_diagonal_(-2.0)
        right[here] = labels[1][rows[similarity.argmax(dim=1).numpy()]] == truth[1][here]
    return right


def best_layer(labelled: Float[Tensor, "m layers D"], labels: tuple[np.ndarray, np.ndarray]) -> int:
    """The layer that is best among the labelled words. Layer 0 has not read the sentence."""
    layers = range(1, labelled.shape[1])
    return max(
        layers, key=lambda i: right_answers(labelled[:, i], labelled[:, i], labels, labels, True).mean()
    )


def spans(sentences) -> tuple[list[str], list[int], list[int]]:
    """Sentences of the generated language as text, and where their ambiguous word stands."""
    texts, starts, ends = [], [], []
    for i, position in enumerate(sentences.position):
        words = sentences.words(i)
        before = " ".join(words[: position - 1])
        texts.append(" ".join(words))
        starts.append(len(before) + bool(before))
        ends.append(starts[-1] + len(words[position - 1]))
    return texts, starts, ends


def generated(read: Callable) -> tuple[int, pd.DataFrame]:
    """The exam of the scoreboard."""
    exam = sense_exam()
    labelled, held_out = read(*spans(exam.labelled)), read(*spans(exam.held_out))
    layer = best_layer(labelled, (ambiguous_words(exam.labelled), exam.labelled.sense))
    right = nearest_hits(exam, labelled[:, layer], held_out[:, layer])
    words = np.array(exam.held_out.vocabulary)[ambiguous_words(exam.held_out)]
    return layer, pd.DataFrame({"word": words, "part": exam.held_out.cue, "right": right})


def real(read: Callable) -> tuple[int, pd.DataFrame]:
    """The exam of data/senses."""
    table = read_table("senses/senses.csv")
    table["end"] = table.start + table.form.str.len()
    parts = [table[table.split == side] for side in ("train", "test")]
    found = [read(*(part[name].tolist() for name in ("sentence", "start", "end"))) for part in parts]
    labels, truth = ((part.word.to_numpy(), part.sense.to_numpy()) for part in parts)
    layer = best_layer(found[0], labels)
    right = right_answers(found[0][:, layer], found[1][:, layer], labels, truth)
    return layer, pd.DataFrame({"word": truth[0], "part": parts[1].kind.to_numpy(), "right": right})


EXAMS = {"generated": generated, "senses": real}


def record(exams: Sequence[str]) -> pd.DataFrame:
    """Both models' answers to these exams."""
    tables = []
    for name, causal in (("bert-base-uncased", False), ("SmolLM2-135M", True)):
        loaded = load(name)
        for exam in exams:
            layer, table = EXAMS[exam](lambda *where, m=loaded, c=causal: vectors(m, *where, c))
            table.insert(0, "item", range(len(table)))
            tables.append(
                table.assign(exam=exam, model=loaded.name, layer=layer, right=table.right.astype(int))
            )
            print(f"{loaded.name}, {exam}, layer {layer}: {table.right.mean():.3f}")
    return pd.concat(tables)[["exam", "model", "layer", "item", "word", "part", "right"]]


def main() -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged models, which everybody has
    torch.set_num_threads(1)
    exams = sys.argv[1:] or list(EXAMS)
    tables = [record(exams)]
    if set(exams) < set(EXAMS):
        before = pd.read_csv(TABLE)
        tables.append(before[~before.exam.isin(exams)])
    both = pd.concat(tables)
    order = both.model.drop_duplicates().tolist()
    both.sort_values(
        ["model", "exam"], key=lambda column: column.map((order + list(EXAMS)).index), kind="stable"
    ).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
