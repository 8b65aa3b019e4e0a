"""Which decoders does the installed transformers library contain, and which ideas do they use?

For each text decoder with a class of its own, its default configuration is built on PyTorch's meta device, without weights:
year of the copyright notice, number of parameters, the settings from which notebook 13 predicts costs, and the ideas that are
recognised by the names of its parts. Writes `data/results/decoders_census.csv` (a few minutes).
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
)

from experiments.harness import Experiment, Options, Step, Steps, grid

NOT_DECODERS = re.compile(
    r"class \w+ForMaskedLM\(|class \w+ForConditionalGeneration\(|is_encoder_decoder=True"
)
"""In the code of encoders, of encoder–decoders, and of models that also read images or sound."""
ALSO_NOT = {"marian", "trocr", "git", "fuyu", "phi4_multimodal", "xlm", "xlnet"}
"""Models of the same kinds whose code does not show it, and XLNet, which does not predict from left to right."""
OTHER_LAYERS = "mamba|bambamixer|h1mixer|deltanet|deltaattention|linearattention|lightningattention|shortconv|lstm|rwkv|recurrent"
"""Classes of layers that are not attention over all stored tokens: linear attention, state spaces, convolutions, recurrence."""


def modeling_code(kind: str) -> str:
    """The code that defines the decoder of this type."""
    decoder = MODEL_FOR_CAUSAL_LM_MAPPING[CONFIG_MAPPING[kind]]
    return Path(inspect.getfile(import_module(decoder.__module__))).read_text(encoding="utf-8")


def decoders() -> list[str]:
    """The types of text decoders; of several types with the same class, the one that has its name."""
    found: dict[str, str] = {}
    for kind, name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items():
        own = name.endswith(("ForCausalLM", "LMHeadModel")) and kind not in ALSO_NOT
        named = name.lower().startswith(re.sub(r"[_-]", "", kind))
        if own and (name not in found or named) and not NOT_DECODERS.search(modeling_code(kind)):
            found[name] = kind
    return sorted(found.values())


def described(decoder: str) -> dict:
    """One row of the census; empty cells where the library does not build the default configuration, or has no such setting."""
    code = modeling_code(decoder)
    years = re.search(r"copyright (?:\(c\) )?(20\d\d)", code, re.IGNORECASE)
    row: dict = {"year": int(years[1]) if years else None}
    try:
        config = CONFIG_MAPPING[decoder]()
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
    except Exception as error:  # whatever the library raises
        print(f"{decoder}: {type(error).__name__}: {error}"[:200])
        return row | {"parameters": None}
    names = [name for name, _ in model.named_parameters()]
    classes = {type(part).__name__ for part in model.modules()}
    all_classes = " ".join(sorted(classes)).lower()
    norms = [name for name in classes if name.lower().endswith("norm")]

    def setting(*keys: str) -> int | None:
        values = [getattr(config, key, None) for key in keys]
        return next((value for value in values if isinstance(value, int)), None)

    heads, kv_heads = setting("num_attention_heads", "n_head"), setting("num_key_value_heads")
    kinds = getattr(config, "layer_types", None) or []
    return row | {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "vocabulary": setting("vocab_size"),
        "dim": setting("hidden_size", "n_embd"),
        "layers": setting("num_hidden_layers", "n_layer"),
        "heads": heads,
        "kv_heads": kv_heads or heads,
        "inner": setting("intermediate_size"),
        "tied": bool(getattr(config, "tie_word_embeddings", False)),
        "rotary": "rotary" in all_classes or bool(re.search("apply_rotary", code)),
        "RMSNorm": any("rms" in name.lower() for name in norms),
        "QK-norm": any(re.search(r"(\bq|query)_?(layer)?norm|qk_norm|q_layernorm", name) for name in names),
        "GQA": bool(heads and kv_heads and kv_heads < heads),
        "MLA": any("kv_a_proj" in name or "kv_lora" in name for name in names),
        "experts": bool(re.search("expert|moe|sparse", all_classes))
        or any("experts." in name for name in names),
        "sliding window": "sliding_attention" in kinds
        or (not kinds and bool(getattr(config, "sliding_window", None))),
        "linear layers": bool(re.search(OTHER_LAYERS, all_classes)),
    }


def _steps(options: Options) -> Steps:
    yield Step("decoders_census", grid(decoder=decoders()), described)


EXPERIMENT = Experiment(_steps)
