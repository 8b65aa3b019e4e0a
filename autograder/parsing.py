"""Parse Python source, in one thread at a time, and say which names it binds."""

import ast
import warnings
from collections.abc import Iterable, Iterator
from threading import Lock

_ONE_AT_A_TIME = Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`, for threads, without warnings about the source. Raises SyntaxError and what else `ast.parse` raises.

    Up to Python 3.11.7 two threads that parse at once may get a SystemError, "AST constructor recursion depth
    mismatch" (https://github.com/python/cpython/issues/106905).
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings(action="ignore"):
        return ast.parse(source)


def bound_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that these nodes bind in their own scope, so without those within functions, classes and comprehensions."""
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # What := binds in a comprehension is bound outside it.
                yield from (part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield name
        waiting += ast.iter_child_nodes(node)
