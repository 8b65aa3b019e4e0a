"""Slow tests and those that drive a browser are kept by their file, where no notebook's name keeps them (tests/kept.py).

What they depend on is counted generously: whole folders, and the whole course where nothing else is said here.
"""

import platform
import re
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from autograder.authoring.tried import FILE as TRIED
from autograder.digests import digest
from tests.conftest import ASSIGNMENTS, ROOT, SETTINGS
from tests.kept import Kept, any_notebook, content
from tests.reach import Reached

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
    "checks": GRADED,
    "coursekit": (*MODELS, "autograder"),
    "data": MODELS,
    "examples": (*TOOL, "README.md", "LICENSE"),
    "exercises": GRADED,
    "hostile": GRADED,
    "jail": GRADED,
    "novels": MODELS,
    "plain": GRADED,
    "written": GRADED,
}
"""What the tests of a folder depend on, beside themselves, what tests share, and the pins: of coursekit and data what they, or the notebooks at which they look, reach."""

OF_SOME_NOTEBOOKS = (
    "",
    "autograder",
    "browser",
    "checks",
    "exercises",
    "hostile",
    "jail",
    "plain",
    "written",
)
"""Folders whose tests look at the notebooks that they name, and at the one in a test's name, and draw nothing."""

OF_NO_NOTEBOOK = ("test_bootstrap", "test_house", "test_validate")
"""Files beside this one that look at none where they name none. Of the others there it is told only by the tests' names."""

THROUGH_ALL = re.compile(r"in ASSIGNMENTS\b(?!\[)|ASSIGNMENTS\.(?:values|items)|\bassignments\([^)]*ROOT")
"""Who says this looks at all notebooks. Where a test is asked of each, its name has the notebook in it."""

PAGES = ("docs/", "README.md", "CONTRIBUTING.md")
ALL_PAGES = re.compile(r'tools\.book|"docs"(?! / ")')
"""Who says this reads any of them."""

KEEPING = ("conftest", "kept", "reach", "slow", "trials")
"""Files beside this one that are not followed: the first counts everywhere, the others decide only which tests are run."""

DECIDES_NOTHING = (".ci", ".github", "bench", "CITATION.cff", "docs/benchmarks.md", "docs/images")
"""What no slow test looks at, unless it stands in a folder of tests of this name, or beside this file."""


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
    """Whether slow tests of a folder, "" for those beside this file, may depend on that file of the course.

    Of tests these are the files that are none themselves: what the tests share. A test's own file is counted by `digest_of`.
    """
    path = PurePosixPath(file)
    if path.parts[0] == "tests":
        if "ran" in path.parts:
            return False
        return path.parts[1] != "natural" and not path.name.startswith("test_")
    if path.name == TRIED:  # says how much is left to try, and not what comes of it
        return False
    if any(path.is_relative_to(nothing) for nothing in DECIDES_NOTHING):
        return path.parts[0] == folder or (not folder and path.parts[0] == "docs")
    if folder not in USED:
        return True
    return file == "constraints.txt" or any(path.is_relative_to(used) for used in USED[folder])


def of_another_notebook(file: str, notebooks: Iterable[str]) -> bool:
    """Whether a file is of a notebook that is none of these, or draws a notebook's pictures."""
    path = PurePosixPath(file)
    folder = path.parts[1] if path.parts[0] in ("solutions", "notebooks") else ""
    return folder in {*ASSIGNMENTS} - {*notebooks} or path.is_relative_to("coursekit/pictures")


def is_page(file: str) -> bool:
    """Whether a file is a page of prose that students do not get: who reads it says its name."""
    return file.endswith(".md") and file.startswith(PAGES) and file not in SETTINGS.student_files


@cache
def of_folder(folder: str, notebooks: tuple[str, ...] = tuple(ASSIGNMENTS)) -> list[str]:
    """notebooks: those that count"""
    files = [file for file in files_of_the_course() if decides(file, folder)]
    if {*notebooks} == {*ASSIGNMENTS}:
        return files
    return [file for file in files if not of_another_notebook(file, notebooks)]


def split(name: str) -> tuple[str, str]:
    """The place of a file of tests, and the notebook in the name, or ""."""
    notebook = next((notebook for notebook in ASSIGNMENTS if name.endswith(f".{notebook}")), "")
    return name.removesuffix(f".{notebook}"), notebook


def looked_at(place: str, notebook: str = "") -> tuple[str, ...]:
    """The notebooks at which tests look: the one in their name, and what their file and its helpers name, or all."""
    folder = place.rpartition(".")[0]
    if folder not in OF_SOME_NOTEBOOKS or not (folder or notebook or place in OF_NO_NOTEBOOK):
        return tuple(ASSIGNMENTS)
    text = text_of(place)
    if not notebook and THROUGH_ALL.search(text):
        return tuple(ASSIGNMENTS)
    return tuple(name for name in ASSIGNMENTS if name == notebook or name in text)


def counted(name: str) -> list[str]:
    """The files of the course that count, beside the tests themselves: of coursekit and data what any of the others reaches."""
    place, notebook = split(name)
    folder, shared = place.rpartition(".")[0], shared_files(place)
    files = of_folder(folder, looked_at(place, notebook))
    files = [file for file in files if not file.startswith("tests/") or shared(file)]
    if folder and folder in OF_SOME_NOTEBOOKS:
        text = text_of(place)
        if not ALL_PAGES.search(text):
            files = [file for file in files if not is_page(file) or Path(file).name in text]
    if folder not in USED:
        return files
    other = ("coursekit/", "tests/plain/course/")  # a course of its own, which does not have them
    code = [ROOT / file for file in files if file.endswith(".py") and not file.startswith(other)]
    texts = [file.read_text(encoding="utf-8") for file in (*code, *with_tests(file_of(place)))]
    reached = Reached(ROOT, ("coursekit",), texts)
    return [file for file in files if reached.decides(file)]


def shared_files(place: str) -> Callable[[str], bool]:
    """Whether a file of `tests` may be used by a file of tests: it stands with it or with what it imports, or beside this one."""
    helpers = {file.relative_to(HERE.parent) for file in with_helpers(file_of(place))}
    folders = {file.parent for file in helpers} - {HERE.relative_to(HERE.parent)}

    def used(file: str) -> bool:
        path = Path(file)
        if path.parent == Path("tests"):
            return "." not in place or path in helpers or path.name == "conftest.py"
        return not folders.isdisjoint(path.parents)

    return used


def text_of(place: str) -> str:
    """A file of tests with its helpers."""
    return "\n".join(file.read_text(encoding="utf-8") for file in with_helpers(file_of(place)))


def file_of(place: str) -> Path:
    return HERE.joinpath(*place.split(".")).with_suffix(".py")


def digest_of(name: str) -> str:
    files = counted(name)
    tests = with_tests(file_of(split(name)[0]))
    machine = (platform.python_version_tuple()[:2], platform.system(), platform.machine())
    contents = [content(ROOT / file) for file in files]
    return digest(tests, name, files, contents, machine) if files else ""


def with_tests(file: Path) -> list[Path]:
    """A file of tests, and those from which it, or one of them, imports."""
    return [found for found in with_helpers(file) if found.name.startswith("test_")]


@cache
def with_helpers(file: Path) -> list[Path]:
    """A file of tests, what it, or one of them, imports from tests, and what its folder's tests share without importing it.

    tests/conftest.py, which all share, is not among them, nor is what keeps records.
    """
    found: list[Path] = []
    waiting = [file]
    if file.parent != HERE and file.with_name("conftest.py").is_file():
        waiting.append(file.with_name("conftest.py"))
    while waiting:
        found.append(waiting.pop())
        text = found[-1].read_text(encoding="utf-8")
        modules: set[str] = set()
        for module, names in re.findall(r"^ *from (tests\b[\w.]*) import (.*)", text, re.MULTILINE):
            modules |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
        files = {HERE.parent.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
        more = {*filter(Path.is_file, files)} - {*found, *waiting}
        waiting += sorted(more - {HERE / f"{name}.py" for name in KEEPING})
    return found


def by_notebook(file: Path) -> bool:
    return any(file.is_relative_to(HERE / path) for path in ELSEWHERE)


def keep(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Skip what has passed as it is, and remember what passes now, file by file."""
    slow = {item.path for item in items if item.path.is_relative_to(HERE) and name_of(item)}
    for place, file in enumerate(sorted(file for file in slow if not by_notebook(file))):
        Kept(HERE, frozenset([file]), digest_of, name_of).apply(config, items, place)
