"""The digest of all that decides what the tests of a notebook say: ran/NAME holds it (tests/kept.py).

Its source and exercises, its release, coursekit, the checks, the data, these tests, and the versions.
"""

import platform
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograder.digests import digest
from tests.conftest import ASSIGNMENTS, ROOT
from tests.kept import Kept

HERE = Path(__file__).parent
FOLDER = HERE / "ran"
USED = ("coursekit", "autograder/checks", "data", "tests/notebooks", "tools/jupyterlab")


@cache
def digest_of(name: str) -> str:
    one = ASSIGNMENTS[name]
    return digest((one.source, one.exercises_file, one.release), _common())


@cache
def _common() -> str:
    """Over what counts for all notebooks: the files with their paths, Python's version, and the machine's kind."""
    files = [ROOT / "constraints.txt", *sorted(_files())]
    paths = [path.relative_to(ROOT).as_posix() for path in files]
    return digest(files, paths, platform.python_version_tuple()[:2], platform.system(), platform.machine())


def _files() -> Iterator[Path]:
    for folder in USED:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and FOLDER not in path.parents:
                yield path


KEPT = Kept(HERE, frozenset(HERE.glob("test_*.py")), digest_of)
