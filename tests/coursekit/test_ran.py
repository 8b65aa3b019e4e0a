"""What is remembered of the course's own models and language is forgotten with anything that it depends on."""

import shutil

import pytest

from tests.conftest import ROOT
from tests.coursekit.conftest import PINS, USED, digest_of

NAME = "test_small_models"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    for name in USED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in PINS:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "coursekit/small/figures.py",
        "coursekit/language/__init__.py",
        "data/senses/senses.csv",
        "autograder/checks/judging.py",
        "tests/coursekit/test_small_models.py",
        "tests/coursekit/small_languages.py",
        *PINS,
    ],
)
def test_it_is_forgotten_with_what_it_depends_on(world, path):
    before, file = digest_of(NAME, world), world / path
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    assert digest_of(NAME, world) != before
    file.write_bytes(content)
    assert digest_of(NAME, world) == before
