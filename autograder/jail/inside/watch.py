"""Watches a running submission from the server's side: its seconds, its memory, its end."""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import threading
import time
from pathlib import Path

from autograder.checks.status import Ending

from .limits import Limits

FINISHED = 80  # exit status of a fork that came to its notebook's end
KERNEL_KILLED = 81  # of one whose kernel was killed, as a system out of memory does
SAMPLE_SECONDS = 0.05
HEARTBEAT_SECONDS = 1.0
PAGE = resource.getpagesize()
PROC = Path("/proc")


def watch(pid: int, limits: Limits, control: socket.socket, began: float) -> dict[str, object]:
    """Wait until the submission that `pid` runs has ended, or end it. Returns the report for the client."""
    handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    poll = select.poll()
    for descriptor in (control.fileno(), handle):
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    status, peak, beat, ended, most = None, 0, began, False, limits.memory_bytes
    while not (status or ended):
        ready = [descriptor for descriptor, _ in poll.poll(1000 * SAMPLE_SECONDS)]
        ended = handle in ready or (handle is None and _is_zombie(pid))
        now, memory = time.monotonic(), memory_of_descendants(most)
        peak = max(peak, memory)
        if ended:
            break
        if control.fileno() in ready:
            status = _told(control)
        elif memory > most and memory_of_descendants(most) > most:
            # Read twice: a process that ends during the first leaves its share of each page to the others.
            status = Ending.MEMORY
        elif now - began > limits.notebook_seconds:
            status = Ending.TIMEOUT
        elif now - beat > HEARTBEAT_SECONDS:
            beat = now
            say(control, {"alive": now - began})
    if handle is not None:
        os.close(handle)
    return end(pid, status, peak, began)


def end(pid: int, status: Ending | None, peak: int, began: float) -> dict[str, object]:
    """Kill what is left, and say how it went. In the jail all others end with process `pid`."""
    if status:
        _kill(pid)
    _kill_group(pid)
    _, code, usage = os.wait4(pid, 0)
    while left := descendants():  # none in the jail; without it, whatever left its group
        for orphan in left:
            _kill(orphan)
        os.waitpid(-1, 0)
    return {
        "status": status or _own_status(code),
        "seconds": time.monotonic() - began,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": max(peak, usage.ru_maxrss * 1024),
    }


def memory_of_descendants(enough: int) -> int:
    """Bytes of memory that the submission's processes hold, including what they share with the server.

    Only when that comes to more than `enough` is it worth 5 ms a process to count each shared page once.
    """
    resident = descendants()
    total = sum(resident.values())
    if total <= enough:
        return total
    return sum(_proportional(pid, fallback) for pid, fallback in resident.items())


def descendants() -> dict[int, int]:
    """Every process below this one, with its resident bytes."""
    parents, resident = {}, {}
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            pid = int(entry.name)
            parents[pid], resident[pid] = int(fields[1]), int(fields[21]) * PAGE
    return {pid: size for pid, size in resident.items() if _is_below(pid, os.getpid(), parents)}


def count_threads() -> int:
    """Threads of this process, also those that Python knows nothing of."""
    tasks = PROC / "self" / "task"
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()


def _own_status(code: int) -> Ending:
    if os.WIFSIGNALED(code) and os.WTERMSIG(code) == signal.SIGKILL:
        return Ending.KILLED  # nobody inside can send it to the jail's first process
    exits = {FINISHED: Ending.FINISHED, KERNEL_KILLED: Ending.KILLED}
    return exits.get(os.WEXITSTATUS(code), Ending.DIED) if os.WIFEXITED(code) else Ending.DIED


def _is_below(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False


def _proportional(pid: int, fallback: int) -> int:
    """Resident bytes with each shared page divided among its sharers."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except PermissionError:
        return fallback  # it hides, and so pays in full for what it shares
    except OSError:
        return 0  # it ended meanwhile
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss:", "SwapPss:")))


def _is_zombie(pid: int) -> bool:
    """For systems without process handles."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _told(control: socket.socket) -> Ending | None:
    """What the client wants: the submission wrote too much, or nobody waits for it any more."""
    message = control.recv(64)
    if not message:
        return Ending.ABANDONED
    return Ending.OUTPUT if b"stop" in message else None


def say(control: socket.socket, message: dict[str, object]) -> None:
    """Send the client a message, as one line of JSON; nothing happens if the client is gone."""
    with contextlib.suppress(BrokenPipeError):  # if the client is gone, the next reading notices
        control.send(json.dumps(message).encode() + b"\n")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
