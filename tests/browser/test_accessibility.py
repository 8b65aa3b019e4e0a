"""The course without a mouse, and in the dark: sliders and hints by keyboard, figures on a dark page, words for every picture."""

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.source import code_cells, grade_id, read_source
from tests.browser.accessibility import JUPYTERLABS_OWN, faint_words, serious_findings
from tests.browser.conftest import choose, choose_theme, lab, wait_for_kernel, window
from tests.conftest import ASSIGNMENTS, ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME = "02_attention"
SLIDER = "temperature_slider("
HINT = 'hint("attention.similarities")'


def is_needed(cell) -> bool:
    """Answers, imports and the two figures of weights; no checks, hints, predictions or other figures."""
    draws = "pictures." in cell.source and "import " not in cell.source and "temperature" not in cell.source
    return not (draws or grade_id(cell).endswith("-check") or re.match(r"(hint|predict)\(", cell.source))


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    """The solved notebook 02 up to its first slider, then a hint and the state of the checks, as the start page."""
    solution = read_source(ASSIGNMENTS[NAME].source)
    cells = list(code_cells(solution))
    last = next(i for i, cell in enumerate(cells) if SLIDER in cell.source)
    more = ("from coursekit import hint, progress", HINT, 'progress("02")')
    solution.cells = [cell for cell in cells[: last + 1] if is_needed(cell)]
    solution.cells += [nbformat.v4.new_code_cell(source) for source in more]
    person = tmp_path_factory.mktemp("person")
    folder = person / "course"
    (folder / "notebooks").mkdir(parents=True)
    nbformat.write(solution, folder / "notebooks" / "start.ipynb")
    shutil.copy(ASSIGNMENTS[NAME].key, folder / "notebooks")
    shutil.copytree(ROOT / "tools" / "jupyterlab", folder / "tools" / "jupyterlab")
    return person


@pytest.fixture(scope="module")
def notebook(person, chromium):
    """The page with all cells run."""
    home = {"AUTOGRADER_HOME": str(person / "progress")}
    with lab(person / "course", person, **home) as address, window(chromium) as page:
        page.goto(address)
        wait_for_kernel(page)
        choose(page, "Run", "Run All Cells")
        done = page.locator(".jp-OutputArea-output", has_text="checks pass")
        done.wait_for(state="attached", timeout=240_000)
        yield page


def tab_to(page, selector: str, most: int = 60) -> None:
    """Press Tab until something of this kind has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{most} times Tab, and nothing like {selector} has the focus")


def test_sliders_and_hints_obey_the_keyboard_and_pictures_have_words(notebook, picture):
    alts = notebook.locator(".jp-OutputArea img").evaluate_all("all => all.map(one => one.alt)")
    assert len(alts) >= 2
    assert [alt for alt in alts if not re.search(r"\d", alt)] == []

    drawn = notebook.locator(".jp-OutputArea img[alt^='The weight of bank on itself']")
    before = drawn.get_attribute("alt")
    notebook.locator(".jp-CodeCell", has=notebook.locator("[role=slider]")).locator(".jp-InputPrompt").click()
    notebook.keyboard.press("Escape")  # out of an editor, where Tab indents
    tab_to(notebook, "[role=slider]")
    for _ in range(3):
        notebook.keyboard.press("ArrowRight")
    expect(drawn).not_to_have_attribute("alt", before, timeout=30_000)
    assert re.search(r"itself is \d\.\d\d, and its weight on river is \d\.\d\d", drawn.get_attribute("alt"))
    picture(notebook, "slider_by_keyboard")

    ladder = notebook.locator(".jp-CodeCell", has_text=HINT)
    expect(ladder.locator("[role=note]")).to_contain_text("Hint 1 of 4")
    ladder.locator(".cm-content").focus()
    notebook.keyboard.press("Control+Enter")
    expect(ladder.locator("[role=note]")).to_contain_text("Hint 2 of 4", timeout=30_000)


def test_figures_sliders_and_notes_can_be_read_in_both_themes(notebook, picture):
    for theme in ("Light", "Dark"):
        choose_theme(notebook, theme)
        for corner in notebook.locator(".jp-OutputArea img").evaluate_all(CORNERS):
            assert corner == [255, 255, 255, 255], (
                "figures bring their own white ground: their words are dark"
            )
        for place in ("[role=note]", ".jp-OutputArea-output:has-text('checks pass')", ".widget-inline-hbox"):
            assert faint_words(notebook.locator(place).first) == [], place
        notebook.locator(".jp-OutputArea img").last.scroll_into_view_if_needed()
        picture(notebook, f"figures_{theme.lower()}")


def test_axe_finds_nothing_serious_in_a_notebook_that_has_run(notebook):
    """With its figures, sliders, hints and the table of its checks."""
    for theme in ("Light", "Dark"):
        choose_theme(notebook, theme)
        assert serious_findings(notebook, ".jp-Cell", JUPYTERLABS_OWN) == []


CORNERS = """pictures => pictures.map(one => {
    const canvas = Object.assign(document.createElement("canvas"), {width: one.naturalWidth, height: one.naturalHeight});
    const pen = canvas.getContext("2d");
    pen.drawImage(one, 0, 0);
    return [...pen.getImageData(0, 0, 1, 1).data];
})"""
"""Red, green, blue and opacity of each picture's first point."""
