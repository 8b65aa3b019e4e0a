"""Tables that notebooks show have the columns and the numbers that their callers meant."""

from coursekit.exam import Accuracy
from coursekit.pictures.tables import accuracies_by_question, markdown_table


def test_words_are_on_the_left_and_numbers_on_the_right_unless_said_otherwise():
    rows = [["a", "1"], ["", "2"]]
    assert markdown_table(["", "n"], rows).splitlines() == ["| | n |", "|:--|--:|", "| a | 1 |", "| | 2 |"]
    assert markdown_table(["x", "y"], [], align="rl").splitlines()[1] == "|--:|:--|"


def test_several_seeds_have_an_interval_and_a_single_run_has_none():
    once, twice = Accuracy(0.5, 0.5, 0.5, 0.5), Accuracy(0.7, 0.5, 0.5, 0.5)
    _, _, single, seeds = accuracies_by_question({"one": once, "two": [once, twice]}, "model").splitlines()
    assert single == "| one | 0.500 | 0.500 | 0.500 | 0.500 |"
    assert seeds.startswith(
        "| two | 0.600 ± 1.271 | 0.500 ± 0.000 |"
    )  # Student's t for one degree of freedom
