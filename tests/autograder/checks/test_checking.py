"""`check`, `hint`, `predict`: what a student sees, in a notebook and in words."""

import io
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.image import imread

from autograder.checks import answer_key, checking, journal, recording
from autograder.checks.asking import ask
from autograder.checks.card import NOT_FINITE, heat_maps
from autograder.checks.checking import GradingRefused
from autograder.checks.comparing import KnownMistake, Rule
from autograder.checks.exceptions import WrongCall
from autograder.checks.notes import Note
from autograder.checks.panels import panels
from coursekit import CheckFailed, case, check, hint, predict, reveal

CASES = ({"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"x": np.ones((4, 5), np.float32)})


def answers(call):
    return tuple(ask(call, case, "torch") for case in CASES)


@pytest.fixture(autouse=True)
def key(tmp_path, monkeypatch):
    """A key file with one exercise, read the way a notebook reads it."""
    monkeypatch.chdir(tmp_path)
    tripled = KnownMistake("tripled", "Three times is one too many.", answers(lambda c: c["x"] * 3))
    hints = ("Which number?", "Shapes stay.", "for each: double", "Nearly x + x.")
    doubled = answers(lambda c: c["x"] * 2)
    rule = Rule(axes={"": "batch token"}, arrays="torch")
    one = answer_key.ExerciseKey(
        "demo.double", rule, hints, ("demo.first",), CASES, doubled, (tripled,), ("x",)
    )
    (tmp_path / "00_demo.key").write_bytes(answer_key.to_bytes([one]))


@pytest.fixture(scope="module", autouse=True)
def shell():
    """Takes what `check` displays. It ends with this file: a kernel of another test must be the only one in its process."""
    main = sys.modules["__main__"]
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


def shown(call, *arguments):
    """(bundles displayed, error message) of a call."""
    error = ""
    with capture_output() as captured:
        try:
            call(*arguments)
        except CheckFailed as failed:
            error = str(failed)
    return [output.data for output in captured.outputs], error


def said(call, *arguments):
    """The text of the only bundle that a call displays."""
    (bundle,), _ = shown(call, *arguments)
    return bundle["text/plain"]


def test_a_right_answer_is_shown_as_right():
    (card,), error = shown(check, "demo.double", lambda case: case["x"] * 2)
    assert error == ""
    assert card["text/plain"] == "✓ demo.double: right"
    assert journal.checks() == {"demo.double": True}


@pytest.mark.slow
def test_a_known_mistake_shows_name_hint_and_heat_maps():
    (card,), error = shown(check, "demo.double", lambda case: case["x"] * 3)
    assert "Tripled." in error and "Three times is one too many." in error
    assert "expected shape 2×3" in card["text/plain"]
    assert 'src="data:image/png;base64,' in card["text/html"]
    assert "Largest difference shown: 5" in card["text/html"]
    assert journal.checks() == {"demo.double": False}


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "is_shown"), [(2, True), (3, False), (5, True)])
def test_a_warning_of_pytorch_is_left_out_where_the_card_names_the_mistake(factor, is_shown):
    """A schedule that steps too early: PyTorch's paragraph stood above a card with the same words."""

    def too_early(case):
        weight = torch.nn.Parameter(torch.zeros(1))
        schedule = torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([weight], 1.0), lambda step: 1.0)
        schedule.step()
        return case["x"] * factor

    with warnings.catch_warnings(record=True) as warned:
        shown(check, "demo.double", too_early)
    assert any("before `optimizer.step()`" in str(one.message) for one in warned) == is_shown


def test_the_student_s_text_is_escaped():
    def evil(case):
        raise ValueError("<script>alert(1)</script>")

    (card,), _ = shown(check, "demo.double", evil)
    assert "<script>" not in card["text/html"]


def test_the_validate_dialog_gets_the_whole_text(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    cards, error = shown(check, "demo.double", lambda case: case["x"] * 3)
    assert cards == []
    assert "yours    shape 2×3" in error and "Traceback" not in error


def test_an_earlier_exercise_that_fails_is_pointed_at():
    journal.save_check("demo.first", False)
    assert "builds on demo.first" in shown(check, "demo.double", lambda case: None)[1]
    journal.save_check("demo.first", True)
    assert "builds on" not in shown(check, "demo.double", lambda case: None)[1]


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("def double(x):\n    return first(x)", True),
        ("def double(x):\n    return helper(x)\ndef helper(x):\n    return [first(x) for _ in x]", True),
        (
            "class Made:\n    def __init__(self, x):\n        first(x)\ndef double(x):\n    return Made(x)",
            True,
        ),
        ("def double(x):\n    'calls first'\n    first = x\n    return first.first", False),
    ],
)
def test_an_earlier_exercise_is_pointed_at_only_by_what_calls_it(code, calls):
    names = {"first": lambda x: x}
    exec(compile(f"{code}\ncall = lambda case: double(case['x']) and None", "<cell 3>", "exec"), names)
    journal.save_check("demo.first", False)
    assert ("builds on demo.first" in shown(check, "demo.double", names["call"])[1]) == calls


def test_unprotected_grading_is_refused(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(GradingRefused, match="nbgrader_config.py"):
        check("demo.double", lambda case: pytest.fail("the student's code ran"))


@pytest.mark.slow
def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(answer_key.NoSuchExercise, match="Available: demo.double"):
        check("demo.duoble", lambda case: None)


def test_hints_climb_one_rung_a_call_and_stay_on_the_last():
    rungs = ("Which number?", "Shapes stay.", "for each: double", "Nearly x + x.")
    for call, words in enumerate((*rungs, rungs[-1], rungs[-1]), 1):
        text = said(hint, "demo.double")
        assert words in text and f"Hint {min(call, 4)} of 4 for demo.double" in text
    assert journal.read()["hints"] == {"demo.double": 4}
    assert "for each: double" not in said(hint, "demo.double", 2)
    with pytest.raises(WrongCall, match="hints 1 to 4"):
        hint("demo.double", 7)


def test_predictions_are_kept_and_revealed():
    assert said(reveal, "demo.number", 3).endswith("The result is 3. You made no prediction.")
    assert "Replace the dots" in said(predict, "demo.number", ...)
    said(predict, "demo.number", 0.5)
    revealed = said(reveal, "demo.number", 0.75)
    assert revealed.endswith("The result is 0.75. You predicted 0.5, which is off by 0.25.")


def test_recording_collects_answers_and_never_raises(monkeypatch):
    recorder = recording.Recorder({"demo.double": list(CASES)}, expecting="demo.double", arrays="torch")
    monkeypatch.setattr(recording, "_active", recorder)
    check("demo.double", lambda case: case["x"] * 2)
    check("demo.other", lambda case: case["x"] * 2)
    hint("demo.double")
    assert {where: answer.problem for where, answer in recorder.answers.items()} == {
        ("", "demo.double", 0): "",
        ("", "demo.double", 1): "",
    }


def test_a_check_that_passes_explains_nothing(monkeypatch):
    """What a wrong answer shows is looked for in wrong answers alone: a right one costs no more than its comparison."""
    monkeypatch.setattr(
        "autograder.checks.judging.explain", lambda *given: pytest.fail("a right answer was explained")
    )
    shown(check, "demo.double", lambda case: case["x"] * 2)


@pytest.mark.slow
def test_a_check_tells_what_belongs_to_its_inputs():
    """The inputs reach the judgement: a factor that is a size of theirs is named by it."""
    _, error = shown(check, "demo.double", lambda case: case["x"] * 2 * case["x"].shape[-1])
    assert "`x.shape[-1]`: " in error


@pytest.mark.slow
def test_the_parts_of_an_answer_keep_their_order_in_a_key_file(tmp_path):
    right = lambda given: {name: given["x"] + at for at, name in enumerate(("weights", "bias", "error"))}  # noqa: E731
    rule = Rule(axes={"weights": "B T", "bias": "B T", "error": "B T"})
    expected = tuple(ask(right, case, "torch") for case in CASES)
    one = answer_key.ExerciseKey("parts.three", rule, ("", "", "", ""), (), CASES, expected, ())
    (tmp_path / "02_parts.key").write_bytes(answer_key.to_bytes([one]))
    wrong = lambda given: {name: given["x"] ** 3 - 7 for name in ("error", "bias", "weights")}  # noqa: E731
    places = [shown(check, "parts.three", wrong)[1].index(f"{name}: ") for name in rule.axes]
    assert places == sorted(places)


@pytest.mark.slow
def test_a_function_that_writes_into_lists_leaves_the_key_as_it_was(tmp_path):
    """The key is read once for a notebook: whoever repaired such a function was wrong until the kernel was restarted."""
    case = {"words": ["a", "b"], "rows": [[1], [2, 3]]}
    right = lambda given: torch.tensor([len(given["words"]), len(given["rows"][1])])  # noqa: E731
    one = answer_key.ExerciseKey(
        "lists.count", Rule(), ("", "", "", ""), (), (case,), (ask(right, case, "torch"),), ()
    )
    (tmp_path / "01_lists.key").write_bytes(answer_key.to_bytes([one]))

    def spoils(given):
        given["words"].append("c")
        given["rows"][1].clear()
        return right(given)

    assert "changed its input (rows, words)" in shown(check, "lists.count", spoils)[1]
    assert shown(check, "lists.count", right)[1] == ""


@pytest.mark.slow
def test_the_heat_maps_say_which_of_several_tables_they_show(tmp_path):
    def right(case):
        return {"ids": case["x"], "labels": case["x"] + 1}

    expected = answers(right)
    one = answer_key.ExerciseKey("parts.two", Rule(arrays="torch"), ("", "", "", ""), (), CASES, expected, ())
    (tmp_path / "02_parts.key").write_bytes(answer_key.to_bytes([one]))
    (card,), error = shown(check, "parts.two", lambda case: right(case) | {"labels": case["x"]})
    assert 'alt="labels: Heat maps.' in card["text/html"]
    assert "labels: yours    shape 2×3" in card["text/plain"]
    (card,), _ = shown(check, "demo.double", lambda case: case["x"])
    assert 'alt="Heat maps.' in card["text/html"]


def test_a_right_answer_reads_its_key_once_and_draws_nothing(monkeypatch):
    """What a check takes beside the student's own function."""
    drawn = []
    monkeypatch.setattr("autograder.checks.card.heat_maps", lambda *arrays: drawn.append(arrays) or (b"", ""))
    answer_key.load.cache_clear()
    for _ in range(3):
        shown(check, "demo.double", lambda case: case["x"] * 2)
    assert answer_key.load.cache_info().misses == 1
    assert drawn == []
    with pytest.raises(CheckFailed):
        check("demo.double", lambda case: case["x"])
    assert len(drawn) <= 1


TAKE_LONG = {
    "matplotlib",
    "pandas",
    "scipy",
    "sklearn",
    "transformers",
    "pyarrow",
    "datasets",
    "huggingface_hub",
}


@pytest.mark.slow
def test_importing_coursekit_imports_nothing_else_that_takes_long():
    code = "import sys, torch; from coursekit import check, hint, predict, reveal; print(*sys.modules)"
    found = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "autograder.checks.checking" in found
    assert {name.partition(".")[0] for name in found} & TAKE_LONG == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (np.zeros((2, 3)), np.ones((2, 3)), "Largest difference shown: 1"),
        (
            np.zeros((2, 3, 4)),
            np.stack([np.zeros((3, 4)), np.full((3, 4), 7.0)]),
            "Largest difference shown: 7",
        ),
        (np.full((2, 2), np.nan), np.ones((2, 2)), "Largest difference shown: inf"),
        (np.array([True, False]), np.array([True, True]), "Largest difference shown: 1"),
        (np.full((2, 2), -np.inf), np.full((2, 2), -np.inf), "Largest difference shown: 0"),
        (np.zeros((2, 3, 4)), np.ones((3, 4)), "shape 2×3×4"),
        (np.arange(5), np.arange(5) * 1e30, "Largest difference shown: 4e+30"),
    ],
)
def test_heat_maps_of_anything_are_pictures_with_words(got, want, words):
    png, alt = heat_maps(panels(got, want, 64))
    assert png.startswith(b"\x89PNG")
    assert words in alt


@pytest.mark.slow
@pytest.mark.parametrize(("value", "is_grey"), [(np.nan, True), (np.inf, True), (2.0, False)])
def test_what_is_no_number_is_grey_and_no_difference_is_black(value, is_grey):
    png, _ = heat_maps(panels(np.array([[1.0, 0.5], [value, value]]), np.array([[1.0, 0.5], [0.5, 1.0]]), 64))
    pixels = imread(io.BytesIO(png))[..., :3]
    grey = (abs(pixels - float(NOT_FINITE)) < 0.01).all(-1)
    assert (grey.sum() > 10_000) == is_grey
    black = (pixels < 0.02).all(-1)
    assert black.sum() > 5_000  # of the difference, the first row


def test_a_broken_progress_file_is_replaced():
    journal.save_check("demo.double", True)
    journal.path().write_text("[1, 2")
    assert journal.checks() == {}
    journal.save_check("demo.double", True)
    assert journal.checks() == {"demo.double": True}


@pytest.mark.slow
def test_the_card_names_the_inputs_that_failed_and_case_hands_over_the_first():
    def wrong_on_squares(given):
        return given["x"] * (3 if given["x"].shape[0] == 4 else 2)

    (card,), _ = shown(check, "demo.double", wrong_on_squares)
    assert "Your answer is wrong on input 2 of 2. Input 2: x 4×5." in card["text/plain"]
    assert 'case("demo.double")' in card["text/plain"] and "print(…) works" in card["text/plain"]
    failing = case("demo.double")
    assert torch.equal(failing["x"], torch.ones(4, 5)) and failing.number == 2
    assert torch.equal(failing.yours, failing.expected + 1)
    assert torch.equal(wrong_on_squares(failing), failing.yours)
    failing["x"].zero_()
    assert case("double")["x"].all(), "each call hands over a copy"
    assert "x'] = tensor" in repr(failing) and ".expected = tensor" in repr(failing)


@pytest.mark.slow
def test_an_input_for_the_verdict_alone_is_neither_named_nor_handed_over(tmp_path):
    cases = tuple({**each, "_held_out": np.ones(7)} for each in CASES)
    one = answer_key.ExerciseKey(
        "demo.double", Rule(arrays="torch"), (), (), cases, answers(lambda c: c["x"] * 2), (), ("x",)
    )
    (tmp_path / "00_demo.key").write_bytes(answer_key.to_bytes([one]))
    (card, *_), _ = shown(check, "demo.double", lambda c: c["x"])
    assert "Input 1: x 2×3." in card["text/plain"] and "held_out" not in card["text/plain"]
    assert set(case("demo.double")) == {"x"}


def test_case_says_why_there_is_no_failing_input():
    checking._last.clear()
    assert "has not been run since the kernel started" in said(case, "demo.double")
    shown(check, "demo.double", lambda given: given["x"] * 2)
    assert "right on all inputs" in said(case, "demo.double")
    shown(check, "demo.double", unanswered)
    assert "not answered yet" in said(case, "demo.double")


def unanswered(given):
    raise NotImplementedError


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double", "demo.double"])
def test_a_hint_is_found_without_its_topic(name):
    assert "for demo.double" in said(hint, name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duoble", "demo.duoble", "dmeo.double"])
def test_a_misspelt_hint_gets_a_suggestion(name):
    with pytest.raises(answer_key.NoSuchExercise, match="Did you mean 'demo.double'?"):
        hint(name)


@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [
        (check, (), 'check\\("topic.exercise", lambda case'),
        (check, ("demo.double",), "how to call your function"),
        (check, ("demo.double", torch.ones(2)), "how to call your function"),
        (check, (len, len), "the name of an exercise"),
        (hint, (), 'hint\\("topic.exercise"\\)'),
        (hint, (3,), 'hint\\("topic.exercise"\\)'),
        (hint, ("demo.double", "2"), "there are hints 1 to 4"),
        (case, (), 'case\\("topic.exercise"\\)'),
        (predict, (), "a name and your number"),
        (predict, (0.5,), "a name and your number"),
        (predict, ("demo.number", "many"), "'many' is not one"),
        (predict, ("demo.number", [0.5]), "a list is not one"),
        (predict, ("demo.number", torch.ones(2)), "a Tensor is not one"),
        (reveal, ("demo.number",), "the result"),
    ],
)
def test_wrong_arguments_get_a_sentence(call, arguments, words):
    with pytest.raises(WrongCall, match=words) as caught:
        call(*arguments)
    assert caught.value._render_traceback_() == [str(caught.value)]


CHOICES = ("it grows", "it stays", "it shrinks")
WHY = {"it grows": "Each step divides.", "it stays": "The first step is the only one that keeps it."}


def test_a_prediction_may_offer_choices_and_each_wrong_one_is_explained():
    assert "a   it grows\n  b   it stays\n  c   it shrinks\n  Replace the dots" in said(
        predict, "demo.size", ..., CHOICES
    )
    assert "You made no prediction." in said(reveal, "demo.size", "it shrinks", WHY)
    for letter, choice in (("A", CHOICES[0]), ("B", CHOICES[1]), ("b", CHOICES[1]), (" b ", CHOICES[1])):
        assert f"You predict: {choice}." in said(predict, "demo.size", letter, CHOICES)
        assert journal.read()["predictions"] == {"demo.size": choice}
        told = said(reveal, "demo.size", "it shrinks", WHY)
        assert f"The result is: it shrinks.\n  You predicted: {choice}. {WHY[choice]}" in told
    said(predict, "demo.size", "it shrinks", CHOICES)
    assert said(reveal, "demo.size", "it shrinks", WHY).endswith("As you predicted.")
    for wrong in ("d", 0.5, "grows"):
        with pytest.raises(WrongCall, match='"a" to "c"'):
            predict("demo.size", wrong, CHOICES)


def test_a_name_in_backquotes_is_code_and_markup_is_not():
    html = Note("needs `similarities`: skipped", ("`<b>`",))._repr_mimebundle_()["text/html"]
    assert "<code>similarities</code>" in html and "<code>&lt;b&gt;</code>" in html
