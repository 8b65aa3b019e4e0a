"""Record data/results/transformer_depth.csv: notebook 03, part 8, by depth, with and without positions, over five seeds.

    python tools/record_transformer_depth.py        # some twelve minutes on one core; what is there is kept

It runs the cells of the instructor's source that define the encoder, so notebook and table cannot differ.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from notebook_names import names_of

from coursekit.language import SPECIAL_TOKENS, load_language

TABLE = Path(__file__).parents[1] / "data/results/transformer_depth.csv"
KEYS = ["layers", "positions", "seed"]
STEPS = [0, 500, 1000, 2000]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--table", type=Path, default=TABLE)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    language = load_language()
    names = names_of(
        "03_transformer_layer", SPECIAL_TOKENS=SPECIAL_TOKENS, V=len(language.vocabulary), language=language, np=np,
    )  # fmt: skip
    for seed in arguments.seeds:
        for embed in (names["with_positions"], names["words_alone"]):
            for layers in arguments.layers:
                key = (layers, embed is names["with_positions"], seed)
                if key not in recorded(arguments.table):
                    found = names["lessons_and_exams"](layers, seed, embed, STEPS)
                    add(arguments.table, key, found)


def recorded(path: Path) -> set[tuple]:
    """The runs that a table holds."""
    return set(pd.read_csv(path)[KEYS].itertuples(index=False, name=None)) if path.exists() else set()


def add(path: Path, key: tuple, found: dict) -> None:
    """Put the exams of one run into the table, and print the last."""
    rows = [
        dict(zip(KEYS, key, strict=True)) | {"steps": steps} | asdict(each) for steps, each in found.items()
    ]
    before = [pd.read_csv(path)] if path.exists() else []
    table = pd.concat([*before, pd.DataFrame(rows).round(4)]).sort_values([*KEYS, "steps"])
    table.to_csv(path, index=False)
    print(*rows[-1].items(), flush=True)


if __name__ == "__main__":
    main()
