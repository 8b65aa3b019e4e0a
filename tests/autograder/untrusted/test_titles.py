"""What formgrader calls assignments and notebooks: the headings on top of them."""

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.untrusted.titles import titles
from tests.conftest import ROOT


@pytest.fixture
def course(tmp_path):
    """A course of nbgrader's usual kind; returns how to write a notebook of it."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")

    def write(path, *texts):
        file = tmp_path / f"{path}.ipynb"
        file.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=[new_markdown_cell(text) for text in texts]), file)

    return write


def test_the_notebooks_of_this_course_are_called_as_on_their_pages():
    found = titles(ROOT)
    assert len(found) >= 16 and found["02_attention"] == "02 · Attention, step by step"
    assert titles(ROOT, "02_attention") == found


def test_the_first_heading_of_the_release_counts_and_before_it_that_of_the_source(course, tmp_path):
    course("source/ps1/ps1", "Some words", "# Linear *regression*\n\n# Another")
    assert titles(tmp_path) == {"ps1": "Linear regression"}
    course("release/ps1/ps1", "# Regression, released")
    assert titles(tmp_path) == {"ps1": "Regression, released"}
    course("release/ps1/ps1", "# Regression, released again")
    assert titles(tmp_path) == {"ps1": "Regression, released again"}


def test_of_several_notebooks_each_has_its_own_title_on_the_pages_of_its_assignment(course, tmp_path):
    course("source/ps1/one", "# First part")
    course("source/ps1/two", "# Second part")
    course("source/ps2/ps2", "# Problem set")
    assert titles(tmp_path) == {"ps2": "Problem set"}
    assert titles(tmp_path, "ps1") == {"ps2": "Problem set", "one": "First part", "two": "Second part"}


def test_a_title_that_two_have_or_none_names_nothing(course, tmp_path):
    course("source/ps1/ps1", "# Problem set")
    course("source/ps2/ps2", "# Problem set")
    course("source/ps3/ps3", "## Only a section")
    assert titles(tmp_path) == {}


@pytest.mark.parametrize(
    "broken", ["c = get_config()", "[1]", '{"cells": [{"cell_type": "markdown"}]}', "\xff"]
)
def test_what_is_no_notebook_has_no_title_and_takes_none_away(course, tmp_path, broken):
    assert titles(tmp_path / "nowhere") == {}
    course("source/ps1/ps1", "# Vectors")
    course("source/ps2/ps2", "# Matrices")
    (tmp_path / "source" / "ps2" / "ps2.ipynb").write_text(broken, encoding="latin-1")
    assert titles(tmp_path) == {"ps1": "Vectors"}
