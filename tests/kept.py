"""What has passed for a notebook, or for something else with a name, is not tried again before what it depends on changes.

`ran/NAME` beside the tests holds a digest of all that decides what they say of that name. A run of all these tests
writes it, and it is committed. Where no notebook gives the name it is that of the file, for its slow tests
(`tests/slow.py`). In continuous integration one name in `TURNS` is tried again although nothing has changed, each day
others: a record that another machine made is believed for so many days at most. KEPT=none believes none.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import pytest

from tests.conftest import ASSIGNMENTS

TURNS = 6
SKIP = pytest.StashKey[Callable[[], str]]()
"""Why a test need not be run, or ""."""


@cache
def content(file: Path) -> str:
    """A digest of a file's bytes, which decide for many names."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def believed(place: int, environment: Mapping[str, str], day: int) -> bool:
    """Whether a record counts on this day, counted from any. `place` is where its name stands among the others."""
    if environment.get("KEPT") == "none":
        return False
    return not environment.get("CI") or (place + day) % TURNS != 0


def today() -> int:
    return datetime.now(UTC).date().toordinal()


def any_notebook(item: pytest.Item) -> str:
    """The notebook whose [NAME stands in a test's id, or ""."""
    return next((name for name in ASSIGNMENTS if f"[{name}" in item.name), "")


def slow_notebook(item: pytest.Item) -> str:
    """The same of a slow test."""
    return any_notebook(item) if item.get_closest_marker("slow") else ""


@dataclass(frozen=True)
class Kept:
    """Tests of one folder, each about one name.

    files    those that hold such tests; what is remembered is remembered of all of them together.
    digest_of  of a name; "" where nothing is to be kept of it
    name_of  what a test in these files is about; "" for one that is run each time.
    """

    folder: Path
    files: frozenset[Path]
    digest_of: Callable[[str], str]
    name_of: Callable[[pytest.Item], str] = slow_notebook

    @property
    def words(self) -> str:
        return f"has passed as it is: {self.folder.parent.name}/{self.folder.name}/ran says so"

    def has_passed(self, name: str) -> bool:
        kept = self.folder / "ran" / name
        return kept.exists() and kept.read_text().strip() == self.digest_of(name)

    def remember(self, name: str) -> None:
        if digest := self.digest_of(name):
            (self.folder / "ran").mkdir(exist_ok=True)
            (self.folder / "ran" / name).write_text(digest + "\n")

    def tests(self, items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
        """The tests about each name, in the order of the names."""
        found: dict[str, list[pytest.Item]] = {}
        for item in items:
            if item.path in self.files and (name := self.name_of(item)):
                found.setdefault(name, []).append(item)
        return dict(sorted(found.items()))

    def apply(self, config: pytest.Config, items: list[pytest.Item], first: int = 0) -> None:
        """Skip what has passed, and remember what passes now if all tests of these files are asked for.

        Whether it has is asked when the first test's turn comes, as digests of what is not run would be for nothing.

        first  the place of the first name among all that take turns
        """
        tests, day = self.tests(items), today()
        has_passed = cache(self.has_passed)
        for place, (name, about) in enumerate(tests.items(), first):
            if believed(place, os.environ, day):
                for item in about:
                    item.stash[SKIP] = partial(self._why_not, name, has_passed)
        if not config.pluginmanager.has_plugin(Skipping.__name__):
            config.pluginmanager.register(Skipping(), Skipping.__name__)
        if {item.path for item in items} >= self.files and _whole(config):
            config.pluginmanager.register(Remembering(self, tests))

    def _why_not(self, name: str, has_passed: Callable[[str], bool]) -> str:
        return f"{name} {self.words}" if has_passed(name) else ""


class Skipping:
    """Before anything is set up for a test, whether it has passed as it is."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if reason := item.stash.get(SKIP, str)():
            pytest.skip(reason)


def _whole(config: pytest.Config) -> bool:
    """Whether files are collected whole. What `-k` and `-m` take away later is waited for all the same."""
    return not any("::" in argument for argument in config.args) and not config.getoption("lf", False)


class Remembering:
    """For which names all tests were run, and passed, in this process."""

    def __init__(self, kept: Kept, tests: Mapping[str, Iterable[pytest.Item]]):
        self.kept = kept
        self.waiting = {name: {item.nodeid for item in about} for name, about in tests.items()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, left in self.waiting.items():
                if report.nodeid in left:
                    left.discard(report.nodeid)
                    if not left:
                        self.kept.remember(name)
