"""Record data/results/sentence_encoders.csv and sentence_encoders_rates.csv: notebook 11, *Further: from a pre-trained
encoder* (about fifteen minutes on one core).

    python tools/record_sentence_encoders.py

It runs the cells of the instructor's source that define what is measured, so notebook and tables cannot differ. Each run
is written as soon as it is done; started again, it goes on where it was stopped. Every encoder is trained by rank, the
pre-trained ones also by label, with several learning rates; with hard negatives at one of these.
"""

from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of
from rich.progress import track
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from coursekit.models.catalogue import MINILM

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/results/sentence_encoders.csv"
BY_RATE = ROOT / "data/results/sentence_encoders_rates.csv"
RUN = ["encoder", "objective", "rate", "seed"]
STEPS = {"small BERT": 120, "MiniLM, 3 layers": 16}
EVERY = {"small BERT": 30, "MiniLM, 3 layers": 16}  # steps until negatives are mined anew
UNTRAINED = ", untrained"  # behind the name of an encoder: the same architecture, its weights drawn anew
RATES = {
    "small BERT": (3e-4, 1e-3, 3e-3),
    "MiniLM, 3 layers": (3e-5, 1e-4, 3e-4, 1e-3),
    "small BERT" + UNTRAINED: (3e-4, 1e-3, 3e-3),
    "MiniLM, 3 layers" + UNTRAINED: (3e-5, 1e-4, 3e-4),
}
HARD_RATE = {"small BERT": 1e-3, "MiniLM, 3 layers": 1e-4}
ENCODERS = {
    "small BERT": "SmallBERT",
    "MiniLM, 3 layers": "CutMiniLM",
    "small BERT" + UNTRAINED: "UntrainedBERT",
    "MiniLM, 3 layers" + UNTRAINED: "UntrainedCut",
}
OBJECTIVES = {
    "by label": "by_label",
    "by rank": "by_rank",
    "by rank, contradictions": "by_rank_hard",
    "by rank, mined": "by_rank_mined",
}
SEEDS = range(3)


def swept() -> list[tuple[str, str, float, int]]:
    """Encoder, objective, learning rate, seed."""
    runs = [
        (encoder, objective, rate, seed)
        for encoder in ENCODERS
        for objective in ("before", "by rank", "by label")
        for rate in (RATES[encoder] if objective != "before" else (0.0,))
        for seed in SEEDS
    ]
    return [run for run in runs if run[1] != "by label" or not run[0].endswith(UNTRAINED)]


def with_hard_negatives() -> list[tuple[str, str, float, int]]:
    """The runs with hard negatives."""
    return [
        (encoder, objective, rate, seed)
        for encoder, rate in HARD_RATE.items()
        for objective in ("by rank, contradictions", "by rank, mined")
        for seed in SEEDS
    ]


def measures(names: dict, encoder) -> pd.DataFrame:
    """The cosine of each test pair; in the rows of entailed pairs also at which place their hypothesis finds its premise."""
    exam = names["pairs"][names["pairs"].split == "test"]
    own = names["ENTAILMENT"]
    premises, hypotheses = encoder.encode(exam.premise), encoder.encode(exam.hypothesis[::3])
    cosines = torch.cosine_similarity(premises, hypotheses.repeat_interleave(3, dim=0))
    all_cosines = torch.cosine_similarity(hypotheses[:, None], premises[None], dim=-1)  # 64 192
    place = (all_cosines > cosines[own::3, None]).sum(dim=1) + 1
    table = pd.DataFrame({"id": exam.id.to_numpy(), "cosine": cosines.numpy().round(4)})
    table.loc[own::3, "place"] = place.numpy()
    return table


def trained(names: dict, run: tuple[str, str, float, int]):
    """The encoder of one run, and its agreement with the validation pairs."""
    encoder, objective, rate, seed = run
    new, shape = names[ENCODERS[encoder]], encoder.removesuffix(UNTRAINED)
    if objective == "before":
        torch.manual_seed(seed)
        return (before := new()), names["on_validation"](before)
    loss, steps = names[OBJECTIVES[objective]], STEPS[shape]
    after, course = names["train"](loss, seed, steps=steps, new=new, rate=rate, every=EVERY[shape])
    return after, course[-1, 2]


def record(names: dict, runs: list[tuple[str, str, float, int]]) -> None:
    """Both tables, run by run; the agreement on validation is what chooses a rate."""
    recorded = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=RUN)
    done = set(recorded[RUN].drop_duplicates().itertuples(index=False, name=None))
    left = [run for run in runs if run not in done]
    for run in track(left, description=f"{len(left)} runs"):
        encoder, on_validation = trained(names, run)
        found = measures(names, encoder)
        for column, value in reversed(list(zip(RUN, run, strict=True))):
            found.insert(0, column, value)
        found["place"] = found["place"].astype("Int64")
        found.to_csv(TABLE, mode="a", header=not TABLE.exists(), index=False)
        if run[1] not in ("before", "by rank", "by label"):
            continue
        row = pd.DataFrame([[*run, round(on_validation, 4)]], columns=[*RUN, "validation"])
        row.to_csv(BY_RATE, mode="a", header=not BY_RATE.exists(), index=False)


def main() -> None:
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    names = names_of(
        "11_sentences", np=np, pd=pd, AutoModel=AutoModel, AutoTokenizer=AutoTokenizer, MINILM=MINILM
    )
    record(names, with_hard_negatives() + swept())
    print(f"{process_time() / 60:.1f} CPU minutes")


if __name__ == "__main__":
    main()
