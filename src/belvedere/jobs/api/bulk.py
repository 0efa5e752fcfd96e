"""Many jobs at once over HTTP: cancel them, release those that are held after a restore."""

import asyncio

import msgspec

from belvedere.access.request import Request
from belvedere.base.errors import Refused
from belvedere.base.ids import is_id
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import details
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.recovery import hold
from belvedere.rest import text_fields
from belvedere.rest.route import Reply, Route

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


async def release(request: Request[None]) -> JobRecord:
    job_id = request.path["id"]
    await request.services.db.write(hold.release, request.actor, job_id)
    job: JobRecord = await request.services.db.read_inline(details.show, request.actor, job_id)
    return job


async def release_all(request: Request[None]) -> ReleaseResult:
    return ReleaseResult(*await request.services.db.write(hold.release_all, request.actor))


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
        "PUT",
        "/job/{id}/release",
        "user",
        release,
        "Release a job that a person put on hold; for admins also one held after a restore.",
        answer=JobRecord,
        codes=("wrong_lifecycle",),
        from_interface=False,
    ),
    Route(
        "POST",
        "/job/release",
        "admin",
        release_all,
        f"Release all held jobs, at most {hold.MAX_RELEASED} per request.",
        answer=ReleaseResult,
        from_interface=False,
    ),
)
