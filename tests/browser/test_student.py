"""A student's hour in JupyterLab: a wrong answer, its card, hints, the right answer, being stuck, Validate, Submit.

`SCREENSHOTS=docs/images make test TEST_ARGS="-k student"` renews the pictures in docs/.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.authoring.lending import lent_bytes
from autograder.source import grade_id
from tests.browser.accessibility import faint_words
from tests.browser.conftest import choose_theme, open_notebook, pictures, run_all, wait_for_kernel
from tests.conftest import ASSIGNMENTS, KERNEL_SETTINGS, PREFIX, ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME, CHECK = "02_attention", "attention-similarities-check"
STUB = "raise NotImplementedError  # your turn"
RIGHT = "return queries @ keys.transpose(-2, -1)"
WRONG = "return keys @ queries.transpose(-2, -1)"
NAMED = "Your rows belong to the keys and your columns to the queries."
DARK_AND_LIGHT = "Dark", "Light"
"""JupyterLab's themes, the one that a student sees at first as the last."""


EXCHANGE = ("@jupyter/nbgrader:assignment-list", "@jupyter/nbgrader:menu")
"""Parts of nbgrader that a student's JupyterLab has where there is an exchange, as deploy/jupyterhub says."""


def first_exercise(answered: bool):
    """The real notebook up to its first check, with or without an answer to the written question."""
    notebook = ASSIGNMENTS[NAME].read_release()
    first = next(i for i, cell in enumerate(notebook.cells) if grade_id(cell) == CHECK)
    notebook.cells = notebook.cells[: first + 1]
    for cell in notebook.cells:
        if "reflection" in grade_id(cell) and answered:
            cell.source = "Each coordinate takes part in every product."
    return notebook


def put_assignment(place: Path, answered: bool = True) -> None:
    place.mkdir(parents=True)
    nbformat.write(first_exercise(answered), place / f"{NAME}.ipynb")
    shutil.copy(ASSIGNMENTS[NAME].key, place)


def make_student(folder: Path, exchange: Path) -> Path:
    """A student's course, with JupyterLab's and the kernel's settings, in a home whose nbgrader knows the exchange."""
    course = folder / "course"
    (course / "notebooks").mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / "start.ipynb", course / "notebooks")
    for settings in (ROOT / "tools" / "jupyterlab", ROOT / "tools" / "student" / "tools" / "jupyterlab"):
        shutil.copytree(settings, course / "tools" / "jupyterlab", dirs_exist_ok=True)
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    settings = folder / "home" / ".jupyter" / "nbgrader_config.py"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        "c = get_config()\n"
        'c.CourseDirectory.course_id = "words-in-context"\n'
        'c.CourseDirectory.release_directory = "notebooks"\n'
        f"c.Exchange.root = {str(exchange)!r}\n"
    )
    shutil.copy(ROOT / "tools" / "student" / "nbgrader_config.py", course)
    profile = folder / "home" / ".ipython" / "profile_default"
    profile.mkdir(parents=True)
    shutil.copy(KERNEL_SETTINGS, profile)
    return course


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    folder = tmp_path_factory.mktemp("person")
    make_student(folder, folder / "exchange")
    return folder


@pytest.fixture
def notebook(person, jupyterlab, tmp_path, request):
    """The page with the assignment open, and nothing run yet; no hint was asked for."""
    shutil.rmtree(person / "progress", ignore_errors=True)
    folder = Path("notebooks", tmp_path.name, NAME)
    put_assignment(person / "course" / folder, getattr(request, "param", "") != "unanswered")
    open_notebook(jupyterlab, folder / f"{NAME}.ipynb")
    jupyterlab.locator(".jp-Notebook h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    size = jupyterlab.viewport_size
    yield jupyterlab
    jupyterlab.set_viewport_size(size)


@pytest.fixture
def whole(person, tmp_path):
    """The folder of the whole release of 02; no hint was asked for."""
    shutil.rmtree(person / "progress", ignore_errors=True)
    folder = person / "course" / "notebooks" / tmp_path.name / NAME
    folder.mkdir(parents=True)
    shutil.copy(ASSIGNMENTS[NAME].release, folder)
    shutil.copy(ASSIGNMENTS[NAME].key, folder)
    return folder


@pytest.fixture
def whole_notebook(person, whole, jupyterlab):
    """The page with it open, and nothing run yet."""
    open_notebook(jupyterlab, whole.relative_to(person / "course") / f"{NAME}.ipynb")
    jupyterlab.locator(".jp-Notebook h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    return jupyterlab


def cell(page, words: str):
    """The code cell whose source holds `words`."""
    return page.locator(".jp-Notebook:visible .jp-CodeCell").filter(
        has=page.locator(".cm-content", has_text=words)
    )


def run(page, words: str, source: str | None = None):
    """Run a cell, after replacing its source where one is given; returns the cell when it has ended."""
    found = cell(page, words).first
    found.locator(".cm-content").click()
    if source is not None:
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(source)
        found = cell(page, next(line for line in source.splitlines() if line)).first
    page.keyboard.press("Control+Enter")
    found.locator(".jp-InputPrompt").filter(has_text=re.compile(r"\[\d+\]")).wait_for(timeout=60_000)
    return found


def solution(body: str) -> str:
    notebook = ASSIGNMENTS[NAME].read_release()
    stub = next(one.source for one in notebook.cells if grade_id(one) == "attention-similarities")
    assert STUB in stub
    return stub.replace(STUB, body)


def answer(page, body: str):
    """Type the function, run it, run its check; returns the check's output."""
    run(page, "def similarities", solution(body))
    return run(page, 'check("attention.similarities"').locator(".jp-OutputArea-output").first


def test_a_wrong_answer_is_named_and_a_right_one_says_so(notebook, picture):
    """Each on a card that can be read in both themes."""
    run(notebook, "from coursekit import check")
    card = answer(notebook, WRONG)
    card.scroll_into_view_if_needed()
    expect(card).to_contain_text(NAMED)
    alt = card.locator("img").first.get_attribute("alt")
    assert re.search(r"\d", alt), alt
    picture(notebook, "student_wrong")
    for theme in DARK_AND_LIGHT:
        choose_theme(notebook, theme)
        assert faint_words(card) == [], theme
        picture(notebook, f"student_{theme.lower()}")

    ladder = run(notebook, 'hint("attention.similarities")').locator(".jp-OutputArea-output").first
    expect(ladder).to_contain_text("Hint 1 of 4")
    first = ladder.inner_text()
    run(notebook, 'hint("attention.similarities")')
    ladder = ladder.filter(has_text="Hint 2 of 4")
    second = ladder.inner_text(timeout=60_000)
    assert len(first) > 40 and len(second) > 40 and first != second
    assert RIGHT.removeprefix("return ") not in first + second
    picture(notebook, "student_hint")

    card = answer(notebook, RIGHT)
    card.scroll_into_view_if_needed()
    expect(card).to_contain_text("right")
    expect(card).not_to_contain_text(NAMED)
    picture(notebook, "student_right")
    for theme in DARK_AND_LIGHT:
        choose_theme(notebook, theme)
        assert faint_words(card) == [], theme


def test_validate_says_that_right_answers_are_right(notebook, picture):
    run(notebook, "from coursekit import check")
    run(notebook, "def similarities", solution(RIGHT))
    notebook.get_by_role("button", name="Validate", exact=True).click()
    dialog = notebook.locator(".jp-Dialog-content")
    dialog.wait_for(timeout=120_000)
    expect(dialog).to_contain_text("Success")
    picture(notebook, "student_validate_right")
    dialog.get_by_role("button").last.click()


@pytest.mark.parametrize("notebook", ["unanswered"], indirect=True)
def test_validate_counts_what_is_not_right_in_a_dialog_that_holds_it(notebook, picture):
    """Each cell once, as the notebook calls it, without signs of Markdown or of our code; also in a narrow window."""
    size = notebook.viewport_size
    notebook.set_viewport_size({"width": 900, "height": 700})
    run(notebook, "from coursekit import check")
    run(notebook, "def similarities", solution(WRONG))
    notebook.get_by_role("button", name="Validate", exact=True).click()
    dialog = notebook.locator(".jp-Dialog-content")
    dialog.wait_for(timeout=120_000)
    expect(dialog).to_contain_text("2 graded cells are not right yet.")
    titles = dialog.locator("li > strong").all_inner_texts()
    assert titles == ["Question 1 · What attention starts from", "attention.similarities"]
    words = dialog.inner_text()
    assert "Not answered yet." in words and NAMED in " ".join(words.split())
    assert "*" not in words and "The following cell failed" not in words
    assert "checking.py" not in words and "Traceback" not in words and "\x1b" not in words
    # Only the style sheet decides the layout: a dialog that is open follows the window.
    for width in (900, 1280):
        notebook.set_viewport_size({"width": width, "height": 700})
        picture(notebook, f"student_validate_{width}")
        box = dialog.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= 700
        wide = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).length"
        assert dialog.locator("pre, ol, .jp-Dialog-body").evaluate_all(wide) == 0
        expect(dialog.get_by_role("button").last).to_be_in_viewport(ratio=1)
    notebook.set_viewport_size(size)
    picture(notebook, "student_validate_wrong")
    dialog.get_by_role("button").last.click()


SHOWN = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter(cell => cell.type === "code")
    .map(cell => [cell.sharedModel.getSource(), cell.sharedModel.getOutputs()])"""


def test_run_all_comes_to_the_end_unanswered_and_further_with_a_borrowed_function(
    whole_notebook, whole, picture
):
    run_all(whole_notebook)
    shown = whole_notebook.evaluate(SHOWN)
    assert [source for source, given in shown for one in given if one["output_type"] == "error"] == []
    (card,) = next(given for source, given in shown if source.startswith("scores = similarities"))
    assert "".join(card["data"]["text/plain"]) == "… needs `similarities`: skipped"
    last = cell(whole_notebook, "for t in (x_river[None]").first
    last.scroll_into_view_if_needed()
    expect(last.locator(".jp-OutputArea-output")).to_contain_text("skipped")
    pictures(whole_notebook, picture, "student_stuck", "scores = similarities(x_river")

    (whole / f"{NAME}.lent").write_bytes(lent_bytes(ASSIGNMENTS[NAME], alone=True))
    asking = 'hint("attention.similarities"'
    rung = run(whole_notebook, asking, f"{asking}, 4)")
    expect(rung).to_contain_text('borrow("attention.similarities") lends you a working function')
    pictures(whole_notebook, picture, "student_fourth_rung", asking)
    lent = run(whole_notebook, asking, 'borrow("similarities")')
    expect(lent).to_contain_text("attention.similarities: lent, earns no points")
    pictures(whole_notebook, picture, "student_borrowed", 'borrow("similarities")')
    run_all(whole_notebook)
    shown = dict((source, given) for source, given in whole_notebook.evaluate(SHOWN))
    assert not [one for given in shown.values() for one in given if one["output_type"] == "error"]
    card, builds_on = (
        "".join(part.get("text", "") or part["data"]["text/plain"] for part in given)
        for source, given in shown.items()
        if source.startswith(('check("attention.similarities"', "scores = similarities"))
    )
    assert card.startswith("○ attention.similarities: lent, earns no points")
    assert "skipped" not in builds_on
    again = run(whole_notebook, 'check("attention.similarities"')
    expect(again).to_contain_text("lent, earns no points")
    pictures(whole_notebook, picture, "student_lent_check", 'check("attention.similarities"')


def test_a_wrong_check_says_it_once_and_hands_over_its_input(whole_notebook, picture):
    run(whole_notebook, "from coursekit import check")
    run(whole_notebook, "def similarities", solution(WRONG))
    check = run(whole_notebook, 'check("attention.similarities"')
    card, line = (check.locator(".jp-OutputArea-output").nth(place) for place in (0, 1))
    expect(line).to_have_text("✗ attention.similarities: not yet right (see above)")
    expect(card).to_contain_text("Your answer is wrong on all 4 inputs. Input 1: keys 4×5, queries 3×5.")
    expect(check.locator(".jp-OutputArea-output")).to_have_count(2)
    assert line.bounding_box()["height"] < 60
    pictures(whole_notebook, picture, "student_wrong_once", 'check("attention.similarities"')
    given = run(whole_notebook, "def similarities", 'similarities(**case("attention.similarities")).shape')
    expect(given).to_contain_text("torch.Size")


def test_after_a_restart_a_cell_says_what_to_do(whole_notebook, picture):
    for words in ('check("attention.similarities"', "scores = similarities(x_river"):
        advice = run(whole_notebook, words).locator(".jp-OutputArea-output")
        expect(advice).to_have_text(
            re.compile(
                r"^\s*`\w+` is not defined yet: run the cells above first \(Run → Run All Above Selected Cell\)\.\s*$"
            )
        )
    pictures(whole_notebook, picture, "student_restarted", "scores = similarities(x_river")


@pytest.fixture
def with_an_exchange(tmp_path):
    """A student's course, and an exchange in which the assignment is released; JupyterLab shows it."""
    course = make_student(tmp_path, tmp_path / "exchange")
    put_assignment(tmp_path / "instructor" / "notebooks" / NAME)
    shutil.copy(tmp_path / "home" / ".jupyter" / "nbgrader_config.py", tmp_path / "instructor")
    released = subprocess.run(
        [PREFIX / "bin" / "nbgrader", "release_assignment", NAME],
        cwd=tmp_path / "instructor", capture_output=True, text=True,
    )  # fmt: skip
    assert released.returncode == 0, released.stderr
    page_config = course / "tools" / "jupyterlab" / "etc" / "jupyter" / "labconfig" / "page_config.json"
    parts = json.loads(page_config.read_text())
    parts["disabledExtensions"] |= dict.fromkeys(EXCHANGE, False)
    page_config.write_text(json.dumps(parts))
    return course


def test_an_assignment_is_fetched_and_submitted_from_the_list(with_an_exchange, start_lab, page, picture):
    page.goto(start_lab(with_an_exchange))
    wait_for_kernel(page)  # the start page comes to the front when it is ready
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    page.locator(".lm-Menu-itemLabel", has_text="Assignment List").click()
    row = page.locator("#released_assignments_list .list_item", has_text=NAME)
    row.get_by_role("button", name="Fetch").click(timeout=30_000)
    fetched = page.locator("#fetched_assignments_list .list_item", has_text=NAME).first
    fetched.get_by_role("button", name="Submit").click(timeout=30_000)
    submitted = page.locator("#submitted_assignments_list .list_item", has_text=NAME).first
    submitted.wait_for(timeout=30_000)
    picture(page, "student_submit")
    inbound = with_an_exchange.parent / "exchange" / "words-in-context" / "inbound"
    assert [file.name for file in inbound.glob(f"*/{NAME}.ipynb")] == [f"{NAME}.ipynb"]
