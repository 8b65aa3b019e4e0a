"""The experiment on scaling makes only what its tables lack, and the same run gives the same result."""

from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from experiments import scaling
from experiments.harness import Experiment, Options, record

LITTLE = partial(scaling.steps, dims=(8, 16), lengths=(4,), rates=(0.01, 0.03), rate_steps=3)


def made(folder: Path) -> list[str]:
    """Record a small grid into a folder; the lines about single runs."""
    lines = record(Experiment(LITTLE, seeds=(0, 1)), Options(results=folder, checkpoints=folder))
    return [line for line in lines if "runs" not in line]


@pytest.mark.slow
def test_recorded_runs_are_kept_and_a_missing_one_is_made_again(tmp_path):
    assert len(made(tmp_path)) == 8
    runs, rates = pd.read_csv(tmp_path / "scaling.csv"), pd.read_csv(tmp_path / "scaling_rates.csv")
    assert len(runs) == 4 and len(rates) == 4
    best = rates.loc[rates.groupby("dim")["loss"].idxmin()].set_index("dim")["rate"]
    assert (runs["rate"] == runs["dim"].map(best)).all()
    runs.drop(index=2).to_csv(tmp_path / "scaling.csv", index=False)
    assert len(made(tmp_path)) == 1
    again = pd.read_csv(tmp_path / "scaling.csv")
    pd.testing.assert_frame_equal(
        again.drop(columns="CPU seconds"), runs.drop(columns="CPU seconds"), rtol=1e-4
    )
