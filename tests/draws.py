"""How the known answers of a notebook's exercises are judged on many draws of their inputs."""

from autograder.authoring.rates import Rate, assignment_rates, seeds_from
from autograder.course import Assignment

TRAINING = {"project.train"}
"""Exercises in which every known answer trains a model: a draw takes more than a minute."""


def rates_on_draws(
    assignment: Assignment, first: int, draws: int, of_training: int, generic: bool = False
) -> list[Rate]:
    """The rates of all exercises on `draws` draws, and of those that train models on `of_training`.

    With `generic`, changes of the solution that nobody listed are tried on each of them, too.
    """
    rates = []
    for exercise in assignment.exercises:
        count = of_training if exercise in TRAINING else draws
        tried = count if generic else 0
        rates += assignment_rates(assignment, seeds_from(first, count), [exercise], workers=1, generic=tried)
    return rates
