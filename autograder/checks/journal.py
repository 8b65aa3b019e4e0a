"""What a student has done so far, kept in one small JSON file that survives restarts.

It lies in the user's data folder, or where AUTOGRADER_HOME says. It is a convenience: nothing is graded by it.
"""

import copy
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs

from autograder.checks.storing import locked, write_aside

EMPTY: dict[str, dict[str, Any]] = {"checks": {}, "predictions": {}, "scoreboard": {}}


def path() -> Path:
    home = os.environ.get("AUTOGRADER_HOME") or platformdirs.user_data_dir("autograder")
    return Path(home) / "progress.json"


def read() -> dict[str, dict[str, Any]]:
    """The whole record; empty if there is none or it cannot be read."""
    if not path().exists():
        return {section: {} for section in EMPTY}
    with _locked():  # Windows replaces no file that is being read
        return _read()


def _locked() -> AbstractContextManager[None]:
    return locked(path().with_suffix(".lock"))


def _read() -> dict[str, dict[str, Any]]:
    try:
        record = json.loads(path().read_text(encoding="utf-8"))
        return {section: dict(record.get(section, {})) for section in EMPTY}
    except (OSError, ValueError, TypeError, AttributeError):
        return {section: {} for section in EMPTY}


def checks() -> dict[str, bool]:
    return read()["checks"]


def predictions() -> dict[str, float | str]:
    return read()["predictions"]


def save_check(name: str, passed: bool) -> None:
    _save("checks", name, passed)


def save_prediction(name: str, value: float | str) -> None:
    _save("predictions", name, value)


@contextmanager
def changing(section: str) -> Iterator[dict[str, Any]]:
    """A section, to be changed in this block; nothing that another notebook saves meanwhile is lost."""
    with _locked():
        record = _read()
        before = copy.deepcopy(record)
        yield record[section]
        if record != before:
            with suppress(OSError):  # a full or read-only disk must not fail a check
                write_aside(path(), json.dumps(record, indent=1, sort_keys=True))


def _save(section: str, name: str, value: Any) -> None:
    with changing(section) as entries:
        entries[name] = value
