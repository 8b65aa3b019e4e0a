"""Every notebook runs: the solution from top to bottom, the student's copy to its first unanswered check."""

import copy
import os
import re
from functools import cache

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


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Solutions after execution, each run once."""
    return cache(lambda name: execute(read_source(ASSIGNMENTS[name].source), tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_solution_runs_and_every_check_is_right(executed, name):
    notebook, error = executed(name)
    assert error is None
    for cell in notebook.cells:
        if grade_id(cell) in ASSIGNMENTS[name].by_check_id:
            words = "\n".join(output.data["text/plain"] for output in cell.outputs if "data" in output)
            assert re.search(r"^✓ .*: right", words), (grade_id(cell), words)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_figure_of_the_solution_is_described(executed, name):
    notebook, _ = executed(name)
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    bare = [data for data in shown if "image/png" in data and "text/html" not in data]
    assert bare == [], "a figure without show(figure, alt=...)"
    descriptions = [
        alt for data in shown for alt in re.findall(r'<img [^>]*alt="([^"]*)"', data.get("text/html", ""))
    ]
    assert all(len(alt) > 40 for alt in descriptions)
    # A drawing of how something works may have no numbers; a measurement has.
    assert sum(bool(re.search(r"\d", alt)) for alt in descriptions) >= 4
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
