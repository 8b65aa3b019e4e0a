"""Which assignment's notebook it is that somebody has handed in under another's name."""

import nbformat
import pytest

from autograder.course import Assignment
from autograder.untrusted.another import another_assignment
from autograder.untrusted.cells import Cell, parse_cells
from tests.autograder.here import NAME

OTHER = "02_tests"


@pytest.fixture
def cells(small):
    """{assignment: the cells of its release}."""
    releases = {name: Assignment(small.root, name).read_release() for name in (NAME, OTHER)}
    return {name: parse_cells(nbformat.writes(release).encode()).cells for name, release in releases.items()}


def without_names(cells):
    return [Cell(cell.kind, cell.source, "") for cell in cells]


def test_another_s_notebook_is_told_by_its_grade_ids_or_else_its_texts(small, cells):
    assert another_assignment(cells[OTHER], small.assignment) == OTHER
    assert another_assignment(without_names(cells[OTHER]), small.assignment) == OTHER
    assert another_assignment(cells[NAME], Assignment(small.root, OTHER)) == NAME
    assert another_assignment(cells[OTHER] + cells[NAME][:2], small.assignment) == OTHER


def test_its_own_notebook_is_never_taken_for_another_s(small, cells):
    for mine in (cells[NAME], without_names(cells[NAME]), cells[NAME] + cells[OTHER], []):
        assert another_assignment(mine, small.assignment) == ""
    assert another_assignment([Cell("code", "print(1)", "mine")], small.assignment) == ""
    assert another_assignment(cells[NAME][: len(cells[NAME]) // 2] + cells[OTHER], small.assignment) == ""


def test_where_there_is_no_release_nothing_is_said(small, cells):
    small.assignment.release.unlink()
    assert another_assignment(cells[OTHER], small.assignment) == ""


def test_it_is_said_and_nothing_of_what_was_put_right(small):
    small.hand_in("ada", Assignment(small.root, OTHER).read_release())
    assert small.read("ada").notes == (f"This is the notebook {OTHER}, not {NAME}.",)
