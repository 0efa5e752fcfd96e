"""A workflow job goes on: the ends of its jobs are taken, what follows is started, or it ends.

Each call is one transaction under the lock of the workflow job, and looks only at rows: it may be
called twice, by two servers, or after a crash, and does what is still to be done.
"""

from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.clock import DAY, Millis
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.events import Event
from belvedere.jobs import events, specs
from belvedere.jobs import store as jobs
from belvedere.jobs.lifecycle.create import Tasks
from belvedere.jobs.model import WORKFLOW, JobRow, Lifecycle, State, check_move
from belvedere.tasks.model import Retry
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import (
    Edge,
    Graph,
    Node,
    Step,
    StepState,
    WorkflowJobRow,
    WorkflowSpec,
)
from belvedere.workflows.engine import admission, outcome, rule, step_jobs, step_store
from belvedere.workflows.engine.requests import Wanted
from belvedere.workflows.engine.visits import visits

GOOD = (State.NORMAL, State.SUCCESS)
# What a node tries again, beyond `lost`: a person's no and a cancel are no accidents.
ACCIDENTS = (State.FAILURE, State.TIMEOUT, State.ERROR)
LONGEST_DELAY: Millis = DAY


def react(tx: Tx, event: Event) -> None:
    """To `workflow.step`, which names the job to look at."""
    advance(tx, msgspec.json.decode(event.data)["workflow_job_id"])


def advance(tx: Tx, workflow_job_id: str) -> None:
    """As far as the ends of its jobs allow."""
    job = step_store.lock(tx, workflow_job_id)
    if job is None or job.lifecycle not in (Lifecycle.READY, Lifecycle.STARTED):
        return
    mine = step_store.workflow_job(tx, job.id)
    spec = store.version_of(tx, mine.workflow_id, mine.version)
    taken = step_store.of_job(tx, job.id)
    _take_ends(tx, job, spec, taken)
    if job.cancel_requested_at is None:
        _go_on(tx, job, mine, spec.graph, taken)
    elif not any(step.state == StepState.OPEN for step in taken):
        # Nobody waits any more for the truth about a lost job.
        _end(tx, job, Lifecycle.TERMINATED, State.CANCELED, "canceled")
    around_commit(tx, "advance")


def give_up(tx: Tx, limit: int = 100) -> int:
    """Lost jobs that have been waited for long enough count as bad ends."""
    found = step_store.overdue(tx, limit)
    for job_id in found:
        step_store.lock(tx, job_id)
        for step in step_store.of_job(tx, job_id):
            if step.state == StepState.LOST:
                step.state, step.trigger_name = StepState.ENDED.value, "lost"
                step_store.save(tx, step)
        advance(tx, job_id)
    return len(found)


def any_overdue(tx: Tx) -> bool:
    return bool(step_store.overdue(tx, 1))


def _take_ends(tx: Tx, job: JobRow, spec: WorkflowSpec, taken: list[Step]) -> None:
    """Bring the steps up to date with their jobs."""
    pending = [step for step in taken if step.state != StepState.ENDED]
    found = step_store.jobs_of(tx, pending)
    has_begun = any(one.assigned_at or one.started_at or one.is_over for one in found.values())
    if has_begun and job.lifecycle == Lifecycle.READY:
        _begin(tx, job)
    for step in pending:
        child = found[step.job_id]
        if child.is_over and not _try_again(tx, job, spec.graph.node(step.node_id), step, child):
            _take_end(tx, job, spec, step, child)


def _take_end(tx: Tx, job: JobRow, spec: WorkflowSpec, step: Step, child: JobRow) -> None:
    if child.is_lost:
        if step.state == StepState.OPEN:
            step.state = StepState.LOST.value
            step_store.save(tx, step)
            _wait_until(tx, job, tx.now + spec.expires)
        return
    step.state = StepState.ENDED.value
    step.trigger_name = child.trigger_name or "failure"
    step.is_good = int(child.state in GOOD)
    step.output = _output(tx, step, child)
    step_store.save(tx, step)


def _output(tx: Tx, step: Step, child: JobRow) -> str | None:
    if child.type == WORKFLOW:
        return _sealed(tx, child, outcome.output_of(tx, child.id))
    if _hands_on(tx, child):
        return step.given
    output = jobs.heavy(tx, child.id).output
    if output is None or child.fence:
        return output
    # Its own arguments, of which some may be masked: in clear within one box.
    return _sealed(tx, child, outcome.values(tx, child.customer_id, output))


def _sealed(tx: Tx, child: JobRow, values: list[Any]) -> str:
    return sealed_values.seal_text(
        tx, sealed_values.about_values(child.customer_id), json_text.compact(values)
    )


def _hands_on(tx: Tx, child: JobRow) -> bool:
    return child.type in step_jobs.HANDS_ON and not specs.of_job(tx, child).task_arguments


def _wait_until(tx: Tx, job: JobRow, until: Millis) -> None:
    job.expires_at = until
    tx.run("update jobs set expires_at = ? where id = ?", until, job.id)


def _try_again(tx: Tx, job: JobRow, node: Node, step: Step, child: JobRow) -> bool:
    """A node's own retry: another job with the same values, after the delay."""
    retry = node.retry
    if retry is None or step.tries >= retry.times or job.cancel_requested_at is not None:
        return False
    if not _was_accident(retry, child):
        return False
    again = step_jobs.prepare_anyhow(tx, _once_more(tx, job, node, step, child), {})
    step_jobs.make(tx, [again])
    step.job_id, step.tries, step.state = again.job.id, step.tries + 1, StepState.OPEN.value
    step_store.save(tx, step)
    return True


def _was_accident(retry: Retry, child: JobRow) -> bool:
    """Not what was refused, or asked a person: those never had an attempt."""
    if child.type == WORKFLOW:
        return child.state == State.FAILURE
    is_accident = child.state in ACCIDENTS or (child.is_lost and retry.on_lost)
    return is_accident and child.attempts > 0


def _once_more(tx: Tx, job: JobRow, node: Node, step: Step, child: JobRow) -> Wanted:
    assert node.retry is not None
    again = step_jobs.as_before(tx, job, node, child)
    again.delay = _delay(node.retry, step.tries)
    return again


def _delay(retry: Retry, tries: int) -> Millis:
    return min(round(retry.delay * retry.backoff**tries), LONGEST_DELAY)


def _go_on(tx: Tx, job: JobRow, mine: WorkflowJobRow, graph: Graph, taken: list[Step]) -> None:
    todo = rule.decide(graph, mine.start, visits(taken))
    outputs = {(step.node_id, step.visit): step.output for step in taken}
    tasks: Tasks = {}
    made = []
    for begin in todo.start:
        given = [
            value
            for key in begin.causes
            for value in outcome.values(tx, job.customer_id, outputs[key])
        ]
        wanted = Wanted(job, graph.node(begin.node_id), given)
        wanted.visit, wanted.causes = begin.visit, begin.causes
        made.append(step_jobs.prepare_anyhow(tx, wanted, tasks))
    if made:
        step_jobs.write(tx, made)
    if todo.is_over:
        job.reason = _bounds(todo.spent)
        state, name = (State.FAILURE, "failure") if todo.has_failed else (State.NORMAL, "success")
        _end(tx, job, Lifecycle.FINISHED, state, name)


def _bounds(spent: list[Edge]) -> str | None:
    """Why it went round no further."""
    told = [
        f"The edge {edge.source} → {edge.target} ({edge.on}) was followed as often as it may:"
        f" {edge.bound} {'time' if edge.bound == 1 else 'times'} (max_visits)."
        for edge in spent
    ]
    return " ".join(told) or None


def _begin(tx: Tx, job: JobRow) -> None:
    check_move(job, "start", Lifecycle.STARTED, State.IN_PROGRESS)
    jobs.step(job, Lifecycle.STARTED, State.IN_PROGRESS, tx.now)
    job.started_at = tx.now
    job.ran = "yes"
    jobs.save(tx, [job])
    events.tell(tx, "started", [job])


def _end(tx: Tx, job: JobRow, lifecycle: Lifecycle, state: State, trigger_name: str) -> None:
    if job.lifecycle == Lifecycle.READY:
        _begin(tx, job)
    check_move(job, "end" if lifecycle is Lifecycle.FINISHED else "stop", lifecycle, state)
    jobs.step(job, lifecycle, state, tx.now)
    job.trigger_name, job.ended_at = trigger_name, tx.now
    jobs.save(tx, [job])
    events.tell(tx, "finished", [job])
    assert job.workflow_id is not None
    admission.one_ended(tx, job.customer_id, job.workflow_id)
