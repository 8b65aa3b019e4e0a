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
    """One line: what was looked at, what was found, and what to do where something is missing."""

    what: str
    state: Level
    finding: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.state} {self.what:<10} {self.finding}" + (
            f"\n  {'':<10} → {self.remedy}" if self.remedy else ""
        )
