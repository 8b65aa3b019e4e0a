"""One spelling, British, in all that people read: prose, hints, texts of figures and errors, guides and cards of data."""

import ast
import re

import pytest

from tests.conftest import ASSIGNMENTS, ROOT, solution_of
from tests.tools.book.test_lists import written_as_text

AMERICAN = (
    *(
        "learnt",
        "optimizers?",
        "toward",
        "judgments?",
        "artifacts?",
        "fulfill",
        "skeptical",
        "defense",
        "catalogs?",
    ),
    *(
        "behaviors?",
        "colors?",
        "colored",
        "coloring",
        "colorful",
        "neighbor(s|ing|hoods?)?",
        "favor(s|ed|ite|able)?",
    ),
    *("centered", "grays?", "model(ed|ing)", "(un)?label(ed|ing)", "(anal|catal)yz(es?|ed|ing)"),
    r"\w{3,}iz(es|ed|ing|ations?)",
    "(general|initial|maxim|memor|minim|normal|optim|organ|real|recogn|special|summar|token)ize",
)
"""Forms that the course spells otherwise. The field's "tokenizer" stays, and so does "learned"."""
FORMS = re.compile(rf"\b({'|'.join(AMERICAN)})\b", re.IGNORECASE)
HOUSE = {"sized", "prized", "seized", "downsized", "resized", "resizing", "capsized", "horizons"}

NO_ENGLISH = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+|\$[^$]*\$|\"[^\"]*\"|“[^”]*”|<[^>]*>", re.DOTALL
)
"""Code, links, formulas, marks of HTML, and what is quoted of others or of the generated language."""


def american(text: str) -> list[str]:
    found = (match.group().lower() for match in FORMS.finditer(NO_ENGLISH.sub(" ", text)))
    return [word for word in found if word not in HOUSE]


def test_the_list_finds_what_it_is_for():
    text = "The optimizer learnt gray colors and normalized behavior; we analyze and tokenize neighbors."
    assert len(american(text)) == 9
    assert american("The optimiser learned grey colours: normalised behaviour, sized, a tokenizer.") == []
    assert american('`color="gray"`, [a link](https://analyzed.org/color) and "their behavior"') == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_what_a_notebook_says_is_british(name):
    cells = solution_of(name).cells
    prose = [
        cell for cell in cells if cell.cell_type == "markdown" and not cell.source.startswith("## References")
    ]
    written = [written_as_text(cell.source) for cell in cells if cell.cell_type == "code"]
    assert len(prose) > 20
    assert american("\n\n".join([*(cell.source for cell in prose), *written])) == []


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_hints_are_british(name):
    exercises = ASSIGNMENTS[name].exercises
    hints = {place: text for place, exercise in exercises.items() for text in exercise.hints}
    mistakes = {
        (place, mistake.name): mistake
        for place, exercise in exercises.items()
        for mistake in exercise.mistakes
    }
    assert len(hints) == len(exercises) and len(mistakes) > 20
    texts = [text for exercise in exercises.values() for text in exercise.hints]
    texts += [text for mistake in mistakes.values() for text in (mistake.name, mistake.hint)]
    assert {text: american(text) for text in texts if american(text)} == {}


def sentences_in(code: str) -> list[str]:
    """The constants of some code that it shows as text: several words, neither docstrings nor marks of HTML."""
    nodes = list(ast.walk(ast.parse(code)))
    by_themselves = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in by_themselves]
    return [text for text in texts if isinstance(text, str) and text.count(" ") >= 2 and "<" not in text]


@pytest.mark.slow
def test_what_the_course_s_package_says_is_british():
    """Texts of figures and errors; not those of the language, whose words are its own, and no words that are cut into subwords."""
    own = ("language/", "pictures/subwords.py")
    files = [
        file for file in (ROOT / "coursekit").rglob("*.py") if not any(part in str(file) for part in own)
    ]
    texts = [(file.name, text) for file in files for text in sentences_in(file.read_text())]
    assert len(texts) > 500
    assert [(file, text) for file, text in texts if american(text)] == []


GUIDES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "autograder/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "data").glob("*/README.md")),
]


def test_guides_and_cards_are_british():
    assert {file: american(file.read_text()) for file in GUIDES if american(file.read_text())} == {}
