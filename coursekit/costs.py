"""What recurrence and attention cost: times on this machine, and counted operations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.architectures import LONG, SHORT, keep_measured
from coursekit.timing import milliseconds


@dataclass(frozen=True)
class Costs:
    """Times for T words of size `width`, in milliseconds.

    time          of the recurrence and of attention, for each of the sizes
    slope         their slopes on logarithmic axes, over the four largest sizes
    crossing      the T at which attention takes as long as the recurrence
    one_by_one    the time of 4,096 products of a vector and a matrix
    at_once       the time of the same products as one product of matrices
    """

    sizes: Sequence[int]
    width: int
    time: dict[str, list[float]]
    slope: dict[str, float]
    crossing: float
    one_by_one: float
    at_once: float


@torch.no_grad()
def measure_costs(
    recurrent_step: Callable[..., Float[Tensor, "B H"]], sizes: Sequence[int], width: int
) -> Costs:
    """Time the student's recurrent step in a loop, and one attention operation with its four projections over all words."""
    W, b = torch.randn(width, width) / width**0.5, torch.zeros(width)
    words = {T: torch.randn(T, width) for T in sizes}

    def recur(x: Float[Tensor, "T D"]) -> None:
        h = torch.zeros(1, W.shape[0])
        for word in x.split(1):
            h = recurrent_step(word, h, W, W, b)

    def attend_all(x: Float[Tensor, "T D"]) -> Tensor:
        q, k, v = x @ W, x @ W, x @ W
        return torch.softmax(q @ k.T / x.shape[1] ** 0.5, dim=-1) @ v @ W

    time = {
        "recurrence": [milliseconds(lambda T=T: recur(words[T]), 3) for T in sizes],
        "attention": [milliseconds(lambda T=T: attend_all(words[T])) for T in sizes],
    }
    slope = {name: np.polyfit(np.log(sizes[-4:]), np.log(values[-4:]), 1)[0] for name, values in time.items()}
    longest = words[sizes[-1]]
    return Costs(
        sizes,
        width,
        time,
        slope,
        meeting_point(sizes, time["recurrence"], time["attention"]),
        milliseconds(lambda: [word @ W for word in longest.split(1)], 3),
        milliseconds(lambda: longest @ W),
    )


def meeting_point(sizes: Sequence[int], first: Sequence[float], second: Sequence[float]) -> float:
    """The size at which two measured lines meet on logarithmic axes; if need be, extrapolated from the last two sizes."""
    x, gap = np.log(sizes), np.log(first) - np.log(second)
    last = min(int(np.flatnonzero(gap > 0).max(initial=0)), len(x) - 2)
    step = (gap[last + 1] - gap[last]) / (x[last + 1] - x[last])
    return float(np.exp(x[last] - gap[last] / step))


def keep_untrained(reach: dict[str, Float[np.ndarray, "seed length"]], costs: Costs) -> None:
    """Store the rows of three untrained architectures: the derivatives for 64 words over those for 2, and their times."""
    for name, way in {"plain recurrence": "recurrence", "LSTM": None, "attention": "attention"}.items():
        ms = {T: costs.time[way][costs.sizes.index(T)] for T in (SHORT, LONG)} if way else None
        keep_measured(f"{name}, untrained", "04", reach[name][:, -1] / reach[name][:, 0], ms)


def count_operations(costs: Costs) -> pd.DataFrame:
    """Multiply-adds per layer, times, sequential steps and stored numbers of attention and recurrence, for some numbers of words T.

    Attention needs 2T²D + 4TD², with the feed-forward network 8TD² more; a plain network 2TD², an LSTM 8TD².
    """
    width = costs.width
    columns = {}
    for at, T in enumerate(costs.sizes):
        if T not in (16, 64, 256, 1024, 4096):
            continue
        words, weights = 2 * T * T * width, T * width**2
        columns[T] = {
            "operations: attention / plain network": f"{(words + 4 * weights) / (2 * weights):.2f}",
            "operations: attention / LSTM": f"{(words + 4 * weights) / (8 * weights):.2f}",
            "operations: transformer layer with feed-forward network / LSTM": f"{(words + 12 * weights) / (8 * weights):.2f}",
            "time: attention / plain network": f"{costs.time['attention'][at] / costs.time['recurrence'][at]:.2g}",
            "sequential steps: attention, recurrence": f"1 and {T:,}",
            "stored numbers: attention weights, recurrent state": f"{T * T:,} and {width}",
        }
    return pd.DataFrame(columns).rename_axis(columns=f"words T (D = {width})")
