"""Utilization of this machine."""

import time
from typing import Any

import pytest

from belvedere.agent.checks.kinds import dstat

CALM = {"limit": {"cpu": 100, "mem": 100, "cache": 100, "disk": 100}}


async def test_a_host_check_reports_its_figures() -> None:
    outcome = await dstat.check(CALM, {})
    assert (outcome.state, outcome.event) == ("normal", "host:stats:normal")
    data = outcome.data
    assert {"cpu", "mem", "cache", "disk"} == set(data)
    numbers = [data["cpu"], data["mem"], data["cache"], *(item["value"] for item in data["disk"])]
    assert all(0 <= number <= 100 for number in numbers)
    assert data["mem"] > 0
    assert data["disk"][0]["name"] == "/"
    assert outcome.measured["disk /"] == data["disk"][0]["value"]


@pytest.mark.parametrize("name", ["cpu", "mem", "cache", "disk"])
def test_the_first_that_is_over_its_limit_decides(name: str) -> None:
    data: dict[str, Any] = {"cpu": 0.0, "mem": 0.0, "cache": 0.0}
    data["disk"] = [{"name": "/", "value": 1.0}, {"name": "/srv", "value": 2.0}]
    if name == "disk":
        data["disk"][1]["value"] = 95.0
    else:
        data[name] = 95.0
    limit = dict.fromkeys(("cpu", "mem", "cache", "disk"), 90.0)
    outcome = dstat._evaluate(limit, data)
    assert (outcome.state, outcome.event) == ("failure", f"host:stats:{name}:high")
    assert outcome.message == f"{name} 95 %, limit 90 %"


@pytest.mark.alone
async def test_a_dstat_check_takes_at_most_two_milliseconds() -> None:
    memory: dict[str, Any] = {}
    await dstat.check(CALM, memory)
    began = time.process_time()
    for _ in range(100):
        await dstat.check(CALM, memory)
    assert (time.process_time() - began) / 100 < 0.002
