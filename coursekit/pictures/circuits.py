"""Figures of notebook 15. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from jaxtyping import Float
from torch import Tensor

from coursekit import features
from coursekit.intervals import bootstrap
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, PINK, RED, listed, show, write_in_cells

POINTS = "embedding", "attention 1", "feed-forward 1", "attention 2", "feed-forward 2"


def stream() -> None:
    """The residual stream of a pre-norm model with two layers, the components that write into it, and the points at which the lens reads."""
    figure, ax = plt.subplots(figsize=(9.6, 2.4))
    ax.annotate("", (10.3, 0), (0, 0), arrowprops={"arrowstyle": "-|>", "linewidth": 3, "color": BLUE})
    ax.text(-0.1, 0, "token\n+ position", ha="right", va="center", fontsize=9)
    ax.text(10.4, 0, "norm, table\n→ logits", ha="left", va="center", fontsize=9)
    for number, part in enumerate(POINTS[1:]):
        left = 1 + 2.3 * number
        ax.annotate("", (left + 0.35, 0.95), (left, 0.05), arrowprops={"arrowstyle": "->", "color": GREY})
        ax.annotate(
            "", (left + 1.3, 0.05), (left + 0.95, 0.95), arrowprops={"arrowstyle": "->", "color": ORANGE}
        )
        ax.text(
            left + 0.65,
            1.2,
            part,
            ha="center",
            va="center",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": GREY},
        )
        ax.text(left + 1.3, 0, "+", ha="center", va="center", fontsize=12, color=ORANGE, bbox={"boxstyle": "circle,pad=0.1", "facecolor": "white", "edgecolor": ORANGE})  # fmt: skip
    for number, place in enumerate((0.5, 2.8, 5.1, 7.4, 9.7)):
        ax.plot(place, 0, "o", color=BLUE, markersize=5)
        ax.annotate(
            "",
            (place, -0.75),
            (place, -0.1),
            arrowprops={"arrowstyle": "->", "color": GREEN, "linestyle": "--"},
        )
        ax.text(place, -1.0, f"lens {number}", ha="center", va="center", fontsize=8, color=GREEN)
    ax.set(xlim=(-1.2, 11.9), ylim=(-1.2, 1.5))
    ax.axis("off")
    show(
        figure,
        alt="The residual stream as an arrow from the token and position embeddings on the left to the final norm, the unembedding matrix and the logits on the right. Attention 1, "
        "feed-forward 1, attention 2 and feed-forward 2 each read from it and add to it. The logit lens reads at five points: before the first component and after each component.",
    )


LENSES = {
    "logit lens": (BLUE, "o", "-"), "after a fitted linear map": (GREEN, "s", "-"), "stream of another sentence": (ORANGE, "^", "--"),
    "untrained GPT": (GREY, "D", ":"), "masked-word head": (BLUE, "o", "-"), "untrained BERT": (GREY, "D", ":"),
}  # fmt: skip


def lens(
    gpt: Mapping[str, Sequence[tuple[float, float, float]]],
    counts: Mapping[str, tuple[float, float, float]],
    bert: Mapping[str, Sequence[tuple[float, float, float]]],
) -> None:
    """KL divergence between the exact distribution and that of the lens at each point: GPT on the left, BERT on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(9.8, 4.3), width_ratios=(3, 2), sharey=True)
    said = []
    for ax, found, places in zip(
        axes, (gpt, bert), (POINTS, ("embedding", "layer 1", "layer 2")), strict=True
    ):
        for name, values in found.items():
            means, low, high = np.array(values).T
            colour, marker, style = LENSES[name]
            ax.errorbar(range(len(means)), means, (means - low, high - means), color=colour, marker=marker, linestyle=style, markersize=5, capsize=2, label=name)  # fmt: skip
            said.append(f"{name}: {listed(means.tolist())}")
        ax.set_xticks(range(len(places)), places, fontsize=8, rotation=20)
        ax.set(yscale="log", ylim=(0.015, 40))
    for (name, (mean, *_)), style in zip(counts.items(), ("-.", "--"), strict=True):
        axes[0].axhline(mean, color=PINK, linestyle=style, linewidth=1.2, label=name)
        said.append(f"{name}: {mean:.2f}")
    axes[0].set(
        title="GPT: the next word, read after …", ylabel="KL divergence from the exact\ndistribution, nats"
    )
    axes[1].set(title="BERT: the masked word, read after …")
    for ax in axes:
        ax.title.set_fontsize(10)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2, fontsize=8)
    show(
        figure,
        alt=f"KL divergence from the exact distribution by point of the residual stream ({', '.join(POINTS)}; for BERT by layer), 95 % intervals over "
        f"sentences. {'; '.join(said)}.",
    )


def lens_of_a_word(found: Mapping[str, Sequence[Sequence[int]]], texts: Sequence[str], word: str) -> None:
    """The rank that the lens gives one word at each layer: after prompts that it may follow, and after others."""
    figure, ax = plt.subplots(figsize=(8.8, 3.8))
    said = []
    for (name, places), colour, style in zip(found.items(), (BLUE, GREY), ("-", "--"), strict=True):
        ranks = np.array(places) + 1
        ax.plot(ranks.T, color=colour, linestyle=style, linewidth=1, alpha=0.45)
        middle = np.median(ranks, axis=0)
        ax.plot(middle, color=colour, linestyle=style, linewidth=2.6, marker="o", markersize=3, label=f"{name}: median of {len(ranks)}")  # fmt: skip
        said.append(f"{name}: median rank " + ", ".join(f"{middle[at]:,.0f} at layer {at}" for at in (0, 10, 20, 25, len(middle) - 1)))  # fmt: skip
    ax.set(yscale="log", xlabel="layer (0: input of the first)", ylabel=f"rank of “{word}”")
    ax.invert_yaxis()
    ax.legend(fontsize=8, loc="upper left")
    show(
        figure,
        alt=f"Rank of the word {word} among all tokens, read by the logit lens at each layer, rank 1 on top. {'; '.join(said)}. The prompts: "
        f"{'; '.join(texts)}.",
    )


def lens_of_cell(
    found: Mapping[str, tuple[Sequence[int], Sequence[float]]], follows: Sequence[str], others: Sequence[str], uniform: float
) -> None:  # fmt: skip
    """The rank of *cell* at each layer after the prompts that it may follow and after `others`, and its mean log probability after the former.

    `found` contains the ranks (from 0) and the log probabilities for each prompt; `uniform` is that of a uniform distribution.
    """
    lens_of_a_word(
        {
            "cell may follow": [found[text][0] for text in follows],
            "other prompts": [found[text][0] for text in others],
        },
        follows,
        "cell",
    )
    means = np.mean([found[text][1] for text in follows], axis=0)
    print(
        "log probability of cell (mean over the six prompts) at layers 0, 5, 10, …, 30:",
        " ".join(f"{mean:.1f}" for mean in means[::5]),
        f"(uniform distribution {uniform:.1f})",
    )


def latents(best: pd.DataFrame, codes: Float[Tensor, "n F"], words: Sequence[str]) -> None:
    """For each feature (row of `best`) the latent that detects it best, precision and recall, and the words with the highest codes."""
    display(pd.DataFrame({
        "best latent": best.direction,
        "precision": best.precision.round(2),
        "recall": best.recall.round(2),
        "words with the highest code": [most_active_words(codes[:, latent], words) for latent in best.direction],
    }))  # fmt: skip


def most_active_words(
    code: Float[Tensor, " n"], words: Sequence[str], number: int = 5, least: int = 3
) -> str:
    """The words with the highest mean code among those that occur at least `least` times on tokens where the code is not 0."""
    on = code > 0
    table = pd.DataFrame({"word": np.array(words)[on.numpy()], "code": code[on].numpy()}).groupby("word").code
    return ", ".join(table.mean()[table.count() >= least].nlargest(number).index)


SETTINGS = (
    ("top-k", 64, 8), ("top-k", 256, 8), ("top-k", 512, 8), ("top-k", 256, 4), ("tied", 256, 8), ("L1", 256, 0),
)  # fmt: skip
"""Method, number of latents and k of the recorded autoencoders."""


def settings_of_autoencoders(recorded: pd.DataFrame) -> None:
    """Recorded measures of autoencoders with six settings, means over seeds."""
    table = {}
    for method, width, k in SETTINGS:
        rows = recorded[(recorded.method == method) & (recorded.width == width) & (recorded.k == k)]
        of_kind = dict(list(rows.groupby("kind")))
        named = "top-k, tied" if method == "tied" else method
        table[f"{named}, {width} latents" + (f", k = {k}" if k else "")] = {
            "active": f"{rows.active.mean():.1f}",
            "unexplained": f"{rows.unexplained.mean():.2f}",
            "dead": f"{rows.dead.mean():.1%}",
            **{f"F1, {kind}": f"{of_kind[kind].f1.mean():.2f}" for kind in features.KINDS},
            "latents per part of speech": f"{of_kind['part of speech'].parts.mean():.1f}",
            "latents per slot": f"{of_kind['slot'].parts.mean():.1f}",
            "absorption, number": f"{of_kind['number'].absorbed.mean():.2f}",
        }
    display(pd.DataFrame(table).T.rename_axis("means over three seeds"))


def worths(found: Mapping[tuple[str, str], Float[np.ndarray, "heads sentences"]]) -> None:
    """The increase in loss without each head, by model and by its replacement; 95 % intervals over sentences."""
    figure, axes = plt.subplots(2, 2, figsize=(9.6, 4.6), sharex=True, sharey=True)
    most = max(values.mean(axis=1).max() for values in found.values())
    said = []
    for ax, ((name, way), values) in zip(axes.flat, found.items(), strict=True):
        means = values.mean(axis=1)
        image = ax.imshow(means.reshape(2, 4), cmap="Blues", vmin=0, vmax=most, aspect="auto")
        ends = [bootstrap(each, draws=500) for each in values]
        texts = [
            f"{mean:.3f}\n({low:.3f} to {high:.3f})" for mean, (low, high) in zip(means, ends, strict=True)
        ]
        write_in_cells(image, np.reshape(texts, (2, 4)), fontsize=7)
        ax.set(
            title=f"{name}, replaced by {'its mean' if way == 'mean' else way}",
            xticks=range(4),
            yticks=range(2),
        )
        ax.set_yticklabels(["layer 1", "layer 2"])
        ax.title.set_fontsize(10)
        said.append(f"{name}, {way}: layer 1 {listed(means[:4].tolist(), 3)}; layer 2 {listed(means[4:].tolist(), 3)}")  # fmt: skip
    for ax in axes[1]:
        ax.set_xlabel("head")
    figure.colorbar(image, ax=axes, label="increase in loss, nats", shrink=0.9)
    show(
        figure,
        alt=f"Mean increase in loss when one head is removed, in nats, by layer and head. {'. '.join(said)}.",
    )


def patched(
    found: Mapping[str, tuple[Float[np.ndarray, "pairs places layers"], Sequence[str]]],
    controls: Mapping[str, Float[np.ndarray, "pairs places layers"]],
) -> None:
    """Share of the difference that one exchanged vector restores, by position and layer; below, a source of the same sense."""
    layers = [values.shape[2] + 1 for values, _ in found.values()]
    figure, axes = plt.subplots(
        2, len(found), figsize=(1.5 + 0.8 * sum(layers), 5.6), width_ratios=layers, squeeze=False
    )
    said = []
    for column, (name, (values, places)) in enumerate(found.items()):
        for ax, shares, title in zip(axes[:, column], (values, controls[name]), (name, "control: the same sense"), strict=True):  # fmt: skip
            means = shares.mean(axis=0)
            image = ax.imshow(means, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            write_in_cells(image, _two_digits(means), fontsize=7)
            ax.set_yticks(range(len(places)), places, fontsize=8)
            ax.set_xticks(range(means.shape[1]))
            ax.set_title(title, fontsize=9)
            rows = [f"{place} {listed(row.tolist())}" for place, row in zip(places, means, strict=True) if np.abs(row).max() > 0.05]  # fmt: skip
            said.append(f"{name if shares is values else f'{name}, source of the same sense'} ({len(shares)} pairs): {'; '.join(rows) or 'all below 0.05'}")  # fmt: skip
    axes[1, len(found) // 2].set_xlabel(
        "layer after which the vector is exchanged\n(0: input of the first layer)"
    )
    figure.colorbar(image, ax=axes, label="share restored", shrink=0.8)
    show(figure, alt=f"Share of the difference between the senses that is restored by exchanging one vector, by position and layer. {'. '.join(said)}.")  # fmt: skip


def _two_digits(means: Float[np.ndarray, "rows columns"]) -> np.ndarray:
    """The numbers as texts, without a minus sign at 0.00."""
    texts = [[f"{mean:.2f}".replace("-0.00", "0.00") for mean in row] for row in means]
    return np.array(texts)


def attributed(
    exact: Float[np.ndarray, "pairs layers places"],
    estimates: Mapping[str, Float[np.ndarray, "pairs layers places"]],
    places: Sequence[str],
) -> None:
    """The share that each exchange restores, exact and estimated from gradients, by position and layer."""
    found = {"exact (patching)": exact, **estimates}
    figure, axes = plt.subplots(1, len(found), figsize=(3.1 * len(found), 3.6), sharey=True)
    said = []
    for ax, (name, values) in zip(axes, found.items(), strict=True):
        means = values.mean(axis=0).T
        image = ax.imshow(means, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        write_in_cells(image, _two_digits(means), fontsize=8)
        ax.set_yticks(range(len(places)), places, fontsize=8)
        ax.set_xticks(range(means.shape[1]))
        ax.set_title(name, fontsize=10)
        large = [f"{place} {listed(row.tolist())}" for place, row in zip(places, means, strict=True) if np.abs(row).max() > 0.05]  # fmt: skip
        said.append(f"{name}: {'; '.join(large)}")
    axes[1].set_xlabel("layer after which the vector is exchanged\n(0: input of the first layer)")
    figure.colorbar(image, ax=axes, label="share restored", shrink=0.8)
    show(figure, alt=f"Share of the difference that is restored by exchanging one vector, at layers 0, 1 and 2, mean over {len(exact)} pairs. {'. '.join(said)}.")  # fmt: skip


ASKED = {
    "left": "cue on the left",
    "right": "cue on the right",
    "order1": "order, one clause",
    "order2": "order, two clauses",
}


def knockouts(
    costs: Mapping[str, Mapping[str, Float[np.ndarray, " sentences"]]], before: Mapping[str, float]
) -> None:
    """Points of accuracy lost on each kind of question when heads are removed, with 95 % intervals over sentences."""
    figure, ax = plt.subplots(figsize=(8.6, 3.6))
    said, width = [], 0.8 / len(costs)
    for number, ((name, by_kind), colour) in enumerate(zip(costs.items(), (BLUE, GREY, GREEN), strict=False)):
        means = np.array([100 * lost.mean() for lost in by_kind.values()])
        ends = 100 * np.array([bootstrap(lost, draws=500) for lost in by_kind.values()]).T
        at = np.arange(len(means)) + (number - (len(costs) - 1) / 2) * width
        ax.bar(at, means, width * 0.92, color=colour, label=f"without {name}")
        ax.errorbar(at, means, np.abs(ends - means), fmt="none", color="black", capsize=2, linewidth=1)
        said.append(f"without {name}: " + ", ".join(f"{ASKED[kind]} {mean:.1f} ({low:.1f} to {high:.1f})" for kind, mean, low, high in zip(by_kind, means, *ends, strict=True)))  # fmt: skip
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(before)), [f"{ASKED[kind]}\n(before: {share:.0%})" for kind, share in before.items()], fontsize=9)  # fmt: skip
    ax.set_ylabel("accuracy lost, points")
    ax.legend(fontsize=8)
    show(figure, alt=f"Points of accuracy lost on held-out sentences when heads are removed, 95 % intervals over sentences. {'. '.join(said)}.")  # fmt: skip


METHODS = (
    ("linear probe", BLUE, ""), ("top-k", ORANGE, "//"), ("principal components", GREEN, ".."),
    ("random directions", GREY, ""), ("always active", "#d0d0d0", ""),
)  # fmt: skip


def recovered(recorded: pd.DataFrame) -> None:
    """F1 by kind of feature and method on the left; precision and recall of the autoencoder on the right."""
    kinds = list(dict.fromkeys(recorded.kind))
    kinds = sorted(kinds, key=lambda kind: -recorded[(recorded.method == "top-k") & (recorded.kind == kind)].f1.mean())  # fmt: skip
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.2, 4.0), width_ratios=(3, 1.5))
    said, width = [], 0.84 / len(METHODS)
    for number, (method, colour, hatch) in enumerate(METHODS):
        rows = recorded[(recorded.method == method) & recorded.width.isin((0, 256)) & recorded.k.isin((0, 8))]
        values = [rows[rows.kind == kind].f1.to_numpy() for kind in kinds]
        at = np.arange(len(kinds)) + (number - (len(METHODS) - 1) / 2) * width
        label = "sparse autoencoder" if method == "top-k" else method
        left.bar(at, [each.mean() for each in values], width * 0.92, color=colour, hatch=hatch, edgecolor="white", label=label)  # fmt: skip
        for place, each in zip(at, values, strict=True):
            left.plot([place] * len(each), each, ".", color="black", markersize=3)
        said.append(f"{label}: " + ", ".join(f"{kind} {each.mean():.2f}" for kind, each in zip(kinds, values, strict=True)))  # fmt: skip
    left.set_xticks(range(len(kinds)), kinds, fontsize=9)
    left.set(ylabel="F1 of the best direction", ylim=(0, 1.05))
    left.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    ours = recorded[(recorded.method == "top-k") & (recorded.width == 256) & (recorded.k == 8)]
    for kind, colour, marker in zip(kinds, (BLUE, ORANGE, GREEN, PINK, GREY, RED), "os^DvP", strict=True):
        rows = ours[ours.kind == kind]
        right.plot(rows.recall, rows.precision, marker, color=colour, label=kind)
        said.append(f"autoencoder, {kind}: precision {rows.precision.mean():.2f}, recall {rows.recall.mean():.2f}")  # fmt: skip
    right.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02), title="sparse autoencoder, three seeds")  # fmt: skip
    right.title.set_fontsize(10)
    right.legend(fontsize=8)
    show(figure, alt=f"Mean F1 of the best direction for each kind of true feature; dots are single seeds. {'. '.join(said)}.")  # fmt: skip


def steering(table: pd.DataFrame) -> None:
    """KL divergence from the language under the intended and the other sense, and the probability of impossible words, by strength."""
    figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.5))
    panels = (
        ("towards", "KL from the language under\nthe intended sense, nats"),
        ("away", "KL from the language under\nthe other sense, nats"),
        ("impossible", "probability of words that\nare impossible here"),
    )
    said = []
    for ax, (column, label) in zip(axes, panels, strict=True):
        for (name, rows), colour, style in zip(table.groupby("vector", sort=False), (BLUE, ORANGE, GREY), ("-o", "--s", ":D"), strict=True):  # fmt: skip
            means = rows.groupby("strength")[column].mean()
            ax.plot(means.index, means, style, color=colour, markersize=4, label=name)
            said.append(f"{label.replace(chr(10), ' ')}, {name}: {listed(means.tolist())}")
        ax.set(xlabel="strength", ylabel=label)
    axes[0].legend(fontsize=8)
    strengths = ", ".join(f"{strength:g}" for strength in sorted(table.strength.unique()))
    show(figure, alt=f"Effect of steering after layer 1 at strengths {strengths}, means over {table.sentence.nunique()} sentences. {'. '.join(said)}.")  # fmt: skip
