"""Figures of the small models over seeds (`data/results/small_NAME.csv`), beside what is possible."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from coursekit.plots import BLUE, GREEN, GREY, ORANGE
from coursekit.scoreboard import LABELLED, SIDES, bounds
from coursekit.small.figures import MORE_LABELS
from coursekit.small.recorded import recorded

TITLES = {"gpt": "GPT", "bert": "BERT", "elmo": "ELMo"}


def losses(name: str) -> tuple[Figure, str]:
    """Loss of each objective on held-out combinations: untrained, trained (with its interval), and the exact bound.

    Beside it in words: how far above its bound the loss is on sentences that training never read.
    """
    table = recorded(name)
    objectives = [
        row.removesuffix(", loss").removeprefix("held-out: ")
        for row in table.index
        if row.startswith("held-out") and row.endswith(", loss")
    ]
    figure, axes = plt.subplots(
        len(objectives), 1, figsize=(8, 0.7 + 1.25 * len(objectives)), squeeze=False, sharex=True
    )
    losses_said = []
    for ax, objective in zip(axes[:, 0], objectives, strict=True):
        loss, best, above = (
            table.loc[f"held-out: {objective}, {what}"] for what in ("loss", "bound", "above the bound")
        )
        new = table.loc[f"never read: {objective}, above the bound"]
        ax.axvline(best["mean"], color=GREEN, label="best possible")
        ax.errorbar(loss["mean"], 0, xerr=loss.half_width, fmt="o", color=BLUE, capsize=3, label="trained")
        ax.plot(loss.untrained, 0, "s", color=GREY, label="untrained")
        ax.annotate(
            f"{loss['mean']:.3f}, {100 * above['mean']:.1f} % above {best['mean']:.3f} "
            f"(sentences never read: {100 * new['mean']:.1f} % above theirs)",
            (loss["mean"], 0),
            (8, 8),
            textcoords="offset points",
            fontsize=9,
        )
        ax.annotate(
            f"{loss.untrained:.2f}",
            (loss.untrained, 0),
            (0, 8),
            textcoords="offset points",
            fontsize=9,
            ha="center",
        )
        ax.set(yticks=[], title=objective, ylim=(-1, 1.4), xlim=(0, 1.1 * loss.untrained))
        ax.spines["left"].set_visible(False)
        ax.title.set_fontsize(10)
        losses_said.append(
            f"{objective}: untrained {loss.untrained:.2f}, trained {loss['mean']:.3f} ± {loss.half_width:.3f} nats, best "
            f"possible {best['mean']:.3f}: {100 * above['mean']:.1f} ± {100 * above.half_width:.1f} % above it, and "
            f"{100 * new['mean']:.1f} ± {100 * new.half_width:.1f} % on sentences that were merely never read."
        )
    axes[-1, 0].set_xlabel("loss on held-out combinations of words, nats a prediction")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    return figure, f"Loss of {TITLES[name]} over {loss.seeds:.0f} seeds. {' '.join(losses_said)}"


def senses(*names: str) -> tuple[Figure, str]:
    """Sense accuracy of every layer of one or more models over seeds: untrained, majority, exact bounds. And in words."""
    limits = bounds()
    rows = [row for name in names for row in sense_rows(name)]
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 1.4 + 0.3 * len(rows)), sharey=True)
    for ax, (cue, title) in zip(axes, SIDES.items(), strict=True):
        for label, accuracy, colour, style in (
            ("most frequent sense", limits.majority, GREY, ":"),
            ("best possible from the words before", limits.from_left, ORANGE, "--"),
            ("best possible from the whole sentence", limits.from_both, GREEN, "-"),
        ):
            ax.axvline(getattr(accuracy, cue), color=colour, linestyle=style, linewidth=1.5, label=label)
        for place, (_, figures) in enumerate(rows):
            mean, half = figures[cue]
            trained = half is not None
            ax.errorbar(
                mean,
                place,
                xerr=half,
                fmt="o" if trained else "s",
                color=BLUE if trained else GREY,
                capsize=3 if trained else 0,
            )
            ax.annotate(f"{mean:.3f}", (mean, place), (0, 5), textcoords="offset points", ha="center", fontsize=8,
                        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4})  # fmt: skip
        ax.set(title=title, xlabel="share of words whose sense is found", xlim=(0.2, 1.06))
        ax.set_ylim(len(rows) - 0.5, -0.9)
        ax.title.set_fontsize(10)
    axes[0].set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=9)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    said = " ".join(
        f"{label}: {in_words(*figures['left'])} left, {in_words(*figures['right'])} right only."
        for label, figures in rows
    )
    return figure, (
        f"Sense accuracy (1-NN, {LABELLED:,} labelled sentences unless said otherwise) over seeds, cue on the left against cue only on the right. {said} "
        f"Most frequent sense {limits.majority.left:.3f} and {limits.majority.right:.3f}; best possible from the words before "
        f"{limits.from_left.left:.3f} and {limits.from_left.right:.3f}; from the whole sentence {limits.from_both.left:.3f} and "
        f"{limits.from_both.right:.3f}."
    )


Accuracy = tuple[float, float | None]
"""A mean, and half the width of its interval where there is one."""
Row = tuple[str, dict[str, Accuracy]]


def sense_rows(name: str) -> list[Row]:
    """The untrained model's top layer (no interval), each layer, and the top layer with more labels: label, accuracies.

    More labels help the untrained model, too, so it stands there with the most of them as well.
    """
    table = recorded(name)
    layers = sorted(
        {int(row.split()[2].rstrip(",")) for row in table.index if row.startswith("sense, layer")}
    )
    top, title = layers[-1], TITLES[name]

    def figures(exam: str, values: Callable[[pd.Series], Accuracy]) -> dict[str, Accuracy]:
        texts = {"left": "cue on the left", "right": "cue only on the right"}
        return {cue: values(table.loc[f"{exam}, {text}"]) for cue, text in texts.items()}

    more = {count: f"sense with {count:,} labels, layer {top}" for count in MORE_LABELS}
    most = MORE_LABELS[-1]
    return [
        (f"{title} untrained, layer {top}", figures(f"sense, layer {top}", untrained)),
        (f"{title} untrained, layer {top}, {most:,} labelled", figures(more[most], untrained)),
        *((f"{title}, layer {layer}", figures(f"sense, layer {layer}", trained)) for layer in layers),
        *(
            (f"{title}, layer {top}, {count:,} labelled", figures(exam, trained))
            for count, exam in more.items()
        ),
    ]


def trained(row: pd.Series) -> Accuracy:
    return float(row["mean"]), float(row["half_width"])


def untrained(row: pd.Series) -> Accuracy:
    return float(row["untrained"]), None


def in_words(mean: float, half: float | None) -> str:
    return f"{mean:.3f}" if half is None else f"{mean:.3f} ± {half:.3f}"
