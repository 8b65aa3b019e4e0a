"""The engine's end of the jail: hands a server one job at a time and collects what comes back."""

import contextlib
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from autograder.checks.status import Ending
from autograder.errors import KernelFailed, ServerDied
from autograder.jail.inside.limits import Limits
from autograder.jail.inside.server import NO_ERRORS, NO_KERNEL
from autograder.jail.outside import cgroup
from autograder.jail.outside.bubblewrap import NOTHING_MORE, View, find_problem
from autograder.jail.outside.launch import LAUNCH, ForkedServer, ServerProcess, fork, sealed, start

__all__ = ["Zygote", "Outcome", "Server", "find_problem"]

ENDINGS = (Ending.FINISHED, Ending.TIMEOUT, Ending.MEMORY, Ending.OUTPUT, Ending.KILLED, Ending.DIED)
SILENCE_SECONDS = 20  # a server that runs a job says each second that it is alive
MOST_FRAMES = 10_000
CHUNK = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """What running one job gave. The frames are raw and untrusted: `frames.read_frame` reads them."""

    frames: tuple[bytes, ...]
    status: Ending
    seconds: float
    cpu_seconds: float
    peak_bytes: int  # resident in all its processes together, with what they share with the server


class Server:
    """A warm server; each job runs in a fork of it. One job at a time: each thread needs a server of its own.

    `view` says what it sees beside the Python environment and `autograder.checks`. `modules` are imported ahead.
    `process` starts it in another way.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        isolation: str = "bwrap",
        view: View = NOTHING_MORE,
        modules: Sequence[str] = (),
        process: Callable[[], ServerProcess | ForkedServer] | None = None,
    ):
        if isolation not in LAUNCH:
            raise ValueError(f"isolation is {isolation!r}; it must be one of {', '.join(LAUNCH)}")
        self.limits = limits or Limits()
        self.isolation = isolation
        self._start = process or partial(start, self.limits, isolation, view, modules)
        self._stopped = False
        self._process: ServerProcess | ForkedServer | None = self._start()
        self._group: cgroup.ControlGroup | None = None  # of the job that runs, or of the next

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, job: bytes, on_frame: Callable[[bytes], None] | None = None) -> Outcome:
        """Run one job. A server that dies or falls silent is replaced and the job run once more; then ServerDied.

        `on_frame` sees each frame as it comes (after a replacement, again from the first).
        """
        try:
            return self._run(job, on_frame)
        except ServerDied:
            if self._stopped:
                raise
            return self._run(job, on_frame)

    def stop(self) -> None:
        """Called from another thread: the job that runs ends as ServerDied, and no other begins."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.send_kill()

    def close(self) -> None:
        """End the server and everything in it. A later `run` starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._leave_group()

    def _run(self, job: bytes, on_frame: Callable[[bytes], None] | None) -> Outcome:
        if self._stopped:
            raise ServerDied("The grading server was told to stop.")
        self._process = self._process or self._start()
        self._group = self._group or cgroup.make(self.limits)
        reader = FrameReader(self.limits, on_frame or (lambda frame: None))
        try:
            return exchange(self._process.control, job, reader, self._group)
        except ServerDied as died:
            last_words = self._process.last_words()
            self._process.kill()
            self._process = None
            raise ServerDied(f"{died} Its last output: {last_words}") from None
        except BaseException:
            # Interrupted in the middle (by Ctrl-C, or by on_frame): this server still runs the job.
            self._process.kill()
            self._process = None
            raise
        finally:
            if self._group and not self._group.is_as_new():
                self._leave_group()

    def _leave_group(self) -> None:
        if self._group:
            self._group.remove()
            self._group = None


class Zygote:
    """A process that imports everything and runs no job, and the servers forked from it, which share what it imported.

    They share a jail, and each is process 1 of a namespace of its own. One that dies is replaced in milliseconds.
    Without process handles (elsewhere than on Linux) each server is started by itself.
    """

    def __init__(
        self,
        limits: Limits,
        isolation: str = "bwrap",
        view: View = NOTHING_MORE,
        modules: Sequence[str] = (),
    ):
        self.limits = limits
        self.isolation = isolation
        self.view = view
        self.modules = tuple(modules)
        self._forking = threading.Lock()
        self._process: ServerProcess | None = None
        self._starting: ServerProcess | None = None
        self._closed = False

    def start(self) -> None:
        """Import everything now, and not with the first server."""
        with self._forking:
            self._begin()

    def server(self) -> Server:
        """Another server, which ends with this process. Raises ServerDied or JailError when none can be started."""
        fork = self._fork if hasattr(os, "pidfd_open") else None  # without handles a server starts itself
        return Server(self.limits, self.isolation, self.view, self.modules, process=fork)

    def stop(self) -> None:
        """Called from another thread: what is starting ends, and nothing else begins."""
        self._closed = True
        starting = self._starting
        if starting is not None:
            starting.send_kill()

    def close(self) -> None:
        """End it, and with it all servers that it forked."""
        self.stop()
        with self._forking:
            if self._process is not None:
                self._process.close()
                self._process = None

    def _fork(self) -> ForkedServer:
        with self._forking:
            try:
                return self._ask_for_fork()
            except ServerDied:  # and with it all that it had forked
                return self._ask_for_fork()

    def _ask_for_fork(self) -> ForkedServer:
        process = self._begin()
        try:
            return fork(process, SILENCE_SECONDS)
        except OSError as error:
            last_words = process.last_words()
            self._end(process)
            raise ServerDied(
                f"The grading server was not forked: {error}. Its last output: {last_words}"
            ) from None
        except BaseException:  # Ctrl-C, too: an answer that nobody heard would be taken for the next one's
            self._end(process)
            raise

    def _begin(self) -> ServerProcess:
        self._require_open()
        if self._process is None:
            try:
                self._process = start(
                    self.limits, self.isolation, self.view, self.modules, self._remember_starting
                )
            finally:
                self._starting = None
        return self._process

    def _remember_starting(self, process: ServerProcess) -> None:
        self._starting = process
        self._require_open()

    def _require_open(self) -> None:
        if self._closed:
            raise ServerDied("The run is over.")

    def _end(self, process: ServerProcess) -> None:
        process.kill()
        self._process = None


@dataclass
class FrameReader:
    """Cuts the answer pipe's bytes into frames: eight bytes of length, then as many bytes."""

    limits: Limits
    on_frame: Callable[[bytes], None]
    frames: list[bytes] = field(default_factory=list)
    greeting: bytes | None = None  # the first frame, sent before the student's code: empty when all is well
    too_much: bool = False
    _size: int = 0
    _rest: bytearray = field(default_factory=bytearray)

    def read(self, pipe: int) -> bool:
        """Read what is there, without waiting for more. False at the end."""
        try:
            chunk = os.read(pipe, CHUNK)
        except BlockingIOError:
            return True
        self._size += len(chunk)
        self.too_much = self.too_much or self._size > self.limits.output_bytes
        if not self.too_much:
            self._rest += chunk
            self._cut()
        return bool(chunk)

    def drain(self, pipe: int) -> None:
        """Read what is left once the writer is dead. Never wait: somebody else may hold the pipe."""
        while not self.too_much and select.select([pipe], [], [], 0)[0] and self.read(pipe):
            pass

    def _cut(self) -> None:
        while len(self._rest) >= 8:
            end = 8 + int.from_bytes(self._rest[:8], "little")
            if end > self.limits.output_bytes or len(self.frames) >= MOST_FRAMES:
                self.too_much = True
                return
            if len(self._rest) < end:
                return
            frame = bytes(self._rest[8:end])
            del self._rest[:end]
            self._take(frame)

    def _take(self, frame: bytes) -> None:
        if self.greeting is None:
            self.greeting = frame
        else:
            self.frames.append(frame)
            self.on_frame(frame)


def exchange(
    control: socket.socket,
    job: bytes,
    reader: FrameReader,
    group: cgroup.ControlGroup | None,
) -> Outcome:
    """Hand over one job, which runs in `group`, and read its frames until the server reports its end.

    Raises ServerDied, or KernelFailed where the kernel of another language does not start.
    """
    answers, theirs = os.pipe()
    try:
        handles = [sealed(job), theirs, *(group.open() if group else [])]
        try:
            socket.send_fds(control, [b"run\n"], handles)
        except OSError as error:
            raise ServerDied(f"The grading server accepts no job ({error}).") from None
        finally:
            for handle in handles:
                os.close(handle)
        report = _read_until_report(control, answers, reader)
        reader.drain(answers)
    finally:
        os.close(answers)
    if reader.greeting is None:
        raise ServerDied(
            f"A fork of the grading server stopped ({report['status']}) before its notebook began."
        )
    if reader.greeting.startswith(NO_KERNEL.encode()):
        said = reader.greeting.decode(errors="replace").removeprefix(NO_KERNEL).rstrip(".")
        raise KernelFailed(
            f"No notebook was run, because the kernel does not start where notebooks are graded. It said: {said}. If it starts in "
            'Jupyter, it may need a folder that the jail does not show: name that folder in the "env" of its kernel.json.'
        )
    if reader.greeting == NO_ERRORS.encode():
        raise KernelFailed(
            "No notebook was run, because the kernel reports no errors: given a cell that is not a program in any language, it reports success and "
            "prints nothing. Every test would earn its points (in nbgrader, too). Use another kernel for this language."
        )
    if reader.greeting:
        raise ServerDied(
            f"No notebook could begin: {reader.greeting[-1000:].decode(errors='replace').strip()}"
        )
    status = Ending.OUTPUT if reader.too_much else Ending(report["status"])
    numbers = {name: report[name] for name in ("seconds", "cpu_seconds", "peak_bytes")}
    return Outcome(tuple(reader.frames), status, **numbers)


def _read_until_report(control: socket.socket, answers: int, reader: FrameReader) -> dict[str, Any]:
    """Read frames until the report comes."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(answers, select.POLLIN)
    last_message, stopped = time.monotonic(), False
    while True:
        ready = dict(poll.poll(1000 * SILENCE_SECONDS))
        if control.fileno() in ready:
            last_message = time.monotonic()
            report = _report(control)
            if report is not None:
                return report
        elif time.monotonic() - last_message > SILENCE_SECONDS:
            raise ServerDied(f"The grading server has been silent for {SILENCE_SECONDS:g} s.")
        if answers in ready and not reader.read(answers):
            poll.unregister(answers)
        if reader.too_much and not stopped:
            stopped = True
            with contextlib.suppress(OSError):  # if it is gone, the next reading notices
                control.send(b"stop\n")


def _report(control: socket.socket) -> dict[str, Any] | None:
    """The report in the server's message, or None when the message only says that it is alive."""
    try:
        message = control.recv(4096)
    except OSError:
        message = b""
    if not message:
        raise ServerDied("The grading server stopped while it was running a job.")
    try:
        report = json.loads(message.splitlines()[-1])
    except ValueError:
        report = None
    if isinstance(report, dict) and list(report) == ["alive"]:
        return None
    if not _is_report(report):
        raise ServerDied(f"The grading server said {message[:80]!r}, which is not a report.")
    return report


def _is_report(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("status") not in ENDINGS:
        return False
    return all(type(message.get(name)) in (int, float) for name in ("seconds", "cpu_seconds", "peak_bytes"))
