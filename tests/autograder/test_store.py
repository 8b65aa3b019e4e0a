"""Results are kept whole or not at all."""

import json

import pytest

from autograder.store import Store


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
