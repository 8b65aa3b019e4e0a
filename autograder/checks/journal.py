"""What a student has done so far, kept in one small JSON file that survives restarts.

It lies in the user's data folder, or where AUTOGRADER_HOME says, and has a part for each course. It is a convenience:
nothing is graded by it.

    {"format": 2, "courses": {"words-in-context": {"checks": {"attention.scale": true}, "hints": {…}, …}}}
"""

import ast
import copy
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from autograder.checks.storing import locked, write_aside

FORMAT = 2
SECTIONS = ("checks", "hints", "lent", "keys", "predictions", "outcomes", "scoreboard")
"""
checks        {exercise: whether its check passed when it ran last, None if there was no answer};
hints         {exercise: the rung that was reached};
lent          {exercise: when its function was borrowed first, in UTC};
keys          {notebook: the key that opens what it lends};
predictions   {name: the number, or the sentence that was chosen};
outcomes      {name: {"predicted": what the student said first, "found": what came out}};
scoreboard    {model: its row}: what a course adds for itself.
"""
ANY = ""
"""The part for notebooks whose course is not known, and for what was saved before there were parts: every course sees it."""

Sections = dict[str, dict[str, Any]]


def path() -> Path:
    """The file of the record, whether or not it is there yet; the same for all courses of this user."""
    home = os.environ.get("AUTOGRADER_HOME") or platformdirs.user_data_dir("autograder")
    return Path(home) / "progress.json"


def course() -> str:
    """The id of the course in whose folder this process is, from its nbgrader_config.py; "" where there is none."""
    return _course_of(Path.cwd())


@cache
def _course_of(folder: Path) -> str:
    for place in (folder, *folder.parents):
        with suppress(OSError, SyntaxError, ValueError):
            return _course_id((place / "nbgrader_config.py").read_text(encoding="utf-8"))
    return ANY


def _course_id(settings: str) -> str:
    """What is assigned to `c.CourseDirectory.course_id`. The file is read, not run."""
    for node in ast.walk(ast.parse(settings)):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="course_id")], value=ast.Constant(value=str(name))):
                return name
    return ANY


def read() -> Sections:
    """All sections of this course; empty ones if there is no record or it cannot be read."""
    if not path().exists():
        return _empty()
    with _locked():  # Windows replaces no file that is being read
        return _of_this_course(_read())


def _locked() -> AbstractContextManager[None]:
    return locked(path().with_suffix(".lock"))


def _empty() -> Sections:
    return {section: {} for section in SECTIONS}


def _read() -> dict[str, Sections]:
    """The sections of each course."""
    try:
        record = json.loads(path().read_text(encoding="utf-8"))
        parts = record["courses"] if record.get("format") == FORMAT else {ANY: record}  # of the first format
        return {name: _sections(part) for name, part in parts.items()}
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def _sections(part: dict[str, Any]) -> Sections:
    return {section: dict(part.get(section, {})) for section in SECTIONS}


def _of_this_course(parts: dict[str, Sections]) -> Sections:
    common, own = (parts.get(name, _empty()) for name in (ANY, course()))
    return {section: common[section] | own[section] for section in SECTIONS}


@contextmanager
def changing(section: str) -> Iterator[dict[str, Any]]:
    """A section, in which this block adds or replaces entries; nothing that another notebook saves meanwhile is lost."""
    with _locked():
        parts = _read()
        entries = _of_this_course(parts)[section]
        unchanged = copy.deepcopy(entries)
        yield entries
        changed = {
            name: value
            for name, value in entries.items()
            if name not in unchanged or unchanged[name] != value
        }
        parts.setdefault(course(), _empty())[section] |= changed
        if changed:
            with suppress(OSError):  # a full or read-only disk must not fail a check
                record = {"format": FORMAT, "courses": parts}
                write_aside(path(), json.dumps(record, indent=1, sort_keys=True))


def save(section: str, name: str, value: Any) -> None:
    """Set one entry of a section of this course. `value` is anything that JSON can hold."""
    with changing(section) as entries:
        entries[name] = value


def checks() -> dict[str, bool | None]:
    """By exercise: whether its check passed when it ran last, None if there was no answer."""
    return read()["checks"]


def save_check(name: str, passed: bool | None) -> None:
    """Remember how the check of an exercise ended; None when there was no answer."""
    save("checks", name, passed)
