"""Server-sent events that survive a cut: the last id seen goes along when the client comes back."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from belvedere.client import connections
from belvedere.client.errors import Problem, Unreachable
from belvedere.client.http_client import Client, Query

FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
# No answer, or what a server that starts or stops and the proxy before it say: come back later.
PASSING = (0, 429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its kind (`message` when unnamed), its text, and where to resume after it.

    One without kind and text only moves the place to resume from.
    """

    kind: str
    data: str
    id: str


def parse(lines: Iterable[bytes]) -> Iterator[Event]:
    """The whole events in a stream. A last one without its blank line was cut, and comes again."""
    kind, last_id, told_id = "", "", ""
    data: list[str] = []
    for raw in lines:
        line = raw.decode(errors="replace").rstrip("\r\n")
        if not line:
            if data or kind or last_id != told_id:
                yield Event(kind or ("message" if data else ""), "\n".join(data), last_id)
            kind, data, told_id = "", [], last_id
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                kind = value
            case "data":
                data.append(value)
            case "id":
                last_id = value


def follow(
    client: Client,
    path: str,
    query: Query | None = None,
    *,
    after: str = "",
    patience_s: float = 300,
    on_cut: Callable[[Problem], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Event]:
    """Events from `after` on, without end; the caller stops when it has seen what it waits for.

    A cut is repaired by coming back with the last id. What is final raises: a first connection
    that fails, a refusal, or a server that stays away for `patience_s`.
    """
    wait_s, away_since = FIRST_WAIT_S, float("-inf")
    while True:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
        was_open = False
        try:
            with client.open(path, query, headers) as response:
                was_open = True
                for event in parse(response):
                    wait_s = FIRST_WAIT_S
                    after = event.id or after
                    if event.kind:
                        yield event
            cut: Problem = Unreachable(f"{client.server} ended the stream.")
        except Problem as refusal:
            if refusal.status not in PASSING:
                raise
            cut = refusal
        except connections.BROKEN as fault:
            cut = connections.unreachable(client.server, fault)
        if was_open:
            away_since = time.monotonic()
        elif time.monotonic() - away_since > patience_s:
            raise cut
        on_cut(cut)
        sleep(wait_s)
        wait_s = min(wait_s * 2, LONGEST_WAIT_S)
