"""`nbgrader release_feedback` for a class of which only some handed in through the exchange."""

import pytest
from nbgrader.apps import NbGraderAPI

from autograder.gradebook.feedback import page_of
from autograder.settings import course_directory, load
from tests.autograder.here import NAME


def release(course, exchange) -> dict:
    config = load(course)
    config.Exchange.root = str(exchange)
    return NbGraderAPI(course_directory(course), config=config).release_feedback(NAME)


@pytest.mark.slow
def test_who_is_not_in_the_exchange_is_named_and_the_others_get_theirs(small, tmp_path):
    for student in ("ada", "bob", "cem"):
        page = page_of(small.assignment, student)
        page.parent.mkdir(parents=True)
        page.write_text(student)
    # and no timestamp
    (page_of(small.assignment, "ada").parent / "submission_secret.txt").write_text("secret")
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    answer = release(small.root, exchange)
    assert answer["success"], answer
    assert "bob, cem" in answer["log"] and "autograder feedback" in answer["log"]
    (released,) = exchange.rglob("*.html")
    assert released.read_text() == "ada"
