"""The rows of triggers, and of the tasks and workflows that a workflow runs."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from belvedere.db import Tx, columns
from belvedere.events.log import append_all
from belvedere.triggers.sources import EventReference


class Trigger(msgspec.Struct, frozen=True):
    """`event_name` of the source starts the target."""

    source: str
    source_id: str
    event_name: str
    target: str
    target_id: str

    @property
    def event_id(self) -> str:
        return EventReference(self.source, self.source_id, self.event_name).id


# Events that start something: (source id, event name).
ActiveTriggers = set[tuple[str, str]]


def active_triggers_query(which: str) -> str:
    """The statement whose rows make `ActiveTriggers`, for sources whose id matches `which`. The
    first parameter is the kind of source."""
    return f"select source_id, event_name from triggers where source = ? and source_id {which}"


def fire(
    tx: Tx,
    source: str,
    occurrences: Sequence[tuple[str, str, str, dict[str, Any]]],
    active: ActiveTriggers | None = None,
) -> None:
    """Publish what happened, as (customer, source, event name, data), where it starts something.
    `active`, if given, has the active triggers of these sources.

    `data` holds the `arguments`, or the `job_id` whose output they are.
    """
    if not occurrences:
        return
    if active is None:
        active = _active_triggers(tx, source, occurrences)
    append_all(
        tx,
        "trigger.fired",
        [
            (customer_id, source_id, {"source": source, "event_name": event_name, **data})
            for customer_id, source_id, event_name, data in occurrences
            if (source_id, event_name) in active
        ],
    )


def _active_triggers(
    tx: Tx, source: str, occurrences: Sequence[tuple[str, str, str, Any]]
) -> ActiveTriggers:
    ids = msgspec.json.encode(list({source_id for _, source_id, _, _ in occurrences})).decode()
    rows = tx.rows(active_triggers_query(f"in {tx.dialect.in_texts}"), source, ids)
    return {(source_id, event_name) for source_id, event_name in rows}


def attach(tx: Tx, customer_id: str, triggers: Iterable[Trigger]) -> None:
    tx.execute_many(
        f"insert into triggers (customer_id, {columns(Trigger)}, created_at)"
        " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        [(customer_id, *msgspec.structs.astuple(trigger), tx.now) for trigger in triggers],
    )


def for_source(
    tx: Tx, customer_id: str, source: str, source_id: str, event_name: str | None = None
) -> list[Trigger]:
    """What a source starts, oldest first."""
    condition, params = ("", []) if event_name is None else (" and event_name = ?", [event_name])
    return tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and source = ?"
        f" and source_id = ?{condition} order by created_at, target, target_id",
        customer_id,
        source,
        source_id,
        *params,
    )


def for_target(tx: Tx, customer_id: str, target: str, target_id: str) -> list[Trigger]:
    """What starts a target."""
    return tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and target = ?"
        " and target_id = ? order by created_at, source, source_id",
        customer_id,
        target,
        target_id,
    )


def for_targets(
    tx: Tx, customer_id: str, target: str, target_ids: Sequence[str]
) -> dict[str, list[Trigger]]:
    """What starts each of several targets."""
    triggers: dict[str, list[Trigger]] = {target_id: [] for target_id in target_ids}
    for trigger in tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and target = ?"
        f" and target_id in {tx.dialect.in_texts} order by created_at, source, source_id",
        customer_id,
        target,
        msgspec.json.encode(list(triggers)).decode(),
    ):
        triggers[trigger.target_id].append(trigger)
    return triggers


def for_sources(
    tx: Tx, customer_id: str, source: str, source_ids: Sequence[str]
) -> dict[str, list[Trigger]]:
    """What each of several sources starts."""
    triggers: dict[str, list[Trigger]] = {source_id: [] for source_id in source_ids}
    for trigger in tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and source = ?"
        f" and source_id in {tx.dialect.in_texts} order by created_at, target, target_id",
        customer_id,
        source,
        msgspec.json.encode(list(triggers)).decode(),
    ):
        triggers[trigger.source_id].append(trigger)
    return triggers


def replace_for_source(
    tx: Tx, customer_id: str, source: str, source_id: str, triggers: Iterable[Trigger]
) -> None:
    delete(tx, customer_id, source=(source, source_id))
    attach(tx, customer_id, triggers)


def replace_for_target(
    tx: Tx, customer_id: str, target: str, target_id: str, triggers: Iterable[Trigger]
) -> None:
    delete(tx, customer_id, target=(target, target_id))
    attach(tx, customer_id, triggers)


def delete(
    tx: Tx,
    customer_id: str,
    *,
    source: tuple[str, str] | None = None,
    target: tuple[str, str] | None = None,
) -> None:
    """Delete the triggers of a source or a target, for instance when it is deleted."""
    if source is not None:
        tx.execute(
            "delete from triggers where customer_id = ? and source = ? and source_id = ?",
            customer_id,
            *source,
        )
    if target is not None:
        tx.execute(
            "delete from triggers where customer_id = ? and target = ? and target_id = ?",
            customer_id,
            *target,
        )


def replace_members(
    tx: Tx, workflow_id: str, task_ids: Iterable[str], nested_ids: Iterable[str]
) -> None:
    """Which tasks and other workflows a workflow runs."""
    tx.execute("delete from workflow_tasks where workflow_id = ?", workflow_id)
    tx.execute_many(
        "insert into workflow_tasks (workflow_id, task_id) values (?, ?)",
        [(workflow_id, task_id) for task_id in sorted(task_ids)],
    )
    tx.execute("delete from workflow_parts where workflow_id = ?", workflow_id)
    tx.execute_many(
        "insert into workflow_parts (workflow_id, part_id) values (?, ?)",
        [(workflow_id, nested_id) for nested_id in sorted(nested_ids)],
    )


def delete_members(tx: Tx, workflow_id: str) -> None:
    tx.execute("delete from workflow_tasks where workflow_id = ?", workflow_id)
    tx.execute("delete from workflow_parts where workflow_id = ?", workflow_id)
