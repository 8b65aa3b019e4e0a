"""What a student has done so far, kept in one small JSON file that survives restarts.

It lies in the user's data folder, or where AUTOGRADER_HOME says. It is a convenience: nothing is graded by it.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import platformdirs

EMPTY: dict[str, dict[str, Any]] = {"checks": {}, "predictions": {}, "scoreboard": {}}


def path() -> Path:
    home = os.environ.get("AUTOGRADER_HOME") or platformdirs.user_data_dir("autograder")
    return Path(home) / "progress.json"


def read() -> dict[str, dict[str, Any]]:
    """The whole record; empty if there is none or it cannot be read."""
    try:
        record = json.loads(path().read_text(encoding="utf-8"))
        return {section: dict(record.get(section, {})) for section in EMPTY}
    except (OSError, ValueError, TypeError, AttributeError):
        return {section: {} for section in EMPTY}


def checks() -> dict[str, bool]:
    return read()["checks"]


def predictions() -> dict[str, float]:
    return read()["predictions"]


def save_check(name: str, passed: bool) -> None:
    _save("checks", name, passed)


def save_prediction(name: str, value: float) -> None:
    _save("predictions", name, value)


def save_row(model: str, row: dict[str, Any]) -> None:
    """A row of the scoreboard."""
    _save("scoreboard", model, row)


def _save(section: str, name: str, value: Any) -> None:
    record = read()
    if record[section].get(name) == value and name in record[section]:
        return
    record[section][name] = value
    target = path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and moved: two notebooks may save at the same moment.
        handle, aside = tempfile.mkstemp(dir=target.parent, suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1, sort_keys=True)
        os.replace(aside, target)
    except OSError:
        pass  # a full or read-only disk must not fail a check
