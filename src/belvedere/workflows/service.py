"""What people do with workflows: make, change, delete, look, read and change their secret key."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, acl_of, audit, may_see, replace_acl, require
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs.lifecycle.actions import name_of
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing
from belvedere.tasks.model import MASK
from belvedere.triggers import cycles, service
from belvedere.workflow_specs import nesting, store
from belvedere.workflow_specs.model import WorkflowRow, WorkflowSpec, decode
from belvedere.workflows import bodies
from belvedere.workflows.bodies import WorkflowBody
from belvedere.workflows.engine import admission
from belvedere.workflows.records import Shown


def create(tx: Tx, keys: Keys, actor: Actor, body: WorkflowBody) -> Shown:
    """A workflow with its first version, its secret key and its ACL."""
    require(actor, Level.ADMIN)
    if not body.name:
        raise text_fields.bad("name", "This is required.")
    spec = bodies.checked(tx, actor, bodies.spec_of(body, WorkflowSpec()), set())
    row = WorkflowRow(new_id(), actor.customer_id, "", 1, 1, "[]", 1, "", tx.now, tx.now)
    store.insert(tx, row, spec, name_of(actor))
    secret_keys.make(tx, keys, actor.customer_id, "workflow", row.id)
    audit.record(tx, actor, "workflow.create", "workflow", row.id, None, _audited(spec))
    events.append(tx, row.customer_id, "workflow.created", row.id, _event(row))
    _more(tx, actor, row.id, body)
    return _shown(tx, actor, row)


def change(
    tx: Tx,
    actor: Actor,
    workflow_id: str,
    body: WorkflowBody,
    if_match: int | None = None,
    *,
    whole: bool,
) -> Shown:
    """Replace the definition (`whole`), or the given parts of it: a new version if it differs."""
    require(actor, Level.ADMIN)
    service.lock_rings(tx, actor.customer_id)
    row = store.find(tx, actor.customer_id, workflow_id, hold=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The workflow is at version {row.version} now; read it again.")
    old = decode(row.spec)
    if whole and not body.name:
        raise text_fields.bad("name", "This is required.")
    wanted = bodies.spec_of(body, WorkflowSpec() if whole else old)
    spec = bodies.checked(tx, actor, wanted, old.graph.tasks, workflow_id)
    if spec != old:
        store.save(tx, row, spec, name_of(actor))
        # Another task in it may be one that starts it.
        cycles.refuse(tx, actor.customer_id, "workflow", workflow_id)
        before, after = _audited(old), _audited(spec)
        audit.record(tx, actor, "workflow.change", "workflow", row.id, before, after)
        events.append(tx, row.customer_id, "workflow.changed", row.id, _event(row))
        admission.next_ones(tx, row)
    _more(tx, actor, workflow_id, body)
    return _shown(tx, actor, row)


def _more(tx: Tx, actor: Actor, workflow_id: str, body: WorkflowBody) -> None:
    """What a body says beside the definition."""
    known = acl_of(tx, actor.customer_id, "workflow", workflow_id)
    if body.acl is not None and body.acl != known:
        replace_acl(tx, actor, "workflow", workflow_id, body.acl)
    if body.triggers is not None:
        service.replace(tx, actor, "workflow", workflow_id, body.triggers)


def delete(tx: Tx, actor: Actor, workflow_id: str) -> Shown:
    """Gone for every reader, its key dead. What runs goes on; what waits for its turn expires."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, workflow_id, hold=True)
    last = _shown(tx, actor, row)
    service.forget(tx, actor, "workflow", workflow_id)
    _refuse_used(tx, workflow_id)
    store.mark_deleted(tx, row)
    secret_keys.forget(tx, actor.customer_id, "workflow", workflow_id)
    admission.abandon(tx, row)
    # The ACL stays: it says who may still see the jobs that ran.
    before = _audited(decode(row.spec))
    audit.record(tx, actor, "workflow.delete", "workflow", row.id, before, None)
    events.append(tx, row.customer_id, "workflow.deleted", row.id, _event(row))
    return last


def _refuse_used(tx: Tx, workflow_id: str) -> None:
    used = nesting.user_of(tx, workflow_id)
    if used is not None:
        message = f"The workflow {used} runs this one; take it out of there first."
        raise Conflict(message, code="workflow_in_use")


def show(tx: Tx, actor: Actor, workflow_id: str) -> Shown:
    """The workflow, or NotFound for whom its ACL does not name."""
    found = _shown(tx, actor, store.find(tx, actor.customer_id, workflow_id))
    if not may_see(actor, found.acl):
        raise store.missing()
    return found


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Shown], int | None]:
    """A page of what the actor may see, and the total where the caller asked for it."""
    require(actor, Level.VIEWER)
    total = store.total(tx, actor, listing) if listing.count else None
    return _together(tx, actor, store.page(tx, actor, listing)), total


def reveal(tx: Tx, keys: Keys, actor: Actor, workflow_id: str) -> str:
    """The secret key in clear; every reading is audited."""
    store.find(tx, actor.customer_id, workflow_id)
    return secret_keys.reveal(tx, keys, actor, "workflow", workflow_id)


def rotate(tx: Tx, keys: Keys, actor: Actor, workflow_id: str, overlap_s: int = 0) -> str:
    """A new secret key; the old one is dead at once, or after `overlap_s`."""
    store.find(tx, actor.customer_id, workflow_id)
    return secret_keys.rotate(tx, keys, actor, "workflow", workflow_id, overlap_s)


def _together(tx: Tx, actor: Actor, rows: list[WorkflowRow]) -> list[Shown]:
    ids = [row.id for row in rows]
    acls = store.acls_of(tx, actor.customer_id, ids)
    started_by = service.of_targets(tx, actor.customer_id, "workflow", ids)
    tasks = store.tasks_of(tx, ids)
    flows = nesting.names_of(tx, ids)
    return [
        Shown(row, acls[row.id], started_by[row.id], tasks[row.id], flows[row.id], _first(tx, row))
        for row in rows
    ]


def _first(tx: Tx, row: WorkflowRow) -> str:
    spec = decode(row.spec)
    node = spec.graph.node(spec.start)
    if not node.workflow_id:
        return node.task_id
    return nesting.first_task(tx, row.customer_id, node.workflow_id)


def _shown(tx: Tx, actor: Actor, row: WorkflowRow) -> Shown:
    return _together(tx, actor, [row])[0]


def _event(row: WorkflowRow) -> dict[str, Any]:
    return {"name": row.name, "enable": bool(row.enabled), "version": row.version}


def _audited(spec: WorkflowSpec) -> dict[str, Any]:
    """Without the values of its constants, like the environment of a task."""
    hidden = dict.fromkeys(spec.global_constants, MASK)
    kept: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(spec, global_constants=hidden)
    )
    return kept
