"""What a student's cell defines, without running it. Parsing is bounded; a text beyond the bounds defines nothing."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from autograder.parsing import bound_by, parse
from autograder.source import MAGIC
from autograder.untrusted.budgets import LONGEST
from autograder.untrusted.cells import Cell

MOST_PARSED = 400_000  # characters of one notebook
MOST_TRIED = 16  # ways to find the code in a text
FENCE = re.compile(r"\s*(?:```|~~~)")
LOOKS_DEFINED = re.compile(
    r"\bdef ++(\w++)\s*+[(\[:]"
    r"|^[^\w\n]*+class ++(\w++) *+(?:\([^()\n]*+\) *+)?:[^\w\n]*+$"
    r"|\b(\w++)(?: *+:[^=\n]{0,80})? *+= *+lambda\b"
    r"|\blambda(?: ++[*\w][\w ,=*]{0,80})? *+:",
    re.MULTILINE,
)
CODE_BEGINS = re.compile(r"(?:def|class|async def|import|from) +\w|@\w|[\w., ]+=[^=]")
AT_LINE_START = re.compile(r"^(?:async )?def \w+\(|^class \w+[(:]", re.MULTILINE)
NOT_RUN_HERE = re.compile(
    r"\s*%%(?!time\b|timeit\b|capture\b|prun\b)"
)  # written to a file, or given to a shell
WORDS = ("def ", "class ", "lambda")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def bare(text: str) -> str:
    """Without what editors add and take away: spaces at the ends of lines, empty lines around."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


class Reader:
    """Reads the cells of one notebook, within one budget."""

    def __init__(self) -> None:
        self._left = MOST_PARSED
        self._parsed: dict[str, ast.Module | None] = {}
        self._looks: dict[str, frozenset[str]] = {}

    def code_in(self, cell: Cell) -> str:
        """The code of a cell: of a Markdown or raw cell, unless it is code as a whole, what stands between fences, else what
        is left without the words before and after it. All of it where no code is found."""
        if cell.kind == "code" or self.tree(cell.source) is not None:
            return cell.source
        blocks = "\n".join(_between_fences(cell.source))
        if blocks.strip() and self.tree(blocks) is not None:
            return blocks
        tried = (part for part in _without_words(cell.source) if self.tree(part) is not None)
        return next(tried, cell.source)

    def is_code(self, source: str) -> bool:
        """Whether a text is Python as far as its syntax goes."""
        return self.tree(source) is not None

    def can_be_joined(self, first: str, second: str) -> str:
        """Two texts as one, if that makes a function of the halves of one; "" if it does not."""
        for between in ("", "\n") if first.rpartition("\n")[2].isspace() else ("\n",):
            tree = self.tree(first + between + second)
            if tree is not None and not any(isinstance(node, ast.Return) for node in tree.body):
                return first + between + second
        return ""

    def is_rest(self, source: str) -> bool:
        """Whether a text looks like the second half of a function: it is indented, or returns something."""
        first = next((line for line in source.splitlines() if line.strip()), "")
        return first[:1].isspace() or bool(re.search(r"^(?:return|yield)\b", source, re.MULTILINE))

    def defines(self, cell: Cell, names: Collection[str]) -> bool:
        """Whether the cell defines one of these functions at its top level, or would if its code were right."""
        if not self.names(cell, names) or NOT_RUN_HERE.match(cell.source):
            return False
        tree = self.tree(self.code_in(cell))
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
            found = LOOKS_DEFINED.finditer(source) if any(word in source for word in WORDS) else ()
            self._looks[source] = frozenset(match[1] or match[2] or match[3] or "lambda" for match in found)
        return self._looks[source]

    def holds_definition(self, cell: Cell) -> bool:
        """Whether the text of a cell of the student's looks like a function or a class."""
        if not self.looks(cell.source):
            return False
        if cell.kind != "markdown":
            return True
        return any(_between_fences(cell.source)) or bool(AT_LINE_START.search(cell.source))

    def binds(self, cell: Cell, names: Collection[str]) -> bool:
        """Whether running the cell gives one of these names a value, or would if its code were right."""
        if cell.kind != "code" or not any(name in cell.source for name in names):
            return False
        tree = self.tree(cell.source)
        if tree is None:
            pattern = rf"^[ \t]*(?:{_any(names)})[ \t]*(?::[^=\n]*)?=(?!=)|^[ \t]*from [\w.]++ ++import\b[^\n]{{0,500}}?\b(?:{_any(names)})\b"
        else:
            pattern = (
                rf"[\"'][^\"'\n]{{0,80}}\b(?:{_any(names)})\b[\"'\] \t]*=(?!=)|\bsetattr\([^\n]{{0,80}}[\"'](?:{_any(names)})[\"']"
                rf"|^[ \t]++global\b[^\n]{{0,500}}?\b(?:{_any(names)})\b"
            )
        bound = tree is not None and any(name in names for name in bound_by(tree.body))
        return bound or bool(re.search(pattern, cell.source, re.MULTILINE))

    def defined_in(self, cell: Cell) -> frozenset[str]:
        """The functions and classes that the cell gives names to, or would if its code were right."""
        if not self.holds_definition(cell):
            return frozenset()
        tree = self.tree(self.code_in(cell))
        if tree is None:
            return self.looks(cell.source) - {"lambda"}
        return frozenset(map(_defined_by, tree.body)) - {""}

    def names_bound(self, cells: Iterable[Cell]) -> set[str]:
        """All names to which these cells of code give values."""
        trees = (self.tree(cell.source) for cell in cells if cell.kind == "code")
        return {name for tree in trees if tree is not None for name in bound_by(tree.body)}

    def cut(self, source: str, wanted: Mapping[int, Collection[str]]) -> list[tuple[int, str]] | None:
        """The code in pieces, in its order, each with the key of the definitions in it; None if it cannot be cut so.

        What stands between two definitions goes with the first, what stands before all with the one that follows.
        """
        tree = self.tree(source)
        if tree is None or source.startswith("%%"):
            return None
        lines = source.splitlines()
        starts: list[tuple[int, int]] = []
        for node in tree.body:
            key = next((key for key, names in wanted.items() if _defined_by(node) in names), None)
            if key is not None and (not starts or starts[-1][1] != key):
                starts.append((_first_line(node, lines), key))
        if len({key for _, key in starts}) < len(starts):
            return None
        begins = [0, *(line for line, _ in starts[1:])]
        ends = [*begins[1:], len(lines)]
        return [
            (key, "\n".join(lines[begin:end]).strip("\n"))
            for (_, key), begin, end in zip(starts, begins, ends, strict=True)
        ]

    def tree(self, source: str) -> ast.Module | None:
        """The syntax tree of a cell, without lines of IPython's own; None if it is no Python, or too long."""
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


def _without_words(source: str) -> Iterator[str]:
    """Parts of a text that may be code: from a line that looks like it to a line behind which words may begin."""
    lines = source.splitlines()
    starts = [number for number, line in enumerate(lines) if CODE_BEGINS.match(line)]
    ends = [number for number, line in enumerate(lines) if line[:1].strip() and number]
    parts = (
        "\n".join(lines[start:end]).rstrip()
        for start in starts
        for end in [len(lines), *(end for end in reversed(ends) if end > start)]
    )
    return islice(parts, MOST_TRIED)


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    """Where a definition begins, from 0: with its decorators, and the comments directly above them."""
    decorators = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line
