"""What tests of pre-trained models share; what is kept of slow ones about the course's own models and language (tests/kept.py)."""

import platform
from pathlib import Path

import pytest

from autograder.digests import digest
from tests.conftest import ROOT
from tests.kept import Kept


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


HERE = Path(__file__).parent
TRAINED = ("test_language", "test_order", "test_pretrain", "test_small_models", "test_smollm2")
USED = ("coursekit", "data", "autograder/checks", "tests/coursekit")
PINS = ("constraints.txt", "requirements-models.txt")


def digest_of(name: str, root: Path = ROOT) -> str:
    """Over coursekit, the data with the shipped models, the checks, these tests, the pins, Python and the machine's kind."""
    files = [path for folder in USED for path in sorted((root / folder).rglob("*")) if path.is_file()]
    files = [path for path in files if not {"__pycache__", "ran"} & {*path.parts}]
    files += [root / pins for pins in PINS]
    places = [path.relative_to(root).as_posix() for path in files]
    return digest(
        files, name, places, platform.python_version_tuple()[:2], platform.system(), platform.machine()
    )


KEPT = Kept(
    HERE,
    frozenset(HERE / f"{name}.py" for name in TRAINED),
    digest_of,
    lambda item: item.path.stem if item.get_closest_marker("slow") else "",
)


@pytest.hookimpl(tryfirst=True)  # before `-m` and `-k` take tests away
def pytest_collection_modifyitems(config, items):
    KEPT.apply(config, items)
