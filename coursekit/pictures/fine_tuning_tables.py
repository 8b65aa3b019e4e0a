"""Tables of notebook 09, from what the notebook has computed or loaded."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display
from jaxtyping import Float
from torch import Tensor

from coursekit.exam import QUESTIONS
from coursekit.fine_tuning_runs import in_words, plus_minus
from coursekit.intervals import half_width, mean_and_half
from coursekit.language import SEP, load_language
from coursekit.length_sorting import ENCODED, ByLength, positions
from coursekit.sentence_tasks import TASKS

Difference = Callable[..., pd.Series]
"""difference(task, labels, one, other, measure="test"): a measure of one strategy minus that of another, for each seed."""


def tasks(chance: Mapping[str, float], by_bag: Mapping[str, float], best: Mapping[str, float]) -> None:
    """Two sentences of each task with their labels, its baselines and the best possible accuracy."""
    language = load_language()
    for task, (make, classes) in TASKS.items():
        ids, labels = make(4096, 0, "train")
        for row, label in zip(ids[:2], labels[:2].tolist(), strict=True):
            said = language.topics[label] if task == "topic" else ("original order", "swapped")[label]
            print(f"{task}: {' '.join(language.vocabulary[i] for i in row if i > SEP)}  →  {said}")
        print(
            f"    {classes} classes; majority class {chance[task]:.1%}, bag of words {by_bag[task]:.1%},",
            f"best possible {best[task]:.1%}",
        )


def live_run(course: Float[np.ndarray, "points 5"]) -> None:
    """The end of one fine-tuning run, and where its validation loss was lowest, in a sentence each."""
    lowest, last, forgotten = course[course[:, 2].argmin()], course[-1], course[-1, 4] - course[0, 4]
    display(Markdown(
        f"After {last[0]:.0f} steps the validation accuracy is **{last[3]:.1%}**, and the loss on masked words "
        f"has increased by **{forgotten:.2f} nats**. The validation loss "
        f"is lowest at step {lowest[0]:.0f} ({lowest[2]:.2f}) and ends at "
        f"{last[2]:.2f}, while the training loss ends at {last[1]:.2f}."
    ))  # fmt: skip


def strategies(at_most: pd.DataFrame, chosen: pd.Series, trainable: Mapping[str, int]) -> None:
    """Accuracy, forgetting, time and trainable parameters of each strategy with the most labels."""
    rows = {}
    for task, strategy in chosen.index:
        some, old_head = at_most.loc[task, strategy], strategy != "from scratch"
        gain = 100 * (some["test"] - at_most["test"][task]["frozen features"])
        gained = old_head and gain.mean() > half_width(gain)
        rows[task, strategy] = {
            "learning rate": f"{chosen[task, strategy]:g}",
            "accuracy (%)": plus_minus(some["test"], 100, 1),
            "forgotten (nats)": plus_minus(some["forgotten"]) if old_head else "—",
            "nats per point gained": f"{some['forgotten'].mean() / gain.mean():.3f}" if gained else "—",
            "seconds": plus_minus(some["seconds"], 1, 1),
            "trainable (swap)": f"{trainable[strategy]:,}",
        }
    display(pd.DataFrame(rows).T)


def differences(difference: Difference, labels: Sequence[int]) -> None:
    """Full fine-tuning minus each other strategy in points of accuracy, for each task and number of labels."""
    others = ("frozen features", "last layer", "gradual unfreezing", "from scratch")
    display(pd.DataFrame({
        f"full − {other}": {
            f"{task}, {count}": in_words(difference(task, count, "full", other))
            for task in TASKS for count in labels
        } for other in others
    }))  # fmt: skip


def advice(verdicts: Mapping[str, Mapping[str, str]], difference: Difference, labels: int) -> None:
    """What was measured of each rule of thumb, and how much more full fine-tuning forgets than gradual unfreezing."""
    display(pd.DataFrame(verdicts).T.style)
    for task in TASKS:
        less = difference(task, labels, "full", "gradual unfreezing", "forgotten")
        print(f"{task}: forgetting, full − gradual unfreezing: {in_words(less, 1, 'nats')}")


def accuracies(found: Mapping[tuple[str, float], Mapping[str, pd.Series]]) -> None:
    """Accuracy on each task by strategy and learning rate, with intervals over seeds."""
    display(pd.DataFrame({
        f"{strategy}, learning rate {lr:g}": {
            f"{task}, accuracy (%)": plus_minus(values, 100, 1) for task, values in tasks.items()
        }
        for (strategy, lr), tasks in found.items()
    }).T)  # fmt: skip


def warm_up(runs: pd.DataFrame) -> None:
    """Accuracy with and without warm-up, and the gain over paired seeds, by task and learning rate."""
    by_warm_up = runs.pivot(index=["task", "lr", "seed"], columns="warmup", values="test") * 100
    by_warm_up["gain"] = by_warm_up[0.1] - by_warm_up[0.0]
    display(pd.DataFrame({
        f"{task}, learning rate {lr:g}": {
            "without (%)": f"{some[0.0].mean():.1f}",
            "with (%)": f"{some[0.1].mean():.1f}",
            "gain (points)": "{:+.1f} ± {:.1f}".format(*mean_and_half(some["gain"])),
        }
        for (task, lr), some in by_warm_up.groupby(level=["task", "lr"])
    }).T)  # fmt: skip


def layer_rates(runs: pd.DataFrame) -> None:
    """Accuracy and forgetting by task and learning rate, with a column for each decay of the rate from layer to layer."""
    measures = (("accuracy (%)", "test", 100, 1), ("forgotten (nats)", "forgotten", 1, 2))
    display(pd.DataFrame({
        f"{task}, learning rate {lr:g}": {
            (what, f"decay {decay:g}"):
                plus_minus(some[measure, decay], scale, digits) if some[measure, decay].notna().all() else "–"
            for what, measure, scale, digits in measures for decay in (1.0, 0.5, 0.25)
        }
        for (task, lr), some in runs.groupby(level=["task", "lr"])
    }).T)  # fmt: skip


def review_runs(by_rate: pd.DataFrame, best_rate: float, frozen: pd.Series) -> None:
    """Full fine-tuning on the reviews by learning rate (seeds × rates), and its differences from the best rate and from frozen features."""
    for rate, runs in by_rate.items():
        print(f"full, learning rate {rate:g}: {plus_minus(runs, 100, 1)} %; runs from {runs.min():.1%} to {runs.max():.1%}")  # fmt: skip
    best = by_rate[best_rate]
    display(Markdown(
        f"Learning rate 1e-3 − {best_rate:g}: {in_words(by_rate[1e-3] - best)}. Learning rate 5e-5 − "
        f"{best_rate:g}: {in_words(by_rate[5e-5] - best)}. Full fine-tuning (learning rate {best_rate:g}) − frozen "
        f"features: {in_words(best - frozen)}."
    ))  # fmt: skip


def heads(runs: pd.DataFrame) -> None:
    """Accuracy of a head on each kind of frozen vector, by the number of steps."""
    percent = (100 * runs["test"]).groupby([runs["vector"], runs["steps"]], sort=False)
    display(
        percent.agg(lambda values: "{:.1f} ± {:.1f}".format(*mean_and_half(values)))
        .unstack()
        .rename_axis("accuracy (%) on test reviews, frozen", axis=0)
        .rename_axis("steps", axis=1)
    )


def similar_vectors(vectors: Mapping[str, Float[Tensor, "n D"]], alike: Mapping[str, float]) -> None:
    """The mean cosine of two reviews and the mean size of a coordinate, for each kind of vector."""
    for name, vector in vectors.items():
        size = vector.abs().mean().item()
        print(f"{name:<24} mean cosine of two reviews {alike[name]:.2f}, mean size of a coordinate {size:.2f}")  # fmt: skip


def reported_accuracies(reported: Mapping[str, Sequence[float]]) -> None:
    """The accuracy reported on average and its range, by the reviews on which the model was chosen."""
    for how, values in reported.items():
        print(f"{how}: {np.mean(values):.1%} reported on average, from {min(values):.1%} to {max(values):.1%}")  # fmt: skip


def lost_points(points: Mapping[tuple[str, str], Mapping[str, pd.Series]]) -> None:
    """The change in accuracy on each kind of question, and the nats forgotten, by task and learning rate."""
    names = {**QUESTIONS, "forgotten": "forgotten (nats)"}
    display(pd.DataFrame({
        row: {names[what]: plus_minus(values, 1, 2 if what == "forgotten" else 1) for what, values in found.items()}
        for row, found in points.items()
    }).T.rename_axis(["task", "learning rate"]))  # fmt: skip


def padding(found: ByLength, shuffles: int = 20) -> None:
    """The positions that a model processes for the same sequences, with and without sorting, and how far their vectors differ."""
    lengths, size, tokens = found.lengths, len(found.batches[0]), int(found.lengths.sum())
    shuffled = (
        torch.from_numpy(np.random.default_rng(seed).permutation(len(lengths))).split(size)
        for seed in range(shuffles)
    )
    drawn = [positions(lengths, batches) for batches in shuffled]
    rows = {
        "padded to the longest of all": (len(lengths) * int(lengths.max()), ""),
        "shuffled batches": (np.mean(drawn), f"{min(drawn):,} to {max(drawn):,} over {shuffles} shuffles"),
        "sorted by length": (positions(lengths, found.batches), ""),
    }
    table = {
        name: {"positions": f"{count:,.0f}", "padding": f"{1 - tokens / count:.0%}", "range": spread}
        for name, (count, spread) in rows.items()
    }
    display(pd.DataFrame(table).T)
    saved = 1 - rows["sorted by length"][0] / rows["shuffled batches"][0]
    display(Markdown(
        f"The {len(lengths)} reviews contain {tokens:,} tokens. Compared with shuffled batches, sorting saves {saved:.0%} of all "
        f"positions. The vectors of {ENCODED} reviews, encoded in one batch or in sorted batches, differ by at most "
        f"{found.restored:.0e} after their order is restored, and by up to {found.unrestored:.1f} without restoring it."))  # fmt: skip


def early_stopping(course: Float[np.ndarray, "points 5"], stopped: int, best_epoch: int) -> None:
    """The model that early stopping keeps, the model at the end, and the epoch in which the run would stop."""
    for name, row in (("kept", course[1 + best_epoch]), ("at the end", course[-1])):
        right, nats = f"validation accuracy {row[3]:.1%}", f"masked words {row[4]:.2f} nats"
        print(f"{name:<10} step {row[0]:.0f}: {right}, {nats}")
    print(f"stopped after epoch {stopped} (epochs are numbered from 0 to {len(course) - 2})")
