"""The page a student works on, with what the release lays into JupyterLab: map, edges, wrapped lines, guide, sliders of yesterday."""

import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import expect

from autograder.authoring.student_zip import student_files
from tests.browser.accessibility import JUPYTERLABS_OWN, serious_findings
from tests.browser.conftest import RESTORED, choose, choose_theme, open_notebook, window
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME = "02_attention"
SLIDER = """
from coursekit.sliders import interact
from IPython.display import HTML, display
from matplotlib import pyplot

def draw(n):
    figure, axes = pyplot.subplots()
    axes.plot(range(n + 1))
    display(figure, HTML(f"<img alt='at {n}'>"))
    pyplot.close(figure)

interact(draw, n=(0, 40))
"""
YESTERDAY = "Run this cell to move its slider"


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return {
        path: content for path, content in student_files(ROOT) if not path.startswith(("data/", "coursekit/"))
    }


@pytest.fixture(scope="module")
def course(tmp_path_factory, files):
    """The student's folder as it comes out of the zip, and a small notebook with a slider."""
    folder = tmp_path_factory.mktemp("person") / "course"
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    start = nbformat.read(folder / "notebooks" / "start.ipynb", as_version=4)
    slider = nbformat.v4.new_notebook(cells=[new_code_cell(SLIDER)], metadata=start.metadata)
    nbformat.write(slider, folder / "notebooks" / "slider.ipynb")
    return folder


@pytest.fixture(scope="module")
def jupyterlab(address, chromium):
    """One page for all tests: it shows the start page first."""
    with window(chromium) as page:
        page.goto(address)
        page.wait_for_function(RESTORED, timeout=120_000)
        yield page


def front(page, selector: str):
    """Within the notebook in front."""
    return page.locator(f".jp-NotebookPanel:not(.lm-mod-hidden) {selector}")


def test_the_map_leads_to_a_notebook_whose_lines_wrap_and_whose_exercises_have_an_edge(jupyterlab, picture):
    page = jupyterlab
    open_notebook(page, "notebooks/start.ipynb")
    front(page, ".jp-Notebook h1").first.wait_for(timeout=60_000)
    shown = front(page, ".jp-OutputArea-output").filter(has_text="continue here")
    expect(shown.locator("a").first).to_have_text("01 · One vector per word")  # before any cell has run
    picture(page, "start")
    assert not page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").count()
    assert page.get_by_role("button", name="Validate", exact=True).count()
    front(page, ".jp-CodeCell .cm-content").filter(has_text="course_map").click()
    page.keyboard.press("Control+Enter")
    table = front(page, ".jp-OutputArea-output").filter(has_text="continue here")
    table.locator("a", has_text="Attention, step by step").click(timeout=60_000)
    front(page, ".jp-Notebook h1:has-text('Attention, step by step')").wait_for(timeout=60_000)

    exercise = front(page, ".jp-CodeCell").filter(has_text="def similarities").first
    exercise.scroll_into_view_if_needed()
    check = front(page, ".jp-CodeCell").filter(has_text='check("attention.similarities"').first
    edges = {}
    for theme in ("Dark", "Light"):
        choose_theme(page, theme)
        expect(exercise).to_have_css("border-left-style", "solid")
        expect(check).to_have_css("border-left-style", "dotted")
        edges[theme] = exercise.evaluate("one => getComputedStyle(one).borderLeftColor")
        page.wait_for_function(
            "() => [...document.querySelectorAll('link')].some(one => one.href.endsWith('page.css') && one.sheet)"
        )
        picture(page, f"edges_{theme.lower()}")
    assert edges["Light"] != edges["Dark"]
    expect(exercise).to_have_css("border-left-width", "4px")
    shown = front(page, ".jp-CodeCell .cm-content").evaluate_all("all => all.map(one => one.className)")
    assert shown and all("cm-lineWrapping" in names for names in shown)
    front(page, ".jp-InputPlaceholder, .jp-Placeholder").first.wait_for(state="attached")


@pytest.mark.parametrize("name", ["start", "01_static_embeddings", NAME])
def test_axe_finds_nothing_serious_on_the_start_page_and_in_notebooks(jupyterlab, name):
    """As they are handed out: text, links, tables and the map that the start page brings along."""
    open_notebook(
        jupyterlab, f"notebooks/{name}.ipynb" if name == "start" else f"notebooks/{name}/{name}.ipynb"
    )
    front(jupyterlab, ".jp-Notebook h1").first.wait_for(timeout=60_000)
    assert serious_findings(jupyterlab, ".jp-Cell", JUPYTERLABS_OWN) == []


def test_guide_and_glossary_open_as_pages_without_a_network(address, jupyterlab, picture):
    page, elsewhere = jupyterlab, []
    page.on(
        "request",
        lambda one: (
            None if "127.0.0.1" in one.url or not one.url.startswith("http") else elsewhere.append(one.url)
        ),
    )
    page.goto(f"{address}&reset")
    for link, title in (("The students' guide", "For students"), ("glossary", "Glossary")):
        open_notebook(page, "notebooks/start.ipynb")
        front(page, "a").filter(has_text=re.compile(f"^{link}$")).first.click()
        shown = page.locator(".jp-MarkdownViewer:visible")
        shown.locator("h1", has_text=title).wait_for(timeout=30_000)
        page.wait_for_function(
            "() => [...document.querySelectorAll('.jp-MarkdownViewer img')].every(one => one.complete && one.naturalWidth)"
        )
        picture(page, f"page_{title.split()[-1].lower()}")
    assert elsewhere == []


NOWHERE = re.compile("exercise-page-nowhere")


def test_a_notebook_that_was_fetched_alone_has_no_link_that_leads_nowhere(course, jupyterlab, picture):
    """As nbgrader's exchange hands it out: the notebook and its key in a folder of their own."""
    page, alone = jupyterlab, course / "of" / "somebody"  # where ../../docs is not the course's
    shutil.copytree(course / "notebooks" / NAME, alone / NAME, dirs_exist_ok=True)
    (alone / "01_static_embeddings").mkdir(exist_ok=True)
    shutil.copy(
        course / "notebooks" / "01_static_embeddings" / "01_static_embeddings.ipynb",
        alone / "01_static_embeddings",
    )
    open_notebook(page, f"of/somebody/{NAME}/{NAME}.ipynb")
    front(page, ".jp-Notebook h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    top = front(page, ".jp-MarkdownCell").first
    for words in ("Start page", "Glossary", "03 · The transformer layer"):
        link = top.locator("a", has_text=re.compile(f"^{words}$"))
        expect(link).to_have_class(NOWHERE, timeout=30_000)
        expect(link).to_have_css("pointer-events", "none")
    neighbour = top.locator("a", has_text="01 · One vector per word")
    expect(neighbour).not_to_have_class(NOWHERE)
    picture(page, "fetched_alone")
    neighbour.click()
    front(page, ".jp-Notebook h1:has-text('One vector per word')").wait_for(timeout=60_000)


def test_a_slider_that_is_moved_quickly_never_parts_from_its_picture(jupyterlab):
    page = jupyterlab
    open_notebook(page, "notebooks/slider.ipynb")
    choose(page, "Run", "Run All Cells")
    handle = front(page, "[role=slider]").first
    handle.wait_for(timeout=60_000)
    for turn in range(30):
        if turn % 3:
            handle.focus()
            for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight")[: 1 + turn % 4]:
                page.keyboard.press(key)
        else:
            box = front(page, ".noUi-target").first.bounding_box()
            knob = handle.bounding_box()
            page.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
            page.mouse.down()
            page.mouse.move(
                box["x"] + box["width"] * (turn % 10) / 10, box["y"] + box["height"] / 2, steps=12
            )
            page.mouse.up()
        number = front(page, ".widget-readout").first.inner_text()
        front(page, f"img[alt='at {number}']").wait_for(state="attached", timeout=30_000)
        assert front(page, "img[alt^='at ']").count() == 1


@pytest.fixture(scope="module")
def slider_of_yesterday(jupyterlab):
    """The page, in which the slider was moved to 21 and its notebook saved."""
    page = jupyterlab
    open_notebook(page, "notebooks/slider.ipynb")
    choose(page, "Run", "Run All Cells")
    front(page, "[role=slider]").first.focus(timeout=60_000)
    page.keyboard.press("ArrowRight")
    front(page, "img[alt='at 21']").wait_for(state="attached", timeout=60_000)
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "slider" in answer.url):
        page.keyboard.press("Control+s")
    return page


def test_a_slider_of_yesterday_is_a_picture_and_says_what_to_do(address, slider_of_yesterday, picture):
    page = slider_of_yesterday
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.goto(re.sub(r"/lab/tree/\S*\?", "/lab/tree/notebooks/slider.ipynb?reset&", address))
    front(page, "img[alt='at 21']").wait_for(state="attached", timeout=60_000)
    says_what_to_do(front(page, ".jp-OutputArea-output.jupyter-widgets"), "Error displaying widget")
    picture(page, "slider_of_yesterday")


def says_what_to_do(lost, words):
    """In place of JupyterLab's words, which are in the page and are not shown."""
    expect(lost).to_contain_text(words, timeout=30_000)
    expect(lost).to_have_css("font-size", "0px")
    shown = "one => [getComputedStyle(one, '::after').content, getComputedStyle(one, '::after').visibility]"
    lost.page.wait_for_timeout(2100)  # until the words appear
    content, visibility = lost.evaluate(shown)
    assert YESTERDAY in content and visibility == "visible"


def test_a_slider_of_yesterday_says_the_same_while_there_is_no_kernel(address, slider_of_yesterday):
    page = slider_of_yesterday
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.route(
        "**/api/sessions*", lambda one: one.abort() if one.request.method == "POST" else one.continue_()
    )
    page.goto(re.sub(r"/lab/tree/\S*\?", "/lab/tree/notebooks/slider.ipynb?reset&", address))
    says_what_to_do(front(page, ".jp-OutputArea-output.lm-Panel").first, "Loading widget")
    page.unroute("**/api/sessions*")
    page.goto(address)
