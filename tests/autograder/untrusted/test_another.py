"""Which assignment's notebook it is that somebody has handed in under another's name."""

from types import SimpleNamespace
from unittest import mock

import nbformat
import pytest

from autograder.course import Assignment
from autograder.nbgrader_steps import MARK, Restore, SafeReader
from autograder.untrusted.another import another_assignment
from autograder.untrusted.cells import Cell
from autograder.untrusted.notebooks import from_notebook, to_notebook
from tests.autograder.here import NAME

OTHER = "02_tests"


@pytest.fixture
def cells(small):
    """{assignment: the cells of its release}."""
    names = (NAME, OTHER)
    return {name: from_notebook(Assignment(small.root, name).read_release()) for name in names}


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


def test_nbgrader_s_way_says_it_too_and_nothing_of_what_was_put_right(small, cells):
    other = small.hand_in("ada", to_notebook(cells[OTHER]))
    coursedir = SimpleNamespace(
        autograded_directory="autograded", root=str(small.root), format_path=lambda *where: "/".join(where)
    )
    reader = SafeReader()
    where = {"nbgrader": {"student": "ada", "assignment": NAME, "notebook": NAME}}
    with mock.patch.object(SafeReader, "parent", SimpleNamespace(coursedir=coursedir)):
        text, _ = reader.from_filename(str(other / f"{NAME}.ipynb"), dict(where))
    restored, _ = Restore(course=str(small.root)).preprocess(nbformat.reads(text, as_version=4), dict(where))
    assert restored.metadata[MARK]["notes"] == [f"This is the notebook {OTHER}, not {NAME}."]
