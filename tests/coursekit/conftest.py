"""What tests of pre-trained models share."""

from pathlib import Path

import pytest


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
