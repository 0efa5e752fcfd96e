"""Operations on the events that start a task or workflow."""

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
    """An event as GET /event shows it; only its id is used."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


def event_ids_for(
    tx: Tx, customer_id: str, target: str, target_ids: Sequence[str]
) -> dict[str, list[str]]:
    """The ids of the events that start each target."""
    triggers_by_target = store.for_targets(tx, customer_id, target, target_ids)
    return {
        target_id: [trigger.event_id for trigger in triggers]
        for target_id, triggers in triggers_by_target.items()
    }


def replace(
    tx: Tx, actor: Actor, target: str, target_id: str, event_ids: Sequence[str | EventBody]
) -> None:
    """Make exactly these events start the target."""
    lock_triggers(tx, actor.customer_id)
    before = event_ids_for(tx, actor.customer_id, target, [target_id])[target_id]
    triggers = resolve(tx, actor, (target, target_id), event_ids, before)
    after = [trigger.event_id for trigger in triggers]
    if sorted(after) == sorted(before):
        return
    store.replace_for_target(tx, actor.customer_id, target, target_id, triggers)
    cycles.reject_cycle(tx, actor.customer_id, target, target_id)
    new: dict[str, Any] = {"triggers": after}
    old = {"triggers": before}
    audit.record(tx, actor, f"{target}.triggers", target, target_id, old, new)
    events.append(tx, actor.customer_id, f"{target}.triggers_changed", target_id, new)


def lock_triggers(tx: Tx, customer_id: str) -> None:
    """Serialize changes that could form a cycle together: the second must see the first."""
    tx.row(f"select id from customers where id = ?{tx.dialect.lock_rows}", customer_id)


def resolve(
    tx: Tx,
    actor: Actor,
    target: tuple[str, str],
    event_ids: Sequence[str | EventBody],
    current: Sequence[str],
) -> list[Trigger]:
    """The triggers, each event once. An event in `known` already starts the target and is not
    looked up again."""
    if len(event_ids) > MAX_TRIGGERS:
        raise _invalid_triggers([Fault("triggers", f"At most {MAX_TRIGGERS} events are allowed.")])
    triggers: dict[str, Trigger] = {}
    faults: list[Fault] = []
    for n, event in enumerate(event_ids):
        text = event if isinstance(event, str) else event.id or event.also_id or ""
        reference = sources.parse(text)
        if reference is None or (
            text not in current
            and not sources.exists(tx, actor.customer_id, reference.source, reference.source_id)
        ):
            faults.append(Fault(f"triggers[{n}]", "There is no such event; see GET /event."))
        else:
            triggers[text] = Trigger(
                reference.source, reference.source_id, reference.event_name, *target
            )
    if faults:
        raise _invalid_triggers(faults)
    return list(triggers.values())


def _invalid_triggers(faults: list[Fault]) -> Invalid:
    return Invalid(f"{faults[0].field}: {faults[0].message}", faults=tuple(faults))


def delete_for(tx: Tx, actor: Actor, target: str, target_id: str) -> None:
    """Delete the triggers of an object that is being deleted, unless a webhook runs it."""
    for trigger in store.for_target(tx, actor.customer_id, target, target_id):
        if trigger.source == "webhook":
            raise Conflict(
                f"The webhook {trigger.source_id} runs this {target}; detach it first.",
                code=f"{target}_in_use",
            )
    deleted = (target, target_id)
    store.delete(tx, actor.customer_id, source=deleted, target=deleted)
