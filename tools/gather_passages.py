"""Write data/retrieval/passages.csv: the glossary's entries and the points of the notebooks' summaries, as they are now.

    python tools/gather_passages.py

What is recorded about the passages (`record_retrieval.py`) has to be recorded again afterwards.
"""

import re
from pathlib import Path

import pandas as pd

from autograder.source import read_source

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "data/retrieval/passages.csv"
ENTRY = re.compile(r"^## (.+)\n\n(.+?)(?: \[(\d\d)\]\(\S+\))?\n", re.MULTILINE)
POINT = re.compile(r"^- (.+(?:\n  .+)*)", re.MULTILINE)


def plain(text: str) -> str:
    """Without marks of Markdown, and the words of a link in place of it."""
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


def main() -> None:
    rows = entries((ROOT / "docs/glossary.md").read_text())
    for source in sorted(ROOT.glob("solutions/[0-9]*/[0-9]*.py")):
        cells = [cell.source for cell in read_source(source).cells]
        if any(cell.startswith("## Summary") for cell in cells):
            rows += points(source.stem[:2], cells)
    table = pd.DataFrame(rows, columns=["source", "notebook", "title", "text"])
    table.insert(0, "id", [f"t{number:03d}" for number in range(1, len(table) + 1)])
    table.to_csv(TABLE, index=False)
    print(f"{len(table)} passages, {int((table.source == 'glossary').sum())} of them from the glossary")


if __name__ == "__main__":
    main()
