"""The autograded notebook: the student's cells, what they printed, and our verdict under each check."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.checks.card import COLOUR, SYMBOL, WRONG
from autograder.checks.status import Status
from autograder.course import Assignment
from autograder.results import CellVerdict, Result
from autograder.source import grade_id

SHOWN = ("text/plain", "image/png")
"""Kinds of a student's output that are kept. They cannot run a script in an instructor's browser."""


def fill_outputs(
    notebook: NotebookNode, outputs: Mapping[int, list[dict[str, Any]]], verdicts: Mapping[str, CellVerdict]
) -> NotebookNode:
    """A copy of a restored notebook with the run's outputs and the verdicts.

    Its texts are as the student wrote them: `pages` sees to it that no browser runs any of it.
    """
    # Only what is replaced below is copied: a whole copy would take longer than the notebook ran.
    cells, count = [], 0
    for place, cell in enumerate(notebook["cells"]):
        new = {}
        if cell["cell_type"] == "code":
            if place in outputs:
                count += 1
                shown = [safe for output in outputs[place] if (safe := _safe_output(output, count))]
                new = {"execution_count": count, "outputs": shown}
            if verdict := verdicts.get(grade_id(cell)):
                new["outputs"] = [verdict_output(verdict)]
        cells.append(NotebookNode(cell, **new) if new else cell)
    return NotebookNode(notebook, cells=cells)


def shown_verdicts(assignment: Assignment, notebook: NotebookNode, result: Result) -> dict[str, CellVerdict]:
    """The verdicts that stand in the notebook: of every check, and of test cells that show nothing and have not passed.

    Otherwise a test cell shows its own outputs, as nbgrader leaves them.
    """
    silent = {
        grade_id(cell)
        for place, cell in enumerate(notebook["cells"])
        if assignment.is_test(cell) and not result.outputs.get(place)
    }
    return {
        verdict.grade_id: verdict
        for verdict in result.verdicts
        if verdict.grade_id in assignment.by_check_id
        or (verdict.grade_id in silent and verdict.status != Status.PASSED)
    }


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
    colour = COLOUR.get(verdict.status, WRONG)
    html = f'<div style="border-left:4px solid {colour};padding:6px 10px"><b>{escape(title)}</b>'
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
        error = {"ename": output["ename"], "evalue": output["evalue"], "traceback": lines}
        return from_dict({"output_type": kind, **error})
    data = {mime: _plain(output["data"][mime]) for mime in SHOWN if mime in output.get("data", {})}
    if not data:
        return None
    if kind == "execute_result":
        return from_dict({"output_type": kind, "data": data, "metadata": {}, "execution_count": count})
    return from_dict({"output_type": "display_data", "data": data, "metadata": {}})
