"""Which passages does the course itself offer for retrieval: what do the glossary and the summaries say today?

Collects the entries of the glossary and the points of the notebooks' summaries into `data/retrieval/passages.csv`.
`retrieval_answers` must be recorded anew afterwards.
"""

import re
from collections.abc import Iterator

import pandas as pd

from autograder.source import read_source
from experiments.harness import ROOT, Card, Options

TABLE = ROOT / "data/retrieval/passages.csv"
ENTRY = re.compile(r"^## (.+)\n\n(.+?)(?: \[(\d\d)\]\(\S+\))?\n", re.MULTILINE)
POINT = re.compile(r"^- (.+(?:\n  .+)*)", re.MULTILINE)


def plain(text: str) -> str:
    """Without Markdown; a link is replaced by its text."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[*`]", "", text).split())


def entries(glossary: str) -> list[tuple[str, str, str, str]]:
    """Source, notebook, title and text of each entry."""
    return [
        ("glossary", number, title, plain(text)) for title, text, number in ENTRY.findall(glossary + "\n")
    ]


def points(number: str, cells: list[str]) -> list[tuple[str, str, str, str]]:
    """The same of each point of a notebook's summary."""
    summary = next(cell for cell in cells if cell.startswith("## Summary"))
    title = next(cell for cell in cells if cell.startswith("# ")).splitlines()[0].removeprefix("# ")
    return [("summary", number, title, plain(text)) for text in POINT.findall(summary)]


def lines(options: Options) -> Iterator[str]:
    """Write the table, and say what is in it."""
    rows = entries((ROOT / "docs/glossary.md").read_text())
    for source in sorted(ROOT.glob("solutions/[0-9]*/[0-9]*.py")):
        cells = [cell.source for cell in read_source(source).cells]
        if any(cell.startswith("## Summary") for cell in cells):
            rows += points(source.stem[:2], cells)
    table = pd.DataFrame(rows, columns=["source", "notebook", "title", "text"])
    table.insert(0, "id", [f"t{number:03d}" for number in range(1, len(table) + 1)])
    table.to_csv(TABLE, index=False)
    yield f"{len(table)} passages, {int((table.source == 'glossary').sum())} of them from the glossary"


EXPERIMENT = Card(lines)
