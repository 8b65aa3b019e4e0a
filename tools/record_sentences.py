"""Record data/results/sentences.csv: notebook 11, part 6, both objectives over five seeds (about three minutes on one core).

    python tools/record_sentences.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of
from rich.progress import track

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/results/sentences.csv"
SEEDS = range(5)
RUNS = (
    ("by label", "by_label", 192),
    ("by rank", "by_rank", 24),
    ("by rank", "by_rank", 48),
    ("by rank", "by_rank", 96),
    ("by rank", "by_rank", 192),
    ("by rank, hard negatives", "by_rank_hard", 192),
)


def measures(names: dict, encoder, centred: bool) -> dict[str, float]:
    """Spearman on the test pairs, and the share of hypotheses nearest to the premise that entails them."""
    exam = names["pairs"][names["pairs"].split == "test"]
    premises, hypotheses = encoder.encode(exam.premise), encoder.encode(exam.hypothesis)
    if centred:
        learned = names["of_training"]
        mean = encoder.encode([*learned.premise, *learned.hypothesis[::3]]).mean(dim=0)
        premises, hypotheses = premises - mean, hypotheses - mean
    grades = torch.tensor(exam.similarity.values)
    own, asked = premises[names["ENTAILMENT"] :: 3], hypotheses[::3]
    nearest = torch.cosine_similarity(asked[:, None], own[None], dim=-1).argmax(dim=1)
    return {
        "Spearman, test": float(names["spearman"](torch.cosine_similarity(premises, hypotheses), grades)),
        "own premise nearest, test": float((nearest == torch.arange(len(asked))).float().mean()),
    }


def main() -> None:
    torch.set_num_threads(1)
    names, rows = names_of("11_sentences", np=np, pd=pd), []

    def record(seed: int, objective: str, pairs: int, found: dict[str, float]) -> None:
        for measure, value in found.items():
            rows.append(
                {
                    "seed": seed,
                    "objective": objective,
                    "pairs": pairs,
                    "measure": measure,
                    "value": round(value, 4),
                }
            )

    for seed in SEEDS:
        torch.manual_seed(seed)
        before = names["SentenceEncoder"]()
        record(seed, "before training", 0, measures(names, before, centred=False))
        record(seed, "before training, centred", 0, measures(names, before, centred=True))
    for seed, (objective, loss, pairs) in track(
        [(s, run) for s in SEEDS for run in RUNS], description="training"
    ):
        encoder, _ = names["train"](names[loss], seed, pairs)
        record(seed, objective, pairs, measures(names, encoder, centred=False))
    pd.DataFrame(rows).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
