"""A small GPT-2 with random weights, which tests another implementation of its architecture as well as the published one."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def random_gpt2(
    vocabulary: int, tokens: int, dim: int, layers: int, heads: int, seed: int
) -> GPT2LMHeadModel:
    """transformers' GPT-2 with biases that are not 0 and norm weights that are not 1."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=tokens,
        n_embd=dim,
        n_layer=layers,
        n_head=heads,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return model
