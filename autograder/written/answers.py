"""What the class wrote, without names: texts as they were when they were graded, and an alias for each student."""

import hashlib
import hmac
import secrets
from pathlib import Path

from autograder.course import Assignment
from autograder.files import kept_secret
from autograder.gradebook.history import read_history

ALIAS = 12  # hexadecimal digits


class WrittenAnswers:
    """The written answers of an assignment. A student's file is read again only when it has changed."""

    def __init__(self, assignment: Assignment):
        self._assignment = assignment
        self._read: dict[str, tuple[int, dict[str, str]]] = {}

    def of(self, question: str) -> dict[str, str]:
        """{student: text} of those who wrote something."""
        texts = {}
        for path in sorted(self._assignment.kept("results").glob("*.json")):
            text = self._of_student(path).get(question)
            if text is not None:
                texts[path.stem] = text
        return texts

    def _of_student(self, path: Path) -> dict[str, str]:
        changed = path.stat().st_mtime_ns
        if self._read.get(path.stem, (0, {}))[0] != changed:
            history = read_history(self._assignment, path.stem)
            self._read[path.stem] = changed, dict(history.answers) if history else {}
        return self._read[path.stem][1]


class Aliases:
    """Names that say nothing of the student, others for each question. Who has the course's folder can undo them."""

    def __init__(self, root: Path):
        self._secret = kept_secret(root / ".autograder" / "written" / "secret", secrets.token_bytes(32))

    def alias(self, question: str, student: str) -> str:
        """Twelve hexadecimal digits, the same each time; another question gives the student others."""
        return self._digest(question, student).hexdigest()[:ALIAS]

    def share(self, question: str, student: str) -> float:
        """A number from 0 to 1 that chance gave this answer once and for all."""
        return int.from_bytes(self._digest(f"share of {question}", student).digest()[:8]) / 2**64

    def _digest(self, question: str, student: str) -> "hmac.HMAC":
        return hmac.new(self._secret, f"{question}/{student}".encode(), hashlib.sha256)
