"""Figures of notebook 03. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.derivatives import influence
from coursekit.exam import QUESTIONS, bounds
from coursekit.intervals import mean_and_half
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, ink_on, show

COLOURS = (BLUE, ORANGE, GREEN, PINK)
LOOKS = ((ORANGE, "-", "s"), (BLUE, "-", "o"), (GREY, "--", "D"), (PINK, ":", "^"))
MeanAndHalf = tuple[float, float]
"""A mean, and half the width of its 95 % interval."""


def stripes(table: Float[Tensor, "T D"], pairs: Sequence[int]) -> None:
    """The positional encodings as a heat map, and the curves of some pairs of columns."""
    T, D = table.shape
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1.1, 1))
    image = left.imshow(table, aspect="auto", cmap="viridis", vmin=-1, vmax=1)  # brightness shows the sign
    left.set(xlabel="column", ylabel="position", title=f"{T} positions, D = {D}")
    figure.colorbar(image, ax=left)
    lengths = {}
    for pair, colour in zip(pairs, COLOURS, strict=False):
        lengths[pair] = 2 * np.pi * 10_000 ** (2 * pair / D)
        right.plot(table[:51, 2 * pair], color=colour, label=f"columns {2 * pair}, {2 * pair + 1}: period {lengths[pair]:,.0f} words",
                   linewidth=1.5)  # fmt: skip
        right.plot(table[:51, 2 * pair + 1], color=colour, linestyle="--", linewidth=1.5)
    right.set(xlabel="position", ylabel="value", ylim=(-1.1, 1.75), title="sine (solid) and cosine (dashed)")
    right.legend(fontsize=8, loc="upper right")
    show(figure, alt=(
        f"Left: heat map of the encodings of {T} positions in {D} columns, from dark (−1) to bright (+1): "
        "narrow stripes in the left columns, nearly constant values in the right ones. "
        f"Right: three pairs of columns, with periods of {', '.join(f'{turn:,.0f}' for turn in lengths.values())} words."
    ))  # fmt: skip


def products_by_distance(
    table: Float[Tensor, "T D"], positions: Sequence[int]
) -> tuple[list[int], dict[int, Float[Tensor, " k"]]]:
    """The distances from −100 to 100, and for each position the dot products with the encodings at these distances."""
    distances = list(range(-100, 101))
    return distances, {p: table[[p + k for k in distances]] @ table[p] for p in positions}


def closeness(table: Float[Tensor, "T D"], positions: Sequence[int]) -> None:
    """Dot products between the encodings of positions p and p + k, for several p, with random vectors as the baseline."""
    distances, products = products_by_distance(table, positions)
    random = torch.randn(len(distances), table.shape[1], generator=torch.Generator().manual_seed(0))
    first_position = table[positions[0]]
    control = (
        5 * torch.nn.functional.normalize(random, dim=1) @ first_position
    )  # of the length of an encoding
    figure, ax = plt.subplots(figsize=(7, 3.3))
    for number, ((position, values), colour) in enumerate(zip(products.items(), COLOURS, strict=False)):
        # The curves coincide: the later ones are drawn thinner, so that all can be seen.
        ax.plot(distances, values, color=colour, linewidth=6 - 2 * number, label=f"from position {position}")
    ax.plot(distances, control, color=GREY, linewidth=1, label="baseline: random vectors of the same length")
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(xlabel="distance k", ylabel="PE(p) · PE(p + k)", ylim=(-12, 33))
    ax.legend(fontsize=8, ncols=2, loc="upper center")
    first = next(iter(products.values()))
    apart = max(float((values - first).abs().max()) for values in products.values())
    near, far = distances.index(1), len(distances) - 1
    show(figure, alt=(
        f"Dot product between the encodings of positions p and p + k for p = {', '.join(map(str, products))}: the curve is the same for all "
        f"positions (largest difference {apart:.0e}),  {float(first[distances.index(0)]):.1f} at k = 0, {float(first[near]):.1f} at k = 1, "
        f"{float(first[far]):.1f} at k = {distances[far]}. Random vectors: {float(control.mean()):.1f} on average, "
        f"standard deviation {float(control.std()):.1f}."
    ))  # fmt: skip


def drift(words: Sequence[str], panels: Mapping[str, Float[Tensor, "steps+1 T"]], root: float) -> None:
    """The length of each word's vector while the output of attention is added repeatedly."""
    figure, ax = plt.subplots(figsize=(7, 3.3))
    for (name, lengths), colour, style in zip(panels.items(), (ORANGE, BLUE), ("--", "-"), strict=True):
        lines = ax.plot(lengths, color=colour, linestyle=style, linewidth=1.2)
        lines[0].set_label(f"{name}, one line per word")
    ax.axhline(root, color=GREY, linestyle=":", label=f"√D = {root:.2f}")
    ax.set(xlabel="number of additions", ylabel="length of the vector", yscale="log")
    ax.legend(fontsize=8)
    numbers = "; ".join(
        f"{name}: {float(lengths[0].min()):.1f} to {float(lengths[0].max()):.1f} at the start, "
        f"{float(lengths[-1].min()):.1f} to {float(lengths[-1].max()):.1f} after {len(lengths) - 1} additions"
        for name, lengths in panels.items()
    )
    show(
        figure,
        alt=f"Lengths of the word vectors of “{' '.join(words)}” on a logarithmic axis. {numbers}. The square root of D is {root:.2f}.",
    )


def who_moves_whom(
    parts: Mapping[str, Callable[[Float[Tensor, "N T D"]], Float[Tensor, "N T D"]]],
    x: Float[Tensor, "T D"],
    words: Sequence[str],
) -> None:
    """For each component of the layer, the derivative of each output word with respect to each input word, for the sentence x."""
    maps = {name: influence(part, x) for name, part in parts.items()}
    figure, axes = plt.subplots(1, len(maps), figsize=(10.5, 3.9), sharey=True)
    reached = {}
    for ax, (name, moved) in zip(axes, maps.items(), strict=True):
        reached[name] = int((moved > 1e-6).sum())
        shown = ax.imshow(moved / moved.max(), vmin=0, vmax=1)
        ax.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
        ax.set(xlabel="input word", title=f"{name}\n{reached[name]} of {moved.numel()} pairs")
        ax.title.set_fontsize(10)
    axes[0].set_yticks(range(len(words)), words, fontsize=8)
    axes[0].set_ylabel("output word")
    figure.colorbar(shown, ax=axes, shrink=0.7, label="derivative (maximum of each panel = 1)")
    numbers = "; ".join(f"{name}: {count} of {len(words) ** 2} pairs" for name, count in reached.items())
    show(
        figure,
        alt=f"Pairs of input and output word with a non-zero derivative. {numbers}. For layer norm and the feed-forward network, these pairs are on the diagonal.",
    )


def activations(z: Float[Tensor, " N"], curves: Mapping[str, Float[Tensor, " N"]]) -> None:
    """The activation functions, and the difference between the last two, which nearly coincide."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1))
    for (name, values), (colour, style, _), width in zip(
        curves.items(), LOOKS, (1.5, 3.5, 1.5), strict=False
    ):
        left.plot(z, values, color=colour, linestyle=style, linewidth=width, label=name)
    left.axhline(0, color="black", linewidth=0.6)
    left.set(xlabel="z", ylabel="activation", title="three activation functions", ylim=(-0.5, 4))
    left.legend(fontsize=8, loc="upper left")
    _, exact, formula = curves.values()
    right.plot(z, formula - exact, color=PINK)
    right.axhline(0, color="black", linewidth=0.6)
    right.set(xlabel="z", ylabel="difference", title="GELU: approximation minus exact")
    most = float((formula - exact).abs().max())
    show(figure, alt=(
        f"Left: ReLU is 0 for negative z and z otherwise; GELU is smooth, with a minimum of {float(exact.min()):.2f} at z = {float(z[exact.argmin()]):.2f}; "
        f"the curve of the approximation coincides with that of the exact function. Right: the two functions differ by at most {most:.5f}."
    ))  # fmt: skip


def two_layers() -> None:
    """A post-norm and a pre-norm layer from bottom to top: the residual stream on the left, its branches on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 5.0))
    plans = {
        "post-norm (2017)": (["attention"], "norm 1", ["feed-forward"], "norm 2"),
        "pre-norm": (["norm 1", "attention"], "", ["norm 2", "feed-forward"], ""),
    }
    for ax, (title, steps) in zip(axes, plans.items(), strict=True):
        ax.set(xlim=(-1.3, 3.6), ylim=(-0.7, 9.0), title=title)
        ax.axis("off")
        ax.annotate(
            "", (0, 8.5), (0, -0.2), arrowprops={"arrowstyle": "->", "color": PINK, "linewidth": 3}, zorder=0
        )
        ax.text(0, -0.55, "x", ha="center")
        ax.text(0, 8.6, "output", ha="center")
        for bottom, branch, norm in ((0.2, *steps[:2]), (4.2, *steps[2:])):
            top = bottom + 2.5
            ax.plot([0, 2.2, 2.2], [bottom, bottom, top], color="black", linewidth=1.2, zorder=0)
            ax.annotate("", (0.2, top), (2.23, top), arrowprops={"arrowstyle": "->"})
            ax.text(1.2, top + 0.12, "dropout", ha="center", fontsize=8, color=GREY)
            for number, name in enumerate(branch):
                _box(ax, 2.2, bottom + (1.25 if len(branch) == 1 else 0.75 + number), name)
            ax.plot(0, top, "o", markersize=17, color="white", markeredgecolor="black")
            ax.text(0, top, "+", ha="center", va="center", fontsize=13)
            if norm:
                _box(ax, 0, top + 0.75, norm)
    axes[1].text(-0.25, 3.4, "residual", color=PINK, rotation=90, va="center", ha="center")
    axes[0].text(-0.25, 1.4, "residual", color=PINK, rotation=90, va="center", ha="center")
    show(figure, alt=(
        "Two layers from bottom to top, each with a vertical residual stream and two branches that leave it and are added back to it. Post-norm: the first branch contains "
        "attention, the second the feed-forward network; norm 1 and norm 2 are on the residual stream, each after a sum. Pre-norm: the first branch contains norm 1 "
        "and attention, the second norm 2 and the feed-forward network; the residual stream has only the two sums. Dropout is applied at the end of each branch."
    ))  # fmt: skip


def _box(ax, x: float, y: float, name: str) -> None:
    colour = BLUE if name == "attention" else GREEN if name == "feed-forward" else ORANGE
    ax.add_patch(plt.Rectangle((x - 1.05, y - 0.33), 2.1, 0.66, facecolor=colour, zorder=2))
    ax.text(x, y, name, ha="center", va="center", color=ink_on(colour), zorder=3)


def gradients(
    norms: Mapping[tuple[str, int], Float[np.ndarray, "seeds L"]], top: Mapping[tuple[str, int], float]
) -> None:
    """Gradient norm of W_2 in the last layer by number of layers, and in every layer of the deepest stack.

    Both are given for each kind of layer and number of layers; `top` is the mean length of the vectors after the last layer.
    """
    kinds, depths = (list(dict.fromkeys(part)) for part in zip(*norms, strict=True))
    last = {kind: {depth: mean_and_half(norms[kind, depth][:, -1]) for depth in depths} for kind in kinds}
    slopes = {
        kind: np.polyfit(np.log(depths), np.log([mean for mean, _ in points.values()]), 1)[0]
        for kind, points in last.items()
    }
    by_layer = {kind: [mean_and_half(column) for column in norms[kind, depths[-1]].T] for kind in kinds}
    _draw_gradients(last, by_layer, slopes)
    for kind in kinds:
        lengths = ", ".join(f"{top[kind, depth]:.1f} (L = {depth})" for depth in depths)
        print(f"{kind:<9} mean length of the vectors after the last layer: {lengths}")


def _draw_gradients(
    last: Mapping[str, Mapping[int, MeanAndHalf]],
    by_layer: Mapping[str, Sequence[MeanAndHalf]],
    slopes: Mapping[str, float],
) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
    for (name, points), colour, marker in zip(last.items(), (ORANGE, BLUE), "os", strict=True):
        depths = list(points)
        means, halves = zip(*points.values(), strict=True)
        left.errorbar(
            depths,
            means,
            halves,
            color=colour,
            marker=marker,
            capsize=3,
            label=f"{name}: slope {slopes[name]:.2f}",
        )
        left.plot(depths, [means[0] * (depth / depths[0]) ** (0 if name == "post-norm" else -0.5) for depth in depths],
                  color=GREY, linestyle=":", linewidth=1.5, label="theory: 0 and −0.5" if name == "post-norm" else None)  # fmt: skip
    left.set(
        xscale="log",
        yscale="log",
        xlabel="number of layers L",
        ylabel="gradient norm of W_2",
        title="the last layer",
    )
    left.set_xticks(depths, depths)
    left.set_yticks((0.1, 0.2, 0.5, 1), ("0.1", "0.2", "0.5", "1"))
    left.minorticks_off()
    left.legend(fontsize=8)
    for (name, points), colour, style in zip(by_layer.items(), (ORANGE, BLUE), ("--", "-"), strict=True):
        means, halves = (np.array(part) for part in zip(*points, strict=True))
        layers = np.arange(1, len(means) + 1)
        right.plot(layers, means, color=colour, linestyle=style, label=name)
        right.fill_between(layers, means - halves, means + halves, color=colour, alpha=0.2, linewidth=0)
    right.set(
        xlabel="layer",
        ylabel="gradient norm of W_2",
        title=f"all {len(means)} layers (bands: 95 % intervals)",
        ylim=(0, None),
    )
    right.legend(fontsize=8)
    ends = "; ".join(
        f"{name} {', '.join(f'{mean:.2f} ± {half:.2f} at L = {depth}' for depth, (mean, half) in points.items())} (slope {slopes[name]:.2f})"
        for name, points in last.items()
    )
    inside = "; ".join(
        f"{name} {points[0][0]:.2f} in the first and {points[-1][0]:.2f} in the last layer"
        for name, points in by_layer.items()
    )
    show(
        figure,
        alt=f"Left: gradient norm of W_2 in the last layer, both axes logarithmic: {ends}. Right, deepest stack: {inside}.",
    )


def own_share(spreads: Mapping[str, Float[np.ndarray, "seeds L+1"]]) -> None:
    """Distance of each word's vector from the sentence mean, relative to its length, per layer."""
    figure, ax = plt.subplots(figsize=(6.6, 3.4))
    for (name, values), colour, marker in zip(spreads.items(), (GREY, ORANGE, BLUE), "Dso", strict=True):
        ax.plot(values.mean(0), color=colour, marker=marker, markersize=4, label=name)
        ax.fill_between(
            range(values.shape[1]), values.min(0), values.max(0), color=colour, alpha=0.2, linewidth=0
        )
    ax.set(
        xlabel="layer (0: the input)",
        ylabel="distance from the sentence mean\n/ length of the vector",
        ylim=(0, 1),
    )
    ax.legend(fontsize=8)
    numbers = "; ".join(
        f"{name} {values.mean(0)[0]:.2f} at the input, {values.mean(0)[2]:.2f} after layer 2, {values.mean(0)[-1]:.2f} at the end"
        for name, values in spreads.items()
    )
    show(
        figure,
        alt=f"Distance of a word's vector from the sentence mean, relative to the length of the vector, by layer: {numbers}. Bands span the seeds.",
    )


def warm_up(runs: pd.DataFrame) -> None:
    """The loss of deep encoders during training, one line per seed: post-norm above, pre-norm below."""
    norms, ways = runs.norm.unique(), runs.how.unique()
    figure, axes = plt.subplots(len(norms), len(ways), figsize=(10, 4.6), sharex=True, sharey=True)
    said = []
    for row, norm in zip(axes, norms, strict=True):
        for ax, how in zip(row, ways, strict=True):
            part = runs[(runs.norm == norm) & (runs.how == how)]
            ends = part[part.step == part.step.max()]
            learned = int((ends.accuracy > 0.9).sum())
            for _, run in part.groupby("seed"):
                good = run.accuracy.iloc[-1] > 0.9
                ax.plot(
                    run.step,
                    run.loss,
                    color=BLUE if good else ORANGE,
                    linestyle="-" if good else "--",
                    linewidth=1,
                )
            ax.axhline(np.log(2), color="black", linestyle=":", linewidth=1)
            ax.set_title(f"{norm}, {how}\n{learned} of {len(ends)} learn the task", fontsize=9)
            ax.set_ylim(0, 1.25)
            said.append(
                f"{norm}, {how}: {learned} of {len(ends)} runs exceed 90 % accuracy, median final loss {ends.loss.median():.2f}"
            )
        row[0].set_ylabel("loss")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    show(figure, alt=(
        f"Loss over {runs.step.max()} steps: solid blue lines for runs that learn the task, dashed orange lines for runs that do not, a dotted line at chance level, "
        f"ln 2 = {np.log(2):.2f}. {'; '.join(said)}."
    ))  # fmt: skip


def learning(table: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Accuracy over training steps: a panel for each kind of question, a line for each kind of encoder.

    The table has one row per encoder, seed and number of steps, with the columns encoder, seed, steps and the kinds.
    """
    figure, panels = plt.subplots(1, len(kinds), figsize=(10, 3.4), sharey=True)
    no_order, said = bounds().no_order, []
    for ax, (kind, title) in zip(panels, ((kind, QUESTIONS[kind]) for kind in kinds), strict=True):
        ax.axhline(
            no_order[kind], color="black", linestyle=":", linewidth=1, label="upper bound without order"
        )
        for (name, runs), (colour, style, marker) in zip(
            table.groupby("encoder", sort=False), LOOKS, strict=False
        ):
            found = runs.pivot(index="seed", columns="steps", values=kind)
            mean, half = mean_and_half(found)
            ax.plot(
                found.columns, mean, color=colour, linestyle=style, marker=marker, markersize=4, label=name
            )
            ax.fill_between(
                found.columns, mean - half, np.minimum(mean + half, 1), color=colour, alpha=0.2, linewidth=0
            )
            said.append(
                f"{title}, {name}: "
                + ", ".join(
                    f"{m:.3f} ± {h:.3f} after {n}" for n, m, h in zip(found.columns, mean, half, strict=True)
                )
            )
        ax.set_title(title, fontsize=10)
        ax.set(ylim=(0.35, 1.04), xlabel="training step")
    panels[0].set_ylabel("accuracy")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=5,
        fontsize=8,
        frameon=False,
    )
    show(
        figure,
        alt=f"Accuracy over training steps, means and 95 % intervals over seeds. {'; '.join(said)}.",
    )
