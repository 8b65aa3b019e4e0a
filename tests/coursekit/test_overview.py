"""`coursekit.progress()` says which checks pass, of the notebook it stands in."""

import pytest

import coursekit
from autograder.checks import answer_key, journal
from autograder.source import grade_id
from tests.conftest import ASSIGNMENTS


def test_it_shows_the_checks_of_this_notebook_and_what_their_last_run_said(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/course/notebooks/02_attention/02_attention.ipynb")
    journal.save_check("attention.similarities", True)
    journal.save_check("attention.scale", False)
    journal.save_check("elmo.scalar_mix", True)
    shown = coursekit.progress()._repr_mimebundle_()
    first, *lines = shown["text/plain"].splitlines()
    assert first.startswith("02_attention: 1 of ")
    assert "  ✓ attention.similarities: passes" in lines
    assert "  ✗ attention.scale: not yet right" in lines
    assert "  · attention.softmax: not run yet" in lines
    assert "elmo" not in shown["text/plain"]
    assert "attention.scale</td>" in shown["text/html"]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_checks_come_in_the_order_of_the_notebook(name):
    one = ASSIGNMENTS[name]
    cells = [grade_id(cell) for cell in one.read_release().cells]
    assert list(answer_key.load(one.key)) == [one.by_check_id[c].name for c in cells if c in one.by_check_id]


def test_another_notebook_is_named_by_its_number(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/course/02_attention.ipynb")
    assert str(coursekit.progress("05")).startswith("05_elmo: 0 of ")
    with pytest.raises(ValueError, match="no notebook '99'. There are: 01_static_embeddings, 02_attention"):
        coursekit.progress("99")


def test_outside_of_a_notebook_all_are_shown(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    shown = str(coursekit.progress())
    assert "01_static_embeddings: 0 of" in shown and "07_gpt: 0 of" in shown
