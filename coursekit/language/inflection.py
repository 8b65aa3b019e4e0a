"""English inflection for the words of the generated language: plurals, third person, past.

Exceptions are looked up in tables; all other words are inflected by rules. The tables contain only words that the
grammar uses or is likely to use, so a new irregular word has to be added here.
"""

from itertools import pairwise

VOWELS = "aeiou"

IRREGULAR_PLURALS = {
    "calf": "calves", "foreman": "foremen", "fisherman": "fishermen", "knife": "knives", "leaf": "leaves",
    "mouse": "mice", "nucleus": "nuclei", "shelf": "shelves", "thief": "thieves", "wolf": "wolves",
}  # fmt: skip

IRREGULAR_PASTS = {
    "bear": "bore", "bite": "bit", "break": "broke",
    "bring": "brought", "build": "built", "buy": "bought",
    "catch": "caught", "choose": "chose", "come": "came", "control": "controlled", "cut": "cut",
    "dig": "dug", "draw": "drew", "drink": "drank",
    "drive": "drove", "eat": "ate", "fall": "fell",
    "feed": "fed", "fight": "fought", "find": "found",
    "flee": "fled", "freeze": "froze", "fly": "flew", "forget": "forgot",
    "give": "gave", "go": "went", "grow": "grew",
    "hang": "hung", "hear": "heard", "hide": "hid",
    "hit": "hit", "hold": "held", "keep": "kept",
    "know": "knew", "lay": "laid", "lead": "led",
    "leave": "left", "lend": "lent", "light": "lit",
    "lose": "lost", "make": "made", "meet": "met",
    "pay": "paid", "put": "put", "read": "read", "ride": "rode",
    "ring": "rang", "rise": "rose", "run": "ran",
    "say": "said", "see": "saw", "sell": "sold", "send": "sent", "set": "set",
    "shake": "shook", "sing": "sang", "sink": "sank",
    "sit": "sat", "sleep": "slept", "slide": "slid",
    "speak": "spoke", "spend": "spent", "spread": "spread",
    "stand": "stood", "steal": "stole", "strike": "struck",
    "sweep": "swept", "swim": "swam", "swing": "swung",
    "take": "took", "teach": "taught", "think": "thought", "throw": "threw",
    "weep": "wept", "win": "won", "write": "wrote",
}  # fmt: skip


def plural(noun: str) -> str:
    """The plural of a noun: "cell" -> "cells", "spy" -> "spies", "mouse" -> "mice"."""
    return IRREGULAR_PLURALS.get(noun) or _with_s(noun)


def third_person(verb: str) -> str:
    """The third person singular, present: "carry" -> "carries", "catch" -> "catches"."""
    return _with_s(verb)


def past(verb: str) -> str:
    """The past tense: "carry" -> "carried", "drop" -> "dropped", "ring" -> "rang"."""
    return IRREGULAR_PASTS.get(verb) or _with_ed(verb)


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return (verb + verb[-1] if _doubles(verb) else verb) + "ed"


def _doubles(verb: str) -> bool:
    """Whether the last consonant is doubled: in a word of one syllable that ends in a vowel and a consonant ("drop", not "load")."""
    syllables = sum(letter in VOWELS and before not in VOWELS for before, letter in pairwise(" " + verb))
    return syllables == 1 and verb[-1] not in VOWELS + "wxy" and verb[-2] in VOWELS and verb[-3] not in VOWELS
