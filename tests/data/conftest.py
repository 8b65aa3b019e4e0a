"""What the tests of the data sets share: the modules that compute the figures on the cards, and the cards."""

from importlib import import_module

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def figures(request):
    """experiments/datasets/NAME.py, for tests/data/test_NAME.py."""
    return import_module(request.path.stem.replace("test_", "experiments.datasets."))


@pytest.fixture(scope="module")
def card(request) -> str:
    """data/NAME/README.md, for tests/data/test_NAME.py."""
    return (ROOT / "data" / request.path.stem.removeprefix("test_") / "README.md").read_text(encoding="utf-8")
