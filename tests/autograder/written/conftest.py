"""A class of nine for all tests of the desk, with answers to the first question of 02."""

import shutil

import pytest

from autograder.course import Assignment
from autograder.written.answers import WrittenAnswers
from autograder.written.desk import Desk
from autograder.written.questions import read_questions
from tests.autograder.written.class_of import NAME, QUESTION, make_course, record

MIXTURE = "Embeddings mix all senses of a word, and its neighbours say which one is meant."
EXAMPLES = "In 'the bank of the river' the river settles it; in 'a bank I learned of' nothing does."
TEXTS = {
    "ada": MIXTURE,
    "bob": f"  {MIXTURE.upper()}",  # a copy
    "cem": MIXTURE.replace("Embeddings", "The embeddings"),  # nearly one
    "dua": MIXTURE,
    "eva": EXAMPLES,
    "fay": EXAMPLES.replace("learned", "learnt"),
    "gil": "",
    "hao": "I like turtles and the sea.",
    "<b>ian": "<img src=x onerror=alert(1)> 1 & 2",
}


@pytest.fixture(scope="session")
def class_of_nine(tmp_path_factory):
    """To be read only."""
    assignment = make_course(tmp_path_factory.mktemp("written") / "course")
    record(assignment, TEXTS)
    return assignment


@pytest.fixture
def nine(class_of_nine, tmp_path) -> Assignment:
    """A copy that a test may change."""
    shutil.copytree(class_of_nine.root, tmp_path / "course")
    return Assignment(tmp_path / "course", NAME)


@pytest.fixture
def new_desk(nine):
    """Each call is another program at the same desk."""

    def sit_down() -> Desk:
        question = next(one for one in read_questions(nine) if one.name == QUESTION)
        return Desk(nine, question, WrittenAnswers(nine), None)

    return sit_down


@pytest.fixture
def desk(new_desk) -> Desk:
    return new_desk()
