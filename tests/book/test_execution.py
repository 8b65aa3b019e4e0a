"""A run is kept until code changes: prose does not count."""

import pytest

from autograder.course import Assignment
from autograder.errors import CourseError
from tools.book.execution import execute

pytestmark = pytest.mark.slow

SOURCE = "# %% [markdown]\n# # {title}\n\n# %%\n{code}\n"


@pytest.fixture
def course(tmp_path):
    """A course of one small notebook; returns how to write it, and the assignment."""
    for folder in ("solutions/01_small", "notebooks", "coursekit", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "constraints.txt").write_text("")
    one = Assignment(tmp_path, "01_small")

    def write(title: str, code: str) -> Assignment:
        one.source.write_text(SOURCE.format(title=title, code=code))
        return one

    return write


def test_prose_is_rewritten_without_a_new_run_and_code_is_not(course, tmp_path):
    store = tmp_path / "store"
    random = "import os; print(os.urandom(8).hex())"

    def shown(title: str, code: str) -> str:
        run = execute([course(title, code)], store)["01_small"]
        return run.cells[1].outputs[0].text

    first = shown("A title", random)
    assert shown("Another title", random) == first
    assert shown("Another title", random + "  # changed") != first
    (tmp_path / "coursekit" / "new.py").write_text("")
    assert shown("Another title", random + "  # changed") != first
    assert len(list(store.iterdir())) == 1, "one run is kept for each notebook"


def test_a_notebook_that_stops_is_named_and_nothing_is_kept(course, tmp_path):
    with pytest.raises(CourseError, match="01_small stops with an error(.|\\n)*ZeroDivisionError"):
        execute([course("A title", "1 / 0")], tmp_path / "store")
    assert list((tmp_path / "store").glob("*")) == []
