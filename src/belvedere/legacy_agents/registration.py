"""Hosts with a TheEye agent: sign-in, registration, state of their configuration."""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from belvedere.access import Actor, Keyring, Level, require
from belvedere.access.credentials import legacy_clients
from belvedere.access.credentials.legacy_clients import LegacyClient
from belvedere.base.clock import MINUTE, Millis
from belvedere.base.errors import Conflict, Forbidden, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.hosts import model, presence, service, store
from belvedere.hosts.model import HostRow
from belvedere.protocol import Hello

# The agent runs at most this many jobs at once, but does not report it.
MAX_SLOTS = 10
# An update order that was not reported as done within this time is sent again.
UPDATE_TIMEOUT_MS: Millis = 1 * MINUTE


# Requests that send a result: their host and the size of their body.
EndsInProgress = dict["asyncio.Task[Any]", tuple[str, int]]


@dataclass(frozen=True, slots=True)
class LegacyServices:
    # Rejects an agent that registers too often; the key identifies the agent.
    check_rate: Callable[[str], None]
    # Limits the polls that the agent of one host leaves open.
    waiting: Callable[[str], AbstractContextManager[None]]
    # (host, session, now): the agent was in contact.
    note_contact: Callable[[str, int, Millis], None]
    # Where scripts reach this server; known only once the port is open.
    base_url: Callable[[], str]
    # (organization, bytes): whether its storage quota has room; then the bytes are counted.
    take_storage: Callable[[str, int], bool]
    # Whether agents get jobs; not while lost work is recovered after a database failover.
    admits_agents: Callable[[], bool]
    # Bytes of results that are being sent, by request.
    ends_in_progress: EndsInProgress = field(default_factory=dict)


class Registration(msgspec.Struct):
    """What the agent sends when it starts."""

    hostname: str = ""
    version: str = ""
    info: dict[str, Any] = {}


class AgentSession(msgspec.Struct):
    """A host and the current session of its agent."""

    host_id: str
    session: int


def sign_in(tx: Tx, keys: Keyring, client_id: str, secret: str) -> str:
    """A token for the client of an enrolment; bound to its host if it has exactly one."""
    client = legacy_clients.authenticate(tx, keys, client_id, secret)
    host_ids = [
        host_id
        for (host_id,) in tx.rows(
            "select o.host_id from original_agents o join hosts h on h.id = o.host_id"
            " where o.client_id = ? and h.deleted_at is null",
            client.id,
        )
    ]
    if not host_ids and client.open_uses is None:
        raise legacy_clients.invalid_client()
    return legacy_clients.issue(tx, keys, client, host_ids[0] if len(host_ids) == 1 else None)


def register(tx: Tx, actor: Actor, body: Registration, address: str) -> HostRow:
    """An agent starts: its token is bound to its host, which is created if necessary."""
    require(actor, Level.AGENT)
    name = model.hostname(body.hostname)
    mark = fingerprint(body.info)
    client = legacy_clients.for_token(tx, actor)
    host = store.find_by_name(tx, actor.customer_id, name, lock=True)
    if actor.host_id and (host is None or host.id != actor.host_id) and not _may_enrol(client):
        raise Forbidden("This credential is bound to another host.", code="other_host")
    if host is None or not _owns(tx, actor, client, host):
        host = _enrol(tx, actor, client, host, name, mark, address)
    _connect(tx, actor, host, body, mark, address)
    legacy_clients.bind(tx, actor.credential_id, host.id)
    legacy_clients.delete_other_tokens(tx, actor.credential_id, host.id)
    tx.execute(
        "insert into original_agents (host_id, client_id, configured) values (?, ?, 0)"
        " on conflict (host_id) do update set client_id = excluded.client_id, configured = 0,"
        " update_id = null, update_at = null",
        host.id,
        client.id if client is not None else "",
    )
    return store.find(tx, actor.customer_id, host.id)


def _may_enrol(client: LegacyClient | None) -> bool:
    """Several hosts may share one client id; each registers under its own name."""
    return client is not None and client.open_uses is not None


def _owns(tx: Tx, actor: Actor, client: LegacyClient | None, host: HostRow) -> bool:
    if host.id == actor.host_id:
        return True
    holder = tx.value("select client_id from original_agents where host_id = ?", host.id)
    return client is not None and holder == client.id


def _enrol(
    tx: Tx,
    actor: Actor,
    client: LegacyClient | None,
    host: HostRow | None,
    name: str,
    mark: str,
    address: str,
) -> HostRow:
    if client is None:
        raise Forbidden("This credential is bound to another host.", code="other_host")
    enrolment = legacy_clients.redeem(tx, client, name, mark)
    if enrolment.host_id is not None and (host is None or host.id != enrolment.host_id):
        raise Forbidden("This client was created for another host.", code="other_host")
    return service.enrol_host(tx, actor, enrolment, host, name, mark, address)


def _connect(
    tx: Tx, actor: Actor, host: HostRow, body: Registration, mark: str, address: str
) -> None:
    info = body.info
    presence.connect(
        tx,
        host.id,
        Hello(
            hostname=host.hostname,
            agent_version=body.version,
            fingerprint=mark,
            # It has no journal; the token distinguishes a process from its successor.
            journal_id=f"original:{actor.credential_id}",
            boot_id="",
            slots=MAX_SLOTS,
            entries=[],
            os_name=_text(info.get("type") or info.get("platform")),
            os_version=_text(info.get("release")),
            ip=_address(info.get("net")),
            info=info,
        ),
        address,
    )


def fingerprint(info: dict[str, Any]) -> str:
    """Identifies the machine by what does not change between starts."""
    cards = info.get("net")
    macs = [_text(card.get("mac")) for card in cards or () if isinstance(card, dict)]
    real = [mac for mac in macs if mac.strip("0:")]
    words = [_text(info.get(name)) for name in ("platform", "arch", "type", "hostname", "cwd")]
    return hashlib.sha256("\0".join([*words, *real[:1]]).encode()).hexdigest()[:32]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _address(cards: object) -> str:
    """The first address that is not a loopback address."""
    entries = cards if isinstance(cards, list | tuple) else ()
    addresses = [_text(card.get("address")) for card in entries if isinstance(card, dict)]
    local = ("127.", "::1")
    return next((address for address in addresses if address and not address.startswith(local)), "")


def session_of(tx: Tx, actor: Actor, hostname: str | None) -> AgentSession:
    """The host of this agent; a hostname in the request must match it."""
    require(actor, Level.AGENT)
    if not actor.host_id:
        return _bind_by_name(tx, actor, hostname or "")
    host = store.find(tx, actor.customer_id, actor.host_id)
    if hostname is not None and hostname.lower() != host.hostname.lower():
        if store.find_by_name(tx, actor.customer_id, hostname) is None:
            raise _not_found()
        raise Forbidden("This credential is bound to another host.", code="other_host")
    return AgentSession(host.id, tx.value("select session from hosts where id = ?", host.id))


def _not_found() -> NotFound:
    return NotFound("There is no such host. Register it first: POST /host.", code="host_not_found")


def _bind_by_name(tx: Tx, actor: Actor, hostname: str) -> AgentSession:
    """After a 401 the agent signs in again without registering: the name identifies its host."""
    host = store.find_by_name(tx, actor.customer_id, hostname)
    client = legacy_clients.for_token(tx, actor)
    if host is None or not _owns(tx, actor, client, host):
        raise _not_found()
    legacy_clients.bind(tx, actor.credential_id, host.id)
    return AgentSession(host.id, host.session)


def require_registered(tx: Tx, host_id: str) -> None:
    """Only a host whose agent registered over HTTP gets its work over HTTP."""
    if tx.value("select 1 from original_agents where host_id = ?", host_id) is None:
        raise Conflict("Register first: POST /host.", code="not_registered")


def delete(tx: Tx, host_id: str) -> None:
    """The host has another agent now."""
    tx.execute("delete from original_agents where host_id = ?", host_id)


def is_client_in_use() -> str:
    """An SQL condition on a row of `tokens`: it is the client of a registered agent."""
    return "exists (select 1 from original_agents o where o.client_id = tokens.id)"


def may_not_report() -> str:
    """An SQL condition on a host `h`: its agent may never report the end of a job
    (agent-protocol.md, five cases)."""
    return "exists (select 1 from original_agents o where o.host_id = h.id)"


# The agent reads its configuration when it gets an update order, which looks like a job.


def note_config(tx: Tx, host_id: str, number: int) -> None:
    tx.execute("update original_agents set configured = ? where host_id = ?", number, host_id)


def is_update_due(tx: Tx, host_id: str, number: int) -> bool:
    """Whether its configuration is outdated and it has not got an update order recently."""
    row = tx.value(
        "select 1 from original_agents where host_id = ? and configured < ?"
        " and (update_at is null or update_at < ?)",
        host_id,
        number,
        tx.now - UPDATE_TIMEOUT_MS,
    )
    return row is not None


def order_update(tx: Tx, host_id: str) -> str:
    """Returns the id with which the agent will report that the update is done."""
    update_id = new_id()
    tx.execute(
        "update original_agents set update_id = ?, update_at = ? where host_id = ?",
        update_id,
        tx.now,
        host_id,
    )
    return update_id


def has_update(tx: Tx, host_id: str, job_id: str) -> bool:
    """Whether this id is the open update order of the host."""
    row = tx.value(
        "select 1 from original_agents where host_id = ? and update_id = ?", host_id, job_id
    )
    return row is not None


def complete_update(tx: Tx, host_id: str, job_id: str) -> bool:
    """Mark the update order as done; False if the id is not the host's update order."""
    return bool(
        tx.execute(
            "update original_agents set update_id = null, update_at = null"
            " where host_id = ? and update_id = ?",
            host_id,
            job_id,
        )
    )
