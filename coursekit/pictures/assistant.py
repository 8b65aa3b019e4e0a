"""Figures of notebook 14. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from torch import Tensor

from coursekit.instruction_tuning import TuningRuns
from coursekit.intervals import mean_and_half, wilson
from coursekit.language import load_language
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, show

LIGHT_BLUE, LIGHT_ORANGE = "#bcd9ea", "#f3dfb0"
COLOURS = {"full": BLUE, "last layer": GREEN} | {
    f"LoRA {rank}": colour
    for rank, colour in zip(
        (1, 2, 4, 8, 16), ("#f6d9a0", "#f0bd62", ORANGE, "#b87600", "#6f4700"), strict=True
    )
}


def way() -> None:
    """From a base model to an assistant: the data of each step, and its loss or evaluation."""
    figure, ax = plt.subplots(figsize=(9, 2.0))
    steps = (
        ("base model", "text", "loss on\nthe next token"),
        ("fine-tuned", "questions\nwith answers", "loss on\nthe answers"),
        ("assistant", "pairs: which\nanswer is better", "DPO, relative\nto the reference"),
        ("in use", "new questions", "accuracy, AUC,\nprompts, leaks"),
    )
    for place, (name, data, judged) in enumerate(steps):
        x = 2.4 * place
        ax.add_patch(plt.Rectangle((x, 0.75), 1.7, 0.6, lw=0, color=LIGHT_BLUE))
        ax.text(x + 0.85, 1.05, name, ha="center", va="center", fontsize=11)
        ax.text(x + 0.85, 1.75, data, ha="center", va="center", fontsize=9)
        ax.text(x + 0.85, 0.3, judged, ha="center", va="center", fontsize=9, color="#8a5a00")
        ax.annotate("", (x + 0.85, 1.36), (x + 0.85, 1.52), arrowprops={"arrowstyle": "->", "color": GREY})
        if place:
            ax.annotate(
                "",
                (x - 0.05, 1.05),
                (x - 0.65, 1.05),
                arrowprops={"arrowstyle": "->", "lw": 2, "color": GREY},
            )
    ax.set(xlim=(-0.1, 9.1), ylim=(0, 2.1))
    ax.axis("off")
    show(figure, alt="Four steps, each with its data and its loss or evaluation: " + "; ".join(
        f"{name} ({' '.join(data.split())}; {' '.join(judged.split())})" for name, data, judged in steps
    ) + ".")  # fmt: skip


def packed(rows: Mapping[str, Int[Tensor, "rows T"]]) -> None:
    """The attention mask of the first packed row, and which of its tokens have labels."""
    vocabulary = load_language().vocabulary
    words = [vocabulary[i] for i in rows["ids"][0].tolist()]
    labelled = (rows["labels"][0] != -100).tolist()
    segments = rows["segments"][0].numpy()
    keep = np.tri(len(words), dtype=bool) & (segments[:, None] == segments)
    figure, ax = plt.subplots(figsize=(6.6, 5.4))
    ax.imshow(keep, cmap="Blues", vmin=0, vmax=1.6)
    ax.set_xticks(range(len(words)), words, rotation=90, fontsize=8)
    ax.set_yticks(range(len(words)), words, fontsize=8)
    for tick, marked in zip(ax.get_yticklabels(), labelled, strict=True):
        tick.set_color("#a05a00" if marked else "black")
        tick.set_fontweight("bold" if marked else "normal")
    ax.set(xlabel="key (attended to)", ylabel="query (bold: has a label)")
    seen = keep.sum(axis=1)
    show(figure, alt=(
        f"A packed sequence of {len(words)} tokens: {' '.join(words)}. Blue marks the pairs in which a token may attend to another: a triangle on the "
        f"diagonal for each conversation; no token attends to more than {int(seen.max())}. {sum(labelled)} tokens have labels."
    ))  # fmt: skip


def low_rank(inputs: int, outputs: int, rank: int) -> None:
    """The frozen matrix and the two trainable ones, drawn to scale."""
    figure, ax = plt.subplots(figsize=(7.4, 2.5))
    unit = 1.6 / max(inputs, outputs)
    thin = max(rank * unit, 0.12)
    boxes = (
        (0, outputs * unit, inputs * unit, LIGHT_BLUE, f"W\n{outputs} × {inputs}\nfrozen"),
        (2.9, outputs * unit, thin, LIGHT_ORANGE, f"B: {outputs} × {rank}"),
        (4.2, thin, inputs * unit, LIGHT_ORANGE, f"A: {rank} × {inputs}"),
    )
    for x, height, width, colour, text in boxes:
        ax.add_patch(plt.Rectangle((x, 1.0 - height / 2), width, height, lw=0, color=colour))
        inside = "W" in text
        ax.text(
            x + width / 2,
            1.0 if inside else 1.0 - height / 2 - 0.16,
            text,
            ha="center",
            va="center" if inside else "top",
            fontsize=10,
        )
    ax.text(2.3, 1.0, "+  α/r ·", ha="center", va="center", fontsize=13)
    ax.text(3.7, 1.0, "·", ha="center", va="center", fontsize=16)
    ax.set(xlim=(-0.1, 6.2), ylim=(-0.25, 1.9), aspect="equal")
    ax.axis("off")
    show(figure, alt=(
        f"The frozen matrix W has {outputs} × {inputs} = {outputs * inputs:,} parameters. The update next to it, scaled by alpha over rank, is the product of B, {outputs} × "
        f"{rank}, and A, {rank} × {inputs}: {rank * (inputs + outputs):,} trainable parameters."
    ))  # fmt: skip


def points_and_nats(runs: TuningRuns, best: float, majority: float) -> None:
    """Accuracy against nats per word forgotten: every learning rate with one seed, and the chosen learning rate with several seeds.

    `best` is the best possible accuracy, `majority` that of the most frequent topic.
    """
    table, at_rate, lower = runs.table, runs.at_rate, runs.lower
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True, width_ratios=(1.2, 1))
    for method, swept in table[table["seed"] == 0].groupby("method", sort=False):
        swept = swept.sort_values("lr")
        left.plot(
            swept["forgotten"],
            100 * swept["right"],
            color=COLOURS[method],
            marker="o",
            markersize=4,
            lw=1.2,
            label=method,
        )
    said = []
    for name, runs, face in [(name, runs, None) for name, runs in at_rate.items()] + [
        ("full, lower rate", lower, "white")
    ]:
        (x, dx), (y, dy) = (mean_and_half(runs[what]) for what in ("forgotten", "right"))
        colour = COLOURS[name.partition(",")[0]]
        right.errorbar(
            x,
            100 * y,
            100 * dy,
            dx,
            color=colour,
            marker="o",
            mfc=face or colour,
            markersize=6,
            capsize=2,
            lw=1,
        )
        said.append(f"{name} {100 * y:.0f} ± {100 * dy:.0f} % and {x:.2f} ± {dx:.2f} nats")
    for ax in (left, right):
        ax.axhline(100 * best, color=GREY, linestyle="--", lw=1)
        ax.axhline(100 * majority, color=GREY, linestyle=":", lw=1)
        ax.set(xlabel="forgotten (nats per word)", xlim=(0, None), ylim=(0, 85))
    right.text(0.1, 100 * best + 1.5, "best possible", fontsize=8)
    right.text(0.1, 100 * majority - 5, "always the most frequent topic", fontsize=8)
    left.set(ylabel="accuracy (%)", title="three learning rates each, one seed")
    right.set_title(
        "chosen learning rate, three seeds\n(hollow: full fine-tuning at the next lower rate)", fontsize=10
    )
    left.legend(fontsize=8, loc="lower right")
    show(figure, alt=f"Accuracy and nats forgotten, means of three seeds with 95 % intervals: {'; '.join(said)}. The best possible accuracy is "
                     f"{100 * best:.0f} %; always predicting the most frequent topic gives {100 * majority:.0f} %.")  # fmt: skip


def best_by_beta(rows: Sequence[tuple[str, float, float, Sequence[tuple[str, float]]]]) -> None:
    """The most probable continuations of a prompt under the reference and under the best policies, by decreasing beta."""
    figure, axes = plt.subplots(1, len(rows), figsize=(2.5 * len(rows), 2.5))
    said = []
    for ax, (name, reward, distance, best) in zip(axes, rows, strict=True):
        texts, chances = zip(*best, strict=True)
        ax.barh(range(len(texts)), chances, color=BLUE if distance == 0 else ORANGE, height=0.55)
        for place, text in enumerate(texts):
            ax.annotate(
                text, (0, place - 0.42), (2, 0), textcoords="offset points", fontsize=7.5, va="center"
            )
        ax.invert_yaxis()
        ax.set_yticks([])
        ax.set_title(f"{name}\nreward {reward:.1f}, KL {distance:.2f} nats", fontsize=9)
        ax.set(xlabel="probability", ylim=(len(texts) - 0.4, -0.8))
        said.append(
            f"{name}: reward {reward:.1f}, {distance:.2f} nats from the reference, most probable “{texts[0]}” ({chances[0]:.2f})"
        )
    show(figure, alt="The most probable two-word continuations. " + "; ".join(said) + ".")


def frontier(table: pd.DataFrame, best: Float[np.ndarray, "n 2"]) -> None:
    """Left: reward gained against KL to the reference, for the best policies and for DPO. Right: KL to the best policy."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6))
    betas = sorted(table["beta"].unique(), reverse=True)
    exact = (
        table.groupby("beta")[["best_to_ref", "best_reward", "ref_reward", "ref_to_best"]].mean().loc[betas]
    )
    begun = exact["ref_reward"].iloc[0]
    colours = dict(zip(betas, (SKY, BLUE, PINK, RED), strict=False))
    left.plot(best[:, 0], best[:, 1] - begun, color=GREY, lw=1, zorder=0)
    said = []
    for place, beta in enumerate(betas):
        runs = table[table["beta"] == beta]
        left.plot(
            exact.loc[beta, "best_to_ref"],
            exact.loc[beta, "best_reward"] - begun,
            marker="*",
            markersize=12,
            color=colours[beta],
            lw=0,
        )
        (x, dx), (y, dy), (d, dd) = (mean_and_half(runs[name]) for name in ("to_ref", "reward", "to_best"))
        left.errorbar(x, y - begun, dy, dx, color=colours[beta], marker="o", capsize=2, label=f"β = {beta:g}")
        right.errorbar(place, d, dd, color=colours[beta], marker="o", capsize=3)
        right.plot(place, exact.loc[beta, "ref_to_best"], color=GREY, marker="_", markersize=16)
        said.append(
            f"β = {beta:g}: reward {y:.2f} ± {dy:.2f} at {x:.2f} ± {dx:.2f} nats, π* {exact.loc[beta, 'best_reward']:.2f} at "
            f"{exact.loc[beta, 'best_to_ref']:.2f}, KL to π* {d:.2f} ± {dd:.2f} (from the reference to π*: {exact.loc[beta, 'ref_to_best']:.2f})"
        )
    left.set(
        xlabel="KL to the reference (nats)",
        ylabel="reward gained",
        xscale="log",
        yscale="log",
        title="line and stars: π*; points: DPO",
    )
    left.legend(fontsize=8, loc="lower right")
    right.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
    right.set(xlabel="β", ylabel="KL to π* (nats)", yscale="log", title="points: DPO; bars: reference")
    show(
        figure,
        alt=f"The reference has reward {begun:.2f}. Means of three seeds with 95 % intervals. "
        + "; ".join(said)
        + ". All points lie on or below the curve of π*.",
    )


def judged_reviews(summary: pd.DataFrame, runs: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Accuracy, log loss and overconfidence of each method, with intervals over reviews; small points are single runs."""
    panels = (
        ("accuracy", "accuracy"),
        ("log loss", "log loss (nats)"),
        ("overconfidence", "mean confidence − accuracy"),
    )
    figure, axes = plt.subplots(1, 3, figsize=(9.8, 0.5 * len(summary) + 1.3), sharey=True)
    places, said = np.arange(len(summary)), []
    for ax, (name, label) in zip(axes, panels, strict=True):
        low, high = (summary[f"{name} {end}"] for end in ("low", "high"))
        ax.errorbar(
            summary[name],
            places,
            xerr=[summary[name] - low, high - summary[name]],
            lw=0,
            elinewidth=1.5,
            marker="o",
            color=BLUE,
            capsize=3,
        )
        for place, way in enumerate(summary.index):
            values = [run[name] for run in runs[way]]
            if len(values) > 1:
                ax.plot(
                    values, np.full(len(values), place + 0.25), lw=0, marker=".", markersize=4, color=GREY
                )
        ax.set(xlabel=label)
    axes[0].plot(summary["order"], places, lw=0, marker="|", markersize=14, mew=2, color=ORANGE)
    axes[0].axvline(0.5, color=GREY, linestyle=":", lw=1)
    axes[0].set_title("points: accuracy; bars: AUC", fontsize=9)
    axes[0].set(yticks=places, yticklabels=summary.index, ylim=(len(summary) - 0.4, -0.5), xlim=(0.45, 1))
    axes[1].set_title("grey: single runs", fontsize=9)
    axes[2].set_title("right of 0: overconfident", fontsize=9)
    axes[1].axvline(np.log(2), color=GREY, linestyle=":", lw=1)
    axes[2].axvline(0, color=GREY, linestyle=":", lw=1)
    for way, row in summary.iterrows():
        said.append(
            f"{way}: accuracy {row['accuracy']:.2f} ({row['accuracy low']:.2f} to {row['accuracy high']:.2f}), AUC {row['order']:.2f}, log loss "
            f"{row['log loss']:.2f}, confidence − accuracy {row['overconfidence']:+.2f}"
        )
    show(
        figure,
        alt="Bars are 95 % intervals over reviews; dotted lines mark the chance level and confidence equal to accuracy. "
        + "; ".join(said)
        + ".",
    )


def questions_asked(by_question: pd.DataFrame, n: int) -> None:
    """Accuracy (threshold 0) and AUC of each question about the same n reviews, and means over questions with intervals."""
    figure, ax = plt.subplots(figsize=(7.6, 3.4))
    places, said = np.arange(len(by_question)), []
    for name, label, colour, shift in (
        ("accuracy", "accuracy", BLUE, -0.1),
        ("in order", "AUC", ORANGE, 0.1),
    ):
        values = by_question[name].to_numpy()
        if name == "accuracy":
            ends = np.array([wilson(value, n) for value in values]).T
            ax.errorbar(
                places + shift,
                values,
                [values - ends[0], ends[1] - values],
                lw=0,
                elinewidth=1.2,
                color=colour,
                capsize=2,
            )
        ax.plot(places + shift, values, lw=0, marker="o", color=colour, label=label)
        mean, half = mean_and_half(values)
        ax.errorbar(len(places) + 0.6 + shift, mean, half, marker="D", color=colour, capsize=4)
        said.append(f"{label} from {values.min():.2f} to {values.max():.2f}, mean {mean:.2f} ± {half:.2f}")
    ax.axhline(0.5, color=GREY, linestyle=":", lw=1)
    ax.set_xticks([*places, len(places) + 0.6], [*map(str, places + 1), "mean"])
    ax.set(xlabel="question", ylabel="accuracy, AUC", ylim=(0.35, 1))
    ax.legend(fontsize=8)
    show(
        figure,
        alt=f"{len(by_question)} questions about the same {n} reviews: {'; '.join(said)} (interval over questions).",
    )


def leaked(table: pd.DataFrame) -> None:
    """Accuracy on a test of which a fraction leaked into training, verbatim or reworded, and on another test."""
    figure, axes = plt.subplots(1, table["epochs"].nunique(), figsize=(9, 3.2), sharey=True)
    kinds = (
        ("test", 0, RED, "leaked test, verbatim"),
        ("test", 1, ORANGE, "leaked test, one word changed"),
        ("another test", 0, BLUE, "another test"),
    )
    said = []
    for ax, (epochs, runs) in zip(axes, table.groupby("epochs"), strict=True):
        for name, changed, colour, label in kinds:
            some = runs[(runs["words_changed"] == changed) | (runs["copies"] == 0)]
            shares = sorted(some["copies"].unique())
            means, halves = zip(
                *(mean_and_half(some[some["copies"] == share][name]) for share in shares), strict=True
            )
            ax.errorbar(
                100 * np.array(shares),
                100 * np.array(means),
                100 * np.array(halves),
                color=colour,
                marker="o",
                capsize=3,
                label=label,
            )
            said.append(f"{epochs} epochs, {label}: " + ", ".join(
                f"{100 * mean:.0f} ± {100 * half:.0f} % at {share:.0%}" for mean, half, share in zip(means, halves, shares, strict=True)
            ))  # fmt: skip
        ax.axhline(100 * runs["bound"].mean(), color=GREY, linestyle="--", lw=1.2, label="best possible")
        ax.set(xlabel="leaked fraction of the test (%)", title=f"{epochs} epochs")
    axes[0].set_ylabel("accuracy (%)")
    axes[0].legend(fontsize=8)
    show(
        figure,
        alt="; ".join(said)
        + f". The best possible accuracy is {100 * table['bound'].mean():.0f} %. Intervals are 95 % intervals over three seeds.",
    )
