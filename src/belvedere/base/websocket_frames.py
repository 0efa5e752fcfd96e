"""WebSocket frames (RFC 6455) without handshake and extensions, for the connections of agents.

`websockets` supports the complete protocol and takes a fifth of the time of a single job for six
small frames. It still opens the connection; frames are packed and read here.
"""

import os
import struct
from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

CONTINUATION: Final = 0
TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10

NORMAL, PROTOCOL_ERROR = 1000, 1002
INVALID_TEXT, TOO_BIG, RESTART = 1007, 1009, 1012
FINAL, RESERVED, MASKED = 0x80, 0x70, 0x80
MAX_CONTROL_BYTES = 125
# The beginning of a masked PING without data, the size of such a frame, and its answer.
_EMPTY_PING, _EMPTY_PING_SIZE = bytes((FINAL | PING, MASKED)), 6
EMPTY_PONG = bytes((FINAL | PONG, 0))
# Frames of one message. Empty ones count too, because the limit on bytes does not stop them.
MAX_FRAGMENTS = 4_096

FrameMessage = tuple[int, bytes]


class FrameError(Exception):
    """The peer violated the protocol or a limit; `code` is the close code to send."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def pack(opcode: int, data: bytes, *, masked: bool) -> bytes:
    """One complete frame; frames of a client are masked."""
    size, mark = len(data), MASKED if masked else 0
    if size < 126:
        head = bytes((FINAL | opcode, mark | size))
    elif size < 65_536:
        head = struct.pack(">BBH", FINAL | opcode, mark | 126, size)
    else:
        head = struct.pack(">BBQ", FINAL | opcode, mark | 127, size)
    if not masked:
        return head + data
    key = os.urandom(4)
    return head + key + apply_mask(data, key)


def pong(data: bytes) -> bytes:
    """The answer of a server to a PING."""
    return pack(PONG, data, masked=False)


def short_text(data: bytes) -> tuple[bytes | None, bool]:
    """The payload, if these bytes are exactly one short text frame of a client, and whether a PING
    without data follows. An idle agent sends almost nothing else, so this is one call."""
    size = len(data)
    if size < 6 or data[0] != FINAL | TEXT or not MASKED <= data[1] <= MASKED + MAX_CONTROL_BYTES:
        return None, False
    end = 6 + data[1] - MASKED
    has_ping = size == end + _EMPTY_PING_SIZE and data.startswith(_EMPTY_PING, end)
    if size != end and not has_ping:
        return None, False
    return apply_mask(data[6:end], data[2:6]), has_ping


def pack_close(code: int, reason: str, *, masked: bool) -> bytes:
    data = struct.pack(">H", code) + reason.encode()[: MAX_CONTROL_BYTES - 2]
    return pack(CLOSE, data, masked=masked)


def unpack_close(data: bytes) -> tuple[int | None, str]:
    """Code and reason of a close frame; code None if the frame has neither."""
    if len(data) < 2:
        return None, ""
    return int.from_bytes(data[:2], "big"), data[2:].decode("utf-8", "replace")


class Reader:
    """Assembles arriving bytes into complete messages and control frames."""

    __slots__ = ("_buffer", "_max_size", "_mark", "_bytes_needed", "_opcode", "_parts", "_size")

    def __init__(self, *, masked: bool, max_size: int) -> None:
        self._mark = MASKED if masked else 0
        self._max_size = max_size
        # The beginning of a frame, and how many bytes are needed to continue with it.
        self._buffer = bytearray()
        self._bytes_needed = 0
        # A message in several frames.
        self._opcode = 0
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a message."""
        return not self._buffer and not self._opcode

    def feed(self, data: bytes) -> list[FrameMessage]:
        """(opcode, payload) of each message that is complete now; raises FrameError."""
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._bytes_needed:
                return []
            data, self._buffer = bytes(self._buffer), bytearray()
        messages: list[FrameMessage] = []
        at, size = 0, len(data)
        while at < size:
            end = self._frame(data, at, messages)
            if end == at:
                self._buffer += data[at:]
                break
            at = end
        return messages

    def _frame(self, data: bytes, at: int, messages: list[FrameMessage]) -> int:
        """Read the frame that begins at `at`. Returns where the next one begins, or `at` if the
        frame is not complete."""
        available = len(data)
        if available < at + 2:
            self._bytes_needed = 2
            return at
        first, second = data[at], data[at + 1]
        size, start = second & 0x7F, at + 2
        if size > MAX_CONTROL_BYTES:
            start += 2 if size == 126 else 8
            size = int.from_bytes(data[at + 2 : start], "big") if available >= start else 0
        if first & RESERVED or second & MASKED != self._mark or size > self._max_size:
            raise self._header_error(first, second)
        start += 4 if self._mark else 0
        end = start + size
        if available < end:
            self._bytes_needed = end - at
            return at
        payload = data[start:end]
        if self._mark:
            payload = apply_mask(payload, data[start - 4 : start])
        self._accept(first, payload, messages)
        return end

    def _header_error(self, first: int, second: int) -> FrameError:
        if first & RESERVED:
            return FrameError(PROTOCOL_ERROR, "frame uses an extension that was not negotiated")
        if second & MASKED != self._mark:
            return FrameError(
                PROTOCOL_ERROR, "frame is masked but must not be, or is not masked but must be"
            )
        return FrameError(TOO_BIG, f"frame has more than {self._max_size} bytes")

    def _accept(self, first: int, payload: bytes, messages: list[FrameMessage]) -> None:
        opcode, is_final = first & 0x0F, bool(first & FINAL)
        if opcode >= CLOSE:
            if opcode > PONG or not is_final or len(payload) > MAX_CONTROL_BYTES:
                raise FrameError(PROTOCOL_ERROR, "invalid control frame")
            messages.append((opcode, payload))
        elif opcode > BINARY or (opcode == CONTINUATION) != bool(self._opcode):
            raise FrameError(PROTOCOL_ERROR, "unexpected frame type")
        elif is_final and opcode:
            messages.append((opcode, payload))
        else:
            self._add_fragment(opcode, payload, is_final, messages)

    def _add_fragment(
        self, opcode: int, payload: bytes, is_final: bool, messages: list[FrameMessage]
    ) -> None:
        self._opcode = opcode or self._opcode
        self._parts.append(payload)
        self._size += len(payload)
        if self._size > self._max_size:
            raise FrameError(TOO_BIG, f"message has more than {self._max_size} bytes")
        if len(self._parts) > MAX_FRAGMENTS:
            raise FrameError(TOO_BIG, f"message has more than {MAX_FRAGMENTS} frames")
        if is_final:
            messages.append((self._opcode, b"".join(self._parts)))
            self._opcode, self._parts, self._size = 0, [], 0


def decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FrameError(INVALID_TEXT, "text message is not UTF-8") from None
