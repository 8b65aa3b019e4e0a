"""Figures of the project. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes

from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PALETTE, SKY, show

Curve = Mapping[str, Sequence[float]]
Near = Mapping[str, Sequence[tuple[str, float]]]
Tested = Mapping[str, Mapping[str, float]]
Ends = Mapping[str, tuple[float, float]]
MARKERS = "o", "s", "^", "D", "v", "P"


def curve(losses: Curve, baseline: float) -> None:
    """The loss on as much training text as is held out, and on the held-out text, while the GPT is trained."""
    figure, ax = plt.subplots(figsize=(5.8, 3.2))
    said = _curve(ax, losses, baseline)
    show(figure, alt=said)


def _curve(ax: Axes, losses: Curve, baseline: float) -> str:
    steps = losses["steps"]
    for (name, marker), colour in zip((("training", "o"), ("held out", "s")), (SKY, BLUE), strict=True):
        ax.plot(steps, losses[name], color=colour, marker=marker, label=name)
    ax.axhline(baseline, color=GREY, linestyle=":", label="unigram baseline")
    ax.set(xlabel="training steps", ylabel="nats per byte", ylim=(0, None))
    ax.legend(fontsize=8)
    best = int(np.argmin(losses["held out"]))
    return (
        f"Loss by training step. On the held-out text, it is {losses['held out'][0]:.2f} nats per byte before training, {losses['held out'][-1]:.2f} "
        f"after {steps[-1]:,} steps, and lowest at step {steps[best]:,} ({losses['held out'][best]:.2f}). On the training text, it is "
        f"{losses['training'][-1]:.2f} at the end. The unigram baseline has {baseline:.2f}."
    )


def neighbours(near: Near) -> None:
    """The nearest words of some words, as a table with a bar for each cosine."""
    figure, ax = plt.subplots(figsize=(7.2, 0.5 + 0.42 * len(near)))
    said = _neighbours(ax, near)
    show(figure, alt=said)


def _neighbours(ax: Axes, near: Near, most: int = 5) -> str:
    ax.set_axis_off()
    ax.set(xlim=(0, most + 1), ylim=(len(near) - 0.5, -0.5))
    for row, (word, found) in enumerate(near.items()):
        ax.text(0.02, row, word, weight="bold", va="center", fontsize=9)
        for column, (other, cosine) in enumerate(found[:most]):
            ax.text(column + 1, row, f"{other} {cosine:.2f}", va="center", fontsize=7)
    rows = "; ".join(
        f"{word}: " + ", ".join(f"{other} {cosine:.2f}" for other, cosine in found[:3])
        for word, found in near.items()
    )
    return f"Nearest words with their cosines. {rows}."


def plane(
    vectors: Float[np.ndarray, "n D"],
    clusters: Int[np.ndarray, " n"],
    labels: Int[np.ndarray, " n"],
    senses: Sequence[str],
) -> None:
    """The occurrences in the plane of the two largest principal components: colour for the label, number for the cluster."""
    centred = vectors - vectors.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    centred -= centred.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    points = left[:, :2] * spread[:2]
    figure, ax = plt.subplots(figsize=(5.8, 4.0))
    for number, sense in enumerate(senses):
        chosen = labels == number
        ax.scatter(
            *points[chosen].T,
            color=PALETTE[number % len(PALETTE)],
            marker=MARKERS[number % len(MARKERS)],
            s=34,
            label=sense,
        )
    for cluster in np.unique(clusters):
        ax.annotate(
            f"cluster {cluster + 1}",
            points[clusters == cluster].mean(axis=0),
            ha="center",
            fontsize=10,
            weight="bold",
            bbox={"fc": "white", "ec": GREY, "alpha": 0.85, "lw": 0.5},
        )
    shares = (spread**2 / (spread**2).sum())[:2]
    ax.set(
        xlabel=f"first component ({shares[0]:.0%} of the variance)",
        ylabel=f"second component ({shares[1]:.0%})",
    )
    ax.legend(fontsize=9, title="label by hand")
    counts = "; ".join(
        f"cluster {cluster + 1}: "
        + ", ".join(
            f"{int(((clusters == cluster) & (labels == number)).sum())} {sense}"
            for number, sense in enumerate(senses)
        )
        for cluster in np.unique(clusters)
    )
    show(
        figure,
        alt=f"{len(labels)} occurrences in the plane of the first two principal components. Labels in each cluster: {counts}.",
    )


def control(tested: Tested, ends: Ends) -> None:
    """The purity of each kind of clusters with its interval, next to that of shuffled labels."""
    figure, ax = plt.subplots(figsize=(6.4, 2.6))
    show(figure, alt=_control(ax, tested, ends))


def _control(ax: Axes, tested: Tested, ends: Ends) -> str:
    for row, (name, one) in enumerate(tested.items()):
        low, high = ends[name]
        ax.plot([low, high], [row, row], color=BLUE, lw=2)
        ax.plot(one["purity"], row, "o", color=BLUE, label="purity and 95 % interval" if not row else None)
        ax.plot(one["chance"], row, "D", color=ORANGE, label="shuffled labels (mean)" if not row else None)
    ax.set_yticks(range(len(tested)), list(tested))
    ax.set(xlim=(0, 1.02), ylim=(len(tested) + 0.5, -0.6), xlabel="purity")
    ax.legend(fontsize=8, loc="lower left")
    rows = "; ".join(
        f"{name}: {one['purity']:.2f} ({ends[name][0]:.2f} to {ends[name][1]:.2f}), shuffled labels {one['chance']:.2f}, p = {one['p']:.3f}"
        for name, one in tested.items()
    )
    return f"Purity with its 95 % interval. {rows}."


def search(questions: Sequence[str], ranks: Mapping[str, Int[np.ndarray, " Q"]]) -> None:
    """The rank of the relevant passage for each question and way of searching."""
    figure, ax = plt.subplots(figsize=(7.2, 0.9 + 0.34 * len(questions)))
    show(figure, alt=_search(ax, ranks, questions))


def _search(ax: Axes, ranks: Mapping[str, Int[np.ndarray, " Q"]], questions: Sequence[str]) -> str:
    said = []
    for (name, found), colour, marker in zip(ranks.items(), (GREEN, BLUE), ("s", "o"), strict=True):
        score = float((1 / found).mean())
        ax.plot(found, range(len(found)), marker, color=colour, label=f"{name}, MRR {score:.2f}", alpha=0.8)
        said.append(f"{name}: ranks {', '.join(map(str, found))}, MRR {score:.2f}")
    ax.set_yticks(range(len(questions)), questions, fontsize=8)
    ax.set(
        xscale="log",
        xlim=(0.8, None),
        ylim=(len(questions) - 0.5, -0.5),
        xlabel="rank of the relevant passage",
    )
    ax.legend(fontsize=8)
    return f"Rank of the relevant passage for {len(questions)} questions. {'; '.join(said)}."


def page(
    name: str,
    losses: Curve,
    baseline: float,
    near: Near,
    tested: Tested,
    ends: Ends,
    ranks: Mapping[str, Int[np.ndarray, " Q"]],
) -> None:
    """Everything on one page."""
    figure, axes = plt.subplots(2, 2, figsize=(10.5, 6.4))
    figure.suptitle(name, weight="bold")
    said = [
        _curve(axes[0, 0], losses, baseline),
        _neighbours(axes[0, 1], near, most=3),
        _control(axes[1, 0], tested, ends),
        _search(axes[1, 1], ranks, [f"question {number + 1}" for number in range(len(next(iter(ranks.values()))))]),
    ]  # fmt: skip
    for ax, title in zip(axes.flat, ("A GPT", "Nearest words", "Senses", "Search"), strict=True):
        ax.set_title(title, loc="left", fontsize=10)
    show(figure, alt=f"{name}, four panels. {' '.join(said)}")
