"""The jobs of a workflow job: ordinary jobs, made for a node in the name of who started it all."""

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.crypto import sealed_values
from belvedere.base.errors import Invalid, Refused
from belvedere.base.ids import new_id
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import events, starters
from belvedere.jobs import store as jobs
from belvedere.jobs.approvals import plan
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import Created, NewJob, Tasks
from belvedere.jobs.model import APPROVAL, WORKFLOW, JobRow, Lifecycle, State
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Node, Step, WorkflowJobRow, WorkflowRow, decode
from belvedere.workflows.engine import approval_scope, nested, step_store
from belvedere.workflows.engine.requests import Child, Of, Run, Wanted

# They end without an agent; without arguments of their own they hand on what they were given.
HANDS_ON = (APPROVAL, "NotificationJob")


def prepare(tx: Tx, wanted: Wanted, tasks: Tasks) -> Child:
    """A job that could be made; everything that can be refused is refused here."""
    if not wanted.node.workflow_id:
        return Child(wanted, task=_task(tx, _request(wanted), tasks))
    row, of = nested.to_start(tx, wanted)
    run = whole(tx, row, of, wanted, tasks)
    run.job.workflow_job_id = wanted.of.id
    run.job.restarted_from = wanted.restarted_from
    run.mine.given = json_text.compact(wanted.given)
    return Child(wanted, run=run)


def whole(
    tx: Tx, row: WorkflowRow, of: Of, wanted: Wanted, tasks: Tasks, start: Node | None = None
) -> Run:
    """A job of a workflow with its first step, which takes the values of the whole."""
    spec = decode(row.spec)
    node = start or spec.graph.node(spec.start)
    first = prepare(
        tx,
        Wanted(of, node, wanted.given, wanted.origin, wanted.by_index, delay=wanted.delay),
        tasks,
    )
    job = nested.job_of(of, row, wanted.origin, tx.now, spec.expires)
    job.notify = first.job.notify
    mine = WorkflowJobRow(job.id, row.id, row.version, node.id, None, int(wanted.by_index))
    return Run(job, row, mine, first)


def as_before(tx: Tx, of: JobRow, node: Node, child: JobRow) -> Wanted:
    """The request for another job like one that this node had, with the same values."""
    if child.type == WORKFLOW:
        mine = step_store.workflow_job(tx, child.id)
        given = json_text.parse(mine.given or "[]")
        by_index = bool(mine.by_index)
        return Wanted(of, node, given, by_index=by_index, restarted_from=child.id)
    kept = jobs.heavy(tx, child.id).arguments
    values = msgspec.json.decode(kept)
    version = child.task_version
    return Wanted(of, node, values, kept=(version, kept), restarted_from=child.id)


def _request(wanted: Wanted) -> NewJob:
    """The workflow's ACL covers its tasks within it."""
    of = wanted.of
    actor = Actor(
        of.customer_id,
        "",
        Level.ADMIN,
        "trigger",
        user_id=of.user_id,
        username=of.username,
        email=of.email,
        starters=of.starters if isinstance(of, Of) else (),
    )
    return NewJob(
        actor=actor,
        task_id=wanted.node.task_id,
        given=wanted.given,
        origin=wanted.origin,
        by_index=wanted.by_index,
        workflow_id=of.workflow_id,
        workflow_job_id=of.id,
        kept=wanted.kept,
        restarted_from=wanted.restarted_from,
        delay=wanted.delay,
    )


def _task(tx: Tx, item: NewJob, tasks: Tasks) -> tuple[NewJob, Created]:
    """One that asks a person takes what fits, else asks for all."""
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


def prepare_anyhow(tx: Tx, wanted: Wanted, tasks: Tasks) -> Child:
    """The same for a workflow under way: what cannot start has ended in error, and says why."""
    try:
        child = prepare(tx, wanted, tasks)
        if child.task is not None:
            plan.check_step(tx, wanted.of.id, wanted.node.id, child.task[1].task)
        else:
            flow = (wanted.of.customer_id, wanted.node.workflow_id)
            plan.check_run(tx, wanted.of.id, wanted.node.id, *flow)
        return child
    except Refused as refusal:
        return _stillborn(tx, wanted, refusal)


def _stillborn(tx: Tx, wanted: Wanted, refusal: Refused) -> Child:
    if wanted.node.workflow_id:
        return Child(wanted, run=_failed(tx, wanted, refusal))
    item = _request(wanted)
    made = create.stillborn(tx, item, refusal)
    assert made is not None, "a task's row outlives its deletion"
    return Child(wanted, task=(item, made))


def _failed(tx: Tx, wanted: Wanted, refusal: Refused) -> Run:
    """A job of a workflow that could not begin."""
    of, workflow_id = wanted.of, wanted.node.workflow_id
    row = store.look_up(tx, of.customer_id, workflow_id, also_deleted=True)
    assert row is not None, "a workflow's row outlives its deletion"
    mine = Of(new_id(), row.id, of.customer_id, of.user_id, of.username, of.email)
    job = nested.job_of(mine, row, wanted.origin, tx.now, 0)
    job.workflow_job_id, job.restarted_from = of.id, wanted.restarted_from
    job.lifecycle, job.state = Lifecycle.FINISHED.value, State.ERROR.value
    job.trigger_name, job.reason, job.ended_at = "failure", refusal.message, tx.now
    given = json_text.compact(wanted.given)
    start = decode(row.spec).start
    return Run(job, row, WorkflowJobRow(job.id, row.id, row.version, start, given, 1))


def write(tx: Tx, children: list[Child]) -> None:
    """Make them durable, each with the step that it is."""
    make(tx, children)
    step_store.insert(tx, [_step(tx, child) for child in children])


def make(tx: Tx, children: list[Child]) -> None:
    """The jobs alone."""
    made = [(child, child.task) for child in children if child.task is not None]
    for child, (item, task) in made:
        if task.job.type == APPROVAL:
            wanted = child.wanted
            item.follows = approval_scope.of_approval(tx, wanted.node, wanted.given, task)
    create.write(tx, [task for _, task in made])
    for child in children:
        if child.run is not None:
            begin(tx, child.run)


def begin(tx: Tx, run: Run, people: tuple[str, ...] = ()) -> None:
    """A workflow job with its first step; where only one may run at a time, it waits."""
    waits = run.first is not None and step_store.is_taken(tx, run.row)
    if waits and run.first is not None:
        run.job.lifecycle = Lifecycle.ONHOLD.value
        run.mine.given = json_text.compact(run.first.wanted.given)
    jobs.insert(tx, [(run.job, "[]", None)])
    if people:
        starters.remember(tx, run.job.id, people)
    events.tell(tx, "created", [run.job])
    step_store.insert_job(tx, run.mine)
    if run.first is not None and not waits:
        write(tx, [run.first])


def _step(tx: Tx, child: Child) -> Step:
    job, wanted = child.job, child.wanted
    is_handed_on = (
        child.task is not None
        and job.type in HANDS_ON
        and not child.task[1].task.spec.task_arguments
    )
    return Step(
        workflow_job_id=wanted.of.id,
        node_id=wanted.node.id,
        job_id=job.id,
        given=_kept(tx, wanted) if is_handed_on else None,
        visit=wanted.visit,
        causes=msgspec.json.encode(wanted.causes).decode(),
    )


def _kept(tx: Tx, wanted: Wanted) -> str:
    """Values that are handed on; they may come from masked arguments."""
    about = sealed_values.about_values(wanted.of.customer_id)
    return sealed_values.seal_text(tx, about, msgspec.json.encode(wanted.given).decode())
