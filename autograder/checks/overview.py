"""`progress()`: which checks of a notebook pass, as they were last run."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from autograder.checks import answer_key, journal
from autograder.checks.card import RIGHT, WAITING, WRONG

SIGNS = {True: "✓", False: "✗", None: "·"}
WORDS = {True: "passes", False: "not yet right", None: "not run yet"}
COLOURS = {True: RIGHT, False: WRONG, None: WAITING}


@dataclass(frozen=True)
class Overview:
    """The checks of a notebook by name, and what their last run said; shown as a table or as text."""

    notebook: str
    checks: dict[str, bool | None]

    @property
    def title(self) -> str:
        passed = sum(state is True for state in self.checks.values())
        return f"{self.notebook}: {passed} of {len(self.checks)} checks pass"

    def text(self) -> str:
        lines = [f"{SIGNS[state]} {name}: {WORDS[state]}" for name, state in self.checks.items()]
        return "\n  ".join([self.title, *lines])

    def html(self) -> str:
        rows = "".join(
            f'<tr><td style="color:{COLOURS[state]};text-align:center">{SIGNS[state]}</td>'
            f'<td style="text-align:left">{escape(name)}</td><td style="text-align:left">{WORDS[state]}</td></tr>'
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
    results = journal.checks()
    return Overviews(tuple(
        Overview(name, {check: results.get(check) for check in answer_key.load(keys[name])})
        for name in chosen or keys
    ))  # fmt: skip


def this_notebook() -> str:
    """The name of the notebook that this kernel runs, as JupyterLab tells it; empty elsewhere."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).stem
