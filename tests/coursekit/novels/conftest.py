"""What tests of the novels share: the made-up shelf, prepared once in each process."""

import pytest

from coursekit.novels.corpus import Corpus, prepare
from tests.coursekit.novels.texts import write_shelf


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    """To be read only."""
    folder = tmp_path_factory.mktemp("novels")
    return prepare(write_shelf(folder / "shelf", 160), folder / "corpus", pieces=120)
