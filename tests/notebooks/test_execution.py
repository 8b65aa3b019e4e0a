"""Every notebook runs: the solution from top to bottom, the student's copy to its first unanswered check."""

import copy
import os
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from autograder.source import grade_id, read_source
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = pytest.mark.slow

CELL_SECONDS = 60
"""A cell takes 20 s at most on two quiet cores; a test machine is not quiet."""


def execute(notebook, home):
    """Run a copy of a notebook in a real kernel without a network proxy or a hub; returns it with its error."""
    notebook = copy.deepcopy(notebook)
    environment = {**os.environ, "COURSEKIT_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "2"}
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    try:
        client.execute(env=environment)
    except CellExecutionError as error:
        return notebook, error
    return notebook, None


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_solution_runs_and_every_check_is_right(tmp_path, name):
    notebook, error = execute(read_source(ASSIGNMENTS[name].source), tmp_path)
    assert error is None
    for cell in notebook.cells:
        if grade_id(cell) in ASSIGNMENTS[name].by_check_id:
            words = "\n".join(output.data["text/plain"] for output in cell.outputs if "data" in output)
            assert re.search(r"^✓ .*: right", words), (grade_id(cell), words)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_figure_of_the_solution_is_described(tmp_path, name):
    notebook, _ = execute(read_source(ASSIGNMENTS[name].source), tmp_path)
    pictures = [
        output.data
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "<img" in output.get("data", {}).get("text/html", "")
    ]
    bare = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {}) and "text/html" not in output["data"]
    ]
    assert len(pictures) >= 4
    assert bare == [], "a figure without show(figure, alt=...)"
    for data in pictures:
        alt = re.search(r'alt="([^"]*)"', data["text/html"]).group(1)
        assert len(alt) > 40 and re.search(r"\d", alt)
    assert len(nbformat.writes(notebook)) < 8_000_000


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_student_s_copy_stops_at_its_first_check_and_says_what_to_do(tmp_path, name):
    notebook, error = execute(ASSIGNMENTS[name].read_release(), tmp_path)
    assert error is not None
    stopped = next(
        cell for cell in notebook.cells if any(o.output_type == "error" for o in cell.get("outputs", []))
    )
    assert grade_id(stopped) == next(iter(ASSIGNMENTS[name].by_check_id))
    text = "\n".join(next(o for o in stopped.outputs if o.output_type == "error").traceback)
    assert "not answered yet" in text and "hint(" in text
    assert "Traceback" not in text and "checking.py" not in text


def test_the_start_page_runs(tmp_path):
    _, error = execute(nbformat.read(ROOT / "notebooks" / "start.ipynb", 4), tmp_path)
    assert error is None
