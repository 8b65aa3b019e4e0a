"""An assignment of two notebooks and a class of three: nbgrader alone, our command, and nbgrader with our plug-in agree."""

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.course import find_notebooks
from tests.autograder.commands import command
from tests.autograder.of_nbgrader import SETTINGS, WRONG, answer, make_course
from tests.plain.test_against_nbgrader import nbgrader

NAME, FILES = "Blatt 1 (neu)", ("part_a", "Teil B")
LATE = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'


def recorded(course: Path) -> tuple:
    """Of the assignment, of each student, of each notebook of theirs and of each cell what nbgrader has."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "any") as gradebook:
        assignment = gradebook.find_assignment(NAME)
        students, parts, cells = {}, {}, {}
        for one in assignment.submissions:
            students[one.student.id] = one.score, one.needs_manual_grade, one.timestamp
            for part in one.notebooks:
                where = one.student.id, part.name
                parts[where] = part.score, part.max_score, part.late_submission_penalty or 0.0
                cells |= {
                    (*where, grade.name): (grade.auto_score, grade.needs_manual_grade)
                    for grade in part.grades
                }
        return assignment.max_score, {part.name for part in assignment.notebooks}, students, parts, cells


@pytest.mark.slow
def test_scores_are_those_of_nbgrader(tmp_path, monkeypatch):
    ours = make_course(tmp_path / "ours", {NAME: FILES})
    second, first = find_notebooks(ours, NAME)
    answer(first, "ada", words="Because.")
    answer(second, "ada", words="Two.")
    answer(first, "bob", WRONG)
    answer(second, "bob", words="I guess.")
    answer(first, "cem")
    in_time = ours / "submitted" / "ada" / NAME / "timestamp.txt"
    in_time.write_text("2026-09-30 12:00:00 UTC")
    (ours / "nbgrader_config.py").write_text(SETTINGS + LATE)
    theirs, button = tmp_path / "theirs", tmp_path / "button"
    for copy in (theirs, button):
        shutil.copytree(ours, copy, ignore=shutil.ignore_patterns("release", "*.db", ".autograder"))
    alone = SETTINGS.replace("configure(c)", "").replace(
        "from autograder.nbgrader_plugin import configure", ""
    )
    (theirs / "nbgrader_config.py").write_text(alone + LATE)
    for course in (theirs, button):
        nbgrader(course, "generate_assignment", NAME)
    for course in (ours, theirs, button):
        with Gradebook(f"sqlite:///{course}/gradebook.db", "any") as gradebook:
            gradebook.update_or_create_assignment(NAME, duedate="2026-10-01 00:00:00 UTC")
    for course in (theirs, button):
        nbgrader(course, "autograde", NAME)
    monkeypatch.chdir(ours)
    command("grade", NAME)

    given = recorded(theirs)
    assert recorded(ours) == given and recorded(button) == given
    assert given[2]["ada"][0] == 2 and given[3]["bob", "Teil B"][2] == 1  # late: nothing is left of it
