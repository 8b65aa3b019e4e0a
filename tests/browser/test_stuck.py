"""A student who is stuck, in JupyterLab: Run All with nothing answered, a wrong answer, a kernel that was restarted."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from autograder.authoring.lending import lent_bytes
from tests.browser.conftest import open_notebook, pictures, run_all
from tests.browser.test_student import WRONG, cell, run, solution
from tests.conftest import ASSIGNMENTS, KERNEL_SETTINGS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAME = "02_attention"


@pytest.fixture(scope="module")
def person(tmp_path_factory):
    """The folder of a student: a home with the kernel's settings, and a course."""
    folder = tmp_path_factory.mktemp("person")
    profile = folder / "home" / ".ipython" / "profile_default"
    profile.mkdir(parents=True)
    shutil.copy(KERNEL_SETTINGS, profile)
    (folder / "course" / "notebooks").mkdir(parents=True)
    return folder


@pytest.fixture
def folder(person, tmp_path):
    """The test's own, with the whole release of 02 in it; no hint was asked for yet."""
    shutil.rmtree(person / "progress", ignore_errors=True)
    folder = person / "course" / "notebooks" / tmp_path.name / NAME
    folder.mkdir(parents=True)
    shutil.copy(ASSIGNMENTS[NAME].release, folder)
    shutil.copy(ASSIGNMENTS[NAME].key, folder)
    return folder


@pytest.fixture
def notebook(person, folder, jupyterlab):
    """The page with the notebook open, and nothing run yet."""
    open_notebook(jupyterlab, folder.relative_to(person / "course") / f"{NAME}.ipynb")
    jupyterlab.locator(".jp-Notebook h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    return jupyterlab


SHOWN = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter(cell => cell.type === "code")
    .map(cell => [cell.sharedModel.getSource(), cell.sharedModel.getOutputs()])"""


def test_run_all_comes_to_the_end_unanswered_and_further_with_a_borrowed_function(notebook, folder, picture):
    run_all(notebook)
    shown = notebook.evaluate(SHOWN)
    assert [source for source, given in shown for one in given if one["output_type"] == "error"] == []
    (card,) = next(given for source, given in shown if source.startswith("scores = similarities"))
    assert "".join(card["data"]["text/plain"]) == "… needs `similarities`: skipped"
    last = cell(notebook, "for t in (x_river[None]").first
    last.scroll_into_view_if_needed()
    expect(last.locator(".jp-OutputArea-output")).to_contain_text("skipped")
    pictures(notebook, picture, "student_stuck", "scores = similarities(x_river")

    (folder / f"{NAME}.lent").write_bytes(lent_bytes(ASSIGNMENTS[NAME], alone=True))
    asking = 'hint("attention.similarities"'
    rung = run(notebook, asking, f"{asking}, 4)")
    expect(rung).to_contain_text('borrow("attention.similarities") lends you a working function')
    pictures(notebook, picture, "student_fourth_rung", asking)
    lent = run(notebook, asking, 'borrow("similarities")')
    expect(lent).to_contain_text("attention.similarities: lent, earns no points")
    pictures(notebook, picture, "student_borrowed", 'borrow("similarities")')
    run_all(notebook)
    shown = dict((source, given) for source, given in notebook.evaluate(SHOWN))
    assert not [one for given in shown.values() for one in given if one["output_type"] == "error"]
    card, builds_on = (
        "".join(part.get("text", "") or part["data"]["text/plain"] for part in given)
        for source, given in shown.items()
        if source.startswith(('check("attention.similarities"', "scores = similarities"))
    )
    assert card.startswith("○ attention.similarities: lent, earns no points")
    assert "skipped" not in builds_on
    again = run(notebook, 'check("attention.similarities"')
    expect(again).to_contain_text("lent, earns no points")
    pictures(notebook, picture, "student_lent_check", 'check("attention.similarities"')


def test_a_wrong_check_says_it_once_and_hands_over_its_input(notebook, picture):
    run(notebook, "from coursekit import check")
    run(notebook, "def similarities", solution(WRONG))
    check = run(notebook, 'check("attention.similarities"')
    card, line = (check.locator(".jp-OutputArea-output").nth(place) for place in (0, 1))
    expect(line).to_have_text("✗ attention.similarities: not yet right (see above)")
    expect(card).to_contain_text("Your answer is wrong on all 4 inputs. Input 1: keys 4×5, queries 3×5.")
    expect(check.locator(".jp-OutputArea-output")).to_have_count(2)
    assert line.bounding_box()["height"] < 60
    pictures(notebook, picture, "student_wrong_once", 'check("attention.similarities"')
    given = run(notebook, "def similarities", 'similarities(**case("attention.similarities")).shape')
    expect(given).to_contain_text("torch.Size")


def test_after_a_restart_a_cell_says_what_to_do(notebook, picture):
    for words in ('check("attention.similarities"', "scores = similarities(x_river"):
        advice = run(notebook, words).locator(".jp-OutputArea-output")
        expect(advice).to_have_text(
            re.compile(
                r"^\s*`\w+` is not defined yet: run the cells above first \(Run → Run All Above Selected Cell\)\.\s*$"
            )
        )
    pictures(notebook, picture, "student_restarted", "scores = similarities(x_river")
