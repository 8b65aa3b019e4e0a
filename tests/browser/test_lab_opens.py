"""What someone sees who typed `make lab`: the start page, no questions, and solutions that open as notebooks."""

import contextlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import urllib.request
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]

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


def load_bootstrap():
    """tools/ is no package: read the file that `make lab` runs."""
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools" / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture
def course(tmp_path) -> Path:
    """A folder like the checkout, with one solution and the start page (a stand-in until it is built)."""
    root = tmp_path / "course"
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


@pytest.fixture
def address(course, tmp_path):
    """JupyterLab, started by the command of `make lab` for a person who has no settings of their own."""
    bootstrap = load_bootstrap()
    port = free_port()
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=course"]
    environment = bootstrap.lab_environment() | {"HOME": str(tmp_path / "home")}
    for name in [name for name in environment if name.startswith(("JUPYTER", "XDG_"))]:
        del environment[name]
    log = tmp_path / "lab.log"
    with log.open("w") as output:
        command = bootstrap.lab_command(course, options)
        lab = subprocess.Popen(command, env=environment, cwd=course, stderr=output)
    try:
        while not answers(f"http://127.0.0.1:{port}/api"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                lab.wait(timeout=0.2)
                pytest.fail(f"JupyterLab ended with:\n{log.read_text()}")
        path = re.search(rf"http://127\.0\.0\.1:{port}(/\S*)\?token=", log.read_text()).group(1)
        yield f"http://127.0.0.1:{port}{path}?token=course"
    finally:
        lab.terminate()
        lab.wait(timeout=30)


def answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=10).status == 200
    except OSError:
        return False


@pytest.fixture
def page():
    from playwright.sync_api import sync_playwright

    browsers = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, browsers)), None)
    if chromium is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium on PATH")
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        yield browser.new_page(viewport={"width": 1400, "height": 900})
        browser.close()


def screenshot(page, name):
    """Pictures for whoever wants to look: `SCREENSHOTS=/some/folder make test TEST_ARGS="-m browser"`."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_the_start_page_opens_and_nothing_is_asked(page, address):
    page.goto(address)
    title = page.locator(".jp-Notebook h1").first
    title.wait_for(timeout=60_000)
    assert "Words in Context" in title.inner_text()
    # The question about news is asked once the page has settled: the kernel is the last thing to start.
    page.locator(".jp-NotebookPanel-toolbar [data-status=idle]").first.wait_for(timeout=60_000)
    screenshot(page, "start")
    assert page.locator(".jp-toast-message, .Toastify__toast, .jp-Dialog").count() == 0


def test_a_solution_opens_as_a_notebook_and_is_saved_as_it_was(page, address, course):
    source = course / "solutions" / "02_attention" / "02_attention.py"
    page.goto(address)
    page.locator(".jp-Notebook h1").first.wait_for(timeout=60_000)
    page.locator(".jp-BreadCrumbs-home").click()  # the file browser stands in notebooks/
    for name in ("solutions", "02_attention", "02_attention.py"):
        page.get_by_role("listitem", name=f"Name: {name} ").dblclick()
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    notebook.locator("h1:has-text('Attention, step by step')").wait_for(timeout=60_000)
    screenshot(page, "solution")

    editor = notebook.locator(".jp-CodeCell .cm-content").first
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n# edited here")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and ".py" in answer.url) as saved:
        page.keyboard.press("Control+s")
    assert saved.value.ok
    assert source.read_text().rstrip() == SOLUTION + "# edited here"
