"""The daemon: waits for commands, forks for each, and holds the servers that they give back."""

import ctypes
import gc
import json
import os
import random
import selectors
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module

from autograder.daemon import place
from autograder.daemon.client import FORWARDED
from autograder.daemon.held import Held
from autograder.jail.inside.isolation import DEATH_SIGNAL
from autograder.jail.inside.kernel import prctl
from autograder.jail.outside import standing
from autograder.jail.outside.launch import SOCKET_KIND

AT_ONCE = "autograder.cli"
MEANWHILE = (
    "autograder.grading.run",
    "autograder.gradebook.gradebook",
    "autograder.report",
    "autograder.daemon.ready",
)
"""Imported while nobody waits."""
LOOK_SECONDS = 5.0
"""How often it looks whether its own code has changed, and whether its time is over."""
REQUEST_SECONDS, REQUEST_BYTES = 10.0, 16 << 20
SUBREAPER = 36  # of prctl: servers whose command has ended become our children


@dataclass
class Session:
    """A command that is running."""

    client: socket.socket
    servers: socket.socket  # by which it asks for servers, and gives them back
    child: int
    handle: int
    heard: bytes = b""


@dataclass
class Daemon:
    """Serves until so many seconds after the end of a command as the last one named."""

    listening: socket.socket
    address: str
    held: Held = field(default_factory=Held)
    sessions: dict[int, Session] = field(default_factory=dict)
    stay: float = field(default_factory=place.stay_seconds)

    def __post_init__(self) -> None:
        self.ends = time.monotonic() + self.stay
        self.made_of, self.file = place.identity(), os.stat(self.address).st_ino
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listening, selectors.EVENT_READ, self.begin)

    def serve(self) -> None:
        later = list(MEANWHILE)
        while self.sessions or time.monotonic() < self.ends:
            idle = not self.sessions
            for key, _ in self.selector.select(0 if idle and later and self.held else LOOK_SECONDS):
                key.data()
            self.reap()
            if self.sessions:
                continue
            if later and self.held:  # the first command is over
                import_module(later.pop(0))
                gc.freeze()
            elif not later and place.identity() != self.made_of:
                break

    def close(self) -> None:
        with suppress(OSError):  # a daemon that came later has another socket there
            if os.stat(self.address).st_ino == self.file:
                os.unlink(self.address)
        self.held.close()

    # -------------------------------------------------------------------------------------------- commands

    def begin(self) -> None:
        """Read what a command is made of, and fork for it."""
        client, _ = self.listening.accept()
        try:
            request, descriptors = read_request(client)
        except (OSError, ValueError):
            client.close()
            return
        self.stay = place.stay_seconds(request["environment"])
        if request["argv"] == ["stop"]:
            self.stop(client, descriptors)
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
        daemon, child = os.getpid(), os.fork()
        if child == 0:
            end_with(daemon)
            self.let_go(client, ours)
            become(request, descriptors, theirs)
        theirs.close()
        for descriptor in descriptors:
            os.close(descriptor)
        session = Session(client, ours, child, os.pidfd_open(child))
        self.sessions[child] = session
        with suppress(OSError):  # a client that has died meanwhile ends its own command, when we hear of it
            client.sendall(b"begun\n")
        for file, call in (
            (client, self.hear_client),
            (ours, self.hear_command),
            (session.handle, lambda session: None),
        ):
            self.selector.register(file, selectors.EVENT_READ, lambda call=call: call(session))

    def let_go(self, *sockets: socket.socket) -> None:
        """In the fork: nothing of the daemon's may be closed by accident, for its numbers will be others'."""
        for held in (self.listening, *sockets, *(session.client for session in self.sessions.values())):
            held.detach()
        for session in self.sessions.values():
            session.servers.detach()
        self.selector.close()

    def hear_client(self, session: Session) -> None:
        """Signals, as numbers. When the client is gone, so is its command."""
        try:
            heard = session.client.recv(4096)
        except OSError:
            heard = b""
        if not heard:
            self.selector.unregister(session.client)
            signal.pidfd_send_signal(session.handle, signal.SIGKILL)
            return
        *lines, session.heard = (session.heard + heard).split(b"\n")
        for number in lines:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(session.handle, int(number))

    def hear_command(self, session: Session) -> None:
        try:
            if not self.held.answer(session.servers):
                self.selector.unregister(session.servers)
        except OSError:
            self.selector.unregister(session.servers)

    def reap(self) -> None:
        """Tell the clients whose command has ended how. Servers that ended are waited for, too."""
        with suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if not child:
                    return
                if child in self.sessions:
                    self.end(self.sessions.pop(child), os.waitstatus_to_exitcode(status))

    def end(self, session: Session, status: int) -> None:
        while self.held.waits(session.servers):  # what it gave back before it ended
            self.hear_command(session)
        for file in (session.client, session.servers, session.handle):
            with suppress(KeyError):
                self.selector.unregister(file)
        with suppress(OSError):
            session.client.sendall(f"{status}\n".encode())
        session.client.close()
        session.servers.close()
        os.close(session.handle)
        self.ends = time.monotonic() + self.stay

    def stop(self, client: socket.socket, descriptors: list[int]) -> None:
        """The command `autograder stop`."""
        sentence = "Ended the server that stayed.\n" if self.held.close() else "No server stayed.\n"
        with suppress(OSError):
            os.write(descriptors[1], sentence.encode())
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(OSError):
            client.sendall(b"begun\n0\n")
        client.close()
        self.stay = self.ends = 0.0  # also when a command is still running


def read_request(client: socket.socket) -> tuple[dict, list[int]]:
    """What a client hands over. Raises OSError, or ValueError for one of another user or in another form."""
    client.settimeout(REQUEST_SECONDS)
    _, user, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user != os.getuid():
        raise ValueError("another user")
    head, descriptors, _, _ = socket.recv_fds(client, 8, 3)
    size, body = int.from_bytes(head, "little"), bytearray()
    while len(body) < min(size, REQUEST_BYTES):
        more = client.recv(1 << 16)
        if not more:
            break
        body += more
    client.settimeout(None)
    if len(descriptors) != 3 or len(body) != size:
        for descriptor in descriptors:
            os.close(descriptor)
        raise ValueError("no request")
    return json.loads(body), descriptors


def end_with(daemon: int) -> None:
    """In a fork of it: when it is killed, so is the command, whose client cannot reach it any more."""
    prctl("death signal", DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != daemon:  # killed before that
        os._exit(1)


def become(request: dict, descriptors: list[int], servers: socket.socket) -> None:
    """The fork's life: take the client's place, run the command as if it had just been started. Never returns."""
    status = 1
    try:
        os.setsid()
        for number in FORWARDED:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if number in request["ignored"] else usual)
        for target, source in enumerate(descriptors):
            os.dup2(source, target)
        channel = servers.fileno()
        os.closerange(3, channel)
        os.closerange(channel + 1, os.sysconf("SC_OPEN_MAX"))
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        os.umask(request["umask"])
        sys.argv = ["autograder", *request["argv"]]
        sys.stdin, sys.stdout, sys.stderr = (stream(number) for number in (0, 1, 2))
        random.seed()
        gc.enable()
        standing.by(servers)
        status = run_command()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for file in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                file.flush()
        os._exit(status)


def stream(number: int):
    """Standard input, output or error, as Python makes them when it starts."""
    writes = number > 0
    errors = "backslashreplace" if number == 2 else sys.stdout.errors
    return open(  # noqa: SIM115 (open until the process ends)
        number,
        "w" if writes else "r",
        encoding=sys.stdout.encoding,
        errors=errors,
        buffering=1 if number == 2 or writes and os.isatty(number) else -1,
        closefd=False,
    )


def run_command() -> int:
    from autograder import cli

    cli.console.__init__()  # which looks at the streams and the environment
    try:
        cli.main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            return 1
        return ended.code or 0
    return 0


def main(arguments: list[str]) -> None:
    """Arguments: the descriptor of the listening socket, and its address."""
    descriptor, address = arguments
    listening = socket.socket(fileno=int(descriptor))
    gc.disable()  # what is imported does not become garbage
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    import_module(AT_ONCE)
    daemon = Daemon(listening, address)
    gc.freeze()
    try:
        daemon.serve()
    finally:
        daemon.close()
