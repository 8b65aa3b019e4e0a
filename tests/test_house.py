"""The parts of the house and which of them may know which: course and tool apart, trust visible as folders."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TORCH = ("torch", "transformers", "jaxtyping", "matplotlib")


def imports(file: Path) -> set[str]:
    """The modules that a file imports anywhere in it, relative ones by their full names."""
    package = file.relative_to(ROOT).with_suffix("").parts[:-1]
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) + 1 - node.level], *filter(None, [node.module])])
            base = base if node.level else node.module
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("file", files("autograder"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_tool_knows_no_course(file):
    assert not [name for name in imports(file) if within(name, "coursekit", "solutions", "tools", "tests")]


@pytest.mark.parametrize("file", files("autograder/checks"), ids=lambda path: path.stem)
def test_what_notebooks_import_needs_nothing_of_what_grades(file):
    of_the_tool = {name for name in imports(file) if within(name, "autograder")} - {"autograder"}
    assert not [name for name in of_the_tool if not within(name, "autograder.checks")]


@pytest.mark.parametrize("file", files("coursekit"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_course_knows_of_the_tool_only_what_notebooks_import(file):
    of_the_tool = {name for name in imports(file) if within(name, "autograder")} - {"autograder"}
    assert not [name for name in of_the_tool if not within(name, "autograder.checks")]


@pytest.mark.parametrize("file", files("autograder/jail/inside"), ids=lambda path: path.stem)
def test_what_runs_in_the_jail_imports_nothing_that_is_not_there(file):
    of_the_tool = {name for name in imports(file) if within(name, "autograder")} - {"autograder"}
    assert not [
        name for name in of_the_tool if not within(name, "autograder.checks", "autograder.jail.inside")
    ]


def test_checks_need_no_torch():
    script = (
        "import sys, importlib, pkgutil, autograder.checks as checks\n"
        "for module in pkgutil.walk_packages(checks.__path__, 'autograder.checks.'):\n"
        "    importlib.import_module(module.name)\n"
        f"print(*(name for name in {TORCH} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
