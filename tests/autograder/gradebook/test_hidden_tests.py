"""What feedback leaves out of a notebook with hidden tests, on what a real run of its cells shows."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.gradebook.hidden_tests import LINE, HiddenTests
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.jobs import cell as job_cell
from autograder.jail.outside.jobs import make_job
from autograder.untrusted.frames import read_frame
from tests.autograder.here import run_here

ANSWER = "def double(n):\n    return n + 1"


def test_cell(source: str, **of_nbgrader):
    metadata = {"grade": True, "solution": False, "locked": True, "grade_id": "t", "points": 1} | of_nbgrader
    return new_code_cell(source, metadata={"nbgrader": metadata})


test_cell.__test__ = False


def hidden(*lines: str) -> str:
    return "\n".join(["assert double(1) == 2", "### BEGIN HIDDEN TESTS", *lines, "### END HIDDEN TESTS"])


def run(*cells) -> nbformat.NotebookNode:
    """The cells with the outputs of a run, as autograded/ has them."""
    notebook = new_notebook(cells=list(cells))
    code = [one for one in notebook.cells if one.cell_type == "code"]
    outcome = run_here(make_job([job_cell(one.source) for one in code], {}))
    for one, blob in zip(code, outcome.frames, strict=True):
        one.outputs = [nbformat.from_dict(output) for output in read_frame(blob, Limits()).outputs]
    return notebook


def shown(*cells) -> str:
    """All that feedback has of the cells and their outputs, as text."""
    return nbformat.writes(HiddenTests(run(*cells)).left_out())


def test_the_region_is_left_out_and_the_tests_own_message_stays():
    page = shown(new_code_cell(ANSWER), test_cell(hidden('assert double(6) == 12, "double(6) is 12"')))
    assert "assert double(1) == 2" in page and "AssertionError: double(6) is 12" in page
    assert "not shown" in page and LINE in page
    assert "assert double(6)" not in page and "HIDDEN" not in page


@pytest.mark.parametrize(
    "lines",
    [
        ["secret = double(", "    6)", "assert secret == 12"],
        [
            "import sys, warnings",
            "place = [UserWarning, '<cell 2>', 5]",
            "sys.stderr.write(warnings.formatwarning('secret'[:1], *place))",
        ],
        ["assert secret ==="],
        [
            "import traceback",
            "try:",
            "    double(*secret())",
            "except NameError:",
            "    traceback.print_exc()",
        ],
        ["raise ValueError(f'{double(6)} in secret'[:2])"],
        ["x = [" + ", ".join(f"secret_{n}" for n in range(400)) + "]"],
        ["import doctest", '"""', ">>> secret(2)", '"""', "secret(2)"],
        ["%time secret_of(6)", "secret_of(7)"],
    ],
    ids=[
        "a call",
        "a warning",
        "no Python",
        "a printed traceback",
        "its own error",
        "a long line",
        "a doctest",
        "magics",
    ],
)
def test_no_line_of_it_is_in_an_error_or_a_warning(lines):
    page = shown(new_code_cell(ANSWER), test_cell(hidden(*lines)))
    code = [line.strip() for line in lines if "secret" in line and not line.startswith(">>>")]
    assert code and not any(line in page for line in code)


def test_a_hidden_function_that_fails_in_a_later_cell_is_not_quoted_there():
    page = shown(
        new_code_cell("double = lambda n: 2 * n"),
        test_cell(hidden("def judge(n):", "    return n / (n - n)")),
        new_code_cell("judge(3)\n# mine"),
    )
    assert "ZeroDivisionError" in page and "judge(3)" in page
    assert "n / (n - n)" not in page


def test_a_student_who_prints_the_tests_source_shows_none_of_it():
    tests = test_cell(hidden("assert double(6) == 12", "assert double(7) == 14"))
    prints = new_code_cell(f"source = {tests.source!r}\nprint(source)\nprint([source])\nsource")
    notebook = run(tests, prints)
    notebook.cells[1].source = "print(of_the_test)"  # which a student would have from elsewhere
    page = nbformat.writes(HiddenTests(notebook).left_out())
    assert "double(7)" not in page and page.count(LINE) > 2


def test_a_message_over_several_lines_stays_whole():
    lines = [
        "print('''Look at",
        "the order of the axes",
        "again''')",
        "assert False, '''No:",
        "the sum",
        "'''",
    ]
    page = shown(new_code_cell(ANSWER.replace("+ 1", "* 2")), test_cell(hidden(*lines)))
    assert "the order of the axes" in page and "the sum" in page
    assert "print('''" not in page and "assert False" not in page


def test_what_the_student_wrote_and_what_it_printed_stays():
    own = new_code_cell("### BEGIN HIDDEN TESTS\ntotal = 3\nprint('total = 3')")
    notebook = run(own, test_cell(hidden("total = 3", "pass", "assert total == 4")))
    left = HiddenTests(notebook).left_out()
    assert left.cells[0] == notebook.cells[0]
    assert "assert total == 4" not in nbformat.writes(left)


def test_where_a_cell_ran_out_of_time_the_hidden_line_is_not_quoted():
    cell = test_cell(hidden("while double(6) < 12: time.sleep(0.1)"))
    text = "CellTimeout: the cell was stopped after 6 seconds: it was waiting in line 3, while double(6) < 12: time.sleep(0.1)"
    tests = HiddenTests(new_notebook(cells=[cell]))
    assert tests.conceal(text).endswith("it was waiting in line 3")
    assert tests.conceal(f"<div>{text.replace('<', '&lt;')}</div>").endswith("in line 3</div>")
    assert tests.conceal("waiting in line 1, mine()") == "waiting in line 1, mine()"


def test_the_courses_own_delimiters_count():
    cell = test_cell("assert True\n# >>> secret\nassert double(6) == 12\n# <<< secret\nassert double(1)")
    left = HiddenTests(new_notebook(cells=[cell]), ">>> secret", "<<< secret").left_out()
    assert "double(6)" not in left.cells[0].source and "secret" not in left.cells[0].source
    assert left.cells[0].source.startswith("assert True") and left.cells[0].source.endswith("double(1)")


def test_a_notebook_without_hidden_tests_is_shown_as_it_is():
    notebook = run(new_markdown_cell("BEGIN HIDDEN TESTS"), new_code_cell(ANSWER), test_cell("double('')"))
    assert HiddenTests(notebook).left_out() == notebook
