"""Servers that no command has at the moment: one for students' notebooks and one for the solution."""

import json
import os
import select
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass, field

MESSAGE_BYTES = 4096


@dataclass(frozen=True)
class Server:
    """What it is for and what it is made of, and three descriptors: its socket, its last words, its jail's process 1."""

    key: str
    descriptors: tuple[int, ...]

    @property
    def lives(self) -> bool:
        """Nothing has come from it since it was given back: it says nothing of itself, and at its end it closes."""
        return not select.select([self.descriptors[0]], [], [], 0)[0]

    def close(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self.descriptors[2], signal.SIGKILL)
        for one in self.descriptors:
            os.close(one)


@dataclass
class Held:
    """By what they are for. One that is given takes the place of the one before."""

    servers: dict[str, Server] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.servers)

    def answer(self, command: socket.socket) -> bool:
        """Do what one message of a command asks for. False when there is none: it has ended."""
        words, descriptors, _, _ = socket.recv_fds(command, MESSAGE_BYTES, 3)
        if not words:
            return False
        request = json.loads(words)
        if request["does"] == "give" and len(descriptors) == 3:
            self._put(request["purpose"], Server(request["key"], tuple(descriptors)))
        elif request["does"] == "take":
            self._hand_out(command, request["purpose"], request["key"])
        return True

    @staticmethod
    def waits(command: socket.socket) -> bool:
        """Whether a command has said something, or has ended."""
        with suppress(OSError, ValueError):
            ready = select.select([command], [], [], 0)[0]
            return bool(ready) and bool(command.recv(1, socket.MSG_PEEK))
        return False

    def close(self) -> int:
        """End all. Returns how many there were."""
        count = len(self.servers)
        for server in self.servers.values():
            server.close()
        self.servers.clear()
        return count

    def _put(self, purpose: str, server: Server) -> None:
        if purpose in self.servers:
            self.servers[purpose].close()
        self.servers[purpose] = server

    def _hand_out(self, command: socket.socket, purpose: str, key: str) -> None:
        """The server, if it is the right one and alive. Another kind ends: the command starts one in its place."""
        server = self.servers.pop(purpose, None)
        if server is None or server.key != key or not server.lives:
            if server is not None:
                server.close()
            command.send(b"none")
            return
        socket.send_fds(command, [b"here"], list(server.descriptors))
        for one in server.descriptors:
            os.close(one)
