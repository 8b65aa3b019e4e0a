"""How matrices are multiplied while a model of the novels learns."""

import torch

KNOWN_BY = ("amx_bf16", "avx512_bf16", "bf16")
"""What processors call it that multiply numbers of bfloat16 themselves."""


def bfloat16() -> torch.autocast:
    """bfloat16 where the processor knows it: it is several times as fast there, and sixty times as slow elsewhere."""
    able = torch.cpu.get_capabilities()
    return torch.autocast("cpu", torch.bfloat16, enabled=any(able.get(name) for name in KNOWN_BY))
