"""Numbers as a sentence says them: 0.3333 is 1/3, 1.443 is 1/ln 2."""

from collections.abc import Iterable, Sequence
from math import e, log, pi, sqrt

import numpy as np

KNOWN = {
    "ln 2": log(2), "1/ln 2": 1 / log(2), "ln 10": log(10), "1/ln 10": 1 / log(10), "π": pi, "2π": 2 * pi, "e": e,
    "√π": sqrt(pi), "1/e": 1 / e, "1/π": 1 / pi, "log2 10": log(10, 2), "log10 2": log(2, 10),
}  # fmt: skip


def number(value: float) -> str:
    """A number as a sentence says it: whole ones whole, others with four digits."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞" if value > 0 else "−∞"
    if abs(value - round(value)) < 1e-9 and abs(value) < 1e9:
        return f"{round(value)}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def known_number(value: float, tolerance: float) -> str:
    """The name of a number such as 1/ln 2, or ""."""
    for name, constant in KNOWN.items():
        if abs(abs(value) - constant) <= tolerance * constant:
            return name if value > 0 else f"−{name}"
    return ""


def in_words(factor: float) -> str:
    """A factor, and what it is: 0.3333 (1/3), 1.414 (√2), 1.443 (1/ln 2)."""
    size, sign = abs(factor), "−" if factor < 0 else ""
    exact = known_number(factor, 5e-5)
    if exact:
        return f"{number(factor)} ({exact})"
    for form, value in (("{}", size), ("1/{}", 1 / size), ("√{}", size**2), ("1/√{}", 1 / size**2)):
        whole = round(value)
        if 2 <= whole <= 4096 and abs(value - whole) <= 1e-4 * whole:
            named = form.format(whole)
            return f"{sign}{named}" if form == "{}" else f"{number(factor)} ({sign}{named})"
    return number(factor)


def listed(values: Sequence[float]) -> str:
    """ "1", "1 and 2", "1, 2 and 3"; of more than four numbers the first four and "…"."""
    shown = [number(value) for value in values[:4]]
    return ", ".join(shown) + ", …" if len(values) > 4 else enumerated(shown)


def enumerated(words: Iterable[str]) -> str:
    """ "1", "1 and 2", "1, 2 and 3"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def as_sentence(name: str) -> str:
    """A mistake's name with a capital letter, unless it begins with a symbol: "ε outside the root", "k too many", "√d …"."""
    word = name.partition(" ")[0].strip(",:;")
    plain = word.isascii() and word.isalpha() and (len(word) > 1 or word == "a")
    return f"{name[:1].upper()}{name[1:]}" if plain else name
