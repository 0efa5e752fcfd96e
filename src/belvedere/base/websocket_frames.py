"""WebSocket frames (RFC 6455) without handshake and extensions: what the agents' link needs.

`websockets` is made for everything that may come, and takes a fifth of a lone job's time for six
small frames. It still makes the connection; what then goes to and fro is packed and read here.
"""

import os
import struct
from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

CONTINUED: Final = 0
TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10

NORMAL, GOING_AWAY, PROTOCOL_ERROR, NO_TEXT, TOO_BIG, RESTART = 1000, 1001, 1002, 1007, 1009, 1012
FINAL, RESERVED, MASKED = 0x80, 0x70, 0x80
LONGEST_CONTROL = 125
# Frames of one message. Empty ones count too: they add no byte, so no limit on size ends them.
MAX_FRAGMENTS = 4_096

Found = tuple[int, bytes]


class Broken(Exception):
    """What came is no WebSocket, or more than we take: the code to hang up with."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def pack(opcode: int, data: bytes, *, masked: bool) -> bytes:
    """One whole frame; `masked` for what a client says."""
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


def pack_close(code: int, reason: str, *, masked: bool) -> bytes:
    data = struct.pack(">H", code) + reason.encode()[: LONGEST_CONTROL - 2]
    return pack(CLOSE, data, masked=masked)


def unpack_close(data: bytes) -> tuple[int | None, str]:
    """The code and the words; None where neither was said."""
    if len(data) < 2:
        return None, ""
    return int.from_bytes(data[:2], "big"), data[2:].decode("utf-8", "replace")


class Reader:
    """Bytes as they arrive, into whole messages and the frames that control the connection."""

    __slots__ = ("_kept", "_longest", "_mark", "_need", "_opcode", "_parts", "_size")

    def __init__(self, *, masked: bool, longest: int) -> None:
        self._mark = MASKED if masked else 0
        self._longest = longest
        # The beginning of a frame, and how many bytes it must have before it is worth a look.
        self._kept = bytearray()
        self._need = 0
        # A message in several frames.
        self._opcode = 0
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Found]:
        """(opcode, payload) of what is complete now; Broken when it is none of ours."""
        if self._kept:
            self._kept += data
            if len(self._kept) < self._need:
                return []
            data, self._kept = bytes(self._kept), bytearray()
        found: list[Found] = []
        at, size = 0, len(data)
        while at < size:
            end = self._frame(data, at, found)
            if end == at:
                self._kept += data[at:]
                break
            at = end
        return found

    def _frame(self, data: bytes, at: int, found: list[Found]) -> int:
        """The frame that begins here, taken; where the next one begins, or here if it is not all
        there yet."""
        have = len(data)
        if have < at + 2:
            self._need = 2
            return at
        first, second = data[at], data[at + 1]
        size, start = second & 0x7F, at + 2
        if size > LONGEST_CONTROL:
            start += 2 if size == 126 else 8
            size = int.from_bytes(data[at + 2 : start], "big") if have >= start else 0
        if first & RESERVED or second & MASKED != self._mark or size > self._longest:
            raise self._refusal(first, second)
        start += 4 if self._mark else 0
        end = start + size
        if have < end:
            self._need = end - at
            return at
        payload = data[start:end]
        if self._mark:
            payload = apply_mask(payload, data[start - 4 : start])
        self._take(first, payload, found)
        return end

    def _refusal(self, first: int, second: int) -> Broken:
        if first & RESERVED:
            return Broken(PROTOCOL_ERROR, "a frame with an extension that nobody agreed on")
        if second & MASKED != self._mark:
            return Broken(PROTOCOL_ERROR, "a frame with a mask that must not have one, or without")
        return Broken(TOO_BIG, f"a frame of more than {self._longest} bytes")

    def _take(self, first: int, payload: bytes, found: list[Found]) -> None:
        opcode, is_final = first & 0x0F, bool(first & FINAL)
        if opcode >= CLOSE:
            if opcode > PONG or not is_final or len(payload) > LONGEST_CONTROL:
                raise Broken(PROTOCOL_ERROR, "a control frame that cannot be")
            found.append((opcode, payload))
        elif opcode > BINARY or (opcode == CONTINUED) != bool(self._opcode):
            raise Broken(PROTOCOL_ERROR, "a frame out of turn")
        elif is_final and opcode:
            found.append((opcode, payload))
        else:
            self._gather(opcode, payload, is_final, found)

    def _gather(self, opcode: int, payload: bytes, is_final: bool, found: list[Found]) -> None:
        self._opcode = opcode or self._opcode
        self._parts.append(payload)
        self._size += len(payload)
        if self._size > self._longest:
            raise Broken(TOO_BIG, f"a message of more than {self._longest} bytes")
        if len(self._parts) > MAX_FRAGMENTS:
            raise Broken(TOO_BIG, f"a message of more than {MAX_FRAGMENTS} frames")
        if is_final:
            found.append((self._opcode, b"".join(self._parts)))
            self._opcode, self._parts, self._size = 0, [], 0


def decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Broken(NO_TEXT, "a text that is not UTF-8") from None
