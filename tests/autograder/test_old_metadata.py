"""Notebooks of older nbgraders: as sources they are refused with the command that upgrades them; as hand-ins they are read."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader import nbgraderformat

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.generating import generate
from autograder.old_metadata import require_current_metadata
from autograder.source import grade_id, read_source
from autograder.untrusted.submission import read_submission

V3 = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
ANSWER = {"solution": True, "grade_id": "a0"}
TEST = {"grade": True, "locked": True, "grade_id": "t0", "points": 1}


def source_of(answer: dict, test: dict, more: dict | None = None):
    cells = [("### BEGIN SOLUTION\na = 1\n### END SOLUTION", answer), ("assert a == 1", test)]
    cells += [("# more", more)] if more else []
    return new_notebook(cells=[new_code_cell(text, metadata={"nbgrader": of}) for text, of in cells])


OLD = {
    "0.3, which wrote no version": (ANSWER, TEST | {"points": "1"}),
    "0": (ANSWER | {"schema_version": 0}, TEST | {"schema_version": 0, "points": "1.0", "extra": 3}),
    "0, without points": (ANSWER | {"grade": False, "points": ""}, {**TEST, "points": ""}),
    "1": (
        {"grade": False, "locked": False} | ANSWER | {"schema_version": 1},
        {"solution": False} | TEST | {"schema_version": 1},
    ),
    "2, with 3": (V3 | ANSWER, {"solution": False} | TEST | {"schema_version": 2}),
}


def write(folder: Path, notebook, suffix: str = ".ipynb") -> Assignment:
    one = Assignment(folder, "hw 1")
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'old'\n")
    path = folder / "source" / "hw 1" / f"hw 1{suffix}"
    path.parent.mkdir(parents=True)
    if suffix == ".ipynb":
        nbformat.write(notebook, path)
    else:
        header = "# %% nbgrader={}\n{}\n"
        cells = [header.format(json.dumps(cell.metadata.nbgrader), cell.source) for cell in notebook.cells]
        path.write_text("\n".join(cells))
    return one


def refusal(one: Assignment) -> str:
    before = one.source.read_bytes()
    with pytest.raises(CourseError) as error:
        generate(one)
    assert one.source.read_bytes() == before
    return str(error.value)


@pytest.mark.parametrize("version", OLD)
def test_an_old_source_is_refused_with_the_command_that_upgrades_it(version, tmp_path):
    one = write(tmp_path, source_of(*OLD[version]))
    said = refusal(one)
    command = re.search("`(.*)`", said)[1]
    assert "older nbgrader" in said and shlex.split(command) == ["nbgrader", "update", str(one.source)]
    nbgraderformat.write(
        nbgraderformat.MetadataValidator().upgrade_notebook_metadata(read_source(one.source)), one.source
    )
    assert {grade_id(cell) for cell in generate(one).cells.cells} == {"a0", "t0"}


@pytest.mark.slow
def test_the_command_for_a_script_goes_by_a_notebook(tmp_path):
    """Run as by a person who copies it, with the environment's programs on the path."""
    one = write(tmp_path, source_of(*OLD["1"]), ".py")
    command = re.search("`(.*)`", refusal(one))[1]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    subprocess.run(command, shell=True, check=True, env={"PATH": path}, capture_output=True)
    assert one.source.suffix == ".py" and generate(one)


@pytest.mark.parametrize(
    ("answer", "test", "words"),
    [
        ({"solution": True}, TEST, "the cell that begins '### BEGIN SOLUTION' has no id"),
        (V3 | ANSWER | {"grade_id": ""}, V3 | TEST, "has no id"),
        (
            ANSWER,
            TEST | {"grade_id": "Question 1"},
            "the cell Question 1 has an id with characters other than",
        ),
        (V3 | ANSWER, V3 | TEST | {"points": "2"}, "the cell t0 has '2' as its points, which is text"),
        (ANSWER, TEST | {"points": "two"}, "the cell t0 has 'two' as its points, which is not a number"),
        (V3 | ANSWER, V3 | {"grade": True, "grade_id": "t0"}, "the cell t0 has no points"),
        (
            V3 | ANSWER,
            V3 | TEST | {"schema_version": "3"},
            "has the schema_version '3', which is not a number",
        ),
        (ANSWER, TEST | {"grade_id": "a0"}, "cannot repair this: Duplicate grade id: a0"),
        (V3 | ANSWER, V3 | TEST | {"schema_version": 4}, "made with a newer nbgrader"),
    ],
)
def test_what_the_command_cannot_upgrade_is_named(answer, test, words):
    with pytest.raises(CourseError) as error:
        require_current_metadata(source_of(answer, test), Path("hw.ipynb"))
    assert words in str(error.value)
    upgradable = "older nbgrader" in str(error.value) and "Duplicate" not in words
    assert ("`nbgrader update hw.ipynb`" in str(error.value)) == upgradable
    assert upgradable or "schema_version" in answer or "Duplicate" in words


def test_metadata_of_today_pass_and_cells_without_a_role_need_no_id():
    require_current_metadata(source_of(V3 | ANSWER, V3 | TEST, dict(V3)), Path("hw.ipynb"))


NO_IDS = ({"solution": True}, {"grade": True, "points": "1"})


@pytest.mark.parametrize("handed_in", [*OLD.values(), NO_IDS], ids=[*OLD, "no ids"])
def test_a_hand_in_with_old_metadata_is_read_as_any_other(handed_in, tmp_path):
    one = write(tmp_path, source_of(V3 | ANSWER, V3 | TEST))
    release = source_of(V3 | ANSWER, V3 | TEST)
    release.cells[0].source = "# YOUR CODE HERE\nraise NotImplementedError()"
    notebook = source_of(*handed_in)
    notebook.cells[0].source = "a = 1  # mine"
    folder = tmp_path / "submitted" / "ada" / "hw 1"
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "hw 1.ipynb")
    read = read_submission(folder, "ada", one, release)
    assert [cell.source for cell in read.notebook.cells] == ["a = 1  # mine", "assert a == 1"]
    assert [cell.metadata.nbgrader for cell in read.notebook.cells] == [V3 | ANSWER, V3 | TEST]
