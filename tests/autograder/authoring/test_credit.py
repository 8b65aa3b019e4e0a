"""A mistake may earn a share of the points: for its own answers to fresh inputs, and for nothing else."""

import json
from dataclasses import replace

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.authoring.rates import exercise_rates, seeds_from
from autograder.checks import answer_key
from autograder.errors import CourseError
from autograder.exercise import Mistake
from autograder.grading.old_points import scores_with_old_points
from autograder.report import write_report
from autograder.source import grade_id
from tests.autograder.authoring.conftest import SOLUTION, run

NAME = "13_lucky"
CREDIT = """
largest = exercise((
    Mistake("the smallest", "Yours is the smallest.", "max", "min", credit=0.25),
    Mistake("of each column", "Yours are of the columns.", "-1", "0"),
))
"""
EXTRA = SOLUTION.replace('"points": 1,', '"points": 2,').replace(
    '"task": false}\ncheck(', '"task": false} course={"extra_credit": 1}\ncheck('
)
SMALLEST = "def largest(x):\n    return x.min(dim=-1).values"
REMEMBERED = """
KEPT = {answers}
def largest(x):
    return torch.tensor(KEPT[len(x)])
"""
HANDED_IN = {
    "ada": SMALLEST,
    "bob": "def largest(x):\n    return x.max(dim=-1).values",
    "cid": "def largest(x):\n    return (x if len(x) > 2 else -x).max(dim=-1).values",  # wrong on one input
    "dan": "def largest(x):\n    return (x if len(x) == 2 else -x).max(dim=-1).values * 0.5",
    "eva": REMEMBERED,
    "fay": "def largest(x):\n    return None",
}


@pytest.fixture
def built(course):
    """The assignment, with a mistake that earns a quarter of two points and of one extra point."""
    one = course(CREDIT)
    one.source.write_text(EXTRA)
    run("build", NAME, "--seeds", "20")
    return one


def hand_in(one, student, source):
    notebook = one.read_release()
    for cell in notebook.cells:
        if grade_id(cell) == "lucky-largest":
            cell.source = source
    folder = one.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{NAME}.ipynb")


@pytest.mark.slow
def test_a_share_of_the_points_is_earned_on_fresh_inputs_only(built):
    (key,) = answer_key.load(built.key).values()
    public = {
        len(case["x"]): answer.arrays[""].tolist()
        for case, answer in zip(key.cases, key.mistakes[0].answers, strict=True)
    }
    for student, source in HANDED_IN.items():
        hand_in(built, student, source.replace("{answers}", repr(public)))
    run("grade", NAME, "--isolation", "none", "--workers", "1", "--json", "grades.json")
    graded = {
        entry["student"]: entry
        for entry in json.loads((built.root / "grades.json").read_text())["submissions"]
    }
    cells = {student: entry["cells"][0] for student, entry in graded.items()}
    assert {student: entry["score"] for student, entry in graded.items()} == {
        "ada": 0.75, "bob": 3.0, "cid": 0.0, "dan": 0.0, "eva": 0.0, "fay": 0.0,
    }  # fmt: skip
    assert (cells["ada"]["score"], cells["ada"]["extra_credit"], cells["ada"]["credit"]) == (0.5, 0.25, 0.25)
    assert (cells["ada"]["status"], cells["ada"]["mistake"]) == ("failed", "the smallest")
    assert cells["ada"]["reason"] == "The smallest. This earns 25% of the points."
    assert all("credit" not in cells[student] for student in ("bob", "cid", "dan", "eva", "fay"))
    with Gradebook(f"sqlite:///{built.root / 'gradebook.db'}") as gradebook:
        scores = {one["student"]: one["score"] for one in gradebook.submission_dicts(NAME)}
    assert scores == {student: entry["score"] for student, entry in graded.items()}
    assert scores_with_old_points(built) is None
    write_report(built, built.root / "report.html")
    assert "An answer with this mistake earns 25 % of the points." in (built.root / "report.html").read_text()


@pytest.mark.slow
def test_a_check_says_what_a_mistake_earns_and_fails(built, monkeypatch):
    from coursekit import CheckFailed, check

    monkeypatch.chdir(built.key.parent)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CheckFailed, match="The smallest. This earns 25% of the points."):
        check("lucky.largest", lambda case: case["x"].min(dim=-1).values)


@pytest.mark.slow
def test_a_key_holds_a_share_only_where_there_is_one(built):
    (key,) = answer_key.load(built.key).values()
    assert [mistake.credit for mistake in key.mistakes] == [0.25, 0.0]
    without = replace(key, mistakes=tuple(replace(mistake, credit=0.0) for mistake in key.mistakes))
    assert b"0.25]" in answer_key.to_bytes([key]) and b"0.25]" not in answer_key.to_bytes([without])
    built.exercises_file.write_text(built.exercises_file.read_text().replace("credit=0.25", "credit=0.5"))
    assert "mistakes of lucky.largest have changed" in " ".join(run("build", NAME, "--check").output.split())


@pytest.mark.slow
def test_rates_say_whether_luck_decides_on_a_share(course):
    cut = 'Mistake("cut off", "Yours is cut off.", ".values", ".values.clamp(max=2.0)", credit=0.5)'
    one = course(f"largest = exercise((SMALLEST, {cut}))")
    credit = {
        rate.variant: rate
        for rate in exercise_rates(one, "lucky.largest", seeds_from(0, 60))
        if rate.kind == "credit"
    }
    assert credit["the smallest"].holds and credit["zeros"].holds
    also = 'Mistake("at most two", "Yours is at most 2.", ".values", ".values.clamp(max=2.5)")'
    both = course(f"largest = exercise(({cut}, {also}))")
    rates = exercise_rates(both, "lucky.largest", seeds_from(0, 60))
    lucky = next(rate for rate in rates if (rate.kind, rate.variant) == ("credit", "cut off"))
    assert not lucky.holds and "earns its own share of the points on" in str(lucky)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (
            'Mistake("nothing", "A hint.", "x.max(dim=-1).values", "None", credit=0.5)',
            "any answer that fails in this way would earn the partial credit",
        ),
        ('Mistake("too much", "A hint.", "max", "min", credit=1)', "at least 0 and below 1"),
        ('Mistake("less", "A hint.", "max", "min", credit=-0.5)', "at least 0 and below 1"),
    ],
)
def test_build_refuses_a_share_that_cannot_be(course, mistake, sentence):
    course(f"largest = exercise(({mistake},))")
    with pytest.raises(CourseError, match=sentence):
        run("build", NAME, "--seeds", "2")


def test_a_mistake_earns_nothing_unless_it_says_so():
    assert Mistake("the smallest", "A hint.", "max", "min").credit == 0
