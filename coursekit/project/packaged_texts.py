"""Three texts that every environment of the course contains already: nothing has to be downloaded or shipped."""

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from coursekit.project import personal

DOCUMENTED = (
    "torch", "torch.nn", "torch.nn.functional", "torch.optim", "numpy", "numpy.linalg", "sklearn.cluster",
    "sklearn.linear_model", "matplotlib.axes",
)  # fmt: skip
"""Modules whose documentation strings make up the second text."""


@dataclass(frozen=True)
class Packaged:
    """A text that is read from what is installed; `about` says whose it is and under which licence."""

    read: Callable[[], str]
    about: str


def language_reference() -> str:
    """What Python's `help("topics")` shows: most of its language reference."""
    from pydoc_data.topics import topics  # start-up: half a megabyte of text

    return personal.replaced("\n\n".join(topics[name] for name in sorted(topics)))


def docstrings() -> str:
    """The documentation strings of public functions and classes, and of the classes' methods, each once."""
    seen: dict[str, None] = {}
    for name in DOCUMENTED:
        for one in _documented(import_module(name)):
            seen.setdefault(one)
    return personal.replaced("\n\n".join(seen))


def _documented(module: ModuleType) -> Iterator[str]:
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        methods = (
            [vars(value)[one] for one in sorted(vars(value)) if one[0] != "_"]
            if inspect.isclass(value)
            else []
        )
        for documented in (value, *filter(callable, methods)):
            said = getattr(documented, "__doc__", None)
            if isinstance(said, str):
                yield inspect.cleandoc(said)


def course_prose() -> str:
    """What the notebooks of this course say between their cells of code."""
    beside = Path(__file__).parents[2]
    places = [
        beside / "notebooks",
        *(one / "notebooks" for one in (Path.cwd(), *Path.cwd().parents)),
        Path.cwd().parent,
    ]
    folder = next((one for one in places if (one / "start.ipynb").exists()), None)
    if folder is None:
        raise FileNotFoundError(
            'The notebooks of the course were not found: use "language reference" instead.'
        )
    texts = []
    for path in sorted(folder.glob("*/*.ipynb")):
        if path.parent.name != "project":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return "\n\n".join(texts)


PACKAGED = {
    "language reference": Packaged(language_reference, "Python's language reference, as `help` shows it (Python Software Foundation, PSF licence)."),
    "docstrings": Packaged(docstrings, "Documentation strings of PyTorch, NumPy and scikit-learn (BSD licences) and Matplotlib (its own, similar licence), as installed here."),
    "this course": Packaged(course_prose, "The prose of this course's notebooks (CC BY 4.0)."),
}  # fmt: skip
"""By the name that `own_text` takes. None is part of the course's files, except the third, which we wrote."""
