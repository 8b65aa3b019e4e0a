"""Figures and tables of notebook 02: the steps of attention, on one word and on two sentences."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython.display import Markdown, display
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure
from torch import Tensor

from coursekit.pictures.tables import markdown_table
from coursekit.plots import BLUE, GREY, ORANGE, ink_on, show, write_in_cells
from coursekit.sliders import interact

DARK_ORANGE, DARK_GREY = "#8a5a00", "#595959"
"""For text: more contrast than the colours of bars and points."""
MeanAndHalf = tuple[float, float]
"""A mean, and half the width of its 95 % interval."""


def steps_by_hand(
    toy: Mapping[str, Sequence[float]], products: Mapping[str, float], exponentials: Mapping[str, float],
    weights: Mapping[str, float], new_vector: Sequence[float],
) -> None:  # fmt: skip
    """The example of section 1 as a table: a row for each word with its three numbers and the results of the steps."""
    head = ["word", "water", "money", "grammar", "dot product with *bank*", "divided by √3", "exponential", "weight"]  # fmt: skip
    rows = [
        [word, *(f"{number:g}" for number in vector), f"{products[word]:g}", f"{products[word] / 3**0.5:.2f}",
         f"{exponentials[word]:.2f}", f"{weights[word]:.2f}"]
        for word, vector in toy.items()
    ]  # fmt: skip
    total = sum(exponentials.values())
    numbers = [f"**{number:.2f}**" for number in new_vector]
    rows.append(["**new vector of** ***bank***", *numbers, "", "", f"{total:.2f}", "1.00"])
    display(Markdown(markdown_table(head, rows)))


def steps(words: Sequence[str], vectors: Float[Tensor, "T D"], focal: int) -> None:
    """The three steps of attention for the focal word of a nine-word sentence, with weights of our own choice."""
    figure, ax = plt.subplots(figsize=(9.5, 4.2))
    heights = [0.3, 0.35, 0.6, 0.4, 0.25, 0.55, 0.25, 0.25, 0.7]  # an illustration, not a result
    for place, (word, height) in enumerate(zip(words, heights, strict=True)):
        is_focal = place == focal
        ax.text(place + 0.35, 0, word, ha="center", va="center", weight="bold" if is_focal else "normal",
                color=DARK_ORANGE if is_focal else BLUE)  # fmt: skip
        _strip(ax, vectors[place], place, 0.25)
        _arrow(ax, (place + 0.35, 0.6), (place + 0.35, 1.2))
        ax.text(place + 0.35, 1.4, "bank · " + word, ha="center", va="center", fontsize=8)
        _arrow(ax, (place + 0.35, 1.6), (place + 0.35, 2.1))
        colour = ORANGE if is_focal else BLUE
        ax.add_patch(plt.Rectangle((place + 0.15, 2.2), 0.4, height, color=colour, lw=0))
        _arrow(ax, (place + 0.35, 2.3 + height), (4.6, 3.75), lw=3 * height)
    _strip(ax, vectors.mean(0), 4.25, 3.8)
    ax.text(5.1, 3.94, "the new vector of bank", va="center", color=DARK_ORANGE, weight="bold")
    names = {
        0.38: "1  all words",
        1.4: "2.1  compare",
        1.85: "2.2  scale",
        2.4: "2.3  weights\n(illustration,\nnot a result)",
        3.35: "3  weighted sum",
    }
    for y, text in names.items():
        ax.text(-0.3, y, text, ha="right", va="center", color=DARK_GREY)
    ax.set(xlim=(-2.1, 9), ylim=(-0.2, 4.2))
    ax.text(-0.3, 0, "each strip: eight of the\n50 coordinates of a vector", ha="right", va="center", color=DARK_GREY,
            fontsize=8)  # fmt: skip
    ax.axis("off")
    show(figure, alt=(
        "The steps of attention for the focal word bank. Nine word vectors at the bottom are compared with bank; the results "
        "are scaled and turned into nine weights, drawn as bars; the vectors, multiplied by their weights, add up to the new vector of "
        "bank. The heights of the bars are only illustrative."
    ))  # fmt: skip


def _strip(ax: Axes, vector: Float[Tensor, " D"], left: float, bottom: float, width: float = 0.7) -> None:
    """The first eight numbers of a vector, as a strip of coloured cells."""
    colours = plt.get_cmap("PuOr")((vector[:8].clamp(-1, 1) + 1) / 2)
    for i, colour in enumerate(colours):
        ax.add_patch(plt.Rectangle((left + i * width / 8, bottom), width / 8, 0.28, color=colour, lw=0))


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], **look: float) -> None:
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, **look})


def heat_map(
    matrix: Float[Tensor, "T T"], words: Sequence[str], digits: int, label: str, xlabel: str, ylabel: str
) -> Figure:
    """A matrix over pairs of words as a heat map, with the numbers written into the cells; not yet shown."""
    figure, ax = plt.subplots(figsize=(5.6, 4.6))
    image = ax.imshow(matrix)
    ax.set_xticks(range(len(words)), words, rotation=45, ha="right")
    ax.set_yticks(range(len(words)), words)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    texts = [[f"{value:.{digits}f}" for value in row] for row in matrix.tolist()]
    write_in_cells(image, np.array(texts), fontsize=8)
    figure.colorbar(image, label=label)
    return figure


def dot_products(scores: Float[Tensor, "T T"], words: Sequence[str]) -> None:
    """The dot products of all pairs of words as a heat map, and how often the largest of a row is on the diagonal."""
    on_diagonal = (scores.argmax(-1) == torch.arange(len(words))).sum().item()
    display(
        Markdown(f"In **{on_diagonal} of {len(words)}** rows the largest dot product is on the diagonal.")
    )
    bank_with = dict(zip(words, scores[words.index("bank")].tolist(), strict=True))
    show(
        heat_map(scores, words, 0, "dot product", "key", "query"),
        alt=f"Heat map of the dot products between the nine words of the river sentence, brightest on the diagonal: bank with "
        f"bank {bank_with['bank']:.1f}, bank with river {bank_with['river']:.1f}, bank with the {bank_with['the']:.1f}.",
    )


def variance_by_size(variance: Mapping[str, Sequence[MeanAndHalf]], sizes: Sequence[int]) -> None:
    """The variance of random scores for vectors of several sizes, before and after scaling, with its values at d = 64."""
    (before, before_half), (after, after_half) = (points[sizes.index(64)] for points in variance.values())
    display(Markdown(
        f"Variance at d = 64: **{before:.1f} ± {before_half:.1f}** before scaling, **{after:.3f} ± {after_half:.3f}** after scaling "
        "(± is half the width of a 95 % interval)."
    ))  # fmt: skip
    figure, ax = plt.subplots(figsize=(5.6, 3.4))
    ax.plot(sizes, sizes, color=GREY, lw=1, label="variance = d")
    for (name, points), colour, marker in zip(variance.items(), (ORANGE, BLUE), "os", strict=True):
        means, halves = zip(*points, strict=True)
        ax.errorbar(sizes, means, halves, color=colour, marker=marker, ls="", capsize=3, label=name)
    ax.set(xscale="log", yscale="log", xlabel="number of coordinates d", ylabel="variance of the scores")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.legend()
    show(figure, alt=(
        f"Variance of random scores against the number of coordinates d, both axes logarithmic. Before scaling the variance is d: "
        f"{before:.1f} ± {before_half:.1f} at d = 64. After scaling it is 1: {after:.2f} ± {after_half:.2f}."
    ))  # fmt: skip


def products_of_words(vectors: Float[Tensor, "V 50"], products: Float[Tensor, "V V"]) -> None:
    """Variance and mean of the coordinates of word vectors and of their dot products, as a table."""
    pairs, selves = products[~torch.eye(len(products)).bool()], products.diagonal()
    rows = [
        ["one coordinate of a vector", f"{vectors.var():.2f}", f"{vectors.mean():z.2f}", ""],
        ["dot product of two different words", f"**{pairs.var():.0f}**", f"**{pairs.mean():.1f}**", f"{pairs.mean() / 50**0.5:.2f}"],
        ["dot product of a word with itself", f"{selves.var():.0f}", f"**{selves.mean():.1f}**", f"{selves.mean() / 50**0.5:.2f}"],
        ["squared length of the mean vector", "", f"{vectors.mean(0).square().sum():.1f}", ""],
    ]  # fmt: skip
    display(Markdown(markdown_table(["", "variance", "mean", "mean after division by √50"], rows)))


def by_temperature(
    weights_at: Callable[[float], Float[Tensor, " T"]], temperatures: Mapping[str, float], words: Sequence[str]
) -> None:  # fmt: skip
    """The weights of bank at several temperatures, as bars over the words of the sentence."""
    focal = words.index("bank")
    figure, axes = plt.subplots(1, len(temperatures), figsize=(9.5, 2.8), sharey=True)
    for ax, (title, temperature) in zip(axes, temperatures.items(), strict=True):
        _bars(ax, weights_at(temperature), words, title)
    axes[0].set_ylabel("weight assigned by bank")
    own = ", ".join(f"{title} {weights_at(t)[focal]:.2f}" for title, t in temperatures.items())
    show(figure, alt=f"Weights of bank over the nine words. Bank's weight on itself: {own}.")


def temperature_slider(weights_at: Callable[[float], Float[Tensor, " T"]], words: Sequence[str]) -> None:
    """The weights of bank at the temperature of a slider, from 0.1 to 10."""
    import ipywidgets  # start-up: grading does not need it

    def draw(temperature: float) -> None:
        weights = weights_at(temperature)
        figure, ax = plt.subplots(figsize=(4.5, 2.8))
        _bars(ax, weights, words, f"temperature {temperature:.2f}")
        show(figure, alt=f"The weight of bank on itself is {weights[words.index('bank')]:.2f}, and its weight on river is {weights[-1]:.2f}.")  # fmt: skip

    whole_name = {"description_width": "initial"}
    slider = ipywidgets.FloatLogSlider(value=1, base=10, min=-1, max=1, step=0.1, style=whole_name)
    interact(draw, temperature=slider)


def _bars(ax: Axes, weights: Float[Tensor, " T"], words: Sequence[str], title: str) -> None:
    ax.bar(range(len(words)), weights, color=[ORANGE if word == "bank" else BLUE for word in words])
    ax.set_xticks(range(len(words)), words, rotation=60, ha="right")
    ax.set(ylim=(0, 1), title=title)


def saturation(
    measured: Mapping[tuple[str, int], Sequence[MeanAndHalf]], stuck: Float[Tensor, " queries"]
) -> None:
    """Entropy of the weights and size of the derivative by number of coordinates, with and without scaling.

    `measured` has both, in this order, for each kind of scores and number of coordinates; `stuck` has the size of the derivative
    for single queries, without scaling, at the largest number of coordinates.
    """
    sizes = list(dict.fromkeys(d for _, d in measured))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for which, (ax, label) in enumerate(
        zip(axes, ("entropy of the weights (nats)", "size of the derivative"), strict=True)
    ):
        for name, colour, marker in (("without scaling", ORANGE, "o"), ("with scaling", BLUE, "s")):
            means, halves = zip(*(measured[name, d][which] for d in sizes), strict=True)
            ax.errorbar(sizes, means, halves, color=colour, marker=marker, capsize=3, label=name)
        ax.set(xscale="log", xlabel="number of coordinates d", ylabel=label)
        ax.set_xticks(sizes, sizes)
        ax.minorticks_off()
    axes[0].set_ylim(0, 3)
    axes[1].set_ylim(bottom=0)
    axes[0].axhline(np.log(16), color=GREY, lw=1, ls=":")
    axes[0].text(1024, np.log(16) + 0.05, "uniform", color=DARK_GREY, fontsize=8, ha="right")
    axes[0].legend(loc="center right")
    (e0, _), (j0, _) = measured["without scaling", 1024]
    (e1, _), (j1, _) = measured["with scaling", 1024]
    show(figure, alt=(
        f"Left: entropy of the weights against d. With scaling it stays near {e1:.2f} nats; without scaling it falls to {e0:.2f} at d = 1024. "
        f"Right: size of the derivative. With scaling it stays near {j1:.2f}; without scaling it falls to {j0:.3f}."
    ))  # fmt: skip
    display(Markdown(
        f"At d = 1024, the entropy is **{e0:.2f}** nats without scaling and **{e1:.2f}** nats with scaling; the size "
        f"of the derivative is **{j0:.3f}** without and **{j1:.3f}** with scaling. Without scaling, half of the queries have a "
        f"derivative below {stuck.median():.0e}, and one in twenty has a derivative above {stuck.quantile(0.95):.2f}."
    ))  # fmt: skip


def scaling_slider(
    similarities: Callable[[Tensor, Tensor], Tensor], scale: Callable[[Tensor, int], Tensor],
    softmax: Callable[[Tensor, int], Tensor], entropy: Callable[[Tensor], Tensor], sizes: Sequence[int],
) -> None:  # fmt: skip
    """The weights of one random query over 16 random keys, without and with scaling, all truncated to the size of a slider."""
    import ipywidgets  # start-up: grading does not need it

    drawn = torch.Generator().manual_seed(2)
    query, keys = (torch.randn(n, max(sizes), generator=drawn) for n in (1, 16))

    def draw(d: int) -> None:
        raw = similarities(query[:, :d], keys[:, :d])
        figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), sharey=True)
        said = []
        for ax, name, scores in zip(
            axes, ("without scaling", "divided by √d"), (raw, scale(raw, d)), strict=True
        ):
            weights = softmax(scores, -1)
            ax.bar(range(1, 17), weights[0], color=BLUE)
            ax.set(ylim=(0, 1), xticks=(1, 4, 8, 12, 16), title=f"{name}, d = {d}", xlabel="key")
            said.append(
                f"{name} the largest weight is {weights.max():.2f} and the entropy {entropy(weights).item():.2f} nats"
            )
        axes[0].set_ylabel("weight")
        show(figure, alt=f"Weights of a random query over 16 random keys, d = {d}: {'; '.join(said)}.")

    interact(draw, d=ipywidgets.SelectionSlider(options=sizes, value=64))


def plain_attention(sentences: Sequence[tuple[Sequence[str], Float[Tensor, " T"]]]) -> None:
    """The river and the money sentence, shaded by the weights of bank with word vectors as queries and keys."""
    (river, of_river), (money, of_money) = sentences
    figure, axes = plt.subplots(2, 1, figsize=(10, 2.4))
    shade(axes[0], river, of_river, "weights of bank, with GloVe vectors as queries, keys and values")
    shade(axes[1], money, of_money, "")
    show(figure, alt=(
        f"Both sentences shaded by the weights of bank. River sentence: {heaviest(river, of_river)}; river itself "
        f"{of_river[river.index('river')]:.3f}, the {of_river[river.index('the')]:.3f}. Money sentence: {heaviest(money, of_money)}."
    ))  # fmt: skip


def shade(ax: Axes, words: Sequence[str], weights: Float[Tensor, " T"], title: str) -> None:
    """Draw a sentence; the larger the weight of a word, the darker its background."""
    for place, (word, weight) in enumerate(zip(words, weights.tolist(), strict=True)):
        ground = to_rgba(BLUE, min(1.0, weight))
        ax.add_patch(plt.Rectangle((place, 0), 0.96, 1, color=ground, lw=0))
        colour = ink_on(ground)
        ax.text(place + 0.48, 0.62, word, ha="center", va="center", fontsize=11, color=colour)
        ax.text(place + 0.48, 0.22, f"{weight:.2f}", ha="center", va="center", fontsize=9, color=colour)
    ax.set(xlim=(0, 13), ylim=(0, 1))
    ax.set_title(title, loc="left", fontsize=10)
    ax.axis("off")


def heaviest(words: Sequence[str], weights: Float[Tensor, " T"]) -> str:
    """The four largest weights as text, for the description of a figure."""
    order = weights.argsort(descending=True)[:4].tolist()
    return ", ".join(f"{words[i]} {weights[i]:.2f}" for i in order)


def before_and_after(
    before: Float[Tensor, "T D"], after: Float[Tensor, "T D"], after_money: Float[Tensor, " D"], focal: int
) -> None:
    """Cosines of bank with bank in the other sentence and with the first word of its own, before and after attention.

    `before` and `after` are the vectors of the river sentence, `after_money` is the vector of bank in the money sentence.
    """
    cosine = torch.nn.functional.cosine_similarity
    rows = [
        ["*bank* (river) and *bank* (money)", "1.000", f"**{cosine(after[focal], after_money, dim=-1):.3f}**"],
        ["control: *bank* (river) and *i* (river)",
         *(f"{cosine(vectors[focal], vectors[0], dim=-1):.3f}" for vectors in (before, after))],
    ]  # fmt: skip
    display(Markdown(markdown_table(["cosine similarity", "before attention", "after attention"], rows)))


def masks(sentences: Sequence[Sequence[str]]) -> None:
    """`keep` for the padded river sentence and for the money sentence: blue where it is True."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), sharey=False)
    for ax, words in zip(axes, sentences, strict=True):
        keep = np.array([word != "[PAD]" for word in words])
        ax.imshow(
            np.broadcast_to(keep, (len(words), len(words))),
            cmap=ListedColormap(["#dddddd", BLUE]),
            vmin=0,
            vmax=1,
        )
        ax.set_xticks(range(len(words)), words, rotation=60, ha="right", fontsize=8)
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.set(xlabel="key", ylabel="query")
        for line in range(1, len(words)):
            ax.axhline(line - 0.5, color="white", lw=1)
            ax.axvline(line - 0.5, color="white", lw=1)
    axes[0].set_title("keep for the river sentence: padding columns are False", fontsize=10)
    axes[1].set_title("keep for the money sentence: all True", fontsize=10)
    length, padding = len(sentences[0]), sentences[0].count("[PAD]")
    show(figure, alt=(
        f"keep for a batch of two sentences, {length} by {length} each. For the river sentence the columns of the "
        f"{padding} padding tokens are False (grey) in every row and all others True (blue). For the money sentence every entry is True."
    ))  # fmt: skip
