"""What someone sees who typed `make lab`: the start page, no questions, and solutions that open as notebooks."""

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import wait_for_kernel
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

SOLUTION = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention, step by step

# %% nbgrader={"grade": false, "grade_id": "scale", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scale(scores, d):
    ### BEGIN SOLUTION
    return scores / d**0.5
    ### END SOLUTION
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A folder like the checkout, with one solution and the start page (a stand-in until it is built)."""
    root = tmp_path_factory.mktemp("person") / "course"
    (root / "notebooks").mkdir(parents=True)
    (root / "solutions" / "02_attention").mkdir(parents=True)
    start = ROOT / "notebooks" / "start.ipynb"
    if start.is_file():
        shutil.copy(start, root / "notebooks")
    else:
        kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        title = nbformat.v4.new_markdown_cell("# Words in Context")
        page = nbformat.v4.new_notebook(cells=[title], metadata={"kernelspec": kernel})
        nbformat.write(page, root / "notebooks" / "start.ipynb")
    (root / "solutions" / "02_attention" / "02_attention.py").write_text(SOLUTION)
    shutil.copy(ROOT / "jupytext.toml", root)
    return root


def test_the_start_page_opens_and_nothing_is_asked(page, address, picture):
    page.goto(address)
    title = page.locator(".jp-Notebook h1").first
    expect(title).to_contain_text("Words in Context")
    # The question about news is asked once the page has settled: the kernel is the last thing to start.
    wait_for_kernel(page)
    picture(page, "start")
    assert page.locator(".jp-toast-message, .Toastify__toast, .jp-Dialog").count() == 0


def test_a_solution_opens_as_a_notebook_and_is_saved_as_it_was(page, address, course, picture):
    source = course / "solutions" / "02_attention" / "02_attention.py"
    page.goto(address)
    page.locator(".jp-Notebook h1").first.wait_for(timeout=60_000)
    page.get_by_role("listitem", name="Name: start.ipynb ").wait_for(timeout=60_000)  # it goes to notebooks/
    page.locator(".jp-BreadCrumbs-home").click()
    for name in ("solutions", "02_attention", "02_attention.py"):
        page.get_by_role("listitem", name=f"Name: {name} ").dblclick()
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    notebook.locator("h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    picture(page, "solution")

    editor = notebook.locator(".jp-CodeCell .cm-content").first
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n# edited here")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and ".py" in answer.url) as saved:
        page.keyboard.press("Control+s")
    assert saved.value.ok
    assert source.read_text().rstrip() == SOLUTION + "# edited here"
