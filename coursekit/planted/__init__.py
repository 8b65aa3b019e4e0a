"""Implementations with planted faults, for tests that students write (`autograder.checks.planted` runs them)."""

from autograder.checks.planted import Exposure, Inputs, Planted, Task, expose, problem_with, task

__all__ = ["Exposure", "Inputs", "Planted", "Task", "expose", "problem_with", "task"]
