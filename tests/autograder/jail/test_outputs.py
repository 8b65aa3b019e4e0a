"""Outputs stay within bounds, whatever is shown."""

from dataclasses import replace

import pytest

from autograder.jail.inside.limits import Limits
from autograder.jail.inside.outputs import Outputs, Stream

SMALL = Limits(stream_bytes=10, output_bytes=400, images_per_cell=2)


def test_a_stream_keeps_its_beginning_and_says_so_once():
    outputs = Outputs(SMALL)
    for _ in range(5):
        outputs.write("stdout", "1234567")
    (stream,) = outputs.take()
    assert stream["text"] == "1234567123\n… the rest of stdout was not kept\n"


def test_each_cell_and_each_stream_has_room_of_its_own():
    outputs = Outputs(SMALL)
    for name in ("stdout", "stderr"):
        outputs.write(name, "123456789")
    assert [output["text"] for output in outputs.take()] == ["123456789"] * 2
    outputs.write("stdout", "123456789")
    assert [output["text"] for output in outputs.take()] == ["123456789"]


def test_all_cells_share_the_room_for_displays():
    outputs = Outputs(replace(SMALL, stream_bytes=1000))
    kept = ""
    for _ in range(50):
        outputs.write("stdout", "#" * 30)
        outputs.show("display_data", {"text/html": "#" * 30})
        kept += str(outputs.take())
    assert 0 < kept.count("#") <= SMALL.output_bytes // 4


def test_a_cell_has_so_many_outputs_and_then_its_error():
    outputs = Outputs(Limits())
    for _ in range(10_000):
        outputs.show("display_data", {"text/plain": "1"})
        outputs.write("stdout", "2")
    outputs.fail("ValueError", "3", ["ValueError: 3"])
    taken = outputs.take()
    assert len(taken) == 500 and taken[-1]["output_type"] == "error"


def test_a_display_without_room_is_replaced_by_words():
    outputs = Outputs(SMALL)
    outputs.show("display_data", {"text/html": "y" * 1000, "text/plain": "short"})
    (output,) = outputs.take()
    assert list(output["data"]) == ["text/plain"] and "no room" in output["data"]["text/plain"]


def test_kinds_that_are_not_shown_are_left_out():
    outputs = Outputs(SMALL)
    outputs.show("display_data", {"application/javascript": "alert(1)", "text/plain": "a"})
    outputs.show("display_data", {"application/javascript": "alert(1)"})
    first, second = outputs.take()
    assert first["data"] == {"text/plain": "a"}
    assert "not shown" in second["data"]["text/plain"]


def test_pictures_arrive_as_text():
    outputs = Outputs(SMALL)
    outputs.show("display_data", {"image/png": b"\x89PNG"})
    assert outputs.take()[0]["data"]["image/png"] == "iVBORw=="


def test_a_stream_takes_text_only():
    stream = Stream("stdout", Outputs(SMALL))
    with pytest.raises(TypeError, match="bytes"):
        stream.write(b"bytes")
    stream.close()
    assert stream.write("still open") == 10 and stream.name == "<stdout>"
