"""Pre-trained models by name, with a network or without one.

    loaded = load("bert-base-uncased")                  # says which model this really is
    vectors = loaded.model(**loaded.tokenizer("a cell", return_tensors="pt")).last_hidden_state

A model comes from the local Hugging Face cache, else from the hub where that can be reached, else from a Python
package that carries a stand-in. Nothing is ever filled with random numbers in silence: see NoSuchHead.
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
