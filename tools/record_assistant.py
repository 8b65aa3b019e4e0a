"""Record data/results/assistant_*.csv: the runs of notebook 14 (about ten minutes of one core).

    python tools/record_assistant.py             # all; "tuning", "preferences" or "contamination" behind it: one of them

Runs that stand in a table are not run again: delete a table to record it anew. The cells of the instructor's source that define
what is measured are run, so notebook and tables cannot differ.
"""

import argparse
from pathlib import Path

import torch
from notebook_names import names_of
from record_fine_tuning import record

ROOT = Path(__file__).parents[1]
TUNING, PREFERENCES, CONTAMINATION = (
    ROOT / "data/results" / f"assistant_{name}.csv" for name in ("tuning", "preferences", "contamination")
)
SEEDS = range(3)
METHODS = {
    "full": (3e-4, 1e-3, 3e-3),
    "last layer": (1e-3, 3e-3, 1e-2),
    **{f"LoRA {rank}": (1e-3, 3e-3, 1e-2) for rank in (1, 2, 4, 8, 16)},
}
BETAS, RATES = (0.1, 0.3, 1.0, 3.0), (3e-4,)
COPIES, EPOCHS = (0.0, 0.5, 1.0), (4, 16)


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
    runs = [
        {"copies": copies, "epochs": epochs, "seed": seed}
        for seed in SEEDS for epochs in EPOCHS for copies in COPIES
    ]  # fmt: skip
    record(CONTAMINATION, runs, names["contaminated"])


TABLES = {"tuning": tuning, "preferences": preferences, "contamination": contamination}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
