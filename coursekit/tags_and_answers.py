"""Tags, spans and answers as numbers, for the checks of notebook 10."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

KINDS = ("PER", "LOC", "ORG", "MISC")
TAGS = ["O", *(f"{mark}-{kind}" for kind in KINDS for mark in "BI")]
"""O, B-PER, I-PER, B-LOC, and so on: the number of a tag is its index."""


def as_tags(rows: Int[Tensor, "n T"]) -> list[list[str]]:
    """Lists of tags from rows of tag numbers. Each row is padded with −1 after the end of its sentence."""
    return [[TAGS[i] for i in row if i >= 0] for row in rows.tolist()]


def in_numbers(spans: list[tuple[int, int, str]]) -> Int[Tensor, "spans 3"]:
    """Spans as rows of numbers for the check: begin, end, and the number of the type."""
    if unknown := [kind for *_, kind in spans if kind not in KINDS]:
        raise ValueError(
            f"bio_spans returned {unknown[0]!r} as a type; a type is one of "
            f"{', '.join(KINDS)}, without B- or I-."
        )
    return torch.tensor([(begin, end, KINDS.index(kind)) for begin, end, kind in spans])


def mark_all(case: dict[str, Any], mark: Callable) -> Float[Tensor, "questions 2"]:
    """Both scores for each answer. `accepted` lists the accepted answers to all questions; `counts` says how many each has."""
    accepted = iter(case["accepted"])
    answers = [[next(accepted) for _ in range(count)] for count in case["counts"].tolist()]
    marks = [torch.as_tensor(mark(*pair)) for pair in zip(case["said"], answers, strict=True)]
    return torch.stack(marks).double()
