"""Formgrader and feedback in a browser: no script of a student runs, nothing is asked of another host, grading by hand works."""

import base64
import json
import os
import subprocess

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import expect

from autograder.course import Assignment
from autograder.source import grade_id
from tests.autograder.road import hand_in, make_course, perfect_notebook
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME, REFLECTION, ATTACHED = "02_attention", "attention-reflection-1", "attention-reflection-2"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="top.ran=1"><script>top.ran = 1</script></svg>'
MARKUP = (
    "<script>top.ran = 1</script><img src=nowhere onerror='top.ran=1'><iframe srcdoc='<script>top.ran=1</script>'></iframe>"
    f"<a href='javascript:top.ran=1' class='click-me'>here</a><div onmouseover='top.ran=1'>over</div>{SVG}"
    "<style>body { display: none }</style><meta http-equiv=refresh content='0; url=http://192.0.2.1/'>"
    "<form action='http://192.0.2.1/'><input autofocus onfocus='top.ran=1'></form>"
)
ATTACKS = f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
markup = {MARKUP!r}
display(HTML(markup), SVG({SVG!r}), Javascript("top.ran = 1"), Markdown(markup), {{"application/x-unknown": markup}}, raw=False)
print(markup)
print("\\x1b]8;;javascript:top.ran=1\\x1b\\\\link\\x1b]8;;\\x1b\\\\")
"""
FORMULAS = r"$\text{&lt;script&gt;top.ran=1&lt;/script&gt;}$ $\href{javascript:top.ran=1}{x}$ $\frac{1}{2}$"


def hostile(notebook):
    """A submission with scripts wherever a browser might look: outputs, written answers, attachments, its own cells' text."""
    for cell in notebook.cells:
        if grade_id(cell) == REFLECTION:
            cell.source = f"Because {MARKUP} {FORMULAS}"
        elif grade_id(cell) == ATTACHED:
            cell.source = "![a](attachment:a.svg) [link](javascript:top.ran=1)"
            cell.attachments = {"a.svg": {"image/svg+xml": base64.b64encode(SVG.encode()).decode()}}
        elif grade_id(cell) == "attention-similarities":
            cell.source += f"\n{ATTACKS}"
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Two submissions, graded, with feedback."""
    course = make_course(tmp_path_factory.mktemp("course"))
    assignment = Assignment(course, NAME)
    hand_in(course, "ada", assignment, perfect_notebook(assignment))
    hand_in(course, "mallory", assignment, hostile(perfect_notebook(assignment)))
    for command in (["autograder", "grade", NAME], ["nbgrader", "generate_feedback", NAME]):
        program = ROOT / ".venv" / "bin" / command[0]
        done = subprocess.run(
            [program, *command[1:]], cwd=course, capture_output=True, text=True, env=os.environ
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return course


@pytest.fixture
def watched(page):
    """The page, with what it asked of other hosts and what it tried to say."""
    page.asked, page.said = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    yield page
    assert page.evaluate("top.ran") is None
    assert page.said == []
    strangers = [
        url for url in page.asked if not url.startswith(("http://127.0.0.1", "file:", "data:", "blob:"))
    ]
    assert strangers == []


def touch_everything(page):
    """What a person might do by accident."""
    for element in page.locator("a.click-me, div[onmouseover], a[href^=javascript]").all():
        element.hover(timeout=2000)
        element.click(timeout=2000)
    page.wait_for_timeout(500)


def formulas_are_drawn(page):
    sizes = page.locator("math").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert sizes and min(sizes) > 5


@pytest.mark.parametrize("student", ["ada", "mallory"])
def test_feedback_is_drawn_and_runs_no_script(course, watched, student, picture):
    watched.goto((course / "feedback" / student / NAME / f"{NAME}.html").as_uri())
    touch_everything(watched)
    assert "attention-similarities: passed" in watched.locator("body").inner_text()
    formulas_are_drawn(watched)
    picture(watched, f"instructor_feedback_{student}")


def test_formgrader_shows_a_hostile_submission_and_takes_a_grade(course, watched, start_lab, picture):
    address = start_lab(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, "mallory").id
    host = address.partition("/lab")[0]
    watched.goto(address)  # the token becomes a cookie
    watched.locator(".jp-Notebook h1").first.wait_for(timeout=60_000)
    watched.goto(f"{host}/formgrader/submissions/{submission}/")
    watched.locator("input.score").first.wait_for(timeout=60_000)
    touch_everything(watched)
    formulas_are_drawn(watched)
    picture(watched, "instructor_formgrader")

    score = watched.locator(f"input.score#{REFLECTION}")
    score.fill("1.5")
    with watched.expect_response(
        lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"
    ) as saved:
        score.press("Tab")
    assert saved.value.ok
    expect(score).to_have_value("1.5")
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        grade = gradebook.find_grade(REFLECTION, NAME, NAME, "mallory")
        assert (grade.manual_score, grade.needs_manual_grade) == (1.5, False)


def test_what_the_browser_gets_of_the_hostile_one_is_still_readable(course):
    notebook = json.loads((course / "autograded" / "mallory" / NAME / f"{NAME}.ipynb").read_text())
    answer = next(cell for cell in notebook["cells"] if grade_id_of(cell) == REFLECTION)
    text = "".join(answer["source"])
    assert text.startswith("Because") and "<script" not in text and "<img" not in text


def grade_id_of(cell: dict) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")
