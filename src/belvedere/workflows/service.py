"""Operations on workflows: create, change, delete, list, and read or rotate their secret keys."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import (
    Actor,
    Level,
    acl_of,
    audit,
    may_see,
    replace_acl,
    require,
    with_pending,
)
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs.lifecycle.actions import display_name
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing
from belvedere.tasks.model import MASK
from belvedere.triggers import cycles, service
from belvedere.workflow_specs import nesting, store
from belvedere.workflow_specs.model import WorkflowRow, WorkflowSpec, decode
from belvedere.workflows import bodies
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.execution import admission
from belvedere.workflows.records import WorkflowView


def create(tx: Tx, keys: Keyring, actor: Actor, body: WorkflowBody) -> WorkflowView:
    """Create a workflow with its first version, its secret key and its ACL."""
    require(actor, Level.ADMIN)
    if not body.name:
        raise text_fields.invalid_field("name", "This field is required.")
    spec = bodies.validate(tx, actor, bodies.spec_of(body, WorkflowSpec()), set())
    row = WorkflowRow(new_id(), actor.customer_id, "", 1, 1, "[]", 1, "", tx.now, tx.now)
    store.insert(tx, row, spec, display_name(actor))
    secret_keys.create(tx, keys, actor.customer_id, "workflow", row.id)
    audit.record(tx, actor, "workflow.create", "workflow", row.id, None, _audit_fields(spec))
    events.append(tx, row.customer_id, "workflow.created", row.id, _event(row))
    _replace_acl_and_triggers(tx, actor, row.id, body)
    return _view(tx, actor, row)


def change(
    tx: Tx,
    actor: Actor,
    workflow_id: str,
    body: WorkflowBody,
    if_match: int | None = None,
    *,
    replaces: bool,
) -> WorkflowView:
    """Replace the definition (`replaces`) or some fields of it; a new version if it differs."""
    require(actor, Level.ADMIN)
    service.lock_triggers(tx, actor.customer_id)
    row = store.find(tx, actor.customer_id, workflow_id, lock=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The workflow is now at version {row.version}; reload it and try again.")
    old = decode(row.spec)
    if replaces and not body.name:
        raise text_fields.invalid_field("name", "This field is required.")
    changed = bodies.spec_of(body, WorkflowSpec() if replaces else old)
    spec = bodies.validate(tx, actor, changed, old.graph.tasks, workflow_id)
    if spec != old:
        store.save(tx, row, spec, display_name(actor))
        # A task that was added may be one that starts the workflow.
        cycles.reject_cycle(tx, actor.customer_id, "workflow", workflow_id)
        before, after = _audit_fields(old), _audit_fields(spec)
        audit.record(tx, actor, "workflow.change", "workflow", row.id, before, after)
        events.append(tx, row.customer_id, "workflow.changed", row.id, _event(row))
        admission.admit_waiting(tx, row)
    _replace_acl_and_triggers(tx, actor, workflow_id, body)
    return _view(tx, actor, row)


def _replace_acl_and_triggers(tx: Tx, actor: Actor, workflow_id: str, body: WorkflowBody) -> None:
    """What a body has besides the definition."""
    current_acl = acl_of(tx, actor.customer_id, "workflow", workflow_id)
    if body.acl is not None and body.acl != current_acl:
        replace_acl(tx, actor, "workflow", workflow_id, body.acl)
    if body.triggers is not None:
        service.replace(tx, actor, "workflow", workflow_id, body.triggers)


def delete(tx: Tx, actor: Actor, workflow_id: str) -> WorkflowView:
    """Delete a workflow and its secret key. Running jobs continue; waiting jobs expire."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, workflow_id, lock=True)
    view = _view(tx, actor, row)
    service.delete_for(tx, actor, "workflow", workflow_id)
    _reject_if_nested(tx, workflow_id)
    store.mark_deleted(tx, row)
    secret_keys.delete(tx, actor.customer_id, "workflow", workflow_id)
    admission.expire_waiting(tx, row)
    # The ACL stays: it decides who may still see the jobs that ran.
    before = _audit_fields(decode(row.spec))
    audit.record(tx, actor, "workflow.delete", "workflow", row.id, before, None)
    events.append(tx, row.customer_id, "workflow.deleted", row.id, _event(row))
    return view


def _reject_if_nested(tx: Tx, workflow_id: str) -> None:
    parent_id = nesting.parent_of(tx, workflow_id)
    if parent_id is not None:
        message = f"The workflow {parent_id} runs this one; remove it from that workflow first."
        raise Conflict(message, code="workflow_in_use")


def show(tx: Tx, actor: Actor, workflow_id: str) -> WorkflowView:
    """The workflow, or NotFound if the actor may not see it."""
    view = _view(tx, actor, store.find(tx, actor.customer_id, workflow_id))
    if not may_see(actor, view.acl.entries):
        raise store.not_found()
    return view


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WorkflowView], int | None]:
    """A page of the workflows that the actor may see, and their number if the query asks for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return _views(tx, actor, store.select_page(tx, actor, listing)), total


def reveal(tx: Tx, keys: Keyring, actor: Actor, workflow_id: str) -> str:
    """The secret key in clear; every read is audited."""
    store.find(tx, actor.customer_id, workflow_id)
    return secret_keys.reveal(tx, keys, actor, "workflow", workflow_id)


def rotate(tx: Tx, keys: Keyring, actor: Actor, workflow_id: str, overlap_s: int = 0) -> str:
    """A new secret key; the old one stops working at once, or after `overlap_s`."""
    store.find(tx, actor.customer_id, workflow_id)
    return secret_keys.rotate(tx, keys, actor, "workflow", workflow_id, overlap_s)


def _views(tx: Tx, actor: Actor, rows: list[WorkflowRow]) -> list[WorkflowView]:
    ids = [row.id for row in rows]
    acls = with_pending(tx, actor.customer_id, store.acls_of(tx, actor.customer_id, ids))
    started_by = service.event_ids_for(tx, actor.customer_id, "workflow", ids)
    tasks = store.tasks_of(tx, ids)
    nested = nesting.names_of(tx, ids)
    return [
        WorkflowView(
            row, acls[row.id], started_by[row.id], tasks[row.id], nested[row.id], _first(tx, row)
        )
        for row in rows
    ]


def _first(tx: Tx, row: WorkflowRow) -> str:
    spec = decode(row.spec)
    node = spec.graph.node(spec.start)
    if not node.workflow_id:
        return node.task_id
    return nesting.first_task(tx, row.customer_id, node.workflow_id)


def _view(tx: Tx, actor: Actor, row: WorkflowRow) -> WorkflowView:
    return _views(tx, actor, [row])[0]


def _event(row: WorkflowRow) -> dict[str, Any]:
    return {"name": row.name, "enable": bool(row.enabled), "version": row.version}


def _audit_fields(spec: WorkflowSpec) -> dict[str, Any]:
    """The definition without the values of its constants, which may be confidential."""
    hidden = dict.fromkeys(spec.global_constants, MASK)
    fields: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(spec, global_constants=hidden)
    )
    return fields
