"""How certain a comparison of models is, and how far their answers are from the exact ones: measurements of notebook 12."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.exam import Accuracy, ambiguous_words, sense_exam
from coursekit.intervals import mean_and_half
from coursekit.language import load_language
from coursekit.scoreboard import add_row, draw

JUDGED = {
    "window of two, trained (logistic regression)": ("window of two", "logistic regression"),
    "near words, 1-NN": ("near words", "1-NN"),
    "near words, trained probe": ("near words", "probe"),
    "MiniLM, 1-NN": ("context", "1-NN"),
    "MiniLM, trained probe": ("context", "probe"),
}
"""Names of recorded results: the vectors and the classifier."""


def show_on_scoreboard(
    intervals: Mapping[str, Mapping[str, Sequence[float]]], on_english: Mapping[str, str]
) -> None:
    """Add the static vectors and the models trained on English to the scoreboard, and draw it with every row."""
    notes = {"GloVe, one vector": "static", "GloVe, bag of words": "bag"}
    for name, note in {**notes, **dict.fromkeys(on_english, "on English")}.items():
        shares = {kind: mean for kind, (mean, *_) in intervals[name].items()}
        add_row(on_english.get(name, name), Accuracy(**shares), note=note)
    draw(every=True)


def falsely_clear(
    answers: Float[Tensor, "models n"],
    draws: Int[Tensor, "times n"],
    p_values: Callable[[Float[Tensor, "models n"], Int[Tensor, "times n"]], Float[Tensor, " pairs"]],
    holm: Callable[[Float[Tensor, " pairs"]], Bool[Tensor, " pairs"]],
    worlds: int = 200,
) -> dict[str, float]:
    """The fraction of simulated worlds without differences in which at least one difference is called clear, by each rule.

    In such a world the answers to each item are randomly reassigned to the models.
    """
    generator, found = torch.Generator().manual_seed(0), []
    for _ in range(worlds):
        dealt = torch.rand(answers.shape, generator=generator).argsort(dim=0)
        found.append(p_values(answers.gather(0, dealt), draws))
    return {
        "each at 95 %": np.mean([(p < 0.05).any().item() for p in found]),
        "Holm": np.mean([holm(p).any().item() for p in found]),
    }


def recorded_probes() -> dict[str, pd.DataFrame]:
    """The recorded accuracies of classifiers on the nouns, each with a row for each kind of sentence."""
    table = read_table("results/senses.csv")
    nouns = table[(table.half == "all nouns") & table.chosen]
    return {
        called: nouns[(nouns.vectors == family) & (nouns.judge == judge)].set_index("part")
        for called, (family, judge) in JUDGED.items()
    }


def distances_from_exact(
    neighbour_posterior: Callable,
    vectors: Mapping[str, Sequence[Float[Tensor, "n D"]]],
    temperatures: Sequence[float],
    questions: int = 300,
) -> dict[tuple[str, str, float], tuple[float, float]]:
    """Total variation distances of the models' answers from two exact posteriors: mean and half of its 95 % interval.

    The questions have the cue only on the right. `vectors` has the labelled and the held-out vectors of each model; the
    keys of the result are the model, what the exact posterior has read, and the temperature.
    """
    language, exam = load_language(), sense_exam()
    known, asked = exam.labelled, exam.held_out
    late = np.random.default_rng(0).choice(np.flatnonzero(asked.cue == "right"), questions, replace=False)
    words = [torch.tensor(np.asarray(ambiguous_words(part))) for part in (known, asked)]
    same, senses = words[1][late][:, None] == words[0], torch.tensor(np.asarray(known.sense))
    exact = {
        reader: torch.from_numpy(
            language.sense_posterior(asked.ids[late], asked.position[late], context)
        ).float()
        for reader, context in (("up to the target", "left"), ("whole sentence", "both"))
    }
    moved = {}
    for temperature in temperatures:
        for name, (labelled, held_out) in vectors.items():
            answer = neighbour_posterior(
                held_out[late], labelled, senses, same, temperature, len(language.senses)
            )
            for reader, exact_answer in exact.items():
                moved[name, reader, temperature] = mean_and_half((answer - exact_answer).abs().sum(dim=1) / 2)
    return moved
