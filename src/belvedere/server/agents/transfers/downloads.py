"""Sends scripts and file arguments to an agent: one at a time, as fast as it reads."""

import msgspec

from belvedere import files
from belvedere.protocol import CHUNK, BlobMissing, pack_blob
from belvedere.rest.request import Send
from belvedere.server.agents import package, queries
from belvedere.server.agents.message_limits import AgentPeer, CloseConnection

# Requested contents that may wait.
MAX_REQUESTED = 10_000
MAX_HASH = 64
encode = msgspec.json.Encoder().encode


class Downloads:
    """Contents that one agent requested. At most one slice of one content is in memory."""

    __slots__ = ("_connection", "_send", "_requested", "_is_busy")

    def __init__(self, connection: AgentPeer, send: Send) -> None:
        self._connection = connection
        # Waits while the agent does not read.
        self._send = send
        # Hashes in the order of the requests, each once.
        self._requested: dict[str, None] = {}
        self._is_busy = False

    def request(self, sha256: str) -> None:
        if len(sha256) > MAX_HASH or len(self._requested) >= MAX_REQUESTED:
            raise CloseConnection(
                4400, f"A hash is too long, or more than {MAX_REQUESTED} contents are open."
            )
        self._requested[sha256] = None
        if not self._is_busy:
            self._is_busy = True
            self._connection.spawn(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._requested:
                sha256 = next(iter(self._requested))
                del self._requested[sha256]
                await self._send_content(sha256)
        finally:
            self._is_busy = False

    async def _send_content(self, sha256: str) -> None:
        db = self._connection.runtime.db
        content = await db.read(queries.content_for, self._connection.host_id, sha256)
        if content is None and sha256 == package.digest():
            content = len(package.archive()), package.archive()
        if content is None:
            text = encode([BlobMissing(sha256)]).decode()
            await self._send({"type": "websocket.send", "text": text})
            return
        size, part = content
        offset = await self._send_part(sha256, part, 0, size)
        while offset < size:
            part = await db.read(files.part_of, sha256, offset)
            offset = await self._send_part(sha256, part, offset, size)

    async def _send_part(self, sha256: str, part: bytes, at: int, size: int) -> int:
        """Send the slice that begins at this byte; returns the offset of the next one."""
        for start in range(0, max(1, len(part)), CHUNK):
            data = part[start : start + CHUNK]
            last = at + start + len(data) >= size
            frame = pack_blob(sha256, data, last=last)
            await self._send({"type": "websocket.send", "bytes": frame})
        return at + len(part)
