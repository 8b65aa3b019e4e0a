"""What is kept of a question beside the gradebook: groups, who decided what, second readings, and how to undo."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from autograder.errors import CourseError
from autograder.files import write_aside

MOST_UNDONE = 100  # actions that can be undone

Json = dict[str, Any]


@dataclass(frozen=True)
class Decision:
    """What a person gave an answer, and for what. `alone`: to this one and not to its group."""

    score: float
    comment: str
    ticks: tuple[int, ...]
    alone: bool
    by: str


class QuestionState(msgspec.Struct, forbid_unknown_fields=True):
    """What is kept beside the gradebook."""

    serial: int = 0  # grows with every change
    last_group: int = 0
    groups: dict[str, list[str]] = {}  # in the order in which they are shown
    texts: dict[str, str] = {}  # {student: digest of the text that was grouped}
    decisions: dict[str, Decision] = {}
    second: dict[str, Decision] = {}  # second readings, which change no points
    done: list[Json] = []  # the last actions, with what was before and after

    @classmethod
    def read(cls, path: Path) -> "QuestionState":
        """What is kept in that file; nothing yet where there is none. Raises CourseError for a damaged one."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return cls()
        except ValueError:  # msgspec's errors are such
            raise CourseError(
                f"{path} is damaged. Delete it to start with new groups; points and comments are safe in the gradebook."
            ) from None

    def write(self, path: Path) -> None:
        """Write it whole or not at all, with a new serial."""
        self.serial += 1
        del self.done[:-MOST_UNDONE]
        write_aside(path, msgspec.json.encode(self))


def short_digest(text: str) -> str:
    """Twelve hexadecimal digits of its SHA-256: enough to notice a change."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
