"""Decoders since 2018: the configurations that their authors published, and the ideas in a census of all decoders of a library."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from transformers import (
    DeepseekV3Config,
    Gemma3TextConfig,
    GlmMoeDsaConfig,
    GPT2Config,
    GptOssConfig,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    OpenAIGPTConfig,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
    SmolLM3Config,
)  # fmt: skip

from coursekit.decoder_costs import LLAMA_3_8B, Costs, weights_of

EVERYWHERE = "rotary", "RMSNorm, before", "SwiGLU"
IDEAS = ["rotary", "RMSNorm", "QK-norm", "GQA", "MLA", "experts", "sliding window", "linear layers"]
"""Columns of the census."""


class Published(NamedTuple):
    """A decoder as its authors describe it; `parts` are its positions, its norm and its activation."""

    year: int
    config: PreTrainedConfig
    parts: Sequence[str]
    context: int
    tokens: str


def decoders(smollm2: PreTrainedConfig) -> dict[str, Published]:
    """Fourteen decoders in the order of their publication."""
    return {
        "GPT": Published(2018, OpenAIGPTConfig(), ("learned", "layer norm, after", "GELU"), 512, "about 1 B"),
        "GPT-2 XL": Published(
            2019, GPT2Config(n_embd=1600, n_layer=48, n_head=25), ("learned", "layer norm, before", "GELU"), 1024, "not published",
        ),
        "LLaMA 7B": Published(2023, LlamaConfig(tie_word_embeddings=False), EVERYWHERE, 2048, "1 T"),
        "Mistral 7B": Published(
            2023, MistralConfig(num_key_value_heads=8, tie_word_embeddings=False), EVERYWHERE, 8192, "not published",
        ),
        "Mixtral 8×7B": Published(
            2023, MixtralConfig(tie_word_embeddings=False), (*EVERYWHERE[:2], "SwiGLU, 2 of 8 experts"), 32_768, "not published",
        ),
        "Llama 3 8B": Published(2024, LLAMA_3_8B, EVERYWHERE, 8192, "15 T"),
        "Qwen2.5 0.5B": Published(2024, Qwen2Config(
            vocab_size=151_936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
            num_key_value_heads=2, tie_word_embeddings=True,
        ), EVERYWHERE, 32_768, "18 T"),
        "DeepSeek-V3": Published(
            2024, DeepseekV3Config(), (*EVERYWHERE[:2], "SwiGLU, 8 of 256 experts and 1 shared expert"), 131_072, "14.8 T",
        ),
        "SmolLM2 135M": Published(2024, smollm2, EVERYWHERE, 8192, "2 T"),
        "Gemma 3 1B": Published(2025, Gemma3TextConfig(
            vocab_size=262_144, hidden_size=1152, intermediate_size=6912, num_attention_heads=4, num_key_value_heads=1,
        ), ("rotary", "RMSNorm, before and after", "GEGLU"), 32_768, "2 T"),
        "Qwen3 0.6B": Published(2025, Qwen3Config(
            hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
            tie_word_embeddings=True,
        ), EVERYWHERE, 32_768, "36 T"),
        "SmolLM3 3B": Published(
            2025, SmolLM3Config(), ("rotary; none in every fourth layer", *EVERYWHERE[1:]), 65_536, "11 T",
        ),
        "gpt-oss 20B": Published(
            2025, GptOssConfig(num_hidden_layers=24, num_local_experts=32), (*EVERYWHERE[:2], "SwiGLU, 4 of 32 experts"), 131_072,
            "not published",
        ),
        "GLM-5": Published(
            2026, GlmMoeDsaConfig(), (*EVERYWHERE[:2], "SwiGLU, 8 of 256 experts and 1 shared expert"), 202_752, "28.5 T",
        ),
    }  # fmt: skip


def row_of(decoder: Published) -> dict[str, Any]:
    """One row of the table; the parameters are those of the model that transformers builds, and a cached number takes two bytes."""
    year, config, (positions, norm, activation), context, tokens = decoder
    weights = weights_of(config)
    parameters = sum(weight.numel() for weight in weights.values())
    heads, layers = config.num_attention_heads, config.num_hidden_layers
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    d = getattr(config, "head_dim", None) or config.hidden_size // heads
    per_layer = 2 * kv_heads * d
    if hasattr(
        config, "kv_lora_rank"
    ):  # one compressed vector for all heads, one rotated key, and the indexer's key
        per_layer = config.kv_lora_rank + config.qk_rope_head_dim + getattr(config, "index_head_dim", 0)
        kv_heads = "compressed"
    if any(name.endswith("q_norm.weight") for name in weights):
        norm += "; QK-norm"
    return {
        "year": year,
        "parameters": f"{parameters / 1e9:.3f} B",
        "vocabulary": f"{config.vocab_size:,}",
        "layers": layers,
        "D": config.hidden_size,
        "heads / heads of keys": f"{heads} / {kv_heads}",
        "positions": positions,
        "norm": norm,
        "activation": activation,
        "cache per token": f"{2 * layers * per_layer / 1024:.0f} KiB",
        "context": f"{context:,}",
        "trained on": tokens,
    }


def table_of(published: dict[str, Published]) -> pd.DataFrame:
    """A row for each decoder."""
    return pd.DataFrame({name: row_of(decoder) for name, decoder in published.items()}).T


def shares_of_ideas(census: pd.DataFrame) -> pd.DataFrame:
    """The share of the decoders of each period that have an idea; the head of a column states how many decoders there are."""
    period = pd.cut(
        census["year"], [0, 2022, 2023, 2024, 2030], labels=["up to 2022", "2023", "2024", "since 2025"]
    )
    shares = census.groupby(period, observed=True)[IDEAS].mean().T
    counts = period.value_counts()
    shares.columns = [f"{name} ({counts[name]})" for name in shares.columns]
    return shares


def predicted_over_built(costs: Costs, census: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """For the decoders whose settings are known: the parameters predicted by `costs`, divided by those counted; and which have experts."""
    settings = ["vocabulary", "dim", "layers", "heads", "kv_heads", "inner", "tied"]
    complete = census.dropna(subset=settings).set_index("decoder")
    predicted = [costs(*map(int, row), tokens=1)[0] for row in complete[settings].to_numpy()]
    ratio = pd.Series(predicted, index=complete.index) / complete["parameters"]
    return ratio, complete["experts"].astype(bool)
