"""The part of MiniLM that names words: it was published without one, so this one is learned on the novels.

MiniLM-L6 is BERT's encoder, tuned to compare sentences. What is missing for `fill-mask` is the head (a linear map, GELU,
layer norm, the token table again, a bias for each piece). The two top layers move with it; the rest stays as published.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertForMaskedLM

from coursekit.models.catalogue import MINILM
from coursekit.models.learned_head import MOVING, published
from coursekit.novels.corpus import Corpus, Ragged, in_pieces
from coursekit.novels.precision import bfloat16
from coursekit.small.bert import UNCHOSEN, corrupt

CLS, SEP, MASK, FIRST = 101, 102, 103, 999
"""Of BERT's own 30,522 pieces: special ones, and the first that is a piece of text."""


def build(corpus: Corpus) -> BertForMaskedLM:
    """The published encoder with an untrained head; only MOVING learns."""
    model = published()
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(MOVING))
    return model


def losses(
    model: BertForMaskedLM, corpus: Corpus, batch: int, seed: int, split: str = "train"
) -> Iterator[Tensor]:
    """Masked-language-model losses without end (Devlin et al., 2019, section 3.1): one for each batch.

    Each is the mean cross-entropy in nats over the chosen tokens of `batch` sequences. The same `seed` draws the same
    sequences and masks.
    """
    rows, generator = rows_in_berts_pieces(corpus, split), torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    while True:
        ids = torch.from_numpy(rows.padded(rng.integers(len(rows), size=batch), CLS, SEP))
        corrupted, labels = corrupt(ids, model.config.vocab_size, generator, mask=MASK, special=FIRST)
        with bfloat16():
            top = model.bert(corrupted, attention_mask=(ids != 0).long()).last_hidden_state
            logits = model.cls(top[labels != UNCHOSEN])
        yield nn.functional.cross_entropy(logits.float(), labels[labels != UNCHOSEN])


@lru_cache(maxsize=4)
def rows_in_berts_pieces(corpus: Corpus, split: str) -> Ragged:
    """The rows of a split in BERT's own pieces, at most ROW of each."""
    tokenizer = Tokenizer.from_file(str(MINILM.package.folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    spelt = [tokenizer.encode(word, add_special_tokens=False).ids for word in corpus.words]
    return in_pieces(corpus.word_rows(split), spelt)
