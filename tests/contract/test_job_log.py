"""The server's log lines about jobs: start, end and lost, with the ids of job, host and trace."""

import asyncio
import json
import logging
from typing import Any

import pytest

from belvedere.base.log_format import JsonFormatter
from contract.client import Client
from contract.running import create
from contract.world import World

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def _lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    records = [record for record in caplog.records if record.name == "belvedere.jobs"]
    return [json.loads(JsonFormatter().format(record)) for record in records]


async def test_log_lines_of_a_job_have_its_ids(
    world: World, ada: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "belvedere.jobs")
    body, headers = {"task": await world.task()}, {"traceparent": PARENT}
    async with world.agent() as agent:
        job = (await ada.post("/acme/job", body, headers=headers)).json
        order = await agent.order()
        await agent.start(order)
        while "job started" not in caplog.text:
            await asyncio.sleep(0)
        await agent.end(order)
    lines = _lines(caplog)
    texts = [line["message"].partition(" job=")[0] for line in lines]
    assert texts == ["job assigned", "job started", "job ended"]
    assert {line["job"] for line in lines} == {job["id"]}
    assert {line["host"] for line in lines} == {job["host_id"]}
    assert {line["trace"] for line in lines} == {TRACE}
    assert "state=normal" in lines[-1]["message"]


async def test_only_lost_jobs_are_logged_by_default(
    world: World, ada: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "belvedere.jobs")
    task_id = await world.task()
    async with world.agent() as agent:
        await create(ada, task_id)
        await agent.end(await agent.order())
        job = await create(ada, task_id)
        await agent.end(await agent.order(), ending="unknown", log=None)
    (line,) = _lines(caplog)
    assert line["message"].startswith("job outcome is unknown job=")
    assert (line["level"], line["job"], "trace" in line) == ("WARNING", job["id"], False)
