"""What axe-core finds in a page, as the package axe-playwright-python carries it, and words that are hard to read."""

import re
from collections.abc import Sequence

import numpy as np
from axe_playwright_python.sync_playwright import Axe

from tests.contrast import LEAST, contrast

SERIOUS = ("serious", "critical")
JUPYTERLABS_OWN = (
    ".jp-InputArea-editor",
    ".jp-InputPrompt",
    ".jp-OutputPrompt",
    ".jp-Collapser",
    ".jp-cell-toolbar",
)
"""Parts of a notebook's page that JupyterLab draws as it does for everybody."""


def serious_findings(page, within: str = "html", but: Sequence[str] = ()) -> list[str]:
    """A line for each serious or critical finding of axe-core's in the parts of the page that the selector names.

    `but` names parts that are not ours to change.
    """
    part = {"include": [[within]], "exclude": [[selector] for selector in but]}
    options = {
        "resultTypes": ["violations"],
        "preload": False,
    }  # a page on a disk may not fetch its style sheets again
    found = Axe().run(page, part, options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} ({' '.join(node['failureSummary'].split())[:300]})"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


WORDS_AND_COLOURS = """area => [...area.querySelectorAll("*")].map(one => {
    const words = [...one.childNodes].filter(child => child.nodeType === 3).map(child => child.data).join("").trim();
    let behind = one;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    return [words, getComputedStyle(one).color, behind ? getComputedStyle(behind).backgroundColor : "rgb(255, 255, 255)"];
}).filter(([words]) => words)"""
"""The words of each element with their colour and the colour behind them."""


def faint_words(area) -> list[tuple[str, str, str]]:
    """The words of an area with too little contrast, each with its colour and the colour behind it; there must be words.

    A single character is a sign beside the text, of which WCAG asks 3.
    """
    shown = area.evaluate(WORDS_AND_COLOURS)
    assert shown
    return [
        (words, front, back)
        for words, front, back in shown
        if contrast(rgb(front), rgb(back)) < (LEAST if len(words) > 1 else 3)
    ]


def rgb(colour: str) -> np.ndarray:
    """Red, green and blue, from 0 to 1, of a colour as a browser computes it: "rgb(255, 255, 255)"."""
    return np.array(re.findall(r"\d+", colour)[:3], dtype=float) / 255
