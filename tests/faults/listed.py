"""The small faults in faults.toml: how they are read, and put into a copy of the repository."""

import importlib.util
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """One edit of a file, and what a user would lose by it."""

    file: str
    old: str
    new: str
    why: str

    @property
    def place(self) -> str:
        """The file without the package that all have in common."""
        return self.file.removeprefix("autograder/")

    def applied_to(self, source: str) -> str:
        """The source with the fault in it. Raises ValueError unless the old text occurs exactly once."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.file}: {self.old!r} occurs {source.count(self.old)} times, not once.")
        return source.replace(self.old, self.new)


def read_faults() -> list[Fault]:
    return [Fault(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]]


@contextmanager
def put_into(copy: Path, fault: Fault) -> Iterator[None]:
    """The fault is in the copy while this block runs."""
    path = copy / fault.file
    source = path.read_text(encoding="utf-8")
    try:
        _write(path, fault.applied_to(source))
        yield
    finally:
        _write(path, source)


def _write(path: Path, source: str) -> None:
    """Also removes what was compiled of it: its time has whole seconds, and many faults leave the size as it is."""
    path.write_text(source, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
