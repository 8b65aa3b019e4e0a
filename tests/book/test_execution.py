"""A run is kept until code changes: prose does not count. A reply that comes unnoticed does not hold it up."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import zmq
import zmq.asyncio
from jupyter_client.session import Session

from autograder.course import Assignment
from autograder.errors import CourseError
from tools.book.execution import _Channel, execute

pytestmark = pytest.mark.slow

SOURCE = "# %% [markdown]\n# # {title}\n\n# %%\n{code}\n"


@pytest.fixture
def course(tmp_path):
    """A course of one small notebook; returns how to write it, and the assignment."""
    for folder in ("solutions/01_small", "notebooks", "coursekit", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "constraints.txt").write_text("")
    one = Assignment(tmp_path, "01_small")

    def write(title: str, code: str) -> Assignment:
        one.source.write_text(SOURCE.format(title=title, code=code))
        return one

    return write


def test_prose_is_rewritten_without_a_new_run_and_code_is_not(course, tmp_path):
    store = tmp_path / "store"
    random = "import os; print(os.urandom(8).hex())"

    def shown(title: str, code: str) -> str:
        run = execute([course(title, code)], store)["01_small"]
        return run.cells[1].outputs[0].text

    first = shown("A title", random)
    assert shown("Another title", random) == first
    assert shown("Another title", random + "  # changed") != first
    (tmp_path / "coursekit" / "new.py").write_text("")
    assert shown("Another title", random + "  # changed") != first
    assert len(list(store.iterdir())) == 1, "one run is kept for each notebook"


def test_a_notebook_that_stops_is_named_and_nothing_is_kept(course, tmp_path):
    with pytest.raises(CourseError, match="01_small stops with an error(.|\\n)*ZeroDivisionError"):
        execute([course("A title", "1 / 0")], tmp_path / "store")
    assert list((tmp_path / "store").glob("*")) == []


def test_a_message_is_found_although_its_wake_up_was_lost():
    async def seconds_until_it_is_read() -> float:
        with zmq.asyncio.Context() as context, context.socket(zmq.PAIR) as ours:
            port = ours.bind_to_random_port("tcp://127.0.0.1")
            channel = _Channel(ours, Session(key=b""))
            with zmq.Context() as theirs, theirs.socket(zmq.PAIR) as sender:
                sender.connect(f"tcp://127.0.0.1:{port}")
                reading = asyncio.ensure_future(channel.get_msg(timeout=8))
                await asyncio.sleep(0.2)
                started = time.monotonic()
                Session(key=b"").send(sender, "status")
                time.sleep(0.2)  # it arrives while the loop is busy,
                zmq.Socket.shadow(ours.underlying).get(zmq.EVENTS)  # and something else takes its wake-up
                message = await reading
                assert message["msg_type"] == "status"
                return time.monotonic() - started

    with ThreadPoolExecutor(1) as pool:  # Playwright has a loop in this thread
        assert pool.submit(asyncio.run, seconds_until_it_is_read()).result(timeout=20) < 4
