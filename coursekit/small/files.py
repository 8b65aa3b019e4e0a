"""Reading and writing the small models: weights as safetensors, everything else as JSON, and a card to read."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensors_as_bytes
from torch import nn

from coursekit.small.bert import BERT, BERTConfig
from coursekit.small.elmo import ELMo, ELMoConfig
from coursekit.small.gpt import GPT, GPTConfig

KINDS: Mapping[str, tuple[type[nn.Module], type]] = {
    "gpt": (GPT, GPTConfig),
    "bert": (BERT, BERTConfig),
    "elmo": (ELMo, ELMoConfig),
}
TITLES = {
    "gpt": "a causal decoder of 2 layers (layer norm first, as in GPT-2), trained to predict the next word",
    "bert": "an encoder of 2 layers, trained on masked words (15 %; of these 80 % [MASK], 10 % a random word, 10 % "
    "unchanged) and on whether the second sentence continues the first",
    "elmo": "a character network and two separate stacks of 2 LSTM layers, trained to predict the next word and the "
    "word before",
}


class ModelMissing(RuntimeError):
    """A small model's files are not there, or are not what was written. The message says what to do."""


def load(name: str, folder: Path | str | None = None) -> nn.Module:
    """The model "gpt", "bert" or "elmo", in evaluation mode, from `folder` or the course's `data/models`.

    Raises ModelMissing, in one or two sentences, when a file is absent or damaged, and ValueError for another name.
    """
    if name not in KINDS:
        raise ValueError(f"There is no small model {name!r}; there are {', '.join(KINDS)}.")
    folder = models_folder() if folder is None else Path(folder)
    remedy = f"Fetch data/models again, or train it anew: python -m coursekit.pretrain --models {name} --record data"
    try:
        about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        weights = (folder / f"{name}.safetensors").read_bytes()
    except OSError as error:
        raise ModelMissing(f"{error.filename} cannot be read ({error.strerror}). {remedy}") from None
    except ValueError:
        raise ModelMissing(f"{folder / name}.json is not JSON: it is damaged. {remedy}") from None
    try:
        digest, config = about["sha256"], about["config"]
        model_class, config_class = KINDS[name]
        model = model_class(config_class(**{key: _tuples(value) for key, value in config.items()}))
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError):
        raise ModelMissing(
            f"{folder / name}.json does not describe a {name}: it is damaged. {remedy}"
        ) from None
    found = hashlib.sha256(weights).hexdigest()
    if found != digest:
        raise ModelMissing(
            f"{folder / name}.safetensors is not the file that {name}.json describes (its sha256 begins {found[:8]}, "
            f"expected is {str(digest)[:8]}). {remedy}"
        )
    try:
        model.load_state_dict(read_tensors(weights))
    except RuntimeError:
        raise ModelMissing(
            f"{folder / name}.safetensors does not fit the model of this version of the course. {remedy}"
        ) from None
    return model.eval()


def save(
    name: str, model: nn.Module, folder: Path | str, *, seed: int, steps: int, figures: dict[str, float]
) -> Path:
    """Write NAME.safetensors, NAME.json and the card NAME.md; returns the path of the weights."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = tensors_as_bytes({key: value.contiguous() for key, value in model.state_dict().items()})
    about = {
        "model": name,
        "config": asdict(model.config),
        "sha256": hashlib.sha256(weights).hexdigest(),
        "seed": seed,
        "steps": steps,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "figures": {key: round(value, 5) for key, value in figures.items()},
    }
    (folder / f"{name}.safetensors").write_bytes(weights)
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(card(about), encoding="utf-8")
    return folder / f"{name}.safetensors"


def card(about: dict) -> str:
    """What a model is, how it was made and how good it is, as Markdown: all of it from NAME.json."""
    name = about["model"]
    rows = "\n".join(f"| {key} | {value:.4f} |" for key, value in about["figures"].items())
    return (
        f"# {name}\n\n{TITLES[name][0].upper()}{TITLES[name][1:]}. {about['parameters']:,} parameters.\n\n"
        f"Made by `python -m coursekit.pretrain --models {name} --record data` ({about['steps']:,} steps, seed "
        f"{about['seed']}), which also writes this page.\nLosses are in nats; README.md says how the figures are measured.\n\n"
        f"| figure | value |\n|---|---|\n{rows}\n"
    )


def models_folder() -> Path:
    """`data/models` of the course; where there is none, the place beside this package, for the message."""
    beside = Path(__file__).parents[2] / "data" / "models"
    places = [beside, *(place / "data" / "models" for place in (Path.cwd(), *Path.cwd().parents))]
    return next((place for place in places if place.is_dir()), beside)


def _tuples(value):
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
