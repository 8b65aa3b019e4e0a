"""Which packages an assignment needs where it is graded: those that its files import, and the tool's own, as installed here."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from autograder.errors import DISTRIBUTION, CourseError

FROM = re.compile(r"^[ \t>]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)", re.MULTILINE)
IMPORT = re.compile(r"^[ \t>]*import[ \t]+([^\n#;]+)", re.MULTILINE)
"""Found by their looks, so that a notebook's magics do not matter. Also what is imported only when it is needed."""


def pins(names: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """`name==version` of what the tool requires to grade, of the distributions that have these modules, of `more`
    distributions, and of all that they require.

    Modules that are not installed are left out: they are optional. Raises CourseError for one of `more`.
    """
    homes = metadata.packages_distributions()
    found: dict[str, str] = {}
    tool = metadata.distribution(DISTRIBUTION)
    waiting = [*_required(tool, frozenset({"grading"}))]
    waiting += [(one, frozenset()) for name in sorted(set(names)) for one in homes.get(name, ())]
    for one in more:
        try:
            metadata.version(one)
        except metadata.PackageNotFoundError:
            raise CourseError(
                f"The package {one} is not installed, so its version is unknown: install it."
            ) from None
        waiting.append((one, frozenset()))
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (canonicalize_name(name), extras) in seen:
            continue
        seen.add((canonicalize_name(name), extras))
        try:
            installed = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another system
            continue
        # A build for one kind of machine, such as 2.13.0+cpu, is not on every index.
        found[canonicalize_name(name)] = installed.version.partition("+")[0]
        waiting += _required(installed, extras)
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _required(one: metadata.Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a distribution requires on this system with these extras."""
    for line in one.requires or ():
        try:
            needed = Requirement(line)
        except (
            InvalidRequirement
        ):  # pip no longer installs such a package, but an old environment may hold one
            continue
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield needed.name, frozenset(needed.extras)


def imported(
    files: Iterable[Path], own: Mapping[str, Path], modules: Iterable[str] = ()
) -> tuple[set[str], set[Path]]:
    """The foreign packages that these files import, and the files of `own` packages ({name: folder}) that they lead to.

    `modules` are imported, too. What comes with Python is left out.
    """
    foreign: set[str] = set()
    seen: set[Path] = set()
    waiting = [*files]
    asked = [*modules]
    while waiting or asked:
        while asked:
            name = asked.pop()
            top = name.partition(".")[0]
            if top in own:
                waiting += _files(own[top], name.split(".")[1:])
            elif top not in sys.stdlib_module_names and top:
                foreign.add(top)
        if waiting and (file := waiting.pop()) not in seen:
            seen.add(file)
            asked += _asked(file, own)
    return foreign, seen


def _asked(file: Path, own: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, with dots from their package."""
    text = file.read_text(encoding="utf-8", errors="replace")
    for dots, module, names in FROM.findall(text):
        home = _package(file, len(dots), own) if dots else []
        if home is None:
            continue
        base = ".".join([*home, *filter(None, module.split("."))])
        yield base
        yield from (f"{base}.{name}" for name in re.findall(r"\w+", names))
    for names in IMPORT.findall(text):
        yield from (match[1] for match in re.finditer(r"(?:^|,)\s*([\w.]+)", names))


def _package(file: Path, dots: int, own: Mapping[str, Path]) -> list[str] | None:
    """The package that so many dots stand for in a file of one of our packages."""
    folder = file.parents[dots - 1]
    for name, top in own.items():
        if folder.is_relative_to(top):
            return [name, *folder.relative_to(top).parts]
    return None


def _files(top: Path, parts: list[str]) -> Iterator[Path]:
    """The files that Python runs to import a module: those of the packages around it, and its own."""
    for end in range(len(parts) + 1):
        place = top.joinpath(*parts[:end])
        yield from (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file())
