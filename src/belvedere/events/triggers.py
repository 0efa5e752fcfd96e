"""Which event starts which task or workflow. Lives here because both sides lie above."""

from collections.abc import Iterable

import msgspec

from belvedere.db import Tx, columns


class Trigger(msgspec.Struct, frozen=True):
    """`event_name` of the source starts the target."""

    source: str
    source_id: str
    event_name: str
    target: str
    target_id: str


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
