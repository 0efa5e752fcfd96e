"""The steps that the rules ask for; the keeper takes them, a simulator plays them.

Every `Write` of a turn is in the journal before any other step of that turn is taken, and those
with `sync` are on stable storage.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message, Record


class WriteRecord:
    """Append to the journal. With `sync` nothing else may happen until it is durable."""

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
    """Send this to the agent, if one is there."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message


class SendState:
    """Tell the agent all there is, as it stands by then: what was told before it is part of it."""

    __slots__ = ()


class ClearOutput:
    """Nobody needs the output of these fences any more."""

    __slots__ = ("fences",)

    def __init__(self, fences: list[int]) -> None:
        self.fences = fences


class RewriteJournal:
    """Write the journal afresh, under its new identity."""

    __slots__ = ()


Effect = (
    WriteRecord | SpawnScript | EndScript | SendMessage | SendState | ClearOutput | RewriteJournal
)
Effects = list[Effect]
