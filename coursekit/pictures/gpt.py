"""Figures of notebook 07: masks, caches and losses. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from torch import Tensor

from coursekit.plots import BLUE, FAINT, GREEN, GREY, ORANGE, PINK, SKY, show


def mask_at_work(words: Sequence[str]) -> None:
    """Scores, the added mask, and the attention weights: one row per query."""
    T = len(words)
    seen = np.tril(np.ones((T, T), dtype=bool))
    panels = (
        ("scores", [[f"s{_small(i)}{_small(j)}" for j in range(T)] for i in range(T)], np.ones_like(seen)),
        ("+ mask", np.where(seen, "0", "−∞"), seen),
        ("= after the softmax", np.where(seen, "> 0", "0"), seen),
    )
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 2.9), sharey=True)
    for ax, (title, texts, bright) in zip(axes, panels, strict=True):
        _cells(ax, texts, np.where(bright, LIGHT_BLUE, LIGHT_GREY))
        ax.set_xticks(range(T), words, fontsize=9)
        ax.set_yticks(range(T), words, fontsize=9)
        ax.set_xlabel("key", fontsize=9)
        ax.set_title(title, fontsize=10)
    axes[0].set_ylabel("query", fontsize=9)
    show(
        figure,
        alt=f"Three matrices of {T} rows (queries) and {T} columns (keys): the scores; the mask, 0 on and below "
        f"the diagonal and −∞ above it; and the weights after the softmax, positive on and below the diagonal and 0 above it.",
    )


def cache_at_work(words: Sequence[str], read: int) -> None:
    """The scores with a cache of `read` tokens: only the rows of the new tokens are computed."""
    T = len(words)
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.2), sharey=True)
    for ax, cached in zip(axes, (False, True), strict=True):
        texts, colours = np.full((T, T), "", dtype=object), np.full((T, T), "white", dtype=object)
        for i in range(T):
            for j in range(i + 1):
                new = not cached or i >= read
                texts[i, j] = f"q{_small(i)}k{_small(j)}" if new else ""
                colours[i, j] = "white" if not new else LIGHT_ORANGE if cached and j < read else LIGHT_BLUE
        _cells(ax, texts, colours)
        ax.set_xticks(
            range(T), [f"{word}\nk{_small(j)}, v{_small(j)}" for j, word in enumerate(words)], fontsize=9
        )
        ax.set_yticks(range(T), [f"{word}  q{_small(i)}" for i, word in enumerate(words)], fontsize=9)
        said = (
            f"with {read} words cached: one row"
            if cached
            else f"without a cache: all {T * (T + 1) // 2} scores"
        )
        ax.set_title(said, fontsize=10)
    axes[1].set_xlabel("orange: keys and values from the cache", fontsize=9)
    show(
        figure,
        alt=f"The scores of “{' '.join(words)}” when its last word is processed. Without a cache all {T * (T + 1) // 2} products of queries and "
        f"keys are computed again. With the keys and values of the first {read} words cached, only the last row is computed: "
        f"the products of its query with the {read} cached keys and with its own key.",
    )


def shift_at_work(tokens: Sequence[str]) -> None:
    """The token that each position predicts."""
    T = len(tokens)
    figure, ax = plt.subplots(figsize=(8.6, 2.1))
    for place, token in enumerate(tokens):
        for height, colour in ((0, LIGHT_BLUE), (1, LIGHT_ORANGE if place else LIGHT_GREY)):
            counts = height == 0 or (place > 0 and token != "[PAD]")
            ax.add_patch(
                plt.Rectangle(
                    (place - 0.42, height - 0.2), 0.84, 0.4, color=colour if counts else LIGHT_GREY, lw=0
                )
            )
            ax.text(
                place, height, token, ha="center", va="center", fontsize=9, color="black" if counts else FAINT
            )
        if place + 1 < T:
            counts = tokens[place + 1] != "[PAD]"
            ax.annotate(
                "",
                (place + 0.9, 0.78),
                (place + 0.1, 0.22),
                arrowprops={"arrowstyle": "->", "color": BLUE if counts else LIGHT_GREY, "lw": 1.3},
            )
    ax.text(-0.6, 0, "read", ha="right", va="center", fontsize=9)
    ax.text(-0.6, 1, "to predict", ha="right", va="center", fontsize=9)
    ax.set(xlim=(-1.8, T - 0.4), ylim=(-0.35, 1.35))
    ax.axis("off")
    targets = sum(token != "[PAD]" for token in tokens[1:])
    show(
        figure,
        alt=f"The tokens {' '.join(tokens)} in two rows. An arrow leads from each token in the lower row to the next token in the upper row, its target. "
        f"The first token and padding are not targets, which leaves {targets} targets. The last position predicts nothing.",
    )


LIGHT_BLUE, LIGHT_ORANGE, LIGHT_GREY = "#bcd9ea", "#f3dfb0", "#e4e4e4"


def _small(number: int) -> str:
    """A number as a subscript."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _cells(ax, texts: Sequence[Sequence[str]], colours: Sequence[Sequence[str]]) -> None:
    """A table of texts on coloured squares, with the first row at the top."""
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            ax.add_patch(plt.Rectangle((j - 0.48, i - 0.45), 0.96, 0.9, color=colours[i][j], lw=0))
            ax.text(j, i, text, ha="center", va="center", fontsize=9)
    ax.set(xlim=(-0.5, len(texts[0]) - 0.5), ylim=(len(texts) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def training(curve: Sequence[tuple[int, float]], bound: float, uniform: float) -> None:
    """Held-out loss over the training steps, with the entropy and the loss of a uniform distribution."""
    steps, losses = zip(*curve, strict=True)
    figure, ax = plt.subplots(figsize=(7.4, 3.6))
    ax.plot(steps, losses, color=BLUE, marker="o", markersize=3, label="small GPT, held-out sentences")
    ax.axhline(bound, color=GREEN, linestyle="--", label=f"entropy: {bound:.3f}")
    ax.axhline(uniform, color=GREY, linestyle=":", label=f"uniform distribution: {uniform:.2f}")
    ax.annotate(f"{losses[-1]:.3f}", (steps[-1], losses[-1]), (0, 8), textcoords="offset points", ha="center")
    ax.set(xlabel="step (32 sentences each)", ylabel="loss (nats per token)", ylim=(0, uniform * 1.05))
    ax.legend(fontsize=9)
    show(
        figure,
        alt=f"The held-out loss falls from {losses[0]:.2f} nats at step {steps[0]} to {losses[-1]:.3f} after {steps[-1]} steps, which is "
        f"{losses[-1] / bound - 1:.1%} above the entropy of {bound:.3f}. The loss of a uniform distribution is {uniform:.2f}.",
    )


def influences(maps: Mapping[str, Float[Tensor, "T T"]], words: Sequence[str]) -> None:
    """The influence of each input on each output, relative to the largest of each model, and the shares of later and earlier words.

    Exact zeros are white.
    """
    figure, axes = plt.subplots(1, len(maps), figsize=(3.1 * len(maps), 3.5), sharey=True)
    said = []
    for ax, (name, values) in zip(axes, maps.items(), strict=True):
        relative = (values / values.max()).numpy()
        ax.imshow(np.where(relative > 0, relative, np.nan) ** 0.5, cmap="Blues", vmin=-0.25, vmax=1)
        ax.set_xticks(range(len(words)), words, rotation=90, fontsize=8)
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("input")
        above, below = (np.triu(relative, 1) > 0).sum(), (np.tril(relative, -1) > 0).sum()
        said.append(f"{name}: {above} non-zero entries above the diagonal and {below} below")
    axes[0].set_ylabel("output")
    pairs = len(words) * (len(words) - 1) // 2
    show(
        figure,
        alt=f"Size of the gradient of each word's last vector with respect to each input, white where it is exactly 0 (colour: square root). Of {pairs} "
        f"pairs on each side of the diagonal: {'; '.join(said)}.",
    )
    for name, values in maps.items():
        earlier = (values.tril(-1).sum() / values.sum()).item()
        print(
            f"{name:<20} influence from later words {share_of_later_words(values):.2f}, from earlier words {earlier:.2f}"
        )


def share_of_later_words(influence: Float[Tensor, "T T"]) -> float:
    """The share of the influence that comes from words on the right."""
    return (influence.triu(1).sum() / influence.sum()).item()


def cost(costs: Mapping[int, Mapping[str, tuple[int, float]]]) -> None:
    """Passes of a token through the model, and time, for generating T tokens with and without a cache."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.3))
    said = []
    for name, colour, marker in (("without cache", ORANGE, "o"), ("with cache", BLUE, "s")):
        for ax, part in zip(axes, (0, 1), strict=True):
            ax.loglog(
                list(costs), [cost[name][part] for cost in costs.values()], color=colour, marker=marker, label=name
            )  # fmt: skip
        last = max(costs)
        said.append(
            f"{name}: {costs[last][name][0]:,} passes and {costs[last][name][1]:.0f} ms for {last} tokens"
        )
    for ax, title in zip(axes, ("tokens through the model", "time (ms)"), strict=True):
        ax.set_xticks(list(costs), list(costs))
        ax.minorticks_off()
        ax.set(xlabel="tokens generated", title=title)
        ax.title.set_fontsize(10)
    axes[0].legend(fontsize=9)
    show(figure, alt=f"Cost of generating tokens one by one, on a logarithmic axis. {'; '.join(said)}.")


def two_cells(shares: Mapping[str, Sequence[float]], floor: float = 1e-9) -> None:
    """Difference between the vectors of "cell" in two sentences, per layer; exact zeros are drawn at the floor."""
    figure, ax = plt.subplots(figsize=(8.4, 3.8))
    said = []
    looks = ((SKY, "s", "-"), (GREEN, "s", "-"), (BLUE, "o", "-"), (PINK, "o", "-"), (GREY, "o", ":"))
    for (name, values), (colour, marker, style) in zip(shares.items(), looks, strict=False):
        depth = np.arange(len(values)) / (len(values) - 1)
        ax.semilogy(
            depth,
            np.maximum(values, floor),
            color=colour,
            marker=marker,
            linestyle=style,
            markersize=10 if colour == SKY else 4,
            fillstyle="none" if colour == SKY else "full",
            label=name,
        )
        said.append(f"{name}: largest {max(values):.1e}, last layer {values[-1]:.1e}")
    ax.axhline(1e-6, color="black", linewidth=0.8, linestyle="--", label="rounding error: 1e-6")
    ax.set(
        xlabel="depth (0: embeddings, 1: last layer)",
        ylabel="relative difference",
        ylim=(floor / 4, 5),
    )
    ax.axhspan(floor / 4, 2 * floor, color=GREY, alpha=0.15)
    ax.text(0.5, 2.6 * floor, "below: exactly 0", va="bottom", ha="center", fontsize=8)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(
        figure,
        alt=f"Difference between the vectors of cell in two sentences, logarithmic; 0 is drawn at {floor:.0e}. {'; '.join(said)}.",
    )
