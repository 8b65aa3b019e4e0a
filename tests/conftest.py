"""What several test folders share: the course, its assignments, and a warm server without a jail."""

import gc
import os
import shutil
import signal
import sys
from collections import Counter
from functools import cache
from itertools import count
from pathlib import Path

# First: it spares each process 1.3 s of an import that nothing here needs.
from autograder.startup import THRESHOLDS  # isort: skip

import pytest
from nbformat import NotebookNode
from xdist.scheduler import LoadScopeScheduling

from autograder.course import assignments, course_root
from autograder.jail.outside.bubblewrap import View
from autograder.jail.outside.client import Server
from autograder.settings import course_settings
from autograder.source import read_source

if (
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN
):  # started behind a shell: what tests start would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = course_root(Path(__file__).parent)
PREFIX = Path(sys.prefix)
"""The environment in which the tests run: .venv, or another one that was active."""
KERNEL_SETTINGS = ROOT / "tools" / "jupyterlab" / "etc" / "ipython" / "ipython_kernel_config.py"
ASSIGNMENTS = {one.name: one for one in assignments(ROOT)}
SETTINGS = course_settings(ROOT)
COURSE_VIEW = View(packages=SETTINGS.packages, answers=SETTINGS.answers)
TWO_NOTEBOOKS = [
    pytest.param(name, marks=() if name in ("02_attention", "12_one_corpus") else pytest.mark.audit)
    for name in ASSIGNMENTS
]
"""For properties of the tool: tried on two notebooks by `make test`, on all by `make audit`."""
OPTIMISERS, MODELS = (SETTINGS.preload_where[words] for words in ("optimiser", "transformers"))


def pytest_configure():
    gc.disable()  # until all tests are collected: nothing of them becomes garbage, and to look for it takes a fifth of the time


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


@cache
def solution_of(name: str) -> NotebookNode:
    """The source of a notebook, which takes half a second to read: to be looked at, and not to be changed."""
    return read_source(ASSIGNMENTS[name].source)


@cache
def release_of(name: str) -> NotebookNode:
    """What students get of it: to be looked at, and not to be changed."""
    return ASSIGNMENTS[name].read_release()


def clean() -> dict[str, str]:
    """The variables of somebody who has no Python environment yet."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"))
    }


@pytest.fixture(scope="session")
def open_server():
    """Runs our own code as the build does; students' code is tried in tests/autograder/jail and tests/hostile."""
    with Server(isolation="none", view=COURSE_VIEW, modules=[*SETTINGS.preload, OPTIMISERS]) as server:
        yield server


@pytest.fixture(scope="session")
def progress_folders(tmp_path_factory):
    """Paths below one folder: to make a `tmp_path` for each test takes longer than most tests."""
    folder = tmp_path_factory.mktemp("progress")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_progress(progress_folders, monkeypatch):
    """No test touches the progress file of whoever runs it."""
    monkeypatch.setenv("AUTOGRADER_HOME", str(next(progress_folders)))


@pytest.fixture(scope="module")
def chromium():
    """Ended with each file: while it runs, no test of another file can have an event loop of its own."""
    from playwright.sync_api import sync_playwright

    browsers = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, browsers)), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Chromium on PATH")
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@pytest.fixture
def real_hub(monkeypatch):
    """The Hugging Face hub itself, asked now; the test is skipped where it cannot be reached."""
    from coursekit.models import hub

    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    hub._answers.cache_clear()
    if not hub.reachable():
        pytest.skip("the hub cannot be reached")


@pytest.fixture
def picture():
    """Keeps what a page shows, for whoever wants to look: `SCREENSHOTS=docs/images make test TEST_ARGS="-m browser"`."""

    def take(page, name, **options):
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{name}.png", **options)

    return take


RUN_NOTEBOOKS = "tests/notebooks/"
"""Tests that look at an executed solution; what others prepare for their file is prepared once if the file stays whole."""
AUDIT = "tests/audit/"
"""Tests that take many minutes for each notebook and prepare nothing for one another."""
WEBSITE = "tests/tools/book/test_site.py"
"""Tests that need the outputs of all notebooks."""


class ByFileAndNotebook(LoadScopeScheduling):
    """Processes share the tests by file, or by notebook: where a test may look at its run, which is then made once, and in the audit.

    xdist's own groups (`--dist loadgroup`) do nothing with pytest 9.2, whose items ignore the name that xdist gives them.
    """

    def _split_scope(self, nodeid):
        file, _, test = nodeid.partition("::")
        names = ASSIGNMENTS if file.startswith((RUN_NOTEBOOKS, AUDIT)) else ()
        return next((name for name in names if f"[{name}" in test), file)


@pytest.hookimpl(optionalhook=True)  # -p no:xdist
def pytest_xdist_make_scheduler(config, log):
    """Ours, in place of xdist's own."""
    return ByFileAndNotebook(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Slow tests come first, so that no process is left alone with one at the end.

    Of the slow ones those of the website come when every notebook that it shows has been begun. The others' last files, which
    take least, are left for the other processes meanwhile.
    """

    def turn(item) -> tuple[bool, int]:
        last = item.path.parent == ROOT / "tests"
        return item.get_closest_marker("slow") is None, 2 if last else int(item.nodeid.startswith(WEBSITE))

    items.sort(key=turn)


def pytest_terminal_summary(terminalreporter, config):
    """After `make audit`: what was done, file by file."""
    if config.option.markexpr != "audit":
        return
    done: dict[str, Counter[str]] = {}
    minutes: Counter[str] = Counter()
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                minutes[file] += report.duration / 60
                if report.when == "call" or outcome in ("failed", "error", "skipped"):
                    done.setdefault(file, Counter())[outcome] += 1
    terminalreporter.section("what the audit did")
    for file, outcomes in sorted(done.items()):
        counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        terminalreporter.line(f"{minutes[file]:6.1f} min  {file}: {counts}")
