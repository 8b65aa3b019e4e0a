"""The models of the novels that come with the course: written once by `pretrain --record`, read by the notebooks.

`data/models/novels_NAME.safetensors` has the weights in float16, `.json` how they were made and their sha256, `.md` the card.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForMaskedLM

from autograder.checks.storing import write_aside
from coursekit.models.learned_head import MOVING, published, remedy
from coursekit.novels.corpus import Corpus
from coursekit.novels.skip_gram import SkipGram
from coursekit.small.gpt import GPT, GPTConfig
from coursekit.stored import ModelMissing, models_folder, read, write

TITLES = {
    "minilm": "The part of MiniLM that names words: a head that the published encoder lacks, and how its two top layers moved "
    "while the head was learned. What is stored is the difference to the published weights",
    "skipgram": "Skip-gram vectors of the 16,384 most frequent words, 100 numbers each",
    "gpt": "A causal decoder of 4 layers with 256 numbers a vector (layer norm first, as in GPT-2) and 8,192 pieces of its own",
}


# --- MiniLM with a head ---


def save_minilm(model: BertForMaskedLM, folder: Path, about: dict[str, Any]) -> Path:
    """Only what has moved from `published()`: the head and the top layers."""
    start = dict(published().named_parameters())
    weights = {
        name: weight - start[name] for name, weight in model.named_parameters() if name.startswith(MOVING)
    }
    return _save("minilm", weights, folder, about)


# --- skip-gram ---


def save_skipgram(model: SkipGram, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    """The vectors of the words (not those of the contexts), and the words."""
    words = corpus.words[: model.word.num_embeddings]
    return _save("skipgram", {"word": model.word.weight}, folder, about | {"words": " ".join(words)})


def load_skipgram(folder: Path | None = None) -> tuple[list[str], Float[Tensor, "V D"]]:
    """Words, the most frequent first, and their vectors. Raises ModelMissing in a sentence."""
    weights, about = _load("skipgram", folder)
    return about["words"].split(" "), weights["word"].float()


# --- GPT ---


def save_gpt(model: GPT, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    weights: dict[str, Tensor] = dict(model.state_dict())
    pieces = {"config": asdict(model.config), "tokenizer": corpus.tokenizer.to_str()}
    return _save("gpt", weights, folder, about | pieces)


def load_gpt(folder: Path | None = None) -> tuple[GPT, Tokenizer]:
    """The novels' GPT in evaluation mode, and its own tokenizer. Raises ModelMissing in a sentence."""
    weights, about = _load("gpt", folder)
    model = GPT(GPTConfig(**about["config"]))
    try:
        model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    except RuntimeError:
        raise ModelMissing(
            f"novels_gpt.safetensors does not fit the GPT of this version. {remedy('gpt')}"
        ) from None
    return model.eval(), Tokenizer.from_str(about["tokenizer"])


# --- figures ---


def recorded(name: str, folder: Path | None = None) -> pd.DataFrame:
    """What the card of "minilm", "gpt" or "skipgram" says of authors that training never saw: a row for each who was measured.

    Each cell is a value with its 95 % interval, as text. Raises ModelMissing in a sentence.
    """
    _, about = _load(name, folder)
    found: dict[str, dict[str, str]] = {}
    for called, value in about["figures"].items():
        who, _, what = called.rpartition(": ")
        found.setdefault(who, {})[what] = value
    return pd.DataFrame(found).T


# --- files ---


def _save(name: str, weights: dict[str, Tensor], folder: Path, about: dict[str, Any]) -> Path:
    """Weights in float16, how they were made, and the card; returns the path of the weights."""
    path = folder / f"novels_{name}.safetensors"
    half = {key: value.detach().half() for key, value in weights.items()}
    about = write(path, half, {"model": f"novels-{name}", **about})
    numbers = sum(value.numel() for value in half.values())
    write_aside(path.with_suffix(".md"), card(name, about, numbers).encode())
    return path


def _load(name: str, folder: Path | None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    return read((folder or models_folder()) / f"novels_{name}.safetensors", remedy(name))


def card(name: str, about: dict[str, Any], parameters: int) -> str:
    """What a model is, how it was made and how good it is, as Markdown."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in about["figures"].items())
    return (
        f"# novels_{name}\n\n{TITLES[name]}. {parameters:,} numbers, in float16.\n\nMade by `python -m coursekit.pretrain "
        f"novels-{name} --corpus FOLDER --record data`: {about['steps']:,} steps of one seed ({about['seed']}), "
        f"{about['minutes']:.0f} CPU minutes, on the novels of [data/novels](../novels/README.md), which also says what such a model "
        "learns from them besides words. What is measured stands beside what counts alone reach, on authors that training never "
        f"saw; README.md says how.{about.get('note', '')}\n\n| figure | value |\n|---|---|\n{rows}\n"
    )
