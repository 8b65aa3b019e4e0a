"""Follow a section of docs/instructors.md to the letter, in a course of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.autograder.road import make_course
from tests.conftest import ROOT

GUIDE = (ROOT / "docs" / "instructors.md").read_text()
STEP = re.compile(r"```(?:python|text)\n# file: ([^\s,]+)(.*?)\n(.*?)```|```console\n(.*?)```", re.S)


def section(title: str) -> str:
    """The text under a heading, up to the next heading of the same rank."""
    _, _, text = GUIDE.partition(f"\n## {title}")
    assert text, f"the guide has no section {title}"
    return re.split(r"^## ", text, flags=re.M)[0]


def follow(title: str, folder: Path) -> tuple[Path, dict[str, str]]:
    """Write the section's files and run its commands. Returns the course, and what each command said."""
    course = make_course(folder)
    (course / ".venv").symlink_to(Path(sys.prefix))
    said = {}
    for file, where, text, commands in STEP.findall(section(title)):
        if file:
            (course / file).parent.mkdir(parents=True, exist_ok=True)
            write(course / file, where.removeprefix(", "), text)
        for line in commands.splitlines():
            command = line.removeprefix("$ ")
            done = subprocess.run(
                command.split(),
                cwd=course,
                env=os.environ | {"COLUMNS": "200"},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            said[command] = done.stdout
    return course, said


def write(file: Path, where: str, text: str) -> None:
    """A new file, or text that goes into one "at the end" or "below the cell NAME"."""
    if not where:
        file.write_text(text)
    elif where == "at the end":
        file.write_text(f"{file.read_text()}\n\n{text}")
    else:
        cells = re.split(r"^(?=# %%)", file.read_text(), flags=re.M)
        name = where.removeprefix("below the cell ")
        (place,) = (place for place, cell in enumerate(cells) if f'"grade_id": "{name}"' in cell)
        cells.insert(place + 1, text)
        file.write_text("".join(cells))
