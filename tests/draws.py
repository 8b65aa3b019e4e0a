"""How the known answers of a notebook's exercises are judged on many draws of their inputs."""

from copy import copy
from dataclasses import replace

from autograder.authoring.rates import Rate, assignment_rates, seeds_from
from autograder.course import Assignment

TRAINING = {"project.train"}
"""Exercises in which every known answer trains a model: to try all of them on a draw takes half a minute."""


def rates_on_draws(
    assignment: Assignment, first: int, draws: int, of_training: int, generic: bool = False
) -> list[Rate]:
    """The rates of all exercises on `draws` draws, and of those that train models on `of_training`.

    With `generic`, changes of the solution that nobody listed are tried on each of them, too. The first draw is the public
    one. Where a model is trained on no other, mistakes are left out: test_fresh.py trains with each of them on that draw,
    test_exercises.py judges what came of it.
    """
    rates = []
    for exercise in assignment.exercises:
        count = of_training if exercise in TRAINING else draws
        tried = count if generic else 0
        one = without_mistakes(assignment, exercise) if exercise in TRAINING and count == 1 else assignment
        rates += assignment_rates(one, seeds_from(first, count), [exercise], workers=1, generic=tried)
    return rates


def without_mistakes(assignment: Assignment, exercise: str) -> Assignment:
    """The same assignment, with no known mistake in this exercise."""
    other = copy(assignment)
    left = replace(assignment.exercises[exercise], mistakes=())
    vars(other)["exercises"] = {**assignment.exercises, exercise: left}
    return other
