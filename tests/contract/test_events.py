"""/-/events: live events for those who may see them; resumable."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from belvedere import events
from belvedere.events import Event, cursors
from belvedere.events.feed import Listener
from belvedere.server.background import consumers, history
from contract.client import Client
from contract.over_socket import every_transport
from contract.running import create, run
from contract.sse import PATIENCE_S, Stream
from contract.world import World
from manual_clock import ManualClock

EVENTS = "/-/events"


async def kinds(stream: Stream, last: str) -> list[str]:
    """The kinds of events up to one of this kind."""
    items = []
    while True:
        happened = await stream.next()
        assert happened is not None
        if happened.kind:
            items.append(happened.kind)
        if happened.kind == last:
            return items


@every_transport
async def test_events_are_streamed(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent, Stream(ada, EVENTS) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        job = await run(uma, agent, task)
        created = await stream.until("job.created")
        assert created.data["object"] == "job" and created.data["object_id"] == job["id"]
        assert created.data["data"]["lifecycle"] == "ready"
        assert created.data["data"]["task_id"] == task
        assert await kinds(stream, "job.finished") == ["job.assigned", "job.finished"]


async def test_a_stream_resumes_by_last_event_id(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    async with Stream(ada, EVENTS) as stream:
        await create(uma, task)
        server_event = await stream.until("job.created")
    jobs = [(await create(uma, task))["id"] for _ in range(3)]
    async with Stream(ada, EVENTS, {"last-event-id": server_event.id}) as stream:
        missed = [(await stream.until("job.created")).data["object_id"] for _ in jobs]
        assert missed == jobs
        live = await create(uma, task)
        assert (await stream.until("job.created")).data["object_id"] == live["id"]
    async with Stream(ada, f"{EVENTS}?last_event_id={server_event.id}") as stream:
        assert (await stream.until("job.created")).data["object_id"] == jobs[0]


async def test_without_an_id_it_begins_now(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    await create(uma, task)
    async with Stream(ada, EVENTS) as stream:
        later = await create(uma, task)
        assert (await stream.until("job.created")).data["object_id"] == later["id"]


async def test_a_viewer_sees_events_that_the_acl_allows(
    world: World, ada: Client, vic: Client
) -> None:
    hidden, task_id = await world.task("hidden", acl=[]), await world.task("shown", acl=["vic"])
    async with Stream(vic, EVENTS) as stream:
        await create(ada, hidden)
        await ada.patch(f"/acme/task/{hidden}", {"description": "x"})
        await ada.post("/api/token", {"name": "x"})
        job = await create(ada, task_id)
        first = await stream.next()
        while first is not None and not first.kind:
            # Ids are sent even if no event is visible, so that a reader's cursor moves on.
            first = await stream.next()
        assert first is not None
        assert (first.kind, first.data["object_id"]) == ("job.created", job["id"])


async def test_ids_come_even_when_nothing_is_visible(
    world: World, ada: Client, vic: Client
) -> None:
    hidden = await world.task(acl=[])
    async with Stream(vic, EVENTS) as stream:
        await create(ada, hidden)
        happened = await stream.next()
        while happened is not None and not happened.id:
            happened = await stream.next()
        assert happened is not None and happened.kind == ""


async def test_the_starter_of_a_job_gets_its_events(world: World, ada: Client, uma: Client) -> None:
    task = await world.task(acl=["uma"])
    async with Stream(uma, EVENTS) as stream:
        job = await create(uma, task)
        await ada.delete(f"/acme/task/{task}/acl")
        await ada.put(f"/acme/job/{job['id']}/cancel")
        assert (await stream.until("job.canceled")).data["object_id"] == job["id"]


async def test_an_approver_gets_the_event_of_the_job_to_approve(
    world: World, uma: Client, vic: Client
) -> None:
    task = await world.task(type="approval", approvers=["vic"], acl=["uma"])
    async with Stream(vic, EVENTS) as stream:
        job = await create(uma, task)
        assert (await stream.until("job.created")).data["object_id"] == job["id"]


async def test_every_member_gets_events_of_hosts(world: World, vic: Client) -> None:
    async with Stream(vic, EVENTS) as stream:
        async with world.agent():
            assert (await stream.until("host.connected")).data["data"]["hostname"] == "web-1"
        await stream.until("host.disconnected")


async def test_another_organization_gets_no_events(world: World, eve: Client, ada: Client) -> None:
    task, theirs = await world.task(), await world.task(by="eve")
    async with Stream(eve, EVENTS) as stream:
        await create(ada, task)
        await ada.post("/api/token", {"name": "x"})
        job = (await eve.post("/job", {"task": theirs})).json
        happened = await stream.next()
        while happened is not None and not happened.kind:
            happened = await stream.next()
        assert happened is not None and happened.data["object_id"] == job["id"]


async def test_a_cursor_that_is_too_old_means_resync(world: World, ada: Client) -> None:
    await world.task()
    await world.runtime.db.write(lambda tx: tx.execute("delete from events"))
    await world.task("later")
    async with Stream(ada, EVENTS, {"last-event-id": "0.1"}) as stream:
        assert (await stream.until("resync")).data == {"reason": "too_old"}


async def test_a_cursor_from_the_future_means_resync(world: World, ada: Client) -> None:
    """After a restore the server is behind what a reader has seen."""
    async with Stream(ada, EVENTS, {"last-event-id": f"{2**62}.{2**62}"}) as stream:
        await stream.until("resync")
        await create(ada, await world.task())
        await stream.until("job.created")


async def test_a_cursor_that_is_none_is_refused(ada: Client) -> None:
    for cursor in (
        "x",
        "1",
        "1.",
        ".1",
        "1.2.3",
        "--1.1",
        "\xb2.1",
        "9" * 30 + ".1",
        "1." + "9" * 30,
    ):
        refused = await ada.get(EVENTS, headers={"last-event-id": cursor})
        assert refused.status == 400, cursor


@every_transport
async def test_a_stream_ends_when_its_reader_loses_access(
    world: World, ada: Client, uma: Client
) -> None:
    task, olga = await world.task(), world.client("olga")
    async with Stream(uma, EVENTS) as stream:
        await create(ada, task)
        await stream.until("job.created")
        await olga.delete(f"/api/member/{world.actors.uma.member_id}")
        await create(ada, task)
        [last] = await stream.rest()
        assert (last.kind, last.data) == ("resync", {"reason": "permissions_changed"})


async def test_a_token_that_expires_is_cut_off(
    world: World, ada: Client, clock: ManualClock
) -> None:
    token = (await ada.post("/api/token", {"name": "short", "expires_in": 60})).json
    client = Client(world.app, token["token"], check=world.conformity)
    task = await world.task()
    async with Stream(client, EVENTS) as stream:
        await create(ada, task)
        await stream.until("job.created")
        clock.move(61)
        unseen = await create(ada, task)
        *others, last = await stream.rest()
        assert last.kind == "resync"
        # Events that were already on their way do not count here.
        assert unseen["id"] not in [other.data["object_id"] for other in others]


async def test_a_token_that_expires_while_it_catches_up_is_cut_off(
    world: World, ada: Client, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await ada.post("/api/token", {"name": "short", "expires_in": 60})).json
    client = Client(world.app, token["token"], check=world.conformity)
    task = await world.task()
    async with Stream(client, EVENTS) as stream:
        await create(ada, task)
        server_event = await stream.until("job.created")
    await create(ada, task)
    feed = world.runtime.feed
    listen = feed.listen

    async def late(listener: Listener) -> Callable[[], None]:
        """Inside the handler, before anything is read."""
        clock.move(61)
        return await listen(listener)

    monkeypatch.setattr(feed, "listen", late)
    async with Stream(client, EVENTS, {"last-event-id": server_event.id}) as stream:
        assert [item.kind for item in await stream.rest()] == ["resync"]


async def test_a_second_listener_hides_no_event_from_the_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both start the feed; the second has read the end of the log after the event."""
    feed, db = world.runtime.feed, world.runtime.db
    batches: list[list[Event]] = []
    is_delayed, has_both = asyncio.Event(), asyncio.Event()
    read, catch_up = db.read, feed._catch_up

    async def catch_up_late() -> None:
        await has_both.wait()
        await catch_up()

    async def read_late(operation: Any, *args: Any) -> Any:
        if operation is events.newest and not is_delayed.is_set():
            is_delayed.set()
            stop_first.append(await feed.listen(batches.append))
            await db.write(events.append, world.actors.acme.id, "host.changed", "h1", {})
        return await read(operation, *args)

    stop_first: list[Callable[[], None]] = []
    monkeypatch.setattr(db, "read", read_late)
    monkeypatch.setattr(feed, "_catch_up", catch_up_late)
    stop_second = await feed.listen(lambda _: None)
    has_both.set()
    async with asyncio.timeout(PATIENCE_S):
        while not batches:
            await asyncio.sleep(0)
    assert [event.object_id for batch in batches for event in batch] == ["h1"]
    for stop in (stop_second, *stop_first):
        stop()


async def test_an_agent_has_no_access_to_the_route(world: World) -> None:
    assert (await world.client("web-1").get(EVENTS)).status == 403


async def test_a_narrower_acl_counts_at_once(world: World, ada: Client, vic: Client) -> None:
    task, other = await world.task("one"), await world.task("other")
    async with Stream(vic, EVENTS) as stream:
        await create(ada, task)
        await stream.until("job.created")
        await ada.delete(f"/acme/task/{task}/acl")
        await create(ada, task)
        job = await create(ada, other)
        assert (await stream.until("job.created")).data["object_id"] == job["id"]


async def test_a_reader_that_hangs_up_is_noticed(world: World, ada: Client) -> None:
    async with Stream(ada, EVENTS):
        pass
    assert not world.runtime.feed._listeners


async def test_topics_narrow_it(world: World, ada: Client, uma: Client) -> None:
    task = await world.task()
    async with Stream(ada, f"{EVENTS}?topics=webhook,indicator") as stream:
        await create(uma, task)
        await ada.post("/indicator", {"title": "x", "type": "counter"})
        await ada.post("/webhook", {"name": "x"})
        assert await kinds(stream, "webhook.created") == ["indicator.created", "webhook.created"]
    refused = await ada.get(f"{EVENTS}?topics=job,nothing")
    assert (refused.status, refused.code) == (400, "invalid_query")


async def test_every_member_gets_events_of_shared_views(
    world: World, uma: Client, vic: Client
) -> None:
    async with Stream(vic, f"{EVENTS}?topics=view") as stream:
        await uma.post("/view", {"name": "mine", "page": "jobs"})
        shared = await uma.post("/view", {"name": "ours", "page": "jobs", "shared": True})
        server_event = await stream.until("view.changed")
        assert server_event.data["object_id"] == shared.json["id"]


async def test_a_cursor_before_deleted_events_gets_resync(world: World, ada: Client) -> None:
    """Older events of jobs may still exist, so the oldest event proves nothing."""
    async with Stream(ada, EVENTS) as stream:
        await world.task("first")
        server_event = await stream.until("task.created")
    for number in range(3):
        await world.task(f"task {number}")
    world.runtime.settings.event_budget = 2
    for consumer in consumers.CONSUMERS:
        newest = await world.runtime.db.read(events.newest)
        await world.runtime.db.write(cursors.save, consumer.name, newest)
    await history.purge_events(world.runtime)
    async with Stream(ada, EVENTS, {"last-event-id": server_event.id}) as stream:
        assert [item.kind for item in [await stream.next()] if item] == ["resync"]
    async with Stream(ada, f"{EVENTS}?topics=host", {"last-event-id": server_event.id}) as stream:
        assert [item.kind for item in [await stream.next()] if item] == [""]
