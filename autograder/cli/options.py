"""The arguments and options that several commands share."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder.course import Assignment, assignments, course_root, find_notebooks
from autograder.files import require_replaceable, write_product


def _require_replaceable(path: Path | None) -> Path | None:
    """Refused now, and not after an hour of grading."""
    if path:
        require_replaceable(course_root(), path)
    return path


Isolation = Literal["bwrap", "none"]
"""What stands between students' code and the machine: bubblewrap's namespaces, or nothing."""

Names = Annotated[list[str] | None, typer.Argument(help="Assignments, such as 02_attention. Default: all.")]
Name = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="The assignment, such as 02_attention.")]
Students = Annotated[
    list[str] | None, typer.Argument(metavar="[STUDENT]...", help="The students' ids. Default: everyone.")
]
Submitted = Annotated[
    Path | None,
    typer.Option(
        help="The folder that contains STUDENT/ASSIGNMENT/. Default: submitted/, or the one named in nbgrader_config.py."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="How many notebooks run at the same time on this machine. Default: one per core."
    ),
]
Scheduler = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Grade on the workers of a Dask cluster: tcp://host:port.")
]
Seeds = Annotated[
    int, typer.Option(min=1, help="The number of draws of the inputs on which known answers are tested.")
]
Json = Annotated[
    Path | None,
    typer.Option("--json", callback=_require_replaceable, help="Also write the results to this file."),
]
OnlyExercises = Annotated[
    list[str] | None,
    typer.Option("--exercise", help="Only this exercise, such as attention.entropy; may be repeated."),
]
Jail = Annotated[Isolation, typer.Option(help="none: run students' code with your own permissions.")]


def chosen_assignments(root: Path, names: Iterable[str] | None) -> list[Assignment]:
    """Those named, or all of the course. Raises CourseError for a name that it does not have."""
    return [one for name in names for one in find_notebooks(root, name)] if names else assignments(root)


def write_json(path: Path, content: object) -> None:
    """What `--json` asks for."""
    write_product(course_root(), path, json.dumps(content, indent=1))
