"""Which function calls which, read from code that students wrote."""

import pytest

from autograder.untrusted.calls import LONGEST, names_in, names_used, reached


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("def f(x):\n    return softmax(x)", {"softmax"}),
        ('def f(x):\n    """Calls softmax."""\n    return x  # softmax(x)', set()),
        ("def f(x: softmax) -> scale:\n    y: mask = x\n    return y", set()),
        ("def f(x, scale):\n    return x / scale", set()),
        ("def f(x):\n    scale = x.shape[-1] ** 0.5\n    return x / scale", set()),
        ("def f(x):\n    return [scale for scale in x]", set()),
        ("def f(x):\n    def inner(scale):\n        return scale\n    return inner(x), scale", {"scale"}),
        ("def f(x):\n    global table\n    table = x", set()),
        ("def f(x, how=softmax):\n    return map(how, x)", {"softmax", "map"}),
        ("f = lambda x: softmax(x)", {"softmax"}),
        (
            "class f(Layer):\n    def __init__(self):\n        self.attention = Attention(3)",
            {"Layer", "Attention"},
        ),
        ("@decorated\nasync def f(*those, **named):\n    return those, named", {"decorated"}),
        ("%matplotlib inline\n!ls\ndef f(x):\n    return softmax(x)", {"softmax"}),
    ],
)
def test_a_name_counts_where_code_uses_it(code, used):
    assert names_used([code])["f"] == used


def test_the_last_of_several_cells_counts_and_what_is_no_python_binds_nothing():
    cells = ["def f(x):\n    return scale(x)", "def f(:", "def f(x):\n    return softmax(x)", "\0"]
    assert names_used(cells) == {"f": {"softmax"}}
    assert names_in("def f(:") == set()


def test_what_is_called_through_a_helper_is_reached_and_nothing_behind_an_end():
    used = names_used(
        ["def f(x): return helper(x)", "def helper(x): return softmax(x)", "def softmax(x): return exp(x)"]
    )
    assert reached({"f"}, used) == {"f", "helper", "softmax", "exp"}
    assert reached({"f"}, used, until={"softmax"}) == {"f", "helper", "softmax"}


@pytest.mark.parametrize(
    "hostile",
    [
        "(" * 100_000,
        "f = " + "-" * 100_000 + "1",
        "f = x" + ".a" * 50_000,
        "f = " + "lambda: " * 20_000 + "1",
        "f = " + "[" * 90 + "]" * 90,
        "\ud800 = 1",
    ],
)
def test_hostile_code_harms_no_other_cell(hostile):
    assert names_used([hostile, "def after(): return g()"])["after"] == {"g"}
    names_in(hostile)


@pytest.mark.slow
def test_of_more_code_than_anybody_writes_the_end_is_not_read():
    assert "late" not in names_used(["a = 1\n" * (LONGEST // 6), "late = 1\n" * 10])
