"""Many jobs at once over HTTP: cancel them, list and release those held after a restore, delete
finished ones."""

import asyncio

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search_on
from belvedere.base.errors import Refused
from belvedere.base.ids import is_id
from belvedere.jobs.history import deletions, removed
from belvedere.jobs.history.deletions import DeletedHistory, HistoryCount
from belvedere.jobs.history.removed import RemovedJobs
from belvedere.jobs.history.unprocessed import JobReaders
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.recovery import held_jobs, hold
from belvedere.jobs.recovery.held_jobs import HeldJobs
from belvedere.rest import query, text_fields
from belvedere.rest.route import Handler, QueryTable, Reply, Route

MAX_IDS = 1_000


class CancelMany(msgspec.Struct, forbid_unknown_fields=True):
    """Ids of jobs, each at most once."""

    ids: list[str]


class CancelResult(msgspec.Struct):
    """The result for one job. `done`: it is canceled, or its agent is stopping it; else `code` and
    `message` give the reason, as for a single cancel."""

    id: str
    done: bool
    lifecycle: str = ""
    state: str = ""
    code: str = ""
    message: str = ""


class CancelResults(msgspec.Struct):
    """In the order of the request."""

    results: list[CancelResult]


async def cancel(request: Request[CancelMany]) -> Reply:
    job_ids = list(dict.fromkeys(request.body.ids))
    if not 1 <= len(job_ids) <= MAX_IDS:
        raise text_fields.invalid_field("ids", f"Pass 1 to {MAX_IDS} ids.")
    for job_id in job_ids:
        if not is_id(job_id):
            raise text_fields.invalid_field("ids", f"{job_id[:32]!r} is not an id.")
    # One transaction each: a refusal for one job must not undo the others.
    outcomes = await asyncio.gather(
        *(request.services.db.write(actions.cancel, request.actor, job_id) for job_id in job_ids),
        return_exceptions=True,
    )
    results = [_result(job_id, end) for job_id, end in zip(job_ids, outcomes, strict=True)]
    return Reply(CancelResults(results), status=200)


def _result(job_id: str, outcome: JobRow | BaseException) -> CancelResult:
    if isinstance(outcome, Refused):
        return CancelResult(job_id, done=False, code=outcome.code, message=outcome.message)
    if isinstance(outcome, BaseException):
        raise outcome
    return CancelResult(job_id, True, outcome.lifecycle, outcome.state)


class ReleaseResult(msgspec.Struct):
    """The number of released jobs; `more`: there are more, send the request again."""

    released: int
    more: bool


async def list_held(request: Request[None]) -> HeldJobs:
    after = request.first("after") or ""
    if after and not is_id(after):
        raise query.invalid_query("after", "after must be the last id of the previous page.")
    limit = query.integer("limit", request.first("limit") or str(held_jobs.DEFAULT_LIMIT))
    if not 1 <= limit <= held_jobs.MAX_LIMIT:
        raise query.invalid_query("limit", f"limit must be 1 to {held_jobs.MAX_LIMIT}.")
    jobs: HeldJobs = await request.services.db.read(
        held_jobs.list_held, request.actor, after, limit
    )
    return jobs


async def release(request: Request[None]) -> JobRecord:
    job_id = request.path["id"]
    await request.services.db.write(hold.release, request.actor, job_id)
    job: JobRecord = await request.services.db.read_inline(details.show, request.actor, job_id)
    return job


async def release_all(request: Request[None]) -> ReleaseResult:
    return ReleaseResult(*await request.services.db.write(hold.release_all, request.actor))


async def show_removed(request: Request[None]) -> RemovedJobs:
    kind = "workflow" if request.first("workflow") else "task" if request.first("task") else ""
    object_id = request.first("workflow") or request.first("task") or ""
    totals: RemovedJobs = await request.services.db.read(
        removed.show, request.actor, kind, object_id
    )
    return totals


async def delete_finished(request: Request[None]) -> DeletedHistory:
    return await delete_history(request, request.first("type"), request.first("id"))


async def delete_of_task(request: Request[None]) -> DeletedHistory:
    task_id = request.path["id"]
    await request.services.db.read(deletions.check_task, request.actor, task_id)
    return await delete_history(request, "Task", task_id)


async def delete_history(
    request: AnyRequest, kind: str | None, object_id: str | None
) -> DeletedHistory:
    """Delete all finished jobs, or those of one task or workflow, counted before in steps."""
    scope = deletions.scope_of(request.actor, kind, object_id)
    count = HistoryCount()
    while not count.is_finished:
        count = await run_search_on(request, deletions.count_step, scope, count)
    readers = request.services.of(JobReaders).kinds()
    deleted: DeletedHistory = await request.services.db.write(
        deletions.begin, request.actor, scope, count, kind, readers
    )
    return deleted


def _delete(path: str, handler: Handler, summary: str, query: QueryTable = ()) -> Route:
    return Route("DELETE", path, "admin", handler, summary, answer=DeletedHistory, query=query)


_NARROW = (("type", "Task or Workflow"), ("id", "only jobs of this task or workflow"))

ROUTES = (
    Route(
        "POST",
        "/job/cancel",
        "user",
        cancel,
        "Cancel many jobs; each has its own result",
        body=CancelMany,
        answer=CancelResults,
        from_interface=False,
    ),
    Route(
        "GET",
        "/job/held",
        "admin",
        list_held,
        "List the jobs held after a restore, with what their hosts have shown",
        answer=HeldJobs,
        from_interface=False,
        compress=True,
        query=(
            ("after", "the last id of the previous page"),
            ("limit", f"1 to {held_jobs.MAX_LIMIT}, default {held_jobs.DEFAULT_LIMIT}"),
        ),
    ),
    Route(
        "PUT",
        "/job/{id}/release",
        "user",
        release,
        "Release a job that a person put on hold; admins can also release one held after a restore",
        answer=JobRecord,
        codes=("wrong_lifecycle",),
        from_interface=False,
    ),
    Route(
        "POST",
        "/job/release",
        "admin",
        release_all,
        f"Release all held jobs, at most {hold.MAX_RELEASED} per request",
        answer=ReleaseResult,
        from_interface=False,
    ),
    Route(
        "GET",
        "/job/removed",
        "viewer",
        show_removed,
        "Count finished jobs that were removed by retention or a person, with the time of the last"
        " one and the progress of a deletion",
        answer=RemovedJobs,
        query=(("task", "only of this task"), ("workflow", "only of this workflow")),
        from_interface=False,
    ),
    _delete("/job/finished", delete_finished, "Delete the history of finished jobs", _NARROW),
    _delete("/task/{id}/job", delete_of_task, "Delete the history of a task"),
)
