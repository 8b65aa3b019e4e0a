"""What nbgrader's gradebook holds of a whole class, in few statements."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import func, select


@dataclass(frozen=True)
class Score:
    """A student's score of an assignment."""

    raw: float
    penalty: float  # for being late
    waiting: bool  # for a person to grade some of it
    timestamp: datetime | None

    @property
    def net(self) -> float:
        return max(0.0, self.raw - self.penalty)


def class_scores(gradebook: Gradebook, assignment: str) -> Mapping[str, Score]:
    """The scores of everybody who handed in, by the student's id."""
    asked = (
        select(SubmittedAssignment.student_id, func.sum(SubmittedNotebook.late_submission_penalty))
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == assignment)
        .group_by(SubmittedAssignment.student_id)
    )
    penalties = {student: penalty or 0.0 for student, penalty in gradebook.db.execute(asked)}
    return {
        one["student"]: Score(
            one["score"], penalties[one["student"]], bool(one["needs_manual_grade"]), one["timestamp"]
        )
        for one in sorted(gradebook.submission_dicts(assignment), key=lambda one: one["student"])
    }


@dataclass(frozen=True)
class Given:
    """What was given for a cell so far, by hand or not."""

    students: int
    mean: float


def given_so_far(gradebook: Gradebook, assignment: str) -> Mapping[str, Given]:
    """For each graded cell how many have a score that waits for nobody, and its mean."""
    asked = (
        select(GradeCell.name, func.count(), func.avg(Grade.score))
        .join(Grade, Grade.cell_id == GradeCell.id)
        .join(Notebook, GradeCell.notebook_id == Notebook.id)
        .join(Assignment, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == assignment, Grade.needs_manual_grade.is_(False))
        .group_by(GradeCell.name)
    )
    return {name: Given(students, mean) for name, students, mean in gradebook.db.execute(asked)}
