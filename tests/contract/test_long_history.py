"""Periodic work of the server must not read years of history."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from belvedere.db import Tx
from belvedere.db.sqlite import connection as connections
from belvedere.db.sqlite import database
from belvedere.files import usage
from belvedere.jobs.lifecycle import timeouts
from belvedere.server.agents import queries
from belvedere.server.background import consumers, loops
from belvedere.server.background.consumers import CONSUMERS
from belvedere.server.background.loops import LOOPS
from contract.client import Client
from contract.running import create
from contract.world import World

# Tables that grow for as long as the server is used.
LONG = (
    *("jobs", "attempts", "events", "audit", "idempotency", "monitor_samples", "monitor_rollups"),
    *("messages", "notifications", "deliveries", "indicator_values", "host_stats", "schedule_runs"),
)
# Indexes of the few jobs that are open, or lost.
SHORT = (
    *("jobs_ready", "jobs_assigned", "jobs_open", "jobs_onhold", "workflow_jobs_open"),
    "jobs_lost",
)
# The ends of the log: one step along its own order.
ENDS = "select xid, id from events"
Query = dict[str, tuple[str, Any]]


@pytest.fixture(autouse=True)
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[Query]:
    """Every statement that SQLite gets, with its database and parameters."""
    fields: Query = {}
    opened = connections.connect

    def connect(path: str, **how: bool) -> apsw.Connection:
        connection = opened(path, **how)

        def hear(_: Any, sql: str, params: Any) -> bool:
            fields.setdefault(sql, (path, params))
            return True

        connection.set_exec_trace(hear)
        return connection

    monkeypatch.setattr(database, "connect", connect)
    yield fields


def read_whole(sql: str, path: str, params: Any) -> list[str]:
    """The long tables that SQLite reads from end to end for this statement."""
    names = {name for name in LONG if re.search(rf"\b{name}\b", sql)}
    names |= {alias for name in LONG for alias in re.findall(rf"\b{name} ([a-z])\b", sql)}
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    plan = [str(row[3]) for row in connection.execute(f"explain query plan {sql}", params)]
    connection.close()
    scans = [step.split() for step in plan if step.startswith("SCAN ")]
    return [" ".join(step) for step in scans if step[1] in names and step[-1] not in SHORT]


def check(asked: Query) -> None:
    for sql, (path, params) in asked.items():
        if sql.split()[0] in ("select", "update", "delete", "insert") and ENDS not in sql:
            assert read_whole(sql, path, params) == [], sql


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
@pytest.mark.parametrize("engine", ["sqlite"])
async def test_no_loop_reads_all_history(
    world: World, statements: Query, uma: Client, loop: loops.Loop
) -> None:
    await create(uma, await world.task())
    statements.clear()
    await loop.work(world.runtime)
    check(statements)


# What happens when a host disconnects or is deleted, and when an agent downloads a script.
VERBS: dict[str, Callable[[Tx], object]] = {
    "expire": timeouts.expire,
    "mark_unreachable": timeouts.mark_unreachable,
    "mark_reachable": timeouts.mark_reachable,
    "overdue": timeouts.overdue,
    "abandon a host": lambda tx: timeouts.expire_for(tx, "host_id", "x"),
    "abandon a task": lambda tx: timeouts.expire_for(tx, "task_id", "x"),
    "is_needed_by": lambda tx: usage.is_needed_by(tx, "x", "x"),
    "content_for": lambda tx: queries.content_for(tx, "x", "0" * 64),
    "wishes": lambda tx: queries.cancel_requests(tx, "x"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("engine", ["sqlite"])
async def test_no_operation_reads_the_whole_history(
    world: World, statements: Query, verb: str
) -> None:
    statements.clear()
    await world.runtime.db.write(VERBS[verb])
    assert statements
    check(statements)


@pytest.mark.parametrize("reaction", CONSUMERS, ids=lambda reaction: reaction.name)
@pytest.mark.parametrize("engine", ["sqlite"])
async def test_no_reaction_reads_all_history(
    world: World, statements: Query, uma: Client, reaction: consumers.EventConsumer
) -> None:
    task = await world.task()
    await create(uma, task)
    await world.client("ada").delete(f"/acme/task/{task}")
    statements.clear()
    await consumers.catch_up(reaction, world.runtime)
    assert statements
    check(statements)
