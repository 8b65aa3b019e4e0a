"""The figure of notebook 08 about sentences that other people wrote. It states its values in the alt text."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from coursekit import other_corpora
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, show

SETTINGS = (("same words", BLUE, "o"), ("unseen words", ORANGE, "s"))
BAGS = (("bag of words", GREEN, "--"), ("near words", PINK, "-."))


def by_layer(found: other_corpora.Recorded, ours: pd.DataFrame) -> None:
    """Two panels by layer: parts of speech in Brown, and senses in WordNet and in the course's own sentences, with baselines."""
    brown, wordnet = found.brown, found.wordnet.loc["all"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.8, 4.2))
    said = []
    for name, colour, marker in SETTINGS:
        said.append(_line(left, brown.loc[name], f"MiniLM, {name}", colour, marker))
        said.append(
            _level(left, brown.loc[name, "window of two"].mean(), f"window of two, {name}", colour, "--")
        )
    said.append(_line(right, ours, f"MiniLM, our sentences ({len(ours)} nouns)", GREY, "D"))
    said.append(_line(right, wordnet, f"MiniLM, WordNet ({len(wordnet)} words)", BLUE, "o"))
    for name, colour, style in BAGS:
        said.append(_level(right, wordnet[name].mean(), f"{name}, WordNet", colour, style))
    left.set(title="part of speech (Brown)", ylabel="accuracy", ylim=(0.45, 1))
    right.set(title="sense", ylabel="AUC, same sense against different senses", ylim=(0.45, 1))
    for ax in (left, right):
        ax.set_xlabel("layer")
        ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1.4)
    left.legend(fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.1))
    right.legend(fontsize=8, loc="upper left")
    show(
        figure,
        alt=f"By layer, from 0, with 95 % intervals over words; chance is 0.5. Parts of speech: {'; '.join(said[:4])}. "
        f"AUC of senses: {'; '.join(said[4:])}.",
    )


def _line(ax: plt.Axes, table: pd.DataFrame, label: str, colour: str, marker: str) -> str:
    found = other_corpora.by_layer(table)
    means, low, high = np.array(found).T
    ax.fill_between(range(len(means)), low, high, color=colour, alpha=0.18)
    ax.plot(means, color=colour, marker=marker, markersize=5, linewidth=1.6, label=label)
    return f"{label} {', '.join(f'{mean:.2f} ({a:.2f} to {b:.2f})' for mean, a, b in found)}"


def _level(ax: plt.Axes, value: float, label: str, colour: str, style: str) -> str:
    ax.axhline(value, color=colour, linestyle=style, linewidth=1.4, label=label)
    return f"{label} {value:.2f}"
