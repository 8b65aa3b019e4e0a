"""Every notebook runs: the solution from top to bottom, the student's copy to its first unanswered check."""

import json
import re

import nbformat
import pytest

from autograder.source import code_cells, grade_id
from tests.conftest import ASSIGNMENTS, ROOT
from tests.notebooks.running import CELL_SECONDS, execute, is_error, run_here

pytestmark = pytest.mark.slow
NOTEBOOKS = list(ASSIGNMENTS)
LONG_SECONDS = 20
"""Of the processor. A cell of five seconds has taken twelve where others used the same cores."""
SLIDER = "application/vnd.jupyter.widget-view+json"


def test_the_solution_runs_and_every_check_is_right(run):
    assert run.error == ""
    assert max(run.seconds) < CELL_SECONDS
    checks = ASSIGNMENTS[run.name].by_check_id
    shown = {
        grade_id(cell): [output.data["text/plain"] for output in cell.outputs if "data" in output]
        for cell in run.notebook.cells
        if grade_id(cell) in checks
    }
    assert list(shown) == list(checks)
    for check, words in shown.items():
        assert re.search(r"^✓ .*: right", "\n".join(words)), (check, words)


def test_a_cell_that_takes_long_says_so(run):
    """A silent cell looks like one that hangs."""
    cells = zip(code_cells(run.notebook), run.seconds, strict=True)
    long = [cell.source for cell, seconds in cells if seconds > LONG_SECONDS]
    assert [source[:200] for source in long if not re.search('print\\(f?"This takes ', source)] == []


def test_every_figure_of_the_solution_is_described(run):
    outputs = [
        [output.data for output in cell.outputs if "data" in output] for cell in code_cells(run.notebook)
    ]
    # What a slider draws is the slider's; a cell before it shows the same once for those who cannot move it.
    shown = [data for cell in outputs if not any(SLIDER in data for data in cell) for data in cell]
    bare = [data for data in shown if "image/png" in data and "text/html" not in data]
    assert bare == [], "a figure without show(figure, alt=...)"
    descriptions = [
        alt for data in shown for alt in re.findall(r'<img [^>]*alt="([^"]*)"', data.get("text/html", ""))
    ]
    assert all(len(alt) > 40 for alt in descriptions)
    # A drawing of how something works may have no numbers; a measurement has.
    assert sum(bool(re.search(r"\d", alt)) for alt in descriptions) >= 4
    assert len(nbformat.writes(run.notebook)) < 8_000_000
    assert max(len(json.dumps(data)) for cell in outputs for data in cell) < 1_000_000


def test_the_words_in_its_figures_can_be_read(run):
    assert run.faint == (), "below 4.5 : 1 on what is drawn behind them"


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_student_s_copy_stops_at_its_first_check_and_says_what_to_do(tmp_path, name):
    with run_here(ASSIGNMENTS[name].read_release(), tmp_path) as run:
        stopped = next(cell for cell in code_cells(run.notebook) if is_error(cell))
    assert grade_id(stopped) == next(iter(ASSIGNMENTS[name].by_check_id))
    assert "not answered yet" in run.error and "hint(" in run.error
    assert "Traceback" not in run.error and "checking.py" not in run.error


@pytest.mark.parametrize("name", ["start", "02_attention"])
def test_the_start_page_and_a_student_s_copy_run_in_a_kernel_of_their_own(tmp_path, name):
    """As JupyterLab starts one: the tests above run in this process."""
    path = ROOT / "notebooks" / ("start.ipynb" if name == "start" else f"{name}/{name}.ipynb")
    _, error = execute(nbformat.read(path, 4), tmp_path)
    assert (error is None) == (name == "start")
    assert error is None or "not answered yet" in str(error)
