"""Vectors of whole texts from the token vectors of a model, pooled by functions that are passed."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from coursekit.batches import by_length
from coursekit.models import Loaded

BATCH = 32
Pool = Callable[[Float[Tensor, "B T D"], Bool[Tensor, "B T"]], Float[Tensor, "B D"]]


def in_batches(vectors_of: Callable[[list[str]], Tensor], texts: Iterable[str]) -> Float[Tensor, "n D"]:
    """The vectors of texts, computed in batches of similar length, in the order of the texts."""
    texts = list(texts)
    lengths = [len(text) for text in texts]
    return by_length(lambda places: vectors_of([texts[i] for i in places]), lengths, BATCH)


def cosines_with_padding(
    sentence: str, padding: Sequence[int], read: Callable[..., tuple[Tensor, Tensor]], mean_pool: Pool
) -> dict[str, list[float]]:
    """The cosine of a sentence's mean vector without padding with two means, for several numbers of padding positions.

    The two means are the one over all positions, and that of `mean_pool`.
    """
    alone, _ = read([sentence])
    cosines: dict[str, list[float]] = {"all positions": [], "only the sentence's own tokens": []}
    for places in padding:
        hidden, keep = read([sentence], max_length=alone.shape[1] + places, padding="max_length")
        for found, pooled in zip(
            cosines.values(), (hidden.mean(dim=1), mean_pool(hidden, keep)), strict=True
        ):
            found.append(torch.cosine_similarity(pooled, alone.mean(dim=1)).item())
    return cosines


@torch.no_grad()
def layer_means(
    texts: Iterable[str], model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, mean_pool: Pool
) -> Float[Tensor, "layers n D"]:
    """The mean over each text's tokens at every layer of an encoder, from layer 0 upwards."""
    inputs = tokenizer(list(texts), return_tensors="pt", padding=True)
    layers = model(**inputs, output_hidden_states=True).hidden_states
    return torch.stack([mean_pool(layer, inputs["attention_mask"].bool()) for layer in layers])


@torch.no_grad()
def decoder_layers(
    texts: Iterable[str], decoder: Loaded, pools: Mapping[str, Pool]
) -> dict[str, Float[Tensor, "layers n D"]]:
    """The vectors of texts at every layer of a decoder from layer 1 upwards, for each way of pooling."""
    tokenizer = decoder.tokenizer
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token

    def read(some: list[str]) -> Float[Tensor, "b pools layers D"]:
        inputs = tokenizer(some, return_tensors="pt", padding=True)
        inputs.pop("token_type_ids", None)
        keep = inputs["attention_mask"].bool()
        layers = decoder.model(**inputs, output_hidden_states=True).hidden_states[1:]
        pooled = [torch.stack([pool(layer, keep) for layer in layers], dim=1) for pool in pools.values()]
        return torch.stack(pooled, dim=1)

    return dict(zip(pools, in_batches(read, texts).permute(1, 2, 0, 3).contiguous(), strict=True))


WINDOW, OVERLAP = 126, 32
"""Tokens of a window, and tokens that it shares with the next one."""


@torch.no_grad()
def read_windows(
    text: str,
    windows: Callable[[Tensor, int, int, int], tuple[Tensor, Tensor]],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
) -> tuple[Float[Tensor, "W T D"], Bool[Tensor, "W T"]]:
    """An encoder's vectors for all windows of a text, each between [CLS] and [SEP]."""
    whole = torch.tensor(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    ids, keep = windows(whole, WINDOW, OVERLAP, tokenizer.pad_token_id)
    pad = torch.nn.functional.pad
    ids, keep = pad(ids, (1, 1), value=tokenizer.pad_token_id), pad(keep, (1, 1))
    ends = keep.sum(dim=1) + 1
    ids[:, 0], ids[range(len(ids)), ends] = tokenizer.cls_token_id, tokenizer.sep_token_id
    keep[:, 0], keep[range(len(keep)), ends] = True, True
    return model(ids, attention_mask=keep.long()).last_hidden_state, keep
