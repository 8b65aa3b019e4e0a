"""Judge answers against expected ones, and say in words what is wrong. Arrays in, a verdict out.

The same code serves the student's `check` and the autograder, which calls it outside the jail.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np

from autograder.checks import planted
from autograder.checks.arrays import ADAPTERS, BFLOAT16, FORMS, LISTS, with_article
from autograder.checks.asking import Answer, Case
from autograder.checks.explaining import Wrong, explain
from autograder.checks.explaining.shapes import shape_sentence, size_in_errors, size_written_as_number
from autograder.checks.explaining.situations import what_sets_apart
from autograder.checks.explaining.words import number
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
    arrays      what answers are made of: a name of `arrays.ADAPTERS`. The course says so for all its exercises.
    """

    kind: str = "close"
    tolerance: float = 1e-4
    axes: Mapping[str, str] = field(default_factory=dict)
    faults: str = ""
    arrays: str = "numpy"


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
class Verdict:
    """What a check found. `case` and `part` point at the arrays to show; reason is one or two sentences.

    `credit` is the share of the points that a wrong answer earns as a known mistake, for its answers to all cases.
    """

    status: Status  # PASSED, FAILED, ERROR or MISSING
    reason: str = ""
    mistake: str = ""
    hint: str = ""
    case: int = -1
    part: str = ""
    notes: tuple[str, ...] = ()
    credit: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status == Status.PASSED


@dataclass(frozen=True)
class Fault:
    """What is wrong with one part of an answer: kind "shape", "nan", "infinite" or "numbers"."""

    kind: str
    reason: str
    wrong: np.ndarray  # which numbers; empty for a shape


@dataclass(frozen=True)
class Finding:
    """What is wrong with one answer; `faults` are those of its parts, in their order, if it has all parts."""

    status: Status
    reason: str
    faults: Mapping[str, Fault] = field(default_factory=dict)

    @property
    def part(self) -> str:
        return next(iter(self.faults), "")


def judge(
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    mistakes: Sequence[KnownMistake] = (),
    unseen: Sequence[Planted] = (),
    cases: Sequence[Case] = (),
) -> Verdict:
    """Compare one answer per case with the expected one and say what is wrong, by name if it is a known mistake.

    An answer that is None was never given (the call did not come back). `unseen` are implementations, beyond
    those for practice, on which an answer to a rule "exposes" is tried. With the `cases` themselves, more can be said
    about answers that are wrong on some of them, or by an amount that belongs to them.
    """
    answers = [_in_parts(answer, want) for answer, want in zip(answers, expected, strict=True)]
    findings = [compare(answer, want, rule, unseen) for answer, want in zip(answers, expected, strict=True)]
    notes = _notes(answers, expected)
    wrong = [number for number, finding in enumerate(findings) if finding]
    if not wrong:
        return Verdict(Status.PASSED, notes=notes)
    number = wrong[0]
    finding = findings[number]
    if equal := recognised(answers, rule, mistakes):
        mistake = equal[0]
        credit = earned_credit(equal)
        reason = f"{mistake.name[:1].upper()}{mistake.name[1:]}."
        if credit:
            reason += f" This earns {credit:.0%} of the points."
        return Verdict(Status.FAILED, reason, mistake.name, mistake.hint, number, finding.part, notes, credit)
    if finding.status not in (Status.FAILED, Status.ERROR):
        return Verdict(finding.status, finding.reason, case=number, notes=notes)
    size = _size_as_number(wrong, answers, expected, rule, cases)
    lines = [size]
    if len(wrong) < len(findings):
        apart = what_sets_apart(cases, wrong) if cases and not size else ""
        lines = [f"Right on {len(findings) - len(wrong)} of {len(findings)} inputs.", apart, size]
        partly = finding.status == Status.FAILED and _mistake_where_wrong(
            wrong, answers, expected, rule, mistakes
        )
        if partly:
            lines.append(
                f"On the inputs that came out wrong your numbers are those of a known mistake: {partly.name}."
            )
            reason = " ".join(filter(None, lines))
            return Verdict(Status.FAILED, reason, partly.name, partly.hint, number, finding.part, notes)
    reason = _explained(wrong, findings, answers, expected, rule, cases) if finding.faults else finding.reason
    if finding.part or finding.status == Status.ERROR:  # several lines, each with its own label
        reason = f"\n{reason}" if any(lines) else reason
    reason = " ".join(filter(None, [*lines, reason])).replace(" \n", "\n")
    return Verdict(finding.status, reason, case=number, part=finding.part, notes=notes)


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
        return Finding(Status.MISSING, "No answer came back.")
    if answer.problem:
        return _problem(answer, rule)
    answer = _in_parts(answer, want)
    if set(answer.arrays) != set(want.arrays):
        return Finding(Status.FAILED, _wrong_parts(answer, want, rule))
    if rule.kind == "exposes":
        return _compare_test(answer, want, rule, unseen)
    faults = {}
    for part in _ordered(want.arrays, rule):
        fault = _compare_arrays(answer.arrays[part], want.arrays[part], rule, part)
        if fault:
            faults[part] = fault
    reason = "\n".join(_label(part) + fault.reason for part, fault in faults.items())
    return Finding(Status.FAILED, reason, faults) if faults else None


def _ordered(parts: Iterable[str], rule: Rule) -> list[str]:
    """Parts as the exercise has them: by number, or as the rule's axes name them; a file keeps no order."""
    named = {part: place for place, part in enumerate(rule.axes)}
    return sorted(
        parts,
        key=lambda part: (int(part), "") if part.isdecimal() else (named.get(part, len(named)), part),
    )


def _in_parts(answer: Answer | None, want: Answer) -> Answer | None:
    """A list, read as what is expected: one array of its items, or a part for each of them."""
    if answer is None or not _is_list(answer) or set(answer.arrays) == set(want.arrays):
        return answer
    parts = [str(position) for position in range(len(want.arrays))]
    stacked = answer.arrays.get("")
    if stacked is None or set(want.arrays) != set(parts) or stacked.ndim == 0 or len(stacked) != len(parts):
        return answer
    return replace(answer, arrays=dict(zip(parts, stacked, strict=True)))


def _is_list(answer: Answer) -> bool:
    return any(note in answer.notes for note in LISTS.values())


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
        return Finding(Status.FAILED, "Your function returned None. Does it end with a `return`?")
    if answer.problem == Problem.CHANGED:
        return Finding(
            Status.FAILED,
            f"Your function changed its input ({answer.message}). Whoever called it still needs the old values: "
            "make a new one instead of writing into the given one.",
        )
    wanted = with_article(ADAPTERS[rule.arrays].word)
    return Finding(Status.FAILED, f"Your function returned {answer.message}; {wanted} is expected.")


def _wrong_parts(answer: Answer, want: Answer, rule: Rule) -> str:
    form, word = "list" if _is_list(answer) else "", ADAPTERS[rule.arrays].word

    def describe(arrays: Mapping[str, np.ndarray], form: str = "") -> str:
        if list(arrays) == [""]:
            return f"one {form or word}"
        if all(name.isdecimal() for name in arrays):
            return f"a list of {len(arrays)} items of unequal shapes" if form else f"{len(arrays)} {word}s"
        return f"{word}s named {', '.join(sorted(arrays)[:20])}"

    sentence = (
        f"Your function returned {describe(answer.arrays, form)}; expected are {describe(want.arrays)}."
    )
    if list(want.arrays) == [""]:
        same = [
            part for part, got in answer.arrays.items() if not _compare_arrays(got, want.arrays[""], rule, "")
        ]
        if len(same) == 1:
            sentence += f" The expected one is {_label(same[0]).removesuffix(': ').lower()} of yours."
    elif list(answer.arrays) == [""]:
        same = [
            part
            for part in _ordered(want.arrays, rule)
            if not _compare_arrays(answer.arrays[""], want.arrays[part], rule, "")
        ]
        if len(same) == 1:
            sentence += f" Yours is {_label(same[0]).removesuffix(': ').lower()} of them."
    return sentence


def _compare_arrays(got: np.ndarray, want: np.ndarray, rule: Rule, part: str) -> Fault | None:
    if got.shape != want.shape:
        return Fault(
            "shape", shape_sentence(got.shape, want.shape, rule.axes.get(part, "")), np.zeros(0, bool)
        )
    if got.dtype == want.dtype and np.array_equal(
        got, want
    ):  # to the last bit, and no NaN: most right answers
        return None
    values = got.astype(np.float64)
    target = want.astype(np.float64)
    exact = want.dtype.kind != "f" or rule.kind == "equal"
    nan = np.isnan(values) & (exact | ~np.isnan(target))
    if nan.any():
        share = "Your number is" if nan.size == 1 else f"{_share(nan)} of your numbers are"
        return Fault("nan", f"{share} NaN (0/0, ∞ − ∞, 0 · ∞ or log of a negative number).", nan)
    if exact:
        different = values != target
    else:
        infinite = np.isinf(values) & ~np.isinf(target)
        if infinite.any():
            share = "Your number is" if infinite.size == 1 else f"{_share(infinite)} of your numbers are"
            return Fault("infinite", f"{share} infinite, where finite ones are expected.", infinite)
        different = ~_close(values, target, _tolerance(got, rule))
    if not different.any():
        return None
    return Fault(
        "numbers", _difference(values, target, different, "entries" if exact else "numbers"), different
    )


def _tolerance(got: np.ndarray, rule: Rule) -> float:
    if got.dtype == np.float16:  # keeps three digits
        return max(rule.tolerance, 4 * float(np.finfo(np.float16).eps))
    return rule.tolerance


def _close(values: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """Infinities must stand in the same places; finite numbers must be close."""
    finite = np.isfinite(target)
    scale = float(np.abs(target[finite]).max()) if finite.any() else 1.0
    distance = np.abs(np.subtract(values, target, where=finite, out=np.zeros_like(target)))
    return np.where(finite, distance <= tolerance * max(scale, 1e-30), values == target)


def _difference(values: np.ndarray, target: np.ndarray, different: np.ndarray, what: str) -> str:
    if values.size > 1:
        return f"{_share(different)} of your {what} differ from the expected ones."
    return f"Your number is {number(values.item())}, expected is {number(target.item())}."


def _compare_test(answer: Answer, want: Answer, rule: Rule, unseen: Sequence[Planted]) -> Finding | None:
    """Whether the answer, taken as inputs, exposes enough of the planted faults and rejects nothing right."""
    for part in _ordered(want.arrays, rule):
        got, array = answer.arrays[part], want.arrays[part]
        if got.shape != array.shape:
            sentence = shape_sentence(got.shape, array.shape, rule.axes.get(part, ""))
            fault = Fault("shape", sentence, np.zeros(0, bool))
            return Finding(Status.FAILED, _label(part) + sentence, {part: fault})
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
        sentences[0] += f", less {alarms} false alarm{'s' if alarms > 1 else ''}: {exposure.net}"
    sentences[0] += f". Needed are {needed}."
    if exposure.escaped:
        about = dict.fromkeys(implementation.about for implementation in exposure.escaped)
        sentences.append(f"What escapes has to do with: {'; '.join(about)}.")
    if alarms:
        names = "; ".join(
            implementation.name.removeprefix("right: ") for implementation in exposure.false_alarms
        )
        sentences.append(
            f"A false alarm rejects an implementation that is right within rounding: {names}. What do your inputs ask "
            "of it that no docstring promises?"
        )
    return "\n".join(sentences)


def _explained(
    wrong: Sequence[int],
    findings: Sequence[Finding | None],
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    cases: Sequence[Case],
) -> str:
    """What is wrong with each part of the first wrong answer, and what all wrong answers show about the cause."""
    lines = []
    for part, fault in findings[wrong[0]].faults.items():
        parts = [
            Wrong(
                got=answers[at].arrays[part],
                want=expected[at].arrays[part],
                wrong=findings[at].faults[part].wrong,
                case=cases[at] if cases else {},
                others={name: array for name, array in expected[at].arrays.items() if name != part},
            )
            for at in wrong
            if part in findings[at].faults and findings[at].faults[part].kind == fault.kind
        ]
        more = explain(fault.kind, parts, _tolerance(parts[0].got, rule), rule.axes.get(part, ""), _label)
        if more and len(wrong) < len(findings):  # `explain` has seen the wrong ones only
            more = f"On the inputs that came out wrong: {more[0].lower()}{more[1:]}"
        lines.append(" ".join(filter(None, [_label(part) + fault.reason, more])))
    return "\n".join(lines)


def _size_as_number(
    wrong: Sequence[int],
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    cases: Sequence[Case],
) -> str:
    """The sentence for code that is written for one size, if a wrong shape or an error shows it; or ""."""
    right = [at for at in range(len(expected)) if at not in wrong]
    if cases and right and all(answers[at] and answers[at].problem == Problem.EXCEPTION for at in wrong):
        messages = [answers[at].message.rpartition("\n")[2] for at in wrong]
        return size_in_errors(messages, [cases[at] for at in wrong], [cases[at] for at in right])
    if not all(answers[at] and set(answers[at].arrays) == set(expected[at].arrays) for at in wrong):
        return ""
    everywhere = set.intersection(
        *(set(answer.arrays) for answer in expected)
    )  # weights by name: a layer more, a name more
    for part in _ordered(everywhere, rule):
        shapes = [(answers[at].arrays[part].shape, expected[at].arrays[part].shape) for at in wrong]
        right_shapes = [expected[at].arrays[part].shape for at in right]
        sentence = size_written_as_number(shapes, right_shapes, rule.axes.get(part, ""))
        if sentence:
            return _label(part) + sentence
    return ""


def _notes(answers: Sequence[Answer | None], expected: Sequence[Answer]) -> tuple[str, ...]:
    """What a right answer's form may cost in the next cell. A form that the expected answer has, too, costs nothing."""
    notes: dict[str, None] = {}
    for answer, want in zip(answers, expected, strict=True):
        if answer:
            notes |= dict.fromkeys(note for note in answer.notes if note not in (*want.notes, *FORMS))
            notes |= dict.fromkeys(note for note in FORMS if note in answer.notes and note not in want.notes)
            notes |= dict.fromkeys(_types(answer, want))
    return tuple(notes)


def _types(answer: Answer, want: Answer) -> Iterator[str]:
    """Notes on types that later cells cannot use as they use the expected ones."""
    for part in want.arrays:
        got, expected = answer.arrays.get(part), want.arrays[part]
        if got is None or got.dtype == expected.dtype or got.shape != expected.shape:
            continue
        if expected.dtype.kind != "b" and set(FORMS) & set(answer.notes):
            continue  # a Python number has no other type
        kinds = got.dtype.kind + expected.dtype.kind
        if expected.dtype.kind == "b":
            yield f"{_label(part)}numbers ({got.dtype}) were accepted in place of True and False; `~`, `&` and masked_fill want `.bool()`"
        elif kinds[0] == "f" and kinds[1] in "iu":
            yield f"{_label(part)}numbers of type {got.dtype} were accepted in place of whole ones; an index wants `.long()`"
        elif kinds[0] in "biu" and kinds[1] == "f":
            yield f"{_label(part)}numbers of type {got.dtype} were accepted in place of {expected.dtype}; a product with others wants `.float()`"
        elif got.dtype == np.float64 and expected.dtype == np.float32 and not answer.notes:
            yield f"{_label(part)}float64 was accepted in place of float32; a matrix product of the two stops with an error"
        elif got.dtype == np.float16 and BFLOAT16 not in answer.notes:
            yield f"{_label(part)}computed in float16, which keeps three digits"


def _share(mask: np.ndarray) -> str:
    return f"{int(mask.sum())} of {mask.size}"


def _label(part: str) -> str:
    if not part:
        return ""
    if part.isdecimal() and len(part) < 10:  # a name may be hostile
        return f"Part {int(part) + 1}: "
    return f"{part[:100]}: "


def earned_credit(equal: Sequence[KnownMistake]) -> float:
    """The share of the points for answers that are those of these mistakes: the least, where they are not told apart."""
    return min((mistake.credit for mistake in equal), default=0.0)


def recognised(
    answers: Sequence[Answer | None], rule: Rule, mistakes: Sequence[KnownMistake]
) -> list[KnownMistake]:
    """The mistakes whose answers these equal on every case."""
    return [
        mistake
        for mistake in mistakes
        if all(same(answer, wrong, rule) for answer, wrong in zip(answers, mistake.answers, strict=True))
    ]


SHOWN_BY = 3
"""Numbers that must differ from the expected as a known mistake's do before it is named for some inputs alone."""


def _mistake_where_wrong(
    wrong: Sequence[int],
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    mistakes: Sequence[KnownMistake],
) -> KnownMistake | None:
    """The one mistake whose answers the student's equal on every input that came out wrong, or None.

    There must be no other such mistake, and enough numbers that are wrong in the same way.
    """
    if rule.kind == "exposes":
        return None
    candidates = [
        mistake
        for mistake in mistakes
        if all(same(answers[at], mistake.answers[at], rule) for at in wrong)
        and all(not mistake.answers[at].problem for at in wrong)
    ]
    if len({mistake.name for mistake in candidates}) != 1:
        return None
    shown = 0
    for at in wrong:
        finding = compare(candidates[0].answers[at], expected[at], rule)
        for part, fault in (finding.faults if finding else {}).items():
            weight = 1 if expected[at].arrays[part].dtype.kind == "f" else 0.5
            shown += weight * int(fault.wrong.sum())
    return candidates[0] if shown >= SHOWN_BY else None


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
    answer = _in_parts(answer, recorded)
    if set(answer.arrays) != set(recorded.arrays):
        return False
    for part, want in recorded.arrays.items():
        got = answer.arrays[part]
        if got.shape != want.shape:
            return False
        if want.dtype.kind == "f" and got.dtype.kind == "f":
            if not np.array_equal(np.isnan(got), np.isnan(want)):
                return False
            got, want = (
                np.nan_to_num(got, nan=0.0, posinf=np.inf, neginf=-np.inf),
                np.nan_to_num(want, nan=0.0, posinf=np.inf, neginf=-np.inf),
            )
        # Also where the right answer is whole numbers: the last bit of a wrong one depends on the processor.
        if _compare_arrays(got, want, replace(rule, kind="close"), part):
            return False
    return True
