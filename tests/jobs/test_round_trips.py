"""Round trips to PostgreSQL: how many a job needs, and what combining them must not change."""

from collections.abc import Iterator
from unittest import mock

import pytest

import engines
from belvedere.base.errors import NotFound
from belvedere.db import Database, Tx
from belvedere.db.migrate import open_database
from belvedere.db.postgres.connection import PostgresConnection
from belvedere.db.signals import host_ready
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.jobs.lifecycle.finish import ReceivedReport
from belvedere.protocol import Report
from jobs.job_steps import JobSteps
from jobs.test_immediate_claim import ClaimServer, check_consistent

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
def claim_server(steps: JobSteps) -> ClaimServer:
    return ClaimServer(steps, steps.db, slots=1)


@pytest.fixture
def round_trips() -> Iterator[mock.Mock]:
    """Called once for each round trip of statements that are prepared already."""
    calls = mock.Mock()
    exchange, call = PostgresConnection._exchange, PostgresConnection._call

    def count_exchange(self: PostgresConnection, statements: list[object]) -> object:
        calls(len(statements))
        return exchange(self, statements)  # type: ignore[arg-type]

    def count_call(self: PostgresConnection, send: object, *args: object) -> object:
        calls(1)
        return call(self, send, *args)  # type: ignore[arg-type]

    with (
        mock.patch.object(PostgresConnection, "_exchange", count_exchange),
        mock.patch.object(PostgresConnection, "_call", count_call),
    ):
        yield calls


def end(claim_server: ClaimServer) -> None:
    """The last order ends."""
    report = ReceivedReport(
        claim_server.link.host_id, claim_server.link.given[-1].fence, Report("exit")
    )
    claim_server.db.write_blocking(claim_server.links.finish, [report])


def run_one(claim_server: ClaimServer, task_id: str) -> None:
    claim_server.create(task_id)
    end(claim_server)


def test_a_job_takes_four_round_trips(
    steps: JobSteps, claim_server: ClaimServer, round_trips: mock.Mock
) -> None:
    task_id = steps.task()
    for _ in range(3):
        run_one(claim_server, task_id)
    round_trips.reset_mock()
    run_one(claim_server, task_id)
    assert [call.args[0] for call in round_trips.call_args_list] == [5, 4, 5, 5]
    check_consistent(steps)


def test_several_jobs_of_a_task_take_the_same_two_round_trips(
    steps: JobSteps, claim_server: ClaimServer, round_trips: mock.Mock
) -> None:
    task_id = steps.task()
    for _ in range(2):
        run_one(claim_server, task_id)
        claim_server.request(task_id, task_id)
        for _ in range(2):
            end(claim_server)
    round_trips.reset_mock()
    claim_server.request(task_id, task_id)
    assert round_trips.call_count <= 3
    check_consistent(steps)


def test_several_ends_on_a_host_take_two_round_trips(
    steps: JobSteps, round_trips: mock.Mock
) -> None:
    claim_server, task_id = ClaimServer(steps, steps.db, slots=2), steps.task()
    for _ in range(3):
        claim_server.request(task_id, task_id)
        reports = [
            ReceivedReport(steps.host_id, order.fence, Report("exit"))
            for order in claim_server.link.given[-2:]
        ]
        round_trips.reset_mock()
        steps.db.write_blocking(claim_server.links.finish, reports)
    assert round_trips.call_count == 2
    check_consistent(steps)


@pytest.fixture
def second_db(steps: JobSteps, database_url: str) -> Iterator[Database]:
    database = open_database(database_url)
    database.clock = steps.clock
    yield database
    engines.close(database)


def test_a_job_that_becomes_ready_before_the_commit_is_claimed_after_it(
    steps: JobSteps, claim_server: ClaimServer, second_db: Database
) -> None:
    """When the end is processed, no job is ready; when it is committed, another server has created
    one, which found no free slot."""
    task_id = steps.task()
    claim_server.create(task_id)
    [order] = claim_server.link.given
    other_server = ClaimServer(steps, second_db)

    def finish(tx: Tx) -> str:
        report = ReceivedReport(steps.host_id, order.fence, Report("exit"))
        claim_server.links.finish(tx, [report])
        return other_server.create(task_id).id

    job_id = steps.db.write_blocking(finish)
    assert other_server.link.given == []
    assert claim_server.link.job_ids[1:] == [job_id]
    check_consistent(steps)


def test_a_slot_that_becomes_free_before_the_commit_is_used_after_it(
    steps: JobSteps, claim_server: ClaimServer, second_db: Database
) -> None:
    """The same the other way round: the end, which another server stores, does not see the job that
    is being created, and the job found no free slot."""
    task_id = steps.task()
    claim_server.create(task_id)
    [order] = claim_server.link.given
    other_server = ClaimServer(steps, second_db)

    def create(tx: Tx) -> str:
        [created] = claim_server.links.create(tx, [JobRequest(steps.actors.ada, task_id, None)])
        report = ReceivedReport(steps.host_id, order.fence, Report("exit"))
        other_server.db.write_blocking(other_server.links.finish, [report])
        assert isinstance(created, CreatedJob)
        return created.job.id

    job_id = steps.db.write_blocking(create)
    assert other_server.link.given == []
    assert claim_server.link.job_ids[1:] == [job_id]
    check_consistent(steps)


def test_a_job_that_finds_no_free_slot_takes_two_round_trips(
    steps: JobSteps, claim_server: ClaimServer, round_trips: mock.Mock
) -> None:
    """Nothing is claimed at the end of its transaction, whether other jobs wait or not."""
    task_id = steps.task()
    for _ in range(2):
        run_one(claim_server, task_id)
    for _ in range(4):
        claim_server.create(task_id)
    round_trips.reset_mock()
    for _ in range(2):
        claim_server.create(task_id)
    assert round_trips.call_count == 4
    while len(claim_server.link.given) < 8:
        end(claim_server)
    check_consistent(steps)


def test_a_condition_that_fails_does_not_undo_the_commit(steps: JobSteps) -> None:
    def write(tx: Tx) -> None:
        tx.execute("update hosts set hostname = 'renamed' where id = ?", steps.host_id)
        tx.signal_if(host_ready(steps.host_id), ("select 1 / ?", (0,)))

    steps.db.write_blocking(write)
    [[hostname]] = steps.db.write_blocking(lambda tx: tx.rows("select hostname from hosts"))
    assert hostname == "renamed"


def test_a_signal_that_cannot_be_handled_does_not_fail_the_transaction(steps: JobSteps) -> None:
    calls: list[str] = []

    def write(tx: Tx) -> None:
        tx.execute("update hosts set hostname = 'renamed' where id = ?", steps.host_id)
        tx.signal_if(host_ready(steps.host_id), ("select 1", ()))
        tx.after_commit(lambda: calls.append("sent"))

    with mock.patch.object(steps.db, "_transact_once", wraps=steps.db._transact_once) as attempts:  # type: ignore[attr-defined]
        attempts.side_effect = [mock.DEFAULT, ValueError("no")]
        steps.db.write_blocking(write)
    assert calls == ["sent"]


def test_a_task_that_has_moved_to_another_host_runs_there(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    task_id, other = steps.task(), steps.host("web-2")
    run_one(claim_server, task_id)
    steps.db.write_blocking(
        lambda tx: tx.execute("update tasks set host_id = ? where id = ?", other, task_id)
    )
    job = claim_server.create(task_id)
    assert (steps.job(job.id).host_id, steps.status(job.id)) == (other, "ready/in_progress")
    assert len(claim_server.link.given) == 1


def test_another_organization_reads_nothing_in_advance(
    steps: JobSteps, claim_server: ClaimServer
) -> None:
    task_id = steps.task()
    run_one(claim_server, task_id)
    request = JobRequest(steps.actors.eve, task_id, None)
    with mock.patch("belvedere.db.postgres.transaction.PostgresTx.prefetch") as prefetch:
        [answer] = steps.db.write_blocking(claim_server.links.create, [request])
    assert isinstance(answer, NotFound)
    [likely_queries] = prefetch.call_args.args
    assert likely_queries() == []


def test_a_result_that_was_read_in_advance_is_used_once(steps: JobSteps) -> None:
    def work(tx: Tx) -> list[int]:
        query = ("select count(*) from hosts where id <> ?", ("",))
        tx.prefetch(lambda: [query])
        before = tx.value(query[0], *query[1])
        tx.execute("delete from hosts")
        return [before, tx.value(query[0], *query[1])]

    assert steps.db.write_blocking(work) == [1, 0]
