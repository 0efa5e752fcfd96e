"""Every request of an agent of the original that is not a door of its own elsewhere."""

from functools import partial
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.api.sessions import basic
from belvedere.access.limits.rate_limits import Kind
from belvedere.base.errors import Unauthenticated
from belvedere.db import Tx
from belvedere.hosts import store as host_store
from belvedere.jobs.lifecycle.orders import OldJob, OldJobs
from belvedere.legacy_agents import claims, host_stats, monitor_configs, registration
from belvedere.legacy_agents.host_stats import StatsRecord
from belvedere.legacy_agents.monitor_configs import Config
from belvedere.legacy_agents.polling import Poll
from belvedere.legacy_agents.registration import Held, Registration
from belvedere.monitors import housekeeping, watch_changes
from belvedere.monitors import store as monitor_store
from belvedere.monitors.model import Type
from belvedere.rest import query
from belvedere.rest.route import Ask, Reply, Route

# How often it shall say that it is there; it does so every ten seconds whatever is said here.
LOOPTIME = 30_000
MOST_OF_A_TASK = 10
# As much of a client's id is kept while its wrong secrets are counted.
MAX_CLIENT_ID = 64
FINE = "ok"


class Registered(msgspec.Struct):
    """The host, its own monitor, and the mark by which its machine is known."""

    host_id: str
    resource_id: str
    connection_id: str
    type: str = "keepAlive"
    looptime: int = LOOPTIME


class Dstat(msgspec.Struct):
    dstat: Any = None


class Psaux(msgspec.Struct):
    psaux: Any = None


async def sign_in(ask: Ask) -> str:
    """The token itself, a bare JSON string: an object would break that agent."""
    house, address = ask.house, ask.actor.address
    client_id, secret = basic(ask) or ("", "")
    target, proof = client_id[:MAX_CLIENT_ID], house.keys.digest(f"agent {client_id} {secret}")
    house.limits.check(address, Kind.AGENT, target, proof=proof)
    try:
        token: str = await house.db.write(registration.sign_in, house.keys, client_id, secret)
    except Unauthenticated:
        house.limits.wrong(address, kind=Kind.AGENT, target=target, proof=proof)
        raise
    house.limits.right(proof)
    return token


async def register(ask: Ask) -> Registered:
    # Each start opens a session and is written to the events.
    ask.house.handshakes.check_rate(f"original:{ask.actor.host_id or ask.actor.credential_id}")
    made: Registered = await ask.house.db.write(registered, ask.actor, ask.body, ask.actor.address)
    return made


def registered(tx: Tx, actor: Actor, given: Registration, address: str) -> Registered:
    host = registration.register(tx, actor, given, address)
    claims.lose_all(tx, host.id, f"original:{actor.credential_id}")
    housekeeping.host_came(tx, host.customer_id, host.id)
    monitor = next(m.id for m in monitor_store.of_host(tx, host.id) if m.type == Type.HOST)
    return Registered(host.id, monitor, host.fingerprint)


async def _held(ask: Ask, hostname: str | None) -> Held:
    """Whose agent asks; that it asks is its sign of life."""
    verb = ask.house.db.write if not ask.actor.host_id else ask.house.db.glance
    held: Held = await verb(registration.held, ask.actor, hostname)
    ask.house.links.note(held.host_id, held.session, ask.house.clock())
    return held


async def keep_alive(ask: Ask) -> Reply:
    await _held(ask, ask.path["hostname"])
    return Reply(status=204)


async def config(ask: Ask) -> Config:
    held = await _held(ask, ask.path["hostname"])
    found: Config = await ask.house.db.write(monitor_configs.config, held.host_id)
    return found


async def poll(ask: Ask) -> OldJobs:
    """`GET /job` with an agent's credential."""
    held = await _held(ask, ask.first("hostname"))
    await ask.house.db.glance(registration.check, held.host_id)
    with ask.house.handshakes.waiting(held.host_id):
        return OldJobs(await Poll(ask.house, held, ask.request.receive).jobs(claims.take))


async def poll_task(ask: Ask) -> list[OldJob]:
    """Not held: whoever asks for one task asks again and again."""
    held = await _held(ask, ask.first("hostname"))
    limit = query.whole("limit", ask.first("limit") or str(MOST_OF_A_TASK))
    most = max(0, min(limit, MOST_OF_A_TASK))
    found: list[OldJob] = await ask.house.db.write(
        claims.take_of_task,
        ask.actor,
        held.host_id,
        ask.house.links.base_url,
        ask.house.keys,
        ask.path["id"],
        most,
    )
    return found


async def note_dstat(ask: Ask) -> str:
    return await _keep(ask, "dstat", ask.body.dstat)


async def note_psaux(ask: Ask) -> str:
    return await _keep(ask, "psaux", ask.body.psaux)


async def _keep(ask: Ask, type_: str, said: Any) -> str:
    held = await _held(ask, ask.path["hostname"])
    await ask.house.db.write(host_stats.keep, held.host_id, type_, said)
    return FINE


async def show_stats(ask: Ask) -> list[StatsRecord]:
    found: list[StatsRecord] = await ask.house.db.read(
        host_stats.of_host, ask.actor, ask.path["id"], ask.first("type")
    )
    return found


async def reconfigure(ask: Ask) -> Reply:
    await ask.house.db.write(_reconfigured, ask.actor, ask.path["id"])
    return Reply(status=204)


def _reconfigured(tx: Tx, actor: Actor, host_id: str) -> None:
    watch_changes.all_changed(tx, host_store.find(tx, actor.customer_id, host_id).id)


_agents = partial(Route, level="agent")

ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/token",
        "anonymous",
        sign_in,
        "Sign in an agent of the original, by the id and text of an enrolment token",
        style="plain",
        answer=str,
        codes=("bad_client",),
    ),
    _agents(
        method="POST",
        path="/host",
        handler=register,
        summary="An agent of the original starts",
        body=Registration,
        answer=Registered,
        codes=("host_held", "host_exists", "bad_enrolment"),
    ),
    _agents(
        method="PUT",
        path="/agent/{hostname}",
        handler=keep_alive,
        summary="Say that an agent is there",
        answer=str,
        statuses=(204,),
    ),
    _agents(
        method="GET",
        path="/agent/{hostname}/config",
        handler=config,
        summary="What an agent of the original shall check",
        answer=Config,
    ),
    _agents(
        method="GET",
        path="/task/{id}/job/queue",
        handler=poll_task,
        summary="Work of one task, for an agent of the original",
        answer=list[OldJob],
        codes=("not_registered",),
        query=(("hostname", "of the agent"), ("limit", "at most so many")),
    ),
    _agents(
        method="POST",
        path="/dstat/{hostname}",
        handler=note_dstat,
        summary="Statistics of a host",
        body=Dstat,
        answer=str,
    ),
    _agents(
        method="POST",
        path="/psaux/{hostname}",
        handler=note_psaux,
        summary="Processes of a host",
        body=Psaux,
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
        "What the agent last said of its machine; processes only to admins",
        answer=list[StatsRecord],
        query=(("type", "dstat or psaux"),),
    ),
    Route(
        "PUT",
        "/host/{id}/reconfigure",
        "admin",
        reconfigure,
        "Let a host's agent read its configuration again",
        answer=str,
        statuses=(204,),
    ),
)
