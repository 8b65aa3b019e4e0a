"""Answers that students would write: wrong ones lose and are told why, right ones pass, whatever the inputs."""

from functools import cache

import pytest

from autograder.authoring.builder import PUBLIC_SEED
from autograder.checks.comparing import passes
from autograder.checks.judging import judge
from autograder.grading import reference
from tests.conftest import ASSIGNMENTS
from tests.natural import reading

SEEDS = [PUBLIC_SEED, *(2**90 + 7919 * number for number in range(3))]
LISTS = {name: reading.list_of(assignment) for name, assignment in ASSIGNMENTS.items()}
JUDGED = {name: reading.with_unseen(assignment) for name, assignment in ASSIGNMENTS.items()}
WRONG, RIGHT = (
    [(name, exercise, what) for name, both in JUDGED.items() for exercise, several in both[side].items() for what in several]
    for side in (0, 1)
)  # fmt: skip
FEWEST = 5  # wrong ones, of each exercise
SHARE = 0.85
"""Of all messages that wrong answers get, at least so many name the mistake or say something true and useful."""


@pytest.fixture(scope="session")
def given(open_server):
    """Per assignment: the exercises' rules, and the answers of the solution and of the lists on several seeds, in one job."""

    @cache
    def record(name):
        assignment = ASSIGNMENTS[name]
        drawn = {e.name: [e.draw(seed) for seed in SEEDS] for e in assignment.exercises.values()}
        cases = {exercise: [case for one in several for case in one] for exercise, several in drawn.items()}
        variants = {exercise: {} for exercise in assignment.exercises}
        for side, lists in zip(("wrong", "right"), JUDGED[name], strict=True):
            for exercise, several in lists.items():
                variants[exercise] |= {f"{side}: {what}": source for what, source in several.items()}
        answers = reference.record(open_server, assignment, cases, variants)

        def of(exercise, variant):
            """One list of answers for each seed."""
            found, start = [], 0
            for one in drawn[exercise]:
                found.append([answers.get((variant, exercise, start + at)) for at in range(len(one))])
                start += len(one)
            return found

        return of

    return record


@pytest.mark.parametrize("name", list(ASSIGNMENTS))
def test_every_exercise_has_natural_answers(name):
    wrong, right = LISTS[name]
    exercises = set(ASSIGNMENTS[name].exercises)
    assert set(wrong) == exercises and set(right) == exercises
    assert {exercise for exercise, several in wrong.items() if len(several) < FEWEST} == set()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "exercise", "what"), WRONG)
def test_a_wrong_answer_loses_on_every_seed(given, name, exercise, what):
    one = ASSIGNMENTS[name].exercises[exercise]
    for wrong, right in zip(given(name)(exercise, f"wrong: {what}"), given(name)(exercise, ""), strict=True):
        assert not passes(wrong, right, one.rule)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "exercise", "what"), RIGHT)
def test_a_right_answer_passes_on_every_seed(given, name, exercise, what):
    """In the notebook and when it is graded."""
    one = ASSIGNMENTS[name].exercises[exercise]
    for answer, right in zip(given(name)(exercise, f"right: {what}"), given(name)(exercise, ""), strict=True):
        assert judge(answer, right, one.rule).reason == ""
        assert judge(answer, right, one.rule, unseen=one.unseen).reason == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ASSIGNMENTS))
def test_every_message_was_read_by_a_person_and_none_misleads(open_server, name):
    """On the public inputs."""
    messages = reading.messages(open_server, ASSIGNMENTS[name], LISTS[name][0])
    read = reading.read_so_far()
    said = {(one.exercise, one.what): reading.class_of(one, read) for one in messages}
    unread = [which for which, what in said.items() if not what]
    assert not unread, f"{len(unread)} to read: python -m tests.natural --unread"
    assert [one for one, what in said.items() if what == "misleading"] == []


def test_most_messages_help():
    """Each is one that was read: the test above says so."""
    read = reading.read_so_far()
    said = [
        read[exercise][what]["class"]
        for wrong, _ in LISTS.values()
        for exercise, several in wrong.items()
        for what in several
    ]
    good = sum(one in reading.GOOD for one in said)
    assert good >= SHARE * len(said), f"{good} of {len(said)}"


def test_a_message_counts_as_vague_only_if_it_says_nothing_of_the_cause():
    how_many = "Right on 1 of 4 inputs. Part 1: 3 of 12 of your numbers differ from the expected ones."
    assert reading._kind("failed", "", how_many) == "vague"
    assert (
        reading._kind("failed", "", f"{how_many}\nPart 2: Your number is −1.5, expected is 2.\n") == "vague"
    )
    assert reading._kind("failed", "", f"{how_many} They stand exactly on the diagonal.") == "specific"
    assert reading._kind("failed", "transposed", "Transposed.") == "named"
    assert reading._kind("error", "", "Your code stopped with an error.\nValueError") == "error"


def test_what_was_read_holds_for_the_same_words_alone():
    one = reading.Message("demo.double", "tripled", "vague", "3 of 12 of your numbers differ, by 1.5e-3.")
    read = {}
    reading.merge(read, {"demo.double": {"tripled": "vague"}}, [one])
    other_numbers = reading.Message(
        "demo.double", "tripled", "vague", "4 of 11 of your numbers differ, by −2.25."
    )
    other_words = reading.Message("demo.double", "tripled", "vague", "3 of 12 numbers differ.")
    assert reading.class_of(one, read) == reading.class_of(other_numbers, read) == "vague"
    assert reading.class_of(other_words, read) == ""
    with pytest.raises(ValueError, match="none of named, useful"):
        reading.merge(read, {"demo.double": {"tripled": "good"}}, [one])
    with pytest.raises(ValueError, match="no wrong answer 'doubled'"):
        reading.merge(read, {"demo.double": {"doubled": "vague"}}, [one])
