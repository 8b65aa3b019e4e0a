"""What an archive holds, and which packages it asks for."""

import io
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest
import yaml

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.packaging.archive import archive, packed_files
from autograder.packaging.pins import imported, pins
from tests.autograder.commands import command, refusal
from tests.conftest import ASSIGNMENTS

pytestmark = pytest.mark.slow


@pytest.fixture
def files(small):
    return packed_files(small.assignment, "visible")


def test_an_archive_holds_one_assignment_and_neither_gradebook_nor_hand_ins(small, files):
    small.hand_in("ada")
    (small.root / "source" / "01_steps" / "01_steps.ipynb").write_text("made from the script")
    files = packed_files(small.assignment, "visible")
    assert (small.root / "gradebook.db").exists()
    course = sorted(path for path in files if path.startswith("course/"))
    assert course == [
        "course/nbgrader_config.py",
        "course/release/01_steps/01_steps.ipynb",
        "course/source/01_steps/01_steps.py",
        "course/source/01_steps/exercises.py",
    ]
    others = {path.partition("/")[0] for path in files} - {"course"}
    assert others == {"package.json", "registered", "requirements.txt", "run_autograder", "setup.sh", "tool"}


def test_settings_that_may_hold_secrets_stay_at_home(small):
    config = small.root / "nbgrader_config.py"
    config.write_text(
        config.read_text() + '\nc.CourseDirectory.db_url = "postgresql://grader:s3cret@db/course"\n'
        "c.Jail.memory_bytes = 1 << 29\n"
    )
    text = packed_files(small.assignment, "visible")["course/nbgrader_config.py"].decode()
    assert "s3cret" not in text and "c.Jail.memory_bytes = 536870912" in text


def test_the_same_files_make_the_same_archive_whose_scripts_can_be_run(small):
    first = archive(small.assignment)
    assert archive(small.assignment) == first
    with zipfile.ZipFile(io.BytesIO(first)) as packed:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in packed.infolist()}
    assert modes["run_autograder"] == modes["setup.sh"] == 0o755
    assert modes["package.json"] == 0o644


def test_requirements_are_those_of_the_files_in_the_versions_installed_here(files):
    lines = files["requirements.txt"].decode().splitlines()
    assert f"numpy=={metadata.version('numpy')}" in lines
    assert f"nbformat=={metadata.version('nbformat')}" in lines, "the tool needs it"
    assert f"traitlets=={metadata.version('traitlets')}" in lines, "and nbformat this one"
    assert not [line for line in lines if line.startswith(("torch==", "pytest==", "autograder"))]


def test_pins_follow_extras_and_leave_out_the_kind_of_machine(monkeypatch):
    installed = {"a": ("1.0+cpu", ["b[fast]>=2; python_version > '3'"]), "b": ("2.1", ['C_d ; extra == "fast"', 'e ; extra == "slow"']), "c-d": ("3", None)}  # fmt: skip

    installed["autograder-notebooks"] = ("0", ["e; extra == 'cluster'", "f; extra == 'grading'"])
    installed["f"] = ("4", ["g (>=1.*.)"])  # not a requirement: what is left of an old installation

    class Distribution:
        def __init__(self, name):
            self.version, self.requires = installed[name.replace("_", "-").lower()]

    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"a_module": ["a"]})
    monkeypatch.setattr(metadata, "distribution", Distribution)
    assert pins(["a_module", "not_installed"]) == ["a==1.0", "b==2.1", "c-d==3", "f==4"]


def test_a_package_that_is_not_installed_cannot_be_asked_for():
    with pytest.raises(CourseError, match="no-such-package is not installed"):
        pins([], ["no-such-package"])


def test_imports_are_followed_through_the_course_s_own_packages(tmp_path):
    own = tmp_path / "kit"
    own.mkdir()
    (own / "__init__.py").write_text("")
    (own / "used.py").write_text(
        "from . import deeper\nfrom .deeper import x\nimport os, scipy.stats as st\n"
    )
    (own / "deeper.py").write_text("def f():\n    import pandas\n")
    (own / "unused.py").write_text("import torch\n")
    notebook = tmp_path / "n.py"
    notebook.write_text(
        "# %%\n%matplotlib inline\nimport numpy as np\nfrom kit.used import (\n    f,\n    g,\n)\n"
    )
    foreign, seen = imported([notebook], {"kit": own}, ["seaborn.utils"])
    assert foreign == {"numpy", "scipy", "pandas", "seaborn"}
    assert own / "unused.py" not in seen


def test_of_a_course_with_packages_its_kit_and_data_go_along_and_of_its_notebooks_one():
    files = packed_files(ASSIGNMENTS["02_attention"], "visible")
    assert "course/coursekit/__init__.py" in files
    assert [path for path in files if path.startswith("course/data/")]
    notebooks = {
        path.split("/")[2] for path in files if path.startswith(("course/solutions/", "course/notebooks/"))
    }
    assert notebooks == {"02_attention"} and not [path for path in files if path.endswith(".key")]
    lines = files["requirements.txt"].decode().splitlines()
    assert f"torch=={metadata.version('torch').partition('+')[0]}" in lines


def test_the_command_writes_an_archive_and_for_github_a_workflow(small, tmp_path):
    out = tmp_path / "out"
    said = command("package", "01_steps", "--for", "gradescope", "--output", out)
    assert "contains the solution" in said
    assert [path.name for path in out.iterdir()] == ["01_steps-gradescope.zip"]
    command("package", "01_steps", "--for", "github", "--output", out)
    workflow = yaml.safe_load((out / "01_steps-github.yml").read_text())
    assert workflow["name"] == "Autograding Tests", "GitHub Classroom looks for this name,"
    assert list(workflow["jobs"]) == ["run-autograding-tests"], "and for this one"
    steps = workflow["jobs"]["run-autograding-tests"]["steps"]
    assert "GITHUB_STEP_SUMMARY" in steps[-1]["run"] and "run_autograder" in steps[-1]["run"]
    for step in steps:
        script = step.get("run", "true")
        assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    with zipfile.ZipFile(out / "01_steps-github.zip") as packed:
        setup = packed.read("setup.sh").decode()
    assert (
        f"--python {sys.version_info.major}.{sys.version_info.minor} " in setup
        and "@" not in setup.replace("[@]", "")
    )


def test_an_archive_of_somebody_else_is_not_replaced(small, tmp_path):
    mine = tmp_path / "01_steps-gradescope.zip"
    mine.write_text("mine")
    assert refusal("package", "01_steps", "--for", "gradescope", "--output", tmp_path)
    assert mine.read_text() == "mine"


def test_an_assignment_is_packed_as_it_is_released(small):
    small.assignment.release.unlink()
    with pytest.raises(CourseError, match="run `autograder build` first"):
        archive(Assignment(small.root, "01_steps"))
