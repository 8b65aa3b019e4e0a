"""What students write is parsed within budgets: what is beyond them is shown cut off, or ends in a sentence.

Each text here would keep an unbounded parser for minutes or more; a test that hangs is ended by its timeout.
"""

import json
import signal
import threading
from contextlib import closing

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.checks import answer_key
from autograder.checks.asking import Answer
from autograder.checks.comparing import compare
from autograder.untrusted import budgets, pages, scanning, similarity
from autograder.untrusted.budgets import Scribe, TooMuch
from autograder.untrusted.cells import Unreadable, parse_cells
from autograder.untrusted.pages import Pages
from coursekit import planted
from tests.conftest import ASSIGNMENTS

pytestmark = pytest.mark.timeout(300)

QUADRATIC = {
    "environments": "\\begin{a}" * 5000,
    "dollars": "$a " * 16_000,
    "brackets": "[" * 50_000,
    "links": "[a](" * 12_000,
    "emphasis": "*a **a " * 7000,
    "backticks": "".join("`" * n + " " for n in range(1, 300)),
    "quotes": "> " * 20_000 + "a",
    "lists": "".join("  " * n + "- a\n" for n in range(200)),
    "references": "".join(f"[{n}]: a\n" for n in range(5000)),
    "elements": "<b>" * 16_000,
    "nested": "<div>" * 10_000,
    "comment": "<!--" * 12_000,
    "table": "|" * 24_000 + "\n" + "|-" * 12_000,
    "formula": "$" + "{" * 20_000 + "}" * 20_000 + "$",
    "powers": "$" + "a^{" * 15_000 + "$",
    "fence": "```python\n" + "'''" * 15_000,
    "fence of another language": "```perl\n" + "s{" * 20_000 + "\n```",
    "entities": "&amp" * 12_000,
}


@pytest.fixture(scope="module")
def short_scribe():
    with closing(Scribe(seconds=2)) as scribe:
        yield scribe


@pytest.mark.slow
@pytest.mark.parametrize("name", QUADRATIC)
def test_markdown_is_rendered_or_given_up_and_the_next_is_rendered(short_scribe, name):
    try:
        html = short_scribe.write("markdown", QUADRATIC[name])
    except TooMuch as error:
        assert str(error).endswith(".")
    else:
        assert "<script" not in html
    assert short_scribe.write("markdown", "**bold**") == "<p><strong>bold</strong></p>\n"


@pytest.mark.slow
def test_a_text_that_takes_too_long_is_given_up(short_scribe):
    with pytest.raises(TooMuch, match="takes more than 2 s"):
        short_scribe.write("markdown", "\\begin{a}" * 200_000)
    assert short_scribe.write("code", "x") != ""


@pytest.mark.slow
def test_a_busy_machine_costs_nobody_a_page():
    """Only the processor's time counts: here the scribe waits for longer than a text may take."""
    with closing(Scribe(seconds=0.5)) as scribe:
        assert scribe.write("code", "x")
        scribe._process.send_signal(signal.SIGSTOP)
        goes_on = threading.Timer(1, scribe._process.send_signal, [signal.SIGCONT])
        goes_on.start()
        assert scribe.write("code", "y")
        goes_on.join()


@pytest.mark.slow
def test_a_text_that_takes_too_much_memory_is_given_up():
    with closing(Scribe(seconds=120, memory=300 << 20)) as scribe:
        with pytest.raises(TooMuch):
            scribe.write("code", "x = 1\n" * 10_000_000)
        assert scribe.write("code", "x")


@pytest.mark.slow
def test_a_scribe_that_was_killed_is_replaced():
    with closing(Scribe()) as scribe:
        assert scribe.write("code", "x")
        scribe._process.kill()
        scribe._process.wait()
        assert scribe.write("code", "x")


def page_of(*cells) -> str:
    return Pages(config=None).from_notebook_node(new_notebook(cells=list(cells)))[0]


@pytest.mark.slow
def test_a_giant_code_cell_is_shown_cut_off():
    page = page_of(new_code_cell("secret = 1\n" * 1_700_000), new_code_cell("x = 1"))
    assert len(page) < 2_000_000 and page.count("secret = 1") < 1000
    assert "18700000 characters, too many to show here" in page
    assert '<span class="n">x</span>' in page


def test_a_giant_text_and_a_giant_raw_cell_are_shown_cut_off():
    page = page_of(new_markdown_cell("word " * 1_000_000), new_raw_cell("<b>raw</b> " * 500_000))
    assert len(page) < 2_000_000 and page.count("too many to show here") == 2
    assert "<b>raw" not in page


@pytest.mark.slow
def test_many_cells_just_below_the_limit_are_shown_without_colour_at_last():
    line = f"x = '{'y' * 60}'\n"  # few words to colour, and so many characters
    page = page_of(*(new_code_cell(f"n = {n}\n" + line * 400) for n in range(100)))
    assert "too large to show all of it" in page and len(page) < 20_000_000


@pytest.mark.slow
def test_what_takes_the_page_s_seconds_leaves_the_rest_as_it_was_typed(monkeypatch):
    monkeypatch.setattr(budgets, "PAGE_SECONDS", 0.0)
    page = page_of(new_markdown_cell("*first*"), new_markdown_cell("*second* <script>"))
    assert "<em>first</em>" in page and "*second* &lt;script&gt;" in page


@pytest.mark.slow
def test_many_outputs_and_a_long_one_are_shown_cut_off():
    printed = new_output("stream", name="stdout", text="word " * 100_000)
    many = [new_output("stream", name="stdout", text=f"<{n}>") for n in range(3000)]
    page = page_of(new_code_cell("x", outputs=[printed]), new_code_cell("y", outputs=many))
    assert "500000 characters, too many to show here" in page
    assert f"&lt;{budgets.MOST_OUTPUTS - 2}&gt;" in page and f"&lt;{budgets.MOST_OUTPUTS}&gt;" not in page


MANY = budgets.MOST_VALUES + 1  # values of a list


@pytest.mark.slow
@pytest.mark.parametrize("value", ["[]", "{}", "0"])
def test_of_a_file_of_millions_of_values_only_the_cells_are_built(monkeypatch, value):
    built = []
    loads = json.loads
    monkeypatch.setattr(
        scanning.json, "loads", lambda text, **how: built.append(len(text)) or loads(text, **how)
    )
    cell = {"cell_type": "code", "source": "x = 1", "outputs": "HERE", "metadata": {}}
    text = json.dumps({"cells": [cell], "nbformat": 4}).replace('"HERE"', f"[{','.join([value] * MANY)}]")
    assert [cell.source for cell in parse_cells(text.encode()).cells] == ["x = 1"]
    assert sum(built) < 1000


@pytest.mark.slow
def test_a_cell_of_millions_of_values_is_a_sentence():
    for part in "source", "metadata", "attachments":
        cell = {"cell_type": "code", "source": "x", part: "HERE"}
        text = json.dumps({"cells": [cell]}).replace('"HERE"', f"[{','.join(['[]'] * MANY)}]")
        try:
            assert len(parse_cells(text.encode()).cells) == 1
        except Unreadable as error:
            assert str(error).endswith(".")


@pytest.mark.slow
def test_an_honest_notebook_with_pictures_and_tables_is_read():
    picture = {"image/png": "iVBORw0KGgo" * 100_000, "text/html": "<td>1, 2, [3]</td>" * 20_000}
    outputs = [new_output("display_data", picture) for _ in range(10)]
    notebook = new_notebook(cells=[new_code_cell("x = 1", outputs=outputs)])
    assert [cell.source for cell in parse_cells(nbformat.writes(notebook).encode()).cells] == ["x = 1"]


COMPARED = {
    "deep": "(" * 300_000,
    "minus": "-" * 300_000 + "1",
    "wide": "x = [" + "1," * 3_000_000 + "]",
    "chain": "x" + ".a" * 300_000,
    "operators": "x = " + "1+" * 300_000 + "1",
    "strings": "'''" * 300_000,
    "indented": "".join(" " * n + "if x:\n" for n in range(2000)),
    "no python": "ключ{" * 300_000,
    "nested lambdas": "lambda:" * 100_000 + "0",
    "f-strings": "f'{" * 100_000,
}


@pytest.mark.parametrize("name", COMPARED)
def test_answers_of_any_form_are_compared(name):
    """Of a long one the beginning."""
    phrases = similarity.phrases({"one": COMPARED[name]}, ())
    assert len(phrases) <= budgets.LONGEST["compared"]
    assert len(similarity.phrases({"one": "word " * 100_000 + "last"}, ["one"])) == 1
    both = {student: {"one": COMPARED[name], "two": COMPARED[name]} for student in ("ada", "bob")}
    similarity.find_groups(both, [], ())


KEY = answer_key.load(ASSIGNMENTS["12_one_corpus"].key)["comparison.attention_tests"]


@pytest.mark.parametrize(
    "change",
    [
        lambda right: right | {"queries": np.zeros((1 << 20, 5, 6), np.float32)},
        lambda right: right | {"keys": np.broadcast_to(np.float32(1), (4, 1 << 30, 6))},
        lambda right: right | {"values": np.full((4, 7, 8), 1e300)},
        lambda right: right | {"keep": np.full((4, 5, 7), 3)},
        lambda right: right | {"queries": np.full(right["queries"].shape, np.nan)},
        lambda right: right | {"queries": np.zeros((0, 0, 0), np.float32)},
        lambda right: {},
    ],
)
def test_arrays_that_are_none_of_the_exercise_s_are_a_sentence(change):
    """Looked at are their shapes first, and none of the planted implementations gets them."""
    right = KEY.expected[0].arrays
    ran = []

    def counted(**given):
        ran.append(given)
        return planted.task("coursekit.planted.attention").truth(**given)

    unseen = (planted.Planted("counts", "", counted),)
    found = compare(Answer(change(dict(right))), KEY.expected[0], KEY.rule, unseen)
    assert found.status == "failed" and found.reason and ran == []
    compare(KEY.expected[0], KEY.expected[0], KEY.rule, unseen)
    assert ran  # what is right is run


def test_pages_of_the_release_are_made_by_the_scribe(monkeypatch):
    """Nothing of a notebook is parsed in this process: without the scribe no cell is rendered."""

    class Deaf:
        def write(self, kind, *arguments):
            raise TooMuch(f"No {kind}.")

    monkeypatch.setattr(budgets, "scribe", Deaf())
    pages._remembered.cache_clear()
    page = page_of(new_markdown_cell("*text*"), new_code_cell("x = 1"))
    assert "No markdown." in page and "No code." in page and "<em>" not in page
