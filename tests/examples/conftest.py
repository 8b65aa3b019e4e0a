"""The tool from a wheel is installed and tried again only where it, or what it needs, has changed (tests/kept.py)."""

import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.digests import digest
from tests.conftest import ROOT
from tests.kept import Kept

HERE = Path(__file__).parent
USED = ("autograder", "examples", "tests/examples")
FILES = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")


def digest_of(name: str, root: Path = ROOT) -> str:
    """Over the tool, the example course, the pins, these tests, Python's version and the machine's kind. There is one name."""
    files = [*(root / file for file in FILES), *sorted(_files(root))]
    places = [path.relative_to(root).as_posix() for path in files]
    return digest(
        files, name, places, platform.python_version_tuple()[:2], platform.system(), platform.machine()
    )


def _files(root: Path) -> Iterator[Path]:
    for folder in USED:
        for path in (root / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", "ran"} & {*path.parts}:
                yield path


KEPT = Kept(
    HERE,
    frozenset([HERE / "test_other_courses.py"]),
    digest_of,
    lambda item: "wheel" if item.get_closest_marker("slow") else "",
)


@pytest.hookimpl(tryfirst=True)  # before `-m` and `-k` take tests away
def pytest_collection_modifyitems(config, items):
    KEPT.apply(config, items)
