"""Tests that have passed are not run again before something changes, and nothing is remembered that has not been seen."""

import pytest

from tests import kept

SUITE = """
import pytest
pytestmark = pytest.mark.slow

@pytest.mark.parametrize("name", ["01_a", "02_b"])
def test_one(name): pass

@pytest.mark.parametrize("name", ["01_a", "02_b"])
def test_two(name): assert name == "01_a"
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """suite(*arguments) runs tests of two notebooks, one of which fails once, and gives the outcomes and what is remembered."""
    pytester.makeconftest(
        """
        from pathlib import Path
        from tests import kept

        HERE = Path(__file__).parent
        KEPT = kept.Kept(HERE, frozenset([HERE / "test_two.py"]), lambda name: (HERE / "digest").read_text())

        def pytest_collection_modifyitems(config, items):
            KEPT.apply(config, items)
        """
    )
    pytester.makepyfile(test_two=SUITE)
    (pytester.path / "digest").write_text("one")
    monkeypatch.setattr(kept, "ASSIGNMENTS", {"01_a": None, "02_b": None})
    monkeypatch.delenv("CI", raising=False)

    def run(*arguments):
        result = pytester.runpytest_inprocess("-p", "no:xdist", "-q", *arguments)
        outcomes = result.parseoutcomes()
        outcomes.pop("warning", outcomes.pop("warnings", 0))
        return outcomes, sorted(path.name for path in (pytester.path / "ran").glob("*"))

    return run


def test_only_a_notebook_whose_tests_all_passed_is_remembered_until_something_changes(suite, pytester):
    assert suite() == ({"passed": 3, "failed": 1}, ["01_a"])
    assert suite() == ({"skipped": 2, "passed": 1, "failed": 1}, ["01_a"])
    (pytester.path / "digest").write_text("another")
    assert suite()[0] == {"passed": 3, "failed": 1}


def test_a_part_of_the_tests_is_not_remembered_as_all_of_them(suite):
    assert suite("test_two.py::test_one") == ({"passed": 2}, [])
    assert suite("-k", "one") == ({"passed": 2, "deselected": 2}, [])


def test_of_tests_that_are_not_run_nothing_is_asked(suite, pytester):
    suite()
    (pytester.path / "digest").unlink()
    assert suite("-m", "not slow") == ({"deselected": 4}, ["01_a"])


def test_nothing_is_believed_where_somebody_says_so(suite, monkeypatch):
    suite()
    monkeypatch.setenv("KEPT", "none")
    assert suite()[0] == {"passed": 3, "failed": 1}


def test_continuous_integration_tries_each_again_every_few_days():
    names, at_home, elsewhere = range(12), {}, {"CI": "true"}
    for place in names:
        assert kept.believed(place, at_home, 0)
        days = [kept.believed(place, elsewhere, day) for day in range(1000, 1000 + kept.TURNS)]
        assert days.count(False) == 1
    for day in range(kept.TURNS):
        assert sum(not kept.believed(place, elsewhere, day) for place in names) == 12 / kept.TURNS
