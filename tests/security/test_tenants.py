"""Attacks of one organization on the others: an organization that sends slowly, or much, only
delays itself."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import msgspec
import pytest

from belvedere.access import Actor, Keyring, audit
from belvedere.access.customers import service as customers
from belvedere.access.request import AnyRequest
from belvedere.base.fair_queue import Lane, LaneFull
from belvedere.db import Database, Tx
from belvedere.egress.lanes import LaneKind, LaneUsage
from belvedere.egress.messages import EgressRequest, EgressResult
from belvedere.egress.pool import EgressPool
from belvedere.jobs.api import list_pages
from belvedere.jobs.queries import pages
from belvedere.jobs.queries.pages import Page
from belvedere.notifications import routing, service, store
from belvedere.notifications.bodies import ChannelBody, RuleBody
from belvedere.notifications.delivery import dispatcher, outbox
from belvedere.notifications.delivery.dispatcher import SealedMail
from belvedere.notifications.model import AddressedNotice, Notice, NoticeSeverity
from belvedere.rest import response_budget
from belvedere.rest.listing import Listing
from contract import flowing
from contract.client import Client, Response
from contract.running import create
from contract.world import World
from egress.receivers import LOOPBACK, Sink, http_sink
from people import Actors

PATIENCE_S = 30.0


@dataclass
class SlowReceiver:
    """A receiver that keeps responding, slowly, until the end of the test: no timeout of a single
    read ends the call."""

    url: str
    got: int = 0


@contextmanager
def holding_sink() -> Iterator[SlowReceiver]:
    over = threading.Event()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            sink.got += 1
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(2.0):
                self.wfile.write(b"X-More: follows\r\n")

    class Server(ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """The worker was killed while it waited."""

    with Server(("127.0.0.1", 0), Handler) as server:
        sink = SlowReceiver(f"http://127.0.0.1:{server.server_address[1]}/hook")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield sink
        finally:
            over.set()
            server.shutdown()
            thread.join()


@asynccontextmanager
async def pool() -> AsyncIterator[EgressPool]:
    egress_pool = EgressPool(LOOPBACK, limit_s=150)
    try:
        yield egress_pool
    finally:
        await egress_pool.close()


async def wait_event(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, PATIENCE_S)


async def until(test: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not test():
            await asyncio.sleep(0.01)


def channels(db: Database, keys: Keyring, actor: Actor, url: str, count: int) -> None:
    """So many channels of the organization to this address, and a rule that uses them all."""
    ids = add_channels(db, keys, actor, url, count)
    db.write_blocking(service.create_rule, actor, RuleBody(name="all", channels=ids, group=0))


def add_channels(db: Database, keys: Keyring, actor: Actor, url: str, count: int) -> list[str]:
    ids = []
    for n in range(count):
        body = ChannelBody(name=f"channel {n}", url=f"{url}?{n}")
        checked = EgressResult(service="Webhook", scheme="http")
        ids.append(db.write_blocking(service.create_channel, keys, actor, body, checked).id)
    return ids


def publish(db: Database, actor: Actor, *titles: str) -> None:
    """Each title is a message to each channel."""

    def write(tx: Tx) -> None:
        notices = [
            Notice("monitor.failure", "monitor", "a" * 24, title, tx.now, NoticeSeverity.HIGH)
            for title in titles
        ]
        addressed_notices = [
            AddressedNotice(actor.customer_id, notice, is_alert=True) for notice in notices
        ]
        routing.route(tx, addressed_notices, store.active_rules(tx, [actor.customer_id]))

    db.write_blocking(write)


async def test_a_slow_receiver_delays_no_other_organization(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Eight receivers of acme never answer; globex gets its message meanwhile."""
    with holding_sink() as slow, http_sink() as quick:
        channels(db, keys, actors.ada, slow.url, 8)
        channels(db, keys, actors.eve, quick.url, 1)
        publish(db, actors.ada, "first", "second")
        publish(db, actors.eve, "of globex")
        async with pool() as new_pool:
            await dispatcher.send_due(db, keys, new_pool)
            assert await wait_event(quick.came)
            await until(lambda: slow.got == LaneKind.CHANNEL.share)


def organization(db: Database, keys: Keyring, actors: Actors, name: str) -> Actor:
    """An admin of a further organization."""
    create = partial(customers.create_customer, reserved=frozenset())
    created = db.write_blocking(create, keys, name, f"owner@{name}.test")
    return msgspec.structs.replace(actors.eve, customer_id=created.customer.id)


async def test_two_organizations_with_slow_receivers_do_not_delay_a_third(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Each of acme and globex has as many calls in progress as it may; the third organization sends
    as many at once as if it were alone."""
    third = organization(db, keys, actors, "initech")
    with holding_sink() as slow, holding_sink() as other:
        for actor in (actors.ada, actors.eve):
            channels(db, keys, actor, slow.url, 8)
            publish(db, actor, "first", "second")
        async with pool() as new_pool:
            await dispatcher.send_due(db, keys, new_pool)
            await until(lambda: slow.got == 2 * LaneKind.CHANNEL.share)
            channels(db, keys, third, other.url, 8)
            publish(db, third, "of initech")
            await dispatcher.send_due(db, keys, new_pool)
            await until(lambda: other.got == LaneKind.CHANNEL.share)
            assert slow.got == 2 * LaneKind.CHANNEL.share


async def test_two_slow_providers_delay_no_other_organizations_sign_in(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    third = organization(db, keys, actors, "initech")
    with holding_sink() as slow, http_sink() as quick:
        async with pool() as new_pool:
            tasks = [
                _start_call(new_pool, actor, slow)
                for actor in (actors.ada, actors.eve)
                for _ in range(10)
            ]
            await until(lambda: slow.got == 2 * LaneKind.SIGN_IN.share)
            assert (await _start_call(new_pool, third, quick)).status == 200
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("kind", [LaneKind.CHANNEL, LaneKind.SIGN_IN])
def test_the_last_places_are_for_organizations_without_a_running_call(kind: LaneKind) -> None:
    """Three organizations take what they can, then all try: only others get a slot."""
    usage = LaneUsage(kind)
    for customer_id in ("a", "b", "c") * 5:
        if usage.has_room(customer_id):
            usage.begin(customer_id)
    assert usage.sending == Counter(a=2, b=2, c=2) and usage.free == kind.reserved == 2
    started = []
    for customer_id in ("a", "d", "d", "b", "e", "f"):
        if usage.has_room(customer_id):
            usage.begin(customer_id)
            started.append(customer_id)
    assert started == ["d", "e"] and usage.free == 0


def test_the_outbox_leaves_the_last_places_to_others(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Six slots are used, one of them by acme: its next message waits, that of globex is sent."""
    for actor in (actors.ada, actors.eve):
        channels(db, keys, actor, "http://127.0.0.1/hook", 4)
        publish(db, actor, "x fails")
    usage = LaneUsage(LaneKind.CHANNEL, Counter({actors.acme.id: 1, "others": 5}))
    (claimed,) = db.write_blocking(outbox.claim_fairly, [usage])
    assert [message.customer_id for message in claimed] == [actors.globex.id]


async def test_sign_in_does_not_wait_for_notifications(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Both organizations use up their slots for channels; their own sign-in continues to work."""
    with holding_sink() as slow, http_sink() as provider:
        for actor in (actors.ada, actors.eve):
            channels(db, keys, actor, slow.url, 4)
            publish(db, actor, "x fails")
        async with pool() as new_pool:
            await dispatcher.send_due(db, keys, new_pool)
            await until(lambda: slow.got == 2 * LaneKind.CHANNEL.share)
            for actor in (actors.ada, actors.eve):
                egress_request = EgressRequest(url=provider.url, method="GET")
                outcome = await new_pool.of(actor.customer_id).send(egress_request)
                assert (outcome.status, outcome.fault) == (200, "")


async def test_test_messages_delay_no_notification(world: World) -> None:
    """Both organizations test slow channels again and again; a notification is sent in the
    meantime."""
    runtime, actors = world.runtime, world.actors
    db, keys = runtime.db, runtime.keyring
    with holding_sink() as slow, http_sink() as quick:
        async with pool() as new_pool:
            runtime.egress = new_pool
            tests = []
            for who, actor in (("ada", actors.ada), ("eve", actors.eve)):
                for channel_id in add_channels(db, keys, actor, slow.url, 4):
                    call = world.client(who).post(f"/notify/channel/{channel_id}/test")
                    tests.append(asyncio.create_task(call))
            await until(lambda: slow.got >= 2)
            channels(db, keys, actors.ada, quick.url, 1)
            publish(db, actors.ada, "x fails")
            await dispatcher.send_due(db, keys, new_pool)
            assert await wait_event(quick.came)
            for task in tests:
                task.cancel()
            await asyncio.gather(*tests, return_exceptions=True)


async def test_a_slow_provider_delays_no_other_organizations_sign_in(actors: Actors) -> None:
    with holding_sink() as slow, http_sink() as quick:
        async with pool() as new_pool:
            tasks = [_start_call(new_pool, actors.ada, slow) for _ in range(10)]
            await until(lambda: slow.got == LaneKind.SIGN_IN.share)
            assert (await _start_call(new_pool, actors.eve, quick)).status == 200
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _start_call(
    new_pool: EgressPool, actor: Actor, sink: SlowReceiver | Sink
) -> "asyncio.Task[EgressResult]":
    request = EgressRequest(url=sink.url, method="GET")
    return asyncio.create_task(new_pool.of(actor.customer_id).send(request))


@dataclass(frozen=True)
class FourSlots:
    places: int = 4
    share: int = 2
    queue: int = 20
    reserved: int = 0


async def test_places_that_become_free_go_round_the_organizations() -> None:
    lane, order = Lane(FourSlots()), []
    go_on: dict[str, asyncio.Event] = {}

    async def call(name: str) -> None:
        go_on[name] = asyncio.Event()
        async with lane.place(name[0]):
            order.append(name)
            await go_on[name].wait()

    names = ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "c1", "d1"]
    tasks = [asyncio.create_task(call(name)) for name in names]
    await asyncio.sleep(0)
    assert order == ["a1", "a2", "b1", "b2"]
    for n in range(5):
        go_on[order[n]].set()
        await until(lambda n=n: len(order) == 5 + n)  # type: ignore[misc]
    # b has its share when a2 ends, so c is next; d does not wait for the second call of a.
    assert order[4:] == ["a3", "c1", "b3", "d1", "a4"]
    for event in go_on.values():
        event.set()
    await asyncio.gather(*tasks)
    assert not lane.running


async def test_a_lane_lets_only_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = Lane(LaneKind.CHECK)
    async with lane.place("a"):
        tasks = [asyncio.create_task(_pass(lane, "a")) for _ in range(LaneKind.CHECK.queue)]
        await asyncio.sleep(0)
        with pytest.raises(LaneFull):
            await _pass(lane, "a")
        # Another organization is not delayed.
        await _pass(lane, "b")
        tasks.pop().cancel()
    await asyncio.gather(*tasks)
    assert not lane.running


async def test_a_place_that_a_canceled_call_waited_for_is_not_lost() -> None:
    lane = Lane(LaneKind.CHECK)
    async with lane.place("a"):
        waiting = [asyncio.create_task(_pass(lane, "a")) for _ in range(3)]
        await asyncio.sleep(0)
        # The clients of the first two disconnect at the moment at which the slot becomes free.
        for task in waiting[:2]:
            task.cancel()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends[:2]] == [asyncio.CancelledError] * 2 and ends[2] is None
    assert not lane.running


async def _pass(lane: Lane, customer_id: str) -> None:
    async with lane.place(customer_id):
        pass


def test_the_outbox_is_claimed_in_turns(db: Database, keys: Keyring, actors: Actors) -> None:
    """acme has eighty messages that are due and were first; globex has one."""
    channels(db, keys, actors.ada, "http://127.0.0.1/hook", 8)
    channels(db, keys, actors.eve, "http://127.0.0.1/hook", 1)
    publish(db, actors.ada, *(f"event {n}" for n in range(10)))
    publish(db, actors.eve, "of globex")
    room = LaneUsage(LaneKind.CHANNEL)
    customer_ids = [item.customer_id for item in db.write_blocking(outbox.claim_fairly, [room])[0]]
    assert sorted(customer_ids) == sorted([actors.acme.id] * 2 + [actors.globex.id])
    for customer_id in customer_ids:
        room.begin(customer_id)
    # acme has its share: it gets nothing more while those two are in progress.
    assert db.write_blocking(outbox.claim_fairly, [room]) == [[]]
    room.end(actors.acme.id)
    assert [item.customer_id for item in db.write_blocking(outbox.claim_fairly, [room])[0]] == [
        actors.acme.id
    ]


def test_the_turn_begins_behind_who_was_served_last(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    for actor in (actors.ada, actors.eve):
        channels(db, keys, actor, "http://127.0.0.1/hook", 4)
        publish(db, actor, "x fails")
    room = LaneUsage(LaneKind.CHANNEL)
    room.sending["somebody else"] = LaneKind.CHANNEL.places - 1
    served = []
    for _ in range(4):
        (message,) = db.write_blocking(outbox.claim_fairly, [room])[0]
        served.append(message.customer_id)
        room.last = message.customer_id
    assert served == [actors.acme.id, actors.globex.id] * 2


def test_account_mails_go_before_the_other_mails_of_the_organization(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    letters = [("approve", False), ("approve", False), ("reset", True)]
    for title, is_account in letters:
        letter = SealedMail(title, "text")
        write_mail = partial(dispatcher.write_mail, is_account=is_account)
        db.write_blocking(write_mail, keys, actors.acme.id, "uma@acme.test", letter)
    (messages,) = db.write_blocking(outbox.claim_fairly, [LaneUsage(LaneKind.MAIL)])
    assert [item.title for item in messages] == ["reset"]


def test_the_queued_mails_of_an_organization_are_limited(
    db: Database, keys: Keyring, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "MAX_WAITING_MAILS", 3)
    letter = SealedMail("approve", "text")
    for _ in range(5):
        db.write_blocking(dispatcher.write_mail, keys, actors.acme.id, "uma@acme.test", letter)
    assert db.write_blocking(outbox.waiting_mails, actors.acme.id) == 3
    # A new password is never dropped, and globex may still send mails.
    write_account_mail = partial(dispatcher.write_mail, is_account=True)
    db.write_blocking(write_account_mail, keys, actors.acme.id, "uma@acme.test", letter)
    db.write_blocking(dispatcher.write_mail, keys, actors.globex.id, "eve@globex.test", letter)
    assert db.write_blocking(outbox.waiting_mails, actors.acme.id) == 4
    assert db.write_blocking(outbox.waiting_mails, actors.globex.id) == 1


def test_the_queued_messages_of_a_rule_are_limited(
    db: Database, keys: Keyring, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MAX_WAITING", 3)
    channels(db, keys, actors.ada, "http://127.0.0.1/hook", 1)
    publish(db, actors.ada, *(f"event {n}" for n in range(10)))
    rows = db.write_blocking(lambda tx: tx.rows("select more from messages order by id"))
    assert [more for (more,) in rows] == [0, 0, 7]


# Large responses


async def logged_jobs(world: World, count: int, size: int) -> list[str]:
    """Jobs of acme with logs of this many bytes, newest first."""
    task, ada, ids = await world.task(), world.client("ada"), []
    async with world.agent() as agent:
        for _ in range(count):
            ids.append((await create(ada, task))["id"])
            await agent.end(await agent.order(), log="x" * size)
    return ids[::-1]


async def follow_links(client: Client, target: str) -> list[Response]:
    """All pages of a list, as `Link` names them."""
    responses = [await client.get(target)]
    while "link" in responses[-1].headers:
        responses.append(await client.get(responses[-1].headers["link"][1:].partition(">")[0]))
    return responses


async def test_a_page_with_logs_ends_at_its_size_limit_and_link_continues(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (100_000,))
    ids = await logged_jobs(world, 12, 30_000)
    responses = await follow_links(vic, "/acme/job?include[result.log]=1")
    assert [record["id"] for page in responses for record in page.json] == ids
    assert all(len(page.body) <= 100_000 for page in responses)
    assert len(responses) == 4
    # Without logs it is one page, and nothing is missing.
    (light,) = await follow_links(vic, "/acme/job")
    assert [record["id"] for record in light.json] == ids


async def test_a_page_that_one_record_fills_has_that_record(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (1_000,))
    ids = await logged_jobs(world, 3, 30_000)
    responses = await follow_links(vic, "/acme/job?include[result.log]=1&limit=10")
    assert [[item["id"] for item in page.json] for page in responses] == [[item] for item in ids]


@pytest.mark.parametrize(("records", "more", "count"), [(2, 0, 2), (2, -1, 1), (0, 1, 1)])
async def test_a_page_with_logs_ends_at_its_bytes(
    world: World,
    vic: Client,
    monkeypatch: pytest.MonkeyPatch,
    records: int,
    more: int,
    count: int,
) -> None:
    """Exactly two records, one byte less than two, and less than one."""
    await logged_jobs(world, 3, 30_000)
    sizes: list[int] = []
    takes = response_budget.Budget.takes

    def record_size(budget: response_budget.Budget, size: int) -> bool:
        sizes.append(size)
        return takes(budget, size)

    monkeypatch.setattr(response_budget.Budget, "takes", record_size)
    target = "/acme/job?include[result.log]=1&limit=10"
    assert len((await vic.get(target)).json) == 3
    size = max(sizes)
    assert sizes[-3:] == [size] * 3
    most = (records * size + more,)
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", most)
    assert len((await vic.get(target)).json) == count


async def test_a_page_with_too_many_bytes_in_another_order_is_refused(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (50_000,))
    await logged_jobs(world, 3, 30_000)
    refused = await vic.get("/acme/job?include[result.log]=1&sort[name]=1")
    assert (refused.status, refused.code) == (400, "page_too_large")
    fewer = await vic.get("/acme/job?include[result.log]=1&sort[name]=1&limit=1")
    assert fewer.status == 200


async def test_six_viewers_with_logs_hold_few_bytes_at_once(
    world: World, vic: Client, eve: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes of logs that are in memory while pages are made: two pages of acme, not six."""
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (100_000,))
    await logged_jobs(world, 8, 30_000)
    counter, most, count = Counter[int](), 0, itertools.count()
    read = list_pages._add_logs

    async def count_held(request: AnyRequest, listing: Listing, page: Page) -> None:
        nonlocal most
        number = next(count)
        counter[number] = sum(pages.encoded_size(answer) for answer in page.records)
        most = max(most, counter.total())
        await asyncio.sleep(0)
        await read(request, listing, page)
        await asyncio.sleep(0)
        del counter[number]

    monkeypatch.setattr(list_pages, "_add_logs", count_held)
    target = "/acme/job?include[result.log]=1"
    answers = await asyncio.gather(*(vic.get(target) for _ in range(6)))
    assert [answer.status for answer in answers] == [200] * 6
    assert 0 < most <= response_budget.HeavyReads().share * 100_000


async def test_inputs_of_workflow_jobs_end_at_their_bytes(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (50_000,))
    tasks = [await world.task(task_arguments=[{"type": "input", "label": "x"}])]
    graph = {"nodes": [{"id": "a", "task_id": tasks[0]}], "edges": []}
    flow = await flowing.create_workflow(world, ada, graph=graph)
    ids = [(await flowing.run(ada, flow, "y" * 20_000))["id"] for _ in range(5)][::-1]
    responses = await follow_links(ada, f"/acme/workflows/{flow['id']}/jobs/input")
    assert [record["workflow_job_id"] for page in responses for record in page.json] == ids
    assert all(len(page.body) <= 50_000 for page in responses) and len(responses) > 1


@pytest.mark.parametrize("kind", ["task", "workflows", "indicator"])
async def test_a_list_of_large_definitions_comes_in_pages(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(response_budget.fit_listing, "__defaults__", (20_000,))
    large = "z" * 8_000
    for n in range(5):
        if kind == "task":
            await world.task(f"task {n}", description=large[:900], env={"A": large})
        elif kind == "indicator":
            body = {"title": f"i{n}", "type": "text", "value": large}
            assert (await ada.post("/acme/indicator", body)).status == 200
        else:
            task = await world.task(f"task {n}")
            graph = {"nodes": [{"id": "a", "task_id": task}], "edges": []}
            constants = {"A": large}
            await flowing.create_workflow(
                world, ada, name=f"w{n}", graph=graph, global_constants=constants
            )
    responses = await follow_links(ada, f"/acme/{kind}")
    names = [
        record.get("name") or record.get("title") for page in responses for record in page.json
    ]
    assert len(names) == 5 and len(set(names)) == 5
    assert all(len(page.body) <= 30_000 for page in responses) and len(responses) > 1


async def test_the_audit_ends_at_its_bytes(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(6):
        change = ("task.change", "task", f"{n:024x}", None, {"description": "z" * 9_000})
        await world.runtime.db.write(audit.record, world.actors.ada, *change)
    audits = (await ada.get("/api/audit?object=task")).json
    assert len(audits) == 6
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (25_000,))
    responses = await follow_links(ada, "/api/audit?object=task")
    assert [record for page in responses for record in page.json] == audits
    assert all(len(page.body) <= 30_000 for page in responses) and len(responses) == 3
    table = (await ada.get("/api/audit.csv?object=task")).text
    assert len(table.splitlines()) >= 1 + len(audits)


async def test_messages_end_at_their_bytes(
    db: Database, keys: Keyring, world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels(db, keys, world.actors.ada, "http://127.0.0.1/hook", 1)
    publish(db, world.actors.ada, *(f"{n} " + "t" * 900 for n in range(30)))
    messages = (await ada.get("/acme/notify/message")).json
    monkeypatch.setattr(response_budget.Budget.__init__, "__defaults__", (10_000,))
    responses = await follow_links(ada, "/acme/notify/message")
    assert [message["id"] for page in responses for message in page.json] == [
        message["id"] for message in messages
    ]
    assert len(messages) == 30 and len(responses) > 2
