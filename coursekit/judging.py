"""Judge answers against expected ones, and say in words what is wrong. Arrays in, a verdict out.

The same code serves the student's `check` and the autograder, which calls it outside the jail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from coursekit import planted
from coursekit.asking import Answer
from coursekit.planted import Exposure, Planted


@dataclass(frozen=True)
class Rule:
    """How an answer is compared.

    kind        "close": |yours − expected| ≤ tolerance · max|expected|;  "equal": the same numbers;
                "exposes": the answer is itself a test, inputs on which implementations with planted faults must
                give something wrong and right ones must not. Expected counts for its shapes alone.
    tolerance   relative to the scale of the expected answer.
    axes        names of the axes of each part, for the sentence about a wrong shape:
                {"": "batch query key"}.
    faults      for "exposes": the module of coursekit.planted that holds the faults for practice.
    """

    kind: str = "close"
    tolerance: float = 1e-4
    axes: Mapping[str, str] = field(default_factory=dict)
    faults: str = ""


SHARE_TO_EXPOSE = 0.85
"""Of all planted faults, when there are some that nobody could practise on; of those for practice alone, all."""


@dataclass(frozen=True)
class KnownMistake:
    """A named wrong answer: what it gives on each case, and the hint for who gives the same."""

    name: str
    hint: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Verdict:
    """What a check found. `case` and `part` point at the arrays to show; reason is one or two sentences."""

    status: str  # "passed", "failed", "error", "missing"
    reason: str = ""
    mistake: str = ""
    hint: str = ""
    case: int = -1
    part: str = ""
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status == "passed"


@dataclass(frozen=True)
class Finding:
    """What is wrong with one answer."""

    status: str
    reason: str
    part: str = ""
    is_shape: bool = False


def judge(
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    mistakes: Sequence[KnownMistake] = (),
    unseen: Sequence[Planted] = (),
) -> Verdict:
    """Compare one answer per case with the expected one and name the mistake if it is a known one.

    An answer that is None was never given (the call did not come back). `unseen` are implementations, beyond
    those for practice, on which an answer to a rule "exposes" is tried.
    """
    findings = [compare(answer, want, rule, unseen) for answer, want in zip(answers, expected, strict=True)]
    notes = tuple(dict.fromkeys(note for answer in answers if answer for note in answer.notes))
    wrong = [number for number, finding in enumerate(findings) if finding]
    if not wrong:
        return Verdict("passed", notes=notes)
    number = wrong[0]
    finding = findings[number]
    known = _known_mistake(answers, expected, rule, mistakes)
    if known:
        return Verdict(
            "failed",
            f"{known.name[:1].upper()}{known.name[1:]}.",
            known.name,
            known.hint,
            number,
            finding.part,
            notes,
        )
    reason = finding.reason
    if len(wrong) < len(findings) and finding.status in ("failed", "error"):
        reason = f"{_only_some(wrong, answers, expected)} {reason}"
    return Verdict(finding.status, reason, case=number, part=finding.part, notes=notes)


def compare(
    answer: Answer | None, want: Answer, rule: Rule, unseen: Sequence[Planted] = ()
) -> Finding | None:
    """None when the answer is right; otherwise what is wrong with it."""
    if answer is None:
        return Finding("missing", "No answer came back.")
    if answer.problem:
        return _problem(answer)
    if set(answer.arrays) != set(want.arrays):
        return Finding("failed", _wrong_parts(answer, want))
    if rule.kind == "exposes":
        return _compare_test(answer, want, rule, unseen)
    for part in want.arrays:
        finding = _compare_arrays(answer.arrays[part], want.arrays[part], rule, part)
        if finding:
            return finding
    return None


def _problem(answer: Answer) -> Finding:
    if answer.problem == "unanswered":
        return Finding(
            "missing",
            "Not answered yet: write your code in the cell above, run it, then run this check again.",
        )
    if answer.problem == "exception":
        return Finding("error", f"Your code stopped with an error.\n{answer.message}")
    if answer.problem == "none":
        return Finding("failed", "Your function returned None. Does it end with a `return`?")
    if answer.problem == "changed":
        return Finding(
            "failed",
            f"Your function changed its input ({answer.message}). Whoever called it still needs the old values: "
            "make a new tensor instead of writing into the given one.",
        )
    return Finding("failed", f"Your function returned {answer.message}; a tensor is expected.")


def _wrong_parts(answer: Answer, want: Answer) -> str:
    def describe(arrays: Mapping[str, np.ndarray]) -> str:
        if list(arrays) == [""]:
            return "one tensor"
        if all(name.isdecimal() for name in arrays):
            return f"{len(arrays)} tensors"
        return f"tensors named {', '.join(sorted(arrays))}"

    return f"Your function returned {describe(answer.arrays)}; expected are {describe(want.arrays)}."


def _compare_arrays(got: np.ndarray, want: np.ndarray, rule: Rule, part: str) -> Finding | None:
    if got.shape != want.shape:
        return Finding(
            "failed",
            _label(part) + shape_sentence(got.shape, want.shape, rule.axes.get(part, "")),
            part,
            True,
        )
    if want.dtype.kind != "f" or rule.kind == "equal":
        return _compare_equal(got, want, part)
    values = got.astype(np.float64)
    target = want.astype(np.float64)
    nan = np.isnan(values) & ~np.isnan(target)
    if nan.any():
        return Finding(
            "failed",
            f"{_label(part)}{_share(nan)} of your numbers are NaN (0/0, ∞ − ∞ or log of a negative number).",
            part,
        )
    infinite = np.isinf(values) & ~np.isinf(target)
    if infinite.any():
        return Finding(
            "failed",
            f"{_label(part)}{_share(infinite)} of your numbers are infinite, where finite ones are expected.",
            part,
        )
    finite = np.isfinite(target)
    scale = float(np.abs(target[finite]).max()) if finite.any() else 1.0
    tolerance = rule.tolerance
    if got.dtype == np.float16:  # keeps three digits
        tolerance = max(tolerance, 4 * float(np.finfo(np.float16).eps))
    # Infinities must stand in the same places; finite numbers must be close.
    distance = np.abs(np.subtract(values, target, where=finite, out=np.zeros_like(target)))
    right = np.where(finite, distance <= tolerance * max(scale, 1e-30), values == target)
    if right.all():
        return None
    return Finding(
        "failed", f"{_label(part)}{_share(~right)} of your numbers differ from the expected ones.", part
    )


def _compare_test(answer: Answer, want: Answer, rule: Rule, unseen: Sequence[Planted]) -> Finding | None:
    """Whether the answer, taken as inputs, exposes enough of the planted faults and rejects nothing right."""
    for part, array in want.arrays.items():
        got = answer.arrays[part]
        if got.shape != array.shape:
            sentence = shape_sentence(got.shape, array.shape, rule.axes.get(part, ""))
            return Finding("failed", _label(part) + sentence, part, True)
    task = planted.task(rule.faults)
    if problem := planted.problem_with(answer.arrays, task):
        return Finding("failed", problem)
    found = planted.expose(answer.arrays, task, (*task.practice, *unseen))
    needed = ceil(found.faults * (SHARE_TO_EXPOSE if unseen else 1))
    return None if found.net >= needed else Finding("failed", _exposure_sentences(found, needed))


def _exposure_sentences(found: Exposure, needed: int) -> str:
    alarms = len(found.false_alarms)
    sentences = [f"Your inputs expose {len(found.exposed)} of {found.faults} planted faults"]
    if alarms:
        sentences[0] += f", less {alarms} false alarm{'s' if alarms > 1 else ''}: {found.net}"
    sentences[0] += f". Needed are {needed}."
    if found.escaped:
        about = dict.fromkeys(one.about for one in found.escaped)
        sentences.append(f"What escapes has to do with: {'; '.join(about)}.")
    if alarms:
        names = "; ".join(one.name.removeprefix("right: ") for one in found.false_alarms)
        sentences.append(
            f"A false alarm rejects an implementation that is right within rounding: {names}. What do your inputs ask "
            "of it that no docstring promises?"
        )
    return "\n".join(sentences)


def _compare_equal(got: np.ndarray, want: np.ndarray, part: str) -> Finding | None:
    if got.dtype.kind == "f" and np.isnan(got).any():
        return Finding("failed", f"{_label(part)}{_share(np.isnan(got))} of your numbers are NaN.", part)
    different = got.astype(np.float64) != want.astype(np.float64)
    if not different.any():
        return None
    return Finding(
        "failed", f"{_label(part)}{_share(different)} of your entries differ from the expected ones.", part
    )


def shape_sentence(got: tuple[int, ...], want: tuple[int, ...], axes: str = "") -> str:
    """What a wrong shape looks like: which axes are swapped, missing or too many."""
    names = axes.split() if len(axes.split()) == len(want) else []

    def name(axis: int) -> str:
        return f"{names[axis]} ({want[axis]})" if names else f"axis {axis} (size {want[axis]})"

    expected = ", ".join(f"{n}={size}" for n, size in zip(names, want, strict=True)) if names else ""
    facts = f"Your shape is {got}, expected is {want}" + (f" ({expected})." if expected else ".")
    if len(got) == len(want) and sorted(got) == sorted(want):
        moved = [axis for axis in range(len(want)) if got[axis] != want[axis]]
        return f"{facts} The axes {' and '.join(map(name, moved))} look swapped."
    if len(got) < len(want):
        missing = _left_over(want, got)
        if len(missing) == len(want) - len(got):
            return f"{facts} Missing: {' and '.join(map(name, missing))}. Was it summed or squeezed away?"
    if len(got) > len(want):
        extra = _left_over(got, want)
        if len(extra) == len(got) - len(want):
            sizes = " and ".join(f"axis {axis} of size {got[axis]}" for axis in extra)
            return f"{facts} One too many: {sizes}. Is a keepdim or an unsqueeze left over?"
    if len(got) == len(want):
        off = [axis for axis in range(len(want)) if got[axis] != want[axis]]
        return f"{facts} Look at {' and '.join(f'{name(axis)}, which has {got[axis]} in yours' for axis in off)}."
    return facts


def _left_over(longer: tuple[int, ...], shorter: tuple[int, ...]) -> list[int]:
    """Axes of `longer` that remain when `shorter` is read off it in order, from the right; [] if impossible."""
    left, remaining = [], list(shorter)
    for axis in reversed(range(len(longer))):
        if remaining and remaining[-1] == longer[axis]:
            remaining.pop()
        else:
            left.append(axis)
    return [] if remaining else sorted(left)


def _only_some(wrong: list[int], answers: Sequence[Answer | None], expected: Sequence[Answer]) -> str:
    """The sentence for code that is right on some inputs: usually a size written as a number."""
    batches = [next(iter(want.arrays.values())).shape[:1] for want in expected]
    right = [number for number in range(len(expected)) if number not in wrong]
    works = sorted({batches[number] for number in right})
    fails = sorted({batches[number] for number in wrong})
    if not set(works) & set(fails) and all(works) and all(fails):
        return (
            f"Right when the first axis has size {_sizes(works)}, wrong for {_sizes(fails)}: "
            "is a size written as a number where the shape should be read?"
        )
    return f"Right on {len(right)} of {len(expected)} inputs, wrong on the others."


def _sizes(shapes: list[tuple[int, ...]]) -> str:
    return " or ".join(str(shape[0]) for shape in shapes)


def _share(mask: np.ndarray) -> str:
    return f"{int(mask.sum())} of {mask.size}"


def _label(part: str) -> str:
    if not part:
        return ""
    return f"Part {int(part) + 1}: " if part.isdecimal() else f"{part}: "


def _known_mistake(
    answers: Sequence[Answer | None],
    expected: Sequence[Answer],
    rule: Rule,
    mistakes: Sequence[KnownMistake],
) -> KnownMistake | None:
    """The mistake whose answers the student's equal on every case, if there is exactly such a one."""
    for mistake in mistakes:
        if all(same(answer, known, rule) for answer, known in zip(answers, mistake.answers, strict=True)):
            return mistake
    return None


def same(answer: Answer | None, known: Answer, rule: Rule) -> bool:
    """Whether an answer, right or wrong, is the known one."""
    if answer is None or answer.problem != known.problem:
        return False
    if known.problem == "exception":  # the same kind of error: its last line begins with the type
        return _error_type(answer) == _error_type(known)
    if known.problem:
        return known.problem in ("none", "changed")
    if rule.kind == "exposes":
        return _same_test(answer, known, rule)
    return _with_nan_equal(answer, known, rule)


def _same_test(answer: Answer, known: Answer, rule: Rule) -> bool:
    """Whether two tests notice and miss the same of what is planted for practice."""
    task = planted.task(rule.faults)
    if {part: array.shape for part, array in answer.arrays.items()} != {
        part: array.shape for part, array in known.arrays.items()
    }:
        return False
    if any(planted.problem_with(one.arrays, task) for one in (answer, known)):
        return False
    seen = [planted.expose(one.arrays, task, task.practice).noticed for one in (answer, known)]
    return seen[0] == seen[1]


def _error_type(answer: Answer) -> str:
    return answer.message.strip().rpartition("\n")[2].partition(":")[0]


def _with_nan_equal(answer: Answer, known: Answer, rule: Rule) -> bool:
    """Like `compare`, but a NaN equals a NaN: a known mistake may produce them."""
    if set(answer.arrays) != set(known.arrays):
        return False
    for part, want in known.arrays.items():
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
        if _compare_arrays(got, want, rule, part):
            return False
    return True
