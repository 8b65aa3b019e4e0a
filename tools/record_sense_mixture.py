"""Record data/results/01_sense_mixture.csv: notebook 01, part 6, over five seeds (about a minute).

    python tools/record_sense_mixture.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from notebook_names import names_of

from coursekit.language import SPECIAL_TOKENS, load_language

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


def main() -> None:
    names = names_of("01_static_embeddings", SPECIAL_TOKENS=SPECIAL_TOKENS, dataclass=dataclass)
    measure, language, rows = names["measure_mixtures"], load_language(), []
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
