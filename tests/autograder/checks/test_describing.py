"""The inputs of a check in a line: short enough to be read."""

import numpy as np

from autograder.checks.describing import described


def test_arrays_are_named_by_their_shapes_and_other_inputs_by_their_values():
    case = {"x": np.zeros((2, 3)), "v": np.zeros(4), "heads": 2, "scale": np.array(0.5)}
    assert described(case) == "heads = 2, scale = 0.5, v of length 4, x 2×3"


def test_many_inputs_of_one_family_are_counted():
    weights = {f"weights.{name}": np.zeros((2, 2)) for name in "abcd"}
    assert described(weights | {"x": np.zeros(3)}) == "weights.… (4 inputs), x of length 3"
    few = {f"weights.{name}": np.zeros(2) for name in "ab"}
    assert described(few) == "weights.a of length 2, weights.b of length 2"
