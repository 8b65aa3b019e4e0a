"""The outputs of a solution that one process executes are there for the others, and nothing is executed twice."""

import os
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import nbformat
import pytest

from autograder.course import Assignment
from tests.conftest import ASSIGNMENTS
from tests.notebooks import running
from tests.notebooks.executions import alone, outputs_of, run_and_keep

pytestmark = pytest.mark.slow
NAME = "00_small"
SHOWS = "# %%\nimport os\nprint(os.urandom(8).hex())\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the code of a course's small notebook."""
    small = Assignment(tmp_path, NAME)
    monkeypatch.setitem(ASSIGNMENTS, NAME, small)
    small.source.parent.mkdir(parents=True)
    return small.source.write_text


def shown(notebook) -> list[str]:
    return [output.get("text", output.get("ename")) for output in notebook.cells[0].outputs]


def test_what_was_executed_is_not_executed_again(write, tmp_path):
    write(SHOWS)
    with run_and_keep(NAME, tmp_path, tmp_path / "kept") as run:
        first = shown(run.notebook)
        assert shown(outputs_of(NAME, tmp_path, tmp_path / "kept")) == first, "while its names are looked at"
    assert shown(outputs_of(NAME, tmp_path, tmp_path / "kept")) == first != [""]
    assert shown(outputs_of(NAME, tmp_path, tmp_path / "another run")) != first


def test_what_nobody_has_executed_is_executed_once(write, tmp_path):
    write(SHOWS)
    first = outputs_of(NAME, tmp_path, tmp_path / "kept")
    assert outputs_of(NAME, tmp_path, tmp_path / "kept") == first


def test_a_run_that_stops_is_kept_with_its_error_and_not_tried_again(write, tmp_path):
    write("# %%\n1 / 0\n")
    with run_and_keep(NAME, tmp_path, tmp_path / "kept") as run:
        assert "ZeroDivisionError" in run.error
    write(SHOWS)
    assert shown(outputs_of(NAME, tmp_path, tmp_path / "kept")) == ["ZeroDivisionError"]


def test_a_process_that_executes_it_is_waited_for(write, tmp_path):
    write("# %%\n1 / 0\n")
    kept = tmp_path / "kept"
    with ThreadPoolExecutor(1) as pool:
        with alone(kept, NAME):
            asked = pool.submit(outputs_of, NAME, tmp_path, kept)
            of_the_other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Of the other.")])
            nbformat.write(of_the_other, kept / f"{NAME}.ipynb")
        assert asked.result().cells[0].source == "Of the other."


def test_a_kernel_shows_no_figure_of_before_and_leaves_the_environment_as_it_was():
    plt.subplots()
    before = dict(os.environ)
    with running.kernel({}) as client:
        drawn = "import matplotlib.pyplot as plt\nplt.close(plt.subplots()[0])"
        assert list(running.outputs_of(drawn, client)) == []
        assert os.environ["FORCE_COLOR"] == "1"
    assert dict(os.environ) == before
