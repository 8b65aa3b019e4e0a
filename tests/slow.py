"""Slow tests and those that drive a browser are kept by their file, where no notebook's name keeps them (tests/kept.py).

What they depend on is counted generously: whole folders, and the whole course where nothing else is said here.
"""

import platform
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from autograder.digests import digest
from tests.conftest import ASSIGNMENTS, ROOT
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

OF_SOME_NOTEBOOKS = ("autograder", "hostile", "jail", "plain", "written")
"""Folders whose tests look at these notebooks, and at the one in their name, and draw nothing."""

OF_SOME_MODULES = ("coursekit", "data", "novels")
"""Folders whose tests need of coursekit and data what they themselves reach."""

EXAMPLES = ("01_static_embeddings", "02_attention", "09_fine_tuning", "12_one_corpus")
WHOLE = {f"autograder.test_{what}" for what in ("demo", "instructors_guide", "local", "minutes", "report")}
"""Files in these folders that look at all notebooks."""

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
    """Whether slow tests of a folder, "" for those beside this file, may depend on that file of the course.

    Of tests these are the files that are none themselves: what the tests share. A test's own file is counted by `digest_of`.
    """
    path = PurePosixPath(file)
    if path.parts[0] == "tests":
        if "ran" in path.parts:
            return False
        return path.parts[1] != "natural" and not path.name.startswith("test_")
    if folder not in USED:
        return path.parts[0] not in DECIDES_NOTHING or path.parts[0] == folder
    return file == "constraints.txt" or any(path.is_relative_to(used) for used in USED[folder])


def of_another_notebook(file: str, notebooks: Iterable[str]) -> bool:
    """Whether a file is of a notebook that is none of these, or draws a notebook's pictures."""
    path = PurePosixPath(file)
    folder = path.parts[1] if path.parts[0] in ("solutions", "notebooks") else ""
    return folder in {*ASSIGNMENTS} - {*notebooks} or path.is_relative_to("coursekit/pictures")


@cache
def of_folder(folder: str, notebooks: tuple[str, ...] = ()) -> list[str]:
    """notebooks: those that count, where not all do"""
    files = [file for file in files_of_the_course() if decides(file, folder)]
    return [file for file in files if not (notebooks and of_another_notebook(file, notebooks))]


def counted(name: str) -> list[str]:
    """The files of the course that count, beside the tests themselves: of coursekit and data what any of the others reaches."""
    notebook = next((notebook for notebook in ASSIGNMENTS if name.endswith(f".{notebook}")), "")
    place = name.removesuffix(f".{notebook}")
    folder = place.rpartition(".")[0]
    some = folder in OF_SOME_NOTEBOOKS and place not in WHOLE
    files = of_folder(folder, (*EXAMPLES, notebook) if some else ())
    if not some and folder not in OF_SOME_MODULES:
        return files
    other = ("coursekit/", "tests/plain/course/")  # a course of its own, which does not have them
    code = [ROOT / file for file in files if file.endswith(".py") and not file.startswith(other)]
    texts = [file.read_text(encoding="utf-8") for file in (*code, *with_tests(file_of(place)))]
    reached = Reached(ROOT, ("coursekit",), texts)
    return [file for file in files if reached.decides(file)]


def file_of(place: str) -> Path:
    return HERE.joinpath(*place.split(".")).with_suffix(".py")


def digest_of(name: str) -> str:
    notebook = next((notebook for notebook in ASSIGNMENTS if name.endswith(f".{notebook}")), "")
    files = counted(name)
    tests = with_tests(file_of(name.removesuffix(f".{notebook}")))
    machine = (platform.python_version_tuple()[:2], platform.system(), platform.machine())
    contents = [content(ROOT / file) for file in files]
    return digest(tests, name, files, contents, machine) if files else ""


def with_tests(file: Path) -> list[Path]:
    """A file of tests, and those from which it, or one of them, imports."""
    found, waiting = [], [file]
    while waiting:
        found.append(waiting.pop())
        modules = re.findall(r"^ *from (tests\.\S+) import", found[-1].read_text(), re.MULTILINE)
        files = {HERE.parent.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
        waiting += sorted(one for one in files - {*found} if one.name.startswith("test_"))
    return found


def by_notebook(file: Path) -> bool:
    return any(file.is_relative_to(HERE / path) for path in ELSEWHERE)


def keep(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Skip what has passed as it is, and remember what passes now, file by file."""
    slow = {item.path for item in items if item.path.is_relative_to(HERE) and name_of(item)}
    for place, file in enumerate(sorted(file for file in slow if not by_notebook(file))):
        Kept(HERE, frozenset([file]), digest_of, name_of).apply(config, items, place)
