"""An assignment of several notebooks, which have the same grade ids: each is graded by itself, and all of them together count."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.authoring import builder
from autograder.authoring.student_zip import student_files
from autograder.checks import answer_key
from autograder.checks.status import Status
from autograder.course import Assignment, assignments, find_assignment, find_notebooks
from autograder.errors import CourseError
from autograder.generating import generate
from autograder.gradebook.by_hand import read_marks
from autograder.gradebook.gradebook import open_gradebook, register
from autograder.gradebook.history import read_history
from autograder.gradebook.queries import class_scores
from autograder.report import contents, read_class
from autograder.source import grade_id, read_source, write_notebook
from autograder.written.room import Room
from tests.autograder import here
from tests.autograder.commands import command
from tests.autograder.of_nbgrader import (
    QUESTION,
    TEST,
    WRONG,
    answer,
    build,
    make_course,
    scores,
    write_source,
)
from tests.autograder.road import grade_all

pytestmark = pytest.mark.slow

NAME, FILES = "hw 1", ("part_a", "Teil B")


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """To be copied."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        here.stay_in_this_process(monkeypatch)
        return make_course(tmp_path_factory.mktemp("several") / "course", {NAME: FILES, "other": ["other"]})


@pytest.fixture
def course(made, tmp_path, monkeypatch) -> Path:
    """Ada has both right, bob the second wrong, and cem handed in the first alone."""
    here.stay_in_this_process(monkeypatch)
    root = shutil.copytree(made, tmp_path / "course")
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "300")
    second, first = notebooks(root)
    answer(first, "ada", words="Because it must.")
    answer(second, "ada")
    answer(first, "bob", words="I guess.")
    answer(second, "bob", WRONG, words="It is two.")
    answer(first, "cem")
    return root


def notebooks(root: Path) -> list[Assignment]:
    return find_notebooks(root, NAME)


def grade() -> str:
    return command("grade", NAME, "--isolation", "none", "--json", "grades.json")


RECORDED = {
    "ada": (2, {"part_a": 1, "Teil B": 1}),
    "bob": (1, {"part_a": 1, "Teil B": 0}),
    "cem": (1, {"part_a": 1, "Teil B": 0}),
}


def test_each_notebook_is_graded_and_a_missing_one_is_named_and_costs_its_own_points(course):
    assert [one.called for one in notebooks(course)] == [f"{NAME}/Teil B", f"{NAME}/part_a"]
    said = grade()
    assert scores(course, NAME) == RECORDED
    assert "Teil B: There is no Teil B.ipynb in the submission." in said and "part_a.ipynb, which" not in said
    assert "bob" in said and f"Teil B: {TEST}: wrong" in said
    graded = json.loads((course / "grades.json").read_text())["submissions"]
    assert [(one["student"], one["notebook"]) for one in graded[:2]] == [("ada", "Teil B"), ("bob", "Teil B")]
    with open_gradebook(course) as gradebook:
        assert gradebook.find_assignment(NAME).max_score == 6
        missing = gradebook.find_submission_notebook("Teil B", NAME, "cem")
        assert not missing.needs_manual_grade
    (verdict, _) = read_history(notebooks(course)[0], "cem").verdicts
    assert verdict.status == Status.MISSING
    assert (course / "autograded" / "cem" / NAME / "Teil B.ipynb").exists()
    assert "6 of 6" in command("watch", NAME)


def test_who_is_graded_in_one_notebook_waits_for_the_others(course):
    """A run that was killed between the two has recorded no score that looks finished."""
    second, first = notebooks(course)
    for notebook in (first, second):
        register(notebook)
    grade_all(first)
    with open_gradebook(course) as gradebook:
        assert {name: (one.raw, one.waiting) for name, one in class_scores(gradebook, NAME).items()} == {
            "ada": (1, True), "bob": (1, True), "cem": (1, True)
        }  # fmt: skip
        assert len(gradebook.find_submission_notebook("Teil B", NAME, "cem").grades) == 2
    said = grade()
    assert scores(course, NAME) == RECORDED and said.count("Nothing to run") == 1
    with Gradebook(f"sqlite:///{course}/gradebook.db", "any") as gradebook:
        assert len(gradebook.find_submission(NAME, "ada").notebooks) == 2


def test_a_second_run_finds_everything_in_the_store(course):
    grade()
    graded = grade()
    assert scores(course, NAME) == RECORDED and "Teil B" in graded
    assert "No score of 3 students in Teil B.ipynb" in command("regrade", NAME, "--isolation", "none")


def test_a_corrected_notebook_changes_its_own_scores_alone(course):
    grade()
    write_source(course, NAME, "Teil B", points=4)
    build(course, NAME)
    said = command("regrade", NAME, "--isolation", "none", "--yes", "--json", "changes.json")
    assert "No score of 3 students in part_a.ipynb" in said
    changes = json.loads((course / "changes.json").read_text())
    assert {(one["notebook"], one["student"]) for one in changes} == {("Teil B", "ada")}
    assert scores(course, NAME)["ada"] == (5, {"part_a": 1, "Teil B": 4})


def test_the_report_sums_up_and_names_the_notebook(course):
    grade()
    shown = contents(*(read_class(one) for one in notebooks(course)))
    assert shown["most"] == 6 and shown["graded"] == 3 and not shown["unknown"]
    assert [(row.name, row.right) for row in shown["exercises"]] == [
        (f"Teil B: {TEST}", 1),
        (f"part_a: {TEST}", 3),
    ]
    assert [(row.name, row.written) for row in shown["written"]] == [
        (f"Teil B: {QUESTION}", 1), (f"part_a: {QUESTION}", 2)
    ]  # fmt: skip
    assert ("cem", "Teil B: There is no Teil B.ipynb in the submission.", "all") in shown["failed"]
    command("report", NAME)
    assert f"Teil B: {TEST}" in Path("report.html").read_text()
    command("report")
    term = Path("term.html").read_text()
    assert f"Teil B: {TEST}" in term and f"part_a: {TEST}" in term and 'href="reports/hw%201.html"' in term
    assert Path("reports", f"{NAME}.html").exists()


def test_there_is_a_page_of_feedback_for_each_notebook(course):
    grade()
    assert "6 pages in" in command("feedback", NAME, "--zip")
    with zipfile.ZipFile(f"{NAME}-feedback.zip") as archive:
        assert sorted(archive.namelist())[:2] == ["ada/Teil B.html", "ada/part_a.html"]
        assert "There is no Teil B.ipynb in the submission." in archive.read("cem/Teil B.html").decode()
        assert "There is no" not in archive.read("cem/part_a.html").decode()


def test_the_export_has_one_score_for_the_assignment(course):
    grade()
    command("export", NAME, "--to", "csv", "--unfinished")
    rows = [row.split(",") for row in Path("grades.csv").read_text().splitlines()]
    assert [(row[3], row[9], row[10]) for row in sorted(rows[1:], key=lambda row: row[3])] == [
        ("ada", "2.0", "6.0"), ("bob", "1.0", "6.0"), ("cem", "1.0", "6.0")
    ]  # fmt: skip


def test_a_person_grades_the_questions_of_all_notebooks(course):
    grade()
    write_source(course, NAME, "added since")
    room = Room(notebooks(course)[0], None, 0)
    assert {row["name"]: (row["count"], row["waiting"]) for row in room.overview()} == {
        f"Teil B: {QUESTION}": (1, 1), f"part_a: {QUESTION}": (2, 2)
    }  # fmt: skip
    desk = room.desks[f"Teil B: {QUESTION}"]
    (group,) = desk.view("ann")["groups"]
    desk.give("ann", group["rows"][0]["answers"], 2)
    with open_gradebook(course) as gradebook:
        second, _, first = (
            read_marks(gradebook, one, QUESTION) if one.part in FILES else {} for one in notebooks(course)
        )
    assert second["bob"].score == 2 and first["bob"].score is None
    assert scores(course, NAME)["bob"] == (3, {"part_a": 1, "Teil B": 2})


def test_a_download_is_put_where_each_notebook_belongs(course, tmp_path):
    content = {one.file: one.release.read_bytes() for one in notebooks(course)}
    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as archive:
        for file, text in content.items():
            archive.writestr(f"work/{file}", text)
    moodle = "{}_assignsubmission_file/{}".format
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr(moodle("Dua Lee_1", "part_a (1).ipynb"), content["part_a.ipynb"])
        archive.writestr(moodle("Dua Lee_1", "Teil B.ipynb"), content["Teil B.ipynb"])
        archive.writestr(moodle("Eva Roy_2", "all.zip"), (tmp_path / "inner.zip").read_bytes())
        archive.writestr(moodle("Fay Wu_3", "part_a.ipynb"), content["part_a.ipynb"])
        archive.writestr(moodle("Gil Fox_4", "Untitled.ipynb"), content["part_a.ipynb"])
    Path("class.csv").write_text(
        "id,first name,last name\ndua,Dua,Lee\neva,Eva,Roy\nfay,Fay,Wu\ngil,Gil,Fox\n"
    )
    command("students", "class.csv")
    said = command("collect", tmp_path / "class.zip", NAME, status=1)
    assert f"{NAME}/Teil B: 2 submissions" in said and f"{NAME}/part_a: 3 submissions" in said
    assert (
        f"Untitled.ipynb: its name matches none of {NAME}: rename it to Teil B.ipynb or part_a.ipynb." in said
    )
    put = {
        student: {
            path.name: path.read_bytes() for path in (course / "submitted" / student / NAME).glob("*.ipynb")
        }
        for student in ("dua", "eva", "fay")
    }
    assert put == {"dua": content, "eva": content, "fay": {"part_a.ipynb": content["part_a.ipynb"]}}


def test_what_handles_one_notebook_alone_says_so(course):
    with pytest.raises(CourseError, match=r"hw 1 has several notebooks \(Teil B, part_a\)"):
        find_assignment(course, NAME)
    with pytest.raises(CourseError, match="name one of them"):
        _ = Assignment(course, NAME).notebook


def test_students_get_all_notebooks(course):
    handed_out = {path for path, _ in student_files(course)}
    assert {f"release/{NAME}/part_a.ipynb", f"release/{NAME}/Teil B.ipynb"} <= handed_out


def test_a_notebook_that_was_renamed_before_anybody_handed_in_counts_once(course):
    (other,) = find_notebooks(course, "other")
    register(other)
    other.source.rename(other.source.with_name("renamed.ipynb"))
    build(course, "other")
    register(find_assignment(course, "other"))
    with open_gradebook(course) as gradebook:
        assert [one.name for one in gradebook.find_assignment("other").notebooks] == ["renamed"]


def test_what_is_kept_of_a_notebook_called_like_its_folder_stays_where_it_was(course):
    kept = course / ".autograder" / "results"
    assert find_assignment(course, "other").kept("results") == kept / "other"
    assert [one.kept("results") for one in notebooks(course)] == [
        kept / NAME / "Teil B",
        kept / NAME / "part_a",
    ]
    assert len(assignments(course)) == 3


def test_the_exercises_of_one_file_are_those_of_the_notebooks_that_ask_for_them(small):
    source = small.assignment.source
    whole = read_source(source)
    source.unlink()
    source.with_suffix(".ipynb").unlink()
    later = [cell for cell in whole.cells if grade_id(cell) not in ("steps-total", "steps-total-check")]
    with_numpy = [cell for cell in whole.cells if not grade_id(cell)]
    first = [cell for cell in whole.cells if grade_id(cell).startswith("steps-total")]
    for name, cells in {"a": [*with_numpy, *first], "b": later}.items():
        write_notebook(NotebookNode(whole, cells=cells), source.with_name(f"{name}.ipynb"))
    one, other = find_notebooks(small.root, source.parent.name)
    assert list(one.exercises) == ["steps.total"] and list(other.exercises) == [
        "steps.shares",
        "steps.largest",
    ]
    assert other.exercises["steps.shares"].uses == () and other.exercises["steps.largest"].uses == (
        "steps.shares",
    )
    builder.put(builder.products(here.Servers(), one, generate(one)))
    assert list(answer_key.load(one.key)) == ["steps.total"]


def test_notebooks_of_the_same_name_are_told_apart_by_their_folder_or_by_who_collects(course, tmp_path):
    for file in FILES:
        write_source(course, "hw 2", file)
    build(course, "hw 2")
    second, first = find_notebooks(course, "hw 2")
    download = tmp_path / "download"
    for student, folder in (("dua", "hw 2"), ("eva", NAME)):
        (download / student / folder).mkdir(parents=True)
        for one in (first, second):
            (download / student / folder / one.file).write_bytes(one.release.read_bytes())
    Path("class.csv").write_text("id,first name,last name\ndua,Dua,Lee\neva,Eva,Roy\n")
    command("students", "class.csv")
    said = command("collect", download)
    assert {path.parent.name for path in Path("submitted/dua").glob("*/*.ipynb")} == {"hw 2"}
    assert {path.parent.name for path in Path("submitted/eva").glob("*/*.ipynb")} == {NAME}
    assert f"{NAME}/part_a: 1 submission" in said and "hw 2/part_a: 1 submission" in said
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.write(first.release, "Eva Roy_2_assignsubmission_file/part_a.ipynb")
    assert "hw 2/part_a: 1 submission" in command("collect", tmp_path / "class.zip", "hw 2")
    unsaid = command("collect", tmp_path / "class.zip", status=1)
    assert "it is not named after an assignment: give the assignment" in unsaid
