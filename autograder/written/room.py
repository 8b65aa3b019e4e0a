"""The desks of an assignment, one for each question, and the people who are grading at them."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.gradebook.by_hand import read_marks
from autograder.gradebook.gradebook import keep_up, open_gradebook
from autograder.gradebook.queries import knows_notebook
from autograder.written.answers import WrittenAnswers
from autograder.written.desk import Desk
from autograder.written.questions import read_questions
from autograder.written.text_similarity import Encoder

STILL_HERE = 20  # seconds without a request after which a grader counts as gone


class Room:
    """All desks of an assignment. Its methods may be called by several threads at a time."""

    def __init__(self, assignment: Assignment, encoder: Encoder | None, share: float):
        self.assignment, self.share = assignment, share
        keep_up(assignment)
        with open_gradebook(assignment.root) as gradebook:  # a notebook may have been added since
            graded = [
                one for one in assignment.notebooks if knows_notebook(gradebook.db, one.name, one.notebook)
            ]
        self.desks = {
            notebook.within(question.name): Desk(notebook, question, answers, encoder)
            for notebook in graded
            for answers in [WrittenAnswers(notebook)]
            for question in read_questions(notebook)
        }
        if not self.desks:
            raise CourseError(f"{assignment.name} has no question that is graded by hand.")
        self.problem = ""
        self._present: dict[str, tuple[float, str, str]] = {}  # {who: (when, question, group)}

    def prepare(self, done: Callable[[str], None]) -> None:
        """Group the answers to each question, so that the page need not wait for it."""
        try:
            for desk in self.desks.values():
                desk.view("")
                done(desk.question.title)
        except CourseError as error:
            self.problem = str(error)

    def overview(self) -> list[dict[str, Any]]:
        """For each question its points, how many answers it has and how many of them are not graded yet."""
        rows = []
        with open_gradebook(self.assignment.root) as gradebook:
            for name, desk in self.desks.items():
                marks = read_marks(gradebook, desk.assignment, desk.question.name).values()
                written = [mark for mark in marks if not mark.blank]
                rows.append(
                    {
                        "name": name,
                        "title": desk.question.title,
                        "points": desk.question.points,
                        "count": len(written),
                        "waiting": sum(mark.waiting for mark in written),
                    }
                )
        return rows

    def others(self, who: str, question: str, group: str) -> dict[str, str]:
        """The other graders at this question: {name: group}."""
        now = time.monotonic()
        self._present[who] = now, question, group
        self._present = {name: seat for name, seat in self._present.items() if now - seat[0] < STILL_HERE}
        return {
            name: at for name, (_, where, at) in self._present.items() if where == question and name != who
        }

    def agreement(self) -> list[dict[str, Any]]:
        """How far second readings agree with first ones, question by question."""
        return [
            {"question": name, "title": desk.question.title, "who": who, **asdict(agreed)}
            for name, desk in self.desks.items()
            for who, agreed in desk.agreement().items()
        ]
