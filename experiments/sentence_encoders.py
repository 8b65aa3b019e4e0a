"""What does pre-training contribute to a sentence encoder, and what do hard negatives?

The BERT of notebook 06 and the first three layers of MiniLM, before and after training on pairs of sentences by rank and
by label at several learning rates, with hard negatives at one rate, and the same architectures with new weights (notebook
11, *Further: from a pre-trained encoder*). The cosine of each test pair, the rank of the entailing premise for each
hypothesis, and the agreement with the validation pairs, which selects the rate. Writes
`data/results/sentence_encoders.csv` and `data/results/sentence_encoders_rates.csv` (about fifteen minutes).
"""

import pandas as pd
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from coursekit.models.catalogue import MINILM
from experiments.harness import Experiment, Options, Run, Step, Steps, grid
from experiments.notebooks import names_of

BERT, CUT = "small BERT", "MiniLM, 3 layers"
STEPS, EVERY = {BERT: 120, CUT: 16}, {BERT: 30, CUT: 16}
"""Training steps, and steps until negatives are mined again."""
UNTRAINED = ", untrained"  # after the name of an encoder: the same architecture with new weights
RATES = {
    BERT: (3e-4, 1e-3, 3e-3),
    CUT: (3e-5, 1e-4, 3e-4, 1e-3),
    BERT + UNTRAINED: (3e-4, 1e-3, 3e-3),
    CUT + UNTRAINED: (3e-5, 1e-4, 3e-4),
}
HARD_RATE = {BERT: 1e-3, CUT: 1e-4}
ENCODERS = {
    BERT: "SmallBERT", CUT: "CutMiniLM", BERT + UNTRAINED: "UntrainedBERT", CUT + UNTRAINED: "UntrainedCut"
}  # fmt: skip
OBJECTIVES = {"by label": "by_label", "by rank": "by_rank"}
HARD = {"by rank, contradictions": "by_rank_hard", "by rank, mined": "by_rank_mined"}


def runs_of(seeds: list[int]) -> list[Run]:
    """Runs with hard negatives, then those at several rates."""
    runs = [
        run
        for encoder, rate in HARD_RATE.items()
        for run in grid(encoder=[encoder], objective=HARD, rate=[rate], seed=seeds)
    ]
    for encoder, rates in RATES.items():
        runs += grid(encoder=[encoder], objective=["before"], rate=[0.0], seed=seeds)
        runs += grid(encoder=[encoder], objective=["by rank"], rate=rates, seed=seeds)
        if not encoder.endswith(UNTRAINED):
            runs += grid(encoder=[encoder], objective=["by label"], rate=rates, seed=seeds)
    return runs


def scores(names: dict, encoder) -> pd.DataFrame:
    """The cosine of each test pair, and the rank of the premise for the hypothesis of each entailed pair."""
    exam, own = names["pairs"][names["pairs"].split == "test"], names["ENTAILMENT"]
    premises, hypotheses = encoder.encode(exam.premise), encoder.encode(exam.hypothesis[::3])
    cosines = torch.cosine_similarity(premises, hypotheses.repeat_interleave(3, dim=0))
    all_cosines = torch.cosine_similarity(hypotheses[:, None], premises[None], dim=-1)  # 64 192
    rank = (all_cosines > cosines[own::3, None]).sum(dim=1) + 1
    table = pd.DataFrame({"id": exam.id.to_numpy(), "cosine": cosines.numpy()})
    table.loc[own::3, "place"] = rank.numpy()
    return table.assign(place=table["place"].astype("Int64"))


def _steps(options: Options) -> Steps:
    logging.disable_progress_bar()
    names = names_of("11_sentences", AutoModel=AutoModel, AutoTokenizer=AutoTokenizer, MINILM=MINILM)

    def measure(encoder: str, objective: str, rate: float, seed: int) -> dict:
        new, shape = names[ENCODERS[encoder]], encoder.removesuffix(UNTRAINED)
        if objective == "before":
            torch.manual_seed(seed)
            model = new()
            validation = names["on_validation"](model)
        else:
            loss = names[(OBJECTIVES | HARD)[objective]]
            model, course = names["train"](
                loss, seed, steps=STEPS[shape], new=new, rate=rate, every=EVERY[shape]
            )
            validation = course[-1, 2]
        found = {"sentence_encoders": scores(names, model)}
        return found if objective in HARD else found | {"sentence_encoders_rates": {"validation": validation}}

    yield Step("sentence_encoders", runs_of(list(options.seeds)), measure)


EXPERIMENT = Experiment(_steps, seeds=range(3))
