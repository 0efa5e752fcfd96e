"""Output of scripts on a simulated disk, in the place of agent/output/spool.py.

What a script writes while the disk is full is dropped: a real keeper holds a limited amount in
memory, and here this limit is zero.
"""

from dataclasses import dataclass, field
from typing import Any

from belvedere.agent.output import spool
from sim import current_actor


@dataclass
class SpooledOutput:
    """The output of one fence: pieces as (first byte, newlines before it, data)."""

    pieces: list[tuple[int, int, bytes]] = field(default_factory=list)
    # Bytes that the script wrote, stored or not.
    total: int = 0

    @property
    def end(self) -> int:
        """Where the output on disk ends."""
        return max((at + len(data) for at, _, data in self.pieces), default=0)


class SimSpool:
    """The writing end."""

    def __init__(self, _: str, fence: int, **__: Any) -> None:
        self._fence = fence
        self._disk = current_actor.keeper_host().disk
        self._output = self._disk.spooled[fence] = SpooledOutput()

    def write(self, data: bytes, line: int) -> None:
        at = self._output.total
        self._output.total += len(data)
        if not self._disk.is_full:
            self._output.pieces.append((at, line, data))
        elif data:
            current_actor.keeper_host().world.note("output_dropped", self._fence, len(data))
            self._disk.dropped.setdefault(self._fence, []).append((at, at + len(data)))

    def close(self) -> None:
        pass


def read(_: str, fence: int, position: Any, end: int, size: int, *__: Any) -> bytes:
    """The next bytes; the position skips what was dropped."""
    output = current_actor.agent_host().disk.spooled.get(fence, SpooledOutput())
    for at, line, data in output.pieces:
        if at + len(data) > position.offset and at < end:
            position.offset = max(at, position.offset)
            skip = position.offset - at
            position.line = line + data.count(b"\n", 0, skip)
            return data[skip : skip + min(size, end - position.offset)]
    position.offset = end
    return b""


def list_ends(_: str) -> dict[int, int]:
    spooled = current_actor.keeper_host().disk.spooled
    return {fence: output.end for fence, output in spooled.items()}


def clear(_: str, fence: int) -> None:
    current_actor.keeper_host().disk.spooled.pop(fence, None)


# The two interfaces of the module: for the agent, which reads, and for the keeper, which recovers.
READING = {"SpoolPosition": spool.SpoolPosition, "segment": spool.segment, "read": read}
RECOVERY = {"list_spools": list_ends, "clear": clear}
