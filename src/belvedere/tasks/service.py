"""Operations on tasks: create, change, delete, list, and their secret keys."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import (
    Acl,
    Actor,
    Level,
    acl_of,
    audit,
    may_see,
    read_acl,
    replace_acl,
    require,
    with_pending,
)
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import history_limits
from belvedere.base.clock import Millis
from belvedere.base.errors import Conflict, Fault, Invalid, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.hosts import managed_objects
from belvedere.rest.listing import Listing
from belvedere.tasks import bindings, bodies, store
from belvedere.tasks.bindings import Binding
from belvedere.tasks.bodies import TaskBody
from belvedere.tasks.definition import masking, validation
from belvedere.tasks.model import MASK, History, TaskSpec, decode
from belvedere.tasks.store import TaskRow, TaskView
from belvedere.triggers import service

TaskWithAcl = tuple[TaskView, Acl]


def create(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    body: TaskBody,
    *,
    refuses_masks: bool = True,
    may_lack_approvers: bool = False,
) -> TaskWithAcl:
    """Create a task with its first version, secret key and ACL. Recipes, whose import reports
    masks and missing approvers, and older definitions may contain masks."""
    require(actor, Level.ADMIN)
    fields = bodies.definition_fields(body)
    faults = [Fault(n, "This field is required.") for n in ("name", "type") if not fields.get(n)]
    if faults:
        raise validation.invalid_task(faults)
    if refuses_masks:
        masking.refuse_masks(fields, fields["type"])
    bodies.fit_history(fields, History(), history_limits.find(tx, actor.customer_id))
    row = _new_row(actor, tx.now)
    row.type = fields["type"].value
    fields["concurrency"] = bodies.concurrency(fields, body.multitasking, None)
    binding = Binding(tx, actor, row.id, may_lack_approvers=may_lack_approvers)
    spec = bindings.resolve(binding, body, TaskSpec(**fields))
    store.write_spec(row, spec)
    store.insert(tx, row)
    secret_keys.create(tx, keys, actor.customer_id, "task", row.id)
    _record_change(tx, actor, row, "created", None)
    if body.acl:
        replace_acl(tx, actor, "task", row.id, body.acl)
    if body.triggers:
        service.replace(tx, actor, "task", row.id, body.triggers)
    return _view_with_acl(tx, actor, row.id)


def change(
    tx: Tx,
    actor: Actor,
    task_id: str,
    body: TaskBody,
    if_match: int | None = None,
    *,
    is_replacement: bool,
    follows: bool = False,
) -> TaskWithAcl:
    """Replace the definition (`is_replacement`) or change parts of it: a new version if it differs.
    `follows`: the change comes from the
    definition that manages this task."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, task_id, if_match, follows=follows)
    old = decode(row.spec)
    fields = bodies.definition_fields(body)
    _refuse_fixed(fields, old)
    base = _base_fields(old, is_replacement)
    bodies.fit_history(fields, old.history, history_limits.find(tx, actor.customer_id))
    fields["concurrency"] = bodies.concurrency(fields, body.multitasking, base.get("concurrency"))
    if "task_arguments" in fields:
        fields["task_arguments"] = bodies.restore_masked(
            fields["task_arguments"], old.task_arguments
        )
    fields = masking.restored(fields, old)
    if not follows:
        masking.refuse_masks(fields, old.type)
    if is_replacement and not fields.get("name"):
        raise validation.invalid_task([Fault("name", "This field is required.")])
    binding = Binding(tx, actor, task_id, old, keeps_current=not is_replacement)
    spec = bindings.resolve(binding, body, TaskSpec(**{**base, **fields}))
    _save(tx, actor, row, spec)
    if body.acl is not None and body.acl != acl_of(tx, actor.customer_id, "task", task_id):
        replace_acl(tx, actor, "task", task_id, body.acl)
    if body.triggers is not None:
        service.replace(tx, actor, "task", task_id, body.triggers)
    return _view_with_acl(tx, actor, task_id)


def set_timeout(
    tx: Tx,
    actor: Actor,
    task_id: str,
    timeout: Millis | None,
    if_match: int | None = None,
    *,
    follows: bool = False,
) -> TaskWithAcl:
    """Only this operation changes the timeout; see `_refuse_fixed`."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, task_id, if_match, follows=follows)
    spec = msgspec.structs.replace(decode(row.spec), timeout=timeout)
    _save(tx, actor, row, validation.validate(spec))
    return _view_with_acl(tx, actor, task_id)


def delete(tx: Tx, actor: Actor, task_id: str, *, follows: bool = False) -> TaskWithAcl:
    """Delete the task and its secret key. Jobs that wait for it are ended by an event consumer."""
    require(actor, Level.ADMIN)
    row = _locked(tx, actor, task_id, None, follows=follows)
    # Raises Conflict if a webhook or workflow uses the task.
    shown_last = _view_with_acl(tx, actor, task_id)
    service.delete_for(tx, actor, "task", task_id)
    _refuse_used(tx, task_id)
    store.mark_deleted(tx, row)
    secret_keys.delete(tx, actor.customer_id, "task", task_id)
    # The ACL is not deleted: it decides who may still see the jobs of the task.
    audit.record(tx, actor, "task.delete", "task", task_id, audit_fields(decode(row.spec)), None)
    events.append(tx, actor.customer_id, "task.deleted", task_id, _event(row))
    return shown_last


def _refuse_used(tx: Tx, task_id: str) -> None:
    used = store.workflow_of(tx, task_id)
    if used is not None:
        raise Conflict(
            f"The workflow {used} runs this task; remove it from the workflow first.",
            code="task_in_use",
        )


def show(tx: Tx, actor: Actor, task_id: str) -> TaskWithAcl:
    """The task, or NotFound if the actor may not see it."""
    view = _view_with_acl(tx, actor, task_id)
    if not may_see(actor, view[1].entries):
        raise store.not_found()
    return view


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[TaskWithAcl], int | None]:
    """A page of the tasks that the actor may see, and the total if the query asks for it."""
    require(actor, Level.VIEWER)
    views = store.select_page(tx, actor, listing)
    task_ids = [view.id for view in views]
    acls = with_pending(tx, actor.customer_id, store.acls_of(tx, actor.customer_id, task_ids))
    started_by = service.event_ids_for(tx, actor.customer_id, "task", task_ids)
    schedules = store.schedule_lines(tx, actor.customer_id, task_ids)
    default = history_limits.find(tx, actor.customer_id)
    for view in views:
        view.history_default = default
        view.triggers = started_by[view.id]
        view.schedules = schedules[view.id]
    total = store.count(tx, actor, listing) if listing.count else None
    return [(view, acls[view.id]) for view in views], total


def reveal(tx: Tx, keys: Keyring, actor: Actor, task_id: str) -> str:
    """The secret key in clear; every access is audited."""
    store.find(tx, actor.customer_id, task_id)
    return secret_keys.reveal(tx, keys, actor, "task", task_id)


def rotate(tx: Tx, keys: Keyring, actor: Actor, task_id: str, overlap_s: int = 0) -> str:
    """Create a new secret key; the old one becomes invalid now, or after `overlap_s`."""
    store.find(tx, actor.customer_id, task_id)
    return secret_keys.rotate(tx, keys, actor, "task", task_id, overlap_s)


def _refuse_fixed(fields: dict[str, Any], old: TaskSpec) -> None:
    if "timeout" in fields and fields["timeout"] != old.timeout:
        message = (
            "The timeout cannot be changed here. Change it in the console, with `belvedere task"
            " timeout`, or with PUT /api/task/{id}/timeout."
        )
        raise Invalid(message, code="timeout_fixed", faults=(Fault("timeout", message),))
    if "type" in fields and fields["type"] is not old.type:
        message = f"The type of a task cannot be changed ({old.type}); create another task."
        raise Invalid(message, code="type_fixed", faults=(Fault("type", message),))


def _base_fields(old: TaskSpec, is_replacement: bool) -> dict[str, Any]:
    """The fields that a change starts from; a replacement keeps only those it cannot contain."""
    if is_replacement:
        return {"type": old.type, "timeout": old.timeout}
    return msgspec.structs.asdict(old)


def _locked(
    tx: Tx, actor: Actor, task_id: str, if_match: int | None, *, follows: bool = False
) -> TaskRow:
    row = store.find(tx, actor.customer_id, task_id, lock=True)
    if not follows:
        managed_objects.refuse(tx, "task", task_id)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The task is now at version {row.version}; reload it and try again.")
    return row


def _save(tx: Tx, actor: Actor, row: TaskRow, spec: TaskSpec) -> None:
    before = decode(row.spec)
    if spec == before:
        return
    store.write_spec(row, spec)
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _record_change(tx, actor, row, "changed", audit_fields(before))


def _new_row(actor: Actor, now: Millis) -> TaskRow:
    return TaskRow(
        id=new_id(),
        customer_id=actor.customer_id,
        name="",
        type="",
        host_id=None,
        script_id=None,
        enabled=1,
        version=1,
        spec="",
        created_at=now,
        updated_at=now,
    )


def _record_change(
    tx: Tx, actor: Actor, row: TaskRow, action: str, before: dict[str, Any] | None
) -> None:
    store.insert_version(tx, row, actor.email or actor.username or actor.kind)
    after = audit_fields(decode(row.spec))
    audit.record(tx, actor, f"task.{action.removesuffix('d')}", "task", row.id, before, after)
    events.append(tx, actor.customer_id, f"task.{action}", row.id, _event(row))


def _event(row: TaskRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "type": row.type,
        "host_id": row.host_id,
        "enable": bool(row.enabled),
        "version": row.version,
    }


def audit_fields(spec: TaskSpec) -> dict[str, Any]:
    """A definition as the audit log stores it: without masked values, credentials and values of the
    environment."""
    hidden = dict.fromkeys(spec.env, MASK)
    fields: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(masking.shown_spec(spec), env=hidden)
    )
    return fields


def _view_with_acl(tx: Tx, actor: Actor, task_id: str) -> TaskWithAcl:
    view = store.view(tx, actor.customer_id, task_id)
    view.history_default = history_limits.find(tx, actor.customer_id)
    view.triggers = service.event_ids_for(tx, actor.customer_id, "task", [task_id])[task_id]
    view.schedules = store.schedule_lines(tx, actor.customer_id, [task_id])[task_id]
    return view, read_acl(tx, actor.customer_id, "task", task_id)
