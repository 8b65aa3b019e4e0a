"""The test of word senses as a figure: a row for each model, a panel for each kind of question, and lines at the bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit import exam
from coursekit.exam import QUESTIONS, Accuracy, bounds, sense_exam
from coursekit.intervals import wilson
from coursekit.plots import GREEN, GREY, ORANGE


class Share(NamedTuple):
    """An accuracy and its interval."""

    mean: float
    low: float
    high: float


class Reader(NamedTuple):
    """One row of the figure: the accuracies of a model by kind of question."""

    name: str
    shares: Mapping[str, Share]
    colour: str = "black"


def of_answers(accuracy: Accuracy) -> dict[str, Share]:
    """The accuracies of one model, with intervals over the questions (Wilson)."""
    shares = asdict(accuracy)
    return {kind: Share(share, *wilson(share, sense_exam().count(kind))) for kind, share in shares.items()}


def over_seeds(runs: Sequence[Accuracy]) -> dict[str, Share]:
    """The mean accuracies of one recipe with several seeds, with intervals over the seeds (Student's t)."""
    return {kind: Share(*ends) for kind, ends in exam.over_seeds(runs).items()}


def rows(readers: Sequence[Reader]) -> tuple[Figure, str]:
    """The figure for some models, and its description in words."""
    figure = Figure(figsize=(10.0, 1.5 + 0.42 * len(readers)), dpi=100, layout="constrained")
    panels = figure.subplots(1, len(QUESTIONS), sharey=True)
    for ax, (kind, title) in zip(panels, QUESTIONS.items(), strict=True):
        _draw_bounds(ax, kind)
        for place, reader in enumerate(readers):
            _draw_share(ax, place, reader.shares[kind], reader.colour)
        ax.set(xlim=(0.3, 1.09), xticks=(0.5, 1), ylim=(len(readers) - 0.4, -0.8))
        ax.set_title(f"{title}\n{sense_exam().count(kind):,} questions", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(readers)), [reader.name for reader in readers], fontsize=9)
    lines = panels[0].get_legend_handles_labels()
    figure.legend(
        *lines,
        title="accuracy of the sense",
        title_fontsize=9,
        loc="outside lower center",
        ncols=3,
        fontsize=8,
        frameon=False,
    )
    limits = bounds()
    said = "; ".join(
        f"{reader.name.replace(chr(10), ', ')}: {_in_words(reader.shares)}" for reader in readers
    )
    return figure, (
        f"Sense accuracy by kind of question, with 95 % intervals. {said}. Most frequent sense: {limits.majority}. "
        f"Best possible from the words before: {limits.words_before}; from the whole sentence: {limits.whole_sentence}."
    )


def _draw_bounds(ax: Axes, kind: str) -> None:
    """Lines at the bounds. Two bounds may be equal; the dashed line is then drawn over the solid one."""
    limits = bounds()
    lines = (
        ("most frequent sense", limits.majority, GREY, ":"),
        ("best possible from the words before", limits.words_before, ORANGE, "--"),
        ("best possible from the whole sentence", limits.whole_sentence, GREEN, "-"),
    )
    for below, (label, accuracy, colour, style) in enumerate(lines):
        ax.axvline(
            accuracy[kind], color=colour, linestyle=style, linewidth=1.5, label=label, zorder=1.9 - below / 10
        )


def _draw_share(ax: Axes, place: float, share: Share, colour: str) -> None:
    ends = [[max(share.mean - share.low, 0)], [max(share.high - share.mean, 0)]]
    ax.errorbar(share.mean, place, xerr=ends, fmt="o", color=colour, markersize=4, linewidth=1.5)
    ax.annotate(f"{share.mean:.3f}", (share.mean, place), (0, 5), textcoords="offset points", ha="center", fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})  # fmt: skip


def _in_words(shares: Mapping[str, Share]) -> str:
    return ", ".join(
        f"{QUESTIONS[kind]} {mean:.3f} ({low:.3f} to {high:.3f})"
        for kind, (mean, low, high) in shares.items()
    )
