"""Wall time, CPU time and memory of a command with everything that it starts."""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.jail.inside.isolation import CHILD_SUBREAPER
from autograder.jail.inside.kernel import prctl

LOOK_SECONDS = 0.5  # between looks at the memory, each of which takes some milliseconds a process
LOOK_SHARE = 0.01  # of the time, at most, is spent looking


@dataclass(frozen=True)
class Measured:
    """What a command took. Memory shared between processes counts once (PSS)."""

    wall: float
    cpu: float
    peak_bytes: int
    output: str


class Folders:
    """A new folder below `place` for each measurement.

    None is deleted before the end. For minutes after it ext4 passes over each deleted file whenever it makes one
    (`recently_deleted` in Linux's fs/ext4/ialloc.c): with those of the last measurement that took 4 ms a submission.
    """

    def __init__(self, place: Path):
        self._place = place
        self._latest: dict[str, Path] = {}

    def new(self, name: str) -> Path:
        """An empty one."""
        self._place.mkdir(parents=True, exist_ok=True)
        self._latest[name] = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._place))
        return self._latest[name]

    def latest(self, name: str) -> Path:
        """The last one that was made for `name`."""
        return self._latest[name]


def environment() -> dict[str, str]:
    """One thread for torch, as in the jail; nbgrader calls programs of its own by name."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "OMP_NUM_THREADS": "1", "PATH": path}


def run(command: list[str], cwd: Path, **variables: str) -> Measured:
    """Run a command to its end, with these environment variables besides. Raises CalledProcessError with its output if it fails."""
    os.sync()  # the hand-ins have just been made: writing them out is not the command's
    prctl("subreaper", CHILD_SUBREAPER, 1)  # processes that lose their parent come to us, and are counted
    before, began = _cpu_of_children(), time.monotonic()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment() | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        memory = _Memory(process.pid)
        memory.start()
        output, _ = process.communicate()
    wall = time.monotonic() - began
    memory.stop()
    with suppress(ChildProcessError):
        while os.waitpid(-1, 0):
            pass
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return Measured(wall, _cpu_of_children() - before, memory.peak, output)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Memory(threading.Thread):
    """Looks, every now and then, at the memory of a process and all below it."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.peak = 0
        self._process = psutil.Process(pid)
        self._stopped = threading.Event()

    def run(self) -> None:
        pause = LOOK_SECONDS
        while not self._stopped.wait(pause):
            began = time.thread_time()
            with suppress(psutil.NoSuchProcess):
                everyone = [self._process, *self._process.children(recursive=True)]
                self.peak = max(self.peak, sum(map(_proportional, everyone)))
            pause = max(LOOK_SECONDS, (time.thread_time() - began) / LOOK_SHARE)

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _proportional(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except (psutil.Error, OSError):
        return 0  # it has ended
