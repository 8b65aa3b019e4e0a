"""Courses that are not this one: the example in numpy, and what `autograder init` begins, with the tool from a wheel."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.init import begin_course
from autograder.authoring.student_zip import student_files
from autograder.cli import COMMANDS
from autograder.course import Assignment, assignments
from autograder.errors import CourseError
from autograder.exercise import Exercise
from autograder.settings import course_settings
from tests.autograder.commands import command
from tests.conftest import ROOT, clean

EXAMPLE = ROOT / "examples" / "statistics"
NOT_COPIED = shutil.ignore_patterns(
    ".*", "__pycache__", "build", "dist", "*.egg-info", "tests", "data", "notebooks"
)


# ------------------------------------------------------------------------------------------------- init


def test_init_begins_a_course_of_one_assignment(tmp_path):
    begin_course(tmp_path / "Survey Design")
    root = tmp_path / "Survey Design"
    assert [one.name for one in assignments(root)] == ["01_mean"]
    assert list(assignments(root)[0].exercises) == ["mean.weighted", "mean.centred"]
    settings = course_settings(root)
    assert (settings.source_directory, settings.release_directory) == ("source", "release")
    assert settings.arrays == "numpy"
    assert 'course_id = "survey-design"' in (root / "nbgrader_config.py").read_text()
    assert (root / "README.md").read_text().startswith("# survey-design\n")
    assert "/submitted/" in (root / ".gitignore").read_text().split("\n")


def test_students_get_the_files_that_a_course_names(tmp_path):
    begin_course(tmp_path)
    config = tmp_path / "nbgrader_config.py"
    setting = (
        'c.Autograder.student_files = ["LICENCE", "figures"]\nc.Autograder.student_overlay = "for_students"\n'
    )
    config.write_text(config.read_text().replace("configure(c)", setting + "configure(c)"))
    (mean,) = assignments(tmp_path)
    mean.key.parent.mkdir(parents=True)
    mean.key.write_bytes(b"the key")
    for file in ("LICENCE", "figures/line.svg", "figures/.hidden", "for_students/README.md"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(file)
    handed_out = dict(student_files(tmp_path))
    notebook = handed_out.pop("release/01_mean/01_mean.ipynb")
    assert b"raise NotImplementedError" in notebook and b"BEGIN SOLUTION" not in notebook
    assert handed_out == {
        "release/01_mean/01_mean.key": b"the key",
        "LICENCE": b"LICENCE",
        "figures/line.svg": b"figures/line.svg",
        "README.md": b"for_students/README.md",
    }
    (tmp_path / "LICENCE").unlink()
    with pytest.raises(
        CourseError, match="LICENCE is missing: nbgrader_config.py says that students need it"
    ):
        dict(student_files(tmp_path))


# --------------------------------------------------------------------------------------------- the example


@pytest.mark.slow
def test_the_example_s_release_is_what_its_source_gives(monkeypatch):
    monkeypatch.chdir(EXAMPLE)
    command("build", "--check")


def test_the_example_hands_out_no_solution():
    released = sorted(path for path in (EXAMPLE / "release").rglob("*") if path.is_file())
    assert {path.suffix for path in released} == {".ipynb", ".key"}
    for assignment in assignments(EXAMPLE):
        text = assignment.release.read_bytes()
        assert b"BEGIN SOLUTION" not in text
        assert text.count(b"raise NotImplementedError") == len(assignment.exercises)


@pytest.mark.parametrize(
    "course", [EXAMPLE, ROOT / "autograder" / "templates" / "course"], ids=["example", "template"]
)
def test_their_exercises_show_what_an_exercise_has(course):
    exercises = [
        exercise
        for file in course.glob("source/*/exercises.py")
        for exercise in Assignment(course, file.parent.name).exercises.values()
    ]
    assert len(exercises) >= 2
    assert [one.name for one in exercises if len(one.mistakes) < 3 or len(one.alternatives) < 2] == []
    assert [one.name for one in exercises if len(set(one.hints)) != 4] == []
    assert all(isinstance(one, Exercise) and one.rule.arrays == "numpy" for one in exercises)


# -------------------------------------------------------------------------------- with the tool from a wheel


@dataclass(frozen=True)
class Environment:
    """A virtual environment outside the repository, and how its programs are run."""

    folder: Path

    def run(self, *command: str, cwd: Path, check: bool = True) -> subprocess.CompletedProcess:
        """Run a program of this environment with its own programs alone on PATH, and no variable that leads back here."""
        variables = clean() | {
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
        }
        variables["AUTOGRADER_HOME"] = str(self.folder / "home" / "progress")
        program, *arguments = command
        done = subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=cwd,
            env=variables,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0 or not check, f"{command}: {done.stdout}{done.stderr}"
        return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The distribution, from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_COPIED)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        str(folder),
        str(folder / "source"),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def installed(wheel: Path, extras: str, folder: Path) -> Environment:
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "-c",
        ROOT / "constraints.txt",
    ]
    subprocess.run([*pip, f"{wheel}{extras}"], check=True)
    return Environment(folder)


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Environment:
    """What `pip install .` gives."""
    return installed(wheel, "", tmp_path_factory.mktemp("bare") / "environment")


@pytest.fixture(scope="module")
def grading(wheel, tmp_path_factory) -> Environment:
    return installed(wheel, "[grading]", tmp_path_factory.mktemp("grading") / "environment")


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_grading_brings_neither_scipy_nor_torch(grading):
    """scipy and scikit-learn, a quarter of what would be installed, compare answers: an extra of their own."""
    absent = ["scipy", "sklearn", "torch", "dask"]
    assert lacking(grading, "nbgrader", *absent) == absent


def lacking(environment: Environment, *modules: str) -> list[str]:
    """Those of the modules that cannot be imported there."""
    code = "import importlib.util as u, sys; print(*[name for name in sys.argv[1:] if u.find_spec(name) is None])"
    return environment.run("python", "-c", code, *modules, cwd=environment.folder).stdout.split()


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_the_tool_alone_brings_neither_torch_nor_a_notebook_server(bare, tmp_path):
    absent = ["coursekit", "torch", "transformers", "jupyterlab", "nbgrader", "dask"]
    assert lacking(bare, "autograder.checks", *absent) == absent
    assert "Create a course" in bare.run("autograder", "--help", cwd=tmp_path).stdout
    for name in COMMANDS:
        assert "Usage" in bare.run("autograder", name, "--help", cwd=tmp_path).stdout, name


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_who_lacks_an_extra_is_told_a_command_that_installs_it(bare, tmp_path):
    """The tool is on no index: pip must find it where it is installed."""
    bare.run("autograder", "init", cwd=tmp_path)
    examined = bare.run("autograder", "doctor", cwd=tmp_path, check=False)
    assert examined.returncode == 1 and "✗ python" in examined.stdout
    assert examined.stdout.endswith("Grading does not work yet: fix everything marked with ✗.\n")
    refused = bare.run("autograder", "build", cwd=tmp_path, check=False)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stdout + refused.stderr
    told = " ".join(refused.stdout.split())
    pip, *install = shlex.split(re.search(r"`(pip install .*)`", told)[1])
    dry = ["--dry-run", "-c", str(ROOT / "constraints.txt")]
    would = bare.run(pip, *install, *dry, cwd=tmp_path).stdout.rpartition("Would install")[2]
    assert "nbgrader-0.9.6" in would and "autograder" not in would


@pytest.mark.slow
def test_the_wheel_is_the_tool_s_alone_with_its_own_readme(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        (metadata,) = (archive.read(name) for name in archive.namelist() if name.endswith("/METADATA"))
    files = (path for path in (ROOT / "autograder").rglob("*") if path.is_file())
    assert {*names} == {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    readme = (ROOT / "autograder" / "README.md").read_text()
    assert metadata.decode().partition("\n\n")[2].strip() == readme.strip()


@pytest.mark.slow
def test_building_leaves_nothing_behind(wheel):
    """Neither for the tool nor for the course, whose wheel has coursekit with its data."""
    source = wheel.parent / "source"
    (wheel.parent / "course").mkdir()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", wheel.parent / "course"]
    subprocess.run([*pip, source / "course"], check=True)
    left = [path for path in source.rglob("*") if path.name == "build" or path.suffix == ".egg-info"]
    assert left == []
    with zipfile.ZipFile(next((wheel.parent / "course").glob("*.whl"))) as archive:
        packed = {name for name in archive.namelist() if name.startswith("coursekit/")}
    files = (path for path in (ROOT / "coursekit").rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert packed == {path.relative_to(ROOT).as_posix() for path in files}


STUDENT = """
import numpy as np
from autograder.checks import check, hint, predict, reveal

def standardise(table):
    centred = table - table.mean(axis=0)
    return centred / np.where(table.std(axis=0) > 0, table.std(axis=0), 1)

hint("describing.standardise")
check("describing.standardise", lambda case: standardise(case["table"]))
"""


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_a_student_needs_the_tool_alone_and_what_was_handed_out(bare, tmp_path):
    shutil.copytree(EXAMPLE / "release", tmp_path, dirs_exist_ok=True)
    answered = bare.run("python", "-c", STUDENT, cwd=tmp_path / "01_describing", check=False)
    assert "Which two numbers do you need from each column" in answered.stdout
    assert "Divided by n instead of n − 1" in answered.stderr


@dataclass(frozen=True)
class Class:
    """What students hand in for an assignment, and what is to be found: {student: {grade id: cell}}, {(student, id): mistake}."""

    assignment: str
    handed_in: dict[str, dict[str, str]]
    mistakes: dict[tuple[str, str], str]
    best: float  # points of "right", whose written answer a person grades


DESCRIBING = Class(
    "01_describing",
    {
        "right": {
            "describing-standardise": """
def standardise(table):
    middle, spread = np.mean(table, axis=0), np.std(table, axis=0, ddof=1)
    return np.where(spread > 0, (table - middle) / np.where(spread > 0, spread, 1), 0)
""",
            "describing-weighted_median": """
def weighted_median(values, weights):
    pairs = sorted(zip(values, weights))
    total = 0
    for value, weight in pairs:
        total = total + weight
        if 2 * total >= weights.sum():
            return value
""",
            "describing-reflection-1": "The mean; I would report the median.",
        },
        "population": {
            "describing-standardise": """
def standardise(table):
    spread = np.sqrt(((table - table.mean(0)) ** 2).mean(0))
    return (table - table.mean(0)) / np.maximum(spread, 1e-9)
""",
            "describing-weighted_median": """
def weighted_median(values, weights):
    return sorted(values)[(len(values) - 1) // 2] if len(values) % 2 else np.sort(values)[[len(values) // 2 - 1, len(values) // 2]].mean()
""",
        },
        "pairs_torn": {
            "describing-standardise": """
def standardise(table):
    return (table.T - table.mean()).T / table.std()
""",
            "describing-weighted_median": """
def weighted_median(values, weights):
    half = weights.sum() / 2
    return np.sort(values)[np.argmax(np.cumsum(weights) >= half)]
""",
        },
    },
    {
        ("population", "describing-standardise"): "divided by n instead of n − 1",
        ("population", "describing-weighted_median"): "the weights ignored",
        ("pairs_torn", "describing-weighted_median"): "the weights not sorted along with the values",
    },
    best=6,
)
MEAN = Class(
    "01_mean",
    {
        "right": {
            "mean-weighted": "def weighted_mean(values, weights):\n    return values @ (weights / weights.sum())",
            "mean-centred": "def centred(table):\n    return table - np.average(table, axis=0)",
            "mean-reflection-1": "The mean grows, the median hardly.",
        },
        "hasty": {
            "mean-weighted": "def weighted_mean(values, weights):\n    return sum(values * weights) / len(values)",
            "mean-centred": "def centred(table):\n    return (table.T - table.mean(axis=1)).T",
        },
    },
    {
        ("hasty", "mean-weighted"): "divided by the number of values",
        ("hasty", "mean-centred"): "the mean of each row",
    },
    best=4,
)


def hand_in(course: Path, handed: Class) -> None:
    """Each student's notebook: the release with the student's cells in it."""
    name = handed.assignment
    for student, cells in handed.handed_in.items():
        notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
        answered = {c.metadata["nbgrader"]["grade_id"]: c for c in notebook.cells if "nbgrader" in c.metadata}
        for grade_id, source in cells.items():
            answered[grade_id].source = source
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")


def grade(environment: Environment, course: Path, handed: Class) -> dict[str, dict]:
    """Hand in, grade in the jail and write the report: the results by student."""
    hand_in(course, handed)
    environment.run("autograder", "grade", handed.assignment, "--json", "results.json", cwd=course)
    environment.run("autograder", "report", handed.assignment, cwd=course)
    results = json.loads((course / "results.json").read_text())
    assert results["not_graded"] == []
    return {result["student"]: result for result in results["submissions"]}


def named(results: dict[str, dict]) -> dict[tuple[str, str], str]:
    return {
        (student, cell["grade_id"].removesuffix("-check")): cell["mistake"]
        for student, result in results.items()
        for cell in result["cells"]
        if cell["mistake"]
    }


def assert_graded(course: Path, handed: Class, results: dict[str, dict]) -> None:
    assert named(results) == handed.mistakes
    assert results["right"]["score"] == handed.best
    assert {cell["status"] for cell in results["right"]["cells"]} == {"passed", "manual"}
    page = (course / "report.html").read_text().lower()
    assert [mistake for mistake in handed.mistakes.values() if mistake not in page] == []


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_the_example_is_built_graded_and_reported_on_without_torch(grading, tmp_path):
    heavy = ["torch", "transformers", "dask"]
    assert lacking(grading, "nbgrader", *heavy) == heavy
    course = tmp_path / "course"
    shutil.copytree(EXAMPLE, course)
    committed = {path: path.read_bytes() for path in course.glob("release/*/*.ipynb")}
    shutil.rmtree(course / "release")
    grading.run("nbgrader", "generate_assignment", "02_resampling", cwd=course)
    grading.run("autograder", "build", cwd=course)
    assert {path: path.read_bytes() for path in course.glob("release/*/*.ipynb")} == committed
    assert_graded(course, DESCRIBING, grade(grading, course, DESCRIBING))


@pytest.mark.audit
@pytest.mark.timeout(900)
def test_what_init_writes_is_built_graded_and_reported_on(grading, tmp_path):
    grading.run("autograder", "init", "course", cwd=tmp_path)
    course = tmp_path / "course"
    grading.run("autograder", "build", cwd=course)
    assert_graded(course, MEAN, grade(grading, course, MEAN))
    grading.run("autograder", "student-release", cwd=course)
    with zipfile.ZipFile(course / "dist" / "course-student.zip") as archive:
        handed_out = {f"course/release/01_mean/01_mean.{suffix}" for suffix in ("ipynb", "key")}
        assert set(archive.namelist()) == handed_out
        assert b"raise NotImplementedError" in archive.read("course/release/01_mean/01_mean.ipynb")
    before = sorted(course.rglob("*"))
    refused = grading.run("autograder", "init", cwd=course, check=False)
    assert refused.returncode == 1 and "already contains a course" in " ".join(refused.stdout.split())
    assert sorted(course.rglob("*")) == before
