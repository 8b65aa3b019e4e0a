"""One graded class for all tests of what an instructor does afterwards."""

import os
import shutil

import pytest

from autograder.gradebook.gradebook import register
from autograder.jail.outside.client import find_problem
from tests.autograder import here, killing
from tests.autograder.small_class import Class, make_class, use_light_server


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory) -> Class:
    """To be read only."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_light_server(monkeypatch)
        return make_class(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def own_class(graded_class, tmp_path, monkeypatch) -> Class:
    """A copy that a test may change and grade again. The test runs in its course folder."""
    use_light_server(monkeypatch)
    shutil.copytree(graded_class.course, tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return Class(tmp_path / "course", graded_class.failing)


@pytest.fixture(scope="session")
def small_course(tmp_path_factory) -> here.Course:
    """The small course, built and registered: to be copied, not to be changed."""
    course = here.make_small_course(tmp_path_factory.mktemp("small") / "course")
    register(course.assignment)
    return course


@pytest.fixture
def small(small_course, tmp_path, monkeypatch) -> here.Course:
    """A small course of its own. Whatever grades in it does so in this process."""
    return here.own_copy(small_course, tmp_path / "course", monkeypatch)


@pytest.fixture(scope="session")
def graded_courses() -> dict[str, here.Course]:
    return {}


@pytest.fixture
def graded_copy(small_course, graded_courses, tmp_path_factory, tmp_path, monkeypatch):
    """graded_copy(ada={}, bob={"total": "…"}): the small course in which these have been graded once, for the test to change."""

    def copy(**answers: dict[str, str]) -> here.Course:
        if (students := repr(answers)) not in graded_courses:
            with pytest.MonkeyPatch.context() as meanwhile:
                course = here.own_copy(small_course, tmp_path_factory.mktemp("graded") / "course", meanwhile)
                for student, cells in answers.items():
                    course.hand_in(student, **cells)
                course.grade_class()
            graded_courses[students] = course
        return here.own_copy(graded_courses[students], tmp_path / "course", monkeypatch)

    return copy


@pytest.fixture(scope="session")
def ten(tmp_path_factory) -> killing.Class:
    return killing.Class(tmp_path_factory.mktemp("ten") / "course")


@pytest.fixture
def kind(ten) -> killing.Class:
    """Ten submissions of which nothing is graded yet."""
    ten.forget()
    return ten


@pytest.fixture(scope="session")
def jail_possible() -> None:
    """Skips where the system forbids jails; never in CI, where that would hide a broken one."""
    problem = find_problem()
    if problem and not os.environ.get("CI"):
        pytest.skip(problem)
