"""Figures of notebook 11. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from jaxtyping import Float
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from torch import Tensor

from coursekit.intervals import mean_and_half
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, SKY, show


def padding(places: Sequence[int], cosines: Mapping[str, Sequence[float]]) -> None:
    """Cosine of a sentence's mean with and without padding, by the amount of padding."""
    figure, ax = plt.subplots(figsize=(7, 3.2))
    for (name, values), colour, marker in zip(cosines.items(), (ORANGE, BLUE), "so", strict=True):
        ax.plot(places, values, marker=marker, markersize=4, color=colour)
        ax.annotate(
            f"{name} {values[-1]:.2f}",
            (places[-1], values[-1]),
            (-4, -14),
            textcoords="offset points",
            ha="right",
            color=colour,
            fontsize=9,
        )
    ax.set(xlabel="positions of padding after the sentence", ylabel="cosine with the mean\nwithout padding")
    ax.set_ylim(min(0.6, min(map(min, cosines.values())) - 0.05), 1.03)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{c:.2f} at {n}" for n, c in zip(places, values, strict=True))
        for name, values in cosines.items()
    )
    show(
        figure,
        alt=f"Cosine of a sentence's mean with its mean without padding, by positions of padding. Mean over {said}.",
    )


def controls(
    found: Mapping[str, tuple[float, float, float]], held: Mapping[str, tuple[float, float, float]]
) -> None:
    """Spearman's correlation with the grades and its 95 % interval for each kind of similarity, with and without controlling for length."""
    names = sorted(found, key=lambda name: name.startswith("MiniLM"))  # MiniLM comes last
    figure, ax = plt.subplots(figsize=(8, 0.5 * len(names) + 1.3))
    for place, name in enumerate(names):
        ours = name in ("our encoder, classification objective", "our encoder, ranking loss")
        colour = GREEN if name.startswith("MiniLM") else BLUE if ours else GREY
        rows = (
            [(found[name], place, colour), (held[name], place + 0.3, "white")]
            if name in held
            else [(found[name], place, colour)]
        )
        for (rho, low, high), y, face in rows:
            ax.plot([low, high], [y, y], color=colour, linewidth=2 if face == colour else 1)
            ax.plot(
                [rho], [y], "o", color=colour, markerfacecolor=face, markersize=6 if face == colour else 4.5
            )
        ax.annotate(
            f"{found[name][0]:.2f}",
            (found[name][0], place),
            (0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.margins(y=0.08)
    ax.set(xlabel="Spearman's correlation with the grades (95 % interval over hypotheses)", xlim=(-0.3, 0.9))
    solid, hollow = (ax.plot([], [], "o", color=GREY, markerfacecolor=face)[0] for face in (GREY, "white"))
    figure.legend(
        (solid, hollow),
        ("correlation", "controlling for the length ratio (partial correlation)"),
        loc="outside lower center",
        ncols=2,
        fontsize=9,
    )
    said = "; ".join(
        f"{name} {found[name][0]:.2f} ({found[name][1]:.2f} to {found[name][2]:.2f})"
        + (f", controlling for length {held[name][0]:.2f}" if name in held else "")
        for name in names
    )
    show(figure, alt=f"Spearman's correlation with the grades of the test pairs, 95 % intervals: {said}.")


def two_readers() -> None:
    """Diagrams of a bi-encoder and a cross-encoder."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6))

    def box(ax, x: float, y: float, text: str, colour: str, width: float = 0.36) -> None:
        ax.add_patch(
            FancyBboxPatch((x - width / 2, y - 0.055), width, 0.11, boxstyle="round,pad=0.012", color=colour, alpha=0.25)
        )  # fmt: skip
        ax.text(x, y, text, ha="center", va="center", fontsize=9)

    def arrow(ax, start: tuple[float, float], end: tuple[float, float]) -> None:
        ax.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=GREY, linewidth=1)
        )

    left, right = axes
    for x, sentence, vector in ((0.25, "premise", "u"), (0.75, "hypothesis", "v")):
        box(left, x, 0.08, sentence, GREY)
        box(left, x, 0.33, "encoder, then mean", BLUE)
        box(left, x, 0.58, vector, SKY, 0.12)
        arrow(left, (x, 0.15), (x, 0.26))
        arrow(left, (x, 0.4), (x, 0.51))
        arrow(left, (x, 0.65), (0.5 + 0.3 * (x - 0.5), 0.79))
    left.text(0.5, 0.33, "same\nweights", ha="center", va="center", fontsize=8, color=GREY)
    box(left, 0.5, 0.87, "[u; v; |u − v|] W, or the cosine", ORANGE, 0.62)
    left.set_title("bi-encoder (siamese): one vector per sentence", fontsize=10)
    box(right, 0.5, 0.08, "[CLS] premise [SEP] hypothesis [SEP]", GREY, 0.76)
    box(right, 0.5, 0.45, "encoder: every word attends to both sentences", BLUE, 0.76)
    box(right, 0.5, 0.87, "the vector of [CLS], then W", ORANGE, 0.62)
    arrow(right, (0.5, 0.15), (0.5, 0.38))
    arrow(right, (0.5, 0.52), (0.5, 0.8))
    right.set_title("cross-encoder: one output per pair", fontsize=10)
    for ax in axes:
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.axis("off")
    show(figure, alt=(
        "Two ways to compare a pair. Left, the bi-encoder: premise and hypothesis are encoded separately with the same weights; their means u and v are combined only at the end, in "
        "3D features or a cosine. Right, the cross-encoder: both sentences form one sequence with 3 special tokens; it has 1 output for the pair and no vector for either sentence."
    ))  # fmt: skip


def courses(runs: Mapping[str, Float[np.ndarray, "points 3"]]) -> None:
    """Training loss and Spearman's correlation on the validation pairs by step, with a line for each loss."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.3))
    said = []
    for (name, points), colour, look in zip(runs.items(), (BLUE, ORANGE), ("o-", "s--"), strict=True):
        axes[0].plot(points[:, 0], points[:, 1], look, markersize=3, color=colour, label=name)
        axes[1].plot(points[:, 0], points[:, 2], look, markersize=3, color=colour, label=name)
        said.append(
            f"{name}: mean loss {points[1, 1]:.2f} nats in the first 50 steps and {points[-1, 1]:.2f} in the last 50, "
            f"Spearman's correlation from {points[0, 2]:.2f} to {points[-1, 2]:.2f} after {points[-1, 0]:.0f} steps"
        )
    axes[0].set(xlabel="step (batches of 32 hypotheses)", ylabel="training loss (nats)", ylim=(0, None))
    axes[1].set(xlabel="step", ylabel="Spearman, validation pairs")
    axes[0].legend(fontsize=9)
    show(
        figure,
        alt=f"Training loss and Spearman's correlation on the 96 validation pairs. {'; '.join(said)}.",
    )


def matrices(found: Mapping[str, tuple[Float[Tensor, "n n"], float]], shown: int) -> None:
    """Cosines of hypotheses (rows) with the premises that entail them (columns); partners are on the diagonal."""
    figure, axes = plt.subplots(1, len(found), figsize=(10, 3.7))
    said = []
    for ax, (name, (matrix, nearest)) in zip(axes, found.items(), strict=True):
        image = ax.imshow(matrix[:shown, :shown], vmin=0, vmax=1, cmap="viridis")
        others = float((matrix.sum() - matrix.trace()) / (matrix.numel() - len(matrix)))
        own = float(matrix.diagonal().mean())
        ax.set_title(f"{name}\nown premise {own:.2f}, others {others:.2f}", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel(f"premises\n{nearest:.0%} nearest to own premise", fontsize=9)
        said.append(
            f"{name}: {own:.2f} and {others:.2f}, {nearest:.0%} of {len(matrix)} hypotheses nearest to their own premise"
        )
    axes[0].set_ylabel("hypotheses")
    figure.colorbar(image, ax=axes, shrink=0.75, label="cosine")
    show(figure, alt=(
        f"Cosines of {shown} hypotheses (rows) with {shown} entailing premises (columns); partners are on the diagonal. Mean cosine with the correct premise and with the others, over all {len(matrix)} hypotheses: {'; '.join(said)}."
    ))  # fmt: skip


LOSSES = {
    "by label": "classification objective",
    "by rank": "ranking loss",
    "by rank, hard negatives": "ranking loss, hard negatives",
}
"""The names of the losses in the recorded table, and in figures."""


def seeds(recorded: pd.DataFrame, minilm: float) -> None:
    """Plot the recorded table with intervals over seeds, and display which differences exceed the noise."""
    rho = recorded[recorded.measure == "Spearman, test"]
    whole = rho[(rho.pairs == 192) | (rho.pairs == 0)].replace({"objective": LOSSES})
    names = ["before training", "before training, centred", *LOSSES.values()]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(1.3, 1), sharey=True)
    means = {name: mean_and_half(whole[whole.objective == name].value) for name in names}
    for place, (name, (mean, half)) in enumerate(means.items()):
        values = whole[whole.objective == name].value
        left.plot([place] * len(values), values, "o", color=SKY, markersize=4, alpha=0.8)
        left.errorbar(place + 0.18, mean, half, fmt="o", color=BLUE, capsize=3)
        left.annotate(f"{mean:.3f}", (place + 0.18, mean + half), (0, 4), textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
    left.set_xticks(range(len(names)), [name.replace(" ", "\n", 1).replace(", ", ",\n") for name in names], fontsize=8)  # fmt: skip
    left.set_ylabel("Spearman, test pairs")
    ranked = rho[rho.objective == "by rank"]
    sizes = sorted(ranked.pairs.unique())
    amounts = [mean_and_half(ranked[ranked.pairs == size].value) for size in sizes]
    right.errorbar(sizes, [m for m, _ in amounts], [h for _, h in amounts], fmt="o-", color=BLUE, capsize=3)
    right.set_xscale("log", base=2)
    right.set_xticks(sizes, sizes)
    right.set_xlabel("training hypotheses (ranking loss)")
    for ax in (left, right):
        ax.axhline(minilm, color=GREEN, linestyle=":")
    right.annotate(
        "MiniLM", (sizes[0], minilm), (0, -11), textcoords="offset points", color=GREEN, fontsize=9
    )
    count = rho.seed.nunique()
    said = "; ".join(f"{name} {mean:.3f} ± {half:.3f}" for name, (mean, half) in means.items())
    grown = "; ".join(
        f"{size}: {mean:.3f} ± {half:.3f}" for size, (mean, half) in zip(sizes, amounts, strict=True)
    )
    show(figure, alt=f"Spearman's correlation on the test pairs over {count} seeds, 95 % intervals. {said}. Ranking loss, by number of training hypotheses: {grown}. MiniLM reaches {minilm:.3f}.")  # fmt: skip
    display(Markdown(_compared(whole, count)))


def _compared(whole: pd.DataFrame, count: int) -> str:
    """Differences between runs with the same seeds, with their intervals, and whether they exceed the noise."""
    by_seed = whole.pivot(index="seed", columns="objective", values="value")
    lines = [f"Differences in Spearman's correlation over the same {count} seeds, with 95 % intervals:", ""]
    for after, control in (
        ("ranking loss", "before training"),
        ("ranking loss", "before training, centred"),
        ("classification objective", "before training"),
        ("ranking loss, hard negatives", "ranking loss"),
    ):
        difference = by_seed[after] - by_seed[control]
        mean, half = mean_and_half(difference)
        verdict = "exceeds the noise of the seeds" if abs(mean) > half else "within the noise of the seeds"
        lines.append(f"- {after} minus {control}: {mean:+.3f} ± {half:.3f}, {verdict}")
    return "\n".join(lines)


def decoder(by_layer: Mapping[str, Sequence[float]], lines: Mapping[str, float]) -> None:
    """Spearman's correlation of a decoder's sentence vectors by layer, for two ways of pooling, with reference lines."""
    figure, ax = plt.subplots(figsize=(8, 3.4))
    said = []
    for (name, values), colour, look in zip(by_layer.items(), (BLUE, PINK), ("o-", "s--"), strict=True):
        layers = range(1, len(values) + 1)
        ax.plot(layers, values, look, markersize=3, color=colour, label=f"decoder, {name}")
        best = int(np.argmax(values))
        said.append(
            f"{name}: {values[0]:.2f} at layer 1, {values[best]:.2f} at layer {best + 1}, {values[-1]:.2f} at the last layer"
        )
    for (name, value), colour in zip(lines.items(), (GREY, GREEN), strict=True):
        ax.axhline(value, color=colour, linestyle=":")
        place, label = (1.01, value), f"{name.split(':')[0]} {value:.2f}"
        ax.annotate(label, place, xycoords=("axes fraction", "data"), va="center", fontsize=9, color=colour)
        said.append(f"{name} {value:.2f}")
    ax.set(xlabel="layer", ylabel="Spearman, test pairs", ylim=(-0.2, 0.6))
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.legend(fontsize=9, loc="lower right")
    show(
        figure,
        alt=f"Spearman's correlation of a decoder's sentence vectors with the grades, by layer. {'; '.join(said)}.",
    )
