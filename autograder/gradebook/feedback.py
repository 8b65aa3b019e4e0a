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
from autograder.gradebook.exchange import last_words
from autograder.gradebook.gradebook import NobodyGraded, keep_up, recorded_students
from autograder.gradebook.summary import FeedbackPages
from autograder.settings import course_directory, load
from autograder.untrusted.submission import LeftOut


def page_of(assignment: Assignment, student: str) -> Path:
    """Where a student's page of feedback is written; there need not be one yet."""
    return assignment.feedback(student) / f"{assignment.notebook}.html"


def graded_students(assignment: Assignment) -> list[str]:
    """Students in the gradebook with an autograded notebook on disk, so that a page can be made of it."""
    return [
        student
        for student in recorded_students(assignment)
        if any((one.autograded(student) / one.file).exists() for one in assignment.notebooks)
    ]


def make_pages(
    assignment: Assignment,
    students: Iterable[str] = (),
    on_page: Callable[[str], None] = lambda student: None,
) -> tuple[list[str], list[LeftOut]]:
    """A page for each graded student, or for these, and of several notebooks for each. Returns who has one, and who has none and why."""
    keep_up(assignment)
    graded = graded_students(assignment)
    if unknown := [student for student in students if student not in graded]:
        raise CourseError(
            f"{', '.join(unknown)}: not graded yet. Run `autograder grade {assignment.argument}` first."
        )
    if not graded:
        raise NobodyGraded(assignment)
    config = load(assignment.root)  # of a course that need not have called our plug-in
    config.CourseDirectory.root = str(assignment.root)
    config.GenerateFeedback.exporter_class = FeedbackPages
    api = NbGraderAPI(course_directory(assignment.root), config=config)
    made, left = [], []
    for student in students or graded:
        answer = api.generate_feedback(
            assignment.name, glob.escape(student), force=True
        )  # nbgrader's pattern
        if answer["success"]:
            made.append(student)
        else:
            left.append(LeftOut(student, last_words(answer, "nbgrader made no page.")))
        on_page(student)
    return made, left


@dataclass
class Packed:
    """The archives that were written, and who is in none."""

    archives: dict[Path, int] = field(default_factory=dict)  # with the number of pages
    left: list[LeftOut] = field(default_factory=list)


def pack(assignment: Assignment, students: Iterable[str], folder: Path) -> Packed:
    """One archive for each system that something was collected from; one with folders by student where it was none.

    Of several notebooks each has a page.
    """
    collected = {notebook: read_owners(notebook) for notebook in assignment.notebooks}
    of_system: dict[str, list[tuple[str, Path]]] = {}
    packed = Packed()
    for student in students:
        pages = {notebook: page_of(notebook, student) for notebook in collected}
        pages = {notebook: page for notebook, page in pages.items() if page.exists()}
        known = next((owners[student] for owners in collected.values() if student in owners), None)
        if known is None and any(collected.values()):
            where = ", ".join(str(page.relative_to(assignment.root)) for page in pages.values())
            is_or_are = "its feedback page is" if len(pages) == 1 else "its feedback pages are"
            packed.left.append(
                LeftOut(
                    student, f"the submission was not collected by `autograder collect`; {is_or_are} {where}."
                )
            )
            continue
        for notebook, page in pages.items():
            owner = collected[notebook].get(student, known)
            prefix = owner.prefix if owner else f"{student}/"
            system = owner.system if owner else "plain"
            of_system.setdefault(system, []).append((f"{prefix}{page.name}", page))
    for system, of_it in of_system.items():
        suffix = "" if system == "plain" else f"-{system}"
        path = folder / f"{assignment.name}-feedback{suffix}.zip"
        with (
            product(assignment.root, path) as new,
            zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, page in of_it:
                archive.write(page, name)
        packed.archives[path] = len(of_it)
    return packed
