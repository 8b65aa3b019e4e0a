"""What is known of a class whose submissions of an assignment were graded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from autograder.course import Assignment
from autograder.gradebook.gradebook import NobodyGraded, keep_up, open_gradebook
from autograder.gradebook.history import History, read_history
from autograder.gradebook.queries import CellMean, Score, cell_means, class_scores
from autograder.source import grade_id


@dataclass(frozen=True)
class Class:
    """Everything that is known of the submissions of a notebook; the scores are those of the whole assignment."""

    assignment: Assignment
    scores: Mapping[str, Score]
    histories: Mapping[str, History]
    means: Mapping[str, CellMean]
    names: Mapping[str, str]  # of everybody in the gradebook, "" where there is none

    @cached_property
    def automatic(self) -> frozenset[str]:
        """The grade ids of checks, and of test cells of nbgrader's kind."""
        tests = self.assignment.test_cells(self.assignment.read_release())
        return frozenset([*self.assignment.by_check_id, *map(grade_id, tests)])


def read_class(assignment: Assignment) -> Class:
    """What the gradebook and the kept results hold. Raises NobodyGraded."""
    keep_up(assignment)
    with open_gradebook(assignment.root) as gradebook:
        scores = class_scores(gradebook, assignment.name)
        if not scores:
            raise NobodyGraded(assignment)
        means = cell_means(gradebook, assignment.name, assignment.notebook)
        names = {
            student.id: " ".join(part for part in (student.first_name, student.last_name) if part)
            for student in gradebook.students
        }
    histories = {student: history for student in scores if (history := read_history(assignment, student))}
    return Class(assignment, scores, histories, means, names)
