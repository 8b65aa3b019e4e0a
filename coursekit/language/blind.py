"""The exact accuracy of predictions from partial information, by sums over all templates of the language, without sampling.

One predictor knows the ambiguous word, its position and the length of the sentence; another knows all words but not their order.
Each predicts the sense, and the functions return the accuracy of the best prediction.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

import numpy as np

from coursekit.language.model import Language

Clue = Callable[[np.ndarray, int, int], Hashable]
"""The information about a template: its slots (with [BOS] and [EOS]), the position of the ambiguous word, and its id."""


def majority_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Accuracy given only the ambiguous word (singular or plural)."""
    return best_guess(language, cues, lambda slots, place, word: word)


def position_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Accuracy given the ambiguous word, its position, and the length of the sentence."""
    return best_guess(language, cues, lambda slots, place, word: (word, place, len(slots)))


def order_blind_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Accuracy given all words without their order, and the position of the ambiguous word.

    This predictor also knows from which list each word was drawn, which the words alone do not always show. A model that knows
    only the words can therefore be at most as accurate.
    """

    def clue(slots: np.ndarray, place: int, word: int) -> Hashable:
        return (
            word,
            place,
            len(slots),
            tuple(np.sort(np.delete(slots, place))),
        )  # the word's own slot determines its sense

    return best_guess(language, cues, clue)


def best_guess(language: Language, cues: Iterable[str] | None, clue: Clue) -> float:
    """Fraction of ambiguous words whose sense is predicted correctly from a clue, over sentences with some cues (or all)."""
    tables = language.tables
    cues = None if cues is None else set(cues)
    sense_counts: dict[Hashable, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for template, prior in enumerate(tables.prior):
        slots = tables.slot_of[:, template]
        slots = slots[slots != 0]
        senses = tables.sense_of[slots]
        if senses.max() < 0 or (cues and tables.cue_of[tables.rule_of[template]] not in cues):
            continue
        place = int(senses.argmax())
        size = tables.sizes[slots[place]]
        for word in tables.fillers[slots[place], :size]:
            sense_counts[clue(slots, place, int(word))][int(senses[place])] += prior / size
    total = sum(sum(senses.values()) for senses in sense_counts.values())
    return sum(max(senses.values()) for senses in sense_counts.values()) / total
