"""Endpoints for TheEye agents, except those that report job results (`job_reports`)."""

from functools import partial
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.api.sessions import basic_credentials
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Unauthenticated
from belvedere.db import Tx
from belvedere.hosts import store as host_store
from belvedere.jobs.lifecycle.legacy_orders import LegacyJob, LegacyJobs
from belvedere.legacy_agents import claims, host_stats, monitor_configs, registration
from belvedere.legacy_agents.host_stats import StatsRecord
from belvedere.legacy_agents.monitor_configs import LegacyConfig
from belvedere.legacy_agents.polling import LongPoll, if_admitted
from belvedere.legacy_agents.registration import AgentSession, LegacyServices, Registration
from belvedere.monitors import housekeeping, watch_changes
from belvedere.monitors import store as monitor_store
from belvedere.monitors.model import MonitorType
from belvedere.rest import query
from belvedere.rest.route import Reply, Route

# Heartbeat interval in the response; these agents use ten seconds regardless of it.
LOOPTIME_MS = 30_000
MAX_JOBS_OF_TASK = 10
# Characters of a client id that the counter of wrong secrets keeps.
MAX_CLIENT_ID = 64
OK = "ok"


class RegistrationRecord(msgspec.Struct):
    """The host, its own monitor, and the fingerprint of its machine."""

    host_id: str
    resource_id: str
    connection_id: str
    type: str = "keepAlive"
    looptime: int = LOOPTIME_MS


class DstatBody(msgspec.Struct):
    # Any JSON, stored as TheEye's agent sends it.
    dstat: Any = None


class PsauxBody(msgspec.Struct):
    # Any JSON, stored as TheEye's agent sends it.
    psaux: Any = None


async def sign_in(request: Request[None]) -> str:
    """Returns the token as a bare JSON string: these agents cannot read an object."""
    services, address = request.services, request.actor.address
    client_id, secret = basic_credentials(request) or ("", "")
    target, proof = (
        client_id[:MAX_CLIENT_ID],
        services.keyring.digest(f"agent {client_id} {secret}"),
    )
    services.limits.check(address, AttemptKind.AGENT, target, proof=proof)
    try:
        token: str = await services.db.write(
            registration.sign_in, services.keyring, client_id, secret
        )
    except Unauthenticated:
        services.limits.record_failure(address, kind=AttemptKind.AGENT, target=target, proof=proof)
        raise
    services.limits.record_success(proof)
    return token


async def register(request: Request[Registration]) -> RegistrationRecord:
    # Each start opens a session and writes events.
    request.services.of(LegacyServices).check_rate(
        f"original:{request.actor.host_id or request.actor.credential_id}"
    )
    record: RegistrationRecord = await request.services.db.write(
        register_host, request.actor, request.body, request.actor.address
    )
    return record


async def register_by_path(request: Request[Registration]) -> RegistrationRecord:
    """Agents before 1.4 name their host in the path, and perhaps send no body."""
    body = request.body or Registration()
    request.body = msgspec.structs.replace(body, hostname=request.path["hostname"])
    return await register(request)


def register_host(tx: Tx, actor: Actor, body: Registration, address: str) -> RegistrationRecord:
    host = registration.register(tx, actor, body, address)
    claims.end_former_attempts(tx, host.id, f"original:{actor.credential_id}")
    housekeeping.on_host_connected(tx, host.customer_id, host.id)
    monitor = next(m.id for m in monitor_store.for_host(tx, host.id) if m.type == MonitorType.HOST)
    return RegistrationRecord(host.id, monitor, host.fingerprint)


async def _authenticate(request: AnyRequest, hostname: str | None) -> AgentSession:
    """The host of the agent; every request counts as a heartbeat."""
    run = (
        request.services.db.write if not request.actor.host_id else request.services.db.read_inline
    )
    session: AgentSession = await run(registration.session_of, request.actor, hostname)
    request.services.of(LegacyServices).note_contact(
        session.host_id, session.session, request.services.clock()
    )
    return session


async def keep_alive(request: Request[None]) -> Reply:
    await _authenticate(request, request.path["hostname"])
    return Reply(status=204)


async def config(request: Request[None]) -> LegacyConfig:
    session = await _authenticate(request, request.path["hostname"])
    answer: LegacyConfig = await request.services.db.write(
        monitor_configs.legacy_config, session.host_id
    )
    return answer


async def poll(request: AnyRequest) -> LegacyJobs:
    """`GET /job` with an agent's token."""
    session = await _authenticate(request, request.first("hostname"))
    await request.services.db.read_inline(registration.require_registered, session.host_id)
    with request.services.of(LegacyServices).waiting(session.host_id):
        long_poll = LongPoll(request.services, session.host_id, request.receive)
        return LegacyJobs(await long_poll.jobs(claims.claim_jobs))


async def poll_task(request: Request[None]) -> list[LegacyJob]:
    """Responds at once: an agent that polls for one task repeats the request by itself."""
    session = await _authenticate(request, request.first("hostname"))
    limit = query.integer("limit", request.first("limit") or str(MAX_JOBS_OF_TASK))
    most = max(0, min(limit, MAX_JOBS_OF_TASK))
    jobs: list[LegacyJob] = await request.services.db.write(
        if_admitted(request.services, claims.claim_jobs_of_task),
        request.actor,
        session.host_id,
        request.services.of(LegacyServices).base_url(),
        request.services.keyring,
        request.path["id"],
        most,
    )
    return jobs


async def report_dstat(request: Request[DstatBody]) -> str:
    session = await _authenticate(request, request.path["hostname"])
    await request.services.db.write(
        host_stats.store_stats, session.host_id, "dstat", request.body.dstat
    )
    return OK


async def report_psaux(request: Request[PsauxBody]) -> str:
    session = await _authenticate(request, request.path["hostname"])
    await request.services.db.write(
        host_stats.receive_process_list, session.host_id, request.body.psaux
    )
    return OK


async def show_stats(request: Request[None]) -> list[StatsRecord]:
    records: list[StatsRecord] = await request.services.db.read(
        host_stats.list_stats, request.actor, request.path["id"], request.first("type")
    )
    return records


async def reconfigure(request: Request[None]) -> Reply:
    await request.services.db.write(_mark_all_changed, request.actor, request.path["id"])
    return Reply(status=204)


def _mark_all_changed(tx: Tx, actor: Actor, host_id: str) -> None:
    watch_changes.record_all(tx, host_store.find(tx, actor.customer_id, host_id).id)


_agents = partial(Route, level="agent")

ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/token",
        "anonymous",
        sign_in,
        "Sign in a TheEye agent with the id and secret of an enrolment token",
        style="plain",
        answer=str,
        codes=("bad_client",),
    ),
    _agents(
        method="POST",
        path="/host",
        handler=register,
        summary="Register the host of a TheEye agent",
        body=Registration,
        answer=RegistrationRecord,
        codes=("host_held", "host_exists", "bad_enrolment"),
    ),
    _agents(
        method="POST",
        path="/host/{hostname}",
        handler=register_by_path,
        summary="Register the host of a TheEye agent before 1.4",
        body=Registration,
        answer=RegistrationRecord,
        codes=("host_held", "host_exists", "bad_enrolment"),
    ),
    _agents(
        method="PUT",
        path="/agent/{hostname}",
        handler=keep_alive,
        summary="Heartbeat of a TheEye agent",
        answer=str,
        statuses=(204,),
    ),
    _agents(
        method="GET",
        path="/agent/{hostname}/config",
        handler=config,
        summary="List the monitors that a TheEye agent has to check",
        answer=LegacyConfig,
    ),
    _agents(
        method="GET",
        path="/task/{id}/job/queue",
        handler=poll_task,
        summary="Claim jobs of one task for a TheEye agent",
        answer=list[LegacyJob],
        codes=("not_registered",),
        query=(("hostname", "the host name of the agent"), ("limit", "maximum number of jobs")),
    ),
    _agents(
        method="POST",
        path="/dstat/{hostname}",
        handler=report_dstat,
        summary="Report statistics of a host",
        body=DstatBody,
        answer=str,
    ),
    _agents(
        method="POST",
        path="/psaux/{hostname}",
        handler=report_psaux,
        summary="Report the processes of a host",
        body=PsauxBody,
        answer=str,
        max_body=8 << 20,
        # Eleven values for each process.
        max_values=500_000,
    ),
    Route(
        "GET",
        "/host/{id}/stats",
        "viewer",
        show_stats,
        "Show the latest statistics of a host; processes only for admins",
        answer=list[StatsRecord],
        query=(("type", "dstat or psaux"),),
    ),
    Route(
        "PUT",
        "/host/{id}/reconfigure",
        "admin",
        reconfigure,
        "Make the host's agent read its configuration again",
        answer=str,
        statuses=(204,),
    ),
)
