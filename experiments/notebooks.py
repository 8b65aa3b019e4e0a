"""What a notebook defines, so that an experiment measures with the same code that the notebook shows."""

from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from autograder.source import code_cells, grade_id, is_demo, read_source
from coursekit.language import SPECIAL_TOKENS
from experiments.harness import ROOT


def names_of(notebook: str, **names: Any) -> dict[str, Any]:
    """The names that a notebook, such as "05_elmo", defines in its solution cells and in the cells tagged "record".

    `names` are defined beforehand: what these cells use of cells that are not run. Predictions are not asked for.
    """
    names = {
        "np": np,
        "pd": pd,
        "dataclass": dataclass,
        "replace": replace,
        "SPECIAL_TOKENS": SPECIAL_TOKENS,
    } | names
    for cell in code_cells(read_source(ROOT / "solutions" / notebook / f"{notebook}.py")):
        recorded = "record" in cell.metadata.get("tags", [])
        asks = grade_id(cell).endswith("-check") or cell.source.startswith("predict(")
        if recorded or not (is_demo(cell) or asks):
            with redirect_stdout(StringIO()):  # what the notebook prints is for its readers
                exec(cell.source, names)
    return names
