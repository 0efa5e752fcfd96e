"""History in bulk: one job is run with the real verbs, then copied by a statement per table."""

from belvedere import events
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Ground
from belvedere.db import Tx, columns
from belvedere.jobs.attempts import Attempt, reserve_fences
from belvedere.jobs.model import JobRow
from belvedere.server.background.consumers import REACTIONS

# What jobs have beside JobRow: large, and read for one job only.
HEAVY = "arguments, result, output, log"
# Twelve hex digits of a number.
_HEX = {"sqlite": "printf('%012x', {0})", "postgres": "lpad(to_hex({0}), 12, '0')"}
_NUMBERS = (
    "with recursive n (i) as (select cast(? as bigint) union all"
    " select i + 1 from n where i < cast(? as bigint))"
)


def fill(tx: Tx, place: Ground, start: int, count: int, total: int) -> None:
    """Copies `start` to `start + count` of `total`: finished jobs with attempts and events."""
    job_id, fence, ended_at = _pattern(tx, place)
    fences = reserve_fences(tx, count)
    # The oldest copy lies `total` milliseconds before its pattern, so that ids follow time.
    at = f"cast({ended_at - total - 1} as bigint) + i"
    hexed = _HEX[tx.sql.engine]
    new_id = f"{hexed.format(f'({at})')} || {hexed.format('i')}"
    new_fence = f"cast({fences[0] - start} as bigint) + i"
    span = (start, start + count - 1)
    _copy(
        tx,
        "jobs",
        f"{columns(JobRow)}, {HEAVY}",
        {"id": new_id, "fence": new_fence, "created_at": at, "ended_at": at},
        (*span, job_id),
        "id = ?",
    )
    _copy(
        tx,
        "attempts",
        columns(Attempt),
        {"job_id": new_id, "fence": new_fence, "ended_at": at},
        (*span, fence),
        "fence = ?",
    )
    told = f"""replace(data, '"fence":{fence}', '"fence":' || cast({new_fence} as text))"""
    _copy(
        tx,
        "events",
        "xid, at, customer_id, kind, object, object_id, data",
        {"xid": tx.sql.current_xid, "at": at, "object_id": new_id, "data": told},
        (*span, job_id),
        "object_id = ?",
    )


def digest(tx: Tx) -> None:
    """As if a server had lived through all of it: nothing is left to react to."""
    xid, event_id = events.newest(tx)
    tx.many(
        "insert into cursors (name, xid, id) values (?, ?, ?)"
        " on conflict (name) do update set xid = excluded.xid, id = excluded.id",
        [(reaction.name, xid, event_id) for reaction in REACTIONS],
    )


def _pattern(tx: Tx, place: Ground) -> tuple[str, int, int]:
    """The first job ever, run now if there is none yet."""
    found = tx.row("select id, fence, ended_at from jobs order by created_at desc limit 1")
    if found is None:
        fixture.create(tx, place)
        [claimed] = fixture.claim(tx, place)
        fixture.finish(tx, place, claimed.job.fence)
        return _pattern(tx, place)
    return found[0], found[1], found[2]


def _copy(
    tx: Tx, table: str, names: str, changed: dict[str, str], params: tuple[object, ...], where: str
) -> None:
    values = ", ".join(changed.get(name, name) for name in names.split(", "))
    tx.run(
        f"insert into {table} ({names}) {_NUMBERS} select {values} from n, {table} where {where}",
        *params,
    )
