"""What students hand in is read distrustfully and restored from the release."""

import base64
import codecs
import copy
import json
import os
import subprocess
import sys
from datetime import datetime

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import compute_checksum

from autograder.course import Assignment
from autograder.settings import limits
from autograder.source import grade_id, is_solution
from autograder.untrusted.cells import Unreadable, parse_cells
from autograder.untrusted.placing import restore
from autograder.untrusted.scanning import MAX_CELLS, MAX_NOTEBOOK_BYTES
from autograder.untrusted.submission import (
    LONGEST_FILE_NAME,
    LONGEST_NAME,
    MAX_FILE_BYTES,
    LeftOut,
    left_out,
    read_submission,
    students,
)
from tests.conftest import ROOT


def graded(name, source, locked, cell_type="code"):
    new = new_code_cell if cell_type == "code" else new_markdown_cell
    nbgrader = {
        "grade_id": name,
        "grade": locked,
        "solution": not locked,
        "locked": locked,
        "schema_version": 3,
        "task": False,
    }
    return new(source, id=name, metadata={"nbgrader": nbgrader | ({"points": 2} if locked else {})})


RELEASE = new_notebook(
    cells=[
        new_markdown_cell("# Title", id="title"),
        graded("one", "raise NotImplementedError", locked=False),
        graded("one-check", 'check("one")', locked=True),
        new_code_cell("plot()", id="plot", metadata={"tags": ["demo"]}),
        graded("two", "raise NotImplementedError", locked=False),
        graded("two-check", 'check("two")', locked=True),
    ]
)


def handed_in(*changes):
    """The release's cells after `changes`, restored; as (grade id, source) pairs."""
    notebook = json.loads(nbformat.writes(RELEASE))
    for change in changes:
        change(notebook["cells"])
    restored = restore(parse_cells(json.dumps(notebook).encode()).cells, RELEASE).notebook
    nbformat.validate(restored)
    return restored


def names(notebook):
    return [grade_id(cell) for cell in notebook.cells if grade_id(cell)]


def test_an_answer_is_kept_and_the_rest_is_the_release():
    restored = handed_in(lambda cells: cells[1].update(source="def one(): return 1"))
    assert restored.cells[1].source == "def one(): return 1"
    assert [c.source for c in restored.cells[2:]] == [c.source for c in RELEASE.cells[2:]]
    assert [c.metadata for c in restored.cells] == [c.metadata for c in RELEASE.cells]


def test_a_rewritten_check_and_its_points_are_restored():
    def cheat(cells):
        cells[2]["source"] = "print('all right')"
        cells[2]["metadata"]["nbgrader"].update(points=100, locked=False, schema_version=99)

    restored = handed_in(cheat)
    assert restored.cells[2].source == 'check("one")'
    assert restored.cells[2].metadata == RELEASE.cells[2].metadata


@pytest.mark.parametrize("place", [1, 2, 4, 5])
def test_a_deleted_cell_comes_back_in_its_place(place):
    restored = handed_in(lambda cells: cells.pop(place))
    assert names(restored) == ["one", "one-check", "two", "two-check"]


def test_of_a_doubled_id_the_first_counts():
    def double(cells):
        cells[1]["source"] = "first"
        cells.insert(2, {**cells[1], "source": "second"})

    restored = handed_in(double)
    assert names(restored) == ["one", "one-check", "two", "two-check"]
    assert restored.cells[1].source == "first"
    assert "nbgrader" not in restored.cells[2].metadata


def test_foreign_metadata_ids_and_outputs_are_dropped():
    def spoil(cells):
        cells[0].update(metadata={"nbgrader": {"grade_id": "no-such"}, "x": 1}, id="bad id !")
        cells[1].update(outputs=[{"output_type": "nonsense"}], metadata={"nbgrader": {"grade_id": ["list"]}})
        cells[3].update(metadata={"nbgrader": 7})

    restored = handed_in(spoil)
    assert names(restored) == ["one", "one-check", "two", "two-check"]
    assert [c.metadata for c in restored.cells] == [c.metadata for c in RELEASE.cells]
    assert not any(cell.get("outputs") for cell in restored.cells)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cell_type", "source", "metadata", "nbgrader", "grade_id", "attachments", "a"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
CELLS = st.lists(st.fixed_dictionaries({"cell_type": st.sampled_from(["code", "markdown", "raw", "sql", None]), "source": st.text(max_size=20)}, optional={"metadata": JSON, "attachments": JSON, "outputs": JSON, "id": JSON}), max_size=5)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.one_of(JSON, st.fixed_dictionaries({"cells": CELLS}), st.fixed_dictionaries({"cells": JSON})))
def test_any_json_gives_a_valid_notebook_or_a_sentence(content):
    try:
        cells = parse_cells(json.dumps(content).encode())
    except Unreadable as error:
        assert str(error)
    else:
        restored = restore(cells.cells, RELEASE).notebook
        nbformat.validate(restored)
        nbformat.writes(restored).encode()
        assert names(restored) == ["one", "one-check", "two", "two-check"]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "submitted" / "ada" / "hw"
    folder.mkdir(parents=True)
    return folder


def read(folder):
    return read_submission(folder, "ada", Assignment(folder.parents[2], "hw"), RELEASE)


@pytest.mark.parametrize("text", ["", "yesterday", "9" * 500, "2026-13-45"])
def test_an_unreadable_time_is_no_time(folder, text):
    (folder / "hw.ipynb").write_text(nbformat.writes(RELEASE))
    (folder / "timestamp.txt").write_text(text)
    assert read(folder).timestamp is None
    assert bool(read(folder).time_unread) == bool(text)


def test_what_is_written_is_what_nbgrader_calls_so(folder):
    """It compares the checksums of its "No response."; texts say the same, and sooner."""
    release = copy.deepcopy(RELEASE)
    for cell in release.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    handed = copy.deepcopy(release)
    handed.cells[1].source = "def one(): pass"
    handed.cells[2].source = "1 / 0"  # locked
    (folder / "hw.ipynb").write_text(nbformat.writes(handed))
    submission = read_submission(folder, "ada", Assignment(folder.parents[2], "hw"), release)
    differing = {
        grade_id(cell): cell.source
        for cell in submission.notebook.cells
        if is_solution(cell) and cell.metadata.nbgrader.checksum != compute_checksum(cell)
    }
    assert submission.written == differing == {"one": "def one(): pass"}


def test_links_pipes_and_giants_are_not_read(folder, tmp_path):
    notebook = folder / "hw.ipynb"
    secret = tmp_path / "solution.ipynb"
    secret.write_text(nbformat.writes(RELEASE))
    assert read(folder).status == "missing"
    notebook.symlink_to(secret)
    assert (read(folder).status, "not a regular file" in read(folder).reason) == ("malformed", True)
    notebook.unlink()
    os.mkfifo(notebook)
    assert "not a regular file" in read(folder).reason
    notebook.unlink()
    with notebook.open("wb") as file:
        file.truncate(300 << 20)
    assert "300 MB; at most 200 MB are read. Clear all outputs" in read(folder).reason


@pytest.mark.parametrize(
    "disguise",
    {
        "carriage returns": lambda text: text.replace("\\n", "\\r\\n"),
        "carriage returns alone": lambda text: text.replace("\\n", "\\r"),
        "between the lines of the file, too": lambda text: text.replace("\\n", "\\r\\n").replace(
            "\n", "\r\n"
        ),
        "a byte order mark": lambda text: f"\ufeff{text}",
    }.items(),
    ids=lambda item: item[0],
)
def test_what_an_editor_adds_is_as_if_it_were_not_there(folder, disguise):
    notebook = nbformat.from_dict(RELEASE)
    for cell in notebook.cells:
        cell.source += "\n\nand a second line"
    text = nbformat.writes(notebook)
    (folder / "hw.ipynb").write_text(text)
    plain = read(folder)
    (folder / "hw.ipynb").write_bytes(disguise[1](text).encode())
    (folder / "timestamp.txt").write_bytes(codecs.BOM_UTF8 + b"2026-10-01 12:00:00 UTC\r\n")
    assert (folder / "hw.ipynb").read_text() != text
    assert (read(folder).status, read(folder).notebook) == (None, plain.notebook)
    assert read(folder).timestamp == datetime(2026, 10, 1, 12)


PICTURE = base64.b64encode(bytes(3 << 20)).decode()  # 4 MB of text


def large(outputs=(), pictures=0, more=()):
    """The release as a file, with outputs, and with so many pictures of 4 MB, each in a cell of its own."""
    notebook = json.loads(nbformat.writes(RELEASE))
    notebook["cells"][3]["outputs"] = list(outputs)
    for number in range(pictures):
        attachments = {"p.png": {"image/png": PICTURE}}
        cell = {"cell_type": "markdown", "id": f"p{number}", "metadata": {}, "source": f"Picture {number}"}
        notebook["cells"].append(cell | {"attachments": attachments})
    notebook["cells"] += more
    return json.dumps(notebook)


OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["a line\n"] * (3 << 20)}  # 30 MB


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_outputs_do_not_count(folder, mark):
    (folder / "hw.ipynb").write_text(large(pictures=1))
    small = read(folder)
    (folder / "hw.ipynb").write_text(mark + large([OUTPUT], pictures=1))
    assert (folder / "hw.ipynb").stat().st_size > MAX_NOTEBOOK_BYTES
    assert (read(folder).status, read(folder).notebook) == (None, small.notebook)
    assert "attachments" in small.notebook.cells[-1]


@pytest.mark.slow
def test_pictures_are_read_while_there_is_room_and_the_texts_in_any_case(folder):
    (folder / "hw.ipynb").write_text(large(pictures=12))
    assert (folder / "hw.ipynb").stat().st_size > 2 * MAX_NOTEBOOK_BYTES
    assert read(folder).status is None
    cells = [cell for cell in read(folder).notebook.cells if cell.source.startswith("Picture")]
    assert [cell.source for cell in cells] == [f"Picture {number}" for number in range(12)]
    assert ["attachments" in cell for cell in cells] == [True] * 4 + [False] * 8


@pytest.mark.slow
def test_texts_count(folder):
    cell = {"cell_type": "code", "metadata": {}, "source": "x" * MAX_NOTEBOOK_BYTES}
    (folder / "hw.ipynb").write_text(large(more=[cell]))
    assert (read(folder).status, "at most 20 MB are read" in read(folder).reason) == ("malformed", True)


MB = 1 << 20
BOMBS = {  # made when they are needed: they take 100 MB, and a second
    "lists in an output": lambda: (
        b'{"cells": [{"cell_type": "code", "outputs": [' + b"[]," * (8 * MB) + b"[]]}]}"
    ),
    "cells of nothing": lambda: b'{"cells": [' + b"{}," * (8 * MB) + b"{}]}",
    "cells": lambda: b'{"cells": [' + b'{"cell_type":"raw"},' * (2 * MB) + b'{"cell_type":"raw"}]}',
    "lines of nothing": lambda: (
        b'{"cells": [{"cell_type": "code", "source": [' + b'"",' * (8 * MB) + b'""]}]}'
    ),
    "other keys": lambda: b"{" + b"".join(b'"k%d":[{}],' % n for n in range(2 * MB)) + b'"cells": []}',
    "deep": lambda: b'{"cells": [{"cell_type": "code", "outputs": ' + b"[" * (24 * MB),
}


PEAK = """
import resource, sys
from autograder.untrusted.cells import Unreadable, parse_cells

bomb = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    parse_cells(bomb)
except Unreadable as error:
    assert str(error)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.slow
@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_a_large_file_takes_memory_by_its_size_whatever_it_holds(make):
    """Read as any JSON is, the first would take 24 times its size."""
    bomb = make()
    assert len(bomb) > MAX_NOTEBOOK_BYTES
    reading = subprocess.run(
        [sys.executable, "-c", PEAK], input=bomb, capture_output=True, check=True, cwd=ROOT
    )
    assert int(reading.stdout) < 6 * len(bomb)


def test_the_limits_are_what_students_are_told():
    page = " ".join((ROOT / "docs" / "students.md").read_text().split())
    for words in (
        f"{MAX_FILE_BYTES >> 20} MB",
        f"{MAX_NOTEBOOK_BYTES >> 20} MB",
        f"{MAX_CELLS:,} cells",
        f"{limits(ROOT).cell_seconds} seconds",
        f"{limits(ROOT).notebook_seconds} seconds",
    ):
        assert words in page, words


def test_a_linked_folder_is_not_followed(folder, tmp_path):
    (folder / "hw.ipynb").write_text(nbformat.writes(RELEASE))
    eve = tmp_path / "submitted" / "eve"
    eve.mkdir()
    (eve / "hw").symlink_to(folder)
    assert read(eve / "hw").status == "malformed"
    assert [name for name, _ in students(tmp_path / "submitted", "hw")] == ["ada", "eve"]
    assert left_out(tmp_path / "submitted", "hw") == []


LONG = b"x" * (LONGEST_NAME + 1)
ODD = [b"\xff\xfe", b"a\nb", b"\x1b[2J", b" ada", b"ada ", LONG, "北".encode() * (LONGEST_FILE_NAME // 3 + 1)]


@pytest.mark.parametrize("name", ODD)
def test_a_folder_that_can_be_no_student_is_named_and_stops_nobody(folder, tmp_path, name):
    submitted = tmp_path / "submitted"
    os.makedirs(os.path.join(os.fsencode(submitted), name, b"hw"))
    (submitted / "zoe" / "hw").mkdir(parents=True)
    assert [student for student, _ in students(submitted, "hw")] == ["ada", "zoe"]
    assert [one.student for one in left_out(submitted, "hw")] == [os.fsdecode(name)]
    (words,) = map(str, left_out(submitted, "hw"))
    assert "rename it" in words and words.isprintable()
    assert left_out(submitted, "another") == []


def test_what_is_not_where_a_hand_in_belongs_is_named(folder, tmp_path):
    submitted = tmp_path / "submitted"
    (submitted / "bob.ipynb").write_text("{}")
    (submitted / "grades.csv").write_text("nobody's hand-in")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "hw").mkdir(parents=True)
    (submitted / "cem").symlink_to(elsewhere)
    (submitted / "dua").symlink_to(tmp_path / "nowhere")
    assert [student for student, _ in students(submitted, "hw")] == ["ada"]
    assert left_out(submitted, "hw") == [
        LeftOut("bob.ipynb", "it is a file: move it to STUDENT/hw/."),
        LeftOut("cem", "it is a link: put the folder itself in its place."),
    ]


@pytest.mark.parametrize(
    "name",
    ["hw (1).ipynb", "hw-Copy1.ipynb", "Copy of hw.ipynb", "hw.IPYNB", "hw.ipynb.txt", "hw.ipynb.json"],
)
def test_a_notebook_under_another_name_is_named(folder, name):
    (folder / name).write_text(nbformat.writes(RELEASE))
    (folder / "notes.txt").write_text("")
    assert read(folder).status == "missing"
    assert (
        read(folder).reason
        == f"There is no hw.ipynb in the submission; there is {name}, which has a different name."
    )


def test_a_file_in_the_place_of_the_folder_is_a_verdict(tmp_path):
    (tmp_path / "submitted" / "eve").mkdir(parents=True)
    (tmp_path / "submitted" / "eve" / "hw").write_text("{}")
    ((_, found),) = students(tmp_path / "submitted", "hw")
    assert (read(found).status, "not a plain folder" in read(found).reason) == ("malformed", True)
