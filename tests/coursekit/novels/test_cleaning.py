"""Cleaning a novel as archives have it: what is prose stays, what is not goes."""

import textwrap

from coursekit.novels.cleaning import paragraphs, sentences

LONG = "It was a quiet street, and nobody in it had ever wished for another. " * 6
WRAPPED = """THE QUIET STREET

By A. Nobody

CONTENTS

CHAPTER I

CHAPTER II


CHAPTER I

A MORNING

""" + textwrap.fill(LONG, 60) + """

"Mr. Brown," said the post-
man, “here’s a letter -- for
you—at last.”

II

* * * * *

He took it; the _first_ since May. [Illustration: the letter]

THE END
"""  # fmt: skip


def test_headings_contents_and_ornaments_go_and_lines_are_joined():
    found = paragraphs(WRAPPED)
    assert found[0] == LONG.strip()
    assert found[1:] == [
        '"Mr. Brown," said the postman, "here\'s a letter -- for you -- at last."',
        "He took it; the first since May.",
    ]


def test_a_paragraph_per_line_is_left_as_it_is():
    text = f"THE STREET\nCHAPTER I.\n{LONG}\n{LONG}And so on it went, from one year to the next.\nTHE END.\n"
    found = paragraphs(text)
    assert found == [LONG.strip(), f"{LONG}And so on it went, from one year to the next."]


def test_without_empty_lines_a_short_line_ends_a_paragraph():
    told = textwrap.fill(f"{LONG}And so it ended. No.", 60)
    found = paragraphs("\n".join([told] * 3))
    assert found == [f"{LONG}And so it ended. No."] * 3


def test_a_sentence_that_was_torn_apart_is_mended():
    text = f"{LONG}The door and\n\nshutter were closed.\n{LONG}\n{LONG}\n"
    assert paragraphs(text) == [f"{LONG}The door and shutter were closed.", LONG.strip(), LONG.strip()]


def test_sentences_end_where_a_reader_would_end_them():
    assert sentences(
        '"Is that you, Mr. Hale?" asked Dr. J. Low. "I am late! Forgive me..." He sat down.'
    ) == [
        '"Is that you, Mr. Hale?" asked Dr. J. Low.',
        '"I am late!',
        'Forgive me..."',
        "He sat down.",
    ]
    assert sentences("no capital, no end") == ["no capital, no end"]


def test_nothing_in_nothing_out():
    assert paragraphs("") == paragraphs("\n\n \n") == [] == sentences("")
