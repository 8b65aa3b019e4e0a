"""Record data/results/cross_mask.csv: notebook 04, part 11, translators trained with a wrong cross mask and with the right one.

    python tools/record_cross_mask.py    # three seeds, five minutes of one core

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

TABLE = Path(__file__).parents[1] / "data/results/cross_mask.csv"
SEEDS, STEPS = range(3), (80, 400, 800)


def main() -> None:
    torch.set_num_threads(1)
    names = names_of("04_recurrence", np=np, pd=pd, replace=replace)
    rows = []
    for steps in STEPS:
        for mask in names["masks"]:
            for seed in SEEDS:
                found = names["trained_with"](mask, steps, seed)
                rows.append(
                    {"steps": steps, "mask": mask, "seed": seed} | {k: round(v, 4) for k, v in found.items()}
                )
                print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
