"""The initial state of every simulation: an organization, two hosts, tasks of all kinds."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

import apsw

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis
from belvedere.db import Tx
from belvedere.db.migrate import apply, migrations
from belvedere.db.sqlite.connection import connect
from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.hosts import store as host_store
from belvedere.tasks import store as task_store
from belvedere.tasks.model import Argument, ArgumentKind, Retry, TaskSpec, Type
from belvedere.tasks.store import TaskRow
from people import assemble
from sim.world import EPOCH_MS

# Drawn for ordinary requests; jobs of the other tasks are created in order to be canceled.
LONG = "long"
HOSTS = ("north", "south")
SCRIPT = b"#!/bin/sh\n"

SPECS: dict[str, TaskSpec] = {
    "plain": TaskSpec("plain", Type.SCRIPT, timeout=40 * SECOND),
    "quick": TaskSpec("quick", Type.SCRIPT, timeout=4 * SECOND),
    "narrow": TaskSpec("narrow", Type.SCRIPT, timeout=15 * SECOND, concurrency=1),
    "patient": TaskSpec(
        "patient", Type.SCRIPT, timeout=20 * SECOND, retry=Retry(2, 1_000, 2.0, False)
    ),
    "stubborn": TaskSpec(
        "stubborn", Type.SCRIPT, timeout=20 * SECOND, retry=Retry(2, 500, 1.0, True)
    ),
    "long": TaskSpec("long", Type.SCRIPT, timeout=1_800 * SECOND),
    "brief": TaskSpec("brief", Type.SCRIPT, timeout=10 * SECOND, expires=45 * SECOND),
}


@dataclass(frozen=True)
class InitialState:
    """The initial state as bytes, with which any number of worlds can begin."""

    jobs: bytes
    logs: bytes
    ada: Actor
    hosts: dict[str, str]
    # By host and kind of script.
    tasks: dict[tuple[str, str], str]

    def open(self) -> tuple[apsw.Connection, apsw.Connection]:
        return _open_copy(self.jobs), _open_copy(self.logs)


def _open_copy(data: bytes) -> apsw.Connection:
    connection = connect(":memory:")
    connection.deserialize("main", data)
    return connection


@cache
def initial_state() -> InitialState:
    jobs = _create_migrated("migrations")
    tx = SqliteTx(jobs, EPOCH_MS)
    actors = assemble(tx, Keyring(bytes(range(32))))
    tx.execute("insert into meta (name, value) values ('epoch', '1') on conflict (name) do nothing")
    digest = _script(tx, actors.acme.id)
    hosts, tasks = {}, {}
    for name in HOSTS:
        hosts[name] = host_store.insert(tx, actors.acme.id, name, name, "192.0.2.8").id
        for temper in SPECS:
            tasks[name, temper] = _task(tx, actors.acme.id, hosts[name], name, temper, digest)
    return InitialState(
        jobs.serialize("main"), _create_migrated("logs").serialize("main"), actors.ada, hosts, tasks
    )


def _create_migrated(folder: str) -> apsw.Connection:
    connection = connect(":memory:")
    for name, text in migrations("sqlite", folder):
        apply(SqliteTx(connection, EPOCH_MS), f"{folder}/{name}", text)
    return connection


def _script(tx: Tx, customer_id: str) -> str:
    digest = sha256(SCRIPT).hexdigest()
    tx.execute("insert into blobs (sha256, size, content) values (?, ?, ?)", digest, 10, SCRIPT)
    tx.execute(
        "insert into files (id, customer_id, filename, kind, sha256, md5, size, created_at,"
        " updated_at) values ('f', ?, 'run.sh', 'script', ?, '', 10, 0, 0)",
        customer_id,
        digest,
    )
    return digest


def _task(tx: Tx, customer_id: str, host_id: str, host: str, temper: str, digest: str) -> str:
    spec = SPECS[temper]
    now: Millis = EPOCH_MS
    task_id = sha256(f"{host} {temper}".encode()).hexdigest()[:24]
    row = TaskRow(task_id, customer_id, "", "script", None, None, 1, 1, "", now, now)
    argument = Argument(ArgumentKind.INPUT, label="what to do")
    full = TaskSpec(
        **{
            **{name: getattr(spec, name) for name in spec.__struct_fields__},
            "host_id": host_id,
            "script_id": "f",
            "task_arguments": [argument],
        }
    )
    task_store.write_spec(row, full)
    task_store.insert(tx, row)
    task_store.insert_version(tx, row, "ada")
    return task_id
