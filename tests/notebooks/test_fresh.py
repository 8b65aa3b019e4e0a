"""The committed notebooks and keys are what their sources give."""

import pytest

from autograder.authoring import builder
from tests.conftest import ASSIGNMENTS


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_products_are_fresh(open_server, name):
    assert list(builder.stale(open_server, ASSIGNMENTS[name])) == []
