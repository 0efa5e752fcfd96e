"""How many ended jobs a task keeps, and for how many days, unless it has limits of its own."""

import msgspec

from belvedere.access.actor import Actor, Level, require
from belvedere.access.customers import service
from belvedere.access.people import memberships
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx

MAX_COUNT = 1_000_000
MAX_DAYS = 36_500


class HistoryLimits(msgspec.Struct, frozen=True):
    count: int
    days: int


class HistoryChange(msgspec.Struct, forbid_unknown_fields=True):
    """Fields that are left out do not change."""

    count: int | None = None
    days: int | None = None


def find(tx: Tx, customer_id: str) -> HistoryLimits:
    """The organization's default."""
    limits = tx.one(
        HistoryLimits,
        "select history_count as count, history_days as days from customers where id = ?",
        customer_id,
    )
    assert limits is not None, "every record belongs to an organization"
    return limits


def change(tx: Tx, actor: Actor, body: HistoryChange) -> None:
    """Owner only. Tasks without limits of their own follow at the next removal."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    before = find(tx, actor.customer_id)
    after = HistoryLimits(
        before.count if body.count is None else body.count,
        before.days if body.days is None else body.days,
    )
    _check(after)
    if after == before:
        return
    tx.execute(
        "update customers set history_count = ?, history_days = ?, updated_at = ? where id = ?",
        after.count,
        after.days,
        tx.now,
        actor.customer_id,
    )
    service.record_change(tx, actor, "change", "changed", _audit(before), _audit(after))


def _audit(limits: HistoryLimits) -> dict[str, object]:
    return {"history": msgspec.structs.asdict(limits)}


def _check(limits: HistoryLimits) -> None:
    for name, value, maximum in (
        ("history.count", limits.count, MAX_COUNT),
        ("history.days", limits.days, MAX_DAYS),
    ):
        if not 0 <= value <= maximum:
            message = f"{name} is 0 to {maximum}, not {value}."
            raise Invalid(message, code="invalid_body", faults=(Fault(name, message),))
