"""What published decoders cost: their parameters, caches and operations, predicted by a student's function and measured."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM, LlamaConfig, MistralConfig, PreTrainedConfig, SmolLM3Config

Costs = Callable[..., tuple[int, int, int]]
"""costs(vocabulary, dim, layers, heads, kv_heads, inner, tied, tokens) returns parameters, cached numbers and FLOPs."""
LLAMA_3_8B = LlamaConfig(
    vocab_size=128_256, intermediate_size=14_336, num_key_value_heads=8, tie_word_embeddings=False
)


def cached_numbers(attention: nn.Module, dim: int, tokens: int = 100) -> int:
    """The number of values that an attention layer with an attribute `cache` stores for a text of so many tokens."""
    attention.reset(cached=True)
    with torch.no_grad():
        attention(torch.zeros(1, tokens, dim))
    stored = [*vars(attention).values(), *vars(attention.cache).values()]
    remembered = {
        id(part): part for value in stored for part in (value if isinstance(value, list | tuple) else [value])
    }
    return sum(part.numel() for part in remembered.values() if isinstance(part, Tensor))


def settings_of(config: PreTrainedConfig) -> dict[str, int | bool]:
    """The arguments of `costs`, except the number of tokens, of a configuration of transformers."""
    return {
        "vocabulary": config.vocab_size,
        "dim": config.hidden_size,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "kv_heads": config.num_key_value_heads,
        "inner": config.intermediate_size,
        "tied": config.tie_word_embeddings,
    }


def weights_of(config: PreTrainedConfig) -> dict[str, Tensor]:
    """The weights of the model that transformers builds, on the meta device, where tensors have shapes but no values."""
    with torch.device("meta"):
        return dict(AutoModelForCausalLM.from_config(config).named_parameters())


def texts_in_memory(
    costs: Costs, config: PreTrainedConfig, memory: float, tokens: int
) -> tuple[int, float, float]:
    """The number of texts whose caches fit next to the weights, the bytes of the weights, and those of one cache (2 per number)."""
    parameters, cache, _ = costs(**settings_of(config), tokens=tokens)
    return (memory - 2 * parameters) // (2 * cache), 2 * parameters, 2 * cache


def predicted_and_built(costs: Costs, smollm2: PreTrainedConfig) -> dict[str, dict[str, Any]]:
    """For five models the parameters, predicted and counted, the bytes of a cache of 8,192 tokens, and the FLOPs of tokens 128 and 8,192."""
    rows = {}
    for name, config in {
        "SmolLM2 135M": smollm2,
        "SmolLM3 3B": SmolLM3Config(tie_word_embeddings=True),
        "LLaMA 7B": LlamaConfig(tie_word_embeddings=False),
        "Mistral 7B": MistralConfig(num_key_value_heads=8, tie_word_embeddings=False),
        "Llama 3 8B": LLAMA_3_8B,
    }.items():
        short, long = (costs(**settings_of(config), tokens=tokens) for tokens in (128, 8192))
        built = sum(weight.numel() for weight in weights_of(config).values())
        rows[name] = {
            "predicted": short[0],
            "built": built,
            "cache": 2 * long[1],
            "short": short[2],
            "long": long[2],
        }
    return rows


def flops_of_next_token(decoder: nn.Module, before: int) -> int:
    """The FLOPs that PyTorch counts for the token after `before` cached tokens."""
    decoder.reset(cached=True)
    with torch.no_grad():
        decoder(torch.zeros(1, before, dtype=torch.long))
        with FlopCounterMode(display=False) as counter:
            decoder(torch.zeros(1, 1, dtype=torch.long))
    decoder.reset()
    return counter.get_total_flops()
