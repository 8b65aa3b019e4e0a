"""Pre-trained models by name, with or without a network.

    loaded = load("bert-base-uncased")                  # prints which model was loaded
    vectors = loaded.model(**loaded.tokenizer("a cell", return_tensors="pt")).last_hidden_state

A model is loaded from the local Hugging Face cache, otherwise from the hub if it can be reached, otherwise from a Python
package that contains a stand-in. Weights are never silently initialised at random: see NoSuchHead.
"""

from coursekit.models.catalogue import NoSuchHead, UnknownModel
from coursekit.models.loading import Loaded, Source, available, load, source, tokenizer
from coursekit.packaged import PackageUnusable

__all__ = [
    "Loaded",
    "NoSuchHead",
    "PackageUnusable",
    "Source",
    "UnknownModel",
    "available",
    "load",
    "source",
    "tokenizer",
]
