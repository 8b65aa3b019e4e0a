"""What decides a verdict: the one list of files and versions, and the one way to make a digest of them.

The store asks whether a result still holds, a cluster whether all its workers would grade alike.
"""

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.jail.outside.bubblewrap import AUTOGRADER, package_folder

if TYPE_CHECKING:  # a cluster's workers need no course
    from autograder.course import Assignment

PACKAGES = (
    *("numpy", "scipy", "pandas", "scikit-learn"),
    *("torch", "transformers", "tokenizers", "sentence-transformers", "safetensors"),
)
"""Those that compute what notebooks' cells give. Their versions count where they are installed."""

DECIDES_NOTHING = ("lend", "lend_from", "show_hidden_tests")
"""Settings without which a verdict would be the same."""

PACKAGE = "autograder"
IMPORT = re.compile(rf"^ *from ({PACKAGE}(?:\.\w+)*) import (\([^)]*\)|.*)", re.MULTILINE)
"""Found by its looks: parsing all these files takes a third of a second."""


def digest(files: Iterable[Path], *parts: Any) -> str:
    """Over parts that JSON can hold, and the names and contents of files in this order. Hexadecimal, 64 digits."""
    total = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for file in files:
        total.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def rules_digest(assignment: "Assignment") -> str:
    """Over the release, the solution, the code that judges, what notebooks import and read, and the versions."""
    files = [assignment.source, assignment.release, *judging_code(AUTOGRADER, assignment)]
    files += course_files(assignment)
    files += assignment.handed_out.values()
    files += assignment.root.glob("autotests.yml")
    settings = {
        name: value for name, value in asdict(assignment.settings).items() if name not in DECIDES_NOTHING
    }
    return digest(files, assignment.name, assignment.notebook, settings, installed_versions())


def worker_versions(packages: Iterable[str], readable: Mapping[str, Path]) -> dict[str, str]:
    """What must be the same on all machines of a run: Python, packages, and what runs in a worker or in its jail.

    Of the course these are its packages, and the folders that notebooks read, by name; one that is not there has no entry.
    """
    files = [path for part in ("checks", "jail", "pool") for path in (AUTOGRADER / part).rglob("*.py")]
    for folder in map(package_folder, packages):
        files += folder.rglob("*.py")
    folders = {
        f"the course's {name}": digest(sorted(_plain(place.rglob("*"))))[:12]
        for name, place in readable.items()
        if place.is_dir()
    }
    return {
        **installed_versions(("distributed",)),
        "the course's files": digest(sorted(_plain(files)))[:12],
        **folders,
    }


def installed_versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Of Python, and of those of `PACKAGES` and `more` that are installed."""
    versions = {"Python": platform.python_version()}
    for name in (*PACKAGES, *more):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def course_files(assignment: "Assignment") -> list[Path]:
    """The files which the course's notebooks import or read."""
    course = assignment.settings
    beside = {name: assignment.root / name for name in course.packages}
    folders = [path if path.is_dir() else package_folder(name) for name, path in beside.items()]
    folders += [assignment.root / name for name in course.readable]
    return _plain(path for folder in folders for path in sorted(folder.rglob("*")))


def judging_code(package: Path, assignment: "Assignment") -> list[Path]:
    """The files of `package` that decide a verdict: the jail, the exercises, and the engine with what it imports.

    What only starts a run, shows its results or passes them on may change, and nothing is run again for it.
    """
    first = [package / "grading" / "engine.py", *assignment.source.parent.glob("*.py")]
    first += [*package.rglob("jail/*/*.py"), *package.rglob("checks/**/*.py")]
    return with_imports(first, package)


def with_imports(first: Iterable[Path], package: Path) -> list[Path]:
    """These files and the modules of `package` that they import, and what those import, and so on."""
    waiting = [*first]
    files: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += _imports(file, package)
    return sorted(files)


def _plain(files: Iterable[Path]) -> list[Path]:
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def _imports(file: Path, package: Path) -> list[Path]:
    """The modules of `package` that a file imports, by `from autograder… import …`."""
    names: set[str] = set()
    for module, imported in IMPORT.findall(file.read_text(encoding="utf-8")):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", imported))}
    paths = [package.joinpath(*name.split(".")[1:]) for name in names]
    return [path.with_suffix(".py") for path in paths if path.with_suffix(".py").exists()]
