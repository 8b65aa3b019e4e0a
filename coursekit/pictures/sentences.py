"""Figures of notebook 11. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from torch import Tensor

from coursekit.intervals import bootstrap, mean_and_half
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, SKY, show


def padding(places: Sequence[int], cosines: Mapping[str, Sequence[float]]) -> None:
    """Cosine of a sentence's mean with and without padding, by the amount of padding."""
    figure, ax = plt.subplots(figsize=(7, 3.2))
    for (name, values), colour, marker in zip(cosines.items(), (ORANGE, BLUE), "so", strict=True):
        ax.plot(places, values, marker=marker, markersize=4, color=colour)
        ax.annotate(
            f"{name} {values[-1]:.2f}",
            (places[-1], values[-1]),
            (-4, -14),
            textcoords="offset points",
            ha="right",
            color=colour,
            fontsize=9,
        )
    ax.set(xlabel="positions of padding after the sentence", ylabel="cosine with the mean\nwithout padding")
    ax.set_ylim(min(0.6, min(map(min, cosines.values())) - 0.05), 1.03)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{c:.2f} at {n}" for n, c in zip(places, values, strict=True))
        for name, values in cosines.items()
    )
    show(
        figure,
        alt=f"Cosine of a sentence's mean with its mean without padding, by positions of padding. Mean over {said}.",
    )


def controls(
    found: Mapping[str, tuple[float, float, float]], held: Mapping[str, tuple[float, float, float]]
) -> None:
    """Spearman's correlation with the grades and its 95 % interval for each kind of similarity, with and without controlling for length."""
    names = sorted(found, key=lambda name: name.startswith("MiniLM"))  # MiniLM comes last
    figure, ax = plt.subplots(figsize=(8, 0.5 * len(names) + 1.3))
    for place, name in enumerate(names):
        ours = name in ("our encoder, classification objective", "our encoder, ranking loss")
        colour = GREEN if name.startswith("MiniLM") else BLUE if ours else GREY
        rows = (
            [(found[name], place, colour), (held[name], place + 0.3, "white")]
            if name in held
            else [(found[name], place, colour)]
        )
        for (rho, low, high), y, face in rows:
            ax.plot([low, high], [y, y], color=colour, linewidth=2 if face == colour else 1)
            ax.plot(
                [rho], [y], "o", color=colour, markerfacecolor=face, markersize=6 if face == colour else 4.5
            )
        ax.annotate(
            f"{found[name][0]:.2f}",
            (found[name][0], place),
            (0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.margins(y=0.08)
    ax.set(xlabel="Spearman's correlation with the grades (95 % interval over hypotheses)", xlim=(-0.3, 0.9))
    solid, hollow = (ax.plot([], [], "o", color=GREY, markerfacecolor=face)[0] for face in (GREY, "white"))
    figure.legend(
        (solid, hollow),
        ("correlation", "controlling for the length ratio (partial correlation)"),
        loc="outside lower center",
        ncols=2,
        fontsize=9,
    )
    said = "; ".join(
        f"{name} {found[name][0]:.2f} ({found[name][1]:.2f} to {found[name][2]:.2f})"
        + (f", controlling for length {held[name][0]:.2f}" if name in held else "")
        for name in names
    )
    show(figure, alt=f"Spearman's correlation with the grades of the test pairs, 95 % intervals: {said}.")


def two_readers() -> None:
    """Diagrams of a bi-encoder and a cross-encoder."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6))

    def box(ax, x: float, y: float, text: str, colour: str, width: float = 0.36) -> None:
        ax.add_patch(
            FancyBboxPatch((x - width / 2, y - 0.055), width, 0.11, boxstyle="round,pad=0.012", color=colour, alpha=0.25)
        )  # fmt: skip
        ax.text(x, y, text, ha="center", va="center", fontsize=9)

    def arrow(ax, start: tuple[float, float], end: tuple[float, float]) -> None:
        ax.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, color=GREY, linewidth=1)
        )

    left, right = axes
    for x, sentence, vector in ((0.25, "premise", "u"), (0.75, "hypothesis", "v")):
        box(left, x, 0.08, sentence, GREY)
        box(left, x, 0.33, "encoder, then mean", BLUE)
        box(left, x, 0.58, vector, SKY, 0.12)
        arrow(left, (x, 0.15), (x, 0.26))
        arrow(left, (x, 0.4), (x, 0.51))
        arrow(left, (x, 0.65), (0.5 + 0.3 * (x - 0.5), 0.79))
    left.text(0.5, 0.33, "same\nweights", ha="center", va="center", fontsize=8, color=GREY)
    box(left, 0.5, 0.87, "[u; v; |u − v|] W, or the cosine", ORANGE, 0.62)
    left.set_title("bi-encoder (siamese): one vector per sentence", fontsize=10)
    box(right, 0.5, 0.08, "[CLS] premise [SEP] hypothesis [SEP]", GREY, 0.76)
    box(right, 0.5, 0.45, "encoder: every word attends to both sentences", BLUE, 0.76)
    box(right, 0.5, 0.87, "the vector of [CLS], then W", ORANGE, 0.62)
    arrow(right, (0.5, 0.15), (0.5, 0.38))
    arrow(right, (0.5, 0.52), (0.5, 0.8))
    right.set_title("cross-encoder: one output per pair", fontsize=10)
    for ax in axes:
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.axis("off")
    show(figure, alt=(
        "Two ways to compare a pair. Left, the bi-encoder: premise and hypothesis are encoded separately with the same weights; their means u and v are combined only at the end, in "
        "3D features or a cosine. Right, the cross-encoder: both sentences form one sequence with 3 special tokens; it has 1 output for the pair and no vector for either sentence."
    ))  # fmt: skip


def courses(runs: Mapping[str, Float[np.ndarray, "points 3"]]) -> None:
    """Training loss and Spearman's correlation on the validation pairs by step, with a line for each loss."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.3))
    said = []
    for (name, points), colour, look in zip(runs.items(), (BLUE, ORANGE), ("o-", "s--"), strict=True):
        axes[0].plot(points[:, 0], points[:, 1], look, markersize=3, color=colour, label=name)
        axes[1].plot(points[:, 0], points[:, 2], look, markersize=3, color=colour, label=name)
        said.append(
            f"{name}: mean loss {points[1, 1]:.2f} nats in the first 50 steps and {points[-1, 1]:.2f} in the last 50, "
            f"Spearman's correlation from {points[0, 2]:.2f} to {points[-1, 2]:.2f} after {points[-1, 0]:.0f} steps"
        )
    axes[0].set(xlabel="step (batches of 32 hypotheses)", ylabel="training loss (nats)", ylim=(0, None))
    axes[1].set(xlabel="step", ylabel="Spearman, validation pairs")
    axes[0].legend(fontsize=9)
    show(
        figure,
        alt=f"Training loss and Spearman's correlation on the 96 validation pairs. {'; '.join(said)}.",
    )


def matrices(found: Mapping[str, tuple[Float[Tensor, "n n"], float]], shown: int) -> None:
    """Cosines of hypotheses (rows) with the premises that entail them (columns); partners are on the diagonal."""
    figure, axes = plt.subplots(1, len(found), figsize=(10, 3.7))
    said = []
    for ax, (name, (matrix, nearest)) in zip(axes, found.items(), strict=True):
        image = ax.imshow(matrix[:shown, :shown], vmin=0, vmax=1, cmap="viridis")
        others = float((matrix.sum() - matrix.trace()) / (matrix.numel() - len(matrix)))
        own = float(matrix.diagonal().mean())
        ax.set_title(f"{name}\nown premise {own:.2f}, others {others:.2f}", fontsize=10)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel(f"premises\n{nearest:.0%} nearest to own premise", fontsize=9)
        said.append(
            f"{name}: {own:.2f} and {others:.2f}, {nearest:.0%} of {len(matrix)} hypotheses nearest to their own premise"
        )
    axes[0].set_ylabel("hypotheses")
    figure.colorbar(image, ax=axes, shrink=0.75, label="cosine")
    show(figure, alt=(
        f"Cosines of {shown} hypotheses (rows) with {shown} entailing premises (columns); partners are on the diagonal. Mean cosine with the correct premise and with the others, over all {len(matrix)} hypotheses: {'; '.join(said)}."
    ))  # fmt: skip


LOSSES = {
    "by label": "classification objective",
    "by rank": "ranking loss",
    "by rank, hard negatives": "ranking loss, hard negatives",
}
"""The names of the losses in the recorded table, and in figures."""


def seeds(recorded: pd.DataFrame, minilm: float) -> str:
    """Plot the recorded table with intervals over seeds, and return a text that says which differences exceed the noise."""
    rho = recorded[recorded.measure == "Spearman, test"]
    whole = rho[(rho.pairs == 192) | (rho.pairs == 0)].replace({"objective": LOSSES})
    names = ["before training", "before training, centred", *LOSSES.values()]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(1.3, 1), sharey=True)
    means = {name: mean_and_half(whole[whole.objective == name].value) for name in names}
    for place, (name, (mean, half)) in enumerate(means.items()):
        values = whole[whole.objective == name].value
        left.plot([place] * len(values), values, "o", color=SKY, markersize=4, alpha=0.8)
        left.errorbar(place + 0.18, mean, half, fmt="o", color=BLUE, capsize=3)
        left.annotate(f"{mean:.3f}", (place + 0.18, mean + half), (0, 4), textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
    left.set_xticks(range(len(names)), [name.replace(" ", "\n", 1).replace(", ", ",\n") for name in names], fontsize=8)  # fmt: skip
    left.set_ylabel("Spearman, test pairs")
    ranked = rho[rho.objective == "by rank"]
    sizes = sorted(ranked.pairs.unique())
    amounts = [mean_and_half(ranked[ranked.pairs == size].value) for size in sizes]
    right.errorbar(sizes, [m for m, _ in amounts], [h for _, h in amounts], fmt="o-", color=BLUE, capsize=3)
    right.set_xscale("log", base=2)
    right.set_xticks(sizes, sizes)
    right.set_xlabel("training hypotheses (ranking loss)")
    for ax in (left, right):
        ax.axhline(minilm, color=GREEN, linestyle=":")
    right.annotate(
        "MiniLM", (sizes[0], minilm), (0, -11), textcoords="offset points", color=GREEN, fontsize=9
    )
    count = rho.seed.nunique()
    said = "; ".join(f"{name} {mean:.3f} ± {half:.3f}" for name, (mean, half) in means.items())
    grown = "; ".join(
        f"{size}: {mean:.3f} ± {half:.3f}" for size, (mean, half) in zip(sizes, amounts, strict=True)
    )
    show(figure, alt=f"Spearman's correlation on the test pairs over {count} seeds, 95 % intervals. {said}. Ranking loss, by number of training hypotheses: {grown}. MiniLM {minilm:.3f}.")  # fmt: skip
    return _compared(whole, count)


def _compared(whole: pd.DataFrame, count: int) -> str:
    """Differences between runs with the same seeds, with their intervals, and whether they exceed the noise."""
    by_seed = whole.pivot(index="seed", columns="objective", values="value")
    lines = [f"Differences in Spearman's correlation over the same {count} seeds, with 95 % intervals:", ""]
    for after, control in (
        ("ranking loss", "before training"),
        ("ranking loss", "before training, centred"),
        ("classification objective", "before training"),
        ("ranking loss, hard negatives", "ranking loss"),
    ):
        difference = by_seed[after] - by_seed[control]
        mean, half = mean_and_half(difference)
        verdict = "exceeds the noise of the seeds" if abs(mean) > half else "within the noise of the seeds"
        lines.append(f"- {after} minus {control}: {mean:+.3f} ± {half:.3f}, {verdict}")
    return "\n".join(lines)


def found(places: Mapping[str, Int[Tensor, " Q"]], by_chance: float) -> None:
    """Fraction of queries whose correct text is ranked first or among the first five, with bootstrap intervals over queries."""
    figure, ax = plt.subplots(figsize=(8, 3.3))
    said = []
    for row, (name, place) in enumerate(places.items()):
        for offset, (k, colour) in enumerate(((1, BLUE), (5, SKY))):
            hit = (place <= k).numpy().astype(float)
            low, high = bootstrap(hit, draws=1000)
            y = row + 0.34 * (offset - 0.5)
            ax.barh(
                y,
                hit.mean(),
                0.32,
                color=colour,
                hatch="" if k == 1 else "//",
                edgecolor="white",
                label=f"among the first {k}" if k > 1 else "ranked first",
            )
            ax.plot([low, high], [y, y], color="black", linewidth=1.2)
            ax.annotate(
                f"{hit.mean():.0%}", (high, y), (5, 0), textcoords="offset points", va="center", fontsize=9
            )
            said.append(
                f"{name}, {'first' if k == 1 else 'first five'} {hit.mean():.0%} ({low:.0%} to {high:.0%})"
            )
    ax.axvline(by_chance, color=GREY, linestyle=":")
    ax.set_yticks(range(len(places)), places)
    ax.invert_yaxis()
    ax.set(xlabel="fraction of questions whose paragraph is found (95 % interval)", xlim=(0, 1.08))
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles[:2], labels[:2], loc="outside lower center", ncols=2, fontsize=9)
    count = len(next(iter(places.values())))
    show(
        figure,
        alt=f"Fraction of {count} questions whose paragraph is found: {'; '.join(said)}. Chance level: {by_chance:.1%}.",
    )


def long_texts(hits: pd.DataFrame, part: Int[np.ndarray, " Q"]) -> None:
    """Fraction of questions whose document is ranked first, by the position of the paragraph in its document."""
    figure, ax = plt.subplots(figsize=(8, 3.6))
    said = []
    parts = np.unique(part)
    looks = ((ORANGE, "s--"), (BLUE, "o-"), (GREEN, "D-."))
    for offset, (name, (colour, look)) in enumerate(zip(hits, looks, strict=True)):
        shares, lows, highs = [], [], []
        for place in parts:
            values = hits[name][part == place].to_numpy(float)
            low, high = bootstrap(values, draws=1000)
            shares.append(values.mean())
            lows.append(values.mean() - low)
            highs.append(high - values.mean())
        ax.errorbar(parts + 0.12 * (offset - 1), shares, (lows, highs), fmt=look, color=colour, capsize=2, linewidth=1.5,
                    label=f"{name} (all: {hits[name].mean():.0%})")  # fmt: skip
        said.append(
            f"{name}: " + ", ".join(f"{share:.0%}" for share in shares) + f", all {hits[name].mean():.0%}"
        )
    ax.set(xlabel="position of the relevant paragraph in its document", ylabel="document ranked first", ylim=(0, 1.05))  # fmt: skip
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    counts = ", ".join(str(int((part == place).sum())) for place in parts)
    show(figure, alt=(
        f"Fraction of questions whose document is ranked first, by the position (1 to {parts[-1]}) of the relevant paragraph in it, with 95 % intervals over "
        f"{counts} questions. {'; '.join(said)}."
    ))  # fmt: skip


def decoder(by_layer: Mapping[str, Sequence[float]], lines: Mapping[str, float]) -> None:
    """Spearman's correlation of a decoder's sentence vectors by layer, for two ways of pooling, with reference lines."""
    figure, ax = plt.subplots(figsize=(8, 3.4))
    said = []
    for (name, values), colour, look in zip(by_layer.items(), (BLUE, PINK), ("o-", "s--"), strict=True):
        layers = range(1, len(values) + 1)
        ax.plot(layers, values, look, markersize=3, color=colour, label=f"decoder, {name}")
        best = int(np.argmax(values))
        said.append(
            f"{name}: {values[0]:.2f} at layer 1, {values[best]:.2f} at layer {best + 1}, {values[-1]:.2f} at the last layer"
        )
    for (name, value), colour in zip(lines.items(), (GREY, GREEN), strict=True):
        ax.axhline(value, color=colour, linestyle=":")
        place, label = (1.01, value), f"{name.split(':')[0]} {value:.2f}"
        ax.annotate(label, place, xycoords=("axes fraction", "data"), va="center", fontsize=9, color=colour)
        said.append(f"{name} {value:.2f}")
    ax.set(xlabel="layer", ylabel="Spearman, test pairs", ylim=(-0.2, 0.6))
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.legend(fontsize=9, loc="lower right")
    show(
        figure,
        alt=f"Spearman's correlation of a decoder's sentence vectors with the grades, by layer. {'; '.join(said)}.",
    )


def encoders(
    spearman_of: Mapping[tuple[str, str], Float[np.ndarray, " seeds"]],
    over_pairs: Mapping[tuple[str, str], tuple[float, float]],
    recall_of: Mapping[tuple[str, str], Float[np.ndarray, " seeds"]],
    lines: Mapping[str, float],
) -> None:
    """Agreement with the grades and recall at 1 among all test premises, for each encoder and loss, by seed and on average."""
    names = list(spearman_of)
    figure, axes = plt.subplots(1, 2, figsize=(10, 0.36 * len(names) + 1.4), sharey=True)
    said = []
    for place, (encoder, objective) in enumerate(names):
        colour, filled = encoder_look(encoder)
        for ax, values in zip(
            axes, (spearman_of[encoder, objective], recall_of[encoder, objective]), strict=True
        ):
            ax.plot(values, [place] * len(values), "o", color=colour, markersize=4, alpha=0.6,
                    markerfacecolor=colour if filled else "white")  # fmt: skip
            ax.plot([values.mean()], [place], "|", color=colour, markersize=14, markeredgewidth=2.5)
        low, high = over_pairs[encoder, objective]
        axes[0].plot([low, high], [place, place], color=colour, linewidth=1)
        said.append(
            f"{encoder}, {objective}: {spearman_of[encoder, objective].mean():.2f} ({low:.2f} to {high:.2f}) and "
            f"{recall_of[encoder, objective].mean():.0%}"
        )
    for name, value in lines.items():
        axes[0].axvline(value, color=GREEN if name == "MiniLM" else GREY, linestyle=":")
        axes[0].annotate(f"{name} {value:.2f}", (value, 1), (2, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                         fontsize=8, ha="center", color=GREEN if name == "MiniLM" else GREY)  # fmt: skip
    axes[0].axvline(0, color=GREY, linewidth=0.8)
    axes[0].set_yticks(
        range(len(names)), [f"{encoder}: {objective}" for encoder, objective in names], fontsize=9
    )
    axes[0].invert_yaxis()
    axes[0].set_xlabel(
        "Spearman, test pairs (dots: seeds; line: 95 %\ninterval of their mean over hypotheses)"
    )
    axes[1].set_xlabel("recall at 1: entailing premise\nfirst among all 192 test premises")
    axes[1].set_xlim(0, 1)
    show(figure, alt=(
        f"Spearman's correlation with the grades (mean over seeds, 95 % interval over hypotheses) and fraction of hypotheses whose entailing premise is first among all 192. {'; '.join(said)}. "
        + "; ".join(f"{name} {value:.2f}" for name, value in lines.items()) + "."
    ))  # fmt: skip


def encoder_look(encoder: str) -> tuple[str, bool]:
    """The colour of an encoder, and whether its training started from pre-trained weights."""
    return (ORANGE if encoder.startswith("small BERT") else BLUE), not encoder.endswith("untrained")


def encoder_rates(
    spearman_of: Mapping[tuple[str, str, float], Float[np.ndarray, " seeds"]], before: Mapping[str, float]
) -> None:
    """Agreement with the grades by learning rate: a panel for each architecture, a line for each initialisation and loss."""
    figure, axes = plt.subplots(1, len(before), figsize=(10, 3.2), sharey=True)
    said = []
    lines = list(dict.fromkeys(run[:2] for run in spearman_of))
    for ax, (architecture, at_first) in zip(axes, before.items(), strict=True):
        for encoder, objective in (line for line in lines if line[0].startswith(architecture)):
            rates = sorted(run[2] for run in spearman_of if run[:2] == (encoder, objective))
            values = np.array([spearman_of[encoder, objective, rate] for rate in rates])  # rates seeds
            colour, filled = encoder_look(encoder)
            look = {"color": colour, "markerfacecolor": colour if filled else "white",
                    "linestyle": "-" if objective == "ranking loss" else "--", "marker": "o" if objective == "ranking loss" else "s"}  # fmt: skip
            ax.plot(rates, values.mean(axis=1), markersize=5,
                    label=f"{objective}, {'pre-trained' if filled else 'untrained'}", **look)  # fmt: skip
            ax.plot(
                np.repeat(rates, values.shape[1]), values.ravel(), ".", color=colour, markersize=4, alpha=0.5
            )
            said.append(
                f"{encoder}, {objective}: "
                + ", ".join(
                    f"{value:.2f} at {rate:g}" for rate, value in zip(rates, values.mean(axis=1), strict=True)
                )
            )
        ax.axhline(at_first, color=GREY, linestyle=":")
        ax.annotate("before training", (1, at_first), (-2, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
                    fontsize=8, ha="right", color=GREY)  # fmt: skip
        ax.set_xscale("log")
        tried = sorted({run[2] for run in spearman_of if run[0].startswith(architecture)})
        ax.set_xticks(tried, [f"{rate:.0e}".replace("e-0", "e-") for rate in tried])
        ax.set_xticks([], minor=True)
        ax.set_xlabel("learning rate (maximum of the schedule)")
        ax.set_title(architecture, fontsize=10)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("Spearman, test pairs\n(lines: means; dots: seeds)")
    show(
        figure,
        alt=f"Spearman's correlation with the grades by learning rate, mean over seeds. {'; '.join(said)}.",
    )


def recalls(
    hits: Mapping[tuple[str, int], Float[np.ndarray, " Q"]], describes: Float[np.ndarray, " Q"], passages: int
) -> None:
    """Recall at k of each search, for questions that name their term and questions that describe it."""
    searches = list(dict.fromkeys(name for name, _ in hits))
    sizes = list(dict.fromkeys(k for _, k in hits))
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
    said = []
    kinds = (("name the term", ~describes), ("describe it", describes))
    for ax, (kind, rows) in zip(axes, kinds, strict=True):
        for offset, (name, colour, look) in enumerate(
            zip(searches, (GREY, ORANGE, GREEN), ("s:", "o--", "D-"), strict=True)
        ):
            values = [hits[name, k][rows] for k in sizes]
            means = np.array([value.mean() for value in values])
            bounds = np.array([bootstrap(value, draws=1000) for value in values])
            errors = np.stack([means - bounds[:, 0], bounds[:, 1] - means])
            places = np.arange(len(sizes)) + 0.1 * (offset - 1)
            ax.errorbar(places, means, errors, fmt=look, color=colour, capsize=2, markersize=5, label=name)
            said.append(
                f"questions that {kind}, {name}: "
                + ", ".join(f"{m:.0%} at {k}" for m, k in zip(means, sizes, strict=True))
            )
        ax.plot(range(len(sizes)), [k / passages for k in sizes], color=GREY, linewidth=0.8)
        ax.annotate("chance", (len(sizes) - 1, sizes[-1] / passages), (0, 3), textcoords="offset points", ha="right", fontsize=8, color=GREY)  # fmt: skip
        ax.set_xticks(range(len(sizes)), sizes)
        ax.set(xlabel="k", ylim=(-0.02, 1.04))
        ax.set_title(f"{rows.sum()} questions that {kind}", fontsize=10)
    axes[0].set_ylabel("recall at k")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    show(
        figure,
        alt=f"Recall at k among {passages} passages, with 95 % intervals over questions. {'; '.join(said)}.",
    )


def answers(shares: Mapping[str, Mapping[str, Float[np.ndarray, " Q"]]], titles: Mapping[str, str]) -> None:
    """A panel for each measure: its mean over the questions for each prompt, with 95 % intervals over questions."""
    figure, axes = plt.subplots(1, len(titles), figsize=(10, 3.4), sharey=True)
    said = []
    for ax, (measure, title) in zip(axes, titles.items(), strict=True):
        for place, (way, found) in enumerate(shares.items()):
            values = found[measure]
            mean, (low, high) = (
                values.mean(),
                bootstrap(values, draws=1000) if values.std() else (values[0],) * 2,
            )
            colour = GREY if way.startswith("baseline") else BLUE
            ax.plot([low, high], [place, place], color=colour)
            ax.plot([mean], [place], "o", color=colour, markersize=6)
            ax.annotate(
                f"{mean:.0%}", (mean, place), (0, 6), textcoords="offset points", ha="center", fontsize=9
            )
            said.append(f"{way}, {measure}: {mean:.0%} ({low:.0%} to {high:.0%})")
        ax.set(xlim=(-0.05, 1.08))
        ax.set_xlabel(title, fontsize=9)
        ax.margins(y=0.12)
    axes[0].set_yticks(range(len(shares)), shares)
    axes[0].invert_yaxis()
    show(
        figure,
        alt=f"Support by the given passage and by the correct passage, and words of the correct answer: means over the questions with 95 % intervals. {'; '.join(said)}.",
    )
