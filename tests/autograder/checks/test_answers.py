"""The reader of answer files: round trips, limits, and any bytes at all."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks.answers import FileLimits, Malformed, pack, unpack


def test_round_trip():
    arrays = {
        "a": np.arange(6.0, dtype=np.float32).reshape(2, 3),
        "empty": np.zeros((0, 4)),
        "number": np.array(3),
    }
    back, words = unpack(pack(arrays, {"text": "ä"}))
    assert words == {"text": "ä"}
    assert all(
        np.array_equal(back[name], arrays[name]) and back[name].shape == arrays[name].shape for name in arrays
    )


def test_the_same_input_gives_the_same_bytes():
    arrays = {name: np.ones(3) for name in "cab"}
    assert pack(arrays, {"b": 1, "a": 2}) == pack(dict(sorted(arrays.items())), {"a": 2, "b": 1})


def forged(header, body=b""):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + body


WORDS = {"__metadata__": {"words": "{}"}}


def of_one(dtype, shape, end, body=b"1234"):
    """A file with one array that claims to be of this type and shape, and to end there."""
    return forged({**WORDS, "a": {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}}, body)


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (b"", "truncated"),
        (struct.pack("<Q", 2**60) + b"{}", "header claims"),
        (forged(b"[" * 100_000), "not JSON"),
        (forged([1]), "not a JSON object"),
        (forged({}), "no JSON part"),
        (forged({"__metadata__": {"words": "["}}), "cannot be read"),
        (of_one("F32", [1], 400), "cannot be read"),
        (of_one("F8_E5M2", [1], 1, b"1"), "type"),
        (of_one("F32", [0, 2**62], 0, b""), "dimension"),
        (of_one("F32", [True], 4), "dimension"),
        (of_one("F32", [1] * 40, 4), "shape"),
        (
            forged(
                WORDS | {str(i): {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(30_000)}
            ),
            "contains 30000 arrays; at most 20000",
        ),
        (pack({"a": np.zeros(100)}, {})[:-50], "cannot be read"),
        (pack({"a": np.zeros(2 << 21)}, {}), "bytes; at most"),
    ],
)
def test_forged_files_get_a_sentence(blob, words):
    with pytest.raises(Malformed, match=words):
        unpack(blob)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_arrays_or_a_sentence(blob):
    for candidate in (blob, struct.pack("<Q", len(blob)) + blob):
        try:
            unpack(candidate, FileLimits())
        except Malformed as error:
            assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 400), st.integers(0, 255))
def test_one_flipped_byte_gives_arrays_or_a_sentence(place, value):
    blob = bytearray(pack({"a": np.ones((3, 2)), "b": np.arange(4)}, {"x": [1]}))
    blob[place % len(blob)] = value
    try:
        unpack(bytes(blob))
    except Malformed as error:
        assert str(error)
