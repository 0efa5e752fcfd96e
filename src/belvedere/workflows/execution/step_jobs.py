"""The jobs of steps: ordinary jobs, on behalf of the person who started the workflow."""

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.crypto import sealed_values
from belvedere.base.errors import Invalid, Refused
from belvedere.base.ids import new_id
from belvedere.base.text import json_text, trace_context
from belvedere.db import Tx
from belvedere.jobs import events, starters
from belvedere.jobs import store as jobs
from belvedere.jobs.approvals import plan
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, TaskCache
from belvedere.jobs.model import APPROVAL, WORKFLOW, JobRow, JobState, Lifecycle
from belvedere.jobs.people import participants
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import Node, StepRow, WorkflowJobRow, WorkflowRow, decode
from belvedere.workflows.execution import approval_scope, nested, step_store
from belvedere.workflows.execution.requests import RunContext, StepJob, StepRequest, WorkflowRun

# They end without an agent. Without arguments of their own they pass on the values they get.
PASSES_VALUES_ON = (APPROVAL, "NotificationJob")


def prepare(tx: Tx, request: StepRequest, tasks: TaskCache) -> StepJob:
    """A job that can be created; every check that can fail is made here."""
    if not request.node.workflow_id:
        item, created = _task(tx, _job_request(request), tasks)
        # Stored if the workflow job has to wait, and checked again when it starts.
        request.values = request.values[: len(request.values) - len(created.ignored)]
        return StepJob(request, task_job=(item, created))
    row, context = nested.check_start(tx, request)
    run = prepare_run(tx, row, context, request, tasks)
    assert run.first_step is not None
    request.values = run.first_step.request.values
    run.job.workflow_job_id = request.parent.id
    run.job.restarted_from = request.restarted_from
    run.workflow_job.given = json_text.compact(request.values)
    return StepJob(request, run=run)


def prepare_run(
    tx: Tx,
    row: WorkflowRow,
    context: RunContext,
    request: StepRequest,
    tasks: TaskCache,
    start: Node | None = None,
) -> WorkflowRun:
    """A workflow job with its first step, which gets the values of the job."""
    spec = decode(row.spec)
    node = start or spec.graph.node(spec.start)
    first_step = prepare(
        tx,
        StepRequest(
            context,
            node,
            request.values,
            request.origin,
            request.by_index,
            request.ignores_extra,
            stored_arguments=request.stored_arguments,
            delay=request.delay,
        ),
        tasks,
    )
    job = nested.new_job_row(context, row, request.origin, tx.now, spec.expires)
    job.notify = first_step.job.notify
    workflow_job = WorkflowJobRow(job.id, row.id, row.version, node.id, None, int(request.by_index))
    return WorkflowRun(job, row, workflow_job, first_step, context.assignees)


def repeat_request(tx: Tx, parent: JobRow, node: Node, earlier: JobRow) -> StepRequest:
    """The request for another job of this node, with the values of an earlier one."""
    if earlier.type == WORKFLOW:
        workflow_job = workflow_jobs.find(tx, earlier.id)
        values = json_text.parse(workflow_job.given or "[]")
        by_index = bool(workflow_job.by_index)
        return StepRequest(parent, node, values, by_index=by_index, restarted_from=earlier.id)
    arguments = jobs.read_details(tx, earlier.id).arguments
    values = plan.clear_values(tx, earlier, arguments)
    version = earlier.task_version
    return StepRequest(
        parent, node, values, stored_arguments=(version, arguments), restarted_from=earlier.id
    )


def _job_request(request: StepRequest) -> JobRequest:
    """The workflow's ACL also covers its tasks, inside the workflow."""
    parent = request.parent
    actor = Actor(
        parent.customer_id,
        "",
        Level.ADMIN,
        "trigger",
        user_id=parent.user_id,
        username=parent.username,
        email=parent.email,
        starters=parent.starters if isinstance(parent, RunContext) else (),
    )
    return JobRequest(
        actor=actor,
        task_id=request.node.task_id,
        values=request.values,
        origin=request.origin,
        by_index=request.by_index,
        ignores_extra=request.ignores_extra,
        workflow_id=parent.workflow_id,
        workflow_job_id=parent.id,
        fitted_values=request.stored_arguments,
        restarted_from=request.restarted_from,
        delay=request.delay,
        traceparent=trace_context.for_children(parent.traceparent, parent.id),
        # For a workflow job that is not written yet; later its rows contain it.
        assignee_ids=parent.assignees if isinstance(parent, RunContext) else (),
    )


def _task(tx: Tx, item: JobRequest, tasks: TaskCache) -> tuple[JobRequest, CreatedJob]:
    """A task that asks a person uses values that fit, and otherwise asks for all of them."""
    try:
        return item, create.prepare(tx, item, tasks)
    except Invalid:
        if not _asks_person(item, tasks):
            raise
        without_values = msgspec.structs.replace(item, values=None)
        return without_values, create.prepare(tx, without_values, tasks)


def _asks_person(item: JobRequest, tasks: TaskCache) -> bool:
    task = tasks.get((item.actor.customer_id, item.task_id))
    if task is None or item.origin == "user":
        return False
    return task[0].type == "dummy" or task[0].spec.user_inputs


def prepare_or_fail(tx: Tx, request: StepRequest, tasks: TaskCache) -> StepJob:
    """The same for a workflow job under way: a step that cannot start has the state error, with the
    reason."""
    try:
        return prepare_approved(tx, request, tasks)
    except Refused as refusal:
        return failed_step(tx, request, refusal)


def prepare_approved(tx: Tx, request: StepRequest, tasks: TaskCache) -> StepJob:
    """A step of a workflow job under way; refused if it differs from what was approved."""
    step_job = prepare(tx, request, tasks)
    if step_job.task_job is not None:
        approval_scope.check_step(tx, request.parent.id, request.node.id, step_job.task_job[1].task)
    else:
        workflow = (request.parent.customer_id, request.node.workflow_id)
        approval_scope.check_workflow(tx, request.parent.id, request.node.id, *workflow)
    return step_job


def failed_step(tx: Tx, request: StepRequest, refusal: Refused) -> StepJob:
    """A step that ended with the state error before it started."""
    if request.node.workflow_id:
        return StepJob(request, run=_failed_run(tx, request, refusal))
    job_request = _job_request(request)
    created = create.create_failed(tx, job_request, refusal)
    assert created is not None, "a task's row outlives its deletion"
    return StepJob(request, task_job=(job_request, created))


def _failed_run(tx: Tx, request: StepRequest, refusal: Refused) -> WorkflowRun:
    """A workflow job that could not start."""
    parent, workflow_id = request.parent, request.node.workflow_id
    row = store.look_up(tx, parent.customer_id, workflow_id, also_deleted=True)
    assert row is not None, "a workflow's row outlives its deletion"
    context = RunContext(
        new_id(), row.id, parent.customer_id, parent.user_id, parent.username, parent.email
    )
    job = nested.new_job_row(context, row, request.origin, tx.now, 0)
    job.workflow_job_id, job.restarted_from = parent.id, request.restarted_from
    job.lifecycle, job.state = Lifecycle.FINISHED.value, JobState.ERROR.value
    job.trigger_name, job.reason, job.ended_at = "failure", refusal.message, tx.now
    values = json_text.compact(request.values)
    start = decode(row.spec).start
    return WorkflowRun(job, row, WorkflowJobRow(job.id, row.id, row.version, start, values, 1))


def write_steps(tx: Tx, step_jobs: list[StepJob]) -> None:
    """Write the jobs, each with its step."""
    create_jobs(tx, step_jobs)
    step_store.insert(tx, [_step(tx, step_job) for step_job in step_jobs])


def create_jobs(tx: Tx, step_jobs: list[StepJob]) -> None:
    """Write the jobs without steps."""
    task_jobs = [
        (step_job, step_job.task_job) for step_job in step_jobs if step_job.task_job is not None
    ]
    for step_job, (item, created) in task_jobs:
        if created.job.type == APPROVAL:
            request = step_job.request
            item.workflow_plan = approval_scope.plan_after(
                tx, request.node, request.values, created
            )
    create.write(tx, [created for _, created in task_jobs])
    for step_job in step_jobs:
        if step_job.run is not None:
            begin_run(tx, step_job.run)


def begin_run(tx: Tx, run: WorkflowRun, people: tuple[str, ...] = ()) -> None:
    """Write a workflow job with its first step; it waits if the workflow runs one job at a time."""
    waits = run.first_step is not None and step_store.must_wait(tx, run.workflow)
    if waits and run.first_step is not None:
        run.job.lifecycle = Lifecycle.ONHOLD.value
        run.workflow_job.given = json_text.compact(run.first_step.request.values)
    jobs.insert(tx, [(run.job, "[]", None)])
    participants.begin(tx, [(run.job, run.assignees)])
    if people:
        starters.store_names(tx, run.job.id, people)
    events.publish(tx, "created", [run.job])
    workflow_jobs.insert(tx, run.workflow_job)
    if run.first_step is not None and not waits:
        write_steps(tx, [run.first_step])


def _step(tx: Tx, step_job: StepJob) -> StepRow:
    job, request = step_job.job, step_job.request
    passes_values_on = (
        step_job.task_job is not None
        and job.type in PASSES_VALUES_ON
        and not step_job.task_job[1].task.spec.task_arguments
    )
    return StepRow(
        workflow_job_id=request.parent.id,
        node_id=request.node.id,
        job_id=job.id,
        given=_sealed_values(tx, request) if passes_values_on else None,
        visit=request.visit,
        causes=msgspec.json.encode(request.causes).decode(),
    )


def _sealed_values(tx: Tx, request: StepRequest) -> str:
    """Values that are passed on; they may come from masked arguments."""
    context = sealed_values.values_context(request.parent.customer_id)
    return sealed_values.seal_text(tx, context, msgspec.json.encode(request.values).decode())
