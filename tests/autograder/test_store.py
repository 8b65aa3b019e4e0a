"""Results are kept whole or not at all."""

import json
import shutil
from pathlib import Path

import pytest

from autograder import store as store_module
from autograder.course import Assignment
from autograder.store import Store, rules_digest
from tests.autograder.road import make_course


def test_a_result_comes_back(tmp_path):
    store = Store(tmp_path)
    assert store.get("ab12") is None
    store.put("ab12", {"score": 1})
    assert store.get("ab12") == {"score": 1}


def test_a_damaged_file_counts_as_absent(tmp_path):
    store = Store(tmp_path)
    store.put("ab12", {"score": 1})
    (tmp_path / "ab" / "ab12.json").write_text('{"score":')
    assert store.get("ab12") is None


def test_a_result_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("ab12", {"score": 1})

    def broken(result, file):
        file.write('{"score"')
        raise OSError("disk full")

    monkeypatch.setattr(json, "dump", broken)
    with pytest.raises(OSError, match="disk full"):
        store.put("ab12", {"score": 2})
    assert store.get("ab12") == {"score": 1}
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["ab12.json"]


def test_a_changed_exercise_makes_its_own_notebook_stale_and_no_other(tmp_path, monkeypatch):
    course = make_course(tmp_path / "course")
    package = tmp_path / "autograder"
    shutil.copytree(Path(store_module.__file__).parent, package)
    monkeypatch.setattr(store_module, "__file__", str(package / "store.py"))
    one, other = Assignment(course, "01_static_embeddings"), Assignment(course, "02_attention")
    digests = {one: rules_digest(one), other: rules_digest(other)}
    changed = [package / "exercises" / "attention.py", other.source, other.release]
    for file in changed:
        file.write_text(file.read_text() + " ")
        assert rules_digest(one) == digests[one]
        assert rules_digest(other) != digests[other]
        digests[other] = rules_digest(other)
    file = package / "verdicts.py"
    file.write_text(file.read_text() + " ")
    assert rules_digest(one) != digests[one]
