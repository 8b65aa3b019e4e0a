"""The types of the tool agree with one another, as mypy sees them with the settings in pyproject.toml."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

CHECKED = (
    *("autograder/checks/", "autograder/jail/"),
    *("autograder/authoring/", "autograder/cli/", "autograder/doctor/", "autograder/written/"),
    *("autograder/nbgrader_", "autograder/report.py", "autograder/__main__.py", "autograder/startup.py"),
    *("autograder/course.py", "autograder/exercise.py", "autograder/settings.py", "autograder/source.py"),
)
"""mypy reads the whole tool; these are the parts in which it must find no error."""


@pytest.mark.slow
def test_mypy_finds_no_error():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-pretty", "--cache-dir", os.devnull],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), f"mypy could not run:\n{done.stdout}{done.stderr}"
    errors = [line for line in done.stdout.splitlines() if line.startswith(CHECKED)]
    assert not errors, "\n".join(errors)
