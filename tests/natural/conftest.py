"""The lists of a notebook are tried again only where something has changed (tests/kept.py)."""

from pathlib import Path

import pytest

from autograder.digests import digest
from tests import trials
from tests.conftest import ASSIGNMENTS
from tests.kept import Kept
from tests.natural import reading

HERE = Path(__file__).parent


def digest_of(name: str) -> str:
    """Over what known answers depend on, the lists of this notebook, and what was said of their messages."""
    lists = [HERE / f"{name}.py", HERE / "unseen" / f"{name}.py"]
    files = [HERE / "test_natural.py", HERE / "reading.py", *filter(Path.is_file, lists)]
    read = reading.read_so_far()
    return digest((), trials.digest_of(name, files), [read.get(one) for one in ASSIGNMENTS[name].exercises])


KEPT = Kept(HERE, frozenset([HERE / "test_natural.py"]), digest_of)


@pytest.hookimpl(tryfirst=True)  # before `-m` and `-k` take tests away
def pytest_collection_modifyitems(config, items):
    KEPT.apply(config, items)
