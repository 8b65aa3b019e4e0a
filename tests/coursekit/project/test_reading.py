"""A text that a student brings: read, or refused with one sentence that says why; and nothing leaves the machine."""

import os
import random
import re
import socket
import unicodedata

import pytest

from coursekit.project import personal
from coursekit.project.packaged_texts import PACKAGED
from coursekit.project.reading import HUGE, LEAST, LONGEST, MOST, TextUnusable, own_text, passages_of

pytestmark = pytest.mark.slow

SENTENCES = [
    f"On day {number} the {who} carried {what} to the harbour and wrote about it in the evening."
    for number in range(1, 400)
    for who, what in (("captain", "letters"), ("baker", "bread"), ("pilot", "a map"), ("teacher", "books"))
]
PROSE = "\n\n".join(" ".join(SENTENCES[place : place + 4]) for place in range(0, len(SENTENCES), 4)) * 2
PROSE = PROSE.replace("harbour", "harbour of the old town")
DIFFERENT = PROSE + "\n\n" + PROSE.replace("captain", "sailor").replace("evening", "morning")


@pytest.fixture
def file(tmp_path):
    def write(content, name="mine.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, **options) -> str:
    with pytest.raises(TextUnusable) as refused:
        own_text(path, **options)
    said = str(refused.value)
    assert "\n" not in said and said.endswith((".", "?")), said
    return said


def test_an_ordinary_text_is_read(file):
    assert LEAST < len(DIFFERENT) < MOST
    text = own_text(file(DIFFERENT))
    assert len(text.passages) > 500 and text.notes == () and text.megabytes > 0.2
    assert all(len(passage) <= LONGEST and "\n" not in passage for passage in text.passages)
    assert str(text).startswith("mine.txt: ") and "passages" in str(text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_text_in_an_encoding_that_its_bytes_show_is_read(file, encoding):
    assert own_text(file(DIFFERENT.encode(encoding))).passages == own_text(file(DIFFERENT)).passages


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", " \u00a0\n"),
        lambda text: unicodedata.normalize("NFD", text),
    ],
    ids=["CRLF", "CR", "spaces at the ends of lines", "accents apart from their letters"],
)
def test_other_ways_to_store_the_same_text_give_the_same_passages(file, change):
    text = DIFFERENT.replace("harbour", "façade")
    assert own_text(file(change(text))).passages == own_text(file(text)).passages


def test_a_text_in_one_line_is_split_at_sentences_and_a_word_without_an_end_at_its_length(file):
    line = re.sub(r"\s+", " ", DIFFERENT)
    line = f"{line} {line.replace('captain', 'mate')}"
    assert len(line) > 1_000_000
    passages = own_text(file(line)).passages
    assert max(map(len, passages)) <= LONGEST and " ".join(passages) == line
    assert sum(passage.endswith(".") for passage in passages) == len(passages)
    assert [len(one) for one in passages_of("x" * 2 * LONGEST + "x")] == [LONGEST, LONGEST, 1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"%PDF-1.7\n" + b"x" * 300_000, "a PDF file"),
        (b"PK\x03\x04" + b"x" * 300_000, "a Word, OpenOffice or EPUB document"),
        (b"\x89PNG\r\n" + b"x" * 300_000, "a picture"),
        (b"abc\0def" * 50_000, "zero bytes"),
        (f"{DIFFERENT}\0{DIFFERENT}", "zero bytes"),
        (random.Random(0).randbytes(300_000), "zero bytes"),
        (random.Random(0).randbytes(300_000).replace(b"\0", b"1"), "control characters"),
        ("Мама мыла раму. ".encode("utf-16-le") * 20_000, "save it as UTF-8"),
        (DIFFERENT.encode("utf-16")[:-1], "is not in UTF-16: byte "),
        ("À la fin de l'été. ".encode("latin-1") * 20_000, "is not in UTF-8: byte 0 is 0xc0"),
        ("Too short. " * 100, "has 1 kB; the project needs at least 200 kB"),
        (DIFFERENT * 14, "MB; the project accepts at most 5 MB"),
        ("12,7;3.4;88\n" * 30_000, "is not running text"),
        ("".join(f"{number:x}" for number in range(100_000)), "is not running text"),
        (f"<p>{DIFFERENT.replace('. ', '.</p> <p>')}</p>", "HTML or XML tags"),
        ("1234567890\n" * 30_000, "only 0% of its characters are letters"),
        ("\u00a0" * 200_000, "only 0% of its characters are letters"),
        ("\u0301 " * 200_000, "only 0% of its characters are letters"),
        ("\n".join(f"ann{n}@example.org, +44 20 7946 {n:04}" for n in range(9000)), "is not running text"),
        ("ฉันรักภาษาไทยมากและอยากเรียนรู้เพิ่มเติม" * 5_000, "Thai script, which has no spaces between words"),
        ("The same line again.\n" * 20_000, "consists largely of repetitions"),
        ("春眠不覺曉處處聞啼鳥" * 12_000, "Chinese or Japanese script, which has no spaces between words"),
        (DIFFERENT.replace(" ", ""), "more than 20 letters on average"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_the_reason(file, content, words):
    assert words in refusal(file(content))


def test_a_missing_file_names_what_there_is(tmp_path, file):
    file(DIFFERENT, "diary.txt")
    said = refusal(tmp_path / "dairy.txt")
    assert "This folder contains diary.txt." in said and '"language reference"' in said
    assert "is a folder" in refusal(tmp_path)
    assert "There is no .txt file" in refusal(tmp_path / "nowhere" / "x.txt")
    assert "is a folder" in refusal("")
    assert "is not the name of a file" in refusal("a\0b.txt")


def test_what_would_never_end_or_fill_the_memory_is_not_opened(tmp_path):
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(3 * HUGE)
    assert "has 300 MB; the project accepts at most 5 MB" in refusal(tmp_path / "long.txt", cut=True)
    os.mkfifo(tmp_path / "pipe.txt")
    assert "a device" in refusal(tmp_path / "pipe.txt")


def test_another_encoding_and_a_part_of_a_long_text_are_taken_on_request(file):
    accents = DIFFERENT.replace("harbour", "façade")
    assert "façade" in own_text(file(accents.encode("latin-1")), encoding="latin-1").passages[0]
    cut = own_text(file("\n\n".join(DIFFERENT.replace("day", f"day{n}") for n in range(14))), cut=True)
    assert cut.megabytes < 5.1 and "Only the first 5 MB" in cut.notes[0]
    assert "no encoding named 'klingon'" in refusal(file(DIFFERENT), encoding="klingon")
    assert "is not in PUNYCODE" in refusal(file(accents.encode("latin-1")), encoding="punycode")
    russian = "".join(
        chr(ord(letter) + 0x3CF) if letter.isalpha() else letter for letter in DIFFERENT.lower()
    )
    assert own_text(file(russian.encode("utf-16-le")), encoding="utf-16-le").megabytes > 0.2


def test_another_script_is_read_with_a_note_on_what_does_not_work(file):
    letters = str.maketrans("abcdefghijklmnoprstuvwxyz", "абцдефгхийклмнопрстувшхыз")
    text = own_text(file(DIFFERENT.lower().translate(letters)))
    assert "Cyrillic" in text.notes[0] and "tokeniser" in text.notes[0] and "English" in text.notes[0]
    hindi = "\n\n".join(
        f"राम ने कहा कि वह कल दिल्ली जाएगा और {number} मित्रों से मिलेगा।" for number in range(2500)
    )
    notes = own_text(file(hindi)).notes
    assert "Devanagari" in notes[0] and "parts of words" in notes[1]


PRIVATE = "Write to ann.other@example.org or call +44 20 7946 0018; she lives at 12 Elm Street, AB1 2CD."


def test_personal_data_are_counted_and_not_shown_and_the_student_decides(file):
    path = file(f"{PRIVATE}\n\n{DIFFERENT}")
    said = refusal(path)
    assert "1 e-mail address, 2 postal addresses and 1 telephone number" in said
    assert not re.search(r"ann|7946|Elm|AB1", said)
    replaced = own_text(path, personal="replace")
    assert replaced.passages[0] == (
        "Write to [e-mail address] or call [telephone number]; she lives at [postal address], [postal address]."
    )
    assert "Replaced by placeholders" in replaced.notes[0]
    assert own_text(path, personal="keep").passages[0] == PRIVATE
    assert "'ask', 'replace' or 'keep'" in refusal(path, personal="yes")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Tel. 030 1234567", {"telephone number": 1}),
        ("(0)89/1234-567 or (089) 1234567", {"telephone number": 1}),
        ("555-123-4567", {"telephone number": 1}),
        ("IBAN DE89 3704 0044 0532 0130 00", {"account number": 1}),
        ("Hauptstraße 12", {"postal address": 1}),
        ("in 1984 and 2001, pages 120-134, 3.14159265, 10,000,000 people, ISBN 978-3-16-148410-0", {}),
        ("0.0001234 and 00:01:02 on 2024-01-31 10:15", {}),
        ("x @ y and the @property", {}),
    ],
)  # fmt: skip
def test_personal_data_have_a_form_and_years_and_numbers_have_not(text, kinds):
    assert personal.found(text) == kinds


@pytest.mark.parametrize("part", ["a.", "A'", "a@a."])
def test_no_line_takes_long(part):
    assert personal.found(part * 100_000) == {}


@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_texts_have_a_licence_the_right_size_and_no_addresses(name):
    text = own_text(name)
    assert 0.2 < text.megabytes < 5
    assert "licence" in text.notes[0] or "CC BY" in text.notes[0]
    assert not personal.found(PACKAGED[name].read())


def test_paragraphs_are_separated_by_empty_lines_or_else_by_lines():
    lines = [f"Line {number} of the song" for number in range(200)]
    assert len(passages_of("\n".join(lines))) == 200
    assert len(passages_of("\n\n".join(f"{one}\ngoes on" for one in lines))) == 200
    assert max(map(len, passages_of("word " * 3000 + "\n\n" + "One sentence. " * 500))) <= LONGEST


def test_no_connection_is_opened(file, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    own_text(file(f"{PRIVATE}\n\n{DIFFERENT}"), personal="replace")
    own_text("language reference")
