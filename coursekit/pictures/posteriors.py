"""Probabilities of the senses of a word in a sentence (notebook 12): the exact posterior word by word, and the models' answers."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from torch import Tensor

from coursekit.language import load_language
from coursekit.plots import PALETTE, ink_on, show, write_in_cells

Reading = tuple[Sequence[str], Float[Tensor, "steps S"], int]
"""Labels of the steps, the posterior at each, and the number of words before the target."""


def reading(
    readings: Mapping[str, tuple[Sequence[str], Float[Tensor, "steps S"]]], senses: Sequence[str]
) -> None:
    """The exact posterior after each word, one panel per sentence, for senses that are possible at some step."""
    figure, axes = plt.subplots(
        1, len(readings), figsize=(4.9 * len(readings), 3.9), squeeze=False, layout="constrained"
    )
    said = []
    for ax, (text, (labels, rows)) in zip(axes[0], readings.items(), strict=True):
        rows = rows.numpy()
        shown = np.flatnonzero(rows.max(axis=0) > 0)
        image = ax.imshow(rows[:, shown], cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
        write_in_cells(image, np.array([[f"{p:.2f}" for p in row[shown]] for row in rows]), fontsize=8)
        names = [senses[s].split("#")[1] for s in shown]
        ax.set_xticks(range(len(shown)), names, fontsize=9)
        ax.set_yticks(
            range(len(labels)),
            [f"{labels[0]}, the word alone", *(f"+ {label}" for label in labels[1:])],
            fontsize=8,
        )
        ax.set_title(text, fontsize=8)
        sure = [f"{name} {p:.2f}" for name, p in zip(names, rows[-1, shown], strict=True)]
        sure_first = [f"{name} {p:.2f}" for name, p in zip(names, rows[0, shown], strict=True)]
        said.append(
            f"{text}: given the word alone, {', '.join(sure_first)}; given the whole sentence, {', '.join(sure)}"
        )
    show(figure, alt=f"Exact posterior over senses while the sentence is read. {'. '.join(said)}.")


def opinions(found: Mapping[str, Mapping[str, Float[Tensor, " S"]]], senses: Sequence[str]) -> None:
    """The exact and the models' probabilities of each sense, stacked to 1."""
    figure, axes = plt.subplots(1, len(found), figsize=(4.9 * len(found), 2.6), squeeze=False, sharey=True)
    said = []
    for ax, (text, rows) in zip(axes[0], found.items(), strict=True):
        shown = [s for s in range(len(senses)) if max(row[s].item() for row in rows.values()) > 0.005]
        start = np.zeros(len(rows))
        for s in shown:
            colour = PALETTE[s % len(PALETTE)]  # a sense has one colour in all figures
            widths = np.array([row[s].item() for row in rows.values()])
            ax.barh(
                range(len(rows)), widths, left=start, color=colour, label=senses[s].split("#")[1], height=0.7
            )
            for row, (left, width) in enumerate(zip(start, widths, strict=True)):
                if width > 0.2:
                    name = senses[s].split("#")[1]
                    ax.text(
                        left + width / 2,
                        row,
                        name,
                        ha="center",
                        va="center",
                        fontsize=8,
                        color=ink_on(colour),
                    )
            start += widths
        ax.set_yticks(range(len(rows)), list(rows), fontsize=9)
        ax.set(xlim=(0, 1), xlabel="probability")
        ax.set_title(text, fontsize=8)
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)
        for name, row in rows.items():
            said.append(
                f"{text}, {name}: " + ", ".join(f"{senses[s].split('#')[1]} {row[s]:.2f}" for s in shown)
            )
    axes[0, 0].invert_yaxis()
    show(figure, alt=f"Probabilities of the senses. {'; '.join(said)}.")


def readings(
    texts: Sequence[str],
    read: Callable[[str], Reading],
    opinions_on: Callable[[str], Mapping[str, Float[Tensor, " S"]]],
) -> None:
    """The exact posterior while each sentence is read, and the models' answers."""
    senses = load_language().senses
    reading({text: read(text)[:2] for text in texts}, senses)
    opinions({text: opinions_on(text) for text in texts}, senses)


def sentence(
    text: str,
    read: Callable[[str], Reading],
    opinions_on: Callable[[str], Mapping[str, Float[Tensor, " S"]]],
) -> None:
    """The exact posterior and the models' answers for a sentence, or an explanation of why there are none."""
    try:
        labels, rows, _ = read(text)
    except ValueError as why:
        print(f"This sentence cannot be analysed: {why}")
        return
    if rows[-1].sum() == 0:
        end = next(i for i, one in enumerate(rows) if one.sum() == 0)
        print(
            f"All words are known, but the language has no such sentence: no template matches it up to {labels[end]!r}."
        )
        return
    readings([text], read, opinions_on)
