"""The server: a process in the jail that has imported everything once, and forks for each submission.

It never reads a job, or the next fork would inherit it. A message brings two descriptors, the job and the
pipe for the answers; only the child reads and writes them. Another kind of message brings a socket, and the process
forks a server that answers on it. A process that is asked for servers, and for nothing else, is a zygote: what it
has imported is in memory once for all of them.
"""

import contextlib
import fcntl
import gc
import importlib
import os
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from . import watch
from .isolation import Jailed, Plain
from .limits import Limits

if TYPE_CHECKING:
    from .another_kernel import Kernel
    from .runner import Job

MOST_DESCRIPTORS = 8  # of a message: the job, the pipe, and those of a control group
OPEN_FILES = 256  # at least, of the kernel of another language: R does not start with fewer than 167
NO_KERNEL = "No kernel: "
"""How the first frame begins where the kernel of another language does not start. What it said follows."""
NO_ERRORS = "No errors"
"""The first frame where that kernel calls every cell complete."""
ANSWERS, JOB = 3, 4  # a child's only descriptors, beside three that lead nowhere


def main(arguments: list[str]) -> None:
    """Serve until the client closes the socket.

    Arguments: its descriptor, the isolation, the limits, the folder of the kernel ("": notebooks in Python), modules.
    """
    began = time.monotonic()
    control = socket.socket(fileno=int(arguments[0]))
    kernel = arguments[3]
    isolation = Jailed() if arguments[1] == "bwrap" else Plain(own_user=arguments[1] == "nobody")
    limits = Limits.from_json(arguments[2])
    if kernel:
        limits = replace(limits, open_files=max(limits.open_files, OPEN_FILES))
    isolation.before_imports()
    with ending_with(control):
        shell = prepare_for(kernel) if kernel else prepare(limits, arguments[4:])
    isolation.after_imports()
    watch.say(control, {"ready": time.monotonic() - began})
    serve(control, isolation, shell, limits)
    isolation.end()
    os._exit(0)


@contextlib.contextmanager
def ending_with(control: socket.socket) -> Iterator[None]:
    """While the imports last nobody reads the socket: let the kernel end this process when its client goes."""
    flags = fcntl.fcntl(control, fcntl.F_GETFL)
    fcntl.fcntl(control, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(
        control, fcntl.F_SETFL, flags | os.O_ASYNC
    )  # until then the client says nothing: SIGIO ends us
    yield
    fcntl.fcntl(control, fcntl.F_SETFL, flags)


def prepare(limits: Limits, modules: Sequence[str]):
    """Import and make, once, what every notebook needs, and `modules`. Starts no thread. Returns the shell."""
    gc.disable()  # nothing made here becomes garbage, and looking for it takes a fifth of the time
    del sys.path[0]  # it led to this package, whose parts no notebook shall import by accident
    # start-up: once for all forks, and uncounted by the collector. numpy imports its random numbers when they are first
    # used: each fork would, for 8 ms.
    import numpy.random  # noqa: F401

    import autograder.checks.checking
    import autograder.checks.predicting  # noqa: F401

    from . import runner, shell  # noqa: F401

    shell.pose_as_kernel()  # before a module looks for one
    for name in modules:
        importlib.import_module(name)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.set_num_interop_threads(1)
    made = shell.make_shell(limits)
    shell.warm_up(made)
    gc.freeze()  # else each fork's collector writes to every page, and copies it by that
    gc.enable()
    return made


def prepare_for(kernel: str) -> str:
    """Import what talks to the kernel of another language, whose folder this is. Returns it, in the shell's place."""
    del sys.path[0]
    # start-up: once for all forks
    from . import another_kernel  # noqa: F401

    gc.freeze()
    return kernel


def serve(control: socket.socket, isolation: Jailed | Plain, shell, limits: Limits) -> None:
    """One submission at a time. Only who runs none forks others: they shall be born of a clean server."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 64, MOST_DESCRIPTORS)
        if not message:
            return
        if b"fork" in message and len(descriptors) == 1:
            control = fork_server(control, descriptors[0], isolation)
            continue
        if b"run" not in message or len(descriptors) < 2:
            continue  # "stop", for a submission that had just ended
        job, answers, *groups = descriptors
        count = watch.count_threads()
        assert count == 1, f"the server runs {count} threads; a fork would lose all but one"
        began = time.monotonic()
        pid = isolation.fork()
        if pid == 0:
            live(control, job, answers, groups, isolation, shell, limits)
        report = watch.watch(pid, limits, control, began)
        for descriptor in descriptors:
            os.close(descriptor)
        isolation.clear_away()
        watch.say(control, report)


def fork_server(control: socket.socket, theirs: int, isolation: Jailed | Plain) -> socket.socket:
    """Fork another server and tell the client by which handle it is killed. Each goes on with its own socket."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # those that ended
            pass
    pid = isolation.fork_server()
    if pid == 0:
        control.close()
        control = socket.socket(fileno=theirs)
        watch.say(control, {"ready": 0.0})
        return control
    os.close(theirs)
    handle = os.pidfd_open(pid)
    with contextlib.suppress(BrokenPipeError):
        socket.send_fds(control, [b"forked\n"], [handle])
    os.close(handle)
    return control


def live(
    control: socket.socket,
    job: int,
    answers: int,
    groups: Sequence[int],
    isolation: Jailed | Plain,
    shell,
    limits: Limits,
):
    """The child's life: take leave of the server, enter the jail, run the notebook. Never returns.

    The first frame says that the notebook begins, by being empty, or else what went wrong. After that only
    the student's code is to blame for what happens here.
    """
    code = 1
    try:
        try:
            control.detach()
            for group in groups:
                with contextlib.suppress(OSError):  # an ordinary user may make groups that nobody may enter
                    os.write(group, b"0")
            keep_only(job, answers)
            isolation.enter(limits)
            from . import runner  # start-up: `prepare` has imported it

            with open(JOB, "rb") as file:
                notebook = runner.read_job(file.read())
            kernel = begin_kernel(shell, notebook) if isinstance(shell, str) else None
        except BaseException:
            send(traceback.format_exc().encode())
            raise
        send(b"")
        if kernel:
            from . import another_kernel  # start-up: servers of Python notebooks do without

            code = another_kernel.run_job(notebook, kernel, limits, send)
        else:
            runner.run_job(notebook, shell, limits, send)
            code = watch.FINISHED
    finally:
        os._exit(code)


def begin_kernel(folder: str, notebook: "Job") -> "Kernel":
    """Start the kernel of another language. Says what is wrong with it, and raises, where it does not start."""
    from . import another_kernel  # start-up: `prepare_for` has imported it

    try:
        return another_kernel.begin(folder, notebook)
    except another_kernel.NoKernel as error:
        send(f"{NO_KERNEL}{error}".encode())
        raise
    except another_kernel.NoErrors:
        send(NO_ERRORS.encode())
        raise


def keep_only(job: int, answers: int) -> None:
    """Close every descriptor but those two; none of the server's is the child's business."""
    nothing = os.open(os.devnull, os.O_RDWR)
    # Out of the way first: the numbers they came with may be those that they go to.
    sources = [
        nothing,
        nothing,
        nothing,
        *(fcntl.fcntl(descriptor, fcntl.F_DUPFD, 16) for descriptor in (answers, job)),
    ]
    for target, source in enumerate(sources):
        os.dup2(source, target, inheritable=target < ANSWERS)
    os.closerange(JOB + 1, os.sysconf("SC_OPEN_MAX"))


def send(frame: bytes) -> None:
    """Write a frame: its length in eight bytes, then itself."""
    rest = memoryview(len(frame).to_bytes(8, "little") + frame)
    while rest:
        rest = rest[os.write(ANSWERS, rest) :]
