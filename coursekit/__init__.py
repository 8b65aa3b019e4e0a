"""The names that the notebooks of *Words in Context* import.

They are loaded when first used, because the grader reads answer files without loading torch.
"""

import gc
from importlib import import_module

# After every 700 new objects, by default, Python looks for garbage. The import of transformers makes half a million that stay:
# a sixth of its time went into looking at them. (autograder.startup does this for commands; students do not have it.)
gc.set_threshold(10_000)

_HOME = {
    "check": "autograder.checks.checking",
    "case": "autograder.checks.checking",
    "hint": "autograder.checks.hinting",
    "borrow": "autograder.checks.lending",
    "predict": "autograder.checks.predicting",
    "reveal": "autograder.checks.predicting",
    "predictions": "autograder.checks.calibrating",
    "CheckFailed": "autograder.checks.exceptions",
    "show": "coursekit.plots",
    "installation": "coursekit.environment",
    "progress": "autograder.checks.overview",
    "course_map": "autograder.checks.overview",
}

__all__ = list(_HOME)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'coursekit' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
