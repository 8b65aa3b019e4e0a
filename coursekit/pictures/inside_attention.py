"""Figures of notebook 08 about attention. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from torch import Tensor

from coursekit.plots import BLUE, GREY, show, write_in_cells
from coursekit.sliders import interact


def one_head(weights: Float[Tensor, "T T"], tokens: Sequence[str], title: str) -> None:
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


def heads_with_sliders(
    attention: Float[Tensor, "L H T T"], tokens: Sequence[str], layer: int, number: int
) -> None:
    """One head at a time, with a slider for its layer and one for its number."""
    import ipywidgets  # start-up: grading does not need it

    def draw(layer: int, head: int) -> None:
        one_head(attention[layer, head], tokens, f"layer {layer}, head {head}")

    L, H = attention.shape[:2]
    interact(draw, layer=ipywidgets.IntSlider(layer, max=L - 1), head=ipywidgets.IntSlider(number, max=H - 1))


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
    texts = [[f"{value:.1f}" for value in row] for row in entropy.tolist()]
    write_in_cells(image, np.array(texts), fontsize=7)
    ax.set(xlabel="head", ylabel="layer", xticks=range(entropy.shape[1]), yticks=range(entropy.shape[0]))
    figure.colorbar(image, label=f"nats (uniform attention: {even:.2f})", shrink=0.9)
    sharpest, broadest = (
        divmod(place, entropy.shape[1]) for place in (entropy.argmin().item(), entropy.argmax().item())
    )
    show(
        figure,
        alt=f"Mean entropy of attention by layer and head, in nats; uniform attention has {even:.2f}. Means of layers: "
        f"{', '.join(f'{mean:.2f}' for mean in entropy.mean(dim=1).tolist())}. Lowest {entropy.min():.2f} (layer {sharpest[0]}, head {sharpest[1]}), highest "
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
