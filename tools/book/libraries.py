"""Imports the large libraries: the server of `kernels.py` does this once, before it forks the first kernel."""

import os
from importlib import import_module

os.environ |= {  # the libraries read these while they are imported
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
}
for name in (
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "pandas",
    "torch._dynamo",
    "transformers.generation",
):
    import_module(name)
