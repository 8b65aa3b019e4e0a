"""What a student's cell defines, without running it. Parsing is bounded; a text beyond the bounds defines nothing."""

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

from autograder.parsing import parse
from autograder.untrusted.budgets import LONGEST
from autograder.untrusted.cells import Cell

MOST_READ, MOST_PARSED = 2_000_000, 400_000  # characters of one notebook
SHORT = 20  # characters of a line that says nothing about whose it is
FENCE = re.compile(r"\s*(?:```|~~~)")
LOOKS_DEFINED = re.compile(r"\b(?:def|class) +(\w+)|\b(\w+) *= *lambda\b|\blambda\b")
NOT_RUN_HERE = re.compile(
    r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)"
)  # written to a file, or given to a shell
WORDS = ("def ", "class ", "lambda")
MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)
BADGE = re.compile(r"colab-badge|kaggle\.com/static|mybinder\.org/badge|deepnote\.com/buttons")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def bare(text: str) -> str:
    """Without what editors add and take away: spaces at the ends of lines, empty lines around."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Reader:
    """Reads the cells of one notebook, within one budget."""

    def __init__(self) -> None:
        self._left, self._to_read = MOST_PARSED, MOST_READ
        self._parsed: dict[str, ast.Module | None] = {}
        self._looks: dict[str, frozenset[str]] = {}

    def of_release(self, source: str) -> frozenset[str]:
        """The functions and classes that a released cell defines."""
        return _of_release(source)

    def code_in(self, cell: Cell) -> str:
        """The code of a cell: of a Markdown or raw cell what stands between fences, if it is not code as a whole."""
        if cell.kind == "code" or self._tree(cell.source) is not None:
            return cell.source
        blocks = "\n".join(_between_fences(cell.source))
        return blocks if blocks.strip() and self._tree(blocks) is not None else cell.source

    def defines(self, cell: Cell, names: Collection[str]) -> bool:
        """Whether the cell defines one of these functions at its top level, or would if its code were right."""
        if not self.names(cell, names) or NOT_RUN_HERE.match(cell.source):
            return False
        tree = self._tree(self.code_in(cell))
        if tree is None:
            pattern = rf"^(?:async )?(?:def|class) +(?:{_any(names)})\b"
            return cell.kind == "code" and bool(re.search(pattern, cell.source, re.MULTILINE))
        return any(_defined_by(node) in names for node in tree.body)

    def names(self, cell: Cell, names: Collection[str]) -> bool:
        """Whether the text has what looks like a definition of one of these, be it in a comment."""
        return not self.looks(cell.source).isdisjoint(names)

    def looks(self, source: str) -> frozenset[str]:
        """The names that a text may define; "lambda" for a function without one."""
        if source not in self._looks:
            readable = self._may_be_read(source) and any(word in source for word in WORDS)
            found = LOOKS_DEFINED.findall(source) if readable else []
            self._looks[source] = frozenset(one or other or "lambda" for one, other in found)
        return self._looks[source]

    def _may_be_read(self, source: str) -> bool:
        self._to_read -= len(source)
        return self._to_read >= 0 and len(source) <= LONGEST["compared"]

    def holds_definition(self, cell: Cell) -> bool:
        """Whether the text of a cell of the student's looks like a function or a class."""
        if not self.looks(cell.source):
            return False
        return (
            cell.kind != "markdown"
            or any(_between_fences(cell.source))
            or cell.source.lstrip().startswith("def ")
        )

    def binds(self, cell: Cell, names: Collection[str]) -> bool:
        """Whether running the cell gives one of these names a value."""
        if cell.kind != "code" or not any(name in cell.source for name in names):
            return False
        tree = self._tree(cell.source)
        return tree is not None and any(not _bound(node).isdisjoint(names) for node in tree.body)

    def cut(self, source: str, wanted: Mapping[int, Collection[str]]) -> list[tuple[int, str]] | None:
        """The code in pieces, in its order, each with the key of the definitions in it; None if it cannot be cut so.

        What stands between two definitions goes with the first, what stands before all with the one that follows.
        """
        tree = self._tree(source)
        if tree is None or source.startswith("%%"):
            return None
        lines = source.splitlines()
        pieces: list[tuple[int, str]] = []
        starts: list[tuple[int, int]] = []
        for node in tree.body:
            key = next((key for key, names in wanted.items() if _defined_by(node) in names), None)
            if key is not None and (not starts or starts[-1][1] != key):
                starts.append((_first_line(node, lines), key))
        if [key for _, key in starts] != list(dict.fromkeys(key for _, key in starts)):
            return None
        ends = [line for line, _ in starts[1:]] + [len(lines)]
        for number, ((line, key), end) in enumerate(zip(starts, ends, strict=True)):
            pieces.append((key, "\n".join(lines[line if number else 0 : end]).strip("\n")))
        return pieces

    def tree(self, source: str) -> ast.Module | None:
        """The syntax tree of a cell, without lines of IPython's own; None if it is no Python, or too long."""
        return self._tree(source)

    def _tree(self, source: str) -> ast.Module | None:
        if source not in self._parsed:
            self._parsed[source] = self._parse(source)
        return self._parsed[source]

    def _parse(self, source: str) -> ast.Module | None:
        if len(source) > min(self._left, LONGEST["compared"]):
            return None
        self._left -= len(source)
        try:
            return parse(MAGIC.sub("pass", source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


@cache
def _of_release(source: str) -> frozenset[str]:
    try:
        body = parse(MAGIC.sub("pass", source)).body
    except SyntaxError:
        return frozenset()
    return frozenset(node.name for node in body if isinstance(node, Definition))


def _between_fences(source: str) -> list[str]:
    """The lines of the blocks of code in Markdown."""
    lines, inside = [], False
    for line in source.splitlines():
        if FENCE.match(line):
            inside = not inside
        elif inside:
            lines.append(line)
    return lines


def _any(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(names)))


def _defined_by(node: ast.stmt) -> str:
    """The name that a statement defines as a function or a class; an import or another name for it is none."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            return name
    return ""


def _bound(node: ast.stmt) -> set[str]:
    bound = {_defined_by(node)}
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store()):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return bound


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    """Where a definition begins, from 0: with its decorators, and the comments directly above them."""
    decorators = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def is_prose(cell: Cell, reader: Reader) -> bool:
    """Whether a cell holds words and no code: Markdown, raw text, or code that only comments, quotes or prints words."""
    if cell.kind != "code":
        return True
    tree = reader.tree(cell.source)
    if tree is None:
        return len(cell.source) <= LONGEST["compared"] and not reader.looks(cell.source)
    return all(_says_words(node) for node in tree.body) and bool(re.search(r"\w", cell.source))


def _says_words(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str()), *_])):
            return True
    return False


def own_lines(text: str, released: Collection[str]) -> str:
    """What of a text stands in no cell of the release; "" if that holds no word and no picture."""
    lines = [line for line in text.splitlines() if len(line) < SHORT or line.strip() not in released]
    own = "\n".join(lines).strip("\n")
    return own if re.search(r"\w", own) and not BADGE.search(own) else ""
