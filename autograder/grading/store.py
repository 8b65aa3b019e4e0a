"""Results on disk, one file a job, written whole or not at all: a killed run resumes where it was."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.files import write_aside
from autograder.pool.servers import Settings


@dataclass(frozen=True)
class Store:
    """The folder of stored results, spread over subfolders by the first two characters of a job id."""

    folder: Path

    def get(self, job: str) -> dict[str, Any] | None:
        """The result of a job, or None. A damaged file counts as absent."""
        try:
            return json.loads(self._path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def holds(self, job: str) -> bool:
        """Whether there is a file of a job, be it damaged."""
        return self._path(job).exists()

    def put(self, job: str, result: Mapping[str, Any]) -> None:
        """Write the result of a job so that it survives a power cut, and replace an earlier one."""
        write_aside(self._path(job), json.dumps(result), through_a_power_cut=True)

    def _path(self, job: str) -> Path:
        return self.folder / job[:2] / f"{job}.json"


def job_id(digest: str, rules: str, settings: Settings) -> str:
    """A name for "this submission under these rules": anything that could change its verdict changes it.

    The seed is not part of it. A submission that was judged once on fresh inputs keeps that verdict; any
    change of the submission makes a new job, which gets inputs that nobody has seen.
    """
    parts = [digest, rules, _how(settings)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=8)
def _how(settings: Settings) -> str:
    """What of the settings may change a verdict: the same for a class."""
    how = {"isolation": settings.isolation, "limits": asdict(settings.limits), "kernel": settings.kernel}
    return json.dumps(how, sort_keys=True)
