"""Which model fills the gaps in novels by authors it never read, and how much do seeds differ?

For the 1,000 gaps of the cards in data/models (notebook 06, *Further: fill gaps of English*): how many words each model
considers more probable than the right one, so that models can be compared gap by gap. BERTs and ELMos of other seeds, of
which the folder of checkpoints must have a finished run (`python -m coursekit.pretrain novels-bert --seeds 1 …`), get a
column each, and their curves; the curves of the shipped models are in data/models. Writes `data/results/novels_gaps.csv`
and `data/results/novels_curves.csv` (two minutes).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from coursekit import pretrain
from coursekit.models.catalogue import MINILM
from coursekit.models.learned_head import load_with_head
from coursekit.novels import figures, record
from coursekit.novels.corpus import prepare
from coursekit.novels.recipes import NOVELS, spelling_of
from coursekit.novels.shipped import load_bert, load_elmo
from experiments.harness import Experiment, ExperimentError, Options, Step, Steps, grid

NAMES = {"BERT": "novels-bert", "ELMo": "novels-elmo"}


def finished(checkpoints: Path, seeds: list[int]) -> list[tuple[str, int]]:
    """The finished runs of other seeds than that of the shipped models."""

    def whole(name: str, seed: int) -> bool:
        steps = NOVELS[name].steps
        return pretrain.read_progress(checkpoints, name, seed, steps).done == steps

    return [(model, seed) for model, name in NAMES.items() for seed in seeds if whole(name, seed)]


def _steps(options: Options) -> Steps:
    others = finished(options.checkpoints, list(options.seeds))
    if not others and not any(", seed " in column for column in options.read("novels_gaps").columns):
        raise ExperimentError(
            f"{options.checkpoints} has no finished run of another seed, which notebook 06 shows: python -m "
            "coursekit.pretrain novels-bert --corpus FOLDER --vocabulary tokenizer.json --seeds 1"
        )
    corpus = prepare(options.corpus, options.checkpoints / "corpus")
    gaps = cache(lambda: record.gaps_of(corpus))
    counts = cache(lambda order: record.counts_of_words(corpus, order))

    def of_elmo(model: torch.nn.Module) -> figures.Found:
        log_p = counts(1).log_p(np.arange(load_elmo()[0].config.vocabulary))
        return figures.gaps_of_elmo(model, spelling_of(corpus), corpus, "test", gaps(), log_p)["both"]

    def of_bert(model: torch.nn.Module) -> figures.Found:
        return figures.gaps_of_bert(model, corpus, "test", gaps())

    def of_minilm() -> figures.Found:
        tokenizer = AutoTokenizer.from_pretrained(MINILM.package.folder())
        return figures.gaps_of_minilm(load_with_head(), tokenizer, corpus, "test", gaps())

    def of_seed(model: str, seed: int) -> figures.Found:
        name = NAMES[model]
        trained = pretrain.load_trained(name, seed, NOVELS[name], corpus, options.checkpoints)
        return (of_bert if model == "BERT" else of_elmo)(trained)

    models: dict[str, Callable[[], figures.Found]] = {
        "MiniLM with the new head": of_minilm,
        "BERT": lambda: of_bert(load_bert()[0]),
        "ELMo": lambda: of_elmo(load_elmo()[0]),
        "5-grams": lambda: figures.gaps_of_counts(counts(5), corpus, "test", gaps()),
        "unigrams": lambda: figures.gaps_of_counts(counts(1), corpus, "test", gaps()),
    }
    models |= {f"{model}, seed {seed}": lambda of=(model, seed): of_seed(*of) for model, seed in others}

    @torch.no_grad()
    def ranks(model: str) -> np.ndarray:
        """Of the right word of each gap: 0 where the first guess is right."""
        return models[model]()[0]

    def curve(model: str, seed: int) -> list[dict]:
        points = pretrain.read_curve(options.checkpoints, NAMES[model], seed)
        return [
            {"step": step, "training": trained, "validation": held_out} for step, trained, held_out in points
        ]

    yield Step("novels_gaps", grid(model=models), ranks, wide=True)
    yield Step("novels_curves", [{"model": model, "seed": seed} for model, seed in others], curve)


EXPERIMENT = Experiment(_steps, seeds=(1, 2), novels=True)
