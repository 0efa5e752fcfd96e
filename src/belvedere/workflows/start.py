"""Starting a workflow: it is found, the caller may run it, its first step fits; then it is made."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import access
from belvedere.access.actor import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Forbidden, Invalid, Refused
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.jobs import idempotency as once
from belvedere.jobs import starters
from belvedere.jobs.idempotency import Key, Once
from belvedere.jobs.lifecycle.create import Tasks
from belvedere.jobs.model import JobRow
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Node, WorkflowRow, WorkflowSpec, decode
from belvedere.workflows.engine import nested, step_jobs
from belvedere.workflows.engine.requests import Of, Run, Wanted


class NewWorkflowJob(msgspec.Struct):
    """One request to run a workflow."""

    actor: Actor
    workflow_id: str
    given: list[Any] | None
    origin: str = "user"
    # The workflow's secret key, where it stands in for a level.
    secret: str | None = None
    keys: Keys | None = None
    once: Once | None = None
    by_index: bool = False
    # Begin with this node, or with the node of this task or workflow, instead.
    start: str | None = None


class Prepared(msgspec.Struct):
    """A workflow job that could be made, checked and not yet written; or one made before."""

    wanted: NewWorkflowJob
    job: JobRow
    run: Run | None = None

    @property
    def is_replayed(self) -> bool:
        return self.run is None


def run(tx: Tx, wanted: list[NewWorkflowJob]) -> Sequence[Prepared | Exception]:
    """Start several; a refused one harms no other."""
    tasks: Tasks = {}
    answers: list[Prepared | Exception] = []
    for item in wanted:
        try:
            _check_secret(tx, item)
            made = _again(tx, item) or prepare(tx, item, tasks)
            if not made.is_replayed:
                # Each at once: whether the next must wait depends on it.
                write(tx, [made])
            answers.append(made)
        except Refused as refusal:
            answers.append(refusal)
    return answers


def prepare(tx: Tx, item: NewWorkflowJob, tasks: Tasks) -> Prepared:
    """Everything that can be refused is refused here."""
    row = _workflow(tx, item)
    nested.check_enabled(row)
    node = _start(decode(row.spec), item.start)
    of = _stem(item, row, new_id())
    wanted = Wanted(of, node, item.given or [], item.origin, item.by_index)
    made = step_jobs.whole(tx, row, of, wanted, tasks, start=node)
    return Prepared(item, made.job, made)


def write(tx: Tx, ready: Sequence[Prepared]) -> None:
    """Make them durable; where only one may run at a time, the others wait."""
    for one in ready:
        assert one.run is not None
        step_jobs.begin(tx, one.run, starters.to_remember(one.wanted.actor))
        if one.wanted.once is not None:
            once.remember(tx, [(_key(one.wanted), one.wanted.once, [one.job.id])])
    around_commit(tx, "start")


def _check_secret(tx: Tx, item: NewWorkflowJob) -> None:
    """Before anything else, a replay too: whoever has no right secret learns nothing."""
    if item.secret is None:
        return
    assert item.keys is not None
    of = (item.actor.customer_id, "workflow", item.workflow_id)
    if not (is_id(item.workflow_id) and secret_keys.check(tx, item.keys, *of, item.secret)):
        raise Forbidden("The secret does not fit.", code="wrong_secret")


def _workflow(tx: Tx, item: NewWorkflowJob) -> WorkflowRow:
    """For somebody who may run it."""
    actor = item.actor
    row = store.find(tx, actor.customer_id, item.workflow_id)
    if item.secret is not None or actor.runs_all:
        return row
    acl = access.acl_of(tx, actor.customer_id, "workflow", item.workflow_id)
    if not access.may_see(actor, acl):
        raise store.missing()
    if not access.may_run(actor, acl):
        raise Forbidden("The workflow's ACL does not let you run it.", code="may_not_run")
    return row


def _start(spec: WorkflowSpec, wanted: str | None) -> Node:
    if wanted is None:
        return spec.graph.node(spec.start)
    for node in spec.graph.nodes:
        if wanted in (node.id, node.task_id, node.workflow_id) and wanted:
            return node
    raise Invalid("The workflow has no such node or task to begin with.", code="invalid_start")


def _stem(item: NewWorkflowJob, row: WorkflowRow, job_id: str) -> Of:
    actor = item.actor
    return Of(
        job_id,
        row.id,
        row.customer_id,
        actor.user_id,
        actor.username,
        actor.email,
        starters=actor.starters,
    )


def _key(item: NewWorkflowJob) -> Key:
    """Whose key it is: the principal's, or the secret's where nobody signed in."""
    assert item.once is not None
    who = item.actor.principal if item.secret is None else f"secret:{item.workflow_id}"
    return (item.actor.customer_id, who, item.once.route, item.once.key)


def _again(tx: Tx, item: NewWorkflowJob) -> Prepared | None:
    """The job that this key made before."""
    made = None if item.once is None else once.made_before(tx, _key(item), item.once)
    if made is None:
        return None
    return Prepared(item, once.job_of(tx, item.actor.customer_id, made[0]))
