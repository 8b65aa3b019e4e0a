"""Run All in a front end goes on where an answer is missing; nothing hides an error, and Validate counts it as before."""

import shutil

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.checks import answer_key
from autograder.checks.asking import ask
from autograder.checks.comparing import Rule
from tests.autograder.checks.as_a_person import Person, validated, words
from tests.conftest import KERNEL_SETTINGS

STUB = "def double(x):\n    raise NotImplementedError"
RIGHT = STUB.replace("raise NotImplementedError", "return x * 2")
WRONG = STUB.replace("raise NotImplementedError", "return x * 3")
SOLUTION = {"nbgrader": {"solution": True, "grade": False, "locked": False}}
LOCKED = {"nbgrader": {"solution": False, "grade": True, "locked": True, "points": 1}}
DEMO = {"tags": ["demo"]}
SKIPPED = "… needs `double`: skipped"

CELLS = {
    "imports": ("import numpy as np\nfrom autograder.checks import check", {}),
    "double": (STUB, SOLUTION),
    "check-double": ('check("demo.double", lambda case: double(case["x"]))', LOCKED),
    "prepared": ('title, filled = "old", []', DEMO),
    "direct": ('shown = double(np.ones(2))\ntitle = "new"\nfactor = 1\nfilled.append(shown)', DEMO),
    "by-name": ("print(shown)", DEMO),
    "by-a-name-of-old": ("print(title)", DEMO),
    "by-what-was-filled": ("print(filled[0])", DEMO),
    "in-a-function": ("def draw():\n    return shown\n\ndraw()", DEMO),
    "slider": ("import ipywidgets\nipywidgets.interact(lambda a: double(a), a=(0, 1));", DEMO),
    "half": ("def half(x):\n    return x / 2", SOLUTION),
    "check-half": ('check("demo.half", lambda case: half(case["x"]))', LOCKED),
    "check-fourth": ('check("demo.fourth", lambda case: half(case["x"]) * factor)', LOCKED),
    "quarter": ("def quarter(x):\n    return half(x) / double(1)", SOLUTION),
    "check-quarter": ('check("demo.quarter", lambda case: quarter(case["x"]))', LOCKED),
    "last": ('print("the last cell")', DEMO),
}  # fmt: skip
NEED_IT = ["direct", "by-name", "by-a-name-of-old", "by-what-was-filled", "in-a-function"]


def cell(name, source=None, metadata=None):
    of_notebook = CELLS.get(name, ("", {}))
    made = new_code_cell(of_notebook[0] if source is None else source, metadata=metadata or of_notebook[1])
    made.id = name
    return made


def cells(*names):
    return [cell(name) for name in names or CELLS]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A small notebook with its answer key."""
    folder = tmp_path_factory.mktemp("course") / "00_demo"
    folder.mkdir()
    inputs = ({"x": np.arange(3.0)}, {"x": np.ones((2, 4))})
    rights = {"double": lambda c: c["x"] * 2, "half": lambda c: c["x"] / 2, "fourth": lambda c: c["x"] / 4}
    rights["quarter"] = rights["fourth"]
    keys = [
        answer_key.ExerciseKey(
            f"demo.{name}", Rule(), ("Why?",) * 4, (), inputs, tuple(ask(call, given) for given in inputs), ()
        )
        for name, call in rights.items()
    ]
    (folder / "00_demo.key").write_bytes(answer_key.to_bytes(keys))
    nbformat.write(new_notebook(cells=cells()), folder / "00_demo.ipynb")
    return folder / "00_demo.ipynb"


@pytest.fixture(scope="module")
def person(path, tmp_path_factory):
    with Person(path, tmp_path_factory.mktemp("home")) as person:
        yield person


@pytest.fixture
def shown(person):
    """By cell: what each shows after Run All of the unanswered notebook, in a kernel that has seen other runs."""
    person.run([cell("clean", "%reset -f")])
    return {one.id: one for one in person.run(cells())}


def errors(one):
    return [output for output in one.outputs if output.output_type == "error"]


@pytest.mark.slow
def test_run_all_skips_what_needs_the_answer_with_one_card_and_goes_on(shown):
    assert [name for name, one in shown.items() if one.status != "ok" or errors(one)] == []
    assert {name: words(shown[name]) for name in NEED_IT} == dict.fromkeys(NEED_IT, SKIPPED)
    assert words(shown["check-double"]).startswith("… demo.double: not answered yet")
    assert words(shown["check-half"]).startswith("✓")
    assert words(shown["check-fourth"]) == "… demo.fourth: needs `double`: skipped"
    assert SKIPPED in words(shown["slider"])
    builds_on = "demo.quarter: needs `double`: skipped\n  This exercise builds on `double`, which you have not answered yet."
    assert words(shown["check-quarter"]) == f"… {builds_on}"
    assert words(shown["last"]) == "the last cell\n"


def test_a_prediction_with_a_percent_sign_gets_a_sentence(person):
    unread, other = person.run(
        [cell("guess", 'predict("demo.share", 50%)'), cell("typo", "print(50%)")],
    )
    assert errors(unread)[0].ename == "SyntaxError" and "without a percent sign" in words(unread)
    assert "percent sign" not in words(other)


@pytest.mark.slow
def test_a_program_that_runs_the_notebook_meets_the_error(person):
    person.run([cell("clean", "%reset -f")])
    _, _, check, *_ = person.run(cells(), front_end=False)
    assert check.status == "error" and errors(check) and "not answered yet" in words(check)


@pytest.mark.slow
def test_validate_counts_it_as_not_passed(path, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))  # as where nbgrader is called from a notebook
    failed = validated(path, monkeypatch)
    names = ["1 of 3: demo.double", "2 of 3: demo.fourth", "3 of 3: demo.quarter"]
    assert [one["source"] for one in failed] == names
    assert "Not answered yet" in failed[0]["raw_error"]


@pytest.mark.slow
def test_an_answer_is_taken_up_from_the_cell_that_was_skipped(person, shown):
    _, check, late = person.run([cell("double", RIGHT), *cells("check-double", "by-name")])
    assert words(check).startswith("✓ demo.double")
    assert errors(late) and "`shown` is not defined yet: run the cells above first" in words(late)
    again = person.run(cells(*NEED_IT))
    assert [words(one) for one in again[1:3]] == ["[2. 2.]\n", "new\n"] and not any(map(errors, again))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "call"),
    [("def mine(x):\n    return shown", "mine(1)"), ("def mine(x):\n    return y + 1", "mine(1)"), ("", "print(shwon)")],
    ids=["the name of a skipped cell in their own function", "another name", "a typing error"],
)  # fmt: skip
def test_a_student_s_own_error_is_shown_and_stops(person, shown, source, call):
    _, wrong = person.run([cell("half", source), cell("by-name", call)])
    assert wrong.status == "error"
    assert errors(wrong)[0].ename == "NameError" and "Traceback" in words(wrong)


@pytest.mark.slow
def test_an_error_of_a_library_for_what_it_lacks_is_shown(person, shown):
    lacking = (
        "import abc\n\nexec(compile('def lacks(): raise NotImplementedError', 'library.py', 'exec'))\nlacks()"
    )
    (wrong,) = person.run([cell("direct", lacking)])
    assert errors(wrong)[0].ename == "NotImplementedError" and wrong.status == "error"


@pytest.mark.slow
def test_a_wrong_answer_has_its_card_and_one_line_and_what_uses_it_says_so(person):
    person.run([cell("clean", "%reset -f"), cell("imports"), cell("double", WRONG)])
    check, use, through, last = person.run(
        [
            cell("check-double"),
            cell("direct", "print(double(1))"),
            cell("by-name", "def twice(x):\n    return double(double(x))\n\nprint(twice(1))"),
            cell("last"),
        ]
    )
    card, line = check.outputs
    assert "Your answer is wrong on all 2 inputs. Input 1: x of length 3." in card.data["text/plain"]
    assert line.traceback == ["✗ demo.double: not yet right (see above)"]
    uses = "… this cell uses `double`, which is not right yet: its output may be wrong"
    assert [words(one) for one in (use, through, last)] == [f"{uses}\n3\n", f"{uses}\n9\n", "the last cell\n"]
    *_, use = person.run([cell("double", RIGHT), cell("check-double"), cell("direct", "print(double(1))")])
    assert words(use) == "2\n"


@pytest.fixture
def settings(tmp_path):
    """Where IPython finds what `make lab` tells every kernel."""
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    shutil.copy(KERNEL_SETTINGS, profile)
    return {"IPYTHONDIR": str(tmp_path / "ipython")}


@pytest.mark.slow
def test_a_notebook_of_one_s_own_is_left_as_it_is(tmp_path, settings):
    mine = [cell("double", STUB, {"tags": ["mine"]}), cell("direct", "double(1)", {"tags": ["mine"]})]
    nbformat.write(new_notebook(cells=mine), tmp_path / "mine.ipynb")
    with Person(tmp_path / "mine.ipynb", tmp_path, **settings) as person:
        *_, stopped = person.run(mine)
    assert stopped.status == "error" and "Traceback" in words(stopped)


@pytest.mark.slow
def test_after_a_restart_a_cell_says_to_run_those_above(path, tmp_path, settings):
    with Person(path, tmp_path, **settings) as person:
        for name, missing in {"check-double": "check", "by-name": "shown"}.items():
            (one,) = person.run(cells(name))
            advice = f"`{missing}` is not defined yet: run the cells above first (Run → Run All Above Selected Cell)."
            assert [output.get("traceback") for output in one.outputs] == [[advice]]
        person.run(cells("imports"))
        (one,) = person.run(cells("check-double"))
        assert "`double` is not defined yet: run the cells above first" in words(one)
        assert len(one.outputs) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("def double(x:\n    return x * 3", "SyntaxError"),
        (WRONG.replace("double", "triple"), "defined `triple` and not"),
    ],
)
def test_a_check_does_not_judge_what_an_edit_left_behind(person, edit, why):
    person.run([cell("clean", "%reset -f"), cell("imports"), cell("double", RIGHT)])
    (edited,) = person.run([cell("double", edit)])
    (asked,) = person.run([cell("check-double")])
    assert edited.id == "double" and why in words(asked) and "✓" not in words(asked)
    mended = person.run([cell("double", RIGHT), cell("check-double")])
    assert words(mended[-1]).startswith("✓")
