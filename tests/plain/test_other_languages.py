"""Notebooks in another language are built, graded and shown as those in Python, and each cell has the score that nbgrader gives."""

import shutil
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import Assignment
from autograder.errors import KernelFailed
from autograder.gradebook.feedback import page_of
from autograder.kernels import installed
from tests.autograder.commands import command, refusal
from tests.autograder.road import hand_in, with_cell
from tests.plain.hand_ins import right_notebook
from tests.plain.test_against_nbgrader import nbgrader, scores
from tests.toy_kernel import install

pytestmark = pytest.mark.slow
NAME = "words"
SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "words"
c.ClearSolutions.code_stub = {"toy": "# YOUR CODE HERE\\nstop not implemented", "R": "# YOUR CODE HERE\\nstop()"}
c.Execute.timeout = c.Jail.cell_seconds = 3
c.Execute.interrupt_on_timeout = True
c.Jail.memory_bytes = 500 << 20
"""
THROUGH_NBGRADER = """
from pathlib import Path
from autograder.nbgrader_plugin import configure
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
configure(c)
"""


@dataclass(frozen=True)
class Language:
    """What stands in the cells of the class, in one language."""

    kernel: str
    name: str
    double: str  # the answer to the first question
    test: str  # what students see of its test
    hidden: str
    triple: str
    test_of_triple: str
    wrong: str  # to the first question, as its hidden test alone notices
    loops: str
    eats: str
    floods: str
    why: str  # the reason that a wrong answer is given


TOY = Language(
    kernel="toy",
    name="toy",
    double="set double 8\nset negative -8",
    test="expect double 8",
    hidden="expect negative -8",
    triple="set triple 12",
    test_of_triple="expect triple 12",
    wrong="set double 8\nset negative 8",
    loops="loop",
    eats="eat",
    floods="flood",
    why="Mismatch: negative is 8, not -8",
)
R = Language(
    kernel="ir",
    name="R",
    double="double <- function(x) x * 2",
    test="stopifnot(double(4) == 8)",
    hidden="stopifnot(double(-4) == -8)",
    triple="triple <- function(x) x * 3",
    test_of_triple="library(stats)\nstopifnot(triple(4) == 12)\nprint(triple(4))",
    wrong="double <- function(x) abs(x) * 2",
    loops="double <- function(x) while (TRUE) {}\ndouble(1)",
    eats="kept <- list()\nwhile (TRUE) try(kept[[length(kept) + 1]] <- numeric(1e7), silent = TRUE)",
    floods="while (TRUE) cat(strrep('spam ', 1000))",
    why="Error: double(-4) == -8 is not TRUE",
)
NO_R = pytest.mark.skipif(
    "R" not in installed().values(), reason="R's kernel is not installed: apt-get install r-cran-irkernel"
)


def source_of(language: Language) -> nbformat.NotebookNode:
    def cell(name: str, source: str, points: int = 0, make=new_code_cell, solution: bool = False):
        marks = {"grade_id": name, "solution": solution, "grade": points > 0, "locked": not solution}
        marks |= {"points": points} if points else {}
        return make(source, metadata={"nbgrader": {"schema_version": 3, "task": False, **marks}})

    def answer(text: str) -> str:
        return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"

    hidden = f"### BEGIN HIDDEN TESTS\n{language.hidden}\n### END HIDDEN TESTS"
    cells = [
        new_markdown_cell("# Words"),
        new_code_cell("# nothing to do"),
        cell("double", answer(language.double), solution=True),
        cell("double-test", f"{language.test}\n{hidden}", 2),
        cell("triple", answer(language.triple), solution=True),
        cell("triple-test", language.test_of_triple, 3),
        cell("why", "Because.", 1, new_markdown_cell, solution=True),
    ]
    kernel = {"name": language.kernel, "language": language.name, "display_name": language.name}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


@dataclass(frozen=True)
class Class:
    """A course with one assignment in the language, and what was handed in."""

    root: Path
    language: Language

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.root, NAME)

    def copy_to(self, folder: Path, *parts: str, settings: str = SETTINGS) -> None:
        """Some of the course's folders, with these settings."""
        for part in parts:
            shutil.copytree(self.root / part, folder / part)
        (folder / "nbgrader_config.py").write_text(settings)


@pytest.fixture(scope="module", params=[pytest.param(TOY, id="toy"), pytest.param(R, id="R", marks=NO_R)])
def of_class(request, tmp_path_factory):
    language, root = request.param, tmp_path_factory.mktemp("course")
    (root / "source" / NAME).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(SETTINGS)
    nbformat.write(source_of(language), root / "source" / NAME / f"{NAME}.ipynb")
    with pytest.MonkeyPatch.context() as monkeypatch:
        if language is TOY:
            monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path_factory.mktemp("jupyter"))))
        monkeypatch.chdir(root)
        one = Class(root, language)
        command("build", NAME)
        right = right_notebook(one.assignment)
        for student, text in {
            "right": language.double,
            "wrong": language.wrong,
            "loops": language.loops,
            "eats": language.eats,
            "floods": language.floods,
        }.items():
            hand_in(root, student, one.assignment, with_cell(right, "double", text))
        hand_in(root, "untouched", one.assignment, one.assignment.read_release())
        yield one


def test_the_release_holds_no_solution_and_no_hidden_test(of_class):
    released = of_class.assignment.release.read_text()
    assert "SOLUTION" not in released and "HIDDEN" not in released
    assert of_class.language.hidden not in released and of_class.language.test in released


@pytest.fixture(scope="module")
def graded(of_class) -> str:
    """What the command says that grades the class."""
    return command("grade", NAME, "--workers", "1")


def test_nothing_stops_the_run_and_each_has_what_was_earned(of_class, graded):
    found = scores(of_class.root, NAME)
    earned = {
        student: (found[student, "double-test"][0], found[student, "triple-test"][0]) for student, _ in found
    }
    assert earned == {
        "right": (2, 3),
        "wrong": (0, 3),
        "loops": (0, 3),
        "floods": (0, 3),
        "eats": (0, 0),
        "untouched": (0, 0),
    }
    assert found["right", "why"] == (None, True)
    assert "not run to the end" in graded and "eats" in graded.partition("not run to the end")[2]


def test_a_run_goes_on_where_it_was(of_class, graded):
    assert "Nothing to run" in command("grade", NAME, "right", "wrong")
    of_class.assignment.autograded("right").joinpath(f"{NAME}.ipynb").unlink()
    hand_in(of_class.root, "late", of_class.assignment, right_notebook(of_class.assignment))
    assert "1 of 2 submissions to be run" in command("grade", NAME, "right", "late")
    assert of_class.assignment.autograded("right").joinpath(f"{NAME}.ipynb").exists()
    shutil.rmtree(of_class.root / "submitted" / "late")


def test_feedback_says_why_and_shows_no_hidden_test(of_class, graded):
    command("feedback", NAME, "wrong", "loops")
    page = unescape(page_of(of_class.assignment, "wrong").read_text())
    assert of_class.language.why in page and "double-test</a>, 0 of 2" in page
    assert "There are hidden tests here" in page
    assert "the cell was stopped after 3 seconds" in unescape(
        page_of(of_class.assignment, "loops").read_text()
    )


def test_each_cell_has_the_score_that_nbgrader_gives(of_class, graded, tmp_path):
    """Of a memory bomb, and of endless output, nbgrader's own run would not end here."""
    of_class.copy_to(tmp_path, "source", "submitted")
    for student in ("eats", "floods"):
        shutil.rmtree(tmp_path / "submitted" / student)
    for step in ("generate_assignment", "autograde"):
        nbgrader(tmp_path, step, NAME)
    theirs, ours = scores(tmp_path, NAME), scores(of_class.root, NAME)
    assert {where: ours[where] for where in theirs} == theirs
    assert {student for student, _ in theirs} == {"right", "wrong", "loops", "untouched"}


def test_nbgraders_own_command_grades_through_the_jail(of_class, tmp_path):
    of_class.copy_to(tmp_path, "source", "release", "submitted", settings=SETTINGS + THROUGH_NBGRADER)
    done = nbgrader(tmp_path, "autograde", NAME, "--student", "wrong")
    assert "3 of 6 points" in done.stderr, done.stderr
    assert scores(tmp_path, NAME)["wrong", "triple-test"] == (3, False)


def test_without_the_kernel_nobody_is_graded_and_everything_else_works(of_class, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_JUPYTER_PATH", [])
    of_class.copy_to(tmp_path, "source", "submitted")
    monkeypatch.chdir(tmp_path)
    command("build", NAME)
    assert "is not installed here. Nothing was run" in refusal("grade", NAME)
    assert not (tmp_path / "autograded").exists() and (tmp_path / "submitted" / "right").exists()


def test_a_kernel_that_does_not_start_ends_the_run_and_costs_nobody_a_point(of_class, tmp_path, monkeypatch):
    if of_class.language is not TOY:
        pytest.skip("R's kernel is not ours to break")
    of_class.copy_to(tmp_path, "source", "release", "submitted")
    broken = install(tmp_path / "jupyter") / "kernels" / "toy" / "toy_kernel.py"
    broken.write_text("raise SystemExit('no toys here')")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["grade", NAME, "--workers", "1"])
    assert isinstance(done.exception, KernelFailed) and "It said: no toys here" in str(done.exception)
    assert not scores(tmp_path, NAME)
