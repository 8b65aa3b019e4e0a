"""What a student reads at one go is short: cells of prose, and code that is not folded."""

import io
import re
import tokenize

import pytest
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from autograder.authoring.minutes import NOT_WORDS, WORD
from autograder.source import code_cells
from tests.conftest import ASSIGNMENTS, release_of, solution_of

MOST_WORDS = 120
MOST_IN_A_SENTENCE = 35
MOST_STATEMENTS = 190
MOST_LETTERS = 95
"""Of a line of code that is not folded: what JupyterLab shows in a window of 1,280 points beside its file browser."""
TABLE = re.compile(r"^\|.*\n?", re.MULTILINE)
"""A table is looked up, not read in one go."""


def word_count(cell: NotebookNode) -> int:
    return len(WORD.findall(NOT_WORDS.sub(" ", TABLE.sub("", cell.source))))


def statement_count(cell: NotebookNode) -> int:
    """Lines of code, without comments and empty ones; what stands in brackets on several lines counts once."""
    tokens = tokenize.generate_tokens(io.StringIO(f"{cell.source}\n").readline)
    return sum(token.type == tokenize.NEWLINE for token in tokens)


def is_prose(cell: NotebookNode) -> bool:
    """Neither a written answer nor the list of references."""
    return (
        cell.cell_type == "markdown"
        and not (is_grade(cell) and is_solution(cell))
        and not cell.source.startswith("## References")
    )


def is_folded(cell: NotebookNode) -> bool:
    """Whether only the first line of its code is seen."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def is_shown(cell: NotebookNode) -> bool:
    """Code of a demonstration that is not folded."""
    return cell.cell_type == "code" and "nbgrader" not in cell.metadata and not is_folded(cell)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_cell_of_prose_is_long(name):
    cells = [cell for cell in solution_of(name).cells if is_prose(cell)]
    assert cells
    long = {cell.source[:60]: word_count(cell) for cell in cells if word_count(cell) > MOST_WORDS}
    assert not long


BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*[-*] |\d+\. |>|#)")
SENTENCES = re.compile(r"(?<=[.!?])[\"”)*]*\s+|(?<=[:;])\s+(?=[\"“(*A-Z])")


def sentences(cell: NotebookNode) -> list[str]:
    """Of prose, without code, formulas and tables; the points of a list are sentences of their own."""
    blocks = BLOCKS.split(NOT_WORDS.sub(" ", TABLE.sub("", cell.source)))
    return [sentence for block in blocks for sentence in SENTENCES.split(" ".join(block.split()))]


def test_sentences_are_told_apart():
    cell = NotebookNode(
        source="One. Two `a. b` is *here.* Three: four; five? - six\n- seven\n- eight\n\nNine $x. y$ ten"
    )
    assert [len(WORD.findall(sentence)) for sentence in sentences(cell)] == [1, 3, 3, 1, 1, 1, 2]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_sentence_is_long(name):
    cells = [cell for cell in solution_of(name).cells if is_prose(cell)]
    counted = {sentence[:60]: len(WORD.findall(sentence)) for cell in cells for sentence in sentences(cell)}
    assert len(counted) > 50
    assert {start: count for start, count in counted.items() if count > MOST_IN_A_SENTENCE} == {}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_code_to_be_read_is_short(name):
    cells = [cell for cell in solution_of(name).cells if is_shown(cell)]
    shown = {cell.source.splitlines()[0]: statement_count(cell) for cell in cells}
    assert sum(map(statement_count, cells)) <= MOST_STATEMENTS, sorted(
        shown.items(), key=lambda entry: -entry[1]
    )


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_no_line_of_code_wraps(name):
    """A line that wraps begins again at the edge, without its indentation."""
    cells = [cell for cell in code_cells(release_of(name)) if not is_folded(cell)]
    lines = [line for cell in cells for line in cell.source.splitlines()]
    assert len(lines) > 100
    assert [line for line in lines if len(line) > MOST_LETTERS] == []
