"""The cells of a file: odd, broken and hostile files are read by the same rules at every size."""

import base64
import json

import pytest

from autograder.untrusted import scanning as module
from autograder.untrusted.cells import Unreadable, parse_cells

BEGINS = b'{"nbformat": 4, "cells": ['
PADDED = BEGINS + b'{"cell_type": "code", "outputs": [{"text": "' + b"x" * (21 << 20) + b'"}]}, '
FIRST = {"cell_type": "code", "id": "one", "metadata": {}, "source": ["a = 1\n", "b = 2"], "outputs": []}
LAST = {
    "cell_type": "markdown",
    "id": "two",
    "metadata": {"nbgrader": {"grade_id": "words"}},
    "source": "An answer.",
}


@pytest.fixture(params=["small", pytest.param("large", marks=pytest.mark.slow)])
def read(request):
    """Reads a file of these cells (as JSON texts), small, or with 21 MB of output ahead of them."""

    def read(*cells, end='], "metadata": {}}'):
        large = request.param == "large"
        found = parse_cells((PADDED if large else BEGINS) + (", ".join(cells) + end).encode())
        return found.cells[large:], found.note

    return read


def as_json(cell, **changes):
    return json.dumps({**cell, **changes})


def summary(cells):
    return [(cell.kind, cell.source, cell.name) for cell in cells]


USUAL = [("code", "a = 1\nb = 2", "one"), ("markdown", "An answer.", "words")]

ODD_OUTPUTS = {
    "NaN": '[{"data": {"application/json": {"y": [NaN, Infinity, -Infinity]}}}]',
    "half a character": r'[{"text": "\ud800"}]',
    "a control character": '[{"text": "\x01"}]',
    "deep": "[" * 20_000 + "]" * 20_000,
    "a word that JSON has not": '[{"data": undefined}]',
    "brackets and quotes in a text": r'[{"text": "]}\"{[\\"}]',
}


@pytest.mark.parametrize("odd", ODD_OUTPUTS.values(), ids=ODD_OUTPUTS)
def test_outputs_are_not_read_whatever_they_hold(read, odd):
    first = as_json(FIRST).replace('"outputs": []', f'"outputs": {odd}')
    found, note = read(first, as_json(LAST))
    assert summary(found) == USUAL and note == ""


ODD_CELLS = {
    "of another kind": (as_json(LAST, cell_type="sql", source="select 1"), ("raw", "select 1", "words")),
    "a heading of old": (as_json(LAST, cell_type="heading", level=2), ("raw", "An answer.", "words")),
    "without a kind": (as_json({"source": "x"}), ("raw", "x", "")),
    "a null source": (as_json(FIRST, source=None), ("code", "", "one")),
    "a number as source": (as_json(FIRST, source=3), ("code", "", "one")),
    "a line that is no text": (as_json(FIRST, source=["a\n", None, 3, "b"]), ("code", "a\nb", "one")),
    "an object as source": (as_json(FIRST, source={"0": "a\n", "1": ["b"]}), ("code", "a\nb", "one")),
    "lists as source": (as_json(FIRST, source=[["a\n"], ["b", [["c"]]]]), ("code", "a\nbc", "one")),
    "without commas": (
        as_json(FIRST, source=["a\n", "b"]).replace(", ", " "),
        ("code", "a\nb", "one"),
    ),
    "commas at the end": (
        as_json(FIRST, source=["a"]).replace('["a"]', '["a",]').replace("}", ",}"),
        ("code", "a", "one"),
    ),
    "no object": ("7", ("raw", "", "")),
    "an odd name": (as_json(FIRST, id=["x"], metadata=None), ("code", "a = 1\nb = 2", "")),
    "deep metadata": (
        as_json(FIRST).replace('"metadata": {}', '"metadata": ' + '{"a":' * 5000 + "1" + "}" * 5000),
        USUAL[0],
    ),
    "NaN in its metadata": (as_json(FIRST, metadata={"a": float("nan")}), USUAL[0]),
    "half a character in its text": (as_json(FIRST, source="\ud800"), ("code", "?", "one")),
}


@pytest.mark.parametrize(("odd", "as_read"), ODD_CELLS.values(), ids=ODD_CELLS)
def test_an_odd_cell_harms_only_itself(read, odd, as_read):
    found, note = read(odd, as_json(LAST))
    assert summary(found) == [as_read, USUAL[1]] and note == ""


BROKEN = {
    "in an output": '{"cell_type": "code", "outputs": [{"text": "abc',
    "behind an escaped quote": '{"cell_type": "code", "outputs": [{"text": "' + '\\"' * 50_000,
    "between brackets": '{"cell_type": "code", "outputs": [[[',
    "in a key": '{"cell_ty',
    "before the value": '{"cell_type":',
    "without a colon": '{"cell_type": "code", "source" "x"}',
    "a stray bracket": '{"cell_type": "code", "source": ]',
    "after a comma": "",
}


@pytest.mark.parametrize("rest", BROKEN.values(), ids=BROKEN)
def test_what_can_be_read_of_a_broken_file_is_read(read, rest):
    found, note = read(as_json(FIRST), as_json(LAST), rest, end="")
    assert summary(found) == USUAL
    assert "breaks off" in note and "Submit the file again" in note


SPOILT = {
    "a quote in a text": as_json(FIRST, source="print(@hi@)").replace("@", '"'),
    "a quote in a list": as_json(FIRST, source=["print(@hi@)\n", "x"]).replace("@", '"'),
    "one quote": as_json(FIRST, source=["the 5@ disk\n", "x"]).replace("@", '"'),
    "one quote in an output": as_json(FIRST, outputs=[{"text": ["5@", "x"]}]).replace("@", '"'),
    "no end": as_json(FIRST)[:-1],
    "half a cell": as_json(FIRST)[:60],
    "a bracket": "]",
    "a word": "oops",
    "no colon": '{"cell_type" "code", "source": "x"}',
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT)
def test_a_cell_that_cannot_be_read_costs_no_other(read, spoilt, place):
    cells = [as_json(FIRST), as_json(LAST)]
    found, note = read(*cells[:place], spoilt, *cells[place:])
    kept = [cell for cell in summary(found) if cell in USUAL]
    assert kept == USUAL and (note.startswith("The file is damaged") or place == 2 or spoilt == "oops")
    assert bool(note) or spoilt == "oops"


@pytest.mark.parametrize("between", ["", ",,", " , , "])
def test_a_comma_more_or_less_between_cells_is_no_damage(between):
    found = parse_cells(BEGINS + as_json(FIRST).encode() + between.encode() + as_json(LAST).encode() + b",]}")
    assert summary(found.cells) == USUAL and found.note == ""


def test_damage_ahead_of_the_cells_costs_no_cell():
    found = parse_cells(b'{"nbformat" 4, "cells": [' + as_json(FIRST).encode() + b"]}")
    assert summary(found.cells) == USUAL[:1] and found.note.startswith("The file is damaged")


def test_a_file_of_damage_alone_is_not_searched_for_ever(monkeypatch):
    blob = BEGINS + b'{"cell_type": "code", "source": [}, ' * 3000 + as_json(LAST).encode() + b"]}"
    monkeypatch.setattr(module, "MOST_SEARCHED", 10 * len(blob))
    with pytest.raises(Unreadable, match="it is damaged, and no cell of it can be read"):
        parse_cells(blob)


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (b'{"cells": [{"cell_type" "code"}]}', "damaged, and no cell of it can be read"),
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (bytes(5000), "nothing but zeros"),
        (
            b"<!DOCTYPE html><html><head><title>hw.ipynb - GitHub</title></head></html>",
            "a web page from GitHub",
        ),
        (b"\n<html lang=de>", "is a web page, not the notebook"),
        (b'{\n<<<<<<< HEAD\n "cells": [],\n=======\n "cells": [],\n>>>>>>> main\n}', "merge conflict"),
        (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "format 3: open and save it in JupyterLab"),
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b"%PDF-1.7", "a PDF"),
        (b"import torch\n\ndef f(x):\n    return x\n", "a Python script"),
        (b'{"url": "https://docs.google.com/x", "doc_id": "1"}', "a link to Google Drive"),
        (b'{"cells"', "breaks off before its first cell"),
        (b"\x80 is no letter", "not UTF-8"),
        (b"This is my homework.", "does not begin like JSON"),
        (b"[" * 200_000, "does not begin like JSON"),
        (b'{"metadata": ' + b"[" * 200_000, "breaks off before its first cell"),
        (b"[]", "does not begin like JSON"),
        (b"{}", "no list of cells"),
        (b'{"cells": {}}', "not a list of cells"),
        (json.dumps({"cells": [{"cell_type": "raw"}] * 3000}).encode(), "more than 2000 cells"),
    ],
)
def test_what_a_file_is_instead_is_said_in_words(blob, words):
    with pytest.raises(Unreadable, match=words) as caught:
        parse_cells(blob)
    assert "Expecting" not in str(caught.value) and "char 0" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_what_windows_calls_unicode_is_read(encoding):
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    text = mark + '{"cells": [' + json.dumps({**LAST, "source": "Größe"}, ensure_ascii=False) + "]}"
    assert [cell.source for cell in parse_cells(text.encode(encoding)).cells] == ["Größe"]


def test_a_letter_of_another_encoding_costs_that_letter():
    blob = '{"cells": [{"cell_type": "markdown", "source": "Größe"}]}'.encode("cp1252")
    assert [cell.source for cell in parse_cells(blob).cells] == ["Gr\ufffd\ufffde"]


def test_of_a_doubled_key_the_last_counts_and_the_cells_may_come_last():
    blob = b'{"metadata": {"cells": [1]}, "cells": [{"source": "no", "cell_type": "code", "source": "yes"}]}'
    assert [cell.source for cell in parse_cells(blob).cells] == ["yes"]


def test_a_file_of_nothing_but_brackets_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "MOST_SIGNS", 1000)
    monkeypatch.setattr(module, "MOST_KEYS", 1000)
    with pytest.raises(Unreadable, match="millions of lists and objects.*Clear all outputs"):
        parse_cells(b'{"cells": [{"outputs": [' + b"[]," * 1000 + b"[]]}]}")
    with pytest.raises(Unreadable, match="Clear all outputs"):
        parse_cells(b"{" + b'"a": 1,' * 1001 + b'"cells": []}')


WEBP = base64.b64encode(b"RIFF\0\0\0\0WEBPVP8 ").decode()


def test_pictures_that_a_browser_draws_are_kept_and_others_by_their_kind_alone(read):
    attachments = {
        "a.png": {"image/png": WEBP},
        "b.webp": {"image/webp": WEBP},
        "c.svg": {"image/svg+xml": "<svg onload='alert(1)'/>"},
        "d.heic": {"image/heic": WEBP},
        "e": {"<b>": WEBP},
        "f.png": {"image/png": "no base64!"},
        "g\ud800": {"image/png": WEBP},
    }
    ((cell,), _) = read(as_json(LAST, attachments=attachments))
    assert cell.attachments == {
        "a.png": {"image/png": WEBP},
        "b.webp": {"image/webp": WEBP},
        "c.svg": {"image/svg+xml": ""},
        "d.heic": {"image/heic": ""},
        "f.png": {"image/png": ""},
    }
