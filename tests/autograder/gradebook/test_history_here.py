"""The history that is kept of each student, in the small course."""

import pytest
from nbformat.v4 import new_code_cell

from autograder.gradebook.history import History, read_history

MEAN = "def total(values):\n    return values.mean()"
HELPER = "def doubled(values):\n    return 2 * values"


@pytest.fixture
def graded(small):
    """graded(...) hands in a notebook for ada, grades it and returns her history."""

    def grade(*notebook, fresh=False, **cells) -> History:
        small.hand_in("ada", *notebook, **cells)
        small.grade_class(fresh=fresh)
        return read_history(small.assignment, "ada")

    return grade


@pytest.mark.slow
def test_each_file_is_one_hand_in_however_often_it_is_graded(graded):
    first = graded(total=MEAN).hand_ins
    both = graded().hand_ins
    assert both[:1] == first and len(both) == 2
    assert graded().hand_ins == graded(fresh=True).hand_ins == both
    again = graded(total=MEAN)
    assert again.hand_ins == (*both, *first)
    assert again.attempts("steps-total") == 2


def test_own_cells_are_kept_and_those_of_the_release_are_not(small, graded):
    notebook = small.perfect
    notebook.cells.insert(1, new_code_cell(HELPER))
    assert graded(notebook).added == HELPER
