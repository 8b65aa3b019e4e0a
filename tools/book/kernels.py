"""Kernels in which the large libraries are already imported: a new process needs five to seven seconds of CPU time for that.

They are forked from this process before it has threads or has drawn a figure, and wait until they are needed. This is for
Linux only: elsewhere fork() does not exist or is unsafe with these libraries.
"""

import gc
import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.context import ForkProcess
from typing import Any

from jupyter_client import KernelConnectionInfo, LocalProvisioner

LIBRARIES = "ipykernel.kernelapp", "matplotlib.pyplot", "torch._dynamo", "transformers.generation", "pandas"
INLINE = "module://matplotlib_inline.backend_inline"


class WaitingKernel(ForkProcess):
    """A process that becomes a kernel when it is told to, with the methods of subprocess.Popen that LocalProvisioner uses."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        super().__init__()
        self._told, self._tell = Pipe(duplex=False)
        self.start()

    def become(self, arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        """`arguments` are those of ipykernel_launcher."""
        self._tell.send((arguments, folder, environment))

    def run(self) -> None:
        """What the process does."""
        os.setsid()  # the terminal's Ctrl-C goes to the parent alone, as with other kernels
        parent = os.getppid()
        while not self._told.poll(1.0):
            if os.getppid() != parent:  # the parent was killed
                return
        arguments, folder, environment = self._told.recv()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)  # as execution.py does with kernels that are new processes
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        import matplotlib  # the parent has imported both, only for this
        from ipykernel.kernelapp import launch_new_instance

        matplotlib.rcParams["backend"] = INLINE  # ipykernel sets a variable that is read on import
        launch_new_instance([*arguments, f"--IPKernelApp.parent_handle={parent}"])

    def poll(self) -> int | None:
        """The exit status, or None while the process runs."""
        return self.exitcode

    def wait(self) -> int | None:
        """The exit status, once the process has ended."""
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        """As `os.kill`; nothing if the process has ended."""
        if self.pid and self.is_alive():
            os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """Launches a kernel in a waiting process."""

    def __init__(self, waiting: WaitingKernel, **traits: Any) -> None:
        super().__init__(**traits)
        self._waiting = waiting

    async def launch_kernel(self, cmd: list[str], **how: Any) -> KernelConnectionInfo:
        """Called by the kernel's manager."""
        start = cmd.index("ipykernel_launcher") + 1
        self._waiting.become(cmd[start:], str(how["cwd"]), how["env"])
        self.process = self._waiting
        self.pid = self.pgid = self._waiting.pid
        return self.connection_info


@contextmanager
def waiting_kernels(number: int) -> Iterator[list[WaitingKernel]]:
    """That many waiting processes. All of them have ended when the context is left, also those that became kernels."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # the processes share what is there, and need not examine it
    forked = [WaitingKernel() for _ in range(number)]
    gc.unfreeze()
    try:
        yield forked.copy()
    finally:
        for process in forked:
            process.kill()
            process.join()
