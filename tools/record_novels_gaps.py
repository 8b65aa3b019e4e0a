"""Record data/results/novels_gaps.csv: who fills which gap of novels by authors that no training saw (two minutes).

    python tools/record_novels_gaps.py --corpus FOLDER

FOLDER has the novels' `books.csv` and `raw` (data/novels/README.md). For the 1,000 gaps of the cards in data/models: how many words each
reader holds for more probable than the right one. All are asked for the same words, so readers can be compared gap by gap.
ELMos and BERTs of other seeds get a column each where `--to` has their whole runs (`python -m coursekit.pretrain novels-bert --seeds 1 …`).
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
    for called, name, measure in (("BERT", "novels-bert", of_bert), ("ELMo", "novels-elmo", of_elmo)):
        for seed in SEEDS:
            recipe = NOVELS[name]
            if pretrain.read_progress(checkpoints, name, seed, recipe.steps).done == recipe.steps:
                model = pretrain.load_trained(name, seed, recipe, corpus, checkpoints)
                found[f"{called}, seed {seed}"] = measure(model)
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
    torch.set_num_threads(1)
    print("This takes some minutes.", flush=True)
    corpus = prepare(arguments.corpus, arguments.to / "corpus")
    ranks(corpus, arguments.to).to_csv(ROOT / "data" / "results" / "novels_gaps.csv", index=False)


if __name__ == "__main__":
    main()
