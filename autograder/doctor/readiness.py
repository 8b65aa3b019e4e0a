"""How it stands with one thing that grading needs."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How it stands with one thing."""

    GOOD = "✓"
    NOTE = "!"  # something cannot be done here, and grading can
    BAD = "✗"  # grading would fail


@dataclass(frozen=True)
class Readiness:
    """What was found, and what to do where something is missing."""

    state: Level
    finding: str
    remedy: str = ""

    def line(self, what: str) -> str:
        """In words, with what was looked at; the remedy in a line of its own."""
        remedy = f"\n  {'':<11} → {self.remedy}" if self.remedy else ""
        return f"{self.state} {what:<11} {self.finding}{remedy}"
