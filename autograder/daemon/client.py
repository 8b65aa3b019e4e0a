"""What the command `autograder` does first: give itself to the daemon, or do everything itself.

Imports little, for this is what one waits for.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import sys

STARTS = frozenset({"grade", "grade-mine"})
"""Commands that start servers, and so a daemon that keeps them."""
USES = STARTS | {"collect", "export", "feedback", "regrade", "report", "stop", "try", "watch"}
"""Commands that a daemon does sooner, if there is one."""
FORWARDED = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT
SELDOM = 50_000, 20, 100
"""When the collector looks for garbage: grading makes little, and looking as often as Python does takes a tenth of its time."""
START = "import sys; from autograder.daemon.process import main; main(sys.argv[1:])"


def main() -> None:
    """The console command."""
    status = given_away(sys.argv[1:])
    if status is None:
        gc.disable()  # what is imported does not become garbage
        from autograder.cli import main as command

        gc.freeze()
        gc.set_threshold(*SELDOM)
        gc.enable()
        command()
        return
    if status < 0:  # ended by a signal: so do we, for whoever waits for us
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def given_away(arguments: list[str]) -> int | None:
    """The exit status of the command that the daemon ran, negative for a signal; None when it ran none."""
    command = arguments[0] if arguments else ""
    if command not in USES or not hasattr(os, "pidfd_open"):
        return None
    from autograder.daemon import place  # which only Linux can import

    folder = place.folder() if place.stay_seconds() else None
    if folder is None:
        return None
    with contextlib.suppress(OSError, NotImplementedError):
        address = os.path.join(folder, place.identity())
        daemon = _connected(address) or (_started(address) if command in STARTS else None)
        if daemon is not None:
            with daemon:
                return _ran(daemon, arguments)
    return None


def _connected(address: str) -> socket.socket | None:
    daemon = socket.socket(socket.AF_UNIX)
    try:
        daemon.connect(address)
    except OSError:  # there is none, or it has ended without taking its socket away
        daemon.close()
        return None
    return daemon


def _started(address: str) -> socket.socket:
    """Start a daemon, and connect to it before it listens: it inherits the socket."""
    with socket.socket(socket.AF_UNIX) as listening:
        aside = f"{address}.{os.getpid()}"
        listening.bind(aside)
        listening.listen(16)
        os.rename(aside, address)  # one moment: another command finds the old one, or this
        nothing = os.open(os.devnull, os.O_RDWR)
        log = os.open(
            os.path.join(os.path.dirname(address), "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )
        command = [sys.executable, "-P", "-c", START, str(listening.fileno()), address]
        os.set_inheritable(listening.fileno(), True)
        actions = [(os.POSIX_SPAWN_DUP2, file, to) for to, file in enumerate((nothing, nothing, log))]
        # What this command ignores, as under nohup, others do not.
        os.posix_spawn(
            sys.executable, command, os.environ, file_actions=actions, setsid=True, setsigdef=FORWARDED
        )
        os.close(nothing)
        os.close(log)
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(address)
        return daemon


def _ran(daemon: socket.socket, arguments: list[str]) -> int | None:
    """Hand over what a command is made of and wait for its end."""
    mask = os.umask(0o077)
    os.umask(mask)
    ignored = [number for number in FORWARDED if signal.getsignal(number) == signal.SIG_IGN]
    request = {
        "argv": arguments,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "umask": mask,
        "ignored": ignored,
    }
    body = json.dumps(request).encode()
    socket.send_fds(
        daemon, [len(body).to_bytes(8, "little")], [_open_or_nothing(number) for number in (0, 1, 2)]
    )
    daemon.sendall(body)
    before = {
        number: signal.signal(number, _forwarding(daemon)) for number in FORWARDED if number not in ignored
    }
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, _stopping(daemon))
    try:
        return _status(daemon)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _status(daemon: socket.socket) -> int | None:
    begun, heard = False, b""
    while True:
        try:
            more = daemon.recv(4096)
        except ConnectionError:
            more = b""
        if not more:
            break
        *lines, heard = (heard + more).split(b"\n")
        for line in lines:
            if line == b"begun":
                begun = True
            else:
                return int(line)
    if begun:
        sys.exit(
            "The command ended with the process that ran it, which was killed. Run it again: it goes on where it was."
        )
    return None


def _forwarding(daemon: socket.socket):
    def forward(number: int, frame: object) -> None:
        with contextlib.suppress(OSError):
            daemon.send(f"{number}\n".encode())

    return forward


def _stopping(daemon: socket.socket):
    """Ctrl+Z: the command stops, too, until the shell goes on with it."""

    def stop(number: int, frame: object) -> None:
        daemon.send(f"{int(signal.SIGSTOP)}\n".encode())
        os.kill(os.getpid(), signal.SIGSTOP)
        daemon.send(f"{int(signal.SIGCONT)}\n".encode())

    return stop


def _open_or_nothing(number: int) -> int:
    """A descriptor, or one of nothing where it is closed."""
    try:
        os.fstat(number)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)
    return number
