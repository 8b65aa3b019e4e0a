"""The digest of all that decides what known answers to a notebook's exercises give, for tests that try them (tests/kept.py)."""

import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from autograder.digests import course_files, digest, installed_versions, judging_code, with_imports
from autograder.jail.outside.bubblewrap import AUTOGRADER
from tests.conftest import ASSIGNMENTS, ROOT

TRYING = ("builder.py", "rates.py", "reference.py")


def digest_of(name: str, tests: Iterable[Path]) -> str:
    """Over the notebook's source, exercises and release; what builds, runs and judges them; what they import and read; the
    settings, the versions, the machine's kind; and `tests`, the files of the tests."""
    one = ASSIGNMENTS[name]
    released = sorted(path for path in one.release.parent.iterdir() if path.is_file())
    return digest((one.source, *judging_code(AUTOGRADER, one), *released), _common(), *map(_of_file, tests))


@cache
def _common() -> list[str]:
    """Of what counts for all notebooks."""
    one = next(iter(ASSIGNMENTS.values()))
    files = with_imports([AUTOGRADER / "authoring" / name for name in TRYING], AUTOGRADER)
    files += [*course_files(one, "*"), ROOT / "constraints.txt", ROOT / "nbgrader_config.py"]
    places = [str(path.relative_to(ROOT)) for path in files]
    return [digest(files, places, installed_versions(), platform.system(), platform.machine())]


def _of_file(path: Path) -> str:
    return digest([path], path.parent.name)
