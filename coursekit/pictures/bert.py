"""Figures of notebook 06. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from coursekit.intervals import mean_and_half
from coursekit.language import Language
from coursekit.plots import BLUE, FAINT, GREEN, GREY, ORANGE, PINK, SKY, show
from coursekit.sliders import interact
from coursekit.small import BERT
from coursekit.small.both_sides import RightContext, distributions_at
from coursekit.small.masked import Corruption

READERS = (ORANGE, BLUE, PINK)
"""Colours: given the words before, given both sides, the model."""


def input_row(tokens: Sequence[str], segments: Int[Tensor, " T"], keep: Bool[Tensor, " T"]) -> None:
    """A sequence as BERT's input: token, segment and position of each column; padding is pale."""
    figure, ax = plt.subplots(figsize=(10, 2.2))
    for t, (token, segment, real) in enumerate(zip(tokens, segments.tolist(), keep.tolist(), strict=True)):
        colour = (ORANGE if segment else BLUE) if real else GREY
        for height, text in ((2, token), (1, str(segment)), (0, str(t))):
            ax.add_patch(
                plt.Rectangle(
                    (t - 0.46, height - 0.4),
                    0.92,
                    0.8,
                    color=colour,
                    alpha=0.25 if real else 0.1,
                    linewidth=0,
                )
            )
            ax.text(t, height, text, ha="center", va="center", fontsize=7.5 if height == 2 else 9,
                    color="black" if real else FAINT)  # fmt: skip
    ax.set(xlim=(-0.6, len(tokens) - 0.4), ylim=(-0.5, 2.5))
    ax.set_yticks([2, 1, 0], ["token", "segment", "position"])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    real = int(keep.sum())
    show(figure, alt=(
        f"A sequence of {len(tokens)} tokens: {' '.join(tokens[:real])}, then {len(tokens) - real} tokens of padding. "
        f"{int(segments.sum())} tokens have segment id 1, the others have 0; the positions are 0 to {len(tokens) - 1}."
    ))  # fmt: skip


def next_to_hugging_face(
    tokenizer: PreTrainedTokenizerBase,
    texts: tuple[str, str],
    encoded: tuple[Int[Tensor, " T"], Int[Tensor, " T"], Bool[Tensor, " T"]],
) -> bool:
    """Draw an encoded pair (ids, segments, keep); print and return whether it equals the tokeniser's own output."""
    ids, segments, keep = encoded
    theirs = tokenizer(*texts, padding="max_length", max_length=len(ids))
    names = "input_ids", "token_type_ids", "attention_mask"
    same = all(ours.tolist() == theirs[name] for ours, name in zip(encoded, names, strict=True))
    print("ids, segments and mask are equal to Hugging Face's:", same)
    input_row(tokenizer.convert_ids_to_tokens(ids.tolist()), segments, keep)
    return same


def corruption(found: Corruption) -> None:
    """Measured and intended proportions, with the band that contains 95 % of binomial samples."""
    special, special_chosen = found.special
    print(f"special tokens chosen: {special_chosen} of {special:,}")
    shares = found.shares
    figure, axes = plt.subplots(1, len(shares), figsize=(10, 2.9))
    words = []
    for ax, (name, (found, among, intended)) in zip(axes, shares.items(), strict=True):
        n = int(among.sum())
        measured = int((found & among).sum()) / n
        band = 1.96 * (intended * (1 - intended) / n) ** 0.5
        ax.axhspan(100 * (intended - band), 100 * (intended + band), color=SKY, alpha=0.35, linewidth=0)
        ax.axhline(100 * intended, color=BLUE, linewidth=1)
        ax.plot([0], [100 * measured], "o", color="black")
        ax.annotate(
            f"{measured:.2%}",
            (0, 100 * measured),
            (7, 8),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
        ax.set(xlim=(-0.5, 1), ylim=(100 * (intended - 2.6 * band), 100 * (intended + 2.6 * band)))
        ax.set_xticks([])
        ax.set_title("\n".join(wrap(name, 22)), fontsize=10)
        ax.tick_params(axis="y", labelsize=8)
        words.append(f"{name}: {measured:.2%} of {n:,} (band {intended - band:.2%} to {intended + band:.2%})")
    axes[0].set_ylabel("proportion (%)")
    show(figure, alt=f"Measured proportions as dots, with 95 % binomial bands. {'; '.join(words)}.")


def hidden_words_learned(points: Float[np.ndarray, "points 2"], bound: float) -> None:
    """Loss on held-out masked words over the training steps, with the entropy."""
    figure, ax = plt.subplots(figsize=(6, 3.2))
    steps, nats = points.T
    ax.plot(steps, nats, color=BLUE, marker="o", markersize=3)
    ax.axhline(bound, color=GREEN, linestyle=":", linewidth=2)
    ax.annotate(
        f"entropy {bound:.2f}", (steps[-1], bound), (0, -3), textcoords="offset points", fontsize=9, va="top", ha="right",
        color=GREEN,
    )  # fmt: skip
    ax.set(xlabel="step", ylabel="nats per masked word", ylim=(0, None))
    show(figure, alt=(
        f"The held-out loss on masked words falls from {nats[0]:.2f} nats before training to {nats[-1]:.2f} after {steps[-1]:.0f} steps. "
        f"The entropy is {bound:.2f}."
    ))  # fmt: skip


def two_losses(
    runs: Mapping[str, Float[np.ndarray, "points 4"]],
    bounds: tuple[float, float],
    answers: Float[Tensor, "pairs 2"],
    not_next: Int[Tensor, " pairs"],
) -> None:
    """Training with the correct loss and with that of 2018: the courses of both runs, and where they end.

    `bounds` are the entropies of a masked word and of a pair; `answers` are the logits for held-out pairs of the model trained
    with the loss of 2018, `not_next` the labels.
    """
    live_run(runs, bounds)
    correct, of_2018 = (points[-1] for points in runs.values())
    says_not = (answers.argmax(dim=1) == 1).float().mean().item()
    display(Markdown(
        f"The accuracy on held-out pairs is **{correct[3]:.1%}** with your loss and **{of_2018[3]:.1%}** with "
        f"the loss of 2018. The model trained with the loss of 2018 predicts \"does not continue\" for **{says_not:.0%}** of "
        f"the pairs, and its NSP loss is {loss_of_2018(answers, not_next):.4f} nats. "
        f"In {not_next.float().mean().item():.1%} of the pairs, b does not continue a. The loss per masked word is {correct[1]:.2f} nats "
        f"with your loss and {of_2018[1]:.2f} nats with the loss of 2018; the entropy is {bounds[0]:.2f} nats."
    ))  # fmt: skip


def loss_of_2018(answers: Float[Tensor, "pairs 2"], not_next: Int[Tensor, " pairs"]) -> float:
    """The next-sentence part of the loss of 2018, which ignores pairs with label 0."""
    return nn.functional.cross_entropy(answers, not_next, ignore_index=0).item()


def live_run(runs: Mapping[str, Float[np.ndarray, "points 4"]], bounds: tuple[float, float]) -> None:
    """Both losses on held-out pairs over the training steps, with their entropies, and the accuracy on the second task."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5))
    steps = max(points[-1, 0] for points in runs.values())
    titles = ("masked words (nats per word)", "next sentence (nats per pair)", "next sentence (accuracy)")
    lines = ((bounds[0], "entropy"), (bounds[1], "entropy"), (0.5, "chance level"))
    for number, (ax, title, (line, label)) in enumerate(zip(axes, titles, lines, strict=True), start=1):
        for (name, points), colour, style in zip(runs.items(), (BLUE, ORANGE), ("-", "--"), strict=True):
            ax.plot(
                points[:, 0], points[:, number], style, color=colour, marker="o", markersize=3, label=name
            )
        ax.axhline(line, color=GREEN if number < 3 else GREY, linestyle=":", linewidth=2)
        ax.annotate(
            f"{label} {line:.2f}", (steps, line), (0, -3), textcoords="offset points", fontsize=8, va="top", ha="right",
            color=GREEN if number < 3 else GREY,
        )  # fmt: skip
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("step")
    axes[0].set_ylim(0, None)
    axes[1].set_ylim(0, min(3.0, 1.05 * max(points[:, 2].max() for points in runs.values())))
    axes[2].set_ylim(0.3, 1.0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    losses = "; ".join(
        f"{name}: masked words from {points[0, 1]:.2f} to {points[-1, 1]:.2f} nats, next sentence from {points[0, 2]:.2f} to "
        f"{points[-1, 2]:.2f} nats, accuracy {points[-1, 3]:.1%} after {points[-1, 0]:.0f} steps"
        for name, points in runs.items()
    )
    show(figure, alt=(
        f"Held-out losses. {losses}. Entropies: {bounds[0]:.2f} nats per masked word, "
        f"{bounds[1]:.2f} nats per pair."
    ))  # fmt: skip


def hidden_words(
    panels: Mapping[tuple[str, int], Mapping[str, Float[np.ndarray, " V"]]],
    vocabulary: Sequence[str],
    shown: int = 9,
    least: float = 0.01,
) -> None:
    """Distributions of a masked word given the left side, given both sides, and according to the model; a panel for each sentence.

    Words are shown, at most `shown` of them, if one of the three distributions gives them at least `least`.
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(1.6 + 2.8 * len(panels), 4.2), squeeze=False)
    said = []
    for ax, ((sentence, place), distributions) in zip(axes[0], panels.items(), strict=True):
        left, both, model = distributions.values()
        order = np.argsort(-(both + 1e-2 * left + 1e-4 * model))[:shown]
        order = order[np.max([left, both, model], axis=0)[order] >= least]
        rows = np.arange(len(order))
        for offset, (colour, (name, values)) in enumerate(zip(READERS, distributions.items(), strict=True)):
            ax.barh(rows + 0.28 * (offset - 1), values[order], 0.26, color=colour, label=name,
                    hatch=("", "////", "....")[offset], edgecolor="white", linewidth=0)  # fmt: skip
        ax.set_yticks(rows, [vocabulary[i] for i in order], fontsize=9)
        ax.invert_yaxis()
        words = sentence.split()
        words[place - 1] = "[…]"
        half = len(words) // 2 + 1
        ax.set_title(f"{' '.join(words[:half])}\n{' '.join(words[half:])}", fontsize=10)
        ax.set_xlabel("probability")
        rest = 1 - float(model[both > 1e-9].sum())
        top = [(vocabulary[i], both[i], model[i]) for i in order[:3]]
        said.append(
            f"{' '.join(words)}: " + ", ".join(f"{word} exact {p:.2f}, model {q:.2f}" for word, p, q in top)
            + f", {rest:.2f} of the model's probability on impossible words"
        )  # fmt: skip
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=min(3, len(panels)),
        fontsize=9,
    )
    show(figure, alt=f"Distributions of a masked word. {'; '.join(said)}.")


def choose_hidden_word(language: Language, bert: BERT, sentences: Sequence[str]) -> None:
    """A menu of sentences and a slider of positions above the three distributions of the masked word."""
    import ipywidgets  # start-up: grading does not need it

    def draw(sentence: str, place: int) -> None:
        place = min(place, len(sentence.split()))
        panel = {(sentence, place): distributions_at(language, bert, sentence, place)}
        hidden_words(panel, language.vocabulary)

    interact(draw, sentence=list(sentences), place=ipywidgets.IntSlider(5, min=1, max=9))


def right_context(right: RightContext) -> None:
    """Mean loss with its 95 % interval over words, given the left side and given both sides, and what the right side is worth."""
    nats = right.nats
    figure, ax = plt.subplots(figsize=(7.5, 2.9))
    said = []
    for place, (name, losses) in enumerate(nats.items()):
        mean, half = mean_and_half(losses)
        exact = name.startswith("exact")
        colour = ORANGE if name.endswith("left") else BLUE
        _bar(ax, place, mean, half, f"{mean:.2f}", color=colour, alpha=1.0 if exact else 0.55)
        said.append(f"{name} {mean:.2f} ± {half:.2f}")
    names = {"exact, left": "entropy, words before", "exact, both": "entropy, both sides",
             "GPT, left": "small GPT, words before", "BERT, both": "small BERT, both sides"}  # fmt: skip
    ax.set_yticks(range(len(nats)), [names[name] for name in nats])
    ax.invert_yaxis()
    ax.set_xlabel("nats per word")
    show(figure, alt=f"Mean loss of a held-out word in nats, with 95 % intervals: {'; '.join(said)}.")
    display(Markdown(
        f"The right-hand context is worth **{right.worth.mean():.2f} nats** per word (exact); the losses of the two trained models "
        f"differ by **{right.measured:.2f}** nats. The right-hand context is worth {right.worth_before(0):.2f} nats at the last word of a "
        f"sentence and {right.worth_before(6):.2f} nats at words that are followed by six others."
    ))  # fmt: skip


def english_gaps(readers: Mapping[str, Mapping[str, Float[np.ndarray, " gaps"]]]) -> None:
    """Each model's mean loss on a masked word by the visible context, with 95 % intervals over sentences."""
    labels = {
        "nothing": "only [MASK]",
        "left": "left side, right removed",
        "left, rest hidden": "left side, right masked",
        "right": "right side, left removed",
        "right, rest hidden": "right side, left masked",
        "both": "both sides",
    }
    colours = {"nothing": GREY, "left": ORANGE, "right": SKY, "both": BLUE}
    figure, axes = plt.subplots(1, len(readers), figsize=(8.5, 3.0), sharex=True, sharey=True, squeeze=False)
    said = []
    for ax, (name, nats) in zip(axes[0], readers.items(), strict=True):
        for place, reads in enumerate(labels):
            mean, half = mean_and_half(nats[reads])
            _bar(ax, place, mean, half, f"{mean:.1f}", color=colours[reads.split(",")[0]])
            said.append(f"{name}, {labels[reads]} {mean:.1f} ± {half:.1f}")
        ax.set_title(name)
        ax.set_xlabel("nats per masked word")
        ax.margins(x=0.12)
    axes[0, 0].set_yticks(range(len(labels)), list(labels.values()))
    axes[0, 0].invert_yaxis()
    show(
        figure,
        alt=f"Mean loss on a masked word in an English sentence, by visible context: {'; '.join(said)}.",
    )


def losses_of_training(curves: Mapping[str, pd.DataFrame]) -> None:
    """The loss on held-out authors (`validation`, in nats; empty where it was not measured) over the steps (`step`): a line per run."""
    figure, ax = plt.subplots(figsize=(7.5, 3.2))
    said = []
    for (name, curve), colour, style in zip(
        curves.items(), (BLUE, SKY, ORANGE), ("-", "--", "-."), strict=False
    ):
        asked = curve.dropna()
        ax.plot(asked.step, asked.validation, style, color=colour, label=name)
        places = asked.iloc[np.linspace(0, len(asked) - 1, 6).astype(int)]
        said.append(
            f"{name} {', '.join(f'{nats:.1f} after {step:,}' for step, nats in zip(places.step, places.validation, strict=True))}"
        )
    ax.set(xlabel="training step", ylabel="nats per predicted token")
    ax.legend()
    show(figure, alt=f"Loss on held-out authors over the training steps: {'; '.join(said)}.")


def _bar(ax: plt.Axes, place: float, mean: float, half: float, text: str, **look: Any) -> None:
    """A horizontal bar with its interval, and a text after it."""
    ax.barh(place, mean, xerr=half, height=0.7, error_kw={"linewidth": 1.2}, **look)
    ax.annotate(text, (mean + half, place), (5, 0), textcoords="offset points", va="center", fontsize=9)


def cell_by_layer(same: Float[Tensor, "layers pairs"], other: Float[Tensor, "layers pairs"]) -> None:
    """Cosines between the vectors of a word in two sentences, per layer, for pairs with one sense and pairs with two senses. Lines are means."""
    figure, ax = plt.subplots(figsize=(7.5, 3.2))
    said = []
    for cosines, colour, marker, shift, name in (
        (same.numpy(), BLUE, "o", -0.08, "one sense"), (other.numpy(), ORANGE, "s", 0.08, "two senses"),
    ):  # fmt: skip
        layers = np.arange(len(cosines))
        ax.scatter(
            np.repeat(layers + shift, cosines.shape[1]),
            cosines,
            s=9,
            color=colour,
            marker=marker,
            alpha=0.35,
            linewidth=0,
        )
        ax.plot(
            layers,
            cosines.mean(axis=1),
            color=colour,
            marker=marker,
            label=f"{name}, {cosines.shape[1]} pairs",
        )
        said.append(f"{name}: " + ", ".join(f"{mean:.2f}" for mean in cosines.mean(axis=1)))
    ax.set(xlabel="layer", ylabel="cosine")
    ax.legend(fontsize=8)
    show(
        figure,
        alt=f"Mean cosine of the vectors of cell in two sentences, from layer 0 to the last. {'; '.join(said)}.",
    )
