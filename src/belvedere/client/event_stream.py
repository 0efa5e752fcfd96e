"""Server-sent events across lost connections: a reconnect sends the last id that was received."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from belvedere.client import connections
from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.http_client import Client, Query

FIRST_RETRY_WAIT_S, MAX_RETRY_WAIT_S = 0.1, 5.0
# No response, or the status of a server (or its proxy) that is starting or stopping: retry.
TRANSIENT_STATUSES = (0, 429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event: its kind (`message` if it has none), its data, and the id to resume after.

    An event without kind and data only moves the position to resume from.
    """

    kind: str
    data: str
    id: str


def parse(lines: Iterable[bytes]) -> Iterator[StreamEvent]:
    """The complete events of a stream. A last one without its blank line is dropped: the server
    sends it again."""
    kind, last_id, sent_id = "", "", ""
    data: list[str] = []
    for raw in lines:
        line = raw.decode(errors="replace").rstrip("\r\n")
        if not line:
            if data or kind or last_id != sent_id:
                yield StreamEvent(kind or ("message" if data else ""), "\n".join(data), last_id)
            kind, data, sent_id = "", [], last_id
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
    give_up_after_s: float = 300,
    on_cut: Callable[[Problem], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[StreamEvent]:
    """Events after the id `after`, without end; the caller stops iterating when it is done.

    A lost connection is opened again with the last id. These raise: a first connection that
    fails, an error response, and a server that is unreachable for `give_up_after_s`.
    """
    wait_s, lost_at = FIRST_RETRY_WAIT_S, float("-inf")
    while True:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
        was_open = False
        try:
            with client.open(path, query, headers) as response:
                was_open = True
                for event in parse(response):
                    wait_s = FIRST_RETRY_WAIT_S
                    after = event.id or after
                    if event.kind:
                        yield event
            cut: Problem = ServerUnreachable(f"{client.server} ended the stream.")
        except Problem as refusal:
            if refusal.status not in TRANSIENT_STATUSES:
                raise
            cut = refusal
        except connections.CONNECTION_ERRORS as fault:
            cut = connections.unreachable(client.server, fault)
        if was_open:
            lost_at = time.monotonic()
        elif time.monotonic() - lost_at > give_up_after_s:
            raise cut
        on_cut(cut)
        sleep(wait_s)
        wait_s = min(wait_s * 2, MAX_RETRY_WAIT_S)
