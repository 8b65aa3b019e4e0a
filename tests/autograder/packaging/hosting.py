"""An archive as it is unpacked where it grades: a folder in the place of Gradescope's /autograder, and what runs it."""

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.packaging.archive import archive

VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "anyOf": [
        {"required": ["score"]},
        {"required": ["tests"], "properties": {"tests": {"items": {"required": ["score"]}}}},
    ],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": FORMAT,
        "test_output_format": FORMAT,
        "test_name_format": FORMAT,
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": FORMAT,
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": FORMAT,
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": VISIBILITY,
                    "extra_data": {"type": "object"},
                },
                "additionalProperties": False,
            },
        },
        "leaderboard": {"type": "array"},
    },
    "additionalProperties": False,
}
"""results.json as Gradescope documents it: https://gradescope-autograders.readthedocs.io/en/latest/specs/"""


@dataclass
class Host:
    """`folder` holds source, submission and results, as /autograder does in Gradescope's container."""

    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        return json.loads((self.folder / "results" / "results.json").read_text())

    @property
    def tests(self) -> dict[str, dict[str, Any]]:
        """The tests by their names."""
        return {test["name"]: test for test in self.results["tests"]}

    def hand_in(self, notebook: NotebookNode | str, name: str) -> None:
        file = self.folder / "submission" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(notebook if isinstance(notebook, str) else nbformat.writes(notebook))

    def run(self, script: str, *before: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the archive; `before` is a command that starts it."""
        return subprocess.run(
            [*before, "bash", str(self.folder / "source" / script)],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "AUTOGRADER_PREFIX": str(self.folder), **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )


def unpacked(assignment: Assignment, folder: Path, visibility: str = "visible") -> Host:
    """The archive of an assignment, unpacked, with the environment of these tests in the place of the one that setup.sh makes."""
    with zipfile.ZipFile(io.BytesIO(archive(assignment, visibility))) as packed:
        packed.extractall(folder / "source")
    (folder / "submission").mkdir()
    (folder / "results").mkdir()
    python = folder / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return Host(folder)
