"""Checks whether everything that the notebooks need is installed; used by the start page."""

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.metadata import version

from autograder.checks.card import RIGHT, WRONG

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
PACKAGES = (
    "torch",
    "transformers",
    "numpy",
    "pandas",
    "matplotlib",
    "jupyterlab",
    "ipywidgets",
    "nbgrader",
    "bertviz",
)
REINSTALL = "Install the course again: `make clean`, then `make lab`."


@dataclass(frozen=True)
class Item:
    """One requirement of the notebooks: what was found, or what to do if it is missing."""

    name: str
    found: str
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether the requirement is met, so that there is nothing to do."""
        return not self.remedy


@dataclass(frozen=True)
class Installation:
    """The requirements found on this machine, displayed as a table, or as text in a terminal."""

    items: tuple[Item, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that the notebooks need is there."""
        return all(item.ok for item in self.items)

    @property
    def title(self) -> str:
        """One line that says whether the notebooks can run, or names what is missing."""
        missing = [item.name for item in self.items if not item.ok]
        return f"Not ready yet: see {', '.join(missing)}" if missing else "Everything is ready"

    def __str__(self) -> str:
        width = max(len(item.name) for item in self.items)
        rows = [
            f"{_mark(item)} {item.name:<{width}}  {item.found} {item.remedy}".rstrip() for item in self.items
        ]
        return "\n  ".join([self.title, *rows])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        cell = 'style="text-align:left;padding:2px 12px 2px 0"'
        rows = "".join(
            f'<tr><td {cell}><span style="color:{RIGHT if item.ok else WRONG}">{_mark(item)}</span></td>'
            f'<th scope="row" {cell}>{escape(item.name)}</th>'
            f"<td {cell}>{escape(f'{item.found} {item.remedy}')}</td></tr>"
            for item in self.items
        )
        colour = RIGHT if self.ok else WRONG
        html = (
            f'<div role="status" style="border-left:4px solid {colour};padding:6px 10px;margin:2px 0">'
            f'<div style="font-weight:600;color:{colour}">{escape(self.title)}</div><table>{rows}</table></div>'
        )
        return {"text/plain": str(self), "text/html": html}


def installation() -> Installation:
    """Check every requirement of the notebooks (about 5 s the first time, because torch and transformers are imported)."""
    return Installation(tuple(_items()))


def _items() -> Iterator[Item]:
    old = sys.version_info < OLDEST_PYTHON
    oldest, newest = (".".join(map(str, each)) for each in (OLDEST_PYTHON, NEWEST_PYTHON))
    remedy = f"The course needs Python {oldest} to {newest}." if old else ""
    yield Item("Python", platform.python_version(), remedy)
    for name in PACKAGES:
        yield _tried(name, lambda name=name: _import(name), REINSTALL)
    yield _tried("GloVe vectors", _read_glove, "")
    yield _tried("Word pairs", _read_pairs, "")
    yield _tried("Encoder", lambda: _find_model("all-MiniLM-L6-v2"), "")
    yield _tried("Decoder", lambda: _find_model("SmolLM2-135M-Instruct"), "")


def _tried(name: str, attempt: Callable[[], str], remedy: str) -> Item:
    """The result of `attempt`; if it fails, the first line of its message and the remedy."""
    try:
        return Item(name, attempt())
    except Exception as error:  # a damaged package may raise anything while it is imported
        first, *_ = str(error).strip().splitlines() or [type(error).__name__]
        return Item(name, "", f"{first.rstrip('.')}. {remedy}".strip())


def _import(name: str) -> str:
    import_module(name)
    return version(name)


def _read_glove() -> str:
    from coursekit.vectors import load_glove  # optional: the report says what is missing

    glove = load_glove(top=1)  # compares both files with their published sha256
    return f"glove.6B, {glove.vectors.shape[1]} numbers for each word, as published"


def _read_pairs() -> str:
    from coursekit.word_pairs import FILES, PACKAGE  # optional: as above

    PACKAGE.folder()  # compares both files with their published sha256
    return f"{' and '.join(FILES)}, as published"


def _find_model(name: str) -> str:
    from coursekit.models import source  # optional: as above

    return str(source(name))


def _mark(item: Item) -> str:
    return "✓" if item.ok else "✗"
