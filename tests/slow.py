"""Slow tests and those that drive a browser are kept by their file, where no notebook's name keeps them (tests/kept.py).

What they depend on is counted generously: whole folders, and the whole course where nothing else is said here.
"""

import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from autograder.digests import digest
from tests.conftest import ROOT
from tests.kept import Kept, any_notebook

HERE = Path(__file__).parent
ELSEWHERE = (
    "notebooks",
    "natural",
    *(f"exercises/test_{what}.py" for what in ("exercises", "fresh", "rates")),
)
"""Files and folders that are kept by notebook."""

TOOL = ("autograder", "examples", "pyproject.toml")
MODELS = ("coursekit", "data", "requirements-models.txt")
GRADED = (*TOOL, *MODELS, "solutions", "notebooks", "nbgrader_config.py", "docs", "CONTRIBUTING.md")
USED = {
    "autograder": GRADED,
    "coursekit": (*MODELS, "autograder"),
    "data": MODELS,
    "examples": (*TOOL, "README.md", "LICENSE"),
    "hostile": GRADED,
    "jail": GRADED,
    "novels": MODELS,
    "plain": GRADED,
    "written": GRADED,
}
"""What the tests of a folder depend on, beside themselves, what tests share, and the pins."""

DECIDES_NOTHING = (".ci", ".github", "bench", "CITATION.cff")
"""What no slow test looks at, unless it stands in a folder of tests of this name."""


def name_of(item: pytest.Item) -> str:
    """The file of a slow test, and its notebook where there is one: those come to one process each."""
    if not any(map(item.get_closest_marker, ("slow", "browser"))):
        return ""
    place = item.path.relative_to(HERE).with_suffix("")
    return ".".join((*place.parts, *filter(None, [any_notebook(item)])))


@cache
def files_of_the_course() -> tuple[str, ...]:
    """All that git has or would take, and none where there is no git: then nothing is believed that others saw."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(sorted(file for file in listed.splitlines() if (ROOT / file).is_file()))


def decides(file: str, folder: str) -> bool:
    """Whether slow tests of a folder, "" for those beside this file, may depend on that file of the course."""
    path = PurePosixPath(file)
    if path.parts[0] == "tests":
        if "ran" in path.parts:
            return False
        of_its_own = path.parts[1] == folder if folder else len(path.parts) == 2
        return of_its_own or path.parts[1] != "natural" and not path.name.startswith("test_")
    if folder not in USED:
        return path.parts[0] not in DECIDES_NOTHING or path.parts[0] == folder
    return file == "constraints.txt" or any(path.is_relative_to(used) for used in USED[folder])


@cache
def digest_of_folder(folder: str) -> str:
    files = [file for file in files_of_the_course() if decides(file, folder)]
    machine = (platform.python_version_tuple()[:2], platform.system(), platform.machine())
    return digest([ROOT / file for file in files], files, machine) if files else ""


def digest_of(name: str) -> str:
    folder, _, file = name.partition(".")
    found = digest_of_folder(folder if file else "")
    return digest((), name, found) if found else ""


def keep(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Skip what has passed as it is, and remember what passes now, file by file."""
    slow = {item.path for item in items if item.path.is_relative_to(HERE) and name_of(item)}
    by_notebook = [HERE / path for path in ELSEWHERE]
    files = sorted(file for file in slow if not any(map(file.is_relative_to, by_notebook)))
    for place, file in enumerate(files):
        Kept(HERE, frozenset([file]), digest_of, name_of).apply(config, items, place)
