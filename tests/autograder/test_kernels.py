"""Python under any kernel's name is run, and the run says so once; another language is refused in one sentence."""

from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.gradebook.gradebook import register
from autograder.grading import run
from autograder.kernels import language, remark, require_python
from autograder.registered import registered_release


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
    require_python(named(kernel, info), Path("x.ipynb"))


@pytest.mark.parametrize(
    ("kernel", "info", "found"),
    [
        ({"name": "ir", "display_name": "R", "language": "R"}, "R", "R"),
        ({"name": "ir"}, "", "R"),
        ({"name": "julia-1.9"}, "", "Julia"),
        ({"name": "mine", "language": "julia"}, "", "julia"),
        ({"name": "mine"}, "octave", "octave"),
        ({}, "R", "R"),
        ({"name": "bash"}, "", "a shell's language"),
        ({"name": "xcpp17", "language": "C++17"}, "", "C++"),
        ({"name": "javascript"}, "", "JavaScript"),
    ],
)
def test_another_language_is_refused_by_name(kernel, info, found):
    assert language(named(kernel, info)) == found
    with pytest.raises(CourseError, match="only notebooks in Python are graded"):
        require_python(named(kernel, info), Path("x.ipynb"))


def test_a_name_of_ones_own_is_remarked_on_and_no_usual_one():
    assert "names the kernel rt_grader: it is run in the Python of this" in remark(
        named({"name": "rt_grader"})
    )
    assert remark(named({"name": "python3"})) == remark(named({})) == remark(named()) == ""


def set_kernel(path: Path, **kernel: str) -> None:
    notebook = nbformat.read(path, 4)
    notebook.metadata["kernelspec"] = kernel
    nbformat.write(notebook, path)


def test_a_run_says_once_which_python_runs_it(small):
    for student in ("ada", "ben"):
        small.hand_in(student)
    set_kernel(small.assignment.release, name="conda-env-x-py", display_name="x", language="python")
    told: list[str] = []
    folders = run.find_submissions(small.assignment, small.assignment.submitted, [])
    results = run.grade_class(
        small.assignment, folders, run.Options("none"), lambda result: None, told.append
    )
    assert [result.score for result in results] == [9, 9]
    assert sum("names the kernel conda-env-x-py" in sentence for sentence in told) == 1


def test_a_release_in_another_language_is_refused_also_without_test_cells(small):
    set_kernel(small.assignment.release, name="ir", display_name="R", language="R")
    for ask in (registered_release, register):
        with pytest.raises(CourseError, match="is written in R; only notebooks in Python"):
            ask(small.assignment)
