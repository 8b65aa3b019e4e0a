"""The fifth rung: what builds on a function that was borrowed runs, and the function itself earns nothing."""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_notebook

from autograder.checks import hinting, journal, lending, lent_file
from autograder.checks.exceptions import WrongCall
from autograder.checks.lent_file import LentFile, WrongKey, key_text, seal
from tests.autograder.checks.as_a_person import Person, validated, words
from tests.autograder.checks.test_skipping import NEED_IT, RIGHT, STUB, WRONG, cell, cells, errors, path  # noqa: F401

KEY = bytes(range(32))
FUNCTIONS = {"demo.double": RIGHT, "demo.half": "def half(x):\n    return x / 2"}
BORROW = 'from autograder.checks import borrow, hint, progress\nborrow("double")'


@pytest.fixture
def course(path, tmp_path):  # noqa: F811
    """The small notebook of the tests of skipping in a folder of its own, which lends nothing yet."""
    folder = tmp_path / "course" / "00_demo"
    folder.mkdir(parents=True)
    shutil.copy(path.with_suffix(".key"), folder)
    nbformat.write(new_notebook(cells=cells()), folder / "00_demo.ipynb")
    return folder / "00_demo.ipynb"


def lend(course, functions=FUNCTIONS, publish=True, **options):
    file = seal("00_demo", functions, KEY, publish=publish, **options)
    course.with_suffix(".lent").write_bytes(file.to_bytes())


@pytest.fixture
def here(course, monkeypatch):
    monkeypatch.chdir(course.parent)
    return course


def test_the_file_opens_with_its_key_alone():
    file = seal("00_demo", FUNCTIONS, KEY)
    assert file.functions(key_text(KEY)) == FUNCTIONS
    for other in (key_text(bytes(32)), key_text(KEY)[:-2], "", "no key at all!", "é" * 43):
        with pytest.raises(WrongKey):
            file.functions(other)
    changed = ("A" if file.sealed[9] != "A" else "B").join([file.sealed[:9], file.sealed[10:]])
    for damaged in (LentFile("00_demo", changed), LentFile("another", file.sealed)):
        with pytest.raises(WrongKey):
            damaged.functions(key_text(KEY))


def test_nothing_can_be_read_before_the_key_is_published():
    sealed = seal("00_demo", FUNCTIONS, KEY).to_bytes()
    assert sealed == seal("00_demo", FUNCTIONS, KEY).to_bytes(), "the same bytes each time"
    for readable in (b"double", b"return", key_text(KEY).encode()):
        assert readable not in sealed
    assert key_text(KEY).encode() in seal("00_demo", FUNCTIONS, KEY, publish=True).to_bytes()


@pytest.mark.slow
def test_run_all_then_borrow_then_run_all(course, tmp_path):
    lend(course)
    with Person(course, tmp_path / "home") as person:
        before = {one.id: words(one) for one in person.run(cells())}
        assert all("skipped" in before[name] for name in NEED_IT)
        borrowed, *_ = person.run([cell("anywhere", BORROW)])
        assert words(borrowed).startswith("○ demo.double: lent, earns no points")
        shown = {one.id: one for one in person.run(cells())}
    _runs_all_but_the_check(shown)
    with Person(course, tmp_path / "home") as person:  # the next morning
        _runs_all_but_the_check({one.id: one for one in person.run(cells())})
        (seen,) = person.run([cell("progress", "from autograder.checks import progress; progress()")])
    assert "○ demo.double: lent, earns no points" in words(seen)
    assert "✓ demo.half: passes" in words(seen)


def _runs_all_but_the_check(shown):
    # The fourth is wrong by itself: what it needs was not there before.
    assert [name for name, one in shown.items() if one.status != "ok" or errors(one)] == ["check-fourth"]
    assert words(shown["by-name"]) == "[2. 2.]\n"
    assert words(shown["check-double"]).startswith("○ demo.double: lent, earns no points")
    for name in ("check-half", "check-quarter"):
        assert words(shown[name]).startswith("✓"), name
    assert not [name for name, one in shown.items() if "skipped" in words(one)]


@pytest.mark.slow
def test_what_calls_a_function_that_is_not_right_says_so(course, tmp_path):
    """It would stop there, or be wrong with it: that it works is said when it does."""
    of_two = {"demo.double": RIGHT, "demo.half": "def half(x):\n    return double(x) / 4"}
    lend(course, of_two)
    half = cell("anywhere", BORROW.replace("double", "half"))
    missing = (
        "The function calls double, so it works only once the check of double has passed. "
        'You can borrow that function, too: borrow("demo.double").'
    )
    with Person(course, tmp_path / "home") as person:
        *_, lent = person.run([*cells("imports", "double"), half])
        assert missing in words(lent) and "The function works from now on." not in words(lent)
        *_, lent = person.run([cell("double", WRONG), *cells("check-double"), half])
        assert missing in words(lent)
        *_, lent = person.run([*cells("double"), cell("anywhere", BORROW), half])
        assert "The function works from now on." in words(lent)
        *_, check, lent = person.run([cell("double", RIGHT), *cells("check-double"), half])
        assert words(check).startswith("✓") and "The function works from now on." in words(lent)


@pytest.mark.slow
def test_one_s_own_answer_takes_the_place_of_what_was_lent(course, tmp_path):
    lend(course)
    with Person(course, tmp_path / "home") as person:
        person.run([*cells("imports", "double"), cell("anywhere", BORROW)])
        _, wrong = person.run([cell("double", WRONG), *cells("check-double")])
        assert "not yet right" in words(wrong)
        _, lent = person.run(cells("double", "check-double"))
        assert words(lent).startswith("○")
        _, right = person.run([cell("double", RIGHT), *cells("check-double")])
        assert words(right).startswith("✓ demo.double")
        (again,) = person.run([cell("anywhere", BORROW)])
        assert "your answer is right" in words(again)


@pytest.mark.slow
def test_what_an_answer_calls_may_stay_lent(course, tmp_path):
    """The lent cell defines two functions, and the student writes one of them."""
    functions = {"demo.double": "def twice(x):\n    return x * 2\n\ndef double(x):\n    return twice(x)"}
    lend(course, functions)
    with Person(course, tmp_path / "home") as person:
        person.run([*cells("imports", "double"), cell("anywhere", BORROW)])
        (lent,) = person.run(cells("check-double"))
        assert words(lent).startswith("○")
        own = STUB.replace("raise NotImplementedError", "return twice(x)")
        _, right = person.run([cell("double", own), *cells("check-double")])
        assert words(right).startswith("✓ demo.double")


@pytest.mark.slow
def test_validate_counts_it_and_lends_to_what_builds_on_it(course, monkeypatch, tmp_path):
    lend(course)
    monkeypatch.setenv("AUTOGRADER_HOME", str(tmp_path / "home"))
    with Person(course, tmp_path / "home") as person:
        person.run([*cells("imports", "double"), cell("anywhere", BORROW)])
    failed, by_itself = validated(course, monkeypatch)
    assert failed["source"] == "1 of 2: demo.double" and "Lent, earns no points" in failed["raw_error"]
    assert by_itself["source"] == "2 of 2: demo.fourth", "and not the quarter, which builds on what was lent"


@pytest.mark.parametrize("what", ["recording", "NBGRADER_EXECUTION"])
def test_nothing_is_lent_while_it_is_graded(here, monkeypatch, what):
    lend(here)
    if what == "recording":
        monkeypatch.setattr(lending.recording, "active", lambda: object())
    else:
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    names = {}
    monkeypatch.setattr(lending, "get_ipython", lambda: pytest.fail("it looked for a notebook"))
    journal.save("lent", "demo.double", "2026-11-22")
    lending.borrow("demo.double")
    monkeypatch.setattr(lending, "get_ipython", lambda: type("Shell", (), {"user_ns": names}))
    lending.renew("demo.double")
    assert names == {}


def test_a_published_key_is_kept_for_its_notebook(here, capsys):
    lend(here, publish=False, opens="2999-12-01T18:00+00:00")
    assert "once your instructor publishes the key on 1 December 2999" in lending.offer("demo.double")
    with pytest.raises(WrongCall, match="does not work"):
        lending._keep(key_text(bytes(32)))
    assert lending._source("demo.double") == ""
    lending._keep(f"  {key_text(KEY)}\n")
    assert lending._source("demo.double") == RIGHT
    assert lending.offer("demo.double").startswith('Still stuck? borrow("demo.double") lends')


def test_the_fourth_rung_tells_of_the_fifth(here, capsys):
    hinting.hint("demo.double", 4)
    assert 'no further hint. case("demo.double")' in capsys.readouterr().out
    with pytest.raises(WrongCall, match="hints 1 to 4"):
        hinting.hint("demo.double", 5)
    lend(here)
    hinting.hint("demo.double", 4)
    assert 'borrow("demo.double") lends you a working function' in capsys.readouterr().out
    with pytest.raises(WrongCall, match="run it in a notebook cell"):  # there is no notebook here
        hinting.hint("demo.double", 5)


def test_a_damaged_file_lends_nothing_and_stops_nothing(here):
    for text in ("", "[]", "{}", json.dumps({"notebook": "x", "sealed": 3, "key": "abc"})):
        here.with_suffix(".lent").write_text(text)
        assert lending._source("demo.double") == ""
        lending.offer("demo.double")
    assert lent_file.read(here.with_name("missing.lent")) is None


@pytest.mark.slow
def test_what_it_needs_must_have_been_run(course, tmp_path):
    functions = {"demo.double": "def double(x: np.ndarray):\n    return x * 2"}
    lend(course, functions)
    with Person(course, tmp_path / "home") as person:
        (told,) = person.run([cell("anywhere", BORROW)])
        assert "`np` is not defined yet: run the cells above first" in words(told)
        *_, lent = person.run([*cells("imports", "double"), cell("anywhere", BORROW)])
        assert words(lent).startswith("○ demo.double")


class Begun:
    def __init__(self):
        self.ready = True

    def forward(self, x):
        raise NotImplementedError


class Done:
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("value", "stub"),
    [(Begun, True), (Begun.forward, True), (Done, False), (Done.forward, False), (None, False)],
)
def test_a_class_is_a_stub_while_one_of_its_methods_is(value, stub):
    assert lending.is_stub(value) == stub
