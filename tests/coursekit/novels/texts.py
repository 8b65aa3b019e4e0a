"""A made-up shelf of four short books, in the layout that `prepare` reads, and the sizes of models that read it."""

import csv
import random
from pathlib import Path

PEOPLE = ("the miller", "a young clerk", "her aunt", "the old captain", "my cousin", "the parson's dog")
DEEDS = ("walked along the bank of the river", "sat in a dark cell", "put money into the bank", "rang the bell twice",
         "looked for a light", "left the letter on the stairs", "played a match against the village", "waited for the spring")  # fmt: skip
WHEN = ("before breakfast", "in the rain", "on a Sunday", "without a word", "as usual", "after the fair")
AUTHORS = {"one.txt": ("A. Nobody", 1850), "two.txt": ("B. Nobody", 1870), "three.txt": ("George Gissing", 1890), "four.txt": ("Wilkie Collins", 1860)}  # fmt: skip
TINY = {"dim": 16, "layers": 1, "heads": 2, "feed_forward": 32}
"""Of BERT and GPT."""
TINY_ELMO = {"dim": 16, "filters": ((1, 8), (2, 12), (3, 16))}


def write_shelf(folder: Path, sentences: int = 400) -> Path:
    """`folder` with books.csv and raw; the same at each call."""
    (folder / "raw").mkdir(parents=True)
    rng = random.Random(0)
    for name in AUTHORS:
        told = [
            f"{rng.choice(PEOPLE).capitalize()} {rng.choice(DEEDS)} {rng.choice(WHEN)}."
            for _ in range(sentences)
        ]
        paragraphs = [" ".join(told[start : start + 8]) for start in range(0, sentences, 8)]
        text = "\n".join([f"CHAPTER I\n{paragraphs[0]}", *paragraphs[1:], "THE END"])
        (folder / "raw" / name).write_text(text, encoding="utf-8")
    with (folder / "books.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["file", "author", "published"])
        lines.writerows([name, *about] for name, about in AUTHORS.items())
    return folder
