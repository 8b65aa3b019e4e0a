"""What a notebook defines, for the scripts that record its tables: notebook and table cannot differ."""

from pathlib import Path
from typing import Any

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
