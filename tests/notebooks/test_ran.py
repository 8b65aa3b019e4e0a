"""What is remembered of a notebook's run is forgotten with anything that the run depends on."""

import shutil

import pytest

from tests.conftest import ASSIGNMENTS, ROOT
from tests.notebooks import ran

NAME = "02_attention"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A copy of the course's files, for which the digest is made anew each time."""
    for folder in (*ran.USED, "solutions", "notebooks"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    for file in ("constraints.txt", "nbgrader_config.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    monkeypatch.setattr(ran, "ROOT", tmp_path)
    monkeypatch.setattr(ran, "FOLDER", tmp_path / "tests" / "notebooks" / "ran")
    shutil.rmtree(ran.FOLDER, ignore_errors=True)
    one = ASSIGNMENTS[NAME]
    monkeypatch.setitem(ran.ASSIGNMENTS, NAME, type(one)(tmp_path, NAME))
    for cached in (ran._common, ran.digest_of):
        monkeypatch.setattr(ran, cached.__name__, cached.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [
        f"solutions/{NAME}/{NAME}.py",
        f"solutions/{NAME}/exercises.py",
        f"notebooks/{NAME}/{NAME}.ipynb",
        "coursekit/plots.py",
        "autograder/checks/judging.py",
        "data/senses/senses.csv",
        "tests/notebooks/test_attention_claims.py",
        "constraints.txt",
    ],
)
def test_it_is_forgotten_with_what_it_depends_on(world, path):
    assert not ran.has_passed(NAME)
    ran.remember(NAME)
    assert ran.has_passed(NAME)
    file = world / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert not ran.has_passed(NAME)


def test_another_notebook_s_source_changes_nothing(world):
    ran.remember(NAME)
    other = world / "solutions" / "03_transformer_layer" / "03_transformer_layer.py"
    other.write_text(other.read_text() + "\n")
    assert ran.has_passed(NAME)


def test_only_a_notebook_whose_tests_all_passed_is_remembered(pytester, monkeypatch):
    """Tried with a suite of two notebooks, one of which fails once."""
    pytester.makeconftest(
        """
        import pytest
        from tests.notebooks import ran
        from pathlib import Path

        ran.HERE, ran.FOLDER = Path(__file__).parent, Path(__file__).parent / "ran"
        ran.digest_of = lambda name: name
        ran.ASSIGNMENTS = {"01_a": None, "02_b": None}

        def pytest_collection_modifyitems(config, items):
            config.pluginmanager.register(ran.Remembering(items))
        """
    )
    pytester.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.slow

        @pytest.mark.parametrize("name", ["01_a", "02_b"])
        def test_one(name): pass

        @pytest.mark.parametrize("name", ["01_a", "02_b"])
        def test_two(name): assert name == "01_a"
        """
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.runpytest_subprocess("-p", "no:xdist", "-q").assert_outcomes(passed=3, failed=1)
    assert [path.name for path in (pytester.path / "ran").iterdir()] == ["01_a"]
