"""Archives as other systems make them, and what was put into `submitted/` of them."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.autograder.here import NAME, Course

FILE = f"{NAME}.ipynb"
MOODLE = "Ada Lovelace_12345_assignsubmission_file"
AFTER_THE_DUE_DATE = (2026, 11, 1, 12, 0, 0)


def a_notebook(mark: str = "") -> str:
    return json.dumps({"cells": [], "metadata": {"mark": mark}, "nbformat": 4, "nbformat_minor": 5})


def archive(
    place: Path, *files: str | tuple[str, str | bytes], when: Sequence[int] = AFTER_THE_DUE_DATE
) -> Path:
    """A zip file, or one in that folder. Each file is a notebook that holds its own path; a pair has another content."""
    path = place / "download.zip" if place.is_dir() else place
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            name, content = file if isinstance(file, tuple) else (file, a_notebook(file))
            packed.writestr(zipfile.ZipInfo(name, when), content)
    return path


def taken(course: Course, student: str, name: str = NAME) -> str:
    """The mark of the notebook that counts."""
    path = course.root / "submitted" / student / name / f"{name}.ipynb"
    return json.loads(path.read_text())["metadata"]["mark"]


def told(course: Course, student: str) -> str:
    """When it was handed in."""
    return (course.root / "submitted" / student / NAME / "timestamp.txt").read_text()
