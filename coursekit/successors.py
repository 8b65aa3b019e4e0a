"""Three successors of BERT, counted and tried without their weights."""

from typing import Any

import pandas as pd
import torch
from transformers import (
    AutoModel,
    BertConfig,
    DebertaConfig,
    DistilBertConfig,
    PretrainedConfig,
    RobertaConfig,
)

SHAPES: dict[str, PretrainedConfig] = {
    "BERT": BertConfig(),
    "DistilBERT": DistilBertConfig(),
    "RoBERTa": RobertaConfig(vocab_size=50_265, max_position_embeddings=514, type_vocab_size=1),
    "DeBERTa": DebertaConfig(
        vocab_size=50_265,
        type_vocab_size=0,
        relative_attention=True,
        max_relative_positions=-1,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
    ),
}
"""The published base models."""
SUBWORDS_AND_TRAINING = {
    "BERT": ("WordPiece", "masked words, next sentence"),
    "DistilBERT": ("WordPiece", "masked words, BERT's outputs and hidden states"),
    "RoBERTa": ("bytes (BPE)", "masked words only, masked anew each time"),
    "DeBERTa": ("bytes (BPE)", "masked words only"),
}


def table_of_successors() -> pd.DataFrame:
    """A row for each model: its size, its subwords, its training, and what the input to its first layer contains."""
    return pd.DataFrame(
        {
            name: {
                **shape_of(config),
                "subwords": SUBWORDS_AND_TRAINING[name][0],
                "trained on": SUBWORDS_AND_TRAINING[name][1],
                "segments": "yes" if getattr(config, "type_vocab_size", 0) > 1 else "no",
                "same vector at any position": same_anywhere(config),
            }
            for name, config in SHAPES.items()
        }
    ).T


def shape_of(config: PretrainedConfig) -> dict[str, Any]:
    """The number of layers and parameters of an architecture, counted without allocating memory for its weights."""
    with torch.device("meta"):
        empty = AutoModel.from_config(config)
    everything, tables = (
        sum(weight.numel() for weight in part.parameters()) for part in (empty, empty.embeddings)
    )
    return {
        "layers": config.num_hidden_layers,
        "parameters": f"{everything:,}",
        "of these in embedding tables": f"{tables:,}",
    }


def same_anywhere(config: PretrainedConfig) -> str:
    """Whether a token's input to the first layer is the same at every position (with random weights): "yes" or "no"."""
    small = {"vocab_size": 100, "pad_token_id": 0, "num_hidden_layers": 1, "n_layers": 1}
    config = type(config).from_dict(config.to_dict() | small)
    torch.manual_seed(0)
    table = AutoModel.from_config(config).eval().embeddings
    with torch.no_grad():
        x = table(torch.full((1, 8), 5))[0]
    return "yes" if torch.equal(x[2], x[6]) else "no"
