"""The head of MiniLM that predicts words: MiniLM was published without such a head, so the course trains one on the novels.

MiniLM-L6 is an encoder like BERT, fine-tuned to compare sentences. For `fill-mask`, it lacks the head (a linear map, GELU,
layer norm, the token table again, a bias for each subword). The two top layers are trained with the head; the other weights
stay as published. A second run (`build_continued`) continues on modern text and also changes the four lower layers a little.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertForMaskedLM

from coursekit.models.catalogue import MINILM
from coursekit.models.learned_head import MOVING, load_with_head, published
from coursekit.novels import modern
from coursekit.novels.corpus import ROW, Corpus, Ragged, in_pieces
from coursekit.novels.precision import bfloat16
from coursekit.novels.shipped import save
from coursekit.small.bert import UNCHOSEN, corrupt

CLS, SEP, MASK, FIRST = 101, 102, 103, 999
"""Among BERT's 30,522 subwords: the special tokens, and the first subword that is not special."""


def build(corpus: Corpus) -> BertForMaskedLM:
    """The published encoder with an untrained head; only the weights in MOVING are trainable."""
    model = published()
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(MOVING))
    return model


def losses(
    model: BertForMaskedLM, corpus: Corpus, batch: int, seed: int, split: str = "train"
) -> Iterator[Tensor]:
    """An endless stream of masked-language-model losses (Devlin et al., 2019, section 3.1), one for each batch.

    Each is the mean cross-entropy in nats over the chosen tokens of `batch` sequences. The same `seed` draws the same
    sequences and masks.
    """
    rows, generator = rows_in_berts_pieces(corpus, split), torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    while True:
        ids = torch.from_numpy(rows.padded(rng.integers(len(rows), size=batch), CLS, SEP))
        yield masked_loss(model, ids, generator)


def masked_loss(model: BertForMaskedLM, ids: Int[Tensor, "B T"], generator: torch.Generator) -> Tensor:
    """The mean cross-entropy in nats over tokens that are chosen and corrupted by `generator`."""
    corrupted, labels = corrupt(ids, model.config.vocab_size, generator, mask=MASK, special=FIRST)
    with bfloat16():
        top = model.bert(corrupted, attention_mask=(ids != 0).long()).last_hidden_state
        logits = model.cls(top[labels != UNCHOSEN])
    return nn.functional.cross_entropy(logits.float(), labels[labels != UNCHOSEN])


@lru_cache(maxsize=4)
def rows_in_berts_pieces(corpus: Corpus, split: str) -> Ragged:
    """The rows of a split in BERT's own subwords, at most ROW for each row."""
    tokenizer = Tokenizer.from_file(str(MINILM.package.folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    spelt = [tokenizer.encode(word, add_special_tokens=False).ids for word in corpus.words]
    return in_pieces(corpus.word_rows(split), spelt)


# --- continued on modern text ---

RANK, SCALE = 8, 4.0
"""Rank of the updates of the lower layers, and the factor in front of them, since their learning rate is that of "bert."."""
SHARES = {"novels": 0.3, "sequences": 0.3, "sentences": 0.4}
"""The fraction of the batches of each kind: rows of the novels, sequences of modern text, sentences alone."""
NEAR = 2_000
"""Sentences of about the same length, of which a batch is drawn."""


class LowRank(nn.Module):
    """A linear map that is frozen, plus a trainable update of low rank (LoRA: Hu et al., 2022), which begins with 0."""

    def __init__(self, linear: nn.Linear):
        super().__init__()
        self.linear = linear
        self.down = nn.Linear(linear.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Float[Tensor, "... in"]) -> Float[Tensor, "... out"]:
        """The frozen map and SCALE times the update."""
        return self.linear(x) + SCALE * self.up(self.down(x))


def build_continued(corpus: Corpus) -> BertForMaskedLM:
    """MiniLM with the head that `novels-minilm` has recorded; MOVING is trained further, the other layers' linear maps by LowRank."""
    model = load_with_head(attentions=True)  # "eager": its backward pass takes less than half the time
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(MOVING))
    for layer in model.bert.encoder.layer[:4]:
        for path, part in list(layer.named_modules()):
            if isinstance(part, nn.Linear):
                layer.set_submodule(path, LowRank(part))
    return model


def continued_losses(
    model: BertForMaskedLM, corpus: Corpus, batch: int, seed: int, split: str = "train"
) -> Iterator[Tensor]:
    """As `losses`, on batches of the novels, of sequences of modern text, and of single sentences of modern text.

    Modern text is read into the folder `modern` next to that of the corpus. Batches of sentences have about as many
    tokens as the others.
    """
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    rows = {
        "novels": rows_in_berts_pieces(corpus, split),
        **modern_rows(corpus.folder.parent / "modern", split),
    }
    while True:
        kind = rng.choice(list(SHARES), p=list(SHARES.values()))
        numbers = rng.integers(len(rows[kind]), size=batch)
        if kind == "sentences":  # sorted by length
            start = max(0, min(int(numbers[0]), len(rows[kind]) - NEAR))
            longest = len(rows[kind][min(start + NEAR, len(rows[kind])) - 1])
            numbers = start + rng.integers(min(NEAR, len(rows[kind])), size=batch * ROW // longest)
        yield masked_loss(model, torch.from_numpy(rows[kind].padded(numbers, CLS, SEP)), generator)


@lru_cache(maxsize=4)
def modern_rows(folder: Path, split: str) -> dict[str, Ragged]:
    """All sequences of modern text, and all sentences from the shortest to the longest."""
    found = modern.rows(folder, split)
    return {
        kind: joined([found[name] for name in found if name.endswith(kind)], by_length=kind == "sentences")
        for kind in ("sequences", "sentences")
    }


def joined(parts: Sequence[Ragged], by_length: bool) -> Ragged:
    """The rows of all parts, in order of length if so wished."""
    rows = [part[number] for part in parts for number in range(len(part))]
    if by_length:
        rows = sorted(rows, key=len)
    return Ragged(np.concatenate(rows), np.cumsum([len(row) for row in rows]))


def save_minilm(model: BertForMaskedLM, folder: Path, about: dict[str, Any]) -> Path:
    """Write only the weights that differ from `published()`: the head, the top layers, and updates of low rank.

    Raises ValueError if the maps with such updates are not the published ones.
    """
    start = dict(published().named_parameters())
    weights = {
        name: weight - start[name] for name, weight in model.named_parameters() if name.startswith(MOVING)
    }
    for name, part in model.named_modules():
        if isinstance(part, LowRank):
            if not torch.equal(part.linear.weight, start[f"{name}.weight"]):
                raise ValueError(
                    f"{name} was changed before: start again from the head that novels-minilm records."
                )
            weights |= {f"{name}.up": SCALE * part.up.weight, f"{name}.down": part.down.weight}
    return save("minilm", weights, folder, about)
