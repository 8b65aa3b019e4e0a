"""What readers know who are blind to something, exactly: sums over all templates of the language, no sampling.

One reader knows the ambiguous word, where it stands and how long the sentence is; another knows all words but not their
order. Both are asked for the sense; their best guess is right as often as is said here.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

import numpy as np

from coursekit.language.model import Language

Clue = Callable[[np.ndarray, int, int], Hashable]
"""What a reader knows of a template: of its slots (with [BOS] and [EOS]), the ambiguous word's place, and its id."""


def majority_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Who knows the ambiguous word alone, in its number."""
    return best_guess(language, cues, lambda slots, place, word: word)


def position_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Who knows the ambiguous word, its place, and the length of the sentence."""
    return best_guess(language, cues, lambda slots, place, word: (word, place, len(slots)))


def order_blind_accuracy(language: Language, cues: Iterable[str] | None = None) -> float:
    """Who knows all words but not their order, and besides where the ambiguous word stands.

    This reader even knows from which list each word was drawn, which the words alone do not always tell. So a reader of
    the words is right at most as often.
    """

    def clue(slots: np.ndarray, place: int, word: int) -> Hashable:
        return (
            word,
            place,
            len(slots),
            tuple(np.sort(np.delete(slots, place))),
        )  # the word's own slot tells its sense

    return best_guess(language, cues, clue)


def best_guess(language: Language, cues: Iterable[str] | None, clue: Clue) -> float:
    """Share of ambiguous words whose sense the best guess from a clue gets right, over sentences of some cues (or all)."""
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
