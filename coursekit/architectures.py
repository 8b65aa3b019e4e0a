"""The architecture table of the course, with the measurements of notebooks 04 to 12.

    keep_measured("ELMo", "05", derivatives, {64: 1.7, 4096: 140.0})   # in the notebook that measures
    display(carried())                                                 # in 12: all rows

Rows are stored with the student's progress, next to those of the scoreboard. Where a notebook has not been run, the table
shows the recorded value and says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from autograder.checks import journal
from coursekit.datasets import read_table
from coursekit.derivatives import influence
from coursekit.timing import milliseconds

DERIVATIVE = "first word's derivative, 64 words over 2"
TIME = "time, 4,096 words over 64"
SOURCE = "source"
SHORT, LONG = 64, 4096
_PREFIX = "architecture: "


Model = Callable[[Float[Tensor, "N T D"]], Float[Tensor, "N T M"]]
"""It processes a batch of sentences that do not affect one another."""


@dataclass(frozen=True)
class Measured:
    """Context, reach and cost of a model that maps the vectors of T words to T states.

    seen           for each word of a sentence, whether it influences the state of the word in the middle
    derivatives    for several draws of words, the influence of the first word on the last state after 64 words over that after 2
    ms             the time for 64 and for 4,096 words
    """

    seen: Bool[np.ndarray, " T"]
    derivatives: list[float]
    ms: dict[int, float]


def measure(
    model: Model, sentence: Float[Tensor, "T D"], vectors: Float[Tensor, "V D"], draws: int = 8
) -> Measured:
    """Measure a model on a sentence, and on random words with these vectors."""

    def random_words(T: int, seed: int) -> Float[Tensor, "T D"]:
        return vectors[torch.randint(len(vectors), (T,), generator=torch.Generator().manual_seed(seed))]

    def of_first_word(T: int, seed: int) -> Tensor:
        return influence(lambda x: model(x)[:, -1:], random_words(T, seed))[0, 0]

    middle = len(sentence) // 2
    seen = (influence(lambda x: model(x)[:, middle : middle + 1], sentence)[0] > 0).numpy()
    derivatives = [(of_first_word(SHORT, seed) / of_first_word(2, seed)).item() for seed in range(draws)]
    with torch.no_grad():
        ms = {}
        for T, repeats in ((SHORT, 5), (LONG, 1)):
            noise = random_words(T, 0)[None]
            ms[T] = milliseconds(lambda noise=noise: model(noise), repeats)
    return Measured(seen, derivatives, ms)


def measured_columns(
    models: Mapping[str, Model], notebook: str, sentence: Float[Tensor, "T D"], vectors: Float[Tensor, "V D"]
) -> dict[str, Measured]:
    """Measure some models, as in `measure`, and store their rows."""
    columns = {name: measure(model, sentence, vectors) for name, model in models.items()}
    for name, column in columns.items():
        keep_measured(name, notebook, column.derivatives, column.ms)
    return columns


def keep_measured(
    architecture: str, notebook: str, derivatives: Sequence[float], ms: Mapping[int, float] | None = None
) -> None:
    """Store a row, or replace it.

    `derivatives`: for several draws, the size of the derivative of the last of 64 words with respect to the first,
    divided by that for 2 words. `ms`: the times for 64 and for 4,096 words. Raises ValueError for values that are not above 0,
    because the table contains ratios.
    """
    drawn = np.asarray(derivatives, dtype=float)
    times = [] if ms is None else [ms[SHORT], ms[LONG]]
    if not drawn.size or not all(np.isfinite(value) and value > 0 for value in (*drawn, *times)):
        raise ValueError(f"keep_measured({architecture!r}): derivatives and times must be above 0.")
    row = {
        "place": 0,  # the scoreboard numbers its own rows from 1
        "notebook": notebook,
        "draws": drawn.tolist(),
        "growth": times[1] / times[0] if times else None,
    }
    journal.save("scoreboard", _PREFIX + architecture, row)


def rows_of_progress() -> dict[str, dict]:
    """The rows that notebooks on this machine have stored, by architecture."""
    rows = journal.read()["scoreboard"]
    return {name.removeprefix(_PREFIX): row for name, row in rows.items() if name.startswith(_PREFIX)}


def recorded_rows() -> dict[str, dict]:
    """The recorded rows by architecture, in the order of the notebooks; `draws` contains the derivatives as passed to `keep_measured`."""
    rows = read_table("results/architectures.csv").set_index("architecture").to_dict("index")
    return {
        name: row | {"draws": [float(draw) for draw in row["draws"].split()]} for name, row in rows.items()
    }


def carried() -> pd.DataFrame:
    """The table, with your own values for each architecture, or otherwise the recorded ones (`python -m experiments architectures`).

    The derivative is the geometric mean of the draws, with the smallest and the largest draw. Times have one significant digit,
    because they differ by up to a factor of three from run to run.
    """
    own, recorded = rows_of_progress(), recorded_rows()
    lines = {}
    for name in dict.fromkeys([*recorded, *own]):
        row = own[name] if name in own else recorded[name]
        draws, who = row["draws"], "measured by you" if name in own else "recorded"
        lines[name] = {
            DERIVATIVE: f"{np.exp(np.log(draws).mean()):.2g} ({min(draws):.1g} to {max(draws):.1g})",
            TIME: "not measured" if pd.isna(row["growth"]) else _rounded(row["growth"]),
            SOURCE: f"{who}, in {row['notebook']}",
        }
    return pd.DataFrame(lines).T.rename_axis("architecture")


def _rounded(times: float) -> str:
    """A factor, rounded to one significant digit."""
    return f"× {float(f'{times:.1g}'):,.0f}"
