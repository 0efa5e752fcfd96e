"""What people do with schedules: make, change, delete, look, pause and resume."""

from typing import Any

import msgspec
from msgspec import UNSET

from belvedere import events
from belvedere.access import Actor, Level, acl_of, audit, may_see, require
from belvedere.base.clock import Millis, iso_or_none
from belvedere.base.errors import Conflict, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.rest.listing import Listing
from belvedere.rest.text_fields import line
from belvedere.schedules import bodies, run_history, store
from belvedere.schedules.bodies import ScheduleBody
from belvedere.schedules.model import GRACE, Missed, Overlap, Run, ScheduleRow
from belvedere.schedules.targets import Targets
from belvedere.tasks.model import MASK

MAX_OF_TARGET = 100


class Shown(msgspec.Struct):
    """A schedule, with its arguments as anybody may see them."""

    row: ScheduleRow
    arguments: list[Any] | None


def create(
    tx: Tx, targets: Targets, actor: Actor, kind: str, target_id: str, body: ScheduleBody
) -> Shown:
    """A schedule of this task or workflow."""
    require(actor, Level.ADMIN)
    target = targets[kind]
    # Held: what is deleted at this moment must not gain a schedule.
    found = target.find(tx, actor.customer_id, target_id, hold=True)
    if len(store.of_target(tx, actor.customer_id, target_id)) >= MAX_OF_TARGET:
        raise Conflict(
            f"One {kind} has at most {MAX_OF_TARGET} schedules; delete one first.",
            code="too_many_schedules",
        )
    row = empty_row(tx.now, actor.customer_id, kind, target_id)
    row.name = found.name
    bodies.write_rest(row, body)
    bodies.write_when(row, body, tx.now)
    _write_arguments(tx, targets, row, body)
    _aim(row, tx.now)
    store.insert(tx, row)
    shown = _shown(tx, targets, row)
    audit.record(tx, actor, "schedule.create", "schedule", row.id, None, _audited(shown))
    events.append(tx, row.customer_id, "schedule.created", row.id, _event(row))
    return shown


def change(
    tx: Tx,
    targets: Targets,
    actor: Actor,
    schedule_id: str,
    body: ScheduleBody,
    if_match: int | None = None,
) -> Shown:
    """What the body says; the rest stays."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, schedule_id, if_match)
    before = _shown(tx, targets, msgspec.structs.replace(row))
    bodies.write_rest(row, body)
    bodies.write_when(row, body, tx.now)
    if body.task_arguments is not UNSET:
        _write_arguments(tx, targets, row, body)
    if row == before.row:
        return before
    if (row.run_date, row.repeat_every, row.timezone, row.enabled) != (
        before.row.run_date,
        before.row.repeat_every,
        before.row.timezone,
        before.row.enabled,
    ):
        _aim(row, tx.now)
    return _saved(tx, targets, actor, row, before, "changed")


def switch(
    tx: Tx,
    targets: Targets,
    actor: Actor,
    schedule_id: str,
    enable: bool,
    run_date: str | int | None = None,
) -> Shown:
    """On, perhaps with another date, or off: while it is off, nothing of it is missed."""
    body = ScheduleBody(enable=enable, runDate=UNSET if run_date is None else run_date)
    return change(tx, targets, actor, schedule_id, body)


def pause(
    tx: Tx, targets: Targets, actor: Actor, schedule_id: str, until: str | None, note: str
) -> Shown:
    """Nothing starts until then; every instant between is written down as missed."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, schedule_id, None)
    before = _shown(tx, targets, msgspec.structs.replace(row))
    row.paused_until = bodies.until(until, tx.now)
    row.pause_note = line("note", note)
    if not before.row.is_paused(tx.now):
        row.paused_at = tx.now
    return _saved(tx, targets, actor, row, before, "paused")


def resume(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> Shown:
    require(actor, Level.ADMIN)
    row = _held(tx, actor, schedule_id, None)
    if not row.is_paused(tx.now):
        return _shown(tx, targets, row)
    before = _shown(tx, targets, msgspec.structs.replace(row))
    row.paused_until = tx.now
    return _saved(tx, targets, actor, row, before, "resumed")


def delete(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> Shown:
    """Gone with its ledger; jobs that it has started go on."""
    require(actor, Level.ADMIN)
    row = _held(tx, actor, schedule_id, None)
    last = _shown(tx, targets, row)
    store.delete(tx, row)
    audit.record(tx, actor, "schedule.delete", "schedule", row.id, _audited(last), None)
    events.append(tx, row.customer_id, "schedule.deleted", row.id, _event(row))
    return last


def target_went(tx: Tx, customer_id: str, target_id: str) -> None:
    """Nothing is left to start."""
    for row in store.of_target(tx, customer_id, target_id):
        store.delete(tx, row)
        events.append(tx, customer_id, "schedule.deleted", row.id, _event(row))


def show(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> Shown:
    """The schedule, or NotFound for whom the ACL of what it starts does not name."""
    return _shown(tx, targets, _visible(tx, actor, schedule_id))


def listed(
    tx: Tx, targets: Targets, actor: Actor, listing: Listing
) -> tuple[list[Shown], int | None]:
    """A page, and the total where the caller asked for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return [_shown(tx, targets, row) for row in store.page(tx, actor, listing)], total


def of_target(tx: Tx, targets: Targets, actor: Actor, kind: str, target_id: str) -> list[Shown]:
    require(actor, Level.VIEWER)
    targets[kind].find(tx, actor.customer_id, target_id)
    if not may_see(actor, acl_of(tx, actor.customer_id, kind, target_id)):
        raise NotFound(f"There is no such {kind}.", code=f"{kind}_not_found")
    rows = store.of_target(tx, actor.customer_id, target_id)
    return [_shown(tx, targets, row) for row in rows]


def runs(tx: Tx, actor: Actor, schedule_id: str, listing: Listing) -> list[Run]:
    """The ledger, newest first."""
    row = _visible(tx, actor, schedule_id)
    return run_history.page(tx, actor.customer_id, row.id, listing)


def _visible(tx: Tx, actor: Actor, schedule_id: str) -> ScheduleRow:
    row = store.find(tx, actor.customer_id, schedule_id)
    if not may_see(actor, acl_of(tx, actor.customer_id, row.target, row.target_id)):
        raise store.missing()
    return row


def _held(tx: Tx, actor: Actor, schedule_id: str, if_match: int | None) -> ScheduleRow:
    row = store.find(tx, actor.customer_id, schedule_id, hold=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The schedule is at version {row.version} now; read it again.")
    return row


def _saved(
    tx: Tx, targets: Targets, actor: Actor, row: ScheduleRow, before: Shown, what: str
) -> Shown:
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    after = _shown(tx, targets, row)
    word = what.removesuffix("d")
    audit.record(
        tx, actor, f"schedule.{word}", "schedule", row.id, _audited(before), _audited(after)
    )
    events.append(tx, row.customer_id, f"schedule.{what}", row.id, _event(row))
    return after


def empty_row(
    now: Millis, customer_id: str = "", kind: str = "", target_id: str = ""
) -> ScheduleRow:
    """One that says nothing yet about when it runs."""
    return ScheduleRow(
        id=new_id(),
        customer_id=customer_id,
        name="",
        target=kind,
        target_id=target_id,
        run_date=None,
        repeat_every=None,
        timezone="UTC",
        anchor_at=now,
        arguments="null",
        overlap=Overlap.SKIP.value,
        missed=Missed.SKIP.value,
        enabled=1,
        paused_at=None,
        paused_until=None,
        pause_note="",
        next_at=None,
        last_at=None,
        last_job_id=None,
        version=1,
        created_at=now,
        updated_at=now,
        counted_from=None,
    )


def _aim(row: ScheduleRow, now: Millis) -> None:
    """The next instant from now on. A date that has just passed counts; one that ran does not."""
    if not row.enabled:
        row.next_at = None
        return
    begin = now - 1
    if row.run_date is not None and now - GRACE <= row.run_date <= now:
        begin = row.run_date - 1
    found = row.rhythm.after(max(begin, row.last_at or 0))
    row.next_at = None if found is None else found.at


def _write_arguments(tx: Tx, targets: Targets, row: ScheduleRow, body: ScheduleBody) -> None:
    said = None if body.task_arguments is UNSET else body.task_arguments
    old: list[Any] = msgspec.json.decode(row.arguments) or []
    target = targets[row.target]
    if said is not None and MASK in said:
        hidden = target.masked(tx, row.customer_id, row.target_id)
        # Sent as it was shown: what is hidden stays what it was.
        said = [
            old[n] if one == MASK and n in hidden and n < len(old) else one
            for n, one in enumerate(said)
        ]
    target.check(tx, row.customer_id, row.target_id, said)
    row.arguments = bodies.arguments(said)


def _shown(tx: Tx, targets: Targets, row: ScheduleRow) -> Shown:
    values: list[Any] | None = msgspec.json.decode(row.arguments)
    if values:
        hidden = targets[row.target].masked(tx, row.customer_id, row.target_id)
        values = [MASK if n in hidden else one for n, one in enumerate(values)]
    return Shown(row, values)


def _event(row: ScheduleRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "target": row.target,
        "target_id": row.target_id,
        "enable": bool(row.enabled),
        "next": iso_or_none(row.next_at),
        "version": row.version,
    }


def _audited(shown: Shown) -> dict[str, Any]:
    row = shown.row
    return {
        "name": row.name,
        row.target: row.target_id,
        "runDate": iso_or_none(row.run_date),
        "repeatEvery": row.repeat_every,
        "timezone": row.timezone,
        "task_arguments": shown.arguments,
        "overlap": row.overlap,
        "missed": row.missed,
        "enable": bool(row.enabled),
        "paused": iso_or_none(row.paused_at),
        "until": iso_or_none(row.paused_until),
        "note": row.pause_note,
    }
