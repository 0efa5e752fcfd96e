"""Server-sent events: their format, and reconnecting without losing an event."""

from collections.abc import Iterator
from itertools import islice

import pytest

from belvedere.client.errors import Problem, ServerUnreachable
from belvedere.client.event_stream import StreamEvent, follow, parse
from belvedere.client.http_client import Client
from fake_server import CannedResponse, FakeServer, stream


def until_end(client: Client, slept: list[float] | None = None) -> Iterator[StreamEvent]:
    waits: list[float] = [] if slept is None else slept
    for event in follow(client, "/job/1/log", {"follow": "true"}, sleep=waits.append):
        if event.kind == "end":
            return
        yield event


def test_a_log_is_followed_to_its_end(server: FakeServer, client: Client) -> None:
    server.on("GET", "/job/1/log", stream(("output", "one\ntwo", "8"), ("end", "{}", "8")))
    assert list(until_end(client)) == [StreamEvent("output", "one\ntwo", "8")]
    assert server.asked[0].headers["Accept"] == "text/event-stream"
    assert "Last-Event-ID" not in server.asked[0].headers


def test_an_event_stream_is_parsed() -> None:
    lines = b": beat\nid: 1\ndata: a\n\nevent: x\r\ndata:b\r\n\r\nretry: 5\n\ndata:  c\n\n"
    assert list(parse(lines.splitlines(keepends=True))) == [
        StreamEvent("message", "a", "1"),
        StreamEvent("x", "b", "1"),
        StreamEvent("message", " c", "1"),
    ]


def test_following_continues_after_each_lost_connection(server: FakeServer, client: Client) -> None:
    lines = [("output", f"line {n}\n", str(n)) for n in range(1, 7)]
    half = b"event: output\ndata: li"
    server.on(
        "GET",
        "/job/1/log",
        stream(*lines[:2]),
        stream(lines[2], end=half),
        CannedResponse(silent=True),
        CannedResponse("restarting", 503, media_type="text/plain"),
        stream(*lines[3:], ("end", "{}", "7")),
    )
    chunks = [event.data for event in until_end(client)]
    assert chunks == [f"line {n}\n" for n in range(1, 7)]
    resumed = [request.headers.get("Last-Event-ID") for request in server.asked]
    assert resumed == [None, "2", "3", "3", "3"]


def test_an_id_alone_moves_the_place_to_resume_from(server: FakeServer, client: Client) -> None:
    pair = ("job.created", "{}", "1.1")
    only_id = b"id: 1.7\n\n"
    server.on("GET", "/-/events", stream(pair, end=only_id), stream(("job.ended", "{}", "1.8")))
    events = follow(client, "/-/events", sleep=lambda _: None)
    assert [event.kind for event in islice(events, 2)] == ["job.created", "job.ended"]
    assert [request.headers.get("Last-Event-ID") for request in server.asked] == [None, "1.7"]


def test_the_delay_grows_and_is_reset_after_an_event(server: FakeServer, client: Client) -> None:
    silent = CannedResponse(silent=True)
    event = stream(("output", "x", "1"))
    server.on("GET", "/job/1/log", event, silent, silent, event, stream(("end", "", "1")))
    slept: list[float] = []
    list(until_end(client, slept))
    assert slept == [0.1, 0.2, 0.4, 0.1]


def test_a_refusal_ends_following_at_once(server: FakeServer, client: Client) -> None:
    server.on(
        "GET", "/job/1/log", stream(("output", "x", "1")), CannedResponse({"message": "Gone."}, 404)
    )
    events = follow(client, "/job/1/log", sleep=lambda _: None)
    assert next(events).data == "x"
    with pytest.raises(Problem, match="Gone"):
        next(events)


def test_following_does_not_wait_for_a_server_that_never_answered() -> None:
    with pytest.raises(ServerUnreachable):
        list(islice(follow(Client("http://127.0.0.1:1"), "/-/events"), 1))


def test_following_ends_if_the_server_does_not_return(server: FakeServer, client: Client) -> None:
    server.on("GET", "/-/events", stream(("job.created", "{}", "1")), CannedResponse(silent=True))
    events = follow(client, "/-/events", give_up_after_s=0, sleep=lambda _: None)
    assert next(events).kind == "job.created"
    with pytest.raises(ServerUnreachable):
        next(events)
