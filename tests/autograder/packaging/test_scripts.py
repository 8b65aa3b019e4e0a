"""An archive's own scripts, run in an empty folder as Gradescope or the workflow runs them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from autograder.course import Assignment
from autograder.jail.outside import bubblewrap
from autograder.pool.servers import ServerPool
from tests.autograder.jail.test_users import opened
from tests.autograder.packaging.hosting import SCHEMA, Host, unpacked
from tests.autograder.road import perfect_notebook, with_cell
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = pytest.mark.slow

STANDARDISE = "describing-standardise"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The example in numpy, which has no gradebook."""
    root = tmp_path_factory.mktemp("statistics") / "course"
    shutil.copytree(ROOT / "examples" / "statistics", root)
    return Assignment(root, "01_describing")


@pytest.fixture(scope="module")
def set_up(course, tmp_path_factory) -> Host:
    """Set up once, as in Gradescope; each submission is graded in the same folder, whereas Gradescope copies it."""
    made = unpacked(course, tmp_path_factory.mktemp("hosted") / "autograder")
    done = made.run("setup.sh")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def host(set_up) -> Host:
    """Nothing is handed in, and nothing graded."""
    for file in (*(set_up.folder / "submission").iterdir(), *(set_up.folder / "results").iterdir()):
        file.unlink()
    return set_up


def test_the_scripts_grade_a_submission_in_the_jail(host, course, jail_possible):
    wrong = "def standardise(table):\n    deviation = table.std(axis=0)\n    deviation[deviation == 0] = 1\n"
    wrong += "    return (table - table.mean(axis=0)) / deviation"
    host.hand_in(with_cell(perfect_notebook(course), STANDARDISE, wrong), "my notebook.ipynb")
    done = host.run("run_autograder")
    assert done.returncode == 0, done.stderr
    jsonschema.validate(host.results, SCHEMA)
    assert host.tests["standardise"]["output"].startswith("Divided by n instead of n − 1.")
    assert host.tests["weighted_median"]["status"] == "passed"
    assert host.results["score"] == 3 and "a jail of its own" in host.results["output"]
    assert "a jail of its own" in done.stdout
    closed = [(host.folder / name).stat().st_mode & 0o777 for name in ("source", "results")]
    assert closed == [0o700, 0o700]


def test_in_a_job_of_github_the_summary_has_the_table(host, course, tmp_path, jail_possible):
    host.hand_in(perfect_notebook(course), "01_describing.ipynb")
    summary = tmp_path / "summary"
    done = host.run("run_autograder", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stderr
    assert "| ✓ | standardise | 3 / 3 | Right. |" in summary.read_text()
    assert "::notice title=Autograding complete::Points 6/6" in done.stdout


SPY = """
import os, pwd
def standardise(table):
    seen = []
    for path in PATHS:
        try:
            seen.append(str(os.listdir(path) if os.path.isdir(path) else open(path).read()))
        except OSError as error:
            seen.append(type(error).__name__)
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{number}").st_uid != os.getuid():
                open(f"/proc/{number}/mem", "rb").close()
                seen.append(f"memory of {number}")
        except OSError:
            pass
    raise ValueError(f"{os.getuid()} {' '.join(seen)}")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can run a notebook as another user")
def test_where_no_jail_can_be_built_the_notebook_runs_as_nobody_and_the_output_says_so(
    host, course, tmp_path, jail_possible
):
    refusing = tmp_path / "bin" / "bwrap"
    refusing.parent.mkdir()
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    for folder in (
        tmp_path,
        *tmp_path.parents,
    ):  # pytest's own are closed: here the archive's permissions are tried
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    source = host.folder / "source"
    places = [
        source,
        source / "course" / "source" / "01_describing" / "01_describing.py",
        host.folder / "results",
    ]
    spy = f"PATHS = {[str(place) for place in places]}\n{SPY}"
    host.hand_in(with_cell(perfect_notebook(course), STANDARDISE, spy), "01_describing.ipynb")
    world = [str(bubblewrap.find_bubblewrap()), "--dev-bind", "/", "/", *opened(Path(sys.base_prefix)), "--"]
    done = host.run("run_autograder", *world, PATH=f"{refusing.parent}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stdout + done.stderr
    jsonschema.validate(host.results, SCHEMA)
    assert "No permissions to create a new namespace" in done.stdout
    assert "the container is the jail" in host.results["output"]
    said = host.tests["standardise"]["output"]
    assert f"ValueError: {bubblewrap.NOBODY} PermissionError PermissionError PermissionError" in said
    assert "memory of" not in said
    assert host.tests["weighted_median"]["status"] == "passed", (
        "the solution was recorded, and nobody's answers compared"
    )


def test_the_solution_is_never_recorded_by_the_user_who_runs_the_notebook(course, tmp_path):
    from autograder.grading.engine import Engine
    from autograder.grading.store import Store

    engine = Engine(course, Store(tmp_path), "nobody")
    assert engine._reference.settings.isolation == "none"
    assert isinstance(engine.pool.servers, ServerPool)
    assert engine._reference._zygote is not engine.pool.servers._zygote
    engine.pool.close()


def test_a_notebook_of_the_course_is_graded_with_its_kit(tmp_path, jail_possible):
    attention = ASSIGNMENTS["02_attention"]
    host = unpacked(attention, tmp_path / "autograder", "after_due_date")
    assert host.run("setup.sh").returncode == 0
    host.hand_in(perfect_notebook(attention), "02_attention.ipynb")
    done = host.run("run_autograder")
    assert done.returncode == 0, done.stdout + done.stderr
    jsonschema.validate(host.results, SCHEMA)
    failed = [test["name"] for test in host.results["tests"] if test.get("status") == "failed"]
    points = [test["max_score"] for test in host.results["tests"] if "score" in test]
    assert failed == [] and len(points) > 5 and host.results["score"] >= sum(points)
    assert {test["visibility"] for test in host.results["tests"]} == {"after_due_date"}
    submodules = subprocess.run(
        ["ls", str(host.folder / "source" / "course")], capture_output=True, text=True
    )
    assert submodules.stdout.split() == ["coursekit", "data", "nbgrader_config.py", "notebooks", "solutions"]
