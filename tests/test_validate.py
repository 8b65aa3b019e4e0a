"""nbgrader's Validate waits for every cell of the course, also on a slow machine, wherever the notebook is open."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook

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


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_longest_cell_has_time_on_a_machine_three_times_slower(tmp_path, settings):
    """No cell takes CELL_SECONDS of a processor, as the tests of the notebooks hold."""
    assert in_a_folder(tmp_path, settings, HANDLER + EFFECTIVE) >= 3 * CELL_SECONDS


def a_notebook(seconds):
    nbgrader = {"grade_id": "one-check", "grade": True, "solution": False, "locked": True, "points": 1}
    nbgrader |= {"schema_version": 3, "task": False, "cell_type": "code"}
    cells = [
        new_code_cell(f"import time\ntime.sleep({seconds})"),
        new_code_cell("done = True"),
        new_code_cell("assert done", metadata={"nbgrader": nbgrader}),
    ]
    cells[0].source += "\nlasted = True"
    cells[2].source = "assert lasted and done"
    return new_notebook(cells=cells)


@pytest.mark.slow
def test_a_cell_that_outlasts_nbgrader_s_own_limit_is_not_interrupted(tmp_path):
    nbformat.write(a_notebook(seconds=33), tmp_path / "long.ipynb")
    answer = in_a_folder(tmp_path, SETTINGS["the student's release"], HANDLER + VALIDATE, "long.ipynb")
    assert answer == {"success": True, "value": {}}
