"""Every verdict is right for every draw of the inputs, and known answers are told apart before anything is released."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import numpy as np
import pytest

from autograder.authoring import rates
from autograder.authoring.rates import (
    Rate,
    assignment_rates,
    exercise_rates,
    nudged,
    seeds_from,
)
from autograder.checks import recording
from autograder.errors import CourseError
from tests.autograder.authoring.conftest import LUCKY, SOLUTION, run


def rates_of(assignment, **more):
    rates = exercise_rates(assignment, "lucky.largest", seeds_from(0, 60), **more)
    return {(rate.kind, rate.variant): rate for rate in rates}


def test_a_mistake_that_is_right_by_luck_is_found(course):
    rates = rates_of(course(f"largest = exercise((SMALLEST, {LUCKY}))"))
    assert rates["mistake", "the smallest"].holds
    assert 0 < rates["mistake", "without zero"].passed < 60
    assert rates["alternative", "sorted"] == Rate("lucky.largest", "sorted", "alternative", 60, 60)
    assert rates["lazy", "zeros"].holds and rates["rounding", "the solution"].holds
    assert recording.active() is None  # else every later check of this process would be silent


@pytest.mark.slow
def test_several_processes_find_what_one_finds(course):
    one = course("largest = exercise((SMALLEST,))\nagain = exercise((SMALLEST,))")
    one.source.write_text(f"{SOLUTION}\n{SOLUTION.replace('largest', 'again')}")
    assert set(one.exercises) == {"lucky.largest", "lucky.again"}
    alone, beside = (assignment_rates(one, seeds_from(0, 5), workers=count) for count in (1, 2))
    assert alone == beside and {rate.exercise for rate in alone} == set(one.exercises)


@pytest.mark.slow
def test_a_process_of_ours_has_one_thread_and_no_torch_before_the_course_asks_for_it(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with ProcessPoolExecutor(1, get_context("spawn"), rates.one_thread_from_the_start) as pool:
        assert not pool.submit(eval, "'torch' in __import__('sys').modules").result()
        assert pool.submit(eval, "__import__('torch').get_num_threads()").result() == 1


def test_answers_beside_the_exercise_s_own_are_tried_too(course):
    wrong = {
        "the first": "def largest(x):\n    return x[:, 0]",
        "of all": "def largest(x):\n    return x.max()",
    }
    right = {
        "a loop": "def largest(x):\n    return torch.stack([max(row) for row in x])",
        "broken": "def largest(",
    }
    rates = rates_of(course("largest = exercise((SMALLEST,))"), wrong=wrong, right=right)
    assert [rates["wrong", name].passed for name in wrong] == [0, 0]
    assert [rates["right", name].passed for name in right] == [60, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercises", "sentence"),
    [
        (f"largest = exercise((SMALLEST, {LUCKY}))", "passes on"),
        ("largest = exercise((SMALLEST,), {'broken': 'def largest('})", "'broken': passes on 0 of"),
        (
            "largest = exercise((SMALLEST,), {'wrong': 'def largest(x):\\n    return x[:, 0]'})",
            "'wrong': passes on",
        ),
        (
            "largest = exercise((SMALLEST, Mistake('cut', 'A hint.', 'x.max(', 'x.max((')))",
            "its cell does not run",
        ),
        (
            "largest = exercise((SMALLEST, Mistake('same', 'Another.', edits={'max': 'amin', '.values': ''})))",
            "cannot be distinguished",
        ),
        (
            "largest = exercise((Mistake('none', 'A hint.', '-1', '1'),))",
            "its answers are right on every case",
        ),
        (
            "largest = exercise((Mistake('stops', 'A hint.', '-1', '7'),))",
            "stops with an error on every case",
        ),
    ],
)
def test_build_refuses_what_luck_would_decide(course, exercises, sentence):
    one = course(exercises)
    with pytest.raises(CourseError, match=re.escape(sentence)):
        run("build", "13_lucky", "--seeds", "60")
    assert not one.key.exists() and not one.release.exists()


@pytest.mark.slow
def test_a_graded_cell_that_nothing_judges_is_refused_by_name(course):
    one = course("largest = exercise((SMALLEST,))")
    metadata = (
        '"grade": true, "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false'
    )
    forgotten = f'\n# %% nbgrader={{{metadata}, "grade_id": "lucky-smallest-check"}}\ncheck("lucky.smallest", lambda case: 0)\n'
    one.source.write_text(SOLUTION + forgotten)
    with pytest.raises(CourseError, match="lucky-smallest-check"):
        run("build", "13_lucky", "--seeds", "2")
    assert not one.release.exists()


def test_the_command_writes_json_and_fails_for_luck(course, tmp_path):
    course(f"largest = exercise((SMALLEST, {LUCKY}))")
    file = tmp_path / "rates.json"
    result = run("rates", "13_lucky", "--seeds", "60", "--json", str(file), "--workers", "1")
    assert result.exit_code == 1
    entries = json.loads(file.read_text())
    assert {tuple(entry) for entry in entries} == {("exercise", "variant", "kind", "seeds", "passed")}
    assert {entry["kind"] for entry in entries} == {"mistake", "alternative", "lazy", "rounding", "generic"}


def test_nudged_inputs_move_by_the_last_bit_and_equal_numbers_stay_equal():
    x = np.float32([0.1, 0.1, -3.7, 0.5, 0, -np.inf, np.nan, 1000.125, 4095.0])
    for seed in range(8):
        moved = nudged({"x": x, "ids": np.arange(3), "p": 0.3}, seed)
        assert moved["p"] == 0.3 and moved["ids"].tolist() == [0, 1, 2]
        y = moved["x"]
        assert y[0] == y[1] and (abs(y[:3] - x[:3]) == np.spacing(abs(x[:3]))).all()
        assert np.array_equal(y[[3, 4, 5, 6, 8]], x[[3, 4, 5, 6, 8]], equal_nan=True)
    assert len({nudged({"x": x}, seed)["x"][2].item() for seed in range(8)}) == 2


def test_a_mistake_that_nobody_listed_and_luck_exposes_is_found(course):
    """Without `clamp`, which makes a difference where all numbers of a row are far below 0."""
    one = course("largest = exercise((SMALLEST,), {})")
    one.source.write_text(SOLUTION.replace(".values", ".values.clamp(min=-0.5)"))
    rates = [
        rate
        for rate in exercise_rates(one, "lucky.largest", seeds_from(0, 60), generic=60)
        if rate.kind == "generic"
    ]
    lucky = {rate.variant: rate for rate in rates if not rate.holds}
    dropped = lucky["`return x.max(dim=-1).values.clamp(min=-0.5)` → `return x.max(dim=-1).values`"]
    assert 0 < dropped.passed < 60 and dropped.seeds == 60
    assert any(rate.holds and rate.passed == 0 for rate in rates)
    assert not any(rate.kind == "generic" for rate in exercise_rates(one, "lucky.largest", seeds_from(0, 2)))


@pytest.mark.slow
def test_a_mistake_that_loops_for_ever_is_no_matter_of_luck(course, monkeypatch):
    one = course("largest = exercise((SMALLEST,), {})")
    loop = "rest = list(x)\n    best = []\n    while len(rest) > 0:\n        best.append(rest.pop(0).max())\n    return torch.stack(best)"
    one.source.write_text(SOLUTION.replace("return x.max(dim=-1).values", loop))
    monkeypatch.setattr(rates, "MOST_SECONDS", 0.3)
    tried = exercise_rates(one, "lucky.largest", seeds_from(0, 3), generic=3)
    assert all(rate.holds for rate in tried)
    assert not any("len(rest) >= 0" in rate.variant and rate.passed for rate in tried)


def test_many_draws_of_a_slow_exercise_are_no_loop(course, monkeypatch):
    """The limit holds for each draw: with one for all of them, a change that nobody notices would not be told."""
    limits = []
    monkeypatch.setattr(rates, "no_longer_than", lambda seconds: limits.append(seconds) or nullcontext())
    one = course("largest = exercise((SMALLEST,), {})")
    tried = exercise_rates(one, "lucky.largest", seeds_from(0, 5), generic=5)
    assert len(limits) >= 5 * sum(rate.kind == "generic" for rate in tried) > 0
