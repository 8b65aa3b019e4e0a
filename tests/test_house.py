"""The parts of the house and which of them may know which: course and tool apart, trust visible as folders."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
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


# Words ------------------------------------------------------------------------------------------------

PRONOUNS = {"given", "kept", "known", "one", "several", "words"}


def bound(tree: ast.AST) -> set[str]:
    """Every name that a file gives to something: functions, classes, arguments, variables, attributes, imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.alias) and node.asname:
            names.add(node.asname)
    return names


def in_this_house(*folders: str) -> list[Path]:
    return [file for folder in folders for file in files(folder) if "templates" not in file.parts]


@pytest.mark.parametrize(
    "file",
    in_this_house("autograder", "coursekit", "tools", "bench"),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_names_are_no_pronouns(file):
    """In what is about language, words are words."""
    about_language = within(file.relative_to(ROOT).parts[0], "coursekit", "tools", "bench")
    assert not bound(ast.parse(file.read_text())) & (PRONOUNS - ({"words"} if about_language else set()))


def test_a_class_has_its_name_alone():
    names = Counter(
        node.name
        for file in in_this_house("autograder")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_a_word_that_has_a_table_row_is_used():
    """The table of CONTRIBUTING.md names modules and classes that there are."""
    words = (ROOT / "CONTRIBUTING.md").read_text().partition("## Words")[2].partition("\n## ")[0]
    text = "\n".join(file.read_text() for file in files("autograder"))
    names = re.findall(r"`(?:[a-z.]+\.)?([A-Z]\w+)`", words)
    assert names and [name for name in names if f"class {name}" not in text] == []
    assert [
        path for path in re.findall(r"`(autograder/[\w/]+\.py)`", words) if not (ROOT / path).is_file()
    ] == []


# One place for each ------------------------------------------------------------------------------------


def called(tree: ast.AST) -> set[str]:
    """The functions and methods that a file calls, by their last name."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


def where(holds: Callable[[Path], bool]) -> list[str]:
    return [str(file.relative_to(ROOT / "autograder")) for file in files("autograder") if holds(file)]


@pytest.mark.slow
def test_the_gradebook_s_tables_are_joined_in_one_place():
    def joins(file: Path) -> bool:
        return any(within(name, "sqlalchemy") for name in imports(file)) and bool(
            called(ast.parse(file.read_text())) & {"select", "outerjoin"}
        )

    assert where(joins) == ["gradebook/queries.py"]


def test_files_are_moved_into_place_in_one_place():
    def moves(file: Path) -> bool:
        return bool(
            re.search(
                r"\bos\.(replace|rename)\(|\b(aside|temporary)\w*\.(replace|rename)\(", file.read_text()
            )
        )

    assert where(moves) == ["checks/storing.py"]


def test_digests_of_files_are_made_in_one_place():
    def digests(file: Path) -> bool:
        return "read_bytes()).digest()" in file.read_text()

    assert where(digests) == ["digests.py"]
