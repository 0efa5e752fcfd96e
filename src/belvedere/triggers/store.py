"""Which event starts which task or workflow. Lives here because both sides lie above."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from belvedere.db import Tx, columns
from belvedere.events.log import append_all
from belvedere.triggers.sources import Cause


class Trigger(msgspec.Struct, frozen=True):
    """`event_name` of the source starts the target."""

    source: str
    source_id: str
    event_name: str
    target: str
    target_id: str

    @property
    def event_id(self) -> str:
        return Cause(self.source, self.source_id, self.event_name).id


# What starts something: (source, event name).
Starting = set[tuple[str, str]]


def asking(which: str) -> str:
    """The statement whose rows make a `Starting`, of those sources whose id is `which`; the sort of
    source is its first parameter."""
    return f"select source_id, event_name from triggers where source = ? and source_id {which}"


def fire(
    tx: Tx,
    source: str,
    happened: Sequence[tuple[str, str, str, dict[str, Any]]],
    known: Starting | None = None,
) -> None:
    """(customer, source, event name, data): told to the reaction only where it starts something,
    which may be known already.

    `data` holds the `arguments`, or the `job_id` whose output they are.
    """
    if not happened:
        return
    wanted = _starting(tx, source, happened) if known is None else known
    append_all(
        tx,
        "trigger.fired",
        [
            (customer_id, source_id, {"source": source, "event_name": event_name, **data})
            for customer_id, source_id, event_name, data in happened
            if (source_id, event_name) in wanted
        ],
    )


def _starting(tx: Tx, source: str, happened: Sequence[tuple[str, str, str, Any]]) -> Starting:
    ids = msgspec.json.encode(list({source_id for _, source_id, _, _ in happened})).decode()
    rows = tx.rows(asking(f"in {tx.sql.texts}"), source, ids)
    return {(source_id, event_name) for source_id, event_name in rows}


def attach(tx: Tx, customer_id: str, triggers: Iterable[Trigger]) -> None:
    tx.many(
        f"insert into triggers (customer_id, {columns(Trigger)}, created_at)"
        " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        [(customer_id, *msgspec.structs.astuple(one), tx.now) for one in triggers],
    )


def of_source(
    tx: Tx, customer_id: str, source: str, source_id: str, event_name: str | None = None
) -> list[Trigger]:
    """What it starts, oldest first."""
    named, params = ("", []) if event_name is None else (" and event_name = ?", [event_name])
    return tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and source = ?"
        f" and source_id = ?{named} order by created_at, target, target_id",
        customer_id,
        source,
        source_id,
        *params,
    )


def of_target(tx: Tx, customer_id: str, target: str, target_id: str) -> list[Trigger]:
    """What starts it."""
    return tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and target = ?"
        " and target_id = ? order by created_at, source, source_id",
        customer_id,
        target,
        target_id,
    )


def of_targets(
    tx: Tx, customer_id: str, target: str, target_ids: Sequence[str]
) -> dict[str, list[Trigger]]:
    """The same for several at once."""
    found: dict[str, list[Trigger]] = {target_id: [] for target_id in target_ids}
    for one in tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and target = ?"
        f" and target_id in {tx.sql.texts} order by created_at, source, source_id",
        customer_id,
        target,
        msgspec.json.encode(list(found)).decode(),
    ):
        found[one.target_id].append(one)
    return found


def of_sources(
    tx: Tx, customer_id: str, source: str, source_ids: Sequence[str]
) -> dict[str, list[Trigger]]:
    """What several sources start."""
    found: dict[str, list[Trigger]] = {source_id: [] for source_id in source_ids}
    for one in tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ? and source = ?"
        f" and source_id in {tx.sql.texts} order by created_at, target, target_id",
        customer_id,
        source,
        msgspec.json.encode(list(found)).decode(),
    ):
        found[one.source_id].append(one)
    return found


def replace_of_source(
    tx: Tx, customer_id: str, source: str, source_id: str, triggers: Iterable[Trigger]
) -> None:
    forget(tx, customer_id, source=(source, source_id))
    attach(tx, customer_id, triggers)


def replace_of_target(
    tx: Tx, customer_id: str, target: str, target_id: str, triggers: Iterable[Trigger]
) -> None:
    forget(tx, customer_id, target=(target, target_id))
    attach(tx, customer_id, triggers)


def forget(
    tx: Tx,
    customer_id: str,
    *,
    source: tuple[str, str] | None = None,
    target: tuple[str, str] | None = None,
) -> None:
    """Drop what hangs on a source or a target, for instance when it is deleted."""
    if source is not None:
        tx.run(
            "delete from triggers where customer_id = ? and source = ? and source_id = ?",
            customer_id,
            *source,
        )
    if target is not None:
        tx.run(
            "delete from triggers where customer_id = ? and target = ? and target_id = ?",
            customer_id,
            *target,
        )
