"""`python -m coursekit.novels FOLDER`: are the texts in FOLDER those on which the shipped models were trained?

FOLDER contains `books.csv` (file, author, published) and the folder `raw`. `--write` rewrites the list data/novels/books.csv:
author, year, split, words and the sha256 of each cleaned text.
"""

import argparse
import csv
import io
from pathlib import Path

from autograder.checks.storing import write_aside
from coursekit.novels.corpus import Book, cleaned
from coursekit.small.files import models_folder

COLUMNS = ("file", "author", "published", "split", "words", "sha256")


def main() -> None:
    """Compare the texts in FOLDER with `data/novels/books.csv`, or rewrite that list with `--write`."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit.novels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="rewrite the list")
    arguments = parser.parse_args()
    if not (arguments.folder / "books.csv").exists():
        parser.error(f"{arguments.folder} has no books.csv")
    books, listed = (
        [book for book, _ in cleaned(arguments.folder)],
        models_folder().parent / "novels" / "books.csv",
    )
    if arguments.write:
        write_aside(listed, as_csv(books).encode())
        print(f"{listed}: {len(books)} books, {sum(book.words for book in books):,} words.")
    else:
        print(compared(as_csv(books), listed.read_text(encoding="utf-8")))


def as_csv(books: list[Book]) -> str:
    """The list as it is shipped."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerows([COLUMNS, *([getattr(book, column) for column in COLUMNS] for book in books)])
    return text.getvalue()


def compared(found: str, listed: str) -> str:
    """In a sentence or two, whether two lists are of the same texts."""
    ours, theirs = (
        {row["file"]: row["sha256"] for row in csv.DictReader(io.StringIO(text))} for text in (found, listed)
    )
    missing, new = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
    other = sorted(file for file in set(ours) & set(theirs) if ours[file] != theirs[file])
    if not (missing or new or other):
        return f"All {len(ours)} texts match the list."
    parts = (("missing from your folder", missing), ("not in the list", new), ("with another text", other))
    return " ".join(
        f"{len(files)} file{'s' * (len(files) > 1)} {what}: {', '.join(files[:5])}{' ...' if len(files) > 5 else ''}."
        for what, files in parts
        if files
    )


if __name__ == "__main__":
    main()
