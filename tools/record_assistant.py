"""Record data/results/assistant_*.csv: the runs of notebook 14 (about half an hour of one core).

    python tools/record_assistant.py             # all; "tuning", "preferences", "contamination" or "reviews" behind it: one of them

Runs that stand in a table are not run again: delete a table to record it anew. The cells of the instructor's source that define
what is measured are run, so notebook and tables cannot differ.
"""

import os
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from time import process_time

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged models, which everybody has

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of, record_tables
from record_fine_tuning import record
from tqdm import tqdm

from coursekit import judges
from coursekit.datasets import read_table
from coursekit.models import load

ROOT = Path(__file__).parents[1]
TUNING, PREFERENCES, CONTAMINATION, REVIEWS, COSTS = (
    ROOT / "data/results" / f"assistant_{name}.csv"
    for name in ("tuning", "preferences", "contamination", "reviews", "reviews_costs")
)
SEEDS = range(3)
METHODS = {
    "full": (3e-4, 1e-3, 3e-3),
    "last layer": (1e-3, 3e-3, 1e-2),
    **{f"LoRA {rank}": (1e-3, 3e-3, 1e-2) for rank in (1, 2, 4, 8, 16)},
}
BETAS, RATES = (0.1, 0.3, 1.0, 3.0), (3e-4,)
EPOCHS = (4, 16)
REVIEWS_TRAINED, TESTED, DRAWS, EXAMPLES = 128, 2, 3, 8
"""How many reviews train; every which validation and test review is asked; how often so many examples are drawn."""
JUDGE_RATE, JUDGE_EPOCHS = 1e-3, 2
ENCODER_RATE, ENCODER_EPOCHS = 2e-4, 4


def tuning(names: dict) -> None:
    """Every rate with one seed; the lowest that comes within a point of the best on validation questions, with all seeds."""
    runs = [{"method": method, "lr": lr, "seed": 0} for method, rates in METHODS.items() for lr in rates]
    swept = record(TUNING, runs, names["tune"])
    swept = swept[swept["seed"] == 0]
    best = {
        method: tried.loc[tried["validation"] >= tried["validation"].max() - 0.01, "lr"].min()
        for method, tried in swept.groupby("method")
    }
    settings = [*best.items(), ("full", 1e-3)]  # also one rate below the one that is chosen for full tuning
    record(
        TUNING,
        [{"method": method, "lr": lr, "seed": seed} for seed in SEEDS for method, lr in settings],
        names["tune"],
    )


def preferences(names: dict) -> None:
    def measure(beta: float, lr: float, seed: int) -> dict[str, float]:
        policy, tables = names["learn_preferences"](beta, lr, seed)
        return names["judged"](policy, tables, beta) | {
            "above_bound": names["instructions"].above_bound(policy)
        }

    runs = [{"beta": beta, "lr": lr, "seed": seed} for seed in SEEDS for beta in BETAS for lr in RATES]
    record(PREFERENCES, runs, measure)


def contamination(names: dict) -> None:
    leaks = [(0.0, 0), (0.5, 0), (1.0, 0), (0.5, 1), (1.0, 1)]
    runs = [
        {"copies": copies, "words_changed": changed, "epochs": epochs, "seed": seed}
        for seed in SEEDS for epochs in EPOCHS for copies, changed in leaks
    ]  # fmt: skip
    record(CONTAMINATION, runs, names["contaminated"])


def reviews(names: dict) -> None:
    """The margin of every answer, a column for each run."""
    table = read_table("sentiment/sentiment.csv")
    asked = pd.concat([table[table["split"] == split].iloc[::TESTED] for split in ("validation", "test")])
    asked = asked.set_index("id")
    texts = asked["text"].tolist()
    found = pd.read_csv(REVIEWS, index_col="id") if REVIEWS.exists() else pd.DataFrame(index=asked.index)
    costs = pd.read_csv(COSTS).to_dict("records") if COSTS.exists() else []
    judge = load("SmolLM2-135M", head="causal-lm")
    train = table[table["split"] == "train"]

    def keep(run: str, measure) -> None:
        """Runs `measure`, which gives margins, numbers that learn and seconds of training, unless the run is in the table."""
        if run in found:
            return
        start = process_time()
        margins, learning, trained = measure()
        costs.append({
            "run": run, "parameters": learning, "training seconds": round(trained, 1),
            "seconds per review": round((process_time() - start - trained) / len(texts), 4),
        })  # fmt: skip
        found[run] = np.round(margins, 2)
        found.to_csv(REVIEWS)
        pd.DataFrame(costs).to_csv(COSTS, index=False)

    def few_shot(seed: int):
        shown = pd.concat(
            [
                train[train.label == label].sample(EXAMPLES // 2, random_state=seed)
                for label in ("positive", "negative")
            ]
        ).sample(frac=1, random_state=seed)
        before = judges.with_examples(list(zip(shown["text"], shown["label"], strict=True)))
        return judges.margins(judge, texts, before=before), 0, 0.0

    def lora(lr: float, seed: int):
        tuned = replace(judge, model=deepcopy(judge.model))
        some, start = train.sample(REVIEWS_TRAINED, random_state=seed), process_time()
        positive = (some["label"] == "positive").tolist()
        learning = names["tune_judge"](tuned, some["text"].tolist(), positive, lr, JUDGE_EPOCHS, seed)
        trained = process_time() - start
        return judges.margins(tuned, texts), learning, trained

    def encoder(lr: float, seed: int):
        """Full fine-tuning by the code of notebook 09."""
        torch.manual_seed(seed)
        model = ours["on_pretrained"](deepcopy(loaded.model), 2)
        data = ours["review_task"](loaded.tokenizer, "train", REVIEWS_TRAINED, seed)
        steps = ENCODER_EPOCHS * REVIEWS_TRAINED // 16
        start = process_time()
        ours["fine_tune"](model, data, "full", lr, steps, seed)
        trained = process_time() - start
        ids = loaded.tokenizer(texts, padding=True, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = torch.cat([model.eval()(part) for part in ids.split(32)])
        return (logits[:, 1] - logits[:, 0]).numpy(), sum(w.numel() for w in model.parameters()), trained

    for number, question in enumerate(tqdm(judges.QUESTIONS, desc="questions"), start=1):
        keep(
            f"question {number}",
            lambda question=question: (judges.margins(judge, texts, question), 0, 0.0),
        )
    ours, loaded = names_of("09_fine_tuning"), load("bert-base-uncased")
    for seed in tqdm(SEEDS, desc="LoRA"):
        keep(f"LoRA {JUDGE_RATE:g} seed {seed}", lambda seed=seed: lora(JUDGE_RATE, seed))
    for seed in tqdm(SEEDS, desc=loaded.name):
        keep(f"{loaded.name} {ENCODER_RATE:g} seed {seed}", lambda seed=seed: encoder(ENCODER_RATE, seed))
    for seed in tqdm(range(DRAWS), desc="examples"):
        keep(f"examples draw {seed}", lambda seed=seed: few_shot(seed))


TABLES = {"tuning": tuning, "preferences": preferences, "contamination": contamination, "reviews": reviews}


if __name__ == "__main__":
    record_tables("14_assistant", TABLES, __doc__)
