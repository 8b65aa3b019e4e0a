"""Record data/results/skip_gram.csv: notebook 01, part 4, skip-gram with vectors of several lengths (two minutes).

    python tools/record_skip_gram.py

A row is one training: how well its scores agree with the best possible ones on all pairs that occur five times or more,
and how far its loss lies above the best possible (mean of the last hundred steps). The notebook's own cells are run.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.language import SPECIAL_TOKENS, load_language

TABLE = Path(__file__).parents[1] / "data/results/skip_gram.csv"
SETTINGS = ((10, 1500), (50, 500), (50, 1500), (200, 1500))
SEEDS = range(1, 4)


def main() -> None:
    torch.set_num_threads(1)  # matrices this small are slower with more
    names, language, rows = (
        names_of("01_static_embeddings", SPECIAL_TOKENS=SPECIAL_TOKENS, dataclass=dataclass),
        load_language(),
        [],
    )
    V = len(language.vocabulary)
    corpus = language.sample(20_000, np.random.default_rng(0), split="train")
    counts = names["count_pairs"](*names["pairs_within"](corpus.ids), V)
    best_loss, best_scores = names["best_possible"](counts)
    frequent = counts >= 5
    for seed in SEEDS:
        for D, steps in SETTINGS:
            model = names["train_skip_gram"](corpus.ids, V, D=D, steps=steps, seed=seed)
            scores = (model.word @ model.context.T)[frequent]
            agreement = np.corrcoef(best_scores[frequent], scores)[0, 1]
            above = np.mean(model.losses[-100:]) - best_loss
            rows.append(
                {
                    "D": D,
                    "steps": steps,
                    "seed": seed,
                    "agreement": round(agreement, 4),
                    "above": round(above, 4),
                }
            )
            print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
