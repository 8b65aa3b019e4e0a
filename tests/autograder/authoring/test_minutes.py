"""How long a notebook takes: words, exercises and written answers, on and beside the core path."""

import ast
import re

import pytest
from nbformat import v4
from typer.testing import CliRunner

from autograder.authoring.minutes import PER_WRITTEN_ANSWER, STATED, minutes, sections
from autograder.checks.overview import FURTHER
from autograder.cli import app
from autograder.source import grade_id
from tests.conftest import ASSIGNMENTS, ROOT, solution_of

SOLUTION = {
    "nbgrader": {"solution": True, "grade": False, "grade_id": "a-b", "schema_version": 3, "locked": False}
}
ANSWER = {"nbgrader": {"solution": True, "grade": True, "grade_id": "a-q", "schema_version": 3, "points": 2, "locked": False}}  # fmt: skip
CODE = 'def f():\n    """Says so.  (difficulty ●●○, 7 minutes)"""'


def notebook():
    return v4.new_notebook(cells=[
        v4.new_markdown_cell("# Title\n" + "word " * 149),
        v4.new_markdown_cell("## 1 · First\n" + "word " * 149 + "$x y z$ and `code here`\n```\nnot read\n```\n[a](b.c)"),
        v4.new_code_cell(CODE, metadata=SOLUTION),
        v4.new_code_cell(CODE),  # of a demonstration
        v4.new_markdown_cell("a long answer " * 100, metadata=ANSWER),
        v4.new_markdown_cell("## Further: more\n" + "word " * 298),
        v4.new_code_cell(CODE.replace("difficulty ", "extension, "), metadata=SOLUTION),
        v4.new_markdown_cell("## 2 · Extensions\nword"),
        v4.new_markdown_cell("## References\n" + "word " * 999),
    ])  # fmt: skip


def test_words_exercises_and_written_answers_count_and_solutions_code_and_references_do_not():
    first, one, further, extensions, references = sections(notebook())
    assert (first.title, first.word_count, first.minutes) == ("", 150, 1)
    assert one.word_count == 149 + 1 + 2  # the heading, "and", "a"
    assert one.exercises == 7 and one.written == 1
    assert further.further and further.word_count == 300 and further.exercises == 7
    assert extensions.further and references.word_count == 0 and not one.further
    assert minutes(notebook()) == pytest.approx(1 + 152 / 150 + 7 + 5)
    assert minutes(notebook(), further=True) == pytest.approx(2 + 7 + 2 / 150)


def test_the_command_says_them_of_every_section():
    said = CliRunner().invoke(app, ["minutes", "02_attention", "--sections"], terminal_width=200)
    core = minutes(solution_of("02_attention"))
    assert said.exit_code == 0 and "core path" in said.output and f"{core:.0f} +" in said.output


# ------------------------------------------------------------------------------- what the course says of itself


NAMED_AND_NOT_RUN = {"unfreeze_at"}
"""Stands in a function of 09's core path, in a case that is first reached in the extension."""


def stated(name: str) -> int:
    """The minutes in a notebook's header."""
    header = solution_of(name).cells[0].source
    return int(re.search(r"\*\*Time\*\* about (\d+) minutes", header)[1])


def computed(name: str) -> int:
    """As a header says them: in fives."""
    return 5 * round(minutes(solution_of(name)) / 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_exercise_states_its_minutes(name):
    exercises = {exercise.solution_id for exercise in ASSIGNMENTS[name].exercises.values()}
    cells = [cell for cell in solution_of(name).cells if grade_id(cell) in exercises]
    assert len(cells) == len(exercises) and all(STATED.search(cell.source) for cell in cells)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_header_says_what_is_computed(name):
    assert stated(name) == computed(name)


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_core_path_takes_at_most_90_minutes_and_asks_for_all_written_answers_two_at_most(name):
    source = solution_of(name)
    assert computed(name) <= 90
    assert sum(section.written for section in sections(source)) <= 2
    assert not any(section.written for section in sections(source) if section.further)


def code_cells_of(name):
    """Each code cell, and whether it goes further than the core path."""
    further = False
    for cell in solution_of(name).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^## (.+)", cell.source, re.MULTILINE):
                further = bool(FURTHER.match(heading))
        else:
            yield cell, further


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_what_goes_further_earns_extra_credit_and_nothing_else(name):
    for cell, further in code_cells_of(name):
        if cell.metadata.get("nbgrader", {}).get("grade"):
            extra = cell.metadata.get("course", {}).get("extra_credit", 0)
            assert (cell.metadata.nbgrader.points == 0) == bool(extra) == further, grade_id(cell)


@pytest.mark.slow
def test_the_map_says_what_the_headers_say():
    source = (ROOT / "solutions" / "start.py").read_text()
    rows = re.findall(r"^# \| (?:\d\d|P) \| \[[^]]+\]\(([^/]+)/[^)]*\) \| (\d+) \|", source, re.MULTILINE)
    assert {name: int(said) for name, said in rows} == {name: stated(name) for name in ASSIGNMENTS}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_core_path_uses_no_function_of_what_goes_further(name):
    functions = {e.solution_id: e.name.partition(".")[2] for e in ASSIGNMENTS[name].exercises.values()}
    written_further, used_in_core = set(), set()
    for cell, further in code_cells_of(name):
        if further:
            written_further |= {functions[grade_id(cell)]} if grade_id(cell) in functions else set()
        else:
            used_in_core |= {
                node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)
            }
    assert not written_further & used_in_core - NAMED_AND_NOT_RUN


def without_written_answers(name: str) -> float:
    """The minutes of the core path for those who leave them out, as the guide advises for a workshop."""
    core = [section for section in sections(solution_of(name)) if not section.further]
    return sum(section.minutes - PER_WRITTEN_ANSWER * section.written for section in core)


@pytest.mark.slow
def test_the_days_of_the_workshop_take_what_the_instructors_guide_says():
    guide = (ROOT / "docs" / "instructors.md").read_text()
    both = re.search(r"on the first ([\d, and]+); on the second ([\d, and]+)\.", guide).groups()
    for day in both:
        numbers = re.findall(r"\d\d", day)
        hours = sum(without_written_answers(name) for name in ASSIGNMENTS if name[:2] in numbers) / 60
        assert len(numbers) == 4 and 4.5 < hours < 5.5, "about five hours of work on each"
