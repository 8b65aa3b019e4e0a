"""Whatever frames come out of the jail, reading and judging them gives verdicts with reasons, never an error.

An error here would stop the grading of a whole class.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from nbformat.v4 import new_notebook

from autograder.checks import answer_key, answers
from autograder.checks.answers import Malformed
from autograder.checks.asking import Answer
from autograder.checks.status import Problem
from autograder.grading.demonstrations import missing_names
from autograder.grading.dependants import Dependants
from autograder.grading.engine import CellRun, Response, _readable, _replies
from autograder.grading.reference import solution_sources
from autograder.grading.verdicts import LONGEST_REASON, Reply, judge_cells
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.client import ENDINGS
from autograder.untrusted.autograded import fill_outputs
from autograder.untrusted.frames import Frame, read_frame
from autograder.untrusted.submission import Submission
from tests.conftest import ASSIGNMENTS

NAME = "02_attention"
COURSE = ASSIGNMENTS[NAME]
EXERCISE = "attention.split_heads"
SOLUTIONS = solution_sources(COURSE)
KEYS = answer_key.load(ASSIGNMENTS[NAME].key)
RELEASE = COURSE.read_release()
CHECKS = {
    number: COURSE.by_check_id[cell.id].name
    for number, cell in enumerate(RELEASE.cells)
    if cell.id in COURSE.by_check_id
}
CELL = next(number for number, name in CHECKS.items() if name == EXERCISE)
SUBMISSION = Submission("ada", new_notebook(cells=RELEASE.cells), "", released={})

TEXT = st.text(max_size=20) | st.sampled_from(["[/b]", "\x1b[38m", "NameError", "x" * 4000, "a\n" * 900])
SHAPES = st.sampled_from(
    [want.arrays[""].shape for want in KEYS[EXERCISE].expected]
) | arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
TYPES = st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?"])
ARRAYS = st.builds(
    lambda shape, kind, fill: np.full(shape, fill).astype(kind),
    SHAPES,
    TYPES,
    st.sampled_from([0.0, 1.0, float("nan"), float("inf"), 1e300, -1.0]),
)
ANSWERS = st.builds(
    Answer,
    st.dictionaries(st.just("") | TEXT, ARRAYS, max_size=3),
    st.sampled_from(Problem),
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
)
WHERE = st.tuples(st.sampled_from(["", "other"]), st.sampled_from([EXERCISE, "a.b"]), st.integers(0, 5))
FRAMES = st.builds(
    Frame,
    st.sampled_from([CELL, 0, 10**6]),
    st.dictionaries(WHERE, ANSWERS, max_size=6),
    st.just(()),
    st.floats(0, 10),
    st.sampled_from(["", "timeout", "error"]),
)


def judged(frames, ending):
    """The way of an engine from frames to verdicts, with a second run for dependants that answers the same."""
    missing_names(frames)
    steps = [CellRun("", CHECKS.get(number, "")) for number in range(max(CHECKS) + 1)]
    replies = dict.fromkeys(COURSE.exercises, Reply(None, ending)) | _replies(
        steps, Response(frames, ending, 0.0)
    )
    verdicts = judge_cells(COURSE, SUBMISSION, KEYS, replies, {})
    dependants = Dependants(COURSE, SUBMISSION, SOLUTIONS, KEYS, replies, verdicts)
    for loan in dependants.loans():
        dependants.hear(loan, {name: replies[name] for name in loan.checked})
    return dependants.verdicts()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(FRAMES, max_size=3), st.sampled_from(ENDINGS))
@example([], "finished")
def test_any_frames_give_verdicts_with_reasons(frames, ending):
    verdicts = judged(frames, ending)
    for verdict in verdicts:
        if verdict.status not in ("passed", "manual"):
            assert verdict.reason and len(verdict.reason) < LONGEST_REASON + 10
            assert all(sign.isprintable() or sign == "\n" for sign in verdict.reason)
        if verdict.grade_id.endswith("-check"):
            assert not verdict.score or verdict.grade_id == "attention-split_heads-check"
    fill_outputs(SUBMISSION.notebook, {}, {verdict.grade_id: verdict for verdict in verdicts})


@pytest.mark.slow
def test_only_the_check_s_own_frame_counts():
    right = {("", EXERCISE, number): answer for number, answer in enumerate(KEYS[EXERCISE].expected)}

    def earned(cell):
        frame = Frame(cell, right, (), 0.0, "")
        verdicts = judged([frame], "finished")
        return sum(verdict.earned for verdict in verdicts if verdict.score is not None)

    assert earned(CELL) > 0 and earned(0) == earned(CELL - 1) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ANSWER = {"variant": "", "exercise": EXERCISE, "case": 0, "problem": "", "message": "", "notes": []}
STREAM = {"output_type": "stream", "name": "stdout", "text": "one"}
WORDS = {"cell": 0, "answers": [ANSWER], "outputs": [STREAM], "seconds": 0.0, "problem": ""}
SPOILED = st.one_of(
    JSON,
    st.builds(lambda name, value: WORDS | {name: value}, st.sampled_from(list(WORDS)), JSON),
    st.builds(lambda n, v: WORDS | {"answers": [ANSWER | {n: v}]}, st.sampled_from(list(ANSWER)), JSON),
    st.builds(lambda n, v: WORDS | {"outputs": [STREAM | {n: v}]}, st.sampled_from(list(STREAM)), JSON),
)
PATHS = st.builds(
    "|".join,
    st.lists(st.sampled_from(["answer", "", EXERCISE, "0", "٣", "²", "9" * 5000]) | TEXT, max_size=7),
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SPOILED, st.dictionaries(PATHS, ARRAYS, max_size=3))
@example(WORDS, {f"answer||{EXERCISE}|{'1' * 5000}|": np.ones(3)})
def test_any_words_and_arrays_give_a_frame_or_a_sentence(words, arrays):
    try:
        frame = read_frame(answers.pack(arrays, words))
    except Malformed as refused:
        assert str(refused)
    else:
        judged([frame], "finished")


def test_the_first_readable_frame_of_a_cell_counts():
    blobs = [answers.pack({}, WORDS | {"problem": problem}) for problem in ("error", "", "timeout")]
    outcome = SimpleNamespace(frames=(b"rubbish", *blobs))
    assert [frame.problem for frame in _readable(outcome, Limits(), most=10)] == ["error"]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["{}", "[]", '"a\\"b"', "0"])
def test_json_that_would_fill_the_memory_is_refused(value):
    many = "[" + f"{value}," * 1_100_000 + f"{value}]"
    with pytest.raises(Malformed, match="JSON values; at most"):
        answers.unpack(
            len(many).to_bytes(8, "little") + many.encode(), answers.FileLimits(header_bytes=1 << 24)
        )


@pytest.mark.slow
def test_long_texts_are_no_values():
    text = '[{,"\\' * 1_000_000
    _, words = answers.unpack(answers.pack({}, {"text": text}), answers.FileLimits(1 << 26, 1 << 26))
    assert words == {"text": text}
