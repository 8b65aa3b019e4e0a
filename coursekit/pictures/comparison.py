"""Figures of notebook 12. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.colors import ListedColormap
from torch import Tensor

from coursekit.pictures import exam
from coursekit.planted import Exposure
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, show, write_in_cells


def answers(right: Mapping[str, Float[Tensor, " n"]], some: Int[np.ndarray, " shown"], title: str) -> None:
    """Correct (blue) and wrong (orange, ×) answers to some of the sentences, one row for each model, one column for each sentence."""
    names, grid = list(right), np.stack([row[some].numpy() for row in right.values()])
    figure, ax = plt.subplots(figsize=(9.0, 0.5 + 0.34 * len(names)))
    ax.imshow(grid, cmap=ListedColormap([ORANGE, BLUE]), aspect="auto", vmin=0, vmax=1)
    rows, columns = np.nonzero(grid == 0)
    ax.plot(columns, rows, "x", color="black", markersize=4, markeredgewidth=1)
    ax.set_xticks(np.arange(-0.5, grid.shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, len(names)), minor=True)
    ax.grid(which="minor", color="white", linewidth=1.2)
    ax.tick_params(which="both", length=0)
    ax.set_xticks([])
    ax.set_yticks(range(len(names)), names)
    ax.set_title(f"{title}: correct (blue), wrong (orange, ×)", fontsize=10)
    counts = "; ".join(
        f"{int(row.sum())} are correct for {name}" for name, row in zip(names, grid, strict=True)
    )
    show(figure, alt=f"{title}, one column for each sentence. Out of {grid.shape[1]} answers, {counts}.")


def bootstrap(
    means: Float[Tensor, " times"], measured: float, interval: tuple[float, float], bound: float
) -> None:
    """The means of the resampled test sets, their interval, the measured accuracy and the exact bound."""
    figure, ax = plt.subplots(figsize=(7.4, 2.9))
    ax.hist(means.numpy(), bins=30, color=GREY, alpha=0.6)
    ax.axvspan(*interval, color=BLUE, alpha=0.15, label=f"95 %: {interval[0]:.3f} to {interval[1]:.3f}")
    ax.axvline(measured, color=BLUE, label=f"measured: {measured:.3f}")
    ax.axvline(
        bound,
        color=GREEN,
        linestyle="--",
        label=f"best possible from the words up to the target: {bound:.3f}",
    )
    ax.set(xlabel="accuracy of GPT", ylabel="resampled test sets")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    show(
        figure,
        alt=f"Histogram of {len(means)} resampled accuracies of GPT on questions with the cue only on the right. The measured accuracy "
        f"is {measured:.3f} (95 % interval {interval[0]:.3f} to {interval[1]:.3f}); the best possible accuracy from the words up to the target is {bound:.3f}.",
    )


def board(intervals: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """The accuracy of every model with its bootstrap interval, by kind of question, and the exact bounds."""
    show(*exam.rows([
        exam.Reader(name, {kind: exam.Share(*share) for kind, share in shares.items()}, _colour_of(name))
        for name, shares in intervals.items()
    ]))  # fmt: skip


def _colour_of(name: str) -> str:
    return GREEN if name.startswith("exact") else GREY if "untrained" in name else BLUE


def differences(
    names: Sequence[str],
    means: Float[Tensor, " models"],
    gaps: Float[Tensor, "models models"],
    clear: Bool[Tensor, "models models"],
    items: int,
) -> None:
    """Row minus column in percentage points; cells are left uncoloured where the difference is not clear."""
    points, certain = 100 * gaps.numpy(), clear.numpy()
    figure, ax = plt.subplots(figsize=(1.9 + 0.95 * len(names), 1.5 + 0.5 * len(names)))
    reach = max(1.0, np.abs(points).max())
    image = ax.imshow(np.where(certain, points, np.nan), cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto")
    texts = [["" if i == j else f"{gap:+.0f}" for j, gap in enumerate(row)] for i, row in enumerate(points)]
    write_in_cells(image, np.array(texts), fontsize=10)
    ax.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=9)
    ax.set_yticks(
        range(len(names)),
        [f"{name}  {mean:.2f}" for name, mean in zip(names, means, strict=True)],
        fontsize=9,
    )
    ax.set_title(
        f"row minus column in percentage points ({items} sentences); uncoloured cells: not clear", fontsize=10
    )
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    said = "; ".join(
        f"{names[i]} minus {names[j]} {points[i, j]:+.0f}{'' if certain[i, j] else ' (not clear)'}"
        for i, j in pairs
    )
    show(
        figure,
        alt=f"Differences in accuracy on {items} real sentences, in percentage points: {said}.",
    )


def power(sizes: Sequence[int], shares: Mapping[str, Sequence[float]]) -> None:
    """How often a difference is clear in a test set of a given size."""
    figure, ax = plt.subplots(figsize=(8.6, 3.3))
    for (name, row), colour, marker in zip(shares.items(), (BLUE, ORANGE, GREEN), "osD", strict=True):
        ax.plot(sizes, row, color=colour, marker=marker, label=name)
    ax.axhline(0.8, color=GREY, linestyle=":")
    ax.text(sizes[-1], 0.74, "0.8: the usual target", fontsize=8, color=GREY, ha="right")
    ax.set(
        xscale="log",
        ylim=(-0.03, 1.05),
        xlabel="sentences in the test set",
        ylabel="fraction of test sets in which\nthe difference is clear",
    )
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), title="difference on all sentences")
    said = "; ".join(
        f"{' '.join(name.split())}: {', '.join(f'{n} sentences {p:.2f}' for n, p in zip(sizes, row, strict=True))}"
        for name, row in shares.items()
    )
    show(figure, alt=f"Fraction of random test sets in which a difference is clear. {said}.")


def holm(
    names: Sequence[tuple[str, str]],
    p: Float[Tensor, " pairs"],
    stays: Bool[Tensor, " pairs"],
    falsely: Mapping[str, float],
) -> None:
    """The sorted p-values of all pairs with the threshold 0.05 and Holm's thresholds; pairs between the two are named."""
    order, count = p.argsort().tolist(), len(p)
    print(
        "simulations without true differences in which at least one difference was called clear:",
        ", ".join(f"{rule} {share:.0%}" for rule, share in falsely.items()),
    )
    print(
        f"clear differences in our data: {(p < 0.05).sum()} of {count} if each is tested at 95 %, {stays.sum()} with Holm's method"
    )
    places, lowest = np.arange(1, count + 1), 5e-4
    sorted_p = np.maximum(p[order].numpy(), lowest)
    figure, ax = plt.subplots(figsize=(8.6, 3.5))
    ax.axhline(0.05, color=GREY, linestyle=":", label="0.05 for each")
    ax.step(
        places,
        0.05 / (count + 1 - places),
        where="mid",
        color=GREEN,
        linestyle="--",
        label="Holm, 0.05 for all",
    )
    for colour, marker, text, shown in (
        (BLUE, "o", "clear with Holm", stays[order].numpy()),
        (ORANGE, "D", "clear only without correction", (~stays[order] & (p[order] < 0.05)).numpy()),
        (GREY, "x", "not clear", (p[order] >= 0.05).numpy()),
    ):
        ax.plot(places[shown], sorted_p[shown], marker, color=colour, label=f"{text} ({shown.sum()})")
    between = [i for i in order if p[i] < 0.05 and not stays[i]]
    if between:
        text = "\n".join(f"{names[i][1]} − {names[i][0]}" for i in between)
        first = order.index(between[0]) + 1
        ax.annotate(text, (first - 0.5, p[between].mean()), ha="right", va="center", fontsize=8)
    ax.set(yscale="log", xlabel="pairs, ordered by p-value", ylabel="p-value")
    ax.set_yticks([lowest, 0.005, 0.05, 0.5], ["< 0.0005", "0.005", "0.05", "0.5"])
    ax.minorticks_off()
    ax.set_xticks(places[::5])
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    picked = "; ".join(f"{names[i][1]} minus {names[i][0]} (p = {p[i]:.3f})" for i in between)
    found = ", ".join(f"{rule} {share:.2f}" for rule, share in falsely.items())
    show(
        figure,
        alt=f"p-values of {count} pairs. Below 0.05: {int((p < 0.05).sum())}; clear with Holm's method: {int(stays.sum())}. "
        f"Clear only without correction: {picked or 'none'}. Fraction of simulations without true differences in which a difference was called clear: {found}.",
    )


def four_readers(
    shares: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    counts: Mapping[str, Mapping[str, int]],
    guess: Mapping[str, float],
) -> None:
    """Accuracy by position of the cue: a panel for each set of sentences, a row for each model.

    shares[panel][model][position of the cue] contains the mean and the lower and upper ends of its interval, counts the number
    of sentences, and guess the chance level, which is drawn as a dotted line.
    """
    figure, axes = plt.subplots(1, len(shares), figsize=(10.4, 3.9), sharey=True, layout="constrained")
    said = []
    for ax, (panel, readers) in zip(axes, shares.items(), strict=True):
        ax.axvline(guess[panel], color=GREY, linestyle=":", linewidth=1.5, label="chance level")
        for place, colour, marker, off in zip(
            counts[panel], (BLUE, ORANGE), "oD", (-0.17, 0.17), strict=True
        ):
            means, lows, highs = np.array([places[place] for places in readers.values()]).T
            rows, ends = np.arange(len(means)) + off, [means - lows, highs - means]
            ax.errorbar(
                means, rows, xerr=ends, fmt=marker, color=colour, markersize=5, linewidth=1.5, label=place
            )
            shown = zip(readers, means, lows, highs, strict=True)
            said.append(
                f"{panel}, {place}: "
                + ", ".join(f"{name} {mean:.2f} ({low:.2f} to {high:.2f})" for name, mean, low, high in shown)
            )
        number = ", ".join(f"{count:,} {place}" for place, count in counts[panel].items())
        ax.set_title(f"{panel}\n{number}", fontsize=9)
        ax.set(xlim=(0.3, 1.03), xticks=(0.4, 0.6, 0.8, 1.0), xlabel="accuracy")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(readers)), list(readers), fontsize=9)
    axes[0].set_ylim(len(readers) - 0.5, -0.5)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    guessed = ", ".join(f"{panel} {share:.2f}" for panel, share in guess.items())
    show(
        figure,
        alt=f"Accuracy by position of the cue, with 95 % intervals. {'; '.join(said)}. Chance level: {guessed}.",
    )


def reach(
    claimed: Mapping[str, Int[Tensor, "T T"]],
    measured: Mapping[str, Float[Tensor, "T T"]],
    words: Sequence[str],
) -> None:
    """Path lengths from the diagram (above) and the influence in trained models (below). White cells have none."""
    figure, axes = plt.subplots(2, len(claimed), figsize=(10.4, 6.0), sharex=True, sharey=True)
    said = []
    for above, below, name in zip(*axes, claimed, strict=True):
        lengths, slopes = claimed[name].numpy().astype(float), (measured[name] / measured[name].max()).numpy()
        image = above.imshow(np.where(lengths > 0, lengths, np.nan), cmap="Oranges", vmin=-4, vmax=14)
        texts = [[f"{length:.0f}" if length > 0 else "" for length in row] for row in lengths]
        write_in_cells(image, np.array(texts), fontsize=6)
        below.imshow(np.where(slopes > 0, slopes, np.nan) ** 0.5, cmap="Blues", vmin=-0.25, vmax=1)
        above.set_title(name, fontsize=10)
        below.set_xticks(range(len(words)), words, rotation=90, fontsize=7)
        below.set_xlabel("input")
        agree = int(((lengths > 0) == (slopes > 0)).sum())
        said.append(
            f"{name}: path from first to last word {lengths[-1, 0]:.0f} cells, {int((lengths == 0).sum())} pairs without a path, diagram and model "
            f"agree on {agree} of {lengths.size} pairs, influence of the first word on the last {slopes[-1, 0]:.2g} of the largest"
        )
    for ax, label in zip(axes[:, 0], ("cells on the path", "influence"), strict=True):
        ax.set_yticks(range(len(words)), words, fontsize=7)
        ax.set_ylabel(f"{label}\noutput")
    show(figure, alt=f"Path lengths and measured influence. {'; '.join(said)}.")


def exposure(rows: Sequence[Exposure], title: str) -> None:
    """The planted implementations that each row of a batch detects; a detected correct one is a false alarm."""
    planted = rows[0].planted
    noticed = np.array([row.noticed for row in rows]).T
    wrong = np.array([not implementation.right for implementation in planted])
    colours = np.where(noticed, np.where(wrong[:, None], 1, 2), 0)
    figure, ax = plt.subplots(figsize=(6.6, 0.6 + 0.24 * len(planted)))
    image = ax.imshow(colours, cmap=ListedColormap(["#eeeeee", BLUE, RED]), vmin=0, vmax=2, aspect="auto")
    write_in_cells(image, np.array(["", "✓", "!"])[colours], fontsize=9, weight="bold")
    ax.set_xticks(np.arange(-0.5, len(rows)), minor=True)
    ax.set_yticks(np.arange(-0.5, len(planted)), minor=True)
    ax.grid(which="minor", color="white", linewidth=1.5)
    ax.tick_params(which="both", length=0)
    ax.set_xticks(range(len(rows)), [f"row {b}" for b in range(len(rows))])
    ax.set_yticks(range(len(planted)), [implementation.name for implementation in planted], fontsize=8)
    ax.set_title(f"{title}\n✓ exposed fault, grey: not exposed, ! false alarm", fontsize=10)
    by_any = noticed[wrong].any(axis=1)
    escaped = [
        implementation.name
        for implementation, seen in zip(np.array(planted)[wrong], by_any, strict=True)
        if not seen
    ]
    alarms = int(noticed[~wrong].any(axis=1).sum())
    show(
        figure,
        alt=f"{title}: used as separate tests, {len(rows)} row{'s' * (len(rows) > 1)} expose{'s' * (len(rows) == 1)} "
        f"{int(by_any.sum())} of {int(wrong.sum())} faults, with {alarms} false alarm{'s' * (alarms != 1)}. "
        f"Faults not exposed: {'; '.join(escaped) or 'none'}.",
    )


def calibration(curves: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Accuracy against confidence, bin by bin; a larger marker represents more answers."""
    figure, ax = plt.subplots(figsize=(7.8, 3.9))
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.5)
    said = []
    for (name, curve), colour, marker in zip(
        curves.items(), (BLUE, ORANGE, PINK, GREEN), "osD^", strict=True
    ):
        filled = (curve["count"] > 0).numpy()
        x, y, n = (curve[key].numpy()[filled] for key in ("said", "found", "count"))
        label = f"{name}: error {curve['error']:.3f}"
        ax.plot(x, y, color=colour, linewidth=1)
        ax.scatter(x, y, s=15 + 0.12 * n, color=colour, marker=marker, label=label, zorder=3)
        points = ", ".join(
            f"confidence {a:.2f}, accuracy {b:.2f} ({int(c)} answers)"
            for a, b, c in zip(x, y, n, strict=True)
        )
        said.append(f"{label}; {points}")
    ax.set(
        xlabel="mean confidence in the bin",
        ylabel="accuracy in the bin",
        xlim=(0.2, 1.02),
        ylim=(0, 1.02),
    )
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    show(figure, alt=f"Calibration on the questions with the cue only on the right. {'. '.join(said)}.")
