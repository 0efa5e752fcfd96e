"""Spans of ended jobs, as an OpenTelemetry collector receives them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from belvedere.jobs.tallies import TALLIES
from belvedere.server.traces import exporter as exporting
from belvedere.server.traces.exporter import TraceExporter
from contract.client import Client
from contract.running import run
from contract.world import World
from server.otlp import decode_spans

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"


class Collector:
    """The receiving side of OTLP/HTTP."""

    def __init__(self, answer: str = "HTTP/1.1 200 OK\r\n") -> None:
        self.start_of_answer = answer
        # Path and body of each.
        self.requests: list[tuple[str, bytes]] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert "content-type: application/json" in head
        size = int(head.partition("content-length:")[2].split()[0])
        self.requests.append((head.split()[1], await reader.readexactly(size)))
        text = f"{self.start_of_answer}content-length: 2\r\nconnection: close\r\n\r\n{{}}"
        writer.write(text.encode())
        writer.close()

    @property
    def spans(self) -> list[Any]:
        return [span for _, body in self.requests for span in decode_spans(body)]


@contextlib.asynccontextmanager
async def listening(collector: Collector) -> AsyncIterator[str]:
    server = await asyncio.start_server(collector.answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


async def run_traced(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch, exporter: TraceExporter, flags: str
) -> str:
    monkeypatch.setattr(TALLIES, "on_traced_end", exporter.take)
    body = {"task": await world.task()}
    async with world.agent() as agent:
        headers = {"traceparent": f"00-{TRACE}-{CALLER}-{flags}"}
        job_id: str = (await ada.post("/acme/job", body, headers=headers)).json["id"]
        await agent.end(await agent.order())
        # Without a trace.
        await run(ada, agent, body["task"])
    return job_id


async def test_a_collector_gets_the_spans_of_a_job(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    async with listening(collector) as url:
        exporter = TraceExporter(url)
        job_id = await run_traced(world, ada, monkeypatch, exporter, "01")
        await exporter.send_waiting()
    assert [path for path, _ in collector.requests] == ["/v1/traces"]
    job, wait, runs = collector.spans
    assert (job.trace_id.hex(), job.parent_span_id.hex()) == (TRACE, CALLER)
    assert job.span_id.hex() == job_id[-16:]
    assert [wait.name, runs.name] == ["wait", "run"]
    assert wait.parent_span_id == runs.parent_span_id == job.span_id
    assert len({span.span_id for span in collector.spans}) == 3
    assert all(s.end_time_unix_nano >= s.start_time_unix_nano > 0 for s in collector.spans)
    attributes = {item.key: item.value.string_value for item in job.attributes}
    assert attributes["belvedere.job.id"] == job_id
    assert (job.status.code, exporter.exported, exporter.dropped) == (1, 3, 0)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_unsampled_trace_is_not_sent(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    async with listening(collector) as url:
        exporter = TraceExporter(url)
        await run_traced(world, ada, monkeypatch, exporter, "00")
        await exporter.send_waiting()
    assert collector.requests == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "answer",
    [
        "HTTP/1.1 503 Unavailable\r\n",
        # Not HTTP.
        "220 mail.example.org ESMTP\r\n",
        # Ends too early.
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n",
    ],
)
async def test_spans_that_cannot_be_sent_are_dropped_and_counted(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    collector = Collector(answer)
    async with listening(collector) as url:
        exporter = TraceExporter(url)
        await run_traced(world, ada, monkeypatch, exporter, "01")
        await exporter.send_waiting()
    assert (exporter.exported, exporter.dropped, len(collector.requests)) == (0, 3, 1)
    monkeypatch.setattr(exporting, "MAX_WAITING", 2)
    await run_traced(world, ada, monkeypatch, exporter, "01")
    assert exporter.dropped == 4


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_rest_is_sent_at_the_end_but_the_server_does_not_wait_long(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector()
    async with listening(collector) as url:
        exporter = TraceExporter(url)
        await run_traced(world, ada, monkeypatch, exporter, "01")
        await exporter.close()
    assert (len(collector.spans), exporter.exported) == (3, 3)
    monkeypatch.setattr(exporting, "LAST_S", 0)
    monkeypatch.setattr(exporter, "_post", lambda body: None)
    await run_traced(world, ada, monkeypatch, exporter, "01")
    await exporter.close()
    assert (exporter.exported, exporter.dropped) == (3, 3)
