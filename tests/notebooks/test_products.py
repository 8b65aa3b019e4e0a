"""The committed notebooks and keys give nothing away. Whether they are what their sources give, test_fresh.py asks."""

import json
import re

import nbformat
import pytest
from nbgrader.utils import is_grade, is_locked, is_solution

from autograder.authoring import builder
from autograder.generating import release_bytes
from autograder.source import grade_id, read_source, write_notebook
from tests.conftest import ASSIGNMENTS, ROOT, TWO_NOTEBOOKS, release_of, solution_of


@pytest.mark.slow
def test_the_start_page_is_fresh():
    ((page, content),) = builder.start_page(ROOT).items()
    assert page == ROOT / "notebooks" / "start.ipynb" and page.read_bytes() == content


def test_the_start_page_shows_its_map_before_a_cell_has_run():
    """As it is for somebody who begins, whatever the one who built it has done."""
    cells = json.loads((ROOT / "notebooks" / "start.ipynb").read_text())["cells"]
    (shown,) = ["".join(one["data"]["text/html"]) for cell in cells for one in cell.get("outputs", [])]
    assert shown.count("<a href=") == len(ASSIGNMENTS) + 1
    assert 'Begin with <a href="01_static_embeddings/01_static_embeddings.ipynb">' in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO_NOTEBOOKS)
def test_a_build_is_the_same_byte_for_byte(tmp_path, name):
    one = ASSIGNMENTS[name]
    for copy in ("a", "b"):
        write_notebook(read_source(one.source), tmp_path / copy)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert release_bytes(one) == release_bytes(one)


def solution_lines(one):
    """Telling lines of the solutions; not of those that mend code which the notebook shows."""
    mending = {exercise.solution_id for exercise in one.exercises.values() if exercise.mends}
    for cell in solution_of(one.name).cells:
        if grade_id(cell) not in mending:
            for region in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S):
                yield from (line.strip() for line in region.splitlines() if len(line.strip()) > 25)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_solution_line_is_in_the_release(name):
    one = ASSIGNMENTS[name]
    released = one.release.read_text()
    assert "BEGIN SOLUTION" not in released and "END SOLUTION" not in released
    released_lines = {line.strip() for cell in release_of(name).cells for line in cell.source.splitlines()}
    assert set(solution_lines(one)) & released_lines == set()


def test_notebooks_hold_nothing_but_notebooks_and_their_keys():
    kinds = {
        path.suffix
        for path in (ROOT / "notebooks").rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in str(path)
    }
    assert kinds == {".ipynb", ".key"}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_check_is_locked_named_and_has_points(name):
    one = ASSIGNMENTS[name]
    checks = [
        cell
        for cell in release_of(name).cells
        if cell.cell_type == "code" and "check(" in cell.source and is_grade(cell)
    ]
    assert [grade_id(cell) for cell in checks] == [exercise.check_id for exercise in one.exercises.values()]
    for cell, exercise in zip(checks, one.exercises.values(), strict=True):
        assert f'check("{exercise.name}"' in cell.source
        assert is_locked(cell) and not is_solution(cell)
        assert cell.metadata.nbgrader.points or cell.metadata.course.extra_credit
    stray = [
        c.source
        for c in release_of(name).cells
        if c.cell_type == "code" and re.search(r"^check\(", c.source, re.M) and not is_grade(c)
    ]
    assert stray == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_release_cells_have_unique_valid_ids_and_no_outputs(name):
    notebook = release_of(name)
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.slow
def test_a_key_holds_no_line_of_a_solution():
    for one in ASSIGNMENTS.values():
        key = one.key.read_bytes().decode("latin-1")
        assert [line for line in solution_lines(one) if json.dumps(line)[1:-1] in key] == []
