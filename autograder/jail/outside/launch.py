"""Starts a server, in bubblewrap or plainly, or forks one of another, and ends it for certain."""

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder.errors import JailError
from autograder.jail.inside.isolation import SCRATCH_PREFIX
from autograder.jail.inside.limits import Limits
from autograder.jail.outside import bubblewrap, withheld
from autograder.jail.outside.as_nobody import Place
from autograder.jail.outside.bubblewrap import View

START_SECONDS = 120  # for a server's imports, on a slow or busy machine
CLOSE_SECONDS = 5
KILLED = (signal.SIGKILL, 128 + signal.SIGKILL)
"""How a server ends, or in a jail bubblewrap, which says so of its server."""
# One message is one packet where the system has such sockets.
SOCKET_KIND = socket.SOCK_SEQPACKET if sys.platform.startswith("linux") else socket.SOCK_STREAM


class _Killed(JailError):
    """A server that did not end by itself: by a person, or by a system that has run out of memory."""


@dataclass
class ServerProcess:
    """A running server."""

    popen: subprocess.Popen
    control: socket.socket
    errors: IO[bytes]  # what it, or bubblewrap, wrote to stderr
    scratch: tempfile.TemporaryDirectory | Place | None = None  # of a server without a jail
    jail: int | None = None  # handle of the jail's process 1, with which all others end

    def last_words(self) -> str:
        """The last three lines that the server wrote to stderr."""
        try:
            errors = self.errors.fileno()
            size = os.fstat(errors).st_size
            said = os.pread(errors, 4000, max(0, size - 4000))  # its place is the writer's, too, and stays
        except (OSError, ValueError):  # for a fork: another thread has ended the server, and closed its file
            return "it was ended"
        lines = said.decode(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "it said nothing"

    def close(self) -> None:
        """Let it end: it does when its socket closes."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(CLOSE_SECONDS)
        self.kill()

    def send_kill(self) -> None:
        """Send the signal, and leave the rest to whoever waits for an answer."""
        if self.jail is not None:
            with contextlib.suppress(OSError):  # it has ended, or another thread has closed the handle
                signal.pidfd_send_signal(self.jail, signal.SIGKILL)
        if self.popen.returncode is None:  # until it is waited for, its number is nobody else's
            with contextlib.suppress(ProcessLookupError):
                os.killpg(
                    self.popen.pid, signal.SIGKILL
                )  # with what bubblewrap forked and did not yet announce

    def kill(self) -> None:
        """End it whatever state it is in, stopped or deaf."""
        self.send_kill()
        if self.jail is not None:
            os.close(self.jail)
            self.jail = None
        self.popen.wait()
        self.control.close()
        self.errors.close()
        if self.scratch is not None:
            self.scratch.cleanup()


@dataclass
class ForkedServer:
    """A fork of a server that serves itself. It ends with that server, or alone."""

    control: socket.socket
    parent: ServerProcess
    handle: int | None = None

    def last_words(self) -> str:
        """Those of the server that forked it: both write to the same file."""
        return self.parent.last_words()

    def close(self) -> None:
        """Let it end: it does when its socket closes."""
        self.control.close()
        self._wait()
        self.kill()

    def send_kill(self) -> None:
        """Send the signal without waiting for the fork to end."""
        if self.handle is not None:
            with contextlib.suppress(OSError):  # it has ended, or another thread has closed the handle
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def kill(self) -> None:
        """End it, wait until it has ended, and close its handle. The server that forked it goes on."""
        self.send_kill()
        self.control.close()
        if self.handle is not None:
            self._wait()
            os.close(self.handle)
            self.handle = None

    def _wait(self) -> None:
        if self.handle is not None:
            select.select([self.handle], [], [], CLOSE_SECONDS)


def start(
    limits: Limits,
    isolation: str,
    view: View,
    modules: Sequence[str] = (),
    spawned: Callable[[ServerProcess], None] = lambda process: None,
) -> ServerProcess:
    """Start a server and wait until it has imported everything, `modules` too. Raises JailError.

    One that is killed meanwhile is started once more. `spawned` is told of each process before its imports: another
    thread may kill it, and what `spawned` raises ends it.
    """
    try:
        return _start(limits, isolation, view, modules, spawned)
    except _Killed:
        return _start(limits, isolation, view, modules, spawned)


def _start(
    limits: Limits,
    isolation: str,
    view: View,
    modules: Sequence[str],
    spawned: Callable[[ServerProcess], None],
) -> ServerProcess:
    ours, theirs = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    with theirs:
        kernel = str(view.kernel.folder) if view.kernel else ""
        arguments = [str(theirs.fileno()), isolation, limits.to_json(), kernel, *modules]
        process = LAUNCH[isolation](arguments, ours, theirs, view)
    try:
        spawned(process)
        _wait_until_ready(process)
    except BaseException:  # Ctrl-C, too
        process.kill()
        raise
    return process


def fork(process: ServerProcess, seconds: float) -> ForkedServer:
    """Have a server that runs no job fork another. Raises OSError when it does not do so within `seconds`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    made = ForkedServer(ours, process)
    try:
        with theirs:
            socket.send_fds(process.control, [b"fork\n"], [theirs.fileno()])
        _, handles = _receive(process.control, seconds)
        if not handles:
            raise ConnectionError("it ended")
        made.handle = handles[0]
        message, _ = _receive(ours, seconds)
        if b"ready" not in message:
            raise ConnectionError("its fork ended")
    except BaseException:  # Ctrl-C, too
        made.kill()
        raise
    return made


def _receive(control: socket.socket, seconds: float) -> tuple[bytes, list[int]]:
    """The next message and what it brought along. Raises OSError when there is none."""
    if not select.select([control], [], [], seconds)[0]:
        raise TimeoutError(f"it has been silent for {seconds:g} s")
    message, handles, _, _ = socket.recv_fds(control, 4096, 1)
    return message, handles


def _in_bubblewrap(
    arguments: list[str], ours: socket.socket, theirs: socket.socket, view: View
) -> ServerProcess:
    reader, writer = os.pipe()
    masks: dict[Path, int] = {}
    try:
        for file, content in withheld.masks(view.withheld).items():
            masks[file] = sealed(content)
            with contextlib.suppress(OSError):  # where nobody may write, nobody will
                (file.parent / "__pycache__").mkdir(
                    exist_ok=True
                )  # to be covered: what comes later would be seen
        command = bubblewrap.command(bubblewrap.SERVE, arguments, writer, view, masks)
        descriptors = [theirs.fileno(), writer, *masks.values()]
        process = _spawn(command, descriptors, {"PATH": os.environ.get("PATH", os.defpath)}, ours)
    except FileNotFoundError as error:
        ours.close()
        os.close(reader)
        raise JailError(str(error)) from None
    finally:
        for descriptor in (writer, *masks.values()):
            os.close(descriptor)
    process.jail = _handle_of_jail(reader)
    return process


def sealed(content: bytes) -> int:
    """A descriptor from which this can be read, and by which nobody can change it; no file has to be removed afterwards."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            return os.dup(file.fileno())
    descriptor = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def _plainly(arguments: list[str], ours: socket.socket, theirs: socket.socket, view: View) -> ServerProcess:
    scratch = tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX)
    variables = {**bubblewrap.variables(view), **bubblewrap.places(scratch.name)}
    variables["PATH"] = os.environ.get("PATH", os.defpath)
    package = str(bubblewrap.BESIDE.parent)
    command = [sys.executable, "-P", "-c", bubblewrap.SERVE, package, *arguments]
    process = _spawn(command, [theirs.fileno()], variables, ours)
    process.scratch = scratch
    return process


def _as_nobody(arguments: list[str], ours: socket.socket, theirs: socket.socket, view: View) -> ServerProcess:
    place = Place(view)
    variables = {**bubblewrap.variables(bubblewrap.NOTHING_MORE, place.library)}
    variables |= bubblewrap.places(str(place.scratch))
    try:
        become = bubblewrap.drop_privileges()
    except FileNotFoundError as error:
        place.cleanup()
        raise JailError(str(error)) from None
    command = [*become, sys.executable, "-P", "-c", bubblewrap.SERVE, str(place.server), *arguments]
    process = _spawn(command, [theirs.fileno()], variables, ours)
    process.scratch = place
    return process


LAUNCH = {"bwrap": _in_bubblewrap, "nobody": _as_nobody, "none": _plainly}
"""How a server is started, by the isolation."""


def _spawn(
    command: list[str], descriptors: list[int], variables: dict[str, str], ours: socket.socket
) -> ServerProcess:
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (the ServerProcess closes it)
    popen = subprocess.Popen(
        command,
        pass_fds=descriptors,
        env=variables,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=errors,
        stderr=errors,
        start_new_session=True,  # Ctrl-C in the terminal is for the engine to handle
    )
    return ServerProcess(popen, ours, errors)


def _handle_of_jail(reader: int) -> int | None:
    """bubblewrap says which process is its jail's first; None when it failed before."""
    with open(reader, "rb") as file:
        info = file.read()
    try:
        return os.pidfd_open(json.loads(info)["child-pid"])
    except (ValueError, KeyError, ProcessLookupError):
        return None


def _wait_until_ready(process: ServerProcess) -> None:
    if not select.select([process.control], [], [], START_SECONDS)[0]:
        raise JailError(f"The grading server was not ready after {START_SECONDS} s: {process.last_words()}.")
    message = process.control.recv(4096)
    if not message:
        ended = os.waitid(os.P_PID, process.popen.pid, os.WEXITED | os.WNOWAIT)  # `kill` needs its number
        if ended is not None and ended.si_status in KILLED:
            raise _Killed("The grading server was killed before it was ready.")
        raise JailError(_why_it_ended(process))
    if b"ready" not in message:
        raise JailError(
            f"The grading server began with {message[:80]!r} instead of reporting that it is ready."
        )


def _why_it_ended(process: ServerProcess) -> str:
    last_words = process.last_words()
    problem = bubblewrap.find_problem() if process.jail is None and process.scratch is None else None
    return problem or f"The grading server stopped before it was ready: {last_words}."
