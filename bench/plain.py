"""Ordinary nbgrader assignments: assert cells, hidden tests, partial credit, and nothing of ours in them."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_solution

from autograder.authoring import builder
from autograder.course import Assignment
from autograder.generating import generate
from autograder.grading.reference import own_server
from autograder.source import code_cells, grade_id, read_source
from bench import classic, measure
from bench.contenders import BIN, count_graded, otter_generate, otter_run, read_scores, run_or_raise
from bench.measure import Folders, Measured
from bench.submissions import ROOT

COURSE = ROOT / "tests" / "plain" / "course"
CONFIGURATION = "c = get_config()\nc.CourseDirectory.course_id = 'plain'\n"


@dataclass(frozen=True)
class Ordinary:
    """An assignment in `COURSE`, and what students write into its cells: some of it right, some wrong."""

    name: str
    library: str  # that its first cell imports, in words
    answers: Mapping[str, Sequence[str]]


SURVEY = Ordinary(
    "survey",
    "pandas",
    {
        "means": (
            'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].mean().sort_values(ascending=False)',
            'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].mean()',
            'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].median()',
            "def mean_by_town(survey):\n    return survey.means()",
        ),
        "missing": (
            "def share_missing(survey):\n    return survey.isna().mean().to_dict()",
            "def share_missing(survey):\n    return {name: survey[name].isna().mean() for name in survey}",
            "def share_missing(survey):\n    return {'age': 0.25}",
        ),
    },
)
SQUARES = Ordinary(
    "squares",
    "numpy",
    {
        "squares": (
            "def squares(n):\n    if n < 1:\n        raise ValueError('n must be 1 or more')\n    return np.arange(1, n + 1) ** 2",
            "def squares(n):\n    return np.arange(1, n + 1) ** 2",
            "def squares(n):\n    return np.arange(n) ** 2",
            "def squares(n):\n    return [k * k for k in range(1, n + 1)]",
        ),
        "standardise": (
            "def standardise(table):\n    return (table - table.mean(axis=0)) / table.std(axis=0)",
            "def standardise(table):\n    return (table - table.mean()) / table.std()",
            "def standardise(table):\n    return table - table.mean(axis=0)",
        ),
    },
)
PRIMES = Ordinary(
    "primes",
    "no library",
    {
        "is-prime": (
            "def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, n))",
            "def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))",
            "def is_prime(n):\n    return all(n % d for d in range(2, n))",
            "def is_prime(n):\n    return n % 2 == 1",
        ),
        "first": (
            "def first_primes(count):\n    return [n for n in range(2, 13 * count) if is_prime(n)][:count]",
            "def first_primes(count):\n    return [n for n in range(2, count) if is_prime(n)]",
            "def first_primes(count):\n    pass",
        ),
    },
)
SMALL_CLASSES = SURVEY, SQUARES, PRIMES


class Plain:
    """The folders of the contenders under `place`, with the same submissions of one assignment in each."""

    def __init__(self, place: Path, ordinary: Ordinary = SURVEY):
        self.folders = Folders(place)
        self.ordinary = ordinary
        self.name = ordinary.name

    def ours(self, count: int) -> Measured:
        """`autograder grade` in a course that was never graded."""
        course = self._course("ours")
        assignment = Assignment(course, self.name)
        with own_server(course) as server:
            builder.put(builder.products(server, assignment, generate(assignment)))
        self._hand_in(course, assignment.read_release(), count)
        done = measure.run([str(BIN / "autograder"), "grade", self.name, "--workers", "2"], course)
        assert count_graded(course) == count, done.output
        return done

    def nbgrader(self, count: int) -> Measured:
        """`nbgrader autograde` on a class of `count` submissions."""
        release = self._nbgrader_s_release()
        course = self.folders.latest("nbgrader")
        self._hand_in(course, release, count)
        done = measure.run([str(BIN / "nbgrader"), "autograde", self.name], course)
        assert count_graded(course) == count, done.output
        return done

    def otter(self, count: int) -> list[Measured]:
        """`otter run`, once for each submission, with nbgrader's tests as files of its own."""
        folder = self._course("otter")
        release = self._nbgrader_s_release()
        source = read_source(COURSE / "source" / self.name / f"{self.name}.ipynb")
        tests = {
            grade_id(cell): cell
            for cell in code_cells(source)
            if cell.metadata.get("nbgrader", {}).get("grade") and grade_id(cell)
        }
        (folder / "tests").mkdir()
        for name, cell in tests.items():
            text = classic.test_file(name, cell.source)
            (folder / "tests" / f"{name.replace('-', '_')}.py").write_text(text)
        beside = [
            path.name
            for path in sorted((folder / "source" / self.name).glob("*.*"))
            if path.suffix != ".ipynb"
        ]
        for name in beside:
            shutil.copy(folder / "source" / self.name / name, folder)
        otter_generate(folder, *beside)
        measured = []
        for student, notebook in self._notebooks(release, count):
            own = folder / "one" / student
            own.mkdir(parents=True)
            for name in beside:
                shutil.copy(folder / name, own)
            (own / f"{self.name}.ipynb").write_text(
                classic.without_tests(json.loads(nbformat.writes(notebook)), {*tests})
            )
            measured.append(otter_run(folder, own / f"{self.name}.ipynb"))
        return measured

    def scores_agree(self) -> tuple[int, int]:
        """Of how many test cells nbgrader and we give the same points, and of how many in all."""
        theirs, ours = (read_scores(self.folders.latest(name)) for name in ("nbgrader", "ours"))
        both = theirs.keys() & ours.keys()
        return sum(theirs[where] == ours[where] for where in both), len(both)

    def _nbgrader_s_release(self) -> NotebookNode:
        """The student's notebook as nbgrader makes it, in a course folder made anew."""
        course = self._course("nbgrader")
        run_or_raise([BIN / "nbgrader", "generate_assignment", self.name], course)
        return nbformat.read(course / "release" / self.name / f"{self.name}.ipynb", 4)

    def _course(self, name: str) -> Path:
        """A new course folder with the assignment's source."""
        folder = self.folders.new(name)
        unwanted = shutil.ignore_patterns("__pycache__", ".*")
        source = folder / "source" / self.name
        shutil.copytree(COURSE / "source" / self.name, source, ignore=unwanted)
        for script in source.glob(f"{self.name}.py"):  # nbgrader reads notebooks only
            nbformat.write(read_source(script), script.with_suffix(".ipynb"))
            script.unlink()
        (folder / "nbgrader_config.py").write_text(CONFIGURATION)
        return folder

    def _hand_in(self, course: Path, release: NotebookNode, count: int) -> None:
        for student, notebook in self._notebooks(release, count):
            folder = course / "submitted" / student / self.name
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{self.name}.ipynb")
            (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")

    def _notebooks(self, release: NotebookNode, count: int) -> Iterator[tuple[str, NotebookNode]]:
        """Students with what they hand in, no two alike."""
        for number in range(count):
            cells, turn = {}, number
            for name, answers in self.ordinary.answers.items():
                cells[name] = answers[turn % len(answers)]
                turn //= len(answers)
            notebook = nbformat.from_dict(release)
            for cell in notebook.cells:
                if text := cells.get(grade_id(cell)):
                    cell.source = f"{text}\n\n# student {number}"
                elif cell.cell_type == "markdown" and is_solution(cell):
                    cell.source = f"Student {number} says that from four lines nothing follows."
            yield f"student-{number:05}", notebook
