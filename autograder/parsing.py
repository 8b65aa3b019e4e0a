"""Parse Python source in one thread at a time."""

import ast
import warnings
from threading import Lock

_ONE_AT_A_TIME = Lock()


def parse(source: str) -> ast.Module:
    """`ast.parse`, for threads, without warnings about the source. Raises SyntaxError and what else `ast.parse` raises.

    Up to Python 3.11.7 two threads that parse at once may get a SystemError, "AST constructor recursion depth
    mismatch" (https://github.com/python/cpython/issues/106905).
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings(action="ignore"):
        return ast.parse(source)
