"""The list of small faults stays usable while the code changes: whoever moves a line takes its fault along."""

import ast
from collections import Counter
from functools import cache

import pytest

from tests.conftest import ROOT
from tests.faults.listed import read_faults

FAULTS = read_faults()


@cache
def read(file):
    """A file's source, and its syntax tree as text."""
    source = (ROOT / file).read_text(encoding="utf-8")
    return source, ast.dump(ast.parse(source))


@pytest.mark.parametrize("place", range(len(FAULTS)), ids=lambda place: f"{place + 1}-{FAULTS[place].place}")
def test_a_fault_can_be_put_into_its_file(place):
    fault = FAULTS[place]
    source, tree = read(fault.file)
    assert ast.dump(ast.parse(fault.applied_to(source))) != tree
    assert fault.why.endswith(".")


def test_there_are_enough_of_them_in_every_package():
    count = Counter(fault.place.partition("/")[0] for fault in FAULTS)
    packages = {path.parent.name for path in (ROOT / "autograder").glob("*/__init__.py")}
    assert len(FAULTS) >= 70 and len({(fault.file, fault.old) for fault in FAULTS}) == len(FAULTS)
    assert packages <= count.keys()
