"""Figures of notebook 11 about search and answers. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.intervals import bootstrap
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, SKY, show
from coursekit.retrieved_answers import RetrievedAnswers


def found(places: Mapping[str, Int[Tensor, " Q"]], by_chance: float) -> None:
    """Fraction of queries whose correct text is ranked first or among the first five, with bootstrap intervals over queries."""
    figure, ax = plt.subplots(figsize=(8, 3.3))
    said = []
    for row, (name, place) in enumerate(places.items()):
        for offset, (k, colour) in enumerate(((1, BLUE), (5, SKY))):
            hit = (place <= k).numpy().astype(float)
            low, high = bootstrap(hit, draws=1000)
            y = row + 0.34 * (offset - 0.5)
            ax.barh(
                y,
                hit.mean(),
                0.32,
                color=colour,
                hatch="" if k == 1 else "//",
                edgecolor="white",
                label=f"among the first {k}" if k > 1 else "ranked first",
            )
            ax.plot([low, high], [y, y], color="black", linewidth=1.2)
            ax.annotate(
                f"{hit.mean():.0%}", (high, y), (5, 0), textcoords="offset points", va="center", fontsize=9
            )
            said.append(
                f"{name}, {'first' if k == 1 else 'first five'} {hit.mean():.0%} ({low:.0%} to {high:.0%})"
            )
    ax.axvline(by_chance, color=GREY, linestyle=":")
    ax.set_yticks(range(len(places)), places)
    ax.invert_yaxis()
    ax.set(xlabel="fraction of questions whose paragraph is found (95 % interval)", xlim=(0, 1.08))
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles[:2], labels[:2], loc="outside lower center", ncols=2, fontsize=9)
    count = len(next(iter(places.values())))
    show(
        figure,
        alt=f"Fraction of {count} questions whose paragraph is found: {'; '.join(said)}. Chance level: {by_chance:.1%}.",
    )


def long_texts(hits: pd.DataFrame, part: Int[np.ndarray, " Q"]) -> None:
    """Fraction of questions whose document is ranked first, by the position of the paragraph in its document."""
    figure, ax = plt.subplots(figsize=(8, 3.6))
    said = []
    parts = np.unique(part)
    looks = ((ORANGE, "s--"), (BLUE, "o-"), (GREEN, "D-."))
    for offset, (name, (colour, look)) in enumerate(zip(hits, looks, strict=True)):
        shares, lows, highs = [], [], []
        for place in parts:
            values = hits[name][part == place].to_numpy(float)
            low, high = bootstrap(values, draws=1000)
            shares.append(values.mean())
            lows.append(values.mean() - low)
            highs.append(high - values.mean())
        ax.errorbar(parts + 0.12 * (offset - 1), shares, (lows, highs), fmt=look, color=colour, capsize=2, linewidth=1.5,
                    label=f"{name} (all: {hits[name].mean():.0%})")  # fmt: skip
        said.append(
            f"{name}: " + ", ".join(f"{share:.0%}" for share in shares) + f", all {hits[name].mean():.0%}"
        )
    ax.set(xlabel="position of the relevant paragraph in its document", ylabel="document ranked first", ylim=(0, 1.05))  # fmt: skip
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    counts = ", ".join(str(int((part == place).sum())) for place in parts)
    show(figure, alt=(
        f"Fraction of questions whose document is ranked first, by the position (1 to {parts[-1]}) of the relevant paragraph in it, with 95 % intervals over "
        f"{counts} questions. {'; '.join(said)}."
    ))  # fmt: skip


def recalls(
    hits: Mapping[tuple[str, int], Float[np.ndarray, " Q"]], describes: Float[np.ndarray, " Q"], passages: int
) -> None:
    """Recall at k of each search, for questions that name their term and questions that describe it."""
    searches = list(dict.fromkeys(name for name, _ in hits))
    sizes = list(dict.fromkeys(k for _, k in hits))
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    said = []
    kinds = (("name the term", ~describes), ("describe it", describes))
    for ax, (kind, rows) in zip(axes, kinds, strict=True):
        for offset, (name, colour, look) in enumerate(
            zip(searches, (GREY, ORANGE, GREEN), ("s:", "o--", "D-"), strict=True)
        ):
            values = [hits[name, k][rows] for k in sizes]
            means = np.array([value.mean() for value in values])
            bounds = np.array([bootstrap(value, draws=1000) for value in values])
            errors = np.stack([means - bounds[:, 0], bounds[:, 1] - means])
            places = np.arange(len(sizes)) + 0.1 * (offset - 1)
            ax.errorbar(places, means, errors, fmt=look, color=colour, capsize=2, markersize=5, label=name)
            said.append(
                f"questions that {kind}, {name}: "
                + ", ".join(f"{m:.0%} at {k}" for m, k in zip(means, sizes, strict=True))
            )
        ax.plot(range(len(sizes)), [k / passages for k in sizes], color=GREY, linewidth=0.8)
        ax.annotate("chance", (len(sizes) - 1, sizes[-1] / passages), (0, 3), textcoords="offset points", ha="right", fontsize=8, color=GREY)  # fmt: skip
        ax.set_xticks(range(len(sizes)), sizes)
        ax.set(xlabel="k", ylim=(-0.02, 1.04))
        ax.set_title(f"{rows.sum()} questions that {kind}", fontsize=10)
    axes[0].set_ylabel("recall at k")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    show(
        figure,
        alt=f"Recall at k among {passages} passages, with 95 % intervals over questions. {'; '.join(said)}.",
    )


TITLES = {
    "given": "added words that occur\nin the given passages",
    "true": "added words that occur\nin the right passage",
    "right": "words of the right answer\nthat occur in the reply",
}


def answers(recorded: RetrievedAnswers) -> None:
    """A panel for each measure: its mean over the questions for each kind of answer, with 95 % intervals, for the first wording."""
    shares = recorded.shares["a few words"]
    figure, axes = plt.subplots(1, len(TITLES), figsize=(10, 3.4), sharey=True)
    said = []
    for ax, (measure, title) in zip(axes, TITLES.items(), strict=True):
        for place, (way, found) in enumerate(shares.items()):
            values = found[measure]
            mean, (low, high) = (
                values.mean(),
                bootstrap(values, draws=1000) if values.std() else (values[0],) * 2,
            )
            colour = GREY if way.startswith("baseline") else BLUE
            ax.plot([low, high], [place, place], color=colour)
            ax.plot([mean], [place], "o", color=colour, markersize=6)
            ax.annotate(
                f"{mean:.0%}", (mean, place), (0, 6), textcoords="offset points", ha="center", fontsize=9
            )
            said.append(f"{way}, {measure}: {mean:.0%} ({low:.0%} to {high:.0%})")
        ax.set(xlim=(-0.05, 1.08))
        ax.set_xlabel(title, fontsize=9)
        ax.margins(y=0.12)
    axes[0].set_yticks(range(len(shares)), shares)
    axes[0].invert_yaxis()
    show(
        figure,
        alt=f"Support by the given passage and by the correct passage, and words of the correct answer: means over the questions with 95 % intervals. {'; '.join(said)}.",
    )
