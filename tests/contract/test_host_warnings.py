"""Warnings of a host after a restore: why it gets no jobs, and which jobs to check."""

import logging
from typing import Any

import pytest

from belvedere.base.clock import SECOND
from belvedere.db import Tx, installation
from belvedere.hosts import journal_warnings
from belvedere.jobs.recovery import restore
from contract.client import Client
from contract.fakeagent import hello
from contract.running import create
from contract.world import World
from manual_clock import ManualClock


async def warnings(client: Client, hostname: str = "web-1") -> list[dict[str, Any]]:
    lines = (await client.get("/-/board/hosts")).json
    [line] = [line for line in lines if line["hostname"] == hostname]
    return list(line["warnings"])


async def codes(client: Client) -> list[str]:
    return [warning["code"] for warning in await warnings(client)]


async def event_kinds(world: World, pattern: str) -> list[str]:
    rows = await world.runtime.db.read(
        lambda tx: tx.rows("select kind from events where kind like ? order by id", pattern)
    )
    return [kind for (kind,) in rows]


def restore_database(tx: Tx) -> None:
    """`belvedere mark-restored`, and the start that follows it."""
    restore.was_restored(tx)
    installation.raise_epoch(tx)
    restore.hold_after_restore(tx)


async def refused_hello(world: World, **fields: Any) -> tuple[int, str]:
    """The close code and the reason of a hello that the server refuses."""
    agent = world.agent()
    await agent.connect()
    await agent.send_messages(hello(**fields))
    code = await agent.hangs_up()
    assert agent.closed is not None
    await agent.leave()
    return code, agent.closed[1]


async def test_a_host_without_problems_has_no_warnings(world: World, uma: Client) -> None:
    async with world.agent(greeting=1):
        assert await warnings(uma) == []
    async with world.agent(greeting=2):
        assert await warnings(uma) == []


async def test_held_jobs_of_a_restored_database_are_reported_until_they_are_released(
    world: World, ada: Client
) -> None:
    async with world.agent(greeting=1):
        pass
    for _ in range(2):
        await create(ada, await world.task())
    await world.runtime.db.write(restore_database)
    awaited, host = await warnings(ada)
    assert (awaited["code"], host["code"], host["jobs"]) == ("journal_awaited", "jobs_held", 2)
    assert awaited["since"] == host["since"] is not None
    assert await warnings(ada, "web-2") == []
    # A different process holds the journal: it proves nothing, and the jobs stay held.
    async with world.agent(greeting=2):
        assert await codes(ada) == ["jobs_held"]
        assert (await ada.post("/acme/job/release", {})).json["released"] == 2
        assert await codes(ada) == []


async def test_a_refused_journal_is_reported_with_what_to_do(
    world: World, uma: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for greeting in (1, 2):
        code, _ = await refused_hello(world, greeting=greeting, highest=1 << 60)
        assert code == 4409
    [warning] = await warnings(uma)
    assert warning["code"] == "journal_refused"
    assert "belvedere mark-restored" in warning["message"]
    # The agent retries again and again; people are notified once.
    assert await event_kinds(world, "host.journal%") == ["host.journal_refused"]
    lines = [line for line in caplog.messages if line.startswith("agent refused host=")]
    assert len(lines) == 1 and "mark-restored" in lines[0]
    async with world.agent(greeting=3):
        assert await warnings(uma) == []


@pytest.mark.parametrize("renews", [True, False])
async def test_a_journal_that_went_back_is_reported_for_a_week(
    world: World, uma: Client, clock: ManualClock, renews: bool
) -> None:
    async with world.agent(greeting=5):
        pass
    assert (await refused_hello(world, greeting=3, renews=renews))[0] == 4410
    assert await warnings(uma) == []
    # A newer agent starts another journal, an older one says higher numbers until one is accepted.
    again = {"journal_id": "another"} if renews else {"greeting": 6}
    async with world.agent(renews=renews, **again):
        assert await codes(uma) == ["journal_rolled_back"]
    assert await event_kinds(world, "host.journal%") == ["host.journal_rolled_back"]
    clock.move(journal_warnings.ROLLBACK_WARNING_PERIOD // SECOND)
    # Not the session of a person, which has ended in the meantime.
    assert await warnings(world.client("token")) == []


async def test_a_hello_that_was_overtaken_is_no_rolled_back_journal(
    world: World, uma: Client
) -> None:
    async with world.agent(greeting=5):
        pass
    assert (await refused_hello(world, greeting=4, renews=True))[0] == 4410
    async with world.agent(greeting=6, renews=True):
        assert await warnings(uma) == []
    # A new journal later, for another reason.
    async with world.agent(journal_id="another", renews=True):
        assert await warnings(uma) == []
