"""What code can reach of our packages and of `data/`: found by reading it, without running it.

For `tests/kept.py`: what is remembered of a notebook need not be forgotten with a module that nothing of it imports. Where
this cannot be told it is reached: a module counts with the packages it lies in, if it is imported anywhere (also in a
function that may never run), and if a string has its name, which is how `coursekit/__init__.py` loads what it offers;
of a package that a string names, all.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MAGIC = re.compile(r"^# [%!]\w", re.MULTILINE)
"""A line of IPython's own in a percent script: what it does is not read here."""
DYNAMIC = {"import_module", "__import__", "find_spec", "iter_modules", "walk_packages"}
"""Who says one of these may import what any of its strings names, also from its own package."""
RUNS = {"subprocess", "Popen", "popen", "system", "runpy", "builtins", "get_ipython", "multiprocessing"}
BUILT_IN = {"exec", "eval"}
"""Who says one of these, and means no method of its own (`model.eval()`), may run what stands in its sentences; else only strings without a blank are names of modules."""
TABLES = "results"
"""The folder in `data/` of which files are told apart: each is read by its path, `read_table("results/NAME.csv")`."""
ANYTHING = "\N{BULLET}"  # stands for what is put into an f-string


@dataclass(frozen=True)
class Read:
    """What one text says.

    imported  modules
    named     what may be modules: strings with a dot in them; of one that imports by name all its strings
    words     in its strings, which name folders
    tables    strings that are the path of a table, or of the folder in which they lie
    """

    imported: frozenset[str]
    named: frozenset[str]
    words: frozenset[str]
    tables: frozenset[str]


@cache
def read(text: str, package: str = "") -> Read:
    """`package` is the one in which the text lies, for what it imports relative to that. Raises SyntaxError."""
    if MAGIC.search(text):
        raise SyntaxError("a line of IPython's own")
    imported, strings, dynamic, runs = set(), set(), False, False
    tree = ast.parse(text)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                imported |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                home = ".".join([*above, *filter(None, [module])])
                imported |= {home, *(f"{home}.{alias.name}" for alias in names)}
            case ast.JoinedStr(values=values):
                parts = (part.value if isinstance(part, ast.Constant) else ANYTHING for part in values)
                strings.add("".join(parts))
            case ast.Constant(value=str(string)) if id(node) not in prose:
                strings.add(string)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                built_in = name in BUILT_IN and not isinstance(node, ast.Attribute)
                dynamic, runs = dynamic or name in DYNAMIC, runs or name in RUNS or built_in
    one_word = {string for string in strings if not re.search(r"\s", string)}
    named = {
        name for string in (strings if runs else one_word) for name in re.findall(r"\w+(?:\.\w+)+", string)
    }
    if dynamic:
        named |= {f"{package}.{string.lstrip('.')}" for string in one_word}
    words = {word for string in strings for word in re.findall(r"\w+", string)}
    tables = {string for string in strings if TABLES in string and not re.search(r"\s", string)}
    return Read(*map(frozenset, (imported, named, words, tables)))


class Reached:
    """The modules of `packages`, folders in `root`, that `texts` reach.

    `everything` where some text is more, or less, than Python: then nothing can be told.
    """

    def __init__(self, root: Path, packages: Iterable[str], texts: Iterable[str]):
        self.packages = tuple(packages)
        self.modules: dict[str, Path] = {}
        self.words: set[str] = set()
        self.tables: set[str] = set()
        self.everything = False
        every = {name: path for one in self.packages for name, path in _modules(root, one).items()}
        inside: dict[str, set[str]] = {name: set() for name in every}
        for name in every:
            for package in _with_those_above({name}) & every.keys() - {name}:
                inside[package].add(name)
        waiting = [("", text) for text in texts]
        while waiting:
            package, text = waiting.pop()
            try:
                said = read(text, package)
            except SyntaxError:
                self.everything, self.modules = True, every
                return
            self.words |= said.words
            self.tables |= said.tables
            below = {name for package in said.named & every.keys() for name in inside[package]}
            for name in _with_those_above(said.imported | said.named) | below:
                if name in every and name not in self.modules:
                    self.modules[name] = path = every[name]
                    own = name if path.name == "__init__.py" else name.rpartition(".")[0]
                    waiting.append((own, path.read_text(encoding="utf-8")))

    def decides(self, file: str) -> bool:
        """Whether a file, by its path in the course, may be reached. Of a package its modules are told apart, no other file."""
        path = Path(file)
        if self.everything or path.parts[0] not in (*self.packages, "data"):
            return True
        if path.parts[0] == "data":
            return len(path.parts) < 3 or self._reads(path)
        return path.suffix != ".py" or _name(path) in self.modules

    def _reads(self, path: Path) -> bool:
        """A folder of `data/` is read by who has its name in a string."""
        folder = path.parts[1]
        if folder == TABLES:
            return any(_may_be(string, path.name) for string in self.tables)
        return folder in self.words


def _may_be(string: str, name: str) -> bool:
    """Whether a string with the folder's name in it is the path of that table, or not yet the path of one."""
    _, _, table = string.rpartition(f"{TABLES}/")
    if table in ("", string):  # the folder alone: what is read of it stands elsewhere
        return True
    pattern = ".*".join(map(re.escape, table.split(ANYTHING)))
    return re.fullmatch(pattern, name) is not None


def _with_those_above(names: Iterable[str]) -> set[str]:
    """Modules with the packages they lie in, which are imported before them."""
    parts = [name.split(".") for name in names]
    return {".".join(one[:length]) for one in parts for length in range(1, len(one) + 1)}


def _modules(root: Path, package: str) -> dict[str, Path]:
    return {
        _name(path.relative_to(root)): path
        for path in sorted((root / package).rglob("*.py"))
        if "__pycache__" not in path.parts
    }


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
