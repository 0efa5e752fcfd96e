"""Many jobs at once over HTTP: canceling, and releasing what is held after a restore."""

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

MOST = 1_000


class CancelMany(msgspec.Struct, forbid_unknown_fields=True):
    """Ids of jobs, each at most once."""

    ids: list[str]


class Canceled(msgspec.Struct):
    """What became of one. `done`: it is cancelled, or its agent was told to stop it; else `code`
    and `message` say why not, as the refusal of a single cancel would."""

    id: str
    done: bool
    lifecycle: str = ""
    state: str = ""
    code: str = ""
    message: str = ""


class CanceledMany(msgspec.Struct):
    """In the order of the request."""

    results: list[Canceled]


async def cancel(request: Request[CancelMany]) -> Reply:
    job_ids = list(dict.fromkeys(request.body.ids))
    if not 1 <= len(job_ids) <= MOST:
        raise text_fields.bad("ids", f"Give 1 to {MOST} ids.")
    for job_id in job_ids:
        if not is_id(job_id):
            raise text_fields.bad("ids", f"{job_id[:32]!r} is no id.")
    # One transaction each: what is refused for one must not undo the others.
    ended = await asyncio.gather(
        *(request.services.db.write(actions.cancel, request.actor, job_id) for job_id in job_ids),
        return_exceptions=True,
    )
    told = [_told(job_id, end) for job_id, end in zip(job_ids, ended, strict=True)]
    return Reply(CanceledMany(told), status=200)


def _told(job_id: str, end: JobRow | BaseException) -> Canceled:
    if isinstance(end, Refused):
        return Canceled(job_id, done=False, code=end.code, message=end.message)
    if isinstance(end, BaseException):
        raise end
    return Canceled(job_id, True, end.lifecycle, end.state)


class Released(msgspec.Struct):
    """How many may run now; `more`: some are left, send the request again."""

    released: int
    more: bool


async def release(request: Request[None]) -> JobRecord:
    job_id = request.path["id"]
    await request.services.db.write(hold.release, request.actor, job_id)
    job: JobRecord = await request.services.db.read_inline(details.show, request.actor, job_id)
    return job


async def release_all(request: Request[None]) -> Released:
    return Released(*await request.services.db.write(hold.release_all, request.actor))


ROUTES = (
    Route(
        "POST",
        "/job/cancel",
        "user",
        cancel,
        "Cancel many jobs; each has its own answer",
        body=CancelMany,
        answer=CanceledMany,
        known=False,
    ),
    Route(
        "PUT",
        "/job/{id}/release",
        "admin",
        release,
        "Let a job run that is held since the database was restored.",
        answer=JobRecord,
        codes=("wrong_lifecycle",),
        known=False,
    ),
    Route(
        "POST",
        "/job/release",
        "admin",
        release_all,
        f"Let all held jobs run, at most {hold.MAX_RELEASED} per request.",
        answer=Released,
        known=False,
    ),
)
