"""`autograder try` says of one exercise what has to hold and whether it does."""

import json

import pytest

from autograder.errors import CourseError
from tests.autograder.authoring.conftest import LUCKY, SOLUTION, run

COMPLETE = """
largest = Exercise(
    cases,
    mistakes=(
        SMALLEST,
        Mistake("of each column", "Yours are of the columns.", "-1", "0"),
        Mistake("where it stands", "Yours are places.", ".values", ".indices"),
        Mistake("the mean", "Yours is the mean.", "x.max(dim=-1).values", "x.mean(-1)"),
        Mistake("the sum", "Yours is the sum.", "x.max(dim=-1).values", "x.sum(-1)"),
        Mistake("the first", "Yours stands first.", "x.max(dim=-1).values", "x[:, 0]"),
    ),
    alternatives={
        "sorted": "def largest(x):\\n    return x.sort(-1).values[:, -1]",
        "amax": "def largest(x):\\n    return x.amax(-1)",
    },
    hints=("a", "b", "c", "d"),
    survivors={},
)
"""
ONE_TIMES = SOLUTION.replace("x.max(dim=-1).values", "x.max(dim=-1).values * 1")


def said_by(*command):
    """Exit status and what was printed, line ends aside."""
    result = run(*command)
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.slow
def test_everything_holds_for_an_exercise_that_is_complete(course, tmp_path):
    one = course(COMPLETE)
    file = tmp_path / "trial.json"
    code, said = said_by("try", "lucky.largest", "--seeds", "40", "--json", str(file))
    assert (code, said.count("✗")) == (0, 0)
    (trial,) = json.loads(file.read_text())
    assert (trial["exercise"], trial["seeds"], trial["holds"]) == ("lucky.largest", 40, True)
    tried = {entry["what"]: entry["tried"] for entry in trial["requirements"]}
    assert (tried["mistakes distinguished"], tried["right answers always pass"]) == (6, 3)
    assert tried["mutants caught, or explained"] >= 3
    assert not one.key.exists() and not one.release.exists(), "it writes no product"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercises", "sentence"),
    [
        ("largest = exercise((SMALLEST,))", "1 mistakes: at least 6 are required."),
        ("largest = exercise((SMALLEST,))", "1 alternatives: at least 2 are required."),
        (COMPLETE.replace('("a", "b"', '("a", "a"'), "Two rungs have the same hint."),
        (COMPLETE.replace("Yours is the sum.", "Yours is the mean."), "Two mistakes have the same hint."),
        (COMPLETE.replace("SMALLEST,", f"{LUCKY},"), "mistake 'without zero': passes on"),
        (
            COMPLETE.replace('"x.sum(-1)"', '"x.mean(dim=-1)"'),
            "'the sum': its answers are those of 'the mean'",
        ),
        (COMPLETE.replace('"x.sum(-1)"', '"x.sum("'), "'the sum': its cell does not run. SyntaxError"),
        (COMPLETE.replace("x.amax(-1)", "x.amax(0)"), "alternative 'amax': passes on 0 of 40 seeds"),
    ],
)
def test_what_does_not_hold_is_said_in_a_sentence(course, exercises, sentence):
    course(exercises)
    code, said = said_by("try", "lucky.largest", "--seeds", "40")
    assert code == 1
    assert sentence in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("try", "lucky.largest", "--seeds", "3"), ("mutants", "--exercise", "lucky.largest")]
)
def test_a_change_that_nobody_notices_has_to_be_explained(course, command):
    one = course(COMPLETE)
    one.source.write_text(ONE_TIMES)
    code, said = said_by(*command)
    assert code == 1 and "x.max(dim=-1).values / 1" in said
    course(
        COMPLETE.replace("survivors={}", 'survivors={"values / 1": "A division by 1 is a product with 1."}')
    )
    assert run(*command).exit_code == 0


def test_what_cannot_be_tried_is_one_sentence(course):
    one = course(COMPLETE)
    with pytest.raises(CourseError, match="There is no exercise 'lucky.larges'. Available: lucky.largest."):
        run("try", "lucky.larges")
    with pytest.raises(CourseError, match="There is no exercise 'lucky.larges'"):
        run("mutants", "--exercise", "lucky.larges")
    one.source.write_text(SOLUTION.replace('check("lucky.largest"', 'check("lucky.smallest"'))
    with pytest.raises(CourseError, match="lucky-largest-check does not call check.'lucky.largest'"):
        run("try", "lucky.largest")
    one.source.write_text(SOLUTION.replace("import torch", "import torch\n\ntorch.no_such_name"))
    with pytest.raises(
        CourseError, match="the solution stops with an error in the cell\n(?s:.*)no_such_name"
    ):
        run("try", "lucky.largest")
