"""Each habit has the score that nbgrader gives it, or a row in the table of differences in docs/grading.md."""

import shutil

import pytest

from tests.autograder.commands import command
from tests.conftest import ROOT
from tests.plain.habits import HABITS, write_habits
from tests.plain.test_against_nbgrader import given_by_nbgrader, scores

DIFFERENT = {
    "kernel": "| `get_ipython().kernel` |",
    "folder-name": "| the name of the folder in which a notebook runs |",
}
"""{habit: how its row in the table begins}"""


@pytest.mark.slow
def test_each_habit_has_the_score_that_nbgrader_gives_or_a_row_in_the_table(tmp_path, monkeypatch):
    write_habits(tmp_path / "course")
    shutil.copytree(tmp_path / "course", tmp_path / "theirs")
    ended, theirs = given_by_nbgrader(tmp_path / "theirs", "habits")
    monkeypatch.chdir(tmp_path / "course")
    command("build")
    command("grade", "habits", "--workers", "1")
    ours = scores(tmp_path / "course", "habits")
    assert ended and theirs.keys() == ours.keys() == {("ada", habit) for habit in HABITS}
    assert {habit for (_, habit), score in theirs.items() if ours["ada", habit] != score} == DIFFERENT.keys()
    assert len({score for score, _ in theirs.values()}) > 3


@pytest.mark.parametrize("habit", DIFFERENT)
def test_the_table_has_a_row_for_what_differs(habit):
    assert DIFFERENT[habit] in (ROOT / "docs" / "grading.md").read_text()
