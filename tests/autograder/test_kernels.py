"""Python under any kernel's name is run here, and the run says so once; another language in its own kernel, where there is one."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.generating import generate
from autograder.gradebook.gradebook import open_gradebook
from autograder.kernels import find_kernel, kernel_for, language, remark
from autograder.source import read_source
from tests.autograder.road import grade_all
from tests.toy_kernel import install


@pytest.fixture
def jupyter(tmp_path, monkeypatch) -> Path:
    """A machine without kernels but Python's, and the folder in which it would find others."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_JUPYTER_PATH", [])
    return tmp_path / "jupyter"


def named(kernel: dict | None = None, info: str = ""):
    metadata = {"kernelspec": kernel} if kernel is not None else {}
    metadata |= {"language_info": {"name": info}} if info else {}
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 4, "metadata": metadata, "cells": []})


@pytest.mark.parametrize(
    ("kernel", "info"),
    [
        (None, ""),
        ({"name": "python3", "language": "python"}, ""),
        ({"name": "rt_grader"}, ""),
        ({"name": "rt_grader", "display_name": "R and T"}, "python"),
        ({"name": "conda-env-x-py", "language": "python"}, ""),
        ({"name": "conda-env-r-py", "language": "Python"}, "python"),
        ({"name": "irs-course", "language": "python"}, ""),
        ({"name": "python2", "language": "ipython"}, ""),
        ({"name": "xpython", "language": "python"}, ""),
    ],
)
def test_python_is_python_whatever_its_kernel_is_called(kernel, info):
    assert language(named(kernel, info)) == "Python"
    assert kernel_for(named(kernel, info), Path("x.ipynb")) == ""


@pytest.mark.parametrize(
    ("kernel", "info", "found"),
    [
        ({"name": "ir", "display_name": "R", "language": "R"}, "R", "R"),
        ({"name": "ir"}, "", "R"),
        ({"name": "julia-1.9"}, "", "Julia"),
        ({"name": "mine", "language": "julia"}, "", "julia"),
        ({"name": "mine"}, "octave", "octave"),
        ({}, "R", "R"),
        ({"name": "bash"}, "", "Bash"),
        ({"name": "zsh"}, "", "Zsh"),
        ({"name": ".net-csharp"}, "", "C#"),
        ({"name": "xcpp17", "language": "C++17"}, "", "C++"),
        ({"name": "javascript"}, "", "JavaScript"),
    ],
)
def test_another_language_needs_its_kernel(kernel, info, found, jupyter):
    assert language(named(kernel, info)) == found
    with pytest.raises(
        CourseError, match=rf"is written in {re.escape(found)}, but its kernel.* is not installed here"
    ):
        kernel_for(named(kernel, info), Path("x.ipynb"))


def test_a_missing_kernel_is_named_with_how_to_install_it(jupyter):
    with pytest.raises(CourseError, match="its kernel ir .*Nothing was run.*r-cran-irkernel"):
        kernel_for(named({"name": "ir", "language": "R"}), Path("x.ipynb"))
    with pytest.raises(CourseError, match="its kernel mine .*Jupyter-kernels"):
        kernel_for(named({"name": "mine", "language": "cobol"}), Path("x.ipynb"))


def test_the_kernel_of_that_name_is_taken_else_one_of_the_language(jupyter):
    for name in ("other", "toy", "toy-2"):
        install(jupyter, name, language="cobol" if name == "other" else "toy")
    assert kernel_for(named({"name": "Toy-2", "language": "toy"}), Path("x")) == "toy-2"
    assert kernel_for(named({"name": "python3", "language": "toy"}), Path("x")) == "toy"
    assert remark(named({"name": "toy-2", "language": "toy"})) == ""
    elsewhere = named({"name": "toy-9", "language": "Toy"})
    assert kernel_for(elsewhere, Path("x")) == "toy"
    assert remark(elsewhere) == "The notebook names the kernel toy-9: it is run in the kernel toy."
    assert remark(named({"language": "toy"})) == "The notebook names no kernel: it is run in the kernel toy."


def test_a_kernel_needs_its_folder_and_what_is_installed_with_its_program(jupyter, tmp_path):
    python = tmp_path / "language" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (tmp_path / "language" / "lib").mkdir()
    (tmp_path / "language" / "course").mkdir()
    python.symlink_to(sys.executable)
    install(jupyter, program=str(python))
    kernel = find_kernel("toy")
    assert {jupyter / "kernels" / "toy", python, python.parent, tmp_path / "language" / "lib"} <= {
        *kernel.needs
    }
    assert tmp_path / "language" not in kernel.needs and tmp_path / "language" / "course" not in kernel.needs
    assert kernel.programs == (str(python.parent),)


def test_a_language_says_itself_where_its_packages_are(jupyter, tmp_path, monkeypatch):
    program = tmp_path / "R"
    program.write_text(f"#!/bin/sh\necho {tmp_path}\necho no folder")
    program.chmod(0o755)
    install(jupyter, "ir", str(program), "R")
    kernel = find_kernel("ir")
    assert tmp_path in kernel.needs and kernel.variables == {"R_LIBS": str(tmp_path)}


def test_a_kernel_without_its_program_is_said(jupyter):
    install(jupyter, program="/nowhere/toy")
    with pytest.raises(CourseError, match="starts /nowhere/toy, which is not installed"):
        find_kernel("toy")
    with pytest.raises(CourseError, match="The kernel gone is not installed on "):
        find_kernel("gone")


def test_a_name_of_ones_own_is_remarked_on_and_no_usual_one():
    assert "names the kernel rt_grader: it is run in the Python of this" in remark(
        named({"name": "rt_grader"})
    )
    assert remark(named({"name": "python3"})) == remark(named({})) == remark(named()) == ""


def set_kernel(path: Path, **kernel: str) -> None:
    notebook = nbformat.read(path, 4)
    notebook.metadata["kernelspec"] = kernel
    nbformat.write(notebook, path)


@pytest.mark.parametrize(
    "kernel",
    [
        {"name": "conda-env-x-py", "display_name": "x", "language": "python"},
        {"name": "rt_grader", "display_name": "Python [conda env:x]"},
    ],
)
def test_a_run_says_once_which_python_runs_it(small, kernel):
    for student in ("ada", "ben"):
        small.hand_in(student)
    set_kernel(small.assignment.release, **kernel)
    told: list[str] = []
    results = grade_all(small.assignment, tell=told.append)
    assert [result.score for result in results] == [9, 9]
    said = f"The notebook names the kernel {kernel['name']}: it is run in the Python of this environment"
    assert sum(said in sentence for sentence in told) == 1


def test_a_run_without_the_kernel_grades_nobody(small, jupyter):
    small.hand_in("ada")
    set_kernel(small.assignment.release, name="ir", display_name="R", language="R")
    with pytest.raises(CourseError, match="is written in R, but its kernel ir is not installed here"):
        small.grade_class()
    with open_gradebook(small.root) as gradebook:
        assert not gradebook.assignment_submissions(small.assignment.name)


def test_exercises_of_ours_are_for_python(small):
    source = small.assignment.source
    notebook = read_source(source)
    source.unlink()
    nbformat.write(notebook, source.with_suffix(".ipynb"))
    set_kernel(source.with_suffix(".ipynb"), name="ir", display_name="R", language="R")
    with pytest.raises(CourseError, match="is written in R, but exercises.py next to it"):
        generate(small.assignment)
