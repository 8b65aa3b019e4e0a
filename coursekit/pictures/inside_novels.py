"""Figures and tables of notebook 08 about the models of the novels. Figures state their values in the alt text."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from coursekit.datasets import read_table
from coursekit.exam import bounds, over_seeds, sense_exam
from coursekit.intervals import wilson
from coursekit.novels.ambiguous_nouns import OF_NOVELS, SensesByLayer
from coursekit.novels.pseudo_word_results import PseudoWordResults
from coursekit.pictures.inside_tables import shown, signed
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, show
from coursekit.small import recorded_senses

LEVELS = (
    ("window of two", "two words on each side", PINK, (0, (1, 1))), ("near words", "near words weighted more (skip-gram)", GREEN, "-."),
    ("bag", "bag of words (skip-gram)", ORANGE, "--"), ("majority", "chance", GREY, ":"),
)  # fmt: skip
ASKED_OF_GENERATED = (
    ("left", "cue before", BLUE, "o"), ("right", "cue only after", RED, "s"), ("order1", "order decides", GREEN, "^"),
)  # fmt: skip

Intervals = Sequence[tuple[float, float, float]]


def generated_by_layer(encoder: str) -> dict[str, dict[str, Intervals]]:
    """Accuracy on the generated language by model, question and layer: the course's models, and the encoder if it is recorded."""
    found = {
        name: {kind: [over_seeds(recorded_senses(name.lower(), layer=layer))[kind] for layer in range(3)] for kind, *_ in ASKED_OF_GENERATED}
        for name in OF_NOVELS
    }  # fmt: skip
    recorded = read_table("results/sense_exam.csv").query("model == @encoder").set_index("layer")
    if len(recorded):
        found[encoder] = {
            kind: [(share, *wilson(share, sense_exam().count(kind))) for share in recorded[kind]]
            for kind, *_ in ASKED_OF_GENERATED
        }
    return found


def layer_by_layer(found: SensesByLayer, generated: Mapping[str, Mapping[str, Intervals]]) -> None:
    """By layer, a column for each model: the accuracy on two kinds of sentences and on the generated language. Then a table of differences."""
    told = {
        part: {name: [found.mean(answers, those) for answers in rows] for name, rows in found.correct.items()}
        for part, those in found.parts.items()
    }
    levels = {
        part: {name: answers[those].mean() for name, answers in found.without_layers.items()}
        for part, those in found.parts.items()
    }
    guess = bounds().majority.left
    figure, axes = plt.subplots(
        1 + len(told), len(found.correct), figsize=(9.8, 6.6), sharex="col", sharey="row"
    )
    said = []
    for column, name in enumerate(found.correct):
        *shares, made_up = axes[:, column]
        shares[0].set_title(name, fontsize=10)
        for ax, (part, by_model), colour, marker in zip(shares, told.items(), (BLUE, RED), "os", strict=True):
            _band(ax, by_model[name], colour, marker, None)
            for level, label, line, style in LEVELS:
                ax.axhline(
                    levels[part][level],
                    color=line,
                    linestyle=style,
                    linewidth=1.4,
                    label=label,
                    zorder=2 + (level == "window of two"),
                )
            said.append(f"{name}, {part}: {_with_intervals(by_model[name])}")
        made_up.set_xlabel("layer")
        if name not in generated:
            made_up.axis("off")
            continue
        for kind, label, colour, marker in ASKED_OF_GENERATED:
            _band(made_up, generated[name][kind], colour, marker, label)
            said.append(
                f"{name}, generated language, {label}: {', '.join(f'{mean:.2f}' for mean, _, _ in generated[name][kind])}"
            )
        made_up.axhline(guess, color=GREY, linestyle=":", linewidth=1.4)
    for ax, part in zip(axes[:-1, 0], told, strict=True):
        ax.set_ylabel(fill(f"accuracy: {part}", 20), fontsize=9)
    axes[-1, 0].set_ylabel("accuracy:\ngenerated language", fontsize=9)
    for ax in axes.flat:
        ax.set(ylim=(0.35, 1.05))
        ax.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=8)
    figure.legend(*axes[-1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    levels_said = "; ".join(
        f"{part}: " + ", ".join(f"{label} {levels[part][level]:.2f}" for level, label, _, _ in LEVELS)
        for part in levels
    )
    show(
        figure,
        alt=f"Accuracy by layer, from 0, with 95 % intervals. {'; '.join(said)}. Baselines, {levels_said}.",
    )
    _at_the_chosen_layer(found)


def _at_the_chosen_layer(found: SensesByLayer) -> None:
    """Each model's accuracy at its chosen layer, and the differences from layer 1 and from the baselines."""
    rows = {
        name: {
            "layer chosen on the training sentences": str(found.best[name]),
            "accuracy there": shown(*found.mean(answers)),
        }
        for name, answers in found.chosen.items()
    }
    for name, differences in found.above_others.items():
        rows.setdefault(name, {}).update({other: signed(*gap) for other, gap in differences.items()})
    display(pd.DataFrame(rows).fillna(""))


SEEN = (
    ("both", "both sides", BLUE, "o"),
    ("left", "left context only", ORANGE, "s"),
    ("right", "right context only", GREEN, "D"),
)


def pseudo_words(results: PseudoWordResults) -> None:
    """Accuracy on pseudo-words by layer, a panel for each model, a line for each context. Then a table of paired differences."""
    told, counts = results.by_layer, results.without_model
    figure, axes = plt.subplots(1, len(told), figsize=(9.8, 3.4), sharey=True)
    said = []
    for ax, (name, by_side) in zip(axes, told.items(), strict=True):
        for side, label, colour, marker in SEEN:
            if side in by_side:
                _band(ax, by_side[side], colour, marker, label)
                said.append(f"{name}, {label}: {_with_intervals(by_side[side])}")
        for (_, (share, _, _)), style in zip(counts.items(), (":", "-.", "--", "-"), strict=True):
            ax.axhline(share, color=GREY, linestyle=style, linewidth=1.3)
        ax.set(title=name, xlabel="layer", ylim=(0.4, 1.0))
        ax.xaxis.get_major_locator().set_params(integer=True)
    highest = max(share for share, _, _ in counts.values())
    for called, (share, _, _) in counts.items():
        axes[-1].annotate(
            f"{called} {share:.2f}",
            (1.03, share),
            xycoords=("axes fraction", "data"),
            va="bottom" if share == highest else "top",  # two of them are close together
            fontsize=8,
        )
    axes[0].set_ylabel("accuracy")
    axes[0].legend(fontsize=8, loc="upper left")
    of_counts = ", ".join(f"{called} {share:.2f}" for called, (share, _, _) in counts.items())
    show(
        figure,
        alt=f"Accuracy on pseudo-words by layer, from 0, with 95 % intervals over pairs. {'; '.join(said)}. Without a model: {of_counts}.",
    )
    rows = {
        called: {name: signed(*gap) for name, gap in by_model.items()}
        for called, by_model in results.gaps.items()
    }
    display(pd.DataFrame(rows).T.fillna("").rename_axis("difference (95 %, whole pairs resampled)"))


def _band(ax: plt.Axes, values: Intervals, colour: str, marker: str, label: str | None) -> None:
    """Draw means with their intervals as a band."""
    means, low, high = np.array(values).T
    ax.fill_between(range(len(means)), low, high, color=colour, alpha=0.18)
    ax.plot(means, color=colour, marker=marker, markersize=5, linewidth=1.6, label=label)


def _with_intervals(values: Intervals, digits: int = 2) -> str:
    return ", ".join(
        f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})" for mean, low, high in values
    )
