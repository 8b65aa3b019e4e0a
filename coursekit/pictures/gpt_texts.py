"""Figures and printed texts of notebook 07: how a token is chosen, and what decoders write."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.generating import Sample, TopP, are_possible, words_above_the_line
from coursekit.intervals import mean_and_half
from coursekit.language import BOS, Language
from coursekit.novels.per_character import Nats, nats_per_character
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, show


def print_texts(texts: Mapping[str, str]) -> None:
    """Print each title with a colon (if it does not end with a sign) and, below it, its text in lines that fit the page."""
    for title, text in texts.items():
        indent = dict.fromkeys(("initial_indent", "subsequent_indent"), "    ")
        print(
            title if title.endswith("?") else f"{title}:",
            fill(" ".join(text.split()), 90, **indent),
            sep="\n",
        )


def print_dialogue(ask: Callable[..., str], first: str, second: str) -> None:
    """Print a model's answers to two questions, of which the second is asked after the first has been answered."""
    answer = ask(first, tokens=30)
    print_texts({first: answer, second: ask(first, answer, second, tokens=30)})


def print_sentences(language: Language, written: Mapping[float, Int[Tensor, "n T"]]) -> None:
    """Print the sentences written at each temperature, and mark those that are impossible in the language."""
    print("✗ marks sentences that are impossible in the language")
    for temperature, sentences in written.items():
        print(f"temperature {temperature:g}:")
        for ids, fine in zip(sentences, are_possible(language, sentences), strict=True):
            print("   ", " " if fine else "✗", language.decode(ids.tolist()))


def print_beams(
    language: Language, found: Mapping[int, tuple[Int[Tensor, " T"], Float[Tensor, ""]]], of_samples: Float[Tensor, " n"]
) -> None:  # fmt: skip
    """Print the sentence that beam search finds with each width, and compare the last with sampled sentences.

    Each entry contains the ids without [BOS] and their log-probability under the model; `of_samples` are log-probabilities.
    """
    for width, (tokens, total) in found.items():
        ids = [BOS, *tokens.tolist()]
        true = language.log_probability(np.array([ids]))[0]
        print(
            f"width {width:>3}: {total.item():6.2f} nats (true log-probability {true:6.2f})   {language.decode(ids)}"
        )
    below = (of_samples < total.item()).float().mean().item()
    print(
        f"{len(of_samples)} samples: from {of_samples.min():.1f} to {of_samples.max():.1f} nats, median {of_samples.median():.1f};",
        f"{below:.0%} are less probable than the sentence found with width {width}",
    )


def choice_sliders(
    sample: Sample, top_p: TopP, unchanged: Float[Tensor, "1 V"], exact: Float[Tensor, " V"], vocabulary: Sequence[str]
) -> None:  # fmt: skip
    """Sliders for the temperature and p, above the distribution before and after both are applied."""
    import ipywidgets  # start-up: grading does not need it
    import torch

    from coursekit.sliders import interact

    def draw(temperature: float, p: float) -> None:
        chosen = sample(unchanged.log(), torch.zeros(1), temperature, unchanged.shape[1])[0]
        chosen = top_p(chosen, p) if p < 1 else chosen
        both = {"unchanged": unchanged, f"temperature {temperature:.1f}, top-p {p:.2f}": chosen}
        choices(both, exact, vocabulary)

    interact(
        draw,
        temperature=ipywidgets.FloatSlider(1, min=0.1, max=3, style={"description_width": "initial"}),
        p=ipywidgets.FloatSlider(0.9, min=0.05, max=1, step=0.05),
    )


def choices(
    found: Mapping[str, Float[Tensor, "1 V"]],
    exact: Float[Tensor, " V"],
    vocabulary: Sequence[str],
    shown: int = 7,
) -> None:
    """One distribution under each setting: the most probable words, and the total of all others."""
    order = exact.argsort(descending=True)[:shown]
    figure, axes = plt.subplots(1, len(found), figsize=(2.3 * len(found), 3.1), sharex=True, sharey=True)
    said, possible = [], exact > 0
    for ax, (name, row) in zip(axes, found.items(), strict=True):
        values = row[0]
        heights = [*values[order].tolist(), 1 - values[order].sum().item()]
        truth = [*exact[order].tolist(), 1 - exact[order].sum().item()]
        places = np.arange(shown + 1)
        ax.barh(places, heights, color=[BLUE] * shown + [ORANGE], height=0.7)
        ax.plot(truth, places, "|", color="black", markersize=11, label="exact")
        tail = values[~possible].sum().item()
        ax.set_title(f"{name}\nimpossible words {tail:.3f}", fontsize=9)
        ax.set_xlabel("probability")
        most_likely = ", ".join(
            f"{vocabulary[i]} {p:.2f}" for i, p in zip(order.tolist()[:3], heights, strict=False)
        )
        said.append(f"{name}: {most_likely}, impossible words together {tail:.3f}")
    axes[0].set_yticks(range(shown + 1), [vocabulary[i] for i in order] + ["all others"])
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    show(
        figure,
        alt=f"Probabilities of the next word: bars for the model, marks for the true distribution. {'; '.join(said)}.",
    )


def knobs(
    drawn: Mapping[str, Float[np.ndarray, "draws 2"]], from_language: Float[np.ndarray, "draws 2"]
) -> None:  # fmt: skip
    """Fraction of possible sentences and number of different words, for each setting, and distances from the line of temperatures."""
    written = {name: tuple(runs.mean(axis=0)) for name, runs in drawn.items()}
    language = tuple(from_language.mean(axis=0))
    figure, ax = plt.subplots(figsize=(7.2, 4.2))
    temperatures = {name: point for name, point in written.items() if not name.startswith("top")}
    ax.plot(*zip(*temperatures.values(), strict=True), color=GREY, marker="o", label="temperature")
    for kind, colour, marker in (("top-k", ORANGE, "s"), ("top-p", PINK, "D")):
        points = {name: point for name, point in written.items() if name.startswith(kind)}
        ax.plot(
            *zip(*points.values(), strict=True),
            color=colour,
            marker=marker,
            linestyle="none",
            markersize=8,
            label=kind,
        )
    beside = {
        "0.5": (9, 5),
        "0.8": (-24, -11),
        "1": (-22, -14),
        "top-p 0.95": (-46, 9),
        "top-k 10": (-44, -3),
        "top-k 40": (-46, -6),
        "1.3": (-6, 9),
    }
    for name, point in written.items():
        said = name.replace("top-k", "k =").replace("top-p", "p =")
        ax.annotate(said, point, beside.get(name, (9, -4)), textcoords="offset points", fontsize=9)
    ax.plot(*language, "*", color=GREEN, markersize=14, label="true language")
    ax.set(
        xlabel="fraction of possible sentences",
        ylabel="different words in 250 sentences",
        xlim=(0.45, 1.05),
        ylim=(300, None),
    )
    ax.legend(fontsize=9, loc="lower left")
    said = "; ".join(
        f"{'temperature ' if name in temperatures else ''}{name}: {possible:.2f} of the sentences are possible, with {different:.0f} different words"
        for name, (possible, different) in written.items()
    )
    show(
        figure,
        alt=f"Samples of 250 sentences, means over the draws. {said}. True language: all sentences are possible, with {language[1]:.0f} different words.",
    )
    print(
        "number of different words, minus the value on the line that joins the results for different temperatures (four draws of 250 sentences):"
    )
    for name in (name for name in drawn if name.startswith("top")):
        mean, half = mean_and_half(words_above_the_line(drawn, name))
        print(f"{name:<10} {mean:+.0f} ± {half:.0f}")


def per_character(
    rows: Mapping[str, Nats], between: Mapping[str, tuple[float, float, float]], names: tuple[str, str]
) -> None:  # fmt: skip
    """The losses per character of two models: a figure for the first two sets of sentences, and a table of all sets.

    `between` contains the difference and the ends of its interval for each set.
    """
    two_readers(dict(list(rows.items())[:2]), names)
    display(pd.DataFrame({
        called: {
            **{name: f"{nats_per_character(values, column):.2f}" for column, name in enumerate(names)},
            "difference (95 % interval)": "{:+.2f} ({:+.2f} to {:+.2f})".format(*between[called]),
        }
        for called, values in rows.items()
    }).T.rename_axis("nats per character"))  # fmt: skip


def two_readers(rows: Mapping[str, Float[np.ndarray, "sentences 3"]], names: Sequence[str]) -> None:
    """Nats per character of each sentence for two models, one per axis. The rows contain the nats of the first model, the nats of the second, and the characters."""
    figure, ax = plt.subplots(figsize=(5.6, 4.4))
    said = []
    for (called, values), colour, marker in zip(rows.items(), (BLUE, ORANGE), "os", strict=True):
        x, y = values[:, 0] / values[:, 2], values[:, 1] / values[:, 2]
        ax.plot(x, y, marker, color=colour, markersize=4, alpha=0.6, linewidth=0, label=called)
        said.append(f"{called}: {(y < x).mean():.0%} of {len(x)} below the diagonal")
    ends = [0, 1.05 * max((values[:, :2] / values[:, 2:]).max() for values in rows.values())]
    ax.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="equal")
    ax.set(
        xlabel=f"{names[0]}: nats per character",
        ylabel=f"{names[1]}: nats per character",
        xlim=ends,
        ylim=ends,
    )
    ax.legend(fontsize=8, loc="upper left")
    show(
        figure,
        alt=f"Nats per character of each sentence for {names[0]} (across) and {names[1]} (up). Below the diagonal the loss of {names[1]} is lower. "
        f"{'; '.join(said)}.",
    )
