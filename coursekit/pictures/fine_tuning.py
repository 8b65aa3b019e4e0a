"""Figures of notebook 09. Each draws values that the notebook has computed or loaded, and states them in its alt text."""

from collections.abc import Callable, Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float
from torch import nn

from coursekit.intervals import half_width, mean_and_half
from coursekit.miniature import settings
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, show

COLOURS = {
    "frozen features": GREEN,
    "last layer": SKY,
    "gradual unfreezing": PINK,
    "full": BLUE,
    "from scratch": GREY,
}
MARKERS = dict(zip(COLOURS, "osD^v", strict=True))


def strategies(counts: Mapping[str, int], L: int, model: str) -> None:
    """Which parts each strategy trains, from bottom to top (gradual unfreezing epoch by epoch), and a table of their trainable parameters."""
    parts = ["embeddings", *(f"layer {i}" for i in range(L)), "head"]
    learns = {
        "frozen\nfeatures": np.arange(L + 2) == L + 1,
        "last\nlayer": np.arange(L + 2) >= L,
        **{f"gradual,\nepoch {e}": np.arange(L + 2) >= L + 1 - e for e in (0, 1, 2)},
        f"gradual,\nepoch {L + 1}": np.ones(L + 2, dtype=bool),
        "full": np.ones(L + 2, dtype=bool),
    }
    figure, ax = plt.subplots(figsize=(9, 0.8 + 0.42 * (L + 2)))
    for column, free in enumerate(learns.values()):
        for row, learns_here in enumerate(free):
            ax.add_patch(plt.Rectangle((column - 0.42, row - 0.4), 0.84, 0.8, linewidth=0,
                                       color=ORANGE if learns_here else GREY, alpha=0.9 if learns_here else 0.25))  # fmt: skip
            ax.text(column, row, "trained" if learns_here else "frozen", ha="center", va="center", fontsize=8)
    ax.set_xticks(range(len(learns)), learns)
    ax.set_yticks(range(len(parts)), parts)
    ax.set(xlim=(-0.6, len(learns) - 0.4), ylim=(-0.6, L + 1.6))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    said = "; ".join(f"{name} {count:,}" for name, count in counts.items())
    show(figure, alt=(
        f"The parts of a model, from the embeddings at the bottom through {L} layers to the head. Frozen features: only the head is trained. "
        f"Last layer: the head and layer {L - 1}. Gradual unfreezing: the head in epoch 0, one more part in each epoch, all {L + 2} from "
        f"epoch {L + 1} on. Full: all parts. Trainable parameters of {model}: {said}."
    ))  # fmt: skip
    display(pd.DataFrame({f"trainable parameters of {model}": counts}).map("{:,}".format))


def rates(schedule: Callable[[int, int, int], float], model: nn.Module, groups: list[dict]) -> None:
    """The fraction of the learning rate over 300 steps, and the full learning rate of each part of the model in its groups."""
    shares = {
        f"warm-up of {share:.0%}": [schedule(step, int(share * 300), 300) for step in range(301)]
        for share in (0.1, 0.0)
    }
    by_part = {}
    for (name, _), rate in zip(model.named_parameters(), settings(model, groups)["lr"].tolist(), strict=True):
        by_part[".".join(name.split(".")[: 2 if name.startswith("layers") else 1])] = rate
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2))
    for (name, values), colour, style in zip(
        shares.items(), (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=False
    ):
        left.plot(values, color=colour, linestyle=style, label=name)
    left.set(xlabel="step", ylabel="fraction of the full learning rate", title="by step", ylim=(-0.03, 1.08))
    left.legend(fontsize=8)
    right.barh(list(by_part), list(by_part.values()), color=BLUE)
    right.set(title="by part", xlabel="learning rate")
    right.tick_params(axis="y", labelsize=8)
    tops = "; ".join(f"{name}: highest at step {int(np.argmax(values))}" for name, values in shares.items())
    depth = ", ".join(f"{name} {value:.1e}" for name, value in by_part.items())
    show(
        figure,
        alt=f"Left: fraction of the learning rate over the steps. {tops}. Right: learning rate of each part: {depth}.",
    )


def first_steps(lengths: Mapping[str, Float[np.ndarray, " steps"]]) -> None:
    """How far one weight moves in each step, in multiples of the learning rate."""
    figure, ax = plt.subplots(figsize=(8, 3.2))
    for (name, values), colour, style in zip(lengths.items(), (ORANGE, BLUE), ("--", "-"), strict=True):
        ax.plot(np.arange(1, len(values) + 1), values, style, color=colour, label=name)
    ax.axhline(1, color=GREY, linewidth=1, linestyle=":")
    ax.set(
        xlabel="step (from 1)",
        ylabel="step length / learning rate",
        xscale="log",
        ylim=(0, None),
    )
    ax.legend(fontsize=9)
    said = "; ".join(
        f"{name}: {values[0]:.2f} at step 1, at most {values.max():.2f} (step {values.argmax() + 1}), {values[-1]:.2f} at step {len(values)}"
        for name, values in lengths.items()
    )
    show(
        figure,
        alt=f"Length of Adam's steps under a constant gradient, in multiples of the learning rate. {said}.",
    )


def live_run(course: Float[np.ndarray, "points 5"], best: float, uniform: float) -> None:
    """One fine-tuning run: step, training loss, validation loss, validation accuracy, nats per masked word."""
    steps, train, validation, right, words = course.T
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.3))
    axes[0].plot(steps, train, color=ORANGE, linestyle="--", marker="s", markersize=3, label="training")
    axes[0].plot(steps, validation, color=BLUE, marker="o", markersize=3, label="validation")
    axes[0].set(title="loss (nats per sentence)", ylim=(0, None))
    axes[0].legend(fontsize=8)
    axes[1].plot(steps, right, color=BLUE, marker="o", markersize=3)
    axes[1].axhline(best, color=GREEN, linestyle=":")
    axes[1].axhline(0.5, color=GREY, linestyle=":")
    axes[1].set(title="validation accuracy", ylim=(0.4, 1.02))
    axes[1].annotate(f"upper bound {best:.3f}", (steps[-1], best), (0, -4), textcoords="offset points",
                     va="top", ha="right", fontsize=8, color=GREEN)  # fmt: skip
    axes[2].plot(steps, words, color=RED, marker="o", markersize=3)
    axes[2].text(0.02, 0.97, f"(uniform distribution: {uniform:.1f})", va="top", fontsize=8, color=GREY,
                 transform=axes[2].transAxes)  # fmt: skip
    axes[2].set(title="old task (nats per masked word)", ylim=(0, 1.25 * words.max()))
    for ax in axes:
        ax.set_xlabel("step")
        ax.title.set_fontsize(10)
    lowest = int(validation.argmin())
    show(figure, alt=(
        f"In {steps[-1]:.0f} steps of full fine-tuning, the training loss goes from {train[1]:.2f} to {train[-1]:.2f}. The validation loss is lowest at step "
        f"{steps[lowest]:.0f} with {validation[lowest]:.2f}, and {validation[-1]:.2f} at the end. The validation accuracy goes from {right[0]:.1%} to "
        f"{right[-1]:.1%} (upper bound {best:.1%}), the loss on masked words from {words[0]:.2f} to {words[-1]:.2f} nats."
    ))  # fmt: skip


def trade_off(table: pd.DataFrame, labels: int) -> None:
    """Accuracy against forgetting for one number of labels, with a panel for each task and 95 % intervals over seeds as bars."""
    some = table[table["labels"] == labels]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), sharey=True)
    said = []
    for ax, task in zip(axes, some["task"].unique(), strict=True):
        for strategy, colour in COLOURS.items():
            runs = some[(some["task"] == task) & (some["strategy"] == strategy)]
            if strategy == "from scratch":
                continue
            (right, up), (lost, side) = mean_and_half(100 * runs["test"]), mean_and_half(runs["forgotten"])
            ax.errorbar(
                lost,
                right,
                xerr=side,
                yerr=up,
                fmt=MARKERS[strategy],
                color=colour,
                capsize=3,
                label=strategy,
            )
            said.append(
                f"{task}, {strategy}: accuracy {right:.1f} ± {up:.1f} %, forgetting {lost:.2f} ± {side:.2f} nats"
            )
        ax.set(
            title=f"{task}, {labels:,} labels",
            xlabel="forgetting (nats per masked word)",
            ylabel="accuracy (%)",
        )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    show(figure, alt=f"Test accuracy against forgetting, means and 95 % intervals over {some['seed'].nunique()} seeds. {'; '.join(said)}.")  # fmt: skip


def by_labels(table: pd.DataFrame, best: Mapping[str, float], chance: Mapping[str, float]) -> None:
    """Accuracy by number of labels, with a line for each strategy and a panel for each task."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9))
    said = []
    for ax, task in zip(axes, table["task"].unique(), strict=True):
        for place, (strategy, colour) in enumerate(COLOURS.items()):
            runs = table[(table["task"] == task) & (table["strategy"] == strategy)].groupby("labels")["test"]
            means = runs.agg(lambda values: 100 * values.mean())
            halves = runs.agg(lambda values: 100 * half_width(values))
            ax.errorbar(means.index * (0.9 + 0.05 * place), means, yerr=halves, color=colour, capsize=3, marker=MARKERS[strategy],
                        markersize=5, linewidth=1.5, linestyle="--" if strategy == "from scratch" else "-", label=strategy)  # fmt: skip
            values = ", ".join(f"{n:,}: {means[n]:.1f} ± {halves[n]:.1f}" for n in means.index)
            said.append(f"{task}, {strategy}: {values}")
        for name, limit, colour, side in (
            ("upper bound", best[task], GREEN, "bottom"),
            ("majority class", chance[task], GREY, "top"),
        ):
            ax.axhline(100 * limit, color=colour, linestyle=":", linewidth=1)
            x, y = {"bottom": (0.02, 1), "top": (0.12, -8)}[side]  # below the line from scratch
            ax.annotate(name, (x, 100 * limit), (0, y), xycoords=("axes fraction", "data"), textcoords="offset points",
                        fontsize=8, color=colour, va=side)  # fmt: skip
        ax.set_xscale("log")
        ax.set_xticks(means.index, [f"{n:,}" for n in means.index])
        ax.minorticks_off()
        ax.set(title=task, xlabel="labels", ylabel="accuracy (%)", ylim=(100 * chance[task] - 9, 106))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    limits = "; ".join(f"{task} {best[task]:.1%} and {chance[task]:.1%}" for task in best)
    show(figure, alt=(
        f"Test accuracy in per cent by number of labels, with 95 % intervals over seeds. {'; '.join(said)}. Upper bound and "
        f"majority class (dotted): {limits}."
    ))  # fmt: skip


def sweep(table: pd.DataFrame, across: str, label: str, reference: float | None = None) -> None:
    """Accuracy and forgetting of full fine-tuning across learning rates or epochs, a line for each task."""
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.3))
    said = []
    for task, runs in table.groupby("task", sort=False):
        colour, marker = (BLUE, "s") if task == "swap" else (GREEN, "o")
        for ax, measure, scale in ((axes[0], "test", 100), (axes[1], "forgotten", 1)):
            groups = runs.groupby(across)[measure]
            means = groups.agg(lambda values, scale=scale: scale * values.mean())
            halves = groups.agg(lambda values, scale=scale: scale * half_width(values))
            ax.errorbar(means.index, means, yerr=halves, color=colour, marker=marker, markersize=5, capsize=3, label=task)  # fmt: skip
            digits = 1 if measure == "test" else 2
            values = ", ".join(f"{n:g}: {means[n]:.{digits}f} ± {halves[n]:.{digits}f}" for n in means.index)
            said.append(f"{task}, {'accuracy (%)' if measure == 'test' else 'forgetting (nats)'}: {values}")
    if reference:
        axes[1].axhline(reference, color=GREY, linestyle=":")
        axes[1].annotate("uniform distribution", (table[across].min(), reference), (0, -3), textcoords="offset points", va="top",
                         fontsize=8, color=GREY)  # fmt: skip
    for ax, title in zip(
        axes, ("accuracy on test sentences (%)", "forgetting (nats per masked word)"), strict=True
    ):
        ax.set_xscale("log")
        ticks = sorted(table[across].unique())
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.set(xlabel=label)
        ax.set_title(title, fontsize=10)
    axes[0].set_ylim(None, 103)  # an interval over a few seeds may extend beyond 100 %
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    show(figure, alt=f"Full fine-tuning by {label}, means and 95 % intervals over seeds. {'; '.join(said)}.")


def reviews(table: pd.DataFrame, one_model: float) -> None:
    """Accuracy on the test reviews for every strategy and learning rate: a dot for each run, and the mean with its interval."""
    print("Encoder used for the table:", table["table"].iloc[0])
    rows = list(table.groupby(["strategy", "lr"], sort=False))
    figure, ax = plt.subplots(figsize=(9, 1.2 + 0.38 * len(rows)))
    said = []
    for place, ((strategy, lr), runs) in enumerate(rows):
        mean, half = mean_and_half(100 * runs["test"])
        colour = COLOURS[strategy]
        ax.plot(100 * runs["test"], [place + 0.22] * len(runs), ".", color="black", markersize=4)
        ax.errorbar(mean, place, xerr=half, fmt=MARKERS[strategy], color=colour, capsize=3)
        ax.text(92.5, place, f"{mean:.1f} ± {half:.1f}", va="center", fontsize=8)
        said.append(f"{strategy}, learning rate {lr:g}: {mean:.1f} ± {half:.1f}")
    ax.axvline(50, color=GREY, linestyle=":")
    ax.axvspan(50 - one_model, 50 + one_model, color=GREY, alpha=0.15, linewidth=0)
    ax.set_yticks(range(len(rows)), [f"{strategy}, {lr:g}" for (strategy, lr), _ in rows], fontsize=9)
    ax.set(xlabel="accuracy on test reviews (%)", ylim=(len(rows) - 0.4, -0.6), xlim=(30, 92))
    show(figure, alt=(
        f"Accuracy on test reviews in per cent, means and 95 % intervals over {table['seed'].nunique()} seeds. {'; '.join(said)}. "
        f"The chance level is 50, with a band of ± {one_model:.1f} for the sampling error of one model."
    ))  # fmt: skip
