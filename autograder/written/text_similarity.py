"""How similar texts are: by their words, and by what they say where the course names an encoder of texts."""

import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.settings import FILE

LONGEST_READ = 4000  # characters of a text that are compared

Encoder = Callable[[Sequence[str]], np.ndarray]
"""One row of numbers for each text."""


def same_words(text: str) -> str:
    """The text as far as its words go: without case, punctuation and layout. Equal for exact copies."""
    letters = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[\w√∞≥≤<>=+−-]+", letters)) or " ".join(letters.split())


def similarity_in_letters(texts: Sequence[str]) -> np.ndarray:
    """Cosines between the texts' counts of runs of three to five letters. Near copies have 0.6 and more."""
    return _cosines(texts, analyzer="char_wb", ngram_range=(3, 5))


def similarity_in_words(texts: Sequence[str]) -> np.ndarray:
    """Cosines between the texts' counts of words and pairs of words, rare ones counting more."""
    return _cosines(texts, ngram_range=(1, 2), token_pattern=r"\w+")


def _cosines(texts: Sequence[str], **parts: Any) -> np.ndarray:
    from sklearn.feature_extraction.text import TfidfVectorizer  # start-up: scikit-learn

    counts = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **parts)
    try:
        rows = counts.fit_transform([text[:LONGEST_READ] for text in texts])
    except ValueError:  # no text has a word
        return np.eye(len(texts), dtype=np.float32)
    return (rows @ rows.T).toarray()


def similarity_in_meaning(texts: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Cosines between the encoder's vectors."""
    vectors = np.asarray(encoder([text[:LONGEST_READ] for text in texts]), dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.maximum(lengths, 1e-12)
    return vectors @ vectors.T


def course_encoder(assignment: Assignment) -> Encoder | None:
    """What the course names as `c.Autograder.sentence_encoder`, imported when it is first called; None without one."""
    name = assignment.settings.sentence_encoder
    return _Named(name, assignment.root) if name else None


class _Named:
    """A function by its name, `package.module:function`; the package may lie in the course's folder."""

    def __init__(self, name: str, root: Path):
        self.name, self.root = name, root

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        try:
            vectors = np.asarray(self._function()(texts), dtype=np.float32)
        except (ImportError, AttributeError, RuntimeError, OSError, TypeError, ValueError) as error:
            raise CourseError(
                f"{FILE} names the encoder {self.name!r}, which cannot be used: {error}. "
                "`--by words` groups answers without one."
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise CourseError(
                f"The encoder {self.name!r} gave an array of shape {vectors.shape} for {len(texts)} texts; "
                "it must have a row for each."
            )
        return vectors

    def _function(self) -> Encoder:
        module, _, function = self.name.partition(":")
        sys.path.insert(0, str(self.root))
        try:
            return getattr(import_module(module), function)
        finally:
            sys.path.remove(str(self.root))
