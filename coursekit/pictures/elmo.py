"""Figures of notebook 05. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Float
from matplotlib.colors import PowerNorm
from torch import Tensor

from coursekit.characters import PluralFilter, responses
from coursekit.exam import QUESTIONS, Accuracy, Exam, surest_sense
from coursekit.intervals import mean_and_half
from coursekit.language import Language
from coursekit.pictures import exam
from coursekit.plots import BLUE, GREEN, GREY, HATCHES, ORANGE, PINK, show, write_in_cells
from coursekit.small.elmo import ELMo


def filter_at_work(model: ELMo, one: PluralFilter, words: Sequence[str]) -> None:
    """The responses of one filter at each position of some words; a box marks the largest, which is kept."""
    answers, (width, _) = responses(model, one, words).numpy(), model.config.filters[one.group]
    longest = max(*map(len, words), answers.argmax(axis=1).max())
    answers = answers[:, : longest + 2]  # the rest is padding
    figure, ax = plt.subplots(figsize=(8.8, 0.48 * len(words) + 1.3))
    image = ax.imshow(
        answers, cmap="PuOr", vmin=-np.abs(answers).max(), vmax=np.abs(answers).max(), aspect="auto"
    )
    texts, said = [], []
    for row, word in enumerate(words):
        letters = f"<{word}>".ljust(answers.shape[1] + width - 1, "·")
        best = int(answers[row].argmax())
        texts.append([letters[place : place + width] for place in range(answers.shape[1])])
        texts[row][best] += f"\n{answers[row, best]:+.1f}"
        ax.add_patch(plt.Rectangle((best - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="black", lw=2))
        said.append(f"{word} {answers[row, best]:.2f} at “{letters[best : best + width]}”")
    write_in_cells(image, np.array(texts), fontsize=8.5)
    ax.set_yticks(range(len(words)), words)
    ax.set_xticks([])
    ax.set_xlabel("position of the filter (· is padding)")
    figure.colorbar(image, label="response")
    show(
        figure,
        alt=f"Responses of one filter of width {width} at every position of {len(words)} words. Largest responses: {'; '.join(said)}.",
    )


def five_vectors(words: Sequence[str], focal: int, layers: int = 2) -> None:
    """A drawing of the two stacks, with the 2L + 1 vectors of one word highlighted."""
    figure, ax = plt.subplots(figsize=(9.4, 4.4))
    heights = [0.75 + 0.9 * layer for layer in range(layers + 1)]
    for place, word in enumerate(words):
        mark = place == focal
        ax.text(place, 0.2, word, ha="center", va="center", weight="bold" if mark else "normal")
        _box(ax, place, heights[0], ORANGE if mark else "#f3dfb0")
        for height in heights[1:]:
            _box(ax, place, height + 0.16, BLUE if mark else "#bcd9ea")
            _box(ax, place, height - 0.16, GREEN if mark else "#bfe3d8")
            if place + 1 < len(words):  # a state is passed on to the next word in its direction
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
        alt=f"Drawing of a biLM over {len(words)} words. Each word has one vector from its characters and one in each of "
        f"{layers} forward and {layers} backward layers: {2 * layers + 1} vectors, highlighted for {words[focal]}. Forward states "
        f"are passed on to the right, backward states to the left, and the two stacks are not connected. The top forward state of "
        f"{words[focal]} predicts {words[focal + 1]}, the top backward state predicts {words[focal - 1]}.",
    )


def _box(ax, x: float, y: float, colour: str) -> None:
    ax.add_patch(plt.Rectangle((x - 0.28, y - 0.12), 0.56, 0.24, color=colour, lw=0))


def surprises(language: Language, words: Sequence[str], gap: float) -> None:
    """The loss of each token of a sentence for the best possible forward and backward models; the sums are equal.

    `gap` is the largest difference between the two sums over a thousand sentences, in nats.
    """
    encoded = language.encode(" ".join(words), pad=False)[None]
    tokens = [language.vocabulary[i] for i in encoded[0]]
    forward = language.log_loss_next(encoded)[0].tolist()
    backward = language.log_loss_previous(encoded)[0].tolist()
    figure, ax = plt.subplots(figsize=(8.6, 3.3))
    places = np.arange(len(tokens))
    ax.bar(places - 0.2, forward, 0.38, color=BLUE, label=f"left to right: {sum(forward):.2f} nats in total")
    ax.bar(
        places + 0.2,
        backward,
        0.38,
        color=GREEN,
        hatch="//",
        edgecolor="white",
        label=f"right to left: {sum(backward):.2f} nats in total",
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
        alt=f"Lowest possible loss of each token from left to right and from right to left, in nats: {costs}. "
        f"The sums are {sum(forward):.2f} and {sum(backward):.2f}.",
    )
    display(
        Markdown(
            f"For each of 1,000 sentences, the losses of the two best possible models differ by at most **{gap:.0e}** nats."
        )
    )


def influences(matrices: Mapping[str, Float[Tensor, "T T"]], words: Sequence[str]) -> None:
    """Influence of each word (columns) on the output at each word (rows); the largest of a panel is darkest."""
    matrices = {title: matrix.numpy() for title, matrix in matrices.items()}
    figure, axes = plt.subplots(1, len(matrices), figsize=(3.5 * len(matrices) + 0.6, 3.9), sharey=True)
    said = []
    for ax, (title, matrix) in zip(np.atleast_1d(axes), matrices.items(), strict=True):
        # so that small influences are visible
        image = ax.imshow(matrix / matrix.max(), cmap="Blues", norm=PowerNorm(0.5, vmin=0, vmax=1))
        right = share_right(matrix)
        ax.set_title(f"{title}\n{right:.1%} from the right", fontsize=10)
        ax.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.set_xlabel("input at")
        said.append(
            f"{title}: {right:.1%} of the influence comes from words on the right, {share_right(matrix.T):.1%} from words on the left"
        )
    np.atleast_1d(axes)[0].set_ylabel("output at")
    figure.colorbar(image, ax=axes, label="influence (largest = 1)", ticks=[0, 0.1, 0.5, 1])
    show(figure, alt=f"Influence of every input word on every output, {len(words)} words. {'; '.join(said)}.")


def share_right(matrix: Float[np.ndarray, "T T"] | Float[Tensor, "T T"]) -> float:
    """The fraction of all influence that comes from words to the right of the output."""
    matrix = np.asarray(matrix)
    return float(np.triu(matrix, 1).sum() / matrix.sum())


def training(curves: Mapping[str, Sequence[float]], bound: float) -> None:
    """Training losses over steps, smoothed over 15 steps, with the entropy."""
    figure, ax = plt.subplots(figsize=(7.8, 3.9))
    for (name, values), colour in zip(curves.items(), (BLUE, GREEN, ORANGE), strict=False):
        smooth = np.convolve(values, np.ones(15) / 15, mode="valid")
        ax.plot(np.arange(len(smooth)) + 7, smooth, color=colour, label=name)
    ax.axhline(bound, color=GREY, linestyle=":", label=f"best possible without a leak (entropy): {bound:.2f}")
    ax.set(xlabel="step", ylabel="nats per token", ylim=(0, None))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    losses = "; ".join(
        f"{name} from {values[0]:.2f} to {np.mean(values[-30:]):.2f} in {len(values)} steps"
        for name, values in curves.items()
    )
    show(figure, alt=f"Loss against steps, in nats per token: {losses}. The entropy is {bound:.2f}.")


def similarities(
    vector: Float[Tensor, "layer E"], pairs: Mapping[str, tuple[str, Float[Tensor, "layer E"]]]
) -> None:
    """The cosine of a word's vector and of others at every layer. Each pair has a name, a kind and the vector of the other word."""
    cosines = {
        name: (kind, torch.cosine_similarity(vector, other).tolist()) for name, (kind, other) in pairs.items()
    }
    figure, ax = plt.subplots(figsize=(7.8, 3.7))
    styles = {
        "other sense": (ORANGE, "o", "-"),
        "same sense": (BLUE, "s", "-"),
        "other word": (GREY, "^", "--"),
    }
    for name, (kind, values) in cosines.items():
        colour, marker, line = styles[kind]
        ax.plot(range(len(values)), values, color=colour, marker=marker, linestyle=line)
        end = (len(values) - 1, values[-1])
        ax.annotate(name, end, (9, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set(xlabel="layer", ylabel="cosine")
    ax.set_xticks(range(len(values)))
    cosines_said = "; ".join(
        f"{name} {', '.join(f'{value:.2f}' for value in values)}" for name, (_, values) in cosines.items()
    )
    show(figure, alt=f"Cosine of pairs of word vectors at layers 0 to {len(values) - 1}: {cosines_said}.")


def layer_weights(weights: Mapping[str, Float[np.ndarray, "seed layer"]]) -> None:
    """The learned weight of every layer for each task: a dot for each seed, a bar for the mean with its 95 % interval."""
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
    ax.axhline(1 / layers, color=GREY, linestyle=":", label=f"uniform: {1 / layers:.2f}")
    ax.set_xticks(range(layers), ["layer 0\n(characters)", *(f"layer {layer}" for layer in range(1, layers))])
    ax.set_ylabel("learned weight")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    seeds = len(next(iter(weights.values())))
    show(
        figure,
        alt=f"Learned weights of layers 0 to {layers - 1}, mean over {seeds} seeds with 95 % interval: {'; '.join(said)}.",
    )


def halves(recorded: pd.DataFrame, questions: Exam) -> None:
    """Sense accuracy of each half of the top layer, over seeds, and of both halves for several classifiers.

    `recorded` has a row for each seed, biLM, half and classifier. The first row is the best possible from the words after.
    """
    surest = surest_sense(questions, "right")
    after = {kind: surest[questions.held_out.cue == kind].mean() for kind in QUESTIONS}
    bound = {kind: exam.Share(share, share, share) for kind, share in after.items()}
    readers = [exam.Reader("best possible accuracy\nfrom the words after", bound, GREEN)]
    more = next(reader for reader in recorded.reader.unique() if reader.endswith("labelled"))
    for biLM, half, reader, name, colour in (
        ("trained", "forward half", "nearest neighbour", "forward half", BLUE),
        ("trained", "backward half", "nearest neighbour", "backward half", BLUE),
        ("trained", "both halves", "nearest neighbour", "both halves", BLUE),
        ("trained", "both halves", more, f"both halves\n{more}", BLUE),
        ("trained", "both halves", "linear classifier", "both halves\nlinear classifier", PINK),
        ("untrained", "both halves", "nearest neighbour", "untrained\nboth halves", GREY),
        ("untrained", "both halves", more, f"untrained, both halves\n{more}", GREY),
    ):
        rows = recorded[(recorded[["biLM", "half", "reader"]] == [biLM, half, reader]).all(axis=1)]
        runs = [Accuracy(*shares) for shares in rows[list(QUESTIONS)].to_numpy().tolist()]
        shares = exam.over_seeds(runs) if len(runs) > 1 else exam.of_answers(runs[0])
        readers.append(exam.Reader(name, shares, colour))
    show(*exam.rows(readers))
