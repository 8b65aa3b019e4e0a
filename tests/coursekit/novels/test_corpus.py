"""The shelf in numbers: split by book, decoded again, rows of whole sentences, the same rows for pieces and words."""

import json

import numpy as np
import pytest

from coursekit.novels.corpus import ROW, SPECIAL, prepare
from tests.coursekit.novels.texts import write_shelf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return write_shelf(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="module")
def corpus(shelf, tmp_path_factory):
    return prepare(shelf, tmp_path_factory.mktemp("numbers") / "corpus", pieces=120)


@pytest.mark.slow
def test_no_author_of_a_held_out_part_stands_in_train(corpus):
    books = json.loads((corpus.folder / "books.json").read_text(encoding="utf-8"))
    assert {book["author"]: book["split"] for book in books} == {
        "A. Nobody": "train",
        "B. Nobody": "train",
        "George Gissing": "validation",
        "Wilkie Collins": "test",
    }
    assert all(len(book["sha256"]) == 64 and book["words"] > 2000 for book in books)


def test_rows_hold_whole_sentences_and_say_the_text_again(corpus):
    rows, text = corpus.rows("train"), corpus.tokenizer
    assert rows.lengths.max() <= ROW and rows.lengths.sum() == len(rows.values)
    for place in range(len(rows)):
        said = text.decode(rows[place].tolist())
        assert said.endswith(".") and "[UNK]" not in said
        spelt = [corpus.words[word] for word in corpus.word_rows("train")[place]]
        assert "".join(spelt) == said.replace(" ", "")


def test_special_pieces_are_those_of_the_small_models(corpus):
    assert [corpus.tokenizer.token_to_id(piece) for piece in SPECIAL] == list(range(7))
    assert corpus.words[:7] == list(SPECIAL)


def test_characters_are_those_of_the_row(corpus):
    rows = corpus.word_rows("test")
    letters = [sum(len(corpus.words[word]) for word in rows[place]) for place in range(len(rows))]
    assert (corpus.characters("test") > letters).all()


def test_padded_rows_have_what_is_asked_for_in_front_and_behind(corpus):
    rows = corpus.rows("train")
    batch = rows.padded([0, len(rows) - 1], first=5, last=6)
    for place, row in enumerate((0, len(rows) - 1)):
        whole = [5, *rows[row], 6]
        assert batch[place, : len(whole)].tolist() == whole and not batch[place, len(whole) :].any()


def test_what_is_written_is_read_again_and_a_shelf_without_a_list_is_named(corpus, shelf, tmp_path):
    again = prepare(shelf, corpus.folder)
    assert np.array_equal(again.rows("train").values, corpus.rows("train").values)
    with pytest.raises(FileNotFoundError, match=r"has no books\.csv"):
        prepare(tmp_path, tmp_path / "numbers")
