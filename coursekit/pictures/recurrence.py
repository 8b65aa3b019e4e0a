"""Figures of notebook 04. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coursekit.costs import Costs
from coursekit.intervals import mean_and_half
from coursekit.language import PAD, Language
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, show
from coursekit.translator import Code, Pairs

COLOURS = (ORANGE, PINK, BLUE, GREEN)
PLAIN, READS, WRITES, HOLDS = "#f2f2f2", "#d9e9f4", "#fbe7c6", "#d5efe6"
"""Fill colours of the drawings: neutral, encoder, decoder, and information passed from encoder to decoder."""


# --- drawings ---


def canvas(width: float, height: float) -> tuple[plt.Figure, plt.Axes]:
    """An empty drawing; one unit is the height of a row of boxes."""
    figure, ax = plt.subplots(figsize=(0.75 * width, 0.75 * height))
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    ax.axis("off")
    return figure, ax


def box(
    ax: plt.Axes, x: float, y: float, text: str, fill: str = PLAIN, width: float = 1.3, height: float = 0.7
) -> None:
    """A labelled box centred at (x, y)."""
    ax.add_patch(plt.Rectangle((x - width / 2, y - height / 2), width, height, facecolor=fill, edgecolor="black", linewidth=1))  # fmt: skip
    ax.text(x, y, text, ha="center", va="center", fontsize=9)


def arrow(ax: plt.Axes, *points: tuple[float, float], colour: str = "black", width: float = 1.2) -> None:
    """A line through these points with an arrowhead at its end."""
    for start, end in zip(points[:-2], points[1:-1], strict=True):
        ax.plot(*zip(start, end, strict=True), color=colour, linewidth=width, solid_capstyle="round")
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=points[-1], xytext=points[-2], arrowprops=look)


def label(ax: plt.Axes, x: float, y: float, text: str, **look) -> None:
    """Text without a box."""
    ax.text(x, y, text, **{"ha": "center", "va": "center", "fontsize": 9} | look)


def unrolled(words: Sequence[str]) -> None:
    """A recurrent network, drawn once for each word."""
    figure, ax = canvas(2.2 * len(words) + 2.4, 3)
    label(ax, 0.6, 1.8, "$h_0 = 0$")
    for t, word in enumerate(words, start=1):
        x = 2.2 * t + 0.3
        box(ax, x, 1.8, f"$h_{t}$", READS)
        label(ax, x, 0.35, word)
        arrow(ax, (x, 0.6), (x, 1.45))
        label(ax, x + 0.15, 1.0, "$W_x$", ha="left", fontsize=8)
        arrow(ax, (x - (1.55 if t > 1 else 1.4), 1.8), (x - 0.65, 1.8))
        label(ax, x - 1.1, 2.1, "$W_h$", fontsize=8)
    label(
        ax,
        1.1 * len(words) + 1.4,
        2.75,
        "the same matrices at every word; each state depends on the previous state",
    )
    show(
        figure,
        alt=f"A recurrent network over {len(words)} words: each state h is computed from its word with W_x and from the previous state with W_h.",
    )


def lstm_cell() -> None:
    """One step of an LSTM: the cell on its straight path, and the three gates."""
    figure, ax = canvas(12, 4.9)
    arrow(ax, (0.6, 4.1), (3.2, 4.1), colour=BLUE, width=2.5)
    arrow(ax, (3.6, 4.1), (6.2, 4.1), colour=BLUE, width=2.5)
    arrow(ax, (6.6, 4.1), (11.4, 4.1), colour=BLUE, width=2.5)
    label(ax, 0.9, 4.45, "$c_{t-1}$")
    label(ax, 11.0, 4.45, "$c_t$")
    for x, y, sign in ((3.4, 4.1, "×"), (6.4, 4.1, "+"), (6.4, 3.0, "×"), (9.6, 2.4, "×")):
        ax.add_patch(plt.Circle((x, y), 0.22, facecolor="white", edgecolor="black"))
        label(ax, x, y, sign, fontsize=11)
    gates = (
        (3.4, "$f$: forget", WRITES),
        (5.4, "$i$: input", WRITES),
        (7.4, "$g$: candidate", READS),
        (9.6, "$o$: output", WRITES),
    )
    for x, text, fill in gates:
        box(ax, x, 1.4, text, fill, width=1.75)
        arrow(ax, (x, 0.45), (x, 1.05))
    arrow(ax, (3.4, 1.75), (3.4, 3.88))
    arrow(ax, (5.4, 1.75), (5.4, 3.0), (6.18, 3.0))
    arrow(ax, (7.4, 1.75), (7.4, 3.0), (6.62, 3.0))
    arrow(ax, (6.4, 3.22), (6.4, 3.88))
    arrow(ax, (9.6, 1.75), (9.6, 2.18))
    box(ax, 9.6, 3.3, "tanh", HOLDS, width=0.9, height=0.5)
    arrow(ax, (9.6, 4.1), (9.6, 3.55))
    arrow(ax, (9.6, 3.05), (9.6, 2.62))
    arrow(ax, (9.82, 2.4), (11.4, 2.4))
    label(ax, 11.0, 2.7, "$h_t$")
    ax.plot((0.6, 9.6), (0.45, 0.45), color="black", linewidth=1.2)
    label(ax, 1.3, 0.75, "$x_t$ and $h_{t-1}$")
    show(
        figure,
        alt="One LSTM step. The cell runs straight from left to right: it is multiplied by the forget gate f, then input gate i times candidate g is added. "
        "The state is the output gate o times tanh of the new cell. The word and the old state feed all three gates and the candidate.",
    )


def encoder_decoder(source: Sequence[str], target: Sequence[str], attention: bool) -> None:
    """A recurrent encoder and a recurrent decoder: joined by one vector, or by a new context for each token."""
    S, T, gap = len(source), len(target), 2.2
    width = 1.75 * (S + T) + gap + 0.6
    figure, ax = canvas(width, 4.4)
    places = [1.1 + 1.75 * i for i in range(S)]
    outs = [places[-1] + gap + 1.75 * (i + 1) - 0.3 for i in range(T)]
    for x, word in zip(places, source, strict=True):
        box(ax, x, 1.3, "", READS)
        label(ax, x, 0.3, word)
        arrow(ax, (x, 0.5), (x, 0.95))
    for x, word, before in zip(outs, target, ("[BOS]", *target), strict=False):
        box(ax, x, 1.3, "", WRITES)
        label(ax, x, 2.35, word, weight="bold")
        label(ax, x, 0.3, before)
        arrow(ax, (x, 0.5), (x, 0.95))
        arrow(ax, (x, 1.65), (x, 2.15))
    for row in (places, outs):
        for left, right in zip(row, row[1:], strict=False):
            arrow(ax, (left + 0.65, 1.3), (right - 0.65, 1.3))
    middle = (places[-1] + outs[0]) / 2
    if attention:
        at = 1
        box(ax, middle, 3.7, "context for this token", HOLDS, width=3.2)
        for x, weight in zip(places, np.linspace(4.5, 0.8, S), strict=True):
            ax.plot((x, middle - 1.6), (1.65, 3.6), color=GREEN, linewidth=weight, alpha=0.8)
        arrow(
            ax,
            (middle + 1.6, 3.7),
            (outs[at] - 0.85, 3.7),
            (outs[at] - 0.85, 1.5),
            (outs[at] - 0.65, 1.5),
            colour=GREEN,
        )
        arrow(ax, (outs[at - 1] - 0.5, 1.65), (outs[at - 1] - 0.5, 2.9), (middle, 2.9), (middle, 3.35))
        label(ax, middle + 0.15, 3.1, "the previous state is the query", fontsize=8, ha="left")
    else:
        box(ax, middle, 1.3, "one\nvector", HOLDS, width=1.0, height=1.5)
        arrow(ax, (places[-1] + 0.65, 1.3), (middle - 0.5, 1.3))
        arrow(ax, (middle + 0.5, 1.3), (outs[0] - 0.65, 1.3))
        ax.plot((middle, middle), (2.05, 3.2), color=GREEN, linewidth=1.2)
        ax.plot((middle, outs[-1] - 0.85), (3.2, 3.2), color=GREEN, linewidth=1.2)
        for x in outs:
            arrow(ax, (x - 0.85, 3.2), (x - 0.85, 1.55), (x - 0.65, 1.55), colour=GREEN)
        label(ax, (middle + outs[-1]) / 2, 3.5, "the same vector at every token", fontsize=8)
    label(ax, places[0] - 0.65, 2.0, "encoder", ha="left", color=GREY)
    label(ax, outs[-1] + 0.65, 2.85, "decoder", ha="right", color=GREY)
    how = (
        "for each token the decoder's previous state weights all states of the encoder and receives their weighted sum, the context"
        if attention
        else "one vector represents the whole sentence and is given to the decoder with every token"
    )
    show(
        figure,
        alt=f"A recurrent encoder over {S} words and a recurrent decoder that generates {T} tokens: {how}.",
    )


def decoder_block() -> None:
    """The three parts of a transformer's decoder block, each a branch whose output is added to the residual stream."""
    figure, ax = canvas(12.4, 3.6)
    ax.plot((0.3, 12.0), (0.8, 0.8), color=BLUE, linewidth=2.5)
    arrow(ax, (11.4, 0.8), (12.1, 0.8), colour=BLUE, width=2.5)
    label(ax, 0.5, 0.45, "$x$")
    parts = (
        (2.4, "attention\nwithin the target", WRITES),
        (6.2, "attention\nto the source", HOLDS),
        (10.0, "feed-\nforward", WRITES),
    )
    for x, text, fill in parts:
        box(ax, x - 1.2, 2.0, "norm", PLAIN, width=0.9, height=0.5)
        box(ax, x + 0.35, 2.0, text, fill, width=1.75, height=0.9)
        arrow(ax, (x - 1.2, 0.8), (x - 1.2, 1.75))
        arrow(ax, (x - 0.75, 2.0), (x - 0.55, 2.0))
        arrow(ax, (x + 1.23, 2.0), (x + 1.45, 2.0), (x + 1.45, 1.02))
        ax.add_patch(plt.Circle((x + 1.45, 0.8), 0.2, facecolor="white", edgecolor="black", zorder=3))
        label(ax, x + 1.45, 0.8, "+", fontsize=11, zorder=4)
    label(ax, 2.75, 3.2, "keep: no later positions", fontsize=8)
    arrow(ax, (2.75, 3.0), (2.75, 2.45))
    label(ax, 6.55, 3.2, "encoded, source_keep", fontsize=8)
    arrow(ax, (6.55, 3.0), (6.55, 2.45))
    show(
        figure,
        alt="A decoder block consists of three sublayers: causal self-attention, cross-attention to the encoded source, and a feed-forward network. "
        "Each sublayer reads normalised vectors, and its output is added to the residual stream.",
    )


def by_length(shares: Mapping[str, Sequence[tuple[float, float]]], lengths: Sequence[str]) -> None:
    """Share of sentences translated exactly, by their length: means and 95 % intervals over seeds."""
    figure, ax = plt.subplots(figsize=(7.4, 3.7))
    said = []
    for (name, values), colour, marker in zip(shares.items(), (ORANGE, BLUE, GREEN), "osD", strict=False):
        style = "--" if colour == GREEN else "-"  # two of the lines coincide
        mean, half = np.array(values).T
        ax.plot(lengths, mean, color=colour, marker=marker, markersize=5, linestyle=style, label=name)
        low, high = np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)
        ax.fill_between(lengths, low, high, color=colour, alpha=0.2, linewidth=0)
        said.append(
            f"{name}: " + ", ".join(f"{m:.1%} ± {100 * h:.1f} at {length}" for m, h, length in zip(mean, half, lengths, strict=True))
        )  # fmt: skip
    ax.set(
        xlabel="words in the sentence",
        ylabel="share of held-out sentences\ntranslated exactly",
        ylim=(-0.02, 1.04),
    )
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=9)
    show(
        figure,
        alt=f"Share of sentences translated exactly by number of words, with 95 % intervals. {'; '.join(said)}.",
    )


# --- what was measured ---


def geometric_means(
    ax: plt.Axes,
    lines: Mapping[str, Float[np.ndarray, "draw x"]],
    x: Sequence[int],
    colours: Sequence[str] = COLOURS,
) -> list[tuple[str, Float[np.ndarray, " x"]]]:
    """Lines on a logarithmic axis: geometric means over draws with 95 % intervals. Returns the names and the means."""
    means = []
    for (name, values), colour, marker in zip(lines.items(), colours, "osD^", strict=False):
        mean, half = mean_and_half(np.log10(values))
        ax.plot(x, 10**mean, color=colour, marker=marker, markersize=5, label=name)
        ax.fill_between(x, 10 ** (mean - half), 10 ** (mean + half), color=colour, alpha=0.2, linewidth=0)
        means.append((name, 10**mean))
    ax.set(yscale="log")
    ax.set_xticks(x)
    return means


def subject_remembered(
    remembered: Mapping[str, Float[np.ndarray, "pair length"]], between: Sequence[int]
) -> None:
    """The factor by which a feminine subject raises the odds of "her" against "his", by the words in between."""
    figure, ax = plt.subplots(figsize=(7.6, 3.7))
    means = geometric_means(ax, remembered, between, (ORANGE, GREEN))
    ax.axhline(1, color=GREY, linestyle=":", linewidth=1.5, label="subject forgotten")
    ax.set(
        xlabel="words between the subject and “her” or “his”",
        ylabel="factor by which the subject\nraises the odds of “her”",
    )
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=9)
    said = "; ".join(
        f"{name} {', '.join(f'{factor:.1f} after {words}' for factor, words in zip(mean, between, strict=True))}"
        for name, mean in means
    )
    show(
        figure,
        alt=f"Factor by which a feminine subject raises the odds of her against his, by the number of words in between: {said}. "
        "At 1 the subject would be forgotten.",
    )


def gradients(reach: Mapping[str, Float[np.ndarray, "seed length"]], lengths: Sequence[int]) -> None:
    """The derivative with respect to the first word, by the number of words: geometric means with 95 % intervals."""
    figure, ax = plt.subplots(figsize=(7.6, 3.9))
    means = geometric_means(ax, reach, lengths)
    ax.set(xlabel="words in the sentence", ylabel="size of the derivative\nwith respect to the first word")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=9)
    said = "; ".join(
        f"{name} {mean[0]:.1e} at {lengths[0]} words, {mean[-1]:.1e} at {lengths[-1]}" for name, mean in means
    )
    show(
        figure,
        alt=f"Derivative of the last state with respect to the first word, on a logarithmic axis: {said}.",
    )


def visibility(decoder_mask: Callable[[int], Bool[Tensor, "T T"]], source: int, target: int) -> None:
    """Which position may attend to which, in three families of models, with the student's mask; lines divide source from target."""
    everything = torch.ones(source + target, source + target, dtype=torch.bool)
    both = everything.clone()
    both[:source, source:] = False  # the encoder does not see the target
    both[source:, source:] = decoder_mask(target)
    families = {
        "encoder only (BERT)": everything,
        "decoder only (GPT)": decoder_mask(source + target),
        "encoder–decoder (translation)": both,
    }
    figure, axes = plt.subplots(1, len(families), figsize=(10, 3.3), sharey=True)
    for ax, (name, keep) in zip(axes, families.items(), strict=True):
        ax.imshow(keep, cmap="Blues", vmin=0, vmax=1.6)
        ax.axhline(source - 0.5, color=ORANGE)
        ax.axvline(source - 0.5, color=ORANGE)
        ax.set_title(name, fontsize=10)
        middles = [(source - 1) / 2, source + (len(keep) - source - 1) / 2]
        ax.set_xticks(middles, ["source", "target"])
        ax.set_yticks(middles, ["source", "target"])
        ax.tick_params(length=0)
        ax.set_xlabel("position attended to")
    axes[0].set_ylabel("attending position")
    counts = "; ".join(
        f"{name}: {int(keep.sum())} of {keep.numel()} pairs" for name, keep in families.items()
    )
    show(
        figure,
        alt=f"Matrices that show which position may attend to which; the first {source} positions belong to the source, the others to the target. Allowed pairs: {counts}.",
    )


def training(losses: Mapping[str, Sequence[float]], right: Mapping[str, float]) -> None:
    """Training losses, and the share of held-out sentences translated exactly afterwards."""
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    for (name, values), colour, style in zip(losses.items(), (BLUE, ORANGE), ("-", "--"), strict=True):
        smooth = np.convolve(values, np.ones(5) / 5, mode="valid")
        ax.plot(np.arange(len(smooth)) + 3, smooth, color=colour, linestyle=style,
                label=f"{name}: {right[name]:.1%} of held-out sentences translated exactly")  # fmt: skip
    ax.axhline(
        0,
        color=GREY,
        linestyle=":",
        linewidth=1,
        label="lowest possible loss (the entropy of the translation is 0)",
    )
    ax.set(xlabel="step", ylabel="training loss (nats per token)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    first_and_last = "; ".join(
        f"{name} from {values[0]:.2f} to {np.mean(values[-10:]):.3f} nats in {len(values)} steps, {right[name]:.1%} of the sentences translated exactly"
        for name, values in losses.items()
    )
    show(figure, alt=f"Training loss by step: {first_and_last}.")


def alignment(weights: Float[Tensor, "Tt Ts"], pair: Pairs, language: Language, code: Code) -> None:
    """Attention weights of the decoder for each token that it predicts; a box marks the word that the token translates."""
    Ts, Tt = (int((ids[0] != PAD).sum()) for ids in (pair.source, pair.target))
    words = [language.vocabulary[i] for i in pair.source[0, :Ts]]
    tokens = [code.vocabulary[i] for i in pair.target[0, :Tt]]
    figure, ax = plt.subplots(figsize=(0.5 * Ts + 3.2, 0.34 * Tt + 1.6))
    image = ax.imshow(weights[:Tt, :Ts], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    said = []
    for row, place in enumerate(pair.origin[0, :Tt].tolist()):
        if place >= 0:
            ax.add_patch(plt.Rectangle((place - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=ORANGE, lw=1.5))
            said.append(f"{tokens[row]} from {words[place]} {weights[row, place]:.2f}")
    ax.set_xticks(range(Ts), words, rotation=45, ha="right")
    glosses = [f" ({words[place]})" if place >= 0 else "" for place in pair.origin[0, :Tt].tolist()]
    ax.set_yticks(range(Tt), [token + gloss for token, gloss in zip(tokens, glosses, strict=True)])
    ax.set(xlabel="source word attended to", ylabel="target token (its source word)")
    figure.colorbar(image, label="weight")
    show(
        figure,
        alt=f"Cross-attention weights, {Tt} target tokens by {Ts} source words; boxes mark the translated word. {'; '.join(said)}.",
    )


def times(costs: Costs) -> None:
    """Time by number of words, on logarithmic axes, with the point at which the numbers of operations are equal."""
    time, sizes, slope, width, crossing = costs.time, costs.sizes, costs.slope, costs.width, costs.crossing
    figure, ax = plt.subplots(figsize=(7.2, 3.9))
    for (name, values), colour, marker in zip(time.items(), (ORANGE, BLUE), "os", strict=True):
        ax.loglog(
            sizes,
            values,
            color=colour,
            marker=marker,
            label=f"{name}: grows like T to the power {slope[name]:.2f}",
        )
    ax.axvline(
        width, color=GREY, linestyle=":", label=f"T = D = {width}: equal operations, without projections"
    )
    ax.axvline(crossing, color="black", linestyle="--", linewidth=1, label=f"T ≈ {crossing:.0f}: equal times")
    ax.set_xticks(sizes, sizes, fontsize=8)
    ax.minorticks_off()
    ax.set(xlabel="words T", ylabel="time (ms)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    slopes = "; ".join(
        f"{name} {values[0]:.2f} ms at {sizes[0]} words, {values[-1]:.1f} ms at {sizes[-1]}, slope {slope[name]:.2f}"
        for name, values in time.items()
    )
    show(
        figure,
        alt=f"Time by number of words, on logarithmic axes: {slopes}. The numbers of operations are equal at {width} words (without projections), the times at about {crossing:.0f}.",
    )
