"""Scripts and file arguments on their way to an agent: one at a time, as fast as it reads."""

from typing import TYPE_CHECKING, Any

import msgspec

from belvedere import files
from belvedere.protocol import CHUNK, Missing, pack_blob
from belvedere.server.agents import queries
from belvedere.server.agents.close_reasons import Goodbye

if TYPE_CHECKING:
    from belvedere.server.agents.connection import Link

# Different contents that may wait for their turn.
MAX_WANTED = 10_000
LONGEST_HASH = 64
encode = msgspec.json.Encoder().encode


class Transfers:
    """What one agent asked for. At most one slice of one content is in memory."""

    def __init__(self, link: "Link", send: Any) -> None:
        self._link = link
        # Waits while the agent does not read.
        self._send = send
        # In the order of the questions, each once.
        self._wanted: dict[str, None] = {}
        self._is_busy = False

    def want(self, sha256: str) -> None:
        if len(sha256) > LONGEST_HASH or len(self._wanted) >= MAX_WANTED:
            raise Goodbye(4400, f"A hash is too long, or {MAX_WANTED} contents wait already.")
        self._wanted[sha256] = None
        if not self._is_busy:
            self._is_busy = True
            self._link.spawn(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._wanted:
                sha256 = next(iter(self._wanted))
                del self._wanted[sha256]
                await self._send_one(sha256)
        finally:
            self._is_busy = False

    async def _send_one(self, sha256: str) -> None:
        db = self._link.runtime.db
        found = await db.read(queries.content_for, self._link.host_id, sha256)
        if found is None:
            text = encode([Missing(sha256)]).decode()
            await self._send({"type": "websocket.send", "text": text})
            return
        size, part = found
        sent = await self._send_part(sha256, part, 0, size)
        while sent < size:
            part = await db.read(files.part_of, sha256, sent)
            sent = await self._send_part(sha256, part, sent, size)

    async def _send_part(self, sha256: str, part: bytes, at: int, size: int) -> int:
        """Send one slice that begins at this byte of the content; where the next one begins."""
        for start in range(0, max(1, len(part)), CHUNK):
            data = part[start : start + CHUNK]
            last = at + start + len(data) >= size
            frame = pack_blob(sha256, data, last=last)
            await self._send({"type": "websocket.send", "bytes": frame})
        return at + len(part)
