"""Wrong answers of every kind get a sentence of their own."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from coursekit import planted
from coursekit.asking import Answer, ask
from coursekit.judging import KnownMistake, Rule, judge, shape_sentence

CASES = [{"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"x": np.ones((4, 5), np.float32)}]
RULE = Rule(axes={"": "batch token"})


def verdict(call, cases=CASES, right=lambda case: case["x"] * 2, rule=RULE, mistakes=()):
    expected = [ask(right, case) for case in cases]
    return judge([ask(call, case) for case in cases], expected, rule, mistakes)


@pytest.mark.parametrize(
    ("call", "note"),
    [
        (lambda case: case["x"] * 2, ""),
        (lambda case: case["x"].double() * 2, ""),
        (lambda case: (case["x"] * 2).half(), ""),
        (lambda case: (case["x"] * 2).bfloat16(), "bfloat16"),
        (lambda case: (case["x"] * 2).numpy(), "numpy array"),
        (lambda case: (case["x"] * 2).requires_grad_(), ""),
        (lambda case: (case["x"] * 2).tolist(), ""),
        (lambda case: case["x"].clone().mul_(2), ""),
    ],
)
def test_right_answers_of_unusual_types_pass(call, note):
    given = verdict(call)
    assert given.passed, given.reason
    assert note in " ".join(given.notes)


def raise_value_error(case):
    raise ValueError("my own words")


def changes_input(case):
    case["x"] *= 2
    return case["x"]


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        (lambda case: None, "failed", "returned None"),
        (lambda case: "text", "failed", "returned a str"),
        (lambda case: torch.exp, "failed", "was it called?"),
        (lambda case: case["x"] + 1j, "failed", "complex"),
        (lambda case: (case["x"], case["x"]), "failed", "2 tensors; expected are one tensor"),
        (lambda case: case["x"].T * 2, "failed", "look swapped"),
        (lambda case: case["x"].sum(-1), "failed", "Missing: token (3)"),
        (lambda case: case["x"][None] * 2, "failed", "One too many: axis 0 of size 1"),
        (lambda case: case["x"][:, :2], "failed", "token (3), which has 2 in yours"),
        (lambda case: case["x"] / 0 * 0, "failed", "NaN"),
        (lambda case: case["x"] / 0 + 1, "failed", "NaN"),
        (lambda case: 1 / (case["x"] * 0), "failed", "infinite"),
        (lambda case: case["x"], "failed", "5 of 6 of your numbers differ"),
        (raise_value_error, "error", "ValueError: my own words"),
        (changes_input, "failed", "changed its input (x)"),
    ],
)
def test_wrong_answers_are_told_apart(call, status, words):
    given = verdict(call)
    assert given.status == status
    assert words in given.reason


def test_an_unwritten_answer_is_no_error():
    def stub(case):
        raise NotImplementedError

    assert verdict(stub).status == "missing"
    assert "Not answered yet" in verdict(stub).reason


def test_code_for_one_batch_size_is_recognised():
    given = verdict(
        lambda case: case["x"].reshape(2, -1) * 2 if case["x"].numel() == 6 else case["x"].view(2, 3)
    )
    assert "Right when the first axis has size 2, wrong for 4" in given.reason


def test_a_known_mistake_is_named_only_if_it_explains_every_case():
    tripled = KnownMistake(
        "tripled", "Three times is one too many.", tuple(ask(lambda c: c["x"] * 3, c) for c in CASES)
    )
    assert verdict(lambda case: case["x"] * 3, mistakes=[tripled]).hint == tripled.hint
    other = verdict(lambda case: case["x"] * (3 if len(case["x"]) == 2 else 5), mistakes=[tripled])
    assert (other.status, other.mistake) == ("failed", "")


def test_infinities_must_stand_in_the_same_places():
    want = [Answer({"": np.array([0.0, -np.inf], np.float32)})]
    assert judge(want, want, Rule()).passed
    assert not judge([Answer({"": np.array([-np.inf, 0.0], np.float32)})], want, Rule()).passed
    assert not judge([Answer({"": np.array([0.0, -1e9], np.float32)})], want, Rule()).passed


def test_tolerance_is_relative_to_the_scale():
    want = [Answer({"": np.array([1e6, 1.0], np.float32)})]
    near = [Answer({"": np.array([1e6 + 50, 2.0], np.float32)})]
    far = [Answer({"": np.array([1e6 + 500, 1.0], np.float32)})]
    assert judge(near, want, Rule(tolerance=1e-4)).passed
    assert not judge(far, want, Rule(tolerance=1e-4)).passed


def test_whole_numbers_are_compared_exactly():
    want = [Answer({"": np.array([3, 4])})]
    assert judge([Answer({"": np.array([3.0, 4.0])})], want, Rule()).passed
    assert not judge([Answer({"": np.array([3, 5])})], want, Rule()).passed
    assert not judge([Answer({"": np.array([3.0, 4.4])})], want, Rule()).passed


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        ((2, 5, 3), (2, 3, 5), "axis 1 (size 3) and axis 2 (size 5) look swapped"),
        ((3, 5), (2, 3, 5), "Missing: axis 0 (size 2)"),
        ((2, 3, 1), (2, 3), "axis 2 of size 1"),
        ((), (2,), "Missing: axis 0 (size 2)"),
    ],
)
def test_shapes_are_explained(got, want, words):
    assert words in shape_sentence(got, want)


# ------------------------------------------------------------------------------------------ answers that are tests

EXPOSES = Rule("exposes", faults="attention", axes={"keep": "B Tq Tk"})
ATTENTION = planted.task("attention")


def inputs(B=4, Tq=5, Tk=7, d=6, dv=8, seed=0):
    """Ordinary rows under a random mask, one row that sees nothing, one with large scores and its best keys hidden."""
    rng = np.random.default_rng(seed)
    arrays = {
        name: rng.standard_normal(shape)
        for name, shape in {"queries": (B, Tq, d), "keys": (B, Tk, d), "values": (B, Tk, dv)}.items()
    }
    keep = rng.random((B, Tq, Tk)) < 0.6
    arrays["queries"][-1] *= 1000
    keep[-1] = arrays["queries"][-1] @ arrays["keys"][-1].T < 0
    keep[0] = False
    return arrays | {"keep": keep}


def exposing(unseen=(), **changed):
    good = inputs()
    return judge([Answer(good | changed)], [Answer(good)], EXPOSES, unseen=unseen)


def test_inputs_that_expose_every_practice_fault_pass():
    assert exposing().passed
    assert judge(
        [Answer(inputs(seed=1))], [Answer(inputs())], EXPOSES
    ).passed  # expected gives the shapes alone


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"keep": np.ones((4, 5, 7), bool)}, ["keys that may not be seen", "queries that may see nothing"]),
        ({"queries": inputs()["queries"] * 1e-6}, ["how strongly scores differ"]),
        ({"values": np.ones((4, 7, 8))}, ["how strongly scores differ"]),
        ({"keys": inputs()["keys"] + 300_000}, ["false alarm", "float32"]),
        ({"keep": np.ones((4, 7, 5), bool)}, ["look swapped"]),
        ({"keep": inputs()["values"][..., :5].swapaxes(1, 2)}, ["keep holds other numbers than 0 and 1"]),
        ({"keys": np.full((4, 7, 6), np.nan)}, ["keys holds NaN or infinite numbers"]),
        ({"values": np.full((4, 7, 8), -1e300)}, ["values holds numbers beyond ±1,000,000"]),
        ({"queries": np.zeros((4, 5, 6), bool)}, ["planted faults"]),
        ({"more": np.ones(1)}, ["tensors named keep, keys, more, queries, values"]),
    ],
)  # fmt: skip
def test_inputs_that_expose_too_little_are_told_what_escapes(changed, words):
    given = exposing(**changed)
    assert given.status == "failed"
    for expected in words:
        assert expected in given.reason


def test_implementations_that_nobody_has_seen_count_too():
    """All of the practice faults are needed alone; of practice and unseen ones together, a share."""
    blind = planted.Planted("cannot be noticed", "nothing at all", planted.attention.truth)
    assert exposing(unseen=[blind]).passed
    verdict = exposing(unseen=[blind] * 15)
    assert not verdict.passed
    assert "15 of 30 planted faults" in verdict.reason and "nothing at all" in verdict.reason
    alarm = planted.Planted("odd but right", "", lambda **given: planted.attention.truth(**given) + 1, True)
    assert "less 5 false alarms: 10" in exposing(unseen=[alarm] * 5).reason


def test_a_test_is_a_known_mistake_if_it_notices_and_misses_the_same():
    def nothing_hidden(seed):
        return Answer(inputs(seed=seed) | {"keep": np.ones((4, 5, 7), bool)})

    known = KnownMistake("nothing is hidden", "Hide something.", (nothing_hidden(0),))
    want = [Answer(inputs())]
    assert judge([nothing_hidden(5)], want, EXPOSES, [known]).hint == "Hide something."
    small = Answer(inputs() | {"queries": inputs()["queries"] * 1e-6})
    assert judge([small], want, EXPOSES, [known]).hint == ""


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            name: arrays_of.arrays(kind, shape, elements=elements)
            for name, kind, shape, elements in (
                ("queries", np.float64, (2, 1, 1), st.floats()),
                ("keys", np.float32, (2, 3, 1), st.floats(-1e6, 1e6, width=32)),
                ("values", np.int64, (2, 3, 2), st.integers(-(2**63), 2**63 - 1)),
                ("keep", np.bool_, (2, 1, 3), st.booleans()),
            )
        }
    )
)
def test_any_inputs_get_a_verdict(arrays):
    verdict = judge([Answer(arrays)], [Answer(arrays)], EXPOSES)
    assert verdict.passed or verdict.reason


def test_a_function_that_is_not_there_is_told_as_such_and_a_name_missing_in_it_is_not():
    def answer(cell: str) -> str:
        names = {}
        exec(compile(cell, "<cell 1>", "exec"), names)
        exec(compile("call = lambda case: similarities()", "<cell 2>", "exec"), names)
        return ask(names["call"], {}).message

    first, second = answer("").splitlines()
    assert first == "NameError: name 'similarities' is not defined" and "was not run" in second
    inside = answer("def similarities():\n    return missing")
    assert inside.endswith("NameError: name 'missing' is not defined") and "in similarities, line 2" in inside
