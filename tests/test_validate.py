"""nbgrader's Validate waits for every cell of the course, also on a slow machine, wherever the notebook is open."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.utils import compute_checksum

from autograder.checks.validating import shown_failures
from tests.conftest import ROOT
from tests.notebooks.running import CELL_SECONDS

KUBERNETES = yaml.safe_load((ROOT / "deploy" / "kubernetes" / "jupyterhub.yaml").read_text())
SETTINGS = {
    "the repository": (ROOT / "nbgrader_config.py").read_text(),
    "the student's release": (ROOT / "tools" / "student" / "nbgrader_config.py").read_text(),
    "the hub on one machine": (ROOT / "deploy" / "jupyterhub" / "nbgrader_config.py").read_text(),
    "Kubernetes": KUBERNETES["singleuser"]["extraFiles"]["nbgrader"]["stringData"],
}

# What nbgrader's server extension does in the folder where JupyterLab was started, without the server around it.
HANDLER = """
import json, logging, os, sys
from nbgrader.server_extensions.validate_assignment.handlers import ValidateAssignmentHandler

class Handler(ValidateAssignmentHandler):
    root_dir, log = os.getcwd(), logging.getLogger()
    def __init__(self): pass
"""
EFFECTIVE = """
from nbgrader.preprocessors import Execute
from nbgrader.validator import Validator
print(Execute(parent=Validator(config=Handler().load_config())).timeout)
"""
VALIDATE = "print(json.dumps(Handler().validate_notebook(sys.argv[1])))"


def in_a_folder(folder, settings, *command):
    """The last line that Python printed there."""
    (folder / "nbgrader_config.py").write_text(settings)
    (folder / "ngshare_exchange.py").write_text(
        "def configureExchange(c, url): pass\n"
    )  # Kubernetes' image has it
    done = subprocess.run(
        [sys.executable, "-c", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "JUPYTER_CONFIG_DIR": str(folder / "none")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_longest_cell_has_time_on_a_machine_three_times_slower(tmp_path, settings):
    """No cell takes CELL_SECONDS of a processor, as the tests of the notebooks hold."""
    assert in_a_folder(tmp_path, settings, HANDLER + EFFECTIVE) >= 3 * CELL_SECONDS


def marks(name, **more):
    """nbgrader's metadata of a cell of code that is no answer, no test and not locked, except for what is given."""
    usual = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    return {"nbgrader": usual | {"grade_id": name, "schema_version": 3, "cell_type": "code"} | more}


@pytest.mark.slow
def test_a_cell_that_outlasts_nbgrader_s_own_limit_is_not_interrupted(tmp_path):
    cells = [
        new_code_cell("import time\ntime.sleep(33)\nlasted = True"),
        new_code_cell("done = True"),
        new_code_cell(
            "assert lasted and done", metadata=marks("one-check", grade=True, locked=True, points=1)
        ),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "long.ipynb")
    answer = in_a_folder(tmp_path, SETTINGS["the student's release"], HANDLER + VALIDATE, "long.ipynb")
    assert answer == {"success": True, "value": {}}


OTHER = "0" * 32  # no checksum of any cell


def exercise(name, source, *, points=1, extra=0, changed=True):
    """A solution cell that was changed, or not, and its check, which runs `source`."""
    answer = new_code_cell("answer = 1", metadata=marks(name, solution=True))
    answer.metadata.nbgrader["checksum"] = OTHER if changed else compute_checksum(answer)
    check = marks(f"{name}-check", grade=True, locked=True, points=points)
    course = {"course": {"extra_credit": extra}} if extra else {}
    return [answer, new_code_cell(source, metadata=check | course)]


def question(text, answer, changed):
    metadata = marks("topic-reflection-1", grade=True, solution=True, points=2, cell_type="markdown")
    cell = new_markdown_cell(answer, metadata=metadata)
    cell.metadata.nbgrader["checksum"] = OTHER if changed else compute_checksum(cell)
    return [new_markdown_cell(text), cell]


def validated(folder, *cells):
    """What the dialog is told of a notebook of these cells."""
    nbformat.write(new_notebook(cells=[one for several in cells for one in several]), folder / "own.ipynb")
    answer = in_a_folder(folder, SETTINGS["the student's release"], HANDLER + VALIDATE, "own.ipynb")
    assert answer["success"], answer
    return answer["value"].get("failed", [])


@pytest.mark.slow
def test_validate_counts_what_fails_names_it_and_lists_extensions_apart(tmp_path):
    text = "## **Question 1 · The weights**\n\nWhy do the *weights* add up to 1?"
    unanswered, wrong, extensions = validated(
        tmp_path,
        exercise("topic-more", "raise AssertionError('more is wrong')", points=0, extra=1),
        question(text, "*Your answer.*", changed=False),
        exercise("topic-one", "raise AssertionError('one is wrong')"),
    )
    assert unanswered["source"] == "1 of 2: Question 1 · The weights"
    assert unanswered["raw_error"].startswith("Not answered yet.")
    assert "Why do the weights add up to 1?" in unanswered["raw_error"]
    assert wrong["source"].startswith("2 of 2: topic-one") and "one is wrong" in wrong["raw_error"]
    assert "not needed for full points" in extensions["source"]
    assert "topic-more: more is wrong" in extensions["raw_error"]


def failing(cells, words):
    cells[1].outputs = [new_output("error", ename="AssertionError", evalue=words, traceback=[words])]
    return cells


def test_an_extension_that_nobody_began_is_no_failure():
    left = failing(exercise("topic-most", "check()", points=0, extra=1, changed=False), "no answer")
    tried = failing(exercise("topic-more", "check()", points=0, extra=1), "more is wrong")
    one = failing(exercise("topic-one", "check()"), "one is wrong")
    notebook = new_notebook(cells=[*left, *tried, *one])
    assert shown_failures(notebook, [left[1]]) == []
    assert [cell.source for cell in shown_failures(notebook, [left[1], one[1]])][0].endswith("check()")
    (shown,) = shown_failures(notebook, [left[1], tried[1]])
    assert shown.outputs[0].traceback == ["topic-most: not begun", "topic-more: more is wrong"]


CARD = "✗ topic.one: not yet right\n  The mean of each row.\n    yours    1\n    expected 2"


def test_a_card_is_shown_once_below_the_name_of_its_exercise():
    cell = failing(exercise("topic-one", "check('topic.one', one)"), CARD)[1]
    (shown,) = shown_failures(new_notebook(cells=[cell]), [cell])
    assert shown.source == "1 of 1: topic.one"
    said = "\n".join(shown.outputs[0].traceback)
    assert said == "Not yet right.\nThe mean of each row.\n  yours    1\n  expected 2"


def test_a_question_is_shown_in_lines_that_nbgrader_s_command_does_not_cut():
    cells = question("**Question 2.** " + "Why is it so? " * 40, "*Your answer.*", changed=False)
    (shown,) = shown_failures(new_notebook(cells=cells), [cells[1]])
    assert shown.source == "1 of 1: Question 2"
    assert max(map(len, shown.outputs[0].traceback)) <= 70 and shown.outputs[0].traceback[-1].endswith("…")


@pytest.mark.slow
def test_a_notebook_that_imports_check_needs_no_nbgrader():
    script = "import sys, autograder.checks.validating; print('nbgrader' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
