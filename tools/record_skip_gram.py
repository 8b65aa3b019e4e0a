"""Record data/results/skip_gram*.csv: notebook 01, skip-gram with vectors of several lengths, and its exam (three minutes).

    python tools/record_skip_gram.py            # both; "lengths" (part 4) or "exam" (part 7) behind it: one of them

A row of the first is one training: how well its scores agree with the best possible ones on all pairs that occur five times or more,
and how far its loss lies above the best possible (mean of the last hundred steps). A row of the second
is what the vectors of one training answer in the scoreboard's exam, as f(w) or averaged over other words. The notebook's own cells are run.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.language import SPECIAL_TOKENS, Language, Sentences, load_language

RESULTS = Path(__file__).parents[1] / "data/results"
SETTINGS = ((10, 1500), (50, 500), (50, 1500), (200, 1500))
SEEDS, EXAM_SEEDS = range(1, 4), range(3)


def lengths(names: dict, language: Language, corpus: Sentences) -> None:
    rows, V = [], len(language.vocabulary)
    counts = names["count_pairs"](*names["pairs_within"](corpus.ids), V)
    best_loss, best_scores = names["best_possible"](counts)
    frequent = counts >= 5
    for seed in SEEDS:
        for D, steps in SETTINGS:
            model = names["train_skip_gram"](corpus.ids, V, D=D, steps=steps, seed=seed)
            scores = (model.word @ model.context.T)[frequent]
            agreement = np.corrcoef(best_scores[frequent], scores)[0, 1]
            above = np.mean(model.losses[-100:]) - best_loss
            row = {"D": D, "steps": steps, "seed": seed}
            rows.append(row | {"agreement": round(agreement, 4), "above": round(above, 4)})
            print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(RESULTS / "skip_gram.csv", index=False)


def exam(names: dict, language: Language, corpus: Sentences) -> None:
    rows = []
    for seed in EXAM_SEEDS:
        model = names["train_skip_gram"](corpus.ids, len(language.vocabulary), seed=seed)
        for name, found in names["exam_of"](model.word).items():
            shares = {kind: round(found[kind], 4) for kind in names["QUESTIONS"]}
            rows.append({"model": name, "seed": seed, **shares})
            print(*rows[-1].values(), flush=True)
    pd.DataFrame(rows).to_csv(RESULTS / "skip_gram_exam.csv", index=False)


TABLES = {"lengths": lengths, "exam": exam}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{' or '.join(TABLES)} (default: both)")
    chosen = parser.parse_args().tables or list(TABLES)
    if unknown := set(chosen) - set(TABLES):
        parser.error(f"{min(unknown)!r} is no table; there are {', '.join(TABLES)}")
    torch.set_num_threads(1)  # matrices this small are slower with more
    names = names_of("01_static_embeddings", SPECIAL_TOKENS=SPECIAL_TOKENS, dataclass=dataclass)
    language = load_language()
    corpus = language.sample(20_000, np.random.default_rng(0), split="train")
    for table in chosen:
        TABLES[table](names, language, corpus)


if __name__ == "__main__":
    main()
