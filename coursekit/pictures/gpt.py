"""Figures of notebook 07. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from coursekit.intervals import half_width
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
            f"with a cache of {read}: one row"
            if cached
            else f"without a cache: all {T * (T + 1) // 2} scores"
        )
        ax.set_title(said, fontsize=10)
    axes[1].set_xlabel("orange: keys and values from the cache", fontsize=9)
    show(
        figure,
        alt=f"The scores of “{' '.join(words)}” when its last word is processed. Without a cache all {T * (T + 1) // 2} products of queries and "
        f"keys are computed again. With the keys and values of the first {read} words cached, only the last row is computed: "
        f"its query with {read} cached keys and its own.",
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
        alt=f"Held-out loss from {losses[0]:.2f} nats at step {steps[0]} to {losses[-1]:.3f} after {steps[-1]} steps, "
        f"{losses[-1] / bound - 1:.1%} above the entropy {bound:.3f}; uniform distribution {uniform:.2f}.",
    )


def influences(maps: Mapping[str, Float[Tensor, "T T"]], words: Sequence[str]) -> None:
    """The influence of each input on each output, relative to the largest of each model; exact zeros are white."""
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


def choices(
    found: Mapping[str, Float[Tensor, "1 V"]],
    exact: Float[Tensor, " V"],
    vocabulary: Sequence[str],
    shown: int = 7,
) -> None:
    """One distribution under each setting: the most probable words, and the total of all others."""
    order = exact.argsort(descending=True)[:shown]
    figure, axes = plt.subplots(1, len(found), figsize=(2.3 * len(found), 3.1), sharex=True, sharey=True)
    said, possible = [], exact > 0
    for ax, (name, row) in zip(axes, found.items(), strict=True):
        values = row[0]
        heights = [*values[order].tolist(), 1 - values[order].sum().item()]
        truth = [*exact[order].tolist(), 1 - exact[order].sum().item()]
        places = np.arange(shown + 1)
        ax.barh(places, heights, color=[BLUE] * shown + [ORANGE], height=0.7)
        ax.plot(truth, places, "|", color="black", markersize=11, label="exact")
        tail = values[~possible].sum().item()
        ax.set_title(f"{name}\nimpossible words {tail:.3f}", fontsize=9)
        ax.set_xlabel("probability")
        most_likely = ", ".join(
            f"{vocabulary[i]} {p:.2f}" for i, p in zip(order.tolist()[:3], heights, strict=False)
        )
        said.append(f"{name}: {most_likely}, impossible words together {tail:.3f}")
    axes[0].set_yticks(range(shown + 1), [vocabulary[i] for i in order] + ["all others"])
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", fontsize=8)
    show(
        figure,
        alt=f"Probabilities of the next word: bars for the model, marks for the true distribution. {'; '.join(said)}.",
    )


def knobs(written: Mapping[str, tuple[float, int]], language: tuple[float, int]) -> None:
    """Fraction of possible sentences and number of different words, for each setting."""
    figure, ax = plt.subplots(figsize=(7.2, 4.2))
    temperatures = {name: point for name, point in written.items() if not name.startswith("top")}
    ax.plot(*zip(*temperatures.values(), strict=True), color=GREY, marker="o", label="temperature")
    for kind, colour, marker in (("top-k", ORANGE, "s"), ("top-p", PINK, "D")):
        points = {name: point for name, point in written.items() if name.startswith(kind)}
        ax.plot(
            *zip(*points.values(), strict=True),
            color=colour,
            marker=marker,
            linestyle="none",
            markersize=8,
            label=kind,
        )
    beside = {
        "0.5": (9, 5),
        "0.8": (-24, -11),
        "1": (-22, -14),
        "top-p 0.95": (-46, 9),
        "top-k 10": (-44, -3),
        "top-k 40": (-46, -6),
        "1.3": (-6, 9),
    }
    for name, point in written.items():
        said = name.replace("top-k", "k =").replace("top-p", "p =")
        ax.annotate(said, point, beside.get(name, (9, -4)), textcoords="offset points", fontsize=9)
    ax.plot(*language, "*", color=GREEN, markersize=14, label="true language")
    ax.set(
        xlabel="fraction of possible sentences",
        ylabel="different words in 250 sentences",
        xlim=(0.45, 1.05),
        ylim=(300, None),
    )
    ax.legend(fontsize=9, loc="lower left")
    said = "; ".join(
        f"{'temperature ' if name in temperatures else ''}{name}: {possible:.2f} possible, {different:.0f} words"
        for name, (possible, different) in written.items()
    )
    show(
        figure,
        alt=f"250 sentences each, mean of the draws. {said}. True language: 1.00 and {language[1]:.0f} words.",
    )


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


def few_shot(recorded: pd.DataFrame, questions: int, bag: float) -> pd.DataFrame:
    """Draw the recorded scores by number of examples, with a bag of words as baseline; return a table of means over draws."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    rows, said = {}, []
    panels = (("accuracy", BLUE), ("accuracy, calibrated", GREEN), ("pairs in order", PINK))
    counts = sorted(recorded.examples.unique())
    kinds = [("right", count) for count in counts] + [("swapped", max(counts))]
    for ax, (measure, colour) in zip(axes, panels, strict=True):
        for place, (labels, count) in enumerate(kinds):
            values = recorded[
                (recorded.measure == measure)
                & (recorded.labels == labels)
                & (recorded.examples == count)
            ].value.to_numpy()  # fmt: skip
            half = half_width(values) if len(values) > 1 else np.nan
            jitter = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else [0.0]
            ax.plot(place + np.array(jitter), values, "o", color=colour, alpha=0.35, markersize=4)
            ax.errorbar(
                place,
                values.mean(),
                yerr=None if np.isnan(half) else half,
                fmt="s" if labels == "right" else "D",
                color="black",
                capsize=3,
                markersize=5,
            )
            name = f"{count}" if labels == "right" else f"{count}, labels swapped"
            rows.setdefault(name, {})[measure] = values.mean()
            rows[name][f"{measure} ±"] = half
            said.append(
                f"{measure}, {name} examples: {values.mean():.3f}"
                + ("" if np.isnan(half) else f" ± {half:.3f}")
            )
        ax.axhline(0.5, color=GREY, linestyle=":", linewidth=1)
        if measure.startswith("accuracy"):
            ax.axhline(bag, color=GREY, linestyle="--", linewidth=1)
        ax.set_xticks(range(len(kinds)), [*map(str, counts), f"{max(counts)}\nswapped"])
        ax.set(title=measure, xlabel="examples in the prompt", ylim=(0.2, 1.03))
        ax.title.set_fontsize(10)
    axes[0].set_ylabel(f"fraction ({questions} questions)")
    for ax in axes[:2]:
        ax.text(0.03, 0.03, f"dashed: bag of words {bag:.2f}", transform=ax.transAxes, fontsize=8, color=GREY)
    for name, row in rows.items():
        count, labels = int(name.split(",")[0]), "swapped" if "swapped" in name else "right"
        chosen = recorded[(recorded.examples == count) & (recorded.labels == labels)]
        answered = chosen[chosen.measure == "answered positive"].value
        row["answered positive: least"], row["most"] = answered.min(), answered.max()
    draws = recorded.draw.nunique()
    show(
        figure,
        alt=f"SmolLM2 on {questions} opinions, {draws} draws of the examples, means with 95 % intervals over draws (squares), and a dot for each draw. {'; '.join(said)}. A bag of words trained on other reviews reaches {bag:.3f}; chance level 0.5.",
    )
    return pd.DataFrame(rows).T.rename_axis("examples")


def in_context(
    found: Mapping[str, Sequence[float]], best: Sequence[float], losses: Sequence[float], best_loss: float
) -> None:
    """Training loss, and accuracy by number of examples in the prompt, with the optimum."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.7), width_ratios=(1, 1.3))
    smooth = np.convolve(losses, np.ones(5) / 5, mode="valid")
    left.plot(np.arange(len(smooth)) + 3, smooth, color=BLUE)
    left.axhline(best_loss, color=GREEN, linestyle="--")
    left.set(
        xlabel="step (64 prompts each)",
        ylabel="loss (nats per question)",
        title="training",
        ylim=(best_loss - 0.15, None),
    )
    left.title.set_fontsize(10)
    examples = np.arange(len(best))
    right.plot(
        examples, best, color=GREEN, linestyle="--", label=f"optimum (loss {best_loss:.3f} on the left)"
    )
    for (name, values), colour, marker in zip(found.items(), (BLUE, ORANGE, GREY), "osD", strict=True):
        right.plot(
            examples, values, color=colour, marker=marker, linestyle="none", markersize=6, label=name
        )  # fmt: skip
    right.set(xlabel="examples in the prompt", ylabel="accuracy", ylim=(0, 1))
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    last = len(best) - 1
    said = "; ".join(f"{name} {values[0]:.2f} to {values[last]:.2f}" for name, values in found.items())
    show(
        figure,
        alt=f"Left: training loss from {losses[0]:.2f} to {np.mean(losses[-20:]):.3f}, optimum {best_loss:.3f}. Right: accuracy "
        f"after 0 and after {last} examples: optimum {best[0]:.2f} and {best[last]:.2f}; {said}.",
    )


def two_readers(rows: Mapping[str, Float[np.ndarray, "sentences 3"]], names: Sequence[str]) -> None:
    """Nats per character of each sentence for two models, one per axis. The rows contain the nats of the first model, the nats of the second, and the characters."""
    figure, ax = plt.subplots(figsize=(5.6, 4.4))
    said = []
    for (called, values), colour, marker in zip(rows.items(), (BLUE, ORANGE), "os", strict=True):
        x, y = values[:, 0] / values[:, 2], values[:, 1] / values[:, 2]
        ax.plot(x, y, marker, color=colour, markersize=4, alpha=0.6, linewidth=0, label=called)
        said.append(f"{called}: {(y < x).mean():.0%} of {len(x)} below the diagonal")
    ends = [0, 1.05 * max((values[:, :2] / values[:, 2:]).max() for values in rows.values())]
    ax.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="equal")
    ax.set(
        xlabel=f"{names[0]}: nats per character",
        ylabel=f"{names[1]}: nats per character",
        xlim=ends,
        ylim=ends,
    )
    ax.legend(fontsize=8, loc="upper left")
    show(
        figure,
        alt=f"Nats per character of each sentence for {names[0]} (across) and {names[1]} (up). Below the diagonal the loss of {names[1]} is lower. "
        f"{'; '.join(said)}.",
    )


def two_heads(weights: Mapping[str, Float[Tensor, "T T"]], tokens: Sequence[str]) -> None:
    """Attention weights in one prompt, a panel per head; symbols and labels alternate in the prompt."""
    figure, axes = plt.subplots(1, len(weights), figsize=(5.1 * len(weights), 4.6), sharey=True)
    said = []
    for ax, (name, values) in zip(axes, weights.items(), strict=True):
        ax.imshow(values.numpy() ** 0.5, cmap="Blues", vmin=0, vmax=1)
        ax.set_xticks(range(len(tokens)), tokens, fontsize=8)
        ax.set_yticks(range(len(tokens)), tokens, fontsize=8)
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("key")
        strongest = values[-2].argmax().item()
        said.append(
            f"{name}: the last symbol, {tokens[-2]}, attends most to token {strongest}, {tokens[strongest]} after "
            f"{tokens[strongest - 1]}, with {values[-2, strongest]:.2f}; the last label at token {values[-1].argmax().item()}"
        )
    axes[0].set_ylabel("query")
    show(
        figure,
        alt=f"Attention weights in the prompt {' '.join(tokens)} (colour: square root). {'; '.join(said)}.",
    )


def induction(recorded: pd.DataFrame, best: Sequence[float], best_loss: float) -> None:
    """Training loss of every run, and accuracy by number of examples with intervals, for one layer and for two layers."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.7), width_ratios=(1.1, 1))
    said = []
    for layers, colour, marker, style in ((1, ORANGE, "s", "--"), (2, BLUE, "o", "-")):
        of_layers = recorded[recorded.layers == layers]
        name = f"{layers} layer{'s' * (layers > 1)}"
        for seed, run in of_layers[of_layers.measure == "training loss"].groupby("seed"):
            left.plot(
                run["where"].astype(int), run.value, color=colour, linestyle=style, linewidth=1.2,
                label=name if seed == of_layers.seed.min() else None,
            )  # fmt: skip
        shares = of_layers[of_layers.measure == "right"].copy()
        shares["examples"] = shares["where"].astype(int)
        by_examples = shares.groupby("examples").value
        means, halves = by_examples.mean(), by_examples.apply(lambda values: half_width(values.to_numpy()))
        right.errorbar(
            means.index, means, yerr=halves, color=colour, marker=marker, linestyle="none", capsize=3
        )
        ends = of_layers[(of_layers.measure == "loss")].value
        said.append(
            f"{name}, {of_layers.seed.nunique()} runs: loss on held-out rules {ends.min():.3f} to {ends.max():.3f}, accuracy after "
            f"{means.index[-1]} examples {means.iloc[-1]:.3f} ± {halves.iloc[-1]:.3f}"
        )
    left.axhline(best_loss, color=GREEN, linestyle="--", label="optimum")
    right.plot(range(len(best)), best, color=GREEN, linestyle="--")
    left.set(
        xlabel="step (64 prompts each)",
        ylabel="loss (nats per question)",
        title="training, one line for each run",
    )
    right.set(
        xlabel="examples in the prompt",
        ylabel="accuracy",
        ylim=(0, 1),
        title="held-out rules, over runs",
    )
    for ax in (left, right):
        ax.title.set_fontsize(10)
    left.legend(fontsize=8)
    show(
        figure,
        alt=f"{'; '.join(said)}. Optimum: loss {best_loss:.3f}, accuracy from {best[0]:.2f} without examples to {best[-1]:.3f}.",
    )
