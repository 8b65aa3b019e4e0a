"""One page about a graded assignment, for the instructor.

Scores come from nbgrader's gradebook; verdicts, seconds and answers from what was kept when they were graded.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from statistics import mean, median

from autograder.checks.status import Ending, Status
from autograder.course import Assignment
from autograder.errors import install_command
from autograder.gradebook.history import LONGEST_ANSWER, History
from autograder.gradebook.queries import Score
from autograder.grading.discrimination import ENOUGH
from autograder.grading.verdicts import UNFINISHED, UNFINISHED_TEST
from autograder.report.alike import MOST_MEMBERS, alike
from autograder.report.changes import DAYS, changes_since, keep, kept_since, numbers_of
from autograder.report.everybody import Class, read_class
from autograder.report.exercises import exercise_rows, graded, written_rows
from autograder.report.mistakes import by_frequency, known_mistakes, unnamed
from autograder.report.pages import write_page
from autograder.source import points
from autograder.untrusted.titles import titles

MOST_BARS = 20  # of the distribution
SLOWEST, MISTAKES = 10, 15  # that are shown at once

ENDINGS = {
    Ending.TIMEOUT: "The notebook ran out of time.",
    Ending.MEMORY: "The notebook used too much memory.",
    Ending.OUTPUT: "The notebook wrote too much.",
    Ending.KILLED: "The system stopped the notebook because the machine ran out of memory.",
    Ending.DIED: "The notebook's process stopped.",
    Ending.FINISHED: "A check ran out of time.",
}


@dataclass(frozen=True)
class Bar:
    """Students with a score from `low` on, below `high` (the last bar: up to it)."""

    low: float
    high: float
    finished: int
    waiting: int
    before: int  # that late penalties are deducted, of both kinds


def write_report(assignment: Assignment, output: Path, days: int = DAYS) -> None:
    """Write the page. Raises CourseError when nobody has been graded, or where `output` is a file of somebody else."""
    write_page_of([read_class(notebook) for notebook in assignment.notebooks], output, days)


def write_page_of(
    classes: Sequence[Class], output: Path, days: int = DAYS, only_changed: bool = False
) -> bool:
    """Write the page of an assignment, whose notebooks these are, and keep its numbers for later ones.

    It shows what changed since the last one that is at least `days` old. With `only_changed` a page that is there and was made
    of the same stays. Returns whether one was written.
    """
    assignment, numbers = classes[0].assignment, numbers_of(classes)
    changed = {
        "changes": changes_since(assignment, numbers, days),
        "days": days,
        "kept_since": kept_since(assignment),
    }
    made_of = _made_of(classes, changed)
    stays = only_changed and output.is_file() and made_of in output.read_text(encoding="utf-8")[-200:]
    if not stays:
        shown = contents(*classes) | changed | {"made_of": made_of}
        write_page(assignment.root, output, "report.html", shown)
    keep(assignment, numbers)
    return not stays


def _made_of(classes: Sequence[Class], changed: Mapping[str, object]) -> str:
    """A digest of all that a page is made of."""
    template = files("autograder") / "templates" / "report.html"
    parts: list[object] = [template.read_text(encoding="utf-8"), changed]
    for one in classes:
        assignment = one.assignment
        beside = [assignment.source, assignment.release, *assignment.source.parent.glob("*.py")]
        parts += [one.scores, one.histories, one.means, one.names]
        parts += [(path.name, path.stat().st_mtime_ns) for path in beside]
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()


def contents(*classes: Class) -> dict[str, object]:
    """What the template shows of an assignment's notebooks, without what has changed."""
    first = classes[0]
    scores = first.scores
    most = sum(points(cell) for one in classes for cell in graded(one))
    nets = [score.net for score in scores.values()]
    histories: dict[str, list[History]] = {}
    for one in classes:
        for student, history in one.histories.items():
            histories.setdefault(student, []).append(history)
    ran = [
        (one.assignment.part, known) for one in classes for known in one.histories.values() if known.seconds
    ]
    ran.sort(key=lambda pair: -pair[1].seconds)
    return {
        "assignment": first.assignment.name,
        "heading": titles(first.assignment.root).get(first.assignment.name, first.assignment.name),
        "several": len(classes) > 1,
        "titles": {
            one.assignment.within(cell): one.assignment.within(title)
            for one in classes
            for cell, title in one.assignment.titles.items()
        },
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "scores": scores,
        "names": first.names,
        "most": most,
        "mean": mean(nets),
        "median": median(nets),
        "waiting": sum(score.waiting for score in scores.values()),
        "late": sum(score.penalty > 0 for score in scores.values()),
        "bars": _bars(scores.values(), most),
        "exercises": [row for one in classes for row in exercise_rows(one)],
        "written": [row for one in classes for row in written_rows(one)],
        "mistakes": by_frequency(row for one in classes for row in known_mistakes(one)),
        "shown_mistakes": MISTAKES,
        "enough": ENOUGH,
        "unnamed": by_frequency(row for one in classes for row in unnamed(one)),
        "graded": len(histories),
        "unknown": sorted(scores.keys() - histories.keys()),
        "hand_ins": sorted(
            Counter(max(len(one.hand_ins) for one in of_student) for of_student in histories.values()).items()
        ),
        "slowest": ran[:SLOWEST],
        "seconds": median([known.seconds for _, known in ran] or [0]),
        "failed": [row for one in classes for row in _failed(one)],
        "put_right": [
            (student, [one.assignment.within(note) for note in known.notes])
            for one in classes
            for student, known in one.histories.items()
            if known.notes
        ],
        **alike(*classes),
        "install_similarity": install_command("similarity"),
        "longest": LONGEST_ANSWER,
        "most_members": MOST_MEMBERS,
    }


def _bars(scores: Iterable[Score], most: float) -> list[Bar]:
    """The distribution, from 0 to the highest score, in steps of a round number of points."""
    scores = list(scores)
    top = max(most, *(max(score.net, score.raw) for score in scores))
    step = next((size for size in (0.5, 1, 2, 5, 10, 20, 50) if top / size <= MOST_BARS), top / MOST_BARS)
    count = max(1, int(-(-top // step)))
    finished: Counter[int] = Counter()
    waiting: Counter[int] = Counter()
    before: Counter[int] = Counter()
    for score in scores:
        place = min(int(score.net // step), count - 1)
        (waiting if score.waiting else finished)[place] += 1
        before[min(int(score.raw // step), count - 1)] += 1
    return [
        Bar(place * step, (place + 1) * step, finished[place], waiting[place], before[place])
        for place in range(count)
    ]


def _failed(everybody: Class) -> list[tuple[str, str, str]]:
    """Who could not be run to the end: student, what happened, and which checks it cost."""
    rows = []
    cut_off = {reason for _, reason in (*UNFINISHED.values(), *UNFINISHED_TEST.values())}
    for student, history in everybody.histories.items():
        checks = [v for v in history.verdicts if v.grade_id in everybody.automatic]
        lost = [
            everybody.assignment.title(check.grade_id)
            for check in checks
            if check.status == Status.TIMEOUT or check.reason in cut_off
        ]
        if history.ending not in ENDINGS:  # not read at all
            why = str(checks[0].reason if checks else history.ending)
            rows.append((student, everybody.assignment.within(why), "all"))
        elif history.ending != Ending.FINISHED or lost:
            why = everybody.assignment.within(ENDINGS[history.ending])
            rows.append((student, why, "all" if len(lost) == len(checks) else ", ".join(lost)))
    return rows
