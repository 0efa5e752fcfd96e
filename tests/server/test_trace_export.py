"""Spans of ended jobs, as an OpenTelemetry collector receives them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from belvedere.jobs.tallies import TALLIES
from belvedere.server.traces import exporter as exporting
from belvedere.server.traces.exporter import TraceExporter
from contract.client import Client
from contract.running import run
from contract.world import World

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"


class Collector:
    """The receiving side of OTLP/HTTP."""

    def __init__(self, status: str = "200 OK") -> None:
        self.status = status
        self.requests: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert "content-type: application/json" in head
        size = int(head.partition("content-length:")[2].split()[0])
        self.requests.append((head.split()[1], json.loads(await reader.readexactly(size))))
        text = f"HTTP/1.1 {self.status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
        writer.write(text.encode())
        writer.close()

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for _, body in self.requests
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


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
    assert (job["traceId"], job["parentSpanId"], job["spanId"]) == (TRACE, CALLER, job_id[-16:])
    assert [wait["name"], runs["name"]] == ["wait", "run"]
    assert wait["parentSpanId"] == runs["parentSpanId"] == job["spanId"]
    assert len({span["spanId"] for span in collector.spans}) == 3
    assert all(int(s["endTimeUnixNano"]) >= int(s["startTimeUnixNano"]) for s in collector.spans)
    attributes = {item["key"]: item["value"]["stringValue"] for item in job["attributes"]}
    assert attributes["belvedere.job.id"] == job_id
    assert (job["status"]["code"], exporter.exported, exporter.dropped) == (1, 3, 0)


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
async def test_what_cannot_be_sent_is_dropped_and_counted(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = Collector("503 Unavailable")
    async with listening(collector) as url:
        exporter = TraceExporter(url)
        await run_traced(world, ada, monkeypatch, exporter, "01")
        await exporter.send_waiting()
    assert (exporter.exported, exporter.dropped, len(collector.requests)) == (0, 3, 1)
    monkeypatch.setattr(exporting, "MAX_WAITING", 2)
    await run_traced(world, ada, monkeypatch, exporter, "01")
    assert exporter.dropped == 4
