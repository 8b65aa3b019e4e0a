"""A real JupyterLab, started by the command of `make lab`, and a real Chromium."""

import contextlib
import importlib.util
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.conftest import ROOT

HERE = Path(__file__).parent

expect.set_options(timeout=60_000)  # of a busy machine


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


def answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=10).status == 200
    except OSError:
        return False


@pytest.fixture
def start_lab(tmp_path):
    """Starts JupyterLab on a course folder for a person who has no settings of their own; returns its address."""
    with contextlib.ExitStack() as running:
        yield lambda course: running.enter_context(lab(course, tmp_path))


@contextlib.contextmanager
def lab(course: Path, folder: Path, **variables: str) -> Iterator[str]:
    """JupyterLab on a course folder, for a person whose home is in `folder`; its address."""
    bootstrap = load_bootstrap()
    port = free_port()
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=course"]
    options += ["--LabApp.expose_app_in_browser=True"]  # for wait_for_kernel
    environment = bootstrap.variables(Path(sys.prefix)) | {"HOME": str(folder / "home")} | variables
    for name in [name for name in environment if name.startswith(("JUPYTER", "XDG_"))]:
        del environment[name]
    if (settings := course / "tools" / "jupyterlab").is_dir():  # what `make lab` lays into the environment
        environment["JUPYTER_PATH"] = str(settings / "share" / "jupyter")
        environment["JUPYTER_CONFIG_PATH"] = str(settings / "etc" / "jupyter")
        options += [f"--LabApp.app_settings_dir={settings / 'share' / 'jupyter' / 'lab' / 'settings'}"]
    log = folder / "lab.log"
    with log.open("w") as output:
        command = bootstrap.lab_command(Path(sys.prefix), course, options)
        server = subprocess.Popen(command, env=environment, cwd=course, stderr=output)
    try:
        while not answers(f"http://127.0.0.1:{port}/api"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.2)
                pytest.fail(f"JupyterLab ended with:\n{log.read_text()}")
        path = re.search(rf"http://127\.0\.0\.1:{port}(/\S*)\?token=", log.read_text()).group(1)
        yield f"http://127.0.0.1:{port}{path}?token=course"
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)
        except subprocess.TimeoutExpired:  # it waits for a kernel that is still starting
            server.kill()
            server.wait()


@contextlib.contextmanager
def window(chromium):
    """A page of its own, with nothing remembered."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture
def page(chromium):
    with window(chromium) as page:
        yield page


RESTORED = "() => window.jupyterapp?.restored.then(() => true)"
"""True once JupyterLab has registered its commands and laid out its page."""


@contextlib.contextmanager
def open_lab(chromium, course: Path, folder: Path) -> Iterator:
    """A page with JupyterLab on a course folder, for tests that each open a notebook of their own in it."""
    with lab(course, folder, AUTOGRADER_HOME=str(folder / "progress")) as address, window(chromium) as page:
        page.goto(re.sub(r"/lab/tree/\S*\?", "/lab?", address))
        page.wait_for_function(RESTORED, timeout=120_000)
        yield page


@pytest.fixture(scope="module")
def address(course, tmp_path_factory):
    """Of a JupyterLab on the `course` that a test file makes."""
    folder = tmp_path_factory.mktemp("person")
    with lab(course, folder, AUTOGRADER_HOME=str(folder / "progress")) as address:
        yield address


@pytest.fixture(scope="module")
def jupyterlab(person, chromium):
    """A page on the course of the `person` that a test file makes."""
    with open_lab(chromium, person / "course", person) as page:
        yield page


OPEN = """async path => {
    const {shell, serviceManager, commands} = window.jupyterapp;
    for (const one of [...shell.widgets("main")]) one.dispose();
    await serviceManager.sessions.shutdownAll();
    await commands.execute("docmanager:open", {path});
}"""


def open_notebook(page, path: Path | str) -> None:
    """Open a notebook in place of all others, and wait until it can run cells."""
    page.wait_for_function(RESTORED, timeout=120_000)  # also where the page is being loaded again
    page.keyboard.press("Escape")  # closes a dialog that another test has left open
    page.evaluate(OPEN, str(path))
    page.locator(".jp-Notebook:visible").wait_for(timeout=60_000)
    wait_for_kernel(page)


def wait_for_kernel(page) -> None:
    """Until the notebook in front can run cells. JupyterLab calls a kernel idle before it has one, and loses what is run then."""
    page.wait_for_function(
        """() => {
            const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
            const kernel = context?.isReady && context.session?.kernel;
            return kernel?.connectionStatus === "connected" && kernel.status === "idle";
        }""",
        timeout=120_000,
    )


def choose(page, menu: str, *entries: str) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{menu}$")).click()
    for entry in entries[:-1]:
        page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{entry}$")).hover()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{entries[-1]}$")).first.click()


def choose_theme(page, theme: str) -> None:
    """Light or Dark."""
    choose(page, "Settings", "Theme", f"JupyterLab {theme}")
    light = str(theme == "Light").lower()
    page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached", timeout=30_000)
    page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=30_000)  # it covers the page


def run_all(page) -> None:
    """Run → Run All Cells, until each has ended. JupyterLab draws only the cells in view: what was run is asked of its model."""
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(
        """() => {
            const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
            const code = cells.filter(cell => cell.type === "code" && cell.sharedModel.getSource().trim());
            return code.every(cell => cell.executionCount && cell.executionState === "idle");
        }""",
        timeout=240_000,
    )


WIDTHS = 900, 1280
"""Of the windows in which pictures are taken: half a screen, and a small laptop's."""


def pictures(page, picture, name: str, words: str) -> None:
    """Of the code cell with these words, in windows of each width."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(
            """async words => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                const holds = ({model}) => model.type === "code" && model.sharedModel.getSource().includes(words);
                const number = notebook.widgets.findIndex(holds);
                notebook.activeCellIndex = number;
                await notebook.scrollToItem(number, "center");
            }""",
            words,
        )
        picture(page, f"{name}_{width}")
    page.set_viewport_size({"width": 1400, "height": 900})


FAILED = pytest.StashKey[str]()


def pytest_collection_modifyitems(items):
    """Try a failed test of this folder once more: what a browser does when is not ours to say.

    The summary names each test that needed it. Steps that build on one another are not repeated.
    """
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("in_steps"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_runtest_makereport(item, call):
    """Remember the first step that failed: without it the next ones would wait for minutes, for nothing."""
    if (
        item.get_closest_marker("in_steps")
        and call.excinfo
        and not call.excinfo.errisinstance(pytest.skip.Exception)
    ):
        item.parent.stash.setdefault(FAILED, item.name)


def pytest_runtest_setup(item):
    if item.get_closest_marker("in_steps") and FAILED in item.parent.stash:
        pytest.skip(f"{item.parent.stash[FAILED]} failed")
