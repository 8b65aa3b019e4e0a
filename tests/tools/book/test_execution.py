"""A run is kept until code changes: prose does not count. A reply that comes unnoticed does not hold it up."""

import asyncio
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children, get_context

import pytest
import zmq
import zmq.asyncio
from jupyter_cache import get_cache
from jupyter_client.session import Session
from nbformat import NotebookNode

from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.source import read_source
from tests.conftest import ROOT
from tests.processes import wait_until_gone
from tools.book.execution import USED, _Channel, execute
from tools.book.notebook import static_outputs

pytestmark = pytest.mark.slow

SOURCE = "# %% [markdown]\n# # {title}\n\n# %%\n{code}\n"


@pytest.fixture
def course(tmp_path):
    """A course of one small notebook; returns how to write it, and its source."""
    for folder in ("solutions/01_small", "notebooks", *USED):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "constraints.txt").write_text("")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    one = Assignment(tmp_path, "01_small")

    def write(title: str, code: str) -> dict[Assignment, NotebookNode]:
        one.source.write_text(SOURCE.format(title=title, code=code))
        return {one: read_source(one.source)}

    return write


def test_prose_is_rewritten_without_a_new_run_and_code_is_not(course, tmp_path):
    store = tmp_path / "store"
    random = "import os; print(os.urandom(8).hex())"

    def shown(title: str, code: str) -> str:
        run = execute(course(title, code), store)["01_small"]
        return run.cells[1].outputs[0].text

    first = shown("A title", random)
    assert shown("Another title", random) == first
    changed = shown("Another title", random + "  # changed")
    assert changed != first
    for folder in USED:
        (tmp_path / folder / "new.py").write_text("")
        again = shown("Another title", random + "  # changed")
        assert again != changed, folder
        changed = again
    (folder,) = store.iterdir()
    assert len(get_cache(str(folder)).list_cache_records()) == 1, "one run is kept for each notebook"


def test_a_notebook_that_stops_is_named_and_nothing_is_kept(course, tmp_path):
    with pytest.raises(CourseError, match="01_small stops with an error(.|\\n)*ZeroDivisionError"):
        execute(course("A title", "1 / 0"), tmp_path / "store")
    (folder,) = (tmp_path / "store").iterdir()
    assert get_cache(str(folder)).list_cache_records() == []


def test_a_progress_bar_is_not_on_the_page_and_what_is_printed_beside_it_is(course, tmp_path):
    code = "from tqdm.auto import tqdm\nfor _ in tqdm(range(3)): pass\nprint('done')"
    run = execute(course("A title", code), tmp_path / "store")["01_small"]
    assert len(run.cells[1].outputs) == 2
    assert [output.text for output in static_outputs(run.cells[1], run)] == ["done\n"]


IMPORTED = """
import sys
print("torch" in sys.modules, "transformers" in sys.modules)
from matplotlib import pyplot
pyplot.plot([1]);
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_kernel_starts_with_the_libraries_imported_draws_and_ends(course, tmp_path):
    before = set(active_children())
    run = execute(course("A title", IMPORTED), tmp_path / "store")["01_small"]
    said, figure = run.cells[1].outputs
    assert said.text == "True True\n"
    assert "image/png" in figure.data
    assert set(active_children()) == before


FOR_EVER = """
import os, time
from pathlib import Path
Path("written").write_text(str(os.getpid()))
Path("written").rename("running")
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_kernel_ends_with_a_killed_build(course, tmp_path):
    build = get_context("spawn").Process(
        target=execute, args=(course("A title", FOR_EVER), tmp_path / "store")
    )
    build.start()
    running = tmp_path / "notebooks" / "running"
    while not running.exists():
        assert build.is_alive()
        time.sleep(0.1)
    build.kill()
    wait_until_gone([int(running.read_text())])


def test_a_message_is_found_although_its_wake_up_was_lost():
    async def read_it() -> str:
        with zmq.asyncio.Context() as context, context.socket(zmq.PAIR) as ours:
            port = ours.bind_to_random_port("tcp://127.0.0.1")
            channel = _Channel(ours, Session(key=b""))
            with zmq.Context() as theirs, theirs.socket(zmq.PAIR) as sender:
                sender.connect(f"tcp://127.0.0.1:{port}")
                reading = asyncio.ensure_future(channel.get_msg())  # as long as it takes
                await asyncio.sleep(0.2)
                Session(key=b"").send(sender, "status")
                time.sleep(0.2)  # it arrives while the loop is busy,
                zmq.Socket.shadow(ours.underlying).get(zmq.EVENTS)  # and something else takes its wake-up
                message = await reading
                return message["msg_type"]

    with ThreadPoolExecutor(1) as pool:  # Playwright has a loop in this thread
        assert pool.submit(asyncio.run, asyncio.wait_for(read_it(), timeout=300)).result() == "status"
