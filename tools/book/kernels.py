"""Kernels forked by a server that has imported the large libraries: a new process spends five to seven seconds of CPU time on that.

The server is that of multiprocessing, so a kernel depends on nothing that this process has imported or drawn. This is for
Linux: elsewhere there is no such server, or forking is unsafe with these libraries.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from jupyter_client import KernelConnectionInfo, LocalProvisioner

SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
}
"""Environment variables of every kernel, which the libraries read while they are imported."""


class ForkedKernel(LocalProvisioner):
    """Launches a kernel's process and looks after it, as jupyter_client asks its provisioners to."""

    process: BaseProcess | None

    async def launch_kernel(self, cmd: list[str], **how: Any) -> KernelConnectionInfo:
        """`cmd` is the command with which a new process would be started."""
        context = get_context("forkserver")
        context.set_forkserver_preload(["tools.book.libraries"])
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        self.process = context.Process(target=_serve, args=(arguments, str(how["cwd"]), how["env"]))
        self.process.start()
        return self.connection_info

    async def poll(self) -> int | None:
        """The exit status, or None while the kernel runs."""
        return self.process.exitcode if self.process else 0

    async def wait(self) -> int | None:
        """The exit status, once the kernel has ended."""
        while (status := await self.poll()) is None:
            await asyncio.sleep(0.1)
        self.process = None
        return status

    async def send_signal(self, signum: int) -> None:
        """As `os.kill`; nothing if the kernel has ended."""
        if self.process and self.process.pid and await self.poll() is None:
            os.kill(self.process.pid, signum)


def _serve(arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    """What the process does. The kernel's own warnings are nobody's; what cells write to stderr comes by another way."""
    Thread(target=_end_with_book, daemon=True).start()
    os.setsid()  # Ctrl-C in the terminal is for the parent
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


def _end_with_book() -> None:
    """End this process when the one that asked for it has ended, even if that was killed. ipykernel watches the server alone."""
    if book := parent_process():
        book.join()
    os._exit(1)
