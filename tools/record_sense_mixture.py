"""Record data/results/01_sense_mixture.csv: notebook 01, part 6, over five seeds (about a minute).

    python tools/record_sense_mixture.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from autograder.source import code_cells, grade_id, is_demo, read_source
from coursekit.language import load_language

ROOT = Path(__file__).parents[1]
SEEDS = range(1, 6)  # the notebook itself uses 0
MEASURES = (
    "weighted by frequency",
    "plain average",
    "best weights",
    "senses of other words",
    "random words",
    "among the senses",
)


def notebook_functions() -> dict:
    """The names that the notebook defines in its solution cells and in the cells tagged "record"."""
    names: dict = {}
    exec("from coursekit.language import SPECIAL_TOKENS", names)
    for cell in code_cells(read_source(ROOT / "solutions/01_static_embeddings/01_static_embeddings.py")):
        wanted = "record" in cell.metadata.get("tags", []) or not (
            is_demo(cell) or grade_id(cell).endswith("-check")
        )
        if wanted and not cell.source.startswith("predict("):
            exec(cell.source, names)
    return names


def main() -> None:
    measure, language, rows = notebook_functions()["measure_mixtures"], load_language(), []
    for seed in SEEDS:
        words = measure(language, seed)
        frequency, weights = (
            np.concatenate([word[name] for word in words]) for name in ("frequency", "weights")
        )
        found = {name: np.mean([word[name] for word in words]) for name in MEASURES}
        found |= {
            "slope": np.polyfit(frequency, weights, 1)[0],
            "correlation": np.corrcoef(frequency, weights)[0, 1],
        }
        rows += [
            {"seed": seed, "measure": name, "value": round(float(value), 4)} for name, value in found.items()
        ]
        print(seed, {name: round(float(value), 3) for name, value in found.items()}, flush=True)
    pd.DataFrame(rows).to_csv(ROOT / "data/results/01_sense_mixture.csv", index=False)


if __name__ == "__main__":
    main()
