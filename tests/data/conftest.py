"""The commands in tools/ that compute the figures of the data sets' cards, as modules."""

from importlib import import_module

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def figures(request):
    """tools/figures_NAME.py, for tests/data/test_NAME.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield import_module(request.path.stem.replace("test_", "figures_"))
