"""Sources are parsed in several threads: servers start in some while the command reads notebooks."""

import gc
import threading
import time
import warnings
from pathlib import Path

import pytest

from autograder import parsing


@pytest.mark.slow
def test_threads_that_parse_at_once_do_not_disturb_each_other():
    """A collection of garbage in the middle hands over to another thread."""
    source = Path(parsing.__file__).with_name("source.py").read_text()
    errors: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(3):
                parsing.parse(source)
        except Exception as error:
            errors.append(error)

    def hand_over(phase: str, info: dict) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.callbacks.append(hand_over)
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(hand_over)
    assert errors == []


def test_nobody_is_warned_of_what_a_student_wrote():
    with warnings.catch_warnings(action="error"):
        assert len(parsing.parse(r"pattern = '\d'").body) == 1


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(x):\n    y = x", {"f"}),
        ("class A:\n    b = 1", {"A"}),
        ("import torch.nn, numpy as np\nfrom math import sqrt as root", {"torch", "np", "root"}),
        ("a, (b, *c) = d = e\nx.y = z[0] = 1", {"a", "b", "c", "d"}),
        ("for i in range(3):\n    with open(i) as file:\n        j += 1", {"i", "file", "j"}),
        ("squares = [n * n for n in range(3)]", {"squares"}),
        ("any((found := word) for word in words)", {"found"}),
        ("f = lambda x, y=(z := 1): (w := x)", {"f"}),
        ("try:\n    pass\nexcept ValueError as error:\n    pass", {"error"}),
        ("match x:\n    case {'a': first, **rest}: pass\n    case [_, *others] | (1 as others): pass", {"first", "rest", "others"}),
    ],
)  # fmt: skip
def test_names_that_code_binds(code, names):
    assert set(parsing.bound_by(parsing.parse(code).body)) == names
