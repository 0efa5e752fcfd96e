"""Commands over HTTP: `POST /exec`."""

import msgspec

from belvedere.access.request import Request
from belvedere.jobs.api import run_requests
from belvedere.jobs.lifecycle import commands
from belvedere.jobs.lifecycle.commands import ExecBody, ExecResult
from belvedere.jobs.queries import details, records
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.route import Reply, Route


class ExecRecord(msgspec.Struct):
    """One job per host."""

    jobs: list[JobRecord]


async def execute(request: Request[ExecBody]) -> Reply:
    key = await run_requests.idempotency_key(request)
    result: ExecResult = await request.services.db.write(
        commands.run, request.actor, request.body, key
    )
    name, now = request.actor.customer_name, request.services.clock()
    jobs = [records.summary(job, name, now) for job in result.jobs]
    jobs = await request.services.db.read(details.add_hostnames, jobs)
    return Reply(ExecRecord(jobs), status=201, headers=run_requests.replay_headers(result.replayed))


ROUTES = (
    Route(
        "POST",
        "/exec",
        "admin",
        execute,
        "Run a command on hosts, or on all hosts with a tag; audited",
        body=ExecBody,
        answer=ExecRecord,
        codes=("idempotency_key_reused", "replayed_job_gone"),
        from_interface=False,
        max_body=2 << 20,
    ),
)
