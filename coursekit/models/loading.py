"""load(): a model by name, from wherever it can be had, and one line that says which one it is."""

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
    """A pre-trained model, ready to be asked: `model` is in evaluation mode and its numbers are float32.

    name    which model this really is: the one that was asked for, or its stand-in;
    note    one line that says so, where it came from, and how its numbers differ.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    note: str


def load(name: str, head: Head = None, attentions: bool = False) -> Loaded:
    """The pre-trained model `name` with its tokenizer; prints which model this really is.

    `head` is None for the vectors alone, "masked-lm" or "causal-lm". With `attentions=True` the model can return its
    attention weights (`output_attentions=True` when it is called), which the fast implementations cannot.

    Tried in this order: the local Hugging Face cache, the hub where it can be reached (asked once a session, 1.5 s;
    HF_HUB_OFFLINE=1 forbids it), a model that a Python package carries. Raises UnknownModel; NoSuchHead where the
    model has no such head and the course has learned none, instead of adding a random one; PackageUnusable with the command that helps.
    """
    asked = catalogue.find(name)
    if head not in HEADS:
        raise ValueError(f"load(head={head!r}): a head is None, 'masked-lm' or 'causal-lm'.")
    if head not in (None, asked.head):
        raise NoSuchHead(
            f"{name} is {_an(asked.role)} and has no {head} head; what transformers would add is random numbers. "
            f"Ask for head={asked.head!r}."
        )
    loaded = _from_hub(asked, head, attentions) or _from_package(asked, head, attentions)
    print(fill(loaded.note, 72, break_on_hyphens=False))
    return loaded


def tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, without its weights; prints a line where it is another one than was asked for."""
    asked = catalogue.find(name)
    if asked.stand_in is MINILM and asked.same_vocabulary and MINILM.package.installed:
        return AutoTokenizer.from_pretrained(MINILM.package.folder())  # the same 30,522 entries
    folder = hub.cached_folder(asked) or _downloaded(asked)
    if folder:
        return AutoTokenizer.from_pretrained(folder)
    if not asked.same_vocabulary:
        print(f"The tokenizer of {name} is not on this machine; in its place that of {asked.stand_in.name}.")
    if asked.stand_in is MINILM:
        return AutoTokenizer.from_pretrained(MINILM.package.folder())
    from coursekit.models import smollm2

    return smollm2.tokenizer()


def available() -> pd.DataFrame:
    """What `load` would load for each name, and from where. Looks, and loads nothing (at most 1.5 s, once a session)."""
    rows = []
    for asked in CATALOGUE.values():
        try:
            found = source(asked.name)
            rows.append((asked.role, asked.name, found.name, found.place))
        except PackageUnusable as missing:
            rows.append((asked.role, asked.name, "nothing", str(missing)))
    return pd.DataFrame(rows, columns=["role", "asked for", "loaded", "from"])


@dataclass(frozen=True)
class Source:
    """What `load` would load in answer to a name, and from where."""

    asked: str
    name: str
    place: str

    def __str__(self) -> str:
        instead = "" if self.name == self.asked else f" in place of {self.asked}"
        return f"{self.name}{instead}, from {self.place}"


def source(name: str) -> Source:
    """What `load(name)` would load. Raises PackageUnusable where that is nothing, with the command that helps."""
    asked = catalogue.find(name)
    if hub.cached_folder(asked):
        return Source(name, name, CACHE)
    if hub.reachable():
        return Source(name, name, HUB)
    asked.stand_in.package.folder()
    return Source(name, asked.stand_in.name, f"the package {asked.stand_in.package.name}")


# ------------------------------------------------------------------------------------------ the model itself


def _from_hub(asked: Asked, head: Head, attentions: bool) -> Loaded | None:
    """The model that was asked for, from the cache or the hub; None where neither has it whole."""
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
    if not hub.reachable():
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
            f"{asked.name} is neither on this machine nor on a hub that can be reached, and its stand-in {stand_in.name} "
            f"was published without a {head} head: what transformers would add is random numbers. Connect to a network "
            "once, or use the course's small BERT, which has one: coursekit.small.load('bert')."
        )
    if stand_in is MINILM:
        folder = MINILM.package.folder()
        model, tokenizer = read_model(folder, head, attentions), AutoTokenizer.from_pretrained(folder)
    else:
        from coursekit.models import smollm2

        model, tokenizer = smollm2.load(head, attentions)
    note = (
        f"Not {asked.name}, but {stand_in.name} (package {stand_in.package.name}): {stand_in.what}. "
        f"{stand_in.why_different}{'' if asked.same_vocabulary else ', and other tokens'}."
    )
    return Loaded(model, tokenizer, stand_in.name, note)


def _with_learned_head(asked: Asked, attentions: bool) -> Loaded:
    """MiniLM with the head that the course has learned on novels. Raises NoSuchHead where that head is missing."""
    try:
        model = learned_head.load_with_head(attentions=attentions)
    except learned_head.ModelMissing as missing:
        raise NoSuchHead(
            f"{asked.name} is neither on this machine nor on a hub that can be reached, and the head that its stand-in "
            f"{MINILM.name} was published without is not there: {missing}"
        ) from None
    note = (
        f"Not {asked.name}, but {MINILM.name} (package {MINILM.package.name}): {MINILM.what}. It was published without the "
        "part that names words; this course has learned that part on novels of 1839 to 1927 (data/models/novels_minilm.md). "
        "Expect older and simpler guesses."
    )
    return Loaded(model, AutoTokenizer.from_pretrained(MINILM.package.folder()), MINILM.name, note)


def _an(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"
