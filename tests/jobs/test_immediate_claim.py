"""Jobs that their agent gets with the first write: otherwise they are like any other job."""

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
from event_rows import for_object
from jobs.job_steps import JobSteps
from jobs.test_races import at_once


class FakeConnection:
    """Stands in for an agent's connection: it keeps the orders that it gets."""

    def __init__(self, host_id: str, session: int) -> None:
        self.host_id = host_id
        self.session = session
        self.is_closing = self.is_heard = False
        self.disk = ""
        self.given: list[Order] = []

    takes_work = AgentConnection.takes_work

    def send_orders(self, orders: list[Order]) -> None:
        self.given += orders

    @property
    def job_ids(self) -> list[str]:
        return [order.job_id for order in self.given]


class ClaimServer:
    """A server with an agent: `create` is what POST /job runs."""

    def __init__(self, steps: JobSteps, db: Database, slots: int = 4) -> None:
        self.steps, self.db = steps, db
        self.links = AgentRegistry("http://belvedere.test", steps.keys)
        if not steps.session:
            steps.connect(slots=slots)
        self.link = FakeConnection(steps.host_id, steps.session)
        self.links.add(cast(Any, self.link))
        db.before_commit = self.links.claim_for_signalled_hosts

    def request(self, *task_ids: str, **rest: Any) -> list[Any]:
        expected = [
            JobRequest(self.steps.actors.ada, task_id, None, **rest) for task_id in task_ids
        ]
        return list(self.db.write_blocking(self.links.create, expected))

    def create(self, task_id: str, **rest: Any) -> JobRow:
        [item] = self.request(task_id, **rest)
        assert isinstance(item, CreatedJob), item
        return item.job


@pytest.fixture
def claim_server(steps: JobSteps) -> ClaimServer:
    return ClaimServer(steps, steps.db)


def check_consistent(steps: JobSteps) -> None:
    assert steps.db.write_blocking(consistency.check, "", 10_000) == []


def test_a_new_job_is_claimed_in_its_transaction(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    new_job = claim_server.create(steps.task(timeout=7_000))
    assert (new_job.lifecycle, new_job.version, new_job.fence, new_job.attempts) == (
        "ready",
        1,
        0,
        0,
    )
    job = steps.job(new_job.id)
    assert (job.lifecycle, job.version, job.attempts) == ("assigned", 2, 1)
    assert (job.assigned_at, job.deadline_at) == (steps.clock.now, steps.clock.now + 12_000)
    [attempt] = steps.attempts(new_job.id)
    assert (attempt.fence, attempt.number, attempt.state) == (job.fence, 1, "live")
    assert (attempt.session, attempt.journal_id) == (steps.session, "journal-1")
    [order] = claim_server.link.given
    assert (order.job_id, order.fence) == (new_job.id, job.fence)
    check_consistent(steps)


def test_an_immediate_claim_writes_the_events_of_two_transitions(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    job = claim_server.create(steps.task())
    items = [
        (event.kind, (data := msgspec.json.decode(event.data))["lifecycle"], data["version"])
        for event in steps.db.write_blocking(for_object, job.id)
    ]
    assert items == [("job.created", "ready", 1), ("job.assigned", "assigned", 2)]


def test_the_row_equals_that_of_two_writes(steps: JobSteps, claim_server: ClaimServer) -> None:
    task_id = steps.task()
    new_job = claim_server.create(task_id)
    claim_server.links.remove(cast(Any, claim_server.link))
    later = steps.create(task_id)
    steps.claim()
    own = {"id", "fence"}
    record, two = (
        {k: v for k, v in msgspec.structs.asdict(steps.job(job.id)).items() if k not in own}
        for job in (new_job, later)
    )
    assert record == two
    assert steps.heavy(new_job.id) == steps.heavy(later.id)


def test_a_job_that_was_claimed_immediately_ends_like_any_other(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    job = claim_server.create(steps.task())
    assert steps.end(claim_server.link.given[0].fence).status == "counted"
    assert steps.status(job.id) == "finished/normal"
    check_consistent(steps)


# Which job is first.


def test_an_older_waiting_job_is_not_overtaken(steps: JobSteps) -> None:
    task_id = steps.task()
    first = steps.create(task_id)
    office = ClaimServer(steps, steps.db, slots=1)
    second = office.create(task_id)
    assert office.link.job_ids == [first.id]
    assert steps.status(second.id) == "ready/in_progress"
    steps.end(office.link.given[0].fence)
    assert office.link.job_ids == [first.id, second.id]
    check_consistent(steps)


def test_older_jobs_and_the_new_one_fill_the_slots_in_order(steps: JobSteps) -> None:
    task_id = steps.task()
    old = [steps.create(task_id).id for _ in range(2)]
    office = ClaimServer(steps, steps.db, slots=3)
    ids = [answer.job.id for answer in office.request(task_id, task_id)]
    assert office.link.job_ids == [*old, ids[0]]
    assert steps.status(ids[1]) == "ready/in_progress"


def test_a_job_that_may_not_start_yet_does_not_block_others(steps: JobSteps) -> None:
    task_id = steps.task()
    office = ClaimServer(steps, steps.db, slots=1)
    later = office.create(task_id, delay=60_000)
    assert steps.status(later.id) == "ready/in_progress" and office.link.given == []
    now = office.create(task_id)
    assert office.link.job_ids == [now.id]


def test_a_claim_never_exceeds_the_slots(steps: JobSteps) -> None:
    task_id = steps.task()
    office = ClaimServer(steps, steps.db, slots=2)
    ids = [answer.job.id for answer in office.request(*[task_id] * 5)]
    assert office.link.job_ids == ids[:2]
    office.create(task_id)
    assert office.link.job_ids == ids[:2]
    steps.end(office.link.given[0].fence)
    assert office.link.job_ids == ids[:3]
    check_consistent(steps)


def test_a_task_at_its_limit_waits_and_others_do_not(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    narrow, wide = steps.task(concurrency=1), steps.task(name="wide")
    ids = [answer.job.id for answer in claim_server.request(narrow, narrow, wide)]
    assert claim_server.link.job_ids == [ids[0], ids[2]]
    again = claim_server.create(narrow)
    assert steps.status(again.id) == "ready/in_progress"
    steps.end(claim_server.link.given[0].fence)
    assert claim_server.link.job_ids == [ids[0], ids[2], ids[1]]
    check_consistent(steps)


# Who gets nothing.


@pytest.mark.parametrize("change", [HostChange(enable=False), HostChange(draining=True)])
def test_a_disabled_or_draining_host_gets_nothing(
    steps: JobSteps, claim_server: ClaimServer, change: HostChange
) -> None:
    task_id = steps.task()
    steps.db.write_blocking(host_service.change, steps.actors.ada, steps.host_id, change)
    assert steps.status(claim_server.create(task_id).id) == "ready/in_progress"
    assert claim_server.link.given == []


def test_a_disabled_organization_runs_nothing(steps: JobSteps, claim_server: ClaimServer) -> None:
    task_id = steps.task()
    steps.db.write_blocking(lambda tx: tx.execute("update customers set enabled = 0"))
    assert steps.status(claim_server.create(task_id).id) == "ready/in_progress"
    assert claim_server.link.given == []


def test_a_link_that_closes_gets_nothing(steps: JobSteps, claim_server: ClaimServer) -> None:
    claim_server.link.is_closing = True
    claim_server.create(steps.task())
    assert claim_server.link.given == []
    assert len(steps.claim()) == 1


def test_an_older_session_gets_nothing(steps: JobSteps, claim_server: ClaimServer) -> None:
    claim_server.link.session -= 1
    claim_server.create(steps.task())
    assert claim_server.link.given == []
    assert len(steps.claim()) == 1


# Failures.


def test_a_refused_job_does_not_affect_others(steps: JobSteps, claim_server: ClaimServer) -> None:
    good, bad, other = claim_server.request(steps.task(), "0" * 24, steps.task(name="other"))
    assert isinstance(bad, Refused)
    assert claim_server.link.job_ids == [good.job.id, other.job.id]


def test_agents_of_two_hosts_get_different_fences(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    """Both are read before either is written."""
    other = steps.host("web-2")
    steps.connect(host_id=other)
    beside = FakeConnection(other, 1)
    claim_server.links.add(cast(Any, beside))
    here, there = steps.task(), steps.task(name="there", host_id=other)
    claim_server.request(here, there, here, there)
    fences = [order.fence for order in (*claim_server.link.given, *beside.given)]
    assert len(set(fences)) == 4
    later = claim_server.create(there)
    assert steps.job(later.id).fence > max(fences)
    check_consistent(steps)


def test_a_repeated_key_in_one_batch_gives_one_order(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    task_id, once = steps.task(), IdempotencyKey("POST /job", "k", "same")
    first, second = claim_server.request(task_id, task_id, idempotency_key=once)
    third = claim_server.request(task_id, idempotency_key=once)[0]
    assert [item.replayed for item in (first, second, third)] == [False, True, True]
    assert first.job.id == second.job.id == third.job.id
    assert claim_server.link.job_ids == [first.job.id]


def test_an_operation_that_fails_after_it_leaves_neither_job_nor_order(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    expected = JobRequest(steps.actors.ada, steps.task(), None)

    def create_and_refuse(tx: Tx) -> None:
        claim_server.links.create(tx, [expected])
        raise Refused("No.", code="no")

    async def join() -> Any:
        return await steps.db.write_batched(claim_server.links.create, expected)

    async def run() -> list[Any]:
        """In one transaction with another operation, if operations share one."""
        return list(
            await asyncio.gather(steps.db.write(create_and_refuse), join(), return_exceptions=True)
        )

    fault, value = asyncio.run(run())
    assert isinstance(fault, Refused)
    assert claim_server.link.job_ids == [value.job.id]
    assert steps.db.write_blocking(lambda tx: tx.rows("select id from jobs")) == [(value.job.id,)]
    assert len(steps.db.write_blocking(lambda tx: tx.rows("select fence from attempts"))) == 1


async def _run_write(db: Database, verb: Any) -> None:
    await db.write(verb)


def test_a_single_operation_that_fails_leaves_nothing(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    expected = JobRequest(steps.actors.ada, steps.task(), None)

    def create_and_refuse(tx: Tx) -> None:
        claim_server.links.create(tx, [expected])
        raise Refused("No.", code="no")

    with pytest.raises(Refused):
        asyncio.run(_run_write(steps.db, create_and_refuse))
    assert claim_server.link.given == []
    assert steps.db.write_blocking(lambda tx: tx.rows("select id from jobs")) == []


def test_an_order_that_cannot_be_built_does_not_prevent_creation(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    task_id = steps.task()
    with mock.patch("belvedere.server.agents.registry.order_of", side_effect=ValueError):
        job = claim_server.create(task_id)
    assert steps.status(job.id) == "ready/in_progress" and steps.attempts(job.id) == []
    again = claim_server.create(task_id)
    assert claim_server.link.job_ids == [job.id, again.id]
    check_consistent(steps)


# Two servers.


@pytest.fixture
def second_db(steps: JobSteps, database_url: str) -> Iterator[Database]:
    opened = open_database(database_url)
    opened.clock = steps.clock
    yield opened
    engines.close(opened)


def live(tx: Tx) -> list[int]:
    return [fence for (fence,) in tx.rows("select fence from attempts where state = 'live'")]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_two_concurrent_servers_never_exceed_the_slots(
    steps: JobSteps, second_db: Database
) -> None:
    """Both servers have the agent as connected: only the host's row decides."""
    task_id, narrow = steps.task(), steps.task(name="narrow", concurrency=1)
    offices = [ClaimServer(steps, steps.db, slots=3), ClaimServer(steps, second_db)]
    for _ in range(25):
        both = [(office, item) for office in offices * 3 for item in (task_id, narrow)]
        for answer in at_once([partial(office.request, item) for office, item in both]):
            assert isinstance(answer, list) and isinstance(answer[0], CreatedJob), answer
        fences = steps.db.write_blocking(live)
        assert 1 <= len(fences) <= 3
        ends = [ReceivedReport(steps.host_id, fence, Report("exit")) for fence in fences]
        steps.db.write_blocking(finish, ends)
    input_fences = [order.fence for office in offices for order in office.link.given]
    assert len(input_fences) == len(set(input_fences))
    check_consistent(steps)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_one_key_at_two_servers_creates_one_job(steps: JobSteps, second_db: Database) -> None:
    task_id = steps.task()
    offices = [ClaimServer(steps, steps.db, slots=100), ClaimServer(steps, second_db)]
    for number in range(10):
        key = IdempotencyKey("POST /job", f"k{number}", "same")
        answers = at_once(
            [partial(office.request, task_id, idempotency_key=key) for office in offices * 3]
        )
        assert len({value.job.id for [value] in answers}) == 1
    assert len(offices[0].link.given) + len(offices[1].link.given) == 10
    check_consistent(steps)
