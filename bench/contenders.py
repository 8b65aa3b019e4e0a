"""What is measured, each on the same submissions. All times are of whole commands, as one types them."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.exercise import Exercise
from autograder.jail.outside import jobs
from autograder.source import code_cells, grade_id, is_demo
from autograder.untrusted.cells import parse_cells
from autograder.untrusted.placing import restore
from bench import classic, measure
from bench.measure import Folders, Measured
from bench.submissions import NAME, ROOT, Texts, Writer, hand_in, make_course

BIN = Path(sys.executable).parent
OTTER = ROOT / "build" / "bench" / "otter"  # an environment of its own
OTTER_VERSION = "otter-grader==7.*"
NAME_OF_OTTER_ARCHIVE = "autograder.zip"


@dataclass(frozen=True)
class Notebook:
    """One of the two that are graded: the same exercises, other imports."""

    name: str
    first_cell: str


NOTEBOOKS = (
    Notebook("torch", ""),
    Notebook("transformers", "from transformers import BertModel"),
)


class Bench:
    """Prepares folders under `place` and measures commands in them."""

    def __init__(self, place: Path, notebook: Notebook):
        self.folders = Folders(place)
        self.notebook = notebook
        self.assignment = make_course(self.folders.new("course"))
        self.writer = Writer(self.assignment)

    def ours(self, count: int, workers: int) -> Measured:
        """`autograder grade` on a course that was never graded."""
        return self._graded("ours", count, workers, [str(BIN / "autograder")])

    def own(self, count: int, workers: int = 2) -> dict[str, float]:
        """What grading so many costs the command itself: {"cpu": seconds, "runs": of notebooks}."""
        program = [sys.executable, "-m", "bench.own"]
        done = self._graded("own", count, workers, program, PYTHONPATH=str(ROOT))
        return json.loads(done.output.strip().splitlines()[-1])

    def _graded(self, name: str, count: int, workers: int, program: list[str], **variables: str) -> Measured:
        """`program grade` of so many, in a new course in the folder `name`."""
        course = make_course(self.folders.new(name))
        hand_in(course.root, NAME, course.release, self.writer.class_of(count), self.notebook.first_cell)
        done = measure.run([*program, "grade", NAME, "--workers", str(workers)], course.root, **variables)
        assert count_graded(course.root) == count, done.output
        return done

    def nbgrader(self, count: int) -> Measured:
        """`nbgrader autograde` as shipped."""
        release = self._nbgrader_s_release()
        folder = self.folders.latest("nbgrader")
        hand_in(folder, NAME, release, self.writer.class_of(count))
        done = measure.run([str(BIN / "nbgrader"), "autograde", NAME], folder)
        assert count_graded(folder) == count, done.output
        return done

    def otter(self, count: int) -> list[Measured]:
        """`otter run`, once for each submission: it takes one."""
        folder = self.folders.new("otter")
        classic.otter_tests(folder / "tests", self.assignment, self._classic)
        otter_generate(folder)
        release = self._nbgrader_s_release()
        hand_in(folder, NAME, release, self.writer.class_of(count))
        checks = {exercise.check_id for exercise in self.exercises}
        measured = []
        for path in sorted(folder.glob("submitted/*/*/*.ipynb")):
            own = folder / "one" / path.parts[-3]
            own.mkdir(parents=True)
            (own / f"{NAME}.ipynb").write_text(classic.without_tests(json.loads(path.read_text()), checks))
            measured.append(otter_run(folder, own / f"{NAME}.ipynb"))
        return measured

    def floor(self, count: int) -> dict[str, list[tuple[float, float]]]:
        """Executing the cells in the jail, and in a plain fork: {"jail" or "floor": [(wall, cpu)]}."""
        folder = self.folders.new("jobs")
        cases = {exercise.name: exercise.draw(0) for exercise in self.exercises}
        for texts in self.writer.class_of(count):
            job = jobs.make_job(self._steps(texts), cases, self.assignment.settings.arrays)
            (folder / f"{texts.student}.job").write_bytes(job)
        done = run_or_raise([sys.executable, "-m", "bench.floor", str(folder)], ROOT)
        return json.loads(done)

    def verdicts_agree(self) -> tuple[int, int]:
        """Of how many exercises nbgrader's tests and our checks say the same, and of how many in all."""
        theirs, ours = (_passed(self.folders.latest(name)) for name in ("nbgrader", "ours"))
        both = theirs.keys() & ours.keys()
        return sum(theirs[where] == ours[where] for where in both), len(both)

    @property
    def exercises(self) -> list[Exercise]:
        """The exercises of the notebook that is measured."""
        return list(self.assignment.exercises.values())

    @cached_property
    def _classic(self):
        return classic.source_notebook(self.assignment, self.notebook.first_cell)

    def _steps(self, texts: Texts) -> list[dict[str, str]]:
        """The cells that the engine runs: all but our own demonstrations."""
        release = self.assignment.read_release()
        notebook = restore(parse_cells(self.assignment.release.read_bytes()).cells, release).notebook
        exercises = {exercise.check_id: exercise.name for exercise in self.exercises}
        steps = [jobs.cell(self.notebook.first_cell)] if self.notebook.first_cell else []
        for cell in code_cells(notebook):
            if not is_demo(cell):
                name = grade_id(cell)
                steps.append(jobs.cell(texts.cells.get(name, cell.source), exercises.get(name, "")))
        return steps

    def _nbgrader_s_release(self) -> Path:
        """The student's notebook as nbgrader makes it, in a course folder made anew."""
        folder = self.folders.new("nbgrader")
        classic.nbgrader_course(folder, self._classic, NAME)
        run_or_raise([BIN / "nbgrader", "generate_assignment", NAME], folder)
        return folder / "release" / NAME / f"{NAME}.ipynb"


def otter_generate(folder: Path, *beside: str) -> None:
    """Pack the tests in `folder`/tests, and the files `beside` them, for `otter_run`."""
    options = ["generate", "-t", "tests", "--no-config", "--no-requirements", "--no-environment"]
    run_or_raise([OTTER / "bin" / "otter", *options, *beside], folder)


def otter_run(folder: Path, notebook: Path) -> Measured:
    """Grade one notebook where it lies, with the tests packed in `folder`."""
    command = [str(OTTER / "bin" / "otter"), "run", "--no-logo", "-a", str(folder / NAME_OF_OTTER_ARCHIVE)]
    return measure.run([*command, notebook.name], notebook.parent)


def make_otter_environment() -> str:
    """Install otter beside the course's own packages, once. Returns its version."""
    if not (OTTER / "bin" / "otter").exists():
        shutil.rmtree(OTTER, ignore_errors=True)
        run_or_raise([sys.executable, "-m", "venv", OTTER], ROOT)
        run_or_raise([OTTER / "bin" / "python", "-m", "pip", "install", "-q", OTTER_VERSION], ROOT)
        # torch, transformers and the kernel are those of the course: the same libraries for all.
        packages = next((OTTER / "lib").glob("python*/site-packages"))
        ours = next((BIN.parent / "lib").glob("python*/site-packages"))
        (packages / "course.pth").write_text(f"{ours}\n")
    code = "from importlib.metadata import version; print(version('otter-grader'))"
    return run_or_raise([OTTER / "bin" / "python", "-c", code], ROOT).strip()


def run_or_raise(command: list[object], cwd: Path) -> str:
    """Of what a command says, what it writes to stdout."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=measure.environment(), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def count_graded(course: Path) -> int:
    """How many submissions the course's gradebook holds."""
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        return database.execute("SELECT COUNT(*) FROM submitted_notebook").fetchone()[0]


def _passed(course: Path) -> dict[tuple[str, str], bool]:
    """{(student, check): whether it earned points}."""
    return {where: bool(score) for where, score in read_scores(course).items() if where[1].endswith("-check")}


def read_scores(course: Path) -> dict[tuple[str, str], float]:
    """{(student, cell): its automatic score}; empty for a course that was not graded."""
    if not (course / "gradebook.db").exists():
        return {}
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        rows = database.execute(
            "SELECT student_id, base_cell.name, auto_score FROM grade "
            "JOIN base_cell ON base_cell.id = grade.cell_id "
            "JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id "
            "JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id "
            "WHERE auto_score IS NOT NULL"
        )
        return {(student, name): score for student, name, score in rows}
