"""Who builds on an own function that is wrong pays for it once: dependants are judged again with the solution's.

So are those that build on one that is right with a note: what it gives is a numpy array, a list, or of another dtype, and
that the next function cannot use it costs nothing.

The solution's function runs in the same process as the student's code, which may read it there. So it is lent only
after the verdict on the student's own, an exercise is never asked in a run that holds its solution, and of such a run
nothing is kept but whether the answers are right, or those of a mistake that has a share of the points.

What is lent calls the student's other functions. Two that are right, each alone, may not go together: one gives numpy, the
other takes torch. So whom an error has stopped is lent, first or besides, all that these functions call.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.checks.answer_key import ExerciseKey
from autograder.checks.asking import Answer
from autograder.checks.comparing import KnownMistake, earned_credit, passes, recognised
from autograder.checks.explaining.words import as_sentence
from autograder.checks.judging import notes_on
from autograder.checks.status import Problem, Status
from autograder.course import Assignment
from autograder.grading.verdicts import Reply, automatic
from autograder.results import CellVerdict
from autograder.source import defined_in, grade_id
from autograder.untrusted.calls import names_in, names_used, reached
from autograder.untrusted.submission import Submission


@dataclass(frozen=True)
class Loan:
    """A run in which the solution's functions of `lent` stand in the place of the student's, and `asked` are checked."""

    lent: frozenset[str]
    checked: frozenset[str]


class Dependants:
    """The wrong answers of one submission that may be wrong only because of earlier ones.

    `solutions` are the solution's cells, by the exercise's name.
    """

    def __init__(
        self,
        assignment: Assignment,
        submission: Submission,
        solutions: Mapping[str, str],
        keys: Mapping[str, ExerciseKey],
        replies: Mapping[str, Reply],
        verdicts: list[CellVerdict],
    ):
        self._assignment = assignment
        self._cells = {grade_id(cell): cell for cell in submission.graded}
        self._solutions = solutions
        self._defined = {name: defined_in(source) for name, source in solutions.items()}
        self._keys = keys
        self._verdicts = verdicts
        status = {verdict.grade_id: verdict.status for verdict in verdicts}
        self._wrong = [
            name
            for name, e in assignment.exercises.items()
            if status.get(e.check_id, Status.PASSED) != Status.PASSED
        ]
        self._noted = {
            name
            for name, e in assignment.exercises.items()
            if status.get(e.check_id) == Status.PASSED
            and notes_on(replies[name].answers(keys[name]), keys[name].expected, keys[name].rule)
        }
        self._others = self._cells_but(assignment, submission)
        several = bool(self._wrong) and len(self._wrong) + len(self._noted) > 1
        self._calls = self._read_calls(self._of_student(submission)) if several else {}
        self._uses = self._with_declared(self._calls)
        self._tried = {name for name in self._wrong if self._was_tried(name, replies[name])}
        self._to_judge = {name for name in self._tried if self._builds_on(name)}
        self._stopped_first = {n for n in self._to_judge if _stopped(replies[n].answers(keys[n]))}
        self._stopped_since: set[str] = set()
        self._lent: set[tuple[str, frozenset[str]]] = set()  # to whom what
        self._rescued: dict[str, frozenset[str]] = {}  # with what was lent
        self._credited: dict[str, tuple[KnownMistake, frozenset[str]]] = {}

    def loans(self) -> Iterator[Loan]:
        """The runs to make, one at a time: `hear` of one before asking for the next. Who stops before the end is told so."""
        while self._to_judge:
            new = {name: lent for name in self._to_judge if (lent := self._left_to_lend(name))}
            for functions in dict.fromkeys(new.values()):
                checked = frozenset(name for name in new if new[name] == functions)
                self._lent |= {(name, functions) for name in checked}
                yield Loan(functions, checked)
            self._settle()

    def _left_to_lend(self, name: str) -> frozenset[str]:
        """What to try next, or nothing."""
        lent = (functions for functions in self._to_lend(name) if (name, functions) not in self._lent)
        return next(lent, frozenset())

    def _settle(self) -> None:
        """Whoever builds on nothing that may still turn out right, and was lent all, is wrong for good."""
        self._to_judge -= {
            name
            for name in self._to_judge
            if not self._builds_on(name) & self._to_judge and not self._left_to_lend(name)
        }

    def hear(self, loan: Loan, replies: Mapping[str, Reply]) -> None:
        """Right, or a mistake with a share of the points, or still wrong: nothing else of these answers is kept."""
        for name in loan.checked & replies.keys():
            key, exercise = self._keys[name], self._assignment.exercises[name]
            answers = replies[name].answers(key)
            if passes(answers, key.expected, key.rule, exercise.unseen):
                self._rescued[name] = loan.lent
                self._to_judge.discard(name)
                self._wrong.remove(name)
                continue
            if _stopped(answers):
                self._stopped_since.add(name)
            equal = recognised(answers, key.rule, key.mistakes)
            if earned_credit(equal):
                self._credited[name] = min(equal, key=lambda mistake: mistake.credit), loan.lent

    def verdicts(self) -> list[CellVerdict]:
        """All verdicts, with the points of those who were right after all, and a word to those who were not."""
        self._settle()
        return [self._after(verdict) for verdict in self._verdicts]

    def _after(self, verdict: CellVerdict) -> CellVerdict:
        exercise = self._assignment.by_check_id.get(verdict.grade_id)
        if exercise is None:
            return verdict
        if lent := self._rescued.get(exercise.name):
            reason = f"Your answer is right if it uses the solution's {_names(lent)} instead of yours."
            if lent <= self._noted:
                reason += (
                    " Your version is right as well, but returns a different type, which this function cannot use."
                    if len(lent) == 1
                    else " Your versions are right as well, but return different types, which this function cannot use."
                )
            return automatic(self._cells[verdict.grade_id], Status.PASSED, reason)
        mistake, lent = self._credited.get(exercise.name, (None, frozenset()))
        if mistake and mistake.credit > verdict.credit:
            reason = (
                f"{as_sentence(mistake.name)}. With the solution's {_names(lent)} instead of yours, "
                f"your answer earns {mistake.credit:.0%} of the points."
            )
            cell = self._cells[verdict.grade_id]
            return automatic(cell, Status.FAILED, reason, mistake.name, mistake.hint, mistake.credit)
        if exercise.name in self._tried and (earlier := self._calls_wrong(exercise.name)):
            are = "are" if len(earlier) > 1 else "is"
            first, *rest = verdict.reason.split(
                "\n"
            )  # the first line says what is wrong, an error's last one its message
            builds = f"This exercise builds on {_names(earlier)}, which {are} not right."
            if exercise.name in self._to_judge:  # `loans` was left before its end
                builds += " There was no time left to grade your answer with the solution's version."
            return replace(verdict, reason="\n".join([first, builds, *rest]))
        return verdict

    def _builds_on(self, name: str) -> frozenset[str]:
        """The earlier exercises that this one uses, itself or through others, and that are wrong or right with a note."""
        noted = reached([name], self._calls) & self._noted
        return frozenset(reached([name], self._uses) & {*self._wrong} - {name} | noted)

    def _calls_wrong(self, name: str) -> frozenset[str]:
        """Those that are wrong, and whose functions its code calls."""
        return frozenset(reached([name], self._calls) & {*self._wrong} - {name})

    def _to_lend(self, name: str) -> list[frozenset[str]]:
        """Of what it builds on, that whose verdict stands; where an error has stopped it, also with all they call.

        In the order in which to try.
        """
        settled = self._builds_on(name) - self._to_judge
        wrong = settled - self._noted
        tries = [settled, wrong]
        if settled and name in self._stopped_first | self._stopped_since:
            whole = settled | reached(settled, self._solutions_use) - self._to_judge
            tries = [whole, *tries] if name in self._stopped_first else [*tries, whole]
        return [*filter(None, dict.fromkeys(tries))]

    def _was_tried(self, name: str, reply: Reply) -> bool:
        """Whether there is an answer to judge: not one's own stub, and not a notebook that ended before."""
        if reply.frame is None:
            return False
        stubs = [a.message for a in reply.frame.answers.values() if a.problem == Problem.UNANSWERED]
        return not any(stub in self._defined[name] for stub in stubs)

    def _of_student(self, submission: Submission) -> dict[str, str]:
        """The student's solution cells, by the exercise's name."""
        texts = {grade_id(cell): cell["source"] for cell in submission.notebook.cells}
        exercises = self._assignment.exercises
        return {name: texts.get(exercise.solution_id, "") for name, exercise in exercises.items()}

    def _cells_but(self, assignment: Assignment, submission: Submission) -> list[str]:
        """All other cells of code: helpers of the student's, and ours."""
        solutions = {exercise.solution_id for exercise in assignment.exercises.values()}
        return [
            cell["source"]
            for cell in submission.notebook.cells
            if cell["cell_type"] == "code" and grade_id(cell) not in solutions
        ]

    @cached_property
    def _solutions_use(self) -> dict[str, set[str]]:
        return self._with_declared(self._read_calls(self._solutions))

    def _with_declared(self, calls: Mapping[str, set[str]]) -> dict[str, set[str]]:
        """And the earlier exercises that each one declares to use."""
        exercises = self._assignment.exercises
        return {name: called | {*exercises[name].uses} for name, called in calls.items()}

    def _read_calls(self, sources: Mapping[str, str]) -> dict[str, set[str]]:
        """The earlier exercises whose functions each calls, in its own cells or through helpers in others.

        `sources` are the solution cells. The check's cell calls, too: it may hand a function an object of an earlier class.
        """
        used = names_used([*self._others, *sources.values()])
        ends = frozenset().union(*self._defined.values())
        calls: dict[str, set[str]] = {}
        for name, exercise in self._assignment.exercises.items():
            check = self._cells.get(exercise.check_id)
            begin = {*self._defined[name], *names_in(check["source"] if check else "")}
            names = reached(begin, used, ends - self._defined[name])
            calls[name] = {before for before in calls if self._defined[before] & names}
        return calls


def _stopped(answers: Iterable[Answer | None]) -> bool:
    return any(answer and answer.problem == Problem.EXCEPTION for answer in answers)


def _names(exercises: frozenset[str]) -> str:
    *first, last = sorted(name.partition(".")[2] for name in exercises)
    return f"{', '.join(first)} and {last}" if first else last
