"""Wrong answers of every kind get a sentence of their own."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from autograder.checks.asking import Answer
from autograder.checks.asking import ask as ask_any
from autograder.checks.comparing import KnownMistake, Rule, same
from autograder.checks.judging import judge
from coursekit import planted

CASES = [{"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"x": np.ones((4, 5), np.float32)}]
RULE = Rule(axes={"": "batch token"}, arrays="torch")

ask = partial(ask_any, arrays="torch")


def verdict(call, cases=CASES, right=lambda case: case["x"] * 2, rule=RULE, mistakes=()):
    expected = [ask(right, case) for case in cases]
    rule = replace(rule, arrays="torch")
    return judge([ask(call, case) for case in cases], expected, rule, mistakes, cases=cases)


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
        (lambda case: (case["x"], case["x"]), "failed", "2 tensors; one tensor is expected"),
        (lambda case: case["x"].T * 2, "failed", "look swapped"),
        (lambda case: case["x"].sum(-1), "failed", "The axis token (3) is missing"),
        (lambda case: case["x"][None] * 2, "failed", "One axis too many: axis 0 of size 1"),
        (lambda case: case["x"][:, :2], "failed", "token (3), which has size 2 in your answer"),
        (lambda case: case["x"] / 0 * 0, "failed", "NaN"),
        (lambda case: case["x"] / 0 + 1, "failed", "NaN"),
        (lambda case: 1 / (case["x"] * 0), "failed", "infinite"),
        (lambda case: case["x"], "failed", "5 of your 6 numbers differ"),
        (raise_value_error, "error", "ValueError: my own words"),
        (changes_input, "failed", "changed its input (x)"),
    ],
)
def test_wrong_answers_are_told_apart(call, status, words):
    given = verdict(call)
    assert given.status == status
    assert words in given.reason


def in_notebook(source):
    """The function `f` of a cell, as a notebook has it."""
    names = {"torch": torch}
    exec(compile(source, "<cell 1>", "exec"), names)
    return names["f"]


def test_an_unwritten_answer_is_no_error_and_names_its_stub():
    def stub(case):
        raise NotImplementedError

    assert verdict(stub).status == "missing"
    assert "Not answered yet: `stub` is still the stub" in verdict(stub).reason

    def builds_on(case):
        return stub(case) + 1

    assert "`stub` is still the stub" in verdict(builds_on).reason

    class Part:
        def __init__(self):
            raise NotImplementedError

    assert "`Part` is still the stub" in verdict(lambda case: Part()).reason

    def with_words(case):
        raise NotImplementedError("to do")

    assert verdict(with_words).status == "missing"


def test_an_operation_that_torch_lacks_is_an_error_and_no_stub():
    def needs_a_gpu(case):
        return torch.empty(2, device="meta").tolist()

    given = verdict(needs_a_gpu)
    assert given.status == "error" and "NotImplementedError" in given.reason


def test_the_name_of_a_stub_is_shown_only_if_it_is_a_name():
    for message in ("", "<script>", "a b", "`x`\nRight."):
        given = judge([Answer(problem="unanswered", message=message)], [Answer({"": np.ones(1)})], RULE)
        assert given.reason.startswith("Not answered yet: write your code")


def test_an_error_about_the_size_of_the_inputs_that_came_out_right_is_recognised():
    given = verdict(
        lambda case: case["x"].reshape(2, -1) * 2 if case["x"].numel() == 6 else case["x"].view(2, 3)
    )
    assert (
        "The error mentions 3. This is `x.shape[-1]` on the inputs where your answer is right, but here `x.shape[-1]` is 5"
        in given.reason
    )
    other = verdict(lambda case: case["x"] * 2 if case["x"].numel() == 6 else torch.ones(7) + torch.ones(8))
    assert (
        "size is written" not in "".join(other.reason.split("\n"))
        and "Your answer is right on 1 of 2 inputs." in other.reason
    )


def test_answers_may_have_other_parts_for_each_case():
    """As weights by name have, of models with more layers and fewer: a layer's name is in one of the answers alone."""
    weights = [{f"layers.{layer}": np.ones((2, 3)) for layer in range(layers)} for layers in (3, 1)]
    reshaped = verdict(
        lambda case: {name: value.reshape(3, 2) for name, value in case.items()},
        weights,
        right=lambda case: case,
    )
    assert reshaped.status == "failed"
    assert "layers.0: Your shape is (3, 2); the expected shape is (2, 3)" in reshaped.reason
    doubled = verdict(
        lambda case: {name: 2 * value for name, value in case.items()}, weights, right=lambda case: case
    )
    assert "layers.2: 6 of your 6 numbers differ" in doubled.reason


def test_a_size_written_as_a_number_is_said_only_where_a_shape_shows_it():
    cases = [*CASES, {"x": np.ones((7, 3), np.float32)}]
    fixed = verdict(lambda case: case["x"][:2] * 2, cases)
    assert "Axis batch has size 2 in all of your answers, even where 4 or 7 is expected" in fixed.reason
    by_value = verdict(lambda case: case["x"] * 2 if len(case["x"]) == 2 else case["x"] ** 2, cases)
    assert "size" not in by_value.reason and "Your answer is right on 1 of 3 inputs." in by_value.reason
    never_right = verdict(lambda case: torch.ones(5, case["x"].shape[1]), cases)
    assert (
        "Axis batch has size 5 in all of your answers, even where 2 or 4 or 7 is expected"
        in never_right.reason
    )


def tripled(cases=CASES):
    return KnownMistake(
        "tripled", "Three times is one too many.", tuple(ask(lambda c: c["x"] * 3, c) for c in cases)
    )


def test_a_known_mistake_is_named_only_if_it_explains_every_case():
    assert verdict(lambda case: case["x"] * 3, mistakes=[tripled()]).hint == tripled().hint
    other = verdict(lambda case: case["x"] * (3 if len(case["x"]) == 2 else 5), mistakes=[tripled()])
    assert (other.status, other.mistake) == ("failed", "")


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("got", "recorded", "is_same"),
    [
        ([1.0, NAN, INF], [1.0, NAN, INF], True),
        ([NAN, NAN], [NAN, NAN], True),
        ([1.0, NAN], [NAN, 1.0], False),
        ([1.0, NAN], [1.0, 2.0], False),
        ([1.0, 2.0], [1.0, NAN], False),
        ([1.0, INF], [1.0, 2.0], False),
        ([1.0, -INF], [1.0, INF], False),
        ([100.0, NAN, 1.009], [100.0, NAN, 1.0], True),  # beside what is largest of the others
        ([100.0, NAN, 1.011], [100.0, NAN, 1.0], False),
        ([1, 2], [1.0, 2.0], True),
        ([1, 2], [1.0, NAN], False),
        ([1.0, 2.0], [1, 2], True),
        ([1.0, 2.00001], [1, 2], False),
        ([1.0, NAN], [1, 2], False),
        ([True, False], [1, 0], True),
        ([], [], True),
        ([1.0, 2.0], [[1.0, 2.0]], False),
    ],
)
@pytest.mark.parametrize("kind", ["close", "equal"])
def test_a_known_mistake_is_recognised_by_its_numbers_and_where_they_are_none(got, recorded, is_same, kind):
    """Floats within the tolerance whatever the rule: the last bit of a wrong answer depends on the processor."""
    answers = [Answer({"": np.array(array)}) for array in (got, recorded)]
    assert same(*answers, Rule(kind=kind, tolerance=1e-4)) == is_same


def partly(mistakes, call=lambda case: case["x"] * (3 if len(case["x"]) == 2 else 2)):
    """Right on the second input alone."""
    return verdict(call, mistakes=mistakes)


def test_a_mistake_on_the_wrong_inputs_alone_is_named_with_that_restriction():
    given = partly([tripled()])
    assert (given.mistake, given.hint) == ("tripled", tripled().hint)
    assert given.reason.startswith("Your answer is right on 1 of 2 inputs.")
    assert (
        "On the inputs where your answer is wrong, your numbers are those of a known mistake: tripled."
        in given.reason
    )


def test_a_mistake_on_the_wrong_inputs_is_not_named_where_two_would_do_or_too_little_shows_it():
    twin = KnownMistake(
        "tripled for two rows", "Another.", (tripled().answers[0], Answer({"": np.zeros((4, 5))}))
    )
    assert partly([tripled(), twin]).mistake == ""
    # Another way to the same mistake.
    again = KnownMistake("tripled", "Three times is one too many.", twin.answers)
    assert partly([tripled(), again]).mistake == "tripled"
    numbers = [{"x": np.array(1.0)}, {"x": np.array(2.0)}]
    one = KnownMistake("tripled", "h", tuple(ask(lambda c: c["x"] * 3, c) for c in numbers))
    once = verdict(lambda case: case["x"] * (3 if case["x"] == 1 else 2), numbers, mistakes=[one])
    assert (once.mistake, once.passed) == ("", False)
    fails = KnownMistake("returns nothing", "h", (Answer(problem="none"), tripled().answers[1]))
    assert partly([fails], lambda case: None if len(case["x"]) == 2 else case["x"] * 2).mistake == ""


def test_a_mistake_is_named_beside_numbers_that_are_not_finite_on_other_inputs():
    """Who takes the logarithm of a probability that has become 0 may have made another mistake as well."""
    right = [Answer({"": np.array([1.0, 2.0, 3.0, 4.0]) * n}) for n in (1, 2, 3)]
    doubled = KnownMistake(
        "doubled", "Once is enough.", tuple(Answer({"": 2 * one.arrays[""]}) for one in right)
    )
    given = [*doubled.answers[:2], Answer({"": np.array([np.nan, 2.0, 3.0, 4.0])})]
    verdict = judge(given, right, Rule(), [doubled])
    assert (verdict.mistake, verdict.hint, verdict.case) == ("doubled", "Once is enough.", 0)
    assert "On 1 of 3 inputs some of your numbers are NaN or infinite." in verdict.reason
    assert not judge([right[0], *given[1:]], right, Rule(), []).mistake


def test_all_wrong_parts_are_named_in_their_order():
    want = [Answer({str(at): np.full(3, float(at)) for at in (10, 2, 0, 1)})]
    got = [Answer({str(at): np.arange(3) + at * 7.5 for at in (1, 10, 0, 2)})]
    parts = [line.split(":")[0] for line in judge(got, want, Rule()).reason.splitlines()]
    assert parts == ["Part 1", "Part 2", "Part 3", "Part 11"]
    rule = Rule(axes={"weights": "n", "bias": "n"})
    want = [Answer({"bias": np.ones(3), "other": np.ones(3), "weights": np.ones(3)})]
    got = [Answer({name: np.arange(3.0) for name in ("other", "bias", "weights")})]
    given = judge(got, want, rule)
    assert [line.split(":")[0] for line in given.reason.splitlines()] == ["weights", "bias", "other"]
    assert given.part == "weights"


def test_parts_that_have_changed_places_are_told_so():
    cases = [{"x": np.arange(1.0, 7)}, {"x": np.arange(2.0, 6)}]
    given = verdict(lambda c: (c["x"] ** 2, c["x"] + 1), cases, lambda c: (c["x"] + 1, c["x"] ** 2), Rule())
    first, second = given.reason.splitlines()
    assert first.endswith("What you return here is the answer expected for part 2.")
    assert second.endswith("What you return here is the answer expected for part 1.")


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda case: [case["x"] * 2, case["x"] + 1], lambda case: (case["x"] * 2, case["x"] + 1)),
        (lambda case: [case["x"].sum(), case["x"]], lambda case: (case["x"].sum(), case["x"])),
        (lambda case: [float(case["x"].sum()), 2], lambda case: (case["x"].sum(), torch.tensor(2))),
        (lambda case: list(case["x"] * 2), lambda case: case["x"] * 2),
        (lambda case: [(1, 2), (3, 4)], lambda case: torch.tensor([[1, 2], [3, 4]])),
    ],
)
def test_a_list_is_read_as_what_is_asked(call, right):
    given = verdict(call, right=right, rule=Rule())
    assert given.passed, given.reason
    assert given.notes == ("a list was accepted in place of a tensor",)


def test_a_form_that_the_solution_has_is_no_note():
    same = verdict(lambda case: [1, 2], right=lambda case: [1, 2], rule=Rule())
    assert (same.passed, same.notes) == (True, ())
    number = verdict(lambda case: float(case["x"].sum()), right=lambda case: case["x"].sum(), rule=Rule())
    assert number.notes == ("a Python number was accepted in place of a tensor",)
    both = verdict(lambda case: 2.0, right=lambda case: 2, rule=Rule())
    assert (both.passed, both.notes) == (True, ())


@pytest.mark.parametrize("call", [lambda case: [2**70, 1], lambda case: 2**70, lambda case: ([2**70],)])
def test_a_number_too_large_for_any_array_is_named(call):
    given = verdict(call, right=lambda case: torch.ones(2), rule=Rule())
    assert not given.passed and "an integer that does not fit into 64 bits" in given.reason


def test_an_empty_list_is_an_empty_answer():
    assert verdict(lambda case: [], right=lambda case: torch.zeros(0), rule=Rule()).passed


@pytest.mark.parametrize(
    ("call", "right", "words"),
    [
        (
            lambda x: (x > 1).double(),
            lambda x: x > 1,
            "numbers (float64) were accepted in place of True and False",
        ),
        (
            lambda x: (x > 1).long(),
            lambda x: x > 1,
            "numbers (int64) were accepted in place of True and False",
        ),
        (
            lambda x: x.round(),
            lambda x: x.long(),
            "numbers of type float32 were accepted in place of integers",
        ),
        (lambda x: x.double(), lambda x: x, "float64 was accepted in place of float32"),
        (lambda x: x.half(), lambda x: x, "computed in float16"),
        (lambda x: x.long(), lambda x: x.round(), "numbers of type int64 were accepted in place of float32"),
        (lambda x: x, lambda x: x.double(), ""),
    ],
)
def test_types_that_the_next_cell_cannot_use_are_noted(call, right, words):
    cases = [{"x": np.array([0.0, 1.0, 3.0], np.float32)}]
    given = verdict(lambda case: call(case["x"]), cases, lambda case: right(case["x"]), Rule())
    assert given.passed
    assert given.notes == () if not words else words in given.notes[0]


@pytest.mark.parametrize("parts", ["ab", "ba"])
def test_notes_have_the_order_of_the_rule_and_not_of_the_file(parts):
    given = verdict(
        lambda case: {part: case["x"].double() for part in parts},
        right=lambda case: {part: case["x"] for part in parts},
        rule=Rule(axes={"a": "", "b": ""}),
    )
    assert [note.partition(":")[0] for note in given.notes] == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "right", "words"),
    [
        (lambda x: x.long().float(), lambda x: x.long(), "dtype is float32, where the annotation promises whole numbers (Int)"),
        (lambda x: x > 1, lambda x: (x > 1).long(), "dtype is bool, where the annotation promises whole numbers (Int)"),
        (lambda x: (x > 1).long(), lambda x: x > 1, "dtype is int64, where the annotation promises True and False (Bool)"),
        (lambda x: (x > 1).double().numpy(), lambda x: x > 1, "convert them with `.bool()`"),
        (lambda x: {"ids": x.long(), "keep": (x > 1).byte()}, lambda x: {"ids": x.long(), "keep": x > 1}, "keep: The values are right"),
    ],
)  # fmt: skip
def test_numbers_of_another_kind_than_the_annotation_promises_are_wrong(call, right, words):
    cases = [{"x": np.array([0.0, 1.0, 3.0], np.float32)}]
    given = verdict(
        lambda case: call(case["x"]), cases, lambda case: right(case["x"]), Rule(kinds="bi", arrays="torch")
    )
    assert not given.passed
    assert words in given.reason
    assert given.notes == () or "numpy" in given.notes[0]


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda x: x.int(), lambda x: x.long()),
        (lambda x: x.long().numpy().astype(np.int16), lambda x: x.long()),
        (lambda x: x.byte(), lambda x: x.long()),
        (lambda x: x.tolist(), lambda x: x.long()),
        (lambda x: [0, 0, 1], lambda x: x > 1),
        (lambda x: 3.0, lambda x: x.max().long()),
        (lambda x: x.long(), lambda x: x),
    ],
)
def test_the_size_of_whole_numbers_and_lists_are_as_free_as_ever(call, right):
    cases = [{"x": np.array([0.0, 1.0, 3.0], np.float32)}]
    given = verdict(
        lambda case: call(case["x"]), cases, lambda case: right(case["x"]), Rule(kinds="bi", arrays="torch")
    )
    assert given.passed, given


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({1, 2}, "returned a set"),
        ([1, None], "a list that contains a NoneType"),
        ([torch.ones(2), torch.ones(3)], "a list of 2 items of unequal shapes; one tensor is expected"),
        ([[1, 2], [3]], "a list of 2 items of unequal shapes"),
        ([torch.ones(n) for n in range(70)], "a list of 70 items of unequal shapes"),
        (torch.max(torch.tensor([[3.0, 4.0]]), -1), "2 tensors; one tensor is expected. The expected array is part 1 of what your function returned"),
    ],
)  # fmt: skip
def test_answers_of_another_form_are_described(value, words):
    given = verdict(lambda case: value, right=lambda case: torch.tensor([4.0]), rule=Rule())
    assert not given.passed
    assert words in given.reason


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda case: case["words"].append("end"), "words"),
        (lambda case: case["rows"][1].pop(), "rows"),
        (lambda case: case["settings"]["sizes"].__setitem__(0, 9), "settings"),
        (lambda case: case["settings"].pop("sizes"), "settings"),
        (lambda case: case["x"].add_(1), "x"),
    ],
)
def test_whatever_a_function_writes_into_its_input_is_named_and_stays_out_of_the_case(write, name):
    case = {
        "words": ["a", "b"],
        "rows": [[1], [2, float("nan")]],
        "settings": {"sizes": [3]},
        "x": np.zeros(2, np.float32),
    }

    def call(given):
        write(given)
        return torch.ones(1)

    assert (ask(call, case).problem, ask(call, case).message) == ("changed", name)
    assert (case["words"], len(case["rows"][1]), case["settings"]) == (["a", "b"], 2, {"sizes": [3]})
    assert not case["x"].any()
    assert ask(lambda given: torch.ones(1), case).problem == ""


# ------------------------------------------------------------------------------------------ answers that are tests

EXPOSES = Rule("exposes", faults="coursekit.planted.attention", axes={"keep": "B Tq Tk"}, arrays="torch")
ATTENTION = planted.task("coursekit.planted.attention")


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
        ({"keep": np.ones((4, 5, 7), bool)}, ["keys that are masked", "queries for which all keys are masked"]),
        ({"queries": inputs()["queries"] * 1e-6}, ["how strongly scores differ"]),
        ({"values": np.ones((4, 7, 8))}, ["how strongly scores differ"]),
        ({"keys": inputs()["keys"] + 300_000}, ["Your inputs reject", "float32"]),
        ({"keep": np.ones((4, 7, 5), bool)}, ["look swapped"]),
        ({"keep": inputs()["values"][..., :5].swapaxes(1, 2)}, ["keep contains numbers other than 0 and 1"]),
        ({"keys": np.full((4, 7, 6), np.nan)}, ["keys contains NaN or infinite numbers"]),
        ({"values": np.full((4, 7, 8), -1e300)}, ["values contains numbers beyond ±1,000,000"]),
        ({"queries": np.zeros((4, 5, 6), bool)}, ["planted faults"]),
        ({"more": np.ones(1)}, ["returned `more`, which is not expected"]),
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
    assert "minus 5 false alarms, that makes 10" in exposing(unseen=[alarm] * 5).reason


def test_a_test_is_a_known_mistake_if_it_notices_and_misses_the_same():
    def nothing_hidden(seed):
        return Answer(inputs(seed=seed) | {"keep": np.ones((4, 5, 7), bool)})

    known = KnownMistake("nothing is hidden", "Hide something.", (nothing_hidden(0),))
    want = [Answer(inputs())]
    assert judge([nothing_hidden(5)], want, EXPOSES, [known]).hint == "Hide something."
    small = Answer(inputs() | {"queries": inputs()["queries"] * 1e-6})
    assert judge([small], want, EXPOSES, [known]).hint == ""


@pytest.mark.slow
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
