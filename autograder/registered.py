"""The registered release: the release, with the hidden tests that nbgrader took out of it put back."""

from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.source import is_task


def registered_release(assignment: Assignment) -> NotebookNode:
    """The notebook whose cells nbgrader registers, and from which submissions are restored.

    Where all checks are our own, it is the release, which has every cell whole. Raises CourseError where the release
    is not what its source gives.
    """
    release = assignment.read_release()
    if assignment.test_cells(release) or any(is_task(cell) for cell in release.cells):
        from autograder.generating import require_current  # start-up: nbgrader, and most releases do without

        return require_current(assignment).cells
    return release
