"""Demonstrations are run when grading only where an answer needs a name that they define."""

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.checks.asking import Answer
from autograder.grading.demonstrations import Demonstrations, lacks_a_name, missing_names
from autograder.untrusted.frames import Frame


def demo(source):
    return new_code_cell(source, metadata={"tags": ["demo"]})


CELLS = [
    demo("import numpy as np\nfrom torch import nn as layers"),
    new_code_cell("import torch"),
    demo("def train(steps):\n    return [step for step in range(steps)]"),
    demo("curve = np.array(train(3))"),
    demo("print(curve, missing_everywhere)"),
    demo("%matplotlib inline\nimport matplotlib.pyplot as plt"),
]
NOTEBOOK = new_notebook(cells=CELLS)


@pytest.mark.parametrize(
    ("names", "places"),
    [
        ({"np"}, [0]),
        ({"plt"}, [5]),
        ({"step"}, []),
        ({"layers"}, [0]),
        ({"train"}, [2]),
        ({"curve"}, [0, 2, 3]),
        ({"attention"}, []),
        ({"torch"}, []),
        ({"missing_everywhere"}, []),
        (set(), []),
    ],
)
def test_only_those_that_define_the_name_and_what_they_need_in_turn(names, places):
    assert Demonstrations(NOTEBOOK).that_define(names, NOTEBOOK) == places


def test_a_changed_demonstration_runs_anyway():
    mine = new_notebook(cells=[demo("import numpy as np  # mine"), *CELLS[1:]])
    demonstrations = Demonstrations(NOTEBOOK)
    assert [demonstrations.unchanged(cell) for cell in mine.cells] == [False, False, True, True, True, True]
    assert demonstrations.that_define({"np"}, mine) == []


def frame(message="", error=None):
    answers = {
        ("", "a.b", 0): Answer(problem="exception", message=message),
        ("", "a.b", 1): Answer({"": np.ones(1)}),
    }
    outputs = (
        [{"output_type": "error", "ename": error[0], "evalue": error[1], "traceback": []}] if error else []
    )
    return Frame(0, answers if message else {}, tuple(outputs), 0.0, "error" if error else "")


NAME = "  in scale, line 2: return np.sqrt(x)\nNameError: name 'np' is not defined"


def test_what_is_missing_is_read_off_answers_and_cells():
    assert missing_names([frame(NAME), frame(error=("NameError", "name 'curve' is not defined"))]) == {
        "np",
        "curve",
    }
    assert lacks_a_name(frame(NAME)) and not lacks_a_name(frame())


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: NameError: name 'np' is not defined",
        "  in f, line 2: NameError: name 'np' is not defined\nKeyError: 1",
        "NameError",
    ],
)
def test_a_text_that_only_speaks_of_a_missing_name_is_none(text):
    assert missing_names([frame(text)]) == set()
    assert not lacks_a_name(frame(text))
