"""Answers that need no understanding. None may pass a check, on any inputs."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from autograder.checks.asking import Answer, Case


def lazy_answers(
    cases: Sequence[Case], expected: Sequence[Answer], public: Sequence[Answer]
) -> Iterator[tuple[str, list[Answer]]]:
    """Lazy answers to `cases`, as (what, one for each case): constants, noise, an input, the public answers.

    `expected` gives the shapes; `public` are the right answers to the inputs that every student has.
    """
    random = np.random.default_rng(0)
    everything = np.concatenate([a.ravel() for answer in expected for a in answer.arrays.values()])
    finite = everything[np.isfinite(everything)]
    mean = finite.mean() if finite.size else 0.0

    def fill(make: Callable[[np.ndarray, Case], np.ndarray]) -> list[Answer]:
        """Answers of the right shapes and types, made from (expected array, case)."""
        return [
            Answer({part: make(want, case).astype(want.dtype) for part, want in answer.arrays.items()})
            for answer, case in zip(expected, cases, strict=True)
        ]

    def resized(name: str) -> list[Answer]:
        return fill(lambda want, case: np.resize(case[name], want.shape))

    yield "zeros", fill(lambda want, case: np.zeros(want.shape))
    yield "ones", fill(lambda want, case: np.ones(want.shape))
    yield "the mean", fill(lambda want, case: np.full(want.shape, mean))
    yield "noise", fill(lambda want, case: random.standard_normal(want.shape) * 3)
    yield "the public answers", list(public)
    for name in cases[0]:
        arrays = [case[name] for case in cases if isinstance(case.get(name), np.ndarray)]
        if len(arrays) == len(cases):
            yield f"the input {name}", [Answer({"": array}) for array in arrays]
            yield f"{name}, resized", resized(name)
