"""Where things are in a course folder, and which exercises an assignment has."""

import copy
import hashlib
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from unicodedata import normalize

import nbformat
from nbformat import NotebookNode

from autograder.checks.answer_key import SUFFIX as KEY_SUFFIX
from autograder.checks.headings import headings
from autograder.checks.lent_file import SUFFIX as LENT_SUFFIX
from autograder.errors import CourseError
from autograder.exercise import Exercise
from autograder.settings import FILE, CourseSettings, course_settings
from autograder.source import CELL, answer_cells, grade_id, is_grade, is_solution, promised_kinds, read_source

EXERCISES = "autograder_exercises"
"""How the packages are called that folders with exercises become."""

CALLS_CHECK = re.compile(r"""^[ \t]*check\(\s*["']""", re.MULTILINE)
MOST_HANDED_OUT = 32 << 20
"""Bytes of the files that go into each jail beside the notebook."""


@dataclass(frozen=True)
class Assignment:
    """One notebook of the course: an assignment such as 02_attention, or a part of one that has several notebooks.

    name  of the assignment, which its folder has
    part  the notebook, where the folder holds several; otherwise ""
    """

    root: Path
    name: str
    part: str = ""

    def __reduce__(self) -> tuple[type, tuple[Path, str, str]]:
        """Another process reads the exercises anew: it cannot import the module that they were read into here."""
        return Assignment, (self.root, self.name, self.part)

    @cached_property
    def notebook(self) -> str:
        """What nbgrader calls the notebook: its file's name without the suffix. Raises CourseError where there are several."""
        if self.part:
            return self.part
        there = notebook_names(self.root, self.name)
        if len(there) > 1:
            raise CourseError(f"{self.name} has several notebooks ({', '.join(there)}): name one of them.")
        return there[0] if there else self.name

    @property
    def notebooks(self) -> list["Assignment"]:
        """All notebooks of the assignment, of which this is one."""
        return notebooks_of(self.root, self.name) or [self]

    @property
    def called(self) -> str:
        """The name shown to people: that of the assignment, followed by that of the notebook if there are several."""
        return f"{self.name}/{self.part}" if self.part else self.name

    @property
    def argument(self) -> str:
        """The assignment's name as one word for a shell, for commands that are printed to be copied."""
        return shlex.quote(self.name)

    @property
    def file(self) -> str:
        """The name of the notebook's file, in the release and in every hand-in."""
        return f"{self.notebook}.ipynb"

    @property
    def settings(self) -> CourseSettings:
        """Those of its course. Raises CourseError for one that does not exist or is of another kind."""
        return course_settings(self.root)

    @property
    def source(self) -> Path:
        """What the instructor edits: a percent script, or without one a notebook, as nbgrader has it."""
        folder = self.root / self.settings.source_directory / self.name
        script, notebook = folder / f"{self.notebook}.py", folder / self.file
        return notebook if notebook.exists() and script != _script(folder) else script

    @property
    def exercises_file(self) -> Path:
        """The inputs, mistakes, right answers and hints of its exercises."""
        return self.source.with_name("exercises.py")

    @property
    def instructor_notebook(self) -> Path:
        """The source as a notebook, with solutions: made from the script, or the source itself where that is a notebook."""
        return self.source.with_suffix(".ipynb")

    @property
    def release(self) -> Path:
        """The notebook that students get, without solutions; nbgrader hands out the folder that it is in."""
        return self.root / self.settings.release_directory / self.name / self.file

    @property
    def key(self) -> Path:
        """The answer key, beside the release: nbgrader hands it out with the notebook."""
        return self.release.with_suffix(KEY_SUFFIX)

    @property
    def lent(self) -> Path:
        """What is lent of it, beside the release and encrypted, where the course lends."""
        return self.release.with_suffix(LENT_SUFFIX)

    @property
    def submitted(self) -> Path:
        """Where hand-ins lie, as STUDENT/NAME, of this assignment and all others."""
        return self.root / self.settings.submitted_directory

    def autograded(self, student: str) -> Path:
        """The folder of the notebook with its verdicts."""
        return self.root / self.settings.autograded_directory / student / self.name

    def feedback(self, student: str) -> Path:
        """The folder of the page that the student gets."""
        return self.root / self.settings.feedback_directory / student / self.name

    def within(self, name: str) -> str:
        """A name from the notebook as it is shown to people, preceded by the notebook's if the assignment has several."""
        return f"{self.part}: {name}" if self.part else name

    def kept(self, kind: str) -> Path:
        """The folder of this kind of record for the notebook, with one file per student."""
        folder = self.root / ".autograder" / kind / self.name
        return folder if self.notebook == self.name else folder / self.notebook

    @property
    def handed_out(self) -> dict[str, Path]:
        """The files that students get beside the notebook, such as tables, by their path there.

        Raises CourseError where they are too many bytes to go into each jail.
        """
        folder = self.release.parent
        beside = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
        files = {path.relative_to(folder).as_posix(): path for path in beside if _goes_along(path, folder)}
        size = sum(path.stat().st_size for path in files.values())
        if size > MOST_HANDED_OUT:
            raise CourseError(
                f"The files next to {self.release} take up {size >> 20} MB, but a jail accepts at most "
                f"{MOST_HANDED_OUT >> 20} MB. Put large ones into a folder of the course that c.Autograder.readable names."
            )
        return files

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """The exercises in the order of the notebook, by name."""
        if not self.exercises_file.exists():
            return {}
        source = self.source.read_text(encoding="utf-8") if self.source.exists() else ""
        exercises = named_exercises(
            vars(_as_it_is_now(self.exercises_file)), source, self.name.partition("_")[2]
        )
        exercises.sort(key=lambda exercise: source.find(f'"{exercise.check_id}"'))
        if self.part:  # the file has those of all notebooks
            exercises = [exercise for exercise in exercises if f'"{exercise.check_id}"' in source]
        arrays, answers = self.settings.arrays, answer_cells(source, self.source.suffix)
        names = {exercise.name for exercise in exercises}

        def as_it_is_here(exercise: Exercise) -> Exercise:
            kinds = promised_kinds(answers.get(exercise.solution_id, ""))
            uses = tuple(name for name in exercise.uses if not self.part or name in names)
            return replace(exercise, rule=replace(exercise.rule, arrays=arrays, kinds=kinds), uses=uses)

        return {exercise.name: as_it_is_here(exercise) for exercise in exercises}

    @cached_property
    def by_check_id(self) -> dict[str, Exercise]:
        """The exercises by the grade ids of their check cells, such as attention-softmax-check."""
        return {exercise.check_id: exercise for exercise in self.exercises.values()}

    @cached_property
    def titles(self) -> dict[str, str]:
        """{grade id: title shown to people}: the heading in the release for a manually graded cell, and the name of the
        exercise for an answer and its check.
        """
        own = {name: name.rpartition(".")[2] for name in self.exercises}
        times = Counter(own.values())
        titles = headings(read_source(self.release).cells) if self.release.exists() else {}
        for name, exercise in self.exercises.items():
            title = own[name] if times[own[name]] == 1 else name
            titles |= {exercise.solution_id: title, exercise.check_id: title}
        return titles

    def title(self, name: str) -> str:
        """The title that is shown to people for a grade id, or the id itself if the cell has no title."""
        return self.titles.get(name, name)

    def read_release(self) -> NotebookNode:
        """A copy of the release, which may be changed. Raises CourseError where it is missing or a check has no exercise."""
        if not self.release.exists():
            raise CourseError(f"{self.release} is missing: run `autograder build` first.")
        found = self.release.stat()
        notebook = copy.deepcopy(_released(self.release, found.st_mtime_ns, found.st_size))
        self.require_checks(notebook, self.release)
        return notebook

    def require_checks(self, notebook: NotebookNode, path: Path) -> None:
        """Raise CourseError for cells that look like checks of exercises that there are not: each would pass."""
        unknown = [grade_id(cell) for cell in self.test_cells(notebook) if _looks_like_a_check(cell)]
        if unknown:
            raise CourseError(
                f"{path}: no exercise judges the graded code cell{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}. "
                f"The check of the exercise topic.name has the grade id topic-name-check and is described in "
                f"{self.exercises_file.relative_to(self.root)}. An ordinary nbgrader test cell has a different id and "
                "does not call check."
            )

    def test_cells(self, notebook: NotebookNode) -> list[NotebookNode]:
        """The cells that nbgrader grades by running them: asserts and hidden tests, and no check of ours."""
        return [cell for cell in notebook.cells if self.is_test(cell)]

    def is_test(self, cell: NotebookNode) -> bool:
        """Whether nbgrader grades the cell by running it: graded code that is neither an answer nor one of our checks."""
        graded = cell["cell_type"] == "code" and is_grade(cell) and not is_solution(cell)
        return graded and grade_id(cell) not in self.by_check_id


@lru_cache(maxsize=2)
def _released(path: Path, changed: int, size: int) -> NotebookNode:
    """A notebook as it was then: one run asks for a release several times."""
    return nbformat.read(path, as_version=4)


def _looks_like_a_check(cell: NotebookNode) -> bool:
    return grade_id(cell).endswith("-check") or bool(CALLS_CHECK.search(cell.source))


def _goes_along(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    return not hidden and path.suffix not in (".ipynb", KEY_SUFFIX, LENT_SUFFIX)


CHECK_ID = re.compile(r'"(\w+)-(\w+)-check"')
"""The grade id of a check cell, as it stands in a source: the topic, and the exercise's own name."""


def named_exercises(variables: Mapping[str, object], source: str, topic: str) -> list[Exercise]:
    """The exercises among a module's variables, each with the name of its check in the notebook's source.

    Where the source has no such check, the name begins with `topic`. Raises CourseError where it has more than one.
    """
    topics: dict[str, set[str]] = {}
    for checked_topic, exercise in CHECK_ID.findall(source):
        topics.setdefault(exercise, set()).add(checked_topic)
    exercises: dict[str, tuple[Exercise, str]] = {}
    for variable, value in variables.items():
        if not isinstance(value, Exercise) or any(value is earlier for earlier, _ in exercises.values()):
            continue
        candidates = topics.get(variable, {topic})
        if not value.name and len(candidates) > 1:
            names = " and ".join(f"{candidate}.{variable}" for candidate in sorted(candidates))
            raise CourseError(f"The exercise {variable} could be any of {names}: choose one with name=….")
        exercises[variable] = value, value.name or f"{min(candidates)}.{variable}"
    return [replace(exercise, name=name) for exercise, name in exercises.values()]


_read: dict[Path, dict[Path, int]] = {}
"""When the files of each folder of exercises were changed, as they were when they were read."""


def _as_it_is_now(file: Path) -> ModuleType:
    """The module in `file`, read again if a module of its folder has changed: JupyterLab's server outlives many edits.

    The folder becomes a package of its own, so that exercises may import what lies beside them: `from .more import X`.
    """
    folder = file.parent.resolve()
    package = f"{EXERCISES}_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    changed = {path: path.stat().st_mtime_ns for path in folder.glob("*.py")}
    if _read.get(folder) != changed:
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]  # a reload would keep the exercises that are no longer there
        holder = ModuleType(package)
        holder.__path__ = [str(folder)]
        sys.modules[package] = holder
        invalidate_caches()
    module = import_module(f"{package}.{file.stem}")
    _read[folder] = changed
    return module


def course_root(start: Path | None = None) -> Path:
    """The course folder: the nearest one, from `start` upwards, that holds nbgrader_config.py."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / FILE).exists():
            return folder
    raise CourseError(f"{start} is not inside a course: there is no {FILE} here or in a folder above.")


def find_assignment(root: Path, name: str) -> Assignment:
    """The assignment of that name, which has one notebook. Raises CourseError where there is none, or it has several."""
    first, *others = find_notebooks(root, name)
    if others:
        names = ", ".join(one.notebook for one in (first, *others))
        raise CourseError(
            f"{name} has several notebooks ({names}), but this command works only for assignments with a single one."
        )
    return first


def find_notebooks(root: Path, name: str) -> list[Assignment]:
    """The notebooks of the assignment of that name, or a CourseError that lists the assignments there are."""
    everything = assignments(root)
    called = {one.name for one in everything if composed(one.name) == composed(name)}
    found = [one for one in everything if one.name == (name if name in called else min(called, default=""))]
    if not found:
        names = dict.fromkeys(one.name for one in everything)
        raise CourseError(f"There is no assignment {name!r}. Available: {', '.join(names) or 'none'}.")
    return found


def composed(name: str) -> str:
    """The name in Unicode's composed form, because some systems write ü as one character and others as two."""
    return normalize("NFC", name)


def assignments(root: Path) -> list[Assignment]:
    """All assignments, in order; of one with several notebooks each."""
    source = root / course_settings(root).source_directory
    folders = sorted(
        {path.parent.name for kind in ("py", "ipynb") for path in source.glob(f"[!.]*/*.{kind}")}
    )
    return [notebook for name in folders for notebook in notebooks_of(root, name)]


def notebooks_of(root: Path, name: str) -> list[Assignment]:
    """The notebooks of an assignment, in order; none where its source is not there."""
    there = notebook_names(root, name)
    return [Assignment(root, name, notebook if len(there) > 1 else "") for notebook in there]


def notebook_of(root: Path, name: str, notebook: str) -> Assignment:
    """What nbgrader calls by these two names."""
    return Assignment(root, name, notebook if len(notebook_names(root, name)) > 1 else "")


def notebook_names(root: Path, name: str) -> list[str]:
    """The notebooks of an assignment, in order: all that its source folder holds, or that of its script alone."""
    folder = root / course_settings(root).source_directory / name
    if _script(folder):
        return [name]
    return sorted(path.stem for path in folder.glob("*.ipynb") if not path.name.startswith("."))


def _script(folder: Path) -> Path | None:
    """The percent script that an assignment is made from; beside notebooks, a file of that name may be a module."""
    script = folder / f"{folder.name}.py"
    if not script.is_file():
        return None
    is_alone = not any(folder.glob("*.ipynb"))
    return script if is_alone or CELL.search(script.read_text(encoding="utf-8")) else None
