"""What a notebook defines, for the scripts that record its tables: notebook and table cannot differ."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from autograder.source import code_cells, grade_id, is_demo, read_source

ROOT = Path(__file__).parents[1]


def names_of(notebook: str, **names: Any) -> dict[str, Any]:
    """The names that a notebook, such as "05_elmo", defines in its solution cells and in the cells tagged "record".

    `names` stand there before: what these cells use of the others. No prediction is asked for.
    """
    for cell in code_cells(read_source(ROOT / "solutions" / notebook / f"{notebook}.py")):
        recorded = "record" in cell.metadata.get("tags", [])
        asks = grade_id(cell).endswith("-check") or cell.source.startswith("predict(")
        if recorded or not (is_demo(cell) or asks):
            exec(cell.source, names)
    return names


def record_tables(notebook: str, tables: dict[str, Callable[[dict[str, Any]], None]], about: str) -> None:
    """The command of a script: each of `tables`, or those that are named behind it, is recorded from what the notebook defines."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{' or '.join(tables)} (default: all)")
    chosen = parser.parse_args().tables or list(tables)
    if unknown := set(chosen) - set(tables):
        parser.error(f"{min(unknown)!r} is no table; there are {', '.join(tables)}")
    torch.set_num_threads(1)  # matrices this small are slower with more
    names = names_of(notebook)
    for table in chosen:
        tables[table](names)
