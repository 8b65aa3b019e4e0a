"""The limits travel to the server as JSON, and none may be switched off by a zero."""

import pytest

from autograder.jail.inside.limits import Limits


def test_limits_survive_the_way_to_the_server():
    limits = Limits(cell_seconds=1.5, processes=7)
    assert Limits.from_json(limits.to_json()) == limits


@pytest.mark.parametrize("name", ["memory_bytes", "notebook_seconds", "processes"])
def test_a_limit_must_be_above_zero(name):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})
