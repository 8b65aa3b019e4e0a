"""Which objective teaches a small encoder more about sentences, classification or ranking, and how many pairs does it need?

A small encoder before training, centred, and trained on pairs of sentences by label, by rank (on 24 to 192 hypotheses)
and by rank with hard negatives (notebook 11, part 6): Spearman's correlation with the grades of the test pairs, and the
share of hypotheses whose nearest premise is the one that entails them. Writes `data/results/sentences.csv` (about three
minutes).
"""

import torch

from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

OBJECTIVES = {"by label": "by_label", "by rank": "by_rank", "by rank, hard negatives": "by_rank_hard"}
TRAINED = [
    ("by label", 192),
    *(("by rank", pairs) for pairs in (24, 48, 96, 192)),
    ("by rank, hard negatives", 192),
]
CENTRED = "before training, centred"


def scores(names: dict, encoder, centred: bool) -> dict[str, float]:
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


def _steps(options: Options) -> Steps:
    names = names_of("11_sentences")

    def measure(seed: int, objective: str, pairs: int) -> list[dict]:
        if pairs:
            encoder, _ = names["train"](names[OBJECTIVES[objective]], seed, pairs)
        else:
            torch.manual_seed(seed)
            encoder = names["SentenceEncoder"]()
        found = scores(names, encoder, objective == CENTRED)
        return [{"measure": name, "value": value} for name, value in found.items()]

    untrained = [("before training", 0), (CENTRED, 0)]
    runs = [
        {"seed": seed, "objective": objective, "pairs": pairs}
        for settings in (untrained, TRAINED)
        for seed in options.seeds
        for objective, pairs in settings
    ]
    yield Step("sentences", runs, measure)


EXPERIMENT = Experiment(_steps, seeds=range(5))
