"""tries: change torch and coursekit on disk, for the next student
loses: nothing
cell: first
"""

import os
from pathlib import Path

import coursekit
import numpy
import torch

for module in (torch, numpy, coursekit, os):
    path = Path(module.__file__)
    for attempt in (path.unlink, lambda p=path: p.chmod(0o777), lambda p=path: p.write_text("x = 1")):
        try:
            attempt()
        except OSError as error:
            print(error)
