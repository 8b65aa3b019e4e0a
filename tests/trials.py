"""The digest of all that decides what known answers to a notebook's exercises give, for tests that try them (tests/kept.py)."""

import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from autograder.digests import course_files, digest, installed_versions, judging_code, with_imports
from autograder.jail.outside.bubblewrap import AUTOGRADER
from tests.conftest import ASSIGNMENTS, ROOT, SETTINGS
from tests.kept import content
from tests.reach import Reached

TRYING = ("builder.py", "rates.py", "reference.py")


def digest_of(name: str, tests: Iterable[Path]) -> str:
    """Over the notebook's source, exercises and release; what builds, runs and judges them; what they import and read; the
    settings, the versions, the machine's kind; and `tests`, the files of the tests."""
    one, tests = ASSIGNMENTS[name], list(tests)
    own = [one.source, *judging_code(AUTOGRADER, one)]
    released = sorted(path for path in one.release.parent.iterdir() if path.is_file())
    read = [path for path in own if path.suffix == ".py"] + [path for path in tests if path.suffix == ".py"]
    return digest((*own, *released), _common(), _reached(tuple(read)), *map(_of_file, tests))


@cache
def _common() -> list[str]:
    """Of what counts for all notebooks."""
    files = with_imports([AUTOGRADER / "authoring" / name for name in TRYING], AUTOGRADER)
    files += [ROOT / "constraints.txt", ROOT / "nbgrader_config.py"]
    places = [str(path.relative_to(ROOT)) for path in files]
    return [digest(files, places, installed_versions(), platform.system(), platform.machine())]


def _reached(code: Iterable[Path]) -> list[tuple[str, str]]:
    """The course's packages and data as far as these files, those beside the tests, or the settings reach, with their contents."""
    one = next(iter(ASSIGNMENTS.values()))
    shared = [
        Path(__file__),
        *(Path(__file__).parent / "natural").glob("*ing.py"),
        ROOT / "nbgrader_config.py",
    ]
    texts = [path.read_text(encoding="utf-8") for path in (*code, *shared)]
    reached = Reached(ROOT, SETTINGS.packages, texts)
    places = [path.relative_to(ROOT).as_posix() for path in course_files(one, "*")]
    return [(place, content(ROOT / place)) for place in places if reached.decides(place)]


def _of_file(path: Path) -> str:
    return digest([path], path.parent.name)
