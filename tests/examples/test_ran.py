"""What is remembered of the tool from a wheel is forgotten with anything that it depends on."""

import shutil

import pytest

from tests.conftest import ROOT
from tests.examples.conftest import FILES, USED, digest_of


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    for name in USED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "autograder/cli/authoring.py",
        "autograder/README.md",
        "autograder/templates/course/nbgrader_config.py",
        "examples/statistics/source/01_describing/exercises.py",
        "tests/examples/test_other_courses.py",
        "pyproject.toml",
        "constraints.txt",
    ],
)
def test_it_is_forgotten_with_what_it_depends_on(world, path):
    before, file = digest_of("wheel", world), world / path
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    assert digest_of("wheel", world) != before
    file.write_bytes(content)
    assert digest_of("wheel", world) == before


def test_what_is_new_counts_too(world):
    before, new = digest_of("wheel", world), world / "autograder" / "new.py"
    new.write_text("")
    assert digest_of("wheel", world) != before
    new.unlink()
