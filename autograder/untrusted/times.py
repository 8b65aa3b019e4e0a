"""Read a time of day that a person, a program or another system has written, or say why it cannot be read.

A time decides whether a hand-in is late, so nothing is guessed: an abbreviation that several zones use, a month that may
be a day, or a word that we do not know is a reason not to read the text (`NoTime`).
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from autograder.errors import CourseError

LONGEST_TIME = 120  # characters
YEARS = range(1990, 2101)
GERMAN = {"MEZ": timedelta(hours=1), "MESZ": timedelta(hours=2)}
"""Abbreviations that the time zone database does not have."""

EPOCH = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{12,13})")  # seconds or milliseconds since 1970
YEAR_FIRST = re.compile(
    r"(?<!\d)(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일])(?!\d)"
)
NBGRADERS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
COMPACT = re.compile(r"\b(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(?!\d)")
YEAR_LAST = re.compile(
    r"(?<!\d)(\d{1,2})(?:([-/.])\s?|\s+tháng\s+)(\d{1,2})(?:\2\s?|\s*,?\s*(?:năm\s+)?)(\d{4})(?!\d)"
)
CLOCKS = (
    re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?![\d:])"),
    re.compile(r"(?<!\d)(\d{1,2})\s*(?:[時时시点點]|h)\s*(\d{2})\s*[分분]?()()(?!\d)"),
    re.compile(r"(?<![\d.])(\d{1,2})\.(\d{2})()()(?![\d.])"),
)
OFFSET = re.compile(r"(?:\b(?:UTC|GMT|UT)\s?)?([+-])(\d{1,2})(?::?(\d{2}))?(?!\d)")
ZONE_NAME = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
COMMENT = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
DASHED = re.compile(r"(\d{1,2})-([^\W\d_]{3,}\.?)-(\d{4})")  # 5-Oct-2026
SPACED_MERIDIEM = re.compile(r"\b([ap])\.?\s?m\b\.?", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][^\s\d,،;:.()/_]*")
FILLERS = frozenset(
    "t at um uhr klo kl de del den der d di du le la el of the às as à á a alle ore om o в г год года р на ora e en il u "
    "h hrs hours à lúc ngày".split()
)
"""Words between the parts of a date, in some languages, which say nothing."""

Order = Literal["", "day", "month"]
"""What comes first in a date such as 05/10/2026; "" where nobody knows."""


class NoTime(ValueError):
    """No time can be read with certainty; the message says why, as the end of a sentence."""


def read_time(text: str, zone: tzinfo | None = None, order: Order = "") -> datetime:
    """The time that a text says, in UTC without a zone, as nbgrader keeps times. Raises NoTime.

    `zone` is that of a text which names none. Without it only times in nbgrader's own form count as UTC, 2026-10-05
    21:58:00 and nothing else; any other that names no zone is by a clock that nobody knows, and is not read.
    """
    plain = _tidy(text)
    if zone is None and NBGRADERS.fullmatch(plain):
        zone = UTC
    rest = SPACED_MERIDIEM.sub(r" \1m", plain)
    if match := EPOCH.fullmatch(rest):
        seconds = int(match[1] or match[2][:-3])
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    rest = COMPACT.sub(r"\1-\2-\3 \4:\5:\6", DASHED.sub(r"\1 \2 \3", rest))
    parts, rest = _take_date(rest)
    clock, rest = _take_clock(rest)
    named: timedelta | ZoneInfo | str | None
    named, rest = _take_zone(rest)
    words = [word for word in WORD.findall(rest) if word.casefold() not in FILLERS]
    numbers = re.findall(r"\d+", rest)
    if named is None and words and _is_zone(words[-1]) and (parts.year or not _names(words[-1])):
        named = words.pop()
    elif isinstance(named, timedelta):
        words = [word for word in words if not _is_zone(word) or _names(word)]
    meridiem, words = _take_meridiem(words)
    day = _day(parts, numbers, words, order)
    hour, minute, second, microsecond = clock
    at = day.replace(
        hour=_hour(hour, meridiem), minute=minute, second=min(second, 59), microsecond=microsecond
    )
    if named is None and zone is None:
        raise NoTime("names no time zone")
    return _utc(at, named, zone)


def zone_of(name: str = "") -> tuple[tzinfo, str]:
    """A time zone and what it is called: the one named, or that of the variable TZ, or this machine's.

    Raises CourseError for a name that is no zone's.
    """
    given = name or os.environ.get("TZ", "").removeprefix(":")
    if given:
        try:
            return ZoneInfo(given), given
        except (ValueError, OSError, LookupError):
            where = "--zone" if name else "TZ"
            raise CourseError(
                f"{where} is {given!r}, which is not a time zone: write, for example, --zone Europe/Berlin."
            ) from None
    here = Path("/etc/localtime")
    try:
        with here.open("rb") as file:
            called = here.resolve().as_posix().partition("zoneinfo/")[2]
            return ZoneInfo.from_file(file, key=called or None), called or "this machine's time zone"
    except (OSError, ValueError):
        return UTC, "UTC"


def _tidy(text: str) -> str:
    plain = (
        unicodedata.normalize("NFKC", text)
        .replace("\N{MINUS SIGN}", "-")
        .replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    )
    plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    plain = " ".join(plain.split())
    if not plain:
        raise NoTime("is empty")
    if len(plain) > LONGEST_TIME:
        raise NoTime("is too long to be a time")
    return plain


@dataclass(frozen=True)
class _Parts:
    """What a text says of the day in numbers: (year, month, day), or the same with day and month in unknown order."""

    year: int = 0
    first: int = 0
    second: int = 0
    order: Order = ""


def _take_date(text: str) -> tuple[_Parts, str]:
    if match := YEAR_FIRST.search(text):
        year, month, day = map(int, match.group(1, 3, 4) if match[2] else match.group(1, 5, 6))
        parts = _Parts(year, month, day, "month")
    elif match := YEAR_LAST.search(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        parts = _Parts(year, first, second, "" if match[2] in ("-", "/") else "day")
    else:
        return _Parts(), text
    return parts, f"{text[: match.start()]} {text[match.end() :]}"


def _take_clock(text: str) -> tuple[tuple[int, int, int, int], str]:
    """The hour, minute, second and microsecond."""
    for clock in CLOCKS:
        if match := clock.search(text):
            hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
            microsecond = int((match[4] or "0")[:6].ljust(6, "0"))
            if hour > 24 or minute > 59 or second > 60:
                raise NoTime("has a time of day that does not exist")
            return (hour, minute, second, microsecond), f"{text[: match.start()]} {text[match.end() :]}"
    raise NoTime("has no time of day")


def _take_zone(text: str) -> tuple[timedelta | ZoneInfo | None, str]:
    """An offset or the name of a place; what programs write in brackets behind it says the same once more."""
    if match := OFFSET.search(text):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if offset > timedelta(hours=14) or int(match[3] or 0) > 59:
            raise NoTime("has a time zone that does not exist")
        rest = COMMENT.sub(" ", f"{text[: match.start()]} {text[match.end() :]}")
        return -offset if match[1] == "-" else offset, rest
    if match := ZONE_NAME.search(text):
        try:
            return ZoneInfo(match[0]), f"{text[: match.start()]} {text[match.end() :]}"
        except (ValueError, OSError, LookupError):
            raise NoTime(f"has the time zone {match[0]}, which does not exist") from None
    return None, text


def _take_meridiem(words: list[str]) -> tuple[str, list[str]]:
    """am, pm or nothing, in any language."""
    found, others = set(), []
    for word in words:
        meant = set() if _calendar(True).get(_key(word)) else _meridiems(word.casefold())
        if meant and (word.casefold() in ("am", "pm") or not _names(word)):
            found |= meant
        else:
            others.append(word)
    if len(found) > 1:
        raise NoTime("says both morning and afternoon")
    return (found.pop() if found else ""), others


def _hour(hour: int, meridiem: str) -> int:
    if meridiem == "am":
        hour = hour % 12 if hour <= 12 else hour
    elif meridiem == "pm" and hour < 12:
        hour += 12
    if hour > 23:
        raise NoTime("has a time of day that does not exist")
    return hour


def _day(parts: _Parts, numbers: list[str], words: list[str], order: Order) -> datetime:
    """The day, if there is one; of several the one whose weekday is named. Raises NoTime."""
    if unknown := [word for word in words if not _names(word)]:
        raise NoTime(f"contains the word {unknown[0][:20]!r}, which is not recognised")
    agree = {
        day: agrees for day, agrees in _days(parts, numbers, words, parts.order or order) if day.year in YEARS
    }
    days = [day for day, agrees in agree.items() if agrees] or list(agree)
    if not days:
        raise NoTime("names no day that exists")
    if len(days) > 1:
        first, second = sorted(days)[:2]
        raise NoTime(f"may be {first.day} {first:%B} or {second.day} {second:%B}")
    return days[0]


def _days(
    parts: _Parts, numbers: list[str], words: list[str], order: Order
) -> Iterator[tuple[datetime, bool]]:
    """Every day that a text may mean, and whether it is the weekday that the text names."""
    if parts.year:
        month_first, day_first = (
            (parts.year, parts.first, parts.second),
            (parts.year, parts.second, parts.first),
        )
        orders = {"month": [month_first], "day": [day_first], "": [month_first, day_first]}[order]
        if not numbers:
            for date in orders:
                yield from _exists(*date, words)
        return
    years, days = [n for n in numbers if len(n) == 4], [n for n in numbers if len(n) < 3]
    if len(years) == len(days) == 1 and len(numbers) == 2:
        for place, word in enumerate(words):
            for month in _names(word).months:
                yield from _exists(int(years[0]), month, int(days[0]), words[:place] + words[place + 1 :])


def _exists(year: int, month: int, day: int, weekdays: list[str]) -> Iterator[tuple[datetime, bool]]:
    try:
        date = datetime(year, month, day)
    except ValueError:
        return
    named = [_names(word).weekdays for word in weekdays]
    if all(named):
        yield date, all(date.weekday() in days for days in named)


def _utc(at: datetime, named: timedelta | tzinfo | str | None, zone: tzinfo | None) -> datetime:
    if isinstance(named, timedelta):
        return at - named
    if isinstance(named, str):
        return at - _offset_of(named.upper(), at, zone)
    return at.replace(tzinfo=named or zone or UTC).astimezone(UTC).replace(tzinfo=None)


def _offset_of(abbreviation: str, at: datetime, zone: tzinfo | None) -> timedelta:
    """What an abbreviation such as CEST means: what it means here, or else what it means everywhere."""
    if abbreviation in ("Z", "UTC", "GMT", "UT"):
        return timedelta()
    if abbreviation in GERMAN:
        return GERMAN[abbreviation]
    for here in filter(None, (zone, _here())):
        if abbreviation in _offsets(here, at):
            return _offsets(here, at)[abbreviation]
    everywhere = _offsets_everywhere(abbreviation, at.replace(hour=12, minute=0, second=0, microsecond=0))
    if len(everywhere) != 1:
        raise NoTime(
            f"has the time zone {abbreviation}, which {'several places use' if everywhere else 'is unknown'}"
        )
    return min(everywhere)


def _here() -> tzinfo | None:
    try:
        return zone_of()[0]
    except CourseError:
        return None


@lru_cache(maxsize=1000)
def _offsets_everywhere(abbreviation: str, day: datetime) -> frozenset[timedelta]:
    """What an abbreviation means in all time zones of the world."""
    return frozenset(
        offset
        for name in available_timezones()
        for called, offset in _offsets(ZoneInfo(name), day).items()
        if called == abbreviation
    )


def _offsets(zone: tzinfo, at: datetime) -> dict[str, timedelta]:
    """What a zone calls its time in the year before and after, in summer and in winter."""
    times = [at.replace(tzinfo=zone), *(datetime(at.year, month, 1, tzinfo=zone) for month in (1, 7))]
    return {time.tzname() or "": time.utcoffset() or timedelta() for time in times}


def _is_zone(word: str) -> bool:
    return word.isascii() and word.isupper() and len(word) <= 5 and word not in ("AM", "PM")


@dataclass(frozen=True)
class _Names:
    """What a word may be called in some language: months from 1, weekdays from 0 for Monday."""

    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.months or self.weekdays)


def _names(word: str) -> _Names:
    key = _key(word)
    return _calendar(True).get(key) or _calendar(False).get(key, _Names())


def _key(word: str) -> str:
    return word.casefold().rstrip(".").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


@lru_cache(maxsize=2)
def _calendar(in_english: bool) -> dict[str, _Names]:
    """The names of months and weekdays in English, or in all languages that Babel knows, which takes a second."""
    months: dict[str, set[int]] = {}
    weekdays: dict[str, set[int]] = {}
    for locale in _locales(in_english):
        for found, names in ((months, locale.months), (weekdays, locale.days)):
            for number, name in chain.from_iterable(
                names[context][width].items()
                for context in ("format", "stand-alone")
                for width in ("wide", "abbreviated")
            ):
                parts = re.split(r"[\s-]", name)
                for key in {name, *(parts if found is weekdays else parts[-1:])}:
                    found.setdefault(_key(key), set()).add(number)
    return {
        word: _Names(frozenset(months.get(word, ())), frozenset(weekdays.get(word, ())))
        for word in {*months, *weekdays}
        if word and not word.isdigit()
    }


@lru_cache(maxsize=2)
def _day_periods(in_english: bool) -> dict[str, set[str]]:
    periods: dict[str, set[str]] = {"am": {"am"}, "pm": {"pm"}}
    for locale in _locales(in_english):
        for width in ("wide", "abbreviated"):
            for kind in ("am", "pm"):
                name = locale.day_periods.get("format", {}).get(width, {}).get(kind, "")
                periods.setdefault(re.sub(r"[\s.]", "", name).casefold(), set()).add(kind)
    return periods


def _meridiems(word: str) -> set[str]:
    return _day_periods(True).get(word) or _day_periods(False).get(word, set())


def _locales(in_english: bool) -> Iterator[Any]:
    from babel import Locale, localedata  # start-up: only a date in words needs it
    from babel.core import UnknownLocaleError

    languages = {name.partition("_")[0] for name in localedata.locale_identifiers()}
    for language in ["en"] if in_english else sorted(languages):
        try:
            yield Locale.parse(language)
        except (UnknownLocaleError, ValueError):
            continue
