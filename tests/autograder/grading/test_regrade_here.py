"""After a correction: who is shown as changing, and that nothing else changes."""

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.grading.old_points import scores_with_old_points
from autograder.grading.regrade import regrade
from autograder.grading.run import Options, find_submissions
from tests.autograder.here import NAME

ONE_MORE = "def total(values):\n    return values.sum() + 1"
OWN_SHARES = "def shares(values):\n    return values / values.sum()"


@pytest.fixture
def corrected(small):
    """Ada was right and bob was wrong; the solution now says the opposite. Cem is wrong before and after."""
    small.hand_in("ada", shares=OWN_SHARES, question="Nothing.")
    small.hand_in("bob", total=ONE_MORE, shares=OWN_SHARES)
    small.hand_in("cem", total="def total(values):\n    return 0", shares=OWN_SHARES)
    small.grade_class()
    small.finish("ada", points=2)
    small.correct("return values.sum()\n", "return values.sum() + 1\n")
    small.correct("return values / total(values)", "return values / (total(values) - 1)")
    exercises = small.assignment.exercises_file
    exercises.write_text(exercises.read_text().replace('" / total(values)"', '" / (total(values) - 1)"'))
    return small


def run(course, agree):
    """What was done, and the changes that were shown. `agree` is the answer, or a function that gives it."""
    shown = []

    def asked(changes):
        shown.extend(changes)
        return agree() if callable(agree) else agree

    folders = find_submissions(course.assignment, course.assignment.submitted, [])
    done = regrade(course.assignment, folders, Options("none"), lambda result: None, asked)
    return done, [(change.student, change.what, change.before, change.after) for change in shown]


CHANGES = [
    ("ada", "steps.total", 2.0, 0.0),
    ("ada", "total", 11.0, 9.0),
    ("bob", "steps.total", 0.0, 2.0),
    ("bob", "total", 7.0, 9.0),
]


def test_those_whose_scores_change_are_shown_with_before_and_after(corrected):
    done, shown = run(corrected, agree=False)
    assert shown == CHANGES and not done.done
    assert corrected.scores() == {"ada": 11, "bob": 7, "cem": 7}


def test_after_agreement_exactly_that_is_changed(corrected):
    done, _ = run(corrected, agree=True)
    assert done.done and not done.left
    assert corrected.scores() == {"ada": 9, "bob": 9, "cem": 7}
    with corrected.gradebook() as gradebook:
        grade = gradebook.find_grade("steps-question", NAME, NAME, "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (2, False)


def test_the_reason_says_what_it_was_and_what_it_is(corrected):
    done, _ = run(corrected, agree=False)
    why = {change.student: change.why for change in done.changes if change.what == "steps.total"}
    assert why["bob"].startswith("was: Your number is") or "was: " in why["bob"]
    assert why["bob"].endswith("now: right") and why["ada"].startswith("was: right")


def test_the_reason_asks_no_instructor_to_write_code(small):
    small.hand_in("ada")
    small.grade_class()
    small.hand_in("ada", total="def total(values):\n    raise NotImplementedError")
    done, _ = run(small, agree=False)
    (why,) = (change.why for change in done.changes if change.what == "steps.total")
    assert why == "handed in anew; was: right; now: not answered"


def test_a_release_older_than_its_source_changes_nothing(corrected):
    corrected.correct(
        '"grade_id": "steps-total-check", "locked": true, "points": 2',
        '"grade_id": "steps-total-check", "locked": true, "points": 5',
    )
    with pytest.raises(CourseError, match="is older than its source"):
        run(corrected, agree=True)
    assert corrected.scores() == {"ada": 11, "bob": 7, "cem": 7}


def test_an_answer_that_was_changed_after_a_person_read_it_is_shown_although_no_score_changes(small):
    small.hand_in("ada", question="Nothing.")
    small.grade_class()
    small.finish("ada", points=2)
    small.hand_in("ada", question="They double.")
    done, shown = run(small, agree=False)
    assert [(what, before, after) for _, what, before, after in shown] == [
        ("steps-question", 2.0, 2.0),
        ("total", 11.0, 11.0),
    ]
    assert "the score given by hand is kept and marked for review" in done.changes[0].why


def test_nothing_that_changes_is_no_question(small):
    small.hand_in("ada")
    small.grade_class()
    done, _ = run(small, agree=lambda: pytest.fail("nobody is to be asked"))
    assert not done.changes and not done.done


def test_who_hands_in_between_the_look_and_the_yes_is_left_as_before(corrected):
    done, _ = run(
        corrected, agree=lambda: corrected.hand_in("bob", largest="def largest(values):\n    return 0")
    )
    assert done.left == ["bob"] and corrected.scores() == {"ada": 9, "bob": 7, "cem": 7}


def test_who_was_never_graded_is_shown_with_the_new_total(small):
    small.hand_in("ada")
    small.grade_class()
    small.hand_in("bob")
    done, shown = run(small, agree=False)
    assert shown == [("bob", "total", None, 9.0)] and done.changes[0].why == "not graded before"


def test_nobody_graded_is_a_sentence(small):
    small.hand_in("ada")
    with small.gradebook() as gradebook:
        gradebook.remove_assignment(NAME)
    with pytest.raises(CourseError, match="Nobody's 01_steps has been graded: use `autograder grade"):
        run(small, agree=True)


def test_scores_that_count_other_points_than_now_are_named(small):
    small.hand_in("ada")
    small.hand_in("bob", total="def total(values):\n    return 0")
    small.grade_class()
    assert scores_with_old_points(small.assignment) is None, "nor is extra credit a change of points"
    release = small.assignment.read_release()
    for cell in release.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "steps-total-check":
            cell.metadata.nbgrader.points = 5
    nbformat.write(release, small.assignment.release)
    found = scores_with_old_points(small.assignment)
    assert found.points == {"steps-total-check": (2, 5)} and found.students == ("ada",)
    assert "the score of 1 student still uses the old ones: ada." in str(found)
