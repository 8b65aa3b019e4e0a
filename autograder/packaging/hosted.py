"""What a packed assignment runs where it is hosted: grade the one submission that is there, and write down what came of it.

python -m autograder.packaging.hosted FOLDER

FOLDER is /autograder with Gradescope: `source` holds the unpacked archive, `submission` the student's files, and
`results/results.json` is written (https://gradescope-autograders.readthedocs.io/en/latest/specs/). In a job of GitHub Actions
the same results become a table in the file that GITHUB_STEP_SUMMARY names, and the points a notice in the form that GitHub
Classroom reads. If the fault is ours, there is no results.json, so that nobody gets a grade for it, and the exit status is 1.
"""

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.checks.status import Status
from autograder.checks.storing import write_aside
from autograder.course import Assignment, composed, find_notebooks
from autograder.errors import CourseError, JailError, ServerDied
from autograder.gradebook.choosing import HandIn, NoNotebook, Notebooks, Released, choose
from autograder.gradebook.hidden_tests import HiddenTests
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.jail.outside.client import find_problem
from autograder.results import CellVerdict, Result, told
from autograder.source import grade_id
from autograder.untrusted.downloads import Budget, opened
from autograder.untrusted.layouts import FileOwner, is_hidden
from autograder.untrusted.submission import Submission, Unreadable, read_submission

STUDENT = "student"
IN_A_JAIL = "The notebook ran in a jail of its own, without network access."
AS_NOBODY = (
    "This container allows no user namespaces, so the container is the jail: the notebook ran as an unprivileged user, who can "
    "read neither the solution nor the results. The notebook was not cut off from the network."
)
NOT_SHOWN = "The result is not shown yet, but it counts towards the points."


@dataclass(frozen=True)
class Packed:
    """What `package.json` in an archive says.

    visibility  of each test, one of Gradescope's: "visible", "after_due_date", "after_published" or "hidden"
    hidden      the lines between which hidden tests stand; none where students see them
    """

    assignment: str
    visibility: str = "visible"
    hidden: tuple[str, ...] = ()

    @classmethod
    def read(cls, source: Path) -> "Packed":
        """That of an unpacked archive."""
        found = json.loads((source / "package.json").read_text(encoding="utf-8"))
        return cls(found["assignment"], found["visibility"], tuple(found["hidden"]))


def main(arguments: Sequence[str]) -> None:
    """Grade, and end with status 1 if the fault is ours, or, in a job of GitHub's, if an answer is wrong."""
    folder = Path(arguments[0])
    target = folder / "results" / "results.json"
    target.unlink(missing_ok=True)
    try:
        results = grade_there(folder)
    except (CourseError, JailError, ServerDied) as error:
        sys.exit(f"This submission was not graded, and the fault is not the student's. {error}")
    write_aside(target, json.dumps(results, indent=1))
    # Only words of ours: in a job of GitHub's a line of a student's could be a command.
    print(results["output"].partition("\n")[0])
    print(f"{results['score']:g} points, in {results['execution_time']:g} s.")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(as_markdown(results))
        print("\n".join(notices(results)))
        if any(test.get("status") == "failed" for test in results["tests"]):
            sys.exit(1)


def grade_there(folder: Path) -> dict[str, Any]:
    """The results of the submission in `folder`, in Gradescope's form. Raises CourseError, JailError or ServerDied."""
    began = time.monotonic()
    packed = Packed.read(folder / "source")
    isolation, how = choose_isolation()
    notebooks = find_notebooks(folder / "source" / "course", packed.assignment)
    tests: list[dict[str, Any]] = []
    said = [how]
    score = 0.0
    for notebook in notebooks:
        registered = nbformat.read(folder / "source" / "registered" / notebook.file, as_version=4)
        with tempfile.TemporaryDirectory() as kept:
            chosen = put_aside(folder / "submission", notebook, Path(kept) / "submitted")
            submission = read_submission(chosen, STUDENT, notebook, registered)
            with Engine(notebook, Store(Path(kept) / "store"), isolation) as engine:
                result = engine.grade(submission)
        conceal, secret = _hidden(submission, registered, packed)
        said += [notebook.within(conceal(note)) for note in about(submission, result)]
        score += result.score
        for verdict in result.verdicts:
            late = verdict.grade_id in secret and packed.visibility != "hidden"
            visibility = "after_published" if late else packed.visibility
            name = notebook.within(notebook.title(verdict.grade_id))
            tests.append(as_test(verdict, name, str(len(tests) + 1), visibility, conceal))
    return {
        "score": round(score, 4),
        "execution_time": round(time.monotonic() - began, 1),
        "output": "\n".join(said),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": packed.visibility,
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def choose_isolation() -> tuple[str, str]:
    """The strongest isolation that this machine allows, and what it does, in a sentence. Raises JailError if there is none."""
    problem = find_problem()
    if problem is None:
        return "bwrap", IN_A_JAIL
    if os.getuid() == 0:
        print(problem)
        return "nobody", AS_NOBODY
    raise JailError(
        f"{problem} Alternatively, run this command as root, which can run the notebook as another user."
    )


def put_aside(handed_in: Path, notebook: Assignment, aside: Path) -> Path:
    """A folder with the file that counts, under the name that the notebook has; or else the folder of all files."""
    course = Notebooks(notebook.notebooks, notebook.name)
    with opened(handed_in) as (files, _):
        visible = [file for file in files if not is_hidden(file.path)]
        called = composed(notebook.file)
        exact = [file for file in visible if composed(file.path.rpartition("/")[2]) == called]
        hand_ins = [HandIn(file, _owner(file.path)) for file in exact or visible]
        try:
            released = Released(nbformat.read(notebook.release, as_version=4))
            chosen = choose(hand_ins, notebook, course, released, Budget())
        except (NoNotebook, Unreadable):
            return handed_in
    aside.mkdir()
    (aside / notebook.file).write_bytes(chosen.blob)
    return aside


def _owner(path: str) -> FileOwner:
    *folders, name = path.split("/")
    return FileOwner("plain", STUDENT, "", name, folder=folders[-1] if folders else "")


def _hidden(
    submission: Submission, registered: NotebookNode, packed: Packed
) -> tuple[Callable[[str], str], frozenset[str]]:
    """What takes hidden tests out of a text, and the grade ids of the cells that have some."""
    if not packed.hidden:
        return str, frozenset()
    begin, end = packed.hidden
    with_hidden = frozenset(grade_id(cell) for cell in registered.cells if begin in cell.source)
    return HiddenTests(submission.notebook, begin, end).conceal, with_hidden


def about(submission: Submission, result: Result) -> list[str]:
    """What a student has to know of the hand-in as a whole."""
    unread = [submission.reason] if submission.status else []
    return list(dict.fromkeys([*unread, *submission.notes, *result.notes]))


def as_test(
    verdict: CellVerdict, name: str, number: str, visibility: str, conceal: Callable[[str], str]
) -> dict[str, Any]:
    """A graded cell as one of Gradescope's tests. What a person has still to grade has no score."""
    test: dict[str, Any] = {"name": name, "number": number, "visibility": visibility}
    test |= {"name_format": "text", "output_format": "text"}
    happened, hint, follows = (conceal(text) for text in told(verdict))
    if verdict.status == Status.MANUAL:
        return test | {"output": f"{conceal(verdict.reason)} ({verdict.max_score:g} points)"}
    extra = f" {verdict.extra:g} extra points." if verdict.extra else ""
    passed = verdict.status == Status.PASSED
    lines = [f"Right.{extra}"] if passed else [f"{happened}{extra}", hint, follows]
    return test | {
        "score": round(verdict.earned, 4),
        "max_score": verdict.max_score,
        "status": "passed" if passed else "failed",
        "output": "\n".join(filter(None, lines)),
    }


def as_markdown(results: Mapping[str, Any]) -> str:
    """The results as a table for the summary of a job. No text in it is taken for Markdown or HTML."""
    lines = ["### Results", "", "| | exercise | points | |", "|:-:|:--|--:|:--|"]
    for test in results["tests"]:
        mark = {"passed": "✓", "failed": "✗"}.get(test.get("status", ""), "…")
        points = f"{test['score']:g} / {test['max_score']:g}" if "score" in test else "–"
        what = test["output"]
        if test["visibility"] != "visible":
            mark, points, what = "…", "–", NOT_SHOWN
        lines.append(f"| {mark} | {plain(test['name'])} | {points} | {plain(what)} |")
    score, most = _points(results)
    return "\n".join([*lines, "", f"**{score:g} of {most:g} points.** {plain(results['output'])}", "", ""])


def plain(text: str) -> str:
    """A text that may be a student's, so that Markdown shows each sign of it."""
    escaped = re.sub(r"[^\w\s.,;'()-]|_", lambda match: f"&#{ord(match[0])};", text.strip())
    return re.sub(r"\s*\n\s*", "<br>", escaped)


def notices(results: Mapping[str, Any]) -> list[str]:
    """The points as GitHub Classroom's own reporter writes them (classroom-resources/autograding-grading-reporter)."""
    score, most = _points(results)
    report = json.dumps({"totalPoints": score, "maxPoints": most})
    return [
        f"::notice title=Autograding complete::Points {score:g}/{most:g}",
        f"::notice title=Autograding report::{report}",
    ]


def _points(results: Mapping[str, Any]) -> tuple[float, float]:
    """Those that were earned, and those of all that is graded automatically."""
    return results["score"], sum(test.get("max_score", 0) for test in results["tests"])


if __name__ == "__main__":
    main(sys.argv[1:])
