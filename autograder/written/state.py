"""What is kept of a question beside the gradebook: groups, who decided what, second readings, and how to undo."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

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


@dataclass
class QuestionState:
    """What is kept beside the gradebook."""

    serial: int = 0  # grows with every change
    last_group: int = 0
    groups: dict[str, list[str]] = field(default_factory=dict)  # in the order in which they are shown
    texts: dict[str, str] = field(default_factory=dict)  # {student: digest of the text that was grouped}
    decisions: dict[str, Decision] = field(default_factory=dict)
    second: dict[str, Decision] = field(default_factory=dict)  # second readings, which change no points
    done: list[Json] = field(default_factory=list)  # the last actions, with what was before and after

    def to_json(self) -> str:
        """The text of the file; `from_json` is the inverse."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, path: Path) -> "QuestionState":
        """What is kept in that file; nothing yet where there is none. Raises CourseError for a damaged one."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        except (ValueError, TypeError, KeyError):
            raise CourseError(
                f"{path} is damaged. Delete it to start with new groups; points and comments are safe in the gradebook."
            ) from None

    def write(self, path: Path) -> None:
        """Write it whole or not at all, with a new serial."""
        self.serial += 1
        del self.done[:-MOST_UNDONE]
        write_aside(path, self.to_json())

    @classmethod
    def from_json(cls, text: str) -> "QuestionState":
        """The inverse of `to_json`. Raises ValueError, TypeError or KeyError for anything else."""
        fields = json.loads(text)
        for part in ("decisions", "second"):
            fields[part] = {student: decision_from(entry) for student, entry in fields[part].items()}
        return cls(**fields)


def decision_from(entry: Json | None) -> Decision | None:
    """A decision as `dataclasses.asdict` described it; None stays None. JSON has made a list of its ticks."""
    return Decision(**{**entry, "ticks": tuple(entry["ticks"])}) if entry else None


def short_digest(text: str) -> str:
    """Twelve hexadecimal digits of its SHA-256: enough to notice a change."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
