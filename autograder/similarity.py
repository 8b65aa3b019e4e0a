"""Submissions that share what is unusual, in groups for a person to judge.

An answer is cut into phrases: runs of tokens of normalised code (no comments, docstrings, annotations, layout or
names of the student's own), or of words of a written answer. Phrases of the release, of our solutions, alternatives
and mistakes, and those that many in the class share, do not count. The idea is that of MOSS (Schleimer, Wilkerson
and Aiken, Winnowing, SIGMOD 2003), without the thinning that only long programs need.
"""

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer

LENGTH = 5  # tokens of a phrase
USUAL_SHARE, USUAL_COUNT = 0.05, 5  # a phrase that more of the class have, and more students, does not count
LEAST_PHRASES = 40  # that two must share,
LEAST_CELLS, LEAST_IN_CELL = 2, 8  # in so many cells so many at least,
LEAST_SHARE = 0.5  # and so much of what is unusual in the one that has less of it

Answers = Mapping[str, str]  # {cell: text}
Phrase = tuple[str, ...]  # the cell and the tokens


@dataclass(frozen=True)
class Pair:
    """Two that share much."""

    students: tuple[str, str]
    phrases: int
    share: float  # of what is unusual in the one that has less of it
    cells: tuple[str, ...]  # where they share much, most first


@dataclass(frozen=True)
class Group:
    """Those whom pairs connect; the closest pair comes first."""

    students: tuple[str, ...]
    pairs: tuple[Pair, ...]


def find_groups(
    answers: Mapping[str, Answers], known: Iterable[Answers], written: Collection[str]
) -> list[Group]:
    """Groups among the students in `answers`.

    `known` are texts that everybody has or that we expect; `written` are the cells that hold prose.
    """
    expected = {phrase for texts in known for phrase in phrases(texts, written)}
    own = [phrases(texts, written) - expected for texts in answers.values()]
    spread = Counter(chain.from_iterable(own))
    usual = usual_from(len(answers))
    rare = [{phrase for phrase in some if spread[phrase] <= usual} for some in own]
    if not any(rare):
        return []
    counts = CountVectorizer(analyzer=list, dtype=np.int32).fit_transform(rare)
    together = coo_array(counts @ counts.T)
    totals = np.array([len(some) for some in rare])
    fewer = np.minimum(totals[together.row], totals[together.col])
    near = (together.row < together.col) & (together.data >= np.maximum(LEAST_PHRASES, LEAST_SHARE * fewer))
    students, pairs = list(answers), []
    for one, other in zip(together.row[near], together.col[near], strict=True):
        shared = rare[one] & rare[other]
        cells = Counter(phrase[0] for phrase in shared)
        much = tuple(cell for cell, count in cells.most_common() if count >= LEAST_IN_CELL)
        if len(much) >= LEAST_CELLS:
            share = len(shared) / min(len(rare[one]), len(rare[other]))
            pairs.append(Pair((students[one], students[other]), len(shared), share, much))
    return _groups(students, pairs) if pairs else []


def find_common(
    answers: Mapping[str, Answers], known: Iterable[Answers], written: Collection[str]
) -> list[tuple[str, list[str]]]:
    """Answers to a cell that more students than are usual gave alike, but for names and layout; not the known ones."""
    expected = {item for texts in known for item in _tokens(texts, written).items()}
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for student, texts in answers.items():
        for item in _tokens(texts, written).items():
            alike.setdefault(item, []).append(student)
    usual = usual_from(len(answers))
    found = [(item[0], who) for item, who in alike.items() if len(who) > usual and item not in expected]
    return sorted(found, key=lambda one: -len(one[1]))


def usual_from(students: int) -> int:
    """A phrase that more students than this have in common counts as usual."""
    return max(USUAL_COUNT, int(USUAL_SHARE * students))


def _groups(students: list[str], pairs: list[Pair]) -> list[Group]:
    places = {student: place for place, student in enumerate(students)}
    ends = np.array([[places[student] for student in pair.students] for pair in pairs]).T
    links = coo_array((np.ones(len(pairs)), tuple(ends)), shape=(len(students), len(students)))
    _, group_of = connected_components(links, directed=False)
    groups: dict[int, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.share, pair.phrases), reverse=True):
        groups.setdefault(group_of[places[pair.students[0]]], []).append(pair)
    members = {group: [s for s in students if group_of[places[s]] == group] for group in groups}
    found = [Group(tuple(members[group]), tuple(several)) for group, several in groups.items()]
    return sorted(found, key=lambda group: group.pairs[0].phrases, reverse=True)


def phrases(texts: Answers, written: Collection[str]) -> set[Phrase]:
    """Every run of LENGTH tokens in each cell."""
    found = set()
    for cell, tokens in _tokens(texts, written).items():
        found |= {(cell, *tokens[place : place + LENGTH]) for place in range(len(tokens) - LENGTH + 1)}
    return found


def _tokens(texts: Answers, written: Collection[str]) -> dict[str, tuple[str, ...]]:
    return {cell: words(text) if cell in written else code_tokens(text) for cell, text in texts.items()}


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))


@lru_cache(maxsize=10_000)  # the release's own cells and common answers come again and again
def code_tokens(code: str) -> tuple[str, ...]:
    """The tokens of normalised code; of code that is no Python those that can be told apart."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in a student's strings
            tree = ast.parse(code)
        plain = ast.unparse(_Plain(tree).visit(tree))
        lines = io.StringIO(plain).readline
        return tuple(token.string for token in tokenize.generate_tokens(lines) if token.string.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        without_comments = re.sub(r"#.*", "", code)
        return tuple(re.findall(r"\w+|[^\w\s]", without_comments))


class _Plain(ast.NodeTransformer):
    """Takes away docstrings, annotations and the names that the code itself gives."""

    def __init__(self, tree: ast.AST):
        nodes = list(ast.walk(tree))
        self.own = {
            node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        self.own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx) if node.id in self.own else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = "_", None
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        alone = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if alone else self.generic_visit(node)
