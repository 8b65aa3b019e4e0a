"""Figures and tables of notebook 11 about the recorded runs of pre-trained encoders. Figures state their values in the alt text."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.encoder_runs import BEFORE, CLASSIFYING, CUT, RANKING, SMALL, EncoderRuns
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, show


def encoders(runs: EncoderRuns, lines: Mapping[str, float]) -> None:
    """Agreement with the grades and recall at 1 among all test premises, for each encoder and loss, by seed and on average."""
    names = runs.settings
    spearman_of = {key: runs.rho[runs.best[key]] for key in names}
    over_pairs = {key: runs.over_hypotheses(key) for key in names}
    recall_of = {key: runs.recall[runs.best[key]] for key in names}
    figure, axes = plt.subplots(1, 2, figsize=(10, 0.36 * len(names) + 1.4), sharey=True)
    said = []
    for place, (encoder, objective) in enumerate(names):
        colour, filled = encoder_look(encoder)
        for ax, values in zip(
            axes, (spearman_of[encoder, objective], recall_of[encoder, objective]), strict=True
        ):
            ax.plot(values, [place] * len(values), "o", color=colour, markersize=4, alpha=0.6,
                    markerfacecolor=colour if filled else "white")  # fmt: skip
            ax.plot([values.mean()], [place], "|", color=colour, markersize=14, markeredgewidth=2.5)
        low, high = over_pairs[encoder, objective]
        axes[0].plot([low, high], [place, place], color=colour, linewidth=1)
        said.append(
            f"{encoder}, {objective}: {spearman_of[encoder, objective].mean():.2f} ({low:.2f} to {high:.2f}) and "
            f"{recall_of[encoder, objective].mean():.0%}"
        )
    for name, value in lines.items():
        axes[0].axvline(value, color=GREEN if name == "MiniLM" else GREY, linestyle=":")
        axes[0].annotate(f"{name} {value:.2f}", (value, 1), (2, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                         fontsize=8, ha="center", color=GREEN if name == "MiniLM" else GREY)  # fmt: skip
    axes[0].axvline(0, color=GREY, linewidth=0.8)
    axes[0].set_yticks(
        range(len(names)), [f"{encoder}: {objective}" for encoder, objective in names], fontsize=9
    )
    axes[0].invert_yaxis()
    axes[0].set_xlabel(
        "Spearman's correlation on test pairs (dots: seeds;\nline: 95 % interval of the mean over hypotheses)"
    )
    axes[1].set_xlabel("recall at 1: entailing premise\nfirst among all 192 test premises")
    axes[1].set_xlim(0, 1)
    show(figure, alt=(
        f"Spearman's correlation with the grades (mean over seeds, 95 % interval over hypotheses) and fraction of hypotheses whose entailing premise is first among all 192. {'; '.join(said)}. "
        + "; ".join(f"{name} {value:.2f}" for name, value in lines.items()) + "."
    ))  # fmt: skip


def encoder_look(encoder: str) -> tuple[str, bool]:
    """The colour of an encoder, and whether its training started from pre-trained weights."""
    return (ORANGE if encoder.startswith("small BERT") else BLUE), not encoder.endswith("untrained")


def encoder_rates(runs: EncoderRuns) -> None:
    """Agreement with the grades by learning rate: a panel for each architecture, a line for each initialisation and loss."""
    spearman_of = {run: values for run, values in runs.rho.items() if run[1] in (RANKING, CLASSIFYING)}
    before = {encoder: runs.rho[runs.best[encoder, BEFORE]].mean() for encoder in (CUT, SMALL)}
    figure, axes = plt.subplots(1, len(before), figsize=(10, 3.2), sharey=True)
    said = []
    lines = list(dict.fromkeys(run[:2] for run in spearman_of))
    for ax, (architecture, at_first) in zip(axes, before.items(), strict=True):
        for encoder, objective in (line for line in lines if line[0].startswith(architecture)):
            rates = sorted(run[2] for run in spearman_of if run[:2] == (encoder, objective))
            values = np.array([spearman_of[encoder, objective, rate] for rate in rates])  # rates seeds
            colour, filled = encoder_look(encoder)
            look = {"color": colour, "markerfacecolor": colour if filled else "white",
                    "linestyle": "-" if objective == "ranking loss" else "--", "marker": "o" if objective == "ranking loss" else "s"}  # fmt: skip
            ax.plot(rates, values.mean(axis=1), markersize=5,
                    label=f"{objective}, {'pre-trained' if filled else 'untrained'}", **look)  # fmt: skip
            ax.plot(
                np.repeat(rates, values.shape[1]), values.ravel(), ".", color=colour, markersize=4, alpha=0.5
            )
            said.append(
                f"{encoder}, {objective}: "
                + ", ".join(
                    f"{value:.2f} at {rate:g}" for rate, value in zip(rates, values.mean(axis=1), strict=True)
                )
            )
        ax.axhline(at_first, color=GREY, linestyle=":")
        ax.annotate("before training", (1, at_first), (-2, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
                    fontsize=8, ha="right", color=GREY)  # fmt: skip
        ax.set_xscale("log")
        tried = sorted({run[2] for run in spearman_of if run[0].startswith(architecture)})
        ax.set_xticks(tried, [f"{rate:.0e}".replace("e-0", "e-") for rate in tried])
        ax.set_xticks([], minor=True)
        ax.set_xlabel("learning rate (maximum of the schedule)")
        ax.set_title(architecture, fontsize=10)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("Spearman, test pairs\n(lines: means; dots: seeds)")
    show(
        figure,
        alt=f"Spearman's correlation with the grades by learning rate, mean over seeds. {'; '.join(said)}.",
    )


def gains(runs: EncoderRuns) -> None:
    """A table of the comparisons between encoders and losses, then the two losses at each learning rate."""
    rows = {
        name: {what: "{:+.2f} ({:+.2f} to {:+.2f})".format(*values) for what, values in gain.items()}
        for name, gain in runs.gains().items()
    }
    display(pd.DataFrame(rows).T)
    for (encoder, rate), (mean, low, high) in runs.by_rate().items():
        print(
            f"ranking loss minus classification objective, {encoder}, learning rate {rate:g}: {mean:+.2f} "
            f"(95 % interval over seeds {low:+.2f} to {high:+.2f})"
        )
