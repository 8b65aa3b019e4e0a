"""Nobody is told that there is no answer while a text of theirs stands somewhere in the notebook."""

import json

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.source import grade_id
from autograder.untrusted.cells import parse_cells
from autograder.untrusted.doubts import BREAKS_OFF, DAMAGED, UNREAD
from autograder.untrusted.placing import restore
from autograder.untrusted.written_answers import ELSEWHERE
from tests.autograder.untrusted import test_placing as placing
from tests.autograder.untrusted.test_placing import ANSWERS, HALF, RELEASE, TEXT_STUB, THIRD, Work, answer

ROW = new_notebook(
    cells=[
        *RELEASE.cells,
        new_markdown_cell("**Question 3.** What does the sun look like on Mars?", id="q3"),
        answer("mars", "markdown"),
        new_markdown_cell("**Question 4.** And what would it look like on the moon?", id="q4"),
        answer("moon", "markdown"),
        new_markdown_cell("**Question 5.** Which of the two would you like to see?", id="q5"),
        answer("sun", "markdown"),
        new_markdown_cell("Here the notebook ends at last.", id="over"),
    ]
)
TEXTS = {"mars": "Small, with a blue evening.", "moon": "White, on black.", "sun": "Both of them."}
UNANSWERED = {name: text for name, text in ANSWERS.items() if name != "why"}


@pytest.fixture
def row(monkeypatch):
    monkeypatch.setattr(placing, "RELEASE", ROW)
    monkeypatch.setattr(placing, "ANSWERS", ANSWERS | TEXTS)
    return lambda *without: Work({n: t for n, t in (ANSWERS | TEXTS).items() if n not in without})


def merge(work, *names):
    work[names[0]]["source"] = "\n\n".join(work[name]["source"] for name in names)
    work.remove(*names[1:])


@pytest.mark.parametrize("called", ["**3.** ", "**Question 3 · The sun.** ", ""])
def test_a_question_that_the_release_calls_otherwise_by_now_is_no_answer(row, called):
    """It was handed out before its heading was changed. The ids of such cells follow from their texts."""
    work = row("mars", "moon")
    work["q3"].update(source=work["q3"]["source"].replace("**Question 3.** ", called), id="older")
    work.restored()
    assert work.after["mars"].source == work.after["moon"].source == TEXT_STUB
    assert work.after["sun"].source == TEXTS["sun"]


# An answer in its own cell


@pytest.mark.parametrize(
    "quoted", [RELEASE.cells[4].source, "**Question 2.** And why is it red in the evening?"]
)
@pytest.mark.parametrize("where", ["q1", "why"])
def test_an_answer_that_quotes_the_release_is_not_replaced(quoted, where):
    work = Work(ANSWERS | {"why": quoted})
    work.add(where, "(sorry, I ran out of time here)", "markdown")
    assert work.restored()["why"].startswith(quoted)


BADGE = "[![Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/x/HEAD)"
COLAB = '<a href="https://colab.research.google.com/x"><img src="https://colab.research.google.com/assets/colab-badge.svg"/></a>'
COLAB_IN_LINES = '<a href="https://colab.research.google.com/x" target="_parent">\n<img src="https://colab.research.google.com/assets/colab-badge.svg"/>\n</a>'


@pytest.mark.parametrize("badge", [BADGE, COLAB, COLAB_IN_LINES])
def test_a_badge_hides_no_answer(badge):
    work = Work(ANSWERS | {"why": f"{badge} Small waves scatter."})
    work.add("why", "(sorry)", "markdown")
    assert work.restored()["why"] == f"{badge} Small waves scatter.\n\n(sorry)"
    work = Work(UNANSWERED)
    work.add("why", f"{badge}\n\nSmall waves scatter.", "markdown")
    assert work.restored()["why"].strip() == "Small waves scatter."
    work = Work(UNANSWERED)
    work.add("title", badge, "markdown")
    work.cells.insert(0, {"cell_type": "markdown", "metadata": {}, "source": badge})
    assert work.restored()["why"] == TEXT_STUB


def test_a_text_below_an_answer_may_also_answer_another_question():
    work = Work({n: t for n, t in ANSWERS.items() if n != "when"})
    work.add("why", "In the evening the way is longer.", "markdown")
    restored = work.restored()
    assert all("In the evening" in restored[name] for name in ("why", "when"))
    assert restored["why"].startswith(ANSWERS["why"])


# Merged cells


@pytest.mark.parametrize("first", ["q3", "mars"])
def test_of_merged_questions_each_shows_the_text(row, first):
    work = row()
    names = ["q3", "mars", "q4", "moon", "q5", "sun"]
    merge(work, *names[names.index(first) :])
    restored = work.restored()
    for name, text in TEXTS.items():
        assert text in restored[name], name


def test_of_merged_questions_without_answers_there_is_no_answer(row):
    work = row(*TEXTS, "when")
    merge(work, "q3", "mars", "q4", "moon", "q5", "sun")
    assert {work.restored()[name] for name in TEXTS} == {TEXT_STUB}


@pytest.mark.parametrize("both", ["Blue.\n\nWhite.", "3. Blue. Question 4: white.", "Q3 Blue\nQ4 White"])
@pytest.mark.parametrize("where", ["mars", "moon"])
def test_two_answers_in_one_cell_are_shown_with_both_questions(row, where, both):
    other = "moon" if where == "mars" else "mars"
    work = row(other)
    work[where]["source"] = both
    restored = work.restored()
    assert restored[where] == both and restored[other] == f"{ELSEWHERE}\n\n{both}"


def test_a_far_answer_that_names_another_question_is_shown_with_it(row):
    work = row("when")
    work["why"]["source"] = "Question 1: waves. Question 2: the way."
    assert work["why"]["source"] in work.restored()["when"]


def test_an_answer_whose_neighbour_s_cell_is_missing_is_shown_with_that(row):
    work = row("moon")
    work.remove("moon", "q4")
    work["mars"]["source"] = "Blue; white."
    assert work.restored()["moon"].startswith(f"{ELSEWHERE}\n\nBlue; white.")


def test_an_answer_of_its_own_says_nothing_about_the_neighbour(row):
    assert row("moon").restored()["moon"] == TEXT_STUB


# Words in cells of code

WORDS = {
    "prose": "Because the class token attends to all words",
    "lambda": "It is lambda large",
    "def": "This is so by def it says",
    "a name": 'answer = "Because of the waves"',
    "a formatted text": 'print(f"Because of {1} wave")',
    "Markdown": 'from IPython.display import Markdown\nMarkdown("Waves")',
    "a sum": 'print("Because of " + "waves")',
    "a comment and pass": "# Because of the waves\npass",
    "a text and a number": '"Because of the waves"\n3',
    "one word": "Waves",
    "operators": "it is blue",
    "a shell": '!echo "Because of the waves"',
    "a magic": "%%markdown\nBecause of the waves",
    "symbols": "→ ∞",
    "a number": "1/2",
    "much": "# Because of the waves\n" + "x = 1\n" * 5000,
}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["q1", "why", "title", "third-check", "end"])
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_words_in_a_cell_of_code_are_shown(words, where):
    work = Work(UNANSWERED)
    work.add(where, words)
    assert words[:5000].strip() in work.restored()["why"]


@pytest.mark.parametrize("symbols", ["→ ∞", "∑ = 1", "☀"])
def test_symbols_are_an_answer(symbols):
    work = Work(UNANSWERED)
    work.add("why", symbols, "markdown")
    assert work.restored()["why"] == symbols


@pytest.mark.parametrize("name", ["half-check", "demo", "setup", "half", "third-check"])
@pytest.mark.parametrize("below", [True, False])
def test_a_comment_in_a_cell_of_the_course_is_shown(name, below):
    work = Work(UNANSWERED)
    source, words = work[name]["source"], "# Because of the waves"
    work[name]["source"] = f"{source}\n\n{words}" if below else f"{words}\n{source}"
    assert words in work.restored()["why"]


def test_a_comment_in_a_stub_is_shown():
    work = Work({n: t for n, t in UNANSWERED.items() if n != "half"})
    work["half"]["source"] = work["half"]["source"].replace("# your turn", "# Because of the waves")
    assert "Because of the waves" in work.restored()["why"]


@pytest.mark.parametrize(
    "source", ["half(3)", "x = half(2)\nx", "import math\n[math.sqrt(y) for y in (1, 2)]", "%time half(3)"]
)
def test_code_without_words_is_no_written_answer(source):
    work = Work(UNANSWERED)
    for where in ("title", "why", "end"):
        work.add(where, source)
    work["half"]["source"] = "def half(x):\n    # one half of it\n    return x / 2"
    work["demo"]["source"] = "print(half(3))"
    assert work.restored()["why"] == TEXT_STUB


def test_an_untouched_notebook_is_unanswered_and_no_person_is_asked():
    work = Work({})
    assert work.restored()["why"] == TEXT_STUB
    assert work.result.unsure == {} == work.result.doubtful


# Functions

BOUND = {
    "a name": "import library\nhalf = library.functional.half",
    "partial": "from functools import partial\nhalf = partial(lambda y, x: x / y, 2)",
    "vectorised": "import numpy as np\nhalf = np.vectorize(float)",
    "imported": "from library import half",
    "by its name": "globals()['half'] = float",
    "by setattr": "import sys\nsetattr(sys.modules['__main__'], 'half', float)",
    "executed": 'exec("half = float")',
    "in a loop": "for half in [float]:\n    pass",
    "with an error": "half = library.(half",
    "of many signs": "def half(x):\n    return x\n" + "x = 1\n" * 5000,
}


@pytest.mark.parametrize("where", ["title", "setup", "half", "half-check", "end"])
@pytest.mark.parametrize("source", BOUND.values(), ids=BOUND)
def test_what_gives_a_stub_s_name_a_value_is_named_to_a_person_or_is_the_answer(source, where):
    work = Work({"third": THIRD})
    work.add(where, source)
    restored = work.restored()
    assert restored["half"] == source or "half" in work.result.unsure


@pytest.mark.parametrize("source", [text for name, text in BOUND.items() if name != "with an error"], ids=len)
def test_without_the_mark_of_its_cell_such_an_answer_is_found(source):
    work = Work(ANSWERS | {"half": source})
    del work["half"]["id"]
    for cell in work.cells:
        if cell["source"] == source:
            cell["metadata"] = {}
    work.restored()
    assert source.splitlines()[0] in work.after["half"].source or "half" in work.result.unsure


def test_a_variable_within_a_function_is_no_answer():
    work = Work({"third": "def third(x):\n    half = x / 3\n    return half"})
    work.restored()
    assert work.result.doubtful == {} == work.result.unsure


@pytest.mark.parametrize(
    "note", ["# see the end of the notebook", HALF.split("\n")[0] + "\n    raise NotImplementedError  # end"]
)
def test_an_answer_cell_that_points_elsewhere_is_not_worth_nothing(note):
    work = Work(ANSWERS | {"half": note})
    work.add("end", HALF)
    work.restored()
    assert "half" in work.result.unsure


PREFACES = {
    "a preface": f"My answer is this:\n\n{HALF}",
    "words around": f"My answer is this:\n\n{HALF}\n\nI think that this is right.",
    "an import": f"From here on it is code:\nimport math\n\n{HALF}",
}


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("text", PREFACES.values(), ids=PREFACES)
def test_code_with_words_around_it_that_was_turned_into_text_is_code(text, kind):
    work = Work()
    work["half"].update(cell_type=kind, source=text)
    assert work.restored()["half"] in text and work.as_run()["half"] == 3
    assert "half" in work.result.unsure  # a person looks, should it be worth nothing


def test_of_text_that_is_no_code_a_person_decides():
    work = Work()
    work["half"].update(cell_type="markdown", source="I divide it: def half(x) gives x / 2")
    work.restored()
    assert set(work.result.unsure) == {"half", "half-check"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def half(x):\n    y = x / 2", "    return y"),
        ("def half(x):\n    y = x / 2\n    ", "return y"),
        ("def half(x):", "    y = x / 2\n    return y"),
        ("def half(x):\n    return (x", "    / 2)"),
    ],
)
def test_the_halves_of_a_split_function_are_one(first, second):
    work = Work(ANSWERS | {"half": first})
    work.add("half", second)
    work.restored()
    assert work.as_run() == {"half": 3, "third": 2} and work.result.unsure == {}


@pytest.mark.parametrize("second", ["return y", "  return y", "return y if y > 0 else"])
def test_of_halves_that_do_not_fit_a_person_decides(second):
    work = Work(ANSWERS | {"half": "def half(x):\n    y = x / 2"})
    work.add("half", second)
    work.restored()
    assert set(work.result.unsure) == {"half", "half-check"}


def test_a_stub_that_was_split_is_a_stub():
    work = Work({"third": THIRD})
    head, rest = work["half"]["source"].split("\n")
    work["half"]["source"] = head
    work.add("half", rest)
    assert "NotImplementedError" in work.restored()["half"] and work.result.unsure == {}


# Damaged files


def of_file(text):
    read = parse_cells(text.encode())
    restored = restore(read.cells, RELEASE, damaged=bool(read.note))
    return restored, {grade_id(cell): cell.source for cell in restored.notebook.cells}


def as_text(work):
    return json.dumps({"nbformat": 4, "cells": work.cells}, indent=1)


def test_what_a_damaged_file_lost_is_left_to_a_person():
    text = as_text(Work())
    restored, sources = of_file(text.replace("def third(x):", 'def "third(x):'))
    assert sources["half"] == HALF and sources["when"] == ANSWERS["when"]
    assert restored.unsure["third"] == UNREAD == restored.unsure["third-check"]
    restored, sources = of_file(text[: text.index("def third(x):")])
    assert restored.unsure["third"] == BREAKS_OFF and sources["half"] == HALF
    assert sources["when"] == f"*({BREAKS_OFF})*"


def test_the_stub_of_a_damaged_file_may_be_answered_in_what_was_lost():
    work = Work({"third": THIRD})
    work.add("end", HALF)
    text = as_text(work)
    restored, sources = of_file(text[: text.rindex("def half(x):")])
    assert restored.unsure["half"] == DAMAGED and sources["why"] == f"*({DAMAGED})*"


def test_a_whole_file_loses_nothing():
    text = nbformat.writes(RELEASE)
    assert of_file(text)[0].unsure == {} and of_file(text)[1]["why"] == TEXT_STUB
