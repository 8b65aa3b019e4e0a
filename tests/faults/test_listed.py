"""The list of small faults stays usable while the code changes: whoever moves a line takes its fault along."""

import ast
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.faults.listed import read_faults

FAULTS = read_faults()


@pytest.mark.parametrize("place", range(len(FAULTS)), ids=lambda place: f"{place + 1}-{FAULTS[place].place}")
def test_a_fault_can_be_put_into_its_file(place):
    fault = FAULTS[place]
    source = (ROOT / fault.file).read_text(encoding="utf-8")
    changed = fault.applied_to(source)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    assert fault.why.endswith(".")


def test_there_are_enough_of_them_in_every_package():
    count = Counter(fault.place.partition("/")[0] for fault in FAULTS)
    packages = {path.parent.name for path in (ROOT / "autograder").glob("*/__init__.py")}
    assert len(FAULTS) >= 70 and len({(fault.file, fault.old) for fault in FAULTS}) == len(FAULTS)
    assert packages <= count.keys()
