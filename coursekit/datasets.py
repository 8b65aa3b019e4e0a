"""The small tables of the course in `data/`, each with a card that describes it."""

from pathlib import Path

import pandas as pd


class DataMissing(FileNotFoundError):
    """A table of the course is missing from its folder."""


def read_table(name: str) -> pd.DataFrame:
    """Read a table by its path in `data/`, as in read_table("timeline/timeline.csv"). Values are read as they are written, as text or numbers."""
    return pd.read_csv(_path(name), dtype={"notebook": str, "month": str})


def read_questions() -> pd.DataFrame:
    """The questions about short paragraphs in `data/questions`, with their paragraphs (`context`) and answers."""
    return pd.read_json(_path("questions/questions.json"))


def _path(name: str) -> Path:
    places = [Path(__file__).parents[1], Path.cwd(), *Path.cwd().parents]
    for place in places:
        path = place / "data" / name
        if path.exists():
            return path
    raise DataMissing(
        f"data/{name} is not in this course folder. Copy the folder `data` next to `notebooks`."
    )
