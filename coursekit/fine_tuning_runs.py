"""The runs of fine-tuning that were recorded for notebook 09: those at the chosen learning rates, their differences, what they say of advice."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from coursekit.intervals import half_width

if TYPE_CHECKING:  # importing transformers takes seconds
    from transformers import Trainer

ADVICE = (
    ("few, near: train a head on frozen features", "topic", "least", "frozen features", "full"),
    ("many, near: fine-tune everything", "topic", "most", "full", "frozen features"),
    ("few, far: do not fine-tune everything", "swap", "least", "frozen features", "full"),
    ("many, far: fine-tune everything", "swap", "most", "full", "frozen features"),
    ("many, far: still start from pre-trained weights", "swap", "most", "full", "from scratch"),
    ("many, far: unfreeze gradually", "swap", "most", "gradual unfreezing", "full"),
)
"""Rules of thumb: the advice, the task, the number of labels, and the strategies that it calls better and worse."""


def at_own_rates(recorded: pd.DataFrame) -> tuple[pd.Series, pd.DataFrame]:
    """The learning rate that was chosen for each task and strategy, and the runs with these rates."""
    chosen = recorded.query("table == 'labels'").groupby(["task", "strategy"], sort=False)["lr"].first()
    own_rate = [row.lr == chosen[row.task, row.strategy] for row in recorded.itertuples()]
    return chosen, recorded[np.array(own_rate) & recorded["table"].isin(["labels", "rates"])]


def differences(runs: pd.DataFrame) -> Callable[..., pd.Series]:
    """The function difference(task, labels, one, other, measure="test"): strategy `one` minus `other`, for each seed."""

    def difference(task: str, labels: int, one: str, other: str, measure: str = "test") -> pd.Series:
        some = runs[(runs["task"] == task) & (runs["labels"] == labels)]
        by_seed = some.pivot(index="seed", columns="strategy", values=measure)
        return by_seed[one] - by_seed[other]

    return difference


def in_words(values: pd.Series, scale: float = 100, unit: str = "points") -> str:
    """A mean difference with its 95 % interval, and whether it exceeds the noise."""
    noise = "" if abs(values.mean()) > half_width(values) else ", within the noise"
    return f"{scale * values.mean():+.1f} ± {scale * half_width(values):.1f} {unit}{noise}"


def plus_minus(values: pd.Series, scale: float = 1.0, digits: int = 2) -> str:
    """A mean over seeds with its 95 % interval, as text."""
    return f"{scale * values.mean():.{digits}f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{scale * half_width(values):.{digits}f}"


def judge_advice(
    difference: Callable[[str, int, str, str], pd.Series], least: int, most: int
) -> dict[str, dict[str, str]]:
    """What the runs with the least and the most labels say of each rule of thumb."""
    verdicts = {}
    for advice, task, count, better, worse in ADVICE:
        values = difference(task, {"least": least, "most": most}[count], better, worse)
        clear = abs(values.mean()) > half_width(values)
        sign = "holds" if values.mean() > 0 else "the reverse holds"
        verdicts[advice] = {
            "measured": f"{better} − {worse}: {in_words(values)}",
            "verdict": sign if clear else "within the noise",
        }
    return verdicts


def by_strategy_and_rate(runs: pd.DataFrame) -> dict[tuple[str, float], dict[str, pd.Series]]:
    """The test accuracies of each task over the seeds, by strategy and learning rate."""
    return {
        (strategy, lr): {task: some["test"] for task, some in rows.groupby("task", sort=False)}
        for (strategy, lr), rows in runs.groupby(["strategy", "lr"], sort=False)
    }


def by_decay(one_rate: pd.DataFrame, by_layer: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and forgetting by task, learning rate and seed; a column for each decay of the rate from layer to layer.

    Runs with one rate for all layers (a decay of 1) are kept for the seeds of the others.
    """
    paired = one_rate[one_rate["seed"].isin(by_layer["seed"])].assign(decay=1.0)
    return pd.concat([paired, by_layer]).pivot(
        index=["task", "lr", "seed"], columns="decay", values=["test", "forgotten"]
    )


def by_learning_rate(runs: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """The test accuracies of a strategy: a row for each seed, a column for each learning rate."""
    return runs[runs["strategy"] == strategy].pivot(index="seed", columns="lr", values="test")


def best_of_guessing(
    choose_and_report: Callable, models: int = 20, reviews: int = 320, repetitions: int = 500
) -> dict[str, list[float]]:
    """The accuracy reported of the best of several models that guess, chosen on validation or on test reviews."""
    generator = torch.Generator().manual_seed(0)
    reported: dict[str, list[float]] = {"chosen on validation reviews": [], "chosen on test reviews": []}
    rates = torch.arange(float(models))
    for _ in range(repetitions):
        on_validation, on_test = torch.randn(2, models, reviews, 2, generator=generator)
        for_validation, for_test = torch.randint(2, (2, reviews), generator=generator)
        for how, given in zip(reported, ((on_validation, for_validation), (on_test, for_test)), strict=True):
            reported[how].append(choose_and_report(rates, *given, on_test, for_test)[1])
    return reported


def without_decay(trainer: "Trainer") -> tuple[set[str], set[str]]:
    """The parameter tensors without weight decay: those that are vectors (our rule), and those that Trainer leaves out."""
    trainable = dict(trainer.model.named_parameters())
    vectors = {name for name, weight in trainable.items() if weight.ndim < 2}
    return vectors, set(trainable) - set(trainer.get_decay_parameter_names(trainer.model))
