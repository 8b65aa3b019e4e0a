"""Say in words what is wrong with a student's answers: by name, if it is a known mistake. Arrays in, a verdict out.

What `comparing` finds decides whether they are right; here nothing is decided but the words.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.checks.arrays import BFLOAT16, FORMS
from autograder.checks.asking import Answer, Case
from autograder.checks.comparing import (
    GRADIENTS,
    Finding,
    KnownMistake,
    Rule,
    compare,
    earned_credit,
    in_order,
    in_parts,
    label,
    listed_names,
    recognised,
    same,
    tolerance_for,
)
from autograder.checks.explaining import explain
from autograder.checks.explaining.nearness import Pair
from autograder.checks.explaining.shapes import size_in_errors, size_written_as_number
from autograder.checks.explaining.situations import what_sets_apart
from autograder.checks.explaining.words import as_sentence, number
from autograder.checks.planted import Planted
from autograder.checks.status import Problem, Status


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
        """Whether every answer was right; a mistake that earns part of the points does not pass."""
        return self.status == Status.PASSED


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
    answers = [answer and in_parts(answer, want) for answer, want in zip(answers, expected, strict=True)]
    findings = [compare(answer, want, rule, unseen) for answer, want in zip(answers, expected, strict=True)]
    notes = notes_on(answers, expected, rule)
    wrong = {number: finding for number, finding in enumerate(findings) if finding}
    if not wrong:
        return Verdict(Status.PASSED, notes=notes)
    wrong = {at: one for at, one in wrong.items() if one.part != GRADIENTS} or wrong  # values come first
    number, finding = next(iter(wrong.items()))
    if equal := recognised(answers, rule, mistakes):
        mistake = equal[0]
        credit = earned_credit(equal)
        reason = f"{as_sentence(mistake.name)}."
        if credit:
            reason += f" This earns {credit:.0%} of the points."
        return Verdict(Status.FAILED, reason, mistake.name, mistake.hint, number, finding.part, notes, credit)
    if finding.status not in (Status.FAILED, Status.ERROR) or finding.part == GRADIENTS:
        return Verdict(finding.status, finding.reason, case=number, part=finding.part, notes=notes)
    size = _size_as_number(wrong, answers, expected, rule, cases)
    lines = [size]
    if len(wrong) < len(findings):
        apart = what_sets_apart(cases, list(wrong)) if cases and not size else ""
        lines = [
            f"Your answer is right on {len(findings) - len(wrong)} of {len(findings)} inputs.",
            apart,
            size,
        ]
        partly = finding.status == Status.FAILED and _mistake_where_wrong(
            wrong, answers, expected, rule, mistakes
        )
        if partly:
            lines.append(
                f"On the inputs where your answer is wrong, your numbers are those of a known mistake: {partly.name}."
            )
            reason = " ".join(filter(None, lines))
            return Verdict(Status.FAILED, reason, partly.name, partly.hint, number, finding.part, notes)
    finite = {at: one for at, one in wrong.items() if not _not_finite(one)}
    if finite and len(finite) < len(wrong) and not size:
        partly = _mistake_where_wrong(finite, answers, expected, rule, mistakes)
        if partly:
            lines.append(
                f"On {len(wrong) - len(finite)} of {len(findings)} inputs some of your numbers are NaN or infinite. On the other inputs where your "
                f"answer is wrong, your numbers are those of a known mistake: {partly.name}."
            )
            reason, at = " ".join(filter(None, lines)), next(iter(finite))
            return Verdict(Status.FAILED, reason, partly.name, partly.hint, at, finite[at].part, notes)
    reason = _explained(wrong, answers, expected, rule, cases) if finding.faults else finding.reason
    if finding.part or finding.status == Status.ERROR:  # several lines, each with its own label
        reason = f"\n{reason}" if any(lines) else reason
    reason = " ".join(filter(None, [*lines, reason])).replace(" \n", "\n")
    return Verdict(finding.status, reason, case=number, part=finding.part, notes=notes)


def _not_finite(finding: Finding) -> bool:
    return any(fault.kind in ("nan", "infinite") for fault in finding.faults.values())


def _explained(
    wrong: Mapping[int, Finding],
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    cases: Sequence[Case],
) -> str:
    """What is wrong with each part of the first wrong answer, and what all wrong answers show about the cause."""
    lines = []
    first = next(iter(wrong.values()))
    for part, fault in first.faults.items():
        parts = [
            Pair(
                got=answer.arrays[part],
                want=expected[at].arrays[part],
                wrong=alike.wrong,
                case=cases[at] if cases else {},
                others={name: array for name, array in expected[at].arrays.items() if name != part},
            )
            for at, finding in wrong.items()
            if (answer := answers[at]) and (alike := finding.faults.get(part)) and alike.kind == fault.kind
        ]
        if part in rule.legend and fault.kind == "numbers":
            lines.append(_by_legend(parts[0], rule.legend[part]))
            continue
        given = answers[next(iter(wrong))]
        tolerance = tolerance_for(parts[0].got, rule, given.notes if given else ())
        more = explain(fault.kind, parts, tolerance, rule.axes.get(part, ""), label)
        if more and len(wrong) < len(expected):  # `explain` has seen the wrong ones only
            more = f"On the inputs where your answer is wrong: {more[0].lower()}{more[1:]}"
        lines.append(" ".join(filter(None, [label(part) + fault.reason, more])))
    return "\n".join(lines)


def _by_legend(part: Pair, legend: Mapping[str, str]) -> str:
    """The sentences of a legend for the codes that are wrong: one for each code, then one for the last entry."""
    prefix = legend["inputs"]
    inputs = [name.removeprefix(prefix) for name in sorted(part.case) if name.startswith(prefix)]
    *codes, last = (number(code) for code in part.got.tolist())
    *wrong, last_is_wrong = part.wrong.tolist()
    named: dict[str, list[str]] = {}
    for name, code, is_wrong in zip(inputs, codes, wrong, strict=False):
        if is_wrong:
            named.setdefault(code, []).append(name)
    sentences = [
        legend.get(code, "The check could not read {names}.").format(names=listed_names(names))
        for code, names in named.items()
    ]
    if last_is_wrong:
        sentences.append(legend.get(f"last {last}", legend["last"]).format(number=last))
    return " ".join(sentences)


def _size_as_number(
    wrong: Collection[int],
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    cases: Sequence[Case],
) -> str:
    """The sentence for code that is written for one size, if a wrong shape or an error shows it; or ""."""
    given = {at: answer for at in wrong if (answer := answers[at])}
    if len(given) < len(wrong):
        return ""
    right = [at for at in range(len(expected)) if at not in wrong]
    if cases and right and all(answer.problem == Problem.EXCEPTION for answer in given.values()):
        messages = [answer.message.rpartition("\n")[2] for answer in given.values()]
        return size_in_errors(messages, [cases[at] for at in wrong], [cases[at] for at in right])
    if not all(set(answer.arrays) == set(expected[at].arrays) for at, answer in given.items()):
        return ""
    # Weights by name: a layer more, a name more.
    everywhere = set.intersection(*(set(answer.arrays) for answer in expected))
    for part in in_order(everywhere, rule):
        shapes = [
            (answer.arrays[part].shape, expected[at].arrays[part].shape) for at, answer in given.items()
        ]
        right_shapes = [expected[at].arrays[part].shape for at in right]
        sentence = size_written_as_number(shapes, right_shapes, rule.axes.get(part, ""))
        if sentence:
            return label(part) + sentence
    return ""


def notes_on(answers: Sequence[Answer | None], expected: Sequence[Answer], rule: Rule) -> tuple[str, ...]:
    """What a right answer's form may cost in the next cell. A form that the expected answer has, too, costs nothing."""
    notes: dict[str, None] = {}
    for answer, want in zip(answers, expected, strict=True):
        if answer:
            answer = in_parts(answer, want)
            notes |= dict.fromkeys(note for note in answer.notes if note not in (*want.notes, *FORMS))
            notes |= dict.fromkeys(note for note in FORMS if note in answer.notes and note not in want.notes)
            notes |= dict.fromkeys(_types(answer, want, rule))
    return tuple(notes)


def _types(answer: Answer, want: Answer, rule: Rule) -> Iterator[str]:
    """Notes on types that later cells cannot use as they use the expected ones."""
    in_python = bool(set(FORMS) & set(answer.notes))
    for part in in_order(want.arrays, rule):
        got, expected = answer.arrays.get(part), want.arrays[part]
        if got is None or got.dtype == expected.dtype or got.shape != expected.shape:
            continue
        if expected.dtype.kind != "b" and in_python:
            continue  # a Python number has no other type
        if expected.dtype.kind in rule.kinds and got.dtype.kind != expected.dtype.kind and not in_python:
            continue  # it was not accepted
        kinds = got.dtype.kind + expected.dtype.kind
        if expected.dtype.kind == "b":
            yield f"{label(part)}numbers ({got.dtype}) were accepted in place of True and False; `~`, `&` and masked_fill need `.bool()`"
        elif kinds[0] == "f" and kinds[1] in "iu":
            yield f"{label(part)}numbers of type {got.dtype} were accepted in place of integers; an index needs `.long()`"
        elif kinds[0] in "biu" and kinds[1] == "f":
            yield f"{label(part)}numbers of type {got.dtype} were accepted in place of {expected.dtype}; a product with floating-point numbers needs `.float()`"
        elif got.dtype == np.float64 and expected.dtype == np.float32 and not answer.notes:
            yield f"{label(part)}float64 was accepted in place of float32; a matrix product of the two stops with an error"
        elif got.dtype == np.float16 and BFLOAT16 not in answer.notes:
            yield f"{label(part)}computed in float16, which keeps three digits"


SHOWN_BY = 3
"""Numbers that must differ from the expected as a known mistake's do before it is named for some inputs alone."""


def _mistake_where_wrong(
    wrong: Collection[int],
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
    shown = 0.0
    for at in wrong:
        finding = compare(candidates[0].answers[at], expected[at], rule)
        for part, fault in (finding.faults if finding else {}).items():
            weight = 1 if expected[at].arrays[part].dtype.kind == "f" else 0.5
            shown += weight * int(fault.wrong.sum())
    return candidates[0] if shown >= SHOWN_BY else None
