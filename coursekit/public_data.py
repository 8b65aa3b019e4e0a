"""Public data sets with the columns of the course's own data: load_public("SST-2") as a counterpart of data/sentiment.

    reviews = load_public("SST-2", split="validation")      # columns text, label, split: as data/sentiment/sentiment.csv

They come from the Hugging Face hub through its package `datasets` (pip install datasets), which keeps them in its cache, so that no network is needed the second time. Each has its own licence and card on the hub.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from coursekit.models import hub

if TYPE_CHECKING:
    from datasets import Dataset


class PublicDataUnavailable(RuntimeError):
    """A public data set that is neither in the cache nor on a hub that can be reached."""


@dataclass(frozen=True)
class Public:
    """The location of a data set on the hub, its counterpart among the course's own data, and how it is read."""

    repository: str
    config: str | None
    counterpart: str
    table: Callable[["Dataset"], pd.DataFrame]
    revision: str | None = None
    labelled: tuple[str, ...] = ("train", "validation")


def load_public(name: str, split: str = "validation") -> pd.DataFrame:
    """One split of "SST-2", "CoNLL-2003", "SQuAD", "SQuAD 2.0", "SNLI", "STS-B" or "WiC" as a table.

    Its columns are those of the counterpart in data/ as far as the public data set has them. Rows without a label are
    left out. Raises PublicDataUnavailable, with one sentence, if the data set cannot be loaded.
    """
    if name not in PUBLIC:
        raise ValueError(f"There is no public data set {name!r} here. Choose from {', '.join(PUBLIC)}.")
    wanted = PUBLIC[name]
    if split not in wanted.labelled:
        raise ValueError(
            f"{name} has labels for {' and '.join(wanted.labelled)}; you asked for the split {split!r}."
        )
    table = wanted.table(_fetch(name, wanted, split))
    return table.assign(split=split)


def _fetch(name: str, wanted: Public, split: str) -> "Dataset":
    try:
        import datasets  # optional: only public data sets need it
    except ModuleNotFoundError as missing:
        raise PublicDataUnavailable(f"{name} needs a package: pip install datasets.") from missing
    own = f"The course's own counterpart is data/{wanted.counterpart}."
    get = partial(
        datasets.load_dataset, wanted.repository, wanted.config, split=split, revision=wanted.revision
    )
    if not hub.reachable():
        try:
            return _from_cache(get)
        except Exception as error:
            raise PublicDataUnavailable(
                f"{name} is not on this machine and the hub cannot be reached. {own}"
            ) from error
    try:
        return get()
    except Exception as error:  # any error of a network or a hub
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise PublicDataUnavailable(f"{name} could not be fetched from the hub ({first}). {own}") from error


def _from_cache(get: Callable[[], "Dataset"]) -> "Dataset":
    """The copy of an earlier download in the cache of `datasets`, without any request."""
    import datasets  # optional: as above

    before, datasets.config.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE, True
    try:
        return get()
    finally:
        datasets.config.HF_HUB_OFFLINE = before


# ------------------------------------------------------------------------------------------ one reader each


def sst2(rows: "Dataset") -> pd.DataFrame:
    """Sentences of film reviews (Socher et al., 2013): text and label."""
    table = rows.to_pandas()
    return _named(table.label, {0: "negative", 1: "positive"}, pd.DataFrame({"text": table.sentence}))


CONLL_TAGS = ("O", *(f"{place}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for place in "BI"))


def conll(rows: "Dataset") -> pd.DataFrame:
    """News with names (Tjong Kim Sang & De Meulder, 2003): one token per row, numbered sentences, BIO tags."""
    table = rows.to_pandas()[["id", "tokens", "ner_tags"]].explode(["tokens", "ner_tags"])
    tags = [CONLL_TAGS[tag] for tag in table.ner_tags]
    return pd.DataFrame({"sentence": table.id, "token": table.tokens, "tag": tags}).reset_index(drop=True)


def squad(rows: "Dataset") -> pd.DataFrame:
    """Questions on Wikipedia (Rajpurkar et al., 2016, 2018): all answers with the character where each starts."""
    table = rows.to_pandas()
    answers, starts = ([list(answer[key]) for answer in table.answers] for key in ("text", "answer_start"))
    return table[["id", "title", "context", "question"]].assign(
        answers=answers, starts=starts, answerable=[len(texts) > 0 for texts in answers]
    )


def snli(rows: "Dataset") -> pd.DataFrame:
    """Pairs with entailment labels (Bowman et al., 2015)."""
    table = rows.to_pandas()
    return _named(
        table.label, {0: "entailment", 1: "neutral", 2: "contradiction"}, table[["premise", "hypothesis"]]
    )


def stsb(rows: "Dataset") -> pd.DataFrame:
    """Pairs with a similarity from 0 to 5 (Cer et al., 2017)."""
    table = rows.to_pandas()
    return pd.DataFrame(
        {"premise": table.sentence1, "hypothesis": table.sentence2, "similarity": table.label}
    )


def wic(rows: "Dataset") -> pd.DataFrame:
    """Pairs of sentences with the same word (Pilehvar & Camacho-Collados, 2019): do both have the same sense? The word is at the characters `start` to `end`. data/senses names the senses; two of its sentences make such a pair."""
    table = rows.to_pandas()
    wanted = ["word", "sentence1", "start1", "end1", "sentence2", "start2", "end2"]
    return _named(table.label, {0: "different", 1: "same"}, table[wanted])


def _named(labels: pd.Series, names: dict[int, str], table: pd.DataFrame) -> pd.DataFrame:
    """The table with labels in words; rows whose label is none of them (-1: unlabelled) are left out."""
    table = table.assign(label=labels.map(names))
    return table[table.label.notna()].reset_index(drop=True)


PUBLIC = {
    "SST-2": Public("stanfordnlp/sst2", None, "sentiment", sst2),
    "CoNLL-2003": Public(
        "eriktks/conll2003", None, "entities", conll, "refs/convert/parquet", ("train", "validation", "test")
    ),
    "SQuAD": Public("rajpurkar/squad", None, "questions", squad),
    "SQuAD 2.0": Public("rajpurkar/squad_v2", None, "questions", squad),
    "SNLI": Public("stanfordnlp/snli", None, "pairs", snli, None, ("train", "validation", "test")),
    "STS-B": Public("nyu-mll/glue", "stsb", "pairs", stsb),
    "WiC": Public("aps/super_glue", "wic", "senses", wic),
}
