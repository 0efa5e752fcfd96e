"""An organization with a host and a task, made with the real verbs, and one job's whole life."""

import os
from dataclasses import dataclass

import msgspec

from belvedere import hosts
from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keys
from belvedere.access.customers import service
from belvedere.bench.measure.bare import SCRIPT
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
class Ground:
    actor: Actor
    host_id: str
    session: int
    task_id: str


def lay(tx: Tx) -> Ground:
    keys = Keys(os.urandom(32))
    made = service.create_organization(
        tx, keys, NAME, f"{NAME}@localhost", reserved=frozenset(), password_hash="-"
    )
    host = host_store.insert(tx, made.customer.id, NAME, NAME, "127.0.0.1")
    hosts.connect(tx, host.id, _hello(), "127.0.0.1")
    body = {
        "name": NAME,
        "type": "script",
        "host_id": host.id,
        "script": {"filename": "bench.sh", "source": SCRIPT},
        # History is what is measured: it stays.
        "history": {"count": 1_000_000, "days": 3_650},
    }
    tasks.create(tx, keys, service.operator(made.customer), msgspec.convert(body, TaskBody))
    return find(tx)


def _hello() -> Hello:
    return Hello(NAME, "1", NAME, NAME, NAME, slots=1, entries=[])


def find(tx: Tx) -> Ground:
    customer = service.by_name(tx, NAME)
    row = tx.row("select t.id, h.id, h.session from tasks t join hosts h on h.id = t.host_id")
    assert customer is not None and row is not None
    return Ground(service.operator(customer), row[1], row[2], row[0])


def create(tx: Tx, place: Ground) -> str:
    [made] = creation.create(tx, [creation.NewJob(place.actor, place.task_id, [])])
    assert isinstance(made, creation.Created)
    return made.job.id


def claim(tx: Tx, place: Ground) -> list[Claimed]:
    return queue.claim(tx, place.host_id, place.session)


def finish(tx: Tx, place: Ground, fence: int) -> None:
    ending.finish(tx, [ending.Reported(place.host_id, fence, REPORT)])
