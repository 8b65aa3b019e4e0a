"""`check` and `case`: what the cells of a notebook call about their exercises."""

import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from IPython.display import display

from autograder.checks import answer_key, journal, lending, recording, skipping
from autograder.checks.asking import Answer, Case, ask
from autograder.checks.card import Card
from autograder.checks.exceptions import CheckFailed, Unanswered, WrongCall
from autograder.checks.failing import FailingCase, first_failing
from autograder.checks.gradients import Differentiable
from autograder.checks.hinting import hint
from autograder.checks.judging import judge
from autograder.checks.measuring import measured
from autograder.checks.notes import WAITING, WRONG, Note
from autograder.checks.status import Problem, Status
from autograder.checks.tracebacks import NOT_RUN


class GradingRefused(RuntimeError):
    """Graded checks were run by something that does not jail them."""


_last: dict[str, Card] = {}


def check(
    name: str = "", call: Callable[[Case], Any] | None = None, gradients: bool | Sequence[str] = False
) -> None:
    """Hand public inputs to your function through `call`, compare its answers, and show the result.

    gradients  also compare the gradients that come back to the inputs: to all of floats, or to those that are named.

    Raises CheckFailed when the answer is not right, so that the Validate button sees it. Where a person runs the cell
    the notebook goes on after it, as `skipping` says.
    """
    recorder = recording.active()
    if recorder:
        recorder.record(name, Differentiable(call, gradients) if gradients and call else call)
        return
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        raise GradingRefused(
            f"The check {name!r} was about to run unprotected and ungraded. Load the course's nbgrader_config.py "
            "(run nbgrader from the course folder), or use `autograder grade`."
        )
    if not isinstance(name, str) or not name or not callable(call):
        raise WrongCall(
            'check takes the name of an exercise and how to call your function: check("topic.exercise", '
            "lambda case: your_function(**case)). The cell below the exercise contains this call."
        )
    skipping.install()
    key = answer_key.find(name)
    lending.renew(name)
    if lending.is_lent(name):
        _lent(name)
    if why := _out_of_date(name):
        _not_taken(name, why)
    asked = Differentiable(call, gradients) if gradients else call
    with warnings.catch_warnings(record=True) as warned:
        answers = tuple(measured(ask(asked, case, key.rule.arrays), case, key.rule) for case in key.cases)
    missing = _undefined_in_the_check(answers)
    if missing and skipping.running_cell():
        _not_run(name, missing)
    verdict = judge(answers, key.expected, key.rule, key.mistakes, cases=key.received)
    if not verdict.mistake:  # a card that names the mistake says it better
        _show(warned)
    card = Card(key, verdict, answers, _needs(name, answers), _unfinished(key, call))
    _last[name] = card
    _remember(name, verdict.status)
    if verdict.passed:
        display(card)
        return
    _stop(card, (card.needs or _function_of(name)) if verdict.status == Status.MISSING else "")


def _stop(shown: Card | Note, needs: str = "") -> NoReturn:
    """Show why a check does not pass, and end its cell. Validate shows the error alone, which then says all.

    needs  the function without which there is no answer; "" where there is a wrong one.
    """
    if os.environ.get("NBGRADER_EXECUTION") == "validate":
        text = shown.text()
    else:
        display(shown)
        text = shown.summary()
    brief = f"{shown.title} (see above)" if skipping.running_cell() else ""
    raise Unanswered(text, needs, brief) if needs else CheckFailed(text, brief)


def _show(warned: Sequence[warnings.WarningMessage]) -> None:
    """The warnings of a student's function, as they are shown where nobody keeps them back."""
    for one in warned:
        warnings.showwarning(one.message, one.category, one.filename, one.lineno, one.file, one.line)


def _lent(name: str) -> NoReturn:
    """Stop the check of a function that was lent: there is no answer of the student's to look at."""
    note = Note(
        f"{lending.SIGN} {name}: lent, earns no points",
        ("Write your own function and run this cell again.",),
        WAITING,
    )
    _remember(name, Status.MISSING)
    _stop(note, _function_of(name))


def _out_of_date(name: str) -> str:
    """Why what would be judged is not what the cell of the answer says now; "" if it is."""
    kernel = skipping.active()
    function = _function_of(name)
    return kernel.edits.why_old(function, kernel.function(function)) if kernel else ""


def _not_taken(name: str, why: str) -> NoReturn:
    """Stop the check of a function from before an edit: its verdict would be about another text than the student sees."""
    note = Note(f"✗ {name}: the last change to its cell has not taken effect", (why,), WRONG)
    _stop(note)


_NOT_RUN = re.compile(rf"NameError: name '(\w+)' is not defined\b.*\n{re.escape(NOT_RUN)}")


def _undefined_in_the_check(answers: tuple[Answer, ...]) -> str:
    """The name that the check's own cell asks for in vain, or ""."""
    found = [match for answer in answers if (match := _NOT_RUN.fullmatch(answer.message))]
    return found[0][1] if found and len(found) == len(answers) else ""


def _not_run(name: str, missing: str) -> None:
    """Stop a check for which there is nothing to ask yet, if it is known why."""
    kernel = skipping.active()
    needs = kernel.needed_by(missing) if kernel else None
    if needs is not None:
        title = f"… {name}: {skipping.skipped_title(needs)}"
        display(Note(title, colour=WAITING))
        raise Unanswered(title, needs)
    if kernel and (advice := kernel.advice_about(missing)):
        raise NotRunYet(advice)


class NotRunYet(RuntimeError):
    """A check before the cells above it. Shown as its sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _needs(name: str, answers: tuple[Answer, ...]) -> str:
    """The earlier function that is still a stub and that this exercise calls, or ""."""
    stubs = {answer.message for answer in answers if answer.problem == Problem.UNANSWERED}
    stub = next(iter(stubs)) if len(stubs) == 1 else ""
    kernel = skipping.active()
    if stub in ("", _function_of(name)) or kernel is None:
        return ""
    return stub if lending.is_stub(kernel.function(stub)) else ""


def _function_of(name: str) -> str:
    """The function that an exercise asks for bears its name: "scale" for "attention.scale"."""
    return name.rpartition(".")[2]


def _remember(name: str, status: Status) -> None:
    """Keep how a check ended: in the journal, and in this kernel for the cells that use a wrong function."""
    journal.save_check(name, None if status == Status.MISSING else status == Status.PASSED)
    if kernel := skipping.active():
        for told in (case, hint, lending.borrow):  # cards tell of them: a notebook may not have imported them
            kernel.shell.user_ns.setdefault(told.__name__, told)
        wrong = {_function_of(name)}
        failed = status not in (Status.PASSED, Status.MISSING)
        kernel.wrong = kernel.wrong | wrong if failed else kernel.wrong - wrong


def _unfinished(key: answer_key.ExerciseKey, call: Callable) -> tuple[str, ...]:
    """The earlier exercises whose functions the student's code calls, as far as can be told, and whose checks failed last time."""
    passed = journal.checks()
    names = getattr(call, "__globals__", {})
    called = skipping.names_called(call, names)
    return tuple(
        name
        for name in key.uses
        if passed.get(name) is False and (_function_of(name) in called or _function_of(name) not in names)
    )


def case(name: str = "") -> FailingCase | None:
    """The first inputs on which your function was wrong when its check ran last, what it gave, and what is expected.

    `scale(**case("attention.scale"))` calls your function on them once more.
    """
    if recording.active():
        return None
    name = answer_key.asked_for("case", name)
    card = _last.get(name)
    failing = first_failing(card) if card else None
    if card is None:
        why = "its check has not been run since the kernel started"
    elif card.verdict.passed:
        why = "it is right on all inputs of its check"
    else:
        why = "it is not answered yet"
    if failing is None:
        display(Note(f"… {name} has no failing input: {why}", (), WAITING))
    return failing
