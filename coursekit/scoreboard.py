"""The scoreboard of the course: which model tells the senses of a word apart, beside what is possible at all.

    exam = sense_exam()                                   # the same sentences for every model
    accuracy = nearest_sense(exam, vectors_of(exam.labelled), vectors_of(exam.held_out))
    add_row("GPT, 2 layers", sense_left=accuracy.left, sense_right=accuracy.right, loss=1.09)
    draw()

Rows are kept with the student's progress, so the board grows from notebook to notebook.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from autograder.checks import journal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coursekit.language import Sentences

LABELLED, HELD_OUT, SEED = 6_000, 4_000, 2013
TIE = 1e-5
"""Cosines closer than this count as equal: the same vector computed twice may differ in its last bits."""
SIDES = {"left": "cue on the left, or on both sides", "right": "cue only on the right"}
"""What the two accuracies are called in pictures."""


@dataclass(frozen=True)
class Accuracy:
    """Shares of right answers by where the sentence tells the sense.

    left    before the word, and perhaps after it too;    right    only after it.
    """

    left: float
    right: float


@dataclass(frozen=True)
class Exam:
    """Sentences with one ambiguous word each: `labelled` to learn from, `held_out` to be asked about."""

    labelled: "Sentences"
    held_out: "Sentences"


@dataclass(frozen=True)
class Bounds:
    """What the exam allows: the most frequent sense of each word, and the exact posterior given some context."""

    majority: Accuracy
    from_left: Accuracy
    from_both: Accuracy


@cache
def sense_exam() -> Exam:
    """The exam that every model of the course takes."""
    from coursekit.language import load_language

    language, rng = load_language(), np.random.default_rng(SEED)
    labelled = language.sample(LABELLED, rng, split="train")
    held_out = language.sample(HELD_OUT, rng, split="held_out")
    return Exam(labelled[labelled.position >= 0], held_out[held_out.position >= 0])


def nearest_sense(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Accuracy:
    """Accuracy when each held-out word takes the sense of the most similar labelled occurrence of the same word.

    `labelled` and `held_out` hold the vector of the ambiguous word in each sentence of the exam. Among equally near
    neighbours the most frequent sense wins, so vectors that do not depend on the sentence score as the majority does.
    """
    return _by_cue(exam.held_out, nearest_hits(exam, labelled, held_out))


def nearest_hits(
    exam: Exam, labelled: Float[Tensor, "labelled D"], held_out: Float[Tensor, "held_out D"]
) -> Bool[np.ndarray, " held_out"]:
    """The same, question by question: whether each held-out word is given its sense."""
    for name, vectors, sentences in (
        ("labelled", labelled, exam.labelled),
        ("held_out", held_out, exam.held_out),
    ):
        if vectors.ndim != 2 or len(vectors) != len(sentences):
            raise ValueError(
                f"nearest_sense: {name} has shape {tuple(vectors.shape)}; give one vector for each of the exam's "
                f"{len(sentences)} {name.replace('_', '-')} sentences."
            )
    unit = torch.nn.functional.normalize
    labelled, held_out = unit(labelled.detach().float(), dim=1), unit(held_out.detach().float(), dim=1)
    words, senses = ambiguous_words(exam.labelled), torch.from_numpy(exam.labelled.sense)
    held_out_words = ambiguous_words(exam.held_out)
    guesses = np.full(len(held_out_words), -1)
    for word in np.unique(held_out_words):
        rows, here = np.flatnonzero(words == word), np.flatnonzero(held_out_words == word)
        similarity = held_out[here] @ labelled[rows].T
        near = similarity >= similarity.amax(dim=1, keepdim=True) - TIE
        votes = near.double() @ torch.nn.functional.one_hot(senses[rows]).double()
        guesses[here] = votes.argmax(dim=1).numpy()
    return guesses == exam.held_out.sense


def majority_accuracy(exam: Exam) -> Accuracy:
    """Accuracy of always answering with the most frequent sense of the word among the labelled sentences."""
    words, held_out_words = ambiguous_words(exam.labelled), ambiguous_words(exam.held_out)
    guess = {word: np.bincount(exam.labelled.sense[words == word]).argmax() for word in np.unique(words)}
    return _by_cue(
        exam.held_out, np.array([guess.get(word) for word in held_out_words]) == exam.held_out.sense
    )


@cache
def bounds() -> Bounds:
    """The majority, and the best possible from the words before the word and from the whole sentence."""
    from coursekit.language import load_language, sense_bound

    exam, language = sense_exam(), load_language()

    def best(context: str) -> Accuracy:
        return Accuracy(*(
            sense_bound(language, exam.held_out[exam.held_out.cue == cue], context).mean for cue in ("left", "right")
        ))  # fmt: skip

    return Bounds(majority_accuracy(exam), best("left"), best("both"))


def add_row(
    model: str, *, sense_left: float, sense_right: float, loss: float | None = None, note: str = ""
) -> None:
    """Put a model on the board, or replace its row. Accuracies are shares from 0 to 1, the loss is in nats."""
    for name, value in (("sense_left", sense_left), ("sense_right", sense_right)):
        if not 0 <= value <= 1:
            raise ValueError(f"add_row({model!r}): {name}={value:g} is not a share between 0 and 1.")
    row: dict[str, Any] = {
        "sense_left": float(sense_left),
        "sense_right": float(sense_right),
        "note": note,
    } | ({} if loss is None else {"loss": float(loss)})
    with journal.changing("scoreboard") as rows:
        last = max((other["place"] for other in rows.values()), default=0)
        rows[model] = row | {"place": rows[model]["place"] if model in rows else last + 1}


def draw_bounds(ax: "Axes", limits: Bounds, side: str) -> None:
    """Lines at one side's bounds. Two may be equal: the dashed one lies upon the solid one."""
    from coursekit.plots import GREEN, GREY, ORANGE

    lines = (
        ("most frequent sense", limits.majority, GREY, ":"),
        ("best possible from the words before", limits.from_left, ORANGE, "--"),
        ("best possible from the whole sentence", limits.from_both, GREEN, "-"),
    )
    for below, (label, accuracy, colour, style) in enumerate(lines):
        place = getattr(accuracy, side)
        ax.axvline(place, color=colour, linestyle=style, linewidth=1.5, label=label, zorder=1.9 - below / 10)


def draw() -> None:
    """Show the board: each model's sense accuracy with its 95 % interval, the majority and the exact bounds."""
    from matplotlib.figure import Figure

    from coursekit.intervals import wilson
    from coursekit.plots import show

    rows = sorted(journal.read()["scoreboard"].items(), key=lambda item: item[1]["place"])
    if not rows:
        print("The scoreboard is empty: add_row(model, sense_left=..., sense_right=...) puts a model on it.")
        return
    limits, cues = bounds(), sense_exam().held_out.cue
    figure = Figure(figsize=(9.0, 1.5 + 0.42 * len(rows)), dpi=100, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for ax, (side, title) in zip(panels, SIDES.items(), strict=True):
        draw_bounds(ax, limits, side)
        values = np.array([row[f"sense_{side}"] for _, row in rows])
        ends = np.transpose([wilson(value, (cues == side).sum()) for value in values])
        places = np.arange(len(rows))
        ax.errorbar(
            values, places, xerr=abs(ends - values), fmt="o", color="black", markersize=5, linewidth=1.5
        )
        for value, place in zip(values, places, strict=True):
            ax.annotate(f"{value:.3f}", (value, place), (0, 6), textcoords="offset points", ha="center", fontsize=8,
                        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})  # fmt: skip
        ax.set(
            title=title,
            xlabel="share of words whose sense is found",
            xlim=(0, 1.06),
            ylim=(len(rows) - 0.4, -0.7),
        )
        ax.title.set_fontsize(10)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(rows)), [_label(model, row) for model, row in rows], fontsize=9)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    show(figure, alt=_in_words(rows, limits))


def ambiguous_words(sentences: "Sentences") -> Int[np.ndarray, " sentences"]:
    """The id of each sentence's ambiguous word, in its number: "cell" and "cells" are two words."""
    return sentences.ids[np.arange(len(sentences)), sentences.position]


def _by_cue(sentences: "Sentences", right: np.ndarray) -> Accuracy:
    return Accuracy(*(float(right[sentences.cue == cue].mean()) for cue in ("left", "right")))


def _label(model: str, row: dict[str, Any]) -> str:
    extras = [f"{row['loss']:.2f} nats" if "loss" in row else "", row["note"]]
    small = ", ".join(filter(None, extras))
    return f"{model}\n{small}" if small else model


def _in_words(rows: list[tuple[str, dict[str, Any]]], limits: Bounds) -> str:
    models = " ".join(
        f"{model}: {row['sense_left']:.3f} left, {row['sense_right']:.3f} right only." for model, row in rows
    )
    return (
        f"Scoreboard of sense accuracy, cue on the left against cue only on the right. {models} "
        f"Most frequent sense: {limits.majority.left:.3f} and {limits.majority.right:.3f}. Best possible from the words "
        f"before: {limits.from_left.left:.3f} and {limits.from_left.right:.3f}; from the whole sentence: "
        f"{limits.from_both.left:.3f} and {limits.from_both.right:.3f}."
    )
