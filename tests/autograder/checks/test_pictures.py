"""Numbers of a wrong answer beside the expected ones, kept small and drawn as they are."""

import base64
import io
import json
from dataclasses import asdict

import msgspec
import numpy as np
import pytest
from matplotlib.image import imread

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Answer
from autograder.checks.comparing import Rule
from autograder.checks.judging import judge
from autograder.checks.panels import Panels, panels
from autograder.checks.status import Status
from autograder.grading.verdicts import MOST_KEPT, _panels
from autograder.results import CellVerdict
from autograder.untrusted.pictures import pictures, place

RNG = np.random.default_rng(7)
LARGE = RNG.normal(size=(3, 40, 50))
CHANGED = LARGE.copy()
CHANGED[1, 33, 47] += 9


def pixels(picture):
    return imread(io.BytesIO(base64.b64decode(picture.data)), format="png")


def test_a_number_is_a_pixel_and_equal_numbers_have_equal_colours():
    yours, expected, difference = pictures(
        panels(np.array([[1.0, 2.0], [5.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]), 16)
    )
    assert pixels(yours).shape[:2] == (2, 2)
    same = (pixels(yours) == pixels(expected)).all(-1)
    assert same.tolist() == [[True, True], [False, True]]
    assert (yours.numbers, expected.numbers, difference.numbers) == ("1 to 5", "1 to 4", "0 to 2")


@pytest.mark.parametrize("value", [np.nan, np.inf, 3.0])
def test_no_difference_is_dark_and_the_largest_is_bright(value):
    *_, difference = pictures(panels(np.array([[1.0], [value]]), np.array([[1.0], [2.0]]), 16))
    (none,), (most,) = pixels(difference)[..., :3].sum(-1).tolist()
    assert none < 0.1 and most > 2.5


def test_of_a_large_array_the_part_that_differs_is_kept():
    shown = panels(CHANGED, LARGE, MOST_KEPT)
    assert shown.place == (1,) and shown.difference.max() == pytest.approx(9, rel=1e-4)
    assert shown.matrices[0].shape == (MOST_KEPT, MOST_KEPT)
    assert place(shown) == "At [1] of the batch and 16×16 of the numbers, where they differ most"
    assert len(json.dumps(asdict(shown))) < 6000


@pytest.mark.parametrize(
    ("got", "want", "numbers"),
    [
        (np.array([np.nan, 1.0]), np.array([0.0, 1.0]), "1, NaN"),
        (np.array([-np.inf, np.inf]), np.array([0.0, 1.0]), "±∞"),
        (np.array([1e308, -1e308]), np.array([0.0, 1.0]), "−1e+308 to 1e+308"),
        (np.array([True, False]), np.array([True, True]), "0 to 1"),
        (np.zeros((2, 0)), np.ones((2, 3)), None),
        (np.zeros((4, 3)), np.ones((3, 4)), "0"),
        (np.float64(3), np.float64(4), None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_any_numbers_are_pictures_or_none(got, want, numbers):
    shown = panels(got, want, MOST_KEPT)
    assert (shown and pictures(shown)[0].numbers) == numbers
    if shown:
        assert len(pictures(shown)) == (3 if got.shape == want.shape else 2)
        assert msgspec.convert(json.loads(json.dumps(asdict(shown))), Panels) == shown or np.isnan(got).any()


def key(**rule):
    expected = (Answer({"": np.arange(4.0)}),)
    return ExerciseKey("demo.double", Rule(**rule), (), (), ({},), expected, ())


def test_only_wrong_numbers_are_kept():
    def kept(answer, **rule):
        of = key(**rule)
        return _panels(judge((answer,), of.expected, of.rule, ()), (answer,), of)

    assert kept(Answer({"": np.arange(4.0) * 2})).yours == ((0.0, 2.0, 4.0, 6.0),)
    assert kept(Answer({"": np.arange(4.0)})) is None
    assert kept(Answer({"": np.arange(4.0)}, problem="changed", message="x")) is None, (
        "there is nothing to see"
    )
    assert kept(Answer(problem="exception", message="ValueError: no")) is None


def test_a_verdict_comes_back_from_its_file_with_and_without_them():
    verdict = CellVerdict("a", 0.0, 1.0, Status.FAILED, panels=panels(CHANGED, LARGE, MOST_KEPT))
    kept = json.loads(json.dumps(asdict(verdict)))
    assert msgspec.convert(kept, CellVerdict) == verdict
    del kept["panels"]
    assert msgspec.convert(kept, CellVerdict).panels is None
