"""Commands over HTTP: `POST /exec`."""

import msgspec

from belvedere.access.request import Request
from belvedere.jobs.api import run_requests
from belvedere.jobs.lifecycle import commands
from belvedere.jobs.lifecycle.commands import ExecBody, Ran
from belvedere.jobs.queries import details
from belvedere.jobs.queries import records as record
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.route import Reply, Route


class Executed(msgspec.Struct):
    """A job for each host."""

    jobs: list[JobRecord]


async def execute(request: Request[ExecBody]) -> Reply:
    once = await run_requests.once(request)
    ran: Ran = await request.services.db.write(commands.run, request.actor, request.body, once)
    name, now = request.actor.customer_name, request.services.clock()
    records = [record.light(job, name, now) for job in ran.jobs]
    named = await request.services.db.read(details.named, records)
    return Reply(Executed(named), status=201, headers=run_requests.replayed(ran.replayed))


ROUTES = (
    Route(
        "POST",
        "/exec",
        "admin",
        execute,
        "Run a command on hosts, or on all that carry a tag; audited.",
        body=ExecBody,
        answer=Executed,
        codes=("idempotency_key_reused", "replayed_job_gone"),
        known=False,
        max_body=2 << 20,
    ),
)
