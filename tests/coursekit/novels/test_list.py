"""The list of the novels: whoever has other texts is told which, and the shipped list is split by author."""

from collections import defaultdict

import pandas as pd

from coursekit.novels.__main__ import as_csv, compared
from coursekit.novels.corpus import HELD_OUT, Book
from tests.conftest import ROOT

LISTED = pd.read_csv(ROOT / "data/novels/books.csv")
BOOKS = [Book(f"{name}.txt", "A. Nobody", 1850, "train", 100, name * 32) for name in ("ab", "cd", "ef")]


def test_the_same_texts_are_the_same_and_others_are_named():
    listed = as_csv(BOOKS)
    assert compared(listed, listed) == "All 3 texts match the list."
    other = Book("ef.txt", "A. Nobody", 1850, "train", 100, "00" * 32)
    new = Book("gh.txt", "A. Nobody", 1850, "train", 100, "11" * 32)
    said = compared(as_csv([BOOKS[0], other, new]), listed)
    assert (
        said
        == "1 file missing from your folder: cd.txt. 1 file not in the list: gh.txt. 1 file with another text: ef.txt."
    )


def test_no_held_out_author_is_read_in_training_and_all_are_in_the_public_domain():
    parts = defaultdict(set)
    for book in LISTED.itertuples():
        parts[book.split].add(book.author)
    assert {split: set(authors) for split, authors in HELD_OUT.items()} == {
        split: parts[split] for split in HELD_OUT
    }
    assert not parts["train"] & (parts["validation"] | parts["test"])
    assert LISTED.published.max() < 1928 and LISTED.sha256.is_unique


def test_the_card_says_how_many():
    card = (ROOT / "data/novels/README.md").read_text(encoding="utf-8")
    assert f"{len(LISTED)} English novels" in card
    assert f"{LISTED.words.sum() / 1e6:.1f} million words" in card


def test_the_card_counts_the_pairs():
    pairs = pd.read_csv(ROOT / "data/novels/pseudo_words.csv")
    card = (ROOT / "data/novels/README.md").read_text(encoding="utf-8")
    counts = pairs.groupby("relation").size()
    assert f"has {len(pairs)} pairs" in card
    assert f"{counts['related']} pairs are *related*" in card and f"{counts['unrelated']} are not" in card
