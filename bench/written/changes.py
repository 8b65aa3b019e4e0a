"""Small changes to an answer that leave its points alone: how the copies of a class differ from one another."""

import random
import re
from collections.abc import Callable

OPENERS = ("I think that ", "In my opinion ", "Well, ", "As far as I understand, ", "I would say ")
CLOSERS = (
    " That's why.",
    " So this is the reason.",
    " I hope this is right.",
    " At least that's how I understood it.",
)
OTHER_WORDS = {
    "because": "since",
    "isn't": "is not",
    "is not": "isn't",
    "doesn't": "does not",
    "does not": "doesn't",
    "can't": "cannot",
    "cannot": "can't",
    "don't": "do not",
    "it's": "it is",
    "would be": "is",
    "for example": "e.g.",
    "e.g.": "for instance",
    "words": "tokens",
    "word": "token",
    "therefore": "so",
    "only": "just",
    "also": "as well",
    "needs to": "has to",
    "has to": "must",
    "big": "large",
    "the model": "the network",
    "sentence": "text",
    "take": "use",
}


def change(text: str, draw: random.Random) -> str:
    """The answer as somebody else hands it in: one in ten to the letter, the others with one to four changes."""
    for kind in draw.sample(CHANGES, draw.choice((1, 2, 2, 3, 4))) if draw.random() > 0.1 else ():
        text = kind(text, draw)
    return text


def opened(text: str, draw: random.Random) -> str:
    keeps = re.match(r"[A-Z]{2}|I\b|\W", text)
    return draw.choice(OPENERS) + (text if keeps else text[:1].lower() + text[1:])


def closed(text: str, draw: random.Random) -> str:
    return text.rstrip() + draw.choice(CLOSERS)


def lower(text: str, draw: random.Random) -> str:
    return text.lower()


def without_stops(text: str, draw: random.Random) -> str:
    return re.sub(r"[,.;:]+(?=\s|$)", "", text)


def slipped(text: str, draw: random.Random) -> str:
    """Two letters of up to three words in each other's place."""
    tokens = text.split(" ")
    long = [place for place, word in enumerate(tokens) if len(word) > 4 and word.isalpha()]
    for place in draw.sample(long, min(len(long), draw.randint(1, 3))):
        word, at = tokens[place], draw.randint(1, len(tokens[place]) - 3)
        tokens[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(tokens)


def reworded(text: str, draw: random.Random) -> str:
    """Up to four words replaced by others of the same meaning."""
    there = [word for word in OTHER_WORDS if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
    for word in draw.sample(there, min(len(there), 4)):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", OTHER_WORDS[word], text)
    return text


def rearranged(text: str, draw: random.Random) -> str:
    """The last sentence first."""
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    return " ".join([sentences[-1], *sentences[:-1]]) if len(sentences) > 2 else text


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    opened,
    closed,
    lower,
    without_stops,
    slipped,
    reworded,
    rearranged,
)
