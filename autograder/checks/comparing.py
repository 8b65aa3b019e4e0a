"""Compare answers with expected and with recorded ones: what decides a verdict. Arrays in, what is wrong with each out.

The same code serves the student's `check` and the autograder, which calls it outside the jail.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from autograder.checks import planted
from autograder.checks.arrays import ADAPTERS, BFLOAT16, FORMS, LISTS, with_article
from autograder.checks.asking import Answer
from autograder.checks.explaining.shapes import NOTHING, shape_sentence
from autograder.checks.explaining.words import enumerated, number
from autograder.checks.gradients import CUTS, NEEDED, TOLERANCE, same_gradients, what_is_cut
from autograder.checks.planted import Exposure, Planted
from autograder.checks.status import Problem, Status


@dataclass(frozen=True)
class Rule:
    """How an answer is compared.

    kind        "close": |yours − expected| ≤ tolerance · max|expected|;  "equal": the same numbers;
                "exposes": the answer is itself a test, inputs on which implementations with planted faults must
                give something wrong and right ones must not. Expected counts for its shapes alone.
    tolerance   relative to the scale of the expected answer.
    axes        names of the axes of each part, for the sentence about a wrong shape:
                {"": "batch query key"}.
    faults      for "exposes": the module that holds the faults for practice, such as "coursekit.planted.attention".
    legend      what the codes of a part stand for that the check has made up itself, one entry for each input of the case whose
                name begins with "inputs", and a last one: {"registered": {"inputs": "weights.", "0": "No parameter {names}.",
                "last": "{number} parameters too many."}}. Said instead of a comparison of the numbers.
    arrays      what answers are made of: a name of `arrays.ADAPTERS`. The course says so for all its exercises.
    measure     "module:function" of the course, where an answer is evidence, such as the weights of a trained model: what
                `measuring` compares in its place.
    kinds       of these kinds an answer must be where the expected one is: "i" for whole numbers, "b" for True and False.
                The solution's annotations say so: an `Int` or `Bool` that it returns.
    """

    kind: str = "close"
    tolerance: float = 1e-4
    axes: Mapping[str, str] = field(default_factory=dict)
    faults: str = ""
    legend: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    arrays: str = "numpy"
    measure: str = ""
    kinds: str = ""


MOST_NAMED = 4
"""Parts of an answer that one sentence names."""
SHARE_TO_EXPOSE = 0.85
"""Of all planted faults, when there are some that nobody could practise on. Those for practice are asked for in any case."""


@dataclass(frozen=True)
class KnownMistake:
    """A named wrong answer: what it gives on each case, the hint for who gives the same, and the share of the points."""

    name: str
    hint: str
    answers: tuple[Answer, ...]
    credit: float = 0.0


@dataclass(frozen=True)
class Fault:
    """What is wrong with one part of an answer: kind "shape", "dtype", "nan", "infinite", "numbers" or "gradient"."""

    kind: str
    reason: str
    wrong: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # which numbers


@dataclass(frozen=True)
class Finding:
    """What is wrong with one answer; `faults` are those of its parts, in their order, if it has all parts."""

    status: Status
    reason: str
    faults: Mapping[str, Fault] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """The first part that is wrong; "" for a single array, and where the answer has not all parts."""
        return next(iter(self.faults), "")


def passes(
    answers: Sequence[Answer | None], expected: Sequence[Answer], rule: Rule, unseen: Sequence[Planted] = ()
) -> bool:
    """Whether every answer is right: `judge` for those who need no words."""
    return all(
        compare(answer, want, rule, unseen) is None for answer, want in zip(answers, expected, strict=True)
    )


def compare(
    answer: Answer | None, want: Answer, rule: Rule, unseen: Sequence[Planted] = ()
) -> Finding | None:
    """None when the answer is right; otherwise what is wrong with it."""
    if answer is None:
        return Finding(Status.MISSING, "No answer was returned.")
    if answer.problem:
        return _problem(answer, rule)
    answer = in_parts(answer, want)
    if set(answer.arrays) != set(want.arrays):
        return Finding(Status.FAILED, _wrong_parts(answer, want, rule))
    if rule.kind == "exposes":
        return _compare_test(answer, want, rule, unseen)
    faults = {}
    for part in in_order(want.arrays, rule):
        got, array = answer.arrays[part], want.arrays[part]
        fault = _compare_arrays(got, array, rule, part, answer.notes)
        if not fault and not set(FORMS) & set(answer.notes):  # a list or a number of Python has no dtype
            fault = _compare_kinds(got, array, rule)
        if fault:
            faults[part] = fault
    there = {part: fault for part, fault in faults.items() if answer.arrays[part].shape != NOTHING}
    faults = there or faults  # what is not there is so because of what else is wrong
    reason = "\n".join(label(part) + fault.reason for part, fault in faults.items())
    return Finding(Status.FAILED, reason, faults) if faults else _compare_gradients(answer, want, rule)


def recognised(
    answers: Sequence[Answer | None], rule: Rule, mistakes: Sequence[KnownMistake]
) -> list[KnownMistake]:
    """The mistakes whose answers these equal on every case."""
    return [
        mistake
        for mistake in mistakes
        if all(same(answer, wrong, rule) for answer, wrong in zip(answers, mistake.answers, strict=True))
    ]


def earned_credit(equal: Sequence[KnownMistake]) -> float:
    """The share of the points for answers that are those of these mistakes: the least, where they are not told apart."""
    return min((mistake.credit for mistake in equal), default=0.0)


def same(answer: Answer | None, recorded: Answer, rule: Rule) -> bool:
    """Whether an answer, right or wrong, is the known one."""
    if answer is None or answer.problem != recorded.problem:
        return False
    if recorded.problem == Problem.EXCEPTION:  # the same kind of error: its last line begins with the type
        return _error_type(answer) == _error_type(recorded)
    if recorded.problem:
        return recorded.problem in (Problem.NONE, Problem.CHANGED)
    if rule.kind == "exposes":
        return _same_test(answer, recorded, rule)
    return _with_nan_equal(answer, recorded, rule)


def _compare_arrays(
    got: np.ndarray, want: np.ndarray, rule: Rule, part: str, notes: Sequence[str] = ()
) -> Fault | None:
    if got.shape != want.shape:
        return Fault("shape", shape_sentence(got.shape, want.shape, rule.axes.get(part, "")))
    if got.dtype == want.dtype and np.array_equal(got, want):
        return None  # equal to the last bit, and no NaN: most right answers
    values = got.astype(np.float64)
    target = want.astype(np.float64)
    exact = want.dtype.kind != "f" or rule.kind == "equal"
    nan = np.isnan(values) & (exact | ~np.isnan(target))
    if nan.any():
        return Fault("nan", f"{_these_are(nan)} NaN (0/0, ∞ − ∞, 0 · ∞ or log of a negative number).", nan)
    if exact:
        different = values != target
    else:
        infinite = np.isinf(values) & ~np.isinf(target)
        if infinite.any():
            reason = f"{_these_are(infinite)} infinite, although finite numbers are expected."
            return Fault("infinite", reason, infinite)
        different = ~_close(values, target, tolerance_for(got, rule, notes))
    if not different.any():
        return None
    if want.size == 1 and want.dtype.kind == "b" and values.item() in (0, 1):
        return Fault(
            "numbers", f"Your answer is {bool(values.item())}; {want.item()} is expected.", different
        )
    return Fault(
        "numbers", _difference(values, target, different, "entries" if exact else "numbers"), different
    )


KINDS = {
    "i": ("whole numbers (Int)", "An index or a label must be an integer", {"numpy": ".astype(int)", "torch": ".long()"}),
    "b": ("True and False (Bool)", "`~` and indexing behave differently with numbers", {"numpy": ".astype(bool)", "torch": ".bool()"}),
}  # fmt: skip
"""What the kind of a dtype is called, why it matters, and how an array is converted to it."""


def _compare_kinds(got: np.ndarray, want: np.ndarray, rule: Rule) -> Fault | None:
    """Whether the numbers, which are right, are of the kind that the annotation promises. Their size is free."""
    kind = want.dtype.kind
    if kind not in rule.kinds or got.dtype.kind.replace("u", "i") == kind:
        return None
    what, why, convert = KINDS[kind]
    reason = (
        f"The values are right, but their dtype is {got.dtype}, where the annotation promises {what}. "
        f"{why}: convert them with `{convert[rule.arrays]}`."
    )
    return Fault("dtype", reason)


GRADIENTS = "gradients"
"""The name of the part in a finding whose values are right and whose gradients are wrong."""


def _compare_gradients(answer: Answer, want: Answer, rule: Rule) -> Finding | None:
    """The fault in the gradients of an answer whose values are right, if the check asks for gradients; otherwise None."""
    if not want.gradients:
        return None
    tolerance = max(tolerance_for(array, rule, answer.notes) for array in answer.arrays.values())
    none, other = what_is_cut(answer.gradients, want.gradients, max(TOLERANCE, 10 * tolerance))
    if not none and not other:
        return None
    if answer.message:
        reason = f"The values are right, but no gradient can be computed, and the notebook needs one: {answer.message}."
    elif none:
        reason = (
            f"The values are right, but no gradient reaches {listed_names(none)}. {NEEDED}; {CUTS} them off."
        )
    else:
        reason = (
            f"The values are right, but the gradient that reaches {listed_names(other)} is wrong. {NEEDED}; "
            f"{CUTS} a part of them off."
        )
    return Finding(Status.FAILED, reason, {GRADIENTS: Fault("gradient", reason)})


BFLOAT16_EPS = 2**-7


def tolerance_for(got: np.ndarray, rule: Rule, notes: Sequence[str] = ()) -> float:
    """The rule's, relative to the scale of the expected answer; wider for a part that was computed in half precision.

    float16 keeps three digits and has four units of its precision. bfloat16 has float32's range and keeps two: one unit,
    twice what a number loses when it is rounded to it.
    """
    if got.dtype == np.float16:
        return max(rule.tolerance, 4 * float(np.finfo(np.float16).eps))
    return max(rule.tolerance, BFLOAT16_EPS) if _is_bfloat16(got, notes) else rule.tolerance


def _is_bfloat16(got: np.ndarray, notes: Sequence[str]) -> bool:
    """Whether this part came in bfloat16: `notes` say that some part did, and this one has no digits beyond those of bfloat16.

    It comes as float32, whose last 16 bits are then 0.
    """
    if BFLOAT16 not in notes or got.dtype != np.float32:
        return False
    return not np.any(np.ascontiguousarray(got).view(np.uint32) & 0xFFFF)


def _close(values: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """Infinities must stand in the same places; finite numbers must be close."""
    finite = np.isfinite(target)
    scale = float(np.abs(target[finite]).max()) if finite.any() else 1.0
    distance = np.abs(np.subtract(values, target, where=finite, out=np.zeros_like(target)))
    return np.where(finite, distance <= tolerance * max(scale, 1e-30), values == target)


def _difference(values: np.ndarray, target: np.ndarray, different: np.ndarray, what: str) -> str:
    if values.size > 1:
        return f"{_share(different, what)} differ from the expected ones."
    return f"Your number is {number(values.item())}; {number(target.item())} is expected."


def _compare_test(answer: Answer, want: Answer, rule: Rule, unseen: Sequence[Planted]) -> Finding | None:
    """Whether the answer, taken as inputs, exposes enough of the planted faults and rejects nothing right."""
    for part in in_order(want.arrays, rule):
        got, array = answer.arrays[part], want.arrays[part]
        if got.shape != array.shape:
            sentence = shape_sentence(got.shape, array.shape, rule.axes.get(part, ""))
            return Finding(Status.FAILED, label(part) + sentence, {part: Fault("shape", sentence)})
    task = planted.task(rule.faults)
    if problem := planted.problem_with(answer.arrays, task):
        return Finding(Status.FAILED, problem)
    practice = planted.expose(answer.arrays, task, task.practice)
    if practice.net < practice.faults:  # what the student could see; the grade asks for it, too
        return Finding(Status.FAILED, _exposure_sentences(practice, practice.faults))
    exposure = planted.expose(answer.arrays, task, (*task.practice, *unseen))
    needed = ceil(exposure.faults * (SHARE_TO_EXPOSE if unseen else 1))
    return None if exposure.net >= needed else Finding(Status.FAILED, _exposure_sentences(exposure, needed))


def _exposure_sentences(exposure: Exposure, needed: int) -> str:
    alarms = len(exposure.false_alarms)
    sentences = [f"Your inputs expose {len(exposure.exposed)} of {exposure.faults} planted faults"]
    if alarms:
        sentences[0] += f"; minus {alarms} false alarm{'s' if alarms > 1 else ''}, that makes {exposure.net}"
    sentences[0] += f". You need {needed}."
    if exposure.escaped:
        about = dict.fromkeys(implementation.about for implementation in exposure.escaped)
        sentences.append(f"The faults that your inputs miss have to do with: {'; '.join(about)}.")
    if alarms:
        names = "; ".join(
            implementation.name.removeprefix("right: ") for implementation in exposure.false_alarms
        )
        sentences.append(
            f"Your inputs reject an implementation that is right up to rounding: {names}. What do your inputs require "
            "of it that no docstring promises?"
        )
    return "\n".join(sentences)


def _problem(answer: Answer, rule: Rule) -> Finding:
    if answer.problem == Problem.UNANSWERED:
        whose = f"`{answer.message}` is still the stub; w" if answer.message.isidentifier() else "w"
        return Finding(
            Status.MISSING,
            f"Not answered yet: {whose}rite your code in its cell, run it, then run this check again.",
        )
    if answer.problem == Problem.EXCEPTION:
        return Finding(Status.ERROR, f"Your code stopped with an error.\n{answer.message}")
    if answer.problem == Problem.NONE:
        return Finding(
            Status.FAILED,
            "Your function returned None. Does it end with a `return`, indented like the lines above it?",
        )
    if answer.problem == Problem.CHANGED:
        return Finding(
            Status.FAILED,
            f"Your function changed its input ({answer.message}). The caller still needs the old values: "
            "return a new object instead of writing into the one that was given.",
        )
    wanted = with_article(ADAPTERS[rule.arrays].word)
    return Finding(Status.FAILED, f"Your function returned {answer.message}; {wanted} is expected.")


def _wrong_parts(answer: Answer, want: Answer, rule: Rule) -> str:
    if all(name and not name.isdecimal() for name in (*answer.arrays, *want.arrays)):
        return _wrong_names(answer, want, rule)
    form, word = "list" if _is_list(answer) else "", ADAPTERS[rule.arrays].word

    def describe(arrays: Mapping[str, np.ndarray], form: str = "") -> str:
        if list(arrays) == [""]:
            return f"one {form or word}"
        if all(name.isdecimal() for name in arrays):
            return f"a list of {len(arrays)} items of unequal shapes" if form else f"{len(arrays)} {word}s"
        return f"{word}s named {', '.join(sorted(arrays)[:20])}"

    are = "is" if len(want.arrays) == 1 else "are"
    sentence = (
        f"Your function returned {describe(answer.arrays, form)}; {describe(want.arrays)} {are} expected."
    )
    if list(want.arrays) == [""]:
        same = [
            part for part, got in answer.arrays.items() if not _compare_arrays(got, want.arrays[""], rule, "")
        ]
        if len(same) == 1:
            sentence += f" The expected array is {label(same[0]).removesuffix(': ').lower()} of what your function returned."
    elif list(answer.arrays) == [""]:
        same = [
            part
            for part in in_order(want.arrays, rule)
            if not _compare_arrays(answer.arrays[""], want.arrays[part], rule, "")
        ]
        if len(same) == 1:
            sentence += f" What your function returned is {label(same[0]).removesuffix(': ').lower()} of the expected answer."
    return sentence


def _wrong_names(answer: Answer, want: Answer, rule: Rule) -> str:
    """Which names of an answer in several parts are missing, and which are too many."""
    missing = [name for name in in_order(want.arrays, rule) if name not in answer.arrays]
    more = sorted(set(answer.arrays) - set(want.arrays))
    sentences = []
    if missing:
        sentences.append(f"Your function did not return {listed_names(missing)}.")
    if more:
        besides = "Instead, it" if missing else "Your function"
        sentences.append(
            f"{besides} returned {listed_names(more)}, {'which is' if len(more) == 1 else 'which are'} not expected."
        )
    return " ".join(sentences)


def listed_names(names: Sequence[str]) -> str:
    """The first names, which may be hostile, and how many there are besides."""
    shown = [f"`{name[:100]}`" for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED} more")
    return enumerated(shown)


def in_order(parts: Iterable[str], rule: Rule) -> list[str]:
    """Parts as the exercise has them: by number, or as the rule's axes name them; a file keeps no order."""
    named = {part: place for place, part in enumerate(rule.axes)}
    return sorted(
        parts,
        key=lambda part: (int(part), "") if part.isdecimal() else (named.get(part, len(named)), part),
    )


def in_parts(answer: Answer, want: Answer) -> Answer:
    """A list, read as what is expected: one array of its items, or a part for each of them."""
    if not _is_list(answer) or set(answer.arrays) == set(want.arrays):
        return answer
    parts = [str(position) for position in range(len(want.arrays))]
    stacked = answer.arrays.get("")
    if stacked is None or set(want.arrays) != set(parts) or stacked.ndim == 0 or len(stacked) != len(parts):
        return answer
    return replace(answer, arrays=dict(zip(parts, stacked, strict=True)))


def _is_list(answer: Answer) -> bool:
    return any(note in answer.notes for note in LISTS.values())


def _same_test(answer: Answer, recorded: Answer, rule: Rule) -> bool:
    """Whether two tests notice and miss the same of what is planted for practice."""
    task = planted.task(rule.faults)
    if {part: array.shape for part, array in answer.arrays.items()} != {
        part: array.shape for part, array in recorded.arrays.items()
    }:
        return False
    if any(planted.problem_with(test.arrays, task) for test in (answer, recorded)):
        return False
    seen = [planted.expose(test.arrays, task, task.practice).noticed for test in (answer, recorded)]
    return seen[0] == seen[1]


def _error_type(answer: Answer) -> str:
    return answer.message.strip().rpartition("\n")[2].partition(":")[0]


def _with_nan_equal(answer: Answer, recorded: Answer, rule: Rule) -> bool:
    """Like `compare`, but a NaN equals a NaN: a known mistake may produce them."""
    answer = in_parts(answer, recorded)
    if set(answer.arrays) != set(recorded.arrays):
        return False
    for part, want in recorded.arrays.items():
        got = answer.arrays[part]
        if got.shape != want.shape:
            return False
        values, target = got.astype(np.float64), want.astype(np.float64)
        if want.dtype.kind == "f":
            # Whatever the rule's kind, also for whole numbers: a wrong one's last bit depends on the processor.
            equal = _close(values, target, tolerance_for(got, rule, answer.notes)) | (
                np.isnan(values) & np.isnan(target)
            )
        else:
            equal = values == target
        if not equal.all():
            return False
    if not answer.gradients or not recorded.gradients:
        return True
    stopped = bool(answer.message), bool(recorded.message)  # by an error, which the hint does not know
    return stopped[0] == stopped[1] and same_gradients(answer.gradients, recorded.gradients)


def _these_are(mask: np.ndarray) -> str:
    return "Your number is" if mask.size == 1 else f"{_share(mask, 'numbers')} are"


def _share(mask: np.ndarray, what: str) -> str:
    return f"{int(mask.sum())} of your {mask.size} {what}"


def label(part: str) -> str:
    """What a sentence about a part begins with: "Part 2: " for "1", "weights: " by name, "" for a single array."""
    if not part:
        return ""
    if part.isdecimal() and len(part) < 10:  # a name may be hostile
        return f"Part {int(part) + 1}: "
    return f"{part[:100]}: "
