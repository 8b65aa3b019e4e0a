"""One notebook cell by cell, as the runner in the jail makes its frames: run in this process."""

import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder.checks.status import CellEnding, Ending
from autograder.jail.inside.limits import Limits
from autograder.jail.inside.outputs import Outputs
from autograder.jail.inside.watch import FINISHED, _own_status
from autograder.jail.outside import bubblewrap, cgroup
from autograder.jail.outside.bubblewrap import WITHOUT_NETWORK, View
from autograder.jail.outside.client import FrameReader, _is_report
from autograder.jail.outside.jobs import cell, pack_inputs, with_inputs
from autograder.untrusted.frames import read_frame
from tests.autograder.here import run_here

PICTURE = {"image/png": b"\x89PNG"}


def frames(*sources, limits=None, cases=None, files=None, arrays="numpy"):
    cells = [cell(source, "x.y" if "check(" in source else "") for source in sources]
    outcome = run_here(with_inputs(cells, pack_inputs(cases or {}, arrays, files or {})), limits)
    return [read_frame(frame, limits) for frame in outcome.frames]


def texts(frame):
    return [output.get("text") or output.get("data", {}).get("text/plain") for output in frame.outputs]


def test_a_cell_shows_what_it_prints_and_its_last_value_unless_a_semicolon_hides_it():
    shown = frames("print(1)\n2", "3;", "x = 4")
    assert [texts(frame) for frame in shown] == [["1\n", "2"], [], []]


def test_a_cell_that_runs_too_long_is_stopped_and_the_next_one_runs():
    slow, after = frames("while True:\n    pass", "1 + 1", limits=Limits(cell_seconds=0.1))
    assert slow.problem == CellEnding.TIMEOUT and texts(after) == ["2"]


def test_no_except_keeps_a_cell_running():
    (slow,) = frames(
        "while True:\n    try:\n        while True:\n            pass\n    except Exception:\n        pass",
        limits=Limits(cell_seconds=0.1),
    )
    assert slow.problem == CellEnding.TIMEOUT


def test_an_error_ends_its_cell_alone_and_of_a_long_traceback_the_end_is_kept():
    deep = "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(60)"
    failed, after = frames(deep, "2")
    assert failed.problem == CellEnding.ERROR and texts(after) == ["2"]
    assert failed.error_text.endswith("ZeroDivisionError: division by zero")
    (failed,) = frames("raise ValueError('\\n'.join(map(str, range(100))))")
    assert failed.error_text.endswith("\n98\n99")


def test_so_many_pictures_are_kept_of_a_cell_and_the_first_ones():
    outputs = Outputs(Limits(images_per_cell=2))
    for _ in range(3):
        outputs.show("display_data", dict(PICTURE))
    kinds = [list(output["data"]) for output in outputs.take()]
    assert kinds == [["image/png"], ["image/png"], ["text/plain"]]
    outputs.show("display_data", dict(PICTURE))
    assert list(outputs.take()[0]["data"]) == ["image/png"]


def test_all_answers_of_a_notebook_share_the_room_for_them():
    """The third giant answer has no room; the small one after it has."""
    check = "from autograder.checks import check\ncheck('x.y', lambda case: np.zeros(case['n']))"
    cases = {"x.y": [{"n": 100_000}]}
    limits = Limits(output_bytes=4_000_000)
    *_, first, second, third = frames("import numpy as np", *[check] * 3, limits=limits, cases=cases)
    sizes = [
        [answer.arrays[""].size if answer.arrays else 0 for answer in frame.answers.values()]
        for frame in (first, second, third)
    ]
    assert sizes == [[100_000], [100_000], [0]]
    assert "too much to submit" in next(iter(third.answers.values())).message


def test_each_check_is_asked_on_every_input_in_its_own_cell_only():
    check = "from autograder.checks import check\ncheck('x.y', lambda case: case['a'] * 2)"
    cases = {"x.y": [{"a": np.float32([n])} for n in range(3)]}
    asked, other = frames(check, check.replace("x.y", "x.z"), cases=cases)
    assert {where: answer.arrays[""].item() for where, answer in asked.answers.items()} == {
        ("", "x.y", n): 2 * n for n in range(3)
    }
    assert not other.answers


def test_gradients_are_handed_in_with_the_answers_they_belong_to():
    check = "from autograder.checks import check\ncheck('x.y', lambda case: case['a'] * case['b'].detach(), gradients=True)"
    case = {"a": np.float32([1, 2]), "b": np.float32([3, 4])}
    (frame,) = frames(check, cases={"x.y": [case]}, arrays="torch")
    ((given, *_),) = [list(frame.answers.values())]
    assert given.arrays[""].tolist() == [3, 8]
    assert np.all(given.gradients["a"] != 0) and given.gradients["b"].size == 0


NOTHING_ELSE = "would wait for ever: nothing else that runs in this notebook could end the wait"
WAITS = {
    "input('name? ')": "input() waits for somebody to type",
    "import getpass\ngetpass.getpass()": "input() waits for somebody to type",
    "from time import sleep\nsleep(10**6)": "time.sleep(1e+06) was not waited for: a cell may take 60 seconds",
    "import time\ntime.sleep(float('inf'))": "time.sleep(inf) was not waited for",
    "import time\ntime.sleep(3000)": "time.sleep(3000) was not waited for",
    "import time\nimport numpy as np\ntime.sleep(np.int64(60))": "time.sleep(60) was not waited for",
    "!sleep 100000": "sleep 100000 was not waited for: a cell may take 60 seconds",
    "!echo a; sleep 5m": "sleep 5m was not waited for",
    "!sleep infinity": "sleep infinity was not waited for",
    "import os\nos.system('sleep 100')": "sleep 100 was not waited for",
    "import subprocess\nsubprocess.run(['sleep', '100'])": "sleep 100 was not waited for",
    "import subprocess\nsubprocess.check_output('sleep 2h', shell=True)": "sleep 2h was not waited for",
    "import asyncio\nawait asyncio.sleep(10**6)": f"asyncio.sleep {NOTHING_ELSE}",
    "import asyncio\nasync def f():\n    await asyncio.sleep(100)\nawait asyncio.gather(f(), f())": f"asyncio.sleep {NOTHING_ELSE}",
    "import asyncio\nawait asyncio.Event().wait()": f"asyncio.Event.wait {NOTHING_ELSE}",
    "import asyncio\nawait asyncio.Queue().get()": f"asyncio.Queue.get {NOTHING_ELSE}",
    "import asyncio\nawait asyncio.get_running_loop().create_future()": f"line 2, await asyncio.get_running_loop().create_future() {NOTHING_ELSE}",
    "import threading\nthreading.Event().wait()": f"threading.Event.wait {NOTHING_ELSE}",
    "import threading\nthreading.Event().wait(100)": f"threading.Event.wait {NOTHING_ELSE}",
    "import queue\nqueue.Queue().get()": f"queue.Queue.get {NOTHING_ELSE}",
    "from threading import Semaphore\nSemaphore(0).acquire()": f"threading.Semaphore.acquire {NOTHING_ELSE}",
    "from concurrent.futures import Future\nFuture().result()": f"Future.result {NOTHING_ELSE}",
    "from threading import Condition\nc = Condition()\nwith c:\n    c.wait()": f"line 4, c.wait() {NOTHING_ELSE}",
    "import socket\ns = socket.create_server(('127.0.0.1', 0))\ns.accept()": f"line 3, s.accept() {NOTHING_ELSE}",
}
IN_TIME = (
    "import time\ntime.sleep(0.001)\n2",
    "import asyncio\nawait asyncio.sleep(0.001)\n2",
    "import asyncio\n"
    "async def long():\n    await asyncio.sleep(3600)\n"
    "task = asyncio.create_task(long())\nawait asyncio.sleep(0.001)\ntask.cancel()\n"
    "try:\n    await task\nexcept asyncio.CancelledError:\n    n = 2\nn",
    "import asyncio\n"
    "try:\n    await asyncio.wait_for(asyncio.sleep(3600), 0.001)\nexcept asyncio.TimeoutError:\n    n = 2\nn",
    "import asyncio\nawait asyncio.to_thread(lambda: 2)",
    "import asyncio\n"
    "p = await asyncio.create_subprocess_shell('echo 2', stdout=asyncio.subprocess.PIPE)\n"
    "int((await p.communicate())[0])",
    "import asyncio\n"
    "async def serve(reader, writer):\n    writer.write(b'2')\n    writer.close()\n"
    "server = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
    "reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
    "n = int(await reader.read())\nwriter.close()\nserver.close()\nn",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(2) as pool:\n    n = list(pool.map(lambda n: n, [1, 2]))[-1]\nn",
    "import threading, queue\nq = queue.Queue()\nthreading.Thread(target=q.put, args=[2]).start()\nq.get()",
    "import _thread, threading\ne = threading.Event()\n_thread.start_new_thread(e.set, ())\ne.wait()\n2",
    "import threading, time\n"
    "threading.Thread(target=time.sleep, args=[3600], daemon=True)\n"
    "t = threading.Timer(0.001, print)\nt.start()\nt.join()\n2",
    "import threading\nlock = threading.Lock()\nwith lock:\n    n = lock.acquire(False), lock.locked()\n2 * n[1]",
    "import threading\nlock = threading.Lock()\nlock.acquire()\n2 - lock.acquire(timeout=0.001)",
    "import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\n"
    "n = 2 if s.accept() else 0\nc.close()\ns.close()\nn",
    "import socket\ns = socket.create_server(('127.0.0.1', 0))\ns.settimeout(0.001)\n"
    "try:\n    s.accept()\nexcept TimeoutError:\n    n = 2\ns.close()\nn",
    "import subprocess\np = subprocess.Popen(['sleep', '100'])\np.kill()\np.wait()\n2",
    "import subprocess\n"
    "try:\n    subprocess.run('sleep 100', shell=True, timeout=0.01)\nexcept subprocess.TimeoutExpired:\n    n = 2\nn",
    "!sleep 0.001; echo sleep 100\n2",
    "import signal, threading\n"
    "def stop(*_): raise KeyError\n"
    "before = signal.signal(signal.SIGALRM, stop)\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\n"
    "try:\n    threading.Event().wait()\nexcept KeyError:\n    n = 2\nsignal.signal(signal.SIGALRM, before)\nn",
)


@pytest.mark.parametrize("source", IN_TIME)
def test_what_ends_in_time_is_waited_for(source):
    (ran,) = frames(source)
    assert not ran.error_text and texts(ran)[-1] == "2"


STUCK = {
    "import time\nwhile True:\n    time.sleep(0.001)": "line 3, time.sleep(0.001)",
    "import queue\ndef f():\n    queue.SimpleQueue().get()\nf()": "line 3, queue.SimpleQueue().get()",
    "import threading, time\nt = threading.Thread(target=time.sleep, args=[0.5])\nt.start()\nt.join()": "threading.Thread.join",
    "import threading, time, asyncio\nt = threading.Thread(target=time.sleep, args=[0.5])\nt.start()\n"
    "await asyncio.sleep(100)": "asyncio.sleep",
    "import subprocess\nsubprocess.run(['tail', '-f', '/dev/null'])": "subprocess.run",
    "import socket\na, b = socket.socketpair()\na.recv(1)": "line 3, a.recv(1)",
    "while True:\n    pass": "",
}


@pytest.mark.slow
@pytest.mark.parametrize(("source", "where"), STUCK.items())
def test_a_cell_that_is_stopped_says_what_it_was_waiting_in(source, where):
    stopped, after = frames(source, "2", limits=Limits(cell_seconds=0.5))
    assert stopped.problem == CellEnding.TIMEOUT and texts(after) == ["2"]
    assert stopped.error_text.endswith(
        f"after 0.5 seconds: it was waiting in {where}" if where else "seconds"
    )


@pytest.mark.parametrize(
    "source",
    ["!pip install -q einops", "%pip install einops", "!conda install -y x", "!python3 -m pip install x"],
)
def test_what_would_install_something_says_that_it_cannot(source):
    tried, after = frames(source, "_exit_code")
    assert texts(tried)[0].startswith("Nothing can be installed while a notebook is graded")
    assert texts(after) == ["1"]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "words"), WAITS.items())
def test_what_waits_for_nothing_says_so_at_once(source, words):
    failed, after = frames(source, "import time\ntime.sleep(0)\n2")
    assert words in failed.error_text and texts(after) == ["2"]


NEED_A_NETWORK = {
    "import requests\nrequests.get('https://example.org/data.csv')": "ConnectionError",
    "import urllib.request\nurllib.request.urlopen('https://example.org/data.csv')": "URLError",
    "from datasets import load_dataset\nload_dataset('imdb')": "ConnectionError: Couldn't reach 'imdb' on the Hub",
}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param(*one, marks=[pytest.mark.slow] if "datasets" in one[0] else [])
        for one in NEED_A_NETWORK.items()
    ],
)
def test_what_needs_a_network_does_not_try_again(monkeypatch, source, words):
    """As in the jail: no name has an address, and the variables say that there is no network."""
    pytest.importorskip(source.split()[1].split(".")[0])
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.setattr("socket.getaddrinfo", _no_name_has_an_address)
    if "datasets" in source:
        assert WITHOUT_NETWORK["HF_HUB_OFFLINE"] == "1"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    failed, after = frames(source, "2")
    assert words in failed.error_text and texts(after) == ["2"] and not slept


def _no_name_has_an_address(*name, **how):
    raise socket.gaierror(-3, "Temporary failure in name resolution")


def test_files_lie_beside_the_notebook_byte_for_byte():
    (frame,) = frames("print(open('data/table.csv').read())", files={"data/table.csv": b"a,b\n1,2"})
    assert texts(frame) == ["a,b\n1,2\n"]


def test_how_a_notebook_ended_is_told_by_its_exit_status():
    """0 is a notebook that left by itself, before its end."""
    assert [_own_status(status) for status in (FINISHED << 8, 0, 1 << 8, 9, 11)] == [
        Ending.FINISHED,
        Ending.DIED,
        Ending.DIED,
        Ending.KILLED,
        Ending.DIED,
    ]


def test_a_course_s_folder_is_covered_also_where_it_lies_in_a_readable_one(monkeypatch, tmp_path):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: Path(sys.executable).resolve())
    (tmp_path / "shared" / "course").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o755)
    view = View(readable=(tmp_path / "shared",), hidden=(tmp_path / "shared" / "course",))
    command = bubblewrap.command("", [], 3, view)
    place = command.index(str(tmp_path / "shared" / "course"))
    assert command[place - 1] == "--tmpfs" and place > command.index(str(tmp_path / "shared"))


def test_frames_without_number_are_too_much(monkeypatch):
    monkeypatch.setattr("autograder.jail.outside.client.MOST_FRAMES", 3)
    for count, too_much in ((4, False), (5, True)):
        reader = FrameReader(Limits(), lambda frame: None)
        reader._rest += b"\0" * 8 * count  # the first is the greeting
        reader._cut()
        assert reader.too_much == too_much


def test_a_report_has_all_its_numbers():
    whole = {"status": "finished", "seconds": 1.0, "cpu_seconds": 1.0, "peak_bytes": 5}
    assert _is_report(whole)
    for name in whole:
        assert not _is_report({key: value for key, value in whole.items() if key != name})
    assert not _is_report(whole | {"seconds": "1"}) and not _is_report(whole | {"status": "well"})


def test_two_processors_for_a_notebook_are_two():
    settings = cgroup._settings(Limits(cores=2.0), 2)
    assert settings["cpu.max"] == "200000 100000" and settings["memory.swap.max"] == "0"


# ------------------------------------------------------------------------ what a kernel has, and IPython alone has not


def test_earlier_cells_and_values_are_kept_as_in_a_kernel():
    *_, asked = frames("z = 7  # found", "!true", "21 * 2", "99;", "print(In[1:4], _i, _, Out, len(In))")
    (told,) = texts(asked)
    assert told == "['z = 7  # found', \"get_ipython().system('true')\", '21 * 2'] 99; 42 {3: 42} 6\n"


def test_no_error_is_described_again_for_the_history():
    """IPython's own description takes a tenth of a second."""
    _, kept = frames("1 / 0", "print(get_ipython().history_manager.exceptions)")
    assert texts(kept) == ["{1: {}}\n"]


@pytest.mark.parametrize(
    "sources",
    [
        ["import asyncio\nprint(asyncio.get_event_loop().is_running())"],
        [
            "import asyncio",
            "async def f():\n    return True",
            "t = asyncio.create_task(f())",
            "print(await t)",
        ],
        [
            "import asyncio",
            "def ask():\n    try:\n        asyncio.run(asyncio.sleep(0))\n    except RuntimeError:\n        print(True)",
            "ask()",
        ],
    ],
    ids=["a loop runs", "a task", "no second loop"],
)
def test_for_those_who_use_asyncio_a_loop_runs(sources):
    *_, last = frames(*sources)
    assert texts(last) == ["True\n"]


def test_what_only_a_kernel_has_does_no_harm():
    asked = "'IPKernelApp' in get_ipython().config"
    shown = frames("%autosave 0", "exit()", "import sys, faulthandler\nsys.stdout.fileno()", asked)
    assert [(texts(frame), frame.problem) for frame in shown] == [
        ([], ""),
        ([], ""),
        (["1"], ""),
        (["True"], ""),
    ]
