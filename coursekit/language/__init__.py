"""The generated language of the course: a small English whose probabilities are known.

    language = load_language()
    sentences = language.sample(1000, np.random.default_rng(0), split="train")
    language.log_loss_next(sentences.ids)        # the loss of the best possible left-to-right model, in nats

`python -m coursekit.language` prints its contents and the bounds.
See `grammar.py` for the sentences, `notation.py` for their notation, `kinds.py` for their kinds, and `exact.py` for the
mathematics.
"""

from coursekit.language.bounds import (
    Estimate,
    masked_word_bound,
    next_word_bound,
    previous_word_bound,
    sense_bound,
)
from coursekit.language.model import Language, load_language
from coursekit.language.notation import Grammar, GrammarError, RightCue
from coursekit.language.sentences import Passages, Sentences
from coursekit.language.tables import BOS, CLS, EOS, MASK, PAD, SEP, SPECIAL_TOKENS, UNK

__all__ = [
    "BOS", "CLS", "EOS", "MASK", "PAD", "SEP", "SPECIAL_TOKENS", "UNK", "Estimate", "Grammar",
    "GrammarError", "Language", "Passages", "RightCue", "Sentences", "load_language",
    "masked_word_bound", "next_word_bound", "previous_word_bound", "sense_bound",
]  # fmt: skip
