"""Reads what came out of the jail. Every byte of it may have been written by the student."""

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import fastjsonschema

from autograder.checks import answers
from autograder.checks.answers import Malformed
from autograder.checks.asking import Answer
from autograder.checks.recording import AnswerId, answers_from_file
from autograder.checks.status import CellEnding, Problem
from autograder.jail.inside.limits import Limits
from autograder.jail.inside.outputs import MOST_OUTPUTS, SHOWN_TYPES

MOST_ANSWERS = 5_000  # of one cell


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def _record(**properties: Any) -> dict[str, Any]:
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], longest: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": longest}


def _schema(limits: Limits) -> dict[str, Any]:
    text = _text(limits.output_bytes)
    data = {
        "type": "object",
        "properties": {kind: text for kind in SHOWN_TYPES},
        "additionalProperties": False,
    }
    no_metadata = {"type": "object", "maxProperties": 0}
    stream = _record(output_type={"const": "stream"}, name={"enum": ["stdout", "stderr"]}, text=text)
    display = _record(output_type={"const": "display_data"}, data=data, metadata=no_metadata)
    result = _record(
        output_type={"const": "execute_result"},
        data=data,
        metadata=no_metadata,
        execution_count={"type": "null"},
    )
    error = _record(
        output_type={"const": "error"}, ename=_text(200), evalue=_text(2000), traceback=_list(_text(2000), 40)
    )
    answer = _record(
        variant=_text(200),
        exercise=_text(200),
        case={"type": "integer", "minimum": 0, "maximum": 1_000_000},
        problem={"enum": [problem.value for problem in Problem]},
        message=_text(4000),
        notes=_list(_text(500), 50),
    )
    return _record(
        cell={"type": "integer", "minimum": 0, "maximum": 1_000_000},
        answers=_list(answer, MOST_ANSWERS),
        outputs=_list({"anyOf": [stream, display, result, error]}, MOST_OUTPUTS + 1),
        seconds={"type": "number", "minimum": 0, "maximum": 1e9},
        problem={"enum": [ending.value for ending in CellEnding]},
    )


@cache
def _validator(limits: Limits) -> Callable[[Any], Any]:
    """Compiled, because a notebook sends a frame for each of its cells."""
    return fastjsonschema.compile(_schema(limits), use_default=False)


@dataclass(frozen=True)
class Frame:
    """What one cell gave. `outputs` are notebook outputs, to be sanitised before a browser sees them."""

    cell: int
    answers: Mapping[AnswerId, Answer]
    outputs: tuple[dict[str, Any], ...]
    seconds: float
    problem: CellEnding

    @property
    def error_text(self) -> str:
        """The traceback of the cell's error, or ""."""
        errors = [output for output in self.outputs if output["output_type"] == "error"]
        return "\n".join(errors[-1]["traceback"]) if errors else ""


def read_frame(blob: bytes, limits: Limits | None = None) -> Frame:
    """Read one frame of an Outcome. Raises autograder.checks.answers.Malformed for anything else."""
    limits = limits or Limits()
    size = limits.output_bytes
    arrays, description = answers.unpack(blob, answers.FileLimits(bytes=size, header_bytes=size))
    try:
        _validator(limits)(description)
    except fastjsonschema.JsonSchemaValueException as error:
        raise Malformed(f"the frame does not follow the agreed format: {error.message[:200]}") from None
    if b"\\u" in blob:  # half a character can stand in JSON as an escape only
        _check_text(description)
    _check_pictures(description["outputs"])
    if not math.isfinite(description["seconds"]):
        raise Malformed("the frame's seconds are not a number")
    return Frame(
        int(description["cell"]),
        answers_from_file(arrays, description["answers"]),
        tuple(description["outputs"]),
        float(description["seconds"]),
        CellEnding(description["problem"]),
    )


def _check_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Malformed("the frame contains half a character, which cannot be written to a file") from None


def _check_pictures(outputs: list[dict[str, Any]]) -> None:
    heads = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8"}
    for output in outputs:
        for kind, head in heads.items():
            text = output.get("data", {}).get(kind)
            if text is not None and not _decoded(text).startswith(head):
                raise Malformed(f"an output claims to be {kind} and is not")


def _decoded(text: str) -> bytes:
    try:
        # Strictly: what stands between the signs of base64 could end an attribute of the page that shows it.
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return b""
