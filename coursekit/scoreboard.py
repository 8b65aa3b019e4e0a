"""The scoreboard of the course: which model tells the senses of a word apart, beside what is possible at all.

    add_row("MiniLM", nearest_sense(exam, *vectors))             # one model
    add_row("attention, 1 layer", accuracies, note="4 seeds")    # the same recipe with several seeds
    draw()

Rows are kept with the student's progress, so the board grows from notebook to notebook. The exact bounds and two readers
of counts are on it from the beginning.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from autograder.checks import journal
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, Bounds, bounds, sense_exam
from coursekit.intervals import mean_and_half, wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
"""`mean`, `low`, `high` by kind of question; `seeds` (None: no interval over seeds), `note`, and `loss` where there is one."""


def add_row(
    model: str, accuracy: Accuracy | Sequence[Accuracy], *, loss: float | None = None, note: str = ""
) -> None:
    """Put a model on the board, or replace its row; several accuracies are those of one recipe with several seeds.

    Accuracies are shares from 0 to 1, the loss is in nats. Raises ValueError for what is no share.
    """
    runs = [accuracy] if isinstance(accuracy, Accuracy) else list(accuracy)
    if not runs:
        raise ValueError(f"add_row({model!r}): there is no accuracy; give one for each seed.")
    shares = [asdict(run) for run in runs]
    for kind, share in ((kind, share) for run in shares for kind, share in run.items()):
        if not 0 <= share <= 1:
            raise ValueError(f"add_row({model!r}): {kind}={share:g} is not a share between 0 and 1.")
    row = _over_seeds(shares) if len(runs) > 1 else _of_one(shares[0])
    row |= {"note": note} | ({} if loss is None else {"loss": float(loss)})
    with journal.changing("scoreboard") as rows:
        last = max((other["place"] for other in rows.values()), default=0)
        rows[model] = row | {"place": rows[model]["place"] if model in rows else last + 1}


def draw() -> None:
    """Show the board: shares of senses found by kind of question, with 95 % intervals, under the exact bounds.

    A row of several seeds has the interval over seeds (Student's t), another that over the questions (Wilson).
    """
    from matplotlib.figure import Figure

    from coursekit.plots import show

    models = [(name, row) for name, row in journal.read()["scoreboard"].items() if "mean" in row]
    if not models:
        print("The scoreboard is empty: add_row(model, accuracy) puts a model on it.")
        return
    rows = [*readers_of_counts(), *sorted(models, key=lambda item: item[1]["place"])]
    figure = Figure(figsize=(10.0, 1.5 + 0.42 * len(rows)), dpi=100, layout="constrained")
    panels = figure.subplots(1, len(QUESTIONS), sharey=True)
    for ax, (kind, title) in zip(panels, QUESTIONS.items(), strict=True):
        draw_bounds(ax, bounds(), kind)
        for place, (_, row) in enumerate(rows):
            draw_share(ax, place, row, kind, "grey" if place < len(rows) - len(models) else "black")
        ax.set(xlim=(0.3, 1.09), xticks=(0.5, 1), ylim=(len(rows) - 0.4, -0.8))
        ax.set_title(f"{title}\n{sense_exam().count(kind):,} questions", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(rows)), [_label(model, row) for model, row in rows], fontsize=9)
    figure.supxlabel("share of words whose sense is found", fontsize=9)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    show(figure, alt=_in_words(rows, bounds()))


def readers_of_counts() -> list[tuple[str, Row]]:
    """The rows "bag of words" and "near words", recorded: `python tools/record_sense_exam.py`."""
    recorded = read_table("results/sense_exam.csv").set_index("model")
    return [
        (name, _of_one({kind: float(recorded.loc[name, kind]) for kind in QUESTIONS}) | {"note": "counts"})
        for name in ("bag of words", "near words")
    ]


def draw_bounds(ax: "Axes", limits: Bounds, kind: str) -> None:
    """Lines at the bounds of one kind of question. Two may be equal: the dashed one lies upon the solid one."""
    from coursekit.plots import GREEN, GREY, ORANGE

    lines = (
        ("most frequent sense", limits.majority, GREY, ":"),
        ("best possible from the words before", limits.words_before, ORANGE, "--"),
        ("best possible from the whole sentence", limits.whole_sentence, GREEN, "-"),
    )
    for below, (label, accuracy, colour, style) in enumerate(lines):
        ax.axvline(
            accuracy[kind], color=colour, linestyle=style, linewidth=1.5, label=label, zorder=1.9 - below / 10
        )


def draw_share(ax: "Axes", place: float, row: Row, kind: str, colour: str = "black") -> None:
    """One row's share with its interval and its number."""
    mean, low, high = (row[part][kind] for part in ("mean", "low", "high"))
    ax.errorbar(
        mean, place, xerr=[[mean - low], [high - mean]], fmt="o", color=colour, markersize=4, linewidth=1.5
    )
    ax.annotate(f"{mean:.3f}", (mean, place), (0, 5), textcoords="offset points", ha="center", fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})  # fmt: skip


def _of_one(share: dict[str, float]) -> Row:
    ends = {kind: wilson(value, sense_exam().count(kind)) for kind, value in share.items()}
    low, high = ({kind: end[side] for kind, end in ends.items()} for side in (0, 1))
    return {"mean": share, "low": low, "high": high, "seeds": None}


def _over_seeds(shares: list[dict[str, float]]) -> Row:
    table = pd.DataFrame(shares)
    mean, half = mean_and_half(table)
    ends = {"mean": mean, "low": np.maximum(mean - half, 0), "high": np.minimum(mean + half, 1)}
    return {name: dict(zip(table, values.tolist(), strict=True)) for name, values in ends.items()} | {
        "seeds": len(shares)
    }


def _label(model: str, row: Row) -> str:
    seeds = f"{row['seeds']} seeds" if row["seeds"] else ""
    small = ", ".join(filter(None, (f"{row['loss']:.2f} nats" if "loss" in row else "", row["note"], seeds)))
    return f"{model}\n{small}" if small else model


def _in_words(rows: list[tuple[str, Row]], limits: Bounds) -> str:
    models = " ".join(f"{model}: {Accuracy(**row['mean'])}." for model, row in rows)
    return (
        f"Scoreboard of sense accuracy by kind of question. {models} Most frequent sense: {limits.majority}. "
        f"Best possible from the words before: {limits.words_before}; from the whole sentence: {limits.whole_sentence}."
    )
