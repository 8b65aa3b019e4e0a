"""Make the pages of feedback, and pack them the way Moodle and Canvas take them back."""

import glob
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.apps import NbGraderAPI

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import product
from autograder.gradebook.collect import read_owners
from autograder.gradebook.gradebook import recorded_students
from autograder.settings import course_directory, load
from autograder.untrusted.layouts import FileOwner
from autograder.untrusted.submission import LeftOut


def page_of(assignment: Assignment, student: str) -> Path:
    """Where a student's page of feedback is written; there need not be one yet."""
    return assignment.feedback(student) / f"{assignment.notebook}.html"


def graded_students(assignment: Assignment) -> list[str]:
    """Students in the gradebook whose autograded notebook is on disk, so that a page can be made of it."""
    return [student for student in recorded_students(assignment) if _autograded(assignment, student).exists()]


def make_pages(
    assignment: Assignment,
    students: Iterable[str] = (),
    on_page: Callable[[str], None] = lambda student: None,
) -> tuple[list[str], list[LeftOut]]:
    """A page for each graded student, or for these. Returns who has one, and who has none and why."""
    graded = graded_students(assignment)
    if unknown := [student for student in students if student not in graded]:
        raise CourseError(
            f"{', '.join(unknown)}: not graded yet. Run `autograder grade {assignment.argument}` first."
        )
    if not graded:
        raise CourseError(
            f"Nobody's {assignment.name} has been graded: run `autograder grade {assignment.argument}` first."
        )
    api = NbGraderAPI(course_directory(assignment.root), config=load(assignment.root))
    made, left = [], []
    for student in students or graded:
        answer = api.generate_feedback(
            assignment.name, glob.escape(student), force=True
        )  # nbgrader's pattern
        if answer["success"]:
            made.append(student)
        else:
            log = (answer.get("log") or answer.get("error") or "").strip().splitlines()
            left.append(LeftOut(student, log[-1] if log else "nbgrader made no page."))
        on_page(student)
    return made, left


def _autograded(assignment: Assignment, student: str) -> Path:
    return assignment.autograded(student) / assignment.file


@dataclass
class Packed:
    """The archives that were written, and who is in none."""

    archives: dict[Path, int] = field(default_factory=dict)  # with the number of pages
    left: list[LeftOut] = field(default_factory=list)


def pack(assignment: Assignment, students: Iterable[str], folder: Path) -> Packed:
    """One archive for each system that something was collected from; one with folders by student where it was none."""
    collected = read_owners(assignment)
    of_system: dict[str, dict[str, FileOwner | None]] = {}
    packed = Packed()
    for student in students:
        name = collected.get(student)
        if name is None and collected:
            where = page_of(assignment, student).relative_to(assignment.root)
            packed.left.append(
                LeftOut(student, f"was not collected by `autograder collect`; the page is {where}.")
            )
        else:
            of_system.setdefault(name.system if name else "plain", {})[student] = name
    for system, of_students in of_system.items():
        suffix = "" if system == "plain" else f"-{system}"
        path = folder / f"{assignment.name}-feedback{suffix}.zip"
        with (
            product(assignment.root, path) as new,
            zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for student, name in of_students.items():
                prefix = name.prefix if name else f"{student}/"
                page = page_of(assignment, student)
                archive.write(page, f"{prefix}{page.name}")
        packed.archives[path] = len(of_students)
    return packed
