"""What starts a task or workflow besides people: events of webhooks, indicators, other tasks."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, audit
from belvedere.base.errors import Conflict, Fault, Invalid
from belvedere.db import Tx
from belvedere.triggers import cycles, sources, store
from belvedere.triggers.store import Trigger

MAX_TRIGGERS = 100


class EventBody(msgspec.Struct):
    """An event as GET /event shows it; only its id counts."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


def of_targets(
    tx: Tx, customer_id: str, target: str, target_ids: Sequence[str]
) -> dict[str, list[str]]:
    """The ids of the events that start each."""
    found = store.of_targets(tx, customer_id, target, target_ids)
    return {target_id: [one.event_id for one in ones] for target_id, ones in found.items()}


def replace(
    tx: Tx, actor: Actor, target: str, target_id: str, given: Sequence[str | EventBody]
) -> None:
    """Exactly these events start it from now on."""
    lock_rings(tx, actor.customer_id)
    before = of_targets(tx, actor.customer_id, target, [target_id])[target_id]
    wanted = resolved(tx, actor, (target, target_id), given, before)
    after = [one.event_id for one in wanted]
    if sorted(after) == sorted(before):
        return
    store.replace_of_target(tx, actor.customer_id, target, target_id, wanted)
    cycles.refuse(tx, actor.customer_id, target, target_id)
    told: dict[str, Any] = {"triggers": after}
    was = {"triggers": before}
    audit.record(tx, actor, f"{target}.triggers", target, target_id, was, told)
    events.append(tx, actor.customer_id, f"{target}.triggers_changed", target_id, told)


def lock_rings(tx: Tx, customer_id: str) -> None:
    """Two who close a ring from both ends at once: the second must see what the first has done."""
    tx.row(f"select id from customers where id = ?{tx.sql.lock_rows}", customer_id)


def resolved(
    tx: Tx,
    actor: Actor,
    target: tuple[str, str],
    given: Sequence[str | EventBody],
    known: Sequence[str],
) -> list[Trigger]:
    """Each event once; what already starts the target needs no look."""
    if len(given) > MAX_TRIGGERS:
        raise _refusal([Fault("triggers", f"Give at most {MAX_TRIGGERS} events.")])
    found: dict[str, Trigger] = {}
    faults: list[Fault] = []
    for n, one in enumerate(given):
        text = one if isinstance(one, str) else one.id or one.also_id or ""
        cause = sources.parse(text)
        if cause is None or (
            text not in known
            and not sources.is_there(tx, actor.customer_id, cause.source, cause.source_id)
        ):
            faults.append(Fault(f"triggers[{n}]", "There is no such event; GET /event lists them."))
        else:
            found[text] = Trigger(cause.source, cause.source_id, cause.event_name, *target)
    if faults:
        raise _refusal(faults)
    return list(found.values())


def _refusal(faults: list[Fault]) -> Invalid:
    return Invalid(f"{faults[0].field}: {faults[0].message}", faults=tuple(faults))


def forget(tx: Tx, actor: Actor, target: str, target_id: str) -> None:
    """For one that is being deleted; a webhook that runs it must let go of it first."""
    for one in store.of_target(tx, actor.customer_id, target, target_id):
        if one.source == "webhook":
            raise Conflict(
                f"The webhook {one.source_id} runs this {target}; detach it first.",
                code=f"{target}_in_use",
            )
    thing = (target, target_id)
    store.forget(tx, actor.customer_id, source=thing, target=thing)
