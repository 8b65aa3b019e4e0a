"""How certain is a number? Figures for the statistical methods of the notebooks, each shown where the method is first used."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from scipy.special import comb, stdtr, stdtrit

from coursekit.intervals import bootstrap, mean_and_half, wilson
from coursekit.plots import BLUE, GREY, ORANGE, show

NORMAL = 1.96
"""Standard errors on each side of the mean that contain 95 % of a normal distribution."""


def few_values(values: Sequence[float], of: str) -> None:
    """The interval of the mean of a few values, and how often such an interval contains the true mean.

    The right-hand figure is exact for normally distributed values (Student 1908).
    """
    n, (mean, half) = len(values), mean_and_half(values)
    too_short = half * NORMAL / stdtrit(n - 1, 0.975)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 2.7), width_ratios=[1.2, 1])
    left.plot(values, np.full(n, 2), "o", color=GREY, alpha=0.8)
    for height, width, colour in ((1, half, BLUE), (0, too_short, ORANGE)):
        left.errorbar(mean, height, xerr=width, color=colour, marker="D", markersize=4, capsize=4)
    left.set_yticks([2, 1, 0], [f"{n} seeds", "Student's t", "1.96 standard errors"])
    left.set(ylim=(-0.6, 2.6), xlabel=of)
    left.locator_params(axis="x", nbins=5)
    counts = np.arange(2, 13)
    covered = 2 * stdtr(counts - 1, NORMAL) - 1
    right.axhline(0.95, color=BLUE, label="Student's t")
    right.plot(counts, covered, "s--", color=ORANGE, label="1.96 standard errors", markersize=4)
    right.set(
        xlabel="number of values",
        ylabel="fraction of intervals that\ncontain the true mean",
        ylim=(0.6, 1.0),
        xticks=counts,
    )
    right.legend(fontsize=8)
    show(figure, alt=(
        f"{of}: mean {mean:.4f} of {n} seeds, ± {half:.4f} by Student's t, ± {too_short:.4f} by 1.96 standard errors. "
        f"Intervals of 1.96 standard errors contain the true mean in {covered[0]:.0%} of the cases with 2 values, "
        f"{covered[1]:.0%} with 3, {covered[3]:.0%} with 5 and {covered[-1]:.0%} with {counts[-1]}; Student's intervals always contain it in 95 % of the cases."
    ))  # fmt: skip


def of_a_share(count: int, marked: float) -> None:
    """The ends of two intervals for every fraction of `count` correct answers, and how often each contains the true accuracy."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 2.9))
    found = np.arange(count + 1) / count
    by_wilson = np.array([wilson(share, count) for share in found])
    by_normal = found[:, None] + NORMAL * np.array([-1, 1]) * np.sqrt(found * (1 - found) / count)[:, None]
    truths = np.linspace(0.02, 0.98, 97)
    right_answers = np.arange(count + 1)[:, None]
    chances = comb(count, right_answers) * truths**right_answers * (1 - truths) ** (count - right_answers)
    held = {}
    for name, ends, colour, style in (
        ("Wilson", by_wilson, BLUE, "-"), ("p ± 1.96 √(p(1 − p)/n)", by_normal, ORANGE, "--"),
    ):  # fmt: skip
        left.plot(found, ends[:, 0], style, color=colour, label=name)
        left.plot(found, ends[:, 1], style, color=colour)
        inside = (ends[:, :1] <= truths) & (truths <= ends[:, 1:])
        held[name] = (chances * inside).sum(axis=0)
        right.plot(truths, held[name], style, color=colour)
    left.axvline(marked, color=GREY, linewidth=0.8)
    left.axhspan(1, 1.2, color=GREY, alpha=0.15)
    left.axhspan(-0.2, 0, color=GREY, alpha=0.15)
    left.set(
        xlabel=f"fraction of {count} answers that are correct",
        ylabel="ends of the interval",
        ylim=(-0.2, 1.2),
    )
    left.legend(fontsize=8)
    right.axhline(0.95, color=GREY, linewidth=0.8)
    right.set(
        xlabel="true accuracy",
        ylabel="fraction of intervals that\ncontain the true accuracy",
        ylim=(0.3, 1.0),
    )
    worst, worst_normal = (shares.min() for shares in held.values())
    show(figure, alt=(
        f"Ends of two intervals for each fraction of {count} answers that are correct. If all are correct, Wilson's interval is {by_wilson[-1][0]:.2f} to "
        f"{by_wilson[-1][1]:.2f}, and that of the normal approximation is {by_normal[-1][0]:.2f} to {by_normal[-1][1]:.2f}, without any width. At worst, "
        f"the two intervals contain the true accuracy in {worst:.0%} and {worst_normal:.0%} of the cases."
    ))  # fmt: skip


def resampled(items: Float[np.ndarray, " items"], of: str, draws: int = 2_000) -> None:
    """The means of many sets drawn from the items with replacement, and the middle 95 % of these means."""
    rng = np.random.default_rng(0)
    means = items[rng.integers(len(items), size=(draws, len(items)))].mean(axis=1)
    low, high = bootstrap(items, draws=draws)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 2.5))
    edges = np.histogram_bin_edges(np.concatenate([items, means]), 30)
    left.hist(items, edges, color=GREY)
    left.set(xlabel=of, ylabel=f"number of items (of {len(items)})")
    right.hist(means, 40, color=BLUE, alpha=0.6)
    right.axvspan(low, high, color=ORANGE, alpha=0.2)
    right.axvline(items.mean(), color="black", linewidth=1)
    right.set(
        xlabel=f"mean of {len(items)} items drawn with replacement", ylabel=f"number of draws (of {draws:,})"
    )
    show(figure, alt=(
        f"Left: {of} of {len(items)} items, from {items.min():.2f} to {items.max():.2f}. Right: means of {draws:,} bootstrap "
        f"samples of the same size; 95 % of them lie between {low:.3f} and {high:.3f}, around the mean {items.mean():.3f}."
    ))  # fmt: skip
