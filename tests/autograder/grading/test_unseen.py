"""The planted faults that no student has read, and that they count in the grade."""

from dataclasses import replace

import numpy as np
import pytest
from nbformat.v4 import new_notebook

from autograder.checks import answer_key
from autograder.grading.verdicts import Reply, judge_cells
from autograder.untrusted.frames import Frame
from autograder.untrusted.submission import Submission
from coursekit import planted
from tests.conftest import ASSIGNMENTS

NAME, EXERCISE = "12_one_corpus", "comparison.attention_tests"
COURSE = ASSIGNMENTS[NAME]
KEY = answer_key.load(ASSIGNMENTS[NAME].key)[EXERCISE]
UNSEEN = ASSIGNMENTS[NAME].exercises[EXERCISE].unseen
TASK = planted.task("coursekit.planted.attention")


@pytest.mark.parametrize("one", (*TASK.practice, *UNSEEN), ids=lambda one: one.name)
def test_the_solution_s_inputs_expose_every_fault_and_reject_nothing_right(one):
    noticed = [planted.expose(answer.arrays, TASK, [one]).noticed for answer in KEY.expected]
    assert all(seen == (not one.right,) for seen in noticed)


def test_no_unseen_fault_is_one_for_practice():
    """Each gives something of its own on the same inputs."""
    rng = np.random.default_rng(1)
    inputs = {
        name: rng.standard_normal(shape)
        for name, shape in {"queries": (4, 5, 6), "keys": (4, 7, 6), "values": (4, 7, 8)}.items()
    }
    inputs["keep"] = rng.random((4, 5, 7)) < 0.8
    inputs["queries"][-1] *= 1000
    inputs["keep"][-1] &= inputs["queries"][-1] @ inputs["keys"][-1].T < 0
    inputs["keep"][0, 0] = False
    with np.errstate(all="ignore"):
        outputs = [
            one.run(**inputs).astype(np.float64).round(3).tobytes()
            for one in (*TASK.practice, *UNSEEN)
            if not one.right
        ]
    assert len(set(outputs)) == len(outputs) == 29


def graded(exercises):
    """The verdict on the solution's own inputs, with the exercises as given."""
    assignment = replace(COURSE)
    assignment.__dict__["exercises"] = exercises
    release = COURSE.read_release()
    cell = next(i for i, c in enumerate(release.cells) if c.id == exercises[EXERCISE].check_id)
    answers = {("", EXERCISE, number): answer for number, answer in enumerate(KEY.expected)}
    frame = Frame(cell, answers, (), 0.0, "")
    keys = answer_key.load(ASSIGNMENTS[NAME].key)
    submission = Submission("ada", new_notebook(cells=release.cells), "", released={})
    replies = {name: Reply(frame if name == EXERCISE else None, "finished") for name in exercises}
    verdicts = judge_cells(assignment, submission, keys, replies, {})
    return next(one for one in verdicts if one.grade_id == exercises[EXERCISE].check_id)


def test_a_grade_counts_faults_that_no_student_has_read():
    assert graded(COURSE.exercises).score == 4
    blind = planted.Planted("cannot be noticed", "nothing at all", planted.attention.truth)
    harder = replace(COURSE.exercises[EXERCISE], unseen=(blind,) * 15)
    verdict = graded(COURSE.exercises | {EXERCISE: harder})
    assert (verdict.score, verdict.status) == (0, "failed")
    assert "15 of 30 planted faults" in verdict.reason
