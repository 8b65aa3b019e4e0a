"""AUTOTEST lines, with nbgrader's own templates and a real kernel."""

import shutil
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import autotests
from autograder.authoring import builder
from autograder.autotests import EXAMPLE
from autograder.course import Assignment
from autograder.digests import rules_digest
from autograder.errors import CourseError
from autograder.generating import Generated, generate, require_current
from autograder.kernels import installed
from autograder.source import grade_id
from tests.autograder.commands import command
from tests.autograder.road import hand_in, with_cell
from tests.plain.test_against_nbgrader import scores
from tests.toy_kernel import install

pytestmark = pytest.mark.slow

ANSWER, TEST = ("a0", {"solution": True}), ("t0", {"grade": True, "locked": True, "points": 1})


def new_cell(source: str, name: str, of_nbgrader: dict):
    usual = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return new_code_cell(source, metadata={"nbgrader": usual | {"grade_id": name} | of_nbgrader})


def make(
    folder: Path, solution: str, test: str, kernel: str = "python3", more=(), language: str = "python"
) -> Assignment:
    """A course of one notebook: an answer and a test."""
    (folder / "source" / "hw").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'plain'\n")
    shutil.copy(EXAMPLE, folder)
    solution = f"### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
    notebook = new_notebook(cells=[new_cell(solution, *ANSWER), new_cell(test, *TEST), *more])
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": language}
    nbformat.write(notebook, folder / "source" / "hw" / "hw.ipynb")
    return Assignment(folder, "hw")


def made_test(made: Generated) -> str:
    (cell,) = [cell for cell in made.cells.cells if grade_id(cell) == "t0"]
    return cell.source


def test_they_are_built_graded_and_hidden_as_any_test(tmp_path, monkeypatch):
    lines = [
        "### AUTOTEST a",
        "### BEGIN HIDDEN TESTS",
        "### HASHED AUTOTEST a + 1; b",
        "### END HIDDEN TESTS",
    ]
    one = make(tmp_path, "a = 1\nb = 'two'", "\n".join(lines))
    monkeypatch.chdir(tmp_path)
    command("build", "hw")
    released = one.release.read_text()
    assert "value of a is not correct" in released and "AUTOTEST" not in released and "a + 1" not in released

    def no_kernel(folder):
        raise AssertionError("grading starts no kernel")

    monkeypatch.setattr(autotests, "run_kernel", no_kernel)
    for student, answer in {"right": "a = 1\nb = 'two'", "wrong": "a = 1\nb = 'three'"}.items():
        hand_in(tmp_path, student, one, with_cell(one.read_release(), "a0", answer))
    command("grade", "hw", "--workers", "1")
    assert {
        student: score for (student, cell), (score, _) in scores(tmp_path, "hw").items() if cell == "t0"
    } == {
        "right": 1,
        "wrong": 0,
    }


def test_other_templates_make_other_tests_to_grade_by(tmp_path):
    one = make(tmp_path, "a = 1", "### BEGIN HIDDEN TESTS\n### AUTOTEST a\n### END HIDDEN TESTS")
    builder.put(builder.products(None, one, generate(one)))
    before = rules_digest(one)
    (tmp_path / "autotests.yml").write_text(EXAMPLE.read_text().replace("is not", "is hardly"))
    assert rules_digest(one) != before


def test_templates_beside_the_source_count_before_those_of_the_course(tmp_path):
    one = make(tmp_path, "a = 1", "### AUTOTEST a")
    templates = EXAMPLE.read_text().replace("value of {{snippet}} is", "{{snippet}} seems")
    (one.source.parent / "autotests.yml").write_text(templates)
    assert "a seems not correct" in made_test(generate(one))


def test_a_solution_that_draws_numbers_keeps_the_tests_that_were_released(tmp_path):
    one = make(tmp_path, "import random\na = random.random()", "### AUTOTEST str(a)")
    made = generate(one)
    builder.put(builder.products(None, one, made))
    assert list(builder.stale(None, one)) == []
    assert made_test(require_current(one)) == made_test(made) != made_test(generate(one))


def test_a_release_of_nbgraders_own_is_graded_without_what_we_keep(tmp_path):
    """And sets of words, whose order differs from process to process, are as they will be when grading."""
    one = make(tmp_path, "a = set('words')", "### AUTOTEST a", kernel="conda-env-x-py")
    builder.put(builder.products(None, one, generate(one)))
    shutil.rmtree(tmp_path / ".autograder")
    assert "conda-env-x-py" in one.release.read_text() and made_test(require_current(one))


def spoil(name: str, text: str):
    return lambda one: (one.root / name).write_text(text)


@pytest.mark.parametrize(
    ("solution", "test", "change", "words"),
    [
        ("a = 1", "### AUTOTEST a", lambda one: (one.root / "autotests.yml").unlink(), "no autotests.yml next to"),
        ("a = 1", "### AUTOTEST a", spoil("autotests.yml", "python3: [\n"), "autotests.yml is not valid YAML"),
        ("a = 1", "### AUTOTEST a", spoil("autotests.yml", "ir: {}\n"), "has no section python3"),
        ("a = 1", "### AUTOTEST a", spoil("autotests.yml", "python3: {x: y}\n"), "section python3 lacks 'templates'"),
        ("a = 1 / 0", "### AUTOTEST a", None, "the cell a0 stops with ZeroDivisionError: division by zero"),
        ("a = input()", "### AUTOTEST a", None, "the cell a0 stops with StdinNotImplementedError"),
        ("### AUTOTEST a", "assert True", None, "the cell a0 has an AUTOTEST line but is not marked as autograder tests"),
        ("a = 1", "### AUTOTEST b", None, "the cell t0 stops with NameError: name 'b' is not defined"),
        (
            "while True: pass",
            "### AUTOTEST a",
            spoil("nbgrader_config.py", "c = get_config()\nc.Jail.notebook_seconds = 0.5\n"),
            "the cell a0 takes more than 0.5 seconds",
        ),
    ],
    ids=["no file", "no YAML", "no section", "no templates", "an error", "input", "no test", "no name", "endless"],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence_and_no_kernel_stays(solution, test, change, words, tmp_path):
    one = make(tmp_path, solution, test)
    if change:
        change(one)
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(CourseError) as error:
        generate(one)
    assert words in str(error.value)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_another_fault_is_named_beside_them_and_runs_nothing_twice(tmp_path, monkeypatch):
    wrong = new_markdown_cell(
        "Say.", metadata={"nbgrader": new_cell("", *ANSWER).metadata.nbgrader | {"grade_id": "m0"}}
    )
    one = make(tmp_path, "a = 1", "### AUTOTEST a", more=[wrong])
    runs: list[Path] = []
    run_kernel = autotests.run_kernel
    monkeypatch.setattr(
        autotests, "run_kernel", lambda folder, other: runs.append(folder) or run_kernel(folder)
    )
    with pytest.raises(CourseError, match="the cell m0 cannot be used"):
        generate(one)
    assert len(runs) == 1


def test_a_kernel_that_is_not_installed_is_named_with_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(autotests, "KERNEL", "no-such-kernel")
    with pytest.raises(
        CourseError, match=r"need the kernel no-such-kernel, which is not installed: run `pip"
    ):
        generate(make(tmp_path, "a = 1", "### AUTOTEST a"))


@pytest.mark.skipif(
    "ir" not in installed(), reason="R's kernel is not installed: apt-get install r-cran-irkernel"
)
def test_lines_of_an_r_notebook_become_tests_in_r(tmp_path):
    one = make(tmp_path, "a <- c(1, 2)", "### AUTOTEST a", "ir", language="R")
    made = made_test(generate(one))
    assert "values of a are not correct" in made and 'sort(a)), "1, 2")' in made


def test_templates_for_another_language_are_not_those_for_python(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(install(tmp_path / "jupyter")))
    (tmp_path / "course").mkdir()
    with pytest.raises(CourseError, match="has no section toy known to nbgrader"):
        generate(make(tmp_path / "course", "set a 1", "### AUTOTEST a", "toy", language="toy"))
