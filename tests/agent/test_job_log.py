"""The agent's log lines about jobs, as JSON: order, start, end, with the ids of job and trace."""

import json
from pathlib import Path
from typing import Any

from agent.connected_agent import office

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
DEBUG = {"BELVEDERE_LOG_FORMAT": "json", "BELVEDERE_LOG_LEVEL": "debug"}


def _lines(log: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.splitlines()]
    return [line for line in lines if line.get("job")]


async def test_log_lines_of_a_job_have_its_ids(tmp_path: Path) -> None:
    env = {"TRACEPARENT": f"00-{TRACE}-00f067aa0ba902b7-01"}
    async with office(tmp_path, **DEBUG) as (server, agency):
        fence = await server.order("#!/bin/sh\nexit 0\n", env=env)
        await server.end(fence)
        await agency.wait_for_log("script ended")
        lines = _lines(agency.log())
    texts = [line["message"].partition(" job=")[0] for line in lines]
    assert [texts[0], texts[-1]] == ["order received", "script ended"]
    assert {line["trace"] for line in lines} == {TRACE}
    assert len({line["job"] for line in lines}) == 1
    assert lines[-1]["message"].endswith("ending=exit")


async def test_an_unknown_outcome_is_logged_by_default(tmp_path: Path) -> None:
    async with office(tmp_path, BELVEDERE_LOG_FORMAT="json") as (server, agency):
        fence = await server.order("#!/bin/sh\nexec sleep 300\n")
        await server.until(lambda: any(m["kind"] == "started" for m in server.heard))
        agency.kill_keeper()
        await server.end(fence)
        (line,) = _lines(agency.log())
    assert line["message"].startswith("script outcome is unknown job=")
    assert line["message"].endswith("ending=keeper_lost")
