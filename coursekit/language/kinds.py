"""The kinds of sentences, each with its proportion of the language: their patterns and the probability of each.

- "none": a line of a topic without an ambiguous word;
- "left": a line of a topic in which words before the ambiguous word determine its sense;
- "right": a frame that fits every sense, followed by an action or property of this sense;
- "order1", "order2": people of two senses; the one who acts on the word determines its sense, in one clause or in two;
- "both": the same, with an additional word that determines the sense.

In every kind the senses are equally probable, and the patterns of the senses of one word are parallel: they have the
same numbers of words, choices and optional parts, so they differ only in the words in the slots.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from coursekit.language.notation import Grammar, GrammarError, Production, lines, right_rules

VARIANTS = {"plain": 0.56, "look": 0.10, "place": 0.10, "thing": 0.24}
"""The object in sentences whose order determines the sense. "plain": the word alone. "look", "place": with an adjective before it or a
phrase after it that also determines the sense. "thing": another thing that belongs to the same people. Some words can therefore be
predicted only from who acts on what."""


def productions(grammar: Grammar) -> list[Production]:
    """Every pattern with its probability, by topic. The proportion of kinds without a pattern is distributed over the others."""
    if orphans := {cue.topic for cue in grammar.right_cues.values()} - set(grammar.topics):
        raise GrammarError(
            f"the senses refer to the topic {sorted(orphans)[0]!r}, which has no lines; add them"
        )
    made = [*_lines_of_topics(grammar), *_right_sentences(grammar), *_order_sentences(grammar)]
    shares = {kind: grammar.shares[kind] for kind, _, _ in made if kind in grammar.shares}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(key for _, key, _ in made))}
    finished = [
        replace(
            rule, probability=rule.probability * shares[kind] / sum(shares.values()), parallel=numbers[key]
        )
        for kind, key, rule in made
        if kind in shares
    ]
    order = list(grammar.topics)
    return sorted(finished, key=lambda rule: order.index(rule.topic))


Made = Iterator[tuple[str, tuple, Production]]
"""Kinds, keys that parallel productions share, and productions with their probability within the kind."""


def word_of(sense: str) -> str:
    """The ambiguous word of a sense: "cell" of "cell#prison"."""
    return sense.split("#")[0]


def _lines_of_topics(grammar: Grammar) -> Made:
    own: dict[str, list[tuple[str, str]]] = {}
    for topic, text in grammar.topics.items():
        for line in lines(text):
            sense = re.search(r"\w+#\w+", line)
            own.setdefault(sense[0] if sense else topic, []).append((topic, line))
    senses = sum("#" in owner for owner in own)
    for owner, written in own.items():
        told = "#" in owner
        many = senses if told else len(own) - senses
        for number, (topic, line) in enumerate(written):
            key = ("left", word_of(owner), number) if told else ("none", owner, number)
            rule = Production(line, topic, key[0], 1 / many / len(written))
            yield key[0], key, rule


def _right_sentences(grammar: Grammar) -> Made:
    for sense in grammar.right_cues:
        for number, rule in enumerate(right_rules(sense, grammar, 1 / len(grammar.right_cues))):
            yield "right", ("right", word_of(sense), number), rule


def _order_sentences(grammar: Grammar) -> Made:
    rivals = {
        sense: [other for other in grammar.right_cues if other != sense and word_of(other) == word_of(sense)]
        for sense in grammar.right_cues
    }
    contested = sum(bool(others) for others in rivals.values())
    for kind, text in grammar.order.items():
        frames = lines(text)
        for sense, others in rivals.items():
            for other in others:
                for number, frame in enumerate(frames):
                    for variant, share in VARIANTS.items():
                        pattern = _in_order(frame, variant, sense, other, grammar)
                        cue = {"plain": kind, "thing": "none"}.get(variant, "both")
                        probability = share / contested / len(others) / len(frames)
                        rule = Production(pattern, grammar.right_cues[sense].topic, cue, probability)
                        yield kind, (kind, word_of(sense), number, variant), rule


def _in_order(frame: str, variant: str, sense: str, other: str, grammar: Grammar) -> str:
    """A frame with the people of both senses, and with the word or its substitute."""
    own, others = grammar.right_cues[sense], grammar.right_cues[other]
    agreeing = re.search(r"\bX1\b", frame) is not None
    kind = "n1" if agreeing else "nx"
    word = f"{{{kind} {own.things if variant == 'thing' else sense}}}"
    if variant == "look":
        word = f"{{a {own.looks}}} {word}"
    if variant == "place":
        word = f"{word} {lines(own.has)[-1]}"
    parts = {"OWN": f"{{nx~ {own.people}}}", "OTHER": f"{{nx~ {others.people}}}", "X": word, "X1": word}
    return re.sub(r"\b(OWN|OTHER|X1?)\b", lambda match: parts[match[0]], frame)
