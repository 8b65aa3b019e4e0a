"""Figures of notebook 08. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, show, write_in_cells

KINDS = (
    ("same word, one sense", BLUE, "o"),
    ("same word, two senses", ORANGE, "s"),
    ("different words", GREY, "D"),
)


def static_vectors(
    pairs: Sequence[tuple[str, str]],
    found: Mapping[str, Sequence[float]],
    control: Mapping[str, Float[np.ndarray, " random"]],
) -> None:
    """Cosines of some pairs of words in each of the three static spaces, compared with random pairs."""
    figure, axes = plt.subplots(1, len(found), figsize=(9.6, 3.1), sharex=True, sharey=True)
    said = []
    for ax, (name, cosines) in zip(axes, found.items(), strict=True):
        random = control[name]
        low, middle, high = np.quantile(random, [0.025, 0.5, 0.975])
        ax.axvspan(low, high, color=GREY, alpha=0.2, label="95 % of random pairs")
        ax.axvline(middle, color=GREY, linewidth=1.5, label="their median")
        places = range(len(pairs))
        ax.plot(cosines, places, "o", color=BLUE, markersize=7)
        for place, value in zip(places, cosines, strict=True):
            ax.annotate(
                f"{value:.2f}", (value, place), (0, 6), textcoords="offset points", ha="center", fontsize=8
            )
        ax.set(title=name, xlabel="cosine", ylim=(len(pairs) - 0.5, -0.8))
        ax.title.set_fontsize(10)
        cosines_said = ", ".join(
            f"{a} and {b} {value:.2f}" for (a, b), value in zip(pairs, cosines, strict=True)
        )
        said.append(f"{name}: {cosines_said}; random pairs {middle:.2f}, 95 % from {low:.2f} to {high:.2f}")
    axes[0].set_yticks(range(len(pairs)), [f"{a} · {b}" for a, b in pairs])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    show(figure, alt=f"Cosines of four pairs of words in three static spaces. {'; '.join(said)}.")


def separation(similar: Float[Tensor, "3 layers"]) -> None:
    """Mean cosine of the three kinds of pairs by layer, and the differences between them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.5))
    layers = range(similar.shape[1])
    _curves(left, similar)
    left.set(
        title="mean cosine of pairs",
        xlabel="layer (0: input of the first)",
        ylabel="cosine",
        ylim=(-0.1, 1.02),
    )
    gap = (similar[0] - similar[1]).tolist()
    above = (similar[1] - similar[2]).tolist()
    best = int(np.argmax(gap))
    right.plot(layers, gap, color=BLUE, marker="o", label="one sense − two senses")
    right.plot(layers, above, color=GREY, marker="D", linestyle=":", label="two senses − different words")
    right.annotate(f"{gap[best]:.3f}", (best, gap[best]), (0, 7), textcoords="offset points", ha="center")
    right.set(title="differences", xlabel="layer", ylabel="difference of cosines", ylim=(0, 1))
    for ax in (left, right):
        ax.title.set_fontsize(10)
        ax.legend(fontsize=8, loc="center" if ax is right else "lower left", bbox_to_anchor=None if ax is right else (0.02, 0.3))  # fmt: skip
    show(
        figure,
        alt=f"Mean cosine by layer, 0 to {len(gap) - 1}. {_by_layer(similar)}. One sense minus two senses: {_listed(gap, 3)}, largest at "
        f"layer {best}; two senses minus different words: {_listed(above)}.",
    )


def pairs(found: Mapping[str, Float[Tensor, " layers"]], similar: Float[Tensor, "3 layers"]) -> None:
    """The cosine of single pairs by layer, with the means of the three kinds of pairs."""
    figure, ax = plt.subplots(figsize=(8.8, 3.7))
    for (name, colour, _), values, style in zip(KINDS, similar, ("-", "--", ":"), strict=True):
        ax.plot(values, color=colour, linewidth=5, linestyle=style, alpha=0.3, label=f"mean: {name}")
    said = []
    for (name, values), colour, marker in zip(
        found.items(), (GREY, PINK, ORANGE, BLUE, RED), "DPsov", strict=True
    ):
        ax.plot(values, color=colour, marker=marker, markersize=5, label=name)
        said.append(f"{name}: {_listed(values.tolist())}")
    ax.set(xlabel="layer (0: input of the first)", ylabel="cosine", ylim=(-0.1, 1.02))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(
        figure,
        alt=f"Cosine of single pairs by layer, from 0. {'; '.join(said)}. Means: {_by_layer(similar)}.",
    )


def cones(found: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Mean cosine of random tokens by depth for several models, before and after centring."""
    figure, ax = plt.subplots(figsize=(8.6, 3.7))
    said = []
    for (name, (before, after)), colour, marker in zip(found.items(), (BLUE, GREY, PINK), "oDs", strict=True):
        depth = np.linspace(0, 1, len(before))
        ax.plot(depth, before, color=colour, marker=marker, markersize=4, label=name)
        ax.plot(
            depth,
            after,
            color=colour,
            marker=marker,
            markersize=4,
            fillstyle="none",
            linestyle="--",
            linewidth=1.3,
        )
        last, middle = len(before) - 1, len(before) // 2
        said.append(
            f"{name}: {before[0]:.2f} at layer 0, {before[middle]:.2f} at layer {middle}, {before[last]:.2f} at the last; centred at most "
            f"{max(np.abs(after)):.2f} from 0"
        )
    ax.plot([], [], color="black", linestyle="--", linewidth=1.3, label="the same, centred (hollow)")
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(
        xlabel="depth (0: embeddings, 1: last layer)",
        ylabel="mean cosine of\nrandom tokens",
        ylim=(-0.1, 1.02),
    )
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(figure, alt=f"Anisotropy by depth. {'; '.join(said)}.")


def centred(before: Float[Tensor, "3 layers"], after: Float[Tensor, "3 layers"]) -> None:
    """Mean cosines of the three kinds of pairs, before and after centring."""
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.2), sharey=True)
    for ax, values, title in zip(axes, (before, after), ("not centred", "centred"), strict=True):
        _curves(ax, values)
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set(title=title, xlabel="layer", ylim=(-0.15, 1.02))
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("mean cosine")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    gaps = [_listed((values[0] - values[1]).tolist(), 3) for values in (before, after)]
    show(
        figure,
        alt=f"Mean cosines by layer from 0. Not centred: {_by_layer(before)}. Centred: {_by_layer(after)}. One sense minus two: {gaps[0]} "
        f"without centring, {gaps[1]} with centring.",
    )


def head(weights: Float[Tensor, "T T"], tokens: Sequence[str], title: str) -> None:
    """One head's attention: a row for each token that attends, a column for each that is attended to."""
    figure, ax = plt.subplots(figsize=(5.4, 4.8))
    image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=8)
    ax.set_yticks(range(len(tokens)), tokens, fontsize=8)
    ax.set(title=title, xlabel="attended to", ylabel="attends")
    ax.title.set_fontsize(10)
    figure.colorbar(image, label="weight", shrink=0.8)
    most = weights.argmax(dim=1).tolist()
    said = ", ".join(
        f"{token} at {tokens[place]} {weights[row, place]:.2f}"
        for row, (token, place) in enumerate(zip(tokens, most, strict=True))
    )
    show(figure, alt=f"Attention of {title}. The token that each token attends to most: {said}.")


def all_heads(attention: Float[Tensor, "L H T T"], tokens: Sequence[str]) -> None:
    """All heads of all layers as small pictures."""
    L, H, T, _ = attention.shape
    # One image of all heads with empty lines between them, because 72 panels would take seconds to draw.
    mosaic = np.full((L * (T + 2), H * (T + 2)), np.nan)
    for layer, number in np.ndindex(L, H):
        rows, columns = layer * (T + 2) + 1, number * (T + 2) + 1
        mosaic[rows : rows + T, columns : columns + T] = attention[layer, number]
    figure, ax = plt.subplots(figsize=(9.6, 9.6 * L / H + 0.4))
    ax.imshow(mosaic, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    ax.set_xticks([(T + 2) * (number + 0.5) for number in range(H)], range(H))
    ax.set_yticks([(T + 2) * (layer + 0.5) for layer in range(L)], range(L))
    for edge in range(1, max(L, H)):
        if edge < H:
            ax.axvline(edge * (T + 2) - 0.5, color=GREY, linewidth=0.5)
        if edge < L:
            ax.axhline(edge * (T + 2) - 0.5, color=GREY, linewidth=0.5)
    ax.set(xlabel="head", ylabel="layer")
    ax.tick_params(length=0)
    first = attention[..., 0].mean().item()
    sharp = attention.diagonal(-1, 2, 3).mean(dim=-1)
    place = divmod(sharp.argmax().item(), H)
    show(
        figure,
        alt=f"Attention of {L} layers of {H} heads on {T} tokens, from {tokens[0]} to {tokens[-1]}. The column of {tokens[0]} is dark in most: "
        f"it receives {first:.2f} of all weight on average. Layer {place[0]}, head {place[1]} attends most to the token before: {sharp.max():.2f}.",
    )


def entropies(entropy: Float[Tensor, "L H"], even: float) -> None:
    """The mean entropy of each head, compared with that of uniform attention."""
    figure, ax = plt.subplots(figsize=(7.6, 3.4))
    image = ax.imshow(entropy, cmap="viridis", vmin=0, vmax=even)
    write_in_cells(
        image, np.array([[f"{value:.1f}" for value in row] for row in entropy.tolist()]), fontsize=7
    )
    ax.set(xlabel="head", ylabel="layer", xticks=range(entropy.shape[1]), yticks=range(entropy.shape[0]))
    figure.colorbar(image, label=f"nats (uniform attention: {even:.2f})", shrink=0.9)
    sharpest, broadest = (
        divmod(place, entropy.shape[1]) for place in (entropy.argmin().item(), entropy.argmax().item())
    )
    show(
        figure,
        alt=f"Mean entropy of attention by layer and head, in nats; uniform attention has {even:.2f}. Means of layers: "
        f"{_listed(entropy.mean(dim=1).tolist())}. Lowest {entropy.min():.2f} (layer {sharpest[0]}, head {sharpest[1]}), highest "
        f"{entropy.max():.2f} (layer {broadest[0]}, head {broadest[1]}).",
    )


def neurons(
    queries: Float[Tensor, "T d"], keys: Float[Tensor, "T d"], tokens: Sequence[str], asks: int, title: str
) -> None:
    """How one token's weights are computed: its query, all keys, their products, the scores and the weights.

    A negative value has a dash, unless it is so close to zero that its cell is nearly white.
    """
    query, d = queries[asks], queries.shape[1]
    products = query * keys
    scores = products.sum(dim=-1) / d**0.5
    weights = scores.softmax(dim=0)
    figure, axes = plt.subplots(1, 5, figsize=(10.4, 4.2), width_ratios=(3, 3, 3, 0.9, 0.9), sharey=True)
    only = queries * 0
    only[asks] = query
    panels = ((only, f"query of {tokens[asks]}"), (keys, "keys"), (products, "query × key, by coordinate"))
    for ax, (values, name) in zip(axes, panels, strict=False):
        limit = values.abs().quantile(0.995).item() or 1.0
        ax.imshow(values, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        rows, columns = np.nonzero(values.numpy() < -0.05 * limit)
        dark = values.numpy()[rows, columns] < -0.6 * limit
        ax.scatter(columns, rows, s=9, marker="_", linewidths=1, c=np.where(dark, "white", "black"))
        ax.set_title(name, fontsize=9)
        ax.set_xticks([0, d - 1], [1, d])
    places = np.arange(len(tokens))
    for ax, values, name, colour in (
        (axes[3], scores, "sum / √d", GREY),
        (axes[4], weights, "softmax", BLUE),
    ):
        ax.barh(places, values, color=colour)
        ax.set_title(name, fontsize=9)
    axes[0].set_yticks(places, tokens, fontsize=8)
    figure.suptitle(title, fontsize=10)
    order = weights.argsort(descending=True)[:3].tolist()
    said = ", ".join(f"{tokens[i]} (score {scores[i]:.1f}, weight {weights[i]:.2f})" for i in order)
    show(
        figure,
        alt=f"How the weights of {tokens[asks]} are computed in {title}: its query of {d} coordinates, the keys of {len(tokens)} tokens, products, "
        f"scores, weights; {(products < 0).sum() / products.numel():.0%} of the products are negative. Largest: {said}.",
    )


def explains(found: Mapping[str, tuple[float, float, float]], sentences: int) -> None:
    """Rank correlation of several measures of importance with the effect of hiding a word."""
    figure, ax = plt.subplots(figsize=(7.8, 0.9 + 0.42 * len(found)))
    for place, (_, (mean, low, high)) in enumerate(found.items()):
        ax.plot([low, high], [place, place], color="black", linewidth=1.5)
        ax.plot(mean, place, "o", color=BLUE, markersize=7)
        ax.annotate(f"{mean:.2f}", (mean, place), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    ax.axvline(0, color=GREY, linestyle=":", linewidth=1.2)
    ax.set_yticks(range(len(found)), list(found))
    ax.set(xlabel="rank correlation with the effect of hiding the word", xlim=(-0.3, 1.02), ylim=(len(found) - 0.5, -0.8))  # fmt: skip
    said = "; ".join(
        f"{name} {mean:.2f} ({low:.2f} to {high:.2f})" for name, (mean, low, high) in found.items()
    )
    show(
        figure,
        alt=f"Mean rank correlation with the effect of hiding a word, over {sentences} sentences, with 95 % intervals: {said}.",
    )


CONTROLS = (
    ("window of two", "two words on each side", PINK, (0, (1, 1))),
    ("near words", "near words weighted more (GloVe)", GREEN, "-."),
    ("bag", "bag, rare words weighted more (GloVe)", ORANGE, "--"),
    ("majority", "most frequent sense", GREY, ":"),
)


def exam(
    found: Mapping[tuple[str, str], Sequence[tuple[float, float, float]]],
    recorded: pd.DataFrame,
    chosen: int,
    name: str,
) -> None:
    """Accuracy by layer for each half of the words and kind of sentence, with the recorded baselines.

    `found` has a row of panels for each half (first part of the key) and a column for each kind (second part).
    """
    halves, kinds = (list(dict.fromkeys(key)) for key in zip(*found, strict=True))
    figure, axes = plt.subplots(
        len(halves), len(kinds), figsize=(9.6, 3.1 * len(halves)), sharex=True, sharey=True
    )
    said = []
    for ax, ((half, kind), values) in zip(axes.flat, found.items(), strict=True):
        means, low, high = np.array(values).T
        layers = np.arange(len(means))
        ax.fill_between(layers, low, high, color=BLUE, alpha=0.18)
        ax.plot(layers, means, color=BLUE, marker="o", label=f"nearest neighbour in context ({name})")
        ax.plot(chosen, means[chosen], "o", color=BLUE, markersize=12, fillstyle="none")
        rows = recorded[(recorded.half == half) & (recorded.part == kind) & (recorded.judge != "probe")]
        levels = []
        for vectors, label, colour, style in CONTROLS:
            level = rows[(rows.vectors == vectors) & (rows.chosen | (vectors == "majority"))].value.item()
            ax.axhline(
                level, color=colour, linestyle=style, label=label, zorder=2 + (vectors == "window of two")
            )
            levels.append(f"{label} {level:.2f}")
        probe = recorded[(recorded.half == half) & (recorded.part == kind) & (recorded.judge == "probe") & (recorded.vectors == "context")].iloc[0]  # fmt: skip
        ax.plot(int(probe.variant.split()[1]), probe.value, "^", color=RED, markersize=8, label=f"trained probe on {probe.model}")  # fmt: skip
        levels.append(f"trained probe on {probe.variant} of {probe.model} {probe.value:.2f}")
        ax.annotate(f"{means[chosen]:.2f}", (chosen, means[chosen]), (0, 9), textcoords="offset points", ha="center", fontsize=9)  # fmt: skip
        ax.set(title=f"{half}, {kind} sentences", ylim=(0.35, 1.05))
        ax.title.set_fontsize(10)
        said.append(
            f"{half}, {kind} sentences by layer: {_listed(means)}, at layer {chosen} {means[chosen]:.2f} "
            f"({low[chosen]:.2f} to {high[chosen]:.2f}); {', '.join(levels)}"
        )
    for ax in axes[-1]:
        ax.set_xlabel("layer")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    show(figure, alt=f"Sense accuracy with 95 % intervals over words. {'. '.join(said)}.")


def probes(found: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Accuracy of the probes by layer, with 95 % intervals over five draws."""
    figure, ax = plt.subplots(figsize=(8.4, 3.6))
    said = []
    looks = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-"), (GREY, "D", ":"))
    for (name, values), (colour, marker, style) in zip(found.items(), looks, strict=True):
        means, half = np.array(values).T
        layers = np.arange(len(means)) + {"^": 0.05, "D": -0.05}.get(marker, 0)
        ax.errorbar(
            layers,
            means,
            yerr=half,
            color=colour,
            marker=marker,
            linestyle=style,
            capsize=3,
            markersize=5,
            label=name,
        )
        said.append(f"{name}: {_listed(means)} (± at most {half.max():.2f})")
    ax.set(xlabel="layer", ylabel="accuracy", ylim=(0.4, 1.05))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right center", fontsize=8)
    show(figure, alt=f"Accuracy of linear probes by layer from 0. {'; '.join(said)}.")


def _curves(ax: plt.Axes, similar: Float[Tensor, "3 layers"]) -> None:
    for (name, colour, marker), values in zip(KINDS, similar, strict=True):
        ax.plot(values, color=colour, marker=marker, markersize=5, label=name)


def _by_layer(similar: Float[Tensor, "3 layers"]) -> str:
    return "; ".join(
        f"{name} {_listed(values.tolist())}" for (name, _, _), values in zip(KINDS, similar, strict=True)
    )


def _listed(values: Sequence[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


LEVELS = (
    ("window of two", "two words on each side", PINK, (0, (1, 1))), ("near words", "near words weighted more (skip-gram)", GREEN, "-."),
    ("bag", "bag of words (skip-gram)", ORANGE, "--"), ("majority", "chance", GREY, ":"),
)  # fmt: skip
ASKED_OF_GENERATED = (
    ("left", "cue before", BLUE, "o"), ("right", "cue only after", RED, "s"), ("order1", "order decides", GREEN, "^"),
)  # fmt: skip

Intervals = Sequence[tuple[float, float, float]]


def layer_by_layer(
    separated: Mapping[str, Intervals],
    told: Mapping[str, Mapping[str, Intervals]],
    levels: Mapping[str, Mapping[str, float]],
    generated: Mapping[str, Mapping[str, Intervals]],
    guess: float,
) -> None:
    """By layer, a column for each model: how far senses are apart, the accuracy, and that on the generated language.

    `told` and `levels` share a row of panels for each part: accuracy by model and layer, and accuracy of the baselines.
    """
    figure, axes = plt.subplots(
        2 + len(told), len(separated), figsize=(9.8, 2.0 * (2 + len(told))), sharex="col", sharey="row"
    )
    said = []
    for column, (name, values) in enumerate(separated.items()):
        gap, *shares, made_up = axes[:, column]
        gap.set_title(name, fontsize=10)
        _band(gap, values, BLUE, "o", None)
        gap.axhline(0, color=GREY, linestyle=":", linewidth=1.2)
        said.append(f"{name}: one sense minus two {_with_intervals(values, 3)}")
        for ax, (part, by_model), colour, marker in zip(shares, told.items(), (BLUE, RED), "os", strict=True):
            _band(ax, by_model[name], colour, marker, None)
            for level, label, line, style in LEVELS:
                ax.axhline(
                    levels[part][level],
                    color=line,
                    linestyle=style,
                    linewidth=1.4,
                    label=label,
                    zorder=2 + (level == "window of two"),
                )
            said.append(f"accuracy, {part}, {_with_intervals(by_model[name])}")
        made_up.set_xlabel("layer")
        if name not in generated:
            made_up.axis("off")
            continue
        for kind, label, colour, marker in ASKED_OF_GENERATED:
            _band(made_up, generated[name][kind], colour, marker, label)
            said.append(
                f"generated language, {label}, {_listed([mean for mean, _, _ in generated[name][kind]])}"
            )
        made_up.axhline(guess, color=GREY, linestyle=":", linewidth=1.4)
    axes[0, 0].set_ylabel("one sense − two\n(cosine, centred)")
    for ax, part in zip(axes[1:-1, 0], told, strict=True):
        ax.set_ylabel(f"accuracy:\n{part}")
    axes[-1, 0].set_ylabel("accuracy:\ngenerated language")
    for ax in axes[1:].flat:
        ax.set(ylim=(0.35, 1.05))
        ax.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=8)
    figure.legend(*axes[-1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    levels_said = "; ".join(
        f"{part}: " + ", ".join(f"{label} {levels[part][level]:.2f}" for level, label, _, _ in LEVELS)
        for part in levels
    )
    show(
        figure,
        alt=f"By layer, from 0, with 95 % intervals. {'; '.join(said)}. Baselines, {levels_said}.",
    )


SEEN = (
    ("both", "both sides", BLUE, "o"),
    ("left", "left context only", ORANGE, "s"),
    ("right", "right context only", GREEN, "D"),
)


def pseudo_words(
    told: Mapping[str, Mapping[str, Intervals]], counts: Mapping[str, tuple[float, float, float]]
) -> None:
    """Accuracy on pseudo-words by layer, a panel for each model, a line for each context; `counts` are results without a model."""
    figure, axes = plt.subplots(1, len(told), figsize=(9.8, 3.4), sharey=True)
    said = []
    for ax, (name, by_side) in zip(axes, told.items(), strict=True):
        for side, label, colour, marker in SEEN:
            if side in by_side:
                _band(ax, by_side[side], colour, marker, label)
                said.append(f"{name}, {label}: {_with_intervals(by_side[side])}")
        for (_, (share, _, _)), style in zip(counts.items(), (":", "-.", "--", "-"), strict=True):
            ax.axhline(share, color=GREY, linestyle=style, linewidth=1.3)
        ax.set(title=name, xlabel="layer", ylim=(0.4, 1.0))
        ax.xaxis.get_major_locator().set_params(integer=True)
    highest = max(share for share, _, _ in counts.values())
    for called, (share, _, _) in counts.items():
        axes[-1].annotate(
            f"{called} {share:.2f}",
            (1.03, share),
            xycoords=("axes fraction", "data"),
            va="bottom" if share == highest else "top",  # two of them are close together
            fontsize=8,
        )
    axes[0].set_ylabel("accuracy")
    axes[0].legend(fontsize=8, loc="upper left")
    of_counts = ", ".join(f"{called} {share:.2f}" for called, (share, _, _) in counts.items())
    show(
        figure,
        alt=f"Accuracy on pseudo-words by layer, from 0, with 95 % intervals over pairs. {'; '.join(said)}. Without a model: {of_counts}.",
    )


def _band(ax: plt.Axes, values: Intervals, colour: str, marker: str, label: str | None) -> None:
    """Draw means with their intervals as a band."""
    means, low, high = np.array(values).T
    ax.fill_between(range(len(means)), low, high, color=colour, alpha=0.18)
    ax.plot(means, color=colour, marker=marker, markersize=5, linewidth=1.6, label=label)


def _with_intervals(values: Intervals, digits: int = 2) -> str:
    return ", ".join(
        f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})" for mean, low, high in values
    )
