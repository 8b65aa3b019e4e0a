"""What is handed to the jail: the cells to run and the inputs of each check, packed into bytes."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from autograder.checks import answers
from autograder.checks.asking import Case, handed_out
from autograder.checks.recording import cases_to_file
from autograder.jail.inside.files import FILE

Cases = Mapping[str, Sequence[Case]]


def make_job(cells: Sequence[Mapping[str, str]], cases: Cases, arrays: str = "numpy") -> bytes:
    """A job for the jail: cells {source, exercise, variant}, the inputs of each check, and what their arrays become."""
    return with_inputs(cells, pack_inputs(cases, arrays, {}))


def pack_inputs(cases: Cases, arrays: str, files: Mapping[str, bytes]) -> bytes:
    """What all jobs have in common that ask the same checks. What is for the verdict alone stays outside.

    `files` lie in the notebook's folder, by their path there.
    """
    inputs, rest = cases_to_file({name: [handed_out(case) for case in of] for name, of in cases.items()})
    contents = {f"{FILE}{path}": np.frombuffer(content, np.uint8) for path, content in files.items()}
    return answers.pack(inputs | contents, {"cases": rest, "arrays": arrays, "files": list(files)})


def with_inputs(
    cells: Sequence[Mapping[str, str]], inputs: bytes, texts: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """A job: its cells, their length in eight bytes before them, and then the packed inputs.

    `texts` are files of this job alone, which lie in the notebook's folder, too.
    """
    text = json.dumps({"cells": list(cells), "texts": dict(texts)}).encode()
    return len(text).to_bytes(8, "little") + text + inputs


def cell(source: str, exercise: str = "", variant: str = "") -> dict[str, str]:
    """One cell of a job. With an `exercise`, its check is recorded; `variant` names the edit, "" for the notebook as it is."""
    return {"source": source, "exercise": exercise, "variant": variant}


HARMLESS = make_job([cell("1 + 1")], {})
"""A job that harms nobody. Where it fails too, the fault is not the last submission's."""
