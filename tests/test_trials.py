"""What is remembered of tried answers is forgotten with anything that they depend on."""

import shutil
from dataclasses import replace

import pytest

from tests import trials
from tests.conftest import ASSIGNMENTS, ROOT

NAME, OTHER = "02_attention", "03_transformer_layer"
COPIED = ("solutions", "notebooks", "coursekit", "data", "autograder")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course, to be changed by one byte at a time."""
    folder = tmp_path_factory.mktemp("course")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("constraints.txt", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "test_them.py").write_text("")
    return folder


@pytest.fixture
def digest_of(course, monkeypatch):
    monkeypatch.setattr(trials, "ROOT", course)
    monkeypatch.setattr(trials, "AUTOGRADER", course / "autograder")
    for cached in (trials._common, trials.content):
        monkeypatch.setattr(trials, cached.__name__, cached.__wrapped__)
    copies = {name: replace(one, root=course) for name, one in ASSIGNMENTS.items()}
    monkeypatch.setattr(trials, "ASSIGNMENTS", copies)
    return lambda name: trials.digest_of(name, [course / "test_them.py"])


@pytest.mark.parametrize(
    "path",
    [
        f"solutions/{NAME}/{NAME}.py",
        f"solutions/{NAME}/exercises.py",
        f"notebooks/{NAME}/{NAME}.ipynb",
        f"notebooks/{NAME}/{NAME}.key",
        "coursekit/plots.py",
        "coursekit/pictures/statistics.py",
        "coursekit/models/loading.py",
        "data/senses/senses.csv",
        "autograder/checks/comparing.py",
        "autograder/jail/inside/runner.py",
        "autograder/authoring/rates.py",
        "autograder/authoring/builder.py",
        "autograder/source.py",
        "constraints.txt",
        "nbgrader_config.py",
        "test_them.py",
    ],
)
def test_it_is_forgotten_with_what_it_depends_on(digest_of, course, path):
    before, file = digest_of(NAME), course / path
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    assert digest_of(NAME) != before
    file.write_bytes(content)
    assert digest_of(NAME) == before


def test_what_is_another_notebook_s_or_only_shows_results_changes_nothing(digest_of, course):
    before = digest_of(NAME)
    of_others = ("coursekit/pictures/gpt.py", "data/timeline/timeline.csv")
    for path in (
        f"solutions/{OTHER}/{OTHER}.py",
        f"solutions/{OTHER}/exercises.py",
        "autograder/report.py",
        *of_others,
    ):
        file = course / path
        file.write_bytes(file.read_bytes() + b"\n")
    assert digest_of(NAME) == before


def test_another_version_of_what_computes_has_all_tried_again(digest_of, monkeypatch):
    before = digest_of(NAME)
    monkeypatch.setattr(trials, "installed_versions", lambda: {"torch": "0.1"})
    assert digest_of(NAME) != before
