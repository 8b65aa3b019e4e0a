"""An assignment there and back in JupyterLab: points changed in the panel, generated, released, handed in, graded, returned.

One person plays instructor and student: nbgrader's student is whoever runs the server.
`SCREENSHOTS=docs/images make test TEST_ARGS="-k round"` renews the pictures in docs/.
"""

import getpass
import re
import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import FrameLocator, Page, expect

from autograder.course import Assignment
from autograder.source import grade_id
from tests.autograder.road import make_course, perfect_notebook
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.in_steps]

NAME = "02_attention"
TITLE = "02 · Attention, step by step"
FIRST, WRITTEN = "attention-similarities", "attention-reflection-b"
HEADER = f'"grade_id": "{FIRST}-check", "locked": true, "points": 2,'
WRONG = "def similarities(queries, keys):\n    return keys @ queries.transpose(-2, -1)"
NAMED = "Your rows belong to the keys and your columns to the queries."
ANSWER = "Each word has a row in a table. It is found by the word alone, so it knows nothing of the sentence."
COMMENT = "Say also what the length of a vector does."
IDS = "[...document.querySelectorAll('.nbgrader-CellId input')].map(one => one.value)"
"""The grade ids that the panel shows, one for each cell."""
LONG = 180_000
"""Milliseconds that generating or grading may take on a machine that does other things, too."""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The real course with an exchange of its own, before anything was generated."""
    folder = tmp_path_factory.mktemp("round")
    exchange = folder / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    course = make_course(folder / "course")
    shutil.copy(ROOT / "jupytext.toml", course)
    settings = course / "nbgrader_config.py"
    limits = settings.read_text().replace("cell_seconds = 4", "cell_seconds = 60")
    settings.write_text(f"{limits}\nc.Exchange.root = {str(exchange)!r}\n")
    return course


@pytest.fixture(scope="module")
def room(chromium, address) -> Page:
    """JupyterLab in one browser for the whole round."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(LONG)
    page.goto(address)
    page.locator(".jp-Notebook h1").first.wait_for()
    yield page
    context.close()


def menu(page: Page, item: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{item}$")).click()


def formgrader(page: Page) -> FrameLocator:
    """Formgrader on its first page."""
    menu(page, "Formgrader")
    frame = page.frame_locator("#formgrader-iframe iframe")
    link = frame.get_by_role("link", name="Manage Assignments")
    link.wait_for()  # it opens with this page, which has such rows, too: only what comes after it is wanted
    with page.expect_event("framenavigated", lambda moved: "manage_assignments" in moved.url):
        link.click()
    frame.locator("tr", has_text=TITLE).locator(".assign a").wait_for()
    return frame


def press(frame: FrameLocator, column: str, row: str = TITLE) -> tuple[str, str]:
    """A button of formgrader's table; returns the words of its dialog, and closes it."""
    frame.locator("tr", has_text=row).locator(f".{column} a").click()
    dialog = frame.locator(".modal.in")
    dialog.locator(".modal-body p").wait_for()
    title, words = dialog.locator(".modal-title").inner_text(), dialog.locator(".modal-body").inner_text()
    return title, " ".join(words.split())


def close(frame: FrameLocator) -> None:
    frame.locator(".modal.in .modal-footer button").click()
    frame.locator(".modal").wait_for(state="detached")


def assignments(page: Page):
    """The student's list, read anew."""
    menu(page, "Assignment List")
    return page.locator("#nbgrader-assignment-list")


def open_file(page: Page, *path: str) -> None:
    page.locator(".jp-BreadCrumbs-home").click()
    for name in path:
        page.get_by_role("listitem", name=re.compile(rf"^Name: {re.escape(name)}\s")).dblclick()


def source_text(course) -> str:
    return Assignment(course, NAME).source.read_text()


def test_the_panel_changes_points_in_the_script(room, course, picture):
    before = source_text(course)
    open_file(room, "solutions", NAME, f"{NAME}.py")
    notebook = room.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    notebook.locator("h1:has-text('Attention, step by step')").wait_for()
    room.locator(".lm-TabBar-tab[title='Nbgrader Create Assignment']").click()
    room.wait_for_function(f"{IDS}.includes('{FIRST}-check')")
    check = room.locator(".nbgrader-CellWidget").nth(room.evaluate(IDS).index(f"{FIRST}-check"))
    points = check.locator(".nbgrader-CellPoints input")
    check.scroll_into_view_if_needed()
    expect(check.locator("select")).to_have_value("tests")
    expect(points).to_have_value("2")
    in_all = room.locator(".nbgrader-TotalPointsInput")
    expect(in_all).to_have_value(re.compile("[1-9]"))
    total = float(in_all.input_value())

    points.fill("4")
    points.press("Enter")
    expect(in_all).to_have_value(f"{total + 2:g}")
    picture(room, "round_panel")
    with room.expect_response(lambda answer: answer.request.method == "PUT" and ".py" in answer.url) as saved:
        room.keyboard.press("Control+s")
    assert saved.value.ok
    assert source_text(course) == before.replace(HEADER, HEADER.replace("2,", "4,"))
    room.locator(".lm-TabBar-tab[title='Nbgrader Create Assignment']").click()


def test_a_broken_source_is_explained_and_nothing_is_lost(room, course, picture):
    one = Assignment(course, NAME)
    release, good = one.release.read_bytes(), source_text(course)
    one.source.write_text(good.replace('"grade_id": "attention-scale", ', f'"grade_id": "{FIRST}", '))
    title, words = press(frame := formgrader(room), "assign")
    picture(room, "round_generate_broken")
    assert title == "Error" and f"Duplicate grade id: {FIRST}" in words and "Nothing was changed." in words
    assert "Traceback" not in words
    close(frame)
    one.source.write_text(good)
    assert one.release.read_bytes() == release


def test_it_is_generated_previewed_and_released(room, course, picture):
    frame = formgrader(room)
    title, words = press(frame, "assign")
    assert title == "Success" and "with its answer key" in words, words
    close(frame)
    row = frame.locator("tr", has_text=TITLE)
    row.locator(".preview a").click()
    expect(room.locator(".jp-FileBrowser-crumbs")).to_contain_text("notebooks")
    room.get_by_role("listitem", name=f"Name: {NAME}.ipynb ").wait_for()
    title, words = press(frame, "release")
    assert title == "Success", words
    close(frame)
    expect(row.locator(".status")).to_have_text("released")


def test_a_student_fetches_works_and_submits(room, course):
    listed = assignments(room)
    row = listed.locator("#released_assignments_list .list_item", has_text=NAME)
    row.get_by_role("button", name="Fetch").click()
    fetched = listed.locator("#fetched_assignments_list .list_item", has_text=NAME).first
    fetched.get_by_role("button", name="Submit").wait_for()

    # The work of an hour, but for one exercise; the student does that one here.
    path = course / NAME / f"{NAME}.ipynb"
    assert nbformat.read(path, as_version=4) == Assignment(course, NAME).read_release()
    work = perfect_notebook(Assignment(course, NAME))
    for cell in work.cells:
        if "reflection" in grade_id(cell):
            cell.source = ANSWER
    nbformat.write(work, path)
    open_file(room, NAME, f"{NAME}.ipynb")
    notebook = room.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    cell = notebook.locator(".jp-CodeCell").filter(
        has=room.locator(".cm-content", has_text="def similarities")
    )
    cell.first.locator(".cm-content").click()
    room.keyboard.press("Control+a")
    room.keyboard.insert_text(WRONG)
    with room.expect_response(lambda answer: answer.request.method == "PUT" and NAME in answer.url) as saved:
        room.keyboard.press("Control+s")
    assert saved.value.ok

    listed = assignments(room)
    fetched = listed.locator("#fetched_assignments_list .list_item", has_text=NAME).first
    fetched.get_by_role("button", name="Submit").click()
    listed.locator("#submitted_assignments_list .list_item", has_text=NAME).first.wait_for()


def test_it_is_collected_and_graded_by_our_engine(room, course, picture):
    frame = formgrader(room)
    title, words = press(frame, "collect")
    assert title == "Success", words
    close(frame)
    frame.locator("tr", has_text=TITLE).locator(".num-submissions a").click()
    title, words = press(frame, "autograde", getpass.getuser())
    assert title == "Success", words
    close(frame)
    row = frame.locator("tr", has_text=getpass.getuser())
    expect(row.locator(".status")).to_have_text("needs manual grading")
    picture(room, "round_autograded")
    scores = {name: grade.auto_score for name, grade in grades(course).items()}
    assert scores[f"{FIRST}-check"] == 0 and scores["attention-scale-check"] == 1
    assert scores[WRITTEN] is None


def test_a_grading_that_fails_is_explained_and_takes_nothing_away(room, course, picture):
    before = {name: row.auto_score for name, row in grades(course).items()}
    settings = course / "nbgrader_config.py"
    good = settings.read_text()
    settings.write_text(f"{good}\nc.Jail.cell_second = 3\n")
    frame = room.frame_locator("#formgrader-iframe iframe")
    title, words = press(frame, "autograde", getpass.getuser())
    picture(room, "round_autograde_failed")
    assert (
        title == "Error" and "nbgrader_config.py sets c.Jail.cell_second, which does not exist." in words
    ), words
    assert "The earlier grade is unchanged." in words and "Traceback" not in words
    close(frame)
    settings.write_text(good)
    status = frame.locator("tr", has_text=getpass.getuser()).locator(".status")
    expect(status).to_have_text("needs manual grading")
    assert {name: row.auto_score for name, row in grades(course).items()} == before


def grades(course) -> dict:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        submission = gradebook.find_submission_notebook(NAME, NAME, getpass.getuser())
        found = {grade.name: grade for grade in submission.grades}
        assert {name: grade.max_score for name, grade in found.items()}[f"{FIRST}-check"] == 4
        gradebook.db.expunge_all()
    return found


def test_a_reflection_is_graded_by_hand(room, course, picture):
    frame = formgrader(room)
    frame.get_by_role("link", name="Manual Grading").click()
    for place in (NAME, f"{NAME}/{NAME}"):  # by address: the page before has links of the same name
        frame.locator(f"a[href$='/formgrader/gradebook/{place}']").last.click()
    frame.get_by_role("link", name="Submission #1").click()
    score = frame.locator(f"input.score#{WRITTEN}")
    score.scroll_into_view_if_needed()
    # formgrader saves what is typed only once it has read the grades and the comments: it then sets the placeholders
    frame.locator("input.extra-credit[placeholder]").first.wait_for(state="attached")
    frame.locator(f"textarea.comment#{WRITTEN}-comment[placeholder]").wait_for(state="attached")
    with room.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        score.fill("1.5")
        score.press("Tab")
    comment = frame.locator(f"textarea.comment#{WRITTEN}-comment")
    with room.expect_response(
        lambda answer: "/api/comment/" in answer.url and answer.request.method == "PUT"
    ):
        comment.fill(COMMENT)
        comment.press("Tab")
    score.scroll_into_view_if_needed()
    picture(room, "round_by_hand")
    assert grades(course)[WRITTEN].manual_score == 1.5
    frame.get_by_role("link", name="Manual Grading").click()  # back to where the other pages are
    frame.get_by_role("link", name="Manage Assignments").wait_for()


def test_feedback_reaches_the_student(room, course, picture):
    frame = formgrader(room)
    for column in ("generate-feedback", "release-feedback"):
        title, words = press(frame, column)
        assert title == "Success", words
        close(frame)
    listed = assignments(room)
    row = listed.locator("#submitted_assignments_list .list_item", has_text=NAME).first
    row.get_by_role("button", name="Fetch Feedback").click()
    link = listed.get_by_text("(view feedback)")
    link.first.click()
    room.get_by_role("listitem", name=f"Name: {NAME}.html ").dblclick()
    page = room.frame_locator(".jp-HTMLViewer iframe")
    expect(page.locator("body")).to_contain_text(NAMED)
    expect(page.locator("body")).to_contain_text(COMMENT)
    page.get_by_text(NAMED).first.scroll_into_view_if_needed()
    picture(room, "round_feedback")
