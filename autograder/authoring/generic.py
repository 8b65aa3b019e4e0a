"""Mistakes that nobody had to think of: what people do wrong in any code, made of the solution's own lines.

A keyword argument is left out, a loop ends after its first item, a condition is half forgotten, a slice or a conversion
left away, another thing compared. Those that an exercise's inputs expose on some seeds only make its grade a matter of luck.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.authoring.mutants import Mutant, Mutation, become, becoming, changed_cells, setting

EXCHANGED = {
    "any": "all", "all": "any", "argmax": "argmin", "argmin": "argmax", "first": "last",
    "cumsum": "cumprod", "append": "extend", "floor": "round", "ceil": "floor", "topk": "sort", "min": "max", "max": "min",
}  # fmt: skip


CONVERSIONS = {"list", "tuple", "float", "int", "bool", "item", "tolist", "contiguous", "encode"}
"""Without them, the same values have another type, and mostly do."""


def generic_mistakes(exercise: str, source: str) -> Iterator[Mutant]:
    """Every solution cell with one such mistake in the lines that a student writes."""
    tables = _tables(ast.parse(source))
    return changed_cells(exercise, source, lambda node: _mistakes(node, tables))


def _tables(tree: ast.AST) -> dict[str, set[str]]:
    """What each name looks up: {"word": {"tags"}} for `tags[word]`."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and isinstance(node.slice, ast.Name)
        ):
            found.setdefault(node.slice.id, set()).add(node.value.id)
    return found


def _mistakes(node: ast.AST, tables: dict[str, set[str]]) -> Iterator[Mutation]:
    if isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            yield _without("values", number)
    elif isinstance(node, ast.Compare):
        yield from _of_comparison(node, tables)
    elif isinstance(node, ast.For):
        yield lambda n: n.body.append(ast.Break())
    elif isinstance(node, ast.If):
        yield setting("test", ast.Constant(True))
        yield setting("test", ast.Constant(False))
    elif isinstance(node, ast.IfExp):
        yield lambda n: become(n, n.body)
        yield lambda n: become(n, n.orelse)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        for number, generator in enumerate(node.generators):
            yield _only_first(number)
            for place in range(len(generator.ifs)):
                yield _every_item(number, place)
    elif isinstance(node, ast.Subscript):
        yield from _of_subscript(node)
    elif isinstance(node, ast.Attribute) and node.attr in EXCHANGED:
        yield lambda n: setattr(n, "attr", EXCHANGED[n.attr])
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        yield lambda n: n.value.elts.reverse()


def _of_call(call: ast.Call) -> Iterator[Mutation]:
    for number in range(len(call.keywords)):
        yield _without("keywords", number)
    for number in range(1, len(call.args)):
        yield _without("args", number)
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name in CONVERSIONS:
        return
    if len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Name):
        yield lambda n: become(n, n.args[0])  # f(x) → x
    if isinstance(call.func, ast.Attribute):
        yield lambda n: become(n, n.func.value)  # x.abs() → x


def _of_comparison(node: ast.Compare, tables: dict[str, set[str]]) -> Iterator[Mutation]:
    """What two names look up, in place of the names."""
    sides = [node.left, *node.comparators]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    if len(names) == len(sides) == 2:
        for table in sorted(tables.get(names[0], set()) | tables.get(names[1], set())):
            yield _looked_up(table)


def _of_subscript(node: ast.Subscript) -> Iterator[Mutation]:
    for number, part in enumerate(_places(node)):
        if isinstance(part, ast.Slice):
            for bound in ("lower", "upper", "step"):
                if getattr(part, bound) is not None:
                    yield _unbounded(number, bound)
        elif (
            isinstance(part, ast.Constant)
            and isinstance(part.value, int)
            and not isinstance(part.value, bool)
        ):
            yield _at(number, "-1" if part.value == 0 else "0")
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
            yield _at(number, "0")


def _places(node: ast.Subscript) -> Sequence[ast.expr]:
    """What stands between the brackets: of `x[:, 0]` a slice and a number."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _without(name: str, number: int) -> Mutation:
    def mutate(node: Any) -> None:
        values = list(getattr(node, name))
        del values[number]
        if isinstance(node, ast.BoolOp) and len(values) == 1:
            become(node, values[0])
        else:
            setattr(node, name, values)

    return mutate


def _only_first(number: int) -> Mutation:
    def mutate(node: Any) -> None:
        every = node.generators[number].iter
        becoming(f"list({ast.unparse(every)})[:1]")(every)

    return mutate


def _every_item(number: int, place: int) -> Mutation:
    return lambda node: node.generators[number].ifs.pop(place)


def _looked_up(table: str) -> Mutation:
    """Where one of the names is None, nothing is looked up, and the comparison is as it was."""

    def mutate(node: Any) -> None:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        becoming(f"None not in ({left}, {right}) and {table}[{left}] == {table}[{right}]")(node)

    return mutate


def _unbounded(number: int, bound: str) -> Mutation:
    return lambda node: setattr(_places(node)[number], bound, None)


def _at(number: int, index: str) -> Mutation:
    return lambda node: becoming(index)(_places(node)[number])
