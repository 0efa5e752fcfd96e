"""The jobs of a workflow job: ordinary jobs, made for a node in the name of who started it all."""

from typing import Any

import msgspec

from belvedere.access.model import Actor, Level
from belvedere.base.errors import Invalid, Refused
from belvedere.db import Tx
from belvedere.jobs import create, plan
from belvedere.jobs.create import Created, NewJob, Tasks
from belvedere.jobs.model import APPROVAL, JobRow
from belvedere.workflows import ahead, steps
from belvedere.workflows.model import Node, Step

# They end without an agent; without arguments of their own they hand on what they were given.
HANDS_ON = (APPROVAL, "NotificationJob")

Child = tuple[NewJob, Created]


class Of(msgspec.Struct):
    """What of a workflow job its steps carry."""

    id: str
    workflow_id: str | None
    customer_id: str
    user_id: str
    username: str
    email: str


def wanted(of: Of | JobRow, node: Node, given: list[Any] | None, **more: Any) -> NewJob:
    """The request for a job of this node; the workflow's ACL covers its tasks within it."""
    actor = Actor(
        of.customer_id,
        "",
        Level.ADMIN,
        "trigger",
        user_id=of.user_id,
        username=of.username,
        email=of.email,
    )
    settings = {"origin": "workflow", "by_index": True, **more}
    return NewJob(
        actor=actor,
        task_id=node.task_id,
        given=given,
        workflow_id=of.workflow_id,
        workflow_job_id=of.id,
        **settings,
    )


def prepare(tx: Tx, item: NewJob, tasks: Tasks) -> Child:
    """A job that could be made. One that asks a person takes what fits, else asks for all."""
    try:
        return item, create.prepare(tx, item, tasks)
    except Invalid:
        if not _asks_person(item, tasks):
            raise
        asking = msgspec.structs.replace(item, given=None)
        return asking, create.prepare(tx, asking, tasks)


def _asks_person(item: NewJob, tasks: Tasks) -> bool:
    found = tasks.get((item.actor.customer_id, item.task_id))
    if found is None or item.origin == "user":
        return False
    return found[0].type == "dummy" or found[0].spec.user_inputs


def prepare_anyhow(tx: Tx, node: Node, item: NewJob, tasks: Tasks) -> Child:
    """The same for a workflow under way: what cannot start has ended in error, and says why."""
    assert item.workflow_job_id is not None
    try:
        child = prepare(tx, item, tasks)
        plan.check_step(tx, item.workflow_job_id, node.id, child[1].task)
        return child
    except Refused as refusal:
        made = create.stillborn(tx, item, refusal)
        assert made is not None, "a task's row outlives its deletion"
        return item, made


def write(tx: Tx, children: list[tuple[Node, list[Any], Child]]) -> None:
    """Make them durable, each with the step that it is."""
    for node, given, (item, made) in children:
        if made.job.type == APPROVAL:
            item.follows = ahead.of_approval(tx, node, given, made)
    create.write(tx, [child for _, _, child in children])
    steps.insert(tx, [_step(node, given, child) for node, given, child in children])


def _step(node: Node, given: list[Any], child: Child) -> Step:
    job = child[1].job
    assert job.workflow_job_id is not None
    is_handed_on = job.type in HANDS_ON and not child[1].task.spec.task_arguments
    return Step(
        workflow_job_id=job.workflow_job_id,
        node_id=node.id,
        job_id=job.id,
        given=msgspec.json.encode(given).decode() if is_handed_on else None,
    )
