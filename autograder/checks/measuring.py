"""What evidence is worth: measured where the verdict is made, never where a student's code runs. Arrays in, arrays out.

The answer to an exercise may be evidence: the weights of a model that the student's function has trained, and what the
model has read. A function of the course, `Rule.measure`, makes of it the arrays that are compared. It gets all inputs of
the case, also those that the student's code never had, such as a held-out text. A student may have made up the evidence:
the function takes arrays of any shape and dtype, under any names, and raises nothing.
"""

from dataclasses import replace
from importlib import import_module

from autograder.checks.asking import Answer, Case
from autograder.checks.comparing import Rule


def measured(answer: Answer, case: Case, rule: Rule) -> Answer:
    """The answer with what is compared in place of the evidence; as it is where it is a problem, or no evidence."""
    if answer.problem or not rule.measure:
        return answer
    module, _, name = rule.measure.partition(":")
    return replace(answer, arrays=getattr(import_module(module), name)(answer.arrays, case), notes=())
