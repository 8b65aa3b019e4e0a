"""The occurrences of one word in a text: found, given contextual vectors, and labelled by hand.

found = occurrences(passages, "set")
vectors = contextual_vectors(found)            # [n, 384], from the packaged MiniLM
write_sheet(found, Path("set.csv"))            # fill in the columns `first` and `second`
first, second = read_sheet(found, Path("set.csv"), ["assign", "collection"])
"""

import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int

from autograder.checks.storing import write_aside
from coursekit.project.reading import TextUnusable

AROUND = 60
"""Characters on either side by which an occurrence is recognised, and which the sheet shows."""
ENOUGH = 4
"""Words on one side that recognise an occurrence by themselves, where another version of the text differs on the other side."""
LAYER = 4
"""Of MiniLM's six: notebook 08 found that the last layer is rarely the best one for senses."""
REACHES = 600, 300, 100
"""Characters on either side that the encoder reads; where the first are too many tokens, as in a table of dashes, the next."""
COLUMNS = "number", "left", "word", "right", "first", "second"
READINGS = "data/project/readings.csv"
UNDECIDED = -1
"""The label of an occurrence that was not read, or whose sense the reader could not tell."""


@dataclass(frozen=True)
class Occurrence:
    """A word at one place of a text: `passage` is the number of the passage, `text` the passage, `start` the place in it."""

    passage: int
    text: str
    start: int
    word: str

    @property
    def left(self) -> str:
        """The characters before the word."""
        return self.text[max(0, self.start - AROUND) : self.start]

    @property
    def right(self) -> str:
        """The characters after the word."""
        end = self.start + len(self.word)
        return self.text[end : end + AROUND]

    @property
    def key(self) -> str:
        """Eight digits that recognise the occurrence by its context, so that readings need not contain the text."""
        return _digest(_words(f"{self.left} {self.word} {self.right}"))

    @property
    def sides(self) -> tuple[str, str]:
        """The same of the ENOUGH words before it, and of those after it; "" where the passage has fewer."""
        before = _words(self.text[: self.start])[-ENOUGH:]
        after = _words(self.text[self.start + len(self.word) :])[:ENOUGH]
        return tuple(_digest(words) if len(words) == ENOUGH else "" for words in (before, after))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _digest(words: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]


def occurrences(passages: Sequence[str], word: str, most: int = 200) -> list[Occurrence]:
    """Where `word` occurs as a whole word, in any case, and not as a part of a name such as `set_trace` or `set()`.

    Repeated contexts count once. If there are more than `most`, they are taken at equal distances. Raises TextUnusable for
    fewer than 20.
    """
    form = re.compile(rf"(?<![\w.'’-]){re.escape(word)}(?![\w(]|[.'’-]\w)", re.IGNORECASE)
    found: dict[str, Occurrence] = {}
    for number, text in enumerate(passages):
        for match in form.finditer(text):
            one = Occurrence(number, text, match.start(), match.group())
            found.setdefault(one.key, one)
    if len(found) < 20:
        raise TextUnusable(
            f"{word!r} occurs {len(found)} times in different contexts; at least 20 are needed to find senses. `ambiguous(passages)` suggests other words."
        )
    everything = list(found.values())
    places = np.unique(np.linspace(0, len(everything) - 1, min(most, len(everything))).round().astype(int))
    return [everything[place] for place in places]


@torch.no_grad()
def contextual_vectors(found: Sequence[Occurrence], layer: int = LAYER) -> Float[np.ndarray, "n 384"]:
    """The vector of each occurrence at one layer of the packaged MiniLM, the mean over the word's subwords.

    Of a long passage, the encoder reads 600 characters on either side, or fewer if these are too many tokens. Layer 0 is the table of subwords, with positions.
    """
    # start-up: most of the project needs no model
    from transformers import AutoTokenizer

    from coursekit.models.catalogue import MINILM
    from coursekit.models.reading import read_model

    folder = MINILM.package.folder()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), read_model(folder, None, attentions=False)
    vectors = []
    for one in found:
        for reach in REACHES:
            begin = max(0, one.start - reach)
            encoded = tokenizer(
                one.text[begin : one.start + reach], return_offsets_mapping=True, return_tensors="pt", truncation=True, max_length=256
            )  # fmt: skip
            spans = encoded.pop("offset_mapping")[0]
            start, end = one.start - begin, one.start - begin + len(one.word)
            mine = (spans[:, 0] >= start) & (spans[:, 1] <= end) & (spans[:, 1] > spans[:, 0])
            if mine.any():
                break
        hidden = model(**encoded, output_hidden_states=True).hidden_states[layer][0]
        vectors.append(hidden[mine].mean(dim=0).numpy())
    return np.stack(vectors)


def neighbouring_words(found: Sequence[Occurrence], width: int = 5) -> Float[np.ndarray, "n V"]:
    """A bag of the `width` words on either side of each occurrence, weighted by TF-IDF: a baseline without a model."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # start-up: only this baseline needs it

    bags = [
        " ".join([*re.findall(r"\w+", one.left)[-width:], *re.findall(r"\w+", one.right)[:width]])
        for one in found
    ]
    return TfidfVectorizer(token_pattern=r"\w+").fit_transform(bags).toarray()


def clustered(vectors: Float[np.ndarray, "n D"], count: int, seed: int = 0) -> Int[np.ndarray, " n"]:
    """The cluster of each vector: k-means on the centred vectors, scaled to length 1 (best of 20 starts)."""
    from sklearn.cluster import KMeans  # start-up: only this function needs it

    centred = vectors - vectors.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    return KMeans(count, n_init=20, random_state=seed).fit_predict(centred)


# --- readings by hand ---


def write_sheet(found: Sequence[Occurrence], path: Path) -> None:
    """A table of the occurrences with two empty columns for the readings. A file that exists is left as it is."""
    if path.exists():
        print(f"{path} exists already and was left as it is.")
        return
    lines = [",".join(COLUMNS)]
    for number, one in enumerate(found):
        cells = (one.left.replace('"', "'"), one.word, one.right.replace('"', "'"))
        lines.append(f'{number},"{cells[0]}","{cells[1]}","{cells[2]}",,')
    write_aside(path, ("\n".join(lines) + "\n").encode())
    print(
        f"Open {path}, write the sense of each occurrence into the column `first` (a partner uses the column `second`), and save the file."
    )


def read_sheet(
    found: Sequence[Occurrence], path: Path, senses: Sequence[str]
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Both readings as numbers of senses, −1 where a cell is empty or "?". Raises TextUnusable."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        raise TextUnusable(f"There is no file {str(path)!r}: write_sheet(found, path) creates it.") from None
    if len(rows) != len(found):
        raise TextUnusable(
            f"{path} has {len(rows)} rows, but there are {len(found)} occurrences: the file was made for another word or text."
        )
    columns = []
    for column in ("first", "second"):
        said = [(row.get(column) or "").strip().lower() for row in rows]
        if unknown := sorted({one for one in said} - {one.lower() for one in senses} - {"", "?"}):
            raise TextUnusable(
                f"{path}, column {column}: {', '.join(map(repr, unknown[:5]))} is not among the senses {', '.join(senses)}. Leave a cell empty, or enter ?, if the sense is undecided."
            )
        numbers = {sense.lower(): number for number, sense in enumerate(senses)}
        columns.append(np.array([numbers.get(one, UNDECIDED) for one in said]))
    return columns[0], columns[1]


def our_readings(found: Sequence[Occurrence]) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Our two readings of *set* in the language reference: 0 "assign", 1 "type", 2 "group", −1 undecided or not read by us.

    Both are by the same person. For the second, only three words on either side were visible, in random order. The text
    that was read is that of Python 3.11. In another version, an occurrence is recognised if it has the same ENOUGH words on
    one side. How many of ours were found is printed.
    """
    places = [one / READINGS for one in (Path(__file__).parents[2], Path.cwd(), *Path.cwd().parents)]
    path = next((one for one in places if one.exists()), places[0])
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    matched = [_recognised(one, rows) for one in found]
    there = len({row["key"] for row in matched if row})
    print(f"{there} of the {len(rows)} occurrences of 'set' that we labelled are in this text.")
    pairs = np.array(
        [(int(row["first"]), int(row["second"])) if row else (UNDECIDED,) * 2 for row in matched]
    )
    return pairs[:, 0], pairs[:, 1]


def _recognised(one: Occurrence, rows: Sequence[dict[str, str]]) -> dict[str, str] | None:
    """The row of this occurrence: that of its whole context or, failing this, of the words on one side, if all such rows agree."""
    before, after = one.sides
    for name, digest in {"key": one.key, "before": before, "after": after}.items():
        same = [row for row in rows if digest and row[name] == digest]
        if len({(row["first"], row["second"]) for row in same}) == 1:
            return same[0]
    return None


def ambiguous(passages: Sequence[str], count: int = 12) -> list[str]:
    """Words of the course's list of ambiguous words that occur at least 20 times, the most frequent first."""
    counts = {
        word: len(re.findall(rf"\b{word}\b", "\n".join(passages), re.IGNORECASE)) for word in CANDIDATES
    }
    frequent = sorted((word for word in counts if counts[word] >= 20), key=lambda word: -counts[word])
    return frequent[:count]


CANDIDATES = (
    "bank", "bar", "bear", "body", "break", "call", "case", "cell", "change", "character", "charge", "class", "court", "cross",
    "date", "deal", "figure", "fine", "form", "frame", "hand", "head", "interest", "kernel", "key", "kind", "letter", "lie", "light",
    "like", "line", "mean", "match", "mind", "mouse", "note", "object", "order", "party", "past", "place", "plant", "play", "point",
    "present", "press", "race", "rest", "right", "ring", "rock", "rose", "row", "run", "saw", "scale", "second", "sense", "sentence",
    "set", "sound", "spring", "stage", "state", "step", "still", "string", "table", "term", "tie", "train", "tree", "turn", "value",
    "watch", "wave", "well", "will", "wind", "work",
)  # fmt: skip
"""English words with at least two common senses."""
