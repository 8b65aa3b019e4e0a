"""Which names of a notebook the code of which other one uses: read from its parsed cells, which are not run.

A name counts where code loads it: it is called, handed on, inherited from. A docstring, a comment, an annotation or a
local variable that happens to have the same name is no use of it.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from autograder.parsing import bound_by, parse

LONGEST = 500_000
"""Characters of all cells that are read, which takes half a second; what comes after them counts as empty."""

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


def names_used(sources: Iterable[str]) -> dict[str, frozenset[str]]:
    """{name that a cell binds: names that the code which binds it uses}. Of several cells the last one counts.

    A cell that is no Python binds nothing. Lines of IPython's own (`%time`, `!ls`) are passed over.
    """
    used: dict[str, frozenset[str]] = {}
    left = LONGEST
    for source in sources:
        left -= len(source)
        if left < 0:
            break
        for statement in _parsed(source).body:
            names = frozenset(_loaded([statement]))
            used |= dict.fromkeys(bound_by([statement]), names)
    return used


def names_in(source: str) -> frozenset[str]:
    """All names that a cell uses."""
    return frozenset(_loaded(_parsed(source[:LONGEST]).body))


def reached(names: Iterable[str], used: Mapping[str, Iterable[str]], until: Iterable[str] = ()) -> set[str]:
    """These names, and all that is used from there; what those of `until` use in turn is not followed."""
    found, waiting, ends = set(), list(names), set(until)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [] if name in ends else used.get(name, ())
    return found


def _parsed(source: str) -> ast.Module:
    for text in (source, _MAGIC.sub(r"\1pass", source)):
        try:
            return parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([], [])


def _loaded(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are loaded and not local to the function in which they stand."""
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset()) for node in nodes]
    while waiting:
        node, local = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                if name not in local:
                    yield name
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                outside = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
                body = [node.body] if isinstance(node, ast.Lambda) else node.body
                outside += [] if isinstance(node, ast.Lambda) else node.decorator_list
                waiting += [(part, local) for part in outside]
                inside = local | _local_to(node, body)
                waiting += [(part, inside) for part in body]
                continue
            case ast.AnnAssign(target=target, value=value):
                waiting += [(part, local) for part in (target, value) if part]
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                local |= frozenset(bound_by([generator.target for generator in node.generators]))
        waiting += [(child, local) for child in ast.iter_child_nodes(node)]


def _local_to(function: _Scope, body: Iterable[ast.AST]) -> frozenset[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += filter(None, (arguments.vararg, arguments.kwarg))
    shared = {
        name
        for node in body
        for part in ast.walk(node)
        if isinstance(part, ast.Global)
        for name in part.names
    }
    return frozenset({argument.arg for argument in named} | {*bound_by(body)} - shared)
