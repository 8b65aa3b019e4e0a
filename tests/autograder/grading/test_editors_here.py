"""What another editor, or a slip of the hand, has done to a notebook costs nothing, and the feedback says what it was."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.checks.status import Status
from autograder.gradebook.history import read_history
from autograder.source import grade_id, is_solution
from tests.autograder.here import NAME, RIGHT, by_name

ANNOTATED = {name: text.replace("(values)", "(values: np.ndarray)", 1) for name, text in RIGHT.items()}


def annotated(small):
    """Right answers that need what the first cell imports, as the stubs do."""
    return small.with_cells(ANNOTATED)


def graded(small, notebook):
    """The result of the only student's notebook, recorded in the gradebook."""
    small.hand_in("ada", notebook)
    (result,) = small.grade_class()
    return result


def setup_cell(notebook):
    return next(cell for cell in notebook.cells if cell.source.startswith("import numpy"))


def deleted(notebook):
    notebook.cells.remove(setup_cell(notebook))


def raw(notebook):
    setup_cell(notebook).cell_type = "raw"
    del setup_cell(notebook)["outputs"], setup_cell(notebook)["execution_count"]


def changed(source):
    def change(notebook):
        cell = setup_cell(notebook)
        cell.source = source(cell.source) if callable(source) else source

    return change


def moved(notebook):
    cell = setup_cell(notebook)
    notebook.cells.remove(cell)
    notebook.cells.append(cell)


def title_moved_too(notebook):
    moved(notebook)
    notebook.cells.append(notebook.cells.pop(0))


SPOILT = {
    "moved": (moved, "was missing, moved or changed"),
    "moved with the title": (title_moved_too, "was missing, moved or changed"),
    "deleted": (deleted, "was missing, moved or changed"),
    "raw": (raw, "was missing, moved or changed"),
    "emptied": (changed(""), "was missing, moved or changed"),
    "overwritten": (changed("# I moved my imports\nimport math"), "was missing, moved or changed"),
    "colab": (
        changed(lambda source: f"from google.colab import drive\ndrive.mount('/content')\n{source}"),
        "`from google.colab import drive` stopped with ModuleNotFoundError: No module named 'google",
    ),
    "misspelt": (changed(lambda source: source.replace("numpy", "nunpy")), "No module named 'nunpy'"),
    "syntax": (changed(lambda source: f"{source}\nimport ("), "stopped with SyntaxError"),
    "half": (changed("from autograder.checks import check"), "was missing, moved or changed"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "words"), SPOILT.values(), ids=SPOILT)
def test_without_its_first_cell_a_right_notebook_is_right_and_the_cause_is_told(small, spoil, words):
    notebook = annotated(small)
    spoil(notebook)
    assert graded(small, notebook).score == 9
    (note,) = read_history(small.assignment, "ada").notes
    assert words in note and "course's own cell was run in its place" in note


def test_an_untouched_notebook_is_run_once_and_nothing_is_told(small):
    small.hand_in("ada")
    (result,) = small.grade_class()
    assert (result.score, result.notes, len(small.pool.sent)) == (9, (), 1)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("!pip install -q einops\n%pip install jaxtyping", "Nothing can be installed"),
        ("def fast(torch):\n    return torch.compile(len)", "`torch.compile` is switched off"),
    ],
)
def test_what_grading_does_differently_is_told(small, source, words):
    notebook = small.perfect
    notebook.cells.insert(1, new_code_cell(source))
    graded(small, notebook)
    (note,) = read_history(small.assignment, "ada").notes
    assert note.startswith(words)


def test_what_a_student_adds_to_the_first_cell_counts(small):
    notebook = small.perfect
    setup_cell(notebook).source += "\nfrom math import fsum"
    small.hand_in("ada", notebook)
    small.hand_in("bob", notebook)
    for cell in notebook.cells:
        if grade_id(cell) == "steps-total":
            cell.source = "def total(values):\n    return fsum(values)"
    small.hand_in("bob", notebook)
    results = small.grade_class()
    assert [result.score for result in results] == [9, 9]
    assert [result.notes for result in results] == [(), ()]


def test_what_only_shows_something_is_not_repaired(small):
    """Else a deleted demonstration that takes minutes would be run because another one has been changed."""
    notebook = small.perfect
    demo = next(cell for cell in notebook.cells if "three thirds" in cell.source)
    demo.source = "print(added([1, 2]))"
    result = graded(small, notebook)
    assert (result.score, result.notes, len(small.pool.sent)) == (9, (), 1)


@pytest.mark.parametrize(
    "source", ["check = 3", "def check(name, call):\n    print('all right')", "del check"]
)
def test_whatever_a_notebook_has_made_of_the_name_check(small, source):
    notebook = small.perfect
    notebook.cells.insert(3, new_code_cell(source))
    assert graded(small, notebook).score == 9


def without_marks(notebook):
    """As Colab saves it: format 4.4, no ids, no metadata."""
    made = json.loads(nbformat.writes(notebook))
    for number, cell in enumerate(made["cells"]):
        del cell["id"]
        cell["metadata"] = {"id": f"aB{number}xYzQ"}
    return json.dumps(made | {"nbformat_minor": 0})


def test_without_any_mark_a_notebook_is_graded_as_with_them(small):
    notebook = small.with_cells(RIGHT | {"steps-question": "They stay as they are."})
    result = graded(small, without_marks(notebook))
    assert by_name(result)["question"].score is None
    assert (result.score, result.max_score) == (9, 10)
    history = read_history(small.assignment, "ada")
    assert history.answers["steps-question"] == "They stay as they are."
    assert "7 cells of this notebook had to be found again" in history.notes[0]


def test_merged_cells_cost_nothing(small):
    notebook = small.perfect
    cells = {grade_id(cell): cell for cell in notebook.cells}
    cells["steps-total"].source += "\n\n" + cells["steps-shares"].source
    notebook.cells.remove(cells["steps-shares"])
    assert graded(small, notebook).score == 9


def test_a_function_that_may_be_the_answer_is_shown_to_a_person(small):
    notebook = small.with_cells({name: RIGHT[name] for name in ("steps-total", "steps-shares")})
    place = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == "steps-largest")
    notebook.cells.insert(place + 1, new_code_cell("def biggest(values):\n    return shares(values).max()"))
    verdict = by_name(graded(small, notebook))["largest"]
    assert (verdict.status, verdict.score) == (Status.MANUAL, None)
    assert "begins with `def biggest(values):` may contain the answer" in verdict.reason
    with small.gradebook() as gradebook:
        grade = gradebook.find_grade("steps-largest-check", NAME, NAME, "ada")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
        comment = gradebook.find_comment("steps-largest", NAME, NAME, "ada")
        assert comment.auto_comment is None


def test_an_answer_beside_its_cell_waits_for_a_person(small):
    notebook = small.perfect
    notebook.cells.append(new_markdown_cell("Nothing happens."))
    assert by_name(graded(small, notebook))["question"].status == Status.MANUAL
    assert read_history(small.assignment, "ada").answers["steps-question"] == "Nothing happens."


def test_nothing_is_still_nothing(small):
    result = graded(small, small.assignment.read_release())
    assert {verdict.status for verdict in result.verdicts} == {Status.MISSING}
    assert result.score == 0


def test_a_stub_s_line_that_was_left_is_named(small):
    verdict = by_name(
        small.grade("ada", total="def total(values):\n    raise NotImplementedError\n    return values.sum()")
    )
    assert "delete the line that raises it" in verdict["total"].reason


def test_a_cell_that_stopped_is_named_with_its_error(small):
    verdict = by_name(small.grade("ada", total="def total(values:\n    return values.sum()"))["total"]
    assert verdict.reason.splitlines()[-1].startswith("The cell of the answer stopped with SyntaxError: ")


def test_the_rest_of_a_broken_file_is_graded_and_the_break_is_told(small):
    text = nbformat.writes(small.perfect)
    result = graded(small, text[: text.index("steps-largest-check")])
    verdicts = by_name(result)
    scores = {name: verdict.score for name, verdict in verdicts.items()}
    assert (scores["total"], scores["shares"]) == (2, 4)
    assert "breaks off" in read_history(small.assignment, "ada").notes[0]
    assert verdicts["question"].status == Status.MANUAL and scores["question"] is None


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.replace("shares(values).max", 'shares("values).max'), "cell of the file cannot be read."),
        (lambda text: text[: text.index("shares(values).max")], "The file breaks off before this cell."),
    ],
    ids=["a quote", "the end"],
)  # fmt: skip
def test_what_a_damaged_file_lost_is_left_to_a_person(small, spoil, words):
    result = graded(small, spoil(nbformat.writes(small.perfect)))
    verdicts = by_name(result)
    assert (verdicts["total"].score, verdicts["shares"].score) == (2, 4)
    assert (verdicts["largest"].status, verdicts["largest"].score) == (Status.MANUAL, None)
    assert words in verdicts["largest"].reason
    with small.gradebook() as gradebook:
        assert gradebook.find_grade("steps-largest-check", NAME, NAME, "ada").needs_manual_grade
        assert gradebook.find_comment("steps-largest", NAME, NAME, "ada").auto_comment is None


def test_a_second_half_that_does_not_fit_is_left_to_a_person(small):
    notebook = small.with_cells(
        RIGHT | {"steps-largest": "def largest(values):\n    most = shares(values).max()"}
    )
    place = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == "steps-largest")
    notebook.cells.insert(place + 1, new_code_cell("return most"))
    verdict = by_name(graded(small, notebook))["largest"]
    assert (verdict.status, verdict.score) == (Status.MANUAL, None)
    assert "seems to continue in the cell below. To be graded by hand. As submitted: " in verdict.reason


def test_words_in_a_cell_of_code_are_shown_to_the_grader(small):
    notebook = small.perfect
    notebook.cells.insert(1, new_code_cell('answer = "Nothing happens."'))
    assert by_name(graded(small, notebook))["question"].status == Status.MANUAL
    assert "Nothing happens." in read_history(small.assignment, "ada").answers["steps-question"]


@pytest.mark.parametrize(
    "file", ["01_steps.IPYNB", "01_steps.ipynb.txt", "01_steps.ipynb.json", "Copy of 01_steps.ipynb"]
)
def test_a_name_that_is_nearly_right_is_named(small, file):
    folder = small.hand_in("ada")
    (folder / "01_steps.ipynb").rename(folder / file)
    (result,) = small.grade_class()
    assert {verdict.reason for verdict in result.verdicts} == {
        f"There is no 01_steps.ipynb in the submission; there is {file}, which has a different name."
    }


def test_the_release_knows_its_own_texts(small):
    """Else the tests above would try cells that are no answers."""
    release = small.assignment.read_release()
    assert sum(map(is_solution, release.cells)) == 4 and setup_cell(release)


# Whoever wants points for nothing


def test_a_lost_first_cell_gives_no_second_try(small):
    """Of two runs the last one counts as a whole: luck in the first is not kept."""
    lucky = "import os\ntotal = (lambda v: v.sum()) if 'np' not in globals() else (lambda v: 1.0)"
    notebook = small.with_cells(ANNOTATED | {"steps-total": lucky})
    deleted(notebook)
    notebook.cells.insert(1, new_code_cell("from autograder.checks import check"))
    assert by_name(graded(small, notebook))["total"].score == 0


def test_forged_errors_end_after_a_few_runs(small):
    notebook = annotated(small)
    deleted(notebook)
    notebook.cells.insert(1, new_code_cell("raise NameError(\"name 'np' is not defined\")"))
    result = graded(small, notebook)
    assert result.score == 9 and len(small.pool.sent) <= 3


def test_what_a_note_quotes_of_the_student_is_text_in_the_feedback(small):
    from autograder.gradebook.summary import summary

    notebook = annotated(small)
    changed("<img src=x onerror=alert(1)>")(notebook)
    graded(small, notebook)
    where = {
        "student": "ada",
        "notebook": NAME,
        "assignment": NAME,
        "score": 9,
        "max_score": 10,
        "late_penalty": 0,
    }
    where["db_url"] = f"sqlite:///{small.root}/gradebook.db"
    html = summary(small.assignment.read_release(), where, small.assignment)
    assert "<img src=x" not in html and "&lt;img src=x" in html
