"""Effects that the rules return; the keeper performs them, a simulator simulates them.

Every `WriteRecord` is in the journal before any other effect of the same batch is performed, and
those with `sync` are on stable storage.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message, Record


class WriteRecord:
    """Append to the journal. With `sync`, nothing else may happen until it is durable."""

    __slots__ = ("record", "sync")

    def __init__(self, record: Record, *, sync: bool) -> None:
        self.record = record
        self.sync = sync


class SpawnScript:
    """Start the script of this order."""

    __slots__ = ("order",)

    def __init__(self, order: Message) -> None:
        self.order = order


class EndScript:
    """End every process of this fence: `canceled` or `stopped`."""

    __slots__ = ("fence", "why")

    def __init__(self, fence: int, why: str) -> None:
        self.fence = fence
        self.why = why


class SendMessage:
    """Send this message to the agent, if one is connected."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message


class SendState:
    """Send the agent the complete state at that time, including everything sent before."""

    __slots__ = ()


class ClearOutput:
    """Delete the output of these fences; the server has it."""

    __slots__ = ("fences",)

    def __init__(self, fences: list[int]) -> None:
        self.fences = fences


class RewriteJournal:
    """Write a new journal file, with its new identity."""

    __slots__ = ()


Effect = (
    WriteRecord | SpawnScript | EndScript | SendMessage | SendState | ClearOutput | RewriteJournal
)
Effects = list[Effect]
