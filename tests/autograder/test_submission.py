"""What students hand in is read distrustfully and restored from the release."""

import json
import os
from datetime import datetime

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import Assignment
from autograder.source import grade_id
from autograder.submission import (
    Unreadable,
    from_notebook,
    parse_cells,
    read_submission,
    restore,
    students,
    to_notebook,
)


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
    restored = restore(parse_cells(json.dumps(notebook).encode()), RELEASE)
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


def test_a_notebook_survives_the_way_through_nbgrader():
    cells = parse_cells(nbformat.writes(RELEASE).encode())
    assert from_notebook(to_notebook(cells)) == cells


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"This is my homework.", "not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[]", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"cells": [1]}', "Cell 0"),
        (b'{"cells": [{"cell_type": "code", "source": 3}]}', "no readable text"),
        (json.dumps({"cells": [{"cell_type": "raw"}] * 3000}).encode(), "3000 cells"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence(blob, words):
    with pytest.raises(Unreadable, match=words):
        parse_cells(blob)


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
CELLS = st.lists(st.fixed_dictionaries({"cell_type": st.sampled_from(["code", "markdown", "raw"]), "source": st.text(max_size=20)}, optional={"metadata": JSON, "attachments": JSON, "outputs": JSON, "id": JSON}), max_size=5)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(JSON, st.fixed_dictionaries({"cells": CELLS}), st.fixed_dictionaries({"cells": JSON})))
def test_any_json_gives_a_valid_notebook_or_a_sentence(content):
    try:
        cells = parse_cells(json.dumps(content).encode())
    except Unreadable as error:
        assert str(error)
    else:
        restored = restore(cells, RELEASE)
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


def test_a_submission_has_its_time(folder):
    (folder / "hw.ipynb").write_text(nbformat.writes(RELEASE))
    (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")
    assert (read(folder).status, read(folder).timestamp) == ("", datetime(2026, 10, 1, 12))


@pytest.mark.parametrize("text", ["", "yesterday", "9" * 500, "2026-13-45"])
def test_an_unreadable_time_is_no_time(folder, text):
    (folder / "hw.ipynb").write_text(nbformat.writes(RELEASE))
    (folder / "timestamp.txt").write_text(text)
    assert read(folder).timestamp is None


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
        file.truncate(30 << 20)
    assert "30 MB; at most 20 MB" in read(folder).reason


def test_a_linked_folder_is_not_followed(folder, tmp_path):
    (folder / "hw.ipynb").write_text(nbformat.writes(RELEASE))
    eve = tmp_path / "submitted" / "eve"
    eve.mkdir()
    (eve / "hw").symlink_to(folder)
    assert read(eve / "hw").status == "malformed"
    assert [name for name, _ in students(tmp_path / "submitted", "hw")] == ["ada", "eve"]
