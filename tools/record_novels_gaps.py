"""Record data/results/novels_gaps.csv and novels_curves.csv: who fills which gap of novels by authors that no training saw (two minutes).

    python tools/record_novels_gaps.py --corpus FOLDER

FOLDER has the novels' `books.csv` and `raw` (data/novels/README.md). For the 1,000 gaps of the cards in data/models: how many words each
reader holds for more probable than the right one. All are asked for the same words, so readers can be compared gap by gap.
ELMos and BERTs of other seeds get a column each; `--to` must have the whole run of at least one (`python -m coursekit.pretrain novels-bert --seeds 1 …`);
the second table has their curves (those of the models that are shipped stand in data/models).
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import ROOT
from torch import nn
from transformers import AutoTokenizer

from coursekit import pretrain
from coursekit.models.catalogue import MINILM
from coursekit.models.learned_head import load_with_head
from coursekit.novels import figures, record
from coursekit.novels.corpus import Corpus, prepare
from coursekit.novels.recipes import NOVELS, spelling_of
from coursekit.novels.shipped import load_bert, load_elmo

SEEDS = 1, 2
"""Other ones than that of the models that are shipped."""
NAMES = {"BERT": "novels-bert", "ELMo": "novels-elmo"}


def others(checkpoints: Path) -> list[tuple[str, int]]:
    """Finished runs of other seeds."""

    def finished(name: str, seed: int) -> bool:
        steps = NOVELS[name].steps
        return pretrain.read_progress(checkpoints, name, seed, steps).done == steps

    return [(called, seed) for called, name in NAMES.items() for seed in SEEDS if finished(name, seed)]


def curves(checkpoints: Path) -> pd.DataFrame:
    """A line for each block of batches of each of these runs."""
    lines = [
        {"model": called, "seed": seed, "step": step, "training": training, "validation": validation}
        for called, seed in others(checkpoints)
        for step, training, validation in pretrain.read_curve(checkpoints, NAMES[called], seed)
    ]
    return pd.DataFrame(lines).round(4)


@torch.no_grad()
def ranks(corpus: Corpus, checkpoints: Path) -> pd.DataFrame:
    """A row for each gap, a column for each reader: 0 where its first guess is right."""
    gaps, unigrams = record.gaps_of(corpus), record.counts_of_words(corpus, 1)
    (elmo, _), (bert, _) = load_elmo(), load_bert()
    tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())
    log_p = unigrams.log_p(np.arange(elmo.config.vocabulary))

    def of_elmo(model: nn.Module) -> figures.Found:
        return figures.gaps_of_elmo(model, spelling_of(corpus), corpus, "test", gaps, log_p)["both"]

    def of_bert(model: nn.Module) -> figures.Found:
        return figures.gaps_of_bert(model, corpus, "test", gaps)

    found = {
        "MiniLM with the new head": figures.gaps_of_minilm(load_with_head(), tokenizer, corpus, "test", gaps),
        "BERT": of_bert(bert),
        "ELMo": of_elmo(elmo),
        "5-grams": figures.gaps_of_counts(record.counts_of_words(corpus, 5), corpus, "test", gaps),
        "unigrams": figures.gaps_of_counts(unigrams, corpus, "test", gaps),
    }
    measures = {"BERT": of_bert, "ELMo": of_elmo}
    for called, seed in others(checkpoints):
        model = pretrain.load_trained(NAMES[called], seed, NOVELS[NAMES[called]], corpus, checkpoints)
        found[f"{called}, seed {seed}"] = measures[called](model)
    return pd.DataFrame({reader: of_gaps for reader, (of_gaps, _) in found.items()})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="the novels: books.csv and the folder raw")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("build/pretrain"),
        help="where the novels are kept as numbers, and checkpoints",
    )
    arguments = parser.parse_args()
    if not others(arguments.to):
        parser.error(
            f"{arguments.to} has no whole run of another seed, which 06 shows: python -m coursekit.pretrain novels-bert "
            "--corpus FOLDER --vocabulary tokenizer.json --seeds 1"
        )
    torch.set_num_threads(1)
    print("This takes some minutes.", flush=True)
    corpus = prepare(arguments.corpus, arguments.to / "corpus")
    results = ROOT / "data" / "results"
    ranks(corpus, arguments.to).to_csv(results / "novels_gaps.csv", index=False)
    curves(arguments.to).to_csv(results / "novels_curves.csv", index=False)


if __name__ == "__main__":
    main()
