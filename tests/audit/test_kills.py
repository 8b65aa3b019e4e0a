"""Grading runs and their servers killed at 80 random moments: each grade is there once, and as undisturbed."""

import subprocess
import sys
import time

import pytest

from tests.autograder.killing import ENVIRONMENT
from tests.conftest import ROOT

pytestmark = [pytest.mark.audit, pytest.mark.slow, pytest.mark.timeout(7200)]


def test_eighty_kills_change_no_grade():
    command = [sys.executable, "-m", "tests.autograder.killing", "--moments", "80", "--seed"]
    environment = ENVIRONMENT | {"LIGHT_SECONDS": "0.1"}
    done = subprocess.run(
        [*command, str(time.time_ns())], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "{'run': 40, 'server': 40}" in done.stdout
