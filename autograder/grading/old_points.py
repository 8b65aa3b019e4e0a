"""Whose recorded scores count other points than the exercises are worth now."""

from dataclasses import dataclass

from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.gradebook.gradebook import open_gradebook, recorded_students
from autograder.gradebook.history import read_history
from autograder.gradebook.queries import scored_by_hand
from autograder.source import extra_credit, grade_id, graded_cells, points

SHOWN = 10  # students by name


@dataclass(frozen=True)
class OldPoints:
    """Cells with changed points, and the students in whose scores the old ones count."""

    assignment: Assignment
    points: dict[str, tuple[float, float]]  # {cell: before and now}
    students: tuple[str, ...]
    by_hand: bool  # a person gave one of the scores

    def __str__(self) -> str:
        titles = self.assignment.titles
        changed = ", ".join(
            f"{titles.get(cell, cell)} {before:g} → {now:g}" for cell, (before, now) in self.points.items()
        )
        count = len(self.students)
        names = [", ".join(self.students[:SHOWN]), f"and {count - SHOWN} more"][: 1 + (count > SHOWN)]
        whose = (
            "the score of 1 student still uses" if count == 1 else f"the scores of {count} students still use"
        )
        marks = " Scores given by hand are kept, and marked for review." if self.by_hand else ""
        return (
            f"{self.assignment.called}: points have changed ({changed}), and {whose} the old ones: "
            f"{' '.join(names)}. `autograder regrade {self.assignment.argument}` shows what would change, and applies the changes if you agree.{marks}"
        )


def scores_with_old_points(assignment: Assignment) -> OldPoints | None:
    """Whose scores count points that the release no longer has; None if nobody. A score of 0 is not among them: it stays 0."""
    cells = graded_cells(assignment.read_release())
    worth = {grade_id(cell): points(cell) for cell in cells}
    with_extra = {grade_id(cell): points(cell) + extra_credit(cell) for cell in cells}
    changes: dict[str, tuple[float, float]] = {}
    students, by_hand = [], False
    graded = recorded_students(assignment)
    if not graded:
        return None
    with open_gradebook(assignment.root) as gradebook:
        by_person = scored_by_hand(gradebook, assignment.name, assignment.notebook)
    for student in graded:
        history = read_history(assignment, student)
        verdicts = history.by_cell() if history else {}
        # What passed earns everything. A share (a test's own value, a mistake's credit) was given of the points of then.
        earned = {
            cell: (verdict.max_score, worth)
            if verdict.status != Status.PASSED
            else (verdict.earned, with_extra)
            for cell, verdict in verdicts.items()
            if verdict.earned
        }
        of_person = {
            cell: (verdicts[cell].max_score, worth) for cell in by_person.get(student, ()) if cell in verdicts
        }
        changed = {
            cell: (before, now[cell])
            for cell, (before, now) in (earned | of_person).items()
            if before != now.get(cell, before)
        }
        changes |= changed
        by_hand = by_hand or not changed.keys().isdisjoint(of_person)
        if changed:
            students.append(student)
    return OldPoints(assignment, changes, tuple(students), by_hand) if students else None
