"""Figures and tables of notebook 07 on learning from the examples in a prompt."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from jaxtyping import Float
from torch import Tensor

from coursekit.datasets import read_table
from coursekit.intervals import half_width, mean_and_half, wilson
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, show
from coursekit.rule_prompts import (
    ASKED,
    OPTIMAL_LOSS,
    OPTIMUM,
    InContext,
    best_head,
    head_scores,
    largest_match_of_one_layer,
    over_runs,
    prompt_with_one_match,
    spoken,
)  # fmt: skip


def live_scores(scores: Mapping[int, Mapping[str, float]], questions: int) -> None:
    """A table of the scores by number of examples, and the interval of an accuracy with so many questions."""
    table = pd.DataFrame(scores).T.rename_axis("examples")
    middle = table["accuracy"].mean()
    low, high = wilson(middle, questions)
    display(table.round(2))
    display(Markdown(
        f"With {questions} questions, an accuracy of {middle:.2f} has a 95 % interval "
        f"from **{low:.2f} to {high:.2f}**."
    ))  # fmt: skip


def few_shot(
    recorded: pd.DataFrame, questions: int, baselines: Mapping[str, tuple[float, float, float]]
) -> None:  # fmt: skip
    """The recorded scores by number of examples as a figure and as a table of means over draws, compared with two baselines.

    `baselines` contains an accuracy and the ends of its interval for the "zero-shot" prompt and for a "bag of words".
    """
    bag, *of_bag = baselines["bag of words"]
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
        row["answered positive: minimum"], row["maximum"] = answered.min(), answered.max()
    draws = recorded.draw.nunique()
    show(
        figure,
        alt=f"SmolLM2 on {questions} opinions with {draws} draws of the examples: means with 95 % intervals over draws (squares), and a dot for each draw. {'; '.join(said)}. A bag of words trained on other reviews reaches {bag:.3f}; the chance level is 0.5.",
    )
    display(pd.DataFrame(rows).T.rename_axis("examples").style.format("{:.2f}", na_rep="–"))
    by_run = recorded.pivot(index=["labels", "draw", "examples"], columns="measure", values="value")
    better = (by_run["accuracy, calibrated"] > by_run["accuracy"]).sum()
    low, high = wilson(0.8, questions)
    none, *of_none = baselines["zero-shot"]
    display(Markdown(
        f"Calibration increases the accuracy in **{better}** of {len(by_run)} runs. "
        f"With {questions} questions, an accuracy of 0.8 has a 95 % interval from {low:.2f} to {high:.2f}."
        f"\n\nThe zero-shot accuracy of the model is **{none:.3f}** ({of_none[0]:.2f} to {of_none[1]:.2f}); "
        f"a bag of words trained on the {len(read_table('sentiment/sentiment.csv')):,} reviews of `data/sentiment` reaches "
        f"**{bag:.3f}** ({of_bag[0]:.2f} to {of_bag[1]:.2f})."
    ))  # fmt: skip


def in_context(measured: InContext, losses: Sequence[float]) -> None:
    """Training loss of the learner, and accuracy by number of examples in the prompt, with the optimum."""
    found, best, best_loss = measured.accuracy, OPTIMUM, OPTIMAL_LOSS
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
    print(
        f"accuracy after {last} examples: {found['trained on many rules'][last]:.3f} on held-out rules, "
        f"{measured.on_training_rules[last]:.3f} on training rules, optimum {best[last]:.3f}"
    )
    print(
        "symbols that occurred exactly once before, with a random label: the learner repeats the label of a fraction of "
        f"{measured.copied:.3f} of them"
    )
    print(
        f"model trained on one rule and tested on this rule: accuracy {measured.on_one_rule[0]:.3f} without an example"
    )


def heads(weights: Float[Tensor, "2 n H T T"], prompts: InContext) -> None:
    """For one prompt, the previous-token head of layer 1 and the matching head of layer 2 with the highest scores; and all scores."""
    scores = head_scores(weights, prompts.symbols)
    previous = scores["previous token"][0].argmax().item()
    match = scores["match"][1].argmax().item()
    shown = prompt_with_one_match(prompts.symbols)
    tokens = spoken(prompts.symbols[shown].tolist(), prompts.labels[shown].tolist())
    two_heads(
        {
            f"layer 1, head {previous + 1}: previous token": weights[0, shown, previous],
            f"layer 2, head {match + 1}: match": weights[1, shown, match],
        },
        tokens,
    )
    layers, count = scores["match"].shape
    display(pd.DataFrame({
        f"layer {layer + 1}, head {head + 1}": {name: values[layer, head].item() for name, values in scores.items()}
        for layer in range(layers) for head in range(count)
    }).T.style.format("{:.2f}"))  # fmt: skip


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
            f"{tokens[strongest - 1]}, with weight {values[-2, strongest]:.2f}; the last label attends most to token {values[-1].argmax().item()}"
        )
    axes[0].set_ylabel("query")
    show(
        figure,
        alt=f"Attention weights in the prompt {' '.join(tokens)} (colour: square root). {'; '.join(said)}.",
    )


def layers(recorded: pd.DataFrame) -> None:
    """Training loss of every run, and accuracy by number of examples with intervals, for one layer and for two layers."""
    best, best_loss = OPTIMUM, OPTIMAL_LOSS
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
        title="held-out rules, mean over runs",
    )
    for ax in (left, right):
        ax.title.set_fontsize(10)
    left.legend(fontsize=8)
    show(
        figure,
        alt=f"{'; '.join(said)}. Optimum: loss {best_loss:.3f}, accuracy from {best[0]:.2f} without examples to {best[-1]:.3f}.",
    )
    last = str(ASKED - 1)
    right = {layers: over_runs(recorded, layers, "right", last) for layers in (1, 2)}
    loss = {layers: over_runs(recorded, layers, "loss", "new prompts") for layers in (1, 2)}
    runs = recorded.groupby("layers").seed.nunique()
    display(Markdown(
        f"After {last} examples, the accuracy is **{right[1][0]:.3f} ± {right[1][1]:.3f}** with one layer and "
        f"**{right[2][0]:.3f} ± {right[2][1]:.3f}** with two layers ({runs[2]} runs each); the optimum is "
        f"{best[-1]:.3f}. The loss in nats per question is {loss[1][0]:.3f} ± {loss[1][1]:.3f} with one layer and "
        f"{loss[2][0]:.3f} ± {loss[2][1]:.3f} with two; the optimum is {best_loss:.3f}. In each run with two "
        f"layers, some head of the first layer assigns at least **{best_head(recorded, 'previous token', 1):.2f}** of its weight to "
        f"the previous token, and some head of the second layer assigns at least **{best_head(recorded, 'match', 2):.2f}** to matching "
        f"labels. In the models with one layer, no head assigns more than {largest_match_of_one_layer(recorded):.2f} to matching labels."
    ))  # fmt: skip


def wide_layer(wide: pd.DataFrame, recorded: pd.DataFrame) -> None:
    """The accuracy of one layer with 16 heads, compared with the runs with two heads and with the optimum."""
    many_heads = wide.groupby("where").value.agg(list)
    display(pd.DataFrame({
        f"{k} examples": {
            "one layer, 16 heads": "{:.3f} ± {:.3f}".format(*mean_and_half(many_heads[k])),
            "one layer, 2 heads": "{:.3f} ± {:.3f}".format(*over_runs(recorded, 1, "right", str(k))),
            "two layers, 2 heads": "{:.3f} ± {:.3f}".format(*over_runs(recorded, 2, "right", str(k))),
            "optimum": f"{OPTIMUM[k]:.3f}",
        }
        for k in (1, 2, 4, 6, 8)
    }).rename_axis("accuracy on held-out rules"))  # fmt: skip
