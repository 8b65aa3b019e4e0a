"""The scoreboard: the exam is fair, rows survive, and the figure says in words what it shows."""

import numpy as np
import pytest
import torch

from autograder.checks import journal
from coursekit import plots, scoreboard
from coursekit.scoreboard import add_row, bounds, draw, majority_accuracy, nearest_sense, sense_exam


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_HOME", str(tmp_path))


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The descriptions of the figures that were shown."""
    alts = []
    monkeypatch.setattr(plots, "display", lambda picture: alts.append(picture.alt))
    return alts


def vectors_by(function) -> tuple[torch.Tensor, torch.Tensor]:
    """One vector for each labelled and each held-out sentence of the exam."""
    exam = sense_exam()
    return function(exam.labelled), function(exam.held_out)


def test_the_exam_is_the_same_every_time():
    first = sense_exam()
    scoreboard.sense_exam.cache_clear()
    assert np.array_equal(first.held_out.ids, sense_exam().held_out.ids)


def test_every_sentence_of_the_exam_has_an_ambiguous_word_and_both_cues_occur():
    exam = sense_exam()
    assert (exam.held_out.sense >= 0).all() and (exam.labelled.sense >= 0).all()
    assert min((exam.held_out.cue == side).sum() for side in ("left", "right")) > 1000


def test_no_held_out_sentence_is_among_the_labelled_ones():
    exam = sense_exam()
    labelled = {row.tobytes() for row in exam.labelled.ids}
    assert not any(row.tobytes() in labelled for row in exam.held_out.ids)


def test_vectors_that_know_the_sense_score_one():
    know = vectors_by(lambda sentences: torch.nn.functional.one_hot(torch.from_numpy(sentences.sense), 40))
    accuracy = nearest_sense(sense_exam(), *know)
    assert (accuracy.left, accuracy.right) == (1.0, 1.0)


def test_one_vector_per_word_scores_exactly_as_the_majority():
    table = torch.randn(5000, 20, generator=torch.Generator().manual_seed(0))
    static = vectors_by(lambda sentences: table[torch.from_numpy(scoreboard.ambiguous_words(sentences))])
    assert nearest_sense(sense_exam(), *static) == majority_accuracy(sense_exam())


def test_last_bits_do_not_break_ties():
    table = torch.randn(5000, 20, generator=torch.Generator().manual_seed(0))
    noise = torch.Generator().manual_seed(1)

    def static(sentences):
        vectors = table[torch.from_numpy(scoreboard.ambiguous_words(sentences))]
        return vectors * (1 + 1e-6 * torch.randn(vectors.shape, generator=noise))

    assert nearest_sense(sense_exam(), *vectors_by(static)) == majority_accuracy(sense_exam())


def test_random_vectors_score_no_better_than_chance_allows():
    rng = torch.Generator().manual_seed(0)
    accuracy = nearest_sense(sense_exam(), *vectors_by(lambda s: torch.randn(len(s), 20, generator=rng)))
    assert 0.4 < accuracy.left < 0.55 and 0.4 < accuracy.right < 0.55


def test_vectors_of_other_sentences_are_refused():
    with pytest.raises(ValueError, match="one vector for each of the exam's"):
        nearest_sense(sense_exam(), torch.zeros(3, 4), torch.zeros(3, 4))


def test_the_bounds_tell_the_two_kinds_of_sentence_apart():
    limits = bounds()
    assert limits.from_left.left > 0.98 and limits.from_both.right > 0.98
    assert limits.from_left.right < 0.55  # nothing before the word tells the sense
    assert limits.majority.right < 0.55


def test_rows_survive_a_restart_and_are_replaced_in_place():
    add_row("static", sense_left=0.5, sense_right=0.4)
    add_row("GPT", sense_left=0.9, sense_right=0.45, loss=1.1)
    add_row("static", sense_left=0.55, sense_right=0.45, note="GloVe")
    rows = journal.read()["scoreboard"]  # read from disk
    assert rows["static"] == {"sense_left": 0.55, "sense_right": 0.45, "place": 1, "note": "GloVe"}
    assert rows["GPT"]["place"] == 2 and rows["GPT"]["loss"] == 1.1


@pytest.mark.parametrize("share", [-0.1, 1.2, 54.0, float("nan")])
def test_an_accuracy_that_is_no_share_is_refused(share):
    with pytest.raises(ValueError, match="sense_right=.*not a share"):
        add_row("static", sense_left=0.5, sense_right=share)


def test_the_figure_says_its_numbers(shown):
    add_row("one vector per word", sense_left=0.512, sense_right=0.437)
    draw()
    assert len(shown) == 1
    limits = bounds()
    for number in (0.512, 0.437, limits.majority.left, limits.from_left.right, limits.from_both.right):
        assert f"{number:.3f}" in shown[0]


def test_an_empty_board_says_how_to_fill_it(shown, capsys):
    draw()
    assert "add_row" in capsys.readouterr().out and not shown
