"""Models on disk: weights as safetensors, beside them a `.json` with their sha256 and how they were made."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load as tensors_of
from safetensors.torch import save as as_bytes
from torch import Tensor

from autograder.checks.storing import write_aside


class ModelMissing(RuntimeError):
    """A small model's files are not there, or are not what was written. The message says what to do."""


def write(path: Path, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write NAME.safetensors, which is `path`, and NAME.json. Returns what the latter says: `about` with the digest."""
    content = as_bytes({name: weight.detach().contiguous() for name, weight in weights.items()})
    whole = {"sha256": hashlib.sha256(content).hexdigest(), **about}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_aside(path, content)
    write_aside(path.with_suffix(".json"), (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())
    return whole


def read(path: Path, remedy: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights, and what NAME.json says of them.

    Raises ModelMissing, which ends with `remedy`, when a file is absent or damaged.
    """
    described = path.with_suffix(".json")
    try:
        about, content = json.loads(described.read_text(encoding="utf-8")), path.read_bytes()
        digest = str(about["sha256"])
    except OSError as error:
        raise ModelMissing(f"{error.filename} cannot be read ({error.strerror}). {remedy}") from None
    except (ValueError, KeyError, TypeError):
        raise ModelMissing(f"{described} is damaged. {remedy}") from None
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise ModelMissing(
            f"{path} is not the file that {described.name} describes (its sha256 begins {found[:8]}, expected is "
            f"{digest[:8]}). {remedy}"
        )
    return tensors_of(content), about


def models_folder() -> Path:
    """`data/models` of the course; where there is none, the place beside this package, for the message."""
    beside = Path(__file__).parents[1] / "data" / "models"
    places = [beside, *(place / "data" / "models" for place in (Path.cwd(), *Path.cwd().parents))]
    return next((place for place in places if place.is_dir()), beside)
