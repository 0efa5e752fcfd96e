"""Hosts that are held by an agent of the original system, over plain HTTP."""

import hashlib
from typing import Any

import msgspec

from belvedere.access import Actor, Keys, Level, require
from belvedere.access.credentials import legacy_clients
from belvedere.access.credentials.legacy_clients import Client
from belvedere.base.clock import MINUTE, Millis
from belvedere.base.errors import Conflict, Forbidden, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.hosts import model, presence, service, store
from belvedere.hosts.model import HostRow
from belvedere.protocol import Hello

# It runs at most this many at once, and does not say so.
SLOTS = 10
# An update that was handed out and never reported is handed out again.
FORGOTTEN: Millis = 1 * MINUTE


class Registration(msgspec.Struct):
    """What the agent says when it starts."""

    hostname: str = ""
    version: str = ""
    info: dict[str, Any] = {}


class Held(msgspec.Struct):
    """A host and the session of its agent."""

    host_id: str
    session: int


def sign_in(tx: Tx, keys: Keys, client_id: str, secret: str) -> str:
    """A token for the holder of an enrolment; bound at once where there is no choice."""
    client = legacy_clients.known(tx, keys, client_id, secret)
    mine = [
        host_id
        for (host_id,) in tx.rows(
            "select o.host_id from original_agents o join hosts h on h.id = o.host_id"
            " where o.client_id = ? and h.deleted_at is null",
            client.id,
        )
    ]
    if not mine and client.open_uses is None:
        raise legacy_clients.refusal()
    return legacy_clients.issue(tx, keys, client, mine[0] if len(mine) == 1 else None)


def register(tx: Tx, actor: Actor, given: Registration, address: str) -> HostRow:
    """A process starts: its token is bound to its host, which is made if need be."""
    require(actor, Level.AGENT)
    name = model.hostname(given.hostname)
    mark = fingerprint(given.info)
    client = legacy_clients.of_token(tx, actor)
    host = store.by_name(tx, actor.customer_id, name, hold=True)
    if actor.host_id and (host is None or host.id != actor.host_id) and not _brings(client):
        raise Forbidden("This credential is bound to another host.", code="other_host")
    if host is None or not _holds(tx, actor, client, host):
        host = _enrol(tx, actor, client, host, name, mark, address)
    _connect(tx, actor, host, given, mark, address)
    legacy_clients.bind(tx, actor.credential_id, host.id)
    legacy_clients.drop_others(tx, actor.credential_id, host.id)
    tx.run(
        "insert into original_agents (host_id, client_id, configured) values (?, ?, 0)"
        " on conflict (host_id) do update set client_id = excluded.client_id, configured = 0,"
        " update_id = null, update_at = null",
        host.id,
        client.id if client is not None else "",
    )
    return store.find(tx, actor.customer_id, host.id)


def _brings(client: Client | None) -> bool:
    """Several hosts may share one client id; each brings its own name."""
    return client is not None and client.open_uses is not None


def _holds(tx: Tx, actor: Actor, client: Client | None, host: HostRow) -> bool:
    if host.id == actor.host_id:
        return True
    holder = tx.value("select client_id from original_agents where host_id = ?", host.id)
    return client is not None and holder == client.id


def _enrol(
    tx: Tx,
    actor: Actor,
    client: Client | None,
    host: HostRow | None,
    name: str,
    mark: str,
    address: str,
) -> HostRow:
    if client is None:
        raise Forbidden("This credential is bound to another host.", code="other_host")
    leave = legacy_clients.use_up(tx, client, name, mark)
    if leave.host_id is not None and (host is None or host.id != leave.host_id):
        raise Forbidden("This client was created for another host.", code="other_host")
    return service.take_in(tx, actor, leave, host, name, mark, address)


def _connect(
    tx: Tx, actor: Actor, host: HostRow, given: Registration, mark: str, address: str
) -> None:
    info = given.info
    presence.connect(
        tx,
        host.id,
        Hello(
            hostname=host.hostname,
            agent_version=given.version,
            fingerprint=mark,
            # It has no journal; a process is told from its successor by its token.
            journal_id=f"original:{actor.credential_id}",
            boot_id="",
            slots=SLOTS,
            entries=[],
            os_name=_text(info.get("type") or info.get("platform")),
            os_version=_text(info.get("release")),
            ip=_address(info.get("net")),
            info=info,
        ),
        address,
    )


def fingerprint(info: dict[str, Any]) -> str:
    """The machine: what stays the same from one start to the next."""
    cards = info.get("net")
    macs = [_text(card.get("mac")) for card in cards or () if isinstance(card, dict)]
    real = [mac for mac in macs if mac.strip("0:")]
    words = [_text(info.get(name)) for name in ("platform", "arch", "type", "hostname", "cwd")]
    return hashlib.sha256("\0".join([*words, *real[:1]]).encode()).hexdigest()[:32]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _address(cards: Any) -> str:
    """The first that is not the machine's own."""
    found = [_text(card.get("address")) for card in cards or () if isinstance(card, dict)]
    return next((one for one in found if one and not one.startswith(("127.", "::1"))), "")


def held(tx: Tx, actor: Actor, hostname: str | None) -> Held:
    """The host that this agent speaks for; the name, where it is given, must be its own."""
    require(actor, Level.AGENT)
    if not actor.host_id:
        return _bound_by_name(tx, actor, hostname or "")
    host = store.find(tx, actor.customer_id, actor.host_id)
    if hostname is not None and hostname.lower() != host.hostname.lower():
        if store.by_name(tx, actor.customer_id, hostname) is None:
            raise _missing()
        raise Forbidden("This credential is bound to another host.", code="other_host")
    return Held(host.id, tx.value("select session from hosts where id = ?", host.id))


def _missing() -> NotFound:
    return NotFound("There is no such host; register it first.", code="host_not_found")


def _bound_by_name(tx: Tx, actor: Actor, hostname: str) -> Held:
    """After a 401 it signs in again, but does not register again: the name says which it is."""
    host = store.by_name(tx, actor.customer_id, hostname)
    client = legacy_clients.of_token(tx, actor)
    if host is None or not _holds(tx, actor, client, host):
        raise _missing()
    legacy_clients.bind(tx, actor.credential_id, host.id)
    return Held(host.id, host.session)


def check(tx: Tx, host_id: str) -> None:
    """Only a host that registered over HTTP gets its work over HTTP."""
    if tx.value("select 1 from original_agents where host_id = ?", host_id) is None:
        raise Conflict("Register first: POST /host.", code="not_registered")


def forget(tx: Tx, host_id: str) -> None:
    """An agent of ours holds the host now."""
    tx.run("delete from original_agents where host_id = ?", host_id)


# The configuration: it reads it when it is told to, by a job of its own kind.


def read_config(tx: Tx, host_id: str, number: int) -> None:
    tx.run("update original_agents set configured = ? where host_id = ?", number, host_id)


def update_waits(tx: Tx, host_id: str, number: int) -> bool:
    """Whether its configuration is old, and it has not been told so lately."""
    found = tx.value(
        "select 1 from original_agents where host_id = ? and configured < ?"
        " and (update_at is null or update_at < ?)",
        host_id,
        number,
        tx.now - FORGOTTEN,
    )
    return found is not None


def order_update(tx: Tx, host_id: str) -> str:
    """The id under which it will say that it is done."""
    update_id = new_id()
    tx.run(
        "update original_agents set update_id = ?, update_at = ? where host_id = ?",
        update_id,
        tx.now,
        host_id,
    )
    return update_id


def has_update(tx: Tx, host_id: str, job_id: str) -> bool:
    """Whether this id is that of its update, which goes on."""
    found = tx.value(
        "select 1 from original_agents where host_id = ? and update_id = ?", host_id, job_id
    )
    return found is not None


def is_update(tx: Tx, host_id: str, job_id: str) -> bool:
    """Whether this id is that of its update, which is then done."""
    return bool(
        tx.run(
            "update original_agents set update_id = null, update_at = null"
            " where host_id = ? and update_id = ?",
            host_id,
            job_id,
        )
    )
