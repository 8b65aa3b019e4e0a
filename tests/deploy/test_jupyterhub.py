"""deploy/jupyterhub as its README sets it up: a real hub, real Unix users, one assignment there and back for five at once.

Everything happens in a world of its own (a mount and a process namespace): the users are written into a copy of /etc, the
homes and /srv are temporary, and nothing of it outlives the test. Left out is systemd: servers are the hub's own processes.
"""

import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from autograder.course import Assignment
from autograder.exercise import edited
from autograder.grading.reference import solution_sources
from tests.autograder.road import make_course, perfect_notebook, with_cell
from tests.conftest import PREFIX, ROOT
from tests.deploy.hub import COURSE, COURSE_ID, NAME, Hub, Visitor, wait
from tests.deploy.world import World, missing

DEPLOY = ROOT / "deploy" / "jupyterhub"
README = (DEPLOY / "README.md").read_text()
WRITTEN = "attention-reflection-b"
STUDENTS = ("ada", "grace", "alan", "edsger", "katherine")
WRONG = "alan"  # whose second exercise is a known mistake
EXCHANGE = Path("/srv/nbgrader/exchange") / COURSE_ID

pytestmark = [pytest.mark.slow, pytest.mark.audit]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Set up by the steps of the README that need no network, in their order."""
    problem = missing()
    if problem:
        pytest.skip(problem)
    folder = Path(tempfile.mkdtemp(prefix="words-hub-"))
    folder.chmod(0o755)
    world = World(folder)
    try:
        for name in ("instructor", *STUDENTS):
            world.run("userdel", name, check=False)  # in the copy of /etc
        shutil.copytree(DEPLOY, folder / "srv" / "deploy")
        users, files, hers = re.findall(r"<!-- a test runs this -->\n```\n(.*?)```", README, re.S)
        world.run("sh", "-euxc", users)
        _make_repository(folder / "home" / "instructor" / COURSE.name)
        world.run("chown", "-R", "instructor:", COURSE)
        world.run("sh", "-euxc", files.replace("deploy/jupyterhub/", "/srv/deploy/"))
        world.run("sh", "-euxc", hers, user="instructor")
        yield world
    finally:
        world.end()
        shutil.rmtree(folder)


def _make_repository(course: Path) -> None:
    """What the instructor clones, with the environment that `make environment` would make."""
    make_course(course)
    shutil.copytree(ROOT / "autograder", course / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    (course / ".venv").symlink_to(PREFIX)


def secret_of(student: str) -> str:
    """A written answer that nobody else would give."""
    return f"This is what {student} thinks, {student[::-1]}."


@pytest.fixture(scope="module")
def hub(world) -> Iterator[Hub]:
    passwords = {name: secrets.token_urlsafe(12) for name in ("instructor", *STUDENTS)}
    lines = "\n".join(f"{name}:{password}" for name, password in passwords.items())
    world.run("sh", "-c", f"chpasswd <<'END'\n{lines}\nEND")
    hub = Hub(world, passwords)
    yield hub
    hub.end()


@pytest.fixture(scope="module")
def people(hub) -> dict[str, Visitor]:
    """Everybody, logged in, with a running server."""
    with ThreadPoolExecutor(6) as pool:
        visitors = pool.map(lambda name: Visitor(hub, name).start_server(), ("instructor", *STUDENTS))
        return {visitor.name: visitor for visitor in visitors}


@pytest.fixture(scope="module")
def round_trip(world, people) -> dict[str, list[dict]]:
    """Released, fetched, submitted, collected, graded, feedback fetched; what each student's list shows at the end."""
    teacher, students = people["instructor"], [people[name] for name in STUDENTS]
    teacher.formgrader("release")
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda one: one.assignment("fetch"), students))
        list(pool.map(lambda one: one.save(f"{NAME}/{NAME}.ipynb", homework(one.name)), students))
        list(pool.map(lambda one: one.assignment("submit"), students))
        teacher.formgrader("collect")
        grade = [
            "env",
            f"--chdir={COURSE}",
            f"PYTHONPATH={COURSE}",
            COURSE / ".venv/bin/autograder",
            "grade",
            NAME,
        ]
        graded = world.run(*grade, user="instructor")
        assert all(name in graded for name in STUDENTS), graded
        teacher.formgrader("generate_feedback")
        teacher.formgrader("release_feedback")
        return dict(
            zip(STUDENTS, pool.map(lambda one: one.assignment("fetch_feedback"), students), strict=True)
        )


def homework(student: str) -> nbformat.NotebookNode:
    assignment = Assignment(ROOT, NAME)
    notebook = with_cell(perfect_notebook(assignment), WRITTEN, secret_of(student))
    if student == WRONG:
        exercise = list(assignment.exercises.values())[1]
        wrong = edited(solution_sources(assignment)[exercise.name], exercise, exercise.mistakes[0])
        notebook = with_cell(notebook, exercise.solution_id, wrong)
    return notebook


# What comes back ------------------------------------------------------------------------------------


def test_everybody_is_graded_and_only_the_mistake_costs_points(people, round_trip):
    rows = people["instructor"].ask("GET", f"formgrader/api/submissions/{NAME}").json()
    points = {row["student"]: row["code_score"] for row in rows}
    assert points.keys() == set(STUDENTS)
    right = {points[name] for name in STUDENTS if name != WRONG}
    assert len(right) == 1 and 0 < points[WRONG] < right.pop(), points


def test_everybody_reads_the_feedback_to_their_own_work(people, round_trip):
    mistake = list(Assignment(ROOT, NAME).exercises.values())[1].mistakes[0].name.lower()
    for name in STUDENTS:
        (listed,) = (one for one in round_trip[name] if one["status"] == "submitted")
        (notebook,) = listed["submissions"][-1]["notebooks"]
        assert notebook["has_local_feedback"], notebook
        page = people[name].ask("GET", f"api/contents/{notebook['local_feedback_path']}?type=file").json()
        assert [other for other in STUDENTS if secret_of(other) in page["content"]] == [name]
        assert (mistake in page["content"].lower()) == (name == WRONG)


# Who can read what ----------------------------------------------------------------------------------


def private_places() -> dict[str, str]:
    """{path: whose it is}: what nobody but that person (or root) may read."""
    homes = {f"/home/{name}/{NAME}/{NAME}.ipynb": name for name in STUDENTS}
    copies = {f"/home/{name}/.local/share/jupyter/nbgrader_cache": name for name in STUDENTS}
    teacher = (
        *(COURSE / part for part in ("gradebook.db", "submitted", "autograded", "feedback", ".autograder")),
        *(COURSE / f"submitted/{name}/{NAME}/{NAME}.ipynb" for name in STUDENTS),
        COURSE / "solutions" / NAME / f"{NAME}.py",
        COURSE / "solutions" / NAME / "exercises.py",
        EXCHANGE / "inbound",
        EXCHANGE / "feedback",
    )
    hub = ("/srv/jupyterhub/jupyterhub.sqlite", "/srv/jupyterhub/cookie_secret")
    return homes | copies | {str(path): "instructor" for path in teacher} | dict.fromkeys(hub, "root")


TRY = 'for path; do { cat "$path" || ls "$path/"; } >/dev/null 2>&1 && echo "$path"; done; true'


def can_read(world: World, user: str, paths: list[str]) -> set[str]:
    """Those files and folders whose contents this Unix user gets to see when trying."""
    return set(world.run("sh", "-c", TRY, "sh", *paths, user=user).split())


def test_as_a_unix_user_nobody_reads_what_is_another_s(world, round_trip):
    places = private_places()
    assert can_read(world, "root", list(places)) == places.keys(), "they are all there"
    for name in (*STUDENTS, "instructor"):
        own = {path for path, owner in places.items() if owner == name}
        # What is handed in is the instructor's to read, in the copy that she collected.
        assert can_read(world, name, list(places)) == own, name


def test_through_a_server_nobody_reads_what_is_another_s(world, people, round_trip):
    """A server follows links, so a student may point it anywhere."""
    places = private_places()
    for name in ("ada", "edsger"):
        links = {f"link-{number}": path for number, path in enumerate(places)}
        make = " && ".join(f"ln -s {path} /home/{name}/{link}" for link, path in links.items())
        world.run("sh", "-c", make, user=name)
        shown = set()
        for link, path in links.items():
            answer = people[name].ask("GET", f"api/contents/{link}")
            if answer.ok and answer.json()["content"]:
                shown.add(path)
        assert shown == {path for path in places if places[path] == name}


def test_nobody_enters_another_s_server(people, round_trip):
    for visitor in people.values():
        for owner in people:
            reached = visitor.ask("GET", "api/contents/", server=owner)
            if visitor.name == owner:
                assert reached.status_code == 200 and reached.json()["content"]
            else:
                assert reached.status_code == 403, (visitor.name, owner, reached.text)
    for path in (
        f"formgrader/api/submissions/{NAME}",
        f"files/words-in-context/solutions/{NAME}/{NAME}.py",
    ):
        assert people["instructor"].ask("GET", path).status_code == 200
        assert people["ada"].ask("GET", path, server="instructor").status_code in (302, 403)
        assert people["ada"].ask("GET", path).status_code == 404, (
            "students have no formgrader and no solutions"
        )


def test_only_the_instructor_sees_who_is_at_work(people):
    listed = people["instructor"].ask("GET", "/hub/api/users").json()
    assert {user["name"] for user in listed} == {"instructor", *STUDENTS}
    assert people["ada"].ask("GET", "/hub/api/users").status_code == 403
    assert people["ada"].ask("DELETE", "/hub/api/users/grace/server").status_code in (403, 404)


def test_a_student_cannot_change_the_exchange(world, round_trip):
    """nbgrader wants it writable for everybody; the sticky bit keeps the course in its place."""
    moved, release = EXCHANGE.with_name("moved"), EXCHANGE / "outbound" / NAME
    for command in (
        f"mv {EXCHANGE} {moved}",
        f"rm -r {EXCHANGE}",
        f"touch {release}/more",
        f"sh -c 'echo >> {release}/{NAME}.ipynb'",
        f"mv {release} {release}-old",
    ):
        world.run("sh", "-c", f"if {command}; then echo this worked; exit 1; fi", user="ada")
    assert can_read(world, "ada", [f"{release}/{NAME}.ipynb"])


def test_idle_servers_end(world, hub, people, round_trip):
    """The hub's own culler waits an hour; this is the same one, with the same rights, in a hurry."""
    culler = world.start(
        "python", "-m", "jupyterhub_idle_culler", "--timeout=1", "--cull-every=1",
        f"--url=http://127.0.0.1:{hub.internal}/hub/api", env={"JUPYTERHUB_API_TOKEN": hub.token},
    )  # fmt: skip
    try:
        users = lambda: people["instructor"].ask("GET", "/hub/api/users").json()  # noqa: E731
        assert any(user["servers"] for user in users())
        wait(lambda: not any(user["servers"] for user in users()), 60, hub.log)
    finally:
        culler.kill()
        culler.wait()
