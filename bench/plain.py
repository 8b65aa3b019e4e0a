"""An ordinary nbgrader assignment: pandas, assert cells, hidden tests, partial credit, and nothing of ours in it."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.authoring import builder
from autograder.course import Assignment
from autograder.generating import generate
from autograder.grading.reference import own_server
from autograder.source import code_cells, grade_id, read_source
from bench import classic, measure
from bench.contenders import BIN, count_graded, otter_generate, otter_run, read_scores, run_or_raise
from bench.measure import Folders, Measured
from bench.submissions import ROOT

NAME = "survey"
COURSE = ROOT / "tests" / "plain" / "course"
CONFIGURATION = "c = get_config()\nc.CourseDirectory.course_id = 'plain'\n"
MEANS = (
    'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].mean().sort_values(ascending=False)',
    'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].mean()',
    'def mean_by_town(survey):\n    return survey.groupby("town")["hours"].median()',
    "def mean_by_town(survey):\n    return survey.means()",
)
MISSING = (
    "def share_missing(survey):\n    return survey.isna().mean().to_dict()",
    "def share_missing(survey):\n    return {name: survey[name].isna().mean() for name in survey}",
    "def share_missing(survey):\n    return {'age': 0.25}",
)


class Plain:
    """The folders of the contenders under `place`, with the same submissions in each."""

    def __init__(self, place: Path):
        self.folders = Folders(place)

    def ours(self, count: int) -> Measured:
        """`autograder grade` in a course that was never graded."""
        course = self._course("ours")
        assignment = Assignment(course, NAME)
        with own_server(course) as server:
            builder.put(builder.products(server, assignment, generate(assignment)))
        self._hand_in(course, assignment.read_release(), count)
        done = measure.run([str(BIN / "autograder"), "grade", NAME, "--workers", "2"], course)
        assert count_graded(course) == count, done.output
        return done

    def nbgrader(self, count: int) -> Measured:
        """`nbgrader autograde` on a class of `count` submissions."""
        release = self._nbgrader_s_release()
        course = self.folders.latest("nbgrader")
        self._hand_in(course, release, count)
        done = measure.run([str(BIN / "nbgrader"), "autograde", NAME], course)
        assert count_graded(course) == count, done.output
        return done

    def otter(self, count: int) -> list[Measured]:
        """`otter run`, once for each submission, with nbgrader's tests as files of its own."""
        folder = self._course("otter")
        release = self._nbgrader_s_release()
        source = read_source(COURSE / "source" / NAME / f"{NAME}.ipynb")
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
            path.name for path in sorted((folder / "source" / NAME).glob("*.*")) if path.suffix != ".ipynb"
        ]
        for name in beside:
            shutil.copy(folder / "source" / NAME / name, folder)
        otter_generate(folder, *beside)
        measured = []
        for student, notebook in self._notebooks(release, count):
            own = folder / "one" / student
            own.mkdir(parents=True)
            for name in beside:
                shutil.copy(folder / name, own)
            (own / f"{NAME}.ipynb").write_text(
                classic.without_tests(json.loads(nbformat.writes(notebook)), {*tests})
            )
            measured.append(otter_run(folder, own / f"{NAME}.ipynb"))
        return measured

    def scores_agree(self) -> tuple[int, int]:
        """Of how many test cells nbgrader and we give the same points, and of how many in all."""
        theirs, ours = (read_scores(self.folders.latest(name)) for name in ("nbgrader", "ours"))
        both = theirs.keys() & ours.keys()
        return sum(theirs[where] == ours[where] for where in both), len(both)

    def _nbgrader_s_release(self) -> NotebookNode:
        """The student's notebook as nbgrader makes it, in a course folder made anew."""
        course = self._course("nbgrader")
        run_or_raise([BIN / "nbgrader", "generate_assignment", NAME], course)
        return nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", 4)

    def _course(self, name: str) -> Path:
        """A new course folder with the assignment's source."""
        folder = self.folders.new(name)
        unwanted = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(COURSE / "source" / NAME, folder / "source" / NAME, ignore=unwanted)
        (folder / "nbgrader_config.py").write_text(CONFIGURATION)
        return folder

    def _hand_in(self, course: Path, release: NotebookNode, count: int) -> None:
        for student, notebook in self._notebooks(release, count):
            folder = course / "submitted" / student / NAME
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{NAME}.ipynb")
            (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")

    def _notebooks(self, release: NotebookNode, count: int) -> Iterator[tuple[str, NotebookNode]]:
        """Students with what they hand in, no two alike."""
        for number in range(count):
            cells: Mapping[str, str] = {
                "means": MEANS[number % len(MEANS)],
                "missing": MISSING[number // len(MEANS) % len(MISSING)],
                "comment": f"Student {number} says that from four lines nothing follows.",
            }
            notebook = nbformat.from_dict(release)
            for cell in notebook.cells:
                if text := cells.get(grade_id(cell)):
                    cell.source = text if cell.cell_type == "markdown" else f"{text}\n\n# student {number}"
            yield f"student-{number:05}", notebook
