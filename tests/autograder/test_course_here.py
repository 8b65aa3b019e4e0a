"""What a course says of itself, and what commands say of it."""

import errno
import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from rich.console import Console

from autograder import cli
from autograder.cli.tables import change_table, class_summary, class_table, own_table
from autograder.errors import CourseError
from autograder.exercise import Draw
from autograder.files import course_lock
from autograder.grading.progress import Progress
from autograder.grading.regrade import Change
from autograder.source import imported_ahead
from tests.autograder.here import RIGHT
from tests.conftest import ROOT


def test_what_only_demonstrations_import_is_not_imported_ahead():
    cells = [new_code_cell("import slow"), new_code_cell("import huge", metadata={"tags": ["demo"]})]
    wanted = {"import slow": "slow", "import huge": "huge"}
    assert imported_ahead(wanted, new_notebook(cells=cells)) == ("slow",)


def shown(table) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_a_score_of_nothing_is_0_and_none_is_a_dash():
    lines = shown(
        change_table([Change("ada", "total", None, 0.0), Change("ada", "x", 2.5, 0.0)], str)
    ).splitlines()
    assert lines[1].split() == ["ada", "total", "–", "0"] and lines[2].split() == ["x", "2.5", "0"]


def test_a_table_of_results_shows_brackets_as_they_are(small):
    result = small.grade("[red]ada", total="def total(values):\n    return 0")
    for table in (class_table([result], {"": str}), own_table([(result, str)])):
        assert "[red]ada" in shown(table) and "7 / 10" in shown(table)


def test_the_class_has_a_line_for_each_student_and_one_for_each_thing_to_know(small):
    right, wrong = small.grade("ada"), small.grade("bob", total="def total(values):\n    return 0")
    title = small.assignment.title
    rows = shown(class_table([right, wrong], {"": title})).splitlines()
    assert len(rows) == 3 and "1 not answered" in rows[1] and "total: wrong" in rows[2]
    assert (
        "autograder" not in rows[1] and "your code" not in rows[1]
    )  # said to the student, not to the instructor
    assert "2 of 3; 1 not, see below" in shown(class_summary([right, wrong], {"": title}, left=1))
    summary = shown(class_summary([right, wrong], {"": title}))
    assert (
        "Question (2), total (1)" in summary  # as the students see them, and no grade ids
        and f"from {wrong.score:g} to {right.score:g}" in summary
    )


def test_a_full_disk_is_a_sentence_and_exit_status_1(monkeypatch, capsys):
    def full():
        raise OSError(errno.ENOSPC, "No space left on device", "gradebook.db")

    monkeypatch.setattr(cli, "app", full)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 1 and "No space left on device (gradebook.db). Free some disk space" in said
    monkeypatch.setattr(cli, "app", lambda: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
    with pytest.raises(OSError, match="broken"):
        cli.main()


def denied(root, monkeypatch, capsys) -> str:
    """What the command says when it may not take the course's lock."""

    def grade():
        with course_lock(root):
            pass

    monkeypatch.setattr(cli, "app", grade)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another")
def test_a_folder_that_sudo_has_left_to_root_is_a_sentence_that_gives_it_back(monkeypatch, capsys):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / ".autograder").mkdir()
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            said = denied(Path(folder), monkeypatch, capsys)
        finally:
            os.seteuid(0)
        assert "belongs to root, and you are nobody" in said
        assert f"`sudo chown -R nobody {folder}/.autograder`" in said


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / ".autograder").mkdir(0o500)
    assert "chmod -R u+rwX" in denied(tmp_path, monkeypatch, capsys)


def test_a_deleted_working_directory_is_a_sentence(tmp_path):
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$@" --help'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "autograder"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "has been deleted" in done.stderr and "Traceback" not in done.stderr


def test_the_time_to_go_shrinks_with_what_is_left():
    half, most = (
        Progress("grading", 10, 1, 0.0, done=done, seconds=20.0 + 2 * done, begun=22.0) for done in (5, 9)
    )
    assert "about 10 s to go" in str(half) and "about 2 s to go" in str(most)


def test_a_table_beside_the_notebook_is_there_and_a_corrected_one_makes_another_result(small):
    """The answer key, which lies there, too, is in no jail."""
    table = small.assignment.release.with_name("table.csv")
    table.write_text("1")
    reads = "import os\nprint(sorted(os.listdir()), open('table.csv').read())\n" + RIGHT["steps-total"]
    assert "['01_steps.ipynb', 'table.csv'] 1" in str(small.grade("ada", total=reads).outputs)
    table.write_text("2")
    assert "['01_steps.ipynb', 'table.csv'] 2" in str(small.grade("ada", total=reads).outputs)


def test_which_exercise_is_earlier_is_told_by_the_notebook(small):
    exercises = small.assignment.exercises_file
    head, total, rest = exercises.read_text().partition("total = Exercise(")
    first, shares, others = rest.partition("shares = Exercise(")
    exercises.write_text(f"{head}{shares}{others}\n{total}{first}")
    assert list(small.assignment.exercises) == ["steps.total", "steps.shares", "steps.largest"]


def test_inputs_are_other_ones_for_each_exercise_and_seed(small):
    exercises = small.assignment.exercises
    drawn = [
        exercises[name].draw(seed)[0]["values"].tolist()
        for name in ("steps.total", "steps.shares")
        for seed in (1, 2)
    ]
    names = [Draw(1, name).normal(3).tolist() for name in ("a.bc", "a.cb")]
    assert len({tuple(values) for values in [*drawn, *names]}) == 6


def test_only_one_run_at_a_time_writes_a_gradebook(small):
    refused = pytest.raises(CourseError, match="Another run is grading this course")
    with course_lock(small.root), refused, course_lock(small.root):
        pass
    with course_lock(small.root):
        pass
