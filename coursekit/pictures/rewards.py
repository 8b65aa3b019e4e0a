"""Figures of notebook 16. Each draws values that the notebook has computed, and states them in its alt text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from jaxtyping import Float

from coursekit.intervals import bootstrap, mean_and_half
from coursekit.plots import BLUE, GREEN, GREY, ORANGE, RED, SKY, show


def errors(squared: Mapping[tuple[str, int], Float[np.ndarray, " times"]]) -> None:
    """The error of a gradient estimate by the number of samples, for each baseline."""
    figure, ax = plt.subplots(figsize=(5.6, 3.2))
    said = []
    for baseline, colour, marker in (("none", RED, "o"), ("leave-one-out", BLUE, "s")):
        sizes = sorted(n for name, n in squared if name == baseline)
        means = [squared[baseline, n].mean() ** 0.5 for n in sizes]
        ends = [np.sqrt(bootstrap(squared[baseline, n])) for n in sizes]
        bars = np.abs(np.array(ends).T - means)
        ax.errorbar(sizes, means, bars, color=colour, marker=marker, capsize=3, label=f"baseline: {baseline}")
        said.append(
            f"baseline {baseline}: "
            + ", ".join(f"{mean:.2f} for n = {n}" for n, mean in zip(sizes, means, strict=True))
        )
    ax.axhline(1, color=GREY, linestyle=":", lw=1)
    ax.set(xscale="log", yscale="log", xlabel="number of samples n", ylabel="error / length of the gradient")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    ax.legend(fontsize=9)
    show(figure, alt=f"Root mean squared error of a gradient estimate, relative to the exact gradient. {'; '.join(said)}. The dotted line marks an error as large as the gradient.")  # fmt: skip


def plane(
    curve: Float[np.ndarray, "n 2"],
    grpo: pd.DataFrame,
    dpo: pd.DataFrame,
    best_of: Sequence[tuple[int, float, float]],
    begun: float,
) -> None:
    """Reward against KL to the reference: the best policies, GRPO with both penalties, DPO and best-of-n."""
    figure, ax = plt.subplots(figsize=(7.4, 4.2))
    ax.plot(curve[:, 0], curve[:, 1] - begun, color=GREY, lw=1, zorder=0, label="best policies π*")
    ns, kls, gains = zip(*best_of, strict=True)
    ax.plot(kls, np.array(gains) - begun, color=GREEN, marker="^", lw=0.8, label="best of n")
    for n, kl, gain in best_of:
        beside = {64: (-29, 8), 256: (6, -1)}.get(n, (4, -11))  # where no point of GRPO is
        ax.annotate(
            f"n = {n}", (kl, gain - begun), beside, textcoords="offset points", fontsize=7, color="#00614a"
        )
    said = [
        "best of n: " + ", ".join(f"n = {n}: {gain - begun:.2f} at {kl:.2f} nats" for n, kl, gain in best_of)
    ]
    kinds = (
        ("GRPO, penalty in the reward, groups of 16", grpo[(grpo["penalty"] == "in the reward") & (grpo["group"] == 16)], BLUE, "o"),
        ("GRPO, penalty in the reward, groups of 4", grpo[(grpo["penalty"] == "in the reward") & (grpo["group"] == 4)], SKY, "s"),
        ("GRPO, penalty in the loss, groups of 16", grpo[grpo["penalty"] == "in the loss"], RED, "D"),
        ("DPO", dpo, ORANGE, "v"),
    )  # fmt: skip
    for label, table, colour, marker in kinds:
        for number, (beta, runs) in enumerate(table.groupby("beta")):
            (x, dx), (y, dy) = (mean_and_half(runs[name]) for name in ("to_ref", "reward"))
            ax.errorbar(
                x, y - begun, dy, dx, color=colour, marker=marker, markersize=9 if colour == SKY else 5, mfc="none" if colour == SKY else colour, capsize=2, lw=1,
                label=None if number else label,
            )  # fmt: skip
            if colour != SKY:  # at the same β as the points of groups of 16
                beside = (5, 4) if colour == BLUE else (5, -9)
                ax.annotate(f"{beta:g}", (x, y - begun), beside, textcoords="offset points", fontsize=7)
            said.append(f"{label}, β = {beta:g}: {y - begun:.2f} ± {dy:.2f} at {x:.2f} ± {dx:.2f} nats")
    ax.set(xscale="log", yscale="log", xlabel="KL to the reference (nats)", ylabel="reward gained")
    ax.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    ax.set_yticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    ax.legend(fontsize=8, title="numbers at points: β", title_fontsize=8, alignment="left")
    show(figure, alt=f"Reward gained (the reference has {begun:.2f}) against KL to the reference; numbers at the points are β; means of three seeds with 95 % intervals. {'; '.join(said)}. No point lies above the curve of the best policies.")  # fmt: skip


PROXIES = {"letters": (RED, "proxy: letters"), "checked": (BLUE, "proxy: letters, with a checker")}


def hacked(curves: Mapping[str, pd.DataFrame], runs: pd.DataFrame, peaks: Mapping[str, float]) -> None:
    """True reward against KL to the reference: exact curves of the best policies for each reward, and training runs."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), sharey=True)
    said = []
    for name, curve in curves.items():
        colour, label = PROXIES.get(name, (GREEN, "the true reward itself"))
        for ax in (left, right):
            ax.plot(curve["kl"], curve["true"], color=colour, lw=1.6 if ax is left else 0.8, label=label)
        at = curve["true"].idxmax()
        said.append(f"{label}: highest {curve['true'][at]:.2f} at {curve['kl'][at]:.2f} nats")
        if name in peaks:
            left.axvline(peaks[name], color=colour, linestyle=":", lw=1)
    for (name, _), run in runs.groupby(["proxy", "seed"]):
        right.plot(
            run["kl"], run["true_reward"], color=PROXIES[str(name)][0], marker="o", markersize=3, lw=0.6
        )
    ends = runs[runs["step"] == runs["step"].max()].groupby("proxy")[["kl", "true_reward"]].mean()
    said += [
        f"after training on {name}: {row.true_reward:.2f} at {row.kl:.1f} nats"
        for name, row in ends.iterrows()
    ]
    for ax, title in ((left, "best policies (exact)"), (right, "points: GRPO without a penalty")):
        ax.set(xlabel="KL to the reference (nats)", title=title, xscale="symlog", xlim=(0, 30))
        ax.set_xscale("symlog", linthresh=0.1)
        ax.set_xticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
    left.set_ylabel("true reward")
    left.legend(fontsize=8, loc="lower left")
    show(figure, alt=f"True reward against KL to the reference. {'; '.join(said)}. Dotted lines mark the points at which the covariance of the true reward and the proxy is zero.")  # fmt: skip


def voted(found: Mapping[str, tuple[float, float, float]], n: int) -> None:
    """Accuracy of one sample and of the majority, and pass@k, with intervals over sums."""
    figure, ax = plt.subplots(figsize=(6.4, 3.0))
    said = []
    for place, (way, (mean, low, high)) in enumerate(found.items()):
        colour = GREEN if way.startswith("pass") else BLUE if way.startswith("majority") else ORANGE
        ax.errorbar(
            place,
            100 * mean,
            [[100 * (mean - low)], [100 * (high - mean)]],
            color=colour,
            marker="o",
            capsize=4,
        )
        said.append(f"{way} {mean:.0%} ({low:.0%} to {high:.0%})")
    ax.set_xticks(range(len(found)), list(found))
    ax.set(ylabel="accuracy (%)", ylim=(0, 103))
    show(figure, alt=f"SmolLM2's answers to {n} sums, with 95 % intervals over sums: {'; '.join(said)}.")


FORMS = {
    "step by step": (BLUE, "o"),
    "at once": (RED, "D"),
}


def by_buses(table: pd.DataFrame) -> None:
    """Accuracy by the number of buses for each form of the answers, with intervals over seeds."""
    figure, ax = plt.subplots(figsize=(6.0, 3.2))
    said = []
    for form, (colour, marker) in FORMS.items():
        runs = table[table["form"] == form].pivot(index="seed", columns="buses", values="accuracy")
        means, halves = mean_and_half(100 * runs.to_numpy())
        ax.errorbar(runs.columns, means, halves, color=colour, marker=marker, capsize=3, label=form)
        said.append(
            f"{form}: "
            + ", ".join(f"{mean:.0f} % for {buses}" for buses, mean in zip(runs.columns, means, strict=True))
        )
    ax.axhline(100 / 12, color=GREY, linestyle=":", lw=1)
    ax.set(xlabel="buses on the route", ylabel="accuracy (%)", ylim=(0, 103))
    ax.legend(fontsize=9)
    show(figure, alt=f"Accuracy of the last town by the number of buses, with 95 % intervals over three seeds. {'; '.join(said)}. The dotted line marks the chance level of 1 in 12.")  # fmt: skip


def passes(table: pd.DataFrame) -> None:
    """pass@k of base and tuned models whose training contained steps or not, and the chance level for the same k."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    columns = [column for column in table if column.startswith("pass@")]
    ks = np.array([int(column.removeprefix("pass@")) for column in columns])
    said = []
    for (share, stage), runs in table.groupby(["share", "stage"], sort=False):
        means, halves = mean_and_half(100 * runs[columns].to_numpy())
        with_steps = share > 0
        label = f"{stage}, {'some steps' if with_steps else 'no steps'} in training"
        ax.errorbar(
            ks, means, halves, color=BLUE if with_steps else RED, linestyle="-" if stage == "tuned" else "--", marker="o" if with_steps else "D",
            mfc=None if stage == "tuned" else "none", markersize=5, capsize=3, label=label,
        )  # fmt: skip
        said.append(
            f"{label}: " + ", ".join(f"{mean:.0f} % for k = {k}" for k, mean in zip(ks, means, strict=True))
        )
    ax.plot(ks, 100 * (1 - (11 / 12) ** ks), color=GREY, linestyle=":", label="chance")
    ax.set(xscale="log", xlabel="samples k", ylabel="pass@k (%)", ylim=(0, 103))
    ax.set_xticks(ks, ks)
    ax.minorticks_off()
    ax.legend(fontsize=8, loc="lower right")
    show(figure, alt=f"pass@k before and after reinforcement learning, with 95 % intervals over three seeds. {'; '.join(said)}. The dotted line is the chance level, 1 − (11/12) to the power k.")  # fmt: skip


def judge_kept(kept: Mapping[str, Mapping[int, Float[np.ndarray, " questions"]]]) -> None:
    """Best of n with a judge as the reward: the reward, and how many of the answers kept are right and padded, with intervals over questions."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.2))
    said = []
    for name, by_n in kept.items():
        is_reward = name == "reward"
        colour, marker = {"reward": (GREY, "^"), "right": (BLUE, "o")}.get(name, (ORANGE, "D"))
        scale, unit = (1, "nats") if is_reward else (100, "%")
        means = scale * np.array([values.mean() for values in by_n.values()])
        ends = scale * np.array([bootstrap(values) for values in by_n.values()])
        ax = left if is_reward else right
        ax.errorbar(
            list(by_n), means, np.abs(ends.T - means), color=colour, marker=marker, capsize=3, label=name
        )
        values = ", ".join(
            f"{mean:{'.2f' if is_reward else '.0f'}} {unit} for n = {n}"
            for n, mean in zip(by_n, means, strict=True)
        )
        said.append(f"{name}: {values}")
    for ax in (left, right):
        ax.set(xscale="log", xlabel="number of answers n")
        ax.set_xticks(list(kept["reward"]), list(kept["reward"]))
        ax.minorticks_off()
    left.set_ylabel("the judge's reward (nats)")
    right.axhline(50, color=GREY, linestyle=":", lw=1)
    right.set(ylabel="answers kept (%)", ylim=(0, 103))
    right.legend(fontsize=9, loc="upper left")
    show(figure, alt=f"Best of n with the judge's reward, with 95 % intervals over questions. {'; '.join(said)}. The dotted line marks 50 %, the value without a judge.")  # fmt: skip
