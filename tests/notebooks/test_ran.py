"""What is remembered of a notebook's run is forgotten with anything that the run depends on."""

import shutil

import pytest

from tests.conftest import ASSIGNMENTS, ROOT
from tests.kept import Kept
from tests.notebooks import ran
from tests.reach import Reached

NAME = "02_attention"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What is kept in a copy of the course's files, for which the digest is made anew each time."""
    for folder in (*ran.USED, "solutions", "notebooks"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    for file in ("constraints.txt", "nbgrader_config.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    monkeypatch.setattr(ran, "ROOT", tmp_path)
    monkeypatch.setattr(ran, "FOLDER", tmp_path / "tests" / "notebooks" / "ran")
    shutil.rmtree(ran.FOLDER)
    one = ASSIGNMENTS[NAME]
    monkeypatch.setitem(ran.ASSIGNMENTS, NAME, type(one)(tmp_path, NAME))
    for cached in (ran._files, ran.content, ran.digest_of):
        monkeypatch.setattr(ran, cached.__name__, cached.__wrapped__)
    return Kept(ran.FOLDER.parent, frozenset(), ran.digest_of)


@pytest.mark.parametrize(
    "path",
    [
        f"solutions/{NAME}/{NAME}.py",
        f"solutions/{NAME}/exercises.py",
        f"notebooks/{NAME}/{NAME}.ipynb",
        "coursekit/plots.py",  # by its name in coursekit/__init__.py
        "coursekit/pictures/statistics.py",
        "coursekit/language/grammar.py",  # through others
        "coursekit/vendor/d3-part.min.js",
        "tools/book/notebook.py",
        "tools/jupyterlab/share/jupyter/lab/settings/overrides.json",
        "autograder/checks/comparing.py",
        "data/senses/senses.csv",
        "tests/notebooks/test_attention_claims.py",
        "constraints.txt",
    ],
)
def test_it_is_forgotten_with_what_it_depends_on(world, path):
    assert not world.has_passed(NAME)
    world.remember(NAME)
    assert world.has_passed(NAME)
    file = ran.ROOT / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert not world.has_passed(NAME)


@pytest.mark.parametrize(
    "path",
    [
        "solutions/03_transformer_layer/03_transformer_layer.py",
        "coursekit/pictures/gpt.py",
        "coursekit/novels/corpus.py",
        "data/results/one_corpus.csv",
        "data/timeline/timeline.csv",
        "tests/notebooks/test_gpt_claims.py",
        "tools/student/README.md",
    ],
)
def test_what_nothing_of_it_reaches_changes_nothing(world, path):
    world.remember(NAME)
    file = ran.ROOT / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert world.has_passed(NAME)


def test_what_another_notebook_reaches_counts_there():
    reached = {"07_gpt": "coursekit/pictures/gpt.py", "12_one_corpus": "data/results/one_corpus.csv"}
    for name, path in reached.items():
        one = ran.ASSIGNMENTS[name]
        texts = [one.source.read_text(encoding="utf-8"), one.exercises_file.read_text(encoding="utf-8")]
        assert Reached(ROOT, ran.PACKAGES, texts).decides(path)
