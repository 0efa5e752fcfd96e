"""The keeper's side of the socket: one agent at a time, the newest one wins."""

from __future__ import annotations

import os
import select
import socket

from belvedere.agent import wire
from belvedere.agent.state_folder import StateFolder, write_log
from belvedere.base.unix_sockets import short_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message

PIECE = 64 * 1024


class ControlSocket:
    __slots__ = (
        "_agent",
        "_is_behind",
        "_lines",
        "_listening",
        "_out",
        "_path",
        "_poll",
        "fd",
        "listening_fd",
        "losses",
    )

    def __init__(self, folder: StateFolder, poll: select.poll) -> None:
        self._path = folder.socket
        self._listening = _listen(folder)
        self.listening_fd = self._listening.fileno()
        self._poll = poll
        poll.register(self.listening_fd, select.POLLIN)
        self._agent: socket.socket | None = None
        self.fd = -1
        # How often the connection to an agent was lost.
        self.losses = 0
        self._lines = wire.JsonLines()
        self._out: list[bytes] = []
        # Whether the agent has not read all of it yet.
        self._is_behind = False

    def accept(self) -> None:
        """Unread messages of the former agent are dropped: the new agent is about to get the
        accepted orders, and nothing may be accepted after that without its knowledge."""
        try:
            agent, _ = self._listening.accept()
        except OSError:
            # It disconnected before the connection was accepted.
            return
        self.close()
        agent.setblocking(False)
        self._agent = agent
        self.fd = self._agent.fileno()
        self._poll.register(self.fd, select.POLLIN)
        self._is_behind = False
        self._lines = wire.JsonLines()

    def receive(self) -> list[Message]:
        assert self._agent is not None
        try:
            data = self._agent.recv(PIECE)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        try:
            if data:
                return self._lines.feed(data)
        except ValueError:
            write_log("message of the agent is not JSON; closing the connection")
        self.close()
        return []

    def send(self, message: Message) -> None:
        """Queue the message; it is sent at the end of the loop iteration."""
        if self._agent is not None:
            self._out.append(wire.pack(message))

    def flush(self) -> None:
        if not self._out or self._agent is None:
            return
        data = b"".join(self._out)
        try:
            size = self._agent.send(data)
        except BlockingIOError:
            size = 0
        except OSError:
            self.close()
            return
        rest = data[size:]
        if len(rest) > wire.TOO_FAR_BEHIND:
            self.close()
            return
        self._out = [rest] if rest else []
        if self._is_behind != bool(rest):
            self._is_behind = bool(rest)
            self._poll.modify(self.fd, select.POLLIN | (select.POLLOUT if rest else 0))

    def close(self) -> None:
        if self._agent is not None:
            self._poll.unregister(self.fd)
            self._agent.close()
            self.losses += 1
        self._agent = None
        self.fd = -1
        self._out = []

    def is_gone(self) -> bool:
        """Whether the state folder was removed: then no agent can connect any more."""
        return not os.path.exists(self._path)


def _listen(folder: StateFolder) -> socket.socket:
    path, fd = short_path(folder.root, "keeper.sock")
    # This process has the lock, so an existing socket belongs to a dead keeper.
    if os.path.lexists(folder.socket):
        os.unlink(folder.socket)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(path)
    finally:
        os.umask(before)
        if fd >= 0:
            os.close(fd)
    listening.listen(8)
    listening.setblocking(False)
    return listening
