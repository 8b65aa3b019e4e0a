"""What has passed for a notebook is not tried again before something changes that it depends on.

`ran/NAME` beside the tests holds a digest of all that decides what they say of that notebook. A run of all these tests
writes it, and it is committed. In continuous integration one notebook in `TURNS` is tried again although nothing has
changed, each day others: a record that another machine made is believed for so many days at most. KEPT=none believes none.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import ASSIGNMENTS

TURNS = 3


def believed(name: str, environment: dict[str, str], day: int) -> bool:
    """Whether a record of this notebook counts on this day, counted from any."""
    if environment.get("KEPT") == "none":
        return False
    return not environment.get("CI") or (list(ASSIGNMENTS).index(name) + day) % TURNS != 0


def today() -> int:
    return datetime.now(UTC).date().toordinal()


@dataclass(frozen=True)
class Kept:
    """Tests of one folder, each of one notebook, whose [NAME stands in their id.

    files   those that hold such tests; what is remembered is remembered of all of them together.
    holds   which of the tests in these files; the rest is run each time.
    """

    folder: Path
    files: frozenset[Path]
    digest_of: Callable[[str], str]
    holds: Callable[[pytest.Item], bool] = lambda item: item.get_closest_marker("slow") is not None

    @property
    def words(self) -> str:
        return f"has passed as it is: {self.folder.parent.name}/{self.folder.name}/ran says so"

    def has_passed(self, name: str) -> bool:
        kept = self.folder / "ran" / name
        return kept.exists() and kept.read_text().strip() == self.digest_of(name)

    def remember(self, name: str) -> None:
        (self.folder / "ran").mkdir(exist_ok=True)
        (self.folder / "ran" / name).write_text(self.digest_of(name) + "\n")

    def is_of(self, item: pytest.Item, name: str) -> bool:
        return item.path in self.files and f"[{name}" in item.name and self.holds(item)

    def notebook_of(self, item: pytest.Item) -> str:
        """The notebook that a test is about; "" for one of which nothing is kept."""
        return next((name for name in ASSIGNMENTS if self.is_of(item, name)), "")

    def apply(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Skip what has passed, and remember what passes now if all tests of these files are asked for."""
        day, passed = today(), {}
        for item in items:
            if name := self.notebook_of(item):
                if name not in passed:
                    passed[name] = believed(name, dict(os.environ), day) and self.has_passed(name)
                if passed[name]:
                    item.add_marker(pytest.mark.skip(reason=f"{name} {self.words}"))
        if {item.path for item in items} >= self.files and _whole(config):
            config.pluginmanager.register(Remembering(self, items))


def _whole(config: pytest.Config) -> bool:
    """Whether files are collected whole. What `-k` and `-m` take away later is waited for all the same."""
    return not any("::" in argument for argument in config.args) and not config.getoption("lf", False)


class Remembering:
    """Which notebooks had all their tests run, and passed, in this process."""

    def __init__(self, kept: Kept, items: list[pytest.Item]):
        self.kept = kept
        self.waiting = {
            name: {item.nodeid for item in items if kept.is_of(item, name)} for name in ASSIGNMENTS
        }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, left in self.waiting.items():
                if report.nodeid in left:
                    left.discard(report.nodeid)
                    if not left:
                        self.kept.remember(name)
