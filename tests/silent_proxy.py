"""A TCP address of a PostgreSQL whose network can lose every packet without closing anything."""

import select
import socket
import threading
from urllib.parse import parse_qs, urlsplit, urlunsplit

SOCKET = ".s.PGSQL.5432"
# The shortest that libpq accepts.
CONNECT_TIMEOUT_S = 2


class SilentProxy:
    """Between a database and its clients; old and new connections can be made to hang."""

    def __init__(self, database_url: str) -> None:
        parts = urlsplit(database_url)
        self._target = f"{parse_qs(parts.query)['host'][0]}/{SOCKET}"
        self._is_closed = False
        # While set, new connections hang, too.
        self.hangs = False
        # A connection over which these bytes arrive hangs; the bytes are lost.
        self.hangs_at = b""
        self._hung: set[socket.socket] = set()
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        address = f"{parts.username}@127.0.0.1:{self._listening.getsockname()[1]}"
        query = f"connect_timeout={CONNECT_TIMEOUT_S}"
        self.url = urlunsplit(parts._replace(netloc=address, query=query))
        threading.Thread(target=self._accept, daemon=True).start()

    def hang(self) -> None:
        """Everything that is sent from now on is lost, without an error."""
        self.hangs = True
        self.hang_open()

    def hang_open(self) -> None:
        """The same for the connections that are open now; new ones work."""
        self._hung |= self._open

    def close(self) -> None:
        self._is_closed = True
        # Closing alone does not wake the thread that waits for a connection.
        self._listening.shutdown(socket.SHUT_RDWR)
        for end in {self._listening, *self._open}:
            end.close()

    def forward(self, data: bytes, target: socket.socket, *, is_response: bool) -> None:
        target.sendall(data)

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._target)
        ends = {client: server, server: client}
        self._open |= set(ends)
        if self.hangs:
            self._hung |= set(ends)
        while not self._is_closed:
            try:
                readable, _, _ = select.select(list(ends), [], [], 0.2)
                for end in readable:
                    data = end.recv(65_536)
                    if not data:
                        raise OSError
                    if self.hangs_at and self.hangs_at in data:
                        self._hung |= set(ends)
                    if end not in self._hung:
                        self.forward(data, ends[end], is_response=end is server)
            except (OSError, ValueError):
                break
        for end in ends:
            self._open.discard(end)
            end.close()
