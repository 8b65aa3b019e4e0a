"""The models of the novels that come with the course: written once by `pretrain --record`, read by the notebooks.

`data/models/novels_NAME.safetensors` contains the weights in float16, `.json` their SHA-256 and how they were made, `.md` the
card, and `.csv` and `.svg` the loss curve (coursekit/novels/curves.py).
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor

from autograder.checks.storing import write_aside
from coursekit.novels.corpus import Corpus
from coursekit.novels.skip_gram import SkipGram
from coursekit.novels.spelling import LiterarySpelling
from coursekit.small.bert import BERT
from coursekit.small.elmo import ELMo
from coursekit.small.files import built
from coursekit.small.gpt import GPT
from coursekit.stored import models_folder, novels_remedy, read, write

TITLES = {
    "minilm": "The part of MiniLM that predicts words: a head that the published encoder lacks, and the changes to the encoder while "
    "the head was trained: in full for the two top layers, of rank 8 for the linear maps of the other four. What is stored is the "
    "difference from the published weights",
    "skipgram": "Skip-gram vectors of the 16,384 most frequent words, with 100 dimensions each",
    "elmo": "A character network and two separate stacks of 2 LSTM layers with 256 dimensions, one from left to right, one "
    "from right to left; it reads any word and predicts the 16,384 most frequent ones",
    "bert": "An encoder of 4 layers with 256 dimensions, trained to predict masked subwords (a fifth are chosen; of these, 80 % "
    "become [MASK] and 10 % another subword, and 10 % stay unchanged) without next-sentence prediction; its vocabulary is the 8,192 "
    "subwords of the novels' GPT",
    "gpt": "A causal decoder of 4 layers with 256 dimensions (layer norm first, as in GPT-2) and a vocabulary of 8,192 subwords",
}


# --- skip-gram ---


def save_skipgram(model: SkipGram, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    """The vectors of the words (not those of the contexts), and the words."""
    words = corpus.words[: model.word.num_embeddings]
    return save("skipgram", {"word": model.word.weight}, folder, about | {"words": " ".join(words)})


def load_skipgram(folder: Path | None = None) -> tuple[list[str], Float[Tensor, "V D"]]:
    """Words, the most frequent first, and their vectors. Raises ModelMissing in a sentence."""
    weights, about = _load("skipgram", folder)
    return about["words"].split(" "), weights["word"].float()


# --- GPT and BERT, with the same pieces ---


def save_gpt(model: GPT, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    """Write the novels' GPT and its tokeniser with the description `about`; returns the path of the weights."""
    return _save_built("gpt", model, folder, about, tokenizer=corpus.tokenizer.to_str())


def load_gpt(folder: Path | None = None) -> tuple[GPT, Tokenizer]:
    """The novels' GPT in evaluation mode, and its own tokeniser. Raises ModelMissing in a sentence."""
    model, about = _load_built("gpt", folder)
    return model, Tokenizer.from_str(about["tokenizer"])


def save_bert(model: BERT, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    """Write the novels' BERT and its tokeniser with the description `about`; returns the path of the weights."""
    return _save_built("bert", model, folder, about, tokenizer=corpus.tokenizer.to_str())


def load_bert(folder: Path | None = None) -> tuple[BERT, Tokenizer]:
    """The novels' BERT in evaluation mode, and its own tokeniser. Raises ModelMissing in a sentence."""
    model, about = _load_built("bert", folder)
    return model, Tokenizer.from_str(about["tokenizer"])


# --- ELMo ---


def save_elmo(model: ELMo, corpus: Corpus, folder: Path, about: dict[str, Any]) -> Path:
    """Write the novels' ELMo and the words that it predicts, with the description `about`; returns the path of the weights."""
    words = corpus.words[: model.config.vocabulary]
    return _save_built("elmo", model, folder, about, words=" ".join(words))


def load_elmo(folder: Path | None = None) -> tuple[ELMo, LiterarySpelling]:
    """The novels' ELMo in evaluation mode, and its spelling: logit i belongs to the word `spelling.words[i]`.

    Raises ModelMissing in a sentence.
    """
    model, about = _load_built("elmo", folder)
    return model, LiterarySpelling(about["words"].split(" "))


# --- figures ---


def recorded(name: str, folder: Path | None = None) -> pd.DataFrame:
    """The figures on a model's card for authors not seen in training: a row for each model or baseline that was measured.

    Each cell is a value with its 95 % interval, as text, or empty. Raises ModelMissing in a sentence.
    """
    _, about = _load(name, folder)
    found: dict[str, dict[str, str]] = {}
    for called, value in about["figures"].items():
        who, _, what = called.rpartition(": ")
        found.setdefault(who, {})[what] = value
    return pd.DataFrame(found).T.fillna("")


def curve(name: str, folder: Path | None = None) -> pd.DataFrame:
    """The loss of a model during training: `step`, `training`, and `validation` where it was measured (nats)."""
    return pd.read_csv(_path(name, folder).with_suffix(".csv"))


# --- files ---


def save(name: str, weights: Mapping[str, Tensor], folder: Path, about: dict[str, Any]) -> Path:
    """Write a model's weights in float16, their description and the card; returns the path of the weights."""
    path = _path(name, folder)
    half = {key: value.detach().half() for key, value in weights.items()}
    about = write(path, half, {"model": f"novels-{name}", **about})
    numbers = sum(value.numel() for value in half.values())
    write_aside(path.with_suffix(".md"), card(name, about, numbers).encode())
    return path


def _save_built(name: str, model: Any, folder: Path, about: dict[str, Any], **own: str) -> Path:
    return save(name, dict(model.state_dict()), folder, about | {"config": asdict(model.config)} | own)


def _load_built(name: str, folder: Path | None) -> tuple[Any, dict[str, Any]]:
    """A model of coursekit.small, and the content of its .json."""
    weights, about = _load(name, folder)
    return built(name, _path(name, folder), weights, about, novels_remedy(name)), about


def _load(name: str, folder: Path | None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    return read(_path(name, folder), novels_remedy(name))


def _path(name: str, folder: Path | None) -> Path:
    return (folder or models_folder()) / f"novels_{name}.safetensors"


def card(name: str, about: dict[str, Any], parameters: int) -> str:
    """A model's card as Markdown: what the model is, how it was made and how good it is."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in about["figures"].items())
    curve = (
        f"![Loss during training, in {about['curve']}: on training batches, and on authors not seen in training; "
        f"numbers in novels_{name}.csv](novels_{name}.svg)\n\n"
        if "curve" in about
        else ""
    )
    return (
        f"# novels_{name}\n\n{TITLES[name]}. {parameters:,} parameters, in float16.\n\nMade by `python -m coursekit.pretrain "
        f"novels-{name} --corpus FOLDER --record data`: {about['steps']:,} steps of one seed ({about['seed']}), "
        f"{about['minutes']:.0f} CPU minutes, on the novels of [data/novels](../novels/README.md), which also says what such a model "
        "learns from them besides words. All figures are for authors not seen in training, next to those of count-based "
        f"models; README.md says how they are measured.{about.get('note', '')}\n\n{curve}| figure | value |\n|---|---|\n{rows}\n"
        f"{about.get('further', '')}"
    )
