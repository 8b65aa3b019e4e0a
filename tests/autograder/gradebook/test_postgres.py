"""nbgrader's gradebook in PostgreSQL: the same rows as in SQLite. Skipped where no server or driver is installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course import Assignment
from tests.autograder.road import grade_all, hand_in_ten, make_course
from tests.autograder.small_class import use_light_server

pytest.importorskip("psycopg", reason="psycopg, which talks to PostgreSQL, is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.audit]

NAME = "02_attention"


def find_program(name: str) -> str | None:
    """Debian keeps the server's programs off the path."""
    places = [os.environ["PATH"], *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    return shutil.which(name, path=os.pathsep.join(places))


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of a real server, which nobody outside this machine can reach. It refuses to run as root."""
    initdb, server = find_program("initdb"), find_program("postgres")
    if not (initdb and server):
        pytest.skip("PostgreSQL is not installed")
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        if user:
            shutil.chown(folder, user["user"])
        options = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **user}
        make = [initdb, "--pgdata", f"{folder}/data", "--username", "teacher", "--auth", "trust"]
        subprocess.run([*make, "--encoding", "UTF8", "--locale", "C", "--no-sync"], check=True, **options)
        start = [server, "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with subprocess.Popen(start, **options) as running:
            try:
                wait_until_it_answers(f"{folder}", running)
                yield f"postgresql+psycopg://teacher@/postgres?host={folder}"
            finally:
                running.terminate()


def wait_until_it_answers(folder: str, running: subprocess.Popen) -> None:
    import psycopg

    while running.poll() is None:
        with (
            suppress(psycopg.OperationalError),
            psycopg.connect(host=folder, user="teacher", dbname="postgres"),
        ):
            return
    raise RuntimeError(f"PostgreSQL ended with {running.returncode}")


def rows(db_url: str) -> dict[tuple[str, str], tuple]:
    with Gradebook(db_url, "words-in-context") as gradebook:
        return {
            (submission.student.id, grade.name): (
                submission.timestamp,
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit,
                grade.needs_manual_grade,
                grade.max_score,
            )
            for submission in gradebook.assignment_submissions(NAME)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def test_postgres_holds_what_sqlite_holds(database, tmp_path, monkeypatch):
    use_light_server(monkeypatch)
    urls = {"sqlite": f"sqlite:///{tmp_path}/sqlite/gradebook.db", "postgres": database}
    for name, url in urls.items():
        course = make_course(tmp_path / name)
        assignment = Assignment(course, NAME)
        hand_in_ten(course, assignment)
        with (course / "nbgrader_config.py").open("a") as settings:
            settings.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
        grade_all(assignment)
        with Gradebook(url, "words-in-context") as gradebook:
            by_hand = gradebook.find_grade("attention-reflection-b", NAME, NAME, "perfect")
            by_hand.manual_score, by_hand.needs_manual_grade = 1.5, False
            gradebook.db.commit()
        grade_all(assignment, "perfect", "empty")
    given = {name: rows(url) for name, url in urls.items()}
    assert given["postgres"] == given["sqlite"]
    assert given["postgres"]["perfect", "attention-reflection-b"][2:5] == (1.5, 0.0, False)
    assert len({student for student, _ in given["postgres"]}) == 10
    assert not (tmp_path / "postgres" / "gradebook.db").exists()
