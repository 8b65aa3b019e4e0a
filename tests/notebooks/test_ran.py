"""What is remembered of a notebook's run is forgotten with anything that the run depends on."""

import shutil

import pytest

from tests.conftest import ASSIGNMENTS, ROOT
from tests.kept import Kept
from tests.notebooks import ran
from tests.reach import Reached

NAME = "02_attention"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course's files."""
    folder = tmp_path_factory.mktemp("course")
    for name in (*ran.USED, "solutions", "notebooks"):
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=shutil.ignore_patterns("__pycache__", "ran"),
            dirs_exist_ok=True,
        )
    for name in ("constraints.txt", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def contents():
    """The digests of the files in that copy."""
    return {}


@pytest.fixture
def world(course, contents, monkeypatch):
    """What is kept in the copy, for which the digest is made anew each time."""
    digest = ran.content.__wrapped__
    monkeypatch.setattr(ran, "ROOT", course)
    monkeypatch.setattr(ran, "FOLDER", course / "tests" / "notebooks" / "ran")
    one = ASSIGNMENTS[NAME]
    monkeypatch.setitem(ran.ASSIGNMENTS, NAME, type(one)(course, NAME))
    for cached in (ran._files, ran.digest_of):
        monkeypatch.setattr(ran, cached.__name__, cached.__wrapped__)
    monkeypatch.setattr(
        ran, "content", lambda file: contents.get(file) or contents.setdefault(file, digest(file))
    )
    yield Kept(ran.FOLDER.parent, frozenset(), ran.digest_of)
    shutil.rmtree(ran.FOLDER, ignore_errors=True)


@pytest.fixture
def change(world, contents):
    """change(path) makes a file one byte longer, until the test ends."""
    before = {}

    def longer(path):
        file = ran.ROOT / path
        before[file] = file.read_bytes()
        file.write_bytes(before[file] + b"\n")
        contents.pop(file, None)

    yield longer
    for file, content in before.items():
        file.write_bytes(content)
        contents.pop(file, None)


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
def test_it_is_forgotten_with_what_it_depends_on(world, change, path):
    assert not world.has_passed(NAME)
    world.remember(NAME)
    assert world.has_passed(NAME)
    change(path)
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
def test_what_nothing_of_it_reaches_changes_nothing(world, change, path):
    world.remember(NAME)
    change(path)
    assert world.has_passed(NAME)


def test_what_another_notebook_reaches_counts_there():
    reached = {"07_gpt": "coursekit/pictures/gpt.py", "12_one_corpus": "data/results/one_corpus.csv"}
    for name, path in reached.items():
        one = ran.ASSIGNMENTS[name]
        texts = [one.source.read_text(encoding="utf-8"), one.exercises_file.read_text(encoding="utf-8")]
        assert Reached(ROOT, ran.PACKAGES, texts).decides(path)
