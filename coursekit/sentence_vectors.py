"""Vectors of whole texts from the packaged MiniLM: the mean of its last layer, as notebook 11 makes them."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from transformers import AutoTokenizer

from coursekit.models.catalogue import MINILM
from coursekit.models.reading import read_model

BATCH, LONGEST = 32, 256  # texts in a batch, tokens of a text; longer texts are truncated


@torch.no_grad()
def encode(texts: Sequence[str]) -> Float[np.ndarray, "texts 384"]:
    """One vector of length 1 for each text. Needs no network. Raises PackageUnusable with a command that helps."""
    folder = MINILM.package.folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = read_model(folder, None, attentions=False)
    vectors = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
    by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # little padding in a batch
    for start in range(0, len(texts), BATCH):
        places = by_length[start : start + BATCH]
        batch = tokenizer(
            [texts[place] for place in places],
            padding=True,
            truncation=True,
            max_length=LONGEST,
            return_tensors="pt",
        )
        hidden = model(**batch).last_hidden_state  # [batch, token, 384]
        keep = batch["attention_mask"][..., None]
        mean = (hidden * keep).sum(dim=1) / keep.sum(dim=1)
        vectors[places] = torch.nn.functional.normalize(mean, dim=-1).numpy()
    return vectors
