"""Imports the large libraries: the server of `kernels.py` does this once, before it forks the first kernel."""

import os
from importlib import import_module

from tools.book.kernels import SETTINGS

os.environ |= SETTINGS
for name in (
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "pandas",
    "torch._dynamo",
    "transformers.generation",
):
    import_module(name)
