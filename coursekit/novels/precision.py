"""The precision of matrix products while a model of the novels is trained."""

import torch

KNOWN_BY = ("amx_bf16", "avx512_bf16", "bf16")
"""The names of the processor features for products in bfloat16."""


def bfloat16() -> torch.autocast:
    """Use bfloat16 if the processor supports it: it is then several times as fast, but on other processors sixty times as slow."""
    able = torch.cpu.get_capabilities()
    return torch.autocast("cpu", torch.bfloat16, enabled=any(able.get(name) for name in KNOWN_BY))
