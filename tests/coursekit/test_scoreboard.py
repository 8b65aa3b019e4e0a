"""The scoreboard: rows survive, intervals are what they say, and the figure says in words what it shows."""

from dataclasses import asdict

import pytest

from autograder.checks import journal
from coursekit import plots, scoreboard
from coursekit.datasets import read_table
from coursekit.exam import QUESTIONS, Accuracy, bounds, counts, nearest_sense, sense_exam
from coursekit.intervals import mean_and_half, wilson
from coursekit.language import load_language
from coursekit.scoreboard import add_row, draw

STATIC = Accuracy(0.5, 0.4, 0.45, 0.46)
GPT = Accuracy(0.9, 0.45, 0.7, 0.8)


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The descriptions of the figures that were shown."""
    alts = []
    monkeypatch.setattr(plots, "display", lambda picture: alts.append(picture.alt))
    return alts


def rows() -> dict:
    """As they are on disk."""
    return journal.read()["scoreboard"]


@pytest.mark.slow
def test_rows_survive_a_restart_and_are_replaced_in_place():
    add_row("static", STATIC)
    add_row("GPT", GPT, loss=1.1)
    add_row("static", Accuracy(0.55, 0.45, 0.5, 0.5), note="GloVe")
    shares = {kind: share for kind, (share, _, _) in rows()["static"]["shares"].items()}
    assert shares == {"left": 0.55, "right": 0.45, "order1": 0.5, "order2": 0.5}
    assert rows()["static"]["place"] == 1 and rows()["static"]["note"] == "GloVe"
    assert rows()["GPT"]["place"] == 2 and rows()["GPT"]["loss"] == 1.1


def test_one_model_has_the_interval_of_its_answers():
    add_row("static", STATIC)
    row = rows()["static"]
    assert tuple(row["shares"]["left"][1:]) == wilson(0.5, sense_exam().count("left"))
    assert row["seeds"] == 1


def test_a_recipe_has_the_interval_over_its_seeds():
    runs = [Accuracy(0.9, 0.5, 0.7, 0.99), Accuracy(0.8, 0.5, 0.6, 1.0), Accuracy(0.7, 0.5, 0.5, 0.98)]
    add_row("GPT", runs)
    row = rows()["GPT"]
    mean, half = mean_and_half([run.left for run in runs])
    assert row["shares"]["left"] == pytest.approx([mean, max(mean - half, 0), min(mean + half, 1)])
    assert row["seeds"] == 3 and row["shares"]["right"] == [0.5, 0.5, 0.5]
    assert row["shares"]["order2"][2] == 1  # a share is not above 1


@pytest.mark.slow
def test_of_many_rows_the_latest_are_drawn_and_those_of_this_notebook(shown, monkeypatch, capsys):
    for number in range(scoreboard.LATEST + 3):
        add_row(f"model {number}", GPT)
    monkeypatch.setattr(
        scoreboard, "_of_this_kernel", {"model 1"}
    )  # as after a restart, and one cell run again
    draw()
    assert [f"model {number}:" in shown[0] for number in range(4)] == [False, True, False, True]
    assert "2 oldest rows are left out; draw(every=True)" in capsys.readouterr().out
    draw(every=True)
    assert all(f"model {number}:" in shown[1] for number in range(scoreboard.LATEST + 3))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("share", [-0.1, 1.2, 54.0, float("nan")])
def test_an_accuracy_that_is_no_share_is_refused(share):
    with pytest.raises(ValueError, match="order2=.*not a fraction"):
        add_row("static", Accuracy(0.5, 0.5, 0.5, share))


def test_a_row_without_an_accuracy_is_refused():
    with pytest.raises(ValueError, match="give one accuracy for each seed"):
        add_row("static", [])


@pytest.mark.slow
def test_the_figure_says_its_numbers_and_has_the_readers_of_counts_from_the_beginning(shown):
    add_row("one vector per word", Accuracy(0.512, 0.437, 0.441, 0.449))
    draw()
    assert len(shown) == 1
    limits, recorded = bounds(), read_table("results/sense_exam.csv").set_index("model")
    told = [0.512, 0.437, 0.441, 0.449, limits.majority.left, limits.words_before.right]
    told += [limits.whole_sentence.order2, *recorded.loc["near words", list(QUESTIONS)]]
    for number in told:
        assert f"{number:.3f}" in shown[0]
    assert "bag of words" in shown[0]


@pytest.mark.slow
def test_the_recorded_readers_of_counts_come_out_again():
    exam, language = sense_exam(), load_language()
    for name, accuracy in scoreboard.readers_of_counts():
        vectors = (counts(language, part, name == "near words") for part in (exam.labelled, exam.held_out))
        assert asdict(accuracy) == pytest.approx(asdict(nearest_sense(exam, *vectors)), abs=1e-4)


@pytest.mark.slow
def test_rows_of_an_older_course_are_left_out(shown, capsys):
    with journal.changing("scoreboard") as entries:
        entries["GPT"] = {"sense_left": 1.0, "sense_right": 0.4, "note": "", "place": 1}
    draw()
    assert not shown and "empty" in capsys.readouterr().out
    add_row("BERT", GPT)
    draw()
    assert "GPT" not in shown[0]


def test_an_empty_board_says_how_to_fill_it(shown, capsys):
    draw()
    assert "add_row" in capsys.readouterr().out and not shown
