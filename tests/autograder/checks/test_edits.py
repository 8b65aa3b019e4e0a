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
        ("def f(x:\n    return x", "it ended with SyntaxError: "),
        ("1 / 0\ndef f(x): pass", "it ended with ZeroDivisionError: division by zero"),
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
