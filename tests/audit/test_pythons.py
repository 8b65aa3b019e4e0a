"""`make test` in a fresh clone with each other Python that the project allows."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.audit, pytest.mark.slow, pytest.mark.timeout(7200)]
PYTHONS = ("3.11", "3.12", "3.13")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def find_python(version: str) -> str | None:
    """The first that runs, of those on PATH and of those that pyenv installed; pyenv's command on PATH may lead to none."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    runs = (
        path
        for path in found
        if path and subprocess.run([path, "-c", "import venv, ensurepip"]).returncode == 0
    )
    return next(map(str, runs), None)


@pytest.mark.parametrize("version", [version for version in PYTHONS if version != HERE])
def test_every_test_passes_in_a_fresh_clone(tmp_path, version):
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    course = tmp_path / "course"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(course)], check=True)
    drop = ("PYTHON", "VIRTUAL_ENV", "CONDA", "PYTEST")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    done = subprocess.run(["make", "test", f"PYTHON={python}"], cwd=course, env=environment)
    assert done.returncode == 0
