"""Vectors placed between the senses of a word: the mean vector of each sense's example sentences is a corner."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from coursekit.word_explorer.readers import GloVe, Reader, Reading, Sentence

COMMON = 100
"""The most frequent words of the GloVe table say nothing about a sense."""


@dataclass(frozen=True)
class Plane:
    """Linear maps from a model's vectors to the plane of a word's senses, one for each layer.

    In each layer, the mean vector of sense k is mapped to `corners[k]`, and the mean of all senses to the origin. What is orthogonal
    to the differences between the means is left out. Coordinates are first divided by their standard deviation over the examples,
    because a few coordinates of a decoder are a hundred times larger than all others. Means of a few sentences differ by chance, too;
    the maps are multiplied by the share of the squared differences that chance does not explain. In layer 0, where the vector does not
    depend on the sentence, every word is at the origin.

    maps       P × D per layer
    centres    the mean of the senses' means per layer
    usual      what the attention of each head adds in the average example; None for a model without attention
    held_out   positions of sentences that the means do not contain: for each sense a tensor of n × L+1 × P
    """

    corners: Float[Tensor, "K P"]
    maps: Float[Tensor, "L+1 P D"]
    centres: Float[Tensor, "L+1 D"]
    usual: Float[Tensor, "L H P"] | None = None
    held_out: tuple[Float[Tensor, "n L+1 P"], ...] = ()

    def path(self, reading: Reading) -> Float[Tensor, "L+1 P"]:
        """Where the word is at each layer."""
        return self._place(reading.vectors)

    def pull(self, reading: Reading) -> Float[Tensor, "P W"] | None:
        """How far the attention of all layers together moves the word, from each word of its sentence.

        Counted from what attention adds in the average example: what every sentence adds distinguishes no senses. The sum over all
        tokens is the total movement by attention.
        """
        if reading.attended is None:
            return None
        weights, owner = reading.attended.weights, reading.attended.owner
        moved = reading.attended.along(self.maps[1:]) - weights[..., None] * self.usual[:, :, None]  # L H T P
        pulled = torch.zeros(moved.shape[-1], int(owner.max()) + 1).index_add(
            1, owner, moved.sum(dim=(0, 1)).T
        )
        return pulled

    def nearest(self, place: Float[Tensor, " P"]) -> int:
        """The sense whose corner is nearest."""
        return int(torch.cdist(place[None], self.corners).argmin())

    def _place(self, vectors: Float[Tensor, "*N L+1 D"]) -> Float[Tensor, "*N L+1 P"]:
        return torch.einsum("lpd,...ld->...lp", self.maps, vectors - self.centres)


def corners(senses: int) -> Float[Tensor, "K P"]:
    """The ends of a line from −1 to 1 for two senses, otherwise a regular polygon with the first corner on top."""
    if senses == 2:
        return torch.tensor([[-1.0], [1.0]])
    angles = [math.pi / 2 + 2 * math.pi * k / senses for k in range(senses)]
    return torch.tensor([[math.cos(angle), math.sin(angle)] for angle in angles])


def plane_of(
    reader: Reader,
    examples: Mapping[str, Sequence[Sentence]],
    held_out: Mapping[str, Sequence[Sentence]] | None = None,
) -> Plane:
    """The plane of a word's senses for one model, from example sentences of each sense.

    GloVe has the same vector in every example. Its corners are therefore the means of the examples' *other* words.
    """
    if isinstance(reader, GloVe):
        read = [[Reading(_other_words(reader, one)[None]) for one in group] for group in examples.values()]
    else:
        read = [[reader(one) for one in group] for group in examples.values()]
    vectors = [torch.stack([one.vectors for one in group]) for group in read]  # K of n L+1 D
    means = torch.stack([group.mean(dim=0) for group in vectors])  # K L+1 D
    centres = means.mean(dim=0)
    scale = torch.cat(vectors).std(dim=0).clamp_min(1e-6)  # L+1 D
    from_centre = ((means - centres) / scale).transpose(0, 1)  # L+1 K D
    places = corners(len(read))
    maps = places.T @ torch.linalg.pinv(from_centre.mT) / scale[:, None]
    maps *= _not_by_chance([group / scale for group in vectors], from_centre)[:, None, None]
    if isinstance(reader, GloVe):
        return Plane(places, maps, centres)
    maps[0] = 0
    attended = [one.attended.along(maps[1:]).sum(dim=2) for group in read for one in group if one.attended]
    plane = Plane(places, maps, centres, torch.stack(attended).mean(dim=0) if attended else None)
    others = [torch.stack([plane.path(reader(one)) for one in group]) for group in (held_out or {}).values()]
    return replace(plane, held_out=tuple(others))


def _not_by_chance(
    read: Sequence[Float[Tensor, "n L+1 D"]], from_centre: Float[Tensor, "L+1 K D"]
) -> Float[Tensor, " L+1"]:
    """1 − (squared differences between means expected by chance) / (those observed), at least 0."""
    by_chance = sum(group.var(dim=0).sum(dim=-1) / len(group) for group in read) * (1 - 1 / len(read))
    return (1 - by_chance / from_centre.square().sum(dim=(1, 2)).clamp_min(1e-9)).clamp_min(0)


def _other_words(glove: GloVe, sentence: Sentence) -> Float[Tensor, " D"]:
    rest = f"{sentence.text[: sentence.start]} {sentence.text[sentence.end :]}".lower()
    words = [word.strip(".,;:!?\"'()") for word in rest.split()]
    known = [glove.of(word) for word in words if glove.table.index.get(word, 0) >= COMMON]
    return torch.stack(known).mean(dim=0) if known else torch.zeros(glove.table.vectors.shape[1])
