"""Servers that outlive a command: the daemon lends them, and gets them back. Where there is no daemon, nothing stays."""

import json
import os
import select
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b

from autograder.jail.inside.limits import Limits
from autograder.jail.outside.bubblewrap import View, package_folder
from autograder.jail.outside.launch import CLOSE_SECONDS, ServerProcess, last_words
from autograder.signature import signature

_lender: socket.socket | None = None
_asking = threading.Lock()


@dataclass
class StandingServer:
    """A running server that another command has started."""

    control: socket.socket
    errors: int
    jail: int | None  # handle of the jail's process 1, with which all others end

    def last_words(self) -> str:
        return last_words(self.errors)

    def close(self) -> None:
        """Let it end: it does when its socket closes."""
        self.control.close()
        if self.jail is not None:
            select.select([self.jail], [], [], CLOSE_SECONDS)
        self.kill()

    def send_kill(self) -> None:
        if self.jail is not None:
            with suppress(OSError):  # it has ended, or another thread has closed the handle
                signal.pidfd_send_signal(self.jail, signal.SIGKILL)

    def kill(self) -> None:
        self.send_kill()
        self.control.close()
        if self.jail is not None:
            os.close(self.jail)
            os.close(self.errors)
            self.jail = None


def by(lender: socket.socket) -> None:
    """From now on this process asks there."""
    global _lender
    _lender = lender


def made_of(limits: Limits, isolation: str, view: View, modules: Sequence[str]) -> str:
    """A name of a server that changes with all that it has read, or shows."""
    shown = [*map(package_folder, view.packages), *view.readable]
    description = json.dumps([limits.to_json(), isolation, repr(view), list(modules)]).encode()
    return blake2b(description + signature(shown), digest_size=16).hexdigest()


def take(key: str) -> StandingServer | None:
    """A server that waits, and that nobody else has from now on."""
    if _lender is None:
        return None
    with _asking, suppress(OSError):
        _lender.send(json.dumps({"does": "take", "key": key}).encode())
        answer, descriptors, _, _ = socket.recv_fds(_lender, 16, 3)
        if answer == b"here" and len(descriptors) == 3:
            control, errors, jail = descriptors
            return StandingServer(socket.socket(fileno=control), errors, jail)
    return None


def give(key: str, process: ServerProcess | StandingServer) -> bool:
    """Give a server back, or another that may stay. False where it cannot: then it is to be closed."""
    if _lender is None or process.jail is None:
        return False
    errors = process.errors if isinstance(process, StandingServer) else process.errors.fileno()
    message = json.dumps({"does": "give", "key": key}).encode()
    with _asking, suppress(OSError):
        socket.send_fds(_lender, [message], [process.control.fileno(), errors, process.jail])
        process.control.close()  # it stays open there
        return True
    return False
