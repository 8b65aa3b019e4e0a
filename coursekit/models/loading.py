"""load(): a model by name, from any available source, with a line that says which model it is."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import pandas as pd
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from coursekit.models import catalogue, hub, learned_head
from coursekit.models.catalogue import CATALOGUE, HEADS, MINILM, Asked, Head, NoSuchHead
from coursekit.models.reading import read_model
from coursekit.packaged import PackageUnusable

CACHE, HUB = "the local Hugging Face cache", "the Hugging Face hub"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A pre-trained model, ready for use: `model` is in evaluation mode, with float32 weights.

    name which model this is: the requested model or its stand-in;
    note    one line that says so, where it came from, and how its results differ.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    note: str


def load(name: str, head: Head = None, attentions: bool = False, from_hub: bool = False) -> Loaded:
    """The pre-trained model `name` with its tokeniser; prints which model this is.

    `head` is None (only the vectors), "masked-lm" or "causal-lm". With `attentions=True` the model can return its
    attention weights (`output_attentions=True` when it is called), which the fast implementations cannot.

    "all-MiniLM-L6-v2" and "SmolLM2-135M-Instruct" come from Python packages. Other models come from the Hugging Face hub, and
    only with `from_hub=True`: first the local cache is tried, then the hub (once per
    session, 1.5 s; HF_HUB_OFFLINE=1 prevents it). Without `from_hub`, or if neither has the model, the packaged stand-in is loaded, and
    the printed line says so.

    Raises UnknownModel; NoSuchHead if the model has no such head and the course has trained
    none, instead of adding a random head; PackageUnusable with a command that helps.
    """
    asked = catalogue.find(name)
    if head not in HEADS:
        raise ValueError(f"load(head={head!r}): a head is None, 'masked-lm' or 'causal-lm'.")
    if head not in (None, asked.head):
        raise NoSuchHead(
            f"{name} is {_an(asked.role)} and has no {head} head; transformers would add one with random weights. Ask for head={asked.head!r}."
        )
    loaded = (_from_hub(asked, head, attentions) if from_hub else None) or _from_package(
        asked, head, attentions
    )
    note = loaded.note + ("" if loaded.name == name else _how_to_ask(asked, from_hub))
    print(fill(note, 72, break_on_hyphens=False))
    return loaded


def tokenizer(name: str, from_hub: bool = False) -> PreTrainedTokenizerBase:
    """The tokeniser of a model, without its weights; prints a line if it is not the requested one."""
    asked = catalogue.find(name)
    if asked.stand_in is MINILM and asked.same_vocabulary and MINILM.package.installed:
        return AutoTokenizer.from_pretrained(MINILM.package.folder())  # the same 30,522 entries
    folder = (hub.cached_folder(asked) or _downloaded(asked)) if from_hub else None
    if folder:
        return AutoTokenizer.from_pretrained(folder)
    if not asked.same_vocabulary:
        print(
            f"This is not the tokeniser of {name}, but that of {asked.stand_in.name}.{_how_to_ask(asked, from_hub)}"
        )
    if asked.stand_in is MINILM:
        return AutoTokenizer.from_pretrained(MINILM.package.folder())
    from coursekit.models import smollm2  # start-up: MiniLM does not need it

    return smollm2.tokenizer()


def available() -> pd.DataFrame:
    """The model that `load(…, from_hub=True)` would load for each name, and its source. Loads nothing (at most 1.5 s, once per session)."""
    rows = []
    for asked in CATALOGUE.values():
        try:
            found = source(asked.name, from_hub=True)
            rows.append((asked.role, asked.name, found.name, found.place))
        except PackageUnusable as missing:
            rows.append((asked.role, asked.name, "nothing", str(missing)))
    return pd.DataFrame(rows, columns=["role", "asked for", "loaded", "from"])


@dataclass(frozen=True)
class Source:
    """The model that `load` would load for a name, and its source."""

    asked: str
    name: str
    place: str

    def __str__(self) -> str:
        instead = "" if self.name == self.asked else f" in place of {self.asked}"
        return f"{self.name}{instead}, from {self.place}"


def source(name: str, from_hub: bool = False) -> Source:
    """The model that `load(name, from_hub=…)` would load. If there is none, raises PackageUnusable with a command that helps."""
    asked = catalogue.find(name)
    if from_hub and hub.cached_folder(asked):
        return Source(name, name, CACHE)
    if from_hub and asked.hub and hub.reachable():
        return Source(name, name, HUB)
    asked.stand_in.package.folder()
    return Source(name, asked.stand_in.name, f"the package {asked.stand_in.package.name}")


# ------------------------------------------------------------------------------------------ the model itself


def _from_hub(asked: Asked, head: Head, attentions: bool) -> Loaded | None:
    """The requested model from the cache or the hub; None if neither has it completely."""
    folder, source = hub.cached_folder(asked), CACHE
    if folder is None:
        folder, source = _downloaded(asked), HUB
    if folder is None:
        return None
    if not hub.intact(folder):
        print(f"{folder / hub.WEIGHTS} is damaged{': it is fetched again' if hub.reachable() else ''}.")
        folder, source = _downloaded(asked, again=True), HUB
        if folder is None:
            return None
    model, tokenizer = read_model(folder, head, attentions), AutoTokenizer.from_pretrained(folder)
    return Loaded(model, tokenizer, asked.name, f"{asked.name} itself, from {source}.")


def _downloaded(asked: Asked, again: bool = False) -> Path | None:
    if not asked.hub or not hub.reachable():
        return None
    try:
        return hub.download(asked, again)
    except hub.DownloadFailed as failed:
        print(failed)
        return None


def _from_package(asked: Asked, head: Head, attentions: bool) -> Loaded:
    stand_in = asked.stand_in
    if head == "masked-lm" and stand_in is MINILM and asked.same_vocabulary:
        return _with_learned_head(asked, attentions)
    if head not in (None, stand_in.head):
        raise NoSuchHead(
            f"{asked.name} was not loaded from the hub, and its stand-in {stand_in.name} was published without a {head} head, so transformers would add one with random weights. Connect to the internet and call load({asked.name!r}, head={head!r}, "
            "from_hub=True), or use the course's small BERT, which has such a head: coursekit.small.load('bert')."
        )
    if stand_in is MINILM:
        folder = MINILM.package.folder()
        model, tokenizer = read_model(folder, head, attentions), AutoTokenizer.from_pretrained(folder)
    else:
        from coursekit.models import smollm2  # start-up: as above

        model, tokenizer = smollm2.load(head, attentions)
    tokens = "" if asked.same_vocabulary else ", and different tokens"
    note = f"{_called(asked)}: {stand_in.what}. {stand_in.why_different}{tokens}."
    return Loaded(model, tokenizer, stand_in.name, note)


def _with_learned_head(asked: Asked, attentions: bool) -> Loaded:
    """MiniLM with the head that the course has trained. Raises NoSuchHead if this head is missing."""
    try:
        model = learned_head.load_with_head(attentions=attentions)
    except learned_head.ModelMissing as missing:
        raise NoSuchHead(
            f"{MINILM.name} was published without a masked-lm head, and the head that the course has trained is missing: {missing}"
        ) from None
    note = (
        f"{_called(asked)}: {MINILM.what}. It was published without a masked-LM head; this course has trained one on novels "
        "from 1839 to 1927 and briefly on modern text (data/models/novels_minilm.md). Expect older and simpler predictions."
    )
    return Loaded(model, AutoTokenizer.from_pretrained(MINILM.package.folder()), MINILM.name, note)


def _called(asked: Asked) -> str:
    """The name of the packaged model, and of the model that it replaces."""
    which = f"{asked.stand_in.name} (package {asked.stand_in.package.name})"
    return which if asked.packaged else f"Not {asked.name}, but {which}"


def _how_to_ask(asked: Asked, from_hub: bool) -> str:
    return (
        ""
        if from_hub or asked.packaged
        else f" With an internet connection, from_hub=True loads {asked.name} itself."
    )


def _an(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"
