"""Answer files: arrays in safetensors, everything else in JSON. The reader trusts nothing.

A student's answers, an answer key and a grading job all travel in this form. Nothing is ever unpickled.
"""

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

Arrays = Mapping[str, np.ndarray]

DTYPES = {"F64", "F32", "F16", "I64", "I32", "I16", "I8", "U8", "BOOL"}


class Malformed(ValueError):
    """The bytes are not an answer file within the limits; the message says why in one sentence."""


@dataclass(frozen=True)
class FileLimits:
    """What a reader accepts. An answer outside these bounds is refused before anything is allocated."""

    bytes: int = 16 << 20
    header_bytes: int = 4 << 20
    arrays: int = 20_000
    dims: int = 8
    values: int = 1_000_000  # in the JSON: a megabyte of text can ask for thirty of memory


def pack(arrays: Arrays, value: Any) -> bytes:
    """One file from named arrays and a JSON value. The same input gives the same bytes."""
    contiguous = {
        name: np.ascontiguousarray(arrays[name]).reshape(arrays[name].shape) for name in sorted(arrays)
    }
    return save(contiguous, {"words": json.dumps(value, sort_keys=True, ensure_ascii=False)})


def unpack(blob: bytes, limits: FileLimits | None = None) -> tuple[dict[str, np.ndarray], Any]:
    """Arrays and JSON value of a file that may be hostile.

    Raises Malformed for anything that is not such a file, or exceeds `limits`.
    """
    limits = limits or FileLimits()
    header = _header(blob, limits)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not isinstance(metadata.get("words"), str):
        raise Malformed("the answer file has no JSON part")
    if len(header) > limits.arrays:
        raise Malformed(f"the answer file contains {len(header)} arrays; at most {limits.arrays} are read")
    for name, entry in header.items():
        _check_entry(name, entry, limits)
    try:
        value = _json(metadata["words"], limits)
        arrays = load(blob)
    except (ValueError, RecursionError, SafetensorError, MemoryError, OverflowError) as error:
        raise Malformed(f"the answer file cannot be read: {str(error)[:200]}") from None
    return arrays, value


def _header(blob: bytes, limits: FileLimits) -> dict[str, Any]:
    if len(blob) > limits.bytes:
        raise Malformed(f"the answer file has {len(blob)} bytes; at most {limits.bytes} are read")
    if len(blob) < 8:
        raise Malformed("the answer file is truncated")
    (size,) = struct.unpack("<Q", blob[:8])
    if size > limits.header_bytes or size + 8 > len(blob):
        raise Malformed(f"the header claims {size} bytes")
    try:
        header = _json(blob[8 : 8 + size].decode(), limits)
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("the header is not JSON") from None
    if not isinstance(header, dict):
        raise Malformed("the header is not a JSON object")
    return header


# Without going back, and to the end where a string has none: the time it takes grows with the text only.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def _json(text: str, limits: FileLimits) -> Any:
    """The value that `text` describes, unless it would be made of too many."""
    if len(text) > limits.values:
        bare = _STRING.sub("", text)
        values = sum(bare.count(sign) for sign in ",[{")
        if values > limits.values:
            raise Malformed(
                f"the answer file contains {values} JSON values; at most {limits.values} are read"
            )
    return json.loads(text)


def _check_entry(name: str, entry: Any, limits: FileLimits) -> None:
    if not isinstance(entry, dict) or entry.get("dtype") not in DTYPES:
        raise Malformed(f"array {name[:80]!r} has a type that is not supported")
    shape = entry.get("shape")
    if not isinstance(shape, list) or len(shape) > limits.dims:
        raise Malformed(f"array {name[:80]!r} has no readable shape")
    # An empty array may claim any other dimension, so each dimension is bounded on its own.
    if not all(type(size) is int and 0 <= size <= limits.bytes for size in shape):
        raise Malformed(f"array {name[:80]!r} has a dimension out of bounds")
