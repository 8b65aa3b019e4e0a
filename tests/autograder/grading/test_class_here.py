"""A class is graded into a real gradebook, interrupted, and graded on."""

from datetime import datetime

import pytest
from nbgrader.api import MissingEntry

from autograder.checks.status import Ending
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.gradebook import history
from autograder.grading import run
from autograder.grading.run import NotAllGraded, Options, find_submissions, grade_class
from autograder.untrusted.submission import NotRead, read_submission
from tests.autograder.here import NAME, cut_off

OTHERWISE = "def largest(values):\n    return max(shares(values))"


class Ours(Exception):
    """A fault of ours, or a kill."""


def breaks(outcome):
    raise Ours


def grade_of(small, student, cell):
    with small.gradebook() as gradebook:
        grade = gradebook.find_grade(cell, NAME, NAME, student)
        return grade.auto_score, grade.extra_credit, grade.needs_manual_grade


def test_scores_stand_in_the_gradebook_and_reasons_beside_it(small):
    small.hand_in("ada", question="Nothing happens.")
    small.hand_in("bob", total="def total(values):\n    return values.mean()")
    results = small.grade_class()
    assert [result.student for result in results] == ["ada", "bob"]
    assert small.scores() == {"ada": 9, "bob": 7}
    assert grade_of(small, "ada", "steps-question") == (None, 0, True)
    assert grade_of(small, "bob", "steps-question") == (0, 0, False)
    assert grade_of(small, "ada", "steps-largest-check") == (1, 2, False)
    kept = history.read_history(small.assignment, "bob")
    assert kept.by_cell()["steps-total-check"].mistake == "the mean instead of the sum"
    page = (small.assignment.autograded("bob") / f"{NAME}.ipynb").read_text()
    assert "The mean instead of the sum." in page and "0 of 2 points" in page


def test_an_error_of_ours_stops_the_run_and_writes_nothing_of_whom_it_met(small):
    small.hand_in("ada")
    small.hand_in("bob", largest=OTHERWISE)
    with pytest.raises(Ours):
        small.grade_class(None, breaks)
    with small.gradebook() as gradebook, pytest.raises(MissingEntry):
        gradebook.find_submission(NAME, "bob")
    assert not small.assignment.autograded("bob").exists()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(small):
    for place, student in enumerate(("ada", "bob", "cem", "dua", "eva", "fay")):
        small.hand_in(student, largest=f"{OTHERWISE}  # {place}")
    with pytest.raises(Ours):
        small.grade_class(None, None, None, None, None, breaks)
    before = len(small.pool.sent)
    results = small.grade_class()
    stored = 6 - (len(small.pool.sent) - before)
    assert 0 < stored < 6
    assert small.scores() == {result.student: 9 for result in results} and len(results) == 6


def test_whoever_is_graded_twice_has_one_row_and_the_last_score(small):
    small.hand_in("ada", largest="def largest(values):\n    return 0")
    small.grade_class()
    small.hand_in("ada")
    small.grade_class()
    assert small.scores() == {"ada": 9}
    kept = history.read_history(small.assignment, "ada")
    assert (
        len(kept.hand_ins) == 2 and kept.attempts("steps-largest") == 2 and kept.attempts("steps-total") == 1
    )


RULE = """
from nbgrader.plugins import LateSubmissionPlugin

class AnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2 if total_seconds_late > 3600 else None

c.AssignLatePenalties.plugin_class = AnHour
"""


def due(small, when, rule=RULE):
    settings = small.root / "nbgrader_config.py"
    settings.write_text(settings.read_text() + rule)
    with small.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=when)


def test_who_is_late_pays_what_the_course_s_rule_says(small):
    due(small, "2026-10-01 11:30:00 UTC")
    for student, when in (("ada", "12:00"), ("bob", "12:31"), ("cem", "11:00")):
        folder = small.hand_in(student)
        (folder / "timestamp.txt").write_text(f"2026-10-01 {when}:00 UTC")
    small.grade_class()
    with small.gradebook() as gradebook:
        penalties = {s.student.id: s.late_submission_penalty for s in gradebook.assignment_submissions(NAME)}
    assert penalties == {"ada": 0, "bob": 4.5, "cem": 0}


def test_nbgrader_s_own_rule_takes_everything_from_who_is_late(small):
    due(small, "2026-10-01 11:30:00 UTC", '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    (small.hand_in("ada") / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")
    small.grade_class()
    with small.gradebook() as gradebook:
        submission = gradebook.find_submission(NAME, "ada")
        assert submission.late_submission_penalty == submission.score > 0


@pytest.mark.slow
def test_nobody_pays_for_a_time_that_cannot_be_read_and_it_is_named(small):
    due(small, "2026-10-05 22:00:00 UTC")
    times = {
        "ada": b"2026-10-05 23:58:00 +0200",
        "bob": b"2026-10-05 23:58:00 CEST",
        "cem": "5. Oktober 2026, 23:58".encode("utf-16"),
        "dua": b"2026-10-06 01:58:00 +0200",
    }
    for student in times:
        (small.hand_in(student) / "timestamp.txt").write_bytes(b"2026-10-07 00:00:00 UTC")
    small.grade_class()
    for student, text in times.items():
        (small.hand_in(student) / "timestamp.txt").write_bytes(text)
    with pytest.raises(NotAllGraded) as caught:
        small.grade_class()
    assert [one.student for one in caught.value.left] == ["cem"] and len(caught.value.results) == 4
    assert 'timestamp.txt cannot be read: "5. Oktober 2026, 23:58" names no time zone' in str(caught.value)
    with small.gradebook() as gradebook:
        found = {
            s.student.id: (s.timestamp, s.late_submission_penalty)
            for s in gradebook.assignment_submissions(NAME)
        }
    handed_in, penalties = ({student: pair[place] for student, pair in found.items()} for place in (0, 1))
    assert handed_in["ada"] == handed_in["bob"] == datetime(2026, 10, 5, 21, 58)
    assert handed_in["cem"] is None, "not even that of a hand-in before"
    assert penalties == {"ada": 0, "bob": 0, "cem": 0, "dua": 4.5}


def test_who_hands_in_another_assignment_s_notebook_is_told_and_named(small):
    other = Assignment(small.root, "02_tests").read_release()
    small.hand_in("ada", other)
    small.hand_in("bob")
    with pytest.raises(NotAllGraded) as caught:
        small.grade_class()
    said = f"This is the notebook 02_tests, not {NAME}."
    (left,) = caught.value.left
    assert left.student == "ada" and left.reason.startswith(said) and len(caught.value.results) == 2
    kept = history.read_history(small.assignment, "ada")
    assert kept.notes[0] == said and not any("found again" in note for note in kept.notes)
    assert history.read_history(small.assignment, "bob").notes == ()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NotRead("the disk is away"), "the disk is away"),
        (StopIteration(), "a fault in the autograder: StopIteration"),
    ],
)
def test_whose_file_cannot_be_read_is_named_and_the_others_are_graded(small, monkeypatch, error, words):
    small.hand_in("ada")
    small.hand_in("bob")

    def read(folder, student, *more):
        if student == "ada":
            raise error
        return read_submission(folder, student, *more)

    monkeypatch.setattr(run, "read_submission", read)
    with pytest.raises(NotAllGraded, match=f"ada: .*{words}") as caught:
        small.grade_class()
    assert [result.student for result in caught.value.results] == ["bob"] and small.scores() == {"bob": 9}


def test_only_those_who_are_wanted_are_graded_and_strangers_are_named(small):
    small.hand_in("ada")
    small.hand_in("bob")
    folders = find_submissions(small.assignment, small.assignment.submitted, ["bob"])
    results = grade_class(small.assignment, folders, Options("none"), lambda result: None)
    assert [result.student for result in results] == ["bob"]
    with pytest.raises(CourseError, match="contains no 01_steps from cem"):
        find_submissions(small.assignment, small.assignment.submitted, ["bob", "cem"])


def test_trouble_is_recorded_as_such(small):
    small.hand_in("ada")
    small.grade_class(cut_off(Ending.MEMORY))
    kept = history.read_history(small.assignment, "ada")
    assert kept.ending == Ending.MEMORY and small.scores() == {"ada": 0}
