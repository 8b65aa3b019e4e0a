"""Which part may import which (the contracts in pyproject.toml), and what must not be imported before it is needed."""

import ast
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tests.conftest import ROOT, ByFileAndNotebook

HEAVY = (
    "nbgrader",
    "sqlalchemy",
    "nbconvert",
    "jupytext",
    "psutil",
    "scipy",
    "sklearn",
    "torch",
    "matplotlib",
)
IN_ALL_NOTEBOOKS = "import importlib, pkgutil, autograder.checks as checks\n" + (
    "for module in pkgutil.walk_packages(checks.__path__, 'autograder.checks.'): importlib.import_module(module.name)"
)


@pytest.mark.slow
def test_every_part_imports_only_what_it_may():
    """In a process of its own: import-linter disables the loggers of the process in which it runs."""
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "unwanted"),
    [
        (IN_ALL_NOTEBOOKS, ("torch", "transformers", "jaxtyping", "matplotlib", "pandas", "nbgrader")),
        ("from autograder.cli import app\napp(['--help'], standalone_mode=False)", HEAVY),
        ("import autograder.grading.run", HEAVY),  # servers start before these are imported
    ],
    ids=["a notebook's checks", "autograder --help", "the start of autograder grade"],
)
def test_what_has_to_come_at_once_imports_nothing_heavy(script, unwanted):
    script += f"\nimport sys\nprint('loaded:', *({set(unwanted)} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def statements(file: Path) -> list[list[ast.stmt]]:
    """The blocks of statements within a file's functions."""
    functions = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    return [block for node in inner for block in vars(node).values() if isinstance(block, list)]


@pytest.mark.slow
def test_an_import_inside_a_function_says_why():
    """One reason for a block of them, on its first lines or above: what it saves at the start, or what may be missing."""
    silent = []
    folders = (ROOT / name for name in ("autograder", "coursekit", "experiments"))
    for file in sorted(chain.from_iterable(folder.rglob("*.py") for folder in folders)):
        lines = file.read_text().splitlines()
        for block in statements(file):
            imports = [node for node in block if isinstance(node, ast.Import | ast.ImportFrom)]
            around = (
                "\n".join(lines[imports[0].lineno - 3 : imports[-1].end_lineno])
                if imports
                else "# start-up: "
            )
            if "# start-up: " not in around and "# optional: " not in around:
                silent.append(f"{file.relative_to(ROOT)}:{imports[0].lineno}")
    assert silent == []


def test_processes_share_the_tests_by_file_and_by_notebook_where_its_run_is_looked_at():
    split = ByFileAndNotebook._split_scope
    zipped, looked = "tests/test_student_release.py", "tests/notebooks/test_page.py"
    assert split(None, f"{zipped}::test_each[02_attention]") == split(None, f"{zipped}::test_it") == zipped
    assert split(None, f"{looked}::test_its_links[02_attention]") == "02_attention"
    assert split(None, f"{looked}::test_a_helper") == looked
    assert split(None, "tests/audit/test_exercises.py::test_each[02_attention]") == "02_attention"
