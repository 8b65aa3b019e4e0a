"""Record data/results/assistant_*.csv: the runs of notebook 14 (about half an hour of one core).

    python tools/record_assistant.py             # all; "tuning", "preferences", "contamination" or "reviews" behind it: one of them

Runs that stand in a table are not run again: delete a table to record it anew. The cells of the instructor's source that define
what is measured are run, so notebook and tables cannot differ.
"""

import argparse
import os
from copy import deepcopy
from pathlib import Path
from time import process_time

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged models, which everybody has

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of
from record_fine_tuning import record
from tqdm import tqdm

from coursekit.datasets import read_table
from coursekit.models import load

ROOT = Path(__file__).parents[1]
TUNING, PREFERENCES, CONTAMINATION, REVIEWS = (
    ROOT / "data/results" / f"assistant_{name}.csv" for name in ("tuning", "preferences", "contamination", "reviews")
)
SEEDS = range(3)
METHODS = {
    "full": (3e-4, 1e-3, 3e-3),
    "last layer": (1e-3, 3e-3, 1e-2),
    **{f"LoRA {rank}": (1e-3, 3e-3, 1e-2) for rank in (1, 2, 4, 8, 16)},
}
BETAS, RATES = (0.1, 0.3, 1.0, 3.0), (3e-4, 1e-3)
COPIES, EPOCHS = (0.0, 0.5, 1.0), (4, 16)
TRAINED, TESTED, DRAWS = 48, 4, 3
"""How many reviews train, every which test review is asked, how often examples are drawn."""
LORA_RATE, MINILM_RATE = 1e-3, 1e-4


def tuning(names: dict) -> None:
    """Every rate with one seed; the lowest that comes within a point of the best on validation questions, with all seeds."""
    runs = [{"method": method, "lr": lr, "seed": 0} for method, rates in METHODS.items() for lr in rates]
    swept = record(TUNING, runs, names["tune"])
    swept = swept[swept["seed"] == 0]
    best = {
        method: tried.loc[tried["validation"] >= tried["validation"].max() - 0.01, "lr"].min()
        for method, tried in swept.groupby("method")
    }
    record(TUNING, [{"method": method, "lr": best[method], "seed": seed} for seed in SEEDS for method in METHODS], names["tune"])


def preferences(names: dict) -> None:
    """Every rate with one seed; for each beta the one that comes nearest to the best policy, with all seeds."""

    def measure(beta: float, lr: float, seed: int) -> dict[str, float]:
        policy, tables = names["learn_preferences"](beta, lr, seed)
        return names["judged"](policy, tables, beta) | {"above_bound": names["instructions"].above_bound(policy)}

    swept = record(PREFERENCES, [{"beta": beta, "lr": lr, "seed": 0} for beta in BETAS for lr in RATES], measure)
    swept = swept[swept["seed"] == 0]
    best = {beta: tried.loc[tried["to_best"].idxmin(), "lr"] for beta, tried in swept.groupby("beta")}
    record(PREFERENCES, [{"beta": beta, "lr": best[beta], "seed": seed} for seed in SEEDS for beta in BETAS], measure)


def contamination(names: dict) -> None:
    runs = [
        {"copies": copies, "epochs": epochs, "seed": seed}
        for seed in SEEDS for epochs in EPOCHS for copies in COPIES
    ]  # fmt: skip
    record(CONTAMINATION, runs, names["contaminated"])


def reviews(names: dict) -> None:
    """The margin of every answer: its label is found by the review's id."""
    table = read_table("sentiment/sentiment.csv")
    tests = table[table["split"] == "test"].iloc[::TESTED]
    texts = tests["text"].tolist()
    train = table[table["split"] == "train"]
    rows = pd.read_csv(REVIEWS).to_dict("records") if REVIEWS.exists() else []
    big = load("SmolLM2-135M", head="causal-lm")
    done = {(row["method"], row["setting"], row["seed"]) for row in rows}

    def trained_on(seed: int) -> pd.DataFrame:
        return train.sample(TRAINED, random_state=seed)

    def zero_shot(setting: int, seed: int):
        return names["margins"](big.model, big.tokenizer, texts, names["ASKED"][setting])

    def few_shot(setting: int, seed: int):
        shown = pd.concat(
            [train[train.label == label].sample(setting // 2, random_state=seed) for label in ("positive", "negative")]
        ).sample(frac=1, random_state=seed)
        form = names["ASKED"][0][0]
        before = "".join(f"{form.format(row.text)} {row.label}\n\n" for row in shown.itertuples())
        return names["margins"](big.model, big.tokenizer, texts, before=before)

    def lora(setting: float, seed: int):
        model, some = deepcopy(big.model), trained_on(seed)
        names["tune_smollm2"](
            model, big.tokenizer, some.text.tolist(), (some.label == "positive").tolist(), lr=setting, epochs=2, seed=seed
        )
        return names["margins"](model.eval(), big.tokenizer, texts)

    def minilm(setting: float, seed: int):
        return tuned_minilm(trained_on(seed), texts, setting, seed)

    runs = [
        *[("zero-shot", zero_shot, number, 0) for number in range(len(names["ASKED"]))],
        *[("LoRA", lora, LORA_RATE, seed) for seed in SEEDS],
        *[("few-shot", few_shot, 8, seed) for seed in range(DRAWS)],
        *[("MiniLM, fine-tuned", minilm, MINILM_RATE, seed) for seed in SEEDS],
    ]
    for method, measure, setting, seed in tqdm(runs, desc=REVIEWS.stem, unit="run"):
        if (method, setting, seed) in done:
            continue
        start = process_time()
        found = measure(setting, seed)
        seconds = round(process_time() - start, 1)
        rows += [
            {"method": method, "setting": setting, "seed": seed, "seconds": seconds, "id": id, "margin": round(float(margin), 3)}
            for id, margin in zip(tests["id"], found, strict=True)
        ]  # fmt: skip
        pd.DataFrame(rows).to_csv(REVIEWS, index=False)
        print(method, setting, seed, ((found > 0) == (tests["label"] == "positive")).mean(), seconds, flush=True)


def tuned_minilm(some: pd.DataFrame, texts: list[str], lr: float, seed: int, epochs: int = 6, rows: int = 8) -> np.ndarray:
    """MiniLM with a linear layer on the mean of its tokens, all of it trained; positive − negative logit for each text."""
    loaded = load("bert-base-uncased")
    torch.manual_seed(seed)
    encoder, head = loaded.model.train(), torch.nn.Linear(loaded.model.config.hidden_size, 2)

    def logits(few: list[str]) -> torch.Tensor:
        batch = loaded.tokenizer(few, padding=True, return_tensors="pt")
        real = batch.attention_mask[..., None]
        return head((encoder(**batch).last_hidden_state * real).sum(dim=1) / real.sum(dim=1))

    learning = [*encoder.parameters(), *head.parameters()]
    optimiser, order = torch.optim.AdamW(learning, lr=lr), np.random.default_rng(seed)
    all_texts, labels = some["text"].tolist(), torch.tensor((some["label"] == "positive").to_numpy()).long()
    batches = [
        part for _ in range(epochs) for part in np.array_split(order.permutation(len(some)), len(some) // rows)
    ]
    for step, few in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = lr * (1 - step / len(batches))
        loss = torch.nn.functional.cross_entropy(logits([all_texts[n] for n in few]), labels[few])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    encoder.eval()
    with torch.no_grad():
        found = torch.cat([logits(texts[start : start + 32]) for start in range(0, len(texts), 32)])
    return (found[:, 1] - found[:, 0]).numpy()


TABLES = {"tuning": tuning, "preferences": preferences, "contamination": contamination, "reviews": reviews}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{' or '.join(TABLES)} (default: all)")
    chosen = parser.parse_args().tables or list(TABLES)
    if unknown := set(chosen) - set(TABLES):
        parser.error(f"{min(unknown)!r} is no table; there are {', '.join(TABLES)}")
    torch.set_num_threads(1)  # matrices this small are slower with more
    names = names_of("14_assistant")
    for table in chosen:
        TABLES[table](names)


if __name__ == "__main__":
    main()
