"""The container of Codespaces and VS Code: its command, run in an empty folder. No container is started."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean
from tests.test_student_release import UNTIL_THE_FIRST_CHECK

DESCRIBED = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
NOT_CLONED = (".venv", ".git", "build", "dist", "*cache*", "*.egg-info", ".ipynb_checkpoints", "tests")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """A clone of the repository, after the command that a new container runs in it; packages come from where they are cached."""
    workspace = tmp_path_factory.mktemp("workspaces") / "course"
    shutil.copytree(ROOT, workspace, ignore=shutil.ignore_patterns(*NOT_CLONED))
    python = Path(sys.base_prefix) / "bin"  # the container's own: no environment is active in it
    environment = clean() | {"PATH": os.pathsep.join([str(python), "/usr/local/bin", "/usr/bin", "/bin"])}
    subprocess.run(DESCRIBED["postCreateCommand"], shell=True, cwd=workspace, env=environment, check=True)
    return workspace


@pytest.mark.audit
@pytest.mark.timeout(1500)
def test_the_kernel_that_vs_code_is_told_of_meets_the_first_check(workspace, tmp_path):
    settings = DESCRIBED["customizations"]["vscode"]["settings"]
    python = settings["python.defaultInterpreterPath"].replace("${containerWorkspaceFolder}", str(workspace))
    notebook = workspace / "notebooks" / "02_attention" / "02_attention.ipynb"
    environment = {**os.environ, "HOME": str(tmp_path), "AUTOGRADER_HOME": str(tmp_path)}
    done = subprocess.run(
        [python, "-c", UNTIL_THE_FIRST_CHECK, notebook],
        cwd=notebook.parent, env=environment, check=True, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout.startswith("Unanswered")
    assert not (workspace / ".venv").is_symlink()


def test_what_the_container_opens_and_forwards_is_there():
    for path in DESCRIBED["customizations"]["codespaces"]["openFiles"]:
        assert (ROOT / path).is_file()
    assert re.match(r"mcr\.microsoft\.com/devcontainers/python:3\.\d+$", DESCRIBED["image"])
