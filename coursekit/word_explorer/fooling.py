"""Sentences that fool a model: each student keeps them in a file, and an instructor pools the files for people to grade.

keep("bank", "money", sentence, {"BERT (MiniLM)": "river"})     # what the button of `explore` does
pooled(Path("submitted").glob("*/08_inside/fooled.csv"))        # one table of a class, see docs/instructors.md
"""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from coursekit.word_explorer.readers import NotInSentence, find_word

FILE = Path("fooled.csv")
COLUMNS = ["word", "sense", "sentence", "model", "reading"]
"""The sense is the writer's; the reading is the model's. There is a row for each model that is fooled."""
FORMULA = ("=", "+", "-", "@")
"""A cell that begins with one of these is run by a spreadsheet."""


class NotKept(ValueError):
    """The sentence is not added to the file. The message is shown to the reader."""


def keep(word: str, sense: str, sentence: str, readings: Mapping[str, str], file: Path = FILE) -> str:
    """Append the sentence, with a row for each model whose reading is another sense; returns a sentence that says what was added.

    Raises NotKept if no model is fooled, if the sentence is in the file already, or if the file is not one of these files.
    """
    sentence = " ".join(sentence.split())
    find_word(sentence, word)
    wrong = {model: reading for model, reading in readings.items() if reading != sense}
    if any(text.startswith(FORMULA) for text in (word, sense, sentence, *wrong.values())):
        raise NotKept(
            f"Nothing that begins with {', '.join(FORMULA)} is kept, as a spreadsheet would run it."
        )
    if not wrong:
        raise NotKept(f"No model is fooled: “{word}” is read as {sense}, as you meant it.")
    if any((row["word"], row["sentence"]) == (word, sentence) for row in _rows(file)):
        raise NotKept(f"This sentence is in {file} already.")
    is_new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerows([COLUMNS] * is_new)
        writer.writerows([word, sense, sentence, *each] for each in wrong.items())
    readers = " and ".join(f"{model} reads {reading}" for model, reading in wrong.items())
    return f"Added to {file}: {readers}."


def pooled(files: Iterable[Path]) -> pd.DataFrame:
    """The rows of several files, with a column `file`. Rows that `keep` would not have written are left out, and so are other files."""
    found = []
    for file in files:
        try:
            found += [{"file": str(file)} | row for row in _rows(file) if _is_sound(row)]
        except NotKept:
            continue
    return pd.DataFrame(found, columns=["file", *COLUMNS]).drop_duplicates(ignore_index=True)


def _rows(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            columns, rows = reader.fieldnames, list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise NotKept(f"{file} cannot be read as a table. Rename or delete it first.") from error
    if columns != COLUMNS:
        raise NotKept(f"{file} must have exactly the columns {', '.join(COLUMNS)}. Rename the file first.")
    return rows


def _is_sound(row: Mapping[str, object]) -> bool:
    values = [row.get(column) for column in COLUMNS]
    if len(row) != len(COLUMNS) or not all(isinstance(value, str) and value.strip() for value in values):
        return False
    if any(str(value).lstrip().startswith(FORMULA) for value in values) or row["sense"] == row["reading"]:
        return False
    try:
        find_word(str(row["sentence"]), str(row["word"]))
    except NotInSentence:
        return False
    return True
