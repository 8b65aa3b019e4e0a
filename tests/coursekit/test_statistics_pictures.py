"""The figures of statistics say in words what they draw; these words are right."""

import re

import numpy as np
import pytest
from scipy import stats

from coursekit import plots
from coursekit.intervals import bootstrap, half_width
from coursekit.pictures import statistics


@pytest.fixture
def said(monkeypatch):
    """The description of the figure that was shown last."""
    descriptions = []
    monkeypatch.setattr(plots, "display", lambda picture: descriptions.append(picture.alt))
    return descriptions


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+|\d+(?=%)", text)]


def test_too_few_standard_errors_hold_the_truth_less_often_than_student_s_interval(said):
    values = [0.91, 0.93, 0.92]
    statistics.few_values(values, "share found")
    mean, half, too_short, two, three, *_ = (number for number in numbers(said[0]) if number != 1.96)
    assert (mean, half) == (pytest.approx(0.92), pytest.approx(half_width(values), abs=1e-4))
    assert too_short == pytest.approx(1.96 * stats.sem(values), abs=1e-4)
    drawn = np.random.default_rng(0).normal(size=(20_000, 3))
    inside = np.abs(drawn.mean(axis=1)) < 1.96 * stats.sem(drawn, axis=1)
    assert three == pytest.approx(100 * inside.mean(), abs=1) and two < three < 95


def test_all_right_is_no_certainty_with_wilson_s_interval(said):
    statistics.of_a_share(20, 0.8)
    low, high, same, again, worst, worst_normal = numbers(said[0])
    assert (low, high, same, again) == (pytest.approx(0.84, abs=0.01), 1, 1, 1)  # z²: 20 / (20 + 1.96²)
    assert worst > 90 and worst_normal < 50


@pytest.mark.slow
def test_the_drawn_means_lie_where_the_interval_of_the_course_is(said):
    items = np.random.default_rng(1).normal(0.5, 0.3, 60)
    statistics.resampled(items, "rank correlation")
    assert numbers(said[0])[-3:] == pytest.approx([*bootstrap(items), items.mean()], abs=1e-3)
