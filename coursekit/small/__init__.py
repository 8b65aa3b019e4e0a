"""The small models of the course, trained on its generated language: GPT, BERT and ELMo.

    from coursekit.small import load
    gpt = load("gpt")                  # in evaluation mode; also load("bert"), load("elmo")

Read `gpt.py`, `bert.py` and `elmo.py` together with the papers. `python -m coursekit.pretrain` trains them again; `python -m coursekit.small` prints their results, as `data/models/README.md` shows.
"""

from coursekit.small.bert import BERT, BERTConfig
from coursekit.small.elmo import ELMo, ELMoConfig, Spelling
from coursekit.small.files import ModelMissing, load, save
from coursekit.small.gpt import GPT, GPTConfig
from coursekit.small.results import recorded, recorded_senses

__all__ = [
    "BERT",
    "BERTConfig",
    "ELMo",
    "ELMoConfig",
    "GPT",
    "GPTConfig",
    "ModelMissing",
    "Spelling",
    "load",
    "recorded",
    "recorded_senses",
    "save",
]
