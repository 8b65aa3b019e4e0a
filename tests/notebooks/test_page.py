"""The page one works on is the page that was written: folded code, no prose that is read twice, no answer given away."""

import ast
import json
import re
from copy import deepcopy

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.source import code_cells
from tests.conftest import ASSIGNMENTS, release_of, solution_of
from tools.book.notebook import students_page

MOST_FOLDED = 12
MOST_WORDS = 6
"""A code cell may display so many words as Markdown; the head of a table has more, and a bar."""


def folded(notebook: NotebookNode) -> list[str]:
    return [cell.id for cell in code_cells(notebook) if cell.metadata.get("jupyter", {}).get("source_hidden")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_code_folded_in_the_source_is_folded_in_the_release_and_on_the_website(name):
    one = ASSIGNMENTS[name]
    source = deepcopy(solution_of(name))
    assert folded(source), "code that is not meant to be read is folded"
    assert folded(one.read_release()) == folded(source)
    page = nbformat.reads(students_page(one, source), as_version=4)
    assert [cell.id for cell in code_cells(page) if "hide-input" in cell.metadata.get("tags", [])] == folded(
        source
    )


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_hardly_any_code_is_folded(name):
    """A page holds prose, exercises, short calls and what they show; what only draws belongs to coursekit."""
    assert len(folded(release_of(name))) <= MOST_FOLDED


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_notebook_without_its_course_says_what_is_missing_and_how_to_get_it(name):
    """Where its first cell fails: in Colab, or in a folder with nothing else."""
    first = next(code_cells(release_of(name)))
    assert "from coursekit import" in first.source
    assert "unpack the course's" in first.source and "`make lab`" in first.source


def open_cells(name: str) -> list[NotebookNode]:
    """The code that is read: not the student's own, and not folded."""
    notebook = release_of(name)
    hidden = folded(notebook)
    return [
        cell for cell in code_cells(notebook) if cell.id not in hidden and "nbgrader" not in cell.metadata
    ]


def calls(cell: NotebookNode, function: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
    ]


def said(call: ast.Call) -> str:
    """The words of a call's arguments, without the numbers that are filled in."""
    constants = (node for node in ast.walk(call) if isinstance(node, ast.Constant))
    return "".join(node.value for node in constants if isinstance(node.value, str))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_one_heading_is_the_title_and_no_sentence_is_a_heading(name):
    cells = [cell for cell in solution_of(name).cells if cell.cell_type == "markdown"]
    headings = re.findall(r"^(#+) (.+)$", "\n".join(cell.source for cell in cells), flags=re.MULTILINE)
    assert headings[0][0] == "#" and [level for level, _ in headings].count("#") == 1
    assert not [text for _, text in headings if text.endswith(".")]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_sentence_is_read_in_the_code_and_again_below_it(name):
    shown = [said(call) for cell in open_cells(name) for call in calls(cell, "Markdown")]
    assert [words for words in shown if "|" not in words and len(words.split()) > MOST_WORDS] == []
    # Of a folded cell JupyterLab shows the first line.
    notebook = release_of(name)
    first = [cell.source.partition("\n")[0] for cell in code_cells(notebook) if cell.id in folded(notebook)]
    assert [line for line in first if "Markdown(" in line and not line.endswith("Markdown(")] == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_prediction_s_answer_can_be_read_off_the_next_cell(name):
    for cell in open_cells(name):
        for call in calls(cell, "reveal"):
            _, value = call.args
            assert any(isinstance(node, ast.Name) for node in ast.walk(value)), ast.unparse(call)


@pytest.mark.slow
def test_the_answer_in_a_folded_cell_does_not_stand_in_its_first_line():
    for name in ASSIGNMENTS:
        for cell in code_cells(release_of(name)):
            unquoted = re.sub(r'"[^"\n]*"', '""', cell.source)  # a name may have a number in it: "SimLex-999"
            assert not re.match(r"reveal\(.*\d", unquoted), cell.source


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_sliders_leave_a_picture_in_the_saved_notebook(name):
    """ipywidgets' own interact draws inside a widget, which the next morning is an error."""
    assert "ipywidgets.interact" not in json.dumps(release_of(name))


def chosen(call: ast.Call, keyword: str) -> list[str]:
    """The names of the choices in `choices=(A, B)`, or of the wrong ones in `because={A: …}`."""
    value = next((one.value for one in call.keywords if one.arg == keyword), None)
    parts = getattr(value, "elts", getattr(value, "keys", []))
    return [part.id for part in parts]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_each_wrong_choice_of_a_prediction_is_explained(name):
    predicted = {
        said(call): chosen(call, "choices") for cell in open_cells(name) for call in calls(cell, "predict")
    }
    revealed = {
        call.args[0].value: (chosen(call, "because"), names_in(call.args[1]))
        for cell in code_cells(release_of(name))
        for call in calls(cell, "reveal")
    }
    for about, choices in predicted.items():
        because, right = revealed[about]
        assert not choices or (set(choices) <= right and len(set(choices) - set(because)) <= 1), about
        assert choices or not because, about


def names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


WITH_CHOICES = {
    "01_static_embeddings": 1, "03_transformer_layer": 3, "04_recurrence": 1, "05_elmo": 4, "06_bert": 1, "07_gpt": 3,
    "12_one_corpus": 2,
}  # fmt: skip
"""The predictions whose point is not a number."""


@pytest.mark.slow
def test_predictions_whose_point_is_no_number_offer_choices():
    found = {
        name: sum(
            bool(chosen(call, "choices")) for cell in open_cells(name) for call in calls(cell, "predict")
        )
        for name in ASSIGNMENTS
    }
    assert {name: count for name, count in found.items() if count} == WITH_CHOICES
