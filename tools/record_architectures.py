"""Record data/results/architectures.csv: what 04 to 07 measure of each architecture, for who has not run them.

python tools/record_architectures.py    # runs the four solutions; some minutes on one core
"""

import csv
import json
import os
import tempfile
from pathlib import Path

from nbclient import NotebookClient

from autograder.source import read_source

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/results/architectures.csv"
NOTEBOOKS = ("04_recurrence", "05_elmo", "06_bert", "07_gpt")
COLUMNS = ("notebook", "draws", "growth")


def kept_by(name: str) -> dict[str, dict]:
    """The rows that a solution keeps when it is run from the beginning."""
    notebook = read_source(ROOT / "solutions" / name / f"{name}.py")
    with tempfile.TemporaryDirectory() as home:
        os.environ["AUTOGRADER_HOME"] = home
        NotebookClient(
            notebook, timeout=900, resources={"metadata": {"path": str(ROOT / "notebooks")}}
        ).execute()
        parts = json.loads((Path(home) / "progress.json").read_text(encoding="utf-8"))["courses"]
    rows = {model: row for part in parts.values() for model, row in part["scoreboard"].items()}
    return {model: row for model, row in rows.items() if "draws" in row}


def main() -> None:
    lines = []
    for name in NOTEBOOKS:
        rows = kept_by(name)
        if not rows:
            raise SystemExit(f"{name} keeps no row of the table: it calls no keep_measured.")
        for model, row in rows.items():
            draws = " ".join(f"{draw:.4g}" for draw in row["draws"])
            growth = "" if row["growth"] is None else f"{row['growth']:.4g}"
            lines.append([model.removeprefix("architecture: "), row["notebook"], draws, growth])
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["architecture", *COLUMNS], *lines])


if __name__ == "__main__":
    main()
