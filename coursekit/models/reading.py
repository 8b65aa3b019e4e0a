"""Reading a model with transformers: in float32, without screen output and without random weights."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging

from coursekit.models.catalogue import Head, NoSuchHead

_CLASSES = {None: AutoModel, "masked-lm": AutoModelForMaskedLM, "causal-lm": AutoModelForCausalLM}


def read_model(
    folder: Path,
    head: Head,
    attentions: bool,
    gguf_file: str | None = None,
    config: PreTrainedConfig | None = None,
) -> PreTrainedModel:
    """The model of a folder, or of the named GGUF file in it; `config` is read there if it is not given.

    Raises NoSuchHead if any of its weights would be random.
    """
    read = _CLASSES[head].from_pretrained
    given = {name: value for name, value in (("gguf_file", gguf_file), ("config", config)) if value}
    options = _options(attentions) | given
    with quiet():
        model, report = read(folder, **options)
        if report["missing_keys"] and all("pooler." in key for key in report["missing_keys"]):
            model, report = read(
                folder, add_pooling_layer=False, **options
            )  # RoBERTa was published without one
    _refuse_random(report, folder.name)
    if gguf_file:
        # The weights are ordinary float32 numbers by now; with this mark transformers would refuse to save them.
        model.hf_quantizer.remove_quantization_config(model)
    return model


def _options(attentions: bool) -> dict:
    eager = {"attn_implementation": "eager"} if attentions else {}
    return {"dtype": torch.float32, "output_loading_info": True, "use_safetensors": True, **eager}


def _refuse_random(report: dict, name: str) -> None:
    random = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if random:
        shown = ", ".join(random[:3]) + (" and others" if random[3:] else "")
        raise NoSuchHead(
            f"{name} contains no weights for {shown}, which would therefore be random. Ask for the model without that head."
        )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' progress bars and reports on standard error, which look like errors in a notebook."""
    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
