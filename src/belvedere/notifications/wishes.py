"""Which kinds of events a member wants to find in the inbox."""

from collections.abc import Collection, Sequence

import msgspec

from belvedere.access import Actor, require_person
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.notifications.model import Told

# Everything that comes into an inbox by itself, and what it is.
KINDS = {
    "job.created": "a job waits for an approval or for input; a notification task",
    "job.finished": "a job ended badly",
    "job.lost": "a job is lost",
    "job.expired": "a job waited too long",
    "job.voided": "an approval is void",
    "monitor.failure": "a monitor fails",
    "monitor.recovered": "a monitor is normal again",
    "monitor.updates_stopped": "a monitor says nothing any more",
    "monitor.updates_started": "a monitor speaks again",
    "monitor.flapping": "a monitor fails and recovers too often",
    "indicator.failed": "an indicator is in failure",
    "indicator.recovered": "an indicator is normal again",
    "indicator.stale": "an indicator has not been updated for too long",
    "member.recovery_asked": "a member forgot the password",
    "message.dead": "a message could not be delivered",
}


class Wishes(msgspec.Struct):
    """Kinds that come and kinds that do not."""

    muted: list[str]
    kinds: dict[str, str]


def of(tx: Tx, actor: Actor) -> Wishes:
    require_person(actor)
    found = tx.value(
        "select muted from inboxes where user_id = ? and customer_id = ?",
        actor.user_id,
        actor.customer_id,
    )
    return Wishes(msgspec.json.decode(found or "[]", type=list[str]), KINDS)


def put(tx: Tx, actor: Actor, muted: Sequence[str]) -> Wishes:
    """Exactly these do not come from now on; what is there stays."""
    require_person(actor)
    _check(muted)
    wanted = sorted(set(muted))
    tx.run(
        "insert into inboxes (customer_id, user_id, muted, updated_at) values (?, ?, ?, ?)"
        " on conflict (user_id, customer_id) do update set muted = excluded.muted,"
        " updated_at = excluded.updated_at",
        actor.customer_id,
        actor.user_id,
        msgspec.json.encode(wanted).decode(),
        tx.now,
    )
    return Wishes(wanted, KINDS)


def _check(muted: Sequence[str]) -> None:
    faults = tuple(
        Fault(f"muted[{n}]", "Nothing of this kind comes into an inbox by itself.")
        for n, kind in enumerate(muted)
        if kind not in KINDS
    )
    if faults:
        raise Invalid(f"{faults[0].field}: {faults[0].message}", faults=faults)


def muted_by(tx: Tx, told: Collection[Told]) -> set[tuple[str, str, str]]:
    """(organization, user, kind) that do not come."""
    people = sorted({user_id for one in told for user_id in one.people})
    if not people:
        return set()
    rows = tx.rows(
        f"select customer_id, user_id, muted from inboxes where user_id in {tx.sql.texts}",
        msgspec.json.encode(people).decode(),
    )
    return {
        (customer_id, user_id, kind)
        for customer_id, user_id, muted in rows
        for kind in msgspec.json.decode(muted, type=list[str])
    }
