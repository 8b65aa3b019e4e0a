"""Figures of notebook 13. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from coursekit.intervals import mean_and_half
from coursekit.plots import BLUE, GREY, ORANGE, PALETTE, show

LIGHT_BLUE, LIGHT_ORANGE = "#bcd9ea", "#f3dfb0"


def merges(stages: Sequence[Sequence[bytes]]) -> None:
    """The tokens of a word from its bytes (top) to its last merge (bottom); the new token of each row is orange."""
    figure, ax = plt.subplots(figsize=(8.6, 0.42 * len(stages) + 0.3))
    for row, tokens in enumerate(stages):
        before = _spans(stages[row - 1]) if row else set()
        for start, end in sorted(_spans(tokens)):
            new = row > 0 and (start, end) not in before
            text = b"".join(stages[0])[start:end].decode(errors="replace").replace(" ", "␣")
            ax.add_patch(
                plt.Rectangle(
                    (start + 0.05, row - 0.36),
                    end - start - 0.1,
                    0.72,
                    lw=0,
                    color=LIGHT_ORANGE if new else LIGHT_BLUE,
                )
            )
            ax.text((start + end) / 2, row, text, ha="center", va="center", fontsize=9, family="monospace")
    ax.set(xlim=(0, len(stages[0])), ylim=(len(stages) - 0.5, -0.5))
    ax.axis("off")
    said = " | ".join(token.decode(errors="replace") for token in stages[-1])
    show(
        figure,
        alt=f"After {len(stages) - 1} merges, the {len(stages[0])} bytes of the word “{b''.join(stages[0]).decode()}” form "
        f"{len(stages[-1])} tokens: {said}. Each row shows the tokens after one more merge.",
    )


def _spans(tokens: Sequence[bytes]) -> set[tuple[int, int]]:
    """The first and the last byte of each token, as a half-open range."""
    ends = np.cumsum([len(token) for token in tokens]).tolist()
    return set(zip([0, *ends[:-1]], ends, strict=True))


def fertility(lengths: Mapping[str, tuple[int, int]]) -> None:
    """Bytes per token of each text; `lengths` gives the numbers of bytes and tokens."""
    figure, ax = plt.subplots(figsize=(7.4, 0.42 * len(lengths) + 0.9))
    names, values = list(lengths), [size / tokens for size, tokens in lengths.values()]
    ax.barh(range(len(names)), values, color=BLUE, height=0.6)
    for place, (value, (size, tokens)) in enumerate(zip(values, lengths.values(), strict=True)):
        ax.text(
            value + 0.05, place, f"{value:.1f}   ({size} bytes, {tokens} tokens)", va="center", fontsize=9
        )
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="bytes per token", xlim=(0, 1.45 * max(values)))
    show(
        figure,
        alt="Bytes per token with SmolLM2's tokeniser: "
        + ", ".join(f"{name} {value:.1f}" for name, value in zip(names, values, strict=True))
        + ".",
    )


def turning(degrees: float = 25.0) -> None:
    """A query and a key at three pairs of positions: both are rotated, and the angle between them depends on the distance."""
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 3.0))
    query, key = np.radians(70.0), np.radians(20.0)
    for ax, (i, j) in zip(axes, ((0, 0), (3, 1), (6, 4)), strict=True):
        for angle, place, colour, name in ((query, i, BLUE, "q"), (key, j, ORANGE, "k")):
            turned = angle + np.radians(degrees) * place
            if place:
                ax.plot([0, np.cos(angle)], [0, np.sin(angle)], color=colour, lw=1, linestyle=":")
            ax.annotate(
                "",
                (np.cos(turned), np.sin(turned)),
                (0, 0),
                arrowprops={"arrowstyle": "->", "color": colour, "lw": 2.5},
            )
            ax.text(
                1.16 * np.cos(turned),
                1.16 * np.sin(turned),
                f"{name} at {place}",
                ha="center",
                va="center",
                fontsize=9,
                color=colour,
            )
        between = np.degrees(query - key) + degrees * (i - j)
        ax.set_title(f"distance {i - j}: angle {between:.0f}°", fontsize=10)
        ax.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        ax.axis("off")
    show(
        figure,
        alt=f"One plane of a query and a key, rotated by {degrees:.0f}° per position. If both are at position 0, the angle between them is "
        f"{np.degrees(query - key):.0f}°. At positions 3 and 1, and at 6 and 4, it is {np.degrees(query - key) + 2 * degrees:.0f}°.",
    )


def distances(scores: Float[Tensor, "T T"]) -> None:
    """The scores of one query and one key at all positions, and by distance."""
    T = len(scores)
    figure, (table, line) = plt.subplots(1, 2, figsize=(8.6, 3.3), width_ratios=(1, 1.3))
    image = table.imshow(scores.numpy(), cmap="viridis")
    table.set(xlabel="position of the key", ylabel="position of the query")
    figure.colorbar(image, ax=table, shrink=0.8, label="score")
    by_distance = {distance: scores.diagonal(-distance).mean().item() for distance in range(1 - T, T)}
    line.plot(list(by_distance), list(by_distance.values()), color=BLUE, marker="o", markersize=3)
    line.set(xlabel="distance: query position − key position", ylabel="score")
    show(
        figure,
        alt=f"The scores of one query and one key at {T} × {T} positions: each diagonal has a single colour. The score is "
        f"{by_distance[1 - T]:.2f} at distance {1 - T}, {by_distance[0]:.2f} at 0 and {by_distance[T - 1]:.2f} at {T - 1}.",
    )


def groups(heads: int, kv_heads: int) -> None:
    """The head of keys and values that each query head uses: its own, one shared by a group, or one for all."""
    figure, axes = plt.subplots(1, 3, figsize=(8.6, 2.2))
    kinds = (("multi-head", heads), ("grouped-query", kv_heads), ("multi-query", 1))
    for ax, (name, count) in zip(axes, kinds, strict=True):
        at = [(group + 0.5) * heads / count - 0.5 for group in range(count)]
        for head in range(heads):
            group = head * count // heads
            colour = PALETTE[group % len(PALETTE)]
            ax.plot([head, at[group]], [0.85, 0.15], color=colour, lw=1.2)
            ax.text(
                head,
                1,
                f"q{head}",
                ha="center",
                va="center",
                fontsize=9,
                bbox={"boxstyle": "round", "fc": LIGHT_BLUE, "lw": 0},
            )
        for group, x in enumerate(at):
            ax.text(
                x,
                0,
                f"k{group}",
                ha="center",
                va="center",
                fontsize=9,
                bbox={"boxstyle": "round", "fc": LIGHT_ORANGE, "lw": 0},
            )
        ax.set_title(f"{name}: {heads} query, {count} key head{'s' if count > 1 else ''}", fontsize=9)
        ax.set(xlim=(-0.7, heads - 0.3), ylim=(-0.3, 1.3))
        ax.axis("off")
    show(
        figure,
        alt=f"{heads} query heads at the top, heads of keys and values at the bottom. Multi-head attention: {heads}, one for each query head. "
        f"Grouped-query attention: {kv_heads}, each for {heads // kv_heads} adjacent query heads. Multi-query attention: 1 for all.",
    )


def experts(trained: Mapping[float, Sequence[Mapping[str, float]]], alike: float) -> None:
    """Results by the weight of the load-balancing loss: one point for each seed, and their mean."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.0))
    said = []
    for ax, what in zip(axes, ("largest share", "error"), strict=True):
        means = []
        for place, runs in enumerate(trained.values()):
            values = [run[what] for run in runs]
            means.append(np.mean(values))
            ax.plot(
                [place] * len(values), values, linestyle="", marker="o", color=BLUE, alpha=0.6, markersize=5
            )
        ax.plot(range(len(means)), means, color=ORANGE, marker="_", markersize=18, lw=1, label="mean")
        ax.set_xticks(range(len(trained)), [f"{weight:g}" for weight in trained])
        ax.set(xlabel="weight of the load-balancing loss", ylim=(0, None), xlim=(-0.5, len(trained) - 0.5))
        said.append(
            f"{what}: "
            + ", ".join(f"{mean:.3f} at {weight:g}" for weight, mean in zip(trained, means, strict=True))
        )
    axes[0].axhline(alike, color=GREY, linestyle=":", lw=1.5, label=f"uniform: {alike:g}")
    axes[0].set(ylabel="largest share of the choices")
    axes[1].set(ylabel="error / mean square of the targets")
    axes[0].legend(fontsize=9)
    show(figure, alt="Means over seeds, by the weight of the load-balancing loss. " + "; ".join(said) + ".")


def four_bits(measured: Mapping[int, tuple[float, Float[np.ndarray, " texts"]]], loss: float) -> None:
    """Relative error of the weights and increase of the loss, by block size, with 95 % intervals over texts.

    `loss` is the mean loss without rounding, in nats per token.
    """
    sizes = list(measured)
    means, halves = zip(*(mean_and_half(lost) for _, lost in measured.values()), strict=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.0))
    left.plot(sizes, [100 * error for error, _ in measured.values()], color=ORANGE, marker="o", markersize=4)
    left.set(ylabel="relative error of the weights (%)", ylim=(0, None))
    right.errorbar(sizes, means, halves, color=BLUE, marker="o", markersize=4, capsize=3)
    right.axhline(0, color=GREY, linestyle=":", lw=1.5, label=f"loss as loaded: {loss:.2f}")
    right.set(ylabel="increase in loss (nats per token)")
    right.legend(fontsize=9, loc="upper left")
    for ax in (left, right):
        ax.set_xscale("log", base=2)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.set_xlabel("weights per block")
    show(
        figure,
        alt="By block size, relative error of the weights and increase in loss in nats per token: "
        + ", ".join(
            f"{size}: {error:.1%} and {mean:.2f} ± {half:.2f}"
            for (size, (error, _)), mean, half in zip(measured.items(), means, halves, strict=True)
        )
        + f". Before this rounding the loss is {loss:.2f}.",
    )


def scaling(
    runs: pd.DataFrame,
    fitted: pd.DataFrame,
    law: Callable[[pd.DataFrame], np.ndarray],
    alpha: float,
    beta: float,
) -> None:
    """Nats above the bound by training tokens, a colour for each size; and the best size for each compute budget by the law.

    `runs` and `fitted` (the runs to which the law was fitted) have the columns parameters, tokens and above, and one row per
    run; `law` returns the nats above the bound for such rows. Hollow points are runs that are not in `fitted`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.9))
    sizes, said = sorted(runs["parameters"].unique()), []
    along = np.geomspace(fitted["tokens"].min() / 1.2, fitted["tokens"].max() * 1.2)
    for colour, size in zip(PALETTE, sizes, strict=False):
        own = runs[runs["parameters"] == size]
        for rows, face in (
            (own[own.index.isin(fitted.index)], colour),
            (own[~own.index.isin(fitted.index)], "none"),
        ):
            left.plot(
                rows["tokens"], rows["above"], linestyle="", marker="o", markersize=5, color=colour, mfc=face
            )
        lines = pd.DataFrame({"parameters": size, "tokens": along})
        left.plot(along, law(lines), color=colour, lw=1.5, label=f"{size:,}")
        means = own.groupby("tokens")["above"].mean()
        said.append(f"{size:,} parameters: " + ", ".join(f"{value:.2f}" for value in means))
    left.set(xscale="log", yscale="log", xlabel="training tokens", ylabel="nats per token above the bound")
    counts = sorted(runs["tokens"].unique())
    left.set_xticks(counts, [f"{count / 1000:.0f}k" for count in counts])
    left.set_yticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    left.minorticks_off()
    left.legend(title="parameters (lines: the law)", fontsize=8, title_fontsize=8, loc="lower left")
    compute = np.geomspace(*(6 * fitted["parameters"] * fitted["tokens"]).agg(["min", "max"]))
    best = [_best_size(law, budget) for budget in compute]
    middle = len(compute) // 2
    right.plot(compute, best, color=BLUE, lw=2.5, label=f"our law: {beta / (alpha + beta):.2f}")
    for name, power, colour in (("Kaplan et al.", 0.73, ORANGE), ("Hoffmann et al.", 0.50, GREY)):
        line = best[middle] * (compute / compute[middle]) ** power
        right.plot(compute, line, color=colour, linestyle="--", lw=1.5, label=f"{name}: {power:.2f}")
    cells = fitted.drop_duplicates(["parameters", "tokens"])
    spent = 6 * cells["parameters"] * cells["tokens"]
    right.plot(
        spent, cells["parameters"], linestyle="", marker="o", markersize=4, color=GREY, label="our runs"
    )
    right.set(
        xscale="log",
        yscale="log",
        xlabel="compute C = 6 · N · T (operations)",
        ylabel="best number of parameters N",
    )
    right.set(ylim=(min(sizes) / 3, 3 * max(sizes)))
    right.legend(title="N grows as C to the power", fontsize=8, title_fontsize=8)
    tokens = ", ".join(f"{count:,}" for count in counts)
    show(
        figure,
        alt=f"Mean nats per token above the bound after {tokens} training tokens. {'; '.join(said)}. According to the law, the best "
        f"number of parameters grows from {best[0]:,.0f} to {best[-1]:,.0f} as compute grows from {compute[0]:.0e} to {compute[-1]:.0e} "
        f"operations, that is, in proportion to compute to the power {beta / (alpha + beta):.2f}. Dashed lines show the powers 0.73 and 0.50.",
    )


def _best_size(law: Callable[[pd.DataFrame], np.ndarray], compute: float) -> float:
    """The number of parameters with the lowest loss by a law, for a given compute of 6 · parameters · tokens."""
    parameters = np.geomspace(1e2, 1e8, 601)
    lines = pd.DataFrame({"parameters": parameters, "tokens": compute / 6 / parameters})
    return float(parameters[np.argmin(law(lines))])
