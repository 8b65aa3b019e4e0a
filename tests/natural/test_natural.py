"""Answers that students would write: wrong ones lose and are told what their file says, right ones pass."""

from collections import Counter

import pytest

from autograder.authoring.builder import PUBLIC_SEED
from autograder.authoring.natural import cells, read_natural
from autograder.authoring.rates import seeds_from
from autograder.checks.comparing import passes
from autograder.checks.judging import Verdict
from autograder.checks.status import Status
from autograder.errors import CourseError
from tests.conftest import ASSIGNMENTS
from tests.natural import reading

SEEDS = [seed for seed in seeds_from(0, 20) if seed != PUBLIC_SEED]
FEWEST = 5  # wrong ones, of each exercise
VAGUE = 0.04
"""At most this share of the messages that wrong answers get says no more than how much is wrong; the others name the mistake or
say something true and useful."""
VAGUE_IN_ONE = 0.08
"""The same for one notebook, of which there are about a hundred messages: no notebook shall hide behind the others."""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ASSIGNMENTS))
def test_answers_are_judged_and_told_what_their_file_says(open_server, name):
    """On the inputs that students have; the right ones pass when they are graded, too."""
    assignment = ASSIGNMENTS[name]
    wrong = []
    for answer, verdict, graded in reading.verdicts(open_server, assignment, reading.answers_to(assignment)):
        feedback = reading.feedback_on(answer, verdict)
        if answer.right and not (verdict.passed and graded.passed):
            wrong.append(f"A right answer does not pass.\n{feedback}")
        elif not answer.right and verdict.passed:
            wrong.append(f"A wrong answer passes.\n{feedback}")
        elif not answer.right and not feedback.as_recorded:
            wrong.append(reading.difference(feedback))
    assert not wrong, f"{len(wrong)} answers; see `python -m tests.natural --help`\n\n" + "\n\n".join(wrong)


@pytest.mark.audit
@pytest.mark.parametrize("name", list(ASSIGNMENTS))
def test_no_verdict_depends_on_the_inputs(open_server, name):
    assignment = ASSIGNMENTS[name]
    answers = reading.answers_to(assignment)
    wrong = [
        f"{answer.exercise}, {answer.what!r}, on the inputs of seed {seed}"
        for seed in SEEDS
        for answer, one, got, expected in reading.tried(open_server, assignment, answers, seed)
        if passes(got, expected, one.rule, one.unseen if answer.right else ()) != answer.right
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_every_exercise_has_natural_answers_and_most_messages_help():
    """A person has read every message that is not a known mistake's hint, and none misleads."""
    ratings = {}
    for name, assignment in ASSIGNMENTS.items():
        answers = [one for one in reading.answers_to(assignment) if not one.entry.get("unseen")]
        wrong = cells(one for one in answers if not one.right)
        assert set(wrong) == set(cells(one for one in answers if one.right)) == set(assignment.exercises)
        assert {exercise for exercise, several in wrong.items() if len(several) < FEWEST} == set()
        ratings[name] = Counter(reading.rating(one) for one in answers if not one.right)
    everywhere = sum(ratings.values(), Counter())
    assert set(everywhere) <= {*reading.GOOD, "vague"}, everywhere
    assert everywhere["vague"] <= VAGUE * everywhere.total(), everywhere
    assert {name: one for name, one in ratings.items() if one["vague"] > VAGUE_IN_ONE * one.total()} == {}


SOLUTION = '''def double(x: int, *, by: int = 2) -> int:
    """Twice x."""
    return by * x
'''
FILE = """\
# A comment stays.

demo.double:
  wrong:
  - what: tripled
    body: return 3 * x
    named: tripled
  - what: tripled in steps
    edits:
      return 3 * x: |-
        if x:
            x = 3 * x
        return x
    message: |
      1 of 4 of your numbers differ.

      They are too large.
    rating: useful

  - what: halved
    of: the solution
    edits: {by * x: x / by}  # in place
  right:
  - what: added
    typed_body: return x + x
  - what: by name
    code: 'double = lambda x, *, by=2: by * x'
"""


@pytest.fixture
def file(tmp_path):
    def write(text=FILE):
        (tmp_path / "demo.yaml").write_text(text)
        return {
            one.what: one
            for one in read_natural(tmp_path / "demo.yaml", {"demo.double": SOLUTION, "demo.new": ""})
        }

    return write


def test_an_answer_is_a_body_or_a_cell_or_edits_of_another_one(file):
    assert {what: one.source for what, one in file().items()} == {
        "tripled": "def double(x, *, by=2):\n    return 3 * x",
        "tripled in steps": "def double(x, *, by=2):\n    if x:\n        x = 3 * x\n    return x",
        "halved": SOLUTION.replace("by * x", "x / by"),
        "added": "def double(x: int, *, by: int=2) -> int:\n    return x + x",
        "by name": "double = lambda x, *, by=2: by * x",
    }
    assert [what for what, one in file().items() if one.right] == ["added", "by name"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("what: halved", "what: tripled", "'tripled' occurs twice"),
        ("return 3 * x: |-", "return 4 * x: |-", "'return 4 . x' occurs 0 times"),
        ("of: the solution", "of: added up", "no written-out answer 'added up'"),
        ("tripled\n", "tripled: by 3\n", "cannot be read: mapping values are not allowed"),
        ("    body: return 3 * x\n", "", "'tripled': one of these keys is required: edits, body"),
    ],
)
def test_a_file_that_cannot_be_read_is_complained_about(file, old, new, complaint):
    with pytest.raises(CourseError, match=complaint):
        file(FILE.replace(old, new))


def test_what_is_told_is_compared_by_its_masked(file):
    steps = file()["tripled in steps"]
    for message, same in (
        ("3 of 9 of your numbers differ.\n\nThey are too large.", True),
        ("1 of 4 of your numbers differ.\n\nThey are too small.", False),
    ):
        assert reading.Feedback(steps, {"message": message}).as_recorded == same
    assert not reading.Feedback(steps, {"named": "tripled"}).as_recorded
    stopped = Verdict(Status.ERROR, "Your code stopped.\n  in f, line 3: return x[1]\nIndexError: too few")
    assert reading.outcome(stopped) == {
        "status": "error",
        "message": "Your code stopped.\nIndexError: too few\n",
    }


def test_an_update_changes_the_outcomes_alone(file):
    answers = file()
    now = {
        "tripled": {"status": "error", "message": "It stopped.\n"},
        "tripled in steps": {"message": "They are too small.\n"},
        "halved": {"named": "halved: by 2"},
    }
    text = reading.updated(FILE, [reading.Feedback(answers[what], outcome) for what, outcome in now.items()])
    expected = FILE
    for old, new in (
        (
            "    named: tripled\n",
            "    status: error\n    message: |\n      It stopped.\n    rating: unread\n",
        ),
        (
            "      1 of 4 of your numbers differ.\n\n      They are too large.\n",
            "      They are too small.\n",
        ),
        ("  # in place\n", "  # in place\n    named: 'halved: by 2'\n"),
    ):
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert text == expected
    assert all(
        reading.Feedback(one, now[what]).as_recorded for what, one in file(text).items() if what in now
    )
