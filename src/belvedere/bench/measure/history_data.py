"""History in bulk: one job is run by the product's operations, then copied with one statement per
table."""

from belvedere import events
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx, columns
from belvedere.events import cursors
from belvedere.jobs.attempts import Attempt, reserve_fences
from belvedere.jobs.model import JobRow
from belvedere.server.background.consumers import CONSUMERS

# Columns of jobs that JobRow does not have: large, and read for a single job only.
HEAVY = "arguments, result, output, log"
# Twelve hex digits of a number.
_HEX = {"sqlite": "printf('%012x', {0})", "postgres": "lpad(to_hex({0}), 12, '0')"}
_NUMBERS = (
    "with recursive n (i) as (select cast(? as bigint) union all"
    " select i + 1 from n where i < cast(? as bigint))"
)


def fill(tx: Tx, target: Fixture, start: int, count: int, total: int) -> None:
    """Copies `start` to `start + count` of `total`: finished jobs with attempts and events."""
    job_id, fence, ended_at = _template_job(tx, target)
    fences = reserve_fences(tx, count)
    # The oldest copy is `total` milliseconds older than the template, so that ids follow time.
    at = f"cast({ended_at - total - 1} as bigint) + i"
    hex_digits = _HEX[tx.dialect.name]
    new_id = f"{hex_digits.format(f'({at})')} || {hex_digits.format('i')}"
    new_fence = f"cast({fences[0] - start} as bigint) + i"
    copies = (start, start + count - 1)
    _copy(
        tx,
        "jobs",
        f"{columns(JobRow)}, {HEAVY}",
        {"id": new_id, "fence": new_fence, "created_at": at, "ended_at": at},
        (*copies, job_id),
        "id = ?",
    )
    _copy(
        tx,
        "attempts",
        columns(Attempt),
        {"job_id": new_id, "fence": new_fence, "ended_at": at},
        (*copies, fence),
        "fence = ?",
    )
    data = f"""replace(data, '"fence":{fence}', '"fence":' || cast({new_fence} as text))"""
    _copy(
        tx,
        "events",
        "xid, at, customer_id, kind, object, object_id, data",
        {"xid": tx.dialect.current_xid, "at": at, "object_id": new_id, "data": data},
        (*copies, job_id),
        "object_id = ?",
    )


def skip_events(tx: Tx) -> None:
    """Move every consumer's cursor to the end of the log, as if a server had processed it."""
    end = events.newest(tx)
    for consumer in CONSUMERS:
        cursors.save(tx, consumer.name, end)


def _template_job(tx: Tx, target: Fixture) -> tuple[str, int, int]:
    """The job to copy; it is run now if there is none yet."""
    row = tx.row("select id, fence, ended_at from jobs order by created_at desc limit 1")
    if row is None:
        fixture.create(tx, target)
        [claimed] = fixture.claim(tx, target)
        fixture.finish(tx, target, claimed.job.fence)
        return _template_job(tx, target)
    return row[0], row[1], row[2]


def _copy(
    tx: Tx, table: str, names: str, changed: dict[str, str], params: tuple[object, ...], where: str
) -> None:
    values = ", ".join(changed.get(name, name) for name in names.split(", "))
    tx.execute(
        f"insert into {table} ({names}) {_NUMBERS} select {values} from n, {table} where {where}",
        *params,
    )
