"""Results on disk, one file a job, written whole or not at all: a killed run resumes where it was."""

import ast
import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder.course import Assignment

PACKAGE = "autograder"


@dataclass(frozen=True)
class Store:
    folder: Path

    def get(self, job: str) -> dict[str, Any] | None:
        """The result of a job, or None. A damaged file counts as absent."""
        try:
            return json.loads(self._path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, job: str, result: Mapping[str, Any]) -> None:
        path = self._path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(result, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise

    def _path(self, job: str) -> Path:
        return self.folder / job[:2] / f"{job}.json"


def job_id(digest: str, rules: str, settings: Mapping[str, Any]) -> str:
    """A name for "this submission under these rules": anything that could change its verdict changes it.

    The seed is not part of it. A submission that was judged once on fresh inputs keeps that verdict; any
    change of the submission makes a new job, which gets inputs that nobody has seen.
    """
    parts = [digest, rules, json.dumps(settings, sort_keys=True)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def rules_digest(assignment: Assignment) -> str:
    """Over the release, the solution, the code that judges, what notebooks import and read, and the versions."""
    package = Path(__file__).parent
    files = [assignment.source, assignment.release, *judging_code(package, assignment)]
    files += sorted((assignment.root / "coursekit").rglob("*.py"))
    files += sorted(path for path in (assignment.root / "data").rglob("*") if path.is_file())
    digest = hashlib.sha256(f"{assignment.name} {platform.python_version()}".encode())
    for name in ("torch", "numpy", "transformers"):
        digest.update(metadata.version(name).encode())
    for file in files:
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def judging_code(package: Path, assignment: Assignment) -> list[Path]:
    """The files of `package` that decide a verdict: the jail, the exercises, and the engine with what it imports.

    What only starts a run, shows its results or passes them on may change, and no result becomes stale.
    """
    topic = assignment.name.partition("_")[2]
    waiting = [package / "engine.py", package / "exercises" / f"{topic}.py", *package.glob("jail/*.py")]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports(file, package)
    return sorted(found)


def _imports(file: Path, package: Path) -> list[Path]:
    """The modules of `package` that a file imports, by `from autograder… import …`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    paths = [package.joinpath(*name.split(".")[1:]) for name in names if name.startswith(f"{PACKAGE}.")]
    return [path.with_suffix(".py") for path in paths if path.with_suffix(".py").exists()]
