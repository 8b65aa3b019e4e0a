"""`progress()`: which checks of a notebook pass, as they were last run; `course_map()`: how far each notebook is."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from autograder.checks import answer_key, journal, lending
from autograder.checks.notebook_file import path_of_this_notebook
from autograder.checks.notes import RIGHT, WAITING, WRONG

Cell = tuple[str, str, dict]
"""Kind, source and metadata."""

UNANSWERED, LENT = "unanswered", "lent"
SIGNS = {True: "✓", False: "✗", None: "·", UNANSWERED: "…", LENT: lending.SIGN}
WORDS = {
    True: "passes",
    False: "not yet right",
    None: "not run yet",
    UNANSWERED: "not answered yet",
    LENT: "lent, earns no points",
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
    wanted = path_of_this_notebook().stem if notebook is None else notebook
    chosen = [name for name in keys if wanted and (name == wanted or name.partition("_")[0] == wanted)]
    if notebook is not None and not chosen:
        raise ValueError(f"There is no notebook {notebook!r}. Available: {', '.join(keys)}.")
    record = journal.read()
    unanswered = {name: UNANSWERED for name, passed in record["checks"].items() if passed is None}
    lent = {name: LENT for name in record["lent"] if record["checks"].get(name) is None}
    results = record["checks"] | unanswered | lent
    return Overviews(tuple(_overview(keys[name], results) for name in chosen or keys))


def _overview(key: Path, results: dict[str, bool | str | None]) -> Overview:
    checks = list(answer_key.load(key))
    _, further = _title_and_further(key.stem, _cells(key.with_suffix(".ipynb")), checks)
    return Overview(key.stem, {check: results.get(check) for check in checks}, frozenset(further))


HERE = "continue here"


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

    @property
    def passed(self) -> int:
        """How many checks of the core path pass."""
        return sum(state is True for state in self.core)

    def count(self) -> str:
        """ "✓ 7 of 7 and 1 of 2 further": the checks that pass, with those beyond the core path if there are any."""
        more = sum(state is True for state in self.further)
        extra = f" and {more} of {len(self.further)} further" if more else ""
        return f"{'✓' if self.done else ' '} {self.passed} of {len(self.core)}{extra}"


@dataclass(frozen=True)
class CourseMap:
    """Which notebook comes next, how much of the course is done, and all notebooks with their stages."""

    stages: tuple[Stage, ...]

    @property
    def here(self) -> Stage | None:
        """Where to go on: the first notebook that was begun and is not done, else the first that is not done."""
        open_ones = [stage for stage in self.stages if not stage.done]
        return next((stage for stage in open_ones if stage.begun), open_ones[0] if open_ones else None)

    @property
    def next_step(self) -> tuple[str, str]:
        """What to say before and after the title of the notebook that comes next; all of it where none does."""
        if self.here is None:
            return "Every check of the core path passes.", ""
        if not self.here.begun:
            return "Begin with " if self.here is self.stages[0] else "Continue with ", "."
        return "Continue with ", f": {self.here.passed} of {len(self.here.core)} checks pass."

    @property
    def done(self) -> tuple[int, int]:
        """How many checks of the core path pass, and how many there are."""
        return sum(stage.passed for stage in self.stages), sum(len(stage.core) for stage in self.stages)

    def __str__(self) -> str:
        before, after = self.next_step
        title = self.here.title if self.here else ""
        passed, all_checks = self.done
        rows = (
            f"{stage.count()}  {stage.title}{f'  ← {HERE}' if stage is self.here else ''}"
            for stage in self.stages
        )
        head = f"{before}{title}{after}", f"Core path of the course: {passed} of {all_checks} checks pass."
        return "\n".join([*head, *rows])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        before, after = self.next_step
        passed, all_checks = self.done
        cell = 'style="text-align:left;white-space:normal;padding:2px 14px 2px 0"'
        rows = "".join(
            f"<tr><td {cell}>{_bar(stage.passed, len(stage.core))}</td><td {cell}>{escape(stage.count())}</td>"
            f"<td {cell}>{_linked(stage)}{f' <b>← {HERE}</b>' if stage is self.here else ''}</td></tr>"
            for stage in self.stages
        )
        html = (
            f'<p style="font-size:115%"><b>{before}{_linked(self.here) if self.here else ""}{after}</b></p>'
            f"<p>{_bar(passed, all_checks)} Core path of the course: {passed} of {all_checks} checks pass.</p><table>{rows}</table>"
        )
        return {"text/plain": str(self), "text/html": html}


def _linked(stage: Stage) -> str:
    return f'<a href="{escape(stage.link)}">{escape(stage.title)}</a>'


def _bar(passed: int, of: int) -> str:
    """A bar with the fraction done. Screen readers skip it, because the text next to it gives the same numbers."""
    return f'<progress style="width:6em" value="{passed}" max="{of or 1}" aria-hidden="true"></progress>'


def course_map() -> CourseMap:
    """Where to go on and how many checks of each notebook pass, with links. Run its cell again to renew it."""
    return map_of(answer_key.key_files(), journal.checks(), Path.cwd())


def map_of(
    keys: Iterable[Path],
    results: Mapping[str, bool | None],
    folder: Path,
    cells: Mapping[Path, Iterable[Cell]] | None = None,
) -> CourseMap:
    """The map of the notebooks with these answer keys, for a notebook in `folder`. `results` says which checks passed.

    `cells` has those of the notebook of each key, if they are not to be read from the notebook beside it.
    """
    return CourseMap(tuple(
        _stage(
            path.with_suffix(".ipynb"), list(answer_key.load(path)), results, folder,
            _cells(path.with_suffix(".ipynb")) if cells is None else cells[path],
        )
        for path in keys
    ))  # fmt: skip


def _stage(
    notebook: Path,
    checks: list[str],
    results: Mapping[str, bool | None],
    folder: Path,
    cells: Iterable[Cell],
) -> Stage:
    title, further = _title_and_further(notebook.stem, cells, checks)
    return Stage(
        title,
        quote(Path(os.path.relpath(notebook, folder)).as_posix()),
        tuple(results.get(check) for check in checks if check not in further),
        tuple(results.get(check) for check in checks if check in further),
    )


def _title_and_further(stem: str, cells: Iterable[Cell], checks: list[str]) -> tuple[str, set[str]]:
    """The notebook's title, and which checks stand below a heading that goes further or are extra credit."""
    title, further, below = stem, set(), False
    for kind, source, metadata in cells:
        if kind == "markdown":
            for level, heading in re.findall(r"^(##?) (.+)", source, re.MULTILINE):
                title = heading.strip() if level == "#" and title == stem else title
                below = bool(FURTHER.match(heading))
        elif below or metadata.get("course", {}).get("extra_credit"):
            further |= {check for check in checks if f'check("{check}"' in source}
    return title, further


def _cells(notebook: Path) -> Iterator[Cell]:
    """The cells of a notebook; none where the file cannot be read."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            yield cell["cell_type"], "".join(cell["source"]), cell["metadata"]
    except (OSError, ValueError, KeyError, TypeError):
        return
