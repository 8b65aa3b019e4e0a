"""The command that records the scaling table goes on where it stopped, and makes the same of the same seed."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
LITTLE = "--dims 8 16 --steps 4 --seeds 0 1 --rates 0.01 0.03 --rate-steps 3".split()


def record(folder: Path) -> str:
    """Record a small grid into a folder; what is said of it."""
    places = ["--table", folder / "runs.csv", "--rates-table", folder / "rates.csv", "--to", folder / "runs"]
    command = [sys.executable, "tools/record_scaling.py", *LITTLE, *map(str, places)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_what_is_there_is_kept_and_what_is_missing_comes_out_as_before(tmp_path):
    said = record(tmp_path)
    runs, rates = pd.read_csv(tmp_path / "runs.csv"), pd.read_csv(tmp_path / "rates.csv")
    assert len(runs) == 4 and len(rates) == 4 and said.count("left:") == 8
    best = rates.loc[rates.groupby("dim")["loss"].idxmin()].set_index("dim")["rate"]
    assert (runs["rate"] == runs["dim"].map(best)).all()
    runs.drop(index=2).to_csv(tmp_path / "runs.csv", index=False)
    said = record(tmp_path)
    assert said.count("left:") == 1
    again = pd.read_csv(tmp_path / "runs.csv")
    pd.testing.assert_frame_equal(
        again.drop(columns="CPU seconds"), runs.drop(columns="CPU seconds"), rtol=1e-4
    )
