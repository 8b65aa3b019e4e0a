"""Models on disk: weights as safetensors, with a `.json` that contains their sha256 and describes how they were made."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from safetensors.torch import load as tensors_of
from safetensors.torch import save as as_bytes
from torch import Tensor, nn

from autograder.checks.storing import write_aside

Model = TypeVar("Model", bound=nn.Module)


class ModelMissing(RuntimeError):
    """The files of a small model are missing, or differ from those that were written. The message says what to do."""


def write(path: Path, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write NAME.safetensors (`path`) and NAME.json. Returns the content of the latter: `about` with the digest."""
    content = as_bytes({name: weight.detach().contiguous() for name, weight in weights.items()})
    whole = {"sha256": hashlib.sha256(content).hexdigest(), **about}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_aside(path, content)
    write_aside(path.with_suffix(".json"), (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode())
    return whole


def read(path: Path, remedy: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The weights, and their description in NAME.json.

    Raises ModelMissing, with a message that ends with `remedy`, if a file is missing or damaged.
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
            f"{path} is not the file that {described.name} describes (its sha256 begins with {found[:8]} instead of "
            f"{digest[:8]}). {remedy}"
        )
    return tensors_of(content), about


def models_folder() -> Path:
    """`data/models` of the course; if it does not exist, the folder next to this package, for the message."""
    beside = Path(__file__).parents[1] / "data" / "models"
    places = [beside, *(place / "data" / "models" for place in (Path.cwd(), *Path.cwd().parents))]
    return next((place for place in places if place.is_dir()), beside)


def trained(model: Model, name: str) -> Model:
    """The model with the weights of data/models/NAME.safetensors, in evaluation mode. Raises ModelMissing."""
    path = models_folder() / f"{name}.safetensors"
    if not path.exists():
        raise ModelMissing(
            f"data/models/{name}.safetensors is not in this course folder. Copy the folder `data` next to `notebooks`, "
            f"or train the model with `python -m coursekit.pretrain --models {name} --record data` (a few minutes)."
        )
    model.load_state_dict(tensors_of(path.read_bytes()))
    return model.eval()


def novels_remedy(name: str) -> str:
    """The advice for a model of the novels that is missing or damaged."""
    return f"Fetch data/models again, or retrain the model: python -m coursekit.pretrain novels-{name} --corpus FOLDER --record data"
