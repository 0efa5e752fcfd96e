"""Protocol between agent and keeper: one JSON object per line over a socket in the state folder.

From the agent (`do`): hello, open, order, refuse, cancel, stop, ack, kept, retire, check, uncheck.
From the keeper (`say`): state, started, output, ended, gone, checked.

`output` and each entry of `state` may have `held`: [offset, newlines before it, base64] of output
that could not be written to disk. Agents of earlier versions ignore it; the log then has a gap.
"""

from __future__ import annotations

from belvedere.agent.json_lines import from_json, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Message

# 2: orders have masks. 3: the keeper runs the scripts of monitors. 4: these as another user, too.
# 5: it starts a new journal (`renew`) after the old one was rolled back.
# 6: its state has the jobs of entries, and an id of the process.
VERSION = 6
# An agent that is this far behind does not read; it gets the complete state when it reconnects.
TOO_FAR_BEHIND = 16 * 1024 * 1024


def pack(message: Message) -> bytes:
    return to_json(message).encode() + b"\n"


class JsonLines:
    """Splits a byte stream into messages."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        lines = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        self._rest = lines.pop()
        return [from_json(line.decode()) for line in lines]
