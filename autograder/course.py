"""Where things are in a course folder, and which exercises an assignment has."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, reload
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.exercise import Exercise


@dataclass(frozen=True)
class Assignment:
    """One notebook of the course, such as 02_attention."""

    root: Path
    name: str

    @property
    def source(self) -> Path:
        return self.root / "solutions" / self.name / f"{self.name}.py"

    @property
    def instructor_notebook(self) -> Path:
        return self.source.with_suffix(".ipynb")

    @property
    def release(self) -> Path:
        return self.root / "notebooks" / self.name / f"{self.name}.ipynb"

    @property
    def key(self) -> Path:
        return self.root / "coursekit" / "keys" / f"{self.name}.safetensors"

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """The exercises in the order of the notebook, by name."""
        topic = self.name.partition("_")[2]
        try:
            module = _as_it_is_now(f"autograder.exercises.{topic}")
        except ModuleNotFoundError as error:
            if error.name != f"autograder.exercises.{topic}":
                raise
            raise CourseError(
                f"{self.name} has no exercises: autograder/exercises/{topic}.py is missing."
            ) from None
        return {exercise.name: exercise for exercise in module.EXERCISES}

    @cached_property
    def by_check_id(self) -> dict[str, Exercise]:
        return {exercise.check_id: exercise for exercise in self.exercises.values()}

    def read_release(self) -> NotebookNode:
        if not self.release.exists():
            raise CourseError(f"{self.release} is missing: run `make notebooks` first.")
        return nbformat.read(self.release, as_version=4)


_read: dict[str, int] = {}


def _as_it_is_now(name: str) -> ModuleType:
    """A module, read again if its file has changed: JupyterLab's server outlives many edits."""
    module = import_module(name)
    changed = Path(module.__file__).stat().st_mtime_ns
    if _read.setdefault(name, changed) != changed:
        _read[name] = changed
        module = reload(module)
    return module


def course_root(start: Path | None = None) -> Path:
    """The course folder: the nearest one, from `start` upwards, that holds nbgrader_config.py."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "nbgrader_config.py").exists():
            return folder
    raise CourseError(f"{start} is not inside a course: no nbgrader_config.py here or above.")


def assignment(root: Path, name: str) -> Assignment:
    """The assignment of that name, or a CourseError that lists those there are."""
    found = Assignment(root, name)
    if not found.source.exists():
        names = [other.name for other in assignments(root)]
        raise CourseError(f"There is no assignment {name!r}. There are: {', '.join(names) or 'none'}.")
    return found


def assignments(root: Path) -> list[Assignment]:
    """All assignments, in order."""
    return [
        Assignment(root, path.parent.name)
        for path in sorted(root.glob("solutions/[0-9]*_*/*.py"))
        if path.stem == path.parent.name
    ]
