"""Figures and tables of notebook 02 about attention that was trained on senses."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown, display
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from torch import Tensor

from coursekit.exam import Accuracy, bounds
from coursekit.intervals import mean_and_half
from coursekit.pictures.attention import DARK_GREY, DARK_ORANGE, heaviest, shade
from coursekit.pictures.tables import accuracies_by_question, markdown_table
from coursekit.plots import BLUE, GREY, ORANGE, show

LOOKS = ((GREY, "D", DARK_GREY), (ORANGE, "s", DARK_ORANGE), (BLUE, "o", BLUE))
"""The colour, the marker and the colour of the numbers for each kind of weights: uniform, plain, learned."""
Runs = Mapping[str, Sequence[tuple[Mapping[str, Tensor], Sequence[float]]]]
"""For each kind of weights, the trained matrices and the loss at every step, for each seed."""
Found = Mapping[tuple[str, str], Sequence[float]]
"""For each kind of weights and side of the cue, the accuracy with each seed."""


def accuracies(found: Found, alone: Mapping[str, float]) -> None:
    """The accuracy of each kind of weights where the cue is on the right, with and without the second sentence, as a table."""
    rows = [[kind, f"**{np.mean(found[kind, 'right']):.3f}**", f"{alone[kind]:.3f}"] for kind in alone]
    head = ["accuracy, cue only on the right", "both sentences", "first sentence alone"]
    display(Markdown(markdown_table(head, rows)))


def training(runs: Runs, found: Found, best_without_order: float) -> None:
    """The training loss of each kind of weights, with the best possible loss without word order, and the accuracy by side of the cue."""
    figure, (losses, accuracy) = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(1, 1.2))
    for (kind, of_kind), (colour, marker, _) in zip(runs.items(), LOOKS, strict=True):
        curve = np.mean([curve for _, curve in of_kind], axis=0)
        losses.plot(np.arange(10, 400, 20), curve.reshape(-1, 20).mean(1), color=colour, marker=marker, markersize=4,
                    label=kind)  # fmt: skip
    losses.set(xlabel="training step", ylabel="loss (nats)")
    losses.axhline(best_without_order, color="black", lw=1, ls=":")
    losses.text(395, best_without_order - 0.02, "best possible without word order", ha="right", va="top", fontsize=8)  # fmt: skip
    losses.set_ylim(bottom=0)
    losses.legend(fontsize=8)
    _points(accuracy, found, list(runs))
    means = "; ".join(
        f"{kind} {np.mean(found[kind, 'left']):.2f} and {np.mean(found[kind, 'right']):.2f}" for kind in runs
    )
    majority = bounds().majority
    show(figure, alt=(
        f"Left: training loss of uniform, plain and learned weights; the best possible loss without word order is {best_without_order:.2f} nats. "
        f"Right: accuracy on held-out texts with the cue on the left and only on the right: {means}. "
        f"Always predicting the most frequent sense gives {majority.left:.2f} and {majority.right:.2f}."
    ))  # fmt: skip


def _points(ax: Axes, found: Found, kinds: Sequence[str]) -> None:
    """The accuracy of each seed, by side of the cue and kind of weights."""
    majority = bounds().majority
    for place, side in enumerate(("left", "right")):
        for offset, (kind, (colour, marker, ink)) in enumerate(zip(kinds, LOOKS, strict=True)):
            values, x = found[kind, side], place + (offset - 1) * 0.2
            ax.plot([x] * len(values), values, marker, color=colour, alpha=0.7)
            ax.text(x, max(values) + 0.02, f"{np.mean(values):.2f}", ha="center", color=ink)
        lowest = getattr(majority, side)
        ax.plot([place - 0.35, place + 0.35], [lowest, lowest], ":", color="black", lw=1)
    ax.text(1.38, majority.right, "most\nfrequent\nsense", va="center", fontsize=8)
    ax.set_xticks([0, 1], ["cue on\nthe left", "cue only\non the right"])
    ax.set(ylim=(0.4, 1.05), xlim=(-0.5, 1.75), ylabel="accuracy on held-out texts")


def parts_of_the_loss(nats: Mapping[str, Float[Tensor, " B"]], by_order: Bool[Tensor, " B"]) -> None:
    """Mean entropies and cross-entropies of held-out texts as a table; `by_order` says where only the order reveals the sense."""
    share = by_order.float().mean()
    head = ["nats, held-out texts", "all", f"a word reveals the sense ({1 - share:.0%})", f"only the order reveals it ({share:.0%})"]  # fmt: skip
    rows = [
        [name, f"**{of.mean():.2f}**", f"{of[~by_order].mean():.2f}", f"{of[by_order].mean():.2f}"]
        for name, of in nats.items()
    ]
    display(Markdown(markdown_table(head, rows)))


def effect_of_training(
    river: Sequence[str],
    money: Sequence[str],
    weights_of: Callable[[Sequence[str], int, Mapping[str, Tensor]], Float[Tensor, " T"]],
    untrained: Mapping[str, Tensor],
    trained: Mapping[str, Tensor],
) -> None:
    """The river and the money sentence, shaded by the weights of bank, with untrained and with trained matrices."""
    before, after = (
        [weights_of(words, words.index("bank"), W) for words in (river, money)] for W in (untrained, trained)
    )
    figure, axes = plt.subplots(4, 1, figsize=(10, 4.6))
    shade(axes[0], river, before[0], "before training: random W_q, W_k")
    shade(axes[1], river, after[0], "after training")
    shade(axes[2], money, before[1], "before training")
    shade(axes[3], money, after[1], "after training")
    show(figure, alt=(
        "Both sentences shaded by the weights of bank, before and after training. After training, the largest weights are: "
        f"in the river sentence {heaviest(river, after[0])}; in the money sentence {heaviest(money, after[1])}. "
        f"Before training, they are {heaviest(river, before[0])} and {heaviest(money, before[1])}."
    ))  # fmt: skip


def weights_of_bank(
    given: Mapping[tuple[str, str], tuple[float, float, Sequence[float]]],
    new_words: Iterable[str],
    deposit: Iterable[float],
) -> None:
    """The weights that bank assigns to itself and to the cues, as a table; the words that are new to the model, and the weight of one.

    For each sentence and receiver, `given` has the weight with plain weights, the mean weight with random projections, and the
    weight with each seed after training.
    """
    rows = [
        [name, to, f"{plain:.2f}", f"{random:.2f}", f"**{np.mean(learned):.2f}**", " ".join(f"{value:.2f}" for value in learned)]
        for (name, to), (plain, random, learned) in given.items()
    ]  # fmt: skip
    head = ["sentence", "*bank* attends to", "plain", "random projections", "**trained**", "each seed"]
    display(Markdown(markdown_table(head, rows, align="llrrrl")))
    print("words that do not occur in the training data:", *new_words)
    print("weight of deposit, for each seed:", *(f"{weight:.2f}" for weight in deposit))


def new_sentences(counts: Mapping[str, Sequence[int]], of: int, unseen: float) -> None:
    """How many senses of the sentences written by hand are correct, as a table; `unseen` is the share of words new to the model."""
    rows = [[kind, f"{np.mean(n):.1f}", " ".join(map(str, n))] for kind, n in counts.items()]
    table = markdown_table([f"correct senses, of {of}", "mean", "each seed"], rows, align="lrl")
    display(Markdown(f"{unseen:.0%} of the words never occur in the training data.\n\n{table}"))


def weights_as_explanations(by_training: Sequence[Mapping[str, Float[Tensor, " texts"]]]) -> None:
    """How well weights indicate effects, as a table: means and intervals of the first seed, and the mean of every seed."""
    rows = []
    for label, values in by_training[0].items():
        mean, half = mean_and_half(values)
        each = " ".join(f"{found[label].mean():.2f}" for found in by_training)
        rows.append([label, f"{mean:.2f}", f"±&nbsp;{half:.2f}", each])
    head = ["600 held-out texts", "mean", "half the width of a 95 % interval", "each seed"]
    display(Markdown(markdown_table(head, rows, align="lrrl")))


def by_question(accuracies: Mapping[str, Accuracy | Sequence[Accuracy]]) -> None:
    """The accuracy of each model on each kind of question as a table, with intervals over seeds where there are several."""
    (seeds,) = {len(runs) for runs in accuracies.values() if not isinstance(runs, Accuracy)}
    table = accuracies_by_question(accuracies)
    display(Markdown(f"{table}\n\nAccuracy; ± is half the width of a 95 % interval over {seeds} seeds."))


def both_partners(times_right: Sequence[float], accuracy: float) -> None:
    """In which share of the pairs neither, one or both of the partners are assigned their correct sense, and the accuracy."""
    neither, one, both = times_right
    display(Markdown(
        f"The trained layer predicts the sense correctly for both partners in **{both:.1%}** of the pairs, for one partner in {one:.1%} "
        f"and for neither in {neither:.1%}. Its accuracy on all these questions is {accuracy:.3f}."
    ))  # fmt: skip
