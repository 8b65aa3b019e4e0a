"""Vectors of whole texts from the packaged MiniLM: the mean of its last layer, as notebook 11 makes them."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import AutoTokenizer

from coursekit.models.catalogue import MINILM
from coursekit.models.reading import read_model
from coursekit.pooling import in_batches

LONGEST = 256  # tokens of a text; longer texts are truncated


@torch.no_grad()
def encode(texts: Sequence[str]) -> Float[np.ndarray, "texts 384"]:
    """One vector of length 1 for each text. Needs no network. Raises PackageUnusable with a command that helps."""
    folder = MINILM.package.folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = read_model(folder, None, attentions=False)

    def read(some: list[str]) -> Float[Tensor, "b 384"]:
        batch = tokenizer(some, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        hidden = model(**batch).last_hidden_state  # [batch, token, 384]
        keep = batch["attention_mask"][..., None]
        mean = (hidden * keep).sum(dim=1) / keep.sum(dim=1)
        return torch.nn.functional.normalize(mean, dim=-1)

    return in_batches(read, texts).numpy() if len(texts) else np.zeros((0, 384), dtype=np.float32)
