"""The lists of the website agree with the notebooks: every reference is listed and linked, every term is used."""

import ast
import re
from collections import Counter
from functools import cache

import pytest

from autograder.source import is_solution, used_from
from tests.conftest import ASSIGNMENTS, ROOT, solution_of

NAMES = {name.partition("_")[0]: name for name in ASSIGNMENTS}
BOOK = ROOT / "docs" / "book"
NOTEBOOKS = re.compile(r"\{nb\}`(\d\d|project)`")
ENTRY = re.compile(r"^(?P<authors>.+?) \((?P<year>[^()]+)\)\. (?P<title>.+?[.?!])(?: |$)")


def entries(text: str) -> list[str]:
    """The items of a Markdown list, each on one line."""
    return [" ".join(item.split()) for item in re.findall(r"(?m)^- (.+(?:\n  .+)*)", text)]


def key(entry: str) -> tuple[str, str]:
    """Year and title, by which a reference is recognised wherever it stands."""
    found = ENTRY.match(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", entry))
    assert found, f"not of the form 'Authors (year). Title.': {entry}"
    year = re.sub(r"(?<=\d)[a-z]$", "", found["year"])  # 2013a in one notebook may be 2013 in another
    return year, " ".join(re.findall(r"\w+", found["title"].lower()))


@cache
def references_of(name: str) -> dict[tuple[str, str], str]:
    cells = solution_of(name).cells
    sections = [cell.source for cell in cells if cell.source.startswith("## References")]
    return {key(entry): entry for section in sections for entry in entries(section)}


LISTED = {key(entry): entry for entry in entries((BOOK / "references.md").read_text())}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_reference_of_a_notebook_is_listed_with_its_number(name):
    cited = references_of(name)
    assert cited, "a notebook without references"
    number = name.partition("_")[0]
    missing = [entry for one, entry in cited.items() if number not in NOTEBOOKS.findall(LISTED.get(one, ""))]
    assert missing == [], f"add these to docs/book/references.md, with {{nb}}`{number}` behind them"


def test_every_listed_reference_has_a_link_and_is_used_where_it_says():
    for one, entry in LISTED.items():
        assert re.search(r"\]\(https://[^)]+\)", entry), entry
        numbers = NOTEBOOKS.findall(entry)
        assert numbers == sorted(set(numbers)) and numbers, entry
        unused = [n for n in numbers if n not in NAMES or one not in references_of(NAMES[n])]
        assert unused == [], entry


def test_references_are_in_order():
    for section in (BOOK / "references.md").read_text().split("\n## ")[1:]:
        authors = [entry.partition(" (")[0].lower().replace("i̇", "i") for entry in entries(section)]
        surnames = [author.partition(",")[0] for author in authors]
        assert surnames == sorted(surnames)


TERM = re.compile(r"(?m)^## (.+)\n\n(.+)$")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def terms() -> list[tuple[list[str], str]]:
    """Each entry of the glossary: its terms, and what is said of them."""
    return [
        (names.split(", "), text) for names, text in TERM.findall((ROOT / "docs" / "glossary.md").read_text())
    ]


def test_terms_are_in_order_and_their_links_lead_to_terms():
    titles = [", ".join(names) for names, _ in terms()]
    assert titles == sorted(set(titles), key=str.lower)
    anchors = {re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-") for title in titles}
    for title, (_, text) in zip(titles, terms(), strict=True):
        within = {target[1:] for _, target in LINK.findall(text) if target.startswith("#")}
        assert within <= anchors, title


def test_every_term_is_explained_in_one_to_three_sentences():
    assert len(terms()) > 90
    for names, text in terms():
        *_, (number, notebook) = LINK.findall(text)
        assert notebook == f"../notebooks/{NAMES[number]}/{NAMES[number]}.ipynb"
        said = LINK.sub(r"\1", text).removesuffix(number).replace("f(w, C)", "").strip()
        assert said[-1] in ".?" and 1 <= len(re.findall(r"[.?](?= [A-Z]|$)", said)) <= 3, names


@cache
def read_in(name: str) -> str:
    """What a student reads in a notebook: its text and what code writes as text, without answers and references."""
    cells = [
        cell
        for cell in solution_of(name).cells
        if not is_solution(cell) and not cell.source.startswith("## References")
    ]
    text = [cell.source for cell in cells if cell.cell_type == "markdown"]
    written = [written_as_text(cell.source) for cell in cells if cell.cell_type == "code"]
    return re.sub(r"[*`\[\]\s]+", " ", "\n".join(text + written))


def written_as_text(code: str) -> str:
    """The words of all Markdown that some code displays, without the numbers that are filled in."""
    calls = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Markdown"
    ]
    constants = [node.value for call in calls for node in ast.walk(call) if isinstance(node, ast.Constant)]
    return " ".join(value for value in constants if isinstance(value, str))


def stands_in(term: str, text: str) -> bool:
    """Whether the term occurs as a word of its own, in the singular or the plural, or its bracketed abbreviation."""
    written_out, _, short = term.removesuffix(")").partition(" (")
    return any(
        re.search(rf"(?<!\w)(?:{'|'.join(numbers(one))})(?!\w)", text, re.I)
        for one in (written_out, short)
        if one
    )


def numbers(term: str) -> list[str]:
    """Patterns for a term's singular and its plural; a hyphen may stand for a space."""
    stem = re.sub(r"ies$", "y", term) if term.endswith("ies") else re.sub(r"(?<!s)s$", "", term)
    both = (term, stem, f"{stem}s", f"{stem}es", re.sub(r"y$", "ies", stem))
    return [r"[-\s]".join(map(re.escape, re.split(r"[-\s]", one))) for one in dict.fromkeys(both)]


def test_a_term_of_the_glossary_is_found_in_either_number_and_by_its_abbreviation_only():
    for term, text in {
        "query": "The queries ask.", "queries": "One query asks.", "loss": "two losses", "Siamese network": "siamese networks",
        "next-sentence prediction (NSP)": "trained with NSP,", "masked language model (MLM)": "a Masked Language-Model",
    }.items():  # fmt: skip
        assert stands_in(term, text), term
    for term, text in {
        "mask": "a masked word", "subword": "a part of a word", "nat": "natural", "span": "Spanish",
        "masked language model (MLM)": "a language model with masked words",
    }.items():  # fmt: skip
        assert not stands_in(term, text), term


@pytest.mark.slow
def test_each_term_of_the_glossary_stands_in_the_text_of_the_notebook_that_it_names():
    missing = []
    for names, text in terms():
        *_, (number, _) = LINK.findall(text)
        missing += [(name, number) for name in names if not stands_in(name, read_in(NAMES[number]))]
    assert missing == [], (
        "use the term in the text of that notebook, or correct its entry in docs/glossary.md"
    )


THREADS = re.compile(r"/(?:issues|pull)/\d+|Issues? [\d, and]+")


def said_in(name: str) -> str:
    """What a notebook says, in words and in code, without its references; on one line."""
    cells = [cell.source for cell in solution_of(name).cells]
    return " ".join(" ".join(cell for cell in cells if not cell.startswith("## References")).split())


def is_cited(entry: str, year: str, said: str) -> bool:
    """A discussion by its number; a paper by its first author beside the year, in either order."""
    numbers = re.findall(r"\d+", " ".join(THREADS.findall(entry)))
    if numbers:
        return all(re.search(rf"(?:issues?|pull requests?)\b[^.]*\b{number}\b", said) for number in numbers)
    author = re.escape(re.split(r",| et al| and | \(", entry)[0])
    return bool(re.search(rf"{author}\b.{{0,60}}{year}|{year}.{{0,60}}\b{author}\b", said))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_reference_is_cited_where_it_is_used(name):
    said = said_in(name)
    silent = [entry for (year, _), entry in references_of(name).items() if not is_cited(entry, year, said)]
    assert silent == [], "cite these in the notebook, or take them off its list"


def module_of(dotted: str) -> str:
    """Where a name is defined or passed on: coursekit.small for coursekit.small.load."""
    path = ROOT.joinpath(*dotted.split("."))
    return (
        dotted if path.is_dir() or path.with_suffix(".py").is_file() else module_of(dotted.rpartition(".")[0])
    )


@pytest.mark.slow
def test_the_reference_describes_what_more_than_one_notebook_imports():
    imported = Counter(
        module
        for name in ASSIGNMENTS
        for module in {module_of(dotted) for dotted in used_from(["coursekit"], solution_of(name))}
    )
    described = re.findall(r"automodule:: (\S+)", (ROOT / "docs/book/api/coursekit.rst").read_text())
    assert len(described) == len(set(described))
    assert set(described) == {
        module
        for module, notebooks in imported.items()
        if notebooks > 1 and not module.startswith("coursekit.pictures")
    }
