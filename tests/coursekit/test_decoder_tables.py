"""Speculative decoding, computed for a token in notebook 13, against drafts that are drawn, accepted or replaced one by one."""

import torch

from coursekit.pictures.decoder_tables import speculative


def test_what_is_written_has_the_distribution_of_the_large_model():
    draw = torch.Generator().manual_seed(0)
    p, q = torch.randn(2, 6, generator=draw).softmax(dim=-1)
    share, written = speculative(p, q)
    drafted = torch.multinomial(q, 200_000, replacement=True, generator=draw)
    accepted = torch.rand(len(drafted), generator=draw) < (p / q)[drafted]
    others = torch.multinomial((p - q).clamp(min=0), len(drafted), replacement=True, generator=draw)
    drawn = torch.where(accepted, drafted, others).bincount(minlength=6) / len(drafted)
    assert torch.allclose(written, p) and torch.allclose(drawn, p, atol=0.005)
    assert abs(accepted.float().mean().item() - share) < 0.005
