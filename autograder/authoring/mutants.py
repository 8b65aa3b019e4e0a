"""How much do the checks see? Change each solution in every small way and count what goes unnoticed.

An operator, a sign, a dim, a constant or a comparison is changed, one at a time (DeMillo, Lipton and
Sayward 1978); in a class, one of its parts is left out or takes another's place. A changed solution that still passes its check is a survivor: either it is equivalent to the
solution, and the exercise says why (`Exercise.survivors`), or the cases are too tame.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeGuard

from rich.console import Group
from rich.table import Table
from rich.text import Text

from autograder.authoring.builder import PUBLIC_SEED
from autograder.checks.answer_key import ExerciseKey
from autograder.checks.comparing import passes
from autograder.course import Assignment
from autograder.grading import reference
from autograder.jail.inside.limits import Limits
from autograder.jail.outside.client import Server
from autograder.source import imported_ahead, read_source

OPERATORS: dict[type, list[type]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.Mod: [ast.FloorDiv],
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
METHODS = {"sum": "mean", "mean": "sum", "max": "min", "min": "max", "amax": "amin", "amin": "amax", "exp": "abs", "log": "abs", "triu": "tril", "tril": "triu"}  # fmt: skip
CHUNK = 40
"""Mutants to a job, so that a progress bar moves."""
MOST_SECONDS = 4
"""For all inputs of one exercise. A mutant that goes on for ever costs them; the solution must do with them on a slow machine."""


@dataclass(frozen=True)
class Mutant:
    """A solution cell of an exercise with one small change, which is said in words."""

    exercise: str
    change: str  # "line 5: `a + b` → `a - b`"
    source: str


@dataclass(frozen=True)
class Report:
    """What the checks of one assignment caught."""

    assignment: str
    total: int
    survivors: tuple[tuple[str, str, str], ...]  # exercise, change, explanation or ""

    @property
    def share(self) -> float:
        """Of all mutants, from 0 to 1, those that the checks catch; 1 where there are none."""
        return 1 - len(self.survivors) / self.total if self.total else 1.0

    @property
    def unexplained(self) -> tuple[tuple[str, str], ...]:
        """The survivors, as (exercise, change), of which the exercise does not say why they are as right."""
        return tuple((exercise, change) for exercise, change, why in self.survivors if not why)

    def to_json(self) -> dict[str, Any]:
        """As `autograder mutants --json` writes it, with the share rounded to four decimals."""
        return {**asdict(self), "share": round(self.share, 4)}


def judge_mutants(
    assignment: Assignment,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    exercises: Sequence[str] = (),
    keys: Mapping[str, ExerciseKey] | None = None,
) -> Report:
    """Judge every mutant of every exercise, or of those in `exercises`, on the public inputs.

    `keys` are the public keys of the exercises, where the caller has them: then these are the exercises.
    """
    names = list(keys or exercises or assignment.exercises)
    sources = reference.solution_sources(assignment)
    made = [mutant for name in names for mutant in mutants(name, sources[name])]
    survivors = []
    modules = imported_ahead(assignment.settings.preload_where, read_source(assignment.source))
    with reference.own_server(assignment.root, modules, Limits(cell_seconds=MOST_SECONDS)) as server:
        keys = keys or reference.public_keys(server, assignment, PUBLIC_SEED, names)
        for start in range(0, len(made), CHUNK):
            chunk = made[start : start + CHUNK]
            survivors += _survivors(server, assignment, keys, chunk)
            on_progress(min(start + CHUNK, len(made)), len(made))
    explained = [(m.exercise, m.change, _explanation(assignment, m)) for m in survivors]
    return Report(assignment.called, len(made), tuple(explained))


def _survivors(server: Server, assignment: Assignment, keys, chunk: list[Mutant]) -> list[Mutant]:
    variants: dict[str, dict[str, str]] = {}
    for number, mutant in enumerate(chunk):
        variants.setdefault(mutant.exercise, {})[str(number)] = mutant.source
    cases = {name: list(key.cases) for name, key in keys.items() if name in variants}
    recorded = reference.record(server, assignment, cases, variants)
    alive = []
    for number, mutant in enumerate(chunk):
        key = keys[mutant.exercise]
        answers = [recorded.get((str(number), mutant.exercise, case)) for case in range(len(key.cases))]
        if passes(answers, key.expected, key.rule):
            alive.append(mutant)
    return alive


def _explanation(assignment: Assignment, mutant: Mutant) -> str:
    explained = assignment.exercises[mutant.exercise].survivors
    return next((why for change, why in explained.items() if change in mutant.change), "")


def survivor_table(report: Report) -> Group:
    """The report as a table of survivors under one line of numbers."""
    caught = report.total - len(report.survivors)
    table = Table(box=None, header_style="bold")
    for column in ("survivor", "change", "why it is equivalent"):
        table.add_column(column, overflow="fold")
    for exercise, change, why in report.survivors:
        # A subscript is no command to the terminal.
        table.add_row(exercise, Text(change), Text(why) if why else Text("not explained", style="red"))
    line = f"{report.assignment}: the checks catch {caught} of {report.total} mutants ({report.share:.1%})."
    return Group(line, table) if report.survivors else Group(line)


Mutation = Callable[[Any], None]
"""Changes a node in place."""


def mutants(exercise: str, source: str) -> Iterator[Mutant]:
    """Every solution cell that differs from `source` in one small way."""
    parts = _parts(ast.parse(source))
    return changed_cells(exercise, source, lambda node: _mutations(node, parts))


def changed_cells(
    exercise: str, source: str, mutations: Callable[[ast.AST], Iterator[Mutation]]
) -> Iterator[Mutant]:
    """Every other solution cell that one of these mutations of one of its nodes makes, where students write."""
    tree = ast.parse(source)
    regions = _solution_lines(source)
    seen = {ast.unparse(tree)}
    for statement in _statements(tree):
        if not any(statement.lineno in region for region in regions):
            continue
        for node in _own_nodes(statement):
            for mutate in mutations(node):
                changed, old, new = _with_mutation(tree, statement, node, mutate)
                if changed not in seen:
                    seen.add(changed)
                    what = (
                        f"`{old}` → `{new}`" if new != old else f"`{old}`, exited after the first iteration"
                    )
                    yield Mutant(exercise, what, changed)


def _solution_lines(source: str) -> list[range]:
    """The lines of each region that a student does not see; without any, all lines."""
    lines = source.splitlines()
    begins, ends = (
        [i for i, line in enumerate(lines, 1) if mark in line] for mark in ("BEGIN SOLUTION", "END SOLUTION")
    )
    return [range(begin, end) for begin, end in zip(begins, ends, strict=True)] or [range(len(lines) + 1)]


def _parts(tree: ast.AST) -> list[str]:
    """The attributes of `self` that are called, as the parts of a module are."""
    called = {node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_part(node.func)}
    return sorted(called)


def _is_part(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of statements inside it and without annotations."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if node is not statement and isinstance(node, ast.stmt | ast.arguments):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        yield node
        skipped = [node.annotation] if isinstance(node, ast.AnnAssign) else []
        if isinstance(node, ast.FunctionDef):
            skipped += node.decorator_list
            skipped += [node.returns] if node.returns else []
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            skipped.append(node.operand)  # −1 is one constant
        if isinstance(node, ast.Raise):
            continue  # the words of an error message are nothing a check sees
        waiting += [child for child in ast.iter_child_nodes(node) if child not in skipped]


def _mutations(node: ast.AST, parts: Sequence[str] = ()) -> Iterator[Mutation]:
    """Functions that change a copy of `node` in place."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        for new in OPERATORS.get(type(node.op), []):
            yield setting("op", new())
    elif isinstance(node, ast.Compare):
        for new in OPERATORS.get(type(node.ops[0]), []):
            yield setting("ops", [new(), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and isinstance(value, int | float) and not isinstance(value, bool):
            for constant in _other_constants(-value):
                yield becoming(repr(constant))
        else:
            yield lambda n: become(n, n.operand)
    elif isinstance(node, ast.Constant):
        for constant in _other_constants(node.value):
            yield becoming(repr(constant))
    elif isinstance(node, ast.Attribute) and node.attr in METHODS:
        yield lambda n: setattr(n, "attr", METHODS[n.attr])
    elif isinstance(node, ast.Call) and _is_part(node.func):
        if node.args:
            yield lambda n: become(n, n.args[0])
        for other in parts:
            yield setting("func", ast.Attribute(node.func.value, other, ast.Load()))


def setting(name: str, value: Any) -> Mutation:
    """Gives a node another value under this name."""
    return lambda node: setattr(node, name, value)


def becoming(expression: str) -> Mutation:
    """Turns a node into this expression."""
    return lambda node: become(node, ast.parse(expression, mode="eval").body)


def _other_constants(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return [value * 2, -value] if value else [1.0]
    return []


def become(node: ast.AST, other: ast.AST) -> None:
    """Turn a node into another one where it stands."""
    node.__class__ = other.__class__
    node.__dict__ = dict(other.__dict__)


def _with_mutation(
    tree: ast.AST, statement: ast.stmt, node: ast.AST, mutate: Mutation
) -> tuple[str, str, str]:
    memo: dict[int, Any] = {}
    changed = copy.deepcopy(tree, memo)
    old = ast.unparse(statement).splitlines()[0]
    mutate(memo[id(node)])
    return ast.unparse(changed), old, ast.unparse(memo[id(statement)]).splitlines()[0]
