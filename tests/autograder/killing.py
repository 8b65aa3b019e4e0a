"""Kill a grading run, or a server in its jail, at random moments, and grade again.

After each, every grade must be there once and equal an undisturbed run's, and nothing may be left running.

    python -m tests.autograder.killing --moments 50
"""

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.autograder import light
from tests.conftest import ROOT
from tests.processes import command, is_alive, processes_below, wait_until_gone

NAME = "02_attention"
VICTIMS = ("run", "server")
SERVER = "inside import server"
"""What the command line of a light server holds, and of the bubblewrap around it."""

LIGHT = [sys.executable, str(Path(light.__file__))]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

if __name__ == "__main__":
    light.install()


def run_light(course: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """`autograder grade` with light servers."""
    return subprocess.run(
        [*LIGHT, "grade", NAME, *arguments],
        cwd=course,
        env=ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=500,
    )


@dataclass(frozen=True)
class Graded:
    """What a run leaves: the gradebook's rows and the autograded notebooks."""

    rows: tuple[tuple, ...]
    notebooks: dict[str, bytes]


def graded(course: Path) -> Graded:
    with closing(sqlite3.connect(course / "gradebook.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute(
            "SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score, grade.manual_score, "
            "grade.extra_credit, grade.needs_manual_grade FROM grade "
            "JOIN base_cell ON grade.cell_id = base_cell.id "
            "JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id "
            "JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id "
            "ORDER BY 1, 2"
        ).fetchall()
    notebooks = {path.parts[-3]: path.read_bytes() for path in course.glob(f"autograded/*/{NAME}/*.ipynb")}
    return Graded(tuple(rows), notebooks)


def difference(found: Graded, want: Graded) -> str:
    """The grades and notebooks in which two runs differ, for a message."""
    rows = sorted(set(found.rows) ^ set(want.rows), key=str)
    names = [
        name
        for name in sorted(found.notebooks | want.notebooks)
        if found.notebooks.get(name) != want.notebooks.get(name)
    ]
    return f"rows that only one has: {rows}; notebooks that differ: {names}"


class Class:
    """A course with submissions that is graded again and again, from the beginning."""

    def __init__(self, folder: Path):
        from autograder.course import Assignment
        from autograder.gradebook.gradebook import register
        from tests.autograder.road import hand_in_ten, make_course

        self.course = make_course(folder)
        self.assignment = Assignment(self.course, NAME)
        hand_in_ten(self.course, self.assignment)
        register(self.assignment)
        shutil.copy(self.course / "gradebook.db", self.course / "empty.db")

    def forget(self) -> None:
        for name in ("autograded", ".autograder/store", ".autograder/answers"):
            shutil.rmtree(self.course / name, ignore_errors=True)
        for path in self.course.glob("gradebook.db*"):
            path.unlink()
        shutil.copy(self.course / "empty.db", self.course / "gradebook.db")

    def start(self, workers: int) -> int:
        """Grade in a process of its own, which has everything imported already. Returns its id."""
        from autograder.grading.run import Options, find_submissions, grade_class

        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            os.setpgid(0, 0)
            folders = find_submissions(self.assignment, self.course / "submitted", [])
            grade_class(self.assignment, folders, Options(workers=workers), lambda result: None)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def finish(self, workers: int) -> Graded:
        assert ended(self.start(workers)) == 0
        return graded(self.course)


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def servers(run: int) -> list[int]:
    """The servers of a run, for its students and for the solution, and what started them."""
    return [pid for pid in processes_below(run) if SERVER in command(pid)]


def disturb(victim: str, run: int, moment: float) -> bool:
    """Wait, then kill. Whether there was anything to kill."""
    deadline = time.monotonic() + moment
    while time.monotonic() < deadline and is_alive(run):
        time.sleep(0.01)
    if victim == "run":
        running = processes_below(run)
        alive = is_alive(run)
        os.kill(run, signal.SIGKILL)
        ended(run)
        wait_until_gone(running)
        return alive
    found = servers(run)
    if found:
        os.kill(random.choice(found), signal.SIGKILL)
    return bool(found)


def moments(kind: "Class", count: int, workers: int, say: Callable[[str], None]) -> Iterator[str]:
    """Kill `count` times, compare each time, and yield what was killed."""
    kind.forget()
    began = time.monotonic()
    want = kind.finish(workers)
    span = time.monotonic() - began
    say(f"undisturbed: {span:.1f} s, {len(want.rows)} grades, {len(want.notebooks)} notebooks")
    done = 0
    while done < count:
        victim = VICTIMS[done % len(VICTIMS)]
        kind.forget()
        run = kind.start(workers)
        moment = random.uniform(0, span)
        hit = disturb(victim, run, moment)
        before = len(list(kind.course.glob("autograded/*")))
        if victim != "run":
            assert ended(run) == 0, f"the run did not survive its {victim}"
        if victim == "run":
            kind.finish(workers)
        found = graded(kind.course)
        assert found == want, difference(found, want)
        say(
            f"{done + 1}: {victim} after {moment:.1f} s{'' if hit else ' (not there)'}, {before} were recorded"
        )
        if hit:
            done += 1
            yield victim


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        killed = list(moments(Class(Path(folder) / "course"), given.moments, given.workers, print))
    print({victim: killed.count(victim) for victim in VICTIMS})


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
