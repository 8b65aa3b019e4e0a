"""A grammar as arrays: which slot every template has at every position, and which words can fill each slot."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from coursekit.language.kinds import productions
from coursekit.language.notation import (
    PARTS_OF_SPEECH,
    Filler,
    Grammar,
    GrammarError,
    combining,
    unfold,
)

SPECIAL_TOKENS = ("[PAD]", "[BOS]", "[EOS]", "[MASK]", "[UNK]", "[CLS]", "[SEP]")
PAD, BOS, EOS, MASK, UNK, CLS, SEP = range(len(SPECIAL_TOKENS))


@dataclass(frozen=True, eq=False)
class Tables:
    """The grammar as arrays. A template is a row of slots; a slot is a few fillers, each equally probable.

    Templates are sorted by rule and rules by topic, so that those of one rule or topic are adjacent.
    """

    vocabulary: tuple[str, ...]
    topics: tuple[str, ...]
    senses: tuple[str, ...]
    # templates
    prior: Float[np.ndarray, " templates"]
    slot_of: Int[np.ndarray, "tokens templates"]
    rule_of: Int[np.ndarray, " templates"]
    multipliers: Int[np.ndarray, "tokens templates"]
    # slots
    probability: Float[np.ndarray, "slots vocabulary"]
    sizes: Int[np.ndarray, " slots"]
    fillers: Int[np.ndarray, "slots fillers"]
    numbers: Int[np.ndarray, "slots fillers"]
    tags: Int[np.ndarray, "slots fillers"]
    sense_of: Int[np.ndarray, " slots"]
    # rules
    topic_of: Int[np.ndarray, " rules"]
    cue_of: np.ndarray
    one_in: Int[np.ndarray, " rules"]
    offset: Int[np.ndarray, " rules"]

    def held_out(
        self, templates: Int[np.ndarray, " sentences"], choice: Int[np.ndarray, "sentences tokens"]
    ) -> Bool[np.ndarray, " sentences"]:
        """Whether sentences, given by template and by the filler of each slot, contain a held-out combination.

        The words of every obligatory slot are numbered as written. A combination of these words is held out if
        the sum of the numbers, times their multipliers, plus the `offset` of the rule is a multiple of q
        (`one_in`). Parallel rules have the same offset.
        """
        slots = self.slot_of[:, templates].T
        numbers = (self.multipliers[:, templates].T * self.numbers[slots, choice]).sum(axis=1)
        rules = self.rule_of[templates]
        return (numbers + self.offset[rules]) % self.one_in[rules] == 0

    def choices(
        self, templates: Int[np.ndarray, " sentences"], ids: Int[np.ndarray, "sentences tokens"]
    ) -> Int[np.ndarray, "sentences tokens"]:
        """The number of the filler that each word is in its slot."""
        slots = self.slot_of[: ids.shape[1], templates].T
        return (self.fillers[slots] == ids[:, :, None]).argmax(axis=2)


def tabulate(grammar: Grammar) -> Tables:
    """The tables of a grammar. Raises GrammarError for a line that cannot be read."""
    rule_list = productions(grammar)
    templates = unfold(rule_list, grammar.lists)
    slots = {_special(token): number for number, token in enumerate(SPECIAL_TOKENS[:3])}
    for template in templates:
        for slot in template.slots:
            slots.setdefault(slot, len(slots))
    _check_ambiguous(slots)

    words = sorted({filler.word for slot in slots for filler in slot} - set(SPECIAL_TOKENS))
    vocabulary = (*SPECIAL_TOKENS, *words)
    id_of = {word: i for i, word in enumerate(vocabulary)}
    senses = tuple(sorted({filler.sense for slot in slots for filler in slot} - {""}))
    topics = tuple(grammar.topics)

    length = max(len(template.slots) for template in templates) + 2
    # the slots of special tokens have the ids of these tokens
    slot_of = np.full((length, len(templates)), PAD, dtype=np.int32)
    multipliers = np.zeros(slot_of.shape, dtype=np.int64)
    combinings = [combining(rule.pattern, grammar.lists) for rule in rule_list]
    for k, template in enumerate(templates):
        row = [BOS, *(slots[slot] for slot in template.slots), EOS]
        slot_of[: len(row), k] = row
        by_place = combinings[template.rule].multipliers
        multipliers[1 : len(row) - 1, k] = [by_place.get(place, 0) for place in template.places]

    widest = max(len(slot) for slot in slots)
    probability = np.zeros((len(slots), len(vocabulary)))
    fillers, numbers, tags = (np.full((len(slots), widest), -1) for _ in range(3))
    for slot, row in slots.items():
        for i, filler in enumerate(slot):
            probability[row, id_of[filler.word]] = 1 / len(slot)
            fillers[row, i], numbers[row, i] = id_of[filler.word], filler.number
            tags[row, i] = PARTS_OF_SPEECH.index(filler.part_of_speech) if filler.part_of_speech else -1
    return Tables(
        vocabulary=vocabulary,
        topics=topics,
        senses=senses,
        prior=np.array([template.probability for template in templates]),
        slot_of=slot_of,
        rule_of=np.array([template.rule for template in templates]),
        multipliers=multipliers,
        probability=probability,
        sizes=np.array([len(slot) for slot in slots]),
        fillers=fillers,
        numbers=numbers,
        tags=tags,
        sense_of=np.array([senses.index(slot[0].sense) if slot[0].sense else -1 for slot in slots]),
        topic_of=np.array([topics.index(rule.topic) for rule in rule_list]),
        cue_of=np.array([rule.cue for rule in rule_list]),
        one_in=np.array([rule.one_in for rule in combinings]),
        offset=np.array(
            [number if rule.parallel < 0 else rule.parallel for number, rule in enumerate(rule_list)]
        ),
    )


def _special(token: str) -> tuple[Filler, ...]:
    return (Filler(token, "", 0),)


def _check_ambiguous(slots: dict) -> None:
    """Check that an ambiguous word has a sense wherever it occurs: a verb "plant", for example, would have none."""
    marked = {filler.word for slot in slots for filler in slot if filler.sense}
    bare = {filler.word for slot in slots for filler in slot if not filler.sense}
    if both := sorted(marked & bare):
        raise GrammarError(
            f"{both[0]!r} occurs with a sense in one line and without one in another; mark the sense or replace the word"
        )
