"""Answers that students would write, read from a YAML file: most of them as edits of one another.

The file says for each exercise which answers are wrong and which are right (tests/natural/README.md has the format):

    attention.softmax:
      wrong:
      - what: over the wrong axis
        body: return scores.exp() / scores.exp().sum(0)
      - what: without the division
        edits: {' / scores.exp().sum(0)': ''}
"""

import ast
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from autograder.authoring.rates import Cells
from autograder.errors import CourseError
from autograder.exercise import replaced

WRITTEN_OUT = ("body", "typed_body", "code")
SOLUTION = "the solution"
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast


@dataclass(frozen=True)
class NaturalAnswer:
    """One answer to an exercise: what is special about it, the source of its cell, and its entry in the file."""

    exercise: str
    what: str
    right: bool
    source: str
    entry: Mapping[str, Any]


def read_natural(path: Path, sources: Mapping[str, str]) -> list[NaturalAnswer]:
    """The answers to those exercises whose solution cells are given in `sources`.

    Raises CourseError where there is no such file or it is not YAML, where two answers to an exercise have the same
    name, and where an answer is not written in exactly one way; EditDoesNotApply where an edit does not fit.
    """
    if not path.is_file():
        raise CourseError(f"There is no file {path}.")
    try:
        lists = yaml.load(path.read_text(encoding="utf-8"), _Loader) or {}
    except yaml.YAMLError as error:
        raise CourseError(f"{path} cannot be read: {error}") from None
    return [
        answer
        for exercise, solution in sources.items()
        for answer in _answers(exercise, solution, lists.get(exercise, {}))
    ]


def cells(answers: Iterable[NaturalAnswer]) -> Cells:
    """{exercise: {what is special: source of the cell}}"""
    found: dict[str, dict[str, str]] = {}
    for answer in answers:
        found.setdefault(answer.exercise, {})[answer.what] = answer.source
    return found


def _answers(exercise: str, solution: str, lists: Mapping[str, list[dict]]) -> Iterator[NaturalAnswer]:
    entries = [(side, entry) for side in ("wrong", "right") for entry in lists.get(side, ())]
    bases = {SOLUTION: solution}
    for _, entry in entries:
        about = f"{exercise}, answer {entry['what']!r}"
        if sum(way in entry for way in (*WRITTEN_OUT, "edits")) != 1:
            raise CourseError(f"{about}: one of these keys is required: edits, {', '.join(WRITTEN_OUT)}.")
        if [other["what"] for _, other in entries].count(entry["what"]) > 1:
            raise CourseError(f"{about} occurs twice.")
        if "edits" not in entry:
            bases[entry["what"]] = _written_out(solution, entry)
    above = {"wrong": SOLUTION, "right": SOLUTION}
    for side, entry in entries:
        what = entry["what"]
        if "edits" in entry:
            base = entry.get("of", above[side])
            if base not in bases:
                raise CourseError(f"{exercise}, answer {what!r}: there is no written-out answer {base!r}.")
            source = _edited(bases[base], entry["edits"], f"{exercise}, answer {what!r}")
        else:
            above[side], source = what, bases[what]
        yield NaturalAnswer(exercise, what, side == "right", source, entry)


def _written_out(solution: str, entry: Mapping[str, str]) -> str:
    if "code" in entry:
        return entry["code"]
    way = next(way for way in WRITTEN_OUT if way in entry)
    return f"{_signature(solution, typed=way == 'typed_body')}\n{textwrap.indent(entry[way], '    ')}"


def _signature(solution: str, typed: bool) -> str:
    """The line `def …:` of the solution's function, with or without types."""
    function = next(node for node in ast.parse(solution).body if isinstance(node, ast.FunctionDef))
    if not typed:
        function.returns = None
        for argument in ast.walk(function.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
    function.body = [ast.Pass()]
    return ast.unparse(function).removesuffix("\n    pass")


def _edited(source: str, edits: Mapping[str, str], about: str) -> str:
    """The edits made one after the other. Further lines of a new text are indented like the line that it stands in."""
    for old, new in edits.items():
        before, _, _ = source.partition(old)
        line = (before.rpartition("\n")[2] + old).partition("\n")[0]
        indent = line[: len(line) - len(line.lstrip())]
        first, *rest = new.split("\n")
        source = replaced(source, old, "\n".join([first, *(indent + further for further in rest)]), about)
    return source
