"""Figures of notebook 04. Each takes what the notebook computed, draws it, and says its numbers in words."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit.intervals import mean_and_half
from coursekit.language import PAD, Language
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, show
from coursekit.translator import Code, Pairs

COLOURS = (ORANGE, PINK, BLUE, GREEN)


def gradients(reach: Mapping[str, Float[np.ndarray, "seed length"]], lengths: Sequence[int]) -> None:
    """The derivative for the first word against the number of words: geometric means with 95 % intervals."""
    figure, ax = plt.subplots(figsize=(7.6, 3.9))
    derivatives = []
    for (name, values), colour, marker in zip(reach.items(), COLOURS, "osD^", strict=True):
        logs = np.log10(values)
        mean, half = mean_and_half(logs)
        ax.plot(lengths, 10**mean, color=colour, marker=marker, markersize=5, label=name)
        ax.fill_between(
            lengths, 10 ** (mean - half), 10 ** (mean + half), color=colour, alpha=0.2, linewidth=0
        )
        derivatives.append(
            f"{name} {10 ** mean[0]:.1e} at {lengths[0]} words, {10 ** mean[-1]:.1e} at {lengths[-1]}"
        )
    ax.set(yscale="log", xlabel="words in the sentence", ylabel="size of the derivative\nfor the first word")
    ax.set_xticks(lengths)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=9)
    show(
        figure, alt=f"Derivative of the last state for the first word, logarithmic: {'; '.join(derivatives)}."
    )


def visibility(families: Mapping[str, Bool[Tensor, "T T"]], source: int) -> None:
    """Who may see whom, in three families of models; lines divide source from target."""
    figure, axes = plt.subplots(1, len(families), figsize=(10, 3.3), sharey=True)
    for ax, (name, keep) in zip(axes, families.items(), strict=True):
        ax.imshow(keep, cmap="Blues", vmin=0, vmax=1.6)
        ax.axhline(source - 0.5, color=ORANGE)
        ax.axvline(source - 0.5, color=ORANGE)
        ax.set_title(name, fontsize=10)
        middles = [(source - 1) / 2, source + (len(keep) - source - 1) / 2]
        ax.set_xticks(middles, ["source", "target"])
        ax.set_yticks(middles, ["source", "target"])
        ax.tick_params(length=0)
        ax.set_xlabel("is seen")
    axes[0].set_ylabel("sees")
    counts = "; ".join(
        f"{name}: {int(keep.sum())} of {keep.numel()} pairs" for name, keep in families.items()
    )
    show(
        figure,
        alt=f"Which position may see which, {source} of the source and the rest of the target. Allowed in {counts}.",
    )


def training(losses: Mapping[str, Sequence[float]], right: Mapping[str, float]) -> None:
    """Training losses, and the share of held-out sentences translated exactly right afterwards."""
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    for (name, values), colour, style in zip(losses.items(), (BLUE, ORANGE), ("-", "--"), strict=True):
        smooth = np.convolve(values, np.ones(5) / 5, mode="valid")
        ax.plot(np.arange(len(smooth)) + 3, smooth, color=colour, linestyle=style,
                label=f"{name}: {right[name]:.1%} of held-out sentences exactly right")  # fmt: skip
    ax.axhline(
        0,
        color=GREY,
        linestyle=":",
        linewidth=1,
        label="best possible: each sentence has one right translation",
    )
    ax.set(xlabel="step", ylabel="training loss (nats per token)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    first_and_last = "; ".join(
        f"{name} from {values[0]:.2f} to {np.mean(values[-10:]):.3f} nats in {len(values)} steps, {right[name]:.1%} right"
        for name, values in losses.items()
    )
    show(figure, alt=f"Training loss against steps: {first_and_last}.")


def alignment(weights: Float[Tensor, "Tt Ts"], pair: Pairs, language: Language, code: Code) -> None:
    """Where the decoder looks when it writes each token; a box marks the word that the token translates."""
    Ts, Tt = (int((ids[0] != PAD).sum()) for ids in (pair.source, pair.target))
    words = [language.vocabulary[i] for i in pair.source[0, :Ts]]
    tokens = [code.vocabulary[i] for i in pair.target[0, :Tt]]
    figure, ax = plt.subplots(figsize=(0.5 * Ts + 2.4, 0.34 * Tt + 1.6))
    image = ax.imshow(weights[:Tt, :Ts], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    said = []
    for row, place in enumerate(pair.origin[0, :Tt].tolist()):
        if place >= 0:
            ax.add_patch(plt.Rectangle((place - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=ORANGE, lw=1.5))
            said.append(f"{tokens[row]} from {words[place]} {weights[row, place]:.2f}")
    ax.set_xticks(range(Ts), words, rotation=45, ha="right")
    ax.set_yticks(range(Tt), tokens)
    ax.set(xlabel="source word that is looked at", ylabel="token being written")
    figure.colorbar(image, label="weight")
    show(
        figure,
        alt=f"Cross-attention weights, {Tt} target tokens by {Ts} source words; boxes mark the word translated. {'; '.join(said)}.",
    )


def times(
    time: Mapping[str, Sequence[float]],
    sizes: Sequence[int],
    slope: Mapping[str, float],
    width: int,
    crossing: float,
) -> None:
    """Time against the number of words, both logarithmic, with the place where the operations are equal."""
    figure, ax = plt.subplots(figsize=(7.2, 3.9))
    for (name, values), colour, marker in zip(time.items(), (ORANGE, BLUE), "os", strict=True):
        ax.loglog(
            sizes,
            values,
            color=colour,
            marker=marker,
            label=f"{name}: T to the power {slope[name]:.2f} at the end",
        )
    ax.axvline(width, color=GREY, linestyle=":", label=f"T = D = {width}: equal operations")
    ax.axvline(crossing, color="black", linestyle="--", linewidth=1, label=f"T ≈ {crossing:.0f}: equal times")
    ax.set_xticks(sizes, sizes, fontsize=8)
    ax.minorticks_off()
    ax.set(xlabel="words T", ylabel="time (ms)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    slopes = "; ".join(
        f"{name} {values[0]:.2f} ms at {sizes[0]} words, {values[-1]:.1f} ms at {sizes[-1]}, slope {slope[name]:.2f}"
        for name, values in time.items()
    )
    show(
        figure,
        alt=f"Time against words, logarithmic: {slopes}. Operations are equal at {width} words, times at about {crossing:.0f}.",
    )


def meeting_point(sizes: Sequence[int], first: Sequence[float], second: Sequence[float]) -> float:
    """The size at which two measured lines meet on logarithmic axes; prolonged from the last two sizes if need be."""
    x, gap = np.log(sizes), np.log(first) - np.log(second)
    last = min(int(np.flatnonzero(gap > 0).max(initial=0)), len(x) - 2)
    step = (gap[last + 1] - gap[last]) / (x[last + 1] - x[last])
    return float(np.exp(x[last] - gap[last] / step))
