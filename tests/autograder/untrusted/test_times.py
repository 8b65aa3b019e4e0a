"""Times that people, programs and other systems write."""

import subprocess
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from autograder.errors import CourseError
from autograder.untrusted.submission import parse_timestamp
from autograder.untrusted.times import NoTime, read_time, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
HANDED_IN = datetime(2026, 10, 5, 21, 58)


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-05 21:58:00 UTC",
        "2026-10-05 21:58:00",  # nbgrader's own form, which is UTC
        "2026-10-05T21:58:00Z",
        "20261005T215800Z",
        "2026-10-05 23:58:00 +0200",
        "2026-10-05 23:58:00 +02:00",
        "2026-10-05 23:58:00 +02",
        "2026-10-05T23:58:00+02:00[Europe/Berlin]",
        "2026-10-05 17:58:00 \N{MINUS SIGN}0400",
        "2026-10-05 23:58 CEST",
        "2026-10-05 23:58 MESZ",
        "2026-10-05 23:58 Europe/Berlin",
        "2026-10-05 23:58 UTC+2",
        "2026-10-06 03:28 GMT+05:30",
        "2026-10-05 5:58 PM EDT",
        "Mon Oct  5 23:58:00 CEST 2026",  # date
        "Mon, 5 Oct 2026 23:58:00 +0200",  # a mail
        "Mon Oct 05 2026 23:58:00 GMT+0200 (Central European Summer Time)",  # JavaScript
        "5. Oktober 2026, 23:58 MESZ",
        "05.10.2026 23:58 CEST",
        "1791237480",
        "1791237480123",
    ],
)
def test_a_time_with_its_zone_is_read_rightly(text):
    assert read_time(text) == HANDED_IN


def test_parts_of_a_second_are_kept():
    assert read_time("2026-10-05 23:58:00.1234567 +0200") == HANDED_IN.replace(microsecond=123456)


def test_a_time_of_nbgrader_s_is_read_without_the_languages_of_the_world():
    """A class has hundreds of them, and a page of formgrader's reads them all."""
    code = (
        "import sys; from autograder.untrusted import times; from datetime import UTC; "
        "times.read_time('2026-10-05 21:58:00.5 UTC'); times.read_time('2026-10-05 23:58:00 CEST'); "
        "without = 'babel' not in sys.modules; times.read_time('Monday, 5 October 2026, 9:58 PM', UTC); "
        "sys.exit(not without or times._calendar.cache_info().currsize > 1)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (text, "names no time zone")
            for text in (
                "5. Oktober 2026, 23:58",
                "2026-10-05 23:58:00 Uhr",
                "2026-10-05 um 23:58:00",
                "2026-10-05 23h58",
                "2026-10-05 23.58",
                "2026-10-05 23:58",
                "2026-10-05, 23:58:00",
                "2026/10/05 23:58:00",
                "2026-10-05 11:58:00 PM",
                "2026-10-05 23:58:00,123",
                "2026-10-05T23:58:00",
                "2026年10月5日 23:58",
            )
        ),
        ("10/5/2026 11:58 PM UTC", "may be 10 May or 5 October"),
        ("2026-10-05 23:58 IST", "several places use"),
        ("2026-10-05 23:58 CST", "several places use"),
        ("2026-10-05 23:58 XYZ", "is unknown"),
        ("2026-10-05 23:58 Europe/Atlantis", "does not exist"),
        ("2026-10-05 23:58 +9900", "does not exist"),
        ("2026-10-05", "no time of day"),
        ("2026-13-05 10:00 UTC", "no day that exists"),
        ("October October 5 2026, 21:58 UTC", "no day that exists"),
        ("2026-10-05 23:58 perhaps UTC", "'perhaps'"),
        ("2569-10-05 23:58 UTC", "no day that exists"),  # the Buddhist calendar
        ("yesterday", "no time of day"),
        ("x" * 5000, "too long to be a time"),
        ("9" * 100, "no time of day"),
    ],
)
def test_what_may_mean_something_else_is_not_read(text, why):
    with pytest.raises(NoTime, match=why):
        read_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "Monday, 5 October 2026, 11:58 PM",
        "Montag, 5. Oktober 2026, 23:58",
        "lundi 5 octobre 2026, 23:58",
        "lundi 5 octobre 2026, 23h58",
        "lunes, 5 de octubre de 2026, 23:58",
        "lunes, 5 de octubre de 2026, 11:58 p. m.",
        "lunedì, 5 ottobre 2026, 23:58",
        "maandag, 5 oktober 2026, 23:58",
        "segunda-feira, 5 de outubro de 2026 às 23:58",
        "poniedziałek, 5 października 2026, 23:58",
        "понедельник, 5 октября 2026, 23:58",
        "понеділок, 5 жовтня 2026, 23:58",
        "maanantaina 5. lokakuuta 2026, 23.58",
        "måndag, 5 oktober 2026, 23:58",
        "mandag den 5. oktober 2026 kl. 23.58",
        "pondělí, 5. října 2026, 23.58",
        "2026. október 5., hétfő, 23:58",
        "5 Ekim 2026, Pazartesi, 23:58",
        "Δευτέρα, 5 Οκτωβρίου 2026, 11:58 μμ",
        "dilluns, 5 d’octubre 2026, 23:58",
        "2026年 10月 5日(月曜日) 23:58",
        "2026年10月5日 星期一 下午11:58",
        "2026년 10월 5일 월요일, 오후 11:58",
        "الاثنين، 5 أكتوبر 2026، 11:58 م",
        "יום שני, 5 אוקטובר 2026, 23:58",
        "วันจันทร์, 5 ตุลาคม 2026, 23:58",
        "Thứ Hai, 5 tháng 10 2026, 23:58",
        "ponedjeljak, 5. listopada 2026, 23:58",  # Croatian, where it is October
        "2026-10-05 23:58",
    ],
)
def test_a_worksheet_s_time_is_read_in_its_language(text):
    assert read_time(text, BERLIN) == HANDED_IN


def test_a_month_whose_name_means_two_is_told_by_the_weekday():
    assert read_time("czwartek, 5 listopada 2026, 10:00", BERLIN) == datetime(
        2026, 11, 5, 9
    )  # Polish: November
    with pytest.raises(NoTime, match="may be 5 October or 5 November"):
        read_time("5 listopada 2026, 10:00", BERLIN)


def test_an_abbreviation_means_what_it_means_in_the_zone_that_counts():
    assert read_time("2026-10-05 23:58 IST", ZoneInfo("Asia/Kolkata")) == datetime(2026, 10, 5, 18, 28)


def test_or_on_this_machine(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert read_time("2026-10-05 23:58 IST") == datetime(2026, 10, 5, 18, 28)
    monkeypatch.setenv("TZ", "CET-1CEST")
    assert read_time("2026-10-05 23:58 CEST") == HANDED_IN


def test_the_order_of_a_date_may_be_known():
    assert read_time("05/10/2026 23:58", BERLIN, "day") == HANDED_IN
    assert read_time("10/05/2026 23:58", BERLIN, "month") == HANDED_IN
    assert read_time("Monday, 05/10/2026 23:58", BERLIN) == HANDED_IN
    assert read_time("25/10/2026 22:00", BERLIN) == datetime(2026, 10, 25, 21), "there is no 25th month"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig", "cp1252"])
def test_a_timestamp_is_read_in_every_encoding(encoding):
    assert parse_timestamp("2026-10-05 21:58:00 UTC".encode(encoding)) == (HANDED_IN, "")


def test_a_timestamp_that_cannot_be_read_is_shown_and_an_empty_one_says_nothing():
    when, why = parse_timestamp("5. März 2026, \x1b[31m".encode())
    assert when is None and "M\\xe4rz" in why and "\x1b" not in why
    assert parse_timestamp(b" \n") == (None, "")


def test_a_zone_is_the_named_one_or_that_of_tz(monkeypatch):
    monkeypatch.setenv(
        "TZ", "Asia/Tokyo"
    )  # with no call of tzset: a server that runs already has not made one
    assert zone_of()[1] == "Asia/Tokyo" and zone_of("Europe/Berlin")[1] == "Europe/Berlin"
    with pytest.raises(CourseError, match="--zone is 'Berlin'"):
        zone_of("Berlin")
    monkeypatch.setenv("TZ", "Nowhere/Land")
    with pytest.raises(CourseError, match="TZ is"):
        zone_of()
