"""One question on the desk: groups of answers, and what people decide about them.

Points and comments go into nbgrader's gradebook at once; it is the record. Beside it, in
`.autograder/written/ASSIGNMENT/QUESTION.json`, stands what the gradebook has no place for: groups, ticked points, who gave
them, second readings, and how to undo. Each change says what it was based on. If that has changed since, by another
grader, in formgrader, or because the student handed in anew, nothing is written and Conflict says so.
"""

import fcntl
import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from nbgrader.api import Gradebook

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.files import write_aside
from autograder.gradebook.by_hand import Mark, read_marks, write_marks
from autograder.gradebook.gradebook import open_gradebook
from autograder.written.agreement import Agreement, agreement
from autograder.written.answers import Aliases, Answers
from autograder.written.likeness import Encoder, same_words
from autograder.written.questions import Question

LONGEST_SHOWN, LONGEST_COMMENT, LONGEST_NAME = 6000, 5000, 60  # characters
MOST_UNDONE = 100  # actions that can be undone
ELSEWHERE = "formgrader"
"""Who gave points that the desk knows nothing of."""

Json = dict[str, Any]


class Conflict(Exception):
    """What an action was based on is no longer so. Nothing was written."""


class Refused(Exception):
    """An action that makes no sense, such as more points than there are. Nothing was written."""


@dataclass(frozen=True)
class Decision:
    """What a person gave an answer, and for what. `alone`: to this one and not to its group."""

    score: float
    comment: str
    ticks: tuple[int, ...]
    alone: bool
    by: str


@dataclass(frozen=True)
class Undone:
    """What was taken back, and the group to look at."""

    what: str
    group: str


@dataclass
class State:
    """What is kept beside the gradebook."""

    serial: int = 0  # grows with every change
    last_group: int = 0
    groups: dict[str, list[str]] = field(default_factory=dict)  # in the order in which they are shown
    texts: dict[str, str] = field(default_factory=dict)  # {student: digest of the text that was grouped}
    decisions: dict[str, Decision] = field(default_factory=dict)
    second: dict[str, Decision] = field(default_factory=dict)  # second readings, which change no points
    done: list[Json] = field(default_factory=list)  # the last actions, with what was before and after

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "State":
        words = json.loads(text)
        for part in ("decisions", "second"):
            words[part] = {student: _decision(entry) for student, entry in words[part].items()}
        return cls(**words)


def _decision(entry: Json | None) -> Decision | None:
    return Decision(**{**entry, "ticks": tuple(entry["ticks"])}) if entry else None


@dataclass
class Now:
    """Everything about the question at one moment, while nobody else changes it."""

    state: State
    gradebook: Gradebook
    marks: Mapping[str, Mark]
    texts: Mapping[str, str]

    def decision(self, student: str) -> Decision | None:
        """What counts for a student: the desk's decision if the gradebook agrees, else what the gradebook says."""
        mark, own = self.marks[student], self.state.decisions.get(student)
        if mark.score is None:
            return None
        if own and (own.score, own.comment) == (mark.score, mark.comment):
            return own
        return Decision(mark.score, mark.comment, (), True, ELSEWHERE)

    def tag(self, student: str) -> str:
        """Changes with anything that a decision about this answer is based on."""
        basis = (self.decision(student), self.marks[student].waiting, self.texts[student])
        return _short_digest(repr(basis))


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Desk:
    """A question of an assignment. All methods may be called by several threads and programs at a time."""

    def __init__(self, assignment: Assignment, question: Question, answers: Answers, encoder: Encoder | None):
        self.assignment, self.question, self.answers, self.encoder = assignment, question, answers, encoder
        self._aliases = Aliases(assignment.root)
        self._path = assignment.root / ".autograder" / "written" / assignment.name / f"{question.name}.json"
        self._turn = threading.Lock()

    # ------------------------------------------------------------------------------------------ what is seen

    @property
    def serial(self) -> int:
        """Grows with every change made at a desk."""
        return self._read().serial

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

    def _rows(self, now: Now, group: Sequence[str]) -> list[Json]:
        """Exact copies with the same points share a row."""
        rows: dict[tuple, list[str]] = {}
        for student in group:
            basis = same_words(now.texts[student]), now.decision(student), now.marks[student].waiting
            rows.setdefault(basis, []).append(student)
        shown = []
        for (_, decision, waiting), students in rows.items():
            text = Counter(now.texts[student] for student in students).most_common(1)[0][0]
            shown.append(
                {
                    "answers": {self._alias(student): now.tag(student) for student in students},
                    "text": text[:LONGEST_SHOWN],
                    "cut": max(0, len(text) - LONGEST_SHOWN),
                    "waiting": waiting,
                    "decision": asdict(decision) if decision else None,
                }
            )
        return shown

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
            self._change_marks(
                now,
                who,
                what,
                {student: (Mark(decision.score, decision.comment, False), decision) for student in students},
            )

    def split(self, who: str, group: str, tag: str, aliases: Sequence[str]) -> str:
        """Make a group of its own of some answers of a group. Returns its id."""
        with self._now() as now:
            members = self._group(now, group, tag)
            known = self._aliased(now)
            leaving = {known.get(alias) for alias in aliases}
            if not leaving <= set(members) or not leaving or leaving == set(members):
                raise Refused("Choose some answers of the group, and not all of them.")
            new = self._new_group(now)
            stay = [student for student in members if student not in leaving]
            after = {group: stay, new: [student for student in members if student in leaving]}
            self._change_groups(now, who, f"{_answers(len(leaving))} split off", {group: members}, after)
            return new

    def join(self, who: str, tags: Mapping[str, str]) -> str:
        """Make one group of several, {id: tag}. Returns the id of the first, which the others join."""
        if len(tags) < 2:
            raise Refused("Choose two groups to join.")
        with self._now() as now:
            before = {group: self._group(now, group, tag) for group, tag in tags.items()}
            into = next(group for group in now.state.groups if group in before)
            together = before[into] + [s for group, some in before.items() if group != into for s in some]
            self._change_groups(now, who, f"{len(before)} groups joined", before, {into: together})
            return into

    def undo(self, who: str) -> Undone:
        """Take back this person's last action. Raises Conflict if others have built on it."""
        with self._now() as now:
            entry = next((entry for entry in reversed(now.state.done) if entry["who"] == who), None)
            if entry is None:
                raise Refused("There is nothing of yours to undo.")
            if entry["kind"] == "marks":
                self._undo_marks(now, entry)
                student = next(iter(entry["before"]))
                group = next(name for name, members in now.state.groups.items() if student in members)
            else:
                self._undo_groups(now, entry)
                group = next(iter(entry["before"]))
            now.state.done.remove(entry)
            self._write(now)
            return Undone(entry["what"], group)

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
            others = [student for student in open_ones if now.decision(student).by != who]
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
                raise Conflict("This answer has changed meanwhile.")
            if student in now.state.second:
                raise Conflict(f"{now.state.second[student].by} has just read this answer a second time.")
            now.state.second[student] = decision
            self._write(now)

    def agreement(self) -> dict[str, Agreement]:
        """Of second readings: between two people, and of one person with herself; those that there are."""
        if not self._read().second:
            return {}
        with self._now() as now:
            pairs: dict[str, list[tuple[float, float]]] = {"two people": [], "one person twice": []}
            for student, again in now.state.second.items():
                first = now.decision(student) if student in now.marks and student in now.texts else None
                if first:
                    kind = "one person twice" if first.by == again.by else "two people"
                    pairs[kind].append((first.score, again.score))
            return {kind: found for kind, some in pairs.items() if (found := agreement(some))}

    # ------------------------------------------------------------------------------------------ one moment

    @contextmanager
    def _now(self) -> Iterator[Now]:
        """The question as it is, with a group for every answer. Nobody else changes it at a desk meanwhile."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._turn, self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._read()
            with open_gradebook(self.assignment.root) as gradebook:
                marks = read_marks(gradebook, self.assignment.name, self.question.name)
                texts = {
                    student: text
                    for student, text in self.answers.of(self.question.name).items()
                    if student in marks and not marks[student].blank
                }
                now = Now(state, gradebook, marks, texts)
                self._place(now)
                yield now

    def _read(self) -> State:
        try:
            return State.from_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return State()
        except (ValueError, TypeError, KeyError):
            raise CourseError(
                f"{self._path} is damaged. Delete it to begin with new groups: points and comments are in the gradebook."
            ) from None

    def _write(self, now: Now) -> None:
        now.state.serial += 1
        del now.state.done[:-MOST_UNDONE]
        write_aside(self._path, now.state.to_json())

    def _place(self, now: Now) -> None:
        """Put every answer that has no group into one: that of an exact copy, else a new one with its like."""
        state = now.state
        digests = {student: _short_digest(text) for student, text in now.texts.items()}
        if state.texts == digests and self._path.exists():
            return
        stay = {student for student, digest in digests.items() if state.texts.get(student) == digest}
        state.groups = {
            name: kept for name, some in state.groups.items() if (kept := [s for s in some if s in stay])
        }
        of_words = {same_words(now.texts[s]): name for name, some in state.groups.items() for s in some}
        new = []
        for student in sorted(digests.keys() - stay, key=lambda s: self._alias(s)):
            group = of_words.get(same_words(now.texts[student]))
            if group:
                state.groups[group].append(student)
            else:
                new.append(student)
        if new:
            from autograder.written.grouping import propose  # scipy and scikit-learn take a second

            for group in propose([now.texts[student] for student in new], self.encoder):
                state.groups[self._new_group(now)] = [new[place] for place in group]
        state.texts = digests
        self._write(now)

    def _new_group(self, now: Now) -> str:
        now.state.last_group += 1
        return f"g{now.state.last_group}"

    # ------------------------------------------------------------------------------------ changes and undo

    def _change_marks(
        self, now: Now, who: str, what: str, changes: Mapping[str, tuple[Mark, Decision | None]]
    ) -> None:
        before = {
            student: {"mark": asdict(now.marks[student]), "decision": now.state.decisions.get(student)}
            for student in changes
        }
        self._set_marks(now, changes)
        after = {student: now.tag(student) for student in changes}
        for entry in before.values():
            entry["decision"] = asdict(entry["decision"]) if entry["decision"] else None
        now.state.done.append({"who": who, "what": what, "kind": "marks", "before": before, "after": after})
        self._write(now)

    def _set_marks(self, now: Now, changes: Mapping[str, tuple[Mark, Decision | None]]) -> None:
        marks = {student: mark for student, (mark, _) in changes.items()}
        write_marks(now.gradebook, self.assignment.name, self.question.name, marks)
        now.marks = {**now.marks, **marks}
        for student, (_, decision) in changes.items():
            if decision:
                now.state.decisions[student] = decision
            else:
                now.state.decisions.pop(student, None)

    def _undo_marks(self, now: Now, entry: Json) -> None:
        for student, tag in entry["after"].items():
            if student not in now.texts or now.tag(student) != tag:
                raise Conflict(
                    "Some of these answers were graded again since, or handed in anew: nothing was undone."
                )
        before = {
            student: (Mark(**known["mark"]), _decision(known["decision"]))
            for student, known in entry["before"].items()
        }
        self._set_marks(now, before)

    def _change_groups(
        self, now: Now, who: str, what: str, before: Mapping[str, list[str]], after: Mapping[str, list[str]]
    ) -> None:
        names = list(now.state.groups)
        entry = {
            "who": who,
            "what": what,
            "kind": "groups",
            "before": {name: now.state.groups[name] for name in names if name in before},
            "after": dict(after),
            "behind": {name: names[names.index(name) - 1] if names.index(name) else "" for name in before},
        }
        now.state.groups = _replaced(now.state.groups, before, after)
        now.state.done.append(entry)
        self._write(now)

    def _undo_groups(self, now: Now, entry: Json) -> None:
        if any(now.state.groups.get(name) != members for name, members in entry["after"].items()):
            raise Conflict("These groups have changed since: nothing was undone.")
        groups = _replaced(now.state.groups, entry["after"], entry["before"])
        for name, before in entry["behind"].items():
            groups = _behind(groups, name, before)
        now.state.groups = groups

    # -------------------------------------------------------------------------------------------- what is asked

    def _alias(self, student: str) -> str:
        return self._aliases.alias(self.question.name, student)

    def _aliased(self, now: Now) -> dict[str, str]:
        return {self._alias(student): student for student in now.texts}

    def _group_tag(self, members: Iterable[str]) -> str:
        return _short_digest("\n".join(sorted(members)))

    def _group(self, now: Now, name: str, tag: str) -> list[str]:
        members = now.state.groups.get(name, [])
        if self._group_tag(members) != tag:
            raise Conflict("This group has changed meanwhile. Nothing of yours was written: look again.")
        return members

    def _seen(self, now: Now, seen: Mapping[str, str]) -> list[str]:
        known = self._aliased(now)
        students = [known.get(alias) for alias in seen]
        if not students or None in students:
            raise Conflict("These answers have changed meanwhile. Nothing of yours was written: look again.")
        changed = [s for s, tag in zip(students, seen.values(), strict=True) if now.tag(s) != tag]
        if changed:
            given = now.decision(changed[0])
            what = (
                f"{given.by} has given {_points(given.score)} to" if given else "Points were taken back from"
            )
            raise Conflict(
                f"{what} {_answers(len(changed))} of these meanwhile. Nothing of yours was written: look again."
            )
        return students

    def _checked(self, who: str, score: float, ticks: Iterable[int], comment: str, alone: bool) -> Decision:
        ticks = tuple(sorted(set(ticks)))
        if not math.isfinite(score) or not 0 <= score <= self.question.points:
            raise Refused(f"Points must lie between 0 and {self.question.points:g}.")
        if any(not 0 <= tick < len(self.question.guide) for tick in ticks):
            raise Refused("The marking guide has no such point.")
        if len(comment) > LONGEST_COMMENT:
            raise Refused(f"A comment may have {LONGEST_COMMENT} characters.")
        return Decision(round(float(score), 3), comment.strip(), ticks, alone, who)


def _replaced(
    groups: Mapping[str, list[str]], old: Mapping[str, list[str]], new: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """The groups with the new ones at the place of the first old one."""
    replaced: dict[str, list[str]] = {}
    placed = False
    for name, members in groups.items():
        if name not in old:
            replaced[name] = members
        elif not placed:
            replaced.update(new)
            placed = True
    return replaced


def _behind(groups: Mapping[str, list[str]], name: str, before: str) -> dict[str, list[str]]:
    """The groups with this one behind that one, or as it is where that one is gone; behind "" is first."""
    names = [other for other in groups if other != name]
    if before in names or not before:
        names.insert(names.index(before) + 1 if before else 0, name)
        return {other: groups[other] for other in names}
    return dict(groups)


def _points(score: float) -> str:
    return "1 point" if score == 1 else f"{score:g} points"


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"
