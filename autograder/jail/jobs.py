"""What is handed to the jail: the cells to run and the inputs of each check, packed into bytes."""

from collections.abc import Mapping, Sequence

from coursekit import answers
from coursekit.asking import Case
from coursekit.recording import cases_to_file

Cases = Mapping[str, Sequence[Case]]


def make_job(cells: Sequence[Mapping[str, str]], cases: Cases) -> bytes:
    """A job for the jail: cells {source, exercise, variant} and the inputs of each check."""
    arrays, rest = cases_to_file({name: list(several) for name, several in cases.items()})
    return answers.pack(arrays, {"cells": list(cells), "cases": rest})


def cell(source: str, exercise: str = "", variant: str = "") -> dict[str, str]:
    return {"source": source, "exercise": exercise, "variant": variant}


HARMLESS = make_job([cell("1 + 1")], {})
"""A job that harms nobody. Where it fails too, the fault is not the last submission's."""
