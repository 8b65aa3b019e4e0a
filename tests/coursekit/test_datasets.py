"""The course's own tables: found from anywhere, and as their cards say."""

import pytest

from coursekit.datasets import DataMissing, read_table
from coursekit.language import load_language
from tests.conftest import ASSIGNMENTS


def test_a_table_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(read_table("timeline/timeline.csv")) == 27


def test_an_unknown_table_is_one_sentence():
    with pytest.raises(DataMissing, match="data/nowhere.csv is not in this course folder"):
        read_table("nowhere.csv")


@pytest.mark.slow
def test_the_running_examples_are_sentences_of_the_language_with_the_senses_that_are_written_beside_them():
    language = load_language()
    for row in read_table("running_examples/running_examples.csv").itertuples():
        ids = language.encode(row.sentence)[None]
        position = row.sentence.split().index(row.word) + 1
        posterior = language.sense_posterior(ids, position, "both")[0]
        assert posterior[language.senses.index(row.sense)] > 0.99, row.sentence


def test_the_timeline_is_in_order_and_names_notebooks():
    table = read_table("timeline/timeline.csv")
    assert table["month"].is_monotonic_increasing
    assert set(table["kind"]) == {"static", "machinery", "contextual"}
    assert table["notebook"].dropna().isin([name[:2] for name in ASSIGNMENTS]).all()
    assert table["idea"].str.split().str.len().between(3, 10).all()
