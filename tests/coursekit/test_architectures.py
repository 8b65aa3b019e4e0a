"""The architecture table: rows survive, an unrun notebook's row says that it is recorded, and the scoreboard stays as it is."""

import pytest

from autograder.checks import journal
from coursekit.architectures import DERIVATIVE, SOURCE, TIME, carried, keep_measured
from coursekit.datasets import read_table
from coursekit.exam import Accuracy
from coursekit.scoreboard import add_row, draw


def test_without_progress_every_row_is_recorded_and_says_so():
    table, recorded = carried(), read_table("results/architectures.csv")
    assert list(table.index) == list(recorded.architecture)
    assert all(text.startswith("recorded, in 0") for text in table[SOURCE])
    assert set(recorded.notebook) == {"04", "05", "06", "07"}


def test_what_the_student_measured_takes_the_place_of_what_is_recorded():
    keep_measured("ELMo", "05", [0.1, 0.4], {64: 2.0, 4096: 140.0})
    row = carried().loc["ELMo"]
    assert row[DERIVATIVE] == "0.2 (0.1 to 0.4)"  # the geometric mean
    assert row[TIME] == "× 70" and row[SOURCE] == "measured by you, in 05"
    keep_measured("ELMo", "05", [0.3])
    assert carried().loc["ELMo", TIME] == "not measured"
    assert (carried()[SOURCE] == "measured by you, in 05").sum() == 1


def test_an_architecture_of_one_s_own_stands_at_the_end():
    keep_measured("state space", "13", [0.5], {64: 1.0, 4096: 64.0})
    assert carried().index[-1] == "state space"


@pytest.mark.slow
def test_the_scoreboard_and_the_table_do_not_meet(capsys):
    keep_measured("ELMo", "05", [0.3])
    draw()
    assert "empty" in capsys.readouterr().out
    add_row("ELMo", Accuracy(0.5, 0.4, 0.45, 0.46))
    assert journal.read()["scoreboard"]["ELMo"]["place"] == 1
    assert carried().loc["ELMo", SOURCE] == "measured by you, in 05"


@pytest.mark.parametrize(
    ("derivatives", "ms"), [([], None), ([0.0], None), ([float("nan")], None), ([0.1], {64: 0.0, 4096: 1.0})]
)
def test_what_has_no_ratio_is_refused_in_a_sentence(derivatives, ms):
    with pytest.raises(ValueError, match=r"keep_measured\('ELMo'\): derivatives and times must be above 0"):
        keep_measured("ELMo", "05", derivatives, ms)
