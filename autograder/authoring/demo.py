"""A class of twenty to look at before a line of the guide is read: made up, collected, graded, with report and feedback.

Everything stands in a folder of its own. The course is copied, and nothing of it is changed; what grades the class is
the real thing, from an archive as Moodle lets one download to the archive with feedback that Moodle takes back.
"""

import csv
import io
import json
import random
import re
import shlex
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.course import Assignment, assignments, find_assignment
from autograder.errors import CourseError
from autograder.gradebook.collect import collect
from autograder.gradebook.feedback import make_pages, pack, page_of
from autograder.gradebook.gradebook import open_gradebook, register
from autograder.gradebook.tables import read_rows
from autograder.grading.reference import mistake_sources, solution_sources
from autograder.grading.run import Options, find_submissions, grade_class
from autograder.report import write_report
from autograder.settings import FILE, course_settings
from autograder.source import grade_id, imported_ahead, is_grade, is_solution, read_source

NAMES = (
    "Ada Lovelace", "Bao Nguyen", "Carla Rossi", "Deniz Kaya", "Emeka Obi", "Freya Olsen", "Gabriel Silva", "Hana Sato",
    "Ivan Petrov", "Jana Novak", "Kwame Mensah", "Lea Dubois", "Mei Chen", "Noor Haddad", "Oskar Lind", "Priya Nair",
    "Quentin Roy", "Rosa Garcia", "Samir Aziz", "Tilda Berg",
)  # fmt: skip
MARKS = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)
DUE = datetime(2026, 10, 5, 22)
SETTINGS = '''

# What follows was added for the demonstration.
from nbgrader.plugins import LateSubmissionPlugin


class ATenthADay(LateSubmissionPlugin):
    """A tenth of the points for each day begun."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score * 0.1 * -(-total_seconds_late // 86400)


c.AssignLatePenalties.plugin_class = ATenthADay
c.CourseDirectory.root = {root!r}
c.CourseDirectory.db_url = {database!r}
c.Jail.cell_seconds = 4  # one of the class waits for ever
'''
HOSTILE = """# Somebody would like to see the solutions and the others' grades.
import os, socket

for place in ("/", os.path.expanduser("~"), {course!r}):
    try:
        print(place, os.listdir(place))
    except OSError as error:
        print(error)
try:
    socket.create_connection(("example.org", 80), timeout=1)
except OSError as error:
    print("no network:", error)"""
SCRIPT = "<script>alert('hello')</script>"


@dataclass(frozen=True)
class Student:
    """One of the class: what was handed in, as a file, and when."""

    id: str
    name: str
    kind: str  # in a few words, for whoever looks
    content: str
    handed_in: datetime


def copy_course(root: Path, folder: Path) -> Path:
    """The course in `folder`, with a gradebook of its own. Raises CourseError where something is there already."""
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty: name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    settings = course_settings(root)
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in (settings.source_directory, settings.release_directory, *settings.packages):
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=ignored)
    added = SETTINGS.format(root=str(folder), database=f"sqlite:///{folder / 'gradebook.db'}")
    (folder / FILE).write_text((root / FILE).read_text(encoding="utf-8") + added, encoding="utf-8")
    return folder


def for_a_demonstration(built: list[Assignment]) -> Assignment:
    """One that has been built, has known mistakes, and imports least."""
    fit = [
        assignment
        for assignment in built
        if not assignment.part
        and assignment.release.exists()
        and any(e.mistakes for e in assignment.exercises.values())
    ]
    if not fit:
        raise CourseError(
            "There is no assignment that has been built and has exercises with known mistakes: run `autograder build` first."
        )
    return min(
        fit,
        key=lambda assignment: len(
            imported_ahead(assignment.settings.preload_where, assignment.read_release())
        ),
    )


def make_class(assignment: Assignment, hostile: bool = True, seed: int = 1) -> list[Student]:
    """Twenty students, the same each time."""
    draw = random.Random(seed)
    release = assignment.read_release()
    kinds = iter(_kinds(assignment, _Answers(assignment, release, seed), release, draw, hostile))
    students = []
    for number, name in enumerate(NAMES):
        kind, content = next(kinds)
        late = {5: timedelta(minutes=50), 11: timedelta(days=2, hours=3)}.get(number)
        when = DUE + late if late else DUE - timedelta(minutes=draw.randrange(10, 4000))
        students.append(Student(name.split()[0].lower(), name, kind, content, when))
    return students


def _kinds(
    assignment: Assignment, answers: "_Answers", release: NotebookNode, draw: random.Random, hostile: bool
) -> Iterator[tuple[str, str]]:
    def all_but(changes: dict[str, str]) -> str:
        """Everything right apart from these cells."""
        return _file(_changed(answers.perfect(), changes))

    wrong = {name: list(sources.values()) for name, sources in mistake_sources(assignment).items() if sources}
    solutions = solution_sources(assignment)
    exercises = assignment.exercises
    last = list(exercises.values())[-1]
    yield "everything right", all_but({})
    yield "nothing answered", _file(release)
    yield "a file damaged in transit", all_but({})[:3000]
    if hostile:
        attack = answers.perfect()
        attack.cells.insert(1, new_code_cell(HOSTILE.format(course=str(assignment.root))))
        written = {grade_id(cell): SCRIPT for cell in release.cells if is_grade(cell) and is_solution(cell)}
        yield "looks for the solutions", _file(_changed(attack, written))
    waits = re.sub(
        r"### BEGIN SOLUTION.*### END SOLUTION", "while True: pass", solutions[last.name], flags=re.DOTALL
    )
    yield "never returns in one exercise", all_but({last.solution_id: waits})
    for name, sources in list(wrong.items())[:2]:  # the first mistake of the first two is the class's
        for _ in range(2):
            yield "a frequent mistake", all_but({exercises[name].solution_id: sources[0]})
    other_ways = {
        e.solution_id: next(iter(e.alternatives.values())) for e in exercises.values() if e.alternatives
    }
    yield "right in another way", all_but(other_ways)
    blank = {grade_id(cell): cell.source for cell in release.cells if grade_id(cell)}
    second_half = [exercise.solution_id for exercise in exercises.values()][len(exercises) // 2 :]
    for _ in range(2):
        yield "stopped half-way", all_but({cell: blank[cell] for cell in second_half})
    while True:
        chosen = draw.sample(sorted(wrong), min(len(wrong), draw.choice((1, 1, 2, 3))))
        changes = {exercises[name].solution_id: draw.choice(wrong[name]) for name in chosen}
        yield "a known mistake" if len(chosen) == 1 else "known mistakes", all_but(changes)


class _Answers:
    """The release with the solution's code, and with as much of each model answer as this student wrote."""

    def __init__(self, assignment: Assignment, release: NotebookNode, seed: int):
        source = {grade_id(cell): cell for cell in read_source(assignment.source).cells if grade_id(cell)}
        answered = [cell for cell in release.cells if is_solution(cell)]
        texts = {grade_id(cell): MARKS.sub("", source[grade_id(cell)].source).strip() for cell in answered}
        self._written = {grade_id(cell) for cell in answered if cell.cell_type == "markdown"}
        self._release, self._texts, self._draw = release, texts, random.Random(seed)

    def perfect(self) -> NotebookNode:
        """All of it right; of a model answer a few sentences, others each time."""
        texts = {
            name: self._some_of(text) if name in self._written else text for name, text in self._texts.items()
        }
        return _changed(self._release, texts)

    def _some_of(self, model_answer: str) -> str:
        sentences = re.split(r"(?<=[.!?]) ", " ".join(model_answer.split("\n\n")[0].split()))
        chosen = self._draw.sample(range(len(sentences)), self._draw.randint(1, len(sentences)))
        return " ".join(sentences[i] for i in sorted(chosen))


def _changed(notebook: NotebookNode, texts: dict[str, str]) -> NotebookNode:
    """With these texts, without the marks between which a source has its solutions."""
    cells = [
        NotebookNode(cell, source=MARKS.sub("", texts.get(grade_id(cell), cell.source)))
        for cell in notebook.cells
    ]
    return NotebookNode(notebook, cells=cells)


def _file(notebook: NotebookNode) -> str:
    return json.dumps(notebook)


def put_into_gradebook(assignment: Assignment, students: list[Student]) -> None:
    """The class's names, and the due date."""
    register(assignment)
    with open_gradebook(assignment.root) as gradebook:
        gradebook.update_or_create_assignment(assignment.name, duedate=DUE)
        for student in students:
            first, last = student.name.split()
            gradebook.update_or_create_student(
                student.id, first_name=first, last_name=last, email=f"{student.id}@example.org"
            )


def write_download(assignment: Assignment, students: list[Student]) -> tuple[Path, Path]:
    """What Moodle lets an instructor download: the archive of all submissions, and the grading worksheet."""
    download, worksheet = assignment.root / "download.zip", assignment.root / "worksheet.csv"
    rows = io.StringIO()
    table = csv.writer(rows)
    table.writerow(["Identifier", "Full name", "ID number", "Status", "Last modified (submission)"])
    with zipfile.ZipFile(download, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, student in enumerate(students, 4711):
            folder = f"{student.name}_{number}_assignsubmission_file"
            archive.writestr(f"{folder}/{assignment.file}", student.content)
            when = student.handed_in.strftime("%A, %d %B %Y, %I:%M %p")
            table.writerow([f"Participant {number}", student.name, student.id, "Submitted for grading", when])
    worksheet.write_text(rows.getvalue(), encoding="utf-8")
    return download, worksheet


@dataclass(frozen=True)
class Shown:
    """What there is to look at."""

    folder: Path
    report: Path
    pages: dict[str, Path]  # feedback, by what it shows
    packed: Path


def run_demo(
    root: Path,
    folder: Path,
    name: str = "",
    isolation: str = "bwrap",
    tell: Callable[[str], None] = lambda sentence: None,
) -> Shown:
    """Make a class in `folder` and do with it what an instructor does without an exchange."""
    course = copy_course(root, folder.resolve())
    assignment = find_assignment(course, name) if name else for_a_demonstration(assignments(course))
    students = make_class(assignment, hostile=isolation != "none")
    tell(f"A class of {len(students)} was created in {course}, a copy of the course: {assignment.name}.")
    put_into_gradebook(assignment, students)
    download, worksheet = write_download(assignment, students)
    tell(f"autograder collect {download.name} {assignment.argument} --names {worksheet.name} --zone UTC")
    with open_gradebook(course) as gradebook:
        collect(course, download, gradebook, assignment.name, read_rows(worksheet), zone="UTC")
    tell(f"autograder grade {assignment.argument}")
    folders = find_submissions(assignment, assignment.submitted, [])
    grade_class(assignment, folders, Options(isolation), lambda result: None, tell)
    tell(f"autograder report {assignment.argument}")
    write_report(assignment, course / "report.html")
    of_kind: dict[str, str] = {}
    for student in students:
        of_kind.setdefault(student.kind, student.id)
    tell(f"autograder feedback {assignment.argument} {shlex.join(of_kind.values())} --zip")
    made, _ = make_pages(assignment, list(of_kind.values()))  # one of each kind: all would take twice as long
    packed = next(iter(pack(assignment, made, course).archives))
    by_kind = {kind: page_of(assignment, student) for kind, student in of_kind.items()}
    return Shown(course, course / "report.html", by_kind, packed)
