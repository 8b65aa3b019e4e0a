"""Public data sets arrive with the columns of the course's own.

Readers are tried on real `datasets` tables of the public features; `online` tests fetch the real thing.
"""

import pandas as pd
import pytest
from datasets import ClassLabel, Dataset, Features, Sequence, Value

from coursekit import public_data
from coursekit.datasets import read_table
from coursekit.models import hub
from coursekit.public_data import CONLL_TAGS, PUBLIC, PublicDataUnavailable, load_public

TEXT, NUMBER = Value("string"), Value("int32")


def table(name: str, features: dict, rows: list[dict]) -> pd.DataFrame:
    return PUBLIC[name].table(Dataset.from_list(rows, Features(features)))


def test_sst2_has_the_labels_of_our_reviews():
    features = {"idx": NUMBER, "sentence": TEXT, "label": ClassLabel(names=["negative", "positive"])}
    found = table(
        "SST-2", features,
        [{"idx": 0, "sentence": "a joy", "label": 1}, {"idx": 1, "sentence": "dull", "label": 0},
         {"idx": 2, "sentence": "of the test split", "label": -1}],
    )  # fmt: skip
    assert found.to_dict("list") == {"text": ["a joy", "dull"], "label": ["positive", "negative"]}
    ours = read_table("sentiment/sentiment.csv")
    assert set(found.label) <= set(ours.label) and set(found) <= set(ours)


def test_conll_has_one_token_a_row_and_our_tags():
    features = {
        "id": TEXT,
        "tokens": Sequence(TEXT),
        "ner_tags": Sequence(ClassLabel(names=list(CONLL_TAGS))),
    }
    found = table(
        "CoNLL-2003", features,
        [{"id": "0", "tokens": ["Ada", "Lovelace", "wrote"], "ner_tags": [1, 2, 0]},
         {"id": "1", "tokens": ["Oslo"], "ner_tags": [5]}],
    )  # fmt: skip
    assert list(found.tag) == ["B-PER", "I-PER", "O", "B-LOC"] and list(found.sentence) == [
        "0",
        "0",
        "0",
        "1",
    ]
    ours = read_table("entities/entities.csv")
    assert set(found) <= set(ours) and set(CONLL_TAGS) == set(ours.tag)


@pytest.mark.parametrize("name", ["SQuAD", "SQuAD 2.0"])
def test_squad_has_all_answers_and_says_where_there_is_none(name):
    answers = {"text": Sequence(TEXT), "answer_start": Sequence(NUMBER)}
    features = {"id": TEXT, "title": TEXT, "context": TEXT, "question": TEXT, "answers": answers}
    words = {"title": "Oslo", "context": "Oslo lies on a fjord.", "question": "Where?"}
    found = table(
        name, features,
        [{"id": "a", **words, "answers": {"text": ["on a fjord", "a fjord"], "answer_start": [10, 13]}},
         {"id": "b", **words, "answers": {"text": [], "answer_start": []}}],
    )  # fmt: skip
    assert list(found.answerable) == [True, False] and found.answers[1] == []
    for text, start in zip(found.answers[0], found.starts[0], strict=True):
        assert found.context[0][start:].startswith(text)


def test_snli_leaves_out_pairs_on_which_the_annotators_did_not_agree():
    names = ["entailment", "neutral", "contradiction"]
    features = {"premise": TEXT, "hypothesis": TEXT, "label": ClassLabel(names=names)}
    rows = [{"premise": "p", "hypothesis": "h", "label": label} for label in (2, -1, 0)]
    found = table("SNLI", features, rows)
    assert list(found.label) == ["contradiction", "entailment"]
    ours = read_table("pairs/pairs.csv")
    assert set(found) <= set(ours) and set(ours.label) == set(names)


def test_stsb_keeps_its_scale_from_0_to_5():
    features = {"sentence1": TEXT, "sentence2": TEXT, "label": Value("float32"), "idx": NUMBER}
    found = table("STS-B", features, [{"sentence1": "a", "sentence2": "b", "label": 4.5, "idx": 0}])
    assert found.to_dict("records") == [{"premise": "a", "hypothesis": "b", "similarity": 4.5}]


def test_wic_says_where_the_word_stands():
    places = {place: NUMBER for place in ("start1", "start2", "end1", "end2")}
    features = {"word": TEXT, "sentence1": TEXT, "sentence2": TEXT, **places, "idx": NUMBER,
                "label": ClassLabel(names=["False", "True"])}  # fmt: skip
    row = {"word": "bank", "sentence1": "a bank loan", "sentence2": "the bank", "start1": 2, "end1": 6,
           "start2": 4, "end2": 8, "idx": 0, "label": 0}  # fmt: skip
    (found,) = table("WiC", features, [row]).itertuples()
    assert found.label == "different"
    assert found.sentence1[found.start1 : found.end1] == found.sentence2[found.start2 : found.end2] == "bank"


def test_without_a_hub_it_is_one_sentence_that_names_our_own(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    hub._answers.cache_clear()
    with pytest.raises(PublicDataUnavailable, match="the hub cannot be reached.*data/sentiment"):
        load_public("SST-2")
    hub._answers.cache_clear()


def test_unknown_names_and_unlabelled_splits_are_refused():
    with pytest.raises(ValueError, match="'MNLI' here. Choose from SST-2, CoNLL-2003"):
        load_public("MNLI")
    with pytest.raises(ValueError, match="SST-2 has labels for train and validation; .*'test'"):
        load_public("SST-2", "test")


@pytest.mark.online
@pytest.mark.parametrize("name", PUBLIC)
def test_the_real_ones_have_these_columns(name, real_hub):
    found = public_data.load_public(name)
    assert len(found) > 500 and found.notna().all().all() and (found.split == "validation").all()
