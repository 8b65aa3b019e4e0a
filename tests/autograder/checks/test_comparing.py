"""Which numbers are right: by the scale of what is expected, by its type, and by that of the answer."""

from dataclasses import replace

import numpy as np
import pytest

from autograder.checks import answers
from autograder.checks.arrays import BFLOAT16
from autograder.checks.asking import Answer, ask
from autograder.checks.comparing import KnownMistake, Rule, compare, earned_credit, passes, recognised, same
from autograder.checks.panels import panels
from autograder.checks.recording import answers_from_file, answers_to_file
from autograder.checks.status import Problem


def right(got, want, **rule) -> bool:
    return compare(Answer({"": np.asarray(got)}), Answer({"": np.asarray(want)}), Rule(**rule)) is None


@pytest.mark.parametrize(("off", "is_right"), [(2e-3, True), (1e-2, False)])
def test_float16_keeps_three_digits_and_is_held_to_no_more(off, is_right):
    want = np.linspace(1, 2, 8, dtype=np.float32)
    assert right((want * (1 + off)).astype(np.float16), want, tolerance=1e-5) == is_right
    assert not right((want * (1 + off)).astype(np.float32), want, tolerance=1e-5)


def in_bfloat16(x) -> np.ndarray:
    """Rounded to bfloat16. It comes as float32: numpy has no such type."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(("off", "is_right"), [(0.005, True), (0.03, False)])
def test_bfloat16_keeps_two_digits_and_is_held_to_no_more(off, is_right):
    want = np.array([1.0, 2.0, -3.0], np.float32)
    answer = Answer({"": in_bfloat16(want * (1 + off))}, notes=(BFLOAT16,))
    assert (compare(answer, Answer({"": want}), Rule(tolerance=1e-5)) is None) == is_right
    assert compare(replace(answer, notes=()), Answer({"": want}), Rule(tolerance=1e-5)) is not None


@pytest.mark.parametrize("form", [tuple, list])
def test_a_part_in_bfloat16_leaves_the_tolerance_of_the_others_as_it_is(form):
    """For a tuple and for a list of parts of unequal shapes, read as they come from a student's function."""
    import torch

    x, y = torch.linspace(1, 2, 7), torch.linspace(2, 3, 5)
    want = ask(lambda case: (x, y), {}, "torch")

    def verdict(*parts):
        return compare(ask(lambda case: form(parts), {}, "torch"), want, Rule(tolerance=1e-5, arrays="torch"))

    assert verdict(x.bfloat16(), y) is None and verdict(x, y.bfloat16()) is None
    assert verdict(x.bfloat16(), y.bfloat16()) is None
    assert list(verdict(x.bfloat16(), y * 1.003).faults) == ["1"]
    assert list(verdict(x * 1.003, y.bfloat16()).faults) == ["0"]


def test_a_rule_more_generous_than_float16_stays_so():
    want = np.float32([1, 2])
    assert right(np.float16([1.02, 2.02]), want, tolerance=0.02)


def test_whole_numbers_are_exactly_right_or_wrong():
    assert right(np.float32([100_000, 2]), [100_000, 2]) and right([3.0, 4.0], [3, 4])
    assert not right([3, 5], [3, 4]) and not right([3.0, 4.4], [3, 4])
    assert not right([100_001, 2], [100_000, 2]) and not right([100_000.5, 2], [100_000, 2])
    assert not right(np.float32([1.0, 2.00001]), np.float32([1, 2]), kind="equal")


def test_numbers_are_as_near_as_the_largest_expected_one_asks():
    want = np.float32([1000, 0.001])
    assert right(np.float32([1000, 0.05]), want, tolerance=1e-4)
    assert not right(np.float32([1000, 0.2]), want, tolerance=1e-4)
    want = np.float32([1e6, 1])
    assert right(np.float32([1e6 + 50, 2]), want, tolerance=1e-4)
    assert not right(np.float32([1e6 + 500, 1]), want, tolerance=1e-4)
    assert not right(np.float32([1e-5, 0]), np.float32([0, 0]))


def test_infinities_stand_where_they_are_expected_and_nowhere_else():
    want = np.float32([1, -np.inf])
    assert right(want.copy(), want) and right(np.float32([1.00001, -np.inf]), want)
    for wrong in ([1, 0], [1, np.inf], [np.inf, -np.inf], [1, np.nan]):
        assert not right(np.float32(wrong), want)
    want = np.float32([0, -np.inf])
    assert right(want.copy(), want)
    assert not right(np.float32([-np.inf, 0]), want) and not right(np.float32([0, -1e9]), want)


def test_nan_is_wrong_and_is_called_by_its_name():
    assert not right(np.float32([0, 1]), np.float32([np.nan, 1]))
    found = compare(Answer({"": np.float32([np.nan, 1])}), Answer({"": np.array([0, 1])}), Rule())
    assert "NaN" in found.reason and found.faults[""].wrong.tolist() == [True, False]


def test_a_shape_is_told_before_any_number():
    found = compare(Answer({"": np.ones((3, 1))}), Answer({"": np.ones(3)}), Rule(axes={"": "words"}))
    assert (
        found.faults[""].kind == "shape"
        and "Your shape is (3, 1); the expected shape is (3,)" in found.reason
    )


def test_a_known_mistake_may_hold_nan_and_has_the_same_problem():
    wrong = Answer({"": np.float32([np.nan, 2])})
    assert same(Answer({"": np.float32([np.nan, 2.00001])}), wrong, Rule(tolerance=1e-3))
    assert not same(Answer({"": np.float32([1, 2])}), wrong, Rule())
    assert not same(Answer(problem=Problem.NONE), wrong, Rule()) and not same(None, wrong, Rule())
    errors = [
        Answer(problem=Problem.EXCEPTION, message=f"in f\n{kind}: no") for kind in ("KeyError", "TypeError")
    ]
    assert same(errors[0], errors[0], Rule()) and not same(errors[0], errors[1], Rule())


def test_of_mistakes_that_are_not_told_apart_the_least_credit_counts():
    of = [KnownMistake("a", "", (Answer({"": np.ones(2)}),), credit) for credit in (0.5, 0.25)]
    equal = recognised([Answer({"": np.ones(2)})], Rule(), of)
    assert len(equal) == 2 and earned_credit(equal) == 0.25 and earned_credit([]) == 0
    assert not passes([Answer({"": np.ones(2)})], [Answer({"": np.zeros(2)})], Rule())


def test_a_function_that_writes_into_its_input_is_told_so_and_spoils_no_other_call():
    def adds(case):
        case["array"] += 1
        return case["array"]

    def appends(case):
        case["list"].append(1)
        return np.float32(len(case["list"]))

    case = {"array": np.zeros(2), "list": [0]}
    for call, name in ((adds, "array"), (appends, "list")):
        for _ in range(2):
            answer = ask(call, case)
            assert (answer.problem, answer.message) == (Problem.CHANGED, name)
    assert case["list"] == [0] and not case["array"].any()


@pytest.mark.parametrize("kind", [np.uint16, np.uint32, np.uint64, np.uint8, np.int16, np.bool_, np.float16])
def test_numbers_of_every_type_can_be_handed_in(kind):
    answer = ask(lambda case: np.array([0, 1], kind), {})
    arrays, described = answers_to_file({("", "x.y", 0): answer})
    read, _ = answers.unpack(answers.pack(arrays, described))
    (array,) = read.values()
    assert array.tolist() == [0, 1]


def test_a_part_may_be_called_as_its_author_likes():
    parts = {"a|b": np.ones(2), "": np.zeros(1), "0": np.arange(3)}
    made = answers_from_file(*answers_to_file({("v", "x.y", 1): Answer(parts)}))
    assert made["v", "x.y", 1].arrays.keys() == parts.keys()


def test_a_picture_is_of_the_place_where_answers_differ_most():
    want = np.zeros((3, 40, 50))
    got = want.copy()
    got[1, 30, 20], got[2, 1, 1] = 9, 1
    shown = panels(got, want, 10)
    assert (
        shown.place == (1,) and shown.difference.max() == 9 and len(shown.yours) == len(shown.yours[0]) == 10
    )
    got[1, 30, 20], got[0, 39, 49] = 0, 9
    assert panels(got, want, 10).difference.max() == 9
