"""MiniLM with a masked-LM head: it was published without one, and the course has trained one (data/models/novels_minilm.md).

The file contains the differences from the published weights, those of the four lower layers as products of two small matrices. How it was trained: coursekit/novels/missing_head.py.
"""

from pathlib import Path

from torch import nn
from transformers import BertForMaskedLM

from coursekit.models.catalogue import MINILM
from coursekit.models.reading import quiet
from coursekit.stored import ModelMissing, models_folder, novels_remedy, read

MOVING = ("cls.", "bert.encoder.layer.4.", "bert.encoder.layer.5.")
"""The prefixes of the names of the trained weights."""


def published(attentions: bool = False) -> BertForMaskedLM:
    """The published encoder in evaluation mode; its head begins with the vectors as they are, the same at each call."""
    eager = {"attn_implementation": "eager"} if attentions else {}
    no_dropout = {
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }  # less than once through the text
    with quiet():  # suppress the warning that the head is new
        model = BertForMaskedLM.from_pretrained(MINILM.package.folder(), **no_dropout, **eager)
    transform = model.cls.predictions.transform
    nn.init.eye_(transform.dense.weight)
    for start in (transform.dense.bias, transform.LayerNorm.bias, model.cls.predictions.bias):
        nn.init.zeros_(start)
    nn.init.ones_(transform.LayerNorm.weight)
    return model.eval()


def load_with_head(folder: Path | None = None, attentions: bool = False) -> BertForMaskedLM:
    """MiniLM with its head, in evaluation mode. Raises ModelMissing in a sentence."""
    weights, _ = read((folder or models_folder()) / "novels_minilm.safetensors", novels_remedy("minilm"))
    model = published(attentions)
    start = dict(model.named_parameters())
    try:
        for name, difference in weights.items():
            layer, _, factor = name.rpartition(".")
            if factor == "up":  # the difference of a layer's weights, as a product of two small matrices
                start[f"{layer}.weight"].data += difference.float() @ weights[f"{layer}.down"].float()
            elif factor != "down":
                start[name].data += difference.float()
    except (KeyError, RuntimeError):
        raise ModelMissing(
            f"novels_minilm.safetensors does not match this MiniLM. {novels_remedy('minilm')}"
        ) from None
    return model.eval()
