"""Personal data in a text: e-mail addresses, telephone numbers, postal addresses and account numbers, found by their form.

Names of people have no form of their own and are not found.
"""

import re
from collections.abc import Mapping

STREET = r"Street|St\.|Road|Rd\.|Avenue|Ave\.|Lane|Drive|Square|Terrace|Boulevard"
KINDS: Mapping[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"\b[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"),
    "account number": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
    "postal address": re.compile(
        rf"\b\d{{1,4}}[a-z]?,? (?:[A-Z][\w'’]+ ){{1,3}}(?:{STREET})(?!\w)"
        r"|\b[A-Z][\w'’]{0,40}(?:straße|strasse|weg|gasse)\s\d{1,4}[a-z]?\b"
        r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
    ),
    "telephone number": re.compile(
        r"(?<![\w.,/+-])(?:\+\d{1,3}[ ./-]?(?:\(0\)[ ]?)?|\(0\d{1,5}\)[ ]?|0\d{1,5}[ /-]|\(\d{3}\)[ ]?|\d{3}-(?=\d{3}-\d{4}))\d(?:[ ./-]?\d){5,11}(?![\w/-]|[.,]\d)"
    ),
}
"""Each kind by its form, of bounded length, so that no line takes long. An account number (IBAN) comes before what else its digits could be."""


def found(text: str) -> dict[str, int]:
    """How many there are of each kind, without those kinds that do not occur."""
    counts = {}
    for kind, form in KINDS.items():
        text, count = form.subn(" ", text)
        if count:
            counts[kind] = count
    return counts


def counted(counts: Mapping[str, int]) -> str:
    """In words, without showing any: "2 e-mail addresses and 1 telephone number"."""
    parts = [
        f"{count:,} {kind}{'' if count == 1 else 'es' if kind.endswith('s') else 's'}"
        for kind, count in counts.items()
    ]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def replaced(text: str) -> str:
    """The text with a placeholder such as [telephone number] in place of each."""
    for kind, form in KINDS.items():
        text = form.sub(f"[{kind}]", text)
    return text
