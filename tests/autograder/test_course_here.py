"""What a course says of itself, and what commands say of it."""

import errno
from datetime import UTC, datetime, timedelta

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console

from autograder import cli
from autograder.authoring.builder import stale
from autograder.authoring.lending import lent_bytes, published_key
from autograder.authoring.minutes import in_fives
from autograder.authoring.mutants import mutants
from autograder.authoring.reference import exercise_keys, faults
from autograder.authoring.student_zip import pack
from autograder.checks.asking import Answer
from autograder.checks.status import Problem
from autograder.cli.tables import change_table, result_table
from autograder.course import Assignment
from autograder.doctor import course as of_course
from autograder.doctor import machine
from autograder.doctor.readiness import Level
from autograder.errors import CourseError
from autograder.exercise import EditDoesNotApply, Mistake, edited
from autograder.grading.progress import Progress
from autograder.grading.regrade import Change
from autograder.jail.inside.limits import Limits
from autograder.jail.outside import cgroup
from autograder.settings import course_settings, limits
from autograder.source import imported_ahead
from tests.autograder.here import NAME, Servers


def set_in(course, *lines):
    settings = course.root / "nbgrader_config.py"
    settings.write_text("\n".join([settings.read_text(), *lines]))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c.Jail.cell_seconds = 0", "c.Jail.cell_seconds = 0; it must be a number above zero"),
        ("c.Jail.cell_minutes = 1", "sets c.Jail.cell_minutes. There are: cell_seconds"),
    ],
)
def test_a_limit_that_is_none_is_a_sentence(small, line, said):
    set_in(small, line)
    with pytest.raises(CourseError, match=said):
        limits(small.root)


@pytest.mark.parametrize("when", ["2026-12-01T18:00", "tomorrow"])
def test_a_time_has_a_zone(small, when):
    set_in(small, f'c.Autograder.lend_from = {{"{NAME}": "{when}"}}')
    with pytest.raises(CourseError, match="must be a time with its zone"):
        course_settings(small.root)


@pytest.mark.parametrize(
    ("days", "early", "refused"), [(1, False, True), (-1, False, False), (1, True, False)]
)
def test_a_key_is_published_from_its_day_on(small, days, early, refused):
    when = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    set_in(small, 'c.Autograder.lend = "key"', f'c.Autograder.lend_from = {{"{NAME}": "{when}"}}')
    assignment = Assignment(small.root, NAME)
    assignment.lent.write_bytes(lent_bytes(assignment))
    if refused:
        with pytest.raises(CourseError, match="lends from"):
            published_key(assignment, early)
    else:
        assert len(published_key(assignment, early)) == 43


@pytest.mark.parametrize(
    ("who", "alone", "lent"),
    [("alone", True, True), ("alone", False, False), ("never", True, False), ("always", False, True)],
)
def test_who_may_borrow_has_the_functions_in_the_release(small, who, alone, lent):
    set_in(small, f'c.Autograder.lend = "{who}"')
    assert (lent_bytes(small.assignment, alone) is not None) == lent


def test_a_release_without_its_key_is_not_built(small):
    assert of_course.course(small.root).state == Level.GOOD and of_course.is_built(small.assignment)
    small.assignment.key.unlink()
    assert not of_course.is_built(small.assignment)
    assert "not built: 01_steps" in of_course.course(small.root).finding


@pytest.mark.parametrize(("free", "state"), [(3, Level.NOTE), (9, Level.GOOD)])
def test_memory_is_needed_for_as_many_notebooks_as_run_at_once(small, monkeypatch, free, state):
    class Memory:
        available = free * limits(small.root).memory_bytes

    monkeypatch.setattr("psutil.virtual_memory", lambda: Memory)
    monkeypatch.setattr("autograder.pool.local.cores", lambda: 4)
    monkeypatch.setattr("autograder.jail.outside.cgroup.possible", lambda: True)
    found = machine.memory(small.root)
    assert found.state == state and (state == Level.GOOD or "`--workers 3`" in found.remedy)


def test_two_processors_for_a_notebook_are_two():
    settings = cgroup._settings(Limits(cores=2.0), 2)
    assert settings["cpu.max"] == "200000 100000" and settings["memory.swap.max"] == "0"


def test_what_only_demonstrations_import_is_not_imported_ahead():
    cells = [new_code_cell("import slow"), new_code_cell("import huge", metadata={"tags": ["demo"]})]
    wanted = {"import slow": "slow", "import huge": "huge"}
    assert imported_ahead(wanted, new_notebook(cells=cells)) == ("slow",)


def test_an_edit_fits_in_one_place(small):
    exercise = small.assignment.exercises["steps.total"]
    with pytest.raises(EditDoesNotApply, match="stands 2 times"):
        edited("x + x", exercise, Mistake("a", "b", "x", "y"))
    assert edited("x + 1", exercise, Mistake("a", "b", "x", "y")) == "y + 1"


def test_a_mistake_that_is_right_on_some_inputs_is_still_recognised(small):
    exercises = small.assignment.exercises_file
    sometimes = '.sum()", "[np.argsort(-values)].sum() * (len(values) > 4 or 2)"'
    exercises.write_text(exercises.read_text().replace('.sum()", ".mean()"', sometimes))
    keys = exercise_keys(Servers(), small.assignment, seed=3)
    assert [mistake.name for mistake in keys["steps.total"].mistakes][0] == "the mean instead of the sum"


def test_a_mistake_without_numbers_has_no_credit(small):
    from dataclasses import replace

    key = exercise_keys(Servers(), small.assignment, seed=3)["steps.shares"]
    nothing = tuple(Answer(problem=Problem.NONE) for _ in key.cases)
    mistake = replace(key.mistakes[0], answers=nothing, credit=0.5)
    assert any(
        "anybody could earn its credit" in fault for fault in faults(replace(key, mistakes=(mistake,)))
    )


def test_mutants_count_up_and_down():
    changes = [mutant.change for mutant in mutants("f", "def f(x):\n    return x[3]")]
    assert [change.partition("→ ")[2] for change in changes] == ["`return x[4]`", "`return x[2]`"]


def test_minutes_are_rounded_to_the_nearest_five():
    assert [in_fives(value) for value in (1, 8, 12, 13)] == [5, 10, 10, 15]


@pytest.mark.parametrize("mark", ["### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS"])
def test_no_solution_and_no_hidden_test_is_packed_for_students(mark):
    with pytest.raises(CourseError, match="a.py holds a solution"):
        pack({"a.py": f"x = 1\n{mark}\n".encode()}, "course", {})


def test_a_release_that_was_not_built_again_is_told(small):
    assert not list(stale(Servers(), small.assignment))
    small.correct('-total-check", "locked": true, "points": 2', '-total-check", "locked": true, "points": 3')
    assert "is not what its source gives" in next(stale(Servers(), small.assignment))


def shown(table) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_a_score_of_nothing_is_0_and_none_is_a_dash():
    lines = shown(
        change_table([Change("ada", "total", None, 0.0), Change("ada", "x", 2.5, 0.0)])
    ).splitlines()
    assert lines[1].split() == ["ada", "total", "–", "0"] and lines[2].split() == ["x", "2.5", "0"]


def test_a_table_of_results_shows_brackets_as_they_are(small):
    result = small.grade("[red]ada", total="def total(values):\n    return 0")
    assert "[red]ada" in shown(result_table([result])) and "7 / 10" in shown(result_table([result]))


def test_a_full_disk_is_a_sentence_and_exit_status_1(monkeypatch, capsys):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device", "gradebook.db")

    monkeypatch.setattr(cli, "app", full)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 1 and "No space left on device (gradebook.db). Make room" in said
    monkeypatch.setattr(cli, "app", lambda: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
    with pytest.raises(OSError, match="broken"):
        cli.main()


def test_the_time_to_go_shrinks_with_what_is_left():
    half, most = (
        Progress("grading", 10, 1, 0.0, done=done, seconds=20.0 + 2 * done, begun=22.0) for done in (5, 9)
    )
    assert "about 10 s to go" in str(half) and "about 2 s to go" in str(most)
