"""Figures of the small models over seeds (`data/results/small_NAME.csv`), compared with the exact bounds."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from coursekit.exam import QUESTIONS
from coursekit.pictures import exam
from coursekit.plots import BLUE, GREEN, GREY
from coursekit.small.figures import MORE_LABELS, sense_figure
from coursekit.small.results import recorded

TITLES = {"gpt": "GPT", "bert": "BERT", "elmo": "ELMo", "translator": "translator's encoder"}


def losses(name: str) -> tuple[Figure, str]:
    """Loss of each objective on held-out combinations of words: untrained, trained (with its interval), and the exact bound.

    A text next to it gives the excess of the loss over its bound on new sentences of the training split.
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
        new = table.loc[f"fresh training-side: {objective}, above the bound"]
        ax.axvline(best["mean"], color=GREEN, label="best possible")
        ax.errorbar(loss["mean"], 0, xerr=loss.half_width, fmt="o", color=BLUE, capsize=3, label="trained")
        ax.plot(loss.untrained, 0, "s", color=GREY, label="untrained")
        ax.annotate(
            f"{loss['mean']:.3f}, {100 * above['mean']:.1f} % above {best['mean']:.3f} "
            f"(fresh sentences of the training split: {100 * new['mean']:.1f} %)",
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
            f"{objective}: training lowers the loss from {loss.untrained:.2f} to {loss['mean']:.3f} ± {loss.half_width:.3f} nats, which is "
            f"{100 * above['mean']:.1f} ± {100 * above.half_width:.1f} % above the lowest possible loss, {best['mean']:.3f} "
            f"({100 * new['mean']:.1f} ± {100 * new.half_width:.1f} % on fresh sentences of the training split)."
        )
    axes[-1, 0].set_xlabel("loss on held-out combinations of words, nats per prediction")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        fontsize=9,
        frameon=False,
    )
    return figure, f"Loss of {TITLES[name]} over {loss.seeds:.0f} seeds. {' '.join(losses_said)}"


def senses(*names: str) -> tuple[Figure, str]:
    """Sense accuracy of every layer of some models over seeds: untrained, trained, and with fewer or more labels.

    Labels also help untrained models, so these are also shown with the largest number of labels. Also returns a description in words.
    """
    return exam.rows([reader for name in names for reader in _readers(name)])


def _readers(name: str) -> list[exam.Reader]:
    table, title = recorded(name), TITLES[name]
    layers = sorted(
        {int(row.split()[2].rstrip(",")) for row in table.index if row.startswith("sense, layer")}
    )
    top, most = layers[-1], MORE_LABELS[-1]
    return [
        exam.Reader(f"{title} untrained, layer {top}", _untrained(table, top), GREY),
        exam.Reader(f"{title} untrained, layer {top}\n{most:,} labelled", _untrained(table, top, most), GREY),
        *(exam.Reader(f"{title}, layer {layer}", _trained(table, layer), BLUE) for layer in layers),
        *(
            exam.Reader(f"{title}, layer {top}\n{count:,} labelled", _trained(table, top, count), BLUE)
            for count in MORE_LABELS
        ),
    ]


def _trained(table: pd.DataFrame, layer: int, labels: int | None = None) -> dict[str, exam.Share]:
    shares = {}
    for kind, text in QUESTIONS.items():
        mean, half = table.loc[f"{sense_figure(layer, labels)}, {text}", ["mean", "half_width"]]
        shares[kind] = exam.Share(mean, max(mean - half, 0), min(mean + half, 1))
    return shares


def _untrained(table: pd.DataFrame, layer: int, labels: int | None = None) -> dict[str, exam.Share]:
    """A value without an interval, because only the mean is recorded."""
    found = {
        kind: table.untrained[f"{sense_figure(layer, labels)}, {text}"] for kind, text in QUESTIONS.items()
    }
    return {kind: exam.Share(mean, mean, mean) for kind, mean in found.items()}
