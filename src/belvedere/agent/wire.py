"""Between agent and keeper: one JSON object per line over a socket in the state folder.

From the agent (`do`): hello, open, order, refuse, cancel, stop, ack, kept, retire.
From the keeper (`say`): state, started, output, ended, gone.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.ledger import Message

VERSION = 1
# An agent that is this far behind is not listening; it gets the whole state when it returns.
TOO_FAR_BEHIND = 16 * 1024 * 1024


# Made once: json.dumps would make an encoder for every call.
to_json = json.JSONEncoder(separators=(",", ":")).encode


def pack(message: Message) -> bytes:
    return to_json(message).encode() + b"\n"


class Lines:
    """Bytes in, whole messages out."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Message]:
        lines = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        self._rest = lines.pop()
        return [json.loads(line) for line in lines]


def short_path(folder: str, name: str) -> tuple[str, int]:
    """A path to the socket that fits into the 108 bytes a socket address may have, and the
    descriptor to close after its use (or -1)."""
    path = f"{folder}/{name}"
    if len(os.fsencode(path)) < 100 or not os.path.isdir("/proc/self/fd"):
        return path, -1
    fd = os.open(folder, os.O_RDONLY)
    return f"/proc/self/fd/{fd}/{name}", fd
