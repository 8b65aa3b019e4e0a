"""The notebook that this kernel runs, as it was last saved: which cell would define a name, and whose a cell is."""

import ast
import json
import os
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class FileCell:
    """A code cell of the file."""

    id: str
    source: str
    is_the_course_s: bool  # a locked cell or a demonstration: students answer elsewhere
    is_nbgrader_s: bool

    @cached_property
    def binds(self) -> set[str]:
        """The names that the cell binds at the top level of the notebook."""
        return bound_names(self.source)


def path_of_this_notebook() -> Path:
    """As JupyterLab tells it; an empty path elsewhere."""
    return Path(os.environ.get("JPY_SESSION_NAME", ""))


def cells_of_this_notebook() -> list[FileCell]:
    """The code cells; none where the file is not known or cannot be read."""
    try:
        cells = json.loads(path_of_this_notebook().read_text(encoding="utf-8"))["cells"]
        return [_read(cell) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []


def _read(cell: dict) -> FileCell:
    source, metadata = cell["source"], cell["metadata"]
    graded = metadata.get("nbgrader", {})
    is_the_course_s = graded.get("locked", False) or (not graded and bool(metadata.get("tags")))
    source = source if isinstance(source, str) else "".join(source)
    return FileCell(cell.get("id", ""), source, is_the_course_s, bool(graded))


def bound_names(source: str, line: int = 1) -> set[str]:
    """The names that a cell binds in its notebook, by statements that end on this line or after it."""
    statements = _statements(source, line)
    try:
        table = symtable.symtable(ast.unparse(statements), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }


def used_names(source: str) -> set[str]:
    """The names that a cell, when it is run or later, looks for in its notebook."""
    try:
        tables = [symtable.symtable(source, "cell", "exec")]
    except (SyntaxError, ValueError, RecursionError):
        return set()
    used = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module")
        }
    return used


def filled_names(source: str, line: int = 1) -> set[str]:
    """The names whose lists, dicts and sets these statements fill: `losses.append(…)`, `runs[seed] = …`."""
    return {root for node in ast.walk(_statements(source, line)) for root in _roots(node)}


FILLS = {"append", "extend", "insert", "add", "update", "setdefault"}


def _roots(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=place, attr=method)) if method in FILLS:
            pass
        case ast.Subscript(value=place, ctx=ast.Store()):
            pass
        case _:
            return
    while isinstance(place, ast.Subscript | ast.Attribute):
        place = place.value
    if isinstance(place, ast.Name):
        yield place.id


def _statements(source: str, line: int) -> ast.Module:
    try:
        return ast.Module(
            [node for node in ast.parse(source).body if (node.end_lineno or node.lineno) >= line], []
        )
    except (SyntaxError, ValueError, RecursionError):  # a line of IPython's own
        return ast.Module([], [])
