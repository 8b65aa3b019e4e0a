"""`progress()`: which checks of a notebook pass, as they were last run; `course_map()`: how far each notebook is."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from autograder.checks import answer_key, journal, lending
from autograder.checks.card import RIGHT, WAITING, WRONG

UNANSWERED, LENT = "unanswered", "lent"
SIGNS = {True: "✓", False: "✗", None: "·", UNANSWERED: "…", LENT: lending.SIGN}
WORDS = {
    True: "passes",
    False: "not yet right",
    None: "not run yet",
    UNANSWERED: "not answered yet",
    LENT: "lent, earns nothing",
}
FURTHER = re.compile(r"(?i)([\d.]+ · )?(extensions?|further)\b")
"""How the heading of a section begins that does not belong to the core path; it may have a number."""
COLOURS = {True: RIGHT, False: WRONG, None: WAITING, UNANSWERED: WAITING, LENT: WAITING}


@dataclass(frozen=True)
class Overview:
    """The checks of a notebook by name, and what their last run said; shown as a table or as text."""

    notebook: str
    checks: dict[str, bool | str | None]
    further: frozenset[str] = frozenset()
    """Those that do not belong to the core path."""

    @property
    def title(self) -> str:
        """The notebook, and how many of its checks pass."""
        passed = sum(state is True for state in self.checks.values())
        return f"{self.notebook}: {passed} of {len(self.checks)} checks pass"

    def said_of(self, name: str) -> str:
        """The state of a check in words, and whether it lies beyond the core path."""
        return WORDS[self.checks[name]] + (" (further)" if name in self.further else "")

    def text(self) -> str:
        """The title, then a line for each check."""
        lines = [f"{SIGNS[state]} {name}: {self.said_of(name)}" for name, state in self.checks.items()]
        return "\n  ".join([self.title, *lines])

    def html(self) -> str:
        """The title, then a table with a row for each check."""
        rows = "".join(
            f'<tr><td style="color:{COLOURS[state]};text-align:center">{SIGNS[state]}</td>'
            f'<td style="text-align:left">{escape(name)}</td><td style="text-align:left">{self.said_of(name)}</td></tr>'
            for name, state in self.checks.items()
        )
        return f'<div style="font-weight:600">{escape(self.title)}</div><table>{rows}</table>'


@dataclass(frozen=True)
class Overviews:
    """One notebook, or all of them."""

    parts: tuple[Overview, ...]

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": "".join(part.html() for part in self.parts)}

    def __str__(self) -> str:
        return "\n".join(part.text() for part in self.parts)


def progress(notebook: str | None = None) -> Overviews:
    """Which checks pass: of this notebook, of another ("05" or "05_elmo"), or of all where there is no telling which.

    A check that passed is shown as passing until it is run again and fails; nothing is graded by this.
    """
    keys = {path.stem: path for path in answer_key.key_files()}
    wanted = this_notebook() if notebook is None else notebook
    chosen = [name for name in keys if wanted and (name == wanted or name.partition("_")[0] == wanted)]
    if notebook is not None and not chosen:
        raise ValueError(f"There is no notebook {notebook!r}. There are: {', '.join(keys)}.")
    record = journal.read()
    unanswered = {name: UNANSWERED for name, passed in record["checks"].items() if passed is None}
    lent = {name: LENT for name in record["lent"] if record["checks"].get(name) is None}
    results = record["checks"] | unanswered | lent
    return Overviews(tuple(_overview(keys[name], results) for name in chosen or keys))


def _overview(key: Path, results: dict[str, bool | str | None]) -> Overview:
    checks = list(answer_key.load(key))
    _, further = _title_and_further(key.with_suffix(".ipynb"), checks)
    return Overview(key.stem, {check: results.get(check) for check in checks}, frozenset(further))


def this_notebook() -> str:
    """The name of the notebook that this kernel runs, as JupyterLab tells it; empty elsewhere."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).stem


HERE = "go on here"


@dataclass(frozen=True)
class Stage:
    """How far one notebook is. What goes further counts apart: a notebook is done with its core path."""

    title: str
    link: str  # from the folder of the notebook that shows the map
    core: tuple[bool | None, ...]  # what the last run of each check said
    further: tuple[bool | None, ...]

    @property
    def done(self) -> bool:
        """Whether every check of the core path passed; a notebook without any is done from the start."""
        return all(self.core)

    @property
    def begun(self) -> bool:
        """Whether any check, of the core path or beyond, has been given an answer."""
        return any(state is not None for state in (*self.core, *self.further))

    def count(self) -> str:
        """ "✓ 7 of 7 and 1 of 2 further": the checks that pass, with those beyond the core path if there are any."""
        passed = sum(state is True for state in self.core)
        more = sum(state is True for state in self.further)
        extra = f" and {more} of {len(self.further)} further" if more else ""
        return f"{'✓' if self.done else ' '} {passed} of {len(self.core)}{extra}"


@dataclass(frozen=True)
class CourseMap:
    """All notebooks with their stages, and which of them comes next."""

    stages: tuple[Stage, ...]

    @property
    def here(self) -> Stage | None:
        """Where to go on: the first notebook that was begun and is not done, else the first that is not done."""
        open_ones = [stage for stage in self.stages if not stage.done]
        return next((stage for stage in open_ones if stage.begun), open_ones[0] if open_ones else None)

    def __str__(self) -> str:
        return "\n".join(
            f"{stage.count()}  {stage.title}{f'  ← {HERE}' if stage is self.here else ''}"
            for stage in self.stages
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        cell = 'style="text-align:left;white-space:normal;padding:2px 14px 2px 0"'
        rows = "".join(
            f'<tr><td {cell}>{escape(stage.count())}</td><td {cell}><a href="{escape(stage.link)}">'
            f"{escape(stage.title)}</a>{f' <b>← {HERE}</b>' if stage is self.here else ''}</td></tr>"
            for stage in self.stages
        )
        return {"text/plain": str(self), "text/html": f"<table>{rows}</table>"}


def course_map() -> CourseMap:
    """How many checks of each notebook pass, with links, and where to go on. Run its cell again to renew it."""
    results = journal.checks()
    return CourseMap(tuple(
        _stage(path.with_suffix(".ipynb"), list(answer_key.load(path)), results) for path in answer_key.key_files()
    ))  # fmt: skip


def _stage(notebook: Path, checks: list[str], results: dict[str, bool | None]) -> Stage:
    title, further = _title_and_further(notebook, checks)
    return Stage(
        title,
        quote(Path(os.path.relpath(notebook)).as_posix()),
        tuple(results.get(check) for check in checks if check not in further),
        tuple(results.get(check) for check in checks if check in further),
    )


def _title_and_further(notebook: Path, checks: list[str]) -> tuple[str, set[str]]:
    """The notebook's title, and which checks stand below a heading that goes further or are extra credit."""
    title, further, below = notebook.stem, set(), False
    for kind, source, metadata in _cells(notebook):
        if kind == "markdown":
            for level, heading in re.findall(r"^(##?) (.+)", source, re.MULTILINE):
                title = heading.strip() if level == "#" and title == notebook.stem else title
                below = bool(FURTHER.match(heading))
        elif below or metadata.get("course", {}).get("extra_credit"):
            further |= {check for check in checks if f'check("{check}"' in source}
    return title, further


def _cells(notebook: Path) -> Iterator[tuple[str, str, dict]]:
    """Kind, source and metadata of each cell; of none where the file cannot be read."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            yield cell["cell_type"], "".join(cell["source"]), cell["metadata"]
    except (OSError, ValueError, KeyError, TypeError):
        return
