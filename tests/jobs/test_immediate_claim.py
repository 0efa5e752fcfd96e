"""Jobs that their agent gets with the first write: nothing else about them is different."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any, cast
from unittest import mock

import msgspec
import pytest

import engines
from belvedere.base.errors import Refused
from belvedere.db import Database, Tx
from belvedere.db.migrate import open_database
from belvedere.events import for_object
from belvedere.hosts import service as host_service
from belvedere.hosts.service import HostChange
from belvedere.jobs.history import consistency
from belvedere.jobs.idempotency import IdempotencyKey
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish
from belvedere.jobs.model import JobRow
from belvedere.protocol import Order, Report
from belvedere.server.agents.connection import AgentConnection
from belvedere.server.agents.registry import AgentRegistry
from jobs.job_steps import Workshop
from jobs.test_races import at_once


class Link:
    """In the place of an agent's connection: it keeps what was given to it."""

    def __init__(self, host_id: str, session: int) -> None:
        self.host_id = host_id
        self.session = session
        self.is_closing = False
        self.disk = ""
        self.given: list[Order] = []

    takes_work = AgentConnection.takes_work

    def send_orders(self, orders: list[Order]) -> None:
        self.given += orders

    @property
    def job_ids(self) -> list[str]:
        return [order.job_id for order in self.given]


class Office:
    """A server with an agent: `create` is what POST /job runs."""

    def __init__(self, shop: Workshop, db: Database, slots: int = 4) -> None:
        self.shop, self.db = shop, db
        self.links = AgentRegistry("http://belvedere.test", shop.keys)
        if not shop.session:
            shop.connect(slots=slots)
        self.link = Link(shop.host_id, shop.session)
        self.links.add(cast(Any, self.link))
        db.before_commit = self.links.claim_for_signalled_hosts

    def ask(self, *task_ids: str, **rest: Any) -> list[Any]:
        expected = [JobRequest(self.shop.actors.ada, task_id, None, **rest) for task_id in task_ids]
        return list(self.db.write_blocking(self.links.create, expected))

    def create(self, task_id: str, **rest: Any) -> JobRow:
        [made] = self.ask(task_id, **rest)
        assert isinstance(made, CreatedJob), made
        return made.job


@pytest.fixture
def office(shop: Workshop) -> Office:
    return Office(shop, shop.db)


def sound(shop: Workshop) -> None:
    assert shop.db.write_blocking(consistency.check, "", 10_000) == []


def test_it_works(shop: Workshop, office: Office) -> None:
    made = office.create(shop.task(timeout=7_000))
    assert (made.lifecycle, made.version, made.fence, made.attempts) == ("ready", 1, 0, 0)
    job = shop.job(made.id)
    assert (job.lifecycle, job.version, job.attempts) == ("assigned", 2, 1)
    assert (job.assigned_at, job.deadline_at) == (shop.clock.now, shop.clock.now + 12_000)
    [attempt] = shop.attempts(made.id)
    assert (attempt.fence, attempt.number, attempt.state) == (job.fence, 1, "live")
    assert (attempt.session, attempt.journal_id) == (shop.session, "journal-1")
    [order] = office.link.given
    assert (order.job_id, order.fence) == (made.id, job.fence)
    sound(shop)


def test_it_writes_the_events_of_two_transitions(shop: Workshop, office: Office) -> None:
    made = office.create(shop.task())
    told = [
        (event.kind, (data := msgspec.json.decode(event.data))["lifecycle"], data["version"])
        for event in shop.db.write_blocking(for_object, made.id)
    ]
    assert told == [("job.created", "ready", 1), ("job.assigned", "assigned", 2)]


def test_it_is_the_very_row_that_two_writes_would_leave(shop: Workshop, office: Office) -> None:
    task_id = shop.task()
    made = office.create(task_id)
    office.links.remove(cast(Any, office.link))
    later = shop.create(task_id)
    shop.claim()
    own = {"id", "fence"}
    one, two = (
        {k: v for k, v in msgspec.structs.asdict(shop.job(job.id)).items() if k not in own}
        for job in (made, later)
    )
    assert one == two
    assert shop.heavy(made.id) == shop.heavy(later.id)


def test_it_ends_like_any_other(shop: Workshop, office: Office) -> None:
    made = office.create(shop.task())
    assert shop.end(office.link.given[0].fence).status == "counted"
    assert shop.stands(made.id) == "finished/normal"
    sound(shop)


# Who comes first.


def test_an_older_one_that_waits_is_not_overtaken(shop: Workshop) -> None:
    task_id = shop.task()
    first = shop.create(task_id)
    office = Office(shop, shop.db, slots=1)
    second = office.create(task_id)
    assert office.link.job_ids == [first.id]
    assert shop.stands(second.id) == "ready/in_progress"
    shop.end(office.link.given[0].fence)
    assert office.link.job_ids == [first.id, second.id]
    sound(shop)


def test_older_ones_and_the_new_one_fill_the_places_in_order(shop: Workshop) -> None:
    task_id = shop.task()
    old = [shop.create(task_id).id for _ in range(2)]
    office = Office(shop, shop.db, slots=3)
    made = [answer.job.id for answer in office.ask(task_id, task_id)]
    assert office.link.job_ids == [*old, made[0]]
    assert shop.stands(made[1]) == "ready/in_progress"


def test_one_that_may_not_start_yet_is_no_reason_to_wait(shop: Workshop) -> None:
    task_id = shop.task()
    office = Office(shop, shop.db, slots=1)
    later = office.create(task_id, delay=60_000)
    assert shop.stands(later.id) == "ready/in_progress" and office.link.given == []
    now = office.create(task_id)
    assert office.link.job_ids == [now.id]


def test_it_never_fills_more_than_the_slots(shop: Workshop) -> None:
    task_id = shop.task()
    office = Office(shop, shop.db, slots=2)
    made = [answer.job.id for answer in office.ask(*[task_id] * 5)]
    assert office.link.job_ids == made[:2]
    office.create(task_id)
    assert office.link.job_ids == made[:2]
    shop.end(office.link.given[0].fence)
    assert office.link.job_ids == made[:3]
    sound(shop)


def test_a_task_at_its_limit_waits_and_others_do_not(shop: Workshop, office: Office) -> None:
    narrow, wide = shop.task(concurrency=1), shop.task(name="wide")
    made = [answer.job.id for answer in office.ask(narrow, narrow, wide)]
    assert office.link.job_ids == [made[0], made[2]]
    again = office.create(narrow)
    assert shop.stands(again.id) == "ready/in_progress"
    shop.end(office.link.given[0].fence)
    assert office.link.job_ids == [made[0], made[2], made[1]]
    sound(shop)


# Who gets nothing.


@pytest.mark.parametrize("change", [HostChange(enable=False), HostChange(draining=True)])
def test_a_disabled_or_draining_host_gets_nothing(
    shop: Workshop, office: Office, change: HostChange
) -> None:
    task_id = shop.task()
    shop.db.write_blocking(host_service.change, shop.actors.ada, shop.host_id, change)
    assert shop.stands(office.create(task_id).id) == "ready/in_progress"
    assert office.link.given == []


def test_a_disabled_organization_runs_nothing(shop: Workshop, office: Office) -> None:
    task_id = shop.task()
    shop.db.write_blocking(lambda tx: tx.execute("update customers set enabled = 0"))
    assert shop.stands(office.create(task_id).id) == "ready/in_progress"
    assert office.link.given == []


def test_a_link_that_closes_gets_nothing(shop: Workshop, office: Office) -> None:
    office.link.is_closing = True
    office.create(shop.task())
    assert office.link.given == []
    assert len(shop.claim()) == 1


def test_an_older_session_gets_nothing(shop: Workshop, office: Office) -> None:
    office.link.session -= 1
    office.create(shop.task())
    assert office.link.given == []
    assert len(shop.claim()) == 1


# What goes wrong.


def test_a_refused_one_harms_no_other(shop: Workshop, office: Office) -> None:
    good, bad, other = office.ask(shop.task(), "0" * 24, shop.task(name="other"))
    assert isinstance(bad, Refused)
    assert office.link.job_ids == [good.job.id, other.job.id]


def test_agents_of_two_hosts_get_different_fences(shop: Workshop, office: Office) -> None:
    """Both are taken before either is written."""
    other = shop.host("web-2")
    shop.connect(host_id=other)
    beside = Link(other, 1)
    office.links.add(cast(Any, beside))
    here, there = shop.task(), shop.task(name="there", host_id=other)
    office.ask(here, there, here, there)
    fences = [order.fence for order in (*office.link.given, *beside.given)]
    assert len(set(fences)) == 4
    later = office.create(there)
    assert shop.job(later.id).fence > max(fences)
    sound(shop)


def test_a_key_that_comes_twice_in_one_set_gives_one_order(shop: Workshop, office: Office) -> None:
    task_id, once = shop.task(), IdempotencyKey("POST /job", "k", "same")
    first, second = office.ask(task_id, task_id, idempotency_key=once)
    third = office.ask(task_id, idempotency_key=once)[0]
    assert [item.replayed for item in (first, second, third)] == [False, True, True]
    assert first.job.id == second.job.id == third.job.id
    assert office.link.job_ids == [first.job.id]


def test_a_verb_that_fails_behind_it_leaves_neither_job_nor_order(
    shop: Workshop, office: Office
) -> None:
    expected = JobRequest(shop.actors.ada, shop.task(), None)

    def verb(tx: Tx) -> None:
        office.links.create(tx, [expected])
        raise Refused("No.", code="no")

    async def join() -> Any:
        return await shop.db.write_batched(office.links.create, expected)

    async def run() -> list[Any]:
        """In one transaction with a neighbour, where verbs share one."""
        return list(await asyncio.gather(shop.db.write(verb), join(), return_exceptions=True))

    fault, made = asyncio.run(run())
    assert isinstance(fault, Refused)
    assert office.link.job_ids == [made.job.id]
    assert shop.db.write_blocking(lambda tx: tx.rows("select id from jobs")) == [(made.job.id,)]
    assert len(shop.db.write_blocking(lambda tx: tx.rows("select fence from attempts"))) == 1


async def _written(db: Database, verb: Any) -> None:
    await db.write(verb)


def test_a_lone_verb_that_fails_leaves_nothing(shop: Workshop, office: Office) -> None:
    expected = JobRequest(shop.actors.ada, shop.task(), None)

    def verb(tx: Tx) -> None:
        office.links.create(tx, [expected])
        raise Refused("No.", code="no")

    with pytest.raises(Refused):
        asyncio.run(_written(shop.db, verb))
    assert office.link.given == []
    assert shop.db.write_blocking(lambda tx: tx.rows("select id from jobs")) == []


def test_an_order_that_cannot_be_built_does_not_prevent_creation(
    shop: Workshop, office: Office
) -> None:
    task_id = shop.task()
    with mock.patch("belvedere.server.agents.registry.order_of", side_effect=ValueError):
        made = office.create(task_id)
    assert shop.stands(made.id) == "ready/in_progress" and shop.attempts(made.id) == []
    again = office.create(task_id)
    assert office.link.job_ids == [made.id, again.id]
    sound(shop)


# Two servers.


@pytest.fixture
def beside(shop: Workshop, database_url: str) -> Iterator[Database]:
    opened = open_database(database_url)
    opened.clock = shop.clock
    yield opened
    engines.close(opened)


def live(tx: Tx) -> list[int]:
    return [fence for (fence,) in tx.rows("select fence from attempts where state = 'live'")]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_two_servers_at_once_never_pass_the_slots(shop: Workshop, beside: Database) -> None:
    """Both believe that the agent hangs on them: only the host's row stands between them."""
    task_id, narrow = shop.task(), shop.task(name="narrow", concurrency=1)
    offices = [Office(shop, shop.db, slots=3), Office(shop, beside)]
    for _ in range(25):
        both = [(office, item) for office in offices * 3 for item in (task_id, narrow)]
        for answer in at_once([partial(office.ask, item) for office, item in both]):
            assert isinstance(answer, list) and isinstance(answer[0], CreatedJob), answer
        fences = shop.db.write_blocking(live)
        assert 1 <= len(fences) <= 3
        ends = [ReceivedReport(shop.host_id, fence, Report("exit")) for fence in fences]
        shop.db.write_blocking(finish, ends)
    given = [order.fence for office in offices for order in office.link.given]
    assert len(given) == len(set(given))
    sound(shop)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_one_key_at_two_servers_makes_one_job(shop: Workshop, beside: Database) -> None:
    task_id = shop.task()
    offices = [Office(shop, shop.db, slots=100), Office(shop, beside)]
    for number in range(10):
        key = IdempotencyKey("POST /job", f"k{number}", "same")
        answers = at_once(
            [partial(office.ask, task_id, idempotency_key=key) for office in offices * 3]
        )
        assert len({made.job.id for [made] in answers}) == 1
    assert len(offices[0].link.given) + len(offices[1].link.given) == 10
    sound(shop)
