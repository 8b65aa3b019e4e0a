"""Pack an assignment for grading elsewhere: the tool, what the grading of this one assignment needs, and how to install it.

setup.sh, run_autograder    what Gradescope, or the workflow, runs (autograder/templates/package)
package.json                which assignment it is, and when students see its tests
requirements.txt            the packages to install, each with the version that is installed here
registered/                 the release with its hidden tests
tool/                       this package
course/                     the settings that count, the source and the release, packages and data of the course
"""

import ast
import io
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import ClearHiddenTests

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.jail.outside.bubblewrap import AUTOGRADER, package_folder
from autograder.packaging.hosted import Packed
from autograder.packaging.pins import imported, pins
from autograder.pool.pool import settings_for
from autograder.registered import registered_release
from autograder.settings import FILE, STEPS, own_settings
from autograder.source import notebook_bytes

EXECUTABLE = ("setup.sh", "run_autograder")
SETTINGS = (
    "arrays", "packages", "readable", "preload", "preload_where", "answers", "show_hidden_tests",
)  # fmt: skip
"""Those under `c.Autograder` that count for grading."""
EARLIEST = 1980, 1, 1, 0, 0, 0
"""The zip format knows no earlier time: with it, the same files make the same archive."""


def archive(assignment: Assignment, visibility: str = "visible", more: Iterable[str] = ()) -> bytes:
    """A zip archive that grades the assignment, byte for byte the same each time.

    `more` names distributions that the notebook needs and does not import by name. Raises CourseError.
    """
    if not sys.platform.startswith("linux"):
        raise CourseError(
            "The archive lists the packages installed here and runs on Linux: create it on Linux."
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for path, content in sorted(packed_files(assignment, visibility, more).items()):
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix
            entry.external_attr = (0o100755 if path in EXECUTABLE else 0o100644) << 16
            file.writestr(entry, content)
    return buffer.getvalue()


def packed_files(assignment: Assignment, visibility: str, more: Iterable[str] = ()) -> dict[str, bytes]:
    """Path and content of every file of the archive."""
    notebooks = assignment.notebooks
    packages = {name: package_folder(name) for name in assignment.settings.packages}
    course = dict(_of_course(assignment, packages))
    own = {name: folder for name, folder in packages.items() if "." not in name}
    written = [assignment.source.parent.glob("*.py"), *([one.source, one.release] for one in notebooks)]
    ahead = [name for one in notebooks for name in settings_for(one, "bwrap").modules]
    needed, _ = imported((path for paths in written for path in paths), own, ahead)
    hidden: tuple[str, ...] = ()
    if not assignment.settings.show_hidden_tests:
        of_course = ClearHiddenTests(config=own_settings(assignment.root))
        hidden = of_course.begin_test_delimeter, of_course.end_test_delimeter
    told = {"assignment": assignment.name, "visibility": visibility, "hidden": hidden}
    assert told.keys() == Packed.__dataclass_fields__.keys()
    files = {
        "package.json": json.dumps(told, indent=1).encode(),
        "requirements.txt": "".join(f"{line}\n" for line in pins(needed - {"autograder"}, more)).encode(),
        f"course/{FILE}": _settings(assignment).encode(),
        **{f"course/{path}": content for path, content in course.items()},
        **{f"tool/autograder/{path}": content for path, content in _below(AUTOGRADER) if _of_tool(path)},
        **{f"registered/{one.file}": notebook_bytes(registered_release(one)) for one in notebooks},
    }
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    for name in EXECUTABLE:
        files[name] = template(name, PYTHON=python).encode()
    return files


def template(name: str, **values: str) -> str:
    """A file of `autograder/templates/package` with these values in place of @NAME@."""
    text = (resources("autograder") / "templates" / "package" / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _of_course(assignment: Assignment, packages: Mapping[str, Path]) -> Iterator[tuple[str, bytes]]:
    """What the course has for this assignment: no other one, no gradebook, no hand-in, and no key."""
    root, source = assignment.root, assignment.source.parent
    made = {one.instructor_notebook for one in assignment.notebooks} - {
        one.source for one in assignment.notebooks
    }
    for path, content in _below(source):
        if source / path not in made:
            yield f"{source.relative_to(root).as_posix()}/{path}", content
    for one in assignment.notebooks:
        one.read_release()  # or else it says what is wrong with it
        yield one.release.relative_to(root).as_posix(), one.release.read_bytes()
    folder = assignment.notebooks[0].release.parent.relative_to(root).as_posix()
    for name, file in assignment.notebooks[0].handed_out.items():
        yield f"{folder}/{name}", file.read_bytes()
    for name, place in packages.items():
        for path, content in _below(place):
            yield f"{'/'.join(name.split('.'))}/{path}", content
    for name in assignment.settings.readable:
        for path, content in _below(root / name):
            yield f"{name}/{path}", content


def _of_tool(path: str) -> bool:
    return not path.startswith("templates/")


def _settings(assignment: Assignment) -> str:
    """An nbgrader_config.py with what counts for grading. The course's own may hold the address of its gradebook."""
    course, config = assignment.settings, own_settings(assignment.root)
    values: dict[str, Any] = {"CourseDirectory.course_id": course.course_id}
    values |= {
        f"CourseDirectory.{step}_directory": getattr(course, f"{step}_directory")
        for step in STEPS
        if step in ("source", "release")
    }
    for name in SETTINGS:
        value = getattr(course, name)
        values[f"Autograder.{name}"] = list(value) if isinstance(value, tuple) else value
    values |= {f"Jail.{name}": value for name, value in config.get("Jail", {}).items()}
    lines = ["c = get_config()  # noqa: F821"]
    for name, value in values.items():
        assert ast.literal_eval(repr(value)) == value
        lines.append(f"c.{name} = {value!r}")
    return "\n".join([*lines, ""])


def _below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The regular files in a folder, but hidden ones and Python's caches, by their path in it. Raises CourseError."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is missing: nbgrader_config.py says that notebooks need it.")
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        kept = not any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if kept and path.is_file() and not path.is_symlink():
            yield inside.as_posix(), path.read_bytes()
