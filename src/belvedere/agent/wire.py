"""Between agent and keeper: one JSON object per line over a socket in the state folder.

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

# 2: orders carry masks. 3: it runs the scripts of monitors. 4: those as another user, too.
# 5: it starts a new journal when it is told that the old one was rolled back.
# 6: its state names the jobs of entries, and the process itself.
VERSION = 6
# An agent that is this far behind is not listening; it gets the whole state when it returns.
TOO_FAR_BEHIND = 16 * 1024 * 1024


def pack(message: Message) -> bytes:
    return to_json(message).encode() + b"\n"


class JsonLines:
    """Bytes in, whole messages out."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        lines = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        self._rest = lines.pop()
        return [from_json(line.decode()) for line in lines]
