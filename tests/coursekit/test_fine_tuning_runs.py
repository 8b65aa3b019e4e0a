"""The recorded runs of notebook 09 are compared seed by seed, and a verdict is given only where the difference exceeds the noise."""

import pandas as pd
import pytest

from coursekit import fine_tuning_runs, miniature


def runs_with(gain: list[float]) -> pd.DataFrame:
    """Runs of two strategies whose test accuracies differ by `gain`, a number for each seed."""
    rows = [
        {"task": "topic", "labels": 64, "strategy": strategy, "seed": seed, "test": 0.5 + seed / 10 + extra}
        for seed, one in enumerate(gain)
        for strategy, extra in (("frozen features", one), ("full", 0.0))
    ]
    return pd.DataFrame(rows)


def test_a_difference_is_taken_between_runs_with_the_same_seed():
    difference = fine_tuning_runs.differences(runs_with([0.02, 0.03, 0.04]))
    values = difference("topic", 64, "frozen features", "full")
    assert list(values) == pytest.approx([0.02, 0.03, 0.04])


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        ([0.02, 0.03, 0.04], "holds"),
        ([-0.02, -0.03, -0.04], "the reverse holds"),
        ([-0.02, 0.01, 0.03], "within the noise"),
    ],
)
def test_advice_holds_where_the_difference_exceeds_the_noise(gain, verdict, monkeypatch):
    monkeypatch.setattr(fine_tuning_runs, "ADVICE", fine_tuning_runs.ADVICE[:1])
    found = fine_tuning_runs.judge_advice(fine_tuning_runs.differences(runs_with(gain)), 64, 4096)
    assert [one["verdict"] for one in found.values()] == [verdict]
    assert [one["measured"].endswith("within the noise") for one in found.values()] == [
        verdict == "within the noise"
    ]


def test_a_run_counts_only_at_the_rate_that_was_chosen_for_its_task_and_strategy():
    columns = ["table", "task", "strategy", "lr"]
    recorded = pd.DataFrame(
        [
            ("rates", "swap", "full", 1e-3),
            ("rates", "swap", "full", 3e-3),
            ("labels", "swap", "full", 1e-3),
            ("epochs", "swap", "full", 1e-3),
        ],
        columns=columns,
    )
    chosen, runs = fine_tuning_runs.at_own_rates(recorded)
    assert chosen["swap", "full"] == 1e-3
    assert list(runs.index) == [0, 2]


def test_the_best_of_guessing_models_is_reported_on_test_reviews_for_both_choices():
    def choose(rates, validation_logits, validation_labels, test_logits, test_labels):
        right = (validation_logits.argmax(dim=-1) == validation_labels).float().mean(dim=-1)
        best = right.argmax()
        return rates[best].item(), (test_logits[best].argmax(dim=-1) == test_labels).float().mean().item()

    reported = fine_tuning_runs.best_of_guessing(choose, models=10, reviews=100, repetitions=50)
    fair, unfair = (sum(values) / len(values) for values in reported.values())
    assert abs(fair - 0.5) < 0.03 < 0.05 < unfair - 0.5


def test_a_step_of_plain_gradient_descent_is_as_long_as_the_learning_rate():
    def step(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
        return w - lr * gradient, m, v

    assert list(miniature.step_lengths(step, 3)) == [1, 1, 1]
    assert miniature.difference_from_adamw(step) > 0.01
