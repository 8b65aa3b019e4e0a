"""Record data/results/sentence_encoders.csv: notebook 11, *Further: from a pre-trained encoder* (about five minutes on one core).

    python tools/record_sentence_encoders.py

It runs the cells of the instructor's source that define what is measured, so notebook and table cannot differ. Each run
is written as soon as it is done; started again, it goes on where it was stopped.
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
RUN = ["encoder", "objective", "rate", "seed"]
STEPS = {"small BERT": 120, "MiniLM, 3 layers": 16}
EVERY = {"small BERT": 30, "MiniLM, 3 layers": 16}  # steps until negatives are mined anew
RATES = {"small BERT": 1e-3, "MiniLM, 3 layers": 1e-4}
ENCODERS = {"small BERT": "SmallBERT", "MiniLM, 3 layers": "CutMiniLM"}
OBJECTIVES = {
    "by label": "by_label",
    "by rank": "by_rank",
    "by rank, contradictions": "by_rank_hard",
    "by rank, mined": "by_rank_mined",
}
SEEDS = range(3)


def runs() -> list[tuple[str, str, float, int]]:
    """Encoder, objective, learning rate, seed."""
    small = [("small BERT", objective) for objective in ("before", *OBJECTIVES)]
    cut = [("MiniLM, 3 layers", objective) for objective in ("before", "by rank", "by label")]
    return [
        (encoder, objective, RATES[encoder], seed) for encoder, objective in small + cut for seed in SEEDS
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
    """The encoder of one run."""
    encoder, objective, rate, seed = run
    new = names[ENCODERS[encoder]]
    if objective == "before":
        torch.manual_seed(seed)
        return new()
    loss, steps = names[OBJECTIVES[objective]], STEPS[encoder]
    return names["train"](loss, seed, steps=steps, new=new, rate=rate, every=EVERY[encoder])[0]


def main() -> None:
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    names = names_of(
        "11_sentences", np=np, pd=pd, AutoModel=AutoModel, AutoTokenizer=AutoTokenizer, MINILM=MINILM
    )
    recorded = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=[*RUN, "id", "cosine", "place"])
    done = {tuple(run) for run in recorded[RUN].drop_duplicates().itertuples(index=False)}
    left = [run for run in runs() if run not in done]
    for run in track(left, description=f"{len(left)} runs"):
        found = measures(names, trained(names, run))
        for column, value in reversed(list(zip(RUN, run, strict=True))):
            found.insert(0, column, value)
        found["place"] = found["place"].astype("Int64")
        found.to_csv(TABLE, mode="a", header=not TABLE.exists(), index=False)
    print(f"{process_time() / 60:.1f} CPU minutes for {len(left)} runs")


if __name__ == "__main__":
    main()
