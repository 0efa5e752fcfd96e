"""Operations on schedules: create, change, delete, list, pause and resume."""

from typing import Any

import msgspec
from msgspec import UNSET

from belvedere import events
from belvedere.access import Actor, Level, acl_of, audit, may_see, require
from belvedere.base.clock import Millis, iso_or_none
from belvedere.base.errors import Conflict, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.base.text import request_masking
from belvedere.db import Tx
from belvedere.rest.listing import Listing
from belvedere.rest.text_fields import line
from belvedere.schedules import bodies, run_history, store
from belvedere.schedules.bodies import ScheduleBody
from belvedere.schedules.model import GRACE, Missed, Overlap, ScheduleRow, ScheduleRun
from belvedere.schedules.targets import Targets
from belvedere.tasks.model import MASK

MAX_PER_TARGET = 100


class ScheduleView(msgspec.Struct):
    """A schedule, with masked values hidden in its arguments."""

    row: ScheduleRow
    arguments: list[Any] | None


def create(
    tx: Tx, targets: Targets, actor: Actor, kind: str, target_id: str, body: ScheduleBody
) -> ScheduleView:
    """Create a schedule of this task or workflow."""
    require(actor, Level.ADMIN)
    target = targets[kind]
    # Locked: a target that is being deleted must not get a schedule.
    target_row = target.find(tx, actor.customer_id, target_id, lock=True)
    if len(store.for_target(tx, actor.customer_id, target_id)) >= MAX_PER_TARGET:
        raise Conflict(
            f"A {kind} can have at most {MAX_PER_TARGET} schedules; delete one first.",
            code="too_many_schedules",
        )
    row = empty_row(tx.now, actor.customer_id, kind, target_id)
    row.name = target_row.name
    bodies.write_rest(row, body)
    bodies.write_when(row, body, tx.now)
    _write_arguments(tx, targets, row, body)
    _set_next(row, tx.now)
    store.insert(tx, row)
    view = _view(tx, targets, row)
    audit.record(tx, actor, "schedule.create", "schedule", row.id, None, _audit_fields(view))
    events.append(tx, row.customer_id, "schedule.created", row.id, _event(row))
    return view


def change(
    tx: Tx,
    targets: Targets,
    actor: Actor,
    schedule_id: str,
    body: ScheduleBody,
    if_match: int | None = None,
) -> ScheduleView:
    """Set the fields in the body; other fields keep their values."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, schedule_id, if_match)
    before = _view(tx, targets, msgspec.structs.replace(row))
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
        _set_next(row, tx.now)
    return _save_change(tx, targets, actor, row, before, "changed")


def switch(
    tx: Tx,
    targets: Targets,
    actor: Actor,
    schedule_id: str,
    enable: bool,
    run_date: str | int | None = None,
) -> ScheduleView:
    """Enable, optionally with another date, or disable: while disabled, no instant is missed."""
    body = ScheduleBody(enable=enable, runDate=UNSET if run_date is None else run_date)
    return change(tx, targets, actor, schedule_id, body)


def pause(
    tx: Tx, targets: Targets, actor: Actor, schedule_id: str, until: str | None, note: str
) -> ScheduleView:
    """Start nothing until then; every instant in between is recorded as missed."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, schedule_id, None)
    before = _view(tx, targets, msgspec.structs.replace(row))
    row.paused_until = bodies.until(until, tx.now)
    row.pause_note = line("note", note)
    if not before.row.is_paused(tx.now):
        row.paused_at = tx.now
    return _save_change(tx, targets, actor, row, before, "paused")


def resume(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> ScheduleView:
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, schedule_id, None)
    if not row.is_paused(tx.now):
        return _view(tx, targets, row)
    before = _view(tx, targets, msgspec.structs.replace(row))
    row.paused_until = tx.now
    return _save_change(tx, targets, actor, row, before, "resumed")


def delete(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> ScheduleView:
    """Delete a schedule and its history; jobs that it has started continue."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, schedule_id, None)
    view = _view(tx, targets, row)
    store.delete(tx, row)
    audit.record(tx, actor, "schedule.delete", "schedule", row.id, _audit_fields(view), None)
    events.append(tx, row.customer_id, "schedule.deleted", row.id, _event(row))
    return view


def delete_for_target(tx: Tx, customer_id: str, target_id: str) -> None:
    """The target was deleted: delete its schedules."""
    for row in store.for_target(tx, customer_id, target_id):
        store.delete(tx, row)
        events.append(tx, customer_id, "schedule.deleted", row.id, _event(row))


def show(tx: Tx, targets: Targets, actor: Actor, schedule_id: str) -> ScheduleView:
    """The schedule, or NotFound if the actor may not see what it starts."""
    return _view(tx, targets, _visible(tx, actor, schedule_id))


def list_page(
    tx: Tx, targets: Targets, actor: Actor, listing: Listing
) -> tuple[list[ScheduleView], int | None]:
    """A page, and the total if the query asks for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return [_view(tx, targets, row) for row in store.select_page(tx, actor, listing)], total


def list_for_target(
    tx: Tx, targets: Targets, actor: Actor, kind: str, target_id: str
) -> list[ScheduleView]:
    require(actor, Level.VIEWER)
    targets[kind].find(tx, actor.customer_id, target_id)
    if not may_see(actor, acl_of(tx, actor.customer_id, kind, target_id)):
        raise NotFound(f"There is no such {kind}.", code=f"{kind}_not_found")
    rows = store.for_target(tx, actor.customer_id, target_id)
    return [_view(tx, targets, row) for row in rows]


def list_runs(tx: Tx, actor: Actor, schedule_id: str, listing: Listing) -> list[ScheduleRun]:
    """The history, newest first."""
    row = _visible(tx, actor, schedule_id)
    return run_history.select_page(tx, actor.customer_id, row.id, listing)


def _visible(tx: Tx, actor: Actor, schedule_id: str) -> ScheduleRow:
    row = store.find(tx, actor.customer_id, schedule_id)
    if not may_see(actor, acl_of(tx, actor.customer_id, row.target, row.target_id)):
        raise store.not_found()
    return row


def _locked(tx: Tx, actor: Actor, schedule_id: str, if_match: int | None) -> ScheduleRow:
    row = store.find(tx, actor.customer_id, schedule_id, lock=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The schedule is now at version {row.version}; reload it and try again.")
    return row


def _save_change(
    tx: Tx, targets: Targets, actor: Actor, row: ScheduleRow, before: ScheduleView, event: str
) -> ScheduleView:
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    after = _view(tx, targets, row)
    action = event.removesuffix("d")
    audit.record(
        tx,
        actor,
        f"schedule.{action}",
        "schedule",
        row.id,
        _audit_fields(before),
        _audit_fields(after),
    )
    events.append(tx, row.customer_id, f"schedule.{event}", row.id, _event(row))
    return after


def empty_row(
    now: Millis, customer_id: str = "", kind: str = "", target_id: str = ""
) -> ScheduleRow:
    """A schedule that does not run yet."""
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


def _set_next(row: ScheduleRow, now: Millis) -> None:
    """Set the next instant. A date that has just passed counts, unless it has run."""
    if not row.enabled:
        row.next_at = None
        return
    begin = now - 1
    if row.run_date is not None and now - GRACE <= row.run_date <= now:
        begin = row.run_date - 1
    fire = row.recurrence.after(max(begin, row.last_at or 0))
    row.next_at = None if fire is None else fire.at


def _write_arguments(tx: Tx, targets: Targets, row: ScheduleRow, body: ScheduleBody) -> None:
    values = None if body.task_arguments is UNSET else body.task_arguments
    old: list[Any] = msgspec.json.decode(row.arguments) or []
    target = targets[row.target]
    if values is not None and MASK in values:
        hidden = target.masked(tx, row.customer_id, row.target_id)
        # A masked value that is sent back keeps the stored value.
        values = [
            old[n] if value == MASK and n in hidden and n < len(old) else value
            for n, value in enumerate(values)
        ]
        if any(value == MASK and n in hidden for n, value in enumerate(values)):
            raise request_masking.unresolved_mask("task_arguments")
    target.check(tx, row.customer_id, row.target_id, values)
    row.arguments = bodies.arguments(values)


def _view(tx: Tx, targets: Targets, row: ScheduleRow) -> ScheduleView:
    values: list[Any] | None = msgspec.json.decode(row.arguments)
    if values:
        hidden = targets[row.target].masked(tx, row.customer_id, row.target_id)
        values = [MASK if n in hidden else value for n, value in enumerate(values)]
    return ScheduleView(row, values)


def _event(row: ScheduleRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "target": row.target,
        "target_id": row.target_id,
        "enable": bool(row.enabled),
        "next": iso_or_none(row.next_at),
        "version": row.version,
    }


def _audit_fields(view: ScheduleView) -> dict[str, Any]:
    row = view.row
    return {
        "name": row.name,
        row.target: row.target_id,
        "runDate": iso_or_none(row.run_date),
        "repeatEvery": row.repeat_every,
        "timezone": row.timezone,
        "task_arguments": view.arguments,
        "overlap": row.overlap,
        "missed": row.missed,
        "enable": bool(row.enabled),
        "paused": iso_or_none(row.paused_at),
        "until": iso_or_none(row.paused_until),
        "note": row.pause_note,
    }
