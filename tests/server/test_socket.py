"""The agent endpoint: who may connect, and that messages affect only the agent's own records."""

import asyncio
import json
from dataclasses import asdict
from typing import Any

import pytest

from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.protocol import (
    Ack,
    AttemptEnded,
    BlobRequest,
    Hello,
    JournaledAttempt,
    Order,
    OutputAck,
    Report,
    Stop,
    Welcome,
    pack_output,
)
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.background import loops
from contract.client import Client
from contract.fakeagent import FakeAgent, hello
from contract.running import create, show
from contract.world import World


async def close_code(agent: FakeAgent, *frames: str | bytes) -> int:
    """The code with which the server closes the connection of a client that sends this."""
    await agent.connect()
    for frame in frames:
        await (agent.text(frame) if isinstance(frame, str) else agent.binary(frame))
    code = await agent.hangs_up()
    await agent.leave()
    return code


async def test_an_agent_gets_an_order_and_its_script(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        assert agent.welcome is not None
        assert agent.welcome.host_id == world.things.hosts["web-1"].host_id
        job = await create(ada, await world.task())
        order = await agent.order()
        assert (order.job_id, order.session) == (job["id"], agent.welcome.session)
        script = await agent.fetch(order.sha256)
        assert script == b"#!/bin/sh\necho hello\n"
        await agent.end(order)
    assert (await show(ada, job["id"]))["state"] == "normal"


async def test_only_an_agents_credential_opens_it(world: World) -> None:
    first = json.dumps([{"kind": "hello"}])
    for token in ("", "x", "bva_" + "x" * 43):
        assert await close_code(FakeAgent(world.app, token), first) == 4401
    for token in (*world.actors.tokens.values(), world.things.integration["acme"]):
        assert await close_code(FakeAgent(world.app, token), first) == 4403
    headers = {"authorization": f"Basic {world.things.hosts['web-1'].token}"}
    assert await close_code(FakeAgent(world.app, "", None, **headers), first) == 4401
    assert len(world.runtime.agents) == 0


async def test_a_page_in_a_browser_does_not_open_it(world: World) -> None:
    token = world.things.hosts["web-1"].token
    agent = FakeAgent(world.app, token, None, origin="https://evil.test")
    assert await close_code(agent) == 4401


async def test_there_is_one_agent_route(world: World) -> None:
    agent = world.agent()
    await agent.connect(b"/acme/-/agent")
    assert await agent.hangs_up() == 4404
    await agent.leave()


async def test_a_revoked_credential_is_refused(world: World, ada: Client) -> None:
    await ada.delete(f"/acme/host/{world.things.hosts['web-1'].host_id}")
    assert await close_code(world.agent(), "[]") == 4401


GARBAGE: list[str | bytes] = [
    *("", "x", "null", "5", "{}", "[", "[5]", "[null]", "[[]]", '["hello"]', '"hello"'),
    *(b"", b"\x00", b"\x01", b"\xff" * 100, b"\x02" + b"x" * 60),
]


async def test_garbage_instead_of_a_hello_is_refused(world: World) -> None:
    first: list[str | bytes] = [*GARBAGE, "[]", "[{}]", '[{"kind": "beat", "live": []}]']
    for frame in first:
        assert await close_code(world.agent(), frame) == 4400, frame
    assert len(world.runtime.agents) == 0


async def test_garbage_later_ends_the_connection_cleanly(world: World) -> None:
    for frame in GARBAGE:
        async with world.agent() as agent:
            await (agent.text(frame) if isinstance(frame, str) else agent.binary(frame))
            assert await agent.hangs_up() == 4400, frame
    assert len(world.runtime.agents) == 0


BAD: list[dict[str, Any]] = [
    {"kind": "ended"},
    {"kind": "ended", "fence": "x", "report": {"ending": "exit"}},
    {"kind": "ended", "fence": 1, "report": {"ending": "nonsense"}},
    {"kind": "ended", "fence": -1, "report": {"ending": "exit", "log": ""}},
    {"kind": "ended", "fence": 2**63, "report": {"ending": "exit", "log": ""}},
    {"kind": "ended", "fence": 1, "report": {"ending": "exit", "bytes_total": 2**63}},
    {"kind": "started", "fence": 1},
    {"kind": "beat", "live": "x"},
    {"kind": "want"},
    {"kind": "hello"},
]


async def test_messages_of_a_wrong_shape_end_the_connection(world: World) -> None:
    for message in BAD:
        async with world.agent() as agent:
            await agent.text(json.dumps([message]))
            assert await agent.hangs_up() == 4400, message


async def test_a_second_hello_is_refused(world: World) -> None:
    async with world.agent() as agent:
        await agent.send_messages(hello())
        assert await agent.hangs_up() == 4400


async def test_another_version_of_the_protocol_is_refused(world: World) -> None:
    agent = world.agent(protocol=99)
    await agent.connect()
    await agent.send_messages(hello(protocol=99))
    assert await agent.hangs_up() == 4400
    await agent.leave()


async def test_unknown_messages_of_newer_agents_are_passed_over(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        await agent.text('[{"kind": "from the future"}, {"kind": "beat", "live": []}]')
        await create(ada, await world.task())
        await agent.end(await agent.order())


async def test_an_end_of_an_unknown_fence_has_no_effect(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        unknown_order = Order(0, order.fence + 1_000, "", "", "", [], [], {}, 0)
        # It is acknowledged, so that an agent with an old journal can forget it.
        await agent.end(unknown_order, code=0)
        assert (await show(ada, job["id"]))["lifecycle"] == "assigned"


async def test_another_hosts_fence_is_out_of_reach(world: World, ada: Client) -> None:
    async with world.agent("web-1") as fake_agent, world.agent("web-2") as other:
        job = await create(ada, await world.task(hostname="web-1"))
        order = await fake_agent.order()
        before = await show(ada, job["id"])
        await other.end(order, code=0, log="forged\n")
        await other.start(order)
        await other.write(order.fence, 0, 0, b"forged\n")
        await other.beat(order.fence)
        await other.end(order, code=0, log=None, bytes_total=7)
        assert await show(ada, job["id"]) == before
        assert (await ada.get(f"/acme/job/{job['id']}/log")).body == b""
        await fake_agent.end(order, code=3, log="true\n")
    ended = await show(ada, job["id"])
    assert (ended["state"], ended["result"]["code"], ended["result"]["log"]) == (
        "failure",
        3,
        "true\n",
    )


async def test_claiming_the_fence_of_another_host_in_the_hello_has_no_effect(
    world: World, ada: Client
) -> None:
    async with world.agent("web-1") as fake_agent:
        job = await create(ada, await world.task(hostname="web-1"))
        order = await fake_agent.order()
        async with world.agent("web-2", entries=(JournaledAttempt(order.fence, "live"),)) as other:
            assert (await other.hear(Stop)).fence == order.fence
            await other.write(order.fence, 0, 0, b"forged\n")
            await other.end(order, code=0, log=None, bytes_total=7)
            assert (await ada.get(f"/acme/job/{job['id']}/log")).body == b""
            assert (await show(ada, job["id"]))["lifecycle"] == "assigned"


async def test_an_end_counts_once(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        await agent.end(order, code=0)
        await agent.end(order, code=9)
    assert (await show(ada, job["id"]))["result"]["code"] == 0


async def test_the_newest_connection_of_a_host_wins(world: World, ada: Client) -> None:
    async with world.agent() as old, world.agent() as new:
        assert await old.hangs_up() == 4409
        assert new.welcome is not None and old.welcome is not None
        assert new.welcome.session > old.welcome.session
        job = await create(ada, await world.task())
        order = await new.order()
        assert (order.job_id, order.session) == (job["id"], new.welcome.session)
        assert not old.has_heard(Order)


async def test_a_session_that_was_opened_earlier_does_not_replace_a_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent has given up the first connection and opened another one, while the server was
    still reading the logs of the first."""
    is_open, continues = asyncio.Event(), asyncio.Event()
    open_session = AgentConnection.open_session

    async def open_slowly(connection: AgentConnection, first: Hello) -> None:
        await open_session(connection, first)
        if first.greeting == 1:
            is_open.set()
            await continues.wait()

    monkeypatch.setattr(AgentConnection, "open_session", open_slowly)
    old = world.agent(greeting=1)
    await old.connect()
    await old.send_messages(hello(greeting=1))
    await is_open.wait()
    async with world.agent(greeting=2) as new:
        continues.set()
        assert await old.hangs_up() == 4409
        assert new.welcome is not None and new.closed is None
        link = world.runtime.agents.for_host(new.welcome.host_id)
        assert link is not None and link.session == new.welcome.session
        assert not link.is_closing
        await old.leave()


async def test_a_session_from_before_a_failover_does_not_keep_the_host(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database lost the last sessions, so the next one has a lower number."""
    monkeypatch.setattr(
        AgentConnection, "close", lambda link, *_: setattr(link, "is_closing", True)
    )
    async with world.agent(greeting=1) as old:
        assert old.welcome is not None
        older = world.runtime.agents.for_host(old.welcome.host_id)
        assert older is not None
        older.session += 1_000
        older.close(4503, "a failover")
        async with world.agent(greeting=2) as new:
            assert new.welcome is not None
            link = world.runtime.agents.for_host(new.welcome.host_id)
            assert link is not None and link.session == new.welcome.session


async def test_a_heartbeat_of_the_old_connection_does_not_close_the_new_one(world: World) -> None:
    async with world.agent() as old:
        await old.beat()
        async with world.agent() as new:
            assert await old.hangs_up() == 4409
            # Only the old session has sent a message since the last check.
            assert old.welcome is not None and new.welcome is not None
            world.runtime.agents.take_contact_times()
            world.runtime.agents.record(
                old.welcome.host_id, old.welcome.session, world.runtime.clock()
            )
            await loops.record_seen(world.runtime)
            link = world.runtime.agents.for_host(new.welcome.host_id)
            assert link is not None and not link.is_closing


async def test_a_stale_session_is_closed(world: World) -> None:
    """Another server has opened a newer session of the host; only the database shows it."""
    async with world.agent() as agent:
        assert agent.welcome is not None
        host_id = agent.welcome.host_id
        await world.runtime.db.write(_raise_session, host_id)
        await agent.beat()
        await loops.record_seen(world.runtime)
        assert await agent.hangs_up() == 4409


def _raise_session(tx: Tx, host_id: str) -> None:
    tx.execute("update hosts set session = session + 1 where id = ?", host_id)


async def test_a_hello_counts_as_a_heartbeat(world: World) -> None:
    async with world.agent() as agent:
        assert agent.welcome is not None
        sessions = [beat[:2] for beat in world.runtime.agents.take_contact_times()]
        assert (agent.welcome.host_id, agent.welcome.session) in sessions


async def test_a_rolled_back_journal_runs_nothing_again(world: World, ada: Client) -> None:
    """The disk of the agent's host was restored from a snapshot taken before it connected."""
    task = await world.task()
    async with world.agent(greeting=5) as agent:
        job = await create(ada, task)
        await agent.order()
    restored = world.agent(greeting=3)
    assert await close_code(restored, _frame(hello(greeting=3))) == 4410
    # Each retry has a higher number, until it is above the last one that the server knows.
    async with world.agent(greeting=6) as agent:
        assert not agent.has_heard(Order)
    record = await show(ada, job["id"])
    assert (record["state"], record["ran"]) == ("lost", "maybe")


async def test_a_journal_behind_its_accepted_fences_runs_nothing_again(
    world: World, ada: Client
) -> None:
    """The snapshot is of the same session, so that the number of the hello shows nothing."""
    task = await world.task()
    async with world.agent(greeting=5) as agent:
        done, waiting = await create(ada, task), await create(ada, task)
        first, _ = await agent.order(), await agent.order()
        await agent.end(first)
        await loops.record_seen(world.runtime)
    async with world.agent(greeting=6, highest=first.fence - 1):
        pass
    assert (await show(ada, done["id"]))["state"] == "normal"
    assert (await show(ada, waiting["id"]))["state"] == "lost"


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "still open"])
async def test_a_journal_without_the_last_accepted_fence_runs_nothing_again(
    world: World, ada: Client, is_open: bool
) -> None:
    """It was rolled back before the accepted fence was recorded."""
    task = await world.task()
    agent = world.agent(greeting=5)
    async with agent:
        waiting = [await create(ada, task) for _ in range(2)][1]
        first, _ = await agent.order(), await agent.order()
        await agent.end(first)
        if is_open:
            async with world.agent(greeting=6, highest=first.fence - 1):
                pass
    async with world.agent(greeting=7, highest=first.fence - 1):
        record = await show(ada, waiting["id"])
    assert (record["state"], record["ran"]) == ("lost", "maybe")


async def test_a_journal_that_lacks_a_start_runs_nothing_again(world: World, ada: Client) -> None:
    """The server was killed with the accepted fences that it had not recorded."""
    task = await world.task()
    async with world.agent(greeting=5) as agent:
        jobs = [await create(ada, task) for _ in range(2)]
        first, _ = await agent.order(), await agent.order()
        await agent.start(first)
        await until_started(world, first.fence)
    await world.runtime.db.write(lambda tx: tx.execute("update hosts set accepted_fence = 0"))
    async with world.agent(greeting=6, highest=first.fence - 1) as agent:
        assert not agent.has_heard(Order)
    for job in jobs:
        assert (await show(ada, job["id"]))["state"] == "lost"
    [host] = (await ada.get("/-/board/hosts?where[hostname]=web-1")).json
    assert [warning["code"] for warning in host["warnings"]] == ["journal_rolled_back"]


async def test_a_start_in_the_journal_is_no_rollback(world: World, ada: Client) -> None:
    """An agent of an earlier version does not send its highest fence."""
    task = await world.task()
    async with world.agent(greeting=5) as agent:
        started, waiting = await create(ada, task), await create(ada, task)
        first, _ = await agent.order(), await agent.order()
        await agent.start(first)
        await until_started(world, first.fence)
    await world.runtime.db.write(lambda tx: tx.execute("update hosts set accepted_fence = 0"))
    entries = [JournaledAttempt(first.fence, "live")]
    async with world.agent(greeting=6, entries=entries) as agent:
        assert (await agent.order()).job_id == waiting["id"]
    assert (await show(ada, started["id"]))["lifecycle"] == "assigned"


async def until_started(world: World, fence: int) -> None:
    query = "select started_at from attempts where fence = ?"
    while await world.runtime.db.read(lambda tx: tx.value(query, fence)) is None:
        await asyncio.sleep(0)


def _frame(message: Any) -> str:
    return json.dumps([asdict(message)])


async def test_another_machine_does_not_take_a_live_host(world: World) -> None:
    async with world.agent() as agent:
        thief = world.agent()
        await thief.connect()
        await thief.send_messages(hello(fingerprint="another machine"))
        assert await thief.hangs_up() in (4401, 4409)
        await thief.leave()
        await agent.beat()
        assert len(world.runtime.agents) == 1


async def test_bytes_of_another_organization_are_not_found(world: World, eve: Client) -> None:
    await world.task(script={"filename": "a.sh", "source": "acme's own"})
    theirs = await world.task(by="eve", script={"filename": "b.sh", "source": "globex's own"})
    async with world.agent("box-1") as box, world.agent("web-1") as web:
        await eve.post("/job", {"task": theirs})
        order = await box.order()
        assert await box.fetch(order.sha256) == b"globex's own"
        assert await web.fetch(order.sha256) is None
        for nothing in ("0" * 64, "x", "\0", order.sha256.upper()):
            assert await web.fetch(nothing) is None


async def test_acknowledged_reports_are_durable(world: World, ada: Client) -> None:
    """The acknowledgement of output comes after the bytes can be read."""
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        await agent.binary(pack_output(order.fence, 0, 0, b"abc"))
        output_ack = await agent.hear(OutputAck)
        assert (output_ack.fence, output_ack.offset) == (order.fence, 3)
        assert (await ada.get(f"/acme/job/{job['id']}/log")).body == b"abc"


async def test_output_after_a_failed_write_is_sent_again(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One write fails while the next piece and the end are on their way: nothing is missing."""
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        join = world.runtime.logs.write_batched
        failed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        futures = iter([failed])
        monkeypatch.setattr(
            world.runtime.logs,
            "write_batched",
            lambda verb, item: next(futures, None) or join(verb, item),
        )
        await agent.write(order.fence, 0, 0, b"one\n")
        await agent.write(order.fence, 4, 1, b"two\n")
        end: dict[str, Any] = {"log": None, "bytes_total": 8, "lines_total": 2}
        await agent.send_messages(AttemptEnded(order.fence, Report(ending="exit", **end)))
        failed.set_exception(Unavailable("The database was away."))
        assert await agent.hangs_up() == 4503
    async with world.agent(entries=(JournaledAttempt(order.fence, "ended"),)) as agent:
        assert agent.welcome is not None
        assert agent.welcome.resume == {str(order.fence): 0}
        await agent.write(order.fence, 0, 0, b"one\ntwo\n")
        await agent.end(order, **end)
    assert (await ada.get(f"/acme/job/{job['id']}/log")).body == b"one\ntwo\n"
    assert (await show(ada, job["id"]))["state"] == "normal"


async def test_a_job_that_was_never_accepted_is_assigned_again(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        lost = await agent.order()
    async with world.agent() as agent:
        again = await agent.order()
        assert again.job_id == job["id"] and again.fence > lost.fence
        await agent.end(lost, code=9)
        await agent.end(again, code=0)
    ended = await show(ada, job["id"])
    assert (ended["state"], ended["attempt_count"]) == ("normal", 1)


async def test_a_job_in_the_journal_continues(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        order = await agent.order()
        await agent.write(order.fence, 0, 0, b"half ")
        await agent.hear(OutputAck)
    async with world.agent(entries=(JournaledAttempt(order.fence, "live"),)) as agent:
        assert agent.welcome is not None
        assert agent.welcome.resume == {str(order.fence): 5}
        await agent.write(order.fence, 5, 0, b"done\n")
        await agent.end(order, log=None, bytes_total=10, lines_total=1, sha256="ab" * 32)
    assert (await ada.get(f"/acme/job/{job['id']}/log")).text == "half done\n"


async def test_no_more_orders_than_slots(world: World, ada: Client) -> None:
    task = await world.task()
    async with world.agent(slots=2) as agent:
        jobs = [await create(ada, task) for _ in range(3)]
        orders = [await agent.order() for _ in range(2)]
        assert [order.job_id for order in orders] == [job["id"] for job in jobs[:2]]
        assert (await show(ada, jobs[2]["id"]))["waiting_reason"] == "host_busy"
        assert not agent.has_heard(Order)
        await agent.end(orders[0])
        assert (await agent.order()).job_id == jobs[2]["id"]


async def test_the_refusal_has_a_message(world: World) -> None:
    agent = FakeAgent(world.app, world.actors.tokens["ada"])
    await agent.connect()
    await agent.hangs_up()
    await agent.leave()
    assert agent.closed is not None and "agent" in agent.closed[1]
    assert not agent.has_heard(Welcome) and not agent.has_heard(Ack)


async def test_an_unneeded_blob_request_is_ignored(world: World) -> None:
    async with world.agent() as agent:
        await agent.send_messages(*[BlobRequest("0" * 64)] * 50)
        await agent.beat()
        assert await agent.fetch("1" * 64) is None
