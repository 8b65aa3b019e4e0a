"""How a grammar is written, and how it is unfolded into templates whose slots are independent.

A line is a pattern for sentences:

    the {n1 guard warden} {v1 lock keep} the {nx thief killer} in a ({a dark cold}) {n cell#prison}

- `{kind word word ...}` is a slot: one of its words is chosen, each with the same probability. A digit after the
  kind is an agreement group: everything in group 1 is singular or plural, with probability one half each.
- `( ... )` is optional: it occurs with probability one half, and may contain several words.
- a bare word is used as it is; its part of speech is looked up in FUNCTION_WORDS. "a" becomes "an" automatically.
- `cell#prison` is the ambiguous word "cell" in the sense "cell#prison". It has a slot of its own.
- `@names` inside a slot represents a list of words. `{t}` is a time adverb that matches the tense.
- `{nx~ ...}` is one of two slots that are exchanged in the sentence's partner: the same words, another sense.

    n noun, singular      np noun, plural    nx noun, in either number   name proper name   pron pronoun
    v verb, he/she/it     vp verb, they      vb verb, base form          vd verb, past      aux auxiliary
    p preposition         d determiner       t time adverb               a adjective        r adverb

`this/these` in a slot with a group gives both forms. A sentence with a v, vp or t slot is in the past or
in the present tense with probability one half each.

Unfolding a line over numbers, tense, optional parts and a/an leaves *templates*: sequences of slots that are
independent of one another. The exact distributions rely on this independence and on nothing else.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from coursekit.language.inflection import VOWELS, past, plural, third_person

PARTS_OF_SPEECH = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "PART", "PRON", "PROPN", "VERB",
)  # fmt: skip

KINDS = {
    "n": "NOUN", "np": "NOUN", "nx": "NOUN", "name": "PROPN", "pron": "PRON", "v": "VERB", "vp": "VERB",
    "vb": "VERB", "vd": "VERB", "aux": "AUX", "a": "ADJ", "r": "ADV", "t": "ADV", "p": "ADP", "d": "DET",
}  # fmt: skip

FUNCTION_WORDS = {
    "a": "DET", "an": "DET", "the": "DET", "every": "DET", "some": "DET", "its": "DET", "and": "CCONJ",
    "that": "PRON", "who": "PRON", "where": "ADV", "when": "ADV", "will": "AUX", "for": "ADP", "of": "ADP",
    "in": "ADP", "on": "ADP", "at": "ADP", "with": "ADP", "without": "ADP", "under": "ADP", "over": "ADP",
    "above": "ADP", "near": "ADP", "from": "ADP", "across": "ADP",
    "along": "ADP", "down": "ADP", "toward": "ADP", "beside": "ADP", "behind": "ADP", "inside": "ADP",
    "after": "ADP", "before": "ADP", "during": "ADP", "about": "ADP", "new": "ADJ", "hidden": "ADJ",
    "spare": "ADJ", "to": "ADP", "by": "ADP", "into": "ADP", "through": "ADP",
}  # fmt: skip

BE = {("past", "s"): "was", ("past", "p"): "were", ("present", "s"): "is", ("present", "p"): "are"}


class GrammarError(ValueError):
    """A grammar that cannot be read. The message names the line and says what to change."""


@dataclass(frozen=True)
class RightCue:
    """How sentences continue after a sense: what it `does` as a subject, and what it `has`, in a phrase after it.

    For sentences in which order decides, there are lists of its `people`, of `things` like it, and of how it `looks`.
    """

    topic: str
    does: str
    has: str
    person: bool = False
    people: str = ""
    things: str = ""
    looks: str = ""


KINDS_OF_SENTENCES = ("none", "left", "right", "order1", "order2")


@dataclass(frozen=True)
class Grammar:
    """A grammar in text.

    `shares` gives the proportion of each kind of sentence: "none" without an ambiguous word, "left" from the topics'
    lines with such a word, "right" from `frames`, and the kinds of `order`, in which who does what determines the sense.
    Only the ratios of the shares matter. Every sense is equally probable in each kind.
    """

    lists: Mapping[str, str]
    topics: Mapping[str, str]
    shares: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS_OF_SENTENCES, 1.0))
    frames: str = ""
    right_cues: Mapping[str, RightCue] = field(default_factory=dict)
    order: Mapping[str, str] = field(default_factory=dict)

    def only(self, *topics: str) -> "Grammar":
        """The part of the grammar that is about these topics."""
        return replace(
            self,
            topics={topic: self.topics[topic] for topic in topics},
            right_cues={sense: cue for sense, cue in self.right_cues.items() if cue.topic in topics},
        )


@dataclass(frozen=True)
class Production:
    """One pattern and its probability. `cue` states on which side of the ambiguous word its sense is revealed.

    Productions of one word that are `parallel` (the same number, not -1) differ only in their words.
    """

    pattern: str
    topic: str
    cue: str
    probability: float
    parallel: int = -1


class Filler(NamedTuple):
    """One word in one slot. `number` counts the slot's words as written; "guard" and "guards" have the same number.

    In an nx slot, where both forms may occur, their numbers differ.
    """

    word: str
    part_of_speech: str
    number: int
    sense: str = ""


Slot = tuple[Filler, ...]


@dataclass(frozen=True)
class Template:
    """Slots that are independent of one another; each filler of a slot is equally probable.

    `places` numbers the slots of the pattern as written, so that the same slot can be found in every
    template of a rule, with or without its optional parts.
    """

    rule: int
    probability: float
    slots: tuple[Slot, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """One item of a pattern: a slot, or a bare word as a slot with one filler."""

    kind: str
    group: str
    words: tuple[str, ...]
    place: int
    optional: int  # 0: obligatory; otherwise the number of its parentheses
    exchanged: bool = False


def unfold(rule_list: list[Production], lists: Mapping[str, str] = MappingProxyType({})) -> list[Template]:
    """The templates of all rules; equal templates of one rule are merged."""
    slots: dict[tuple, Slot] = {}
    templates = []
    for number, rule in enumerate(rule_list):
        weights: dict[tuple[tuple[Slot, ...], tuple[int, ...]], float] = {}
        choices = list(_choices(parse(rule.pattern, lists)))
        for pieces, numbers, tense in choices:
            row = [_fill(piece, numbers, tense, slots, rule.pattern, lists) for piece in pieces]
            for share, agreed in _with_articles(row):
                key = (tuple(agreed), tuple(piece.place for piece in pieces))
                weights[key] = weights.get(key, 0.0) + rule.probability * share / len(choices)
        templates += [Template(number, weight, *key) for key, weight in weights.items()]
    return templates


def parse(pattern: str, lists: Mapping[str, str] = MappingProxyType({})) -> list[Piece]:
    """The pieces of a pattern, in order. Raises GrammarError for an unknown slot or word."""
    pieces: list[Piece] = []
    optional, inside = 0, False
    for token in re.findall(r"\{[^{}]*\}|[()]|[^\s(){}]+", pattern):
        if token in "()":
            if (token == "(") == inside:
                raise GrammarError(f"parentheses do not match, or are nested, in {pattern!r}")
            inside = token == "("
            optional += inside
            continue
        kind, group, exchanged, words = (
            _slot(token, pattern, lists) if token[0] == "{" else ("", "", False, (token,))
        )
        pieces.append(Piece(kind, group, words, len(pieces), optional if inside else 0, exchanged))
    if inside:
        raise GrammarError(f"a parenthesis is never closed in {pattern!r}")
    # "to" before a verb is a particle, elsewhere a preposition
    for i, (piece, after) in enumerate(itertools.pairwise(pieces)):
        if piece.words == ("to",) and after.kind == "vb":
            pieces[i] = replace(piece, kind="part")
    if sum("#" in word for piece in pieces for word in piece.words) > 1:
        raise GrammarError(f"more than one ambiguous word in {pattern!r}; a sentence has one at most")
    return pieces


@dataclass(frozen=True)
class Combining:
    """Which combinations of a rule are held out: `multipliers` of the slots by place, and one combination in `one_in`.

    The words of a slot are numbered as written. A combination is held out if the sum of the numbers, times
    their multipliers, plus the offset of the rule is a multiple of `one_in`.
    """

    multipliers: Mapping[int, int]
    one_in: int


MOST = 32
"""At least one combination in so many is held out."""


def combining(pattern: str, lists: Mapping[str, str] = MappingProxyType({})) -> Combining:
    """Which combinations of the words in obligatory slots are held out: one in q, where q is at most MOST.

    A divisor of the size of each of the four longest slots is chosen, so that their product q is as large as possible.
    The multiplier of slot i is the product of the divisors before its own. As in a number whose digits have different
    bases, the sum is then uniform modulo q for any words in the other slots, which have the multiplier 1. Slots that
    are exchanged are among the latter, so a sentence and its partner are on the same side of the split.
    Raises GrammarError for a pattern with nothing to hold out.
    """
    choices = {
        piece.place: len(piece.words) * (2 if piece.kind == "nx" else 1)
        for piece in parse(pattern, lists)
        if not piece.optional
    }
    exchanged = {piece.place for piece in parse(pattern, lists) if piece.exchanged}
    places = sorted((place for place in choices if choices[place] > 1), key=lambda place: -choices[place])
    digits = [place for place in places if place not in exchanged][:4]
    bases = itertools.product(*(_divisors(choices[place]) for place in digits))
    q, bases = max((math.prod(each), each) for each in bases if math.prod(each) <= MOST)
    if q == 1:
        raise GrammarError(
            f"{pattern!r} has no choice that occurs in all of its sentences; there is nothing to hold out"
        )
    multipliers = [math.prod(bases[:i]) for i in range(len(digits))]
    return Combining(dict.fromkeys(places, 1) | dict(zip(digits, multipliers, strict=True)), q)


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def lines(text: str) -> list[str]:
    """The lines of a block of grammar text, stripped, without the empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def right_rules(sense: str, grammar: Grammar, probability: float) -> list[Production]:
    """The frames, combined with each continuation of each sense."""
    cue, frames = grammar.right_cues[sense], lines(grammar.frames)
    made = []
    for frame in frames:
        continuations = lines(cue.does if "DOES" in frame else cue.has)
        for continuation in continuations:
            parts = {"X": f"{{n1 {sense}}}", "WHO": "who" if cue.person else "that"}
            parts |= {"DOES": continuation, "HAS": continuation}
            pattern = re.sub(r"\b(X|WHO|DOES|HAS)\b", lambda match, parts=parts: parts[match[0]], frame)
            made.append(
                Production(pattern, cue.topic, "right", probability / len(frames) / len(continuations))
            )
    return made


def _slot(token: str, pattern: str, lists: Mapping[str, str]) -> tuple[str, str, bool, tuple[str, ...]]:
    head, *written = token[1:-1].split() or [""]
    match = re.fullmatch(r"([a-z]+)(\d?)(~?)", head)
    if not match or match[1] not in KINDS:
        raise GrammarError(f"{head!r} in {pattern!r} is not a kind of slot; the kinds are {', '.join(KINDS)}")
    words: list[str] = []
    for word in written:
        if word.startswith("@") and word[1:] not in lists:
            raise GrammarError(f"{pattern!r} uses the list {word!r}, which the grammar does not have")
        words += lists[word[1:]].split() if word.startswith("@") else [word]
    if not words and match[1] != "t":
        raise GrammarError(f"the slot {token!r} in {pattern!r} contains no word")
    if len(words) > 1 and any("#" in word for word in words):
        raise GrammarError(
            f"the slot {token!r} in {pattern!r} mixes an ambiguous word with others; give it a slot of its own"
        )
    return match[1], match[2], bool(match[3]), tuple(words)


def _choices(pieces: list[Piece]) -> Iterator[tuple[list[Piece], dict[str, str], str]]:
    """Every way to choose optional parts, the number of each group, and the tense; all are equally probable."""
    optionals = sorted({piece.optional for piece in pieces} - {0})
    groups = sorted({piece.group for piece in pieces} - {""})
    tenses = ("past", "present") if any(piece.kind in ("v", "vp", "t") for piece in pieces) else ("present",)
    for included in itertools.product((False, True), repeat=len(optionals)):
        present = {0} | {number for number, keep in zip(optionals, included, strict=True) if keep}
        chosen = [piece for piece in pieces if piece.optional in present]
        for numbers in itertools.product("sp", repeat=len(groups)):
            for tense in tenses:
                yield chosen, dict(zip(groups, numbers, strict=True)), tense


def _fill(
    piece: Piece, numbers: dict[str, str], tense: str, drawn: dict, pattern: str, lists: Mapping[str, str]
) -> Slot:
    """The slot of a piece in a number and tense. Equal slots are created once and kept in `known`."""
    count = numbers.get(piece.group, "p" if piece.kind in ("np", "vp") else "s")
    key = (piece.kind, piece.words, count, tense)
    if key not in drawn:
        words = tuple(lists.get(tense, "").split()) if piece.kind == "t" else piece.words
        fillers = [
            form
            for i, word in enumerate(words)
            for form in _forms(word, i, piece.kind, count, tense, pattern)
        ]
        if not fillers or len({filler.word for filler in fillers}) < len(fillers):
            raise GrammarError(
                f"a slot of kind {piece.kind!r} in {pattern!r} is empty or contains a word twice"
            )
        drawn[key] = tuple(fillers)
    return drawn[key]


def _forms(word: str, number: int, kind: str, count: str, tense: str, pattern: str) -> list[Filler]:
    base, _, meaning = word.partition("#")
    sense = word if meaning else ""
    if not kind and base not in FUNCTION_WORDS:
        raise GrammarError(f"{base!r} in {pattern!r} is outside a slot and is not in FUNCTION_WORDS")
    tag = "PART" if kind == "part" else KINDS[kind] if kind else FUNCTION_WORDS[base]
    if "/" in base:
        return [Filler(base.split("/")[count == "p"], tag, number, sense)]
    if base == "be" and kind in ("v", "vp"):
        return [Filler(BE[tense, count], "AUX", number)]
    if kind == "nx":
        return [Filler(form, tag, 2 * number + i, sense) for i, form in enumerate((base, plural(base)))]
    inflect = {
        "n": plural if count == "p" else str,
        "np": plural,
        "v": past if tense == "past" else third_person if count == "s" else str,
        "vp": past if tense == "past" else str,
        "vd": past,
    }.get(kind, str)
    return [Filler(inflect(base), tag, number, sense)]


def _with_articles(row: list[Slot]) -> Iterator[tuple[float, list[Slot]]]:
    """Rows in which "a" agrees with the next word: one for words that begin with a vowel and one for others, with their shares."""
    for i, (slot, following) in enumerate(itertools.pairwise(row)):
        if all(filler.word != "a" for filler in slot):
            continue
        vowels = tuple(filler for filler in following if filler.word[0] in VOWELS)
        others = tuple(filler for filler in following if filler.word[0] not in VOWELS)
        article = tuple(filler._replace(word="an") if filler.word == "a" else filler for filler in slot)
        for fillers, before in ((vowels, article), (others, slot)):
            # the rest of the row follows the same rule, because later articles do not depend on this one
            for share, rest in _with_articles([fillers, *row[i + 2 :]]) if fillers else ():
                yield share * len(fillers) / len(following), [*row[:i], before, *rest]
        return
    yield 1.0, row
