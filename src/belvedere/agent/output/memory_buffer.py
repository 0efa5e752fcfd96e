"""Output that could not be written to the spool: a bounded amount stays in the keeper's memory,
and goes to the agent over its socket."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Bytes in memory for one script, and for all scripts of this keeper together.
MAX_HELD = 64 * 1024
MAX_HELD_TOTAL = 4 * 1024 * 1024


class OutputPiece:
    """A part of the output: where it begins, and the number of newlines before it."""

    __slots__ = ("at", "data", "line")

    def __init__(self, at: int, line: int, data: bytes) -> None:
        self.at = at
        self.line = line
        self.data = data

    @property
    def end(self) -> int:
        return self.at + len(self.data)


class MemoryBudget:
    """Bytes that all scripts together may still keep in memory."""

    __slots__ = ("available",)

    def __init__(self, size: int = MAX_HELD_TOTAL) -> None:
        self.available = size


class MemoryBuffer:
    """The pieces of one script's output, in order."""

    __slots__ = ("_budget", "_size", "_sent_end", "pieces")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._size = 0
        # The connected agent has every piece below this byte.
        self._sent_end = 0
        self.pieces: list[OutputPiece] = []

    def add(self, at: int, line: int, data: bytes) -> None:
        """Keep as much as the limits allow; the rest is dropped."""
        size = min(len(data), MAX_HELD - self._size, self._budget.available)
        if size > 0:
            self.pieces.append(OutputPiece(at, line, data[:size]))
            self._change(size)

    def drop_below(self, offset: int) -> None:
        """The server has everything below this byte."""
        self._change(-sum(len(piece.data) for piece in self.pieces if piece.end <= offset))
        self.pieces = [piece for piece in self.pieces if piece.end > offset]

    def clear(self) -> None:
        self._change(-self._size)
        self.pieces = []

    def _change(self, size: int) -> None:
        self._size += size
        self._budget.available -= size

    def new_pieces(self) -> list[list[Any]]:
        """Pieces that were not sent to the connected agent yet."""
        fresh = [piece for piece in self.pieces if piece.at >= self._sent_end]
        return self._packed(fresh)

    def all(self) -> list[list[Any]]:
        """All pieces, for an agent that has just connected."""
        return self._packed(self.pieces)

    def _packed(self, pieces: list[OutputPiece]) -> list[list[Any]]:
        self._sent_end = max([self._sent_end, *[piece.end for piece in pieces]])
        encoded = [b2a_base64(piece.data, newline=False).decode() for piece in pieces]
        return [[piece.at, piece.line, data] for piece, data in zip(pieces, encoded, strict=True)]


def unpack(packed: list[list[Any]]) -> list[OutputPiece]:
    return [OutputPiece(at, line, a2b_base64(data)) for at, line, data in packed]
