"""Submissions that share what is unusual, in groups for a person to judge.

A cell's text is cut into phrases: runs of tokens of normalised code (no comments, docstrings, annotations, layout, tuples around
assignments or names of the student's own; code in a string counts as code, letters that only look different count as the same), or of
words of a written answer. To a text belong the functions that it calls from cells which the student has added, and those
that no answer calls if they are like an answer; the rest of these cells does not count.
Phrases of the release, of our solutions, alternatives and mistakes, and those that many in the class share, do not count.
The idea is that of MOSS (Schleimer, Wilkerson and Aiken, Winnowing, SIGMOD 2003), without the thinning that only long
programs need.

What more than a few share is usual in a class, unless it is always *the same* few dozen who share it: of those who have one
answer from one another, each has the next one from them, too. How improbable that is by chance, the hypergeometric
distribution says (`CHANCE`). Answers that many gave alike to the letter are listed by themselves, and accuse nobody.
"""

import ast
import io
import re
import textwrap
import tokenize
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer

from autograder.parsing import parse
from autograder.untrusted.budgets import LONGEST
from autograder.untrusted.definitions import Definition

LENGTH = 5  # tokens of a phrase
USUAL_SHARE, USUAL_COUNT = 0.05, 5  # a phrase that more of the class have, and more students, does not count
LEAST_PHRASES = 40  # that two must share,
LEAST_CELLS, LEAST_IN_CELL = 2, 8  # in so many cells so many at least,
LEAST_SHARE = 0.5  # and so much of what is unusual in the one that has less of it
CHANCE = 1e-3  # that a ring's answers to several cells come from the same students though nobody copied
SAME = 0.6  # of all who have one answer of a ring or another, those who have both
LIKE_HIS = 0.6  # of a student's phrases in a cell, that another has who belongs to the same ring
LIKE_AN_ANSWER = 0.3  # of the phrases of a function in an added cell, so that it is compared with answers
LONGEST_STRING, DEEPEST = 20, 3  # a shorter string holds no code; strings of code within one another
OWN_CELLS = "cells of their own"  # what a student has added and no answer calls

LOOKS_LIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝүАВЕКМНОРСТУХІЈЅԌԚԜαικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwyABEKMHOPCTYXIJSGQWaikvoptuxyABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters and the Latin ones that look like them, from Unicode's table of confusables."""

STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AugAssign, ast.Return, ast.For, ast.While)

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError)
"""What Python's own parsers raise at what is no Python, or too deep."""

CellTexts = Mapping[str, str]  # of one student, {cell: text}
Phrase = tuple[str, ...]  # the cell and the tokens


@dataclass(frozen=True)
class SimilarPair:
    """Two that share much."""

    students: tuple[str, str]
    phrases: int
    share: float  # of what is unusual in the one that has less of it
    cells: tuple[str, ...]  # where they share much, most first


@dataclass(frozen=True)
class Group:
    """Those whom pairs connect; the closest pair comes first."""

    students: tuple[str, ...]
    pairs: tuple[SimilarPair, ...]


def find_groups(
    texts_of: Mapping[str, CellTexts], expected: Iterable[CellTexts], written: Collection[str]
) -> list[Group]:
    """Groups among the students in `texts_of`.

    `expected` are texts that everybody has or that we expect; `written` are the cells that hold prose.
    """
    expected = list(expected)
    texts_of = with_copies_placed(texts_of, expected, written)
    expected_phrases = {phrase for texts in expected for phrase in phrases(texts, written)}
    own = [phrases(_without_own(texts), written) - expected_phrases for texts in texts_of.values()]
    spread = Counter(chain.from_iterable(own))
    usual = usual_from(len(texts_of))
    rare = [{phrase for phrase in mine if spread[phrase] <= usual} for mine in own]
    students = list(texts_of)
    pairs = _rings(students, _common(own, spread, texts_of, expected, written))
    if any(rare):
        pairs += _close(students, rare)
    return _groups(students, pairs) if pairs else []


def _close(students: list[str], rare: list[set[Phrase]]) -> list[SimilarPair]:
    """Pairs of those who share much of what few have."""
    together = _shared(rare)
    totals = np.array([len(mine) for mine in rare])
    fewer = np.minimum(totals[together.row], totals[together.col])
    near = (together.row < together.col) & (together.data >= np.maximum(LEAST_PHRASES, LEAST_SHARE * fewer))
    pairs = []
    for first, second in zip(together.row[near], together.col[near], strict=True):
        shared = rare[first] & rare[second]
        cells = Counter(phrase[0] for phrase in shared)
        much = tuple(cell for cell, count in cells.most_common() if count >= LEAST_IN_CELL)
        if len(much) >= LEAST_CELLS:
            share = len(shared) / min(len(rare[first]), len(rare[second]))
            pairs.append(SimilarPair((students[first], students[second]), len(shared), share, much))
    return pairs


def _common(
    own: list[set[Phrase]],
    spread: Mapping[Phrase, int],
    texts_of: Mapping[str, CellTexts],
    expected: Iterable[CellTexts],
    written: Collection[str],
) -> list[set[Phrase]]:
    """Of each student's phrases those that more than a few, and at most half of the class, have; without alike answers."""
    listed = {
        phrase
        for cell, who in find_common(texts_of, expected, written)
        for phrase in phrases({cell: texts_of[who[0]][cell]}, written)
    }
    shared_by = range(usual_from(len(texts_of)) + 1, len(texts_of) // 2 + 1)
    return [
        {phrase for phrase in mine if spread[phrase] in shared_by and phrase not in listed} for mine in own
    ]


def _rings(students: list[str], common: list[set[Phrase]]) -> list[SimilarPair]:
    """Pairs of those who share what many share, but always with the same ones."""
    count = len(students)
    totals = np.array([len(mine) for mine in common])
    cells = sorted({phrase[0] for mine in common for phrase in mine})
    shared = {
        cell: _shared([{phrase for phrase in mine if phrase[0] == cell} for mine in common]).toarray()
        for cell in cells
    }
    like = {}  # [first, second]: whether most of the first's phrases in the cell are the second's, too
    for cell, counts in shared.items():
        own = counts.diagonal()[:, None]
        like[cell] = (counts >= LIKE_HIS * own) & (own >= LEAST_IN_CELL)
        like[cell] &= like[cell].sum(axis=1, keepdims=True) <= count / 2
    pairs = []
    for first, second in zip(*np.triu_indices(count, 1), strict=True):
        groups = {
            cell: set(np.flatnonzero(near[first] | near[second]).tolist()) - {first, second}
            for cell, near in like.items()
            if near[first, second] or near[second, first]
        }
        both = _with_the_same(groups, count - 2)
        phrases = int(sum(shared[cell][first, second] for cell in both))
        share = phrases / max(1, min(totals[first], totals[second]))
        if len(both) >= LEAST_CELLS and phrases >= LEAST_PHRASES and share >= LEAST_SHARE:
            pairs.append(SimilarPair((students[first], students[second]), phrases, float(share), both))
    return pairs


def _with_the_same(groups: Mapping[str, set[int]], students: int) -> tuple[str, ...]:
    """The cells that two share with the same others, and hardly by chance; of all such sets of cells the largest."""
    best: tuple[str, ...] = ()
    for first in groups.values():
        cells = [cell for cell, group in groups.items() if len(first & group) > SAME * len(first | group)]
        if len(cells) > len(best) and _chance([groups[cell] for cell in cells], students) <= CHANCE:
            best = tuple(cells)
    return best


def _shared(phrases_of: list[set[Phrase]]) -> coo_array:
    """How many phrases each has in common with each: [students, students]. Somebody must have one."""
    counts = CountVectorizer(analyzer=list, dtype=np.int32).fit_transform(phrases_of)
    return coo_array(counts @ counts.T)


def _chance(groups: list[set[int]], students: int) -> float:
    """How probable it is that groups of that size, drawn each by itself from `several`, have so many in common."""
    first, *others = sorted(groups, key=len)
    chances = [
        stats.hypergeom.sf(len(first & group) - 1, students, len(first), len(group)) for group in others
    ]
    return float(stats.combine_pvalues(chances).pvalue) if chances else 1.0


def with_helpers(texts: CellTexts, added: str) -> CellTexts:
    """Each text with the functions and classes it calls from the cells that the student has added; and the rest of those."""
    try:
        tree = parse(added[: LONGEST["compared"]])
    except UNREADABLE:
        return {**texts, OWN_CELLS: added} if added.strip() else texts
    helpers = {node.name: node for node in tree.body if isinstance(node, Definition)}
    used: set[str] = set()
    enriched = {}
    for cell, text in texts.items():
        called = _called(text, helpers)
        used |= called
        enriched[cell] = "\n\n".join([text, *(ast.unparse(helpers[name]) for name in sorted(called))])
    rest = [node for node in tree.body if not isinstance(node, Definition) or node.name not in used]
    left = "\n".join(map(ast.unparse, rest))
    return {**enriched, OWN_CELLS: left} if left.strip() else enriched


def with_copies_placed(
    texts_of: Mapping[str, CellTexts], expected: Iterable[CellTexts], written: Collection[str]
) -> dict[str, CellTexts]:
    """Each student's texts, with the functions that no answer calls in the cell whose answers they are like.

    A copy need not stand in the cell that it answers: it may be called by a name that is put together, or not at all.
    """
    cells_with: dict[Phrase, set[str]] = {}
    for texts in (*expected, *texts_of.values()):
        for cell, *tokens in phrases(_without_own(texts), written):
            if cell not in written:
                cells_with.setdefault(tuple(tokens), set()).add(cell)
    return {student: _with_copies_placed(texts, cells_with) for student, texts in texts_of.items()}


def _without_own(texts: CellTexts) -> CellTexts:
    """What is like no answer is a picture or an experiment: it does not count."""
    return {cell: text for cell, text in texts.items() if cell != OWN_CELLS}


def _with_copies_placed(texts: CellTexts, cells_with: Mapping[Phrase, Collection[str]]) -> CellTexts:
    if OWN_CELLS not in texts:
        return texts
    try:
        pieces = [ast.unparse(node) for node in parse(texts[OWN_CELLS][: LONGEST["compared"]]).body]
    except UNREADABLE:
        return texts
    placed = {cell: [text] for cell, text in _without_own(texts).items()}
    left = []
    for piece in pieces:
        if cell := _cell_like(piece, cells_with):
            placed.setdefault(cell, []).append(piece)
        else:
            left.append(piece)
    if left and (cell := _cell_like("\n".join(left), cells_with)):  # an answer in small parts
        placed.setdefault(cell, []).extend(left)
    elif left:
        placed[OWN_CELLS] = left
    return {cell: "\n\n".join(parts) for cell, parts in placed.items()}


def _cell_like(code: str, cells_with: Mapping[Phrase, Collection[str]]) -> str:
    """The cell whose answers a good part of this code is like, or ""."""
    runs = [tuple(run[1:]) for run in phrases({OWN_CELLS: code}, ())]
    like = Counter(cell for run in runs for cell in cells_with.get(run, ()))
    cell, count = max(like.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    return cell if count >= max(LEAST_IN_CELL, LIKE_AN_ANSWER * len(runs)) else ""


def _called(text: str, helpers: Mapping[str, ast.AST]) -> set[str]:
    """The helpers whose names stand in a text, and those that these call."""
    called: set[str] = set()
    names = set(re.findall(r"\w+", text)) & helpers.keys()
    while names:
        called |= names
        inner = {node.id for name in names for node in ast.walk(helpers[name]) if isinstance(node, ast.Name)}
        names = (inner & helpers.keys()) - called
    return called


def find_common(
    texts_of: Mapping[str, CellTexts], expected: Iterable[CellTexts], written: Collection[str]
) -> list[tuple[str, list[str]]]:
    """Answers to a cell that more students than are usual gave alike, but for names and layout; not the known ones."""
    expected_items = {item for texts in expected for item in _tokens(texts, written).items()}
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for student, texts in texts_of.items():
        for item in _tokens(texts, written).items():
            alike.setdefault(item, []).append(student)
    usual = usual_from(len(texts_of))
    common = [
        (item[0], who) for item, who in alike.items() if len(who) > usual and item not in expected_items
    ]
    return sorted(common, key=lambda entry: -len(entry[1]))


def usual_from(students: int) -> int:
    """A phrase that more students than this have in common counts as usual."""
    return max(USUAL_COUNT, int(USUAL_SHARE * students))


def _groups(students: list[str], pairs: list[SimilarPair]) -> list[Group]:
    places = {student: place for place, student in enumerate(students)}
    ends = np.array([[places[student] for student in pair.students] for pair in pairs]).T
    links = coo_array((np.ones(len(pairs)), tuple(ends)), shape=(len(students), len(students)))
    _, group_of = connected_components(links, directed=False)
    groups: dict[int, list[SimilarPair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.share, pair.phrases), reverse=True):
        groups.setdefault(group_of[places[pair.students[0]]], []).append(pair)
    members = {group: [s for s in students if group_of[places[s]] == group] for group in groups}
    named = [Group(tuple(members[group]), tuple(linked)) for group, linked in groups.items()]
    return sorted(named, key=lambda group: group.pairs[0].phrases, reverse=True)


def phrases(texts: CellTexts, written: Collection[str]) -> set[Phrase]:
    """Every run of LENGTH tokens in each cell."""
    runs = set()
    for cell, tokens in _tokens(texts, written).items():
        runs |= {(cell, *tokens[place : place + LENGTH]) for place in range(len(tokens) - LENGTH + 1)}
    return runs


def _tokens(texts: CellTexts, written: Collection[str]) -> dict[str, tuple[str, ...]]:
    short = {cell: text[: LONGEST["compared"]] for cell, text in texts.items()}
    return {
        cell: _word_tokens(text) if cell in written else code_tokens(text) for cell, text in short.items()
    }


def _word_tokens(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", look(text).lower()))


def look(text: str) -> str:
    """The text with one letter for all that look like it, and without signs that nobody sees."""
    plain = unicodedata.normalize("NFKC", text).translate(LOOKS_LIKE)
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")


@lru_cache(maxsize=10_000)  # the release's own cells and common answers come again and again
def code_tokens(code: str) -> tuple[str, ...]:
    """The tokens of normalised code; of code that is no Python those that can be told apart."""
    return tuple(look(token) for token in _tokens_of(code, 0))


def _tokens_of(code: str, depth: int) -> Iterator[str]:
    try:
        tree = parse(code)
        lines = io.StringIO(ast.unparse(_Plain(tree).visit(tree))).readline
        tokens = [token for token in tokenize.generate_tokens(lines) if token.string.strip()]
    except UNREADABLE:
        yield from re.findall(r"\w+|[^\w\s]", re.sub(r"#.*", "", code))
        return
    for token in tokens:
        inner = _code_in(token.string) if token.type == tokenize.STRING and depth < DEEPEST else ""
        if inner:
            yield from _tokens_of(inner, depth + 1)
        else:
            yield token.string


def _code_in(literal: str) -> str:
    """The text of a string that holds statements, as those for `exec` do; otherwise ""."""
    try:
        text = ast.literal_eval(literal)
        if not isinstance(text, str) or len(text) < LONGEST_STRING:
            return ""
        text = textwrap.dedent(text)
        nodes = list(ast.walk(parse(text)))
        runs = any(isinstance(node, ast.Name) and node.id in ("exec", "eval", "compile") for node in nodes)
        return text if runs or any(isinstance(node, STATEMENTS) for node in nodes) else ""
    except UNREADABLE:
        return ""


class _Plain(ast.NodeTransformer):
    """Takes away docstrings, annotations, tuples around assignments, and the names that the code itself gives.

    A function's variables are its own: what another one calls so stays what it was.
    """

    def __init__(self, tree: ast.Module):
        around = [node for node in tree.body if not isinstance(node, Definition)]
        defined = {node.name for node in ast.walk(tree) if isinstance(node, Definition)}
        self._everywhere = defined | set().union(*map(_names_given, around))
        self.own = self._everywhere

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """Each statement by itself."""
        body: list[ast.stmt] = []
        for statement in node.body:
            self.own = self._everywhere | _names_given(statement)
            body += _as_list(self.visit(statement))
        node.body = body
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """`a, b = x, y` and `(a,) = (x,)` are assignments one after the other."""
        self.generic_visit(node)
        if len(node.targets) == 1:
            pairs = _pairs(node.targets[0], node.value)
            if pairs:
                return [self._assigned(target, value) for target, value in pairs]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """An assignment, or a declaration, which says nothing."""
        self.generic_visit(node)
        return self._assigned(node.target, node.value) if node.value else None

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`(x,)[0]` is x."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Tuple(elts=parts) | ast.List(elts=parts), slice=ast.Constant(value=int(place))
            ) if 0 <= place < len(parts) and not any(isinstance(part, ast.Starred) for part in parts):
                return parts[place]
        return node

    @staticmethod
    def _assigned(target: ast.expr, value: ast.expr) -> ast.Assign:
        return ast.Assign([target], value, lineno=0)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx) if node.id in self.own else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = "_", None
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A string put together of pieces is one."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(
                left=ast.Constant(value=str(left)), op=ast.Add(), right=ast.Constant(value=str(right))
            ):
                return ast.Constant(left + right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """So is one that is joined of them."""
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(glue)), attr="join"),
                args=[ast.List(elts=parts) | ast.Tuple(elts=parts)],
            ):
                values = [part.value for part in parts if isinstance(part, ast.Constant)]
                pieces = [value for value in values if isinstance(value, str)]
                if len(pieces) == len(parts):
                    return ast.Constant(glue.join(pieces))
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.NamedExpr):  # (a := x)
            return self.visit(self._assigned(node.value.target, node.value.value))
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else self.generic_visit(node)


def _names_given(statement: ast.AST) -> set[str]:
    """The names that a statement gives to values, functions and arguments; not one that it gives to what has it already."""
    nodes = list(ast.walk(statement))
    same = {id(part) for node in nodes if isinstance(node, ast.Assign) for part in _to_themselves(node)}
    names = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in same
    }
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _to_themselves(node: ast.Assign) -> Iterator[ast.expr]:
    """The targets of `torch = torch`, in a tuple or alone."""
    for target in node.targets:
        for part, value in _pairs(target, node.value) or [(target, node.value)]:
            if isinstance(part, ast.Name) and isinstance(value, ast.Name) and part.id == value.id:
                yield part


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What is assigned to what by a tuple on each side; nothing where that cannot be told."""
    sides = ast.Tuple | ast.List
    if not (isinstance(target, sides) and isinstance(value, sides)):
        return []
    if any(isinstance(part, ast.Starred) for part in value.elts):
        return []
    targets = [part for part in target.elts if not isinstance(part, ast.Starred)]
    if len(targets) != len(value.elts) or target.elts[: len(targets)] != targets:
        return []
    pairs = zip(targets, value.elts, strict=True)
    return [inner for part, given in pairs for inner in _pairs(part, given) or [(part, given)]]


def _as_list(found: ast.AST | list[ast.stmt] | None) -> list[Any]:
    return found if isinstance(found, list) else [found] if found is not None else []
