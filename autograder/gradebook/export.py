"""Scores for Canvas, Moodle, Blackboard or a spreadsheet, as exporters of nbgrader.

autograder export 02_attention --to canvas
nbgrader export --exporter=autograder.gradebook.export.CanvasExport --assignment='["02_attention"]' --to=grades.csv
"""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, Student
from nbgrader.plugins.export import ExportPlugin
from traitlets import Bool, Unicode

from autograder.course import course_root
from autograder.errors import CourseError
from autograder.files import write_product
from autograder.gradebook.queries import Score, class_scores
from autograder.gradebook.tables import harmless


class SafeExport(ExportPlugin):
    """An exporter whose file holds no formula, and which remembers what an instructor has to know of it."""

    column = Unicode(
        help="The heading of the assignment's column in that system. Default: the assignment's name."
    ).tag(config=True)
    unfinished = Bool(
        help="Also include students who still have answers to be graded by hand, with their points so far."
    ).tag(config=True)
    default_file = "grades.csv"
    layout = "the layout of nbgrader's own table"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.waiting: list[str] = []  # left out
        self.missing: list[str] = []  # handed in nothing
        self.marked: list[str] = []  # texts that look like formulas

    def export(self, gradebook: Gradebook) -> None:
        """Write the table whole or not at all. Raises CourseError for an assignment without any grades."""
        assignments = self._assignments(gradebook)
        if self.column and len(assignments) > 1:
            raise CourseError("--column names the column of a single assignment: name the assignment, too.")
        rows = list(self.rows(gradebook, assignments, self._students(gradebook)))
        text = io.StringIO()
        # Lines end with \r\n (RFC 4180), so that the writer also quotes a cell in which there is a lone \r.
        csv.writer(text).writerows([self._harmless(cell) for cell in row] for row in rows)
        write_product(course_root(), Path(self.to or self.default_file), text.getvalue())

    def rows(
        self, gradebook: Gradebook, assignments: Sequence[Assignment], students: Sequence[Student]
    ) -> Iterable[Sequence[object]]:
        """The lines of the file, its heading first."""
        raise NotImplementedError

    def titles(self, assignments: Iterable[Assignment]) -> list[str]:
        """The headings of the assignments' columns."""
        return [self.column or assignment.name for assignment in assignments]

    def scores(
        self, gradebook: Gradebook, assignments: Sequence[Assignment], students: Sequence[Student]
    ) -> list[tuple[Student, list[float | str]]]:
        """Who has a score, and the scores. A student without any has no line, so that nothing is changed there."""
        of_class = [class_scores(gradebook, assignment.name) for assignment in assignments]
        lines = []
        for student in students:
            scores = [self._finished(student, score_of.get(student.id)) for score_of in of_class]
            if any(score != "" for score in scores):
                lines.append((student, scores))
        return lines

    def _finished(self, student: Student, score: Score | None) -> float | str:
        """The score to hand over; "" if there is none, or none yet."""
        if score is None:
            self.missing.append(student.id)
            return ""
        if score.waiting and not self.unfinished:
            self.waiting.append(student.id)
            return ""
        return round(score.net, 2)

    def _assignments(self, gradebook: Gradebook) -> list[Assignment]:
        wanted = [str(name) for name in self.assignment]
        chosen = [
            assignment for assignment in gradebook.assignments if assignment.name in wanted or not wanted
        ]
        unknown = set(wanted) - {assignment.name for assignment in chosen}
        if unknown:
            raise CourseError(
                f"The gradebook has no entry for {', '.join(sorted(unknown))}: nobody has been graded yet."
            )
        return chosen

    def _students(self, gradebook: Gradebook) -> list[Student]:
        wanted = [str(name) for name in self.student]
        return [student for student in gradebook.students if student.id in wanted or not wanted]

    def _harmless(self, cell: object) -> object:
        if isinstance(cell, str) and (escaped := harmless(cell)) != cell:
            self.marked.append(cell)
            return escaped
        return cell


class CanvasExport(SafeExport):
    """A file for Canvas' "Import Grades".

    Canvas finds a student by ID (its own number: nbgrader's lms_user_id), else by SIS Login ID (nbgrader's
    student id), else by the name. It finds the assignment by the column's title, and makes a new one otherwise.
    """

    default_file = "canvas.csv"
    layout = "the layout that Canvas expects under Grades → Import"

    def rows(self, gradebook, assignments, students):
        """Two lines of headings, the second with the maximum scores, and one line for each student with a score."""
        yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *self.titles(assignments)]
        yield ["    Points Possible", "", "", "", "", *(assignment.max_score for assignment in assignments)]
        for student, scores in self.scores(gradebook, assignments, students):
            yield [full_name(student), student.lms_user_id or "", "", student.id, "", *scores]


class MoodleExport(SafeExport):
    """A file for Moodle's "Import: CSV file".

    Map from "ID number" to ID number or to Username, whichever nbgrader's student ids are, or from "Email
    address". Moodle gives a line whose cell is empty in the column that is mapped from to the student of the
    line before: so e-mail addresses are written only if everybody's is known.
    """

    default_file = "moodle.csv"
    layout = "the layout that Moodle expects under Grades → Import → CSV file"

    def rows(self, gradebook, assignments, students):
        """One line for each student with a score; e-mail addresses only if all of these students have one."""
        lines = self.scores(gradebook, assignments, students)
        emails = all(student.email for student, _ in lines)
        start = ["First name", "Last name", "ID number", *(["Email address"] if emails else [])]
        yield [*start, *self.titles(assignments)]
        for student, scores in lines:
            who = [student.first_name or "", student.last_name or "", student.id]
            yield [*who, *([student.email] if emails else []), *scores]


class BlackboardExport(SafeExport):
    """A file for Blackboard's "Upload Grades".

    Blackboard finds a student by the user name (nbgrader's student id), and the column by its whole heading with the number
    at its end, as Blackboard's own download has it; any other heading makes a new column.
    """

    default_file = "blackboard.csv"
    layout = "the layout that Blackboard expects under Work Offline → Upload Grades"

    def rows(self, gradebook, assignments, students):
        """One line for each student with a score."""
        yield ["Last Name", "First Name", "Username", *self.titles(assignments)]
        for student, scores in self.scores(gradebook, assignments, students):
            yield [student.last_name or "", student.first_name or "", student.id, *scores]


class CsvExport(SafeExport):
    """One line for each student and assignment, with nbgrader's own columns and two more.

    Everybody in the gradebook has a line. Without a submission the scores are empty.
    """

    COLUMNS = (
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
        "raw_score", "late_submission_penalty", "score", "max_score", "submitted", "needs_manual_grade",
    )  # fmt: skip

    def rows(self, gradebook, assignments, students):
        """A line also for a student who handed in nothing, who is then listed as missing."""
        yield self.COLUMNS
        for assignment in assignments:
            score_of = class_scores(gradebook, assignment.name)
            for student in students:
                score = score_of.get(student.id)
                when = ["", ""] if score is None else [score.timestamp or "", int(score.waiting)]
                numbers = ["", "", ""] if score is None else [score.raw, score.penalty, score.net]
                if score is None:
                    self.missing.append(student.id)
                yield [
                    *(*self.titles([assignment]), assignment.duedate or "", when[0]),
                    *(student.id, student.last_name or "", student.first_name or "", student.email or ""),
                    *(*numbers, assignment.max_score, int(score is not None), when[1]),
                ]


EXPORTERS = {
    "canvas": CanvasExport,
    "moodle": MoodleExport,
    "blackboard": BlackboardExport,
    "csv": CsvExport,
}


def full_name(student: Student) -> str:
    """As Canvas writes it: "Lovelace, Ada"."""
    return ", ".join(part for part in (student.last_name, student.first_name) if part)
