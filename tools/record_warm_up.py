"""Record data/results/warm_up.csv: notebook 03, part 7, deep encoders trained with and without warm-up and clipping.

    python tools/record_warm_up.py        # some fifteen minutes on one core; what is there is kept

It runs the cells of the instructor's source that define the runs, so notebook and table cannot differ.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.language import SPECIAL_TOKENS, load_language

TABLE = Path(__file__).parents[1] / "data/results/warm_up.csv"
KEYS = ["norm", "how", "seed"]
EVERY = 10
"""Steps over which the loss is averaged."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--table", type=Path, default=TABLE)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    language = load_language()
    names = names_of(
        "03_transformer_layer", SPECIAL_TOKENS=SPECIAL_TOKENS, V=len(language.vocabulary), language=language, np=np,
    )  # fmt: skip
    for seed in arguments.seeds:
        for norm in ("post-norm", "pre-norm"):
            for how in names["SHORT"]:
                if (norm, how, seed) not in recorded(arguments.table):
                    add(arguments.table, (norm, how, seed), *names["deep_run"](norm == "pre-norm", how, seed))


def recorded(path: Path) -> set[tuple]:
    """The runs that a table holds."""
    return set(pd.read_csv(path)[KEYS].itertuples(index=False, name=None)) if path.exists() else set()


def add(path: Path, key: tuple, losses: list[float], accuracy: float) -> None:
    """Put one run into the table: the mean loss of each ten steps, and the accuracy in the end."""
    means = np.array(losses).reshape(-1, EVERY).mean(axis=1)
    rows = [
        dict(zip(KEYS, key, strict=True)) | {"step": (number + 1) * EVERY, "loss": loss, "accuracy": accuracy}
        for number, loss in enumerate(means)
    ]
    before = [pd.read_csv(path)] if path.exists() else []
    table = pd.concat([*before, pd.DataFrame(rows).round(4)])
    table.to_csv(path, index=False)
    print(*key, f"{means[-1]:.3f} {accuracy:.3f}", flush=True)


if __name__ == "__main__":
    main()
