"""A TCP address of a PostgreSQL whose connections are reset in the middle of a response."""

import socket
import struct
import threading

from silent_proxy import SilentProxy

# With a linger time of zero, close sends a reset in place of the end of the data.
NO_LINGER = struct.pack("ii", 1, 0)


class ResettingProxy(SilentProxy):
    """Resets the connection that carries a certain byte of the responses, once."""

    def __init__(self, database_url: str) -> None:
        super().__init__(database_url)
        self._lock = threading.Lock()
        self._remaining: int | None = None

    def reset_after(self, count: int) -> None:
        """So many bytes of responses are passed on from now on, over all connections."""
        with self._lock:
            self._remaining = count

    @property
    def is_armed(self) -> bool:
        return self._remaining is not None

    def forward(self, data: bytes, target: socket.socket, *, is_response: bool) -> None:
        if is_response and (count := self._count_before_reset(len(data))) is not None:
            target.sendall(data[:count])
            target.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            raise ConnectionResetError
        super().forward(data, target, is_response=is_response)

    def _count_before_reset(self, size: int) -> int | None:
        """How many of these bytes are still passed on; None if all of them are."""
        with self._lock:
            if self._remaining is None:
                return None
            if self._remaining >= size:
                self._remaining -= size
                return None
            count, self._remaining = self._remaining, None
            return count
