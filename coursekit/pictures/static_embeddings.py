"""Figures of notebook 01. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.transforms import Bbox
from torch import Tensor

from coursekit.pictures.recurrence import HOLDS, PLAIN, READS, WRITES, arrow, box, canvas, label
from coursekit.plots import BLUE, GREEN, GREY, HATCHES, ORANGE, RED, SKY, show, write_in_cells

KINDS = {
    "static": ("one vector per word, f(w)", ORANGE, "s"),
    "machinery": ("architecture or method", GREY, "D"),
    "contextual": ("in context, f(w, C)", BLUE, "o"),
}
GROUP_COLOURS = (RED, GREEN, SKY)


def timeline(table: pd.DataFrame) -> None:
    """The date of each step and its innovation: one line per step, from top to bottom, coloured by kind."""
    years = table["month"].str[:4].astype(int) + (table["month"].str[5:].astype(int) - 1) / 12
    notebooks = [f" [{number}]" if isinstance(number, str) else "" for number in table["notebook"]]
    figure, ax = plt.subplots(figsize=(10, 0.27 * len(table) + 0.6))
    for kind, (meaning, colour, marker) in KINDS.items():
        of_kind = table["kind"] == kind
        ax.scatter(
            years[of_kind],
            np.flatnonzero(of_kind),
            s=42,
            color=colour,
            marker=marker,
            label=meaning,
            zorder=3,
        )
    for row, (year, name, idea) in enumerate(zip(years, table["name"], table["idea"], strict=True)):
        later = year > 2019.5  # its text goes on the left, where there is room
        side, place = (-0.22, "right") if later else (0.22, "left")
        text = f"{name}{notebooks[row]}: {idea}"
        ax.text(year + side, row, text, ha=place, va="center", fontsize=9)
    ax.invert_yaxis()
    ax.set(yticks=[], xlim=(2012.5, years.max() + 0.4), xlabel="first published")
    ax.set_xticks(range(2013, int(years.max()) + 1))
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.legend(loc="upper right", frameon=False)
    contextual = table[table["kind"] == "contextual"]
    show(figure, alt=(
        f"Timeline of {len(table)} steps from {table['month'].min()} to {table['month'].max()}. One vector per word: "
        f"{', '.join(table[table['kind'] == 'static']['name'])}. In context, from {contextual['month'].min()} on: "
        f"{', '.join(contextual['name'])}."
    ))  # fmt: skip


def three_tables(
    tables: Mapping[str, Float[Tensor, "word context"]], words: Sequence[str], contexts: Sequence[str]
) -> None:
    """Tables of the same words and context words with their values; all but the first share one colour scale."""
    figure, axes = plt.subplots(1, len(tables), figsize=(11, 3.2), sharey=True)
    shared = max(float(block.max()) for block in list(tables.values())[1:])
    for number, (ax, (title, block)) in enumerate(zip(axes, tables.items(), strict=True)):
        top = shared if number else float(block.max())
        image = ax.imshow(block, cmap="Blues", aspect="auto", vmin=0, vmax=top)
        digits = 1 if number else 0
        texts = [[f"{value:.{digits}f}" for value in row] for row in block.tolist()]
        write_in_cells(image, np.array(texts), fontsize=8)
        ax.set_xticks(range(len(contexts)), contexts, rotation=60, fontsize=9)
        ax.set_title(title, fontsize=10)
    axes[0].set_yticks(range(len(words)), words)
    first = ", ".join(f"{title} {float(block[0, 0]):.2f}" for title, block in tables.items())
    means = ", ".join(f"{title} {float(block.mean()):.2f}" for title, block in tables.items())
    show(
        figure,
        alt=f"Heat maps with the words {', '.join(words)} as rows and the context words {', '.join(contexts)} as columns. {words[0]} with {contexts[0]}: {first}. Means: {means}.",
    )


def stranded(
    word: str, plane: Float[Tensor, "n 2"], groups: Mapping[str, Sequence[str]], to_group: Mapping[str, float],
    within: Mapping[str, float], chance: float,
) -> None:  # fmt: skip
    """A word (the last point) among groups of words in a plane, and its mean cosine with each group."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.0), width_ratios=[1.5, 1])
    start = 0
    for (_, members), colour in zip(groups.items(), GROUP_COLOURS, strict=True):
        points = plane[start : start + len(members)]
        start += len(members)
        left.scatter(*points.T, color=colour, s=25)
        heights = _apart(points[:, 1].numpy(), 0.055)
        side = 1 if points[:, 0].mean() < 0.3 else -1
        for name, (x, y), height in zip(members, points, heights, strict=True):
            edge = points[:, 0].max() if side > 0 else points[:, 0].min()
            left.annotate(name, (x, y), (float(edge) + side * 0.06, height), fontsize=8, color="black", va="center",
                          ha="left" if side > 0 else "right", arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.4})  # fmt: skip
    left.scatter(*plane[-1], color="black", marker="*", s=200, zorder=3)
    left.annotate(
        word, plane[-1], (-9, 0), textcoords="offset points", weight="bold", ha="right", va="center"
    )
    left.margins(0.08)
    left.set(xlabel="first principal axis", ylabel="second principal axis", title="GloVe, in a plane")
    places = np.arange(len(groups))
    inside = right.bar(places - 0.2, [to_group[name] for name in groups], 0.4, color=GROUP_COLOURS)
    among = right.bar(places + 0.2, [within[name] for name in groups], 0.4, color="lightgrey")
    for bars in (inside, among):
        right.bar_label(bars, fmt="%.2f", fontsize=8)
    right.axhline(chance, color="black", linestyle=":", label=f"random pairs: {chance:.2f}")
    right.set_xticks(places, list(groups))
    right.set(
        ylabel="mean cosine",
        ylim=(0, 0.85),
        title=f"coloured: {word} and the words of the group\ngrey: the words of the group among themselves",
    )
    right.title.set_fontsize(9)
    right.legend(fontsize=8, loc="upper left")
    numbers = "; ".join(
        f"{name} {to_group[name]:.2f} (words of the group among themselves {within[name]:.2f})"
        for name in groups
    )
    show(figure, alt=(
        f"Left: {len(groups)} groups of GloVe vectors in a plane, with '{word}' between them. Right: mean cosine of '{word}' with "
        f"each group: {numbers}. Random pairs: {chance:.2f}."
    ))  # fmt: skip


def skip_gram(words: Sequence[str], center: int, window: int, negatives: Sequence[str]) -> None:
    """One word of a sentence as center, with its true neighbours and with words drawn at random."""
    figure, ax = canvas(1.75 * max(len(words), len(negatives) + 2) + 1.2, 4.3)
    x = [1.75 * i + 1.2 for i in range(len(words))]
    near = [i for i in range(len(words)) if 0 < abs(i - center) <= window]
    for i, word in enumerate(words):
        box(ax, x[i], 3.2, word, WRITES if i == center else READS if i in near else PLAIN, width=1.45)
    for i in near:
        rise = 3.75 + 0.06 * abs(i - center)
        arrow(ax, (x[center], 3.55), (x[center], rise), (x[i], rise), (x[i], 3.55), colour=BLUE)
    label(ax, x[0] - 0.7, 4.15, "pairs that occurred: raise the score, σ(u · v) towards 1", ha="left")
    places = [1.75 * i + 1.2 for i in range(len(negatives))]
    for place, word in zip(places, negatives, strict=True):
        box(ax, place, 0.9, word, HOLDS, width=1.45)
        arrow(ax, (x[center], 2.85), (x[center], 2.0), (place, 2.0), (place, 1.25), colour=ORANGE)
    label(
        ax,
        x[0] - 0.7,
        2.3,
        "center with words drawn at random: lower the score, σ(u · n) towards 0",
        ha="left",
    )
    label(
        ax,
        x[0] - 0.7,
        0.3,
        "each word has two vectors: one as center (u), one as context or negative (v, n)",
        ha="left",
    )
    show(
        figure,
        alt=f"Skip-gram with the center '{words[center]}' in '{' '.join(words)}': it forms pairs with {', '.join(words[i] for i in near)}; "
        f"its negatives, drawn at random, are {', '.join(negatives)}.",
    )


def training(
    losses: Sequence[float], untrained: float, best: float, optimum: Float[Tensor, " n"], score: Float[Tensor, " n"],
    correlation: float, shuffled: float,
) -> None:  # fmt: skip
    """The loss of skip-gram during training, and its learned scores against the best possible scores."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
    smooth = np.convolve(losses, np.ones(20) / 20, mode="valid")
    left.plot(
        np.arange(len(smooth)) + 20,
        smooth,
        color=BLUE,
        label=f"skip-gram: {np.mean(losses[-100:]):.2f} at the end",
    )
    left.axhline(untrained, color=GREY, linestyle=":", label=f"untrained: {untrained:.2f}")
    left.axhline(best, color=ORANGE, linestyle="--", label=f"best possible: {best:.2f}")
    left.set(xlabel="step", ylabel="loss (nats per pair)", ylim=(1, 4.5))
    left.legend(fontsize=8)
    right.scatter(optimum, score, s=3, alpha=0.3, color=BLUE, rasterized=True)
    ends = [float(optimum.min()), float(optimum.max())]
    right.plot(ends, ends, color=ORANGE, linestyle="--", linewidth=1.5, label="learned = best")
    right.set(
        xlabel="best score, ln p/(k q)",
        ylabel="learned score, u · v",
        title=f"correlation {correlation:.2f}",
    )
    right.legend(fontsize=8)
    show(figure, alt=(
        f"Left: the loss falls from {losses[0]:.2f} nats to {np.mean(losses[-100:]):.2f}; the best possible loss is {best:.2f}. Right: learned "
        f"scores of {len(score)} pairs against the best scores, with a correlation of {correlation:.2f} ({shuffled:.2f} if the scores are shuffled)."
    ))  # fmt: skip


def mixtures(
    rows: Sequence[Mapping], labels: Mapping[str, str], line: tuple[float, float], correlation: float
) -> None:
    """How well mixtures rebuild the vectors of ambiguous words, and the weights of senses against their frequencies."""
    slope, intercept = line
    means = {name: float(np.mean([row[name] for row in rows])) for name in labels}
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.8, 3.8), width_ratios=[1.45, 1])
    for x, name in enumerate(labels):
        values = sorted(row[name] for row in rows)
        left.scatter(x + np.linspace(-0.18, 0.18, len(values)), values, s=9, color=BLUE if x < 3 else GREY)
        left.hlines(means[name], x - 0.25, x + 0.25, color="black", linewidth=1.5)
        left.annotate(
            f"{means[name]:.2f}",
            (x, min(values)),
            (0, -12),
            textcoords="offset points",
            fontsize=9,
            ha="center",
        )
    left.set_xticks(range(len(labels)), list(labels.values()), fontsize=8)
    lowest = min(row[name] for row in rows for name in labels)
    bottom = min(-0.05, lowest - 0.12)  # leaves room for the mean below the points
    left.set(ylabel="cosine with the word's vector", ylim=(bottom, 1.03), xlim=(-0.5, len(labels) - 0.5))
    left.set_title("blue: mixtures of its senses; grey: controls", fontsize=9)
    frequency, weights = (np.concatenate([row[name] for row in rows]) for name in ("frequency", "weights"))
    right.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="weight = frequency")
    right.plot([0, 1], [intercept, intercept + slope], color=ORANGE, label=f"fit: slope {slope:.2f}")
    right.scatter(frequency, weights, s=14, color=BLUE)
    right.set(
        xlabel="frequency of the sense",
        ylabel="weight in the best mixture",
        xlim=(0, 1),
        ylim=(0, 1),
        title=f"correlation {correlation:.2f}",
    )
    right.legend(fontsize=8)
    numbers = "; ".join(f"{label.replace(chr(10), ' ')} {means[name]:.2f}" for name, label in labels.items())
    show(figure, alt=(
        f"Left: mean cosines of the vectors of {len(rows)} ambiguous words with mixtures of vectors: {numbers}. Right: weight of a sense "
        f"against its frequency, with correlation {correlation:.2f}, slope {slope:.2f}, intercept {intercept:.2f}."
    ))  # fmt: skip


def partners(sentences: Sequence[str], meanings: Sequence[str], vectors: Float[Tensor, "2 D"]) -> None:
    """Two sentences with the same words, lines between equal words, and the vector computed from each sentence."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 2.3), width_ratios=[1.9, 1])
    places = []
    for height, (sentence, meaning) in zip((1, 0), zip(sentences, meanings, strict=True), strict=True):
        words, at, begin = sentence.split(), {}, 0.0
        for number, word in enumerate(words):
            key = word, words[:number].count(word)  # "the" occurs several times
            at[key] = begin + len(word) / 2
            left.text(at[key], height, word, ha="center", va="center", fontsize=9)
            begin += len(word) + 1.5
        left.text(0, height + (0.3 if height else -0.3), meaning, fontsize=9, color=BLUE, va="center")
        places.append(at)
    moved = [word for word, _ in places[0] if abs(places[0][word, 0] - places[1][word, 0]) > 5]
    for key, top in places[0].items():
        colour = ORANGE if key[0] in moved else "lightgrey"
        left.plot([top, places[1][key]], [0.86, 0.14], color=colour, linewidth=1.2, zorder=0)
    left.set(xlim=(-0.5, begin), ylim=(-0.5, 1.5))
    left.axis("off")
    bound = float(vectors.abs().max())
    image = right.imshow(vectors, aspect="auto", cmap="PuOr", vmin=-bound, vmax=bound)
    right.axhline(0.5, color="white", linewidth=6)
    right.set(yticks=(), xlabel="coordinate")
    right.set_title("average of the other words", fontsize=9)
    figure.colorbar(image, ax=right)
    apart = float((vectors[0] - vectors[1]).abs().max())
    show(figure, alt=(
        f"Two sentences with lines between equal words: '{sentences[0]}' ({meanings[0]}) and '{sentences[1]}' ({meanings[1]}). "
        f"{' and '.join(moved)} have swapped positions. Right: the average vector of the other words, identical for both; largest difference {apart:.0e}."
    ))  # fmt: skip


def leaning(
    words: Sequence[str],
    seven: Float[Tensor, " n"],
    eighth: Float[Tensor, " n"],
    at_random: Float[Tensor, " 2"],
) -> None:
    """The gender bias of words by two measures; the band contains 95 % of random words by the first measure."""
    figure, ax = plt.subplots(figsize=(9, 4.6))
    low, high = at_random.tolist()
    ax.axvspan(low, high, color=GREY, alpha=0.15, lw=0, label="95 % of random frequent words")
    ax.axhline(0, color=GREY, lw=0.8)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.scatter(seven, eighth, color=BLUE, s=16, zorder=3)
    ax.margins(0.06)
    ax.set(xlabel="leans towards: he, man, his, …  ←  mean of seven pairs  →  she, woman, her, …",
           ylabel="male  ←  one pair  →  female")  # fmt: skip
    ax.legend(loc="upper right", frameon=False)
    name_points(ax, words, list(zip(seven.tolist(), eighth.tolist(), strict=True)))
    order = seven.argsort().tolist()
    first, last = (
        ", ".join(f"{words[i]} {seven[i]:+.2f}" for i in some) for some in (order[:3], order[:-4:-1])
    )
    show(figure, alt=(
        f"{len(words)} occupations as points. The horizontal position is the mean over seven pairs such as she and he, from {first} to {last}; 95 % of random words lie "
        f"between {low:+.2f} and {high:+.2f}. The vertical position is that of the pair female and male, which falls as the mean rises."
    ))  # fmt: skip


def name_points(ax: plt.Axes, words: Sequence[str], points: Sequence[Sequence[float]]) -> None:
    """Writes each word next to its point, on the first of four sides where it covers neither a point nor another word."""
    ax.figure.draw_without_rendering()  # limits and layout are final from here
    dots = ax.transData.transform(points)
    boxes: list[Bbox] = []
    for word, point in zip(words, points, strict=True):
        tried = []
        for (x, y), ha in (((4, 2), "left"), ((-4, 2), "right"), ((4, -8), "left"), ((-4, -8), "right")):
            text = ax.annotate(word, point, (x, y), textcoords="offset points", fontsize=8, ha=ha)
            box = text.get_window_extent()
            tried.append((box.count_overlaps(boxes) + box.count_contains(dots), len(tried), text, box))
            text.set_visible(False)
        _, _, text, box = min(tried, key=itemgetter(0, 1))
        text.set_visible(True)
        boxes.append(box)


def bars(
    series: Mapping[str, Mapping[str, float]], ylabel: str, *, written: bool = False, top: float | None = None
) -> None:
    """Grouped bars: one colour per series, one group per key; the alt text states the means or the values."""
    groups = list(next(iter(series.values())))
    width = 0.8 / len(series)
    figure, ax = plt.subplots(figsize=(9.8, 3.5))
    for number, ((name, values), colour) in enumerate(
        zip(series.items(), (ORANGE, SKY, BLUE, GREY), strict=False)
    ):
        places = np.arange(len(groups)) + width * (number - (len(series) - 1) / 2)
        label = name if written else f"{name} (mean {_mean(values):.3f})"
        heights = [values[group] for group in groups]
        drawn = ax.bar(
            places, heights, width, color=colour, hatch=HATCHES[number], edgecolor="white", label=label
        )
        if written:
            ax.bar_label(drawn, fmt="%.2f", fontsize=8)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(groups)), groups)
    ax.set(ylabel=ylabel, ylim=(None, top))
    figure.legend(fontsize=8, loc="outside upper center", ncols=2)
    if written:
        numbers = " ".join(
            f"{name}: {', '.join(f'{g.splitlines()[0]} {v:.2f}' for g, v in values.items())}."
            for name, values in series.items()
        )
    else:
        numbers = (
            "Means: " + "; ".join(f"{name} {_mean(values):.3f}" for name, values in series.items()) + "."
        )
    show(
        figure, alt=f"Bars of {ylabel} for {', '.join(group.splitlines()[0] for group in groups)}. {numbers}"
    )


def _mean(values: Mapping[str, float]) -> float:
    """The mean to three decimals, without a negative zero."""
    return round(float(np.mean(list(values.values()))), 3) + 0.0


def _apart(values: np.ndarray, distance: float) -> np.ndarray:
    """The values, moved just far enough to be at least `distance` apart, for labels."""
    order = np.argsort(values)
    placed = values[order].astype(float)
    for _ in range(100):
        gaps = np.diff(placed)
        close = gaps < distance
        if not close.any():
            break
        shift = np.where(close, (distance - gaps) / 2 + 1e-4, 0)
        placed[:-1] -= shift
        placed[1:] += shift
    result = np.empty_like(placed)
    result[order] = placed
    return result
