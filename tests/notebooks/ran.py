"""A notebook that has passed is not run again before something changes that it depends on; in continuous integration it is.

ran/NAME holds a digest of all that decides what its tests say: its source and exercises, its release, coursekit, the
checks, the data, these tests, and the versions. A run of the whole suite writes it, and it is committed.
"""

import platform
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from autograder.digests import digest
from tests.conftest import ASSIGNMENTS, ROOT

HERE = Path(__file__).parent
FOLDER = HERE / "ran"
USED = ("coursekit", "autograder/checks", "data", "tests/notebooks", "tools/jupyterlab")
WORDS = "has passed as it is: tests/notebooks/ran says so"


def has_passed(name: str) -> bool:
    kept = FOLDER / name
    return kept.exists() and kept.read_text().strip() == digest_of(name)


def remember(name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / name).write_text(digest_of(name) + "\n")


@cache
def digest_of(name: str) -> str:
    one = ASSIGNMENTS[name]
    return digest((one.source, one.exercises_file, one.release), _common())


@cache
def _common() -> str:
    """Over what counts for all notebooks: the files with their paths, Python's version, and the machine's kind."""
    files = [ROOT / "constraints.txt", *sorted(_files())]
    paths = [path.relative_to(ROOT).as_posix() for path in files]
    return digest(files, paths, platform.python_version_tuple()[:2], platform.system(), platform.machine())


def _files() -> Iterator[Path]:
    for folder in USED:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and FOLDER not in path.parents:
                yield path


class Remembering:
    """Which notebooks had all their tests run, and passed, in this process."""

    def __init__(self, items: list[pytest.Item]):
        self.waiting = {name: {item.nodeid for item in items if _is_of(item, name)} for name in ASSIGNMENTS}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, left in self.waiting.items():
                if report.nodeid in left:
                    left.discard(report.nodeid)
                    if not left:
                        remember(name)


def _is_of(item: pytest.Item, name: str) -> bool:
    slow = item.get_closest_marker("slow") is not None
    return slow and item.path.parent == HERE and f"[{name}" in item.name


def notebook_of(item: pytest.Item) -> str:
    """The notebook that a slow test of this folder runs; "" for another test."""
    return next((name for name in ASSIGNMENTS if _is_of(item, name)), "")
