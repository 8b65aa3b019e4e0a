"""What `predictions()` says of a student's predictions."""

import re

import pytest

from autograder.checks import calibrating, journal, predicting
from autograder.checks.calibrating import predictions


@pytest.fixture(autouse=True)
def silent(monkeypatch):
    monkeypatch.setattr(predicting, "display", lambda note: None)


def predicted(name, value, found, choices=()):
    predicting.predict(name, value, choices=choices)
    predicting.reveal(name, found)


def text() -> str:
    return predictions()._repr_mimebundle_()["text/plain"]


def test_without_predictions_it_says_how_to_make_one():
    predicting.reveal("demo.share", 0.5)
    predicting.predict("demo.open", 3)
    assert "made no predictions yet" in text()
    assert "<svg" not in predictions()._repr_mimebundle_()["text/html"]


def test_numbers_and_choices_are_counted():
    for name, guess, found in (("a", 1.05, 1), ("b", 1.9, 1), ("c", 0.2, 1), ("d", -1, 1), ("e", 3, 0)):
        predicted(f"demo.{name}", guess, found)
    for name, letter in (("f", "a"), ("g", "b")):
        predicted(f"demo.{name}", letter, "more", choices=("more", "less"))
    said = text()
    assert "1 of your 2 choices was right." in said
    assert "Of your 5 predicted numbers, 1 was within 10 % of the result and 2 within a factor of 2." in said
    assert "3 were too high and 2 too low." in said
    assert re.search(r"✓ demo\.a: 1\.05 \(result: 1\)", said)


def test_the_figure_has_a_dot_for_each_ratio_and_names_its_ends():
    predicted("demo.a", 100, 1)
    predicted("demo.b", 2, 1)
    predicted("demo.c", 0, 1)
    html = predictions()._repr_mimebundle_()["text/html"]
    assert html.count("<circle") == 2
    assert "from 2 to 1e+02" in html
    assert "All 3 predictions" in html


def test_what_was_predicted_before_the_result_counts_and_the_last_result():
    predicted("demo.size", 2, 10)
    predicted("demo.size", 9, 9)
    (one,) = predictions().compared
    assert (one.predicted, one.found) == (2, 9)


def test_a_prediction_of_a_student_is_shown_as_text():
    calibrating.remember("demo.<b>", "<script>", "more")
    html = predictions()._repr_mimebundle_()["text/html"]
    assert "<script>" not in html and "demo.<b>" not in html


def test_numbers_without_a_ratio_and_spoilt_entries_are_borne():
    calibrating.remember("demo.nan", float("nan"), 1.0)
    calibrating.remember("demo.inf", float("inf"), 1.0)
    journal.save("outcomes", "demo.spoilt", 3)
    assert "Of your 2 predicted numbers, 0 were within 10 %" in text()
    assert "<circle" not in predictions()._repr_mimebundle_()["text/html"]
