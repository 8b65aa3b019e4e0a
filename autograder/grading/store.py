"""Results on disk, one file a job, written whole or not at all: a killed run resumes where it was."""

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.course import Assignment
from autograder.files import write_aside
from autograder.jail.outside.bubblewrap import AUTOGRADER, package_folder
from autograder.pool.warm import PACKAGES, installed_versions

PACKAGE = "autograder"
IMPORT = re.compile(rf"^ *from ({PACKAGE}(?:\.\w+)*) import (\([^)]*\)|.*)", re.MULTILINE)
"""Found by its looks: parsing all these files takes a third of a second."""

DECIDES_NOTHING = ("lend", "lend_from")
"""Settings without which a verdict would be the same."""


@dataclass(frozen=True)
class Store:
    folder: Path

    def get(self, job: str) -> dict[str, Any] | None:
        """The result of a job, or None. A damaged file counts as absent."""
        try:
            return json.loads(self._path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def holds(self, job: str) -> bool:
        """Whether there is a file of a job, be it damaged."""
        return self._path(job).exists()

    def put(self, job: str, result: Mapping[str, Any]) -> None:
        write_aside(self._path(job), json.dumps(result), through_a_power_cut=True)

    def _path(self, job: str) -> Path:
        return self.folder / job[:2] / f"{job}.json"


def job_id(digest: str, rules: str, settings: Mapping[str, Any]) -> str:
    """A name for "this submission under these rules": anything that could change its verdict changes it.

    The seed is not part of it. A submission that was judged once on fresh inputs keeps that verdict; any
    change of the submission makes a new job, which gets inputs that nobody has seen.
    """
    parts = [digest, rules, json.dumps(settings, sort_keys=True)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def rules_digest(assignment: Assignment) -> str:
    """Over the release, the solution, the code that judges, what notebooks import and read, and the versions."""
    files = [assignment.source, assignment.release, *judging_code(AUTOGRADER, assignment)]
    files += course_files(assignment, "*")
    files += assignment.handed_out.values()
    digest = hashlib.sha256(f"{assignment.name} {platform.python_version()}".encode())
    settings = {
        name: value for name, value in asdict(assignment.settings).items() if name not in DECIDES_NOTHING
    }
    digest.update(json.dumps([settings, installed_versions(PACKAGES)]).encode())
    for file in files:
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def course_files(assignment: Assignment, pattern: str) -> list[Path]:
    """The files of that name which the course's notebooks import or read."""
    course = assignment.settings
    beside = {name: assignment.root / name for name in course.packages}
    folders = [path if path.is_dir() else package_folder(name) for name, path in beside.items()]
    folders += [assignment.root / name for name in course.readable]
    files = [path for folder in folders for path in sorted(folder.rglob(pattern))]
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def judging_code(package: Path, assignment: Assignment) -> list[Path]:
    """The files of `package` that decide a verdict: the jail, the exercises, and the engine with what it imports.

    What only starts a run, shows its results or passes them on may change, and no result becomes stale.
    """
    waiting = [
        package / "grading" / "engine.py",
        *assignment.source.parent.glob("*.py"),
        *package.rglob("jail/*/*.py"),
    ]
    waiting += package.rglob("checks/**/*.py")
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports(file, package)
    return sorted(found)


def _imports(file: Path, package: Path) -> list[Path]:
    """The modules of `package` that a file imports, by `from autograder… import …`."""
    names: set[str] = set()
    for module, imported in IMPORT.findall(file.read_text(encoding="utf-8")):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", imported))}
    paths = [package.joinpath(*name.split(".")[1:]) for name in names]
    return [path.with_suffix(".py") for path in paths if path.with_suffix(".py").exists()]
