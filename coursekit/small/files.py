"""Reading and writing the small models: weights as safetensors, everything else as JSON, and a card to read."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from coursekit.small.bert import BERT, BERTConfig
from coursekit.small.elmo import ELMo, ELMoConfig
from coursekit.small.gpt import GPT, GPTConfig
from coursekit.stored import ModelMissing, models_folder, read, write

KINDS: Mapping[str, tuple[type[nn.Module], type]] = {
    "gpt": (GPT, GPTConfig),
    "bert": (BERT, BERTConfig),
    "elmo": (ELMo, ELMoConfig),
}
TITLES = {
    "gpt": "a causal decoder of 2 layers (layer norm first, as in GPT-2), trained to predict the next word",
    "bert": "an encoder of 2 layers, trained to predict masked words (15 % are chosen; of these, 80 % become [MASK] and 10 % a "
    "random word, and 10 % stay unchanged) and whether the second sentence continues the first",
    "elmo": "a character network and two separate stacks of 2 LSTM layers, trained to predict the next word and the "
    "word before",
}


def load(name: str, folder: Path | str | None = None) -> nn.Module:
    """The model "gpt", "bert" or "elmo", in evaluation mode, from `folder` or the course's `data/models`.

    Raises ModelMissing, with one or two sentences, if a file is missing or damaged, and ValueError for another name.
    """
    if name not in KINDS:
        raise ValueError(f"There is no small model {name!r}. Choose from {', '.join(KINDS)}.")
    folder = models_folder() if folder is None else Path(folder)
    remedy = f"Fetch data/models again, or retrain the model: python -m coursekit.pretrain --models {name} --record data"
    path = folder / f"{name}.safetensors"
    return built(name, path, *read(path, remedy), remedy)


def built(
    name: str, path: Path, weights: Mapping[str, Tensor], about: Mapping[str, Any], remedy: str
) -> nn.Module:
    """The model "gpt", "bert" or "elmo" that `about["config"]` describes, with these weights, in evaluation mode.

    Raises ModelMissing, which names the file `path` and ends with `remedy`, where the two do not fit.
    """
    model_class, config_class = KINDS[name]
    try:
        model = model_class(config_class(**{key: _tuples(value) for key, value in about["config"].items()}))
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError):
        raise ModelMissing(
            f"{path.with_suffix('.json')} does not describe a {name}: it is damaged. {remedy}"
        ) from None
    try:
        model.load_state_dict(weights)
    except RuntimeError:
        raise ModelMissing(
            f"{path} does not match the model of this version of the course. {remedy}"
        ) from None
    return model.eval()


def save(
    name: str, model: nn.Module, folder: Path | str, *, seed: int, steps: int, figures: dict[str, float]
) -> Path:
    """Write NAME.safetensors, NAME.json and the card NAME.md; returns the path of the weights."""
    path = Path(folder) / f"{name}.safetensors"
    about = {
        "model": name,
        "config": asdict(model.config),
        "seed": seed,
        "steps": steps,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "figures": {key: round(value, 5) for key, value in figures.items()},
    }
    about = write(path, model.state_dict(), about)
    path.with_suffix(".md").write_text(card(about), encoding="utf-8")
    return path


def card(about: dict) -> str:
    """A description of a model, its training and its results in Markdown, from NAME.json."""
    name = about["model"]
    rows = "\n".join(f"| {key} | {value:.4f} |" for key, value in about["figures"].items())
    return (
        f"# {name}\n\n{TITLES[name][0].upper()}{TITLES[name][1:]}. {about['parameters']:,} parameters.\n\n"
        f"Made by `python -m coursekit.pretrain --models {name} --record data` ({about['steps']:,} steps, seed "
        f"{about['seed']}), which also writes this page.\nLosses are in nats; README.md says how the figures are measured.\n\n"
        f"| figure | value |\n|---|---|\n{rows}\n"
    )


def _tuples(value):
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
