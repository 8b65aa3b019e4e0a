"""Which pre-trained model separates the senses of words better, an encoder or a decoder?

Two tests, the same for both models: the held-out sentences of the generated language (coursekit/exam.py) and the test
sentences of data/senses (notebook 12). Each word is given the sense of the most similar labelled occurrence of the same
word, by cosine, at the layer that is best among the labelled sentences themselves. Writes `data/results/one_corpus.csv`,
one row per word (about twenty minutes).
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.exam import ambiguous_words, nearest_hits, sense_exam
from coursekit.models import Loaded, load
from coursekit.occurrences import right_by_nearest
from experiments.harness import Experiment, Options, Step, Steps

ROWS = 128


@torch.no_grad()
def vectors(
    loaded: Loaded,
    options: Options,
    causal: bool,
    sentences: Sequence[str],
    starts: Sequence[int],
    ends: Sequence[int],
) -> Float[Tensor, "n layers D"]:
    """The vector of the word at characters start to end, at every layer: the mean of its subwords.

    A decoder's vectors do not depend on what follows, so it is given each sentence only up to the end of the word.
    """
    tokenizer, found = loaded.tokenizer, []
    tokenizer.padding_side = "right"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    for begin in options.track(range(0, len(sentences), ROWS), f"{loaded.name}, batches"):
        here = slice(begin, begin + ROWS)
        texts = [
            text[:end] if causal else text for text, end in zip(sentences[here], ends[here], strict=True)
        ]
        batch = tokenizer(texts, return_tensors="pt", padding=True, return_offsets_mapping=True)
        first, last = batch.pop("offset_mapping").unbind(dim=-1)
        hidden = torch.stack(
            loaded.model(**batch, output_hidden_states=True).hidden_states, dim=1
        )  # n L+1 T D
        start, end = (torch.tensor(places[here])[:, None] for places in (starts, ends))
        pieces = ((first < end) & (last > start) & (last > first)).float()
        mean = torch.einsum("nltd,nt->nld", hidden, pieces) / pieces.sum(dim=1)[:, None, None]
        found.append(mean.half())
    return torch.cat(found)


def best_layer(table: pd.DataFrame, vectors: Float[Tensor, "n layers D"]) -> int:
    """The layer that is best among the labelled words. Layer 0 is left out: it knows nothing of the sentence."""

    def correct(layer: int) -> int:
        return right_by_nearest(table, vectors[:, layer], within_train=True).sum()

    return max(range(1, vectors.shape[1]), key=correct)


def spans(sentences) -> tuple[list[str], list[int], list[int]]:
    """Sentences of the generated language as text, and where their ambiguous word begins and ends."""
    texts, starts, ends = [], [], []
    for i, position in enumerate(sentences.position):
        words = sentences.words(i)
        before = " ".join(words[: position - 1])
        texts.append(" ".join(words))
        starts.append(len(before) + bool(before))
        ends.append(starts[-1] + len(words[position - 1]))
    return texts, starts, ends


def generated(read: Callable) -> tuple[int, pd.DataFrame]:
    """The layer, and the answers to the scoreboard's test."""
    exam = sense_exam()
    labelled, held_out = read(*spans(exam.labelled)), read(*spans(exam.held_out))
    table = pd.DataFrame({"word": ambiguous_words(exam.labelled), "sense": exam.labelled.sense})
    layer = best_layer(table.assign(split="train"), labelled)
    right = nearest_hits(exam, labelled[:, layer], held_out[:, layer])
    words = np.array(exam.held_out.vocabulary)[ambiguous_words(exam.held_out)]
    return layer, pd.DataFrame({"word": words, "part": exam.held_out.cue, "right": right})


def real(read: Callable) -> tuple[int, pd.DataFrame]:
    """The layer, and the answers to the test of data/senses."""
    table = read_table("senses/senses.csv")
    table["end"] = table.start + table.form.str.len()
    parts = [table[table.split == side] for side in ("train", "test")]
    found = [read(*(part[name].tolist() for name in ("sentence", "start", "end"))) for part in parts]
    table, vectors = pd.concat(parts), torch.cat(found)
    layer = best_layer(table, vectors)
    right = right_by_nearest(table, vectors[:, layer])[len(parts[0]) :]
    return layer, pd.DataFrame(
        {"word": parts[1].word.to_numpy(), "part": parts[1].kind.to_numpy(), "right": right}
    )


EXAMS = {"generated": generated, "senses": real}


def _steps(options: Options) -> Steps:
    models = {
        load(name).name: (name, causal)
        for name, causal in (("all-MiniLM-L6-v2", False), ("SmolLM2-135M-Instruct", True))
    }
    loaded = cache(load)

    def measure(exam: str, model: str) -> pd.DataFrame:
        name, causal = models[model]
        layer, table = EXAMS[exam](partial(vectors, loaded(name), options, causal))
        table = table.assign(
            exam=exam, model=model, layer=layer, item=range(len(table)), right=table.right.astype(int)
        )
        return table[["exam", "model", "layer", "item", "word", "part", "right"]]

    yield Step("one_corpus", [{"exam": exam, "model": model} for model in models for exam in EXAMS], measure)


EXPERIMENT = Experiment(_steps)
