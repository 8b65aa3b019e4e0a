"""Figures of notebook 08. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, listed, show

KINDS = (
    ("same word, one sense", BLUE, "o"),
    ("same word, two senses", ORANGE, "s"),
    ("different words", GREY, "D"),
)


def static_vectors(
    pairs: Sequence[tuple[str, str]],
    found: Mapping[str, Sequence[float]],
    control: Mapping[str, Float[np.ndarray, " random"]],
) -> None:
    """Cosines of some pairs of words in each of the three static spaces, compared with random pairs."""
    figure, axes = plt.subplots(1, len(found), figsize=(9.6, 3.1), sharex=True, sharey=True)
    said = []
    for ax, (name, cosines) in zip(axes, found.items(), strict=True):
        random = control[name]
        low, middle, high = np.quantile(random, [0.025, 0.5, 0.975])
        ax.axvspan(low, high, color=GREY, alpha=0.2, label="95 % of random pairs")
        ax.axvline(middle, color=GREY, linewidth=1.5, label="their median")
        places = range(len(pairs))
        ax.plot(cosines, places, "o", color=BLUE, markersize=7)
        for place, value in zip(places, cosines, strict=True):
            ax.annotate(
                f"{value:.2f}", (value, place), (0, 6), textcoords="offset points", ha="center", fontsize=8
            )
        ax.set(title=name, xlabel="cosine", ylim=(len(pairs) - 0.5, -0.8))
        ax.title.set_fontsize(10)
        cosines_said = ", ".join(
            f"{a} and {b} {value:.2f}" for (a, b), value in zip(pairs, cosines, strict=True)
        )
        said.append(
            f"{name}: {cosines_said}; random pairs {middle:.2f}, 95 % of them from {low:.2f} to {high:.2f}"
        )
    axes[0].set_yticks(range(len(pairs)), [f"{a} · {b}" for a, b in pairs])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    show(figure, alt=f"Cosines of four pairs of words in three static spaces. {'; '.join(said)}.")


def separation(similar: Float[Tensor, "3 layers"]) -> None:
    """Mean cosine of the three kinds of pairs by layer, and the differences between them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.5))
    layers = range(similar.shape[1])
    _curves(left, similar)
    left.set(
        title="mean cosine of pairs",
        xlabel="layer (0: input of the first)",
        ylabel="cosine",
        ylim=(-0.1, 1.02),
    )
    gap = (similar[0] - similar[1]).tolist()
    above = (similar[1] - similar[2]).tolist()
    best = int(np.argmax(gap))
    right.plot(layers, gap, color=BLUE, marker="o", label="one sense − two senses")
    right.plot(layers, above, color=GREY, marker="D", linestyle=":", label="two senses − different words")
    right.annotate(f"{gap[best]:.3f}", (best, gap[best]), (0, 7), textcoords="offset points", ha="center")
    right.set(title="differences", xlabel="layer", ylabel="difference of cosines", ylim=(0, 1))
    for ax in (left, right):
        ax.title.set_fontsize(10)
        ax.legend(fontsize=8, loc="center" if ax is right else "lower left", bbox_to_anchor=None if ax is right else (0.02, 0.3))  # fmt: skip
    show(
        figure,
        alt=f"Mean cosine by layer, 0 to {len(gap) - 1}. {_by_layer(similar)}. One sense minus two senses: {listed(gap, 3)}, largest at "
        f"layer {best}; two senses minus different words: {listed(above)}.",
    )


def pairs(found: Mapping[str, Float[Tensor, " layers"]], similar: Float[Tensor, "3 layers"]) -> None:
    """The cosine of single pairs by layer, with the means of the three kinds of pairs."""
    figure, ax = plt.subplots(figsize=(8.8, 3.7))
    for (name, colour, _), values, style in zip(KINDS, similar, ("-", "--", ":"), strict=True):
        ax.plot(values, color=colour, linewidth=5, linestyle=style, alpha=0.3, label=f"mean: {name}")
    said = []
    for (name, values), colour, marker in zip(
        found.items(), (GREY, PINK, ORANGE, BLUE, RED), "DPsov", strict=True
    ):
        ax.plot(values, color=colour, marker=marker, markersize=5, label=name)
        said.append(f"{name}: {listed(values.tolist())}")
    ax.set(xlabel="layer (0: input of the first)", ylabel="cosine", ylim=(-0.1, 1.02))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(
        figure,
        alt=f"Cosine of single pairs by layer, from 0. {'; '.join(said)}. Means: {_by_layer(similar)}.",
    )


def cones(found: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Mean cosine of random tokens by depth for several models, before and after centring."""
    figure, ax = plt.subplots(figsize=(8.6, 3.7))
    said = []
    for (name, (before, after)), colour, marker in zip(found.items(), (BLUE, GREY, PINK), "oDs", strict=True):
        depth = np.linspace(0, 1, len(before))
        ax.plot(depth, before, color=colour, marker=marker, markersize=4, label=name)
        ax.plot(
            depth,
            after,
            color=colour,
            marker=marker,
            markersize=4,
            fillstyle="none",
            linestyle="--",
            linewidth=1.3,
        )
        last, middle = len(before) - 1, len(before) // 2
        said.append(
            f"{name}: {before[0]:.2f} at layer 0, {before[middle]:.2f} at layer {middle}, {before[last]:.2f} at the last layer; after centring, at most "
            f"{max(np.abs(after)):.2f} from 0"
        )
    ax.plot([], [], color="black", linestyle="--", linewidth=1.3, label="the same, centred (hollow)")
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(
        xlabel="depth (0: embeddings, 1: last layer)",
        ylabel="mean cosine of\nrandom tokens",
        ylim=(-0.1, 1.02),
    )
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(figure, alt=f"Anisotropy by depth. {'; '.join(said)}.")


def centred(before: Float[Tensor, "3 layers"], after: Float[Tensor, "3 layers"]) -> None:
    """Mean cosines of the three kinds of pairs, before and after centring."""
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.2), sharey=True)
    for ax, values, title in zip(axes, (before, after), ("not centred", "centred"), strict=True):
        _curves(ax, values)
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set(title=title, xlabel="layer", ylim=(-0.15, 1.02))
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("mean cosine")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    gaps = [listed((values[0] - values[1]).tolist(), 3) for values in (before, after)]
    show(
        figure,
        alt=f"Mean cosines by layer from 0. Not centred: {_by_layer(before)}. Centred: {_by_layer(after)}. One sense minus two: {gaps[0]} "
        f"without centring, {gaps[1]} with centring.",
    )


CONTROLS = (
    ("window of two", "two words on each side", PINK, (0, (1, 1))),
    ("near words", "near words weighted more (GloVe)", GREEN, "-."),
    ("bag", "bag, rare words weighted more (GloVe)", ORANGE, "--"),
    ("majority", "most frequent sense", GREY, ":"),
)


def exam(
    found: Mapping[tuple[str, str], Sequence[tuple[float, float, float]]],
    recorded: pd.DataFrame,
    chosen: int,
    name: str,
) -> None:
    """Accuracy by layer for each half of the words and kind of sentence, with the recorded baselines.

    `found` has a row of panels for each half (first part of the key) and a column for each kind (second part).
    """
    halves, kinds = (list(dict.fromkeys(key)) for key in zip(*found, strict=True))
    figure, axes = plt.subplots(
        len(halves), len(kinds), figsize=(9.6, 3.1 * len(halves)), sharex=True, sharey=True
    )
    said = []
    for ax, ((half, kind), values) in zip(axes.flat, found.items(), strict=True):
        means, low, high = np.array(values).T
        layers = np.arange(len(means))
        ax.fill_between(layers, low, high, color=BLUE, alpha=0.18)
        ax.plot(layers, means, color=BLUE, marker="o", label=f"nearest neighbour in context ({name})")
        ax.plot(chosen, means[chosen], "o", color=BLUE, markersize=12, fillstyle="none")
        rows = recorded[(recorded.half == half) & (recorded.part == kind) & (recorded.judge != "probe")]
        levels = []
        for vectors, label, colour, style in CONTROLS:
            level = rows[(rows.vectors == vectors) & (rows.chosen | (vectors == "majority"))].value.item()
            ax.axhline(
                level, color=colour, linestyle=style, label=label, zorder=2 + (vectors == "window of two")
            )
            levels.append(f"{label} {level:.2f}")
        probe = recorded[(recorded.half == half) & (recorded.part == kind) & (recorded.judge == "probe") & (recorded.vectors == "context")].iloc[0]  # fmt: skip
        ax.plot(int(probe.variant.split()[1]), probe.value, "^", color=RED, markersize=8, label=f"trained probe on {probe.model}")  # fmt: skip
        levels.append(f"trained probe on {probe.variant} of {probe.model} {probe.value:.2f}")
        ax.annotate(f"{means[chosen]:.2f}", (chosen, means[chosen]), (0, 9), textcoords="offset points", ha="center", fontsize=9)  # fmt: skip
        ax.set(title=f"{half}, {kind} sentences", ylim=(0.35, 1.05))
        ax.title.set_fontsize(10)
        said.append(
            f"{half}, {kind} sentences by layer: {listed(means)}, at layer {chosen} {means[chosen]:.2f} "
            f"({low[chosen]:.2f} to {high[chosen]:.2f}); {', '.join(levels)}"
        )
    for ax in axes[-1]:
        ax.set_xlabel("layer")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    show(figure, alt=f"Sense accuracy with 95 % intervals over words. {'. '.join(said)}.")


def probes(found: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Accuracy of the probes by layer, with 95 % intervals over five draws."""
    figure, ax = plt.subplots(figsize=(8.4, 3.6))
    said = []
    looks = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-"), (GREY, "D", ":"))
    for (name, values), (colour, marker, style) in zip(found.items(), looks, strict=True):
        means, half = np.array(values).T
        layers = np.arange(len(means)) + {"^": 0.05, "D": -0.05}.get(marker, 0)
        ax.errorbar(
            layers,
            means,
            yerr=half,
            color=colour,
            marker=marker,
            linestyle=style,
            capsize=3,
            markersize=5,
            label=name,
        )
        said.append(f"{name}: {listed(means)} (± at most {half.max():.2f})")
    ax.set(xlabel="layer", ylabel="accuracy", ylim=(0.4, 1.05))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(figure, alt=f"Accuracy of linear probes by layer from 0. {'; '.join(said)}.")


def _curves(ax: plt.Axes, similar: Float[Tensor, "3 layers"]) -> None:
    for (name, colour, marker), values in zip(KINDS, similar, strict=True):
        ax.plot(values, color=colour, marker=marker, markersize=5, label=name)


def _by_layer(similar: Float[Tensor, "3 layers"]) -> str:
    return "; ".join(
        f"{name} {listed(values.tolist())}" for (name, _, _), values in zip(KINDS, similar, strict=True)
    )
