"""One question on the desk: groups of answers, and what people decide about them.

Points and comments go into nbgrader's gradebook at once; it is the record. Beside it, in
`.autograder/written/ASSIGNMENT/QUESTION.json`, stands what the gradebook has no place for: groups, ticked points, who gave
them, second readings, and how to undo. Each change says what it was based on. If that has changed since, by another
grader, in formgrader, or because the student handed in anew, nothing is written and Conflict says so.
"""

import fcntl
import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from autograder.course import Assignment
from autograder.gradebook.by_hand import Mark, read_marks
from autograder.gradebook.gradebook import open_gradebook
from autograder.written.agreement import Agreement, agreement
from autograder.written.answers import Aliases, WrittenAnswers
from autograder.written.questions import Question
from autograder.written.state import Decision, Json, QuestionState, short_digest
from autograder.written.text_similarity import Encoder, same_words
from autograder.written.transaction import Conflict, Transaction

LONGEST_SHOWN, LONGEST_COMMENT, LONGEST_NAME = 6000, 5000, 60  # characters


@dataclass(frozen=True)
class Undone:
    """What was taken back, and where to look."""

    what: str
    group: str
    answer: str = ""  # the alias, where points were given to one answer and not to its group
    decision: Decision | None = None  # what was given, if nothing was before: nobody has to type it again


class Refused(Exception):
    """An action that makes no sense, such as more points than there are. Nothing was written."""


class Desk:
    """A question of an assignment. All methods may be called by several threads and programs at a time."""

    def __init__(
        self, assignment: Assignment, question: Question, answers: WrittenAnswers, encoder: Encoder | None
    ):
        self.assignment, self.question, self.answers, self.encoder = assignment, question, answers, encoder
        self._aliases = Aliases(assignment.root)
        self._path = assignment.kept("written") / f"{question.name}.json"
        self._turn = threading.Lock()

    # ------------------------------------------------------------------------------------------ what is seen

    @property
    def serial(self) -> int:
        """Grows with every change made at a desk."""
        return QuestionState.read(self._path).serial

    @property
    def grouped(self) -> bool:
        """Whether there are groups, as it takes a while to make them for a whole class."""
        return self._path.exists()

    def view(self, who: str) -> Json:
        """What the page shows: no names, and texts that are to be shown as text."""
        with self._now() as now:
            members = self._aliased(now)
            groups = [
                {"id": name, "tag": self._group_tag(group), "rows": self._rows(now, group)}
                for name, group in now.state.groups.items()
            ]
            mine = [entry for entry in now.state.done if entry["who"] == who]
            return {
                "serial": now.state.serial,
                "question": {**asdict(self.question), "alternatives": self.question.alternatives},
                "groups": groups,
                "count": len(members),
                "waiting": sum(now.marks[student].waiting for student in members.values()),
                "blank": sum(mark.blank for mark in now.marks.values()),
                "unread": sum(
                    mark.waiting and student not in now.texts for student, mark in now.marks.items()
                ),
                "undo": mine[-1]["what"] if mine else "",
            }

    def _rows(self, now: Transaction, group: Sequence[str]) -> list[Json]:
        """Exact copies with the same points share a row."""
        copies: dict[tuple, list[str]] = {}
        for student in group:
            basis = same_words(now.texts[student]), now.decision(student), now.marks[student].waiting
            copies.setdefault(basis, []).append(student)
        rows = []
        for (_, decision, waiting), students in copies.items():
            text = Counter(now.texts[student] for student in students).most_common(1)[0][0]
            rows.append(
                {
                    "answers": {self._alias(student): now.tag(student) for student in students},
                    "text": text[:LONGEST_SHOWN],
                    "cut": max(0, len(text) - LONGEST_SHOWN),
                    "waiting": waiting,
                    "decision": asdict(decision) if decision else None,
                }
            )
        return rows

    # ------------------------------------------------------------------------------------------ what is done

    def give(
        self,
        who: str,
        seen: Mapping[str, str],
        score: float,
        ticks: Iterable[int] = (),
        comment: str = "",
        alone: bool = False,
    ) -> None:
        """Give points and a comment to the answers in `seen`: {alias: tag}."""
        decision = self._checked(who, score, ticks, comment, alone)
        with self._now() as now:
            students = self._seen(now, seen)
            what = f"{_points(score)} to {_answers(len(students))}"
            now.change_marks(
                who,
                what,
                {student: (Mark(decision.score, decision.comment, False), decision) for student in students},
            )

    def split(self, who: str, group: str, tag: str, aliases: Sequence[str]) -> str:
        """Make a group of its own of some answers of a group. Returns its id."""
        with self._now() as now:
            members = self._group(now, group, tag)
            student_of = self._aliased(now)
            leaving = {student_of.get(alias) for alias in aliases}
            if not leaving <= set(members) or not leaving or leaving == set(members):
                raise Refused("Choose some of the group's answers, but not all.")
            new = now.new_group()
            stay = [student for student in members if student not in leaving]
            after = {group: stay, new: [student for student in members if student in leaving]}
            now.change_groups(who, f"{_answers(len(leaving))} split off", {group: members}, after)
            return new

    def join(self, who: str, tags: Mapping[str, str]) -> str:
        """Make one group of several, {id: tag}. Returns the id of the first, which the others join."""
        if len(tags) < 2:
            raise Refused("Choose two groups to join.")
        with self._now() as now:
            before = {group: self._group(now, group, tag) for group, tag in tags.items()}
            into = next(group for group in now.state.groups if group in before)
            together = before[into] + [
                s for group, members in before.items() if group != into for s in members
            ]
            now.change_groups(who, f"{len(before)} groups joined", before, {into: together})
            return into

    def undo(self, who: str) -> Undone:
        """Take back this person's last action. Raises Conflict if others have built on it."""
        with self._now() as now:
            entry = next((entry for entry in reversed(now.state.done) if entry["who"] == who), None)
            if entry is None:
                raise Refused("You have nothing to undo.")
            if entry["kind"] == "marks":
                student = next(iter(entry["before"]))
                given = now.state.decisions.get(student)
                now.undo_marks(entry)
                group = next(name for name, members in now.state.groups.items() if student in members)
                alone = self._alias(student) if given and given.alone else ""
                graded_before = any(now.decision(student) for student in entry["before"])
                undone = Undone(entry["what"], group, alone, None if graded_before else given)
            else:
                now.undo_groups(entry)
                undone = Undone(entry["what"], next(iter(entry["before"])))
            now.state.done.remove(entry)
            now.write()
            return undone

    # -------------------------------------------------------------------------------------- second readings

    def next_again(self, who: str, share: float) -> Json:
        """An answer to be read a second time, without its points: of a share of all that chance chose once.

        Those that others graded come first; only where there are none, one's own.
        """
        with self._now() as now:
            open_ones = [
                student
                for student in self._aliased(now).values()
                if self._aliases.share(self.question.name, student) < share
                and not now.marks[student].waiting
                and student not in now.state.second
            ]
            others = [
                student
                for student in open_ones
                if (first := now.decision(student)) is not None and first.by != who
            ]
            chosen = sorted(
                others or open_ones, key=lambda student: self._aliases.share(self.question.name, student)
            )
            if not chosen:
                return {"left": 0}
            text = now.texts[chosen[0]]
            return {"left": len(chosen), "answer": self._alias(chosen[0]), "text": text[:LONGEST_SHOWN]}

    def give_again(self, who: str, alias: str, score: float, ticks: Iterable[int] = ()) -> None:
        """The points of a second reading. They are kept for `agreement` and change no grade."""
        decision = self._checked(who, score, ticks, "", True)
        with self._now() as now:
            student = self._aliased(now).get(alias)
            if student is None or now.marks[student].waiting:
                raise Conflict("This answer has changed in the meantime.")
            if student in now.state.second:
                raise Conflict(f"{now.state.second[student].by} has just read this answer a second time.")
            now.state.second[student] = decision
            now.write()

    def agreement(self) -> dict[str, Agreement]:
        """Of second readings: between two people, and of one person with herself; those that there are."""
        if not QuestionState.read(self._path).second:
            return {}
        with self._now() as now:
            pairs: dict[str, list[tuple[float, float]]] = {"two people": [], "one person twice": []}
            for student, again in now.state.second.items():
                first = now.decision(student) if student in now.marks and student in now.texts else None
                if first:
                    kind = "one person twice" if first.by == again.by else "two people"
                    pairs[kind].append((first.score, again.score))
            return {kind: agreed for kind, scores in pairs.items() if (agreed := agreement(scores))}

    # ------------------------------------------------------------------------------------------ one moment

    @contextmanager
    def _now(self) -> Iterator[Transaction]:
        """The question as it is, with a group for every answer. Nobody else changes it at a desk meanwhile."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._turn, self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = QuestionState.read(self._path)
            with open_gradebook(self.assignment.root) as gradebook:
                marks = read_marks(gradebook, self.assignment, self.question.name)
                texts = {
                    student: text
                    for student, text in self.answers.of(self.question.name).items()
                    if student in marks and not marks[student].blank
                }
                now = Transaction(
                    self.assignment, self.question.name, self._path, state, gradebook, marks, texts
                )
                self._place(now)
                yield now

    def _place(self, now: Transaction) -> None:
        """Put every answer that has no group into one: that of an exact copy, else a new one with its like."""
        state = now.state
        digests = {student: short_digest(text) for student, text in now.texts.items()}
        if state.texts == digests and self._path.exists():
            return
        stay = {student for student, digest in digests.items() if state.texts.get(student) == digest}
        state.groups = {
            name: staying
            for name, members in state.groups.items()
            if (staying := [s for s in members if s in stay])
        }
        of_words = {same_words(now.texts[s]): name for name, members in state.groups.items() for s in members}
        new = []
        for student in sorted(digests.keys() - stay, key=lambda s: self._alias(s)):
            group = of_words.get(same_words(now.texts[student]))
            if group:
                state.groups[group].append(student)
            else:
                new.append(student)
        if new:
            from autograder.written.grouping import propose  # start-up: numpy

            for places in propose([now.texts[student] for student in new], self.encoder):
                state.groups[now.new_group()] = [new[place] for place in places]
        state.texts = digests
        now.write()

    # -------------------------------------------------------------------------------------------- what is asked

    def _alias(self, student: str) -> str:
        return self._aliases.alias(self.question.name, student)

    def _aliased(self, now: Transaction) -> dict[str, str]:
        return {self._alias(student): student for student in now.texts}

    def _group_tag(self, members: Iterable[str]) -> str:
        return short_digest("\n".join(sorted(members)))

    def _group(self, now: Transaction, name: str, tag: str) -> list[str]:
        members = now.state.groups.get(name, [])
        if self._group_tag(members) != tag:
            raise Conflict("This group has changed in the meantime, so nothing was saved: look at it again.")
        return members

    def _seen(self, now: Transaction, seen: Mapping[str, str]) -> list[str]:
        student_of = self._aliased(now)
        students = [student_of[alias] for alias in seen if alias in student_of]
        if not students or len(students) < len(seen):
            raise Conflict(
                "These answers have changed in the meantime, so nothing was saved: look at them again."
            )
        changed = [s for s, tag in zip(students, seen.values(), strict=True) if now.tag(s) != tag]
        if changed:
            decision = now.decision(changed[0])
            what = (
                f"{decision.by} has given {_points(decision.score)} to"
                if decision
                else "Points were taken back from"
            )
            raise Conflict(
                f"{what} {_answers(len(changed))} of this group in the meantime, so nothing was saved: look at them again."
            )
        return students

    def _checked(self, who: str, score: float, ticks: Iterable[int], comment: str, alone: bool) -> Decision:
        ticks = tuple(sorted(set(ticks)))
        if not math.isfinite(score) or not 0 <= score <= self.question.points:
            raise Refused(f"Points must lie between 0 and {self.question.points:g}.")
        if any(not 0 <= tick < len(self.question.guide) for tick in ticks):
            raise Refused("The marking guide has no such point.")
        if len(comment) > LONGEST_COMMENT:
            raise Refused(f"A comment may have at most {LONGEST_COMMENT} characters.")
        return Decision(round(float(score), 3), comment.strip(), ticks, alone, who)


def _points(score: float) -> str:
    return "1 point" if score == 1 else f"{score:g} points"


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"
