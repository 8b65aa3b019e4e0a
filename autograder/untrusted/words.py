"""What a student says in words in a cell: in Markdown, or in the comments and texts of a cell of code."""

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection, Iterator

from autograder.parsing import bound_by
from autograder.untrusted.cells import Cell
from autograder.untrusted.definitions import NOT_RUN_HERE, Reader

SHORT = 20  # characters of a line that says nothing about whose it is
_OF_BADGE = r"(?:colab-badge|kaggle\.com/static|mybinder\.org/badge|deepnote\.com/buttons)"
BADGE = re.compile(_OF_BADGE)
_BADGES = re.compile(
    rf"(?:<a[^<>]{{0,300}}>\s{{0,9}})?<img[^<>]{{0,300}}{_OF_BADGE}[^<>]{{0,300}}>(?:\s{{0,9}}</a>)?"
    rf"|\[?!\[[^\[\]]{{0,200}}\]\([^()\s]{{0,300}}{_OF_BADGE}[^()]{{0,100}}\)(?:\]\([^()]{{0,600}}\))?"
)
_TAG = re.compile(r"</?\w[^<>]{0,300}>")
_SIGN = re.compile(r"[^\s\-_*=#>|`~]")  # of which more than rules and fences are made
_LETTER = re.compile(r"[^\W\d_]")
_WORDS = re.compile(r"[^\W\d_]{2}\W{0,5}\s\W{0,5}[^\W_]")  # two of them
_SHELL = re.compile(r"^[ \t]*!\s*(?:echo|printf)\b.*", re.MULTILINE)
SHOWS = {"print", "display", "Markdown", "HTML", "Latex", "Math", "Pretty", "repr", "str", "dedent"}
BUILT_IN = frozenset(dir(builtins))


def without_badges(text: str) -> str:
    """Without the links to Colab, Kaggle, Binder and Deepnote that these services add."""
    if not BADGE.search(text):
        return text
    rest = _BADGES.sub("", text)
    return rest if _SIGN.search(_TAG.sub("", rest)) else ""


def own_lines(text: str, released: Collection[str], stubs: Collection[str] = ()) -> str:
    """What of a text stands in no such line of the release, and in no stub; "" if there is neither word, sign nor picture."""
    lines = [
        line
        for line in without_badges(text).splitlines()
        if line.strip() not in stubs and (len(line.strip()) < SHORT or line.strip() not in released)
    ]
    own = "\n".join(lines).strip("\n")
    return own if _SIGN.search(own) else ""


def is_prose(cell: Cell, reader: Reader) -> bool:
    """Whether a cell holds words and no code: Markdown, raw text, or code that only comments, quotes or prints words."""
    if cell.kind != "code":
        return True
    tree = reader.tree(cell.source)
    if tree is None:
        return not reader.looks(cell.source)
    if NOT_RUN_HERE.match(cell.source) or not re.search(r"\w", cell.source):
        return False
    if all(isinstance(node, ast.Pass) for node in tree.body):
        return bool(_comments(cell.source))
    return all(_says_words(node) for node in tree.body)


def said(source: str, reader: Reader, known: Collection[str], deep: bool = True) -> dict[str, None]:
    """What code may say in words, in its order: comments, texts, names that nobody has defined, and what is no Python.

    Without `deep` that which stands within functions and classes is left out: there comments are about the code.
    """
    tree = reader.tree(source)
    if tree is None or NOT_RUN_HERE.match(source):
        lines = [line.strip() for line in source.splitlines() if _SIGN.search(line)]
        if not deep and reader.looks(source):
            lines = [line for line in source.splitlines() if line.startswith("#") and _LETTER.search(line)]
        return dict.fromkeys(lines)
    found = {**dict.fromkeys(_comments(source, deep)), **dict.fromkeys(_SHELL.findall(source))}
    own = {*known, *bound_by(tree.body)}
    for node in tree.body:
        if deep or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found |= dict.fromkeys(_texts(node, own))
    return found


def _comments(source: str, deep: bool = True) -> list[str]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if (
                token.type == tokenize.COMMENT
                and (deep or token.start[1] == 0)
                and _SIGN.search(token.string)
            ):
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):  # IPython's own lines may be no tokens
        found += [line for line in source.splitlines() if line.startswith("#") and line not in found]
    return found


def _texts(node: ast.stmt, known: Collection[str]) -> Iterator[str]:
    if isinstance(node, ast.Expr):
        parts = [*ast.walk(node)]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        names -= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        names -= {part.arg for part in parts if isinstance(part, ast.arg)}
        if not names - {"display"} and not isinstance(node.value, ast.Call | ast.Constant):
            yield ast.unparse(node)  # it computes nothing from the notebook: 1/2
        elif isinstance(node.value, ast.Constant) and node.value.value not in (None, ...):
            yield str(node.value.value)
        elif not names <= {*known, *SHOWS}:
            yield ast.unparse(node)
    whole = _says_words(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text = part.value
            if _WORDS.search(text) or (whole and _SIGN.search(text)):
                yield text


def _says_words(node: ast.stmt) -> bool:
    """Whether a statement only quotes, shows or keeps a text."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _is_text(value)
    return False


def _is_text(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(op=ast.Add() | ast.Mod(), left=left, right=right):
            return _is_text(left) or _is_text(right)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in SHOWS:
            return _is_text(first)
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "join" | "strip" | "replace")):
            return _is_text(value)
    return False
