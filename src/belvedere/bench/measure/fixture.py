"""An organization with a host and a task, and the life of a job, by the product's operations."""

import os
from dataclasses import dataclass

import msgspec

from belvedere import hosts
from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service
from belvedere.bench.environment.installation import SCRIPT
from belvedere.db import Tx
from belvedere.hosts import store as host_store
from belvedere.jobs.lifecycle import claim as queue
from belvedere.jobs.lifecycle import create as creation
from belvedere.jobs.lifecycle import finish as ending
from belvedere.jobs.lifecycle.claim import Claimed
from belvedere.protocol import Hello, Report
from belvedere.tasks import service as tasks
from belvedere.tasks.bodies import TaskBody

NAME = "bench"
REPORT = Report(ending="exit", elapsed_ns=1_000_000, log="", sha256="0" * 64)


@dataclass(frozen=True, slots=True)
class Fixture:
    actor: Actor
    host_id: str
    session: int
    task_id: str


def create_fixture(tx: Tx, slots: int = 1) -> Fixture:
    keys = Keyring(os.urandom(32))
    created = service.create_customer(
        tx, keys, NAME, f"{NAME}@localhost", reserved=frozenset(), password_hash="-"
    )
    host = host_store.insert(tx, created.customer.id, NAME, NAME, "127.0.0.1")
    hosts.connect(tx, host.id, _hello(slots), "127.0.0.1")
    # The history is what is measured: it must not be purged.
    history = {"count": 1_000_000, "days": 3_650}
    _create_task(tx, service.operator(created.customer), host.id, name=NAME, history=history)
    return find(tx)


def create_limited_task(tx: Tx, target: Fixture) -> str:
    """A task that runs one job at a time."""
    return _create_task(tx, target.actor, target.host_id, name="one at a time", concurrency=1)


def _create_task(tx: Tx, actor: Actor, host_id: str, **fields: object) -> str:
    body = {
        "type": "script",
        "host_id": host_id,
        "script": {"filename": "bench.sh", "source": SCRIPT},
        **fields,
    }
    view, _ = tasks.create(tx, Keyring(os.urandom(32)), actor, msgspec.convert(body, TaskBody))
    return view.id


def _hello(slots: int) -> Hello:
    return Hello(NAME, "1", NAME, NAME, NAME, slots=slots, entries=[])


def find(tx: Tx) -> Fixture:
    customer = service.by_name(tx, NAME)
    row = tx.row(
        "select t.id, h.id, h.session from tasks t join hosts h on h.id = t.host_id"
        " where t.name = ?",
        NAME,
    )
    assert customer is not None and row is not None
    return Fixture(service.operator(customer), row[1], row[2], row[0])


def create(tx: Tx, target: Fixture) -> str:
    [created] = creation.create(tx, [creation.JobRequest(target.actor, target.task_id, [])])
    assert isinstance(created, creation.CreatedJob)
    return created.job.id


def claim(tx: Tx, target: Fixture) -> list[Claimed]:
    return queue.claim(tx, target.host_id, target.session)


def finish(tx: Tx, target: Fixture, fence: int) -> None:
    ending.finish(tx, [ending.ReceivedReport(target.host_id, fence, REPORT)])
