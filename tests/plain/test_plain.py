"""nbgrader's own test cells: what is graded, by what, and what is refused."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.authoring import builder
from autograder.course import MOST_HANDED_OUT, Assignment, assignments, course_root, find_assignment
from autograder.digests import rules_digest
from autograder.errors import CourseError
from autograder.generating import generate
from autograder.gradebook.feedback import page_of
from autograder.gradebook.gradebook import open_gradebook, register
from autograder.grading.engine import Engine
from autograder.grading.store import Store
from autograder.grading.verdicts import LONGEST_NUMBER
from autograder.jail.inside.limits import Limits
from autograder.pool.local import LocalPool
from autograder.pool.pool import settings_for
from autograder.registered import registered_release
from autograder.report import contents, read_class
from autograder.results import Result
from autograder.source import grade_id
from autograder.untrusted.submission import read_submission
from tests.autograder.commands import command, refusal
from tests.autograder.road import hand_in, with_cell
from tests.plain.hand_ins import CUT, DELETED, TOO_MUCH, make_plain_course, notebooks, right_notebook
from tests.plain.test_against_nbgrader import nbgrader, scores

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """To be read only."""
    return make_plain_course(tmp_path_factory.mktemp("plain") / "course")


@pytest.fixture(scope="module")
def two_assignments(tmp_path_factory) -> Path:
    """To be copied only."""
    return make_plain_course(tmp_path_factory.mktemp("two") / "course", ["squares", "survey"])


@pytest.fixture
def course(two_assignments, tmp_path) -> Path:
    """A course of its own, which a test may change."""
    return Path(shutil.copytree(two_assignments, tmp_path / "course"))


@pytest.fixture(scope="module")
def engines(built):
    """Engines with a real jail, made when they are first asked for."""
    made: dict[str, Engine] = {}

    def engine(name: str) -> Engine:
        if name not in made:
            made[name] = Engine(Assignment(built, name), Store(built / ".autograder" / "store"))
        return made[name]

    yield engine
    for one in made.values():
        one.__exit__()


def grade(engine: Engine, notebook: nbformat.NotebookNode, student: str = "somebody") -> Result:
    course, name = engine.assignment.root, engine.assignment.name
    hand_in(course, student, engine.assignment, notebook)
    return engine.grade(
        read_submission(
            course / "submitted" / student / name,
            student,
            engine.assignment,
            registered_release(engine.assignment),
        )
    )


def by_cell(result: Result) -> dict:
    return {verdict.grade_id: verdict for verdict in result.verdicts}


def begun_with(notebook: nbformat.NotebookNode, source: str) -> nbformat.NotebookNode:
    return nbformat.from_dict(notebook | {"cells": [new_code_cell(source), *notebook.cells]})


# --------------------------------------------------------------------------------------- what is run


def test_hidden_tests_are_run_and_stand_in_nothing_that_students_get(engines):
    engine = engines("squares")
    assert "HIDDEN" not in engine.assignment.release.read_text()
    found = by_cell(grade(engine, notebooks(engine.assignment)["passes-what-is-shown"]))
    assert found["squares-values"].score == 0 and found["squares-values"].status == "failed"
    assert found["standardise-values"].score == 3


def test_a_changed_test_cell_is_put_back_as_the_source_has_it(engines):
    engine = engines("squares")
    handed_in = notebooks(engine.assignment)["changed-the-test"]
    found = by_cell(grade(engine, handed_in))
    assert (found["squares-values"].score, found["squares-error"].score) == (0, 0)
    assert found["standardise-values"].score == 3  # its import was put back, too
    folder = engine.assignment.root / "submitted" / "somebody" / "squares"
    restored = read_submission(
        folder, "somebody", engine.assignment, registered_release(engine.assignment)
    ).notebook
    (cell,) = [cell for cell in restored.cells if grade_id(cell) == "squares-values"]
    assert "assert squares(12)[-1] == 144" in cell.source


def test_a_deleted_test_cell_comes_back_and_is_run(engines):
    engine = engines("squares")
    assert by_cell(grade(engine, notebooks(engine.assignment)[CUT]))[DELETED["squares"]].score == 2


def test_partial_credit_is_the_value_of_the_last_line(engines):
    engine = engines("survey")
    verdict = by_cell(grade(engine, notebooks(engine.assignment)["partly"]))["missing-share"]
    assert (verdict.score, verdict.max_score, verdict.status) == (1.5, 4, "partial")


def test_a_value_above_the_points_is_left_to_a_person(engines):
    engine = engines("primes")
    verdict = by_cell(grade(engine, notebooks(engine.assignment)[TOO_MUCH]))["is-prime-hidden"]
    assert (verdict.score, verdict.status) == (None, "manual") and "partial credit" in verdict.reason


def test_a_text_that_is_too_long_for_a_number_is_not_read_as_one(engines):
    engine = engines("primes")
    long = f"class Long(int):\n    __add__ = __radd__ = lambda s, o: s\n    __repr__ = lambda s: '0' * {LONGEST_NUMBER + 1}"
    forged = with_cell(
        right_notebook(engine.assignment),
        "is-prime",
        f"{long}\nclass Of:\n    __eq__ = lambda s, o: Long()\nis_prime = lambda n: Of()",
    )
    assert by_cell(grade(engine, forged))["is-prime-hidden"].status == "passed"


def test_answers_for_a_person_are_worth_nothing_while_untouched(engines):
    engine = engines("essay")
    found = by_cell(grade(engine, notebooks(engine.assignment)["one-answer"]))
    assert {name: (v.score, v.status) for name, v in found.items()} == {
        "paragraph": (None, "manual"),
        "example": (0, "missing"),
        "survey": (None, "manual"),
    }


def test_checks_and_test_cells_of_one_notebook_are_each_judged_in_their_way(engines):
    engine = engines("mixed")
    found = by_cell(grade(engine, notebooks(engine.assignment)["wrong-in-both"]))
    assert found["sums-running-check"].mistake == "the sum of all"
    assert found["undo-values"].reason == "AssertionError"
    found = by_cell(grade(engine, notebooks(engine.assignment)["right"]))
    assert {verdict.status for verdict in found.values()} == {"passed"}


def test_files_of_the_release_lie_beside_the_notebook_of_each_student_anew(engines):
    engine = engines("survey")
    right = right_notebook(engine.assignment)
    spoils = begun_with(
        right, "from pathlib import Path\nPath('survey.csv').write_text('')\nPath('cleaning.py').unlink()"
    )
    assert grade(engine, spoils, "spoils").score == 0
    assert grade(engine, begun_with(right, "# another"), "next").score == 7


def test_every_cell_is_run_beside_test_cells_also_one_that_only_shows_something(engines):
    engine = engines("squares")
    notebook = begun_with(
        right_notebook(engine.assignment), "import os\nassert os.environ['NBGRADER_EXECUTION'] == 'autograde'"
    )
    notebook.cells[0].metadata["tags"] = ["demo"]
    result = grade(engine, notebook)
    assert result.score == 6
    place = next(
        place
        for place, _ in enumerate(notebook.cells)
        if place not in result.outputs or not result.outputs[place]
    )
    assert place == 0  # the first cell ran, without an error


# ------------------------------------------------------------------------------- what does not reach its end


DIES = "import os\n\n\ndef standardise(table):\n    os._exit(0)"
STAYS = "def standardise(table):\n    while True:\n        pass"
GROWS = """import os


def standardise(table):
    for _ in range(4):
        if os.fork() == 0:
            break
    kept = b"x" * (90 << 20)
    while kept:
        pass
"""


@pytest.mark.parametrize(
    ("ends", "limits", "ending", "status"),
    [
        (DIES, Limits(), "died", "error"),
        (STAYS, Limits(notebook_seconds=2), "timeout", "timeout"),
        (GROWS, Limits(memory_bytes=200 << 20), "memory", "memory"),
    ],
    ids=["died", "timeout", "memory"],
)
def test_cells_that_were_not_reached_have_no_points_and_a_reason(
    ends, limits, ending, status, built, tmp_path
):
    one = Assignment(built, "squares")
    pool = LocalPool(replace(settings_for(one, "bwrap"), limits=limits))
    with Engine(one, Store(tmp_path), pool=pool) as engine:
        result = grade(engine, with_cell(right_notebook(one), "standardise", ends))
    found = by_cell(result)
    assert result.ending == ending
    assert found["squares-values"].score == 2  # what was earned before stays
    assert (found["standardise-values"].score, found["standardise-values"].status) == (0, status)
    assert found["standardise-values"].reason.endswith("before this cell was run.")


def test_an_endless_loop_costs_its_own_cell(built, tmp_path):
    one = Assignment(built, "squares")
    pool = LocalPool(replace(settings_for(one, "bwrap"), limits=Limits(cell_seconds=0.5)))
    with Engine(one, Store(tmp_path), pool=pool) as engine:
        result = grade(engine, notebooks(one)["never-ends"])
    assert by_cell(result)["standardise-values"].status == "timeout" and result.score == 3


def test_whoever_forges_frames_harms_nobody_else(engines):
    engine = engines("squares")
    forge = """
import json, os, struct
from autograder.checks import answers
for number in range(20):
    words = {"cell": number, "answers": [], "outputs": [], "seconds": 0.0, "problem": ""}
    blob = answers.pack({}, words)
    os.write(3, len(blob).to_bytes(8, "little") + blob)
"""
    stub = engine.assignment.read_release()
    assert grade(engine, begun_with(stub, forge), "forger").score == 6  # as docs/grading.md says
    assert grade(engine, begun_with(stub, "# honest"), "honest").score == 0


# ----------------------------------------------------------------------------------- the whole command


def test_the_notebook_for_people_shows_the_tests_outputs_and_why_others_were_not_run(course, monkeypatch):
    monkeypatch.chdir(course)
    one = Assignment(course, "squares")
    hand_in(course, "dies", one, with_cell(right_notebook(one), "standardise", "import os\nos._exit(0)"))
    command("grade", "squares", "no-error", "dies", "--workers", "1")

    def texts(student: str) -> dict[str, str]:
        notebook = nbformat.read(course / "autograded" / student / "squares" / "squares.ipynb", as_version=4)
        return {
            grade_id(cell): json.dumps(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"
        }

    assert "squares(0) raised nothing" in texts("no-error")["squares-error"]
    assert texts("no-error")["standardise-values"] == "[]"
    assert "process stopped before this cell was run" in texts("dies")["standardise-values"]


def test_a_second_run_runs_nothing_until_the_source_changes(course):
    one = Assignment(course, "squares")
    folder = course / "submitted" / "no-error" / "squares"

    def run() -> tuple[Result, bool]:
        with Engine(one, Store(course / "store")) as engine:
            result = engine.grade(read_submission(folder, "no-error", one, registered_release(one)))
            return result, "expected" in vars(engine)

    first, ran = run()
    assert ran and first.score == 5
    again, ran = run()
    assert not ran and again.verdicts == first.verdicts
    one.source.write_text(
        one.source.read_text().replace("raise AssertionError", "pass  #")
    )  # hidden: the release stays
    changed, ran = run()
    assert ran and changed.score == 6


def test_what_can_change_a_score_changes_the_digest_of_its_assignment_only(course):
    squares, survey = Assignment(course, "squares"), Assignment(course, "survey")
    before = {one.name: rules_digest(one) for one in (squares, survey)}
    for file in (survey.source, survey.release, survey.release.with_name("survey.csv")):
        file.write_text(file.read_text() + "\n")
        assert rules_digest(survey) != before["survey"]
        before["survey"] = rules_digest(survey)
    assert rules_digest(squares) == before["squares"]


def test_the_gradebook_learns_a_hidden_test_that_was_changed(course):
    one = Assignment(course, "squares")
    register(one)
    one.source.write_text(one.source.read_text().replace("squares(12)[-1] == 144", "squares(13)[-1] == 169"))
    register(one)
    with open_gradebook(course) as gradebook:
        cell = gradebook.find_source_cell("squares-values", "squares", "squares")
        assert "squares(13)" in cell.source and "squares(12)" not in cell.source


@pytest.mark.parametrize(
    "setting", ["", "c.CourseDirectory.root = '.'", "c.CourseDirectory.db_url = 'sqlite:///gradebook.db'"]
)
def test_in_a_folder_of_the_course_it_is_the_same_gradebook(course, monkeypatch, setting):
    settings = course / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\n{setting}\n")
    monkeypatch.chdir(course / "source")
    register(Assignment(course_root(), "squares"))
    assert (course / "gradebook.db").exists() and not Path("gradebook.db").exists()


def test_nbgraders_own_command_with_our_plug_in_records_the_same(course, monkeypatch):
    """Formgrader's button runs the same steps."""
    config = course / "nbgrader_config.py"
    config.write_text(
        config.read_text() + "\nfrom pathlib import Path\n\nfrom autograder import nbgrader_plugin\n\n"
        "c.CourseDirectory.root = str(Path(__file__).resolve().parent)\nnbgrader_plugin.configure(c)\n"
    )
    for folder in (course / "submitted").iterdir():
        if folder.name not in ("right", "partly", "stops"):
            shutil.rmtree(folder)
    monkeypatch.chdir(course)
    command("grade", "survey", "--workers", "1")
    recorded = scores(course, "survey")
    assert {score for score, _ in recorded.values()} == {None, 0, 1, 1.5, 2, 4}
    (course / "gradebook.db").unlink()
    shutil.rmtree(course / "autograded")
    nbgrader(course, "autograde", "survey")
    assert scores(course, "survey") == recorded


def test_the_report_has_a_line_for_each_test_cell(course, monkeypatch):
    monkeypatch.chdir(course)
    command("grade", "squares", "right", "no-error", "stops", "--workers", "1")
    shown = contents(read_class(Assignment(course, "squares")))
    rows = {row.name: (row.right, row.statuses) for row in shown["exercises"]}
    assert rows == {
        "squares-values": (3, []),
        "squares-error": (2, [("failed", 1)]),
        "standardise-values": (2, [("error", 1)]),
    }
    assert {row.name for row in shown["unnamed"]} >= {"AssertionError: squares(…) raised nothing"}


def test_feedback_hides_the_tests_that_formgrader_shows(course, monkeypatch):
    monkeypatch.chdir(course)
    one = Assignment(course, "squares")
    command("grade", "squares", "passes-what-is-shown", "--workers", "1")
    assert "squares(12)[-1]" in (one.autograded("passes-what-is-shown") / "squares.ipynb").read_text()

    def page() -> str:
        command("feedback", "squares", "passes-what-is-shown")
        html = page_of(one, "passes-what-is-shown").read_text()
        return unescape(re.sub(r"<[^>]+>", "", html))

    assert "AssertionError" in page() and "squares-values" in page() and "raised nothing" in page()
    assert "squares(1).tolist()" not in page() and "squares(3).tolist()" in page()
    settings = course / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\nc.Autograder.show_hidden_tests = True\n")
    assert "squares(1).tolist()" in page()


# ---------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "cell",
    [
        {"id": "cubes-check", "source": "assert True"},
        {"id": "cubes", "source": 'check("cubes.values", lambda case: cubes(case["n"]))'},
    ],
    ids=["by its id", "by its call"],
)
def test_what_looks_like_a_check_of_ours_without_an_exercise_is_refused_by_name(cell, course, monkeypatch):
    monkeypatch.chdir(course)
    one = Assignment(course, "squares")
    metadata = {"grade": True, "grade_id": cell["id"], "locked": True, "points": 1}
    metadata |= {"schema_version": 3, "solution": False, "task": False}
    added = f"\n# %% nbgrader={json.dumps(metadata)}\n{cell['source']}\n"
    one.source.write_text(one.source.read_text() + added)
    assert cell["id"] in refusal("build", "squares")
    release = nbformat.read(one.release, as_version=4)
    release.cells.append(new_code_cell(cell["source"], metadata={"nbgrader": metadata}))
    nbformat.write(release, one.release)
    assert cell["id"] in refusal("grade", "squares")
    assert not (course / "autograded").exists()


def test_a_release_that_is_not_what_its_source_gives_is_not_graded(course):
    one = Assignment(course, "squares")
    one.source.write_text(one.source.read_text().replace("squares(3)", "squares(4)[:3]"))
    with pytest.raises(CourseError, match="older than its source"):
        registered_release(one)


def test_a_notebook_need_not_be_named_like_its_folder(course):
    source = course / "source" / "squares"
    (source / "squares.py").rename(source / "problem1.py")  # as Jupytext pairs it
    (source / "squares.ipynb").rename(source / "problem1.ipynb")
    one = find_assignment(course, "squares")
    assert one.source == source / "problem1.ipynb" and "problem1.py" not in generate(one).files


def test_files_too_large_for_a_jail_are_refused_with_what_to_do(course):
    with (course / "release" / "survey" / "large.bin").open("wb") as file:
        file.truncate(MOST_HANDED_OUT)
    with pytest.raises(CourseError, match="c.Autograder.readable"):
        _ = Assignment(course, "survey").handed_out


def test_building_a_notebook_leaves_its_source_as_it_is(course):
    one = Assignment(course, "survey")
    before = one.source.read_bytes()
    assert one.source.suffix == ".ipynb" and one.source not in builder.products(None, one, generate(one))
    assert one.source.read_bytes() == before
    assert [other.name for other in assignments(course)] == ["squares", "survey"]
