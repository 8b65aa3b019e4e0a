"""Whether what is in memory is what the cell says now."""

import pytest

from autograder.checks.edits import Edits


class Notebook:
    """Cells that are run, and the names that they leave."""

    def __init__(self):
        self.names = {"__name__": "__main__"}
        self.edits = Edits()

    def run(self, cell, source):
        error = None
        self.edits.before(self.names)
        try:
            exec(source, self.names)
        except BaseException as raised:
            error = raised
        self.edits.after(self.names, cell, error)

    def why(self, name="f"):
        return self.edits.why_old(name, self.names.get(name))


FIRST = "def f(x):\n    return x"


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("def f(x:\n    return x", "it stopped with SyntaxError: "),
        ("1 / 0\ndef f(x): pass", "it stopped with ZeroDivisionError: division by zero"),
        ("def g(x):\n    return x", "it defined `g` and not `f`"),
        ("x = 3", "it did not define `f`"),
        ("", "it did not define `f`"),
    ],
)
def test_a_function_that_its_cell_no_longer_defines_is_old(second, words):
    notebook = Notebook()
    notebook.run("a", FIRST)
    assert notebook.why() == ""
    notebook.run("a", second)
    assert words in notebook.why() and "run this check again" in notebook.why()
    notebook.run("a", FIRST)
    assert notebook.why() == ""


@pytest.mark.parametrize(
    "second",
    [
        FIRST,
        FIRST.replace("return x", "return 2 * x"),
        f"{FIRST}\n1 / 0",  # the error came after it
        "class f:\n    pass",
    ],
)
def test_a_function_that_its_cell_has_defined_again_is_new(second):
    notebook = Notebook()
    notebook.run("a", FIRST)
    notebook.run("a", second)
    assert notebook.why() == ""


def test_other_cells_and_other_functions_do_not_matter():
    notebook = Notebook()
    notebook.run("a", FIRST)
    notebook.run("b", "1 / 0")
    notebook.run("c", "from statistics import mean")
    notebook.run("c", "from statistics import mean")
    assert notebook.why() == "" and notebook.why("mean") == "" and notebook.why("nothing") == ""


def test_another_cell_may_define_it_from_then_on():
    notebook = Notebook()
    notebook.run("a", FIRST)
    notebook.run("a", "def f(")
    notebook.run("b", FIRST)
    assert notebook.why() == ""
    notebook.run("a", "x = 1")
    assert notebook.why() == ""


WRAPPED = {
    "lru_cache": "from functools import lru_cache\n@lru_cache\ndef f(x):\n    return x",
    "lru_cache with a size": "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(x):\n    return x",
    "partial": "from functools import partial\ndef g(x, y):\n    return x\nf = partial(g, y=1)",
    "partial of partial": "from functools import partial\nf = partial(partial(lambda x, y, z: x, 1), 2)",
    "partial of a cached one": "from functools import cache, partial\nf = partial(cache(lambda x, y: x), 1)",
    "no_grad": "import torch\n@torch.no_grad()\ndef f(x):\n    return x",
    "vectorize": "import numpy as np\n@np.vectorize\ndef f(x):\n    return x",
    "a class as decorator": "class once:\n    def __init__(self, g): self.g = g\n    def __call__(self, x): return self.g(x)\n"
    "@once\ndef f(x):\n    return x",
    "a method": "class A:\n    def g(self, x): return x\nf = A().g",
}


@pytest.mark.parametrize("first", WRAPPED.values(), ids=WRAPPED)
def test_a_wrapped_function_is_old_too(first):
    notebook = Notebook()
    notebook.run("a", first)
    assert notebook.why() == ""
    notebook.run("a", f"{first}x:")
    assert "SyntaxError" in notebook.why()
    notebook.run("a", first)
    assert notebook.why() == ""


def test_what_a_library_wraps_is_not_of_the_notebook():
    notebook = Notebook()
    for _ in range(2):
        notebook.run("a", "from fnmatch import _compile_pattern as f\nfrom unittest.mock import call as g")
        assert notebook.why() == "" and notebook.why("g") == ""
