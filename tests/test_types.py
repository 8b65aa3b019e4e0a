"""The types of the tool agree with one another, as mypy sees them with the settings in pyproject.toml."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_mypy_finds_no_error():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-pretty", "--cache-dir", os.devnull],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
