"""What a control group bounds that no limit of a process does; where none can be had, the jail works without."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.jail.inside.limits import MEGABYTE, Limits
from autograder.jail.outside import cgroup
from autograder.jail.outside.client import Server
from tests.autograder.jail.conftest import LIMITS, make_job, run_in

SMALL = replace(
    LIMITS, memory_bytes=400 * MEGABYTE, processes=40, cores=0.2, cell_seconds=60, notebook_seconds=120
)
BUFFERS = """
import os, select, socket, time
done, told = os.pipe()
for _ in range(30):
    if os.fork() == 0:
        kept = [end for _ in range(45) for end in socket.socketpair()]
        for end in kept:
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(60_000))
            except BlockingIOError:
                pass
        os.write(told, b"x")
        time.sleep(600)
os.close(told)
finished = 0
for _ in range(30):
    if not select.select([done], [], [], 20)[0]:
        break
    finished += len(os.read(done, 1))
print(finished)
os.kill(-1, 9)
"""
BUSY = """
import os
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        sum(range(5_000_000))
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print(1)
"""


@pytest.fixture(scope="module")
def group_possible():
    group = cgroup.make(Limits())
    if group is None:
        pytest.skip("this system gives us no control group")
    group.remove()


@pytest.fixture
def group(group_possible):
    group = cgroup.make(SMALL)
    yield group
    group.remove()


@pytest.fixture(scope="module")
def small_server(jail_possible):
    with Server(SMALL) as server:
        yield server


def test_a_group_is_made_with_the_limits_and_removed(group):
    texts = {
        file.name: file.read_text().strip()
        for folder in group.folders
        for file in folder.iterdir()
        if _is_limit(file)
    }
    bound = str(SMALL.memory_bytes + SMALL.scratch_bytes + cgroup.HEADROOM)
    assert bound in (texts.get("memory.max"), texts.get("memory.limit_in_bytes"))
    assert "20000" in (texts.get("cpu.max", "").partition(" ")[0], texts.get("cpu.cfs_quota_us"))
    group.remove()
    assert not any(folder.exists() for folder in group.folders)


def _is_limit(file: Path) -> bool:
    return file.name in ("memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us")


@pytest.mark.slow
def test_memory_of_the_kernel_is_bounded(group_possible, small_server):
    """Full buffers of sockets are nobody's resident memory: 30 processes keep 550 MB in them, where nobody counts."""
    ran = run_in(small_server, BUFFERS)
    assert ran.status in ("memory", "killed") or ran.value() < 30
    assert run_in(small_server, "print(1)").value() == 1


@pytest.mark.slow
def test_processors_are_bounded_for_all_processes_together(group_possible, small_server):
    """The kernel says how often it made a group wait that wanted more than its share."""
    run_in(small_server, "print(1)")
    before = _throttled(small_server._group)
    assert run_in(small_server, BUSY).value() == 1
    assert _throttled(small_server._group) > before


def _throttled(group):
    file = next(folder / "cpu.stat" for folder in group.folders if (folder / "cpu.stat").exists())
    return int(dict(line.split() for line in file.read_text().splitlines())["nr_throttled"])


@pytest.mark.slow
def test_no_group_is_left(group_possible, jail_possible):
    with Server(SMALL) as server:
        run_in(server, "print(1)")
        group = server._group
        run_in(server, "print(1)")
        assert server._group is group
        assert all(folder.exists() for folder in group.folders)
    for _ in range(200):  # the kernel may still be ending a process in it
        cgroup.remove_ended()
        if not any(folder.exists() for folder in group.folders):
            return
        time.sleep(0.05)
    pytest.fail("a group stays")


@pytest.mark.slow
def test_a_group_in_which_somebody_is_left_is_not_the_next_one_s(group_possible, small_server):
    run_in(small_server, "print(1)")
    group = small_server._group
    left = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for folder in group.folders:
            (folder / "cgroup.procs").write_text(str(left.pid))
        run_in(small_server, "print(1)")
        assert small_server._group is None
        assert run_in(small_server, "print(1)").value() == 1
        assert small_server._group not in (None, group)
    finally:
        left.communicate()


def test_a_group_with_memory_that_somebody_has_left_is_not_as_new(group, tmp_path):
    """What a process writes to a file stays in memory, and counts as its group's."""
    assert group.is_as_new()
    code = f"input(); open({str(tmp_path / 'file')!r}, 'wb').write(bytes({2 * cgroup.MOST_LEFT}))"
    left = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True)
    for folder in group.folders:
        (folder / "cgroup.procs").write_text(str(left.pid))
    assert not group.is_as_new()  # somebody is there
    left.communicate("\n")
    assert not any((folder / "cgroup.procs").read_text() for folder in group.folders)
    assert not group.is_as_new()


@pytest.mark.slow
def test_a_submission_that_runs_is_in_the_group(group_possible, small_server):
    found = []

    def look(frame):
        lists = [(folder / "cgroup.procs").read_text().split() for folder in small_server._group.folders]
        found.append(lists)

    job = make_job(["print(1)", "import time; time.sleep(0.5)"])
    small_server.run(job, look)
    assert found and all(found[0])


def test_in_version_1_a_fork_moves_itself_as_a_thread(group):
    """To move a whole process the kernel waits until no other is being made: 5 to 13 ms for each submission."""
    handles = group.open()
    names = [Path(os.readlink(f"/proc/self/fd/{handle}")).name for handle in handles]
    for handle in handles:
        os.close(handle)
    assert names == ["tasks" if version == 1 else "cgroup.procs" for _, version in cgroup._parents()]


def test_groups_of_those_who_were_killed_are_removed(group_possible):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = [folder / f"autograder-{ended.pid}-0" for folder, _ in cgroup._parents()]
    for folder in left:
        folder.mkdir()
    cgroup._sweep.cache_clear()
    cgroup.make(SMALL).remove()
    assert not any(folder.exists() for folder in left)


@pytest.mark.slow
def test_where_no_group_can_be_had_the_jail_works_without(jail_possible, monkeypatch):
    monkeypatch.setattr(
        cgroup, "_parents", lambda: [(Path("/proc/self"), 2)]
    )  # in which no folder can be made
    assert cgroup.make(SMALL) is None
    with Server(SMALL) as server:
        assert run_in(server, "print(1)").value() == 1


MOUNTINFO = """
30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
35 25 0:30 / /sys/fs/cgroup/memory rw shared:15 - cgroup cgroup rw,memory
36 25 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct
37 25 0:32 / /proc rw - proc proc rw
"""


def test_mounts_of_both_versions_are_read():
    found = list(cgroup._mounts(MOUNTINFO.strip()))
    assert [(str(place), kind) for place, kind, _ in found] == [
        ("/sys/fs/cgroup", "cgroup2"),
        ("/sys/fs/cgroup/memory", "cgroup"),
        ("/sys/fs/cgroup/cpu,cpuacct", "cgroup"),
    ]
    assert {"cpu", "cpuacct"} <= found[2][2]
    assert dict(cgroup._own("9:cpu,cpuacct:/a\n0::/user.slice/b.scope\n")) == {
        "cpu": "/a", "cpuacct": "/a", "": "/user.slice/b.scope",
    }  # fmt: skip


def test_of_version_2_the_nearest_folder_in_which_groups_are_counted_is_taken(tmp_path):
    """Laid out as systemd delegates: the session's own folder holds processes, the slice above it counts."""
    for folder, counted in (("", "cpu memory"), ("user.slice", "memory pids"), ("user.slice/app.scope", "")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "cgroup.subtree_control").write_text(f"{counted}\n")
        (tmp_path / folder / "cgroup.procs").touch()
    assert cgroup._delegated(tmp_path, "/user.slice/app.scope") == tmp_path / "user.slice"
    (tmp_path / "user.slice" / "cgroup.subtree_control").write_text("pids\n")
    assert cgroup._delegated(tmp_path, "/user.slice/app.scope") == tmp_path
    (tmp_path / "cgroup.subtree_control").write_text("")
    assert cgroup._delegated(tmp_path, "/user.slice/app.scope") is None
