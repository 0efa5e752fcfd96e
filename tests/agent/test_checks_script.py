"""Scripts of monitors: the keeper runs them, and none of their processes outlives the check or the
agent."""

import asyncio
import base64
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.processes import command_lines, is_alive
from belvedere.agent import state_folder
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.file_cache import FileCache
from belvedere.agent.keeper_client import KeeperClient, connect_keeper
from belvedere.agent.monitoring.scheduler import perform
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.protocol import MonitorCheck
from e2e.wait_until import until

pytestmark = pytest.mark.usefixtures("loop_factory")

Run = Callable[..., Coroutine[Any, Any, Outcome]]
Bench = tuple[Run, KeeperClient]


def asleep(mark: str) -> list[int]:
    """The processes that sleep for this long."""
    words = f"sleep\0{mark}\0"
    return [pid for pid, line in command_lines() if line == words and is_alive(pid)]


@asynccontextmanager
async def bench(path: Path) -> AsyncIterator[Bench]:
    """A keeper, and the agent's side of its connection."""
    place = state_folder.prepare(str(path))
    keeper = await connect_keeper(place)
    scripts = ScriptChecks(FileCache(place.cache))
    scripts.attach(keeper)

    async def run(source: str, *arguments: str, timeout: int = 20_000, **more: Any) -> Outcome:
        config = {
            "filename": "check.sh",
            "source": base64.b64encode(source.encode()).decode(),
            "runas": [],
            "script_arguments": list(arguments),
            "timeout": timeout,
            **more,
        }
        return await perform(MonitorCheck("m", "script", 1, 60_000, config), scripts.check, {})

    try:
        yield run, keeper
    finally:
        assert keeper.process is not None
        keeper.close()
        keeper.process.send_signal(signal.SIGTERM)
        keeper.process.wait(30)


async def test_a_check_script_sets_the_state(tmp_path: Path) -> None:
    async with bench(tmp_path) as (run, _):
        good = await run("#!/bin/sh\necho looking at $1\necho ok\n", "it")
        assert (good.state, good.data["lastline"]) == ("normal", "ok")
        bad = await run("#!/bin/sh\necho broken\nexit 3\n")
        assert (bad.state, bad.message, bad.data["code"]) == ("failure", "exit code 3: broken", 3)
        assert (await run("echo failure\n")).state == "failure"
        outcome = await run(
            """echo '{"state":"failure","event_name":"disk:full","data":{"n":1}}'"""
        )
        assert (outcome.state, outcome.event, outcome.data["output"]) == (
            "failure",
            "disk:full",
            {"n": 1},
        )
        python = await run("print('normal')", runas=["%python%", "%script%"])
        assert python.state == "normal"


async def test_a_script_that_cannot_start_is_a_failure(tmp_path: Path) -> None:
    async with bench(tmp_path) as (run, _):
        outcome = await run("#!/no/such/interpreter\n")
        assert (outcome.state, outcome.event) == ("failure", "script:error:start")


async def test_many_run_at_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as (run, _):
        outcomes = await asyncio.gather(*(run(f"echo 'number {n}'\n") for n in range(20)))
        assert [item.data["lastline"] for item in outcomes] == [f"number {n}" for n in range(20)]


async def test_a_flood_is_bounded_and_stays_off_the_disk(tmp_path: Path) -> None:
    async with bench(tmp_path) as (run, _):
        outcome = await run("#!/bin/sh\nhead -c 5000000 /dev/zero | tr '\\0' x\necho; echo ok\n")
        assert (outcome.state, outcome.data["lastline"]) == ("normal", "ok")
        assert os.listdir(tmp_path / "spool") == []


# A child that leaves the session and the folder, and clears its environment.
HIDING = "#!/bin/sh\n(cd /; exec setsid env -i sh -c 'exec sleep {mark}') &\n"


async def test_at_its_deadline_all_its_processes_end(tmp_path: Path) -> None:
    mark = f"1{time.time_ns()}"
    async with bench(tmp_path) as (run, _):
        outcome = await run(HIDING.format(mark=mark) + f"sleep 2{mark}\n", timeout=500)
        assert outcome.event == "script:timeout"
        until(lambda: not asleep(mark), 30, lambda: str(asleep(mark)))


async def test_children_of_a_check_script_end_with_it(tmp_path: Path) -> None:
    mark = f"1{time.time_ns()}"
    async with bench(tmp_path) as (run, _):
        assert (await run(HIDING.format(mark=mark) + "echo ok\n")).state == "normal"
        assert not asleep(mark)


async def test_a_check_script_ends_with_its_agent(tmp_path: Path) -> None:
    mark = f"1{time.time_ns()}"
    async with bench(tmp_path) as (run, keeper):
        waits = asyncio.create_task(run(f"#!/bin/sh\nsleep {mark}\n"))
        await asyncio.to_thread(until, lambda: bool(asleep(mark)), 30, lambda: "")
        keeper.close()
        await asyncio.to_thread(until, lambda: not asleep(mark), 30, lambda: "")
        waits.cancel()


async def test_a_check_script_ends_when_its_monitor_is_changed_or_deleted(tmp_path: Path) -> None:
    """A monitor that is changed or deleted."""
    mark = f"1{time.time_ns()}"
    async with bench(tmp_path) as (run, _):
        waits = asyncio.create_task(run(f"#!/bin/sh\nsleep {mark}\n"))
        await asyncio.to_thread(until, lambda: bool(asleep(mark)), 30, lambda: "")
        waits.cancel()
        await asyncio.to_thread(until, lambda: not asleep(mark), 30, lambda: "")


async def test_the_next_keeper_ends_the_scripts_of_a_killed_one(tmp_path: Path) -> None:
    mark = f"1{time.time_ns()}"
    async with bench(tmp_path) as (run, keeper):
        waits = asyncio.create_task(run(f"#!/bin/sh\ncd /; setsid sleep {mark}\n"))
        await asyncio.to_thread(until, lambda: bool(asleep(mark)), 30, lambda: "")
        assert keeper.process is not None
        keeper.process.kill()
        keeper.process.wait(30)
        assert asleep(mark)
        async with bench(tmp_path) as (again, _):
            assert (await again("echo ok\n")).state == "normal"
            assert not asleep(mark)
        waits.cancel()


async def test_a_missing_keeper_is_reported(tmp_path: Path) -> None:
    async with bench(tmp_path) as (run, keeper):
        keeper.close()
        await keeper.lost.wait()
        outcome = await run("echo ok\n")
        assert (outcome.state, outcome.event) == ("failure", "agent:worker:error")


async def test_the_last_line_of_a_script_does_not_repeat_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = ScriptChecks(FileCache(str(tmp_path)))

    async def run(_: ScriptChecks, config: dict[str, Any]) -> dict[str, Any]:
        return {"ending": "exit", "code": 1, "lastline": f"bad key {config['masks'][0]}"}

    monkeypatch.setattr(ScriptChecks, "_run", run)
    outcome = await checks.check({"masks": ["hunter22"]}, {})
    assert "hunter22" not in str(outcome)
    assert outcome.data["lastline"].startswith("bad key ")
    missing = await checks.check({"problem": "The secret DB is not set."}, {})
    assert (missing.state, missing.event) == ("failure", "script:config:secret")
