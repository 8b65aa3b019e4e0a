"""What a packed assignment says of a submission. The engine is the real one, in this process; the scripts are in test_scripts."""

import json
import os

import jsonschema
import pytest

from autograder.course import Assignment, find_notebooks
from autograder.packaging import hosted
from tests.autograder import here
from tests.autograder.of_nbgrader import RIGHT, make_course
from tests.autograder.packaging.hosting import SCHEMA, Host, unpacked
from tests.autograder.road import with_cell

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def packed(small_course, tmp_path_factory):
    """The archives of the small course's two assignments, to be used one submission after the other."""
    return {
        name: unpacked(Assignment(small_course.root, name), tmp_path_factory.mktemp(name))
        for name in ("01_steps", "02_tests")
    }


@pytest.fixture
def in_this_process(monkeypatch):
    here.stay_in_this_process(monkeypatch)
    monkeypatch.setattr(hosted, "choose_isolation", lambda: ("none", "It ran here."))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def grade(packed, small_course, monkeypatch, in_this_process):
    """grade(name, cells, file) hands in the release with these cells, and returns the host after it was graded."""

    def grade(name, cells, file="", **variables) -> Host:
        host = packed[name]
        for old in (host.folder / "submission").iterdir():
            old.unlink()
        notebook = Assignment(small_course.root, name).read_release()
        for cell, source in cells.items():
            notebook = here.with_cell(notebook, cell, source)
        host.hand_in(notebook, file or f"{name}.ipynb")
        for variable, value in variables.items():
            monkeypatch.setenv(variable, str(value))
        hosted.main([str(host.folder)])
        jsonschema.validate(host.results, SCHEMA)
        return host

    return grade


WRONG = here.RIGHT | {"steps-total": "def total(values):\n    return values.mean()"}


def test_each_exercise_is_a_test_with_its_points_and_the_words_of_the_feedback(grade):
    host = grade("01_steps", WRONG)
    total = host.tests["total"]
    assert (total["score"], total["max_score"], total["status"]) == (0, 2, "failed")
    assert total["output"] == "The mean instead of the sum.\nYour answer does not grow with n."
    assert host.tests["shares"]["status"] == "passed", "judged with the solution's total"
    assert [test["number"] for test in host.results["tests"]] == ["1", "2", "3", "4"]
    assert {test["visibility"] for test in host.results["tests"]} == {"visible"}
    assert host.results["score"] == sum(test.get("score", 0) for test in host.results["tests"])
    assert "It ran here." in host.results["output"] and host.results["stdout_visibility"] == "hidden"


def test_extra_credit_counts_and_what_a_person_grades_has_no_score(grade):
    host = grade("01_steps", here.RIGHT | {"steps-question": "Nothing happens."})
    largest, question = host.tests["largest"], host.tests["Question"]
    assert (largest["score"], largest["max_score"], largest["output"]) == (3, 1, "Right. 2 extra points.")
    assert "score" not in question and question["output"] == "To be graded by hand. (3 points)"
    assert host.results["score"] == 2 + 4 + 3


def test_a_notebook_under_another_name_counts_and_the_one_with_the_right_name_before_it(grade):
    host = grade("01_steps", here.RIGHT, file="final version.ipynb")
    assert host.results["score"] == 9
    host.hand_in((host.folder / "submission" / "final version.ipynb").read_text(), "01_steps.ipynb")
    host.hand_in("{}", "02_other.ipynb")
    hosted.main([str(host.folder)])
    assert host.results["score"] == 9


def test_without_a_notebook_everything_is_lost_and_the_student_is_told(grade):
    host = grade("01_steps", here.RIGHT)
    (host.folder / "submission" / "01_steps.ipynb").rename(host.folder / "submission" / "essay.pdf")
    (host.folder / "submission" / "essay.pdf").write_bytes(b"%PDF")
    hosted.main([str(host.folder)])
    assert host.results["score"] == 0
    assert "There is no 01_steps.ipynb in the submission" in host.results["output"]


def test_tests_with_hidden_parts_are_shown_when_grades_are_published_and_quote_none(grade):
    host = grade("02_tests", {"double": "def double(x):\n    return x * x if x >= 1 else 1"})
    source = (host.folder / "source" / "registered" / "02_tests.ipynb").read_text()
    assert "BEGIN HIDDEN TESTS" in source
    hidden = [test for test in host.results["tests"] if test["visibility"] == "after_published"]
    assert hidden and all("hidden" not in test["output"].lower() for test in hidden)
    assert "BEGIN HIDDEN" not in json.dumps(host.results)


def test_of_several_notebooks_each_is_graded_and_a_missing_one_is_named(tmp_path, in_this_process):
    course = make_course(tmp_path / "course", {"hw 1": ("part_a", "Teil B")})
    second, first = find_notebooks(course, "hw 1")
    host = unpacked(first, tmp_path / "host")
    host.hand_in(with_cell(first.read_release(), "a0", RIGHT), f"in a folder/{first.file}")
    hosted.main([str(host.folder)])
    jsonschema.validate(host.results, SCHEMA)
    scores = {name: test.get("score") for name, test in host.tests.items()}
    assert (scores["part_a: t0"], scores["Teil B: t0"]) == (1, 0)
    assert f"There is no {second.file} in the submission" in host.results["output"]


def test_no_result_holds_the_solution(grade, small_course):
    for cells in (here.RIGHT, WRONG, {}):
        text = json.dumps(grade("01_steps", cells).results)
        assert "values / total(values)" not in text and "shares(values).max()" not in text


def test_a_fault_of_ours_is_no_grade(grade, monkeypatch, capsys):
    host = grade("01_steps", here.RIGHT)

    def broken():
        raise hosted.JailError("No server could be started.")

    monkeypatch.setattr(hosted, "choose_isolation", broken)
    with pytest.raises(SystemExit, match="not graded, and the fault is not the student's. No server"):
        hosted.main([str(host.folder)])
    assert not (host.folder / "results" / "results.json").exists()


def test_an_ordinary_user_without_namespaces_is_told_to_be_root(monkeypatch):
    monkeypatch.setattr(hosted, "find_problem", lambda: "No jail can be built.")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(
        hosted.JailError, match="No jail can be built. Alternatively, run this command as root"
    ):
        hosted.choose_isolation()


def test_github_gets_a_table_and_the_points_as_classroom_reads_them(grade, tmp_path, capsys):
    summary = tmp_path / "summary.md"
    with pytest.raises(SystemExit) as ended:
        grade("01_steps", WRONG, GITHUB_STEP_SUMMARY=summary)
    assert ended.value.code == 1, "a wrong answer marks the job as failed"
    table = summary.read_text()
    assert (
        "| ✗ | total | 0 / 2 | The mean instead of the sum.<br>Your answer does not grow with n. |" in table
    )
    lines = capsys.readouterr().out.splitlines()
    (report,) = [line for line in lines if line.startswith("::notice title=Autograding report::")]
    assert json.loads(report.rpartition("::")[2]) == {"totalPoints": 7, "maxPoints": 10}
    assert any(line.startswith("::notice title=Autograding complete::Points 7/10") for line in lines)


def test_github_shows_of_a_hidden_test_only_that_there_is_one(grade, tmp_path):
    summary = tmp_path / "summary.md"
    with pytest.raises(SystemExit):
        grade("02_tests", {"double": "def double(x):\n    return 1"}, GITHUB_STEP_SUMMARY=summary)
    assert hosted.plain(hosted.NOT_SHOWN) in summary.read_text()


def test_a_student_s_text_is_neither_markdown_nor_html_nor_a_command(grade, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(hosted, "about", lambda submission, result: ["A cell begins with\n::error::owned"])
    evil = "<script>alert(1)</script> | **b** [x](http://e.org) `c`\\n::error::owned"
    cells = here.RIGHT | {"steps-total": f'def total(values):\n    raise ValueError("{evil}")'}
    summary = tmp_path / "summary.md"
    with pytest.raises(SystemExit):
        grade("01_steps", cells, GITHUB_STEP_SUMMARY=summary)
    row = next(line for line in summary.read_text().splitlines() if "total" in line)
    assert not set("<>[]*`") & set(row.replace("<br>", "")) and row.count("|") == 5
    assert not [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error")]
