"""What the doctor finds."""

import pytest

from autograder.doctor import course as of_course
from autograder.doctor import machine
from autograder.doctor.readiness import Level
from autograder.settings import limits


def test_a_release_without_its_key_is_not_built(small):
    assert of_course.course(small.root).state == Level.GOOD and of_course.is_built(small.assignment)
    small.assignment.key.unlink()
    assert not of_course.is_built(small.assignment)
    assert "not built: 01_steps" in of_course.course(small.root).finding


@pytest.mark.parametrize(("free", "state"), [(3, Level.NOTE), (9, Level.GOOD)])
def test_memory_is_needed_for_as_many_notebooks_as_run_at_once(small, monkeypatch, free, state):
    class Memory:
        available = free * limits(small.root).memory_bytes

    monkeypatch.setattr("psutil.virtual_memory", lambda: Memory)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    monkeypatch.setattr("autograder.jail.outside.cgroup.possible", lambda: True)
    found = machine.memory(small.root)
    assert found.state == state and (state == Level.GOOD or "`--workers 3`" in found.remedy)
