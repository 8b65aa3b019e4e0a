"""Submissions that take too much: each is ended as what it is, and the server serves the next."""

import pytest

from tests.autograder.jail.conftest import processes

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def server_survives(run, server, server_pid):
    """After every test: nothing is left running, and the same server runs the next notebook."""
    before = processes(server)
    yield
    assert run("print(1)").value() == 1
    assert processes(server) == before
    assert server_pid in before


def test_a_loop_that_no_alarm_reaches_ends_at_the_notebooks_limit(run, limits):
    ran = run("print(1)", "sum(range(10**15))", "print('never')")  # C code looks at no signal
    assert (ran.status, len(ran.frames), ran.value()) == ("timeout", 1, 1)
    assert limits.notebook_seconds <= ran.outcome.seconds


WAITS = ["import time\ntime.sleep(60)"] * 2
"""Cells after one that takes memory: on a busy machine that one may end for its time before the watchdog looks."""


def test_memory_of_one_process(run):
    ran = run("print(1)", "import torch\nkept = torch.ones(20 << 24)", *WAITS)
    assert (ran.status, ran.value(0)) == ("memory", 1)


def test_memory_of_several_processes_together(run, limits):
    ran = run(f"""
        import os, time
        for _ in range(3):
            if os.fork() == 0:
                kept = bytearray(b'x') * {limits.memory_bytes // 2}
                time.sleep(60)
        sum(range(10**15))  # C code looks at no signal: the cell lasts as long as the notebook may
    """)
    assert ran.status == "memory"
    assert ran.outcome.peak_bytes > limits.memory_bytes


def test_memory_that_hides_from_the_watchdog(run, limits):
    """A process may forbid others to read its memory's map; it is then counted in full."""
    takes = f"""
        import ctypes
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # not dumpable
        kept = bytearray(b'x') * {limits.memory_bytes}
    """
    assert run(takes, *WAITS).status == "memory"


def test_idle_forks_that_share_their_memory_cost_nothing(run):
    ran = run("""
        import os, time
        children = []
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
            children.append(pid)
        time.sleep(0.2)
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        print(len(children))
    """)
    assert (ran.status, ran.value()) == ("finished", 8)


def test_one_giant_allocation_is_refused_in_its_cell(run):
    ran = run("import torch\ntorch.empty(1 << 40)", "print(1)")
    assert "memory" in ran.frames[0].error_text
    assert ran.value() == 1


def test_a_fork_bomb_stays_small(run, limits):
    ran = run("""
        import os, time
        made = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                made += 1
        except BlockingIOError:
            print(made)
    """)
    assert 0 < ran.value() < limits.processes


def test_detached_processes_end_with_the_notebook(run):
    ran = run("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(0.01)
            os._exit(0)
        print(1)
    """)
    assert (ran.status, ran.value()) == ("finished", 1)


def test_a_detached_process_cannot_hold_the_answers_open(run):
    ran = run(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)", "import os\nos._exit(0)"
    )
    assert (ran.status, len(ran.frames)) == ("died", 1)  # and not "timeout": nobody waits for it


@pytest.mark.parametrize(
    "piece",
    ["bytes(1 << 16)", "bytes(3)", "(1 << 20).to_bytes(8, 'little') + bytes(1 << 20)"],
    ids=["empty frames", "odd pieces", "large frames"],
)
def test_endless_output_on_the_answer_pipe(run, piece):
    ran = run("print(1)", f"import os\npiece = {piece}\nwhile True:\n    os.write(3, piece)")
    assert ran.status == "output"
    assert ran.value(0) == 1


def test_a_frame_that_claims_to_be_endless(run):
    ran = run("print(1)", "import os, time\nos.write(3, b'\\xff' * 8)\ntime.sleep(60)")
    assert ran.status == "output"  # and not "timeout"


def test_endless_printing_is_only_slow(run, limits):
    ran = run("while True:\n    print('x' * 1000)", "print(1)")
    assert (ran.frames[0].problem, ran.status, ran.value()) == ("timeout", "finished", 1)
    assert len(ran.stream(0)) < limits.stream_bytes + 100


@pytest.mark.parametrize(
    "source",
    [
        "import ctypes\nctypes.string_at(0)",
        "import os\nos.abort()",
        "import itertools\nnested = iter([])\nfor _ in range(10**6):\n    nested = itertools.chain(nested, [])\nnext(nested)",
    ],
    ids=["null pointer", "abort", "stack"],
)
def test_crashes(run, source):
    ran = run("print(1)", source, "print(2)")
    assert (ran.status, len(ran.frames)) == ("died", 1)


def test_stopping_itself_or_the_server(run):
    ran = run("import os\nos.kill(os.getpid(), 19)\nos.kill(0, 19)", "print(1)")
    assert ran.value() == 1
