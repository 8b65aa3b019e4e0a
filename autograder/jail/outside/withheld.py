"""The packages that a jail shows, without the functions and classes that an exercise asks for.

Such a definition is taken out of the file, so that it can neither be imported nor read, whatever imports it. In its
place stands one that says why it is missing when it is used.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.jail.outside.bubblewrap import package_folder
from autograder.parsing import parse

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
STAND_IN = '{name} = __import__("autograder.checks.withheld", fromlist=[""]).Withheld("{module}.{name}")'


def definitions(packages: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The functions and classes of these packages that have one of the names: "coursekit.modules.Block"."""
    wanted = "|".join(map(re.escape, sorted(set(names))))
    if not wanted:
        return ()
    defines = re.compile(rf"^\s*(?:async +)?(?:def|class) +({wanted})\b", re.MULTILINE)
    found = []
    for package in packages:
        folder = package_folder(package)
        for file in sorted(folder.rglob("*.py")):
            source = file.read_text(encoding="utf-8", errors="replace")
            if inside := set(defines.findall(source)):
                parts = file.relative_to(folder).with_suffix("").parts
                module = ".".join([package, *(part for part in parts if part != "__init__")])
                at_the_top = {node.name for node in _definitions(_parsed(source))}
                found += [f"{module}.{name}" for name in sorted(inside & at_the_top)]
    return tuple(found)


def masks(withheld: Iterable[str]) -> dict[Path, bytes]:
    """Of each file that defines something withheld, in each installed copy, what a jail shows instead."""
    names: dict[str, set[str]] = {}
    for dotted in withheld:
        module, _, name = dotted.rpartition(".")
        names.setdefault(module, set()).add(name)
    return {
        file: without(file.read_text(encoding="utf-8", errors="replace"), module, hidden).encode()
        for module, hidden in names.items()
        for file in _files(module)
    }


def without(source: str, module: str, names: set[str]) -> str:
    """The source of a module without the functions and classes of these names. All other lines keep their numbers."""
    lines = source.splitlines()
    for node in _definitions(_parsed(source)):
        if node.name in names:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            stand_in = STAND_IN.format(module=module, name=node.name)
            lines[first - 1 : node.end_lineno] = [
                " " * node.col_offset + stand_in,
                *[""] * ((node.end_lineno or first) - first),
            ]
    return "\n".join([*lines, ""])


def _parsed(source: str) -> list[ast.stmt]:
    """The statements of a module; none where it is not Python, so that nobody can import it."""
    try:
        return parse(source).body
    except (SyntaxError, ValueError):
        return []


def _definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    """Of a module, also where they depend on a condition."""
    for node in body:
        if isinstance(node, Definition):
            yield node
        for part in ("body", "orelse", "handlers", "finalbody") if isinstance(node, ast.If | ast.Try) else ():
            for inner in getattr(node, part, ()):
                yield from _definitions(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _files(module: str) -> list[Path]:
    """Where the module lies: in the package that notebooks import, and in any other copy that Python could find."""
    package, *parts = module.split(".")
    first = package_folder(package)
    folders = [first, *(Path(path).resolve() / package for path in sys.path if path)]
    places = [folder.joinpath(*parts) for folder in dict.fromkeys(folders)]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return [file for file in files if file.is_file()]
