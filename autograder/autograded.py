"""The autograded notebook: the student's cells, what they printed, and our verdict under each check."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from html import escape
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode, from_dict

from autograder.source import grade_id
from autograder.verdicts import CellVerdict
from coursekit.card import RIGHT, SYMBOL, WAITING, WRONG

MOST_TEXT, SHOWN_OF_TOO_MUCH = 200_000, 2000  # characters of a notebook's texts; of a cell beyond that
SHOWN = ("text/plain", "image/png")
"""Kinds of a student's output that are kept. They cannot run a script in an instructor's browser."""

CLEANED = re.compile(r"[<>&\x00-\x08\x0b-\x1f]")
"""What bleach looks at. A text without any of it holds no element, comment or entity."""


def fill_outputs(
    notebook: NotebookNode, outputs: Mapping[int, list[dict[str, Any]]], verdicts: Mapping[str, CellVerdict]
) -> NotebookNode:
    """A copy of a restored notebook with the run's outputs and the verdicts, safe to show in a browser."""
    # Only what is replaced below is copied: a whole copy would take longer than the notebook ran.
    filled = NotebookNode(notebook, cells=[NotebookNode(cell) for cell in notebook.cells])
    count = 0
    for place, cell in enumerate(filled.cells):
        if cell.cell_type != "code":
            continue
        if place in outputs:
            count += 1
            cell.execution_count = count
            cell.outputs = [safe for output in outputs[place] if (safe := _safe_output(output, count))]
        verdict = verdicts.get(grade_id(cell))
        if verdict:
            cell.outputs = [verdict_output(verdict)]
    _make_texts_safe([cell for cell in filled.cells if cell.cell_type in ("markdown", "raw")])
    return filled


def _make_texts_safe(cells: Iterable[NotebookNode]) -> None:
    """Bleach removes scripts and event handlers from markdown. It would spoil code, and is slow on a lot of text."""
    room = MOST_TEXT
    for cell in cells:
        room -= len(cell.source)
        if room > 0:
            cell.source = _without_scripts(cell.source)
        else:
            rest = f"… The submission has too much text to show here; this cell has {len(cell.source)} characters."
            cell.source = f"{escape(cell.source[:SHOWN_OF_TOO_MUCH], quote=False)}\n\n{rest}"
        if not _can_be_shown(cell):
            cell.source = "\n".join(f"    {line}" for line in cell.source.splitlines())


def _remembered(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Most texts are the release's own and come again with every student. Long ones would fill the memory."""
    cached = lru_cache(maxsize=1000)(function)
    return lambda text: cached(text) if len(text) < 5000 else function(text)


@_remembered
def _without_scripts(text: str) -> str:
    if not CLEANED.search(text):
        return text
    return SanitizeHTML(sanitized_output_types=set()).sanitize_html_tags(text)


def _can_be_shown(cell: NotebookNode) -> bool:
    """Whether nbconvert can make a page of it: it stops at a picture that is not attached."""
    attachments = cell.get("attachments")
    return _can_be_rendered(cell.source, attachments) if attachments else _is_plain(cell.source)


@_remembered
def _is_plain(text: str) -> bool:
    return _can_be_rendered(text, {})


def _can_be_rendered(text: str, attachments: Mapping[str, Any]) -> bool:
    if not re.search(r"!\[|<img|```|~~~", text, re.IGNORECASE):
        return True
    try:
        MarkdownWithMath(IPythonRenderer(escape=False, attachments=attachments)).render(text)
    except Exception:
        return False
    return True


def _plain(text: str) -> str:
    """Without the codes that colour a terminal; nbconvert stops at some of them."""
    return re.sub(r"\x1b(\[[0-9;]*[A-Za-z])?", "", text)


def verdict_output(verdict: CellVerdict) -> NotebookNode:
    """What student and instructor read under a check."""
    earned = (
        f"{verdict.earned:g} of {verdict.max_score:g} points"
        if verdict.max_score
        else f"{verdict.earned:g} extra points"
    )
    title = f"{SYMBOL.get(verdict.status, '✗')} {verdict.grade_id.removesuffix('-check')}: {verdict.status}, {earned}"
    lines = [line for line in (verdict.reason, verdict.hint) for line in line.splitlines() if line.strip()]
    colour = {"passed": RIGHT, "missing": WAITING}.get(verdict.status, WRONG)
    html = f'<div style="border-left:4px solid {colour};padding:6px 10px"><b style="color:{colour}">{escape(title)}</b>'
    html += "".join(f'<div style="white-space:pre-wrap">{escape(line)}</div>' for line in lines) + "</div>"
    data = {"text/plain": "\n  ".join([title, *lines]), "text/html": html}
    return from_dict({"output_type": "display_data", "data": data, "metadata": {}})


def _safe_output(output: Mapping[str, Any], count: int) -> NotebookNode | None:
    """Put together by hand: nbformat's new_output checks each against its schema, and `frames` has done that."""
    kind = output["output_type"]
    if kind == "stream":
        return from_dict({"output_type": kind, "name": output["name"], "text": _plain(output["text"])})
    if kind == "error":
        lines = [_plain(line) for line in output["traceback"]]
        words = {"ename": output["ename"], "evalue": output["evalue"], "traceback": lines}
        return from_dict({"output_type": kind, **words})
    data = {mime: _plain(output["data"][mime]) for mime in SHOWN if mime in output.get("data", {})}
    if not data:
        return None
    if kind == "execute_result":
        return from_dict({"output_type": kind, "data": data, "metadata": {}, "execution_count": count})
    return from_dict({"output_type": "display_data", "data": data, "metadata": {}})
