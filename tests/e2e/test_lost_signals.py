"""Signals may be lost, also with several servers: jobs start, stop and are reported all the
same."""

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engines
from belvedere.base.clock import parse_iso
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e import cross_check, servers, without_signals
from e2e.cross_check import Evidence
from e2e.load_clients import LoadClients
from e2e.programs import CUSTOMER
from e2e.servers import ServerPair
from e2e.wait_until import until
from e2e.watcher import Watcher

pytestmark = pytest.mark.heavy

SEED = 11
# A poll every second or two, and a little.
SOON_MS = 3_500
WAITING = '#!/bin/sh\necho begun\nuntil test -e "$1"; do sleep 0.02; done\necho over\nexit 6\n'


@pytest.fixture
def pair_without_signals(database: str, tmp_path: Path) -> Iterator[ServerPair]:
    """No signal arrives: on PostgreSQL the client uses another server than the agent."""
    with servers.run_pair(
        tmp_path, database, (sys.executable, without_signals.__file__)
    ) as new_server_pair:
        yield new_server_pair


@pytest.fixture(scope="module")
def server_pair(
    postgres_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerPair]:
    """Two connected servers; a test that stops one starts it again."""
    folder = tmp_path_factory.mktemp("two")
    with (
        engines.postgres_copy(postgres_template) as url,
        servers.run_pair(folder, url) as new_server_pair,
    ):
        yield new_server_pair


@pytest.fixture
def empty_pair(postgres_template: str, tmp_path: Path) -> Iterator[ServerPair]:
    """The same without anything in it."""
    with (
        engines.postgres_copy(postgres_template) as url,
        servers.run_pair(tmp_path, url) as new_server_pair,
    ):
        yield new_server_pair


def waited_ms(job: dict[str, Any]) -> int:
    return parse_iso(job["assigned_at"]) - parse_iso(job["creation_date"])


def test_everything_works_by_polling(pair_without_signals: ServerPair) -> None:
    """Without signals: run, wait, follow, cancel, revoke, each within a poll or two."""
    _work_starts(pair_without_signals)
    _a_waiting_caller_is_answered(pair_without_signals)
    _output_and_end_are_followed(pair_without_signals)
    _a_cancel_arrives(pair_without_signals)
    _events_are_told(pair_without_signals)
    _a_revoked_token_is_refused(pair_without_signals)


def _work_starts(quiet: ServerPair) -> None:
    jobs = [quiet.site.run("#!/bin/sh\nexit 0\n") for _ in range(3)]
    assert max(map(waited_ms, jobs)) <= SOON_MS


def _a_waiting_caller_is_answered(quiet: ServerPair) -> None:
    task = quiet.world.task("#!/bin/sh\nsleep 0.3\n", quiet.agent)
    job = quiet.world.api.post("/job", {"task": task}, {"wait_result": "true"})
    assert job["lifecycle"] == "finished"
    now = time.time_ns() // 1_000_000
    assert now - parse_iso(job["ended_at"]) <= SOON_MS


def _output_and_end_are_followed(quiet: ServerPair) -> None:
    job_id = quiet.site.start("#!/bin/sh\necho one\nsleep 1.5\necho two\n")
    events = list(quiet.site.listen(job_id))
    assert "".join(value for kind, value in events if kind == "output") == "one\ntwo\n"


def _a_cancel_arrives(quiet: ServerPair) -> None:
    job_id = quiet.site.start("#!/bin/sh\necho begun\nsleep 600\n")
    quiet.site.says(job_id, b"begun")
    response = quiet.world.api.put(f"/job/{job_id}/cancel")
    job = quiet.world.wait_ended(job_id)
    assert (job["lifecycle"], job["state"]) == ("terminated", "canceled")
    assert parse_iso(job["ended_at"]) - parse_iso(response["last_update"]) <= SOON_MS


def _events_are_told(quiet: ServerPair) -> None:
    watcher = Watcher(quiet.world.client())
    watcher.start()
    # Events before the stream is open are not sent on it.
    until(lambda: quiet.site.run("#!/bin/sh\nexit 0\n") and watcher.jobs)
    job = quiet.site.run("#!/bin/sh\nexit 0\n")
    until(lambda: len(watcher.jobs[job["id"]]) == job["version"], SOON_MS / 1_000)
    watcher.leave()
    watcher.check(job)


def _a_revoked_token_is_refused(quiet: ServerPair) -> None:
    person = quiet.world.person()
    response = person.post("/api/token", {"name": "short"})
    with Client(quiet.far.url, response["token"], CUSTOMER) as bearer:
        bearer.get("/host")
        person.delete(f"/api/token/{response['id']}")
        until(lambda: _status(bearer) == 401, SOON_MS / 1_000)
    person.close()


def _status(bearer: Client) -> int:
    try:
        return bearer.request("GET", "/host").status
    except Problem as refusal:
        return refusal.status


def test_a_job_created_at_one_server_runs_at_the_other(server_pair: ServerPair) -> None:
    jobs = [server_pair.site.run("#!/bin/sh\nexit 0\n") for _ in range(8)]
    assert {job["state"] for job in jobs} == {"normal"}
    # A poll would take half a second on average: this was the signal.
    assert sorted(map(waited_ms, jobs))[6] < 300
    _a_cancel_arrives(server_pair)


def test_an_agent_goes_elsewhere_when_its_server_is_killed(server_pair: ServerPair) -> None:
    word = server_pair.world.folder / "go on"
    job_id = server_pair.site.start(WAITING, str(word))
    server_pair.site.says(job_id, b"begun")
    server_pair.far.kill()
    server_pair.gate.lead_to(server_pair.world.server.url)
    waiting = server_pair.site.start("#!/bin/sh\nexit 0\n")
    word.touch()
    job = server_pair.world.wait_ended(job_id)
    assert (job["lifecycle"], job["result"]["code"], job["attempt_count"]) == ("finished", 6, 1)
    assert server_pair.world.log(job_id) == b"begun\nover\n"
    assert server_pair.world.wait_ended(waiting)["state"] == "normal"
    server_pair.far.start()
    server_pair.gate.lead_to(server_pair.far.url)
    server_pair.gate.drop()


def test_servers_may_be_restarted_one_after_the_other(server_pair: ServerPair) -> None:
    """With the agent moving between them, while jobs run."""
    ids = []
    for how in (signal.SIGTERM, signal.SIGKILL):
        word = server_pair.world.folder / f"go on {how}"
        ids.append(server_pair.site.start(WAITING, str(word)))
        server_pair.site.says(ids[-1], b"begun")
        server_pair.gate.lead_to(server_pair.world.server.url)
        server_pair.far.stop(how)
        server_pair.site.says(server_pair.site.start("#!/bin/sh\necho elsewhere\n"), b"elsewhere")
        server_pair.far.start()
        server_pair.gate.lead_to(server_pair.far.url)
        server_pair.gate.drop()
        word.touch()
    jobs = [server_pair.world.wait_ended(job_id) for job_id in ids]
    assert [(job["result"]["code"], job["attempt_count"]) for job in jobs] == [(6, 1)] * 2
    assert [server_pair.world.log(job_id) for job_id in ids] == [b"begun\nover\n"] * 2


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(15, marks=pytest.mark.limit(120)),
        pytest.param(300, marks=[pytest.mark.prove, pytest.mark.limit(1_800)]),
    ],
)
def test_an_agent_may_hop_between_servers(empty_pair: ServerPair, rounds: int) -> None:
    """One server still processes the old connection while the other processes the new one."""
    clients = LoadClients(empty_pair.world, [empty_pair.agent], SEED)
    for number in range(rounds):
        clients.asks_for(7)
        empty_pair.gate.lead_to((empty_pair.world.server, empty_pair.far)[number % 2].url)
        empty_pair.gate.drop()
    job_attempts = clients.finish()
    for attempt in job_attempts:
        empty_pair.world.wait_ended(attempt.job_id, 60)
    cross_check.check(empty_pair.world, job_attempts, clients.ledger, Evidence({}))
    clients.watcher.leave()
    empty_pair.world.doctor()
