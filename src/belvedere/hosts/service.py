"""Operations on hosts: enrol, rename, tag, disable, drain, delete."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.credentials import tokens
from belvedere.access.credentials.enrolment import (
    LIFE_S,
    EnrolmentGrant,
    create_enrolment,
    redeem_enrolment,
)
from belvedere.access.credentials.tokens import Token
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Stale
from belvedere.db import Tx
from belvedere.db.signals import host_ready
from belvedere.hosts import model, store
from belvedere.hosts.model import HostRow
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing


class Enrolment(msgspec.Struct):
    """A host that can connect now; its token is shown only once."""

    token: str
    host_id: str
    hostname: str
    customer: str
    # With which the agent checks new versions of its program.
    update_key: str = ""


class HostChange(msgspec.Struct, forbid_unknown_fields=True):
    """The fields to change; other fields keep their values."""

    hostname: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    enable: bool | UnsetType = UNSET
    draining: bool | UnsetType = UNSET


def enrol(
    tx: Tx, keys: Keyring, token_text: str, hostname: str, fingerprint: str, address: str
) -> Enrolment:
    """Exchange an enrolment token for the credential of one host's agent."""
    name = model.hostname(hostname)
    fingerprint = text_fields.line("fingerprint", fingerprint, most=256, least=1)
    grant = redeem_enrolment(tx, keys, token_text, name, fingerprint)
    host = _host_of(tx, grant, name)
    host = enrol_host(tx, _agent(grant), grant, host, name, fingerprint, address)
    _, text = tokens.create_agent_token(tx, keys, grant.customer_id, host.id, host.hostname)
    key = update_key(keys, host.id)
    return Enrolment(text, host.id, host.hostname, grant.customer_name, key)


def update_key(keys: Keyring, host_id: str) -> str:
    """The key with which the server signs updates for the agent of this host. A rotation of the
    sealing key does not change it."""
    return keys.digest(f"agent update key {host_id}")


def create_host_enrolment(
    tx: Tx, keys: Keyring, actor: Actor, host_id: str, life_s: int = LIFE_S
) -> tuple[Token, str]:
    """A token that binds this host to another agent. It can be used once."""
    tokens.require_token_creator(tx, actor)
    host = store.find(tx, actor.customer_id, host_id)
    return create_enrolment(tx, keys, actor, host.hostname, life_s=life_s, host_id=host.id)


def _host_of(tx: Tx, grant: EnrolmentGrant, name: str) -> HostRow | None:
    """The host that the token was created for, whatever the name of the machine is."""
    if grant.host_id is not None:
        return store.find(tx, grant.customer_id, grant.host_id, lock=True)
    return store.find_by_name(tx, grant.customer_id, name, lock=True)


def enrol_host(
    tx: Tx,
    agent: Actor,
    grant: EnrolmentGrant,
    host: HostRow | None,
    name: str,
    fingerprint: str,
    address: str,
) -> HostRow:
    """A new host under this name, or the existing host that the token was created for."""
    if host is None:
        host = store.insert(tx, agent.customer_id, name, fingerprint, address)
        _record_change(tx, _as_host(agent, host, address), host, "created", None)
        return host
    _check_not_connected(host)
    _check_rebinding(grant, host)
    store.rebind(tx, host, fingerprint)
    tokens.revoke_agent_tokens(tx, agent.customer_id, host.id)
    _record_change(tx, _as_host(agent, host, address), host, "rebound", _audit_fields(host))
    return host


def _check_not_connected(host: HostRow) -> None:
    """A connected agent keeps its host, also when the command is run on the same machine: there
    the agent of `belvedere up` or an earlier installation is at work."""
    if not host.is_live:
        return
    raise Conflict(
        f"An agent is connected as host {host.hostname!r}. If it runs on this machine, there is"
        " nothing to install (belvedere up includes an agent). To enrol this machine as another"
        f" host, choose another name: --hostname {host.hostname}-2. To replace the connected agent,"
        " stop it first and enrol with a token for this host (belvedere enrolment create --host"
        f" {host.hostname}).",
        code="host_held",
    )


def _check_rebinding(grant: EnrolmentGrant, host: HostRow) -> None:
    """An existing host brings its id, its waiting jobs and the secrets of its tasks. A
    token for new hosts must not give these to a machine that claims the host's name."""
    if grant.host_id == host.id:
        return
    raise Conflict(
        f"The host {host.hostname!r} already exists, and this enrolment token was not created for"
        f" it. To bind the host to this machine, create a token for it (belvedere enrolment create"
        f' --host {host.hostname}, or "Create token for this host" in the console) and enrol with'
        " that token. To enrol this machine as a new host, give it another name (--hostname).",
        code="host_exists",
    )


def _agent(grant: EnrolmentGrant) -> Actor:
    return Actor(
        grant.customer_id,
        grant.customer_name,
        Level.AGENT,
        "agent",
        credential_id=grant.token_id,
    )


def _as_host(agent: Actor, host: HostRow, address: str) -> Actor:
    return msgspec.structs.replace(agent, username=host.hostname, host_id=host.id, address=address)


def show(tx: Tx, actor: Actor, host_id: str) -> HostRow:
    require(actor, Level.VIEWER)
    return store.find(tx, actor.customer_id, host_id)


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[HostRow], int | None]:
    """A page, and the total if the query asks for it."""
    require(actor, Level.VIEWER)
    total = store.count(tx, actor.customer_id, listing) if listing.count else None
    return store.select_page(tx, actor.customer_id, listing), total


def change(
    tx: Tx, actor: Actor, host_id: str, values: HostChange, if_match: int | None = None
) -> HostRow:
    require(actor, Level.ADMIN)
    host = store.find(tx, actor.customer_id, host_id, lock=True)
    if if_match is not None and if_match != host.version:
        raise Stale(f"The host is now at version {host.version}; reload it and try again.")
    before = _audit_fields(host)
    _apply(tx, host, values)
    if _audit_fields(host) == before:
        return host
    host.version += 1
    host.updated_at = tx.now
    store.save(tx, host)
    _record_change(tx, actor, host, "changed", before)
    return host


def _apply(tx: Tx, host: HostRow, change: HostChange) -> None:
    tags = UNSET if change.tags is UNSET else text_fields.tags("tags", change.tags)
    if change.hostname is not UNSET:
        host.hostname = _free_name(tx, host, change.hostname)
    if tags is not UNSET:
        host.tags = store.tags_text(tags)
    if change.enable is not UNSET:
        host.enabled = int(change.enable)
    if change.draining is not UNSET:
        host.draining = int(change.draining)


def _free_name(tx: Tx, host: HostRow, hostname: str) -> str:
    name = model.hostname(hostname)
    holder = store.find_by_name(tx, host.customer_id, name)
    if holder is not None and holder.id != host.id:
        raise Conflict(f"There is already a host named {name!r}.", code="hostname_taken")
    return name


def delete(tx: Tx, actor: Actor, host_id: str) -> HostRow:
    """Delete a host and revoke its agent's credential. An event consumer ends its waiting jobs."""
    require(actor, Level.ADMIN)
    host = store.find(tx, actor.customer_id, host_id, lock=True)
    store.mark_deleted(tx, host)
    tokens.revoke_agent_tokens(tx, actor.customer_id, host_id)
    tokens.revoke_host_enrolments(tx, actor.customer_id, host_id)
    _record_change(tx, actor, host, "deleted", _audit_fields(host))
    return host


def _record_change(
    tx: Tx, actor: Actor, host: HostRow, action: str, before: dict[str, Any] | None
) -> None:
    after = None if action == "deleted" else _audit_fields(host)
    audit.record(tx, actor, f"host.{_VERBS[action]}", "host", host.id, before, after)
    events.append(tx, host.customer_id, f"host.{action}", host.id, _audit_fields(host))
    tx.signals.add(host_ready(host.id))


_VERBS = {"created": "create", "rebound": "rebind", "changed": "change", "deleted": "delete"}


def _audit_fields(host: HostRow) -> dict[str, Any]:
    return {
        "hostname": host.hostname,
        "tags": host.labels,
        "enable": bool(host.enabled),
        "draining": bool(host.draining),
    }
