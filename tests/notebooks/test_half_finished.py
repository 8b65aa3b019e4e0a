"""Half-finished notebooks say something helpful: the student's copy with some answers right, some wrong, one missing.

The states stand in the claims tests of their notebooks. Demonstrations are left out, which test_execution runs.
"""

from importlib import import_module
from pathlib import Path

import pytest

from autograder.source import grade_id, is_demo
from tests.conftest import ASSIGNMENTS
from tests.notebooks.running import is_error, run_here

pytestmark = pytest.mark.slow


def half_finished():
    """(assignment, state, {grade id: source}, words that must be said) of every notebook that has such states."""
    for name, assignment in ASSIGNMENTS.items():
        topic = next(iter(assignment.exercises)).partition(".")[0]
        path = Path(__file__).with_name(f"test_{topic}_claims.py")
        module = import_module(f"tests.notebooks.{path.stem}") if path.exists() else None
        for state, answers in getattr(module, "HALF_FINISHED", {}).items():
            yield pytest.param(name, answers, module.SAYS[state], id=f"{name}-{state}")


@pytest.mark.parametrize(("name", "answers", "words"), list(half_finished()))
def test_a_half_finished_notebook_says_what_is_wrong(tmp_path, name, answers, words):
    notebook = ASSIGNMENTS[name].read_release()
    assert set(answers) <= {grade_id(cell) for cell in notebook.cells}
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    notebook.cells = [cell for cell in notebook.cells if not is_demo(cell)]
    with run_here(notebook, tmp_path):
        stopped = next(cell for cell in notebook.cells if is_error(cell))
    assert grade_id(stopped) in ASSIGNMENTS[name].by_check_id, "it stops at a check, not in a traceback"
    shown = "\n".join(
        line
        for output in stopped.outputs
        for line in [*output.get("traceback", []), output.get("data", {}).get("text/plain", "")]
    )
    assert words.lower() in " ".join(shown.lower().split()), shown
    assert not [ours for ours in ("checking.py", "coursekit/", "autograder/") if ours in shown]


def test_the_later_notebooks_have_three_states_each():
    counts = {name: sum(param.values[0] == name for param in half_finished()) for name in ASSIGNMENTS}
    assert all(count >= 3 for name, count in counts.items() if name >= "08"), counts
