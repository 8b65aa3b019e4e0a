"""Figures of notebook 05. Each takes what the notebook computed, draws it, and says its numbers in words."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.colors import PowerNorm

from coursekit.exam import QUESTIONS, Accuracy
from coursekit.intervals import mean_and_half
from coursekit.pictures import exam
from coursekit.plots import BLUE, GREEN, GREY, HATCHES, ORANGE, PINK, show


def filter_at_work(words: Sequence[str], answers: Float[np.ndarray, "word place"], width: int) -> None:
    """What one filter answers at each place of some words; a box and its number mark the place that speaks for the word."""
    longest = max(*map(len, words), answers.argmax(axis=1).max())
    answers = answers[:, : longest + 2]  # behind these stands nothing but padding
    figure, ax = plt.subplots(figsize=(8.8, 0.48 * len(words) + 1.3))
    image = ax.imshow(
        answers, cmap="PuOr", vmin=-np.abs(answers).max(), vmax=np.abs(answers).max(), aspect="auto"
    )
    said = []
    for row, word in enumerate(words):
        letters = f"<{word}>".ljust(answers.shape[1] + width - 1, "·")
        best = int(answers[row].argmax())
        for place in range(answers.shape[1]):
            colour = "white" if abs(answers[row, place]) > 0.6 * np.abs(answers).max() else "black"
            number = f"\n{answers[row, place]:+.1f}" if place == best else ""
            ax.text(
                place,
                row,
                letters[place : place + width] + number,
                ha="center",
                va="center",
                fontsize=8.5,
                color=colour,
            )
        ax.add_patch(plt.Rectangle((best - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="black", lw=2))
        said.append(f"{word} {answers[row, best]:.2f} at “{letters[best : best + width]}”")
    ax.set_yticks(range(len(words)), words)
    ax.set_xticks([])
    ax.set_xlabel("place of the filter (· is padding)")
    figure.colorbar(image, label="answer")
    show(
        figure,
        alt=f"Answers of one filter of width {width} at every place of {len(words)} words; the largest: {'; '.join(said)}.",
    )


def five_vectors(words: Sequence[str], focal: int, layers: int = 2) -> None:
    """A drawing of the two stacks, with the 2L + 1 vectors of one word marked."""
    figure, ax = plt.subplots(figsize=(9.4, 4.4))
    heights = [0.75 + 0.9 * layer for layer in range(layers + 1)]
    for place, word in enumerate(words):
        mark = place == focal
        ax.text(place, 0.2, word, ha="center", va="center", weight="bold" if mark else "normal")
        _box(ax, place, heights[0], ORANGE if mark else "#f3dfb0")
        for height in heights[1:]:
            _box(ax, place, height + 0.16, BLUE if mark else "#bcd9ea")
            _box(ax, place, height - 0.16, GREEN if mark else "#bfe3d8")
            if place + 1 < len(words):  # a state goes on to the next word of its direction
                for start, end, level, colour in (
                    (place + 0.3, place + 0.7, height + 0.16, BLUE),
                    (place + 0.7, place + 0.3, height - 0.16, GREEN),
                ):
                    ax.annotate(
                        "",
                        (end, level),
                        (start, level),
                        arrowprops={
                            "arrowstyle": "->",
                            "color": colour,
                            "lw": 1.2,
                            "shrinkA": 0,
                            "shrinkB": 0,
                        },
                    )
    ax.text(-0.6, heights[0], "x, from characters", ha="right", va="center", color=GREY)
    for layer, height in enumerate(heights[1:], start=1):
        ax.text(-0.6, height + 0.16, f"forward layer {layer}", ha="right", va="center", color=BLUE)
        ax.text(-0.6, height - 0.16, f"backward layer {layer}", ha="right", va="center", color=GREEN)
    top = heights[-1] + 0.55
    said = f"“{words[focal]}”: its top forward state predicts “{words[focal + 1]}”, its top backward state “{words[focal - 1]}”"
    ax.text(-0.3, top, said, ha="left", color=GREY, fontsize=9)
    ax.set(xlim=(-2.6, len(words) - 0.4), ylim=(-0.1, top + 0.3))
    ax.axis("off")
    show(
        figure,
        alt=f"Drawing of a biLM over {len(words)} words. Each word has one vector from its characters, and one in each of "
        f"{layers} forward and {layers} backward layers: {2 * layers + 1} vectors, marked for {words[focal]}. Forward states go "
        f"on to the right, backward states to the left, and the two stacks are not connected. The top forward state of "
        f"{words[focal]} predicts {words[focal + 1]}, the top backward state predicts {words[focal - 1]}.",
    )


def _box(ax, x: float, y: float, colour: str) -> None:
    ax.add_patch(plt.Rectangle((x - 0.28, y - 0.12), 0.56, 0.24, color=colour, lw=0))


def surprises(tokens: Sequence[str], forward: Sequence[float], backward: Sequence[float]) -> None:
    """What each token costs a reader from the left and a reader from the right; the sums are equal."""
    figure, ax = plt.subplots(figsize=(8.6, 3.3))
    places = np.arange(len(tokens))
    ax.bar(places - 0.2, forward, 0.38, color=BLUE, label=f"from the left: {sum(forward):.2f} nats together")
    ax.bar(
        places + 0.2,
        backward,
        0.38,
        color=GREEN,
        hatch="//",
        edgecolor="white",
        label=f"from the right: {sum(backward):.2f} nats together",
    )
    ax.set_xticks(places, tokens, rotation=20)
    ax.set_ylabel("−log p (nats)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=9)
    costs = "; ".join(
        f"{token} {left:.2f} and {right:.2f}"
        for token, left, right in zip(tokens, forward, backward, strict=True)
    )
    show(
        figure,
        alt=f"What each token costs at best, read from the left and from the right, in nats: {costs}. "
        f"Sums {sum(forward):.2f} and {sum(backward):.2f}.",
    )


def influences(matrices: Mapping[str, Float[np.ndarray, "T T"]], words: Sequence[str]) -> None:
    """Influence of each word (columns) on the output at each word (rows); darkest is the largest of a panel."""
    figure, axes = plt.subplots(1, len(matrices), figsize=(3.5 * len(matrices) + 0.6, 3.9), sharey=True)
    said = []
    for ax, (title, matrix) in zip(np.atleast_1d(axes), matrices.items(), strict=True):
        # small influences should be seen
        image = ax.imshow(matrix / matrix.max(), cmap="Blues", norm=PowerNorm(0.5, vmin=0, vmax=1))
        right = share_right(matrix)
        ax.set_title(f"{title}\n{right:.1%} from the right", fontsize=10)
        ax.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.set_xlabel("input at")
        said.append(
            f"{title}: {right:.1%} of the influence comes from the right of the word, {share_right(matrix.T):.1%} from its left"
        )
    np.atleast_1d(axes)[0].set_ylabel("output at")
    figure.colorbar(image, ax=axes, label="influence (largest = 1)", ticks=[0, 0.1, 0.5, 1])
    show(figure, alt=f"Influence of every input word on every output, {len(words)} words. {'; '.join(said)}.")


def share_right(matrix: Float[np.ndarray, "T T"]) -> float:
    """Which share of all influence comes from words to the right of the output."""
    return float(np.triu(matrix, 1).sum() / matrix.sum())


def training(curves: Mapping[str, Sequence[float]], bound: float) -> None:
    """Training losses over steps, smoothed over 15 of them, with the exact bound."""
    figure, ax = plt.subplots(figsize=(7.8, 3.9))
    for (name, values), colour in zip(curves.items(), (BLUE, GREEN, ORANGE), strict=False):
        smooth = np.convolve(values, np.ones(15) / 15, mode="valid")
        ax.plot(np.arange(len(smooth)) + 7, smooth, color=colour, label=name)
    ax.axhline(bound, color=GREY, linestyle=":", label=f"best possible for an honest model: {bound:.2f}")
    ax.set(xlabel="step", ylabel="nats per token", ylim=(0, None))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    losses = "; ".join(
        f"{name} from {values[0]:.2f} to {np.mean(values[-30:]):.2f} in {len(values)} steps"
        for name, values in curves.items()
    )
    show(figure, alt=f"Loss against steps, in nats per token: {losses}. The best possible is {bound:.2f}.")


def similarities(pairs: Mapping[str, tuple[str, Sequence[float]]]) -> None:
    """Cosine of a pair of words at every layer. Each line: what kind of pair it is, and its cosines."""
    figure, ax = plt.subplots(figsize=(7.8, 3.7))
    styles = {
        "other sense": (ORANGE, "o", "-"),
        "same sense": (BLUE, "s", "-"),
        "other word": (GREY, "^", "--"),
    }
    for name, (kind, values) in pairs.items():
        colour, marker, line = styles[kind]
        ax.plot(range(len(values)), values, color=colour, marker=marker, linestyle=line)
        end = (len(values) - 1, values[-1])
        ax.annotate(name, end, (9, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set(xlabel="layer", ylabel="cosine")
    ax.set_xticks(range(len(values)))
    cosines_said = "; ".join(
        f"{name} {', '.join(f'{value:.2f}' for value in values)}" for name, (_, values) in pairs.items()
    )
    show(figure, alt=f"Cosine of pairs of word vectors at layers 0 to {len(values) - 1}: {cosines_said}.")


def layer_weights(weights: Mapping[str, Float[np.ndarray, "seed layer"]]) -> None:
    """Learned weight of every layer for each task: a dot for each seed, a bar for the mean, its 95 % interval."""
    figure, ax = plt.subplots(figsize=(7.8, 3.9))
    layers = next(iter(weights.values())).shape[1]
    width, said = 0.8 / len(weights), []
    for number, ((task, values), colour) in enumerate(
        zip(weights.items(), (BLUE, ORANGE, GREEN, PINK), strict=False)
    ):
        mean, half = mean_and_half(values)
        hatch = HATCHES[number]
        places = np.arange(layers) + (number - (len(weights) - 1) / 2) * width
        ax.bar(
            places, mean, 0.9 * width, color=colour, alpha=0.55, hatch=hatch, edgecolor="white", label=task
        )
        ax.errorbar(places, mean, half, fmt="none", ecolor="black", capsize=3)
        for row in values:
            ax.plot(places, row, ".", color="black", markersize=4, alpha=0.6)
        said.append(f"{task} " + ", ".join(f"{m:.2f} ± {h:.2f}" for m, h in zip(mean, half, strict=True)))
    ax.axhline(1 / layers, color=GREY, linestyle=":", label=f"all alike: {1 / layers:.2f}")
    ax.set_xticks(range(layers), ["layer 0\n(characters)", *(f"layer {layer}" for layer in range(1, layers))])
    ax.set_ylabel("learned weight")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    seeds = len(next(iter(weights.values())))
    show(
        figure,
        alt=f"Learned weights of layers 0 to {layers - 1}, mean of {seeds} seeds with 95 % interval: {'; '.join(said)}.",
    )


def halves(recorded: pd.DataFrame, after: Mapping[str, float]) -> None:
    """What each half of the top layer knows of senses, over seeds, and both side by side for several readers.

    `recorded` has a row for each seed, biLM, half and reader; `after` is the best possible from the words after.
    """
    bound = {kind: exam.Share(share, share, share) for kind, share in after.items()}
    readers = [exam.Reader("best possible from\nthe words after", bound, GREEN)]
    more = next(reader for reader in recorded.reader.unique() if reader.endswith("labelled"))
    for biLM, half, reader, name, colour in (
        ("trained", "forward half", "nearest neighbour", "forward half", BLUE),
        ("trained", "backward half", "nearest neighbour", "backward half", BLUE),
        ("trained", "side by side", "nearest neighbour", "side by side", BLUE),
        ("trained", "side by side", more, f"side by side\n{more}", BLUE),
        ("trained", "side by side", "linear classifier", "side by side\nlinear classifier", PINK),
        ("untrained", "side by side", "nearest neighbour", "untrained\nside by side", GREY),
        ("untrained", "side by side", more, f"untrained, side by side\n{more}", GREY),
    ):
        rows = recorded[(recorded[["biLM", "half", "reader"]] == [biLM, half, reader]).all(axis=1)]
        runs = [Accuracy(*shares) for shares in rows[list(QUESTIONS)].to_numpy().tolist()]
        shares = exam.over_seeds(runs) if len(runs) > 1 else exam.of_answers(runs[0])
        readers.append(exam.Reader(name, shares, colour))
    show(*exam.rows(readers))


def english_layers(
    shares: Mapping[str, Mapping[str, tuple[float, float, float]]],
    guesses: Mapping[str, float],
    generated: Mapping[str, tuple[str, Mapping[str, tuple[float, float]]]],
) -> None:
    """What each reader tells right of real English: a panel for each question, a dot for each reader with its interval.

    `shares` has a mean with both ends of its interval; `generated` has, for some questions, the task of the generated
    language that is nearest, and its mean and half width.
    """
    readers = list(next(iter(shares.values())))
    colours = {reader: BLUE for reader in readers} | {"untrained, layer 2": GREY}
    colours |= dict.fromkeys(("bag of words", "two words on either side"), ORANGE)
    figure, axes = plt.subplots(-(-len(shares) // 2), 2, figsize=(8.8, 6.6), sharex=True, sharey=True)
    said, places = [], np.arange(len(readers))[::-1]
    for ax, (question, of_reader) in zip(axes.flat, shares.items(), strict=True):
        task, of_language = generated.get(question, ("", {}))
        for place, (reader, (mean, low, high)) in zip(places, of_reader.items(), strict=True):
            ax.errorbar(
                mean,
                place,
                xerr=[[mean - low], [high - mean]],
                fmt="o",
                color=colours[reader],
                capsize=3,
                markersize=5,
            )
            label = ax.annotate(
                f"{mean:.2f}", (mean, place), (0, 6), textcoords="offset points", ha="center", fontsize=8
            )
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
            if reader in of_language:
                ax.plot(
                    of_language[reader][0], place - 0.25, "D", color=GREEN, fillstyle="none", markersize=5
                )
        ax.axvline(guesses[question], color=GREY, linestyle=":")
        ax.set(xlim=(0.36, 1.04), ylim=(-0.6, len(readers) - 0.3))
        ax.set_title(question, fontsize=10)
        ax.set_yticks(places, readers)
        numbers = ", ".join(
            f"{reader} {mean:.2f} ({low:.2f} to {high:.2f})"
            for reader, (mean, low, high) in of_reader.items()
        )
        beside = ", ".join(f"{reader} {mean:.2f}" for reader, (mean, _) in of_language.items())
        said.append(
            f"{question}: guess {guesses[question]:.2f}, {numbers}"
            + (f"; generated language, {task}: {beside}" if beside else "")
        )
    for ax in axes[-1]:
        ax.set_xlabel("share told right")
    figure.legend(
        handles=[
            plt.Line2D([], [], color=GREY, linestyle=":", label="a guess"),
            plt.Line2D(
                [],
                [],
                color=GREEN,
                marker="D",
                fillstyle="none",
                linestyle="",
                label="generated language: "
                + " and ".join(task for task, _ in generated.values())
                + ", linear classifier",
            ),
        ],
        loc="outside lower center",
        ncols=2,
        fontsize=9,
    )
    show(
        figure,
        alt=f"Share told right at each layer, 95 % intervals over words. {'. '.join(said)}.",
    )
