"""The server that no command has at the moment."""

import json
import os
import select
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass

MESSAGE_BYTES = 4096


@dataclass(frozen=True)
class IdleServer:
    """What it is made of, and three descriptors: its socket, its last words, its jail's process 1."""

    key: str
    descriptors: tuple[int, ...]

    @property
    def lives(self) -> bool:
        """Nothing has come from it since it was given back: it says nothing of itself, and at its end it closes."""
        return not select.select([self.descriptors[0]], [], [], 0)[0]

    def close(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self.descriptors[2], signal.SIGKILL)
        for descriptor in self.descriptors:
            os.close(descriptor)


@dataclass
class Held:
    """One at most: another that is given takes its place, and so does the one that a command starts."""

    server: IdleServer | None = None

    def __bool__(self) -> bool:
        return self.server is not None

    def answer(self, command: socket.socket) -> bool:
        """Do what one message of a command asks for. False when there is none: it has ended."""
        message, descriptors, _, _ = socket.recv_fds(command, MESSAGE_BYTES, 3)
        if not message:
            return False
        request = json.loads(message)
        if request["does"] == "give" and len(descriptors) == 3:
            self.close()
            self.server = IdleServer(request["key"], tuple(descriptors))
        elif request["does"] == "take":
            self._hand_out(command, request["key"])
        return True

    @staticmethod
    def waits(command: socket.socket) -> bool:
        """Whether a command has said something that was not yet read."""
        with suppress(OSError, ValueError):
            ready = select.select([command], [], [], 0)[0]
            return bool(ready) and bool(command.recv(1, socket.MSG_PEEK))
        return False

    def close(self) -> bool:
        """End it. Returns whether there was one."""
        ended, self.server = self.server, None
        if ended is not None:
            ended.close()
        return ended is not None

    def _hand_out(self, command: socket.socket, key: str) -> None:
        """The server, if it is the right one and alive. Another ends: the command starts one in its place."""
        if self.server is None or self.server.key != key or not self.server.lives:
            self.close()
            command.send(b"none")
            return
        server, self.server = self.server, None
        socket.send_fds(command, [b"here"], list(server.descriptors))
        for descriptor in server.descriptors:
            os.close(descriptor)
