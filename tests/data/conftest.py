"""The modules that compute the figures on the data sets' cards."""

from importlib import import_module

import pytest


@pytest.fixture(scope="module")
def figures(request):
    """experiments/datasets/NAME.py, for tests/data/test_NAME.py."""
    return import_module(request.path.stem.replace("test_", "experiments.datasets."))
