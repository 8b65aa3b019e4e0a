"""What the prose of the project says without computing it holds in what the notebook measures on the packaged text."""

import sys

import numpy as np
import pytest

from tests.notebooks.answers import right_cells

pytestmark = pytest.mark.slow
NOTEBOOKS = ["project"]


def test_the_language_reference_repeats_whole_paragraphs_and_none_is_on_both_sides(measured):
    assert measured["copies"] > 0.05
    words = measured["re"].compile(r"\w+").findall

    def same(passages):
        return {" ".join(words(one.lower())) for one in passages}

    assert not same(measured["training"]) & same(measured["held_out"])


def test_longer_tokens_help_the_unigram_model_and_bert_s_tokeniser_returns_almost_nothing(measured):
    table = measured["table"]
    per_byte = [row["unigram, nats per byte"] for row in table.values()]
    assert per_byte[0] > per_byte[1] > per_byte[2]
    assert [row["round trip"] for row in table.values()][:3] == [1, 1, 1]
    assert table["BERT's WordPiece"]["round trip"] < 0.05


def test_a_few_seconds_of_training_are_better_than_none(measured):
    held_out = measured["curve"]["held out"]
    assert held_out[-1] < held_out[0] - 0.2


of_python_3_11 = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the prose is about the language reference of Python 3.11"
)


@of_python_3_11
def test_the_neighbours_of_set_belong_to_both_senses(measured):
    near = {
        word
        for word, _ in measured["neighbours"].nearest(measured["vocabulary"], measured["vectors"], "set", 12)
    }
    assert {"get", "append", "frozenset"} <= near


def test_both_readings_agree(measured):
    assert measured["agreement"] > 0.95


def test_the_claim_survives_its_control(measured):
    tested, ends, gained = measured["tested"], measured["ends"], measured["gained"]
    ours = tested["contextual vectors"]
    assert ours["p"] == pytest.approx(0.001) and ours["purity"] > ours["chance"] + 0.25
    assert ends["contextual vectors"][0] > ours["chance"]
    assert all(low > 0 for _, low, _ in gained.values())  # "purer than both baselines"
    layer_0 = tested["the same encoder's layer 0"]
    assert layer_0["p"] > 0.05 and abs(layer_0["purity"] - layer_0["chance"]) < 0.05  # "at chance"


@of_python_3_11
def test_the_model_answer_has_the_notebook_s_numbers(measured):
    tested, ends = measured["tested"], measured["ends"]
    ours = tested["contextual vectors"]
    assert len(measured["labelled"]) == 85
    assert round(ours["purity"], 2) == 0.91 and round(ours["chance"], 2) == 0.53
    assert np.round(ends["contextual vectors"], 2) == pytest.approx([0.83, 0.96], abs=0.011)
    assert round(tested["neighbouring words"]["purity"], 2) == 0.56


def test_each_cluster_has_a_dominant_label_and_most_errors_are_assign_in_the_cluster_of_type(measured):
    clusters, label = measured["clusters"]["contextual vectors"].numpy(), measured["label"].numpy()
    counts = np.array([np.bincount(label[clusters == number], minlength=3) for number in range(3)])
    assert sorted(counts.argmax(axis=1)) == [0, 1, 2] and (counts.max(axis=1) > counts.sum(axis=1) / 2).all()
    of_type = counts[counts.argmax(axis=1) == 1][0]
    assert of_type[0] > (counts.sum() - counts.max(axis=1).sum()) / 2


def test_all_questions_have_a_relevant_passage(measured):
    assert len(measured["asked"]) == len(measured["QUESTIONS"]) == 8


SPLIT = right_cells("project", "split")
HALF_FINISHED = {
    "copies not left out": {
        "project-split": SPLIT["project-split"].replace("-1 if one in training else 1", "1")
    },
    "first function right, second not written": SPLIT,
    "a function renamed": {"project-split": SPLIT["project-split"].replace("def split", "def parts_of")},
}
SAYS = {
    "copies not left out": "the model can recite them",
    "first function right, second not written": "unigram_loss",
    "a function renamed": "name 'split' is not defined",
}
