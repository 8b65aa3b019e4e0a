"""The reader of frames takes whatever the jail's inmate wrote: any bytes give a frame or one sentence."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.checks import answers
from autograder.checks.answers import Malformed
from autograder.jail.inside.limits import Limits
from autograder.untrusted.frames import read_frame

PNG = "iVBORw0KGgo="
ANSWER = {"variant": "", "exercise": "a.b", "case": 0, "problem": "", "message": "", "notes": []}
GOOD = {
    "cell": 3,
    "answers": [ANSWER],
    "outputs": [
        {"output_type": "stream", "name": "stdout", "text": "one\n"},
        {"output_type": "display_data", "data": {"image/png": PNG}, "metadata": {}},
        {
            "output_type": "execute_result",
            "data": {"text/plain": "1"},
            "metadata": {},
            "execution_count": None,
        },
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["line", "E: v"]},
    ],
    "seconds": 0.5,
    "problem": "error",
}


def frame(**changes) -> bytes:
    return answers.pack({"answer||a.b|0|": np.ones(3, np.float32)}, GOOD | changes)


def test_a_frame_is_read():
    read = read_frame(frame())
    assert (read.cell, read.seconds, read.problem, read.error_text) == (3, 0.5, "error", "line\nE: v")
    np.testing.assert_array_equal(read.answers["", "a.b", 0].arrays[""], np.ones(3))
    assert len(read.outputs) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"cell": -1},
        {"cell": "3"},
        {"cell": True},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": -1},
        {"problem": "passed"},
        {"score": 100},
        {"answers": {}},
        {"answers": [ANSWER | {"problem": "right"}]},
        {"answers": [ANSWER | {"case": -1}]},
        {"answers": [ANSWER | {"message": "x" * 5000}]},
        {"answers": [{"exercise": "a.b"}]},
        {"outputs": [{"output_type": "stream", "name": "stdin", "text": ""}]},
        {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["a"]}]},
        {
            "outputs": [
                {"output_type": "display_data", "data": {"application/javascript": "x"}, "metadata": {}}
            ]
        },
        {"outputs": [{"output_type": "display_data", "data": {"text/html": {}}, "metadata": {}}]},
        {"outputs": [{"output_type": "display_data", "data": {}, "metadata": {"isolated": True}}]},
        {"outputs": [{"output_type": "display_data", "data": {"image/png": "<script>"}, "metadata": {}}]},
        {"outputs": [{"output_type": "display_data", "data": {"image/png": "é"}, "metadata": {}}]},
        {"outputs": [{"output_type": "update_display_data", "data": {}, "metadata": {}}]},
        {"outputs": [None]},
    ],
)
def test_a_frame_that_is_not_as_agreed_is_refused(changes):
    with pytest.raises(Malformed):
        read_frame(frame(**changes))


def test_half_a_character_is_refused():
    whole = frame(outputs=[{"output_type": "stream", "name": "stdout", "text": "HALF"}])
    longer = whole.replace(b"HALF", rb"\\ud800")  # JSON within JSON: the backslash is escaped
    size = int.from_bytes(whole[:8], "little") + len(longer) - len(whole)
    with pytest.raises(Malformed, match="half a character"):
        read_frame(size.to_bytes(8, "little") + longer[8:])


def test_limits_bound_what_is_read():
    with pytest.raises(Malformed, match="bytes"):
        read_frame(frame(), Limits(output_bytes=100))


@given(st.binary(max_size=300))
@example(b"")
@example(b"\xff" * 8)
@example(frame()[:-1])
def test_any_bytes_give_a_frame_or_a_sentence(blob):
    with pytest.raises(Malformed, match="."):
        read_frame(blob)


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_any_damage_gives_a_frame_or_a_sentence(place, damage):
    good = frame()
    try:
        read_frame(good[:place] + damage + good[place + len(damage) :])
    except Malformed as refused:
        assert str(refused)
