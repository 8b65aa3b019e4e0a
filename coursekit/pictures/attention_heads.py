"""Figures of notebook 02 about heads: two ways to make them, and which input can change which output."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from IPython.display import Markdown, display
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from coursekit.pictures.attention import heat_map
from coursekit.plots import BLUE, GREEN, ORANGE, show

NO_EFFECT = 1e-6
"""A derivative below this is zero, but for rounding."""


def slices() -> None:
    """Two ways to make three heads: slices of the input (left), and slices of the projections (right)."""
    heads, plain = [BLUE, ORANGE, GREEN], ["#bbbbbb"]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    for ax, title in zip(axes, ("slices of the input", "slices of the projections"), strict=True):
        ax.set(xlim=(-0.2, 9.4), ylim=(-0.5, 3.6), title=title, aspect="equal")
        ax.axis("off")
    _block(axes[0], 0, 0.4, 3, 2, heads, "x   (T × D)")
    _block(axes[1], 0, 0.4, 3, 2, plain, "x   (T × D)")
    axes[1].text(3.25, 1.4, "·", fontsize=16, ha="center", va="center")
    _block(axes[1], 3.5, 0, 2.4, 2.4, heads, "W_q   (D × D)")
    axes[1].text(6.15, 1.4, "=", fontsize=12, ha="center", va="center")
    _block(axes[1], 6.4, 0.4, 3, 2, heads, "queries   (T × D)")
    for i, colour in enumerate(heads):
        corner = (4.0, 1.9 - i * 0.95)
        axes[0].add_patch(plt.Rectangle(corner, 0.8, 0.8, facecolor=colour, edgecolor="white"))
        axes[0].text(5.0, 2.3 - i * 0.95, f"head {i}: d × d matrices for slice {i}", va="center", fontsize=9)
        axes[1].text(6.9 + i, 0.1, f"head {i}", ha="center", fontsize=8)
    show(figure, alt=(
        "Two ways to make three heads. Left: the columns of x are split into three slices, and each head multiplies its slice by small "
        "matrices of its own. Right: the whole of x is multiplied by W_q, and the columns of the product are split into three slices, one for each head."
    ))  # fmt: skip


def _block(
    ax: Axes, left: float, bottom: float, width: float, height: float, colours: Sequence[str], text: str
) -> None:
    """A matrix, drawn as a rectangle of coloured column slices."""
    for i, colour in enumerate(colours):
        corner = (left + i * width / len(colours), bottom)
        ax.add_patch(plt.Rectangle(corner, width / len(colours), height, facecolor=colour, edgecolor="white"))
    ax.text(left + width / 2, bottom + height + 0.12, text, ha="center", fontsize=9)


def influence_of_coordinates(maps: Mapping[str, Float[Tensor, "D D"]]) -> None:
    """Which of the input coordinates (columns) can change which of the output coordinates (rows), for several kinds of heads."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    share = {name: (moved > NO_EFFECT).float().mean().item() for name, moved in maps.items()}
    for ax, (name, moved) in zip(axes, maps.items(), strict=True):
        ax.imshow(moved, vmin=0)
        ax.set(title=f"{name}\n{share[name]:.0%} of the pairs", xlabel="input coordinate")
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("output coordinate")
    numbers = "; ".join(f"{name} {value:.0%}" for name, value in share.items())
    show(figure, alt=(
        f"Heat maps of 50 output by 50 input coordinates, 5 heads. Share of pairs with any influence: {numbers}. "
        "Slices of the input give five separate blocks on the diagonal."
    ))  # fmt: skip


def influence_of_words(moved: Float[Tensor, "T T"], words: Sequence[str], title: str) -> None:
    """How strongly each input word (column) changes each output word (row), and the words on which the output of bank depends."""
    blind = (moved < NO_EFFECT).sum().item()
    of_bank = moved[words.index("bank")]
    reached = ", ".join(word for word, strength in zip(words, of_bank, strict=True) if strength > NO_EFFECT)
    show(heat_map(moved, words, 1, "size of the derivative", "input word", "output word"), alt=(
        f"Which input word changes which output word, {title}. In {blind} of {moved.numel()} pairs the input has no effect. "
        f"The output of bank depends on: {reached}."
    ))  # fmt: skip
    display(Markdown(
        f"{title[0].upper()}{title[1:]}: in **{blind} of {moved.numel()}** pairs the input word has no effect on the output word. "
        f"The output of *bank* depends on: {reached}."
    ))  # fmt: skip
