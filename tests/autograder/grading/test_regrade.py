"""After an exercise was corrected: first whose score would change, then the change, and nothing else."""

import json
from datetime import timedelta

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import CourseError
from autograder.generating import release_bytes
from autograder.grading.regrade import PENALTY, TOTAL, Change, regrade
from autograder.grading.run import Options, find_submissions
from tests.autograder.road import with_cell
from tests.autograder.small_class import CORRECTION, FIRST, FORMULA, NAME, SCRIPT, SECOND, WRITTEN, Class

pytestmark = pytest.mark.slow

CHECK = f"{SECOND}-check"
EXERCISE = "attention.scale"
LOSE = {"ada", "dua", "eva", "fay", "jon", "kit", SCRIPT, FORMULA}  # their answer is the old solution
GAINS = "nia"


def correct(kind: Class) -> None:
    source = kind.assignment.source
    assert source.read_text().count(CORRECTION[0]) == 1
    source.write_text(source.read_text().replace(*CORRECTION))


def run(kind: Class, *students: str, agree=lambda changes: True):
    folders = find_submissions(kind.assignment, kind.course / "submitted", students)
    return regrade(kind.assignment, folders, Options("none"), lambda result: None, agree)


def everything(kind: Class) -> dict[str, dict]:
    """All that nbgrader's gradebook holds of the assignment, by student."""
    with kind.gradebook() as gradebook:
        found = {}
        for submission in gradebook.assignment_submissions(NAME):
            (notebook,) = submission.notebooks
            found[submission.student.id] = {
                "when": (submission.timestamp, submission.extension),
                "penalty": notebook.late_submission_penalty,
                "score": notebook.score,
                "grades": {
                    g.name: (g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade)
                    for g in notebook.grades
                },
                "comments": {c.name: (c.auto_comment, c.manual_comment) for c in notebook.comments},
            }
        return found


def grade_by_hand(kind: Class) -> None:
    """What a person does in formgrader and on the command line."""
    with kind.gradebook() as gradebook:
        essay = gradebook.find_grade(WRITTEN, NAME, NAME, "ada")
        essay.manual_score, essay.needs_manual_grade, essay.extra_credit = 1.5, False, 0.25
        gradebook.find_comment(WRITTEN, NAME, NAME, "ada").manual_comment = "Well put."
        pardoned = gradebook.find_grade(CHECK, NAME, NAME, "eva")
        pardoned.manual_score, pardoned.needs_manual_grade = 1.0, False
        gradebook.find_grade(f"{FIRST}-check", NAME, NAME, "dua").extra_credit = 0.5
        gradebook.find_submission(NAME, "fay").extension = timedelta(days=3)
        gradebook.db.commit()


def test_it_shows_and_changes_nothing_until_one_agrees(own_class):
    correct(own_class)
    before = everything(own_class)
    files = {path: path.read_bytes() for path in own_class.course.glob("autograded/*/*/*")}
    result = CliRunner().invoke(
        app, ["regrade", NAME, "--isolation", "none", "--json", "changes.json"], input="n\n"
    )
    assert result.exit_code == 0, result.output
    assert "Nothing was changed." in result.output and "Change the scores of" in result.output
    assert everything(own_class) == before
    assert {path: path.read_bytes() for path in own_class.course.glob("autograded/*/*/*")} == files
    changes = [Change(**one) for one in json.loads((own_class.course / "changes.json").read_text())]
    assert {change.student for change in changes} == LOSE | {GAINS}
    of_exercise = {change.student: change for change in changes if change.what == EXERCISE}
    assert (of_exercise[GAINS].before, of_exercise[GAINS].after) == (0, 1)
    assert of_exercise[GAINS].why.startswith("was: ") and of_exercise[GAINS].why.endswith("now: right")
    assert {(of_exercise[student].before, of_exercise[student].after) for student in LOSE} == {(1, 0)}
    for student in (GAINS, "attention.scale", "was: right"):
        assert student in result.output


def test_what_a_person_gave_survives_and_the_rest_is_what_was_shown(own_class):
    grade_by_hand(own_class)
    own_class.grade()  # the penalties follow what was given
    before = everything(own_class)
    assert before["dua"]["penalty"] == pytest.approx(0.1 * before["dua"]["score"])
    correct(own_class)
    done = run(own_class)
    after = everything(own_class)
    assert done.done and not done.left
    totals = {change.student: change for change in done.changes if change.what == TOTAL}
    for student, old in before.items():
        new = after[student]
        net = new["score"] - (new["penalty"] or 0)
        assert net == pytest.approx(totals[student].after if student in totals else old["score"])
        assert new["when"] == old["when"] and new["comments"] == old["comments"]
        changed = {name for name, row in new["grades"].items() if row != old["grades"][name]}
        assert changed == ({CHECK} if student in LOSE | {GAINS} else set())
    assert after["ada"]["grades"][WRITTEN] == (None, 1.5, 0.25, False)
    assert after["ada"]["comments"][WRITTEN][1] == "Well put."
    assert after["eva"]["grades"][CHECK] == (0, 1, 0, True)  # stays, and asks for another look
    assert after["eva"]["score"] == before["eva"]["score"]
    (eva,) = [change for change in done.changes if change.student == "eva" and change.what == EXERCISE]
    assert "the score given by hand is kept" in eva.why
    assert after["dua"]["grades"][f"{FIRST}-check"][2] == 0.5
    assert after["dua"]["penalty"] == pytest.approx(0.1 * after["dua"]["score"]) != before["dua"]["penalty"]
    (penalty,) = [change for change in done.changes if change.what == PENALTY]
    assert (penalty.student, -penalty.after) == ("dua", after["dua"]["penalty"])
    assert run(own_class).changes == []


def test_without_a_correction_nothing_changes(own_class):
    grade_by_hand(own_class)
    own_class.grade()
    before = everything(own_class)
    result = CliRunner().invoke(app, ["regrade", NAME, "ada", "dua", "eva", "--yes", "--isolation", "none"])
    assert result.exit_code == 0 and "No score of 3 students would change." in result.output
    assert everything(own_class) == before


@pytest.mark.parametrize(
    "what", ["another notebook", "another text for a person to grade", "the same file, late"]
)
def test_what_is_handed_in_meanwhile_is_left_as_it_was(own_class, what):
    """Also with the same verdicts: no line of the table that was agreed to speaks of it, nor of the penalty for being late."""
    correct(own_class)
    before = everything(own_class)
    student = GAINS if what == "another notebook" else next(name for name in sorted(LOSE) if name != "dua")
    path = own_class.course / "submitted" / student / NAME / f"{NAME}.ipynb"
    text = with_cell(nbformat.read(path, 4), WRITTEN, "Something else, for which a person has to look again.")

    def agree(changes) -> bool:
        if what == "the same file, late":
            own_class.hand_in_late(student, "2026-10-03 12:00:00 UTC")
        else:
            release = own_class.assignment.read_release()
            path.write_text(nbformat.writes(release if what == "another notebook" else text))
        return True

    done = run(own_class, student, "fay", agree=agree)
    assert done.left == [student] and everything(own_class)[student] == before[student]
    assert everything(own_class)["fay"] != before["fay"]


def test_points_that_changed(own_class):
    assignment = own_class.assignment
    old = f'"grade_id": "{CHECK}", "locked": true, "points": 1,'
    assert assignment.source.read_text().count(old) == 1
    assignment.source.write_text(assignment.source.read_text().replace(old, old.replace("1,", "3,")))
    with pytest.raises(CourseError, match="run `autograder build` first"):
        run(own_class)
    assignment.release.write_bytes(release_bytes(assignment))
    done = run(own_class, "ada", "gil")
    (ada, total) = done.changes
    assert (ada.before, ada.after) == (1, 3) and "worth 3 instead of 1" in ada.why
    assert total.after == total.before + 2
    with own_class.gradebook() as gradebook:
        assert gradebook.find_grade_cell(CHECK, NAME, NAME).max_score == 3
        assert gradebook.find_grade(CHECK, NAME, NAME, "ada").auto_score == 3


def test_cells_that_the_release_has_lost_are_named(own_class):
    with own_class.gradebook() as gradebook:
        gradebook.update_or_create_grade_cell("gone", NAME, NAME, max_score=1, cell_type="code")
    with pytest.raises(CourseError, match=r"gained or lost graded cells \(gone\)"):
        run(own_class)
