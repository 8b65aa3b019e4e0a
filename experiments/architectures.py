"""How far back does each architecture remember, and how does its running time grow with the text?

Runs the solutions of notebooks 04 to 07 and keeps the rows of their architecture table: the derivative of the last of 64
words with respect to the first, relative to that for 2 words, for several draws of words; and how many times longer
4,096 words take than 64. Writes `data/results/architectures.csv` (a few minutes).
"""

import json
import os
import tempfile
from pathlib import Path

from nbclient import NotebookClient

from autograder.source import read_source
from experiments.harness import ROOT, Experiment, ExperimentError, Options, Step, Steps, grid

NOTEBOOKS = {"04": "04_recurrence", "05": "05_elmo", "06": "06_bert", "07": "07_gpt"}


def scoreboard(name: str) -> dict[str, dict]:
    """The rows that a solution adds to the scoreboard when it is run from the beginning."""
    notebook = read_source(ROOT / "solutions" / name / f"{name}.py")
    before = os.environ.get("AUTOGRADER_HOME")
    with tempfile.TemporaryDirectory() as home:
        os.environ["AUTOGRADER_HOME"] = home
        try:
            resources = {"metadata": {"path": str(ROOT / "notebooks")}}
            NotebookClient(notebook, timeout=900, resources=resources).execute()
        finally:
            del os.environ["AUTOGRADER_HOME"]
            os.environ.update({} if before is None else {"AUTOGRADER_HOME": before})
        courses = json.loads((Path(home) / "progress.json").read_text(encoding="utf-8"))["courses"]
    return {model: row for course in courses.values() for model, row in course["scoreboard"].items()}


def measure(notebook: str) -> list[dict]:
    """One row per architecture of a notebook; its numbers have four significant digits."""
    rows = {model: row for model, row in scoreboard(NOTEBOOKS[notebook]).items() if "draws" in row}
    if not rows:
        raise ExperimentError(
            f"{NOTEBOOKS[notebook]} adds no row to the table: it does not call keep_measured."
        )
    return [
        {
            "architecture": model.removeprefix("architecture: "),
            "notebook": notebook,
            "draws": " ".join(f"{draw:.4g}" for draw in row["draws"]),
            "growth": "" if row["growth"] is None else f"{row['growth']:.4g}",
        }
        for model, row in rows.items()
    ]


def _steps(options: Options) -> Steps:
    yield Step("architectures", grid(notebook=NOTEBOOKS), measure)


EXPERIMENT = Experiment(_steps)
