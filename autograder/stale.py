"""Whose recorded scores count other points than the exercises are worth now."""

from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.gradebook import recorded_students
from autograder.history import recall
from autograder.source import grade_id
from autograder.verdicts import extra_credit, graded_cells, points

SHOWN = 10  # students by name


@dataclass(frozen=True)
class Stale:
    """Cells with changed points, and the students in whose scores the old ones count."""

    assignment: str
    points: dict[str, tuple[float, float]]  # {cell: before and now}
    students: tuple[str, ...]

    def __str__(self) -> str:
        changed = ", ".join(f"{cell} {before:g} → {now:g}" for cell, (before, now) in self.points.items())
        count = len(self.students)
        names = [", ".join(self.students[:SHOWN]), f"and {count - SHOWN} more"][: 1 + (count > SHOWN)]
        whose = "the score of 1 student" if count == 1 else f"the scores of {count} students"
        return (
            f"{self.assignment}: points have changed ({changed}), and {whose} still count the old ones: "
            f"{' '.join(names)}. `autograder regrade {self.assignment}` shows what would change, and changes it."
        )


def stale_scores(assignment: Assignment, release: NotebookNode | None = None) -> Stale | None:
    """What the points of a release leave stale; None if nothing.

    Points that nobody has earned yet, and scores that a person gave, are not: nothing would change them.
    """
    cells = graded_cells(release or assignment.read_release())
    worth = {grade_id(cell): points(cell) + extra_credit(cell) for cell in cells}
    found: dict[str, tuple[float, float]] = {}
    students = []
    for student in recorded_students(assignment):
        known = recall(assignment, student)
        earned = {verdict.grade_id: verdict.earned for verdict in known.verdicts} if known else {}
        changed = {
            cell: (before, worth[cell])
            for cell, before in earned.items()
            if before and before != worth.get(cell, before)  # a check earns all or nothing
        }
        found |= changed
        if changed:
            students.append(student)
    return Stale(assignment.name, found, tuple(students)) if students else None
