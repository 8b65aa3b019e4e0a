"""What tests of the generated language share, and those of pre-trained models."""

from pathlib import Path

import pytest

from coursekit.language import Language, load_language
from coursekit.language.grammar import GRAMMAR


@pytest.fixture(scope="session")
def language() -> Language:
    return load_language()


@pytest.fixture(scope="session")
def part() -> Language:
    """A small corner of it."""
    return Language.from_grammar(GRAMMAR.only("river", "money"))


@pytest.fixture
def no_hub(tmp_path, monkeypatch):
    """Nothing of this machine's own Hugging Face cache is used, and no network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "huggingface"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def cut(path: Path) -> None:
    """Leave the first half of a file, as a full disk does; other names of the same file keep theirs."""
    with open(path, "rb") as file:
        half = file.read(path.stat().st_size // 2)
    path.unlink()
    path.write_bytes(half)
